//! λ, by which the multipliers balance.
//!
//! R(λ) = Σ_i clip(σ(v_i − λ), lo_i, hi_i) falls from N⁻ to −N⁺, continuous and piecewise linear with slope
//! −σ·|A(λ)|. Newton's method on it ends on the right piece after few steps; where it is flat or Newton leaves the
//! bracket, the secant of the bracket's ends and its middle take turns, which cannot fail.

use crate::solver::shards::Shards;

/// R(λ) = 0, to rounding. `start` is where to look first.
pub(super) fn balance(shards: &mut Shards<'_>, start: f64, sigma: f64) -> f64 {
    let total = shards.total;
    let enough = 1e-15 * total.sum();
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut at_low, mut at_high) = (total.neg, -total.pos);
    let mut lambda = start;
    let mut reach = 1.0 / sigma;
    for round in 0..300 {
        let found = shards.balance(lambda, sigma);
        if found.sum.abs() <= enough {
            break;
        }
        if found.sum > 0.0 {
            (low, at_low) = (lambda, found.sum);
        } else {
            (high, at_high) = (lambda, found.sum);
        }
        let newton = lambda + found.sum / (sigma * found.active);
        let secant = low + (high - low) * at_low / (at_low - at_high);
        let within = |x: f64| x > low && x < high;
        let next = if low.is_infinite() || high.is_infinite() {
            // No bracket yet: as far as Newton says, and further every time.
            reach *= 4.0;
            let step = (newton - lambda).abs().clamp(0.0, reach);
            lambda + if step > 0.0 { step } else { reach }.copysign(found.sum)
        } else if round < 50 && within(newton) {
            newton
        } else if round % 2 == 0 && within(secant) {
            secant
        } else {
            0.5 * (low + high)
        };
        if !within(next) || next == lambda {
            break;
        }
        lambda = next;
    }
    lambda
}
