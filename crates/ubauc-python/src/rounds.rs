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
use ubauc::objective::ubauc::LeastSquares;
use ubauc::solver::ba_ubauc::path::Path;
use ubauc::solver::ba_ubauc::{BaUbaucParams, Given, TracePoint};
use ubauc::solver::ol_ubauc::eta0;
use ubauc::solver::shards::{Round, Source, add_all};
use ubauc::tune::{CrossValidated, Point, TuneParams, best_of};

use crate::error::Refused;
use crate::fit::{Common, batch_answer, name};
use crate::input::{Matrix, Slices, detached};
use crate::learner::Learner;

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

    /// The numbers themselves, for `of_dense` or `of_csr`: a part may move from one worker to another.
    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (len, cols) = (self.rows.len(), self.rows.cols());
        match &self.rows {
            Rows::Dense(dense) => {
                (PyArray1::from_slice(py, dense.values()), len, cols).into_pyobject(py)
            }
            Rows::Csr(csr) => {
                let indptr: Vec<u64> = csr.indptr().iter().map(|&x| x as u64).collect();
                let indices = PyArray1::from_slice(py, csr.indices());
                let values = PyArray1::from_slice(py, csr.values());
                (indptr.into_pyarray(py), indices, values, cols).into_pyobject(py)
            }
        }
    }

    #[staticmethod]
    fn of_dense(values: Numbers<'_>, rows: usize, cols: usize) -> PyResult<Part> {
        let dense = Dense::new(values.to_vec()?, rows, cols).map_err(Refused::from)?;
        let rows = Rows::Dense(dense);
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

/// Whether a round is answered with matrices.
#[pyfunction]
pub(crate) fn asks_for_matrix(round: Numbers<'_>) -> PyResult<bool> {
    let round = Round::from_numbers(round.as_slice()?).map_err(Refused::from)?;
    Ok(round.asks_for_matrix())
}

/// Shards that a Python function asks.
struct Elsewhere {
    /// Called with a round, and whether the answers will be added: gives the answer of each shard, in their order, or their
    /// sum in that order.
    ask: Py<PyAny>,
}

impl Elsewhere {
    fn each(&self, round: &Round, add: bool) -> PyResult<Vec<Vec<f64>>> {
        Python::attach(|py| {
            let numbers = round.to_numbers().into_pyarray(py);
            let answers = self.ask.bind(py).call1((numbers, add))?;
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

fn raised(error: PyErr) -> ubauc::Error {
    ubauc::Error::Rows(Box::new(error))
}

impl Source for Elsewhere {
    fn sum(&mut self, round: &Round) -> ubauc::Result<Vec<f64>> {
        let parts = self.each(round, true).map_err(raised)?;
        let len = parts.first().map_or(0, Vec::len);
        if parts.is_empty() || parts.iter().any(|part| part.len() != len) {
            let what = "the shards answer differently: is it one version of ubauc everywhere?";
            return Err(ubauc::Error::Numerical { what });
        }
        Ok(add_all(parts))
    }

    fn collect(&mut self, round: &Round) -> ubauc::Result<Vec<Vec<f64>>> {
        self.each(round, false).map_err(raised)
    }

    fn far(&self) -> bool {
        true
    }
}

/// ba-UBAUC on shards that `ask` asks, one fit after the other: each starts where the last one ended.
#[pyclass(frozen, module = "ubauc._core")]
pub(crate) struct Rounds {
    /// None after a fit that failed: what the shards were told is then not known.
    path: Mutex<Option<Path<'static>>>,
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
        let path = Mutex::new(Some(path));
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
            let mut kept = match self.path.lock() {
                Ok(kept) => kept,
                Err(poisoned) => poisoned.into_inner(),
            };
            let mut path = kept.take().ok_or(ubauc::Error::Numerical {
                what: "a fit of these rounds has failed, or is under way",
            })?;
            let heard = Mutex::new(None);
            let tell = |p: &TracePoint| {
                let told = self.params.tell_here((p.newton, p.objective, p.gap));
                if let (Err(error), Ok(mut heard)) = (told, heard.lock()) {
                    heard.get_or_insert(error);
                }
            };
            let fit = path.fit_from(&used, start.as_deref(), Some(&tell))?;
            if let Ok(Some(error)) = heard.into_inner() {
                return Err(raised(error));
            }
            let most = ubauc::tune::most_tied_of(path.examples(), self.cols);
            let collapsed = fit.tied > most;
            *kept = Some(path);
            Ok((fit, collapsed))
        });
        let (fit, collapsed) = fitted.map_err(|error: ubauc::Error| Refused::from(error))?;
        batch_answer(py, &fit, &used, collapsed)
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
    let (rows, learner) = (&part.rows, &mut learner.0);
    let fit = weights.is_none_or(|w| w.len() == rows.len());
    let order = checked_order(rows, positive, order, fit)?;
    detached(py, 1, || {
        for i in order {
            let weight = weights.map_or(1.0, |weights| weights[i]);
            learner.learn(rows.row(i), positive[i], weight)?;
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
    let (rows, learner) = (&part.rows, &mut learner.0);
    let order = checked_order(rows, positive, order, true)?;
    let eta0 = detached(py, 1, || {
        let first = order.take(eta0::SAMPLE);
        let first: Vec<_> = first.map(|i| (rows.row(i), positive[i])).collect();
        Ok(eta0::choose_from(
            &first,
            learner.params(),
            learner.scale(),
        )?)
    })?;
    learner.set_eta0(eta0);
    Ok(())
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

/// The grid that is tried where nothing else is said, as JSON.
#[pyfunction]
pub(crate) fn tune_grid() -> String {
    let grid = TuneParams::default();
    let kinds: Vec<&str> = grid.least_squares.iter().map(|&kind| name(kind)).collect();
    serde_json::json!({
        "betas": grid.betas,
        "gammas": grid.gammas,
        "least_squares": kinds,
    })
    .to_string()
}

/// The best of points (β, γ, kind, AUC of each fold, whether it collapsed), and all with their means, as JSON.
#[pyfunction]
pub(crate) fn choose_point(
    points: Vec<(f64, f64, String, Vec<f64>, bool)>,
) -> PyResult<(Option<usize>, String)> {
    let point = |(beta, gamma, kind, aucs, collapsed): (f64, f64, String, Vec<f64>, bool)| Point {
        beta,
        gamma,
        least_squares: match kind.as_str() {
            "balanced" => LeastSquares::Balanced,
            _ => LeastSquares::Plain,
        },
        judged: CrossValidated::of(aucs),
        tied_share: f64::NAN,
        collapsed,
    };
    let points: Vec<Point> = points.into_iter().map(point).collect();
    let told = serde_json::to_string(&points);
    let told = told.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((best_of(&points), told))
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Part>()?;
    module.add_class::<Shard>()?;
    module.add_class::<Rounds>()?;
    module.add_function(wrap_pyfunction!(learn_part, module)?)?;
    module.add_function(wrap_pyfunction!(find_eta0_of_part, module)?)?;
    module.add_function(wrap_pyfunction!(tune_grid, module)?)?;
    module.add_function(wrap_pyfunction!(choose_point, module)?)?;
    module.add_function(wrap_pyfunction!(asks_for_matrix, module)?)?;
    module.add_function(wrap_pyfunction!(changes, module)?)
}
