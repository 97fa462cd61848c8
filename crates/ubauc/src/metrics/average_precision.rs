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
//! With weights, tp, fp and N⁺ are sums of weights. One factor for all weights changes nothing;
//! a factor for one class does, as more negatives do.

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
