//! What is asked for, and experiments that make no sense.

use std::fs;

use super::{
    LOGISTIC, OPAUC, PROTOCOL, SETS, SVM, cells, classes, experiment, put, reproduce, results,
    table2,
};
use crate::process::{failure, json, keys, stderr, stdout, success, ubauc, wrong_usage};

#[test]
fn only_what_is_asked_for_is_made() {
    let directory = experiment(&table2());
    let dir = directory.path();
    let asked = [
        "--datasets",
        "parts",
        "--algorithms",
        "logistic,svm",
        "--json",
    ];
    let table = json(&reproduce(dir, "table2", &asked));
    assert_eq!(keys(&cells(dir)), ["parts/logistic", "parts/svm"]);
    // In the order of the table.
    assert_eq!(table["columns"], serde_json::json!(["svm", "logistic"]));
    assert_eq!(table["datasets"], serde_json::json!(["parts"]));
    // Files have the whole table; data that were not asked for are not missing.
    let csv = fs::read_to_string(dir.join("r/table2.csv")).unwrap();
    assert_eq!(csv.lines().count(), 7, "{csv}");
    assert_eq!(csv.matches("not run").count(), 4, "{csv}");
    assert!(!csv.contains("no data"), "{csv}");
}

#[test]
fn unknown_names_are_wrong_usage() {
    let directory = experiment(&table2());
    let dir = directory.path();
    for table in ["table2", "table3"] {
        for (option, known) in [
            ("--datasets", "halves, parts"),
            ("--algorithms", "svm, one pass"),
        ] {
            let output = reproduce(dir, table, &[option, "parts,nope"]);
            let text = wrong_usage(&output);
            let unknown = if option == "--datasets" {
                "nope"
            } else {
                "parts"
            };
            assert!(text.contains(&format!("{option} {unknown}")), "{text}");
            assert!(text.contains(known), "{text}");
        }
    }
    assert!(wrong_usage(&reproduce(dir, "table1", &["--datasets", "x"])).contains("--datasets x"));
    assert!(!dir.join("r").exists(), "made a directory for nothing");
    for words in [
        &["reproduce"][..],
        &["reproduce", "table4"],
        &["reproduce", "table2", "--runs", "0"],
        &["reproduce", "table2", "--runs", "-1"],
        &["reproduce", "table2", "--time-limit", "-1"],
        &["reproduce", "table2", "--time-limit", "NaN"],
        &["reproduce", "table2", "--time-limit", "soon"],
        &["reproduce", "table2", "--partition", "x"],
    ] {
        wrong_usage(&ubauc(dir, words));
    }
}

#[test]
fn options_that_would_change_nothing_are_refused() {
    let directory = experiment(&table2());
    for (table, options) in [
        (
            "table1",
            &[
                "--runs=2",
                "--folds",
                "--algorithms=svm",
                "--time-limit=1",
                "--fresh",
            ][..],
        ),
        ("table3", &["--runs=2", "--folds"]),
    ] {
        for option in options {
            let output = reproduce(directory.path(), table, &[option]);
            let name = option.split('=').next().unwrap();
            assert!(wrong_usage(&output).contains(&format!("{name} is for")));
        }
    }
}

#[test]
fn a_missing_set_leaves_its_cells_empty() {
    let gone = "[[datasets]]\nname = \"gone\"\n";
    let directory = experiment(&[PROTOCOL, SETS, gone, OPAUC].concat());
    let dir = directory.path();
    for table in ["table1", "table2", "table3"] {
        let output = reproduce(dir, table, &[]);
        success(&output);
        let note = stderr(&output);
        assert_eq!(
            note.matches("note: gone is not in data").count(),
            1,
            "{note}"
        );
        let output = reproduce(dir, table, &["--datasets", "gone"]);
        assert_eq!(stdout(&output), "");
        assert!(failure(&output).contains("no data set of the table is in data"));
    }
    assert_eq!(keys(&cells(dir)), ["halves/one pass", "parts/one pass"]);
    let table = json(&reproduce(dir, "table2", &["--json"]));
    let cell = &table["cells"][2];
    assert_eq!(
        (&cell["dataset"], &cell["note"]),
        (&"gone".into(), &"no data".into())
    );
    assert!(cell["mean"].is_null() && cell["runs"] == 0, "{cell}");
    let words = [
        "reproduce",
        "table2",
        "--config",
        "t.toml",
        "--data",
        "none",
    ];
    assert!(failure(&ubauc(dir, &words)).contains("is in none"));
}

#[test]
fn a_stand_in_is_taken_and_told() {
    let set = "[[datasets]]\nname = \"gone\"\nstand_in = \"parts\"\n";
    let directory = experiment(&[PROTOCOL, set, SVM].concat());
    let dir = directory.path();
    success(&reproduce(dir, "table2", &[]));
    assert_eq!(cells(dir)["gone/svm"]["settings"]["data"]["set"], "parts");
    let sizes = json(&reproduce(dir, "table1", &["--json"]));
    assert_eq!(sizes["sizes"][0]["note"], "parts stands in");
}

/// Each with what the message must name.
#[test]
fn protocols_without_sense_are_refused_by_place() {
    let protocol = |from: &str, to: &str| table2().replace(from, to);
    let cases: Vec<(String, &[&str])> = vec![
        (String::new(), &["t.toml", "protocol"]),
        ("{".to_string(), &["t.toml"]),
        (format!("more = 1\n{}", table2()), &["t.toml", "more"]),
        (protocol("seed = 1", "seed = 1\nsed = 2"), &["sed"]),
        (protocol("runs = 3", "runs = 0"), &["runs = 0"]),
        (protocol("runs = 3", "runs = -3"), &["runs"]),
        (protocol("share = 0.8", "share = 0.0"), &["share = 0"]),
        (protocol("share = 0.8", "share = 1.5"), &["share = 1.5"]),
        (protocol("share = 0.8", "share = nan"), &["share = NaN"]),
        (
            protocol("validation = 0.2", "validation = 1.0"),
            &["validation = 1"],
        ),
        (protocol("seed = 1", "seed = 1\nfolds = 0"), &["folds = 0"]),
        (protocol("seed = 1", "seed = 1\nfolds = 1"), &["folds = 1"]),
        (protocol("\"maxabs\"", "\"big\""), &["big"]),
        (protocol("\"parts\"", "\"../parts\""), &["../parts"]),
        (protocol("\"parts\"", "\"\""), &["''"]),
        (
            protocol("\"parts\"", "\"halves\""),
            &["two data sets", "'halves'"],
        ),
        (
            protocol("\"one pass\"", "\"svm\""),
            &["two columns", "'svm'"],
        ),
    ];
    refused(cases);
    let directory = experiment("");
    let dir = directory.path();
    let words = [
        "reproduce",
        "table2",
        "--config",
        "no.toml",
        "--data",
        "data",
    ];
    assert!(failure(&ubauc(dir, &words)).contains("no.toml"));
}

#[test]
fn columns_without_sense_are_refused_by_name() {
    let column = |text: &str| format!("{PROTOCOL}{SETS}[[columns]]\nname = \"mine\"\n{text}\n");
    refused(vec![
        (column("algorithm = \"nope\""), &["column 'mine'", "'nope'"]),
        (column("algorithm = \"SVM\""), &["column 'mine'", "'SVM'"]),
        (column(""), &["algorithm"]),
        (column("algorithm = \"svm\"\nC = 1"), &["C"]),
        (
            column("algorithm = \"svm\"\ngrid = { beta = [1.0] }"),
            &["column 'mine'", "svm has no parameter 'beta'"],
        ),
        (
            column("algorithm = \"opauc\"\nfixed = { tau = 1.5 }"),
            &["column 'mine'", "'tau' of value 1.5"],
        ),
        (
            column("algorithm = \"oam-seq\"\nfixed = { passes = -1 }"),
            &["column 'mine'", "'passes'"],
        ),
        (
            column("algorithm = \"svm\"\ngrid = { C = [] }"),
            &["column 'mine'", "'C' has no values"],
        ),
        (
            column("algorithm = \"svm\"\ngrid = { C = [1.0, -1.0] }"),
            &["column 'mine'", "C = -1"],
        ),
        (
            column("algorithm = \"svm\"\ngrid = { C = [nan] }"),
            &["column 'mine'", "C = NaN"],
        ),
        (
            column("algorithm = \"svm\"\nleast_squares = \"odd\""),
            &["odd"],
        ),
    ]);
}

/// Every table refuses these experiments in words that hold those.
fn refused(cases: Vec<(String, &[&str])>) {
    let directory = experiment("");
    let dir = directory.path();
    for (config, named) in cases {
        put(dir, "t.toml", &config);
        for table in ["table1", "table2", "table3"] {
            let output = reproduce(dir, table, &[]);
            let code = output.status.code();
            assert!(matches!(code, Some(1 | 2)), "{config}: {output:?}");
            assert_eq!(stdout(&output), "");
            let text = stderr(&output);
            assert!(text.starts_with("ubauc: t.toml"), "{config}: {text}");
            for name in named {
                assert!(text.contains(name), "{config}: {name}: {text}");
            }
        }
    }
}

#[test]
fn the_experiments_of_the_program_are_sound() {
    let directory = tempfile::tempdir().unwrap();
    for table in ["table1", "table2", "table3"] {
        // Past the check of its own file, to the data that are not there.
        let words = ["reproduce", table, "--data", "none", "--results", "r"];
        let output = ubauc(directory.path(), &words);
        assert!(failure(&output).contains("no data set of the table is in none"));
    }
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let directory = experiment(&[PROTOCOL, SETS, OPAUC].concat());
    let dir = directory.path();
    put(dir, "r", "a file");
    for table in ["table1", "table2", "table3"] {
        let text = failure(&reproduce(dir, table, &[])).to_string();
        assert!(text.contains("cannot make"), "{text}");
    }
    assert_eq!(fs::read_to_string(dir.join("r")).unwrap(), "a file");
}

#[test]
fn data_that_cannot_be_learned_from_are_named() {
    let directory = experiment(&table2());
    let dir = directory.path();
    for (text, word) in [("1 1:1\n1 1:2\n", "class"), ("1 1:x\n", ":1:")] {
        put(dir, "data/halves/all.svm", text);
        let output = reproduce(dir, "table2", &[]);
        let said = failure(&output);
        assert!(said.contains("data/halves/all.svm"), "{said}");
        assert!(said.contains(word), "{said}");
    }
}

#[test]
fn a_cell_that_fails_is_reported_and_the_others_are_made() {
    let wild = "[[columns]]\nname = \"wild\"\nalgorithm = \"opauc\"\nfixed = { eta = 1e300, lambda = 1.0 }\n";
    let directory = experiment(&[PROTOCOL, SETS, wild, LOGISTIC].concat());
    let dir = directory.path();
    let output = reproduce(dir, "table2", &[]);
    let text = failure(&output);
    assert!(
        text.contains("2 cells failed: halves/wild, parts/wild"),
        "{text}"
    );
    assert!(text.contains("warning: halves/wild: "), "{text}");
    assert_eq!(keys(&cells(dir)), ["halves/logistic", "parts/logistic"]);
    let csv = fs::read_to_string(dir.join("r/table2.csv")).unwrap();
    assert_eq!(csv.matches("finite weights").count(), 2, "{csv}");
}

#[test]
fn partition_counts_in_table3_too() {
    let set = "[[datasets]]\nname = \"many\"\n";
    let directory = experiment(&[PROTOCOL, SETS, set, OPAUC].concat());
    let dir = directory.path();
    put(dir, "data/many/all.svm", &classes(60, &[1, 2, 3, 4]));
    success(&reproduce(dir, "table3", &["--partition", "7"]));
    let state = results(dir, "table3.json");
    for (key, cell) in state["cells"].as_object().unwrap() {
        let partition = &cell["settings"]["data"]["partition"];
        // Two classes need no halves, and are not recomputed for others.
        let expected = if key.starts_with("many") {
            7.into()
        } else {
            serde_json::Value::Null
        };
        assert_eq!(*partition, expected, "{key}");
    }
}
