//! The model file of `ubauc train`.

use anyhow::Result;
use serde_json::{Value, json};
use ubauc::algorithm::{Algorithm, Outcome, Spec};
use ubauc::data::labels::Choice;
use ubauc::features::FeatureMap;
use ubauc::model::Model;
use ubauc::model_file::{Parameters, SavedModel};

use super::TrainArgs;
use crate::names::name_of;
use crate::search::kind;
use crate::training::Training;

pub(super) fn saved_model(
    args: &TrainArgs,
    spec: &Spec,
    trained: &Outcome,
    training: &Training,
) -> Result<SavedModel> {
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
    let choice = args.training.classes.choice();
    if let Choice::Partition(seed) = choice {
        set("partition", json!(seed));
    }
    let model = Model {
        features: match &training.mapped {
            Some(mapped) => FeatureMap::Columns(mapped.map.clone()),
            None => FeatureMap::Identity,
        },
        reading: training.reading.clone(),
        partition: matches!(choice, Choice::Partition(_)).then(|| training.sides.partition.clone()),
        ..trained.model.clone()
    };
    let algorithm = spec.algorithm().name();
    Ok(SavedModel::new(
        model,
        algorithm,
        parameters,
        trained.certificate.clone(),
    )?)
}
