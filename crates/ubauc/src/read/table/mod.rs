//! Tables as people have them: numbers, categories, dates and gaps, in CSV or Parquet.
//!
//! What a column holds is found out from all its values, never from a sample:
//!
//! | kind | every value that is there … |
//! |---|---|
//! | number | is a number; with a decimal comma where the separator is not a comma |
//! | time | is a date, perhaps with a time of day |
//! | category | otherwise, and where numbers have zeros in front (`007`) |
//!
//! Blocks of the file are parsed side by side, each with a guess of its own, and the guesses are
//! joined; a block that guessed otherwise than all blocks together is parsed once more. So the
//! text stays in memory until the kinds are known. [`table_batches`] needs no guess, since a model
//! knows the kinds: its memory does not grow with the file.

mod batches;
pub(super) mod blocks;
mod csv;
pub(super) mod header;
mod join;
mod levels;
mod missing;
mod number;
#[cfg(feature = "parquet")]
mod parquet;
mod piece;
mod raw;
pub(super) mod record;
mod report;
pub(super) mod roles;
mod svmlight;
mod time;

#[cfg(not(feature = "parquet"))]
use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::{
    Format, Input, MAX_FEATURES, MAX_LINE, ReadOptions, encoding, format_of, parquet_stream,
    read_head, refuse_no_text, shown, shown_up_to, svmlight as lines, text_blocks, whole,
};
use crate::data::dataset::Examples;
pub use crate::data::dataset::{Skipped, SkippedLines};
use crate::data::labels::{self, Labels};
use crate::data::table::Table;
use crate::{Error, Result};
pub(super) use batches::KnownTable;
pub use batches::{
    GivenColumn, GivenKind, TableBatch, TableBatches, table_batches, table_batches_from,
};
pub use missing::MISSING_TOKENS;
pub use raw::RawRecords;
pub use record::OnError;
pub use report::{ColumnReport, DetectedKind};
pub(super) use svmlight::IndexedColumns;
pub use svmlight::table_of_rows;
pub use time::DateOrder;

pub use super::encoding::Encoding;

/// Some columns of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnChoice {
    /// Those of these names.
    Names(Vec<String>),
    /// Every one.
    All,
}

impl Default for ColumnChoice {
    fn default() -> Self {
        ColumnChoice::Names(Vec::new())
    }
}

/// What to read of a table, and how.
#[derive(Clone)]
pub struct TableOptions<'a> {
    /// By file name and content if `None`.
    pub format: Option<Format>,
    /// The column that holds the labels; `None` if there is none.
    pub label: Option<String>,
    /// Columns of numbers, whatever they look like: a text in one of them is an error.
    pub numeric: Vec<String>,
    /// Columns of categories, whatever they look like.
    pub categorical: ColumnChoice,
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// Texts that stand for a missing value, exactly; [`MISSING_TOKENS`] if `None`. An empty field
    /// always does.
    pub missing: Option<Vec<String>>,
    /// The byte between CSV fields; the commonest of `,` `;` tab and `|` in the header if `None`.
    pub delimiter: Option<u8>,
    /// Is the decimal sign of this file a comma? Found out column by column if `None`.
    pub decimal_comma: Option<bool>,
    /// How CSV text is written; UTF-8, or UTF-16 with a byte order mark, if `None`.
    pub encoding: Option<Encoding>,
    /// CSV without a header: columns are called `1`, `2`, ….
    pub no_header: bool,
    /// svmlight indices start at 0, not at 1.
    pub zero_based: bool,
    /// More svmlight features are refused.
    pub max_features: usize,
    /// Longer lines are refused, in bytes.
    pub max_line: usize,
    /// What is done about a line of text that is wrong where a whole file is read; Parquet has no lines.
    pub on_error: OnError,
    /// Progress callback, as of [`ReadOptions`].
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
}

impl Default for TableOptions<'_> {
    fn default() -> Self {
        TableOptions {
            format: None,
            label: None,
            numeric: Vec::new(),
            categorical: ColumnChoice::default(),
            ignore: Vec::new(),
            missing: None,
            delimiter: None,
            decimal_comma: None,
            encoding: None,
            no_header: false,
            zero_based: false,
            max_features: MAX_FEATURES,
            max_line: MAX_LINE,
            on_error: OnError::Stop,
            progress: None,
        }
    }
}

impl<'a> TableOptions<'a> {
    /// Those that the readers of bytes know.
    pub(super) fn read_options(&self) -> ReadOptions<'a> {
        ReadOptions {
            format: self.format,
            zero_based: self.zero_based,
            max_features: self.max_features,
            max_line: self.max_line,
            progress: self.progress,
            encoding: self.encoding,
            on_error: self.on_error,
            ..Default::default()
        }
    }
}

/// A table and what was found out about it.
#[derive(Debug, Clone)]
pub struct TableExamples {
    /// All columns but the label and those left out.
    pub table: Table,
    /// If a column of labels was named.
    pub labels: Option<Labels>,
    /// What was made of the columns of the table, in their order.
    pub columns: Vec<ColumnReport>,
    /// What a user should know.
    pub notices: Vec<String>,
    /// What was left out.
    pub skipped: SkippedLines,
}

/// What a file of unknown format holds.
#[derive(Debug, Clone)]
pub enum Data {
    /// svmlight: rows of numbers.
    Rows(Examples),
    /// CSV and Parquet.
    Table(TableExamples),
}

/// Reads a table from a file; `-` is standard input.
pub fn read_table(path: &Path, options: &TableOptions<'_>) -> Result<TableExamples> {
    match read_data(path, options)? {
        Data::Table(table) => Ok(table),
        Data::Rows(_) => Err(whole(path, "is svmlight text; a table is expected")),
    }
}

/// Reads a file of any format; `-` is standard input. Labels of svmlight are read in any case,
/// those of a table if the options name their column.
pub fn read_data(path: &Path, options: &TableOptions<'_>) -> Result<Data> {
    let read = options.read_options();
    match Input::open(path)? {
        (Input::Plain { file, head, length }, _) if encoding::is_utf8(&head, options.encoding) => {
            match format_of(path, &head, &read) {
                // Where lines are left out, rows cannot be parsed into the place that was counted for them.
                Format::Svmlight if options.on_error == OnError::Skip => {
                    read_data_from(file, path, options)
                }
                Format::Svmlight => {
                    refuse_no_text(&head, None, path)?;
                    lines::read_file(&file, length, path, &read).map(Data::Rows)
                }
                Format::Csv => read_data_from(file, path, options),
                Format::Parquet => read_parquet(file, path, options).map(Data::Table),
            }
        }
        (input, name) => read_data_from(input.reader(), &name, options),
    }
}

/// Reads a table from whatever bytes come; `name` stands in errors where a file name would.
pub fn read_table_from(
    reader: impl Read + Send,
    name: &Path,
    options: &TableOptions<'_>,
) -> Result<TableExamples> {
    match read_data_from(reader, name, options)? {
        Data::Table(table) => Ok(table),
        Data::Rows(_) => Err(whole(name, "is svmlight text; a table is expected")),
    }
}

fn read_data_from(
    mut reader: impl Read + Send,
    name: &Path,
    options: &TableOptions<'_>,
) -> Result<Data> {
    let head = read_head(&mut reader).map_err(|source| Error::Io {
        path: name.to_path_buf(),
        source,
    })?;
    let read = options.read_options();
    let mut blocks = text_blocks(head, reader, name, &read)?;
    let head = blocks.checked_head()?;
    match format_of(name, head, &read) {
        Format::Svmlight => lines::read_blocks(blocks, name, &read).map(Data::Rows),
        Format::Csv => csv::read_csv(blocks, name, options).map(Data::Table),
        Format::Parquet => Err(parquet_stream(name)),
    }
}

/// A number with a decimal point, thousands perhaps apart.
pub(super) fn point_number(field: &[u8]) -> Option<f64> {
    match number::read_with_zeros(field, number::Decimal::Point) {
        number::Reading::Plain(x) | number::Reading::Point(x) => Some(x),
        number::Reading::Either { point, .. } => Some(point),
        number::Reading::Comma(_) | number::Reading::Infinite | number::Reading::Not => None,
    }
}

/// Names the columns there are, and the one that may be meant; says so when the first line is not a header at all.
fn no_column(
    wanted: &str,
    role: &'static str,
    names: &[String],
    no_header: bool,
    path: &Path,
) -> Error {
    let show = |name: &String| shown(name.as_bytes());
    let mut all: Vec<String> = names.iter().take(12).map(show).collect();
    if names.len() > all.len() {
        all.push("…".to_string());
    }
    let all = all.join(", ");
    let meant =
        near(wanted, names).map_or(String::new(), |name| format!(" (is {} meant?)", show(name)));
    let is_number = |name: &String| labels::number(name.trim().as_bytes()).is_some();
    let hint = if !no_header && names.iter().all(is_number) {
        "; the first line looks like data: a header is expected (or --no-header)"
    } else if role == "label" {
        "; name the column of labels (--label)"
    } else {
        ""
    };
    let wanted = shown_up_to(usize::MAX, wanted.as_bytes());
    Error::NoColumn {
        path: path.to_path_buf(),
        role,
        what: format!(" {wanted}{meant}; columns are {all}{hint}"),
    }
}

/// The name that is most like another: the same in other letters, or with a few mistakes.
fn near<'a>(wanted: &str, names: &'a [String]) -> Option<&'a String> {
    let lower = |text: &str| text.trim().to_lowercase();
    let wanted = lower(wanted);
    let most = wanted.chars().count() / 4 + usize::from(wanted.chars().count() > 2);
    let mistakes = |name: &String| strsim::damerau_levenshtein(&wanted, &lower(name));
    let named = names.iter().filter(|name| name.len() <= 200);
    let (mistakes, name) = named
        .map(|name| (mistakes(name), name))
        .min_by_key(|n| n.0)?;
    (wanted.len() <= 200 && mistakes <= most).then_some(name)
}

#[cfg(feature = "parquet")]
use parquet::{batches as parquet_batches, read_file as read_parquet};

/// What a build without the feature says of a Parquet file.
#[cfg(not(feature = "parquet"))]
fn no_parquet(path: &Path) -> Error {
    let what = "is a Parquet file; this build has no Parquet reader (feature `parquet`)";
    whole(path, what)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(_: File, path: &Path, _: &TableOptions<'_>) -> Result<TableExamples> {
    Err(no_parquet(path))
}

#[cfg(not(feature = "parquet"))]
fn parquet_batches<T: Send, E: From<Error>>(
    _: File,
    path: &Path,
    _: &TableBatches<'_>,
    _: impl Fn(TableBatch) -> T + Sync,
    _: impl FnMut(T) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    Err(no_parquet(path).into())
}
