//! `ubauc predict`: scores of examples as they come, in memory that does not grow with them.

mod ids;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;
use ubauc::atomic::{AtomicFile, is_stdout};
use ubauc::data::rows::Rows;
use ubauc::data::table::Table;
use ubauc::document::numbers::{number, thousands};
use ubauc::document::{Document, Facts, csv};
use ubauc::features::columns::Unseen;
use ubauc::features::{ColumnMap, FeatureMap};
use ubauc::many_classes::ClassModel;
use ubauc::model::Model;
use ubauc::read::table::{SkippedLines, TableBatch};
use ubauc::read::{self, Batch};

use crate::args::WrongUsage;
use crate::column_list::{ColumnList, all_names};
use crate::input::{FileArg, FormatArgs, Wanted};
use crate::met::skipped_notice;
use crate::output::{self, Output};
use crate::scoring::classes::Loaded;
use crate::scoring::table::TableFile;
use crate::scoring::{self, ColumnArgs};

/// Of fewer examples it says little that none is of the positive class.
const NOT_A_FEW: u64 = 100;

/// What was typed after `ubauc predict`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc predict --model model.json new.csv > scores.csv\n  \
    ubauc predict --model model.json new.csv --classes --output scores.csv --json\n  \
    ubauc predict --model model.json new.csv --id customer > scores.csv\n  \
    tail -f events.svm | ubauc predict --model model.json - --classes\n\n\
    The output is a CSV file with the column score, and class if asked for, one line an example in the\n\
    order of the file; of a model of many classes a column of scores for each, named as the class. A score is w.x plus the intercept, bit for bit as in training. The order\n\
    of scores is what was learnt; those of logistic regression are log-odds as well. --id puts columns of\n\
    the file before the scores: as the file has them, or of those that the model reads too as it read them.\n\n\
    An example is of the positive class where its score is at least the threshold: that of the model is\n\
    the lambda of its loss, here, in exports, in reports, in `ubauc explain --row` and in Python. Of the exact\n\
    hinge it flags as many training examples as are positive; of the soft loss and of logistic regression\n\
    (where it is a probability of 1/2) it flags fewer where positives are rare, perhaps none, which a note says.\n\
    `ubauc report` shows what every threshold does, and --threshold sets one.\n\n\
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
    #[arg(long, short, value_name = "OUT", default_value = "-")]
    output: PathBuf,
    /// Write the scores (always done; for clarity)
    #[arg(long)]
    scores: bool,
    /// Also write the class of every example, by its name in the training data
    #[arg(long)]
    classes: bool,
    /// Copy these columns of a table to the output, before the scores
    #[arg(long, value_name = "COLUMN,…", value_parser = ColumnList::parse)]
    id: Vec<ColumnList>,
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

/// What scores, and how its scores are written.
struct Scorer {
    loaded: Loaded,
    threshold: f64,
    /// As CSV has them; the negative one first of two.
    quoted: Vec<String>,
    with_class: bool,
    /// Columns of the file that are copied.
    ids: Vec<String>,
}

impl Scorer {
    fn new(loaded: Loaded, args: &PredictArgs) -> Result<Scorer> {
        let quote = |classes: &[String]| classes.iter().map(|class| csv::field(class)).collect();
        let (threshold, quoted) = match &loaded {
            Loaded::Two(model) => (model.threshold, quote(&model.classes)),
            Loaded::Many(_) if args.threshold.is_some() => {
                let what = "--threshold is for two classes; of many the class of the highest score above its own \
                            threshold is written";
                return Err(WrongUsage(what.to_string()).into());
            }
            Loaded::Many(model) => (0.0, quote(&model.classes)),
        };
        Ok(Scorer {
            threshold: args.threshold.unwrap_or(threshold),
            quoted,
            with_class: args.classes,
            ids: all_names(&args.id),
            loaded,
        })
    }

    /// The model that finds the columns: all scorers of many classes read the same ones.
    fn first(&self) -> Result<&Model> {
        match &self.loaded {
            Loaded::Two(model) => Ok(model),
            Loaded::Many(many) => many.scorers.first().context("a model without classes"),
        }
    }

    /// The first line written.
    fn head(&self) -> String {
        let mut head = String::new();
        for id in &self.ids {
            head += &csv::field(id);
            head.push(',');
        }
        head += &match &self.loaded {
            Loaded::Two(_) => "score".to_string(),
            Loaded::Many(_) => self.quoted.join(","),
        };
        head += if self.with_class { ",class\n" } else { "\n" };
        head
    }

    /// Each row begins with its `lead`, if there are any.
    fn scored_rows(&self, rows: &Rows, lead: &[String]) -> ubauc::Result<Scored> {
        Ok(match &self.loaded {
            Loaded::Two(model) => self.of_two(&model.scores(rows)?, lead),
            Loaded::Many(many) => self.of_many(many, &many.scores(rows)?, lead),
        })
    }

    fn scored_table(&self, table: &Table, lead: &[String]) -> ubauc::Result<Scored> {
        Ok(match &self.loaded {
            Loaded::Two(model) => self.of_two(&model.scores_table(table)?, lead),
            Loaded::Many(many) => self.of_many(many, &many.scores_table(table)?, lead),
        })
    }

    fn of_two(&self, scores: &[f64], lead: &[String]) -> Scored {
        let mut text = String::with_capacity(24 * scores.len());
        let mut counts = vec![0; 2];
        for (i, &score) in scores.iter().enumerate() {
            let is_positive = usize::from(score >= self.threshold);
            counts[is_positive] += 1;
            text += lead.get(i).map_or("", String::as_str);
            // Writing to a string cannot fail.
            let _ = match self.with_class {
                true => writeln!(text, "{score},{}", self.quoted[is_positive]),
                false => writeln!(text, "{score}"),
            };
        }
        Scored {
            text,
            counts,
            highest: scores.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            overflow: scores.iter().copied().find(|s| !s.is_finite()),
            unseen: Vec::new(),
        }
    }

    fn of_many(&self, model: &ClassModel, columns: &[Vec<f64>], lead: &[String]) -> Scored {
        let n = columns.first().map_or(0, Vec::len);
        let mut text = String::with_capacity(24 * n * columns.len());
        let mut counts = vec![0; columns.len()];
        for i in 0..n {
            let of_row = || columns.iter().map(|column| column[i]);
            let class = model.predict(of_row());
            counts[class] += 1;
            text += lead.get(i).map_or("", String::as_str);
            for (k, score) in of_row().enumerate() {
                let comma = if k == 0 { "" } else { "," };
                let _ = write!(text, "{comma}{score}");
            }
            let _ = match self.with_class {
                true => writeln!(text, ",{}", self.quoted[class]),
                false => writeln!(text),
            };
        }
        let scores = || columns.iter().flatten().copied();
        Scored {
            text,
            counts,
            highest: scores().fold(f64::NEG_INFINITY, f64::max),
            overflow: scores().find(|s| !s.is_finite()),
            unseen: Vec::new(),
        }
    }
}

impl PredictArgs {
    /// The columns of the model, by name if it has names.
    fn wanted(&self, model: &Model) -> Wanted {
        Wanted {
            columns: (!model.names.is_empty()).then(|| model.names.clone()),
            ignore: self.columns.ignore(),
            missing_zero: self.missing_zero,
            notice_others: true,
            any_index: matches!(model.features, FeatureMap::Hash { .. }),
            label: Some(self.format.label_of(model)),
            on_error: self.columns.on_error(),
        }
    }
}

/// The scores of a batch, ready to be written.
struct Scored {
    text: String,
    /// Examples of each class.
    counts: Vec<u64>,
    highest: f64,
    overflow: Option<f64>,
    /// Columns with levels that are none of those of training, and the number of rows.
    unseen: Vec<(String, Unseen, u64)>,
}

/// Where the scores go.
struct Sink<'a> {
    args: &'a PredictArgs,
    file: AtomicFile,
    /// Until it is written.
    head: Option<String>,
    counts: Vec<u64>,
    highest: f64,
    unseen: Vec<(String, Unseen, u64)>,
}

impl Sink<'_> {
    fn put(&mut self, scored: &Scored) -> Result<()> {
        if let Some(score) = scored.overflow {
            bail!("{}: a score is {score}", self.args.input.file.display());
        }
        if let Some(head) = self.head.take() {
            self.file.put(head.as_bytes())?;
        }
        self.file.put(scored.text.as_bytes())?;
        if is_stdout(&self.args.output) {
            self.file.flush().context("standard output")?;
        }
        for (all, of_batch) in self.counts.iter_mut().zip(&scored.counts) {
            *all += of_batch;
        }
        self.highest = self.highest.max(scored.highest);
        for (column, what, n) in &scored.unseen {
            match self.unseen.iter_mut().find(|(known, ..)| known == column) {
                Some((_, _, all)) => *all += n,
                None => self.unseen.push((column.clone(), *what, *n)),
            }
        }
        Ok(())
    }

    /// Says which columns had levels that the model does not know.
    fn note_unseen(&self, output: Output) {
        for (column, what, n) in &self.unseen {
            let [rows, were] = match n {
                1 => ["row has a value", "was"],
                _ => ["rows have values", "were"],
            };
            output.note(format!(
                "note: {}: column '{column}': {} {rows} that {were} {}",
                self.args.input.file.display(),
                thousands(*n),
                what.name()
            ));
        }
    }

    /// Says that no example is of the positive class, where classes are asked for and examples are not a few.
    fn note_idle(&self, scorer: &Scorer, output: Output) {
        let (Loaded::Two(model), &[negative, 0]) = (&scorer.loaded, self.counts.as_slice()) else {
            return;
        };
        if scorer.with_class && negative >= NOT_A_FEW {
            output.note(format!(
                "note: {}: no example is of class {}: the highest score is {}, and the threshold {}; `ubauc report` shows what \
                 every threshold does, and --threshold sets one",
                self.args.input.file.display(),
                model.classes[1],
                number(self.highest),
                number(scorer.threshold)
            ));
        }
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
    let scorer = Scorer::new(args.columns.load_any(&args.model)?, args)?;
    let model = scorer.first()?;
    if args.missing_zero && scoring::is_of_table(model) {
        let what = "--missing-zero is for models of complete numbers; a model of a table needs its columns, \
                    the values of which may be missing";
        return Err(WrongUsage(what.to_string()).into());
    }
    let mut sink = Sink {
        args,
        file: AtomicFile::create(&args.output)?,
        head: Some(scorer.head()),
        counts: vec![0; scorer.quoted.len()],
        highest: f64::NEG_INFINITY,
        unseen: Vec::new(),
    };
    let scored = match &model.features {
        FeatureMap::Columns(map) => score_table(&scorer, (model, map), &mut sink, output),
        FeatureMap::Identity | FeatureMap::Hash { .. } if !scorer.ids.is_empty() => {
            ids::score_numbers(&scorer, model, &mut sink, output)
        }
        FeatureMap::Identity | FeatureMap::Hash { .. } => {
            score_numbers(&scorer, model, &mut sink, output)
        }
    };
    sink.note_unseen(output);
    scored?;
    sink.note_idle(&scorer, output);
    let Sink { file, counts, .. } = sink;
    file.commit()?;
    if to_stdout {
        return Ok(());
    }
    let (rows, written) = (counts.iter().sum(), args.output.clone());
    match scorer.loaded {
        Loaded::Two(model) => output.report(&Report {
            rows,
            positive: counts[1],
            threshold: scorer.threshold,
            classes: model.classes,
            output: written,
        }),
        Loaded::Many(model) => output.report(&ManyReport {
            rows,
            classes: model.classes,
            counts,
            output: written,
        }),
    }
}

/// Scores a table by the kinds of columns that the model knows.
fn score_table(
    scorer: &Scorer,
    (model, map): (&Model, &ColumnMap),
    sink: &mut Sink<'_>,
    output: Output,
) -> Result<()> {
    let args = sink.args;
    let path = args.input.file.as_path();
    let file = TableFile {
        path,
        model,
        map,
        format: &args.format,
        ignore: args.columns.ignore(),
        on_error: args.columns.on_error(),
    };
    let label = model.reading.label.as_deref();
    let each = |batch: TableBatch| -> Result<Scored> {
        let lead = ids::of_batch(&batch, &scorer.ids, label)?;
        let mut scored = scorer.scored_table(&batch.table, &lead)?;
        let unseen = map.unseen_levels(&batch.table).into_iter();
        scored.unseen = unseen
            .map(|unseen| (unseen.column, unseen.what, unseen.rows.len() as u64))
            .collect();
        Ok(scored)
    };
    let take =
        |scored: Result<Scored>| sink.put(&scored.with_context(|| path.display().to_string())?);
    let columns = ids::columns(&scorer.ids, label);
    file.batches(None, &columns, output, each, take)
}

/// One batch of numbers, and what it was like.
struct Numbers {
    scored: Scored,
    cols: usize,
    is_table: bool,
    notices: Arc<[String]>,
    skipped: SkippedLines,
}

/// Scores rows of numbers.
fn score_numbers(
    scorer: &Scorer,
    model: &Model,
    sink: &mut Sink<'_>,
    output: Output,
) -> Result<()> {
    let args = sink.args;
    let path = args.input.file.as_path();
    let each = |batch: Batch| -> ubauc::Result<Numbers> {
        // The reader has put the columns in the order of the model.
        Ok(Numbers {
            scored: scorer.scored_rows(&batch.rows, &[])?,
            cols: batch.rows.cols(),
            is_table: batch.is_table,
            notices: batch.notices,
            skipped: batch.skipped,
        })
    };
    let width = scoring::width(model);
    let (mut noted, mut wide) = (HashSet::new(), 0);
    let mut all_skipped = SkippedLines::default();
    let take = |numbers: ubauc::Result<Numbers>| -> Result<()> {
        let Numbers {
            scored,
            cols,
            is_table,
            notices,
            skipped,
        } = numbers.with_context(|| path.display().to_string())?;
        for notice in notices.iter() {
            if noted.insert(notice.clone()) {
                output.note(format!("note: {}: {notice}", path.display()));
            }
        }
        all_skipped.add(skipped.n, skipped.first);
        scoring::refuse_unnamed(model, is_table, path)?;
        if let Some(d) = width {
            if is_table && cols < d && !args.missing_zero {
                bail!(
                    "{}: {cols} feature columns; the model has {d} features (--missing-zero takes the \
                     rest as zeros)",
                    path.display()
                );
            }
            if cols > d && wide == 0 {
                wide = cols;
                scoring::note_beyond(d, wide, path, output);
            }
        }
        sink.put(&scored)
    };
    let wanted = args.wanted(model);
    let done = args.format.with_progress(path, wanted, output, |options| {
        read::batches(path, options, each, take)
    });
    if let Some(notice) = skipped_notice(&all_skipped) {
        output.note(format!("note: {}: {notice}", path.display()));
    }
    done
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

/// Of many classes.
#[derive(Serialize)]
struct ManyReport {
    rows: u64,
    classes: Vec<String>,
    /// Examples of each class, as predicted.
    counts: Vec<u64>,
    output: PathBuf,
}

impl output::Report for ManyReport {
    fn document(&self) -> Document {
        let mut facts = Facts::default();
        facts.add("examples", thousands(self.rows));
        facts.add("classes", self.classes.len());
        facts.add("scores", self.output.display());
        facts.into()
    }
}
