//! The columns of a table, found by name and brought to the kind that the map has learned.
//!
//! - A number in place of a category counts as the level of its shortest text: 7 and 7.0 as `7`.
//! - A category in place of a number counts as the numbers that its levels spell, all of which must be numbers.
//! - A column without any value can stand for any kind.
//! - Everything else is an error that names the column and both kinds.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{ColumnInfo, ColumnKind, ColumnMap};
use crate::data::table::{Column, MISSING, Table, Values};
use crate::features::hash;
use crate::{Error, Result};

/// The values of a column of the map.
pub(super) enum Bound<'a> {
    /// Numbers, or times in seconds; NaN where missing.
    Numbers(Arc<Vec<f64>>),
    /// Categories.
    Levels {
        /// One for each row; [`MISSING`] where missing.
        codes: Cow<'a, [u32]>,
        /// The position of each code's level among those of the map's column; `None` for one that is not among them.
        level_of_code: Vec<Option<u32>>,
    },
}

impl ColumnMap {
    /// The columns that effects read, at their positions.
    pub(super) fn bind<'a>(&self, table: &'a Table) -> Result<Vec<Option<Bound<'a>>>> {
        let mut used = vec![false; self.columns.len()];
        for &column in self.effects.iter().flat_map(|effect| effect.columns()) {
            used[column] = true;
        }
        let by_name = table.columns().iter();
        let by_name: HashMap<&str, &Column> = by_name.map(|c| (c.name.as_str(), c)).collect();
        let bound = |(info, used): (&ColumnInfo, bool)| {
            if !used {
                return Ok(None);
            }
            match by_name.get(info.name.as_str()) {
                Some(column) => bind_column(info, &column.values).map(Some),
                None => Err(Error::Column {
                    name: info.name.clone(),
                }),
            }
        };
        self.columns.iter().zip(used).map(bound).collect()
    }
}

/// What is known of a level that is none of those of training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unseen {
    /// No training row had it.
    Never,
    /// The column had many levels in too few training rows for a cell of their own, of which nothing is kept: it is one of these, or no
    /// training row had it.
    RareOrNever,
}

impl Unseen {
    /// As messages have it. Columns are learned from all training rows, or from the first ones of a stream.
    pub fn name(self) -> &'static str {
        match self {
            Unseen::Never => "never seen when the columns were learned",
            Unseen::RareOrNever => "rare or never seen when the columns were learned",
        }
    }
}

/// Rows of a table with such levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnseenLevels {
    /// The column.
    pub column: String,
    /// What is known of them.
    pub what: Unseen,
    /// The rows, ascending.
    pub rows: Vec<usize>,
}

impl ColumnMap {
    /// The categories that effects read and in which some row has a level that no training row had; hashed ones have a cell for every text.
    pub fn unseen_levels(&self, table: &Table) -> Vec<UnseenLevels> {
        let is_read = |column: usize| {
            let mut read = self.effects.iter().flat_map(|effect| effect.columns());
            read.any(|&of_effect| of_effect == column)
        };
        let mut found = Vec::new();
        for (at, info) in self.columns.iter().enumerate() {
            let is_known = info.kind == ColumnKind::Category && info.hash_bits.is_none();
            let column = table.column(&info.name).filter(|_| is_known && is_read(at));
            let Some(column) = column else {
                continue;
            };
            let rows = unseen_rows(info, &column.values);
            if !rows.is_empty() {
                let has_names = info.rare.is_none() || !info.rare_hashes.is_empty();
                found.push(UnseenLevels {
                    column: info.name.clone(),
                    what: match has_names {
                        true => Unseen::Never,
                        false => Unseen::RareOrNever,
                    },
                    rows,
                });
            }
        }
        found
    }
}

fn unseen_rows(info: &ColumnInfo, values: &Values) -> Vec<usize> {
    let is_unseen = |text: &str| {
        let hash = || hash::level(&info.name, text, u32::BITS);
        position(info, text).is_none() && info.rare_hashes.binary_search(&hash()).is_err()
    };
    match values {
        Values::Category { codes, levels } => {
            let mut of_code: Vec<Option<bool>> = vec![None; levels.len()];
            let mut is_unseen = |code: u32| {
                let code = code as usize;
                *of_code[code].get_or_insert_with(|| is_unseen(&levels[code]))
            };
            let all = codes.iter().enumerate().filter(|(_, c)| **c != MISSING);
            all.filter(|(_, code)| is_unseen(**code))
                .map(|(i, _)| i)
                .collect()
        }
        Values::Number(numbers) => {
            let all = numbers.iter().enumerate().filter(|(_, x)| !x.is_nan());
            let mut known: HashMap<u64, bool> = HashMap::new();
            let mut is_unseen = |x: f64| {
                // −0 is 0.
                let x = x + 0.0;
                *(known.entry(x.to_bits())).or_insert_with(|| is_unseen(&x.to_string()))
            };
            all.filter(|(_, x)| is_unseen(**x))
                .map(|(i, _)| i)
                .collect()
        }
        Values::Time(_) => Vec::new(),
    }
}

fn bind_column<'a>(info: &ColumnInfo, values: &'a Values) -> Result<Bound<'a>> {
    let refuse = |found: String| {
        Err(Error::ColumnKind {
            name: info.name.clone(),
            expected: info.kind.name(),
            found,
        })
    };
    match (info.kind, values) {
        (ColumnKind::Number, Values::Number(x)) | (ColumnKind::Time, Values::Time(x)) => {
            Ok(Bound::Numbers(Arc::clone(x)))
        }
        (ColumnKind::Category, Values::Category { codes, levels }) => Ok(Bound::Levels {
            level_of_code: levels_of_codes(info, codes, levels),
            codes: Cow::Borrowed(codes),
        }),
        (kind, values) if (0..values.len()).all(|i| values.is_missing(i)) => {
            Ok(all_missing(kind, values.len()))
        }
        (ColumnKind::Category, Values::Number(x)) => Ok(levels_of_numbers(info, x)),
        (ColumnKind::Number, Values::Category { codes, levels }) => {
            match numbers_of_levels(codes, levels) {
                Ok(numbers) => Ok(Bound::Numbers(numbers.into())),
                Err(text) => refuse(format!("the text '{text}'")),
            }
        }
        (_, Values::Number(_)) => refuse("a number".to_string()),
        (_, Values::Category { .. }) => refuse("a category".to_string()),
        (_, Values::Time(_)) => refuse("a time".to_string()),
    }
}

fn all_missing<'a>(kind: ColumnKind, rows: usize) -> Bound<'a> {
    match kind {
        ColumnKind::Number | ColumnKind::Time => Bound::Numbers(vec![f64::NAN; rows].into()),
        ColumnKind::Category => Bound::Levels {
            codes: vec![MISSING; rows].into(),
            level_of_code: Vec::new(),
        },
    }
}

/// Where a level is among those of a column, which are in order.
fn position(info: &ColumnInfo, text: &str) -> Option<u32> {
    if let Some(bits) = info.hash_bits {
        return Some(hash::level(&info.name, text, bits));
    }
    let found = info
        .levels
        .binary_search_by(|level| level.name.as_str().cmp(text));
    found.ok().map(|at| at as u32)
}

/// Only of the codes that rows have: a few rows may come with the levels of a large table.
fn levels_of_codes(info: &ColumnInfo, codes: &[u32], levels: &[String]) -> Vec<Option<u32>> {
    let mut asked = vec![false; levels.len()];
    let mut of_code = vec![None; levels.len()];
    for &code in codes.iter().filter(|code| **code != MISSING) {
        let code = code as usize;
        if !asked[code] {
            asked[code] = true;
            of_code[code] = position(info, &levels[code]);
        }
    }
    of_code
}

/// Numbers as the texts that stand for them.
fn levels_of_numbers<'a>(info: &ColumnInfo, numbers: &[f64]) -> Bound<'a> {
    let mut code_of_bits: HashMap<u64, u32> = HashMap::new();
    let mut level_of_code = Vec::new();
    let mut code = |&x: &f64| {
        if x.is_nan() {
            return MISSING;
        }
        let x = x + 0.0; // −0 is 0
        *code_of_bits.entry(x.to_bits()).or_insert_with(|| {
            level_of_code.push(position(info, &x.to_string()));
            level_of_code.len() as u32 - 1
        })
    };
    let codes: Vec<u32> = numbers.iter().map(&mut code).collect();
    Bound::Levels {
        codes: codes.into(),
        level_of_code,
    }
}

/// The numbers that the levels spell, or the first that spells none.
fn numbers_of_levels<'l>(
    codes: &[u32],
    levels: &'l [String],
) -> std::result::Result<Vec<f64>, &'l str> {
    let number = |text: &String| text.trim().parse().ok().filter(|x: &f64| x.is_finite());
    let spelled: Vec<Option<f64>> = levels.iter().map(number).collect();
    let of_code = |&code: &u32| match code {
        MISSING => Ok(f64::NAN),
        code => spelled[code as usize].ok_or(levels[code as usize].as_str()),
    };
    codes.iter().map(of_code).collect()
}
