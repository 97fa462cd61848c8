//! One score as a sum.

use serde::{Deserialize, Serialize};

use super::chart::shown;
use super::{Explained, Source, wrong_rows};
use crate::Result;
use crate::data::calendar::date;
use crate::data::rows::Rows;
use crate::data::table::{Table, Values};
use crate::document::{self, Document, Facts};
use crate::features::FeatureMap;
use crate::features::columns::{Unseen, UnseenLevels};
use crate::model::Model;

/// Terms shown to people; the others are added up in one line.
const SHOWN: usize = 25;

/// A score and what it is made of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RowSum {
    /// By the model.
    pub score: f64,
    /// Of a calibrated model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// Which the score says.
    pub class: String,
    /// Of the score.
    pub threshold: f64,
    /// The mean score of the training examples; with all that terms add it is the score.
    pub intercept: f64,
    /// What adds or takes most first.
    pub terms: Vec<RowTerm>,
}

/// What a term adds to a score.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RowTerm {
    /// Of the term.
    pub name: String,
    /// What the example has.
    pub value: String,
    /// Of a level that is none of those of training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<Unseen>,
    /// In units of the score.
    pub adds: f64,
}

impl Explained {
    /// What each term adds to the score of each row of a table, in the order of the terms.
    pub fn eval_table(&self, table: &Table) -> Result<Vec<Vec<f64>>> {
        match &self.source {
            Source::Columns(effects) => effects.eval(table),
            Source::Numbers { .. } => Err(wrong_rows()),
        }
    }

    /// The same of rows of numbers.
    pub fn eval_rows(&self, rows: &Rows) -> Result<Vec<Vec<f64>>> {
        let Source::Numbers { means, weights } = &self.source else {
            return Err(wrong_rows());
        };
        let of_row = |at: usize| {
            let values = dense_row(rows, at, means.len());
            let terms = values.iter().zip(weights).zip(means);
            terms.map(|((x, w), mean)| w * (x - mean)).collect()
        };
        Ok((0..rows.len()).map(of_row).collect())
    }

    /// The score of a row of a table. The model is the one that is explained.
    pub fn row_of_table(&self, model: &Model, table: &Table, at: usize) -> Result<RowSum> {
        let score = model.scores_table(table)?[at];
        let unseen = match &model.features {
            FeatureMap::Columns(map) => map.unseen_levels(table),
            FeatureMap::Identity | FeatureMap::Hash { .. } => Vec::new(),
        };
        let unseen: Vec<&UnseenLevels> = (unseen.iter())
            .filter(|levels| levels.rows.contains(&at))
            .collect();
        let values = (self.terms.iter())
            .map(|term| {
                let texts = term.columns.iter().map(|c| value_text(table, c, at));
                let is_of = |levels: &&&UnseenLevels| term.columns.contains(&levels.column);
                let what = unseen.iter().find(is_of).map(|levels| levels.what);
                (texts.collect::<Vec<String>>().join(", "), what)
            })
            .collect();
        Ok(self.sum(model, score, values, &self.eval_table(table)?[at]))
    }

    /// The score of a row of numbers; terms that add nothing are left out.
    pub fn row_of_numbers(&self, model: &Model, rows: &Rows, at: usize) -> Result<RowSum> {
        let score = model.score(rows.row(at))?;
        let values = dense_row(rows, at, self.terms.len());
        let values = values.iter().map(|x| (shown(*x, false), None)).collect();
        let mut sum = self.sum(model, score, values, &self.eval_rows(rows)?[at]);
        sum.terms.retain(|term| term.adds != 0.0);
        Ok(sum)
    }

    fn sum(
        &self,
        model: &Model,
        score: f64,
        values: Vec<(String, Option<Unseen>)>,
        adds: &[f64],
    ) -> RowSum {
        let parts = self.terms.iter().zip(values).zip(adds);
        let mut terms: Vec<RowTerm> = parts
            .map(|((term, (value, unseen)), &adds)| RowTerm {
                name: term.name.clone(),
                value,
                unseen,
                adds,
            })
            .collect();
        terms.sort_by(|a, b| b.adds.abs().total_cmp(&a.adds.abs()));
        RowSum {
            score,
            probability: model.probability(score),
            class: model.predict(score).to_string(),
            threshold: model.threshold,
            intercept: self.intercept,
            terms,
        }
    }
}

impl RowSum {
    /// For people, who call the example so.
    pub fn document(&self, example: &str) -> Document {
        let mut facts = Facts::default();
        facts.add("example", example);
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
            let value = match term.unseen {
                Some(unseen) => format!("{} ({})", term.value, unseen.name()),
                None => term.value.clone(),
            };
            table.row(row(&term.name, &value, term.adds));
        }
        if let Some(rest) = self.terms.get(SHOWN..).filter(|rest| !rest.is_empty()) {
            let name = format!("{} more terms", rest.len());
            table.row(row(&name, "", rest.iter().map(|term| term.adds).sum()));
        }
        table.row(row("score", "", self.score));
        Document::default().with(facts).with(table)
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
