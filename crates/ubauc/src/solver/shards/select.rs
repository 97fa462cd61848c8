//! λ at which the hinge is least, by counting: the interval of `threshold.rs` for rows that are far.
//!
//! W(λ) = Σ s_i 1[z_i ≥ λ] falls from N to 0. The upper end of the interval is the largest λ with W(λ) ≥ N⁺, which is
//! one of the z_i; the lower end is the same, or if W(λ) = N⁺ the next z_i below. Floating point numbers of one order
//! with integers are searched in 2^11 parts a round, from the solver's λ outwards: some five rounds, whatever N.

use super::{Question, Shards};
use crate::Result;
use crate::metrics::order::{key, score};
use crate::solver::threshold::{EQUAL, threshold};

/// λ to count at in one round.
const TOGETHER: u64 = 2047;

impl Shards<'_> {
    /// The closed interval of λ that minimise Σ s_i [y_i(λ − z_i)]₊ at the current z; `guess` is about where.
    pub(crate) fn threshold(&mut self, guess: f64) -> Result<([f64; 2], Vec<f64>)> {
        if !self.far() {
            let scores = self.scores()?;
            let weights = self.collect(Question::Weights)?.concat();
            return Ok((threshold(&scores, &weights, self.total.pos), scores));
        }
        let enough = self.total.pos * (1.0 - EQUAL);
        // W is at least N⁺ at `low` and below it at `high`.
        let (mut low, mut reached) = (key(f64::NEG_INFINITY), self.total.sum());
        let mut high = key(f64::INFINITY);
        let mut first = true;
        while high - low > 1 {
            let keys = match std::mem::take(&mut first) {
                true => around(guess, low, high),
                false => between(low, high),
            };
            let lambdas: Vec<f64> = keys.iter().map(|&key| score(key)).collect();
            let weights = self.sum(vec![Question::Above(lambdas)])?;
            let at = weights.partition_point(|weight| *weight >= enough);
            if at > 0 {
                (low, reached) = (keys[at - 1], weights[at - 1]);
            }
            high = keys.get(at).copied().unwrap_or(high);
        }
        let upper = score(low);
        if (reached - self.total.pos).abs() > EQUAL * self.total.pos {
            return Ok(([upper, upper], Vec::new()));
        }
        let below = self.collect(Question::Below(upper))?.concat();
        let lower = below.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let lower = if lower.is_finite() { lower } else { upper };
        Ok(([lower, upper], Vec::new()))
    }
}

/// Keys strictly between, evenly spread.
fn between(low: u64, high: u64) -> Vec<u64> {
    let (width, parts) = (high - low, (high - low - 1).min(TOGETHER) + 1);
    let at = |k: u64| low + (u128::from(width) * u128::from(k) / u128::from(parts)) as u64;
    (1..parts).map(at).collect()
}

/// Keys strictly between, ever nearer to a guess.
fn around(guess: f64, low: u64, high: u64) -> Vec<u64> {
    let guess = key(if guess.is_finite() { guess } else { 0.0 });
    let mut keys: Vec<u64> = (0..63)
        .flat_map(|k| {
            let step = 1_u64 << k;
            [guess.saturating_sub(step), guess.saturating_add(step)]
        })
        .chain([guess])
        .filter(|&key| key > low && key < high)
        .collect();
    keys.sort_unstable();
    keys
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::rows::{Dense, Rows};
    use crate::objective::ubauc::LeastSquares;
    use crate::solver::shards::{Round, Shard, Source, add_all};

    /// Shards in this process that are asked as if they were far.
    struct Far(Vec<(Rows, Shard)>);

    impl Source for Far {
        fn sum(&mut self, round: &Round) -> Result<Vec<f64>> {
            Ok(add_all(self.collect(round)?))
        }
        fn collect(&mut self, round: &Round) -> Result<Vec<Vec<f64>>> {
            let round = Round::from_numbers(&round.to_numbers())?;
            let answer = |(rows, shard): &mut (Rows, Shard)| shard.answer(rows, &round.0);
            Ok(self.0.iter_mut().map(answer).collect())
        }
        fn far(&self) -> bool {
            true
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
            let far = Far(vec![part(0..cut), part(cut..n)]);
            let mut shards = Shards::new(Box::new(far), 1, LeastSquares::Plain).unwrap();
            shards.place(&[1.0]);
            let (found, _) = shards.threshold(guess).unwrap();
            let expected = threshold(&z, &weights, shards.total.pos);
            prop_assert_eq!(found, expected);
        }
    }
}
