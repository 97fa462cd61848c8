//! What the options make of the columns of a file.

use std::collections::HashMap;
use std::path::Path;

use super::super::whole;
use super::number::Decimal;
use super::piece::Want;
use super::{ColumnChoice, TableOptions};
use crate::Result;

/// What is wanted from every column.
pub(in super::super) struct Roles {
    pub(super) wants: Vec<Want>,
    pub(super) label: Option<usize>,
    /// Columns that must be numbers.
    pub(super) numeric: Vec<bool>,
    pub(super) decimal: Decimal,
}

impl Roles {
    /// A decimal comma is looked for where the separator is another sign.
    pub(in super::super) fn find(
        names: &[String],
        delimiter: u8,
        path: &Path,
        options: &TableOptions<'_>,
    ) -> Result<Roles> {
        let by_name: HashMap<&str, usize> = names
            .iter()
            .enumerate()
            .map(|(j, name)| (name.as_str(), j))
            .collect();
        let place = |wanted: &String, what: &'static str| {
            let found = by_name.get(wanted.as_str()).copied();
            found.ok_or_else(|| super::no_column(wanted, what, names, options.no_header, path))
        };
        let decimal = match (options.decimal_comma, delimiter) {
            (Some(true), _) => Decimal::Comma,
            (Some(false), _) | (None, b',') => Decimal::Point,
            (None, _) => Decimal::Open,
        };
        let mut wants = vec![Want::Guess(decimal); names.len()];
        let mut numeric = vec![false; names.len()];
        match &options.categorical {
            ColumnChoice::All => wants.fill(Want::Category),
            ColumnChoice::Names(chosen) => {
                for name in chosen {
                    wants[place(name, "categorical")?] = Want::Category;
                }
            }
        }
        for name in &options.numeric {
            let at = place(name, "numeric")?;
            if wants[at] == Want::Category && options.categorical != ColumnChoice::All {
                let what = format!("column '{name}' is named as numeric and as categorical");
                return Err(whole(path, what));
            }
            numeric[at] = true;
            wants[at] = Want::Guess(decimal);
        }
        for name in &options.ignore {
            wants[place(name, "ignored")?] = Want::Skip;
        }
        let label = options.label.as_ref().map(|name| place(name, "label"));
        let label = label.transpose()?;
        if let Some(at) = label {
            wants[at] = Want::Label;
        }
        if wants
            .iter()
            .all(|want| matches!(want, Want::Skip | Want::Label))
        {
            return Err(whole(path, "no columns besides the label"));
        }
        Ok(Roles {
            wants,
            label,
            numeric,
            decimal,
        })
    }

    /// Positions of the columns that are neither the label nor left out.
    pub(in super::super) fn features(&self) -> impl Iterator<Item = usize> {
        let wants = self.wants.iter().enumerate();
        let is_feature = |want: &Want| !matches!(want, Want::Skip | Want::Label);
        wants
            .filter(move |(_, want)| is_feature(want))
            .map(|(j, _)| j)
    }
}
