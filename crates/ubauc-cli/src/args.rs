//! What was typed. Each command's own options stand in its own file.

use std::fmt;

use clap::{Args, Parser, Subcommand};

use crate::output::{Format, Output};
use crate::{
    bound, compare, data, demo, evaluate, explain, export, help_files, learn, predict, report,
    reproduce, train, tune,
};

/// The version, and the commit where the program was built from one.
const VERSION: &str = env!("UBAUC_VERSION");

/// Learn and judge scoring functions by AUC: certified optima, exact values, confidence intervals, paired tests, and the
/// univariate bound of AUC risk.
#[derive(Debug, Parser)]
#[command(
    name = "ubauc",
    version = VERSION,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = "Exit code: 0 done, 1 failed (bad data, missing file), 2 wrong usage, 3 an alarm ended `ubauc learn`, 130 and 143 ended by a signal.\n\
                  Start with `ubauc demo`, then `ubauc train FILE --model model.json`."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// One JSON object on standard output, nothing else there
    #[arg(long, global = true)]
    json: bool,
    /// The report as Markdown
    #[arg(long, global = true, conflicts_with = "json")]
    markdown: bool,
    /// The report as an HTML page that needs no other file
    #[arg(long, global = true, conflicts_with_all = ["json", "markdown"])]
    html: bool,
    /// No progress, notes or warnings on standard error
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Seed of everything random [default: 1]
    #[arg(long = "seed", global = true, value_name = "N")]
    pub(crate) typed_seed: Option<u64>,
    /// Threads to use, 0 for one a core; the answer does not depend on it
    #[arg(long, global = true, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub(crate) threads: u16,
}

impl Common {
    pub(crate) fn seed(&self) -> u64 {
        self.typed_seed.unwrap_or(1)
    }

    pub(crate) fn output(&self) -> Output {
        let format = match (self.json, self.markdown, self.html) {
            (true, ..) => Format::Json,
            (_, true, _) => Format::Markdown,
            (.., true) => Format::Html,
            (false, false, false) => Format::Text,
        };
        let quiet = self.quiet;
        Output { format, quiet }
    }
}

/// What was typed makes no sense, whatever the data; the exit code is that of an unknown option.
#[derive(Debug)]
pub(crate) struct WrongUsage(pub(crate) String);

impl fmt::Display for WrongUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongUsage {}

/// Whether there is an intercept.
#[derive(Debug, Args)]
pub(crate) struct InterceptArgs {
    /// Leave out the intercept of the least squares, as the paper's Eq. (8) does: the offset of a feature then matters
    #[arg(long, overrides_with = "intercept")]
    pub(crate) no_intercept: bool,
    /// The default
    #[arg(long, overrides_with = "no_intercept", hide = true)]
    intercept: bool,
}

impl InterceptArgs {
    pub(crate) fn intercept(&self) -> bool {
        !self.no_intercept
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See what the program does, on imbalanced data made up on the spot
    Demo(demo::DemoArgs),
    /// Learn a linear scoring function, with a certificate of how good it is
    Train(Box<train::TrainArgs>),
    /// Learn from a stream, one example at a time, in memory that does not grow with it
    Learn(learn::LearnArgs),
    /// Score examples with a model, as they come
    Predict(predict::PredictArgs),
    /// What a model has learned of every column, and one score as a sum
    Explain(explain::ExplainArgs),
    /// Take a model away: as Python, SQL, ONNX, a file of LIBLINEAR, or as points of a scorecard
    Export(export::ExportArgs),
    /// AUC of a file of labels and scores, or of a model on a file, with its confidence interval
    Evaluate(evaluate::EvaluateArgs),
    /// A model judged on a file, as a page of charts: how good it is, what it looks at, where to cut
    Report(report::ReportArgs),
    /// Compare two or more scorers on the same examples: paired tests, Holm-corrected
    Compare(compare::CompareArgs),
    /// The univariate bound of AUC risk and its constants
    Bound(bound::BoundArgs),
    /// Choose β, γ and the least squares by cross-validated AUC, beside logistic regression
    Tune(tune::TuneArgs),
    /// Make the paper's tables again, ours beside the paper's, or that of our intervals' coverage
    Reproduce(reproduce::ReproduceArgs),
    /// Look into, list, download and generate data
    Data(data::DataArgs),
    /// Completions of commands and options for a shell, on standard output
    Completions(help_files::CompletionsArgs),
    /// The manual pages, one a command, made from the same texts as --help
    Man(help_files::ManArgs),
}
