//! Tables of two columns: which cells they have, and how they are nested.
//!
//! A side of a pair is a column in cells: bins of several widths of a number, nested, or the levels of a category, which
//! have one width. In every width the two sides make a grid. A bin of the grid has a weight if at least [`LEAST_ROWS`]
//! training rows are in it; where a fine one has too few, the coarser bin around it stands for it:
//!
//! ```text
//! the cell of (a, b) = its bin in the finest width in which that bin has enough rows; none if there is no such width
//! ```
//!
//! Counts only grow with the width of a bin, so that a cell that is a bin of one width lies in bins with weights of all
//! coarser widths, and no two cells lie in the same bins: the condition of a [`Nesting`](crate::solver::nesting::Nesting).
//!
//! `cells.rs` has the cells of a pair, `rank.rs` finds out which pairs are worth a table.

mod cells;
pub mod rank;

use std::collections::BTreeMap;

pub use cells::PairCells;
use serde::{Deserialize, Serialize};

use crate::data::rows::NO_CELL;
use crate::solver::nesting::Group;

/// Rows that a bin of a pair needs.
pub const LEAST_ROWS: u64 = 3;
/// The weights of a pair are penalised as if its features were this large, before it is learned how large they should be.
pub const FACTOR: f64 = 0.5;
/// A table is stored as a whole if it has at most so many entries for each cell with rows, and this many more.
const DENSE_SHARE: usize = 4;
const DENSE_LEAST: usize = 1024;

/// A column in cells, as a side of pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Number of cells.
    pub cells: u32,
    /// For each width, finest first, the bin of every cell. In the finest every cell is its own; of a category that is
    /// the only one.
    pub widths: Vec<Vec<u32>>,
}

impl Side {
    /// Of one width.
    pub fn of_cells(cells: u32) -> Side {
        Side {
            cells,
            widths: vec![(0..cells).collect()],
        }
    }

    /// The bin of a cell in a width, or in the widest there is.
    fn bin(&self, width: usize, cell: u32) -> u32 {
        let width = width.min(self.widths.len() - 1);
        self.widths[width][cell as usize]
    }
}

/// How many rows have each pair of cells, ascending by the first cell and then the second. Can be added up over parts of
/// the rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairCounts {
    counts: BTreeMap<(u32, u32), u64>,
}

impl PairCounts {
    /// Of these rows; a row without a cell on one side is not counted.
    pub fn of(rows: impl Iterator<Item = (u32, u32)>) -> PairCounts {
        let mut pairs: Vec<u64> = rows
            .filter(|(a, b)| *a != NO_CELL && *b != NO_CELL)
            .map(|(a, b)| u64::from(a) << 32 | u64::from(b))
            .collect();
        pairs.sort_unstable();
        let runs = pairs.chunk_by(|a, b| a == b);
        let count = |run: &[u64]| (((run[0] >> 32) as u32, run[0] as u32), run.len() as u64);
        PairCounts {
            counts: runs.map(count).collect(),
        }
    }

    /// Those of other rows added.
    pub fn merge(&mut self, other: &PairCounts) {
        for (&pair, n) in &other.counts {
            *self.counts.entry(pair).or_insert(0) += n;
        }
    }
}

/// A bin of the grid: its width, and the bins of both sides.
type Bin = (usize, u32, u32);

/// The cells of a pair, numbered from 0, and their groups in every width.
pub fn learn(sides: [&Side; 2], counts: &PairCounts) -> (PairCells, Vec<Vec<Group>>) {
    let [a, b] = sides;
    let widths = a.widths.len().max(b.widths.len());
    let bin = |width: usize, (x, y): (u32, u32)| (width, a.bin(width, x), b.bin(width, y));
    let mut rows: BTreeMap<Bin, u64> = BTreeMap::new();
    for width in 0..widths {
        for (&pair, n) in &counts.counts {
            *rows.entry(bin(width, pair)).or_insert(0) += n;
        }
    }
    rows.retain(|_, n| *n >= LEAST_ROWS);
    // In the order of the pairs.
    let mut numbers: BTreeMap<Bin, u32> = BTreeMap::new();
    let mut groups: BTreeMap<Bin, Vec<u32>> = BTreeMap::new();
    let mut cell_of = |pair: (u32, u32)| -> u32 {
        let mut found = (0..widths).map(|width| bin(width, pair));
        let Some(finest) = found.find(|bin| rows.contains_key(bin)) else {
            return NO_CELL;
        };
        let next = numbers.len() as u32;
        let cell = *numbers.entry(finest).or_insert(next);
        for bin in std::iter::once(finest).chain(found) {
            let features = groups.entry(bin).or_default();
            if features.last() != Some(&cell) && !features.contains(&cell) {
                features.push(cell);
            }
        }
        cell
    };
    let whole = a.cells as usize * b.cells as usize;
    let few = whole <= DENSE_SHARE * counts.counts.len() + DENSE_LEAST;
    let cells = match widths > 1 || few {
        true => {
            let pairs = (0..a.cells).flat_map(|x| (0..b.cells).map(move |y| (x, y)));
            PairCells::Table {
                columns: b.cells,
                cells: pairs.map(&mut cell_of).collect(),
            }
        }
        false => {
            let mut starts = vec![0; a.cells as usize + 1];
            let (mut seconds, mut cells) = (Vec::new(), Vec::new());
            for &(x, y) in counts.counts.keys() {
                let cell = cell_of((x, y));
                if cell != NO_CELL {
                    seconds.push(y);
                    cells.push(cell);
                    starts[x as usize + 1] += 1;
                }
            }
            for x in 0..a.cells as usize {
                starts[x + 1] += starts[x];
            }
            PairCells::Sparse {
                starts,
                seconds,
                cells,
            }
        }
    };
    let mut of_widths = vec![Vec::new(); widths];
    for ((width, _, _), features) in groups {
        of_widths[width].push(Group {
            factor: FACTOR,
            family: 0,
            features,
        });
    }
    (cells, of_widths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::hash::mix;
    use crate::solver::nesting::Nesting;

    /// 16 cells in widths 16, 8 and 4, and one for missing.
    fn number() -> Side {
        let of_width = |shift: u32| (0..16).map(|c| c >> shift).chain([16 >> shift]).collect();
        Side {
            cells: 17,
            widths: (0..3).map(of_width).collect(),
        }
    }

    fn random_rows(seed: u64, n: u64, [a, b]: [u32; 2]) -> Vec<(u32, u32)> {
        let cell = |i: u64, of: u32| match mix(i) as u32 % (of + 1) {
            cell if cell == of => NO_CELL,
            // More of the low ones.
            cell => (mix(i ^ 77) as u32 % of).min(cell),
        };
        (0..n)
            .map(|i| (cell(seed * n + i, a), cell((seed * n + i) << 32, b)))
            .collect()
    }

    /// By the definition, for every pair of cells.
    #[test]
    fn cells_are_the_finest_bins_with_enough_rows() {
        for seed in 0..5 {
            let (a, b) = (number(), number());
            let rows = random_rows(seed, 300, [17, 17]);
            let (cells, groups) = learn([&a, &b], &PairCounts::of(rows.iter().copied()));
            assert_eq!(groups.len(), 3);
            let groups = groups.concat();
            let in_bin = |width: usize, (x, y): (u32, u32)| {
                let same = |(p, q): &&(u32, u32)| {
                    *p != NO_CELL
                        && *q != NO_CELL
                        && a.bin(width, *p) == a.bin(width, x)
                        && b.bin(width, *q) == b.bin(width, y)
                };
                rows.iter().filter(same).count()
            };
            let pairs: Vec<_> = (0..17).flat_map(|x| (0..17).map(move |y| (x, y))).collect();
            let bins_of = |pair: (u32, u32)| -> Vec<Bin> {
                let enough = (0..3).filter(|&width| in_bin(width, pair) >= 3);
                enough
                    .map(|width| (width, a.bin(width, pair.0), b.bin(width, pair.1)))
                    .collect()
            };
            for &p in &pairs {
                for &q in &pairs {
                    let (x, y) = (cells.cell(p.0, p.1), cells.cell(q.0, q.1));
                    assert_eq!(x == NO_CELL, bins_of(p).is_empty());
                    assert_eq!(x == y, bins_of(p) == bins_of(q), "{p:?} {q:?}");
                }
            }
            // The groups are the bins with enough rows.
            let bins: std::collections::BTreeSet<Bin> =
                pairs.iter().flat_map(|p| bins_of(*p)).collect();
            assert_eq!(groups.len(), bins.len());
            let memberships: usize = groups.iter().map(|g| g.features.len()).sum();
            let mut expected = std::collections::BTreeMap::new();
            for p in &pairs {
                expected.insert(cells.cell(p.0, p.1), bins_of(*p).len());
            }
            assert_eq!(memberships, expected.values().sum::<usize>());
            assert!(Nesting::new(cells.count(), groups).is_ok());
        }
    }

    #[test]
    fn two_categories_of_many_levels_are_sparse() {
        let sides = [Side::of_cells(300), Side::of_cells(400)];
        let rows = random_rows(3, 5000, [300, 400]);
        let counts = PairCounts::of(rows.iter().copied());
        let (cells, groups) = learn([&sides[0], &sides[1]], &counts);
        let groups = groups.concat();
        assert!(matches!(cells, PairCells::Sparse { .. }));
        assert_eq!(groups.len(), cells.count());
        for x in 0..300 {
            for y in 0..400 {
                let enough = counts.counts.get(&(x, y)).is_some_and(|n| *n >= 3);
                assert_eq!(cells.cell(x, y) != NO_CELL, enough);
            }
        }
        for (x, y) in [(300, 0), (NO_CELL, 0), (0, 400), (0, NO_CELL)] {
            assert_eq!(cells.cell(x, y), NO_CELL);
        }
        assert!(Nesting::new(cells.count(), groups).is_ok());
    }

    #[test]
    fn a_category_and_a_number_have_a_table() {
        let sides = [Side::of_cells(5), number()];
        let rows = random_rows(1, 400, [5, 17]);
        let (cells, groups) = learn([&sides[0], &sides[1]], &PairCounts::of(rows.into_iter()));
        assert!(matches!(cells, PairCells::Table { columns: 17, .. }));
        assert!(Nesting::new(cells.count(), groups.concat()).is_ok());
        for (x, y) in [(5, 0), (NO_CELL, 0), (0, 17), (0, NO_CELL)] {
            assert_eq!(cells.cell(x, y), NO_CELL);
        }
    }

    #[test]
    fn counts_of_parts_add_up() {
        let rows = random_rows(2, 200, [4, 5]);
        let mut some = PairCounts::of(rows[..70].iter().copied());
        some.merge(&PairCounts::of(rows[70..].iter().copied()));
        assert_eq!(some, PairCounts::of(rows.iter().copied()));
    }

    #[test]
    fn no_rows_make_no_cells() {
        let side = number();
        let (cells, groups) = learn([&side, &side], &PairCounts::default());
        assert_eq!((cells.count(), groups.concat().len()), (0, 0));
        let (cells, _) = learn([&Side::of_cells(0), &side], &PairCounts::default());
        assert_eq!(cells.cell(0, 0), NO_CELL);
    }
}
