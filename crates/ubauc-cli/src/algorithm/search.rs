//! The best of several specs by AUC on examples that none of them has learned from.

use anyhow::{Context, Result, bail};
use ubauc::data::dataset::Dataset;
use ubauc::data::split::hold_out;
use ubauc::metrics::auc;
use ubauc::tune::has_collapsed;

use ubauc::algorithm::{Spec, Stop};

use super::fit;
use crate::output::{Format, Output};
use crate::progress::{Counted, FITS};
use crate::side_by_side::side_by_side;
use crate::training::Training;

/// The share of the examples that is held out.
const HELD_OUT: f64 = 0.2;

/// Which won.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Best {
    pub(crate) index: usize,
    pub(crate) judged: Judged,
}

/// What a spec led to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judged {
    /// On the examples held out.
    pub(crate) auc: f64,
    /// More training examples tied at λ than is unavoidable: the AUC is not meaningful.
    collapsed: bool,
    /// The solver came as near to the optimum as was asked; nothing is promised of online learners.
    pub(crate) converged: bool,
}

/// Fits every spec to `train` and takes the one of the highest AUC on `held_out`, the first of those that are equal.
/// One whose steps diverge is out, and one whose model collapses wins against nothing else. `done` is called after
/// every fit.
pub(crate) fn best_of(
    specs: &[Spec],
    train: &Dataset,
    held_out: &Dataset,
    done: impl Fn() + Sync,
) -> Result<Best> {
    let found = side_by_side(specs, |spec| {
        let found = judged(spec, train, held_out);
        done();
        found
    });
    let mut best: Option<Best> = None;
    for (index, found) in found.into_iter().enumerate() {
        let Some(judged) = found? else {
            continue;
        };
        let rank = |judged: Judged| (!judged.collapsed, judged.auc);
        if best.is_none_or(|best| rank(judged) > rank(best.judged)) {
            best = Some(Best { index, judged });
        }
    }
    best.context("no choice of parameters led to finite weights; scale the features")
}

/// How well `held_out` is ordered by what is learned from `train`; none if the steps diverge.
pub(crate) fn judged(spec: &Spec, train: &Dataset, held_out: &Dataset) -> Result<Option<Judged>> {
    let silent = Output {
        format: Format::Text,
        quiet: true,
    };
    let trained = match fit(spec, train, None, None, silent) {
        Ok(trained) => trained,
        Err(error) if diverged(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let rows = held_out.rows();
    let scores: Vec<f64> = (0..rows.len())
        .map(|i| rows.row(i).dot(&trained.model.weights))
        .collect();
    if scores.iter().any(|score| !score.is_finite()) {
        return Ok(None);
    }
    Ok(Some(Judged {
        auc: auc(&scores, held_out.positive())?.auc,
        collapsed: trained
            .certificate
            .tied
            .is_some_and(|tied| has_collapsed(train, None, tied as usize)),
        converged: spec.algorithm().is_online() || trained.stop == Stop::Converged,
    }))
}

fn diverged(error: &anyhow::Error) -> bool {
    let of_library = |cause: &(dyn std::error::Error + 'static)| {
        let cause = cause.downcast_ref::<ubauc::Error>();
        matches!(cause, Some(ubauc::Error::Numerical { .. }))
    };
    error.chain().any(of_library)
}

/// What a rival needs and is not `given`, by a short search: a fifth of the examples is held out. None if it has all.
pub(crate) fn complete(
    spec: Spec,
    given: &[&str],
    training: &Training,
    seed: u64,
    output: Output,
) -> Result<Option<Spec>> {
    let mut missing = spec.searched();
    missing.retain(|(name, _)| !given.contains(name));
    if missing.is_empty() {
        return Ok(None);
    }
    let grid = product(spec, &missing)?;
    let held_out = hold_out(training.data.positive(), HELD_OUT, seed).with_context(|| {
        let names: Vec<String> = missing
            .iter()
            .map(|(name, _)| format!("--{name}"))
            .collect();
        let names = names.join(" and ");
        format!("cannot search for {names} in so few examples; give a value")
    })?;
    let (train, judge) = training.split(&held_out)?;
    let progress = Counted::new(output, grid.len() as u64, FITS);
    let best = best_of(&grid, &train, &judge, || progress.more(1, String::new))?;
    drop(progress);
    let chosen = grid[best.index];
    let parameters = chosen.parameters();
    let chosen_values: Vec<String> = missing
        .iter()
        .filter_map(|(name, _)| {
            parameters
                .get(name)
                .map(|value| format!("{name} = {value}"))
        })
        .collect();
    output.note(format!(
        "note: {} chosen by AUC on a fifth of the examples ({:.4})",
        chosen_values.join(", "),
        best.judged.auc
    ));
    Ok(Some(chosen))
}

/// Every combination of the values, the first name varying slowest.
pub(crate) fn product<N: AsRef<str>>(template: Spec, lists: &[(N, Vec<f64>)]) -> Result<Vec<Spec>> {
    let mut grid = vec![template];
    for (name, values) in lists {
        let name = name.as_ref();
        let mut wider = Vec::with_capacity(grid.len() * values.len());
        for spec in &grid {
            for &value in values {
                let mut spec = *spec;
                if !spec.set(name, value) {
                    let algorithm = spec.algorithm().name();
                    bail!("{algorithm} has no parameter '{name}' of value {value}");
                }
                wider.push(spec);
            }
        }
        grid = wider;
    }
    Ok(grid)
}
