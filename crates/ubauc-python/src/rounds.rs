//! The batch solver over rows that are elsewhere: Python carries the questions and brings the answers.
//!
//! A `Shard` is what the solver keeps for the rows of a `Part`. The solver runs where `Rounds.fit` is called and asks a
//! Python function, which has every shard answer; a `Shard` that was lost is made anew and told again what changed it.

use std::sync::{Arc, Mutex};

use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ubauc::data::rows::Rows;
use ubauc::solver::ba_ubauc::path::Path;
use ubauc::solver::ba_ubauc::{BaUbaucParams, TracePoint};
use ubauc::solver::shards::{Round, Source, add_all};

use crate::error::Refused;
use crate::fit::{Common, batch_answer};
use crate::part::Part;

type Numbers<'py> = PyReadonlyArray1<'py, f64>;

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
    /// What was raised while progress was told: no more is asked.
    heard: Heard,
}

type Heard = Arc<Mutex<Option<PyErr>>>;

fn take(heard: &Heard) -> Option<PyErr> {
    match heard.lock() {
        Ok(mut heard) => heard.take(),
        Err(poisoned) => poisoned.into_inner().take(),
    }
}

impl Elsewhere {
    fn each(&self, round: &Round, add: bool) -> PyResult<Vec<Vec<f64>>> {
        if let Some(error) = take(&self.heard) {
            return Err(error);
        }
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
    heard: Heard,
}

#[pymethods]
impl Rounds {
    #[new]
    fn new(py: Python<'_>, ask: Py<PyAny>, cols: usize, params: Common) -> PyResult<Rounds> {
        let kind = params.least_squares()?.unwrap_or_default();
        let scale = params.scale()?;
        let heard = Heard::default();
        let path = py.detach(|| {
            let heard = heard.clone();
            let source = Box::new(Elsewhere { ask, heard });
            let names = &params.classes;
            Path::of_source(source, cols, names, scale, kind, params.intercept)
        });
        let path = path.map_err(Refused::from)?;
        let path = Mutex::new(Some(path));
        Ok(Rounds {
            path,
            cols,
            params,
            heard,
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
        // On this very thread, which is the one that hears of signals while it waits for answers.
        let fitted = py.detach(|| {
            let mut kept = match self.path.lock() {
                Ok(kept) => kept,
                Err(poisoned) => poisoned.into_inner(),
            };
            let mut path = kept.take().ok_or(ubauc::Error::Numerical {
                what: "a fit of these rounds has failed, or is under way",
            })?;
            let tell = |p: &TracePoint| {
                let told = self.params.tell_here((p.newton, p.objective, p.gap));
                if let (Err(error), Ok(mut heard)) = (told, self.heard.lock()) {
                    heard.get_or_insert(error);
                }
            };
            let fit = path.fit_from(&used, start.as_deref(), Some(&tell))?;
            if let Some(error) = take(&self.heard) {
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
    module.add_function(wrap_pyfunction!(changes, module)?)
}
