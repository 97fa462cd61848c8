//! What the commands read: examples, or labels with scores, and the options that say how.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use ubauc::data::dataset::Examples;
use ubauc::data::labels::{Binary, Choice};
use ubauc::read::{self, Encoding, Format, ReadOptions};

use ubauc::model::Model;
use ubauc::read::table::{OnError, TableOptions};

use crate::args::WrongUsage;
use crate::met::skipped_notice;
use crate::output::Output;
use crate::progress::{BYTES, Progress, STREAM};

/// The formats with named columns that this build reads, for `--help`.
pub(crate) const TABLES: &str = if cfg!(feature = "parquet") {
    "CSV, Parquet"
} else {
    "CSV"
};

/// The formats of examples that this build reads, for `--help`.
const FORMATS: &str = if cfg!(feature = "parquet") {
    "CSV with a header, svmlight or Parquet"
} else {
    "CSV with a header or svmlight"
};

/// How to read a file.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct FormatArgs {
    /// Format of the file [default: by name and content]
    #[arg(long, value_enum)]
    format: Option<FormatName>,
    #[arg(
        long,
        value_name = "COLUMN",
        help = format!("Column of the labels ({TABLES}) [default: that of the model, or label]")
    )]
    label: Option<String>,
    /// Character between CSV fields, \t for a tab [default: the commonest of , ; tab | in the header]
    #[arg(long, visible_alias = "delimiter", value_name = "CHAR", value_parser = separator)]
    separator: Option<u8>,
    /// How CSV text is written: utf-8, latin-1, windows-1252 or utf-16 [default: utf-8, or utf-16 with a byte order mark]
    #[arg(long, value_name = "NAME", value_parser = encoding)]
    encoding: Option<Encoding>,
    /// The CSV file has no header: columns are called 1, 2, 3, …
    #[arg(long)]
    no_header: bool,
    /// svmlight indices start at 0, not at 1
    #[arg(long)]
    pub(crate) zero_based: bool,
    /// Refuse svmlight features above this index: a model has a weight for each [default: 100,000,000; learn: 67,108,864]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    max_features: Option<usize>,
    /// Refuse lines longer than this many bytes
    #[arg(long, value_name = "BYTES", default_value_t = read::MAX_LINE, value_parser = at_least_one())]
    max_line: usize,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatName {
    Svmlight,
    Csv,
    #[cfg(feature = "parquet")]
    Parquet,
}

fn encoding(text: &str) -> std::result::Result<Encoding, String> {
    let known = "utf-8, latin-1, windows-1252 or utf-16";
    Encoding::named(text).ok_or_else(|| format!("must be {known}"))
}

fn separator(text: &str) -> std::result::Result<u8, String> {
    match text.as_bytes() {
        [byte] if !byte.is_ascii_alphanumeric() && !matches!(byte, b'"' | b'\n' | b'\r') => {
            Ok(*byte)
        }
        br"\t" => Ok(b'\t'),
        _ => Err("one character that is no letter, digit or quote, or \\t".to_string()),
    }
}

fn encoding_name(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Utf8 => "utf-8",
        Encoding::Latin1 => "latin-1",
        Encoding::Windows1252 => "windows-1252",
        Encoding::Utf16 => "utf-16",
    }
}

/// A number of something of which none would be nonsense.
pub(crate) fn at_least_one() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..)
}

/// Which columns of a table are wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// These, in this order; all but the label if `None`.
    pub(crate) columns: Option<Vec<String>>,
    /// Not these.
    pub(crate) ignore: Vec<String>,
    /// A column that is missing is zero.
    pub(crate) missing_zero: bool,
    /// Say which columns are not used.
    pub(crate) notice_others: bool,
    /// Indices of any size are fine: what they take is bounded otherwise.
    pub(crate) any_index: bool,
    /// The column of labels; that typed if `None`.
    pub(crate) label: Option<String>,
    /// What is done about a line that cannot be read.
    pub(crate) on_error: OnError,
}

impl Wanted {
    pub(crate) fn columns(names: Vec<String>) -> Wanted {
        Wanted {
            columns: Some(names),
            ..Wanted::default()
        }
    }
}

impl FormatArgs {
    /// What was typed that is not the default, to be typed again.
    pub(crate) fn typed(&self) -> Vec<(&'static str, Option<String>)> {
        let mut typed = Vec::new();
        if let Some(name) = self.format.and_then(|f| f.to_possible_value()) {
            typed.push(("--format", Some(name.get_name().to_string())));
        }
        if let Some(label) = &self.label {
            typed.push(("--label", Some(label.clone())));
        }
        if let Some(encoding) = self.encoding {
            typed.push(("--encoding", Some(encoding_name(encoding).to_string())));
        }
        if let Some(byte) = self.separator {
            let text = match byte {
                b'\t' => r"\t".to_string(),
                byte => char::from(byte).to_string(),
            };
            typed.push(("--separator", Some(text)));
        }
        for (option, given) in [
            ("--no-header", self.no_header),
            ("--zero-based", self.zero_based),
        ] {
            if given {
                typed.push((option, None));
            }
        }
        if let Some(most) = self.max_features {
            typed.push(("--max-features", Some(most.to_string())));
        }
        if self.max_line != read::MAX_LINE {
            typed.push(("--max-line", Some(self.max_line.to_string())));
        }
        typed
    }

    /// Reads a file with a progress bar.
    pub(crate) fn read(&self, path: &Path, wanted: Wanted, output: Output) -> Result<Examples> {
        let examples = self.with_progress(path, wanted, output, |options| {
            Ok::<Examples, anyhow::Error>(read::read(path, options)?)
        })?;
        for notice in &examples.notices {
            output.note(format!("note: {}: {notice}", path.display()));
        }
        if let Some(notice) = skipped_notice(&examples.skipped) {
            output.note(format!("note: {}: {notice}", path.display()));
        }
        Ok(examples)
    }

    /// Runs a reader with the options typed and a progress bar.
    pub(crate) fn with_progress<T>(
        &self,
        path: &Path,
        wanted: Wanted,
        output: Output,
        read: impl FnOnce(&ReadOptions<'_>) -> Result<T>,
    ) -> Result<T> {
        self.watched(path, output, |advance| {
            read(&ReadOptions {
                progress: Some(advance),
                ..self.options(wanted)
            })
        })
    }

    /// Runs a reader with a progress bar, which is told of every few bytes.
    pub(crate) fn watched<T>(
        &self,
        path: &Path,
        output: Output,
        read: impl FnOnce(&(dyn Fn(u64) + Sync)) -> Result<T>,
    ) -> Result<T> {
        let length = path
            .metadata()
            .ok()
            .filter(|m| m.is_file())
            .map(|m| m.len());
        let template = if length.is_some() { BYTES } else { STREAM };
        let progress = Mutex::new((0, Progress::new(output, length, template)));
        let advance = |bytes: u64| {
            if let Ok(mut progress) = progress.lock() {
                progress.0 += bytes;
                let at = progress.0;
                progress.1.at(at);
            }
        };
        read(&advance)
    }

    /// The largest number of features, if one was typed.
    pub(crate) fn max_features(&self) -> Option<usize> {
        self.max_features
    }

    /// The column of labels that was typed.
    pub(crate) fn typed_label(&self) -> Option<String> {
        self.label.clone()
    }

    /// The column of labels that was typed, or the usual one.
    pub(crate) fn label(&self) -> String {
        let typed = self.label.clone();
        typed.unwrap_or_else(|| "label".to_string())
    }

    /// The same where a model knows it.
    pub(crate) fn label_of(&self, model: &Model) -> String {
        let known = self.label.as_ref().or(model.reading.label.as_ref());
        known.cloned().unwrap_or_else(|| "label".to_string())
    }

    /// The options typed, for a table.
    pub(crate) fn table_options(&self) -> TableOptions<'static> {
        TableOptions {
            format: self.format(),
            delimiter: self.separator,
            encoding: self.encoding,
            no_header: self.no_header,
            zero_based: self.zero_based,
            max_line: self.max_line,
            max_features: self.max_features.unwrap_or(read::MAX_FEATURES),
            ..TableOptions::default()
        }
    }

    /// Whether the first line of a table names the columns; Parquet has no such line.
    pub(crate) fn has_header(&self, path: &Path) -> bool {
        let is_parquet = match self.format() {
            Some(format) => format == Format::Parquet,
            None => path
                .extension()
                .is_some_and(|e| e.eq_ignore_ascii_case("parquet")),
        };
        !self.no_header && !is_parquet
    }

    fn format(&self) -> Option<Format> {
        self.format.map(|name| match name {
            FormatName::Svmlight => Format::Svmlight,
            FormatName::Csv => Format::Csv,
            #[cfg(feature = "parquet")]
            FormatName::Parquet => Format::Parquet,
        })
    }

    /// The options typed.
    pub(crate) fn options(&self, wanted: Wanted) -> ReadOptions<'static> {
        ReadOptions {
            format: self.format(),
            label: wanted.label.unwrap_or_else(|| self.label()),
            columns: wanted.columns,
            ignore: wanted.ignore,
            missing_zero: wanted.missing_zero,
            notice_others: wanted.notice_others,
            delimiter: self.separator,
            encoding: self.encoding,
            no_header: self.no_header,
            zero_based: self.zero_based,
            max_line: self.max_line,
            max_features: match wanted.any_index {
                true => usize::MAX,
                false => self.max_features.unwrap_or(read::MAX_FEATURES),
            },
            on_error: wanted.on_error,
            progress: None,
        }
    }
}

/// Which class is positive.
#[derive(Debug, Args)]
#[command(next_help_heading = "Classes")]
pub(crate) struct ClassArgs {
    /// The positive class, against all others [default: of two numbers the larger; of two words
    /// the one that says yes or true, otherwise the rarer one]
    #[arg(
        long,
        value_name = "VALUE",
        allow_hyphen_values = true,
        conflicts_with = "partition"
    )]
    positive: Option<String>,
    /// Many classes: take a random half of them, fixed by this seed, as positive
    #[arg(long, value_name = "SEED")]
    partition: Option<u64>,
}

impl ClassArgs {
    pub(crate) fn choice(&self) -> Choice {
        match (&self.positive, self.partition) {
            (Some(value), _) => Choice::Positive(value.clone()),
            (None, Some(seed)) => Choice::Partition(seed),
            (None, None) => Choice::Larger,
        }
    }
}

/// Where the scores of a file are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Scores")]
pub(crate) struct ScoreArgs {
    #[arg(
        long,
        value_name = "COLUMN",
        value_delimiter = ',',
        default_value = "score",
        help = format!("Column of the scores ({TABLES}); several, separated by commas, where a command takes them")
    )]
    pub(crate) score: Vec<String>,
    /// svmlight: take the feature with this index as the score
    #[arg(long, value_name = "INDEX")]
    feature: Option<usize>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) classes: ClassArgs,
}

/// Scores, one column a scorer, with the labels of the examples.
pub(crate) struct Scores {
    pub(crate) columns: Vec<Vec<f64>>,
    pub(crate) labels: Binary,
    /// Of the examples, if they were asked for.
    pub(crate) groups: Option<Vec<u32>>,
}

impl ScoreArgs {
    /// The score columns of a file and, behind them, `more` columns of numbers.
    pub(crate) fn load(&self, path: &Path, more: &[String], output: Output) -> Result<Scores> {
        if self.feature.is_some() && (!more.is_empty() || self.score != ["score"]) {
            let what = "--feature takes the score from svmlight, which has no columns for --score or --weight";
            return Err(WrongUsage(what.to_string()).into());
        }
        let wanted: Vec<String> = self.score.iter().chain(more).cloned().collect();
        let n_wanted = wanted.len();
        let examples = self.format.read(path, Wanted::columns(wanted), output)?;
        let is_svmlight = examples.names.is_empty();
        let columns = match (is_svmlight, self.feature) {
            (true, Some(index)) => {
                let column = self.feature_column(index, &examples);
                vec![column.with_context(|| path.display().to_string())?]
            }
            (true, None) => bail!(
                "{}: holds examples, not scores; choose one feature as the score (--feature INDEX)",
                path.display()
            ),
            (false, Some(_)) => bail!(
                "{}: --feature is for svmlight; choose a column with --score COLUMN",
                path.display()
            ),
            (false, None) => (0..n_wanted).map(|j| examples.rows.column(j)).collect(),
        };
        let labels = self.classes.binary(&examples.labels, path, output);
        let labels = labels.with_context(|| path.display().to_string())?;
        Ok(Scores {
            columns,
            labels,
            groups: None,
        })
    }

    /// A feature by its index in the file.
    fn feature_column(&self, index: usize, examples: &Examples) -> Result<Vec<f64>> {
        let first = usize::from(!self.format.zero_based);
        let end = examples.rows.cols() + first;
        if end == first {
            bail!("--feature {index}: the file has labels only");
        }
        if index < first || index >= end {
            let last = end - 1;
            bail!("--feature {index}: the file has features {first} to {last}");
        }
        Ok(examples.rows.column(index - first))
    }

    /// The one column of scores that most commands take.
    pub(crate) fn load_one(&self, path: &Path, more: &[String], output: Output) -> Result<Scores> {
        if self.score.len() != 1 {
            let what = format!(
                "--score names {} columns; one is expected here",
                self.score.len()
            );
            return Err(WrongUsage(what).into());
        }
        self.load(path, more, output)
    }
}

/// The file to read.
#[derive(Debug, Args)]
pub(crate) struct FileArg {
    #[arg(
        value_name = "FILE",
        help = format!("{FORMATS}; plain, gz, zst, bz2 or xz; - is standard input")
    )]
    pub(crate) file: PathBuf,
}
