//! A model taken apart: the columns that its score reads, and the terms that add up to it.
//!
//! ```text
//! score = Σ_linear w (x − mean)/deviation + Σ_tables value[cell(x)] + Σ_pairs value[cell(a), cell(b)] + intercept
//! ```
//!
//! in the order of the model's features, so that a target that adds in that order has the bits of the model's score. Terms that are
//! 0 everywhere are left out.

use serde::Serialize;

use super::Target;
use crate::Result;
use crate::calibrate::Calibration;
use crate::data::rows::NO_CELL;
use crate::features::FeatureMap;
use crate::features::columns::{Cells, ColumnKind, ColumnMap, Effect};
use crate::model::Model;
use crate::read::table::{DateOrder, MISSING_TOKENS};

/// A scoring function as columns and terms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Program {
    /// The columns that terms read.
    pub columns: Vec<Input>,
    /// In the order of the model's features.
    pub terms: Vec<Term>,
    /// Added last.
    pub intercept: f64,
    /// Scores from here on are positive.
    pub threshold: f64,
    /// The negative and the positive class.
    pub classes: [String; 2],
    /// From score − threshold to a probability.
    pub calibration: Option<Calibration>,
    /// Texts that stand for a missing value, besides the empty one.
    pub missing: Vec<String>,
    /// They are meant in upper and lower case.
    pub missing_any_case: bool,
}

/// A column that the score reads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Input {
    /// As the table has it; of a model without names the position, from 1.
    pub name: String,
    /// What its values are.
    pub kind: ColumnKind,
    /// A value that is missing is an error: the model knows no answer to it.
    pub required: bool,
    /// Of a category: the levels that have a cell, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<String>,
    /// Texts of numbers have a decimal comma.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub decimal_comma: bool,
    /// How texts of times are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_order: Option<DateOrder>,
    /// The mean of its numbers, of times in days.
    #[serde(skip)]
    pub(super) mean: f64,
    /// Its position among the columns of the model, from 1.
    #[serde(skip)]
    pub(super) index: usize,
}

/// What one or two columns add to the score.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Term {
    /// weight·(x − mean)/deviation, 0 where x is missing.
    Linear {
        /// Position among the columns.
        column: usize,
        /// Of the standardised value.
        weight: f64,
        /// Taken from every value.
        mean: f64,
        /// Every value is divided by it.
        deviation: f64,
    },
    /// A value for each cell, 0 in no cell.
    Table {
        /// Position among the columns.
        column: usize,
        /// From values to cells.
        cells: Cells,
        /// By cell.
        values: Vec<f64>,
    },
    /// A value for pairs of cells, 0 for all others.
    Pair {
        /// Positions among the columns.
        columns: [usize; 2],
        /// From values to cells, for each column.
        cells: [Cells; 2],
        /// Cells of both columns, in order, and the value.
        values: Vec<(u32, u32, f64)>,
    },
}

impl Program {
    /// Of a model; a target that a model cannot be taken to is named.
    pub(super) fn of(model: &Model, target: Target) -> Result<Program> {
        model.features.check()?;
        let (columns, terms) = match &model.features {
            FeatureMap::Identity => of_numbers(model),
            FeatureMap::Columns(map) if map.columns.iter().all(|c| c.hash_bits.is_none()) => {
                of_columns(model, map)
            }
            FeatureMap::Hash { .. } | FeatureMap::Columns(_) => {
                return target
                    .refuse("its features are hashed, and a hash has no names to write down");
            }
        };
        let given = model.reading.missing.clone();
        Ok(Program {
            columns,
            terms,
            intercept: model.intercept,
            threshold: model.threshold,
            classes: model.classes.clone(),
            calibration: model.calibration.clone(),
            missing_any_case: given.is_none(),
            missing: given.unwrap_or_else(|| MISSING_TOKENS.map(str::to_string).to_vec()),
        })
    }
}

/// Of the columns as they are: one number each.
fn of_numbers(model: &Model) -> (Vec<Input>, Vec<Term>) {
    let name = |j: usize| match model.names.get(j) {
        Some(name) => name.clone(),
        None => (j + 1).to_string(),
    };
    let mut columns = Vec::new();
    let mut terms = Vec::new();
    let weights = model.weights.iter().copied().enumerate();
    for (j, weight) in weights.filter(|(_, w)| *w != 0.0) {
        terms.push(Term::Linear {
            column: columns.len(),
            weight,
            mean: 0.0,
            deviation: 1.0,
        });
        columns.push(Input {
            name: name(j),
            kind: ColumnKind::Number,
            // Rows of svmlight leave zeros out.
            required: !model.names.is_empty(),
            levels: Vec::new(),
            decimal_comma: notation(model, &name(j)).0,
            date_order: None,
            mean: 0.0,
            index: j + 1,
        });
    }
    (columns, terms)
}

fn of_columns(model: &Model, map: &ColumnMap) -> (Vec<Input>, Vec<Term>) {
    let mut terms = Vec::new();
    for (effect, start) in map.effects.iter().zip(map.starts()) {
        let weights = model.weights.get(start..).unwrap_or_default();
        let weights = &weights[..effect.width().min(weights.len())];
        if weights.iter().any(|w| *w != 0.0) {
            terms.push(term(effect, weights));
        }
    }
    // Columns that no term reads are left out.
    let mut position = vec![None; map.columns.len()];
    let mut columns = Vec::new();
    for term in &mut terms {
        for column in term.columns_mut() {
            let at = *position[*column].get_or_insert_with(|| {
                columns.push(input(model, map, *column));
                columns.len() - 1
            });
            *column = at;
        }
    }
    (columns, terms)
}

impl Term {
    fn columns_mut(&mut self) -> &mut [usize] {
        match self {
            Term::Linear { column, .. } | Term::Table { column, .. } => {
                std::slice::from_mut(column)
            }
            Term::Pair { columns, .. } => columns,
        }
    }
}

fn input(model: &Model, map: &ColumnMap, column: usize) -> Input {
    let info = &map.columns[column];
    let (decimal_comma, date_order) = notation(model, &info.name);
    Input {
        name: info.name.clone(),
        kind: info.kind,
        required: false,
        levels: info.levels.iter().map(|level| level.name.clone()).collect(),
        decimal_comma,
        date_order,
        mean: info.numbers.map_or(0.0, |numbers| numbers.mean),
        index: column + 1,
    }
}

/// Whether numbers of a column have a decimal comma, and how its times are written.
fn notation(model: &Model, name: &str) -> (bool, Option<DateOrder>) {
    let noted = model.reading.columns.iter().find(|of| of.name == name);
    noted.map_or((false, None), |of| (of.decimal_comma, of.date_order))
}

fn term(effect: &Effect, weights: &[f64]) -> Term {
    let value = |cell: u32| weights.get(cell as usize).copied().unwrap_or(0.0);
    match effect {
        Effect::Linear {
            column,
            mean,
            deviation,
        } => Term::Linear {
            column: *column,
            weight: value(0),
            mean: *mean,
            deviation: *deviation,
        },
        Effect::Cells { column, cells } => Term::Table {
            column: *column,
            cells: cells.clone(),
            values: weights.to_vec(),
        },
        Effect::Pair {
            columns,
            cells,
            pairs,
        } => {
            let all = pairs.pairs().filter(|(_, _, cell)| *cell != NO_CELL);
            let valued = all.map(|(a, b, cell)| (a, b, value(cell)));
            Term::Pair {
                columns: *columns,
                cells: cells.clone(),
                values: valued.filter(|(_, _, value)| *value != 0.0).collect(),
            }
        }
    }
}
