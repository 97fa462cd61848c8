//! The Newton system M p = −∇ of the soft bound, by a factor or by conjugate gradients.

use crate::Result;
use crate::data::rows::{add_to, dot};
use crate::solver::cholesky::Cholesky;
use crate::solver::conjugate_gradients::{Enough, conjugate_gradients};
use crate::solver::shards::{Shards, SoftMatrix};

/// Products that a Newton step is taken to need, when the ways are compared.
const TYPICAL_PRODUCTS: f64 = 40.0;
/// Larger systems are never factored: 128 MB.
const MAX_FACTORED: f64 = 4096.0;
/// The residual that a step may leave, as a share of the gradient.
const FORCING: f64 = 0.1;

/// How M p = −∇ is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Newton {
    Factor,
    ConjugateGradients,
}

impl Newton {
    /// By the multiplications of one step.
    pub(super) fn cheapest(shards: &Shards<'_>) -> Newton {
        let (d, n) = (shards.cols() as f64, shards.rows as f64);
        let stored = shards.stored() as f64;
        let factor = stored * stored / n / 2.0 + d * d * d / 3.0;
        let products = TYPICAL_PRODUCTS * 2.0 * stored;
        match factor <= products && d <= MAX_FACTORED {
            true => Newton::Factor,
            false => Newton::ConjugateGradients,
        }
    }

    /// p, so well that the gradient after the step is about `FORCING` of this one or, where that is more, what ends
    /// the search: ‖∇‖² = 2Nγ · `enough`.
    pub(super) fn direction(
        self,
        shards: &mut Shards<'_>,
        matrix: &SoftMatrix,
        gradient: &[f64],
        ridge: f64,
        enough: f64,
    ) -> Result<Vec<f64>> {
        let mut right: Vec<f64> = gradient.iter().map(|g| -g).collect();
        if self == Newton::Factor {
            let d = right.len();
            let mut m = shards.soft_gram(matrix)?;
            let largest = (0..d).map(|j| m[j * d + j]).fold(0.0, f64::max);
            (0..d).for_each(|j| m[j * d + j] += ridge);
            // Features that depend on each other, and no γ to tell them apart: any small ridge makes a direction.
            let ridges = std::iter::once(0.0).chain((-13..=0).map(|k| largest * 10f64.powi(k)));
            for more in ridges {
                let mut a = m.clone();
                (0..d).for_each(|j| a[j * d + j] += more);
                if let Some(factor) = Cholesky::new(a, d) {
                    factor.solve(&mut right);
                    return Ok(right);
                }
            }
        }
        let mut inverse = shards.soft_diagonal(matrix)?;
        for x in &mut inverse {
            *x = 1.0 / (x.max(0.0) + ridge).max(f64::MIN_POSITIVE);
        }
        let precondition = |r: &[f64]| r.iter().zip(&inverse).map(|(r, i)| r * i).collect();
        let product = |p: &[f64]| {
            let mut product = shards.soft_product(matrix, p)?;
            add_to(ridge, p, &mut product);
            Ok(product)
        };
        let left = FORCING * FORCING * dot(gradient, gradient);
        let left = left.max(0.1 * 2.0 * ridge * enough);
        conjugate_gradients(&right, Enough::Residual(left), precondition, product)
    }
}
