//! Columns as sides of pairs, and what the rows of a part of a table have in the cells of pairs of them.
//!
//! Numbers have the coarse bins of the additive map, about 16, 8 and 4 a side, and are ranked in those of the coarsest width.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::data::rows::{Coded, NO_CELL, Rows};
use crate::data::table::Table;
use crate::features::columns::pairs::rank::{CellColumn, PairSums, Residuals};
use crate::features::columns::pairs::{PairCounts, Side};
use crate::features::columns::{COARSE, Cells, ColumnMap, Effect, NestedMap, NumberBins};

/// With more sides than this the pairs of those with the largest main effects are ranked.
const MAX_SIDES: usize = 200;

/// One column in cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PairSide {
    pub(super) column: usize,
    pub(super) cells: Cells,
    pub(super) side: Side,
}

/// All sides of pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sides {
    pub(super) sides: Vec<PairSide>,
    /// Whose effects are the cells of the sides.
    readers: ColumnMap,
}

/// The cell of every row of a part on every side.
pub(super) struct SideCodes {
    /// Sides beside each other; none where there are no sides.
    coded: Option<Coded>,
    /// The first cell of every side.
    starts: Vec<u32>,
}

impl Sides {
    /// Every column, numbers in coarse bins; of too many those with the largest main effects.
    pub fn new(additive: &NestedMap, deviations: &[f64]) -> Sides {
        let mut found: Vec<PairSide> = Vec::new();
        for (column, info) in additive.map.columns.iter().enumerate() {
            if let Some(of_number) = additive.bins.get(column).and_then(Option::as_ref)
                && of_number.distinct + usize::from(info.missing > 0) > 1
            {
                let (cells, side) = number_side(of_number, info.missing > 0);
                found.push(PairSide {
                    column,
                    cells,
                    side,
                });
            }
            for effect in &additive.map.effects {
                if let Effect::Cells { column: of, cells } = effect
                    && *of == column
                    && matches!(cells, Cells::Levels { .. } | Cells::Part { .. })
                {
                    found.push(PairSide {
                        column,
                        cells: cells.clone(),
                        side: Side::of_cells(cells.len() as u32),
                    });
                }
            }
        }
        if found.len() > MAX_SIDES {
            let mut order: Vec<usize> = (0..found.len()).collect();
            let deviation = |at: usize| deviations[found[at].column];
            order.sort_by(|a, b| deviation(*b).total_cmp(&deviation(*a)));
            order.truncate(MAX_SIDES);
            order.sort_unstable();
            found = order.into_iter().map(|at| found[at].clone()).collect();
        }
        let effects = found.iter().map(|side| Effect::Cells {
            column: side.column,
            cells: side.cells.clone(),
        });
        Sides {
            readers: ColumnMap {
                effects: effects.collect(),
                ..additive.map.clone()
            },
            sides: found,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.sides.len()
    }

    /// None.
    pub fn is_empty(&self) -> bool {
        self.sides.is_empty()
    }

    /// Cells that a pair of sides has at most where pairs are ranked.
    pub fn cells(&self, pair: [usize; 2]) -> u64 {
        let cells = |side: usize| u64::from(self.sides[side].coarsest());
        cells(pair[0]) * cells(pair[1])
    }

    pub(super) fn codes(&self, table: &Table) -> Result<SideCodes> {
        let starts = self.readers.starts();
        Ok(SideCodes {
            coded: match self.readers.apply(table)? {
                Rows::Coded(coded) => Some(coded),
                Rows::Dense(_) | Rows::Csr(_) => None,
            },
            starts: starts.into_iter().map(|start| start as u32).collect(),
        })
    }

    /// Every row in the bins of the coarsest width.
    pub(super) fn coarsest(&self, codes: &SideCodes) -> Vec<CellColumn> {
        let column = |(k, side): (usize, &PairSide)| {
            let bin = |code: u32| match (code, side.side.widths.last()) {
                (NO_CELL, _) | (_, None) => NO_CELL,
                (code, Some(bins)) => bins[code as usize],
            };
            CellColumn::new(codes.of_side(k).map(bin), side.coarsest())
        };
        self.sides.iter().enumerate().map(column).collect()
    }

    /// What the rows of a part add up to, by what is left to explain of each; the first of them is row `first` of all.
    pub fn sums(
        &self,
        table: &Table,
        residuals: &Residuals,
        first: u64,
        pairs: &[[usize; 2]],
    ) -> Result<PairSums> {
        let columns = self.coarsest(&self.codes(table)?);
        PairSums::of(&columns, residuals, first, pairs)
    }

    /// How many rows of a part with a weight above 0 are in the cells of each of these pairs.
    pub fn counts(
        &self,
        table: &Table,
        weights: Option<&[f64]>,
        pairs: &[[usize; 2]],
    ) -> Result<Vec<PairCounts>> {
        let codes = self.codes(table)?;
        let is_taken = |i: usize| weights.is_none_or(|s| s.get(i).is_some_and(|s| *s > 0.0));
        let taken: Vec<bool> = (0..table.len()).map(is_taken).collect();
        Ok(pairs
            .iter()
            .map(|pair| codes.counts(*pair, &taken))
            .collect())
    }
}

impl SideCodes {
    pub(super) fn counts(&self, [a, b]: [usize; 2], taken: &[bool]) -> PairCounts {
        let rows = self.of_side(a).zip(self.of_side(b)).zip(taken);
        let taken = rows.filter(|(_, taken)| **taken);
        PairCounts::of(taken.map(|(cells, _)| cells))
    }

    /// The cells of all rows on one side, counted from its first.
    fn of_side(&self, side: usize) -> impl Iterator<Item = u32> + '_ {
        let start = self.starts[side];
        self.coded.iter().flat_map(move |coded| {
            let (codes, sides) = (coded.all_codes(), coded.shape().codes.max(1));
            let cell = move |at: usize| match codes.at(at) {
                NO_CELL => NO_CELL,
                code => code - start,
            };
            (side..codes.len()).step_by(sides).map(cell)
        })
    }
}

impl PairSide {
    /// Cells of the coarsest width.
    fn coarsest(&self) -> u32 {
        let bins = self.side.widths.last().and_then(|bins| bins.iter().max());
        bins.map_or(0, |last| last + 1)
    }
}

/// Bins of a number, missing values in a cell of their own.
fn number_side(of_number: &NumberBins, missing: bool) -> (Cells, Side) {
    let all = &of_number.bins;
    let bins = all.coarser(all.widths.len().saturating_sub(COARSE));
    let cells = bins.cells() as u32;
    let mut widths = bins.widths;
    if missing {
        for width in &mut widths {
            let next = width.iter().max().map_or(0, |last| last + 1);
            width.push(next);
        }
    }
    let side = Side {
        cells: cells + u32::from(missing),
        widths,
    };
    let cells = Cells::Bins {
        cuts: bins.cuts,
        missing: missing.then_some(cells),
    };
    (cells, side)
}
