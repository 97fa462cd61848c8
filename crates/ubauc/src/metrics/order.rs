//! Scores as integers of the same order.
//!
//! The bits of a non-negative IEEE 754 number, read as an integer, are in the order of the numbers;
//! those of negative numbers are in the reverse order. So set the sign bit of the former and flip
//! every bit of the latter:
//!
//!   −∞ < … < −0.0 = 0.0 < … < +∞     ⇔     0x000f… < … < 2⁶³ < … < 0xfff0…
//!
//! Both zeros get one key, so that keys are equal exactly when scores are. NaN has no place in the
//! order: callers refuse it first.

use rayon::prelude::*;

use crate::{Error, Result};

const SIGN: u64 = 1 << 63;

/// Fewer examples than this are not worth a second thread.
pub(super) const PARALLEL_FROM: usize = 1 << 16;

/// The order-preserving key of a score that is not NaN.
#[inline]
pub(crate) fn key(score: f64) -> u64 {
    let bits = (score + 0.0).to_bits(); // −0.0 + 0.0 = 0.0
    let negative = (bits as i64 >> 63) as u64; // all ones or all zeros
    bits ^ (negative | SIGN)
}

/// The score of a key: the inverse of [`key`], up to the sign of zero.
#[inline]
pub(crate) fn score(key: u64) -> f64 {
    let negative = ((!key) as i64 >> 63) as u64;
    f64::from_bits(key ^ (negative | SIGN))
}

/// What one pass over scores and labels finds.
pub(super) struct Census {
    /// Number of positive examples, at least 1.
    pub n_pos: usize,
    /// Number of negative examples, at least 1.
    pub n_neg: usize,
    /// The bits in which not all keys agree.
    pub varying: u64,
}

/// Checks scores and labels: one length, both classes, no NaN.
pub(super) fn census(scores: &[f64], positive: &[bool]) -> Result<Census> {
    let n = scores.len();
    if positive.len() != n {
        return Err(Error::Length {
            what: "labels",
            expected: n,
            got: positive.len(),
        });
    }
    let first = key(*scores.first().ok_or(Error::Empty)?);
    let scan = |(scores, positive): (&[f64], &[bool])| {
        let mut any_nan = false;
        let mut varying = 0;
        for &s in scores {
            any_nan |= s.is_nan();
            varying |= key(s) ^ first;
        }
        (any_nan, varying, positive.iter().filter(|&&p| p).count())
    };
    let chunk = chunk_len(n);
    let (any_nan, varying, n_pos) = if chunk == n {
        scan((scores, positive))
    } else {
        (scores.par_chunks(chunk), positive.par_chunks(chunk))
            .into_par_iter()
            .map(scan)
            .reduce(|| (false, 0, 0), |a, b| (a.0 | b.0, a.1 | b.1, a.2 + b.2))
    };
    if any_nan {
        refuse_nan(scores)?;
    }
    both_classes(n_pos, n - n_pos)?;
    Ok(Census {
        n_pos,
        n_neg: n - n_pos,
        varying,
    })
}

/// How many examples one thread should take at a time: all of them if they are few.
pub(super) fn chunk_len(n: usize) -> usize {
    if n < PARALLEL_FROM {
        n
    } else {
        n.div_ceil(rayon::current_num_threads()).max(PARALLEL_FROM)
    }
}

/// Names the first score that is NaN.
pub(super) fn refuse_nan(scores: &[f64]) -> Result<()> {
    match scores.iter().position(|s| s.is_nan()) {
        None => Ok(()),
        Some(row) => Err(nan_score(row)),
    }
}

/// A score that has no place in the order.
pub(super) fn nan_score(row: usize) -> Error {
    let must = "a number (infinities are allowed)";
    Error::NotFinite {
        what: "score",
        row,
        value: f64::NAN,
        must,
    }
}

/// AUC needs an example of each class.
pub(super) fn both_classes(n_pos: usize, n_neg: usize) -> Result<()> {
    let only = |class: &str, n| {
        Err(Error::OneClass {
            class: class.to_owned(),
            n,
        })
    };
    match (n_pos, n_neg) {
        (0, 0) => Err(Error::Empty),
        (n, 0) => only("positive", n),
        (0, n) => only("negative", n),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn infinities_are_the_ends_and_the_zeros_are_one() {
        let sorted = [
            f64::NEG_INFINITY,
            f64::MIN,
            -1.0,
            -f64::MIN_POSITIVE,
            -5e-324,
            0.0,
            5e-324,
            1.0,
        ];
        assert!(sorted.is_sorted_by_key(|&s| key(s)));
        assert!(key(f64::MAX) < key(f64::INFINITY));
        assert_eq!(key(-0.0), key(0.0));
        assert_eq!(score(key(-0.0)).to_bits(), 0.0_f64.to_bits());
    }

    proptest! {
        #[test]
        fn keys_compare_as_scores_do(a: f64, b: f64) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            prop_assert_eq!(key(a).cmp(&key(b)), a.partial_cmp(&b).unwrap());
            prop_assert_eq!(score(key(a)), a);
        }
    }
}
