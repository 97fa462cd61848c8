use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use super::{failure, files, stderr, stdout, success, ubauc_data, wrong_usage};

const SMALL: [&str; 5] = ["generate", "--rows", "200", "--positive-share", "0.1"];

/// 200 rows of 5 features, unless asked otherwise.
fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let dim: &[&str] = if more.contains(&"--dim") {
        &[]
    } else {
        &["--dim", "5"]
    };
    [&SMALL, dim, more].concat()
}

#[test]
fn svmlight_file_has_the_asked_rows_and_positives() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let output = ubauc_data(dir, &small(&["--output", "x.svm", "--density", "0.5"]));
    assert!(
        success(&output).contains("positives       20 (10.000 %)"),
        "{}",
        stdout(&output)
    );
    assert_eq!(stderr(&output), "");
    let text = fs::read_to_string(dir.join("x.svm")).unwrap();
    assert_eq!(text.lines().count(), 200);
    assert_eq!(
        text.lines().filter(|line| line.starts_with("+1")).count(),
        20
    );
    for line in text.lines() {
        let mut last = 0;
        for field in line.split(' ').skip(1) {
            let (index, value) = field.split_once(':').unwrap();
            let index: u32 = index.parse().unwrap();
            assert!(index > last && index <= 5, "{line}");
            assert!(value.parse::<f64>().unwrap().is_finite(), "{line}");
            last = index;
        }
    }
    assert_eq!(files(dir), ["x.svm"]);
}

#[test]
fn csv_file_has_a_header_and_full_rows() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    success(&ubauc_data(
        dir,
        &small(&["--output", "x.csv", "--density", "0.5"]),
    ));
    let text = fs::read_to_string(dir.join("x.csv")).unwrap();
    assert_eq!(text.lines().next(), Some("label,x1,x2,x3,x4,x5"));
    assert_eq!(text.lines().count(), 201);
    assert!(text.lines().all(|line| line.split(',').count() == 6));
}

#[test]
fn what_is_written_is_read_back() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let mut columns = Vec::new();
    for name in ["x.svm", "x.csv"] {
        success(&ubauc_data(dir, &small(&["-o", name, "--density", "0.5"])));
        let examples = ubauc::read::read(&dir.join(name), &Default::default()).unwrap();
        assert_eq!(examples.notices, [""; 0]);
        let data = examples.binary(&Default::default()).unwrap();
        assert_eq!(
            (data.n_pos(), data.n_neg(), data.rows().cols()),
            (20, 180, 5)
        );
        columns.push((0..5).map(|j| data.rows().column(j)).collect::<Vec<_>>());
    }
    assert_eq!(columns[0], columns[1]);
}

#[test]
fn seed_gives_the_same_bytes_to_file_and_standard_output() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    success(&ubauc_data(dir, &small(&["-o", "x.svm", "--seed", "7"])));
    let text = fs::read_to_string(dir.join("x.svm")).unwrap();
    let same = ubauc_data(dir, &small(&["-o", "-", "--seed", "7"]));
    assert_eq!(success(&same), text);
    assert!(stderr(&same).contains("rows            200"));
    let other = ubauc_data(dir, &small(&["-o", "-", "--seed", "8"]));
    assert_ne!(success(&other), text);
    let other = ubauc_data(dir, &small(&["-o", "-", "--seed", "7", "--sample", "1"]));
    assert_ne!(success(&other), text);
}

#[test]
fn json_report_counts_what_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let output = ubauc_data(dir, &small(&["-o", "x.svm", "--json"]));
    let report: serde_json::Value = serde_json::from_str(success(&output)).unwrap();
    assert_eq!(report["rows"], 200);
    assert_eq!(report["positives"], 20);
    assert_eq!(report["stored_entries"], 1000);
    assert_eq!(
        report["bytes"],
        fs::metadata(dir.join("x.svm")).unwrap().len()
    );
    assert_eq!(report["format"], "svmlight");
}

#[test]
fn quiet_says_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let output = ubauc_data(directory.path(), &small(&["-o", "x.svm", "--quiet"]));
    assert_eq!((success(&output), stderr(&output)), ("", ""));
}

#[test]
fn reader_that_has_had_enough_ends_it_quietly() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_ubauc"))
        .current_dir(directory.path())
        .args(["data", "generate", "--rows", "1000000", "-o", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    // Dropped at the end of the statement, which closes the pipe: what `head -1` does.
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    assert!(
        first.starts_with("-1 1:") || first.starts_with("+1 1:"),
        "{first}"
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
}

#[test]
fn bad_requests_leave_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    for (more, why) in [
        (
            &["-o", "x.svm", "--auc", "0.4"][..],
            "auc = 0.4: must be at least 0.5",
        ),
        (
            &["-o", "x.svm", "--density", "0"],
            "density = 0: must be above 0",
        ),
        (&["-o", "-", "--json"], "name a file"),
    ] {
        let output = ubauc_data(dir, &small(more));
        assert!(wrong_usage(&output).contains(why), "{}", stderr(&output));
    }
    for (more, why) in [
        (&["-o", "x.svm.gz"][..], "--output - | gzip > x.svm.gz"),
        (
            &["-o", "x.csv", "--dim", "600000", "--density", "0.01"],
            "use --format svmlight",
        ),
        (&["-o", "none/x.svm"], "none/x.svm: cannot be written"),
        (&["-o", "."], "directory"),
    ] {
        let output = ubauc_data(dir, &small(more));
        assert!(failure(&output).contains(why), "{}", stderr(&output));
    }
    assert_eq!(files(dir), [""; 0]);
}
