//! Eq. (1), Eq. (2), Figure 1.

use proptest::prelude::*;
use ubauc::objective::auc_risk::{auc_risk, wrong_half_pairs};

use super::cases::{counts, half_pairs_by_pairs, with_ties};

#[test]
fn figure1_twelve_wrong_pairs() {
    let ranks_of_positives = [4, 6, 7, 8, 9, 11, 13];
    let scores: Vec<f64> = (1..=13).map(f64::from).collect();
    let positive: Vec<bool> = (1..=13)
        .map(|rank| ranks_of_positives.contains(&rank))
        .collect();
    assert_eq!(wrong_half_pairs(&scores, &positive).unwrap(), 2 * 12);
    assert_eq!(auc_risk(&scores, &positive).unwrap(), 2.0 / 7.0);
}

proptest! {
    /// Lemma 2, ties included.
    #[test]
    fn eq02_ranks_equal_pairs((scores, positive) in with_ties()) {
        let by_pairs = half_pairs_by_pairs(&scores, &positive);
        prop_assert_eq!(wrong_half_pairs(&scores, &positive).unwrap(), by_pairs);
        let (n_pos, n_neg) = counts(&positive);
        let risk = by_pairs as f64 / (2 * n_pos * n_neg) as f64;
        prop_assert_eq!(auc_risk(&scores, &positive).unwrap(), risk);
    }
}
