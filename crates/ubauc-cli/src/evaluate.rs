//! `ubauc evaluate`: AUC of a file of labels and scores, or of a model, with its statistics.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;
use ubauc::atomic::{AtomicFile, is_stdout};
use ubauc::document::numbers::{interval, number, thousands};
use ubauc::document::{Document, Facts, Table};
use ubauc::metrics::{
    Auc, HandTill, PartialAuc, RocPart, WeightedAuc, auc, hand_till, roc_curve, weighted_auc,
};
use ubauc::model_file::SavedModel;
use ubauc::report::JudgedOn;

use crate::args::WrongUsage;
use crate::input::{FileArg, ScoreArgs, Scores, Wanted};
use crate::output::{self, Output};
use crate::page::{self, PageArgs, PageParts, PageScores, file_name, file_part};
use crate::report;
use crate::scoring::{ColumnArgs, Scoring};

/// What was typed after `ubauc evaluate`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc evaluate scores.csv\n  \
    ubauc evaluate --model model.json test.svm\n  \
    ubauc evaluate scores.csv --report page.html --cost-fn 10\n  \
    ubauc evaluate scores.csv --label fraud --score p --max-fpr 0.05\n  \
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
    /// Also the partial AUC over false positive rates from 0 to this one
    #[arg(long, value_name = "RATE", conflicts_with = "weight")]
    max_fpr: Option<f64>,
    /// Also the partial AUC over true positive rates from this one to 1
    #[arg(long, value_name = "RATE", conflicts_with = "weight")]
    min_tpr: Option<f64>,
    /// Write the ROC curve to this file, as CSV; - is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "weight")]
    roc: Option<PathBuf>,
    /// Many classes: Hand and Till's M, from one column of scores for each class, named as the class
    #[arg(long, conflicts_with_all = ["weight", "max_fpr", "min_tpr", "roc", "positive", "partition"])]
    multiclass: bool,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    scores: ScoreArgs,
}

pub(crate) fn run(args: &EvaluateArgs, output: Output) -> Result<()> {
    let path = &args.input.file;
    let inputs: Vec<&Path> = args
        .model
        .iter()
        .map(PathBuf::as_path)
        .chain([path.as_path()])
        .collect();
    args.page.refuse_early(&inputs)?;
    if args.page.report.is_some() && (args.multiclass || args.weight.is_some()) {
        let what = "--report is for two classes and examples that count alike; leave out --multiclass or --weight";
        return Err(WrongUsage(what.to_string()).into());
    }
    if args.multiclass {
        return output.report(&multiclass(args, path, output)?);
    }
    let roc_to_stdout = args.roc.as_deref().is_some_and(is_stdout);
    if roc_to_stdout && output.json() {
        let what = "--json and --roc - both write to standard output; name a file for the curve";
        return Err(WrongUsage(what.to_string()).into());
    }
    let more: Vec<String> = args.weight.iter().cloned().collect();
    let Scores { columns, labels } = match &args.model {
        Some(model) => {
            let scoring = Scoring {
                models: std::slice::from_ref(model),
                columns: &args.columns,
                format: &args.scores.format,
                classes: &args.scores.classes,
            };
            scoring.score(path, &more, output)?
        }
        None => {
            args.columns.refuse_without_model()?;
            args.scores.load_one(path, &more, output)?
        }
    };
    let in_file = || path.display().to_string();
    let names = labels.names.clone();
    let positive = &labels.positive;
    if let [scores, weights] = columns.as_slice() {
        let weighted = weighted_auc(scores, positive, weights).with_context(in_file)?;
        warn(weighted.degenerate(), weighted.auc, output);
        return output.report(&WeightedReport {
            weighted,
            classes: names,
        });
    }
    let scores = &columns[0];
    let found = auc(scores, positive).with_context(in_file)?;
    let mut partial = Vec::new();
    if args.max_fpr.is_some() || args.min_tpr.is_some() || args.roc.is_some() {
        let curve = roc_curve(scores, positive).with_context(in_file)?;
        let parts = [
            args.max_fpr.map(RocPart::MaxFpr),
            args.min_tpr.map(RocPart::MinTpr),
        ];
        for part in parts.into_iter().flatten() {
            partial.push(curve.partial_auc(part)?);
        }
        if let Some(roc) = &args.roc {
            write_roc(roc, &curve.without_collinear())?;
        }
    }
    let partial_auc = (!partial.is_empty()).then_some(partial);
    warn(found.degenerate(), found.auc, output);
    if let Some(page) = &args.page.report {
        write_page(args, page, (scores, positive, &names), &found)?;
    }
    let report = Report {
        auc: found,
        partial_auc,
        classes: names,
    };
    if roc_to_stdout {
        output.report_aside(&report);
        return Ok(());
    }
    output.report(&report)
}

/// The page of what was judged.
fn write_page(
    args: &EvaluateArgs,
    page: &Path,
    (scores, positive, names): (&[f64], &[bool], &[String; 2]),
    auc: &Auc,
) -> Result<()> {
    let path = &args.input.file;
    let mut parts = PageParts {
        title: format!("Scores of {}", file_name(path)),
        classes: names.clone(),
        positive,
        judged_on: JudgedOn::Given,
        costs: args.page.costs.costs()?,
    };
    let report = match &args.model {
        Some(model) => {
            parts.title = report::title(model, path);
            let saved = SavedModel::load(model)?;
            report::of_model(parts, &saved, scores, model, path)?
        }
        None => {
            let scored = PageScores {
                name: args.scores.score.join(", "),
                scores,
                auc: Some(auc.clone()),
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

/// An interval that says too much.
fn warn(degenerate: bool, auc: f64, output: Output) {
    if degenerate && (auc == 0.0 || auc == 1.0) {
        output.note(
            "note: the classes are separated without error, so the variance estimate is 0 and the \
             interval has no width; that is no certainty about new data",
        );
    } else if degenerate {
        output.note("note: the variance estimate is 0, so the interval has no width");
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
    pub(crate) partial_auc: Option<Vec<PartialAuc>>,
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
        facts.add("95 % interval", interval(*ci95));
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
        facts.add("95 % interval", interval(*ci95));
        facts.add("standard error", number(variance.sqrt()));
        facts.add("positive", side(*n_pos, *weight_pos, positive));
        facts.add("negative", side(*n_neg, *weight_neg, negative));
        facts.into()
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
