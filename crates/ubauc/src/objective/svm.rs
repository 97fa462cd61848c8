//! The margin form: what a linear SVM with a free bias −λ minimises, on the scale of L̃.
//!
//! ```text
//! L̃_SVM = 1/(N⁺N⁻) min_λ Σ_i [ 1 + y_i(λ − c_i) ]₊
//! ```
//!
//! The paper drops the factor 1/(N⁺N⁻) and so compares it with L̃ on two scales (E11). Since
//! 1 + y(λ − c) = y(λ − (c − y)), the margin form **is** L̃ of the shifted scores c − y: positives
//! pushed down by 1, negatives up by 1. Everything known of L̃ carries over, the minimising λ (E1)
//! included. Term by term `[1 + a]₊ ≥ [a]₊`, hence
//!
//! ```text
//! L̃_SVM ≥ L̃,   and with Theorem 1   ᾱ L̃_SVM ≥ ᾱ L̃ ≥ L_AUC.
//! ```
//!
//! ᾱ depends on the scores, so the chain holds at each w and is no reason by itself that a small
//! SVM objective means a small risk.

use super::sorted::Sorted;
use super::univariate::{Minimum, minimum};
use crate::Result;

/// L̃_SVM and the closed interval of minimising λ. Cost: one sort.
pub fn svm_objective(scores: &[f64], positive: &[bool]) -> Result<Minimum> {
    Ok(margin_form(&Sorted::new(scores, positive)?))
}

/// Rounding is monotone, so the shifted classes stay sorted.
pub(crate) fn margin_form(sorted: &Sorted) -> Minimum {
    minimum(&Sorted {
        pos: sorted.pos.iter().map(|c| c - 1.0).collect(),
        neg: sorted.neg.iter().map(|c| c + 1.0).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Σ [1 + y(λ − c)]₊ = [1 + λ − 1]₊ + [1 − λ + 0.5]₊ = λ + 1.5 − λ on 0 ≤ λ ≤ 1.5.
        let m = svm_objective(&[1.0, 0.5], &[true, false]).unwrap();
        assert_eq!(m.value, 1.5);
        assert_eq!(m.lambda, [0.0, 1.5]);
    }

    #[test]
    fn separated_by_two_costs_nothing() {
        let m = svm_objective(&[1.0, -1.0], &[true, false]).unwrap();
        assert_eq!(m.value, 0.0);
        assert_eq!(m.lambda, [0.0, 0.0]);
    }
}
