//! `ubauc reproduce`: the tables of the paper, ours beside the paper's.

mod config;
mod consistency;
mod coverage;
mod drift;
mod paper;
mod protocol;
mod render;
mod sets;
mod state;
mod table1;
mod table2;
mod table3;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use ubauc::document::{Document, csv, markdown, svg};

use crate::args::WrongUsage;
use crate::data::DirArg;
use crate::input::at_least_one;
use crate::lock::lock;
use crate::output::{Output, Report};
use config::{Column, Config, Set};
use render::View;
use state::{Made, State, write_whole};

/// What was typed after `ubauc reproduce`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc reproduce table2 --data data --runs 3\n  \
    ubauc reproduce table2 --datasets a9a,usps --algorithms ol-ubauc,solam,logistic\n  \
    ubauc reproduce table3 --json\n  \
    ubauc reproduce coverage --runs 2000 --markdown\n  \
    ubauc reproduce drift --markdown\n  \
    ubauc reproduce consistency --max-rows 10000\n\n\
    Results go to DIR/table2.json as they are made, and to .md, .csv and .svg beside it in the end. A command that was\n\
    stopped goes on where it was; finished cells are not made again, and more runs are added to those that are there.\n\
    Grids and choices are those of experiments/*.toml in the source; --config takes others.\n\n\
    Without --data and $UBAUC_DATA, data sets that are not in ./data are downloaded from the LIBSVM page.")]
pub(crate) struct ReproduceArgs {
    /// Which table
    #[arg(value_enum)]
    table: Table,
    #[command(flatten)]
    asked: Asked,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Table {
    /// Sizes of the data sets
    Table1,
    /// AUC on the test parts, mean and standard deviation over many models
    Table2,
    /// Seconds a pass, and until the objective changes by less than 1e-7
    Table3,
    /// How often 95 % intervals of AUC, average precision and recall contain the truth, on simulated scores
    Coverage,
    /// What forgetting gains where a simulated stream changes, and costs where it does not
    Drift,
    /// Excess AUC risk by the number of rows, and AUC on the training rows less that of the population, on populations whose best linear scorer is known
    Consistency,
}

/// What is asked of each of them.
#[derive(Debug, Args)]
struct Asked {
    #[command(flatten)]
    data: DirArg,
    /// Only these data sets, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    datasets: Vec<String>,
    /// Only these columns, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    algorithms: Vec<String>,
    /// Models to average [default: 25], samples in a row of coverage [default: 1000] or of consistency [default: 20, of 100,000 rows or more fewer], or streams of drift [default: 10]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    runs: Option<usize>,
    /// Rows of the largest samples of consistency [default: 100000; at most 1000000 are drawn]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    max_rows: Option<usize>,
    /// Begin no further search or run after this many minutes; the same command goes on later
    #[arg(long, value_name = "MINUTES", value_parser = minutes)]
    time_limit: Option<Duration>,
    /// Seed of the halves that many classes are split into [default: 1]
    #[arg(long, value_name = "SEED")]
    partition: Option<u64>,
    /// Table 2 by five times 5-fold cross-validation over all rows, the protocol of the papers it is compared with;
    /// results go to table2-folds.json
    #[arg(long)]
    folds: bool,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = "experiments/results")]
    results: PathBuf,
    /// Recompute everything that is asked for
    #[arg(long)]
    fresh: bool,
    /// Grids and choices other than those of the program
    #[arg(long, value_name = "TOML")]
    config: Option<PathBuf>,
    #[arg(skip = Instant::now())]
    started: Instant,
}

fn minutes(text: &str) -> std::result::Result<Duration, String> {
    let minutes: f64 = text
        .parse()
        .map_err(|_| "a number of minutes".to_string())?;
    Duration::try_from_secs_f64(60.0 * minutes).map_err(|_| "a number of minutes".to_string())
}

pub(crate) fn run(args: &ReproduceArgs, seed: Option<u64>, output: Output) -> Result<()> {
    args.asked.refuse_options_of_others(args.table)?;
    let asked = &args.asked;
    let config = |experiment| -> Result<Config> {
        let mut config = Config::load(asked.config.as_deref(), experiment)?;
        let protocol = &mut config.protocol;
        protocol.seed = seed.unwrap_or(protocol.seed);
        protocol.runs = asked.runs.unwrap_or(protocol.runs);
        protocol.partition = asked.partition.unwrap_or(protocol.partition);
        Ok(config)
    };
    match args.table {
        Table::Table1 => table1::run(&config(table2::EXPERIMENT)?, asked, output),
        Table::Table2 => table2::run(config(table2::EXPERIMENT)?, asked, output),
        Table::Table3 => table3::run(&config(table3::EXPERIMENT)?, asked, output),
        Table::Coverage => {
            let runs = asked.runs.unwrap_or(coverage::RUNS);
            coverage::run(runs, seed.unwrap_or(1), output)
        }
        Table::Drift => {
            let runs = asked.runs.unwrap_or(drift::RUNS);
            drift::run(runs, seed.unwrap_or(1), output)
        }
        Table::Consistency => consistency::run(asked, seed.unwrap_or(1), output),
    }
}

impl Asked {
    fn file(&self, name: &str) -> PathBuf {
        self.results.join(name)
    }

    fn deadline(&self) -> Option<Instant> {
        self.started.checked_add(self.time_limit?)
    }

    /// That a set is not here.
    fn note_absent(&self, set: &Set, output: Output) {
        let (name, dir) = (&set.name, self.data.path());
        output.note(format!(
            "note: {name} is not in {}; its cells stay empty",
            dir.display()
        ));
    }

    fn nothing_here(&self) -> anyhow::Error {
        let dir = self.data.path();
        anyhow::anyhow!(
            "no data set of the table is in {}; --data names another directory",
            dir.display()
        )
    }

    /// What is there, and the lock of the directory, which no other run then writes to. A file that is to be recomputed may be anything.
    fn state<C: Made + Serialize + for<'a> Deserialize<'a>>(
        &self,
        file: &Path,
        table: &str,
    ) -> Result<(State<C>, File)> {
        std::fs::create_dir_all(&self.results)
            .with_context(|| format!("cannot make {}", self.results.display()))?;
        let held = lock(&self.results)?;
        let state = match State::load(file, table) {
            Err(_) if self.fresh => State::new(table),
            found => found?,
        };
        Ok((state, held))
    }

    /// Refuses options that would change nothing, by name.
    fn refuse_options_of_others(&self, table: Table) -> Result<()> {
        let only_table2 = [("--runs", self.runs.is_some()), ("--folds", self.folds)];
        let not_table1 = [
            ("--algorithms", !self.algorithms.is_empty()),
            ("--time-limit", self.time_limit.is_some()),
            ("--fresh", self.fresh),
        ];
        let of_papers = [
            ("--folds", self.folds),
            ("--datasets", !self.datasets.is_empty()),
            ("--partition", self.partition.is_some()),
            ("--config", self.config.is_some()),
        ];
        if self.max_rows.is_some() && !matches!(table, Table::Consistency) {
            return Err(WrongUsage("--max-rows is for consistency".to_string()).into());
        }
        let (foreign, of) = match table {
            Table::Table2 => return Ok(()),
            Table::Coverage | Table::Drift | Table::Consistency => (
                [&of_papers[..], &not_table1].concat(),
                "tables of the paper",
            ),
            Table::Table3 => (only_table2.to_vec(), "table2"),
            Table::Table1 => (
                [&only_table2[..], &not_table1].concat(),
                "tables of results",
            ),
        };
        match foreign.into_iter().find(|(_, typed)| *typed) {
            Some((option, _)) => Err(WrongUsage(format!("{option} is for {of}")).into()),
            None => Ok(()),
        }
    }

    fn datasets<'a>(&self, of: &'a [Set]) -> Result<Vec<&'a Set>> {
        chosen(&self.datasets, of, |set| &set.name, "--datasets")
    }

    fn columns<'a>(&self, of: &'a [Column]) -> Result<Vec<&'a Column>> {
        chosen(&self.algorithms, of, |column| &column.name, "--algorithms")
    }
}

/// Those that are named, in the order of the table; all if none is.
fn chosen<'a, T>(
    names: &[String],
    of: &'a [T],
    name: impl Fn(&T) -> &String,
    option: &str,
) -> Result<Vec<&'a T>> {
    if let Some(unknown) = names
        .iter()
        .find(|n| !of.iter().any(|item| name(item) == *n))
    {
        let known: Vec<&str> = of.iter().map(|item| name(item).as_str()).collect();
        let what = format!(
            "{option} {unknown}: not in the table, which has {}",
            known.join(", ")
        );
        return Err(WrongUsage(what).into());
    }
    let wanted = |item: &&T| names.is_empty() || names.contains(name(item));
    Ok(of.iter().filter(wanted).collect())
}

/// Writes the requested table to standard output, and the whole one to files beside the results.
fn publish(requested: &impl View, whole: &impl View, file: &Path, output: Output) -> Result<()> {
    std::fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))
        .with_context(|| format!("cannot make the directory of {}", file.display()))?;
    let picture = file.with_extension("svg");
    let name = picture
        .file_name()
        .map(|name| name.to_string_lossy().into());
    write_whole(
        &file.with_extension("md"),
        &markdown::render(&whole.page(name)),
    )?;
    write_whole(&file.with_extension("csv"), &csv::render(&whole.data()))?;
    if let Some(figure) = whole.figure() {
        write_whole(&picture, &svg::render(&figure))?;
    }
    output.report(&Shown(requested))
}

/// A view as a report.
#[derive(Serialize)]
#[serde(transparent)]
struct Shown<'a, V>(&'a V);

impl<V: View> Report for Shown<'_, V> {
    fn document(&self) -> Document {
        self.0.page(None)
    }

    fn terminal(&self) -> Document {
        self.0.summary()
    }
}
