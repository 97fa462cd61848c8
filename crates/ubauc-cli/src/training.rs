//! Examples to learn from, as `train` and `tune` read them: two classes, perhaps with weights.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Args;
use ubauc::data::dataset::{Dataset, Examples};
use ubauc::data::labels::Choice;
use ubauc::data::rows::{Csr, Rows};

use crate::input::{ClassArgs, FormatArgs, TABLES, Wanted};
use crate::output::Output;
use crate::scoring::ClassSides;

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
        value_name = "COLUMN",
        value_delimiter = ',',
        help = format!("Columns to leave out ({TABLES}), separated by commas")
    )]
    ignore: Vec<String>,
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
        if !self.ignore.is_empty() {
            typed.push(("--ignore", Some(self.ignore.join(","))));
        }
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

    pub(crate) fn read(&self, path: &Path, output: Output) -> Result<Training> {
        let wanted = Wanted {
            ignore: self.ignore.clone(),
            ..Wanted::default()
        };
        let mut examples = self.format.read(path, wanted, output)?;
        let in_file = || path.display().to_string();
        let weights = match &self.weight {
            Some(column) => Some(take_weights(&mut examples, column).with_context(in_file)?),
            None => None,
        };
        let groups = match &self.group {
            Some(column) => Some(take_groups(&mut examples, column).with_context(in_file)?),
            None => None,
        };
        self.classes.note_text(&examples.labels, path, output);
        let choice = self.classes.choice();
        let binary = examples.labels.binary(&choice).with_context(in_file)?;
        let sides = ClassSides::new(&examples.labels, &binary, &choice);
        let data = Dataset::new(examples.rows, binary, examples.names).with_context(in_file)?;
        if let Some(weights) = &weights {
            refuse_weightless(&data, weights).with_context(in_file)?;
        }
        Ok(Training {
            data,
            weights,
            groups,
            sides,
        })
    }
}

/// As a shell must be given it.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.,/:+=@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_string();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Takes the weights out of the features and refuses what cannot be one.
fn take_weights(examples: &mut Examples, column: &str) -> Result<Vec<f64>> {
    let taken = take_column(examples, column, "weight")?;
    if let Some(i) = taken.iter().position(|s| *s < 0.0) {
        let (example, weight) = (i + 1, taken[i]);
        bail!("example {example} has weight {weight} in column '{column}'; must not be negative");
    }
    Ok(taken)
}

/// Takes the groups out of the features and numbers them in the order in which they come.
fn take_groups(examples: &mut Examples, column: &str) -> Result<Vec<u32>> {
    let taken = take_column(examples, column, "group")?;
    let mut known: HashMap<u64, u32> = HashMap::new();
    // 0 and -0 are one group.
    let key = |x: &f64| if *x == 0.0 { 0 } else { x.to_bits() };
    let number = |x: &f64| {
        let next = known.len() as u32;
        *known.entry(key(x)).or_insert(next)
    };
    Ok(taken.iter().map(number).collect())
}

/// Takes a column out of the features.
fn take_column(examples: &mut Examples, column: &str, what: &str) -> Result<Vec<f64>> {
    if examples.names.is_empty() {
        bail!("--{what} names a column; svmlight has none");
    }
    let Some(at) = examples.names.iter().position(|name| name == column) else {
        bail!("no {what} column '{column}'");
    };
    if examples.names.len() == 1 {
        bail!("no features besides the {what}s");
    }
    let rows = &examples.rows;
    let taken = rows.column(at);
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..rows.len() {
        let row = rows.row(i).entries();
        for (j, x) in row.filter(|(j, x)| *j != at && *x != 0.0) {
            indices.push((j - usize::from(j > at)) as u32);
            values.push(x);
        }
        starts.push(indices.len());
    }
    let csr = Csr::new(starts, indices, values, rows.cols() - 1)?;
    examples.rows = Rows::smaller(csr);
    examples.names.remove(at);
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
