//! What is counted of every column, in one pass: sums and counts that can be merged.
//!
//! Sums are exact, so that the summary of a table is that of its parts merged, in any order and to the last bit: what a
//! cluster learns is what one machine learns.

use std::borrow::Cow;
use std::collections::HashMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::time::TimePart;
use super::{ColumnKind, Numbers};
use crate::data::calendar::DAY;
use crate::data::exact_sum::{ExactSum, ratio, root_ratio};
use crate::data::scale::check_each_weight;
use crate::data::table::{Column, MISSING, Table, Values};
use crate::{Error, Result};

/// Of some rows of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableSummary<'a> {
    /// How many rows.
    pub rows: u64,
    /// Name and summary of every column.
    #[serde(borrow = "'a")]
    pub columns: Vec<(Cow<'a, str>, ColumnSummary<'a>)>,
}

/// Of the values of one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ColumnSummary<'a> {
    /// Numbers.
    Number(NumberSummary),
    /// Categories.
    Category {
        /// Rows where the value is missing.
        missing: u64,
        /// Levels with their rows, each once, in any order.
        #[serde(borrow = "'a")]
        levels: Vec<(Cow<'a, str>, u64)>,
    },
    /// Times.
    Time {
        /// In days since 1970-01-01.
        days: NumberSummary,
        /// Bit k of each is set if value k of the hour, the weekday and the month is there.
        parts: [u32; 3],
    },
}

/// Of numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumberSummary {
    /// Rows that have one.
    pub present: u64,
    /// Rows where it is missing.
    pub missing: u64,
    /// The smallest and the largest, if there are any.
    pub range: Option<[f64; 2]>,
    /// All are whole.
    pub whole: bool,
    /// Σ s, Σ s x and Σ s x² with the sample weights s.
    sums: [ExactSum; 3],
}

impl Default for NumberSummary {
    fn default() -> NumberSummary {
        NumberSummary {
            present: 0,
            missing: 0,
            range: None,
            whole: true,
            sums: Default::default(),
        }
    }
}

impl NumberSummary {
    /// Of the numbers of rows with a weight above 0; NaN is missing.
    fn of(numbers: impl Iterator<Item = f64>, weights: Option<&[f64]>) -> NumberSummary {
        let mut summary = NumberSummary::default();
        match weights {
            None => {
                numbers.for_each(|x| summary.add(1.0, x));
                summary.sums[0].add(summary.present as f64);
            }
            Some(weights) => {
                for (x, &s) in numbers.zip(weights).filter(|(_, s)| **s > 0.0) {
                    summary.add(s, x);
                    if !x.is_nan() {
                        summary.sums[0].add(s);
                    }
                }
            }
        }
        summary
    }

    #[inline]
    fn add(&mut self, s: f64, x: f64) {
        if x.is_nan() {
            self.missing += 1;
            return;
        }
        self.present += 1;
        let [min, max] = self.range.unwrap_or([x; 2]);
        self.range = Some([min.min(x), max.max(x)]);
        self.whole &= x.fract() == 0.0;
        match s == 1.0 {
            true => self.sums[1].add(x),
            false => self.sums[1].add_product(s, x),
        }
        self.sums[2].add_square(s, x);
    }

    fn merge(&mut self, other: &NumberSummary) {
        self.present += other.present;
        self.missing += other.missing;
        self.range = match (self.range, other.range) {
            (Some([a, b]), Some([c, d])) => Some([a.min(c), b.max(d)]),
            (range, other) => range.or(other),
        };
        self.whole &= other.whole;
        for (sum, other) in self.sums.iter_mut().zip(&other.sums) {
            sum.merge(other);
        }
    }

    /// Mean, deviation and range; none without a number.
    pub fn numbers(&self) -> Option<Numbers> {
        let [min, max] = self.range?;
        let [s, a, q] = self.sums.each_ref().map(ExactSum::exact);
        let mean = ratio(&a, &s).clamp(min, max);
        let deviation = match min < max {
            true => root_ratio(&s.times(&q).less(&a.times(&a)), &s),
            false => 0.0,
        };
        // Weights that dwarf each other, or the smallest numbers, can make it too small to be told from 0.
        let deviation = match deviation > 0.0 && deviation.is_finite() {
            true => deviation,
            false if min < max => (0.5 * max - 0.5 * min).max(f64::MIN_POSITIVE),
            false => 0.0,
        };
        Some(Numbers {
            mean,
            deviation,
            min,
            max,
        })
    }

    /// Whether the numbers can be those of the rows: whole, each once and without a gap.
    pub(super) fn counts_rows(&self) -> bool {
        let (n, Some([min, max])) = (self.present as f64, self.range) else {
            return false;
        };
        let whole = self.whole && self.missing == 0 && self.present > 2;
        // Between min and max = min + n − 1 each once: their sum is n(min + max)/2.
        let mut twice = ExactSum::default();
        twice.add_product(n, min);
        twice.add_product(n, max);
        let sum = self.sums[1].exact().value();
        whole && max - min == n - 1.0 && 2.0 * sum == twice.value()
    }

    fn is_sound(&self) -> bool {
        let ordered =
            (self.range).is_none_or(|[min, max]| min <= max && min.is_finite() && max.is_finite());
        ordered
            && self.range.is_some() == (self.present > 0)
            && self.sums.iter().all(ExactSum::is_sound)
    }
}

impl<'a> ColumnSummary<'a> {
    fn of(column: &'a Column, weights: Option<&[f64]>) -> ColumnSummary<'a> {
        match &column.values {
            Values::Number(values) => {
                ColumnSummary::Number(NumberSummary::of(values.iter().copied(), weights))
            }
            Values::Time(seconds) => {
                let mut parts = [0; 3];
                let days = seconds.iter().enumerate().map(|(i, &t)| {
                    if !t.is_nan() && weights.is_none_or(|s| s[i] > 0.0) {
                        for (seen, part) in parts.iter_mut().zip(TimePart::ALL) {
                            *seen |= 1 << part.of(t);
                        }
                    }
                    t / DAY
                });
                let days = NumberSummary::of(days, weights);
                ColumnSummary::Time { days, parts }
            }
            Values::Category { codes, levels } => {
                let mut counts = vec![0_u64; levels.len()];
                let mut missing = 0;
                for (i, &code) in codes.iter().enumerate() {
                    if weights.is_none_or(|s| s[i] > 0.0) {
                        match code {
                            MISSING => missing += 1,
                            code => counts[code as usize] += 1,
                        }
                    }
                }
                let seen = levels.iter().zip(counts).filter(|(_, rows)| *rows > 0);
                ColumnSummary::Category {
                    missing,
                    levels: seen
                        .map(|(name, rows)| (Cow::Borrowed(name.as_str()), rows))
                        .collect(),
                }
            }
        }
    }

    /// What the values are.
    pub fn kind(&self) -> ColumnKind {
        match self {
            ColumnSummary::Number(_) => ColumnKind::Number,
            ColumnSummary::Category { .. } => ColumnKind::Category,
            ColumnSummary::Time { .. } => ColumnKind::Time,
        }
    }

    /// Rows that have a value, and rows where it is missing.
    fn rows(&self) -> [u64; 2] {
        match self {
            ColumnSummary::Number(numbers) | ColumnSummary::Time { days: numbers, .. } => {
                [numbers.present, numbers.missing]
            }
            ColumnSummary::Category { missing, levels } => {
                [levels.iter().map(|(_, rows)| rows).sum(), *missing]
            }
        }
    }

    fn merge(&mut self, other: &ColumnSummary<'a>) -> std::result::Result<(), [ColumnKind; 2]> {
        match (&mut *self, other) {
            (ColumnSummary::Number(a), ColumnSummary::Number(b)) => a.merge(b),
            (
                ColumnSummary::Time { days, parts },
                ColumnSummary::Time {
                    days: other,
                    parts: more,
                },
            ) => {
                days.merge(other);
                parts.iter_mut().zip(more).for_each(|(a, b)| *a |= b);
            }
            (
                ColumnSummary::Category { missing, levels },
                ColumnSummary::Category {
                    missing: other,
                    levels: more,
                },
            ) => {
                *missing += other;
                add_levels(levels, more);
            }
            // A part without any value says nothing of the kind.
            (_, other) if other.rows()[0] == 0 => self.add_missing(other.rows()[1]),
            (mine, _) if mine.rows()[0] == 0 => {
                let missing = mine.rows()[1];
                *self = other.clone();
                self.add_missing(missing);
            }
            (mine, other) => return Err([mine.kind(), other.kind()]),
        }
        Ok(())
    }

    fn add_missing(&mut self, rows: u64) {
        match self {
            ColumnSummary::Number(numbers) | ColumnSummary::Time { days: numbers, .. } => {
                numbers.missing += rows;
            }
            ColumnSummary::Category { missing, .. } => *missing += rows,
        }
    }
}

fn add_levels<'a>(levels: &mut Vec<(Cow<'a, str>, u64)>, more: &[(Cow<'a, str>, u64)]) {
    let known = levels.iter().enumerate();
    let known: HashMap<Cow<'a, str>, usize> =
        known.map(|(at, (name, _))| (name.clone(), at)).collect();
    for (name, rows) in more {
        match known.get(name) {
            Some(&at) => levels[at].1 += rows,
            None => levels.push((name.clone(), *rows)),
        }
    }
}

impl<'a> TableSummary<'a> {
    /// Of the rows with a weight above 0, of all if there are no weights. Counts are of rows; mean and deviation of
    /// numbers are weighted.
    pub fn of(table: &'a Table, weights: Option<&[f64]>) -> Result<TableSummary<'a>> {
        if let Some(weights) = weights {
            check_each_weight(weights, table.len())?;
        }
        let rows = match weights {
            Some(weights) => weights.iter().filter(|s| **s > 0.0).count(),
            None => table.len(),
        };
        let columns = table.columns().par_iter().with_max_len(1);
        let summary = |column: &'a Column| {
            let name = Cow::Borrowed(column.name.as_str());
            (name, ColumnSummary::of(column, weights))
        };
        Ok(TableSummary {
            rows: rows as u64,
            columns: columns.map(summary).collect(),
        })
    }

    /// Of the rows of both. They must have the same columns, by name and kind; order does not matter.
    pub fn merge(&mut self, other: &TableSummary<'a>) -> Result<()> {
        if self.columns.len() != other.columns.len() {
            return Err(Error::Length {
                what: "columns of a part of the table",
                expected: self.columns.len(),
                got: other.columns.len(),
            });
        }
        let places = other.columns.iter().enumerate();
        let places: HashMap<&str, usize> = places.map(|(at, (name, _))| (&**name, at)).collect();
        for (name, mine) in &mut self.columns {
            let Some(&at) = places.get(&**name) else {
                let name = name.to_string();
                return Err(Error::Column { name });
            };
            mine.merge(&other.columns[at].1)
                .map_err(|[expected, found]| Error::ColumnKind {
                    name: name.to_string(),
                    expected: expected.name(),
                    found: format!("a {} in another part of the table", found.name()),
                })?;
        }
        self.rows += other.rows;
        Ok(())
    }

    /// Refuses sums that no numbers have: for summaries that came from elsewhere.
    pub fn check(&self) -> Result<()> {
        let sound = |(_, column): &(Cow<'_, str>, ColumnSummary<'_>)| match column {
            ColumnSummary::Number(numbers) | ColumnSummary::Time { days: numbers, .. } => {
                numbers.is_sound()
            }
            ColumnSummary::Category { .. } => true,
        };
        match self.columns.iter().find(|column| !sound(column)) {
            None => Ok(()),
            Some((name, _)) => Err(Error::Parameter {
                name: "sums of a column",
                value: name.to_string(),
                must: "sums of finite numbers",
            }),
        }
    }
}
