//! Model files: those of the command line.

use std::path::PathBuf;

use numpy::{PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ubauc::model::LinearModel;
use ubauc::model_file::SavedModel;

use crate::error::Refused;

/// The model; `parameters` and `certificate` are JSON objects.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Model<'py> {
    algorithm: String,
    parameters: String,
    certificate: String,
    classes: [String; 2],
    names: Vec<String>,
    threshold: f64,
    intercept: f64,
    weights: PyReadonlyArray1<'py, f64>,
}

#[pyfunction]
pub(crate) fn save_model(path: PathBuf, model: Model<'_>) -> PyResult<()> {
    let json = |text: &str| {
        serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
    };
    let saved = SavedModel {
        algorithm: model.algorithm,
        parameters: json(&model.parameters)?,
        certificate: json(&model.certificate)?,
        model: LinearModel {
            weights: model.weights.as_slice()?.to_vec(),
            intercept: model.intercept,
            threshold: model.threshold,
            classes: model.classes,
            names: model.names,
        },
    };
    Ok(saved.save(&path).map_err(Refused::from)?)
}

#[pyfunction]
pub(crate) fn load_model(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let saved = SavedModel::load(&path).map_err(Refused::from)?;
    let json = |value: &std::collections::BTreeMap<String, serde_json::Value>| {
        serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
    };
    let answer = PyDict::new(py);
    answer.set_item("algorithm", &saved.algorithm)?;
    answer.set_item("parameters", json(&saved.parameters)?)?;
    answer.set_item("certificate", json(&saved.certificate)?)?;
    answer.set_item("classes", &saved.model.classes)?;
    answer.set_item("names", &saved.model.names)?;
    answer.set_item("threshold", saved.model.threshold)?;
    answer.set_item("intercept", saved.model.intercept)?;
    answer.set_item("weights", saved.model.weights.to_pyarray(py))?;
    Ok(answer)
}
