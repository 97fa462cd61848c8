//! `ubauc reproduce table3`: seconds a pass of the online learners, and until they stand still.
//!
//! Parameters are chosen as in Table 2. A pass is what the learner does with all examples of the training part, rows in
//! memory and in a random order that is made beforehand; the look at the objective after it is not counted. The median
//! of several passes is told. Standing still is the paper's rule: the objective changes by less than 1e-7 of itself from
//! one pass to the next. One learner at a time, so that none waits for another.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ubauc::data::dataset::Dataset;

use super::config::{Column, Config};
use super::protocol::{Task, Watch, named};
use super::render::{TimeTableView, TimeView};
use super::sets::{Split, find_or_fetch};
use super::state::{Made, State, commit};
use super::{Asked, paper, publish};
use crate::algorithm::Problem;
use crate::output::Output;

const EXPERIMENT: &str = include_str!("../../../../experiments/table3.toml");
/// Of the objective, from pass to pass.
const STILL: f64 = 1e-7;
/// At least so many passes are timed …
const TIMED: usize = 5;
/// … and more of them while they take less than this.
const LONG_ENOUGH: Duration = Duration::from_millis(500);

/// One cell of Table 3.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Cell {
    settings: Value,
    commit: String,
    parameters: BTreeMap<String, Value>,
    seconds_per_pass: f64,
    /// Without the looks at the objective.
    seconds: f64,
    passes: usize,
    stopped: String,
}

impl Made for Cell {
    fn settings(&self) -> &Value {
        &self.settings
    }
}

pub(super) fn run(asked: &Asked, output: Output) -> Result<()> {
    let config = Config::load(asked.config.as_deref(), EXPERIMENT)?;
    let file = asked.file("table3.json");
    let mut state: State<Cell> = asked.state(&file, "table3")?;
    let sets = asked.datasets(&config.datasets)?;
    let columns = asked.columns(&config.columns)?;
    let mut absent = Vec::new();
    for set in &sets {
        let found = find_or_fetch(&asked.data.path(), set, asked.data.is_default(), output);
        let Some(found) = found else {
            absent.push(set.name.clone());
            continue;
        };
        let split = found.read(set, &config.protocol)?;
        for column in &columns {
            let task = Task {
                split: &split,
                column,
                protocol: &config.protocol,
            };
            let key = format!("{}/{}", set.name, column.name);
            state.forget_unless(&key, &task.settings());
            if state.cells.contains_key(&key) {
                continue;
            }
            let watch = Watch::new(asked.deadline(), task.work(None, 1)?, output);
            if watch.time_is_up() {
                output.note("note: the time is up; the same command goes on from here");
                break;
            }
            let cell = measure(&task, &watch).with_context(|| key.clone())?;
            let Some(cell) = cell else { break };
            output.note(told(&key, &cell));
            state.cells.insert(key, cell);
            state.save(&file)?;
        }
    }
    if state.cells.is_empty() && !absent.is_empty() {
        let dir = asked.data.path();
        bail!("{} not in {}", absent.join(", "), dir.display());
    }
    let table = |sets: Vec<&str>, columns: Vec<&str>| view(&state, &sets, &columns);
    let names = |column: &&Column| column.name.clone();
    let (asked_sets, asked_columns): (Vec<String>, Vec<String>) = (
        sets.iter().map(|set| set.name.clone()).collect(),
        columns.iter().map(names).collect(),
    );
    let asked_for = table(
        asked_sets.iter().map(String::as_str).collect(),
        asked_columns.iter().map(String::as_str).collect(),
    );
    let whole = table(
        config
            .datasets
            .iter()
            .map(|set| set.name.as_str())
            .collect(),
        config.columns.iter().map(|c| c.name.as_str()).collect(),
    );
    publish(&asked_for, &whole, &file, output)
}

/// Chooses, passes, times. None if the time is up first.
fn measure(task: &Task<'_>, watch: &Watch) -> Result<Option<Cell>> {
    let Some((problem, ..)) = task.choose(watch)? else {
        return Ok(None);
    };
    let Split { train, .. } = task.split;
    let passes = problem.online.passes.unwrap_or(100);
    let seconds_per_pass = median_pass(&problem, train)?;
    let (seconds, made, stopped) = until_still(&problem, train, passes)?;
    Ok(Some(Cell {
        settings: task.settings(),
        commit: commit(),
        parameters: named(&problem),
        seconds_per_pass,
        seconds,
        passes: made,
        stopped: stopped.to_string(),
    }))
}

fn median_pass(problem: &Problem, train: &Dataset) -> Result<f64> {
    let divisors = problem.divisors(train, None)?;
    let learner = problem.passing(train, divisors.as_deref())?;
    let mut learner = learner.context("only online learners make passes")?;
    let started = Instant::now();
    let mut taken = Vec::new();
    while taken.len() < TIMED || started.elapsed() < LONG_ENOUGH {
        let pass = Instant::now();
        learner.pass()?;
        taken.push(pass.elapsed().as_secs_f64());
    }
    taken.sort_by(f64::total_cmp);
    Ok(taken[taken.len() / 2])
}

fn until_still(
    problem: &Problem,
    train: &Dataset,
    most: usize,
) -> Result<(f64, usize, &'static str)> {
    let divisors = problem.divisors(train, None)?;
    let learner = problem.passing(train, divisors.as_deref())?;
    let mut learner = learner.context("only online learners make passes")?;
    let mut seconds = 0.0;
    let mut before: Option<f64> = None;
    for made in 1..=most {
        let pass = Instant::now();
        learner.pass()?;
        seconds += pass.elapsed().as_secs_f64();
        let objective = learner.objective()?;
        let still = |before: f64| (before - objective).abs() < STILL * objective.abs();
        if before.is_some_and(still) {
            return Ok((seconds, made, "still"));
        }
        before = Some(objective);
    }
    Ok((seconds, most, "max_passes"))
}

fn told(key: &str, cell: &Cell) -> String {
    format!(
        "{key}: {:.4} s a pass, {} after {} passes and {:.2} s",
        cell.seconds_per_pass, cell.stopped, cell.passes, cell.seconds
    )
}

fn view(state: &State<Cell>, sets: &[&str], columns: &[&str]) -> TimeTableView {
    let mut times = Vec::new();
    for set in sets {
        for column in columns {
            let cell = state.cells.get(&format!("{set}/{column}"));
            let still = cell.filter(|cell| cell.stopped == "still");
            times.push(TimeView {
                dataset: set.to_string(),
                column: column.to_string(),
                seconds_per_pass: cell.map(|cell| cell.seconds_per_pass),
                seconds_to_still: still.map(|cell| cell.seconds),
                passes_to_still: still.map(|cell| cell.passes),
                stopped: cell.map(|cell| match cell.stopped.as_str() {
                    "still" => "still".to_string(),
                    _ => format!(
                        "not still after {} passes, {:.1} s",
                        cell.passes, cell.seconds
                    ),
                }),
                paper_pass: paper::seconds_per_pass(set, column),
                paper_total: paper::seconds_to_converge(set, column),
                ..TimeView::default()
            });
        }
    }
    let notes = vec![format!(
        "Machine: {}. The paper's seconds are of MATLAB programs on another machine: compare the ratios.",
        state.machine
    )];
    TimeTableView::new(
        "Seconds of the online learners, ours beside the paper's Table 3",
        times,
        notes,
    )
}
