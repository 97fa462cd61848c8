//! The multiplier of the soft loss in an implicit step: one equation in one unknown.
//!
//! Where the hinge has a ∈ [0, 1] and three cases (`step.rs`), the soft loss has a = φ'(t) at the margin t = h(a) after
//! the step, p(x) = 1/(1 + e^{−x}). With t₀ = h(0) and q = eM/F,
//!
//! ```text
//! t = t₀ − q p(t/κ),   that is   G(t) = t + q p(t/κ) − t₀ = 0,   G' = 1 + q p(1 − p)/κ ≥ 1
//! ```
//!
//! G rises, so there is one root. −t solves the same equation with q − t₀ in place of t₀, since p(−x) = 1 − p(x); so let
//! t₀ ≤ q/2, which is where t ≤ 0 and a ≤ ½. With m = min(t₀, 0), t ≤ m, since G(t₀) > 0 and G(0) ≥ 0. And since
//! p(x) ≤ e^x, for x ≤ 0 twice p(x) at the most, s = (m − t)/κ ≥ 0 satisfies
//!
//! ```text
//! κs ≤ q p(t/κ) ≤ q e^{m/κ} e^{−s},   so   s e^s ≤ z = 2(q/κ) p(m/κ),   so   s ≤ min(z, ln(1 + z))
//! ```
//!
//! G is convex for t ≤ 0. Newton's method from the upper end falls to the root without passing it, but by no more than κ
//! or so a step while e^{t/κ} is large; it is halved into the interval wherever that is shorter by more than half.
//!
//! An error of G by ε(|t₀| + q p) is one of t by about εκ, and of a by about ε: the root is as exact as its terms are. q may
//! be infinite, e and M/F are not; a is too small for a number where q/κ is above 10³⁰⁰, and is then no more than that.

use crate::objective::loss::Loss;

/// Far more than are needed: the interval is at most some 750κ long, and halved wherever Newton does no better.
const MAX_STEPS: usize = 200;
/// A step below this share of κ is the last one: the next would be the square of it.
const SMALL: f64 = 1e-9;

/// e·a, for the margin t₀ without it, which falls by `rate` = M/F for each unit of e·a; κ > 0.
pub(super) fn soft_pull(t0: f64, e: f64, rate: f64, softness: f64) -> f64 {
    let t0 = t0.clamp(f64::MIN, f64::MAX);
    let loss = Loss::Soft { softness };
    let q = e * rate;
    if 2.0 * t0 <= q {
        let t = root(t0, e, rate, softness);
        return e * loss.multiplier(t);
    }
    // By the smaller of a and 1 − a.
    let t = root(q - t0, e, rate, softness);
    e * (1.0 - loss.multiplier(t))
}

/// t, where t₀ ≤ q/2.
fn root(t0: f64, e: f64, rate: f64, softness: f64) -> f64 {
    let loss = Loss::Soft { softness };
    let mut high = t0.min(0.0);
    let z = 2.0 * (e * rate / softness) * loss.multiplier(high);
    let mut low = high - softness * longest(z);
    let mut t = high;
    let mut before = high - low;
    for _ in 0..MAX_STEPS {
        let at = loss.at(t);
        // e·p first: it is no larger than what the answer can be.
        let value = t - t0 + rate * (e * at.multiplier);
        match value > 0.0 {
            true => high = t,
            false => low = t,
        }
        let step = -value / (1.0 + rate * (e * at.curvature));
        let mut next = t + step;
        let is_slow = 2.0 * step.abs() > before;
        if !(next > low && next < high) || is_slow {
            if value == 0.0 || next == t {
                return t;
            }
            next = low + 0.5 * (high - low);
        } else if step.abs() <= SMALL * softness {
            return next;
        }
        if next == low || next == high {
            return next;
        }
        before = (next - t).abs();
        t = next;
    }
    t
}

/// No less than the s with s e^s = z: z itself, or ln 2 times the exponent of 4z, which is above ln(1 + z) for z ≥ 1.
fn longest(z: f64) -> f64 {
    if z < 1.0 {
        return z;
    }
    let exponent = (z.to_bits() >> 52) as f64 - 1023.0;
    std::f64::consts::LN_2 * (exponent + 2.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// a by halving [0, 1] where a = p(h(a)/κ), with the exponential of the library.
    fn by_halving(t0: f64, q: f64, softness: f64) -> f64 {
        let (mut low, mut high) = (0.0f64, 1.0f64);
        for _ in 0..1100 {
            let a = 0.5 * (low + high);
            let p = 1.0 / (1.0 + (-(t0 - q * a) / softness).exp());
            match p > a {
                true => low = a,
                false => high = a,
            }
        }
        0.5 * (low + high)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// As exact as the halving, whose h(a) is rounded at the size of t₀ and q, and counts in units of κ.
        #[test]
        fn the_root_is_that_of_halving(
            margin in prop_oneof![-3.0..3.0f64, -1e-3..1e-3f64, -100.0..100.0f64],
            (log_e, log_rate, log_softness) in (-6.0..6.0f64, 0.0..6.0f64, -6.0..2.0f64),
            scaled in any::<bool>(),
        ) {
            let [e, rate, softness] = [log_e, log_rate, log_softness].map(|log| 10f64.powf(log));
            let q = e * rate;
            // Where the step ends within the soft part, and anywhere.
            let t0 = if scaled { margin * q } else { margin };
            let found = soft_pull(t0, e, rate, softness) / e;
            let expected = by_halving(t0, q, softness);
            // What the rounding of h(a) moves a by: δp/(1 + q p(1 − p)/κ), δp = p(1 − p) ε(|t₀| + q)/κ.
            let spread = expected * (1.0 - expected) / softness;
            let noise = spread * (t0.abs() + q) / (1.0 + q * spread);
            prop_assert!(
                (found - expected).abs() <= 1e-14 * (1.0 + noise),
                "{found:e}, expected {expected:e}"
            );
        }

        /// The pull of the hinge is approached: they differ by no more than the t/κ of numbers that matter.
        #[test]
        fn a_small_softness_is_the_hinge(t0 in -3.0..3.0f64, log_e in -3.0..3.0f64, rate in 1.0..100.0f64) {
            let e = 10f64.powf(log_e);
            let hinge = (t0 / rate).clamp(0.0, e);
            for softness in [1e-3, 1e-6, 1e-9] {
                let soft = soft_pull(t0, e, rate, softness);
                prop_assert!((soft - hinge).abs() <= 60.0 * softness + 1e-15 * e, "{soft} {hinge}");
            }
        }
    }

    #[test]
    fn by_hand() {
        // t = 0 and a = ½ where t₀ = q/2; t = ln 3, a = ¾ where t₀ = ln 3 + ¾q, κ = 1.
        assert_eq!(soft_pull(3.0, 2.0, 3.0, 0.1), 1.0);
        let t0 = 3f64.ln() + 0.75 * 6.0;
        assert!((soft_pull(t0, 2.0, 3.0, 1.0) - 1.5).abs() < 1e-15);
        // −ln 3 and ¼.
        assert!((soft_pull(6.0 - t0, 2.0, 3.0, 1.0) - 0.5).abs() < 1e-15);
    }

    #[test]
    fn extremes_are_numbers_within_their_bounds() {
        let sizes = [0.0, 1e-300, 1e-20, 1.0, 1e20, 1e100];
        for e in sizes {
            for rate in [1.0, 1e20, 1e300, f64::MAX] {
                for softness in [f64::MIN_POSITIVE, 1e-100, 1e-6, 1.0, 1e6, 1e300] {
                    for size in [0.0, 1e-300, 1.0, 1e20, 1e300, f64::INFINITY] {
                        for t0 in [size, -size] {
                            let pull = soft_pull(t0, e, rate, softness);
                            let what = (t0, e, rate, softness);
                            assert!((0.0..=e).contains(&pull), "{what:?}: {pull:e}");
                            // Beyond that the multiplier is too small for a number.
                            if !(t0.is_finite() && e * rate / softness < 1e290) {
                                continue;
                            }
                            // The margin does not fall below 0, or where it was, but by some κ.
                            let left = t0 - pull * rate;
                            let low = t0.min(0.0) - 800.0 * softness;
                            // The pull is a multiple of the smallest number there is.
                            let noise = 1e-9 * t0.abs() + rate * f64::from_bits(1);
                            assert!(left >= low - noise, "{what:?}: {left:e}");
                        }
                    }
                }
            }
        }
    }
}
