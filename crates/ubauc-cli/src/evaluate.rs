//! `ubauc evaluate`: AUC of a file of labels and scores, or of a model, with its statistics.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;
use ubauc::atomic::{AtomicFile, is_stdout};
use ubauc::data::labels::Choice;
use ubauc::document::numbers::{interval, number, thousands};
use ubauc::document::{Document, Facts, Table};
use ubauc::many_classes::ClassModel;
use ubauc::metrics::{
    Auc, AveragePrecision, HandTill, Interval, PartialAuc, RecallAtFpr, RocPart, Sample, Share,
    Statistic, WeightedAuc, average_precision_interval, clustered_average_precision,
    clustered_recalls_at_fpr, hand_till, recalls_at_fpr, roc_curve, weighted_auc,
};
use ubauc::model_file::SavedModel;
use ubauc::report::{AucPart, JudgedOn};

use crate::args::WrongUsage;
use crate::class_page;
use crate::group_arg::GroupArg;
use crate::input::{FileArg, ScoreArgs, Scores, Wanted};
use crate::interval_args::IntervalArgs;
use crate::output::{self, Output};
use crate::page::{
    self, PageArgs, PageExamples, PageParts, PageScores, PointsArg, file_name, file_part,
};
use crate::report;
use crate::scoring::classes::{ClassFile, Loaded};
use crate::scoring::{ColumnArgs, Scoring};

/// What was typed after `ubauc evaluate`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc evaluate scores.csv\n  \
    ubauc evaluate --model model.json test.svm\n  \
    ubauc evaluate scores.csv --report page.html --cost-fn 10\n  \
    ubauc evaluate visits.csv --group patient\n  \
    ubauc evaluate scores.csv --label fraud --score p --max-fpr 0.05 --at-fpr 0.01,0.05\n  \
    zcat scores.csv.gz | ubauc evaluate - --json\n  \
    ubauc evaluate probabilities.csv --multiclass   (a column of scores for each class)")]
pub(crate) struct EvaluateArgs {
    #[command(flatten)]
    input: FileArg,
    /// Judge this model: the file holds examples, not scores
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["score", "feature", "multiclass"])]
    model: Option<PathBuf>,
    /// Column of sample weights
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    #[command(flatten)]
    group: GroupArg,
    /// Also the partial AUC over false positive rates from 0 to this one
    #[arg(long, value_name = "RATE", conflicts_with = "weight")]
    max_fpr: Option<f64>,
    /// Also the partial AUC over true positive rates from this one to 1
    #[arg(long, value_name = "RATE", conflicts_with = "weight")]
    min_tpr: Option<f64>,
    /// Also the recall (true positive rate) at a false positive rate of at most this, with an interval; several,
    /// separated by commas
    #[arg(
        long,
        value_name = "RATE",
        value_delimiter = ',',
        conflicts_with = "weight"
    )]
    at_fpr: Vec<f64>,
    /// Write the ROC curve to this file, as CSV; - is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "weight")]
    roc: Option<PathBuf>,
    /// Many classes: Hand and Till's M, from one column of scores for each class, named as the class
    #[arg(long, conflicts_with_all = ["weight", "group", "max_fpr", "min_tpr", "at_fpr", "roc", "interval", "resamples", "positive", "partition"])]
    multiclass: bool,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    points: PointsArg,
    #[command(flatten)]
    interval: IntervalArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    scores: ScoreArgs,
}

pub(crate) fn run(args: &EvaluateArgs, seed: u64, output: Output) -> Result<()> {
    args.interval.check()?;
    args.group.refuse_with_weights(args.weight.is_some())?;
    let path = &args.input.file;
    refuse_page(args)?;
    if args.multiclass {
        let found = multiclass(args, path, output)?;
        write_class_page(args, &found)?;
        return output.report(&found);
    }
    if let Some(model) = &args.model
        && let Loaded::Many(many) = args.columns.load_any(model)?
    {
        let found = of_many(args, &many, output)?;
        write_class_page(args, &found.report)?;
        return output.report(&found);
    }
    let roc_to_stdout = args.roc.as_deref().is_some_and(is_stdout);
    if roc_to_stdout && output.json() {
        let what = "--json and --roc - both write to standard output; name a file for the curve";
        return Err(WrongUsage(what.to_string()).into());
    }
    let Scores {
        columns,
        labels,
        groups,
    } = args.scores(output)?;
    let in_file = || path.display().to_string();
    let names = labels.names.clone();
    let positive = &labels.positive;
    let interval_of = |share: Share, sample: &Sample<'_>| {
        args.interval
            .of(share, Statistic::Auc, sample, seed, output)
    };
    if let [scores, weights] = columns.as_slice() {
        let mut weighted = weighted_auc(scores, positive, weights).with_context(in_file)?;
        let sample = Sample {
            weights: Some(weights),
            ..Sample::new(scores, positive)
        };
        weighted.ci95 = interval_of(weighted.share(), &sample)?;
        warn(weighted.degenerate(), weighted.auc, output);
        write_page(args, &sample, &names, weighted.clone().into())?;
        return output.report(&WeightedReport {
            weighted,
            interval: args.interval.interval,
            classes: names,
        });
    }
    let scores = &columns[0];
    let sample = Sample {
        groups: groups.as_deref(),
        ..Sample::new(scores, positive)
    };
    let mut found = sample.auc().with_context(in_file)?;
    found.ci95 = interval_of(found.share(), &sample)?;
    let (average_precision, recall_at_fpr) =
        others(args, &sample, seed, output).with_context(in_file)?;
    let partial_auc = of_curve(args, &sample).with_context(in_file)?;
    warn(found.degenerate(), found.auc, output);
    write_page(args, &sample, &names, found.clone().into())?;
    let report = Report {
        auc: found,
        interval: args.interval.interval,
        average_precision: Some(average_precision),
        partial_auc,
        recall_at_fpr,
        classes: names,
    };
    if roc_to_stdout {
        output.report_aside(&report);
        return Ok(());
    }
    output.report(&report)
}

impl EvaluateArgs {
    /// The scores to judge, by a model or as the file has them, and the weights after them.
    fn scores(&self, output: Output) -> Result<Scores> {
        let path = &self.input.file;
        let more: Vec<String> = self.weight.iter().cloned().collect();
        let Some(model) = &self.model else {
            self.columns.refuse_without_model()?;
            let found = self.scores.load_one(path, &more, output)?;
            let n = found.labels.positive.len();
            let groups = self.group.read(path, &self.scores.format, n)?;
            return Ok(Scores { groups, ..found });
        };
        let scoring = Scoring {
            models: std::slice::from_ref(model),
            columns: &self.columns,
            format: &self.scores.format,
            classes: &self.scores.classes,
        };
        scoring.score_besides(path, &more, self.group.name(), output)
    }
}

/// Refuses a page that cannot be.
fn refuse_page(args: &EvaluateArgs) -> Result<()> {
    let model = args.model.iter().map(PathBuf::as_path);
    let inputs: Vec<&Path> = model.chain([args.input.file.as_path()]).collect();
    args.page.refuse_early(&inputs)?;
    args.points.refuse_without(&args.page)?;
    if args.model.is_none() {
        args.points.card(None)?;
    }
    let for_two = args.points.for_two_classes(&args.page.costs);
    if let Some(option) = for_two.filter(|_| args.multiclass) {
        let what = format!("{option} is for two classes; leave out --multiclass");
        return Err(WrongUsage(what).into());
    }
    Ok(())
}

/// The page of many classes, if one was asked for.
fn write_class_page(args: &EvaluateArgs, found: &MulticlassReport) -> Result<()> {
    let Some(page) = &args.page.report else {
        return Ok(());
    };
    let path = &args.input.file;
    let title = match &args.model {
        Some(model) => report::title(model, path),
        None => format!("Scores of {}", file_name(path)),
    };
    let found = (&found.hand_till, found.classes.as_slice());
    let mut report = class_page::of_found(title, JudgedOn::Given, found);
    report.reproduction.files = vec![file_part("examples", path)?];
    if let Some(model) = &args.model {
        report = class_page::with_model(report, &class_page::load_many(model)?);
        report.reproduction.files.push(file_part("model", model)?);
    }
    Ok(report.write(page)?)
}

/// The page of what was judged, if one was asked for.
fn write_page(
    args: &EvaluateArgs,
    sample: &Sample<'_>,
    names: &[String; 2],
    auc: AucPart,
) -> Result<()> {
    let Some(page) = &args.page.report else {
        return Ok(());
    };
    let path = &args.input.file;
    let mut parts = PageParts {
        title: format!("Scores of {}", file_name(path)),
        classes: names.clone(),
        examples: PageExamples {
            positive: sample.positive,
            weights: sample.weights,
            groups: sample.groups,
        },
        judged_on: JudgedOn::Given,
        costs: args.page.costs.costs()?,
    };
    let report = match &args.model {
        Some(model) => {
            parts.title = report::title(model, path);
            let saved = SavedModel::load(model)?;
            let of = (sample.scores, Some(auc));
            let mut report = report::of_model(parts, &saved, of, model, path)?;
            report.points = args.points.card(Some(&saved))?;
            report
        }
        None => {
            let scored = PageScores {
                name: args.scores.score.join(", "),
                scores: sample.scores,
                auc: Some(auc),
                model: None,
                threshold: None,
            };
            let mut report = page::report(parts, &[scored])?;
            report.reproduction.files = vec![file_part("scores", path)?];
            report
        }
    };
    Ok(report.write(page)?)
}

/// Partial areas, where they are asked for; writes the curve.
fn of_curve(args: &EvaluateArgs, sample: &Sample<'_>) -> Result<Option<Vec<PartialAuc>>> {
    if args.max_fpr.is_none() && args.min_tpr.is_none() && args.roc.is_none() {
        return Ok(None);
    }
    let curve = roc_curve(sample.scores, sample.positive)?;
    let parts = [
        args.max_fpr.map(RocPart::MaxFpr),
        args.min_tpr.map(RocPart::MinTpr),
    ];
    let parts = parts.into_iter().flatten();
    let partial: Vec<PartialAuc> = parts
        .map(|part| curve.partial_auc(part))
        .collect::<Result<_, _>>()?;
    if let Some(roc) = &args.roc {
        write_roc(roc, &curve.without_collinear())?;
    }
    Ok((!partial.is_empty()).then_some(partial))
}

/// Average precision, and recalls where they are asked for.
fn others(
    args: &EvaluateArgs,
    sample: &Sample<'_>,
    seed: u64,
    output: Output,
) -> Result<(AveragePrecision, Option<Vec<RecallAtFpr>>)> {
    let Sample {
        scores,
        positive,
        groups,
        ..
    } = *sample;
    let mut precision = match groups {
        None => average_precision_interval(scores, positive)?,
        Some(groups) => clustered_average_precision(scores, positive, groups)?,
    };
    let of_precision = (precision.share(), Statistic::AveragePrecision);
    precision.ci95 = args
        .interval
        .of(of_precision.0, of_precision.1, sample, seed, output)?;
    let mut recalls = match groups {
        None => recalls_at_fpr(scores, positive, &args.at_fpr)?,
        Some(groups) => clustered_recalls_at_fpr(scores, positive, groups, &args.at_fpr)?,
    };
    for found in &mut recalls {
        found.ci95 = args.interval.of_recall(found, sample, seed, output)?;
    }
    Ok((precision, (!recalls.is_empty()).then_some(recalls)))
}

/// An interval that does not rest on the variance.
fn warn(degenerate: bool, auc: f64, output: Output) {
    let interval = "the interval is the exact bound for this number of examples";
    if degenerate && (auc == 0.0 || auc == 1.0) {
        output.note(format!(
            "note: the classes are separated without error, so the variance estimate is 0; {interval}"
        ));
    } else if degenerate {
        output.note(format!("note: the variance estimate is 0; {interval}"));
    }
}

/// The interval, and how it was made if that is not the usual way.
fn interval_by(ci95: [f64; 2], method: Interval) -> String {
    match method {
        Interval::Logit => interval(ci95),
        other => format!("{} ({other})", interval(ci95)),
    }
}

fn write_roc(path: &Path, curve: &ubauc::metrics::RocCurve) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    let write_all = |file: &mut AtomicFile| -> std::io::Result<()> {
        writeln!(file, "threshold,fpr,tpr")?;
        for ((threshold, fpr), tpr) in curve.thresholds.iter().zip(&curve.fpr).zip(&curve.tpr) {
            writeln!(file, "{threshold},{fpr},{tpr}")?;
        }
        Ok(())
    };
    write_all(&mut file).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(file.commit()?)
}

/// AUC of two classes.
#[derive(Serialize)]
pub(crate) struct Report {
    #[serde(flatten)]
    pub(crate) auc: Auc,
    /// How `ci95` was made.
    pub(crate) interval: Interval,
    pub(crate) average_precision: Option<AveragePrecision>,
    pub(crate) partial_auc: Option<Vec<PartialAuc>>,
    pub(crate) recall_at_fpr: Option<Vec<RecallAtFpr>>,
    /// Negative and positive, as the data names them.
    pub(crate) classes: [String; 2],
}

impl output::Report for Report {
    fn document(&self) -> Document {
        let Auc {
            auc,
            variance,
            ci95,
            n_pos,
            n_neg,
            ties,
            ..
        } = &self.auc;
        let [negative, positive] = &self.classes;
        let mut facts = Facts::default();
        facts.add("AUC", number(*auc));
        facts.add("95 % interval", interval_by(*ci95, self.interval));
        facts.add("standard error", number(variance.sqrt()));
        facts.add(
            "positive",
            format!("{} (class {positive})", thousands(*n_pos as u64)),
        );
        facts.add(
            "negative",
            format!("{} (class {negative})", thousands(*n_neg as u64)),
        );
        facts.add("tied pairs", thousands(*ties));
        if let Some(found) = &self.average_precision {
            let precision = interval(found.ci95);
            facts.add(
                "avg. precision",
                format!("{} {precision}", number(found.value)),
            );
        }
        for found in self.recall_at_fpr.iter().flatten() {
            let (recall, by) = (number(found.recall), interval(found.ci95));
            let threshold = found
                .threshold
                .map_or("none".to_string(), |t| t.to_string());
            let of = format!(
                "at most {}: {recall} {by}, threshold {threshold}",
                found.max_fpr
            );
            facts.add("recall, FPR", of);
        }
        for PartialAuc {
            part,
            raw,
            standardised,
        } in self.partial_auc.iter().flatten()
        {
            let name = match part {
                RocPart::MaxFpr(_) => "partial AUC, FPR",
                RocPart::MinTpr(_) => "partial AUC, TPR",
            };
            let range = match part {
                RocPart::MaxFpr(rate) => format!("0 to {rate}"),
                RocPart::MinTpr(rate) => format!("{rate} to 1"),
            };
            let (raw, standardised) = (number(*raw), number(*standardised));
            facts.add(
                name,
                format!("{range}: area {raw}, standardised {standardised}"),
            );
        }
        facts.into()
    }
}

#[derive(Serialize)]
struct WeightedReport {
    #[serde(flatten)]
    weighted: WeightedAuc,
    interval: Interval,
    classes: [String; 2],
}

impl output::Report for WeightedReport {
    fn document(&self) -> Document {
        let WeightedAuc {
            auc,
            variance,
            ci95,
            n_pos,
            n_neg,
            weight_pos,
            weight_neg,
            ..
        } = &self.weighted;
        let [negative, positive] = &self.classes;
        let side = |n: usize, weight: f64, class: &str| {
            format!(
                "{} of weight {} (class {class})",
                thousands(n as u64),
                number(weight)
            )
        };
        let mut facts = Facts::default();
        facts.add("weighted AUC", number(*auc));
        facts.add("95 % interval", interval_by(*ci95, self.interval));
        facts.add("standard error", number(variance.sqrt()));
        facts.add("positive", side(*n_pos, *weight_pos, positive));
        facts.add("negative", side(*n_neg, *weight_neg, negative));
        facts.into()
    }
}

/// A model of many classes, judged by Hand and Till's M.
fn of_many(args: &EvaluateArgs, model: &ClassModel, output: Output) -> Result<ClassReport> {
    let two_only = [
        ("--weight", args.weight.is_some()),
        ("--group", args.group.name().is_some()),
        ("--max-fpr", args.max_fpr.is_some()),
        ("--min-tpr", args.min_tpr.is_some()),
        ("--at-fpr", !args.at_fpr.is_empty()),
        ("--roc", args.roc.is_some()),
        ("--interval", args.interval.interval != Interval::Logit),
        (
            "--positive or --partition",
            args.scores.classes.choice() != Choice::Larger,
        ),
    ];
    let found = two_only.iter().find(|o| o.1).map(|o| o.0);
    let found = found.or(args.points.for_two_classes(&args.page.costs));
    class_page::refuse_for_many(found, model)?;
    let file = ClassFile {
        path: &args.input.file,
        format: &args.scores.format,
        ignore: args.columns.ignore(),
        on_error: args.columns.on_error(),
    };
    let (hand_till, classes) = file.judge(model, output)?;
    Ok(ClassReport {
        class_aucs: hand_till.class_aucs(),
        report: MulticlassReport { hand_till, classes },
    })
}

/// Of a model of many classes.
#[derive(Serialize)]
struct ClassReport {
    #[serde(flatten)]
    report: MulticlassReport,
    /// Of each class, by its scorer: the mean over the others of the AUC against each.
    class_aucs: Vec<f64>,
}

impl output::Report for ClassReport {
    fn document(&self) -> Document {
        let MulticlassReport { hand_till, classes } = &self.report;
        let mut table = Table::new(["class", "examples", "AUC against the others"]);
        let rows = classes.iter().zip(&hand_till.class_counts);
        for ((class, n), auc) in rows.zip(&self.class_aucs).take(PAIRS_SHOWN) {
            table.row([class.clone(), thousands(*n as u64), number(*auc)]);
        }
        let more = classes.len().saturating_sub(PAIRS_SHOWN);
        table.foot = (more > 0).then(|| format!("… {more} more classes (all with --json)"));
        self.report.document().with(table)
    }
}

/// Hand and Till's M from one column of scores for each class.
fn multiclass(args: &EvaluateArgs, path: &Path, output: Output) -> Result<MulticlassReport> {
    // Columns must be named as the classes, so the default name `score` means: find them.
    let named = (args.scores.score != ["score"]).then(|| args.scores.score.clone());
    let all = named.is_none();
    let wanted = Wanted {
        columns: named,
        ignore: args.columns.ignore(),
        ..Wanted::default()
    };
    let examples = args.scores.format.read(path, wanted, output);
    let examples = examples.map_err(|error| match error.downcast_ref() {
        // A column that holds no scores, an id perhaps.
        Some(ubauc::Error::Parse { what, .. }) if all && what.contains("in column") => {
            let hint = "name the score columns: --score a,b,c; or leave it out: --ignore COLUMN";
            anyhow::anyhow!("{error}; {hint}")
        }
        _ => error,
    })?;
    let classes: Vec<String> = examples
        .labels
        .classes()
        .iter()
        .map(ToString::to_string)
        .collect();
    if let [only] = classes.as_slice() {
        bail!("{}: all examples are of one class, {only}", path.display());
    }
    let columns = classes
        .iter()
        .map(
            |class| match examples.names.iter().position(|name| name == class) {
                Some(column) => Ok(column),
                None => bail!(
                    "{}: no column of scores named '{class}' for the class {class}",
                    path.display()
                ),
            },
        )
        .collect::<Result<Vec<usize>>>()?;
    let scores: Vec<f64> = (0..examples.rows.len())
        .flat_map(|i| {
            let row = examples.rows.row(i);
            columns.iter().map(move |&j| row.get(j))
        })
        .collect();
    let codes: Vec<usize> = examples
        .labels
        .codes()
        .iter()
        .map(|&c| c as usize)
        .collect();
    let found =
        hand_till(&scores, classes.len(), &codes).with_context(|| path.display().to_string())?;
    Ok(MulticlassReport {
        hand_till: found,
        classes,
    })
}

#[derive(Serialize)]
struct MulticlassReport {
    hand_till: HandTill,
    classes: Vec<String>,
}

/// Pairs of classes shown to people; JSON has them all.
const PAIRS_SHOWN: usize = 20;

impl output::Report for MulticlassReport {
    fn document(&self) -> Document {
        let mut facts = Facts::default();
        facts.add("Hand-Till M", number(self.hand_till.m));
        facts.add("weighted by prevalence", number(self.hand_till.weighted));
        facts.add("classes", self.classes.len());
        let mut table = Table::new(["pair", "AUC", "by first", "by second"]);
        for pair in self.hand_till.pairs.iter().take(PAIRS_SHOWN) {
            table.row([
                format!("{} / {}", self.classes[pair.i], self.classes[pair.j]),
                number(pair.auc),
                number(pair.auc_i),
                number(pair.auc_j),
            ]);
        }
        let more = self.hand_till.pairs.len().saturating_sub(PAIRS_SHOWN);
        table.foot = (more > 0).then(|| format!("… {more} more pairs (all with --json)"));
        Document::default().with(facts).with(table)
    }
}
