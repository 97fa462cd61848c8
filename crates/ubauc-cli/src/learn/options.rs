//! What was typed after `ubauc learn`, and what of it a checkpoint must agree with.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use ubauc::algorithm::Spec;
use ubauc::atomic::{AtomicFile, is_stdout};
use ubauc::features::FeatureMap;
use ubauc::model::{Model, Reading};
use ubauc::read::table::TableOptions;
use ubauc::read::{FirstRows, StreamClasses, StreamFeatures, StreamOptions};

use super::drift::DriftArgs;
use super::problem::ProblemArgs;
use crate::args::WrongUsage;
use crate::input::{FormatArgs, at_least_one};
use crate::output::Output;
use crate::scoring::{self, OnErrorName};
use crate::table_args::TableArgs;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc learn events.svm --model model.json\n  \
    ubauc learn events.svm --algorithm oam-gra --C 0.001 --model model.json\n  \
    ubauc learn customers.csv --label churn --positive yes --model model.json\n  \
    tail -f events.svm | ubauc learn --predict --checkpoint ck --model model.json > scores.csv\n  \
    cat events.svm | ubauc learn --checkpoint ck --resume --model model.json\n\n\
    A table may have strings, dates and missing values: what its columns hold is found out from its first rows, which are\n\
    then learned as the others, each scored before its label is known. A level that is not among them counts\n\
    as rare (--hash-bits gives every level a place); a text among numbers counts as missing.\n\n\
    Labels: 1 is positive, 0 and -1 are negative; any other needs --positive VALUE. An svmlight label ?\n\
    or an empty CSV label is no label: the example is scored and not learned.\n\n\
    Streams that change: --half-life N forgets, --window W reports the AUC of the last W examples, --alarm RATE\n\
    tests whether the AUC has fallen, after every 1,000 labelled examples or more, with 100 of each class. A\n\
    warning names the example; --json has all alarms.\n\n\
    Ctrl-C and SIGTERM finish the example at hand, write the checkpoint and the model, and report; the\n\
    exit code is 130 or 143. A run that was killed goes on with --resume, from its last checkpoint, and\n\
    ends with the same model to the last byte. Give the same options again. Scores in a file (--output)\n\
    are then there once each; on standard output those since the last checkpoint come again.\n\n\
    --seed makes the sketches of opauc and the buffers of oam-seq and oam-gra; solam and ol-ubauc have nothing\n\
    random. Parameters that are not given have their defaults: a stream cannot be searched for better ones.")]
pub(crate) struct LearnArgs {
    /// CSV with a header or svmlight; plain, gz, zst, bz2 or xz; - is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) problem: ProblemArgs,
    /// Hash the features into 2^B columns, B from 1 to 28; those that collide are added. Of a table with strings or missing values the
    /// levels of each category, seen before or not, are hashed into 2^B features
    #[arg(long, value_name = "B")]
    pub(super) hash_bits: Option<u32>,
    /// CSV: find out from the first N rows what the columns hold, and map them as `ubauc train` does; these rows wait until
    /// then [default: 10,000, and complete numbers are taken as they are; with --predict only if the first row has a text
    /// or a gap]
    #[arg(long, value_name = "N", value_parser = at_least_one(), conflicts_with = "initial_model")]
    map_rows: Option<usize>,
    /// ol-ubauc: start from this model, of `ubauc train` or `ubauc learn`
    #[arg(long, value_name = "MODEL")]
    pub(super) initial_model: Option<PathBuf>,
    /// Take the features of --initial-model by position, though it knows its columns by name; svmlight has no names
    #[arg(long, requires = "initial_model")]
    pub(super) by_position: bool,
    /// Write the model to this file at the end, or when stopped
    #[arg(long, value_name = "OUT")]
    pub(super) model: Option<PathBuf>,
    /// Answer every example with its score before it is learned, as it comes
    #[arg(long)]
    pub(super) predict: bool,
    /// Write the scores to this file
    #[arg(long, value_name = "OUT", default_value = "-", requires = "predict")]
    pub(super) output: PathBuf,
    /// ol-ubauc: column of sample weights (CSV)
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    /// What is done about a line that cannot be read
    #[arg(long, value_name = "WHAT", value_enum, default_value = "stop")]
    on_error: OnErrorName,
    #[command(flatten)]
    pub(super) drift: DriftArgs,
    #[command(flatten)]
    pub(super) saving: SavingArgs,
    #[command(flatten)]
    pub(super) progress: ProgressArgs,
    #[command(flatten)]
    columns: TableArgs,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    classes: StreamClassArgs,
}

/// Rows that the columns of a table are found out from.
const MAP_ROWS: usize = 10_000;

/// More features are refused unless the options say otherwise.
const MAX_FEATURES: usize = 1 << 26;

/// Where the state of a run is kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Checkpoints")]
pub(crate) struct SavingArgs {
    /// Keep the state in this directory, the last two of them
    #[arg(long, value_name = "DIR")]
    pub(super) checkpoint: Option<PathBuf>,
    /// Examples from one checkpoint to the next
    #[arg(
        long,
        value_name = "N",
        default_value = "1000000",
        requires = "checkpoint"
    )]
    pub(super) every: NonZeroU64,
    /// Go on from the newest good checkpoint; the input is read from its start and what was learned is skipped
    #[arg(long, requires = "checkpoint")]
    pub(super) resume: bool,
    /// With --resume: skip nothing, the input begins where the checkpoint stopped
    #[arg(long, requires = "resume")]
    pub(super) no_skip: bool,
    /// Throw away the checkpoints in the directory and start over
    #[arg(long, requires = "checkpoint", conflicts_with = "resume")]
    pub(super) fresh: bool,
}

/// Progress.
#[derive(Debug, Args)]
#[command(next_help_heading = "Progress")]
pub(crate) struct ProgressArgs {
    /// Write a line of JSON now and then: counts, speed, AUC so far and since the line before, or of the last W with
    /// --window; - is standard output
    #[arg(long, value_name = "FILE")]
    pub(super) progress_json: Option<PathBuf>,
    /// Examples from one line to the next
    #[arg(
        long,
        value_name = "N",
        default_value = "100000",
        requires = "progress_json"
    )]
    pub(super) report_every: NonZeroU64,
}

/// Which class is positive.
#[derive(Debug, Args)]
#[command(next_help_heading = "Classes")]
struct StreamClassArgs {
    /// The positive class, against all others [default: 1, against 0 and -1]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    positive: Option<String>,
    /// The negative class; other labels are refused
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    negative: Option<String>,
}

impl LearnArgs {
    /// What to learn by.
    pub(super) fn spec(&self, seed: u64) -> Spec {
        let mut spec = self.problem.spec(seed, self.predict, self.hash_bits);
        if let Spec::OlUbauc(spec) = &mut spec {
            spec.params.half_life = self.drift.half_life;
        }
        spec
    }

    /// The largest number of features: each takes 24 bytes or more.
    pub(super) fn max_features(&self) -> usize {
        self.format.max_features().unwrap_or(MAX_FEATURES)
    }

    /// How the stream is read; a model to start from may know the labels.
    pub(super) fn stream(
        &self,
        features: StreamFeatures,
        initial: Option<&Model>,
    ) -> StreamOptions {
        let label = match initial {
            Some(model) => self.format.label_of(model),
            None => self.format.label(),
        };
        let read = self.columns.apply(self.format.table_options());
        StreamOptions {
            read: TableOptions {
                label: Some(label),
                ..read
            },
            classes: StreamClasses {
                positive: self.classes.positive.clone(),
                negative: self.classes.negative.clone(),
                optional: self.predict,
            },
            weight: self.weight.clone(),
            features,
            on_error: self.on_error.into(),
        }
    }

    /// How the columns are found out where nothing is known of them.
    pub(super) fn first_rows(&self) -> FirstRows {
        FirstRows {
            rows: self.map_rows.unwrap_or(MAP_ROWS),
            always: self.map_rows.is_some(),
            at_once: self.predict && self.map_rows.is_none(),
            hash_bits: self.hash_bits,
        }
    }

    /// How the table was written, for the next model; nothing is known of svmlight.
    pub(super) fn reading(&self, known: Option<&Reading>, is_table: bool) -> Reading {
        let mut reading = known.cloned().unwrap_or_default();
        if is_table {
            let known = self.format.typed_label().or(reading.label);
            reading.label = known.or_else(|| Some(self.format.label()));
        }
        reading
    }

    /// What becomes of the columns.
    pub(super) fn features(&self) -> FeatureMap {
        FeatureMap::hashed(self.hash_bits)
    }

    /// What the negative and the positive class are called, given what the first negative label said.
    pub(super) fn class_names(&self, first_negative: Option<&str>) -> [String; 2] {
        let typed = &self.classes;
        let positive = typed.positive.clone().unwrap_or_else(|| "1".to_string());
        let negative = match (&typed.negative, &typed.positive) {
            (Some(negative), _) => negative,
            (None, Some(_)) => "rest",
            (None, None) => first_negative.unwrap_or("-1"),
        };
        [negative.to_string(), positive]
    }

    /// What makes the model what it is, by the names of the options.
    pub(super) fn settings(
        &self,
        spec: &Spec,
        initial_model: Option<String>,
    ) -> BTreeMap<String, Value> {
        let mut settings = self.problem.settings(spec);
        let of_input = [
            ("hash-bits", json!(self.hash_bits)),
            ("initial-model", json!(initial_model)),
            ("by-position", json!(self.by_position.then_some(true))),
            ("weight", json!(self.weight)),
            ("positive", json!(self.classes.positive)),
            ("negative", json!(self.classes.negative)),
            ("label", json!(self.format.label())),
            ("zero-based", json!(self.format.zero_based)),
            ("map-rows", json!(self.map_rows)),
        ];
        settings.extend(of_input.map(|(name, value)| (name.to_string(), value)));
        let of_drift = self.drift.settings();
        settings.extend(of_drift.map(|(name, value)| (name.to_string(), value)));
        settings.extend(self.columns.settings());
        settings
    }

    /// Everything that can be refused before the long work begins.
    pub(super) fn refuse_early(&self, spec: &Spec, output: Output) -> Result<()> {
        self.problem.refuse_options_of_others(&[
            ("--initial-model", self.initial_model.is_some()),
            ("--weight", self.weight.is_some()),
            ("--half-life", self.drift.half_life.is_some()),
        ])?;
        spec.check()?;
        self.drift.watch()?;
        self.features().check()?;
        let progress = self.progress.progress_json.as_deref();
        let to_stdout = [
            ("--json", output.json()),
            ("--predict", self.predict && is_stdout(&self.output)),
            ("--progress-json -", progress.is_some_and(is_stdout)),
            ("--model -", self.model.as_deref().is_some_and(is_stdout)),
        ];
        let names: Vec<&str> = to_stdout
            .iter()
            .filter(|(_, is)| *is)
            .map(|(n, _)| *n)
            .collect();
        if names.len() > 1 {
            let what = format!(
                "{} both write to standard output; name a file for one",
                names[..2].join(" and ")
            );
            return Err(WrongUsage(what).into());
        }
        let inputs: Vec<&Path> = [Some(self.file.as_path()), self.initial_model.as_deref()]
            .into_iter()
            .flatten()
            .collect();
        let outputs = [
            ("--model", self.model.as_deref()),
            ("--output", self.predict.then_some(self.output.as_path())),
            ("--progress-json", progress),
        ];
        for (option, path) in outputs {
            if let Some(path) = path.filter(|path| !is_stdout(path)) {
                // A model may be learned on in its place.
                let read = if option == "--model" {
                    &inputs[..1]
                } else {
                    &inputs[..]
                };
                scoring::refuse_overwriting(path, read, option)?;
            }
        }
        let checkpoint = self.saving.checkpoint.as_deref();
        one_file_each(&outputs, checkpoint)?;
        match &self.model {
            // A pipe or a device is opened once, at the end.
            Some(path) if path.metadata().map_or(true, |m| m.is_file() || m.is_dir()) => {
                drop(AtomicFile::create(path)?);
            }
            _ => {}
        }
        Ok(())
    }

    /// Is standard output taken by something else than the report?
    pub(super) fn uses_stdout(&self) -> bool {
        self.predict && is_stdout(&self.output)
            || self
                .progress
                .progress_json
                .as_deref()
                .is_some_and(is_stdout)
            || self.model.as_deref().is_some_and(is_stdout)
    }
}

/// Refuses outputs that are one file, and those among the checkpoints.
fn one_file_each(outputs: &[(&str, Option<&Path>)], checkpoint: Option<&Path>) -> Result<()> {
    // A pipe or a device, as /dev/null, can be written to more than once.
    let is_file = |path: &&Path| !is_stdout(path) && path.metadata().map_or(true, |m| m.is_file());
    let files: Vec<(&str, &Path, PathBuf)> = outputs
        .iter()
        .filter_map(|(option, path)| path.filter(is_file).map(|path| (*option, path, real(path))))
        .collect();
    let directory = checkpoint.map(real);
    for (k, (option, path, file)) in files.iter().enumerate() {
        let path = path.display();
        if let Some((other, ..)) = files[..k].iter().find(|(.., other)| other == file) {
            let what = format!("{other} and {option} both write to {path}; name another for one");
            return Err(WrongUsage(what).into());
        }
        if directory.as_ref().is_some_and(|d| file.starts_with(d)) {
            let what = format!("{option} {path} is in the directory of the checkpoints");
            return Err(WrongUsage(what).into());
        }
    }
    Ok(())
}

/// The path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    for known in full.ancestors() {
        if let (Ok(start), Ok(rest)) = (known.canonicalize(), full.strip_prefix(known)) {
            return start.join(rest);
        }
    }
    full
}
