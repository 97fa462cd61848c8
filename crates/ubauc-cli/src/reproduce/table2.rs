//! `ubauc reproduce table2`: test AUC of every algorithm on every data set.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::config::{Column, Config, Protocol, Set};
use super::paper;
use super::protocol::{Task, Watch, how, mean_and_std};
use super::render::{CellView, TableView};
use super::sets::{Split, find, find_or_fetch};
use super::state::{Cell, State};
use super::{Asked, publish};
use crate::output::Output;

/// The grids and choices of the published results.
pub(super) const EXPERIMENT: &str = include_str!("../../../../experiments/table2.toml");
/// As the papers of OPAUC and SOLAM have it, five times.
const FOLDS: u32 = 5;
/// A cell that takes long is saved at least this often.
const SAVE_EVERY: Duration = Duration::from_secs(5);

pub(super) fn run(mut config: Config, asked: &Asked, output: Output) -> Result<()> {
    let mut name = "table2";
    if asked.folds {
        config.protocol.folds = Some(FOLDS);
        name = "table2-folds";
    }
    let sets = asked.datasets(&config.datasets)?;
    let columns = asked.columns(&config.columns)?;
    let file = asked.file(&format!("{name}.json"));
    let (mut state, _held): (State<Cell>, _) = asked.state(&file, name)?;
    let splits = read_all(&sets, asked, &config.protocol, output)?;
    let table = Table {
        config: &config,
        asked,
        splits: &splits,
    };
    let failed = table.fill(&mut state, &file, &columns, output)?;
    state.save(&file)?;

    let all_sets: Vec<&Set> = config.datasets.iter().collect();
    let all_columns: Vec<&Column> = config.columns.iter().collect();
    let asked_for = table.view(&state, &sets, &columns, &failed);
    let whole = table.view(&state, &all_sets, &all_columns, &failed);
    publish(&asked_for, &whole, &file, output)?;
    match failed.len() {
        0 => Ok(()),
        n => bail!(
            "{n} cells failed: {}",
            failed.into_keys().collect::<Vec<_>>().join(", ")
        ),
    }
}

pub(super) fn read_all(
    sets: &[&Set],
    asked: &Asked,
    protocol: &Protocol,
    output: Output,
) -> Result<BTreeMap<String, Split>> {
    let dir = asked.data.path();
    let fetches = asked.data.is_default();
    let mut splits = BTreeMap::new();
    for set in sets {
        match find_or_fetch(&dir, set, fetches, output) {
            Some(found) => {
                splits.insert(set.name.clone(), found.read(set, protocol)?);
            }
            None => asked.note_absent(set, output),
        }
    }
    if splits.is_empty() {
        return Err(asked.nothing_here());
    }
    Ok(splits)
}

struct Table<'a> {
    config: &'a Config,
    asked: &'a Asked,
    splits: &'a BTreeMap<String, Split>,
}

impl Table<'_> {
    /// Makes the cells that are not there. Failures are reported, and the others go on.
    fn fill(
        &self,
        state: &mut State<Cell>,
        file: &Path,
        columns: &[&Column],
        output: Output,
    ) -> Result<BTreeMap<String, String>> {
        let protocol = &self.config.protocol;
        let runs = protocol.runs;
        let sets = self.config.datasets.iter();
        let splits = sets.filter_map(|set| self.splits.get(&set.name));
        let tasks: Vec<Task<'_>> = splits
            .flat_map(|split| {
                columns.iter().map(move |column| Task {
                    split,
                    column,
                    protocol,
                })
            })
            .collect();
        let mut to_make: Vec<(&Task<'_>, Option<Cell>)> = Vec::new();
        let mut work = 0;
        for task in &tasks {
            let start = self.start(state, task);
            if start.as_ref().is_none_or(|cell| cell.auc.len() < runs) {
                work += task.work(start.as_ref(), runs)?;
                to_make.push((task, start));
            }
        }
        if to_make.is_empty() {
            output.note(format!(
                "note: all cells are in {}; --fresh recomputes them",
                file.display()
            ));
        }
        let watch = Watch::new(self.asked.deadline(), work, output);
        let mut failed = BTreeMap::new();
        for (task, start) in to_make {
            let key = task.key();
            match make(state, file, (task, start), runs, &watch) {
                Ok(true) => output.note(summary(&state.cells[&key], task)),
                Ok(false) => {
                    output.note(
                        "note: the time limit was reached; the same command goes on from here",
                    );
                    break;
                }
                Err(error) => {
                    output.note(format!("warning: {key}: {error:#}"));
                    failed.insert(key, format!("{error:#}"));
                }
            }
        }
        Ok(failed)
    }

    /// What a cell goes on from.
    fn start(&self, state: &State<Cell>, task: &Task<'_>) -> Option<Cell> {
        if self.asked.fresh {
            return None;
        }
        let (key, settings) = (task.key(), task.settings());
        let begun = state.begun(&key, &settings);
        let whole = state.whole(&key, &settings);
        let more = |cell: &&Cell| cell.auc.len();
        begun.into_iter().chain(whole).max_by_key(more).cloned()
    }

    fn view(
        &self,
        state: &State<Cell>,
        sets: &[&Set],
        columns: &[&Column],
        failed: &BTreeMap<String, String>,
    ) -> TableView {
        let protocol = &self.config.protocol;
        let mut cells = Vec::new();
        for set in sets {
            for column in columns {
                let key = format!("{}/{}", set.name, column.name);
                let so = |cell: &&Cell| cell.settings.how == how(protocol, set, column);
                let cell = state.cells.get(&key).filter(so);
                let (mean, std) = cell.map_or((None, None), |cell| mean_and_std(&cell.auc));
                let paper = paper::auc(&set.name, &column.name);
                let mut view = CellView::new(&set.name, &column.name, mean, std, paper);
                view.wanted_runs = protocol.runs;
                if let Some(cell) = cell {
                    view.runs = cell.auc.len();
                    view.wanted_runs = view.wanted_runs.max(view.runs);
                    view.parameters.clone_from(&cell.parameters);
                    view.seconds = cell.seconds;
                }
                view.note = match (failed.get(&key), cell, state.cells.get(&key)) {
                    (Some(error), ..) => Some(error.clone()),
                    (None, Some(cell), _) if cell.unconverged > 0 => Some(format!(
                        "{} of {} runs stopped before the tolerance",
                        cell.unconverged,
                        cell.auc.len()
                    )),
                    (None, Some(_), _) => None,
                    (None, None, Some(_)) => Some("made with other settings".to_string()),
                    (None, None, None) if find(&self.asked.data.path(), set).is_none() => {
                        Some("no data".to_string())
                    }
                    (None, None, None) => Some("not run".to_string()),
                };
                cells.push(view);
            }
        }
        let mut notes = vec![protocol.describe()];
        notes.push(
            columns
                .iter()
                .map(|column| column.describe())
                .collect::<Vec<_>>()
                .join("; "),
        );
        notes.extend(sets.iter().filter_map(|set| {
            let note = set.note.as_ref()?;
            Some(format!("{}: {note}", set.name))
        }));
        TableView::new("Test AUC, ours beside the paper's Table 2", cells, notes)
    }
}

/// Searches and runs, saving as it goes. False if the time limit is reached first.
fn make(
    state: &mut State<Cell>,
    file: &Path,
    (task, start): (&Task<'_>, Option<Cell>),
    runs: usize,
    watch: &Watch,
) -> Result<bool> {
    if watch.time_is_up() {
        return Ok(false);
    }
    let (key, origin) = (task.key(), state.origin());
    let mut cell = match start {
        Some(cell) => cell,
        None => task.search(watch)?,
    };
    if !cell.origins.contains(&origin) {
        cell.origins.push(origin);
    }
    let mut saved = Instant::now();
    while cell.auc.len() < runs {
        if watch.time_is_up() {
            state.unfinished.insert(key, cell);
            state.save(file)?;
            return Ok(false);
        }
        task.next_runs(&mut cell, runs, watch)?;
        if saved.elapsed() >= SAVE_EVERY {
            state.unfinished.insert(key.clone(), cell.clone());
            state.save(file)?;
            saved = Instant::now();
        }
    }
    state.finish(&key, cell);
    state.save(file)?;
    Ok(true)
}

/// One line for a cell that is done.
fn summary(cell: &Cell, task: &Task<'_>) -> String {
    let (mean, std) = mean_and_std(&cell.auc);
    let (set, column) = (&task.split.name, &task.column.name);
    let paper = paper::auc(set, column).map_or(String::new(), |[mean, std]| {
        format!(", the paper's {mean:.4} ± {std:.4}")
    });
    format!(
        "{set}, {column}: {:.4} ± {:.4}{paper}; {:.1} s",
        mean.unwrap_or(f64::NAN),
        std.unwrap_or(0.0),
        cell.seconds
    )
}
