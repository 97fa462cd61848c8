//! λ, by which the multipliers balance, and λ, at which the hinge is least.
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

/// The closed interval of λ that minimise Σ s_i [y_i(λ − z_i)]₊, E1 with weights:
/// Σ s_i 1[z_i > λ] ≤ N⁺ ≤ Σ s_i 1[z_i ≥ λ], whatever the classes.
pub(in crate::solver) fn threshold(z: &[f64], weights: &[f64], n_pos: f64) -> [f64; 2] {
    if weights.iter().all(|&s| s == 1.0 || s == 0.0) {
        // Order statistics N⁻ and N⁻ + 1 of those that count, by selection.
        let used = z.iter().zip(weights).filter(|(_, s)| **s > 0.0);
        let mut z: Vec<f64> = used.map(|(z, _)| *z).collect();
        let at = z.len() - n_pos as usize;
        let (below, &mut high, _) = z.select_nth_unstable_by(at, f64::total_cmp);
        let low = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        return [low, high];
    }
    let mut order: Vec<u32> = (0..z.len() as u32)
        .filter(|&i| weights[i as usize] > 0.0)
        .collect();
    order.sort_unstable_by(|&a, &b| z[b as usize].total_cmp(&z[a as usize]));
    // From the top down: `above` is the weight of everything strictly above the group.
    let mut above = 0.0;
    let mut at = 0;
    while at < order.len() {
        let value = z[order[at] as usize];
        let mut here = 0.0;
        while at < order.len() && z[order[at] as usize] == value {
            here += weights[order[at] as usize];
            at += 1;
        }
        let below = order.get(at).map(|&i| z[i as usize]);
        let reached = above + here;
        // To rounding, since weights are sums of floating point numbers.
        if (reached - n_pos).abs() <= 1e-12 * n_pos {
            return [below.unwrap_or(value), value];
        }
        if reached > n_pos {
            return [value, value];
        }
        above = reached;
    }
    let lowest = order.last().map_or(0.0, |&i| z[i as usize]);
    [lowest, lowest]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threshold_is_between_the_order_statistics() {
        let z = [3.0, 1.0, 2.0, 5.0, 4.0];
        assert_eq!(threshold(&z, &[1.0; 5], 2.0), [3.0, 4.0]);
        assert_eq!(threshold(&z, &[1.0; 5], 1.0), [4.0, 5.0]);
        assert_eq!(threshold(&[2.0, 2.0, 1.0], &[1.0; 3], 1.0), [2.0, 2.0]);
        assert_eq!(threshold(&z, &[1.0, 1.0, 1.0, 0.5, 1.0], 1.0), [4.0, 4.0]);
        assert_eq!(threshold(&z, &[1.0, 1.0, 1.0, 0.0, 1.0], 1.0), [3.0, 4.0]);
    }
}
