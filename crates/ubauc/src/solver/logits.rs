//! The bound with its least squares of a batch of logits: value and derivatives, which neural networks learn by.
//!
//! A target t_i is 0, 1 or in between, so much of each class, as in cross entropy. With the weight a_i of an example and c⁻, c⁺
//! of the classes it counts n_i = c⁻ a_i (1 − t_i) as a negative and p_i = c⁺ a_i t_i as a positive, m_i = n_i + p_i. At a
//! threshold λ, with φ of κ and q_i = φ'(λ − z_i):
//!
//! ```text
//! l_i     = p_i φ(λ − z_i) + n_i φ(z_i − λ) + β/2 { p_i (z_i − 1)² + n_i (z_i + 1)² }
//!         = m_i φ(λ − z_i) − n_i (λ − z_i) + β/2 { … }
//! ∂l/∂z_i = n_i − m_i q_i + β { p_i (z_i − 1) + n_i (z_i + 1) }
//! ∂l/∂λ   = Σ m_i q_i − Σ n_i
//! ```
//!
//! since φ(−t) = φ(t) − t and so φ'(−t) = 1 − φ'(t). Where λ is the minimiser for the batch, ∂l/∂λ = 0 and λ may be held still
//! (envelope theorem). For the soft loss it is found by Newton's method, for the hinge by the order of the logits; the hinge
//! has at λ any q_i in [0, 1], and takes the one that makes ∂l/∂λ = 0, if there is one: λ moves with a logit that it is, and no
//! other is a subgradient of the minimum.
//!
//! Batches are small and called for often: one thread, and [`LANES`] running totals of a sum, which become vectors. What has single
//! precision is computed in it, but for λ and the totals; λ is two numbers of single precision then, so that λ − z_i is right
//! where they are near. Instead of φ the loops have r_i = φ(t) − [t]₊, of which nothing is lost where t is large:
//!
//! ```text
//! p_i φ(t) + n_i φ(−t) = m_i r_i + p_i [t]₊ + n_i [−t]₊
//! ```

use std::ops::{Add, Mul, Sub};

use super::shards::SoftPoint;
use super::threshold::{balanced, threshold};
use crate::objective::loss::Loss;
use crate::objective::single;
use crate::objective::ubauc::ClassWeights;
use crate::{Error, Result};

/// Running totals of a sum; arrays are filled up with examples without weight to a multiple of it.
const LANES: usize = 64;

/// φ and the least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogitLoss {
    /// κ ≥ 0; 0 is the hinge.
    pub softness: f64,
    /// β ≥ 0.
    pub beta: f64,
}

/// λ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LogitThreshold {
    /// As it is.
    Fixed(f64),
    /// The minimiser for the batch, looked for from here; this number itself where a class is missing or a logit is not finite.
    Best(f64),
}

/// Numbers of single or double precision, filled up with zeros to a multiple of [`LANES`].
#[derive(Debug, Clone, PartialEq)]
pub struct Lanes<F> {
    len: usize,
    values: Vec<[F; LANES]>,
}

/// Logits with their weights as negatives and as positives.
#[derive(Debug, Clone, PartialEq)]
pub struct LogitBatch<F> {
    logits: Lanes<F>,
    negative: Lanes<F>,
    positive: Lanes<F>,
}

/// The sum of l_i and its derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct LogitDerivatives<F> {
    /// Σ l_i.
    pub value: f64,
    /// ∂l/∂z_i; NaN where a logit is not finite.
    pub gradient: Vec<F>,
    /// λ.
    pub lambda: f64,
    /// ∂l/∂λ, 0 up to rounding at a minimiser.
    pub by_lambda: f64,
}

/// `f32` and `f64`.
pub trait Precision:
    Copy + PartialOrd + Into<f64> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// A Newton step in λ below this share of κ is the last: at most half its square is left, times κ.
    const NEAR: f64;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The largest.
    const MOST: Self;
    /// The nearest one.
    fn of(x: f64) -> Self;
    /// φ(t) − [t]₊, φ'(t) and φ''(t).
    fn at(loss: Loss, t: Self) -> [Self; 3];
}

impl Precision for f64 {
    const NEAR: f64 = 1e-6;
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    const MOST: f64 = f64::MAX;

    #[inline]
    fn of(x: f64) -> f64 {
        x
    }

    #[inline]
    fn at(loss: Loss, t: f64) -> [f64; 3] {
        let at = loss.at(t);
        [at.value - t.max(0.0), at.multiplier, at.curvature]
    }
}

impl Precision for f32 {
    const NEAR: f64 = 1e-3;
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
    const MOST: f32 = f32::MAX;

    #[inline]
    fn of(x: f64) -> f32 {
        x as f32
    }

    #[inline]
    fn at(loss: Loss, t: f32) -> [f32; 3] {
        match loss {
            Loss::Hinge => [0.0, if t > 0.0 { 1.0 } else { 0.0 }, 0.0],
            Loss::Soft { softness } => {
                // One that is 0 in single precision is the hinge.
                let softness = (softness as f32).max(f32::MIN_POSITIVE);
                let e = single::exp_of_negative(-(t / softness).abs());
                let large = 1.0 / (1.0 + e);
                let small = e * large;
                let multiplier = if t > 0.0 { large } else { small };
                let above = softness * single::ln_1p_of_share(e);
                [above, multiplier, small * large / softness]
            }
        }
    }
}

impl<F: Precision> Lanes<F> {
    /// Also of booleans, and of single precision as double.
    pub fn of<T: Copy + Into<F>>(values: &[T]) -> Lanes<F> {
        let mut all = vec![[F::ZERO; LANES]; values.len().div_ceil(LANES)];
        for (to, value) in all.as_flattened_mut().iter_mut().zip(values) {
            *to = (*value).into();
        }
        let len = values.len();
        Lanes { len, values: all }
    }

    fn ones(len: usize) -> Lanes<F> {
        let values = vec![[F::ONE; LANES]; len.div_ceil(LANES)];
        let mut ones = Lanes { len, values };
        // What fills up has no weight.
        ones.values.as_flattened_mut()[len..].fill(F::ZERO);
        ones
    }

    fn each(&self) -> &[F] {
        &self.values.as_flattened()[..self.len]
    }

    fn each_mut(&mut self) -> &mut [F] {
        &mut self.values.as_flattened_mut()[..self.len]
    }

    fn total(&self) -> f64 {
        let mut sums = [0.0; LANES];
        for some in &self.values {
            add(&mut sums, some);
        }
        sums.iter().sum()
    }

    /// Refuses the first number that is not from 0 to `most`.
    fn check(&self, what: &'static str, most: F, must: &'static str) -> Result<()> {
        let is_right = |x: F| x >= F::ZERO && x <= most;
        // Without an early end, which would be no vectors.
        if self.each().iter().fold(true, |all, x| all & is_right(*x)) {
            return Ok(());
        }
        let wrong = self.each().iter().enumerate().find(|(_, x)| !is_right(**x));
        wrong.map_or(Ok(()), |(row, &value)| {
            let value = value.into();
            Err(Error::NotFinite {
                what,
                row,
                value,
                must,
            })
        })
    }
}

/// Into the totals, of double precision.
#[inline]
fn add<F: Precision>(sums: &mut [f64; LANES], terms: &[F; LANES]) {
    for k in 0..LANES {
        sums[k] += terms[k].into();
    }
}

impl<F: Precision> LogitBatch<F> {
    /// Refuses targets that are not in [0, 1] and weights that are not finite and at least 0.
    pub fn new(
        logits: Lanes<F>,
        targets: Lanes<F>,
        weights: Option<Lanes<F>>,
    ) -> Result<LogitBatch<F>> {
        let expected = logits.len;
        let lengths = [("targets", Some(&targets)), ("weights", weights.as_ref())];
        for (what, given) in lengths {
            if let Some(got) = given.map(|one| one.len).filter(|got| *got != expected) {
                return Err(Error::Length {
                    what,
                    expected,
                    got,
                });
            }
        }
        targets.check("target", F::ONE, "0 for negatives and 1 for positives")?;
        let mut positive = targets;
        let mut negative = match weights {
            Some(weights) => {
                weights.check("weight", F::MOST, "finite and at least 0")?;
                weights
            }
            None => Lanes::ones(expected),
        };
        for (n, p) in negative.each_mut().iter_mut().zip(positive.each_mut()) {
            let weight = *n;
            *n = weight * (F::ONE - *p);
            *p = weight * *p;
        }
        Ok(LogitBatch {
            logits,
            negative,
            positive,
        })
    }

    /// Σ p_i and Σ n_i.
    pub fn class_weights(&self) -> ClassWeights {
        ClassWeights {
            pos: self.positive.total(),
            neg: self.negative.total(),
        }
    }

    /// Multiplies the weights of each class: c⁺ and c⁻.
    pub fn weight_classes(&mut self, factors: ClassWeights) {
        let both = [&mut self.positive, &mut self.negative];
        for (all, factor) in both.into_iter().zip([factors.pos, factors.neg]) {
            if factor != 1.0 {
                let factor = F::of(factor);
                all.each_mut().iter_mut().for_each(|x| *x = *x * factor);
            }
        }
    }

    /// Σ l_i, and what it is differentiated to.
    pub fn derivatives(&self, loss: LogitLoss, at: LogitThreshold) -> Result<LogitDerivatives<F>> {
        let (phi, beta) = (Loss::of_softness(loss.softness), F::of(loss.beta));
        let weights = self.class_weights();
        let lambda = match at {
            LogitThreshold::Fixed(lambda) => lambda,
            LogitThreshold::Best(start) => self.best_threshold(phi, weights, start)?,
        };
        let tied = match phi {
            Loss::Hinge => self.share_of_tied(lambda, weights.neg),
            Loss::Soft { .. } => F::ZERO,
        };
        let (mut value, mut squared, mut sum) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        let mut gradient = vec![[F::ZERO; LANES]; self.logits.values.len()];
        for ((z, n, p), slope) in self.rows().zip(&mut gradient) {
            let away = away_from(lambda, z);
            let [above, multiplier, _] = at_each(phi, &away);
            let (mut terms, mut q, mut squares) =
                ([F::ZERO; LANES], [F::ZERO; LANES], [F::ZERO; LANES]);
            for k in 0..LANES {
                let mass = n[k] + p[k];
                let (over, under) = match away[k] > F::ZERO {
                    true => (away[k], F::ZERO),
                    false => (F::ZERO, F::ZERO - away[k]),
                };
                let at_tie = if away[k] == F::ZERO { tied } else { F::ZERO };
                q[k] = mass * (multiplier[k] + at_tie);
                terms[k] = mass * above[k] + p[k] * over + n[k] * under;
                let (up, down) = (z[k] - F::ONE, z[k] + F::ONE);
                let (of_positive, of_negative) = (p[k] * up, n[k] * down);
                squares[k] = of_positive * up + of_negative * down;
                // φ' of NaN is a number.
                slope[k] = n[k] - q[k] + beta * (of_positive + of_negative) + F::ZERO * z[k];
            }
            add(&mut value, &terms);
            add(&mut squared, &squares);
            add(&mut sum, &q);
        }
        let mut gradient = gradient.into_flattened();
        gradient.truncate(self.logits.len);
        let [value, squared, sum] = [value, squared, sum].map(|sums| sums.iter().sum::<f64>());
        Ok(LogitDerivatives {
            value: value + 0.5 * loss.beta * squared,
            gradient,
            lambda,
            by_lambda: sum - weights.neg,
        })
    }

    fn best_threshold(&self, loss: Loss, weights: ClassWeights, start: f64) -> Result<f64> {
        let is_finite = |z: &F| (*z).into().is_finite();
        let has_both = weights.pos > 0.0 && weights.neg > 0.0;
        if !has_both || !self.logits.each().iter().all(is_finite) {
            return Ok(start);
        }
        let Loss::Soft { softness } = loss else {
            let doubles = |all: &[F]| all.iter().map(|x| (*x).into()).collect::<Vec<f64>>();
            let mass: Vec<[F; LANES]> = self.masses().collect();
            let mass = doubles(&mass.as_flattened()[..self.logits.len]);
            let [low, high] = threshold(&doubles(self.logits.each()), &mass, weights.pos);
            return Ok(low + 0.5 * (high - low));
        };
        let at = |lambda: f64| {
            let (mut slope, mut curvature) = ([0.0; LANES], [0.0; LANES]);
            for (z, n, p) in self.rows() {
                let mass: [F; LANES] = std::array::from_fn(|k| n[k] + p[k]);
                let [_, multiplier, second] = at_each(loss, &away_from(lambda, z));
                add(&mut slope, &times(&mass, &multiplier));
                add(&mut curvature, &times(&mass, &second));
            }
            Ok(SoftPoint {
                lambda,
                value: 0.0,
                slope: slope.iter().sum::<f64>() - weights.neg,
                curvature: curvature.iter().sum(),
            })
        };
        let start = if start.is_finite() { start } else { 0.0 };
        balanced(at(start)?, softness, F::NEAR * softness, at)
    }

    /// (z, n, p) of some examples.
    fn rows(&self) -> impl Iterator<Item = (&[F; LANES], &[F; LANES], &[F; LANES])> {
        let rows = self.logits.values.iter().zip(&self.negative.values);
        rows.zip(&self.positive.values).map(|((z, n), p)| (z, n, p))
    }

    fn masses(&self) -> impl Iterator<Item = [F; LANES]> {
        self.rows()
            .map(|(_, n, p)| std::array::from_fn(|k| n[k] + p[k]))
    }

    /// q of the logits that are λ: the rest of Σ n that those below leave.
    fn share_of_tied(&self, lambda: f64, negative: f64) -> F {
        let (mut below, mut tied) = (0.0, 0.0);
        for (z, m) in self.logits.values.iter().zip(self.masses()) {
            for (t, m) in away_from(lambda, z).into_iter().zip(m) {
                below += if t > F::ZERO { m.into() } else { 0.0 };
                tied += if t == F::ZERO { m.into() } else { 0.0 };
            }
        }
        match tied > 0.0 {
            true => F::of(((negative - below) / tied).clamp(0.0, 1.0)),
            false => F::ZERO,
        }
    }
}

/// [`Precision::at`], kind by kind.
#[inline]
fn at_each<F: Precision>(loss: Loss, t: &[F; LANES]) -> [[F; LANES]; 3] {
    let [mut above, mut multiplier, mut curvature] = [[F::ZERO; LANES]; 3];
    for k in 0..LANES {
        [above[k], multiplier[k], curvature[k]] = F::at(loss, t[k]);
    }
    [above, multiplier, curvature]
}

#[inline]
fn times<F: Precision>(a: &[F; LANES], b: &[F; LANES]) -> [F; LANES] {
    std::array::from_fn(|k| a[k] * b[k])
}

/// λ − z.
#[inline]
fn away_from<F: Precision>(lambda: f64, z: &[F; LANES]) -> [F; LANES] {
    let high = F::of(lambda);
    let low = F::of(lambda - high.into());
    z.map(|z| (high - z) + low)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::objective::ubauc::{Chunk, LeastSquares};
    use crate::solver::boosting::score_objective;

    fn batch(logits: &[f64], targets: &[f64], weights: &[f64]) -> LogitBatch<f64> {
        let [logits, targets, weights] = [logits, targets, weights].map(Lanes::of);
        LogitBatch::new(logits, targets, Some(weights)).unwrap()
    }

    /// Σ l_i at a threshold, as the head comment has it.
    fn written_out(rows: &[(f64, f64, f64)], lambda: f64, loss: LogitLoss) -> f64 {
        let phi = |t: f64| match loss.softness == 0.0 {
            true => t.max(0.0),
            false => loss.softness * (t / loss.softness).exp().ln_1p(),
        };
        let of_row = |&(z, t, a): &(f64, f64, f64)| {
            let (p, n) = (a * t, a * (1.0 - t));
            let squares = p * (z - 1.0).powi(2) + n * (z + 1.0).powi(2);
            p * phi(lambda - z) + n * phi(z - lambda) + 0.5 * loss.beta * squares
        };
        rows.iter().map(of_row).sum()
    }

    fn of(rows: &[(f64, f64, f64)]) -> LogitBatch<f64> {
        let column = |of: fn(&(f64, f64, f64)) -> f64| rows.iter().map(of).collect::<Vec<_>>();
        batch(&column(|r| r.0), &column(|r| r.1), &column(|r| r.2))
    }

    /// Logits on a grid of halves, so that some are tied; targets of 0, 1 and between; weights with 0.
    fn rows() -> impl Strategy<Value = Vec<(f64, f64, f64)>> {
        let row = (-6..=6i32, 0..=4i32, 0..=3i32)
            .prop_map(|(z, t, a)| (f64::from(z) / 2.0, f64::from(t) / 4.0, f64::from(a)));
        proptest::collection::vec(row, 2..40)
    }

    const BETA: f64 = 0.4;

    proptest! {
        /// No threshold has a smaller value, and at every fixed one it is the sum written out.
        #[test]
        fn value_is_the_least_over_thresholds(rows in rows(), kappa in 0..3usize) {
            let loss = LogitLoss { softness: [0.0, 0.1, 1.0][kappa], beta: BETA };
            let batch = of(&rows);
            let sums = batch.class_weights();
            let best = batch.derivatives(loss, LogitThreshold::Best(0.3)).unwrap();
            let is_one_class = sums.pos == 0.0 || sums.neg == 0.0;
            prop_assert_eq!(is_one_class && best.lambda != 0.3, false);
            prop_assert!((best.value - written_out(&rows, best.lambda, loss)).abs() < 1e-10);
            for k in -80..=80 {
                let lambda = f64::from(k) / 16.0;
                let value = written_out(&rows, lambda, loss);
                let fixed = batch.derivatives(loss, LogitThreshold::Fixed(lambda)).unwrap();
                prop_assert!((fixed.value - value).abs() < 1e-10 * (1.0 + value));
                prop_assert!(is_one_class || best.value <= value + 1e-10);
            }
        }

        /// L is convex, and L(z + d) ≥ L(z) + g·d: the gradient is a subgradient of the minimum, at ties too.
        #[test]
        fn gradient_is_a_subgradient(
            rows in rows(), steps in proptest::collection::vec(-2.0..2.0f64, 40), kappa in 0..3usize,
        ) {
            let loss = LogitLoss { softness: [0.0, 0.1, 1.0][kappa], beta: BETA };
            let here = of(&rows).derivatives(loss, LogitThreshold::Best(0.0)).unwrap();
            for size in [1e-3, 0.1, 1.0] {
                let moved: Vec<_> = rows
                    .iter()
                    .zip(&steps)
                    .map(|(&(z, t, a), step)| (z + size * step, t, a))
                    .collect();
                let there = of(&moved).derivatives(loss, LogitThreshold::Best(0.0)).unwrap();
                let slope: f64 = here.gradient.iter().zip(&steps).map(|(g, d)| g * size * d).sum();
                prop_assert!(there.value >= here.value + slope - 1e-9);
            }
        }

        /// The soft loss has derivatives: central differences by every logit and by λ.
        #[test]
        fn derivatives_are_differences(rows in rows(), lambda in -2.0..2.0f64, is_best: bool) {
            let loss = LogitLoss { softness: 0.5, beta: BETA };
            let at = |lambda| match is_best {
                true => LogitThreshold::Best(lambda),
                false => LogitThreshold::Fixed(lambda),
            };
            let found = of(&rows).derivatives(loss, at(lambda)).unwrap();
            let value = |rows: &[(f64, f64, f64)]| of(rows).derivatives(loss, at(lambda)).unwrap().value;
            for i in 0..rows.len() {
                let moved = |h: f64| {
                    let mut rows = rows.clone();
                    rows[i].0 += h;
                    value(&rows)
                };
                let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                prop_assert!((found.gradient[i] - difference).abs() < 1e-6);
            }
            let at_lambda = |h: f64| written_out(&rows, found.lambda + h, loss);
            let difference = (at_lambda(1e-5) - at_lambda(-1e-5)) / 2e-5;
            prop_assert!((found.by_lambda - difference).abs() < 1e-6);
        }
    }

    /// Single precision has its seven digits, near λ and far from it, for numbers and for booleans.
    #[test]
    fn single_precision_is_that_of_double_rounded() {
        for shift in [0.0, 100.0, -3e3] {
            let logits: Vec<f32> = (0..301)
                .map(|i| (i * 37 % 101) as f32 / 25.0 - 2.0 + shift)
                .collect();
            let positive: Vec<bool> = (0..301).map(|i| i % 7 == 0 || i % 101 > 90).collect();
            let targets: Vec<f64> = positive.iter().map(|y| f64::from(*y)).collect();
            let narrow = LogitBatch::<f32>::new(Lanes::of(&logits), Lanes::of(&positive), None);
            let wide = LogitBatch::<f64>::new(Lanes::of(&logits), Lanes::of(&targets), None);
            let (narrow, wide) = (narrow.unwrap(), wide.unwrap());
            for softness in [0.0, 0.05, 1.0] {
                let loss = LogitLoss {
                    softness,
                    beta: 0.0,
                };
                let start = LogitThreshold::Best(f64::from(shift) + 0.3);
                let (one, other) = (
                    narrow.derivatives(loss, start),
                    wide.derivatives(loss, start),
                );
                let (one, other) = (one.unwrap(), other.unwrap());
                assert!((one.value - other.value).abs() < 1e-6 * other.value);
                assert!((one.lambda - other.lambda).abs() <= 1e-6 * softness.max(1e-9));
                for (one, other) in one.gradient.iter().zip(&other.gradient) {
                    assert!((f64::from(*one) - other).abs() < 1e-6, "{one} {other}");
                }
            }
        }
    }

    /// The same as what boosted trees ask for, where targets are 0 and 1; factors are weights.
    #[test]
    fn it_is_the_objective_of_boosting() {
        let scores: Vec<f64> = (0..101)
            .map(|i| f64::from(i * 37 % 101) / 25.0 - 2.0)
            .collect();
        let positive: Vec<bool> = (0..101).map(|i| i % 7 == 0 || i > 90).collect();
        let weights: Vec<f64> = (0..101).map(|i| f64::from(i % 3)).collect();
        let factors = ClassWeights { pos: 3.0, neg: 0.5 };
        let of_class = |y: &bool| if *y { factors.pos } else { factors.neg };
        let weighted: Vec<f64> = weights
            .iter()
            .zip(&positive)
            .map(|(a, y)| a * of_class(y))
            .collect();
        for softness in [0.02, 0.3, 2.0] {
            let chunk = Chunk {
                scores: &scores,
                positive: &positive,
                weights: Some(&weighted),
            };
            let theirs = score_objective(chunk, BETA, softness, LeastSquares::Plain).unwrap();
            let targets: Vec<f64> = positive.iter().map(|y| f64::from(*y)).collect();
            let mut ours = batch(&scores, &targets, &weights);
            ours.weight_classes(factors);
            for start in [0.0, 50.0, -1e4, f64::NAN] {
                let at = LogitThreshold::Best(start);
                let beta = BETA;
                let found = ours.derivatives(LogitLoss { softness, beta }, at).unwrap();
                assert!((found.value - theirs.value).abs() < 1e-11 * theirs.value);
                for (ours, theirs) in found.gradient.iter().zip(&theirs.gradient) {
                    assert!((ours - theirs).abs() < 1e-10, "{ours} {theirs}");
                }
            }
        }
    }

    #[test]
    fn logits_that_are_not_finite_show_and_leave_the_threshold() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for (softness, beta) in [(1.0, 0.0), (0.1, 0.5), (0.0, 1.0)] {
                let batch = batch(&[0.5, bad, -1.0], &[0.0, 1.0, 1.0], &[1.0; 3]);
                let at = LogitThreshold::Best(0.25);
                let found = batch.derivatives(LogitLoss { softness, beta }, at).unwrap();
                assert!(!found.value.is_finite() && found.gradient[1].is_nan());
                assert!(found.gradient[0].is_finite() && found.lambda == 0.25);
            }
        }
    }

    #[test]
    fn bad_input_is_refused() {
        let refused = |logits: &[f64], targets: &[f64], weights: &[f64]| {
            let [logits, targets, weights] = [logits, targets, weights].map(Lanes::<f64>::of);
            let batch = LogitBatch::new(logits, targets, Some(weights));
            batch.unwrap_err().to_string()
        };
        let logits = [0.0, 1.0];
        assert!(refused(&logits, &[0.0, -1.0], &[1.0; 2]).contains("target of example 2 is -1"));
        assert!(refused(&logits, &[f64::NAN, 1.0], &[1.0; 2]).contains("target of example 1"));
        for wrong in [-1.0, f64::INFINITY, f64::NAN] {
            assert!(refused(&logits, &[0.0, 1.0], &[1.0, wrong]).contains("weight of example 2"));
        }
        assert!(refused(&logits, &[0.0], &[1.0; 2]).contains("targets"));
        assert!(refused(&logits, &[0.0, 1.0], &[1.0]).contains("weights"));
    }
}
