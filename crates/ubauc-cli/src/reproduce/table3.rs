//! `ubauc reproduce table3`: seconds a pass of the online learners, and until they stand still.
//!
//! Parameters are chosen as in Table 2, with as many passes as there. A pass is what the learner does with all examples
//! of the training part, rows in memory; the new order of the blocks that it begins with counts, the look at the
//! objective after it does not. The median of several passes is reported. Standing still is the paper's rule, the objective
//! changes by less than 1e-7 of itself from one pass to the next, three times in a row, so that no chance is taken for
//! rest. What is looked at is what would be saved: an average for some learners, and averages move less and less by
//! themselves. One learner at a time, so that none waits for another.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ubauc::algorithm::Spec;
use ubauc::data::dataset::Dataset;

use super::config::{Column, Config, Set};
use super::protocol::{Task, Watch, how, named};
use super::render::{TimeTableView, TimeView};
use super::sets::Split;
use super::state::{Made, Settings, State};
use super::table2::read_all;
use super::{Asked, paper, publish};
use crate::output::Output;

pub(super) const EXPERIMENT: &str = include_str!("../../../../experiments/table3.toml");
/// Of the objective, from pass to pass …
const STILL: f64 = 1e-7;
/// … so often.
const IN_A_ROW: usize = 3;
/// Passes before it is given up, where the experiment does not say.
const MOST_PASSES: usize = 100;
/// At least this many passes are timed …
const TIMED: usize = 5;
/// … and more of them while they take less than this.
const LONG_ENOUGH: Duration = Duration::from_millis(500);

/// One cell of Table 3.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Cell {
    settings: Settings,
    origins: Vec<usize>,
    parameters: BTreeMap<String, Value>,
    seconds_per_pass: f64,
    /// Without the looks at the objective.
    seconds: f64,
    passes: usize,
    /// Within them the objective stood still.
    still: bool,
}

impl Made for Cell {
    fn settings(&self) -> &Settings {
        &self.settings
    }
}

pub(super) fn run(config: &Config, asked: &Asked, output: Output) -> Result<()> {
    let sets = asked.datasets(&config.datasets)?;
    let columns = asked.columns(&config.columns)?;
    let file = asked.file("table3.json");
    let (mut state, _held): (State<Cell>, _) = asked.state(&file, "table3")?;
    let splits = read_all(&sets, asked, &config.protocol, output)?;
    let splits: Vec<&Split> = sets
        .iter()
        .filter_map(|set| splits.get(&set.name))
        .collect();
    let failed = fill(
        &mut state,
        (&file, asked),
        (&splits, &columns),
        config,
        output,
    )?;
    state.save(&file)?;

    let all_sets: Vec<&Set> = config.datasets.iter().collect();
    let all_columns: Vec<&Column> = config.columns.iter().collect();
    let asked_for = view(&state, config, &sets, &columns);
    let whole = view(&state, config, &all_sets, &all_columns);
    publish(&asked_for, &whole, &file, output)?;
    if !failed.is_empty() {
        bail!("{} cells failed: {}", failed.len(), failed.join(", "));
    }
    Ok(())
}

/// Measures what is not there; answers what failed.
fn fill(
    state: &mut State<Cell>,
    (file, asked): (&Path, &Asked),
    (splits, columns): (&[&Split], &[&Column]),
    config: &Config,
    output: Output,
) -> Result<Vec<String>> {
    let mut failed = Vec::new();
    for split in splits {
        for column in columns {
            let protocol = &config.protocol;
            let task = Task {
                split,
                column,
                protocol,
            };
            let key = task.key();
            if !asked.fresh && state.whole(&key, &task.settings()).is_some() {
                continue;
            }
            let watch = Watch::new(asked.deadline(), task.work(None, 0)?, output);
            if watch.time_is_up() {
                output.note("note: the time limit was reached; the same command goes on from here");
                return Ok(failed);
            }
            let origin = state.origin();
            match measure(&task, origin, &watch) {
                Ok(cell) => {
                    output.note(summary(&key, &cell));
                    state.finish(&key, cell);
                    state.save(file)?;
                }
                Err(error) => {
                    output.note(format!("warning: {key}: {error:#}"));
                    failed.push(key);
                }
            }
        }
    }
    Ok(failed)
}

/// Chooses, passes, times.
fn measure(task: &Task<'_>, origin: usize, watch: &Watch) -> Result<Cell> {
    let (spec, ..) = task.choose(watch)?;
    let Split { train, .. } = task.split;
    let most = task.column.most_passes.unwrap_or(MOST_PASSES);
    let seconds_per_pass = median_pass(&spec, train)?;
    let (seconds, passes, still) = until_still(&spec, train, most)?;
    Ok(Cell {
        settings: task.settings(),
        origins: vec![origin],
        parameters: named(&spec),
        seconds_per_pass,
        seconds,
        passes,
        still,
    })
}

fn median_pass(spec: &Spec, train: &Dataset) -> Result<f64> {
    let divisors = spec.divisors(train, None)?;
    let learner = spec.passing(train, divisors.as_deref())?;
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

/// Seconds, passes, and whether it came to rest.
fn until_still(spec: &Spec, train: &Dataset, most: usize) -> Result<(f64, usize, bool)> {
    let divisors = spec.divisors(train, None)?;
    let learner = spec.passing(train, divisors.as_deref())?;
    let mut learner = learner.context("only online learners make passes")?;
    let (mut seconds, mut in_a_row) = (0.0, 0);
    let mut before: Option<f64> = None;
    for made in 1..=most {
        let pass = Instant::now();
        learner.pass()?;
        seconds += pass.elapsed().as_secs_f64();
        let objective = learner.objective()?;
        let still = |before: f64| (before - objective).abs() < STILL * objective.abs();
        in_a_row = if before.is_some_and(still) {
            in_a_row + 1
        } else {
            0
        };
        if in_a_row == IN_A_ROW {
            return Ok((seconds, made, true));
        }
        before = Some(objective);
    }
    Ok((seconds, most, false))
}

fn summary(key: &str, cell: &Cell) -> String {
    let Cell {
        seconds_per_pass,
        seconds,
        passes,
        still,
        ..
    } = cell;
    let rest = if *still { "still" } else { "not still" };
    format!(
        "{key}: {seconds_per_pass:.4} s a pass, {rest} after {passes} passes and {seconds:.2} s"
    )
}

fn view(state: &State<Cell>, config: &Config, sets: &[&Set], columns: &[&Column]) -> TimeTableView {
    let mut times = Vec::new();
    let mut machines: Vec<&str> = Vec::new();
    for set in sets {
        for column in columns {
            let (dataset, name) = (&set.name, &column.name);
            let so = |cell: &&Cell| cell.settings.how == how(&config.protocol, set, column);
            let cell = state.cells.get(&format!("{dataset}/{name}")).filter(so);
            let origins = cell.iter().flat_map(|cell| &cell.origins);
            for origin in origins.filter_map(|at| state.origins.get(*at)) {
                if !machines.contains(&origin.machine.as_str()) {
                    machines.push(&origin.machine);
                }
            }
            let still = cell.filter(|cell| cell.still);
            times.push(TimeView {
                dataset: dataset.clone(),
                column: name.clone(),
                seconds_per_pass: cell.map(|cell| cell.seconds_per_pass),
                seconds_to_still: still.map(|cell| cell.seconds),
                passes_to_still: still.map(|cell| cell.passes),
                stopped: cell.map(|cell| match cell.still {
                    true => "still".to_string(),
                    false => format!("> {} passes", cell.passes),
                }),
                paper_pass: paper::seconds_per_pass(dataset, name),
                paper_total: paper::seconds_to_converge(dataset, name),
                ..TimeView::default()
            });
        }
    }
    let notes = vec![
        format!("Measured on: {}.", machines.join("; ")),
        "The paper's seconds are of MATLAB programs on another machine: compare the ratios.".to_string(),
        "Still: the objective changes by less than 1e-7 of itself in three passes in a row; of ol-ubauc-implicit and \
         solam it is that of an average, which moves less and less by itself."
            .to_string(),
    ];
    let title = "Seconds of the online learners, ours beside the paper's Table 3";
    TimeTableView::new(title, times, notes)
}

#[cfg(test)]
mod tests {
    use super::super::table2;
    use super::*;

    #[test]
    fn what_both_tables_have_is_the_same_in_both() {
        let third = Config::load(None, EXPERIMENT).unwrap();
        let second = Config::load(None, table2::EXPERIMENT).unwrap();
        for set in &third.datasets {
            let same = |other: &&Set| other.name == set.name;
            let other = second.datasets.iter().find(same).unwrap();
            for column in &third.columns {
                let same = |other: &&Column| other.name == column.name;
                let mut column = column.clone();
                column.most_passes = None;
                let other_column = second.columns.iter().find(same).unwrap();
                assert_eq!(
                    how(&second.protocol, other, other_column),
                    how(&third.protocol, set, &column),
                    "{} {}",
                    set.name,
                    column.name
                );
            }
        }
    }
}
