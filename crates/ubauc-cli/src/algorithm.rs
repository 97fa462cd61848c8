//! The library's algorithms on the command line: their names, and progress while they learn.

mod search;

use std::sync::Mutex;

use anyhow::{Result, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ubauc::algorithm::{self, Algorithm, FitInputs, Outcome, Spec, Start};
use ubauc::data::dataset::Dataset;
use ubauc::glass_box::{GlassBox, MapKind, TrainingTable};
use ubauc::solver::ba_ubauc::TracePoint;

use crate::args::WrongUsage;
use crate::output::Output;
use crate::progress::{PASSES, Progress, STEPS, seconds_left};
use crate::training::Training;

pub(crate) use search::{Best, Judged, best_of, complete, judged, product};

/// Reads the name of an algorithm; the help lists them all.
pub(crate) fn algorithm_parser() -> impl TypedValueParser<Value = Algorithm> {
    let value = |a: Algorithm| PossibleValue::new(a.name()).help(a.summary());
    PossibleValuesParser::new(Algorithm::all().map(value))
        .map(|name| Algorithm::named(&name).unwrap_or(Algorithm::BaUbauc))
}

/// Refuses options that were typed and that the algorithm does not have; each stands with whose it is.
pub(crate) fn refuse_foreign(
    algorithm: Algorithm,
    options: &[(&str, bool, &[Algorithm])],
) -> Result<()> {
    let foreign = |(_, typed, of): &&(&str, bool, &[Algorithm])| *typed && !of.contains(&algorithm);
    let Some((option, _, of)) = options.iter().find(foreign) else {
        return Ok(());
    };
    let names: Vec<&str> = of.iter().map(|a| a.name()).collect();
    let (owners, algorithm) = (listed(&names), algorithm.name());
    Err(WrongUsage(format!("{option} is for {owners}, not for {algorithm}")).into())
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_string(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Learns, with a progress bar if that takes long.
pub(crate) fn fit(
    spec: &Spec,
    data: &Dataset,
    weights: Option<&[f64]>,
    start: Option<Start<'_>>,
    output: Output,
) -> Result<Outcome> {
    let watch = Watch::new(spec, output);
    let progress = |progress: &algorithm::Progress| watch.show(progress);
    let inputs = FitInputs {
        weights,
        start,
        progress: Some(&progress),
        ..FitInputs::default()
    };
    Ok(algorithm::fit(data, &inputs, spec)?)
}

/// Learns a map of a table and the weights of its features, with a progress bar if that takes long.
pub(crate) fn fit_map(
    spec: &Spec,
    kind: &MapKind,
    training: &Training,
    output: Output,
) -> Result<GlassBox> {
    let (Spec::BaUbauc(of_batch), Some((table, labels))) = (spec, training.table()) else {
        bail!("only ba-ubauc of a table learns a map");
    };
    let watch = Watch::new(spec, output);
    let progress = |point: &TracePoint| watch.show(&algorithm::Progress::Newton(*point));
    let rows = TrainingTable {
        table,
        labels,
        weights: training.weights.as_deref(),
        groups: training.groups.as_deref(),
        monotone: training.monotone(),
    };
    Ok(rows.fit(kind, &of_batch.params, Some(&progress))?)
}

/// A progress bar of steps, rounds or passes.
struct Watch {
    /// With the first gap that is known.
    bar: Mutex<(Progress, Option<f64>)>,
    tolerance: f64,
}

impl Watch {
    fn new(spec: &Spec, output: Output) -> Watch {
        let bar = match spec.passes() {
            Some(passes) => Progress::new(output, Some(passes.max_passes as u64), PASSES),
            None => Progress::new(output, None, STEPS),
        };
        Watch {
            bar: Mutex::new((bar, None)),
            tolerance: spec.tolerance(),
        }
    }

    fn show(&self, progress: &algorithm::Progress) {
        use algorithm::Progress::{Newton, Pass, Round};
        let Ok(mut bar) = self.bar.lock() else { return };
        let (bar, first) = &mut *bar;
        let spent = bar.spent();
        let mut towards = |gap: Option<f64>| {
            let Some(gap) = gap else {
                return "gap unknown".to_string();
            };
            let left = seconds_left(*first.get_or_insert(gap), gap, self.tolerance, spent);
            let left = left.map_or(String::new(), |left| format!(", about {left:.0} s left"));
            format!("gap {gap:.1e}{left}")
        };
        match progress {
            Newton(point) => {
                let gap = towards(point.gap);
                bar.say(point.newton as u64, || {
                    format!("step {}, {gap}", point.newton)
                });
            }
            Round(point) => {
                let gap = towards(Some(point.gap));
                bar.say(point.round as u64, || {
                    format!("round {}, {gap}", point.round)
                });
            }
            Pass(point) => bar.say(point.pass as u64, || {
                format!("objective {:.6}", point.objective)
            }),
        }
    }
}
