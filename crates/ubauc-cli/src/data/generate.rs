//! `ubauc data generate`: made-up data, written while it is made.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use serde::Serialize;
use ubauc::atomic::{AtomicFile, is_stdout};
use ubauc::data::generate::{GenerateParams, GeneratedRow, Generator};
use ubauc::document::numbers::thousands;
use ubauc::document::{Document, Facts};

use crate::args::WrongUsage;
use crate::output::{Output, Report};
use crate::progress::Progress;

/// A full line then stays below the longest one that is read back, `ubauc::read::MAX_LINE`.
const MAX_CSV_COLUMNS: u32 = 500_000;

/// What was typed after `ubauc data generate`.
#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// Number of examples
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    rows: u64,
    /// Number of features
    #[arg(long, value_name = "D", default_value_t = 20)]
    dim: u32,
    /// Probability that a feature is present; 1 makes every row full
    #[arg(long, value_name = "P", default_value_t = 1.0)]
    density: f64,
    /// Share of positive examples
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    positive_share: f64,
    /// AUC of the best scorer there is for these data, from 0.5 to below 1
    #[arg(long, value_name = "AUC", default_value_t = 0.9)]
    auc: f64,
    /// Another sample for the same seed has the same best scorer: 0 to train, 1 to test
    #[arg(long, value_name = "K", default_value_t = 0)]
    sample: u64,
    /// Where to write; - is standard output
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Format [default: csv if FILE ends in .csv, else svmlight]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    Svmlight,
    Csv,
}

/// Writes the file and reports what is in it.
pub(crate) fn run(args: &GenerateArgs, seed: u64, output: Output) -> Result<()> {
    let to_stdout = is_stdout(&args.output);
    if to_stdout && output.json() {
        let what = "--json and --output - both write to standard output; name a file for the data";
        return Err(WrongUsage(what.to_string()).into());
    }
    refuse_compression(&args.output)?;
    let params = GenerateParams {
        rows: args.rows,
        dim: args.dim,
        density: args.density,
        positive_share: args.positive_share,
        auc: args.auc,
        seed,
        sample: args.sample,
    };
    let generator = Generator::new(&params)?;
    let format = args.format.unwrap_or_else(|| guess_format(&args.output));
    if format == Format::Csv && args.dim > MAX_CSV_COLUMNS {
        let (dim, most) = (thousands(args.dim), thousands(MAX_CSV_COLUMNS));
        bail!(
            "{dim} features are too many columns for CSV (at most {most}); use --format svmlight"
        );
    }
    let summary = write(generator, &params, &args.output, format, output)?;
    if to_stdout {
        output.report_aside(&summary);
    } else if output.json() || !output.quiet {
        output.report(&summary)?;
    }
    Ok(())
}

fn write(
    mut generator: Generator,
    params: &GenerateParams,
    path: &Path,
    format: Format,
    output: Output,
) -> Result<Summary> {
    /// How many bytes to write between looks at the clock.
    const LOOK: u64 = 1 << 20;
    let started = Instant::now();
    let mut file = AtomicFile::create(path)?;
    let mut progress = Progress::new(
        output,
        Some(params.rows),
        "{wide_bar} {human_pos} of {human_len} rows, {eta} left",
    );
    let (mut stored_entries, mut bytes, mut looked) = (0, 0, 0);
    let mut text = Vec::new();
    if format == Format::Csv {
        csv_header(&mut text, params.dim);
    }
    for row in 1..=params.rows {
        let Some(example) = generator.next_row() else {
            break;
        };
        stored_entries += example.entries.len() as u64;
        match format {
            Format::Svmlight => svmlight_line(&mut text, example),
            Format::Csv => csv_line(&mut text, example, params.dim),
        }
        file.put(&text)?;
        bytes += text.len() as u64;
        text.clear();
        if bytes - looked > LOOK {
            looked = bytes;
            progress.at(row);
        }
    }
    file.commit()?;
    Ok(Summary {
        output: path.to_path_buf(),
        format,
        rows: params.rows,
        positives: generator.positives(),
        dim: params.dim,
        density: params.density,
        auc: params.auc,
        seed: params.seed,
        sample: params.sample,
        stored_entries,
        bytes,
        seconds: started.elapsed().as_secs_f64(),
    })
}

#[derive(Serialize)]
struct Summary {
    output: PathBuf,
    format: Format,
    rows: u64,
    positives: u64,
    dim: u32,
    density: f64,
    auc: f64,
    seed: u64,
    sample: u64,
    stored_entries: u64,
    bytes: u64,
    seconds: f64,
}

impl Report for Summary {
    fn document(&self) -> Document {
        let share = 100.0 * self.positives as f64 / self.rows as f64;
        let positives = thousands(self.positives);
        let mut facts = Facts::default();
        facts.add("rows", thousands(self.rows));
        facts.add("positives", format!("{positives} ({share:.3} %)"));
        facts.add("dimension", thousands(self.dim));
        facts.add("stored entries", thousands(self.stored_entries));
        facts.add("best AUC", self.auc);
        facts.add("bytes", thousands(self.bytes));
        if !is_stdout(&self.output) {
            facts.add("file", self.output.display());
        }
        facts.into()
    }
}

fn extension(path: &Path) -> String {
    path.extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase()
}

fn guess_format(path: &Path) -> Format {
    if extension(path) == "csv" {
        Format::Csv
    } else {
        Format::Svmlight
    }
}

fn refuse_compression(path: &Path) -> Result<()> {
    let program = match extension(path).as_str() {
        "gz" => "gzip",
        "zst" => "zstd",
        "bz2" => "bzip2",
        "xz" => "xz",
        _ => return Ok(()),
    };
    bail!(
        "{}: data are written uncompressed; choose another name, or use \
         `ubauc data generate … --output - | {program} > {}`",
        path.display(),
        path.display()
    )
}

fn svmlight_line(text: &mut Vec<u8>, row: GeneratedRow<'_>) {
    text.extend_from_slice(if row.positive { b"+1" } else { b"-1" });
    for &(feature, value) in row.entries {
        text.push(b' ');
        push_integer(text, u64::from(feature) + 1);
        text.push(b':');
        push_value(text, value);
    }
    text.push(b'\n');
}

fn csv_header(text: &mut Vec<u8>, dim: u32) {
    text.extend_from_slice(b"label");
    for feature in 1..=dim {
        text.extend_from_slice(b",x");
        push_integer(text, feature.into());
    }
    text.push(b'\n');
}

fn csv_line(text: &mut Vec<u8>, row: GeneratedRow<'_>, dim: u32) {
    text.extend_from_slice(if row.positive { b"1" } else { b"-1" });
    let mut written = 0;
    for &(feature, value) in row.entries {
        push_absent(text, feature - written);
        text.push(b',');
        push_value(text, value);
        written = feature + 1;
    }
    push_absent(text, dim - written);
    text.push(b'\n');
}

fn push_absent(text: &mut Vec<u8>, count: u32) {
    for _ in 0..count {
        text.extend_from_slice(b",0");
    }
}

fn push_integer(text: &mut Vec<u8>, n: u64) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    let mut rest = n;
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[start..]);
}

/// The value rounded to six decimals, without trailing zeros: what `{:.6}` prints, some ten times
/// faster, which is what the speed of the whole command hangs on.
fn push_value(text: &mut Vec<u8>, value: f64) {
    const DECIMALS: usize = 6;
    const SCALE: u64 = 1_000_000;
    let millionths = (value * SCALE as f64).round();
    if millionths < 0.0 {
        text.push(b'-');
    }
    let millionths = millionths.abs() as u64;
    push_integer(text, millionths / SCALE);
    let mut fraction = millionths % SCALE;
    if fraction == 0 {
        return;
    }
    let mut digits = [0; DECIMALS];
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (fraction % 10) as u8;
        fraction /= 10;
    }
    let significant = DECIMALS
        - digits
            .iter()
            .rev()
            .take_while(|&&digit| digit == b'0')
            .count();
    text.push(b'.');
    text.extend_from_slice(&digits[..significant]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(value: f64) -> String {
        let mut text = Vec::new();
        push_value(&mut text, value);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn values_are_rounded_to_six_decimals_without_trailing_zeros() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1e-9, "0"),
            (-1e-9, "0"),
            (0.5, "0.5"),
            (-1.25, "-1.25"),
            (12.000001, "12.000001"),
            (0.9999996, "1"),
            (-0.000001, "-0.000001"),
            (10.0, "10"),
        ] {
            assert_eq!(printed(value), text);
        }
    }

    #[test]
    fn values_are_what_the_standard_library_prints() {
        for i in -5000..5000 {
            let value = f64::from(i) * 0.001_234_567_89;
            let standard = format!("{value:.6}");
            let standard = standard.trim_end_matches('0').trim_end_matches('.');
            let standard = if standard == "-0" { "0" } else { standard };
            assert_eq!(printed(value), standard);
        }
    }

    #[test]
    fn absent_features_are_zeros_in_csv_and_left_out_in_svmlight() {
        let row = GeneratedRow {
            positive: true,
            entries: &[(1, 0.5), (3, -2.0)],
        };
        let mut text = Vec::new();
        csv_header(&mut text, 5);
        csv_line(&mut text, row, 5);
        svmlight_line(&mut text, row);
        svmlight_line(
            &mut text,
            GeneratedRow {
                positive: false,
                entries: &[],
            },
        );
        let text = String::from_utf8(text).unwrap();
        assert_eq!(
            text,
            "label,x1,x2,x3,x4,x5\n1,0,0.5,0,-2,0\n+1 2:0.5 4:-2\n-1\n"
        );
    }

    #[test]
    fn format_follows_the_name() {
        assert_eq!(guess_format(Path::new("a/b.CSV")), Format::Csv);
        assert_eq!(guess_format(Path::new("a/b.svm")), Format::Svmlight);
        assert_eq!(guess_format(Path::new("-")), Format::Svmlight);
        assert!(refuse_compression(Path::new("a.csv.gz")).is_err());
        assert!(refuse_compression(Path::new("a.csv")).is_ok());
    }
}
