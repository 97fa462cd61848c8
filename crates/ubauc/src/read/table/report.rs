//! What was made of every column, for people to read.

use serde::{Deserialize, Serialize};

use super::levels::Levels;
use super::number::{self, Decimal, Reading};
use super::time::DateOrder;
use crate::data::table::{Column, MISSING, Values};

/// What a column was found to hold; a map of features knows only three of these ([`ColumnKind`](crate::features::columns::ColumnKind)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DetectedKind {
    /// Numbers.
    Number,
    /// Strings that occur again.
    Category,
    /// Yes and no, true and false, as categories.
    Boolean,
    /// Dates or times.
    Time,
    /// Strings that are all different, or whole numbers that count the rows. Kept like others.
    Identifier,
    /// One value in every row, or none in any.
    Constant,
}

/// A column in figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnReport {
    /// As in the table.
    pub name: String,
    /// What it holds.
    pub kind: DetectedKind,
    /// All rows of the table.
    pub rows: usize,
    /// Rows without a value.
    pub missing: usize,
    /// Categories: how many different ones there are.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub levels: Option<usize>,
    /// Categories: the commonest, at most three, and how often they occur.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub top: Vec<(String, usize)>,
    /// Numbers, and seconds since 1970 of times.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub min: Option<f64>,
    /// The largest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max: Option<f64>,
    /// Of the values that are there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mean: Option<f64>,
    /// Numbers: was the decimal sign a comma?
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub decimal_comma: bool,
    /// Times: the order of day, month and year in the file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub date_order: Option<DateOrder>,
    /// What a user should know of this column.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
}

/// Fewer rows do not tell an identifier from a short list.
const IDENTIFIER_ROWS: usize = 20;
/// A category with more levels gets a note.
const MANY_LEVELS: usize = 100_000;

impl ColumnReport {
    /// Looks through the values of a column.
    pub(super) fn of(column: &Column) -> ColumnReport {
        let rows = column.values.len();
        let mut report = ColumnReport {
            name: column.name.clone(),
            kind: DetectedKind::Constant,
            rows,
            missing: 0,
            levels: None,
            top: Vec::new(),
            min: None,
            max: None,
            mean: None,
            decimal_comma: false,
            date_order: None,
            notes: Vec::new(),
        };
        match &column.values {
            Values::Number(values) => {
                report.kind = DetectedKind::Number;
                report.numbers(values);
                if counts_the_rows(values) {
                    report.kind = DetectedKind::Identifier;
                    report.note(
                        "counts the rows; leave it out if it is only a row number (--ignore)",
                    );
                }
            }
            Values::Time(values) => {
                report.kind = DetectedKind::Time;
                report.numbers(values);
            }
            Values::Category { codes, levels } => {
                report.kind = DetectedKind::Category;
                report.categories(codes, levels);
            }
        }
        if report.missing == rows {
            report.kind = DetectedKind::Constant;
            report.note("no value in any row; it tells nothing");
        } else if report.missing == 0 && report.has_one_value() {
            report.kind = DetectedKind::Constant;
            report.note("the same value in every row; it tells nothing");
        }
        report
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    fn has_one_value(&self) -> bool {
        self.levels == Some(1) || self.min.is_some() && self.min == self.max
    }

    fn numbers(&mut self, values: &[f64]) {
        let (mut sum, mut min, mut max) = (0.0, f64::INFINITY, f64::NEG_INFINITY);
        let mut n = 0;
        for &x in values {
            if !x.is_nan() {
                (sum, n) = (sum + x, n + 1);
                (min, max) = (f64::min(min, x), f64::max(max, x));
            }
        }
        self.missing = values.len() - n;
        if n > 0 {
            let mean: f64 = sum / n as f64;
            (self.min, self.max) = (Some(min), Some(max));
            self.mean = mean.is_finite().then_some(mean.clamp(min, max));
        }
    }

    fn categories(&mut self, codes: &[u32], levels: &[String]) {
        let mut counts = vec![0usize; levels.len()];
        for &code in codes {
            if code == MISSING {
                self.missing += 1;
            } else {
                counts[code as usize] += 1;
            }
        }
        let present = codes.len() - self.missing;
        self.levels = Some(levels.len());
        self.top = top(&counts, levels);
        if levels.len() == present && present >= IDENTIFIER_ROWS {
            self.kind = DetectedKind::Identifier;
            self.note("every value is different; no level occurs again, so it tells nothing");
        } else if is_boolean(levels) {
            self.kind = DetectedKind::Boolean;
        } else if levels.len() > MANY_LEVELS {
            self.note(format!("{} levels; is it a category?", levels.len()));
        }
    }
}

/// The three commonest, of equals the first.
fn top(counts: &[usize], levels: &[String]) -> Vec<(String, usize)> {
    let mut best: Vec<usize> = Vec::new();
    for level in 0..counts.len() {
        let at = best.partition_point(|&other| counts[other] >= counts[level]);
        if at < 3 {
            best.insert(at, level);
            best.truncate(3);
        }
    }
    let named = best.into_iter().filter(|&level| counts[level] > 0);
    named
        .map(|level| (levels[level].clone(), counts[level]))
        .collect()
}

/// Words that come in pairs.
const PAIRS: [[&str; 2]; 6] = [
    ["true", "false"],
    ["yes", "no"],
    ["t", "f"],
    ["y", "n"],
    ["on", "off"],
    ["ja", "nein"],
];

fn is_boolean(levels: &[String]) -> bool {
    let is = |level: &String, pair: [&str; 2]| pair.iter().any(|w| level.eq_ignore_ascii_case(w));
    levels.len() == 2
        && !levels[0].eq_ignore_ascii_case(&levels[1])
        && PAIRS
            .iter()
            .any(|&pair| levels.iter().all(|level| is(level, pair)))
}

/// Is every value one more than that before it?
fn counts_the_rows(values: &[f64]) -> bool {
    let follows = |pair: &[f64]| pair[1] == pair[0] + 1.0;
    values.len() >= IDENTIFIER_ROWS && values[0].fract() == 0.0 && values.windows(2).all(follows)
}

/// A column of texts, most of which are numbers: which level is the first that is none, and how
/// many rows have such a level.
pub(super) fn odd_among_numbers(codes: &[u32], levels: &Levels) -> Option<(u32, usize)> {
    let is_number: Vec<bool> = levels
        .iter()
        .map(|text| number::read_with_zeros(text, Decimal::Open) != Reading::Not)
        .collect();
    let is_odd = |code: &&u32| **code != MISSING && !is_number[**code as usize];
    let present = codes.iter().filter(|&&code| code != MISSING).count();
    let odd = codes.iter().filter(is_odd).count();
    let first = codes.iter().find(is_odd)?;
    (odd * 10 <= present).then_some((*first, odd))
}
