//! The mean hinge of the pairs and its subgradient, by one sort.
//!
//! ```text
//! L(c) = 1/(N⁺N⁻) Σ_{i∈+} Σ_{j∈−} [1 − (c_i − c_j)]₊
//! ```
//!
//! With v_i = c_i for a positive and v_j = c_j + 1 for a negative example a pair counts if v_i < v_j; at the kink, a
//! difference of exactly 1, it does not. Let n_i be the number of negatives above positive i, n_j that of positives
//! below negative j, and M = Σ_i n_i = Σ_j n_j the number of pairs that count. Then
//!
//! ```text
//! L(c') ≥ b + a·c' for every c', with equality at c,   a_i = −n_i/(N⁺N⁻),  a_j = n_j/(N⁺N⁻),  b = M/(N⁺N⁻).
//! ```
//!
//! All counts are integers, so that a and b are right to the last bit. O(N) time after the sort of v, which is a radix
//! sort; the loss is a compensated sum of terms ≥ 0, in which nothing cancels.

use crate::data::dataset::Dataset;
use crate::metrics::order::{key, score};
use crate::metrics::radix::sort_by_key;
use crate::objective::sum::Sum;
use crate::{Error, Result};

/// No sum of N² scores of this size overflows.
const LARGEST: f64 = 1e250;

#[derive(Clone, Copy)]
struct Item {
    /// Of v.
    key: u64,
    row: u32,
    positive: bool,
}

/// The examples in the order of v.
pub(super) struct Pairs<'a> {
    positive: &'a [bool],
    n_neg: f64,
    /// 1/(N⁺N⁻).
    share: f64,
    items: Vec<Item>,
    scratch: Vec<Item>,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(data: &'a Dataset) -> Result<Pairs<'a>> {
        if u32::try_from(data.rows().len()).is_err() {
            let what = "more than 2^32 examples";
            return Err(Error::Numerical { what });
        }
        Ok(Pairs {
            positive: data.positive(),
            n_neg: data.n_neg() as f64,
            share: 1.0 / (data.n_pos() as f64 * data.n_neg() as f64),
            items: Vec::with_capacity(data.rows().len()),
            scratch: Vec::new(),
        })
    }

    /// Takes the scores; everything below is at them.
    pub(super) fn sort(&mut self, scores: impl Iterator<Item = f64>) -> Result<()> {
        self.items.clear();
        let mut sound = true;
        for ((row, &positive), c) in (0..).zip(self.positive).zip(scores) {
            sound &= c.abs() <= LARGEST;
            let v = if positive { c } else { c + 1.0 };
            let key = key(v);
            self.items.push(Item { key, row, positive });
        }
        if !sound {
            let what = "scores overflow; scale the features or choose a smaller C";
            return Err(Error::Numerical { what });
        }
        sort_by_key(&mut self.items, &mut self.scratch, |item| item.key);
        Ok(())
    }

    /// L, and its slope a·δ along δ.
    pub(super) fn loss_and_slope(&self, along: &[f64]) -> (f64, f64) {
        let mut slope = 0.0;
        let loss = self.sweep(|item, count| slope += count * along[item.row as usize]);
        (loss, slope * self.share)
    }

    /// L.
    pub(super) fn loss(&self) -> f64 {
        self.sweep(|_, _| ())
    }

    /// a, and b as the answer.
    pub(super) fn plane(&self, a: &mut [f64]) -> f64 {
        let mut pairs = 0.0;
        self.sweep(|item, count| {
            a[item.row as usize] = count * self.share;
            pairs += count.max(0.0);
        });
        pairs * self.share
    }

    /// Visits every example with −n_i or n_j, in the order of v; answers L.
    #[inline]
    fn sweep(&self, mut visit: impl FnMut(&Item, f64)) -> f64 {
        // Positives below v and negatives not yet passed; counts are exact up to 2⁵³.
        let (mut below, mut above) = (0.0, self.n_neg);
        // Σ (v − v_i) over the positives below v, carried upwards.
        let (mut distance, mut previous, mut total) = (Sum::default(), 0.0, Sum::default());
        let mut rest = &self.items[..];
        while let Some(&Item { key, .. }) = rest.first() {
            let ties = match rest.get(1) {
                Some(next) if next.key == key => rest.iter().take_while(|i| i.key == key).count(),
                _ => 1,
            };
            let (tied, after) = rest.split_at(ties);
            rest = after;
            let v = score(key);
            if below > 0.0 {
                distance.add(below * (v - previous));
            }
            previous = v;
            let positives = tied
                .iter()
                .map(|i| f64::from(u8::from(i.positive)))
                .sum::<f64>();
            let negatives = ties as f64 - positives;
            above -= negatives;
            total.add(negatives * distance.total());
            for item in tied {
                visit(item, if item.positive { -above } else { below });
            }
            below += positives;
        }
        total.total() * self.share
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::labels::Binary;
    use crate::data::rows::{Dense, Rows};

    fn dataset(positive: &[bool]) -> Dataset {
        let n_pos = positive.iter().filter(|p| **p).count();
        let labels = Binary {
            positive: positive.to_vec(),
            n_pos,
            n_neg: positive.len() - n_pos,
            names: ["-1".into(), "1".into()],
        };
        let rows = Dense::new(Vec::new(), positive.len(), 0).unwrap();
        Dataset::new(Rows::Dense(rows), labels, Vec::new()).unwrap()
    }

    /// L, a and b by looking at every pair.
    fn by_pairs(scores: &[f64], positive: &[bool]) -> (f64, Vec<f64>, f64) {
        let class = |p| (0..scores.len()).filter(move |&i| positive[i] == p);
        let pairs = (class(true).count() * class(false).count()) as f64;
        let (mut loss, mut a, mut b) = (0.0, vec![0.0; scores.len()], 0.0);
        for i in class(true) {
            for j in class(false) {
                if scores[j] + 1.0 > scores[i] {
                    loss += scores[j] + 1.0 - scores[i];
                    a[i] -= 1.0;
                    a[j] += 1.0;
                    b += 1.0;
                }
            }
        }
        a.iter_mut().for_each(|a| *a /= pairs);
        (loss / pairs, a, b / pairs)
    }

    fn near(a: f64, b: f64, scale: f64) -> bool {
        (a - b).abs() <= 1e-13 * (1.0 + scale)
    }

    fn check(scores: &[f64], positive: &[bool], other: &[f64]) {
        let data = dataset(positive);
        let mut pairs = Pairs::new(&data).unwrap();
        pairs.sort(scores.iter().copied()).unwrap();
        let mut a = vec![f64::NAN; scores.len()];
        let b = pairs.plane(&mut a);
        let (loss, slow_a, slow_b) = by_pairs(scores, positive);
        // Counts times 1/(N⁺N⁻) against counts over N⁺N⁻.
        assert!(near(b, slow_b, 0.0), "{b} {slow_b}");
        assert!(
            a.iter().zip(&slow_a).all(|(a, s)| near(*a, *s, 0.0)),
            "{a:?} {slow_a:?}"
        );
        assert!(near(pairs.loss(), loss, loss), "{} {loss}", pairs.loss());
        let product = |c: &[f64]| a.iter().zip(c).map(|(a, c)| a * c).sum::<f64>();
        let (again, slope) = pairs.loss_and_slope(other);
        assert_eq!(again, pairs.loss());
        let size = scores
            .iter()
            .chain(other)
            .fold(0.0, |m: f64, c| m.max(c.abs()));
        assert!(near(slope, product(other), size));
        // The plane touches L here, and is below it there.
        assert!(near(b + product(scores), loss, size));
        let (there, ..) = by_pairs(other, positive);
        assert!(there >= b + product(other) - 1e-13 * (1.0 + size));
        let hinge = crate::objective::pairwise::hinge(scores, positive).unwrap();
        assert!(near(hinge, loss, loss));
    }

    fn both(positive: &mut [bool]) {
        positive[0] = true;
        positive[1] = false;
    }

    proptest! {
        #[test]
        fn planes_equal_counting_pairs(
            (scores, other, mut positive) in (2_usize..60).prop_flat_map(|n| (
                prop::collection::vec(-4.0_f64..4.0, n),
                prop::collection::vec(-4.0_f64..4.0, n),
                prop::collection::vec(any::<bool>(), n),
            )),
        ) {
            both(&mut positive);
            check(&scores, &positive, &other);
        }

        /// Quarters: many ties, and many differences of exactly 1.
        #[test]
        fn so_they_do_with_ties_and_at_the_kink(
            (scores, other, mut positive) in (2_usize..60).prop_flat_map(|n| (
                prop::collection::vec((-9_i32..9).prop_map(|c| f64::from(c) / 4.0), n),
                prop::collection::vec((-9_i32..9).prop_map(|c| f64::from(c) / 4.0), n),
                prop::collection::vec(any::<bool>(), n),
            )),
        ) {
            both(&mut positive);
            check(&scores, &positive, &other);
        }
    }

    #[test]
    fn one_against_many() {
        // More than a comparison sort takes.
        let scores: Vec<f64> = (0..1000)
            .map(|i| f64::from(i * 7919 % 997) / 250.0 - 2.0)
            .collect();
        let other: Vec<f64> = scores.iter().rev().copied().collect();
        for kind in [true, false] {
            let mut positive = vec![!kind; 1000];
            positive[500] = kind;
            check(&scores, &positive, &other);
        }
    }

    #[test]
    fn a_difference_of_one_does_not_count() {
        let data = dataset(&[true, false]);
        let mut pairs = Pairs::new(&data).unwrap();
        pairs.sort([1.0, 0.0].into_iter()).unwrap();
        let mut a = vec![f64::NAN; 2];
        assert_eq!((pairs.plane(&mut a), pairs.loss()), (0.0, 0.0));
        assert_eq!(a, [0.0, 0.0]);
    }

    #[test]
    fn what_overflows_is_refused() {
        let data = dataset(&[true, false]);
        let mut pairs = Pairs::new(&data).unwrap();
        for bad in [f64::NAN, f64::INFINITY, -1e300] {
            let answer = pairs.sort([0.0, bad].into_iter());
            assert!(matches!(answer, Err(Error::Numerical { .. })));
        }
    }
}
