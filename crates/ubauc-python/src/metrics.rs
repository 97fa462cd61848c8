//! `ubauc::metrics` and the bound.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use ubauc::metrics::{self, BucketAuc, Criterion, Resampling, RocPart, Sample, Share, Statistic};
use ubauc::objective::ubauc::{Chunk, LeastSquares};
use ubauc::objective::univariate;
use ubauc::solver::boosting;

use crate::error::Refused;
use crate::input::detached;

type Scores<'py> = PyReadonlyArray1<'py, f64>;
type Positive<'py> = PyReadonlyArray1<'py, bool>;
type Groups<'py> = PyReadonlyArray1<'py, u32>;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(auc, module)?)?;
    module.add_function(wrap_pyfunction!(compare, module)?)?;
    module.add_function(wrap_pyfunction!(partial_auc, module)?)?;
    module.add_function(wrap_pyfunction!(average_precision, module)?)?;
    module.add_function(wrap_pyfunction!(average_precision_interval, module)?)?;
    module.add_function(wrap_pyfunction!(recall_at_fpr, module)?)?;
    module.add_function(wrap_pyfunction!(hand_till, module)?)?;
    module.add_function(wrap_pyfunction!(bound, module)?)?;
    module.add_function(wrap_pyfunction!(score_objective, module)?)?;
    module.add_class::<Buckets>()
}

/// What was found, as JSON: few numbers, written with all their digits, integers of any length.
pub(crate) fn to_json(found: impl Serialize) -> PyResult<String> {
    serde_json::to_string(&found).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The method of an interval; draws and seed of a bootstrap.
type Asked = (String, usize, u64);

fn interval_of(
    (method, resamples, seed): &Asked,
    share: Share,
    statistic: Statistic,
    sample: &Sample<'_>,
) -> Result<[f64; 2], Refused> {
    let method = method.parse().map_err(|must| ubauc::Error::Parameter {
        name: "method",
        value: method.clone(),
        must,
    })?;
    let (resamples, seed) = (*resamples, *seed);
    let resampling = Resampling { resamples, seed };
    Ok(share.interval(method, statistic, sample, resampling, &|_| {})?)
}

/// Not with weights and groups at a time.
#[pyfunction]
fn auc<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    positive: Positive<'py>,
    weights: Option<Scores<'py>>,
    groups: Option<Groups<'py>>,
    interval: Asked,
    n_jobs: usize,
) -> PyResult<String> {
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let groups = groups.as_ref().map(|g| g.as_slice()).transpose()?;
    let (scores, positive) = (scores.as_slice()?, positive.as_slice()?);
    let sample = Sample {
        scores,
        positive,
        weights,
        groups,
    };
    detached(py, n_jobs, || {
        if let Some(weights) = weights {
            let mut found = metrics::weighted_auc(scores, positive, weights)?;
            found.ci95 = interval_of(&interval, found.share(), Statistic::Auc, &sample)?;
            return Ok(to_json(found));
        }
        let mut found = match groups {
            None => metrics::auc(scores, positive)?,
            Some(groups) => metrics::clustered_auc(scores, positive, groups)?,
        };
        found.ci95 = interval_of(&interval, found.share(), Statistic::Auc, &sample)?;
        Ok(to_json(found))
    })?
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

#[pyfunction]
fn average_precision_interval<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    positive: Positive<'py>,
    groups: Option<Groups<'py>>,
    interval: Asked,
    n_jobs: usize,
) -> PyResult<(String, usize, usize)> {
    let groups = groups.as_ref().map(|g| g.as_slice()).transpose()?;
    let sample = Sample {
        scores: scores.as_slice()?,
        positive: positive.as_slice()?,
        weights: None,
        groups,
    };
    let found = detached(py, n_jobs, || {
        let Sample {
            scores, positive, ..
        } = sample;
        let mut found = match groups {
            None => metrics::average_precision_interval(scores, positive)?,
            Some(groups) => metrics::clustered_average_precision(scores, positive, groups)?,
        };
        found.ci95 = interval_of(
            &interval,
            found.share(),
            Statistic::AveragePrecision,
            &sample,
        )?;
        Ok(found)
    })?;
    Ok((to_json(found)?, found.n_pos, found.n_neg))
}

/// By a bootstrap, or in the way of its own. JSON has no infinity: the threshold comes beside it.
#[pyfunction]
fn recall_at_fpr<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    positive: Positive<'py>,
    max_fpr: f64,
    groups: Option<Groups<'py>>,
    interval: Asked,
    n_jobs: usize,
) -> PyResult<(String, Option<f64>)> {
    let groups = groups.as_ref().map(|g| g.as_slice()).transpose()?;
    let sample = Sample {
        scores: scores.as_slice()?,
        positive: positive.as_slice()?,
        weights: None,
        groups,
    };
    let found = detached(py, n_jobs, || {
        let Sample {
            scores, positive, ..
        } = sample;
        let mut found = match groups {
            None => metrics::recalls_at_fpr(scores, positive, &[max_fpr])?,
            Some(groups) => {
                metrics::clustered_recalls_at_fpr(scores, positive, groups, &[max_fpr])?
            }
        }
        .remove(0);
        if interval.0 == "bootstrap" {
            let (resamples, seed) = (interval.1, interval.2);
            let resampling = Resampling { resamples, seed };
            found.ci95 = found.bootstrap(&sample, resampling, &|_| {})?;
        }
        Ok(found)
    })?;
    Ok((to_json(found)?, found.threshold))
}

/// Scores row after row.
#[pyfunction]
fn hand_till<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    n_classes: usize,
    classes: Vec<usize>,
    weights: Option<Scores<'py>>,
    n_jobs: usize,
) -> PyResult<String> {
    let scores = scores.as_slice()?;
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let found = detached(py, n_jobs, || {
        Ok(metrics::weighted_hand_till(
            scores, n_classes, &classes, weights,
        )?)
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

/// Value, gradient and diagonal of the soft bound with least squares.
type Derivatives<'py> = (f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// In one thread, as boosted trees have their own.
#[pyfunction]
fn score_objective<'py>(
    py: Python<'py>,
    scores: Scores<'py>,
    positive: Positive<'py>,
    weights: Option<Scores<'py>>,
    beta: f64,
    softness: f64,
    balanced: bool,
) -> PyResult<Derivatives<'py>> {
    let chunk = Chunk {
        scores: scores.as_slice()?,
        positive: positive.as_slice()?,
        weights: weights.as_ref().map(|w| w.as_slice()).transpose()?,
    };
    let least_squares = match balanced {
        true => LeastSquares::Balanced,
        false => LeastSquares::Plain,
    };
    let found = detached(py, 1, || {
        Ok(boosting::score_objective(
            chunk,
            beta,
            softness,
            least_squares,
        )?)
    })?;
    let (gradient, hessian) = (
        found.gradient.into_pyarray(py),
        found.hessian.into_pyarray(py),
    );
    Ok((found.value, gradient, hessian))
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
