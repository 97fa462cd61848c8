//! `ubauc tune`: a table, a choice, a verdict.

use std::fmt::Write as _;

use tempfile::TempDir;

use crate::process::{
    directory_with, failure, json, keys, real_data, stderr, success, ubauc, wrong_usage,
};

/// Two features that tell the classes apart a little, and one that does not; every fifth is positive.
fn file(n: usize, positives: usize) -> TempDir {
    let mut state = 7_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f64 / (1 << 24) as f64 - 0.5
    };
    let mut text = "label,a,b,c\n".to_string();
    for i in 0..n {
        let label = usize::from(i % 5 == 0 && i / 5 < positives);
        let shift = 0.3 * label as f64;
        let [a, b, c] = [next() + shift, next() - shift, next()];
        writeln!(text, "{label},{a},{b},{c}").unwrap();
    }
    directory_with(&[("x.csv", &text)])
}

const SMALL: [&str; 8] = [
    "tune",
    "x.csv",
    "--betas",
    "0.5,2",
    "--gammas",
    "1e-2,1e-4",
    "--folds",
    "3",
];

#[test]
fn json_has_the_whole_table() {
    let directory = file(600, 120);
    let report = json(&ubauc(
        directory.path(),
        &[&SMALL[..], &["--json"]].concat(),
    ));
    let expected = [
        "chosen",
        "d",
        "folds",
        "held_out",
        "intercept",
        "logistic",
        "logistic_chosen",
        "n",
        "n_neg",
        "n_pos",
        "one_standard_error",
        "points",
        "scale",
        "seconds",
        "seed",
        "tolerance",
        "verdict",
    ];
    assert_eq!(keys(&report), expected);
    let points = report["points"].as_array().unwrap();
    assert_eq!(points.len(), 8);
    let of_point = [
        "auc",
        "beta",
        "collapsed",
        "fold_aucs",
        "gamma",
        "least_squares",
        "standard_error",
        "tied_share",
    ];
    assert_eq!(keys(&points[0]), of_point);
    assert!(points.contains(&report["chosen"]));
    let aucs = points.iter().filter(|p| p["collapsed"] == false);
    let best = aucs.map(|p| p["auc"].as_f64().unwrap()).fold(0.0, f64::max);
    assert_eq!(report["chosen"]["auc"], best);
    assert_eq!(keys(&report["verdict"]), ["logistic", "ours", "test"]);
    assert_eq!(keys(&report["seconds"]), ["read", "total", "tune"]);
}

#[test]
fn people_get_a_table_and_one_sentence_to_act_on() {
    let directory = file(600, 120);
    let output = ubauc(directory.path(), &SMALL);
    let text = success(&output);
    assert_eq!(text.matches("chosen").count(), 1, "{text}");
    assert!(text.contains("\nUse --beta "), "{text}");
    assert!(text.contains("on 120 examples held out"), "{text}");
    assert!(text.contains("\n  ubauc train x.csv --beta "), "{text}");
    let options = [
        "--scale",
        "standard",
        "--no-intercept",
        "--one-standard-error",
    ];
    let more = ubauc(directory.path(), &[&SMALL[..], &options].concat());
    assert!(success(&more).contains("--no-intercept --scale standard"));
    let none = ubauc(
        directory.path(),
        &[&SMALL[..], &["--held-out", "0"]].concat(),
    );
    assert!(success(&none).contains("nothing was held out"));
}

#[test]
fn number_of_threads_changes_no_byte() {
    let directory = file(600, 120);
    let run = |n: &str| ubauc(directory.path(), &[&SMALL[..], &["--threads", n]].concat());
    assert_eq!(run("1"), run("2"));
    assert_eq!(run("1"), run("8"));
}

#[test]
fn too_few_examples_of_a_class_are_refused_by_name() {
    let directory = file(200, 4);
    let output = ubauc(directory.path(), &["tune", "x.csv"]);
    let said = failure(&output);
    for word in ["x.csv", "class 1", "fewer folds", "--folds"] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn a_grid_that_collapses_throughout_says_so() {
    let directory = file(600, 120);
    let output = ubauc(directory.path(), &["tune", "x.csv", "--betas", "1e-5"]);
    let said = failure(&output);
    assert!(
        said.contains("--betas 0.00001") && said.contains("collapsed"),
        "{said}"
    );
    let output = ubauc(directory.path(), &["tune", "x.csv", "--betas", "1e-5,1"]);
    success(&output);
    assert!(
        stderr(&output).contains("of 20 points collapsed"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn values_without_meaning_are_wrong_usage() {
    let directory = file(50, 10);
    for (option, value) in [
        ("--betas", "0"),
        ("--gammas", "NaN"),
        ("--folds", "1"),
        ("--held-out", "1"),
        ("--least-squares", "squared"),
        ("--scale", "minmax"),
    ] {
        wrong_usage(&ubauc(directory.path(), &["tune", "x.csv", option, value]));
    }
}

#[test]
fn on_a9a_it_finishes_and_has_a_verdict() {
    let Some(data) = real_data("on_a9a_it_finishes_and_has_a_verdict") else {
        return;
    };
    let file = data.join("a9a/train.svm.zst");
    let arguments = ["tune", file.to_str().unwrap(), "--json", "--quiet"];
    let report = json(&ubauc(&data, &arguments));
    assert_eq!(report["points"].as_array().unwrap().len(), 60);
    assert!(
        report["chosen"]["auc"].as_f64().unwrap() > 0.895,
        "{report}"
    );
    let ours = report["verdict"]["ours"]["auc"].as_f64().unwrap();
    assert!(ours > 0.89, "{ours}");
}
