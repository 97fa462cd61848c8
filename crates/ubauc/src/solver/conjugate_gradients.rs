//! Conjugate gradients: M x = right, given products with M and with about its inverse.

use crate::Result;
use crate::data::rows::{add_to, dot};

/// A solution ends after this many rounds, whatever is left.
const MAX_ROUNDS: usize = 500;

/// When enough is done.
#[derive(Clone, Copy)]
pub(super) enum Enough {
    /// ‖residual‖² is at most this.
    Residual(f64),
    /// A round gains less than this part of the mean gain of a round so far, measured by the quadratic model
    /// (Nash & Sofer 1990): no better than a Newton step deserves, whatever the scale of the features.
    Gain(f64),
}

/// From x = 0.
pub(super) fn conjugate_gradients(
    right: &[f64],
    enough: Enough,
    precondition: impl Fn(&[f64]) -> Vec<f64>,
    mut times: impl FnMut(&[f64]) -> Result<Vec<f64>>,
) -> Result<Vec<f64>> {
    let mut x = vec![0.0; right.len()];
    let mut residual = right.to_vec();
    let mut s = precondition(&residual);
    let mut direction = s.clone();
    let mut rs = dot(&residual, &s);
    // The model ½xᵀMx − right·x, from 0 down.
    let mut model = 0.0;
    for round in 1..=MAX_ROUNDS {
        if matches!(enough, Enough::Residual(most) if dot(&residual, &residual) <= most) {
            break;
        }
        let product = times(&direction)?;
        let curvature = dot(&direction, &product);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        let step = rs / curvature;
        add_to(step, &direction, &mut x);
        add_to(-step, &product, &mut residual);
        let gain = 0.5 * step * rs;
        model -= gain;
        if matches!(enough, Enough::Gain(part) if round as f64 * gain <= part * -model) {
            break;
        }
        s = precondition(&residual);
        let next = dot(&residual, &s);
        let keep = next / rs;
        rs = next;
        direction
            .iter_mut()
            .zip(&s)
            .for_each(|(d, s)| *d = s + keep * *d);
    }
    Ok(x)
}
