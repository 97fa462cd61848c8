//! What is printed while a stream goes by, and at its end.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{learn, learn_file, learned};
use crate::process::{json, keys, stderr, success, wrong_usage};

#[test]
fn json_has_the_fixed_keys() {
    let (directory, _) = learned(1_500, &[]);
    let words = ["--json", "--model", "m.json"];
    let report = json(&learn_file(directory.path(), "x.svm", &words));
    let expected = [
        "algorithm",
        "beta",
        "class_weight",
        "classes",
        "d",
        "eta0",
        "gamma",
        "lambda",
        "model",
        "n",
        "n_neg",
        "n_pos",
        "progressive_auc",
        "resumed_at",
        "rows_per_second",
        "seconds",
        "skipped",
        "softness",
        "steps",
        "stop",
        "unlabelled",
    ];
    assert_eq!(keys(&report), expected);
    assert_eq!(report["algorithm"], "ol-ubauc");
    assert_eq!(
        (&report["n"], &report["steps"]),
        (&1_500.into(), &1_500.into())
    );
    assert_eq!(
        (&report["n_pos"], &report["n_neg"]),
        (&300.into(), &1_200.into())
    );
    assert_eq!(
        keys(&report["progressive_auc"]),
        ["auc", "error_bound", "lower", "upper"]
    );
    let text = success(&learn_file(directory.path(), "x.svm", &[])).to_string();
    assert!(
        text.contains("AUC so far") && text.contains("1,500, 9 features"),
        "{text}"
    );
}

/// The progressive AUC is that of the scores that `--predict` gives, within its bound.
#[test]
fn the_progressive_auc_is_that_of_the_scores() {
    let (directory, text) = learned(3_000, &[]);
    let dir = directory.path();
    let words = ["--predict", "--output", "s.csv", "--json"];
    let report = json(&learn_file(dir, "x.svm", &words));
    let scores = fs::read_to_string(dir.join("s.csv")).unwrap();
    let scored: Vec<(bool, f64)> = text
        .lines()
        .zip(scores.lines().skip(1))
        .map(|(line, score)| (line.starts_with('+'), score.parse().unwrap()))
        .collect();
    assert_eq!(scored.len(), 3_000);
    let (mut won, mut pairs) = (0.0, 0.0);
    for (_, p) in scored.iter().filter(|s| s.0) {
        for (_, n) in scored.iter().filter(|s| !s.0) {
            pairs += 1.0;
            won += f64::from(u8::from(p > n)) + 0.5 * f64::from(u8::from(p == n));
        }
    }
    let auc = &report["progressive_auc"];
    let number = |name: &str| auc[name].as_f64().unwrap();
    assert!(
        number("lower") <= won / pairs && won / pairs <= number("upper"),
        "{auc}"
    );
    assert!(number("error_bound") < 2e-3, "{auc}");
    assert!(number("auc") > 0.7, "{auc}");
}

#[test]
fn every_line_is_answered_before_the_next_comes() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("ubauc"))
        .current_dir(directory.path())
        .args(["learn", "--predict", "--quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The header comes with the first score.
    input.write_all(b"1 1:1\n").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "score");
    let mut scores: Vec<f64> = vec![lines.next().unwrap().unwrap().parse().unwrap()];
    for line in ["0 2:1\n", "? 1:1\n", "1 1:1 2:1\n", "? 1:1\n"] {
        input.write_all(line.as_bytes()).unwrap();
        scores.push(lines.next().unwrap().unwrap().parse().unwrap());
    }
    drop(input);
    assert_eq!(scores[0], 0.0);
    assert!(scores[2] > 0.0, "{scores:?}");
    assert!(scores[3] != 0.0 && scores[4] > 0.0, "{scores:?}");
    assert!(lines.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_has_had_enough_loses_nothing() {
    let (directory, text) = learned(30_000, &["--eta0", "0.5"]);
    let dir = directory.path();
    let words = ["--eta0", "0.5", "--checkpoint", "ck", "--model", "m.json"];
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("ubauc"))
        .current_dir(dir)
        .args(["learn", "x.svm", "--predict"])
        .args(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    let report = json(&learn(
        dir,
        &text,
        &[&words[..], &["--resume", "--json"]].concat(),
    ));
    assert!(
        report["resumed_at"]
            .as_u64()
            .is_some_and(|at| at > 0 && at < 30_000)
    );
    super::same_file(dir, "m.json", "whole.json");
}

#[test]
fn progress_is_reported_in_lines_of_json() {
    let (directory, text) = learned(2_600, &[]);
    let dir = directory.path();
    let words = [
        "--progress-json",
        "p.jsonl",
        "--report-every",
        "1000",
        "--eta0",
        "0.5",
    ];
    success(&learn_file(dir, "x.svm", &words));
    let printed = fs::read_to_string(dir.join("p.jsonl")).unwrap();
    let lines: Vec<Value> = printed
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let examples: Vec<u64> = lines
        .iter()
        .map(|l| l["examples"].as_u64().unwrap())
        .collect();
    assert_eq!(examples, [1_000, 2_000, 2_600]);
    let expected = [
        "error_bound",
        "examples",
        "negatives",
        "positives",
        "progressive_auc",
        "rows_per_second",
        "unlabelled",
        "window_auc",
        "window_error_bound",
    ];
    assert_eq!(keys(&lines[0]), expected);
    // The first window is the whole so far.
    let number = |line: usize, name: &str| lines[line][name].as_f64().unwrap();
    let difference = (number(0, "progressive_auc") - number(0, "window_auc")).abs();
    assert!(difference <= number(0, "error_bound") + number(0, "window_error_bound"));
    assert_ne!(lines[2]["progressive_auc"], lines[2]["window_auc"]);
    let output = learn(
        dir,
        &text,
        &["--progress-json", "-", "--report-every", "1000"],
    );
    assert_eq!(success(&output).lines().count(), 3);
    assert!(stderr(&output).contains("ol-ubauc"));
}

#[test]
fn two_things_cannot_share_standard_output() {
    let (directory, text) = learned(20, &[]);
    let dir = directory.path();
    for words in [
        &["--json", "--predict"][..],
        &["--json", "--model", "-"],
        &["--predict", "--progress-json", "-"],
        &["--output", "s.csv"],
    ] {
        wrong_usage(&learn(dir, &text, words));
    }
    wrong_usage(&learn_file(dir, "x.svm", &["--model", "x.svm"]));
    let output = learn(dir, &text, &["--model", "-"]);
    assert_eq!(
        success(&output),
        fs::read_to_string(dir.join("whole.json")).unwrap()
    );
}
