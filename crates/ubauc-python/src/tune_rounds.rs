//! The same searches as in `tune.rs` and `maps.rs`, over rows on a cluster: Python carries rounds, judges, and learns maps.

use std::borrow::Cow;
use std::sync::Arc;

use numpy::ToPyArray;
use pyo3::prelude::*;
use ubauc::data::scale::Scale;
use ubauc::glass_box::{LearnedMap, MapKind};
use ubauc::solver::ba_ubauc::Fit;
use ubauc::solver::ba_ubauc::path::Path;
use ubauc::solver::shards::Weighting;
use ubauc::tune::{
    Folds, GridPoint, Sizes, TableFolds, TuneInputs, TuneParams, Tuned, Unseen, Verdict,
    tune_maps_over, tune_over,
};

use crate::caller::stop_if_asked;
use crate::cluster_maps;
use crate::failure::Failure;
use crate::input::detached;
use crate::rounds::{RemoteShards, transform_of};
use crate::spec::{Context, of_json, to_json};
use crate::tune::{Search, answer, found};

/// Rows on a cluster.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RemoteRows {
    n_neg: usize,
    n_pos: usize,
    /// Folds of all deals that are left out in turn.
    folds: u32,
    cols: usize,
    /// Those that every model ties.
    unavoidable: usize,
    /// Called with a fold: sends rounds to the rows without it, and has `close`.
    without: Py<PyAny>,
    /// Called with a fold and weights: the criterion of its rows, and whether all their scores are equal.
    judge: Py<PyAny>,
    /// Of tables: the map learned without each fold.
    maps: Option<Vec<Py<cluster_maps::LearnedMap>>>,
}

/// The folds of rows on a cluster. What Python raises ends all fits under way.
struct RemoteFolds {
    rows: RemoteRows,
    /// The map learned without each fold; none of rows.
    maps: Vec<Arc<LearnedMap>>,
    /// Those of all deals that are left out in turn.
    folds: u32,
    classes: [String; 2],
    scale: Scale,
    failure: Failure,
}

impl RemoteFolds {
    fn new(
        rows: RemoteRows,
        params: &TuneParams,
        context: &Context,
        failure: Failure,
    ) -> RemoteFolds {
        let maps = rows.maps.iter().flatten();
        RemoteFolds {
            maps: maps.map(|map| map.get().0.clone()).collect(),
            folds: rows.folds,
            rows,
            classes: context.classes.clone(),
            scale: params.scale,
            failure,
        }
    }

    /// Features without a fold.
    fn cols(&self, without: u32) -> usize {
        let map = self.maps.get(without as usize);
        map.map_or(self.rows.cols, |learned| learned.map.width())
    }
}

impl Folds for RemoteFolds {
    fn sizes(&self) -> Sizes {
        Sizes {
            folds: self.folds,
            n_pos: self.rows.n_pos,
            n_neg: self.rows.n_neg,
            cols: (0..self.folds)
                .map(|fold| self.cols(fold))
                .max()
                .unwrap_or(0),
            unavoidable: self.rows.unavoidable,
        }
    }

    fn path(&self, without: u32, weighting: Weighting) -> ubauc::Result<Path<'_>> {
        stop_if_asked();
        self.failure.check()?;
        let send = Python::attach(|py| self.rows.without.call1(py, (without,)));
        let send = send.map_err(|error| self.failure.set(error))?;
        let source = RemoteShards::closing(send, self.failure.clone());
        let cols = self.cols(without);
        let map = self.maps.get(without as usize);
        let transform = transform_of(map.map(|map| &**map), self.scale);
        Path::of_source(Box::new(source), cols, &self.classes, transform, weighting)
    }

    fn judge(&self, fold: u32, fit: &Fit) -> ubauc::Result<Unseen> {
        stop_if_asked();
        self.failure.check()?;
        let judged = Python::attach(|py| {
            let weights = fit.weights.to_pyarray(py);
            let judged = self.rows.judge.bind(py).call1((fold, weights))?;
            judged.extract::<(f64, bool)>()
        });
        let (value, constant) = judged.map_err(|error| self.failure.set(error))?;
        Ok(Unseen { value, constant })
    }

    fn carry<'w>(&self, weights: &'w [f64], to: u32) -> Option<Cow<'w, [f64]>> {
        Some(match (self.maps.first(), self.maps.get(to as usize)) {
            (Some(first), Some(other)) if to > 0 => {
                Cow::Owned(first.map.carry(weights, &other.map))
            }
            _ => Cow::Borrowed(weights),
        })
    }
}

/// The same search over rows on a cluster; who calls compares the choice on rows held out. Python is called from as many threads
/// as `n_jobs` says, since rounds are mostly waiting.
#[pyfunction]
fn tune_rounds(
    py: Python<'_>,
    rows: RemoteRows,
    search: &str,
    context: Context,
) -> PyResult<String> {
    let params = of_json::<Search>(search)?.params()?;
    let folds = RemoteFolds::new(rows, &params, &context, Failure::default());
    let answered = detached(py, context.n_jobs, || {
        let progress = |_, _| stop_if_asked();
        let tuned = tune_over(&folds, &params, Some(&progress), None);
        let tuned = folds.failure.or(tuned);
        Ok(answer(&params, tuned.map(|tuned| found(&tuned)))?)
    })?;
    to_json(&answered)
}

/// A table on a cluster.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RemoteTable {
    examples: usize,
    columns: usize,
    /// Called with nothing: whether any number has bins.
    has_bins: Py<PyAny>,
    /// Called with the JSON of a map: [`RemoteRows`] of its features.
    rows: Py<PyAny>,
}

struct RemoteTableFolds {
    table: RemoteTable,
    context: Context,
    failure: Failure,
}

impl TableFolds for RemoteTableFolds {
    fn rows(&self) -> usize {
        self.table.examples
    }

    fn columns(&self) -> usize {
        self.table.columns
    }

    fn has_bins(&self) -> ubauc::Result<bool> {
        let found = Python::attach(|py| self.table.has_bins.call0(py)?.extract(py));
        found.map_err(|error| self.failure.set(error))
    }

    fn search(
        &self,
        map: &MapKind,
        params: &TuneParams,
        over: &dyn Fn(&dyn Folds) -> ubauc::Result<Tuned>,
    ) -> ubauc::Result<Tuned> {
        stop_if_asked();
        let rows = Python::attach(|py| {
            let rows = self.table.rows.bind(py).call1((to_json(map)?,))?;
            rows.extract::<RemoteRows>()
        });
        let rows = rows.map_err(|error| self.failure.set(error))?;
        let folds = RemoteFolds::new(rows, params, &self.context, self.failure.clone());
        over(&folds)
    }

    /// Who calls compares the choice on rows held out.
    fn verdict(
        &self,
        _: (&MapKind, &GridPoint),
        _: (&MapKind, &GridPoint),
        _: &TuneParams,
    ) -> ubauc::Result<Option<Verdict>> {
        Ok(None)
    }
}

/// The search over maps, of a table on a cluster.
#[pyfunction]
#[pyo3(signature = (table, maps, search, context))]
fn tune_map_rounds(
    py: Python<'_>,
    table: RemoteTable,
    maps: Option<&str>,
    search: &str,
    context: Context,
) -> PyResult<String> {
    let params = of_json::<Search>(search)?.params()?;
    let maps: Option<Vec<MapKind>> = maps.map(of_json).transpose()?;
    let n_jobs = context.n_jobs;
    let source = RemoteTableFolds {
        table,
        context,
        failure: Failure::default(),
    };
    let answered = detached(py, n_jobs, || {
        let progress = |_, _| stop_if_asked();
        let inputs = TuneInputs {
            progress: Some(&progress),
            ..TuneInputs::default()
        };
        let tuned = tune_maps_over(&source, &inputs, &params, maps.as_deref());
        let tuned = source.failure.or(tuned);
        Ok(answer(
            &params,
            tuned.map(|tuned| crate::maps::found(&tuned)),
        )?)
    })?;
    to_json(&answered)
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(tune_rounds, module)?)?;
    module.add_function(wrap_pyfunction!(tune_map_rounds, module)?)
}
