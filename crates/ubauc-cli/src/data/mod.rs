//! `ubauc data`: list the paper's data sets, download them, make up others.

pub(crate) mod catalogue;
#[cfg(feature = "download")]
mod checksums;
#[cfg(feature = "download")]
mod download;
#[cfg(feature = "download")]
mod fetch;
#[cfg(not(feature = "download"))]
#[path = "no_fetch.rs"]
mod fetch;
mod generate;
mod list;

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

/// What was typed after `ubauc data`.
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Debug, Subcommand)]
enum DataCommand {
    /// List the paper's data sets and which of them are here
    List(list::ListArgs),
    /// Download data sets from the LIBSVM page, resuming where a download stopped
    Fetch(fetch::FetchArgs),
    /// Generate imbalanced data with a known best AUC
    Generate(generate::GenerateArgs),
}

/// Runs one of the commands.
pub(crate) fn run(args: &DataArgs, output: Output) -> Result<()> {
    match &args.command {
        DataCommand::List(args) => list::run(args, output),
        DataCommand::Fetch(args) => fetch::run(args, output),
        DataCommand::Generate(args) => generate::run(args, output),
    }
}

/// How a command reports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// One JSON object on standard output and nothing else there.
    pub(crate) json: bool,
    /// Neither progress nor notes; results and errors only.
    pub(crate) quiet: bool,
}

impl Output {
    /// The report as JSON or as text, on standard output.
    fn report(self, report: &(impl Serialize + Display)) -> Result<()> {
        let mut stdout = io::stdout().lock();
        if self.json {
            writeln!(stdout, "{}", serde_json::to_string(report)?)?;
        } else {
            write!(stdout, "{report}")?;
        }
        stdout.flush()?;
        Ok(())
    }

    /// A line on standard error.
    fn note(self, text: impl Display) {
        if !self.quiet {
            // Nobody can be told that standard error is closed.
            let _ = writeln!(io::stderr(), "{text}");
        }
    }
}

/// Where data sets are kept.
#[derive(Debug, Args)]
pub(crate) struct DirArg {
    /// Data directory [default: $UBAUC_DATA, or ./data]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl DirArg {
    pub(crate) fn path(&self) -> PathBuf {
        let from_environment = || std::env::var_os("UBAUC_DATA").filter(|dir| !dir.is_empty());
        match &self.dir {
            Some(dir) => dir.clone(),
            None => from_environment().map_or_else(|| PathBuf::from("data"), PathBuf::from),
        }
    }
}

/// How the name of a data file may end, in the order of choice.
const EXTENSIONS: [&str; 5] = [".svm", ".svm.zst", ".svm.bz2", ".svm.xz", ".svm.gz"];

/// The files of a part of a set that are here, the one to read first.
pub(crate) fn present(dir: &Path, set: &str, part: catalogue::Part) -> Vec<PathBuf> {
    EXTENSIONS
        .iter()
        .map(|extension| dir.join(set).join(format!("{part}{extension}")))
        .filter(|path| path.is_file())
        .collect()
}

/// A progress bar on standard error, if that is a terminal and the work takes longer than a second.
struct Progress {
    started: Instant,
    total: Option<u64>,
    template: &'static str,
    state: ProgressState,
}

enum ProgressState {
    Never,
    NotYet,
    Shown(ProgressBar),
}

impl Progress {
    const PATIENCE: Duration = Duration::from_secs(1);

    fn new(output: Output, total: Option<u64>, template: &'static str) -> Self {
        let wanted = !output.quiet && io::stderr().is_terminal();
        Self {
            started: Instant::now(),
            total,
            template,
            state: if wanted {
                ProgressState::NotYet
            } else {
                ProgressState::Never
            },
        }
    }

    fn at(&mut self, position: u64) {
        match &self.state {
            ProgressState::Never => {}
            ProgressState::Shown(bar) => bar.set_position(position),
            ProgressState::NotYet if self.started.elapsed() < Self::PATIENCE => {}
            ProgressState::NotYet => {
                let bar = ProgressBar::with_draw_target(self.total, ProgressDrawTarget::stderr());
                let style = ProgressStyle::with_template(self.template);
                bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                let bar = bar.with_elapsed(self.started.elapsed());
                bar.set_position(position);
                self.state = ProgressState::Shown(bar);
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let ProgressState::Shown(bar) = &self.state {
            bar.finish_and_clear();
        }
    }
}

/// 1234567 as `1,234,567`.
fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(thousands(n), text);
        }
    }
}
