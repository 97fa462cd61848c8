//! One block of CSV text into the values of its columns.
//!
//! A field in quotes may hold separators and line ends, and quotes that are written twice. Blanks
//! around a value are no part of it, inside quotes or out. Lines without anything are passed over.

use std::borrow::Cow;
use std::ops::Range;

use super::super::Wrong;
use super::super::blocks::{Block, count, too_long};
use super::super::classes::StreamClasses;
use super::super::{shown, shown_up_to};
use super::missing::Missing;
use super::piece::{Piece, Refused, Want};
use crate::data::dataset::SkippedLines;

/// What the records of a file are made of.
pub(super) struct Layout<'a> {
    pub(super) delimiter: u8,
    pub(super) missing: &'a Missing,
    pub(super) names: &'a [String],
    /// Longer records are refused, in bytes.
    pub(super) max_line: usize,
    /// What labels of a stream may be.
    pub(super) classes: Option<&'a StreamClasses>,
}

/// What is done about a line that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// Reading ends with an error, behind the rows before the line.
    #[default]
    Stop,
    /// The line is left out, and counted.
    Skip,
}

/// The records of a block.
pub(super) struct Parsed {
    /// One for each column.
    pub(super) pieces: Vec<Piece>,
    pub(super) rows: usize,
    /// Lines that were left out: how many, and the first of them.
    pub(super) n_skipped: usize,
    pub(super) skipped: Vec<Wrong>,
    /// The bytes of these lines in the block.
    pub(super) left_out: Vec<Range<usize>>,
    /// Where reading ended before the end of the block.
    pub(super) stopped: Option<Wrong>,
}

/// What is wrong with a field, and its place in the record.
type Fault = (usize, String);

/// Parses a block of whole records, `wants[j]` from column j.
pub(super) fn parse_block(
    block: &Block,
    wants: &[Want],
    layout: &Layout<'_>,
    on_error: OnError,
) -> Parsed {
    let mut parsed = Parsed {
        pieces: wants.iter().map(|&want| Piece::new(want)).collect(),
        rows: 0,
        n_skipped: 0,
        skipped: Vec::new(),
        left_out: Vec::new(),
        stopped: None,
    };
    let mut cursor = Cursor::new(block, layout.delimiter);
    while cursor.skip_empty_lines() {
        let (start, line) = (cursor.at, cursor.line);
        let read = record(&mut cursor, wants, layout, &mut parsed.pieces);
        let wrong = match read {
            Ok(()) if length(&block.text[start..cursor.at]) <= layout.max_line => {
                parsed.rows += 1;
                continue;
            }
            Ok(()) => too_long(line, layout.max_line),
            Err((field, what)) => {
                let column = field as u64 + 1;
                Wrong { line, column, what }
            }
        };
        for piece in &mut parsed.pieces {
            piece.truncate(parsed.rows);
        }
        if on_error == OnError::Stop {
            parsed.stopped = Some(wrong);
            break;
        }
        parsed.n_skipped += 1;
        if parsed.skipped.len() < SkippedLines::DESCRIBED {
            parsed.skipped.push(wrong);
        }
        (cursor.at, cursor.line) = (start, line);
        cursor.skip_record();
        parsed.left_out.push(start..cursor.at);
    }
    parsed
}

/// Makes blank lines of records, so that those behind them keep their numbers.
pub(super) fn blank_out(block: &mut Block, records: &[Range<usize>]) {
    let mut text = Vec::with_capacity(block.text.len());
    let mut at = 0;
    for record in records {
        text.extend_from_slice(&block.text[at..record.start]);
        let lines = count(&block.text[record.clone()], b'\n');
        text.extend(std::iter::repeat_n(b'\n', lines));
        at = record.end;
    }
    text.extend_from_slice(&block.text[at..]);
    block.text = text;
}

/// Without the line end.
fn length(record: &[u8]) -> usize {
    let record = record.strip_suffix(b"\n").unwrap_or(record);
    record.strip_suffix(b"\r").unwrap_or(record).len()
}

/// One record, field by field.
fn record(
    cursor: &mut Cursor<'_>,
    wants: &[Want],
    layout: &Layout<'_>,
    pieces: &mut [Piece],
) -> Result<(), Fault> {
    let mut fields = 0;
    loop {
        let (field, last) = cursor.field().map_err(|what| (fields, what))?;
        if let Some(piece) = pieces.get_mut(fields)
            && wants[fields] != Want::Skip
        {
            piece
                .push(&field, layout.missing)
                .map_err(|why| (fields, describe(why, &field, &layout.names[fields])))?;
            if let (Want::StreamLabel, Some(classes)) = (wants[fields], layout.classes) {
                classes.side(&field).map_err(|what| (fields, what))?;
            }
        }
        fields += 1;
        if last {
            break;
        }
    }
    if fields == layout.names.len() {
        Ok(())
    } else {
        let expected = layout.names.len();
        let what = format!("{fields} fields, the header has {expected}");
        Err((fields.min(expected), what))
    }
}

pub(super) fn describe(why: Refused, field: &[u8], name: &str) -> String {
    let (value, name) = (shown(field), shown_up_to(usize::MAX, name.as_bytes()));
    let otherwise =
        format!("name it with --missing if it stands for none, or --categorical {name}");
    match why {
        Refused::NoLabel => format!(
            "the label in column {name} is missing ({value}); every row needs one, or leave the row out"
        ),
        Refused::NoValue => format!("the value of column {name} is missing ({value})"),
        Refused::NoNumber => format!("{value} in column {name} is not a number; {otherwise}"),
        Refused::NoTime => format!("{value} in column {name} is not a date or time; {otherwise}"),
        Refused::Infinite => format!("{value} in column {name} is not finite; {otherwise}"),
    }
}

/// The fields of the first record of a text from a byte on, and where it ends.
pub(super) fn first_record(
    block: &Block,
    from: usize,
    delimiter: u8,
) -> Result<Option<(Vec<String>, usize)>, Wrong> {
    let mut cursor = Cursor::new(block, delimiter);
    cursor.at = from;
    cursor.line += count(&block.text[..from], b'\n') as u64;
    if !cursor.skip_empty_lines() {
        return Ok(None);
    }
    let (line, mut names) = (cursor.line, Vec::new());
    loop {
        let (field, last) = cursor.field().map_err(|what| {
            let column = names.len() as u64 + 1;
            Wrong { line, column, what }
        })?;
        names.push(String::from_utf8_lossy(&field).into_owned());
        if last {
            return Ok(Some((names, cursor.at)));
        }
    }
}

/// Where the records of a text are, from a byte on.
pub(in super::super) fn record_ends(
    block: &Block,
    from: usize,
    delimiter: u8,
) -> Vec<Range<usize>> {
    let mut cursor = Cursor::new(block, delimiter);
    cursor.at = from;
    let mut records = Vec::new();
    while cursor.skip_empty_lines() {
        let start = cursor.at;
        cursor.skip_record();
        records.push(start..cursor.at);
    }
    records
}

/// A place in a block.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    /// The number of the line it is in.
    line: u64,
    delimiter: u8,
    /// The first byte at or behind `at` that is not UTF-8.
    invalid: usize,
}

impl<'a> Cursor<'a> {
    fn new(block: &'a Block, delimiter: u8) -> Cursor<'a> {
        let mut cursor = Cursor {
            text: &block.text,
            at: 0,
            line: block.first_line,
            delimiter,
            invalid: 0,
        };
        cursor.find_invalid();
        cursor
    }

    fn find_invalid(&mut self) {
        self.invalid = match std::str::from_utf8(&self.text[self.at..]) {
            Ok(_) => usize::MAX,
            Err(error) => self.at + error.valid_up_to(),
        };
    }

    /// Moves to the next record; `false` at the end.
    #[inline]
    fn skip_empty_lines(&mut self) -> bool {
        loop {
            match &self.text[self.at..] {
                [] => return false,
                [b'\r', b'\n', ..] => self.at += 2,
                [b'\n', ..] => self.at += 1,
                [b'\r'] => self.at += 1,
                _ => return true,
            }
            self.line += 1;
        }
    }

    /// The next field and whether it ends the record.
    #[inline]
    fn field(&mut self) -> Result<(Cow<'a, [u8]>, bool), String> {
        let text = self.text;
        let start = self.at;
        if let Some(quote) = opening_quote(text, start, self.delimiter) {
            return self.quoted(quote + 1);
        }
        let rest = &text[start..];
        let delimiter = self.delimiter;
        let length = rest
            .iter()
            .position(|&b| b == delimiter || b == b'\n')
            .unwrap_or(rest.len());
        let last = rest.get(length) != Some(&delimiter);
        let end = start + length;
        if end > self.invalid {
            return Err(self.not_utf8());
        }
        self.line += u64::from(last);
        self.at = text.len().min(end + 1);
        Ok((Cow::Borrowed(trim(&rest[..length])), last))
    }

    /// A field whose first byte inside the quotes is at `start`.
    fn quoted(&mut self, start: usize) -> Result<(Cow<'a, [u8]>, bool), String> {
        let text = self.text;
        let Some(close) = closing_quote(text, start) else {
            return Err("a quote is not closed".to_string());
        };
        let after = &text[close + 1..];
        let blanks = after
            .iter()
            .take_while(|&&b| is_blank(b, self.delimiter))
            .count();
        let last = match after.get(blanks) {
            Some(&b) if b == self.delimiter => false,
            None | Some(b'\n') => true,
            Some(_) => {
                let found = "text behind a closing quote; a quote inside quotes is written twice";
                return Err(found.to_string());
            }
        };
        if close > self.invalid {
            return Err(self.not_utf8());
        }
        self.line += count(&text[start..close], b'\n') as u64 + u64::from(last);
        self.at = text.len().min(close + blanks + 2);
        let value = text[start..close].trim_ascii();
        let value = if memchr::memchr(b'"', value).is_some() {
            Cow::Owned(unescape(value))
        } else {
            Cow::Borrowed(value)
        };
        Ok((value, last))
    }

    fn not_utf8(&self) -> String {
        let byte = self.text[self.invalid];
        format!(
            "byte {byte:#04x} is not UTF-8 text; say how it is written: --encoding latin-1, \
             windows-1252 or utf-16"
        )
    }

    /// To the end of the record that begins here, whatever is wrong with it.
    fn skip_record(&mut self) {
        let text = self.text;
        let start = self.at;
        let end_of_field = |from: usize| {
            let mut rest = text[from..].iter();
            let length = rest.position(|&b| b == self.delimiter || b == b'\n');
            length.map_or(text.len(), |length| from + length)
        };
        let mut at = start;
        loop {
            if let Some(quote) = opening_quote(text, at, self.delimiter) {
                at = closing_quote(text, quote + 1).unwrap_or(text.len());
            }
            at = end_of_field(at);
            match text.get(at) {
                Some(b'\n') => break,
                Some(_) => at += 1,
                None => break,
            }
        }
        self.at = text.len().min(at + 1);
        self.line += count(&text[start..self.at], b'\n') as u64;
        if self.invalid < self.at {
            self.find_invalid();
        }
    }
}

/// The quote that ends what begins at `start`; two in a row are one of the text.
pub(super) fn closing_quote(text: &[u8], start: usize) -> Option<usize> {
    let mut from = start;
    loop {
        let quote = from + memchr::memchr(b'"', text.get(from..)?)?;
        if text.get(quote + 1) != Some(&b'"') {
            return Some(quote);
        }
        from = quote + 2;
    }
}

/// Two quotes in a row are one.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut second = false;
    let kept = text.iter().copied().filter(|&b| {
        second = b == b'"' && !second;
        !second || b != b'"'
    });
    kept.collect()
}

/// Blanks that are no part of a value.
#[inline]
pub(super) fn is_blank(b: u8, delimiter: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r') && b != delimiter
}

/// The quote that a field at `start` begins with, blanks before it aside.
#[inline]
fn opening_quote(text: &[u8], start: usize, delimiter: u8) -> Option<usize> {
    let mut at = start;
    loop {
        match *text.get(at)? {
            b'"' => return Some(at),
            b if is_blank(b, delimiter) => at += 1,
            _ => return None,
        }
    }
}

#[inline]
fn trim(field: &[u8]) -> &[u8] {
    match field {
        [first, .., last] if *first > b' ' && *last > b' ' => field,
        _ => field.trim_ascii(),
    }
}
