//! The paper's protocol for one cell: parameters by search, then the mean of many models.
//!
//! 1. A share of the training part (stratified) is held out; every choice of parameters is fitted to the rest, and the
//!    one of the highest AUC on what was held out is taken. Once for a cell, not for each run.
//! 2. Run k learns with it from a random share of the training part and is judged on the test part.
//!
//! Or, as the papers that the protocol is taken from do it, by repeated cross-validation over all rows: run k learns from
//! all folds but one and is judged on that one. The search then sees rows that later runs are judged on, though it
//! takes no more from them than the choice of a few parameters.
//!
//! Fits run side by side, each on one thread; numbers do not depend on how many.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use ubauc::algorithm::Spec;
use ubauc::data::dataset::Dataset;
use ubauc::data::split::{folds, hold_out, subset};

use super::config::{Column, Protocol, Set};
use super::sets::Split;
use super::state::{Cell, Settings};
use crate::algorithm::{Best, Judged, best_of, judged};
use crate::output::Output;
use crate::progress::Counted;
use crate::side_by_side::side_by_side;
use ubauc::data::scale::Scale;

/// How far a command may go, and who watches.
pub(super) struct Watch {
    deadline: Option<Instant>,
    bar: Counted,
}

/// Of all fits that are to be made, by the entries they read.
const WORK: &str = "{wide_bar} {percent} %, {eta} left, {msg}";

impl Watch {
    pub(super) fn new(deadline: Option<Instant>, work: u64, output: Output) -> Watch {
        Watch {
            deadline,
            bar: Counted::new(output, work, WORK),
        }
    }

    /// Some work is done.
    fn done(&self, work: u64, what: &str) {
        self.bar.more(work, || what.to_string());
    }

    pub(super) fn time_is_up(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// A cell to be made.
pub(super) struct Task<'a> {
    pub(super) split: &'a Split,
    pub(super) column: &'a Column,
    pub(super) protocol: &'a Protocol,
}

/// How a cell is made, whatever the data are.
pub(super) fn how(protocol: &Protocol, set: &Set, column: &Column) -> Value {
    how_of(
        protocol,
        set.scale.unwrap_or(protocol.scale),
        set.unit_rows,
        column,
    )
}

fn how_of(protocol: &Protocol, scale: Scale, unit_rows: bool, column: &Column) -> Value {
    json!({"protocol": protocol, "scale": scale, "unit_rows": unit_rows, "column": column})
}

impl Task<'_> {
    pub(super) fn key(&self) -> String {
        format!("{}/{}", self.split.name, self.column.name)
    }

    /// All that the numbers depend on.
    pub(super) fn settings(&self) -> Settings {
        let Split {
            scale, unit_rows, ..
        } = *self.split;
        Settings {
            how: how_of(self.protocol, scale, unit_rows, self.column),
            data: self.split.identity.clone(),
        }
    }

    /// Work in entries that are still to be read.
    pub(super) fn work(&self, have: Option<&Cell>, runs: usize) -> Result<u64> {
        let fits = match have {
            Some(cell) => runs.saturating_sub(cell.auc.len()),
            None => runs + self.grid()?.len(),
        };
        Ok(fits as u64 * self.split.stored())
    }

    fn grid(&self) -> Result<Vec<Spec>> {
        self.column.specs(self.protocol, self.split.scale)
    }

    fn name(&self) -> String {
        format!("{}, {}", self.split.name, self.column.name)
    }

    /// The best of the grid, how it was judged, and how many were tried.
    pub(super) fn choose(&self, watch: &Watch) -> Result<(Spec, Judged, usize)> {
        let grid = self.grid()?;
        let (train, _) = &self.parts(0)?;
        let held_out = hold_out(
            train.positive(),
            self.protocol.validation,
            self.protocol.seed,
        )?;
        let kept: Vec<bool> = held_out.iter().map(|out| !out).collect();
        let (learned, judge) = (train.part(&kept)?, train.part(&held_out)?);
        let (stored, name) = (self.split.stored(), self.name());
        let tell = || watch.done(stored, &name);
        let Best { index, judged } = best_of(&grid, &learned, &judge, tell)?;
        Ok((grid[index], judged, grid.len()))
    }

    /// A cell with its parameters chosen, and no runs.
    pub(super) fn search(&self, watch: &Watch) -> Result<Cell> {
        let started = Instant::now();
        let (spec, judged, tried) = self.choose(watch)?;
        Ok(Cell {
            settings: self.settings(),
            origins: Vec::new(),
            parameters: named(&spec),
            validation_auc: judged.auc,
            tried,
            auc: Vec::new(),
            unconverged: 0,
            seconds: started.elapsed().as_secs_f64(),
        })
    }

    /// Makes the next runs of a cell, as many as there are threads.
    pub(super) fn next_runs(&self, cell: &mut Cell, runs: usize, watch: &Watch) -> Result<()> {
        let started = Instant::now();
        let spec = self.chosen(cell)?;
        let first = cell.auc.len();
        let last = runs.min(first + rayon::current_num_threads().max(1));
        let numbers: Vec<usize> = (first..last).collect();
        let found = side_by_side(&numbers, |&k| {
            let found = self.run(spec, k);
            watch.done(self.split.stored(), &self.name());
            found.with_context(|| format!("run {}", k + 1))
        });
        for judged in found {
            let judged = judged?;
            cell.auc.push(judged.auc);
            cell.unconverged += usize::from(!judged.converged);
        }
        cell.seconds += started.elapsed().as_secs_f64();
        Ok(())
    }

    /// The spec of the grid with the parameters of the cell.
    fn chosen(&self, cell: &Cell) -> Result<Spec> {
        let same = |spec: &Spec| named(spec) == cell.parameters;
        let found = self.grid()?.into_iter().find(same);
        found.context("the parameters of the results are not in the grid; --fresh recomputes them")
    }

    fn run(&self, mut spec: Spec, k: usize) -> Result<Judged> {
        spec.set_seed(self.seed(k));
        let (train, test) = self.parts(k)?;
        let train = match &test {
            Cow::Borrowed(_) => {
                let chosen = subset(train.rows().len(), self.protocol.share, self.seed(k))?;
                Cow::Owned(train.part(&chosen)?)
            }
            Cow::Owned(_) => train,
        };
        judged(&spec, &train, &test)?.context("the steps diverge")
    }

    fn seed(&self, k: usize) -> u64 {
        self.protocol.seed + 1 + k as u64
    }

    /// What run k may learn from and what it is judged on: the parts of the data set, or fold k of as many
    /// repetitions of cross-validation as it takes.
    fn parts(&self, k: usize) -> Result<(Cow<'_, Dataset>, Cow<'_, Dataset>)> {
        let train = &self.split.train;
        if let Some(test) = &self.split.test {
            return Ok((Cow::Borrowed(train), Cow::Borrowed(test)));
        }
        let count = self.protocol.folds.context("no test part")?;
        let (repetition, fold) = (k as u64 / u64::from(count), k as u64 % u64::from(count));
        let of = folds(train.positive(), count, self.protocol.seed + repetition)?;
        let out: Vec<bool> = of.iter().map(|f| u64::from(*f) == fold).collect();
        let kept: Vec<bool> = out.iter().map(|out| !out).collect();
        Ok((
            Cow::Owned(train.part(&kept)?),
            Cow::Owned(train.part(&out)?),
        ))
    }
}

/// The parameters of a spec, as they are kept.
pub(super) fn named(spec: &Spec) -> BTreeMap<String, Value> {
    let parameters = spec.parameters().into_iter();
    parameters
        .map(|(name, value)| (name.to_string(), value))
        .collect()
}

/// Mean and standard deviation (of a sample; none for one).
pub(super) fn mean_and_std(values: &[f64]) -> (Option<f64>, Option<f64>) {
    let n = values.len() as f64;
    if values.is_empty() {
        return (None, None);
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    let std = (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt());
    (Some(mean), std)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        assert_eq!(mean_and_std(&[]), (None, None));
        assert_eq!(mean_and_std(&[0.5]), (Some(0.5), None));
        assert_eq!(mean_and_std(&[1.0, 3.0]), (Some(2.0), Some(2f64.sqrt())));
    }
}
