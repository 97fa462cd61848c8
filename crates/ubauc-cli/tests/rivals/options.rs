//! Options of one algorithm are refused by the others; values without meaning by name.

use super::RIVALS;
use crate::process::{directory_with, failure, success, ubauc, wrong_usage};

const TINY: &str = "1 1:1 2:0.5\n-1 1:-1\n1 1:0.5 2:1\n-1 1:0.2 2:-1\n";

/// An option with a value that would do, and who has it.
const OPTIONS: [(&[&str], &[&str]); 21] = [
    (&["--beta", "1"], &["ba-ubauc", "ol-ubauc"]),
    (&["--gamma", "1"], &["ba-ubauc", "ol-ubauc", "logistic"]),
    (&["--least-squares", "plain"], &["ba-ubauc", "ol-ubauc"]),
    (&["--no-intercept"], &["ba-ubauc", "ol-ubauc"]),
    (&["--max-newton", "9"], &["ba-ubauc", "svm-or", "logistic"]),
    (
        &["--initial-model", "m"],
        &["ba-ubauc", "ol-ubauc", "logistic"],
    ),
    (&["--weight", "w"], &["ba-ubauc", "ol-ubauc", "logistic"]),
    (
        &["--passes", "2"],
        &["ol-ubauc", "solam", "opauc", "oam-seq", "oam-gra", "svm"],
    ),
    (
        &["--no-shuffle"],
        &["ol-ubauc", "solam", "opauc", "oam-seq", "oam-gra"],
    ),
    (&["--step", "sgd"], &["ol-ubauc"]),
    (&["--schedule", "sqrt"], &["ol-ubauc"]),
    (&["--eta0", "1"], &["ol-ubauc"]),
    (&["--average-from", "1"], &["ol-ubauc"]),
    (&["--no-average"], &["ol-ubauc"]),
    (&["--average"], &["oam-seq", "oam-gra"]),
    (&["--radius", "1"], &["ol-ubauc", "solam"]),
    (&["--zeta", "1"], &["solam"]),
    (&["--eta", "0.1"], &["opauc"]),
    (&["--lambda", "0.1"], &["opauc"]),
    (&["--tau", "2"], &["opauc"]),
    (&["--buffer", "9"], &["oam-seq", "oam-gra"]),
];

#[test]
fn options_of_others_are_refused_and_say_whose_they_are() {
    let directory = directory_with(&[("x.svm", TINY)]);
    let with_c = (
        &["--C", "1"][..],
        &["oam-seq", "oam-gra", "svm-or", "svm"][..],
    );
    for (option, of) in OPTIONS.into_iter().chain([with_c]) {
        for algorithm in RIVALS
            .map(|(name, _)| name)
            .into_iter()
            .chain(["ba-ubauc", "logistic"])
            .filter(|algorithm| !of.contains(algorithm))
        {
            let words = ["train", "x.svm", "--algorithm", algorithm];
            let output = ubauc(directory.path(), &[&words, option].concat());
            let text = wrong_usage(&output);
            assert!(text.contains(&format!("{} is for", option[0])), "{text}");
            assert!(text.contains(&format!("not for {algorithm}")), "{text}");
            let listed = text.split("is for ").nth(1).unwrap();
            for owner in of {
                assert!(listed.contains(owner), "{owner}: {text}");
            }
        }
    }
}

#[test]
fn every_option_is_taken_by_those_who_have_it() {
    let directory = directory_with(&[("x.svm", TINY)]);
    for (option, of) in OPTIONS {
        for (algorithm, given) in RIVALS.into_iter().filter(|(name, _)| of.contains(name)) {
            if given.contains(&option[0]) {
                continue;
            }
            let words = ["train", "x.svm", "--algorithm", algorithm];
            success(&ubauc(directory.path(), &[&words, given, option].concat()));
        }
    }
}

#[test]
fn values_without_meaning_are_refused_by_name_before_anything_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let numbers: [(&str, &str, &[&str]); 8] = [
        ("solam", "--zeta", &["0", "-1", "NaN", "inf"]),
        ("solam", "--radius", &["0", "-1", "NaN", "inf"]),
        ("opauc", "--eta", &["0", "-1", "NaN", "inf"]),
        ("opauc", "--lambda", &["-1", "NaN", "inf"]),
        ("oam-seq", "--C", &["0", "-1", "NaN", "inf"]),
        ("oam-gra", "--C", &["0", "-1", "NaN", "inf"]),
        ("svm-or", "--C", &["0", "-1", "NaN", "inf"]),
        ("svm", "--C", &["0", "-1", "NaN", "inf"]),
    ];
    let counts: [(&str, &str, &[&str]); 7] = [
        ("opauc", "--tau", &["x", "1.5"]),
        ("oam-seq", "--buffer", &["0", "x"]),
        ("oam-gra", "--passes", &["0", "x"]),
        ("solam", "--passes", &["0"]),
        ("svm", "--passes", &["0"]),
        ("svm", "--tolerance", &["0", "NaN", "-1"]),
        ("svm-or", "--tolerance", &["0", "NaN", "-1"]),
    ];
    for (algorithm, option, values) in numbers.into_iter().chain(counts) {
        for value in values {
            let words = ["train", "none.svm", "--algorithm", algorithm, option, value];
            let output = ubauc(directory.path(), &words);
            let text = wrong_usage(&output);
            assert!(text.contains(&option[2..]), "{words:?}: {text}");
            assert!(!text.contains("none.svm:"), "{words:?}: {text}");
        }
    }
}

#[test]
fn tau_is_0_for_full_covariances_and_must_fit_into_memory() {
    let directory = directory_with(&[("x.svm", TINY)]);
    let train = |more: &[&str]| {
        let words = ["train", "x.svm", "--algorithm", "opauc", "--json"];
        let given = ["--eta", "0.1", "--lambda", "0.01"];
        ubauc(directory.path(), &[&words[..], &given, more].concat())
    };
    let objective = |more: &[&str]| crate::process::json(&train(more))["objective"].clone();
    assert_eq!(objective(&["--tau", "0"]), objective(&[]));
    assert_ne!(objective(&["--tau", "1"]), objective(&[]));
    for tau in ["100000000000", "18446744073709551615"] {
        let output = train(&["--tau", tau]);
        assert!(wrong_usage(&output).contains("tau = "), "{tau}");
    }
}

#[test]
fn sizes_without_end_do_not_panic() {
    let directory = directory_with(&[
        ("x.svm", TINY),
        ("huge.svm", "1 1:1e300\n-1 1:-1e300\n1 1:1e-300\n"),
    ]);
    let most = usize::MAX.to_string();
    let words = ["train", "x.svm", "--algorithm", "oam-seq", "--C", "1"];
    success(&ubauc(
        directory.path(),
        &[&words[..], &["--buffer", &most]].concat(),
    ));
    for (algorithm, given) in RIVALS {
        for scale in ["none", "maxabs", "standard"] {
            let words = ["train", "huge.svm", "--algorithm", algorithm];
            let more = ["--scale", scale];
            let output = ubauc(directory.path(), &[&words, given, &more].concat());
            // Overflow comes of the data, and has a word of advice.
            match output.status.code() {
                Some(0) => {}
                Some(1) => assert!(failure(&output).contains("scale the features")),
                code => panic!("{algorithm}, {scale}: {code:?} {output:?}"),
            }
        }
    }
}

#[test]
fn a_trace_is_for_json() {
    let directory = directory_with(&[("x.svm", TINY)]);
    for (algorithm, given) in RIVALS {
        let words = ["train", "x.svm", "--algorithm", algorithm, "--trace"];
        let output = ubauc(directory.path(), &[&words, given].concat());
        assert!(wrong_usage(&output).contains("--json"), "{algorithm}");
    }
}
