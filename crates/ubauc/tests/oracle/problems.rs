//! Random problems: small, and as nasty as real ones can be.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::{LeastSquares, Problem};

/// What is special about a random problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Traits {
    /// A hyperplane divides the classes.
    pub(crate) separable: bool,
    /// Values are small integers.
    pub(crate) ties: bool,
    /// A third of the rows are copies, some with the other label.
    pub(crate) duplicates: bool,
    pub(crate) constant_feature: bool,
    pub(crate) zero_feature: bool,
    pub(crate) one_positive: bool,
    /// Features of sizes from 1e-2 to 1e6.
    pub(crate) raw_scales: bool,
    pub(crate) weights: Weights,
    /// γ = 0, where the features determine w.
    pub(crate) no_ridge: bool,
    pub(crate) least_squares: LeastSquares,
    pub(crate) intercept: bool,
}

/// Sample weights, some of them 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weights {
    None,
    Integer,
    Real,
}

/// The problem of a seed: 4 to 60 examples, 1 to 8 features, β from 1e-3 to 1e3, γ from 1e-8 to 1e2 or 0.
pub(crate) fn random_problem(seed: u64) -> Problem {
    generate(&mut Pcg64::seed_from_u64(seed)).0
}

/// What is special about it.
pub(crate) fn random_traits(seed: u64) -> Traits {
    generate(&mut Pcg64::seed_from_u64(seed)).1
}

fn generate(rng: &mut Pcg64) -> (Problem, Traits) {
    let mut traits = Traits {
        separable: rng.random_bool(0.25),
        ties: rng.random_bool(0.25),
        duplicates: rng.random_bool(0.25),
        constant_feature: rng.random_bool(0.2),
        zero_feature: rng.random_bool(0.2),
        one_positive: rng.random_bool(0.2),
        raw_scales: rng.random_bool(0.3),
        weights: [
            Weights::None,
            Weights::None,
            Weights::Integer,
            Weights::Real,
        ][rng.random_range(0..4)],
        no_ridge: rng.random_bool(0.3),
        least_squares: [LeastSquares::Plain, LeastSquares::Balanced][rng.random_range(0..2)],
        intercept: rng.random_bool(0.5),
    };
    let n = rng.random_range(4..=60);
    let d = rng.random_range(1..=8);
    let positive = labels(rng, n, traits.one_positive);
    let mut rows = features(rng, &traits, &positive, d);
    if traits.duplicates {
        for _ in 0..n / 3 {
            let (from, to) = (rng.random_range(0..n), rng.random_range(0..n));
            // Separable data stays so.
            if !traits.separable || positive[from] == positive[to] {
                rows[to] = rows[from].clone();
            }
        }
    }
    let weights = sample_weights(rng, traits.weights, &positive);
    let beta = 10_f64.powf(rng.random_range(-3.0..3.0));
    let gamma = 10_f64.powf(rng.random_range(-8.0..2.0));
    let mut problem = Problem {
        rows,
        positive,
        weights,
        beta,
        gamma,
        least_squares: traits.least_squares,
        intercept: traits.intercept,
    };
    traits.no_ridge &= determined(&problem);
    if traits.no_ridge {
        problem.gamma = 0.0;
    }
    (problem, traits)
}

/// Both classes.
fn labels(rng: &mut Pcg64, n: usize, one_positive: bool) -> Vec<bool> {
    let share = rng.random_range(0.05..0.95);
    let mut positive: Vec<bool> = (0..n)
        .map(|_| !one_positive && rng.random_bool(share))
        .collect();
    let first = rng.random_range(0..n);
    positive[first] = true;
    if !one_positive {
        positive[(first + 1) % n] = false;
    }
    positive
}

/// Rows before any are copied. The first feature divides the classes of a separable problem.
fn features(rng: &mut Pcg64, traits: &Traits, positive: &[bool], d: usize) -> Vec<Vec<f64>> {
    let shift = rng.random_range(0.0..2.0);
    let mut column_sizes = vec![1.0; d];
    if traits.raw_scales {
        column_sizes.fill_with(|| 10_f64.powf(rng.random_range(-2.0..6.0)));
    }
    let constant = (traits.constant_feature && d > 1).then(|| rng.random_range(1..d));
    let zero = (traits.zero_feature && d > 1).then(|| rng.random_range(1..d));
    let mut row = |&positive: &bool| {
        let y = if positive { 1.0 } else { -1.0 };
        let mut x: Vec<f64> = (0..d)
            .map(|_| rng.random_range(-2.0..2.0) + shift)
            .collect();
        if traits.separable {
            x[0] = y * rng.random_range(0.1..3.0);
        } else {
            x[0] += rng.random_range(0.0..1.0) * y;
        }
        if traits.ties {
            x.iter_mut().for_each(|x| *x = x.round());
            if traits.separable {
                x[0] = y * x[0].abs().max(1.0);
            }
        }
        x.iter_mut()
            .zip(&column_sizes)
            .for_each(|(x, size)| *x *= size);
        constant.into_iter().for_each(|j| x[j] = column_sizes[j]);
        zero.into_iter().for_each(|j| x[j] = 0.0);
        x
    };
    positive.iter().map(&mut row).collect()
}

/// Some weights are 0, but not all of a class.
fn sample_weights(rng: &mut Pcg64, kind: Weights, positive: &[bool]) -> Option<Vec<f64>> {
    let mut weight = || match kind {
        Weights::None => 1.0,
        Weights::Integer => f64::from(rng.random_range(0..4_u32)),
        Weights::Real if rng.random_bool(0.15) => 0.0,
        Weights::Real => rng.random_range(0.01..3.0),
    };
    let mut weights: Vec<f64> = positive.iter().map(|_| weight()).collect();
    for class in [false, true] {
        let first = positive.iter().position(|&p| p == class)?;
        weights[first] = weights[first].max(1.0);
    }
    (kind != Weights::None).then_some(weights)
}

/// Whether the weighted rows, with a column of ones for an intercept, have full column rank with room to spare.
fn determined(problem: &Problem) -> bool {
    let sizes = problem.feature_sizes();
    let kept: Vec<usize> = (0..problem.rows.len())
        .filter(|&i| problem.weight(i) > 0.0)
        .collect();
    let feature = |j: usize| {
        kept.iter()
            .map(|&i| problem.rows[i][j] / sizes[j])
            .collect()
    };
    let mut columns: Vec<Vec<f64>> = (0..sizes.len()).map(feature).collect();
    if problem.intercept {
        columns.push(vec![1.0; kept.len()]);
    }
    // Gram and Schmidt: what is left of a column beside the others.
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut column in columns {
        for unit in basis.iter().chain(&basis) {
            let along = dot(unit, &column);
            column
                .iter_mut()
                .zip(unit)
                .for_each(|(c, u)| *c -= along * u);
        }
        let left = dot(&column, &column).sqrt();
        if left < 1e-3 {
            return false;
        }
        basis.push(column.into_iter().map(|c| c / left).collect());
    }
    true
}
