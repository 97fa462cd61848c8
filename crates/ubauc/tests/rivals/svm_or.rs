//! B-SVM-OR against every pair written out, as one quadratic program for Clarabel.

use std::sync::Mutex;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT,
};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::Error;
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Binary;
use ubauc::data::rows::{Csr, Dense, Rows};
use ubauc::solver::svm_or::{RoundPoint, Stop, SvmOrFit, SvmOrGiven, SvmOrParams, fit};

use crate::read::real_data;

#[derive(Clone)]
struct Problem {
    rows: Vec<Vec<f64>>,
    positive: Vec<bool>,
}

impl Problem {
    fn dataset(&self, rows: Rows) -> Dataset {
        let n_pos = self.positive.iter().filter(|p| **p).count();
        let labels = Binary {
            positive: self.positive.clone(),
            n_pos,
            n_neg: self.positive.len() - n_pos,
            names: ["-1".into(), "1".into()],
        };
        Dataset::new(rows, labels, Vec::new()).unwrap()
    }

    fn dense(&self) -> Dataset {
        let (n, d) = (self.rows.len(), self.rows[0].len());
        self.dataset(Rows::Dense(Dense::new(self.rows.concat(), n, d).unwrap()))
    }

    fn sparse(&self) -> Dataset {
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in &self.rows {
            for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                indices.push(j as u32);
                values.push(x);
            }
            indptr.push(indices.len());
        }
        let csr = Csr::new(indptr, indices, values, self.rows[0].len()).unwrap();
        self.dataset(Rows::Csr(csr))
    }

    /// x_i − x_j of every pair, features divided.
    fn differences(&self, divisors: &[f64]) -> Vec<Vec<f64>> {
        let class = |p| (0..self.rows.len()).filter(move |&i| self.positive[i] == p);
        let pairs = class(true).flat_map(|i| class(false).map(move |j| (i, j)));
        let difference = |(i, j): (usize, usize)| {
            let columns = self.rows[i].iter().zip(&self.rows[j]).zip(divisors);
            columns.map(|((a, b), r)| (a - b) / r).collect()
        };
        pairs.map(difference).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// P by the definition.
fn objective(pairs: &[Vec<f64>], c: f64, w: &[f64]) -> f64 {
    let losses = pairs.iter().map(|x| (1.0 - dot(x, w)).max(0.0));
    0.5 * dot(w, w) + c * losses.sum::<f64>() / pairs.len() as f64
}

/// P at Clarabel's minimum of  ½‖w‖² + C/M Σ t,  t ≥ 1 − x·w, t ≥ 0, all over `size`: an upper bound of the minimum,
/// whatever Clarabel did. `size` is to be near P, since tolerances are absolute below 1; w is in units of its root.
fn clarabel(pairs: &[Vec<f64>], c: f64, size: f64) -> Option<f64> {
    let (m, d) = (pairs.len(), pairs[0].len());
    let unit = size.sqrt();
    let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut push = |row, column, value: f64| {
        if value != 0.0 {
            rows.push(row);
            columns.push(column);
            values.push(value);
        }
    };
    for (k, pair) in pairs.iter().enumerate() {
        // −x·w − t ≤ −1 and −t ≤ 0.
        pair.iter()
            .enumerate()
            .for_each(|(j, x)| push(k, j, -x * unit));
        push(k, d + k, -1.0);
        push(m + k, d + k, -1.0);
    }
    let constraints = CscMatrix::new_from_triplets(2 * m, d + m, rows, columns, values);
    let diagonal: Vec<usize> = (0..d).collect();
    let quadratic =
        CscMatrix::new_from_triplets(d + m, d + m, diagonal.clone(), diagonal, vec![1.0; d]);
    let linear: Vec<f64> = (0..d + m)
        .map(|k| if k < d { 0.0 } else { c / m as f64 / size })
        .collect();
    let right: Vec<f64> = (0..2 * m).map(|k| if k < m { -1.0 } else { 0.0 }).collect();
    let cones = [SupportedConeT::NonnegativeConeT(2 * m)];
    [1e-11, 1e-10, 1e-9].iter().find_map(|&tolerance| {
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .tol_gap_abs(tolerance)
            .tol_gap_rel(tolerance)
            .tol_feas(tolerance)
            .build()
            .unwrap();
        let mut solver =
            DefaultSolver::new(&quadratic, &linear, &constraints, &right, &cones, settings)
                .unwrap();
        solver.solve();
        let w: Vec<f64> = solver.solution.x[..d].iter().map(|x| x * unit).collect();
        (solver.solution.status == SolverStatus::Solved).then(|| objective(pairs, c, &w))
    })
}

/// 4 to 40 examples of 1 to 8 features; one in four each is separable, has small integers for values, has rows twice, or
/// has one positive.
fn random(seed: u64) -> Problem {
    let mut rng = Pcg64::seed_from_u64(seed);
    let [separable, integers, duplicates, one] = std::array::from_fn(|_| rng.random_bool(0.25));
    let (n, d) = (rng.random_range(4..=40), rng.random_range(1..=8));
    let mut positive: Vec<bool> = (0..n).map(|_| !one && rng.random_bool(0.4)).collect();
    (positive[0], positive[1]) = (true, false);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (i, &p) in positive.iter().enumerate() {
        let towards = if p { 0.5 } else { -0.5 } * if separable { 8.0 } else { 1.0 };
        let mut row: Vec<f64> = (0..d).map(|_| rng.random_range(-2.0..2.0)).collect();
        row[0] += towards;
        if integers {
            row.iter_mut().for_each(|x| *x = x.round());
        }
        if duplicates && i > 1 && rng.random_bool(0.3) {
            row = rows[rng.random_range(0..i)].clone();
        }
        rows.push(row);
    }
    Problem { rows, positive }
}

/// Many examples, of which a third of the values are 0.
fn large(n: usize, d: usize, seed: u64) -> Problem {
    let mut rng = Pcg64::seed_from_u64(seed);
    let positive: Vec<bool> = (0..n).map(|i| i % 7 == 0).collect();
    let row = |p: &bool| -> Vec<f64> {
        let mean = if *p { 0.2 } else { 0.0 };
        let value = |_| {
            if rng.random_bool(0.3) {
                0.0
            } else {
                rng.random_range(-1.0..1.0) + mean
            }
        };
        (0..d).map(value).collect()
    };
    let rows = positive.iter().map(row).collect();
    Problem { rows, positive }
}

fn params(c: f64, tolerance: f64) -> SvmOrParams {
    SvmOrParams {
        c,
        tolerance,
        ..Default::default()
    }
}

fn plain(data: &Dataset, c: f64, tolerance: f64) -> SvmOrFit {
    fit(data, &SvmOrGiven::default(), &params(c, tolerance)).unwrap()
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
        // Within the tolerance P is computed anew, and what pairs at the kink cost is C times a rounding.
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
            let given = SvmOrGiven {
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
fn rounds_are_told_and_limited() {
    let data = large(2000, 30, 6).dense();
    let told: Mutex<Vec<RoundPoint>> = Mutex::default();
    let progress = |point: &RoundPoint| told.lock().unwrap().push(*point);
    let given = SvmOrGiven {
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
    assert_eq!(*told.lock().unwrap(), found.trace);
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
    let refused = |params: SvmOrParams| match fit(&data, &SvmOrGiven::default(), &params) {
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
    let given = SvmOrGiven {
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
            match fit(&problem.dense(), &SvmOrGiven::default(), &params(c, 1e-4)) {
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
