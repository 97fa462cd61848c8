//! A stream of a table: numbers as they are, or columns by a map.

use std::io::Read;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::blocks::Blocks;
use super::super::table::header::{self, Header};
use super::super::table::roles::Roles;
use super::super::table::{
    GivenColumn, GivenKind, KnownTable, TableBatch, TableBatches, TableOptions, table_batches,
};
use super::super::whole;
use super::first_rows;
use super::{LabelledBatch, Made, Queue, Source, StreamFeatures, mapped};
use crate::data::table::Values;
use crate::features::{ColumnMap, FeatureMap};
use crate::model::Reading;
use crate::read::table::ColumnReport;
use crate::{Error, Result};

/// What the columns of a stream are mapped by.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StreamTable {
    /// From columns to features.
    pub map: ColumnMap,
    /// How the table is written.
    pub reading: Reading,
    /// What was found in the first rows, if it was found out from them.
    pub columns: Vec<ColumnReport>,
}

impl StreamTable {
    /// The columns that are read.
    pub fn given(&self) -> Vec<GivenColumn> {
        self.reading.given(&self.map)
    }
}

/// What is made of the rows of a table.
enum Making {
    Numbers {
        map: FeatureMap,
        names: Arc<[String]>,
    },
    Mapped(Arc<StreamTable>),
}

pub(super) fn read_csv(
    mut blocks: Blocks<impl Read>,
    source: &Arc<Source>,
    queue: &Queue,
) -> Result<()> {
    let options = &source.options;
    let features = match &options.features {
        StreamFeatures::Found(first) => {
            first_rows::find(&mut blocks, *first, &source.path, options)?
        }
        known => known.clone(),
    };
    let (header, mut records, first) = header::open(blocks, &source.path, &options.read)?;
    let maker = Arc::new(Maker::new(header, &features, source)?);
    let mut next = Some(first);
    while let Some(block) = next {
        for piece in records.divide(block) {
            let maker = Arc::clone(&maker);
            if !queue.make(move || maker.parse(&piece)) {
                return Ok(());
            }
        }
        next = records.next_block()?;
    }
    Ok(())
}

/// Parquet has kinds of its own, and only a map knows what to make of them.
pub(super) fn read_parquet(source: &Arc<Source>, queue: &Queue) -> Result<()> {
    let StreamFeatures::Known {
        table,
        notice_others,
    } = &source.options.features
    else {
        return Ok(());
    };
    let batches = known_columns(table, *notice_others, source);
    let making = Making::Mapped(Arc::clone(table));
    let each = |batch: TableBatch| making.batch(batch, source);
    table_batches(&source.path, &batches, each, |made| {
        match queue.put(made.map(|batch| (Some(batch), None))) {
            true => Ok(()),
            false => Err(whole(&source.path, "nobody learns any more")),
        }
    })
}

/// The columns of a map, and that of the weights.
fn known_columns(
    table: &StreamTable,
    notice_others: bool,
    source: &Source,
) -> TableBatches<'static> {
    let read = TableOptions {
        missing: table.reading.missing.clone(),
        ..source.options.read.clone()
    };
    TableBatches {
        read,
        notice_others,
        ..batches(table.given(), source)
    }
}

/// These columns and that of the weights, with labels as a stream has them.
pub(super) fn batches(mut columns: Vec<GivenColumn>, source: &Source) -> TableBatches<'static> {
    let options = &source.options;
    columns.extend(options.weight.iter().map(|name| GivenColumn {
        name: name.clone(),
        kind: GivenKind::CompleteNumber,
    }));
    TableBatches {
        columns,
        read: options.read.clone(),
        optional_label: options.classes.optional,
        classes: Some(options.classes.clone()),
        notice_others: false,
        on_error: options.on_error,
    }
}

/// From text to examples.
struct Maker {
    known: KnownTable<'static>,
    making: Making,
    source: Arc<Source>,
}

impl Maker {
    fn new(header: Header, features: &StreamFeatures, source: &Arc<Source>) -> Result<Maker> {
        let path = &source.path;
        let (making, batches) = match features {
            StreamFeatures::Known {
                table,
                notice_others,
            } => {
                let batches = known_columns(table, *notice_others, source);
                (Making::Mapped(Arc::clone(table)), batches)
            }
            StreamFeatures::Numbers(map) => {
                let names = number_columns(&header, source)?;
                let given = names.iter().map(|name| GivenColumn {
                    name: name.clone(),
                    kind: GivenKind::CompleteNumber,
                });
                let batches = batches(given.collect(), source);
                let (map, names) = (map.clone(), names.into());
                (Making::Numbers { map, names }, batches)
            }
            StreamFeatures::Found(_) => return Err(whole(path, "the columns are not known")),
        };
        Ok(Maker {
            known: KnownTable::new(header, path, batches)?,
            making,
            source: Arc::clone(source),
        })
    }

    fn parse(&self, block: &super::Block) -> Result<Made> {
        let (batch, stopped): (Option<TableBatch>, Option<Error>) = self.known.parse(block)?;
        let batch = batch.map(|batch| self.making.batch(batch, &self.source));
        Ok((batch.transpose()?, stopped))
    }
}

/// The names of all columns but those of labels and weights.
fn number_columns(header: &Header, source: &Source) -> Result<Vec<String>> {
    let options = &source.options;
    let is_there = |name: &String| header.names.contains(name);
    let read = TableOptions {
        label: match options.classes.optional {
            true => options.read.label.clone().filter(is_there),
            false => options.read.label.clone(),
        },
        ..options.read.clone()
    };
    let roles = Roles::find(&header.names, header.delimiter, &source.path, &read)?;
    let names = roles.features().map(|j| header.names[j].clone());
    let mut names: Vec<String> = names.collect();
    if let Some(weight) = &options.weight {
        if !is_there(weight) {
            return Err(whole(&source.path, format!("no weight column '{weight}'")));
        }
        names.retain(|name| name != weight);
    }
    match names.is_empty() {
        true => Err(whole(&source.path, "no features besides the weights")),
        false => Ok(names),
    }
}

impl Making {
    fn batch(&self, mut batch: TableBatch, source: &Source) -> Result<LabelledBatch> {
        let weight = source.options.weight.as_ref();
        let weights = weight.and_then(|name| batch.table.take(name));
        let weights = weights.and_then(|column| match column.values {
            Values::Number(weights) => Some(Arc::unwrap_or_clone(weights)),
            Values::Category { .. } | Values::Time(_) => None,
        });
        let (rows, names, table) = match self {
            Making::Numbers { map, names } => {
                let rows = batch.table.numbers(&[])?;
                (mapped(map, rows)?, Arc::clone(names), None)
            }
            Making::Mapped(table) => {
                let columns = table.map.columns.iter();
                let names = columns.map(|column| column.name.clone()).collect();
                (table.map.apply(&batch.table)?, names, Some(table))
            }
        };
        let (labels, negative) = match &batch.labels {
            Some(Values::Category { codes, levels }) => {
                let texts: Vec<&[u8]> = levels.iter().map(|level| level.as_bytes()).collect();
                source.sides(codes, &texts)
            }
            _ => (vec![None; rows.len()], None),
        };
        Ok(LabelledBatch {
            rows,
            labels,
            weights,
            negative,
            names,
            table: table.cloned(),
            unreadable: batch.unreadable,
            n_skipped: batch.n_skipped,
            skipped: batch.skipped,
            notices: batch.notices,
        })
    }
}
