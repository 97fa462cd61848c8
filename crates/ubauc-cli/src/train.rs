//! `ubauc train`: a linear scoring function from examples, with its certificate.

mod initial_model;
mod online;
mod options;
mod report;
mod rivals;
mod saved_model;
mod warnings;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use ubauc::algorithm::{Algorithm, Solver, Spec};
use ubauc::atomic::{AtomicFile, is_stdout};
use ubauc::data::dataset::Dataset;
use ubauc::data::scale::Scale;
use ubauc::metrics::{auc, weighted_auc};
use ubauc::objective::ubauc::LeastSquares;
use ubauc::solver::ba_ubauc::BaUbaucParams;
use ubauc::solver::ol_ubauc::OlUbaucParams;
use ubauc::tune::Verdict;

use crate::algorithm::{algorithm_parser, complete, fit};
use crate::args::{InterceptArgs, WrongUsage};
use crate::choose::{Chosen, Typed, choose_parameters};
use crate::input::{FileArg, Wanted};
use crate::names::{LeastSquaresName, name_of};
use crate::output::Output;
use crate::scoring::{self, ClassSides};
use crate::training::{Training, TrainingArgs};
use crate::tune::kind;
use initial_model::InitialModel;
use online::OnlineArgs;
use report::{Report, Seconds, TestAuc};
use rivals::RivalArgs;
use saved_model::saved_model;
use warnings::warn;

/// What was typed after `ubauc train`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc train train.svm --test test.svm --model model.json\n  \
    ubauc train train.svm --beta 0.5 --gamma 1e-4 --model model.json\n  \
    ubauc train fraud.csv --label fraud --ignore id --least-squares balanced --model model.json\n  \
    ubauc train train.svm --algorithm logistic --gamma 1e-4 --json\n  \
    ubauc train train.svm --algorithm ol-ubauc --passes 20 --model model.json\n\n\
    Minimised is the mean of max(0, y(lambda - s)) + beta/2 (1 - ys)^2 over the examples, y = ±1\n\
    their classes and s = w.x + b their scores, plus gamma/2 |w|^2. The gap is the certificate: no weights have\n\
    an objective smaller than this one by more than that share.\n\n\
    Without --beta or --gamma both are chosen as `ubauc tune` does, which takes a few hundred fits, and\n\
    a note tells how the choice compares with logistic regression. A beta that is too small ties\n\
    examples at the threshold lambda or makes all weights 0: a warning says so.\n\n\
    ol-ubauc minimises the same by passes of the online learner, one step an example. It has no gap and\n\
    chooses nothing: `ubauc tune` finds the beta and gamma that are best for both.")]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    input: FileArg,
    /// What to learn by
    #[arg(long, value_parser = algorithm_parser(), default_value = Algorithm::BaUbauc.name())]
    algorithm: Algorithm,
    /// How ba-ubauc is minimised
    #[arg(long, value_enum, default_value = "newton")]
    solver: SolverName,
    /// Weight of the least squares, above 0 [default: chosen by cross-validated AUC; ol-ubauc: 0.5]
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    beta: Option<f64>,
    /// Weight of |w|²/2, at least 0 [default: chosen by cross-validated AUC; ol-ubauc and logistic: 1e-4]
    #[arg(long, value_name = "G", allow_hyphen_values = true)]
    gamma: Option<f64>,
    /// Least squares over all examples alike (plain), or each class with half of the weight (balanced) [default: plain
    /// if beta and gamma are given or for ol-ubauc, else chosen with them]
    #[arg(long, value_enum)]
    least_squares: Option<LeastSquaresName>,
    #[command(flatten)]
    intercept: InterceptArgs,
    /// Divide every feature by its largest absolute value (maxabs; that of its distance from the mean where there is an
    /// intercept) or its standard deviation (standard) while learning; the model is for features as they are [default: none if beta and gamma are given, else maxabs;
    /// ol-ubauc: maxabs]
    #[arg(long, value_enum)]
    scale: Option<ScaleName>,
    /// Stop at this relative gap; logistic: at this gradient; online learners: when a pass changes the objective by less
    /// than this share [default: 1e-6; svm-or and svm: 1e-4; logistic: 1e-8; online learners: 1e-7]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    tolerance: Option<f64>,
    /// Stop after this many Newton steps or rounds [default: 1000; svm-or: 2000; logistic and bcd: 100]
    #[arg(long, value_name = "N")]
    max_newton: Option<usize>,
    /// Judge the model on this file too: AUC with its 95 % interval
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Write the model to this file, when all is done; - is standard output
    #[arg(long, value_name = "OUT")]
    model: Option<PathBuf>,
    /// Start from this model; the optimum of ba-ubauc and logistic does not depend on it. The first steps of ol-ubauc are
    /// as large as without it unless --eta0 is small
    #[arg(long, value_name = "MODEL")]
    initial_model: Option<PathBuf>,
    /// Take the features of --initial-model by position, though it knows its columns by name; svmlight has no names
    #[arg(long, requires = "initial_model")]
    by_position: bool,
    /// Put every step, round or pass into the JSON, as "trace"
    #[arg(long)]
    trace: bool,
    #[command(flatten)]
    online: OnlineArgs,
    #[command(flatten)]
    rivals: RivalArgs,
    #[command(flatten)]
    training: TrainingArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SolverName {
    /// Augmented Lagrangian and semismooth Newton steps
    Newton,
    /// The paper's block descent, for small data; it may stop short of the optimum
    #[cfg(feature = "bcd")]
    Bcd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScaleName {
    None,
    Maxabs,
    Standard,
}

pub(crate) fn run(args: &TrainArgs, seed: u64, output: Output) -> Result<()> {
    let started = Instant::now();
    refuse_early(args, seed, output)?;
    let load = |path: &Path| InitialModel::load(path, args.by_position);
    let initial = args.initial_model.as_deref().map(load);
    let mut initial = initial.transpose()?;
    let Training {
        data,
        weights,
        sides,
    } = args.training.read(&args.input.file, output)?;
    let test = match &args.test {
        Some(path) => Some(read_test(args, path, &data, &sides, output)?),
        None => None,
    };
    if let Some(initial) = &mut initial {
        initial.align(&data, &args.input.file, output)?;
    }
    let seconds_read = started.elapsed().as_secs_f64();

    let choosing = Instant::now();
    let choice = args.choose(&data, weights.as_deref(), seed, output)?;
    let spec = choice.spec;
    let seconds_tune = choosing.elapsed().as_secs_f64();
    let has_intercept = args.intercept.intercept() || args.algorithm == Algorithm::Logistic;
    let start = initial.as_ref().map(|model| model.start(has_intercept));
    let solving = Instant::now();
    let trained = fit(&spec, &data, weights.as_deref(), start, output)?;
    let seconds_solve = solving.elapsed().as_secs_f64();

    let saved = saved_model(args, &spec, &trained, &data, &sides)?;
    let scores = saved.model.scores(data.rows())?;
    let (train_auc, train_ci95) = auc_of(&scores, &data, weights.as_deref())?;
    let test_auc = test
        .map(|test| TestAuc::of(&saved.model, &test))
        .transpose()?;
    // Hours of work are reported even if the disk is full; the error comes after the report.
    let written = args
        .model
        .as_deref()
        .map_or(Ok(()), |path| saved.save(path));
    warn(&trained, &spec, (&data, weights.as_deref()), output);
    let report = Report {
        algorithm: args.algorithm.name().to_string(),
        solver: (args.algorithm == Algorithm::BaUbauc).then(|| name_of(args.solver)),
        n: data.rows().len(),
        n_pos: data.n_pos(),
        n_neg: data.n_neg(),
        d: data.rows().cols(),
        classes: data.class_names().clone(),
        beta: spec.beta(),
        gamma: spec.gamma(),
        own: (args.algorithm.is_rival()).then(|| spec.parameters()),
        least_squares: spec.least_squares().map(|of| kind(of).to_string()),
        scale: spec.scale().name().to_string(),
        intercept: trained.intercept,
        objective: trained.objective,
        dual: trained.dual,
        gap: trained.gap,
        lambda: trained.lambda.map(midpoint),
        lambda_interval: trained.lambda,
        tied: trained.tied,
        newton: trained.newton,
        rounds: trained.rounds,
        passes: trained.passes,
        online: args.online.report_of(&spec, trained.eta0),
        stop: trained.stop.name(),
        train_auc,
        train_ci95,
        test_auc,
        model: args.model.clone().filter(|_| written.is_ok()),
        verdict: choice.verdict,
        trace: args.trace.then_some(trained.trace),
        seconds: Seconds {
            read: seconds_read,
            tune: choice.searched.then_some(seconds_tune),
            solve: seconds_solve,
            total: started.elapsed().as_secs_f64(),
        },
    };
    let reported = print(args, &report, output);
    written?;
    reported
}

/// To standard output, unless the model goes there.
fn print(args: &TrainArgs, report: &Report, output: Output) -> Result<()> {
    if args.model.as_deref().is_some_and(is_stdout) {
        output.report_aside(report);
        return Ok(());
    }
    output.report(report)
}

/// What is fitted, and how it was come by.
struct Choice {
    spec: Spec,
    /// By a search, which took time.
    searched: bool,
    verdict: Option<Verdict>,
}

impl TrainArgs {
    fn scale_name(&self) -> ScaleName {
        let given = match self.algorithm {
            Algorithm::BaUbauc => self.gamma.is_some() && self.beta.is_some(),
            Algorithm::Logistic => self.gamma.is_some(),
            _ => false,
        };
        self.scale.unwrap_or(if given {
            ScaleName::None
        } else {
            ScaleName::Maxabs
        })
    }

    fn scale(&self) -> Scale {
        match self.scale_name() {
            ScaleName::None => Scale::None,
            ScaleName::Maxabs => Scale::MaxAbs,
            ScaleName::Standard => Scale::Standard,
        }
    }

    fn least_squares(&self) -> Option<LeastSquares> {
        self.least_squares.map(Into::into)
    }

    /// What was typed, and the rest by tuning or, for the rivals, by a short search. Logistic regression has one
    /// parameter, with a default; and nobody takes the online learner to wait for a few hundred fits of the other.
    fn choose(
        &self,
        data: &Dataset,
        weights: Option<&[f64]>,
        seed: u64,
        output: Output,
    ) -> Result<Choice> {
        let in_file = || self.input.file.display().to_string();
        let typed = Typed {
            beta: self.beta,
            gamma: self.gamma,
            least_squares: self.least_squares(),
        };
        if self.algorithm != Algorithm::BaUbauc {
            let spec = self.spec(typed.or_default(), seed);
            let mut given = self.rivals.given();
            given.extend(self.online.radius.map(|_| "radius"));
            let found = complete(spec, &given, data, seed, output).with_context(in_file)?;
            return Ok(Choice {
                searched: found.is_some(),
                spec: found.unwrap_or(spec),
                verdict: None,
            });
        }
        let how = (self.intercept.intercept(), self.scale(), seed);
        let (chosen, verdict) =
            choose_parameters(typed, data, weights, how, output).with_context(in_file)?;
        Ok(Choice {
            spec: self.spec(chosen, seed),
            searched: verdict.is_some(),
            verdict,
        })
    }

    fn spec(&self, chosen: Chosen, seed: u64) -> Spec {
        let mut spec = Spec::new(self.algorithm);
        match &mut spec {
            Spec::BaUbauc(spec) => {
                spec.params = BaUbaucParams {
                    beta: chosen.beta,
                    gamma: chosen.gamma,
                    least_squares: chosen.least_squares,
                    intercept: self.intercept.intercept(),
                    max_newton: self.max_newton.unwrap_or(spec.params.max_newton),
                    ..spec.params
                };
                spec.solver = self.solver();
            }
            Spec::OlUbauc(spec) => {
                spec.params = OlUbaucParams {
                    beta: chosen.beta,
                    gamma: chosen.gamma,
                    least_squares: chosen.least_squares,
                    intercept: self.intercept.intercept(),
                    ..self.online.steps()
                };
                spec.finds_eta0 = self.online.eta0.is_none();
            }
            Spec::Logistic(spec) => {
                spec.params.gamma = chosen.gamma;
                spec.params.max_newton = self.max_newton.unwrap_or(spec.params.max_newton);
            }
            Spec::SvmOr(spec) => {
                spec.params.max_rounds = self.max_newton.unwrap_or(spec.params.max_rounds);
            }
            Spec::Solam(spec) => {
                spec.params.radius = self.online.radius.unwrap_or(spec.params.radius);
            }
            Spec::Opauc(_) | Spec::OamSeq(_) | Spec::OamGra(_) | Spec::Svm(_) => {}
        }
        self.rivals.apply(&mut spec);
        if let Some(tolerance) = self.tolerance {
            spec.set("tolerance", tolerance);
        }
        if let Some(passes) = self.online.passes {
            spec.set_passes(passes);
        }
        if let Some(passes) = spec.passes_mut() {
            passes.shuffle = !self.online.no_shuffle;
        }
        spec.set_seed(seed);
        spec.set_scale(self.scale());
        spec
    }

    fn solver(&self) -> Solver {
        match self.solver {
            SolverName::Newton => Solver::Newton,
            #[cfg(feature = "bcd")]
            SolverName::Bcd => {
                let default = ubauc::solver::ba_ubauc::bcd::BcdParams::default();
                let max_rounds = self.max_newton.unwrap_or(default.max_rounds);
                Solver::Bcd { max_rounds }
            }
        }
    }
}

/// AUC on the training data, with its interval.
fn auc_of(scores: &[f64], data: &Dataset, weights: Option<&[f64]>) -> Result<(f64, [f64; 2])> {
    let positive = data.positive();
    Ok(match weights {
        None => auc(scores, positive).map(|a| (a.auc, a.ci95))?,
        Some(weights) => weighted_auc(scores, positive, weights).map(|a| (a.auc, a.ci95))?,
    })
}

/// The middle of an interval, without overflow.
fn midpoint([low, high]: [f64; 2]) -> f64 {
    low + (high - low) / 2.0
}

/// Everything that can be refused before the data are read and the long work begins.
fn refuse_early(args: &TrainArgs, seed: u64, output: Output) -> Result<()> {
    let wrong = |what: &str| Err(WrongUsage(what.to_string()).into());
    args.refuse_options_of_others()?;
    if args.trace && !output.json() {
        return wrong("--trace is for the JSON report; give --json too");
    }
    let typed = Typed {
        beta: args.beta,
        gamma: args.gamma,
        least_squares: None,
    };
    args.spec(typed.or_default(), seed).check()?;
    let Some(path) = &args.model else {
        return Ok(());
    };
    if is_stdout(path) {
        return if output.json() {
            wrong("--json and --model - both write to standard output; name a file for the model")
        } else {
            Ok(())
        };
    }
    let mut inputs = vec![args.input.file.as_path()];
    inputs.extend(args.test.as_deref());
    scoring::refuse_overwriting(path, &inputs, "--model")?;
    // A pipe or a device is opened once, at the end.
    if path.metadata().map_or(true, |m| m.is_file() || m.is_dir()) {
        drop(AtomicFile::create(path)?);
    }
    Ok(())
}

fn read_test(
    args: &TrainArgs,
    path: &Path,
    data: &Dataset,
    sides: &ClassSides,
    output: Output,
) -> Result<Dataset> {
    let names = data.names();
    let wanted = Wanted {
        columns: (!names.is_empty()).then(|| names.to_vec()),
        missing_zero: true,
        ..Wanted::default()
    };
    let examples = args.training.format.read(path, wanted, output)?;
    scoring::note_beyond(data.rows().cols(), examples.rows.cols(), path, output);
    let in_file = || path.display().to_string();
    let labels = sides.apply(&examples.labels).with_context(in_file)?;
    Dataset::new(examples.rows, labels, examples.names).with_context(in_file)
}
