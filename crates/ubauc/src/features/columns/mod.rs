//! The map of a table: every raw column becomes a standardised number, cells, or both.
//!
//! A map is a list of effects, each of one or two columns. With the features numbered in the order of the effects, the
//! score of a raw row is a sum of a few products and of one look-up for each table of weights:
//!
//!   w·φ(x) = Σ_linear w_j (x − mean_j)/deviation_j + Σ_cells w[start + cell(x)]
//!
//! A [`Cells`] says in which cell a raw value is; a row is in one cell of an effect or in none. All linear effects come
//! first, so that the features of a row are a few numbers and one code for each other effect
//! ([`Rows::Coded`](crate::data::rows::Rows)).
//!
//! | file | what |
//! |---|---|
//! | `summary.rs` | what is counted of every column: sums and counts that can be merged |
//! | `learn.rs` | from a summary to a linear map |
//! | `cells.rs`, `time.rs` | from raw values to cells |
//! | `additive.rs` | the map with bins of every number |
//! | `bins.rs`, `pairs.rs` | bins of several widths, tables of two columns, and which of them are worth it |
//! | `monotone.rs` | columns with which the score must rise or fall: an order of the weights |
//! | `bind.rs` | the columns of a table, found by name and brought to the kind of the map's |
//! | `apply.rs` | from a table to coded rows or to scores |
//! | `check.rs` | what holds of every map, learned or read |

mod additive;
mod apply;
mod bind;
pub mod bins;
mod cells;
mod check;
mod learn;
mod monotone;
mod names;
pub mod pairs;
mod summary;
mod time;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub(crate) use additive::COARSE;
pub use additive::{FACTOR, MAX_CELLS, NestedMap, NumberBins, WIDTHS, column_values};
pub use bind::{Unseen, UnseenLevels};
pub use cells::Cells;
pub use learn::{LEAST_ROWS, Learn};
pub use monotone::{Direction, Monotone};
pub use pairs::PairCells;
pub use summary::{ColumnSummary, NumberSummary, TableSummary};
pub use time::TimePart;

/// From the columns of a table to features.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnMap {
    /// Rows that it was learned from.
    pub rows: u64,
    /// What was learned of each column, whether it is used or not.
    pub columns: Vec<ColumnInfo>,
    /// In the order of the features; all linear ones first.
    pub effects: Vec<Effect>,
}

/// What was learned of a raw column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnInfo {
    /// As the header has it.
    pub name: String,
    /// What its values are.
    pub kind: ColumnKind,
    /// Rows where the value is missing.
    pub missing: u64,
    /// Of a number or a time of which there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbers: Option<Numbers>,
    /// Of a category: the levels with enough rows, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
    /// Of a category whose levels are hashed: into 2^bits cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash_bits: Option<u32>,
    /// Of a category: the levels with fewer rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rare: Option<Rare>,
    /// Of a category: hashes of the names of these, ascending, unless there are many. A level with neither a cell of its own nor a hash here
    /// was in no training row. The names are not kept: a rare text may be a person's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rare_hashes: Vec<u32>,
    /// How the score must change with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// What a user should know of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// Numbers.
    Number,
    /// Texts that stand for themselves.
    Category,
    /// Points in time; their numbers are days since 1970-01-01.
    Time,
}

impl ColumnKind {
    /// As messages have it.
    pub fn name(self) -> &'static str {
        match self {
            ColumnKind::Number => "number",
            ColumnKind::Category => "category",
            ColumnKind::Time => "time",
        }
    }
}

/// The numbers of a column that are not missing; of times in days.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Numbers {
    /// Weighted by the sample weights.
    pub mean: f64,
    /// √ of the mean square of x − mean, weighted likewise.
    pub deviation: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

/// A level of a category.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    /// The text.
    pub name: String,
    /// Rows that have it.
    pub rows: u64,
}

/// Levels with too few rows for a cell of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rare {
    /// How many there are.
    pub levels: u64,
    /// Rows that have one of them.
    pub rows: u64,
}

/// What a user should know of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// Every value is missing: it is left out.
    Empty,
    /// There is one value only: it is left out.
    Constant,
    /// No level has enough rows: it carries nothing.
    AllRare,
    /// Whole numbers, as many as rows and without a gap: it seems to count the rows.
    CountsRows,
}

impl Note {
    /// The note on a column.
    pub fn text(self, column: &str) -> String {
        match self {
            Note::Empty => format!("column '{column}' has no values and is left out"),
            Note::Constant => format!("column '{column}' has one value only and is left out"),
            Note::AllRare => format!(
                "column '{column}': no level is in {LEAST_ROWS} rows or more, so that it tells nothing; if it is an \
                 identifier, leave it out"
            ),
            Note::CountsRows => format!(
                "column '{column}' seems to count the rows; if it is an identifier, leave it out"
            ),
        }
    }
}

/// What one or two columns add to the score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Effect {
    /// One feature: (x − mean)/deviation, 0 where x is missing. A time is in days since 1970-01-01.
    Linear {
        /// Position among the columns.
        column: usize,
        /// Taken from every value.
        mean: f64,
        /// Every value is divided by it.
        deviation: f64,
    },
    /// One feature for each cell: 1 for the row's cell and 0 for the others.
    Cells {
        /// Position among the columns.
        column: usize,
        /// From values to cells.
        cells: Cells,
    },
    /// One feature for each cell of a pair of columns.
    Pair {
        /// Positions among the columns.
        columns: [usize; 2],
        /// From values to cells, for each column.
        cells: [Cells; 2],
        /// From both to the cell of the pair; a row in another pair is in no cell.
        pairs: PairCells,
    },
}

impl Effect {
    /// How many features it has.
    pub fn width(&self) -> usize {
        match self {
            Effect::Linear { .. } => 1,
            Effect::Cells { cells, .. } => cells.len(),
            Effect::Pair { pairs, .. } => pairs.count(),
        }
    }

    /// Positions of its columns.
    pub fn columns(&self) -> &[usize] {
        match self {
            Effect::Linear { column, .. } | Effect::Cells { column, .. } => {
                std::slice::from_ref(column)
            }
            Effect::Pair { columns, .. } => columns,
        }
    }

    /// Whether it is a number rather than a cell.
    pub fn is_linear(&self) -> bool {
        matches!(self, Effect::Linear { .. })
    }
}

impl ColumnMap {
    /// How many features there are.
    pub fn width(&self) -> usize {
        let widths = self.effects.iter().map(Effect::width);
        widths.fold(0, usize::saturating_add)
    }

    /// Where the features of each effect start.
    pub fn starts(&self) -> Vec<usize> {
        let widths = self.effects.iter().map(Effect::width);
        widths
            .scan(0_usize, |at, width| {
                let start = *at;
                *at = at.saturating_add(width);
                Some(start)
            })
            .collect()
    }

    /// Whether an effect reads the column at a position: a table without it cannot be scored.
    pub fn is_used(&self, column: usize) -> bool {
        let mut effects = self.effects.iter();
        effects.any(|effect| effect.columns().contains(&column))
    }

    /// Weights of this map's features as those of another map's: by name, 0 for features that this one lacks.
    pub fn carry(&self, weights: &[f64], to: &ColumnMap) -> Vec<f64> {
        let known: HashMap<String, f64> = (self.feature_names().into_iter())
            .zip(weights.iter().copied())
            .collect();
        let names = to.feature_names();
        let weight = |name: &String| known.get(name).copied().unwrap_or(0.0);
        names.iter().map(weight).collect()
    }

    /// What a user should know of the columns.
    pub fn notes(&self) -> Vec<String> {
        let noted = self.columns.iter();
        noted
            .filter_map(|column| Some(column.note?.text(&column.name)))
            .collect()
    }
}
