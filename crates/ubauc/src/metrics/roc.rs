//! The ROC curve: what every threshold would do.
//!
//! At threshold θ an example is called positive if its score is at least θ. The curve has a point
//! for "nobody" (θ = +∞) and one for each distinct score, from the highest down:
//!
//!   TPR(θ) = tp/N⁺ ,  tp = #{positives with score ≥ θ}
//!   FPR(θ) = fp/N⁻ ,  fp = #{negatives with score ≥ θ}
//!
//! Joined by straight lines it has the area AUC: a tie of p positives and q negatives is the
//! diagonal of a p × q box, which gives half of it.
//!
//! With weights, tp, fp, N⁺ and N⁻ are sums of weights; an example of weight 0 makes no point.

use serde::Serialize;

use super::order::{census, score};
use super::ranges::sorted_by_class;
use super::weighted_order::{Sum, WeightedOrder};
use crate::{Error, Result};

/// Points of a ROC curve, from (0, 0) to (1, 1); all lists have one length.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RocCurve {
    /// False positive rates, `fp` / `n_neg`.
    pub fpr: Vec<f64>,
    /// True positive rates, `tp` / `n_pos`.
    pub tpr: Vec<f64>,
    /// Thresholds: +∞, then distinct scores, descending. (JSON has no infinity: null there.)
    pub thresholds: Vec<f64>,
    /// Negatives at or above each threshold.
    pub fp: Vec<u64>,
    /// Positives at or above each threshold.
    pub tp: Vec<u64>,
    /// Number of positive examples.
    pub n_pos: usize,
    /// Number of negative examples.
    pub n_neg: usize,
}

impl RocCurve {
    /// The same curve without the points inside its straight stretches.
    pub fn without_collinear(&self) -> Self {
        let mut thin = Self::empty(self.n_pos, self.n_neg);
        for k in 0..self.fp.len() {
            let corner = match (thin.last(), self.fp.get(k + 1)) {
                (Some(last), Some(&next_fp)) => {
                    let here = (self.fp[k], self.tp[k]);
                    turns(last, here, (next_fp, self.tp[k + 1]))
                }
                _ => true, // the ends stay
            };
            if corner {
                thin.push(self.thresholds[k], self.fp[k], self.tp[k]);
            }
        }
        thin
    }

    fn empty(n_pos: usize, n_neg: usize) -> Self {
        Self {
            fpr: vec![],
            tpr: vec![],
            thresholds: vec![],
            fp: vec![],
            tp: vec![],
            n_pos,
            n_neg,
        }
    }

    fn push(&mut self, threshold: f64, fp: u64, tp: u64) {
        self.thresholds.push(threshold);
        self.fp.push(fp);
        self.tp.push(tp);
        self.fpr.push(fp as f64 / self.n_neg as f64);
        self.tpr.push(tp as f64 / self.n_pos as f64);
    }

    fn last(&self) -> Option<(u64, u64)> {
        Some((*self.fp.last()?, *self.tp.last()?))
    }
}

/// Whether the way through three points, none before its predecessor in x or y, changes direction.
fn turns(a: (u64, u64), b: (u64, u64), c: (u64, u64)) -> bool {
    let step =
        |from: (u64, u64), to: (u64, u64)| (u128::from(to.0 - from.0), u128::from(to.1 - from.1));
    let (first, second) = (step(a, b), step(b, c));
    first.0 * second.1 != second.0 * first.1
}

/// The ROC curve of `scores`, with a point at each distinct score.
pub fn roc_curve(scores: &[f64], positive: &[bool]) -> Result<RocCurve> {
    let census = census(scores, positive)?;
    let [neg, pos] = sorted_by_class(scores, positive, &census);
    let mut curve = RocCurve::empty(census.n_pos, census.n_neg);
    curve.push(f64::INFINITY, 0, 0);
    let (mut neg, mut pos) = (neg.as_slice(), pos.as_slice());
    while let Some(&key) = neg.last().max(pos.last()) {
        neg = drop_last(neg, key);
        pos = drop_last(pos, key);
        let (fp, tp) = (census.n_neg - neg.len(), census.n_pos - pos.len());
        curve.push(score(key), fp as u64, tp as u64);
    }
    Ok(curve)
}

/// Points of the ROC curve of weighted examples, from (0, 0) to (1, 1); all lists have one length.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeightedRocCurve {
    /// False positive rates.
    pub fpr: Vec<f64>,
    /// True positive rates.
    pub tpr: Vec<f64>,
    /// Thresholds: +∞, then distinct scores, descending. (JSON has no infinity: null there.)
    pub thresholds: Vec<f64>,
    /// Weight of the negatives at or above each threshold.
    pub fp: Vec<f64>,
    /// Weight of the positives at or above each threshold.
    pub tp: Vec<f64>,
    /// Weight of all positives.
    pub weight_pos: f64,
    /// Weight of all negatives.
    pub weight_neg: f64,
}

/// The ROC curve of `scores` where example i counts `weights[i]` times.
///
/// Weights must be finite and not negative; a class must have some weight, and not more than a double can hold.
pub fn weighted_roc_curve(
    scores: &[f64],
    positive: &[bool],
    weights: &[f64],
) -> Result<WeightedRocCurve> {
    let order = WeightedOrder::new(scores, positive, weights)?;
    let (mut pos, mut neg) = (Sum::default(), Sum::default());
    let (mut thresholds, mut scaled) = (vec![f64::INFINITY], vec![[0.0_f64; 2]]);
    for (key, group) in order.groups_with_keys().rev() {
        pos.add(group.pos);
        neg.add(group.neg);
        let [before_pos, before_neg] = scaled[scaled.len() - 1];
        // Rounding must not take back what was passed.
        scaled.push([pos.value().max(before_pos), neg.value().max(before_neg)]);
        thresholds.push(score(key));
    }
    let [w_pos, w_neg] = scaled[scaled.len() - 1];
    let (weight_pos, weight_neg) = (order.pos.unscale(w_pos), order.neg.unscale(w_neg));
    if !(weight_pos + weight_neg).is_finite() {
        let what = "the weights add up to more than a number can hold".to_string();
        return Err(Error::Classes { what });
    }
    Ok(WeightedRocCurve {
        fpr: scaled.iter().map(|both| both[1] / w_neg).collect(),
        tpr: scaled.iter().map(|both| both[0] / w_pos).collect(),
        fp: scaled
            .iter()
            .map(|both| order.neg.unscale(both[1]))
            .collect(),
        tp: scaled
            .iter()
            .map(|both| order.pos.unscale(both[0]))
            .collect(),
        thresholds,
        weight_pos,
        weight_neg,
    })
}

/// Ascending keys without those at the end that equal `key`.
pub(super) fn drop_last(keys: &[u64], key: u64) -> &[u64] {
    let kept = keys.iter().rposition(|&k| k != key).map_or(0, |i| i + 1);
    &keys[..kept]
}
