//! `ubauc export`: a model in another form, with rows to test it by.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use clap::{Args, builder::TypedValueParser};
use serde::Serialize;
use ubauc::atomic::{AtomicFile, is_stdout};
use ubauc::document::{Document, Facts};
use ubauc::export::scorecard::{Points, Scorecard};
use ubauc::export::{ExportOptions, Target, export};
use ubauc::model_file::SavedModel;

use crate::args::WrongUsage;
use crate::output::{self, Output};

/// What was typed after `ubauc export`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc export model.json --to python -o score.py && python score.py new.csv\n  \
    ubauc export model.json --to sql --table customers -o score.sql\n  \
    ubauc export model.json --to onnx -o model.onnx\n  \
    ubauc export model.json --points pdo=20,odds=50,base=600\n\n\
    python      one file for the standard library: a function of dicts, and a program for CSV files\n  \
    sql         a query that SQLite, DuckDB and PostgreSQL understand; missing values are NULL\n  \
    onnx        standard operators; numbers are doubles, NaN where missing, categories strings\n  \
    liblinear   a model file, of a linear model of numbers\n\n\
    Each carries rows with missing values, unseen levels and values on cuts, and their scores: `python\n\
    score.py --self-test`, the query at the end of the SQL file, `self_test` in the metadata of ONNX.\n\
    Points are for models whose scores are log-odds (--beta 0 --softness 1, or calibrated): base points\n\
    mean odds to 1 against the positive class, and pdo points more double them; with ,reverse the odds\n\
    are for it.")]
pub(crate) struct ExportArgs {
    /// The model, from `ubauc train --model`
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The form
    #[arg(long, value_parser = target_parser(), required_unless_present = "points")]
    to: Option<Target>,
    /// Where to write it; - is standard output [default: -]
    #[arg(long, short, value_name = "OUT")]
    output: Option<PathBuf>,
    /// SQL: the table that is read [default: rows]
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Points instead of scores: pdo=20,odds=50,base=600
    #[arg(long, value_name = "POINTS", conflicts_with_all = ["to", "table"])]
    points: Option<String>,
}

fn target_parser() -> impl TypedValueParser<Value = Target> {
    let names = PossibleValuesParser::new(Target::ALL.map(Target::name));
    names.map(|name| Target::of_name(&name).expect("the names are those of the targets"))
}

pub(crate) fn run(args: &ExportArgs, output: Output) -> Result<()> {
    let points = args.points.as_deref().map(Points::parse).transpose()?;
    if args.table.is_some() && args.to != Some(Target::Sql) {
        return Err(WrongUsage("--table is for --to sql".to_string()).into());
    }
    let saved = SavedModel::load(&args.model)?;
    let in_model = || args.model.display().to_string();
    if let Some(points) = points {
        let card = Scorecard::of(&saved, points).with_context(in_model)?;
        return print_card(&Card(card), args.output.as_deref(), output);
    }
    let target = args.to.context("no form was named")?;
    let options = ExportOptions {
        table: args.table.clone().unwrap_or(ExportOptions::default().table),
    };
    let exported = export(&saved.model, target, &options).with_context(in_model)?;
    for note in &exported.notes {
        output.note(format!("note: {note}"));
    }
    let to = args.output.as_deref().filter(|path| !is_stdout(path));
    let Some(path) = to else {
        if target == Target::Onnx && io::stdout().is_terminal() {
            let what = "--to onnx is no text; name a file with -o";
            return Err(WrongUsage(what.to_string()).into());
        }
        io::stdout().write_all(&exported.bytes)?;
        return Ok(io::stdout().flush()?);
    };
    write(path, &exported.bytes)?;
    output.report(&Report {
        to: target,
        output: path.to_path_buf(),
        bytes: exported.bytes.len(),
        self_test_rows: exported.self_test_rows,
    })
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.put(bytes)?;
    Ok(file.commit()?)
}

/// To standard output, or as text or JSON to a file.
fn print_card(card: &Card, path: Option<&Path>, output: Output) -> Result<()> {
    match path.filter(|path| !is_stdout(path)) {
        Some(path) => write(path, output.rendered(card)?.as_bytes()),
        None => output.report(card),
    }
}

/// What was written.
#[derive(Serialize)]
struct Report {
    to: Target,
    output: PathBuf,
    bytes: usize,
    self_test_rows: usize,
}

impl output::Report for Report {
    fn document(&self) -> Document {
        let mut facts = Facts::default();
        facts.add("form", self.to.name());
        facts.add("self-test", format!("{} rows", self.self_test_rows));
        facts.add("output", self.output.display());
        facts.into()
    }
}

#[derive(Serialize)]
struct Card(Scorecard);

impl output::Report for Card {
    fn document(&self) -> Document {
        self.0.document()
    }
}
