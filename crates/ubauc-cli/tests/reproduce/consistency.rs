//! `ubauc reproduce consistency`: excess risk falls to what theory says, the same on any number of threads.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::process::{json, success, ubauc, wrong_usage};

fn run(directory: &Path, more: &[&str]) -> Value {
    let arguments = [&["reproduce", "consistency", "--runs", "2", "--json"], more].concat();
    json(&ubauc(directory, &arguments))
}

#[test]
fn numbers_do_not_depend_on_threads() {
    let directory = TempDir::new().unwrap();
    let of = |more: &[&str]| run(directory.path(), &[&["--max-rows", "100"], more].concat());
    let report = of(&["--threads", "1"]);
    assert_eq!(report, of(&["--threads", "3"]));
    assert_ne!(report["excess"], of(&["--seed", "2"])["excess"]);
}

#[test]
fn excess_risk_is_that_of_theory() {
    let directory = TempDir::new().unwrap();
    let report = run(directory.path(), &["--max-rows", "10000"]);
    let populations = report["populations"].as_array().unwrap();
    assert_eq!(populations.len(), 4);
    for population in &populations[..3] {
        // By construction.
        let best = population["best_linear_auc"].as_f64().unwrap();
        assert!((best - 0.9).abs() < 1e-12, "{population}");
    }
    for population in &populations[..2] {
        // The best scorer of all is linear.
        let of_all = &population["likelihood_ratio_auc"];
        let distance = (of_all["mean"].as_f64().unwrap() - 0.9).abs();
        assert!(distance < 4.0 * of_all["standard_error"].as_f64().unwrap());
    }
    let excess = |population: &str, method: &str, rows: u64| {
        let rows_of = report["excess"].as_array().unwrap().iter();
        let mut of = rows_of.filter(|row| {
            (&row["population"], &row["method"], &row["rows"])
                == (&population.into(), &method.into(), &rows.into())
        });
        of.next().unwrap()["excess"]["mean"].as_f64().unwrap()
    };
    for row in report["excess"].as_array().unwrap() {
        assert_eq!(row["not_converged"], 0, "{row}");
        // Nothing is better than the best.
        assert!(row["excess"]["mean"].as_f64().unwrap() > -1e-12, "{row}");
        if row["population"] == "normal" && row["rows"] == 10_000 {
            let method = row["method"].as_str().unwrap();
            let before = excess("normal", method, 100);
            assert!(excess("normal", method, 10_000) < 0.1 * before, "{row}");
        }
    }
    // Least squares in `unequal`: w ∝ (0.1 Σ⁺ + 0.9 Σ⁻)⁻¹Δ, weights 1/1.8 and 1, m√3 = 1.28155 = Φ⁻¹(0.9):
    // t = 5m(1/1.8 + 1)/√(5(10/1.8² + 2)) = 1.54229m = 1.14114, Φ(t) = 0.873095.
    let limit = 0.9 - 0.873095;
    let found = excess("unequal", "least squares", 10_000);
    // The mean of two samples has a standard deviation of about a ninth of that.
    assert!((found - limit).abs() < 0.5 * limit, "{found} {limit}");
    assert!(excess("unequal", "least squares, balanced", 10_000) < 0.1 * limit);
}

#[test]
fn tables_and_a_figure_are_written_beside_the_results() {
    let directory = TempDir::new().unwrap();
    let words = "reproduce consistency --runs 2 --max-rows 200 --results found";
    let words: Vec<&str> = words.split(' ').collect();
    let output = ubauc(directory.path(), &words);
    let shown = success(&output);
    assert!(shown.contains("ranking SVM") && shown.contains("outliers"));
    let read = |name: &str| fs::read_to_string(directory.path().join("found").join(name)).unwrap();
    assert!(read("consistency.md").contains("consistency.svg"));
    assert!(read("consistency.svg").contains("least squares, balanced"));
    let json: Value = serde_json::from_str(&read("consistency.json")).unwrap();
    let rows = json["excess"].as_array().unwrap().len();
    let gaps = json["generalisation"].as_array().unwrap();
    assert_eq!(
        read("consistency.csv").lines().count(),
        1 + rows + gaps.len()
    );
    for gap in gaps {
        let of = |name: &str| gap[name]["mean"].as_f64().unwrap();
        assert!((of("train_auc") - of("auc") - of("gap")).abs() < 1e-12);
        assert!(of("auc") <= 0.9 + 1e-12);
    }
    for option in [&["--folds"][..], &["--datasets", "a9a"], &["--fresh"]] {
        let arguments = [&["reproduce", "consistency"], option].concat();
        wrong_usage(&ubauc(directory.path(), &arguments));
    }
    let arguments = ["reproduce", "coverage", "--max-rows", "10"];
    assert!(wrong_usage(&ubauc(directory.path(), &arguments)).contains("--max-rows"));
}
