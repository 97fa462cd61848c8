//! (w, λ, b) of now, and their averages: what a stream and a pass over a data set have in common.

use serde::{Deserialize, Serialize};

use super::OlUbaucParams;
use super::step::Plan;
use crate::solver::weights::{LARGEST, Weights};
use crate::{Error, Result};

/// Where the learner stands after `steps` steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Iterate {
    pub(super) weights: Weights,
    pub(super) lambda: f64,
    pub(super) intercept: f64,
    /// Σ_k g_k λ_k and Σ_k g_k b_k over the iterates averaged; g_k is 1 unless they are forgotten.
    pub(super) lambda_sum: f64,
    pub(super) intercept_sum: f64,
    /// Σ_k g_k, how many those are.
    pub(super) averaged: f64,
    /// t.
    pub(super) steps: u64,
}

/// What is left to do of a step: [`Weights::add`] by `delta`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Advance {
    pub(super) delta: [f64; 2],
    /// What decay and projection left of the old w.
    pub(super) kept: f64,
}

impl Iterate {
    pub(super) fn new(d: usize) -> Iterate {
        Iterate {
            weights: Weights::new(d),
            lambda: 0.0,
            intercept: 0.0,
            lambda_sum: 0.0,
            intercept_sum: 0.0,
            averaged: 0.0,
            steps: 0,
        }
    }

    /// The next step, but for the move along x; `product` is u·x. Where there is a weight `averaging`, g, the iterate joins the
    /// average with it. Nothing has changed after an error.
    #[inline(always)] // a call would pass numbers through memory that the next step waits for
    pub(super) fn advance(
        &mut self,
        params: &OlUbaucParams,
        x: &Plan,
        product: f64,
        averaging: Option<f64>,
    ) -> Result<Advance> {
        let before = self.weights.scale;
        let decayed = (before * x.decay) * product;
        let to = x.step(before * product, decayed, self.lambda, self.intercept);
        let reach = to.along * to.along * x.norm_sq;
        // An x whose square is no number does not move w.
        let near = reach <= LARGEST * LARGEST || to.along == 0.0;
        if !(near && to.lambda.abs() <= LARGEST && to.intercept.abs() <= LARGEST) {
            return Err(diverged());
        }
        if params.radius.is_some() {
            self.weights.refresh_norm();
        }
        if !self.weights.decay(x.decay) {
            return Err(diverged());
        }
        let delta = self.weights.delta(to.along);
        let mut kept = x.decay;
        if let Some(radius) = params.radius {
            // The norm as it will be: D² ‖w‖² + 2Dk w·x + k²‖x‖².
            let more = if to.along == 0.0 {
                0.0
            } else {
                2.0 * to.along * decayed + reach
            };
            let norm_sq = x.decay * x.decay * self.weights.norm_sq + more;
            self.weights.norm_sq = norm_sq.max(0.0);
            if norm_sq > radius * radius {
                let shrink = radius / norm_sq.sqrt();
                self.weights.scale *= shrink;
                self.weights.norm_sq = radius * radius;
                kept *= shrink;
            }
        }
        self.lambda = to.lambda;
        self.intercept = to.intercept;
        self.steps = self.steps.saturating_add(1);
        if let Some(gain) = averaging {
            self.weights.sum += gain * self.weights.scale;
            self.lambda_sum += gain * self.lambda;
            self.intercept_sum += gain * self.intercept;
            self.averaged += gain;
        }
        Ok(Advance { delta, kept })
    }

    /// The average of what `sum` adds up, or `last` before there is one.
    pub(super) fn mean(&self, sum: f64, last: f64) -> f64 {
        if self.averaged > 0.0 {
            sum / self.averaged
        } else {
            last
        }
    }

    /// w_j to be saved.
    pub(super) fn weight(&self, j: usize) -> f64 {
        if self.averaged > 0.0 {
            self.weights.sum_at(j) / self.averaged
        } else {
            self.weights.at(j)
        }
    }

    /// All sums of the averages times a power of two.
    #[cold]
    pub(super) fn rescale(&mut self, factor: f64) {
        self.weights.rescale_sums(factor);
        self.lambda_sum *= factor;
        self.intercept_sum *= factor;
        self.averaged *= factor;
    }

    /// λ to be saved.
    pub(super) fn mean_lambda(&self) -> f64 {
        self.mean(self.lambda_sum, self.lambda)
    }

    /// b to be saved.
    pub(super) fn mean_intercept(&self) -> f64 {
        self.mean(self.intercept_sum, self.intercept)
    }
}

fn diverged() -> Error {
    let what = "the online learner diverges; take a smaller eta0, scale the features, or take the implicit step";
    Error::Numerical { what }
}
