//! `ubauc data show`: what is in a file, without learning from it.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use ubauc::document::numbers::thousands;
use ubauc::document::{Document, Facts, Table};

use crate::input::{FileArg, FormatArgs, TABLES, Wanted};
use crate::output::{Output, Report};

/// What was typed after `ubauc data show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    input: FileArg,
    #[arg(
        long,
        value_name = "COLUMN",
        value_delimiter = ',',
        help = format!("Columns to leave out ({TABLES}), separated by commas")
    )]
    ignore: Vec<String>,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &ShowArgs, output: Output) -> Result<()> {
    let started = Instant::now();
    let wanted = Wanted {
        ignore: args.ignore.clone(),
        ..Wanted::default()
    };
    let examples = args.format.read(&args.input.file, wanted, output)?;
    let (rows, d) = (examples.rows.len(), examples.rows.cols());
    let labels = &examples.labels;
    let classes = labels
        .classes()
        .iter()
        .zip(labels.counts())
        .map(|(class, &examples)| ClassCount {
            class: class.to_string(),
            examples,
        })
        .collect();
    output.report(&Summary {
        file: args.input.file.clone(),
        rows,
        d,
        stored_entries: examples.rows.stored(),
        classes,
        features: examples.names,
        seconds: started.elapsed().as_secs_f64(),
    })
}

#[derive(Serialize)]
struct Summary {
    file: PathBuf,
    rows: usize,
    d: usize,
    stored_entries: usize,
    classes: Vec<ClassCount>,
    /// Their names, if the file has them.
    features: Vec<String>,
    seconds: f64,
}

#[derive(Serialize)]
struct ClassCount {
    class: String,
    examples: usize,
}

/// Classes shown to a person; JSON has them all.
const SHOWN: usize = 20;

impl Report for Summary {
    fn document(&self) -> Document {
        let mut facts = Facts::default();
        facts.add("rows", thousands(self.rows as u64));
        facts.add("features", thousands(self.d as u64));
        let mut stored = thousands(self.stored_entries as u64);
        if self.d > 0 {
            let share = 100.0 * self.stored_entries as f64 / (self.rows as f64 * self.d as f64);
            stored += &format!(" ({share:.3} % of all)");
        }
        facts.add("stored entries", stored);
        facts.add("classes", self.classes.len());
        let mut table = Table::new(["class", "examples", "share"]);
        for ClassCount { class, examples } in self.classes.iter().take(SHOWN) {
            let share = 100.0 * *examples as f64 / self.rows as f64;
            table.row([
                class.clone(),
                thousands(*examples as u64),
                format!("{share:.2} %"),
            ]);
        }
        let more = self.classes.len().saturating_sub(SHOWN);
        table.foot = (more > 0).then(|| format!("… {more} more (all with --json)"));
        Document::default().with(facts).with(table)
    }
}
