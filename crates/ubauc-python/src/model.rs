//! Models: scores of raw rows, and the files of the command line.

use std::path::PathBuf;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::{Deserialize, Serialize};
use ubauc::atomic::AtomicFile;
use ubauc::calibrate::Calibration;
use ubauc::export::{ExportOptions, Target, export};
use ubauc::model::{Model, Partition, Reading};
use ubauc::model_file::SavedModel;

use crate::error::Refused;
use crate::input::{Matrix, detached};

/// Slope, offset, knots and levels.
type CalibrationFields<'py> = (
    f64,
    f64,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
);

/// A model as Python has it; `features` is a JSON object.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ModelFields<'py> {
    features: String,
    weights: PyReadonlyArray1<'py, f64>,
    intercept: f64,
    threshold: f64,
    calibration: Option<CalibrationFields<'py>>,
    classes: [String; 2],
    names: Vec<String>,
    /// How the table was written and which classes were divided in two, as JSON: nothing that Python has a use for.
    file: Option<String>,
}

/// What a file says besides, and Python only hands on.
#[derive(Default, Serialize, Deserialize)]
struct FileOnly {
    reading: Reading,
    partition: Option<Partition>,
}

impl ModelFields<'_> {
    pub(crate) fn model(self) -> PyResult<Model> {
        let calibration = match self.calibration {
            Some((slope, offset, knots, levels)) => {
                let (knots, levels) = (knots.as_slice()?.to_vec(), levels.as_slice()?.to_vec());
                Some(Calibration::new(slope, offset, knots, levels).map_err(Refused::from)?)
            }
            None => None,
        };
        let FileOnly { reading, partition } = match &self.file {
            Some(file) => from_json(file)?,
            None => FileOnly::default(),
        };
        Ok(Model {
            features: from_json(&self.features)?,
            weights: self.weights.as_slice()?.to_vec(),
            intercept: self.intercept,
            threshold: self.threshold,
            calibration,
            classes: self.classes,
            names: self.names,
            reading,
            partition,
        })
    }
}

/// What a file says of the training of a model; all but the algorithm are JSON objects.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Training {
    algorithm: String,
    parameters: String,
    certificate: String,
    effects: Option<String>,
}

/// The score of every raw row.
#[pyfunction]
pub(crate) fn scores<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    model: ModelFields<'py>,
    n_jobs: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (x, model) = (x.slices()?, model.model()?);
    let scores = detached(py, n_jobs, || Ok(model.scores(&*x.rows()?)?))?;
    Ok(scores.into_pyarray(py))
}

#[pyfunction]
pub(crate) fn save_model(
    path: PathBuf,
    model: ModelFields<'_>,
    training: Training,
) -> PyResult<()> {
    let saved = SavedModel::new(
        model.model()?,
        &training.algorithm,
        from_json(&training.parameters)?,
        from_json(&training.certificate)?,
    );
    let effects = training.effects.as_deref().map(from_json).transpose()?;
    let saved = saved.map_err(Refused::from)?.with_effects(effects);
    Ok(saved.save(&path).map_err(Refused::from)?)
}

/// The model and its training, as `save_model` takes them.
#[pyfunction]
pub(crate) fn load_model(
    py: Python<'_>,
    path: PathBuf,
) -> PyResult<(Bound<'_, PyDict>, Bound<'_, PyDict>)> {
    let saved = SavedModel::load(&path).map_err(Refused::from)?;
    let model = PyDict::new(py);
    model.set_item("features", to_json(&saved.model.features)?)?;
    model.set_item("weights", saved.model.weights.to_pyarray(py))?;
    model.set_item("intercept", saved.model.intercept)?;
    model.set_item("threshold", saved.model.threshold)?;
    let calibration = saved.model.calibration.as_ref();
    model.set_item(
        "calibration",
        calibration.map(|c| {
            (
                c.slope,
                c.offset,
                c.knots.to_pyarray(py),
                c.levels.to_pyarray(py),
            )
        }),
    )?;
    model.set_item("classes", &saved.model.classes)?;
    model.set_item("names", &saved.model.names)?;
    let file = FileOnly {
        reading: saved.model.reading,
        partition: saved.model.partition,
    };
    model.set_item("file", to_json(&file)?)?;
    let training = PyDict::new(py);
    training.set_item("algorithm", &saved.algorithm)?;
    training.set_item("parameters", to_json(&saved.parameters)?)?;
    training.set_item("certificate", to_json(&saved.certificate)?)?;
    let effects = saved.effects.as_ref().map(to_json).transpose()?;
    training.set_item("effects", effects)?;
    Ok((model, training))
}

/// Writes the model in another form; notes on what that form leaves out.
#[pyfunction]
pub(crate) fn export_model(
    path: PathBuf,
    model: ModelFields<'_>,
    to: &str,
    table: String,
) -> PyResult<Vec<String>> {
    let target = Target::of_name(to).ok_or_else(|| {
        let names = Target::ALL.map(Target::name).join(", ");
        PyValueError::new_err(format!("to = {to:?}: must be one of {names}"))
    })?;
    let options = ExportOptions { table };
    let exported = export(&model.model()?, target, &options).map_err(Refused::from)?;
    let write = || {
        let mut file = AtomicFile::create(&path)?;
        file.put(&exported.bytes)?;
        file.commit()
    };
    write().map_err(Refused::from)?;
    Ok(exported.notes)
}

fn from_json<T: for<'a> serde::Deserialize<'a>>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn to_json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(scores, module)?)?;
    module.add_function(wrap_pyfunction!(save_model, module)?)?;
    module.add_function(wrap_pyfunction!(load_model, module)?)?;
    module.add_function(wrap_pyfunction!(export_model, module)?)
}
