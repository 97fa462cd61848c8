//! The learner of a stream.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ubauc::data::rows::Rows;
use ubauc::data::scale::Scale;
use ubauc::solver::ol_ubauc::{self, RunningScale, eta0};

use crate::caller::stop_if_asked;
use crate::error::{Refused, unknown};
use crate::input::{Matrix, detached};
use crate::spec::online;

/// ol-UBAUC on a stream.
#[pyclass(module = "ubauc._core")]
pub(crate) struct Learner(pub(crate) ol_ubauc::Learner);

#[pymethods]
impl Learner {
    #[new]
    fn new(spec: &str) -> PyResult<Learner> {
        let spec = online(spec)?;
        let scale = match spec.scale {
            Scale::None => RunningScale::None,
            Scale::MaxAbs => RunningScale::MaxAbs,
            Scale::Standard => {
                return Err(unknown("scale", "standard", "none or maxabs in a stream"));
            }
        };
        let learner = ol_ubauc::Learner::new(&spec.params, scale);
        Ok(Learner(learner.map_err(Refused::from)?))
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Learner> {
        let learner = ol_ubauc::Learner::from_bytes(bytes);
        Ok(Learner(learner.map_err(Refused::from)?))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.0.to_bytes().map_err(Refused::from)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Goes on from a model: weights for raw features, intercept, and threshold in units of w·x.
    fn start_from(
        &mut self,
        weights: PyReadonlyArray1<'_, f64>,
        intercept: f64,
        threshold: f64,
    ) -> PyResult<()> {
        self.0.start_from(weights.as_slice()?, intercept, threshold);
        Ok(())
    }

    /// Centres features at means from elsewhere: their sums over this many examples, and how often they were not 0.
    fn start_means(
        &mut self,
        examples: u64,
        sum: PyReadonlyArray1<'_, f64>,
        count: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<()> {
        let means = self
            .0
            .start_means(examples, sum.as_slice()?, count.as_slice()?);
        Ok(means.map_err(Refused::from)?)
    }

    /// As if this many steps were made before: the next ones are that much smaller.
    fn take_steps(&mut self, steps: u64) {
        self.0.set_steps(steps);
    }

    /// η₀ by trial on the first of these examples.
    fn find_eta0<'py>(
        &mut self,
        py: Python<'py>,
        x: Matrix<'py>,
        positive: PyReadonlyArray1<'py, bool>,
    ) -> PyResult<()> {
        let (x, positive) = (x.slices()?, positive.as_slice()?);
        let learner = &mut self.0;
        detached(py, 1, || {
            let rows = x.rows()?;
            let order = 0..rows.len().min(positive.len());
            try_eta0(learner, &rows, order, positive)
        })
    }

    /// Learns the examples in their order. Answers their scores, each before it was learned.
    fn learn<'py>(
        &mut self,
        py: Python<'py>,
        x: Matrix<'py>,
        positive: PyReadonlyArray1<'py, bool>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (x, positive) = (x.slices()?, positive.as_slice()?);
        let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
        let learner = &mut self.0;
        let scores = detached(py, 1, || {
            let rows = x.rows()?;
            let mut scores = Vec::with_capacity(rows.len());
            for i in 0..rows.len().min(positive.len()) {
                scores.push(learn_one(learner, &rows, i, positive, weights)?);
            }
            Ok(scores)
        })?;
        Ok(scores.into_pyarray(py))
    }

    /// For raw features, as many as were seen.
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.weights().to_pyarray(py)
    }

    #[getter]
    fn intercept(&self) -> f64 {
        self.0.intercept()
    }

    #[getter]
    fn threshold(&self) -> f64 {
        self.0.lambda()
    }

    #[getter]
    fn eta0(&self) -> f64 {
        self.0.params().eta0
    }

    #[getter]
    fn steps(&self) -> u64 {
        self.0.steps()
    }

    /// Negatives and positives learned.
    #[getter]
    fn counts(&self) -> [u64; 2] {
        self.0.counts()
    }
}

/// Learns row i; its score before.
pub(crate) fn learn_one(
    learner: &mut ol_ubauc::Learner,
    rows: &Rows,
    i: usize,
    positive: &[bool],
    weights: Option<&[f64]>,
) -> Result<f64, Refused> {
    stop_if_asked();
    let weight = weights.map_or(1.0, |weights| weights[i]);
    Ok(learner.learn(rows.row(i), positive[i], weight)?)
}

/// η₀ by trial on the first rows of this order.
pub(crate) fn try_eta0(
    learner: &mut ol_ubauc::Learner,
    rows: &Rows,
    order: impl Iterator<Item = usize>,
    positive: &[bool],
) -> Result<(), Refused> {
    let first = order.take(eta0::SAMPLE);
    let first: Vec<_> = first.map(|i| (rows.row(i), positive[i])).collect();
    let eta0 = eta0::choose_from(&first, learner.params(), learner.scale())?;
    learner.set_eta0(eta0);
    Ok(())
}
