//! Parquet: flat columns of numbers, one of them (or a text column) the labels.
//!
//! Read column by column, a row group at a time. A null, a date, a decimal or a nested column is
//! refused by name: what number it stands for is for the owner of the data to say.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use bytes::Bytes;
use parquet::basic::{ConvertedType, Encoding, LogicalType};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{
    ChunkReader, FileReader, Length, RowGroupReader, SerializedFileReader,
};
use parquet::schema::types::ColumnDescriptor;

use super::csv::{Columns, Want};
use super::{ReadOptions, Wrong, insert_label, shown, too_many_classes, whole};
use crate::data::dataset::{Examples, SkippedLines};
use crate::data::labels::{self, Dictionary};
use crate::data::rows::{Dense, Rows};
use crate::{Error, Result};

/// Records read at once of a column.
pub(super) const CHUNK: usize = 1 << 14;

/// Decoding runs on a thread of this name. A damaged file can make the `parquet` crate panic; the
/// panic ends that thread and [`read`](super::read) returns an error. The library leaves the
/// process's panic hook alone, so the hook sees the panic: a program that wants no message of it on
/// standard error can recognise it by the thread's name.
pub const PARQUET_THREAD: &str = "ubauc-parquet";

/// Reads a whole file; a damaged one is refused, even where the crate underneath panics.
///
/// It believes lengths and offsets of a file and asserts them later, so that one wrong byte can
/// make it panic. Nothing that it touched is used after that: the file and all that was read are
/// dropped with the thread, and the options are only read. A page header made for it (lists of
/// billions of values that take no bytes) still keeps the crate busy for seconds; one that is read
/// for ever is ended by [`Patient`].
pub(super) fn read_file(
    file: File,
    want: Want,
    path: &Path,
    options: &ReadOptions<'_>,
) -> Result<Examples> {
    guarded(path, || decode(file, want, path, options))?.examples(path)
}

/// Has a file decoded by a thread of its own, so that a panic is an error like others.
pub(super) fn guarded<T: Send>(path: &Path, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let decoded = on_own_thread(work).map_err(|source| Error::Io {
        path: path.to_path_buf(),
        source,
    })?;
    let what = "damaged Parquet file: its lengths and offsets contradict each other";
    decoded.unwrap_or_else(|| Err(whole(path, what)))
}

/// `None` if `work` panics; an error if there is no thread for it.
fn on_own_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<Option<T>> {
    thread::scope(|scope| {
        let worker = thread::Builder::new().name(PARQUET_THREAD.to_string());
        Ok(worker.spawn_scoped(scope, work)?.join().ok())
    })
}

/// The columns of a file.
struct Decoded {
    columns: Columns,
    dictionary: Dictionary,
    /// The class of every row.
    codes: Vec<u32>,
    /// Row by row.
    values: Vec<f64>,
}

impl Decoded {
    fn examples(self, path: &Path) -> Result<Examples> {
        let (n, d) = (self.codes.len(), self.columns.features.len());
        if n == 0 {
            return Err(whole(path, "no examples in the file"));
        }
        let labels = labels::join(self.codes, &[(self.dictionary, n)])
            .map_err(|_| whole(path, too_many_classes()))?;
        Ok(Examples {
            rows: Rows::smaller_of_dense(Dense::new(self.values, n, d)?),
            labels,
            names: self.columns.feature_names(),
            notices: self.columns.notices.to_vec(),
            skipped: SkippedLines::default(),
        })
    }
}

fn decode(file: File, want: Want, path: &Path, options: &ReadOptions<'_>) -> Result<Decoded> {
    let bytes = file.metadata().map_or(0, |m| m.len());
    let broken = |error: ParquetError| whole(path, format!("damaged Parquet file: {error}"));
    let reader = SerializedFileReader::new(Patient::new(file, bytes)).map_err(broken)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names = schema
        .columns()
        .iter()
        .map(|column| column.path().string())
        .collect();
    let wants_labels = want == Want::Labels;
    let columns = Columns::find(names, want, path, options)?;
    let mut dictionary = Dictionary::default();
    let mut codes = Vec::new();
    let mut values: Vec<f64> = Vec::new();
    let d = columns.features.len();
    let groups = reader.num_row_groups();
    for group in 0..groups {
        let group = reader.get_row_group(group).map_err(broken)?;
        let first_row = codes.len();
        let place = Place { path, first_row };
        match columns.label.filter(|_| wants_labels) {
            Some(label) => label_column(&*group, label, &place, &mut dictionary, &mut codes)?,
            None => no_labels(&*group, &columns, &place, &mut dictionary, &mut codes)?,
        }
        let n = codes.len() - first_row;
        values.resize(codes.len() * d, 0.0);
        for (j, column) in columns.features.iter().enumerate() {
            // What the file lacks stays zero.
            let Some(column) = *column else { continue };
            let cells = values[first_row * d..].iter_mut().skip(j).step_by(d);
            number_column(&*group, column, &place, n, cells)?;
        }
        options.advance(bytes / groups as u64);
    }
    Ok(Decoded {
        columns,
        dictionary,
        codes,
        values,
    })
}

/// One nameless class for every row. Rows are counted, for only the file vouches for the number
/// that it names, and memory is taken by it.
fn no_labels(
    group: &dyn RowGroupReader,
    columns: &Columns,
    place: &Place<'_>,
    dictionary: &mut Dictionary,
    codes: &mut Vec<u32>,
) -> Result<()> {
    let rows = match columns.features.iter().flatten().next() {
        Some(&column) => numbers(group, column, place, |_| Ok(()))?,
        None => usize::try_from(group.metadata().num_rows()).unwrap_or(0),
    };
    let code = dictionary.find(b"").or_else(|| dictionary.insert(b""));
    codes.resize(codes.len() + rows, code.unwrap_or(0));
    Ok(())
}

/// The reader of a column, whose pages are checked before they are decoded.
pub(super) fn column_reader(
    group: &dyn RowGroupReader,
    column: usize,
) -> std::result::Result<ColumnReader, ParquetError> {
    let pages = CheckedPages(group.get_column_page_reader(column)?);
    let descriptor = group.metadata().column(column).column_descr_ptr();
    Ok(get_column_reader(descriptor, Box::new(pages)))
}

/// Pages that do not make the decoders allocate by a number which only the file vouches for: where
/// that fails, it ends the process. Numbers of values are held against the bytes there are; text
/// in the two encodings by differences is refused, since its numbers stand within the bytes.
struct CheckedPages(Box<dyn PageReader>);

impl CheckedPages {
    fn check(page: Page) -> std::result::Result<Page, ParquetError> {
        match page.encoding() {
            encoding @ (Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY) => {
                Err(ParquetError::NYI(format!(
                    "text encoded as {encoding} is not supported; plain and dictionary are"
                )))
            }
            // No value of a dictionary takes less than a byte.
            _ if page.is_dictionary_page() && page.num_values() as usize > page.buffer().len() => {
                let (values, bytes) = (page.num_values(), page.buffer().len());
                let what = format!("dictionary of {values} values in {bytes} bytes");
                Err(ParquetError::General(what))
            }
            _ => Ok(page),
        }
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> std::result::Result<Option<Page>, ParquetError> {
        self.0.get_next_page()?.map(CheckedPages::check).transpose()
    }

    fn peek_next_page(&mut self) -> std::result::Result<Option<PageMetadata>, ParquetError> {
        self.0.peek_next_page()
    }

    fn skip_next_page(&mut self) -> std::result::Result<(), ParquetError> {
        self.0.skip_next_page()
    }
}

impl Iterator for CheckedPages {
    type Item = std::result::Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// A file that is asked only so often: page headers may be made to be read for ever, a byte at a time, and none
/// of them needs more questions than the file has bytes.
pub(super) struct Patient {
    file: File,
    left: Arc<AtomicU64>,
}

/// What [`Patient`] hands out.
pub(super) struct PatientRead {
    inner: <File as ChunkReader>::T,
    left: Arc<AtomicU64>,
}

impl Patient {
    pub(super) fn new(file: File, bytes: u64) -> Patient {
        let most = bytes.saturating_mul(4).saturating_add(1 << 20);
        Patient {
            file,
            left: Arc::new(AtomicU64::new(most)),
        }
    }
}

impl Length for Patient {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for Patient {
    type T = PatientRead;

    fn get_read(&self, start: u64) -> parquet::errors::Result<PatientRead> {
        Ok(PatientRead {
            inner: self.file.get_read(start)?,
            left: Arc::clone(&self.left),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        self.file.get_bytes(start, length)
    }
}

impl Read for PatientRead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let asked = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        match asked {
            Ok(_) => self.inner.read(buffer),
            Err(_) => Err(io::Error::other("a page header goes on for ever")),
        }
    }
}

/// Where a row group stands, for messages: line and column are row and column of the table.
pub(super) struct Place<'a> {
    pub(super) path: &'a Path,
    pub(super) first_row: usize,
}

impl Place<'_> {
    pub(super) fn wrong(&self, row: usize, column: usize, what: String) -> Error {
        let line = (self.first_row + row + 1) as u64;
        Wrong {
            line,
            column: column as u64 + 1,
            what,
        }
        .at(self.path)
    }

    pub(super) fn broken(&self, error: ParquetError) -> Error {
        let what = match error {
            ParquetError::NYI(what) => what,
            error => format!("damaged Parquet file: {error}"),
        };
        whole(self.path, what)
    }
}

/// Hands every value of a column to `take` with its row; a null is refused.
fn each_value<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    column: usize,
    place: &Place<'_>,
    mut take: impl FnMut(usize, &T::T) -> std::result::Result<(), String>,
) -> Result<usize> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut row = 0;
    loop {
        values.clear();
        levels.clear();
        let (records, found, _) = reader
            .read_records(CHUNK, Some(&mut levels), None, &mut values)
            .map_err(|error| place.broken(error))?;
        if records == 0 {
            return Ok(row);
        }
        if found < records {
            let full = levels.iter().max().copied().unwrap_or(0);
            let null = levels
                .iter()
                .position(|&l| l < full || full == 0)
                .unwrap_or(0);
            return Err(place.wrong(row + null, column, "the value is missing (null)".into()));
        }
        for value in &values {
            take(row, value).map_err(|what| place.wrong(row, column, what))?;
            row += 1;
        }
    }
}

/// Reads a column of numbers into its `n` cells.
fn number_column<'a>(
    group: &dyn RowGroupReader,
    column: usize,
    place: &Place<'_>,
    n: usize,
    mut cells: impl Iterator<Item = &'a mut f64>,
) -> Result<()> {
    let name = group.metadata().column(column).column_path().string();
    let rows = numbers(group, column, place, |value| match cells.next() {
        Some(cell) => {
            *cell = value;
            Ok(())
        }
        None => Err(format!("column '{name}' is longer than the labels")),
    })?;
    if rows != n {
        return Err(place.wrong(
            rows,
            column,
            format!("column '{name}' has {rows} rows, not {n}"),
        ));
    }
    Ok(())
}

/// Hands every number of a column to `take`, and says how many there were.
fn numbers(
    group: &dyn RowGroupReader,
    column: usize,
    place: &Place<'_>,
    mut take: impl FnMut(f64) -> std::result::Result<(), String>,
) -> Result<usize> {
    let descriptor = group.metadata().column(column).column_descr_ptr();
    let unsigned = plain_number(&descriptor).map_err(|what| place.wrong(0, column, what))?;
    let name = descriptor.path().string();
    let mut put = |value: f64| {
        if !value.is_finite() {
            return Err(format!("{value} in column '{name}' is not finite"));
        }
        take(value)
    };
    let reader = column_reader(group, column).map_err(|error| place.broken(error))?;
    match reader {
        ColumnReader::BoolColumnReader(r) => each_value(r, column, place, |_, &v| put(v.into())),
        ColumnReader::Int32ColumnReader(r) if unsigned => {
            each_value(r, column, place, |_, &v| put((v as u32).into()))
        }
        ColumnReader::Int32ColumnReader(r) => each_value(r, column, place, |_, &v| put(v.into())),
        ColumnReader::Int64ColumnReader(r) if unsigned => {
            each_value(r, column, place, |_, &v| put(v as u64 as f64))
        }
        ColumnReader::Int64ColumnReader(r) => each_value(r, column, place, |_, &v| put(v as f64)),
        ColumnReader::FloatColumnReader(r) => each_value(r, column, place, |_, &v| put(v.into())),
        ColumnReader::DoubleColumnReader(r) => each_value(r, column, place, |_, &v| put(v)),
        _ => Err(place.wrong(0, column, format!("column '{name}' does not hold numbers"))),
    }
}

/// Reads the labels, whatever type they are.
fn label_column(
    group: &dyn RowGroupReader,
    column: usize,
    place: &Place<'_>,
    dictionary: &mut Dictionary,
    codes: &mut Vec<u32>,
) -> Result<()> {
    let mut put = |label: &[u8]| {
        let code = match dictionary.find(label) {
            Some(code) => code,
            None if label.is_empty() => return Err("the label is missing ('')".to_string()),
            None if fast_float2::parse::<f64, _>(label).is_ok_and(|x| !x.is_finite()) => {
                return Err(format!("label {} is not finite", shown(label)));
            }
            None => insert_label(dictionary, label)?,
        };
        codes.push(code);
        Ok(())
    };
    let reader = column_reader(group, column).map_err(|error| place.broken(error))?;
    match reader {
        ColumnReader::BoolColumnReader(r) => {
            each_value(r, column, place, |_, &v| put(if v { b"1" } else { b"0" }))
        }
        ColumnReader::Int32ColumnReader(r) => {
            each_value(r, column, place, |_, v| put(v.to_string().as_bytes()))
        }
        ColumnReader::Int64ColumnReader(r) => {
            each_value(r, column, place, |_, v| put(v.to_string().as_bytes()))
        }
        ColumnReader::FloatColumnReader(r) => {
            each_value(r, column, place, |_, v| put(v.to_string().as_bytes()))
        }
        ColumnReader::DoubleColumnReader(r) => {
            each_value(r, column, place, |_, v| put(v.to_string().as_bytes()))
        }
        ColumnReader::ByteArrayColumnReader(r) => {
            each_value(r, column, place, |_, v| put(v.data().trim_ascii()))
        }
        _ => Err(place.wrong(
            0,
            column,
            "labels of this type are not supported".to_string(),
        )),
    }?;
    Ok(())
}

/// Is the column one of plain numbers? Says whether they are unsigned.
fn plain_number(descriptor: &ColumnDescriptor) -> std::result::Result<bool, String> {
    let name = descriptor.path().string();
    if descriptor.max_rep_level() > 0 || descriptor.path().parts().len() > 1 {
        return Err(format!(
            "column '{name}' is nested; flat columns are expected"
        ));
    }
    match descriptor.logical_type_ref() {
        Some(LogicalType::Integer(kind)) => return Ok(!kind.is_signed),
        Some(LogicalType::Float16) => return Err(format!("column '{name}' holds 16-bit floats")),
        Some(other) => {
            return Err(format!(
                "column '{name}' holds {other:?}, not plain numbers"
            ));
        }
        None => {}
    }
    match descriptor.converted_type() {
        ConvertedType::UINT_8
        | ConvertedType::UINT_16
        | ConvertedType::UINT_32
        | ConvertedType::UINT_64 => Ok(true),
        ConvertedType::NONE
        | ConvertedType::INT_8
        | ConvertedType::INT_16
        | ConvertedType::INT_32
        | ConvertedType::INT_64 => Ok(false),
        other => Err(format!("column '{name}' holds {other}, not plain numbers")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_the_thread_alone() {
        assert_eq!(on_own_thread(|| 1).unwrap(), Some(1));
        assert_eq!(
            on_own_thread(|| -> i32 { panic!("as intended") }).unwrap(),
            None
        );
    }
}
