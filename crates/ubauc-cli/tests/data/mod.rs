//! `ubauc data`. If it downloads, it goes to `fetch`; if it writes made-up data, to `generate`.

#[cfg(feature = "download")]
mod fetch;
mod generate;
mod list;
#[cfg(feature = "download")]
mod server;

use std::path::Path;
use std::process::Output;

use crate::process::{failure, stderr, stdout, success, ubauc, wrong_usage};

/// Runs `ubauc data` with these arguments in a directory.
fn ubauc_data(directory: &Path, arguments: &[&str]) -> Output {
    ubauc(directory, &[&["data"], arguments].concat())
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
