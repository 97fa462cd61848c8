//! A scoring function of raw rows, and its decision.
//!
//!   score(x) = w·φ(x) + b,   positive where score(x) ≥ threshold
//!
//! φ is the model's [`FeatureMap`]. Every front end scores raw rows by [`Model::scores`] or [`Model::scores_by_name`], and
//! tables by [`Model::scores_table`].
//!
//! The sum goes entry by entry in the order of the columns. Zeros change nothing of it, so the bits
//! depend neither on how the rows are stored nor on how many are scored at once.
//!
//! A feature beyond the weights is ignored and a missing one is zero, so that data read with
//! another number of columns can be scored.

mod reading;

use std::collections::HashMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::calibrate::Calibration;
use crate::data::rows::{Row, Rows};
use crate::data::table::Table;
use crate::features::{Buffer, FeatureMap};
use crate::{Error, Result};
pub use reading::{Notation, Reading};

/// Rows scored by one task; fewer are not worth a thread.
const TASK_ROWS: usize = 1024;

/// What training leaves behind: all that scoring a raw row takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// φ, from raw rows to features.
    pub features: FeatureMap,
    /// w, one for each feature.
    pub weights: Vec<f64>,
    /// b; moves every score alike, and so no ranking.
    pub intercept: f64,
    /// Scores from here on are positive, in units of the score.
    pub threshold: f64,
    /// From score − threshold to the probability of the positive class.
    pub calibration: Option<Calibration>,
    /// What the data calls the negative and the positive class.
    pub classes: [String; 2],
    /// The classes on each side, where many were divided in two.
    pub partition: Option<Partition>,
    /// Names of the raw columns, in the order that the map takes them; none if they are known by position.
    pub names: Vec<String>,
    /// How the table that it was learned from was written; empty if that is not known.
    pub reading: Reading,
}

/// Many classes divided in two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    /// Those that are negative.
    pub negative: Vec<String>,
    /// Those that are positive.
    pub positive: Vec<String>,
}

impl Default for Model {
    /// Scores everything 0, of classes −1 and 1.
    fn default() -> Model {
        Model {
            features: FeatureMap::Identity,
            weights: Vec::new(),
            intercept: 0.0,
            threshold: 0.0,
            calibration: None,
            classes: ["-1", "1"].map(str::to_string),
            partition: None,
            names: Vec::new(),
            reading: Reading::default(),
        }
    }
}

impl Model {
    /// w·x + b of the columns as they are, of classes −1 and 1.
    pub fn linear(weights: Vec<f64>, intercept: f64) -> Model {
        Model {
            weights,
            intercept,
            ..Model::default()
        }
    }

    /// The score of a raw row.
    pub fn score(&self, row: Row<'_>) -> Result<f64> {
        self.features.check()?;
        self.mapped_score(row, 0, &mut Buffer::default())
    }

    /// The score of every raw row, in parallel; the same bits for any number of threads.
    pub fn scores(&self, rows: &Rows) -> Result<Vec<f64>> {
        self.features.check()?;
        let mut scores = vec![0.0; rows.len()];
        let of_task = |(task, scores): (usize, &mut [f64])| {
            let mut buffer = Buffer::default();
            for (i, score) in (task * TASK_ROWS..).zip(scores) {
                *score = self.mapped_score(rows.row(i), i, &mut buffer)?;
            }
            Ok(())
        };
        let tasks = scores.par_chunks_mut(TASK_ROWS).enumerate().map(of_task);
        // Collected in order: the error is that of the first row that has one.
        let done: Vec<Result<()>> = tasks.collect();
        done.into_iter().collect::<Result<()>>()?;
        Ok(scores)
    }

    /// The same of a table with columns of these names, where the model's may be in another order among others. By
    /// position if the model or the table has no names.
    pub fn scores_by_name(&self, rows: &Rows, names: &[String]) -> Result<Vec<f64>> {
        let Some(columns) = self.positions(names)? else {
            return self.scores(rows);
        };
        // Columns behind those of the weights need not be taken away.
        if self.features == FeatureMap::Identity && columns.iter().copied().eq(0..columns.len()) {
            return self.scores(rows);
        }
        self.scores(&rows.select(&columns))
    }

    /// Where the model's columns are among those of these names; `None` if they are just these, or if the model or the
    /// table has no names.
    pub fn positions(&self, names: &[String]) -> Result<Option<Vec<usize>>> {
        if names.is_empty() || self.names.is_empty() || self.names == names {
            return Ok(None);
        }
        let mut known = HashMap::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            known.entry(name).or_insert(at);
        }
        let position = |name: &String| match known.get(name) {
            Some(at) => Ok(*at),
            None => Err(Error::Column { name: name.clone() }),
        };
        let found: Result<Vec<usize>> = self.names.iter().map(position).collect();
        found.map(Some)
    }

    /// The score of every row of a table, whose columns are found by name: the same bits whatever their order, for any
    /// number of threads, and of all rows at once or of some of them.
    pub fn scores_table(&self, table: &Table) -> Result<Vec<f64>> {
        match &self.features {
            FeatureMap::Columns(map) => {
                map.check()?;
                map.scores(table, &self.weights, self.intercept)
            }
            FeatureMap::Identity | FeatureMap::Hash { .. } => {
                self.scores(&table.numbers(&self.names)?)
            }
        }
    }

    /// The class of a score; NaN is negative.
    pub fn predict(&self, score: f64) -> &str {
        &self.classes[usize::from(score >= self.threshold)]
    }

    /// The probability of the positive class, increasing in the score; `None` without a calibration.
    pub fn probability(&self, score: f64) -> Option<f64> {
        let calibration = self.calibration.as_ref()?;
        Some(calibration.probability(score - self.threshold))
    }

    #[inline]
    fn mapped_score(&self, row: Row<'_>, number: usize, buffer: &mut Buffer) -> Result<f64> {
        let row = self.features.row(row, number, buffer)?;
        let known = row
            .entries()
            .filter_map(|(j, x)| self.weights.get(j).map(|w| w * x));
        Ok(known.fold(0.0, |sum, term| sum + term) + self.intercept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::rows::{Csr, Dense};

    fn model() -> Model {
        Model {
            weights: vec![1.0, -2.0, 0.5],
            intercept: 0.25,
            threshold: 1.25,
            classes: ["no".to_string(), "yes".to_string()],
            ..Model::default()
        }
    }

    #[test]
    fn features_beyond_the_weights_are_ignored_and_missing_ones_are_zero() {
        let model = model();
        let score = |row| model.score(row).unwrap();
        assert_eq!(score(Row::Dense(&[2.0, 1.0, 4.0, 1e9])), 2.25);
        assert_eq!(score(Row::Dense(&[2.0])), 2.25);
        assert_eq!(score(Row::Sparse(&[1, 900], &[1.0, 1e9])), -1.75);
        assert_eq!(score(Row::Sparse(&[], &[])), 0.25);
    }

    #[test]
    fn dense_and_sparse_rows_have_the_same_score_to_the_last_bit() {
        let (n, d) = (200_usize, 61_usize);
        let weights = (0..d).map(|j| (j as f64 + 0.3).sin() * 10f64.powi(j as i32 % 7 - 3));
        let model = Model {
            weights: weights.collect(),
            intercept: -0.1,
            ..model()
        };
        let value = |at: usize| match at % 3 {
            0 => (at as f64).cos() / 3.0,
            1 => 0.0,
            _ => -0.0,
        };
        let values: Vec<f64> = (0..n * d).map(value).collect();
        let (mut starts, mut indices, mut stored) = (vec![0], Vec::new(), Vec::new());
        for row in values.chunks(d) {
            for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                indices.push(j as u32);
                stored.push(x);
            }
            starts.push(indices.len());
        }
        let sparse = Rows::Csr(Csr::new(starts, indices, stored, d).unwrap());
        let dense = Rows::Dense(Dense::new(values, n, d).unwrap());
        let bits = |rows: &Rows| -> Vec<u64> {
            let scores = model.scores(rows).unwrap();
            scores.into_iter().map(f64::to_bits).collect()
        };
        assert_eq!(bits(&dense), bits(&sparse));
    }

    #[test]
    fn the_threshold_itself_is_positive() {
        let model = model();
        assert_eq!(model.predict(1.25), "yes");
        assert_eq!(model.predict(1.25f64.next_down()), "no");
        assert_eq!(model.predict(f64::NAN), "no");
    }

    #[test]
    fn scores_are_those_of_the_single_rows() {
        let model = model();
        let values: Vec<f64> = (0..9000).map(|i| f64::from(i % 97) / 7.0).collect();
        let dense = Rows::Dense(Dense::new(values, 3000, 3).unwrap());
        let expected: Vec<f64> = (0..3000)
            .map(|i| model.score(dense.row(i)).unwrap())
            .collect();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let found = pool.unwrap().install(|| model.scores(&dense));
            assert_eq!(found.unwrap(), expected);
        }
        let empty = Rows::Csr(Csr::new(vec![0], vec![], vec![], 3).unwrap());
        assert!(model.scores(&empty).unwrap().is_empty());
    }

    #[test]
    fn a_hashed_model_scores_raw_rows() {
        let hashed = Model {
            features: FeatureMap::Hash { bits: 2 },
            weights: vec![1.0, -2.0, 0.5, 3.0],
            ..model()
        };
        let values: Vec<f64> = (0..5000 * 9).map(|i| f64::from(i % 97) - 40.0).collect();
        let raw = Rows::Dense(Dense::new(values, 5000, 9).unwrap());
        let mapped = hashed.features.apply(&raw).unwrap();
        let plain = Model {
            features: FeatureMap::Identity,
            ..hashed.clone()
        };
        let expected = plain.scores(&mapped).unwrap();
        assert_eq!(hashed.scores(&raw).unwrap(), expected);
        assert_eq!(hashed.score(raw.row(4999)).unwrap(), expected[4999]);
        assert_ne!(plain.scores(&raw).unwrap(), expected);
    }

    #[test]
    fn the_error_names_the_first_row_that_cannot_be_mapped() {
        let mut values = vec![0.0; 4 * 6000];
        values[4 * 1500..].fill(1e308);
        let raw = Rows::Dense(Dense::new(values, 6000, 4).unwrap());
        let mut model = model();
        model.features = FeatureMap::Hash { bits: 1 };
        assert!(matches!(
            model.scores(&raw),
            Err(Error::NotFinite { row: 1500, .. })
        ));
        model.features = FeatureMap::Hash { bits: 0 };
        assert!(model.scores(&raw).is_err() && model.score(raw.row(0)).is_err());
    }

    #[test]
    fn columns_are_found_by_name_and_their_order_changes_no_bit() {
        let names = |all: [&str; 3]| all.map(str::to_string).to_vec();
        let named = Model {
            names: names(["a", "b", "c"]),
            ..model()
        };
        let in_order = Rows::Dense(Dense::new(vec![0.1, 0.7, 0.0, 0.3, 0.0, 1e9], 2, 3).unwrap());
        let table = ["c", "x", "a", "b"].map(str::to_string);
        let values = vec![0.0, 5.0, 0.1, 0.7, 1e9, 0.0, 0.3, 0.0];
        let dense = Dense::new(values, 2, 4).unwrap();
        let csr = Csr::new(
            vec![0, 3, 5],
            vec![1, 2, 3, 0, 2],
            vec![5.0, 0.1, 0.7, 1e9, 0.3],
            4,
        )
        .unwrap();
        let hashed = Model {
            features: FeatureMap::Hash { bits: 2 },
            ..named.clone()
        };
        for model in [named, hashed] {
            let expected = model.scores(&in_order).unwrap();
            for rows in [Rows::Dense(dense.clone()), Rows::Csr(csr.clone())] {
                assert_eq!(model.scores_by_name(&rows, &table).unwrap(), expected);
                let lacking = model.scores_by_name(&rows, &table[..3]);
                assert!(matches!(lacking, Err(Error::Column { name }) if name == "b"));
            }
            // Where nothing has names, columns count by position.
            assert_eq!(model.scores_by_name(&in_order, &[]).unwrap(), expected);
        }
    }

    #[test]
    fn probabilities_are_of_the_distance_from_the_threshold() {
        let mut model = model();
        assert_eq!(model.probability(1.25), None);
        model.calibration = Some(Calibration::new(2.0, 0.0, vec![], vec![]).unwrap());
        assert_eq!(model.probability(model.threshold), Some(0.5));
        assert!(model.probability(1.3) > model.probability(1.2));
    }
}
