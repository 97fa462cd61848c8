//! `--weight` of `train` and `tune`: an example of weight 2 is two examples, one of weight 0 is none.

use std::fmt::Write as _;

use serde_json::Value;
use tempfile::TempDir;

use crate::process::{directory_with, failure, json, stderr, success, ubauc};

/// Three features, the first two of use; every fourth example positive, weights 0 to 3. Beside it the same file with
/// every example as many times as it weighs.
fn weighted_and_repeated(n: usize) -> TempDir {
    let mut state = 11_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f64 / (1 << 24) as f64 - 0.5
    };
    let mut weighted = "a,s,label,b,c\n".to_string();
    let (mut repeated, mut some, mut plain) = (
        "label,a,b,c\n".to_string(),
        "a,s,label,b,c\n".to_string(),
        "label,a,b,c\n".to_string(),
    );
    for i in 0..n {
        let label = usize::from(i % 4 == 0);
        let shift = 0.25 * label as f64;
        let [a, b, c] = [next() + shift, next() - shift, next()];
        let s = i * 7 % 11 % 4;
        writeln!(weighted, "{a},{s},{label},{b},{c}").unwrap();
        writeln!(plain, "{label},{a},{b},{c}").unwrap();
        if s > 0 {
            writeln!(some, "{a},{s},{label},{b},{c}").unwrap();
        }
        for _ in 0..s {
            writeln!(repeated, "{label},{a},{b},{c}").unwrap();
        }
    }
    directory_with(&[
        ("weighted.csv", &weighted),
        ("repeated.csv", &repeated),
        ("some.csv", &some),
        ("plain.csv", &plain),
    ])
}

fn close(a: &Value, b: &Value, within: f64) -> bool {
    (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() <= within
}

#[test]
fn an_example_of_weight_two_is_two_examples() {
    let directory = weighted_and_repeated(400);
    let dir = directory.path();
    for how in [
        &["--beta", "0.5", "--gamma", "1e-3", "--tolerance", "1e-11"][..],
        &[
            "--beta",
            "0.5",
            "--gamma",
            "1e-3",
            "--tolerance",
            "1e-11",
            "--intercept",
            "--least-squares",
            "balanced",
        ],
        &[
            "--beta",
            "0.5",
            "--gamma",
            "1e-3",
            "--tolerance",
            "1e-11",
            "--scale",
            "standard",
        ],
        &[
            "--algorithm",
            "logistic",
            "--gamma",
            "1e-3",
            "--tolerance",
            "1e-11",
        ],
    ] {
        let run = |file: &[&str]| json(&ubauc(dir, &[&["train", "--json"], file, how].concat()));
        let weighted = run(&["weighted.csv", "--weight", "s", "--model", "m.json"]);
        let repeated = run(&["repeated.csv"]);
        assert_eq!(weighted["d"], 3);
        // Twice the tolerance, times an objective below 1.
        assert!(
            close(&weighted["objective"], &repeated["objective"], 1e-10),
            "{how:?}: {weighted} {repeated}"
        );
        // The model's weighted AUC is its AUC on the repeated examples, to rounding.
        let words = ["evaluate", "--model", "m.json", "repeated.csv", "--json"];
        let judged = json(&ubauc(dir, &words));
        assert!(
            close(&weighted["train_auc"], &judged["auc"], 1e-12),
            "{how:?}: {weighted} {judged}"
        );
        let plain = run(&["plain.csv"]);
        assert!(
            !close(&weighted["objective"], &plain["objective"], 1e-4),
            "weights change nothing"
        );
    }
}

const GRID: [&str; 8] = [
    "--betas",
    "0.5,2",
    "--gammas",
    "1e-2,1e-4",
    "--folds",
    "3",
    "--tolerance",
    "1e-9",
];

#[test]
fn tuning_leaves_out_what_has_no_weight() {
    let directory = weighted_and_repeated(600);
    let dir = directory.path();
    let tune = |file: &str| {
        let words = ["tune", file, "--weight", "s", "--json"];
        json(&ubauc(dir, &[&words, &GRID[..]].concat()))
    };
    let (all, some) = (tune("weighted.csv"), tune("some.csv"));
    assert_eq!(all["weight"], "s");
    let points = |report: &Value| report["points"].as_array().unwrap().clone();
    for (a, b) in points(&all).iter().zip(&points(&some)) {
        // A fold has some 30 × 90 pairs of weights up to 3; a few may be closer than the solutions are.
        assert!(close(&a["auc"], &b["auc"], 2e-3), "{a} {b}");
    }
    assert_eq!(
        all["verdict"]["ours"]["n_pos"],
        some["verdict"]["ours"]["n_pos"]
    );
    let plain = json(&ubauc(
        dir,
        &[&["tune", "plain.csv", "--json"], &GRID[..]].concat(),
    ));
    assert!(plain.get("weight").is_none());
    assert_ne!(points(&plain)[0]["auc"], points(&all)[0]["auc"]);
}

#[test]
fn train_chooses_by_the_weights_it_is_given() {
    let directory = weighted_and_repeated(600);
    let dir = directory.path();
    let words = [
        "weighted.csv",
        "--weight",
        "s",
        "--scale",
        "maxabs",
        "--json",
    ];
    let tuned = json(&ubauc(dir, &[&["tune"], &words[..]].concat()));
    let trained = json(&ubauc(dir, &[&["train"], &words[..]].concat()));
    for key in ["beta", "gamma", "least_squares"] {
        assert_eq!(trained[key], tuned["chosen"][key], "{key}");
    }
    assert_eq!(trained["verdict"], tuned["verdict"]);
    let plain = json(&ubauc(dir, &["train", "plain.csv", "--json"]));
    assert_ne!(plain["verdict"], trained["verdict"]);
}

#[test]
fn the_command_to_use_reads_the_same_examples() {
    let directory = weighted_and_repeated(600);
    let dir = directory.path();
    let words = [
        "tune",
        "weighted.csv",
        "--weight",
        "s",
        "--ignore",
        "c",
        "--positive",
        "0",
    ];
    let output = ubauc(dir, &[&words, &GRID[..]].concat());
    let text = success(&output);
    let command = text.lines().last().unwrap().trim();
    let start = "ubauc train weighted.csv --weight s --ignore c --positive 0 --";
    assert!(command.starts_with(start), "{text}");
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--json"]).collect();
    let report = json(&ubauc(dir, &words));
    assert_eq!(
        (&report["d"], &report["classes"][1]),
        (&2.into(), &"0".into())
    );
}

#[test]
fn weights_that_are_none_are_refused_by_name() {
    let directory = directory_with(&[
        ("negative.csv", "label,a,s\n1,1,1\n0,2,-0.5\n"),
        ("class.csv", "label,a,s\n1,1,0\n0,2,1\n1,3,0\n"),
        ("huge.csv", "label,a,s\n1,1,1e308\n0,2,1\n1,3,1e308\n"),
        ("only.csv", "label,s\n1,1\n0,2\n"),
        ("text.csv", "label,a,s\n1,1,x\n0,2,1\n"),
        ("x.svm", "1 1:1\n0 1:2\n"),
    ]);
    for (file, words) in [
        ("negative.csv", &["example 2", "-0.5", "'s'"][..]),
        ("class.csv", &["class 1", "weight 0"]),
        ("huge.csv", &["class 1", "add up"]),
        ("only.csv", &["no features besides"]),
        ("text.csv", &["example 1", "'x'", "weights are numbers"]),
        ("x.svm", &["svmlight"]),
    ] {
        for command in [
            &["train", "--beta", "1", "--gamma", "1"][..],
            &["train"],
            &["tune"],
        ] {
            let output = ubauc(
                directory.path(),
                &[command, &[file, "--weight", "s"]].concat(),
            );
            let said = failure(&output);
            assert!(said.contains(file), "{said}");
            for word in words {
                assert!(said.contains(word), "{command:?} {word}: {said}");
            }
        }
    }
    let output = ubauc(directory.path(), &["tune", "class.csv", "--weight", "t"]);
    assert!(failure(&output).contains("no weight column 't'"));
}

#[test]
fn the_positive_one_of_two_texts_is_named() {
    let text = "label,a\nno,1\nyes,2\nno,0\nyes,1.5\nno,1.7\nyes,0.4\nno,0.2\nyes,3\n";
    let directory = directory_with(&[("x.csv", text)]);
    for words in [
        &["train", "x.csv", "--beta", "1", "--gamma", "0.1"][..],
        &["tune", "x.csv", "--folds", "2", "--held-out", "0"],
    ] {
        let output = ubauc(directory.path(), words);
        success(&output);
        assert!(
            stderr(&output).contains("'yes' is taken as positive"),
            "{words:?}: {}",
            stderr(&output)
        );
        let output = ubauc(directory.path(), &[words, &["--positive", "no"]].concat());
        success(&output);
        assert!(!stderr(&output).contains("taken as positive"), "{words:?}");
    }
}
