//! AUC risk, Eq. (1) and Eq. (2).
//!
//! ```text
//! L_AUC = 1/(N⁺N⁻) Σ_{i∈+} Σ_{j∈−} ( 1[c_i < c_j] + ½·1[c_i = c_j] )             Eq. (1)
//!       = 1/(N⁺N⁻) { Σ_{i=1}^{N⁺} (N⁻ + i) − Σ_{i∈+} r_i }                       Eq. (2), Lemma 2
//! ```
//!
//! r_i is the rank of example i among all N, from 1; tied examples share the mean of their ranks. The
//! paper assumes no ties; with mean ranks Lemma 2 holds with the ½ above: in a group of n⁺ and n⁻ tied
//! examples, giving the positives the lowest ranks counts all n⁺n⁻ pairs as wrong, the highest ranks
//! none, and the mean rank the mean of the two.
//!
//! Twice a mean rank is an integer, so the count is exact; the only rounding is the last division.
//! Cost: one sort. Eq. (1) as printed is the oracle of the tests.

use super::sorted::Sorted;
use crate::Result;

/// Twice the number of wrongly ordered pairs, a tied pair counting as half a wrong one: exact.
pub fn wrong_half_pairs(scores: &[f64], positive: &[bool]) -> Result<u128> {
    Ok(half_pairs(&Sorted::new(scores, positive)?))
}

/// L_AUC = 1 − AUC, ties counted one half.
pub fn auc_risk(scores: &[f64], positive: &[bool]) -> Result<f64> {
    Ok(risk(&Sorted::new(scores, positive)?))
}

pub(crate) fn risk(sorted: &Sorted) -> f64 {
    let pairs = sorted.pos.len() as u128 * sorted.neg.len() as u128;
    half_pairs(sorted) as f64 / (2 * pairs) as f64
}

/// Lemma 2, doubled: 2 Σ (N⁻ + i) = N⁺(2N⁻ + N⁺ + 1), and twice the mean rank of t examples above
/// `below` others is 2·below + t + 1.
fn half_pairs(sorted: &Sorted) -> u128 {
    let (n_pos, n_neg) = (sorted.pos.len() as u128, sorted.neg.len() as u128);
    let mut below = 0;
    let mut twice_ranks = 0;
    for group in sorted.groups() {
        twice_ranks += group.n_pos as u128 * (2 * below + group.len() as u128 + 1);
        below += group.len() as u128;
    }
    n_pos * (2 * n_neg + n_pos + 1) - twice_ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_wrong_and_tied_pairs() {
        let labels = [true, false];
        assert_eq!(auc_risk(&[1.0, 0.0], &labels).unwrap(), 0.0);
        assert_eq!(auc_risk(&[0.0, 1.0], &labels).unwrap(), 1.0);
        assert_eq!(auc_risk(&[1.0, 1.0], &labels).unwrap(), 0.5);
        assert_eq!(wrong_half_pairs(&[1.0, 1.0], &labels).unwrap(), 1);
    }
}
