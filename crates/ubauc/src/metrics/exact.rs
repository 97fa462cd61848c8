//! Centred sums of integers without cancellation.
//!
//! The textbook form Σx² − (Σx)²/n subtracts two numbers that may agree in every digit a double has.
//! Centre instead by the integer q = ⌊Σx / n⌋, with r = Σx − nq, 0 ≤ r < n, so that x̄ = q + r/n:
//!
//!   Σ (x − x̄)(y − ȳ) = Σ (x − q_x)(y − q_y) − r_x r_y / n
//!
//! The first term is an integer and is computed as one; the second is below n. What is rounded is a
//! sum of two terms of one sign: [`whole_minus_ratio`].
//!
//! Width, for placements of N ≤ 2⁴⁰ examples: |x − q| ≤ 2⁴¹, so Σ (x − q_x)(y − q_y) ≤ 2¹²² in
//! absolute value, and r_x r_y < 2⁸⁰. From sums alone, Σ (x − q)² = Σx² − q(Σx + r), whose terms are
//! below 2¹²¹ because Σx² < 2¹²⁰ and q(Σx + r) ≤ 2q·Σx ≤ 2(2N⁻)(2N⁺N⁻) < 2¹²¹ (if q = 0 it is 0).

/// Σ (x − x̄)² from Σx and Σx².
pub(super) fn centred_squares(total: u128, squares: u128, n: usize) -> f64 {
    let n = n as u128;
    let (q, r) = (total / n, total % n);
    whole_minus_ratio((squares - q * (total + r)) as i128, r * r, n)
}

/// Σ (x − x̄)(y − ȳ) over the pairs (x, y) of two lists of one length, at least 1.
pub(super) fn centred_products<I>(pairs: I) -> f64
where
    I: Iterator<Item = (i64, i64)> + Clone,
{
    let (mut n, mut sum_x, mut sum_y) = (0_i128, 0_i128, 0_i128);
    for (x, y) in pairs.clone() {
        n += 1;
        sum_x += i128::from(x);
        sum_y += i128::from(y);
    }
    let (q_x, r_x) = (sum_x.div_euclid(n), sum_x.rem_euclid(n));
    let (q_y, r_y) = (sum_y.div_euclid(n), sum_y.rem_euclid(n));
    // A mean lies between the extremes, so it is an i64, as they are.
    let (q_x, q_y) = (q_x as i64, q_y as i64);
    let whole = pairs
        .map(|(x, y)| i128::from(x - q_x) * i128::from(y - q_y))
        .sum();
    whole_minus_ratio(whole, (r_x * r_y) as u128, n as u128)
}

/// whole − num/den: the integer part exactly, then one fraction of the same sign is added.
fn whole_minus_ratio(whole: i128, num: u128, den: u128) -> f64 {
    let floor = whole - (num / den) as i128; // the value is floor − f, f = rem/den in [0, 1)
    let rem = num % den;
    if rem == 0 || floor <= 0 {
        floor as f64 - rem as f64 / den as f64
    } else {
        (floor - 1) as f64 + (den - rem) as f64 / den as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_half_pair_apart_among_a_trillion_is_seen() {
        // n − 1 values x and one x + 1: Σ (x − x̄)² = (n − 1)/n, of which a double of Σx² sees nothing.
        let (n, x) = (1_u128 << 39, 1_u128 << 40);
        let total = n * x + 1;
        let squares = (n - 1) * x * x + (x + 1) * (x + 1);
        let expected = (n - 1) as f64 / n as f64;
        assert_eq!(centred_squares(total, squares, n as usize), expected);
    }

    #[test]
    fn the_largest_sums_fit() {
        // Half of the positives over all negatives, half under them: x is 0 or 2N⁻, N⁺ + N⁻ = 2⁴⁰.
        let (n_pos, n_neg) = ((1_u128 << 40) / 3 / 2 * 2, (1_u128 << 40) / 3 * 2);
        let (total, squares) = (n_pos / 2 * 2 * n_neg, n_pos / 2 * 4 * n_neg * n_neg);
        let expected = n_pos as f64 * (n_neg as f64) * (n_neg as f64);
        let got = centred_squares(total, squares, n_pos as usize);
        assert!((got / expected - 1.0).abs() < 1e-15, "{got} {expected}"); // three roundings
    }

    #[test]
    fn products_of_both_signs_by_hand() {
        // x = 0, 1, 5 (mean 2), y = 4, −3, 0 (mean 1/3): Σxy − 3·2·(1/3) = −3 − 2.
        let pairs = [(0, 4), (1, -3), (5, 0)];
        assert_eq!(centred_products(pairs.into_iter()), -5.0);
        let squares = pairs.map(|(_, y)| (y, y)); // 25 − 3/9
        assert_eq!(centred_products(squares.into_iter()), 24.0 + 2.0 / 3.0);
    }
}
