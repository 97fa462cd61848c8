//! `ubauc predict`: scores of examples as they come, in memory that does not grow with them.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use serde::Serialize;
use ubauc::atomic::{AtomicFile, is_stdout};
use ubauc::document::numbers::{number, thousands};
use ubauc::document::{Document, Facts, csv};
use ubauc::model::Model;
use ubauc::read::{self, Batch};

use crate::args::WrongUsage;
use crate::input::{FileArg, FormatArgs, Wanted};
use crate::output::{self, Output};
use crate::scoring::{self, ColumnArgs};

/// What was typed after `ubauc predict`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc predict --model model.json new.csv > scores.csv\n  \
    ubauc predict --model model.json new.csv --classes --output scores.csv --json\n  \
    tail -f events.svm | ubauc predict --model model.json - --classes\n\n\
    Written is a CSV file with the column score, and class if asked for, one line an example in the\n\
    order of the file. A score is w.x plus the intercept, to the last bit that of training. The order\n\
    of scores is what was learnt; those of logistic regression are log-odds as well.\n\n\
    A CSV file needs no column of labels. Its columns are found by the names in the model, if that\n\
    was trained on CSV; others are ignored with a note. An svmlight line begins with a label, which\n\
    may be any number; it has no names, so that a model with names takes it only with --by-position.\n\
    Lines are scored as they come, in memory that does not grow.")]
pub(crate) struct PredictArgs {
    #[command(flatten)]
    input: FileArg,
    /// The model to score with, from `ubauc train --model`
    #[arg(long, value_name = "MODEL")]
    model: PathBuf,
    /// Write to this file, whole or not at all; - is standard output, written as lines come
    #[arg(long, value_name = "OUT", default_value = "-")]
    output: PathBuf,
    /// Write the scores (always done; for clarity)
    #[arg(long)]
    scores: bool,
    /// Also write the class of every example, by its name in the training data
    #[arg(long)]
    classes: bool,
    /// Scores from here on are of the positive class [default: the model's: lambda, or 0 for logistic]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    threshold: Option<f64>,
    /// Take columns that the file lacks as zeros; otherwise they are refused by name
    #[arg(long)]
    missing_zero: bool,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl PredictArgs {
    /// The first line written.
    fn head(&self) -> &'static str {
        if self.classes {
            "score,class\n"
        } else {
            "score\n"
        }
    }

    /// The columns of the model, by name if it has names.
    fn wanted(&self, model: &Model) -> Wanted {
        Wanted {
            columns: (!model.names.is_empty()).then(|| model.names.clone()),
            ignore: self.columns.ignore.clone(),
            missing_zero: self.missing_zero,
            notice_others: true,
        }
    }
}

/// One batch, ready to be written.
struct Scored {
    text: String,
    rows: u64,
    positive: u64,
    cols: usize,
    is_table: bool,
    batch_notices: std::sync::Arc<[String]>,
    overflow: Option<f64>,
}

impl Scored {
    /// Scores a batch; classes are written if they have names here.
    fn new(
        batch: Batch,
        model: &Model,
        threshold: f64,
        classes: Option<&[String; 2]>,
    ) -> Result<Scored, ubauc::Error> {
        // The reader has put the columns in the order of the model.
        let scores = model.scores(&batch.rows)?;
        let mut text = String::with_capacity(24 * scores.len());
        let mut positive = 0;
        for &score in &scores {
            let is_positive = score >= threshold;
            positive += u64::from(is_positive);
            // Writing to a string cannot fail.
            let _ = match classes {
                Some(names) => writeln!(text, "{score},{}", names[usize::from(is_positive)]),
                None => writeln!(text, "{score}"),
            };
        }
        Ok(Scored {
            text,
            rows: scores.len() as u64,
            positive,
            cols: batch.rows.cols(),
            is_table: batch.is_table,
            batch_notices: batch.notices,
            overflow: scores.into_iter().find(|s| !s.is_finite()),
        })
    }
}

pub(crate) fn run(args: &PredictArgs, output: Output) -> Result<()> {
    let to_stdout = is_stdout(&args.output);
    if to_stdout && output.json() {
        let what = "--json and the scores both write to standard output; name a file (--output)";
        return Err(WrongUsage(what.to_string()).into());
    }
    if args.threshold.is_some_and(f64::is_nan) {
        return Err(WrongUsage("--threshold NaN: must be a number".to_string()).into());
    }
    let path = &args.input.file;
    scoring::refuse_overwriting(&args.output, &[path, &args.model], "--output")?;
    let model = args.columns.load(&args.model)?;
    let wanted = args.wanted(&model);
    let threshold = args.threshold.unwrap_or(model.threshold);
    let quoted = model.classes.each_ref().map(|class| csv::field(class));
    let quoted = args.classes.then_some(&quoted);
    let each = |batch: Batch| Scored::new(batch, &model, threshold, quoted);
    let width = scoring::width(&model);
    let mut file = AtomicFile::create(&args.output)?;
    let mut noted = HashSet::new();
    let mut report = Report {
        rows: 0,
        positive: 0,
        threshold,
        classes: model.classes.clone(),
        output: args.output.clone(),
    };
    let (mut header, mut wide) = (false, 0);
    let take = |scored: Result<Scored, ubauc::Error>| -> Result<()> {
        let scored = scored.with_context(|| path.display().to_string())?;
        for notice in scored.batch_notices.iter() {
            if noted.insert(notice.clone()) {
                output.note(format!("note: {}: {notice}", path.display()));
            }
        }
        scoring::refuse_unnamed(&model, scored.is_table, path)?;
        if let Some(d) = width {
            if scored.is_table && scored.cols < d && !args.missing_zero {
                return Err(anyhow!(
                    "{}: {} feature columns; the model has {d} features (--missing-zero takes the \
                     rest as zeros)",
                    path.display(),
                    scored.cols
                ));
            }
            if scored.cols > d && wide == 0 {
                wide = scored.cols;
                scoring::note_beyond(d, wide, path, output);
            }
        }
        if let Some(score) = scored.overflow {
            return Err(anyhow!("{}: a score is {score}", path.display()));
        }
        if !header {
            header = true;
            file.put(args.head().as_bytes())?;
        }
        file.put(scored.text.as_bytes())?;
        if to_stdout {
            file.flush().context("standard output")?;
        }
        report.rows += scored.rows;
        report.positive += scored.positive;
        Ok(())
    };
    args.format.with_progress(path, wanted, output, |options| {
        read::batches(path, options, each, take)
    })?;
    file.commit()?;
    if to_stdout {
        return Ok(());
    }
    output.report(&report)
}

#[derive(Serialize)]
struct Report {
    rows: u64,
    positive: u64,
    threshold: f64,
    classes: [String; 2],
    output: PathBuf,
}

impl output::Report for Report {
    fn document(&self) -> Document {
        let mut facts = Facts::default();
        facts.add("examples", thousands(self.rows));
        let (positive, class) = (thousands(self.positive), &self.classes[1]);
        facts.add("positive", format!("{positive} (class {class})"));
        facts.add("threshold", number(self.threshold));
        facts.add("scores", self.output.display());
        facts.into()
    }
}
