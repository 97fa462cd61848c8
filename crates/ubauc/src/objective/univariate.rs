//! The univariate bound L̃ of AUC risk: Eq. (3), Eq. (4), Eq. (5), Lemma 1, Lemma 4, Theorem 1.
//!
//! ```text
//! N⁺N⁻ L̃ = Σ_{i=N⁻+1}^{N} c↑_i − Σ_{i∈+} c_i                                     Eq. (3)
//!         = Σ_{i=1}^{N⁺} ( c↑_{N⁻+i} − c↑⁺_i ),   every term ≥ 0                 Lemma 1
//!         = min_λ Σ_i [ y_i(λ − c_i) ]₊                                          Eq. (5)
//! ```
//!
//! c↑ are all scores in ascending order, c↑⁺ those of the positives. The first sum is that of the N⁺
//! largest scores, so Eq. (5) follows from
//!
//! ```text
//! Σ_{i=N−k+1}^{N} z↑_i = min_λ { kλ + Σ_i [z_i − λ]₊ },  λ ∈ [z↑_{N−k}, z↑_{N−k+1}]   Eq. (4), Lemma 4
//! ```
//!
//! with k = N⁺ and `[a]₊ − a = [−a]₊`. **E1**: the minimisers of Eq. (5) are therefore
//! λ ∈ [ c↑_{N⁻}, c↑_{N⁻+1} ], not N⁺ as printed. The interval is closed at both ends (the paper opens
//! the upper one, which leaves nothing when the two are tied), and ties do no harm to Lemma 4.
//!
//! # Theorem 1, with ties
//!
//! ```text
//! α̲ L̃ ≤ L_AUC ≤ ᾱ L̃,   1/α̲ = max_i (c↑_{i+1} − c↑_i),   1/ᾱ = min_i (c↑_{i+1} − c↑_i)
//! ```
//!
//! Give tied examples any order. Then c↑ is the same list, the i-th positive has a rank r_i ≤ N⁻ + i, and
//!
//! ```text
//! N⁺N⁻ L̃ = Σ_i ( c↑_{N⁻+i} − c↑_{r_i} ) ≤ (1/α̲) Σ_i (N⁻ + i − r_i) = (1/α̲) · (wrong pairs of that order).
//! ```
//!
//! This holds for the order that puts tied positives last, where a tied pair counts as right. Counting
//! it ½ only raises L_AUC: **the lower bound survives ties.**
//!
//! The upper one does not. A tie makes the smallest gap 0. Leaving zero gaps out does not help, even when
//! the tie is inside one class: a positive at 0 and two negatives at 1 have L_AUC = 1, but L̃ = ½, and the
//! smallest gap that is not 0 is 1. So with any tie there is no upper bound, and `alpha_upper` is `None`.

use serde::Serialize;

use super::population::{self, PopulationEstimate};
use super::sorted::{self, Sorted};
use super::sum::sum;
use super::{auc_risk, svm};
use crate::{Error, Result};

/// A minimum over λ and all its minimisers.
#[derive(Debug, Clone, Serialize)]
pub struct Minimum {
    /// The least value.
    pub value: f64,
    /// The closed interval of λ that attain it.
    pub lambda: [f64; 2],
}

/// L̃ by sorting, Eq. (3).
///
/// Summed as in Lemma 1, where no term is negative: L̃ ≥ 0 always, and it is as exact as its terms,
/// however large the scores are beside their differences.
pub fn l_tilde(scores: &[f64], positive: &[bool]) -> Result<f64> {
    Ok(minimum(&Sorted::new(scores, positive)?).value)
}

/// 1/(N⁺N⁻) Σ_i [y_i(λ − c_i)]₊: what Eq. (5) minimises over λ.
pub fn l_tilde_at(scores: &[f64], positive: &[bool], lambda: f64) -> Result<f64> {
    let (n_pos, n_neg) = sorted::check(scores, positive)?;
    if !lambda.is_finite() {
        return Err(Error::Parameter {
            name: "lambda",
            value: lambda.to_string(),
            must: "finite",
        });
    }
    Ok(hinge_sum(scores, positive, lambda) / n_pos as f64 / n_neg as f64)
}

/// L̃ without ranking, Eq. (5), in O(N): λ by selection (E1), then one sum.
pub fn l_tilde_min(scores: &[f64], positive: &[bool]) -> Result<Minimum> {
    let (n_pos, n_neg) = sorted::check(scores, positive)?;
    let lambda = neighbours(&mut scores.to_vec(), n_neg);
    // λ at a score and not between two: then each term is a difference of two scores, rounded once.
    let value = hinge_sum(scores, positive, lambda[0]) / n_pos as f64 / n_neg as f64;
    Ok(Minimum { value, lambda })
}

/// The sum of the k largest numbers as a minimum, Eq. (4), in O(N); 1 ≤ k ≤ N.
///
/// For k = N every λ ≤ z↑_1 is a minimiser: the interval starts at −∞.
pub fn top_k(z: &[f64], k: usize) -> Result<Minimum> {
    sorted::check_finite(z)?;
    if k == 0 || k > z.len() {
        return Err(Error::Parameter {
            name: "k",
            value: k.to_string(),
            must: "from 1 to the number of values",
        });
    }
    let mut z = z.to_vec();
    let rest = z.len() - k;
    let lambda = neighbours(&mut z, rest);
    Ok(Minimum {
        value: sum(z[rest..].iter().copied()),
        lambda,
    })
}

/// What Theorem 1 and its relatives say of a list of scores.
#[derive(Debug, Clone, Serialize)]
pub struct Bound {
    /// L_AUC = 1 − AUC, ties counted ½, Eq. (1).
    pub auc_risk: f64,
    /// L̃, Eq. (3).
    pub l_tilde: f64,
    /// The closed interval of λ that minimise Eq. (5) (E1).
    pub lambda: [f64; 2],
    /// α̲ of Theorem 1. `None` when all scores are equal (to within 1/f64::MAX).
    pub alpha_lower: Option<f64>,
    /// ᾱ of Theorem 1. `None` when two scores tie (to within 1/f64::MAX): there is no upper bound.
    pub alpha_upper: Option<f64>,
    /// Pairs of examples with equal scores, of the same class or not.
    pub tied_pairs: u128,
    /// Those of them with a positive and a negative.
    pub tied_opposite_pairs: u128,
    /// α̲ L̃ ≤ L_AUC; 0 without α̲.
    pub risk_lower: f64,
    /// min(1, ᾱ L̃) ≥ L_AUC; 1 without ᾱ.
    pub risk_upper: f64,
    /// L̃_SVM ≥ L̃, the margin form of the same scores (E11).
    pub svm_objective: f64,
    /// Eq. (11), an estimate and not a bound. `None` when a positive and a negative tie.
    pub population: Option<PopulationEstimate>,
    /// N⁺.
    pub n_pos: usize,
    /// N⁻.
    pub n_neg: usize,
}

/// Theorem 1 with both constants, and its relatives. Cost: one sort.
pub fn bound(scores: &[f64], positive: &[bool]) -> Result<Bound> {
    let sorted = Sorted::new(scores, positive)?;
    let auc_risk = auc_risk::risk(&sorted);
    let Minimum {
        value: l_tilde,
        lambda,
    } = minimum(&sorted);
    let gaps = Gaps::of(&sorted);
    let alpha_lower = finite_inverse(gaps.largest);
    let alpha_upper = finite_inverse(gaps.smallest);
    Ok(Bound {
        auc_risk,
        l_tilde,
        lambda,
        alpha_lower,
        alpha_upper,
        tied_pairs: gaps.tied_pairs,
        tied_opposite_pairs: gaps.tied_opposite_pairs,
        // Exact arithmetic keeps L_AUC between the two (equal gaps make all three equal);
        // min and max see that rounding does too.
        risk_lower: alpha_lower.map_or(0.0, |_| (l_tilde / gaps.largest).min(auc_risk)),
        risk_upper: alpha_upper.map_or(1.0, |_| (l_tilde / gaps.smallest).clamp(auc_risk, 1.0)),
        svm_objective: svm::margin_form(&sorted).value,
        population: population::estimate(&sorted, l_tilde),
        n_pos: sorted.pos.len(),
        n_neg: sorted.neg.len(),
    })
}

/// Differences c↑_{i+1} − c↑_i of neighbours, i = 1 … N − 1.
struct Gaps {
    smallest: f64,
    largest: f64,
    tied_pairs: u128,
    tied_opposite_pairs: u128,
}

impl Gaps {
    fn of(sorted: &Sorted) -> Self {
        let mut gaps = Self {
            smallest: f64::INFINITY,
            largest: 0.0,
            tied_pairs: 0,
            tied_opposite_pairs: 0,
        };
        let mut previous = None;
        for group in sorted.groups() {
            if let Some(previous) = previous {
                let gap = group.value - previous;
                gaps.smallest = gaps.smallest.min(gap);
                gaps.largest = gaps.largest.max(gap);
            }
            previous = Some(group.value);
            let t = group.len() as u128;
            gaps.tied_pairs += t * (t - 1) / 2;
            gaps.tied_opposite_pairs += group.n_pos as u128 * group.n_neg as u128;
        }
        if gaps.tied_pairs > 0 {
            gaps.smallest = 0.0;
        }
        gaps
    }
}

/// 1/gap, if that is a number: not for a gap of 0, nor for one so small that 1/gap overflows.
fn finite_inverse(gap: f64) -> Option<f64> {
    Some(1.0 / gap).filter(|alpha| alpha.is_finite())
}

/// Eq. (3) as in Lemma 1, and λ by E1, in one walk along the upper part of c↑.
pub(crate) fn minimum(sorted: &Sorted) -> Minimum {
    let (n_pos, n_neg) = (sorted.pos.len(), sorted.neg.len());
    let mut from_lambda = sorted.merged().skip(n_neg - 1);
    let low = from_lambda.next().unwrap_or(f64::NEG_INFINITY);
    let mut top = from_lambda.peekable();
    let high = top.peek().copied().unwrap_or(f64::INFINITY);
    let total = sum(top.zip(&sorted.pos).map(|(c, c_pos)| c - c_pos));
    Minimum {
        value: total / n_pos as f64 / n_neg as f64,
        lambda: [low, high],
    }
}

/// Σ_i [y_i(λ − c_i)]₊.
fn hinge_sum(scores: &[f64], positive: &[bool], lambda: f64) -> f64 {
    sum(scores.iter().zip(positive).map(|(&c, &p)| {
        let a = if p { lambda - c } else { c - lambda };
        a.max(0.0)
    }))
}

/// [z↑_m, z↑_{m+1}], ends from 1, for 0 ≤ m < N; z↑_0 = −∞. Leaves the m smallest in front.
fn neighbours(z: &mut [f64], m: usize) -> [f64; 2] {
    let (below, &mut high, _) = z.select_nth_unstable_by(m, f64::total_cmp);
    let low = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    [low, high]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // c↑ = 0 1 3 7 with labels + − + −: top two 3 + 7, positives 0 + 3.
        let (c, y) = ([7.0, 0.0, 3.0, 1.0], [false, true, true, false]);
        let b = bound(&c, &y).unwrap();
        assert_eq!(b.l_tilde, 7.0 / 4.0);
        assert_eq!(b.auc_risk, 0.75);
        assert_eq!(b.lambda, [1.0, 3.0]);
        assert_eq!((b.alpha_lower, b.alpha_upper), (Some(0.25), Some(1.0)));
        assert_eq!((b.risk_lower, b.risk_upper), (7.0 / 16.0, 1.0));
        assert_eq!(b.tied_pairs, 0);
        assert_eq!(l_tilde_min(&c, &y).unwrap().value, b.l_tilde);
        assert_eq!(l_tilde_at(&c, &y, 2.0).unwrap(), b.l_tilde);
        assert!(l_tilde_at(&c, &y, 3.5).unwrap() > b.l_tilde);
    }

    #[test]
    fn a_tie_inside_one_class_leaves_no_upper_bound() {
        let b = bound(&[0.0, 1.0, 1.0], &[true, false, false]).unwrap();
        assert_eq!((b.auc_risk, b.l_tilde), (1.0, 0.5));
        assert_eq!((b.alpha_lower, b.alpha_upper), (Some(1.0), None));
        assert_eq!((b.risk_lower, b.risk_upper, b.tied_pairs), (0.5, 1.0, 1));
    }

    #[test]
    fn all_scores_equal_say_nothing() {
        let b = bound(&[2.0; 5], &[true, false, true, false, false]).unwrap();
        assert_eq!((b.auc_risk, b.l_tilde, b.lambda), (0.5, 0.0, [2.0, 2.0]));
        assert_eq!((b.alpha_lower, b.alpha_upper), (None, None));
        assert_eq!((b.risk_lower, b.risk_upper, b.tied_pairs), (0.0, 1.0, 10));
        assert_eq!(b.tied_opposite_pairs, 6);
        assert!(b.population.is_none());
    }

    #[test]
    fn differences_survive_a_large_offset() {
        // 2⁵² + small integers is exact, and so must the answer be.
        let offset = (1_u64 << 52) as f64;
        let y = [false, true, true, false];
        let c = [7.0, 0.0, 3.0, 1.0].map(|c| c + offset);
        assert_eq!(l_tilde(&c, &y).unwrap(), 7.0 / 4.0);
        assert_eq!(l_tilde_min(&c, &y).unwrap().value, 7.0 / 4.0);
    }

    #[test]
    fn extreme_sizes_give_numbers_or_refusals() {
        let y = [true, false, false, true];
        for c in [[1e280, -1e280, 0.0, 5e-324], [5e-324, 0.0, 1e-310, 2e-310]] {
            let b = bound(&c, &y).unwrap();
            assert!(b.l_tilde.is_finite() && b.svm_objective.is_finite());
            assert!(b.risk_lower <= b.auc_risk && b.auc_risk <= b.risk_upper);
            assert!(b.alpha_lower.is_none_or(f64::is_finite));
            assert!(b.alpha_upper.is_none_or(f64::is_finite));
        }
        let refused = bound(&[1e308, -1e308, 0.0, 1.0], &y);
        assert!(matches!(refused, Err(Error::NotFinite { row: 0, .. })));
        assert!(matches!(
            l_tilde_at(&[0.0; 4], &y, f64::NAN),
            Err(Error::Parameter { .. })
        ));
    }

    #[test]
    fn top_k_at_its_ends() {
        let z = [3.0, 1.0, 2.0];
        let all = top_k(&z, 3).unwrap();
        assert_eq!((all.value, all.lambda), (6.0, [f64::NEG_INFINITY, 1.0]));
        let one = top_k(&z, 1).unwrap();
        assert_eq!((one.value, one.lambda), (3.0, [2.0, 3.0]));
        assert!(matches!(top_k(&z, 0), Err(Error::Parameter { .. })));
        assert!(matches!(top_k(&z, 4), Err(Error::Parameter { .. })));
    }
}
