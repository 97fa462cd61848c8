//! A linear scoring function and its decision.
//!
//!   score(x) = w·x + b,   positive where score(x) ≥ threshold
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
        row.dot(&self.weights) + self.intercept
    }

    /// The score of every row, in parallel; the same bits for any number of threads.
    pub fn scores(&self, rows: &Rows) -> Vec<f64> {
        (0..rows.len())
            .into_par_iter()
            .with_min_len(MIN_ROWS)
            .map(|i| self.score(rows.row(i)))
            .collect()
    }

    /// The class of a score; NaN is negative.
    pub fn predict(&self, score: f64) -> &str {
        &self.classes[usize::from(score >= self.threshold)]
    }
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
