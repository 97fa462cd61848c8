//! Against the sums written out, differences, and the objective of boosting.

use proptest::prelude::*;

use super::*;
use crate::objective::ubauc::{Chunk, LeastSquares};
use crate::solver::boosting::score_objective;

fn batch(logits: &[f64], targets: &[f64], weights: &[f64]) -> LogitBatch<f64> {
    let [logits, targets, weights] = [logits, targets, weights].map(Lanes::of);
    LogitBatch::new(logits, targets, Some(weights)).unwrap()
}

/// Σ l_i at a threshold, as the head comment has it.
fn written_out(rows: &[(f64, f64, f64)], lambda: f64, loss: LogitLoss) -> f64 {
    let phi = |t: f64| match loss.softness == 0.0 {
        true => t.max(0.0),
        false => loss.softness * (t / loss.softness).exp().ln_1p(),
    };
    let of_row = |&(z, t, a): &(f64, f64, f64)| {
        let (p, n) = (a * t, a * (1.0 - t));
        let squares = p * (z - 1.0).powi(2) + n * (z + 1.0).powi(2);
        p * phi(lambda - z) + n * phi(z - lambda) + 0.5 * loss.beta * squares
    };
    rows.iter().map(of_row).sum()
}

fn of(rows: &[(f64, f64, f64)]) -> LogitBatch<f64> {
    let column = |of: fn(&(f64, f64, f64)) -> f64| rows.iter().map(of).collect::<Vec<_>>();
    batch(&column(|r| r.0), &column(|r| r.1), &column(|r| r.2))
}

/// Logits on a grid of halves, so that some are tied; targets of 0, 1 and between; weights with 0.
fn rows() -> impl Strategy<Value = Vec<(f64, f64, f64)>> {
    let row = (-6..=6i32, 0..=4i32, 0..=3i32)
        .prop_map(|(z, t, a)| (f64::from(z) / 2.0, f64::from(t) / 4.0, f64::from(a)));
    proptest::collection::vec(row, 2..40)
}

const BETA: f64 = 0.4;

proptest! {
    /// No threshold has a smaller value, and at every fixed one it is the sum written out.
    #[test]
    fn value_is_the_least_over_thresholds(rows in rows(), kappa in 0..3usize) {
        let loss = LogitLoss { softness: [0.0, 0.1, 1.0][kappa], beta: BETA };
        let batch = of(&rows);
        let sums = batch.class_weights();
        let best = batch.derivatives(loss, LogitThreshold::Best(0.3)).unwrap();
        let is_one_class = sums.pos == 0.0 || sums.neg == 0.0;
        prop_assert_eq!(is_one_class && best.lambda != 0.3, false);
        prop_assert!((best.value - written_out(&rows, best.lambda, loss)).abs() < 1e-10);
        for k in -80..=80 {
            let lambda = f64::from(k) / 16.0;
            let value = written_out(&rows, lambda, loss);
            let fixed = batch.derivatives(loss, LogitThreshold::Fixed(lambda)).unwrap();
            prop_assert!((fixed.value - value).abs() < 1e-10 * (1.0 + value));
            prop_assert!(is_one_class || best.value <= value + 1e-10);
        }
    }

    /// L is convex, and L(z + d) ≥ L(z) + g·d: the gradient is a subgradient of the minimum, at ties too.
    #[test]
    fn gradient_is_a_subgradient(
        rows in rows(), steps in proptest::collection::vec(-2.0..2.0f64, 40), kappa in 0..3usize,
    ) {
        let loss = LogitLoss { softness: [0.0, 0.1, 1.0][kappa], beta: BETA };
        let here = of(&rows).derivatives(loss, LogitThreshold::Best(0.0)).unwrap();
        for size in [1e-3, 0.1, 1.0] {
            let moved: Vec<_> = rows
                .iter()
                .zip(&steps)
                .map(|(&(z, t, a), step)| (z + size * step, t, a))
                .collect();
            let there = of(&moved).derivatives(loss, LogitThreshold::Best(0.0)).unwrap();
            let slope: f64 = here.gradient.iter().zip(&steps).map(|(g, d)| g * size * d).sum();
            prop_assert!(there.value >= here.value + slope - 1e-9);
        }
    }

    /// The soft loss has derivatives: central differences by every logit and by λ.
    #[test]
    fn derivatives_are_differences(rows in rows(), lambda in -2.0..2.0f64, is_best: bool) {
        let loss = LogitLoss { softness: 0.5, beta: BETA };
        let at = |lambda| match is_best {
            true => LogitThreshold::Best(lambda),
            false => LogitThreshold::Fixed(lambda),
        };
        let found = of(&rows).derivatives(loss, at(lambda)).unwrap();
        let value = |rows: &[(f64, f64, f64)]| of(rows).derivatives(loss, at(lambda)).unwrap().value;
        for i in 0..rows.len() {
            let moved = |h: f64| {
                let mut rows = rows.clone();
                rows[i].0 += h;
                value(&rows)
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            prop_assert!((found.gradient[i] - difference).abs() < 1e-6);
        }
        let at_lambda = |h: f64| written_out(&rows, found.lambda + h, loss);
        let difference = (at_lambda(1e-5) - at_lambda(-1e-5)) / 2e-5;
        prop_assert!((found.by_lambda - difference).abs() < 1e-6);
    }
}

/// Single precision has its seven digits, near λ and far from it, for numbers and for booleans.
#[test]
fn single_precision_is_that_of_double_rounded() {
    for shift in [0.0, 100.0, -3e3] {
        let logits: Vec<f32> = (0..301)
            .map(|i| (i * 37 % 101) as f32 / 25.0 - 2.0 + shift)
            .collect();
        let positive: Vec<bool> = (0..301).map(|i| i % 7 == 0 || i % 101 > 90).collect();
        let targets: Vec<f64> = positive.iter().map(|y| f64::from(*y)).collect();
        let narrow = LogitBatch::<f32>::new(Lanes::of(&logits), Lanes::of(&positive), None);
        let wide = LogitBatch::<f64>::new(Lanes::of(&logits), Lanes::of(&targets), None);
        let (narrow, wide) = (narrow.unwrap(), wide.unwrap());
        for (softness, beta) in [(0.0, 0.0), (0.05, 0.0), (1.0, 0.0), (0.05, 0.4)] {
            let loss = LogitLoss { softness, beta };
            // Of the least squares every derivative is as large as its logit.
            let size = 1.0 + beta * f64::from(shift.abs());
            let start = LogitThreshold::Best(f64::from(shift) + 0.3);
            let (one, other) = (
                narrow.derivatives(loss, start),
                wide.derivatives(loss, start),
            );
            let (one, other) = (one.unwrap(), other.unwrap());
            assert!((one.value - other.value).abs() < 1e-6 * other.value);
            assert!((one.lambda - other.lambda).abs() <= 1e-6 * softness.max(1e-9));
            for (one, other) in one.gradient.iter().zip(&other.gradient) {
                assert!(
                    (f64::from(*one) - other).abs() < 1e-6 * size,
                    "{one} {other}"
                );
            }
        }
    }
}

/// The same as what boosted trees ask for, where targets are 0 and 1; factors are weights.
#[test]
fn it_is_the_objective_of_boosting() {
    let scores: Vec<f64> = (0..101)
        .map(|i| f64::from(i * 37 % 101) / 25.0 - 2.0)
        .collect();
    let positive: Vec<bool> = (0..101).map(|i| i % 7 == 0 || i > 90).collect();
    let weights: Vec<f64> = (0..101).map(|i| f64::from(i % 3)).collect();
    let factors = ClassWeights { pos: 3.0, neg: 0.5 };
    let of_class = |y: &bool| if *y { factors.pos } else { factors.neg };
    let weighted: Vec<f64> = weights
        .iter()
        .zip(&positive)
        .map(|(a, y)| a * of_class(y))
        .collect();
    for softness in [0.02, 0.3, 2.0] {
        let chunk = Chunk {
            scores: &scores,
            positive: &positive,
            weights: Some(&weighted),
        };
        let theirs = score_objective(chunk, BETA, softness, LeastSquares::Plain).unwrap();
        let targets: Vec<f64> = positive.iter().map(|y| f64::from(*y)).collect();
        let mut ours = batch(&scores, &targets, &weights);
        ours.weight_classes(factors);
        for start in [0.0, 50.0, -1e4, f64::NAN] {
            let at = LogitThreshold::Best(start);
            let beta = BETA;
            let found = ours.derivatives(LogitLoss { softness, beta }, at).unwrap();
            assert!((found.value - theirs.value).abs() < 1e-11 * theirs.value);
            for (ours, theirs) in found.gradient.iter().zip(&theirs.gradient) {
                assert!((ours - theirs).abs() < 1e-10, "{ours} {theirs}");
            }
        }
    }
}

#[test]
fn logits_that_are_not_finite_show_and_leave_the_threshold() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for (softness, beta) in [(1.0, 0.0), (0.1, 0.5), (0.0, 1.0)] {
            let batch = batch(&[0.5, bad, -1.0], &[0.0, 1.0, 1.0], &[1.0; 3]);
            let at = LogitThreshold::Best(0.25);
            let found = batch.derivatives(LogitLoss { softness, beta }, at).unwrap();
            assert!(!found.value.is_finite() && found.gradient[1].is_nan());
            assert!(found.gradient[0].is_finite() && found.lambda == 0.25);
        }
    }
}

#[test]
fn bad_input_is_refused() {
    let refused = |logits: &[f64], targets: &[f64], weights: &[f64]| {
        let [logits, targets, weights] = [logits, targets, weights].map(Lanes::<f64>::of);
        let batch = LogitBatch::new(logits, targets, Some(weights));
        batch.unwrap_err().to_string()
    };
    let logits = [0.0, 1.0];
    assert!(refused(&logits, &[0.0, -1.0], &[1.0; 2]).contains("target of example 2 is -1"));
    assert!(refused(&logits, &[f64::NAN, 1.0], &[1.0; 2]).contains("target of example 1"));
    for wrong in [-1.0, f64::INFINITY, f64::NAN] {
        assert!(refused(&logits, &[0.0, 1.0], &[1.0, wrong]).contains("weight of example 2"));
    }
    assert!(refused(&logits, &[0.0], &[1.0; 2]).contains("targets"));
    assert!(refused(&logits, &[0.0, 1.0], &[1.0]).contains("weights"));
}
