//! The soft bound with its least squares as a function of the scores alone: what boosted trees ask for.
//!
//! With weights s_i, v_i = 1 or, balanced, v_i = S/(2 S_{y_i}), S being sums of weights, and the soft loss φ of κ:
//!
//! ```text
//! L(c) = min_λ Σ_i s_i { φ(y_i(λ − c_i)) + β/2 v_i (1 − y_i c_i)² }
//! ```
//!
//! The bound alone is least where all scores are equal; the least squares keep them apart. λ* is where Σ s_i y_i φ' = 0. There
//! the derivative by λ is 0, so that λ* may be held still (envelope theorem):
//!
//! ```text
//! ∂L/∂c_i = − s_i y_i φ'_i − s_i β v_i y_i (1 − y_i c_i)
//! ```
//!
//! With h_i = s_i φ''_i the derivative of the gradient, λ* now moving along, is diag(h_i + s_i β v_i) − h hᵀ/Σ h. Boosting takes
//! a diagonal. What is subtracted is positive semidefinite, so diag(h_i + s_i β v_i) is at least the Hessian in every
//! direction: a step by it is never too long, and it is above 0.

use super::threshold::best_lambda;
use crate::objective::loss::Loss;
use crate::objective::sum::Sum;
use crate::objective::ubauc::{Chunk, LeastSquares, Objective, Sums};
use crate::{Error, Result};

/// L and its derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreObjective {
    /// L(c).
    pub value: f64,
    /// ∂L/∂c_i.
    pub gradient: Vec<f64>,
    /// h_i + s_i β v_i, at least the Hessian.
    pub hessian: Vec<f64>,
}

/// L of some scores: β > 0 and κ > 0 make every entry of the diagonal positive.
pub fn score_objective(
    chunk: Chunk<'_>,
    beta: f64,
    softness: f64,
    least_squares: LeastSquares,
) -> Result<ScoreObjective> {
    for (name, value) in [("beta", beta), ("softness", softness)] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(Error::Parameter {
                name,
                value: value.to_string(),
                must: "finite and above 0",
            });
        }
    }
    let objective = Objective {
        beta,
        gamma: 0.0,
        least_squares,
        softness,
    };
    refuse("score", chunk.scores, "finite", |c| c.is_finite())?;
    let weights = chunk.weights.unwrap_or(&[]);
    refuse("weight", weights, "finite and not negative", |s| {
        s.is_finite() && s >= 0.0
    })?;
    // λ does not matter to the sums by class.
    let total = Sums::of(chunk, Loss::Hinge, 0.0, 0.0)?.total;
    if chunk.scores.is_empty() {
        return Err(Error::Empty);
    }
    for (weight, class) in [(total.pos, "positive"), (total.neg, "negative")] {
        if weight <= 0.0 {
            let what = format!("no {class} example has weight; both classes are needed");
            return Err(Error::Classes { what });
        }
    }
    let loss = objective.loss();
    let [lambda, _] = best_lambda(chunk, loss)?;
    let factors = objective.class_factors(total);
    let n = chunk.scores.len();
    let (mut gradient, mut hessian) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let mut value = Sum::default();
    for (i, &c) in chunk.scores.iter().enumerate() {
        let s = chunk.weights.map_or(1.0, |weights| weights[i]);
        let [y, v] = match chunk.positive[i] {
            true => [1.0, factors[0]],
            false => [-1.0, factors[1]],
        };
        let at = loss.at(y * (lambda - c));
        let short = 1.0 - y * c;
        value.add(s * (at.value + 0.5 * beta * v * short * short));
        gradient.push(-s * y * (at.multiplier + beta * v * short));
        hessian.push(s * (at.curvature + beta * v));
    }
    Ok(ScoreObjective {
        value: value.total(),
        gradient,
        hessian,
    })
}

/// Refuses the first number that is not as it must be.
fn refuse(
    what: &'static str,
    values: &[f64],
    must: &'static str,
    is_right: impl Fn(f64) -> bool,
) -> Result<()> {
    match values.iter().position(|x| !is_right(*x)) {
        None => Ok(()),
        Some(row) => Err(Error::NotFinite {
            what,
            row,
            value: values[row],
            must,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// L at a threshold, as the head comment has it.
    fn written_out(chunk: Chunk<'_>, lambda: f64, beta: f64, kappa: f64, v: [f64; 2]) -> f64 {
        let rows = chunk.scores.iter().zip(chunk.positive).enumerate();
        let terms = rows.map(|(i, (c, positive))| {
            let (y, v) = if *positive { (1.0, v[0]) } else { (-1.0, v[1]) };
            let soft = kappa * (y * (lambda - c) / kappa).exp().ln_1p();
            let s = chunk.weights.map_or(1.0, |weights| weights[i]);
            s * (soft + beta / 2.0 * v * (1.0 - y * c).powi(2))
        });
        terms.sum()
    }

    #[test]
    fn value_is_the_least_over_thresholds_and_gradient_its_derivative() {
        let scores = [0.3, -0.8, 1.4, 0.1, -0.2, 0.9];
        let positive = [true, false, true, false, false, true];
        let weights = [1.0, 2.0, 0.5, 1.0, 3.0, 0.0];
        let chunk = Chunk {
            scores: &scores,
            positive: &positive,
            weights: Some(&weights),
        };
        let (pos, neg) = (1.5, 6.0);
        let balanced = [(pos + neg) / (2.0 * pos), (pos + neg) / (2.0 * neg)];
        for (least_squares, v) in [
            (LeastSquares::Plain, [1.0, 1.0]),
            (LeastSquares::Balanced, balanced),
        ] {
            let of = |scores: &[f64]| {
                let chunk = Chunk { scores, ..chunk };
                score_objective(chunk, 0.7, 0.3, least_squares).unwrap()
            };
            let found = of(&scores);
            let thresholds = (-3000..3000).map(|k| f64::from(k) / 1000.0);
            let values = thresholds.map(|lambda| written_out(chunk, lambda, 0.7, 0.3, v));
            let least = values.fold(f64::INFINITY, f64::min);
            // The grid is at most 5e-4 from the minimum, where the curvature is below 7.5/(4 · 0.3).
            assert!(found.value <= least + 1e-12 && found.value > least - 1e-6);
            for i in 0..scores.len() {
                let moved = |h: f64| {
                    let mut scores = scores;
                    scores[i] += h;
                    of(&scores).value
                };
                let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((found.gradient[i] - difference).abs() < 1e-7);
            }
            assert_eq!(found.hessian[5], 0.0);
            assert!(found.hessian[..5].iter().all(|h| *h > 0.0));
        }
    }

    #[test]
    fn bad_input_is_refused() {
        let chunk = |scores, positive| Chunk {
            scores,
            positive,
            weights: None,
        };
        let of = |chunk, beta, softness| {
            score_objective(chunk, beta, softness, LeastSquares::Plain).unwrap_err()
        };
        let good = chunk(&[0.0, 1.0], &[false, true]);
        for (beta, softness) in [(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1.0, -1.0)] {
            assert!(matches!(of(good, beta, softness), Error::Parameter { .. }));
        }
        let nan = chunk(&[f64::NAN, 1.0], &[false, true]);
        assert_eq!(
            of(nan, 1.0, 1.0).to_string(),
            "score of example 1 is NaN; it must be finite"
        );
        let one = chunk(&[0.0, 1.0], &[true, true]);
        assert!(matches!(of(one, 1.0, 1.0), Error::Classes { what } if what.contains("negative")));
        assert!(matches!(of(chunk(&[], &[]), 1.0, 1.0), Error::Empty));
        let short = chunk(&[0.0, 1.0], &[true]);
        assert!(matches!(of(short, 1.0, 1.0), Error::Length { .. }));
    }
}
