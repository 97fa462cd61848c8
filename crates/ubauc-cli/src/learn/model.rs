//! The model that a stream starts from, and the one that it ends with.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use ubauc::model::LinearModel;
use ubauc::model_file::SavedModel;

use super::state::State;
use super::{ALGORITHM, LearnArgs};
use crate::args::WrongUsage;
use crate::output::Output;
use crate::scoring;
use ubauc::checksum::xxh3;

/// λ in units of the score.
pub(super) fn threshold(state: &State) -> f64 {
    state.learner.lambda() + state.learner.intercept()
}

/// Nothing in it depends on time, threads or how often the run was resumed.
pub(super) fn saved_model(args: &LearnArgs, state: &State) -> SavedModel {
    let head = &state.head;
    let mut weights = state.learner.weights();
    if !head.names.is_empty() && args.hash_bits.is_none() {
        weights.resize(head.names.len(), 0.0);
    }
    let mut parameters = head.settings.clone();
    parameters.insert("eta0".to_string(), json!(state.learner.params().eta0));
    if let Some(bits) = args.hash_bits {
        weights.resize(1 << bits, 0.0);
        parameters.insert(scoring::HASH_BITS.to_string(), json!(bits));
        // A column is hashed by its place, which other files must keep to.
        parameters.insert(scoring::HASHED_COLUMNS.to_string(), json!(head.names));
    }
    // As options are typed, so parameters are called everywhere.
    let parameters = parameters
        .into_iter()
        .filter(|(_, value)| !value.is_null() && *value != json!([]))
        .map(|(name, value)| (name.replace('-', "_"), value))
        .collect();
    let auc = state.auc();
    let certificate: [(&str, Value); 7] = [
        ("n", json!(head.examples)),
        ("n_pos", json!(head.n_pos)),
        ("n_neg", json!(head.n_neg)),
        ("steps", json!(state.learner.steps())),
        ("lambda", json!(threshold(state))),
        ("progressive_auc", json!(auc.as_ref().map(|e| e.auc))),
        ("error_bound", json!(auc.as_ref().map(|e| e.error_bound))),
    ];
    SavedModel {
        model: LinearModel {
            weights,
            intercept: state.learner.intercept(),
            threshold: threshold(state),
            classes: args.class_names(head.negative.as_deref()),
            names: match args.hash_bits {
                Some(_) => Vec::new(),
                None => head.names.clone(),
            },
        },
        algorithm: ALGORITHM.to_string(),
        parameters,
        certificate: certificate.map(|(k, v)| (k.to_string(), v)).into(),
    }
}

/// A model to start from.
pub(super) struct InitialModel {
    saved: SavedModel,
    pub(super) checksum: String,
    /// As it was typed.
    option: String,
}

impl InitialModel {
    pub(super) fn load(path: &Path) -> Result<InitialModel> {
        let option = format!("--initial-model {}", path.display());
        let saved = SavedModel::load(path).with_context(|| option.clone())?;
        let text = saved.to_json()?;
        Ok(InitialModel {
            checksum: format!("{:016x}", xxh3(text.as_bytes())),
            saved,
            option,
        })
    }

    /// Starts the learner from it; the state knows the names of the features.
    pub(super) fn put_into(
        self,
        state: &mut State,
        args: &LearnArgs,
        output: Output,
    ) -> Result<()> {
        let (model, option) = (&self.saved.model, &self.option);
        if scoring::hash_bits(&self.saved) != args.hash_bits {
            let what = "the model hashes its features otherwise than --hash-bits says";
            return Err(WrongUsage(format!("{option}: {what}")).into());
        }
        let (theirs, ours) = (&model.classes[1], &args.class_names(None)[1]);
        if theirs != ours {
            output.note(format!(
                "note: {option}: its positive class is {theirs}, and here it is {ours}"
            ));
        }
        let (names, path) = (&state.head.names, args.file.display());
        let (found, known) = (names.len(), model.weights.len());
        if let Some(columns) = scoring::hashed_columns(&self.saved)
            && !names.is_empty()
            && columns != *names
        {
            bail!(
                "{option}: {path}: the model hashes the columns {}, in this order, and these are {}",
                columns.join(", "),
                names.join(", ")
            );
        }
        let by_number = !names.is_empty() && model.names.is_empty();
        if by_number && args.hash_bits.is_none() && found < known {
            bail!("{option}: {path}: {found} feature columns; the model has {known} features");
        }
        let weights = scoring::aligned(&self.saved, &state.head.names, &args.file)?;
        let lambda = model.threshold - model.intercept;
        state.learner.start_from(&weights, model.intercept, lambda);
        Ok(())
    }
}
