//! Weights in order ([`Order`]), N·P(w) → min with Aw ≥ 0: an augmented Lagrangian over the Newton steps of the soft bound.
//!
//! ```text
//! G(w) = N·P(w) + Σ_k { [μ_k − ρ_k(Aw)_k]₊² − μ_k² }/(2ρ_k),   μ⁺ = [μ − ρAw]₊
//! ∇G = ∇(N·P) − Aᵀμ⁺,   with the Hessian M + A_aᵀρA_a of the pairs a where μ⁺ > 0
//! ```
//!
//! G is minimised as N·P is, the closer the nearer the end; then μ ← μ⁺, and all ρ grow if that by which the order is missed,
//! Σ_k (μ⁺ − μ)²/ρ, has not shrunk enough. They begin with what N·P may be curved by along a pair: of two features with
//! Hessian entries h_i and h_j, which keep their distance but for w_i − w_j, it is 1/(1/h_i + 1/h_j).
//!
//! **Certificate.** For μ ≥ 0 and any w′ in order N·P(w′) ≥ N·P(w′) − μᵀAw′, and with the gradient u of the loss at w,
//! whether w is in order or not, Fenchel's inequality gives a bound of the right side that is quadratic in w′. Its least value is
//!
//! ```text
//! D = N·P(w) − μᵀAw − ½ ‖∇(N·P) − Aᵀμ‖²_{H₀⁻¹} ≤ min { N·P(w′): Aw′ ≥ 0 }
//! ```
//!
//! With μ = μ⁺ the last term is that of ∇G, which `soft.rs` bounds anyhow. The answer is the point in order near w
//! ([`Order::project`]), and its N·P − D is what is certified: for w in order itself, ½‖∇ − Aᵀμ‖² + μᵀAw.
//!
//! A is of the weights of raw features; for those of the solver it is AL.

use super::super::Stop;
use super::{Solver, Status};
use crate::Result;
use crate::data::rows::dot;
use crate::solver::order::{Order, Stiffness};

/// The minimum of G may be missed by this share of what ends the search …
const LAST: f64 = 0.3;
/// … or by this share of the gap of the last point in order, which is taken for this share of the objective at first.
const SHARE: f64 = 0.05;
const FIRST_GAP: f64 = 0.02;
/// ρ grows by this where the order is missed by more than this share of what it was missed by before.
const GROWTH: f64 = 10.0;
const SHRUNK: f64 = 0.05;
/// ρ grows no further: beyond it rounding of Aw is more than a multiplier.
const STIFFEST: f64 = 1e9;
/// The curvature of a feature is taken for this share of the mean at least.
const LEAST_SCALE: f64 = 1e-3;
/// Multipliers move no more often.
const MAX_ROUNDS: usize = 60;

/// Multipliers of the order, and the best point in order.
pub(super) struct Monotone<'a> {
    pub(super) order: &'a Order,
    mu: Vec<f64>,
    /// ρ of each pair is this times its scale.
    rho: f64,
    scales: Vec<f64>,
    missed: f64,
    /// Of the last point in order.
    gap: Option<f64>,
    rounds: usize,
    /// N·P, weights of the raw features, λ.
    best: Option<(f64, Vec<f64>, f64)>,
}

/// Where G is looked at.
pub(super) struct Augmented {
    /// Aw.
    differences: Vec<f64>,
    /// μ⁺.
    plus: Vec<f64>,
}

impl Augmented {
    /// μ⁺ᵀAw.
    pub(super) fn product(&self) -> f64 {
        dot(&self.plus, &self.differences)
    }

    /// ‖μ⁺‖.
    pub(super) fn size(&self) -> f64 {
        dot(&self.plus, &self.plus).sqrt()
    }
}

impl<'a> Monotone<'a> {
    /// `diagonal` is about that of the Hessian of N·P, for raw features; `warm` are multipliers and ρ of the fit before.
    pub(super) fn new(order: &'a Order, diagonal: &[f64], warm: Option<(Vec<f64>, f64)>) -> Self {
        let count = order.pairs().len();
        let cold = || (vec![0.0; count], 1.0);
        let known = warm.filter(|(mu, _)| mu.len() == count);
        let (mu, rho) = known.unwrap_or_else(cold);
        // Of a feature without rows, which the penalty alone keeps where it is, it must not be nothing.
        let of_order = order.features().iter().map(|j| diagonal[*j as usize]);
        let mean = of_order.sum::<f64>() / order.features().len().max(1) as f64;
        let least = (LEAST_SCALE * mean).max(f64::MIN_POSITIVE);
        let scale = |pair: &[u32; 2]| {
            let curvatures = pair.iter().filter_map(|j| diagonal.get(*j as usize));
            let inverse: f64 = curvatures.map(|h| 1.0 / h.max(least)).sum();
            (1.0 / inverse).clamp(1e-100, 1e100)
        };
        Monotone {
            scales: order.pairs().iter().map(scale).collect(),
            order,
            mu,
            rho,
            missed: f64::INFINITY,
            gap: None,
            rounds: 0,
            best: None,
        }
    }

    /// How near the minimum of G must be.
    pub(super) fn inner(&self, enough: f64, objective: f64) -> f64 {
        let gap = self.gap.unwrap_or(FIRST_GAP * objective.abs());
        (LAST * enough).max(SHARE * gap)
    }

    /// At weights of the raw features.
    pub(super) fn at(&self, raw: &[f64]) -> Augmented {
        let differences = self.order.differences(raw);
        let plus = differences.iter().zip(&self.mu).zip(&self.scales);
        let plus = plus.map(|((s, mu), scale)| (mu - self.rho * scale * s).max(0.0));
        Augmented {
            plus: plus.collect(),
            differences,
        }
    }

    /// −Aᵀμ⁺, for raw features.
    pub(super) fn force(&self, at: &Augmented) -> Vec<f64> {
        let mut force = vec![0.0; self.order.cols()];
        self.order.add_transposed(-1.0, &at.plus, &mut force);
        force
    }

    /// G − N·P.
    pub(super) fn value(&self, at: &Augmented) -> f64 {
        let terms = at.plus.iter().zip(&self.mu).zip(&self.scales);
        let terms = terms.map(|((plus, mu), scale)| (plus - mu) * (plus + mu) / scale);
        terms.sum::<f64>() / (2.0 * self.rho)
    }

    /// What G − N·P changes by, t along a direction of the raw weights.
    pub(super) fn along(&self, at: &Augmented, direction: &[f64]) -> impl Fn(f64) -> f64 {
        let along = self.order.differences(direction);
        move |t| {
            let terms = (at.differences.iter().zip(&along))
                .zip(self.mu.iter().zip(&at.plus))
                .zip(&self.scales);
            let change = terms.map(|(((s, d), (mu, plus)), scale)| {
                let moved = (mu - self.rho * scale * (s + t * d)).max(0.0);
                (moved - plus) * (moved + plus) / scale
            });
            change.sum::<f64>() / (2.0 * self.rho)
        }
    }

    pub(super) fn stiffness(&self, at: &Augmented) -> Stiffness {
        let pairs = self.order.pairs().iter().zip(&self.scales).zip(&at.plus);
        let active = pairs.filter(|(_, plus)| **plus > 0.0);
        Stiffness {
            pairs: active
                .map(|((pair, scale), _)| (*pair, self.rho * scale))
                .collect(),
        }
    }

    /// The multipliers of the minimum of G.
    fn advance(&mut self, at: &Augmented) {
        let changes = at.plus.iter().zip(&self.mu).zip(&self.scales);
        let squares = changes.map(|((plus, mu), scale)| (plus - mu) * (plus - mu) / scale);
        let missed = squares.sum::<f64>().sqrt() / self.rho;
        if missed > SHRUNK * self.missed {
            self.rho = (GROWTH * self.rho).min(STIFFEST);
        }
        self.missed = missed;
        self.mu.clone_from(&at.plus);
        self.rounds += 1;
    }

    /// For the next fit.
    pub(super) fn into_warm(self) -> (Vec<f64>, f64) {
        (self.mu, self.rho)
    }
}

impl Solver<'_, '_> {
    /// At the minimum of G, or as near as can be had: the stop if the point in order near it is as near to the minimum as
    /// was asked for, and otherwise none, with other multipliers. Without an order it is the end.
    pub(super) fn settle(
        &mut self,
        point: &Status,
        enough: f64,
        certifies: bool,
    ) -> Result<Option<Stop>> {
        let near = match certifies {
            true => Stop::Converged,
            false => Stop::Estimated,
        };
        let Some(at) = &point.augmented else {
            return Ok(Some(near));
        };
        let objective = self.put_in_order()?;
        let lower = match certifies {
            true => self.dual,
            false => point.lower - point.distance,
        };
        let Some(monotone) = &mut self.monotone else {
            return Ok(Some(near));
        };
        let gap = objective - lower;
        if gap <= enough {
            return Ok(Some(near));
        }
        monotone.gap = Some(gap);
        monotone.advance(at);
        // What the last step promised was of another G.
        self.promised = f64::INFINITY;
        Ok((monotone.rounds > MAX_ROUNDS).then_some(Stop::Stalled))
    }

    /// The least N·P of the points in order so far, the one near w included.
    fn put_in_order(&mut self) -> Result<f64> {
        let Some(monotone) = &self.monotone else {
            return Ok(f64::INFINITY);
        };
        let raw = monotone.order.project(&self.shards.raw(&self.w));
        let kept = self.lambda;
        self.shards.set_raw_weights(raw.clone());
        let softness = self.params.softness;
        let start = self.shards.soft_slope(kept, softness)?;
        self.balance(start)?;
        let lambda = std::mem::replace(&mut self.lambda, kept);
        let value = self.shards.soft_at(0.0, lambda, softness)?.value;
        let squares = match self.params.beta > 0.0 {
            true => self.shards.residuals(self.params.intercept)?.1,
            false => 0.0,
        };
        let w = self.shards.scaled(&raw);
        let ridge = self.n * self.params.gamma;
        let objective = value + 0.5 * (self.params.beta * squares + ridge * dot(&w, &w));
        self.shards.set_weights(&self.w);
        let Some(monotone) = &mut self.monotone else {
            return Ok(objective);
        };
        match &monotone.best {
            Some((least, ..)) if *least <= objective => Ok(*least),
            _ => {
                monotone.best = Some((objective, raw, lambda));
                Ok(objective)
            }
        }
    }

    /// Ends at the best point in order: its weights of the raw features.
    pub(super) fn end_in_order(&mut self) -> Result<Option<Vec<f64>>> {
        if self.monotone.as_ref().is_some_and(|m| m.best.is_none()) {
            self.put_in_order()?;
        }
        let best = self.monotone.as_mut().and_then(|m| m.best.take());
        Ok(best.map(|(_, raw, lambda)| {
            self.lambda = lambda;
            self.w = self.shards.scaled(&raw);
            raw
        }))
    }
}
