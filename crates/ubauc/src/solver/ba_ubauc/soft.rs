//! The soft bound, κ > 0: a smooth problem, minimised by Newton's method with λ and b eliminated.
//!
//! ```text
//! N·P(w) = min_λ Σ a_i φ(y_i(λ − z_i)) + (β/2) Σ V_i (y_i − z_i − b)² + (Nγ/2)‖w‖²,   φ(t) = κ ln(1 + e^{t/κ})
//! ```
//!
//! With p_i = φ'(y_i(λ − z_i)), u_i = −a_i y_i p_i and h_i = a_i p_i(1 − p_i)/κ, at the λ at which Σ u_i = 0,
//!
//! ```text
//! ∇ = Nγw + βXᵀV(z + b − y) + Xᵀu,
//! M = NγI + βX̃ᵀVX̃ + Xᵀdiag(h)X − (Xᵀh)(Xᵀh)ᵀ/Σh
//! ```
//!
//! (X̃ less its V-weighted mean where there is an intercept b). A step solves M p = −∇ by conjugate gradients
//! (`system.rs`), moves λ along by (h·Xp)/Σh, and is halved until P descends; then λ is made exact again by
//! Newton's method in one dimension.
//!
//! **Certificate.** u is the gradient of the loss at z: −y_i u_i ∈ [0, a_i], Σ u_i = 0, and Fenchel's inequality is an
//! equality. So D(u) = min_w { q(w) + u·Xw } − Σ a_i φ*(−y_i u_i/a_i) ≤ min N·P, q the quadratic terms, and
//!
//! ```text
//! N·P − D = ½ ∇ᵀH₀⁻¹∇ ≤ ‖∇‖²/(2Nγ),   H₀ = NγI + βX̃ᵀVX̃.
//! ```
//!
//! Where γ = 0 the factor of H₀ is needed, and where there is none (β = 0, or features that depend on each other) nothing
//! is certified.
//!
//! **Estimates.** m = −½ ∇·p is what a step promises by the quadratic model, and about P less its minimum before it. Without a
//! certificate, and without an order of the weights, a step that promises no more than what is asked for is the last. In fits that are only compared conjugate gradients need
//! not leave less of a step than the square of |m − A|/m of the one before, A what that gained in place of m, but for the last step,
//! whose promise is to be believed.
//!
//! λ is not exact, and Σ u_i not 0, so u′ = u − δh is taken for u, δ = Σu/Σh: what u would be, to first order, δ further on.
//! Σ u′_i = 0, and p′_i = p_i ± p_i(1 − p_i)δ/κ is in [0, 1] where |δ| ≤ κ. Fenchel's inequality then leaves κ times the
//! divergence of Bernoulli(p′) from Bernoulli(p) a row, no more than (p′ − p)²/(p(1 − p)): together Σ h_i δ² = δ Σu. ∇ is
//! that of u′, ∇ − δXᵀh, which is also the slope of P along a step with λ moved along. Where |δ| > κ nothing is certified but
//! if Σu is no more than rounding: the heavier side shrunk by the share ε that it is too heavy leaves at most ε Σ a_i φ, since
//! the divergence is convex in ε, 0 at 0 and φ/κ at 1.

mod monotone;
mod system;

use std::borrow::Cow;

use super::newton::System;
use super::rounding::{Rounding, largest_by_signs};
use super::{BaUbaucParams, Fit, Progress, Stop, TracePoint, certified, relative};
use crate::data::rows::{add_to, dot};
use crate::objective::loss::Loss;
use crate::objective::ubauc::mean_objective;
use crate::solver::order::Order;
use crate::solver::shards::{Moments, Shards, SoftEvaluation, SoftLine, SoftPoint};
use crate::solver::threshold::{TIED, balanced};
use crate::{Error, Result};
use monotone::{Monotone, OrderStep, Slacks};
use system::{Newton, Problem};

/// A step is accepted at this share of the descent that the slope promises (Armijo) …
const DESCENT: f64 = 1e-4;
/// … up to the rounding of P, which hides the last steps.
const ROUNDING: f64 = 1e-14;
const MAX_HALVINGS: usize = 40;
/// The residual that a step may leave, as a share of the gradient, in the norm of the preconditioner …
const FORCING: f64 = 0.1;
/// … or, of fits that are only compared, at most.
const LOOSE: f64 = 0.5;
/// A Newton step in λ of this share of κ times the root of the tolerance is the last: the next would be the square of it, and
/// what is left of Σ u_i no more than a hundredth of the tolerance.
const LAMBDA_NEAR: f64 = 0.1;
/// Where a gap is estimated, at most this share of what was gained since w = 0 may be left.
const LITTLE: f64 = 0.01;
/// Steps without progress after which the solver gives up; a descent by less than this share of P is none.
const IDLE: usize = 5;
const PROGRESS: f64 = 1e-12;
/// Where weights are in order, the gap must be this share of what ends the search before a point in order is tried.
const NEAR_ORDER: f64 = 0.5;

/// Where the next fit on the same rows begins.
pub(super) struct WarmStart {
    pub(super) w: Vec<f64>,
    pub(super) lambda: f64,
    /// κ of the fit that ended there; `None` if that was another loss, or only weights are known.
    pub(super) softness: Option<f64>,
    /// The rows have their scores by w already.
    is_scored: bool,
    /// With its preconditioner.
    newton: Option<Newton>,
    /// Of the order.
    multipliers: Option<Vec<f64>>,
}

impl WarmStart {
    pub(super) fn of(w: Vec<f64>, lambda: f64) -> WarmStart {
        WarmStart {
            w,
            lambda,
            softness: None,
            is_scored: false,
            newton: None,
            multipliers: None,
        }
    }

    /// The same from other weights.
    pub(super) fn at(self, w: Vec<f64>) -> WarmStart {
        WarmStart {
            w,
            softness: None,
            is_scored: false,
            ..self
        }
    }
}

/// How ½ ∇ᵀH₀⁻¹∇ is bounded.
pub(super) enum Bound {
    /// By NγI.
    Ridge(Rounding),
    /// By a factor of H₀: γ = 0.
    Factor(System),
    /// Not at all: a step that promises less than what is asked for is the last one.
    None,
    /// The same, and the minimum is only compared with others: steps before the last are solved as well as they deserve.
    Comparison,
}

impl Bound {
    /// The best there is; `moments` where γ = 0 and there are some.
    pub(super) fn new(
        shards: &mut Shards<'_>,
        params: &BaUbaucParams,
        moments: Option<&Moments>,
    ) -> Result<Bound> {
        Ok(match moments {
            _ if params.gamma > 0.0 => {
                let diagonal = shards.square_diagonal(1.0)?;
                let rounding = Rounding::new(diagonal.into_iter(), shards.rows);
                Bound::Ridge(rounding.of_ridge(shards.total.sum() * params.gamma))
            }
            Some(moments) => match System::new(shards, params, Some(moments)) {
                Ok(system) => Bound::Factor(system),
                // No ridge makes a factor of it: nothing but zeros.
                Err(Error::Numerical { .. }) => Bound::None,
                Err(error) => return Err(error),
            },
            None => Bound::None,
        })
    }
}

pub(super) struct Solver<'s, 'a> {
    shards: &'s mut Shards<'a>,
    params: BaUbaucParams,
    newton: Newton,
    bound: Bound,
    n: f64,
    w: Vec<f64>,
    lambda: f64,
    /// λ is the best one for w already.
    is_balanced: bool,
    /// What the last step promised, −½ ∇·p …
    promised: f64,
    /// … and by which share of that it was wrong: 1 unless it was a whole step. The first one is solved well.
    model_error: f64,
    /// What conjugate gradients left of it, 0 where that does not matter.
    share: f64,
    /// The largest lower bound so far, and the best point.
    dual: f64,
    best: Best,
    /// The order of the weights.
    monotone: Option<Monotone<'a>>,
    trace: Vec<TracePoint>,
}

/// The least N·P and, of points whose N·P rounding cannot tell apart, the least distance from the minimum.
struct Best {
    objective: f64,
    distance: f64,
    w: Vec<f64>,
    lambda: f64,
}

/// Where the solver stands.
struct Status {
    found: SoftEvaluation,
    /// ∇, or ∇ − Aᵀμ where weights are in order.
    gradient: Vec<f64>,
    /// N·P.
    objective: f64,
    /// N·P, or N·P − μᵀAw where weights are in order, less its minimum is at most this …
    distance: f64,
    /// … and this less that is a lower bound of the minimum.
    lower: f64,
    slacks: Option<Slacks>,
}

impl Status {
    /// N·P less its lower bound; 0 where weights that are to be equal are not yet, and N·P is below it.
    fn gap(&self) -> f64 {
        match self.objective - self.lower + self.distance {
            gap if gap < 0.0 => 0.0,
            gap => gap,
        }
    }
}

impl<'s, 'a> Solver<'s, 'a> {
    pub(super) fn new(
        shards: &'s mut Shards<'a>,
        params: &BaUbaucParams,
        warm: Option<WarmStart>,
        bound: Bound,
        order: Option<&'a Order>,
    ) -> Result<Self> {
        let n = shards.total.sum();
        let at_zero = lambda_at_zero(shards, params.softness);
        let is_warm = warm.is_some();
        let mut start = warm.unwrap_or_else(|| WarmStart::of(vec![0.0; shards.cols()], at_zero));
        let monotone = match order {
            Some(order) => {
                let mut diagonal = shards.raw_square_diagonal()?;
                // At most: p(1 − p) ≤ 1/4.
                let curvature = params.beta + 0.25 / params.softness;
                let ridge = n * params.gamma;
                diagonal
                    .iter_mut()
                    .for_each(|h| *h = *h * curvature + ridge);
                let objective = objective_at_zero(shards, params);
                let multipliers = start.multipliers.take();
                let size = (&diagonal[..], n * curvature);
                let mut monotone = Monotone::new(order, size, multipliers, objective);
                let raw = monotone.start(&shards.raw(&start.w));
                start.w = shards.scaled(&raw);
                start.is_scored = false;
                Some(monotone)
            }
            None => None,
        };
        // Scores begin at 0.
        let is_first = !is_warm && monotone.is_none() && !shards.is_scored();
        if !start.is_scored && !is_first {
            shards.set_weights(&start.w);
        }
        let ordered = order.map_or(&[][..], Order::features);
        Ok(Solver {
            newton: (start.newton).unwrap_or_else(|| Newton::new(shards, ordered)),
            monotone,
            shards,
            params: *params,
            bound,
            n,
            w: start.w,
            lambda: start.lambda,
            is_balanced: is_first,
            promised: f64::INFINITY,
            model_error: FORCING,
            share: 1.0,
            dual: f64::NEG_INFINITY,
            best: Best {
                objective: f64::INFINITY,
                distance: f64::INFINITY,
                w: Vec::new(),
                lambda: 0.0,
            },
            trace: Vec::new(),
        })
    }

    pub(super) fn run(mut self, progress: Option<Progress<'_>>) -> Result<(Fit, WarmStart)> {
        let (mut nearest, mut lowest, mut idle) = (f64::INFINITY, f64::INFINITY, 0);
        let certifies = match &self.bound {
            Bound::Ridge(_) => true,
            Bound::Factor(system) => system.certifies(&self.params),
            Bound::None | Bound::Comparison => false,
        };
        let is_compared = matches!(self.bound, Bound::Comparison);
        if !self.is_balanced {
            let start = self.shards.soft_slope(self.lambda, self.params.softness)?;
            self.balance(start)?;
        }
        let at_zero = objective_at_zero(self.shards, &self.params);
        let mut newton = 0;
        let stop = loop {
            let mut point = self.evaluate(certifies)?;
            let trace = self.record(&point, newton, certifies);
            if let Some(progress) = progress {
                progress(&trace);
            }
            let mut enough = self.params.tolerance * point.objective.abs();
            if !certifies {
                // A large γ leaves little to gain, and that little is the model. Weights inside an order may gain nothing before the end.
                let gained = LITTLE * (at_zero - point.objective);
                let least = match &self.monotone {
                    Some(_) => LITTLE * enough,
                    None => ROUNDING * point.objective,
                };
                enough = enough.min(gained.max(least));
            }
            let gap = point.gap();
            let near = match &self.monotone {
                Some(_) => NEAR_ORDER * enough,
                None => enough,
            };
            if gap <= near {
                if let Some(stop) = self.settle(&point, enough, certifies)? {
                    break stop;
                }
                // Scores were computed again.
                point = self.evaluate(certifies)?;
            }
            if newton >= self.params.max_newton {
                break Stop::MaxNewton;
            }
            // Far from the minimum the gap may rise while P still descends.
            let is_nearer = gap < 0.9 * nearest;
            let is_lower = point.objective < lowest - 0.1 * enough.max(PROGRESS * lowest);
            idle = if is_nearer || is_lower { 0 } else { idle + 1 };
            nearest = nearest.min(gap);
            lowest = lowest.min(point.objective);
            if idle > IDLE || !self.step(&point, enough, is_compared)? {
                // Put in order it may be near enough.
                let settled = match &self.monotone {
                    Some(_) => self.settle(&point, enough, certifies)?,
                    None => None,
                };
                break settled.unwrap_or(Stop::Stalled);
            }
            newton += 1;
            let is_enough = (!is_compared || self.is_solved()) && self.promised <= enough;
            if !certifies && self.monotone.is_none() && is_enough {
                break Stop::Estimated;
            }
        };
        self.finish(stop, newton)
    }

    /// Whether the last step was solved well enough for its promise to count.
    fn is_solved(&self) -> bool {
        self.share <= FORCING * FORCING
    }

    /// The best λ for the current z, from a point near it.
    fn balance(&mut self, at: SoftPoint) -> Result<()> {
        let softness = self.params.softness;
        let near = LAMBDA_NEAR * self.params.tolerance.sqrt() * softness;
        let shards = &mut *self.shards;
        self.lambda = balanced(at, softness, near, |lambda| {
            shards.soft_slope(lambda, softness)
        })?;
        Ok(())
    }

    fn evaluate(&mut self, certifies: bool) -> Result<Status> {
        let BaUbaucParams {
            beta,
            gamma,
            softness,
            intercept,
            ..
        } = self.params;
        let found = self
            .shards
            .evaluate_soft(self.lambda, softness, beta, intercept)?;
        let ridge = self.n * gamma;
        let mut gradient = found.gradient.clone();
        add_to(ridge, &self.w, &mut gradient);
        let unbalanced = found.up - found.down;
        let off = match unbalanced {
            0.0 => 0.0,
            sum => sum / found.curvature.1,
        };
        let is_near = off.abs() <= softness;
        if is_near {
            add_to(-off, &found.curvature.0, &mut gradient);
        }
        let square = dot(&self.w, &self.w);
        let objective = found.value + 0.5 * (beta * found.squares + ridge * square);
        refuse_infinite(objective)?;
        let mut lower = objective;
        let mut of_order = None;
        let slacks = self.monotone.as_ref().map(|monotone| {
            let raw = self.shards.raw(&self.w);
            let at = monotone.at(&raw);
            let (mut off, of_product) = monotone.rounding(&at, &raw);
            self.shards.divide(&mut off);
            of_order = Some(off);
            lower -= of_product;
            let mut force = monotone.force(&at);
            self.shards.divide(&mut force);
            add_to(1.0, &force, &mut gradient);
            lower -= at.product();
            at
        });
        let share = unbalanced.abs() / found.up.max(found.down).max(f64::MIN_POSITIVE);
        let rounding = f64::EPSILON * (self.shards.rows as f64).sqrt();
        let slack = match is_near {
            true => off * unbalanced,
            false if share <= rounding => share * found.value,
            false => f64::INFINITY,
        };
        let forces = beta * found.squares.sqrt() + found.multipliers;
        // ‖∇‖ with what rounding may hide of Aᵀμ, in the norm of the bound.
        let with_order = |squared: &dyn Fn(&[f64]) -> f64| match &of_order {
            Some(off) => {
                (squared(&gradient).sqrt() + largest_by_signs(off, squared).sqrt()).powi(2)
            }
            None => squared(&gradient),
        };
        let distance = match &self.bound {
            Bound::Ridge(rounding) => {
                let inner = with_order(&|g| dot(g, g) / (2.0 * ridge));
                rounding.of_forces(inner, forces, &self.w)
            }
            Bound::Factor(system) if certifies => {
                let inner = with_order(&|g| system.distance(g, ridge).1);
                let forces = forces / beta.sqrt();
                system.rounding().of_forces(inner, forces, &self.w)
            }
            // A convex function has its minimum where its gradient is 0.
            _ if gradient.iter().all(|g| *g == 0.0) => 0.0,
            Bound::Comparison if !self.is_solved() => f64::INFINITY,
            Bound::Factor(_) | Bound::None | Bound::Comparison => self.promised,
        };
        Ok(Status {
            gradient,
            objective,
            distance: distance + slack,
            lower,
            slacks,
            found,
        })
    }

    fn record(&mut self, point: &Status, newton: usize, certifies: bool) -> TracePoint {
        if certifies {
            self.dual = self.dual.max(point.lower - point.distance);
        }
        let change = point.objective - self.best.objective;
        let noise = ROUNDING * point.objective.abs();
        if change < -noise || (change <= noise && point.distance < self.best.distance) {
            self.best = Best {
                objective: point.objective,
                distance: point.distance,
                w: self.w.clone(),
                lambda: self.lambda,
            };
        }
        let gap = relative(point.gap(), point.objective);
        let trace = TracePoint {
            newton,
            objective: point.objective / self.n,
            gap: (certifies && gap.is_finite()).then_some(gap),
            active: 0,
        };
        self.trace.push(trace);
        trace
    }

    /// One Newton step; `false` if rounding leaves nothing to gain. `enough` is the distance that ends the search.
    fn step(&mut self, point: &Status, enough: f64, is_compared: bool) -> Result<bool> {
        let BaUbaucParams {
            beta,
            gamma,
            softness,
            intercept,
            ..
        } = self.params;
        let ridge = self.n * gamma;
        let found = &point.found;
        let mut matrix = (self.shards).soft_matrix(beta, &found.curvature, intercept)?;
        let mut gradient = Cow::Borrowed(&point.gradient);
        if let (Some(monotone), Some(at)) = (&mut self.monotone, &point.slacks) {
            let mut force = monotone.aim(at, enough);
            self.shards.divide(&mut force);
            add_to(1.0, &force, gradient.to_mut());
            matrix.stiffness = Some(monotone.stiffness(at));
        }
        let problem = Problem {
            matrix: &matrix,
            gradient: &gradient,
            ridge,
            // What is left of ∇G says little of Σ sμ.
            enough: if self.monotone.is_some() { 0.0 } else { enough },
            share: match is_compared {
                true => {
                    (self.model_error * self.model_error).clamp(FORCING * FORCING, LOOSE * LOOSE)
                }
                false => FORCING * FORCING,
            },
        };
        let (mut p, share) = self.newton.direction(self.shards, &problem)?;
        self.share = share;
        let mut slope = dot(&gradient, &p);
        if slope.is_nan() || slope >= 0.0 {
            return Ok(false);
        }
        self.promised = -0.5 * slope;
        let of_order = match (&self.monotone, &point.slacks) {
            (Some(monotone), Some(at)) => {
                let step = monotone.step(at, &self.shards.raw(&p));
                p.iter_mut().for_each(|p| *p *= step.longest);
                slope *= step.longest;
                Some(step)
            }
            _ => None,
        };
        let from = (self.lambda, softness);
        let line = (self.shards).soft_line(&p, found, from, beta, intercept)?;
        let Some((t, at)) = self.line_search(point, (&p, slope), of_order.as_ref(), line)? else {
            return Ok(false);
        };
        self.shards.advance(t);
        add_to(t, &p, &mut self.w);
        if let (Some(monotone), Some(at), Some(step)) =
            (&mut self.monotone, &point.slacks, &of_order)
        {
            let raw = self.shards.raw(&self.w);
            monotone.take(at, step, t * step.longest, &raw);
        }
        self.balance(at)?;
        Ok(true)
    }

    /// t at which P, or G where weights are in order, has descended, and the loss there; `end` is the loss at t = 1.
    fn line_search(
        &mut self,
        point: &Status,
        (p, slope): (&[f64], f64),
        of_order: Option<&OrderStep>,
        (line, end): (SoftLine, SoftPoint),
    ) -> Result<Option<(f64, SoftPoint)>> {
        let BaUbaucParams {
            beta,
            gamma,
            softness,
            ..
        } = self.params;
        let ridge = self.n * gamma;
        // What is quadratic along p.
        let [square_slope, square_curvature] = line.squares;
        let first = beta * square_slope + ridge * dot(&self.w, p);
        let second = beta * square_curvature + ridge * dot(p, p);
        let noise = ROUNDING * point.objective.abs();
        let longest = of_order.map_or(1.0, |step| step.longest);
        let promised = longest * (2.0 - longest) * self.promised;
        let (mut t, mut at) = (1.0, end);
        for _ in 0..MAX_HALVINGS {
            let of_order = match (&self.monotone, &point.slacks, of_order) {
                (Some(monotone), Some(at), Some(step)) => {
                    monotone.along(at, step, t * step.longest)
                }
                _ => 0.0,
            };
            let squares = t * first + 0.5 * t * t * second;
            let change = at.value - point.found.value + squares + of_order;
            if change <= DESCENT * t * slope + noise {
                self.model_error = match t == 1.0 {
                    true => ((promised + change) / promised).abs().min(1.0),
                    false => 1.0,
                };
                return Ok(Some((t, at)));
            }
            // The least of the parabola through both, or less than half of t.
            let parabola = -0.5 * slope * t * t / (change - slope * t);
            t = match parabola.is_finite() {
                true => parabola.clamp(0.1 * t, 0.5 * t),
                false => 0.1 * t,
            };
            let lambda = self.lambda + t * line.lambda;
            at = self.shards.soft_at(t, lambda, softness)?;
        }
        Ok(None)
    }

    /// The exact P at the final weights, and what was certified of it.
    fn finish(mut self, stop: Stop, newton: usize) -> Result<(Fit, WarmStart)> {
        let BaUbaucParams {
            beta,
            gamma,
            softness,
            intercept,
            tolerance,
            ..
        } = self.params;
        let converged = matches!(stop, Stop::Converged | Stop::Estimated);
        if !converged && !self.best.w.is_empty() {
            self.w = std::mem::take(&mut self.best.w);
            self.lambda = self.best.lambda;
        }
        let raw = match self.end_in_order(converged)? {
            Some(raw) => raw,
            None => self.shards.raw(&self.w),
        };
        // Scores were updated step by step, and those of rows of weight 0 not at all.
        self.shards.set_raw_weights(raw.clone());
        let at = (self.lambda, softness);
        let end = self.shards.soft_end(at, beta, intercept, TIED)?;
        let (mut b, squares) = end.residuals.unwrap_or((-self.lambda, 0.0));
        let norm = dot(&self.w, &self.w);
        let objective = mean_objective([end.value, squares, norm], beta, gamma, self.n);
        refuse_infinite(objective)?;
        let (dual, gap, stop) = certified(objective, self.dual / self.n, tolerance, stop);
        let offset = self.shards.offset(&raw);
        let mut scores = self.shards.scores()?;
        scores.iter_mut().for_each(|z| *z += offset);
        let lambda = self.lambda + offset;
        b -= offset;
        let fit = Fit {
            weights: raw,
            intercept: b,
            lambda: [lambda; 2],
            objective,
            dual,
            gap,
            tied: end.near,
            newton,
            stop,
            scores,
            trace: self.trace,
        };
        let warm = WarmStart {
            w: self.w,
            lambda: self.lambda,
            softness: Some(softness),
            is_scored: true,
            newton: Some(self.newton),
            multipliers: self.monotone.map(Monotone::into_warm),
        };
        Ok((fit, warm))
    }
}

/// With all scores 0 the best λ is where both sides are equally heavy.
fn lambda_at_zero(shards: &Shards<'_>, softness: f64) -> f64 {
    softness * (shards.total.neg / shards.total.pos).ln()
}

/// N·P at w = 0 and the best λ and b.
fn objective_at_zero(shards: &Shards<'_>, params: &BaUbaucParams) -> f64 {
    let softness = params.softness;
    let total = shards.total;
    let lambda = lambda_at_zero(shards, softness);
    let loss = Loss::Soft { softness };
    let value = total.pos * loss.value(lambda) + total.neg * loss.value(-lambda);
    // Σ V (y − b)² for the mean b of y.
    let [pos, neg] = shards.square_weights();
    let squares = match params.intercept {
        true => 4.0 * pos * neg / (pos + neg),
        false => pos + neg,
    };
    value + 0.5 * params.beta * squares
}

fn refuse_infinite(objective: f64) -> Result<()> {
    match objective.is_finite() {
        true => Ok(()),
        false => Err(Error::Numerical {
            what: "the objective is not finite; scale the features",
        }),
    }
}
