//! The solvers.

use numpy::{PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ubauc::algorithm::{self, FitInputs, Outcome, Progress, Spec, Trace};
use ubauc::tune::has_collapsed;

use crate::caller::report_progress;
use crate::input::{Matrix, detached};
use crate::spec::{Context, of_json};

/// ba-UBAUC to a certified minimum, or ol-UBAUC in passes over the rows.
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
        let progress = |point: &Progress| {
            let (step, objective, measure) = values_of(point);
            report_progress(context.progress.as_ref(), step, objective, measure);
        };
        let inputs = FitInputs {
            weights,
            start: None,
            progress: Some(&progress),
        };
        let outcome = algorithm::fit(&data, &inputs, &spec)?;
        let tied = outcome.tied;
        let collapsed = tied.is_some_and(|tied| has_collapsed(&data, weights, tied));
        Ok((outcome, collapsed))
    })?;
    answer(py, &outcome, collapsed)
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
pub(crate) fn answer<'py>(
    py: Python<'py>,
    outcome: &Outcome,
    collapsed: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let answer = PyDict::new(py);
    answer.set_item("weights", outcome.weights.to_pyarray(py))?;
    answer.set_item("intercept", outcome.intercept)?;
    answer.set_item("lambda", outcome.lambda)?;
    answer.set_item("objective", outcome.objective)?;
    answer.set_item("dual", outcome.dual)?;
    answer.set_item("gap", outcome.gap)?;
    answer.set_item("tied", outcome.tied)?;
    answer.set_item("collapsed", collapsed)?;
    answer.set_item("n_iter", outcome.newton.or(outcome.passes))?;
    answer.set_item("eta0", outcome.eta0)?;
    answer.set_item("stop", outcome.stop.name())?;
    let trace = PyDict::new(py);
    for (name, column) in columns(&outcome.trace) {
        trace.set_item(name, column.to_pyarray(py))?;
    }
    answer.set_item("trace", trace)?;
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
        // Those of algorithms that Python reaches otherwise.
        Trace::Rounds(_) | Trace::Bundle(_) | Trace::Svm(_) | Trace::None => Vec::new(),
    }
}
