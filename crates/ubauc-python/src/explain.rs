//! Effects: what a model has learned of columns and pairs, as a file keeps it, as a document, and of single rows.
//!
//! In Python a score is what `decision_function` says, less the threshold: so the threshold is 0 here.

use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use ubauc::document::{Document, html, markdown, text};
use ubauc::features::FeatureMap;
use ubauc::glass_box::effects::{Effects, SavedEffects};
use ubauc::glass_box::explain::{self, RowSum, Shown};
use ubauc::model::Model;

use crate::error::{Refused, unknown};
use crate::input::{Matrix, detached};
use crate::model::ModelFields;
use crate::spec::{of_json, to_json};
use crate::table::{Table, columns_of};

/// The effects of a model of rows of numbers, as JSON.
#[pyfunction]
fn effects_of_rows(
    py: Python<'_>,
    x: Matrix<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    model: ModelFields<'_>,
) -> PyResult<String> {
    let (x, model) = (x.slices()?, model.model()?);
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let effects = detached(py, 1, || {
        let rows = x.smaller_rows()?;
        let Model {
            weights: w,
            intercept,
            ..
        } = &model;
        Ok(SavedEffects::of_numbers(&rows, w, *intercept, weights))
    })?;
    to_json(&effects)
}

/// The effects of a model of a table, with the gains of its pairs, as JSON.
#[pyfunction]
fn effects_of_table(
    py: Python<'_>,
    table: &Table,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    model: ModelFields<'_>,
    gains: Vec<f64>,
) -> PyResult<String> {
    let model = model.model()?;
    let map = match &model.features {
        FeatureMap::Columns(map) => map,
        FeatureMap::Identity | FeatureMap::Hash { .. } => {
            return Err(unknown("features", "numbers", "a map of columns"));
        }
    };
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let effects = detached(py, 1, || {
        let (w, intercept) = (&model.weights, model.intercept);
        Ok(Effects::new(map, w, intercept, &table.0, weights)?)
    })?;
    to_json(&effects.saved().with_gains(gains))
}

/// What a user should know of the columns of a map.
#[pyfunction]
fn notes_of_map(features: &str) -> PyResult<Vec<String>> {
    Ok(columns_of(features)?.notes())
}

/// Rows of either kind.
#[derive(FromPyObject)]
enum Examples<'py> {
    Table(Bound<'py, Table>),
    Rows(Matrix<'py>),
}

/// A model, ready to be explained.
#[pyclass(module = "ubauc._core", frozen)]
struct Explained {
    model: Model,
    explained: explain::Explained,
}

#[pymethods]
impl Explained {
    #[new]
    #[pyo3(signature = (model, effects))]
    fn new(model: ModelFields<'_>, effects: Option<&str>) -> PyResult<Explained> {
        let mut model = model.model()?;
        let mut effects: Option<SavedEffects> = effects.map(of_json).transpose()?;
        let cut = model.threshold;
        if let Some(effects) = &mut effects {
            effects.intercept -= cut;
        }
        model.intercept -= cut;
        model.threshold = 0.0;
        let explained = explain::Explained::new(&model, effects.as_ref());
        let explained = explained.map_err(Refused::from)?;
        Ok(Explained { model, explained })
    }

    /// Everything, as JSON.
    fn to_json(&self) -> PyResult<String> {
        to_json(&self.explained)
    }

    /// What each term adds to the score of each row.
    fn eval<'py>(
        &self,
        py: Python<'py>,
        x: Examples<'py>,
        n_jobs: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let explained = &self.explained;
        let adds = match &x {
            Examples::Table(table) => {
                let table = &table.get().0;
                detached(py, n_jobs, || Ok(explained.eval_table(table)?))?
            }
            Examples::Rows(x) => {
                let x = x.slices()?;
                detached(py, n_jobs, || Ok(explained.eval_rows(&*x.rows()?)?))?
            }
        };
        let terms = explained.terms.len();
        let flat: Vec<f64> = adds.into_iter().flatten().collect();
        let rows = flat.len().checked_div(terms).unwrap_or(0);
        let array = numpy::ndarray::Array2::from_shape_vec((rows, terms), flat);
        let array = array.map_err(|error| unknown("terms", &error.to_string(), "a table"))?;
        Ok(PyArray2::from_owned_array(py, array))
    }

    /// What drives the score, as "text", "html" or "markdown".
    fn render(&self, format: &str, top: usize, all: &str) -> PyResult<String> {
        rendered(&self.explained.document(Shown { top, all }), format)
    }

    /// The score of the first of these rows as a sum: JSON, to be rendered.
    fn row(&self, py: Python<'_>, x: Examples<'_>) -> PyResult<String> {
        let (model, explained) = (&self.model, &self.explained);
        let sum = match &x {
            Examples::Table(table) => {
                let table = &table.get().0;
                detached(py, 1, || Ok(explained.row_of_table(model, table, 0)?))?
            }
            Examples::Rows(x) => {
                let x = x.slices()?;
                detached(py, 1, || {
                    Ok(explained.row_of_numbers(model, &*x.rows()?, 0)?)
                })?
            }
        };
        to_json(&sum)
    }
}

/// A sum of `Explained.row` for people.
#[pyfunction]
fn render_row(sum: &str, example: &str, format: &str) -> PyResult<String> {
    let sum: RowSum = of_json(sum)?;
    rendered(&sum.document(example), format)
}

fn rendered(document: &Document, format: &str) -> PyResult<String> {
    match format {
        "text" => Ok(text::render(document)),
        "html" => Ok(html::fragment(document)),
        "markdown" => Ok(markdown::render(document)),
        _ => Err(unknown("format", format, "text, html or markdown")),
    }
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Explained>()?;
    module.add_function(wrap_pyfunction!(effects_of_rows, module)?)?;
    module.add_function(wrap_pyfunction!(effects_of_table, module)?)?;
    module.add_function(wrap_pyfunction!(notes_of_map, module)?)?;
    module.add_function(wrap_pyfunction!(render_row, module)?)
}
