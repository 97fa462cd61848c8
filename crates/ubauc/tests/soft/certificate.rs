//! Every bound on the way is one, and the gap that is reported is true.

use proptest::prelude::*;
use ubauc::solver::ba_ubauc::{Fit, Stop};

use super::{Soft, naive};

/// D of every step is below the minimum, and what is left at the end is within the gap.
fn check(soft: &Soft, found: &Fit, what: &str) {
    let least = naive::minimise(soft);
    let rounding = 1e-12 * (least.objective + soft.problem.beta) + least.left.abs();
    assert!(!found.trace.is_empty(), "{what}");
    for point in &found.trace {
        let gap = point.gap.unwrap_or(f64::INFINITY);
        assert!(gap >= 0.0, "{what}: {point:?}");
        let dual = point.objective - gap * point.objective;
        assert!(
            dual <= least.objective + rounding,
            "{what}: {dual} above {} at {point:?}",
            least.objective
        );
    }
    let (dual, gap) = (found.dual.unwrap(), found.gap.unwrap());
    assert!(
        dual <= found.objective && dual <= least.objective + rounding,
        "{what}"
    );
    let above = found.objective - least.objective;
    assert!(
        above <= gap * found.objective + rounding,
        "{what}: {above:e} {gap:e}"
    );
    assert!(above >= -rounding, "{what}: {above:e}");
    assert!(
        ((found.objective - dual) / found.objective - gap).abs() <= 1e-12,
        "{what}"
    );
}

#[test]
fn every_bound_of_every_step_is_one() {
    for seed in 2000..2100 {
        for tolerance in [0.1, 1e-3, 1e-6, 1e-10] {
            let soft = Soft::random(seed);
            let found = soft.fit(tolerance);
            let what = format!("seed {seed}, tolerance {tolerance}, {:?}", found.stop);
            check(&soft, &found, &what);
            if found.stop == Stop::Converged {
                assert!(found.gap.unwrap() <= tolerance * (1.0 + 1e-6), "{what}");
            }
        }
    }
}

/// Without an intercept, a feature far from 0: λ is as coarse as the scores are large, beside a small κ.
#[test]
fn a_coarse_threshold_is_no_proof() {
    for (seed, offset) in [(1, 1e3), (2, 1e5), (3, 1e6), (4, 1e7), (5, 1e8)] {
        for softness in [1e-3, 1e-2, 1.0] {
            for beta in [0.0, 0.5] {
                let (mut rows, positive) = super::noisy(60, 3, 1.0, seed);
                rows.iter_mut().for_each(|x| x[0] += offset);
                let mut soft = super::plain(rows, positive);
                soft.softness = softness;
                soft.problem.beta = beta;
                soft.problem.intercept = false;
                let found = soft.fit(1e-9);
                assert!(found.objective.is_finite());
                // The same with the offset taken up by λ where nothing else sees it.
                let mut centred = soft.clone();
                centred.problem.rows.iter_mut().for_each(|x| x[0] -= offset);
                let what = format!(
                    "offset {offset} κ {softness} β {beta} {:?} {:?}",
                    found.stop, found.gap
                );
                if beta == 0.0 {
                    let least = naive::minimise(&centred).objective;
                    if let Some(dual) = found.dual {
                        assert!(dual <= least * (1.0 + 1e-9), "{what}: {dual} above {least}");
                    }
                } else if let Some(dual) = found.dual {
                    assert!(
                        dual <= naive::minimise(&soft).objective * (1.0 + 1e-9),
                        "{what}"
                    );
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn bounds_hold(
        values in prop::collection::vec(-3.0..3.0f64, 36),
        sample in prop::collection::vec(0.0..2.0f64, 12),
        logs in (-3.0..1.0f64, -5.0..1.0f64),
        options in (any::<bool>(), any::<bool>(), any::<bool>()),
    ) {
        let rows = values.chunks(3).map(<[f64]>::to_vec).collect();
        let positive: Vec<bool> = (0..12).map(|i| i % 3 == 0).collect();
        let mut soft = super::plain(rows, positive);
        let (intercept, squares, balanced) = options;
        soft.problem.intercept = intercept;
        soft.problem.beta = if squares { 0.5 } else { 0.0 };
        let mut sample = sample;
        sample[0] += 0.1;
        sample[1] += 0.1;
        soft.problem.weights = Some(sample);
        if balanced {
            soft.class_weight = ubauc::objective::ubauc::ClassWeight::Balanced;
        }
        soft.softness = 10_f64.powf(logs.0);
        soft.problem.gamma = 10_f64.powf(logs.1);
        let found = soft.fit(1e-9);
        check(&soft, &found, &format!("{soft:?}"));
    }
}
