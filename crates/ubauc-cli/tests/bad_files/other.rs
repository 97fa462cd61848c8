//! What is no file of bad content: directories, devices, rights, pipes, usage, output.

use std::fs;
use std::io::Write;

use super::{refusal, ubauc};

#[test]
fn what_cannot_be_opened_is_refused_by_every_command() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    fs::create_dir(dir.join("folder")).unwrap();
    for command in [
        &["data", "show"][..],
        &["evaluate"],
        &["bound"],
        &["compare"],
    ] {
        let output = ubauc(dir, &[command, &["folder"]].concat(), b"");
        refusal(&output, "folder", "", "is a directory").unwrap();
        let output = ubauc(dir, &[command, &["none"]].concat(), b"");
        refusal(&output, "none", "", "No such file or directory").unwrap();
        let output = ubauc(dir, &[command, &["-"]].concat(), b"");
        refusal(&output, "<stdin>", "", "the file is empty").unwrap();
    }
}

#[test]
fn standard_input_is_refused_with_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let output = ubauc(dir, &["data", "show", "-"], b"1 1:1\n-1 2:1 1:1\n");
    refusal(&output, "<stdin>", ":2:8", "index 1 after 2").unwrap();
    let output = ubauc(dir, &["evaluate", "-"], b"label,score\n1,2\n0,x\n");
    refusal(&output, "<stdin>", ":3:2", "'x' in column 'score'").unwrap();
    let output = ubauc(dir, &["evaluate", "-"], b"label,score\n1,2\n");
    refusal(&output, "-", "", "one class").unwrap();
    let output = ubauc(dir, &["data", "show", "-"], b"PAR1");
    refusal(&output, "<stdin>", "", "Parquet is read from a plain file").unwrap();
}

#[cfg(unix)]
#[test]
fn unreadable_files_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("locked");
    fs::write(&path, "1 1:1\n-1 1:2\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&path).is_ok() {
        // Past the test harness, which would swallow the output of a test that passes.
        let word = b"SKIPPED: unreadable_files_are_refused: root may read every file\n";
        let _ = std::io::stderr().write_all(word);
        return;
    }
    let output = ubauc(directory.path(), &["data", "show", "locked"], b"");
    refusal(&output, "locked", "", "Permission denied").unwrap();
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_read_like_files() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let output = ubauc(dir, &["data", "show", "/dev/null"], b"");
    refusal(&output, "/dev/null", "", "the file is empty").unwrap();
    let output = ubauc(dir, &["data", "show", "/dev/zero"], b"");
    refusal(&output, "/dev/zero", "", "is not text").unwrap();

    let pipe = dir.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for (content, place, what) in [
        (&b"1 1:1\n-1 1:x\n"[..], ":2:6", "value 'x'"),
        (b"", "", "the file is empty"),
    ] {
        let written = pipe.clone();
        let writer = std::thread::spawn(move || fs::write(written, content));
        let output = ubauc(dir, &["data", "show", "pipe"], b"");
        refusal(&output, "pipe", place, what).unwrap();
        writer.join().unwrap().unwrap();
    }
}

#[test]
fn wrong_usage_is_told_from_bad_data() {
    let directory = tempfile::tempdir().unwrap();
    for arguments in [
        &["evaluate"][..],
        &["evaluate", "a", "b"],
        &["evaluate", "a", "--positive", "1", "--partition", "2"],
        &["evaluate", "a", "--format", "excel"],
        &["evaluate", "a", "--delimiter", "\""],
        &["evaluate", "a", "--max-line", "-1"],
        &["evaluate", "a", "--feature", "x"],
        &["evaluate", "a", "--weight", "w", "--roc", "out"],
        &["compare"],
        &["data", "show"],
        &["data", "shwo", "a"],
        &["--json"],
        &[],
    ] {
        let output = ubauc(directory.path(), arguments, b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_failure_leaves_no_output_file_and_keeps_an_old_one() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let names = || {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    fs::write(dir.join("bad"), "label,score\n1,2\n0,x\n").unwrap();
    let arguments = ["evaluate", "bad", "--roc", "out.csv"];
    refusal(&ubauc(dir, &arguments, b""), "bad", ":3:2", "'x'").unwrap();
    assert_eq!(names(), ["bad"]);
    fs::write(dir.join("out.csv"), "old").unwrap();
    refusal(&ubauc(dir, &arguments, b""), "bad", ":3:2", "'x'").unwrap();
    assert_eq!(fs::read(dir.join("out.csv")).unwrap(), b"old");
    assert_eq!(names(), ["bad", "out.csv"]);

    // A rate out of range is seen after the data, and before the file is written.
    fs::write(dir.join("good"), "label,score\n1,2\n0,1\n0,3\n").unwrap();
    let arguments = ["evaluate", "good", "--max-fpr", "2", "--roc", "out.csv"];
    let output = ubauc(dir, &arguments, b"");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty());
    assert_eq!(fs::read(dir.join("out.csv")).unwrap(), b"old");
    assert_eq!(names(), ["bad", "good", "out.csv"]);
}
