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
use super::super::table::header::{self, head_of};
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
        FeatureMap::hashed(self.hash_bits)
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
        Values::Number(weights) => Some(Arc::unwrap_or_clone(weights)),
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
    let mut found = GoodRows::new(rows, blocks.max_line(), path, options);
    let mut failed = None;
    blocks.ahead(|text, is_all| match found.advance(text, is_all) {
        Ok(is_enough) => is_enough,
        Err(error) => {
            failed = Some(error);
            true
        }
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    let (Some(judge), 1..) = (&found.judge, found.rows) else {
        // Where a wrong line stops the stream, it does so behind the rows before it; here are none.
        let refused = found.refused.filter(|_| options.on_error == OnError::Stop);
        return refused.map_or(Ok(None), Err);
    };
    let label = options.read.label.clone();
    let mut ignore = options.read.ignore.clone();
    ignore.extend(label.filter(|label| judge.names.contains(label)));
    let read = TableOptions {
        format: Some(Format::Csv),
        label: None,
        ignore,
        encoding: Some(Encoding::Utf8),
        ..options.read.clone()
    };
    read_table_from(found.kept.as_slice(), path, &read).map(Some)
}

/// The header and the first rows that are right, found while the text comes: every line is looked at once, however many
/// are wrong.
struct GoodRows<'a> {
    wanted: usize,
    max_line: usize,
    path: &'a Path,
    options: &'a StreamOptions,
    /// Once the header is there.
    judge: Option<Judge>,
    /// Bytes of the text that are judged: whole records.
    at: usize,
    /// The header and the rows. Wrong ones are blank lines, so that lines keep their numbers.
    kept: Vec<u8>,
    /// The line behind it.
    line: u64,
    /// Records that were judged.
    records: usize,
    rows: usize,
    /// What is wrong with the first that is wrong.
    refused: Option<Error>,
}

/// Who says what is wrong with a row.
struct Judge {
    table: KnownTable<'static>,
    names: Vec<String>,
    delimiter: u8,
}

impl<'a> GoodRows<'a> {
    fn new(
        wanted: usize,
        max_line: usize,
        path: &'a Path,
        options: &'a StreamOptions,
    ) -> GoodRows<'a> {
        GoodRows {
            wanted,
            max_line,
            path,
            options,
            judge: None,
            at: 0,
            kept: Vec::new(),
            line: 1,
            records: 0,
            rows: 0,
            refused: None,
        }
    }

    /// Looks at what has come of the text, which begins as it did before; `true` if no more is needed.
    fn advance(&mut self, text: &[u8], is_all: bool) -> Result<bool> {
        let judge = match self.judge.take() {
            Some(judge) => judge,
            None => match self.header(text, is_all)? {
                Some(judge) => judge,
                None => return Ok(false),
            },
        };
        let rest = &text[self.at..];
        let lines = memchr::memrchr(b'\n', rest).map_or(0, |at| at + 1);
        let whole = match is_all {
            true => rest.len(),
            false => records_end(&rest[..lines], judge.delimiter),
        };
        let block = Block {
            text: rest[..whole].to_vec(),
            first_line: 1,
        };
        let mut judged = 0;
        for record in record_ends(&block, 0, judge.delimiter) {
            self.blank(&block.text[judged..record.start]);
            judged = record.end;
            self.record(&block.text[record], &judge)?;
            if self.rows == self.wanted {
                break;
            }
        }
        self.at += judged;
        self.judge = Some(judge);
        // A stream that stops at a wrong line and begins with as many waits for no more.
        let hopeless = self.options.on_error == OnError::Stop && self.rows == 0;
        Ok(self.rows == self.wanted
            || hopeless && self.records >= self.wanted
            || text.len() - self.at > self.max_line)
    }

    /// The names of the columns, once their line is complete.
    fn header(&mut self, text: &[u8], is_all: bool) -> Result<Option<Judge>> {
        let (path, options) = (self.path, self.options);
        let waits = !is_all && text.len() <= self.max_line;
        let block = Block {
            text: text.to_vec(),
            first_line: 1,
        };
        let head = match head_of(&block, options.read.delimiter, path) {
            Err(_) if waits => return Ok(None),
            Err(error) => return Err(error),
            Ok(head) => head.map(|head| head.rows(options.read.no_header)),
        };
        let at = head.unwrap_or(0);
        let is_whole = at == 0 || text[at - 1] == b'\n' || is_all;
        if waits && (head.is_none() || !is_whole) {
            return Ok(None);
        }
        let blocks = Blocks::new(text, path, None, self.max_line);
        let header = header::open(blocks, path, &options.read)?.0;
        let (names, delimiter) = (header.names.clone(), header.delimiter);
        let source = Source {
            path: path.to_path_buf(),
            options: options.clone(),
        };
        let strict = TableBatches {
            on_error: OnError::Stop,
            ..batches(Vec::new(), &source)
        };
        self.keep(&text[..at]);
        self.at = at;
        Ok(Some(Judge {
            table: KnownTable::new(header, path, strict)?,
            names,
            delimiter,
        }))
    }

    /// Keeps the record if it is right.
    fn record(&mut self, text: &[u8], judge: &Judge) -> Result<()> {
        let block = Block {
            text: text.to_vec(),
            first_line: self.line,
        };
        self.records += 1;
        match judge.table.parse(&block)?.1 {
            None => {
                self.rows += 1;
                self.keep(text);
            }
            Some(error) => {
                self.refused.get_or_insert(error);
                self.blank(text);
            }
        }
        Ok(())
    }

    fn keep(&mut self, text: &[u8]) {
        self.line += count(text, b'\n') as u64;
        self.kept.extend_from_slice(text);
    }

    /// Keeps the line ends only.
    fn blank(&mut self, text: &[u8]) {
        let lines = count(text, b'\n');
        self.line += lines as u64;
        self.kept.extend(std::iter::repeat_n(b'\n', lines));
    }
}
