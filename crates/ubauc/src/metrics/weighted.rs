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
//! A does not change when the weights of one class are multiplied by a number. They are first
//! multiplied by the power of two that brings the largest into [½, 1): exact, and no sum overflows.
//! All sums are compensated and taken in one order: the same bits for any number of threads.

use serde::Serialize;

use super::auc::interval;
use super::order::{both_classes, key, refuse_nan};
use super::radix;
use crate::{Error, Result};

/// AUC of weighted examples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeightedAuc {
    /// Weighted probability that a positive scores above a negative, a tie counted one half.
    pub auc: f64,
    /// Linearised variance of `auc`.
    pub variance: f64,
    /// `auc` ± 1.96·√`variance`, clipped to [0, 1].
    pub ci95: [f64; 2],
    /// Positive examples of weight above 0.
    pub n_pos: usize,
    /// Negative examples of weight above 0.
    pub n_neg: usize,
    /// Total weight of the positives; infinite if it is beyond the range of a double.
    pub weight_pos: f64,
    /// Total weight of the negatives; infinite if it is beyond the range of a double.
    pub weight_neg: f64,
}

impl WeightedAuc {
    /// Whether the estimated variance is 0; see [`Auc::degenerate`](super::Auc::degenerate).
    pub fn degenerate(&self) -> bool {
        self.variance == 0.0
    }
}

/// AUC of `scores` where example i counts `weights[i]` times.
///
/// Weights must be finite and not negative; a class must have some weight.
pub fn weighted_auc(scores: &[f64], positive: &[bool], weights: &[f64]) -> Result<WeightedAuc> {
    let [neg, pos] = check(scores, positive, weights)?;
    let mut items: Vec<Item> = (scores.iter().zip(positive).zip(weights))
        .filter(|&(_, &w)| w > 0.0)
        .map(|((&s, &p), &w)| Item {
            key: key(s),
            weight: if p { pos.scale(w) } else { -neg.scale(w) },
        })
        .collect();
    radix::sort_by_key(&mut items, &mut Vec::new(), |item| item.key);
    // Walked three times rather than kept: a group is larger than its usual one example.
    let groups = || {
        items
            .chunk_by(|a, b| a.key == b.key)
            .scan(Passed::default(), Passed::next_group)
    };

    let mut all = Passed::default();
    groups().for_each(|g| all.add(&g));
    let (w_pos, w_neg) = (all.pos.value(), all.neg.value());
    // V of a group's positives and U of its negatives.
    let v = |g: &Group| (g.below + 0.5 * g.neg) / w_neg;
    let u = |g: &Group| (w_pos - g.passed + 0.5 * g.pos) / w_pos;
    let mut wins = Sum::default();
    groups().for_each(|g| wins.add(g.pos * v(&g)));
    let auc = (wins.value() / w_pos).clamp(0.0, 1.0);

    let (mut pos_terms, mut neg_terms) = (Sum::default(), Sum::default());
    for g in groups() {
        pos_terms.add(g.pos_squares * (v(&g) - auc).powi(2));
        neg_terms.add(g.neg_squares * (u(&g) - auc).powi(2));
    }
    let part = |terms: Sum, weight: f64, n: usize| match n {
        1 => auc * (1.0 - auc),
        n => n as f64 / (n as f64 - 1.0) * terms.value() / (weight * weight),
    };
    let variance = part(pos_terms, w_pos, pos.n) + part(neg_terms, w_neg, neg.n);
    Ok(WeightedAuc {
        auc,
        variance,
        ci95: interval(auc, variance, 0.0),
        n_pos: pos.n,
        n_neg: neg.n,
        weight_pos: pos.unscale(w_pos),
        weight_neg: neg.unscale(w_neg),
    })
}

/// Number and scale of the examples of one class that have weight.
#[derive(Clone, Copy, Default)]
struct Class {
    n: usize,
    largest: f64,
}

impl Class {
    fn exponent(self) -> i32 {
        libm::frexp(self.largest).1
    }
    fn scale(self, weight: f64) -> f64 {
        libm::scalbn(weight, -self.exponent())
    }
    fn unscale(self, weight: f64) -> f64 {
        libm::scalbn(weight, self.exponent())
    }
}

/// Checks everything; `[negatives, positives]`.
fn check(scores: &[f64], positive: &[bool], weights: &[f64]) -> Result<[Class; 2]> {
    for (what, got) in [("labels", positive.len()), ("weights", weights.len())] {
        if got != scores.len() {
            return Err(Error::Length {
                what,
                expected: scores.len(),
                got,
            });
        }
    }
    refuse_nan(scores)?;
    let mut classes = [Class::default(); 2];
    for (row, (&value, &p)) in weights.iter().zip(positive).enumerate() {
        if !(value.is_finite() && value >= 0.0) {
            let must = "finite and not negative";
            return Err(Error::NotFinite {
                what: "weight",
                row,
                value,
                must,
            });
        }
        let class = &mut classes[usize::from(p)];
        class.n += usize::from(value > 0.0);
        class.largest = class.largest.max(value);
    }
    let n_pos = positive.iter().filter(|&&p| p).count();
    both_classes(n_pos, positive.len() - n_pos)?;
    for (class, name) in classes.iter().zip(["negative", "positive"]) {
        if class.n == 0 {
            let what = format!("no weight in class {name}; AUC needs both classes");
            return Err(Error::Classes { what });
        }
    }
    Ok(classes)
}

/// One example: its scaled weight, with a minus sign if it is a negative.
#[derive(Clone, Copy)]
struct Item {
    key: u64,
    weight: f64,
}

/// The examples of one score.
#[derive(Default)]
struct Group {
    /// Weight of the positives, and the sum of its squares.
    pos: f64,
    pos_squares: f64,
    /// Weight of the negatives, and the sum of its squares.
    neg: f64,
    neg_squares: f64,
    /// Weight of the negatives of lower scores.
    below: f64,
    /// Weight of the positives of this score and lower ones.
    passed: f64,
}

impl Group {
    fn of(items: &[Item]) -> Self {
        let [mut pos, mut pos_squares, mut neg, mut neg_squares] = [Sum::default(); 4];
        for &Item { weight, .. } in items {
            if weight > 0.0 {
                pos.add(weight);
                pos_squares.add(weight * weight);
            } else {
                neg.add(-weight);
                neg_squares.add(weight * weight);
            }
        }
        Self {
            pos: pos.value(),
            pos_squares: pos_squares.value(),
            neg: neg.value(),
            neg_squares: neg_squares.value(),
            ..Self::default()
        }
    }
}

/// Weights passed by on the way up.
#[derive(Default)]
struct Passed {
    pos: Sum,
    neg: Sum,
}

impl Passed {
    fn add(&mut self, group: &Group) {
        self.pos.add(group.pos);
        self.neg.add(group.neg);
    }

    /// The group of the next score; never `None`, which would end `Iterator::scan`.
    fn next_group(&mut self, items: &[Item]) -> Option<Group> {
        let group = Group {
            below: self.neg.value(),
            ..Group::of(items)
        };
        self.add(&group);
        Some(Group {
            passed: self.pos.value(),
            ..group
        })
    }
}

/// Neumaier's compensated sum: the error does not grow with the number of terms.
#[derive(Clone, Copy, Default)]
struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        self.lost += if self.sum.abs() >= x.abs() {
            (self.sum - sum) + x
        } else {
            (x - sum) + self.sum
        };
        self.sum = sum;
    }
    fn value(self) -> f64 {
        self.sum + self.lost
    }
}
