//! The exact hinge, κ = 0: the certified minimum of P, Eq. (8) in mean form.
//!
//! ```text
//! N·P(w) = q(w) + g(Xw),   g(z) = min_λ Σ s_i [y_i(λ − z_i)]₊
//! q(w)   = ½ wᵀH₀w − c·w + (β/2) yᵀVy,   H₀ = NγI + βXᵀVX,   c = βXᵀVy     (V = diag(s_i v_i))
//! ```
//!
//! An unpenalised intercept b is eliminated: g ignores shifts, so b is the V-weighted mean residual and
//! X, y are replaced by their V-centred selves in H₀, c and the constant; H₀ − NγI stays positive semidefinite.
//!
//! **Outer loop**, augmented Lagrangian: with a multiplier u and a penalty σ minimise over w
//!
//! ```text
//! φ(w) = q(w) + min_z { g(z) + (σ/2)‖z − v‖² },   v = Xw + u/σ,
//! ∇φ(w) = H₀w − c + Xᵀu⁺,   u⁺ = σ(v − prox(v))
//! ```
//!
//! then u ← u⁺ and σ ← 2σ. The prox moves example i towards the one λ for which Σ u⁺_i = 0 (`prox.rs`).
//!
//! **Inner loop**, semismooth Newton: (H₀ + σ X̃_AᵀX̃_A) p = −∇φ, A the examples that the prox puts on λ,
//! X̃_A their rows less their mean (`newton.rs`), and a line search on the slope of φ, which is monotone along p.
//!
//! **Certificate**, free at every step: −y_i u⁺_i ∈ [0, s_i] and Σu⁺_i = 0, so for all z
//! g(z) ≥ u⁺·z, and D(u⁺) = min_w q(w) + u⁺·Xw is a lower bound of N·P. With ŵ its minimiser, H₀(w − ŵ) = ∇φ and
//!
//! ```text
//! N·P − D = ½ ∇φᵀH₀⁻¹∇φ  +  ( g(z) − u⁺·z )
//! ```
//!
//! Both terms are ≥ 0 and computed as they stand, without the cancellation of P − D. The first falls by Newton
//! steps and the second by outer ones, so the inner loop ends when the first is the smaller. Without a factor of H₀
//! the first is bounded by ‖∇φ‖²/(2Nγ). What rounding may hide is added (`rounding.rs`).
//!
//! Cost of a step: one product with X, the rows of Xᵀ whose multiplier changed, a d×d system or conjugate gradients.
//! Lyu & Ying, UAI 2018, Sec. 5.2.1, minimise by block descent, which may stop short (E12).

use super::newton::System;
use super::prox;
use super::rounding::Drift;
use super::{BaUbaucParams, Fit, Progress, Stop, TracePoint, certified};
use crate::data::rows::{add_to, dot};
use crate::objective::ubauc::mean_objective;
use crate::solver::shards::{Balance, End, Shards};
use crate::solver::threshold::TIED;
use crate::{Error, Result};

/// σ grows by this factor from one outer step to the next.
const GROWTH: f64 = 2.0;
/// σ for a start from a soft minimum, times its softness over the mean weight.
const SOFT_PENALTY: f64 = 0.3;
/// For weights to start from σ is doubled at most so often.
const DOUBLINGS: usize = 20;
/// … and not once the second part of the gap is below this part of the first.
const STIFF: f64 = 0.1;
/// Looks without progress after which the solver gives up.
const IDLE: usize = 60;
/// A gap that is computed as this part of the tolerance, and not certified, will not be.
const HIDDEN: f64 = 0.01;
/// The inner loop ends when its share of the gap is below this part of the other.
const INNER: f64 = 0.2;

pub(super) struct Solver<'s, 'a> {
    shards: &'s mut Shards<'a>,
    system: System,
    w: Vec<f64>,
    lambda: f64,
    /// What was found at λ.
    balance: Balance,
    sigma: f64,
    first: f64,
    /// Xᵀu⁺.
    xt_u: Vec<f64>,
    drift: Drift,
    n: f64,
    /// What the last step promised, −½ ∇φ·p: about ½ ∇φᵀM⁻¹∇φ before it.
    promised: f64,
    /// The largest lower bound so far: each is one, whatever the step.
    dual: f64,
    /// The least N·P so far, and its w.
    best: (f64, Vec<f64>),
    trace: Vec<TracePoint>,
}

/// σ = s/std(z), s the mean weight, since −y_i u⁺_i is at most s_i; and the mean of z as a first λ.
fn first_penalty(shards: &mut Shards<'_>) -> Result<(f64, f64)> {
    let (spread, mean) = shards.spread()?;
    let spread = if spread > 0.0 { spread } else { 1.0 };
    Ok((shards.mean_weight() / spread, mean))
}

/// What a fit leaves for the next one on the same rows; the multipliers stay with the rows.
pub(super) struct WarmStart {
    pub(super) w: Vec<f64>,
    pub(super) lambda: f64,
    sigma: f64,
    /// σ of the first fit: the next ones need not begin below.
    first: f64,
    xt_u: Vec<f64>,
    drift: Drift,
}

impl WarmStart {
    /// Without multipliers, or with those that the rows have.
    fn new(w: Vec<f64>, lambda: f64, sigma: f64) -> WarmStart {
        WarmStart {
            xt_u: vec![0.0; w.len()],
            w,
            lambda,
            sigma,
            first: sigma,
            drift: Drift::default(),
        }
    }
}

/// Where the solver begins; weights are those of divided features.
pub(super) enum Start {
    /// The least squares alone.
    LeastSquares,
    /// Weights without multipliers.
    Weights(Vec<f64>),
    /// A minimum of the soft loss on the same rows. Its u_i = −a_i y_i p_i are feasible multipliers.
    Soft {
        w: Vec<f64>,
        lambda: f64,
        softness: f64,
    },
    /// The last fit.
    Exact(WarmStart),
}

/// Where the solver stands: N·P and the two parts of N·P − D.
pub(super) struct Status {
    pub(super) gradient: Vec<f64>,
    /// H₀⁻¹∇φ, where there is a factor.
    pub(super) to_dual: Option<Vec<f64>>,
    objective: f64,
    /// ½ ∇φᵀH₀⁻¹∇φ, or a bound of it; infinite where there is none.
    inner: f64,
    /// g(z) − u⁺·z.
    slack: f64,
    /// N·P − D is at most this, rounding included.
    certified: f64,
}

impl Status {
    /// N·P − D as computed.
    fn distance(&self) -> f64 {
        self.inner + self.slack
    }
}

impl<'s, 'a> Solver<'s, 'a> {
    pub(super) fn new(
        shards: &'s mut Shards<'a>,
        system: System,
        params: &BaUbaucParams,
        start: Start,
    ) -> Result<Self> {
        let n = shards.total.sum();
        let has_weights = matches!(start, Start::Weights(_));
        let WarmStart {
            w,
            lambda,
            sigma,
            first,
            xt_u,
            drift,
        } = match start {
            // The penalty of a few outer steps ago: the multipliers are near, not right.
            Start::Exact(warm) => {
                shards.commit_candidates();
                let sigma = (warm.sigma / GROWTH.powi(3)).max(warm.first);
                WarmStart { sigma, ..warm }
            }
            Start::Soft {
                w,
                lambda,
                softness,
            } => {
                shards.set_weights(&w);
                shards.take_soft_multipliers(lambda, softness);
                let sigma = SOFT_PENALTY * shards.mean_weight() / softness;
                WarmStart::new(w, lambda, sigma)
            }
            Start::LeastSquares | Start::Weights(_) => {
                let w = match start {
                    Start::Weights(w) => w,
                    _ => system.ridge(shards, params)?,
                };
                shards.reset_multipliers();
                shards.set_weights(&w);
                let (mut sigma, lambda) = first_penalty(shards)?;
                if has_weights {
                    // Tied scores would make the first penalty huge, so cap it.
                    sigma = sigma.min(shards.mean_weight() / TIED);
                }
                WarmStart::new(w, lambda, sigma)
            }
        };
        let mut solver = Solver {
            shards,
            system,
            w,
            lambda,
            balance: Balance::default(),
            sigma,
            first,
            xt_u,
            drift,
            n,
            promised: f64::INFINITY,
            dual: f64::NEG_INFINITY,
            best: (f64::INFINITY, Vec::new()),
            trace: Vec::new(),
        };
        if has_weights {
            solver.find_penalty(params)?;
        }
        Ok(solver)
    }

    /// σ for weights that came without multipliers: raised as long as the second part of the gap, which falls by outer
    /// steps, counts. Near the minimum few examples are then left between their bounds, and a few Newton steps find the
    /// multipliers of those; with a larger σ the way from weights that are not so near would be long.
    fn find_penalty(&mut self, params: &BaUbaucParams) -> Result<()> {
        for _ in 0..DOUBLINGS {
            self.rebalance(0.0, false)?;
            let point = self.evaluate(params)?;
            if point.slack <= STIFF * point.inner {
                break;
            }
            self.sigma *= 2.0;
        }
        Ok(())
    }

    pub(super) fn run(
        mut self,
        progress: Option<Progress<'_>>,
        params: &BaUbaucParams,
    ) -> Result<(Fit, WarmStart)> {
        let mut newton = 0;
        let mut nearest = f64::INFINITY;
        let mut idle = 0;
        let mut recomputed = false;
        let certifies = self.system.certifies(params);
        self.rebalance(0.0, false)?;
        let stop = 'outer: loop {
            let mut steps = 0;
            loop {
                let point = self.evaluate(params)?;
                let trace = self.record(&point, newton, certifies);
                if let Some(progress) = progress {
                    progress(&trace);
                }
                let enough = params.tolerance * point.objective.abs();
                match certifies {
                    true if point.certified <= enough => break 'outer Stop::Converged,
                    // What is left is rounding. That of the way here can be undone, that of the sums cannot.
                    true if point.distance() <= HIDDEN * enough && recomputed => {
                        break 'outer Stop::Stalled;
                    }
                    true if point.distance() <= HIDDEN * enough => {
                        self.recompute()?;
                        recomputed = true;
                        continue;
                    }
                    false if point.distance() <= enough => break 'outer Stop::Estimated,
                    _ => {}
                }
                if newton >= params.max_newton {
                    break 'outer Stop::MaxNewton;
                }
                // No nearer in this many looks: rounding has the last word. Without a factor the bound is loose, and what
                // the last step promised tells more.
                let inner = point.inner.min(self.promised);
                let distance = inner + point.slack;
                idle = if distance < 0.9 * nearest {
                    0
                } else {
                    idle + 1
                };
                nearest = nearest.min(distance);
                if idle > IDLE {
                    break 'outer Stop::Stalled;
                }
                if steps > 0 && inner <= INNER * point.slack {
                    break;
                }
                if !self.step(&point, params)? {
                    break;
                }
                recomputed = false;
                steps += 1;
                newton += 1;
            }
            self.shards.commit_candidates();
            self.sigma *= GROWTH;
            self.rebalance(0.0, false)?;
        };
        self.finish(stop, newton, params)
    }

    /// λ at w + t·p, and the slope of the envelope there if asked for; z moved there before or t = 0.
    fn rebalance(&mut self, t: f64, slope: bool) -> Result<()> {
        self.shards.shift(t, self.sigma);
        (self.lambda, self.balance) = prox::balance(self.shards, self.lambda, self.sigma, slope)?;
        Ok(())
    }

    /// Recomputes z and Xᵀu⁺, which were updated step by step.
    fn recompute(&mut self) -> Result<()> {
        self.shards.set_weights(&self.w);
        self.shards.reset_candidates();
        self.xt_u.fill(0.0);
        self.drift = Drift::default();
        self.rebalance(0.0, false)
    }

    /// Takes u⁺ and evaluates objective, gradient and gap there.
    fn evaluate(&mut self, params: &BaUbaucParams) -> Result<Status> {
        let found = self.shards.evaluate(
            self.lambda,
            self.sigma,
            &self.balance,
            params.intercept,
            self.system.sums_gradient(),
        )?;
        add_to(1.0, &found.xt_change, &mut self.xt_u);
        let (mut gradient, q) = self.system.quadratic(&found, &self.w, self.n, params);
        add_to(1.0, &self.xt_u, &mut gradient);
        let (to_dual, mut inner) = self.system.distance(&gradient, self.n * params.gamma);
        let objective = q + found.hinge;
        let target = params.tolerance * objective.abs();
        let near = found.slack + self.promised <= target && found.slack + inner > target;
        if to_dual.is_none() && params.gamma > 0.0 && near {
            let allowed = 0.25 * (target - found.slack);
            let closer = self
                .system
                .closer(self.shards, &gradient, allowed, params)?;
            inner = inner.min(closer.max(0.0));
        }
        if !self.system.certifies(params) && to_dual.is_none() {
            // γ = 0 and no factor: an estimate is all there is.
            inner = self.promised;
        }
        if !objective.is_finite() {
            let what = "the objective is not finite; scale the features";
            return Err(Error::Numerical { what });
        }
        let slack = found.slack.max(0.0);
        let parts = (inner, slack);
        let rounding = self.system.rounding();
        let (w, n, drift) = (&self.w, self.n, &mut self.drift);
        let certified = rounding.bound(parts, &found, w, n, params.beta, drift);
        Ok(Status {
            gradient,
            to_dual,
            objective,
            inner,
            slack,
            certified,
        })
    }

    fn record(&mut self, point: &Status, newton: usize, certifies: bool) -> TracePoint {
        let gap = if point.certified == 0.0 {
            0.0
        } else {
            point.certified / point.objective.abs()
        };
        if certifies && point.certified.is_finite() {
            self.dual = self.dual.max(point.objective - point.certified);
        }
        if point.objective < self.best.0 {
            self.best = (point.objective, self.w.clone());
        }
        let trace = TracePoint {
            newton,
            objective: point.objective / self.n,
            gap: (certifies && gap.is_finite()).then_some(gap),
            active: self.shards.active(),
        };
        self.trace.push(trace);
        trace
    }

    /// One Newton step; `false` if rounding leaves nothing to gain.
    fn step(&mut self, point: &Status, params: &BaUbaucParams) -> Result<bool> {
        let p = self
            .system
            .direction(self.shards, point, self.sigma, params)?;
        let slope = dot(&point.gradient, &p);
        if slope.is_nan() || slope >= 0.0 {
            return Ok(false);
        }
        self.shards.set_direction(&p);
        self.promised = if point.to_dual.is_none() {
            -0.5 * slope
        } else {
            f64::INFINITY
        };
        // φ'(t) = a₀ + a₁t + Σ u⁺_i(t) dz_i.
        let a0 = slope - dot(&self.xt_u, &p);
        let a1 = self.system.curvature(self.shards, &p, self.n, params)?;
        let (t, balanced) = self.line_search(slope, a0, a1)?;
        if t == 0.0 {
            return Ok(false);
        }
        self.shards.advance(t);
        add_to(t, &p, &mut self.w);
        if !balanced {
            self.rebalance(0.0, false)?;
        }
        Ok(true)
    }

    /// t > 0 with a slope much smaller than at 0, or at which φ still falls; 1 if possible. And whether v and λ are those
    /// at t.
    fn line_search(&mut self, slope: f64, a0: f64, a1: f64) -> Result<(f64, bool)> {
        let enough = 0.2 * slope.abs();
        let (mut low, mut low_slope) = (0.0, slope);
        let (mut high, mut high_slope) = (f64::INFINITY, f64::NAN);
        let mut t = 1.0;
        for round in 0..40 {
            self.rebalance(t, true)?;
            let here = a0 + a1 * t + self.balance.slope;
            if here.abs() <= enough || (here < 0.0 && high.is_infinite()) {
                return Ok((t, true));
            }
            if here < 0.0 {
                (low, low_slope) = (t, here);
            } else {
                (high, high_slope) = (t, here);
            }
            // The secant and the middle take turns: the slope is monotone.
            let secant = low + (high - low) * low_slope / (low_slope - high_slope);
            let middle = 0.5 * (low + high);
            t = if round % 2 == 0 { secant } else { middle };
            if !(t > low && t < high) {
                t = middle;
            }
        }
        Ok((low, false))
    }

    /// The exact P at the final weights, and what was certified of it.
    fn finish(
        mut self,
        stop: Stop,
        newton: usize,
        params: &BaUbaucParams,
    ) -> Result<(Fit, WarmStart)> {
        if stop != Stop::Converged && !self.best.1.is_empty() {
            self.w = std::mem::take(&mut self.best.1);
        }
        // Scores that were updated step by step are computed again.
        self.shards.set_weights(&self.w);
        let End {
            residuals: (b, square),
            mut lambda,
            mut scores,
        } = self.shards.end(params.intercept, self.lambda)?;
        let middle = 0.5 * (lambda[0] + lambda[1]);
        let (hinge, tied) = self.shards.hinge_and_near(middle, TIED)?;
        let norm = dot(&self.w, &self.w);
        let objective = mean_objective([hinge, square, norm], params.beta, params.gamma, self.n);
        let bound = self.dual / self.n;
        let (dual, gap, stop) = certified(objective, bound, params.tolerance, stop);
        // Back from the rows less their mean.
        let raw = self.shards.raw(&self.w);
        let offset = self.shards.offset(&raw);
        scores.iter_mut().for_each(|z| *z += offset);
        lambda.iter_mut().for_each(|l| *l += offset);
        let b = b - offset;
        let fit = Fit {
            weights: raw,
            intercept: b,
            lambda,
            objective,
            dual,
            gap,
            tied,
            newton,
            stop,
            scores,
            trace: self.trace,
        };
        let Self {
            w,
            lambda,
            sigma,
            first,
            xt_u,
            drift,
            ..
        } = self;
        let warm = WarmStart {
            w,
            lambda,
            sigma,
            first,
            xt_u,
            drift: drift.with_new_scores(),
        };
        Ok((fit, warm))
    }
}
