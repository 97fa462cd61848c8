//! λ at which the hinge is least, by counting: the interval of `threshold.rs` for remote rows.
//!
//! W(λ) = Σ s_i 1[z_i ≥ λ] falls from N to 0. The upper end of the interval is the largest λ with W(λ) ≥ N⁺, which is
//! one of the z_i; the lower end is the same, or if W(λ) = N⁺ the next z_i below. W is counted at some hundred λ ever
//! nearer to the solver's, on both sides; when few z_i are left between two of them these are brought here and sorted, equal
//! ones as one. As long as there are too many, floating point numbers, of one order with integers, are cut into 2^11 parts
//! a round.

use super::{Query, Shards};
use crate::Result;
use crate::metrics::order::{key, score};
use crate::solver::threshold::{EQUAL, threshold, unit_threshold};

/// λ to count at in one round.
const TOGETHER: u64 = 2047;
/// z_i that may be brought here.
const FEW: usize = 4096;

/// What there is to know of z when all is done.
pub(crate) struct End {
    /// b and Σ s v (y − z − b)², as [`Shards::residuals`] has them.
    pub(crate) residuals: (f64, f64),
    /// The closed interval of λ that minimise Σ s_i [y_i(λ − z_i)]₊.
    pub(crate) lambda: [f64; 2],
    /// All z, unless the rows are remote.
    pub(crate) scores: Vec<f64>,
}

impl Shards<'_> {
    /// At the current z; `guess` is about where λ is.
    pub(crate) fn end(&mut self, intercept: bool, guess: f64) -> Result<End> {
        if !self.is_remote() {
            let residuals = self.residuals(intercept)?;
            let scores = self.scores()?;
            let lambda = match self.unit {
                true => unit_threshold(scores.clone(), self.total.pos),
                false => {
                    let weights = self.collect(Query::Weights)?.concat();
                    threshold(&scores, &weights, self.total.pos)
                }
            };
            return Ok(End {
                residuals,
                lambda,
                scores,
            });
        }
        let keys = around(guess);
        let centre = if intercept { self.residual } else { 0.0 };
        let mut answers = self.sum(vec![Query::Residuals(centre), above(&keys)])?;
        let residuals = answers.array()?;
        let counts = answers.next().to_vec();
        let residuals = self.about(residuals, centre, intercept, Query::Residuals)?;
        Ok(End {
            residuals,
            lambda: self.select(keys, counts)?,
            scores: Vec::new(),
        })
    }

    /// From the weights and numbers of z at or above each of these keys.
    fn select(&mut self, mut keys: Vec<u64>, mut counts: Vec<f64>) -> Result<[f64; 2]> {
        let n_pos = self.total.pos;
        let enough = n_pos * (1.0 - EQUAL);
        // W is at least N⁺ at `low` and less at `high`; how many z there are at or above each.
        let (mut low, mut n_low) = (key(f64::NEG_INFINITY), self.n_weighted as f64);
        let (mut high, mut above_high, mut n_high) = (key(f64::INFINITY), 0.0, 0.0);
        loop {
            let (weights, numbers) = counts.split_at(keys.len());
            let at = weights.partition_point(|weight| *weight >= enough);
            if at > 0 {
                (low, n_low) = (keys[at - 1], numbers[at - 1]);
            }
            if at < keys.len() {
                (high, above_high, n_high) = (keys[at], weights[at], numbers[at]);
            }
            if n_low - n_high <= FEW as f64 || high - low <= 1 {
                break;
            }
            keys = between(low, high);
            counts = self.sum_one(above(&keys))?;
        }
        let (low, high) = (score(low), score(high));
        let found = self.collect(Query::Between { low, high })?.concat();
        let mut left: Vec<(f64, f64)> = found.chunks_exact(2).map(|x| (x[0], x[1])).collect();
        left.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let (upper, reached) = upper_end(&left, above_high, enough);
        if reached > n_pos * (1.0 + EQUAL) {
            return Ok([upper, upper]);
        }
        // Nothing but what is below may be the lower end.
        let below = match left.iter().map(|(z, _)| *z).find(|z| *z < upper) {
            Some(z) => z,
            None => {
                let below = self.collect(Query::Below(upper))?.concat();
                below.into_iter().fold(f64::NEG_INFINITY, f64::max)
            }
        };
        let lower = if below.is_finite() { below } else { upper };
        Ok([lower, upper])
    }
}

/// The largest z at which W is enough, and W there; W is `reached` above all of them.
fn upper_end(falling: &[(f64, f64)], mut reached: f64, enough: f64) -> (f64, f64) {
    for equal in falling.chunk_by(|a, b| a.0 == b.0) {
        reached += equal.iter().map(|(_, s)| s).sum::<f64>();
        if reached >= enough {
            return (equal[0].0, reached);
        }
    }
    (falling.last().map_or(0.0, |(z, _)| *z), reached)
}

fn above(keys: &[u64]) -> Query {
    Query::Above(keys.iter().map(|&key| score(key)).collect())
}

/// Keys strictly between, evenly spread.
fn between(low: u64, high: u64) -> Vec<u64> {
    let (width, parts) = (high - low, (high - low - 1).min(TOGETHER) + 1);
    let at = |k: u64| low + (u128::from(width) * u128::from(k) / u128::from(parts)) as u64;
    (1..parts).map(at).collect()
}

/// Keys ever nearer to a guess, on both sides.
fn around(guess: f64) -> Vec<u64> {
    let guess = key(if guess.is_finite() { guess } else { 0.0 });
    let (low, high) = (key(f64::NEG_INFINITY), key(f64::INFINITY));
    let mut keys: Vec<u64> = (0..63)
        .flat_map(|k| {
            let step = 1_u64 << k;
            [guess.saturating_sub(step), guess.saturating_add(step)]
        })
        .chain([guess])
        .filter(|&key| key > low && key < high)
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::rows::{Dense, Rows};
    use crate::solver::shards::{Round, Shard, Source, add_all};

    /// Shards in this process that are reached as if they were remote.
    struct Remote(Vec<(Rows, Shard)>);

    impl Source for Remote {
        fn sum(&mut self, round: &Round) -> Result<Vec<f64>> {
            Ok(add_all(self.collect(round)?))
        }
        fn collect(&mut self, round: &Round) -> Result<Vec<Vec<f64>>> {
            let round = Round::from_bytes(&round.to_bytes()?)?;
            let run = |(rows, shard): &mut (Rows, Shard)| shard.run(rows, &round);
            let answers = self.0.iter_mut().map(run).collect::<Result<Vec<_>>>()?;
            assert!(answers.iter().map(Vec::len).sum::<usize>() <= 2 * FEW);
            Ok(answers)
        }
        fn is_remote(&self) -> bool {
            true
        }
    }

    /// Whatever the ties and whatever lies close together far below them.
    #[test]
    fn few_scores_are_brought_here() {
        let n = 20_000;
        let z: Vec<f64> = (0..2 * n)
            .map(|i| if i < n { 0.0 } else { -1.0 - i as f64 * 1e-9 })
            .collect();
        for n_pos in [1, n / 2, n, n + 5] {
            let positive: Vec<bool> = (0..2 * n).map(|i| i < n_pos).collect();
            let rows = Rows::Dense(Dense::new(z.clone(), 2 * n, 1).unwrap());
            let shard = Shard::new(0..2 * n, 1, &positive, None);
            let remote = Remote(vec![(rows, shard)]);
            let mut shards = Shards::new(Box::new(remote), 1).unwrap();
            shards.set_weights(&[1.0]);
            let found = shards.end(false, 0.3).unwrap().lambda;
            assert_eq!(found, threshold(&z, &vec![1.0; 2 * n], n_pos as f64));
        }
    }

    proptest! {
        #[test]
        fn counting_finds_what_sorting_finds(
            z in prop::collection::vec(prop_oneof![-2.0..2.0f64, Just(0.0), Just(-0.0), Just(1.0)], 2..40),
            weights in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.5..2.0f64], 40),
            positive in prop::collection::vec(any::<bool>(), 40),
            unit: bool,
            cut in 0usize..40,
            guess in -3.0..3.0f64,
        ) {
            let n = z.len();
            let mut weights = if unit { vec![1.0; n] } else { weights[..n].to_vec() };
            let mut positive = positive[..n].to_vec();
            (positive[0], positive[1], weights[0], weights[1]) = (true, false, 1.0, 1.0);
            let cut = cut.min(n);
            let part = |span: std::ops::Range<usize>| {
                let rows = Dense::new(z[span.clone()].to_vec(), span.len(), 1).unwrap();
                let shard = Shard::new(0..span.len(), 1, &positive[span.clone()], Some(&weights[span]));
                (Rows::Dense(rows), shard)
            };
            let remote = Remote(vec![part(0..cut), part(cut..n)]);
            let mut shards = Shards::new(Box::new(remote), 1).unwrap();
            shards.set_weights(&[1.0]);
            let found = shards.end(false, guess).unwrap().lambda;
            let expected = threshold(&z, &weights, shards.total.pos);
            prop_assert_eq!(found, expected);
        }
    }
}
