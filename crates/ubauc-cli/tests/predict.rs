//! `ubauc predict`, and models as inputs of `evaluate` and `compare`.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use ubauc::data::labels::Choice;
use ubauc::model::Model;
use ubauc::read::{ReadOptions, read};
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, fit};

use crate::process::{command, directory_with, failure, json, stderr, success, ubauc, wrong_usage};
use crate::train::overlapping;

const TRAIN: &str = "label,a,b\n1,2,1\n0,1,-1\n1,1,0.5\n0,-1,0\n0,0.5,1\n1,3,-1\n0,-2,0.5\n";

/// A directory with this file and the model `m.json` trained on it.
fn trained(name: &str, text: &str) -> tempfile::TempDir {
    let directory = directory_with(&[(name, text)]);
    let words = [
        "train",
        name,
        "--beta",
        "0.5",
        "--gamma",
        "0.01",
        "--no-intercept",
        "--model",
        "m.json",
    ];
    success(&ubauc(directory.path(), &words));
    directory
}

fn bits(scores: &[f64]) -> Vec<u64> {
    scores.iter().map(|score| score.to_bits()).collect()
}

/// Scaled features, an intercept, logistic regression: w·x + b of the raw features, one after the other.
#[test]
fn scores_are_those_of_the_weights_in_the_file_to_the_last_bit() {
    let text = overlapping(400, 9);
    let directory = directory_with(&[("x.svm", &text)]);
    let dir = directory.path();
    for how in [
        &["--beta", "0.5", "--scale", "standard", "--intercept"][..],
        &["--algorithm", "logistic"],
    ] {
        let words = ["train", "x.svm", "--gamma", "0.01", "--model", "m.json"];
        success(&ubauc(dir, &[&words, how].concat()));
        let file = fs::read_to_string(dir.join("m.json")).unwrap();
        let model: serde_json::Value = serde_json::from_str(&file).unwrap();
        let w: Vec<f64> = serde_json::from_value(model["weights"].clone()).unwrap();
        let b = model["intercept"].as_f64().unwrap();
        assert_ne!(b, 0.0);
        let score = |line: &str| {
            let values = line.split(' ').skip(1).map(|word| word.split(':').nth(1));
            let terms = values
                .zip(&w)
                .map(|(x, w)| w * x.unwrap().parse::<f64>().unwrap());
            terms.fold(0.0, |sum, term| sum + term) + b
        };
        let expected: Vec<f64> = text.lines().map(score).collect();
        let output = ubauc(dir, &["predict", "--model", "m.json", "x.svm"]);
        let found: Vec<f64> = success(&output)
            .lines()
            .skip(1)
            .map(|line| line.parse().unwrap())
            .collect();
        assert_eq!(bits(&found), bits(&expected), "{how:?}");
    }
}

/// Runs predict on a text from standard input.
fn predict(directory: &std::path::Path, text: &str, more: &[&str]) -> std::process::Output {
    let words = [&["predict", "--model", "m.json", "-"], more].concat();
    command(directory, &words)
        .write_stdin(text)
        .output()
        .unwrap()
}

#[test]
fn scores_are_those_of_training_to_the_last_bit() {
    let directory = trained("x.svm", &overlapping(3_000, 9));
    let dir = directory.path();
    let words = [
        "train",
        "x.svm",
        "--beta",
        "0.5",
        "--gamma",
        "0.01",
        "--no-intercept",
        "--json",
    ];
    let report = json(&ubauc(dir, &words));
    let text = success(&ubauc(dir, &["predict", "--model", "m.json", "x.svm"])).to_string();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("score"));
    let scores: Vec<f64> = lines.map(|line| line.parse().unwrap()).collect();
    let examples = read(&dir.join("x.svm"), &ReadOptions::default()).unwrap();
    let data = examples.binary(&Choice::Larger).unwrap();
    let params = BaUbaucParams {
        beta: 0.5,
        gamma: 0.01,
        intercept: false,
        ..Default::default()
    };
    let fitted = fit(&data, &BatchInputs::default(), &params).unwrap();
    let model = Model::linear(fitted.weights.clone(), fitted.intercept);
    let trained = model.scores(data.rows()).unwrap();
    assert!(bits(&scores) == bits(&trained), "other bits");
    // The solver adds up in another order: nine terms below 1.
    let differences = scores
        .iter()
        .zip(&fitted.scores)
        .map(|(a, b)| (a - b).abs());
    assert!(differences.fold(0.0, f64::max) < 1e-14);
    let labels = fs::read_to_string(dir.join("x.svm")).unwrap();
    let mut csv = "label,score\n".to_string();
    for (line, score) in labels.lines().zip(&scores) {
        writeln!(csv, "{},{score}", line.split(' ').next().unwrap()).unwrap();
    }
    fs::write(dir.join("s.csv"), csv).unwrap();
    let of_scores = json(&ubauc(dir, &["evaluate", "s.csv", "--json"]));
    let of_model = json(&ubauc(
        dir,
        &["evaluate", "--model", "m.json", "x.svm", "--json"],
    ));
    assert_eq!(of_scores, of_model);
    assert_eq!(of_scores["auc"], report["train_auc"]);
    // The same from a pipe, in other batches.
    assert_eq!(success(&predict(dir, &labels, &[])), text);
}

#[test]
fn columns_are_found_by_name_and_labels_are_not_needed() {
    let directory = trained("x.csv", TRAIN);
    let dir = directory.path();
    let one = predict(dir, "label,a,b\n1,2,1\n0,1,-1\n", &[]);
    let other = predict(dir, "b,id,a\n1,\"x\",2\n-1,y,1\n", &[]);
    assert_eq!(success(&one), success(&other));
    assert_eq!(stderr(&other).matches("'id'").count(), 1);
    let lacking = predict(dir, "c,d\n1,2\n", &[]);
    assert!(failure(&lacking).contains("no feature columns 'a', 'b'"));
    let zero = predict(dir, "b\n0\n", &["--missing-zero"]);
    assert_eq!(success(&zero), "score\n0\n");
    assert!(stderr(&zero).contains("taken as zeros: 'a'"));
}

#[test]
fn classes_are_told_by_the_threshold() {
    let directory = trained("x.csv", TRAIN);
    let text = "a,b\n3,0\n-3,0\n";
    let output = predict(directory.path(), text, &["--classes"]);
    let lines: Vec<&str> = success(&output).lines().collect();
    assert_eq!(lines[0], "score,class");
    assert!(
        lines[1].ends_with(",1") && lines[2].ends_with(",0"),
        "{lines:?}"
    );
    let output = predict(
        directory.path(),
        text,
        &["--classes", "--threshold", "-1e9"],
    );
    assert!(
        success(&output)
            .lines()
            .skip(1)
            .all(|line| line.ends_with(",1"))
    );
}

/// 5 % positives that a number hardly tells: of logistic regression no score reaches 0.
fn rare() -> String {
    let mut text = "label,a\n".to_string();
    for i in 0..400_u32 {
        let label = u8::from(i % 20 == 7);
        let a = f64::from(i * 7919 % 401) / 200.0 + 0.2999 * f64::from(label);
        writeln!(text, "{label},{a}").unwrap();
    }
    text
}

#[test]
fn a_threshold_that_flags_nothing_is_said() {
    let directory = directory_with(&[("x.csv", &rare())]);
    let dir = directory.path();
    let words = [
        "train",
        "x.csv",
        "--algorithm",
        "logistic",
        "--gamma",
        "1e-3",
    ];
    let train = ubauc(dir, &[&words[..], &["--model", "m.json"]].concat());
    success(&train);
    let said = stderr(&train);
    let (_, after) = said.split_once("--threshold ").unwrap();
    assert!(
        said.contains("no training example reaches the threshold 0"),
        "{said}"
    );
    let cut = after.split(' ').next().unwrap();
    let predict = |words: &[&str]| {
        ubauc(
            dir,
            &[&["predict", "--model", "m.json", "x.csv"], words].concat(),
        )
    };
    let flagged = |output: &std::process::Output| {
        let lines = success(output).lines().skip(1);
        lines.filter(|line| line.ends_with(",1")).count()
    };
    let none = predict(&["--classes"]);
    assert_eq!(flagged(&none), 0);
    let said = stderr(&none);
    assert!(
        said.contains("no example is of class 1: the highest score is -"),
        "{said}"
    );
    assert!(said.contains("--threshold sets one"), "{said}");
    // The threshold that training names flags as many as are positive, and there is nothing to say.
    let some = predict(&["--classes", "--threshold", cut]);
    assert_eq!(flagged(&some), 20);
    assert_eq!(stderr(&some), "");
    assert_eq!(stderr(&predict(&[])), "");
    assert_eq!(stderr(&predict(&["--classes", "--quiet"])), "");
    // The page says so and begins with another cut.
    success(&ubauc(dir, &["report", "m.json", "x.csv", "-o", "p.html"]));
    let page = fs::read_to_string(dir.join("p.html")).unwrap();
    assert!(page.contains("The model's own cut, 0.0000, flags none of these rows."));
    assert!(page.contains("(as many as there are positives)"));
}

#[test]
fn columns_of_the_file_are_copied_before_the_scores() {
    let directory = trained("x.csv", TRAIN);
    let dir = directory.path();
    let text = "a,who,b,label,key\n3,\"Doe, Jane\",0,1,007\n-3,,0,0,12345678901234567890\n";
    let scores = predict(dir, text, &[]);
    let scores: Vec<&str> = success(&scores).lines().collect();
    let output = predict(dir, text, &["--id", "key,who", "--classes"]);
    let expected = format!(
        "key,who,score,class\n007,\"Doe, Jane\",{},1\n12345678901234567890,,{},0\n",
        scores[1], scores[2]
    );
    assert_eq!(success(&output), expected);
    // Features and labels too.
    let output = predict(dir, text, &["--id", "label", "--id", "a"]);
    let expected = format!("label,a,score\n1,3,{}\n0,-3,{}\n", scores[1], scores[2]);
    assert_eq!(success(&output), expected);
    let lacking = predict(dir, text, &["--id", "kee"]);
    assert!(failure(&lacking).contains("'kee'"), "{}", stderr(&lacking));
    let zero = predict(dir, text, &["--id", "key", "--missing-zero"]);
    assert!(wrong_usage(&zero).contains("--missing-zero"));
    let lines = predict(dir, "1 1:1\n", &["--id", "key"]);
    assert!(failure(&lines).contains("svmlight"), "{}", stderr(&lines));
    // A model of numbers without names.
    let directory = trained("x.svm", &overlapping(100, 3));
    let unnamed = predict(directory.path(), "1 1:1\n", &["--id", "key"]);
    assert!(wrong_usage(&unnamed).contains("by their names"));
}

#[test]
fn unknown_features_are_ignored_with_one_notice() {
    let directory = trained("x.svm", &overlapping(100, 3));
    let output = predict(directory.path(), "3 1:1 9:5\n0 1:1\n7 9:1\n", &[]);
    let lines: Vec<&str> = success(&output).lines().collect();
    assert_eq!(lines[1], lines[2]);
    assert_eq!(lines[3], "0");
    assert_eq!(stderr(&output).matches("ignored").count(), 1);
    assert!(failure(&predict(directory.path(), "", &[])).contains("empty"));
    assert!(failure(&predict(directory.path(), "1 1:1\n1 1:x\n", &[])).contains("<stdin>:2:5"));
}

#[test]
fn answers_come_while_the_input_is_open() {
    let directory = trained("x.csv", TRAIN);
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("ubauc"))
        .current_dir(directory.path())
        .args(["predict", "--model", "m.json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    input.write_all(b"a,b\n1,2\n").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "score");
    let first = lines.next().unwrap().unwrap();
    input.write_all(b"\"1\",2\n").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), first);
    input.write_all(b"1,2\n").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), first);
    drop(input);
    assert!(lines.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_input() {
    let directory = trained("x.svm", &overlapping(500, 40));
    let block = overlapping(1_000, 40);
    let peak = |blocks: usize| {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("ubauc"))
            .current_dir(directory.path())
            .args(["predict", "--model", "m.json", "-", "--threads", "2"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let output = child.stdout.take().unwrap();
        let count = std::thread::spawn(move || {
            BufReader::new(output)
                .lines()
                .take(1 + 1_000 * blocks)
                .count()
        });
        for _ in 0..blocks {
            input.write_all(block.as_bytes()).unwrap();
        }
        // All rows have been answered, and the program still waits for more.
        assert_eq!(count.join().unwrap(), 1 + 1_000 * blocks);
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        drop(input);
        assert!(child.wait().unwrap().success());
        let line = status.lines().find(|l| l.starts_with("VmHWM")).unwrap();
        line.split_whitespace()
            .nth(1)
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    // 100,000 rows are 40 MB of text.
    let (small, large) = (peak(5), peak(100));
    assert!(
        large < small + 8_192 && large < 65_536,
        "{small} kB, then {large} kB"
    );
}

#[test]
fn a_failed_run_leaves_no_output() {
    let directory = trained("x.csv", TRAIN);
    let dir = directory.path();
    failure(&predict(dir, "a,b\n1,2\nx,1\n", &["--output", "o.csv"]));
    assert!(!dir.join("o.csv").exists());
    let report = json(&predict(
        dir,
        "a,b\n1,2\n",
        &["--output", "o.csv", "--json"],
    ));
    assert_eq!(report["rows"], 1);
    assert!(
        fs::read_to_string(dir.join("o.csv"))
            .unwrap()
            .starts_with("score\n")
    );
    wrong_usage(&predict(dir, "a,b\n1,2\n", &["--json"]));
    assert!(
        failure(&ubauc(dir, &["predict", "--model", "x.csv", "x.csv"])).contains("ubauc-model")
    );
}

#[test]
fn models_are_compared_on_the_same_examples() {
    let directory = trained("x.csv", TRAIN);
    let dir = directory.path();
    let words = [
        "train",
        "x.csv",
        "--algorithm",
        "logistic",
        "--gamma",
        "0.1",
        "--model",
        "l.json",
    ];
    success(&ubauc(dir, &words));
    let words = [
        "compare", "--model", "m.json", "--model", "l.json", "x.csv", "--json",
    ];
    let report = json(&ubauc(dir, &words));
    let alone = json(&ubauc(
        dir,
        &["evaluate", "--model", "m.json", "x.csv", "--json"],
    ));
    assert_eq!(report["scorers"][0]["auc"], alone["auc"]);
    assert_eq!(report["tests"].as_array().unwrap().len(), 1);
    wrong_usage(&ubauc(dir, &["compare", "--model", "m.json", "x.csv"]));
}

/// A file with the separator that a spreadsheet declares is learned from and scored, from a pipe as well.
#[test]
fn a_declared_separator_is_known_to_train_and_predict() {
    let rows: String = (0..40)
        .map(|i| format!("{};{};{}\n", i % 7, i % 5, u8::from(i % 3 == 0)))
        .collect();
    let text = format!("sep=;\na;b;label\n{rows}");
    let directory = directory_with(&[("x.csv", &text)]);
    let dir = directory.path();
    let words = [
        "train", "x.csv", "--beta", "0.5", "--gamma", "0.1", "--model", "m.json",
    ];
    success(&ubauc(dir, &words));
    let scores = ubauc(dir, &["predict", "--model", "m.json", "x.csv"]);
    let scores = success(&scores).to_string();
    assert_eq!(scores.lines().count(), 41);
    let mut piped = crate::process::command(dir, &["predict", "--model", "m.json", "-"]);
    let piped = piped.write_stdin(text).output().unwrap();
    assert_eq!(success(&piped), scores);
}
