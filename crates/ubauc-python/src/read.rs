//! Readers.

use std::path::{Path, PathBuf};

use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ubauc::data::labels::Class;
use ubauc::data::rows::Rows;
use ubauc::read::{Format, ReadOptions, read};

use crate::error::Refused;
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
    let (parts, cols, labels) = detached(py, n_jobs, || {
        let (rows, labels) = svmlight(&path, zero_based)?;
        let cols = rows.cols();
        let csr = rows.into_csr()?;
        Ok((csr.into_parts(), cols, labels))
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
    Ok((
        indptr.into_pyarray(py),
        indices.into_pyarray(py),
        values.into_pyarray(py),
        cols,
        labels.into_pyarray(py),
    ))
}

/// The rows of a file, and their labels as numbers.
pub(crate) fn svmlight(path: &Path, zero_based: bool) -> Result<(Rows, Vec<f64>), Refused> {
    let options = ReadOptions {
        format: Some(Format::Svmlight),
        zero_based,
        ..ReadOptions::default()
    };
    let examples = read(path, &options)?;
    let classes = examples.labels.classes();
    let number = |&code: &u32| match classes[code as usize] {
        Class::Number(x) => x,
        Class::Text(_) => f64::NAN, // refused by the reader: svmlight has numbers
    };
    let labels = examples.labels.codes().iter().map(number).collect();
    Ok((examples.rows, labels))
}
