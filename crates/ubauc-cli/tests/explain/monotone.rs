//! `--increasing` and `--decreasing`.

use std::fmt::Write as _;
use std::path::Path;

use super::{exclusive_or, numbers};
use crate::process::{directory_with, failure, json, stderr, success, ubauc, wrong_usage};

const SOFT: [&str; 6] = ["--beta", "0", "--softness", "1", "--gamma", "1e-3"];

fn train(dir: &Path, words: &[&str]) {
    let model = ["--label", "y", "--positive", "yes", "--model", "m.json"];
    success(&ubauc(dir, &[&["train"], words, &model].concat()));
}

/// Scores of rows in which only `a` changes.
fn scores_along(dir: &Path, header: &str, rest: &str) -> Vec<f64> {
    let mut text = format!("{header}\n");
    for a in 0..120 {
        writeln!(text, "{a}{rest}").unwrap();
    }
    std::fs::write(dir.join("grid.csv"), text).unwrap();
    let out = ubauc(dir, &["predict", "--model", "m.json", "grid.csv"]);
    let scores = success(&out).lines().skip(1).map(|s| s.parse().unwrap());
    scores.collect()
}

#[test]
fn scores_rise_with_columns_that_must() {
    let directory = directory_with(&[("x.csv", &exclusive_or(300)), ("n.csv", &numbers(300))]);
    let dir = directory.path();
    for features in [
        &["--features", "linear"][..],
        &["--features", "additive"],
        &["--pair", "a,b"],
    ] {
        for (file, header, rest) in [
            ("x.csv", "a,b,c,colour", ",30,,red"),
            ("n.csv", "a,b", ",30"),
        ] {
            let words = [&[file, "--increasing", "a"], features, &SOFT].concat();
            train(dir, &words);
            let scores = scores_along(dir, header, rest);
            assert!(
                scores.windows(2).all(|pair| pair[1] >= pair[0]),
                "{features:?} {file}"
            );
            let found = json(&ubauc(dir, &["explain", "m.json", "--json"]));
            let terms = found["terms"].as_array().unwrap();
            let of = |name: &str| terms.iter().find(|term| term["name"] == name).unwrap();
            assert_eq!(of("a")["directions"]["a"], "increasing");
            assert!(of("b").get("directions").is_none());
            let interval = of("a")["interval"].as_array().unwrap();
            assert!(interval[0].as_f64().unwrap() <= interval[1].as_f64().unwrap());
            let explained = ubauc(dir, &["explain", "m.json"]);
            let text = success(&explained);
            assert!(
                text.contains("a (increasing)") && text.contains("95 % interval"),
                "{text}"
            );
        }
    }
    // Falling instead, by a search.
    let words = [
        "n.csv",
        "--decreasing",
        "a",
        "--features",
        "additive",
        "--held-out",
        "0",
    ];
    train(dir, &words);
    let scores = scores_along(dir, "a,b", ",70");
    assert!(scores.windows(2).all(|pair| pair[1] <= pair[0]));
    let saved: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(dir.join("m.json")).unwrap()).unwrap();
    assert_eq!(saved["parameters"]["decreasing"], serde_json::json!(["a"]));
    assert_eq!(saved["features"]["columns"][0]["direction"], "decreasing");
}

#[test]
fn tune_keeps_to_the_order_and_tells_how_to_train() {
    let directory = directory_with(&[("n.csv", &numbers(300))]);
    let words = [
        "tune",
        "n.csv",
        "--label",
        "y",
        "--increasing",
        "a,b",
        "--held-out",
        "0",
        "--folds",
        "3",
    ];
    let out = ubauc(directory.path(), &words);
    assert!(success(&out).contains("--increasing a,b"));
}

#[test]
fn orders_that_cannot_be_are_refused() {
    let svm = "1 1:0.5 2:1\n-1 1:0.1\n1 2:2\n-1 1:1\n";
    let directory = directory_with(&[("x.csv", &exclusive_or(60)), ("s.svm", svm)]);
    let dir = directory.path();
    let run = |words: &[&str]| ubauc(dir, &[&["train"], words].concat());
    let table = ["x.csv", "--label", "y", "--positive", "yes"];
    let with = |more: &[&str]| run(&[&table[..], more].concat());
    let hinge = with(&["--beta", "0.5", "--gamma", "1e-3", "--increasing", "a"]);
    wrong_usage(&hinge);
    assert!(stderr(&hinge).contains("--softness"), "{}", stderr(&hinge));
    wrong_usage(&with(&["--increasing", "a", "--algorithm", "svm"]));
    wrong_usage(&with(&["--increasing", "a", "--scale", "maxabs"]));
    let nobody = with(&[&["--increasing", "nobody"][..], &SOFT].concat());
    failure(&nobody);
    let what = "no feature column 'nobody'";
    assert!(stderr(&nobody).contains(what), "{}", stderr(&nobody));
    let colour = with(&[&["--decreasing", "colour"][..], &SOFT].concat());
    wrong_usage(&colour);
    let what = "the levels of a category have no order";
    assert!(stderr(&colour).contains(what), "{}", stderr(&colour));
    wrong_usage(&with(
        &[&["--increasing", "a", "--decreasing", "a"][..], &SOFT].concat(),
    ));
    failure(&run(&[&["s.svm", "--increasing", "1"][..], &SOFT].concat()));
}
