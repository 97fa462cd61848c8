//! The minimum over all scorers, a weight for each kind of example: is it in the order of η = P(y = +1 | x)?
//!
//! Given η, the bound with least squares (γ = 0, v = 1, no intercept) is least at the c with
//!
//! ```text
//! 0 ∈ −η p(λ − c) + (1 − η) p(c − λ) + β(c − (2η − 1)),     p = φ_κ'
//! ```
//!
//! The right side increases in c, and falls in η at the rate 1 + 2β, as p(t) + p(−t) = 1: for κ > 0, where it is continuous, c
//! is a strictly increasing function of η, so that no scorer has a higher AUC. The hinge's jumps by 1 at c = λ, and all η
//! in an interval of length 1/(1 + 2β) are tied there:
//!
//! ```text
//! c = min( 2η − 1 + η/β,  max( λ,  2η − 1 − (1 − η)/β ) )
//! ```

use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Binary;
use ubauc::data::rows::{Dense, Rows};
use ubauc::objective::ubauc::ClassWeight;
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, Fit, fit};

const KINDS: usize = 19;

fn eta(kind: usize) -> f64 {
    (kind as f64 + 1.0) / (KINDS as f64 + 1.0)
}

/// A positive of the weight η and a negative of the weight 1 − η of each kind.
fn population() -> (Dataset, Vec<f64>) {
    let (mut values, mut weights) = (vec![0.0; 2 * KINDS * KINDS], Vec::new());
    for kind in 0..KINDS {
        for row in [2 * kind, 2 * kind + 1] {
            values[row * KINDS + kind] = 1.0;
        }
        weights.extend([eta(kind), 1.0 - eta(kind)]);
    }
    let labels = Binary {
        positive: (0..2 * KINDS).map(|i| i % 2 == 0).collect(),
        n_pos: KINDS,
        n_neg: KINDS,
        names: ["0".into(), "1".into()],
    };
    let rows = Rows::Dense(Dense::new(values, 2 * KINDS, KINDS).unwrap());
    (Dataset::new(rows, labels, Vec::new()).unwrap(), weights)
}

fn minimise(beta: f64, softness: f64, class_weight: ClassWeight) -> Fit {
    let (data, weights) = population();
    let params = BaUbaucParams {
        beta,
        softness,
        class_weight,
        gamma: 1e-9,
        intercept: false,
        tolerance: 1e-10,
        ..BaUbaucParams::default()
    };
    let inputs = BatchInputs {
        weights: Some(&weights),
        ..Default::default()
    };
    fit(&data, &inputs, &params).unwrap()
}

#[test]
fn the_soft_bound_is_in_the_order_of_the_probability() {
    for softness in [0.05, 0.3, 1.0] {
        for beta in [0.1, 0.5, 2.0] {
            for weight in [ClassWeight::None, ClassWeight::Ratio(5.0)] {
                let found = minimise(beta, softness, weight).weights;
                // Between neighbours η differs by 1/20; where the softplus is steepest c moves least.
                let least = (1.0 + 2.0 * beta) / 20.0 / (beta + 1.0 / (4.0 * softness)) / 20.0;
                let rises = found.windows(2).all(|pair| pair[1] - pair[0] > least);
                assert!(rises, "{softness} {beta} {weight}: {found:?}");
            }
        }
    }
}

#[test]
fn the_hinge_ties_an_interval_of_probabilities() {
    for beta in [0.3, 0.5, 2.0] {
        let found = minimise(beta, 0.0, ClassWeight::None);
        let lambda = 0.5 * (found.lambda[0] + found.lambda[1]);
        let mut tied = 0;
        for (kind, score) in found.weights.iter().enumerate() {
            let (eta, m) = (eta(kind), 2.0 * eta(kind) - 1.0);
            let expected = (m + eta / beta).min(lambda.max(m - (1.0 - eta) / beta));
            // P is β/N-strongly convex in each c, and certified to 1e-10 of less than 2.
            assert!(
                (score - expected).abs() < 1e-3,
                "{kind}: {score} {expected}"
            );
            tied += usize::from((score - lambda).abs() < 1e-3);
        }
        let length = 1.0 / (1.0 + 2.0 * beta);
        // η is on a grid of 1/20, of which a closed interval may have one more than its length.
        let difference = (tied as f64 / 20.0 - length).abs();
        assert!(difference < 1.0 / 20.0 + 1e-9, "{beta}: {tied}");
    }
}
