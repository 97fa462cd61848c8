//! Files that would exhaust memory if they were believed.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::{PATIENCE, refusal};

/// Peak memory that a refused file may cost.
const MEMORY: u64 = 150 << 20;

/// A file of this many times the same bytes.
fn repeat(path: &Path, head: &[u8], piece: &[u8], mebibytes: usize) {
    let mut file = File::create(path).unwrap();
    file.write_all(head).unwrap();
    let block = piece.repeat((1 << 20) / piece.len());
    for _ in 0..mebibytes {
        file.write_all(&block).unwrap();
    }
}

/// Runs the program on a file, by name or through standard input, and looks at its memory.
fn watched(path: &Path, through_stdin: bool) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ubauc"));
    command.current_dir(path.parent().unwrap()).arg("evaluate");
    if through_stdin {
        command.arg("-").stdin(File::open(path).unwrap());
    } else {
        command.arg(path.file_name().unwrap()).stdin(Stdio::null());
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = command.spawn().unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        peak = peak_memory(child.id()).unwrap_or(peak);
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{path:?}: no answer within {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(peak < MEMORY, "{path:?}: {} MiB", peak >> 20);
    child.wait_with_output().unwrap()
}

/// The largest resident set so far, where the system tells.
fn peak_memory(process: u32) -> Option<u64> {
    let mut status = String::new();
    let mut file = File::open(format!("/proc/{process}/status")).ok()?;
    file.read_to_string(&mut status).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[track_caller]
fn check_both_ways(path: &Path, place: &str, what: &str) {
    let name = path.file_name().unwrap().to_str().unwrap();
    refusal(&watched(path, false), name, place, what).unwrap();
    // Standard input has no name to tell the format by.
    refusal(&watched(path, true), "<stdin>", place, what).unwrap();
    fs::remove_file(path).unwrap();
}

#[test]
fn endless_lines_are_refused_before_they_fill_the_memory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    let what = "line is longer than 8388608 bytes";
    repeat(&path, b"1 1:1\n-1 1:", b"2", 50);
    check_both_ways(&path, ":2:8388609", what);
    repeat(&path, b"1 1:1\n-1", b" ", 50);
    check_both_ways(&path, ":2:8388609", what);
    repeat(&path, b"label,score\n1,", b"2", 50);
    check_both_ways(&path, ":2:8388609", what);
    repeat(&path, b"label,score", b",a", 50);
    check_both_ways(&path, ":1:8388609", what);
    // Labels of ten million characters.
    repeat(&path, b"1 1:1\n", b"1", 10);
    check_both_ways(&path, ":2:8388609", what);
    repeat(&path, b"score,label\n1,", b"a", 10);
    check_both_ways(&path, ":2:8388609", what);
}

#[test]
fn long_labels_below_the_line_limit_are_refused_too() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    repeat(&path, b"1 1:1\n", b"1", 8);
    check_both_ways(&path, ":2:1", "is not a finite number");
    repeat(&path, b"score,label\n1,", b"a", 7);
    check_both_ways(&path, ":2:2", "bytes long; at most 1000 are expected");
}

#[test]
fn a_quote_that_swallows_everything_is_refused_where_it_opens() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    repeat(&path, b"x,label,score\n0,1,2\n\"", b"0,1,2\n", 50);
    check_both_ways(&path, ":3:1", "record is longer than 8388608 bytes");
}

#[test]
fn an_archive_of_one_endless_line_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bomb");
    let line = vec![b'a'; 1 << 20];
    let gibibyte = || (0..1024).map(|_| line.as_slice());

    let fast = flate2::Compression::new(1);
    let mut gzip = flate2::write::GzEncoder::new(File::create(&path).unwrap(), fast);
    gibibyte().for_each(|block| gzip.write_all(block).unwrap());
    gzip.finish().unwrap();
    assert!(path.metadata().unwrap().len() < 16 << 20);
    check_both_ways(&path, ":1:8388609", "line is longer than");

    let mut zstd = zstd::Encoder::new(File::create(&path).unwrap(), 1).unwrap();
    gibibyte().for_each(|block| zstd.write_all(block).unwrap());
    zstd.finish().unwrap();
    assert!(path.metadata().unwrap().len() < 1 << 20);
    check_both_ways(&path, ":1:8388609", "line is longer than");
}
