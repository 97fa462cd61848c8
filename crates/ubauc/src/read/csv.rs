//! CSV with a header: one column of labels, the others numbers.
//!
//! The header is read as that of any table (`table/header.rs`). Quoting is RFC 4180's.
//! Blocks of whole lines are parsed by all threads as long as no quote is met, for a quoted field
//! may hold line ends; from the first block with a quote on, one thread reads the rest in sequence.
//! Places in errors are line and field number. A missing value is an error: what stands for it is
//! for the owner of the data to decide.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use csv::ByteRecord;
use rayon::prelude::*;

use super::blocks::{Block, Blocks, count};
use super::table::OnError;
use super::table::header::head_of;
use super::{ReadOptions, Wrong, insert_label, shown, shown_up_to, table, too_many_classes, whole};
use crate::data::dataset::{Examples, SkippedLines};
use crate::data::labels::{self, Dictionary};
use crate::data::rows::{Dense, Rows};
use crate::{Error, Result};

/// Blocks taken from the stream before they are parsed side by side.
const BATCH: usize = 16;

/// Records of a part where one thread reads them in sequence.
const PART: usize = 4096;

/// Which fields of a record are what.
pub(super) struct Columns {
    /// All names in the file.
    pub(super) names: Vec<String>,
    /// `None` if there is none and none is wanted.
    pub(super) label: Option<usize>,
    want: Want,
    /// The fields to read as numbers, in the order asked for; `None` is a column of zeros.
    pub(super) features: Vec<Option<usize>>,
    feature_names: Vec<String>,
    pub(super) notices: Arc<[String]>,
}

/// Are labels read?
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Want {
    Labels,
    /// The column of labels is passed over, if there is one.
    NoLabels,
}

impl Columns {
    /// Finds the label and the features by name.
    pub(super) fn find(
        names: Vec<String>,
        want: Want,
        path: &Path,
        options: &ReadOptions<'_>,
    ) -> Result<Columns> {
        let place = |wanted: &str| match names.iter().position(|n| n == wanted) {
            Some(at) if names[at + 1..].iter().any(|n| n == wanted) => Err(whole(
                path,
                format!("two columns are called {}", shown(wanted.as_bytes())),
            )),
            found => Ok(found),
        };
        let must = |wanted: &String, what: &'static str| {
            place(wanted)?.ok_or_else(|| missing(&[wanted], what, &names, path, options))
        };
        let label = match &want {
            Want::Labels => Some(must(&options.label, "label")?),
            Want::NoLabels => names.iter().position(|n| *n == options.label),
        };
        let ignored = options
            .ignore
            .iter()
            .map(|name| must(name, "ignored"))
            .collect::<Result<Vec<_>>>()?;
        let is_free = |j: &usize| Some(*j) != label && !ignored.contains(j);
        let mut notices = Vec::new();
        let (features, feature_names): (Vec<Option<usize>>, Vec<String>) = match &options.columns {
            Some(wanted) => {
                let found = wanted
                    .iter()
                    .map(|name| place(name))
                    .collect::<Result<Vec<_>>>()?;
                let lacking: Vec<&String> = wanted
                    .iter()
                    .zip(&found)
                    .filter(|(_, at)| at.is_none())
                    .map(|(name, _)| name)
                    .collect();
                if !lacking.is_empty() {
                    if !options.missing_zero {
                        return Err(missing(&lacking, "feature", &names, path, options));
                    }
                    let lacking = listed(&lacking, whole_name);
                    notices.push(format!("lacks columns, taken as zeros: {lacking}"));
                }
                (found, wanted.clone())
            }
            None => (0..names.len())
                .filter(is_free)
                .map(|j| (Some(j), names[j].clone()))
                .unzip(),
        };
        if options.notice_others {
            let others: Vec<&String> = (0..names.len())
                .filter(|j| is_free(j) && !features.contains(&Some(*j)))
                .map(|j| &names[j])
                .collect();
            if !others.is_empty() {
                notices.push(format!("columns not used: {}", listed(&others, short_name)));
            }
        }
        if features.is_empty() {
            return Err(whole(path, "no columns besides the label"));
        }
        Ok(Columns {
            names,
            label,
            want,
            features,
            feature_names,
            notices: notices.into(),
        })
    }

    pub(super) fn feature_names(&self) -> Vec<String> {
        self.feature_names.clone()
    }
}

/// `'a', 'b'`, at most twelve of them.
fn listed(names: &[&String], show: impl Fn(&String) -> String) -> String {
    let mut shown: Vec<String> = names.iter().take(12).map(|name| show(name)).collect();
    if names.len() > shown.len() {
        shown.push("…".to_string());
    }
    shown.join(", ")
}

/// A name from the file, which may be anything.
fn short_name(name: &String) -> String {
    shown(name.as_bytes())
}

/// A name asked for.
fn whole_name(name: &String) -> String {
    shown_up_to(usize::MAX, name.as_bytes())
}

/// Names the columns there are, and says so when the first line is not a header at all.
fn missing(
    wanted: &[&String],
    role: &'static str,
    names: &[String],
    path: &Path,
    options: &ReadOptions<'_>,
) -> Error {
    let numbers = names
        .iter()
        .all(|n| labels::number(n.trim().as_bytes()).is_some());
    let hint = if numbers && !options.no_header && !names.is_empty() {
        "; the first line looks like data: a header is expected (or the option no-header)"
    } else {
        ""
    };
    let plural = if wanted.len() > 1 { "s" } else { "" };
    let wanted = listed(wanted, whole_name);
    let all = listed(&names.iter().collect::<Vec<_>>(), short_name);
    Error::NoColumn {
        path: path.to_path_buf(),
        role,
        what: format!("{plural} {wanted}; columns are {all}{hint}"),
    }
}

/// How records are read.
struct Layout<'a> {
    delimiter: u8,
    columns: &'a Columns,
    on_error: OnError,
}

/// The values and label codes of some records.
#[derive(Default)]
pub(super) struct Part {
    dictionary: Dictionary,
    codes: Vec<u32>,
    values: Vec<f64>,
    records: usize,
    /// Records left out between these.
    pub(super) skipped: SkippedLines,
}

impl Part {
    /// The features alone.
    pub(super) fn into_rows(self, columns: &Columns) -> Result<Rows> {
        let dense = Dense::new(self.values, self.records, columns.features.len())?;
        Ok(Rows::smaller_of_dense(dense))
    }
}

/// Reads a stream of CSV text.
pub(super) fn read_blocks(
    blocks: Blocks<impl Read>,
    path: &Path,
    options: &ReadOptions<'_>,
) -> Result<Examples> {
    let mut parts: Vec<Part> = Vec::new();
    let columns = each_part(
        blocks,
        Want::Labels,
        path,
        options,
        |part, _| Ok(part),
        |part| {
            parts.push(part);
            Ok::<(), Error>(())
        },
    )?;
    join(parts, columns, path)
}

/// The columns, the byte between fields, and the first block without its header.
fn open(
    blocks: &mut Blocks<impl Read>,
    want: Want,
    path: &Path,
    options: &ReadOptions<'_>,
) -> Result<(Columns, u8, Block)> {
    let head = blocks.peek()?;
    if head.contains(&0) {
        let what = "is not text; expected svmlight or CSV, perhaps compressed";
        return Err(whole(path, what));
    }
    let Some(mut first) = blocks.next_block()? else {
        return Err(whole(path, "the file is empty"));
    };
    let Some(head) = head_of(&first, options.delimiter, path)? else {
        return Err(whole(path, "no examples in the file"));
    };
    let delimiter = head.delimiter;
    let names = head.take_off(&mut first, options.no_header);
    let columns = Columns::find(names, want, path, options)?;
    Ok((columns, delimiter, first))
}

/// From such a block on records are read in sequence: a quoted field may hold line ends.
fn has_quote(block: &Block) -> bool {
    memchr::memchr(b'"', &block.text).is_some()
}

/// Reads a block without quotes; `None` if it has no records.
fn parse_block(block: &Block, layout: &Layout<'_>, path: &Path) -> Result<Option<Part>> {
    let mut whole_block = None;
    let (text, line) = (WholeText::new(&block.text), block.first_line);
    read_records(text, line, layout, path, |part| {
        whole_block = Some(part);
        Ok::<(), Error>(())
    })?;
    Ok(whole_block)
}

/// Reads a stream of CSV text part by part: `convert` runs on all threads, `take` in order.
pub(super) fn each_part<T: Send, E: From<Error>>(
    mut blocks: Blocks<impl Read>,
    want: Want,
    path: &Path,
    options: &ReadOptions<'_>,
    convert: impl Fn(Part, &Columns) -> Result<T> + Sync,
    mut take: impl FnMut(T) -> std::result::Result<(), E>,
) -> std::result::Result<Columns, E> {
    let (columns, delimiter, first) = open(&mut blocks, want, path, options)?;
    let layout = Layout {
        delimiter,
        columns: &columns,
        on_error: options.on_error,
    };
    let mut batch = blocks.divide(first);
    if batch.is_empty() {
        // From a pipe the header may come alone.
        batch = blocks.next_blocks(BATCH, has_quote)?;
    }
    while !batch.is_empty() {
        let quote = batch.iter().position(has_quote);
        let quoted = batch.split_off(quote.unwrap_or(batch.len()));
        let parsed: Vec<Result<Option<T>>> = batch
            .par_iter()
            .map(|block| {
                let part = parse_block(block, &layout, path)?;
                part.map(|part| convert(part, &columns)).transpose()
            })
            .collect();
        // In order, so that the first error of the file is the one reported.
        for made in parsed {
            made?.map_or(Ok(()), &mut take)?;
        }
        if let Some(first_line) = quoted.first().map(|block| block.first_line) {
            let text = quoted.into_iter().flat_map(|block| block.text).collect();
            read_rest(text, first_line, &layout, &mut blocks, |part| {
                take(convert(part, &columns)?)
            })?;
            break;
        }
        batch = blocks.next_blocks(BATCH, has_quote)?;
    }
    Ok(columns)
}

/// Reads the rest of a stream in sequence, from a text with a quote on.
fn read_rest<E: From<Error>>(
    text: VecDeque<u8>,
    first_line: u64,
    layout: &Layout<'_>,
    blocks: &mut Blocks<impl Read>,
    take: impl FnMut(Part) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let path = blocks.path().to_path_buf();
    let max_record = blocks.max_line();
    let mut rest = Rest {
        text,
        blocks,
        since_record: 0,
        max_record,
        last: Vec::new(),
        total: 0,
        guard: None,
        failed: None,
    };
    let read = read_records(&mut rest, first_line, layout, &path, take);
    rest.failed.map_or(read, |error| Err(error.into()))
}

fn reader<R: Read>(text: R, delimiter: u8) -> csv::Reader<R> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .buffer_capacity(1 << 16)
        .from_reader(text)
}

/// Reads records to the end of `text`, whose first line has the number `first_line`; `take` is
/// given them in parts, where the text says so and at the end.
fn read_records<E: From<Error>>(
    text: impl Source,
    first_line: u64,
    layout: &Layout<'_>,
    path: &Path,
    mut take: impl FnMut(Part) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut csv = reader(text, layout.delimiter);
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
            None => add_record(&mut part, &record, layout.columns),
        };
        if let Err((field, what)) = added {
            let line = first_line + line_of(&record, &csv, guard.is_some());
            let column = field as u64 + 1;
            let wrong = Wrong { line, column, what };
            // Behind a quote that is not closed nothing is known to be a line.
            if guard.is_some() || layout.on_error == OnError::Stop {
                return Err(wrong.at(path).into());
            }
            part.skipped.add(1, [wrong.into()]);
        }
        csv.get_mut().record_read();
        if csv.get_ref().ends_part(end, part.records + part.skipped.n) {
            take(std::mem::take(&mut part))?;
        }
    }
    if part.records + part.skipped.n > 0 {
        take(part)?;
    }
    Ok(())
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
    let label = columns.label.filter(|_| columns.want != Want::NoLabels);
    let label = label.map(|at| (at, record[at].trim_ascii()));
    let known = label.and_then(|(_, label)| part.dictionary.find(label));
    if let Some((at, label)) = label.filter(|_| known.is_none()) {
        check_label(label).map_err(|what| (at, what))?;
    }
    let before = part.values.len();
    if let Err(wrong) = add_numbers(&mut part.values, record, columns) {
        part.values.truncate(before);
        return Err(wrong);
    }
    // A record that is wrong leaves no class behind.
    let inserted = label.map(|(at, label)| match known {
        Some(code) => Ok(code),
        None => insert_label(&mut part.dictionary, label).map_err(|what| (at, what)),
    });
    match inserted.transpose() {
        Ok(code) => part.codes.extend(code),
        Err(wrong) => {
            part.values.truncate(before);
            return Err(wrong);
        }
    }
    part.records += 1;
    Ok(())
}

fn add_numbers(
    values: &mut Vec<f64>,
    record: &ByteRecord,
    columns: &Columns,
) -> std::result::Result<(), (usize, String)> {
    for j in &columns.features {
        let Some(j) = *j else {
            values.push(0.0);
            continue;
        };
        let field = record[j].trim_ascii();
        // `1,000.5` as the reader of tables has it.
        let number = labels::number(field).or_else(|| table::point_number(field));
        match number {
            Some(value) => values.push(value),
            None => return Err((j, why_not_a_number(field, &columns.names[j]))),
        }
    }
    Ok(())
}

fn check_label(label: &[u8]) -> std::result::Result<(), String> {
    if is_missing(label) {
        return Err(format!("the label is missing ({})", shown(label)));
    }
    if fast_float2::parse::<f64, _>(label).is_ok_and(|x| !x.is_finite()) {
        return Err(format!("label {} is not finite", shown(label)));
    }
    Ok(())
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

    /// Is a part complete with the record that ends at `end`, its `records`-th?
    fn ends_part(&self, _end: u64, _records: usize) -> bool {
        false
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
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
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
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.text.is_empty() {
            self.refill().map_err(|error| {
                self.failed = Some(error);
                io::Error::other("reported by `failed`")
            })?;
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

    fn ends_part(&self, end: u64, records: usize) -> bool {
        // Nothing more has come yet, but perhaps the second byte of a line end.
        let drained = self.text.is_empty() && self.total <= end + 1;
        drained || records >= PART
    }
}

/// One after the other.
fn join(parts: Vec<Part>, columns: Columns, path: &Path) -> Result<Examples> {
    let n: usize = parts.iter().map(|part| part.codes.len()).sum();
    let mut skipped = SkippedLines::default();
    for part in &parts {
        skipped.add(part.skipped.n, part.skipped.first.iter().cloned());
    }
    if n == 0 {
        let what = match skipped.first.first() {
            Some(first) => format!(
                "no examples after the header: all {} lines are wrong, the first, line {}: {}",
                skipped.n, first.line, first.what
            ),
            None => "no examples after the header".to_string(),
        };
        return Err(whole(path, what));
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
        notices: columns.notices.to_vec(),
        skipped,
    })
}
