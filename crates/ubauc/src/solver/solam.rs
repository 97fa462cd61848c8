//! SOLAM: the pairwise square loss as a saddle point, by stochastic descent and ascent [Ying, Wen and Lyu 2016].
//!
//! With p the share of positives, the mean over pairs of (1 − w·(x⁺ − x⁻))² is 1 + 1/(p(1−p)) times
//!
//! ```text
//! min_{w,a,b} max_α E F,   F = (1−p)(w·x − a)² 1[y=+1] + p(w·x − b)² 1[y=−1]
//!                             + 2(1+α)(p w·x 1[y=−1] − (1−p) w·x 1[y=+1]) − p(1−p)α²
//! ```
//!
//! where a and b become the class means of the scores and α = b − a. One example at a time suffices for an unbiased
//! gradient. Step t, with γ_t = ζ/√t and p the share of positives among the examples 1…t, is
//!
//! ```text
//! y=+1:  w ← w − 2γ(1−p)(w·x − a − 1 − α) x,   a ← a + 2γ(1−p)(w·x − a),   α ← α − 2γ(1−p)(w·x + pα)
//! y=−1:  w ← w − 2γp(w·x − b + 1 + α) x,       b ← b + 2γp(w·x − b),       α ← α + 2γp(w·x − (1−p)α)
//! ```
//!
//! all from the old values, then w onto the ball of radius R, a and b into [−Rκ, Rκ] and α into [−2Rκ, 2Rκ], with κ the
//! largest ‖x‖. The answer is Σ γ_t w_t / Σ γ_t over the iterates *before* their steps; all start at 0, t goes on over
//! passes.
//!
//! Cost: O(nnz(x)) a step, sparse rows stay sparse: the projection is a change of scale, and the weighted sum is kept as
//! `weights.rs` says.

#[cfg(test)]
mod tests;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::rows::{Row, Rows};
use crate::objective::pairwise;
use crate::solver::passes::{Online, Scored};
use crate::solver::stream::{Streaming, reserve};
use crate::solver::weights::Weights;
use crate::{Error, Result};

/// How far a step goes, and how far all steps may lead.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SolamParams {
    /// ζ > 0 of the step ζ/√t.
    pub zeta: f64,
    /// R > 0, the largest ‖w‖.
    pub radius: f64,
}

impl Default for SolamParams {
    fn default() -> Self {
        SolamParams {
            zeta: 1.0,
            radius: 1.0,
        }
    }
}

impl SolamParams {
    /// Refuses the first parameter outside its range.
    pub fn check(&self) -> Result<()> {
        for (name, value) in [("zeta", self.zeta), ("radius", self.radius)] {
            if !(value > 0.0 && value.is_finite()) {
                let (value, must) = (value.to_string(), "finite and above 0");
                return Err(Error::Parameter { name, value, must });
            }
        }
        Ok(())
    }
}

/// κ, the largest ‖x_i‖ of the rows, feature j divided by its divisor.
pub fn kappa(rows: &Rows, divisors: Option<&[f64]>) -> f64 {
    let divisor = |j: usize| divisors.and_then(|r| r.get(j)).map_or(1.0, |r| *r);
    let norm_sq = |i: usize| {
        let squares = rows.row(i).entries().map(|(j, x)| (x / divisor(j)).powi(2));
        squares.sum::<f64>()
    };
    let largest = (0..rows.len()).into_par_iter().map(norm_sq);
    largest.reduce(|| 0.0, f64::max).sqrt()
}

/// a, b and α.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Scalars {
    a: f64,
    b: f64,
    alpha: f64,
}

/// The learner.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Solam {
    zeta: f64,
    radius: f64,
    /// Rκ.
    bound: f64,
    weights: Weights,
    now: Scalars,
    /// Σ γ_t (a, b, α)_t.
    sums: Scalars,
    /// Σ γ_t.
    gammas: f64,
    /// t, and how many of them were positive.
    steps: u64,
    positives: u64,
}

impl Solam {
    /// For these rows, κ being the length of the longest; refuses rows that are too long for a number.
    pub fn of_rows(rows: &Rows, divisors: Option<&[f64]>, params: &SolamParams) -> Result<Solam> {
        params.check()?;
        let kappa = kappa(rows, divisors);
        if !(params.radius * kappa).is_finite() {
            let what = "the rows are too long for a number; scale the features";
            return Err(Error::Numerical { what });
        }
        Solam::new(rows.cols(), kappa, params)
    }

    /// For rows of d columns, none longer than κ.
    pub fn new(d: usize, kappa: f64, params: &SolamParams) -> Result<Solam> {
        params.check()?;
        let bound = params.radius * kappa;
        if !(kappa >= 0.0 && bound.is_finite()) {
            return Err(Error::Parameter {
                name: "kappa",
                value: format!("{kappa:e}"),
                must: "the length of the longest row, a number also when multiplied by the radius; scale the features",
            });
        }
        Ok(Solam {
            zeta: params.zeta,
            radius: params.radius,
            bound,
            weights: Weights::new(d),
            now: Scalars::default(),
            sums: Scalars::default(),
            gammas: 0.0,
            steps: 0,
            positives: 0,
        })
    }

    /// w ← w + kx, onto the ball; `score` is w·x.
    #[inline]
    fn step(&mut self, k: f64, score: f64, x: Row<'_>) {
        let norm_sq: f64 = match x {
            Row::Dense(values) | Row::Sparse(_, values) => values.iter().map(|x| x * x).sum(),
            Row::Coded { .. } => x.entries().map(|(_, x)| x * x).sum(),
        };
        let weights = &mut self.weights;
        let delta = weights.delta(k);
        weights.add(delta, x);
        let after = weights.norm_sq + 2.0 * k * score + k * k * norm_sq;
        weights.norm_sq = after.max(0.0);
        weights.refresh_norm();
        let limit = self.radius * self.radius;
        if weights.norm_sq > limit {
            let shrink = self.radius / weights.norm_sq.sqrt();
            weights.norm_sq = limit;
            // A w that has left the numbers is marked, to be found after the pass.
            if !weights.decay(shrink) {
                weights.scale = f64::NAN;
            }
        }
    }
}

impl Online for Solam {
    fn learn(&mut self, x: Row<'_>, positive: bool) {
        self.steps = self.steps.saturating_add(1);
        self.positives = self.positives.saturating_add(u64::from(positive));
        let p = self.positives as f64 / self.steps as f64;
        let gamma = self.zeta / (self.steps as f64).sqrt();
        let Scalars { a, b, alpha } = self.now;
        self.gammas += gamma;
        self.sums.a += gamma * a;
        self.sums.b += gamma * b;
        self.sums.alpha += gamma * alpha;
        self.weights.sum += gamma * self.weights.scale;

        let score = self.weights.scale * self.weights.product(x);
        let k = if positive {
            let g = 2.0 * gamma * (1.0 - p);
            self.now.a = (a + g * (score - a)).clamp(-self.bound, self.bound);
            self.now.alpha = alpha - g * (score + p * alpha);
            -g * (score - a - 1.0 - alpha)
        } else {
            let g = 2.0 * gamma * p;
            self.now.b = (b + g * (score - b)).clamp(-self.bound, self.bound);
            self.now.alpha = alpha + g * (score - (1.0 - p) * alpha);
            -g * (score - b + 1.0 + alpha)
        };
        let most = 2.0 * self.bound;
        self.now.alpha = self.now.alpha.clamp(-most, most);
        self.step(k, score, x);
    }

    fn weights(&self) -> Vec<f64> {
        (0..self.weights.pairs.len())
            .map(|j| self.weight(j))
            .collect()
    }

    fn objective(&self, at: &Scored<'_>) -> f64 {
        pairwise::square(at.scores, at.positive).unwrap_or(f64::NAN)
    }
}

impl Streaming for Solam {
    fn grow(&mut self, cols: usize) -> Result<()> {
        let pairs = &mut self.weights.pairs;
        reserve(pairs, cols)?;
        pairs.resize(cols, [0.0; 2]);
        Ok(())
    }

    fn weight(&self, j: usize) -> f64 {
        match self.steps {
            0 => 0.0,
            _ => self.weights.sum_at(j) / self.gammas,
        }
    }

    /// κ, whose largest value is unknown before the stream ends. Refuses what [`Solam::new`] would.
    fn widen(&mut self, norm: f64) -> Result<()> {
        let bound = self.radius * norm;
        if !(norm >= 0.0 && bound.is_finite()) {
            let what = "the rows are too long for a number; scale the features";
            return Err(Error::Numerical { what });
        }
        self.bound = self.bound.max(bound);
        Ok(())
    }

    fn is_sound(&self, cols: usize) -> bool {
        let params = SolamParams {
            zeta: self.zeta,
            radius: self.radius,
        };
        params.check().is_ok()
            && self.weights.pairs.len() == cols
            && self.bound >= 0.0
            && self.bound.is_finite()
            && self.positives <= self.steps
    }
}
