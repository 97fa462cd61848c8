//! Rows batch by batch, in memory that does not grow with the file: for scoring.
//!
//! Labels are not read: a table may have no column of labels, and an svmlight line begins with any
//! number. From a pipe a batch is the lines that have come, so that the caller never waits for a full block.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::blocks::Blocks;
use super::csv::{self, Want};
use super::{
    Format, Input, ReadOptions, format_of, parquet_stream, read_parquet, refuse_no_text, svmlight,
    text_blocks, whole,
};
use crate::Error;
use crate::data::dataset::SkippedLines;
use crate::data::rows::Rows;

/// Some rows of a file, in the order of the file.
#[derive(Debug, Clone)]
pub struct Batch {
    /// The features; svmlight: as many columns as these rows use.
    pub rows: Rows,
    /// Did the data have columns, named or numbered, and not svmlight's indices?
    pub is_table: bool,
    /// What a user should know about the file; batches repeat it.
    pub notices: Arc<[String]>,
    /// Lines left out between these rows.
    pub skipped: SkippedLines,
}

/// Hands every batch of a file to `each`, on all threads, and what that makes of it to `take`, in
/// the order of the file. `-` is standard input. A Parquet file is one batch.
pub fn batches<T: Send, E: From<Error>>(
    path: &Path,
    options: &ReadOptions<'_>,
    each: impl Fn(Batch) -> T + Sync,
    mut take: impl FnMut(T) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let (input, name) = Input::open(path)?;
    if let Input::Plain { head, .. } = &input {
        refuse_no_text(head, None, path)?;
    }
    match input.parquet(path, options) {
        Ok(file) => {
            let examples = read_parquet(file, Want::NoLabels, path, options)?;
            take(each(Batch {
                rows: examples.rows,
                is_table: true,
                notices: examples.notices.into(),
                skipped: examples.skipped,
            }))
        }
        Err(input) => batches_from(input.reader(), &name, options, each, take),
    }
}

/// The same from whatever bytes come; `name` stands in errors where a file name would.
pub fn batches_from<T: Send, E: From<Error>>(
    mut reader: impl Read + Send,
    name: &Path,
    options: &ReadOptions<'_>,
    each: impl Fn(Batch) -> T + Sync,
    take: impl FnMut(T) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let head = first_bytes(&mut reader).map_err(|source| Error::Io {
        path: name.to_path_buf(),
        source,
    })?;
    let mut blocks = text_blocks(head, reader, name, options)?.live();
    let any = AtomicBool::new(false);
    let each = |batch: Batch| {
        any.fetch_or(!batch.rows.is_empty(), Ordering::Relaxed);
        each(batch)
    };
    let head = blocks.checked_head()?;
    match format_of(name, head, options) {
        Format::Svmlight => svmlight::each_block(
            blocks,
            options,
            |examples| {
                Ok(each(Batch {
                    rows: examples.rows,
                    is_table: false,
                    notices: examples.notices.into(),
                    skipped: examples.skipped,
                }))
            },
            take,
        )?,
        Format::Csv => csv_batches(blocks, options, each, take)?,
        Format::Parquet => return Err(parquet_stream(name).into()),
    }
    if any.into_inner() {
        Ok(())
    } else {
        Err(whole(name, "no examples in the file").into())
    }
}

fn csv_batches<T: Send, E: From<Error>>(
    blocks: Blocks<impl Read>,
    options: &ReadOptions<'_>,
    each: impl Fn(Batch) -> T + Sync,
    take: impl FnMut(T) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let path = blocks.path().to_path_buf();
    let convert = |part: csv::Part, columns: &csv::Columns| {
        Ok(each(Batch {
            skipped: part.skipped.clone(),
            rows: part.into_rows(columns)?,
            is_table: true,
            notices: Arc::clone(&columns.notices),
        }))
    };
    csv::each_part(blocks, Want::NoLabels, &path, options, convert, take)?;
    Ok(())
}

/// Enough to tell a compression by, without waiting for more than a line.
pub(super) fn first_bytes(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    const MAGIC: usize = 6;
    let mut head = vec![0; 4096];
    let mut n = 0;
    while n < head.len() && (n < MAGIC || !head[..n].contains(&b'\n')) {
        match reader.read(&mut head[n..]) {
            Ok(0) => break,
            Ok(more) => n += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    head.truncate(n);
    Ok(head)
}
