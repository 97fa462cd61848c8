//! Rows that try every term of a model, with the scores that the model itself gives them.
//!
//! From a row of means and first levels others are made, one or two columns at a time: missing values, levels never seen,
//! values on a cut and just below it, the first, the middle and the last cell of every table. At most [`MAX_ROWS`] of them.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::program::{Input, Program, Term};
use crate::Result;
use crate::data::calendar::{DAY, civil, day_of};
use crate::data::rows::{Dense, Rows};
use crate::data::table::{Column, MISSING, Table, Values};
use crate::features::FeatureMap;
use crate::features::columns::{Cells, ColumnKind};
use crate::model::Model;

/// More rows would make the export longer, and not safer.
const MAX_ROWS: usize = 200;

/// A raw value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// None.
    Missing,
    /// Of a column of numbers.
    Number(f64),
    /// Of a category.
    Text(String),
    /// Seconds since 1970-01-01 00:00:00.
    Time(f64),
}

impl Serialize for Value {
    /// As JSON has them; a time as ISO 8601 writes it.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Value::Missing => serializer.serialize_none(),
            Value::Number(x) => serializer.serialize_f64(*x),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Time(seconds) => serializer.serialize_str(&iso_time(*seconds)),
        }
    }
}

/// Rows and their scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SelfTest {
    /// A value for each column of the program.
    pub rows: Vec<Vec<Value>>,
    /// What the model says of each.
    pub scores: Vec<f64>,
}

impl SelfTest {
    /// Of a model and what was made of it.
    pub(super) fn of(model: &Model, program: &Program) -> Result<SelfTest> {
        let rows = rows(program);
        let scores = scores(model, program, &rows)?;
        Ok(SelfTest { rows, scores })
    }
}

fn rows(program: &Program) -> Vec<Vec<Value>> {
    let columns = &program.columns;
    let base: Vec<Value> = columns.iter().map(typical).collect();
    let mut rows = vec![base.clone()];
    let optional = |input: &Input, value: &Value| match input.required {
        true => value.clone(),
        false => Value::Missing,
    };
    let all_missing = columns.iter().zip(&base).map(|(c, v)| optional(c, v));
    rows.push(all_missing.collect());
    let unseen_of = |(input, value): (&Input, &Value)| match input.kind {
        ColumnKind::Category => Value::Text(unseen(input)),
        ColumnKind::Number | ColumnKind::Time => value.clone(),
    };
    rows.push(columns.iter().zip(&base).map(unseen_of).collect());
    let mut with = |changes: &[(usize, Value)]| {
        let mut row = base.clone();
        for (column, value) in changes {
            row[*column] = value.clone();
        }
        if rows.len() < MAX_ROWS && !rows.contains(&row) {
            rows.push(row);
        }
    };
    for (j, input) in columns.iter().enumerate() {
        with(&[(j, optional(input, &base[j]))]);
        for value in others(input) {
            with(&[(j, value)]);
        }
    }
    for term in &program.terms {
        match term {
            Term::Linear { .. } => {}
            Term::Table { column, cells, .. } => {
                for cell in some(cells.len()) {
                    for value in representatives(&columns[*column], cells, cell as u32) {
                        with(&[(*column, value)]);
                    }
                }
            }
            Term::Pair {
                columns: sides,
                cells,
                values,
            } => {
                for at in some(values.len()) {
                    let (a, b, _) = values[at];
                    let of = |side: usize, cell: u32| {
                        representatives(&columns[sides[side]], &cells[side], cell).pop()
                    };
                    if let (Some(a), Some(b)) = (of(0, a), of(1, b)) {
                        with(&[(sides[0], a), (sides[1], b)]);
                    }
                }
            }
        }
    }
    rows
}

/// The first, the middle and the last of some.
fn some(count: usize) -> impl Iterator<Item = usize> {
    let mut found = vec![0, count / 2, count.saturating_sub(1)];
    found.dedup();
    found.into_iter().filter(move |at| *at < count)
}

/// A value that nothing is special about.
fn typical(input: &Input) -> Value {
    match input.kind {
        ColumnKind::Number => Value::Number(input.mean),
        ColumnKind::Time => Value::Time(input.mean.floor() * DAY + 5.0 * 3600.0),
        ColumnKind::Category => match input.levels.first() {
            Some(level) => Value::Text(level.clone()),
            None => Value::Text(unseen(input)),
        },
    }
}

/// Values beyond those of cells.
fn others(input: &Input) -> Vec<Value> {
    match input.kind {
        ColumnKind::Number => vec![
            Value::Number(0.0),
            Value::Number(-input.mean - 1.0),
            Value::Number(1e6),
        ],
        ColumnKind::Time => vec![
            Value::Time(input.mean.floor() * DAY + 100.0 * DAY),
            Value::Time(951_782_400.0), // 2000-02-29
        ],
        ColumnKind::Category => vec![Value::Text(unseen(input))],
    }
}

/// A text that is no level.
fn unseen(input: &Input) -> String {
    let mut text = "never seen".to_string();
    while input.levels.contains(&text) {
        text.push('!');
    }
    text
}

/// Values in a cell: of a bin one on its lower cut and one just below the upper one.
fn representatives(input: &Input, cells: &Cells, cell: u32) -> Vec<Value> {
    let optional = |is: bool| match is && !input.required {
        true => vec![Value::Missing],
        false => Vec::new(),
    };
    match cells {
        Cells::Missing => optional(true),
        Cells::Part { .. } | Cells::Hashed { .. } => Vec::new(),
        Cells::Bins { cuts, missing } => {
            let (at, of_time) = (cell as usize, input.kind == ColumnKind::Time);
            let mut found = optional(*missing == Some(cell) && at > cuts.len());
            let on = at.checked_sub(1).and_then(|at| cuts.get(at)).copied();
            let below = cuts.get(at).map(|cut| cut.next_down());
            for x in [below, on].into_iter().flatten() {
                match of_time {
                    // Times are written to the second.
                    true => found.push(Value::Time((x * DAY).round())),
                    false => found.push(Value::Number(x)),
                }
            }
            found
        }
        Cells::Levels {
            cell_of_level,
            rare,
            missing,
        } => {
            let mut found = optional(*missing == Some(cell));
            if *rare == Some(cell) {
                found.push(Value::Text(unseen(input)));
            }
            let level = cell_of_level.iter().position(|of| *of == cell);
            found.extend(level.map(|level| Value::Text(input.levels[level].clone())));
            found
        }
    }
}

/// The scores that the model gives.
fn scores(model: &Model, program: &Program, rows: &[Vec<Value>]) -> Result<Vec<f64>> {
    let of_column = |j: usize| rows.iter().map(move |row| &row[j]);
    let position = |name: &str| program.columns.iter().position(|input| input.name == name);
    let FeatureMap::Columns(map) = &model.features else {
        let d = model.weights.len().max(model.names.len());
        let name = |j: usize| match model.names.get(j) {
            Some(name) => name.clone(),
            None => (j + 1).to_string(),
        };
        let at: Vec<Option<usize>> = (0..d).map(|j| position(&name(j))).collect();
        let value = |row: &[Value], at: &Option<usize>| match at.map(|at| &row[at]) {
            Some(Value::Number(x)) => *x,
            _ => 0.0,
        };
        let values = rows
            .iter()
            .flat_map(|row| at.iter().map(|at| value(row, at)));
        let dense = Dense::new(values.collect(), rows.len(), d)?;
        return model.scores(&Rows::Dense(dense));
    };
    let columns = map.columns.iter().map(|info| Column {
        name: info.name.clone(),
        values: match position(&info.name) {
            Some(j) => values(info.kind, of_column(j)),
            None => Values::Number(vec![f64::NAN; rows.len()].into()),
        },
    });
    let table = Table::new(columns.collect(), rows.len())?;
    model.scores_table(&table)
}

fn values<'a>(kind: ColumnKind, column: impl Iterator<Item = &'a Value>) -> Values {
    let number = |value: &Value| match value {
        Value::Number(x) | Value::Time(x) => *x,
        Value::Missing | Value::Text(_) => f64::NAN,
    };
    match kind {
        ColumnKind::Number => Values::Number(column.map(number).collect::<Vec<f64>>().into()),
        ColumnKind::Time => Values::Time(column.map(number).collect::<Vec<f64>>().into()),
        ColumnKind::Category => {
            let mut levels: Vec<String> = Vec::new();
            let code = |value: &Value| match value {
                Value::Text(text) => match levels.iter().position(|level| level == text) {
                    Some(at) => at as u32,
                    None => {
                        levels.push(text.clone());
                        levels.len() as u32 - 1
                    }
                },
                Value::Missing | Value::Number(_) | Value::Time(_) => MISSING,
            };
            let codes = column.map(code).collect();
            Values::Category {
                codes,
                levels: Arc::from(levels),
            }
        }
    }
}

/// `2013-01-31 05:00:00`, of a whole number of seconds.
fn iso_time(seconds: f64) -> String {
    let day = day_of(seconds);
    let (year, month, of_month) = civil(day);
    // A time beyond the last day is its last second.
    let of_day = (seconds - day as f64 * DAY).clamp(0.0, DAY - 1.0) as u32;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{of_month:02} {hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_they_are_read() {
        for (seconds, text) in [
            (0.0, "1970-01-01 00:00:00"),
            (951_782_400.0, "2000-02-29 00:00:00"),
            (1_357_017_420.0, "2013-01-01 05:17:00"),
            (-1.0, "1969-12-31 23:59:59"),
        ] {
            assert_eq!(iso_time(seconds), text);
        }
    }
}
