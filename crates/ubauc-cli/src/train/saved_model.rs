//! The model file of `ubauc train`.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Choice;
use ubauc::model::LinearModel;
use ubauc::model_file::SavedModel;

use super::{TrainArgs, midpoint};
use crate::algorithm::{Algorithm, Problem, Trained};
use crate::names::name_of;
use crate::scoring::{self, ClassSides};
use crate::tune::kind;

pub(super) fn saved_model(
    args: &TrainArgs,
    problem: &Problem,
    trained: &Trained,
    data: &Dataset,
    sides: &ClassSides,
) -> SavedModel {
    let mut parameters: BTreeMap<String, Value> = BTreeMap::new();
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
    if let Choice::Partition(seed) = args.training.classes.choice() {
        set("partition", json!(seed));
        set(scoring::POSITIVE_CLASSES, json!(sides.positive));
        set(scoring::NEGATIVE_CLASSES, json!(sides.negative));
    }
    let certificate = [
        ("objective", json!(trained.objective)),
        ("dual", json!(trained.dual)),
        ("gap", json!(trained.gap)),
        ("stop", json!(trained.stop)),
        ("lambda", json!(trained.lambda)),
        ("tied", json!(trained.tied)),
        ("n", json!(data.rows().len())),
        ("n_pos", json!(data.n_pos())),
        ("n_neg", json!(data.n_neg())),
    ];
    SavedModel {
        model: LinearModel {
            weights: trained.weights.clone(),
            intercept: trained.intercept,
            // Of logistic regression: even odds.
            threshold: trained.lambda.map_or(0.0, midpoint),
            classes: data.class_names().clone(),
            names: data.names().to_vec(),
        },
        algorithm: name_of(args.algorithm),
        parameters,
        certificate: certificate.map(|(k, v)| (k.to_string(), v)).into(),
    }
}
