//! Conjugate gradients: M x = right, given products with M and with about its inverse.

use crate::Result;
use crate::data::rows::{add_to, dot};

/// A solution ends after this many rounds, whatever is left.
pub(super) const MAX_ROUNDS: usize = 500;

/// When enough is done.
#[derive(Clone, Copy)]
pub(super) enum Enough {
    /// ‖residual‖² is at most this.
    Residual(f64),
    /// A round gains less than this part of the mean gain of a round so far, measured by the quadratic model
    /// (Nash & Sofer 1990): no better than a Newton step deserves, whatever the scale of the features.
    Gain(f64),
    /// ‖residual‖² is at most `residual`, or rᵀPr, P the preconditioner, at most this share of what it was at first.
    Step {
        /// As [`Enough::Residual`].
        residual: f64,
        /// Of rᵀPr.
        share: f64,
    },
}

/// What was found.
pub(super) struct Solution {
    pub(super) x: Vec<f64>,
    /// right − Mx, as kept up round by round.
    pub(super) residual: Vec<f64>,
    /// Products with M.
    pub(super) rounds: usize,
    /// rᵀPr as a share of what it was at first.
    pub(super) share: f64,
    /// Neither rounds nor curvature ran out.
    pub(super) is_enough: bool,
}

/// From x = 0, in at most `most` rounds.
pub(super) fn conjugate_gradients(
    right: &[f64],
    enough: Enough,
    most: usize,
    precondition: impl Fn(&[f64]) -> Vec<f64>,
    mut times: impl FnMut(&[f64]) -> Result<Vec<f64>>,
) -> Result<Solution> {
    let mut x = vec![0.0; right.len()];
    let mut residual = right.to_vec();
    let mut s = precondition(&residual);
    let mut direction = s.clone();
    let mut rs = dot(&residual, &s);
    let first = rs;
    // The model ½xᵀMx − right·x, from 0 down.
    let mut model = 0.0;
    let (mut rounds, mut is_enough) = (0, false);
    while rounds < most {
        let small = |most: f64| dot(&residual, &residual) <= most;
        is_enough = match enough {
            Enough::Residual(most) => small(most),
            Enough::Step { residual, share } => rs <= share * first || small(residual),
            Enough::Gain(_) => false,
        };
        if is_enough {
            break;
        }
        let product = times(&direction)?;
        rounds += 1;
        let curvature = dot(&direction, &product);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        let step = rs / curvature;
        add_to(step, &direction, &mut x);
        add_to(-step, &product, &mut residual);
        let gain = 0.5 * step * rs;
        model -= gain;
        if matches!(enough, Enough::Gain(part) if rounds as f64 * gain <= part * -model) {
            is_enough = true;
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
    Ok(Solution {
        x,
        residual,
        rounds,
        share: if first > 0.0 { rs / first } else { 0.0 },
        is_enough,
    })
}
