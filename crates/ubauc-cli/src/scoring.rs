//! Scores of a saved model: its features found in a file, its classes in the labels.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use ubauc::data::dataset::Examples;
use ubauc::data::hash::hashed;
use ubauc::data::labels::{Binary, Choice, Labels};
use ubauc::data::rows::{Dense, Rows};
use ubauc::model::scores;
use ubauc::model_file::SavedModel;

use crate::args::WrongUsage;
use crate::input::{ClassArgs, FormatArgs, Scores, Wanted};
use crate::output::Output;

/// Parameter of a model trained on a partition of many classes: those that are positive.
pub(crate) const POSITIVE_CLASSES: &str = "positive_classes";
/// … and those that are negative.
pub(crate) const NEGATIVE_CLASSES: &str = "negative_classes";

/// Parameter of a model whose features are hashed: into two to the power of this many columns.
pub(crate) const HASH_BITS: &str = "hash_bits";

/// The bits that a model hashes its features to.
pub(crate) fn hash_bits(saved: &SavedModel) -> Option<u32> {
    let bits = saved.parameters.get(HASH_BITS)?.as_u64()?;
    u32::try_from(bits).ok()
}

/// Parameter of a model whose features are hashed columns of a table: their names, in the order
/// that they are hashed in.
pub(crate) const HASHED_COLUMNS: &str = "hashed_columns";

/// The columns that a model hashes, if it learned from a table.
pub(crate) fn hashed_columns(saved: &SavedModel) -> Option<Vec<String>> {
    hash_bits(saved)?;
    let values = saved.parameters.get(HASHED_COLUMNS)?.as_array()?;
    let names = values.iter().map(|v| v.as_str().map(str::to_string));
    names.collect()
}

/// The columns that a model knows by name; none if it knows its features by number.
pub(crate) fn columns(saved: &SavedModel) -> Vec<String> {
    hashed_columns(saved).unwrap_or_else(|| saved.model.names.clone())
}

/// The columns of a table that a model hashes, in its order; all where one of both has no names.
fn in_order(saved: &SavedModel, examples: &Examples, path: &Path) -> Result<Option<Rows>> {
    let Some(wanted) = hashed_columns(saved) else {
        return Ok(None);
    };
    if examples.names.is_empty() || wanted == examples.names {
        return Ok(None);
    }
    let mut columns = Vec::with_capacity(wanted.len());
    for name in &wanted {
        match examples.names.iter().position(|n| n == name) {
            Some(at) => columns.push(examples.rows.column(at)),
            None => bail!("{}: no feature column '{name}'", path.display()),
        }
    }
    let (n, d) = (examples.rows.len(), columns.len());
    let values = (0..n).flat_map(|i| columns.iter().map(move |column| column[i]));
    Ok(Some(Rows::Dense(Dense::new(values.collect(), n, d)?)))
}

/// Loads a model, in words that say which option named it.
pub(crate) fn load(path: &Path) -> Result<SavedModel> {
    SavedModel::load(path).with_context(|| format!("--model {}", path.display()))
}

/// Refuses to write over what is read.
pub(crate) fn refuse_overwriting(written: &Path, read: &[&Path], option: &str) -> Result<()> {
    let Ok(target) = written.canonicalize() else {
        return Ok(());
    };
    for path in read {
        if target.is_file() && path.canonicalize().is_ok_and(|path| path == target) {
            let what = format!("{option} {} would replace an input", written.display());
            return Err(WrongUsage(what).into());
        }
    }
    Ok(())
}

/// The weights in the order of the file's columns, where both have names.
pub(crate) fn aligned(saved: &SavedModel, names: &[String], path: &Path) -> Result<Vec<f64>> {
    let model = &saved.model;
    if names.is_empty() || model.names.is_empty() || names == model.names {
        return Ok(model.weights.clone());
    }
    let mut weights = vec![0.0; names.len()];
    for (name, weight) in model.names.iter().zip(&model.weights) {
        match names.iter().position(|n| n == name) {
            Some(at) => weights[at] = *weight,
            None => bail!("{}: no feature column '{name}'", path.display()),
        }
    }
    Ok(weights)
}

/// Notes features that the model does not know; refuses a table that lacks some by number.
pub(crate) fn check_width(saved: &SavedModel, examples: &Examples, path: &Path) -> Result<()> {
    let (known, found) = (saved.model.weights.len(), examples.rows.cols());
    let by_number = !examples.names.is_empty() && saved.model.names.is_empty();
    if by_number && found < known && hash_bits(saved).is_none() {
        bail!(
            "{}: {found} feature columns; the model has {known} features",
            path.display()
        );
    }
    Ok(())
}

/// The scores of every model on one file, and behind them `more` columns of numbers.
pub(crate) fn score_file(
    models: &[PathBuf],
    path: &Path,
    format: &FormatArgs,
    classes: &ClassArgs,
    more: &[String],
    output: Output,
) -> Result<Scores> {
    let models = models
        .iter()
        .map(|path| load(path))
        .collect::<Result<Vec<_>>>()?;
    let mut wanted: Vec<String> = Vec::new();
    let mut known = std::collections::HashSet::new();
    let of_models: Vec<Vec<String>> = models.iter().map(columns).collect();
    for name in of_models.iter().flatten().chain(more) {
        if known.insert(name) {
            wanted.push(name.clone());
        }
    }
    let all_named = of_models.iter().all(|names| !names.is_empty());
    let wanted = Wanted {
        columns: all_named.then_some(wanted),
        notice_others: true,
        ..Wanted::default()
    };
    let examples = format.read(path, wanted, output)?;
    let mut all = Vec::new();
    for saved in &models {
        check_width(saved, &examples, path)?;
        if let Some(bits) = hash_bits(saved) {
            let ordered = in_order(saved, &examples, path)?;
            let rows = hashed(ordered.as_ref().unwrap_or(&examples.rows), bits)
                .with_context(|| path.display().to_string())?;
            all.push(scores(&saved.model.weights, saved.model.intercept, &rows));
            continue;
        }
        let weights = aligned(saved, &examples.names, path)?;
        note_beyond(weights.len(), examples.rows.cols(), path, output);
        all.push(scores(&weights, saved.model.intercept, &examples.rows));
    }
    for name in more {
        match examples.names.iter().position(|n| n == name) {
            Some(at) => all.push(examples.rows.column(at)),
            None => bail!("{}: no column '{name}'", path.display()),
        }
    }
    let labels = labels_of(&models[0], &examples.labels, classes, output);
    let labels = labels.with_context(|| path.display().to_string())?;
    Ok(Scores {
        columns: all,
        labels,
    })
}

/// Says once that some features are unknown to the model.
pub(crate) fn note_beyond(known: usize, found: usize, path: &Path, output: Output) {
    if found > known {
        output.note(format!(
            "note: {}: features beyond the {known} of the model are ignored (up to {found})",
            path.display()
        ));
    }
}

/// Two classes: as typed, or those of the model where the data has them.
fn labels_of(
    saved: &SavedModel,
    labels: &Labels,
    classes: &ClassArgs,
    output: Output,
) -> Result<Binary> {
    let typed = classes.choice();
    if typed != Choice::Larger {
        return Ok(labels.binary(&typed)?);
    }
    let [negative, positive] = &saved.model.classes;
    let list = |name: &str| -> Option<Vec<String>> {
        let values = saved.parameters.get(name)?.as_array()?;
        let texts = values.iter().map(|v| v.as_str().map(str::to_string));
        texts.collect()
    };
    if let (Some(positive), Some(negative)) = (list(POSITIVE_CLASSES), list(NEGATIVE_CLASSES)) {
        let sides = ClassSides {
            positive,
            negative,
            others_are_negative: false,
            names: saved.model.classes.clone(),
        };
        return sides.apply(labels);
    }
    let found: Vec<String> = labels.classes().iter().map(ToString::to_string).collect();
    if found.contains(positive) {
        if found.len() == 2 && negative != "rest" && !found.contains(negative) {
            output.note(format!(
                "note: the data has no class {negative}, the model's negative one; all but \
                 {positive} are negative"
            ));
        }
        return Ok(labels.binary(&Choice::Positive(positive.clone()))?);
    }
    output.note(format!(
        "note: the data has no class {positive}, the model's positive one; the larger of two is \
         positive"
    ));
    Ok(labels.binary(&Choice::Larger)?)
}

/// Which classes of the training data were on which side.
pub(crate) struct ClassSides {
    pub(crate) positive: Vec<String>,
    pub(crate) negative: Vec<String>,
    /// One class against the rest: a new class belongs to the rest.
    pub(crate) others_are_negative: bool,
    pub(crate) names: [String; 2],
}

impl ClassSides {
    /// The sides that a choice took.
    pub(crate) fn new(labels: &Labels, binary: &Binary, choice: &Choice) -> ClassSides {
        let mut is_positive = vec![false; labels.classes().len()];
        for (&code, &positive) in labels.codes().iter().zip(&binary.positive) {
            is_positive[code as usize] = positive;
        }
        let side = |wanted: bool| {
            let both = labels.classes().iter().zip(&is_positive);
            both.filter(|(_, p)| **p == wanted)
                .map(|(class, _)| class.to_string())
                .collect()
        };
        ClassSides {
            positive: side(true),
            negative: side(false),
            others_are_negative: matches!(choice, Choice::Positive(_)),
            names: binary.names.clone(),
        }
    }

    /// The same sides of other labels.
    pub(crate) fn apply(&self, labels: &Labels) -> Result<Binary> {
        let mut is_positive = Vec::new();
        for class in labels.classes() {
            let class = class.to_string();
            if self.positive.contains(&class) {
                is_positive.push(true);
            } else if self.others_are_negative || self.negative.contains(&class) {
                is_positive.push(false);
            } else {
                bail!("class {class} was not in the training data");
            }
        }
        let positive: Vec<bool> = labels
            .codes()
            .iter()
            .map(|&code| is_positive[code as usize])
            .collect();
        let n_pos = positive.iter().filter(|p| **p).count();
        let n_neg = positive.len() - n_pos;
        if n_pos == 0 || n_neg == 0 {
            let [negative, of_positive] = &self.names;
            let class = if n_pos == 0 { negative } else { of_positive };
            return Err(ubauc::Error::OneClass {
                class: class.clone(),
                n: positive.len(),
            }
            .into());
        }
        Ok(Binary {
            positive,
            n_pos,
            n_neg,
            names: self.names.clone(),
        })
    }
}
