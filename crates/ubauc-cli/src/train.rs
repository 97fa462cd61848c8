//! `ubauc train`: a linear scoring function from examples, with its certificate.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::{Value, json};
use ubauc::atomic::{AtomicFile, is_stdout};
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Choice;
use ubauc::data::scale::Scale;
use ubauc::metrics::{auc, weighted_auc};
use ubauc::model::LinearModel;
use ubauc::model_file::SavedModel;
use ubauc::objective::ubauc::LeastSquares;
use ubauc::tune::{Verdict, most_tied};

use crate::algorithm::{Algorithm, Problem, Solver, Trained};
use crate::args::WrongUsage;
use crate::choose::{Chosen, Typed, choose_parameters};
use crate::input::{FileArg, Wanted};
use crate::output::{Facts, Output, interval, number, thousands};
use crate::scoring::{self, ClassSides};
use crate::training::{Training, TrainingArgs};
use crate::tune::kind;

/// What was typed after `ubauc train`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc train train.svm --test test.svm --model model.json\n  \
    ubauc train train.svm --beta 0.5 --gamma 1e-4 --model model.json\n  \
    ubauc train fraud.csv --label fraud --ignore id --least-squares balanced --model model.json\n  \
    ubauc train train.svm --algorithm logistic --gamma 1e-4 --json\n\n\
    Minimised is the mean of max(0, y(lambda - s)) + beta/2 (1 - ys)^2 over the examples, y = ±1\n\
    their classes and s = w.x their scores, plus gamma/2 |w|^2. The gap is the proof: no weights have\n\
    an objective smaller than this one by more than that share.\n\n\
    Without --beta or --gamma both are chosen as `ubauc tune` does, which takes a few hundred fits, and\n\
    a note tells how the choice compares with logistic regression. A beta that is too small ties\n\
    examples at the threshold lambda or makes all weights 0: a warning says so.")]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    input: FileArg,
    /// What to learn by
    #[arg(long, value_enum, default_value = "ba-ubauc")]
    algorithm: Algorithm,
    /// How ba-ubauc is minimised
    #[arg(long, value_enum, default_value = "newton")]
    solver: Solver,
    /// Weight of the least squares, above 0 [default: chosen by cross-validated AUC]
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    beta: Option<f64>,
    /// Weight of |w|²/2, at least 0 [default: chosen by cross-validated AUC; logistic: 1e-4]
    #[arg(long, value_name = "G", allow_hyphen_values = true)]
    gamma: Option<f64>,
    /// Least squares over all examples alike (plain), or each class with half of the weight (balanced) [default: plain
    /// if beta and gamma are given, else chosen with them]
    #[arg(long, value_enum)]
    least_squares: Option<LeastSquaresName>,
    /// An intercept in the least squares, not penalised; logistic always has one
    #[arg(long)]
    intercept: bool,
    /// Divide every feature by its largest absolute value (maxabs) or its standard deviation (standard) while learning;
    /// the model is for features as they are [default: none if beta and gamma are given, else maxabs]
    #[arg(long, value_enum)]
    scale: Option<ScaleName>,
    /// Stop at this relative gap; logistic: at this gradient [default: 1e-6; logistic: 1e-8]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    tolerance: Option<f64>,
    /// Stop after so many Newton steps or rounds [default: 1000; logistic and bcd: 100]
    #[arg(long, value_name = "N")]
    max_newton: Option<usize>,
    /// Judge the model on this file too: AUC with its 95 % interval
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Write the model to this file, when all is done; - is standard output
    #[arg(long, value_name = "OUT")]
    model: Option<PathBuf>,
    #[command(flatten)]
    training: TrainingArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LeastSquaresName {
    Plain,
    Balanced,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScaleName {
    None,
    Maxabs,
    Standard,
}

/// The name under which an option is typed.
fn name_of(value: impl ValueEnum) -> String {
    let known = value.to_possible_value();
    known.map_or_else(String::new, |v| v.get_name().to_string())
}

pub(crate) fn run(args: &TrainArgs, seed: u64, output: Output) -> Result<()> {
    let started = Instant::now();
    refuse_early(args, output)?;
    let Training {
        data,
        weights,
        sides,
    } = args.training.read(&args.input.file, output)?;
    let test = match &args.test {
        Some(path) => Some(read_test(args, path, &data, &sides, output)?),
        None => None,
    };
    let seconds_read = started.elapsed().as_secs_f64();

    let choosing = Instant::now();
    let (chosen, verdict) = args.choose(&data, weights.as_deref(), seed, output)?;
    let (tuned, seconds_tune) = (verdict.is_some(), choosing.elapsed().as_secs_f64());
    let problem = args.problem(chosen);
    let solving = Instant::now();
    let trained = problem.fit(&data, weights.as_deref(), output)?;
    let seconds_solve = solving.elapsed().as_secs_f64();

    let saved = saved_model(args, &problem, &trained, &data, &sides);
    let scores = saved.model.scores(data.rows());
    let (train_auc, train_ci95) = match &weights {
        None => auc(&scores, data.positive()).map(|a| (a.auc, a.ci95))?,
        Some(weights) => {
            weighted_auc(&scores, data.positive(), weights).map(|a| (a.auc, a.ci95))?
        }
    };
    let test_auc = test
        .map(|test| TestAuc::of(&saved.model, &test))
        .transpose()?;
    if let Some(path) = &args.model {
        saved.save(path)?;
    }
    warn(&trained, &problem, (&data, weights.as_deref()), output);
    let report = Report {
        algorithm: name_of(args.algorithm),
        solver: (args.algorithm == Algorithm::BaUbauc).then(|| name_of(args.solver)),
        n: data.rows().len(),
        n_pos: data.n_pos(),
        n_neg: data.n_neg(),
        d: data.rows().cols(),
        classes: data.class_names().clone(),
        beta: (args.algorithm == Algorithm::BaUbauc).then_some(problem.beta),
        gamma: problem.gamma,
        least_squares: (args.algorithm == Algorithm::BaUbauc)
            .then(|| kind(problem.least_squares).to_string()),
        scale: name_of(args.scale_name()),
        intercept: trained.intercept,
        objective: trained.objective,
        dual: trained.dual,
        gap: trained.gap,
        lambda: trained.lambda.map(midpoint),
        lambda_interval: trained.lambda,
        tied: trained.tied,
        newton: trained.newton,
        rounds: trained.rounds,
        stop: trained.stop,
        train_auc,
        train_ci95,
        test_auc,
        model: args.model.clone(),
        verdict,
        seconds: Seconds {
            read: seconds_read,
            tune: tuned.then_some(seconds_tune),
            solve: seconds_solve,
            total: started.elapsed().as_secs_f64(),
        },
    };
    if args.model.as_deref().is_some_and(is_stdout) {
        output.note(report.to_string().trim_end());
        return Ok(());
    }
    output.report(&report)
}

impl TrainArgs {
    fn scale_name(&self) -> ScaleName {
        let given =
            self.gamma.is_some() && (self.beta.is_some() || self.algorithm == Algorithm::Logistic);
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
        self.least_squares.map(|name| match name {
            LeastSquaresName::Plain => LeastSquares::Plain,
            LeastSquaresName::Balanced => LeastSquares::Balanced,
        })
    }

    /// What was typed, and the rest by tuning. Logistic regression has one parameter, with a default.
    fn choose(
        &self,
        data: &Dataset,
        weights: Option<&[f64]>,
        seed: u64,
        output: Output,
    ) -> Result<(Chosen, Option<Verdict>)> {
        let typed = Typed {
            beta: self.beta,
            gamma: self.gamma,
            least_squares: self.least_squares(),
        };
        if self.algorithm == Algorithm::Logistic {
            return Ok((typed.or_default(), None));
        }
        let how = (self.intercept, self.scale(), seed);
        choose_parameters(typed, data, weights, how, output)
            .with_context(|| self.input.file.display().to_string())
    }

    fn problem(&self, chosen: Chosen) -> Problem {
        Problem {
            algorithm: self.algorithm,
            solver: self.solver,
            beta: chosen.beta,
            gamma: chosen.gamma,
            least_squares: chosen.least_squares,
            intercept: self.intercept,
            scale: self.scale(),
            tolerance: self.tolerance,
            max_newton: self.max_newton,
        }
    }
}

/// The middle of an interval, without overflow.
fn midpoint([low, high]: [f64; 2]) -> f64 {
    low + (high - low) / 2.0
}

/// Everything that can be refused before the data are read and the long work begins.
fn refuse_early(args: &TrainArgs, output: Output) -> Result<()> {
    let wrong = |what: &str| Err(WrongUsage(what.to_string()).into());
    if args.algorithm == Algorithm::Logistic {
        if args.beta.is_some() {
            return wrong("--beta is for ba-ubauc; logistic regression has no such parameter");
        }
        if args.solver != Solver::Newton || args.least_squares.is_some() {
            return wrong("--solver and --least-squares are for ba-ubauc, not for logistic");
        }
    }
    let typed = Typed {
        beta: args.beta,
        gamma: args.gamma,
        least_squares: None,
    };
    args.problem(typed.or_default()).check()?;
    let Some(path) = &args.model else {
        return Ok(());
    };
    if is_stdout(path) {
        return if output.json {
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

fn saved_model(
    args: &TrainArgs,
    problem: &Problem,
    trained: &Trained,
    data: &Dataset,
    sides: &ClassSides,
) -> SavedModel {
    let mut parameters: BTreeMap<String, Value> = BTreeMap::new();
    let mut set = |name: &str, value: Value| parameters.insert(name.to_string(), value);
    set("gamma", json!(problem.gamma));
    set("scale", json!(name_of(args.scale_name())));
    set("tolerance", json!(problem.tolerance()));
    if args.algorithm == Algorithm::BaUbauc {
        set("beta", json!(problem.beta));
        set("least_squares", json!(kind(problem.least_squares)));
        set("intercept", json!(args.intercept));
        set("solver", json!(name_of(args.solver)));
    }
    if let Some(column) = &args.training.weight {
        set("weight", json!(column));
    }
    if let Choice::Partition(seed) = args.training.classes.choice() {
        set("partition", json!(seed));
        set(scoring::POSITIVE_CLASSES, json!(sides.positive));
        set(scoring::NEGATIVE_CLASSES, json!(sides.negative));
    }
    let certificate = [
        ("objective", json!(trained.objective)),
        ("dual", json!(trained.dual)),
        ("gap", json!(trained.gap)),
        ("stop", json!(trained.stop)),
        ("lambda", json!(trained.lambda)),
        ("tied", json!(trained.tied)),
        ("n", json!(data.rows().len())),
        ("n_pos", json!(data.n_pos())),
        ("n_neg", json!(data.n_neg())),
    ];
    SavedModel {
        model: LinearModel {
            weights: trained.weights.clone(),
            intercept: trained.intercept,
            // Of logistic regression: even odds.
            threshold: trained.lambda.map_or(0.0, midpoint),
            classes: data.class_names().clone(),
            names: data.names().to_vec(),
        },
        algorithm: name_of(args.algorithm),
        parameters,
        certificate: certificate.map(|(k, v)| (k.to_string(), v)).into(),
    }
}

/// What a user should do something about.
fn warn(
    trained: &Trained,
    problem: &Problem,
    (data, weights): (&Dataset, Option<&[f64]>),
    output: Output,
) {
    let n = match weights {
        Some(weights) => weights.iter().filter(|s| **s > 0.0).count(),
        None => data.rows().len(),
    };
    let cure = match problem.algorithm {
        Algorithm::BaUbauc => "a larger --beta or a smaller --gamma lets",
        Algorithm::Logistic => "a smaller --gamma may let",
    };
    if trained.weights.iter().all(|w| *w == 0.0) {
        output.note(format!(
            "warning: all weights are 0: every example has the same score and AUC is 0.5; {cure} \
             the features speak"
        ));
    } else if trained.tied == Some(n) {
        output.note(format!(
            "warning: all weights are 0 to within the tolerance: every example is tied at the \
             threshold, and the order of the scores means nothing; {cure} the features speak"
        ));
    } else if let Some(tied) = trained.tied.filter(|t| *t > most_tied(data, weights)) {
        let share = 100.0 * tied as f64 / n as f64;
        output.note(format!(
            "warning: {} examples ({share:.1} %) are tied at the threshold lambda: the model has \
             collapsed; a larger --beta keeps their scores apart",
            thousands(tied as u64)
        ));
    }
    match trained.stop {
        "converged" => {}
        "unproved" => output.note(
            "warning: with gamma = 0 and features that depend on each other the gap is an \
             estimate, not a proof; a small --gamma proves it",
        ),
        stop if trained.rounds.is_some() => output.note(format!(
            "warning: not converged ({stop}): block descent may stop short of the optimum; \
             --solver newton does not"
        )),
        stop => output.note(format!(
            "warning: not converged ({stop}): the gap is {}, asked for was {:e}; scale the \
             features (--scale maxabs), allow more steps (--max-newton) or a larger --tolerance",
            trained
                .gap
                .map_or("unknown".to_string(), |g| format!("{g:.1e}")),
            problem.tolerance()
        )),
    }
}

#[derive(Serialize)]
struct Seconds {
    read: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tune: Option<f64>,
    solve: f64,
    total: f64,
}

#[derive(Serialize)]
struct TestAuc {
    auc: f64,
    ci95: [f64; 2],
    n_pos: usize,
    n_neg: usize,
}

impl TestAuc {
    fn of(model: &LinearModel, test: &Dataset) -> Result<TestAuc> {
        let scores = model.scores(test.rows());
        let found = auc(&scores, test.positive())?;
        Ok(TestAuc {
            auc: found.auc,
            ci95: found.ci95,
            n_pos: found.n_pos,
            n_neg: found.n_neg,
        })
    }
}

#[derive(Serialize)]
struct Report {
    algorithm: String,
    solver: Option<String>,
    n: usize,
    n_pos: usize,
    n_neg: usize,
    d: usize,
    classes: [String; 2],
    beta: Option<f64>,
    gamma: f64,
    least_squares: Option<String>,
    scale: String,
    intercept: f64,
    objective: f64,
    dual: Option<f64>,
    gap: Option<f64>,
    lambda: Option<f64>,
    lambda_interval: Option<[f64; 2]>,
    tied: Option<usize>,
    newton: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rounds: Option<usize>,
    stop: &'static str,
    train_auc: f64,
    train_ci95: [f64; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    test_auc: Option<TestAuc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<PathBuf>,
    /// Beside logistic regression, if the parameters were chosen here.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    seconds: Seconds,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: usize| thousands(n as u64);
        let [negative, positive] = &self.classes;
        let mut facts = Facts::default();
        let solver = self.solver.as_deref();
        let solver = solver.map_or(String::new(), |s| format!(" ({s})"));
        facts.add("algorithm", format!("{}{solver}", self.algorithm));
        facts.add(
            "examples",
            format!("{}, {} features", count(self.n), count(self.d)),
        );
        let (n_pos, n_neg) = (count(self.n_pos), count(self.n_neg));
        facts.add("positive", format!("{n_pos} (class {positive})"));
        facts.add("negative", format!("{n_neg} (class {negative})"));
        let beta = self.beta.map_or(String::new(), |b| format!("beta {b}, "));
        let least_squares = self.least_squares.as_deref();
        let least_squares = least_squares.map_or(String::new(), |l| format!(", {l} least squares"));
        let (gamma, scale) = (self.gamma, &self.scale);
        facts.add(
            "parameters",
            format!("{beta}gamma {gamma}{least_squares}, scale {scale}"),
        );
        facts.add("objective", format!("{:.9}", self.objective));
        if let Some(dual) = self.dual {
            facts.add("lower bound", format!("{dual:.9}"));
        }
        if let Some(gap) = self.gap {
            facts.add("gap", format!("proved to within {gap:.1e}"));
        }
        if let Some(lambda) = self.lambda {
            facts.add("threshold", number(lambda));
        }
        if let Some(tied) = self.tied {
            facts.add("tied at it", count(tied));
        }
        let steps = match (self.newton, self.rounds) {
            (Some(n), _) => format!("{n} Newton steps"),
            (_, n) => format!("{} rounds", n.unwrap_or(0)),
        };
        facts.add("stopped", format!("{} after {steps}", self.stop));
        let with = |auc: f64, ci95| format!("{} {}", number(auc), interval(ci95));
        facts.add("training AUC", with(self.train_auc, self.train_ci95));
        if let Some(test) = &self.test_auc {
            facts.add("test AUC", with(test.auc, test.ci95));
        }
        if let Some(path) = &self.model {
            facts.add("model", path.display());
        }
        let Seconds {
            read, solve, total, ..
        } = self.seconds;
        facts.add(
            "seconds",
            format!("{total:.2} (reading {read:.2}, solving {solve:.2})"),
        );
        write!(f, "{facts}")
    }
}
