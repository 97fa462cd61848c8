//! AUC of weighted examples, and its variance by linearisation.
//!
//!   A = 1/(W⁺W⁻) Σ_{i∈+} Σ_{j∈−} s_i s_j ( 1[c_i > c_j] + ½·1[c_i = c_j] ) ,   W± = Σ_± s_i
//!
//! With V_i the weight share of negatives that positive i beats, A = Σ_+ s_i V_i / W⁺; with U_j the
//! weight share of positives that beat negative j, A = Σ_− s_j U_j / W⁻. The influence of positive i
//! on A is s_i(V_i − A)/W⁺, of negative j s_j(U_j − A)/W⁻, and
//!
//!   var(A) = n⁺/(n⁺−1) Σ_+ s_i²(V_i − A)²/W⁺²  +  n⁻/(n⁻−1) Σ_− s_j²(U_j − A)²/W⁻²
//!
//! which with all s = 1 is DeLong's formula. As there, the term of a class with one
//! example is A(1 − A). An example of weight 0 does not count, not in n± either.
//!
//! A does not change when the weights of one class are multiplied by a number: each class is summed
//! in its own scale (`weighted_order.rs`).

use serde::Serialize;

use super::interval::Share;
use super::weighted_order::{Group, Sum, WeightedOrder};
use crate::Result;

/// AUC of weighted examples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeightedAuc {
    /// Weighted probability that a positive scores above a negative, a tie counted one half.
    pub auc: f64,
    /// Linearised variance of `auc`.
    pub variance: f64,
    /// The 95 % interval on the logit scale, [`Share::logit`].
    pub ci95: [f64; 2],
    /// Positive examples of weight above 0.
    pub n_pos: usize,
    /// Negative examples of weight above 0.
    pub n_neg: usize,
    /// Total weight of the positives; infinite if it is beyond the range of a double.
    pub weight_pos: f64,
    /// Total weight of the negatives; infinite if it is beyond the range of a double.
    pub weight_neg: f64,
    /// (Σs)²/Σs² of the weights s of a class, the lesser of both: as many pairs without an example in
    /// common as examples of equal weight would have that say as much (Kish).
    #[serde(skip)]
    pub effective_pairs: f64,
}

impl WeightedAuc {
    /// What its intervals are made of.
    pub fn share(&self) -> Share {
        Share {
            value: self.auc,
            variance: self.variance,
            outcomes: self.effective_pairs,
        }
    }

    /// Whether the estimated variance is 0; see [`Auc::degenerate`](super::Auc::degenerate).
    pub fn degenerate(&self) -> bool {
        self.variance == 0.0
    }
}

/// AUC of `scores` where example i counts `weights[i]` times.
///
/// Weights must be finite and not negative; a class must have some weight.
pub fn weighted_auc(scores: &[f64], positive: &[bool], weights: &[f64]) -> Result<WeightedAuc> {
    let order = WeightedOrder::new(scores, positive, weights)?;
    let (w_pos, w_neg) = Sum::of_pairs(order.groups().map(|g| (g.pos, g.neg)));
    let groups = || order.groups().scan(Passed::default(), Passed::next_group);
    // V of a group's positives and U of its negatives.
    let v = |g: &Placed| (g.below + 0.5 * g.group.neg) / w_neg;
    let u = |g: &Placed| (w_pos - g.passed + 0.5 * g.group.pos) / w_pos;
    let wins = Sum::of(groups().map(|g| g.group.pos * v(&g)));
    let auc = (wins / w_pos).clamp(0.0, 1.0);

    let [
        mut pos_terms,
        mut neg_terms,
        mut pos_squares,
        mut neg_squares,
    ] = [Sum::default(); 4];
    for g in groups() {
        pos_squares.add(g.group.pos_squares);
        neg_squares.add(g.group.neg_squares);
        pos_terms.add(g.group.pos_squares * (v(&g) - auc).powi(2));
        neg_terms.add(g.group.neg_squares * (u(&g) - auc).powi(2));
    }
    let part = |terms: Sum, weight: f64, n: usize| match n {
        1 => auc * (1.0 - auc),
        n => n as f64 / (n as f64 - 1.0) * terms.value() / (weight * weight),
    };
    let variance = part(pos_terms, w_pos, order.pos.n) + part(neg_terms, w_neg, order.neg.n);
    let effective_pairs =
        (w_pos * w_pos / pos_squares.value()).min(w_neg * w_neg / neg_squares.value());
    let mut found = WeightedAuc {
        auc,
        variance,
        ci95: [0.0, 1.0],
        n_pos: order.pos.n,
        n_neg: order.neg.n,
        weight_pos: order.pos.unscale(w_pos),
        weight_neg: order.neg.unscale(w_neg),
        effective_pairs,
    };
    found.ci95 = found.share().logit();
    Ok(found)
}

/// The examples of one score and where they lie.
struct Placed {
    group: Group,
    /// Weight of the negatives of lower scores.
    below: f64,
    /// Weight of the positives of this score and lower ones.
    passed: f64,
}

/// Weights passed by on the way up.
#[derive(Default)]
struct Passed {
    pos: Sum,
    neg: Sum,
}

impl Passed {
    /// Places the group of the next score; never `None`, which would end `Iterator::scan`.
    fn next_group(&mut self, group: Group) -> Option<Placed> {
        let below = self.neg.value();
        self.neg.add(group.neg);
        self.pos.add(group.pos);
        let passed = self.pos.value();
        Some(Placed {
            group,
            below,
            passed,
        })
    }
}
