//! `ubauc compare`: which scorer is better, and is that more than chance?

use crate::process::{directory_with, failure, json, keys, stderr, success, ubauc, wrong_usage};

/// The same seven examples, scored by three; c has it all wrong.
const A: &str = "label,score\n1,0.9\n1,0.8\n1,0.3\n0,0.5\n0,0.3\n0,0.2\n0,0.1\n";
const B: &str = "label,score\n1,0.9\n1,0.2\n1,0.4\n0,0.5\n0,0.3\n0,0.6\n0,0.1\n";
const C: &str = "label,score\n1,0.1\n1,0.2\n1,0.3\n0,0.5\n0,0.6\n0,0.7\n0,0.8\n";
/// All of them in one file.
const ALL: &str = "y,a,b,c\n1,0.9,0.9,0.1\n1,0.8,0.2,0.2\n1,0.3,0.4,0.3\n0,0.5,0.5,0.5\n\
                   0,0.3,0.3,0.6\n0,0.2,0.6,0.7\n0,0.1,0.1,0.8\n";

fn files() -> tempfile::TempDir {
    directory_with(&[("a.csv", A), ("b.csv", B), ("c.csv", C), ("all.csv", ALL)])
}

#[test]
fn two_files_side_by_side() {
    let output = ubauc(files().path(), &["compare", "a.csv", "b.csv"]);
    let expected = "\
scorer       AUC         95 % interval
a.csv   0.875000  [0.329279, 0.990080]
b.csv   0.583333  [0.134909, 0.926299]

pair           difference          95 % interval      z       p  p (Holm)
a.csv - b.csv    0.291667  [-0.241768, 0.825101]  1.072  0.2839    0.2839
";
    assert_eq!(success(&output), expected);
    assert_eq!(stderr(&output), "");
}

#[test]
fn three_files_or_columns_are_tested_in_pairs() {
    let directory = files();
    let of_files = ubauc(directory.path(), &["compare", "a.csv", "b.csv", "c.csv"]);
    let expected = "\
scorer       AUC         95 % interval
a.csv   0.875000  [0.329279, 0.990080]
b.csv   0.583333  [0.134909, 0.926299]
c.csv   0.000000  [0.000000, 0.707598]

pair           difference          95 % interval      z       p  p (Holm)
a.csv - b.csv    0.291667  [-0.241768, 0.825101]  1.072  0.2839    0.2839
a.csv - c.csv    0.875000   [0.584352, 1.000000]  5.900  3.6e-9    1.1e-8
b.csv - c.csv    0.583333   [0.049899, 1.000000]  2.143  0.0321    0.0642
";
    assert_eq!(success(&of_files), expected);
    let arguments = ["compare", "all.csv", "--label", "y", "--score", "a,b,c"];
    let of_columns = ubauc(directory.path(), &arguments);
    let rows = |text: &str| -> Vec<String> {
        let words = text.split_ascii_whitespace().map(|w| w.replace(".csv", ""));
        words.collect()
    };
    assert_eq!(rows(success(&of_columns)), rows(expected));
}

#[test]
fn json_has_scorers_and_tests_and_agrees_with_evaluate() {
    let directory = files();
    let dir = directory.path();
    let report = json(&ubauc(
        dir,
        &["compare", "a.csv", "b.csv", "c.csv", "--json"],
    ));
    assert_eq!(keys(&report), ["scorers", "tests"]);
    for scorer in report["scorers"].as_array().unwrap() {
        let name = scorer["name"].as_str().unwrap();
        let alone = json(&ubauc(dir, &["evaluate", name, "--json", "--quiet"]));
        for key in [
            "auc",
            "variance",
            "ci95",
            "n_pos",
            "n_neg",
            "ties",
            "half_wins",
        ] {
            assert_eq!(scorer[key], alone[key], "{name}: {key}");
        }
    }
    let tests = report["tests"].as_array().unwrap();
    let names = |key: &str| {
        tests
            .iter()
            .map(|t| t[key].as_str().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(names("a"), ["a.csv", "a.csv", "b.csv"]);
    assert_eq!(names("b"), ["b.csv", "c.csv", "c.csv"]);
    for test in tests {
        let expected = [
            "a",
            "auc_a",
            "auc_b",
            "b",
            "ci95",
            "difference",
            "p",
            "p_holm",
            "variance",
            "z",
        ];
        assert_eq!(keys(test), expected);
    }
}

#[test]
fn holm_multiplies_the_smallest_most_and_keeps_the_order() {
    let directory = files();
    let arguments = [
        "compare", "a.csv", "b.csv", "c.csv", "a.csv", "--json", "--quiet",
    ];
    let report = json(&ubauc(directory.path(), &arguments));
    let mut found: Vec<(f64, f64)> = report["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| (t["p"].as_f64().unwrap(), t["p_holm"].as_f64().unwrap()))
        .collect();
    assert_eq!(found.len(), 6);
    found.sort_by(|x, y| x.0.total_cmp(&y.0));
    let mut floor = 0.0_f64;
    for (i, (p, p_holm)) in found.into_iter().enumerate() {
        floor = floor.max((p * (6 - i) as f64).min(1.0));
        assert_eq!(p_holm, floor, "{i}");
    }
    assert_eq!(floor, 1.0); // a.csv against itself
}

#[test]
fn several_files_with_several_columns_name_both() {
    let directory = directory_with(&[("m.csv", ALL), ("n.csv", ALL)]);
    let arguments = [
        "compare", "m.csv", "n.csv", "--label", "y", "--score", "a,b",
    ];
    let report = json(&ubauc(
        directory.path(),
        &[&arguments[..], &["--json"]].concat(),
    ));
    let names: Vec<&str> = report["scorers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["m.csv:a", "m.csv:b", "n.csv:a", "n.csv:b"]);
    assert_eq!(report["tests"].as_array().unwrap().len(), 6);
}

#[test]
fn other_examples_are_refused_with_the_first_that_differs() {
    let swapped = B.replace("0,0.5\n", "1,0.5\n");
    let short = B.strip_suffix("0,0.1\n").unwrap();
    let directory = directory_with(&[
        ("a.csv", A),
        ("swapped.csv", &swapped),
        ("short.csv", short),
    ]);
    let output = ubauc(directory.path(), &["compare", "a.csv", "swapped.csv"]);
    assert_eq!(
        failure(&output),
        "ubauc: swapped.csv: the label of example 4 differs from that in a.csv; a paired test \
         needs the same examples in the same order\n"
    );
    let output = ubauc(directory.path(), &["compare", "a.csv", "short.csv"]);
    assert_eq!(
        failure(&output),
        "ubauc: short.csv: 6 examples, a.csv has 7; a paired test needs the same ones\n"
    );
}

#[test]
fn one_scorer_alone_is_wrong_usage() {
    let output = ubauc(files().path(), &["compare", "a.csv"]);
    assert!(
        wrong_usage(&output).contains("one scorer only"),
        "{}",
        stderr(&output)
    );
    assert!(wrong_usage(&ubauc(files().path(), &["compare"])).contains("<FILE>"));
}

#[test]
fn no_difference_has_p_one() {
    let report = json(&ubauc(
        files().path(),
        &["compare", "a.csv", "a.csv", "--json"],
    ));
    let test = &report["tests"][0];
    for (key, value) in [
        ("difference", 0.0),
        ("variance", 0.0),
        ("z", 0.0),
        ("p", 1.0),
    ] {
        assert_eq!(test[key], value, "{key}");
    }
}

#[test]
fn difference_without_variance_has_its_note() {
    let right = "label,score\n1,2\n1,3\n0,0\n0,1\n";
    let wrong = "label,score\n1,0\n1,1\n0,2\n0,3\n";
    let directory = directory_with(&[("right.csv", right), ("wrong.csv", wrong)]);
    let arguments = ["compare", "right.csv", "wrong.csv"];
    let output = ubauc(directory.path(), &arguments);
    let last = success(&output).lines().last().unwrap();
    assert!(last.ends_with("  -         -"), "{last}");
    assert!(stderr(&output).starts_with("note: a difference whose variance estimate is 0"));
    let quiet = ubauc(directory.path(), &[&arguments[..], &["--quiet"]].concat());
    assert_eq!((success(&quiet), stderr(&quiet)), (success(&output), ""));
    let report = json(&ubauc(
        directory.path(),
        &[&arguments[..], &["--json"]].concat(),
    ));
    assert!(report["tests"][0]["z"].is_null());
    assert!(report["tests"][0]["p"].is_null() && report["tests"][0]["p_holm"].is_null());
}

#[test]
fn classes_of_other_names_have_their_note() {
    let renamed = "label,score\n2,0.9\n2,0.2\n2,0.4\n1,0.5\n1,0.3\n1,0.6\n1,0.1\n";
    let directory = directory_with(&[("a.csv", A), ("b.csv", renamed)]);
    let output = ubauc(directory.path(), &["compare", "a.csv", "b.csv"]);
    success(&output);
    assert_eq!(
        stderr(&output),
        "note: the classes (negative, positive) are 0, 1 in a.csv and 1, 2 in b.csv; they are \
         taken as the same\n"
    );
}
