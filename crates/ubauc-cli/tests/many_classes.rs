//! More than two classes: a scorer for each, from `train` to `evaluate`.

use std::fmt::Write as _;

use serde_json::Value;

use crate::process::{
    directory_with, failure, json, keys, stderr, stdout, success, ubauc, wrong_usage,
};

const GIVEN: [&str; 6] = ["--beta", "0.5", "--gamma", "0.01", "--softness", "0.1"];

/// Three classes of different sizes that overlap, as a table of numbers or with a category.
fn three(rows: u64, with_category: bool) -> String {
    let mut state = 11_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as f64 / (1_u64 << 31) as f64 - 0.5
    };
    let head = if with_category { ",colour" } else { "" };
    let mut text = format!("kind,x,y{head}\n");
    for i in 0..rows {
        let (class, centre) = match i % 10 {
            0 => ("oak", [0.5, 0.1]),
            1..=3 => ("ash", [0.0, 0.5]),
            _ => ("elm", [0.0, 0.0]),
        };
        let [x, y] = centre.map(|c| c + next());
        write!(text, "{class},{x:.4},{y:.4}").unwrap();
        if with_category {
            let colour = if next() > 0.1 { "red" } else { "blue" };
            write!(text, ",{colour}").unwrap();
        }
        text.push('\n');
    }
    text
}

/// A(c|d) of columns of scores, pair by pair.
fn by_pairs(scores: &[Vec<f64>], classes: &[String], names: &[&str]) -> f64 {
    let (mut sum, mut pairs) = (0.0, 0.0);
    for (column, c) in names.iter().enumerate() {
        for d in names.iter().filter(|d| *d != c) {
            let of = |class: &str| -> Vec<f64> {
                let rows = (0..classes.len()).filter(|&i| classes[i] == class);
                rows.map(|i| scores[i][column]).collect()
            };
            let (high, low) = (of(c), of(d));
            let won = |h: &f64, l: &f64| match h.total_cmp(l) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            };
            let wins: f64 = high
                .iter()
                .map(|h| low.iter().map(|l| won(h, l)).sum::<f64>())
                .sum();
            sum += wins / (high.len() * low.len()) as f64;
            pairs += 1.0;
        }
    }
    sum / pairs
}

#[test]
fn train_predict_and_evaluate_agree_with_pairs() {
    for with_category in [false, true] {
        let text = three(300, with_category);
        let directory = directory_with(&[("x.csv", &text)]);
        let train = [
            "train", "x.csv", "--label", "kind", "--test", "x.csv", "--json",
        ];
        let words = [&train[..], &["--model", "m.json"], &GIVEN].concat();
        let output = ubauc(directory.path(), &words);
        let report = json(&output);
        assert!(stderr(&output).contains("3 classes"), "{}", stderr(&output));
        assert_eq!(report["multi_class"], "hand-till");
        assert_eq!(report["classes"], serde_json::json!(["ash", "elm", "oak"]));
        assert!(report["gap"].as_f64().unwrap() <= 1e-6);
        // Of all examples and of those of the test.
        assert_eq!(stdout(&output).matches("\"n\":300,").count(), 2);
        assert_eq!(report["n"], 300);
        assert_eq!(report["skipped"], 0);
        let columns = report["features"]["columns"].as_array().unwrap();
        assert_eq!(columns.len(), 2 + usize::from(with_category));
        let predicted = ubauc(
            directory.path(),
            &["predict", "x.csv", "--model", "m.json", "--classes"],
        );
        let mut lines = success(&predicted).lines();
        assert_eq!(lines.next(), Some("ash,elm,oak,class"));
        let mut right = 0;
        let classes: Vec<String> = (text.lines().skip(1))
            .map(|line| line.split(',').next().unwrap().to_string())
            .collect();
        let mut scores = Vec::new();
        for (line, class) in lines.zip(&classes) {
            let fields: Vec<&str> = line.split(',').collect();
            scores.push(
                fields[..3]
                    .iter()
                    .map(|x| x.parse().unwrap())
                    .collect::<Vec<f64>>(),
            );
            right += usize::from(fields[3] == class);
        }
        assert_eq!(scores.len(), 300);
        assert!(right > 180, "{right}");
        let m = by_pairs(&scores, &classes, &["ash", "elm", "oak"]);
        let found = json(&ubauc(
            directory.path(),
            &["evaluate", "x.csv", "--model", "m.json", "--json"],
        ));
        assert_eq!(keys(&found), ["class_aucs", "classes", "hand_till"]);
        let close = |value: &Value| (value.as_f64().unwrap() - m).abs() < 1e-12;
        assert!(close(&found["hand_till"]["m"]), "{found} {m}");
        assert!(
            close(&report["test_auc"]["auc"]) && close(&report["train_auc"]),
            "{report} {m}"
        );
        let aucs = found["class_aucs"].as_array().unwrap().iter();
        let mean = aucs.map(|a| a.as_f64().unwrap()).sum::<f64>() / 3.0;
        assert!((mean - m).abs() < 1e-12);
    }
}

#[test]
fn the_report_says_what_was_made_of_every_column_and_line() {
    let mut text = three(300, true);
    text.push_str("oak,1\n");
    let directory = directory_with(&[("x.csv", &text)]);
    let train = ["train", "x.csv", "--label", "kind", "--on-error", "skip"];
    let words = [&train[..], &GIVEN, &["--json"]].concat();
    let output = ubauc(directory.path(), &words);
    let report = json(&output);
    assert_eq!(report["skipped"], 1);
    assert_eq!(report["features"]["columns"][2]["kind"], "category");
    let output = ubauc(directory.path(), &words[..words.len() - 1]);
    assert!(success(&output).contains("colour"), "{}", stdout(&output));
}

#[test]
fn the_loss_is_chosen_once_for_all_classes() {
    let text = three(400, false);
    let directory = directory_with(&[("x.csv", &text)]);
    let words = [
        "train", "x.csv", "--label", "kind", "--json", "--folds", "3",
    ];
    let report = json(&ubauc(directory.path(), &words));
    let search = report["search"].as_array().unwrap();
    let chosen: Vec<&Value> = search.iter().filter(|p| p["chosen"] == true).collect();
    assert_eq!(chosen.len(), 1);
    assert_eq!(chosen[0]["gamma"], report["gamma"]);
    assert!(report["train_auc"].as_f64().unwrap() > 0.75, "{report}");
    assert_eq!(report["scorers"].as_array().unwrap().len(), 3);
}

#[test]
fn the_rows_scorer_is_that_of_a_weighted_fit() {
    // Weights of the class ash against the rest by hand: 210 others, each class 105.
    let text = three(300, false);
    let mut weighted = "kind,x,y,w\n".to_string();
    for line in text.lines().skip(1) {
        let weight = match line.split(',').next().unwrap() {
            "ash" => 1.0,
            "elm" => 105.0 / 180.0,
            _ => 105.0 / 30.0,
        };
        writeln!(weighted, "{line},{weight}").unwrap();
    }
    let directory = directory_with(&[("x.csv", &text), ("w.csv", &weighted)]);
    let one = [
        &[
            "train", "w.csv", "--label", "kind", "--weight", "w", "--json",
        ][..],
        &["--positive", "ash"],
        &GIVEN,
    ]
    .concat();
    let one = json(&ubauc(directory.path(), &one));
    let all = [&["train", "x.csv", "--label", "kind", "--json"][..], &GIVEN].concat();
    let all = json(&ubauc(directory.path(), &all));
    let scorer = &all["scorers"][0];
    let close = |a: &Value, b: &Value| (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-12;
    assert!(
        close(&scorer["objective"], &one["objective"]),
        "{scorer} {one}"
    );
    assert!(
        close(&scorer["train_auc"], &one["train_auc"]),
        "{scorer} {one}"
    );
}

#[test]
fn what_is_for_two_classes_is_refused_by_name() {
    let text = three(60, false);
    let directory = directory_with(&[("x.csv", &text)]);
    let train = |more: &[&str]| {
        let words = [&["train", "x.csv", "--label", "kind"], more].concat();
        ubauc(directory.path(), &words)
    };
    for more in [
        &["--features", "additive"][..],
        &["--increasing", "x"],
        &["--group", "y"],
        &["--report", "page.html"],
        &["--held-out", "0.1"],
        &["--criterion", "average-precision"],
        &["--algorithm", "svm"],
    ] {
        let output = train(more);
        let message = wrong_usage(&output);
        assert!(
            message.contains(more[0]) && message.contains("--positive ash"),
            "{message}"
        );
    }
    success(&train(
        &[&GIVEN[..], &["--model", "m.json", "--quiet"]].concat(),
    ));
    // Other commands say what to do with such a model.
    for words in [
        &["explain", "m.json"][..],
        &["export", "m.json", "--to", "sql", "--output", "q.sql"],
        &[
            "compare", "x.csv", "--label", "kind", "--model", "m.json", "--model", "m.json",
        ],
    ] {
        let output = ubauc(directory.path(), words);
        let message = stderr(&output);
        assert!(
            !output.status.success() && message.contains("3 classes"),
            "{words:?} {message}"
        );
        assert_eq!(stdout(&output), "");
    }
    let threshold = ["predict", "x.csv", "--model", "m.json", "--threshold", "0"];
    assert!(wrong_usage(&ubauc(directory.path(), &threshold)).contains("--threshold"));
    for [option, value] in [["--max-fpr", "0.1"], ["--group", "y"]] {
        let words = ["evaluate", "x.csv", "--model", "m.json", option, value];
        assert!(wrong_usage(&ubauc(directory.path(), &words)).contains(option));
    }
    let tune = ubauc(directory.path(), &["tune", "x.csv", "--label", "kind"]);
    assert!(failure(&tune).contains("3 classes"), "{}", stderr(&tune));
}

#[test]
fn classes_that_the_model_or_the_file_lacks() {
    let text = three(100, false);
    let two: String = (text.lines().filter(|line| !line.starts_with("oak")))
        .map(|line| format!("{line}\n"))
        .collect();
    let other = text.replacen("oak", "fir", 1);
    let one: String = (text
        .lines()
        .filter(|l| l.starts_with("kind") || l.starts_with("elm")))
    .map(|line| format!("{line}\n"))
    .collect();
    let files = [
        ("x.csv", text.as_str()),
        ("two.csv", &two),
        ("other.csv", &other),
        ("one.csv", &one),
    ];
    let directory = directory_with(&files);
    let words = [
        &["train", "x.csv", "--label", "kind", "--model", "m.json"][..],
        &GIVEN,
    ]
    .concat();
    success(&ubauc(directory.path(), &words));
    let evaluate = |file: &str| {
        ubauc(
            directory.path(),
            &["evaluate", file, "--model", "m.json", "--json"],
        )
    };
    let found = evaluate("two.csv");
    assert_eq!(json(&found)["classes"], serde_json::json!(["ash", "elm"]));
    assert!(
        stderr(&found).contains("no examples of oak"),
        "{}",
        stderr(&found)
    );
    assert!(failure(&evaluate("other.csv")).contains("class fir"));
    assert!(failure(&evaluate("one.csv")).contains("one class, elm"));
}
