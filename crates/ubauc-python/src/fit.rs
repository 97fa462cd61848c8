//! The solvers.

use numpy::{PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ubauc::algorithm::{self, FitInputs, Outcome, Progress, Spec, Trace};
use ubauc::data::dataset::Dataset;
use ubauc::tune;

use crate::caller::{report_progress, stop_if_asked};
use crate::error::Refused;
use crate::input::{Matrix, detached};
use crate::spec::{Context, of_json};

/// Learns by any algorithm; the rivals take no sample weights.
#[pyfunction]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    positive: PyReadonlyArray1<'py, bool>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    spec: &str,
    context: Context,
) -> PyResult<Bound<'py, PyDict>> {
    let spec: Spec = of_json(spec)?;
    let (x, positive) = (x.slices()?, positive.as_slice()?);
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let (outcome, collapsed) = detached(py, context.n_jobs, || {
        let data = x.dataset(positive, context.classes.clone())?;
        watched(weights, &context, |inputs| {
            let outcome = algorithm::fit(&data, inputs, &spec)?;
            let collapsed = has_collapsed(&data, weights, &outcome);
            Ok((outcome, collapsed))
        })
    })?;
    let answer = answer(py, &outcome)?;
    answer.set_item("collapsed", collapsed)?;
    Ok(answer)
}

/// A fit that reports its steps, and can be stopped.
pub(crate) fn watched<T>(
    weights: Option<&[f64]>,
    context: &Context,
    fit: impl FnOnce(&FitInputs<'_>) -> ubauc::Result<T>,
) -> Result<T, Refused> {
    let progress = |point: &Progress| {
        let (step, objective, measure) = values_of(point);
        report_progress(context.progress.as_ref(), step, objective, measure);
    };
    Ok(fit(&FitInputs {
        weights,
        start: None,
        progress: Some(&progress),
        before_example: Some(&stop_if_asked),
    })?)
}

/// Whether too many examples are tied at the threshold.
pub(crate) fn has_collapsed(data: &Dataset, weights: Option<&[f64]>, outcome: &Outcome) -> bool {
    let tied = outcome.certificate.tied;
    tied.is_some_and(|tied| tune::has_collapsed(data, weights, tied as usize))
}

/// Step, objective, and gap or AUC.
fn values_of(point: &Progress) -> (usize, f64, Option<f64>) {
    match point {
        Progress::Newton(p) => (p.newton, p.objective, p.gap),
        Progress::Round(p) => (p.round, p.objective, Some(p.gap)),
        Progress::Pass(p) => (p.pass, p.objective, Some(p.auc)),
    }
}

/// What was learned, as Python has it.
pub(crate) fn answer<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let Outcome {
        model,
        certificate,
        effort,
        stop,
        trace,
    } = outcome;
    let answer = PyDict::new(py);
    answer.set_item("weights", model.weights.to_pyarray(py))?;
    answer.set_item("intercept", model.intercept)?;
    answer.set_item("threshold", model.threshold)?;
    answer.set_item("lambda", certificate.lambda)?;
    answer.set_item("objective", certificate.objective)?;
    answer.set_item("dual", certificate.dual)?;
    answer.set_item("gap", certificate.gap)?;
    answer.set_item("tied", certificate.tied)?;
    let steps = effort.newton.or(effort.rounds).or(effort.passes);
    answer.set_item("n_iter", steps)?;
    answer.set_item("eta0", effort.eta0)?;
    answer.set_item("stop", stop.name())?;
    let columns_of = PyDict::new(py);
    for (name, column) in columns(trace) {
        columns_of.set_item(name, column.to_pyarray(py))?;
    }
    answer.set_item("trace", columns_of)?;
    Ok(answer)
}

fn columns(trace: &Trace) -> Vec<(&'static str, Vec<f64>)> {
    fn column<P>(of: &[P], value: impl Fn(&P) -> f64) -> Vec<f64> {
        of.iter().map(value).collect()
    }
    match trace {
        Trace::Newton(points) => vec![
            ("step", column(points, |p| p.newton as f64)),
            ("objective", column(points, |p| p.objective)),
            ("gap", column(points, |p| p.gap.unwrap_or(f64::NAN))),
            ("active", column(points, |p| p.active as f64)),
        ],
        Trace::Passes(points) => vec![
            ("step", column(points, |p| p.pass as f64)),
            ("objective", column(points, |p| p.objective)),
            ("auc", column(points, |p| p.auc)),
        ],
        Trace::Bundle(points) => vec![
            ("step", column(points, |p| p.round as f64)),
            ("objective", column(points, |p| p.objective)),
            ("dual", column(points, |p| p.dual)),
            ("gap", column(points, |p| p.gap)),
        ],
        // Those of algorithms that have no estimator.
        Trace::Rounds(_) | Trace::Svm(_) | Trace::None => Vec::new(),
    }
}
