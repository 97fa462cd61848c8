//! The page of `--report` and of `ubauc report`, from what the commands have found.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use ubauc::atomic::{AtomicFile, is_stdout};
use ubauc::checksum::xxh3_of;
use ubauc::export::scorecard::{Points, Scorecard};
use ubauc::features::FeatureMap;
use ubauc::metrics::{Sample, clustered_compare_many, compare_many};
use ubauc::model_file::{Parameters, SavedModel};
use ubauc::report::{
    AucPart, ColumnPart, Compared, Costs, EffectsPart, FilePart, Judged, JudgedOn, Report,
    Reproduction, Scored,
};

use crate::args::WrongUsage;
use crate::scoring::refuse_overwriting;
use crate::training::quoted;

/// Options of a page that is written besides the report.
#[derive(Debug, Args)]
#[command(next_help_heading = "Page")]
pub(crate) struct PageArgs {
    /// Also write a page to this file: HTML with charts that needs no other file and opens in any browser
    #[arg(long, value_name = "OUT.html")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) costs: CostArgs,
}

/// What mistakes cost.
#[derive(Debug, Args)]
#[command(next_help_heading = "Page")]
pub(crate) struct CostArgs {
    /// Cost of a false alarm: the page marks the cheapest cut [default: 1 if --cost-fn is given]
    #[arg(long, value_name = "COST", allow_hyphen_values = true)]
    cost_fp: Option<f64>,
    /// Cost of a positive that is missed [default: 1 if --cost-fp is given]
    #[arg(long, value_name = "COST", allow_hyphen_values = true)]
    cost_fn: Option<f64>,
}

/// Points instead of scores.
#[derive(Debug, Args)]
#[command(next_help_heading = "Page")]
pub(crate) struct PointsArg {
    /// Also points instead of scores on the page, as of `ubauc export`: pdo=20,odds=50,base=600; of a model whose scores are
    /// log-odds, such as --beta 0 --softness 1
    #[arg(long, value_name = "POINTS")]
    points: Option<String>,
}

impl PointsArg {
    /// What points mean, if they were asked for.
    pub(crate) fn points(&self) -> Result<Option<Points>> {
        let parsed = self.points.as_deref().map(Points::parse);
        Ok(parsed.transpose()?)
    }

    /// What was typed of these and of costs that is for two classes.
    pub(crate) fn for_two_classes(&self, costs: &CostArgs) -> Option<&'static str> {
        let options = [
            ("--cost-fp", costs.cost_fp.is_some()),
            ("--cost-fn", costs.cost_fn.is_some()),
            ("--points", self.points.is_some()),
        ];
        options.iter().find(|o| o.1).map(|o| o.0)
    }

    /// The points of a model, if they were asked for.
    pub(crate) fn card(&self, saved: Option<&SavedModel>) -> Result<Option<Scorecard>> {
        let Some(points) = self.points()? else {
            return Ok(None);
        };
        let Some(saved) = saved else {
            let what = "--points are those of the terms of one model";
            return Err(WrongUsage(what.to_string()).into());
        };
        Ok(Some(Scorecard::of(saved, points)?))
    }

    /// Points are on a page.
    pub(crate) fn refuse_without(&self, page: &PageArgs) -> Result<()> {
        if self.points()?.is_some() && page.report.is_none() {
            let what = "--points is for the page; give --report too";
            return Err(WrongUsage(what.to_string()).into());
        }
        Ok(())
    }
}

impl CostArgs {
    /// Both, if one was typed.
    pub(crate) fn costs(&self) -> Result<Option<Costs>> {
        for (option, cost) in [("--cost-fp", self.cost_fp), ("--cost-fn", self.cost_fn)] {
            if let Some(cost) = cost.filter(|cost| !cost.is_finite() || *cost < 0.0) {
                let what = format!("{option} {cost}: a cost must be finite and not negative");
                return Err(WrongUsage(what).into());
            }
        }
        let is_given = self.cost_fp.is_some() || self.cost_fn.is_some();
        Ok(is_given.then(|| Costs {
            false_positive: self.cost_fp.unwrap_or(1.0),
            false_negative: self.cost_fn.unwrap_or(1.0),
        }))
    }
}

impl PageArgs {
    /// Refuses what cannot be written before the long work begins.
    pub(crate) fn refuse_early(&self, inputs: &[&Path]) -> Result<()> {
        let costs = self.costs.costs()?;
        let wrong = |what: &str| Err(WrongUsage(what.to_string()).into());
        match &self.report {
            None if costs.is_some() => {
                wrong("--cost-fp and --cost-fn are for the page; give --report too")
            }
            None => Ok(()),
            Some(path) if is_stdout(path) => {
                wrong("--report - : standard output has the report in words; name a file")
            }
            Some(path) => refuse_unwritable(path, inputs, "--report"),
        }
    }
}

/// Refuses a page over an input or where none can be.
pub(crate) fn refuse_unwritable(path: &Path, inputs: &[&Path], option: &str) -> Result<()> {
    refuse_overwriting(path, inputs, option)?;
    // A pipe or a device is opened once, at the end.
    if !is_stdout(path) && path.metadata().map_or(true, |m| m.is_file() || m.is_dir()) {
        drop(AtomicFile::create(path)?);
    }
    Ok(())
}

/// Scores to be judged.
pub(crate) struct PageScores<'a> {
    pub(crate) name: String,
    pub(crate) scores: &'a [f64],
    pub(crate) auc: Option<AucPart>,
    /// What has scored.
    pub(crate) model: Option<&'a SavedModel>,
    pub(crate) threshold: Option<f64>,
}

/// What every page has.
pub(crate) struct PageParts<'a> {
    pub(crate) title: String,
    pub(crate) classes: [String; 2],
    pub(crate) examples: PageExamples<'a>,
    pub(crate) judged_on: JudgedOn,
    pub(crate) costs: Option<Costs>,
}

/// The examples that scorers are judged by.
#[derive(Clone, Copy)]
pub(crate) struct PageExamples<'a> {
    pub(crate) positive: &'a [bool],
    pub(crate) weights: Option<&'a [f64]>,
    pub(crate) groups: Option<&'a [u32]>,
}

impl<'a> PageExamples<'a> {
    /// That count once and are independent.
    pub(crate) fn new(positive: &'a [bool]) -> Self {
        Self {
            positive,
            weights: None,
            groups: None,
        }
    }

    fn sample(self, scores: &'a [f64]) -> Sample<'a> {
        Sample {
            scores,
            positive: self.positive,
            weights: self.weights,
            groups: self.groups,
        }
    }
}

/// Judges all scorers, and tests them in pairs.
pub(crate) fn report(parts: PageParts<'_>, scorers: &[PageScores<'_>]) -> Result<Report> {
    let judge = |scorer: &PageScores<'_>| {
        let model = scorer.model.map(|saved| &saved.model);
        let calibrated = model.filter(|model| model.calibration.is_some());
        let by_model = |score: f64| {
            calibrated
                .and_then(|m| m.probability(score))
                .unwrap_or(score)
        };
        let is_probability = model.is_none() && are_probabilities(scorer.scores);
        let scored = Scored {
            name: scorer.name.clone(),
            sample: parts.examples.sample(scorer.scores),
            auc: scorer.auc.clone(),
            threshold: scorer.threshold.or(model.map(|model| model.threshold)),
            probability: (calibrated.is_some() || is_probability).then_some(&by_model),
        };
        Judged::new(&scored, parts.costs)
    };
    let judged = scorers
        .iter()
        .map(judge)
        .collect::<ubauc::Result<Vec<_>>>()?;
    let tests = match scorers.len() {
        1 => Vec::new(),
        _ => tests(scorers, parts.examples)?,
    };
    let model = scorers
        .first()
        .and_then(|scorer| scorer.model)
        .filter(|_| scorers.len() == 1);
    Ok(Report {
        title: parts.title,
        classes: parts.classes,
        judged_on: parts.judged_on,
        costs: parts.costs,
        scorers: judged,
        tests,
        effects: model
            .and_then(|saved| EffectsPart::of_model(&saved.model, saved.effects.as_ref())),
        points: None,
        search: Vec::new(),
        certificate: model.map(|saved| saved.certificate.clone()),
        steps: Vec::new(),
        columns: model.map_or(Vec::new(), |saved| match &saved.model.features {
            FeatureMap::Columns(map) => ColumnPart::of_map(map),
            FeatureMap::Identity | FeatureMap::Hash { .. } => Vec::new(),
        }),
        reproduction: Reproduction {
            commands: vec![typed()],
            version: version(),
            parameters: model.map_or(Vec::new(), |saved| {
                parameters(&saved.algorithm, &saved.parameters)
            }),
            ..Reproduction::default()
        },
        notes: Vec::new(),
    })
}

/// No command compares weighted examples.
fn tests(scorers: &[PageScores<'_>], examples: PageExamples<'_>) -> Result<Vec<Compared>> {
    let columns: Vec<&[f64]> = scorers.iter().map(|scorer| scorer.scores).collect();
    let found = match examples.groups {
        None => compare_many(&columns, examples.positive)?,
        Some(groups) => clustered_compare_many(&columns, examples.positive, groups)?,
    };
    let compared = found.pairs.into_iter().map(|pair| Compared {
        a: pair.a,
        b: pair.b,
        test: pair.test,
        p_holm: pair.p_holm,
    });
    Ok(compared.collect())
}

/// All from 0 to 1, and not only these two.
fn are_probabilities(scores: &[f64]) -> bool {
    scores.iter().all(|score| (0.0..=1.0).contains(score))
        && scores.iter().any(|score| *score != 0.0 && *score != 1.0)
}

/// The algorithm of a model, and its parameters.
pub(crate) fn parameters(algorithm: &str, parameters: &Parameters) -> Vec<(String, String)> {
    let algorithm = ("algorithm".to_string(), algorithm.to_string());
    let others = parameters.iter().map(|(name, value)| match value.as_str() {
        Some(text) => (name.clone(), text.to_string()),
        None => (name.clone(), value.to_string()),
    });
    std::iter::once(algorithm).chain(others).collect()
}

/// The command line, to be typed again.
pub(crate) fn typed() -> String {
    let words = std::env::args_os().skip(1);
    let words = words.map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("ubauc".to_string())
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

pub(crate) fn version() -> String {
    let commit = option_env!("UBAUC_COMMIT").map_or(String::new(), |commit| format!(" ({commit})"));
    format!("ubauc {}{commit}", env!("CARGO_PKG_VERSION"))
}

/// A file that was read, with its checksum.
pub(crate) fn file_part(role: &str, path: &Path) -> Result<FilePart> {
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let sum = || -> Result<String> {
        let file = File::open(path).with_context(|| path.display().to_string())?;
        Ok(format!(
            "{:016x}",
            xxh3_of(file).with_context(|| path.display().to_string())?
        ))
    };
    Ok(FilePart {
        role: role.to_string(),
        path: path.display().to_string(),
        xxh3: if is_file { Some(sum()?) } else { None },
    })
}

/// The last part of a path, for people.
pub(crate) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
