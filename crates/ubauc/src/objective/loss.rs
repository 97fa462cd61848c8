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
//! example: −yφ'(t) is the (sub)gradient in z, +yφ'(t) that in λ. At the kink of the hinge 0 is taken (E6).
//!
//! A new loss is a variant here; the compiler names the places that must know it.

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

    /// φ(t).
    #[inline]
    pub fn value(self, t: f64) -> f64 {
        match self {
            Loss::Hinge => t.max(0.0),
            Loss::Soft { softness } => {
                t.max(0.0) + softness * (-(t / softness).abs()).exp().ln_1p()
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
                let e = (-(t / softness).abs()).exp();
                let small = e / (1.0 + e);
                AtMargin {
                    value: t.max(0.0) + softness * e.ln_1p(),
                    multiplier: if t > 0.0 { 1.0 / (1.0 + e) } else { small },
                    curvature: small / ((1.0 + e) * softness),
                }
            }
        }
    }
}

/// 1/(1 + e^{−t}), without overflow.
#[inline]
fn logistic(t: f64) -> f64 {
    let e = (-t.abs()).exp();
    if t > 0.0 {
        1.0 / (1.0 + e)
    } else {
        e / (1.0 + e)
    }
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
