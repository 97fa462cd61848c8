//! Shards in this process.

use rayon::prelude::*;

use super::message::{Block, Over, Query, Round};
use super::shard::{BlockSums, Shard};
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

/// The rows of a data set in shards, on rayon's threads.
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

    /// The commands of a round, and the answers of each shard to these of its queries.
    fn each(&mut self, round: &Round, queries: &[Query]) -> Result<Vec<Vec<f64>>> {
        let rows = self.rows;
        let run = |shard: &mut Shard| {
            shard.obey(rows, round)?;
            Ok(shard.answer(rows, queries))
        };
        if let [shard] = self.shards.as_mut_slice() {
            return Ok(vec![run(shard)?]);
        }
        self.shards.par_iter_mut().map(run).collect()
    }

    /// The sums of a block, each group of shards with a matrix of its own.
    fn block(&self, block: &Block) -> Vec<f64> {
        let (rows, d) = (self.rows, self.rows.cols());
        let columns = block.len(d);
        let worth = (rows.stored() * 3 / 2).checked_div(columns * columns);
        self.of_groups(worth.unwrap_or(0), |shards| {
            let mut sums = BlockSums::new(columns);
            for shard in shards {
                shard.add_block(rows, block, &mut sums);
            }
            let mut part = Vec::new();
            sums.write(&mut part);
            part
        })
    }

    /// A sum over groups of shards, as many as the rows are worth, in their order. No more of them are in memory at a time
    /// than there are threads.
    fn of_groups(&self, worth: usize, part: impl Fn(&[Shard]) -> Vec<f64> + Sync) -> Vec<f64> {
        let groups = worth.clamp(1, MAX_GRAMS).min(self.shards.len());
        let groups: Vec<&[Shard]> = (self.shards)
            .chunks(self.shards.len().div_ceil(groups))
            .collect();
        let mut sum: Option<Vec<f64>> = None;
        for some in groups.chunks(rayon::current_num_threads().max(1)) {
            let parts: Vec<Vec<f64>> = some.par_iter().map(|shards| part(shards)).collect();
            sum = Some(add_all(sum.into_iter().chain(parts).collect()));
        }
        sum.unwrap_or_default()
    }

    /// A sum of matrices. Groups of shards have one each, as many as the rows are worth.
    fn gram(&self, over: Over) -> Vec<f64> {
        let (rows, d) = (self.rows, self.rows.cols());
        self.of_groups(self.worth(over), |shards| {
            let mut gram = Gram::new(d);
            shards
                .iter()
                .for_each(|shard| shard.add_gram(rows, over, &mut gram));
            gram.packed()
        })
    }

    /// How many matrices the multiplications pay for.
    fn worth(&self, over: Over) -> usize {
        let (n, d) = (self.rows.len(), self.rows.cols());
        let stored = self.rows.stored();
        let worth = match over {
            Over::LeastSquares | Over::Curvature | Over::Product => {
                (stored * 3 / 2).checked_div(d * d)
            }
            // Their entries are multiplied with each other and little else is done.
            Over::Active => {
                let active: usize = self.shards.iter().map(Shard::n_active).sum();
                let of_row = stored.checked_div(n).unwrap_or(0);
                (active * of_row * of_row).checked_div(8 * d * d)
            }
        };
        worth.unwrap_or(0)
    }
}

impl Source for Local<'_> {
    fn sum(&mut self, round: &Round) -> Result<Vec<f64>> {
        // A matrix at the end is summed over groups of shards, so that not every shard has one.
        if let Some((Query::Gram(over), before)) = round.queries.split_last() {
            let mut answers = add_all(self.each(round, before)?);
            answers.extend(self.gram(*over));
            return Ok(answers);
        }
        if let [Query::BlockGram(block)] = round.queries.as_slice() {
            self.each(round, &[])?;
            return Ok(self.block(block));
        }
        Ok(add_all(self.each(round, &round.queries)?))
    }

    fn collect(&mut self, round: &Round) -> Result<Vec<Vec<f64>>> {
        self.each(round, &round.queries)
    }

    /// Without a copy for each shard, and in the place of numbers that no fit begins with.
    fn scores(&mut self, round: &Round) -> Result<Vec<f64>> {
        self.each(round, &[])?;
        self.shards.iter_mut().for_each(Shard::forget);
        let mut scores = Vec::with_capacity(self.rows.len());
        for shard in &self.shards {
            shard.write_scores(&mut scores);
        }
        Ok(scores)
    }

    fn is_remote(&self) -> bool {
        false
    }
}
