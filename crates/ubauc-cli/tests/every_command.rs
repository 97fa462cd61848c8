//! What all commands have in common: their options, their exit codes, the same answer for any
//! number of threads.

use std::fmt::Write as _;

use crate::process::{command, stdout, success, ubauc, wrong_usage};

const COMMANDS: [&[&str]; 15] = [
    &["demo"],
    &["train"],
    &["predict"],
    &["learn"],
    &["evaluate"],
    &["explain"],
    &["report"],
    &["compare"],
    &["bound"],
    &["tune"],
    &["reproduce"],
    &["data", "show"],
    &["data", "list"],
    &["data", "fetch"],
    &["data", "generate"],
];

#[test]
fn every_command_has_the_common_options() {
    let directory = tempfile::tempdir().unwrap();
    for words in COMMANDS {
        let output = ubauc(directory.path(), &[words, &["--help"]].concat());
        let help = success(&output);
        for option in [
            "--json",
            "--markdown",
            "--html",
            "--quiet",
            "--seed <N>",
            "--threads <N>",
            "-h, --help",
        ] {
            assert!(help.contains(option), "{words:?}: {option}: {help}");
        }
    }
}

#[test]
fn help_names_parquet_where_it_is_read() {
    let directory = tempfile::tempdir().unwrap();
    for words in COMMANDS {
        let output = ubauc(directory.path(), &[words, &["--help"]].concat());
        let help = success(&output);
        let reads = help.contains("svmlight indices");
        let named = help.to_lowercase().contains("parquet");
        assert_eq!(
            named,
            reads && cfg!(feature = "parquet"),
            "{words:?}: {help}"
        );
    }
}

#[test]
fn common_options_stand_before_the_command_too() {
    let directory = tempfile::tempdir().unwrap();
    let before = ubauc(
        directory.path(),
        &["--json", "--seed", "3", "--threads", "2", "demo"],
    );
    let after = ubauc(
        directory.path(),
        &["demo", "--json", "--seed", "3", "--threads", "2"],
    );
    assert_eq!(success(&before), success(&after));
}

#[test]
fn reports_are_text_markdown_or_html() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    std::fs::write(dir.join("x.csv"), "label,score\n<b>,1\n<b>,3\na|c,2\n").unwrap();
    let evaluate = |option: &[&str]| {
        let output = ubauc(dir, &[&["evaluate", "x.csv", "--quiet"], option].concat());
        success(&output).to_string()
    };
    assert!(evaluate(&[]).contains("\npositive        1 (class a|c)\n"));
    let page = evaluate(&["--markdown"]);
    assert!(page.starts_with("| fact | value |\n| :-- | :-- |\n| AUC | 0.500000 |\n"));
    assert!(
        page.contains("\n| positive | 1 (class a\\|c) |\n"),
        "{page}"
    );
    assert!(page.contains("(class &lt;b&gt;)"), "{page}");
    let page = evaluate(&["--html"]);
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(
        page.contains("(class &lt;b&gt;)") && !page.contains("<b>"),
        "{page}"
    );
    for both in [["--json", "--html"], ["--html", "--markdown"]] {
        let words = [&["evaluate", "x.csv"][..], &both].concat();
        assert!(wrong_usage(&ubauc(dir, &words)).contains("cannot be used with"));
    }
}

#[test]
fn wrong_words_are_wrong_usage() {
    let directory = tempfile::tempdir().unwrap();
    for words in [
        &["demonstrate"][..],
        &["data", "eat"],
        &["--jsn"],
        &["demo", "file"],
        &[],
    ] {
        assert!(
            wrong_usage(&ubauc(directory.path(), words)).contains("Usage: ubauc"),
            "{words:?}"
        );
    }
    for words in [&["--help"], &["--version"]] {
        assert!(
            success(&ubauc(directory.path(), words)).contains("ubauc"),
            "{words:?}"
        );
    }
}

/// Rows enough for several threads, with ties: label, two scores and a weight.
fn rows(n: u64) -> Vec<[u64; 4]> {
    let mut state = 1_u64;
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    (0..n)
        .map(|_| {
            let label = u64::from(next(10) == 0);
            [label, next(1000) + 100 * label, next(100_000), next(7)]
        })
        .collect()
}

#[test]
fn number_of_threads_changes_no_byte() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let (mut csv, mut svmlight) = ("label,a,b,w\n".to_string(), String::new());
    for [label, a, b, w] in rows(60_000) {
        writeln!(csv, "{label},{a},{b},{w}").unwrap();
        writeln!(svmlight, "{label} 1:{a} 2:{b}").unwrap();
    }
    std::fs::write(dir.join("x.csv"), csv).unwrap();
    std::fs::write(dir.join("x.svm"), svmlight).unwrap();
    for words in [
        &["evaluate", "x.csv", "--score", "a", "--max-fpr", "0.1"][..],
        &["evaluate", "x.csv", "--score", "b", "--weight", "w"],
        &["evaluate", "x.svm", "--feature", "2", "--min-tpr", "0.9"],
        &["evaluate", "x.csv", "--score", "a", "--roc", "-"],
        &["compare", "x.csv", "--score", "a,b,w"],
        &["bound", "x.csv", "--score", "b"],
        &["demo"],
    ] {
        let formats: &[&[&str]] = match words.contains(&"--roc") {
            true => &[&[]],
            false => &[&["--json"], &[]],
        };
        for format in formats {
            let run = |n: &str| ubauc(dir, &[words, format, &["--threads", n]].concat());
            let one = run("1");
            success(&one);
            for n in ["2", "8", "0"] {
                assert_eq!(run(n), one, "{words:?} with {n} threads");
            }
        }
    }
}

#[test]
fn quiet_changes_nothing_on_standard_output() {
    let directory = tempfile::tempdir().unwrap();
    let text = "label,score\n1,2\n1,3\n0,0\n0,1\n";
    for words in [
        &["evaluate", "-"][..],
        &["bound", "-"],
        &["data", "show", "-"],
    ] {
        let run = |more: &[&str]| {
            let arguments = [words, more].concat();
            command(directory.path(), &arguments)
                .write_stdin(text)
                .output()
                .unwrap()
        };
        let quiet = run(&["--quiet"]);
        assert_eq!(success(&quiet), stdout(&run(&[])), "{words:?}");
        assert!(quiet.stderr.is_empty(), "{words:?}");
    }
}
