//! Average precision: the mean precision over the positives, each at its own score.
//!
//! With the distinct scores as thresholds θ_1 > θ_2 > …, tp_k and fp_k the positives and negatives at
//! or above θ_k, precision P_k = tp_k/(tp_k + fp_k) and recall R_k = tp_k/N⁺, R_0 = 0:
//!
//!   AP = Σ_k (R_k − R_{k−1}) P_k
//!
//! Ties are one threshold: every positive among them gets the precision of all. This is scikit-learn's
//! `average_precision_score`, a step function of the recall; nothing is interpolated. A scorer of no
//! use has about N⁺/N, so AP, unlike AUC, depends on the share of positives.
//!
//! Its variance is linearised, for fixed numbers of both classes, as in `auc.rs`. With T = tp/N⁺ and F = fp/N⁻ the precision at
//! the score of positive k is g = N⁺T/(N⁺T + N⁻F), and AP is its mean over the positives. An example moves AP through its
//! own precision and through T or F at every positive k that it is at or above:
//!
//!   V_i = P_i + Σ_{k: c_k ≤ c_i} fp_k/(tp_k + fp_k)² ,    U_j = −(N⁻/N⁺) Σ_{k: c_k ≤ c_j} tp_k/(tp_k + fp_k)²
//!   var(AP) = Σ (V_i − V̄)²/(N⁺(N⁺−1)) + Σ (U_j − Ū)²/(N⁻(N⁻−1))
//!
//! all sums in one pass over the sorted scores. A class of one example has AP(1 − AP), the largest there is. The interval is
//! the logit one (`interval.rs`). Where the classes are separated, as n pairs without a common example say nothing but
//! that, the truth may be the worst when one share of the negatives stands above *all* positives: with c times as many
//! such negatives as positives, AP = ∫ T/(T + c) dT = 1 − c·ln(1 + 1/c), and
//! separation has a probability of at most e^{−cn}, 2½ % at c = ln(40)/n. This AP is q there.
//!
//! With weights, tp, fp and N⁺ are sums of weights. One factor for all weights changes nothing;
//! a factor for one class does, as more negatives do.

use serde::Serialize;

use super::interval::Share;
use super::order::census;
use super::ranges::sorted_by_class;
use super::roc::drop_last;
use super::weighted_order::{Sum, WeightedOrder};
use crate::Result;

/// Average precision of `scores`, higher meaning more likely positive.
///
/// Scores may be infinite; NaN is refused with its row, and so is data of one class.
///
/// ```
/// let found = ubauc::metrics::average_precision(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true])?;
/// assert_eq!(found, (1.0 + 2.0 / 3.0) / 2.0);
/// # Ok::<(), ubauc::Error>(())
/// ```
pub fn average_precision(scores: &[f64], positive: &[bool]) -> Result<f64> {
    let census = census(scores, positive)?;
    let [neg, pos] = sorted_by_class(scores, positive, &census);
    let (mut neg, mut pos) = (neg.as_slice(), pos.as_slice());
    let mut sum = Sum::default();
    while let Some(&key) = pos.last() {
        // Negatives between two positives change no recall.
        let kept = neg.partition_point(|&k| k < key);
        neg = &neg[..kept];
        let before = pos.len();
        pos = drop_last(pos, key);
        let (tp, fp) = (census.n_pos - pos.len(), census.n_neg - neg.len());
        sum.add((before - pos.len()) as f64 * (tp as f64 / (tp + fp) as f64));
    }
    Ok((sum.value() / census.n_pos as f64).clamp(0.0, 1.0))
}

/// Average precision of `scores` where example i counts `weights[i]` times.
///
/// Weights must be finite and not negative; a class must have some weight.
pub fn weighted_average_precision(
    scores: &[f64],
    positive: &[bool],
    weights: &[f64],
) -> Result<f64> {
    let order = WeightedOrder::new(scores, positive, weights)?;
    let w_pos = Sum::of(order.groups().rev().map(|g| g.pos));
    let (mut tp, mut fp, mut sum) = (Sum::default(), Sum::default(), Sum::default());
    for group in order.groups().rev() {
        tp.add(group.pos);
        fp.add(group.neg);
        if group.pos > 0.0 {
            // Both classes in the scale of the positives: too much is infinite, the precision then 0.
            let fp = libm::scalbn(fp.value(), order.negative_exponent());
            sum.add(group.pos * (tp.value() / (tp.value() + fp)));
        }
    }
    Ok((sum.value() / w_pos).clamp(0.0, 1.0))
}

/// Average precision with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AveragePrecision {
    /// The average precision.
    pub value: f64,
    /// Its linearised variance.
    pub variance: f64,
    /// The 95 % interval on the logit scale, [`Share::logit`].
    pub ci95: [f64; 2],
    /// Number of positive examples.
    #[serde(skip)]
    pub n_pos: usize,
    /// Number of negative examples.
    #[serde(skip)]
    pub n_neg: usize,
}

impl AveragePrecision {
    /// What its intervals are made of.
    pub fn share(&self) -> Share {
        let spread = 40.0_f64.ln() / self.n_pos.min(self.n_neg) as f64;
        let least = 1.0 - spread * (1.0 / spread).ln_1p();
        Share {
            value: self.value,
            variance: self.variance,
            // So many that q of `interval.rs` is the least.
            outcomes: 0.025_f64.ln() / least.ln(),
        }
    }
}

/// Average precision of `scores` with its variance and 95 % interval.
pub fn average_precision_interval(scores: &[f64], positive: &[bool]) -> Result<AveragePrecision> {
    let census = census(scores, positive)?;
    let [neg, pos] = sorted_by_class(scores, positive, &census);
    let (n_pos, n_neg) = (census.n_pos as f64, census.n_neg as f64);
    // Ascending, a step for each distinct score of positives: what it adds for examples at or above it.
    let (mut i, mut j) = (0, 0);
    let (mut of_pos, mut of_neg) = (Sum::default(), Sum::default());
    let (mut pos_means, mut neg_means) = (Sum::default(), Sum::default());
    let mut total = Sum::default();
    // Influences without their means: (how many, value).
    let (mut pos_terms, mut neg_terms) = (Vec::new(), Vec::new());
    while i < pos.len() {
        let key = pos[i];
        let p = pos[i..].partition_point(|&k| k == key);
        let q = neg[j..].partition_point(|&k| k < key);
        neg_terms.push((q as f64, of_neg.value()));
        j += q;
        let (tp, fp) = ((pos.len() - i) as f64, (neg.len() - j) as f64);
        let all = (tp + fp) * (tp + fp);
        let (gain, loss) = (p as f64 * fp / all, p as f64 * (n_neg / n_pos) * tp / all);
        of_pos.add(gain);
        of_neg.add(-loss);
        pos_means.add(gain * tp / n_pos);
        neg_means.add(-loss * fp / n_neg);
        total.add(p as f64 * (tp / (tp + fp)));
        pos_terms.push((p as f64, tp / (tp + fp) + of_pos.value()));
        i += p;
    }
    neg_terms.push(((neg.len() - j) as f64, of_neg.value()));
    let value = (total.value() / n_pos).clamp(0.0, 1.0);
    let part = |terms: &[(f64, f64)], mean: f64, n: f64| {
        let mut there = terms.iter().filter(|term| term.0 > 0.0).map(|term| term.1);
        let first = there.next();
        if n <= 1.0 {
            return value * (1.0 - value);
        }
        if there.all(|x| Some(x) == first) {
            return 0.0; // not what rounding leaves
        }
        let squares = Sum::of(
            terms
                .iter()
                .map(|(times, x)| times * (x - mean) * (x - mean)),
        );
        squares / (n * (n - 1.0))
    };
    let variance = part(&pos_terms, value + pos_means.value(), n_pos)
        + part(&neg_terms, neg_means.value(), n_neg);
    let mut found = AveragePrecision {
        value,
        variance,
        ci95: [0.0, 1.0],
        n_pos: census.n_pos,
        n_neg: census.n_neg,
    };
    found.ci95 = found.share().logit();
    Ok(found)
}
