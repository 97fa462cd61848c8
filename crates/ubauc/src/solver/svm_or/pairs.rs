//! The mean hinge of the pairs and its subgradient, by one sort.
//!
//! ```text
//! L(c) = 1/(N⁺N⁻) Σ_{i∈+} Σ_{j∈−} [1 − (c_i − c_j)]₊
//! ```
//!
//! With v_i = c_i for a positive and v_j = c_j + 1 for a negative example a pair counts if v_i < v_j; at the kink, a
//! difference of exactly 1, it does not. Let n_i be the number of negatives above positive i, n_j that of positives
//! below negative j, and M = Σ_i n_i = Σ_j n_j the number of pairs that count. Then
//!
//! ```text
//! L(c') ≥ b + a·c' for every c', with equality at c,   a_i = −n_i/(N⁺N⁻),  a_j = n_j/(N⁺N⁻),  b = M/(N⁺N⁻).
//! ```
//!
//! All counts are integers, so that a and b are right to the last bit. O(N) time after the sort of v, which is a radix
//! sort; the loss is a sum of terms ≥ 0, in which nothing cancels.

use crate::data::dataset::Dataset;
use crate::metrics::order::{key, score};
use crate::metrics::radix::sort_by_key;
use crate::{Error, Result};

/// No sum of N² scores of this size overflows.
const LARGEST: f64 = 1e250;

#[derive(Clone, Copy)]
struct Item {
    /// Of v.
    key: u64,
    row: u32,
    positive: bool,
}

/// The examples in the order of v.
pub(super) struct Pairs<'a> {
    positive: &'a [bool],
    n_neg: u64,
    /// 1/(N⁺N⁻).
    share: f64,
    items: Vec<Item>,
    scratch: Vec<Item>,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(data: &'a Dataset) -> Result<Pairs<'a>> {
        if u32::try_from(data.rows().len()).is_err() {
            let what = "more than 2^32 examples";
            return Err(Error::Numerical { what });
        }
        Ok(Pairs {
            positive: data.positive(),
            n_neg: data.n_neg() as u64,
            share: 1.0 / (data.n_pos() as f64 * data.n_neg() as f64),
            items: Vec::with_capacity(data.rows().len()),
            scratch: Vec::new(),
        })
    }

    /// Takes the scores; everything below is at them.
    pub(super) fn sort(&mut self, scores: impl Iterator<Item = f64>) -> Result<()> {
        self.items.clear();
        let mut sound = true;
        for ((row, &positive), c) in (0..).zip(self.positive).zip(scores) {
            sound &= c.abs() <= LARGEST;
            let v = if positive { c } else { c + 1.0 };
            let key = key(v);
            self.items.push(Item { key, row, positive });
        }
        if !sound {
            let what = "scores overflow; scale the features or choose a smaller C";
            return Err(Error::Numerical { what });
        }
        sort_by_key(&mut self.items, &mut self.scratch, |item| item.key);
        Ok(())
    }

    /// L, and its slope a·δ along δ.
    pub(super) fn loss_and_slope(&self, along: &[f64]) -> (f64, f64) {
        let mut slope = 0.0;
        self.sweep(|item, count| slope += count * along[item.row as usize]);
        (self.loss(), slope * self.share)
    }

    /// L.
    pub(super) fn loss(&self) -> f64 {
        // Σ (v − v_i) over the positives below v, carried upwards.
        let (mut below, mut count, mut previous, mut total) = (0.0, 0.0, 0.0, 0.0);
        for item in &self.items {
            let v = score(item.key);
            if count > 0.0 {
                below += count * (v - previous);
            }
            previous = v;
            if item.positive {
                count += 1.0;
            } else {
                total += below;
            }
        }
        total * self.share
    }

    /// a, and b as the answer.
    pub(super) fn plane(&self, a: &mut [f64]) -> f64 {
        let mut pairs = 0.0;
        self.sweep(|item, count| {
            a[item.row as usize] = count * self.share;
            pairs += count.max(0.0);
        });
        pairs * self.share
    }

    /// Every example with −n_i or n_j.
    #[inline]
    fn sweep(&self, mut visit: impl FnMut(&Item, f64)) {
        let (mut below, mut above) = (0_u64, self.n_neg);
        for ties in self.items.chunk_by(|a, b| a.key == b.key) {
            above -= ties.iter().filter(|item| !item.positive).count() as u64;
            for item in ties {
                let count = if item.positive {
                    -(above as f64)
                } else {
                    below as f64
                };
                visit(item, count);
            }
            below += ties.iter().filter(|item| item.positive).count() as u64;
        }
    }
}
