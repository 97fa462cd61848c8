//! The loss of one example, as a function of how far it is on the wrong side of λ.
//!
//! With t = y(λ − z), z the score of an example of class y = ±1 and λ the threshold, the bound is a sum of φ(t):
//!
//! ```text
//! hinge      φ(t) = [t]₊                    φ'(t) = 1[t > 0]            φ''(t) = 0
//! soft, κ    φ(t) = κ ln(1 + e^{t/κ})       φ'(t) = p = 1/(1 + e^{−t/κ})    φ''(t) = p(1 − p)/κ
//! ```
//!
//! The soft loss is above the hinge by at most κ ln 2, at t = 0, and is the hinge as κ → 0. φ' is the multiplier of the
//! example: −yφ'(t) is the (sub)gradient in z, +yφ'(t) that in λ. At the kink of the hinge 0 is taken.
//!
//! The solver of the exact hinge asks for its prox besides ([`hinge_multiplier`]).
//!
//! A new loss is a variant here, and the compiler names the arms to write. Who asks for more than φ asks for [`Loss::is_smooth`].

/// φ.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Loss {
    /// [t]₊, the paper's.
    #[default]
    Hinge,
    /// κ ln(1 + e^{t/κ}).
    Soft {
        /// κ > 0.
        softness: f64,
    },
}

/// φ, φ' and φ'' at one t.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AtMargin {
    /// φ(t).
    pub value: f64,
    /// φ'(t), between 0 and 1.
    pub multiplier: f64,
    /// φ''(t) ≥ 0.
    pub curvature: f64,
}

impl Loss {
    /// The hinge for softness 0.
    pub fn of_softness(softness: f64) -> Loss {
        match softness == 0.0 {
            true => Loss::Hinge,
            false => Loss::Soft { softness },
        }
    }

    /// κ, 0 for the hinge.
    pub fn softness(self) -> f64 {
        match self {
            Loss::Hinge => 0.0,
            Loss::Soft { softness } => softness,
        }
    }

    /// Whether φ has a second derivative everywhere: Newton's method needs nothing else, and no example is pulled onto λ.
    /// The hinge, which has a kink there, has a solver of its own.
    #[inline]
    pub fn is_smooth(self) -> bool {
        match self {
            Loss::Hinge => false,
            Loss::Soft { .. } => true,
        }
    }

    /// φ(t).
    #[inline]
    pub fn value(self, t: f64) -> f64 {
        match self {
            Loss::Hinge => t.max(0.0),
            Loss::Soft { softness } => {
                t.max(0.0) + softness * ln_1p_of_share(exp_of_negative(-(t / softness).abs()))
            }
        }
    }

    /// φ'(t).
    #[inline]
    pub fn multiplier(self, t: f64) -> f64 {
        match self {
            Loss::Hinge if t > 0.0 => 1.0,
            Loss::Hinge => 0.0,
            Loss::Soft { softness } => logistic(t / softness),
        }
    }

    /// All three, for one exponential.
    #[inline]
    pub fn at(self, t: f64) -> AtMargin {
        match self {
            Loss::Hinge => AtMargin {
                value: self.value(t),
                multiplier: self.multiplier(t),
                curvature: 0.0,
            },
            Loss::Soft { softness } => {
                let e = exp_of_negative(-(t / softness).abs());
                let large = 1.0 / (1.0 + e);
                let small = e * large;
                AtMargin {
                    value: t.max(0.0) + softness * ln_1p_of_share(e),
                    multiplier: if t > 0.0 { large } else { small },
                    curvature: small * large / softness,
                }
            }
        }
    }
}

/// The prox of the hinge. Of min_z { s[y(λ − z)]₊ + (σ/2)(z − v)² } the multiplier is u = σ(v − z), which is
/// e = σ(v − λ) brought into [−s, 0] for a positive example and into [0, s] for a negative one; z = λ where it stays
/// strictly inside. `signed` is ys.
#[inline]
pub fn hinge_multiplier(e: f64, signed: f64) -> f64 {
    e.min((-signed).max(0.0)).max((-signed).min(0.0))
}

/// 1/(1 + e^{−t}), without overflow.
#[inline]
fn logistic(t: f64) -> f64 {
    let e = exp_of_negative(-t.abs());
    let large = 1.0 / (1.0 + e);
    if t > 0.0 { large } else { e * large }
}

/// e^x for x ≤ 0, to about an ulp, without a branch, so that loops over it become vectors; the same bits on every
/// machine. With k = round(x/ln 2) and r = x − k ln 2, |r| ≤ ln 2/2, it is 2^k Σ r^n/n!. Below −708, where it would no longer
/// be a normal number, x counts as −708.
#[inline]
fn exp_of_negative(x: f64) -> f64 {
    const LOG2_E: f64 = std::f64::consts::LOG2_E;
    // ln 2 in two parts, the first ending in enough zero bits for its multiples to be exact.
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // 1.5·2^52: adding it rounds to a whole number, which then stands in the lowest bits.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    let x = x.max(-708.0);
    let shifted = x * LOG2_E + SHIFT;
    let k = shifted - SHIFT;
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    let mut sum = EXP_TERMS[0];
    for term in &EXP_TERMS[1..] {
        sum = sum * r + term;
    }
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    sum * power
}

/// 1/n! for n from 13 down to 0.
const EXP_TERMS: [f64; 14] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// ln(1 + e) for e in [0, 1], likewise: with s = e/(2 + e), or (e − 1)/(e + 3) and ln 2 to add where 1 + e > √2, it is
/// 2 Σ s^(2n + 1)/(2n + 1), |s| ≤ 0.172.
#[inline]
fn ln_1p_of_share(e: f64) -> f64 {
    let is_large = e > std::f64::consts::SQRT_2 - 1.0;
    let (above, below, add) = match is_large {
        true => (e - 1.0, e + 3.0, std::f64::consts::LN_2),
        false => (e, e + 2.0, 0.0),
    };
    let s = above / below;
    let square = s * s;
    let mut sum = 1.0 / 23.0;
    for odd in [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        sum = sum * square + 1.0 / odd;
    }
    add + 2.0 * s * (sum * square + 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// 0 ≤ φ_κ − [t]₊ ≤ κ ln 2, φ' in [0, 1], and the tangent is below: a convex upper bound.
        #[test]
        fn soft_is_above_the_hinge_and_convex(t in -50.0..50.0f64, s in -50.0..50.0f64, log in -6.0..2.0f64) {
            let softness = 10f64.powf(log);
            let soft = Loss::of_softness(softness);
            let above = soft.value(t) - Loss::Hinge.value(t);
            prop_assert!((0.0..=softness * std::f64::consts::LN_2 * (1.0 + 1e-15)).contains(&above));
            for loss in [soft, Loss::Hinge] {
                let at = loss.at(t);
                prop_assert_eq!(at.value, loss.value(t));
                prop_assert_eq!(at.multiplier, loss.multiplier(t));
                prop_assert!((0.0..=1.0).contains(&at.multiplier) && at.curvature >= 0.0);
                let tangent = at.value + at.multiplier * (s - t);
                prop_assert!(loss.value(s) >= tangent - 1e-13 * (1.0 + tangent.abs()));
            }
        }

        /// The prox is the minimum: no z near or far has a smaller value.
        #[test]
        fn the_prox_of_the_hinge_is_a_minimum(
            v in -3.0..3.0f64, lambda in -3.0..3.0f64, other in -6.0..6.0f64,
            s in 0.0..2.0f64, sigma in 0.1..10.0f64, positive: bool,
        ) {
            let y = if positive { 1.0 } else { -1.0 };
            let value = |z: f64| {
                s * Loss::Hinge.value(y * (lambda - z)) + 0.5 * sigma * (z - v).powi(2)
            };
            let u = hinge_multiplier(sigma * (v - lambda), y * s);
            let z = v - u / sigma;
            prop_assert!((0.0..=s).contains(&(-y * u)));
            prop_assert!(value(z) <= value(other) + 1e-12);
        }

        /// Central differences, where the third derivative leaves them right.
        #[test]
        fn slopes_are_differences(t in -5.0..5.0f64, softness in 0.3..3.0f64) {
            let (soft, h) = (Loss::of_softness(softness), 1e-4);
            let slope = (soft.value(t + h) - soft.value(t - h)) / (2.0 * h);
            let curvature = (soft.multiplier(t + h) - soft.multiplier(t - h)) / (2.0 * h);
            let at = soft.at(t);
            prop_assert!((slope - at.multiplier).abs() < 1e-6);
            prop_assert!((curvature - at.curvature).abs() < 1e-6);
        }
    }

    #[test]
    fn exponentials_and_logarithms_are_those_of_the_library() {
        for k in 0..=70_000 {
            let x = -f64::from(k) * 0.01;
            let (got, expected) = (exp_of_negative(x), x.exp());
            assert!(
                (got - expected).abs() <= 4e-16 * expected,
                "exp({x}): {got} {expected}"
            );
            let e = f64::from(k) / 70_000.0;
            let (got, expected) = (ln_1p_of_share(e), e.ln_1p());
            assert!(
                (got - expected).abs() <= 6e-16 * expected,
                "ln(1 + {e}): {got} {expected}"
            );
        }
        for e in [0.0, 1e-300, 1e-20, 1e-8] {
            assert!((ln_1p_of_share(e) - e.ln_1p()).abs() <= 4e-16 * e);
        }
        assert_eq!(exp_of_negative(0.0), 1.0);
        assert!(exp_of_negative(f64::NEG_INFINITY) < 1e-300);
    }

    #[test]
    fn extremes_are_numbers() {
        for softness in [1e-300, 1e-12, 1.0, 1e12] {
            for t in [-1e300, -1.0, -0.0, 0.0, 1.0, 1e300] {
                let at = Loss::of_softness(softness).at(t);
                let all = [at.value, at.multiplier, at.curvature];
                assert!(all.iter().all(|x| x.is_finite()), "{softness} {t} {all:?}");
            }
        }
    }
}
