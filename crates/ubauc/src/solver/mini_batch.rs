//! The bound of a mini-batch with least squares, and its derivatives: a loss for the scores of neural networks.
//!
//! An example of target t_i (1 positive, 0 negative, so much of each in between) and weight s_i counts with p_i = a⁺ s_i t_i as a
//! positive and n_i = a⁻ s_i (1 − t_i) as a negative, a⁺ and a⁻ being class weights. With m_i = n_i + p_i, φ of [`Loss`] and
//! q_i = φ'(λ − z_i):
//!
//! ```text
//! L(z, λ)  = Σ_i p_i φ(λ − z_i) + n_i φ(z_i − λ) + (β/2) { p_i (z_i − 1)² + n_i (z_i + 1)² }
//! ∂L/∂z_i  = n_i − m_i q_i + β { p_i (z_i − 1) + n_i (z_i + 1) }
//! ∂L/∂λ    = Σ_i m_i q_i − n_i
//! ∂²L/∂λ²  = Σ_i m_i q_i (1 − q_i)/κ
//! ```
//!
//! since φ(−t) = φ(t) − t, φ'(−t) = 1 − φ'(t). It is N·P of `objective/ubauc.rs` without the regulariser, the intercept being part of
//! the scores. At the λ that minimises L it may be held still (envelope theorem): ∂L/∂z is the derivative of min_λ L.
//!
//! The hinge has q_i = 1[z_i < λ], and where scores are tied at λ any q_i in [0, 1] is a subgradient. The one with ∂L/∂λ = 0 is taken,
//! if there is one: λ moves with a score that it is, and no other is a subgradient of min_λ L.
//!
//! `python/ubauc/torch` has the same on tensors, for other devices than the processor.

use super::shards::SoftPoint;
use super::threshold::{balanced, threshold};
use crate::objective::loss::Loss;
use crate::{Error, Result};

/// A Newton step in λ of this share of κ is the last one; what is left is at most half its square.
const NEAR: f64 = 1e-5;

/// Scores, targets and weights of one length.
#[derive(Debug, Clone, Copy)]
pub struct MiniBatch<'a> {
    /// z. Where one is not finite, neither is the loss.
    pub scores: &'a [f64],
    /// t, from 0 to 1.
    pub targets: &'a [f64],
    /// s ≥ 0; `None` is 1 each.
    pub weights: Option<&'a [f64]>,
    /// a⁻ and a⁺, at least 0.
    pub class_weights: [f64; 2],
}

/// Which λ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// This one.
    Given(f64),
    /// The minimiser, sought from here; where a class has no weight there is none, and this is taken.
    Best(f64),
}

/// L and its derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchLoss {
    /// L.
    pub value: f64,
    /// ∂L/∂z.
    pub slopes: Vec<f64>,
    /// λ.
    pub threshold: f64,
    /// ∂L/∂λ: 0 where λ is the minimiser.
    pub threshold_slope: f64,
}

/// n_i, m_i, and their sums.
struct Masses {
    negative: Vec<f64>,
    all: Vec<f64>,
    sum_negative: f64,
    sum_all: f64,
}

impl MiniBatch<'_> {
    /// L, for β ≥ 0, with its derivatives.
    pub fn loss(&self, loss: Loss, beta: f64, at: Threshold) -> Result<BatchLoss> {
        let masses = self.masses()?;
        let is_finite = self.scores.iter().sum::<f64>().is_finite();
        let both = masses.sum_negative > 0.0 && masses.sum_all > masses.sum_negative;
        let lambda = match at {
            Threshold::Given(lambda) => lambda,
            Threshold::Best(_) if !is_finite => f64::NAN,
            Threshold::Best(start) if !both => start,
            Threshold::Best(start) => self.best(&masses, loss, start)?,
        };
        let tied = match loss {
            Loss::Hinge => self.share_of_ties(&masses, lambda),
            Loss::Soft { .. } => 0.0,
        };
        let (mut value, mut threshold_slope) = (0.0, 0.0);
        let mut slopes = Vec::with_capacity(self.scores.len());
        for (i, &z) in self.scores.iter().enumerate() {
            let (n, m) = (masses.negative[i], masses.all[i]);
            let (up, down) = (z - 1.0, z + 1.0);
            let (of_positive, of_negative) = ((m - n) * up, n * down);
            let phi = loss.at(lambda - z);
            let q = if loss == Loss::Hinge && z == lambda {
                tied
            } else {
                phi.multiplier
            };
            let excess = n - m * q;
            value += m * phi.value - n * (lambda - z)
                + 0.5 * beta * (of_positive * up + of_negative * down);
            threshold_slope -= excess;
            slopes.push(excess + beta * (of_positive + of_negative));
        }
        Ok(BatchLoss {
            value,
            slopes,
            threshold: lambda,
            threshold_slope,
        })
    }

    fn masses(&self) -> Result<Masses> {
        let n = self.scores.len();
        let lengths = [
            ("targets", self.targets.len()),
            ("weights", self.weights.map_or(n, <[f64]>::len)),
        ];
        for (what, got) in lengths {
            if got != n {
                return Err(Error::Length {
                    what,
                    expected: n,
                    got,
                });
            }
        }
        let [of_negatives, of_positives] = self.class_weights;
        let mut masses = Masses {
            negative: Vec::with_capacity(n),
            all: Vec::with_capacity(n),
            sum_negative: 0.0,
            sum_all: 0.0,
        };
        for (row, &target) in self.targets.iter().enumerate() {
            let weight = self.weights.map_or(1.0, |weights| weights[row]);
            let wrong = [
                (
                    "target",
                    target,
                    "0 for negatives and 1 for positives",
                    (0.0..=1.0).contains(&target),
                ),
                (
                    "weight",
                    weight,
                    "finite and at least 0",
                    weight >= 0.0 && weight.is_finite(),
                ),
            ];
            for (what, value, must, is_right) in wrong {
                if !is_right {
                    return Err(Error::NotFinite {
                        what,
                        row,
                        value,
                        must,
                    });
                }
            }
            let negative = of_negatives * weight * (1.0 - target);
            let mass = negative + of_positives * weight * target;
            masses.negative.push(negative);
            masses.all.push(mass);
            masses.sum_negative += negative;
            masses.sum_all += mass;
        }
        Ok(masses)
    }

    /// The λ that minimises L: of the hinge the middle of all that do.
    fn best(&self, masses: &Masses, loss: Loss, start: f64) -> Result<f64> {
        let Loss::Soft { softness } = loss else {
            let sum_positive = masses.sum_all - masses.sum_negative;
            let [low, high] = threshold(self.scores, &masses.all, sum_positive);
            return Ok(low + 0.5 * (high - low));
        };
        let at = |lambda: f64| {
            let (mut sum, mut squares) = (0.0, 0.0);
            for (z, m) in self.scores.iter().zip(&masses.all) {
                let q = loss.multiplier(lambda - z);
                sum += m * q;
                squares += m * q * q;
            }
            Ok(SoftPoint {
                lambda,
                value: 0.0,
                slope: sum - masses.sum_negative,
                curvature: (sum - squares) / softness,
            })
        };
        balanced(at(start)?, softness, NEAR * softness, at)
    }

    /// q of the scores at λ with which ∂L/∂λ = 0, or the nearest to it.
    fn share_of_ties(&self, masses: &Masses, lambda: f64) -> f64 {
        let (mut below, mut tied) = (0.0, 0.0);
        for (&z, m) in self.scores.iter().zip(&masses.all) {
            if z < lambda {
                below += m;
            } else if z == lambda {
                tied += m;
            }
        }
        ((masses.sum_negative - below) / f64::max(tied, f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// L at λ, as the head has it.
    fn written_out(batch: &MiniBatch<'_>, loss: Loss, beta: f64, lambda: f64) -> f64 {
        let of = |i: usize| {
            let (z, t) = (batch.scores[i], batch.targets[i]);
            let s = batch.weights.map_or(1.0, |weights| weights[i]);
            let (p, n) = (
                batch.class_weights[1] * s * t,
                batch.class_weights[0] * s * (1.0 - t),
            );
            p * loss.value(lambda - z)
                + n * loss.value(z - lambda)
                + beta / 2.0 * (p * (z - 1.0).powi(2) + n * (z + 1.0).powi(2))
        };
        (0..batch.scores.len()).map(of).sum()
    }

    type Case = (Vec<(f64, f64, f64)>, f64, f64, [f64; 2]);

    /// Scores on a grid, so that some are tied; targets of 0 and 1 and some in between.
    fn cases() -> impl Strategy<Value = Case> {
        let score = prop_oneof![(-8..9i32).prop_map(|k| f64::from(k) / 4.0), -3.0..3.0f64];
        let target = prop_oneof![4 => Just(0.0), 4 => Just(1.0), 1 => 0.0..1.0f64];
        let weight = prop_oneof![Just(1.0), Just(0.0), 0.1..3.0f64];
        let rows = proptest::collection::vec((score, target, weight), 2..40);
        let softness = prop_oneof![Just(0.0), 0.02..2.0f64];
        let class_weights = [0.2..4.0f64, 0.2..4.0f64];
        (rows, softness, 0.0..2.0f64, class_weights)
    }

    proptest! {
        /// No λ has a smaller value, and the derivative is a subgradient of min_λ L, which is convex in z.
        #[test]
        fn value_is_the_minimum_and_slopes_are_subgradients(
            (rows, softness, beta, class_weights) in cases(),
            other in -4.0..4.0f64, steps in proptest::collection::vec(-1.0..1.0f64, 40),
        ) {
            let column = |of: fn(&(f64, f64, f64)) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
            let (scores, targets, weights) = (column(|r| r.0), column(|r| r.1), column(|r| r.2));
            let batch = MiniBatch { scores: &scores, targets: &targets, weights: Some(&weights), class_weights };
            let loss = Loss::of_softness(softness);
            let found = batch.loss(loss, beta, Threshold::Best(0.3)).unwrap();
            let size = 1.0 + weights.iter().sum::<f64>() * 40.0;
            let expected = written_out(&batch, loss, beta, found.threshold);
            prop_assert!((found.value - expected).abs() <= 1e-12 * size);
            let mass = |t: fn(f64) -> f64| targets.iter().zip(&weights).map(|(x, s)| t(*x) * s).sum::<f64>();
            let both = mass(|t| t) > 0.0 && mass(|t| 1.0 - t) > 0.0;
            if !both {
                prop_assert_eq!(found.threshold, 0.3);
                return Ok(());
            }
            prop_assert!(found.threshold_slope.abs() <= 1e-8 * size, "{}", found.threshold_slope);
            prop_assert!(found.value <= written_out(&batch, loss, beta, other) + 1e-9 * size);
            let moved: Vec<f64> = scores.iter().zip(&steps).map(|(z, step)| z + step).collect();
            let there = MiniBatch { scores: &moved, ..batch }.loss(loss, beta, Threshold::Best(0.3)).unwrap();
            let tangent: f64 = found.slopes.iter().zip(&steps).map(|(g, step)| g * step).sum();
            prop_assert!(there.value >= found.value + tangent - 1e-8 * size);
        }

        /// Central differences at a given λ, by the scores and by λ.
        #[test]
        fn slopes_are_differences((rows, _, beta, class_weights) in cases(), lambda in -1.0..1.0f64) {
            let column = |of: fn(&(f64, f64, f64)) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
            let (scores, targets, weights) = (column(|r| r.0), column(|r| r.1), column(|r| r.2));
            let batch = MiniBatch { scores: &scores, targets: &targets, weights: Some(&weights), class_weights };
            let (loss, h) = (Loss::Soft { softness: 0.4 }, 1e-5);
            let found = batch.loss(loss, beta, Threshold::Given(lambda)).unwrap();
            let by_lambda = written_out(&batch, loss, beta, lambda + h) - written_out(&batch, loss, beta, lambda - h);
            prop_assert!((by_lambda / (2.0 * h) - found.threshold_slope).abs() < 1e-6 * (1.0 + 40.0 * 12.0));
            for i in 0..scores.len() {
                let at = |step: f64| {
                    let mut moved = scores.clone();
                    moved[i] += step;
                    written_out(&MiniBatch { scores: &moved, ..batch }, loss, beta, lambda)
                };
                prop_assert!(((at(h) - at(-h)) / (2.0 * h) - found.slopes[i]).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn wrong_rows_are_named_and_scores_that_are_not_finite_leave_no_number() {
        let batch = |scores, targets, weights| MiniBatch {
            scores,
            targets,
            weights,
            class_weights: [1.0; 2],
        };
        let loss = |batch: MiniBatch<'_>| {
            batch.loss(Loss::Soft { softness: 1.0 }, 0.1, Threshold::Best(0.0))
        };
        let wrong = loss(batch(&[0.0, 1.0], &[0.0, -1.0], None));
        assert!(matches!(
            wrong,
            Err(Error::NotFinite {
                what: "target",
                row: 1,
                ..
            })
        ));
        let wrong = loss(batch(&[0.0, 1.0], &[0.0, 1.0], Some(&[f64::NAN, 1.0])));
        assert!(matches!(
            wrong,
            Err(Error::NotFinite {
                what: "weight",
                row: 0,
                ..
            })
        ));
        let wrong = loss(batch(&[0.0, 1.0], &[0.0], None));
        assert!(matches!(
            wrong,
            Err(Error::Length {
                expected: 2,
                got: 1,
                ..
            })
        ));
        for bad in [f64::NAN, f64::INFINITY] {
            let found = loss(batch(&[0.0, bad, 2.0], &[0.0, 1.0, 0.0], None)).unwrap();
            assert!(found.value.is_nan() && found.threshold.is_nan());
        }
        assert_eq!(loss(batch(&[], &[], None)).unwrap().value, 0.0);
    }
}
