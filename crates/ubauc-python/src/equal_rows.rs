//! Rows that are equal in every feature, counted where they are.

use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ubauc::tune::{self, EqualRows};

use crate::input::detached;
use crate::part::Part;

/// Hashes, how many rows are of each, and whether there are more kinds.
type Fields<'py> = (PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, u64>, bool);
type Arrays<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>, bool);

fn kinds((hashes, counts, is_partial): &Fields<'_>) -> PyResult<EqualRows> {
    let (hashes, counts) = (hashes.as_slice()?, counts.as_slice()?);
    let pairs = hashes.iter().copied().zip(counts.iter().copied());
    Ok(EqualRows::new(pairs.collect(), *is_partial))
}

fn arrays<'py>(py: Python<'py>, kinds: &EqualRows) -> Arrays<'py> {
    let (hashes, counts): (Vec<u64>, Vec<u64>) = kinds.counts().iter().copied().unzip();
    (
        hashes.to_pyarray(py),
        counts.to_pyarray(py),
        kinds.is_partial(),
    )
}

/// The kinds of those rows of a part that count: all if they are few, the large ones, or those of some hashes.
#[pyfunction]
#[pyo3(signature = (part, counted, cols, hashes=None))]
fn equal_rows_of_part<'py>(
    py: Python<'py>,
    part: &Part,
    counted: PyReadonlyArray1<'py, bool>,
    cols: usize,
    hashes: Option<PyReadonlyArray1<'py, u64>>,
) -> PyResult<Arrays<'py>> {
    let (rows, counted) = (&*part.rows, counted.as_slice()?);
    if counted.len() != rows.len() {
        return Err(PyValueError::new_err("the flags do not fit the rows"));
    }
    let hashes = hashes.as_ref().map(|h| h.as_slice()).transpose()?;
    let found = detached(py, 1, || {
        let of: Vec<usize> = (0..rows.len()).filter(|&i| counted[i]).collect();
        let all = EqualRows::of(rows, &of);
        Ok(match hashes {
            None => all.common(cols),
            Some(hashes) => all.among(hashes),
        })
    })?;
    Ok(arrays(py, &found))
}

/// The kinds of all parts.
#[pyfunction]
fn merged_equal_rows<'py>(py: Python<'py>, parts: Vec<Fields<'py>>) -> PyResult<Arrays<'py>> {
    let parts: Vec<EqualRows> = parts.iter().map(kinds).collect::<PyResult<_>>()?;
    Ok(arrays(py, &EqualRows::merged(parts)))
}

/// How many rows of these kinds may be tied for being equal.
#[pyfunction]
fn unavoidable(of: Fields<'_>, cols: usize) -> PyResult<usize> {
    Ok(kinds(&of)?.unavoidable(cols))
}

/// How many of n rows may be tied at the threshold before a model counts as collapsed.
#[pyfunction]
fn most_tied(n: usize, cols: usize, unavoidable: usize) -> usize {
    tune::most_tied_of(n, cols, unavoidable)
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(equal_rows_of_part, module)?)?;
    module.add_function(wrap_pyfunction!(merged_equal_rows, module)?)?;
    module.add_function(wrap_pyfunction!(unavoidable, module)?)?;
    module.add_function(wrap_pyfunction!(most_tied, module)?)
}
