//! Effects as a model file keeps them: what the map and the weights do not tell, since it depends on the training rows.
//!
//! Of a model of columns that is the centre of every term, what pairs have given to the terms of their columns, how many
//! rows are in every cell, where in it they are, and importances. Of a model of complete numbers it is mean m_j and deviation d_j of every feature:
//!
//! ```text
//! score = (b + Σ_j w_j m_j) + Σ_j w_j (x_j − m_j),   importance of j = |w_j| d_j
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CellNumbers, Effects, Term, TermCell, describe, terms_of};
use crate::data::rows::Rows;
use crate::features::columns::ColumnMap;
use crate::{Error, Result};

/// The effects of a model, to be put together with its map and weights.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedEffects {
    /// The mean score of the training rows.
    pub intercept: f64,
    /// Of a model of columns, in the order of [`Effects::terms`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<SavedTerm>,
    /// Of a model of complete numbers: the mean of every feature.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub means: Vec<f64>,
    /// Of a model of complete numbers: the standard deviation of every feature.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<f64>,
    /// Of a model of complete numbers: the 95 % interval of every importance, if there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<[f64; 2]>,
}

/// One term.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedTerm {
    /// Standard deviation over the training rows.
    pub importance: f64,
    /// Its 95 % interval ([`intervals`](crate::glass_box::intervals)), if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Of a pair that was ranked: the gain that chose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// Added to every row.
    pub constant: f64,
    /// Of a column: what every cell adds besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
    /// Of a pair: what was given to the terms of its columns, for every cell of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shifts: Option<[Vec<f64>; 2]>,
    /// A cell, or the two of a pair, and how many training rows are in it; cells without rows are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Vec<u64>>,
    /// Of a column with a linear part: z = (x − mean)/deviation of the rows in each cell of `rows`. Files of earlier builds do not have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<CellNumbers>,
}

impl SavedEffects {
    /// Of a model of complete numbers and the rows that it was learned from.
    pub fn of_numbers(
        rows: &Rows,
        weights: &[f64],
        intercept: f64,
        sample_weights: Option<&[f64]>,
    ) -> SavedEffects {
        let weight = |i: usize| sample_weights.map_or(1.0, |s| s[i]);
        let all = || (0..rows.len()).map(|i| (weight(i), rows.row(i)));
        let (mut sums, mut present) = (vec![0.0; rows.cols()], vec![0.0; rows.cols()]);
        let mut total = 0.0;
        for (s, row) in all() {
            total += s;
            for (j, x) in row.entries() {
                sums[j] += s * x;
                present[j] += s;
            }
        }
        let total = f64::max(total, f64::MIN_POSITIVE);
        let means: Vec<f64> = sums.iter().map(|sum| sum / total).collect();
        let mut squares = vec![0.0; rows.cols()];
        for (s, row) in all() {
            for (j, x) in row.entries() {
                squares[j] += s * (x - means[j]) * (x - means[j]);
            }
        }
        let deviation = |j: usize| {
            let absent = f64::max(total - present[j], 0.0) * means[j] * means[j];
            ((squares[j] + absent) / total).sqrt()
        };
        let products = weights.iter().zip(&means).map(|(w, m)| w * m);
        SavedEffects {
            intercept: intercept + products.sum::<f64>(),
            terms: Vec::new(),
            deviations: (0..rows.cols()).map(deviation).collect(),
            means,
            intervals: Vec::new(),
        }
    }

    /// Notes the intervals of the importances, in the order of the terms or features.
    #[must_use]
    pub fn with_intervals(mut self, intervals: Option<Vec<[f64; 2]>>) -> SavedEffects {
        let intervals = intervals.unwrap_or_default();
        if self.terms.is_empty() {
            self.intervals = intervals;
            return self;
        }
        for (term, interval) in self.terms.iter_mut().zip(intervals) {
            term.interval = Some(interval);
        }
        self
    }

    /// Notes the gains of the pairs, in the order of the map.
    #[must_use]
    pub fn with_gains(mut self, gains: impl IntoIterator<Item = f64>) -> SavedEffects {
        let pairs = self.terms.iter_mut().filter(|term| term.shifts.is_some());
        for (term, gain) in pairs.zip(gains) {
            term.gain = Some(gain);
        }
        self
    }
}

impl Effects {
    /// What a file must keep.
    pub fn saved(&self) -> SavedEffects {
        SavedEffects {
            intercept: self.intercept,
            terms: self.terms.iter().map(saved_term).collect(),
            ..SavedEffects::default()
        }
    }

    /// The effects of which this was saved.
    pub fn restore(map: &ColumnMap, weights: &[f64], saved: &SavedEffects) -> Result<Effects> {
        map.check()?;
        let same = |what: &'static str, expected: usize, got: usize| match expected == got {
            true => Ok(()),
            false => Err(Error::Length {
                what,
                expected,
                got,
            }),
        };
        same("weights of the map", map.width(), weights.len())?;
        let (readers, mut terms) = terms_of(map, weights);
        same("terms of the effects", terms.len(), saved.terms.len())?;
        for (term, saved) in terms.iter_mut().zip(&saved.terms) {
            term.importance = saved.importance;
            term.table.constant = saved.constant;
            match (&mut term.table.pair, &saved.shifts) {
                (Some((_, _, shifts)), Some(of_saved)) => {
                    for (own, saved) in shifts.iter_mut().zip(of_saved) {
                        same("shifts of a pair", own.len(), saved.len())?;
                        own.clone_from(saved);
                    }
                }
                (None, None) => {
                    same(
                        "values of a term",
                        term.table.values.len(),
                        saved.values.len(),
                    )?;
                    term.table.values.clone_from(&saved.values);
                }
                _ => same("shifts of a pair", 2, 0)?,
            }
            let sides = term.table.sides.len();
            if !saved.numbers.is_empty() {
                let (expected, got) = (saved.rows.len(), saved.numbers.len());
                same("numbers of the cells of a term", expected, got)?;
            }
            let mut counts = BTreeMap::new();
            for (at, cell) in saved.rows.iter().enumerate() {
                same("cells and rows of a term", sides + 1, cell.len())?;
                let cells = cell[..sides]
                    .iter()
                    .map(|&c| u32::try_from(c).unwrap_or(u32::MAX));
                let numbers = saved.numbers.get(at).copied();
                counts.insert(cells.collect(), (cell[sides], numbers));
            }
            describe(term, &readers, &counts);
        }
        Ok(Effects {
            terms,
            intercept: saved.intercept,
            readers,
        })
    }
}

fn saved_term(term: &Term) -> SavedTerm {
    let with_rows = || term.cells.iter().filter(|cell| cell.rows > 0);
    let rows = with_rows().map(|cell| {
        let cells = cell.cell.iter().map(|&c| u64::from(c));
        cells.chain([cell.rows]).collect()
    });
    let numbers = |cell: &TermCell| cell.numbers;
    let pair = term.table.pair.as_ref();
    SavedTerm {
        importance: term.importance,
        interval: None,
        gain: None,
        constant: term.table.constant,
        values: term.table.values.clone(),
        shifts: pair.map(|(_, _, shifts)| shifts.clone()),
        rows: rows.collect(),
        numbers: with_rows().filter_map(numbers).collect(),
    }
}
