//! `docs/paper.md` names tests and files: they exist, and no test of the paper is left out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const PAPER: &str = include_str!("../../../../docs/paper.md");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// Everything between back quotes.
fn quoted() -> impl Iterator<Item = &'static str> {
    PAPER.split('`').skip(1).step_by(2)
}

/// Names of test functions start with the place in the paper.
fn is_test_name(word: &str) -> bool {
    let places = ["e", "eq", "lemma", "theorem", "figure"];
    let numbered = places.iter().any(|place| {
        let number = word
            .strip_prefix(place)
            .and_then(|rest| rest.split_once('_'));
        number.is_some_and(|(n, _)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    });
    numbered || word.starts_with("svm_chain_")
}

/// Functions under `#[test]` in tests/paper, and for the online step in tests/online.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let folder = |name: &str| std::fs::read_dir(root().join(name)).expect("the tests' folder");
    for entry in folder("tests/paper").chain(folder("tests/online")) {
        let path = entry.expect("an entry").path();
        let source = std::fs::read_to_string(&path).expect("a source file");
        for after in source.split("#[test]").skip(1) {
            let name = after
                .trim_start()
                .strip_prefix("fn ")
                .and_then(|rest| rest.split('(').next());
            names.extend(name.filter(|name| is_test_name(name)).map(str::to_owned));
        }
    }
    names
}

#[test]
fn every_test_named_exists_and_every_test_is_named() {
    let named: BTreeSet<String> = quoted()
        .filter(|word| is_test_name(word))
        .map(str::to_owned)
        .collect();
    assert_eq!(named, tests());
}

#[test]
fn every_file_named_exists() {
    let files: Vec<&str> = quoted().filter(|word| word.ends_with(".rs")).collect();
    for part in [
        "auc_risk",
        "univariate",
        "svm",
        "ubauc",
        "population",
        "pairwise",
    ] {
        assert!(
            files.contains(&format!("src/objective/{part}.rs").as_str()),
            "{part} is not named"
        );
    }
    for file in files {
        assert!(root().join(file).is_file(), "docs/paper.md names {file}");
    }
}

#[test]
fn every_erratum_has_its_section_and_its_test() {
    for k in 1..=14 {
        let section = PAPER
            .split("\n### ")
            .find(|part| part.starts_with(&format!("E{k} ")));
        let section = section.unwrap_or_else(|| panic!("docs/paper.md has no section E{k}"));
        assert!(
            section.contains(&format!("`e{k:02}_")),
            "E{k} names no test"
        );
    }
}

#[test]
fn every_key_cited_is_in_the_bibliography() {
    let (text, bibliography) = PAPER
        .split_once("\n## Bibliography")
        .expect("a bibliography");
    for word in text
        .split('[')
        .skip(1)
        .filter_map(|rest| rest.split(']').next())
    {
        let is_key = word.len() > 4
            && word.ends_with(|c: char| c.is_ascii_digit())
            && word.starts_with(|c: char| c.is_ascii_uppercase())
            && word.bytes().all(|b| b.is_ascii_alphanumeric());
        assert!(
            !is_key || bibliography.contains(&format!("- [{word}]")),
            "[{word}]"
        );
    }
}
