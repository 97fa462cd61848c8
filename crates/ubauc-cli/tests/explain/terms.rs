//! What a model says of its columns.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::{exclusive_or, numbers};
use crate::process::{
    directory_with, failure, json as json_of, stderr, success, ubauc, wrong_usage,
};

fn trained(options: &[&str]) -> TempDir {
    let directory = directory_with(&[("x.csv", &exclusive_or(300)), ("n.csv", &numbers(300))]);
    let words = [
        "--label",
        "y",
        "--positive",
        "yes",
        "--beta",
        "0",
        "--softness",
        "1",
        "--gamma",
        "1e-3",
        "--model",
        "m.json",
    ];
    success(&ubauc(
        directory.path(),
        &[&["train"], options, &words].concat(),
    ));
    directory
}

fn terms(found: &Value) -> &Vec<Value> {
    found["terms"].as_array().unwrap()
}

fn sum_of_row(dir: &Path, place: &str) -> (f64, f64) {
    let found = json_of(&ubauc(
        dir,
        &["explain", "m.json", "--row", place, "--json"],
    ));
    let adds = terms(&found)
        .iter()
        .map(|term| term["adds"].as_f64().unwrap());
    let sum = found["intercept"].as_f64().unwrap() + adds.sum::<f64>();
    (sum, found["score"].as_f64().unwrap())
}

#[test]
fn the_sum_of_a_row_is_its_score() {
    for (file, options) in [
        (
            "x.csv",
            &["x.csv", "--features", "pairs", "--pairs", "3"][..],
        ),
        ("x.csv", &["x.csv", "--features", "additive"]),
        ("x.csv", &["x.csv"]),
        ("n.csv", &["n.csv"]),
        ("n.csv", &["n.csv", "--pairs", "1"]),
    ] {
        let directory = trained(options);
        let dir = directory.path();
        let scores = ubauc(dir, &["predict", "--model", "m.json", file]);
        let scores: Vec<f64> = (success(&scores).lines().skip(1))
            .map(|score| score.parse().unwrap())
            .collect();
        for line in [2, 5, 150, 301] {
            let (sum, score) = sum_of_row(dir, &format!("{file}:{line}"));
            assert_eq!(score, scores[line - 2], "{options:?} {line}");
            assert!(
                (sum - score).abs() < 1e-10,
                "{options:?} {line}: {sum} {score}"
            );
        }
    }
}

#[test]
fn the_pair_that_matters_comes_first_and_missing_values_are_seen() {
    let directory = trained(&["x.csv", "--features", "pairs", "--pairs", "2"]);
    let found = json_of(&ubauc(directory.path(), &["explain", "m.json", "--json"]));
    assert_eq!(terms(&found)[0]["name"], "a & b");
    assert!(terms(&found)[0]["gain"].as_f64().unwrap() > 10.0);
    let importance = |term: &Value| term["importance"].as_f64().unwrap();
    assert!(
        terms(&found)
            .windows(2)
            .all(|w| importance(&w[0]) >= importance(&w[1]))
    );
    let c = terms(&found)
        .iter()
        .find(|term| term["name"] == "c")
        .unwrap();
    let cells = c["cells"].as_array().unwrap();
    let rows: u64 = cells
        .iter()
        .map(|cell| cell["rows"].as_u64().unwrap())
        .sum();
    assert_eq!(rows, 300);
    let missing = cells
        .iter()
        .find(|cell| cell["names"][0] == "c is missing")
        .unwrap();
    assert_eq!(missing["rows"], 27);
    let text = ubauc(directory.path(), &["explain", "m.json"]);
    let text = success(&text);
    for part in [
        "importance",
        "a & b",
        "c is missing",
        "colour=red",
        "█",
        "yes where the score",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = ubauc(directory.path(), &["explain", "m.json", "--row", "x.csv:5"]);
    assert!(success(&text).contains("missing"), "{}", success(&text));
}

#[test]
fn a_linear_model_shows_weights_times_deviations() {
    let directory = trained(&["n.csv"]);
    let found = json_of(&ubauc(directory.path(), &["explain", "m.json", "--json"]));
    let model = std::fs::read_to_string(directory.path().join("m.json")).unwrap();
    let model: Value = serde_json::from_str(&model).unwrap();
    let values: Vec<f64> = (numbers(300).lines().skip(1))
        .map(|line| line.split(',').next().unwrap().parse().unwrap())
        .collect();
    let mean = values.iter().sum::<f64>() / 300.0;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 300.0;
    let expected = (model["weights"][0].as_f64().unwrap() * variance.sqrt()).abs();
    let a = terms(&found)
        .iter()
        .find(|term| term["name"] == "a")
        .unwrap();
    assert!((a["importance"].as_f64().unwrap() - expected).abs() < 1e-9 * expected);
    assert!((a["mean"].as_f64().unwrap() - mean).abs() < 1e-9);
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let directory = trained(&["x.csv", "--features", "additive"]);
    let dir = directory.path();
    let explain = |words: &[&str]| ubauc(dir, &[&["explain"], words].concat());
    assert!(failure(&explain(&["x.csv"])).contains("ubauc-model"));
    assert!(failure(&explain(&["m.json", "--row", "x.csv:1"])).contains("header"));
    assert!(failure(&explain(&["m.json", "--row", "x.csv:302"])).contains("300 examples"));
    assert!(wrong_usage(&explain(&["m.json", "--row", "x.csv"])).contains("a file and a line"));
    let output = explain(&["m.json", "--row", "none.csv:3"]);
    assert!(failure(&output).contains("none.csv"), "{}", stderr(&output));
}
