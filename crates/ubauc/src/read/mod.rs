//! Bytes to examples: svmlight, CSV and (feature `parquet`) Parquet; plain, gzip, zstd, bzip2, xz or
//! zip, recognised by content; from a file or from standard input.
//!
//! A reader refuses bad input with its place and reads the rest of nothing: either the whole file
//! is examples, or there is an error; unless lines that are wrong are to be left out, which are counted. Memory is bounded by the examples and a few blocks of text.

mod batches;
mod blocks;
mod classes;
mod csv;
mod decompress;
mod encoding;
#[cfg(feature = "parquet")]
mod parquet;
mod stream;
mod svmlight;
pub mod table;
mod zip;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use crate::data::dataset::Examples;
use crate::data::labels::{Dictionary, MAX_CLASSES};
use crate::{Error, Result};
pub use batches::{Batch, batches, batches_from};
use blocks::{BOM, Blocks};
pub use classes::StreamClasses;
use csv::Want;
use decompress::Compression;
pub use encoding::Encoding;
#[cfg(feature = "parquet")]
pub use parquet::PARQUET_THREAD;
pub use stream::{
    FirstRows, LabelledBatch, LabelledStream, Next, StreamFeatures, StreamOptions, StreamTable,
};
use table::OnError;

/// A line may be this long unless the options say otherwise. A row of half a million features fits.
pub const MAX_LINE: usize = 8 << 20;

/// More features than this are refused unless the options say otherwise: an index of 2147483648 in
/// a damaged file would ask for gigabytes.
pub const MAX_FEATURES: usize = 100_000_000;

/// The format of a table of examples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `label index:value …`
    Svmlight,
    /// A header and rows of fields.
    Csv,
    /// Columns in binary; needs the feature `parquet`.
    Parquet,
}

/// What to read and how.
#[derive(Clone)]
pub struct ReadOptions<'a> {
    /// By file name and content if `None`.
    pub format: Option<Format>,
    /// The column that holds the labels (CSV and Parquet).
    pub label: String,
    /// Columns to read as features, in this order; all but the label if `None`.
    pub columns: Option<Vec<String>>,
    /// A column of `columns` that the file lacks is taken as zeros, with a notice.
    pub missing_zero: bool,
    /// A notice of the columns that are neither label nor in `columns` nor ignored.
    pub notice_others: bool,
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// The byte between CSV fields; the commonest of `,` `;` tab and `|` in the header if `None`.
    pub delimiter: Option<u8>,
    /// CSV without a header: columns are called `1`, `2`, ….
    pub no_header: bool,
    /// svmlight indices start at 0, as some programs write them, not at 1.
    pub zero_based: bool,
    /// Longer lines are refused, in bytes.
    pub max_line: usize,
    /// More svmlight features are refused where a whole file is read: every solver allocates by the
    /// largest index. Batches and streams, which are scored or hashed, are not limited.
    pub max_features: usize,
    /// How the text is written; UTF-8, or UTF-16 with a byte order mark, if `None`.
    pub encoding: Option<Encoding>,
    /// What is done about a line of text that is wrong.
    pub on_error: OnError,
    /// Progress callback, called now and then with the bytes read of the file, compressed bytes if it is compressed.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        ReadOptions {
            format: None,
            label: "label".to_string(),
            columns: None,
            missing_zero: false,
            notice_others: false,
            ignore: Vec::new(),
            delimiter: None,
            no_header: false,
            zero_based: false,
            max_line: MAX_LINE,
            max_features: MAX_FEATURES,
            encoding: None,
            on_error: OnError::Stop,
            progress: None,
        }
    }
}

impl ReadOptions<'_> {
    fn advance(&self, bytes: u64) {
        if let Some(progress) = self.progress {
            progress(bytes);
        }
    }
}

/// Where bytes come from.
enum Input {
    /// A file of plain bytes, with the first of them.
    Plain {
        file: File,
        head: Vec<u8>,
        length: u64,
    },
    /// Compressed, a pipe or standard input.
    Stream(Box<dyn Read + Send>),
}

impl Input {
    /// Opens a file, `-` is standard input; and what it is called in errors.
    fn open(path: &Path) -> Result<(Input, PathBuf)> {
        if path == Path::new("-") {
            let input = Input::Stream(Box::new(io::stdin()));
            return Ok((input, PathBuf::from("<stdin>")));
        }
        let io_error = |source| Error::Io {
            path: path.to_path_buf(),
            source,
        };
        let mut file = File::open(path).map_err(io_error)?;
        let metadata = file.metadata().map_err(io_error)?;
        if metadata.is_dir() {
            return Err(whole(path, "is a directory, not a file"));
        }
        if !metadata.is_file() {
            return Ok((Input::Stream(Box::new(file)), path.to_path_buf()));
        }
        let head = read_head(&mut file).map_err(io_error)?;
        file.rewind().map_err(io_error)?;
        let length = metadata.len();
        let input = match Compression::of(&head) {
            Some(_) => Input::Stream(Box::new(file)),
            None => Input::Plain { file, head, length },
        };
        Ok((input, path.to_path_buf()))
    }

    /// All its bytes.
    fn reader(self) -> Box<dyn Read + Send> {
        match self {
            Input::Plain { file, .. } => Box::new(file),
            Input::Stream(reader) => reader,
        }
    }

    /// The file, if it is a Parquet file.
    fn parquet(self, path: &Path, options: &ReadOptions<'_>) -> std::result::Result<File, Input> {
        match self {
            Input::Plain { file, head, .. }
                if format_of(path, &head, options) == Format::Parquet =>
            {
                Ok(file)
            }
            input => Err(input),
        }
    }
}

/// Reads a file; `-` is standard input.
pub fn read(path: &Path, options: &ReadOptions<'_>) -> Result<Examples> {
    match Input::open(path)? {
        (Input::Plain { file, head, length }, _) if encoding::is_utf8(&head, options.encoding) => {
            refuse_no_text(&head, None, path)?;
            match format_of(path, &head, options) {
                // Where lines are left out, rows cannot be parsed into the place that was counted for them.
                Format::Svmlight if options.on_error == OnError::Skip => {
                    read_from(file, path, options)
                }
                Format::Svmlight => svmlight::read_file(&file, length, path, options),
                Format::Csv => read_from(file, path, options),
                Format::Parquet => read_parquet(file, Want::Labels, path, options),
            }
        }
        (input, name) => read_from(input.reader(), &name, options),
    }
}

/// Reads whatever bytes come; `name` stands in errors where a file name would.
pub fn read_from(
    mut reader: impl Read + Send,
    name: &Path,
    options: &ReadOptions<'_>,
) -> Result<Examples> {
    let head = read_head(&mut reader).map_err(|source| Error::Io {
        path: name.to_path_buf(),
        source,
    })?;
    let mut blocks = text_blocks(head, reader, name, options)?;
    let head = blocks.checked_head()?;
    match format_of(name, head, options) {
        Format::Svmlight => svmlight::read_blocks(blocks, name, options),
        Format::Csv => csv::read_blocks(blocks, name, options),
        Format::Parquet => Err(parquet_stream(name)),
    }
}

/// The lines of a stream whose first bytes, `head`, are read already; decompressed, with progress reported.
fn text_blocks<'a>(
    head: Vec<u8>,
    rest: impl Read + Send + 'a,
    name: &Path,
    options: &'a ReadOptions<'a>,
) -> Result<Blocks<Box<dyn Read + Send + 'a>>> {
    let compression = Compression::of(&head);
    let counted = Counted {
        reader: io::Cursor::new(head).chain(rest),
        options,
    };
    let io_error = |source| Error::Io {
        path: name.to_path_buf(),
        source,
    };
    let text = decompress::decompress(counted, compression).map_err(io_error)?;
    let text = encoding::as_utf8(text, options.encoding);
    Ok(Blocks::new(text, name, compression, options.max_line))
}

fn parquet_stream(name: &Path) -> Error {
    whole(
        name,
        "Parquet is read from a plain file only, not from a stream or an archive",
    )
}

#[cfg(feature = "parquet")]
fn read_parquet(
    file: File,
    want: Want,
    path: &Path,
    options: &ReadOptions<'_>,
) -> Result<Examples> {
    parquet::read_file(file, want, path, options)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(_: File, _: Want, path: &Path, _: &ReadOptions<'_>) -> Result<Examples> {
    Err(whole(
        path,
        "is a Parquet file; this build has no Parquet reader (feature `parquet`)",
    ))
}

/// Enough bytes to tell a format by.
const HEAD: usize = 4096;

fn read_head(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// What cannot be examples in any format.
fn refuse_no_text(head: &[u8], outer: Option<Compression>, path: &Path) -> Result<()> {
    if head.is_empty() {
        return Err(whole(path, "the file is empty"));
    }
    if let (Some(outer), Some(inner)) = (outer, Compression::of(head)) {
        let what = format!(
            "compressed twice: {} data within {} data",
            inner.name(),
            outer.name()
        );
        return Err(whole(path, what));
    }
    Ok(())
}

/// The options' format, or the file name's, or what the text looks like.
fn format_of(path: &Path, head: &[u8], options: &ReadOptions<'_>) -> Format {
    if let Some(format) = options.format {
        return format;
    }
    // A stream has more of its text at hand than a file; both must come to the same answer.
    let head = head.strip_prefix(BOM).unwrap_or(head);
    let head = &head[..head.len().min(HEAD - BOM.len())];
    if head.starts_with(b"PAR1") {
        return Format::Parquet;
    }
    let name = path.to_string_lossy().to_ascii_lowercase();
    let name = [".gz", ".zst", ".bz2", ".xz", ".zip"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))
        .unwrap_or(&name);
    if [".csv", ".tsv"].iter().any(|suffix| name.ends_with(suffix)) {
        Format::Csv
    } else if [".svm", ".svmlight", ".libsvm"]
        .iter()
        .any(|suffix| name.ends_with(suffix))
        || svmlight::looks_like(head)
    {
        Format::Svmlight
    } else {
        Format::Csv
    }
}

/// An error about the file as a whole.
fn whole(path: &Path, what: impl Into<String>) -> Error {
    Error::File {
        path: path.to_path_buf(),
        what: what.into(),
    }
}

/// An error at its place, before the file's name is known.
#[derive(Debug)]
struct Wrong {
    line: u64,
    column: u64,
    what: String,
}

impl Wrong {
    fn at(self, path: &Path) -> Error {
        let Wrong { line, column, what } = self;
        Error::Parse {
            path: PathBuf::from(path),
            line,
            column,
            what,
        }
    }
}

/// The longest label, in bytes. Each different one is kept.
const MAX_LABEL: usize = 1000;

/// Adds a label that has not been met before, or says why it is none.
fn insert_label(dictionary: &mut Dictionary, label: &[u8]) -> std::result::Result<u32, String> {
    if label.len() > MAX_LABEL {
        let (shown, length) = (shown(label), label.len());
        return Err(format!(
            "label {shown} is {length} bytes long; at most {MAX_LABEL} are expected"
        ));
    }
    dictionary.insert(label).ok_or_else(too_many_classes)
}

fn too_many_classes() -> String {
    format!("more than {MAX_CLASSES} different labels; labels must be classes")
}

/// Text from a file, fit for a message: printable and short.
fn shown(text: &[u8]) -> String {
    shown_up_to(24, text)
}

fn shown_up_to(most: usize, text: &[u8]) -> String {
    let short = &text[..text.len().min(most)];
    let dots = if short.len() < text.len() { "…" } else { "" };
    // The cut may have gone through a character.
    let whole = match std::str::from_utf8(short) {
        Err(e) if e.error_len().is_none() && short.len() < text.len() => &short[..e.valid_up_to()],
        _ => short,
    };
    match std::str::from_utf8(whole) {
        Ok(s) if !s.chars().any(char::is_control) => format!("'{s}{dots}'"),
        _ => format!("'{}{dots}'", short.escape_ascii()),
    }
}

/// Tells the progress of every byte that passes.
struct Counted<'a, R> {
    reader: R,
    options: &'a ReadOptions<'a>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.options.advance(n as u64);
        Ok(n)
    }
}
