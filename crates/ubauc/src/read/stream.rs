//! Labelled examples of a stream batch by batch, in memory that does not grow with it: for learning.
//!
//! Three stages run at once. A thread of its own reads and decompresses, and cuts the text into
//! blocks of whole lines; the threads of the pool parse the blocks; the caller takes the batches in
//! the order of the stream. Only a few blocks are under way. From a pipe a block is the lines that
//! have come, without waiting for a full one, and the caller never waits longer than it wants.
//!
//! How a stream falls into batches depends on time; what is in them does not: svmlight rows are
//! always sparse, those of a table of numbers always dense, and others coded by the map of the columns.

mod first_rows;
mod table;

use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use super::batches::first_bytes;
use super::blocks::{Block, Blocks};
use super::classes::StreamClasses;
use super::table::{IndexedColumns, OnError, Skipped, TableOptions};
use super::{Format, Input, format_of, svmlight, text_blocks, whole};
use crate::data::labels::number;
use crate::data::rows::Rows;
use crate::features::FeatureMap;
use crate::{Error, Result};
pub use first_rows::FirstRows;
pub use table::StreamTable;

/// What to read of a stream, and how.
#[derive(Clone)]
pub struct StreamOptions {
    /// As for files; the label is the column of the labels.
    pub read: TableOptions<'static>,
    /// Which labels are of which class.
    pub classes: StreamClasses,
    /// The column of sample weights (CSV).
    pub weight: Option<String>,
    /// What becomes of the columns.
    pub features: StreamFeatures,
    /// What is done about a line that is wrong.
    pub on_error: OnError,
}

/// What becomes of the columns of a stream.
#[derive(Debug, Clone)]
pub enum StreamFeatures {
    /// Numbers as they are, or hashed; a line that lacks one is wrong.
    Numbers(FeatureMap),
    /// The columns of a table by a map that is known, from a CSV or Parquet file; of svmlight, features are columns with
    /// their indices as names.
    Known {
        /// The map, and how the table is written.
        table: Arc<StreamTable>,
        /// Notice columns that it does not know.
        notice_others: bool,
    },
    /// CSV: found out from the first rows. svmlight: numbers.
    Found(FirstRows),
}

/// Some examples of a stream, in its order.
#[derive(Debug, Clone)]
pub struct LabelledBatch {
    /// The features, mapped; svmlight: as many columns as these rows use.
    pub rows: Rows,
    /// Positive, negative, or unlabelled.
    pub labels: Vec<Option<bool>>,
    /// The weight of every example; 1 if `None`.
    pub weights: Option<Vec<f64>>,
    /// What the first negative label says.
    pub negative: Option<String>,
    /// Names of the columns, before they are mapped; svmlight: none.
    pub names: Arc<[String]>,
    /// What the columns of a table were mapped by; `None`: they are numbers.
    pub table: Option<Arc<StreamTable>>,
    /// For each column of `table` that is read, texts that were taken as missing.
    pub unreadable: Vec<usize>,
    /// Lines left out between these rows.
    pub n_skipped: usize,
    /// The first few of them.
    pub skipped: Vec<Skipped>,
    /// What a user should know about the stream; batches repeat it.
    pub notices: Arc<[String]>,
}

/// What a stream has next.
pub enum Next {
    /// Examples.
    Batch(Box<LabelledBatch>),
    /// Nothing yet.
    Waiting,
    /// All has been read.
    End,
}

/// Examples, and the error that ends the stream behind them.
type Made = (Option<LabelledBatch>, Option<Error>);

/// A batch that is being parsed.
type Slot = Receiver<Result<Made>>;

/// A stream that is being read.
pub struct LabelledStream {
    /// Batches in order; `None` is the end of the stream.
    queue: Receiver<Option<Slot>>,
    parsing: Option<Slot>,
    /// Comes behind the examples before it.
    failed: Option<Error>,
    name: PathBuf,
    ended: bool,
}

impl LabelledStream {
    /// Begins to read a file; `-` is standard input. What is wrong with it is reported by
    /// [`LabelledStream::next`].
    pub fn open(path: &Path, options: StreamOptions) -> LabelledStream {
        LabelledStream::start(Input::open(path), path, options)
    }

    /// The same from whatever bytes come; `name` stands in errors where a file name would.
    pub fn from_reader(
        reader: impl Read + Send + 'static,
        name: &Path,
        options: StreamOptions,
    ) -> LabelledStream {
        let input = Input::Stream(Box::new(reader));
        LabelledStream::start(Ok((input, name.to_path_buf())), name, options)
    }

    fn start(
        input: Result<(Input, PathBuf)>,
        path: &Path,
        options: StreamOptions,
    ) -> LabelledStream {
        let name = input.as_ref().map_or(path, |(_, name)| name).to_path_buf();
        // Enough under way to keep every thread busy, and no more.
        let (send, queue) = sync_channel(2 * rayon::current_num_threads() + 2);
        let source = Arc::new(Source {
            path: name.clone(),
            options,
        });
        // Not joined: it may wait for input for ever.
        std::thread::spawn(move || {
            let queue = Queue { send };
            let read = input.and_then(|(input, _)| read_all(input, &source, &queue));
            match read {
                Ok(()) => {
                    let _ = queue.send.send(None);
                }
                Err(error) => {
                    queue.put(Err(error));
                }
            }
        });
        LabelledStream {
            queue,
            parsing: None,
            failed: None,
            name,
            ended: false,
        }
    }

    /// The next batch, if it comes within `patience`. After an error there is nothing more.
    pub fn next(&mut self, patience: Duration) -> Result<Next> {
        if let Some(error) = self.failed.take() {
            self.ended = true;
            return Err(error);
        }
        if self.ended {
            return Ok(Next::End);
        }
        let slot = match self.parsing.take() {
            Some(slot) => slot,
            None => match self.queue.recv_timeout(patience) {
                Ok(Some(slot)) => slot,
                Ok(None) => {
                    self.ended = true;
                    return Ok(Next::End);
                }
                Err(RecvTimeoutError::Timeout) => return Ok(Next::Waiting),
                Err(RecvTimeoutError::Disconnected) => return Err(self.lost()),
            },
        };
        match slot.recv_timeout(patience) {
            Ok(Ok((batch, failed))) => {
                self.failed = failed;
                // Nothing but blank lines: the next look finds more.
                Ok(batch.map_or(Next::Waiting, |batch| Next::Batch(Box::new(batch))))
            }
            Ok(Err(error)) => {
                self.ended = true;
                Err(error)
            }
            Err(RecvTimeoutError::Timeout) => {
                self.parsing = Some(slot);
                Ok(Next::Waiting)
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.lost()),
        }
    }

    /// A thread is gone that should not be; this must never pass for the end of the stream.
    fn lost(&mut self) -> Error {
        self.ended = true;
        whole(&self.name, "reading stopped before the end of the stream")
    }
}

/// What every stage needs to know.
struct Source {
    path: PathBuf,
    options: StreamOptions,
}

/// Where batches are put, in order. `false`: the receiver is gone.
struct Queue {
    send: SyncSender<Option<Slot>>,
}

impl Queue {
    /// Has a batch made by the pool.
    fn make(&self, work: impl FnOnce() -> Result<Made> + Send + 'static) -> bool {
        let (put, slot) = sync_channel(1);
        if self.send.send(Some(slot)).is_err() {
            return false;
        }
        rayon::spawn(move || {
            let _ = put.send(work());
        });
        true
    }

    /// One that is made already.
    fn put(&self, made: Result<Made>) -> bool {
        let (put, slot) = sync_channel(1);
        // There is room for one.
        let _ = put.send(made);
        self.send.send(Some(slot)).is_ok()
    }
}

fn read_all(input: Input, source: &Arc<Source>, queue: &Queue) -> Result<()> {
    let (path, options) = (&source.path, &source.options);
    let read = options.read.read_options();
    let input = match (&options.features, input.parquet(path, &read)) {
        (StreamFeatures::Known { .. }, Ok(_)) => return table::read_parquet(source, queue),
        (_, Ok(_)) => {
            let what = "Parquet is read as a stream only by a model of a table (--initial-model)";
            return Err(whole(path, what));
        }
        (_, Err(input)) => input,
    };
    let mut reader = input.reader();
    let head = first_bytes(&mut reader).map_err(|error| Error::Io {
        path: path.clone(),
        source: error,
    })?;
    let mut blocks = text_blocks(head, reader, path, &read)?.live();
    let head = blocks.checked_head()?;
    match (format_of(path, head, &read), &options.features) {
        (Format::Svmlight, features) => {
            let map = SvmlightMap::new(features, source)?;
            read_svmlight(blocks, map, source, queue)
        }
        (Format::Csv, _) => table::read_csv(blocks, source, queue),
        (Format::Parquet, _) => Err(whole(
            path,
            "Parquet is not read as a stream; CSV and svmlight are",
        )),
    }
}

/// What is made of the rows of svmlight.
enum SvmlightMap {
    Numbers(FeatureMap),
    Columns {
        table: Arc<StreamTable>,
        columns: IndexedColumns,
    },
}

impl SvmlightMap {
    fn new(features: &StreamFeatures, source: &Source) -> Result<SvmlightMap> {
        Ok(match features {
            StreamFeatures::Numbers(map) => SvmlightMap::Numbers(map.clone()),
            StreamFeatures::Found(first) => SvmlightMap::Numbers(first.numbers()),
            StreamFeatures::Known { table, .. } => SvmlightMap::Columns {
                table: Arc::clone(table),
                columns: IndexedColumns::find(
                    &table.given(),
                    source.options.read.zero_based,
                    &source.path,
                )?,
            },
        })
    }
}

fn read_svmlight(
    mut blocks: Blocks<impl Read>,
    map: SvmlightMap,
    source: &Arc<Source>,
    queue: &Queue,
) -> Result<()> {
    if source.options.weight.is_some() {
        let what = "the weights are in a column; svmlight has none";
        return Err(whole(&source.path, what));
    }
    let map = Arc::new(map);
    while let Some(block) = blocks.next_block()? {
        for piece in blocks.divide(block) {
            let (source, map) = (Arc::clone(source), Arc::clone(&map));
            if !queue.make(move || svmlight_batch(piece, &map, &source)) {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn svmlight_batch(block: Block, map: &SvmlightMap, source: &Source) -> Result<Made> {
    let (path, options) = (&source.path, &source.options);
    let read = options.read.read_options();
    let lines = svmlight::labelled_block(block, &read, &options.classes, options.on_error);
    let parsed = lines.rows;
    let mut notices = Vec::new();
    if parsed.qid {
        notices.push(svmlight::QID_NOTICE.to_string());
    }
    let texts = parsed.dictionary.texts();
    let texts: Vec<&[u8]> = texts.iter().map(|text| &**text).collect();
    let (labels, negative) = source.sides(&parsed.codes, &texts);
    let rows = Rows::Csr(parsed.rows);
    let (rows, table) = match map {
        SvmlightMap::Numbers(map) => (mapped(map, rows)?, None),
        SvmlightMap::Columns { table, columns } => {
            let rows = table.map.apply(&columns.table(&rows)?)?;
            (rows, Some(Arc::clone(table)))
        }
    };
    let batch = LabelledBatch {
        labels,
        weights: None,
        negative,
        names: Arc::new([]),
        unreadable: vec![0; table.as_ref().map_or(0, |table| table.given().len())],
        table,
        n_skipped: lines.n_skipped,
        skipped: lines.skipped.into_iter().map(Skipped::from).collect(),
        notices: notices.into(),
        rows,
    };
    Ok((Some(batch), lines.stopped.map(|wrong| wrong.at(path))))
}

/// The features of numbers.
fn mapped(map: &FeatureMap, rows: Rows) -> Result<Rows> {
    let owned = match map.apply(&rows)? {
        Cow::Owned(mapped) => Some(mapped),
        Cow::Borrowed(_) => None,
    };
    Ok(owned.unwrap_or(rows))
}

impl Source {
    /// The side of every example, whose label is the text of its code, and what the first negative one says. A code
    /// without a text is no label.
    fn sides(&self, codes: &[u32], texts: &[&[u8]]) -> (Vec<Option<bool>>, Option<String>) {
        // The parser has judged every text already.
        let side = |text: &&[u8]| self.options.classes.side(text).unwrap_or(None);
        let sides: Vec<Option<bool>> = texts.iter().map(side).collect();
        let of_code = |code: &u32| sides.get(*code as usize).copied().flatten();
        let labels: Vec<Option<bool>> = codes.iter().map(of_code).collect();
        let first = labels.iter().position(|side| *side == Some(false));
        let negative = first.map(|i| {
            let text = texts[codes[i] as usize];
            // Equal numbers are one class however they are written.
            let text = number(text).map_or(String::from_utf8_lossy(text), |x| {
                (x + 0.0).to_string().into()
            });
            text.into_owned()
        });
        (labels, negative)
    }
}

#[cfg(test)]
mod tests;
