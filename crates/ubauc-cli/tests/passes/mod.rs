//! `ubauc train --algorithm ol-ubauc`: what it reports, what it refuses, the same bytes for a seed.

mod by_hand;
mod initial_model;

use std::fs;
use std::path::Path;

use serde_json::{Value, json as value};

use crate::process::{
    directory_with, failure, json, real_data, stderr, success, ubauc, wrong_usage,
};
use crate::train::overlapping;

fn model(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Trains ol-ubauc with these words, and answers the report.
fn report(dir: &Path, file: &str, words: &[&str]) -> Value {
    let first = ["train", file, "--algorithm", "ol-ubauc", "--json"];
    json(&ubauc(dir, &[&first, words].concat()))
}

/// The same for the weights and the intercept of the model.
fn weights(dir: &Path, file: &str, words: &[&str]) -> (Vec<f64>, f64) {
    report(dir, file, &[words, &["--model", "m.json"]].concat());
    let model = model(&dir.join("m.json"));
    let weights = serde_json::from_value(model["weights"].clone()).unwrap();
    (weights, model["intercept"].as_f64().unwrap())
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!(
            (a - b).abs() <= 1e-14 * (1.0 + b.abs()),
            "{what}: {found:?} {expected:?}"
        );
    }
}

#[test]
fn json_has_the_fixed_keys_and_a_trace() {
    let text = overlapping(300, 8);
    let directory = directory_with(&[("x.svm", &text)]);
    let dir = directory.path();
    let found = report(
        dir,
        "x.svm",
        &[
            "--test",
            "x.svm",
            "--trace",
            "--passes",
            "7",
            "--tolerance",
            "0",
        ],
    );
    for key in [
        "n",
        "n_pos",
        "n_neg",
        "d",
        "objective",
        "lambda",
        "tied",
        "train_auc",
        "eta0",
    ] {
        assert!(found[key].is_number(), "{key}: {found}");
    }
    for key in ["dual", "gap", "newton", "solver", "radius"] {
        assert!(found[key].is_null(), "{key}: {found}");
    }
    // What was not typed.
    let defaults = [
        ("algorithm", value!("ol-ubauc")),
        ("beta", value!(0.5)),
        ("gamma", value!(1e-4)),
        ("softness", value!(0.0)),
        ("class_weight", value!("none")),
        ("least_squares", value!("plain")),
        ("scale", value!("maxabs")),
        ("step", value!("implicit")),
        ("schedule", value!("sqrt")),
        ("average_from", value!(2)),
        ("shuffle", value!(true)),
        ("seed", value!(1)),
        ("passes", value!(7)),
        ("stop", value!("max_passes")),
    ];
    for (key, expected) in defaults {
        assert_eq!(found[key], expected, "{key}");
    }
    assert_eq!(found["test_auc"]["auc"], found["train_auc"]);
    let trace = found["trace"].as_array().unwrap();
    let passes: Vec<u64> = trace.iter().map(|p| p["pass"].as_u64().unwrap()).collect();
    assert_eq!(passes, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(trace[6]["objective"], found["objective"]);
    let auc = |v: &Value| v.as_f64().unwrap();
    assert!((auc(&trace[6]["auc"]) - auc(&found["train_auc"])).abs() < 1e-12);
    // Beta and gamma given: still maxabs, unless it is turned off.
    let given = ["--beta", "0.5", "--gamma", "1e-4"];
    assert_eq!(report(dir, "x.svm", &given)["scale"], "maxabs");
    let none = report(dir, "x.svm", &[&given[..], &["--scale", "none"]].concat());
    assert_eq!(none["scale"], "none");
    assert!(none["trace"].is_null());
    // The batch solver has a trace too.
    let words = [&["train", "x.svm", "--json", "--trace"], &given[..]].concat();
    let batch = json(&ubauc(dir, &words));
    let trace = batch["trace"].as_array().unwrap();
    assert_eq!(trace.last().unwrap()["newton"], batch["newton"]);
    assert!(trace.iter().all(|point| point["objective"].is_f64()));
    assert!(batch["passes"].is_null() && batch["eta0"].is_null());
}

#[test]
fn the_report_has_the_steps_and_says_that_nothing_is_certified() {
    let text = overlapping(300, 8);
    let directory = directory_with(&[("x.svm", &text)]);
    let words = "train x.svm --algorithm ol-ubauc --beta 2 --passes 3 --eta0 0.25";
    let words: Vec<&str> = words.split(' ').collect();
    let output = ubauc(directory.path(), &words);
    let text = success(&output);
    assert!(
        text.contains("implicit, 0.25/sqrt(t), averaged from pass 2 on"),
        "{text}"
    );
    assert!(text.contains("max_passes after 3 passes"), "{text}");
    assert!(!text.contains("proved"), "{text}");
    let note = stderr(&output);
    assert!(
        note.contains("note: all passes are made") && note.contains("ba-ubauc"),
        "{note}"
    );
    // A change of a tenth is soon too small.
    let words = [&words[..6], &["--tolerance", "0.1"]].concat();
    let output = ubauc(directory.path(), &words);
    assert!(success(&output).contains("still after"));
    assert!(stderr(&output).contains("does not certify a minimum"));
}

#[test]
fn it_comes_near_the_certified_minimum_and_never_below_it() {
    let text = overlapping(2000, 10);
    let directory = directory_with(&[("x.svm", &text)]);
    let given = "--beta 2 --gamma 1e-3 --scale maxabs";
    let given: Vec<&str> = given.split(' ').collect();
    let soft = ["--softness", "0.1", "--class-weight", "balanced"];
    for more in [
        &[][..],
        &["--intercept"],
        &["--least-squares", "balanced"],
        &soft,
    ] {
        let words = [&given[..], more].concat();
        let all = [
            &["train", "x.svm", "--json", "--tolerance", "1e-9"],
            &words[..],
        ]
        .concat();
        let least = json(&ubauc(directory.path(), &all))["objective"].as_f64();
        let found = report(directory.path(), "x.svm", &words)["objective"].as_f64();
        let above = found.unwrap() / least.unwrap() - 1.0;
        assert!((-1e-9..2e-3).contains(&above), "{more:?}: {above:e}");
    }
}

/// β = 0 and κ = 1 is logistic regression, its intercept −λ.
#[test]
fn it_comes_near_logistic_regression() {
    let text = overlapping(2000, 10);
    let directory = directory_with(&[("x.svm", &text)]);
    let dir = directory.path();
    for weight in ["none", "balanced", "4"] {
        let as_json = weight.parse::<f64>().map_or(weight.into(), Value::from);
        let given = [
            "--gamma",
            "1e-3",
            "--scale",
            "maxabs",
            "--class-weight",
            weight,
        ];
        let logistic = ["train", "x.svm", "--algorithm", "logistic", "--json"];
        let least = json(&ubauc(dir, &[&logistic[..], &given].concat()));
        let soft = ["--softness", "1", "--beta", "0", "--model", "m.json"];
        let found = report(dir, "x.svm", &[&given[..], &soft].concat());
        let above =
            found["objective"].as_f64().unwrap() / least["objective"].as_f64().unwrap() - 1.0;
        assert!((-1e-6..1e-2).contains(&above), "{weight}: {above:e}");
        assert_eq!(found["lambda"], 0.0);
        assert_eq!(found["class_weight"], as_json);
        let saved = model(&dir.join("m.json"));
        assert_eq!(saved["parameters"]["softness"], 1.0);
        assert_eq!(saved["parameters"]["class_weight"], as_json);
        assert_eq!(saved["intercept"], found["intercept"]);
    }
}

#[test]
fn same_seed_same_bytes_whatever_the_threads() {
    let text = overlapping(3000, 12);
    let directory = directory_with(&[("x.svm", &text)]);
    let dir = directory.path();
    let bytes = |words: &[&str]| {
        let words = [words, &["--passes", "4", "--quiet", "--model", "m.json"]].concat();
        report(dir, "x.svm", &words);
        fs::read(dir.join("m.json")).unwrap()
    };
    let one = bytes(&["--seed", "5", "--threads", "1"]);
    let soft = ["--softness", "0.3", "--class-weight", "balanced"];
    let soft = |threads| bytes(&[&soft[..], &["--threads", threads]].concat());
    assert!(soft("1") == soft("2"));
    for threads in ["1", "2", "5"] {
        assert!(
            one == bytes(&["--seed", "5", "--threads", threads]),
            "{threads}"
        );
    }
    let numbers = |words: &[&str]| {
        bytes(words);
        model(&dir.join("m.json"))["weights"].clone()
    };
    let other = numbers(&["--seed", "6", "--eta0", "0.5"]);
    assert_ne!(other, numbers(&["--seed", "5", "--eta0", "0.5"]));
    // Without an order to draw and an eta0 to try, the seed has nothing to do.
    let still = numbers(&["--seed", "6", "--eta0", "0.5", "--no-shuffle"]);
    assert_eq!(
        still,
        numbers(&["--seed", "5", "--eta0", "0.5", "--no-shuffle"])
    );
    assert_ne!(still, other);
}

#[test]
fn its_model_predicts_and_is_evaluated() {
    let text = overlapping(400, 6);
    let directory = directory_with(&[("x.svm", &text)]);
    let dir = directory.path();
    let found = report(dir, "x.svm", &["--model", "m.json", "--intercept"]);
    let saved = model(&dir.join("m.json"));
    assert_eq!(saved["algorithm"], "ol-ubauc");
    assert_eq!(saved["parameters"]["eta0"], found["eta0"]);
    assert_eq!(saved["parameters"]["passes"], 50);
    assert_eq!(saved["threshold"], found["lambda"]);
    let words = ["evaluate", "--model", "m.json", "x.svm", "--json"];
    assert_eq!(json(&ubauc(dir, &words))["auc"], found["train_auc"]);
    let output = ubauc(dir, &["predict", "--model", "m.json", "x.svm", "--classes"]);
    let lines = success(&output).lines().skip(1);
    let positive = lines.filter(|line| line.ends_with(",+1") || line.ends_with(",1"));
    // λ is a threshold that as many are above as there are positives.
    let (above, n_pos) = (positive.count() as i64, found["n_pos"].as_i64().unwrap());
    assert!((above - n_pos).abs() <= 1, "{above} {n_pos}");
}

#[test]
fn a_collapsed_model_is_named() {
    let text = overlapping(300, 4);
    let directory = directory_with(&[("x.svm", &text)]);
    let words = "train x.svm --algorithm ol-ubauc --beta 1e-7 --gamma 10 --eta0 4";
    let output = ubauc(directory.path(), &words.split(' ').collect::<Vec<_>>());
    success(&output);
    assert!(stderr(&output).contains("--beta"), "{}", stderr(&output));
    assert!(stderr(&output).contains("warning"), "{}", stderr(&output));
}

#[test]
fn steps_that_diverge_fail_and_implicit_ones_cannot() {
    let text = overlapping(300, 4);
    let directory = directory_with(&[("x.svm", &text)]);
    let words = "train x.svm --algorithm ol-ubauc --schedule constant --eta0 1e6 --quiet --step";
    let words: Vec<&str> = words.split(' ').collect();
    let sgd = ubauc(directory.path(), &[&words[..], &["sgd"]].concat());
    assert!(failure(&sgd).contains("diverges"));
    success(&ubauc(
        directory.path(),
        &[&words[..], &["implicit"]].concat(),
    ));
}

#[test]
fn wrong_usage_is_refused_by_name() {
    let directory = directory_with(&[("x.csv", "label,a\n1,2\n-1,1\n")]);
    let refused = |words: &str, name: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        let output = ubauc(
            directory.path(),
            &[&["train", "x.csv"], &words[..]].concat(),
        );
        assert!(
            wrong_usage(&output).contains(name),
            "{words:?}: {}",
            stderr(&output)
        );
    };
    for option in [
        "--passes 3",
        "--no-shuffle",
        "--step sgd",
        "--schedule inverse",
        "--eta0 1",
        "--radius 1",
        "--average-from 2",
        "--no-average",
    ] {
        let name = option.split(' ').next().unwrap();
        refused(option, name);
        refused(&format!("--algorithm logistic {option}"), name);
    }
    for (option, name) in [
        ("--passes 0", "passes"),
        ("--passes x", "--passes"),
        ("--step newton", "--step"),
        ("--schedule linear", "--schedule"),
        ("--eta0 0", "eta0"),
        ("--eta0 -1", "eta0"),
        ("--eta0 NaN", "eta0"),
        ("--eta0 inf", "eta0"),
        ("--radius 0", "radius"),
        ("--radius NaN", "radius"),
        ("--average-from 0", "--average-from"),
        ("--average-from 2 --no-average", "--no-average"),
        ("--beta 0", "beta"),
        ("--beta 0 --softness 0", "beta"),
        ("--softness -1", "softness"),
        ("--softness NaN", "softness"),
        ("--softness x", "--softness"),
        ("--class-weight heavy", "--class-weight"),
        ("--gamma -1", "gamma"),
        ("--tolerance -1", "tolerance"),
        ("--tolerance 1", "tolerance"),
        ("--max-newton 5", "--max-newton"),
        ("--trace", "--json"),
        #[cfg(feature = "bcd")]
        ("--solver bcd", "--solver"),
    ] {
        refused(&format!("--algorithm ol-ubauc {option}"), name);
    }
    #[cfg(feature = "bcd")]
    refused("--solver bcd --initial-model m.json", "--initial-model");
}

#[test]
fn a9a_comes_within_a_thousandth_of_its_known_optimum() {
    let Some(data) = real_data("a9a_comes_within_a_thousandth_of_its_known_optimum") else {
        return;
    };
    let file = data.join("a9a/train.svm.zst");
    let words = ["--beta", "0.5", "--gamma", "1e-4", "--quiet"];
    let found = report(Path::new("."), file.to_str().unwrap(), &words);
    let above = found["objective"].as_f64().unwrap() / 0.142_465_552_01 - 1.0;
    assert!((0.0..1e-3).contains(&above), "{above:e}");
    // 0.903449 at the optimum.
    assert!((found["train_auc"].as_f64().unwrap() - 0.903_449).abs() < 2e-3);
}
