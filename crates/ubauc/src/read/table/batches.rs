//! A table batch by batch, in memory that does not grow with the file.
//!
//! The kinds of the columns are given, as a model knows them, and found by name whatever their
//! order in the file. A text where a number or a time is expected counts as missing and is
//! counted; a category may have levels that nobody has seen before. From a pipe a batch is the
//! lines that have come, so that nobody waits for a full block.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::super::batches::first_bytes;
use super::super::blocks::Block;
use super::super::classes::StreamClasses;
use super::super::{Format, Input, Wrong, format_of, parquet_stream, shown, text_blocks, whole};
use super::TableOptions;
use super::header::{self, Header};
use super::join::{self, Decided};
use super::missing::Missing;
use super::number::Decimal;
use super::piece::{OnText, Piece, Want};
use super::record::{Layout, OnError, Parsed, parse_block};
use super::time::DateOrder;
use crate::data::dataset::Skipped;
use crate::data::table::{Column, Table, Values};
use crate::{Error, Result};

/// A column that is known before the file is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenColumn {
    /// As in the header, columns without a name or with another's name as [`super::read_table`]
    /// calls them.
    pub name: String,
    /// What it holds.
    pub kind: GivenKind,
}

/// What a known column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenKind {
    /// Numbers.
    Number {
        /// What `1.234` means where a decimal comma would be possible.
        decimal_comma: bool,
    },
    /// Numbers, and a row without one is wrong.
    CompleteNumber,
    /// Texts.
    Category,
    /// Texts to be copied, in which nothing stands for a missing one.
    Text,
    /// Dates or times.
    Time {
        /// What `01/02/2013` means.
        order: DateOrder,
    },
}

/// Which columns to read, and how.
#[derive(Clone)]
pub struct TableBatches<'a> {
    /// The columns of every batch, in this order. All must be in the file.
    pub columns: Vec<GivenColumn>,
    /// As for whole files; the kinds of columns and those left out are not asked for.
    pub read: TableOptions<'a>,
    /// The column of labels may be missing in the file, or its value in a row.
    pub optional_label: bool,
    /// The labels are those of a stream: of these classes, or none; any other is wrong.
    pub classes: Option<StreamClasses>,
    /// A notice of columns that are neither given nor the label nor ignored.
    pub notice_others: bool,
    /// What is done about a line that is wrong.
    pub on_error: OnError,
}

/// Some rows of a file, in its order.
#[derive(Debug, Clone)]
pub struct TableBatch {
    /// The columns asked for. Categories have the levels of these rows.
    pub table: Table,
    /// Categories: the labels, if they are asked for and there.
    pub labels: Option<Values>,
    /// For each column, texts that were taken as missing.
    pub unreadable: Vec<usize>,
    /// Lines left out between these rows.
    pub n_skipped: usize,
    /// The first few of them.
    pub skipped: Vec<Skipped>,
    /// What a user should know about the file; batches repeat it.
    pub notices: Arc<[String]>,
    /// The file has columns, and not svmlight's indices.
    pub is_table: bool,
}

impl From<Wrong> for Skipped {
    fn from(Wrong { line, column, what }: Wrong) -> Skipped {
        Skipped { line, column, what }
    }
}

/// Hands every batch of a file to `each`, on all threads, and what that makes of it to `take`, in
/// the order of the file; rows before a line that ends the reading are not lost. `-` is standard
/// input.
pub fn table_batches<T: Send, E: From<Error>>(
    path: &Path,
    options: &TableBatches<'_>,
    each: impl Fn(TableBatch) -> T + Sync,
    take: impl FnMut(T) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let (input, name) = Input::open(path)?;
    match input.parquet(path, &options.read.read_options()) {
        Ok(file) => super::parquet_batches(file, path, options, each, take),
        Err(input) => table_batches_from(input.reader(), &name, options, each, take),
    }
}

/// The same from whatever bytes come; `name` stands in errors where a file name would.
pub fn table_batches_from<T: Send, E: From<Error>>(
    mut reader: impl Read + Send,
    name: &Path,
    options: &TableBatches<'_>,
    each: impl Fn(TableBatch) -> T + Sync,
    mut take: impl FnMut(T) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let head = first_bytes(&mut reader).map_err(|source| Error::Io {
        path: name.to_path_buf(),
        source,
    })?;
    let read = options.read.read_options();
    let mut blocks = text_blocks(head, reader, name, &read)?.live();
    match format_of(name, blocks.checked_head()?, &read) {
        Format::Csv => {}
        Format::Svmlight => return super::svmlight::batches(blocks, options, each, take),
        Format::Parquet => return Err(parquet_stream(name).into()),
    }
    let (header, mut records, first) = header::open(blocks, name, &options.read)?;
    let known = KnownTable::new(header, name, options.clone())?;
    let mut any = false;
    let mut next = Some(first);
    while let Some(block) = next {
        let pieces = records.divide(block);
        let parsed: Vec<Result<(Option<T>, Option<Error>)>> = pieces
            .par_iter()
            .map(|block| {
                let (batch, stopped) = known.parse(block)?;
                Ok((batch.map(&each), stopped))
            })
            .collect();
        for made in parsed {
            let (made, stopped) = made?;
            if let Some(made) = made {
                any = true;
                take(made)?;
            }
            if let Some(error) = stopped {
                return Err(error.into());
            }
        }
        next = records.next_block()?;
    }
    if any {
        Ok(())
    } else {
        Err(whole(name, "no rows in the file").into())
    }
}

/// A CSV file whose columns are known.
pub(in super::super) struct KnownTable<'a> {
    path: PathBuf,
    header: Header,
    places: Places,
    missing: Missing,
    wants: Vec<Want>,
    notices: Arc<[String]>,
    options: TableBatches<'a>,
}

impl<'a> KnownTable<'a> {
    /// Finds the columns by the names of the header.
    pub(in super::super) fn new(
        header: Header,
        path: &Path,
        options: TableBatches<'a>,
    ) -> Result<KnownTable<'a>> {
        let places = Places::find(&header.names, path, &options)?;
        let wants = places.wants(header.names.len(), header.delimiter, &options);
        let notices = [header.notices.clone(), places.notices.clone()].concat();
        Ok(KnownTable {
            path: path.to_path_buf(),
            missing: Missing::new(options.read.missing.as_deref()),
            header,
            places,
            wants,
            notices: notices.into(),
            options,
        })
    }

    /// The rows of a block, if it has any, and the error that ends the reading behind them.
    pub(in super::super) fn parse(
        &self,
        block: &Block,
    ) -> Result<(Option<TableBatch>, Option<Error>)> {
        let options = &self.options;
        let layout = Layout {
            delimiter: self.header.delimiter,
            missing: &self.missing,
            names: &self.header.names,
            max_line: options.read.max_line,
            classes: options.classes.as_ref(),
        };
        let mut parsed = parse_block(block, &self.wants, &layout, options.on_error);
        let stopped = parsed.stopped.take().map(|wrong| wrong.at(&self.path));
        let is_empty = parsed.rows == 0 && parsed.n_skipped == 0;
        let batch = (!is_empty).then(|| self.places.batch(parsed, options, &self.notices));
        Ok((batch.transpose()?, stopped))
    }
}

/// Where the columns are in the file.
pub(super) struct Places {
    /// Of each given column.
    pub(super) columns: Vec<usize>,
    pub(super) label: Option<usize>,
    pub(super) notices: Vec<String>,
}

impl Places {
    pub(super) fn find(
        names: &[String],
        path: &Path,
        options: &TableBatches<'_>,
    ) -> Result<Places> {
        let by_name: std::collections::HashMap<&str, usize> = names
            .iter()
            .enumerate()
            .map(|(j, name)| (name.as_str(), j))
            .collect();
        let no_header = options.read.no_header;
        let place = |name: &str, what: &'static str| {
            let found = by_name.get(name).copied();
            found.ok_or_else(|| super::no_column(name, what, names, no_header, path))
        };
        let columns = options
            .columns
            .iter()
            .map(|column| {
                let is_copied = column.kind == GivenKind::Text;
                place(&column.name, if is_copied { "id" } else { "feature" })
            })
            .collect::<Result<Vec<usize>>>()?;
        let label = match &options.read.label {
            None => None,
            Some(name) if options.optional_label => by_name.get(name.as_str()).copied(),
            Some(name) => Some(place(name, "label")?),
        };
        let mut used = vec![false; names.len()];
        for &at in columns.iter().chain(&label) {
            used[at] = true;
        }
        let mut others = (0..names.len())
            .filter(|&j| !used[j] && !options.read.ignore.contains(&names[j]))
            .map(|j| shown(names[j].as_bytes()));
        let mut notices = Vec::new();
        if options.notice_others {
            let mut listed: Vec<String> = others.by_ref().take(12).collect();
            if others.next().is_some() {
                listed.push("…".to_string());
            }
            if !listed.is_empty() {
                notices.push(format!("columns not used: {}", listed.join(", ")));
            }
        }
        Ok(Places {
            columns,
            label,
            notices,
        })
    }

    pub(super) fn wants(
        &self,
        width: usize,
        delimiter: u8,
        options: &TableBatches<'_>,
    ) -> Vec<Want> {
        let mut wants = vec![Want::Skip; width];
        for (column, &at) in options.columns.iter().zip(&self.columns) {
            wants[at] = match column.kind {
                GivenKind::Category => Want::Category,
                GivenKind::Text => Want::Text,
                GivenKind::Time { order } => Want::Time(Some(order), OnText::Missing),
                GivenKind::CompleteNumber => Want::Complete,
                GivenKind::Number { decimal_comma } => {
                    let decimal = match (decimal_comma, delimiter) {
                        (true, _) => Decimal::Comma,
                        (false, b',') => Decimal::Point,
                        (false, _) => Decimal::Open,
                    };
                    Want::Number(decimal, OnText::Missing)
                }
            };
        }
        if let Some(at) = self.label {
            wants[at] = match (&options.classes, options.optional_label) {
                (Some(_), _) => Want::StreamLabel,
                (None, true) => Want::Category,
                (None, false) => Want::Label,
            };
        }
        wants
    }

    pub(super) fn batch(
        &self,
        parsed: Parsed,
        options: &TableBatches<'_>,
        notices: &Arc<[String]>,
    ) -> Result<TableBatch> {
        let rows = parsed.rows;
        let mut pieces: Vec<Option<Piece>> = parsed.pieces.into_iter().map(Some).collect();
        let mut values = |at: usize, decided: Decided| {
            let piece: Vec<Piece> = pieces[at].take().into_iter().collect();
            let unreadable = piece.iter().map(|piece| piece.unreadable).sum();
            (join::values(piece, decided).0, unreadable)
        };
        let labels = self.label.map(|at| values(at, Decided::Category).0);
        let (mut columns, mut unreadable) = (Vec::new(), Vec::new());
        for (column, &at) in options.columns.iter().zip(&self.columns) {
            let (values, texts) = values(at, column.kind.decided());
            unreadable.push(texts);
            let name = column.name.clone();
            columns.push(Column { name, values });
        }
        Ok(TableBatch {
            table: Table::new(columns, rows)?,
            labels,
            unreadable,
            n_skipped: parsed.n_skipped,
            skipped: parsed.skipped.into_iter().map(Skipped::from).collect(),
            notices: Arc::clone(notices),
            is_table: true,
        })
    }
}

impl GivenKind {
    fn decided(self) -> Decided {
        match self {
            GivenKind::Category | GivenKind::Text => Decided::Category,
            GivenKind::Time { order } => Decided::Time(order),
            GivenKind::Number { .. } | GivenKind::CompleteNumber => Decided::Number {
                decimal: Decimal::Point,
                unsure: false,
                infinite: false,
            },
        }
    }
}
