//! Columns with which the score must not fall, or must not rise, whatever the other columns are.
//!
//! What a number x adds is s(x − mean)/deviation + table[cell of x]: linear within a cell, with a jump where two cells meet. It
//! rises everywhere if and only if s ≥ 0 and no cell has less than the one before. Of a pair of columns the table must rise
//! along x for every cell of the other column. A sum of such tables rises; and nothing is lost by asking it of every table
//! alone, since what a pair takes from x in every cell of the other column can as well be taken from x's own table.
//!
//! A missing value has a cell of its own, which may have any weight. Hours, weekdays and months do not rise with time: a time
//! that must has no cells for them.
//!
//! Scores are summed effect by effect, and rounding keeps order: they rise to the last bit.

use serde::{Deserialize, Serialize};

use super::{Cells, ColumnKind, ColumnMap, Effect};
use crate::data::rows::NO_CELL;
use crate::solver::order::{Order, ZERO};
use crate::{Error, Result};

/// How the score must change with a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Larger values have no smaller scores.
    Increasing,
    /// Larger values have no larger scores.
    Decreasing,
}

impl Direction {
    /// As files and reports have it.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Increasing => "increasing",
            Direction::Decreasing => "decreasing",
        }
    }

    /// Lower and upper of two weights, of a smaller and of a larger value.
    fn pair(self, smaller: u32, larger: u32) -> [u32; 2] {
        match self {
            Direction::Increasing => [smaller, larger],
            Direction::Decreasing => [larger, smaller],
        }
    }
}

/// Columns by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Monotone {
    /// Those with which the score must not fall.
    pub increasing: Vec<String>,
    /// Those with which it must not rise.
    pub decreasing: Vec<String>,
}

impl Monotone {
    /// No columns.
    pub fn is_empty(&self) -> bool {
        self.increasing.is_empty() && self.decreasing.is_empty()
    }

    /// Each with its direction.
    fn directions(&self) -> impl Iterator<Item = (&String, Direction)> {
        let increasing = self.increasing.iter().map(|c| (c, Direction::Increasing));
        increasing.chain(self.decreasing.iter().map(|c| (c, Direction::Decreasing)))
    }
}

impl ColumnMap {
    /// Notes the directions of columns. Refuses names that there are not, categories, and both directions at once.
    pub fn constrained(mut self, monotone: &Monotone) -> Result<ColumnMap> {
        for (name, direction) in monotone.directions() {
            let Some(info) = self.columns.iter_mut().find(|info| info.name == *name) else {
                return Err(Error::Column { name: name.clone() });
            };
            let refuse = |must| {
                Err(Error::Parameter {
                    name: "increasing or decreasing column",
                    value: format!("'{name}'"),
                    must,
                })
            };
            if info.kind == ColumnKind::Category {
                return refuse("a number or a time; the levels of a category have no order");
            }
            if info.direction.is_some_and(|other| other != direction) {
                return refuse("either increasing or decreasing");
            }
            info.direction = Some(direction);
        }
        let columns = &self.columns;
        self.effects.retain(|effect| match effect {
            Effect::Cells {
                column,
                cells: Cells::Part { .. },
            } => columns[*column].direction.is_none(),
            _ => true,
        });
        Ok(self)
    }

    /// The order of the weights that makes columns increasing or decreasing; none if no column is.
    pub fn order(&self) -> Result<Option<Order>> {
        if self.columns.iter().all(|info| info.direction.is_none()) {
            return Ok(None);
        }
        let mut pairs = Vec::new();
        for (effect, start) in self.effects.iter().zip(self.starts()) {
            self.add_pairs(effect, start as u32, &mut pairs);
        }
        Order::new(self.width(), pairs).map(Some)
    }

    fn add_pairs(&self, effect: &Effect, start: u32, pairs: &mut Vec<[u32; 2]>) {
        let direction = |column: usize| self.columns[column].direction;
        match effect {
            Effect::Linear { column, .. } => {
                let own = direction(*column).map(|direction| direction.pair(ZERO, start));
                pairs.extend(own);
            }
            Effect::Cells { column, cells } => {
                if let Some(direction) = direction(*column) {
                    let neighbours =
                        (0..jumps(cells)).map(|c| direction.pair(start + c, start + c + 1));
                    pairs.extend(neighbours);
                }
            }
            Effect::Pair {
                columns,
                cells,
                pairs: of_pair,
            } => {
                let weight = |a: u32, b: u32| match of_pair.cell(a, b) {
                    NO_CELL => ZERO,
                    cell => start + cell,
                };
                for side in 0..2 {
                    let Some(direction) = direction(columns[side]) else {
                        continue;
                    };
                    for other in 0..cells[1 - side].len() as u32 {
                        let at = |own: u32| match side {
                            0 => weight(own, other),
                            _ => weight(other, own),
                        };
                        let jumps = 0..jumps(&cells[side]);
                        pairs.extend(jumps.map(|c| direction.pair(at(c), at(c + 1))));
                    }
                }
            }
        }
    }
}

/// How often the cells of a number, those of missing values apart, meet the next.
fn jumps(cells: &Cells) -> u32 {
    match cells {
        Cells::Bins { cuts, .. } => cuts.len() as u32,
        Cells::Missing | Cells::Levels { .. } | Cells::Hashed { .. } | Cells::Part { .. } => 0,
    }
}
