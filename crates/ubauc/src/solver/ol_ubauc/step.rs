//! One step on one example, as numbers: the rows need not be seen.
//!
//! Both steps have the form w = D·w_t + k·x, so the caller brings c_t = w_t·x and ‖x‖², and takes D and k away.
//! Write e = ηs, g = eβv, and i = 1 with an intercept, else 0.
//!
//! **Sgd**, Eq. (9) with E3 and E5, r = y − c_t − b_t, a = 1 if y(λ_t − c_t) > 0, else 0 (0 at the kink):
//!
//! ```text
//! D = 1 − eγ,   k = e(a y + βv r),   λ = λ_t − e a y,   b = b_t + i g r
//! ```
//!
//! **Implicit.** At the minimum the subgradient is 0 for a multiplier a ∈ [0, 1] of the hinge, a = 0 where
//! h = y(λ − c) < 0, a = 1 where h > 0, and anything between on the kink h = 0. With ρ = y − c − b there,
//!
//! ```text
//! (1 + eγ) w = w_t + e(a y + βvρ) x,   λ = λ_t − e a y,   b = b_t + i g ρ.
//! ```
//!
//! With n = ‖x‖², E = 1 + eγ = 1/D, c₀ = c_t/E, r₀ = y − c₀ − b_t, taking the product with x makes it linear in ρ,
//! and F, M > 0 keep the quotients few:
//!
//! ```text
//! c = c₀ + (n/E)(e a y + gρ),   ρ = (E r₀ − n e a y)/F,   F = E(1 + i g) + g n
//! y h(a) = λ_t − c₀ − (g n/F) r₀ − e a y M/F,   M = F + (1 + i g) n
//! ```
//!
//! h falls in a, so the three cases (inactive h(0) ≤ 0, active h(1) ≥ 0, on the kink) are one: e a y = pull is where
//! h vanishes, cut to [0, e] for y = 1 and to [−e, 0] for y = −1. Since 1 − g n/F = E(1 + i g)/F,
//!
//! ```text
//! pull = ( F λ_t − g n (y − b_t) − E(1 + i g) c₀ )/M,   cut
//! k = ((1 + i g)/F) pull + (g/F) r₀
//! ```
//!
//! **Soft loss**, κ > 0: a = φ'(y(λ_t − c_t)) in the first. In the second a = φ'(h(a)), with h(a) as above:
//! `multiplier.rs` solves that; e a y = pull, and the rest is the same.
//!
//! All of it is finite whatever η₀ and n: F grows with both. Every quotient here is one of numbers that do not depend
//! on w, λ and b. [`Plan`] holds them, made for many examples at once: the steps, each of which must wait for the one
//! before, then only multiply and add.

use super::multiplier::soft_pull;
use super::{OlUbaucParams, Rate, Step};
use crate::objective::loss::Loss;

/// Above this, e is as good as infinite, and its square still a number.
const LARGEST_STEP: f64 = 1e100;
/// Above this, F is as good as infinite: no multiple of x that w could take is a number.
const LARGEST_F: f64 = 1e300;

/// What a step must know of its example, but for its score.
#[derive(Debug, Clone, Copy)]
pub(super) struct Example {
    /// y = ±1.
    pub(super) y: f64,
    /// s > 0.
    pub(super) weight: f64,
    /// v.
    pub(super) factor: f64,
    /// ‖x‖².
    pub(super) norm_sq: f64,
}

/// w ← D·w + k·x, and the new λ and b.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Move {
    pub(super) along: f64,
    pub(super) lambda: f64,
    pub(super) intercept: f64,
}

/// A step on one example, ready for w·x, λ and b.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) norm_sq: f64,
    /// D.
    pub(super) decay: f64,
    step: Step,
    y: f64,
    /// The bounds of e a y.
    low: f64,
    high: f64,
    /// κ.
    softness: f64,
    /// M/F, for the soft loss.
    rate: f64,
    /// gn/M, E(1 + ig)/M and F/M; M times as much over F for the soft loss.
    hold: f64,
    keep: f64,
    lift: f64,
    /// (1 + ig)/F and g/F; 1 and g for Sgd.
    along: [f64; 2],
    /// igE/F and ign/F; ig and 0 for Sgd.
    shift: [f64; 2],
}

impl OlUbaucParams {
    /// η_t of step t, from 1.
    #[inline]
    fn eta(&self, t: f64) -> f64 {
        match self.rate {
            Rate::InverseSqrt => self.eta0 / t.sqrt(),
            Rate::Inverse => self.eta0 / t,
            Rate::Constant => self.eta0,
        }
    }

    /// Step t on an example; where examples are forgotten, t are those that still count.
    #[inline]
    pub(super) fn plan(&self, x: &Example, t: f64) -> Plan {
        let eta = self.eta(t).min(LARGEST_STEP);
        let e = (eta * x.weight).min(LARGEST_STEP);
        let g = (e * self.beta * x.factor).min(LARGEST_STEP);
        let ig = if self.intercept { g } else { 0.0 };
        let signed = e * x.y;
        let common = Plan {
            norm_sq: x.norm_sq,
            decay: 1.0 - e * self.gamma,
            step: self.step,
            y: x.y,
            low: signed.min(0.0),
            high: signed.max(0.0),
            softness: self.softness,
            rate: 0.0,
            hold: 0.0,
            keep: 0.0,
            lift: 0.0,
            along: [1.0, g],
            shift: [ig, 0.0],
        };
        if self.step == Step::Sgd {
            return common;
        }
        let n = x.norm_sq;
        let e = 1.0 + e * self.gamma;
        let f = e * (1.0 + ig) + g * n;
        if f.is_nan() || f > LARGEST_F {
            return Plan {
                decay: 1.0 / e,
                low: 0.0,
                high: 0.0,
                along: [0.0; 2],
                shift: [0.0; 2],
                ..common
            };
        }
        let m = f + (1.0 + ig) * n;
        let (per_f, per_m, decay) = inverses(f, m, e);
        let (per_margin, lift, rate) = match Loss::of_softness(self.softness) {
            Loss::Hinge => (per_m, f * per_m, 0.0),
            Loss::Soft { .. } => (per_f, 1.0, (m * per_f).min(f64::MAX)),
        };
        Plan {
            decay,
            rate,
            hold: g * n * per_margin,
            keep: e * (1.0 + ig) * per_margin,
            lift,
            along: [(1.0 + ig) * per_f, g * per_f],
            shift: [ig * e * per_f, ig * n * per_f],
            ..common
        }
    }
}

/// 1/a, 1/b and 1/c for one division, where their product is a number.
#[inline]
fn inverses(a: f64, b: f64, c: f64) -> (f64, f64, f64) {
    let product = a * b * c;
    if product < 1e300 {
        let inverse = 1.0 / product;
        (b * c * inverse, a * c * inverse, a * b * inverse)
    } else {
        (1.0 / a, 1.0 / b, 1.0 / c)
    }
}

/// x within [low, high], as two instructions: `clamp` and `max` would look for NaN first.
#[inline]
fn cut(x: f64, low: f64, high: f64) -> f64 {
    let x = if x > low { x } else { low };
    if x < high { x } else { high }
}

impl Plan {
    /// The step from (λ, b); `score` is w·x, `decayed` D times that.
    #[inline(always)]
    pub(super) fn step(&self, score: f64, decayed: f64, lambda: f64, intercept: f64) -> Move {
        let target = self.y - intercept;
        if self.step == Step::Sgd {
            let pull = self.sgd_pull(self.y * (lambda - score));
            let residual = target - score;
            return Move {
                along: pull + self.along[1] * residual,
                lambda: lambda - pull,
                intercept: intercept + self.shift[0] * residual,
            };
        }
        if !decayed.is_finite() {
            return Move {
                along: 0.0,
                lambda,
                intercept,
            };
        }
        let free = self.lift * lambda - self.hold * target;
        let pull = match Loss::of_softness(self.softness) {
            Loss::Hinge => cut(free - self.keep * decayed, self.low, self.high),
            Loss::Soft { softness } => {
                let margin = self.y * (free - self.keep * decayed);
                self.y * soft_pull(margin, self.high - self.low, self.rate, softness)
            }
        };
        let residual = target - decayed;
        Move {
            along: self.along[0] * pull + self.along[1] * residual,
            lambda: lambda - pull,
            intercept: intercept + self.shift[0] * residual - self.shift[1] * pull,
        }
    }

    /// e a y of Eq. (9) at a margin.
    #[inline]
    fn sgd_pull(&self, margin: f64) -> f64 {
        match Loss::of_softness(self.softness) {
            Loss::Hinge if margin > 0.0 => self.low + self.high,
            Loss::Hinge => 0.0,
            soft @ Loss::Soft { .. } => (self.low + self.high) * soft.multiplier(margin),
        }
    }
}
