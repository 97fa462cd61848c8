//! What holds of every map, learned or read from a file.

use std::collections::HashSet;

use super::{Cells, ColumnInfo, ColumnKind, ColumnMap, Effect};
use crate::data::rows::NO_CELL;
use crate::features::hash;
use crate::{Error, Result};

impl ColumnMap {
    /// Refuses a map that no table can be read by.
    pub fn check(&self) -> Result<()> {
        let refuse = |value: String, must| {
            Err(Error::Parameter {
                name: "column map",
                value,
                must,
            })
        };
        let mut names = HashSet::with_capacity(self.columns.len());
        for info in &self.columns {
            if !names.insert(info.name.as_str()) {
                return refuse(format!("column '{}' twice", info.name), "of distinct names");
            }
            if !info.levels.is_sorted_by(|a, b| a.name < b.name) {
                let what = format!("levels of column '{}'", info.name);
                return refuse(what, "distinct and in order");
            }
            if info
                .numbers
                .is_some_and(|numbers| numbers.min > numbers.max)
            {
                let what = format!("range of column '{}'", info.name);
                return refuse(what, "from the least to the largest");
            }
        }
        if !self.effects.is_sorted_by_key(|effect| !effect.is_linear()) {
            return refuse("order of effects".to_string(), "linear ones first");
        }
        for (at, effect) in self.effects.iter().enumerate() {
            if let Err(must) = self.check_effect(effect) {
                return refuse(format!("effect {at}"), must);
            }
        }
        if self.width() >= NO_CELL as usize {
            return refuse(format!("{} features", self.width()), "of fewer features");
        }
        Ok(())
    }

    fn check_effect(&self, effect: &Effect) -> std::result::Result<(), &'static str> {
        for &column in effect.columns() {
            if column >= self.columns.len() {
                return Err("of a column that there is");
            }
        }
        match effect {
            Effect::Linear {
                column,
                mean,
                deviation,
            } => {
                if self.columns[*column].kind == ColumnKind::Category {
                    return Err("linear in numbers or times only");
                }
                match mean.is_finite() && deviation.is_finite() && *deviation > 0.0 {
                    true => Ok(()),
                    false => Err("with a finite mean and a positive deviation"),
                }
            }
            Effect::Cells { column, cells } => check_cells(&self.columns[*column], cells),
            Effect::Pair {
                columns,
                cells,
                pairs,
            } => {
                for (&column, cells) in columns.iter().zip(cells) {
                    check_cells(&self.columns[column], cells)?;
                }
                pairs.check(cells.each_ref().map(Cells::len))
            }
        }
    }
}

/// Whether a column can have these cells.
fn check_cells(info: &ColumnInfo, cells: &Cells) -> std::result::Result<(), &'static str> {
    match (cells, info.kind) {
        (Cells::Missing, _) => Ok(()),
        (
            Cells::Levels {
                cell_of_level,
                rare,
                missing,
            },
            ColumnKind::Category,
        ) => {
            let levels = info.levels.len();
            let largest = levels + 2;
            let numbers = cell_of_level.iter().chain(rare).chain(missing);
            if cell_of_level.len() != levels {
                return Err("with a cell for each level");
            }
            match numbers.into_iter().all(|cell| (*cell as usize) < largest) {
                true => Ok(()),
                false => Err("with no more cells than levels, one for rare and one for missing"),
            }
        }
        (Cells::Bins { cuts, missing }, ColumnKind::Number | ColumnKind::Time) => {
            let increasing = cuts.is_sorted_by(|a, b| a < b);
            let finite = cuts.iter().all(|cut| cut.is_finite());
            let one_more = missing.is_none_or(|cell| cell as usize <= cuts.len() + 1);
            match increasing && finite && one_more {
                true => Ok(()),
                false => Err("with finite cuts that increase, and at most one cell more"),
            }
        }
        (Cells::Hashed { bits }, ColumnKind::Category) => {
            let is_hashed = info.hash_bits == Some(*bits) && info.levels.is_empty();
            match is_hashed && hash::check(*bits).is_ok() {
                true => Ok(()),
                false => Err("hashed into as many cells as its column says, from 1 to 28 bits"),
            }
        }
        (Cells::Part { .. }, ColumnKind::Time) => Ok(()),
        _ => Err("with cells that its column can have"),
    }
}
