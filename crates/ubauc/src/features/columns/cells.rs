//! From a raw value to its cell.

use serde::{Deserialize, Serialize};

use super::time::TimePart;
use crate::data::rows::NO_CELL;

/// From a raw value to a cell, or none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Cells {
    /// Cell 0 where the value is missing, none otherwise.
    Missing,
    /// Of a category.
    Levels {
        /// The cell of each level of the column.
        cell_of_level: Vec<u32>,
        /// The cell of levels that are rare or were never seen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rare: Option<u32>,
        /// The cell of missing values.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing: Option<u32>,
    },
    /// Of a category whose levels are hashed ([`ColumnInfo::hash_bits`](super::ColumnInfo)): 2^bits cells, and one behind
    /// them for missing values.
    Hashed {
        /// From 1 to [`hash::MAX_BITS`](crate::features::hash::MAX_BITS).
        bits: u32,
    },
    /// Of a number, or of a time in days: as many cuts as are at most the value.
    Bins {
        /// Increasing.
        cuts: Vec<f64>,
        /// The cell of missing values.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing: Option<u32>,
    },
    /// Of a time; none where it is missing.
    Part {
        /// Which part.
        part: TimePart,
    },
}

impl Cells {
    /// How many cells there are.
    pub fn len(&self) -> usize {
        let after = |cell: &u32| *cell as usize + 1;
        match self {
            Cells::Missing => 1,
            Cells::Levels {
                cell_of_level,
                rare,
                missing,
            } => {
                let cells = cell_of_level.iter().chain(rare).chain(missing);
                cells.map(after).max().unwrap_or(0)
            }
            Cells::Hashed { bits } => (1_usize << bits) + 1,
            Cells::Bins { cuts, missing } => {
                (cuts.len() + 1).max(missing.as_ref().map_or(0, after))
            }
            Cells::Part { part } => part.count(),
        }
    }

    /// No cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cell of a missing value, or [`NO_CELL`].
    pub fn of_missing(&self) -> u32 {
        match self {
            Cells::Missing => 0,
            Cells::Levels { missing, .. } | Cells::Bins { missing, .. } => {
                missing.unwrap_or(NO_CELL)
            }
            Cells::Hashed { bits } => 1 << bits,
            Cells::Part { .. } => NO_CELL,
        }
    }

    /// The cell of a level, by its position among those of the column; `None` for one that is not among them.
    pub fn of_level(&self, level: Option<u32>) -> u32 {
        match self {
            Cells::Levels {
                cell_of_level,
                rare,
                ..
            } => {
                let known = level.and_then(|level| cell_of_level.get(level as usize).copied());
                known.or(*rare).unwrap_or(NO_CELL)
            }
            Cells::Hashed { .. } => level.unwrap_or(NO_CELL),
            Cells::Missing | Cells::Bins { .. } | Cells::Part { .. } => NO_CELL,
        }
    }

    /// The cell of a number, NaN where it is missing. Of a time bins take days, and parts take seconds.
    #[inline]
    pub fn of_number(&self, x: f64) -> u32 {
        if x.is_nan() {
            return self.of_missing();
        }
        match self {
            Cells::Bins { cuts, .. } => cuts.partition_point(|cut| *cut <= x) as u32,
            Cells::Part { part } => part.of(x),
            Cells::Missing | Cells::Levels { .. } | Cells::Hashed { .. } => NO_CELL,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_its_cell() {
        let bins = Cells::Bins {
            cuts: vec![-1.0, 0.5],
            missing: Some(3),
        };
        let x = [f64::NEG_INFINITY, -1.0, 0.0, 0.5, 7.0, f64::NAN];
        assert_eq!(x.map(|x| bins.of_number(x)), [0, 1, 1, 2, 2, 3]);
        assert_eq!(bins.len(), 4);
        let levels = Cells::Levels {
            cell_of_level: vec![1, 0, 1],
            rare: Some(2),
            missing: None,
        };
        let cells = [Some(0), Some(1), Some(2), Some(3), None];
        assert_eq!(cells.map(|l| levels.of_level(l)), [1, 0, 1, 2, 2]);
        assert_eq!((levels.of_missing(), levels.len()), (NO_CELL, 3));
        let strict = Cells::Levels {
            cell_of_level: vec![0],
            rare: None,
            missing: Some(1),
        };
        assert_eq!((strict.of_level(None), strict.of_missing()), (NO_CELL, 1));
        assert_eq!(Cells::Missing.of_number(1.0), NO_CELL);
        assert_eq!(Cells::Missing.of_number(f64::NAN), 0);
        let hour = Cells::Part {
            part: TimePart::Hour,
        };
        assert_eq!(
            (hour.of_number(3600.0), hour.of_number(f64::NAN)),
            (1, NO_CELL)
        );
    }
}
