//! Data frames: their columns as a table of the library, models learned from it, and its scores.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ubauc::algorithm;
use ubauc::data::table::{self, Column, Values};
use ubauc::features::columns::TableSummary;
use ubauc::features::{ColumnMap, FeatureMap};
use ubauc::tune::TuneInputs;

use crate::caller::stop_if_asked;
use crate::columns::{ColumnFields, lent_columns, table_of};
use crate::error::{Refused, unknown};
use crate::fit::{answer, has_collapsed, watched};
use crate::input::{detached, two_classes};
use crate::model::ModelFields;
use crate::part::Part;
use crate::spec::{Context, of_json, to_json};
use crate::tune::{found, searched};

/// Columns of numbers, categories and times.
#[pyclass(module = "ubauc._core", frozen)]
pub(crate) struct Table(pub(crate) table::Table);

/// Names, columns and the number of rows.
type Fields<'py> = (
    Vec<String>,
    Vec<(&'static str, Bound<'py, PyAny>, Option<Vec<String>>)>,
    usize,
);

#[pymethods]
impl Table {
    #[new]
    fn new(names: Vec<String>, columns: Vec<ColumnFields<'_>>, rows: usize) -> PyResult<Table> {
        let columns = lent_columns(names, &columns, rows)?;
        let table = table_of(&columns, 0..rows);
        Ok(Table(table.map_err(Refused::from)?))
    }

    /// Rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.0.len(), self.0.columns().len())
    }

    /// What the values of each column are: number, category or time.
    #[getter]
    fn kinds(&self) -> Vec<&'static str> {
        let kind = |column: &Column| match column.values {
            Values::Number(_) => "number",
            Values::Category { .. } => "category",
            Values::Time(_) => "time",
        };
        self.0.columns().iter().map(kind).collect()
    }

    /// What it is made from: names, columns and the number of rows. A table may move from one worker to another.
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Fields<'py>> {
        let names = self.0.columns().iter().map(|c| c.name.clone()).collect();
        let columns = self.0.columns().iter().map(|column| {
            Ok(match &column.values {
                Values::Number(x) => ("number", x.to_pyarray(py).into_any(), None),
                Values::Time(x) => ("time", x.to_pyarray(py).into_any(), None),
                Values::Category { codes, levels } => {
                    let signed: Vec<i32> = codes.iter().map(|&code| code as i32).collect();
                    (
                        "category",
                        signed.into_pyarray(py).into_any(),
                        Some(levels.to_vec()),
                    )
                }
            })
        });
        Ok((names, columns.collect::<PyResult<_>>()?, self.0.len()))
    }

    /// The memory it takes, but for the levels.
    #[getter]
    fn nbytes(&self) -> usize {
        let bytes = |column: &Column| match column.values {
            Values::Number(_) | Values::Time(_) => 8,
            Values::Category { .. } => 4,
        };
        self.0.len() * self.0.columns().iter().map(bytes).sum::<usize>()
    }

    /// What is counted of the columns in the rows with a weight, as JSON.
    fn summary(
        &self,
        py: Python<'_>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<String> {
        let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
        let summary = detached(py, 1, || Ok(TableSummary::of(&self.0, weights)?))?;
        to_json(&summary)
    }

    /// Rows of the features that a map of columns makes.
    fn mapped(&self, py: Python<'_>, features: &str) -> PyResult<Part> {
        let map = columns_of(features)?;
        let rows = detached(py, 1, || Ok(map.apply(&self.0)?))?.into();
        Ok(Part { rows })
    }

    /// These rows.
    fn take(&self, py: Python<'_>, rows: PyReadonlyArray1<'_, i64>) -> PyResult<Table> {
        let rows = rows.as_slice()?;
        let n = self.0.len();
        let is_there = |row: &i64| usize::try_from(*row).is_ok_and(|row| row < n);
        if let Some(row) = rows.iter().find(|row| !is_there(row)) {
            return Err(PyValueError::new_err(format!("row {row} of {n}")));
        }
        let taken = py.detach(|| {
            let take = |column: &Column| Column {
                name: column.name.clone(),
                values: taken(&column.values, rows),
            };
            let columns = self.0.columns().iter().map(take).collect();
            table::Table::new(columns, rows.len())
        });
        Ok(Table(taken.map_err(Refused::from)?))
    }
}

fn taken(values: &Values, rows: &[i64]) -> Values {
    fn of<T: Copy>(values: &[T], rows: &[i64]) -> Vec<T> {
        rows.iter().map(|&row| values[row as usize]).collect()
    }
    match values {
        Values::Number(x) => Values::Number(of(x, rows).into()),
        Values::Time(x) => Values::Time(of(x, rows).into()),
        Values::Category { codes, levels } => Values::Category {
            codes: of(codes, rows),
            levels: levels.clone(),
        },
    }
}

/// Learns the map of the rows with a weight, unless there is one already, and a model of the features that it makes.
#[pyfunction]
#[pyo3(signature = (table, positive, weights, spec, context, features=None))]
pub(crate) fn fit_table<'py>(
    py: Python<'py>,
    table: &Table,
    positive: PyReadonlyArray1<'py, bool>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    spec: &str,
    context: Context,
    features: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let spec = of_json(spec)?;
    let map = features.map(columns_of).transpose()?;
    let positive = positive.as_slice()?;
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let (found, collapsed) = detached(py, context.n_jobs, || {
        let labels = two_classes(positive, context.classes.clone());
        watched(weights, &context, |inputs| {
            let found = match map {
                Some(map) => algorithm::fit_mapped(&table.0, map, (&labels, inputs), &spec)?,
                None => algorithm::fit_table(&table.0, &labels, inputs, &spec)?,
            };
            let collapsed = has_collapsed(&found.data, weights, &found.outcome);
            Ok((found, collapsed))
        })
    })?;
    let answer = answer(py, &found.outcome)?;
    answer.set_item("collapsed", collapsed)?;
    answer.set_item(
        "features",
        to_json(&FeatureMap::Columns(found.learned.map))?,
    )?;
    Ok(answer)
}

/// The loss and γ by cross-validation, with a map learned without each fold.
#[pyfunction]
#[pyo3(signature = (table, positive, weights, groups, search, context))]
pub(crate) fn tune_table<'py>(
    py: Python<'py>,
    table: &Table,
    positive: PyReadonlyArray1<'py, bool>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    groups: Option<PyReadonlyArray1<'py, u32>>,
    search: &str,
    context: Context,
) -> PyResult<String> {
    let positive = positive.as_slice()?;
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let groups = groups.as_ref().map(|g| g.as_slice()).transpose()?;
    searched(py, search, context.n_jobs, |params| {
        let progress = |_, _| stop_if_asked();
        let inputs = TuneInputs {
            weights,
            groups,
            monotone: None,
            progress: Some(&progress),
            stop: None,
        };
        let labels = two_classes(positive, context.classes.clone());
        let learn = &ColumnMap::learn;
        let tuned = ubauc::tune::tune_table(&table.0, &labels, &inputs, params, learn)?;
        Ok(found(&tuned))
    })
}

/// The score of every row.
#[pyfunction]
pub(crate) fn scores_table<'py>(
    py: Python<'py>,
    table: &Table,
    model: ModelFields<'py>,
    n_jobs: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let model = model.model()?;
    let scores = detached(py, n_jobs, || Ok(model.scores_table(&table.0)?))?;
    Ok(scores.into_pyarray(py))
}

/// A name for every feature that a map of columns makes; none of another map.
#[pyfunction]
pub(crate) fn feature_names(features: &str) -> PyResult<Vec<String>> {
    Ok(match of_json(features)? {
        FeatureMap::Columns(map) => map.feature_names(),
        FeatureMap::Identity | FeatureMap::Hash { .. } => Vec::new(),
    })
}

/// The map of columns that features are made by.
pub(crate) fn columns_of(features: &str) -> PyResult<ColumnMap> {
    match of_json(features)? {
        FeatureMap::Columns(map) => Ok(map),
        FeatureMap::Identity | FeatureMap::Hash { .. } => {
            Err(unknown("features", features, "a map of columns"))
        }
    }
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Table>()?;
    module.add_function(wrap_pyfunction!(fit_table, module)?)?;
    module.add_function(wrap_pyfunction!(tune_table, module)?)?;
    module.add_function(wrap_pyfunction!(scores_table, module)?)?;
    module.add_function(wrap_pyfunction!(feature_names, module)?)
}
