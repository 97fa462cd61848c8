//! Products with the rows X, whose features are divided on the way.
//!
//! A sum over rows is made in parts that depend on the data only and are added in their order: the same bits for any
//! number of threads.
//!
//! Not by shards, which keep what they multiply by: here a is new in every round, a number for each row that is known only after
//! all rows are sorted, and shards have no command that carries N numbers.

use rayon::prelude::*;

use crate::data::rows::{Rows, add_to};

/// Rows of one task that computes a number for each.
const CHUNK: usize = 2048;
/// A sum over rows is made in at most this many parts, …
const MAX_PARTS: usize = 16;
/// … each of which has at least this many entries for a number of its own.
const WORTH: usize = 4;

pub(super) struct Products<'a> {
    rows: &'a Rows,
    divisors: Option<&'a [f64]>,
}

impl<'a> Products<'a> {
    pub(super) fn new(rows: &'a Rows, divisors: Option<&'a [f64]>) -> Products<'a> {
        Products { rows, divisors }
    }

    /// w for the raw features.
    pub(super) fn raw(&self, w: &[f64]) -> Vec<f64> {
        let mut w = w.to_vec();
        self.divide(&mut w);
        w
    }

    /// Xw.
    pub(super) fn scores(&self, w: &[f64]) -> Vec<f64> {
        let w = self.raw(w);
        let rows = (0..self.rows.len()).into_par_iter().with_min_len(CHUNK);
        rows.map(|i| self.rows.row(i).dot(&w)).collect()
    }

    /// Xᵀa.
    pub(super) fn transposed(&self, a: &[f64]) -> Vec<f64> {
        let (n, d) = (self.rows.len(), self.rows.cols());
        let parts = (self.rows.stored() / (WORTH * d.max(1))).clamp(1, MAX_PARTS);
        let sums: Vec<Vec<f64>> = (0..parts)
            .into_par_iter()
            .map(|part| {
                let mut sum = vec![0.0; d];
                let span = part * n / parts..(part + 1) * n / parts;
                for (i, &a) in span.clone().zip(&a[span]) {
                    if a != 0.0 {
                        self.rows.row(i).add_to(a, &mut sum);
                    }
                }
                sum
            })
            .collect();
        let mut sum = vec![0.0; d];
        sums.iter().for_each(|part| add_to(1.0, part, &mut sum));
        self.divide(&mut sum);
        sum
    }

    fn divide(&self, x: &mut [f64]) {
        if let Some(divisors) = self.divisors {
            x.iter_mut().zip(divisors).for_each(|(x, r)| *x /= r);
        }
    }
}
