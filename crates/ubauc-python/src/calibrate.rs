//! Scores to probabilities.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use ubauc::calibrate::{Calibration, Method};

use crate::error::{Refused, unknown};
use crate::input::detached;

/// Slope, offset, and the steps: where they begin, and their probabilities.
type Found<'py> = (
    f64,
    f64,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
);

#[pyfunction]
pub(crate) fn calibrate<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray1<'py, f64>,
    positive: PyReadonlyArray1<'py, bool>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    method: &str,
) -> PyResult<Found<'py>> {
    let method = match method {
        "sigmoid" => Method::Sigmoid,
        "isotonic" => Method::Isotonic,
        other => return Err(unknown("calibrate", other, "sigmoid or isotonic")),
    };
    let (scores, positive) = (scores.as_slice()?, positive.as_slice()?);
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let found = detached(py, 1, || {
        Ok(Calibration::fit(scores, positive, weights, method)?)
    })?;
    Ok((
        found.slope,
        found.offset,
        found.knots.to_pyarray(py),
        found.levels.to_pyarray(py),
    ))
}

#[pyfunction]
pub(crate) fn probabilities<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray1<'py, f64>,
    slope: f64,
    offset: f64,
    knots: PyReadonlyArray1<'py, f64>,
    levels: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (knots, levels) = (knots.as_slice()?.to_vec(), levels.as_slice()?.to_vec());
    let calibration = Calibration::new(slope, offset, knots, levels).map_err(Refused::from)?;
    let scores = scores.as_slice()?;
    let of = |&score: &f64| calibration.probability(score);
    Ok(scores.iter().map(of).collect::<Vec<f64>>().into_pyarray(py))
}
