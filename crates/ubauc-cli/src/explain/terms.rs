//! The terms of a model, of whatever features.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use ubauc::features::columns::{Cells, ColumnKind, Direction, Effect};
use ubauc::features::{ColumnMap, FeatureMap};
use ubauc::glass_box::effects::{Effects, SavedEffects, Term, TermCell};
use ubauc::model::Model;
use ubauc::model_file::SavedModel;

/// What a column or a pair adds to the score.
#[derive(Debug, Serialize)]
pub(super) struct TermReport {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
    /// Standard deviation over the training examples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) importance: Option<f64>,
    /// Its 95 % interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) interval: Option<[f64; 2]>,
    /// What chose a pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gain: Option<f64>,
    /// Columns with which it must rise or fall.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) directions: BTreeMap<String, Direction>,
    #[serde(flatten)]
    pub(super) linear: Option<Linear>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) cells: Vec<TermCell>,
    /// What is added without any cell and where the number is at its mean.
    #[serde(skip)]
    pub(super) constant: f64,
    #[serde(skip)]
    pub(super) axis: Option<Axis>,
}

/// A part that is slope · (x − mean)/deviation.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Linear {
    pub(super) slope: f64,
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

impl Linear {
    pub(super) fn at(&self, x: f64) -> f64 {
        self.slope * (x - self.mean) / self.deviation
    }
}

/// The numbers of a column.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    /// Bins are between these.
    pub(super) cuts: Vec<f64>,
    pub(super) min: f64,
    pub(super) max: f64,
    /// Days since 1970-01-01.
    pub(super) is_time: bool,
}

impl TermReport {
    /// With what must rise or fall: `age (increasing)`, `age & city (increasing in age)`.
    pub(super) fn marked_name(&self) -> String {
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

    /// Importance, or the weight where that is not known.
    pub(super) fn rank(&self) -> f64 {
        let slope = self.linear.map_or(0.0, |linear| linear.slope.abs());
        self.importance.unwrap_or(slope)
    }
}

/// A model, ready to be explained.
pub(super) struct Explained {
    /// The score of an example whose terms are all 0.
    pub(super) intercept: f64,
    /// The most important one first.
    pub(super) terms: Vec<TermReport>,
    /// In the order of the file.
    pub(super) source: Source,
}

/// What terms are evaluated by.
pub(super) enum Source {
    Columns(Effects),
    /// The mean of every feature, 0 if that is not known, and the names of features.
    Numbers {
        means: Vec<f64>,
        names: Vec<String>,
        has_moments: bool,
    },
}

impl Explained {
    pub(super) fn new(saved: &SavedModel) -> Result<Explained> {
        let mut explained = match &saved.model.features {
            FeatureMap::Columns(map) => {
                let effects = saved.effects.as_ref().context(
                    "the file does not tell what its training examples were like; train the model again \
                     (ubauc train --model)",
                )?;
                of_columns(map, &saved.model, effects)?
            }
            FeatureMap::Identity => of_numbers(&saved.model, saved.effects.as_ref())?,
            FeatureMap::Hash { .. } => {
                bail!("the features are hashed: the columns behind a weight are not known");
            }
        };
        explained
            .terms
            .sort_by(|a, b| b.rank().total_cmp(&a.rank()));
        Ok(explained)
    }

    /// Whether importances are known.
    pub(super) fn has_moments(&self) -> bool {
        match self.source {
            Source::Columns(_) => true,
            Source::Numbers { has_moments, .. } => has_moments,
        }
    }
}

fn of_columns(map: &ColumnMap, model: &Model, saved: &SavedEffects) -> Result<Explained> {
    let effects = Effects::restore(map, &model.weights, saved)?;
    let report = |(k, term): (usize, &Term)| TermReport {
        name: term.name.clone(),
        columns: (term.columns.iter())
            .map(|&column| map.columns[column].name.clone())
            .collect(),
        importance: Some(term.importance),
        interval: saved.terms[k].interval,
        gain: saved.terms[k].gain,
        directions: directions_of(map, term),
        linear: linear_of(map, term),
        cells: term.cells.clone(),
        constant: saved.terms[k].constant,
        axis: axis_of(map, term),
    };
    Ok(Explained {
        intercept: effects.intercept,
        terms: effects.terms.iter().enumerate().map(report).collect(),
        source: Source::Columns(effects),
    })
}

fn directions_of(map: &ColumnMap, term: &Term) -> BTreeMap<String, Direction> {
    let infos = term.columns.iter().map(|&column| &map.columns[column]);
    infos
        .filter_map(|info| Some((info.name.clone(), info.direction?)))
        .collect()
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

/// Of a number, or of a time as a whole.
fn axis_of(map: &ColumnMap, term: &Term) -> Option<Axis> {
    let [column] = term.columns.as_slice() else {
        return None;
    };
    let info = &map.columns[*column];
    let numbers = info.numbers.filter(|_| term.name == info.name)?;
    // A column without bins of its own may have those of a pair.
    let cuts_of = |effect: &Effect| match effect {
        Effect::Cells {
            column: of,
            cells: Cells::Bins { cuts, .. },
        } if of == column => Some(cuts.clone()),
        Effect::Pair { columns, cells, .. } => {
            let side = columns.iter().position(|of| of == column)?;
            match &cells[side] {
                Cells::Bins { cuts, .. } => Some(cuts.clone()),
                _ => None,
            }
        }
        _ => None,
    };
    let fits = |cuts: &Vec<f64>| (cuts.len() + 1..=cuts.len() + 2).contains(&term.cells.len());
    let found = map.effects.iter().filter_map(cuts_of).find(fits);
    Some(Axis {
        cuts: found.unwrap_or_default(),
        min: numbers.min,
        max: numbers.max,
        is_time: info.kind == ColumnKind::Time,
    })
}

fn of_numbers(model: &Model, saved: Option<&SavedEffects>) -> Result<Explained> {
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
            gain: None,
            directions: BTreeMap::new(),
            linear: Some(Linear {
                slope: w * deviation,
                mean,
                deviation,
            }),
            cells: Vec::new(),
            constant: 0.0,
            axis: None,
        }
    };
    Ok(Explained {
        intercept: saved.map_or(model.intercept, |saved| saved.intercept),
        terms: (0..d).map(report).collect(),
        source: Source::Numbers {
            means: saved.map_or_else(|| vec![0.0; d], |saved| saved.means.clone()),
            names: (0..d).map(name).collect(),
            has_moments: saved.is_some(),
        },
    })
}
