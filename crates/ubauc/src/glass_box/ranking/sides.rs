//! Columns as sides of pairs, and what the rows of a part of a table have in the cells of pairs of them.
//!
//! Numbers have the coarse bins of the additive map, about 16, 8 and 4 a side, and are ranked in those of the coarsest width.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::data::rows::{NO_CELL, Rows};
use crate::data::table::Table;
use crate::features::columns::bins::{Bins, ValueCounts};
use crate::features::columns::pairs::rank::{CellColumn, PairSums, Residuals};
use crate::features::columns::pairs::{PairCounts, Side};
use crate::features::columns::{COARSE, Cells, ColumnMap, Effect, NestedMap, widths};

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
pub(super) struct SideCodes(Vec<Vec<u32>>);

impl Sides {
    /// Every column, by how often its values occur; of too many those with the largest main effects.
    pub fn new(additive: &NestedMap, counts: &[Option<ValueCounts>], deviations: &[f64]) -> Sides {
        let mut found: Vec<PairSide> = Vec::new();
        let widths = widths(&additive.map.columns, counts);
        for (column, info) in additive.map.columns.iter().enumerate() {
            if let Some(counts) = counts.get(column).and_then(Option::as_ref)
                && counts.distinct() + usize::from(info.missing > 0) > 1
            {
                let (cells, side) = number_side(counts, widths, info.missing > 0);
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
        let Rows::Coded(coded) = self.readers.apply(table)? else {
            return Ok(SideCodes(Vec::new()));
        };
        let p = self.sides.len();
        let codes = |k: usize| -> Vec<u32> {
            let all = coded.all_codes();
            let cell = |at: usize| match all.at(at) {
                NO_CELL => NO_CELL,
                code => code - starts[k] as u32,
            };
            (k..all.len()).step_by(p.max(1)).map(cell).collect()
        };
        Ok(SideCodes((0..p).map(codes).collect()))
    }

    /// Every row in the bins of the coarsest width.
    pub(super) fn coarsest(&self, codes: &SideCodes) -> Vec<CellColumn> {
        let column = |(side, codes): (&PairSide, &Vec<u32>)| {
            let bin = |&code: &u32| match (code, side.side.widths.last()) {
                (NO_CELL, _) | (_, None) => NO_CELL,
                (code, Some(bins)) => bins[code as usize],
            };
            CellColumn {
                codes: codes.iter().map(bin).collect(),
                cells: side.coarsest(),
            }
        };
        self.sides.iter().zip(&codes.0).map(column).collect()
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
        let rows = self.0[a].iter().zip(&self.0[b]).zip(taken);
        let taken = rows.filter(|(_, taken)| **taken);
        PairCounts::of(taken.map(|((a, b), _)| (*a, *b)))
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
fn number_side(counts: &ValueCounts, widths: &[usize], missing: bool) -> (Cells, Side) {
    let bins = Bins::new(counts, widths).coarser(widths.len() - COARSE);
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
