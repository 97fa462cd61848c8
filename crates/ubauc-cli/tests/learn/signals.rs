//! Signals: the example at hand is finished, everything is saved, the exit code tells.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{learn_file, learned, same_file};
use crate::process::json;

fn spawn(directory: &std::path::Path, words: &[&str]) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("ubauc"))
        .current_dir(directory)
        .arg("learn")
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Sends a signal; answers the exit code and standard error.
fn send(mut child: Child, signal: &str) -> (Option<i32>, String) {
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "it does not end"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut told = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut told).unwrap();
    (child.wait().unwrap().code(), told)
}

#[test]
fn a_signal_on_an_idle_pipe_saves_all_that_came() {
    for (signal, code) in [("-TERM", 143), ("-INT", 130), ("-HUP", 129)] {
        let (directory, text) = learned(700, &["--eta0", "0.5"]);
        let dir = directory.path();
        let words = [
            "--eta0",
            "0.5",
            "--checkpoint",
            "ck",
            "--model",
            "m.json",
            "--predict",
        ];
        let mut child = spawn(dir, &words);
        let mut input = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let part: String = text.split_inclusive('\n').take(333).collect();
        input.write_all(part.as_bytes()).unwrap();
        assert_eq!(lines.take(334).count(), 334);
        let (exit, told) = send(child, signal);
        assert_eq!(exit, Some(code), "{told}");
        assert!(
            told.contains("333 examples") && told.contains("--resume"),
            "{told}"
        );
        assert!(dir.join("m.json").exists());
        drop(input);
        let words = [
            "--eta0",
            "0.5",
            "--checkpoint",
            "ck",
            "--model",
            "m.json",
            "--resume",
            "--json",
        ];
        assert_eq!(json(&learn_file(dir, "x.svm", &words))["resumed_at"], 333);
        same_file(dir, "m.json", "whole.json");
    }
}

#[test]
fn a_signal_before_anything_came_ends_the_program_too() {
    let (directory, _) = learned(20, &[]);
    let mut child = spawn(directory.path(), &["--model", "m.json"]);
    let input = child.stdin.take();
    // Long enough to start; if not, the signal ends it all the same, by its default.
    std::thread::sleep(Duration::from_millis(300));
    let (exit, told) = send(child, "-TERM");
    assert_eq!(exit, Some(143), "{told}");
    drop(input);
}
