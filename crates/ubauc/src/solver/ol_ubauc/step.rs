//! One step on one example, as numbers: the rows need not be seen.
//!
//! Both steps have the form w = D·w_t + k·x, so the caller brings c_t = w_t·x and ‖x‖², and takes D and k away.
//! Write e = ηs, g = eβv, and i = 1 with an intercept, else 0.
//!
//! **Sgd**, Eq. (9) with E3 and E5, r = y − c_t − b_t, a = 1 if y(λ_t − c_t) > 0, else 0 (0 at the kink, E6):
//!
//! ```text
//! D = 1 − ηγ,   k = e(a y + βv r),   λ = λ_t − e a y,   b = b_t + i g r
//! ```
//!
//! **Implicit.** At the minimum the subgradient is 0 for a multiplier a ∈ [0, 1] of the hinge, a = 0 where
//! h = y(λ − c) < 0, a = 1 where h > 0, and anything between on the kink h = 0. With ρ = y − c − b there,
//!
//! ```text
//! (1 + ηγ) w = w_t + e(a y + βvρ) x,   λ = λ_t − e a y,   b = b_t + i g ρ.
//! ```
//!
//! With D = 1/(1 + ηγ), c₀ = D c_t, q = D‖x‖², r₀ = y − c₀ − b_t, taking the product with x makes it linear in ρ:
//!
//! ```text
//! c = c₀ + q(e a y + gρ),   Kρ = r₀ − e q a y,   K = 1 + g(q + i)
//! h(a) = h₀ − e m a,   h₀ = y(λ_t − c₀) − (g q/K) y r₀,   m = 1 + q(1 + i g)/K > 0
//! ```
//!
//! h falls in a, so the three cases (inactive h(0) ≤ 0, active h(1) ≥ 0, on the kink) are one:
//! a = h₀/(e m), cut to [0, 1]. Then, without a difference of large numbers,
//!
//! ```text
//! k = D (e a y (1 + i g) + g r₀)/K,   ρ = (r₀ − e q a y)/K.
//! ```
//!
//! All of it is finite whatever η₀ and q: K grows with both.

use super::{OlUbaucParams, Rate, Step};

/// Above this, e is as good as infinite, and its square still a number.
const LARGEST_STEP: f64 = 1e100;

/// What a step must know of its example.
#[derive(Debug, Clone, Copy)]
pub(super) struct Example {
    /// y = ±1.
    pub(super) y: f64,
    /// s > 0.
    pub(super) weight: f64,
    /// v.
    pub(super) factor: f64,
    /// c_t = w_t·x.
    pub(super) score: f64,
    /// ‖x‖².
    pub(super) norm_sq: f64,
}

/// w ← D·w + k·x, and the new λ and b.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Move {
    pub(super) decay: f64,
    pub(super) along: f64,
    pub(super) lambda: f64,
    pub(super) intercept: f64,
}

impl OlUbaucParams {
    /// η_t of step t, from 1.
    #[inline]
    pub(super) fn eta(&self, t: u64) -> f64 {
        match self.rate {
            Rate::InverseSqrt => self.eta0 / (t as f64).sqrt(),
            Rate::Inverse => self.eta0 / t as f64,
            Rate::Constant => self.eta0,
        }
    }

    /// Step t from (λ, b).
    #[inline]
    pub(super) fn step(&self, x: Example, t: u64, lambda: f64, intercept: f64) -> Move {
        let eta = self.eta(t).min(LARGEST_STEP);
        match self.step {
            Step::Implicit => self.implicit(x, eta, lambda, intercept),
            Step::Sgd => self.sgd(x, eta, lambda, intercept),
        }
    }

    #[inline]
    fn sgd(&self, x: Example, eta: f64, lambda: f64, intercept: f64) -> Move {
        let e = eta * x.weight;
        let active = if x.y * (lambda - x.score) > 0.0 {
            1.0
        } else {
            0.0
        };
        let slope = self.beta * x.factor * (x.y - x.score - intercept);
        Move {
            decay: 1.0 - eta * self.gamma,
            along: e * (active * x.y + slope),
            lambda: lambda - e * active * x.y,
            intercept: intercept + if self.intercept { e * slope } else { 0.0 },
        }
    }

    #[inline]
    fn implicit(&self, x: Example, eta: f64, lambda: f64, intercept: f64) -> Move {
        let e = (eta * x.weight).min(LARGEST_STEP);
        let g = (e * self.beta * x.factor).min(LARGEST_STEP);
        let ig = if self.intercept { g } else { 0.0 };
        let decay = 1.0 / (1.0 + eta * self.gamma);
        let (c0, q) = (decay * x.score, decay * x.norm_sq);
        let r0 = x.y - c0 - intercept;
        let k = 1.0 + g * q + ig;
        if !(k.is_finite() && c0.is_finite()) {
            // x is too large for its square to be a number: a multiple of it that w could take is none.
            return Move {
                decay,
                along: 0.0,
                lambda,
                intercept,
            };
        }
        let h0 = x.y * (lambda - c0) - g * q / k * (x.y * r0);
        let m = 1.0 + q * ((1.0 + ig) / k);
        let pull = (h0 / m).clamp(0.0, e) * x.y;
        Move {
            decay,
            along: decay * ((pull * (1.0 + ig) + g * r0) / k),
            lambda: lambda - pull,
            intercept: if self.intercept {
                intercept + g * ((r0 - q * pull) / k)
            } else {
                intercept
            },
        }
    }
}
