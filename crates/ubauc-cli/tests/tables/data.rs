//! `data show` and `data split`.

use std::collections::HashSet;

use super::customers;
use crate::process::{directory_with, failure, json, stderr, success, ubauc, wrong_usage};

#[test]
fn a_table_is_shown_without_a_label() {
    let directory = directory_with(&[("x.csv", &customers(100))]);
    let dir = directory.path();
    let found = json(&ubauc(dir, &["data", "show", "x.csv", "--json"]));
    assert_eq!(found["columns"].as_array().unwrap().len(), 6);
    assert_eq!(found["classes"].as_array().unwrap().len(), 0);
    let with = json(&ubauc(
        dir,
        &["data", "show", "x.csv", "--label", "churn", "--json"],
    ));
    assert_eq!(with["columns"].as_array().unwrap().len(), 5);
    assert_eq!(with["classes"].as_array().unwrap().len(), 2);
    let text = ubauc(dir, &["data", "show", "x.csv"]);
    for part in ["household", "11.0 %", "levels: ", "2024-"] {
        assert!(success(&text).contains(part), "{part}: {}", success(&text));
    }
}

#[test]
fn a_file_is_divided_with_its_lines_as_they_are() {
    let text = customers(100).replace("Lausanne", "\"Lausanne, VD\"");
    let directory = directory_with(&[("x.csv", &text)]);
    let dir = directory.path();
    let split = |words: &[&str]| {
        let all = [
            "data",
            "split",
            "x.csv",
            "--output-train",
            "a.csv",
            "--output-test",
            "b.csv",
            "--json",
        ];
        ubauc(dir, &[&all[..], words].concat())
    };
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
    let found = json(&split(&["--test-share", "0.3", "--stratify", "churn"]));
    let (train, test) = (read("a.csv"), read("b.csv"));
    assert_eq!(
        found["n_test"].as_u64().unwrap() + 1,
        test.lines().count() as u64
    );
    let mut lines: Vec<&str> = train.lines().chain(test.lines().skip(1)).collect();
    let mut expected: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    expected.sort_unstable();
    assert_eq!(lines, expected);
    let share = |text: &str| {
        let left = text.lines().filter(|line| line.ends_with("left")).count();
        left as f64 / text.lines().count() as f64
    };
    assert!((share(&train) - share(&test)).abs() < 0.05);
    // The same seed, the same files; another, others.
    json(&split(&["--test-share", "0.3", "--stratify", "churn"]));
    assert_eq!(read("b.csv"), test);
    json(&split(&[
        "--test-share",
        "0.3",
        "--stratify",
        "churn",
        "--seed",
        "2",
    ]));
    assert_ne!(read("b.csv"), test);
    // Groups stay together.
    for words in [
        &["--group", "household"][..],
        &["--group", "household", "--stratify", "churn"],
    ] {
        json(&split(&[&["--test-share", "0.3"], words].concat()));
        let (train, test) = (read("a.csv"), read("b.csv"));
        let households = |text: &str| -> HashSet<String> {
            let field = |line: &str| line.rsplit(',').nth(1).unwrap().to_string();
            text.lines().skip(1).map(field).collect()
        };
        assert!(households(&train).is_disjoint(&households(&test)));
    }
}

#[test]
fn what_cannot_be_divided_is_refused() {
    let directory = directory_with(&[
        ("x.csv", "y,a\n1,2\n0,3\n0,4\n"),
        ("x.svm", "1 1:1\n-1 1:2\n1 1:3\n-1 2:1\n"),
    ]);
    let dir = directory.path();
    let split = |words: &[&str]| ubauc(dir, &[&["data", "split"], words].concat());
    let to = ["--output-train", "a", "--output-test", "b"];
    let rare = split(
        &[
            &["x.csv", "--test-share", "0.5", "--stratify", "y"],
            &to[..],
        ]
        .concat(),
    );
    assert!(
        failure(&rare).contains("class 1 has one row"),
        "{}",
        stderr(&rare)
    );
    let unknown = split(
        &[
            &["x.csv", "--test-share", "0.5", "--stratify", "z"],
            &to[..],
        ]
        .concat(),
    );
    assert!(failure(&unknown).contains("no stratify column 'z'; columns are y, a"));
    let share = split(&[&["x.csv", "--test-share", "1"], &to[..]].concat());
    assert!(wrong_usage(&share).contains("between 0 and 1"));
    let same = split(&[
        "x.csv",
        "--test-share",
        "0.5",
        "--output-train",
        "a",
        "--output-test",
        "a",
    ]);
    assert!(wrong_usage(&same).contains("two files"));
    let over = split(&[
        "x.csv",
        "--test-share",
        "0.5",
        "--output-train",
        "x.csv",
        "--output-test",
        "b",
    ]);
    assert!(wrong_usage(&over).contains("replace an input"));
    success(&split(
        &[&["x.svm", "--test-share", "0.5"], &to[..]].concat(),
    ));
    let lines = std::fs::read_to_string(dir.join("b")).unwrap();
    assert_eq!(lines.lines().count(), 2);
}
