//! What the fuzz targets share: ways to hand bytes to a reader, and to compare what it read.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Once;

use ubauc::Result;
use ubauc::data::dataset::Examples;
use ubauc::data::rows::Row;
use ubauc::read::{ReadOptions, read, read_from};

/// As a stream. The name has no ending that would tell a format.
pub fn from_stream(bytes: &[u8], options: &ReadOptions<'_>) -> Result<Examples> {
    one_thread();
    read_from(bytes, Path::new("stream"), options)
}

/// Gives a byte at a time.
pub struct Trickle<'a>(pub &'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = buffer.len().min(1);
        self.0.read(&mut buffer[..n])
    }
}

/// As a stream that gives a byte at a time.
pub fn from_trickle(bytes: &[u8], options: &ReadOptions<'_>) -> Result<Examples> {
    one_thread();
    read_from(Trickle(bytes), Path::new("trickle"), options)
}

/// As a file, in memory where the system offers that. It has no name, and goes with the process.
pub fn from_file(bytes: &[u8], options: &ReadOptions<'_>) -> Result<Examples> {
    thread_local! {
        static FILE: RefCell<Option<File>> = const { RefCell::new(None) };
    }
    one_thread();
    FILE.with_borrow_mut(|slot| {
        let file = slot.get_or_insert_with(|| {
            tempfile::tempfile_in("/dev/shm")
                .or_else(|_| tempfile::tempfile())
                .expect("a temporary file")
        });
        file.set_len(0).expect("a temporary file");
        file.rewind().expect("a temporary file");
        file.write_all(bytes).expect("a temporary file");
        file.rewind().expect("a temporary file");
        let path = format!("/dev/fd/{}", file.as_raw_fd());
        read(Path::new(&path), options)
    })
}

/// Threads make runs differ from each other, and nothing here is large enough to gain by them: the
/// fuzzer's own thread does all the work.
pub fn one_thread() {
    static START: Once = Once::new();
    START.call_once(|| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread();
        pool.build_global().expect("the first to build the pool");
    });
}

/// Two readings of the same examples: both refuse, or both give the same.
#[track_caller]
pub fn assert_agree(a: &Result<Examples>, b: &Result<Examples>) {
    match (a, b) {
        (Ok(a), Ok(b)) => assert_same(a, b),
        (Err(_), Err(_)) => {}
        (Ok(_), Err(e)) | (Err(e), Ok(_)) => panic!("only one of two readings failed: {e}"),
    }
}

/// The same rows, labels and names.
#[track_caller]
pub fn assert_same(a: &Examples, b: &Examples) {
    assert_eq!(a.names, b.names);
    assert_eq!(a.labels, b.labels);
    assert_eq!(a.rows, b.rows);
}

/// Columns and values of row i, as they are stored.
pub fn stored(examples: &Examples, i: usize) -> Vec<(usize, f64)> {
    match examples.rows.row(i) {
        Row::Dense(values) => values.iter().copied().enumerate().collect(),
        Row::Sparse(indices, values) => {
            let columns = indices.iter().map(|&j| j as usize);
            columns.zip(values.iter().copied()).collect()
        }
        row @ Row::Coded { .. } => row.entries().collect(),
    }
}

/// The class of example i, as it is written.
pub fn label(examples: &Examples, i: usize) -> String {
    let labels = &examples.labels;
    labels.classes()[labels.codes()[i] as usize].to_string()
}
