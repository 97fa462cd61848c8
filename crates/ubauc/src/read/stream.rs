//! Labelled examples of a stream batch by batch, in memory that does not grow with it: for learning.
//!
//! Three stages run at once. A thread of its own reads and decompresses, and cuts the text into
//! blocks of whole lines; the threads of the pool parse the blocks; the caller takes the batches in
//! the order of the stream. Only a few blocks are under way. From a pipe a block is the lines that
//! have come, without waiting for a full one, and the caller never waits longer than it wants.
//!
//! How a stream falls into batches depends on time; what is in them does not: svmlight rows are
//! always sparse and those of a table always dense.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use super::batches::first_bytes;
use super::blocks::{Block, Blocks};
use super::classes::StreamClasses;
use super::csv::{self, Columns, Want};
use super::{Format, ReadOptions, format_of, svmlight, text_blocks, whole};
use crate::data::labels::{Dictionary, number};
use crate::data::rows::{Dense, Rows};
use crate::features::FeatureMap;
use crate::{Error, Result};

/// What to read of a stream, and how.
#[derive(Clone)]
pub struct StreamOptions {
    /// As for files; progress is not reported.
    pub read: ReadOptions<'static>,
    /// Which labels are of which class.
    pub classes: StreamClasses,
    /// The column of sample weights (CSV).
    pub weight: Option<String>,
    /// What becomes of the columns.
    pub features: FeatureMap,
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
    /// What a user should know about the stream; batches repeat it.
    pub notices: Arc<[String]>,
}

/// What a stream has next.
pub enum Next {
    /// Examples.
    Batch(LabelledBatch),
    /// Nothing yet.
    Waiting,
    /// All has been read.
    End,
}

/// A batch that is being parsed.
type Slot = Receiver<Result<LabelledBatch>>;

/// A stream that is being read.
pub struct LabelledStream {
    /// Batches in order; `None` is the end of the stream.
    queue: Receiver<Option<Slot>>,
    parsing: Option<Slot>,
    name: PathBuf,
    ended: bool,
}

impl LabelledStream {
    /// Begins to read a file; `-` is standard input. What is wrong with it is reported by
    /// [`LabelledStream::next`].
    pub fn open(path: &Path, options: StreamOptions) -> LabelledStream {
        if path == Path::new("-") {
            return LabelledStream::from_reader(io::stdin(), Path::new("<stdin>"), options);
        }
        let opened = open_file(path);
        LabelledStream::start(opened, path, options)
    }

    /// The same from whatever bytes come; `name` stands in errors where a file name would.
    pub fn from_reader(
        reader: impl Read + Send + 'static,
        name: &Path,
        options: StreamOptions,
    ) -> LabelledStream {
        LabelledStream::start(Ok(reader), name, options)
    }

    fn start(
        reader: Result<impl Read + Send + 'static>,
        name: &Path,
        options: StreamOptions,
    ) -> LabelledStream {
        // Enough under way to keep every thread busy, and no more.
        let (send, queue) = sync_channel(2 * rayon::current_num_threads() + 2);
        let source = Arc::new(Source {
            path: name.to_path_buf(),
            options,
        });
        // Not joined: it may wait for input for ever.
        std::thread::spawn(move || {
            let queue = Queue { send };
            let read = reader.and_then(|reader| read_all(reader, &source, &queue));
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
            name: name.to_path_buf(),
            ended: false,
        }
    }

    /// The next batch, if it comes within `patience`. After an error there is nothing more.
    pub fn next(&mut self, patience: Duration) -> Result<Next> {
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
            Ok(Ok(batch)) => Ok(Next::Batch(batch)),
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

fn open_file(path: &Path) -> Result<File> {
    let io_error = |source| Error::Io {
        path: path.to_path_buf(),
        source,
    };
    let file = File::open(path).map_err(io_error)?;
    if file.metadata().map_err(io_error)?.is_dir() {
        return Err(whole(path, "is a directory, not a file"));
    }
    Ok(file)
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
    fn make(&self, work: impl FnOnce() -> Result<LabelledBatch> + Send + 'static) -> bool {
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
    fn put(&self, made: Result<LabelledBatch>) -> bool {
        let (put, slot) = sync_channel(1);
        // There is room for one.
        let _ = put.send(made);
        self.send.send(Some(slot)).is_ok()
    }
}

fn read_all(mut reader: impl Read + Send, source: &Arc<Source>, queue: &Queue) -> Result<()> {
    let (path, options) = (&source.path, &source.options);
    let head = first_bytes(&mut reader).map_err(|error| Error::Io {
        path: path.clone(),
        source: error,
    })?;
    let mut blocks = text_blocks(head, reader, path, &options.read)?.live();
    let head = blocks.checked_head()?;
    match format_of(path, head, &options.read) {
        Format::Svmlight => read_svmlight(blocks, source, queue),
        Format::Csv => read_csv(blocks, source, queue),
        Format::Parquet => Err(whole(
            path,
            "Parquet is not read as a stream; CSV and svmlight are",
        )),
    }
}

fn read_svmlight(mut blocks: Blocks<impl Read>, source: &Arc<Source>, queue: &Queue) -> Result<()> {
    if source.options.weight.is_some() {
        let what = "the weights are in a column; svmlight has none";
        return Err(whole(&source.path, what));
    }
    while let Some(block) = blocks.next_block()? {
        for piece in blocks.divide(block) {
            let source = Arc::clone(source);
            if !queue.make(move || svmlight_batch(piece, &source)) {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn svmlight_batch(block: Block, source: &Source) -> Result<LabelledBatch> {
    let (path, options) = (&source.path, &source.options);
    let parsed = svmlight::labelled_block(block, path, &options.read, &options.classes)?;
    let mut notices = Vec::new();
    if parsed.qid {
        notices.push(svmlight::QID_NOTICE.to_string());
    }
    let batch = LabelledBatch {
        rows: Rows::Csr(parsed.rows),
        labels: Vec::new(),
        weights: None,
        negative: None,
        names: Arc::new([]),
        notices: notices.into(),
    };
    source.finish(batch, &parsed.codes, &parsed.dictionary)
}

fn read_csv(mut blocks: Blocks<impl Read>, source: &Arc<Source>, queue: &Queue) -> Result<()> {
    let (path, options) = (&source.path, &source.options);
    let want = Want::StreamLabels(Arc::new(options.classes.clone()));
    let (columns, delimiter, first) = csv::open(&mut blocks, want, path, &options.read)?;
    let table = Arc::new(Table::new(columns, delimiter, source)?);
    let mut pieces = blocks.divide(first);
    loop {
        let quote = pieces.iter().position(csv::has_quote);
        let quoted = pieces.split_off(quote.unwrap_or(pieces.len()));
        for piece in pieces {
            let (source, table) = (Arc::clone(source), Arc::clone(&table));
            let work = move || {
                let part = csv::parse_block(&piece, table.delimiter, &table.columns, &source.path)?;
                table.batch(part.unwrap_or_default(), &source)
            };
            if !queue.make(work) {
                return Ok(());
            }
        }
        if let Some(first_line) = quoted.first().map(|block| block.first_line) {
            let text = quoted.into_iter().flat_map(|block| block.text).collect();
            let (delimiter, columns) = (table.delimiter, &table.columns);
            let read = csv::read_rest(text, first_line, delimiter, columns, &mut blocks, |part| {
                if queue.put(table.batch(part, source)) {
                    Ok(())
                } else {
                    Err(Stopped::NobodyTakes)
                }
            });
            return match read {
                Err(Stopped::Wrong(error)) => Err(error),
                Ok(()) | Err(Stopped::NobodyTakes) => Ok(()),
            };
        }
        match blocks.next_block()? {
            Some(block) => pieces = blocks.divide(block),
            None => return Ok(()),
        }
    }
}

enum Stopped {
    Wrong(Error),
    NobodyTakes,
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Stopped {
        Stopped::Wrong(error)
    }
}

/// The columns of a CSV stream.
struct Table {
    columns: Columns,
    delimiter: u8,
    /// The place of the weights among the features read.
    weight: Option<usize>,
    /// Names of the features.
    names: Arc<[String]>,
}

impl Table {
    fn new(columns: Columns, delimiter: u8, source: &Source) -> Result<Table> {
        let mut names = columns.feature_names();
        let weight = match &source.options.weight {
            None => None,
            Some(name) => {
                let at = names
                    .iter()
                    .position(|n| n == name)
                    .ok_or_else(|| whole(&source.path, format!("no weight column '{name}'")))?;
                names.remove(at);
                Some(at)
            }
        };
        if names.is_empty() {
            return Err(whole(&source.path, "no features besides the weights"));
        }
        Ok(Table {
            columns,
            delimiter,
            weight,
            names: names.into(),
        })
    }

    fn batch(&self, part: csv::Part, source: &Source) -> Result<LabelledBatch> {
        let (mut values, codes, dictionary, records) = part.into_parts();
        let width = self.names.len() + usize::from(self.weight.is_some());
        let mut weights = None;
        if let Some(at) = self.weight {
            weights = Some(values.iter().skip(at).step_by(width).copied().collect());
            let mut column = 0..;
            values.retain(|_| column.next().is_some_and(|k: usize| k % width != at));
        }
        let rows = Dense::new(values, records, self.names.len())?;
        let batch = LabelledBatch {
            rows: Rows::Dense(rows),
            labels: Vec::new(),
            weights,
            negative: None,
            names: Arc::clone(&self.names),
            notices: Arc::clone(&self.columns.notices),
        };
        source.finish(batch, &codes, &dictionary)
    }
}

impl Source {
    /// Puts the labels in, from the code of every example, and maps the features.
    fn finish(
        &self,
        mut batch: LabelledBatch,
        codes: &[u32],
        dictionary: &Dictionary,
    ) -> Result<LabelledBatch> {
        // The parser has judged every text already.
        let side = |text: &[u8]| self.options.classes.side(text).unwrap_or(None);
        let sides: Vec<Option<bool>> = dictionary.texts().iter().map(|t| side(t)).collect();
        batch.labels = if codes.is_empty() {
            vec![None; batch.rows.len()]
        } else {
            codes.iter().map(|&code| sides[code as usize]).collect()
        };
        let first = batch.labels.iter().position(|side| *side == Some(false));
        batch.negative = first.map(|i| {
            let text = &dictionary.texts()[codes[i] as usize];
            // Equal numbers are one class however they are written.
            let text = number(text).map_or(String::from_utf8_lossy(text), |x| {
                (x + 0.0).to_string().into()
            });
            text.into_owned()
        });
        if let Cow::Owned(rows) = self.options.features.apply(&batch.rows)? {
            batch.rows = rows;
        }
        Ok(batch)
    }
}

#[cfg(test)]
mod tests;
