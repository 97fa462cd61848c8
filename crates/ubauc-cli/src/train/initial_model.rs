//! A saved model to start from.

use std::path::Path;

use anyhow::{Context, Result, bail};
use ubauc::features::FeatureMap;
use ubauc::solver::ol_ubauc::passes::Start;

use crate::initial_model::InitialModel;
use crate::output::Output;
use crate::scoring;
use crate::training::Training;

/// The model, and what it says of the features at hand.
pub(super) struct AlignedModel {
    initial: InitialModel,
    /// In the order of the data's columns, once that is known.
    weights: Vec<f64>,
}

impl AlignedModel {
    /// Refuses a model that training cannot start from.
    pub(super) fn load(path: &Path, by_position: bool) -> Result<AlignedModel> {
        let initial = InitialModel::load(path, by_position)?;
        let option = &initial.option;
        match initial.model.features {
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
        Ok(AlignedModel { initial, weights })
    }

    /// Finds the model's features in the data, by name where the model has names, otherwise by number. Those that the model
    /// lacks start at 0; columns that the data lack are refused, but in svmlight, where no example has them.
    pub(super) fn align(&mut self, training: &Training, path: &Path, output: Output) -> Result<()> {
        let InitialModel { model, option, .. } = &self.initial;
        let data = &training.data;
        let (names, cols, known) = (data.names(), data.rows().cols(), model.weights.len());
        self.initial
            .note_other_class(&data.class_names()[1], output);
        match (&model.features, &training.mapped) {
            // Features of the same name have about the same mean and deviation.
            (FeatureMap::Columns(map), Some(mapped)) => {
                self.weights = map.carry(&model.weights, &mapped.learned.map);
                return Ok(());
            }
            (FeatureMap::Columns(_), None) => bail!(
                "{option}: the model is of a table with strings or missing values, and {} has complete numbers only",
                path.display()
            ),
            (_, Some(_)) => bail!(
                "{option}: the model is of complete numbers, and {} has strings or missing values",
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
        let model = &self.initial.model;
        Start {
            weights: &self.weights,
            intercept: if intercept { model.intercept } else { 0.0 },
            lambda: model.threshold - model.intercept,
        }
    }
}
