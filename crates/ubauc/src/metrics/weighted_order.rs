//! Weighted examples in the order of their scores.
//!
//! Weights must be finite and not negative, and each class must have some. No metric here changes
//! when the weights of both classes are multiplied by one number, so those of each class are first
//! multiplied by the power of two that brings the largest of the class into [½, 1): exact, and no
//! sum overflows. [`WeightedOrder::negative_exponent`] undoes the difference between the classes.
//!
//! An example of weight 0 does not count. All sums are compensated and taken in one order: the same
//! bits for any number of threads.

use super::order::{both_classes, key, refuse_nan};
use super::radix;
use crate::{Error, Result};

/// The examples that have weight, ordered by score.
pub(super) struct WeightedOrder {
    items: Vec<Item>,
    /// The positives.
    pub pos: Class,
    /// The negatives.
    pub neg: Class,
}

impl WeightedOrder {
    /// Checks everything and sorts.
    pub(super) fn new(scores: &[f64], positive: &[bool], weights: &[f64]) -> Result<Self> {
        let [neg, pos] = check(scores, positive, weights)?;
        let mut items: Vec<Item> = (scores.iter().zip(positive).zip(weights))
            .filter(|&(_, &w)| w > 0.0)
            .map(|((&s, &p), &w)| Item {
                key: key(s),
                weight: if p { pos.scale(w) } else { -neg.scale(w) },
            })
            .collect();
        radix::sort_by_key(&mut items, &mut Vec::new(), |item| item.key);
        Ok(Self { items, pos, neg })
    }

    /// The distinct scores, ascending. Made on the way rather than kept: a group is larger than its
    /// usual one example.
    pub(super) fn groups(&self) -> impl DoubleEndedIterator<Item = Group> + Clone {
        self.groups_with_keys().map(|(_, group)| group)
    }

    /// The same with the key of each score.
    pub(super) fn groups_with_keys(&self) -> impl DoubleEndedIterator<Item = (u64, Group)> + Clone {
        let tied = self.items.chunk_by(|a, b| a.key == b.key);
        tied.map(|items| (items[0].key, Group::of(items)))
    }

    /// Two to this power brings the scaled weights of the negatives to the scale of the positives.
    pub(super) fn negative_exponent(&self) -> i32 {
        self.neg.exponent() - self.pos.exponent()
    }
}

/// Number and scale of the examples of one class that have weight.
#[derive(Clone, Copy, Default)]
pub(super) struct Class {
    /// How many, at least 1.
    pub n: usize,
    largest: f64,
}

impl Class {
    fn exponent(self) -> i32 {
        libm::frexp(self.largest).1
    }
    pub(super) fn scale(self, weight: f64) -> f64 {
        libm::scalbn(weight, -self.exponent())
    }
    /// A sum of scaled weights as a sum of weights; infinite if it is beyond the range of a double.
    pub(super) fn unscale(self, weight: f64) -> f64 {
        libm::scalbn(weight, self.exponent())
    }
}

/// Refuses a weight that is negative or not finite.
pub(super) fn check_weight(row: usize, value: f64) -> Result<()> {
    match value.is_finite() && value >= 0.0 {
        true => Ok(()),
        false => Err(Error::NotFinite {
            what: "weight",
            row,
            value,
            must: "finite and not negative",
        }),
    }
}

/// Checks everything; `[negatives, positives]`.
pub(super) fn check(scores: &[f64], positive: &[bool], weights: &[f64]) -> Result<[Class; 2]> {
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
        check_weight(row, value)?;
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

/// The scaled weights of the examples of one score.
pub(super) struct Group {
    /// Weight of the positives.
    pub pos: f64,
    /// Sum of the squared weights of the positives.
    pub pos_squares: f64,
    /// Weight of the negatives.
    pub neg: f64,
    /// Sum of the squared weights of the negatives.
    pub neg_squares: f64,
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
        }
    }
}

/// Neumaier's compensated sum: the error does not grow with the number of terms.
#[derive(Clone, Copy, Default)]
pub(super) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    pub(super) fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        self.lost += if self.sum.abs() >= x.abs() {
            (self.sum - sum) + x
        } else {
            (x - sum) + self.sum
        };
        self.sum = sum;
    }
    pub(super) fn value(self) -> f64 {
        self.sum + self.lost
    }
    /// Both sums of pairs.
    pub(super) fn of_pairs(terms: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
        let (mut a, mut b) = (Self::default(), Self::default());
        for (x, y) in terms {
            a.add(x);
            b.add(y);
        }
        (a.value(), b.value())
    }
    /// The sum of all terms.
    pub(super) fn of(terms: impl Iterator<Item = f64>) -> f64 {
        let mut sum = Self::default();
        terms.for_each(|x| sum.add(x));
        sum.value()
    }
}
