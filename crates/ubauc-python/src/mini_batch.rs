//! The loss of a mini-batch, for `ubauc.torch`.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use ubauc::objective::loss::Loss;
use ubauc::solver::mini_batch::{MiniBatch, Threshold};

use crate::error::Refused;

/// Value, derivatives by the scores, threshold, derivative by it.
type Found<'py> = (f64, Bound<'py, PyArray1<f64>>, f64, f64);

/// `loss` is softness and β, `threshold` the one to take or, where `is_best`, to start from. Some microseconds for a batch, so no
/// other thread is let in.
#[pyfunction]
pub(crate) fn batch_loss<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray1<'py, f64>,
    targets: PyReadonlyArray1<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    class_weights: [f64; 2],
    loss: (f64, f64),
    threshold: (f64, bool),
) -> PyResult<Found<'py>> {
    let batch = MiniBatch {
        scores: scores.as_slice()?,
        targets: targets.as_slice()?,
        weights: weights.as_ref().map(|w| w.as_slice()).transpose()?,
        class_weights,
    };
    let at = match threshold {
        (start, true) => Threshold::Best(start),
        (given, false) => Threshold::Given(given),
    };
    let (softness, beta) = loss;
    let found = batch.loss(Loss::of_softness(softness), beta, at);
    let found = found.map_err(Refused::from)?;
    let slopes = found.slopes.into_pyarray(py);
    Ok((found.value, slopes, found.threshold, found.threshold_slope))
}
