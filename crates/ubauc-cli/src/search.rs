//! The search of `train` and `tune`: which loss and which γ, by cross-validated AUC.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use ubauc::data::scale::Scale;
use ubauc::document::numbers::{p_value, thousands};
use ubauc::features::ColumnMap;
use ubauc::glass_box::MapKind;
use ubauc::many_classes::Classes;
use ubauc::metrics::Criterion;
use ubauc::objective::loss::Loss;
use ubauc::objective::ubauc::{ClassWeight, LeastSquares};
use ubauc::tune::{
    ClassRows, GridPoint, LossGrid, MapTrial, Setting, TuneInputs, TuneParams, Tuned, TunedMaps,
    Verdict, tune, tune_classes, tune_maps, tune_table,
};

use crate::args::WrongUsage;
use crate::feature_args::{Plan, options_of_map};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::progress::Progress;
use crate::training::{Mapped, Training};

/// Options of the search, wherever it runs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct SearchArgs {
    /// What the search maximises: auc, partial-auc:F (false alarms up to a share F of the negatives; class weights about 1/F
    /// are tried, too) or average-precision [default: auc]
    #[arg(long, value_name = "WHAT")]
    pub(crate) criterion: Option<Criterion>,
    /// Folds of the cross-validation, all of which are judged [default: 5, of which as many are judged as it takes for 2,000
    /// examples of each class, 3 at least]
    #[arg(long, value_name = "K")]
    folds: Option<u32>,
    /// How often the examples are split into folds [default: once; where they are fewer than 3,000 more often, 5 at most]
    #[arg(long, value_name = "R")]
    repeats: Option<u32>,
    /// Share of the examples held out for the comparison with logistic regression; 0 for none [default: 0.2]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) held_out: Option<f64>,
    /// Choose the largest γ whose mean AUC is within one standard error of the best, in place of the best
    #[arg(long)]
    one_standard_error: bool,
    /// Begin no more fits of the search after this many seconds, and take the best so far
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    time_limit: Option<f64>,
    /// What Ctrl-C does during the search: nothing is kept, or the best so far is taken [default: nothing]
    #[arg(long, value_name = "WHAT", value_enum)]
    on_interrupt: Option<OnInterrupt>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnInterrupt {
    /// Go on with the best so far
    Best,
    /// End at once
    Nothing,
}

impl SearchArgs {
    /// The first option that was typed.
    pub(crate) fn typed(&self) -> Option<&'static str> {
        let options = [
            ("--criterion", self.criterion.is_some()),
            ("--folds", self.folds.is_some()),
            ("--repeats", self.repeats.is_some()),
            ("--held-out", self.held_out.is_some()),
            ("--one-standard-error", self.one_standard_error),
            ("--time-limit", self.time_limit.is_some()),
            ("--on-interrupt", self.on_interrupt.is_some()),
        ];
        options.iter().find(|o| o.1).map(|o| o.0)
    }

    /// The parameters of the search for what was typed of the loss.
    pub(crate) fn params(&self, loss: &LossGrid, seed: u64) -> Result<TuneParams> {
        let criterion = self.criterion.unwrap_or_default();
        let default = loss.params_for(criterion);
        let time_limit = match self.time_limit {
            Some(seconds) => Some(Duration::try_from_secs_f64(seconds).map_err(|_| {
                WrongUsage(format!(
                    "--time-limit {seconds}: must be a number of seconds"
                ))
            })?),
            None => None,
        };
        let params = TuneParams {
            folds: self.folds.unwrap_or(default.folds),
            repeats: self.repeats.or(default.repeats),
            enough_per_class: match self.folds.or(self.repeats) {
                Some(_) => None,
                None => default.enough_per_class,
            },
            held_out: self.held_out.unwrap_or(default.held_out),
            one_standard_error: self.one_standard_error,
            seed,
            time_limit,
            ..default
        };
        params.check()?;
        Ok(params)
    }
}

/// What to search, and for whom.
pub(crate) struct Task<'a> {
    pub(crate) params: &'a TuneParams,
    pub(crate) plan: &'a Plan,
    pub(crate) args: &'a SearchArgs,
    /// Many classes, whose scorers share what is chosen.
    pub(crate) classes: Option<&'a Classes<'a>>,
    /// The name of the option for β, which errors may recommend.
    pub(crate) beta_option: &'static str,
}

/// Searches with a progress bar; the answer tells what was cut short.
pub(crate) fn search(training: &Training, task: &Task<'_>, output: Output) -> Result<TunedMaps> {
    let stop = AtomicBool::new(false);
    let interrupt = match task.args.on_interrupt {
        Some(OnInterrupt::Best) => Some(Interrupt::watch()?),
        Some(OnInterrupt::Nothing) | None => None,
    };
    let bar = Mutex::new(Fits::default());
    let advance = |done: usize, total: usize| {
        if interrupt.as_ref().is_some_and(Interrupt::has_come) {
            stop.store(true, Ordering::Relaxed);
        }
        if let Ok(mut bar) = bar.lock() {
            bar.advance(done, total, output);
        }
    };
    let inputs = TuneInputs {
        weights: training.weights.as_deref(),
        groups: training.groups.as_deref(),
        monotone: training.monotone(),
        progress: Some(&advance),
        stop: Some(&stop),
    };
    let tuned = run(training, task, &inputs);
    let tuned = tuned.map_err(|error| say_what_to_type(error, task.beta_option))?;
    drop(bar);
    if tuned.cut_short {
        let why = match stop.load(Ordering::Relaxed) {
            true => "interrupted",
            false => "the time limit was reached",
        };
        let tried: usize = tuned.trials.iter().map(|t| t.tuned.points.len()).sum();
        let tried = thousands(tried as u64);
        output.note(format!(
            "note: {why}; the best of {tried} points that were tried so far is taken"
        ));
    }
    Ok(tuned)
}

/// A bar that goes on from map to map, each of which counts its fits from 1.
#[derive(Default)]
struct Fits {
    bar: Option<Progress>,
    before: usize,
    most: usize,
}

impl Fits {
    fn advance(&mut self, done: usize, total: usize, output: Output) {
        let fits = "{wide_bar} {pos} of about {len} fits, {eta} left";
        if done == 1 {
            self.before += self.most;
            self.most = 0;
        }
        self.most = done.max(self.most);
        let total = (self.before + total) as u64;
        let bar = self
            .bar
            .get_or_insert_with(|| Progress::new(output, Some(total), fits));
        bar.of((self.before + self.most) as u64, total);
    }
}

/// Over maps where that is the plan and there is a table; otherwise with the features at hand.
fn run(training: &Training, task: &Task<'_>, inputs: &TuneInputs<'_>) -> ubauc::Result<TunedMaps> {
    if let Some(classes) = task.classes {
        return of_classes(training, classes, task.params, inputs);
    }
    let maps = match task.plan {
        Plan::Search(maps) => Some(Some(maps.as_slice())),
        Plan::Suited => Some(None),
        Plan::Linear | Plan::Map(_) => None,
    };
    if let (Some(maps), Some((table, labels))) = (maps, training.table()) {
        // Maps scale their numbers themselves.
        let params = TuneParams {
            scale: Scale::None,
            ..task.params.clone()
        };
        return tune_maps(table, labels, inputs, &params, maps);
    }
    let started = Instant::now();
    let tuned = match &training.mapped {
        None => tune(&training.data, inputs, task.params)?,
        Some(Mapped { table, labels, .. }) => {
            tune_table(table, labels, inputs, task.params, &ColumnMap::learn)?
        }
    };
    Ok(of_linear(tuned, started))
}

/// One search for the scorers of all classes.
fn of_classes(
    training: &Training,
    classes: &Classes<'_>,
    params: &TuneParams,
    inputs: &TuneInputs<'_>,
) -> ubauc::Result<TunedMaps> {
    let started = Instant::now();
    let rows = match &training.mapped {
        None => ClassRows::Rows(&training.data),
        Some(Mapped { table, .. }) => ClassRows::Table(table, &ColumnMap::learn),
    };
    let tuned = tune_classes(rows, classes, inputs, params)?;
    Ok(of_linear(tuned, started))
}

/// What was found of the features at hand.
fn of_linear(tuned: Tuned, started: Instant) -> TunedMaps {
    TunedMaps {
        chosen: 0,
        left_out: Vec::new(),
        verdict: tuned.verdict.clone(),
        cut_short: tuned.cut_short,
        trials: vec![MapTrial {
            map: MapKind::Linear,
            tuned,
            seconds: started.elapsed().as_secs_f64(),
        }],
    }
}

/// The library's errors in the words of the command line. What depends on the data is no wrong usage.
fn say_what_to_type(error: ubauc::Error, beta_option: &str) -> anyhow::Error {
    match error {
        ubauc::Error::Parameter {
            name: "betas",
            value,
            ..
        } => anyhow!(
            "every model collapsed, with all weights 0 or a mass of examples tied at the threshold \
             (beta {value}); give a larger {beta_option} or --softness 1; if no value helps, the features do \
             not distinguish the classes"
        ),
        ubauc::Error::Classes { what } => anyhow!("{what} (--folds)"),
        other => other.into(),
    }
}

/// The options of `ubauc train` for a point with a map; the scale is that of the linear map.
pub(crate) fn options_of(
    (map, point): (&MapKind, &GridPoint),
    intercept: bool,
    scale: Scale,
) -> String {
    match map {
        MapKind::Linear => format!(
            "{} --scale {}",
            linear_options(point, intercept),
            scale.name()
        ),
        map => loss_options(point, intercept) + &options_of_map(map),
    }
}

fn linear_options(point: &GridPoint, intercept: bool) -> String {
    if point.setting.is_logistic() && point.setting.softness == 1.0 {
        return format!("--algorithm logistic --gamma {:e}", point.gamma);
    }
    loss_options(point, intercept)
}

fn loss_options(point: &GridPoint, intercept: bool) -> String {
    let Setting {
        beta,
        softness,
        class_weight,
        least_squares,
    } = point.setting;
    let mut options = format!("--beta {beta} --gamma {:e}", point.gamma);
    if softness > 0.0 {
        options += &format!(" --softness {softness}");
    }
    if class_weight != ClassWeight::None {
        options += &format!(" --class-weight {class_weight}");
    }
    if softness == 0.0 || least_squares != LeastSquares::Plain {
        options += &format!(" --least-squares {}", kind(least_squares));
    }
    if !intercept {
        options += " --no-intercept";
    }
    options
}

/// As people read it.
pub(crate) fn criterion_name(criterion: Criterion) -> String {
    match criterion {
        Criterion::Auc => "AUC".to_string(),
        other => other.to_string(),
    }
}

/// A setting in words.
pub(crate) fn described(setting: &Setting) -> String {
    let loss = match setting.loss() {
        _ if setting.beta == 0.0 => "logistic regression".to_string(),
        Loss::Hinge => format!(
            "the hinge with beta {} and {} least squares",
            setting.beta,
            kind(setting.least_squares)
        ),
        Loss::Soft { softness } => format!("beta {}, softness {softness}", setting.beta),
    };
    match setting.class_weight.described() {
        Some(weight) => format!("{loss}, {weight}"),
        None => loss,
    }
}

/// How both did on the examples that neither has seen.
pub(crate) fn comparison(verdict: &Verdict) -> String {
    let Verdict {
        ours,
        logistic,
        test,
        is_logistic,
        ..
    } = verdict;
    let n = thousands((ours.n_pos + ours.n_neg) as u64);
    if *is_logistic {
        return format!(
            "the choice is logistic regression itself, with an AUC of {:.4} on {n} examples held out",
            ours.auc
        );
    }
    format!(
        "on {n} examples held out the choice has an AUC of {:.4} and logistic regression {:.4} \
         (difference {:+.4}, 95 % interval {:+.4} to {:+.4}, p {})",
        ours.auc,
        logistic.auc,
        test.difference,
        test.ci95[0],
        test.ci95[1],
        p_value(test.p)
    )
}

pub(crate) fn kind(kind: LeastSquares) -> &'static str {
    match kind {
        LeastSquares::Plain => "plain",
        LeastSquares::Balanced => "balanced",
    }
}

/// Refuses options of the search where nothing is searched.
pub(crate) fn refuse_without_search(args: &SearchArgs) -> Result<()> {
    if let Some(option) = args.typed() {
        bail!(WrongUsage(format!(
            "{option} is for the search, which chooses what is not given; leave out --beta or --gamma"
        )));
    }
    Ok(())
}
