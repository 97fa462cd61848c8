//! Signals: the example at hand is finished, everything is saved, the exit code tells.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{learn_file, learned, names, same_file};
use crate::process::{failure, json, success};

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
    let mut printed = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut printed).unwrap();
    (child.wait().unwrap().code(), printed)
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
        let (exit, printed) = send(child, signal);
        assert_eq!(exit, Some(code), "{printed}");
        assert!(
            printed.contains("333 examples") && printed.contains("--resume"),
            "{printed}"
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
    let (exit, printed) = send(child, "-TERM");
    assert_eq!(exit, Some(143), "{printed}");
    drop(input);
}

#[test]
fn a_signal_before_the_first_example_writes_nothing_and_loses_nothing() {
    let (directory, _) = learned(1_200, &[]);
    let dir = directory.path();
    let words = ["--initial-model", "whole.json", "--model", "warm.json"];
    success(&learn_file(dir, "x.svm", &words));
    for (signal, code) in [("-TERM", 143), ("-INT", 130)] {
        std::fs::write(dir.join("m.json"), "a good model").unwrap();
        let _ = std::fs::remove_dir_all(dir.join("ck"));
        let words = [
            "--initial-model",
            "whole.json",
            "--model",
            "m.json",
            "--checkpoint",
            "ck",
        ];
        let mut child = spawn(dir, &[&words[..], &["--fresh"]].concat());
        let input = child.stdin.take();
        let started = Instant::now();
        while !dir.join("ck/lock").exists() && started.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let (exit, printed) = send(child, signal);
        drop(input);
        assert_eq!(exit, Some(code), "{printed}");
        assert!(printed.contains("nothing was learned"), "{printed}");
        let model = std::fs::read_to_string(dir.join("m.json")).unwrap();
        assert_eq!(model, "a good model");
        assert!(names(&dir.join("ck")).is_empty());
        success(&learn_file(
            dir,
            "x.svm",
            &[&words[..], &["--resume"]].concat(),
        ));
        same_file(dir, "m.json", "warm.json");
    }
}

#[test]
fn two_runs_in_one_directory_are_refused_until_the_first_is_gone() {
    let (directory, _) = learned(300, &[]);
    let dir = directory.path();
    let mut child = spawn(dir, &["--checkpoint", "ck", "--predict"]);
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"1 1:1\n").unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.take(2).count(), 2);
    for how in ["--resume", "--fresh"] {
        let second = learn_file(dir, "x.svm", &["--checkpoint", "ck", how]);
        assert!(failure(&second).contains("another run uses ck"));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    success(&learn_file(dir, "x.svm", &["--checkpoint", "ck"]));
}

#[test]
fn a_reader_that_has_had_enough_leaves_model_and_checkpoint() {
    let (directory, text) = learned(3_000, &["--eta0", "0.5"]);
    let dir = directory.path();
    let words = [
        "--predict",
        "--eta0",
        "0.5",
        "--checkpoint",
        "ck",
        "--model",
        "m.json",
    ];
    let mut child = spawn(dir, &words);
    let mut input = child.stdin.take().unwrap();
    let (first, rest) = text.split_at(text.find('\n').unwrap() + 1);
    input.write_all(first.as_bytes()).unwrap();
    // Dropped at the end of the statement, which closes the pipe: what `head -2` does.
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.take(2).count(), 2);
    // It may be gone before it has had all.
    let _ = input.write_all(rest.as_bytes());
    drop(input);
    let output = child.wait_with_output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(printed.contains("closed by its reader"), "{printed}");
    let model = std::fs::read_to_string(dir.join("m.json")).unwrap();
    assert!(model.contains("ubauc-model"), "{model}");
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
    let at = json(&learn_file(dir, "x.svm", &words))["resumed_at"].as_u64();
    assert!(at.is_some_and(|at| at > 0), "{at:?}");
    same_file(dir, "m.json", "whole.json");
}
