//! Weights in order ([`Order`]), N·P(w) → min with s = Aw ≥ 0: a primal-dual interior point over the Newton steps of the
//! soft bound.
//!
//! ```text
//! G(w) = N·P(w) − τ Σ_k ln s_k,   s = Aw > 0 all the way,   ∇G = ∇(N·P) − Aᵀ(τ/s)
//! (M + AᵀDA) p = −∇G,   D = μ/s,   Δμ = τ/s − μ − D Ap
//! ```
//!
//! The multipliers μ ≥ 0 come to τ/s, and that is Newton's method for ∇(N·P) = Aᵀμ with sμ = τ. A step goes no nearer to the bound than a
//! share of the way, is halved until G descends, and τ falls towards 0 after steps that were taken whole, or by half.
//! Weights that are bound to be equal have no inside: for them G has −ν·s + ½ρs² in place of the logarithm, with a large ρ and
//! ν ← ν − ρs. Weights that neither rows nor a penalty hold, of a feature without rows where γ = 0, end at 0 or as near to it as
//! the others let them.
//!
//! **Certificate.** For μ ≥ 0 and any w′ in order N·P(w′) ≥ N·P(w′) − μᵀAw′, and with the gradient u of the loss at w,
//! whether w is in order or not, Fenchel's inequality gives a bound of the right side that is quadratic in w′. Its least value is
//!
//! ```text
//! D = N·P(w) − μᵀAw − ½ ‖∇(N·P) − Aᵀμ‖²_{H₀⁻¹} ≤ min { N·P(w′): Aw′ ≥ 0 }
//! ```
//!
//! whose last term `soft.rs` bounds as it does without an order. The answer is w, or, where that is near enough, the point near w with weights
//! equal where their multiplier holds them together: what is flat looks flat.
//!
//! A is of the weights of raw features; for those of the solver it is AL.

use super::super::Stop;
use super::{Solver, Status};
use crate::Result;
use crate::data::rows::dot;
use crate::solver::order::{Order, Stiffness};

/// Σ sμ at first, as a share of the objective at w = 0: from nothing, and from the minimum of another fit.
const FIRST: f64 = 0.1;
const FIRST_WARM: f64 = 1e-3;
/// What a step leaves of s and μ at least.
const KEPT: f64 = 0.005;
/// τ falls to this share of what sμ is after a whole step, to the other after half of one.
const FALL: f64 = 0.05;
const FALL_HALF: f64 = 0.3;
/// As much of a step is taken for all of it, and for half of it.
const WHOLE: f64 = 0.9;
const HALF: f64 = 0.5;
/// Weights are held together where scale · s is below this times μ: also where both come to 0.
const HELD: f64 = 4.0;
/// μ is within this factor of τ/s.
const APART: f64 = 1e10;
/// ρ of weights that are equal, in curvatures of their pair.
const STIFF: f64 = 1e6;
/// Σ sμ falls no further than this share of what ends the search, or a tenth of that each time that it was not enough.
const LAST: f64 = 0.2;
/// s is at least this, where both weights are 0.
const LEAST_SLACK: f64 = 1e-150;
/// The curvature of a feature is taken for this share of the mean at least.
const LEAST_SCALE: f64 = 1e-3;
/// τ falls below what ends the search no more often.
const MAX_ROUNDS: usize = 8;

/// Multipliers of the order, and the best point in order.
pub(super) struct Monotone<'a> {
    order: &'a Order,
    pairs: Vec<Pair>,
    /// μ, and ν of equal weights.
    mu: Vec<f64>,
    tau: f64,
    /// Features that nothing else holds, ascending.
    loose: Vec<u32>,
    /// How much of the last step was taken.
    taken: f64,
    rounds: usize,
    /// N·P, weights of the raw features, λ.
    best: Option<(f64, Vec<f64>, f64)>,
}

/// A row of A.
struct Pair {
    /// Lower and upper.
    ends: [u32; 2],
    /// What N·P may be curved by along it: of two features with Hessian entries h_i and h_j, which keep their distance but for
    /// w_i − w_j, it is 1/(1/h_i + 1/h_j).
    scale: f64,
    /// The weights are bound to be equal.
    is_equal: bool,
}

/// Where the weights stand.
pub(super) struct Slacks {
    /// s = Aw.
    s: Vec<f64>,
    /// μ, and ν − ρs of equal weights.
    mu: Vec<f64>,
}

impl Slacks {
    /// μᵀAw.
    pub(super) fn product(&self) -> f64 {
        dot(&self.mu, &self.s)
    }
}

/// A step, for the line search and the multipliers.
pub(super) struct OrderStep {
    /// Ap.
    along: Vec<f64>,
    /// The share of the step that keeps s > 0.
    pub(super) longest: f64,
}

impl<'a> Monotone<'a> {
    /// `diagonal` is about that of the Hessian of N·P, for raw features, `unit` that of a feature that is 1 everywhere; `warm` are multipliers of
    /// the fit before; `objective` is at w = 0.
    pub(super) fn new(
        order: &'a Order,
        (diagonal, unit): (&[f64], f64),
        warm: Option<Vec<f64>>,
        objective: f64,
    ) -> Self {
        let count = order.pairs().len();
        let known = warm.filter(|mu| mu.len() == count);
        let share = if known.is_some() { FIRST_WARM } else { FIRST };
        // Of a feature without rows, which the penalty alone keeps where it is, it must not be nothing.
        let of_order = order.features().iter().map(|j| diagonal[*j as usize]);
        let mean = of_order.sum::<f64>() / order.features().len().max(1) as f64;
        let usual = if mean > 0.0 { mean } else { unit };
        let least = (LEAST_SCALE * usual).max(f64::MIN_POSITIVE);
        let pair = |(ends, is_equal): (&[u32; 2], bool)| {
            let curvatures = ends.iter().filter_map(|j| diagonal.get(*j as usize));
            let inverse: f64 = curvatures.map(|h| 1.0 / h.max(least)).sum();
            Pair {
                ends: *ends,
                scale: (1.0 / inverse).clamp(1e-100, 1e100),
                is_equal,
            }
        };
        let pairs = order.pairs().iter().zip(order.are_equal());
        Monotone {
            pairs: pairs.map(pair).collect(),
            mu: known.unwrap_or_else(|| vec![0.0; count]),
            tau: share * objective / count.max(1) as f64,
            loose: (order.features().iter().copied())
                .filter(|j| diagonal[*j as usize] <= 0.0)
                .collect(),
            taken: 0.0,
            rounds: 0,
            best: None,
            order,
        }
    }

    /// The weights of raw features nearby with every s at least τ/μ, or √(τ/scale) where that is less; μ becomes τ/s.
    pub(super) fn start(&mut self, raw: &[f64]) -> Vec<f64> {
        let tau = self.tau;
        let pairs = self.pairs.iter().zip(&self.mu);
        let margins: Vec<f64> = pairs
            .map(|(pair, mu)| tau / mu.max((tau * pair.scale).sqrt()))
            .collect();
        let raw = self.order.inside(raw, &margins);
        let s = self.slacks_of(&raw);
        for ((pair, mu), s) in self.pairs.iter().zip(&mut self.mu).zip(s) {
            if !pair.is_equal {
                *mu = tau / s;
            }
        }
        raw
    }

    /// Aw, above 0 but for equal weights.
    fn slacks_of(&self, raw: &[f64]) -> Vec<f64> {
        let mut s = self.order.differences(raw);
        let size = |j: &u32| raw.get(*j as usize).map_or(0.0, |w| w.abs());
        for (pair, s) in self.pairs.iter().zip(&mut s) {
            if !pair.is_equal {
                let rounding = f64::EPSILON * pair.ends.iter().map(size).sum::<f64>();
                *s = s.max(rounding).max(LEAST_SLACK);
            }
        }
        s
    }

    /// s and μ of the pairs whose weights may differ.
    fn free<'s>(&'s self, at: &'s Slacks) -> impl Iterator<Item = (&'s f64, &'s f64)> + Clone {
        let pairs = self.pairs.iter().zip(at.s.iter().zip(&at.mu));
        pairs.filter(|(pair, _)| !pair.is_equal).map(|(_, at)| at)
    }

    /// The share of a change, at most 1, that leaves a little of all of these, but for equal weights.
    fn longest(&self, of: &[f64], change: &[f64]) -> f64 {
        let pairs = self.pairs.iter().zip(of.iter().zip(change));
        pairs
            .filter(|(pair, (_, d))| **d < 0.0 && !pair.is_equal)
            .map(|(_, (x, d))| (1.0 - KEPT) * x / -d)
            .fold(1.0, f64::min)
    }

    /// At weights of the raw features.
    pub(super) fn at(&self, raw: &[f64]) -> Slacks {
        let s = self.slacks_of(raw);
        let pairs = self.pairs.iter().zip(&self.mu).zip(&s);
        let mu = pairs.map(|((pair, mu), s)| match pair.is_equal {
            true => mu - STIFF * pair.scale * s,
            false => *mu,
        });
        Slacks {
            mu: mu.collect(),
            s,
        }
    }

    /// −Aᵀμ, for raw features.
    pub(super) fn force(&self, at: &Slacks) -> Vec<f64> {
        let mut force = vec![0.0; self.order.cols()];
        self.order.add_transposed(-1.0, &at.mu, &mut force);
        force
    }

    /// What rounding may hide: of Aᵀμ in each raw feature, and of μᵀAw.
    pub(super) fn rounding(&self, at: &Slacks, raw: &[f64]) -> (Vec<f64>, f64) {
        let (mut of_force, mut of_product) = (vec![0.0; self.order.cols()], 0.0);
        for (pair, mu) in self.pairs.iter().zip(&at.mu) {
            for j in pair.ends.map(|j| j as usize) {
                if let (Some(force), Some(w)) = (of_force.get_mut(j), raw.get(j)) {
                    *force += f64::EPSILON * mu.abs();
                    of_product += f64::EPSILON * (mu * w).abs();
                }
            }
        }
        (of_force, of_product)
    }

    /// τ falls if the last step allows it, not below what is worth a share of `enough`; then Aᵀ(μ − τ/s), for raw features, what
    /// leads from ∇(N·P) − Aᵀμ to ∇G.
    pub(super) fn aim(&mut self, at: &Slacks, enough: f64) -> Vec<f64> {
        let free = self.free(at);
        let count = free.clone().count().max(1) as f64;
        let sum: f64 = free.map(|(s, mu)| s * mu).sum();
        let fall = match self.taken {
            taken if taken >= WHOLE => FALL,
            taken if taken >= HALF => FALL_HALF,
            _ => 1.0,
        };
        let least = LAST * 0.1f64.powi(self.rounds as i32) * enough / count;
        self.tau = (fall * sum / count).max(least).min(self.tau);
        let missing = self.pairs.iter().zip(at.s.iter().zip(&at.mu));
        let missing: Vec<f64> = missing
            .map(|(pair, (s, mu))| match pair.is_equal {
                true => 0.0,
                false => mu - self.tau / s,
            })
            .collect();
        let mut force = vec![0.0; self.order.cols()];
        self.order.add_transposed(1.0, &missing, &mut force);
        force
    }

    /// D.
    pub(super) fn stiffness(&self, at: &Slacks) -> Stiffness {
        let pairs = self.pairs.iter().zip(at.s.iter().zip(&at.mu));
        let stiff = pairs.map(|(pair, (s, mu))| match pair.is_equal {
            true => (pair.ends, STIFF * pair.scale),
            false => (pair.ends, mu / s),
        });
        Stiffness {
            pairs: stiff.collect(),
        }
    }

    /// Along a direction of the raw weights.
    pub(super) fn step(&self, at: &Slacks, direction: &[f64]) -> OrderStep {
        let along = self.order.differences(direction);
        OrderStep {
            longest: self.longest(&at.s, &along),
            along,
        }
    }

    /// What G − N·P changes by, t along a step.
    pub(super) fn along(&self, at: &Slacks, step: &OrderStep, t: f64) -> f64 {
        let pairs = self.pairs.iter().zip(&step.along);
        let change = pairs.zip(at.s.iter().zip(&at.mu));
        let change = change.map(|((pair, d), (s, mu))| match pair.is_equal {
            true => t * d * (0.5 * STIFF * pair.scale * t * d - mu),
            false => -self.tau * (t * d / s).ln_1p(),
        });
        change.sum()
    }

    /// The multipliers after `t` of a step, which led to these weights of raw features.
    pub(super) fn take(&mut self, at: &Slacks, step: &OrderStep, t: f64, raw: &[f64]) {
        let tau = self.tau;
        let change: Vec<f64> = (at.s.iter().zip(&at.mu).zip(&step.along))
            .map(|((s, mu), d)| tau / s - mu - mu / s * d)
            .collect();
        let longest = self.longest(&at.mu, &change);
        let share = longest * (t / step.longest).min(1.0);
        let s = self.slacks_of(raw);
        for (k, (pair, mu)) in self.pairs.iter().zip(&mut self.mu).enumerate() {
            if pair.is_equal {
                if t >= WHOLE {
                    *mu -= STIFF * pair.scale * s[k];
                }
                continue;
            }
            let near = tau / s[k];
            *mu = (at.mu[k] + share * change[k]).clamp(near / APART, near * APART);
        }
        self.taken = t.min(longest);
    }

    /// Where multipliers hold weights together they become equal, and what is near is put in order.
    fn flattened(&self, at: &Slacks, raw: &[f64]) -> Vec<f64> {
        let pairs = self.pairs.iter().zip(at.s.iter().zip(&at.mu));
        let held = pairs.filter(|(pair, (s, mu))| pair.is_equal || pair.scale * **s < HELD * **mu);
        let held: Vec<[u32; 2]> = held
            .flat_map(|(Pair { ends: [a, b], .. }, _)| [[*a, *b], [*b, *a]])
            .collect();
        // Its features are those of an order already.
        let flat = match Order::new(self.order.cols(), held) {
            Ok(order) => order.project(raw),
            Err(_) => raw.to_vec(),
        };
        self.order.project(&flat)
    }

    /// For the next fit.
    pub(super) fn into_warm(self) -> Vec<f64> {
        self.mu
    }
}

impl Solver<'_, '_> {
    /// Near the minimum: the stop if a point in order is as near to it as was asked for, and otherwise none, with a smaller τ to come.
    /// Without an order it is the end.
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
        let (Some(at), Some(monotone)) = (&point.slacks, &self.monotone) else {
            return Ok(Some(near));
        };
        let lower = match certifies {
            true => self.dual,
            false => point.lower - point.distance,
        };
        let raw = self.shards.raw(&self.w);
        let flat = monotone.flattened(at, &raw);
        let projected = monotone.order.project(&raw);
        let other = (projected != flat).then_some(projected);
        for raw in [Some(flat), other].into_iter().flatten() {
            if self.put_in_order(raw)? - lower <= enough {
                return Ok(Some(near));
            }
        }
        // The search goes on from w.
        self.shards.set_weights(&self.w);
        let Some(monotone) = &mut self.monotone else {
            return Ok(Some(near));
        };
        monotone.rounds += 1;
        Ok((monotone.rounds > MAX_ROUNDS).then_some(Stop::Stalled))
    }

    /// The least N·P of the points in order so far, this one included, which is of raw features; the rows keep its scores.
    fn put_in_order(&mut self, mut raw: Vec<f64>) -> Result<f64> {
        if let Some(monotone) = &self.monotone {
            monotone.order.rest(&monotone.loose, &mut raw);
        }
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

    /// Ends at the best point in order: its weights of the raw features. Without convergence that near w is one of them.
    pub(super) fn end_in_order(&mut self, converged: bool) -> Result<Option<Vec<f64>>> {
        if let Some(monotone) = self.monotone.as_ref().filter(|_| !converged) {
            let raw = monotone.order.project(&self.shards.raw(&self.w));
            self.put_in_order(raw)?;
        }
        let best = self.monotone.as_mut().and_then(|m| m.best.take());
        Ok(best.map(|(_, raw, lambda)| {
            self.lambda = lambda;
            self.w = self.shards.scaled(&raw);
            raw
        }))
    }
}
