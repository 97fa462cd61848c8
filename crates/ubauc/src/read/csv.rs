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
use std::sync::Arc;

use csv::ByteRecord;
use rayon::prelude::*;

use super::blocks::{Block, Blocks, count};
use super::{ReadOptions, Wrong, shown, too_many_classes, whole};
use crate::data::dataset::Examples;
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
#[derive(Clone, Copy, PartialEq, Eq)]
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
            Some(at) if names[at + 1..].iter().any(|n| n == wanted) => {
                Err(whole(path, format!("two columns are called '{wanted}'")))
            }
            found => Ok(found),
        };
        let must = |wanted: &String, what: &str| {
            place(wanted)?.ok_or_else(|| missing(&[wanted], what, &names, path, options))
        };
        let label = match want {
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
                    let lacking = quoted(&lacking);
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
                notices.push(format!("columns not used: {}", quoted(&others)));
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
fn quoted(names: &[&String]) -> String {
    let mut shown: Vec<String> = names
        .iter()
        .take(12)
        .map(|n| format!("'{}'", n.escape_debug()))
        .collect();
    if names.len() > shown.len() {
        shown.push("…".to_string());
    }
    shown.join(", ")
}

/// Names the columns there are, and says so when the first line is not a header at all.
fn missing(
    wanted: &[&String],
    what: &str,
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
    let (wanted, all) = (quoted(wanted), quoted(&names.iter().collect::<Vec<_>>()));
    let what = format!("no {what} column{plural} {wanted}; columns are {all}{hint}");
    whole(path, what)
}

/// The values and label codes of some records.
#[derive(Default)]
pub(super) struct Part {
    dictionary: Dictionary,
    codes: Vec<u32>,
    values: Vec<f64>,
    records: usize,
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

/// Reads a stream of CSV text part by part: `convert` runs on all threads, `take` in order.
pub(super) fn each_part<T: Send, E: From<Error>>(
    mut blocks: Blocks<impl Read>,
    want: Want,
    path: &Path,
    options: &ReadOptions<'_>,
    convert: impl Fn(Part, &Columns) -> Result<T> + Sync,
    mut take: impl FnMut(T) -> std::result::Result<(), E>,
) -> std::result::Result<Columns, E> {
    let head = blocks.peek()?;
    if head.is_empty() {
        return Err(whole(path, "the file is empty").into());
    }
    if head.contains(&0) {
        let what = "is not text; expected svmlight or CSV, perhaps compressed";
        return Err(whole(path, what).into());
    }
    let delimiter = options.delimiter.unwrap_or_else(|| guess_delimiter(head));
    let Some(mut first) = blocks.next_block()? else {
        return Err(whole(path, "the file is empty").into());
    };
    let columns = header(&mut first, want, delimiter, path, options)?;
    let mut batch = blocks.divide(first);
    while !batch.is_empty() {
        let quote = batch
            .iter()
            .position(|block| memchr::memchr(b'"', &block.text).is_some());
        let quoted = batch.split_off(quote.unwrap_or(batch.len()));
        let parsed: Vec<Result<T>> = batch
            .par_iter()
            .map(|block| {
                let mut part = Part::default();
                let reader = block.text.as_slice();
                read_records(
                    reader,
                    block.first_line,
                    delimiter,
                    &columns,
                    path,
                    |_, one| one(&mut part),
                )?;
                convert(part, &columns)
            })
            .collect();
        // In order, so that the first error of the file is the one told.
        for part in parsed {
            take(part?)?;
        }
        if let Some(first_line) = quoted.first().map(|block| block.first_line) {
            let text = quoted.into_iter().flat_map(|block| block.text).collect();
            read_rest(text, first_line, delimiter, &columns, &mut blocks, |part| {
                take(convert(part, &columns)?)
            })?;
            break;
        }
        batch = blocks.next_blocks(BATCH)?;
    }
    Ok(columns)
}

/// Reads the rest of a stream in sequence, from a text with a quote on.
fn read_rest<E: From<Error>>(
    text: VecDeque<u8>,
    first_line: u64,
    delimiter: u8,
    columns: &Columns,
    blocks: &mut Blocks<impl Read>,
    mut take: impl FnMut(Part) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let path = blocks.path().to_path_buf();
    let max_record = blocks.max_line();
    let mut rest = Rest {
        text,
        blocks,
        handed_out: 0,
        since_record: 0,
        max_record,
        failed: None,
    };
    let mut part = Part::default();
    let read: std::result::Result<(), E> = read_records(
        &mut rest,
        first_line,
        delimiter,
        columns,
        &path,
        |csv, one| {
            one(&mut part)?;
            let at = csv.position().byte();
            let rest = csv.get_mut();
            rest.since_record = 0;
            // Nothing more is there yet, but perhaps the second byte of a line end.
            let drained = rest.text.is_empty() && rest.handed_out <= at + 1;
            if drained || part.records >= PART {
                take(std::mem::take(&mut part))?;
            }
            Ok::<(), E>(())
        },
    );
    if let Some(error) = rest.failed {
        return Err(error.into());
    }
    read?;
    if part.records > 0 {
        take(part)?;
    }
    Ok(())
}

/// The separator that occurs most often in the first line.
fn guess_delimiter(head: &[u8]) -> u8 {
    let line = head.split(|&b| b == b'\n').next().unwrap_or(head);
    let candidates = [b',', b';', b'\t', b'|'];
    // The first of the commonest: max_by_key takes the last.
    candidates
        .into_iter()
        .rev()
        .max_by_key(|&c| count(line, c))
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
    want: Want,
    delimiter: u8,
    path: &Path,
    options: &ReadOptions<'_>,
) -> Result<Columns> {
    let mut record = ByteRecord::new();
    let mut csv = reader(first.text.as_slice(), delimiter);
    let found = csv
        .read_byte_record(&mut record)
        .map_err(|e| csv_error(e, path))?;
    if !found {
        return Err(whole(path, "no examples in the file"));
    }
    let names: Vec<String> = if options.no_header {
        (1..=record.len()).map(|j| j.to_string()).collect()
    } else {
        let end = csv.position().byte() as usize;
        first.first_line += count(&first.text[..end], b'\n') as u64;
        first.text.drain(..end);
        record
            .iter()
            .map(|name| String::from_utf8_lossy(name).trim().to_string())
            .collect()
    };
    Columns::find(names, want, path, options)
}

/// Reads records to the end of `text`, whose first line has the number `first_line`; `each` is
/// given the reader and what adds the record to a part.
fn read_records<R: Read, E: From<Error>>(
    text: R,
    first_line: u64,
    delimiter: u8,
    columns: &Columns,
    path: &Path,
    mut each: impl FnMut(
        &mut csv::Reader<R>,
        &dyn Fn(&mut Part) -> Result<()>,
    ) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut csv = reader(text, delimiter);
    let mut record = ByteRecord::new();
    while csv
        .read_byte_record(&mut record)
        .map_err(|e| csv_error(e, path))?
    {
        let add = |part: &mut Part| {
            add_record(part, &record, columns).map_err(|(field, what)| {
                let line = record.position().map_or(1, csv::Position::line) + first_line - 1;
                Wrong {
                    line,
                    column: field as u64 + 1,
                    what,
                }
                .at(path)
            })
        };
        each(&mut csv, &add)?;
    }
    Ok(())
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
    if let (Want::Labels, Some(at)) = (columns.want, columns.label) {
        let label = record[at].trim_ascii();
        let code = match part.dictionary.find(label) {
            Some(code) => code,
            None => new_label(&mut part.dictionary, label).map_err(|what| (at, what))?,
        };
        part.codes.push(code);
    }
    for j in &columns.features {
        let Some(j) = *j else {
            part.values.push(0.0);
            continue;
        };
        let field = record[j].trim_ascii();
        match labels::number(field) {
            Some(value) => part.values.push(value),
            None => return Err((j, why_not_a_number(field, &columns.names[j]))),
        }
    }
    part.records += 1;
    Ok(())
}

fn new_label(dictionary: &mut Dictionary, label: &[u8]) -> std::result::Result<u32, String> {
    if is_missing(label) {
        return Err(format!("the label is missing ({})", shown(label)));
    }
    if fast_float2::parse::<f64, _>(label).is_ok_and(|x| !x.is_finite()) {
        return Err(format!("label {} is not finite", shown(label)));
    }
    dictionary.insert(label).ok_or_else(too_many_classes)
}

/// The ways in which programs write that there is nothing.
fn is_missing(field: &[u8]) -> bool {
    let spellings: [&[u8]; 6] = [b"", b"na", b"n/a", b"nan", b"null", b"none"];
    spellings.iter().any(|s| field.eq_ignore_ascii_case(s))
}

fn why_not_a_number(field: &[u8], name: &str) -> String {
    if is_missing(field) {
        format!("the value of column '{name}' is missing ({})", shown(field))
    } else if fast_float2::parse::<f64, _>(field).is_ok() {
        format!("{} in column '{name}' is not finite", shown(field))
    } else {
        format!("{} in column '{name}' is not a number", shown(field))
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

/// What is left of a stream, as bytes again. Keeps the error that a `Read` cannot carry, and an
/// eye on quotes that do not close: a record must end before `max_record` bytes.
struct Rest<'a, R> {
    text: VecDeque<u8>,
    blocks: &'a mut Blocks<R>,
    /// Bytes handed out so far …
    handed_out: u64,
    /// … and since the last record.
    since_record: usize,
    max_record: usize,
    failed: Option<Error>,
}

impl<R: Read> Rest<'_, R> {
    fn refill(&mut self) -> Result<()> {
        if self.since_record > self.max_record {
            return Err(self.blocks.refuse(format!(
                "a quote is not closed within {} bytes (the limit is max-line)",
                self.max_record
            )));
        }
        if let Some(block) = self.blocks.next_block()? {
            self.text = block.text.into();
        }
        Ok(())
    }
}

impl<R: Read> Read for Rest<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.text.is_empty() && self.failed.is_none() {
            self.failed = self.refill().err();
        }
        let n = self.text.read(buffer)?;
        self.handed_out += n as u64;
        self.since_record += n;
        Ok(n)
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
        notices: columns.notices.to_vec(),
    })
}
