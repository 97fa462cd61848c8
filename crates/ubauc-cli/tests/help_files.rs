//! `ubauc completions`, `ubauc man` and `--version`: made from what the program knows of itself.

use std::fs;
use std::path::Path;

use crate::process::{directory_with, failure, success, ubauc, wrong_usage};

const COMMANDS: [&str; 6] = [
    "train",
    "evaluate",
    "compare",
    "predict",
    "learn",
    "reproduce",
];

#[test]
fn completions_name_every_command_and_its_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = ubauc(Path::new("."), &["completions", shell]);
        let script = success(&output);
        for word in COMMANDS.iter().chain(&["at-fpr", "interval"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    wrong_usage(&ubauc(Path::new("."), &["completions", "cmd"]));
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let page = ubauc(Path::new("."), &["man"]);
    assert!(success(&page).contains(".TH ubauc 1"), "{}", success(&page));
    let directory = directory_with(&[]);
    success(&ubauc(directory.path(), &["man", "--output", "share/man1"]));
    let read =
        |name: &str| fs::read_to_string(directory.path().join("share/man1").join(name)).unwrap();
    for command in COMMANDS {
        let page = read(&format!("ubauc-{command}.1"));
        assert!(page.contains(".SH OPTIONS"), "{command}");
    }
    assert!(read("ubauc-data-generate.1").contains("seed"));
    assert!(read("ubauc-evaluate.1").contains("recall"));
}

#[test]
fn a_manual_that_cannot_be_written_is_a_failure() {
    let directory = directory_with(&[("file", "")]);
    let output = ubauc(directory.path(), &["man", "--output", "file/man1"]);
    assert!(failure(&output).contains("file/man1"));
}

#[test]
fn the_version_has_the_commit_where_there_is_one() {
    let output = ubauc(Path::new("."), &["--version"]);
    let text = success(&output).trim();
    let number = concat!("ubauc ", env!("CARGO_PKG_VERSION"));
    let rest = text.strip_prefix(number).unwrap();
    let commit = rest
        .strip_prefix(" (")
        .and_then(|rest| rest.strip_suffix(')'));
    let of_git = |text: &str| {
        let hash = text.strip_suffix("-dirty").unwrap_or(text);
        hash.len() >= 12 && hash.bytes().all(|b| b.is_ascii_hexdigit())
    };
    assert!(rest.is_empty() || commit.is_some_and(of_git), "{text}");
}
