//! What `predict`, `evaluate` and `compare` take as the columns of a model, and as its classes.

use std::path::Path;

use crate::process::{directory_with, failure, json, stderr, success, ubauc, wrong_usage};

const TRAIN: &str =
    "label,a,b\nyes,2,1\nno,1,-1\nyes,1,0.5\nno,-1,0\nno,0.5,1\nyes,3,-1\nno,-2,0.5\n";

/// The same rows with words in a column, and a column of weights before the features.
const TABLE: &str = "id,w,b,label,a\nx1,1,1,yes,2\nx2,2,-1,no,1\nx3,1,0.5,yes,1\nx4,1,0,no,-1\n\
                     x5,3,1,no,0.5\nx6,1,-1,yes,3\nx7,1,0.5,no,-2\n";

const SVMLIGHT: &str =
    "1 1:2 2:1\n0 1:1 2:-1\n1 1:1 2:0.5\n0 1:-1\n0 1:0.5 2:1\n1 1:3 2:-1\n0 1:-2 2:0.5\n";

/// Models of named columns (`m.json`) and of columns by position (`p.json`), of the same weights.
fn trained() -> tempfile::TempDir {
    let directory = directory_with(&[("x.csv", TRAIN), ("table.csv", TABLE), ("x.svm", SVMLIGHT)]);
    for (data, model) in [("x.csv", "m.json"), ("x.svm", "p.json")] {
        let words = [
            "train", data, "--beta", "0.5", "--gamma", "0.01", "--model", model,
        ];
        success(&ubauc(directory.path(), &words));
    }
    directory
}

fn auc(dir: &Path, words: &[&str]) -> serde_json::Value {
    json(&ubauc(dir, &[&["evaluate", "--json"], words].concat()))["auc"].clone()
}

#[test]
fn columns_are_ignored_as_in_training() {
    let directory = trained();
    let dir = directory.path();
    let predict = |words: &[&str]| ubauc(dir, &[&["predict", "--model"], words].concat());
    let expected = success(&predict(&["m.json", "x.csv"])).to_string();
    let plain = predict(&["m.json", "table.csv"]);
    assert_eq!(success(&plain), expected);
    assert!(stderr(&plain).contains("columns not used: 'id', 'w'"));
    let ignoring = predict(&["m.json", "table.csv", "--ignore", "id,w"]);
    assert_eq!(success(&ignoring), expected);
    assert!(!stderr(&ignoring).contains("not used"));
    // A model of positions reads every column that is not ignored, and words are no numbers.
    assert!(failure(&predict(&["p.json", "table.csv"])).contains("'x1' in column 'id'"));
    let by_position = predict(&["p.json", "table.csv", "--ignore", "id,w"]);
    assert_ne!(success(&by_position), expected);

    let of_training = auc(dir, &["--model", "m.json", "x.csv"]);
    let words = ["--model", "m.json", "table.csv", "--ignore", "id,w"];
    assert_eq!(auc(dir, &words), of_training);
    let words = [
        "--model",
        "m.json",
        "--model",
        "m.json",
        "table.csv",
        "--ignore",
        "id",
    ];
    let compared = ubauc(dir, &[&["compare", "--json"], &words[..]].concat());
    assert_eq!(json(&compared)["scorers"][0]["auc"], of_training);
}

#[test]
fn what_cannot_be_ignored_is_refused() {
    let directory = trained();
    let dir = directory.path();
    let needed = ubauc(
        dir,
        &["predict", "--model", "m.json", "x.csv", "--ignore", "a"],
    );
    assert!(wrong_usage(&needed).contains("needs this column"));
    let unknown = ubauc(
        dir,
        &["evaluate", "--model", "m.json", "x.csv", "--ignore", "z"],
    );
    assert!(failure(&unknown).contains("no ignored column 'z'"));
    for command in ["evaluate", "compare"] {
        for option in [&["--ignore", "b"][..], &["--by-position"]] {
            let output = ubauc(
                dir,
                &[&[command, "x.csv", "--score", "a,b"], option].concat(),
            );
            assert!(
                wrong_usage(&output).contains("--model"),
                "{command} {option:?}"
            );
        }
    }
}

#[test]
fn a_weight_is_no_feature_by_position() {
    let directory = trained();
    let dir = directory.path();
    let given = ["--weight", "w", "--ignore", "id", "--by-position"];
    let by_position = [
        &["--model", "p.json", "table.csv"],
        &given[..2],
        &["--ignore", "id"],
    ];
    let with_names = [&["--model", "m.json", "table.csv"], &given[..]];
    let positive = ["--positive", "yes"];
    let one = auc(dir, &[&by_position.concat()[..], &positive].concat());
    assert_eq!(
        one,
        auc(dir, &[&with_names.concat()[..], &positive].concat())
    );
}

#[test]
fn svmlight_is_refused_by_a_model_of_names_unless_by_position() {
    let directory = trained();
    let dir = directory.path();
    for words in [
        &["predict", "--model", "m.json", "x.svm"][..],
        &["evaluate", "--model", "m.json", "x.svm", "--positive", "1"],
        &[
            "compare",
            "--model",
            "m.json",
            "--model",
            "p.json",
            "x.svm",
            "--positive",
            "1",
        ],
    ] {
        let refused = ubauc(dir, words);
        let said = failure(&refused);
        assert!(said.contains("by name: a, b; --by-position"), "{said}");
        success(&ubauc(dir, &[words, &["--by-position"]].concat()));
    }
    let scores = |words: &[&str]| {
        let output = ubauc(dir, &[&["predict", "--model"], words].concat());
        success(&output).to_string()
    };
    let expected = scores(&["m.json", "x.csv"]);
    assert_eq!(scores(&["m.json", "x.svm", "--by-position"]), expected);
    assert_eq!(scores(&["m.json", "x.csv", "--by-position"]), expected);

    // The same of hashed columns.
    let words = [
        "learn",
        "x.csv",
        "--positive",
        "yes",
        "--hash-bits",
        "3",
        "--model",
        "h.json",
    ];
    success(&ubauc(dir, &words));
    let refused = ubauc(dir, &["predict", "--model", "h.json", "x.svm"]);
    assert!(failure(&refused).contains("--by-position"));
    assert_eq!(
        scores(&["h.json", "x.svm", "--by-position"]),
        scores(&["h.json", "x.csv"])
    );
}

#[test]
fn labels_of_other_names_need_the_positive_class() {
    let directory = trained();
    let dir = directory.path();
    let words = [
        "evaluate",
        "--model",
        "m.json",
        "x.svm",
        "--by-position",
        "--json",
    ];
    let said = failure(&ubauc(dir, &words)).to_string();
    assert!(
        said.contains("no and yes") && said.contains("--positive"),
        "{said}"
    );
    let given = ubauc(dir, &[&words[..], &["--positive", "1"]].concat());
    assert_eq!(
        json(&given)["auc"],
        auc(dir, &["--model", "m.json", "x.csv"])
    );
    let models = [
        "compare",
        "--model",
        "m.json",
        "--model",
        "m.json",
        "x.svm",
        "--by-position",
    ];
    assert!(failure(&ubauc(dir, &models)).contains("--positive"));
    // Where only the negative class is there, there is nothing to ask for.
    std::fs::write(dir.join("no.csv"), "label,a,b\nno,1,2\nno,2,1\n").unwrap();
    let one = ubauc(dir, &["evaluate", "--model", "m.json", "no.csv"]);
    assert!(failure(&one).contains("one class, no"));
}
