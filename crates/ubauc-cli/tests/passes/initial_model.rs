//! Models to start from: the batch solver's for the online learner, and the other way round.

use std::path::Path;

use serde_json::Value;
use ubauc::features::FeatureMap;
use ubauc::model_file::SavedModel;

use super::{assert_close, model, report, weights};
use crate::process::{directory_with, failure, json, stderr, success, ubauc, wrong_usage};
use crate::train::overlapping;

#[test]
fn either_learner_starts_from_the_other() {
    let text = overlapping(2000, 10);
    let directory = directory_with(&[("x.svm", &text)]);
    let dir = directory.path();
    let given = "--beta 2 --gamma 1e-3 --scale maxabs --quiet";
    let given: Vec<&str> = given.split(' ').collect();
    let batch = |more: &[&str]| {
        let first = ["train", "x.svm", "--json"];
        json(&ubauc(dir, &[&first, &given[..], more].concat()))
    };
    let number = |report: &Value, key: &str| report[key].as_f64().unwrap();
    let cold = batch(&["--model", "ba.json"]);
    let least = number(&cold, "objective");
    // One pass of small steps from the minimum stays there; from 0 it is far away.
    let small = ["--passes", "1", "--eta0", "1e-4"];
    let near = ["--initial-model", "ba.json"];
    let warm = report(dir, "x.svm", &[&given[..], &small, &near].concat());
    let far = report(dir, "x.svm", &[&given[..], &small].concat());
    let above = |report: &Value| number(report, "objective") / least - 1.0;
    assert!(
        above(&warm) < 1e-4 && above(&far) > 1e-2,
        "{least} {warm} {far}"
    );
    // The other way round: the same minimum in fewer steps.
    report(
        dir,
        "x.svm",
        &[&given[..], &["--model", "ol.json"]].concat(),
    );
    for start in ["ol.json", "ba.json"] {
        let warm = batch(&["--initial-model", start]);
        assert_eq!(warm["stop"], "converged");
        let difference = (number(&warm, "objective") - least).abs();
        assert!(difference <= 2e-6 * least, "{start}: {difference}");
        assert!(
            number(&warm, "newton") < number(&cold, "newton"),
            "{start}: {warm} {cold}"
        );
    }
    // Logistic regression starts from its own optimum, and a model may be replaced.
    let logistic = [
        "--algorithm",
        "logistic",
        "--gamma",
        "1e-3",
        "--model",
        "l.json",
    ];
    let words = [&["train", "x.svm", "--json"], &logistic[..]].concat();
    let first = json(&ubauc(dir, &words));
    let again = json(&ubauc(
        dir,
        &[&words[..], &["--initial-model", "l.json"]].concat(),
    ));
    assert!(number(&again, "newton") < number(&first, "newton"));
    let from_logistic = [&given[..], &["--initial-model", "l.json"]].concat();
    report(dir, "x.svm", &from_logistic);
}

/// No step to speak of: the weights are those of the start.
const STILL: [&str; 6] = ["--passes", "1", "--eta0", "1e-300", "--gamma", "0"];

#[test]
fn features_of_the_initial_model_are_found() {
    let first = "label,a,b\n1,2,1\n-1,1,-1\n1,1,3\n-1,-1,0\n";
    let turned = "b,c,label,a\n1,5,1,2\n-1,4,-1,1\n3,2,1,1\n0,1,-1,-1\n";
    let lacking = "label,a\n1,2\n-1,1\n1,1\n-1,-1\n";
    let svm = |last: u32| format!("+1 1:2 2:1\n-1 1:1 2:-1\n+1 1:1 {last}:3\n-1 1:-1\n");
    let directory = directory_with(&[
        ("x.csv", first),
        ("turned.csv", turned),
        ("lacking.csv", lacking),
        ("two.svm", &svm(2)),
        ("three.svm", &svm(3)),
        ("one.svm", "+1 1:2\n-1 1:1\n+1 1:1\n-1 1:-1\n"),
    ]);
    let dir = directory.path();
    let made = |file: &str, model: &str| {
        report(dir, file, &["--model", model, "--quiet", "--eta0", "0.3"]);
        weights_of(dir, model)
    };
    let (csv, svm) = (made("x.csv", "csv.json"), made("two.svm", "svm.json"));
    assert!(csv[0] != 0.0 && csv[1] != 0.0 && csv[0] != csv[1]);
    let still = |file: &str, from: &str| {
        let words = [
            &STILL[..],
            &["--initial-model", from, "--scale", "standard"],
        ]
        .concat();
        weights(dir, file, &words).0
    };
    // Standard deviations make 1e-16 of difference on the way there and back.
    assert_close(&still("x.csv", "csv.json"), &csv, "the same");
    assert_close(
        &still("turned.csv", "csv.json"),
        &[csv[1], 0.0, csv[0]],
        "by name",
    );
    assert_close(
        &still("three.svm", "svm.json"),
        &[svm[0], svm[1], 0.0],
        "more",
    );
    assert_close(&still("one.svm", "svm.json"), &[svm[0]], "fewer");
    assert_close(
        &still("turned.csv", "svm.json"),
        &[svm[0], svm[1], 0.0],
        "by number",
    );
    let start = |file: &str, from: &str| {
        let words = [
            "train",
            file,
            "--algorithm",
            "ol-ubauc",
            "--initial-model",
            from,
        ];
        ubauc(dir, &words)
    };
    let fewer = start("one.svm", "svm.json");
    success(&fewer);
    assert!(stderr(&fewer).contains("beyond the 1 of one.svm are left out (up to 2)"));
    let lacks = start("lacking.csv", "csv.json");
    let text = failure(&lacks);
    assert!(
        text.contains("--initial-model csv.json: lacking.csv: no feature column 'b'"),
        "{text}"
    );
    let lacks = start("lacking.csv", "svm.json");
    assert!(failure(&lacks).contains("1 feature columns; the model has 2 features"));
    let none = start("x.csv", "none.json");
    assert!(failure(&none).contains("--initial-model none.json"));
    let bad = start("x.csv", "x.csv");
    assert!(failure(&bad).contains("--initial-model x.csv"));
    // A model of hashed features knows none of ours.
    let mut hashed = SavedModel::load(&dir.join("svm.json")).unwrap();
    hashed.model.features = FeatureMap::Hash { bits: 9 };
    hashed.model.weights = vec![0.0; 512];
    hashed.save(&dir.join("hashed.json")).unwrap();
    assert!(failure(&start("x.csv", "hashed.json")).contains("hashes its features"));
}

/// svmlight has no names, and the model knows its columns by them.
#[test]
fn a_model_of_named_columns_starts_svmlight_only_by_position() {
    let directory = directory_with(&[
        ("x.csv", "label,a,b\n1,2,1\n-1,1,-1\n1,1,3\n-1,-1,0\n"),
        (
            "turned.csv",
            "b,c,label,a\n1,5,1,2\n-1,4,-1,1\n3,2,1,1\n0,1,-1,-1\n",
        ),
        ("x.svm", "+1 1:2 2:1\n-1 1:1 2:-1\n+1 1:1 2:3\n-1 1:-1\n"),
    ]);
    let dir = directory.path();
    let words = ["--model", "csv.json", "--quiet", "--eta0", "0.3"];
    report(dir, "x.csv", &words);
    let csv = weights_of(dir, "csv.json");
    for algorithm in ["ol-ubauc", "ba-ubauc", "logistic"] {
        let words = ["train", "x.svm", "--algorithm", algorithm];
        let start = ["--initial-model", "csv.json"];
        let unnamed = ubauc(dir, &[&words[..], &start].concat());
        let text = failure(&unnamed);
        assert!(
            text.contains("--initial-model csv.json: x.svm: svmlight has no column names")
                && text.contains("by name: a, b; --by-position"),
            "{text}"
        );
    }
    let by_position = |file: &str| {
        let words = ["--initial-model", "csv.json", "--by-position"];
        let words = [&STILL[..], &words, &["--scale", "standard"]].concat();
        weights(dir, file, &words).0
    };
    assert_close(&by_position("x.svm"), &csv, "as features 1 and 2");
    assert_close(
        &by_position("turned.csv"),
        &[csv[0], csv[1], 0.0],
        "also of a table",
    );
    let alone = ubauc(dir, &["train", "x.svm", "--by-position"]);
    assert!(wrong_usage(&alone).contains("--initial-model"));
}

#[test]
fn other_classes_have_their_note_and_the_model_may_be_replaced() {
    let directory = directory_with(&[("x.csv", "label,a,b\n1,2,1\n-1,1,-1\n1,1,3\n-1,-1,0\n")]);
    let dir = directory.path();
    report(
        dir,
        "x.csv",
        &["--model", "csv.json", "--quiet", "--eta0", "0.3"],
    );
    let csv = weights_of(dir, "csv.json");
    let words = [
        "train",
        "x.csv",
        "--algorithm",
        "ol-ubauc",
        "--positive",
        "-1",
    ];
    let more = ["--initial-model", "csv.json", "--model", "csv.json"];
    let output = ubauc(dir, &[&words[..], &more].concat());
    success(&output);
    assert!(stderr(&output).contains("its positive class is 1, and here it is -1"));
    assert_ne!(weights_of(dir, "csv.json"), csv);
}

fn weights_of(dir: &Path, name: &str) -> Vec<f64> {
    serde_json::from_value(model(&dir.join(name))["weights"].clone()).unwrap()
}

#[test]
fn an_intercept_is_taken_over_only_if_there_is_one_to_learn() {
    let text = overlapping(300, 4);
    let directory = directory_with(&[("x.svm", &text)]);
    let dir = directory.path();
    report(dir, "x.svm", &["--model", "b.json", "--quiet"]);
    let b = model(&dir.join("b.json"))["intercept"].as_f64().unwrap();
    assert!(b != 0.0);
    let still = [&STILL[..], &["--initial-model", "b.json", "--quiet"]].concat();
    let without = weights(dir, "x.svm", &[&still[..], &["--no-intercept"]].concat());
    assert_eq!(without.1, 0.0);
    let with = weights(dir, "x.svm", &still);
    assert_close(&[with.1], &[b], "intercept");
}
