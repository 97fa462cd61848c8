//! The minimum, against both oracles.

use ubauc::objective::ubauc::ClassWeight;
use ubauc::solver::ba_ubauc::{Stop, fit};

use super::{Soft, cones, naive, sparse};

const PROBLEMS: u64 = 200;

/// Every kind is among them.
#[test]
fn random_problems_are_of_every_kind() {
    let all: Vec<Soft> = (0..PROBLEMS).map(Soft::random).collect();
    let kinds: [fn(&Soft) -> bool; 12] = [
        |s| s.problem.beta == 0.0,
        |s| s.problem.beta > 0.0,
        |s| s.softness < 1e-2,
        |s| s.softness > 1.0,
        |s| s.problem.gamma < 1e-4,
        |s| s.problem.gamma > 1.0,
        |s| s.problem.intercept,
        |s| !s.problem.intercept,
        |s| s.class_weight == ClassWeight::Balanced,
        |s| s.problem.least_squares == crate::oracle::LeastSquares::Balanced,
        |s| s.problem.weights.iter().flatten().any(|s| *s == 0.0),
        |s| s.problem.positive.iter().filter(|p| **p).count() == 1,
    ];
    for (kind, has) in kinds.iter().enumerate() {
        let found = all.iter().filter(|s| has(s)).count();
        assert!(found >= 15, "kind {kind}: {found}");
    }
}

#[test]
fn the_objective_is_that_of_both_oracles() {
    let (mut compared, mut uncertified) = (0, Vec::new());
    for seed in 0..PROBLEMS {
        let soft = Soft::random(seed);
        let found = soft.fit(1e-9);
        let what = || {
            let (beta, gamma) = (soft.problem.beta, soft.problem.gamma);
            let stop = (found.stop, found.gap, found.newton);
            format!(
                "seed {seed}: β {beta} γ {gamma} κ {} {stop:?}",
                soft.softness
            )
        };
        // What is reported is the objective by its definition.
        let value = soft.objective_of(&found);
        let off = (found.objective - value).abs();
        assert!(
            off <= 1e-11 * (1.0 + soft.problem.beta),
            "{}: {off:e}",
            what()
        );
        let least = naive::minimise(&soft);
        let above = found.objective - least.objective;
        let allowed = 1e-9 * least.objective + 1e-13;
        assert!(above <= allowed, "{}: {above:e} above Newton's", what());
        // Some minima are below 1e-11, and rounding of the least squares beside them is not.
        if found.stop != Stop::Converged && found.gap.unwrap() * found.objective > 1e-15 {
            uncertified.push(what());
        }
        if let Some(theirs) = cones::solve(&soft) {
            compared += 1;
            let above = found.objective - theirs;
            assert!(above <= allowed, "{}: {above:e} above Clarabel's", what());
            // Its tolerances are absolute for values below 1.
            let allowed = 1e-7 * (1.0 + theirs);
            assert!(
                -above <= allowed,
                "{}: {above:e} from Clarabel's {theirs}",
                what()
            );
        }
    }
    assert!(compared >= 180, "{compared} compared");
    assert!(uncertified.is_empty(), "{uncertified:#?}");
}

#[test]
fn the_weights_are_those_of_the_oracle() {
    for seed in 1000..1100 {
        let soft = Soft::random(seed);
        let found = soft.fit(1e-13);
        let least = naive::minimise(&soft);
        // P is γ-strongly convex in w: √(2(P − min)/γ) at most.
        let apart = |a: &[f64], b: &[f64]| -> f64 {
            a.iter()
                .zip(b)
                .map(|(a, b)| (a - b).powi(2))
                .sum::<f64>()
                .sqrt()
        };
        let above = (found.objective - least.objective).abs() + least.left.abs();
        let room = 2.0 * (2.0 * (above + 1e-13 * least.objective) / soft.problem.gamma).sqrt();
        let off = apart(&found.weights, &least.w);
        assert!(off <= room + 1e-9, "seed {seed}: {off:e} {room:e}");
        if soft.has_b() {
            // b is the weighted mean of y − w·x.
            let problem = soft.weighted();
            let v = problem.square_weights();
            let scores = problem.scores(&found.weights, 0.0);
            let residual = |i: usize| v[i] * (problem.sign(i) - scores[i]);
            let mean = (0..v.len()).map(residual).sum::<f64>() / v.iter().sum::<f64>();
            let size = scores.iter().fold(1.0_f64, |a, z| a.max(z.abs()));
            assert!((mean - found.intercept).abs() <= 1e-9 * size, "seed {seed}");
        }
    }
}

#[test]
fn sparse_rows_and_another_order_change_nothing_that_counts() {
    for seed in 400..440 {
        let soft = Soft::random(seed);
        let dense = soft.fit(1e-10);
        let data = sparse(&soft.problem.rows, &soft.problem.positive);
        let sparse = fit(&data, &soft.given(), &soft.params(1e-10)).unwrap();
        let mut turned = soft.clone();
        turned.problem.rows.reverse();
        turned.problem.positive.reverse();
        turned.problem.weights.iter_mut().for_each(|s| s.reverse());
        for other in [&sparse, &turned.fit(1e-10)] {
            let apart = (dense.objective - other.objective).abs();
            assert!(
                apart <= 1e-9 * dense.objective + 1e-13,
                "seed {seed}: {apart:e}"
            );
        }
    }
}

/// Weights of 0, 1, 2, 3 are copies, with the class weights of the copies.
#[test]
fn weights_are_copies() {
    for seed in 500..540 {
        let mut soft = Soft::random(seed);
        let n = soft.problem.rows.len();
        let mut copies: Vec<usize> = (0..n).map(|i| (i * 7 + 3) % 4).collect();
        for class in [true, false] {
            let first = soft.problem.positive.iter().position(|p| *p == class);
            copies[first.unwrap()] = 2;
        }
        soft.problem.weights = Some(copies.iter().map(|c| *c as f64).collect());
        let mut copied = soft.clone();
        copied.problem.weights = None;
        let repeated = |i: usize| std::iter::repeat_n(i, copies[i]);
        let order: Vec<usize> = (0..n).flat_map(repeated).collect();
        copied.problem.rows = order
            .iter()
            .map(|&i| soft.problem.rows[i].clone())
            .collect();
        copied.problem.positive = order.iter().map(|&i| soft.problem.positive[i]).collect();
        let (a, b) = (soft.fit(1e-11), copied.fit(1e-11));
        let apart = (a.objective - b.objective).abs();
        assert!(
            apart <= 1e-10 * a.objective + 1e-14,
            "seed {seed}: {apart:e}"
        );
    }
}

/// γ‖w‖² is of the divided features.
#[test]
fn divisors_divide() {
    for seed in 600..630 {
        let soft = Soft::random(seed);
        let divisors: Vec<f64> = (0..soft.problem.features())
            .map(|j| [0.5, 3.0, 1.0, 20.0][j % 4])
            .collect();
        let mut divided = soft.clone();
        for row in &mut divided.problem.rows {
            row.iter_mut().zip(&divisors).for_each(|(x, by)| *x /= by);
        }
        let data = super::dense(&soft.problem.rows, &soft.problem.positive);
        let mut given = soft.given();
        given.divisors = Some(&divisors);
        let a = fit(&data, &given, &soft.params(1e-12)).unwrap();
        let b = divided.fit(1e-12);
        let apart = (a.objective - b.objective).abs();
        assert!(
            apart <= 1e-10 * a.objective + 1e-14,
            "seed {seed}: {apart:e}"
        );
        // For raw features again.
        let mut scores = a.scores.iter().zip(&b.scores);
        let size = b.scores.iter().fold(1.0_f64, |a, z| a.max(z.abs()));
        let room = 2.0 * (2.0 * 1e-11 * a.objective / soft.problem.gamma).sqrt();
        let widest = divided
            .problem
            .rows
            .iter()
            .map(|x| x.iter().map(|x| x * x).sum::<f64>().sqrt());
        let widest = widest.fold(1.0, f64::max);
        assert!(
            scores.all(|(a, b)| (a - b).abs() <= room * widest + 1e-9 * size),
            "seed {seed}"
        );
    }
}
