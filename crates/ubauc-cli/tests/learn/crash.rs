//! A real process, really killed: what it goes on from is whole, and it ends with the same bytes.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::drift::turning;
use super::rivals::STREAMS;
use super::{learned, names, same_file};
use crate::process::{directory_with, json, stderr, success, ubauc};
use crate::tables::customers;

const WORDS: [&str; 8] = [
    "--checkpoint",
    "ck",
    "--every",
    "150",
    "--resume",
    "--model",
    "m.json",
    "--json",
];
const ROWS: u64 = 6_000;

/// Feeds the text to the program; if asked, kills it so long after it has learned this many examples.
fn run(directory: &Path, text: &str, more: &[&str], kill: Option<(u64, Duration)>) -> Output {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("ubauc"))
        .current_dir(directory)
        .arg("learn")
        .args(WORDS)
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A killed reader takes no more.
            let _ = input.write_all(text.as_bytes());
        });
        if let Some((examples, time)) = kill {
            while learned_so_far(directory) < examples && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_micros(50));
            }
            std::thread::sleep(time);
            child.kill().unwrap();
        }
        child.wait_with_output().unwrap()
    })
}

/// What the newest checkpoint knows of.
fn learned_so_far(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory.join("ck")) else {
        return 0;
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let digits = names.filter_map(|name| {
        let digits = name.strip_prefix("checkpoint-")?.strip_suffix(".ubauc")?;
        digits.parse().ok()
    });
    digits.max().unwrap_or(0)
}

#[test]
fn fifty_kills_change_no_byte() {
    killed_in_pairs(&[&[]], 25);
}

#[test]
fn kills_change_no_byte_of_the_other_algorithms() {
    killed_in_pairs(&STREAMS, 4);
}

#[test]
fn kills_change_no_byte_of_the_soft_loss() {
    let balanced = ["--softness", "0.5", "--class-weight", "balanced"];
    let logistic = "--softness 1 --beta 0 --step sgd --eta0 0.1";
    let logistic: Vec<&str> = logistic.split(' ').collect();
    killed_in_pairs(&[&balanced, &logistic], 10);
}

#[test]
fn kills_change_no_byte_of_a_stream_that_drifts() {
    let ours = "--half-life 700 --window 900 --alarm 0.1 --on-alarm restart";
    let rival = "--algorithm oam-seq --C 0.01 --window 900 --alarm 0.1 --on-alarm restart";
    let streams = [ours, rival].map(|words| words.split(' ').collect::<Vec<&str>>());
    let make = |stream: &[&str]| {
        let text = turning(ROWS, ROWS / 2);
        let directory = directory_with(&[("x.svm", &text)]);
        let words = [&["learn", "x.svm", "--model", "whole.json"], stream].concat();
        let output = ubauc(directory.path(), &words);
        success(&output);
        assert!(stderr(&output).contains("what was learned is forgotten"));
        (directory, text)
    };
    killed_in_pairs_of(&[&streams[0], &streams[1]], 6, make);
}

#[test]
fn kills_change_no_byte_of_a_table() {
    let table: Vec<&str> = "--label churn --positive left --map-rows 900"
        .split(' ')
        .collect();
    let hashed = [&table[..], &["--hash-bits", "5"]].concat();
    let make = |stream: &[&str]| {
        let text = customers(ROWS);
        let directory = directory_with(&[("x.csv", &text)]);
        let words = [&["learn", "x.csv", "--model", "whole.json"], stream].concat();
        success(&ubauc(directory.path(), &words));
        (directory, text)
    };
    killed_in_pairs_of(&[&table, &hashed], 6, make);
}

fn killed_in_pairs(streams: &[&[&str]], runs: u32) {
    killed_in_pairs_of(streams, runs, |stream| learned(ROWS, stream));
}

/// This many runs of each stream, killed twice, at random, that then go on to the end.
fn killed_in_pairs_of(
    streams: &[&[&str]],
    runs: u32,
    make: impl Fn(&[&str]) -> (tempfile::TempDir, String),
) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut state = u64::from(now.subsec_nanos());
    println!("seed {state}");
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let (mut in_time, mut resumed) = (0, 0);
    for stream in streams {
        let (directory, text) = make(stream);
        let dir = directory.path();
        json(&run(dir, &text, stream, None));
        same_file(dir, "m.json", "whole.json");
        for _ in 0..runs {
            fs::remove_dir_all(dir.join("ck")).unwrap();
            fs::remove_file(dir.join("m.json")).unwrap();
            let first = random(ROWS * 2 / 3);
            for at in [first, first + random(ROWS * 9 / 10 - first)] {
                let kill = Some((at, Duration::from_micros(random(3_000))));
                let killed = run(dir, &text, stream, kill);
                in_time += u32::from(!killed.status.success());
            }
            let report = json(&run(dir, &text, stream, None));
            assert_eq!(report["n"], ROWS);
            let at = report["resumed_at"].as_u64();
            resumed += u32::from(at.is_some_and(|at| at > 0 && at < ROWS));
            same_file(dir, "m.json", "whole.json");
            let left = names(&dir.join("ck"));
            assert_eq!(left.len(), 2, "{left:?}");
        }
    }
    let runs = runs * streams.len() as u32;
    let kills = 2 * runs;
    println!(
        "{in_time} of {kills} kills before the end, {resumed} of {runs} runs resumed in the middle"
    );
    assert!(
        5 * in_time >= 3 * kills,
        "{in_time} of {kills} kills came before the end"
    );
    assert!(
        100 * resumed >= 48 * runs,
        "{resumed} of {runs} last runs went on from the middle"
    );
}
