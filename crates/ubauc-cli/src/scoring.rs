//! Scores of a saved model: its columns found in a file, its classes in the labels.

pub(crate) mod classes;
pub(crate) mod table;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use ubauc::data::dataset::Examples;
use ubauc::data::labels::{Binary, Choice, Labels};
use ubauc::data::table::Table;
use ubauc::features::FeatureMap;
use ubauc::model::{Model, Partition};
use ubauc::model_file::SavedModel;

use ubauc::read::table::OnError;

use crate::args::WrongUsage;
use crate::column_list::{ColumnList, all_names};
use crate::group_arg::{ReadRows, about_groups, read_groups};
use crate::input::{ClassArgs, FormatArgs, Scores, TABLES, Wanted};
use crate::output::Output;

/// Which columns of a file a model scores.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnArgs {
    #[arg(
        long,
        value_name = "COLUMN,…",
        value_parser = ColumnList::parse,
        help = format!("Columns to leave out ({TABLES}), separated by commas; a name with a comma stands in double quotes")
    )]
    ignore: Vec<ColumnList>,
    /// Take features by position, though the model knows its columns by name; svmlight has no names
    #[arg(long)]
    by_position: bool,
    /// What is done about a line that cannot be read [default: stop]
    #[arg(long, value_name = "WHAT", value_enum)]
    on_error: Option<OnErrorName>,
}

/// What is done about a line that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnErrorName {
    /// An error, behind what was made of the lines before it
    Stop,
    /// The line is left out; a note counts such lines and names the first
    Skip,
}

impl From<OnErrorName> for OnError {
    fn from(name: OnErrorName) -> OnError {
        match name {
            OnErrorName::Skip => OnError::Skip,
            OnErrorName::Stop => OnError::Stop,
        }
    }
}

impl ColumnArgs {
    /// Of a file of scores no other columns are read than those that are named.
    pub(crate) fn refuse_without_model(&self) -> Result<()> {
        if self.ignore.is_empty() && !self.by_position && self.on_error.is_none() {
            return Ok(());
        }
        let what = "--ignore, --by-position and --on-error are for the columns of a model; give --model too";
        Err(WrongUsage(what.to_string()).into())
    }

    /// Loads a model that is to find its columns as typed.
    pub(crate) fn load(&self, path: &Path) -> Result<Model> {
        let saved = SavedModel::load(path);
        let saved = saved.with_context(|| format!("--model {}", path.display()))?;
        self.prepared(saved.model, path)
    }

    /// A model of this file that is to find its columns as typed.
    fn prepared(&self, mut model: Model, path: &Path) -> Result<Model> {
        let wrong = |what: String| Err(WrongUsage(what).into());
        match &model.features {
            FeatureMap::Columns(_) if self.by_position => {
                return wrong(format!(
                    "--by-position: the model {} is of a table and finds its columns by name",
                    path.display()
                ));
            }
            FeatureMap::Columns(_) => {}
            _ if self.by_position => model.names.clear(),
            _ => {}
        }
        let needed = needed_columns(&model);
        if let Some(name) = self.ignore().iter().find(|name| needed.contains(name)) {
            let path = path.display();
            return wrong(format!(
                "--ignore {name}: the model {path} needs this column"
            ));
        }
        Ok(model)
    }

    /// Columns to leave out.
    pub(crate) fn ignore(&self) -> Vec<String> {
        all_names(&self.ignore)
    }

    /// What is done about a line that cannot be read.
    pub(crate) fn on_error(&self) -> OnError {
        self.on_error.map_or(OnError::Stop, Into::into)
    }
}

/// Whether a model reads raw tables.
pub(crate) fn is_of_table(model: &Model) -> bool {
    matches!(model.features, FeatureMap::Columns(_))
}

/// The names of the columns that a file must have.
fn needed_columns(model: &Model) -> Vec<String> {
    match &model.features {
        FeatureMap::Columns(map) => {
            let used = (0..map.columns.len()).filter(|&j| map.is_used(j));
            used.map(|j| map.columns[j].name.clone()).collect()
        }
        FeatureMap::Identity | FeatureMap::Hash { .. } => model.names.clone(),
    }
}

/// How many columns a model takes by position; `None` if their number is open.
pub(crate) fn width(model: &Model) -> Option<usize> {
    match model.features {
        FeatureMap::Identity => Some(model.weights.len()),
        FeatureMap::Hash { .. } | FeatureMap::Columns(_) => None,
    }
}

/// A file without names of columns leaves those of a model unfound.
pub(crate) fn refuse_unnamed(model: &Model, is_table: bool, path: &Path) -> Result<()> {
    if is_table || model.names.is_empty() {
        return Ok(());
    }
    bail!(
        "{}: svmlight has no column names, and the model knows its columns by name: {}; \
         --by-position takes features 1, 2, … as these",
        path.display(),
        shortened(&model.names)
    )
}

/// Some names, and how many more there are.
pub(crate) fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 5;
    match names.len() {
        0..=SHOWN => names.join(", "),
        n => format!("{} and {} more", names[..SHOWN].join(", "), n - SHOWN),
    }
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

/// The weights of a model in the order of these columns, where both have names: for a start.
pub(crate) fn aligned(model: &Model, names: &[String], path: &Path) -> Result<Vec<f64>> {
    let positions = model.positions(names);
    let positions = positions.with_context(|| path.display().to_string())?;
    let (Some(positions), FeatureMap::Identity) = (positions, &model.features) else {
        return Ok(model.weights.clone());
    };
    let mut weights = vec![0.0; names.len()];
    for (at, weight) in positions.into_iter().zip(&model.weights) {
        weights[at] = *weight;
    }
    Ok(weights)
}

/// Models to score one file with, and how to read it.
pub(crate) struct Scoring<'a> {
    pub(crate) models: &'a [PathBuf],
    pub(crate) columns: &'a ColumnArgs,
    pub(crate) format: &'a FormatArgs,
    pub(crate) classes: &'a ClassArgs,
}

impl Scoring<'_> {
    /// The scores of every model, and behind them `more` columns of numbers; with the groups in another column.
    pub(crate) fn score_besides(
        &self,
        path: &Path,
        more: &[String],
        other: Option<&str>,
        output: Output,
    ) -> Result<Scores> {
        let models = self.models.iter().map(|path| self.columns.load(path));
        let mut models = models.collect::<Result<Vec<Model>>>()?;
        if models.iter().any(is_of_table) {
            return self.score_one_by_one(models, path, (more, other), output);
        }
        let wanted = self.wanted(&models, more, other);
        let examples = self.format.read(path, wanted, output);
        let examples = examples.map_err(|e| about_groups(e, other.unwrap_or_default()))?;
        let groups = self.groups_of(&models, &examples, path, other)?;
        let scores = self.scores_of(&mut models, &examples, path, (more, output))?;
        Ok(Scores { groups, ..scores })
    }

    /// The groups of examples that were read as numbers.
    fn groups_of(
        &self,
        models: &[Model],
        examples: &Examples,
        path: &Path,
        column: Option<&str>,
    ) -> Result<Option<Vec<u32>>> {
        let (Some(column), Some(first)) = (column, models.first()) else {
            return Ok(None);
        };
        let label = self.format.label_of(first);
        let rows = ReadRows::numbers(&examples.names, label, self.columns.on_error());
        let n = examples.rows.len();
        read_groups(path, column, self.format, (&rows, n)).map(Some)
    }

    /// The scores of examples by models of numbers.
    fn scores_of(
        &self,
        models: &mut [Model],
        examples: &Examples,
        path: &Path,
        (more, output): (&[String], Output),
    ) -> Result<Scores> {
        let (names, is_table) = (&examples.names, !examples.names.is_empty());
        let is_feature = |name: &&String| !more.contains(*name);
        let free: Vec<String> = names.iter().filter(is_feature).cloned().collect();
        let found = if is_table {
            free.len()
        } else {
            examples.rows.cols()
        };
        let mut all = Vec::new();
        for model in models.iter_mut() {
            refuse_unnamed(model, is_table, path)?;
            if model.names.is_empty() {
                check_width(model, found, is_table, path, output)?;
                model.names.clone_from(&free);
            }
            let scores = model.scores_by_name(&examples.rows, names);
            all.push(scores.with_context(|| path.display().to_string())?);
        }
        for name in more {
            match names.iter().position(|n| n == name) {
                Some(at) => all.push(examples.rows.column(at)),
                None => bail!("{}: no column '{name}'", path.display()),
            }
        }
        let labels = labels_of(&models[0], &examples.labels, self.classes, output);
        let labels = labels.with_context(|| path.display().to_string())?;
        Ok(Scores {
            columns: all,
            labels,
            groups: None,
        })
    }

    /// Models of tables read the file by the kinds of their own columns, so each model reads the file again.
    fn score_one_by_one(
        &self,
        models: Vec<Model>,
        path: &Path,
        (more, other): (&[String], Option<&str>),
        output: Output,
    ) -> Result<Scores> {
        if models.len() > 1 && path == Path::new("-") {
            bail!("standard input can be read once, and each model reads the file; name a file");
        }
        let mut all: Option<Scores> = None;
        for (k, model) in models.into_iter().enumerate() {
            // Notes about the file were printed the first time.
            let output = Output {
                quiet: output.quiet || k > 0,
                ..output
            };
            let found = self.score_alone(model, path, (more, other), output)?;
            match &mut all {
                None => all = Some(found),
                Some(all) => {
                    let scores = found.columns.into_iter().next();
                    all.columns.splice(k..k, scores);
                }
            }
        }
        all.context("no model")
    }

    fn score_alone(
        &self,
        mut model: Model,
        path: &Path,
        (more, other): (&[String], Option<&str>),
        output: Output,
    ) -> Result<Scores> {
        let in_file = || path.display().to_string();
        let label = self.format.label_of(&model);
        if let FeatureMap::Columns(map) = &model.features {
            let file = table::TableFile {
                path,
                model: &model,
                map,
                format: self.format,
                ignore: [self.ignored(other), more.to_vec()].concat(),
                on_error: self.columns.on_error(),
            };
            let score = |table: &Table| Ok(vec![model.scores_table(table)?]);
            let found = file.labelled_scores(&label, more, output, score)?;
            let labels = labels_of(&model, &found.labels, self.classes, output);
            let labels = labels.with_context(in_file)?;
            let rows = file.rows(Some(label), more);
            let n = labels.positive.len();
            let read = |column: &str| read_groups(path, column, self.format, (&rows, n));
            return Ok(Scores {
                columns: [found.scores, found.more].concat(),
                labels,
                groups: other.map(read).transpose()?,
            });
        }
        let wanted = self.wanted(std::slice::from_ref(&model), more, other);
        let examples = self.format.read(path, wanted, output);
        let examples = examples.map_err(|e| about_groups(e, other.unwrap_or_default()))?;
        let groups = self.groups_of(std::slice::from_ref(&model), &examples, path, other)?;
        let scores = self.scores_of(
            std::slice::from_mut(&mut model),
            &examples,
            path,
            (more, output),
        )?;
        Ok(Scores { groups, ..scores })
    }

    fn ignored(&self, other: Option<&str>) -> Vec<String> {
        let mut ignored = self.columns.ignore();
        ignored.extend(other.map(str::to_string));
        ignored
    }

    /// The columns of all models where all have names, otherwise all that are not ignored.
    fn wanted(&self, models: &[Model], more: &[String], other: Option<&str>) -> Wanted {
        let mut known = HashSet::new();
        let names = models.iter().flat_map(|model| &model.names).chain(more);
        let wanted = names.filter(|name| known.insert(*name)).cloned().collect();
        let all_named = models.iter().all(|model| !model.names.is_empty());
        Wanted {
            columns: all_named.then_some(wanted),
            ignore: self.ignored(other),
            notice_others: true,
            any_index: (models.iter()).all(|m| matches!(m.features, FeatureMap::Hash { .. })),
            label: models.first().map(|model| self.format.label_of(model)),
            on_error: self.columns.on_error(),
            ..Wanted::default()
        }
    }
}

/// Notes features that the model does not know; refuses a table that lacks some by position.
fn check_width(
    model: &Model,
    found: usize,
    is_table: bool,
    path: &Path,
    output: Output,
) -> Result<()> {
    let Some(known) = width(model) else {
        return Ok(());
    };
    if is_table && found < known {
        bail!(
            "{}: {found} feature columns; the model has {known} features",
            path.display()
        );
    }
    note_beyond(known, found, path, output);
    Ok(())
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
    model: &Model,
    labels: &Labels,
    classes: &ClassArgs,
    output: Output,
) -> Result<Binary> {
    let typed = classes.choice();
    if typed != Choice::Larger {
        return Ok(labels.binary(&typed)?);
    }
    if let Some(partition) = &model.partition {
        let sides = ClassSides {
            partition: partition.clone(),
            others_are_negative: false,
            names: model.classes.clone(),
        };
        return sides.apply(labels);
    }
    let [negative, positive] = &model.classes;
    let found: Vec<String> = labels.classes().iter().map(ToString::to_string).collect();
    if !found.contains(positive) {
        if let [only] = found.as_slice()
            && only == negative
        {
            let (class, n) = (only.clone(), labels.codes().len());
            return Err(ubauc::Error::OneClass { class, n }.into());
        }
        bail!(
            "the classes are {}, and those of the model {negative} and {positive}; say which is \
             positive (--positive VALUE)",
            shortened(&found)
        );
    }
    if found.len() == 2 && negative != "rest" && !found.contains(negative) {
        output.note(format!(
            "note: the data has no class {negative}, the model's negative one; all but {positive} \
             are negative"
        ));
    }
    Ok(labels.binary(&Choice::Positive(positive.clone()))?)
}

/// Which classes of the training data were on which side.
pub(crate) struct ClassSides {
    pub(crate) partition: Partition,
    /// One class against the rest: a new class belongs to the rest.
    others_are_negative: bool,
    names: [String; 2],
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
            partition: Partition {
                negative: side(false),
                positive: side(true),
            },
            others_are_negative: matches!(choice, Choice::Positive(_)),
            names: binary.names.clone(),
        }
    }

    /// The same sides of other labels.
    pub(crate) fn apply(&self, labels: &Labels) -> Result<Binary> {
        let mut is_positive = Vec::new();
        for class in labels.classes() {
            let class = class.to_string();
            if self.partition.positive.contains(&class) {
                is_positive.push(true);
            } else if self.others_are_negative || self.partition.negative.contains(&class) {
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
