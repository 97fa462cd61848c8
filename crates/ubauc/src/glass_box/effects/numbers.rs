//! What a term with a linear part adds to the training rows of a cell.
//!
//! A row with the number x adds value + slope · z there, z = (x − mean)/deviation. The mean of that over the rows of the cell is
//! value + slope · z̄, and its ends are those at the smallest and the largest z. Files of earlier builds do not have these: a bin is then
//! taken to lie between its cuts, or the end of the column's range, with z̄ in the middle.

use serde::{Deserialize, Serialize};

use super::Term;
use crate::features::columns::{Cells, ColumnMap, Effect};

/// z of the training rows in a cell: mean, smallest and largest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "[f64; 3]", into = "[f64; 3]")]
pub struct CellNumbers {
    /// z̄, weighted by the sample weights.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl From<[f64; 3]> for CellNumbers {
    fn from([mean, min, max]: [f64; 3]) -> CellNumbers {
        CellNumbers { mean, min, max }
    }
}

impl From<CellNumbers> for [f64; 3] {
    fn from(numbers: CellNumbers) -> [f64; 3] {
        [numbers.mean, numbers.min, numbers.max]
    }
}

/// What a cell adds to its training rows together with the linear part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WithLinear {
    /// On average.
    pub mean: f64,
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

impl WithLinear {
    pub(super) fn new(value: f64, slope: f64, numbers: CellNumbers) -> WithLinear {
        let at = |z: f64| value + slope * z;
        let (a, b) = (at(numbers.min), at(numbers.max));
        WithLinear {
            mean: at(numbers.mean),
            least: a.min(b),
            most: a.max(b),
        }
    }
}

/// z in a cell of which nothing is known but where it lies; 0 where it has no numbers, as for missing values.
pub(super) fn assumed(term: &Term, readers: &ColumnMap, cell: u32) -> CellNumbers {
    let linear = term.table.linear.and_then(|k| readers.effects.get(k));
    let side = term.table.sides.first();
    let cells = side.and_then(|&side| readers.effects.get(side));
    let (
        Some(&Effect::Linear {
            column,
            mean,
            deviation,
        }),
        Some(Effect::Cells {
            cells: Cells::Bins { cuts, .. },
            ..
        }),
    ) = (linear, cells)
    else {
        return CellNumbers::default();
    };
    let bin = cell as usize;
    if bin > cuts.len() || cuts.is_empty() {
        return CellNumbers::default();
    }
    let range = readers.columns.get(column).and_then(|info| info.numbers);
    let (min, max) = range.map_or((cuts[0], cuts[cuts.len() - 1]), |r| (r.min, r.max));
    let low = bin.checked_sub(1).map_or(min, |at| cuts[at]).max(min);
    let high = cuts.get(bin).copied().unwrap_or(max).min(max).max(low);
    let z = |x: f64| (x - mean) / deviation;
    CellNumbers {
        mean: z(low / 2.0 + high / 2.0),
        min: z(low),
        max: z(high),
    }
}
