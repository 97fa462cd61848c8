//! `ubauc reproduce`: small tables of made-up data sets, stopped and gone on with.

mod config;
mod consistency;
mod coverage;
mod files;
mod protocol;
mod resume;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::process::ubauc;
use crate::train::overlapping;

const PROTOCOL: &str = "[protocol]\nruns = 3\nshare = 0.8\nvalidation = 0.2\nseed = 1\npartition = 1\n\
                        scale = \"maxabs\"\n";
const SETS: &str =
    "[[datasets]]\nname = \"halves\"\n[[datasets]]\nname = \"parts\"\nnote = \"a note\"\n";
const SVM: &str = "[[columns]]\nname = \"svm\"\nalgorithm = \"svm\"\ngrid = { C = [0.1, 1.0] }\n";
const OPAUC: &str = "[[columns]]\nname = \"one pass\"\nalgorithm = \"opauc\"\nfixed = { passes = 1 }\n\
                     grid = { eta = [0.01, 0.1], lambda = [1e-4] }\n";
const LOGISTIC: &str =
    "[[columns]]\nname = \"logistic\"\nalgorithm = \"logistic\"\ngrid = { gamma = [1e-4] }\n";

fn table2() -> String {
    [PROTOCOL, SETS, SVM, OPAUC, LOGISTIC].concat()
}

/// A directory with the two data sets and `t.toml`.
fn experiment(config: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    put(dir, "data/halves/all.svm", &overlapping(160, 3));
    let rows = overlapping(240, 4);
    let (train, test) =
        rows.split_at(rows.len() / 2 + rows[rows.len() / 2..].find('\n').unwrap() + 1);
    put(dir, "data/parts/train.svm", train);
    put(dir, "data/parts/test.svm", test);
    put(dir, "t.toml", config);
    directory
}

fn put(dir: &Path, file: &str, text: &str) {
    let path = dir.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The words of a table of the experiment.
fn words<'a>(table: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let given = ["--config", "t.toml", "--data", "data", "--results", "r"];
    [&["reproduce", table], &given[..], more].concat()
}

fn reproduce(dir: &Path, table: &str, more: &[&str]) -> Output {
    ubauc(dir, &words(table, more))
}

fn results(dir: &Path, file: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(dir.join("r").join(file)).unwrap()).unwrap()
}

fn cells(dir: &Path) -> Value {
    results(dir, "table2.json")["cells"].clone()
}

/// Without what differs from time to time.
fn timeless(mut cells: Value) -> Value {
    for cell in cells.as_object_mut().unwrap().values_mut() {
        let cell = cell.as_object_mut().unwrap();
        cell.remove("seconds");
        cell.remove("origins");
    }
    cells
}

/// Writes an AUC into every run of every cell that no run would lead to.
fn mark(dir: &Path) {
    let mut state = results(dir, "table2.json");
    for cell in state["cells"].as_object_mut().unwrap().values_mut() {
        for auc in cell["auc"].as_array_mut().unwrap() {
            *auc = MARK.into();
        }
    }
    put(dir, "r/table2.json", &state.to_string());
}

const MARK: f64 = 0.123_456;

/// Runs of a cell that still have the mark, and all of them.
fn marked(dir: &Path, key: &str) -> (usize, usize) {
    let cells = cells(dir);
    let auc = cells[key]["auc"].as_array().unwrap();
    (auc.iter().filter(|auc| **auc == MARK).count(), auc.len())
}

/// A data set of this many classes, each with a feature of its own.
fn classes(rows: usize, of: &[usize]) -> String {
    let mut text = String::new();
    for i in 0..rows {
        let class = of[i % of.len()];
        writeln!(text, "{class} {class}:1 9:0.{}", i % 7).unwrap();
    }
    text
}
