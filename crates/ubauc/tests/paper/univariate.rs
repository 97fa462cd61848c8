//! Eq. (3)–(5), Lemma 1, Lemma 4, Theorem 1, the margin form, Eq. (11).

use proptest::collection::vec;
use proptest::prelude::*;
use ubauc::objective::auc_risk::auc_risk;
use ubauc::objective::population::population_estimate;
use ubauc::objective::svm::svm_objective;
use ubauc::objective::univariate::{bound, l_tilde, l_tilde_at, l_tilde_min, top_k};

use super::cases::{close, counts, hinge_min, sign, sorted, with_ties, without_ties};

proptest! {
    #[test]
    fn lemma1_the_top_scores_dominate_the_positives((scores, positive) in with_ties()) {
        let all = sorted(&scores);
        let of_positives: Vec<f64> =
            scores.iter().zip(&positive).filter(|&(_, &p)| p).map(|(&c, _)| c).collect();
        let (n_pos, n_neg) = counts(&positive);
        let of_positives = sorted(&of_positives);
        for i in 0..n_pos {
            prop_assert!(all[n_neg + i] >= of_positives[i]);
        }
        // Summed, Eq. (3). On this grid every sum is exact.
        let pairs = (n_pos * n_neg) as f64;
        let eq3 = (all[n_neg..].iter().sum::<f64>() - of_positives.iter().sum::<f64>()) / pairs;
        prop_assert!(close(l_tilde(&scores, &positive).unwrap(), eq3, 1e-15));
        prop_assert!(l_tilde(&scores, &positive).unwrap() >= 0.0);
    }

    #[test]
    fn eq04_top_k(z in vec((-8..=8_i32).prop_map(f64::from), 1..30), k in 0..30_usize) {
        let k = 1 + k % z.len();
        let minimum = top_k(&z, k).unwrap();
        let by_sorting: f64 = sorted(&z)[z.len() - k..].iter().sum();
        prop_assert_eq!(minimum.value, by_sorting);
        // Lemma 4: attained on the whole closed interval, and nowhere else.
        let at = |lambda: f64| {
            k as f64 * lambda + z.iter().map(|z| (z - lambda).max(0.0)).sum::<f64>()
        };
        let [low, high] = minimum.lambda;
        let low_end = low.max(high - 1.0);
        for lambda in [low_end, 0.5 * (low_end + high), high] {
            prop_assert_eq!(at(lambda), minimum.value);
        }
        prop_assert!(at(high + 0.25) > minimum.value);
        prop_assert!(low.is_infinite() || at(low - 0.25) > minimum.value);
    }

    #[test]
    fn eq05_equals_eq03((scores, positive) in prop_oneof![with_ties(), without_ties()]) {
        let eq3 = l_tilde(&scores, &positive).unwrap();
        let eq5 = l_tilde_min(&scores, &positive).unwrap();
        // Terms of one sign, each rounded once or twice.
        prop_assert!(close(eq3, eq5.value, 1e-15), "{} {}", eq3, eq5.value);
        let (n_pos, n_neg) = counts(&positive);
        let by_kinks = hinge_min(&scores, &positive) / (n_pos * n_neg) as f64;
        prop_assert!(close(eq3, by_kinks, 1e-14));
        let eq4 = top_k(&scores, n_pos).unwrap();
        prop_assert_eq!(eq4.lambda, eq5.lambda);
        for lambda in eq5.lambda {
            prop_assert!(close(l_tilde_at(&scores, &positive, lambda).unwrap(), eq3, 1e-14));
        }
    }

    #[test]
    fn theorem1_bounds_auc_risk((scores, positive) in without_ties()) {
        let b = bound(&scores, &positive).unwrap();
        let (low, high) = (b.alpha_lower.unwrap(), b.alpha_upper.unwrap());
        prop_assert_eq!(b.auc_risk, auc_risk(&scores, &positive).unwrap());
        prop_assert!(low * b.l_tilde <= b.auc_risk * (1.0 + 1e-14));
        prop_assert!(high * b.l_tilde >= b.auc_risk * (1.0 - 1e-14));
        prop_assert!(b.risk_lower <= b.auc_risk && b.auc_risk <= b.risk_upper);
        prop_assert!(close(b.risk_lower, low * b.l_tilde, 1e-14));
    }

    /// With ties counted ½ the lower bound stands, and there is no upper one.
    #[test]
    fn theorem1_lower_bound_survives_ties((scores, positive) in with_ties()) {
        let b = bound(&scores, &positive).unwrap();
        let all = sorted(&scores);
        let pairs = |i: usize| all[i + 1..].iter().filter(|&&c| c == all[i]).count();
        let tied: usize = (0..all.len()).map(pairs).sum();
        prop_assert_eq!(b.tied_pairs, tied as u128);
        prop_assert_eq!(b.alpha_upper.is_none(), tied > 0);
        prop_assert_eq!(b.alpha_lower.is_none(), all[0] == all[all.len() - 1]);
        if let Some(alpha) = b.alpha_lower {
            prop_assert!(alpha * b.l_tilde <= b.auc_risk * (1.0 + 1e-14));
        }
        prop_assert!(b.risk_lower <= b.auc_risk && b.auc_risk <= b.risk_upper);
    }

    #[test]
    fn svm_chain_margin_form_is_above((scores, positive) in with_ties()) {
        let svm = svm_objective(&scores, &positive).unwrap();
        prop_assert!(svm.value >= l_tilde(&scores, &positive).unwrap());
        // Its value by the definition, at both ends of its interval and beyond.
        let (n_pos, n_neg) = counts(&positive);
        let at = |lambda: f64| {
            let terms = scores.iter().zip(&positive);
            let sum: f64 = terms.map(|(c, &p)| (1.0 + sign(p) * (lambda - c)).max(0.0)).sum();
            sum / (n_pos * n_neg) as f64
        };
        for lambda in svm.lambda {
            prop_assert!(close(at(lambda), svm.value, 1e-14));
        }
        prop_assert!(at(svm.lambda[0] - 0.25) > svm.value);
        prop_assert!(at(svm.lambda[1] + 0.25) > svm.value);
    }

    /// α′/(p(1−p)) min_λ mean [y(λ − c)]₊ = α′ N L̃.
    #[test]
    fn eq11_sample_mean_agrees((scores, positive) in without_ties()) {
        let estimate = population_estimate(&scores, &positive).unwrap().expect("no ties");
        let n = scores.len() as f64;
        let p = counts(&positive).0 as f64 / n;
        let mean = hinge_min(&scores, &positive) / n;
        let eq11 = estimate.density_max_estimate / (p * (1.0 - p)) * mean;
        prop_assert!(close(estimate.risk_upper_estimate, eq11, 1e-13));
    }
}

/// Equal gaps make Theorem 1 an equality on both sides.
#[test]
fn theorem1_is_tight_for_equal_gaps() {
    let scores: Vec<f64> = (1..=13).map(|i| 0.5 * f64::from(i)).collect();
    let positive: Vec<bool> = (1..=13)
        .map(|r| [4, 6, 7, 8, 9, 11, 13].contains(&r))
        .collect();
    let b = bound(&scores, &positive).unwrap();
    assert_eq!((b.alpha_lower, b.alpha_upper), (Some(2.0), Some(2.0)));
    assert!(close(b.risk_lower, 2.0 / 7.0, 1e-15) && close(b.risk_upper, 2.0 / 7.0, 1e-15));
    assert!(b.risk_lower <= b.auc_risk && b.auc_risk <= b.risk_upper);
}
