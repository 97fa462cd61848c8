//! Columns of data frames as the library takes them, without copying more than need be.
//!
//! A column is `(kind, values, levels)`: float64 numbers or seconds with NaN where the value is missing, or int32 codes,
//! below 0 where it is missing, with the texts that they stand for. A category of numbers comes as the numbers, without
//! levels: each stands for its shortest text, 7 and 7.0 for `7`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use numpy::ndarray::{ArrayView1, s};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use ubauc::data::table::{Column, MISSING, Table, Values};

use crate::error::unknown;
use crate::input::detached;
use crate::model::ModelFields;

/// The values of a column as Python has them.
#[derive(FromPyObject)]
pub(crate) enum Array<'py> {
    Floats(PyReadonlyArray1<'py, f64>),
    Codes(PyReadonlyArray1<'py, i32>),
}

/// Kind, values and levels.
pub(crate) type ColumnFields<'py> = (String, Array<'py>, Option<Vec<String>>);

/// A column whose values are still Python's.
pub(crate) struct LentColumn<'a> {
    name: String,
    values: LentValues<'a>,
}

enum LentValues<'a> {
    Numbers(ArrayView1<'a, f64>),
    Times(ArrayView1<'a, f64>),
    /// Each a level.
    Levels(ArrayView1<'a, f64>),
    Codes(ArrayView1<'a, i32>, Arc<[String]>),
}

pub(crate) fn lent_columns<'a>(
    names: Vec<String>,
    columns: &'a [ColumnFields<'_>],
    rows: usize,
) -> PyResult<Vec<LentColumn<'a>>> {
    if names.len() != columns.len() {
        let (n, d) = (names.len(), columns.len());
        return Err(PyValueError::new_err(format!("{n} names for {d} columns")));
    }
    let lent = |(name, (kind, array, levels)): (String, &'a ColumnFields<'_>)| {
        let values = match (kind.as_str(), array, levels) {
            ("number", Array::Floats(x), None) => LentValues::Numbers(x.as_array()),
            ("time", Array::Floats(x), None) => LentValues::Times(x.as_array()),
            ("category", Array::Floats(x), None) => LentValues::Levels(x.as_array()),
            ("category", Array::Codes(codes), Some(levels)) => {
                LentValues::Codes(codes.as_array(), levels.as_slice().into())
            }
            (kind, ..) => {
                let known = "number, time or category, with values of that kind";
                return Err(unknown("kind of a column", kind, known));
            }
        };
        match values.len() == rows {
            true => Ok(LentColumn { name, values }),
            false => Err(PyValueError::new_err(format!(
                "column '{name}' has {} values for {rows} rows",
                values.len()
            ))),
        }
    };
    names.into_iter().zip(columns).map(lent).collect()
}

impl LentValues<'_> {
    fn len(&self) -> usize {
        match self {
            LentValues::Numbers(x) | LentValues::Times(x) | LentValues::Levels(x) => x.len(),
            LentValues::Codes(codes, _) => codes.len(),
        }
    }
}

impl LentColumn<'_> {
    /// A copy of some rows.
    fn values(&self, rows: Range<usize>) -> ubauc::Result<Values> {
        let finite = |x: &ArrayView1<'_, f64>| {
            let values = x.slice(s![rows.clone()]).to_vec();
            match values.iter().position(|x| x.is_infinite()) {
                None => Ok(values),
                Some(row) => Err(self.infinite(rows.start + row)),
            }
        };
        Ok(match &self.values {
            LentValues::Numbers(x) => Values::Number(finite(x)?.into()),
            LentValues::Times(x) => Values::Time(finite(x)?.into()),
            LentValues::Levels(x) => levels_of_numbers(&finite(x)?),
            LentValues::Codes(codes, levels) => Values::Category {
                codes: (codes.slice(s![rows]).iter())
                    .map(|&code| u32::try_from(code).unwrap_or(MISSING))
                    .collect(),
                levels: levels.clone(),
            },
        })
    }

    fn infinite(&self, row: usize) -> ubauc::Error {
        let name = &self.name;
        ubauc::Error::Rows(Box::new(PyValueError::new_err(format!(
            "Input X contains infinity: column '{name}', row {row}; expected a finite number, or NaN where it is missing"
        ))))
    }
}

/// Some rows of columns.
pub(crate) fn table_of(columns: &[LentColumn<'_>], rows: Range<usize>) -> ubauc::Result<Table> {
    let column = |lent: &LentColumn<'_>| {
        Ok(Column {
            name: lent.name.clone(),
            values: lent.values(rows.clone())?,
        })
    };
    let columns = columns.iter().map(column).collect::<ubauc::Result<_>>()?;
    Table::new(columns, rows.len())
}

/// Every number a level.
fn levels_of_numbers(numbers: &[f64]) -> Values {
    let mut code_of_bits: HashMap<u64, u32> = HashMap::new();
    let mut levels = Vec::new();
    let mut code = |&x: &f64| {
        if x.is_nan() {
            return MISSING;
        }
        let x = x + 0.0; // −0 is 0
        *code_of_bits.entry(x.to_bits()).or_insert_with(|| {
            levels.push(x.to_string());
            levels.len() as u32 - 1
        })
    };
    let codes = numbers.iter().map(&mut code).collect();
    Values::Category {
        codes,
        levels: Arc::from(levels),
    }
}

/// Rows that are copied and scored at a time; few enough for the copy to stay in the cache.
const PIECE: usize = 1 << 14;

/// The score of every row of columns that are Python's, of which only a few rows are copied at a time.
#[pyfunction]
fn scores_columns<'py>(
    py: Python<'py>,
    names: Vec<String>,
    columns: Vec<ColumnFields<'py>>,
    rows: usize,
    model: ModelFields<'py>,
    n_jobs: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let model = model.model()?;
    let columns = lent_columns(names, &columns, rows)?;
    let levels = columns.iter().map(|column| match &column.values {
        LentValues::Codes(_, levels) => levels.len(),
        _ => 0,
    });
    // Every piece looks for the levels of its rows.
    let piece = levels.max().unwrap_or(0).max(PIECE);
    let scores = detached(py, n_jobs, || {
        let mut scores = vec![0.0; rows];
        let pieces: Vec<ubauc::Result<()>> = (scores.par_chunks_mut(piece).enumerate())
            .map(|(k, out)| {
                let of_piece = table_of(&columns, k * piece..k * piece + out.len())?;
                out.copy_from_slice(&model.scores_table(&of_piece)?);
                Ok(())
            })
            .collect();
        // The first that is wrong, whatever the order in which they ended.
        pieces.into_iter().collect::<ubauc::Result<()>>()?;
        Ok(scores)
    })?;
    Ok(scores.into_pyarray(py))
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(scores_columns, module)?)
}
