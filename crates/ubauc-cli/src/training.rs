//! Examples to learn from, as `train` and `tune` read them: two classes, perhaps with weights.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Args;
use rayon::prelude::*;
use ubauc::algorithm::Outcome;
use ubauc::data::dataset::{Dataset, Examples};
use ubauc::data::labels::{Binary, Choice, Labels};
use ubauc::data::rows::Rows;
use ubauc::data::table::{Column, Table, Values};
use ubauc::document::numbers::thousands;
use ubauc::features::ColumnMap;
use ubauc::features::codes::{are_codes, are_codes_of_classes};
use ubauc::features::columns::{LEAST_ROWS, Monotone};
use ubauc::glass_box::{GlassBox, LearnedMap, MAX_COLUMNS, MapKind};
use ubauc::model::{Model, Reading};
use ubauc::read::table::{
    ColumnReport, Data, DetectedKind, TableExamples, TableOptions, read_data, table_of_rows,
};

use crate::column_list::{ColumnList, all_names};
use crate::column_report::{self, FeaturesReport};
use crate::feature_args::{Plan, kind_of};
use crate::input::{ClassArgs, FormatArgs, TABLES};
use crate::met::skipped_notice;
use crate::output::Output;
use crate::scoring::{self, ClassSides, OnErrorName};
use crate::table_args::TableArgs;

/// Which columns of the training file are what.
#[derive(Debug, Args)]
pub(crate) struct TrainingArgs {
    #[arg(
        long,
        value_name = "COLUMN",
        help = format!(
            "Column of sample weights, at least 0, in the training file ({TABLES}): an example of weight 2 counts as two \
             in what is minimised and in the AUC of the training file and of folds, one of weight 0 not at all"
        )
    )]
    pub(crate) weight: Option<String>,
    #[arg(
        long,
        value_name = "COLUMN",
        help = format!(
            "Column of groups in the training file ({TABLES}), such as the number of a patient: examples of one group \
             stay together in every fold and in what is held out, and intervals of AUC are those of groups"
        )
    )]
    pub(crate) group: Option<String>,
    #[arg(
        long,
        value_name = "COLUMN,…",
        value_parser = ColumnList::parse,
        help = format!(
            "Columns of numbers or times ({TABLES}) with which the score must not fall, whatever the others are; may be \
             given several times"
        )
    )]
    pub(crate) increasing: Vec<ColumnList>,
    #[arg(
        long,
        value_name = "COLUMN,…",
        value_parser = ColumnList::parse,
        help = "Columns with which the score must not rise, likewise"
    )]
    pub(crate) decreasing: Vec<ColumnList>,
    /// What is done about a line of the training file that cannot be read
    #[arg(long, value_name = "WHAT", value_enum, default_value = "stop")]
    pub(crate) on_error: OnErrorName,
    #[command(flatten)]
    pub(crate) columns: TableArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) classes: ClassArgs,
}

/// What was read.
pub(crate) struct Training {
    pub(crate) data: Dataset,
    /// Each finite and not negative, both classes with some.
    pub(crate) weights: Option<Vec<f64>>,
    /// The group of each example, counted from 0.
    pub(crate) groups: Option<Vec<u32>>,
    pub(crate) sides: ClassSides,
    /// Labels of more than two classes of which none was chosen; the data are then of the first one against the rest.
    pub(crate) many: Option<Labels>,
    /// What was made of the columns; none of svmlight.
    pub(crate) columns: Vec<ColumnReport>,
    /// How the file was written, for the model.
    pub(crate) reading: Reading,
    /// Where the features are made by a map.
    pub(crate) mapped: Option<Mapped>,
    /// Of complete numbers, those of svmlight too, which are features as they are: what other maps can be learned from.
    pub(crate) kept: Option<Kept>,
    /// Columns with which the score must rise or fall.
    monotone: Option<Monotone>,
    /// Lines of the file that were left out.
    pub(crate) n_skipped: usize,
}

/// A table that no map has been learned from.
pub(crate) struct Kept {
    pub(crate) table: Table,
    pub(crate) labels: Binary,
}

/// A table, and the map that has made the features of the data of it.
pub(crate) struct Mapped {
    pub(crate) table: Table,
    pub(crate) labels: Binary,
    pub(crate) learned: LearnedMap,
    /// What kind of map it is.
    pub(crate) kind: &'static str,
}

impl TrainingArgs {
    /// The options that make another command read the same examples, each after a blank.
    pub(crate) fn typed(&self) -> String {
        let mut typed = Vec::new();
        if let Some(column) = &self.weight {
            typed.push(("--weight", Some(column.clone())));
        }
        if let Some(column) = &self.group {
            typed.push(("--group", Some(column.clone())));
        }
        for (option, lists) in [
            ("--increasing", &self.increasing),
            ("--decreasing", &self.decreasing),
        ] {
            typed.extend(lists.iter().map(|list| (option, Some(list.to_string()))));
        }
        if self.on_error == OnErrorName::Skip {
            typed.push(("--on-error", Some("skip".to_string())));
        }
        typed.extend(self.columns.typed());
        typed.extend(self.format.typed());
        match self.classes.choice() {
            Choice::Positive(value) => typed.push(("--positive", Some(value))),
            Choice::Partition(seed) => typed.push(("--partition", Some(seed.to_string()))),
            Choice::Larger => {}
        }
        let word = |(option, value): (&str, Option<String>)| match value {
            Some(value) => format!(" {option} {}", quoted(&value)),
            None => format!(" {option}"),
        };
        typed.into_iter().map(word).collect()
    }

    /// Columns with which the score must rise or fall.
    pub(crate) fn monotone(&self) -> Option<Monotone> {
        let asked = Monotone {
            increasing: all_names(&self.increasing),
            decreasing: all_names(&self.decreasing),
        };
        (!asked.is_empty()).then_some(asked)
    }

    /// With the raw table where the plan is to learn maps from it. Refuses more than two classes of which none is chosen.
    pub(crate) fn read(&self, path: &Path, plan: &Plan, output: Output) -> Result<Training> {
        let training = self.read_many(path, plan, output)?;
        match &training.many {
            Some(labels) => {
                // The choice that cannot be made says why.
                let refused = labels.binary(&Choice::Larger).map(|_| training);
                Ok(refused.with_context(|| path.display().to_string())?)
            }
            None => Ok(training),
        }
    }

    /// The same, of any number of classes.
    pub(crate) fn read_many(&self, path: &Path, plan: &Plan, output: Output) -> Result<Training> {
        let options = TableOptions {
            label: Some(self.format.label()),
            on_error: self.on_error.into(),
            ..self.columns.apply(self.format.table_options())
        };
        let read = self.format.watched(path, output, |advance| {
            let options = TableOptions {
                progress: Some(advance),
                ..options.clone()
            };
            Ok(read_data(path, &options)?)
        })?;
        let skipped = match &read {
            Data::Rows(examples) => &examples.skipped,
            Data::Table(examples) => &examples.skipped,
        };
        let n_skipped = skipped.n;
        tell(skipped_notice(skipped).as_slice(), path, output);
        let in_file = || path.display().to_string();
        let training = match read {
            Data::Rows(examples) => {
                tell(&examples.notices, path, output);
                self.of_svmlight(examples, (&options, plan), path, output)
            }
            Data::Table(examples) => {
                tell(&examples.notices, path, output);
                self.of_table(examples, (&options, plan), path, output)
            }
        };
        Ok(Training {
            n_skipped,
            ..training.with_context(in_file)?
        })
    }

    /// Whether there are more than two classes and none was chosen.
    fn is_many(&self, labels: &Labels) -> bool {
        labels.classes().len() > 2 && self.classes.choice() == Choice::Larger
    }

    /// Two classes as chosen; of many the first one against the rest.
    fn first_or_chosen(&self, labels: &Labels, path: &Path, output: Output) -> Result<Binary> {
        match labels.classes().first().filter(|_| self.is_many(labels)) {
            Some(first) => Ok(labels.binary(&Choice::Positive(first.to_string()))?),
            None => self.classes.binary(labels, path, output),
        }
    }

    fn of_svmlight(
        &self,
        examples: Examples,
        (options, plan): (&TableOptions<'_>, &Plan),
        path: &Path,
        output: Output,
    ) -> Result<Training> {
        self.columns.refuse_for_svmlight()?;
        for (what, column) in [("weight", &self.weight), ("group", &self.group)] {
            if column.is_some() {
                bail!("--{what} names a column; svmlight has none");
            }
        }
        if self.monotone().is_some() {
            bail!("--increasing and --decreasing name columns; svmlight has none");
        }
        let binary = self.first_or_chosen(&examples.labels, path, output)?;
        let sides = ClassSides::new(&examples.labels, &binary, &self.classes.choice());
        let is_many = self.is_many(&examples.labels);
        refuse_wide(plan, &examples.rows)?;
        let mut kept = None;
        if keeps_table(plan, &examples.rows) && !is_many {
            let table = table_of_rows(&examples.rows, options.zero_based)?;
            let labels = binary.clone();
            kept = (table.columns().iter().any(varies)).then_some(Kept { table, labels });
        }
        Ok(Training {
            data: Dataset::new(examples.rows, binary, examples.names)?,
            weights: None,
            groups: None,
            sides,
            many: is_many.then_some(examples.labels),
            columns: Vec::new(),
            reading: Reading::default(),
            mapped: None,
            kept,
            monotone: None,
            n_skipped: 0,
        })
    }

    fn of_table(
        &self,
        examples: TableExamples,
        (options, plan): (&TableOptions<'_>, &Plan),
        path: &Path,
        output: Output,
    ) -> Result<Training> {
        let TableExamples {
            mut table,
            labels,
            mut columns,
            ..
        } = examples;
        let Some(labels) = labels else {
            bail!("no labels; name their column (--label)");
        };
        let mut take = |name: &Option<String>, what: &str| match name {
            Some(name) => take_column(&mut table, name, what).map(Some),
            None => Ok(None),
        };
        let (weight, group) = (take(&self.weight, "weight")?, take(&self.group, "group")?);
        columns.retain(|report| table.column(&report.name).is_some());
        let weights = weight.as_ref().map(weights_of).transpose()?;
        let groups = group.as_ref().map(groups_of).transpose()?;
        let binary = self.first_or_chosen(&labels, path, output)?;
        let sides = ClassSides::new(&labels, &binary, &self.classes.choice());
        let reading = Reading::of(options, &columns);
        // The readers of complete numbers know no decimal comma.
        let commas = columns.iter().any(|report| report.decimal_comma);
        let is_many = self.is_many(&labels);
        let codes = codes_among(&table, &columns, &options.numeric, |values| match is_many {
            true => are_codes_of_classes(values, labels.codes(), labels.classes().len() as u32),
            false => are_codes(values, &binary.positive),
        });
        let is_plain = table.is_complete_numbers() && !commas;
        let mut kept = None;
        let (data, mapped) = if is_plain {
            let names: Vec<String> = columns.iter().map(|report| report.name.clone()).collect();
            let Rows::Dense(dense) = table.numbers(&[])? else {
                bail!("a table of numbers must make dense rows");
            };
            let rows = Rows::smaller_of_dense(dense);
            let is_kept = keeps_table(plan, &rows) || self.monotone().is_some();
            if is_kept && table.columns().iter().any(varies) {
                let labels = binary.clone();
                kept = Some(Kept { table, labels });
            }
            (Dataset::new(rows, binary, names)?, None)
        } else {
            let map = ColumnMap::learn(&table, weights.as_deref())?;
            refuse_empty(&map)?;
            let data = Dataset::new(map.apply(&table)?, binary.clone(), Vec::new())?;
            let mapped = Mapped {
                table,
                labels: binary,
                learned: map.into(),
                kind: kind_of(&MapKind::Linear),
            };
            (data, Some(mapped))
        };
        column_report::tell_notes(
            &columns,
            mapped.as_ref().map(|m| &m.learned.map),
            path,
            output,
        );
        tell(
            column_report::note_codes(&mut columns, &codes).as_slice(),
            path,
            output,
        );
        if let Some(weights) = &weights {
            refuse_weightless(&data, weights)?;
        }
        Ok(Training {
            data,
            weights,
            groups,
            sides,
            many: is_many.then_some(labels),
            columns,
            reading,
            mapped,
            kept,
            monotone: self.monotone(),
            n_skipped: 0,
        })
    }
}

impl Training {
    /// The scores of the examples, of raw values where there are some.
    pub(crate) fn scores_by(&self, model: &Model) -> Result<Vec<f64>> {
        Ok(match &self.mapped {
            Some(mapped) => model.scores_table(&mapped.table)?,
            None => model.scores(self.data.rows())?,
        })
    }

    /// What was made of the columns of a table.
    pub(crate) fn features_report(&self) -> Option<FeaturesReport> {
        let report = || match &self.mapped {
            Some(mapped) => FeaturesReport::of_mapped(&self.columns, mapped),
            None => FeaturesReport::new(&self.columns, None),
        };
        (!self.columns.is_empty()).then(report)
    }

    /// The table that maps can be learned from, with its classes.
    pub(crate) fn table(&self) -> Option<(&Table, &Binary)> {
        let mapped = self.mapped.as_ref().map(|m| (&m.table, &m.labels));
        mapped.or_else(|| self.kept.as_ref().map(|k| (&k.table, &k.labels)))
    }

    /// Columns with which the score must rise or fall.
    pub(crate) fn monotone(&self) -> Option<&Monotone> {
        self.monotone.as_ref()
    }

    /// Takes over the map of a fit, and the features that it has made; the weights are answered.
    pub(crate) fn adopt(&mut self, fitted: GlassBox, kind: &MapKind) -> Result<Outcome> {
        let mapped = self.mapped.take().map(|m| (m.table, m.labels));
        let table = mapped.or_else(|| self.kept.take().map(|k| (k.table, k.labels)));
        let (table, labels) = table.context("only a table has a map")?;
        self.data = fitted.data;
        self.mapped = Some(Mapped {
            table,
            labels,
            learned: fitted.learned,
            kind: kind_of(kind),
        });
        Ok(fitted.outcome)
    }

    /// The examples that are not held out and those that are; a map is learned from the former alone.
    pub(crate) fn split(&self, held_out: &[bool]) -> Result<(Dataset, Dataset)> {
        let kept: Vec<bool> = held_out.iter().map(|out| !out).collect();
        let Some(Mapped { table, labels, .. }) = &self.mapped else {
            return Ok((self.data.part(&kept)?, self.data.part(held_out)?));
        };
        let weights: Vec<f64> = kept.iter().map(|&kept| f64::from(u8::from(kept))).collect();
        let rows = ColumnMap::learn(table, Some(&weights))?.apply(table)?;
        let data = Dataset::new(rows, labels.clone(), Vec::new())?;
        Ok((data.part(&kept)?, data.part(held_out)?))
    }
}

/// Tables of very many features would not fit.
fn refuse_wide(plan: &Plan, rows: &Rows) -> Result<()> {
    if matches!(plan, Plan::Map(_) | Plan::Search(_)) && rows.cols() > MAX_COLUMNS {
        bail!(
            "{} features; tables are made of at most {} of an svmlight file; give --features linear",
            thousands(rows.cols() as u64),
            thousands(MAX_COLUMNS as u64)
        );
    }
    Ok(())
}

/// Whether maps of complete numbers are to be tried.
fn keeps_table(plan: &Plan, rows: &Rows) -> bool {
    match plan {
        Plan::Linear => false,
        Plan::Map(_) | Plan::Search(_) => true,
        Plan::Suited => matches!(rows, Rows::Dense(_)) && rows.cols() <= MAX_COLUMNS,
    }
}

fn varies(column: &Column) -> bool {
    match &column.values {
        Values::Number(values) | Values::Time(values) => values.iter().any(|x| *x != values[0]),
        Values::Category { codes, .. } => codes.iter().any(|code| *code != codes[0]),
    }
}

/// Columns of numbers, none of which was named as such, that look like codes.
fn codes_among(
    table: &Table,
    columns: &[ColumnReport],
    named: &[String],
    are_codes: impl Fn(&[f64]) -> bool + Sync,
) -> Vec<String> {
    let is_code = |report: &&ColumnReport| {
        let column = table.column(&report.name);
        let values = column.map(|column| &column.values);
        report.kind == DetectedKind::Number
            && !named.contains(&report.name)
            && matches!(values, Some(Values::Number(x)) if are_codes(x))
    };
    let found = columns.par_iter().filter(is_code);
    found.map(|report| report.name.clone()).collect()
}

/// What a reader has to say.
fn tell(notices: &[String], path: &Path, output: Output) {
    for notice in notices {
        output.note(format!("note: {}: {notice}", path.display()));
    }
}

/// Without features there is nothing to learn.
fn refuse_empty(map: &ColumnMap) -> Result<()> {
    if map.width() == 0 {
        let names: Vec<String> = map.columns.iter().map(|c| c.name.clone()).collect();
        bail!(
            "no column tells anything: each has one value, or strings that occur fewer than {LEAST_ROWS} times ({})",
            scoring::shortened(&names)
        );
    }
    Ok(())
}

/// As a shell must be given it.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.,/:+=@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_string();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The weights of a column; refuses what cannot be one.
fn weights_of(column: &Column) -> Result<Vec<f64>> {
    let name = &column.name;
    let weights = match &column.values {
        Values::Number(weights) => weights,
        Values::Time(_) => bail!("weight column '{name}' holds dates; weights are numbers"),
        Values::Category { codes, levels } => {
            let text = |&code: &u32| {
                levels
                    .get(code as usize)
                    .filter(|t| t.parse::<f64>().is_err())
            };
            let wrong = codes
                .iter()
                .enumerate()
                .find_map(|(i, code)| Some((i, text(code)?)));
            let (i, text) =
                wrong.with_context(|| format!("weight column '{name}' holds strings"))?;
            let example = i + 1;
            bail!("example {example} has weight '{text}' in column '{name}'; weights are numbers");
        }
    };
    for (i, weight) in weights.iter().enumerate() {
        let example = i + 1;
        if weight.is_nan() {
            bail!("example {example} has no weight in column '{name}'");
        }
        if *weight < 0.0 {
            bail!("example {example} has weight {weight} in column '{name}'; must not be negative");
        }
    }
    Ok(weights.to_vec())
}

/// The groups of a column, numbered in the order in which they come.
pub(crate) fn groups_of(column: &Column) -> Result<Vec<u32>> {
    let values = &column.values;
    if let Some(i) = (0..values.len()).find(|&i| values.is_missing(i)) {
        let (example, name) = (i + 1, &column.name);
        bail!("example {example} has no group in column '{name}'; give it one, or leave it out");
    }
    let mut known: HashMap<u64, u32> = HashMap::new();
    let mut number = |key: u64| {
        let next = known.len() as u32;
        *known.entry(key).or_insert(next)
    };
    Ok(match values {
        // 0 and -0 are one group.
        Values::Number(x) | Values::Time(x) => {
            x.iter().map(|x| number((x + 0.0).to_bits())).collect()
        }
        Values::Category { codes, .. } => codes.iter().map(|&c| number(u64::from(c))).collect(),
    })
}

/// Takes a column out of the features.
fn take_column(table: &mut Table, column: &str, what: &str) -> Result<Column> {
    let Some(taken) = table.take(column) else {
        bail!("no {what} column '{column}'");
    };
    if table.columns().is_empty() {
        bail!("no features besides the {what}s");
    }
    Ok(taken)
}

/// A class of weight 0 is no class, and sums must be numbers.
fn refuse_weightless(data: &Dataset, weights: &[f64]) -> Result<()> {
    for (class, name) in [false, true].into_iter().zip(data.class_names()) {
        let of_class = weights.iter().zip(data.positive());
        let total: f64 = of_class.filter(|(_, p)| **p == class).map(|(s, _)| s).sum();
        if total == 0.0 {
            bail!("all examples of class {name} have weight 0; both classes are needed");
        }
        if !total.is_finite() {
            bail!("the weights of class {name} add up to more than a number can hold");
        }
    }
    Ok(())
}
