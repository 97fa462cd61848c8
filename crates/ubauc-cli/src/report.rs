//! `ubauc report`: a model judged on a file, as a page to look at.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use ubauc::atomic::is_stdout;
use ubauc::data::labels::Choice;
use ubauc::document::numbers::{interval, number, thousands};
use ubauc::document::{Document, Facts};
use ubauc::many_classes::ClassModel;
use ubauc::model_file::SavedModel;
use ubauc::report::{AucPart, ClassesReport, JudgedOn, Report};

use crate::args::WrongUsage;
use crate::class_page;
use crate::group_arg::GroupArg;
use crate::input::{ClassArgs, FormatArgs};
use crate::output::{self, Output};
use crate::page::{
    self, CostArgs, PageExamples, PageParts, PageScores, PointsArg, file_name, file_part,
};
use crate::scoring::classes::{ClassFile, Loaded};
use crate::scoring::{ColumnArgs, Scoring};

/// What was typed after `ubauc report`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc report model.json test.csv -o report.html\n  \
    ubauc report model.json test.csv -o report.html --cost-fp 1 --cost-fn 20\n  \
    ubauc report model.json visits.csv -o report.html --group patient\n  \
    ubauc report model.json test.csv -o report.html --json > report.json\n\n\
    The page says how good the model is, what it looks at and where to cut, with charts. It is one file that needs\n\
    no network and works without JavaScript. Judge on examples that the model has not seen.")]
pub(crate) struct ReportArgs {
    /// The model, from `ubauc train --model`
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Examples with labels
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// The page; - is standard output
    #[arg(long, short, value_name = "OUT.html")]
    output: PathBuf,
    /// Column of sample weights
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    #[command(flatten)]
    group: GroupArg,
    #[command(flatten)]
    costs: CostArgs,
    #[command(flatten)]
    points: PointsArg,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    classes: ClassArgs,
}

pub(crate) fn run(args: &ReportArgs, output: Output) -> Result<()> {
    let costs = args.costs.costs()?;
    args.points.points()?;
    if is_stdout(&args.output) && output.json() {
        let what = "--json and -o - both write to standard output; name a file for the page";
        return Err(WrongUsage(what.to_string()).into());
    }
    let inputs = [args.model.as_path(), &args.data];
    page::refuse_unwritable(&args.output, &inputs, "-o")?;
    if let Loaded::Many(model) = args.columns.load_any(&args.model)? {
        return of_many(args, &model, output);
    }
    let saved = SavedModel::load(&args.model)?;
    let scoring = Scoring {
        models: std::slice::from_ref(&args.model),
        columns: &args.columns,
        format: &args.format,
        classes: &args.classes,
    };
    args.group.refuse_with_weights(args.weight.is_some())?;
    let more: Vec<String> = args.weight.iter().cloned().collect();
    let ignored = args.group.name();
    let found = scoring.score_besides(&args.data, &more, ignored, output)?;
    let parts = PageParts {
        title: title(&args.model, &args.data),
        classes: found.labels.names.clone(),
        examples: PageExamples {
            positive: &found.labels.positive,
            weights: found.columns.get(1).map(Vec::as_slice),
            groups: found.groups.as_deref(),
        },
        judged_on: JudgedOn::Given,
        costs,
    };
    let mut report = of_model(
        parts,
        &saved,
        (&found.columns[0], None),
        &args.model,
        &args.data,
    )?;
    report.points = args.points.card(Some(&saved))?;
    report.write(&args.output)?;
    let page = args.output.clone();
    args.tell(&Written { report, page }, output)
}

impl ReportArgs {
    /// Where the page itself goes to standard output the report goes to standard error.
    fn tell(&self, written: &impl output::Report, output: Output) -> Result<()> {
        if is_stdout(&self.output) {
            output.report_aside(written);
            return Ok(());
        }
        output.report(written)
    }
}

/// The page of a model of many classes.
fn of_many(args: &ReportArgs, model: &ClassModel, output: Output) -> Result<()> {
    let two_only = [
        ("--weight", args.weight.is_some()),
        ("--group", args.group.name().is_some()),
        (
            "--positive or --partition",
            args.classes.choice() != Choice::Larger,
        ),
    ];
    let found = two_only.iter().find(|o| o.1).map(|o| o.0);
    class_page::refuse_for_many(found.or(args.points.for_two_classes(&args.costs)), model)?;
    let file = ClassFile {
        path: &args.data,
        format: &args.format,
        ignore: args.columns.ignore(),
        on_error: args.columns.on_error(),
    };
    let (found, classes) = file.judge(model, output)?;
    let title = title(&args.model, &args.data);
    let report = class_page::of_found(title, JudgedOn::Given, (&found, &classes));
    let mut report = class_page::with_model(report, &class_page::load_many(&args.model)?);
    report.reproduction.files = vec![
        file_part("examples", &args.data)?,
        file_part("model", &args.model)?,
    ];
    report.write(&args.output)?;
    let page = args.output.clone();
    args.tell(&ClassesWritten { report, page }, output)
}

pub(crate) fn title(model: &Path, data: &Path) -> String {
    format!("{} on {}", file_name(model), file_name(data))
}

/// The page of a model that was read from a file.
pub(crate) fn of_model(
    parts: PageParts<'_>,
    saved: &SavedModel,
    (scores, auc): (&[f64], Option<AucPart>),
    model: &Path,
    data: &Path,
) -> Result<Report> {
    let scored = PageScores {
        name: file_name(model),
        scores,
        auc,
        model: Some(saved),
        threshold: None,
    };
    let mut report = page::report(parts, &[scored])?;
    report.reproduction.files = vec![file_part("examples", data)?, file_part("model", model)?];
    Ok(report)
}

/// What is printed about a page that was written.
#[derive(Serialize)]
struct Written {
    #[serde(flatten)]
    report: Report,
    page: PathBuf,
}

impl output::Report for Written {
    fn document(&self) -> Document {
        let mut facts = Facts::default();
        for scorer in &self.report.scorers {
            facts.add("AUC", number(scorer.auc.auc));
            facts.add("95 % interval", interval(scorer.auc.ci95));
            let n = scorer.auc.n_pos + scorer.auc.n_neg;
            facts.add("examples", thousands(n as u64));
        }
        facts.add("page", self.page.display());
        facts.into()
    }
}

/// The same of many classes.
#[derive(Serialize)]
struct ClassesWritten {
    #[serde(flatten)]
    report: ClassesReport,
    page: PathBuf,
}

impl output::Report for ClassesWritten {
    fn document(&self) -> Document {
        let mut facts = Facts::default();
        facts.add("Hand-Till M", number(self.report.m));
        facts.add("classes", self.report.classes.len());
        let n: usize = self.report.classes.iter().map(|class| class.n).sum();
        facts.add("examples", thousands(n as u64));
        facts.add("page", self.page.display());
        facts.into()
    }
}
