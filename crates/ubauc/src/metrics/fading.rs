//! AUC of a stream that forgets, in fixed memory, with a computed error bound.
//!
//! As `bucket.rs`, with counts that are no integers: an example counts half as much after N later ones (`forgetting.rs` of the
//! crate), so with the weights ρ^{t−s} of those so far
//!
//!   p_b, q_b = Σ ρ^{t−s} over the positives, the negatives in bucket b,   P = Σ p_b ,  Q = Σ q_b
//!
//!   Σ_b p_b Q_b  ≤  PQ·AUC  ≤  Σ_b p_b (Q_b + q_b) ,   Q_b = Σ_{b'<b} q_b'
//!
//! where AUC is that of all examples with these weights. The estimate is the middle, and AUC lies within ± ½ Σ p_b q_b/(PQ) of
//! it, up to the rounding of sums of positive numbers (1e-12 is more than it is). Sums are made in the order of the examples and
//! of the buckets: the same stream gives the same bits.

use serde::{Deserialize, Serialize};

use super::order::{both_classes, key, nan_score};
use crate::forgetting::Forgetting;
use crate::{Error, Result};

const MAX_BITS: u32 = 24;

/// Weights of both classes in buckets of the score. Memory 16·2^k bytes.
///
/// ```
/// let mut fading = ubauc::metrics::FadingAuc::new(16, 1.0)?;
/// for (score, positive) in [(0.8, false), (0.2, false), (0.5, true)] {
///     fading.add(score, positive)?;
/// }
/// // The negatives count ¼ and ½; the positive is above the second.
/// let estimate = fading.estimate()?;
/// assert_eq!((estimate.n_pos, estimate.n_neg), (1.0, 0.75));
/// assert!((estimate.auc - 2.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), ubauc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Saved", try_from = "Saved")]
pub struct FadingAuc {
    bits: u32,
    forgetting: Forgetting,
    /// Examples so far.
    examples: u64,
    /// For each bucket, from low scores to high, negatives and positives, in growing units.
    weights: Vec<[f64; 2]>,
}

/// What the AUC of a stream that forgets must be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FadingEstimate {
    /// The middle of the possible AUCs.
    pub auc: f64,
    /// How far the weighted AUC of the examples seen can be from `auc`.
    pub error_bound: f64,
    /// The smallest possible AUC.
    pub lower: f64,
    /// The largest possible AUC.
    pub upper: f64,
    /// P, the positives that still count.
    pub n_pos: f64,
    /// Q, the negatives that still count.
    pub n_neg: f64,
}

impl FadingAuc {
    /// No examples yet, 2^`bits` buckets, `bits` in 1..=24; an example counts half after `half_life` ≥ 1 later ones.
    pub fn new(bits: u32, half_life: f64) -> Result<Self> {
        let forgetting = Forgetting::new(half_life)?;
        if !(1..=MAX_BITS).contains(&bits) {
            return Err(Error::Parameter {
                name: "bits",
                value: bits.to_string(),
                must: "from 1 to 24",
            });
        }
        Ok(Self {
            bits,
            forgetting,
            examples: 0,
            weights: vec![[0.0; 2]; 1 << bits],
        })
    }

    /// Counts one example. NaN is refused, its row being the number of examples before it.
    pub fn add(&mut self, score: f64, positive: bool) -> Result<()> {
        if score.is_nan() {
            return Err(nan_score(self.examples as usize));
        }
        let bucket = (key(score) >> (u64::BITS - self.bits)) as usize;
        self.weights[bucket][usize::from(positive)] += self.forgetting.gain();
        self.examples = self.examples.saturating_add(1);
        if let Some(factor) = self.forgetting.advance() {
            for weight in self.weights.as_flattened_mut() {
                *weight *= factor;
            }
        }
        Ok(())
    }

    /// Weighted AUC of the examples so far, and how wrong it can be.
    pub fn estimate(&self) -> Result<FadingEstimate> {
        let (mut won, mut within) = (0.0, 0.0); // pairs
        let (mut n_pos, mut n_neg) = (0.0, 0.0);
        for &[q, p] in &self.weights {
            won += p * n_neg;
            within += p * q;
            n_neg += q;
            n_pos += p;
        }
        both_classes(usize::from(n_pos > 0.0), usize::from(n_neg > 0.0))?;
        let share = |pairs: f64| (pairs / (n_pos * n_neg)).min(1.0);
        // The last example counts 1; g is that of the next.
        let unit = self.forgetting.gain() * self.forgetting.keep();
        Ok(FadingEstimate {
            auc: share(won + 0.5 * within),
            error_bound: share(0.5 * within),
            lower: share(won),
            upper: share(won + within),
            n_pos: n_pos / unit,
            n_neg: n_neg / unit,
        })
    }
}

/// How weights are saved: only buckets in use.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    bits: u32,
    forgetting: Forgetting,
    examples: u64,
    /// Bucket, negatives, positives.
    buckets: Vec<(u32, f64, f64)>,
}

impl From<FadingAuc> for Saved {
    fn from(auc: FadingAuc) -> Self {
        let used = |(b, &[neg, pos]): (usize, &[f64; 2])| {
            (neg > 0.0 || pos > 0.0).then_some((b as u32, neg, pos))
        };
        Self {
            bits: auc.bits,
            forgetting: auc.forgetting,
            examples: auc.examples,
            buckets: auc.weights.iter().enumerate().filter_map(used).collect(),
        }
    }
}

impl TryFrom<Saved> for FadingAuc {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self> {
        let mut auc = Self::new(saved.bits, saved.forgetting.half_life())?;
        auc.forgetting = saved.forgetting;
        auc.examples = saved.examples;
        for (bucket, neg, pos) in saved.buckets {
            let is_weight = |x: f64| x >= 0.0 && x.is_finite();
            match auc.weights.get_mut(bucket as usize) {
                Some(weights) if is_weight(neg) && is_weight(pos) => *weights = [neg, pos],
                _ => {
                    return Err(Error::Parameter {
                        name: "bucket",
                        value: format!("{bucket}: {neg}, {pos}"),
                        must: "below 2^bits, with weights that are finite and not negative",
                    });
                }
            }
        }
        Ok(auc)
    }
}
