//! `train` and `tune` of tables.

use serde_json::{Value, json};

use super::{customers, trained};
use crate::process::{
    directory_with, failure, json as json_of, stderr, success, ubauc, wrong_usage,
};

fn model(dir: &std::path::Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(dir.join("m.json")).unwrap()).unwrap()
}

#[test]
fn the_report_tells_what_was_made_of_every_column() {
    let directory = directory_with(&[("x.csv", &customers(300))]);
    let words = [
        "train", "x.csv", "--label", "churn", "--beta", "0.5", "--gamma", "0.01",
    ];
    let output = ubauc(directory.path(), &[&words[..], &["--json"]].concat());
    let found = json_of(&output);
    assert_eq!(found["features"]["kind"], "linear");
    let columns = found["features"]["columns"].as_array().unwrap();
    let kinds: Vec<(&str, &str)> = columns
        .iter()
        .map(|c| (c["name"].as_str().unwrap(), c["kind"].as_str().unwrap()))
        .collect();
    let expected = [
        ("age", "number"),
        ("city", "category"),
        ("since", "time"),
        ("vip", "boolean"),
        ("household", "number"),
    ];
    assert_eq!(kinds, expected);
    let column = |j: usize| &columns[j];
    assert_eq!(column(0)["missing"], json!(33));
    // The number, and an indicator of what is missing.
    assert_eq!(column(0)["features"], json!(2));
    // Bern, Lausanne, Zug, one for the rare Rome, one for what is missing.
    assert_eq!(
        (&column(1)["levels"], &column(1)["features"]),
        (&json!(4), &json!(5))
    );
    let d: u64 = columns
        .iter()
        .map(|c| c["features"].as_u64().unwrap())
        .sum();
    assert_eq!(found["d"], json!(d));
    // People read the same.
    let text = ubauc(directory.path(), &words);
    let text = success(&text);
    for part in [
        "city",
        "category",
        "4 levels: Lausanne",
        "2024-01-02 to 2024-12-26",
        "boolean",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_model_keeps_the_map_and_how_the_file_was_written() {
    let directory = trained();
    let model = model(directory.path());
    assert_eq!(model["features"]["kind"], "columns");
    assert_eq!(model["reading"]["label"], "churn");
    let since = &model["reading"]["columns"][0];
    assert_eq!(
        (&since["name"], &since["date_order"]),
        (&json!("since"), &json!("year-first"))
    );
    // 'left' is rarer or not; the model knows which.
    assert!(
        model["classes"]
            .as_array()
            .unwrap()
            .contains(&json!("left"))
    );
}

#[test]
fn numbers_without_gaps_are_learned_from_as_ever() {
    let csv = "y,a,b\n1,2,1\n0,1,-1\n1,1,0.5\n0,-1,0\n0,0.5,1\n1,3,-1\n0,-2,0.5\n";
    let svm = "1 1:2 2:1\n0 1:1 2:-1\n1 1:1 2:0.5\n0 1:-1\n0 1:0.5 2:1\n1 1:3 2:-1\n0 1:-2 2:0.5\n";
    let directory = directory_with(&[("x.csv", csv), ("x.svm", svm)]);
    let weights = |file: &str| {
        let mut words = vec![
            "train", file, "--beta", "0.5", "--gamma", "0.01", "--model", "m.json",
        ];
        if file == "x.csv" {
            words.extend(["--label", "y"]);
        }
        success(&ubauc(directory.path(), &words));
        let model = model(directory.path());
        assert_eq!(model["features"]["kind"], "identity");
        model["weights"].clone()
    };
    assert_eq!(weights("x.csv"), weights("x.svm"));
}

#[test]
fn the_positive_class_is_reported_with_its_reason() {
    let table = |a: &str, b: &str, n_b: usize| {
        let mut text = "y,x,c\n".to_string();
        for i in 0..40 {
            let class = if i % 10 < n_b { b } else { a };
            text += &format!(
                "{class},{},{}\n",
                (i * 7) % 11,
                if i % 3 == 0 { "u" } else { "v" }
            );
        }
        text
    };
    for (a, b, n_b, positive, why) in [
        ("no", "yes", 7, "yes", Some("it says yes")),
        ("True", "False", 3, "True", Some("it says yes")),
        ("good", "bad", 3, "bad", Some("the rarer")),
        ("good", "bad", 7, "good", Some("the rarer")),
        ("good", "bad", 5, "good", Some("byte order")),
        ("1", "2", 7, "2", None),
        ("0", "1", 3, "1", None),
    ] {
        let directory = directory_with(&[("x.csv", &table(a, b, n_b))]);
        let words = [
            "train", "x.csv", "--label", "y", "--beta", "1", "--gamma", "0.1", "--json",
        ];
        let output = ubauc(directory.path(), &words);
        assert_eq!(json_of(&output)["classes"][1], positive, "{a} {b}");
        match why {
            Some(why) => assert!(stderr(&output).contains(why), "{}", stderr(&output)),
            None => assert!(!stderr(&output).contains("positive"), "{}", stderr(&output)),
        }
    }
}

#[test]
fn every_algorithm_learns_from_a_table() {
    let directory = directory_with(&[("x.csv", &customers(200))]);
    for algorithm in [
        "ba-ubauc", "ol-ubauc", "logistic", "solam", "opauc", "oam-seq", "oam-gra", "svm-or", "svm",
    ] {
        let words = [
            "train",
            "x.csv",
            "--label",
            "churn",
            "--algorithm",
            algorithm,
            "--ignore",
            "household",
            "--model",
            "m.json",
            "--json",
        ];
        let found = json_of(&ubauc(directory.path(), &words));
        let auc = found["train_auc"].as_f64().unwrap();
        assert!(auc > 0.65, "{algorithm}: {auc}");
        let words = ["evaluate", "--model", "m.json", "x.csv", "--json"];
        assert_eq!(
            json_of(&ubauc(directory.path(), &words))["auc"],
            found["train_auc"]
        );
    }
}

#[test]
fn a_search_learns_a_map_in_every_fold_and_train_and_tune_agree() {
    let directory = directory_with(&[("x.csv", &customers(300))]);
    let words = [
        "x.csv",
        "--label",
        "churn",
        "--group",
        "household",
        "--json",
        "--repeats",
        "1",
    ];
    let tuned = json_of(&ubauc(directory.path(), &[&["tune"], &words[..]].concat()));
    let trained = json_of(&ubauc(directory.path(), &[&["train"], &words[..]].concat()));
    assert_eq!(tuned["chosen"]["gamma"], trained["gamma"]);
    assert_eq!(tuned["features"], trained["features"]);
    assert_eq!(trained["scale"], "none");
    assert!(tuned["chosen"]["auc"].as_f64().unwrap() > 0.6);
    let names = trained["features"]["columns"].as_array().unwrap();
    assert!(names.iter().all(|column| column["name"] != "household"));
}

#[test]
fn a_test_file_is_read_by_the_columns_of_the_training_file() {
    let directory = trained();
    let dir = directory.path();
    let other =
        super::reordered(&customers(400), &[5, 3, 1, 0, 2, 4]).replace("Lausanne", "Nowhere");
    std::fs::write(dir.join("t.csv"), other).unwrap();
    let words = [
        "train",
        "x.csv",
        "--label",
        "churn",
        "--positive",
        "left",
        "--ignore",
        "household",
        "--beta",
        "0.5",
        "--gamma",
        "0.01",
        "--test",
        "t.csv",
        "--json",
    ];
    let trained = json_of(&ubauc(dir, &words));
    let judged = json_of(&ubauc(
        dir,
        &["evaluate", "--model", "m.json", "t.csv", "--json"],
    ));
    assert_eq!(trained["test_auc"]["auc"], judged["auc"]);
    std::fs::write(dir.join("t.csv"), "churn,age\nleft,1\nstayed,2\n").unwrap();
    assert!(failure(&ubauc(dir, &words)).contains("no feature column 'city'"));
}

#[test]
fn weights_and_groups_may_be_any_column() {
    let directory = directory_with(&[("x.csv", &customers(200))]);
    let train = |words: &[&str]| {
        let all = [
            "train", "x.csv", "--label", "churn", "--beta", "0.5", "--gamma", "0.01", "--json",
        ];
        ubauc(directory.path(), &[&all[..], words].concat())
    };
    let weighted = json_of(&train(&["--weight", "household"]));
    assert_ne!(
        weighted["train_auc"],
        json_of(&train(&["--ignore", "household"]))["train_auc"]
    );
    let grouped = json_of(&train(&["--group", "since"]));
    assert_eq!(grouped["features"]["columns"].as_array().unwrap().len(), 4);
    assert!(failure(&train(&["--group", "city"])).contains("has no group in column 'city'"));
    assert!(failure(&train(&["--weight", "age"])).contains("has no weight in column 'age'"));
    assert!(failure(&train(&["--weight", "vip"])).contains("weights are numbers"));
    assert!(failure(&train(&["--group", "nothing"])).contains("no group column 'nothing'"));
}

#[test]
fn a_model_of_a_table_is_a_start() {
    let directory = trained();
    let words = [
        "train",
        "x.csv",
        "--label",
        "churn",
        "--positive",
        "left",
        "--ignore",
        "household",
        "--beta",
        "0.5",
        "--gamma",
        "0.01",
        "--json",
        "--initial-model",
        "m.json",
    ];
    let cold = json_of(&ubauc(directory.path(), &words[..words.len() - 2]));
    let warm = json_of(&ubauc(directory.path(), &words));
    let steps = |found: &Value| found["newton"].as_u64().unwrap();
    assert!(steps(&warm) <= steps(&cold), "{warm}");
    let objective = |found: &Value| found["objective"].as_f64().unwrap();
    assert!((objective(&warm) - objective(&cold)).abs() < 1e-5);
    std::fs::write(
        directory.path().join("n.csv"),
        "churn,age\n1,2\n0,3\n1,4\n0,2\n",
    )
    .unwrap();
    let words = [
        "train",
        "n.csv",
        "--label",
        "churn",
        "--beta",
        "0.5",
        "--gamma",
        "0.01",
        "--initial-model",
        "m.json",
    ];
    assert!(failure(&ubauc(directory.path(), &words)).contains("complete numbers"));
}

#[test]
fn nothing_to_learn_from_is_reported() {
    let mut text = "y,id,same\n".to_string();
    for i in 0..30 {
        text += &format!("{},n{i}x,5\n", i % 2);
    }
    let directory = directory_with(&[("x.csv", &text), ("x.svm", "1 1:1\n-1 1:2\n")]);
    let said = ubauc(directory.path(), &["train", "x.csv", "--label", "y"]);
    assert!(
        failure(&said).contains("no column tells anything"),
        "{}",
        stderr(&said)
    );
    let said = ubauc(
        directory.path(),
        &["train", "x.svm", "--categorical", "all"],
    );
    assert!(failure(&said).contains("svmlight has numbers only"));
    let said = ubauc(directory.path(), &["train", "x.csv", "--ignore", "\"a"]);
    assert!(wrong_usage(&said).contains("closing quote"));
}
