//! The search of `train` and `tune`: which loss and which γ, by cross-validated AUC.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use ubauc::data::dataset::Dataset;
use ubauc::data::scale::Scale;
use ubauc::document::numbers::{p_value, thousands};
use ubauc::metrics::Criterion;
use ubauc::objective::ubauc::{ClassWeight, LeastSquares};
use ubauc::tune::{GridPoint, Setting, TuneInputs, TuneParams, Tuned, Verdict, tune};

use crate::args::WrongUsage;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::progress::Progress;

/// Options of the search, wherever it runs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct SearchArgs {
    /// What the search maximises: auc, partial-auc:F (false alarms up to a share F of the negatives) or average-precision
    /// [default: auc]
    #[arg(long, value_name = "WHAT")]
    criterion: Option<Criterion>,
    /// Folds of the cross-validation [default: 5]
    #[arg(long, value_name = "K")]
    folds: Option<u32>,
    /// How often the examples are dealt into folds [default: once; where they are fewer than 3,000 more often, 5 at most]
    #[arg(long, value_name = "R")]
    repeats: Option<u32>,
    /// Share of the examples held out for the comparison with logistic regression; 0 for none [default: 0.2]
    #[arg(long, value_name = "SHARE")]
    held_out: Option<f64>,
    /// Choose the largest γ whose mean AUC is within one standard error of the best, in place of the best
    #[arg(long)]
    one_standard_error: bool,
    /// Begin no more fits of the search after this many seconds, and take the best so far
    #[arg(long, value_name = "SECONDS")]
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
        let default = TuneParams::default();
        let time_limit = match self.time_limit {
            Some(seconds) => Some(Duration::try_from_secs_f64(seconds).map_err(|_| {
                WrongUsage(format!(
                    "--time-limit {seconds}: must be a number of seconds"
                ))
            })?),
            None => None,
        };
        let settings = loss.settings();
        let hinge = settings.iter().all(|s| s.softness == 0.0);
        let gammas = match (loss.gammas.is_empty(), hinge) {
            (false, _) => loss.gammas.clone(),
            (true, false) => default.gammas,
            (true, true) => TuneParams::of_hinge().gammas,
        };
        let params = TuneParams {
            settings,
            gammas,
            extend: loss.gammas.is_empty() && !hinge,
            race: !hinge,
            criterion: self.criterion.unwrap_or_default(),
            folds: self.folds.unwrap_or(default.folds),
            repeats: self.repeats.or(if hinge { Some(1) } else { None }),
            held_out: self.held_out.unwrap_or(default.held_out),
            one_standard_error: self.one_standard_error,
            seed,
            intercept: loss.intercept,
            scale: Scale::None,
            time_limit,
            ..default
        };
        params.check()?;
        Ok(params)
    }
}

/// What was typed of the loss; nothing is what the search tries by itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct LossGrid {
    pub(crate) betas: Vec<f64>,
    pub(crate) gammas: Vec<f64>,
    pub(crate) softness: Vec<f64>,
    pub(crate) class_weights: Vec<ClassWeight>,
    pub(crate) least_squares: Vec<LeastSquares>,
    pub(crate) intercept: bool,
}

impl LossGrid {
    /// Nothing typed: the settings of the library. β or least squares typed, and no softness: the paper's hinge.
    /// Otherwise everything typed times what suits it.
    fn settings(&self) -> Vec<Setting> {
        let or = |typed: &[f64], default: &[f64]| match typed.is_empty() {
            true => default.to_vec(),
            false => typed.to_vec(),
        };
        let both = [ClassWeight::None, ClassWeight::Balanced];
        let weights = |default: &[ClassWeight]| match self.class_weights.is_empty() {
            true => default.to_vec(),
            false => self.class_weights.clone(),
        };
        let hinge = match self.softness.is_empty() {
            true => !self.betas.is_empty() || !self.least_squares.is_empty(),
            false => self.softness.iter().all(|k| *k == 0.0),
        };
        if hinge {
            let default = TuneParams::of_hinge();
            let betas: Vec<f64> = default.settings.iter().map(|s| s.beta).collect();
            let kinds = match self.least_squares.is_empty() {
                true => vec![LeastSquares::Plain, LeastSquares::Balanced],
                false => self.least_squares.clone(),
            };
            let betas = distinct(&or(&self.betas, &betas));
            let of = |&w: &ClassWeight| Setting::hinges(&betas, &kinds, w);
            return weights(&both[..1]).iter().flat_map(of).collect();
        }
        if self.softness.is_empty() {
            let allowed = weights(&both);
            let defaults = Setting::defaults().into_iter();
            return defaults
                .filter(|s| allowed.contains(&s.class_weight))
                .collect();
        }
        let kinds = match self.least_squares.is_empty() {
            true => vec![LeastSquares::Plain],
            false => self.least_squares.clone(),
        };
        let mut settings = Vec::new();
        for &class_weight in &weights(&both) {
            for &softness in &self.softness {
                for &beta in &or(&self.betas, &[0.0, 0.1, 0.5]) {
                    for &least_squares in &kinds {
                        settings.push(Setting {
                            beta,
                            softness,
                            class_weight,
                            least_squares,
                        });
                    }
                }
            }
        }
        // Of the values that nobody typed the hinge has no β = 0.
        if self.betas.is_empty() {
            settings.retain(|s| s.beta > 0.0 || s.softness > 0.0);
        }
        settings
    }
}

fn distinct(of: &[f64]) -> Vec<f64> {
    let mut distinct: Vec<f64> = Vec::new();
    for &x in of {
        if !distinct.contains(&x) {
            distinct.push(x);
        }
    }
    distinct
}

/// Searches with a progress bar; the answer tells what was cut short.
pub(crate) fn search(
    data: &Dataset,
    (weights, groups): (Option<&[f64]>, Option<&[u32]>),
    params: &TuneParams,
    args: &SearchArgs,
    output: Output,
) -> Result<Tuned> {
    let stop = AtomicBool::new(false);
    let interrupt = match args.on_interrupt {
        Some(OnInterrupt::Best) => Some(Interrupt::watch()?),
        Some(OnInterrupt::Nothing) | None => None,
    };
    let fits = "{wide_bar} {pos} of about {len} fits, {eta} left";
    let bar: Mutex<Option<(usize, Progress)>> = Mutex::new(None);
    let advance = |done: usize, total: usize| {
        if interrupt.as_ref().is_some_and(Interrupt::has_come) {
            stop.store(true, Ordering::Relaxed);
        }
        if let Ok(mut bar) = bar.lock() {
            let new = || (0, Progress::new(output, Some(total as u64), fits));
            let (most, bar) = bar.get_or_insert_with(new);
            *most = done.max(*most);
            bar.of(*most as u64, total as u64);
        }
    };
    let inputs = TuneInputs {
        weights,
        groups,
        progress: Some(&advance),
        stop: Some(&stop),
    };
    let tuned = tune(data, &inputs, params).map_err(say_what_to_type)?;
    drop(bar);
    if tuned.cut_short {
        let why = match stop.load(Ordering::Relaxed) {
            true => "interrupted",
            false => "the time is up",
        };
        let tried = thousands(tuned.points.len() as u64);
        output.note(format!(
            "note: {why}; the best of {tried} points that were tried so far is taken"
        ));
    }
    Ok(tuned)
}

/// The library's errors in the words of the command line. What depends on the data is no wrong usage.
fn say_what_to_type(error: ubauc::Error) -> anyhow::Error {
    match error {
        ubauc::Error::Parameter {
            name: "betas",
            must,
            value,
        } => anyhow!("--betas {value}: must be {must}"),
        ubauc::Error::Classes { what } => anyhow!("{what} (--folds)"),
        other => other.into(),
    }
}

/// The options of `ubauc train` for a point, without its scale.
pub(crate) fn options_of(point: &GridPoint, intercept: bool) -> String {
    let Setting {
        beta,
        softness,
        class_weight,
        least_squares,
    } = point.setting;
    if point.setting.is_logistic() && softness == 1.0 {
        return format!("--algorithm logistic --gamma {:e}", point.gamma);
    }
    let mut options = format!("--beta {beta} --gamma {:e}", point.gamma);
    if softness > 0.0 {
        options += &format!(" --softness {softness}");
    }
    if class_weight != ClassWeight::None {
        options += &format!(" --class-weight {}", class_weight.name());
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
    let balanced = match setting.class_weight {
        ClassWeight::None => "",
        ClassWeight::Balanced => ", balanced classes",
    };
    let loss = match (setting.beta == 0.0, setting.softness == 0.0) {
        (true, _) => "logistic regression".to_string(),
        (false, true) => format!(
            "the hinge with beta {} and {} least squares",
            setting.beta,
            kind(setting.least_squares)
        ),
        (false, false) => format!("beta {}, softness {}", setting.beta, setting.softness),
    };
    loss + balanced
}

/// How both did on the examples that neither has seen.
pub(crate) fn comparison(verdict: &Verdict) -> String {
    let Verdict {
        ours,
        logistic,
        test,
        is_logistic,
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
