//! Placements: how many of the other class each example beats, and their exact sums.
//!
//! For a positive i and a negative j, in half pairs so that a tie is the integer 1:
//!
//!   a_i = 2·#{negatives below i} + #{negatives equal to i}        V_i = a_i / (2N⁻)
//!   b_j = 2·#{positives above j} + #{positives equal to j}        U_j = b_j / (2N⁺)
//!
//! V and U are the structural components of DeLong et al. (1988). Both lists have one sum,
//! Σ a_i = Σ b_j = 2N⁺N⁻·AUC.
//!
//! Width. With N⁺ + N⁻ ≤ 2⁴⁰: a_i ≤ 2N⁻ ≤ 2⁴¹ fits a u64, Σ a_i ≤ 2N⁺N⁻ ≤ 2⁷⁹, and
//! Σ a_i² ≤ N⁺(2N⁻)² ≤ 4·(4/27)·2¹²⁰ < 2¹²⁰. All far from 2¹²⁸.

use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

/// Sums over the examples of one score range, or of all: what [`Cut::auc`](super::Cut::auc) adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlacementSums {
    /// Σ a_i = Σ b_j.
    pub(super) total: u128,
    /// Σ a_i².
    pub(super) pos_squares: u128,
    /// Σ b_j².
    pub(super) neg_squares: u128,
    /// Pairs of a positive and a negative with equal scores.
    pub(super) ties: u128,
}

impl Add for PlacementSums {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            total: self.total + other.total,
            pos_squares: self.pos_squares + other.pos_squares,
            neg_squares: self.neg_squares + other.neg_squares,
            ties: self.ties + other.ties,
        }
    }
}

impl Sum for PlacementSums {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Add::add)
    }
}

impl PlacementSums {
    /// `p` positives and `q` negatives of one score, with `below` negatives under them and `above`
    /// positives over them.
    pub(super) fn add_group(&mut self, p: u64, q: u64, below: u64, above: u64) {
        let (a, b) = (u128::from(2 * below + q), u128::from(2 * above + p));
        let (p, q) = (u128::from(p), u128::from(q));
        self.total += p * a;
        self.pos_squares += p * a * a;
        self.neg_squares += q * b * b;
        self.ties += p * q;
    }

    /// The share of one score range: its keys of each class, ascending, with `below` negatives under
    /// the range and `above` positives over it.
    pub(super) fn of_range(pos: &[u64], neg: &[u64], below: usize, above: usize) -> Self {
        let below = below as u64;
        // With i positives of the range passed by, top − i are still above.
        let top = (above + pos.len()) as u64;
        let mut sums = Self::default();
        let (mut i, mut j) = (0, 0);
        while i < pos.len() && j < neg.len() {
            if pos[i] == neg[j] {
                let p = equal_run(&pos[i..]);
                let q = equal_run(&neg[j..]);
                let passed = (i + p) as u64;
                sums.add_group(p as u64, q as u64, below + j as u64, top - passed);
                (i, j) = (i + p, j + q);
            } else {
                // One example alone, and which class it is of cannot be predicted: no branch.
                let is_pos = pos[i] < neg[j];
                let a = if is_pos { 2 * (below + j as u64) } else { 0 };
                let b = if is_pos { 0 } else { 2 * (top - i as u64) };
                sums.total += u128::from(a);
                sums.pos_squares += u128::from(a) * u128::from(a);
                sums.neg_squares += u128::from(b) * u128::from(b);
                i += usize::from(is_pos);
                j += usize::from(!is_pos);
            }
        }
        // One list is used up: the rest of the other is alike.
        sums.add_group((pos.len() - i) as u64, 0, below + j as u64, above as u64);
        sums.add_group(0, (neg.len() - j) as u64, below + j as u64, top - i as u64);
        sums
    }

    /// Whether no sum is more than this many examples can have; two such can be added without overflow.
    pub(super) fn fits(&self, n_pos: u64, n_neg: u64) -> bool {
        let (p, q) = (u128::from(n_pos), u128::from(n_neg));
        self.total <= 2 * p * q
            && self.pos_squares <= 4 * p * q * q
            && self.neg_squares <= 4 * p * p * q
            && self.ties <= p * q
    }

    /// Whether there can be integers of these sums, so that `exact.rs` finds nothing below 0: of all integers of one
    /// sum, those that differ by at most 1 have the least squares.
    pub(super) fn can_be_centred(&self, n_pos: u64, n_neg: u64) -> bool {
        let squares_of = |squares: u128, n: u64| {
            let (q, r) = (self.total / u128::from(n), self.total % u128::from(n));
            squares >= q * (self.total + r) + r
        };
        squares_of(self.pos_squares, n_pos) && squares_of(self.neg_squares, n_neg)
    }
}

/// 2N⁺N⁻, what placements can sum up to, as a double.
pub(super) fn half_pairs(n_pos: u64, n_neg: u64) -> f64 {
    (2 * u128::from(n_pos) * u128::from(n_neg)) as f64
}

/// How many keys at the front are equal.
fn equal_run(keys: &[u64]) -> usize {
    keys.iter()
        .position(|&k| k != keys[0])
        .unwrap_or(keys.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_a_trillion_examples_does_not_overflow() {
        let half = 1_u64 << 39;
        let mut sums = PlacementSums::default();
        sums.add_group(half, 0, half, 0); // every positive over every negative
        sums.add_group(0, half, 0, half);
        assert_eq!(sums.total, 1 << 79);
        assert_eq!((sums.pos_squares, sums.neg_squares), (1 << 119, 1 << 119));
        assert_eq!(sums.ties, 0);
    }

    #[test]
    fn placements_by_hand() {
        // Positives 1, 2, 2; negatives 0, 2, 3. a = 2, 3, 3; b = 6, 2, 0.
        let sums = PlacementSums::of_range(&[1, 2, 2], &[0, 2, 3], 0, 0);
        let expected = PlacementSums {
            total: 8,
            pos_squares: 22,
            neg_squares: 40,
            ties: 2,
        };
        assert_eq!(sums, expected);
    }
}
