//! Which features are learned from.

use serde_json::{Value, json};

use super::{exclusive_or, numbers};
use crate::process::{
    directory_with, failure, json as json_of, stderr, success, ubauc, wrong_usage,
};

#[test]
fn a_search_finds_that_two_columns_belong_together() {
    for (name, text) in [("x.csv", exclusive_or(400)), ("n.csv", numbers(400))] {
        let directory = directory_with(&[(name, &text)]);
        let words = [
            "train",
            name,
            "--label",
            "y",
            "--positive",
            "yes",
            "--test",
            name,
            "--model",
            "m.json",
            "--repeats",
            "1",
            "--json",
        ];
        let output = ubauc(directory.path(), &words);
        let found = json_of(&output);
        assert_eq!(found["features"]["kind"], "pairs", "{name}");
        assert_eq!(found["features"]["pairs"][0], json!(["a", "b"]), "{name}");
        let maps = found["maps"].as_array().unwrap();
        assert_eq!(maps[0]["map"], "linear");
        assert_eq!(
            maps.iter()
                .filter(|map| map["chosen"] == json!(true))
                .count(),
            1
        );
        let auc = |map: &Value| map["auc"].as_f64().unwrap();
        assert!(
            auc(&maps[0]) < 0.6 && auc(maps.last().unwrap()) > 0.7,
            "{maps:?}"
        );
        let search = found["search"].as_array().unwrap();
        assert!(search.iter().all(|point| point["map"].is_string()));
        assert!(
            stderr(&output).contains("logistic regression"),
            "{}",
            stderr(&output)
        );
        // The same rows, read as a new file.
        assert_eq!(found["test_auc"]["auc"], found["train_auc"]);
        let words = [
            "evaluate", name, "--model", "m.json", "--label", "y", "--json",
        ];
        let judged = json_of(&ubauc(directory.path(), &words));
        assert_eq!(judged["auc"], found["train_auc"]);
    }
}

#[test]
fn one_map_is_fitted_where_all_is_given() {
    let directory = directory_with(&[("x.csv", &exclusive_or(300)), ("n.csv", &numbers(300))]);
    let train = |more: &[&str]| {
        let words = [
            "train",
            "x.csv",
            "--label",
            "y",
            "--beta",
            "0",
            "--softness",
            "1",
        ];
        let words = [&words[..], &["--gamma", "1e-3", "--json"], more].concat();
        json_of(&ubauc(directory.path(), &words))
    };
    let (linear, additive) = (train(&[]), train(&["--features", "additive"]));
    assert_eq!(linear["features"]["kind"], "linear");
    assert_eq!(additive["features"]["kind"], "additive");
    assert!(additive["d"].as_u64() > linear["d"].as_u64());
    assert!(additive["search"].is_null() && additive["features"]["pairs"].is_null());
    let one = train(&["--pairs", "1"]);
    assert_eq!(one["features"]["pairs"], json!([["a", "b"]]));
    assert!(one["gap"].as_f64().unwrap() < 1e-6);
    let named = train(&["--pair", "b,c", "--pair", "colour,a"]);
    assert_eq!(named["features"]["pairs"].as_array().unwrap().len(), 2);
    let words = [
        "train",
        "n.csv",
        "--label",
        "y",
        "--features",
        "additive",
        "--beta",
        "0.5",
        "--gamma",
        "0.01",
        "--json",
    ];
    let plain = json_of(&ubauc(directory.path(), &words));
    assert_eq!(plain["features"]["kind"], "additive");
}

#[test]
fn tune_recommends_a_command_that_trains_its_choice() {
    let directory = directory_with(&[("x.csv", &exclusive_or(300))]);
    let words = [
        "tune",
        "x.csv",
        "--label",
        "y",
        "--features",
        "pairs",
        "--pairs",
        "1",
        "--folds",
        "3",
        "--repeats",
        "1",
    ];
    let output = ubauc(directory.path(), &words);
    let text = success(&output);
    let command = text
        .lines()
        .find(|line| line.contains("ubauc train x.csv"))
        .unwrap();
    assert!(command.contains("--features pairs --pairs 1"), "{command}");
    let words: Vec<&str> = command
        .split_whitespace()
        .skip_while(|w| *w != "train")
        .collect();
    let trained = json_of(&ubauc(
        directory.path(),
        &[&words[..], &["--json"]].concat(),
    ));
    assert_eq!(trained["features"]["kind"], "pairs");
}

#[test]
fn what_cannot_be_is_refused() {
    let svmlight = "1 1:0.5 2:1\n-1 1:0.25\n".repeat(20);
    let directory = directory_with(&[("x.csv", &exclusive_or(60)), ("x.svm", &svmlight)]);
    let train = |words: &[&str]| {
        let words = [&["train", "x.csv", "--label", "y"], words].concat();
        ubauc(directory.path(), &words)
    };
    for (words, part) in [
        (
            &["--features", "additive", "--scale", "none"][..],
            "--scale is for",
        ),
        (&["--features", "linear", "--pairs", "3"], "--pairs is for"),
        (
            &["--features", "additive", "--pair", "a,b"],
            "--pair is for",
        ),
        (
            &["--features", "auto", "--beta", "1", "--gamma", "1"],
            "is a search",
        ),
        (
            &["--features", "additive", "--algorithm", "logistic"],
            "--algorithm is for",
        ),
        (&["--pairs", "many"], "must be a number"),
        (&["--pair", "a"], "must be two columns"),
    ] {
        let output = train(words);
        assert!(wrong_usage(&output).contains(part), "{words:?}: {output:?}");
    }
    let output = train(&["--pair", "a,nothing", "--beta", "1", "--gamma", "1"]);
    assert!(failure(&output).contains("nothing"), "{output:?}");
}

/// The class is in the middle of feature 2 and of no use to a line; feature 4 is mostly 0.
fn middle(n: usize) -> (String, String) {
    let (mut svmlight, mut csv) = (String::new(), String::from("y,1,2,3,4\n"));
    for i in 0..n {
        let x = [
            (i * 7919 % 997) as f64 / 997.0,
            (i * 104_729 % 991) as f64 / 991.0,
        ];
        let rest = [
            f64::from(i % 3 == 0),
            if i % 10 == 0 { x[0] + 1.0 } else { 0.0 },
        ];
        let label = if (0.3..0.7).contains(&x[1]) { 1 } else { -1 };
        let all = [x[0], x[1], rest[0], rest[1]];
        svmlight += &label.to_string();
        for (j, value) in all.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            svmlight += &format!(" {}:{value}", j + 1);
        }
        svmlight += "\n";
        csv += &format!("{label},{},{},{},{}\n", all[0], all[1], all[2], all[3]);
    }
    (svmlight, csv)
}

#[test]
fn features_of_svmlight_are_columns_named_by_their_indices() {
    let (svmlight, csv) = middle(500);
    let wide = format!("1 1:1 2001:1\n-1 1:2 5:1\n{svmlight}");
    let files = [
        ("x.svm", svmlight.as_str()),
        ("x.csv", &csv),
        ("wide.svm", &wide),
    ];
    let directory = directory_with(&files);
    let run = |words: &[&str]| ubauc(directory.path(), words);
    let train = |file: &str, model: &str| {
        let words = [
            "train",
            file,
            "--test",
            file,
            "--repeats",
            "1",
            "--model",
            model,
            "--json",
        ];
        let label = ["--label", "y", "--positive", "1"];
        let label = if file == "x.csv" { &label[..] } else { &[] };
        json_of(&run(&[&words[..], label].concat()))
    };
    let (of_svmlight, of_csv) = (train("x.svm", "m.json"), train("x.csv", "c.json"));
    let chosen = |found: &Value| -> Value {
        let maps = found["maps"].as_array().unwrap();
        maps.iter()
            .find(|map| map["chosen"] == json!(true))
            .unwrap()["map"]
            .clone()
    };
    assert_eq!(chosen(&of_svmlight), "additive");
    assert_eq!(chosen(&of_svmlight), chosen(&of_csv));
    // The same table, so the same model.
    for name in ["train_auc", "gamma", "objective"] {
        assert_eq!(of_svmlight[name], of_csv[name], "{name}");
    }
    assert!(
        of_svmlight["train_auc"].as_f64().unwrap() > 0.97,
        "{of_svmlight}"
    );
    assert_eq!(of_svmlight["test_auc"]["auc"], of_svmlight["train_auc"]);
    let judged = json_of(&run(&["evaluate", "x.svm", "--model", "m.json", "--json"]));
    assert_eq!(judged["auc"], of_svmlight["train_auc"]);
    // Models of either file score the other.
    let scores =
        |file: &str, model: &str| success(&run(&["predict", file, "--model", model])).to_string();
    let expected = scores("x.svm", "m.json");
    assert_eq!(expected.lines().count(), 1 + 500);
    assert_eq!(expected, scores("x.csv", "m.json"));
    assert_eq!(expected, scores("x.svm", "c.json"));
    let output = run(&["explain", "m.json", "--row", "x.svm:1"]);
    let explained = success(&output);
    assert!(explained.contains("score"), "{explained}");
    let output = run(&["train", "wide.svm", "--features", "additive"]);
    assert!(failure(&output).contains("2,001 features"), "{output:?}");
}
