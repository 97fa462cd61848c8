//! Bad files, each with the one message it must give: exit code 1, nothing on standard output, the
//! place where there is one. New cases go to the table of their format; files too large to keep
//! in a table to `large`, what is no bad content to `other`.

mod archives;
mod csv;
mod good;
mod large;
mod other;
mod svmlight;

use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use assert_cmd::Command;

/// Nothing here may take longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// One bad file.
struct Case {
    /// Its name, which tells the format where it has an ending for that.
    file: &'static str,
    content: Vec<u8>,
    /// What is typed, the name among it.
    arguments: Vec<&'static str>,
    /// `:line:column`, or empty where the file as a whole is wrong.
    place: &'static str,
    /// What the message must say.
    what: &'static str,
}

/// `ubauc data show FILE` must refuse this content.
fn show(
    file: &'static str,
    content: impl AsRef<[u8]>,
    place: &'static str,
    what: &'static str,
) -> Case {
    Case {
        file,
        content: content.as_ref().to_vec(),
        arguments: vec!["data", "show", file],
        place,
        what,
    }
}

/// `ubauc evaluate FILE` must refuse this content.
fn evaluate(
    file: &'static str,
    content: impl AsRef<[u8]>,
    place: &'static str,
    what: &'static str,
) -> Case {
    Case {
        arguments: vec!["evaluate", file],
        ..show(file, content, place, what)
    }
}

impl Case {
    /// With more options.
    fn and(mut self, more: &[&'static str]) -> Case {
        self.arguments.extend(more);
        self
    }

    /// With another command line altogether.
    fn typed(self, arguments: &[&'static str]) -> Case {
        let arguments = arguments.to_vec();
        Case { arguments, ..self }
    }
}

/// Runs every case, with and without `--json`, and tells all that went wrong.
#[track_caller]
fn check(cases: &[Case]) {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    fs::write(dir.join("good.csv"), "label,score\n0,0.25\n1,0.5\n0,0.75\n").unwrap();
    let mut wrong = Vec::new();
    for case in cases {
        fs::write(dir.join(case.file), &case.content).unwrap();
        for json in [&[][..], &["--json"]] {
            let arguments = [&case.arguments, json].concat();
            let output = ubauc(dir, &arguments, b"");
            if let Err(why) = refusal(&output, case.file, case.place, case.what) {
                wrong.push(format!("{}: {why}", arguments.join(" ")));
            }
        }
        fs::remove_file(dir.join(case.file)).unwrap();
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

/// Runs the program in a directory.
fn ubauc(directory: &Path, arguments: &[&str], stdin: &[u8]) -> Output {
    Command::cargo_bin("ubauc")
        .unwrap()
        .current_dir(directory)
        .args(arguments)
        .write_stdin(stdin)
        .timeout(PATIENCE)
        .output()
        .unwrap()
}

/// Was the file refused, by one line that names the file, the place and the reason?
fn refusal(output: &Output, file: &str, place: &str, what: &str) -> Result<(), String> {
    let error = String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(1) {
        return Err(format!("{}: {error}", output.status));
    }
    if !output.stdout.is_empty() {
        return Err("wrote to standard output".to_string());
    }
    if error.lines().count() != 1 || !error.ends_with('\n') || error.len() > 1000 {
        return Err(format!("not one short line: {error}"));
    }
    if !error.starts_with(&format!("ubauc: {file}{place}: ")) || !error.contains(what) {
        return Err(format!("expected `{file}{place}: … {what}`, got: {error}"));
    }
    Ok(())
}
