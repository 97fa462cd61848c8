//! What is finished, in a file that every run goes on with.
//!
//! A cell holds with what settings and from what data it was made; under others it is recomputed, and the old one stays
//! until the new one is whole. Run k is the same whatever ran before it, so that a cell of three runs becomes one of
//! twenty-five by the other twenty-two.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ubauc::atomic::AtomicFile;

const FORMAT: &str = "ubauc reproduce 1";

/// The file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct State<C> {
    format: String,
    /// What is measured.
    table: String,
    /// Who made the cells; they refer to it by number, from 0.
    pub(super) origins: Vec<Origin>,
    /// Whole ones, by data set and column, as `a9a/opauc`.
    pub(super) cells: BTreeMap<String, C>,
    /// Those that are being made.
    pub(super) unfinished: BTreeMap<String, C>,
}

/// A program, a machine, a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Origin {
    commit: String,
    pub(super) machine: String,
    command: String,
}

/// One cell of Table 2.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Cell {
    /// All that its numbers depend on.
    pub(super) settings: Settings,
    pub(super) origins: Vec<usize>,
    /// What was chosen.
    pub(super) parameters: BTreeMap<String, Value>,
    /// AUC of the choice on the part that parameters are judged on.
    pub(super) validation_auc: f64,
    /// Choices that were tried.
    pub(super) tried: usize,
    /// Test AUC of every run.
    pub(super) auc: Vec<f64>,
    /// Runs whose solver stopped before its tolerance.
    pub(super) unconverged: usize,
    /// Spent on the search and on all runs, by the clock.
    pub(super) seconds: f64,
}

/// How a cell is made, and from what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Settings {
    pub(super) how: Value,
    pub(super) data: Value,
}

/// Something that knows its settings.
pub(super) trait Made {
    fn settings(&self) -> &Settings;
}

impl Made for Cell {
    fn settings(&self) -> &Settings {
        &self.settings
    }
}

impl<C: Made + Serialize + for<'a> Deserialize<'a>> State<C> {
    pub(super) fn new(table: &str) -> Self {
        State {
            format: FORMAT.to_string(),
            table: table.to_string(),
            origins: Vec::new(),
            cells: BTreeMap::new(),
            unfinished: BTreeMap::new(),
        }
    }

    /// Goes on with what is there; another kind of file is refused and stays as it is.
    pub(super) fn load(path: &Path, table: &str) -> Result<Self> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::new(table));
            }
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        let of_file = || {
            let path = path.display();
            format!("{path} holds no results of `ubauc reproduce` for {table}; --fresh replaces it")
        };
        let state: Self = serde_json::from_str(&text).with_context(of_file)?;
        if state.format != FORMAT || state.table != table {
            bail!(of_file());
        }
        Ok(state)
    }

    /// A whole cell that was made so.
    pub(super) fn whole(&self, key: &str, settings: &Settings) -> Option<&C> {
        let cell = self.cells.get(key);
        cell.filter(|cell| cell.settings() == settings)
    }

    /// One that was begun so.
    pub(super) fn begun(&self, key: &str, settings: &Settings) -> Option<&C> {
        let cell = self.unfinished.get(key);
        cell.filter(|cell| cell.settings() == settings)
    }

    /// It is whole.
    pub(super) fn finish(&mut self, key: &str, cell: C) {
        self.unfinished.remove(key);
        self.cells.insert(key.to_string(), cell);
    }

    /// The number of this program, machine and command.
    pub(super) fn origin(&mut self) -> usize {
        let origin = Origin {
            commit: option_env!("UBAUC_COMMIT").unwrap_or("unknown").to_string(),
            machine: machine(),
            command: command(),
        };
        if let Some(at) = self.origins.iter().position(|known| *known == origin) {
            return at;
        }
        self.origins.push(origin);
        self.origins.len() - 1
    }

    /// Replaces the file atomically: a run that is stopped leaves the old file or the new one.
    pub(super) fn save(&self, path: &Path) -> Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        write_whole(path, &text)
    }
}

/// Writes beside and renames.
pub(super) fn write_whole(path: &Path, text: &str) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.put(text.as_bytes())?;
    file.commit()?;
    Ok(())
}

/// The program's name and what was typed after it.
fn command() -> String {
    let typed = std::env::args_os().skip(1);
    let words = typed.map(|word| crate::training::quoted(&word.to_string_lossy()));
    std::iter::once("ubauc".to_string())
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

fn machine() -> String {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = cpus
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or(std::env::consts::ARCH, |rest| {
            rest.trim_start_matches([' ', '\t', ':'])
        });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name}, {cores} cores, {}", std::env::consts::OS)
}
