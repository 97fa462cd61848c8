//! Parameters as Python hands them over: the JSON of a [`Spec`], and what is of no concern to a model.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ubauc::algorithm::{Algorithm, BaUbauc, OlUbauc, Spec};
use ubauc::data::rows::Rows;
use ubauc::data::scale::Scale;
use ubauc::glass_box::{MAX_COLUMNS, PAIRS_PER_COLUMN};
use ubauc::metrics::Criterion;

use crate::error::{Refused, unknown};

/// What a call needs besides the data and the parameters.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Context {
    /// What the data calls the negative and the positive class.
    pub(crate) classes: [String; 2],
    pub(crate) n_jobs: usize,
    /// Called with step, objective, and gap or AUC.
    pub(crate) progress: Option<Py<PyAny>>,
}

/// The parameters of an algorithm where nothing is given, as JSON.
#[pyfunction]
fn defaults(algorithm: &str) -> PyResult<String> {
    let named = Algorithm::named(algorithm);
    let named = named.ok_or_else(|| unknown("algorithm", algorithm, "one of `ubauc train`"))?;
    to_json(&Spec::new(named))
}

/// What suits rows of which nothing else is known; `stored` of their numbers are not 0.
#[pyfunction]
fn suited_scale(rows: usize, cols: usize, stored: usize) -> &'static str {
    Scale::suited_if_sparse(Rows::are_sparse(rows, cols, stored)).name()
}

/// Refuses a name that a search could not maximise.
#[pyfunction]
fn check_criterion(name: &str) -> PyResult<()> {
    let found: Result<Criterion, _> = name.parse();
    Ok(found.map(drop).map_err(Refused::from)?)
}

pub(crate) fn of_json<T: serde::de::DeserializeOwned>(json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

pub(crate) fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The parameters of the batch solver.
pub(crate) fn batch(json: &str) -> PyResult<BaUbauc> {
    match of_json(json)? {
        Spec::BaUbauc(spec) => Ok(spec),
        other => Err(unknown("algorithm", other.algorithm().name(), "ba-ubauc")),
    }
}

/// The parameters of the online learner.
pub(crate) fn online(json: &str) -> PyResult<OlUbauc> {
    match of_json(json)? {
        Spec::OlUbauc(spec) => Ok(spec),
        other => Err(unknown("algorithm", other.algorithm().name(), "ol-ubauc")),
    }
}

/// The parameters of a rival that learns a stream or has an estimator.
pub(crate) fn rival(json: &str) -> PyResult<Spec> {
    let spec: Spec = of_json(json)?;
    let is_offered = |of: &Algorithm| of.is_rival() && *of != Algorithm::Svm;
    let algorithm = spec.algorithm();
    match is_offered(&algorithm) {
        true => Ok(spec),
        false => {
            let names = Algorithm::all().filter(is_offered).map(Algorithm::name);
            let must = format!("one of {}", names.collect::<Vec<_>>().join(", "));
            Err(unknown("algorithm", algorithm.name(), &must))
        }
    }
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("MAX_COLUMNS", MAX_COLUMNS)?;
    module.add("PAIRS_PER_COLUMN", PAIRS_PER_COLUMN)?;
    module.add_function(wrap_pyfunction!(defaults, module)?)?;
    module.add_function(wrap_pyfunction!(suited_scale, module)?)?;
    module.add_function(wrap_pyfunction!(check_criterion, module)?)
}
