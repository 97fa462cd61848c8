//! What training leaves behind of many classes.

use super::ClassOutcome;
use crate::Result;
use crate::data::rows::Rows;
use crate::data::table::Table;
use crate::features::FeatureMap;
use crate::model::{Model, Reading};

/// A scorer for every class; all read the same columns by the same map.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassModel {
    /// What the data calls the classes.
    pub classes: Vec<String>,
    /// In the same order, each of its class against the rest.
    pub scorers: Vec<Model>,
}

impl ClassModel {
    /// The model of what was learned, of rows that a map has made and a table that was read so.
    pub fn new(
        classes: Vec<String>,
        learned: &ClassOutcome,
        features: &FeatureMap,
        reading: &Reading,
    ) -> ClassModel {
        let scorer = |outcome: &crate::algorithm::Outcome| Model {
            features: features.clone(),
            reading: reading.clone(),
            ..outcome.model.clone()
        };
        ClassModel {
            classes,
            scorers: learned.outcomes.iter().map(scorer).collect(),
        }
    }

    /// A column of scores for every class.
    pub fn scores(&self, rows: &Rows) -> Result<Vec<Vec<f64>>> {
        self.scorers.iter().map(|one| one.scores(rows)).collect()
    }

    /// The same of a table whose columns have these names, as [`Model::scores_by_name`].
    pub fn scores_by_name(&self, rows: &Rows, names: &[String]) -> Result<Vec<Vec<f64>>> {
        let scorers = self.scorers.iter();
        scorers.map(|one| one.scores_by_name(rows, names)).collect()
    }

    /// The same of a table.
    pub fn scores_table(&self, table: &Table) -> Result<Vec<Vec<f64>>> {
        let scorers = self.scorers.iter();
        scorers.map(|one| one.scores_table(table)).collect()
    }

    /// The class whose score is farthest above its threshold, the first of equal ones. M looks at one scorer at a time, so
    /// that training makes no two of them comparable: a decision that suits, not what is optimised.
    pub fn predict(&self, scores: impl Iterator<Item = f64>) -> usize {
        let above = scores.zip(&self.scorers).map(|(s, one)| s - one.threshold);
        let mut best = (0, f64::NEG_INFINITY);
        for (class, distance) in above.enumerate() {
            if distance > best.1 {
                best = (class, distance);
            }
        }
        best.0
    }
}

/// Columns of scores as rows of examples, one score a class, as [`crate::metrics::hand_till`] takes them.
pub fn by_rows(columns: &[Vec<f64>]) -> Vec<f64> {
    let n = columns.first().map_or(0, Vec::len);
    let of_row = |i: usize| columns.iter().map(move |column| column[i]);
    (0..n).flat_map(of_row).collect()
}
