//! One score as a sum.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use ubauc::data::rows::Rows;
use ubauc::data::table::{Table, Values};
use ubauc::document::{self, Document, Facts};
use ubauc::features::{ColumnMap, FeatureMap};
use ubauc::glass_box::effects::Effects;
use ubauc::model::Model;
use ubauc::read::table::{OnError, TableBatch};
use ubauc::read::{self, Batch};

use super::chart::shown;
use super::terms::{Explained, Source};
use crate::input::{FormatArgs, Wanted};
use crate::output::{self, Output};
use crate::scoring;
use crate::scoring::table::TableFile;
use ubauc::document::numbers::date;

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
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
    class: String,
    threshold: f64,
    /// The mean score of the training examples; with all that terms add it is the score.
    intercept: f64,
    /// What adds or takes most first.
    terms: Vec<RowTerm>,
}

#[derive(Serialize)]
struct RowTerm {
    name: String,
    /// What the example has.
    value: String,
    adds: f64,
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
        let (score, mut terms) = match (&explained.source, &model.features) {
            (Source::Columns(effects), FeatureMap::Columns(map)) => reader.of_table(effects, map),
            (Source::Numbers { means, names, .. }, _) => reader.of_numbers(means, names),
            (Source::Columns(_), _) => bail!("only a model of columns has effects of columns"),
        }
        .with_context(in_place)?;
        terms.sort_by(|a, b| b.adds.abs().total_cmp(&a.adds.abs()));
        Ok(RowReport {
            file: place.file.clone(),
            line: place.line,
            score,
            probability: model.probability(score),
            class: model.predict(score).to_string(),
            threshold: model.threshold,
            intercept: explained.intercept,
            terms,
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

    fn of_table(&self, effects: &Effects, map: &ColumnMap) -> Result<(f64, Vec<RowTerm>)> {
        let file = TableFile {
            path: &self.place.file,
            model: self.model,
            map,
            format: self.format,
            ignore: Vec::new(),
            on_error: OnError::Stop,
        };
        let index = self.index(true)?;
        let (mut before, mut found) = (0, None);
        let take = |table: Table| {
            let len = table.len();
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
            |batch: TableBatch| batch.table,
            take,
        )?;
        let Some((table, at)) = found else {
            bail!("no such line; the file has {before} examples");
        };
        let score = self.model.scores_table(&table)?[at];
        let adds = &effects.eval(&table)?[at];
        let text = |column: &usize| value_text(&table, &map.columns[*column].name, at);
        let term = |(k, adds): (usize, &f64)| {
            let term = &effects.terms[k];
            let values: Vec<String> = term.columns.iter().map(text).collect();
            RowTerm {
                name: term.name.clone(),
                value: values.join(", "),
                adds: *adds,
            }
        };
        Ok((score, adds.iter().enumerate().map(term).collect()))
    }

    fn of_numbers(&self, means: &[f64], names: &[String]) -> Result<(f64, Vec<RowTerm>)> {
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
        let score = model.score(rows.row(at))?;
        let values = dense_row(&rows, at, means.len());
        let term = |(j, x): (usize, &f64)| RowTerm {
            name: names[j].clone(),
            value: shown(*x, false),
            adds: model.weights[j] * (x - means[j]),
        };
        let mut terms: Vec<RowTerm> = values.iter().enumerate().map(term).collect();
        terms.retain(|term| term.adds != 0.0);
        Ok((score, terms))
    }
}

/// The first `d` features of a row.
fn dense_row(rows: &Rows, at: usize, d: usize) -> Vec<f64> {
    let mut values = vec![0.0; d];
    for (j, x) in rows.row(at).entries() {
        if let Some(value) = values.get_mut(j) {
            *value = x;
        }
    }
    values
}

/// What a table has in a row.
fn value_text(table: &Table, column: &str, at: usize) -> String {
    let Some(column) = table.column(column) else {
        return String::new();
    };
    if column.values.is_missing(at) {
        return "missing".to_string();
    }
    match &column.values {
        Values::Number(values) => shown(values[at], false),
        Values::Time(seconds) => date(seconds[at]),
        Values::Category { codes, levels } => levels[codes[at] as usize].clone(),
    }
}

/// Terms shown to people; the others are added up in one line.
const SHOWN: usize = 25;

impl output::Report for RowReport {
    fn document(&self) -> Document {
        let mut facts = Facts::default();
        facts.add("example", format!("{}:{}", self.file.display(), self.line));
        facts.add(
            "score",
            format!(
                "{:.4}, class {} (threshold {:.4})",
                self.score, self.class, self.threshold
            ),
        );
        if let Some(probability) = self.probability {
            facts.add("probability", format!("{probability:.4}"));
        }
        let mut table = document::Table::new(["term", "value", "adds"]).left(&[1]);
        let row = |name: &str, value: &str, adds: f64| {
            [name.to_string(), value.to_string(), format!("{adds:+.4}")]
        };
        table.row(row("mean score", "", self.intercept));
        for term in self.terms.iter().take(SHOWN) {
            table.row(row(&term.name, &term.value, term.adds));
        }
        if let Some(rest) = self.terms.get(SHOWN..).filter(|rest| !rest.is_empty()) {
            let name = format!("{} more terms", rest.len());
            table.row(row(&name, "", rest.iter().map(|term| term.adds).sum()));
        }
        table.row(row("score", "", self.score));
        Document::default().with(facts).with(table)
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
