//! A saved model to start from, as `train` and `learn` take it.

use std::path::Path;

use anyhow::{Context, Result};
use ubauc::checksum::xxh3;
use ubauc::model::Model;
use ubauc::model_file::SavedModel;

use crate::output::Output;

/// The model, and what messages and checkpoints call it.
pub(crate) struct InitialModel {
    pub(crate) model: Model,
    /// As it was typed.
    pub(crate) option: String,
    pub(crate) checksum: String,
}

impl InitialModel {
    /// `by_position`: as if its columns had no names.
    pub(crate) fn load(path: &Path, by_position: bool) -> Result<InitialModel> {
        let option = format!("--initial-model {}", path.display());
        let saved = SavedModel::load(path).with_context(|| option.clone())?;
        let text = saved.to_json()?;
        let mut model = saved.model;
        if by_position {
            model.names.clear();
        }
        Ok(InitialModel {
            checksum: format!("{:016x}", xxh3(text.as_bytes())),
            model,
            option,
        })
    }

    /// Says so where its positive class has another name.
    pub(crate) fn note_other_class(&self, ours: &str, output: Output) {
        let (theirs, option) = (&self.model.classes[1], &self.option);
        if theirs != ours {
            output.note(format!(
                "note: {option}: its positive class is {theirs}, and here it is {ours}"
            ));
        }
    }
}
