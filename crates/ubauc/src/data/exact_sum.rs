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
        if self.waiting == MOST_WAITING {
            self.propagate();
        }
        let (place, shift) = (e.div_euclid(32), e.rem_euclid(32));
        if self.digits.is_empty() || place < self.low || place + 3 > self.end() {
            self.widen(place);
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
mod tests;
