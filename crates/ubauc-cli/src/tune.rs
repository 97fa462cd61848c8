//! `ubauc tune`: which β and γ, and is the model better than logistic regression?

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use clap::{Args, ValueEnum};
use serde::Serialize;
use ubauc::data::dataset::Dataset;
use ubauc::data::scale::Scale;
use ubauc::document::numbers::{interval, number, p_value, thousands};
use ubauc::document::{Block, Document, Table};
use ubauc::objective::ubauc::LeastSquares;
use ubauc::tune::{GridPoint, LogisticPoint, SIGNIFICANT, TuneParams, Tuned, Verdict, tune};

use crate::args::InterceptArgs;
use crate::input::FileArg;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::training::{Training, TrainingArgs, quoted};

/// What was typed after `ubauc tune`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc tune train.svm\n  \
    ubauc tune train.csv --label churned --scale standard\n  \
    ubauc tune train.csv --weight times_seen --ignore id\n  \
    ubauc tune train.svm --betas 0.5,1,2 --gammas 1e-3,1e-4 --least-squares balanced --json\n\n\
    A fifth of the examples is held out first (--held-out); the folds are made of the rest, and every\n\
    point of the grid is judged by its mean AUC over the folds left out. Both choices, ours and\n\
    logistic regression, are then fitted on all folds and compared on the examples held out by\n\
    DeLong's paired test. The last line is the command that trains the better one.\n\n\
    A point is collapsed, and never chosen, if all weights are 0 or a mass of examples is tied at the\n\
    threshold: its beta is too small.\n\n\
    Weights count in the fits and in the AUC of the folds. On the examples held out each counts once,\n\
    whatever its weight, as the test knows no weights; those of weight 0 are not among them.")]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    input: FileArg,
    /// Folds of the cross-validation
    #[arg(long, value_name = "K", default_value_t = 5)]
    folds: u32,
    /// Values of β, the weight of the least squares, to try [default: 0.1,0.2,0.5,1,2,5]
    #[arg(long, value_name = "B,…", value_delimiter = ',')]
    betas: Vec<f64>,
    /// Values of γ, the weight of |w|²/2, to try [default: 1e-1,1e-2,1e-3,1e-4,1e-5]
    #[arg(long, value_name = "G,…", value_delimiter = ',')]
    gammas: Vec<f64>,
    /// Kinds of least squares to try: over all examples alike, or each class with half of the weight
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', value_enum,
        default_values_t = [Kind::Plain, Kind::Balanced])]
    least_squares: Vec<Kind>,
    /// Values of γ to try for logistic regression [default: 1e-2,1e-3,1e-4,1e-5,1e-6]
    #[arg(long, value_name = "G,…", value_delimiter = ',')]
    logistic_gammas: Vec<f64>,
    #[command(flatten)]
    intercept: InterceptArgs,
    /// Divide every feature by its largest absolute value (maxabs) or its standard deviation (standard) in the training
    /// examples of each fold
    #[arg(long, value_enum, default_value_t = ScaleName::None)]
    scale: ScaleName,
    /// Choose the largest γ whose mean AUC is within one standard error of the best, in place of the best
    #[arg(long)]
    one_standard_error: bool,
    /// Share of the examples held out for the comparison with logistic regression; 0 for none
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    held_out: f64,
    /// Relative gap at which the points of the grid are compared
    #[arg(long, value_name = "GAP", default_value_t = 1e-3)]
    tolerance: f64,
    #[command(flatten)]
    training: TrainingArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    Plain,
    Balanced,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ScaleName {
    None,
    Maxabs,
    Standard,
}

impl TuneArgs {
    fn params(&self, seed: u64) -> TuneParams {
        let default = TuneParams::default();
        let or = |typed: &[f64], default: Vec<f64>| match typed.is_empty() {
            true => default,
            false => typed.to_vec(),
        };
        let kind = |kind: &Kind| match kind {
            Kind::Plain => LeastSquares::Plain,
            Kind::Balanced => LeastSquares::Balanced,
        };
        TuneParams {
            betas: or(&self.betas, default.betas),
            gammas: or(&self.gammas, default.gammas),
            least_squares: self.least_squares.iter().map(kind).collect(),
            logistic_gammas: or(&self.logistic_gammas, default.logistic_gammas),
            folds: self.folds,
            held_out: self.held_out,
            seed,
            intercept: self.intercept.intercept(),
            scale: match self.scale {
                ScaleName::None => Scale::None,
                ScaleName::Maxabs => Scale::MaxAbs,
                ScaleName::Standard => Scale::Standard,
            },
            tolerance: self.tolerance,
            one_standard_error: self.one_standard_error,
        }
    }
}

pub(crate) fn run(args: &TuneArgs, seed: u64, output: Output) -> Result<()> {
    let started = Instant::now();
    let path = &args.input.file;
    let params = args.params(seed);
    params.check()?;
    let Training { data, weights, .. } = args.training.read(path, output)?;
    let read = started.elapsed().as_secs_f64();
    let tuned = search(&data, weights.as_deref(), &params, output)
        .with_context(|| path.display().to_string())?;
    let total = started.elapsed().as_secs_f64();
    let seconds = Seconds {
        read,
        tune: total - read,
        total,
    };
    let collapsed = tuned.points.iter().filter(|p| p.collapsed).count();
    if collapsed > 0 {
        output.note(format!(
            "note: {collapsed} of {} points collapsed (w = 0, or a mass of examples tied at the \
             threshold) and were not considered",
            tuned.points.len()
        ));
    }
    output.report(&Report::new(args, &data, &params, tuned, seconds))
}

/// Tunes with a progress bar.
pub(crate) fn search(
    data: &Dataset,
    weights: Option<&[f64]>,
    params: &TuneParams,
    output: Output,
) -> Result<Tuned> {
    let fits = "{wide_bar} {pos} of {len} fits, {eta} left";
    let bar: Mutex<Option<(usize, Progress)>> = Mutex::new(None);
    let advance = |done: usize, total: usize| {
        if let Ok(mut bar) = bar.lock() {
            let new = || (0, Progress::new(output, Some(total as u64), fits));
            let (most, bar) = bar.get_or_insert_with(new);
            *most = done.max(*most);
            bar.at(*most as u64);
        }
    };
    tune(data, weights, params, Some(&advance)).map_err(say_what_to_type)
}

/// The library's errors in the words of the command line. What depends on the data is no wrong usage.
fn say_what_to_type(error: ubauc::Error) -> anyhow::Error {
    match error {
        ubauc::Error::Parameter {
            name: "betas",
            must,
            value,
        } => anyhow!("--betas {value}: must be {must}"),
        ubauc::Error::Classes { what } => anyhow!("{what} (--folds)"),
        other => other.into(),
    }
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
    folds: u32,
    seed: u64,
    intercept: bool,
    scale: &'static str,
    tolerance: f64,
    one_standard_error: bool,
    held_out: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<String>,
    chosen: GridPoint,
    logistic_chosen: LogisticPoint,
    verdict: Option<Verdict>,
    points: Vec<GridPoint>,
    logistic: Vec<LogisticPoint>,
    seconds: Seconds,
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
        data: &Dataset,
        params: &TuneParams,
        tuned: Tuned,
        seconds: Seconds,
    ) -> Report {
        Report {
            file: args.input.file.clone(),
            reading: args.training.typed(),
            n: data.rows().len(),
            n_pos: data.n_pos(),
            n_neg: data.n_neg(),
            d: data.rows().cols(),
            folds: params.folds,
            seed: params.seed,
            intercept: params.intercept,
            scale: match args.scale {
                ScaleName::None => "none",
                ScaleName::Maxabs => "maxabs",
                ScaleName::Standard => "standard",
            },
            tolerance: params.tolerance,
            one_standard_error: params.one_standard_error,
            held_out: params.held_out,
            weight: args.training.weight.clone(),
            chosen: tuned.best().clone(),
            logistic_chosen: tuned.best_logistic().clone(),
            verdict: tuned.verdict,
            points: tuned.points,
            logistic: tuned.logistic,
            seconds,
        }
    }

    /// The options of `ubauc train` for the choice.
    fn options(&self) -> String {
        let GridPoint { beta, gamma, .. } = self.chosen;
        let kind = kind(self.chosen.least_squares);
        let mut options = format!("--beta {beta} --gamma {gamma:e} --least-squares {kind}");
        if !self.intercept {
            options += " --no-intercept";
        }
        options + &self.scaling()
    }

    /// The same for logistic regression.
    fn logistic_options(&self) -> String {
        let gamma = self.logistic_chosen.gamma;
        format!("--algorithm logistic --gamma {gamma:e}{}", self.scaling())
    }

    /// Always said: what `train` does without it depends on its other options.
    fn scaling(&self) -> String {
        format!(" --scale {}", self.scale)
    }

    /// Logistic regression is better, and not by chance.
    fn worse(&self) -> bool {
        self.verdict.as_ref().is_some_and(Verdict::is_worse)
    }

    /// One sentence to act on.
    fn advice(&self) -> String {
        let Some(verdict) = &self.verdict else {
            let ours = self.chosen.judged.auc;
            let theirs = self.logistic_chosen.judged.auc;
            return format!(
                "Use {}: mean AUC {ours:.4} over the folds, logistic regression {theirs:.4}; \
                 nothing was held out to test the difference.",
                self.options()
            );
        };
        let what = comparison(verdict);
        let options = self.options();
        if self.worse() {
            let logistic = self.logistic_options();
            format!("Use {logistic}: it is better than {options}; {what}.")
        } else if verdict.test.p.is_none_or(|p| p >= SIGNIFICANT) {
            format!("Use {options}: {what}; no difference is shown, and either model will do.")
        } else {
            format!("Use {options}: {what}; it is better than logistic regression.")
        }
    }
}

/// How both did on the examples that neither has seen.
pub(crate) fn comparison(verdict: &Verdict) -> String {
    let Verdict {
        ours,
        logistic,
        test,
    } = verdict;
    let n = thousands((ours.n_pos + ours.n_neg) as u64);
    format!(
        "on {n} examples held out ba-UBAUC has an AUC of {:.4} and logistic regression {:.4} \
         (difference {:+.4}, 95 % interval {:+.4} to {:+.4}, p {})",
        ours.auc,
        logistic.auc,
        test.difference,
        test.ci95[0],
        test.ci95[1],
        p_value(test.p)
    )
}

pub(crate) fn kind(kind: LeastSquares) -> &'static str {
    match kind {
        LeastSquares::Plain => "plain",
        LeastSquares::Balanced => "balanced",
    }
}

/// Points shown to people; JSON has them all.
const SHOWN: usize = 10;

impl output::Report for Report {
    fn document(&self) -> Document {
        let mut document = Document::default().with(self.best_points());
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
        let mut best: Vec<&GridPoint> = self.points.iter().collect();
        // Collapsed ones last: they cannot be chosen, whatever their AUC.
        best.sort_by(|a, b| {
            let order = b.judged.auc.total_cmp(&a.judged.auc);
            a.collapsed.cmp(&b.collapsed).then(order)
        });
        let head = [
            "least squares",
            "beta",
            "gamma",
            "AUC",
            "std. error",
            "tied",
            "",
        ];
        let mut table = Table::new(head);
        let more = best.len().saturating_sub(SHOWN);
        table.foot = (more > 0).then(|| format!("… {more} more (all with --json)"));
        best.truncate(SHOWN);
        if !best.contains(&&self.chosen) {
            best.push(&self.chosen);
        }
        for point in best {
            let mark = match (*point == self.chosen, point.collapsed) {
                (true, _) => "chosen",
                (_, true) => "collapsed",
                _ => "",
            };
            table.row([
                kind(point.least_squares).to_string(),
                point.beta.to_string(),
                format!("{:e}", point.gamma),
                number(point.judged.auc),
                number(point.judged.standard_error),
                format!("{:.2} %", 100.0 * point.tied_share),
                mark.to_string(),
            ]);
        }
        let LogisticPoint { gamma, judged } = &self.logistic_chosen;
        table.row([
            "logistic".to_string(),
            String::new(),
            format!("{gamma:e}"),
            number(judged.auc),
            number(judged.standard_error),
            String::new(),
            "its best".to_string(),
        ]);
        table
    }
}
