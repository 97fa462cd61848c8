//! Bins and pairs: models of tables with one of the maps of `ubauc::glass_box`, and the choice between these.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use ubauc::data::labels::Binary;
use ubauc::features::FeatureMap;
use ubauc::features::columns::Monotone;
use ubauc::glass_box::{MapKind, TrainingTable};
use ubauc::solver::ba_ubauc;
use ubauc::tune::{TuneInputs, TunedMaps, Verdict};

use crate::caller::{report_progress, stop_if_asked};
use crate::cluster_maps::LearnedMap;
use crate::fit::{answer, has_collapsed};
use crate::input::{detached, two_classes};
use crate::spec::{Context, batch, of_json, to_json};
use crate::table::Table;
use crate::tune::{as_parameters, searched};

/// The rows to learn from, as Python has them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Training<'py> {
    table: Bound<'py, Table>,
    positive: PyReadonlyArray1<'py, bool>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    groups: Option<PyReadonlyArray1<'py, u32>>,
    /// JSON of the columns with which the score must rise or fall.
    #[pyo3(default)]
    monotone: Option<String>,
}

/// What a call takes along without the GIL.
struct Lent<'a> {
    table: &'a Table,
    labels: Binary,
    weights: Option<&'a [f64]>,
    groups: Option<&'a [u32]>,
    monotone: Option<Monotone>,
}

impl Training<'_> {
    fn lent(&self, classes: &[String; 2]) -> PyResult<Lent<'_>> {
        let (weights, groups) = (self.weights.as_ref(), self.groups.as_ref());
        Ok(Lent {
            table: self.table.get(),
            labels: two_classes(self.positive.as_slice()?, classes.clone()),
            weights: weights.map(|w| w.as_slice()).transpose()?,
            groups: groups.map(|g| g.as_slice()).transpose()?,
            monotone: self.monotone.as_deref().map(of_json).transpose()?,
        })
    }
}

/// Learns a map of the rows with a weight, and a model of the features that it makes.
#[pyfunction]
fn fit_map<'py>(
    py: Python<'py>,
    training: Training<'py>,
    map: &str,
    spec: &str,
    context: Context,
) -> PyResult<Bound<'py, PyDict>> {
    let (map, spec): (MapKind, _) = (of_json(map)?, batch(spec)?);
    let rows = training.lent(&context.classes)?;
    let (found, collapsed) = detached(py, context.n_jobs, || {
        let progress = |p: &ba_ubauc::TracePoint| {
            report_progress(context.progress.as_ref(), p.newton, p.objective, p.gap);
        };
        let training = TrainingTable {
            table: &rows.table.0,
            labels: &rows.labels,
            weights: rows.weights,
            groups: rows.groups,
            monotone: rows.monotone.as_ref(),
        };
        let found = training.fit(&map, &spec.params, Some(&progress))?;
        let collapsed = has_collapsed(&found.data, rows.weights, &found.outcome);
        Ok((found, collapsed))
    })?;
    let answer = answer(py, &found.outcome)?;
    answer.set_item("collapsed", collapsed)?;
    let gains: Vec<f64> = found.learned.pairs.iter().map(|pair| pair.gain).collect();
    answer.set_item("gains", gains)?;
    let features = FeatureMap::Columns(found.learned.map.clone());
    answer.set_item("features", to_json(&features)?)?;
    answer.set_item("learned", Bound::new(py, LearnedMap::new(found.learned))?)?;
    Ok(answer)
}

/// The map, the loss and γ by cross-validation. Without maps those that suit the table.
#[pyfunction]
#[pyo3(signature = (training, maps, search, context))]
fn tune_maps(
    py: Python<'_>,
    training: Training<'_>,
    maps: Option<&str>,
    search: &str,
    context: Context,
) -> PyResult<String> {
    let maps: Option<Vec<MapKind>> = maps.map(of_json).transpose()?;
    let rows = training.lent(&context.classes)?;
    searched(py, search, context.n_jobs, |params| {
        let progress = |_, _| stop_if_asked();
        let inputs = TuneInputs {
            weights: rows.weights,
            groups: rows.groups,
            monotone: rows.monotone.as_ref(),
            progress: Some(&progress),
            stop: None,
        };
        let (table, maps) = (&rows.table.0, maps.as_deref());
        let tuned = ubauc::tune::tune_maps(table, &rows.labels, &inputs, params, maps)?;
        Ok(found(&tuned))
    })
}

/// All points of all maps in one list, each with its map.
pub(crate) fn found(tuned: &TunedMaps) -> Value {
    let (map, point) = tuned.best();
    let mut points = Vec::new();
    let mut chosen = 0;
    for (at, trial) in tuned.trials.iter().enumerate() {
        if at == tuned.chosen {
            chosen = points.len() + trial.tuned.chosen;
        }
        for point in &trial.tuned.points {
            let mut point = json!(point);
            point["features"] = json!(trial.map.to_string());
            points.push(point);
        }
    }
    let maps: Vec<Value> = tuned
        .trials
        .iter()
        .enumerate()
        .map(|(at, trial)| {
            let best = trial.tuned.best();
            let mut report = as_parameters(&best.setting, best.gamma);
            report["features"] = json!(trial.map.to_string());
            report["auc"] = json!(best.judged.auc);
            report["standard_error"] = json!(best.judged.standard_error);
            report["folds"] = json!(best.judged.folds);
            report["seconds"] = json!(trial.seconds);
            report["chosen"] = json!(at == tuned.chosen);
            report
        })
        .collect();
    json!({
        "best": as_parameters(&point.setting, point.gamma),
        "map": map,
        "is_logistic": tuned.chosen == 0 && point.setting.is_logistic(),
        "tuned": {
            "points": points,
            "chosen": chosen,
            // The baseline runs on the first map.
            "logistic": tuned.trials.first().map(|trial| trial.tuned.logistic),
            "maps": maps,
            "left_out": (tuned.left_out.iter()).map(MapKind::to_string).collect::<Vec<_>>(),
            "verdict": tuned.verdict,
            "is_worse_than_logistic": tuned.verdict.as_ref().is_some_and(Verdict::is_worse),
            "cut_short": tuned.cut_short,
        },
    })
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fit_map, module)?)?;
    module.add_function(wrap_pyfunction!(tune_maps, module)?)
}
