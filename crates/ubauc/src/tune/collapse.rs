//! How many examples may be tied at λ before a model counts as collapsed.

use super::equal_rows::EqualRows;
use crate::data::dataset::Dataset;

/// The most examples that may be tied at λ before a model of these data counts as collapsed: see the head of
/// [`tune`](crate::tune). Examples of weight 0 do not count. O(nnz).
pub fn most_tied(data: &Dataset, weights: Option<&[f64]>) -> usize {
    let rows = data.rows();
    let counts = |i: &usize| weights.is_none_or(|s| s.get(*i).is_none_or(|s| *s > 0.0));
    let of: Vec<usize> = (0..rows.len()).filter(counts).collect();
    most_tied_of(
        of.len(),
        rows.cols(),
        EqualRows::of(rows, &of).unavoidable(rows.cols()),
    )
}

/// Whether this many examples tied at λ make a model of these data a collapsed one. One in a hundred always may be: no need
/// to count more then.
pub fn has_collapsed(data: &Dataset, weights: Option<&[f64]>, tied: usize) -> bool {
    let counted = |weights: &[f64]| weights.iter().filter(|s| **s > 0.0).count();
    let used = weights.map_or(data.rows().len(), counted);
    tied > used / 100 && tied > most_tied(data, weights)
}

/// The same of n examples with d features, of which this many are tied in every model ([`EqualRows::unavoidable`]).
pub fn most_tied_of(n: usize, d: usize, unavoidable: usize) -> usize {
    (n / 100).max((d + 10).min(n / 4)).max(unavoidable)
}

/// With this many times the tied examples that are allowed, even a coarse solution has collapsed.
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

    #[test]
    fn one_in_a_hundred_unless_so_many_must_be_tied() {
        assert_eq!(most_tied_of(26_000, 123, 5), 260);
        assert_eq!(most_tied_of(768, 8, 1), 18);
        assert_eq!(most_tied_of(1000, 5000, 1), 250);
        assert_eq!(most_tied_of(1000, 1, 500), 500);
    }
}
