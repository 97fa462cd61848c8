//! From the cells of two columns to the cell of the pair.

use serde::{Deserialize, Serialize};

use crate::data::rows::NO_CELL;

/// From the cells of two columns to the cell of the pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PairCells {
    /// The cell for every pair of cells, by rows of the first, [`NO_CELL`] for none.
    Table {
        /// Cells of the second column.
        columns: u32,
        /// Row by row.
        cells: Vec<u32>,
    },
    /// The pairs that have a cell.
    Sparse {
        /// Where the pairs of each cell of the first column begin, and the end of the last.
        starts: Vec<u32>,
        /// Cells of the second column, ascending for each of the first.
        seconds: Vec<u32>,
        /// The cells of these pairs.
        cells: Vec<u32>,
    },
}

impl PairCells {
    /// The cell of a pair of cells, [`NO_CELL`] for none.
    #[inline]
    pub fn cell(&self, a: u32, b: u32) -> u32 {
        match self {
            PairCells::Table { columns, cells } => match b < *columns {
                true => {
                    let at = a as usize * *columns as usize + b as usize;
                    cells.get(at).copied().unwrap_or(NO_CELL)
                }
                false => NO_CELL,
            },
            PairCells::Sparse {
                starts,
                seconds,
                cells,
            } => {
                let end = (a as usize)
                    .checked_add(1)
                    .and_then(|next| starts.get(next));
                let Some(&end) = end else {
                    return NO_CELL;
                };
                let start = starts[a as usize] as usize;
                match seconds[start..end as usize].binary_search(&b) {
                    Ok(at) => cells[start + at],
                    Err(_) => NO_CELL,
                }
            }
        }
    }

    /// Number of cells.
    pub fn count(&self) -> usize {
        let (PairCells::Table { cells, .. } | PairCells::Sparse { cells, .. }) = self;
        let some = cells.iter().filter(|cell| **cell != NO_CELL);
        some.max().map_or(0, |last| *last as usize + 1)
    }

    /// These pairs, ascending, each a cell of its own.
    pub fn of_pairs(pairs: &[[u32; 2]]) -> PairCells {
        let firsts = pairs.last().map_or(0, |[a, _]| *a as usize + 1);
        let start = |a: usize| pairs.partition_point(|pair| (pair[0] as usize) < a) as u32;
        PairCells::Sparse {
            starts: (0..=firsts).map(start).collect(),
            seconds: pairs.iter().map(|[_, b]| *b).collect(),
            cells: (0..pairs.len() as u32).collect(),
        }
    }

    /// Every pair of cells that has one: first, second, and the cell of the pair.
    pub fn pairs(&self) -> Box<dyn Iterator<Item = (u32, u32, u32)> + '_> {
        match self {
            PairCells::Table { columns, cells } => {
                let columns = (*columns).max(1);
                let all = (0_u32..).zip(cells).filter(|(_, cell)| **cell != NO_CELL);
                Box::new(all.map(move |(at, cell)| (at / columns, at % columns, *cell)))
            }
            PairCells::Sparse {
                starts,
                seconds,
                cells,
            } => {
                let firsts = (0_u32..).zip(starts.windows(2));
                Box::new(firsts.flat_map(|(a, span)| {
                    let span = span[0] as usize..span[1] as usize;
                    let of_first = seconds[span.clone()].iter().zip(&cells[span]);
                    of_first.map(move |(b, cell)| (a, *b, *cell))
                }))
            }
        }
    }

    /// Refuses what is no table of pairs of so many cells.
    pub(in crate::features::columns) fn check(
        &self,
        [first, second]: [usize; 2],
    ) -> std::result::Result<(), &'static str> {
        let fits = match self {
            PairCells::Table { columns, cells } => {
                *columns as usize == second && first.checked_mul(second) == Some(cells.len())
            }
            PairCells::Sparse {
                starts,
                seconds,
                cells,
            } => {
                let in_order = |span: &[u32]| {
                    let of_first = seconds.get(span[0] as usize..span[1] as usize);
                    of_first.is_some_and(|seconds| seconds.is_sorted_by(|a, b| a < b))
                };
                starts.first() == Some(&0)
                    && starts.len() <= first + 1
                    && starts
                        .last()
                        .is_some_and(|last| *last as usize == seconds.len())
                    && starts.windows(2).all(in_order)
                    && seconds.iter().all(|b| (*b as usize) < second)
                    && seconds.len() == cells.len()
            }
        };
        if !fits {
            return Err("with pairs of its cells, in order");
        }
        // Every number up to the largest is one of a cell.
        let (PairCells::Table { cells, .. } | PairCells::Sparse { cells, .. }) = self;
        let count = self.count();
        if count > cells.len() {
            return Err("with cells that are numbered from 0");
        }
        let mut seen = vec![false; count];
        let some = cells.iter().filter(|cell| **cell != NO_CELL);
        some.for_each(|cell| seen[*cell as usize] = true);
        match seen.into_iter().all(|seen| seen) {
            true => Ok(()),
            false => Err("with cells that are numbered from 0"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: u32, cells: &[u32]) -> PairCells {
        PairCells::Table {
            columns,
            cells: cells.to_vec(),
        }
    }

    #[test]
    fn pairs_are_listed_as_they_are_looked_up() {
        let sparse = PairCells::of_pairs(&[[0, 1], [2, 0], [2, 4]]);
        let dense = table(2, &[1, NO_CELL, 0, 1]);
        for (cells, size) in [(&sparse, [3, 5]), (&dense, [2, 2])] {
            assert_eq!(cells.check(size.map(|n| n as usize)), Ok(()));
            let listed: Vec<_> = cells.pairs().collect();
            let all = (0..size[0]).flat_map(|a| (0..size[1]).map(move |b| (a, b)));
            let found = all.map(|(a, b)| (a, b, cells.cell(a, b)));
            let found: Vec<_> = found.filter(|(_, _, c)| *c != NO_CELL).collect();
            assert_eq!(listed, found);
        }
        assert_eq!((sparse.count(), dense.count()), (3, 2));
        assert_eq!(PairCells::of_pairs(&[]).count(), 0);
    }

    #[test]
    fn what_is_no_table_of_pairs_is_refused() {
        for cells in [
            table(3, &[0, 1, 2, 3]),
            table(2, &[0, 1, 2]),
            table(2, &[0, 5, 1, 2]),
            table(2, &[1, 1, 2, 2]),
            PairCells::of_pairs(&[[2, 0]]),
            PairCells::of_pairs(&[[0, 2]]),
            PairCells::Sparse {
                starts: vec![0, 2],
                seconds: vec![1, 0],
                cells: vec![0, 1],
            },
            PairCells::Sparse {
                starts: vec![0, 9],
                seconds: vec![1],
                cells: vec![0],
            },
            PairCells::Sparse {
                starts: vec![],
                seconds: vec![],
                cells: vec![],
            },
        ] {
            assert!(cells.check([2, 2]).is_err(), "{cells:?}");
        }
    }
}
