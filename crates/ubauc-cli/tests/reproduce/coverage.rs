//! `ubauc reproduce coverage`: a row for each design, the same on any number of threads.

use std::path::Path;

use crate::process::{json, success, ubauc, wrong_usage};

#[test]
fn coverage_has_a_row_for_each_design_and_does_not_depend_on_threads() {
    let of = |more: &[&str]| {
        let arguments = [&["reproduce", "coverage", "--runs", "6", "--json"], more].concat();
        json(&ubauc(Path::new("."), &arguments))
    };
    let report = of(&["--threads", "1"]);
    assert_eq!(report, of(&["--threads", "3"]));
    assert_ne!(report["cells"], of(&["--seed", "2"])["cells"]);
    let cells = report["cells"].as_array().unwrap();
    assert_eq!((cells.len(), &report["runs"]), (2 * 4 * 6, &6.into()));
    for cell in cells {
        for kind in [
            "logit",
            "delong",
            "bootstrap",
            "of_average_precision",
            "of_recall",
        ] {
            let share = cell[kind]["coverage"].as_f64().unwrap();
            assert_eq!((6.0 * share).round(), 6.0 * share);
            assert!(cell[kind]["width"].as_f64().unwrap() > 0.0);
        }
        // What a random order has is the share of positives, 1/6, and the rate.
        assert!(cell["average_precision"].as_f64().unwrap() > 1.0 / 6.0);
        assert!(cell["recall"].as_f64().unwrap() > 0.1);
    }
    // By hand: exponential scores of AUC 0.8 have k = 4, recall 0.1^{1/4}.
    let of_four = &cells[24 + 1];
    assert!((of_four["recall"].as_f64().unwrap() - 0.1_f64.powf(0.25)).abs() < 1e-12);
}

#[test]
fn coverage_is_a_table_and_refuses_options_of_the_others() {
    let output = ubauc(Path::new("."), &["reproduce", "coverage", "--runs", "2"]);
    assert!(success(&output).contains("bootstrap"));
    for option in [&["--folds"][..], &["--datasets", "a9a"], &["--fresh"]] {
        let arguments = [&["reproduce", "coverage"], option].concat();
        wrong_usage(&ubauc(Path::new("."), &arguments));
    }
}
