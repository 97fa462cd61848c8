//! The model file of `ubauc train`.

use anyhow::Result;
use serde_json::{Value, json};
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Choice;
use ubauc::model::Model;
use ubauc::model_file::{Certificate, Parameters, SavedModel};

use super::{TrainArgs, midpoint};
use crate::algorithm::{Algorithm, Problem, Trained};
use crate::names::name_of;
use crate::scoring::ClassSides;
use crate::tune::kind;

pub(super) fn saved_model(
    args: &TrainArgs,
    problem: &Problem,
    trained: &Trained,
    data: &Dataset,
    sides: &ClassSides,
) -> Result<SavedModel> {
    let mut parameters = Parameters::new();
    let mut set = |name: &str, value: Value| parameters.insert(name.to_string(), value);
    for (name, value) in problem.parameters() {
        set(name, value);
    }
    set("scale", json!(name_of(args.scale_name())));
    set("tolerance", json!(problem.tolerance()));
    if args.algorithm.is_ubauc() {
        set("least_squares", json!(kind(problem.least_squares)));
        set("intercept", json!(problem.intercept));
    }
    if args.algorithm == Algorithm::BaUbauc {
        set("solver", json!(name_of(args.solver)));
    }
    if args.algorithm.is_online() {
        let passes = problem.online.passes;
        set("passes", json!(passes.unwrap_or(args.algorithm.passes())));
        set("shuffle", json!(problem.online.shuffles));
        set("seed", json!(problem.online.seed));
    }
    if let Some(eta0) = trained.eta0 {
        let online = json!(args.online.report(&problem.online, eta0));
        for (name, value) in online.as_object().into_iter().flatten() {
            set(name, value.clone());
        }
    }
    if let Some(column) = &args.training.weight {
        set("weight", json!(column));
    }
    let choice = args.training.classes.choice();
    if let Choice::Partition(seed) = choice {
        set("partition", json!(seed));
    }
    let certificate = Certificate {
        objective: Some(trained.objective),
        dual: trained.dual,
        gap: trained.gap,
        stop: Some(trained.stop.to_string()),
        lambda: trained.lambda,
        tied: trained.tied.map(|n| n as u64),
        n: data.rows().len() as u64,
        n_pos: data.n_pos() as u64,
        n_neg: data.n_neg() as u64,
        ..Certificate::default()
    };
    let model = Model {
        weights: trained.weights.clone(),
        intercept: trained.intercept,
        // Of logistic regression: even odds.
        threshold: trained.lambda.map_or(0.0, midpoint),
        classes: data.class_names().clone(),
        partition: matches!(choice, Choice::Partition(_)).then(|| sides.partition.clone()),
        names: data.names().to_vec(),
        ..Model::default()
    };
    let algorithm = name_of(args.algorithm);
    Ok(SavedModel::new(model, &algorithm, parameters, certificate)?)
}
