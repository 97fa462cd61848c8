//! Data that hurt: no panic, no NaN, and where the tolerance is not reached the stop says so.

use ubauc::objective::ubauc::ClassWeight;
use ubauc::solver::ba_ubauc::{Fit, Stop, fit};

use super::{Soft, dense, naive, noisy, plain, sparse};

/// Numbers that are numbers; a proof that is one; with d small enough the minimum of the oracle.
fn check(soft: &Soft, found: &Fit, what: &str) {
    let numbers = found
        .weights
        .iter()
        .chain(&found.scores)
        .chain(&found.lambda);
    assert!(
        numbers.chain([&found.intercept]).all(|x| x.is_finite()),
        "{what}"
    );
    assert!(found.objective.is_finite(), "{what}");
    match found.stop {
        Stop::Converged => assert!(found.gap.unwrap() <= 1e-6 * (1.0 + 1e-6), "{what}"),
        Stop::Estimated => assert_eq!(found.gap, None, "{what}"),
        Stop::Stalled | Stop::MaxNewton => {
            assert!(
                found.gap.is_some_and(|gap| gap > 1e-6),
                "{what} {:?}",
                found.gap
            );
        }
    }
    let value = soft.objective_of(found);
    assert!(
        (value - found.objective).abs() <= 1e-8 * (value + soft.problem.beta),
        "{what}: {value}"
    );
    if soft.problem.features() <= 8 {
        let least = naive::minimise(soft);
        let gap = found.gap.unwrap_or(1e-4);
        assert!(
            found.objective <= least.objective * (1.0 + gap + 1e-9) + 1e-12,
            "{what}: {least:?}"
        );
        let above = found
            .dual
            .map_or(f64::NEG_INFINITY, |dual| dual - least.objective);
        assert!(
            above <= 1e-9 * least.objective + least.left.abs(),
            "{what}: {above:e}"
        );
    }
}

/// With every loss, dense and sparse.
fn every_loss(rows: &[Vec<f64>], positive: &[bool], what: &str) -> Vec<(Stop, String)> {
    let mut stops = Vec::new();
    for (beta, softness) in [
        (0.0, 1.0),
        (0.5, 0.05),
        (0.5, 1e-3),
        (1.0, 10.0),
        (0.0, 1e-3),
    ] {
        for (gamma, intercept) in [(1e-2, true), (1e-5, true), (1e-3, false), (0.0, true)] {
            let mut soft = plain(rows.to_vec(), positive.to_vec());
            soft.problem.beta = beta;
            soft.problem.gamma = gamma;
            soft.problem.intercept = intercept;
            soft.softness = softness;
            if beta == 0.5 {
                soft.class_weight = ClassWeight::Balanced;
            }
            for data in [dense(rows, positive), sparse(rows, positive)] {
                let what = format!("{what}: β {beta} κ {softness} γ {gamma} intercept {intercept}");
                let found = fit(&data, &soft.given(), &soft.params(1e-6)).unwrap();
                let what = format!(
                    "{what} {:?} {:?} after {}",
                    found.stop, found.gap, found.newton
                );
                if gamma > 0.0 {
                    check(&soft, &found, &what);
                    stops.push((found.stop, what));
                } else {
                    assert!(found.objective.is_finite(), "{what}");
                    assert!(found.weights.iter().all(|w| w.is_finite()), "{what}");
                }
            }
        }
    }
    stops
}

fn all_converged(stops: &[(Stop, String)]) {
    let others: Vec<_> = stops
        .iter()
        .filter(|(stop, _)| *stop != Stop::Converged)
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn few_rows_and_many_features() {
    let (rows, positive) = noisy(12, 500, 0.5, 31);
    all_converged(&every_loss(&rows, &positive, "wide"));
}

#[test]
fn collinear() {
    let (mut rows, positive) = noisy(60, 3, 1.0, 32);
    rows.iter_mut()
        .for_each(|x| x.extend([x[0], x[0] - x[1], 3.0 * x[2]]));
    all_converged(&every_loss(&rows, &positive, "collinear"));
}

#[test]
fn binary_and_counts() {
    let (rows, positive) = noisy(80, 6, 1.0, 33);
    let mut binary = rows.clone();
    binary
        .iter_mut()
        .flatten()
        .for_each(|x| *x = f64::from(u8::from(*x > 0.2)));
    all_converged(&every_loss(&binary, &positive, "binary"));
    let mut counts = rows;
    counts
        .iter_mut()
        .flatten()
        .for_each(|x| *x = (8.0 * *x).exp().floor());
    all_converged(&every_loss(&counts, &positive, "counts"));
}

#[test]
fn wild_scales() {
    let (mut rows, positive) = noisy(60, 5, 1.0, 34);
    for row in &mut rows {
        let sizes = [1e-8, 1e-4, 1.0, 1e4, 1e8];
        row.iter_mut().zip(sizes).for_each(|(x, size)| *x *= size);
    }
    every_loss(&rows, &positive, "wild");
}

#[test]
fn one_positive_one_negative() {
    let (rows, mut positive) = noisy(40, 3, 1.0, 35);
    positive.fill(false);
    positive[7] = true;
    all_converged(&every_loss(&rows, &positive, "one positive"));
    positive.iter_mut().for_each(|p| *p = !*p);
    all_converged(&every_loss(&rows, &positive, "one negative"));
    let two = [rows[0].clone(), rows[1].clone()];
    all_converged(&every_loss(&two, &[true, false], "two rows"));
    let twins = [rows[0].clone(), rows[0].clone()];
    all_converged(&every_loss(&twins, &[true, false], "the same row twice"));
}

#[test]
fn constant_columns_and_empty_rows() {
    let (mut rows, positive) = noisy(50, 4, 0.4, 36);
    rows.iter_mut().for_each(|x| x[1] = 7.0);
    all_converged(&every_loss(&rows, &positive, "constant"));
    rows.iter_mut().step_by(3).for_each(|x| x.fill(0.0));
    all_converged(&every_loss(&rows, &positive, "empty rows"));
    rows.iter_mut().for_each(|x| x.fill(0.0));
    all_converged(&every_loss(&rows, &positive, "all empty"));
}

/// P is the loss of the best λ alone.
#[test]
fn no_features_at_all() {
    let rows = vec![Vec::new(); 9];
    let positive: Vec<bool> = (0..9).map(|i| i % 3 == 0).collect();
    all_converged(&every_loss(&rows, &positive, "no features"));
    let mut soft = plain(rows, positive);
    soft.problem.beta = 0.0;
    soft.softness = 2.0;
    let found = soft.fit(1e-6);
    let entropy = (3.0_f64.ln() + 2.0 * 1.5_f64.ln()) / 3.0;
    assert!((found.objective - 2.0 * entropy).abs() < 1e-12);
    // e^{λ/κ} is the odds of the negatives.
    assert!((found.lambda[0] - 2.0 * 2.0_f64.ln()).abs() < 1e-12);
}

/// κ so small or so large that e^{t/κ} is 0 or 1.
#[test]
fn extreme_softness() {
    let (rows, positive) = noisy(60, 3, 1.0, 37);
    for softness in [1e-300, 1e-100, 1e-12, 1e-8, 1e8, 1e100, 1e300] {
        for beta in [0.0, 0.5] {
            let mut soft = plain(rows.clone(), positive.clone());
            soft.softness = softness;
            soft.problem.beta = beta;
            let found = soft.fit(1e-6);
            let what = format!(
                "κ {softness} β {beta}: {:?} {:?} after {}",
                found.stop, found.gap, found.newton
            );
            assert!(
                found.objective.is_finite() && found.weights.iter().all(|w| w.is_finite()),
                "{what}"
            );
            if found.stop == Stop::Converged {
                assert!(found.gap.unwrap() <= 1.1e-6, "{what}");
            }
            if softness < 1.0 && beta > 0.0 {
                let mut hinge = soft.clone();
                hinge.softness = 0.0;
                let hinge = hinge.fit(1e-9);
                if let Some(dual) = found.dual {
                    assert!(dual <= hinge.objective * (1.0 + 1e-9) + softness, "{what}");
                }
                assert!(found.objective >= hinge.objective * (1.0 - 1e-9), "{what}");
            }
        }
    }
}

/// Whatever a row of weight 0 holds: it is scored and otherwise ignored.
#[test]
fn a_row_that_is_held_out_does_not_matter() {
    for (softness, beta) in [(0.0, 0.5), (0.1, 0.5), (1.0, 0.0)] {
        for intercept in [true, false] {
            let (rows, positive) = noisy(60, 3, 1.0, 38);
            let mut soft = plain(rows, positive);
            soft.softness = softness;
            soft.problem.beta = beta;
            soft.problem.intercept = intercept;
            let alone = soft.fit(1e-9);
            soft.problem.rows.push(Vec::new());
            soft.problem.positive.push(true);
            let mut weights = vec![1.0; 60];
            weights.push(0.0);
            soft.problem.weights = Some(weights);
            for x in [1.0, 1e100, 1e160, 1e300] {
                soft.problem.rows[60] = vec![x, -x, 0.5 * x];
                let found = soft.fit(1e-9);
                let what = format!("κ {softness} β {beta} {intercept} {x:e} {:?}", found.stop);
                assert_eq!(found.stop, Stop::Converged, "{what}");
                let apart = (found.objective - alone.objective).abs();
                assert!(apart <= 1e-9 * alone.objective, "{what}: {apart:e}");
                let score = x * (found.weights[0] - found.weights[1] + 0.5 * found.weights[2]);
                let off = (found.scores[60] - score).abs();
                assert!(off <= 1e-12 * (1.0 + score.abs()), "{what}: {off:e}");
            }
        }
    }
}
