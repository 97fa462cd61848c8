//! The model of a stream: warm starts, hashed features, and what `predict` makes of it.

use std::fs;

use super::{learn, learn_file, learned};
use crate::process::{directory_with, failure, json, stderr, success, ubauc, wrong_usage};
use crate::train::overlapping;

#[test]
fn predict_gives_the_scores_that_learn_would() {
    for more in [
        &[][..],
        &["--hash-bits", "5"],
        &["--intercept", "--no-average", "--scale", "none"],
    ] {
        let directory = directory_with(&[("new.svm", &overlapping(40, 12))]);
        let dir = directory.path();
        let text = overlapping(1_500, 9);
        let new = overlapping(40, 12)
            .replace("+1 ", "? ")
            .replace("-1 ", "? ");
        assert_eq!(new.matches('?').count(), 40);
        let words = [&["--predict", "--model", "m.json"], more].concat();
        let output = learn(dir, &(text + &new), &words);
        let scores: Vec<&str> = success(&output).lines().skip(1_501).collect();
        let output = ubauc(dir, &["predict", "--model", "m.json", "new.svm"]);
        let of_model: Vec<&str> = success(&output).lines().skip(1).collect();
        assert_eq!(scores, of_model, "{more:?}");
        let judged = ubauc(dir, &["evaluate", "--model", "m.json", "new.svm", "--json"]);
        let labels = overlapping(40, 12);
        let mut csv = "label,score\n".to_string();
        for (line, score) in labels.lines().zip(&scores) {
            csv += &format!("{},{score}\n", line.split(' ').next().unwrap());
        }
        fs::write(dir.join("s.csv"), csv).unwrap();
        let of_scores = json(&ubauc(dir, &["evaluate", "s.csv", "--json"]));
        assert_eq!(json(&judged)["auc"], of_scores["auc"], "{more:?}");
    }
}

/// The class is in the size of the first feature, which no weight of a number can say.
fn humps(rows: usize, seed: u32) -> String {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24) - 0.5
    };
    let mut line = || {
        let (x, noise) = (next(), next());
        let label = if x.abs() + 0.2 * next() > 0.25 {
            "+1"
        } else {
            "-1"
        };
        format!("{label} 1:{x} 3:{noise}\n")
    };
    (0..rows).map(|_| line()).collect()
}

#[test]
fn a_model_of_bins_goes_on_with_svmlight() {
    let (text, more) = (humps(800, 1), humps(1_500, 2));
    let directory = directory_with(&[("x.svm", &text), ("more.svm", &more)]);
    let dir = directory.path();
    let fitted =
        "train x.svm --features additive --beta 0 --softness 1 --gamma 1e-3 --model t.json";
    success(&ubauc(dir, &fitted.split(' ').collect::<Vec<_>>()));
    // Examples without a label are scored and not learned: by the model as it was trained, bin for bin.
    let unlabelled = more.replace("+1 ", "? ").replace("-1 ", "? ");
    let output = learn(
        dir,
        &unlabelled,
        &["--predict", "--initial-model", "t.json"],
    );
    let scores = |text: &str| -> Vec<f64> {
        let lines = text.lines().skip(1);
        lines.map(|score| score.parse().unwrap()).collect()
    };
    let warm = scores(success(&output));
    let of_train = ubauc(dir, &["predict", "--model", "t.json", "more.svm"]);
    let of_train = scores(success(&of_train));
    assert_eq!(warm.len(), of_train.len());
    for (a, b) in warm.iter().zip(&of_train) {
        assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} {b}");
    }
    // What is learned keeps the map, and scores svmlight as a model of `train` does.
    let words = ["--initial-model", "t.json", "--model", "m.json", "--json"];
    let report = json(&learn_file(dir, "more.svm", &words));
    assert_eq!(report["n"], 1_500);
    let model = |name: &str| -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(dir.join(name)).unwrap()).unwrap()
    };
    assert_eq!(model("m.json")["features"], model("t.json")["features"]);
    assert_eq!(model("m.json")["reading"], model("t.json")["reading"]);
    assert_ne!(model("m.json")["weights"], model("t.json")["weights"]);
    let judged = ubauc(dir, &["evaluate", "--model", "m.json", "x.svm", "--json"]);
    assert!(json(&judged)["auc"].as_f64().unwrap() > 0.9);
    // A run that was stopped goes on to the same model.
    let half: String = more.split_inclusive('\n').take(700).collect();
    let saving = ["--initial-model", "t.json", "--checkpoint", "ck"];
    let words = [&saving[..], &["--model", "half.json"]].concat();
    success(&learn(dir, &half, &words));
    let words = [&saving[..], &["--resume", "--model", "resumed.json"]].concat();
    success(&learn(dir, &more, &words));
    super::same_file(dir, "m.json", "resumed.json");
    // A table has names, and svmlight only indices.
    fs::write(dir.join("x.csv"), "label,age\n1,3\n0,4\n1,5\n0,1\n1,9\n").unwrap();
    let named = "train x.csv --features additive --beta 0 --softness 1 --gamma 1e-3 --model n.json";
    success(&ubauc(dir, &named.split(' ').collect::<Vec<_>>()));
    let refused = learn_file(dir, "more.svm", &["--initial-model", "n.json"]);
    assert!(failure(&refused).contains("a table with the column 'age' is expected"));
}

#[test]
fn a_model_of_train_is_where_learning_starts() {
    let directory = directory_with(&[("x.svm", &overlapping(2_000, 9))]);
    let dir = directory.path();
    let words = [
        "train", "x.svm", "--beta", "0.5", "--gamma", "0.01", "--model", "t.json",
    ];
    success(&ubauc(dir, &words));
    let first_score = |words: &[&str]| {
        let output = learn(dir, "? 1:1 2:0.5\n", &[&["--predict"], words].concat());
        success(&output).lines().nth(1).unwrap().to_string()
    };
    assert_eq!(first_score(&[]), "0");
    let warm = first_score(&["--initial-model", "t.json"]);
    fs::write(dir.join("one.svm"), "1 1:1 2:0.5\n").unwrap();
    let of_train = ubauc(dir, &["predict", "--model", "t.json", "one.svm"]);
    let of_train: f64 = success(&of_train).lines().nth(1).unwrap().parse().unwrap();
    let warm: f64 = warm.parse().unwrap();
    assert!(
        (warm - of_train).abs() <= 1e-12 * of_train.abs(),
        "{warm} {of_train}"
    );
    // Better from the start, and never worse at the end than a cold one by much.
    let auc = |words: &[&str]| {
        let report = json(&learn_file(dir, "x.svm", &[&["--json"], words].concat()));
        report["progressive_auc"]["auc"].as_f64().unwrap()
    };
    let (warm, cold) = (auc(&["--initial-model", "t.json"]), auc(&[]));
    assert!(warm > cold, "{warm} {cold}");
    let words = ["--initial-model", "t.json", "--hash-bits", "4"];
    wrong_usage(&learn_file(dir, "x.svm", &words));
    assert!(failure(&learn_file(dir, "x.svm", &["--initial-model", "x.svm"])).contains("x.svm"));
}

#[test]
fn columns_are_known_by_name() {
    let table = |rows: u64| {
        let mut text = "id,label,a,w,b\n".to_string();
        for i in 0..rows {
            let positive = i % 3 == 0;
            let a = (i * 37 % 101) as f64 / 50.0 + if positive { 0.5 } else { 0.0 };
            text += &format!("{i},{},{a},{},{}\n", u8::from(positive), i % 4, i % 7);
        }
        text
    };
    let directory = directory_with(&[("x.csv", &table(1_300))]);
    let dir = directory.path();
    let words = [
        "--ignore", "id", "--weight", "w", "--model", "m.json", "--json",
    ];
    let report = json(&learn_file(dir, "x.csv", &words));
    // An example of weight 0 is no step.
    assert_eq!(
        (&report["n"], &report["steps"]),
        (&1_300.into(), &975.into())
    );
    let text = fs::read_to_string(dir.join("m.json")).unwrap();
    assert!(text.contains("\"names\": [\"a\",\"b\"]"), "{text}");
    let scored = learn(
        dir,
        "b,a\n1,2\n",
        &["--predict", "--initial-model", "m.json"],
    );
    fs::write(dir.join("one.csv"), "a,b\n2,1\n").unwrap();
    let of_model = ubauc(dir, &["predict", "--model", "m.json", "one.csv"]);
    assert_eq!(success(&scored), success(&of_model));
    // svmlight has no names, and the model knows its columns by them.
    let unnamed = ["--predict", "--initial-model", "m.json"];
    let printed = learn(dir, "? 1:2 2:1\n", &unnamed);
    let text = failure(&printed);
    let expected = "--initial-model m.json: -: svmlight has no column names";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("a, b; --by-position"), "{text}");
    let by_position = [&unnamed[..], &["--by-position"]].concat();
    let scored = learn(dir, "? 1:2 2:1\n", &by_position);
    assert_eq!(success(&scored), success(&of_model));
    let turned = learn(dir, "b,a\n2,1\n", &by_position);
    assert_eq!(success(&turned), success(&of_model));
    wrong_usage(&learn(dir, "? 1:2\n", &["--by-position"]));
    let negative = "label,a,w\n1,1,-1\n";
    let printed = learn(dir, negative, &["--weight", "w", "--eta0", "1"]);
    assert!(
        failure(&printed).contains("example 1: weight"),
        "{}",
        stderr(&printed)
    );
}

#[test]
fn features_may_be_new_and_many() {
    let directory = directory_with(&[]);
    let dir = directory.path();
    let growing: String = (1..=2_000_u64)
        .map(|i| format!("{} {i}:1 {}:1\n", i % 2, i + 3_000))
        .collect();
    assert_eq!(json(&learn(dir, &growing, &["--json"]))["d"], 5_000);
    let huge = "1 2147483648:1\n0 1:1\n";
    assert!(failure(&learn(dir, huge, &[])).contains("--hash-bits"));
    let report = json(&learn(
        dir,
        huge,
        &["--json", "--hash-bits", "12", "--model", "m.json"],
    ));
    assert!(report["d"].as_u64().unwrap() <= 4_096);
    for bits in ["0", "29"] {
        wrong_usage(&learn(dir, huge, &["--hash-bits", bits]));
    }
    for words in [
        &["--beta", "0"][..],
        &["--gamma", "-1"],
        &["--eta0", "nan"],
        &["--radius", "0"],
    ] {
        wrong_usage(&learn(dir, huge, words));
    }
}

#[test]
fn threads_and_pipes_change_no_byte() {
    let (directory, text) = learned(20_000, &["--hash-bits", "6", "--threads", "1"]);
    let dir = directory.path();
    for threads in ["2", "8"] {
        let words = [
            "--hash-bits",
            "6",
            "--threads",
            threads,
            "--model",
            "m.json",
        ];
        success(&learn(dir, &text, &words));
        super::same_file(dir, "m.json", "whole.json");
    }
}
