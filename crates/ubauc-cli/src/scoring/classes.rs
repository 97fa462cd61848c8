//! Scores of a model of many classes: a column for each.

use std::path::Path;

use anyhow::{Context, Result, bail};
use ubauc::data::labels::Labels;
use ubauc::data::table::Table;
use ubauc::features::FeatureMap;
use ubauc::many_classes::{ClassModel, by_rows};
use ubauc::metrics::{HandTill, hand_till};
use ubauc::model::Model;
use ubauc::model_file::AnyModel;
use ubauc::read::table::OnError;

use super::{ColumnArgs, check_width, refuse_unnamed, shortened, table};
use crate::input::{FormatArgs, Wanted};
use crate::output::Output;

/// One scorer of two classes, or one for each of many.
pub(crate) enum Loaded {
    Two(Box<Model>),
    Many(ClassModel),
}

impl ColumnArgs {
    /// Loads a model of any number of classes that is to find its columns as typed.
    pub(crate) fn load_any(&self, path: &Path) -> Result<Loaded> {
        let loaded = AnyModel::load(path);
        match loaded.with_context(|| format!("--model {}", path.display()))? {
            AnyModel::Two(saved) => Ok(Loaded::Two(Box::new(self.prepared(saved.model, path)?))),
            AnyModel::Many(saved) => {
                let ClassModel { classes, scorers } = saved.model;
                let scorers = scorers.into_iter().map(|one| self.prepared(one, path));
                let scorers = scorers.collect::<Result<Vec<Model>>>()?;
                Ok(Loaded::Many(ClassModel { classes, scorers }))
            }
        }
    }
}

/// Refuses labels of fewer than two classes, and of others than these.
pub(crate) fn check_classes(labels: &Labels, known: &[String]) -> Result<()> {
    let classes = labels.classes();
    for class in classes.iter().map(ToString::to_string) {
        if !known.contains(&class) {
            bail!("class {class} is none of the model's: {}", shortened(known));
        }
    }
    if let [only] = classes {
        let (class, n) = (only.to_string(), labels.codes().len());
        return Err(ubauc::Error::OneClass { class, n }.into());
    }
    Ok(())
}

/// M of columns of scores, one for each class of a model, and the classes that the labels have. Those of the model that
/// they lack are left out with a note.
pub(crate) fn judged(
    known: &[String],
    (columns, labels): (&[Vec<f64>], &Labels),
    path: &Path,
    output: Output,
) -> Result<(HandTill, Vec<String>)> {
    check_classes(labels, known)?;
    let classes: Vec<String> = labels.classes().iter().map(ToString::to_string).collect();
    let column = |class: &String| {
        let at = known.iter().position(|known| known == class);
        at.and_then(|at| columns.get(at)).cloned()
    };
    let of_classes: Option<Vec<Vec<f64>>> = classes.iter().map(column).collect();
    let of_classes = of_classes.context("a class without scores")?;
    let lacking: Vec<String> = (known.iter())
        .filter(|class| !classes.contains(class))
        .cloned()
        .collect();
    if !lacking.is_empty() {
        output.note(format!(
            "note: {}: no examples of {}; pairs with them are left out",
            path.display(),
            shortened(&lacking)
        ));
    }
    let codes: Vec<usize> = labels.codes().iter().map(|&code| code as usize).collect();
    let found = hand_till(&by_rows(&of_classes), classes.len(), &codes)?;
    Ok((found, classes))
}

/// Examples of many classes to be judged, and how they are read.
pub(crate) struct ClassFile<'a> {
    pub(crate) path: &'a Path,
    pub(crate) format: &'a FormatArgs,
    /// Columns of which no notice is wanted.
    pub(crate) ignore: Vec<String>,
    pub(crate) on_error: OnError,
}

impl ClassFile<'_> {
    /// M of the model on these examples, and the classes that they have.
    pub(crate) fn judge(
        &self,
        model: &ClassModel,
        output: Output,
    ) -> Result<(HandTill, Vec<String>)> {
        let (columns, labels) = self.scores(model, output)?;
        judged(&model.classes, (&columns, &labels), self.path, output)
            .with_context(|| self.path.display().to_string())
    }

    /// A column of scores for each class of the model, and the labels.
    fn scores(&self, model: &ClassModel, output: Output) -> Result<(Vec<Vec<f64>>, Labels)> {
        let in_file = || self.path.display().to_string();
        let first = model.scorers.first().context("a model without classes")?;
        let label = self.format.label_of(first);
        if let FeatureMap::Columns(map) = &first.features {
            let file = table::TableFile {
                path: self.path,
                model: first,
                map,
                format: self.format,
                ignore: self.ignore.clone(),
                on_error: self.on_error,
            };
            let score = |table: &Table| model.scores_table(table);
            let found = file.labelled_scores(&label, &[], output, score)?;
            return Ok((found.scores, found.labels));
        }
        let wanted = Wanted {
            columns: (!first.names.is_empty()).then(|| first.names.clone()),
            ignore: self.ignore.clone(),
            notice_others: true,
            any_index: matches!(first.features, FeatureMap::Hash { .. }),
            label: Some(label),
            on_error: self.on_error,
            ..Wanted::default()
        };
        let examples = self.format.read(self.path, wanted, output)?;
        let is_table = !examples.names.is_empty();
        refuse_unnamed(first, is_table, self.path)?;
        if first.names.is_empty() {
            let cols = examples.rows.cols();
            check_width(first, cols, is_table, self.path, output)?;
            let scores = model.scores(&examples.rows).with_context(in_file)?;
            return Ok((scores, examples.labels));
        }
        let scores = model.scores_by_name(&examples.rows, &examples.names);
        Ok((scores.with_context(in_file)?, examples.labels))
    }
}
