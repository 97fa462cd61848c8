//! More than two classes: the weights of the problem of each, and one search for all.

use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Labels;
use ubauc::features::{ColumnMap, FeatureMap};
use ubauc::many_classes::{Classes, MultiClass};
use ubauc::tune::{ClassRows, TuneInputs};

use crate::caller::stop_if_asked;
use crate::error::{Refused, unknown};
use crate::input::{Matrix, detached};
use crate::spec::{Context, to_json};
use crate::table::Table;
use crate::tune::{found, searched};

/// The codes of the classes, each of which occurs, from 0 on.
fn labels_of(codes: &[u32]) -> PyResult<Labels> {
    let most = codes.iter().copied().max().unwrap_or(0);
    let texts: Vec<String> = (0..=most).map(|code| code.to_string()).collect();
    let labels = Labels::of_categories(codes, &texts);
    let labels = labels.filter(|labels| labels.classes().len() == texts.len());
    labels.ok_or_else(|| PyValueError::new_err("a class has no example, or they are too many"))
}

fn multi_class_of(name: &str) -> PyResult<MultiClass> {
    match name {
        "hand-till" => Ok(MultiClass::HandTill),
        "ovr" => Ok(MultiClass::OneAgainstRest),
        _ => Err(unknown("multi_class", name, "hand-till or ovr")),
    }
}

/// The sample weights of the problem of one class against the rest; None if all are 1.
#[pyfunction]
#[pyo3(signature = (codes, weights, class_code, multi_class))]
fn class_problem<'py>(
    py: Python<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    class_code: usize,
    multi_class: &str,
) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
    let labels = labels_of(codes.as_slice()?)?;
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let classes = Classes::new(&labels, weights, multi_class_of(multi_class)?);
    let classes = classes.map_err(Refused::from)?;
    if class_code >= classes.count() {
        return Err(PyValueError::new_err("no such class"));
    }
    let weights = classes.problem(class_code).weights;
    Ok(weights.map(|weights| weights.to_pyarray(py)))
}

/// The linear map of a table that the scorers of all classes share, as JSON.
#[pyfunction]
#[pyo3(signature = (table, codes, weights, multi_class))]
fn class_map(
    py: Python<'_>,
    table: &Table,
    codes: PyReadonlyArray1<'_, u32>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    multi_class: &str,
) -> PyResult<String> {
    let labels = labels_of(codes.as_slice()?)?;
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let multi_class = multi_class_of(multi_class)?;
    let map = detached(py, 1, || {
        Ok(Classes::new(&labels, weights, multi_class)?.linear_map(&table.0)?)
    })?;
    to_json(&FeatureMap::Columns(map))
}

/// One loss and one γ for the scorers of all classes, of rows of numbers.
#[pyfunction]
#[pyo3(signature = (x, codes, weights, multi_class, search, context))]
fn tune_classes<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    multi_class: &str,
    search: &str,
    context: Context,
) -> PyResult<String> {
    let (x, codes) = (x.slices()?, codes.as_slice()?);
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let (labels, multi_class) = (labels_of(codes)?, multi_class_of(multi_class)?);
    searched(py, search, context.n_jobs, |params| {
        let first: Vec<bool> = codes.iter().map(|&code| code == 0).collect();
        let data = x.dataset(&first, context.classes.clone())?;
        let data: &Dataset = &data;
        let classes = Classes::new(&labels, weights, multi_class)?;
        let progress = |_, _| stop_if_asked();
        let inputs = TuneInputs {
            progress: Some(&progress),
            ..TuneInputs::default()
        };
        let rows = ClassRows::Rows(data);
        Ok(found(&ubauc::tune::tune_classes(
            rows, &classes, &inputs, params,
        )?))
    })
}

/// The same of a table, whose linear map is learned without each fold.
#[pyfunction]
#[pyo3(signature = (table, codes, weights, multi_class, search, context))]
fn tune_classes_table<'py>(
    py: Python<'py>,
    table: &Table,
    codes: PyReadonlyArray1<'py, u32>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    multi_class: &str,
    search: &str,
    context: Context,
) -> PyResult<String> {
    let codes = codes.as_slice()?;
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let (labels, multi_class) = (labels_of(codes)?, multi_class_of(multi_class)?);
    searched(py, search, context.n_jobs, |params| {
        let classes = Classes::new(&labels, weights, multi_class)?;
        let progress = |_, _| stop_if_asked();
        let inputs = TuneInputs {
            progress: Some(&progress),
            ..TuneInputs::default()
        };
        let rows = ClassRows::Table(&table.0, &ColumnMap::learn);
        Ok(found(&ubauc::tune::tune_classes(
            rows, &classes, &inputs, params,
        )?))
    })
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(class_problem, module)?)?;
    module.add_function(wrap_pyfunction!(class_map, module)?)?;
    module.add_function(wrap_pyfunction!(tune_classes, module)?)?;
    module.add_function(wrap_pyfunction!(tune_classes_table, module)?)
}
