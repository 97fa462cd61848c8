//! `ubauc tune`: which loss and which γ, and is the model better than logistic regression?

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use serde::{Serialize, Serializer};
use ubauc::data::scale::Scale;
use ubauc::document::numbers::{interval, number};
use ubauc::document::{Block, Document, Table};
use ubauc::glass_box::MapKind;
use ubauc::metrics::Criterion;
use ubauc::objective::ubauc::ClassWeight;
use ubauc::tune::{GridPoint, LossGrid, SIGNIFICANT, TuneParams, TunedMaps, Verdict};

use crate::args::InterceptArgs;
use crate::column_report::FeaturesReport;
use crate::feature_args::{FeatureArgs, Given, Plan, refuse_hinge};
use crate::input::FileArg;
use crate::map_report::{self, MapReport};
use crate::names::{LeastSquaresName, ScaleName};
use crate::output::{self, Output};
use crate::search::{SearchArgs, Task, comparison, criterion_name, described, options_of, search};
use crate::training::{Training, TrainingArgs, quoted};

/// What was typed after `ubauc tune`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc tune train.svm\n  \
    ubauc tune train.csv --label churned --scale standard\n  \
    ubauc tune churn.csv --label churned --features auto --pairs 3x --time-limit 60\n  \
    ubauc tune train.csv --weight times_seen --ignore id\n  \
    ubauc tune train.svm --betas 0.5,1,2 --gammas 1e-3,1e-4 --least-squares balanced --json\n  \
    ubauc tune visits.csv --label relapse --group patient --criterion partial-auc:0.1\n\n\
    A fifth of the examples is held out first (--held-out); the folds are made of the rest, and every\n\
    point is judged by its mean AUC over the folds left out. What is clearly behind on the first two\n\
    folds is not tried on the others. The choice and logistic regression at its best are then fitted on\n\
    all folds and compared on the examples held out by DeLong's paired test. The last line is the\n\
    command that trains the better one.\n\n\
    Of a table the features are chosen too: linear, additive (bins of numbers), and pairs of columns, each\n\
    with the losses that did best before; the simplest that is not worse by more than one standard error\n\
    of the difference is taken. Maps are learned inside each fold.\n\n\
    A point of the hinge is collapsed, and never chosen, if all weights are 0 or a mass of examples is\n\
    tied at the threshold: its beta is too small.\n\n\
    Weights count in the fits and in the AUC of the folds. On the examples held out each counts once,\n\
    whatever its weight, as the test knows no weights; those of weight 0 are not among them.")]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    input: FileArg,
    /// Values of β, the weight of the least squares, to try; without --softness they are those of the paper's hinge
    #[arg(
        long,
        value_name = "B,…",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    betas: Vec<f64>,
    /// Values of γ, the weight of |w|²/2, to try [default: 1e-1,1e-2,1e-3,1e-4,1e-5, and
    /// beyond where the best is at an end]
    #[arg(
        long,
        value_name = "G,…",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    gammas: Vec<f64>,
    /// Values of the softness to try; 0 is the paper's hinge [default: 0 if --betas or --least-squares is given, else
    /// what is tried is (beta, softness) = (0, 1), which is logistic regression, (0.5, 0.05) and (0.1, 1)]
    #[arg(
        long,
        value_name = "K,…",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    softness: Vec<f64>,
    /// Weights of the classes to try: none, balanced, or R for negatives that weigh R times as much as the positives, each
    /// class as a whole [default: none and balanced, for a partial AUC ratios, too; of the hinge none]
    #[arg(long, value_name = "WEIGHT,…", value_delimiter = ',')]
    class_weight: Vec<ClassWeight>,
    /// Kinds of least squares to try: over all examples alike, or each class with half of the weight [default: of the hinge
    /// both, else plain]
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', value_enum)]
    least_squares: Vec<LeastSquaresName>,
    #[command(flatten)]
    intercept: InterceptArgs,
    /// Divide every feature by its largest absolute value (maxabs) or its standard deviation (standard) in the training
    /// examples of each fold [default: standard for dense, maxabs for sparse features]
    #[arg(long, value_enum)]
    scale: Option<ScaleName>,
    /// Relative gap at which the points are compared
    #[arg(long, value_name = "GAP", default_value_t = TuneParams::default().tolerance)]
    tolerance: f64,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    features: FeatureArgs,
    #[command(flatten)]
    training: TrainingArgs,
}

impl TuneArgs {
    fn params(&self, seed: u64) -> Result<TuneParams> {
        let loss = LossGrid {
            betas: self.betas.clone(),
            gammas: self.gammas.clone(),
            softness: self.softness.clone(),
            class_weights: self.class_weight.clone(),
            least_squares: self.least_squares.iter().map(|&k| k.into()).collect(),
            intercept: self.intercept.intercept(),
        };
        let params = TuneParams {
            tolerance: self.tolerance,
            ..self.search.params(&loss, seed)?
        };
        params.check()?;
        Ok(params)
    }

    fn plan(&self) -> Result<Plan> {
        self.features.plan(Given {
            searches: true,
            is_free: self.betas.is_empty() && self.gammas.is_empty(),
            linear_only: self.scale.map(|_| "--scale"),
            is_monotone: self.training.monotone().is_some(),
        })
    }
}

pub(crate) fn run(args: &TuneArgs, seed: u64, output: Output) -> Result<()> {
    let started = Instant::now();
    let path = &args.input.file;
    let mut params = args.params(seed)?;
    let plan = args.plan()?;
    let is_monotone = args.training.monotone().is_some();
    refuse_hinge(is_monotone, params.settings.iter().map(|s| s.softness))?;
    let training = args.training.read(path, &plan, output)?;
    let suited = || Scale::suited(training.data.rows());
    params.scale = args.scale.map_or_else(suited, Into::into);
    let read = started.elapsed().as_secs_f64();
    let task = Task {
        params: &params,
        plan: &plan,
        args: &args.search,
        classes: None,
        beta_option: "--betas",
    };
    let tuned = search(&training, &task, output).with_context(|| path.display().to_string())?;
    let total = started.elapsed().as_secs_f64();
    let seconds = Seconds {
        read,
        tune: total - read,
        total,
    };
    let points = || tuned.trials.iter().flat_map(|trial| &trial.tuned.points);
    let collapsed = points().filter(|p| p.collapsed).count();
    if collapsed > 0 {
        output.note(format!(
            "note: {collapsed} of {} points collapsed (w = 0, or a mass of examples tied at the \
             threshold) and were not considered",
            points().count()
        ));
    }
    output.report(&Report::new(args, &training, &params, tuned, seconds))
}

#[derive(Serialize)]
struct Report {
    #[serde(skip)]
    file: PathBuf,
    /// How the file was read.
    #[serde(skip)]
    reading: String,
    n: usize,
    n_pos: usize,
    n_neg: usize,
    d: usize,
    /// Lines of the file that were left out.
    skipped: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<FeaturesReport>,
    folds: u32,
    seed: u64,
    intercept: bool,
    scale: &'static str,
    #[serde(skip)]
    scaling: Scale,
    tolerance: f64,
    one_standard_error: bool,
    held_out: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    criterion: Criterion,
    /// The best point of every map.
    maps: Vec<MapReport>,
    /// Maps that were not tried, as the table is wide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
    chosen: MapPoint,
    logistic_chosen: MapPoint,
    verdict: Option<Verdict>,
    points: Vec<MapPoint>,
    cut_short: bool,
    seconds: Seconds,
}

/// A point, and with which features.
#[derive(Clone, PartialEq, Serialize)]
struct MapPoint {
    #[serde(serialize_with = "as_text")]
    map: MapKind,
    #[serde(flatten)]
    point: GridPoint,
}

fn as_text<S: Serializer>(map: &MapKind, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(map)
}

impl MapPoint {
    fn new(map: &MapKind, point: &GridPoint) -> MapPoint {
        let (map, point) = (map.clone(), point.clone());
        MapPoint { map, point }
    }
}

#[derive(Serialize)]
struct Seconds {
    read: f64,
    tune: f64,
    total: f64,
}

impl Report {
    fn new(
        args: &TuneArgs,
        training: &Training,
        params: &TuneParams,
        tuned: TunedMaps,
        seconds: Seconds,
    ) -> Report {
        let data = &training.data;
        let (map, point) = tuned.best();
        let first = &tuned.trials[0];
        let points = tuned.trials.iter().flat_map(|trial| {
            let points = trial.tuned.points.iter();
            points.map(|point| MapPoint::new(&trial.map, point))
        });
        Report {
            skipped: training.n_skipped,
            features: training.features_report(),
            file: args.input.file.clone(),
            reading: args.training.typed(),
            n: data.rows().len(),
            n_pos: data.n_pos(),
            n_neg: data.n_neg(),
            d: data.rows().cols(),
            folds: params.folds,
            seed: params.seed,
            intercept: params.intercept,
            scale: params.scale.name(),
            tolerance: params.tolerance,
            one_standard_error: params.one_standard_error,
            held_out: params.held_out,
            weight: args.training.weight.clone(),
            group: args.training.group.clone(),
            criterion: params.criterion,
            scaling: params.scale,
            maps: MapReport::new(&tuned),
            left_out: map_report::left_out(&tuned),
            chosen: MapPoint::new(map, point),
            logistic_chosen: MapPoint::new(&first.map, first.tuned.best_logistic()),
            points: points.collect(),
            verdict: tuned.verdict,
            cut_short: tuned.cut_short,
            seconds,
        }
    }

    /// The options of `ubauc train` for the choice; the scale is always said, since what `train` does without it depends on
    /// its other options.
    fn options(&self) -> String {
        let MapPoint { map, point } = &self.chosen;
        options_of((map, point), self.intercept, self.scaling)
    }

    /// The same for logistic regression.
    fn logistic_options(&self) -> String {
        let MapPoint { map, point } = &self.logistic_chosen;
        options_of((map, point), true, self.scaling)
    }

    /// Logistic regression is better, and not by chance.
    fn worse(&self) -> bool {
        self.verdict.as_ref().is_some_and(Verdict::is_worse)
    }

    /// One sentence to act on.
    fn advice(&self) -> String {
        let Some(verdict) = &self.verdict else {
            let ours = self.chosen.point.judged.auc;
            let theirs = self.logistic_chosen.point.judged.auc;
            return format!(
                "Use {}: mean {} {ours:.4} over the folds, logistic regression {theirs:.4}; \
                 nothing was held out to test the difference.",
                self.options(),
                criterion_name(self.criterion),
            );
        };
        let what = comparison(verdict);
        let options = self.options();
        if verdict.is_logistic {
            format!("Use {options}: {what}.")
        } else if self.worse() {
            let logistic = self.logistic_options();
            format!("Use {logistic}: it is better than {options}; {what}.")
        } else if verdict.test.p.is_none_or(|p| p >= SIGNIFICANT) {
            format!("Use {options}: {what}; no difference is shown, and either model will do.")
        } else {
            format!("Use {options}: {what}; it is better than logistic regression.")
        }
    }
}

/// Points shown to people; JSON has them all.
const SHOWN: usize = 10;

impl output::Report for Report {
    fn document(&self) -> Document {
        let mut document = Document::default();
        if self.maps.len() > 1 {
            document = document.with(map_report::table(&self.maps, &self.left_out));
        }
        document = document.with(self.best_points());
        if let Some(Verdict { ours, logistic, .. }) = &self.verdict {
            let mut table = Table::new(["held out", "AUC", "95 % interval"]);
            for (name, auc) in [("ours", ours), ("logistic", logistic)] {
                table.row([name.to_string(), number(auc.auc), interval(auc.ci95)]);
            }
            document = document.with(table);
        }
        document = document.paragraph(self.advice());
        let options = match self.worse() {
            true => self.logistic_options(),
            false => self.options(),
        };
        match self.file.display().to_string().as_str() {
            "-" => document,
            file => {
                let (file, reading) = (quoted(file), &self.reading);
                document.with(Block::Command(format!(
                    "ubauc train {file}{reading} {options}"
                )))
            }
        }
    }
}

impl Report {
    fn best_points(&self) -> Table {
        let mut best: Vec<&MapPoint> = self.points.iter().collect();
        // Collapsed ones last: they cannot be chosen, whatever their AUC.
        best.sort_by(|MapPoint { point: a, .. }, MapPoint { point: b, .. }| {
            let order = b.judged.auc.total_cmp(&a.judged.auc);
            let whole = a.stopped.cmp(&b.stopped);
            a.collapsed.cmp(&b.collapsed).then(whole).then(order)
        });
        let criterion = criterion_name(self.criterion);
        let head = [
            "features",
            "loss",
            "gamma",
            &criterion,
            "std. error",
            "folds",
            "",
        ];
        let mut table = Table::new(head).left(&[1]);
        let more = best.len().saturating_sub(SHOWN);
        table.foot = (more > 0).then(|| format!("… {more} more (all with --json)"));
        best.truncate(SHOWN);
        for kept in [&self.chosen, &self.logistic_chosen] {
            if !best.contains(&kept) {
                best.push(kept);
            }
        }
        for of_map in best {
            let MapPoint { map, point } = of_map;
            let mark = match (*of_map == self.chosen, point.collapsed) {
                (true, _) => "chosen",
                (_, true) => "collapsed",
                _ if *of_map == self.logistic_chosen => "logistic regression",
                _ => "",
            };
            table.row([
                map.to_string(),
                described(&point.setting),
                format!("{:e}", point.gamma),
                number(point.judged.auc),
                number(point.judged.standard_error),
                point.judged.fold_aucs.len().to_string(),
                mark.to_string(),
            ]);
        }
        table
    }
}
