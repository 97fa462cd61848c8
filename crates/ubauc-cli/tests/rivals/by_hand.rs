//! Optima and passes that one can work out.

use std::fs;

use serde_json::Value;

use super::{RIVALS, balanced, report};
use crate::process::{directory_with, json, stderr, ubauc};
use crate::train::overlapping;

fn weights(dir: &std::path::Path) -> Vec<f64> {
    let text = fs::read_to_string(dir.join("m.json")).unwrap();
    let model: Value = serde_json::from_str(&text).unwrap();
    serde_json::from_value(model["weights"].clone()).unwrap()
}

/// ½w² + ½b² + C Σ [1 − y(wx + b)]₊ on x = ±2: b = 0 by symmetry, and w = ½ where C is large enough for margins
/// of 1 (½w² = 1/8), else w = 4C.
#[test]
fn svm_on_two_points() {
    let directory = directory_with(&[("x.svm", "1 1:2\n-1 1:-2\n")]);
    let dir = directory.path();
    for (c, w, objective) in [("10", 0.5, 0.125), ("0.05", 0.2, 0.02 + 0.05 * 2.0 * 0.6)] {
        let more = ["--C", c, "--scale", "none", "--tolerance", "1e-10"];
        let found = report(dir, "svm", &[&more[..], &["--model", "m.json"]].concat());
        assert!((found["objective"].as_f64().unwrap() - objective).abs() < 1e-9);
        assert!((weights(dir)[0] - w).abs() < 1e-6, "{found}");
        assert!(found["intercept"].as_f64().unwrap().abs() < 1e-6, "{found}");
        assert_eq!(found["train_auc"], 1.0);
    }
}

/// ½w² + C [1 − w(x⁺ − x⁻)]₊ with x⁺ − x⁻ = 4: w = ¼ (½w² = 1/32) if C is large, else w = 4C.
#[test]
fn svm_or_on_one_pair() {
    let directory = directory_with(&[("x.svm", "1 1:5\n-1 1:1\n")]);
    let dir = directory.path();
    for (c, w, objective) in [
        ("10", 0.25, 0.03125),
        ("0.01", 0.04, 0.0008 + 0.01 * (1.0 - 0.16)),
    ] {
        let more = ["--C", c, "--scale", "none", "--tolerance", "1e-10"];
        let found = report(dir, "svm-or", &[&more[..], &["--model", "m.json"]].concat());
        assert!((found["objective"].as_f64().unwrap() - objective).abs() < 1e-10);
        assert!((weights(dir)[0] - w).abs() < 1e-6, "{found}");
        // Best thresholds lie between the two scores.
        let lambda = &found["lambda_interval"];
        assert!((lambda[0].as_f64().unwrap() - w).abs() < 1e-6, "{found}");
        assert!((lambda[1].as_f64().unwrap() - 5.0 * w).abs() < 1e-6);
    }
}

/// The first example of OAM meets an empty buffer. The second, (x⁻ = 1), meets x⁺ = 5: loss 1 at w = 0, the
/// passive-aggressive step is min(C/2, 1/16) · 4 with C of each pair.
#[test]
fn oam_in_the_order_of_the_file() {
    let directory = directory_with(&[("x.svm", "1 1:5\n-1 1:1\n")]);
    let dir = directory.path();
    let more = ["--scale", "none", "--no-shuffle", "--model", "m.json"];
    report(dir, "oam-seq", &[&more[..], &["--C", "100"]].concat());
    assert!((weights(dir)[0] - 0.25).abs() < 1e-15, "{:?}", weights(dir));
}

#[test]
fn a_trace_has_every_pass_or_round() {
    let directory = directory_with(&[("x.svm", &overlapping(200, 4))]);
    for (algorithm, given) in RIVALS {
        let passes: &[&str] = match algorithm {
            "svm" | "svm-or" => &[],
            _ => &["--passes", "4", "--tolerance", "1e-15"],
        };
        let found = report(
            directory.path(),
            algorithm,
            &[given, passes, &["--trace"]].concat(),
        );
        let trace = found["trace"].as_array().unwrap();
        let last = trace.last().unwrap();
        assert_eq!(last["objective"], found["objective"], "{found}");
        let (one, counted) = match algorithm {
            "svm-or" => ("round", "rounds"),
            _ => ("pass", "passes"),
        };
        assert_eq!(last[one], found[counted], "{found}");
        if !passes.is_empty() {
            assert_eq!(trace.len(), 4, "{found}");
            assert_eq!(found["stop"], "max_passes");
        }
    }
}

#[test]
fn one_pass_is_the_default_of_papers_with_one() {
    let directory = directory_with(&[("x.svm", &overlapping(200, 4))]);
    for (algorithm, given) in RIVALS {
        let found = report(directory.path(), algorithm, given);
        match algorithm {
            "opauc" | "oam-seq" | "oam-gra" => assert_eq!(found["passes"], 1),
            "solam" => assert!(found["passes"].as_u64().unwrap() > 1),
            "svm-or" => assert!(found["passes"].is_null()),
            _ => {}
        }
    }
}

#[test]
fn the_order_of_the_file_needs_no_seed() {
    let directory = directory_with(&[("x.svm", &overlapping(150, 4))]);
    for algorithm in ["solam", "opauc"] {
        let given = RIVALS
            .iter()
            .find(|(name, _)| *name == algorithm)
            .unwrap()
            .1;
        let objective = |more: &[&str]| {
            let found = report(directory.path(), algorithm, &[given, more].concat());
            found["objective"].clone()
        };
        let in_order = objective(&["--no-shuffle", "--seed", "1"]);
        assert_eq!(objective(&["--no-shuffle", "--seed", "2"]), in_order);
        assert_ne!(objective(&["--seed", "1"]), in_order);
    }
}

/// ½b² + C Σ [1 − yb]₊ with b = −1: ½ + 2·0.1·60.
#[test]
fn an_svm_without_weights_is_named() {
    let directory = directory_with(&[("x.svm", &overlapping(300, 5))]);
    let words = [
        "train",
        "x.svm",
        "--algorithm",
        "svm",
        "--C",
        "0.1",
        "--json",
    ];
    let output = ubauc(directory.path(), &words);
    assert!((json(&output)["objective"].as_f64().unwrap() - 12.5).abs() < 1e-3);
    let text = stderr(&output);
    assert!(text.contains("all weights are 0 to within"), "{text}");
    let directory = directory_with(&[("x.svm", &balanced(300, 5))]);
    assert_eq!(stderr(&ubauc(directory.path(), &words)), "");
}

#[test]
fn what_stops_short_says_what_helps() {
    let directory = directory_with(&[("x.svm", &overlapping(300, 6))]);
    for (algorithm, c, option) in [
        ("svm", "100", "--passes"),
        ("svm-or", "1000", "--max-newton"),
    ] {
        let words = ["train", "x.svm", "--algorithm", algorithm, "--C", c];
        let more = [option, "2", "--tolerance", "1e-12", "--json"];
        let output = ubauc(directory.path(), &[&words[..], &more].concat());
        let found = json(&output);
        assert_ne!(found["stop"], "converged");
        assert!(found["gap"].as_f64().unwrap() > 1e-12, "{found}");
        let text = stderr(&output);
        assert!(text.contains("warning: not converged"), "{text}");
        assert!(text.contains(option), "{text}");
        assert!(!text.contains("ba-ubauc"), "{text}");
    }
}
