//! `ubauc compare`: scorers of the same examples, tested in pairs.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use ubauc::data::labels::Binary;
use ubauc::document::numbers::{interval, number, p_value};
use ubauc::document::{Document, Table};
use ubauc::metrics::{Auc, PairedTest, Sample, Statistic, clustered_compare_many, compare_many};
use ubauc::model_file::SavedModel;
use ubauc::report::JudgedOn;

use crate::args::WrongUsage;
use crate::group_arg::GroupArg;
use crate::input::{ScoreArgs, Scores};
use crate::interval_args::IntervalArgs;
use crate::output::{self, Output};
use crate::page::{self, PageArgs, PageExamples, PageParts, PageScores, file_part};
use crate::scoring::{ColumnArgs, Scoring};

/// What was typed after `ubauc compare`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc compare model_a.csv model_b.csv\n  \
    ubauc compare --model a.json --model b.json test.svm\n  \
    ubauc compare scores.csv --score logistic,forest,ubauc\n  \
    ubauc compare scores.csv --score logistic,forest --report page.html\n  \
    ubauc compare visits.csv --score old,new --group patient\n\n\
    Files must hold the same examples in the same order; their labels are checked row by row.")]
pub(crate) struct CompareArgs {
    /// Files of labels and scores: two or more, or one with several --score columns
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Compare models on one file of examples: give it twice or more
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["score", "feature"])]
    model: Vec<PathBuf>,
    #[command(flatten)]
    group: GroupArg,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    interval: IntervalArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    scores: ScoreArgs,
}

pub(crate) fn run(args: &CompareArgs, seed: u64, output: Output) -> Result<()> {
    let inputs: Vec<&Path> = args
        .files
        .iter()
        .chain(&args.model)
        .map(PathBuf::as_path)
        .collect();
    args.page.refuse_early(&inputs)?;
    args.interval.check()?;
    if !args.model.is_empty() {
        return models(args, seed, output);
    }
    args.columns.refuse_without_model()?;
    let mut all: Option<Scores> = None;
    let mut names = Vec::new();
    for path in &args.files {
        let file = args.scores.load(path, &[], output)?;
        names.extend(names_of(path, args, file.columns.len()));
        match &mut all {
            None => all = Some(file),
            Some(first) => {
                same_labels(first, &file, &args.files[0], path)?;
                note_names(first, &file, &args.files[0], path, output);
                first.columns.extend(file.columns);
            }
        }
    }
    let Some(Scores {
        columns, labels, ..
    }) = all
    else {
        bail!("no files")
    };
    if columns.len() < 2 {
        let what = "one scorer only: name a second file, or several columns (--score a,b)";
        return Err(WrongUsage(what.to_string()).into());
    }
    let n = labels.positive.len();
    let groups = args.group.read(&args.files[0], &args.scores.format, n)?;
    let found = Compared {
        names,
        columns,
        labels,
        groups,
    };
    found.tell(args, seed, output)
}

/// Scorers of the same examples.
struct Compared {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    labels: Binary,
    groups: Option<Vec<u32>>,
}

impl Compared {
    fn tell(&self, args: &CompareArgs, seed: u64, output: Output) -> Result<()> {
        let groups = self.groups.as_deref();
        let mut report = report(&self.names, &self.columns, &self.labels.positive, groups)?;
        report.set_intervals(args, self, seed, output)?;
        write_page(args, &report, self)?;
        tell(&report, output)
    }
}

/// The page of all scorers, if one was asked for.
fn write_page(args: &CompareArgs, found: &Report, compared: &Compared) -> Result<()> {
    let Some(path) = &args.page.report else {
        return Ok(());
    };
    let models = args.model.iter().map(|model| SavedModel::load(model));
    let models = models.collect::<ubauc::Result<Vec<_>>>()?;
    let scorers = found.scorers.iter().zip(&compared.columns).enumerate();
    let scorers = scorers.map(|(k, (scorer, scores))| PageScores {
        name: scorer.name.clone(),
        scores,
        auc: Some(scorer.auc.clone().into()),
        model: models.get(k),
        threshold: None,
    });
    let scorers: Vec<PageScores<'_>> = scorers.collect();
    let parts = PageParts {
        title: format!("{} scorers side by side", scorers.len()),
        classes: compared.labels.names.clone(),
        examples: PageExamples {
            groups: compared.groups.as_deref(),
            ..PageExamples::new(&compared.labels.positive)
        },
        judged_on: JudgedOn::Given,
        costs: args.page.costs.costs()?,
    };
    let mut report = page::report(parts, &scorers)?;
    let examples = args.files.iter().map(|file| file_part("examples", file));
    let models = args.model.iter().map(|file| file_part("model", file));
    report.reproduction.files = examples.chain(models).collect::<Result<Vec<_>>>()?;
    Ok(report.write(path)?)
}

/// Scores one file by every model.
fn models(args: &CompareArgs, seed: u64, output: Output) -> Result<()> {
    let ([path], [_, _, ..]) = (args.files.as_slice(), args.model.as_slice()) else {
        let what = "models are compared on one FILE: --model A --model B FILE";
        return Err(WrongUsage(what.to_string()).into());
    };
    let scoring = Scoring {
        models: &args.model,
        columns: &args.columns,
        format: &args.scores.format,
        classes: &args.scores.classes,
    };
    let found = scoring.score_besides(path, &[], args.group.name(), output)?;
    let compared = Compared {
        names: args.model.iter().map(|m| m.display().to_string()).collect(),
        groups: found.groups,
        columns: found.columns,
        labels: found.labels,
    };
    compared.tell(args, seed, output)
}

fn tell(report: &Report, output: Output) -> Result<()> {
    if report.tests.iter().any(|t| t.test.z.is_infinite()) {
        output.note(
            "note: a difference whose variance estimate is 0 has an infinite z and no p \
             (both null in JSON); the test says nothing about it, and its interval is the exact \
             bound for this number of examples",
        );
    }
    output.report(report)
}

/// Tests all pairs of scorers.
pub(crate) fn report(
    names: &[String],
    columns: &[Vec<f64>],
    positive: &[bool],
    groups: Option<&[u32]>,
) -> Result<Report> {
    let scorers: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let found = match groups {
        None => compare_many(&scorers, positive)?,
        Some(groups) => clustered_compare_many(&scorers, positive, groups)?,
    };
    let scorers = names
        .iter()
        .zip(found.aucs)
        .map(|(name, auc)| Scorer {
            name: name.clone(),
            auc,
        })
        .collect();
    let tests = found
        .pairs
        .into_iter()
        .map(|pair| Test {
            a: names[pair.a].clone(),
            b: names[pair.b].clone(),
            test: pair.test,
            p_holm: pair.p_holm,
        })
        .collect();
    Ok(Report { scorers, tests })
}

fn names_of(path: &Path, args: &CompareArgs, columns: usize) -> Vec<String> {
    let file = path.display().to_string();
    match (args.files.len(), columns) {
        (_, 1) => vec![file],
        (1, _) => args.scores.score.clone(),
        _ => args
            .scores
            .score
            .iter()
            .map(|column| format!("{file}:{column}"))
            .collect(),
    }
}

/// Files that call the classes differently may be of different data.
fn note_names(first: &Scores, other: &Scores, first_path: &Path, path: &Path, output: Output) {
    let ([a, b], [c, d]) = (&first.labels.names, &other.labels.names);
    if (a, b) != (c, d) {
        output.note(format!(
            "note: the classes (negative, positive) are {a}, {b} in {} and {c}, {d} in {}; they \
             are taken as the same",
            first_path.display(),
            path.display()
        ));
    }
}

/// A paired test of two different lists of examples would be nonsense.
fn same_labels(first: &Scores, other: &Scores, first_path: &Path, path: &Path) -> Result<()> {
    let (a, b) = (&first.labels.positive, &other.labels.positive);
    let (first_path, path) = (first_path.display(), path.display());
    if a.len() != b.len() {
        let (n, m) = (a.len(), b.len());
        bail!("{path}: {m} examples, {first_path} has {n}; a paired test needs the same ones");
    }
    if let Some(row) = a.iter().zip(b).position(|(a, b)| a != b) {
        bail!(
            "{path}: the label of example {} differs from that in {first_path}; a paired test \
             needs the same examples in the same order",
            row + 1
        );
    }
    Ok(())
}

#[derive(Serialize)]
pub(crate) struct Report {
    scorers: Vec<Scorer>,
    tests: Vec<Test>,
}

#[derive(Serialize)]
struct Scorer {
    name: String,
    #[serde(flatten)]
    auc: Auc,
}

#[derive(Serialize)]
struct Test {
    a: String,
    b: String,
    #[serde(flatten)]
    test: PairedTest,
    p_holm: Option<f64>,
}

impl Report {
    /// The intervals of the scorers, as they were asked for.
    fn set_intervals(
        &mut self,
        args: &CompareArgs,
        compared: &Compared,
        seed: u64,
        output: Output,
    ) -> Result<()> {
        for (scorer, scores) in self.scorers.iter_mut().zip(&compared.columns) {
            let sample = Sample {
                groups: compared.groups.as_deref(),
                ..Sample::new(scores, &compared.labels.positive)
            };
            let share = scorer.auc.share();
            let args = &args.interval;
            scorer.auc.ci95 = args.of(share, Statistic::Auc, &sample, seed, output)?;
        }
        Ok(())
    }
}

impl output::Report for Report {
    fn document(&self) -> Document {
        let mut scorers = Table::new(["scorer", "AUC", "95 % interval"]);
        for Scorer { name, auc } in &self.scorers {
            scorers.row([name.clone(), number(auc.auc), interval(auc.ci95)]);
        }
        let head = ["pair", "difference", "95 % interval", "z", "p", "p (Holm)"];
        let mut tests = Table::new(head);
        for Test { a, b, test, p_holm } in &self.tests {
            tests.row([
                format!("{a} - {b}"),
                number(test.difference),
                interval(test.ci95),
                format!("{:.3}", test.z),
                p_value(test.p),
                p_value(*p_holm),
            ]);
        }
        Document::default().with(scorers).with(tests)
    }
}
