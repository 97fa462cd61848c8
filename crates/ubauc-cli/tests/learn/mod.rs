//! `ubauc learn`.

mod crash;
mod drift;
mod labels;
mod models;
mod outputs;
mod rivals;
mod saving;
#[cfg(unix)]
mod signals;
mod stream;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::process::{command, ubauc};
use crate::train::overlapping;

/// Runs learn on a text from standard input.
fn learn(directory: &Path, text: &str, more: &[&str]) -> Output {
    let words = [&["learn"], more].concat();
    command(directory, &words)
        .write_stdin(text)
        .output()
        .unwrap()
}

/// Runs learn on a file.
fn learn_file(directory: &Path, file: &str, more: &[&str]) -> Output {
    ubauc(directory, &[&["learn", file], more].concat())
}

/// Files of a directory, hidden ones too but for the lock, in order.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "lock")
        .collect();
    names.sort();
    names
}

/// The checkpoints of a directory, oldest first.
fn checkpoints(directory: &Path) -> Vec<PathBuf> {
    let names = names(directory);
    let of_learn = names.iter().filter(|name| name.ends_with(".ubauc"));
    of_learn.map(|name| directory.join(name)).collect()
}

/// A directory with `x.svm` of this many rows, and the model `whole.json` of one run over it.
fn learned(rows: u64, more: &[&str]) -> (tempfile::TempDir, String) {
    let text = overlapping(rows, 9);
    let directory = crate::process::directory_with(&[("x.svm", &text)]);
    let words = [&["--model", "whole.json"], more].concat();
    crate::process::success(&learn_file(directory.path(), "x.svm", &words));
    (directory, text)
}

#[track_caller]
fn same_file(directory: &Path, one: &str, other: &str) {
    let read = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
    assert!(read(one) == read(other), "{one} and {other} differ");
}
