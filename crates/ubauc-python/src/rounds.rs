//! The batch solver over remote rows: Python carries rounds of commands and queries, and brings the answers.
//!
//! A `Shard` is what the solver keeps for the rows of a `Part`. The solver runs where `Rounds.fit` is called and sends its
//! rounds through a Python function to every shard; a `Shard` that was lost is made again by the commands so far.

use std::sync::{Arc, Mutex};

use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator};
use ubauc::data::rows::Rows;
use ubauc::solver::ba_ubauc::path::Path;
use ubauc::solver::ba_ubauc::{BaUbaucParams, TracePoint};
use ubauc::solver::shards::{Round, Source, add_all, answers_from_bytes, answers_to_bytes};

use crate::error::Refused;
use crate::fit::{Common, batch_answer};
use crate::part::Part;

type Numbers<'py> = PyReadonlyArray1<'py, f64>;
/// Answers: an array, since Dask carries its bytes without a copy.
type Bytes<'py> = PyReadonlyArray1<'py, u8>;

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
        let fits = match &*part.rows {
            Rows::Dense(_) => part.rows.cols() == cols,
            Rows::Csr(_) => part.rows.cols() <= cols,
        };
        if !right || !fits {
            let what = "labels, weights or columns do not fit the rows";
            return Err(PyValueError::new_err(what));
        }
        let inner = ubauc::solver::shards::Shard::new(0..len, cols, positive, weights);
        let inner = Mutex::new(inner);
        Ok(Shard { inner, len })
    }

    /// Obeys the commands of a round and answers its queries about the rows of `part`.
    fn run<'py>(
        &self,
        py: Python<'py>,
        part: &Part,
        round: &[u8],
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        if part.rows.len() != self.len {
            return Err(PyValueError::new_err("not the part of this shard"));
        }
        let answers = py.detach(|| {
            let round = Round::from_bytes(round)?;
            let mut shard = match self.inner.lock() {
                Ok(shard) => shard,
                Err(poisoned) => poisoned.into_inner(),
            };
            answers_to_bytes(&shard.run(&part.rows, &round)?)
        });
        Ok(answers.map_err(Refused::from)?.into_pyarray(py))
    }
}

/// The commands of a round, which a shard that was lost must obey again; `None` if there are none.
#[pyfunction]
pub(crate) fn commands<'py>(
    py: Python<'py>,
    round: &[u8],
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let mut round = Round::from_bytes(round).map_err(Refused::from)?;
    if round.commands.is_empty() {
        return Ok(None);
    }
    round.queries.clear();
    let bytes = round.to_bytes().map_err(Refused::from)?;
    Ok(Some(PyBytes::new(py, &bytes)))
}

/// Whether a round is answered with matrices.
#[pyfunction]
pub(crate) fn asks_for_matrix(round: &[u8]) -> PyResult<bool> {
    let round = Round::from_bytes(round).map_err(Refused::from)?;
    Ok(round.asks_for_matrix())
}

/// The sum of the answers of some shards, in this order.
#[pyfunction]
pub(crate) fn sum_answers<'py>(
    py: Python<'py>,
    answers: Vec<Bytes<'py>>,
) -> PyResult<Bound<'py, PyArray1<u8>>> {
    let sum = sum_of(answers.into_iter().map(Ok))?;
    let bytes = answers_to_bytes(&sum).map_err(Refused::from)?;
    Ok(bytes.into_pyarray(py))
}

fn read_answers(bytes: &Bytes<'_>) -> PyResult<Vec<f64>> {
    Ok(answers_from_bytes(bytes.as_slice()?).map_err(Refused::from)?)
}

/// Their sum, with one of them in memory at a time: they may be matrices. Different lengths are refused.
fn sum_of<'py>(answers: impl Iterator<Item = PyResult<Bytes<'py>>>) -> PyResult<Vec<f64>> {
    let mut sum: Option<Vec<f64>> = None;
    for answers in answers {
        let more = read_answers(&answers?)?;
        sum = Some(match sum {
            None => more,
            Some(sum) if sum.len() == more.len() => add_all(vec![sum, more]),
            Some(sum) => {
                let (what, expected, got) = ("answers of the shards", sum.len(), more.len());
                let error = ubauc::Error::Length {
                    what,
                    expected,
                    got,
                };
                return Err(Refused::from(error).into());
            }
        });
    }
    Ok(sum.unwrap_or_default())
}

/// Shards that a Python function reaches.
struct RemoteShards {
    /// Called with a round, and whether the answers will be added: gives the answers of each shard, in their order, or their
    /// sum in that order.
    send: Py<PyAny>,
    /// What the progress callback raised: no more rounds are sent.
    callback_error: CallbackError,
}

type CallbackError = Arc<Mutex<Option<PyErr>>>;

fn take(error: &CallbackError) -> Option<PyErr> {
    match error.lock() {
        Ok(mut error) => error.take(),
        Err(poisoned) => poisoned.into_inner().take(),
    }
}

impl RemoteShards {
    /// Sends a round, and takes the answers as they come back.
    fn send<T>(
        &self,
        round: &Round,
        add: bool,
        take_answers: impl FnOnce(Bound<'_, PyIterator>) -> PyResult<T>,
    ) -> ubauc::Result<T> {
        if let Some(error) = take(&self.callback_error) {
            return Err(raised(error));
        }
        let bytes = round.to_bytes()?;
        let answers = Python::attach(|py| {
            let answers = self.send.bind(py).call1((PyBytes::new(py, &bytes), add))?;
            take_answers(answers.try_iter()?)
        });
        answers.map_err(raised)
    }
}

fn raised(error: PyErr) -> ubauc::Error {
    ubauc::Error::Rows(Box::new(error))
}

impl Source for RemoteShards {
    fn sum(&mut self, round: &Round) -> ubauc::Result<Vec<f64>> {
        self.send(round, true, |answers| {
            sum_of(answers.map(|answers| answers?.extract()))
        })
    }

    fn collect(&mut self, round: &Round) -> ubauc::Result<Vec<Vec<f64>>> {
        self.send(round, false, |answers| {
            let each = answers.map(|answers| read_answers(&answers?.extract()?));
            each.collect()
        })
    }

    fn is_remote(&self) -> bool {
        true
    }
}

/// ba-UBAUC on remote shards, one fit after the other: each starts where the last one ended.
#[pyclass(frozen, module = "ubauc._core")]
pub(crate) struct Rounds {
    /// None after a fit that failed: the state of the shards is then unknown.
    path: Mutex<Option<Path<'static>>>,
    cols: usize,
    params: Common,
    callback_error: CallbackError,
}

#[pymethods]
impl Rounds {
    #[new]
    fn new(py: Python<'_>, send: Py<PyAny>, cols: usize, params: Common) -> PyResult<Rounds> {
        let kind = params.least_squares()?.unwrap_or_default();
        let scale = params.scale()?;
        let callback_error = CallbackError::default();
        let path = py.detach(|| {
            let callback_error = callback_error.clone();
            let source = Box::new(RemoteShards {
                send,
                callback_error,
            });
            let names = &params.classes;
            Path::of_source(source, cols, names, scale, kind, params.intercept)
        });
        let path = path.map_err(Refused::from)?;
        let path = Mutex::new(Some(path));
        Ok(Rounds {
            path,
            cols,
            params,
            callback_error,
        })
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
        // On this very thread, which is the one that receives signals while it waits for answers.
        let fitted = py.detach(|| {
            let mut kept = match self.path.lock() {
                Ok(kept) => kept,
                Err(poisoned) => poisoned.into_inner(),
            };
            let mut path = kept.take().ok_or(ubauc::Error::Numerical {
                what: "a fit of these rounds has failed, or is under way",
            })?;
            let progress = |p: &TracePoint| {
                let called = self.params.report_here((p.newton, p.objective, p.gap));
                if let (Err(error), Ok(mut first)) = (called, self.callback_error.lock()) {
                    first.get_or_insert(error);
                }
            };
            let fit = path.fit_from(&used, start.as_deref(), Some(&progress))?;
            if let Some(error) = take(&self.callback_error) {
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

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Shard>()?;
    module.add_class::<Rounds>()?;
    module.add_function(wrap_pyfunction!(asks_for_matrix, module)?)?;
    module.add_function(wrap_pyfunction!(commands, module)?)?;
    module.add_function(wrap_pyfunction!(sum_answers, module)?)
}
