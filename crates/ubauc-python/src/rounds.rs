//! The batch solver over rows that are elsewhere: Python carries the questions and brings the answers.
//!
//! A `Part` is rows of one partition, a `Shard` what the solver keeps for each of them. The solver runs where `fit_rounds`
//! is called and asks a Python function, which has every shard answer; a `Shard` that was lost is made anew and told
//! again what changed it.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;

use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use ubauc::data::rows::{Csr, Dense, Rows};
use ubauc::solver::ba_ubauc::path::Path;
use ubauc::solver::ba_ubauc::{BaUbaucParams, Given, TracePoint};
use ubauc::solver::shards::{Round, Source, add_all};

use crate::error::Refused;
use crate::fit::{Common, batch_answer};
use crate::input::{Matrix, Slices, detached};

type Numbers<'py> = PyReadonlyArray1<'py, f64>;

/// Rows of one partition, owned.
#[pyclass(frozen, module = "ubauc._core")]
pub(crate) struct Part {
    rows: Rows,
}

#[pymethods]
impl Part {
    /// A copy of an array or a CSR matrix.
    #[new]
    fn new(py: Python<'_>, x: Matrix<'_>) -> PyResult<Part> {
        let x = x.slices()?;
        let rows = detached(py, 1, || {
            Ok(match x {
                Slices::Dense(values, [rows, cols]) => {
                    Rows::Dense(Dense::new(values.to_vec(), rows, cols)?)
                }
                Slices::Csr(indptr, indices, values, cols) => {
                    let (indices, values) = (indices.to_vec(), values.to_vec());
                    Rows::Csr(Csr::new(indptr.to_vec(), indices, values, cols)?)
                }
            })
        })?;
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
        Ok((Part { rows }, labels.into_pyarray(py)))
    }

    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.rows.cols())
    }

    /// The memory it takes.
    #[getter]
    fn nbytes(&self) -> usize {
        match &self.rows {
            Rows::Dense(dense) => 8 * dense.values().len(),
            Rows::Csr(csr) => 12 * csr.values().len() + 8 * csr.indptr().len(),
        }
    }

    fn __sizeof__(&self) -> usize {
        self.nbytes()
    }

    /// By the numbers themselves, as bytes: a part may move from one worker to another.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let class = py.get_type::<Part>();
        let (len, cols) = (self.rows.len(), self.rows.cols());
        match &self.rows {
            Rows::Dense(dense) => {
                let values = PyArray1::from_slice(py, dense.values());
                let args = (values, len, cols);
                (class.getattr("_of_dense")?, args).into_pyobject(py)
            }
            Rows::Csr(csr) => {
                let indptr: Vec<u64> = csr.indptr().iter().map(|&x| x as u64).collect();
                let indptr = indptr.into_pyarray(py);
                let indices = PyArray1::from_slice(py, csr.indices());
                let values = PyArray1::from_slice(py, csr.values());
                let args = (indptr, indices, values, cols);
                (class.getattr("_of_csr")?, args).into_pyobject(py)
            }
        }
    }

    #[staticmethod]
    fn _of_dense(values: Numbers<'_>, rows: usize, cols: usize) -> PyResult<Part> {
        let dense = Dense::new(values.to_vec()?, rows, cols).map_err(Refused::from)?;
        let rows = Rows::Dense(dense);
        Ok(Part { rows })
    }

    #[staticmethod]
    fn _of_csr(
        indptr: PyReadonlyArray1<'_, u64>,
        indices: PyReadonlyArray1<'_, u32>,
        values: Numbers<'_>,
        cols: usize,
    ) -> PyResult<Part> {
        let indptr: Vec<usize> = indptr.to_vec()?.into_iter().map(|x| x as usize).collect();
        let csr = Csr::new(indptr, indices.to_vec()?, values.to_vec()?, cols);
        let rows = Rows::Csr(csr.map_err(Refused::from)?);
        Ok(Part { rows })
    }

    /// w·x + b of every row.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        weights: Numbers<'py>,
        intercept: f64,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let weights = weights.as_slice()?;
        let scores = detached(py, 1, || {
            Ok(ubauc::model::scores(weights, intercept, &self.rows))
        })?;
        Ok(scores.into_pyarray(py))
    }
}

/// What the solver keeps for the rows of a part.
#[pyclass(frozen, module = "ubauc._core")]
pub(crate) struct Shard {
    inner: Mutex<ubauc::solver::shards::Shard>,
    len: usize,
}

#[pymethods]
impl Shard {
    /// With d columns; `weights` at least 0.
    #[new]
    fn new(
        part: &Part,
        cols: usize,
        positive: PyReadonlyArray1<'_, bool>,
        weights: Option<Numbers<'_>>,
    ) -> PyResult<Shard> {
        let len = part.rows.len();
        let positive = positive.as_slice()?;
        let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
        let right = positive.len() == len && weights.is_none_or(|w| w.len() == len);
        let fits = match &part.rows {
            Rows::Dense(_) => part.rows.cols() == cols,
            Rows::Csr(_) => part.rows.cols() <= cols,
        };
        if !right || !fits {
            let what = "labels, weights or columns do not fit the rows";
            return Err(PyValueError::new_err(what));
        }
        let span: Range<usize> = 0..len;
        let inner = ubauc::solver::shards::Shard::new(span, cols, positive, weights);
        let inner = Mutex::new(inner);
        Ok(Shard { inner, len })
    }

    /// The answers to a round of questions about the rows of `part`.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        part: &Part,
        round: Numbers<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let round = Round::from_numbers(round.as_slice()?).map_err(Refused::from)?;
        if part.rows.len() != self.len {
            return Err(PyValueError::new_err("not the part of this shard"));
        }
        let answers = py.detach(|| {
            let mut shard = match self.inner.lock() {
                Ok(shard) => shard,
                Err(poisoned) => poisoned.into_inner(),
            };
            shard.answer(&part.rows, &round.0)
        });
        Ok(answers.into_pyarray(py))
    }
}

/// What of a round a shard that was lost must be told again; nothing if there is nothing.
#[pyfunction]
pub(crate) fn changes<'py>(
    py: Python<'py>,
    round: Numbers<'py>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let round = Round::from_numbers(round.as_slice()?).map_err(Refused::from)?;
    Ok(round.changes().to_numbers().into_pyarray(py))
}

/// Shards that a Python function asks.
struct Elsewhere {
    /// Called with a round; gives the answer of each shard, in their order.
    ask: Py<PyAny>,
}

impl Elsewhere {
    fn each(&self, round: &Round) -> PyResult<Vec<Vec<f64>>> {
        Python::attach(|py| {
            let numbers = round.to_numbers().into_pyarray(py);
            let answers = self.ask.bind(py).call1((numbers,))?;
            answers
                .try_iter()?
                .map(|answer| {
                    let answer: Numbers<'_> = answer?.extract()?;
                    Ok(answer.to_vec()?)
                })
                .collect()
        })
    }
}

impl Source for Elsewhere {
    fn sum(&mut self, round: &Round) -> ubauc::Result<Vec<f64>> {
        let parts = self.collect(round)?;
        let len = parts.first().map_or(0, Vec::len);
        if parts.is_empty() || parts.iter().any(|part| part.len() != len) {
            let what = "the shards answer differently: is it one version of ubauc everywhere?";
            return Err(ubauc::Error::Numerical { what });
        }
        Ok(add_all(parts))
    }

    fn collect(&mut self, round: &Round) -> ubauc::Result<Vec<Vec<f64>>> {
        let failed = |error: PyErr| ubauc::Error::Rows(Box::new(error));
        self.each(round).map_err(failed)
    }

    fn far(&self) -> bool {
        true
    }
}

/// ba-UBAUC on shards that `ask` asks, one fit after the other: each starts where the last one ended.
#[pyclass(frozen, module = "ubauc._core")]
pub(crate) struct Rounds {
    path: Mutex<Path<'static>>,
    cols: usize,
    params: Common,
}

#[pymethods]
impl Rounds {
    #[new]
    fn new(py: Python<'_>, ask: Py<PyAny>, cols: usize, params: Common) -> PyResult<Rounds> {
        let kind = params.least_squares()?.unwrap_or_default();
        let scale = params.scale()?;
        let path = py.detach(|| {
            let source = Box::new(Elsewhere { ask });
            let given = Given::default();
            let names = &params.classes;
            Path::of_source(source, cols, names, &given, scale, kind, params.intercept)
        });
        let path = path.map_err(Refused::from)?;
        let path = Mutex::new(path);
        Ok(Rounds { path, cols, params })
    }

    /// The minimum at β and γ; `start` is where to begin, at the first fit.
    #[pyo3(signature = (beta, gamma, tolerance, start=None))]
    fn fit<'py>(
        &self,
        py: Python<'py>,
        beta: f64,
        gamma: f64,
        tolerance: f64,
        start: Option<Numbers<'py>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let used = BaUbaucParams {
            beta,
            gamma,
            least_squares: self.params.least_squares()?.unwrap_or_default(),
            intercept: self.params.intercept,
            tolerance,
            max_newton: self.params.max_iter,
        };
        let start = start.map(|start| start.to_vec()).transpose()?;
        // On this very thread, which is the one that hears of signals while it waits for answers.
        let fitted = py.detach(|| {
            let mut path = match self.path.lock() {
                Ok(path) => path,
                Err(poisoned) => poisoned.into_inner(),
            };
            let tell = |p: &TracePoint| self.params.tell(p.newton, p.objective, p.gap);
            let fit = path.fit_from(&used, start.as_deref(), Some(&tell))?;
            let most = ubauc::tune::most_tied_of(path.examples(), self.cols);
            let collapsed = fit.tied > most;
            Ok((fit, collapsed))
        });
        let (fit, collapsed) = fitted.map_err(|error: ubauc::Error| Refused::from(error))?;
        batch_answer(py, &fit, &used, collapsed)
    }
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Part>()?;
    module.add_class::<Shard>()?;
    module.add_class::<Rounds>()?;
    module.add_function(wrap_pyfunction!(changes, module)?)
}
