//! The numbers: whole tables, any number of threads, mean and deviation, halves of classes.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{PROTOCOL, SVM, cells, classes, experiment, put, reproduce, results, table2, timeless};
use crate::process::{json, stderr, success, ubauc};

#[test]
fn every_cell_is_filled() {
    let directory = experiment(&table2());
    let dir = directory.path();
    let output = reproduce(dir, "table2", &["--json"]);
    let table = json(&output);
    assert_eq!(table["datasets"], serde_json::json!(["halves", "parts"]));
    assert_eq!(
        table["columns"],
        serde_json::json!(["svm", "one pass", "logistic"])
    );
    let state = results(dir, "table2.json");
    assert_eq!(state["table"], "table2");
    assert!(state["format"].is_string());
    let origin = &state["origins"][0];
    assert!(origin["command"].as_str().unwrap().contains("--results r"));
    for key in ["machine", "commit"] {
        assert!(origin[key].is_string(), "{key}");
    }
    let shown = table["cells"].as_array().unwrap();
    assert_eq!(shown.len(), 6);
    for cell in shown {
        let name = |key: &str| cell[key].as_str().unwrap().to_string();
        let kept = &state["cells"][format!("{}/{}", name("dataset"), name("column"))];
        let auc: Vec<f64> = serde_json::from_value(kept["auc"].clone()).unwrap();
        assert_eq!(auc.len(), 3, "{kept}");
        let mean = auc.iter().sum::<f64>() / 3.0;
        let squares: f64 = auc.iter().map(|x| (x - mean).powi(2)).sum();
        assert!((cell["mean"].as_f64().unwrap() - mean).abs() < 1e-15);
        assert!((cell["std"].as_f64().unwrap() - (squares / 2.0).sqrt()).abs() < 1e-15);
        assert!(mean > 0.6, "{cell}");
        assert_eq!(
            (&cell["runs"], &cell["wanted_runs"]),
            (&3.into(), &3.into())
        );
        assert_eq!(cell["parameters"], kept["parameters"]);
        assert!(cell["note"].is_null() && cell["paper"].is_null(), "{cell}");
        assert_eq!(kept["origins"], serde_json::json!([0]));
        let line = format!("{}, {}: {mean:.4} ± ", name("dataset"), name("column"));
        assert!(stderr(&output).contains(&line), "{}", stderr(&output));
    }
    for set in ["halves", "parts"] {
        let row: Vec<&Value> = shown.iter().filter(|c| c["dataset"] == set).collect();
        let mean = |cell: &Value| cell["mean"].as_f64().unwrap();
        let highest = row.iter().map(|cell| mean(cell)).fold(0.0, f64::max);
        for cell in row {
            assert_eq!(cell["best"], mean(cell) == highest, "{cell}");
        }
    }
}

/// Run k is `ubauc train` on what the protocol takes; with a share of nearly all rows that is the whole part.
#[test]
fn a_run_is_what_train_would_do() {
    let one = "[[columns]]\nname = \"svm\"\nalgorithm = \"svm\"\nfixed = { C = 0.5 }\n";
    let config = PROTOCOL.replace("share = 0.8", "share = 0.9999");
    let set = "[[datasets]]\nname = \"parts\"\n";
    let directory = experiment(&[&config, set, one].concat());
    let dir = directory.path();
    success(&reproduce(dir, "table2", &["--runs", "1"]));
    let trained = json(&ubauc(
        dir,
        &[
            "train",
            "data/parts/train.svm",
            "--test",
            "data/parts/test.svm",
            "--algorithm",
            "svm",
            "--C",
            "0.5",
            "--seed",
            "2",
            "--json",
        ],
    ));
    let auc = cells(dir)["parts/svm"]["auc"][0].as_f64().unwrap();
    assert_eq!(trained["test_auc"]["auc"], auc);
}

#[test]
fn threads_change_nothing_but_seconds() {
    let run = |threads: &str, more: &[&str], file: &str| {
        let directory = experiment(&table2());
        let words = [&["--threads", threads], more].concat();
        success(&reproduce(directory.path(), "table2", &words));
        timeless(results(directory.path(), file)["cells"].clone())
    };
    let one = run("1", &[], "table2.json");
    assert_eq!(run("2", &[], "table2.json"), one);
    assert_eq!(run("5", &[], "table2.json"), one);
    let one = run("1", &["--folds"], "table2-folds.json");
    assert_eq!(run("2", &["--folds"], "table2-folds.json"), one);
}

#[test]
fn folds_have_results_of_their_own() {
    let directory = experiment(&table2());
    let dir = directory.path();
    success(&reproduce(dir, "table2", &[]));
    let before = cells(dir);
    let table = json(&reproduce(
        dir,
        "table2",
        &["--folds", "--runs", "7", "--json"],
    ));
    assert!(table["notes"][0].as_str().unwrap().contains("5-fold"));
    assert_eq!(cells(dir), before);
    let state = results(dir, "table2-folds.json");
    for (key, cell) in state["cells"].as_object().unwrap() {
        assert_eq!(cell["auc"].as_array().unwrap().len(), 7, "{key}");
        assert!(cell["settings"]["data"]["test"].is_null(), "{key}");
        // All rows: 160, or 240 of both parts.
        let [pos, neg] = [0, 1].map(|i| cell["settings"]["data"]["train"][i].as_u64().unwrap());
        let rows = if key.starts_with("halves") { 160 } else { 240 };
        assert_eq!(pos + neg, rows, "{key}");
        assert_eq!(pos, rows / 5, "{key}");
    }
}

/// Whichever halves the classes are split into, a class has the same side in both files, though the second lacks one
/// and has them in another order: the features of the classes then order it without fault.
#[test]
fn many_classes_have_the_same_sides_in_both_parts() {
    let set = "[[datasets]]\nname = \"many\"\n";
    let directory = experiment(&[PROTOCOL, set, SVM].concat());
    let dir = directory.path();
    // 10, 20, 40 and 80 rows: a sum tells which classes are in it.
    let of = [1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4];
    put(dir, "data/many/train.svm", &classes(150, &of));
    put(dir, "data/many/test.svm", &classes(30, &[4, 1, 3]));
    let mut halves = BTreeSet::new();
    for partition in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        let more = ["--partition", partition, "--runs", "1", "--quiet"];
        success(&reproduce(dir, "table2", &more));
        let cell = cells(dir)["many/svm"].clone();
        assert_eq!(cell["auc"][0], 1.0, "partition {partition}");
        let n_pos = cell["settings"]["data"]["train"][0].as_u64().unwrap() / 10;
        assert_eq!(n_pos.count_ones(), 2, "two classes of four");
        let judged = 10 * (n_pos & 0b1101).count_ones();
        assert_eq!(
            cell["settings"]["data"]["test"],
            serde_json::json!([judged, 30 - judged])
        );
        halves.insert(n_pos);
    }
    assert!(halves.len() > 1, "all partitions are {halves:?}");
}

#[test]
fn features_that_only_the_test_part_has_are_passed_over() {
    let set = "[[datasets]]\nname = \"wide\"\n";
    let directory = experiment(&[PROTOCOL, set, SVM].concat());
    let dir = directory.path();
    put(dir, "data/wide/train.svm", &classes(40, &[1, 2]));
    let test = "1 1:1 500000:1\n2 2:1\n1 1:1\n";
    put(dir, "data/wide/test.svm", test);
    success(&reproduce(dir, "table2", &[]));
    assert_eq!(
        cells(dir)["wide/svm"]["auc"],
        serde_json::json!([1.0, 1.0, 1.0])
    );
}
