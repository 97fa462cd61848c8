//! Readers.

use std::path::PathBuf;

use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ubauc::data::labels::Class;
use ubauc::data::rows::Rows;
use ubauc::read::{Format, ReadOptions, read};

use crate::input::detached;

/// Row starts, columns, values, number of columns; labels.
type Arrays<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<f64>>,
    usize,
    Bound<'py, PyArray1<f64>>,
);

/// svmlight as the arrays of a CSR matrix.
#[pyfunction]
pub(crate) fn load_svmlight(
    py: Python<'_>,
    path: PathBuf,
    zero_based: bool,
    n_jobs: usize,
) -> PyResult<Arrays<'_>> {
    let options = ReadOptions {
        format: Some(Format::Svmlight),
        zero_based,
        ..ReadOptions::default()
    };
    let (parts, cols, labels) = detached(py, n_jobs, || {
        let examples = read(&path, &options)?;
        let cols = examples.rows.cols();
        let csr = match examples.rows {
            Rows::Csr(csr) => csr,
            Rows::Dense(dense) => dense.to_csr()?,
        };
        Ok((csr.into_parts(), cols, examples.labels))
    })?;
    let (indptr, indices, values) = parts;
    if cols > i32::MAX as usize {
        return Err(PyValueError::new_err(format!(
            "{}: {cols} columns; at most {} are possible here",
            path.display(),
            i32::MAX
        )));
    }
    let indptr: Vec<i64> = indptr.into_iter().map(|start| start as i64).collect();
    let indices: Vec<i32> = bytemuck::allocation::cast_vec(indices);
    let number = |&code: &u32| match labels.classes()[code as usize] {
        Class::Number(x) => x,
        Class::Text(_) => f64::NAN, // refused by the reader: svmlight has numbers
    };
    let labels: Vec<f64> = labels.codes().iter().map(number).collect();
    Ok((
        indptr.into_pyarray(py),
        indices.into_pyarray(py),
        values.into_pyarray(py),
        cols,
        labels.into_pyarray(py),
    ))
}
