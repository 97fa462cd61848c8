//! B-SVM-OR against every pair written out.

mod by_pairs;

use std::sync::Mutex;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::Error;
use ubauc::data::dataset::Dataset;
use ubauc::solver::svm_or::{RoundPoint, Stop, SvmOrFit, SvmOrInputs, SvmOrParams, fit};

use crate::read::real_data;
use by_pairs::{Problem, clarabel, large, objective, random};

fn params(c: f64, tolerance: f64) -> SvmOrParams {
    SvmOrParams {
        c,
        tolerance,
        ..Default::default()
    }
}

fn plain(data: &Dataset, c: f64, tolerance: f64) -> SvmOrFit {
    fit(data, &SvmOrInputs::default(), &params(c, tolerance)).unwrap()
}

/// The answer belongs together, and every round's bound is below the minimum found in the end.
fn sound(fit: &SvmOrFit, c: f64) {
    assert_eq!(fit.rounds, fit.trace.len());
    assert!(
        fit.dual <= fit.objective,
        "{} > {}",
        fit.dual,
        fit.objective
    );
    assert_eq!(fit.gap, (fit.objective - fit.dual) / fit.objective);
    for pair in fit.trace.windows(2) {
        // Within the tolerance P is recomputed, and what pairs at the kink cost is C times a rounding.
        let rounding = 1e-14 * pair[0].objective + 1e-15 * c;
        assert!(pair[1].dual >= pair[0].dual);
        assert!(pair[1].objective <= pair[0].objective + rounding);
        assert_eq!(pair[1].round, pair[0].round + 1);
    }
    for point in &fit.trace {
        assert!(point.dual <= fit.objective, "{point:?}");
        assert_eq!(point.gap, (point.objective - point.dual) / point.objective);
    }
}

#[test]
fn the_minimum_is_that_of_the_program_over_pairs() {
    for seed in 0..120 {
        let problem = random(seed);
        let mut rng = Pcg64::seed_from_u64(1000 + seed);
        let c = 10_f64.powf(rng.random_range(-3.0..4.0));
        let ones = vec![1.0; problem.rows[0].len()];
        let divisors: Vec<f64> = ones.iter().map(|_| rng.random_range(0.5..4.0)).collect();
        for divisors in [&ones, &divisors] {
            let given = SvmOrInputs {
                divisors: Some(divisors),
                ..Default::default()
            };
            let found = fit(&problem.dense(), &given, &params(c, 1e-7)).unwrap();
            assert_eq!(found.stop, Stop::Converged, "seed {seed}, C {c}: {found:?}");
            sound(&found, c);
            assert!(found.gap <= 1e-7);
            let pairs = problem.differences(divisors);
            // P at the weights, by the definition.
            let w: Vec<f64> = found
                .weights
                .iter()
                .zip(divisors)
                .map(|(w, r)| w * r)
                .collect();
            let here = objective(&pairs, c, &w);
            // Pairs at the kink have losses of the size of a rounding, here and there, and C times that counts.
            let rounding = 1e-14 * found.objective + 1e-15 * c;
            assert!(
                (here - found.objective).abs() <= rounding,
                "seed {seed}, C {c}: {here} {}",
                found.objective
            );
            let best = clarabel(&pairs, c, found.objective).unwrap();
            // Ours is within 1e-7 of the minimum by its own proof; Clarabel's is given room for its feasibility.
            assert!(
                (best / found.objective - 1.0).abs() < 1e-6,
                "seed {seed}, C {c}: {best} {found:?}"
            );
            assert!(
                found.dual <= best + rounding,
                "seed {seed}, C {c}: {} > {best}",
                found.dual
            );
        }
    }
}

#[test]
fn one_pair_by_hand() {
    // P = ½w² + C[1 − 2w]₊: w = min(2C, ½).
    let problem = Problem {
        rows: vec![vec![3.0], vec![1.0]],
        positive: vec![true, false],
    };
    for (c, w) in [
        (1e-3, 2e-3),
        (0.1, 0.2),
        (0.25, 0.5),
        (1.0, 0.5),
        (1e4, 0.5),
    ] {
        let found = plain(&problem.dense(), c, 1e-10);
        assert_eq!(found.stop, Stop::Converged);
        sound(&found, c);
        // P is within 1e-10 of its minimum and curves by 1 at least.
        assert!((found.weights[0] - w).abs() < 1e-4 * w, "C {c}: {found:?}");
        let least = 0.5 * w * w + c * (1.0 - 2.0 * w).max(0.0);
        assert!(
            (found.objective / least - 1.0).abs() < 1e-10,
            "C {c}: {found:?}"
        );
        assert_eq!(found.scores, [3.0 * found.weights[0], found.weights[0]]);
    }
}

#[test]
fn features_of_zeros_leave_the_weights_at_zero() {
    let problem = Problem {
        rows: vec![vec![0.0; 3]; 5],
        positive: vec![true, false, false, true, false],
    };
    for data in [problem.dense(), problem.sparse()] {
        let found = plain(&data, 7.0, 1e-12);
        assert_eq!(found.stop, Stop::Converged);
        assert_eq!((found.weights, found.objective), (vec![0.0; 3], 7.0));
    }
    // A constant feature cancels in every pair.
    let rows = vec![vec![2.5]; 5];
    let found = plain(&Problem { rows, ..problem }.dense(), 7.0, 1e-12);
    assert_eq!(found.stop, Stop::Converged);
    assert!((found.objective - 7.0).abs() < 1e-13);
}

#[test]
fn every_example_twice_changes_nothing() {
    for seed in 0..10 {
        let once = random(seed);
        let twice = Problem {
            rows: [once.rows.clone(), once.rows.clone()].concat(),
            positive: [once.positive.clone(), once.positive.clone()].concat(),
        };
        let (a, b) = (
            plain(&once.dense(), 10.0, 1e-9),
            plain(&twice.dense(), 10.0, 1e-9),
        );
        assert!(
            (a.objective / b.objective - 1.0).abs() < 2e-9,
            "seed {seed}"
        );
    }
}

#[test]
fn neither_the_order_of_rows_nor_their_storage_matters() {
    for (problem, c) in [
        (large(3000, 20, 1), 100.0),
        (large(60, 300, 2), 1.0),
        (random(3), 1e3),
    ] {
        let first = plain(&problem.dense(), c, 1e-8);
        let mut order: Vec<usize> = (0..problem.rows.len()).collect();
        order.shuffle(&mut Pcg64::seed_from_u64(5));
        let shuffled = Problem {
            rows: order.iter().map(|&i| problem.rows[i].clone()).collect(),
            positive: order.iter().map(|&i| problem.positive[i]).collect(),
        };
        for other in [problem.sparse(), shuffled.dense(), shuffled.sparse()] {
            let other = plain(&other, c, 1e-8);
            assert_eq!(other.stop, Stop::Converged);
            sound(&other, c);
            assert!((first.objective / other.objective - 1.0).abs() < 2e-8);
            // ½‖w − w*‖² ≤ P − P* for each, since P curves by 1 at least.
            let apart = first
                .weights
                .iter()
                .zip(&other.weights)
                .map(|(a, b)| (a - b).powi(2));
            let distance = apart.sum::<f64>().sqrt();
            assert!(
                distance <= 2.0 * (2.0 * 1e-8 * first.objective).sqrt(),
                "{distance}"
            );
        }
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    // More rows than columns, and more columns than rows.
    for problem in [large(20_000, 12, 3), large(500, 900, 4)] {
        let data = problem.sparse();
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| plain(&data, 50.0, 1e-5))
        };
        let one = with(1);
        assert_eq!(one.stop, Stop::Converged);
        for threads in [2, 3, 8] {
            assert_eq!(one, with(threads), "{threads} threads");
        }
    }
}

#[test]
fn rounds_are_reported_and_limited() {
    let data = large(2000, 30, 6).dense();
    let seen: Mutex<Vec<RoundPoint>> = Mutex::default();
    let progress = |point: &RoundPoint| seen.lock().unwrap().push(*point);
    let given = SvmOrInputs {
        progress: Some(&progress),
        ..Default::default()
    };
    let limited = SvmOrParams {
        max_rounds: 4,
        ..params(1e3, 1e-9)
    };
    let found = fit(&data, &given, &limited).unwrap();
    assert_eq!((found.stop, found.rounds), (Stop::MaxRounds, 4));
    sound(&found, 1e3);
    assert_eq!(*seen.lock().unwrap(), found.trace);
    let all = plain(&data, 1e3, 1e-6);
    assert_eq!(all.stop, Stop::Converged);
    assert!(all.gap <= 1e-6 && all.gap < found.gap && all.dual >= found.dual);
    assert_eq!(all.trace[3], found.trace[3]);
}

#[test]
fn what_rounding_forbids_stalls() {
    let found = plain(&large(300, 5, 7).dense(), 1e3, 1e-300);
    assert_eq!(found.stop, Stop::Stalled);
    assert!(found.gap < 1e-10, "{}", found.gap);
    sound(&found, 1e3);
}

#[test]
fn bad_parameters_are_refused_by_name() {
    let data = random(1).dense();
    let refused = |params: SvmOrParams| match fit(&data, &SvmOrInputs::default(), &params) {
        Err(Error::Parameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(params(bad, 1e-4)), "C");
        assert_eq!(refused(params(1.0, bad)), "tolerance");
    }
    let none = SvmOrParams {
        max_rounds: 0,
        ..Default::default()
    };
    assert_eq!(refused(none), "rounds");
    let given = SvmOrInputs {
        divisors: Some(&[]),
        ..Default::default()
    };
    let answer = fit(&data, &given, &SvmOrParams::default());
    assert!(matches!(answer, Err(Error::Length { .. })));
}

#[test]
fn extreme_sizes_are_fitted_or_refused() {
    for scale in [1e-300, 1e-150, 1e-8, 1.0, 1e8, 1e150, 1e300] {
        for c in [1e-300, 1e-8, 1.0, 1e8, 1e300] {
            let mut problem = random(2);
            problem.rows.iter_mut().flatten().for_each(|x| *x *= scale);
            match fit(&problem.dense(), &SvmOrInputs::default(), &params(c, 1e-4)) {
                Ok(found) => {
                    assert!(
                        found.weights.iter().all(|w| w.is_finite()),
                        "{scale:e} {c:e}"
                    );
                    assert!(found.objective.is_finite() && found.dual <= found.objective);
                }
                Err(Error::Numerical { .. }) => {
                    assert!(scale > 1e100 || c > 1e100, "{scale:e} {c:e}")
                }
                Err(other) => panic!("{scale:e} {c:e}: {other}"),
            }
        }
    }
}

#[test]
fn real_data_reach_their_gap() {
    for name in ["german/all.svm.zst", "a9a/train.svm.zst"] {
        let Some(dir) = real_data("real_data_reach_their_gap") else {
            return;
        };
        let examples = ubauc::read::read(&dir.join(name), &<_>::default()).unwrap();
        let data = examples.binary(&<_>::default()).unwrap();
        for c in [0.1, 10.0, 1000.0] {
            let found = plain(&data, c, 1e-4);
            println!(
                "{name}, C {c}: {} rounds, P {}, gap {:.1e}",
                found.rounds, found.objective, found.gap
            );
            assert_eq!(found.stop, Stop::Converged);
            assert!(found.gap <= 1e-4);
            sound(&found, c);
        }
    }
}
