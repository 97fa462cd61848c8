//! `ubauc train --algorithm …` by the rivals: searched or given parameters, the report, the model file.

mod by_hand;
mod options;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::process::{directory_with, failure, json, stderr, success, ubauc};
use crate::train::overlapping;

/// Every rival with all that its paper lets one choose.
const RIVALS: [(&str, &[&str]); 6] = [
    ("solam", &["--zeta", "1", "--radius", "3"]),
    ("opauc", &["--eta", "0.01", "--lambda", "0.0001"]),
    ("oam-seq", &["--C", "0.01"]),
    ("oam-gra", &["--C", "0.01"]),
    ("svm-or", &["--C", "10"]),
    ("svm", &["--C", "0.1"]),
];

/// The best linear AUC of these data is about .75, that of any order .5 ± .05.
const LEARNED: f64 = 0.7;

/// As many of either class: with few of one, the optimum of the SVM has no weights at all.
fn balanced(rows: u64, features: u64) -> String {
    let all = overlapping(rows * 5 / 2, features);
    let kept = all.lines().enumerate().filter(|(i, _)| i % 5 < 2);
    kept.map(|(_, line)| format!("{line}\n")).collect()
}

/// Trains on `x.svm` and gives back the report.
fn report(dir: &Path, algorithm: &str, more: &[&str]) -> Value {
    let words = ["train", "x.svm", "--algorithm", algorithm, "--json"];
    json(&ubauc(dir, &[&words, more].concat()))
}

/// `--C 10` as the report has it.
fn named(options: &[&str]) -> Vec<(String, f64)> {
    let pair = |pair: &[&str]| (pair[0].replace("--", ""), pair[1].parse().unwrap());
    options.chunks_exact(2).map(pair).collect()
}

#[test]
fn given_parameters_are_taken_and_told() {
    let directory = directory_with(&[("x.svm", &balanced(300, 5))]);
    for (algorithm, given) in RIVALS {
        let words = ["train", "x.svm", "--algorithm", algorithm, "--json"];
        let output = ubauc(
            directory.path(),
            &[&words, given, &["--test", "x.svm", "--model", "m.json"]].concat(),
        );
        let found = json(&output);
        assert!(!stderr(&output).contains("chosen"), "{}", stderr(&output));
        for (name, value) in named(given) {
            assert_eq!(found["parameters"][&name], value, "{algorithm} {name}");
        }
        assert_eq!(found["algorithm"], algorithm);
        assert_eq!(found["scale"], "maxabs");
        assert_eq!(
            (&found["n_pos"], &found["n_neg"]),
            (&150.into(), &150.into())
        );
        for key in ["beta", "gamma", "least_squares", "tied", "newton", "solver"] {
            assert!(found[key].is_null(), "{algorithm} {key}: {found}");
        }
        assert!(found["seconds"]["tune"].is_null(), "{found}");
        let proved = matches!(algorithm, "svm-or" | "svm");
        assert_eq!(found["gap"].is_number(), proved, "{found}");
        assert_eq!(found["dual"].is_number(), proved, "{found}");
        if proved {
            let number = |key: &str| found[key].as_f64().unwrap();
            let gap = (number("objective") - number("dual")) / number("objective");
            assert!((gap - number("gap")).abs() < 1e-12, "{found}");
            assert!((0.0..1e-4).contains(&gap), "{found}");
            assert_eq!(found["stop"], "converged");
        }
        assert!(found["train_auc"].as_f64().unwrap() > LEARNED, "{found}");
        assert_eq!(found["test_auc"]["auc"], found["train_auc"]);
        let text = fs::read_to_string(directory.path().join("m.json")).unwrap();
        let model: Value = serde_json::from_str(&text).unwrap();
        for (name, value) in named(given) {
            assert_eq!(model["parameters"][&name], value, "{algorithm} {name}");
        }
    }
}

#[test]
fn no_name_comes_twice_in_the_report() {
    let directory = directory_with(&[("x.svm", &overlapping(100, 3))]);
    for (algorithm, given) in RIVALS {
        let words = ["train", "x.svm", "--algorithm", algorithm, "--json"];
        let output = ubauc(directory.path(), &[&words, given].concat());
        let parsed = serde_json::to_string(&json(&output)).unwrap();
        // A reader keeps one of two; then something is missing.
        assert_eq!(parsed.len(), success(&output).trim_end().len(), "{parsed}");
    }
}

#[test]
fn parameters_that_are_not_given_are_searched_for() {
    let directory = directory_with(&[("x.svm", &balanced(300, 5))]);
    let dir = directory.path();
    for (algorithm, given) in RIVALS {
        let words = ["train", "x.svm", "--algorithm", algorithm, "--json"];
        let output = ubauc(dir, &words);
        let found = json(&output);
        let note = stderr(&output);
        assert_eq!(note.matches("chosen by AUC").count(), 1, "{note}");
        for (name, _) in named(given) {
            let value = &found["parameters"][&name];
            assert!(note.contains(&format!("{name} = {value}")), "{note}");
        }
        assert!(found["seconds"]["tune"].is_number(), "{found}");
        assert!(found["train_auc"].as_f64().unwrap() > LEARNED, "{found}");
        // The same by hand.
        let typed: Vec<(String, String)> = named(given)
            .iter()
            .map(|(name, _)| (format!("--{name}"), found["parameters"][name].to_string()))
            .collect();
        let typed: Vec<&str> = typed.iter().flat_map(|(n, v)| [n.as_str(), v]).collect();
        let by_hand = report(dir, algorithm, &typed);
        assert_eq!(by_hand["objective"], found["objective"], "{algorithm}");
        assert_eq!(by_hand["train_auc"], found["train_auc"], "{algorithm}");
    }
}

#[test]
fn half_of_the_parameters_may_be_given() {
    let directory = directory_with(&[("x.svm", &overlapping(200, 3))]);
    for (algorithm, option, value, searched) in [
        ("solam", "--zeta", "0.7", "radius"),
        ("solam", "--radius", "0.7", "zeta"),
        ("opauc", "--eta", "0.007", "lambda"),
        ("opauc", "--lambda", "0.007", "eta"),
    ] {
        let words = ["train", "x.svm", "--algorithm", algorithm, option, value];
        let output = ubauc(directory.path(), &[&words, &["--json"][..]].concat());
        let found = json(&output);
        let note = stderr(&output);
        assert!(note.contains(&format!("note: {searched} = ")), "{note}");
        assert!(!note.contains(&format!("{} =", &option[2..])), "{note}");
        let kept = &found["parameters"][&option[2..]];
        assert_eq!(kept.to_string(), value, "{found}");
        assert!(found["seconds"]["tune"].is_number(), "{found}");
    }
}

#[test]
fn same_seed_same_bytes_for_any_number_of_threads() {
    let directory = directory_with(&[("x.svm", &overlapping(500, 6))]);
    let dir = directory.path();
    for (algorithm, given) in RIVALS {
        for given in [given, &[]] {
            let model = |seed: &str, threads: &str| {
                let words = ["train", "x.svm", "--algorithm", algorithm, "--quiet"];
                let more = ["--seed", seed, "--threads", threads, "--model", "m.json"];
                let output = ubauc(dir, &[&words, given, &more].concat());
                success(&output);
                assert_eq!(stderr(&output), "");
                fs::read_to_string(dir.join("m.json")).unwrap()
            };
            let one = model("5", "1");
            assert_eq!(model("5", "1"), one, "{algorithm} {given:?}");
            assert_eq!(model("5", "2"), one, "{algorithm} {given:?}");
            assert_eq!(model("5", "7"), one, "{algorithm} {given:?}");
            // The order of the rows is part of the answer where there is no optimum.
            if matches!(algorithm, "solam" | "oam-seq" | "oam-gra") {
                assert_ne!(model("6", "1"), one, "{algorithm} {given:?}");
            }
        }
    }
}

#[test]
fn the_model_file_is_read_by_the_other_commands() {
    let directory = directory_with(&[("x.svm", &overlapping(200, 4))]);
    let dir = directory.path();
    let mut models = Vec::new();
    for (algorithm, given) in RIVALS {
        let file = format!("{algorithm}.json");
        let found = report(dir, algorithm, &[given, &["--model", &file]].concat());
        let auc = found["train_auc"].as_f64().unwrap();
        let judged = json(&ubauc(
            dir,
            &["evaluate", "--model", &file, "x.svm", "--json"],
        ));
        assert_eq!(judged["auc"], auc, "{algorithm}");
        let scored = ubauc(dir, &["predict", "--model", &file, "x.svm"]);
        let lines = success(&scored).lines().count();
        assert!((200..=201).contains(&lines), "{algorithm}: {lines}"); // with a head or without
        models.push(file);
    }
    let mut words = vec!["compare", "x.svm", "--json"];
    words.extend(models.iter().flat_map(|model| ["--model", model.as_str()]));
    json(&ubauc(dir, &words));
}

#[test]
fn features_of_any_size_are_learned_from() {
    // What tells the classes apart is 1e-4 small, beside noise of 1e4.
    let mut text = String::new();
    for line in balanced(400, 4).lines() {
        let mut words = line.split(' ');
        write!(text, "{}", words.next().unwrap()).unwrap();
        for word in words {
            let (j, x) = word.split_once(':').unwrap();
            let size = if j == "4" { 1e4 } else { 1e-4 };
            write!(text, " {j}:{:e}", x.parse::<f64>().unwrap() * size).unwrap();
        }
        text.push('\n');
    }
    let directory = directory_with(&[("x.svm", &text)]);
    for (algorithm, _) in RIVALS {
        let found = report(directory.path(), algorithm, &[]);
        assert!(found["train_auc"].as_f64().unwrap() > LEARNED, "{found}");
    }
}

#[test]
fn too_few_examples_to_search_with_ask_for_the_options() {
    let directory = directory_with(&[("x.svm", "1 1:1\n-1 1:-1\n-1 1:0\n-1 1:2\n")]);
    for (algorithm, given) in RIVALS {
        let words = ["train", "x.svm", "--algorithm", algorithm];
        let output = ubauc(directory.path(), &words);
        let text = failure(&output);
        assert!(text.starts_with("ubauc: x.svm: "), "{text}");
        for option in given.iter().step_by(2) {
            assert!(text.contains(option), "{option}: {text}");
        }
        success(&ubauc(directory.path(), &[&words, given].concat()));
    }
}
