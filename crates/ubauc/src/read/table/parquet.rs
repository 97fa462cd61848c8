//! Parquet: the file says what its columns hold.
//!
//! Numbers of any width and decimals are numbers, dates and timestamps are times (seconds of UTC,
//! or of whatever clock wrote them), texts and booleans are categories; a null is a gap, and so is
//! a text that stands for one in CSV. Read column by column, a row group at a time.

mod held;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

use super::super::parquet::{CHUNK, Patient, Place, column_reader, guarded};
use super::super::whole;
use super::batches::{Places, TableBatch, TableBatches};
use super::csv::labels_of;
use super::header::distinct_names;
use super::join::{self, Decided};
use super::missing::Missing;
use super::number::Decimal;
use super::piece::{OnText, Piece, Refused, Want};
use super::record::{Parsed, describe};
use super::report::ColumnReport;
use super::roles::Roles;
use super::time::DateOrder;
use super::{TableExamples, TableOptions};
use crate::data::calendar::DAY;
use crate::data::dataset::SkippedLines;
use crate::data::table::{Column, Table};
use crate::{Error, Result};
use held::{Held, decimal, half};

/// Texts in Parquet have their numbers with a point.
const DELIMITER: u8 = b',';

/// Reads a whole file.
pub(super) fn read_file(
    file: File,
    path: &Path,
    options: &TableOptions<'_>,
) -> Result<TableExamples> {
    guarded(path, || decode(file, path, options))
}

fn decode(file: File, path: &Path, options: &TableOptions<'_>) -> Result<TableExamples> {
    let bytes = file.metadata().map_or(0, |m| m.len());
    let source = Source::open(file, path, options)?;
    let (names, notices) = (&source.names, source.notices.clone());
    let roles = Roles::find(names, DELIMITER, path, options)?;
    let mut wants = roles.wants.clone();
    for (j, want) in wants.iter_mut().enumerate() {
        if matches!(want, Want::Guess(_)) {
            let held = source.held(j)?;
            *want = if roles.numeric[j] {
                Want::Number(Decimal::Point, OnText::Refuse)
            } else {
                held.want()
            };
        }
    }
    let mut columns: Vec<Vec<Piece>> = wants.iter().map(|_| Vec::new()).collect();
    let (mut rows, groups) = (0, source.reader.num_row_groups());
    for group in 0..groups {
        let parsed = source.group(group, rows, &wants)?;
        rows += parsed.rows;
        for (column, piece) in columns.iter_mut().zip(parsed.pieces) {
            column.push(piece);
        }
        if let Some(progress) = options.progress {
            progress(bytes / groups as u64);
        }
    }
    if rows == 0 {
        return Err(whole(path, "no rows in the file"));
    }
    let (mut made, mut reports, mut labels) = (Vec::new(), Vec::new(), None);
    for (j, (pieces, want)) in columns.into_iter().zip(wants).enumerate() {
        let decided = match want {
            Want::Skip => continue,
            Want::Label => {
                let (codes, levels) = join::categories(pieces, rows);
                labels = Some(labels_of(codes, &levels, path)?);
                continue;
            }
            want => decided(want),
        };
        let (values, _) = join::values(pieces, decided);
        let name = names[j].clone();
        let column = Column { name, values };
        let mut report = ColumnReport::of(&column);
        if let Decided::Time(order) = decided {
            report.date_order = Some(order);
        }
        reports.push(report);
        made.push(column);
    }
    Ok(TableExamples {
        table: Table::new(made, rows)?,
        labels,
        columns: reports,
        notices,
        skipped: SkippedLines::default(),
    })
}

/// Hands the row groups of a file to `each` and `take`, one after the other.
pub(super) fn batches<T: Send, E: From<Error>>(
    file: File,
    path: &Path,
    options: &TableBatches<'_>,
    each: impl Fn(TableBatch) -> T + Sync,
    mut take: impl FnMut(T) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let source = guarded(path, || Source::open(file, path, &options.read))?;
    let places = Places::find(&source.names, path, options)?;
    let wants = places.wants(source.names.len(), DELIMITER, options);
    let notices: Arc<[String]> = [source.notices.clone(), places.notices.clone()]
        .concat()
        .into();
    let mut rows = 0;
    for group in 0..source.reader.num_row_groups() {
        let parsed = guarded(path, || source.group(group, rows, &wants))?;
        rows += parsed.rows;
        if parsed.rows > 0 {
            take(each(places.batch(parsed, options, &notices)?))?;
        }
    }
    if rows == 0 {
        return Err(whole(path, "no rows in the file").into());
    }
    Ok(())
}

fn decided(want: Want) -> Decided {
    match want {
        Want::Number(decimal, _) => Decided::Number {
            decimal,
            unsure: false,
            infinite: false,
        },
        Want::Complete => Decided::Number {
            decimal: Decimal::Point,
            unsure: false,
            infinite: false,
        },
        Want::Time(order, _) => Decided::Time(order.unwrap_or(DateOrder::YearFirst)),
        _ => Decided::Category,
    }
}

/// An open file.
struct Source<'a> {
    reader: SerializedFileReader<Patient>,
    names: Vec<String>,
    notices: Vec<String>,
    path: &'a Path,
    missing: Missing,
}

impl<'a> Source<'a> {
    fn open(file: File, path: &'a Path, options: &TableOptions<'_>) -> Result<Source<'a>> {
        let bytes = file.metadata().map_or(0, |m| m.len());
        let broken = |error: ParquetError| whole(path, format!("damaged Parquet file: {error}"));
        let reader = SerializedFileReader::new(Patient::new(file, bytes)).map_err(broken)?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let columns = schema.columns().iter();
        let (names, notices) = distinct_names(columns.map(|c| c.path().string()).collect());
        Ok(Source {
            reader,
            names,
            notices,
            path,
            missing: Missing::new(options.missing.as_deref()),
        })
    }

    fn held(&self, column: usize) -> Result<Held> {
        let schema = self.reader.metadata().file_metadata().schema_descr_ptr();
        Held::of(&schema.column(column)).map_err(|what| whole(self.path, what))
    }

    /// The wanted columns of a row group.
    fn group(&self, group: usize, first_row: usize, wants: &[Want]) -> Result<Parsed> {
        let path = self.path;
        let place = Place { path, first_row };
        let group = self
            .reader
            .get_row_group(group)
            .map_err(|error| place.broken(error))?;
        let mut rows = None;
        let mut pieces = Vec::with_capacity(wants.len());
        for (j, &want) in wants.iter().enumerate() {
            let mut piece = Piece::new(want);
            if want != Want::Skip {
                self.column(&*group, j, &place, &mut piece)?;
                let expected = *rows.get_or_insert(piece.rows);
                if piece.rows != expected {
                    let (name, found) = (&self.names[j], piece.rows);
                    let what = format!("column '{name}' has {found} rows, not {expected}");
                    return Err(place.wrong(found, j, what));
                }
            }
            pieces.push(piece);
        }
        Ok(Parsed {
            pieces,
            rows: rows.unwrap_or(0),
            n_skipped: 0,
            skipped: Vec::new(),
            left_out: Vec::new(),
            stopped: None,
        })
    }

    fn column(
        &self,
        group: &dyn RowGroupReader,
        column: usize,
        place: &Place<'_>,
        piece: &mut Piece,
    ) -> Result<()> {
        let held = self.held(column)?;
        let reader = column_reader(group, column).map_err(|error| place.broken(error))?;
        let mut sink = Sink {
            source: self,
            column,
            place,
            piece,
            held,
        };
        match reader {
            ColumnReader::BoolColumnReader(r) => sink.all(r, |sink, &v| sink.boolean(v)),
            ColumnReader::Int32ColumnReader(r) => sink.all(r, |sink, &v| match sink.held {
                Held::Unsigned => sink.whole(i128::from(v as u32)),
                _ => sink.whole(i128::from(v)),
            }),
            ColumnReader::Int64ColumnReader(r) => sink.all(r, |sink, &v| match sink.held {
                Held::Unsigned => sink.whole(i128::from(v as u64)),
                _ => sink.whole(i128::from(v)),
            }),
            ColumnReader::Int96ColumnReader(r) => sink.all(r, |sink, v| {
                let data = v.data();
                let nanos = (u64::from(data[1]) << 32 | u64::from(data[0])) as f64;
                // Day 2,440,588 of the Julian count is 1970-01-01.
                let days = f64::from(data[2]) - 2_440_588.0;
                sink.number(days * DAY + nanos * 1e-9)
            }),
            ColumnReader::FloatColumnReader(r) => {
                sink.all(r, |sink, &v| match sink.piece.wants_text() {
                    // The shortest text of the narrow number, not of the wide one.
                    true if v.is_finite() => sink.text(v.to_string().as_bytes()),
                    _ => sink.number(v.into()),
                })
            }
            ColumnReader::DoubleColumnReader(r) => sink.all(r, |sink, &v| sink.number(v)),
            ColumnReader::ByteArrayColumnReader(r) => sink.all(r, |sink, v| sink.bytes(v.data())),
            ColumnReader::FixedLenByteArrayColumnReader(r) => {
                sink.all(r, |sink, v| sink.bytes(v.data()))
            }
        }
    }
}

/// Where the values of a column go.
struct Sink<'a> {
    source: &'a Source<'a>,
    column: usize,
    place: &'a Place<'a>,
    piece: &'a mut Piece,
    held: Held,
}

impl Sink<'_> {
    /// Puts all values of a column, and gaps where there are none.
    fn all<T: DataType>(
        &mut self,
        mut reader: ColumnReaderImpl<T>,
        put: impl Fn(&mut Self, &T::T) -> std::result::Result<(), String>,
    ) -> Result<()> {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        loop {
            values.clear();
            levels.clear();
            let (records, found, _) = reader
                .read_records(CHUNK, Some(&mut levels), None, &mut values)
                .map_err(|error| self.place.broken(error))?;
            if records == 0 {
                return Ok(());
            }
            // A value that may be missing has level 1 where it is there; others have no levels.
            let is_there = |i: usize| found == records || levels.get(i) == Some(&1);
            let mut values = values.iter();
            for i in 0..records {
                let put = match is_there(i).then(|| values.next()).flatten() {
                    Some(value) => put(self, value),
                    None => {
                        let why = self.piece.push_null();
                        why.map_err(|why| self.describe(why, b""))
                    }
                };
                put.map_err(|what| self.place.wrong(self.piece.rows, self.column, what))?;
            }
        }
    }

    fn describe(&self, why: Refused, value: &[u8]) -> String {
        describe(why, value, &self.source.names[self.column])
    }

    fn text(&mut self, text: &[u8]) -> std::result::Result<(), String> {
        let put = self.piece.push(text.trim_ascii(), &self.source.missing);
        put.map_err(|why| self.describe(why, text))
    }

    fn number(&mut self, value: f64) -> std::result::Result<(), String> {
        if !self.piece.wants_text() {
            let put = self.piece.push_value(value);
            return put.map_err(|why| self.describe(why, value.to_string().as_bytes()));
        }
        if value.is_nan() {
            let put = self.piece.push_null();
            return put.map_err(|why| self.describe(why, b"NaN"));
        }
        self.text(value.to_string().as_bytes())
    }

    /// As labels booleans are 1 and 0, as categories they are words.
    fn boolean(&mut self, value: bool) -> std::result::Result<(), String> {
        if !self.piece.wants_text() {
            return self.number(f64::from(u8::from(value)));
        }
        let text = match (self.piece.is_label(), value) {
            (true, true) => "1",
            (true, false) => "0",
            (false, true) => "true",
            (false, false) => "false",
        };
        self.text(text.as_bytes())
    }

    fn whole(&mut self, value: i128) -> std::result::Result<(), String> {
        match self.held {
            Held::Decimal { scale } => self.number(decimal(value, scale)),
            Held::Time { unit } | Held::TimeOfDay { unit } => {
                // A division is exact where the unit is a power of ten below one.
                let seconds = if unit < 1.0 {
                    value as f64 / (1.0 / unit).round()
                } else {
                    value as f64 * unit
                };
                self.number(seconds)
            }
            _ if self.piece.wants_text() => self.text(value.to_string().as_bytes()),
            _ => self.number(value as f64),
        }
    }

    fn bytes(&mut self, bytes: &[u8]) -> std::result::Result<(), String> {
        match self.held {
            Held::Decimal { .. } if bytes.len() > 16 => {
                Err("decimals of more than 38 digits are not supported".to_string())
            }
            Held::Decimal { scale } => {
                let sign = bytes.first().map_or(0, |b| (*b as i8 >> 7) as i128);
                let value = bytes.iter().fold(sign, |v, b| v << 8 | i128::from(*b));
                self.number(decimal(value, scale))
            }
            Held::HalfFloat => match bytes.first_chunk::<2>() {
                Some(two) => self.number(half(u16::from_le_bytes(*two))),
                None => Err("a 16-bit float of less than 16 bits".to_string()),
            },
            Held::Uuid => {
                let text: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
                self.text(text.as_bytes())
            }
            _ if std::str::from_utf8(bytes).is_ok() => self.text(bytes),
            _ => {
                let name = &self.source.names[self.column];
                Err(format!(
                    "bytes in column '{name}' are not UTF-8 text; --ignore '{name}'"
                ))
            }
        }
    }
}
