//! `ubauc train`: a linear scoring function from examples, with its certificate.

mod initial_model;
mod many;
mod many_page;
mod online;
mod options;
mod page;
mod report;
mod rivals;
mod saved_model;
mod test_file;
mod warnings;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use ubauc::algorithm::{Algorithm, Outcome, Solver, Spec};
use ubauc::atomic::{AtomicFile, is_stdout};
use ubauc::data::dataset::Dataset;
use ubauc::data::rows::Rows;
use ubauc::data::scale::Scale;
use ubauc::glass_box::MapKind;
use ubauc::metrics::{Auc, Sample, weighted_auc};
use ubauc::objective::loss::Loss;
use ubauc::objective::ubauc::ClassWeight;
use ubauc::solver::ba_ubauc::BaUbaucParams;
use ubauc::solver::ol_ubauc::OlUbaucParams;
use ubauc::tune::{GridPoint, LossGrid, Setting, TuneParams, TunedMaps, Verdict};

use crate::algorithm::{algorithm_parser, complete, fit, fit_map};
use crate::args::{InterceptArgs, WrongUsage};
use crate::feature_args::{FeatureArgs, Given, Plan, refuse_hinge};
use crate::input::FileArg;
use crate::map_report;
use crate::names::{LeastSquaresName, ScaleName, name_of};
use crate::output::Output;
use crate::page::{PageArgs, PointsArg};
use crate::scoring;
use crate::search::{
    SearchArgs, Task, comparison, criterion_name, described, kind, options_of,
    refuse_without_search, search,
};
use crate::training::{Training, TrainingArgs};
use initial_model::AlignedModel;
use online::OnlineArgs;
use page::Judging;
use report::{MapReport, Report, SearchReport, Seconds, TestAuc};
use rivals::RivalArgs;
use saved_model::saved_model;
use test_file::TestFile;
use warnings::{note_idle, warn};

/// What was typed after `ubauc train`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc train train.svm --test test.svm --model model.json\n  \
    ubauc train train.svm --beta 0.5 --gamma 1e-4 --model model.json\n  \
    ubauc train fraud.csv --label fraud --ignore id --least-squares balanced --model model.json\n  \
    ubauc train churn.csv --label churned --features pairs --pairs 10 --model model.json\n  \
    ubauc train loans.csv --label default --increasing debt --decreasing income,age --model model.json\n  \
    ubauc train churn.csv --label churned --report churn.html\n  \
    ubauc train train.svm --algorithm logistic --gamma 1e-4 --json\n  \
    ubauc train train.svm --algorithm ol-ubauc --passes 20 --model model.json\n  \
    ubauc train train.svm --algorithm ol-ubauc --softness 1 --beta 0 --class-weight balanced\n  \
    ubauc train digits.svm --test digits.t.svm --model digits.json   (ten classes)\n\n\
    The objective is the mean of max(0, y(lambda - s)) + beta/2 (1 - ys)^2 over the examples, y = ±1\n\
    their classes and s = w.x + b their scores, plus gamma/2 |w|^2; with a softness k above 0 the max is\n\
    the smooth k ln(1 + exp(y(lambda - s)/k)). The gap is the certificate: no weights have an objective\n\
    smaller than this one by more than that share.\n\n\
    Without --beta or --gamma the loss and gamma, and of a table the features, are chosen as `ubauc tune`\n\
    does, which takes a hundred fits or so, and a note tells how the choice compares with logistic regression. With the hinge a beta\n\
    that is too small ties examples at the threshold lambda or makes all weights 0: a warning says so.\n\n\
    ol-ubauc minimises the same by passes of the online learner, one step an example. It has no gap and\n\
    chooses nothing: `ubauc tune` finds the beta and gamma that are best for both.\n\n\
    Of more than two classes a scorer for each is trained for Hand and Till's mean of AUCs over all pairs of\n\
    classes: against the rest, whose classes count alike whatever their sizes, with one choice of the loss and\n\
    gamma for all. --positive or --partition make two classes of them.")]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    input: FileArg,
    /// What to learn by
    #[arg(long, value_parser = algorithm_parser(), default_value = Algorithm::BaUbauc.name())]
    algorithm: Algorithm,
    /// How ba-ubauc is minimised
    #[arg(long, value_enum, default_value = "newton")]
    solver: SolverName,
    /// Weight of the least squares, at least 0, and above 0 where the softness is 0 [default: chosen by cross-validated
    /// AUC; ol-ubauc: 0.5]
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    beta: Option<f64>,
    /// Softness of the bound, at least 0: 0 is the paper's hinge, 1 with --beta 0 is logistic regression [default: 0
    /// if beta is given and for ol-ubauc, else chosen with beta]
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    softness: Option<f64>,
    /// Weights of the classes, in the bound and in the least squares: none, balanced (both classes the same in sum), or R for
    /// negatives that weigh R times as much as the positives, each class as a whole, which moves the bound to the left of the
    /// ROC curve [default: none if beta and gamma are given, for ol-ubauc and logistic, else chosen with them]
    #[arg(long, value_name = "WEIGHT")]
    class_weight: Option<ClassWeight>,
    /// Weight of |w|²/2, at least 0 [default: chosen by cross-validated AUC; ol-ubauc and logistic: 1e-4]
    #[arg(long, value_name = "G", allow_hyphen_values = true)]
    gamma: Option<f64>,
    /// Least squares over all examples alike (plain), or each class with half of the weight (balanced) [default: plain
    /// if beta and gamma are given, for ol-ubauc and where the softness is above 0, else chosen with them]
    #[arg(long, value_enum)]
    least_squares: Option<LeastSquaresName>,
    #[command(flatten)]
    intercept: InterceptArgs,
    /// Divide every feature by its largest absolute value (maxabs; that of its distance from the mean where there is an
    /// intercept) or its standard deviation (standard) while learning; the model is for features as they are [default: none
    /// if beta and gamma are given; where they are chosen standard for dense and maxabs for sparse features; ol-ubauc:
    /// maxabs]
    #[arg(long, value_enum)]
    scale: Option<ScaleName>,
    /// Stop at this relative gap; online learners: when a pass changes the objective by less than this share [default:
    /// 1e-6; svm-or and svm: 1e-4; logistic: 1e-12; online learners: 1e-7]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    tolerance: Option<f64>,
    /// Stop after this many Newton steps or rounds [default: 1000; svm-or: 2000; bcd: 100]
    #[arg(long, value_name = "N")]
    max_newton: Option<usize>,
    /// Judge the model on this file too: AUC with its 95 % interval
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Write the model to this file, when all is done; - is standard output
    #[arg(long, short = 'o', value_name = "OUT")]
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
    page: PageArgs,
    #[command(flatten)]
    points: PointsArg,
    #[command(flatten)]
    online: OnlineArgs,
    #[command(flatten)]
    rivals: RivalArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    features: FeatureArgs,
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

pub(crate) fn run(args: &TrainArgs, seed: u64, output: Output) -> Result<()> {
    let started = Instant::now();
    let plan = refuse_early(args, seed, output)?;
    let mut initial = args.load_initial_model()?;
    let mut training = args.training.read_many(&args.input.file, &plan, output)?;
    if let Some(labels) = &training.many {
        return many::run(args, (&training, labels), &plan, (seed, started), output);
    }
    let test = TestFile::read_optional(args, &training, output)?;
    let mut test_groups = args.groups_of_test(test.as_ref(), &training, output)?;
    if let Some(initial) = &mut initial {
        initial.align(&training, &args.input.file, output)?;
    }
    let seconds_read = started.elapsed().as_secs_f64();

    let choosing = Instant::now();
    let choice = args.choose(&training, &plan, seed, output)?;
    let (spec, searched) = (choice.spec, choice.searched);
    let seconds_tune = choosing.elapsed().as_secs_f64();
    let solving = Instant::now();
    let (trained, test) = match choice.map(training.monotone().is_some()) {
        Some(map) => {
            let found = learn_map(args, (&spec, map), &mut training, test, output)?;
            // Read again, perhaps with other lines left out; all notes have been printed.
            let quiet = Output {
                quiet: true,
                ..output
            };
            test_groups = args.groups_of_test(found.1.as_ref(), &training, quiet)?;
            found
        }
        None => {
            let has_intercept = args.intercept.intercept() || args.algorithm == Algorithm::Logistic;
            let start = initial.as_ref().map(|model| model.start(has_intercept));
            let weights = training.weights.as_deref();
            (fit(&spec, &training.data, weights, start, output)?, test)
        }
    };
    let seconds_solve = solving.elapsed().as_secs_f64();

    let saved = saved_model(args, &spec, &trained, &training)?;
    let scores = training.scores_by(&saved.model)?;
    let (train_auc, train_ci95) = auc_of(&scores, &training)?;
    let scored_test = test.as_ref().map(|test| test.scored(&saved.model));
    let scored_test = scored_test.transpose()?;
    let test_auc = auc_of_test(scored_test.as_ref(), test_groups.as_deref())?;
    // Hours of work are reported even if the disk is full; the error comes after the report.
    let written = (args.model.as_deref()).map_or(Ok(()), |path| saved.save(path));
    let (scored, groups) = (scored_test.as_ref(), test_groups.as_deref());
    let judged = Judging::new(scored, groups, test_auc.as_ref(), &scores);
    let page = args.write_page(
        &saved,
        &training,
        (&trained, choice.tuned.as_ref()),
        &judged,
        seed,
    );
    let rows = (&training.data, training.weights.as_deref());
    warn(&trained, &spec, rows, output);
    note_idle(&saved.model, &scores, training.data.n_pos(), output);
    let found = Found {
        train: (train_auc, train_ci95),
        test: test_auc,
        is_saved: written.is_ok(),
        has_page: page.is_ok(),
        seconds: Seconds {
            read: seconds_read,
            tune: searched.then_some(seconds_tune),
            solve: seconds_solve,
            total: started.elapsed().as_secs_f64(),
        },
    };
    let report = report_of((args, &spec), &training, trained, choice.tuned, found);
    let reported = print(args, &report, output);
    written?;
    page?;
    reported
}

/// What came of it, besides the model.
struct Found {
    train: (f64, [f64; 2]),
    test: Option<Auc>,
    is_saved: bool,
    /// Where one is asked for.
    has_page: bool,
    seconds: Seconds,
}

fn report_of(
    (args, spec): (&TrainArgs, &Spec),
    training: &Training,
    trained: Outcome,
    tuned: Option<TunedMaps>,
    found: Found,
) -> Report {
    let data = &training.data;
    let certificate = trained.certificate;
    Report {
        algorithm: args.algorithm.name().to_string(),
        solver: (args.algorithm == Algorithm::BaUbauc).then(|| name_of(args.solver)),
        n: data.rows().len(),
        n_pos: data.n_pos(),
        n_neg: data.n_neg(),
        d: data.rows().cols(),
        classes: data.class_names().clone(),
        skipped: training.n_skipped,
        features: training.features_report(),
        beta: spec.beta(),
        gamma: spec.gamma(),
        softness: spec.softness(),
        class_weight: spec.class_weight(),
        own: (args.algorithm.is_rival()).then(|| spec.parameters()),
        least_squares: spec.least_squares().map(|of| kind(of).to_string()),
        scale: spec.scale().name().to_string(),
        intercept: trained.model.intercept,
        objective: certificate.objective,
        dual: certificate.dual,
        gap: certificate.gap,
        lambda: certificate.lambda.map(|_| trained.model.threshold),
        lambda_interval: certificate.lambda,
        tied: certificate.tied,
        newton: trained.effort.newton,
        rounds: trained.effort.rounds,
        passes: trained.effort.passes,
        online: args.online.report_of(spec, trained.effort.eta0),
        stop: trained.stop.name(),
        train_auc: found.train.0,
        train_ci95: found.train.1,
        test_auc: found.test.map(TestAuc::from),
        model: args.model.clone().filter(|_| found.is_saved),
        report: args.page.report.clone().filter(|_| found.has_page),
        search: tuned.as_ref().map(SearchReport::new),
        maps: tuned.as_ref().map(MapReport::new),
        left_out: tuned.as_ref().map_or(Vec::new(), map_report::left_out),
        verdict: tuned.and_then(|tuned| tuned.verdict),
        trace: args.trace.then_some(trained.trace),
        seconds: found.seconds,
    }
}

/// Learns a map of the table and its weights; the examples of `--test` are read again where their raw values were not kept.
fn learn_map(
    args: &TrainArgs,
    (spec, map): (&Spec, &MapKind),
    training: &mut Training,
    test: Option<TestFile>,
    output: Output,
) -> Result<(Outcome, Option<TestFile>)> {
    let in_file = || args.input.file.display().to_string();
    let fitted = fit_map(spec, map, training, output).with_context(in_file)?;
    let trained = training.adopt(fitted, map)?;
    let test = match test {
        Some(TestFile::Numbers(_)) => {
            // All notes have been printed.
            let quiet = Output {
                quiet: true,
                ..output
            };
            TestFile::read_optional(args, training, quiet)?
        }
        test => test,
    };
    Ok((trained, test))
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
    tuned: Option<TunedMaps>,
    /// The only one.
    planned: Option<MapKind>,
}

impl Choice {
    /// The map to learn, unless it is that of the features at hand; which no column is increasing with.
    fn map(&self, is_monotone: bool) -> Option<&MapKind> {
        let chosen = self.tuned.as_ref().map(|tuned| tuned.best().0);
        let map = self.planned.as_ref().or(chosen);
        map.filter(|map| is_monotone || **map != MapKind::Linear)
    }
}

impl TrainArgs {
    fn load_initial_model(&self) -> Result<Option<AlignedModel>> {
        let load = |path: &Path| AlignedModel::load(path, self.by_position);
        self.initial_model.as_deref().map(load).transpose()
    }

    /// Whether the loss or γ is to be chosen.
    fn searches(&self) -> bool {
        self.algorithm == Algorithm::BaUbauc && (self.gamma.is_none() || self.beta.is_none())
    }

    /// Whether scores may be log-odds: those of logistic regression, which a search may choose.
    fn may_have_log_odds(&self, seed: u64) -> bool {
        let spec = self.spec(seed);
        let (beta, softness) = match self.searches() {
            true => (self.beta, self.softness),
            false => (spec.beta(), spec.softness()),
        };
        let may_be = self.searches() || beta.is_some();
        let is_logistic = beta.is_none_or(|b| b == 0.0)
            && softness.is_none_or(|k| Loss::of_softness(k).is_smooth());
        self.algorithm == Algorithm::Logistic || (may_be && is_logistic)
    }

    fn plan(&self) -> Result<Plan> {
        let is_batch = self.algorithm == Algorithm::BaUbauc;
        let linear_only = [
            ("--algorithm", !is_batch),
            ("--solver", self.solver != SolverName::Newton),
            ("--scale", self.scale.is_some()),
            ("--initial-model", self.initial_model.is_some()),
        ];
        self.features.plan(Given {
            searches: self.searches(),
            is_free: is_batch && self.beta.is_none() && self.gamma.is_none(),
            linear_only: linear_only.iter().find(|o| o.1).map(|o| o.0),
            is_monotone: self.training.monotone().is_some(),
        })
    }

    /// What was typed, or what suits the rows where the loss is chosen by a search.
    fn scale(&self, data: Option<&Dataset>) -> Scale {
        match (self.scale, self.algorithm) {
            (Some(typed), _) => typed.into(),
            // Their map has scaled the numbers of a table.
            _ if data.is_some_and(|data| matches!(data.rows(), Rows::Coded(_))) => Scale::None,
            (None, Algorithm::BaUbauc) if self.searches() => {
                data.map_or(Scale::Standard, |data| Scale::suited(data.rows()))
            }
            (None, Algorithm::BaUbauc) => Scale::None,
            (None, Algorithm::Logistic) if self.gamma.is_some() => Scale::None,
            (None, _) => Scale::MaxAbs,
        }
    }

    fn loss_grid(&self) -> LossGrid {
        LossGrid {
            betas: self.beta.into_iter().collect(),
            gammas: self.gamma.into_iter().collect(),
            softness: self.softness.into_iter().collect(),
            class_weights: self.class_weight.into_iter().collect(),
            least_squares: self.least_squares.into_iter().map(Into::into).collect(),
            intercept: self.intercept.intercept(),
        }
    }

    /// What was typed, and the rest by tuning or, for the rivals, by a short search. Logistic regression has one
    /// parameter, with a default; and the online learner is chosen for its speed, not for a search of a hundred batch fits.
    fn choose(
        &self,
        training: &Training,
        plan: &Plan,
        seed: u64,
        output: Output,
    ) -> Result<Choice> {
        let in_file = || self.input.file.display().to_string();
        let mut spec = self.spec(seed);
        spec.set_scale(match training.monotone() {
            // Their map scales them.
            Some(_) => Scale::None,
            None => self.scale(Some(&training.data)),
        });
        if !self.searches() {
            let mut given = self.rivals.given();
            given.extend(self.online.radius.map(|_| "radius"));
            let found = complete(spec, &given, training, seed, output).with_context(in_file)?;
            return Ok(Choice {
                searched: found.is_some(),
                spec: found.unwrap_or(spec),
                tuned: None,
                planned: match plan {
                    Plan::Map(map) => Some(map.clone()),
                    Plan::Linear | Plan::Search(_) | Plan::Suited => None,
                },
            });
        }
        let params = TuneParams {
            scale: spec.scale(),
            ..self.search.params(&self.loss_grid(), seed)?
        };
        let task = Task {
            params: &params,
            plan,
            args: &self.search,
            classes: None,
            beta_option: "--beta",
        };
        let tuned = search(training, &task, output).with_context(in_file)?;
        note_choice(&tuned, &params, output);
        let (map, GridPoint { setting, gamma, .. }) = tuned.best();
        if *map != MapKind::Linear {
            spec.set_scale(Scale::None);
        }
        adopt(&mut spec, setting, *gamma);
        Ok(Choice {
            spec,
            searched: true,
            tuned: Some(tuned),
            planned: None,
        })
    }

    /// What was typed, with defaults where nothing was.
    fn spec(&self, seed: u64) -> Spec {
        let mut spec = Spec::new(self.algorithm);
        let class_weight = self.class_weight.unwrap_or_default();
        let least_squares = self.least_squares.map(Into::into).unwrap_or_default();
        let intercept = self.intercept.intercept();
        match &mut spec {
            Spec::BaUbauc(spec) => {
                spec.params = BaUbaucParams {
                    class_weight,
                    least_squares,
                    intercept,
                    max_newton: self.max_newton.unwrap_or(spec.params.max_newton),
                    ..spec.params
                };
                spec.solver = self.solver();
            }
            Spec::OlUbauc(spec) => {
                spec.params = OlUbaucParams {
                    beta: spec.params.beta,
                    gamma: spec.params.gamma,
                    class_weight,
                    least_squares,
                    intercept,
                    ..self.online.steps()
                };
                spec.finds_eta0 = self.online.eta0.is_none();
            }
            Spec::Logistic(spec) => {
                spec.class_weight = class_weight;
                spec.max_newton = self.max_newton.unwrap_or(spec.max_newton);
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
        let typed = [
            ("beta", self.beta),
            ("gamma", self.gamma),
            ("softness", self.softness),
            ("tolerance", self.tolerance),
        ];
        for (name, value) in typed {
            if let Some(value) = value {
                spec.set(name, value);
            }
        }
        if let Some(passes) = self.online.passes {
            spec.set_passes(passes);
        }
        if let Some(passes) = spec.passes_mut() {
            passes.shuffle = !self.online.no_shuffle;
        }
        spec.set_seed(seed);
        spec.set_scale(self.scale(None));
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

/// What a search has chosen.
fn adopt(spec: &mut Spec, setting: &Setting, gamma: f64) {
    if let Spec::BaUbauc(spec) = spec {
        spec.params = BaUbaucParams {
            beta: setting.beta,
            gamma,
            softness: setting.softness,
            class_weight: setting.class_weight,
            least_squares: setting.least_squares,
            ..spec.params
        };
    }
}

/// The choice in a sentence on standard error, with how it fares beside logistic regression on examples that neither has
/// seen.
fn note_choice(tuned: &TunedMaps, params: &TuneParams, output: Output) {
    let (map, best) = tuned.best();
    let verdict = tuned.verdict.as_ref();
    let beside = verdict.map_or(String::new(), |v| format!("; {}", comparison(v)));
    let features = match tuned.trials.as_slice() {
        [_] => String::new(),
        _ => format!("features {map}, "),
    };
    output.note(format!(
        "note: {features}{} with gamma {:e} chosen by cross-validated {} ({:.4}){beside}",
        described(&best.setting),
        best.gamma,
        criterion_name(params.criterion),
        best.judged.auc,
    ));
    if verdict.is_some_and(Verdict::is_worse) {
        let first = &tuned.trials[0];
        let logistic = (&first.map, first.tuned.best_logistic());
        output.note(format!(
            "warning: logistic regression is significantly better on examples that neither model has \
             seen; use {}",
            options_of(logistic, true, params.scale),
        ));
    }
}

/// AUC on the examples of `--test`, if there are some.
fn auc_of_test(
    scored: Option<&(Vec<f64>, &[bool])>,
    groups: Option<&[u32]>,
) -> Result<Option<Auc>> {
    let Some((scores, positive)) = scored else {
        return Ok(None);
    };
    let sample = Sample::new(scores, positive);
    Ok(Some(Sample { groups, ..sample }.auc()?))
}

/// AUC on the training data, with its interval: that of groups where there are some.
fn auc_of(scores: &[f64], training: &Training) -> Result<(f64, [f64; 2])> {
    let positive = training.data.positive();
    if let Some(weights) = training.weights.as_deref() {
        let weighted = weighted_auc(scores, positive, weights)?;
        return Ok((weighted.auc, weighted.ci95));
    }
    let groups = training.groups.as_deref();
    let found = Sample {
        groups,
        ..Sample::new(scores, positive)
    }
    .auc()?;
    Ok((found.auc, found.ci95))
}

/// Everything that can be refused before the data are read and the long work begins.
fn refuse_early(args: &TrainArgs, seed: u64, output: Output) -> Result<Plan> {
    let wrong = |what: &str| Err::<Plan, _>(WrongUsage(what.to_string()).into());
    args.refuse_options_of_others()?;
    let plan = args.plan()?;
    let is_monotone = args.training.monotone().is_some();
    if args.trace && !output.json() {
        return wrong("--trace is for the JSON report; give --json too");
    }
    if args.searches() {
        let params = args.search.params(&args.loss_grid(), seed)?;
        // Whatever is chosen, the rest must have a meaning.
        let mut spec = args.spec(seed);
        if let Some(setting) = params.settings.first() {
            spec.set("beta", setting.beta);
            spec.set("softness", setting.softness);
        }
        spec.check()?;
        refuse_hinge(is_monotone, params.settings.iter().map(|s| s.softness))?;
    } else {
        refuse_without_search(&args.search)?;
        let spec = args.spec(seed);
        spec.check()?;
        refuse_hinge(is_monotone, spec.softness().into_iter())?;
    }
    if args.training.weight.is_some() && args.training.group.is_some() {
        return wrong("--weight and --group: there is no interval of AUC for both");
    }
    let files = [
        Some(&args.input.file),
        args.test.as_ref(),
        args.initial_model.as_ref(),
    ];
    let files: Vec<&Path> = files.into_iter().flatten().map(PathBuf::as_path).collect();
    args.page.refuse_early(&files)?;
    args.points.refuse_without(&args.page)?;
    if args.points.points()?.is_some() && !args.may_have_log_odds(seed) {
        return wrong(
            "--points: scores by this loss are no log-odds; those of --beta 0 --softness 1 (logistic regression) are",
        );
    }
    let Some(path) = &args.model else {
        return Ok(plan);
    };
    if is_stdout(path) {
        return if output.json() {
            wrong("--json and --model - both write to standard output; name a file for the model")
        } else {
            Ok(plan)
        };
    }
    let mut inputs = vec![args.input.file.as_path()];
    inputs.extend(args.test.as_deref());
    scoring::refuse_overwriting(path, &inputs, "--model")?;
    // A pipe or a device is opened once, at the end.
    if path.metadata().map_or(true, |m| m.is_file() || m.is_dir()) {
        drop(AtomicFile::create(path)?);
    }
    Ok(plan)
}
