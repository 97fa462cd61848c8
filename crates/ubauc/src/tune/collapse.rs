//! How many examples may be tied at λ before a model counts as collapsed.

use std::hash::{DefaultHasher, Hash, Hasher};

use rayon::prelude::*;

use crate::data::dataset::Dataset;
use crate::data::rows::{Row, Rows};

/// The most examples that may be tied at λ before a model of these data counts as collapsed: see the head of
/// [`tune`](crate::tune). Examples of weight 0 do not count. O(nnz).
pub fn most_tied(data: &Dataset, weights: Option<&[f64]>) -> usize {
    let rows = data.rows();
    let counts = |i: &usize| weights.is_none_or(|s| s.get(*i).is_none_or(|s| *s > 0.0));
    let of: Vec<usize> = (0..rows.len()).filter(counts).collect();
    allowed(of.len(), rows.cols(), unavoidable(rows, &of))
}

/// The same of n examples with d features of which no more is known: as if no two were equal.
pub fn most_tied_of(n: usize, d: usize) -> usize {
    allowed(n, d, 0)
}

/// Whether this many examples tied at λ make a model of these data a collapsed one. One in a hundred always may be: no need
/// to count more then.
pub fn has_collapsed(data: &Dataset, weights: Option<&[f64]>, tied: usize) -> bool {
    let counted = |weights: &[f64]| weights.iter().filter(|s| **s > 0.0).count();
    let used = weights.map_or(data.rows().len(), counted);
    tied > used / 100 && tied > most_tied(data, weights)
}

/// How many of these rows may be tied for having the same features, zeros stored or not: the largest group of equals,
/// which every model ties; or where there are few kinds of rows, the d + 1 largest, which may meet at λ as d + 1 single
/// rows may elsewhere, but less than half of the rows. O(nnz).
pub(super) fn unavoidable(rows: &Rows, of: &[usize]) -> usize {
    let mut hashes: Vec<u64> = of
        .par_iter()
        .with_min_len(1024)
        .map(|&i| hash(rows.row(i)))
        .collect();
    hashes.par_sort_unstable();
    let groups = hashes.chunk_by(|a, b| a == b).map(<[u64]>::len);
    let mut groups: Vec<usize> = groups.collect();
    groups.sort_unstable_by(|a, b| b.cmp(a));
    let largest = groups.first().copied().unwrap_or(0);
    let d = rows.cols();
    if groups.len() > 4 * (d + 10) {
        return largest;
    }
    let meeting: usize = groups.iter().take(d + 1).sum();
    largest.max(meeting.min(of.len().saturating_sub(1) / 2))
}

fn hash(row: Row<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    row.for_each(|j, x| {
        if x != 0.0 {
            (j, x.to_bits()).hash(&mut hasher);
        }
    });
    hasher.finish()
}

/// The most examples of n, with d features, that may be tied at λ without a collapse.
pub(super) fn allowed(n: usize, d: usize, unavoidable: usize) -> usize {
    (n / 100).max((d + 10).min(n / 4)).max(unavoidable)
}

/// With so many times as many tied examples as are allowed, even a coarse solution has collapsed.
const OBVIOUS: usize = 10;

/// What the number of tied examples tells of a solution that may be coarse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ties {
    Few,
    /// More than allowed: a closer solution may have fewer.
    Many,
    Collapse,
}

impl Ties {
    pub(super) fn of(tied: usize, allowed: usize) -> Ties {
        match tied {
            tied if tied <= allowed => Ties::Few,
            tied if tied <= OBVIOUS * allowed => Ties::Many,
            _ => Ties::Collapse,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::rows::{Csr, Dense};

    #[test]
    fn the_same_features_are_counted_however_they_are_stored() {
        let values = vec![1.0, 0.0, 0.0, 2.0, 1.0, -0.0, 0.0, 2.0, 0.0, 2.0];
        let dense = Rows::Dense(Dense::new(values, 5, 2).unwrap());
        assert_eq!(unavoidable(&dense, &[0, 1, 2, 3, 4]), 3);
        assert_eq!(unavoidable(&dense, &[0, 1, 2]), 2);
        assert_eq!(unavoidable(&dense, &[]), 0);
        let (indptr, indices) = (vec![0, 1, 3, 4], vec![1, 0, 1, 0]);
        let csr = Csr::new(indptr, indices, vec![2.0, 0.0, 2.0, 2.0], 2).unwrap();
        assert_eq!(unavoidable(&Rows::Csr(csr), &[0, 1, 2]), 2);
    }

    #[test]
    fn few_kinds_may_meet_but_not_more_than_half() {
        let kinds = |n: usize, kinds: usize| {
            let values = (0..n).map(|i| (i % kinds) as f64).collect();
            let rows = Rows::Dense(Dense::new(values, n, 1).unwrap());
            unavoidable(&rows, &(0..n).collect::<Vec<_>>())
        };
        assert_eq!(kinds(1000, 10), 200);
        assert_eq!(kinds(1000, 3), 499);
        assert_eq!(kinds(1000, 100), 10);
        assert_eq!(kinds(1000, 1000), 1);
    }

    #[test]
    fn one_in_a_hundred_unless_so_many_must_be_tied() {
        assert_eq!(allowed(26_000, 123, 5), 260);
        assert_eq!(allowed(768, 8, 1), 18);
        assert_eq!(allowed(1000, 5000, 1), 250);
        assert_eq!(allowed(1000, 1, 500), 500);
    }
}
