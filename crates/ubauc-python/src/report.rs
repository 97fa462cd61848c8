//! The page of a model and the rows that it is judged on.

use std::path::PathBuf;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde::Deserialize;
use ubauc::features::FeatureMap;
use ubauc::glass_box::effects::SavedEffects;
use ubauc::metrics::Sample;
use ubauc::model_file::Certificate;
use ubauc::report::{
    Candidate, ColumnPart, Costs, EffectsPart, Judged, JudgedOn, Report, Reproduction, Scored, Step,
};

use crate::explain::cut_at_0;
use crate::input::detached;
use crate::model::ModelFields;
use crate::spec::{of_json, to_json};

/// What Python knows besides the scores.
#[derive(Deserialize)]
struct Given {
    title: String,
    costs: Option<Costs>,
    effects: Option<SavedEffects>,
    certificate: Certificate,
    steps: Vec<Step>,
    search: Vec<Candidate>,
    commands: Vec<String>,
    parameters: Vec<(String, String)>,
    seed: Option<u64>,
    n_jobs: usize,
}

/// Writes the page; the numbers of it as JSON, and its verdict as a piece of HTML.
#[pyfunction]
fn write_report(
    py: Python<'_>,
    path: PathBuf,
    scores: PyReadonlyArray1<'_, f64>,
    positive: PyReadonlyArray1<'_, bool>,
    counting: (
        Option<PyReadonlyArray1<'_, f64>>,
        Option<PyReadonlyArray1<'_, u32>>,
    ),
    model: ModelFields<'_>,
    given: &str,
) -> PyResult<(String, String)> {
    let (weights, groups) = counting;
    let given: Given = of_json(given)?;
    let (model, effects) = cut_at_0(model.model()?, given.effects);
    let sample = Sample {
        scores: scores.as_slice()?,
        positive: positive.as_slice()?,
        weights: weights.as_ref().map(|w| w.as_slice()).transpose()?,
        groups: groups.as_ref().map(|g| g.as_slice()).transpose()?,
    };
    let report = detached(py, given.n_jobs, || {
        let probability = |score: f64| model.probability(score).unwrap_or(0.5);
        let scored = Scored {
            name: "this model".to_string(),
            sample,
            auc: None,
            threshold: Some(0.0),
            probability: model.calibration.is_some().then_some(&probability),
        };
        let report = Report {
            title: given.title,
            classes: model.classes.clone(),
            judged_on: JudgedOn::Given,
            costs: given.costs,
            scorers: vec![Judged::new(&scored, given.costs)?],
            tests: Vec::new(),
            effects: EffectsPart::of_model(&model, effects.as_ref()),
            points: None,
            search: given.search,
            certificate: Some(given.certificate),
            steps: given.steps,
            columns: match &model.features {
                FeatureMap::Columns(map) => ColumnPart::of_map(map),
                FeatureMap::Identity | FeatureMap::Hash { .. } => Vec::new(),
            },
            reproduction: Reproduction {
                commands: given.commands,
                version: format!("ubauc {}", env!("CARGO_PKG_VERSION")),
                seed: given.seed,
                parameters: given.parameters,
                files: Vec::new(),
            },
            notes: Vec::new(),
        };
        report.write(&path)?;
        Ok(report)
    })?;
    Ok((to_json(&report)?, report.summary()))
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(write_report, module)?)
}
