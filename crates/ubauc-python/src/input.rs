//! Arrays of numpy and scipy as rows of the library, without copying what need not be copied.
//!
//! | given | copied |
//! |---|---|
//! | float64, C order | nothing |
//! | CSR of float64 and int32 | the row starts |
//! | CSR of float64 and int64 | the row starts and the columns |
//!
//! Fit and command line store rows alike: dense if that takes less memory, else sparse. An array of mostly zeros is
//! therefore copied into less memory than it has, and every kind of input gives the same bits.

use std::marker::PhantomData;
use std::ops::Deref;

use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Binary;
use ubauc::data::rows::{Csr, Dense, Rows};

use crate::caller::{Caller, wait};
use crate::error::Refused;

/// A feature matrix as Python has it: a 2-D array, or anything with the attributes of a CSR matrix.
pub(crate) enum Matrix<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Csr {
        indptr: Vec<usize>,
        indices: Indices<'py>,
        values: PyReadonlyArray1<'py, f64>,
        cols: usize,
    },
}

pub(crate) enum Indices<'py> {
    Int32(PyReadonlyArray1<'py, i32>),
    Converted(Vec<u32>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Matrix<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Matrix<'py>> {
        if let Ok(array) = object.extract::<PyReadonlyArray2<'py, f64>>() {
            // A slice of an array in Fortran order would be its transpose, without a word.
            if !array.is_c_contiguous() {
                return Err(PyValueError::new_err("the array is not in C order"));
            }
            return Ok(Matrix::Dense(array));
        }
        let (rows, cols): (usize, usize) = object.getattr("shape")?.extract()?;
        let indptr = natural(&object.getattr("indptr")?, "row starts")?;
        if indptr.len() != rows + 1 {
            return Err(PyValueError::new_err("row starts do not fit the shape"));
        }
        let indices = object.getattr("indices")?;
        let indices = match indices.extract::<PyReadonlyArray1<'py, i32>>() {
            Ok(indices) if indices.is_c_contiguous() => Indices::Int32(indices),
            _ => Indices::Converted(natural(&indices, "columns")?),
        };
        let values: PyReadonlyArray1<'py, f64> = object.getattr("data")?.extract()?;
        values.as_slice()?;
        Ok(Matrix::Csr {
            indptr,
            indices,
            values,
            cols,
        })
    }
}

/// Integers that are none below 0 and fit.
fn natural<T: TryFrom<i64>>(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<T>> {
    let wrong = || PyValueError::new_err(format!("{what} of the CSR matrix are out of range"));
    let one = |x: i64| T::try_from(x).map_err(|_| wrong());
    if let Ok(array) = array.extract::<PyReadonlyArray1<'_, i32>>() {
        return array.as_array().iter().map(|&x| one(x.into())).collect();
    }
    match array.extract::<PyReadonlyArray1<'_, i64>>() {
        Ok(array) => array.as_array().iter().map(|&x| one(x)).collect(),
        Err(_) => Err(PyTypeError::new_err(format!(
            "{what} of the CSR matrix must be int32 or int64"
        ))),
    }
}

/// The numbers of a [`Matrix`], to be taken along without the GIL.
#[derive(Clone, Copy)]
pub(crate) enum Slices<'a> {
    Dense(&'a [f64], [usize; 2]),
    Csr(&'a [usize], &'a [u32], &'a [f64], usize),
}

impl Matrix<'_> {
    pub(crate) fn slices(&self) -> PyResult<Slices<'_>> {
        Ok(match self {
            Matrix::Dense(array) => {
                let &[rows, cols] = array.shape() else {
                    return Err(PyValueError::new_err("the array has not two dimensions"));
                };
                Slices::Dense(array.as_slice()?, [rows, cols])
            }
            Matrix::Csr {
                indptr,
                indices,
                values,
                cols,
            } => {
                let indices = match indices {
                    // A negative column becomes one above 2³¹, which is refused as too large.
                    Indices::Int32(indices) => bytemuck::cast_slice(indices.as_slice()?),
                    Indices::Converted(indices) => indices,
                };
                Slices::Csr(indptr, indices, values.as_slice()?, *cols)
            }
        })
    }
}

/// What the library made of numbers that belong to Python; not to outlive them.
pub(crate) struct Lent<'a, T> {
    inner: T,
    owner: PhantomData<&'a [f64]>,
}

impl<T> Deref for Lent<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<'a> Slices<'a> {
    /// The rows as they are: for scores, which do not depend on how rows are stored.
    pub(crate) fn rows(self) -> Result<Lent<'a, Rows>, Refused> {
        let inner = match self {
            Slices::Dense(values, [rows, cols]) => {
                Rows::Dense(Dense::lent(lend(values), rows, cols)?)
            }
            Slices::Csr(indptr, indices, values, cols) => {
                let (indices, values) = (lend(indices), lend(values));
                Rows::Csr(Csr::lent(indptr.to_vec(), indices, values, cols)?)
            }
        };
        let owner = PhantomData;
        Ok(Lent { inner, owner })
    }

    /// The rows as the command line stores them: what is learned of them has the same bits.
    pub(crate) fn smaller_rows(self) -> Result<Lent<'a, Rows>, Refused> {
        let inner = match self.rows()?.inner {
            Rows::Dense(dense) => Rows::smaller_of_dense(dense),
            Rows::Csr(csr) => Rows::smaller(csr),
            coded @ Rows::Coded(_) => coded,
        };
        let owner = PhantomData;
        Ok(Lent { inner, owner })
    }

    /// Examples of two classes, stored likewise.
    pub(crate) fn dataset(
        self,
        positive: &[bool],
        names: [String; 2],
    ) -> Result<Lent<'a, Dataset>, Refused> {
        let rows = self.smaller_rows()?.inner;
        let labels = two_classes(positive, names);
        let inner = Dataset::new(rows, labels, Vec::new())?;
        let owner = PhantomData;
        Ok(Lent { inner, owner })
    }
}

/// Which examples are positive, and what the data calls both classes.
pub(crate) fn two_classes(positive: &[bool], names: [String; 2]) -> Binary {
    let n_pos = positive.iter().filter(|p| **p).count();
    Binary {
        positive: positive.to_vec(),
        n_pos,
        n_neg: positive.len() - n_pos,
        names,
    }
}

/// Rows with the array that they lie in, if that is Python's.
pub(crate) struct Kept {
    rows: Rows,
    _array: Option<Py<PyArray2<f64>>>,
}

impl Deref for Kept {
    type Target = Rows;
    fn deref(&self) -> &Rows {
        &self.rows
    }
}

impl From<Rows> for Kept {
    fn from(rows: Rows) -> Kept {
        let _array = None;
        Kept { rows, _array }
    }
}

impl Kept {
    /// Of an array the numbers stay where they are, of a CSR matrix they are copied.
    pub(crate) fn of(py: Python<'_>, x: &Matrix<'_>) -> PyResult<Kept> {
        let slices = x.slices()?;
        let rows = detached(py, 1, || match slices {
            Slices::Dense(..) => Ok(slices.rows()?.inner),
            Slices::Csr(indptr, indices, values, cols) => {
                let (indices, values) = (indices.to_vec(), values.to_vec());
                Ok(Rows::Csr(Csr::new(indptr.to_vec(), indices, values, cols)?))
            }
        })?;
        let _array = match x {
            Matrix::Dense(array) => Some((**array).clone().unbind()),
            Matrix::Csr { .. } => None,
        };
        Ok(Kept { rows, _array })
    }
}

/// Lets the library, whose rows have no lifetime, look at numbers that are only there for `'a`.
#[expect(unsafe_code, reason = "the alternative is a copy of all features")]
fn lend<T>(numbers: &[T]) -> &'static [T] {
    // SAFETY: the slice goes into rows that `Lent<'a, _>` or `Kept` keep, and both hand out references only. No result of
    // the library holds rows: those of `Lent` are gone when the call from Python, which holds the arrays, ends, and `Kept`
    // holds the array itself, whose memory numpy neither moves nor frees as long as there is a reference to it.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr(), numbers.len()) }
}

/// Runs `work` on this many threads of its own, without the GIL, until it ends or is interrupted (`caller.rs`). Threads that
/// stayed would be missing after a fork.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    n_jobs: usize,
    work: impl FnOnce() -> Result<T, Refused> + Send,
) -> PyResult<T> {
    py.detach(|| {
        let (caller, inbox) = Caller::new();
        let theirs = caller.clone();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_jobs.max(1));
        let pool = pool
            .start_handler(move |_| theirs.introduce())
            .build()
            .map_err(|error| PyValueError::new_err(format!("n_jobs = {n_jobs}: {error}")))?;
        wait(&pool, &caller, &inbox, work)
    })
}
