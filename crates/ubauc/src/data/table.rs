//! A raw table, column by column: numbers, categories and times, any of them with gaps.
//!
//! This is what a reader makes of a CSV or Parquet file and a front end of a data frame, before a
//! [`FeatureMap`](crate::features::FeatureMap) turns it into features.

use std::collections::HashMap;
use std::sync::Arc;

use crate::data::rows::{Dense, Rows};
use crate::{Error, Result};

/// The code of a missing category.
pub const MISSING: u32 = u32::MAX;

/// The values of one column. Numbers are shared with the features that are made of them.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Finite, or NaN where the value is missing.
    Number(Arc<Vec<f64>>),
    /// For each row the position of its level, or [`MISSING`]. Levels are distinct.
    Category {
        /// One for each row.
        codes: Vec<u32>,
        /// The texts that the codes stand for.
        levels: Arc<[String]>,
    },
    /// Seconds since 1970-01-01 00:00:00, of whatever clock wrote them; NaN where the value is missing.
    Time(Arc<Vec<f64>>),
}

/// A column with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// As the header has it.
    pub name: String,
    /// One for each row.
    pub values: Values,
}

/// Columns of one length, with distinct names.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    rows: usize,
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::Number(values) | Values::Time(values) => values.len(),
            Values::Category { codes, .. } => codes.len(),
        }
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the value of row i is missing.
    pub fn is_missing(&self, i: usize) -> bool {
        match self {
            Values::Number(values) | Values::Time(values) => values[i].is_nan(),
            Values::Category { codes, .. } => codes[i] == MISSING,
        }
    }

    fn check(&self) -> Result<()> {
        match self {
            Values::Number(values) | Values::Time(values) => {
                match values.iter().position(|x| x.is_infinite()) {
                    None => Ok(()),
                    Some(row) => Err(Error::NotFinite {
                        what: "a value",
                        row,
                        value: values[row],
                        must: "finite, or NaN where it is missing",
                    }),
                }
            }
            Values::Category { codes, levels } => {
                let known = |code: &u32| *code == MISSING || (*code as usize) < levels.len();
                match codes.iter().find(|code| !known(code)) {
                    None => Ok(()),
                    Some(code) => Err(Error::Parameter {
                        name: "code of a category",
                        value: code.to_string(),
                        must: "below the number of levels",
                    }),
                }
            }
        }
    }
}

impl Table {
    /// Refuses columns of different lengths or of the same name, infinite numbers and codes without a level.
    pub fn new(columns: Vec<Column>, rows: usize) -> Result<Table> {
        let mut names = std::collections::HashSet::with_capacity(columns.len());
        for column in &columns {
            if column.values.len() != rows {
                return Err(Error::Length {
                    what: "values of a column",
                    expected: rows,
                    got: column.values.len(),
                });
            }
            if !names.insert(column.name.as_str()) {
                return Err(Error::Parameter {
                    name: "column name",
                    value: column.name.clone(),
                    must: "of one column only",
                });
            }
            column.values.check()?;
        }
        Ok(Table { columns, rows })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// In the order of the file.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The columns of these names, or all if there are no names, as rows of numbers. A column that is not there, or that
    /// is not all numbers, is refused by its name.
    pub fn numbers(&self, names: &[String]) -> Result<Rows> {
        let refuse = |column: &Column, found: &str| {
            Err(Error::ColumnKind {
                name: column.name.clone(),
                expected: "number",
                found: found.to_string(),
            })
        };
        let by_name: HashMap<&str, &Column> = (self.columns.iter())
            .map(|c| (c.name.as_str(), c))
            .collect();
        let named = |name: &String| match by_name.get(name.as_str()) {
            Some(column) => Ok(*column),
            None => Err(Error::Column { name: name.clone() }),
        };
        let columns: Vec<&Column> = match names.is_empty() {
            true => self.columns.iter().collect(),
            false => names.iter().map(named).collect::<Result<_>>()?,
        };
        let mut numbers = Vec::with_capacity(columns.len());
        for column in columns {
            match &column.values {
                Values::Number(values) => match values.iter().position(|x| x.is_nan()) {
                    None => numbers.push(values),
                    Some(row) => {
                        return refuse(column, &format!("no value in row {}", row + 1));
                    }
                },
                Values::Category { .. } => return refuse(column, "a category"),
                Values::Time(_) => return refuse(column, "a time"),
            }
        }
        let of_row = |i: usize| numbers.iter().map(move |values| values[i]);
        let values = (0..self.rows).flat_map(of_row).collect();
        let rows = Dense::new(values, self.rows, numbers.len())?;
        Ok(Rows::Dense(rows))
    }

    /// Takes a column out of the table.
    pub fn take(&mut self, name: &str) -> Option<Column> {
        let at = self.columns.iter().position(|column| column.name == name)?;
        Some(self.columns.remove(at))
    }

    /// Whether every column is numbers without a gap.
    pub fn is_complete_numbers(&self) -> bool {
        self.columns.iter().all(|column| match &column.values {
            Values::Number(values) => !values.iter().any(|x| x.is_nan()),
            Values::Category { .. } | Values::Time(_) => false,
        })
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, values: Values) -> Column {
        let name = name.to_string();
        Column { name, values }
    }

    #[test]
    fn gaps_are_found_in_every_kind_of_column() {
        let levels = Arc::from(["a".to_string(), "b".to_string()]);
        let codes = vec![1, MISSING];
        let columns = vec![
            column("x", Values::Number(vec![0.5, f64::NAN].into())),
            column("c", Values::Category { codes, levels }),
            column("t", Values::Time(vec![0.0, f64::NAN].into())),
        ];
        let table = Table::new(columns, 2).unwrap();
        assert_eq!((table.len(), table.is_empty()), (2, false));
        for column in table.columns() {
            assert!(!column.values.is_missing(0) && column.values.is_missing(1));
        }
        assert!(table.column("t").is_some() && table.column("y").is_none());
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let x = || column("x", Values::Number(vec![0.0, 1.0].into()));
        assert!(matches!(
            Table::new(vec![x()], 3),
            Err(Error::Length { .. })
        ));
        assert!(matches!(
            Table::new(vec![x(), x()], 2),
            Err(Error::Parameter { .. })
        ));
        let infinite = column("y", Values::Number(vec![0.0, f64::INFINITY].into()));
        assert!(matches!(
            Table::new(vec![infinite], 2),
            Err(Error::NotFinite { row: 1, .. })
        ));
        let codes = vec![0, 1];
        let levels = Arc::from(["a".to_string()]);
        let unknown = column("z", Values::Category { codes, levels });
        assert!(matches!(
            Table::new(vec![unknown], 2),
            Err(Error::Parameter { .. })
        ));
    }
}
