//! Streams of tables with strings, dates and missing values, without a model to start from.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{learn, learn_file, same_file};
use crate::process::{directory_with, failure, json, stderr, success, ubauc};
use crate::tables::customers;

const LABEL: [&str; 6] = [
    "--label",
    "churn",
    "--positive",
    "left",
    "--ignore",
    "household",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&LABEL[..], more].concat()
}

fn model(directory: &Path, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(directory.join(name)).unwrap()).unwrap()
}

/// The header and some lines of a text.
fn lines(text: &str, from: usize, to: usize) -> String {
    let (header, rows) = text.split_once('\n').unwrap();
    let rows = rows.split_inclusive('\n').skip(from).take(to - from);
    std::iter::once(format!("{header}\n"))
        .chain(rows.map(str::to_string))
        .collect()
}

fn scores(directory: &Path, model: &str, text: &str) -> Vec<String> {
    let words = ["predict", "--model", model, "-"];
    let output = crate::process::command(directory, &words)
        .write_stdin(text.to_string())
        .output()
        .unwrap();
    let written = success(&output).lines().skip(1);
    written.map(str::to_string).collect()
}

#[test]
fn the_map_is_that_of_the_first_rows() {
    let text = customers(2_500);
    let first = lines(&text, 0, 600);
    let directory = directory_with(&[("x.csv", &text), ("first.csv", &first)]);
    let dir = directory.path();
    let train = ["train", "first.csv", "--beta", "0.5", "--gamma", "0.01"];
    let train = [&train[..], &with(&["--model", "t.json"])].concat();
    success(&ubauc(dir, &train));
    let words = with(&["--map-rows", "600", "--eta0", "0.5", "--model", "m.json"]);
    let output = learn_file(dir, "x.csv", &[&words[..], &["--json"]].concat());
    let report = json(&output);
    assert_eq!(
        (&report["n"], &report["map_rows"], &report["skipped"]),
        (&2_500.into(), &600.into(), &0.into())
    );
    let columns = report["features"]["columns"].as_array().unwrap();
    let names: Vec<&str> = columns.iter().filter_map(|c| c["name"].as_str()).collect();
    assert_eq!(names, ["age", "city", "since", "vip"]);
    let (trained, learned) = (model(dir, "t.json"), model(dir, "m.json"));
    assert_eq!(learned["features"], trained["features"]);
    assert_eq!(learned["reading"], trained["reading"]);
    let judged = ubauc(dir, &["evaluate", "--model", "m.json", "x.csv", "--json"]);
    assert!(json(&judged)["auc"].as_f64().unwrap() > 0.7);
    let printed = success(&learn_file(dir, "x.csv", &words)).to_string();
    assert!(printed.contains("the first 600 rows"), "{printed}");
    // From a pipe and compressed to the same bytes, and each row answered before it is learned.
    let other = with(&["--map-rows", "600", "--eta0", "0.5", "--model", "p.json"]);
    success(&learn(dir, &text, &other));
    same_file(dir, "m.json", "p.json");
    let predict = [&other[..], &["--predict", "--output", "s.csv"]].concat();
    success(&learn_file(dir, "x.csv", &predict));
    let of_rows = fs::read_to_string(dir.join("s.csv")).unwrap();
    let scored: Vec<(bool, f64)> = (text.lines().skip(1))
        .zip(of_rows.lines().skip(1))
        .map(|(line, score)| (line.ends_with("left"), score.parse().unwrap()))
        .collect();
    assert_eq!((scored.len(), scored[0].1), (2_500, 0.0));
    let (mut won, mut pairs) = (0.0, 0.0);
    for (_, p) in scored.iter().filter(|s| s.0) {
        for (_, n) in scored.iter().filter(|s| !s.0) {
            pairs += 1.0;
            won += f64::from(u8::from(p > n)) + 0.5 * f64::from(u8::from(p == n));
        }
    }
    let auc = &report["progressive_auc"];
    let bound = |name: &str| auc[name].as_f64().unwrap();
    assert!(
        bound("lower") <= won / pairs && won / pairs <= bound("upper"),
        "{auc}"
    );
}

#[test]
fn levels_unseen_count_as_rare_or_are_hashed() {
    let text = customers(1_500);
    let late = lines(&text, 500, 1_500).replace("Zug", "Chur");
    let late = late.split_once('\n').unwrap().1;
    let directory = directory_with(&[("x.csv", &(lines(&text, 0, 500) + late))]);
    let dir = directory.path();
    let rows = |city: &str| format!("age,city,since,vip\n40,{city},2024-03-01,yes\n");
    let run = |more: &[&str]| {
        let words = with(&["--map-rows", "500", "--eta0", "0.5", "--model", "m.json"]);
        json(&learn_file(
            dir,
            "x.csv",
            &[&words[..], &["--json"], more].concat(),
        ))
    };
    run(&[]);
    let [chur, rome, oslo] =
        ["Chur", "Rome", "Oslo"].map(|city| scores(dir, "m.json", &rows(city)));
    assert_eq!((&chur, &oslo), (&rome, &rome));
    let report = run(&["--hash-bits", "8"]);
    // Age and its gaps, days, weekdays and months, and 2^8 levels and gaps of two categories.
    assert_eq!(report["d"], 2 + 1 + 7 + 12 + 2 * 257);
    let [chur, oslo] = ["Chur", "Oslo"].map(|city| scores(dir, "m.json", &rows(city)));
    assert_ne!(chur, oslo);
    let judged = ubauc(dir, &["evaluate", "--model", "m.json", "x.csv", "--json"]);
    assert!(json(&judged)["auc"].as_f64().unwrap() > 0.7);
}

#[test]
fn columns_are_named_and_read_as_typed() {
    let mut text = "zip;x;y;label\n".to_string();
    for i in 0..60 {
        let (zip, x) = (
            8_000 + i % 4,
            if i % 5 == 0 {
                "-".into()
            } else {
                i.to_string()
            },
        );
        text += &format!("{zip};{x};{},5;{}\n", i % 7, u8::from(i * 7 % 11 > 5));
    }
    let directory = directory_with(&[("x.csv", &text)]);
    let dir = directory.path();
    let kinds = |more: &[&str]| {
        success(&learn_file(
            dir,
            "x.csv",
            &[&["--model", "m.json"], more].concat(),
        ));
        let columns = model(dir, "m.json")["features"]["columns"].clone();
        let kind = |c: &Value| format!("{} {}", c["name"], c["kind"]).replace('"', "");
        let kinds: Vec<String> = columns.as_array().unwrap().iter().map(kind).collect();
        kinds.join(", ")
    };
    let found = kinds(&[]);
    assert_eq!(found, "zip number, x category, y number");
    let words = ["--categorical", "zip", "--missing", "-", "--separator", ";"];
    assert_eq!(kinds(&words), "zip category, x number, y number");
    assert_eq!(kinds(&["--ignore", "zip,x"]), "y number");
    for (words, expected) in [
        (["--categorical", "zap"], "no categorical column 'zap'"),
        (
            ["--numeric", "x"],
            "x.csv:2:2: '-' in column 'x' is not a number",
        ),
        (["--ignore", "none"], "no ignored column 'none'"),
        (["--label", "lable"], "no label column 'lable'"),
        (["--separator", ","], "no label column 'label'"),
    ] {
        let output = learn_file(dir, "x.csv", &words);
        assert!(failure(&output).contains(expected), "{}", stderr(&output));
    }
}

#[test]
fn complete_numbers_stay_as_they_are_unless_a_map_is_asked_for() {
    let mut text = "a,b,label\n".to_string();
    for i in 0..400 {
        text += &format!("{},{},{}\n", i % 7, i % 11, u8::from(i % 11 > 5));
    }
    let gap = text.clone() + "1,,0\n2,3,1\n";
    let directory = directory_with(&[("x.csv", &text), ("gap.csv", &gap)]);
    let dir = directory.path();
    success(&learn_file(dir, "x.csv", &["--model", "m.json"]));
    let plain = model(dir, "m.json");
    assert_eq!(plain["features"]["kind"], "identity");
    assert_eq!(plain["names"], serde_json::json!(["a", "b"]));
    let late = learn_file(dir, "gap.csv", &["--map-rows", "200", "--model", "m.json"]);
    success(&late);
    assert_eq!(model(dir, "m.json")["certificate"]["n"], 402);
    // Later than the rows that are looked at.
    let many = text.clone() + text.split_once('\n').unwrap().1.repeat(30).as_str() + "1,,0\n";
    let output = learn(dir, &many, &[]);
    let printed = failure(&output);
    assert!(printed.contains("<stdin>:12402:2: the value of column 'b' is missing"));
    assert!(printed.contains("--map-rows") && printed.contains("--on-error skip"));
}

/// Wrong lines of a table, of numbers and of svmlight, where they are left out and where the run stops and goes on.
#[test]
fn wrong_lines_are_left_out_and_those_before_them_kept() {
    let table = customers(900);
    let numbers: String = (0..900)
        .map(|i| format!("{},{},{}\n", i % 7, i % 11, u8::from(i % 11 > 5)))
        .collect();
    let numbers = format!("a,b,label\n{numbers}");
    let svmlight = crate::train::overlapping(900, 9);
    let of_table = with(&["--map-rows", "100"]);
    for (name, text, bad, words) in [
        (
            "t.csv",
            table,
            ["40,Bern,2024-01-01,yes,1\n", "\"x\n"],
            &of_table[..],
        ),
        ("n.csv", numbers, ["1,2\n", "1,2,0,1\n"], &[]),
        ("s.svm", svmlight, ["1 2:x\n", "nan 1:1\n"], &[]),
    ] {
        let mut wrong: Vec<&str> = text.split_inclusive('\n').collect();
        wrong.insert(700, bad[1]);
        wrong.insert(50, bad[0]);
        let directory = directory_with(&[(name, &wrong.concat()), ("good", &text)]);
        let dir = directory.path();
        let words = [words, &["--eta0", "0.5"]].concat();
        let format = if name == "s.svm" { "svmlight" } else { "csv" };
        let good = [&words[..], &["--format", format, "--model", "g.json"]].concat();
        success(&learn_file(dir, "good", &good));
        let skip = [&words[..], &["--on-error", "skip", "--model", "m.json"]].concat();
        let output = learn_file(dir, name, &[&skip[..], &["--json"]].concat());
        let report = json(&output);
        assert_eq!((&report["n"], &report["skipped"]), (&900.into(), &2.into()));
        let note = format!("note: {name}: 2 lines skipped: line 51: ");
        assert!(stderr(&output).contains(&note), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("; line 702: "),
            "{}",
            stderr(&output)
        );
        same_file(dir, "m.json", "g.json");
        // Stopped at the first, gone on to the second, and to the end.
        let saving = [&words[..], &["--checkpoint", "ck", "--model", "r.json"]].concat();
        let stopped = learn_file(dir, name, &saving);
        let place = format!("{name}:51:");
        assert!(failure(&stopped).contains(&place), "{}", stderr(&stopped));
        assert!(stderr(&stopped).contains("--resume --on-error skip"));
        let rows = if name == "s.svm" { 50 } else { 49 };
        let on = [&saving[..], &["--resume", "--on-error", "skip", "--json"]].concat();
        let report = json(&learn_file(dir, name, &on));
        assert_eq!(report["resumed_at"], rows);
        same_file(dir, "r.json", "g.json");
    }
}

/// However many lines are wrong before the first row: each is looked at once.
#[test]
fn wrong_lines_before_the_first_row() {
    let table = customers(200);
    let (header, rows) = table.split_once('\n').unwrap();
    let wrong = "1,2\n".repeat(30_000);
    let directory = directory_with(&[
        ("good.csv", &table),
        ("x.csv", &format!("{header}\n{wrong}\n{rows}")),
    ]);
    let dir = directory.path();
    let words = with(&["--map-rows", "100", "--eta0", "0.5", "--on-error", "skip"]);
    let good = [&words[..], &["--model", "g.json"]].concat();
    success(&learn_file(dir, "good.csv", &good));
    let output = learn_file(
        dir,
        "x.csv",
        &[&words[..], &["--model", "m.json", "--json"]].concat(),
    );
    let report = json(&output);
    assert_eq!(
        (&report["n"], &report["skipped"]),
        (&200.into(), &30_000.into())
    );
    same_file(dir, "m.json", "g.json");
}

#[test]
fn numbers_are_answered_at_once_and_a_table_when_it_is_known() {
    let directory = tempfile::tempdir().unwrap();
    for (header, row, waits) in [
        ("a,label\n", "1,1\n", false),
        ("a,b,label\n", ",1,1\n", true),
    ] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("ubauc"))
            .current_dir(directory.path())
            .args(["learn", "--predict", "--quiet"])
            .args(if waits { &["--map-rows", "2"][..] } else { &[] })
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
        input.write_all(header.as_bytes()).unwrap();
        input.write_all(row.as_bytes()).unwrap();
        if waits {
            input.write_all(b"3,2,0\n").unwrap();
        }
        assert_eq!(answers.next().unwrap().unwrap(), "score");
        assert_eq!(answers.next().unwrap().unwrap(), "0");
        drop(input);
        assert_eq!(answers.count(), usize::from(waits));
        assert!(child.wait().unwrap().success());
    }
}
