//! Running the program: a directory of files, a command, and what it said.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// A temporary directory with these files in it.
pub(crate) fn directory_with(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    directory
}

/// The program in a directory, without what the environment might tell it.
pub(crate) fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("ubauc").unwrap();
    for variable in [
        "http_proxy",
        "HTTP_PROXY",
        "all_proxy",
        "ALL_PROXY",
        "UBAUC_DATA",
        "RAYON_NUM_THREADS",
    ] {
        command.env_remove(variable);
    }
    command
        .current_dir(directory)
        .args(arguments)
        .timeout(Duration::from_secs(300));
    command
}

/// Runs the program in a directory.
pub(crate) fn ubauc(directory: &Path, arguments: &[&str]) -> Output {
    command(directory, arguments).output().unwrap()
}

pub(crate) fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

pub(crate) fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Standard output of a command that must have gone well.
#[track_caller]
pub(crate) fn success(output: &Output) -> &str {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output)
}

/// Standard error of a command that must have failed, not by wrong usage.
#[track_caller]
pub(crate) fn failure(output: &Output) -> &str {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    stderr(output)
}

/// Standard error of a command that must have been refused as wrong usage.
#[track_caller]
pub(crate) fn wrong_usage(output: &Output) -> &str {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(stdout(output), "");
    stderr(output)
}

/// The one JSON object, on one line, that must be all of standard output.
#[track_caller]
pub(crate) fn json(output: &Output) -> Value {
    let text = success(output);
    assert_eq!(text.matches('\n').count(), 1, "{text}");
    let value: Value = serde_json::from_str(text).unwrap();
    assert!(value.is_object(), "{text}");
    value
}

/// The names in a JSON object, in alphabetical order.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    keys
}

/// The folder of the real data sets, or a line that says which test is skipped.
pub(crate) fn real_data(test: &str) -> Option<PathBuf> {
    let dir = std::env::var_os("UBAUC_DATA").map(PathBuf::from);
    if dir.is_none() {
        // Past the test harness, which would swallow the output of a test that passes.
        let word = format!("SKIPPED: {test} needs real data; set UBAUC_DATA to their folder\n");
        let _ = std::io::Write::write_all(&mut std::io::stderr(), word.as_bytes());
    }
    dir
}
