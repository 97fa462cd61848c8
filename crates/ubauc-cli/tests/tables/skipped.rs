//! `train` and `tune` on files with lines that cannot be read.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::customers;
use crate::process::{directory_with, failure, json, stderr, success, ubauc, wrong_usage};

const WORDS: [&str; 8] = [
    "--label",
    "churn",
    "--positive",
    "left",
    "--beta",
    "0.5",
    "--gamma",
    "0.01",
];

fn model(dir: &Path, file: &str, more: &[&str]) -> (Value, Value, String) {
    let words = [
        &["train", file, "--model", "m.json", "--json"][..],
        &WORDS,
        more,
    ]
    .concat();
    let output = ubauc(dir, &words);
    let found = json(&output);
    let text = std::fs::read_to_string(dir.join("m.json")).unwrap();
    (
        found,
        serde_json::from_str(&text).unwrap(),
        stderr(&output).to_string(),
    )
}

/// Lines behind these lines of the text, counted with the header.
fn with_lines(text: &str, wrong: &[(usize, &str)]) -> String {
    let mut changed = String::new();
    for (i, line) in text.lines().enumerate() {
        writeln!(changed, "{line}").unwrap();
        for (_, wrong) in wrong.iter().filter(|(at, _)| *at == i + 1) {
            writeln!(changed, "{wrong}").unwrap();
        }
    }
    changed
}

#[test]
fn lines_that_are_left_out_change_nothing() {
    let clean = customers(400);
    // Too few fields with a text where numbers are, too many, no label, a text in a column that must be numbers.
    let wrong = [
        (1, "oops"),
        (7, "forty,Bern,2024-01-01,yes"),
        (7, "33,Bern,2024-01-01,yes,4,left,more"),
        (120, "33,Zug,never,yes,4,"),
        (300, "old,Nowhere,never,maybe,4,left"),
        (401, "33,Bern,2024-01-01,yes"),
    ];
    let files = [
        ("clean.csv", clean.as_str()),
        ("x.csv", &with_lines(&clean, &wrong)),
    ];
    let directory = directory_with(&files);
    let dir = directory.path();
    let numeric = ["--numeric", "age"];
    let (clean, expected, _) = model(dir, "clean.csv", &numeric);
    let skip = [&numeric[..], &["--on-error", "skip"]].concat();
    let (found, trained, said) = model(dir, "x.csv", &skip);
    assert_eq!(clean["skipped"], 0);
    assert_eq!(found["skipped"], 6);
    for field in ["weights", "features", "intercept", "threshold", "reading"] {
        assert_eq!(trained[field], expected[field], "{field}");
    }
    assert_eq!(found["features"], clean["features"]);
    for part in [
        "x.csv: 6 lines skipped: line 2: 'oops' in column 'age' is not a number",
        "; line 10: 7 fields, the header has 6; line 124: the label in column 'churn' is missing",
        "; line 305: 'old' in column 'age' is not a number",
        "; …",
    ] {
        assert!(said.contains(part), "{said}");
    }
    // Without it the first of them ends the reading.
    let words = [&["train", "x.csv"][..], &WORDS].concat();
    let stopped = failure(&ubauc(dir, &words)).to_string();
    assert!(
        stopped.contains("x.csv:2:2: 1 fields, the header has 6"),
        "{stopped}"
    );
    let unknown = [&words[..], &["--on-error", "ask"]].concat();
    wrong_usage(&ubauc(dir, &unknown));
}

#[test]
fn a_file_of_wrong_lines_has_no_rows() {
    let directory = directory_with(&[("x.csv", "a,churn\n1\n2\n3\n")]);
    let words = [&["train", "x.csv", "--on-error", "skip"][..], &WORDS].concat();
    let output = ubauc(directory.path(), &words);
    let said = failure(&output);
    assert!(
        said.contains("no rows after the header: all 3 lines are wrong, the first, line 2"),
        "{said}"
    );
}

#[test]
fn svmlight_lines_are_left_out_too() {
    let good: String = (0..60)
        .map(|i| {
            format!(
                "{} 1:{} 2:{}\n",
                if i % 3 == 0 { 1 } else { -1 },
                i % 7,
                i % 5
            )
        })
        .collect();
    let bad = with_lines(&good, &[(2, "1 2:x"), (30, "word 1:2"), (60, "1 3:1 2:1")]);
    let directory = directory_with(&[("clean.svm", &good), ("x.svm", &bad)]);
    let dir = directory.path();
    let of = |file: &str, more: &[&str]| {
        let words = [
            "train", file, "--beta", "0.5", "--gamma", "0.1", "--model", "m.json", "--json",
        ];
        let found = json(&ubauc(dir, &[&words[..], more].concat()));
        (
            found["skipped"].clone(),
            found["objective"].clone(),
            found["n"].clone(),
        )
    };
    let (none, objective, n) = of("clean.svm", &[]);
    assert_eq!(none, 0);
    assert_eq!(
        of("x.svm", &["--on-error", "skip"]),
        (3.into(), objective, n)
    );
    let words = ["train", "x.svm", "--beta", "0.5", "--gamma", "0.1"];
    let stopped = failure(&ubauc(dir, &words)).to_string();
    assert!(stopped.contains("x.svm:3:"), "{stopped}");
}

#[test]
fn tune_leaves_lines_out_and_says_how_train_does() {
    let text = with_lines(&customers(200), &[(5, "oops")]);
    let directory = directory_with(&[("x.csv", &text)]);
    let words = [
        "tune",
        "x.csv",
        "--label",
        "churn",
        "--positive",
        "left",
        "--on-error",
        "skip",
        "--features",
        "linear",
    ];
    let output = ubauc(directory.path(), &words);
    let printed = success(&output);
    assert!(printed.contains("--on-error skip"), "{printed}");
    assert!(stderr(&output).contains("x.csv: 1 line skipped: line 6"));
}

/// Codes are named, and nothing is made of it.
#[test]
fn numbers_that_look_like_codes_are_named() {
    let mut text = "code,size,y\n".to_string();
    let mut state = 3_u64;
    let mut random = move |below: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for _ in 0..3000 {
        let (code, size) = (random(60), random(60));
        // 37 scatters the codes.
        let positive = random(100) < 10 + (code * 37 % 60) + size / 3;
        writeln!(text, "{},{size},{}", 1000 + code, u8::from(positive)).unwrap();
    }
    let directory = directory_with(&[("x.csv", &text)]);
    let words = [
        "train", "x.csv", "--label", "y", "--beta", "0.5", "--gamma", "0.01", "--json",
    ];
    let output = ubauc(directory.path(), &words);
    let found = json(&output);
    assert!(
        stderr(&output)
            .contains("column 'code': its values tell the classes apart and their order does not")
    );
    assert!(!stderr(&output).contains("'size'"));
    let columns = found["features"]["columns"].as_array().unwrap();
    assert!(
        columns[0]["notes"][0]
            .as_str()
            .unwrap()
            .contains("--categorical code")
    );
    assert_eq!(columns[0]["kind"], "number");
    assert_eq!(columns[1]["notes"], Value::Null);
    // Whoever names it as a number, or as a category, knows.
    for more in [["--numeric", "code"], ["--categorical", "code"]] {
        let output = ubauc(directory.path(), &[&words[..], &more].concat());
        success(&output);
        assert!(
            !stderr(&output).contains("is it a code"),
            "{}",
            stderr(&output)
        );
    }
}

/// A report, a comparison and scores.
fn others_leave_them_out(dir: &Path, bad: &str, n_bad: usize) {
    let report = [
        "report",
        "m.json",
        bad,
        "-o",
        "p.html",
        "--group",
        "patient",
        "--on-error",
        "skip",
    ];
    success(&ubauc(dir, &report));
    let compare = [
        "compare",
        bad,
        "--model",
        "m.json",
        "--model",
        "m.json",
        "--group",
        "patient",
        "--on-error",
        "skip",
    ];
    success(&ubauc(dir, &compare));
    let predict = ["predict", bad, "--model", "m.json", "--on-error", "skip"];
    let output = ubauc(dir, &predict);
    // A row without a label has a score.
    assert_eq!(success(&output).lines().count(), 1 + 201);
    assert!(
        stderr(&output).contains(&format!("{} line", n_bad - 1)),
        "{}",
        stderr(&output)
    );
}

#[test]
fn groups_are_those_of_the_lines_that_were_read() {
    let mut text = "patient,age,size,colour,y\n".to_string();
    for i in 0..200_u32 {
        let (age, size) = (i * 7919 % 97, i * 104_729 % 89);
        let colour = ["red", "blue"][(i % 2) as usize];
        writeln!(
            text,
            "p{},{age},{size},{colour},{}",
            i / 4,
            u8::from(age + size > 90)
        )
        .unwrap();
    }
    // A field too few, no label, and a text for a number, which a model of a table takes as missing.
    let wrong = [(3, "p1,2"), (50, "p9,3,4,red,"), (80, "p9,old,4,red,1")];
    let without_group: String = (text.lines())
        .map(|line| format!("{}\n", line.split_once(',').unwrap().1))
        .collect();
    let files = [
        ("x.csv", text.as_str()),
        ("bad.csv", &with_lines(&text, &wrong)),
        ("some.csv", &with_lines(&text, &wrong[..2])),
        ("none.csv", &without_group),
    ];
    let directory = directory_with(&files);
    let dir = directory.path();
    // Complete numbers, and a table with a text.
    for (columns, bad, n_bad) in [
        (
            &["--numeric", "age", "--ignore", "colour"][..],
            "bad.csv",
            3,
        ),
        (&["--numeric", "age"], "some.csv", 2),
    ] {
        let train = |file: &str, test: &str, more: &[&str]| {
            let words = [
                "train", file, "--label", "y", "--group", "patient", "--beta", "0.5", "--gamma",
                "0.1", "--test", test, "--model", "m.json", "--json",
            ];
            ubauc(dir, &[&words[..], columns, more].concat())
        };
        let skip = ["--on-error", "skip"];
        let clean = json(&train("x.csv", "x.csv", &[]));
        let found = json(&train(bad, bad, &skip));
        assert_eq!(found["test_auc"], clean["test_auc"]);
        assert_eq!(found["skipped"], n_bad);
        // The file lacks the column: a note. Another error is one, before training.
        let output = train("x.csv", "none.csv", &[]);
        let alone = json(&output);
        assert!(stderr(&output).contains("no groups of the test examples"));
        assert_ne!(alone["test_auc"]["ci95"], clean["test_auc"]["ci95"]);
        assert!(failure(&train("x.csv", bad, &[])).contains(&format!("{bad}:4:")));
        let evaluate = |file: &str, more: &[&str]| {
            let words = [
                "evaluate", file, "--model", "m.json", "--group", "patient", "--json",
            ];
            ubauc(dir, &[&words[..], more].concat())
        };
        let expected = json(&evaluate("x.csv", &[]));
        let output = evaluate(bad, &skip);
        assert_eq!(json(&output), expected);
        assert!(stderr(&output).contains(&format!("{bad}: {n_bad} lines skipped: line 4")));
        assert!(failure(&evaluate(bad, &[])).contains(&format!("{bad}:4:")));
        assert!(failure(&evaluate("none.csv", &[])).contains("--group: no column 'patient'"));
        others_leave_them_out(dir, bad, n_bad);
    }
}

#[test]
fn svmlight_lines_are_left_out_where_a_model_of_a_table_scores() {
    let good: String = (0..60)
        .map(|i| format!("{} 1:{} 2:{}\n", i % 3 % 2, i % 7 + i % 3, i % 5 + 1))
        .collect();
    let bad = with_lines(&good, &[(2, "1 2:x"), (30, "word 1:2")]);
    let directory = directory_with(&[("x.svm", &good), ("bad.svm", &bad)]);
    let dir = directory.path();
    for features in ["linear", "additive"] {
        let train = [
            "train",
            "x.svm",
            "--features",
            features,
            "--model",
            "m.json",
            "--quiet",
        ];
        success(&ubauc(dir, &train));
        let evaluate = |file: &str, more: &[&str]| {
            let words = ["evaluate", file, "--model", "m.json", "--json"];
            ubauc(dir, &[&words[..], more].concat())
        };
        let expected = json(&evaluate("x.svm", &[]));
        let output = evaluate("bad.svm", &["--on-error", "skip"]);
        assert_eq!(json(&output), expected);
        assert!(
            stderr(&output).contains("2 lines skipped: line 3"),
            "{}",
            stderr(&output)
        );
        assert!(failure(&evaluate("bad.svm", &[])).contains("bad.svm:3:"));
    }
}
