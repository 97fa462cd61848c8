//! Rows that are equal in every feature, and so have the same score in every model.
//!
//! How many rows may be tied at λ for that reason alone is counted from the kinds of rows and their numbers, which can be
//! merged: a cluster counts what one machine counts. Where there are many kinds only the largest matters, and only if it
//! has more than one row in a hundred ([`most_tied_of`](super::most_tied_of)). Such a kind has more than one in two hundred of
//! some partition, whatever fold is left out: partitions first name their candidates ([`EqualRows::common`]), and then
//! count the candidates of all ([`EqualRows::among`]).

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use rayon::prelude::*;

use crate::data::rows::{Row, Rows};

/// A candidate has more than one row in this many of its partition.
const CANDIDATE: u64 = 200;

/// Kinds of rows by a hash of their features, zeros stored or not, and how many rows are of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EqualRows {
    /// Hash and number, by hash.
    counts: Vec<(u64, u64)>,
    /// There are kinds that are not listed.
    is_partial: bool,
}

impl EqualRows {
    /// Of these rows. O(nnz).
    pub fn of(rows: &Rows, of: &[usize]) -> EqualRows {
        let mut hashes: Vec<u64> = of
            .par_iter()
            .with_min_len(1024)
            .map(|&i| hash(rows.row(i)))
            .collect();
        hashes.par_sort_unstable();
        let kinds = hashes.chunk_by(|a, b| a == b);
        EqualRows {
            counts: kinds.map(|kind| (kind[0], kind.len() as u64)).collect(),
            is_partial: false,
        }
    }

    /// From hashes and numbers, by hash; `is_partial` if there are more.
    pub fn new(counts: Vec<(u64, u64)>, is_partial: bool) -> EqualRows {
        EqualRows { counts, is_partial }
    }

    /// Hashes and numbers, by hash.
    pub fn counts(&self) -> &[(u64, u64)] {
        &self.counts
    }

    /// There are kinds that are not listed.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// All kinds if they are few enough for each to matter, of rows with d features; otherwise the large ones.
    pub fn common(self, d: usize) -> EqualRows {
        if self.are_few(d) {
            return self;
        }
        let n: u64 = self.counts.iter().map(|(_, count)| count).sum();
        let is_large = |(_, count): &(u64, u64)| *count > n / CANDIDATE;
        EqualRows {
            counts: self.counts.into_iter().filter(is_large).collect(),
            is_partial: true,
        }
    }

    /// Those of some hashes, ascending.
    pub fn among(&self, hashes: &[u64]) -> EqualRows {
        let is_among = |(hash, _): &&(u64, u64)| hashes.binary_search(hash).is_ok();
        EqualRows {
            counts: self.counts.iter().filter(is_among).copied().collect(),
            is_partial: true,
        }
    }

    /// Of all rows of several parts.
    pub fn merged(parts: impl IntoIterator<Item = EqualRows>) -> EqualRows {
        let (mut merged, mut is_partial) = (HashMap::new(), false);
        for part in parts {
            is_partial |= part.is_partial;
            for (hash, count) in part.counts {
                *merged.entry(hash).or_insert(0) += count;
            }
        }
        let mut counts: Vec<(u64, u64)> = merged.into_iter().collect();
        counts.sort_unstable();
        EqualRows { counts, is_partial }
    }

    fn are_few(&self, d: usize) -> bool {
        !self.is_partial && self.counts.len() <= 4 * (d + 10)
    }

    /// How many rows with d features may be tied for being equal: those of the largest kind, which every model ties; or where
    /// there are few kinds, of the d + 1 largest, which may meet at λ as d + 1 single rows may elsewhere, but less than
    /// half of the rows.
    pub fn unavoidable(&self, d: usize) -> usize {
        let mut sizes: Vec<u64> = self.counts.iter().map(|(_, count)| *count).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let largest = sizes.first().copied().unwrap_or(0);
        let n: u64 = sizes.iter().sum();
        let meeting = match self.are_few(d) {
            true => sizes.iter().take(d + 1).sum::<u64>(),
            false => 0,
        };
        largest.max(meeting.min(n.saturating_sub(1) / 2)) as usize
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::rows::{Csr, Dense};
    use crate::tune::most_tied_of;

    fn unavoidable(rows: &Rows, of: &[usize]) -> usize {
        EqualRows::of(rows, of).unavoidable(rows.cols())
    }

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

    proptest! {
        /// Whatever the partitions, the answer of two rounds is that of all rows, or neither matters.
        #[test]
        fn partitions_count_what_one_machine_counts(
            kinds in proptest::collection::vec(0..400_u32, 1..1500),
            heavy in 0..400_usize,
            cuts in proptest::collection::vec(0..1900_usize, 0..6),
        ) {
            let mut values: Vec<f64> = kinds.iter().map(|k| f64::from(*k)).collect();
            values.extend(std::iter::repeat_n(7.5, heavy));
            let n = values.len();
            let rows = Rows::Dense(Dense::new(values, n, 1).unwrap());
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(n)).chain([0, n]).collect();
            cuts.sort_unstable();
            let parts: Vec<EqualRows> = cuts
                .windows(2)
                .map(|cut| EqualRows::of(&rows, &(cut[0]..cut[1]).collect::<Vec<_>>()))
                .collect();
            let first = EqualRows::merged(parts.iter().map(|part| part.clone().common(1)));
            let merged = match first.is_partial() {
                false => first,
                true => {
                    let hashes: Vec<u64> = first.counts().iter().map(|c| c.0).collect();
                    EqualRows::merged(parts.iter().map(|part| part.among(&hashes)))
                }
            };
            let whole = EqualRows::of(&rows, &(0..n).collect::<Vec<_>>());
            // Without a fold of two, half of the rows are learned from.
            for learned in [n, n - n / 5, n - n / 2] {
                let (a, b) = (merged.unavoidable(1), whole.unavoidable(1));
                prop_assert_eq!(most_tied_of(learned, 1, a), most_tied_of(learned, 1, b));
            }
        }
    }
}
