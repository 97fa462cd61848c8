//! The model file of `ubauc train`.

use anyhow::Result;
use serde_json::{Value, json};
use ubauc::algorithm::{Algorithm, Outcome, Spec};
use ubauc::data::labels::Choice;
use ubauc::features::FeatureMap;
use ubauc::glass_box::MAX_COLUMNS;
use ubauc::glass_box::effects::{Effects, SavedEffects};
use ubauc::glass_box::intervals::Refit;
use ubauc::model::Model;
use ubauc::model_file::{Parameters, SavedModel};

use super::TrainArgs;
use crate::names::name_of;
use crate::search::kind;
use crate::training::{Mapped, Training};

pub(super) fn saved_model(
    args: &TrainArgs,
    spec: &Spec,
    trained: &Outcome,
    training: &Training,
) -> Result<SavedModel> {
    let mut parameters = parameters_of(args, spec, trained);
    let mut set = |name: &str, value: Value| parameters.insert(name.to_string(), value);
    if let Some(monotone) = training.monotone() {
        set("increasing", json!(monotone.increasing));
        set("decreasing", json!(monotone.decreasing));
    }
    if let Some(weights) = &training.weights {
        // Of the negatives and of the positives, which points of balanced classes need.
        let sums = [false, true].map(|class| {
            let of_class = weights.iter().zip(training.data.positive());
            of_class
                .filter(|(_, p)| **p == class)
                .map(|(w, _)| w)
                .sum::<f64>()
        });
        set("weight_sums", json!(sums));
    }
    let choice = args.training.classes.choice();
    if let Choice::Partition(seed) = choice {
        set("partition", json!(seed));
    }
    let model = Model {
        features: match &training.mapped {
            Some(mapped) => FeatureMap::Columns(mapped.learned.map.clone()),
            None => FeatureMap::Identity,
        },
        reading: training.reading.clone(),
        partition: matches!(choice, Choice::Partition(_)).then(|| training.sides.partition.clone()),
        ..trained.model.clone()
    };
    let algorithm = spec.algorithm().name();
    let saved = SavedModel::new(model, algorithm, parameters, trained.certificate.clone())?;
    // They take a while, and only a file has a use for them.
    let effects = match args.model.is_some() || args.page.report.is_some() {
        true => effects(&saved.model, spec, training)?,
        false => None,
    };
    Ok(saved.with_effects(effects))
}

/// The parameters of what was trained, as a file has them.
pub(super) fn parameters_of(args: &TrainArgs, spec: &Spec, trained: &Outcome) -> Parameters {
    let mut parameters = Parameters::new();
    let mut set = |name: &str, value: Value| parameters.insert(name.to_string(), value);
    for (name, value) in spec.parameters() {
        set(name, value);
    }
    set("scale", json!(spec.scale().name()));
    set("tolerance", json!(spec.tolerance()));
    if let Some(least_squares) = spec.least_squares() {
        set("least_squares", json!(kind(least_squares)));
        set("intercept", json!(spec.intercept()));
    }
    if args.algorithm == Algorithm::BaUbauc {
        set("solver", json!(name_of(args.solver)));
    }
    if let Some(passes) = spec.passes() {
        set("passes", json!(passes.max_passes));
        set("shuffle", json!(passes.shuffle));
        set("seed", json!(passes.seed));
    }
    if let Some(online) = args.online.report_of(spec, trained.effort.eta0) {
        let online = json!(online);
        for (name, value) in online.as_object().into_iter().flatten() {
            set(name, value.clone());
        }
    }
    if let Some(column) = &args.training.weight {
        set("weight", json!(column));
    }
    if let Some(column) = &args.training.group {
        set("group", json!(column));
    }
    parameters
}

/// What the training examples say of the columns; nothing of svmlight, whose features have no names, and where columns are
/// too many to be looked at.
fn effects(model: &Model, spec: &Spec, training: &Training) -> Result<Option<SavedEffects>> {
    let weights = training.weights.as_deref();
    let learned = training.mapped.as_ref().map(|mapped| &mapped.learned);
    let groups = training.groups.as_deref();
    let refit = Refit::new(spec, &training.data, learned, weights, groups)?;
    if let Some(Mapped { learned, table, .. }) = &training.mapped {
        let map = &learned.map;
        let effects = Effects::new(map, &model.weights, model.intercept, table, weights)?;
        let gains = learned.pairs.iter().map(|pair| pair.gain);
        let intervals = match &refit {
            Some(refit) => refit.of_table(map, table, &model.weights)?,
            None => None,
        };
        let saved = effects.saved().with_gains(gains);
        return Ok(Some(saved.with_intervals(intervals)));
    }
    let rows = training.data.rows();
    if training.columns.is_empty() || rows.cols() > MAX_COLUMNS {
        return Ok(None);
    }
    let saved = SavedEffects::of_numbers(rows, &model.weights, model.intercept, weights);
    let intervals = match &refit {
        Some(refit) => refit.of_numbers(&saved.deviations, &model.weights)?,
        None => None,
    };
    Ok(Some(saved.with_intervals(intervals)))
}
