//! What `train` says of its optimum: collapse, γ = 0, many classes, and logistic regression's own rules.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::process::{directory_with, json, stderr, success, ubauc};
use crate::train::overlapping;

fn model(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Label ±1 and features of every line of an svmlight text without gaps.
fn parsed(text: &str) -> Vec<(f64, Vec<f64>)> {
    let line = |line: &str| {
        let mut words = line.split(' ');
        let y = words.next().unwrap().parse().unwrap();
        let x = words.map(|w| w.split(':').nth(1).unwrap().parse().unwrap());
        (y, x.collect())
    };
    text.lines().map(line).collect()
}

#[test]
fn weights_of_zero_are_named() {
    // The feature is 0 throughout; then one that says nothing of the class; then a β too small.
    let zero = "label,a\n1,0\n0,0\n1,0\n0,0\n";
    let useless = "label,a\n1,1\n0,1\n1,-1\n0,-1\n";
    let directory = directory_with(&[
        ("zero.csv", zero),
        ("useless.csv", useless),
        ("x.svm", &overlapping(500, 5)),
    ]);
    for (file, beta) in [("zero.csv", "1"), ("useless.csv", "1"), ("x.svm", "1e-6")] {
        let words = ["train", file, "--beta", beta, "--gamma", "0.01"];
        let output = ubauc(directory.path(), &words);
        success(&output);
        let said = stderr(&output);
        assert!(
            said.contains("all weights are 0") && said.contains("--beta"),
            "{file}: {said}"
        );
        let report = json(&ubauc(
            directory.path(),
            &[&words[..], &["--json"]].concat(),
        ));
        assert_eq!(report["tied"], report["n"]);
    }
    let words = [
        "train",
        "zero.csv",
        "--algorithm",
        "logistic",
        "--gamma",
        "1",
    ];
    let output = ubauc(directory.path(), &words);
    let said = stderr(&output);
    assert!(
        said.contains("all weights are 0") && !said.contains("--beta"),
        "{said}"
    );
}

/// Four kinds of rows: every model ties a quarter of the examples, and that is no collapse.
#[test]
fn ties_that_no_model_can_avoid_are_no_collapse() {
    let mut text = "label,a,b\n".to_string();
    for i in 0..800 {
        let bit = |j: usize| i >> j & 1;
        let label = usize::from(2 * bit(0) + bit(1) + (i * 31) % 5 > 4);
        writeln!(text, "{label},{},{}", bit(0), bit(1)).unwrap();
    }
    let mut kinds = String::new();
    for (kind, i) in (0..40).flat_map(|kind| (0..50).map(move |i| (kind, i))) {
        writeln!(kinds, "{} {}:1", usize::from(40 * i < 50 * kind), kind + 1).unwrap();
    }
    let directory = directory_with(&[("few.csv", &text), ("kinds.svm", &kinds)]);
    let run = |file: &str, beta: &str| {
        let words = ["train", file, "--beta", beta, "--gamma", "1e-4"];
        let output = ubauc(directory.path(), &words);
        let report = json(&ubauc(
            directory.path(),
            &[&words[..], &["--json"]].concat(),
        ));
        (
            stderr(&output).to_string(),
            report["tied"].as_u64().unwrap(),
        )
    };
    let (said, tied) = run("few.csv", "5");
    assert_eq!(tied, 200, "one kind of rows is on the threshold");
    assert!(!said.contains("collapsed"), "{tied}: {said}");
    // Forty kinds of fifty, each with a weight of its own: one kind may be on the threshold. A small β puts half of
    // them there, a large one just one.
    let (said, tied) = run("kinds.svm", "0.5");
    assert_eq!(tied, 1_000);
    assert!(
        said.contains("1,000 examples (50.0 %)") && said.contains("collapsed"),
        "{said}"
    );
    let (said, tied) = run("kinds.svm", "20");
    assert_eq!(tied, 50);
    assert!(!said.contains("collapsed"), "{said}");
}

/// Without a penalty a feature that is there twice changes nothing but the proof.
#[test]
fn without_gamma_the_minimum_is_that_of_no_penalty() {
    let once = overlapping(600, 4);
    let twice: String = once
        .lines()
        .map(|line| {
            format!(
                "{line} 5:{}\n",
                line.split(' ').nth(1).unwrap().split(':').nth(1).unwrap()
            )
        })
        .collect();
    let directory = directory_with(&[("once.svm", &once), ("twice.svm", &twice)]);
    let run = |file: &str, gamma: &str, tolerance: &str| {
        let given = ["--beta", "1", "--gamma", gamma, "--tolerance", tolerance];
        let output = ubauc(
            directory.path(),
            &[&["train", file, "--json"], &given[..]].concat(),
        );
        (json(&output), stderr(&output).to_string())
    };
    let (one, said) = run("once.svm", "0", "1e-9");
    assert_eq!(
        (&one["stop"], &one["gamma"]),
        (&"converged".into(), &0.0.into())
    );
    assert!(one["gap"].as_f64().unwrap() <= 1e-9);
    assert!(!said.contains("warning"), "{said}");
    let objective = one["objective"].as_f64().unwrap();
    let (penalised, _) = run("once.svm", "1e-2", "1e-9");
    assert!(objective < penalised["objective"].as_f64().unwrap());
    let (two, said) = run("twice.svm", "0", "1e-7");
    let other = two["objective"].as_f64().unwrap();
    // The first to a gap of 1e-9, the second to one of 1e-7 by an estimate.
    assert!(
        (other / objective - 1.0).abs() < 1e-7,
        "{objective} {other}"
    );
    assert_eq!(two["stop"], "estimated");
    assert!(two["dual"].is_null() && two["gap"].is_null(), "{two}");
    assert!(said.contains("not a certificate"), "{said}");
}

#[test]
fn a_partition_is_two_classes_and_the_model_knows_them() {
    let text: String = overlapping(600, 4)
        .lines()
        .enumerate()
        .map(|(i, line)| format!("{}{}\n", i % 5, &line[2..]))
        .collect();
    let directory = directory_with(&[("x.svm", &text)]);
    let dir = directory.path();
    let given = ["--beta", "0.5", "--gamma", "0.01", "--json"];
    let words = ["train", "x.svm", "--partition", "3", "--model", "m.json"];
    let report = json(&ubauc(dir, &[&words, &given[..]].concat()));
    let saved = model(&dir.join("m.json"));
    assert_eq!(saved["parameters"]["partition"], 3);
    let side = |name: &str| -> Vec<String> {
        serde_json::from_value(saved["partition"][name].clone()).unwrap()
    };
    let (positive, negative) = (side("positive"), side("negative"));
    assert_eq!((positive.len(), negative.len()), (2, 3));
    let halves: String = text
        .lines()
        .map(|line| {
            format!(
                "{}{}\n",
                u8::from(positive.contains(&line[..1].to_string())),
                &line[1..]
            )
        })
        .collect();
    fs::write(dir.join("halves.svm"), halves).unwrap();
    let by_hand = json(&ubauc(
        dir,
        &[&["train", "halves.svm"], &given[..]].concat(),
    ));
    for key in ["objective", "lambda", "train_auc", "n_pos"] {
        assert_eq!(report[key], by_hand[key], "{key}");
    }
    // The model judges the many classes by the same halves, whatever part of them a file has.
    let judged = json(&ubauc(
        dir,
        &["evaluate", "--model", "m.json", "x.svm", "--json"],
    ));
    assert_eq!(judged["auc"], report["train_auc"]);
    let two: String = text
        .lines()
        .filter(|line| line.starts_with(&positive[0]) || line.starts_with(&negative[0]))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(dir.join("two.svm"), two).unwrap();
    let judged = json(&ubauc(
        dir,
        &["evaluate", "--model", "m.json", "two.svm", "--json"],
    ));
    assert_eq!(judged["n_pos"], 120);
    let other = ["train", "x.svm", "--partition", "3", "--test", "two.svm"];
    let tested = json(&ubauc(dir, &[&other, &given[..]].concat()));
    assert_eq!(tested["test_auc"]["auc"], judged["auc"]);
}

/// At the optimum the gradient is 0: that of the penalised weights and that of the free intercept.
#[test]
fn logistic_regression_has_its_own_gamma_and_a_free_intercept() {
    let text = overlapping(900, 4);
    let directory = directory_with(&[("x.svm", &text)]);
    let dir = directory.path();
    let rows = parsed(&text);
    let n = rows.len() as f64;
    for (typed, gamma) in [
        (&["--gamma", "0.3"][..], 0.3),
        (&["--gamma", "0"], 0.0),
        (&["--scale", "none"], 1e-4),
    ] {
        let words = [
            "train",
            "x.svm",
            "--algorithm",
            "logistic",
            "--model",
            "m.json",
            "--json",
        ];
        let output = ubauc(dir, &[&words, typed].concat());
        let report = json(&output);
        assert_eq!(report["gamma"], gamma);
        assert!(report["beta"].is_null() && report["lambda"].is_null() && report["tied"].is_null());
        assert!(!stderr(&output).contains("chosen"), "nothing is tuned");
        let saved = model(&dir.join("m.json"));
        let w: Vec<f64> = serde_json::from_value(saved["weights"].clone()).unwrap();
        let b = saved["intercept"].as_f64().unwrap();
        assert_eq!(saved["threshold"], 0.0);
        let (mut gradient, mut of_b, mut loss) =
            (w.iter().map(|w| gamma * w).collect::<Vec<_>>(), 0.0, 0.0);
        for (y, x) in &rows {
            let margin = y * (x.iter().zip(&w).map(|(x, w)| x * w).sum::<f64>() + b);
            loss += (-margin).exp().ln_1p() / n;
            let p = 1.0 / (1.0 + margin.exp());
            of_b -= y * p / n;
            for (g, x) in gradient.iter_mut().zip(x) {
                *g -= y * p * x / n;
            }
        }
        // The tolerance is 1e-8.
        assert!(of_b.abs() < 2e-8, "the intercept is penalised: {of_b}");
        assert!(gradient.iter().all(|g| g.abs() < 2e-8), "{gradient:?}");
        let objective = loss + gamma / 2.0 * w.iter().map(|w| w * w).sum::<f64>();
        assert!((report["objective"].as_f64().unwrap() - objective).abs() < 1e-12);
        // A fifth is positive: without an intercept of its own it would be found elsewhere.
        assert!(b < -0.5, "{b}");
    }
}
