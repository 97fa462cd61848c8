//! L2-regularised logistic regression, the baseline, by Newton's method.
//!
//!   min_{w,b}  P = 1/N Σ_i s_i log(1 + exp(−y_i(w·x_i + b))) + γ/2 ‖w‖²,   N = Σ_i s_i
//!
//! b is not penalised, and left out on request. Sample weights s_i ≥ 0 are 1 if not given; an
//! example of weight 0 is held out. With divisors r_j the problem is that of the features
//! x_j / r_j, and the weights returned are those of x_j. With C = 1/(Nγ), NC·P is what LIBLINEAR
//! and scikit-learn minimise.
//!
//! With z_i = w·x_i + b and p_i = 1 / (1 + exp(y_i z_i)), a step solves H δ = −∇P, where
//!
//!   ∇P = −1/N Σ_i s_i y_i p_i x_i + γw,   H = 1/N Σ_i s_i p_i (1 − p_i) x_i x_iᵀ + γI,
//!
//! by Cholesky's factorisation, or by conjugate gradients with the diagonal of H where they are
//! cheaper, and halves δ until P descends. Stops when ‖∇P‖∞ ≤ tolerance · max(1, ‖∇P at the
//! start‖∞), in scaled features.
//!
//! Sums over rows are made of blocks that depend on the data only and are added in their order:
//! the same bits for any number of threads.

mod rows;

use serde::{Deserialize, Serialize};

use crate::data::dataset::Dataset;
use crate::data::scale::check_weights;
use crate::solver::centred::offset;
use crate::solver::cholesky::Cholesky;
use crate::{Error, Result};
use rows::Logistic;

/// A step is accepted at this share of the descent that the slope promises (Armijo) …
const DESCENT: f64 = 1e-4;
/// … up to the rounding of P, which hides the last steps.
const ROUNDING: f64 = 1e-14;
const MAX_HALVINGS: usize = 50;
/// Larger systems are never factored: 128 MB.
const MAX_FACTORED: usize = 4096;
/// Conjugate gradient iterations that a Newton step is taken to need, when the routes are compared.
const TYPICAL_CG: f64 = 100.0;
const MAX_CG: usize = 1000;

/// What to fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LogisticParams {
    /// γ ≥ 0; without it separable data have no optimum.
    pub gamma: f64,
    /// Fit b.
    pub intercept: bool,
    /// On the largest entry of the gradient.
    pub tolerance: f64,
    /// At most this many Newton steps.
    pub max_newton: usize,
}

impl Default for LogisticParams {
    fn default() -> Self {
        LogisticParams {
            gamma: 1e-4,
            intercept: true,
            tolerance: 1e-8,
            max_newton: 100,
        }
    }
}

impl LogisticParams {
    /// Refuses the first parameter outside its range.
    pub fn check(&self) -> Result<()> {
        let parameter = |name, value: f64, must| {
            Err(Error::Parameter {
                name,
                value: value.to_string(),
                must,
            })
        };
        if !(self.gamma >= 0.0 && self.gamma.is_finite()) {
            return parameter("gamma", self.gamma, "finite and not negative");
        }
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return parameter("tolerance", self.tolerance, "finite and positive");
        }
        Ok(())
    }
}

/// The optimum, or how far it came.
#[derive(Debug, Clone, PartialEq)]
pub struct LogisticFit {
    /// w, of the features as they are in the data.
    pub weights: Vec<f64>,
    /// b, or 0.
    pub intercept: f64,
    /// P.
    pub objective: f64,
    /// ‖∇P‖∞, in scaled features.
    pub gradient_norm: f64,
    /// Newton steps taken.
    pub newton: usize,
    /// Whether the gradient is as small as was asked for.
    pub converged: bool,
}

/// Fits w and b. `start` holds the weights of the features as they are in the data, followed by
/// the intercept if there is one.
pub fn fit(
    data: &Dataset,
    weights: Option<&[f64]>,
    divisors: Option<&[f64]>,
    start: Option<&[f64]>,
    params: &LogisticParams,
) -> Result<LogisticFit> {
    params.check()?;
    let d = data.rows().cols();
    check_sample(data, weights)?;
    check_divisors(d, divisors)?;
    let problem = Logistic::new(data, weights, divisors, params);
    let m = problem.scale.len();
    let mut w = vec![0.0; m];
    if let Some(start) = start {
        length("start: weights and intercept", m, start.len())?;
        for ((w, start), r) in w.iter_mut().zip(start).zip(&problem.scale) {
            *w = start * r;
        }
        if let (Some(b), true) = (w.last_mut(), params.intercept) {
            *b += offset(problem.shift.as_deref(), &start[..d]);
        }
    }
    let mut point = problem.at(w);
    let mut gradient = problem.gradient(&point);
    let first = norm(&gradient);
    if !(point.value + first).is_finite() {
        return Err(too_large());
    }
    let goal = params.tolerance * max_abs(&gradient).max(1.0);
    let factored = factoring_is_cheaper(data, m);
    let mut newton = 0;
    while max_abs(&gradient) > goal && newton < params.max_newton {
        let direction = factored
            .then(|| factored_step(&problem, &point, &gradient))
            .flatten()
            .unwrap_or_else(|| conjugate_gradients(&problem, &point, &gradient, first));
        let Some(next) = descend(&problem, &point, &gradient, &direction) else {
            break;
        };
        newton += 1;
        point = next;
        gradient = problem.gradient(&point);
    }
    let gradient_norm = max_abs(&gradient);
    let mut weights: Vec<f64> = point
        .w
        .iter()
        .zip(&problem.scale)
        .map(|(w, r)| w / r)
        .collect();
    let intercept = if params.intercept {
        weights.pop()
    } else {
        None
    };
    // Back from the rows less their mean.
    let offset = offset(problem.shift.as_deref(), &weights);
    Ok(LogisticFit {
        weights,
        intercept: intercept.map_or(0.0, |b| b - offset),
        objective: point.value,
        gradient_norm,
        newton,
        converged: gradient_norm <= goal,
    })
}

/// (w, b), its scores, and what the loss is there.
struct Iterate {
    /// Of the scaled features; b last.
    w: Vec<f64>,
    /// z_i.
    scores: Vec<f64>,
    /// s_i/N ∂/∂z log(1 + exp(−y_i z)) at z_i.
    slopes: Vec<f64>,
    /// s_i/N ∂²/∂z².
    curvatures: Vec<f64>,
    /// P.
    value: f64,
}

/// H δ = −∇P by factorisation. Where H is singular to working precision a multiple of I is added;
/// `None` where squares of the features overflow.
fn factored_step(problem: &Logistic<'_>, point: &Iterate, gradient: &[f64]) -> Option<Vec<f64>> {
    let m = gradient.len();
    let hessian = problem.hessian(&point.curvatures);
    if !hessian.iter().all(|h| h.is_finite()) {
        return None;
    }
    let largest = (0..m).map(|j| hessian[j * m + j]).fold(0.0, f64::max);
    let mut shift = 0.0;
    while shift <= largest {
        let mut matrix = hessian.clone();
        for j in 0..m {
            matrix[j * m + j] += shift;
        }
        if let Some(factor) = Cholesky::new(matrix, m) {
            let mut step: Vec<f64> = gradient.iter().map(|g| -g).collect();
            factor.solve(&mut step);
            if dot(&step, gradient) < 0.0 && step.iter().all(|x| x.is_finite()) {
                return Some(step);
            }
        }
        shift = (shift * 100.0).max(largest * 1e-12).max(f64::MIN_POSITIVE);
    }
    // Nothing curves any more: the slope is all there is.
    Some(gradient.iter().map(|g| -g).collect())
}

/// H δ = −∇P by conjugate gradients, preconditioned by the diagonal of H, until the residual is
/// below min(½, √(‖∇P‖ / ‖∇P at the start‖)) of the right-hand side: coarse far away, and fast
/// (of order 3/2) near the optimum.
fn conjugate_gradients(
    problem: &Logistic<'_>,
    point: &Iterate,
    gradient: &[f64],
    first: f64,
) -> Vec<f64> {
    let m = gradient.len();
    let diagonal = problem.diagonal(&point.curvatures);
    let precondition = |r: &[f64]| -> Vec<f64> {
        let pairs = r.iter().zip(&diagonal);
        pairs
            .map(|(r, h)| if *h > 0.0 { r / h } else { *r })
            .collect()
    };
    let enough = (norm(gradient) / first).sqrt().min(0.5) * norm(gradient);
    let mut step = vec![0.0; m];
    let mut residual: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut ahead = precondition(&residual);
    let mut size = dot(&residual, &ahead);
    let mut direction = ahead.clone();
    for _ in 0..MAX_CG {
        let curved = problem.hessian_times(&point.curvatures, &direction);
        let curvature = dot(&direction, &curved);
        let alpha = size / curvature;
        // Flat to rounding, or overflowed: what there is must do.
        if !(curvature > 0.0 && alpha.is_finite()) {
            break;
        }
        add(alpha, &direction, &mut step);
        add(-alpha, &curved, &mut residual);
        if norm(&residual) <= enough {
            break;
        }
        ahead = precondition(&residual);
        let before = std::mem::replace(&mut size, dot(&residual, &ahead));
        let beta = size / before;
        for (direction, ahead) in direction.iter_mut().zip(&ahead) {
            *direction = ahead + beta * *direction;
        }
    }
    if dot(&step, gradient) < 0.0 {
        step
    } else {
        precondition(gradient).iter().map(|g| -g).collect()
    }
}

/// The first of the points w + t δ, t = 1, ½, ¼, …, that descends enough.
fn descend(
    problem: &Logistic<'_>,
    point: &Iterate,
    gradient: &[f64],
    direction: &[f64],
) -> Option<Iterate> {
    let slope = dot(gradient, direction);
    if slope.is_nan() || slope >= 0.0 {
        return None;
    }
    let along = problem.scores(direction);
    let mut t = 1.0;
    for _ in 0..MAX_HALVINGS {
        let moved = |from: &[f64], by: &[f64]| -> Vec<f64> {
            from.iter().zip(by).map(|(x, dx)| x + t * dx).collect()
        };
        let next = problem.at_scores(moved(&point.w, direction), moved(&point.scores, &along));
        // False for NaN.
        if next.value <= point.value + DESCENT * t * slope + ROUNDING * point.value {
            return Some(next);
        }
        t *= 0.5;
    }
    None
}

/// nnz²/(2N) multiplications for H and m³/6 for its factor, or two products with the rows for each
/// iteration.
fn factoring_is_cheaper(data: &Dataset, m: usize) -> bool {
    let (n, stored, size) = (
        data.rows().len() as f64,
        data.rows().stored() as f64,
        m as f64,
    );
    let factored = stored * stored / (2.0 * n) + size * size * size / 6.0;
    m <= MAX_FACTORED && factored <= TYPICAL_CG * (2.0 * stored + 2.0 * n)
}

fn check_sample(data: &Dataset, weights: Option<&[f64]>) -> Result<()> {
    let Some(weights) = weights else {
        return Ok(());
    };
    check_weights(weights, data.rows().len())?;
    let trained = |class: bool| {
        let pairs = data.positive().iter().zip(weights);
        pairs.filter(|(p, s)| **p == class && **s > 0.0).count()
    };
    let [negative, positive] = data.class_names();
    let only = match (trained(false), trained(true)) {
        (0, n) => Some((positive, n)),
        (n, 0) => Some((negative, n)),
        _ => None,
    };
    match only {
        Some((class, n)) => Err(Error::OneClass {
            class: class.clone(),
            n,
        }),
        None => Ok(()),
    }
}

fn check_divisors(d: usize, divisors: Option<&[f64]>) -> Result<()> {
    let Some(divisors) = divisors else {
        return Ok(());
    };
    length("divisors of the features", d, divisors.len())?;
    match divisors.iter().find(|r| !(**r > 0.0 && r.is_finite())) {
        Some(r) => Err(Error::Parameter {
            name: "divisor of a feature",
            value: r.to_string(),
            must: "positive and finite",
        }),
        None => Ok(()),
    }
}

fn length(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got {
        return Ok(());
    }
    Err(Error::Length {
        what,
        expected,
        got,
    })
}

fn too_large() -> Error {
    Error::Parameter {
        name: "logistic regression",
        value: "an overflow".to_string(),
        must: "given features and a start of moderate size; scale the features",
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// NaN if one is.
fn max_abs(a: &[f64]) -> f64 {
    a.iter()
        .fold(0.0, |m, x| if x.abs() <= m { m } else { x.abs() })
}

/// y ← y + a·x.
fn add(a: f64, x: &[f64], y: &mut [f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
}

#[cfg(test)]
mod tests;
