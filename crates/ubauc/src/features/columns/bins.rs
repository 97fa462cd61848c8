//! Bins of several widths of one number, from how often each value occurs.
//!
//! Quantiles alone are wrong where one value holds most rows. Of k bins, therefore, every value with at least n/k of the n
//! rows has its own, and the k′ bins that are left share the other n′ rows: a value of m rows, with c of those below it,
//! goes to bin
//!
//! ```text
//! ⌊(c + m/2) k′/n′⌋
//! ```
//!
//! The finest width has its cuts so. Those of every coarser width are moved to the nearest cuts, in rows, of the next finer
//! one: bins are nested, a fine cell is in one bin of every width, and rows need to know their fine cell alone. A value
//! with bins of its own in a coarse width has them in all finer ones, so that those cuts stay.
//!
//! Everything follows from counts, which can be added up over parts of the rows (`runs.rs`: without counting every value).

mod runs;

pub use runs::{Divided, Division, Run, Runs};

/// How often each value occurs, ascending; missing values are not counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ValueCounts {
    counts: Vec<(f64, u64)>,
}

impl ValueCounts {
    /// Of these values; NaN is missing.
    pub fn of(values: impl Iterator<Item = f64>) -> ValueCounts {
        // −0 and 0 are one value.
        let mut values: Vec<f64> = values.filter(|x| !x.is_nan()).map(|x| x + 0.0).collect();
        values.sort_unstable_by(f64::total_cmp);
        // As many as there are: columns may be long.
        let mut counts: Vec<(f64, u64)> = Vec::with_capacity(values.chunk_by(f64::eq).count());
        for x in values {
            match counts.last_mut() {
                Some((last, n)) if *last == x => *n += 1,
                _ => counts.push((x, 1)),
            }
        }
        ValueCounts { counts }
    }

    /// Those of other rows added.
    pub fn merge(&self, other: &ValueCounts) -> ValueCounts {
        let (mut a, mut b) = (
            self.counts.iter().peekable(),
            other.counts.iter().peekable(),
        );
        let mut counts: Vec<(f64, u64)> = Vec::with_capacity(self.counts.len());
        loop {
            let from_a = match (a.peek(), b.peek()) {
                (None, None) => return ValueCounts { counts },
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (Some((x, _)), Some((y, _))) => x <= y,
            };
            let Some(&(x, n)) = (if from_a { a.next() } else { b.next() }) else {
                return ValueCounts { counts };
            };
            match counts.last_mut() {
                Some((last, m)) if *last == x => *m += n,
                _ => counts.push((x, n)),
            }
        }
    }

    /// Values and how often, ascending.
    pub fn counts(&self) -> &[(f64, u64)] {
        &self.counts
    }

    /// Values that differ.
    pub fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// Rows that are not missing.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|(_, n)| n).sum()
    }
}

/// Nested bins.
#[derive(Debug, Clone, PartialEq)]
pub struct Bins {
    /// Where the fine cells meet: the cell of x is the number of cuts ≤ x.
    pub cuts: Vec<f64>,
    /// For each width, finest first, the bin of every fine cell, ascending from 0.
    pub widths: Vec<Vec<u32>>,
}

impl Bins {
    /// About this many bins for each width, numbers falling.
    pub fn new(counts: &ValueCounts, widths: &[usize]) -> Bins {
        let counts = counts.counts();
        // Rows below each value, and all of them.
        let mut below = Vec::with_capacity(counts.len() + 1);
        below.push(0);
        for (_, n) in counts {
            below.push(below[below.len() - 1] + n);
        }
        let mut fine: Option<Vec<usize>> = None;
        let mut nested: Vec<Vec<usize>> = Vec::with_capacity(widths.len());
        for &k in widths {
            let wanted = starts(counts, k);
            let starts = match nested.last() {
                None => wanted,
                Some(finer) => nearest(&wanted, finer, &below),
            };
            fine.get_or_insert_with(|| starts.clone());
            nested.push(starts);
        }
        let fine = fine.unwrap_or_default();
        let bin_of = |starts: &Vec<usize>| -> Vec<u32> {
            let cells = std::iter::once(0).chain(fine.iter().copied());
            cells
                .map(|first| starts.partition_point(|&start| start <= first) as u32)
                .collect()
        };
        Bins {
            cuts: fine
                .iter()
                .map(|&at| between(counts[at - 1].0, counts[at].0))
                .collect(),
            widths: nested.iter().map(bin_of).collect(),
        }
    }

    /// The same without the finest widths: cells are the bins of the width at a position.
    pub fn coarser(&self, first: usize) -> Bins {
        let Some(fine) = self.widths.get(first) else {
            return Bins {
                cuts: Vec::new(),
                widths: Vec::new(),
            };
        };
        let begins = |cell: &usize| *cell == 0 || fine[*cell] != fine[*cell - 1];
        let cells: Vec<usize> = (0..self.cells()).filter(begins).collect();
        let width = |bins: &Vec<u32>| cells.iter().map(|&cell| bins[cell]).collect();
        Bins {
            cuts: cells[1..].iter().map(|&cell| self.cuts[cell - 1]).collect(),
            widths: self.widths[first..].iter().map(width).collect(),
        }
    }

    /// Number of fine cells.
    pub fn cells(&self) -> usize {
        self.cuts.len() + 1
    }
}

/// A number above a and at most b, about half way.
fn between(a: f64, b: f64) -> f64 {
    let middle = a / 2.0 + b / 2.0;
    if middle > a && middle <= b { middle } else { b }
}

/// k bins of n rows: which values have their own, and where the others go.
struct Width {
    n: u64,
    k: usize,
    /// n′ and k′.
    others: u128,
    bins: u128,
}

impl Width {
    /// Of the rows of each value.
    fn new(rows: impl Iterator<Item = u64> + Clone, k: usize) -> Width {
        let n = rows.clone().sum();
        let heavy = rows.filter(|m| Width::is_heavy_of(*m, n, k));
        let (count, of_heavy) = heavy.fold((0_u128, 0), |(count, sum), m| (count + 1, sum + m));
        Width {
            n,
            k,
            others: u128::from(n - of_heavy),
            bins: (k.max(1) as u128).saturating_sub(count).max(1),
        }
    }

    fn is_heavy_of(m: u64, n: u64, k: usize) -> bool {
        u128::from(m) * k.max(1) as u128 >= u128::from(n)
    }

    fn is_heavy(&self, m: u64) -> bool {
        Width::is_heavy_of(m, self.n, self.k)
    }

    /// The bin of a point among the other rows, of twice the number of rows before it.
    fn bin(&self, twice: u128) -> u128 {
        twice * self.bins / (2 * self.others)
    }
}

/// The values, by index, with which the second and every later of k bins begins.
fn starts(counts: &[(f64, u64)], k: usize) -> Vec<usize> {
    let width = Width::new(counts.iter().map(|c| c.1), k);
    let (mut before, mut last) = (0_u128, None);
    let mut starts = Vec::new();
    for (at, &(_, m)) in counts.iter().enumerate() {
        // Of a value of its own none.
        let bin = match width.is_heavy(m) {
            true => None,
            false => {
                let bin = width.bin(2 * before + u128::from(m));
                before += u128::from(m);
                Some(bin)
            }
        };
        if at > 0 && (bin.is_none() || bin != last) {
            starts.push(at);
        }
        last = bin;
    }
    starts
}

/// For each of `wanted` the nearest of `finer`, by the rows below it; the lower of two that are as near.
fn nearest(wanted: &[usize], finer: &[usize], below: &[u64]) -> Vec<usize> {
    let far = |a: usize, b: usize| below[a].abs_diff(below[b]);
    let mut found: Vec<usize> = Vec::with_capacity(wanted.len());
    for &at in wanted {
        let next = finer.partition_point(|&start| start < at);
        let candidates = finer[next.saturating_sub(1)..].iter().take(2);
        let near = candidates.copied().min_by_key(|&start| far(start, at));
        found.extend(near.filter(|near| found.last() != Some(near)));
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts_of(values: &[f64]) -> ValueCounts {
        ValueCounts::of(values.iter().copied())
    }

    #[test]
    fn values_are_counted_and_counts_added() {
        let a = counts_of(&[2.0, f64::NAN, -0.0, 0.0, 2.0]);
        assert_eq!(a.counts(), [(0.0, 2), (2.0, 2)]);
        let b = counts_of(&[1.0, 2.0]);
        let merged = a.merge(&b);
        assert_eq!(merged.counts(), [(0.0, 2), (1.0, 1), (2.0, 3)]);
        assert_eq!((merged.total(), merged.distinct()), (6, 3));
        assert_eq!(ValueCounts::default().merge(&b), b);
    }

    #[test]
    fn even_values_are_cut_into_even_bins() {
        let values: Vec<f64> = (0..64).map(f64::from).collect();
        let bins = Bins::new(&counts_of(&values), &[8, 4, 2]);
        assert_eq!(bins.cuts, [7.5, 15.5, 23.5, 31.5, 39.5, 47.5, 55.5]);
        let expected = [
            vec![0, 1, 2, 3, 4, 5, 6, 7],
            vec![0, 0, 1, 1, 2, 2, 3, 3],
            vec![0, 0, 0, 0, 1, 1, 1, 1],
        ];
        assert_eq!(bins.widths, expected);
    }

    /// Nine tenths are 0: a bin of its own, and the others are spread over the rest.
    #[test]
    fn a_heavy_value_has_its_own_bin() {
        let others = (1..=100).map(|k| f64::from(k) / 10.0);
        let values: Vec<f64> = vec![0.0; 900].into_iter().chain(others).collect();
        let bins = Bins::new(&counts_of(&values), &[5]);
        assert_eq!(bins.cuts.len(), 4);
        assert_eq!(bins.cuts[0], 0.05);
        assert!((bins.cuts[1] - 2.55).abs() < 1e-12 && (bins.cuts[3] - 7.55).abs() < 1e-12);
        // In the middle of the others.
        let others = (-50..=50).filter(|k| *k != 0).map(f64::from);
        let values: Vec<f64> = vec![0.0; 900].into_iter().chain(others).collect();
        let bins = Bins::new(&counts_of(&values), &[3]);
        assert_eq!(bins.cuts, [-0.5, 0.5]);
    }

    #[test]
    fn few_values_and_none_have_bins() {
        let none = Bins::new(&ValueCounts::default(), &[4, 2]);
        assert_eq!((none.cells(), none.cuts.len()), (1, 0));
        let two = Bins::new(&counts_of(&[1.0, 1.0, 3.0]), &[64, 4]);
        assert_eq!(two.cuts, [2.0]);
        assert_eq!(two.widths, [vec![0, 1], vec![0, 1]]);
    }

    #[test]
    fn a_cut_is_above_one_value_and_not_above_the_next() {
        let next = |x: f64| f64::from_bits(x.to_bits() + 1);
        for (a, b) in [
            (1.0, next(1.0)),
            (-1e308, 1e308),
            (0.0, 5e-324),
            (1e308, 1.7e308),
        ] {
            let cut = between(a, b);
            assert!(
                a < cut && cut <= b && cut.is_finite(),
                "{a:e} {b:e} {cut:e}"
            );
        }
    }

    proptest! {
        #[test]
        fn bins_are_nested_and_cuts_increase(
            values in prop::collection::vec(prop_oneof![Just(0.0), Just(7.0), -1e3..1e3, (0..9).prop_map(f64::from)], 0..400),
        ) {
            let counts = counts_of(&values);
            let bins = Bins::new(&counts, &[64, 32, 16, 8, 4]);
            prop_assert!(bins.cuts.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(bins.cells() <= counts.distinct().max(1));
            for width in &bins.widths {
                prop_assert_eq!(width.len(), bins.cells());
                prop_assert_eq!(width[0], 0);
                prop_assert!(width.windows(2).all(|w| w[1] == w[0] || w[1] == w[0] + 1));
            }
            let coarse = bins.coarser(2);
            prop_assert_eq!(coarse.widths.len(), 3);
            prop_assert!(coarse.cuts.iter().all(|cut| bins.cuts.contains(cut)));
            for (cell, cut) in bins.cuts.iter().enumerate() {
                let of = coarse.cuts.partition_point(|c| c <= cut);
                prop_assert_eq!(bins.widths[2][cell + 1], coarse.widths[0][of]);
                prop_assert_eq!(bins.widths[4][cell + 1], coarse.widths[2][of]);
            }
            for pair in bins.widths.windows(2) {
                // Whoever is together in the finer width is so in the coarser one.
                for k in 1..bins.cells() {
                    prop_assert!(pair[0][k] != pair[0][k - 1] || pair[1][k] == pair[1][k - 1]);
                }
            }
        }

        #[test]
        fn heavy_values_are_alone_and_the_others_in_bins_of_about_one_size(
            seed in 0_u64..1000, heavy in 0_usize..3,
        ) {
            let n = 600;
            let value = |i: usize| (crate::data::hash::mix(seed * 10_000 + i as u64) % 1000) as f64 + 0.5;
            let mut values: Vec<f64> = (0..n).map(value).collect();
            (0..heavy).for_each(|h| values.extend(vec![300.0 * (h + 1) as f64; 200]));
            let counts = counts_of(&values);
            let k = 16;
            let bins = Bins::new(&counts, &[k]);
            let cell = |x: f64| bins.cuts.partition_point(|cut| *cut <= x);
            for h in 0..heavy {
                let own = cell(300.0 * (h + 1) as f64);
                let with: u64 = counts.counts().iter().filter(|c| cell(c.0) == own).map(|c| c.1).sum();
                prop_assert_eq!(with, 200);
            }
            let most = n as u64 / (k - heavy) as u64 + 6;
            for c in 0..bins.cells() {
                let with: u64 = counts.counts().iter().filter(|v| cell(v.0) == c).map(|v| v.1).sum();
                prop_assert!(with == 200 || with <= most, "{} {}", with, most);
            }
            prop_assert!(bins.cells() <= k + heavy + 1);
        }
    }
}
