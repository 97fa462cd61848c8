//! A `train` that is killed, whenever that is, leaves the old model or the new one.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::process::{directory_with, failure, success, ubauc};

/// A few long rows: the model has a number for each of the features, and takes its time to be written.
fn wide(rows: usize, features: usize) -> String {
    let mut text = String::new();
    for i in 0..rows {
        write!(text, "{}", i % 2).unwrap();
        for j in 1..=features {
            let x = (i * 7919 + j * 104_729) % 1009;
            write!(text, " {j}:0.{x:04}").unwrap();
        }
        text.push('\n');
    }
    text
}

/// Starts a training and kills it after so long.
fn killed_after(dir: &Path, after: Duration) -> ExitStatus {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("ubauc"))
        .current_dir(dir)
        .args(["train", "x.svm", "--model", "m.json"])
        .args(["--beta", "0.5", "--gamma", "0.1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap()
}

#[test]
fn a_failed_run_keeps_the_old_model() {
    let directory = directory_with(&[("bad.svm", "1 1:x\n"), ("m.json", "old")]);
    let dir = directory.path();
    failure(&ubauc(dir, &["train", "bad.svm", "--model", "m.json"]));
    assert_eq!(fs::read_to_string(dir.join("m.json")).unwrap(), "old");
}

#[test]
fn a_run_killed_at_any_moment_leaves_the_old_model_or_the_new() {
    let directory = directory_with(&[("x.svm", &wide(8, 40_000))]);
    let dir = directory.path();
    let words = [
        "train", "x.svm", "--model", "new.json", "--beta", "0.5", "--gamma", "0.1",
    ];
    let started = Instant::now();
    success(&ubauc(dir, &words));
    let whole_run = started.elapsed();
    let new = fs::read(dir.join("new.json")).unwrap();
    assert!(new.len() > 500_000, "{} bytes take no time", new.len());
    let (mut in_time, mut finished) = (0, 0);
    let moments = 24;
    for moment in 0..moments {
        fs::write(dir.join("m.json"), "old").unwrap();
        let status = killed_after(dir, whole_run * moment / moments);
        let found = fs::read(dir.join("m.json")).unwrap();
        assert!(
            found == b"old" || found == new,
            "half a model, moment {moment}"
        );
        if status.success() {
            finished += 1;
            assert!(found == new, "finished without the model");
        } else if found == b"old" {
            in_time += 1;
        }
    }
    // Kills that came too late show nothing.
    assert!(
        in_time > 0,
        "{in_time} of {moments} hit a run, {finished} came too late"
    );
}
