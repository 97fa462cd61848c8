//! Readers against a naive parser, whole and in blocks, plain and compressed.

mod batches;
mod csv;
mod odd_tables;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_tables;
mod real;
mod svmlight;
mod table_properties;
mod tables;

use std::io::Write;
use std::path::{Path, PathBuf};

use ubauc::data::dataset::Examples;
use ubauc::read::{ReadOptions, read, read_from};
use ubauc::{Error, Result};

/// Rows as (column, value) pairs, whatever way they are stored.
pub(crate) fn entries(examples: &Examples) -> Vec<Vec<(usize, f64)>> {
    let rows = &examples.rows;
    (0..rows.len())
        .map(|i| {
            (0..rows.cols())
                .map(|j| (j, rows.row(i).get(j)))
                .filter(|e| e.1 != 0.0)
                .collect()
        })
        .collect()
}

pub(crate) fn labels(examples: &Examples) -> Vec<String> {
    let classes = examples.labels.classes();
    examples
        .labels
        .codes()
        .iter()
        .map(|&c| classes[c as usize].to_string())
        .collect()
}

pub(crate) fn from_bytes(bytes: &[u8], options: &ReadOptions<'_>) -> Result<Examples> {
    read_from(bytes, Path::new("test"), options)
}

/// Through a real file, which is read in another way than a stream.
pub(crate) fn from_file(bytes: &[u8], options: &ReadOptions<'_>) -> Result<Examples> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    read(file.path(), options)
}

/// (line, column) of a parse error.
pub(crate) fn place(result: Result<Examples>) -> (u64, u64) {
    match result {
        Err(Error::Parse { line, column, .. }) => (line, column),
        other => panic!(
            "expected a parse error, got {:?}",
            other.map(|e| e.rows.len())
        ),
    }
}

/// The folder of real data sets, or a loud word that it is not there.
pub(crate) fn real_data(test: &str) -> Option<PathBuf> {
    let dir = std::env::var_os("UBAUC_DATA").map(PathBuf::from);
    if dir.is_none() {
        // Past the test harness, which would swallow the output of a test that passes.
        let word = format!("SKIPPED: {test} needs real data; set UBAUC_DATA to their folder\n");
        let _ = std::io::stderr().write_all(word.as_bytes());
    }
    dir
}
