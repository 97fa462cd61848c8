//! The scores of each class in ascending order, and the two merged: c↑_1 ≤ … ≤ c↑_N.
//!
//! The one sort behind everything ranked. Sorting the classes apart gives c↑⁺ (positives in
//! ascending order) for nothing, and shifting a class by a constant (the margin form) keeps it sorted.

use rayon::prelude::*;

use crate::{Error, Result};

/// No sum of N ≤ 2⁶³ scores of this size overflows.
const LARGEST: f64 = 1e280;

/// Scores usable, one label each, both classes there. Answers (N⁺, N⁻).
pub(crate) fn check(scores: &[f64], positive: &[bool]) -> Result<(usize, usize)> {
    if scores.len() != positive.len() {
        return Err(Error::Length {
            what: "labels",
            expected: scores.len(),
            got: positive.len(),
        });
    }
    check_finite(scores)?;
    let n_pos = positive.iter().filter(|&&p| p).count();
    let n_neg = positive.len() - n_pos;
    match (n_pos, n_neg) {
        (0, 0) => Err(Error::Empty),
        (n, 0) => Err(Error::OneClass {
            class: "positive".into(),
            n,
        }),
        (0, n) => Err(Error::OneClass {
            class: "negative".into(),
            n,
        }),
        counts => Ok(counts),
    }
}

pub(crate) fn check_finite(scores: &[f64]) -> Result<()> {
    match scores.iter().position(|c| c.is_nan() || c.abs() > LARGEST) {
        None => Ok(()),
        Some(row) => Err(Error::NotFinite {
            what: "score",
            row,
            value: scores[row],
            must: "finite, at most 1e280 in size",
        }),
    }
}

/// Both classes, each in ascending order, neither empty.
#[derive(Debug, Clone)]
pub(crate) struct Sorted {
    pub(crate) pos: Vec<f64>,
    pub(crate) neg: Vec<f64>,
}

/// All examples with one score.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group {
    pub(crate) value: f64,
    pub(crate) n_pos: usize,
    pub(crate) n_neg: usize,
}

impl Group {
    pub(crate) fn len(self) -> usize {
        self.n_pos + self.n_neg
    }
}

impl Sorted {
    pub(crate) fn new(scores: &[f64], positive: &[bool]) -> Result<Self> {
        let (n_pos, n_neg) = check(scores, positive)?;
        let mut pos = Vec::with_capacity(n_pos);
        let mut neg = Vec::with_capacity(n_neg);
        for (&c, &p) in scores.iter().zip(positive) {
            if p { pos.push(c) } else { neg.push(c) }
        }
        pos.par_sort_unstable_by(f64::total_cmp);
        neg.par_sort_unstable_by(f64::total_cmp);
        Ok(Self { pos, neg })
    }

    pub(crate) fn len(&self) -> usize {
        self.pos.len() + self.neg.len()
    }

    /// Ascending groups of tied examples (−0 and 0 tie).
    pub(crate) fn groups(&self) -> impl Iterator<Item = Group> + '_ {
        let (mut pos, mut neg) = (&self.pos[..], &self.neg[..]);
        std::iter::from_fn(move || {
            let value = match (pos.first(), neg.first()) {
                (Some(&a), Some(&b)) => a.min(b),
                (Some(&a), None) | (None, Some(&a)) => a,
                (None, None) => return None,
            };
            let n_pos = pos.iter().take_while(|&&c| c == value).count();
            let n_neg = neg.iter().take_while(|&&c| c == value).count();
            pos = &pos[n_pos..];
            neg = &neg[n_neg..];
            Some(Group {
                value,
                n_pos,
                n_neg,
            })
        })
    }

    /// c↑_1, …, c↑_N.
    pub(crate) fn merged(&self) -> impl Iterator<Item = f64> + '_ {
        self.groups()
            .flat_map(|g| std::iter::repeat_n(g.value, g.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_gives_groups_of_ties() {
        let s = Sorted::new(
            &[2.0, -0.0, 0.0, 2.0, 1.0],
            &[true, true, false, true, false],
        );
        let groups: Vec<_> = s
            .unwrap()
            .groups()
            .map(|g| (g.value, g.n_pos, g.n_neg))
            .collect();
        assert_eq!(groups, [(0.0, 1, 1), (1.0, 0, 1), (2.0, 2, 0)]);
    }

    #[test]
    fn bad_input_is_refused_by_name() {
        assert!(matches!(check(&[], &[]), Err(Error::Empty)));
        assert!(matches!(
            check(&[1.0], &[]),
            Err(Error::Length {
                expected: 1,
                got: 0,
                ..
            })
        ));
        let one = check(&[1.0, 2.0], &[true, true]);
        assert!(matches!(one, Err(Error::OneClass { class, n: 2 }) if class == "positive"));
        let one = check(&[1.0], &[false]);
        assert!(matches!(one, Err(Error::OneClass { class, n: 1 }) if class == "negative"));
        for bad in [f64::NAN, f64::INFINITY, -1e308] {
            let answer = check(&[1.0, bad], &[true, false]);
            assert!(matches!(answer, Err(Error::NotFinite { row: 1, .. })));
        }
    }
}
