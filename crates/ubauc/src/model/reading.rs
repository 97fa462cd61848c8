//! How the training file was written, so that the next file is read the same way with nothing but the model.

use serde::{Deserialize, Serialize};

use crate::features::ColumnMap;
use crate::features::columns::ColumnKind;
use crate::read::table::{ColumnReport, DateOrder, GivenColumn, GivenKind, TableOptions};

/// How a table is to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The column of the labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Texts that stand for a missing value; the usual ones if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// Columns whose numbers have a decimal comma, or that hold times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Notation>,
}

/// How the values of a column are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notation {
    /// The column.
    pub name: String,
    /// Numbers: the decimal sign is a comma.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decimal_comma: bool,
    /// Times: the order of day, month and year.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date_order: Option<DateOrder>,
}

impl Reading {
    /// What a reader with these options found.
    pub fn of(options: &TableOptions<'_>, columns: &[ColumnReport]) -> Reading {
        let noted = |report: &ColumnReport| {
            let notation = Notation {
                name: report.name.clone(),
                decimal_comma: report.decimal_comma,
                date_order: report.date_order,
            };
            (report.decimal_comma || report.date_order.is_some()).then_some(notation)
        };
        Reading {
            label: options.label.clone(),
            missing: options.missing.clone(),
            columns: columns.iter().filter_map(noted).collect(),
        }
    }

    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Reading::default()
    }

    /// The columns that a map reads, by the kinds it has learned.
    pub fn given(&self, map: &ColumnMap) -> Vec<GivenColumn> {
        let used = (0..map.columns.len()).filter(|&j| map.is_used(j));
        used.map(|j| {
            let info = &map.columns[j];
            let notation = self.columns.iter().find(|of| of.name == info.name);
            let kind = match info.kind {
                ColumnKind::Category => GivenKind::Category,
                ColumnKind::Number => GivenKind::Number {
                    decimal_comma: notation.is_some_and(|of| of.decimal_comma),
                },
                ColumnKind::Time => GivenKind::Time {
                    order: notation
                        .and_then(|of| of.date_order)
                        .unwrap_or(DateOrder::YearFirst),
                },
            };
            GivenColumn {
                name: info.name.clone(),
                kind,
            }
        })
        .collect()
    }
}
