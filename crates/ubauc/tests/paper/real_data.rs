//! Real data, from the directory `$UBAUC_DATA` (`a9a/train.svm.zst`, …). Without it these tests say so and pass.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

pub(crate) struct Row {
    pub(crate) label: f64,
    /// (index from 0, value).
    pub(crate) entries: Vec<(usize, f64)>,
}

/// The rows of a file, or `None` (said on stderr) when there is no `$UBAUC_DATA`.
pub(crate) fn read(test: &str, name: &str) -> Option<Vec<Row>> {
    let Some(directory) = std::env::var_os("UBAUC_DATA") else {
        // Straight to stderr: the test harness hides what a passing test prints with `eprintln!`.
        let said = writeln!(
            std::io::stderr(),
            "SKIPPED: {test}: UBAUC_DATA is not set, no {name}"
        );
        said.expect("stderr is open");
        return None;
    };
    let path = PathBuf::from(directory).join(name);
    let file = File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let text = zstd::stream::read::Decoder::new(file).expect("a zstd stream");
    let lines = BufReader::new(text).lines().map(|line| line.expect("text"));
    Some(lines.map(|line| parse(&line)).collect())
}

fn parse(line: &str) -> Row {
    let mut words = line.split_ascii_whitespace();
    let label = words.next().and_then(|w| w.parse().ok()).expect("a label");
    let entries = words.map(|word| {
        let (index, value) = word.split_once(':').expect("index:value");
        let index: usize = index.parse().expect("an index");
        (index - 1, value.parse().expect("a value"))
    });
    Row {
        label,
        entries: entries.collect(),
    }
}
