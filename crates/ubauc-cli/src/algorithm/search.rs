//! The best of several problems by AUC on examples that none of them has learned from.

use anyhow::{Context, Result, bail};
use ubauc::data::dataset::Dataset;
use ubauc::data::split::hold_out;
use ubauc::metrics::auc;
use ubauc::tune::has_collapsed;

use super::{Algorithm, Problem};
use crate::names::name_of;
use crate::output::{Format, Output};
use crate::progress::{Counted, FITS};
use crate::side_by_side::side_by_side;

/// The share of the examples that is held out.
const HELD_OUT: f64 = 0.2;

/// Which won.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Best {
    pub(crate) index: usize,
    pub(crate) judged: Judged,
}

/// What a problem led to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judged {
    /// On the examples held out.
    pub(crate) auc: f64,
    /// More training examples tied at λ than can be helped: the AUC is luck.
    collapsed: bool,
    /// The solver came as near to the optimum as was asked; nothing is promised of online learners.
    pub(crate) converged: bool,
}

/// Fits every problem to `train` and takes the one of the highest AUC on `held_out`, the first of those that are equal.
/// A problem whose steps diverge is out, and one whose model collapses wins against nothing else. `tell` hears of every
/// fit that is done.
pub(crate) fn best_of(
    problems: &[Problem],
    train: &Dataset,
    held_out: &Dataset,
    tell: impl Fn() + Sync,
) -> Result<Best> {
    let found = side_by_side(problems, |problem| {
        let found = judged(problem, train, held_out);
        tell();
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
pub(crate) fn judged(
    problem: &Problem,
    train: &Dataset,
    held_out: &Dataset,
) -> Result<Option<Judged>> {
    let silent = Output {
        format: Format::Text,
        quiet: true,
    };
    let trained = match problem.fit(train, None, None, silent) {
        Ok(trained) => trained,
        Err(error) if diverged(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let rows = held_out.rows();
    let scores: Vec<f64> = (0..rows.len())
        .map(|i| rows.row(i).dot(&trained.weights))
        .collect();
    if scores.iter().any(|score| !score.is_finite()) {
        return Ok(None);
    }
    Ok(Some(Judged {
        auc: auc(&scores, held_out.positive())?.auc,
        collapsed: trained
            .tied
            .is_some_and(|tied| has_collapsed(train, None, tied)),
        converged: problem.algorithm.is_online() || trained.stop == "converged",
    }))
}

fn diverged(error: &anyhow::Error) -> bool {
    let of_library = |cause: &(dyn std::error::Error + 'static)| {
        let cause = cause.downcast_ref::<ubauc::Error>();
        matches!(cause, Some(ubauc::Error::Numerical { .. }))
    };
    error.chain().any(of_library)
}

/// What a rival needs and was not given, by a short search: a fifth of the examples is held out. None if it has all.
pub(crate) fn complete(
    problem: Problem,
    data: &Dataset,
    seed: u64,
    output: Output,
) -> Result<Option<Problem>> {
    let missing = problem.missing();
    if missing.is_empty() {
        return Ok(None);
    }
    let grid = product(problem, &missing)?;
    let held_out = hold_out(data.positive(), HELD_OUT, seed).with_context(|| {
        let names: Vec<String> = missing
            .iter()
            .map(|(name, _)| format!("--{name}"))
            .collect();
        let names = names.join(" and ");
        format!("cannot search for {names} in so few examples; give a value")
    })?;
    let kept: Vec<bool> = held_out.iter().map(|out| !out).collect();
    let (train, judge) = (data.part(&kept)?, data.part(&held_out)?);
    let progress = Counted::new(output, grid.len() as u64, FITS);
    let best = best_of(&grid, &train, &judge, || progress.more(1, String::new))?;
    drop(progress);
    let chosen = grid[best.index];
    let parameters = chosen.parameters();
    let told: Vec<String> = missing
        .iter()
        .filter_map(|(name, _)| {
            parameters
                .get(name)
                .map(|value| format!("{name} = {value}"))
        })
        .collect();
    output.note(format!(
        "note: {} chosen by AUC on a fifth of the examples ({:.4})",
        told.join(", "),
        best.judged.auc
    ));
    Ok(Some(chosen))
}

/// Every combination of the values, the first name varying slowest.
pub(crate) fn product<N: AsRef<str>>(
    template: Problem,
    lists: &[(N, Vec<f64>)],
) -> Result<Vec<Problem>> {
    let mut grid = vec![template];
    for (name, values) in lists {
        let name = name.as_ref();
        let mut wider = Vec::with_capacity(grid.len() * values.len());
        for problem in &grid {
            for &value in values {
                let mut problem = *problem;
                if !problem.set(name, value) {
                    let algorithm = name_of(problem.algorithm);
                    bail!("{algorithm} has no parameter '{name}' of value {value}");
                }
                wider.push(problem);
            }
        }
        grid = wider;
    }
    Ok(grid)
}

impl Problem {
    /// What is searched for, with the values that are tried, the more cautious first.
    fn missing(&self) -> Vec<(&'static str, Vec<f64>)> {
        let own = &self.own;
        let radius = self.online.steps.radius;
        let mut missing: Vec<(&'static str, Vec<f64>)> = Vec::new();
        let mut want = |name, given: Option<f64>, values: &[f64]| {
            if given.is_none() {
                missing.push((name, values.to_vec()));
            }
        };
        match self.algorithm {
            Algorithm::Solam => {
                want("zeta", own.zeta, &[0.1, 1.0, 10.0]);
                want("radius", radius, &[1.0, 3.0, 10.0]);
            }
            Algorithm::Opauc => {
                want("eta", own.eta, &[1e-3, 4e-3, 1.6e-2, 6.4e-2]);
                want("lambda", own.lambda, &[1e-4, 1e-2]);
            }
            Algorithm::OamSeq | Algorithm::OamGra => {
                want("C", own.c, &[1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2]);
            }
            Algorithm::SvmOr => want("C", own.c, &[1.0, 10.0, 100.0, 1000.0]),
            Algorithm::Svm => want("C", own.c, &[1e-3, 1e-2, 1e-1, 1.0]),
            Algorithm::BaUbauc | Algorithm::OlUbauc | Algorithm::Logistic => {}
        }
        missing
    }
}
