//! `ubauc demo`: the first thing a new user sees.

use crate::process::{json, keys, stderr, success, ubauc};

#[test]
fn it_shows_the_main_job_and_what_is_next() {
    let directory = tempfile::tempdir().unwrap();
    let output = ubauc(directory.path(), &["demo"]);
    let text = success(&output);
    assert!(text.starts_with(
        "50,000 training and 50,000 test examples, 20 features, 2 %\n\
         positive; the best possible scorer has AUC 0.9 on the distribution that they are\n\
         drawn from, which a sample may exceed by chance.\n"
    ));
    let mut rest = text;
    for part in [
        "(ubauc train train.svm --beta 0.5 --gamma 0.0001)",
        "certified to within",
        "(ubauc evaluate --model model.json test.svm)",
        "positive        1,000 (class 1)",
        "negative        49,000 (class -1)",
        "(ubauc compare --model a.json --model b.json test.svm)",
        "ba-ubauc - logistic",
        "(ubauc bound scores.csv)",
        "AUC risk",
        "Next: ubauc train FILE",
    ] {
        let (_, after) = rest
            .split_once(part)
            .unwrap_or_else(|| panic!("{part}: {text}"));
        rest = after;
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    assert_eq!(stderr(&output), "");
    assert_eq!(
        std::fs::read_dir(directory.path()).unwrap().count(),
        0,
        "it writes no files"
    );
}

#[test]
fn json_has_all_the_reports() {
    let directory = tempfile::tempdir().unwrap();
    let demo = json(&ubauc(directory.path(), &["demo", "--json"]));
    assert_eq!(
        keys(&demo),
        [
            "best_auc",
            "bound",
            "compare",
            "dim",
            "evaluate",
            "positive_share",
            "rows",
            "table",
            "train"
        ]
    );
    let auc = demo["evaluate"]["auc"].as_f64().unwrap();
    // The scorer is nearly the best; three standard errors of 1,000 positives are 0.02.
    assert!((auc - 0.9).abs() < 0.02, "{auc}");
    assert_eq!(
        demo["compare"]["scorers"][0]["auc"],
        demo["evaluate"]["auc"]
    );
    let risk = demo["bound"]["auc_risk"].as_f64().unwrap();
    assert!((risk - (1.0 - auc)).abs() < 1e-15);
    assert_eq!(demo["train"]["stop"], "converged");
    assert!(demo["train"]["gap"].as_f64().unwrap() <= 1e-6);
}

#[test]
fn seed_makes_the_data() {
    let directory = tempfile::tempdir().unwrap();
    let of = |arguments: &[&str]| {
        let output = ubauc(directory.path(), &[&["demo", "--json"], arguments].concat());
        success(&output).to_string()
    };
    assert_eq!(of(&[]), of(&["--seed", "1"]));
    assert_ne!(of(&[]), of(&["--seed", "2"]));
}
