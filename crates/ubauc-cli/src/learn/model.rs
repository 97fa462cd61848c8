//! The model that a stream starts from, and the one that it ends with.

use anyhow::{Context, Result, bail};
use serde_json::json;
use ubauc::algorithm::Learner;
use ubauc::features::FeatureMap;
use ubauc::model::Model;
use ubauc::model_file::{Certificate, SavedModel};
use ubauc::read::StreamTable;

use super::LearnArgs;
use super::state::State;
use crate::args::WrongUsage;
use crate::initial_model::InitialModel;
use crate::output::Output;
use crate::scoring;

/// Nothing in it depends on time, threads or how often the run was resumed.
pub(super) fn saved_model(args: &LearnArgs, state: &State) -> Result<SavedModel> {
    let head = &state.head;
    let table = head.table.as_ref();
    let mut parameters = head.settings.clone();
    if let Some(eta0) = state.learner.eta0() {
        parameters.insert("eta0".to_string(), json!(eta0));
    }
    // The map of the features and the name of the algorithm have their own places in the file.
    parameters.remove("hash-bits");
    parameters.remove("algorithm");
    // As options are typed, so parameters are called everywhere.
    let parameters = parameters
        .into_iter()
        .filter(|(_, value)| !value.is_null() && *value != json!([]))
        .map(|(name, value)| (name.replace('-', "_"), value))
        .collect();
    let (auc, lambda) = (state.auc(), state.learner.threshold());
    let certificate = Certificate {
        lambda: Some([lambda; 2]),
        steps: Some(state.learner.steps()),
        progressive_auc: auc.as_ref().map(|e| e.auc),
        error_bound: auc.as_ref().map(|e| e.error_bound),
        n: head.examples,
        n_pos: head.n_pos,
        n_neg: head.n_neg,
        ..Certificate::default()
    };
    let mut weights = state.learner.weights()?;
    if let Some(table) = table {
        // Features that no row has had yet.
        weights.resize(table.map.width(), 0.0);
    }
    let model = Model {
        features: match table {
            Some(table) => FeatureMap::Columns(table.map.clone()),
            None => args.features(),
        },
        reading: args.reading(table.map(|t| &t.reading), !head.names.is_empty()),
        weights,
        intercept: state.learner.intercept(),
        threshold: lambda,
        classes: args.class_names(head.negative.as_deref()),
        // A map knows its columns itself.
        names: match table {
            Some(_) => Vec::new(),
            None => head.names.clone(),
        },
        ..Model::default()
    };
    let algorithm = state.learner.algorithm().name();
    Ok(SavedModel::new(model, algorithm, parameters, certificate)?)
}

impl InitialModel {
    /// Its map, where it is of a table.
    pub(super) fn table(&self) -> Option<StreamTable> {
        match &self.model.features {
            FeatureMap::Columns(map) => Some(StreamTable {
                map: map.clone(),
                reading: self.model.reading.clone(),
                columns: Vec::new(),
            }),
            FeatureMap::Identity | FeatureMap::Hash { .. } => None,
        }
    }

    /// Starts the learner from it; the state knows the names of the features.
    pub(super) fn put_into(
        self,
        state: &mut State,
        args: &LearnArgs,
        output: Output,
    ) -> Result<()> {
        let (model, option) = (&self.model, &self.option);
        let is_of_table = scoring::is_of_table(model);
        if is_of_table && args.features() != FeatureMap::Identity {
            let what = "the model maps the columns of a table, and --hash-bits hashes them";
            return Err(WrongUsage(format!("{option}: {what}")).into());
        }
        if !is_of_table && model.features != args.features() {
            let what = "the model hashes its features otherwise than --hash-bits says";
            return Err(WrongUsage(format!("{option}: {what}")).into());
        }
        self.note_other_class(&args.class_names(None)[1], output);
        let (names, path) = (&state.head.names, args.file.display());
        scoring::refuse_unnamed(model, !names.is_empty(), &args.file)
            .with_context(|| option.clone())?;
        let (found, known) = (names.len(), model.weights.len());
        match model.features {
            FeatureMap::Hash { .. } => {
                let columns = &model.names;
                if !names.is_empty() && !columns.is_empty() && columns != names {
                    bail!(
                        "{option}: {path}: the model hashes the columns {}, in this order, and \
                         these are {}",
                        columns.join(", "),
                        names.join(", ")
                    );
                }
            }
            // The stream is mapped by it already.
            FeatureMap::Columns(_) => {}
            FeatureMap::Identity => {
                let by_number = !names.is_empty() && model.names.is_empty();
                if by_number && found < known {
                    bail!(
                        "{option}: {path}: {found} feature columns; the model has {known} features"
                    );
                }
            }
        }
        let weights = match is_of_table {
            true => model.weights.clone(),
            false => scoring::aligned(model, names, &args.file)?,
        };
        let lambda = model.threshold - model.intercept;
        // Only ol-ubauc has an initial model.
        if let Learner::OlUbauc(learner) = &mut state.learner {
            learner.start_from(&weights, model.intercept, lambda);
        }
        Ok(())
    }
}
