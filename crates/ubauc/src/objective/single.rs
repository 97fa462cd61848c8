//! The soft loss in single precision, for batches of single-precision logits: the formulas of `loss.rs`, with as many terms as
//! a `f32` has digits for, and twice as many numbers to a vector.

/// e^x for x ≤ 0, to about an ulp; below −87 x counts as −87.
#[inline]
pub(crate) fn exp_of_negative(x: f32) -> f32 {
    // ln 2 in two parts, the first ending in enough zero bits for its multiples to be exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    // 1.5·2^23: adding it rounds to a whole number, which then stands in the lowest bits.
    const SHIFT: f32 = 12_582_912.0;
    let x = x.max(-87.0);
    let shifted = x * std::f32::consts::LOG2_E + SHIFT;
    let k = shifted - SHIFT;
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    let mut sum = EXP_TERMS[0];
    for term in &EXP_TERMS[1..] {
        sum = sum * r + term;
    }
    sum * f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23))
}

/// 1/n! for n from 7 down to 0.
const EXP_TERMS: [f32; 8] = [
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// ln(1 + e) for e in [0, 1].
#[inline]
pub(crate) fn ln_1p_of_share(e: f32) -> f32 {
    let is_large = e > std::f32::consts::SQRT_2 - 1.0;
    let (above, below, add) = match is_large {
        true => (e - 1.0, e + 3.0, std::f32::consts::LN_2),
        false => (e, e + 2.0, 0.0),
    };
    let s = above / below;
    let square = s * s;
    let mut sum = 1.0 / 9.0;
    for odd in [7.0, 5.0, 3.0] {
        sum = sum * square + 1.0 / odd;
    }
    add + 2.0 * s * (sum * square + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// To one and two units of the last place.
    #[test]
    fn exponentials_and_logarithms_are_those_of_the_library() {
        for k in 0..87_000 {
            let x = -(k as f32) * 1e-3;
            let (got, expected) = (f64::from(exp_of_negative(x)), f64::from(x).exp());
            assert!(
                (got - expected).abs() <= 1.2e-7 * expected,
                "exp({x}): {got} {expected}"
            );
            let e = k as f32 / 87_000.0;
            let (got, expected) = (f64::from(ln_1p_of_share(e)), f64::from(e).ln_1p());
            assert!(
                (got - expected).abs() <= 2.4e-7 * expected,
                "ln(1 + {e}): {got} {expected}"
            );
        }
        assert_eq!(exp_of_negative(0.0), 1.0);
        assert!(exp_of_negative(f32::NEG_INFINITY) < 1e-37);
    }
}
