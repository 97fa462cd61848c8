//! The batch solver over remote rows: Python carries rounds of commands and queries, and brings the answers.
//!
//! A `Shard` is what the solver keeps for the rows of a `Part`. The solver runs where `fit_rounds` is called and sends its
//! rounds through a Python function to every shard; a `Shard` that was lost is made again by the commands so far.

use std::sync::Mutex;

use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator};
use ubauc::algorithm::{Outcome, TrainingSet};
use ubauc::data::rows::Rows;
use ubauc::data::scale::Scale;
use ubauc::glass_box::LearnedMap;
use ubauc::glass_box::shrinkage::shrunk;
use ubauc::solver::ba_ubauc::TracePoint;
use ubauc::solver::ba_ubauc::path::{Path, SourceTransform};
use ubauc::solver::shards::{Round, Source, add_all, answers_from_bytes, answers_to_bytes};

use crate::caller::stop_if_asked;
use crate::cluster_maps;
use crate::error::Refused;
use crate::failure::Failure;
use crate::fit::answer;
use crate::part::Part;
use crate::spec::{Context, batch};

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
            Rows::Csr(_) | Rows::Coded(_) => part.rows.cols() <= cols,
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
pub(crate) struct RemoteShards {
    /// Called with a round, and whether the answers will be added: gives the answers of each shard, in their order, or their
    /// sum in that order.
    send: Py<PyAny>,
    /// What Python raised, here or in a progress callback: no more rounds are sent.
    failure: Failure,
    closes: bool,
}

impl RemoteShards {
    /// Ends with a call of `close`.
    pub(crate) fn closing(send: Py<PyAny>, failure: Failure) -> RemoteShards {
        RemoteShards {
            send,
            failure,
            closes: true,
        }
    }

    /// Sends a round, and takes the answers as they come back.
    fn send<T>(
        &self,
        round: &Round,
        add: bool,
        take_answers: impl FnOnce(Bound<'_, PyIterator>) -> PyResult<T>,
    ) -> ubauc::Result<T> {
        stop_if_asked();
        self.failure.check()?;
        let bytes = round.to_bytes()?;
        let answers = Python::attach(|py| {
            let answers = self.send.bind(py).call1((PyBytes::new(py, &bytes), add))?;
            take_answers(answers.try_iter()?)
        });
        answers.map_err(|error| self.failure.set(error))
    }
}

impl Drop for RemoteShards {
    fn drop(&mut self) {
        if self.closes {
            // Whatever it raises, the fit is over.
            Python::attach(|py| self.send.call_method0(py, "close").ok());
        }
    }
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

/// What is known of rows on a cluster.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RemoteSizes {
    pub(crate) n_neg: usize,
    pub(crate) n_pos: usize,
    pub(crate) cols: usize,
}

/// Features that share weights are scaled by their map.
pub(crate) fn transform_of(map: Option<&LearnedMap>, scale: Scale) -> SourceTransform<'_> {
    let nesting = map.and_then(|map| map.nesting.as_ref());
    nesting.map_or(scale.into(), SourceTransform::Nesting)
}

/// ba-UBAUC on remote shards; `start` is where to begin, `map` what made the features of tables.
#[pyfunction]
#[pyo3(signature = (send, sizes, spec, context, start=None, map=None))]
pub(crate) fn fit_rounds<'py>(
    py: Python<'py>,
    send: Py<PyAny>,
    sizes: RemoteSizes,
    spec: &str,
    context: Context,
    start: Option<Numbers<'py>>,
    map: Option<Bound<'py, cluster_maps::LearnedMap>>,
) -> PyResult<Bound<'py, PyDict>> {
    let spec = batch(spec)?;
    let map = map.map(|map| map.get().0.clone());
    let start = start.map(|start| start.to_vec()).transpose()?;
    let failure = Failure::default();
    // On this very thread, which is the one that receives signals while it waits for answers.
    let fitted = py.detach(|| {
        let progress = |p: &TracePoint| {
            let Some(progress) = &context.progress else {
                return;
            };
            let values = (p.newton, p.objective, p.gap);
            if let Err(error) = Python::attach(|py| progress.call1(py, values).map(drop)) {
                failure.set(error);
            }
        };
        let source = RemoteShards {
            send,
            failure: failure.clone(),
            closes: false,
        };
        let weighting = spec.params.weighting();
        let path = Path::of_source(
            Box::new(source),
            sizes.cols,
            &context.classes,
            transform_of(map.as_deref(), spec.scale),
            weighting,
        );
        let fitted = path
            .and_then(|mut path| path.fit_from(&spec.params, start.as_deref(), Some(&progress)));
        failure.or(fitted)
    });
    let examples = TrainingSet {
        classes: &context.classes,
        names: &[],
        n_pos: sizes.n_pos,
        n_neg: sizes.n_neg,
    };
    let fit = fitted.map_err(Refused::from)?;
    answer(py, &Outcome::of_newton(fit, &spec.params, &examples))
}

/// A map of remote rows with factors that suit them.
#[pyfunction]
pub(crate) fn shrunk_rounds(
    py: Python<'_>,
    send: Py<PyAny>,
    context: Context,
    map: Bound<'_, cluster_maps::LearnedMap>,
) -> PyResult<cluster_maps::LearnedMap> {
    let map = LearnedMap::clone(&map.get().0);
    let failure = Failure::default();
    let shrunk = py.detach(|| {
        let source = RemoteShards {
            send,
            failure: failure.clone(),
            closes: false,
        };
        failure.or(shrunk(map, Box::new(source), &context.classes))
    });
    let shrunk = shrunk.map_err(Refused::from)?;
    Ok(cluster_maps::LearnedMap::new(shrunk))
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Shard>()?;
    module.add_function(wrap_pyfunction!(fit_rounds, module)?)?;
    module.add_function(wrap_pyfunction!(shrunk_rounds, module)?)?;
    module.add_function(wrap_pyfunction!(asks_for_matrix, module)?)?;
    module.add_function(wrap_pyfunction!(commands, module)?)?;
    module.add_function(wrap_pyfunction!(sum_answers, module)?)
}
