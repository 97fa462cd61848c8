//! A saved model to start from.

use std::path::Path;

use anyhow::{Context, Result, bail};
use ubauc::features::FeatureMap;
use ubauc::model::Model;
use ubauc::model_file::SavedModel;
use ubauc::solver::ol_ubauc::passes::Start;

use crate::output::Output;
use crate::scoring;
use crate::training::Training;

/// The model, and what it says of the features at hand.
pub(super) struct InitialModel {
    model: Model,
    /// As it was typed.
    option: String,
    /// In the order of the data's columns, once that is known.
    weights: Vec<f64>,
}

impl InitialModel {
    /// `by_position`: as if its columns had no names.
    pub(super) fn load(path: &Path, by_position: bool) -> Result<InitialModel> {
        let option = format!("--initial-model {}", path.display());
        let saved = SavedModel::load(path).with_context(|| option.clone())?;
        let mut model = saved.model;
        if by_position {
            model.names.clear();
        }
        match model.features {
            FeatureMap::Identity => {}
            FeatureMap::Hash { .. } => {
                bail!("{option}: the model hashes its features, and training does not")
            }
            FeatureMap::Columns(_) if by_position => {
                bail!("{option}: a model of a table finds its columns by name, not by position")
            }
            FeatureMap::Columns(_) => {}
        }
        let weights = Vec::new();
        Ok(InitialModel {
            model,
            option,
            weights,
        })
    }

    /// Finds the model's features in the data, by name where the model has names, otherwise by number. Those that the model
    /// lacks start at 0; columns that the data lack are refused, but in svmlight, where no example has them.
    pub(super) fn align(&mut self, training: &Training, path: &Path, output: Output) -> Result<()> {
        let (model, option, data) = (&self.model, &self.option, &training.data);
        let (names, cols, known) = (data.names(), data.rows().cols(), model.weights.len());
        let (theirs, ours) = (&model.classes[1], &data.class_names()[1]);
        if theirs != ours {
            output.note(format!(
                "note: {option}: its positive class is {theirs}, and here it is {ours}"
            ));
        }
        match (&model.features, &training.mapped) {
            // Features of the same name have about the same mean and deviation.
            (FeatureMap::Columns(map), Some(mapped)) => {
                self.weights = map.carry(&model.weights, &mapped.learned.map);
                return Ok(());
            }
            (FeatureMap::Columns(_), None) => bail!(
                "{option}: the model is of a table with texts or gaps, and {} has complete numbers only",
                path.display()
            ),
            (_, Some(_)) => bail!(
                "{option}: the model is of complete numbers, and {} has texts or gaps",
                path.display()
            ),
            (_, None) => {}
        }
        scoring::refuse_unnamed(model, !names.is_empty(), path).with_context(|| option.clone())?;
        if !names.is_empty() && model.names.is_empty() && cols < known {
            bail!(
                "{option}: {}: {cols} feature columns; the model has {known} features",
                path.display()
            );
        }
        let aligned = scoring::aligned(model, names, path);
        let mut weights = aligned.with_context(|| option.clone())?;
        if weights.len() > cols {
            output.note(format!(
                "note: {option}: its features beyond the {cols} of {} are left out (up to {known})",
                path.display()
            ));
        }
        weights.resize(cols, 0.0);
        self.weights = weights;
        Ok(())
    }

    /// Where to start; without an intercept to learn, from none.
    pub(super) fn start(&self, intercept: bool) -> Start<'_> {
        let model = &self.model;
        Start {
            weights: &self.weights,
            intercept: if intercept { model.intercept } else { 0.0 },
            lambda: model.threshold - model.intercept,
        }
    }
}
