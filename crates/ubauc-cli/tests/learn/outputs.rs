//! Where a run writes, what it prints, and what it refuses before it begins.

use std::fs;

use super::{learn, learn_file, learned, names};
use crate::process::{directory_with, failure, json, stderr, success, ubauc, wrong_usage};
use crate::train::overlapping;

#[test]
fn outputs_that_share_a_file_are_refused() {
    let (directory, text) = learned(50, &[]);
    let dir = directory.path();
    fs::create_dir(dir.join("ck")).unwrap();
    for words in [
        &["--model", "a", "--predict", "--output", "a"][..],
        &["--model", "a", "--progress-json", "./a"],
        &["--predict", "--output", "ck/../a", "--progress-json", "a"],
        &["--checkpoint", "ck", "--model", "ck/m.json"],
        &["--checkpoint", "ck", "--progress-json", "./ck/lock"],
        &["--checkpoint", "new", "--model", "./new"],
    ] {
        wrong_usage(&learn(dir, &text, words));
        assert!(!dir.join("a").exists() && !dir.join("new").exists());
        assert!(names(&dir.join("ck")).is_empty());
    }
    #[cfg(unix)]
    success(&learn(
        dir,
        &text,
        &["--model", "/dev/null", "--progress-json", "/dev/null"],
    ));
}

#[test]
fn a_checkpoint_directory_that_is_none_is_reported_at_the_start() {
    let (directory, _) = learned(50, &[]);
    let dir = directory.path();
    let printed = learn(dir, "", &["--checkpoint", "x.svm"]);
    assert!(
        failure(&printed).contains("--checkpoint x.svm: is not a directory"),
        "{}",
        stderr(&printed)
    );
    // Nobody, not even root, makes files there.
    #[cfg(target_os = "linux")]
    {
        let printed = learn(dir, "", &["--checkpoint", "/proc"]);
        let printed = failure(&printed);
        assert!(
            printed.contains("--checkpoint /proc: cannot be written to"),
            "{printed}"
        );
    }
}

#[test]
fn hashed_columns_are_known_by_name() {
    let rows: Vec<[f64; 3]> = (0..400_u32)
        .map(|i| {
            let positive = f64::from(u8::from(i % 3 == 0));
            let a = f64::from(i * 37 % 101) / 50.0;
            [positive, a + positive, f64::from(i % 7) - a]
        })
        .collect();
    let (mut one, mut other) = ("label,a,b\n".to_string(), "b,extra,label,a\n".to_string());
    let mut fewer = "label,a\n".to_string();
    for [label, a, b] in &rows {
        one += &format!("{label},{a},{b}\n");
        other += &format!("{b},9,{label},{a}\n");
        fewer += &format!("{label},{a}\n");
    }
    let directory = directory_with(&[
        ("one.csv", &one),
        ("other.csv", &other),
        ("fewer.csv", &fewer),
    ]);
    let dir = directory.path();
    let words = ["--hash-bits", "6", "--model", "h.json"];
    success(&learn_file(dir, "one.csv", &words));
    let scores = |file: &str| {
        let output = ubauc(dir, &["predict", "--model", "h.json", file]);
        success(&output).to_string()
    };
    assert_eq!(scores("one.csv"), scores("other.csv"));
    let fewer = ubauc(dir, &["predict", "--model", "h.json", "fewer.csv"]);
    assert!(failure(&fewer).contains('b'));
    let auc = |file: &str| {
        let output = ubauc(dir, &["evaluate", "--model", "h.json", file, "--json"]);
        json(&output)["auc"].clone()
    };
    assert_eq!(auc("one.csv"), auc("other.csv"));
    failure(&ubauc(dir, &["evaluate", "--model", "h.json", "fewer.csv"]));
    // Beside a model that wants the columns in another order.
    success(&learn_file(
        dir,
        "other.csv",
        &["--ignore", "extra", "--model", "turned.json"],
    ));
    let compared = |file: &str| {
        let words = [
            "compare",
            "--model",
            "turned.json",
            "--model",
            "h.json",
            file,
            "--json",
        ];
        let output = ubauc(dir, &words);
        json(&output)["scorers"][1]["auc"].clone()
    };
    assert_eq!(compared("one.csv"), auc("one.csv"));
    assert_eq!(compared("other.csv"), auc("one.csv"));
    let words = ["--hash-bits", "6", "--initial-model", "h.json"];
    let printed = learn_file(dir, "other.csv", &words);
    assert!(
        failure(&printed).contains("hashes the columns a, b"),
        "{}",
        stderr(&printed)
    );
    success(&learn_file(dir, "one.csv", &words));
}

#[test]
fn a_table_with_too_few_columns_for_the_initial_model_is_refused() {
    let (directory, _) = learned(50, &[]);
    let dir = directory.path();
    let printed = learn(
        dir,
        "label,a\n1,2\n0,1\n",
        &["--initial-model", "whole.json"],
    );
    assert!(
        failure(&printed).contains("1 feature columns; the model has"),
        "{}",
        stderr(&printed)
    );
}

#[test]
fn none_of_something_is_wrong_usage_and_options_are_called_as_typed() {
    let directory = directory_with(&[]);
    let dir = directory.path();
    for words in [["--max-line", "0"], ["--max-features", "0"]] {
        wrong_usage(&learn(dir, "1 1:1\n", &words));
    }
    let printed = learn(dir, "7 1:1\n", &[]);
    assert!(
        failure(&printed).contains("(--positive VALUE)"),
        "{}",
        stderr(&printed)
    );
}

#[test]
fn predict_notes_that_eta0_is_not_tried() {
    let directory = directory_with(&[]);
    let text = overlapping(20, 9);
    let note = "note: eta0 is 0.5, not found by trial";
    for (words, printed) in [
        (&["--predict"][..], true),
        (&["--predict", "--eta0", "0.5"], false),
        (&[], false),
    ] {
        let output = learn(directory.path(), &text, words);
        success(&output);
        assert_eq!(stderr(&output).contains(note), printed, "{words:?}");
    }
}

#[test]
fn far_features_change_nothing_of_the_trial() {
    let directory = directory_with(&[]);
    let far = |by: u32| -> String {
        (0..1_500_u32)
            .map(|i| {
                let x = f64::from(i * 37 % 101) / 50.0 + f64::from(i % 2);
                format!("{} {}:{x} {}:1\n", i % 2, by, (2 + i % 5) * by)
            })
            .collect()
    };
    let report = |by: u32| {
        let report = json(&learn(directory.path(), &far(by), &["--json"]));
        (report["eta0"].clone(), report["progressive_auc"].clone())
    };
    assert_eq!(report(1), report(20_000));
}
