//! `ubauc::metrics` and the bound.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use ubauc::metrics::{self, BucketAuc, Criterion, RocPart};
use ubauc::objective::univariate;

use crate::error::Refused;
use crate::input::detached;

type Scores<'py> = PyReadonlyArray1<'py, f64>;
type Positive<'py> = PyReadonlyArray1<'py, bool>;
type Groups<'py> = PyReadonlyArray1<'py, u32>;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(auc, module)?)?;
    module.add_function(wrap_pyfunction!(weighted_auc, module)?)?;
    module.add_function(wrap_pyfunction!(clustered_auc, module)?)?;
    module.add_function(wrap_pyfunction!(compare, module)?)?;
    module.add_function(wrap_pyfunction!(partial_auc, module)?)?;
    module.add_function(wrap_pyfunction!(average_precision, module)?)?;
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
fn clustered_auc<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    positive: Positive<'py>,
    groups: Groups<'py>,
    n_jobs: usize,
) -> PyResult<String> {
    let (scores, positive, groups) = (scores.as_slice()?, positive.as_slice()?, groups.as_slice()?);
    let found = detached(py, n_jobs, || {
        Ok(metrics::clustered_auc(scores, positive, groups)?)
    })?;
    to_json(found)
}

#[pyfunction]
fn compare<'py>(
    py: Python<'py>,
    scorers: Vec<Scores<'py>>,
    positive: Positive<'py>,
    groups: Option<Groups<'py>>,
    n_jobs: usize,
) -> PyResult<String> {
    let positive = positive.as_slice()?;
    let groups = groups
        .as_ref()
        .map(|groups| groups.as_slice())
        .transpose()?;
    let scorers: Vec<&[f64]> = scorers
        .iter()
        .map(|scores| scores.as_slice())
        .collect::<Result<_, _>>()?;
    let found = detached(py, n_jobs, || {
        Ok(match groups {
            None => metrics::compare_many(&scorers, positive)?,
            Some(groups) => metrics::clustered_compare_many(&scorers, positive, groups)?,
        })
    })?;
    to_json(found)
}

/// `part` is `("max_fpr", rate)` or `("min_tpr", rate)`.
#[pyfunction]
fn partial_auc<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    positive: Positive<'py>,
    weights: Option<Scores<'py>>,
    part: (String, f64),
    n_jobs: usize,
) -> PyResult<(f64, f64)> {
    let part = match (part.0.as_str(), part.1) {
        ("max_fpr", rate) => RocPart::MaxFpr(rate),
        ("min_tpr", rate) => RocPart::MinTpr(rate),
        _ => return Err(PyValueError::new_err("give one of max_fpr and min_tpr")),
    };
    let (scores, positive) = (scores.as_slice()?, positive.as_slice()?);
    let weights = weights
        .as_ref()
        .map(|weights| weights.as_slice())
        .transpose()?;
    let found = detached(py, n_jobs, || {
        Ok(match weights {
            None => metrics::partial_auc(scores, positive, part)?,
            Some(weights) => metrics::weighted_partial_auc(scores, positive, weights, part)?,
        })
    })?;
    Ok((found.raw, found.standardised))
}

#[pyfunction]
fn average_precision<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    positive: Positive<'py>,
    weights: Option<Scores<'py>>,
    n_jobs: usize,
) -> PyResult<f64> {
    let (scores, positive) = (scores.as_slice()?, positive.as_slice()?);
    let weights = weights
        .as_ref()
        .map(|weights| weights.as_slice())
        .transpose()?;
    detached(py, n_jobs, || {
        Ok(Criterion::AveragePrecision.of(scores, positive, weights)?)
    })
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
