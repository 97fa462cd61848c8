//! E1, E2, E6, E11: the bound itself. Each test fails if the printed version is right.

use rand::RngExt;
use ubauc::objective::auc_risk::auc_risk;
use ubauc::objective::svm::svm_objective;
use ubauc::objective::univariate::{l_tilde, l_tilde_at, l_tilde_min};

use super::cases::{close, counts, generator, hinge_min, normal, sign, sorted};

/// λ between the order statistics N⁻ and N⁻ + 1; the paper prints N⁺ and N⁺ + 1.
#[test]
fn e01_lambda_uses_n_minus() {
    let mut random = generator(1);
    let (cases, mut printed_attains) = (2000, 0);
    for _ in 0..cases {
        let n = random.random_range(5..40);
        let scores: Vec<f64> = (0..n).map(|_| random.random()).collect();
        let n_pos = random.random_range(1..n);
        let positive: Vec<bool> = (0..n).map(|i| i < n_pos).collect();
        let least = hinge_min(&scores, &positive);
        let pairs = (n_pos * (n - n_pos)) as f64;
        let attains = |lambda: f64| {
            close(
                l_tilde_at(&scores, &positive, lambda).unwrap() * pairs,
                least,
                1e-12,
            )
        };

        let all = sorted(&scores);
        let ours = l_tilde_min(&scores, &positive).unwrap().lambda;
        assert_eq!(ours, [all[n - n_pos - 1], all[n - n_pos]]);
        assert!(attains(ours[0]) && attains(0.5 * (ours[0] + ours[1])) && attains(ours[1]));
        // The printed midpoint, from the batch method; 0-based.
        printed_attains += usize::from(attains(0.5 * (all[n_pos - 1] + all[n_pos])));
    }
    assert_eq!((printed_attains, cases), (62, 2000)); // as docs/paper.md says
}

/// The constraint of the batch method is t_i ≥ y_i(λ − w·x_i); printed is t_i ≤ y_i(λ − w·x_i), t_i ≥ 0,
/// which asks every example to be on the wrong side of λ.
#[test]
fn e02_epigraph_constraint_points_up() {
    let (lambda, beta) = (0.5, 0.5);
    let rows = [(2.0, true), (-1.0, false)];
    let rest = |w: f64| -> f64 {
        rows.iter()
            .map(|&(x, p)| beta / 2.0 * (1.0 - sign(p) * w * x).powi(2))
            .sum()
    };
    let margin = |w: f64, x: f64, p: bool| sign(p) * (lambda - w * x);
    // For a given w, the best t of each program; None if there is none.
    let right = |w: f64| {
        Some(
            rows.iter()
                .map(|&(x, p)| margin(w, x, p).max(0.0))
                .sum::<f64>(),
        )
    };
    let printed = |w: f64| {
        rows.iter()
            .all(|&(x, p)| margin(w, x, p) >= 0.0)
            .then_some(0.0)
    };

    let best = |t: &dyn Fn(f64) -> Option<f64>| {
        let grid = (-4000..=4000).map(|k| f64::from(k) / 1000.0);
        let feasible = grid.filter_map(|w| t(w).map(|t| (w, t + rest(w))));
        feasible
            .reduce(|a, b| if b.1 < a.1 { b } else { a })
            .expect("some w is feasible")
            .0
    };
    // Without the hinge both examples are right for w > 1/4, and 3/5 is the least-squares solution.
    assert_eq!(best(&right), 0.6);
    assert_eq!(best(&printed), -0.5);
    let risk = |w: f64| auc_risk(&[2.0 * w, -w], &[true, false]).unwrap();
    assert_eq!((risk(best(&right)), risk(best(&printed))), (0.0, 1.0));
}

/// Eq. (11) needs y(λ − c). On normal scores its printed form promises a tiny risk for a ranking that
/// is nearly all wrong.
#[test]
fn e06_population_form_needs_lambda_minus_c() {
    let mut random = generator(6);
    let n = 4000;
    let positive: Vec<bool> = (0..n).map(|i| i % 2 == 0).collect();
    // Positives N(−2, 1), negatives N(2, 1): the density has its maximum near ±2, below 1/(2√(2π))
    // plus the other class's share there.
    let scores: Vec<f64> = positive
        .iter()
        .map(|&p| normal(&mut random) - 2.0 * sign(p))
        .collect();
    let alpha = 0.5 * (1.0 + (-8.0_f64).exp()) / std::f64::consts::TAU.sqrt();
    let risk = auc_risk(&scores, &positive).unwrap();
    assert!(risk > 0.99);

    let eq11 = |scores: &[f64], positive: &[bool]| {
        alpha / 0.25 * hinge_min(scores, positive) / f64::from(n)
    };
    let right = eq11(&scores, &positive);
    // y(c − λ) is y(λ − c) with the classes exchanged.
    let exchanged: Vec<bool> = positive.iter().map(|p| !p).collect();
    let printed = eq11(&scores, &exchanged);
    let shown = format!("risk {risk:.3}, right {right:.2}, printed {printed:.3}");
    assert_eq!(shown, "risk 0.997, right 1.61, printed 0.008"); // as docs/paper.md says
    assert!(right >= risk && printed < risk);
}

/// min_λ Σ_i [y_i(λ − c_i)]₊ is N⁺N⁻L̃ and not L̃: the last line of the paper's SVM chain.
#[test]
fn e11_svm_chain_needs_its_factor() {
    let scores = [7.0, 0.0, 3.0, 1.0, 2.0];
    let positive = [false, true, true, false, false];
    let (n_pos, n_neg) = counts(&positive);
    let pairs = (n_pos * n_neg) as f64;
    let l = l_tilde(&scores, &positive).unwrap();
    assert!(close(hinge_min(&scores, &positive), pairs * l, 1e-15));
    assert!(!close(hinge_min(&scores, &positive), l, 0.5));
    // On one scale: pushed apart by the margin, the chain is an equality up to the margin's cost.
    let svm = svm_objective(&scores, &positive).unwrap().value;
    assert!(svm >= l && svm <= l + scores.len() as f64 / pairs);
}
