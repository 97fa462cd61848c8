//! The terms of a model, of whatever features.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Explained, Source};
use crate::features::columns::{Cells, ColumnInfo, ColumnKind, Direction, Effect};
use crate::features::{ColumnMap, FeatureMap};
use crate::glass_box::effects::{Effects, SavedEffects, Term, TermCell};
use crate::model::Model;
use crate::{Error, Result};

/// Of the range of a column: see [`Side::is_skewed`].
const SKEWED: f64 = 0.1;

/// What a column or a pair adds to the score.
#[derive(Debug, Clone, Serialize)]
pub struct TermReport {
    /// `age`, `pickup hour`, `age & hours`.
    pub name: String,
    /// The columns that it reads.
    pub columns: Vec<String>,
    /// Standard deviation over the training rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<f64>,
    /// Its 95 % interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// What chose a pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// Columns with which it must rise or fall.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub directions: BTreeMap<String, Direction>,
    /// Of a number.
    #[serde(flatten)]
    pub linear: Option<Linear>,
    /// Of a column all cells, of a pair those that training rows are in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<TermCell>,
    /// The least and the most that it adds to a training row, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<[f64; 2]>,
    /// What is added without any cell and where the number is at its mean, as for a level that was never seen.
    pub constant: f64,
    /// One for each column.
    pub sides: Vec<Side>,
}

/// A part that is slope · (x − mean)/deviation.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Linear {
    /// In units of the score for each standard deviation.
    pub slope: f64,
    /// Of the training rows.
    pub mean: f64,
    /// Of the training rows.
    pub deviation: f64,
}

impl Linear {
    /// What it adds at a value of the column.
    pub fn at(&self, x: f64) -> f64 {
        self.slope * (x - self.mean) / self.deviation
    }
}

/// How the values of a column are divided into the cells of a term.
#[derive(Debug, Clone, Serialize)]
pub struct Side {
    /// What its values are.
    pub kind: SideKind,
    /// Bins are between these; of a time in days since 1970-01-01.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<f64>,
    /// The smallest and the largest number of the training rows, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// All cells, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<SideCell>,
    /// Of the bins of a column: a tenth of the range and less has nine tenths of the rows. Figures then draw bins equally wide.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_skewed: bool,
}

/// What a side of a term reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SideKind {
    /// A number.
    Number,
    /// The levels of a category.
    Category,
    /// A time in days since 1970-01-01.
    Time,
    /// An hour, weekday or month.
    Part,
}

/// A cell of a side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SideCell {
    /// The level, the value of a part, or the interval of a bin.
    pub name: String,
    /// The cell of rare levels, and of those that were never seen.
    pub is_rare: bool,
    /// The cell of missing values.
    pub is_missing: bool,
}

impl TermReport {
    /// With what must rise or fall: `age (increasing)`, `age & city (increasing in age)`.
    pub fn marked_name(&self) -> String {
        let marks: Vec<String> = (self.directions.iter())
            .map(|(column, direction)| match self.columns.len() {
                1 => direction.name().to_string(),
                _ => format!("{} in {column}", direction.name()),
            })
            .collect();
        match marks.is_empty() {
            true => self.name.clone(),
            false => format!("{} ({})", self.name, marks.join(", ")),
        }
    }

    /// Whether the importance is outside its interval, which is corrected for noise.
    pub fn is_outside_interval(&self) -> bool {
        let is_in = |[low, high]: [f64; 2]| (low..=high).contains(&self.rank());
        self.interval.is_some_and(|interval| !is_in(interval))
    }

    /// Importance, or the weight where that is not known.
    pub fn rank(&self) -> f64 {
        let slope = self.linear.map_or(0.0, |linear| linear.slope.abs());
        self.importance.unwrap_or(slope)
    }
}

pub(super) fn explained(model: &Model, effects: Option<&SavedEffects>) -> Result<Explained> {
    match &model.features {
        FeatureMap::Columns(map) => {
            let effects = effects.ok_or(Error::NoEffects {
                what: "the model does not tell what its training examples were like; train it again",
            })?;
            of_columns(map, model, effects)
        }
        FeatureMap::Identity => Ok(of_numbers(model, effects)),
        FeatureMap::Hash { .. } => Err(Error::NoEffects {
            what: "the features are hashed: the columns behind a weight are not known",
        }),
    }
}

fn of_columns(map: &ColumnMap, model: &Model, saved: &SavedEffects) -> Result<Explained> {
    let effects = Effects::restore(map, &model.weights, saved)?;
    let report = |(k, term): (usize, &Term)| {
        let report = TermReport {
            name: term.name.clone(),
            columns: (term.columns.iter())
                .map(|&column| map.columns[column].name.clone())
                .collect(),
            importance: Some(term.importance),
            interval: saved.terms[k].interval,
            directions: directions_of(map, term),
            gain: saved.terms[k].gain,
            linear: linear_of(map, term),
            cells: term.cells.clone(),
            ends: None,
            constant: saved.terms[k].constant,
            sides: sides_of(&effects, term),
        };
        TermReport {
            ends: ends_of(&report),
            ..report
        }
    };
    Ok(Explained {
        classes: model.classes.clone(),
        threshold: model.threshold,
        intercept: effects.intercept,
        terms: effects.terms.iter().enumerate().map(report).collect(),
        has_importances: true,
        source: Source::Columns(effects),
    })
}

fn directions_of(map: &ColumnMap, term: &Term) -> BTreeMap<String, Direction> {
    let infos = term.columns.iter().map(|&column| &map.columns[column]);
    infos
        .filter_map(|info| Some((info.name.clone(), info.direction?)))
        .collect()
}

/// The least and the most over the training rows.
fn ends_of(term: &TermReport) -> Option<[f64; 2]> {
    let cells = term.cells.iter().filter(|cell| cell.rows > 0);
    let mut values: Vec<f64> = cells.flat_map(TermCell::ends).collect();
    if let (Some(linear), [side]) = (term.linear, term.sides.as_slice()) {
        // A straight line has its ends where the range has them.
        if side.cuts.is_empty() {
            values.extend(side.range?.map(|x| linear.at(x) + term.constant));
        }
    }
    let least = values.iter().copied().reduce(f64::min)?;
    let most = values.iter().copied().reduce(f64::max)?;
    Some([least, most])
}

fn linear_of(map: &ColumnMap, term: &Term) -> Option<Linear> {
    let slope = term.slope?;
    let of_column = |effect: &Effect| match effect {
        Effect::Linear {
            column,
            mean,
            deviation,
        } if term.columns == [*column] => Some(Linear {
            slope,
            mean: *mean,
            deviation: *deviation,
        }),
        _ => None,
    };
    map.effects.iter().find_map(of_column)
}

fn sides_of(effects: &Effects, term: &Term) -> Vec<Side> {
    let (all, names) = (effects.cells_of(term), effects.cell_names_of(term));
    let info = |at: usize| &effects.columns()[term.columns[at]];
    if all.is_empty() {
        return vec![side_of_numbers(info(0))];
    }
    let side = |(at, (cells, names)): (usize, (&&Cells, Vec<String>))| {
        let name_of =
            |(cell, name): (usize, String)| side_cell(cells, cell as u32, &name, info(at));
        let cuts = match cells {
            Cells::Bins { cuts, .. } => cuts.clone(),
            Cells::Missing | Cells::Levels { .. } | Cells::Hashed { .. } | Cells::Part { .. } => {
                Vec::new()
            }
        };
        let numbers = side_of_numbers(info(at));
        Side {
            is_skewed: term.columns.len() == 1 && is_skewed(&term.cells, &cuts, numbers.range),
            kind: match (*cells, info(at).kind) {
                (Cells::Part { .. }, _) => SideKind::Part,
                (_, ColumnKind::Number) => SideKind::Number,
                (_, ColumnKind::Time) => SideKind::Time,
                (_, ColumnKind::Category) => SideKind::Category,
            },
            cuts,
            cells: names.into_iter().enumerate().map(name_of).collect(),
            ..numbers
        }
    };
    all.iter().zip(names).enumerate().map(side).collect()
}

/// Of a number or a time without cells.
fn side_of_numbers(info: &ColumnInfo) -> Side {
    Side {
        kind: match info.kind {
            ColumnKind::Time => SideKind::Time,
            ColumnKind::Number | ColumnKind::Category => SideKind::Number,
        },
        cuts: Vec::new(),
        range: info.numbers.map(|numbers| [numbers.min, numbers.max]),
        cells: Vec::new(),
        is_skewed: false,
    }
}

/// Whether a tenth of the range and less has nine tenths of the rows.
fn is_skewed(cells: &[TermCell], cuts: &[f64], range: Option<[f64; 2]>) -> bool {
    // A file may have any range.
    let range = range.filter(|[min, max]| min < max);
    let (Some([min, max]), Some(cells)) = (range, cells.get(..cuts.len() + 1)) else {
        return false;
    };
    let total: f64 = cells.iter().map(|cell| cell.rows as f64).sum();
    if cells.len() < 3 || total == 0.0 {
        return false;
    }
    let end = |k: usize| match k {
        0 => min,
        k => cuts.get(k - 1).map_or(max, |cut| cut.clamp(min, max)),
    };
    let mut dense: Vec<(f64, f64)> = (cells.iter().enumerate())
        .map(|(k, cell)| (end(k + 1) - end(k), cell.rows as f64))
        .collect();
    // The bins of the most rows for their width.
    dense.sort_by(|a, b| (b.1 * a.0).total_cmp(&(a.1 * b.0)));
    let (mut width, mut rows) = (0.0, 0.0);
    for (of_bin, of_rows) in dense {
        if rows >= 0.9 * total {
            break;
        }
        width += of_bin;
        rows += of_rows;
    }
    width < SKEWED * (max - min)
}

/// A cell by its name, without the column where that stands before it.
fn side_cell(cells: &Cells, at: u32, name: &str, info: &ColumnInfo) -> SideCell {
    let (is_rare, is_missing) = match cells {
        Cells::Missing => (false, true),
        Cells::Levels { rare, missing, .. } => (*rare == Some(at), *missing == Some(at)),
        Cells::Hashed { bits } => (false, at == 1 << bits),
        Cells::Bins { missing, .. } => (false, *missing == Some(at)),
        Cells::Part { .. } => (false, false),
    };
    let prefix = match cells {
        Cells::Part { part } => format!("{} {}=", info.name, part.name()),
        Cells::Missing | Cells::Levels { .. } | Cells::Hashed { .. } | Cells::Bins { .. } => {
            format!("{}=", info.name)
        }
    };
    SideCell {
        name: name.strip_prefix(&prefix).unwrap_or(name).to_string(),
        is_rare,
        is_missing,
    }
}

fn of_numbers(model: &Model, saved: Option<&SavedEffects>) -> Explained {
    let d = model.weights.len();
    let saved = saved.filter(|saved| saved.means.len() == d && saved.deviations.len() == d);
    let name = |j: usize| match model.names.get(j) {
        Some(name) => name.clone(),
        None => (j + 1).to_string(),
    };
    let report = |j: usize| {
        let w = model.weights[j];
        let moments = saved.map(|saved| (saved.means[j], saved.deviations[j]));
        let (mean, deviation) = moments.unwrap_or((0.0, 1.0));
        // A constant adds nothing.
        let deviation = if deviation > 0.0 { deviation } else { 1.0 };
        TermReport {
            name: name(j),
            columns: vec![name(j)],
            importance: moments.map(|(_, deviation)| (w * deviation).abs()),
            interval: saved.and_then(|saved| saved.intervals.get(j).copied()),
            directions: BTreeMap::new(),
            gain: None,
            linear: Some(Linear {
                slope: w * deviation,
                mean,
                deviation,
            }),
            cells: Vec::new(),
            ends: None,
            constant: 0.0,
            sides: vec![Side {
                kind: SideKind::Number,
                cuts: Vec::new(),
                range: None,
                cells: Vec::new(),
                is_skewed: false,
            }],
        }
    };
    Explained {
        classes: model.classes.clone(),
        threshold: model.threshold,
        intercept: saved.map_or(model.intercept, |saved| saved.intercept),
        terms: (0..d).map(report).collect(),
        has_importances: saved.is_some(),
        source: Source::Numbers {
            means: saved.map_or_else(|| vec![0.0; d], |saved| saved.means.clone()),
            weights: model.weights.clone(),
        },
    }
}
