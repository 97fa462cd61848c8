//! A stream of a table with texts and gaps, mapped by the model that learning starts from.
//!
//! A thread of its own reads and maps; only a few batches are under way, so that memory does not grow.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use ubauc::data::table::{MISSING, Values};
use ubauc::features::ColumnMap;
use ubauc::model::Model;
use ubauc::read::table::{
    GivenColumn, GivenKind, OnError, TableBatch, TableBatches, table_batches,
};
use ubauc::read::{LabelledBatch, LabelledStream, Next, StreamClasses, StreamOptions};

use super::LearnArgs;

/// Batches under way.
const WAITING: usize = 4;

/// Where the examples come from.
pub(super) enum Source {
    Numbers(LabelledStream),
    Table(TableStream),
}

impl Source {
    /// By the map of the model where it has one.
    pub(super) fn open(args: &LearnArgs, table: Option<&(Model, ColumnMap)>) -> Source {
        match table {
            None => Source::Numbers(LabelledStream::open(&args.file, args.stream())),
            Some((model, map)) => Source::Table(TableStream::open(args, model, map)),
        }
    }

    pub(super) fn next(&mut self, patience: Duration) -> Result<Next> {
        match self {
            Source::Numbers(stream) => Ok(stream.next(patience)?),
            Source::Table(stream) => stream.next(patience),
        }
    }
}

/// A table that is being read.
pub(super) struct TableStream {
    batches: Receiver<Result<Option<LabelledBatch>>>,
    ended: bool,
}

impl TableStream {
    fn open(args: &LearnArgs, model: &Model, map: &ColumnMap) -> TableStream {
        let (send, batches) = sync_channel(WAITING);
        let StreamOptions {
            classes, weight, ..
        } = args.stream();
        let mut columns = model.reading.given(map);
        if let Some(name) = &weight
            && columns.iter().all(|column| column.name != *name)
        {
            let kind = GivenKind::Number {
                decimal_comma: false,
            };
            let name = name.clone();
            columns.push(GivenColumn { name, kind });
        }
        let mut read = args.table_options(model);
        read.missing.clone_from(&model.reading.missing);
        let options = TableBatches {
            columns,
            read,
            // A row without a label is scored and not learned.
            optional_label: true,
            notice_others: true,
            on_error: OnError::Stop,
        };
        let (path, map) = (args.file.clone(), map.clone());
        // Not joined: it may wait for input for ever.
        std::thread::spawn(move || {
            let mapping = Mapping {
                path,
                map,
                classes,
                weight,
                label: options.read.label.clone().unwrap_or_default(),
            };
            let done = table_batches(
                &mapping.path,
                &options,
                |batch| mapping.batch(batch),
                |batch: Result<LabelledBatch>| match send.send(Ok(Some(batch?))) {
                    Ok(()) => Ok(()),
                    Err(_) => bail!("nobody learns any more"),
                },
            );
            // Nobody may be there any more.
            let _ = send.send(done.map(|()| None));
        });
        TableStream {
            batches,
            ended: false,
        }
    }

    fn next(&mut self, patience: Duration) -> Result<Next> {
        if self.ended {
            return Ok(Next::End);
        }
        match self.batches.recv_timeout(patience) {
            Err(RecvTimeoutError::Timeout) => Ok(Next::Waiting),
            Ok(Ok(Some(batch))) => Ok(Next::Batch(batch)),
            Ok(Ok(None)) => {
                self.ended = true;
                Ok(Next::End)
            }
            Ok(Err(error)) => {
                self.ended = true;
                Err(error)
            }
            Err(RecvTimeoutError::Disconnected) => bail!("the reader of the table has ended"),
        }
    }
}

/// From rows of a table to examples.
struct Mapping {
    path: PathBuf,
    map: ColumnMap,
    classes: StreamClasses,
    weight: Option<String>,
    label: String,
}

impl Mapping {
    fn batch(&self, batch: TableBatch) -> Result<LabelledBatch> {
        let in_file = || self.path.display().to_string();
        let rows = self.map.apply(&batch.table).with_context(in_file)?;
        let (labels, negative) = match &batch.labels {
            Some(labels) => self.sides(labels).with_context(in_file)?,
            None if self.classes.optional => (vec![None; rows.len()], None),
            None => bail!("{}: no label column '{}'", self.path.display(), self.label),
        };
        let weights = self.weight.as_ref();
        let weights = weights.map(|name| weights_of(&batch, name)).transpose();
        let columns = self.map.columns.iter();
        Ok(LabelledBatch {
            rows,
            labels,
            weights: weights.with_context(in_file)?,
            negative,
            names: columns.map(|column| column.name.clone()).collect(),
            notices: batch.notices,
        })
    }

    /// The sides of the labels, and what the first negative one says.
    fn sides(&self, labels: &Values) -> Result<(Vec<Option<bool>>, Option<String>)> {
        let Values::Category { codes, levels } = labels else {
            bail!("labels are read as texts");
        };
        let sides = levels
            .iter()
            .map(|level| self.classes.side(level.as_bytes()));
        let sides: Vec<Result<Option<bool>, String>> = sides.collect();
        let mut found = Vec::with_capacity(codes.len());
        let mut negative = None;
        for &code in codes {
            let side = match code {
                MISSING => None,
                code => sides[code as usize].clone().map_err(anyhow::Error::msg)?,
            };
            if side == Some(false) && negative.is_none() {
                negative = levels.get(code as usize).cloned();
            }
            found.push(side);
        }
        Ok((found, negative))
    }
}

/// The weights of a batch, which every row needs.
fn weights_of(batch: &TableBatch, name: &str) -> Result<Vec<f64>> {
    match batch.table.column(name).map(|column| &column.values) {
        Some(Values::Number(weights)) if weights.iter().all(|w| *w >= 0.0) => Ok(weights.clone()),
        _ => bail!("column '{name}' of weights has rows without a number of at least 0"),
    }
}
