//! AUC of a stream in fixed memory, with a computed error bound.
//!
//! The leading k bits of the order-preserving key (`order.rs`) cut the scores into 2^k buckets. With
//! p_b positives and q_b negatives in bucket b, pairs from different buckets are known exactly and
//! pairs within one are not known at all, so
//!
//!   Σ_b p_b Q_b  ≤  N⁺N⁻·AUC  ≤  Σ_b p_b (Q_b + q_b) ,   Q_b = Σ_{b'<b} q_b'
//!
//! The estimate is the middle, and AUC lies within ± ½ Σ p_b q_b / (N⁺N⁻) of it: a bound that is
//! computed, not hoped for. k = 12 is sign and exponent only; each bit more halves the width of a
//! bucket relative to its scores. Counts are integers: any order of adding and merging gives the
//! same answer.
//!
//! Width. Both classes together are kept below 2⁶², so every sum is below 2·N⁺N⁻ < 2¹²⁵.

use serde::{Deserialize, Serialize};

use super::order::{both_classes, key, nan_score};
use super::placement::half_pairs;
use crate::{Error, Result};

const MAX_BITS: u32 = 24;
const MAX_EXAMPLES: u64 = 1 << 62;

/// Counts of both classes in buckets of the score. Memory 16·2^k bytes.
///
/// ```
/// let mut bucket = ubauc::metrics::BucketAuc::new(16)?;
/// for (score, positive) in [(0.1, false), (0.4, false), (0.35, true), (0.8, true)] {
///     bucket.add(score, positive)?;
/// }
/// let estimate = bucket.estimate()?;
/// assert_eq!((estimate.auc, estimate.error_bound), (0.75, 0.0));
/// # Ok::<(), ubauc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Saved", try_from = "Saved")]
pub struct BucketAuc {
    bits: u32,
    /// For each bucket, from low scores to high, negatives and positives.
    counts: Vec<[u64; 2]>,
    /// Negatives and positives in all.
    totals: [u64; 2],
}

/// What a stream's AUC must be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BucketEstimate {
    /// The middle of the possible AUCs.
    pub auc: f64,
    /// How far the AUC of all examples seen can be from `auc`.
    pub error_bound: f64,
    /// The smallest possible AUC of the examples seen.
    pub lower: f64,
    /// The largest possible AUC of the examples seen.
    pub upper: f64,
    /// Number of positive examples.
    pub n_pos: u64,
    /// Number of negative examples.
    pub n_neg: u64,
}

impl BucketAuc {
    /// No examples yet, 2^`bits` buckets, `bits` in 1..=24.
    pub fn new(bits: u32) -> Result<Self> {
        if !(1..=MAX_BITS).contains(&bits) {
            let must = "from 1 to 24";
            return Err(Error::Parameter {
                name: "bits",
                value: bits.to_string(),
                must,
            });
        }
        Ok(Self {
            bits,
            counts: vec![[0; 2]; 1 << bits],
            totals: [0; 2],
        })
    }

    /// Number of leading bits that tell buckets apart.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Number of positive examples so far.
    pub fn n_pos(&self) -> u64 {
        self.totals[1]
    }

    /// Number of negative examples so far.
    pub fn n_neg(&self) -> u64 {
        self.totals[0]
    }

    /// Counts one example. NaN is refused, its row being the number of examples before it.
    pub fn add(&mut self, score: f64, positive: bool) -> Result<()> {
        if score.is_nan() {
            return Err(nan_score((self.n_pos() + self.n_neg()) as usize));
        }
        let bucket = (key(score) >> (u64::BITS - self.bits)) as usize;
        self.count(bucket, if positive { [0, 1] } else { [1, 0] })
    }

    /// Counts the examples of another stream, with as many buckets. On an error nothing is changed.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if other.bits != self.bits {
            return Err(Error::Parameter {
                name: "bits",
                value: format!("{} merged with {}", self.bits, other.bits),
                must: "the same on both sides",
            });
        }
        self.totals = grown(self.totals, other.totals)?;
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            mine[0] += theirs[0]; // below the total, which fits
            mine[1] += theirs[1];
        }
        Ok(())
    }

    /// AUC of all examples so far, and how wrong it can be.
    pub fn estimate(&self) -> Result<BucketEstimate> {
        let [n_neg, n_pos] = self.totals;
        let count = |n| usize::try_from(n).unwrap_or(usize::MAX);
        both_classes(count(n_pos), count(n_neg))?;
        let mut passed = 0_u128;
        let (mut won, mut within) = (0_u128, 0_u128); // pairs
        for &[q, p] in &self.counts {
            let (p, q) = (u128::from(p), u128::from(q));
            won += p * passed;
            within += p * q;
            passed += q;
        }
        // In half pairs, as in `Auc`: roundings are monotone, so lower ≤ exact AUC ≤ upper as doubles.
        let all = half_pairs(n_pos, n_neg);
        let share = |part: u128| part as f64 / all;
        Ok(BucketEstimate {
            auc: share(2 * won + within),
            error_bound: share(within),
            lower: share(2 * won),
            upper: share(2 * (won + within)),
            n_pos,
            n_neg,
        })
    }

    fn count(&mut self, bucket: usize, counts: [u64; 2]) -> Result<()> {
        self.totals = grown(self.totals, counts)?;
        self.counts[bucket][0] += counts[0];
        self.counts[bucket][1] += counts[1];
        Ok(())
    }
}

/// The sum of two pairs of counts, if it stays below the limit.
fn grown(a: [u64; 2], b: [u64; 2]) -> Result<[u64; 2]> {
    let sum = [a[0].checked_add(b[0]), a[1].checked_add(b[1])];
    match sum {
        [Some(neg), Some(pos)] if neg.saturating_add(pos) < MAX_EXAMPLES => Ok([neg, pos]),
        _ => Err(Error::Parameter {
            name: "number of examples",
            value: format!(
                "{} + {}",
                a[0].saturating_add(a[1]),
                b[0].saturating_add(b[1])
            ),
            must: "below 2^62",
        }),
    }
}

/// How counts are saved: only buckets in use.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    bits: u32,
    /// Bucket, negatives, positives.
    buckets: Vec<(u32, u64, u64)>,
}

impl From<BucketAuc> for Saved {
    fn from(auc: BucketAuc) -> Self {
        let used = |(b, &[neg, pos]): (usize, &[u64; 2])| {
            (neg > 0 || pos > 0).then_some((b as u32, neg, pos))
        };
        Self {
            bits: auc.bits,
            buckets: auc.counts.iter().enumerate().filter_map(used).collect(),
        }
    }
}

impl TryFrom<Saved> for BucketAuc {
    type Error = Error;
    fn try_from(saved: Saved) -> Result<Self> {
        let mut auc = Self::new(saved.bits)?;
        for (bucket, neg, pos) in saved.buckets {
            if bucket as usize >= auc.counts.len() {
                let must = "below 2^bits";
                return Err(Error::Parameter {
                    name: "bucket",
                    value: bucket.to_string(),
                    must,
                });
            }
            auc.count(bucket as usize, [neg, pos])?;
        }
        Ok(auc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_two_to_the_sixty_are_exact_and_more_than_two_to_the_62_are_refused() {
        let mut auc = BucketAuc::new(1).unwrap();
        let n = 1 << 60;
        auc.count(0, [n, 0]).unwrap();
        auc.count(1, [0, n]).unwrap();
        let estimate = auc.estimate().unwrap();
        assert_eq!(
            (estimate.lower, estimate.auc, estimate.upper),
            (1.0, 1.0, 1.0)
        );
        auc.count(0, [0, n]).unwrap();
        assert_eq!(auc.estimate().unwrap().auc, 0.75);

        let before = auc.clone();
        assert!(matches!(
            auc.merge(&before.clone()),
            Err(Error::Parameter { .. })
        ));
        assert!(auc.count(0, [u64::MAX, 1]).is_err());
        assert_eq!(auc, before);
    }
}
