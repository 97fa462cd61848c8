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
mod show;
mod split;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Subcommand};
pub(crate) use fetch::fetch_set;

use crate::output::Output;

/// What was typed after `ubauc data`.
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Debug, Subcommand)]
enum DataCommand {
    /// Look into a file: rows, columns, classes
    Show(show::ShowArgs),
    /// Divide a file into training and test rows
    Split(split::SplitArgs),
    /// List the paper's data sets and which of them are here
    List(list::ListArgs),
    /// Download data sets from the LIBSVM page, resuming where a download stopped
    Fetch(fetch::FetchArgs),
    /// Generate imbalanced data with a known best AUC
    Generate(generate::GenerateArgs),
}

/// Runs one of the commands.
pub(crate) fn run(args: &DataArgs, seed: u64, output: Output) -> Result<()> {
    match &args.command {
        DataCommand::Show(args) => show::run(args, output),
        DataCommand::Split(args) => split::run(args, seed, output),
        DataCommand::List(args) => list::run(args, output),
        DataCommand::Fetch(args) => fetch::run(args, output),
        DataCommand::Generate(args) => generate::run(args, seed, output),
    }
}

/// Where data sets are kept.
#[derive(Debug, Args)]
pub(crate) struct DirArg {
    /// Data directory [default: $UBAUC_DATA, or ./data]
    #[arg(long, visible_alias = "data", value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl DirArg {
    pub(crate) fn path(&self) -> PathBuf {
        match (&self.dir, from_environment()) {
            (Some(dir), _) => dir.clone(),
            (None, Some(dir)) => PathBuf::from(dir),
            (None, None) => PathBuf::from("data"),
        }
    }

    /// None was named.
    pub(crate) fn is_default(&self) -> bool {
        self.dir.is_none() && from_environment().is_none()
    }
}

fn from_environment() -> Option<OsString> {
    std::env::var_os("UBAUC_DATA").filter(|dir| !dir.is_empty())
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
