//! `ubauc bound`: the univariate bound of AUC risk, by hand.

use crate::process::{directory_with, json, keys, stderr, success, ubauc};

/// Sorted 1 2 3 4 5 6 9, positives 2 4 9: 5 of 12 pairs are wrong, and with N⁺ = 3
///
/// ```text
/// 12 L̃ = (5 + 6 + 9) − (2 + 4 + 9) = 5, λ ∈ [4, 5], largest gap 3, smallest 1
/// ```
///
/// With a margin the scores are 1 3 8 | 2 4 6 7: 12 L̃_SVM = (6 + 7 + 8) − 12 = 9.
const SEVEN: &str = "label,score\n1,9\n1,2\n1,4\n0,5\n0,3\n0,6\n0,1\n";

#[test]
fn seven_scores_by_hand() {
    let directory = directory_with(&[("x.csv", SEVEN)]);
    let output = ubauc(directory.path(), &["bound", "x.csv", "--json"]);
    let bound = json(&output);
    assert_eq!(stderr(&output), "");
    let expected = [
        "alpha_lower",
        "alpha_upper",
        "auc_risk",
        "l_tilde",
        "lambda",
        "n_neg",
        "n_pos",
        "population",
        "risk_lower",
        "risk_upper",
        "svm_objective",
        "tied_opposite_pairs",
        "tied_pairs",
    ];
    assert_eq!(keys(&bound), expected);
    for (key, value) in [
        ("auc_risk", 5.0 / 12.0),
        ("l_tilde", 5.0 / 12.0),
        ("alpha_lower", 1.0 / 3.0),
        ("alpha_upper", 1.0),
        ("risk_lower", 5.0 / 36.0),
        ("risk_upper", 5.0 / 12.0),
        ("svm_objective", 9.0 / 12.0),
    ] {
        let found = bound[key].as_f64().unwrap();
        assert!((found - value).abs() < 1e-15, "{key}: {found}, not {value}");
    }
    assert_eq!(bound["lambda"], serde_json::json!([4.0, 5.0]));
    assert_eq!(bound["tied_pairs"], 0);
    assert_eq!((&bound["n_pos"], &bound["n_neg"]), (&3.into(), &4.into()));
}

/// The text, without the estimate for the population, which is not a matter of hands.
fn text(scores: &str) -> String {
    let directory = directory_with(&[("x.csv", scores)]);
    let output = ubauc(directory.path(), &["bound", "x.csv"]);
    let lines = success(&output).lines();
    let kept = lines.filter(|line| !line.starts_with("population"));
    kept.fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn text_is_aligned() {
    let expected = "\
AUC risk       0.416667
L-tilde        0.416667
lambda         [4.000000, 5.000000]
lower bound    0.138889 (alpha 0.333333)
upper bound    0.416667 (alpha 1.000000)
SVM objective  0.750000
positive       3
negative       4
";
    assert_eq!(text(SEVEN), expected);
}

#[test]
fn ties_leave_no_upper_bound() {
    // 5 and 5, one pair.
    let one = SEVEN.replace("1,4\n", "1,5\n");
    assert!(text(&one).contains("\nupper bound    no upper bound: 1 tied pair\n"));
    // Three equal scores, within a class or not, are three pairs.
    let three = SEVEN.replace("1,4\n", "1,5\n").replace("0,6\n", "0,5\n");
    assert!(text(&three).contains("\nupper bound    no upper bound: 3 tied pairs\n"));
    let directory = directory_with(&[("x.csv", &three)]);
    let bound = json(&ubauc(directory.path(), &["bound", "x.csv", "--json"]));
    assert!(bound["alpha_upper"].is_null());
    assert_eq!(bound["risk_upper"], 1.0);
    assert_eq!(bound["tied_pairs"], 3);
    // Many of them.
    let many: String = (0..2000)
        .map(|i| format!("{},{}\n", i % 2, i / 1000))
        .collect();
    let many = text(&format!("label,score\n{many}"));
    assert!(
        many.contains("\nupper bound    no upper bound: 999,000 tied pairs\n"),
        "{many}"
    );
}

#[test]
fn ties_of_opposite_classes_leave_no_estimate_for_the_population() {
    let population = |scores: &str| {
        let directory = directory_with(&[("x.csv", scores)]);
        let bound = json(&ubauc(directory.path(), &["bound", "x.csv", "--json"]));
        let output = ubauc(directory.path(), &["bound", "x.csv"]);
        let line = success(&output)
            .lines()
            .find(|l| l.starts_with("population"));
        (bound["population"].is_null(), line.unwrap().to_string())
    };
    let (null, line) = population(SEVEN);
    assert!(!null && line.contains("an estimate"), "{line}");
    // The positive 4 made 5 ties with the negative 5; the negative 6 made 5 too ties with both.
    let one = SEVEN.replace("1,4\n", "1,5\n");
    let expected = "population     none: 1 tied pair of opposite classes has no density";
    assert_eq!(population(&one), (true, expected.to_string()));
    let two = one.replace("0,6\n", "0,5\n");
    let expected = "population     none: 2 tied pairs of opposite classes have no density";
    assert_eq!(population(&two), (true, expected.to_string()));
    // A tie within a class leaves the estimate.
    assert!(!population(&SEVEN.replace("0,6\n", "0,5\n")).0);
}

#[test]
fn equal_scores_have_neither_bound() {
    let found = text("label,score\n1,7\n0,7\n");
    assert!(
        found.contains("\nlower bound    none: all scores are equal\n"),
        "{found}"
    );
    assert!(
        found.contains("\nupper bound    no upper bound: 1 tied pair\n"),
        "{found}"
    );
}

#[test]
fn bound_above_one_says_nothing() {
    // 4 L̃ = 10 − 0.1 + …, smallest gap 0.1.
    let found = text("label,score\n1,0\n1,0.1\n0,10\n0,20\n");
    assert!(
        found.contains("\nupper bound    1, which says nothing (alpha 10.000000)\n"),
        "{found}"
    );
}

#[test]
fn svmlight_feature_and_positive_class_are_taken() {
    let svmlight = "1 1:9\n1 1:2\n1 1:4\n0 1:5\n0 1:3\n0 1:6\n0 1:1\n";
    let directory = directory_with(&[("x.svm", svmlight), ("x.csv", SEVEN)]);
    let dir = directory.path();
    let of_csv = ubauc(dir, &["bound", "x.csv"]);
    let of_feature = ubauc(dir, &["bound", "x.svm", "--feature", "1"]);
    assert_eq!(success(&of_feature), success(&of_csv));
    let other = json(&ubauc(
        dir,
        &["bound", "x.csv", "--positive", "0", "--json"],
    ));
    assert!((other["auc_risk"].as_f64().unwrap() - 7.0 / 12.0).abs() < 1e-15);
    // 12 L̃ = (4 + 5 + 6 + 9) − (1 + 3 + 5 + 6) = 9
    assert!((other["l_tilde"].as_f64().unwrap() - 0.75).abs() < 1e-15);
}
