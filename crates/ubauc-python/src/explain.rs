//! Effects: what a model has learned of columns and pairs, as a file keeps it, as a document, and of single rows.
//!
//! In Python a score is what `decision_function` says, less the threshold: so the threshold is 0 here.

use std::sync::Arc;

use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use ubauc::algorithm::Spec;
use ubauc::data::dataset::Dataset;
use ubauc::data::rows::Rows;
use ubauc::document::{Document, html, markdown, text};
use ubauc::features::FeatureMap;
use ubauc::glass_box;
use ubauc::glass_box::effects::{Effects, SavedEffects};
use ubauc::glass_box::explain::{self, RowSum, Shown};
use ubauc::glass_box::intervals::Refit;
use ubauc::model::Model;

use crate::cluster_maps::LearnedMap;
use crate::error::{Refused, unknown};
use crate::input::{Matrix, detached, two_classes};
use crate::model::ModelFields;
use crate::spec::{Context, of_json, to_json};
use crate::table::{Table, columns_of};

/// The effects of a model of rows of numbers, as JSON.
#[pyfunction]
fn effects_of_rows(
    py: Python<'_>,
    x: Matrix<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    model: ModelFields<'_>,
    refit: Option<RefitFields<'_>>,
) -> PyResult<String> {
    let refit = refit.as_ref().map(RefitFields::lent).transpose()?;
    let (x, model) = (x.slices()?, model.model()?);
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let n_jobs = refit.as_ref().map_or(1, |refit| refit.n_jobs);
    let effects = detached(py, n_jobs, || {
        let Model {
            weights: w,
            intercept,
            ..
        } = &model;
        let saved = |rows: &Rows| SavedEffects::of_numbers(rows, w, *intercept, weights);
        let Some(refit) = &refit else {
            return Ok(saved(&*x.smaller_rows()?));
        };
        let data = x.dataset(refit.positive, refit.classes.clone())?;
        let saved = saved(data.rows());
        let intervals = refit.intervals(&data, None, weights, |refit| {
            refit.of_numbers(&saved.deviations, w)
        })?;
        Ok(saved.with_intervals(intervals))
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
    refit: Option<RefitFields<'_>>,
) -> PyResult<String> {
    let refit = refit.as_ref().map(RefitFields::lent).transpose()?;
    let model = model.model()?;
    let map = match &model.features {
        FeatureMap::Columns(map) => map,
        FeatureMap::Identity | FeatureMap::Hash { .. } => {
            return Err(unknown("features", "numbers", "a map of columns"));
        }
    };
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let n_jobs = refit.as_ref().map_or(1, |refit| refit.n_jobs);
    let effects = detached(py, n_jobs, || {
        let (w, intercept) = (&model.weights, model.intercept);
        let effects = Effects::new(map, w, intercept, &table.0, weights)?;
        let intervals = match &refit {
            Some(refit) => {
                let labels = two_classes(refit.positive, refit.classes.clone());
                let data = Dataset::new(map.apply(&table.0)?, labels, Vec::new())?;
                refit.intervals(&data, refit.learned.as_deref(), weights, |refit| {
                    refit.of_table(map, &table.0, w)
                })?
            }
            None => None,
        };
        Ok(effects.saved().with_intervals(intervals))
    })?;
    to_json(&effects.with_gains(gains))
}

/// How the weights were learned, to learn them again for the intervals of importances.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct RefitFields<'py> {
    positive: PyReadonlyArray1<'py, bool>,
    groups: Option<PyReadonlyArray1<'py, u32>>,
    spec: String,
    /// How features share weights, and are in order; none if they do neither.
    learned: Option<Bound<'py, LearnedMap>>,
    context: Context,
}

/// The same without Python.
struct LentRefit<'a> {
    positive: &'a [bool],
    groups: Option<&'a [u32]>,
    spec: Spec,
    learned: Option<Arc<glass_box::LearnedMap>>,
    classes: [String; 2],
    n_jobs: usize,
}

impl RefitFields<'_> {
    fn lent(&self) -> PyResult<LentRefit<'_>> {
        let groups = self.groups.as_ref();
        Ok(LentRefit {
            positive: self.positive.as_slice()?,
            groups: groups.map(|g| g.as_slice()).transpose()?,
            spec: of_json(&self.spec)?,
            learned: self.learned.as_ref().map(|learned| learned.get().0.clone()),
            classes: self.context.classes.clone(),
            n_jobs: self.context.n_jobs,
        })
    }
}

impl LentRefit<'_> {
    /// None of models that are no minima.
    fn intervals(
        &self,
        data: &Dataset,
        learned: Option<&glass_box::LearnedMap>,
        weights: Option<&[f64]>,
        of: impl FnOnce(&Refit<'_>) -> ubauc::Result<Option<Vec<[f64; 2]>>>,
    ) -> ubauc::Result<Option<Vec<[f64; 2]>>> {
        let refit = Refit::new(&self.spec, data, learned, weights, self.groups)?;
        refit.as_ref().map_or(Ok(None), of)
    }
}

/// What a user should know of the columns of a map.
#[pyfunction]
fn notes_of_map(features: &str) -> PyResult<Vec<String>> {
    Ok(columns_of(features)?.notes())
}

/// The same model with its threshold taken from the scores, as Python has them.
pub(crate) fn cut_at_0(
    mut model: Model,
    mut effects: Option<SavedEffects>,
) -> (Model, Option<SavedEffects>) {
    let cut = model.threshold;
    if let Some(effects) = &mut effects {
        effects.intercept -= cut;
    }
    model.intercept -= cut;
    model.threshold = 0.0;
    (model, effects)
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
        let (model, effects) = cut_at_0(model.model()?, effects.map(of_json).transpose()?);
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
