//! One score as a sum.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use ubauc::data::table::Table;
use ubauc::document::Document;
use ubauc::features::{ColumnMap, FeatureMap};
use ubauc::glass_box::explain::{Explained, RowSum};
use ubauc::model::Model;
use ubauc::read::table::{OnError, TableBatch};
use ubauc::read::{self, Batch};

use crate::input::{FormatArgs, Wanted};
use crate::output::{self, Output};
use crate::scoring;
use crate::scoring::table::TableFile;

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    file: PathBuf,
    /// From 1.
    line: usize,
}

pub(super) fn parse_place(text: &str) -> Result<Place, String> {
    let wrong = || "must be a file and a line from 1, as in new.csv:17".to_string();
    let (file, line) = text.rsplit_once(':').ok_or_else(wrong)?;
    match line.parse::<usize>() {
        Ok(line) if line > 0 && !file.is_empty() => Ok(Place {
            file: PathBuf::from(file),
            line,
        }),
        _ => Err(wrong()),
    }
}

#[derive(Serialize)]
pub(super) struct RowReport {
    file: PathBuf,
    line: usize,
    #[serde(flatten)]
    sum: RowSum,
}

impl RowReport {
    pub(super) fn new(
        model: &Model,
        explained: &Explained,
        place: &Place,
        format: &FormatArgs,
        output: Output,
    ) -> Result<RowReport> {
        let in_place = || format!("{}:{}", place.file.display(), place.line);
        let reader = Reader {
            model,
            place,
            format,
            output,
        };
        let sum = match &model.features {
            FeatureMap::Columns(map) => reader.of_table(explained, map),
            FeatureMap::Identity | FeatureMap::Hash { .. } => reader.of_numbers(explained),
        };
        Ok(RowReport {
            file: place.file.clone(),
            line: place.line,
            sum: sum.with_context(in_place)?,
        })
    }
}

struct Reader<'a> {
    model: &'a Model,
    place: &'a Place,
    format: &'a FormatArgs,
    output: Output,
}

impl Reader<'_> {
    /// The index of the example, where a header may be the first line.
    fn index(&self, may_have_header: bool) -> Result<usize> {
        let has_header = may_have_header && self.format.has_header(&self.place.file);
        match self.place.line.checked_sub(1 + usize::from(has_header)) {
            Some(index) => Ok(index),
            None => bail!("line 1 is the header; examples begin with line 2"),
        }
    }

    fn of_table(&self, explained: &Explained, map: &ColumnMap) -> Result<RowSum> {
        let file = TableFile {
            path: &self.place.file,
            model: self.model,
            map,
            format: self.format,
            ignore: Vec::new(),
            on_error: OnError::Stop,
        };
        let (mut before, mut found) = (0, None);
        let take = |(table, is_table): (Table, bool)| {
            let (index, len) = (self.index(is_table)?, table.len());
            if (before..before + len).contains(&index) {
                found = Some((table, index - before));
            }
            before += len;
            Ok(())
        };
        file.batches(
            None,
            &[],
            self.output,
            |batch: TableBatch| (batch.table, batch.is_table),
            take,
        )?;
        let Some((table, at)) = found else {
            bail!("no such line; the file has {before} examples");
        };
        for unseen in map.unseen_levels(&table) {
            if unseen.rows.contains(&at) {
                let (column, what) = (&unseen.column, unseen.what.name());
                let place = format!("{}:{}", self.place.file.display(), self.place.line);
                self.output.note(format!(
                    "note: {place}: column '{column}': its value was {what}"
                ));
            }
        }
        Ok(explained.row_of_table(self.model, &table, at)?)
    }

    fn of_numbers(&self, explained: &Explained) -> Result<RowSum> {
        let model = self.model;
        let wanted = Wanted {
            columns: (!model.names.is_empty()).then(|| model.names.clone()),
            label: Some(self.format.label_of(model)),
            ..Wanted::default()
        };
        let path = self.place.file.as_path();
        let (mut before, mut found, mut index) = (0, None, 0);
        let take = |batch: Batch| -> Result<()> {
            scoring::refuse_unnamed(model, batch.is_table, path)?;
            index = self.index(batch.is_table)?;
            let len = batch.rows.len();
            if (before..before + len).contains(&index) {
                found = Some((batch.rows, index - before));
            }
            before += len;
            Ok(())
        };
        self.format
            .with_progress(path, wanted, self.output, |options| {
                read::batches(path, options, |batch| batch, take)
            })?;
        let Some((rows, at)) = found else {
            bail!("no such line; the file has {before} examples");
        };
        Ok(explained.row_of_numbers(model, &rows, at)?)
    }
}

impl output::Report for RowReport {
    fn document(&self) -> Document {
        let example = format!("{}:{}", self.file.display(), self.line);
        self.sum.document(&example)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_files_and_lines() {
        let place = parse_place("a:b.csv:17").unwrap();
        assert_eq!((place.file.to_str(), place.line), (Some("a:b.csv"), 17));
        for wrong in ["x.csv", "x.csv:", "x.csv:0", ":3", "x.csv:-1", ""] {
            assert!(parse_place(wrong).is_err(), "{wrong}");
        }
    }
}
