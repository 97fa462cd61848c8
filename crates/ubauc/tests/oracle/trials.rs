//! The oracle on trial: it must be right before others are measured against it.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::problems::{Traits, Weights, random_traits};
use super::{
    LeastSquares, Problem, Solution, best_lambda, kkt_residual, objective, random_problem, solve,
};

const PROBLEMS: u64 = 300;

/// A point away from the solution, features measured by their size.
fn perturbed(problem: &Problem, at: &Solution, size: f64, rng: &mut Pcg64) -> Solution {
    let mut step = || size * rng.random_range(-1.0..1.0);
    let sizes = problem.feature_sizes();
    let w: Vec<f64> =
        at.w.iter()
            .zip(&sizes)
            .map(|(w, size)| w + step() / size)
            .collect();
    let b = if problem.intercept {
        at.b + step()
    } else {
        0.0
    };
    let lambda = at.lambda + step();
    Solution {
        objective: objective(problem, &w, b, lambda),
        w,
        b,
        lambda,
    }
}

/// ‖·‖ of the difference in which [`kkt_residual`] measures slopes.
fn distance(problem: &Problem, a: &Solution, b: &Solution) -> f64 {
    let sizes = problem.feature_sizes();
    let features =
        a.w.iter()
            .zip(&b.w)
            .zip(&sizes)
            .map(|((a, b), size)| (a - b) * size);
    let rest = [a.b - b.b, a.lambda - b.lambda];
    features.chain(rest).map(|x| x * x).sum::<f64>().sqrt()
}

/// Clarabel's tolerances are absolute for values below 1, and the least squares of w = 0 are β/2.
fn accuracy(problem: &Problem) -> f64 {
    1e-11 * (1.0 + problem.beta)
}

#[test]
fn random_problems_are_solved() {
    let mut worst = 0.0_f64;
    for seed in 0..PROBLEMS {
        let problem = random_problem(seed);
        let solution = solve(&problem)
            .unwrap_or_else(|| panic!("seed {seed}: not solved, {:?}", random_traits(seed)));
        let residual = kkt_residual(&problem, &solution.w, solution.b, solution.lambda);
        worst = worst.max(residual);
        assert!(residual < 1e-8, "seed {seed}: residual {residual:e}");
    }
    println!("{PROBLEMS} of {PROBLEMS} solved, largest residual {worst:e}");
}

#[test]
fn random_problems_are_of_every_kind() {
    let all: Vec<Traits> = (0..PROBLEMS).map(random_traits).collect();
    let kinds: [fn(&Traits) -> bool; 13] = [
        |t| t.separable,
        |t| t.ties,
        |t| t.duplicates,
        |t| t.constant_feature,
        |t| t.zero_feature,
        |t| t.one_positive,
        |t| t.raw_scales,
        |t| t.no_ridge,
        |t| t.intercept,
        |t| !t.intercept,
        |t| t.least_squares == LeastSquares::Balanced,
        |t| t.weights == Weights::Integer,
        |t| t.weights == Weights::Real,
    ];
    for (kind, has) in kinds.iter().enumerate() {
        assert!(all.iter().filter(|t| has(t)).count() >= 20, "kind {kind}");
    }
    for seed in 0..PROBLEMS {
        let problem = random_problem(seed);
        assert!(problem.class_weights().iter().all(|&n| n > 0.0));
    }
}

#[test]
fn no_point_nearby_is_better() {
    for seed in 0..PROBLEMS {
        let problem = random_problem(seed);
        let solution = solve(&problem).unwrap();
        let rng = &mut Pcg64::seed_from_u64(seed);
        for _ in 0..2_000 {
            let size = 10_f64.powf(rng.random_range(-8.0..0.5));
            let other = perturbed(&problem, &solution, size, rng);
            let gain = solution.objective - other.objective;
            assert!(gain < accuracy(&problem), "seed {seed}: {gain:e}");
        }
    }
}

/// P(x) − P(x*) ≤ ‖g‖ ‖x − x*‖ for every subgradient g at x: the residual cannot be small where P is not.
#[test]
fn residual_is_large_away_from_the_solution() {
    for seed in 0..PROBLEMS {
        let problem = random_problem(seed);
        let solution = solve(&problem).unwrap();
        let rng = &mut Pcg64::seed_from_u64(seed);
        for size in [1e-3, 1e-2, 0.1, 1.0] {
            let other = perturbed(&problem, &solution, size, rng);
            let residual = kkt_residual(&problem, &other.w, other.b, other.lambda);
            let least = (other.objective - solution.objective)
                / distance(&problem, &other, &solution)
                / (1.0 + problem.beta);
            // Examples that count as tied though they are not change P by 1e-6 of the largest score at most.
            assert!(
                residual > least * 0.99 - 1e-4,
                "seed {seed}: {residual} {least}"
            );
        }
    }
}

/// One feature: some best λ is a score. On the ray w = ±t, λ = w x_k + b the hinge is t times a constant, so P is
/// a parabola in t; all rays are tried.
fn line_minimum(problem: &Problem) -> f64 {
    let x: Vec<f64> = problem.rows.iter().map(|x| x[0]).collect();
    let n = x.len();
    let v = problem.square_weights();
    let mean = |of: &dyn Fn(usize) -> f64| {
        let sum: f64 = (0..n).map(|i| v[i] * of(i)).sum();
        if problem.intercept {
            sum / v.iter().sum::<f64>()
        } else {
            0.0
        }
    };
    let (x_mean, y_mean) = (mean(&|i| x[i]), mean(&|i| problem.sign(i)));
    let xx: f64 = (0..n).map(|i| v[i] * (x[i] - x_mean).powi(2)).sum();
    let xy: f64 = (0..n)
        .map(|i| v[i] * (x[i] - x_mean) * (problem.sign(i) - y_mean))
        .sum();
    let mut least = f64::INFINITY;
    for side in [1.0, -1.0] {
        for k in 0..n {
            let hinge = |i: usize| (side * problem.sign(i) * (x[k] - x[i])).max(0.0);
            let slope: f64 = (0..n).map(|i| problem.weight(i) * hinge(i)).sum();
            let curvature = problem.beta * xx + problem.gamma;
            let t = (problem.beta * side * xy - slope / problem.total()) / curvature;
            let w = side * t.max(0.0);
            let b = y_mean - w * x_mean;
            least = least.min(objective(problem, &[w], b, w * x[k] + b));
        }
    }
    least
}

#[test]
fn one_feature_agrees_with_all_rays() {
    for seed in 0..PROBLEMS {
        let mut problem = random_problem(seed);
        problem.rows.iter_mut().for_each(|x| x.truncate(1));
        problem.gamma = problem.gamma.max(1e-8);
        let solution = solve(&problem).unwrap();
        let least = line_minimum(&problem);
        let above = solution.objective - least;
        assert!(
            above.abs() < accuracy(&problem),
            "seed {seed}: {above:e} above {least}"
        );
    }
}

#[test]
fn best_lambda_by_hand() {
    let problem = Problem {
        rows: vec![vec![1.0], vec![2.0], vec![3.0], vec![4.0]],
        positive: vec![false, true, false, true],
        weights: None,
        beta: 1.0,
        gamma: 1.0,
        least_squares: LeastSquares::Plain,
        intercept: false,
    };
    let scores = [1.0, 2.0, 3.0, 4.0];
    assert_eq!(best_lambda(&problem, &scores), [2.0, 3.0]);
    // N⁻ = 4: the weights up to 3 are 5, up to 2 they are 2.
    let weighted = Problem {
        weights: Some(vec![1.0, 1.0, 3.0, 0.5]),
        ..problem.clone()
    };
    assert_eq!(best_lambda(&weighted, &scores), [3.0, 3.0]);
    let without_third = Problem {
        weights: Some(vec![1.0, 1.0, 0.0, 2.0]),
        ..problem
    };
    assert_eq!(best_lambda(&without_third, &scores), [1.0, 2.0]);
}
