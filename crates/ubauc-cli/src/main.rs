//! The program `ubauc`: arguments, the library, a report.

mod algorithm;
mod args;
mod bound;
mod class_page;
mod classes;
mod column_list;
mod column_report;
mod compare;
mod data;
mod demo;
mod evaluate;
mod explain;
mod export;
mod feature_args;
mod group_arg;
mod help_files;
mod initial_model;
mod input;
mod interrupt;
mod interval_args;
mod learn;
mod lock;
mod map_report;
mod met;
mod names;
mod output;
mod page;
mod predict;
mod progress;
mod report;
mod reproduce;
mod scoring;
mod search;
mod side_by_side;
mod table_args;
mod train;
mod training;
mod tune;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;

use args::{Cli, Command, WrongUsage};

fn main() -> ExitCode {
    #[cfg(feature = "parquet")]
    silence_parquet();
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // `ubauc … | head` has had enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "ubauc: {}", message(&error));
            exit_code(&error)
        }
    }
}

/// A panic over a damaged Parquet file is reported as an error of that file, and only so.
#[cfg(feature = "parquet")]
fn silence_parquet() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().name() != Some(ubauc::read::PARQUET_THREAD) {
            others(info);
        }
    }));
}

fn run(cli: &Cli) -> Result<()> {
    let output = cli.common.output();
    rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(cli.common.threads))
        .build_global()
        .context("cannot start the threads")?;
    match &cli.command {
        Command::Demo(args) => demo::run(args, cli.common.seed(), output),
        Command::Train(args) => train::run(args, cli.common.seed(), output),
        Command::Predict(args) => predict::run(args, output),
        Command::Evaluate(args) => evaluate::run(args, cli.common.seed(), output),
        Command::Explain(args) => explain::run(args, output),
        Command::Report(args) => report::run(args, output),
        Command::Export(args) => export::run(args, output),
        Command::Compare(args) => compare::run(args, cli.common.seed(), output),
        Command::Bound(args) => bound::run(args, output),
        Command::Learn(args) => learn::run(args, cli.common.seed(), output),
        Command::Tune(args) => tune::run(args, cli.common.seed(), output),
        Command::Reproduce(args) => reproduce::run(args, cli.common.typed_seed, output),
        Command::Data(args) => data::run(args, cli.common.seed(), output),
        Command::Completions(args) => help_files::completions(args),
        Command::Man(args) => help_files::man(args),
    }
}

/// An error with its causes, each once: some tell their cause, or the file that is named before them, themselves. What the
/// library calls its parameters are options here.
fn message(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(told) {
        if text.is_empty() || cause.starts_with(&format!("{text}:")) {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text.replace("(positive VALUE)", "(--positive VALUE)")
        .replace("(partition SEED)", "(--partition SEED)")
}

/// A cause; a parameter of streams as it is typed.
fn told(cause: &(dyn std::error::Error + 'static)) -> String {
    match cause.downcast_ref() {
        Some(ubauc::Error::Parameter { name, value, must })
            if ["half_life", "alarm", "window"].contains(name) =>
        {
            format!("--{} {value}: must be {must}", name.replace('_', "-"))
        }
        _ => cause.to_string(),
    }
}

/// 2 for what was typed wrong, 1 for what went wrong, 3 for an alarm that was to end the run, 128 and its number for a signal.
fn exit_code(error: &anyhow::Error) -> ExitCode {
    if let Some(stopped) = error.downcast_ref::<learn::Stopped>() {
        return ExitCode::from(stopped.exit_code());
    }
    if error.is::<learn::Alarmed>() {
        return ExitCode::from(3);
    }
    let typed = error.chain().any(|cause| {
        let of_library = cause.downcast_ref::<ubauc::Error>();
        cause.is::<WrongUsage>() || matches!(of_library, Some(ubauc::Error::Parameter { .. }))
    });
    if typed {
        ExitCode::from(2)
    } else {
        ExitCode::FAILURE
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let of_json = cause
            .downcast_ref::<serde_json::Error>()
            .and_then(|e| e.io_error_kind());
        let of_io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        of_json.or(of_io) == Some(io::ErrorKind::BrokenPipe)
    })
}
