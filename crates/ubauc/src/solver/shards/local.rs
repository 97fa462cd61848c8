//! Shards in this process.

use rayon::prelude::*;

use super::question::{Question, Round};
use super::shard::Shard;
use super::{Source, add_all};
use crate::Result;
use crate::data::dataset::Dataset;
use crate::data::rows::Rows;
use crate::solver::gram::Gram;

/// Rows of a shard: enough work for a thread, and few enough for their numbers to stay in cache.
const SHARD_ROWS: usize = 8192;
/// No more shards than this, since each may answer with a vector of d numbers.
const MAX_SHARDS: usize = 64;
/// Matrices of d² numbers that may be summed side by side.
const MAX_GRAMS: usize = 8;

/// The rows of a data set in shards, asked on rayon's threads.
pub(crate) struct Local<'a> {
    rows: &'a Rows,
    shards: Vec<Shard>,
}

impl<'a> Local<'a> {
    pub(crate) fn new(data: &'a Dataset, weights: Option<&[f64]>) -> Local<'a> {
        let rows = data.rows();
        let n = rows.len();
        let count = n.div_ceil(SHARD_ROWS).clamp(1, MAX_SHARDS);
        let shard = |k: usize| {
            let span = k * n / count..(k + 1) * n / count;
            Shard::new(span, rows.cols(), data.positive(), weights)
        };
        Local {
            rows,
            shards: (0..count).into_par_iter().map(shard).collect(),
        }
    }

    fn each(&mut self, round: &[Question]) -> Vec<Vec<f64>> {
        let rows = self.rows;
        if let [shard] = self.shards.as_mut_slice() {
            return vec![shard.answer(rows, round)];
        }
        self.shards
            .par_iter_mut()
            .map(|shard| shard.answer(rows, round))
            .collect()
    }

    /// A sum of matrices. Groups of shards have one each, at most so many.
    fn matrix(&self, most: usize, add: impl Fn(&Shard, &Rows, &mut Gram) + Sync) -> Vec<f64> {
        let (rows, d) = (self.rows, self.rows.cols());
        let groups = most.clamp(1, MAX_GRAMS).min(self.shards.len());
        let size = self.shards.len().div_ceil(groups);
        let parts: Vec<Vec<f64>> = self
            .shards
            .par_chunks(size)
            .map(|shards| {
                let mut gram = Gram::new(d);
                shards.iter().for_each(|shard| add(shard, rows, &mut gram));
                gram.packed()
            })
            .collect();
        add_all(parts)
    }

    /// As many matrices as the rows are worth.
    fn gram(&self) -> Vec<f64> {
        let d = self.rows.cols();
        let worth = (self.rows.stored() * 3 / 2).checked_div(d * d);
        self.matrix(worth.unwrap_or(0), Shard::add_gram)
    }

    /// The same for the active rows, whose entries are multiplied with each other and little else is done.
    fn active_gram(&self) -> Vec<f64> {
        let (n, d) = (self.rows.len(), self.rows.cols());
        let active: usize = self.shards.iter().map(Shard::active).sum();
        let of_row = self.rows.stored().checked_div(n).unwrap_or(0);
        let worth = (active * of_row * of_row).checked_div(8 * d * d);
        self.matrix(worth.unwrap_or(0), Shard::add_active_gram)
    }
}

impl Source for Local<'_> {
    fn sum(&mut self, round: &Round) -> Result<Vec<f64>> {
        let (before, matrix) = match round.0.split_last() {
            Some((last @ (Question::Gram | Question::ActiveGram), before)) => (before, Some(last)),
            _ => (round.0.as_slice(), None),
        };
        let mut answers = add_all(self.each(before));
        match matrix {
            Some(Question::Gram) => answers.extend(self.gram()),
            Some(_) => answers.extend(self.active_gram()),
            None => {}
        }
        Ok(answers)
    }

    fn collect(&mut self, round: &Round) -> Result<Vec<Vec<f64>>> {
        Ok(self.each(&round.0))
    }

    fn far(&self) -> bool {
        false
    }
}
