//! Rows of one partition of remote data, and the online learner on them.

use std::path::PathBuf;

use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use ubauc::data::rows::{Coded, CodedShape, Csr, Dense, Rows};

use crate::error::Refused;
use crate::input::{Kept, Matrix, detached};
use crate::learner::{Learner, learn_one, try_eta0};
use crate::model::ModelFields;

type Numbers<'py> = PyReadonlyArray1<'py, f64>;

/// Rows of one partition.
#[pyclass(frozen, module = "ubauc._core")]
pub(crate) struct Part {
    pub(crate) rows: Kept,
}

/// Examples, and of each feature the sum and how often it is not 0.
type Moments<'py> = (u64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u64>>);

#[pymethods]
impl Part {
    /// An array, which is to stay as it is, or a copy of a CSR matrix. A partition that is copied takes as long to load
    /// as half of the rounds of a fit, since fresh memory is slow to come by.
    #[new]
    fn new(py: Python<'_>, x: Matrix<'_>) -> PyResult<Part> {
        let rows = Kept::of(py, &x)?;
        Ok(Part { rows })
    }

    /// An svmlight file, and its labels.
    #[staticmethod]
    fn read_svmlight(
        py: Python<'_>,
        path: PathBuf,
        zero_based: bool,
    ) -> PyResult<(Part, Bound<'_, PyArray1<f64>>)> {
        let (rows, labels) = detached(py, 1, || crate::read::svmlight(&path, zero_based))?;
        let rows = rows.into();
        Ok((Part { rows }, labels.into_pyarray(py)))
    }

    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.rows.cols())
    }

    /// The memory it takes.
    #[getter]
    fn nbytes(&self) -> usize {
        match &*self.rows {
            Rows::Dense(dense) => 8 * dense.values().len(),
            Rows::Csr(csr) => 12 * csr.values().len() + 8 * csr.indptr().len(),
            Rows::Coded(coded) => coded.bytes(),
        }
    }

    /// Its numbers that are not 0.
    #[getter]
    fn stored(&self, py: Python<'_>) -> usize {
        py.detach(|| match &*self.rows {
            Rows::Dense(dense) => dense.values().iter().filter(|x| **x != 0.0).count(),
            Rows::Csr(csr) => csr.values().len(),
            Rows::Coded(coded) => coded.stored(),
        })
    }

    fn __sizeof__(&self) -> usize {
        self.nbytes()
    }

    /// The numbers themselves, for `of_dense`, `of_csr` or `of_coded`: a part may move from one worker to another.
    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (len, cols) = (self.rows.len(), self.rows.cols());
        match &*self.rows {
            Rows::Dense(dense) => {
                (PyArray1::from_slice(py, dense.values()), len, cols).into_pyobject(py)
            }
            Rows::Csr(csr) => {
                let indptr: Vec<u64> = csr.indptr().iter().map(|&x| x as u64).collect();
                let indices = PyArray1::from_slice(py, csr.indices());
                let values = PyArray1::from_slice(py, csr.values());
                (indptr.into_pyarray(py), indices, values, cols).into_pyobject(py)
            }
            Rows::Coded(coded) => {
                let values = coded.all_values().into_pyarray(py);
                let codes = coded.all_codes().to_vec().into_pyarray(py);
                (values, codes, len, cols, coded.shape().numbers).into_pyobject(py)
            }
        }
    }

    #[staticmethod]
    fn of_dense(values: Numbers<'_>, rows: usize, cols: usize) -> PyResult<Part> {
        let dense = Dense::new(values.to_vec()?, rows, cols).map_err(Refused::from)?;
        let rows = Rows::Dense(dense).into();
        Ok(Part { rows })
    }

    #[staticmethod]
    fn of_csr(
        indptr: PyReadonlyArray1<'_, u64>,
        indices: PyReadonlyArray1<'_, u32>,
        values: Numbers<'_>,
        cols: usize,
    ) -> PyResult<Part> {
        let indptr: Vec<usize> = indptr.to_vec()?.into_iter().map(|x| x as usize).collect();
        let csr = Csr::new(indptr, indices.to_vec()?, values.to_vec()?, cols);
        let rows = Rows::Csr(csr.map_err(Refused::from)?).into();
        Ok(Part { rows })
    }

    #[staticmethod]
    fn of_coded(
        values: Numbers<'_>,
        codes: PyReadonlyArray1<'_, u32>,
        rows: usize,
        cols: usize,
        numbers: usize,
    ) -> PyResult<Part> {
        let codes = codes.to_vec()?;
        let shape = CodedShape {
            rows,
            numbers,
            codes: codes.len().checked_div(rows).unwrap_or(0),
            cols,
        };
        let coded = Coded::new(values.to_vec()?, codes, shape);
        let rows = Rows::Coded(coded.map_err(Refused::from)?).into();
        Ok(Part { rows })
    }

    /// Of the rows of a weight above 0: how many, the sum of each feature, and how often it is not 0.
    fn moments<'py>(
        &self,
        py: Python<'py>,
        weights: Option<Numbers<'py>>,
    ) -> PyResult<Moments<'py>> {
        let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
        let rows = &*self.rows;
        if weights.is_some_and(|weights| weights.len() != rows.len()) {
            return Err(PyValueError::new_err("the weights do not fit the rows"));
        }
        let (examples, sum, count) = detached(py, 1, || {
            let (mut sum, mut count) = (vec![0.0; rows.cols()], vec![0; rows.cols()]);
            let mut examples = 0;
            for i in (0..rows.len()).filter(|&i| weights.is_none_or(|weights| weights[i] > 0.0)) {
                examples += 1;
                for (j, x) in rows.row(i).entries().filter(|entry| entry.1 != 0.0) {
                    sum[j] += x;
                    count[j] += 1;
                }
            }
            Ok((examples, sum, count))
        })?;
        Ok((examples, sum.into_pyarray(py), count.into_pyarray(py)))
    }

    /// The score of every row.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        model: ModelFields<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (model, rows) = (model.model()?, &*self.rows);
        let scores = detached(py, 1, || Ok(model.scores(rows)?))?;
        Ok(scores.into_pyarray(py))
    }
}

/// Learns the examples of a part in this order.
#[pyfunction]
pub(crate) fn learn_part<'py>(
    py: Python<'py>,
    mut learner: PyRefMut<'py, Learner>,
    part: &Part,
    positive: PyReadonlyArray1<'py, bool>,
    weights: Option<Numbers<'py>>,
    order: PyReadonlyArray1<'py, i64>,
) -> PyResult<()> {
    let (positive, order) = (positive.as_slice()?, order.as_slice()?);
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let (rows, learner) = (&*part.rows, &mut learner.0);
    let fit = weights.is_none_or(|w| w.len() == rows.len());
    let order = checked_order(rows, positive, order, fit)?;
    detached(py, 1, || {
        for i in order {
            learn_one(learner, rows, i, positive, weights)?;
        }
        Ok(())
    })
}

/// η₀ by trial on the first of the examples of a part in this order.
#[pyfunction]
pub(crate) fn find_eta0_of_part<'py>(
    py: Python<'py>,
    mut learner: PyRefMut<'py, Learner>,
    part: &Part,
    positive: PyReadonlyArray1<'py, bool>,
    order: PyReadonlyArray1<'py, i64>,
) -> PyResult<()> {
    let (positive, order) = (positive.as_slice()?, order.as_slice()?);
    let (rows, learner) = (&*part.rows, &mut learner.0);
    let order = checked_order(rows, positive, order, true)?;
    detached(py, 1, || try_eta0(learner, rows, order, positive))
}

fn checked_order<'a>(
    rows: &Rows,
    positive: &[bool],
    order: &'a [i64],
    fit: bool,
) -> PyResult<impl Iterator<Item = usize> + Send + use<'a>> {
    let n = rows.len();
    let within = |&i: &i64| usize::try_from(i).is_ok_and(|i| i < n);
    if !fit || positive.len() != n || !order.iter().all(within) {
        let what = "labels, weights or order do not fit the rows";
        return Err(PyValueError::new_err(what));
    }
    Ok(order.iter().map(|&i| i as usize))
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Part>()?;
    module.add_function(wrap_pyfunction!(learn_part, module)?)?;
    module.add_function(wrap_pyfunction!(find_eta0_of_part, module)?)
}
