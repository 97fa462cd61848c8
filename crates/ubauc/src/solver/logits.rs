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
//! has at λ any q_i in [0, 1], and takes the one that makes ∂l/∂λ = 0, if there is one: where λ is one of the logits it moves with that, and no
//! other is a subgradient of the minimum.
//!
//! Batches are small and called for often: one thread, and [`LANES`] running totals of a sum, which become vectors. What has single
//! precision is computed in it, but for λ and the totals; λ is two numbers of single precision then, so that λ − z_i is right
//! where they are near. Instead of φ the loops have r_i = φ(t) − [t]₊, of which nothing is lost in single precision where t is large:
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

    fn hinge_threshold(&self, n_pos: f64) -> f64 {
        let doubles = |all: &[F]| all.iter().map(|x| (*x).into()).collect::<Vec<f64>>();
        let mass: Vec<[F; LANES]> = self.masses().collect();
        let mass = doubles(&mass.as_flattened()[..self.logits.len]);
        let [low, high] = threshold(&doubles(self.logits.each()), &mass, n_pos);
        low + 0.5 * (high - low)
    }

    fn best_threshold(&self, loss: Loss, weights: ClassWeights, start: f64) -> Result<f64> {
        let is_finite = |z: &F| (*z).into().is_finite();
        let has_both = weights.pos > 0.0 && weights.neg > 0.0;
        if !has_both || !self.logits.each().iter().all(is_finite) {
            return Ok(start);
        }
        let softness = match loss {
            Loss::Hinge => return Ok(self.hinge_threshold(weights.pos)),
            Loss::Soft { softness } => softness,
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
mod tests;
