//! A linear scoring function and its decision.
//!
//!   score(x) = w·x + b,   positive where score(x) ≥ threshold
//!
//! The sum goes entry by entry in the order of the columns. Zeros change nothing of it, so the bits
//! depend neither on how the rows are stored nor on how many are scored at once.
//!
//! A feature beyond the weights is ignored and a missing one is zero, so that data read with
//! another number of columns can be scored.

use rayon::prelude::*;

use crate::data::rows::{Row, Rows};

/// Rows scored by one task at least; less is not worth a thread.
const MIN_ROWS: usize = 1024;

/// What training leaves behind.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModel {
    /// w, one for each feature.
    pub weights: Vec<f64>,
    /// b; moves every score alike, and so no ranking.
    pub intercept: f64,
    /// Scores from here on are positive, in units of the score.
    pub threshold: f64,
    /// What the data calls the negative and the positive class.
    pub classes: [String; 2],
    /// Names of the features, or none.
    pub names: Vec<String>,
}

impl LinearModel {
    /// w·x + b.
    #[inline]
    pub fn score(&self, row: Row<'_>) -> f64 {
        score(&self.weights, self.intercept, row)
    }

    /// The score of every row, in parallel; the same bits for any number of threads.
    pub fn scores(&self, rows: &Rows) -> Vec<f64> {
        scores(&self.weights, self.intercept, rows)
    }

    /// The class of a score; NaN is negative.
    pub fn predict(&self, score: f64) -> &str {
        &self.classes[usize::from(score >= self.threshold)]
    }
}

/// w·x + b of every row, as [`LinearModel::scores`] gives them.
pub fn scores(weights: &[f64], intercept: f64, rows: &Rows) -> Vec<f64> {
    (0..rows.len())
        .into_par_iter()
        .with_min_len(MIN_ROWS)
        .map(|i| score(weights, intercept, rows.row(i)))
        .collect()
}

#[inline]
fn score(weights: &[f64], intercept: f64, row: Row<'_>) -> f64 {
    let known = row
        .entries()
        .filter_map(|(j, x)| weights.get(j).map(|w| w * x));
    known.fold(0.0, |sum, term| sum + term) + intercept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::rows::{Csr, Dense};

    fn model() -> LinearModel {
        LinearModel {
            weights: vec![1.0, -2.0, 0.5],
            intercept: 0.25,
            threshold: 1.25,
            classes: ["no".to_string(), "yes".to_string()],
            names: Vec::new(),
        }
    }

    #[test]
    fn features_beyond_the_weights_are_ignored_and_missing_ones_are_zero() {
        let model = model();
        assert_eq!(model.score(Row::Dense(&[2.0, 1.0, 4.0, 1e9])), 2.25);
        assert_eq!(model.score(Row::Dense(&[2.0])), 2.25);
        assert_eq!(model.score(Row::Sparse(&[1, 900], &[1.0, 1e9])), -1.75);
        assert_eq!(model.score(Row::Sparse(&[], &[])), 0.25);
    }

    #[test]
    fn dense_and_sparse_rows_have_the_same_score_to_the_last_bit() {
        let (n, d) = (200_usize, 61_usize);
        let weights = (0..d).map(|j| (j as f64 + 0.3).sin() * 10f64.powi(j as i32 % 7 - 3));
        let model = LinearModel {
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
            let scores = model.scores(rows);
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
        let expected: Vec<f64> = (0..3000).map(|i| model.score(dense.row(i))).collect();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            assert_eq!(pool.unwrap().install(|| model.scores(&dense)), expected);
        }
        let empty = Rows::Csr(Csr::new(vec![0], vec![], vec![], 3).unwrap());
        assert!(model.scores(&empty).is_empty());
    }
}
