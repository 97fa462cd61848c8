//! The search for the loss and γ.

use std::time::Duration;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use ubauc::data::scale::Scale;
use ubauc::metrics::Criterion;
use ubauc::solver::ba_ubauc::BaUbaucParams;
use ubauc::tune::{LossGrid, Setting, TuneInputs, TuneParams, Tuned, Verdict};

use crate::caller::stop_if_asked;
use crate::error::{Refused, unknown};
use crate::input::{Matrix, detached};
use crate::spec::{Context, of_json, to_json};

/// What is searched, and how.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
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
    pub(crate) fn params(&self) -> PyResult<TuneParams> {
        let default = self.loss.params_for(self.criterion);
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
            folds: self.folds.unwrap_or(default.folds),
            repeats: self.repeats.or(default.repeats),
            enough_per_class: match self.folds.or(self.repeats) {
                Some(_) => None,
                None => default.enough_per_class,
            },
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
pub(crate) fn answer(params: &TuneParams, found: ubauc::Result<Value>) -> ubauc::Result<Value> {
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
            monotone: None,
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
    module.add_function(wrap_pyfunction!(criterion, module)?)?;
    module.add_function(wrap_pyfunction!(verdict, module)?)?;
    module.add_function(wrap_pyfunction!(tune, module)?)
}
