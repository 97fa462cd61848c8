//! `ubauc data`. If it downloads, it goes to `fetch`; if it writes made-up data, to `generate`.

#[cfg(feature = "download")]
mod fetch;
mod generate;
mod list;
#[cfg(feature = "download")]
mod server;

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

/// Runs `ubauc data` with these arguments in a directory.
fn ubauc_data(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("ubauc").unwrap();
    for proxy in [
        "http_proxy",
        "HTTP_PROXY",
        "all_proxy",
        "ALL_PROXY",
        "UBAUC_DATA",
    ] {
        command.env_remove(proxy);
    }
    command
        .current_dir(directory)
        .arg("data")
        .args(arguments)
        .timeout(std::time::Duration::from_secs(60))
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Standard output of a command that must have gone well.
#[track_caller]
fn success(output: &Output) -> &str {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output)
}

/// Standard error of a command that must have failed, not by wrong usage.
#[track_caller]
fn failure(output: &Output) -> &str {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    stderr(output)
}

/// All files below a directory, sorted, with `/`.
fn files(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap().to_str().unwrap();
                found.push(name.replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}
