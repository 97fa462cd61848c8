//! `ubauc train`: the right optimum, a model file whole or not at all, refusals by name.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::process::{
    directory_with, failure, json, real_data, stderr, stdout, success, ubauc, wrong_usage,
};

const TINY: &str = "label,a,b\n1,2,1\n0,1,-1\n1,1,0.5\n0,-1,0\n0,0.5,1\n1,3,-1\n0,-2,0.5\n0,1,1\n";
const GIVEN: [&str; 4] = ["--beta", "0.5", "--gamma", "0.01"];

/// Two classes that overlap, in svmlight.
pub(crate) fn overlapping(rows: u64, features: u64) -> String {
    let mut state = 7_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as f64 / (1_u64 << 31) as f64 - 0.5
    };
    let mut text = String::new();
    for i in 0..rows {
        let positive = i % 5 == 0;
        write!(text, "{}", if positive { "+1" } else { "-1" }).unwrap();
        for j in 1..=features {
            let shift = if positive && j < 4 { 0.2 } else { 0.0 };
            write!(text, " {j}:{:.4}", next() + shift).unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
fn an_error_names_its_file_once() {
    let bad = TINY.replace("1,3,-1", "1,3,x");
    let directory = directory_with(&[("x.csv", TINY), ("bad.csv", &bad)]);
    let words = [&["train", "x.csv", "--test", "bad.csv"], &GIVEN[..]].concat();
    let out = ubauc(directory.path(), &words);
    let printed = failure(&out);
    assert_eq!(printed.matches("bad.csv").count(), 1, "{printed}");
    assert!(printed.contains("bad.csv:7:3"), "{printed}");
}

#[test]
fn json_has_the_fixed_keys() {
    let directory = directory_with(&[("x.csv", TINY), ("t.csv", TINY)]);
    let words = [&["train", "x.csv", "--test", "t.csv", "--json"], &GIVEN[..]].concat();
    let report = json(&ubauc(directory.path(), &words));
    for key in [
        "algorithm",
        "n",
        "n_pos",
        "n_neg",
        "d",
        "beta",
        "gamma",
        "objective",
        "dual",
        "gap",
        "lambda",
        "tied",
        "newton",
        "stop",
        "train_auc",
        "test_auc",
    ] {
        assert!(!report[key].is_null(), "{key}: {report}");
    }
    for key in ["read", "solve", "total"] {
        assert!(report["seconds"][key].is_f64(), "{key}");
    }
    for key in ["auc", "ci95", "n_pos", "n_neg"] {
        assert!(!report["test_auc"][key].is_null(), "{key}");
    }
    assert_eq!(report["stop"], "converged");
    assert_eq!(report["test_auc"]["auc"], report["train_auc"]);
}

#[test]
fn objective_is_that_of_the_weights_in_the_model() {
    let directory = directory_with(&[("x.csv", TINY)]);
    let dir = directory.path();
    let words = [
        &["train", "x.csv", "--model", "m.json", "--json"],
        &GIVEN[..],
    ]
    .concat();
    let report = json(&ubauc(dir, &words));
    let model: Value =
        serde_json::from_str(&fs::read_to_string(dir.join("m.json")).unwrap()).unwrap();
    assert_eq!(model["names"], serde_json::json!(["a", "b"]));
    assert_eq!(model["classes"], serde_json::json!(["0", "1"]));
    let w: Vec<f64> = serde_json::from_value(model["weights"].clone()).unwrap();
    let b = model["intercept"].as_f64().unwrap();
    assert!(b != 0.0);
    let rows: Vec<Vec<f64>> = TINY
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|x| x.parse().unwrap()).collect())
        .collect();
    let scored: Vec<(f64, f64)> = rows
        .iter()
        .map(|r| (2.0 * r[0] - 1.0, w[0] * r[1] + w[1] * r[2] + b))
        .collect();
    // The hinge is piecewise linear: some score is a best threshold.
    let hinge = |l: f64| {
        scored
            .iter()
            .map(|(y, c)| (y * (l - c)).max(0.0))
            .sum::<f64>()
    };
    let least = scored
        .iter()
        .map(|(_, c)| hinge(*c))
        .fold(f64::INFINITY, f64::min);
    let square: f64 = scored.iter().map(|(y, c)| (1.0 - y * c).powi(2)).sum();
    let norm = w[0] * w[0] + w[1] * w[1];
    let p = (least + 0.25 * square) / rows.len() as f64 + 0.005 * norm;
    let objective = report["objective"].as_f64().unwrap();
    assert!((p - objective).abs() < 1e-13, "{p} {objective}");
    assert!(report["dual"].as_f64().unwrap() <= objective);
    let lambda = report["lambda"].as_f64().unwrap();
    assert!((hinge(lambda) - least).abs() < 1e-12);
    assert_eq!(model["threshold"].as_f64(), Some(lambda));
}

#[test]
fn parameters_without_meaning_are_refused_by_name() {
    let directory = directory_with(&[("x.csv", TINY)]);
    for (option, value) in [
        ("beta", "0"),
        ("beta", "-1"),
        ("beta", "NaN"),
        ("beta", "inf"),
        ("gamma", "-1e-9"),
        ("gamma", "NaN"),
        ("tolerance", "0"),
        ("tolerance", "NaN"),
    ] {
        let long = format!("--{option}");
        let output = ubauc(directory.path(), &["train", "x.csv", &long, value]);
        assert!(wrong_usage(&output).contains(option), "{option} {value}");
    }
    let words = ["train", "x.csv", "--algorithm", "logistic", "--beta", "1"];
    assert!(wrong_usage(&ubauc(directory.path(), &words)).contains("--beta"));
    let words = ["train", "x.csv", "--model", "x.csv"];
    assert!(wrong_usage(&ubauc(directory.path(), &words)).contains("replace an input"));
    assert_eq!(
        fs::read_to_string(directory.path().join("x.csv")).unwrap(),
        TINY
    );
}

#[test]
fn what_cannot_be_written_is_refused_before_anything_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let words = ["train", "no.csv", "--model", "nowhere/m.json"];
    let text = stderr(&ubauc(directory.path(), &words)).to_string();
    assert_eq!(failure(&ubauc(directory.path(), &words)).lines().count(), 1);
    assert!(text.contains("nowhere/m.json: cannot be written"), "{text}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_at_the_end_leaves_the_report() {
    let directory = directory_with(&[("x.csv", TINY)]);
    for more in ["--quiet", "--json"] {
        let words = [
            &["train", "x.csv", "--model", "/dev/full", more],
            &GIVEN[..],
        ]
        .concat();
        let output = ubauc(directory.path(), &words);
        assert!(failure(&output).contains("/dev/full"), "{output:?}");
        let report = stdout(&output);
        if more == "--quiet" {
            assert!(report.contains("training AUC"), "{report}");
            // It says nothing of a model that is not there.
            assert!(!report.contains("/dev/full"), "{report}");
        } else {
            let report: Value = serde_json::from_str(report).unwrap();
            assert!(report["train_auc"].is_f64() && report["model"].is_null());
        }
    }
}

#[test]
fn threads_change_no_byte_of_the_model() {
    let directory = directory_with(&[("x.svm", &overlapping(9_000, 12))]);
    let dir = directory.path();
    for more in [&["--beta", "0.5"][..], &["--algorithm", "logistic"]] {
        let model = |threads: &str| {
            let words = ["train", "x.svm", "--gamma", "1e-4", "--model", "m.json"];
            success(&ubauc(
                dir,
                &[&words, more, &["--threads", threads]].concat(),
            ));
            fs::read(dir.join("m.json")).unwrap()
        };
        assert_eq!(model("1"), model("2"));
    }
}

#[test]
fn a_collapsed_model_and_chosen_parameters_are_named() {
    let directory = directory_with(&[("x.svm", &overlapping(2_000, 5))]);
    let words = ["train", "x.svm", "--beta", "1e-3", "--gamma", "1e-4"];
    let output = ubauc(directory.path(), &words);
    success(&output);
    assert!(
        stderr(&output).contains("larger --beta"),
        "{}",
        stderr(&output)
    );
    let words = ["train", "x.svm", "--features", "linear"];
    let output = ubauc(directory.path(), &words);
    let note = stderr(&output);
    assert!(note.contains("chosen by cross-validated AUC"), "{note}");
    assert!(note.contains("logistic regression"), "{note}");
    assert!(stdout(&output).contains("scale standard"));
}

#[test]
fn test_classes_are_those_of_training() {
    let test = "label,b,a\n1,1,2\n1,0,3\n0,0,-1\n";
    let directory = directory_with(&[
        ("x.csv", TINY),
        ("t.csv", test),
        ("other.csv", "label,a\n7,1\n1,2\n"),
    ]);
    let run = |more: &[&str]| {
        ubauc(
            directory.path(),
            &[&["train", "x.csv", "--json"], &GIVEN[..], more].concat(),
        )
    };
    let report = json(&run(&["--positive", "0", "--test", "t.csv"]));
    assert_eq!(report["test_auc"]["n_pos"], 1);
    assert!(failure(&run(&["--test", "other.csv"])).contains("class 7 was not in the training"));
}

#[cfg(feature = "bcd")]
#[test]
fn block_descent_reports_its_own_gap() {
    let directory = directory_with(&[("x.csv", TINY)]);
    let words = [
        &[
            "train", "x.csv", "--solver", "bcd", "--scale", "maxabs", "--json",
        ],
        &GIVEN[..],
    ];
    let report = json(&ubauc(directory.path(), &words.concat()));
    assert!(report["gap"].as_f64().unwrap() >= 0.0);
    assert!(report["rounds"].as_u64().unwrap() > 0);
}

#[test]
fn a9a_has_its_known_optimum() {
    let Some(data) = real_data("a9a_has_its_known_optimum") else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| data.join("a9a").join(name).to_str().unwrap().to_string();
    let (train, test) = (file("train.svm.zst"), file("test.svm.zst"));
    let words = [
        "train",
        &train,
        "--test",
        &test,
        "--beta",
        "0.5",
        "--gamma",
        "1e-4",
        "--no-intercept",
        "--json",
    ];
    let report = json(&ubauc(directory.path(), &words));
    let objective = report["objective"].as_f64().unwrap();
    assert!(
        (objective / 0.142_465_552_01 - 1.0).abs() < 1e-6,
        "{objective}"
    );
    assert!((report["lambda"].as_f64().unwrap() + 0.2182).abs() < 1e-3);
}
