//! Scores of a table by a model that knows the kinds of its columns: batch by batch, in memory that does not grow.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use ubauc::data::labels::Labels;
use ubauc::data::table::{MISSING, Table, Values};
use ubauc::document::numbers::thousands;
use ubauc::features::ColumnMap;
use ubauc::model::Model;
use ubauc::read::table::{
    GivenColumn, GivenKind, OnError, TableBatch, TableBatches, TableOptions, table_batches,
};

use crate::group_arg::ReadRows;
use crate::input::FormatArgs;
use crate::met::{About, Met};
use crate::output::Output;

/// A file to be read by the columns of a model.
pub(crate) struct TableFile<'a> {
    pub(crate) path: &'a Path,
    pub(crate) model: &'a Model,
    pub(crate) map: &'a ColumnMap,
    pub(crate) format: &'a FormatArgs,
    /// Columns of the file of which no notice is wanted.
    pub(crate) ignore: Vec<String>,
    pub(crate) on_error: OnError,
}

/// Scores and labels of a file.
pub(crate) struct LabelledScores {
    /// A column for each scorer.
    pub(crate) scores: Vec<Vec<f64>>,
    /// Columns of numbers besides those of the model, as asked for.
    pub(crate) more: Vec<Vec<f64>>,
    pub(crate) labels: Labels,
}

impl TableFile<'_> {
    /// Hands every batch to `each`, on all threads, and what that makes of it to `take`, in the order of the file; then
    /// tells what was met. Labels are read if `label` names their column.
    pub(crate) fn batches<T: Send>(
        &self,
        label: Option<String>,
        more: &[GivenColumn],
        output: Output,
        each: impl Fn(TableBatch) -> T + Sync,
        mut take: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let columns = self.given(more);
        let mut met = Met::new(self.path, output);
        let kinds = columns.clone();
        let done = self.format.watched(self.path, output, |advance| {
            let options = TableBatches {
                columns,
                // Where labels are not wanted their column is only kept out of the notice.
                optional_label: label.is_none(),
                read: TableOptions {
                    label: label.or_else(|| self.model.reading.label.clone()),
                    missing: self.model.reading.missing.clone(),
                    ignore: self.ignore.clone(),
                    progress: Some(advance),
                    ..self.format.table_options()
                },
                classes: None,
                notice_others: true,
                on_error: self.on_error,
            };
            let each = |batch: TableBatch| (About::of(&batch), each(batch));
            table_batches(self.path, &options, each, |(about, made)| {
                met.notices(&about.notices);
                met.add(about);
                take(made)
            })
        });
        met.tell(&kinds);
        done
    }

    /// The columns of the model and `more`.
    fn given(&self, more: &[GivenColumn]) -> Vec<GivenColumn> {
        let mut columns = self.model.reading.given(self.map);
        for new in more {
            if columns.iter().all(|column| column.name != new.name) {
                columns.push(new.clone());
            }
        }
        columns
    }

    /// How the rows are read.
    pub(crate) fn rows(&self, label: Option<String>, more: &[String]) -> ReadRows {
        ReadRows {
            columns: self.given(&columns_of_numbers(more)),
            label,
            missing: self.model.reading.missing.clone(),
            on_error: self.on_error,
        }
    }

    /// The scores of all rows, with the labels in the column of that name and `more` columns of numbers. `score` makes
    /// the same number of columns of every table.
    pub(crate) fn labelled_scores(
        &self,
        label: &str,
        more: &[String],
        output: Output,
        score: impl Fn(&Table) -> ubauc::Result<Vec<Vec<f64>>> + Sync,
    ) -> Result<LabelledScores> {
        let mut scores: Vec<Vec<f64>> = Vec::new();
        let mut columns = vec![Vec::new(); more.len()];
        let mut labels = LabelTexts::default();
        let each = |batch: TableBatch| {
            let scored = score(&batch.table);
            let numbers = more.iter().map(|name| numbers_of(&batch.table, name));
            let numbers = numbers.collect::<Result<Vec<_>>>();
            (scored, numbers, batch.labels)
        };
        type Scored = ubauc::Result<Vec<Vec<f64>>>;
        let take = |(scored, numbers, of_batch): (Scored, Result<Vec<_>>, _)| {
            let scored = scored?;
            scores.resize_with(scored.len(), Vec::new);
            for (all, of_batch) in scores.iter_mut().zip(scored) {
                all.extend(of_batch);
            }
            for (column, numbers) in columns.iter_mut().zip(numbers?) {
                column.extend(numbers);
            }
            labels.add(of_batch, label)
        };
        let in_file = || self.path.display().to_string();
        let columns_more = columns_of_numbers(more);
        self.batches(Some(label.to_string()), &columns_more, output, each, take)?;
        Ok(LabelledScores {
            scores,
            more: columns,
            labels: labels.finish().with_context(in_file)?,
        })
    }
}

fn columns_of_numbers(names: &[String]) -> Vec<GivenColumn> {
    let column = |name: &String| GivenColumn {
        name: name.clone(),
        kind: GivenKind::Number {
            decimal_comma: false,
        },
    };
    names.iter().map(column).collect()
}

/// The numbers of a column that no row may lack.
fn numbers_of(table: &Table, name: &str) -> Result<Vec<f64>> {
    let column = table.column(name).map(|column| &column.values);
    let Some(Values::Number(numbers)) = column else {
        bail!("column '{name}' holds no numbers");
    };
    if numbers.iter().any(|x| x.is_nan()) {
        bail!("column '{name}' has rows without a number");
    }
    Ok(numbers.to_vec())
}

/// The labels of all batches, as texts.
#[derive(Default)]
pub(crate) struct LabelTexts {
    codes: Vec<u32>,
    texts: Vec<String>,
    known: HashMap<String, u32>,
}

impl LabelTexts {
    /// Adds the labels of a batch, of the column of that name.
    pub(crate) fn add(&mut self, labels: Option<Values>, column: &str) -> Result<()> {
        let Some(Values::Category { codes, levels }) = labels else {
            bail!("no label column '{column}'; name the column of labels (--label)");
        };
        let code_of = |level: &String| match self.known.get(level) {
            Some(code) => *code,
            None => {
                let code = self.texts.len() as u32;
                self.texts.push(level.clone());
                self.known.insert(level.clone(), code);
                code
            }
        };
        let of_level: Vec<u32> = levels.iter().map(code_of).collect();
        for code in codes {
            if code == MISSING {
                let row = self.codes.len() + 1;
                bail!("row {row} has no label in column '{column}'; leave such rows out");
            }
            self.codes.push(of_level[code as usize]);
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Labels> {
        let labels = Labels::of_categories(&self.codes, &self.texts);
        labels.with_context(|| {
            let n = thousands(self.texts.len() as u64);
            format!("{n} different labels; expected a few classes")
        })
    }
}
