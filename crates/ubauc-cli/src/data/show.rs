//! `ubauc data show`: what is in a file, without learning from it.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use ubauc::data::labels::Labels;
use ubauc::data::rows::Rows;
use ubauc::data::table::{MISSING, Table as RawTable, Values};
use ubauc::document::numbers::thousands;
use ubauc::document::{Block, Document, Facts, Table};
use ubauc::read::table::{ColumnReport, Data, TableExamples, TableOptions, read_data};

use crate::column_report;
use crate::input::{FileArg, FormatArgs};
use crate::output::{Output, Report};
use crate::table_args::TableArgs;

/// What was typed after `ubauc data show`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc data show customers.csv\n  \
    ubauc data show customers.csv --label churn --json\n\n\
    A table needs no label; classes are counted if a column is named, or called label.")]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    input: FileArg,
    #[command(flatten)]
    columns: TableArgs,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &ShowArgs, output: Output) -> Result<()> {
    let started = Instant::now();
    let path = args.input.file.as_path();
    let data = args.format.watched(path, output, |advance| {
        let options = TableOptions {
            label: args.format.typed_label(),
            progress: Some(advance),
            ..args.columns.apply(args.format.table_options())
        };
        Ok(read_data(path, &options)?)
    })?;
    let mut summary = match data {
        Data::Rows(examples) => {
            args.columns.refuse_for_svmlight()?;
            Summary {
                rows: examples.rows.len(),
                d: examples.rows.cols(),
                stored_entries: Some(examples.rows.stored()),
                classes: classes_of(&examples.labels),
                notices: examples.notices,
                ..Summary::default()
            }
        }
        Data::Table(examples) => of_table(examples, &args.format.label())?,
    };
    for notice in &summary.notices {
        output.note(format!("note: {}: {notice}", path.display()));
    }
    summary.file = path.to_path_buf();
    summary.seconds = started.elapsed().as_secs_f64();
    output.report(&summary)
}

fn of_table(examples: TableExamples, label: &str) -> Result<Summary> {
    let TableExamples {
        mut table,
        mut labels,
        mut columns,
        notices,
        ..
    } = examples;
    if labels.is_none() {
        labels = take_labels(&mut table, label);
        columns.retain(|report| table.column(&report.name).is_some());
    }
    let features: Vec<String> = columns.iter().map(|report| report.name.clone()).collect();
    let stored_entries = match table.is_complete_numbers() {
        true => match table.numbers(&[])? {
            Rows::Dense(dense) => Some(Rows::smaller_of_dense(dense).stored()),
            rows => Some(rows.stored()),
        },
        false => None,
    };
    Ok(Summary {
        rows: table.len(),
        d: features.len(),
        stored_entries,
        classes: labels.as_ref().map(classes_of).unwrap_or_default(),
        features,
        columns,
        notices,
        ..Summary::default()
    })
}

/// The column of labels, if there is one of that name and all its rows have a class.
fn take_labels(table: &mut RawTable, name: &str) -> Option<Labels> {
    let (codes, texts) = match &table.column(name)?.values {
        Values::Category { codes, levels } => (codes.clone(), levels.to_vec()),
        Values::Number(numbers) | Values::Time(numbers) => {
            let texts: Vec<String> = numbers.iter().map(f64::to_string).collect();
            let mut distinct = texts.clone();
            distinct.sort_unstable();
            distinct.dedup();
            let code = |text: &String| distinct.partition_point(|other| other < text) as u32;
            (texts.iter().map(code).collect(), distinct)
        }
    };
    if codes.contains(&MISSING) || texts.iter().any(|text| text == "NaN") {
        return None;
    }
    let labels = Labels::of_categories(&codes, &texts)?;
    table.take(name);
    Some(labels)
}

fn classes_of(labels: &Labels) -> Vec<ClassCount> {
    let counted = labels.classes().iter().zip(labels.counts());
    let count = |(class, &examples): (&ubauc::data::labels::Class, &usize)| ClassCount {
        class: class.to_string(),
        examples,
    };
    counted.map(count).collect()
}

#[derive(Default, Serialize)]
struct Summary {
    file: PathBuf,
    rows: usize,
    d: usize,
    /// Where all features are numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    stored_entries: Option<usize>,
    classes: Vec<ClassCount>,
    /// Their names, if the file has them.
    features: Vec<String>,
    /// What was made of the columns of a table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<ColumnReport>,
    #[serde(skip)]
    notices: Vec<String>,
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
        if let Some(entries) = self.stored_entries {
            let mut stored = thousands(entries as u64);
            if self.d > 0 {
                let share = 100.0 * entries as f64 / (self.rows as f64 * self.d as f64);
                stored += &format!(" ({share:.3} % of all)");
            }
            facts.add("stored entries", stored);
        }
        if !self.classes.is_empty() {
            facts.add("classes", self.classes.len());
        }
        let mut document = Document::default().with(facts);
        if !self.classes.is_empty() {
            document = document.with(self.class_table());
        }
        if self.columns.is_empty() {
            return document;
        }
        document = document.with(column_report::table_of(&self.columns));
        let notes = self.columns.iter().flat_map(|column| {
            let name = &column.name;
            column
                .notes
                .iter()
                .map(move |note| format!("{name}: {note}"))
        });
        let notes: Vec<String> = notes.collect();
        match notes.is_empty() {
            true => document,
            false => document.with(Block::Notes(notes)),
        }
    }
}

impl Summary {
    fn class_table(&self) -> Table {
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
        table
    }
}
