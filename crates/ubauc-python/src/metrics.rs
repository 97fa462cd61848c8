//! `ubauc::metrics` and the bound.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use ubauc::metrics::{self, BucketAuc, RocPart};
use ubauc::objective::univariate;

use crate::error::Refused;
use crate::input::detached;

type Scores<'py> = PyReadonlyArray1<'py, f64>;
type Positive<'py> = PyReadonlyArray1<'py, bool>;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(auc, module)?)?;
    module.add_function(wrap_pyfunction!(weighted_auc, module)?)?;
    module.add_function(wrap_pyfunction!(compare, module)?)?;
    module.add_function(wrap_pyfunction!(partial_auc, module)?)?;
    module.add_function(wrap_pyfunction!(hand_till, module)?)?;
    module.add_function(wrap_pyfunction!(bound, module)?)?;
    module.add_class::<Buckets>()
}

/// What was found, as JSON: few numbers, written with all their digits, integers of any length.
pub(crate) fn to_json(found: impl Serialize) -> PyResult<String> {
    serde_json::to_string(&found).map_err(|error| PyValueError::new_err(error.to_string()))
}

#[pyfunction]
fn auc<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    positive: Positive<'py>,
    n_jobs: usize,
) -> PyResult<String> {
    let (scores, positive) = (scores.as_slice()?, positive.as_slice()?);
    let found = detached(py, n_jobs, || Ok(metrics::auc(scores, positive)?))?;
    to_json(found)
}

#[pyfunction]
fn weighted_auc<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    positive: Positive<'py>,
    weights: Scores<'py>,
    n_jobs: usize,
) -> PyResult<String> {
    let (scores, positive, weights) = (
        scores.as_slice()?,
        positive.as_slice()?,
        weights.as_slice()?,
    );
    let found = detached(py, n_jobs, || {
        Ok(metrics::weighted_auc(scores, positive, weights)?)
    })?;
    to_json(found)
}

#[pyfunction]
fn compare<'py>(
    py: Python<'py>,
    scorers: Vec<Scores<'py>>,
    positive: Positive<'py>,
    n_jobs: usize,
) -> PyResult<String> {
    let positive = positive.as_slice()?;
    let scorers: Vec<&[f64]> = scorers
        .iter()
        .map(|scores| scores.as_slice())
        .collect::<Result<_, _>>()?;
    let found = detached(py, n_jobs, || {
        Ok(metrics::compare_many(&scorers, positive)?)
    })?;
    to_json(found)
}

#[pyfunction]
fn partial_auc<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    positive: Positive<'py>,
    max_fpr: Option<f64>,
    min_tpr: Option<f64>,
    n_jobs: usize,
) -> PyResult<(f64, f64)> {
    let part = match (max_fpr, min_tpr) {
        (Some(fpr), None) => RocPart::MaxFpr(fpr),
        (None, Some(tpr)) => RocPart::MinTpr(tpr),
        _ => return Err(PyValueError::new_err("give one of max_fpr and min_tpr")),
    };
    let (scores, positive) = (scores.as_slice()?, positive.as_slice()?);
    let found = detached(py, n_jobs, || {
        Ok(metrics::partial_auc(scores, positive, part)?)
    })?;
    Ok((found.raw, found.standardised))
}

/// Scores row after row.
#[pyfunction]
fn hand_till<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    n_classes: usize,
    classes: Vec<usize>,
    n_jobs: usize,
) -> PyResult<String> {
    let scores = scores.as_slice()?;
    let found = detached(py, n_jobs, || {
        Ok(metrics::hand_till(scores, n_classes, &classes)?)
    })?;
    to_json(found)
}

#[pyfunction]
fn bound<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    positive: Positive<'py>,
    n_jobs: usize,
) -> PyResult<String> {
    let (scores, positive) = (scores.as_slice()?, positive.as_slice()?);
    let found = detached(py, n_jobs, || Ok(univariate::bound(scores, positive)?))?;
    to_json(found)
}

/// AUC of a stream by counts in buckets.
#[pyclass(module = "ubauc._core")]
struct Buckets(BucketAuc);

#[pymethods]
impl Buckets {
    #[new]
    fn new(bits: u32) -> PyResult<Buckets> {
        Ok(Buckets(BucketAuc::new(bits).map_err(Refused::from)?))
    }

    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Buckets> {
        let auc = serde_json::from_str(text);
        auc.map(Buckets)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn to_json(&self) -> PyResult<String> {
        to_json(&self.0)
    }

    /// All examples, or none if one is refused.
    fn update<'py>(
        &mut self,
        py: Python<'py>,
        scores: Scores<'py>,
        positive: Positive<'py>,
    ) -> PyResult<()> {
        let (scores, positive) = (scores.as_slice()?, positive.as_slice()?);
        let auc = &mut self.0;
        py.detach(|| {
            let nan = scores.iter().position(|score| score.is_nan());
            if let Some(row) = nan {
                let (what, value, must) = ("score", f64::NAN, "a number");
                return Err(ubauc::Error::NotFinite {
                    what,
                    row,
                    value,
                    must,
                });
            }
            let mut pairs = scores.iter().zip(positive);
            pairs.try_for_each(|(&score, &positive)| auc.add(score, positive))
        })
        .map_err(|error| Refused::from(error).into())
    }

    fn merge(&mut self, other: &Buckets) -> PyResult<()> {
        Ok(self.0.merge(&other.0).map_err(Refused::from)?)
    }

    fn estimate(&self) -> PyResult<String> {
        let estimate = self.0.estimate().map_err(Refused::from)?;
        to_json(estimate)
    }

    #[getter]
    fn bits(&self) -> u32 {
        self.0.bits()
    }

    /// Negatives and positives.
    #[getter]
    fn counts(&self) -> [u64; 2] {
        [self.0.n_neg(), self.0.n_pos()]
    }
}
