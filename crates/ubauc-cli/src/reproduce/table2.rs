//! `ubauc reproduce table2`: test AUC of every algorithm on every data set.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::config::{Column, Config, Set};
use super::paper;
use super::protocol::{Task, Watch, mean_and_std};
use super::render::{CellView, TableView};
use super::sets::{Split, find_or_fetch};
use super::state::{Cell, State};
use super::{Asked, publish};
use crate::output::Output;

/// The grids and choices of the published results.
const EXPERIMENT: &str = include_str!("../../../../experiments/table2.toml");
/// As the papers of OPAUC and SOLAM have it, five times.
const FOLDS: u32 = 5;
/// A cell that takes long is saved at least this often.
const SAVE_EVERY: Duration = Duration::from_secs(5);

pub(super) fn run(asked: &Asked, output: Output) -> Result<()> {
    let mut config = Config::load(asked.config.as_deref(), EXPERIMENT)?;
    config.protocol.runs = asked.runs.unwrap_or(config.protocol.runs);
    config.protocol.partition = asked.partition.unwrap_or(config.protocol.partition);
    let name = if asked.folds {
        "table2-folds"
    } else {
        "table2"
    };
    config.protocol.folds = if asked.folds {
        Some(FOLDS)
    } else {
        config.protocol.folds
    };
    let file = asked.file(&format!("{name}.json"));
    let mut state: State<Cell> = asked.state(&file, name)?;
    let sets = asked.datasets(&config.datasets)?;
    let columns = asked.columns(&config.columns)?;
    let splits = read_all(&sets, asked, &config, output)?;
    let failed = fill(
        &mut state,
        &file,
        (&splits, &columns),
        &config,
        asked,
        output,
    )?;

    let asked_for = view(&state, (&sets, &columns), &splits, &config, &failed);
    let all: (Vec<&Set>, Vec<&Column>) = (
        config.datasets.iter().collect(),
        config.columns.iter().collect(),
    );
    let whole = view(&state, (&all.0, &all.1), &splits, &config, &failed);
    state.save(&file)?;
    publish(&asked_for, &whole, &file, output)?;
    match failed.len() {
        0 => Ok(()),
        n => bail!(
            "{n} cells failed: {}",
            failed.into_keys().collect::<Vec<_>>().join(", ")
        ),
    }
}

fn read_all(
    sets: &[&Set],
    asked: &Asked,
    config: &Config,
    output: Output,
) -> Result<BTreeMap<String, Split>> {
    let dir = asked.data.path();
    let fetches = asked.data.is_default();
    let mut splits = BTreeMap::new();
    for set in sets {
        match find_or_fetch(&dir, set, fetches, output) {
            Some(found) => {
                splits.insert(set.name.clone(), found.read(set, &config.protocol)?);
            }
            None => output.note(format!(
                "note: {} is not in {}; its cells stay empty",
                set.name,
                dir.display()
            )),
        }
    }
    if splits.is_empty() {
        bail!(
            "no data set of the table is in {}; --data names another directory",
            dir.display()
        );
    }
    Ok(splits)
}

/// Makes the cells that are not there. What fails is told, and the others go on.
fn fill(
    state: &mut State<Cell>,
    file: &Path,
    (splits, columns): (&BTreeMap<String, Split>, &[&Column]),
    config: &Config,
    asked: &Asked,
    output: Output,
) -> Result<BTreeMap<String, String>> {
    let runs = config.protocol.runs;
    let tasks: Vec<(String, Task<'_>)> = config
        .datasets
        .iter()
        .filter_map(|set| splits.get(&set.name))
        .flat_map(|split| {
            columns.iter().map(move |column| {
                let protocol = &config.protocol;
                let task = Task {
                    split,
                    column,
                    protocol,
                };
                (format!("{}/{}", split.name, column.name), task)
            })
        })
        .collect();
    let mut work = 0;
    for (key, task) in &tasks {
        state.forget_unless(key, &task.settings());
        work += task.work(state.cells.get(key), runs)?;
    }
    if work == 0 {
        output.note(format!(
            "note: all cells are in {}; --fresh makes them anew",
            file.display()
        ));
    }
    let watch = Watch::new(asked.deadline(), work, output);
    let mut failed = BTreeMap::new();
    for (key, task) in &tasks {
        if watch.time_is_up() {
            break;
        }
        if state
            .cells
            .get(key)
            .is_some_and(|cell| cell.auc.len() >= runs)
        {
            continue;
        }
        match make(state, file, (key, task), runs, &watch) {
            Ok(true) => output.note(told(&state.cells[key], task)),
            Ok(false) => {}
            Err(error) => {
                output.note(format!("warning: {key}: {error:#}"));
                failed.insert(key.clone(), format!("{error:#}"));
            }
        }
    }
    if watch.time_is_up() {
        output.note("note: the time is up; the same command goes on from here");
    }
    Ok(failed)
}

/// Searches and runs, saving as it goes. False if the time is up first.
fn make(
    state: &mut State<Cell>,
    file: &Path,
    (key, task): (&str, &Task<'_>),
    runs: usize,
    watch: &Watch,
) -> Result<bool> {
    if !state.cells.contains_key(key) {
        let Some(cell) = task.search(watch)? else {
            return Ok(false);
        };
        state.cells.insert(key.to_string(), cell);
    }
    let mut saved = Instant::now();
    loop {
        let Some(cell) = state.cells.get_mut(key) else {
            return Ok(false);
        };
        if cell.auc.len() >= runs {
            state.save(file)?;
            return Ok(true);
        }
        if watch.time_is_up() {
            state.save(file)?;
            return Ok(false);
        }
        task.next_runs(cell, runs, watch)?;
        if saved.elapsed() >= SAVE_EVERY {
            state.save(file)?;
            saved = Instant::now();
        }
    }
}

/// One line for a cell that is done.
fn told(cell: &Cell, task: &Task<'_>) -> String {
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

fn view(
    state: &State<Cell>,
    (sets, columns): (&[&Set], &[&Column]),
    splits: &BTreeMap<String, Split>,
    config: &Config,
    failed: &BTreeMap<String, String>,
) -> TableView {
    let mut cells = Vec::new();
    for set in sets {
        for column in columns {
            let key = format!("{}/{}", set.name, column.name);
            let cell = state.cells.get(&key);
            let (mean, std) = cell.map_or((None, None), |cell| mean_and_std(&cell.auc));
            let paper = paper::auc(&set.name, &column.name);
            let mut view = CellView::new(&set.name, &column.name, mean, std, paper);
            view.wanted_runs = config.protocol.runs;
            if let Some(cell) = cell {
                view.runs = cell.auc.len();
                view.wanted_runs = view.wanted_runs.max(view.runs);
                view.parameters.clone_from(&cell.parameters);
                view.seconds = cell.seconds;
            }
            view.note = match (failed.get(&key), cell) {
                (Some(error), _) => Some(error.clone()),
                (None, None) if !splits.contains_key(&set.name) => Some("no data".to_string()),
                (None, None) => Some("not run".to_string()),
                _ => None,
            };
            cells.push(view);
        }
    }
    let protocol = &config.protocol;
    let mut notes = vec![format!(
        "{}; scale {} unless told otherwise, seed {}, classes halved by partition {}.",
        match protocol.folds {
            Some(folds) => format!(
                "{} models by repeated {folds}-fold cross-validation over all rows, parameters by AUC on a held-out \
                 {:.0} % of what the first learns from",
                protocol.runs,
                100.0 * protocol.validation
            ),
            None => format!(
                "{} models on random {:.0} % of the training part, parameters by AUC on a held-out {:.0} % of it, \
                 AUC on the test part",
                protocol.runs,
                100.0 * protocol.share,
                100.0 * protocol.validation
            ),
        },
        protocol.scale.name(),
        protocol.seed,
        protocol.partition,
    )];
    notes.extend(sets.iter().filter_map(|set| {
        let note = set.note.as_ref()?;
        Some(format!("{}: {note}", set.name))
    }));
    TableView::new("Test AUC, ours beside the paper's Table 2", cells, notes)
}
