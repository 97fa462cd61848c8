//! CSV with a header: one column of labels, the others numbers.
//!
//! The field separator is the commonest of `,` `;` tab and `|` in the header. Quoting is RFC 4180's.
//! Blocks of whole lines are parsed by all threads as long as no quote is met, for a quoted field
//! may hold line ends; from the first block with a quote on, one thread reads the rest in sequence.
//! Places in errors are line and field number. A missing value is an error: what stands for it is
//! for the owner of the data to decide.

use std::collections::VecDeque;
use std::io::Read;
use std::path::Path;

use csv::ByteRecord;
use rayon::prelude::*;

use super::blocks::{Block, Blocks, count};
use super::{ReadOptions, Wrong, insert_label, shown, too_many_classes, whole};
use crate::data::dataset::Examples;
use crate::data::labels::{self, Dictionary};
use crate::data::rows::{Dense, Rows};
use crate::{Error, Result};

/// Blocks taken from the stream before they are parsed side by side.
const BATCH: usize = 16;

/// Which fields of a record are what.
pub(super) struct Columns {
    /// All names in the file.
    pub(super) names: Vec<String>,
    pub(super) label: usize,
    /// The fields to read as numbers, in the order asked for.
    pub(super) features: Vec<usize>,
}

impl Columns {
    /// Finds the label and the features by name.
    pub(super) fn find(
        names: Vec<String>,
        path: &Path,
        options: &ReadOptions<'_>,
    ) -> Result<Columns> {
        let position = |wanted: &str, what: &str| match names.iter().position(|n| n == wanted) {
            Some(at) if names[at + 1..].iter().any(|n| n == wanted) => Err(whole(
                path,
                format!("two columns are called {}", shown(wanted.as_bytes())),
            )),
            Some(at) => Ok(at),
            None => Err(missing(wanted, what, &names, path, options)),
        };
        let label = position(&options.label, "label")?;
        let ignored = options
            .ignore
            .iter()
            .map(|name| position(name, "ignored"))
            .collect::<Result<Vec<_>>>()?;
        let features: Vec<usize> = match &options.columns {
            Some(wanted) => wanted
                .iter()
                .map(|name| position(name, "feature"))
                .collect::<Result<_>>()?,
            None => (0..names.len())
                .filter(|j| *j != label && !ignored.contains(j))
                .collect(),
        };
        if features.is_empty() {
            return Err(whole(path, "no columns besides the label"));
        }
        Ok(Columns {
            names,
            label,
            features,
        })
    }

    pub(super) fn feature_names(&self) -> Vec<String> {
        self.features
            .iter()
            .map(|&j| self.names[j].clone())
            .collect()
    }
}

/// Names the columns there are, and says so when the first line is not a header at all.
fn missing(
    wanted: &str,
    what: &str,
    names: &[String],
    path: &Path,
    options: &ReadOptions<'_>,
) -> Error {
    let first: Vec<String> = names.iter().take(12).map(|n| shown(n.as_bytes())).collect();
    let more = if names.len() > first.len() {
        ", …"
    } else {
        ""
    };
    let numbers = names
        .iter()
        .all(|n| labels::number(n.trim().as_bytes()).is_some());
    let hint = if numbers && !options.no_header && !names.is_empty() {
        "; the first line looks like data: a header is expected (or the option no-header)"
    } else {
        ""
    };
    let what = format!(
        "no {what} column '{wanted}'; columns are {}{more}{hint}",
        first.join(", ")
    );
    whole(path, what)
}

/// The values and label codes of some records.
#[derive(Default)]
struct Part {
    dictionary: Dictionary,
    codes: Vec<u32>,
    values: Vec<f64>,
}

/// Reads a stream of CSV text.
pub(super) fn read_blocks(
    mut blocks: Blocks<impl Read + Send>,
    path: &Path,
    options: &ReadOptions<'_>,
) -> Result<Examples> {
    let head = blocks.peek()?;
    if head.contains(&0) {
        return Err(whole(
            path,
            "is not text; expected svmlight or CSV, perhaps compressed",
        ));
    }
    let delimiter = options.delimiter.unwrap_or_else(|| guess_delimiter(head));
    let Some(mut first) = blocks.next_block()? else {
        return Err(whole(path, "the file is empty"));
    };
    let columns = header(&mut first, delimiter, path, options)?;
    let mut parts: Vec<Part> = Vec::new();
    let mut pending = Some(first);
    loop {
        let mut batch: Vec<Block> = pending.take().into_iter().collect();
        let mut quoted = batch.pop_if(|block| block.text.contains(&b'"'));
        while quoted.is_none() && batch.len() < BATCH {
            match blocks.next_block()? {
                Some(block) if memchr::memchr(b'"', &block.text).is_some() => quoted = Some(block),
                Some(block) => batch.push(block),
                None => break,
            }
        }
        let at_end = batch.len() < BATCH;
        let parsed: Vec<Result<Part>> = batch
            .par_iter()
            .map(|block| {
                let text = WholeText::new(&block.text);
                read_records(text, block.first_line, delimiter, &columns, path)
            })
            .collect();
        // In order, so that the first error of the file is the one told.
        for part in parsed {
            parts.push(part?);
        }
        if let Some(Block { text, first_line }) = quoted {
            let mut rest = Rest {
                text: text.into(),
                blocks: &mut blocks,
                since_record: 0,
                max_record: options.max_line,
                last: Vec::new(),
                total: 0,
                guard: None,
                failed: None,
            };
            let part = read_records(&mut rest, first_line, delimiter, &columns, path);
            parts.push(rest.failed.map_or(part, Err)?);
            break;
        }
        if at_end {
            break;
        }
    }
    join(parts, columns, path)
}

/// The separator that occurs most often in the first line, quoted text aside.
fn guess_delimiter(head: &[u8]) -> u8 {
    let mut quoted = false;
    let line: Vec<u8> = head
        .iter()
        .map(|&b| {
            quoted ^= b == b'"';
            if quoted { b'"' } else { b }
        })
        .take_while(|&b| b != b'\n')
        .collect();
    let candidates = [b',', b';', b'\t', b'|'];
    // The first of the commonest: max_by_key takes the last.
    candidates
        .into_iter()
        .rev()
        .max_by_key(|&c| count(&line, c))
        .unwrap_or(b',')
}

fn reader<R: Read>(text: R, delimiter: u8) -> csv::Reader<R> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .buffer_capacity(1 << 16)
        .from_reader(text)
}

/// Takes the header off the first block, or makes one up.
fn header(
    first: &mut Block,
    delimiter: u8,
    path: &Path,
    options: &ReadOptions<'_>,
) -> Result<Columns> {
    let mut record = ByteRecord::new();
    let mut csv = reader(first.text.chain(GUARD), delimiter);
    let found = csv
        .read_byte_record(&mut record)
        .map_err(|e| csv_error(e, path))?;
    let end = csv.position().byte() as usize;
    // Only a quote, or nothing but blank lines, can lead through the guard to its end.
    if end == first.text.len() + GUARD.len() && is_guard(&record) || !found {
        return Err(whole(path, "no examples in the file"));
    }
    if end == first.text.len() + GUARD.len() {
        let line = first.first_line;
        let column = record.len() as u64;
        let what = "a quote in the header is not closed".to_string();
        return Err(Wrong { line, column, what }.at(path));
    }
    let end = end.min(first.text.len());
    let names: Vec<String> = if options.no_header {
        (1..=record.len()).map(|j| j.to_string()).collect()
    } else {
        first.first_line += count(&first.text[..end], b'\n') as u64;
        first.text.drain(..end);
        record
            .iter()
            .map(|name| String::from_utf8_lossy(name).trim().to_string())
            .collect()
    };
    Columns::find(names, path, options)
}

/// Reads records to the end of `text`, whose first line has the number `first_line`.
fn read_records(
    text: impl Source,
    first_line: u64,
    delimiter: u8,
    columns: &Columns,
    path: &Path,
) -> Result<Part> {
    let mut csv = reader(text, delimiter);
    let mut record = ByteRecord::new();
    let mut part = Part::default();
    while csv
        .read_byte_record(&mut record)
        .map_err(|e| csv_error(e, path))?
    {
        let end = csv.position().byte();
        let guard = csv.get_ref().ends(end);
        let added = match guard {
            Some(Guard::AtEnd) if is_guard(&record) => break,
            Some(guard) => Err((record.len().saturating_sub(1), guard.what())),
            None => add_record(&mut part, &record, columns),
        };
        added.map_err(|(field, what)| {
            let line = first_line + line_of(&record, &csv, guard.is_some());
            let column = field as u64 + 1;
            Wrong { line, column, what }.at(path)
        })?;
        csv.get_mut().record_read();
    }
    Ok(part)
}

/// The line in which the record just read begins, from 0. The position that the record has of
/// itself will not do: it may lie before blank lines, and before the LF of the last CRLF. So count
/// back from its end: a line end that ends the record, and those in quotes.
fn line_of<R: Source>(record: &ByteRecord, csv: &csv::Reader<R>, open_quote: bool) -> u64 {
    let end = csv.position();
    let last = csv.get_ref().byte(end.byte().saturating_sub(1));
    let by_line_end = !open_quote && last == Some(b'\n');
    let within = count(record.as_slice(), b'\n') as u64;
    (end.line() - 1).saturating_sub(u64::from(by_line_end) + within)
}

/// Takes the label and the numbers of one record, or says which field is wrong, and how.
fn add_record(
    part: &mut Part,
    record: &ByteRecord,
    columns: &Columns,
) -> std::result::Result<(), (usize, String)> {
    let (fields, expected) = (record.len(), columns.names.len());
    if fields != expected {
        return Err((
            fields.min(expected),
            format!("{fields} fields, the header has {expected}"),
        ));
    }
    let label = record[columns.label].trim_ascii();
    let code = match part.dictionary.find(label) {
        Some(code) => code,
        None => new_label(&mut part.dictionary, label).map_err(|what| (columns.label, what))?,
    };
    for &j in &columns.features {
        let field = record[j].trim_ascii();
        match labels::number(field) {
            Some(value) => part.values.push(value),
            None => return Err((j, why_not_a_number(field, &columns.names[j]))),
        }
    }
    part.codes.push(code);
    Ok(())
}

fn new_label(dictionary: &mut Dictionary, label: &[u8]) -> std::result::Result<u32, String> {
    if is_missing(label) {
        return Err(format!("the label is missing ({})", shown(label)));
    }
    if fast_float2::parse::<f64, _>(label).is_ok_and(|x| !x.is_finite()) {
        return Err(format!("label {} is not finite", shown(label)));
    }
    insert_label(dictionary, label)
}

/// The ways in which programs write that there is nothing.
fn is_missing(field: &[u8]) -> bool {
    let spellings: [&[u8]; 6] = [b"", b"na", b"n/a", b"nan", b"null", b"none"];
    spellings.iter().any(|s| field.eq_ignore_ascii_case(s))
}

fn why_not_a_number(field: &[u8], name: &str) -> String {
    let (name, value) = (shown(name.as_bytes()), shown(field));
    if is_missing(field) {
        format!("the value of column {name} is missing ({value})")
    } else if fast_float2::parse::<f64, _>(field).is_ok() {
        format!("{value} in column {name} is not finite")
    } else {
        format!("{value} in column {name} is not a number")
    }
}

fn csv_error(error: csv::Error, path: &Path) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => Error::Io {
            path: path.to_path_buf(),
            source,
        },
        // Records are bytes and may have any number of fields, so nothing else can go wrong.
        other => whole(path, format!("{other:?}")),
    }
}

/// Text to read records from.
trait Source: Read {
    /// A record is complete.
    fn record_read(&mut self) {}

    /// The byte at a place read not long ago.
    fn byte(&self, at: u64) -> Option<u8>;

    /// Why the guard was handed out, if a record that ends at `end` ends with it.
    fn ends(&self, _end: u64) -> Option<Guard> {
        None
    }
}

/// A block, with its own place in it.
struct WholeText<'a> {
    text: &'a [u8],
    rest: &'a [u8],
}

impl<'a> WholeText<'a> {
    fn new(text: &'a [u8]) -> Self {
        WholeText { text, rest: text }
    }
}

impl Read for WholeText<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.rest.read(buffer)
    }
}

impl Source for WholeText<'_> {
    fn byte(&self, at: u64) -> Option<u8> {
        self.text.get(at as usize).copied()
    }
}

/// Put behind the last byte of a text with quotes. After whole records it is one more, of one
/// empty field; within a quoted field it is an escaped quote and so part of the field. This tells
/// an open quote at the end of a file, which the CSV parser takes for a closed one.
const GUARD: &[u8] = b"\n\"\"\n";

fn is_guard(record: &ByteRecord) -> bool {
    record.len() == 1 && record[0].is_empty()
}

/// What is left of a stream, as bytes again, and the guard. Keeps the error that a `Read` cannot
/// carry, and an eye on quotes that do not close: a record must end before `max_record` bytes.
struct Rest<'a, R> {
    text: VecDeque<u8>,
    blocks: &'a mut Blocks<R>,
    /// Bytes handed out since the last record.
    since_record: usize,
    max_record: usize,
    /// The bytes handed out last. The parser asks for more when it is done with them.
    last: Vec<u8>,
    /// All bytes handed out.
    total: u64,
    guard: Option<Guard>,
    failed: Option<Error>,
}

/// Why the guard was handed out.
#[derive(Clone, Copy)]
enum Guard {
    AtEnd,
    /// No record was complete within this many bytes.
    AtLimit(usize),
}

impl Guard {
    fn what(self) -> String {
        match self {
            Guard::AtEnd => "a quote is not closed".to_string(),
            Guard::AtLimit(bytes) => format!(
                "record is longer than {bytes} bytes (the limit is max-line); is a quote not closed?"
            ),
        }
    }
}

impl<R: Read> Rest<'_, R> {
    fn refill(&mut self) -> Result<()> {
        if self.guard.is_some() {
            return Ok(());
        }
        if self.since_record > self.max_record {
            self.guard = Some(Guard::AtLimit(self.max_record));
        } else if let Some(block) = self.blocks.next_block()? {
            self.text = block.text.into();
            return Ok(());
        } else {
            self.guard = Some(Guard::AtEnd);
        }
        self.text.extend(GUARD);
        Ok(())
    }
}

impl<R: Read> Read for Rest<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.text.is_empty() && self.failed.is_none() {
            self.failed = self.refill().err();
        }
        let n = self.text.read(buffer)?;
        if n > 0 {
            self.last.clear();
            self.last.extend_from_slice(&buffer[..n]);
        }
        self.since_record += n;
        self.total += n as u64;
        Ok(n)
    }
}

impl<R: Read> Source for &mut Rest<'_, R> {
    fn record_read(&mut self) {
        self.since_record = 0;
    }

    fn byte(&self, at: u64) -> Option<u8> {
        let start = self.total - self.last.len() as u64;
        let at = at.checked_sub(start)?;
        self.last.get(at as usize).copied()
    }

    fn ends(&self, end: u64) -> Option<Guard> {
        match self.guard {
            // The last record may lack its line end, and end with that of the guard.
            Some(Guard::AtEnd) if end < self.total => None,
            guard => guard,
        }
    }
}

/// One after the other.
fn join(parts: Vec<Part>, columns: Columns, path: &Path) -> Result<Examples> {
    let n: usize = parts.iter().map(|part| part.codes.len()).sum();
    if n == 0 {
        return Err(whole(path, "no examples after the header"));
    }
    let mut codes = Vec::with_capacity(n);
    let mut values = Vec::with_capacity(n * columns.features.len());
    let mut dictionaries = Vec::with_capacity(parts.len());
    for part in parts {
        codes.extend_from_slice(&part.codes);
        values.extend_from_slice(&part.values);
        dictionaries.push((part.dictionary, part.codes.len()));
    }
    let labels = labels::join(codes, &dictionaries).map_err(|_| whole(path, too_many_classes()))?;
    let rows = Rows::smaller_of_dense(Dense::new(values, n, columns.features.len())?);
    Ok(Examples {
        rows,
        labels,
        names: columns.feature_names(),
        notices: Vec::new(),
    })
}
