//! Five tables as their sources have them: from the file to a judged model with nothing but the name of the label.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

use crate::process::{json, real_data, success, ubauc};

/// A table, what must be said of it, and the test AUC of scikit-learn on the same two files.
struct Real {
    file: &'static str,
    options: &'static [&'static str],
    label: &'static str,
    positive: &'static str,
    reference: f64,
}

/// The reference is `python tests/reference/tables.py`: LogisticRegression on OneHotEncoder(min_frequency=3),
/// StandardScaler and missing indicators, C by 5-fold AUC.
const TABLES: [Real; 5] = [
    Real {
        file: "adult",
        options: &[],
        label: "classification",
        positive: ">50K",
        reference: 0.90554,
    },
    Real {
        file: "bank_additional",
        options: &["--ignore", "duration"],
        label: "y",
        positive: "yes",
        reference: 0.77835,
    },
    Real {
        file: "taiwan_default",
        options: &[],
        label: "default.payment.next.month",
        positive: "1",
        reference: 0.71946,
    },
    Real {
        file: "give_me_some_credit",
        options: &[],
        label: "SeriousDlqin2yrs",
        positive: "1",
        reference: 0.70338,
    },
    Real {
        file: "amazon_employee_access",
        options: &["--categorical", "all", "--positive", "0"],
        label: "ACTION",
        positive: "0",
        reference: 0.83312,
    },
];

/// As `data split` divides them.
fn split(dir: &Path, data: &Path, table: &Real) {
    let path = data.join("tables").join(format!("{}.csv.zst", table.file));
    let path = path.to_str().unwrap();
    let words = [
        "data",
        "split",
        path,
        "--test-share",
        "0.3",
        "--stratify",
        table.label,
        "--output-train",
        "train.csv",
        "--output-test",
        "test.csv",
    ];
    success(&ubauc(dir, &words));
}

fn train(dir: &Path, table: &Real) -> Value {
    let words = [
        "train",
        "train.csv",
        "--label",
        table.label,
        "--test",
        "test.csv",
        "--model",
        "m.json",
        // As the reference; the other maps would take their time.
        "--features",
        "linear",
        "--json",
    ];
    let mut command = Command::cargo_bin("ubauc").unwrap();
    command.current_dir(dir).args(words).args(table.options);
    json(&command.output().unwrap())
}

#[test]
fn five_tables_are_learned_from_as_well_as_by_logistic_regression() {
    let Some(data) = real_data("five_tables_are_learned_from_as_well_as_by_logistic_regression")
    else {
        return;
    };
    for table in &TABLES {
        let directory = tempfile::tempdir().unwrap();
        let dir = directory.path();
        split(dir, &data, table);
        let found = train(dir, table);
        let auc = found["test_auc"]["auc"].as_f64().unwrap();
        let (file, reference) = (table.file, table.reference);
        assert_eq!(found["classes"][1], table.positive, "{file}");
        assert!(
            auc >= reference - 0.001,
            "{file}: {auc}, reference {reference}"
        );
        // The model alone judges the file, whose label it knows.
        let judged = json(&ubauc(
            dir,
            &["evaluate", "--model", "m.json", "test.csv", "--json"],
        ));
        assert_eq!(judged["auc"], found["test_auc"]["auc"], "{file}");
    }
}
