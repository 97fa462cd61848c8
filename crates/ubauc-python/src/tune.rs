//! The search for the loss and γ, over rows that are here or on a cluster.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use numpy::ndarray::ArrayView1;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use ubauc::data::scale::Scale;
use ubauc::data::split;
use ubauc::glass_box::{LearnedMap, MapKind};
use ubauc::metrics::Criterion;
use ubauc::solver::ba_ubauc::path::Path;
use ubauc::solver::ba_ubauc::{BaUbaucParams, Fit};
use ubauc::solver::shards::Weighting;
use ubauc::tune::{
    DealtGroups, Folds, GridPoint, LossGrid, Setting, Sizes, TableFolds, TuneInputs, TuneParams,
    Tuned, Unseen, Verdict, tune_maps_over, tune_over,
};

use crate::caller::stop_if_asked;
use crate::cluster_maps;
use crate::error::{Refused, unknown};
use crate::input::{Matrix, detached};
use crate::rounds::{RemoteShards, transform_of};
use crate::spec::{Context, of_json, to_json};

/// What is searched, and how.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    loss: LossGrid,
    scale: Scale,
    seed: u64,
    criterion: Criterion,
    /// Seconds.
    time_limit: Option<f64>,
    /// The library's where nothing is said.
    folds: Option<u32>,
    repeats: Option<u32>,
    held_out: Option<f64>,
}

impl Search {
    fn params(&self) -> PyResult<TuneParams> {
        let default = self.loss.params();
        let time_limit = match self.time_limit.map(Duration::try_from_secs_f64) {
            Some(Err(_)) => {
                let shown = format!("{:?}", self.time_limit);
                return Err(unknown("time_limit", &shown, "a number of seconds"));
            }
            Some(Ok(limit)) => Some(limit),
            None => None,
        };
        Ok(TuneParams {
            scale: self.scale,
            seed: self.seed,
            criterion: self.criterion,
            folds: self.folds.unwrap_or(default.folds),
            repeats: self.repeats.or(default.repeats),
            held_out: self.held_out.unwrap_or(default.held_out),
            time_limit,
            ..default
        })
    }
}

/// A loss with its γ, as parameters.
pub(crate) fn as_parameters(setting: &Setting, gamma: f64) -> Value {
    let mut parameters = json!(setting);
    parameters["gamma"] = json!(gamma);
    parameters
}

/// What was tried, and what to fit.
pub(crate) fn found(tuned: &Tuned) -> Value {
    json!({
        "best": as_parameters(&tuned.best().setting, tuned.best().gamma),
        "is_logistic": tuned.best().setting.is_logistic(),
        "tuned": {
            "points": tuned.points,
            "chosen": tuned.chosen,
            "logistic": tuned.logistic,
            "verdict": tuned.verdict,
            "is_worse_than_logistic": tuned.verdict.as_ref().is_some_and(Verdict::is_worse),
            "cut_short": tuned.cut_short,
        },
    })
}

/// The same where every model may have collapsed: then nothing was tried.
fn answer(params: &TuneParams, found: ubauc::Result<Value>) -> ubauc::Result<Value> {
    match found {
        // The largest β comes nearest to a model that has not collapsed.
        Err(ubauc::Error::Parameter { name: "betas", .. }) => {
            let by_beta = |a: &&Setting, b: &&Setting| a.beta.total_cmp(&b.beta);
            let setting = params.settings.iter().rev().max_by(by_beta);
            let gamma = match params.gammas.as_slice() {
                [gamma] => *gamma,
                _ => BaUbaucParams::default().gamma,
            };
            Ok(json!({
                "best": setting.map(|setting| as_parameters(setting, gamma)),
                "tuned": null,
            }))
        }
        found => found,
    }
}

/// The loss and γ by cross-validation, beside logistic regression.
#[pyfunction]
#[pyo3(signature = (x, positive, weights, groups, search, context))]
fn tune<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    positive: PyReadonlyArray1<'py, bool>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    groups: Option<PyReadonlyArray1<'py, u32>>,
    search: &str,
    context: Context,
) -> PyResult<String> {
    let (x, positive) = (x.slices()?, positive.as_slice()?);
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let groups = groups.as_ref().map(|g| g.as_slice()).transpose()?;
    searched(py, search, context.n_jobs, |params| {
        let data = x.dataset(positive, context.classes.clone())?;
        let progress = |_, _| stop_if_asked();
        let inputs = TuneInputs {
            weights,
            groups,
            progress: Some(&progress),
            stop: None,
        };
        Ok(found(&ubauc::tune::tune(&data, &inputs, params)?))
    })
}

/// What a search over rows or a table of this process found, as JSON.
pub(crate) fn searched(
    py: Python<'_>,
    search: &str,
    n_jobs: usize,
    tune: impl FnOnce(&TuneParams) -> ubauc::Result<Value> + Send,
) -> PyResult<String> {
    let params = of_json::<Search>(search)?.params()?;
    let found = detached(py, n_jobs, || Ok(answer(&params, tune(&params))?))?;
    to_json(&found)
}

/// The fold of every example, from 0 to k − 1; examples of one group share theirs.
#[pyfunction]
fn folds<'py>(
    py: Python<'py>,
    positive: PyReadonlyArray1<'py, bool>,
    groups: Option<PyReadonlyArray1<'py, u32>>,
    k: u32,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let positive = positive.as_slice()?;
    let folds = match &groups {
        None => split::folds(positive, k, seed),
        Some(groups) => split::group_folds(positive, groups.as_slice()?, k, seed),
    };
    Ok(folds.map_err(Refused::from)?.to_pyarray(py))
}

/// Rows on a cluster.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RemoteRows {
    n_neg: usize,
    n_pos: usize,
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
    /// Those of all deals.
    folds: u32,
    classes: [String; 2],
    scale: Scale,
    failure: Failure,
}

/// What Python raised first; no more rounds are sent after it.
#[derive(Clone, Default)]
pub(crate) struct Failure {
    error: Arc<Mutex<Option<PyErr>>>,
    has_come: Arc<AtomicBool>,
}

impl Failure {
    pub(crate) fn set(&self, error: PyErr) -> ubauc::Error {
        if !self.has_come.swap(true, Ordering::SeqCst) {
            match self.error.lock() {
                Ok(mut first) => *first = Some(error),
                Err(poisoned) => *poisoned.into_inner() = Some(error),
            }
        }
        stopped()
    }

    pub(crate) fn check(&self) -> ubauc::Result<()> {
        match self.has_come.load(Ordering::SeqCst) {
            true => Err(stopped()),
            false => Ok(()),
        }
    }

    /// What was raised, in place of what came of it.
    pub(crate) fn or<T>(&self, found: ubauc::Result<T>) -> ubauc::Result<T> {
        let first = match self.error.lock() {
            Ok(mut error) => error.take(),
            Err(poisoned) => poisoned.into_inner().take(),
        };
        match first {
            Some(error) => Err(ubauc::Error::Rows(Box::new(error))),
            None => found,
        }
    }
}

fn stopped() -> ubauc::Error {
    ubauc::Error::Rows("the fit was stopped".into())
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
            folds: params.folds * params.repeats(rows.n_neg + rows.n_pos),
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

    fn carry<'w>(&self, weights: &'w [f64], to: u32) -> Cow<'w, [f64]> {
        match (self.maps.first(), self.maps.get(to as usize)) {
            (Some(first), Some(other)) if to > 0 => {
                Cow::Owned(first.map.carry(weights, &other.map))
            }
            _ => Cow::Borrowed(weights),
        }
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

/// How often a search deals n examples into folds, and into how many.
#[pyfunction]
fn deals(search: &str, n: usize) -> PyResult<(u32, u32)> {
    let params = of_json::<Search>(search)?.params()?;
    Ok((params.repeats(n), params.folds))
}

/// Negatives and positives of every group, in the order in which groups first appear.
type GroupCounts<'py> = PyReadonlyArray2<'py, i64>;

/// As the library has them: positives first.
fn counts_of(counts: &GroupCounts<'_>) -> PyResult<Vec<[usize; 2]>> {
    let counts = counts.as_array();
    let count = |row: ArrayView1<'_, i64>| -> Option<[usize; 2]> {
        let of = |class: usize| usize::try_from(*row.get(class)?).ok();
        Some([of(1)?, of(0)?])
    };
    let all: Option<Vec<_>> = counts.rows().into_iter().map(count).collect();
    all.ok_or_else(|| PyValueError::new_err("counts of groups are of two classes, and at least 0"))
}

/// How a search deals groups, as it does those of rows in memory: which are held out, and the fold of each, each time.
#[pyfunction]
fn deal_groups<'py>(
    py: Python<'py>,
    counts: GroupCounts<'py>,
    search: &str,
) -> PyResult<(Bound<'py, PyArray1<bool>>, Vec<Bound<'py, PyArray1<u32>>>)> {
    let params = of_json::<Search>(search)?.params()?;
    let dealt = DealtGroups::new(&counts_of(&counts)?, &params).map_err(Refused::from)?;
    let deals = dealt.deals.iter().map(|deal| deal.to_pyarray(py));
    Ok((dealt.held_out.to_pyarray(py), deals.collect()))
}

/// The fold of every group, from 0 to k − 1, as `folds` deals those of rows.
#[pyfunction]
fn folds_of_groups<'py>(
    py: Python<'py>,
    counts: GroupCounts<'py>,
    k: u32,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let folds = split::folds_of_groups(&counts_of(&counts)?, k, seed);
    Ok(folds.map_err(Refused::from)?.to_pyarray(py))
}

/// The fold of every example of a part that takes part, where so many negatives and positives are in the parts before.
#[pyfunction]
fn folds_in_turn<'py>(
    py: Python<'py>,
    positive: PyReadonlyArray1<'py, bool>,
    before: [u64; 2],
    k: u32,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let [n_neg, n_pos] = before;
    let positive = positive.as_slice()?.iter().copied();
    Ok(split::folds_in_turn(positive, [n_pos, n_neg], k, seed).to_pyarray(py))
}

/// What a search maximises, of these scores.
#[pyfunction]
fn criterion(
    name: &str,
    scores: PyReadonlyArray1<'_, f64>,
    positive: PyReadonlyArray1<'_, bool>,
) -> PyResult<f64> {
    let criterion: Criterion = name.parse().map_err(Refused::from)?;
    let found = criterion.of(scores.as_slice()?, positive.as_slice()?, None);
    Ok(found.map_err(Refused::from)?)
}

/// The choice against logistic regression, by the scores of both on rows held out; and whether it is significantly worse.
#[pyfunction]
#[pyo3(signature = (ours, logistic, positive, groups, is_logistic))]
fn verdict(
    ours: PyReadonlyArray1<'_, f64>,
    logistic: PyReadonlyArray1<'_, f64>,
    positive: PyReadonlyArray1<'_, bool>,
    groups: Option<PyReadonlyArray1<'_, u32>>,
    is_logistic: bool,
) -> PyResult<(String, bool)> {
    let scores = [ours.as_slice()?, logistic.as_slice()?];
    let groups = groups.as_ref().map(|g| g.as_slice()).transpose()?;
    let found = Verdict::of(scores, positive.as_slice()?, groups, is_logistic);
    let found = found.map_err(Refused::from)?;
    Ok((to_json(&found)?, found.is_worse()))
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(deals, module)?)?;
    module.add_function(wrap_pyfunction!(deal_groups, module)?)?;
    module.add_function(wrap_pyfunction!(folds_of_groups, module)?)?;
    module.add_function(wrap_pyfunction!(folds_in_turn, module)?)?;
    module.add_function(wrap_pyfunction!(criterion, module)?)?;
    module.add_function(wrap_pyfunction!(verdict, module)?)?;
    module.add_function(wrap_pyfunction!(tune, module)?)?;
    module.add_function(wrap_pyfunction!(folds, module)?)?;
    module.add_function(wrap_pyfunction!(tune_map_rounds, module)?)?;
    module.add_function(wrap_pyfunction!(tune_rounds, module)?)
}
