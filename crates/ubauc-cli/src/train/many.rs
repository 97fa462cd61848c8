//! `ubauc train` of more than two classes: a scorer for each, for Hand and Till's mean of AUCs.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use serde::Serialize;
use ubauc::algorithm::{FitInputs, Outcome, Spec, Stop};
use ubauc::atomic::is_stdout;
use ubauc::data::labels::Labels;
use ubauc::document::numbers::{number, thousands};
use ubauc::document::{Document, Facts, Table};
use ubauc::features::FeatureMap;
use ubauc::many_classes::{
    ClassModel, ClassOutcome, Classes, MultiClass, fit_classes, refuse_weightless,
};
use ubauc::metrics::{Criterion, HandTill, weighted_auc};
use ubauc::model_file::SavedClassModel;
use ubauc::objective::ubauc::ClassWeight;
use ubauc::tune::{TuneParams, TunedMaps, has_collapsed};

use super::many_page::JudgedClasses;
use super::report::{SearchReport, Seconds};
use super::saved_model::parameters_of;
use super::test_file::TestRows;
use super::{TrainArgs, adopt, note_choice};
use crate::args::WrongUsage;
use crate::column_report::FeaturesReport;
use crate::feature_args::Plan;
use crate::output::{self, Output};
use crate::scoring::classes::judged as judged_classes;
use crate::scoring::shortened;
use crate::search::{Task, kind, search};
use crate::training::Training;

pub(super) fn run(
    args: &TrainArgs,
    (training, labels): (&Training, &Labels),
    plan: &Plan,
    (seed, started): (u64, Instant),
    output: Output,
) -> Result<()> {
    let seconds_read = started.elapsed().as_secs_f64();
    let choosing = Instant::now();
    let path = &args.input.file;
    let in_file = || path.display().to_string();
    args.refuse_for_many(plan, labels)?;
    let classes = Classes::new(labels, training.weights.as_deref(), MultiClass::HandTill);
    let classes = classes.with_context(in_file)?;
    output.note(format!(
        "note: {}: {} classes; a scorer for each is trained for Hand and Till's mean of AUCs over pairs of classes; \
         --positive or --partition make two classes of them",
        path.display(),
        classes.count()
    ));
    let mut spec = args.spec(seed);
    spec.set_scale(args.scale(Some(&training.data)));
    refuse_weightless(&spec)?;
    let test = TestRows::of_classes(args, (training, &classes.names()), output)?;
    let tuned = match args.searches() {
        true => Some(choose(
            args,
            (training, &classes),
            &mut spec,
            (seed, output),
        )?),
        false => None,
    };
    let seconds_tune = choosing.elapsed().as_secs_f64();
    let solving = Instant::now();
    let learned = fit_classes(&training.data, &classes, &FitInputs::default(), &spec);
    let learned = learned.with_context(in_file)?;
    let seconds_solve = solving.elapsed().as_secs_f64();
    let saved = saved(args, &spec, &learned, (training, &classes));
    let train = judged(&saved.model, training, &classes)?;
    // Hours of work are kept and reported even if the disk is full; the error comes last.
    let path = args.model.as_deref();
    let written = path.map_or(Ok(()), |path| saved.save(path));
    let test = test.map(|rows| tested(args, &rows, &saved.model, output));
    let test = test.transpose()?;
    let judged = JudgedClasses {
        test: test.as_ref(),
        train: &train,
    };
    let rows = (training, &classes);
    let page = args.write_class_page(&saved, rows, tuned.as_ref(), &judged, seed);
    warn(&learned, &spec, rows, output)?;
    let seconds = Seconds {
        read: seconds_read,
        tune: tuned.is_some().then_some(seconds_tune),
        solve: seconds_solve,
        total: started.elapsed().as_secs_f64(),
    };
    let certificate = &saved.certificate;
    let report = Report {
        n: training.data.rows().len(),
        d: training.data.rows().cols(),
        classes: saved.model.classes.clone(),
        skipped: training.n_skipped,
        features: training.features_report(),
        objective: certificate.objective,
        dual: certificate.dual,
        gap: certificate.gap,
        stop: certificate.stop,
        train_auc: train.iter().sum::<f64>() / train.len() as f64,
        scorers: scorers(&learned, &classes, &train),
        test_auc: test.as_ref().map(TestAuc::of),
        model: args.model.clone().filter(|_| written.is_ok()),
        report: args.page.report.clone().filter(|_| page.is_ok()),
        search: tuned.as_ref().map(SearchReport::new),
        ..Report::of(&spec, seconds)
    };
    let reported = if args.model.as_deref().is_some_and(is_stdout) {
        output.report_aside(&report);
        Ok(())
    } else {
        output.report(&report)
    };
    written?;
    page?;
    reported
}

impl TrainArgs {
    /// Refuses what is for two classes, by name.
    fn refuse_for_many(&self, plan: &Plan, labels: &Labels) -> Result<()> {
        let options = [
            ("--features", matches!(plan, Plan::Map(_) | Plan::Search(_))),
            ("--increasing", !self.training.increasing.is_empty()),
            ("--decreasing", !self.training.decreasing.is_empty()),
            ("--group", self.training.group.is_some()),
            ("--initial-model", self.initial_model.is_some()),
            ("--trace", self.trace),
            ("--held-out", self.search.held_out.is_some()),
            (
                "--criterion",
                !matches!(self.search.criterion, None | Some(Criterion::Auc)),
            ),
            ("--algorithm", self.algorithm.is_rival()),
        ];
        let found = options.iter().find(|o| o.1).map(|o| o.0);
        let Some(option) = found.or(self.points.for_two_classes(&self.page.costs)) else {
            return Ok(());
        };
        let classes = labels.classes();
        let file = self.input.file.display();
        let first = classes.first().map_or(String::new(), ToString::to_string);
        let what = match option {
            "--algorithm" => format!(
                "--algorithm {} has no sample weights, by which many classes count alike",
                self.algorithm.name()
            ),
            option => format!("{option} is for two classes"),
        };
        Err(WrongUsage(format!(
            "{what}, and {file} has {}; name the positive one, such as --positive {first}",
            classes.len()
        ))
        .into())
    }
}

/// The loss and γ for all scorers.
fn choose(
    args: &TrainArgs,
    (training, classes): (&Training, &Classes<'_>),
    spec: &mut Spec,
    (seed, output): (u64, Output),
) -> Result<TunedMaps> {
    let params = TuneParams {
        scale: spec.scale(),
        held_out: 0.0,
        ..args.search.params(&args.loss_grid(), seed)?
    };
    let task = Task {
        params: &params,
        plan: &Plan::Linear,
        args: &args.search,
        classes: Some(classes),
        beta_option: "--beta",
    };
    let in_file = || args.input.file.display().to_string();
    let tuned = search(training, &task, output).with_context(in_file)?;
    note_choice(&tuned, &params, output);
    let (_, best) = tuned.best();
    adopt(spec, &best.setting, best.gamma);
    Ok(tuned)
}

fn saved(
    args: &TrainArgs,
    spec: &Spec,
    learned: &ClassOutcome,
    (training, classes): (&Training, &Classes<'_>),
) -> SavedClassModel {
    let features = match &training.mapped {
        Some(mapped) => FeatureMap::Columns(mapped.learned.map.clone()),
        None => FeatureMap::Identity,
    };
    let certificates = learned.outcomes.iter().map(|o| o.certificate.clone());
    SavedClassModel {
        model: ClassModel::new(classes.names(), learned, &features, &training.reading),
        algorithm: spec.algorithm().name().to_string(),
        parameters: parameters_of(args, spec, &learned.outcomes[0]),
        certificate: learned.certificate.clone(),
        certificates: certificates.collect(),
    }
}

/// M_c of the training examples, for every class; their mean is M.
fn judged(model: &ClassModel, training: &Training, classes: &Classes<'_>) -> Result<Vec<f64>> {
    let of_class = |(class, scorer)| {
        let scores = training.scores_by(scorer)?;
        let problem = classes.problem(class);
        let weights = problem.weights.unwrap_or_else(|| vec![1.0; scores.len()]);
        Ok(weighted_auc(&scores, &problem.labels.positive, &weights)?.auc)
    };
    model.scorers.iter().enumerate().map(of_class).collect()
}

/// M of the examples of `--test`, and the classes that they have.
fn tested(
    args: &TrainArgs,
    rows: &TestRows,
    model: &ClassModel,
    output: Output,
) -> Result<(HandTill, Vec<String>)> {
    let path = args.test.as_deref().unwrap_or(Path::new(""));
    let scores = rows.scored(model)?;
    judged_classes(&model.classes, (&scores, &rows.labels), path, output)
}

/// Scorers that have collapsed, or are not as near to the optimum as was asked.
fn warn(
    learned: &ClassOutcome,
    spec: &Spec,
    (training, classes): (&Training, &Classes<'_>),
    output: Output,
) -> Result<()> {
    let (mut collapsed, mut far) = (Vec::new(), Vec::new());
    for (class, (name, found)) in classes.names().iter().zip(&learned.outcomes).enumerate() {
        let nothing = found.model.weights.iter().all(|w| *w == 0.0);
        if nothing || is_tied(found, (training, classes), class)? {
            collapsed.push(name.clone());
        }
        let gap = found.certificate.gap;
        if gap.is_some_and(|gap| gap > spec.tolerance()) {
            far.push(name.clone());
        }
    }
    if !collapsed.is_empty() {
        output.note(format!(
            "warning: the scorers of {} have collapsed: all weights are 0, or many examples are tied at the threshold; \
             try a larger --beta or --softness 1",
            shortened(&collapsed)
        ));
    }
    if !far.is_empty() {
        output.note(format!(
            "warning: the gap is above {:e} in the scorers of {}",
            spec.tolerance(),
            shortened(&far)
        ));
    }
    Ok(())
}

/// More examples are tied at the threshold of a scorer of the hinge than is unavoidable.
fn is_tied(
    found: &Outcome,
    (training, classes): (&Training, &Classes<'_>),
    class: usize,
) -> Result<bool> {
    let Some(tied) = found.certificate.tied else {
        return Ok(false);
    };
    let problem = classes.problem(class);
    let data = training.data.relabelled(problem.labels)?;
    Ok(has_collapsed(
        &data,
        problem.weights.as_deref(),
        tied as usize,
    ))
}

fn scorers(learned: &ClassOutcome, classes: &Classes<'_>, train: &[f64]) -> Vec<ScorerReport> {
    let of_class = |(k, class): (usize, String)| {
        let certificate = &learned.outcomes[k].certificate;
        ScorerReport {
            class,
            n: classes.labels().counts()[k],
            train_auc: train[k],
            objective: certificate.objective,
            gap: certificate.gap,
            stop: learned.outcomes[k].stop.name(),
        }
    };
    classes
        .names()
        .into_iter()
        .enumerate()
        .map(of_class)
        .collect()
}

#[derive(Serialize)]
struct ScorerReport {
    class: String,
    n: usize,
    /// Mean over the other classes of the AUC against each.
    train_auc: f64,
    objective: Option<f64>,
    gap: Option<f64>,
    stop: &'static str,
}

#[derive(Serialize)]
struct TestAuc {
    /// M.
    auc: f64,
    /// The mean over pairs by their examples.
    weighted: f64,
    n: usize,
    classes: usize,
}

impl TestAuc {
    fn of((found, classes): &(HandTill, Vec<String>)) -> TestAuc {
        TestAuc {
            auc: found.m,
            weighted: found.weighted,
            n: found.class_counts.iter().sum(),
            classes: classes.len(),
        }
    }
}

#[derive(Serialize)]
struct Report {
    algorithm: &'static str,
    multi_class: MultiClass,
    n: usize,
    d: usize,
    classes: Vec<String>,
    /// Lines of the training file that were left out.
    skipped: usize,
    /// Of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<FeaturesReport>,
    beta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gamma: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    softness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class_weight: Option<ClassWeight>,
    least_squares: Option<String>,
    scale: String,
    /// Of all scorers together, as the dual and the gap.
    objective: Option<f64>,
    dual: Option<f64>,
    gap: Option<f64>,
    stop: Option<Stop>,
    train_auc: f64,
    scorers: Vec<ScorerReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test_auc: Option<TestAuc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<Vec<SearchReport>>,
    seconds: Seconds,
}

impl Report {
    /// Of what was asked for; the rest is empty.
    fn of(spec: &Spec, seconds: Seconds) -> Report {
        Report {
            algorithm: spec.algorithm().name(),
            multi_class: MultiClass::HandTill,
            n: 0,
            d: 0,
            classes: Vec::new(),
            skipped: 0,
            features: None,
            beta: spec.beta(),
            gamma: spec.gamma(),
            softness: spec.softness(),
            class_weight: spec.class_weight(),
            least_squares: spec.least_squares().map(|of| kind(of).to_string()),
            scale: spec.scale().name().to_string(),
            objective: None,
            dual: None,
            gap: None,
            stop: None,
            train_auc: 0.0,
            scorers: Vec::new(),
            test_auc: None,
            model: None,
            report: None,
            search: None,
            seconds,
        }
    }
}

/// Classes shown to people; JSON has them all.
const CLASSES_SHOWN: usize = 30;

impl output::Report for Report {
    fn document(&self) -> Document {
        let mut facts = Facts::default();
        facts.add(
            "algorithm",
            format!("{}, a scorer for each class", self.algorithm),
        );
        let (n, d) = (thousands(self.n as u64), thousands(self.d as u64));
        facts.add("examples", format!("{n}, {d} features"));
        facts.add("classes", self.classes.len());
        let named = |name: &str, value: Option<f64>| value.map(|value| format!("{name} {value}"));
        let parameters = [
            named("beta", self.beta),
            named("gamma", self.gamma),
            named("softness", self.softness),
            self.class_weight
                .map(|weight| format!("class weight {weight}")),
            Some(format!("scale {}", self.scale)),
        ];
        let parameters: Vec<String> = parameters.into_iter().flatten().collect();
        facts.add("parameters", parameters.join(", "));
        if let Some(gap) = self.gap {
            facts.add(
                "gap",
                format!("certified to within {gap:.1e}, all scorers together"),
            );
        }
        facts.add(
            "training AUC",
            format!("{} (Hand-Till M)", number(self.train_auc)),
        );
        if let Some(test) = &self.test_auc {
            facts.add("test AUC", format!("{} (Hand-Till M)", number(test.auc)));
        }
        if let Some(path) = &self.model {
            facts.add("model", path.display());
        }
        if let Some(path) = &self.report {
            facts.add("report", path.display());
        }
        facts.add("seconds", format!("{:.2}", self.seconds.total));
        let mut table = Table::new(["class", "examples", "training AUC", "gap"]);
        for scorer in self.scorers.iter().take(CLASSES_SHOWN) {
            let gap = scorer.gap.map_or(String::new(), |gap| format!("{gap:.1e}"));
            let n = thousands(scorer.n as u64);
            table.row([scorer.class.clone(), n, number(scorer.train_auc), gap]);
        }
        let more = self.scorers.len().saturating_sub(CLASSES_SHOWN);
        table.foot = (more > 0).then(|| format!("… {more} more classes (all with --json)"));
        let mut document = Document::default();
        // Where all columns are numbers there is nothing to tell of them.
        let features = self.features.as_ref();
        if let Some(features) = features.filter(|features| features.is_mapped) {
            document = document.with(features.table());
        }
        document.with(facts).with(table)
    }
}
