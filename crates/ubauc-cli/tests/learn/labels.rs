//! Labels of a stream: known in advance, missing, wrong, late.

use super::{learn, learn_file};
use crate::process::{directory_with, failure, json, stderr, success};

#[test]
fn unlabelled_examples_are_scored_and_not_learned() {
    let directory = directory_with(&[]);
    let dir = directory.path();
    let with = "1 1:1 2:1\n? 1:5\n0 2:1\n? 3:1\n1 1:2\n";
    let without = "1 1:1 2:1\n0 2:1\n1 1:2\n";
    let run = |text: &str, model: &str| {
        json(&learn(
            dir,
            text,
            &["--eta0", "1", "--json", "--model", model],
        ))
    };
    let (one, other) = (run(with, "a.json"), run(without, "b.json"));
    assert_eq!((&one["n"], &one["unlabelled"]), (&5.into(), &2.into()));
    assert_eq!(one["progressive_auc"], other["progressive_auc"]);
    let weights = |name: &str| {
        let text = std::fs::read_to_string(dir.join(name)).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["weights"].clone()
    };
    assert_eq!(weights("a.json"), weights("b.json"));
    let scores = learn(dir, with, &["--eta0", "1", "--predict"]);
    assert_eq!(success(&scores).lines().count(), 6);
    // A table without labels can be scored, and not learned from.
    let table = "a,b\n1,2\n3,4\n";
    assert!(failure(&learn(dir, table, &[])).contains("no label column 'label'"));
    let words = ["--initial-model", "b.json", "--predict"];
    assert_eq!(success(&learn(dir, table, &words)).lines().count(), 3);
    assert!(stderr(&learn(dir, table, &words)).contains("no example had a label"));
}

#[test]
fn wrong_lines_are_reported_by_their_numbers() {
    let directory = directory_with(&[("x.svm", "1 1:1\n\n3 1:1\n")]);
    let dir = directory.path();
    let printed = learn_file(dir, "x.svm", &[]);
    assert!(
        failure(&printed).contains("x.svm:3:1: label '3'"),
        "{}",
        stderr(&printed)
    );
    assert!(stderr(&printed).contains("positive"));
    for (text, place) in [
        ("1 1:1\n0 1:x\n", "<stdin>:2:5"),
        ("1 1:1\nspam 1:1\n", "<stdin>:2:1"),
        ("label,a\n1,1\n2,1\n", "<stdin>:3:1"),
        ("label,a\n1,1\n0\n", "<stdin>:3:2"),
    ] {
        let printed = learn(dir, text, &[]);
        assert!(failure(&printed).contains(place), "{}", stderr(&printed));
    }
    assert!(failure(&learn(dir, "", &[])).contains("empty"));
    assert!(failure(&learn_file(dir, "none.svm", &[])).contains("none.svm"));
}

#[test]
fn classes_are_named_or_usual() {
    let directory = directory_with(&[]);
    let dir = directory.path();
    let classes = |text: &str, words: &[&str]| {
        json(&learn(dir, text, &[&["--json"], words].concat()))["classes"].clone()
    };
    assert_eq!(
        classes("1 1:1\n0 1:2\n", &[]),
        serde_json::json!(["0", "1"])
    );
    assert_eq!(
        classes("1 1:1\n-1 1:2\n", &[]),
        serde_json::json!(["-1", "1"])
    );
    let three = "2 1:1\n1 1:2\n3 1:2\n";
    let report = json(&learn(dir, three, &["--json", "--positive", "2.0"]));
    assert_eq!((&report["n_pos"], &report["n_neg"]), (&1.into(), &2.into()));
    assert_eq!(report["classes"], serde_json::json!(["rest", "2.0"]));
    let text = "kind,a\nspam,1\nham,2\n";
    let words = ["--label", "kind", "--positive", "spam", "--negative", "ham"];
    assert_eq!(classes(text, &words), serde_json::json!(["ham", "spam"]));
    let printed = learn(dir, "kind,a\nspam,1\neggs,2\n", &words);
    assert!(failure(&printed).contains("'eggs' is neither 'spam' nor 'ham'"));
}

#[test]
fn a_class_may_come_late_or_never() {
    let directory = directory_with(&[]);
    let dir = directory.path();
    let negatives = "-1 1:0.5 2:1\n".repeat(2_500);
    let output = learn(dir, &negatives, &["--json", "--model", "m.json"]);
    let report = json(&output);
    assert!(report["progressive_auc"].is_null() && dir.join("m.json").exists());
    assert!(stderr(&output).contains("warning: no positive example came"));
    let late = negatives + &"1 1:3\n-1 1:0.5 2:1\n".repeat(500);
    let output = learn(dir, &late, &["--json", "--model", "m.json"]);
    assert_eq!(stderr(&output), "");
    assert!(json(&output)["progressive_auc"]["auc"].as_f64().unwrap() > 0.9);
}
