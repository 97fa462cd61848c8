//! What the columns of a stream hold, found out from its first rows.
//!
//! The text of these rows is read ahead and stays where it is: the stream then begins with them, so that each is scored
//! before it is learned as any other. The map has seen their columns by then, and none of their labels.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::super::Format;
use super::super::blocks::{Block, Blocks, count};
use super::super::encoding::Encoding;
use super::super::table::blocks::records_end;
use super::super::table::header::{self, Header, head_of};
use super::super::table::record::record_ends;
use super::super::table::{
    KnownTable, OnError, TableBatches, TableExamples, TableOptions, read_table_from,
};
use super::super::whole;
use super::table::{StreamTable, batches};
use super::{Source, StreamFeatures, StreamOptions};
use crate::data::table::Values;
use crate::features::{ColumnMap, FeatureMap};
use crate::model::Reading;
use crate::{Error, Result};

/// How a stream is looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstRows {
    /// As many rows are looked at.
    pub rows: usize,
    /// Columns are mapped though all are complete numbers; otherwise these stay as they are.
    pub always: bool,
    /// Nothing may wait: where the first row is complete numbers, all are taken to be.
    pub at_once: bool,
    /// Levels of categories, and numbers that are not mapped, are hashed into 2^bits.
    pub hash_bits: Option<u32>,
}

impl FirstRows {
    /// What becomes of complete numbers.
    pub fn numbers(&self) -> FeatureMap {
        match self.hash_bits {
            Some(bits) => FeatureMap::Hash { bits },
            None => FeatureMap::Identity,
        }
    }
}

/// Looks at the first rows.
pub(super) fn find(
    blocks: &mut Blocks<impl Read>,
    first: FirstRows,
    path: &Path,
    options: &StreamOptions,
) -> Result<StreamFeatures> {
    let numbers = || StreamFeatures::Numbers(first.numbers());
    if first.at_once {
        let found = look(blocks, 1, path, options)?;
        if found.is_none_or(|found| is_plain(&found)) {
            return Ok(numbers());
        }
    }
    let Some(mut found) = look(blocks, first.rows.max(1), path, options)? else {
        return Ok(numbers());
    };
    let weights = options.weight.as_ref();
    let weights = weights.and_then(|name| found.table.take(name));
    let weights = weights.and_then(|column| match column.values {
        Values::Number(weights) => Some(weights),
        Values::Category { .. } | Values::Time(_) => None,
    });
    let table = &found.table;
    found
        .columns
        .retain(|report| table.column(&report.name).is_some());
    if !first.always && is_plain(&found) {
        return Ok(numbers());
    }
    let map = ColumnMap::learn(&found.table, weights.as_deref())?;
    if map.effects.is_empty() {
        let what = format!(
            "the columns of the first {} rows tell nothing: every one is empty or has one value only",
            map.rows
        );
        return Err(whole(path, what));
    }
    let map = match first.hash_bits {
        Some(bits) => map.hashed(bits)?,
        None => map,
    };
    let table = Arc::new(StreamTable {
        map,
        reading: Reading::of(&options.read, &found.columns),
        columns: found.columns,
    });
    Ok(StreamFeatures::Known {
        table,
        notice_others: false,
    })
}

/// Complete numbers, written as every reader of numbers knows them.
fn is_plain(found: &TableExamples) -> bool {
    let commas = found.columns.iter().any(|report| report.decimal_comma);
    found.table.is_complete_numbers() && !commas
}

/// The first rows as a table; `None` if there is no row. Lines that are left out are no rows.
fn look(
    blocks: &mut Blocks<impl Read>,
    rows: usize,
    path: &Path,
    options: &StreamOptions,
) -> Result<Option<TableExamples>> {
    let mut records = rows;
    let (text, names) = loop {
        let (text, found) = first_records(blocks, records, path, &options.read)?;
        let text_blocks = Blocks::new(text.as_slice(), path, None, blocks.max_line());
        let header = header::open(text_blocks, path, &options.read)?.0;
        let names = header.names.clone();
        let (text, n) = good_rows(&text, &found, (header, path), options)?;
        match n {
            _ if n < rows && found.records.len() == records => records += rows - n,
            0 => return Ok(None),
            _ => break (text, names),
        }
    };
    let label = options.read.label.clone();
    let mut ignore = options.read.ignore.clone();
    ignore.extend(label.filter(|label| names.contains(label)));
    let read = TableOptions {
        format: Some(Format::Csv),
        label: None,
        ignore,
        encoding: Some(Encoding::Utf8),
        ..options.read.clone()
    };
    read_table_from(text.as_slice(), path, &read).map(Some)
}

/// The text of at least so many records, or all, and where they are.
fn first_records(
    blocks: &mut Blocks<impl Read>,
    rows: usize,
    path: &Path,
    options: &TableOptions<'_>,
) -> Result<(Vec<u8>, Records)> {
    let max_line = blocks.max_line();
    // Blank lines and line ends in quotes make more lines than rows.
    let (mut lines, mut seen, mut wanted) = (0, 0, rows + 1);
    let text = blocks.ahead(|text, is_all| {
        lines += count(&text[seen..], b'\n');
        seen = text.len();
        if lines < wanted && !is_all && seen <= max_line {
            return false;
        }
        let found = Records::find(text, rows, is_all, path, options);
        let unfinished = found.as_ref().map_or(0, |found| seen - found.whole);
        let found = found.map_or(0, |found| found.records.len());
        wanted = lines + (rows - found.min(rows)).max(1);
        found >= rows || unfinished > max_line
    })?;
    let text = text.to_vec();
    let found = Records::find(&text, rows, true, path, options)?;
    Ok((text, found))
}

/// Where the first records of a text are.
struct Records {
    /// Where they begin.
    head: usize,
    records: Vec<std::ops::Range<usize>>,
    /// Where the last whole record of the text ends.
    whole: usize,
}

impl Records {
    /// At most `rows` whole ones. The last of a text may lack its line end only if that is all.
    fn find(
        text: &[u8],
        rows: usize,
        is_all: bool,
        path: &Path,
        options: &TableOptions<'_>,
    ) -> Result<Records> {
        let block = Block {
            text: text.to_vec(),
            first_line: 1,
        };
        let (delimiter, head) = head_of(&block, path, options)?;
        let whole = match is_all {
            true => text.len(),
            false => records_end(text, delimiter),
        };
        let mut records = record_ends(&block, head, delimiter);
        let is_whole = |end: usize| is_all || end <= whole && text.get(end - 1) == Some(&b'\n');
        records.retain(|record| is_whole(record.end));
        records.truncate(rows);
        Ok(Records {
            head,
            records,
            whole,
        })
    }
}

/// The header and the rows that are right, and how many these are. Wrong ones are blank lines, so that lines keep their
/// numbers.
fn good_rows(
    text: &[u8],
    found: &Records,
    (header, path): (Header, &Path),
    options: &StreamOptions,
) -> Result<(Vec<u8>, usize)> {
    let source = Source {
        path: path.to_path_buf(),
        options: options.clone(),
    };
    let judge = TableBatches {
        on_error: OnError::Stop,
        ..batches(Vec::new(), &source)
    };
    let judge = KnownTable::new(header, path, judge)?;
    let mut kept = text[..found.head].to_vec();
    let mut first_line = 1 + count(&kept, b'\n') as u64;
    let mut rows = 0;
    let mut refused: Option<Error> = None;
    for record in &found.records {
        let mut block = Block {
            text: text[record.clone()].to_vec(),
            first_line,
        };
        let lines = count(&block.text, b'\n');
        first_line += lines as u64;
        match judge.parse(&block)?.1 {
            None => {
                rows += 1;
                kept.append(&mut block.text);
            }
            Some(error) => {
                refused.get_or_insert(error);
                kept.extend(std::iter::repeat_n(b'\n', lines));
            }
        }
    }
    match (rows, refused) {
        (0, Some(error)) if options.on_error == OnError::Stop => Err(error),
        // Where a wrong line stops the stream, it does so behind the rows before it; the map is the same.
        _ => Ok((kept, rows)),
    }
}
