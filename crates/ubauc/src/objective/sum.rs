//! Compensated summation (Knuth's TwoSum): an error of about one rounding, whatever the length,
//! for terms of one sign.

/// A running sum that carries what rounding has dropped.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    pub(crate) fn add(&mut self, x: f64) {
        let high = self.high + x;
        let kept = high - self.high;
        self.low += (self.high - (high - kept)) + (x - kept);
        self.high = high;
    }

    /// After an overflow `low` is NaN and the sum is what `high` says: ±∞.
    pub(crate) fn total(self) -> f64 {
        if self.high.is_finite() {
            self.high + self.low
        } else {
            self.high
        }
    }
}

pub(crate) fn sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    let mut total = Sum::default();
    for x in terms {
        total.add(x);
    }
    total.total()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_plain_addition_drops() {
        assert_eq!(sum([1.0, 1e100, 1.0, -1e100]), 2.0);
        assert_eq!(sum(std::iter::repeat_n(0.1, 10_000_000)), 1e6);
    }

    #[test]
    fn overflow_is_infinite_and_not_nan() {
        assert_eq!(sum([f64::MAX, f64::MAX, 1.0]), f64::INFINITY);
        assert_eq!(sum([]), 0.0);
    }
}
