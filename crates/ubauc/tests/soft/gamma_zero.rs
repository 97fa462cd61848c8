//! Without a ridge: proved by a factor of the least squares, or not at all.

use ubauc::solver::ba_ubauc::Stop;

use super::{Soft, naive, noisy, plain};

fn without_ridge(mut soft: Soft) -> Soft {
    soft.problem.gamma = 0.0;
    soft
}

#[test]
fn least_squares_of_full_rank_prove_it() {
    for seed in 0..30 {
        for (softness, intercept) in [(1e-2, true), (0.3, false), (3.0, true)] {
            let (rows, positive) = noisy(80, 4, 1.0, seed);
            let mut soft = without_ridge(plain(rows, positive));
            soft.softness = softness;
            soft.problem.intercept = intercept;
            let found = soft.fit(1e-9);
            let what = format!("seed {seed} κ {softness} {:?} {:?}", found.stop, found.gap);
            assert_eq!(found.stop, Stop::Converged, "{what}");
            let least = naive::minimise(&soft).objective;
            assert!(found.dual.unwrap() <= least * (1.0 + 1e-12), "{what}");
            assert!(found.objective <= least * (1.0 + 1e-9), "{what}");
        }
    }
}

#[test]
fn where_features_depend_on_each_other_nothing_is_proved() {
    let (mut rows, positive) = noisy(80, 3, 1.0, 3);
    let least = naive::minimise(&without_ridge(plain(rows.clone(), positive.clone())));
    rows.iter_mut().for_each(|x| x.push(x[0] + 2.0 * x[1]));
    let found = without_ridge(plain(rows, positive)).fit(1e-9);
    assert_eq!(found.stop, Stop::Estimated, "{:?}", found.trace);
    assert_eq!((found.dual, found.gap), (None, None));
    assert!((found.objective - least.objective).abs() <= 1e-9 * least.objective);
}

#[test]
fn logistic_regression_without_a_ridge_is_found_and_not_proved() {
    let (rows, positive) = noisy(80, 3, 1.0, 4);
    let mut soft = without_ridge(plain(rows, positive));
    soft.problem.beta = 0.0;
    soft.softness = 1.0;
    let found = soft.fit(1e-9);
    assert_eq!(found.stop, Stop::Estimated);
    assert_eq!((found.dual, found.gap), (None, None));
    assert!(found.trace.iter().all(|point| point.gap.is_none()));
    let least = naive::minimise(&soft);
    assert!((found.objective - least.objective).abs() <= 1e-9 * least.objective);
}

/// Nothing is least: P goes to 0 as the weights grow.
#[test]
fn separable_rows_without_a_ridge_end() {
    let mut soft = without_ridge(plain(vec![vec![-1.0], vec![1.0]], vec![false, true]));
    soft.problem.beta = 0.0;
    soft.softness = 1.0;
    let found = soft.fit(1e-6);
    assert!(
        found.objective < 1e-10 && found.weights[0].is_finite(),
        "{found:?}"
    );
    assert_ne!(found.stop, Stop::Converged);
    assert_eq!(found.dual, None);
    // The least squares hold the weights.
    soft.problem.beta = 0.5;
    let found = soft.fit(1e-9);
    assert_eq!(found.stop, Stop::Converged);
    let least = naive::minimise(&soft).objective;
    assert!((found.objective - least).abs() <= 1e-8 * least);
}

/// More features than rows: a factor of the least squares cannot be.
#[test]
fn more_features_than_rows_are_not_proved() {
    for d in [40, 400] {
        let (rows, positive) = noisy(20, d, 1.0, 5);
        let found = without_ridge(plain(rows, positive)).fit(1e-6);
        assert_ne!(found.stop, Stop::Converged, "{d}");
        assert_eq!(found.dual, None, "{d}");
        assert!(found.objective.is_finite() && found.weights.iter().all(|w| w.is_finite()));
    }
}
