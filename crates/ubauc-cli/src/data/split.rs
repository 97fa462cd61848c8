//! `ubauc data split`: a file in two, for training and for judging, with its lines as they are.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;
use ubauc::atomic::{AtomicFile, is_stdout};
use ubauc::data::labels::Labels;
use ubauc::data::split::{group_hold_out, subset};
use ubauc::data::table::{Table, Values};
use ubauc::document::numbers::thousands;
use ubauc::document::{Document, Facts};
use ubauc::read::table::{ColumnChoice, Data, RawRecords, TableOptions};

use crate::args::WrongUsage;
use crate::input::{FileArg, FormatArgs, TABLES};
use crate::output::{self, Output};
use crate::{scoring, training};

/// What was typed after `ubauc data split`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc data split bank.csv --test-share 0.3 --stratify y --output-train train.csv --output-test test.csv\n  \
    ubauc data split visits.csv --test-share 0.2 --stratify relapse --group patient \\\n      \
    --output-train train.csv --output-test test.csv\n\n\
    Both files have the header, and the lines as they are, in their order. The seed (--seed) decides\n\
    which line goes where.")]
pub(crate) struct SplitArgs {
    #[command(flatten)]
    input: FileArg,
    /// Share of the rows in the test file
    #[arg(long, value_name = "SHARE")]
    test_share: f64,
    #[arg(
        long,
        value_name = "COLUMN",
        help = format!("Both files get their share of every class in this column ({TABLES}) [default: of svmlight the label]")
    )]
    stratify: Option<String>,
    #[arg(
        long,
        value_name = "COLUMN",
        help = format!("Rows of one group, by this column, stay in one file ({TABLES})")
    )]
    group: Option<String>,
    /// Write the training rows to this file
    #[arg(long, value_name = "OUT")]
    output_train: PathBuf,
    /// Write the test rows to this file
    #[arg(long, value_name = "OUT")]
    output_test: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &SplitArgs, seed: u64, output: Output) -> Result<()> {
    let path = args.input.file.as_path();
    refuse_early(args, path)?;
    let options = TableOptions {
        // Texts tell classes and groups apart as they are written.
        categorical: ColumnChoice::All,
        ..args.format.table_options()
    };
    let records = args.format.watched(path, output, |advance| {
        let options = TableOptions {
            progress: Some(advance),
            ..options.clone()
        };
        Ok(RawRecords::read(path, &options)?)
    })?;
    let in_file = || path.display().to_string();
    let columns = Columns::of(args, records.data(&options)?).with_context(in_file)?;
    if columns.rows != records.len() {
        let (rows, lines) = (columns.rows, records.len());
        bail!("{}: {lines} lines, but {rows} examples", path.display());
    }
    let is_test = columns
        .test_rows(args.test_share, seed)
        .with_context(in_file)?;
    let n_test = is_test.iter().filter(|test| **test).count();
    write(&records, &is_test, false, &args.output_train)?;
    write(&records, &is_test, true, &args.output_test)?;
    output.report(&Report {
        rows: records.len(),
        n_train: records.len() - n_test,
        n_test,
        seed,
        output_train: args.output_train.clone(),
        output_test: args.output_test.clone(),
    })
}

fn refuse_early(args: &SplitArgs, path: &Path) -> Result<()> {
    let wrong = |what: String| Err(WrongUsage(what).into());
    let share = args.test_share;
    if !(share > 0.0 && share < 1.0) {
        return wrong(format!("--test-share {share}: must be between 0 and 1"));
    }
    let (train, test) = (&args.output_train, &args.output_test);
    if train == test || is_stdout(train) || is_stdout(test) {
        return wrong("--output-train and --output-test must be two files".to_string());
    }
    scoring::refuse_overwriting(train, &[path], "--output-train")?;
    scoring::refuse_overwriting(test, &[path], "--output-test")
}

/// What decides where a row goes.
struct Columns {
    rows: usize,
    classes: Option<Labels>,
    groups: Option<Vec<u32>>,
}

impl Columns {
    fn of(args: &SplitArgs, data: Data) -> Result<Columns> {
        let table = match data {
            Data::Rows(examples) => {
                if args.stratify.is_some() || args.group.is_some() {
                    bail!("--stratify and --group name columns; svmlight has none");
                }
                return Ok(Columns {
                    rows: examples.rows.len(),
                    classes: Some(examples.labels),
                    groups: None,
                });
            }
            Data::Table(examples) => examples.table,
        };
        let group = args.group.as_deref();
        let group = group.map(|name| column_of(&table, name, "group"));
        let groups = group.transpose()?.map(training::groups_of).transpose()?;
        let classes = args.stratify.as_deref();
        let classes = classes.map(|name| classes_of(&table, name)).transpose()?;
        Ok(Columns {
            rows: table.len(),
            classes,
            groups,
        })
    }

    fn test_rows(&self, share: f64, seed: u64) -> Result<Vec<bool>> {
        match (&self.classes, &self.groups) {
            (None, None) => Ok(subset(self.rows, share, seed)?),
            (None, Some(groups)) => {
                let n = groups.iter().max().map_or(0, |last| *last as usize + 1);
                let chosen = subset(n, share, seed)?;
                Ok(groups.iter().map(|&group| chosen[group as usize]).collect())
            }
            (Some(classes), None) => of_each_class(classes, share, seed),
            (Some(classes), Some(groups)) => {
                let [_, _] = classes.classes() else {
                    bail!(
                        "{} classes; groups are kept together for two",
                        classes.classes().len()
                    );
                };
                let second: Vec<bool> = classes.codes().iter().map(|&code| code == 1).collect();
                Ok(group_hold_out(&second, groups, share, seed)?)
            }
        }
    }
}

/// The share of every class, at least one row of each in either file.
fn of_each_class(classes: &Labels, share: f64, seed: u64) -> Result<Vec<bool>> {
    let mut is_test = vec![false; classes.codes().len()];
    for (code, (class, &n)) in classes.classes().iter().zip(classes.counts()).enumerate() {
        if n < 2 {
            bail!("class {class} has one row; both files need one of every class");
        }
        let of_class = classes.codes().iter().enumerate();
        let of_class = of_class
            .filter(|(_, c)| **c as usize == code)
            .map(|(i, _)| i);
        let of_class: Vec<usize> = of_class.collect();
        let chosen = subset(n, share, seed.wrapping_add((code as u64) << 32))?;
        for (&i, chosen) in of_class.iter().zip(&chosen) {
            is_test[i] = *chosen;
        }
        if chosen.iter().all(|chosen| *chosen) {
            is_test[of_class[0]] = false;
        }
    }
    Ok(is_test)
}

fn column_of<'t>(
    table: &'t Table,
    name: &str,
    what: &str,
) -> Result<&'t ubauc::data::table::Column> {
    let column = table.column(name);
    column.with_context(|| {
        let names: Vec<String> = table.columns().iter().map(|c| c.name.clone()).collect();
        format!(
            "no {what} column '{name}'; columns are {}",
            scoring::shortened(&names)
        )
    })
}

/// The classes of a column; rows without one are a class of their own.
fn classes_of(table: &Table, name: &str) -> Result<Labels> {
    let column = column_of(table, name, "stratify")?;
    let Values::Category { codes, levels } = &column.values else {
        bail!("column '{name}' was not read as categories");
    };
    let mut texts = levels.to_vec();
    texts.push("(missing)".to_string());
    let code = |&code: &u32| code.min(levels.len() as u32);
    let codes: Vec<u32> = codes.iter().map(code).collect();
    let labels = Labels::of_categories(&codes, &texts);
    labels.with_context(|| format!("column '{name}' has too many different values to be classes"))
}

fn write(records: &RawRecords, is_test: &[bool], test: bool, path: &Path) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.put(records.head())?;
    for i in (0..records.len()).filter(|&i| is_test[i] == test) {
        let record = records.record(i);
        file.put(record)?;
        if !record.ends_with(b"\n") {
            file.put(b"\n")?;
        }
    }
    Ok(file.commit()?)
}

#[derive(Serialize)]
struct Report {
    rows: usize,
    n_train: usize,
    n_test: usize,
    seed: u64,
    output_train: PathBuf,
    output_test: PathBuf,
}

impl output::Report for Report {
    fn document(&self) -> Document {
        let mut facts = Facts::default();
        facts.add("rows", thousands(self.rows as u64));
        for (name, n, path) in [
            ("training rows", self.n_train, &self.output_train),
            ("test rows", self.n_test, &self.output_test),
        ] {
            facts.add(
                name,
                format!("{} in {}", thousands(n as u64), path.display()),
            );
        }
        facts.into()
    }
}
