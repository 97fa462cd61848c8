//! Sums of products of floating-point numbers without any rounding, so that they depend neither on the order of the
//! terms nor on how these are divided among threads or machines.
//!
//! A finite double is ±m·2^e with a whole number m below 2⁵³, and so a product of up to three of them is ±m·2^e with m
//! below 2¹⁵⁹. A sum is kept as a whole number in digits of 32 bits, each in 64 bits with a sign, so that carries can wait
//! for 2³⁰ additions. Only the digits between the lowest and the highest that were ever needed are stored: about ten for
//! usual data.
//!
//! [`Exact`] is such a whole number with its carries done; it is rounded once, at the very end. With the sums S = Σ s_i,
//! A = Σ s_i x_i and Q = Σ s_i x_i² the mean is A/S and the variance (SQ − A²)/S², where nothing cancels.

use serde::{Deserialize, Serialize};

/// Additions before carries are propagated: each changes a digit by less than 2³².
const MOST_WAITING: u32 = 1 << 30;
const DIGIT: u64 = 0xffff_ffff;

/// A sum of finite numbers, or of products of them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ExactSum {
    /// The place of the first digit: its unit is 2^(32·low).
    low: i32,
    /// From the lowest up.
    digits: Vec<i64>,
    /// Additions since the carries were propagated.
    waiting: u32,
}

impl ExactSum {
    /// Σ ← Σ + x. What is not finite adds nothing.
    #[inline]
    pub fn add(&mut self, x: f64) {
        let (negative, m, e) = parts(x);
        self.add_whole(negative, m, e);
    }

    /// Σ ← Σ + s·x.
    #[inline]
    pub fn add_product(&mut self, s: f64, x: f64) {
        let ((p, m, e), (q, n, f)) = (parts(s), parts(x));
        self.add_double(p != q, u128::from(m) * u128::from(n), e + f);
    }

    /// Σ ← Σ + s·x².
    #[inline]
    pub fn add_square(&mut self, s: f64, x: f64) {
        if s == 1.0 {
            return self.add_product(x, x);
        }
        let ((negative, m, e), (_, n, f)) = (parts(s), parts(x));
        let square = u128::from(n) * u128::from(n);
        let halves = [u128::from(square as u64), square >> 64];
        let place = e + 2 * f;
        self.add_double(negative, halves[0] * u128::from(m), place);
        self.add_double(negative, halves[1] * u128::from(m), place + 64);
    }

    /// Σ ← Σ + the other sum.
    pub fn merge(&mut self, other: &ExactSum) {
        let other = other.exact();
        for (k, &digit) in other.digits.iter().enumerate() {
            self.add_whole(
                other.negative,
                u64::from(digit),
                32 * (other.low + k as i32),
            );
        }
    }

    /// The sum as a whole number times a power of two.
    pub fn exact(&self) -> Exact {
        let mut digits = Vec::with_capacity(self.digits.len() + 2);
        let mut carry = 0_i64;
        let mut push = |digit: i64, carry: i64| {
            let sum = digit + carry;
            digits.push((sum as u64 & DIGIT) as u32);
            sum >> 32
        };
        for &digit in &self.digits {
            carry = push(digit, carry);
        }
        while carry != 0 && carry != -1 {
            carry = push(0, carry);
        }
        let negative = carry == -1;
        if negative {
            // From the complement to the magnitude.
            let mut add = 1_u64;
            for digit in &mut digits {
                let sum = u64::from(!*digit) + add;
                *digit = sum as u32;
                add = sum >> 32;
            }
            digits.push(add as u32);
        }
        Exact::trimmed(negative, self.low, digits)
    }

    /// The double nearest to the sum.
    pub fn value(&self) -> f64 {
        self.exact().value()
    }

    /// Whether sums of products of three finite numbers can look like this: for one that came from elsewhere.
    pub(crate) fn is_sound(&self) -> bool {
        let places = -110..=110;
        let is_within = |digit: &i64| digit.unsigned_abs() <= u64::from(self.waiting) << 32;
        places.contains(&self.low)
            && self.digits.len() <= 230
            && self.waiting <= MOST_WAITING
            && self.digits.iter().all(is_within)
    }

    #[inline]
    fn add_double(&mut self, negative: bool, m: u128, e: i32) {
        self.add_whole(negative, m as u64, e);
        let high = (m >> 64) as u64;
        if high != 0 {
            self.add_whole(negative, high, e + 64);
        }
    }

    /// Σ ← Σ ± m·2^e.
    #[inline]
    fn add_whole(&mut self, negative: bool, m: u64, e: i32) {
        if m == 0 {
            return;
        }
        let (place, shift) = (e.div_euclid(32), e.rem_euclid(32));
        if self.digits.is_empty() || place < self.low || place + 3 > self.end() {
            self.widen(place);
        }
        if self.waiting == MOST_WAITING {
            self.propagate();
        }
        self.waiting += 1;
        let shifted = u128::from(m) << shift;
        let at = (place - self.low) as usize;
        for (k, digit) in self.digits[at..at + 3].iter_mut().enumerate() {
            let part = ((shifted >> (32 * k)) as u64 & DIGIT) as i64;
            *digit += if negative { -part } else { part };
        }
    }

    fn end(&self) -> i32 {
        self.low + self.digits.len() as i32
    }

    /// Makes room for three digits from a place on.
    #[cold]
    fn widen(&mut self, place: i32) {
        if self.digits.is_empty() {
            self.low = place;
        }
        if place < self.low {
            let more = (self.low - place) as usize;
            self.digits.splice(0..0, std::iter::repeat_n(0, more));
            self.low = place;
        }
        if place + 3 > self.end() {
            let len = (place + 3 - self.low) as usize;
            self.digits.resize(len, 0);
        }
    }

    #[cold]
    fn propagate(&mut self) {
        let exact = self.exact();
        *self = ExactSum::default();
        for (k, &digit) in exact.digits.iter().enumerate() {
            let place = 32 * (exact.low + k as i32);
            self.add_whole(exact.negative, u64::from(digit), place);
        }
    }
}

impl PartialEq for ExactSum {
    fn eq(&self, other: &ExactSum) -> bool {
        self.exact() == other.exact()
    }
}

/// Sign, whole number and exponent of a finite number; 0 of any other.
#[inline]
fn parts(x: f64) -> (bool, u64, i32) {
    let bits = x.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let (m, e) = match exponent {
        0 => (fraction, -1074),
        0x7ff => (0, 0),
        _ => (fraction | 1 << 52, exponent - 1075),
    };
    (x.is_sign_negative(), m, e)
}

/// A whole number times a power of two, of any size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exact {
    negative: bool,
    /// The place of the first digit: its unit is 2^(32·low).
    low: i32,
    /// From the lowest, which is not 0, to the highest, which is not 0; none for 0.
    digits: Vec<u32>,
}

impl Exact {
    fn trimmed(negative: bool, low: i32, mut digits: Vec<u32>) -> Exact {
        let used = digits.iter().rposition(|d| *d != 0).map_or(0, |at| at + 1);
        digits.truncate(used);
        let zeros = digits.iter().take_while(|d| **d == 0).count();
        digits.drain(..zeros);
        match digits.is_empty() {
            true => Exact {
                negative: false,
                low: 0,
                digits,
            },
            false => Exact {
                negative,
                low: low + zeros as i32,
                digits,
            },
        }
    }

    /// The product with another.
    #[must_use]
    pub fn times(&self, other: &Exact) -> Exact {
        let mut digits = vec![0_u32; self.digits.len() + other.digits.len()];
        for (i, &a) in self.digits.iter().enumerate() {
            let mut carry = 0_u64;
            for (j, &b) in other.digits.iter().enumerate() {
                let sum = u64::from(a) * u64::from(b) + u64::from(digits[i + j]) + carry;
                digits[i + j] = sum as u32;
                carry = sum >> 32;
            }
            digits[i + other.digits.len()] = carry as u32;
        }
        Exact::trimmed(
            self.negative != other.negative,
            self.low + other.low,
            digits,
        )
    }

    /// This less another.
    #[must_use]
    pub fn less(&self, other: &Exact) -> Exact {
        let mut sum = ExactSum::default();
        for (number, is_other) in [(self, false), (other, true)] {
            for (k, &digit) in number.digits.iter().enumerate() {
                let place = 32 * (number.low + k as i32);
                sum.add_whole(number.negative != is_other, u64::from(digit), place);
            }
        }
        sum.exact()
    }

    /// f and e with f·2^e the nearest number that has 53 bits; (0, 0) for 0.
    pub fn split(&self) -> (f64, i32) {
        // The 64 highest bits; the last stands for all below.
        let Some(&top) = self.digits.last() else {
            return (0.0, 0);
        };
        let n = self.digits.len();
        let digit = |k: usize| n.checked_sub(k).map_or(0, |at| u128::from(self.digits[at]));
        let zeros = top.leading_zeros();
        let three = digit(1) << 64 | digit(2) << 32 | digit(3);
        let head = ((three << zeros) >> 32) as u64;
        let rest = three & ((1 << (32 - zeros)) - 1) != 0;
        let below = n > 3 && self.digits[..n - 3].iter().any(|d| *d != 0);
        let head = head | u64::from(rest || below);
        let e = 32 * (self.low + n as i32 - 2) - zeros as i32;
        let f = head as f64;
        (if self.negative { -f } else { f }, e)
    }

    /// The nearest double.
    pub fn value(&self) -> f64 {
        let (f, e) = self.split();
        libm::scalbn(f, e)
    }
}

/// a/b, to about one unit of the last place. b is not 0.
pub fn ratio(a: &Exact, b: &Exact) -> f64 {
    let ((f, e), (g, h)) = (a.split(), b.split());
    libm::scalbn(f / g, e - h)
}

/// √a/b, to about one unit of the last place. a is not negative and b not 0.
pub fn root_ratio(a: &Exact, b: &Exact) -> f64 {
    let ((mut f, mut e), (g, h)) = (a.split(), b.split());
    if e.rem_euclid(2) == 1 {
        (f, e) = (2.0 * f, e - 1);
    }
    libm::scalbn(f.sqrt() / g, e / 2 - h)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sum(of: &[f64]) -> ExactSum {
        let mut sum = ExactSum::default();
        of.iter().for_each(|&x| sum.add(x));
        sum
    }

    /// Shewchuk's sum, as in Python's `fsum`: partial sums that do not overlap, each sum of two split into the rounded
    /// sum and its error.
    fn by_partial_sums(of: &[f64]) -> f64 {
        let mut partials: Vec<f64> = Vec::new();
        for &x in of {
            let (mut x, mut kept) = (x, Vec::new());
            for &y in &partials {
                let (a, b) = if x.abs() < y.abs() { (y, x) } else { (x, y) };
                let high = a + b;
                let low = b - (high - a);
                if low != 0.0 {
                    kept.push(low);
                }
                x = high;
            }
            kept.push(x);
            partials = kept;
        }
        let mut total = 0.0;
        let mut rest = 0.0;
        while let Some(x) = partials.pop() {
            let before = total;
            total = before + x;
            rest = x - (total - before);
            if rest != 0.0 {
                break;
            }
        }
        // Half of a last place, and more of the same sign below: away from the even neighbour.
        if let Some(&below) = partials.last() {
            let twice = 2.0 * rest;
            if (rest < 0.0) == (below < 0.0) && below != 0.0 && twice == (total + twice) - total {
                total += twice;
            }
        }
        total
    }

    fn number() -> impl Strategy<Value = f64> {
        (-1.0..1.0, -300i32..300).prop_map(|(x, e): (f64, i32)| x * 10f64.powi(e))
    }

    fn near() -> impl Strategy<Value = f64> {
        (-1.0..1.0, -20i32..20).prop_map(|(x, e): (f64, i32)| x * 2f64.powi(e))
    }

    proptest! {
        #[test]
        fn a_sum_is_that_of_non_overlapping_parts(
            mut x in prop::collection::vec(prop_oneof![number(), near()], 0..40),
            cancel in any::<bool>(),
        ) {
            if cancel {
                let less: Vec<f64> = x.iter().skip(1).map(|x| -x).collect();
                x.extend(less);
            }
            prop_assert_eq!(sum(&x).value(), by_partial_sums(&x));
        }

        #[test]
        fn neither_the_order_nor_the_parts_change_a_bit(
            x in prop::collection::vec(number(), 0..40), cut in 0usize..40,
        ) {
            let mut turned = x.clone();
            turned.reverse();
            let whole = sum(&x);
            prop_assert_eq!(whole.value().to_bits(), sum(&turned).value().to_bits());
            let (a, b) = x.split_at(cut.min(x.len()));
            for (a, b) in [(a, b), (b, a)] {
                let mut merged = sum(a);
                merged.merge(&sum(b));
                prop_assert_eq!(&merged, &whole);
            }
            let bytes = postcard::to_stdvec(&whole).unwrap();
            let back: ExactSum = postcard::from_bytes(&bytes).unwrap();
            prop_assert_eq!(back, whole);
        }

        /// Whole numbers, of which i128 is the oracle.
        #[test]
        fn products_of_whole_numbers_are_right(
            of in prop::collection::vec((0u32..1000, -1_000_000i64..1_000_000), 1..30),
        ) {
            let [mut total, mut first, mut second] = [(); 3].map(|()| ExactSum::default());
            let mut expected = [0_i128; 3];
            for &(s, x) in &of {
                let (s, y) = (f64::from(s), x as f64);
                total.add(s);
                first.add_product(s, y);
                second.add_square(s, y);
                let (s, x) = (s as i128, i128::from(x));
                expected = [expected[0] + s, expected[1] + s * x, expected[2] + s * x * x];
            }
            for (sum, expected) in [&total, &first, &second].into_iter().zip(expected) {
                prop_assert_eq!(sum.value(), expected as f64);
            }
            let [s, a, q] = [total, first, second].map(|sum| sum.exact());
            let apart = s.times(&q).less(&a.times(&a));
            let whole = expected[0] * expected[2] - expected[1] * expected[1];
            prop_assert_eq!(apart.value(), whole as f64);
            if expected[0] > 0 {
                let mean = expected[1] as f64 / expected[0] as f64;
                prop_assert!((ratio(&a, &s) - mean).abs() <= 1e-15 * mean.abs());
                let deviation = (whole as f64).sqrt() / expected[0] as f64;
                prop_assert!((root_ratio(&apart, &s) - deviation).abs() <= 1e-15 * deviation);
            }
        }

        /// Scaled by powers of two, where nothing changes but the exponent.
        #[test]
        fn the_smallest_and_largest_numbers_have_their_products(x in 0.5..1.0f64, s in 0.5..1.0f64) {
            let of = |scale: f64, times: f64| {
                let mut sum = ExactSum::default();
                sum.add_square(s * times, x * scale);
                sum.add_square(s * times, -x * scale);
                sum.exact().split()
            };
            let (f, e) = of(1.0, 1.0);
            prop_assert_eq!(of(2f64.powi(1000), 2f64.powi(900)), (f, e + 2900));
            prop_assert_eq!(of(2f64.powi(-1000), 2f64.powi(-900)), (f, e - 2900));
        }
    }

    #[test]
    fn what_doubles_lose_is_kept() {
        assert_eq!(sum(&[1e100, 1.0, -1e100]).value(), 1.0);
        assert_eq!(sum(&[1e16, 1.0, 1.0]).value(), 1e16 + 2.0);
        assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]).value(), f64::MAX);
        assert_eq!(sum(&[f64::MAX, f64::MAX]).value(), f64::INFINITY);
        assert_eq!(sum(&[5e-324; 3]).value(), 1.5e-323);
        assert_eq!(sum(&[]).value(), 0.0);
        assert_eq!(sum(&[f64::NAN, f64::INFINITY, -2.5]).value(), -2.5);
        assert_eq!(sum(&[0.1; 10]).value(), 1.0);
    }

    #[test]
    fn the_deviation_of_numbers_far_from_zero_is_exact() {
        let [mut a, mut q] = [(); 2].map(|()| ExactSum::default());
        for i in 0..1000 {
            let x = 1e15 + f64::from(i % 2);
            a.add(x);
            q.add_square(1.0, x);
        }
        let (s, a, q) = (sum(&[1000.0]).exact(), a.exact(), q.exact());
        assert_eq!(root_ratio(&s.times(&q).less(&a.times(&a)), &s), 0.5);
        assert_eq!(ratio(&a, &s), 1e15 + 0.5);
    }

    #[test]
    fn carries_that_have_waited_are_propagated() {
        let mut sum = ExactSum {
            waiting: MOST_WAITING - 1,
            ..ExactSum::default()
        };
        for _ in 0..5 {
            sum.add(-0.75);
        }
        assert!(sum.waiting < 100);
        assert_eq!(sum.value(), -3.75);
    }
}
