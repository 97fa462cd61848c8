//! `ubauc explain`: what a model has learned of every column and pair, and one score as a sum.

mod chart;
mod row;
mod terms;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use ubauc::document::numbers::{interval, thousands};
use ubauc::document::{Document, Facts, Table};
use ubauc::model_file::SavedModel;

use crate::input::FormatArgs;
use crate::output::{self, Output};
use row::{Place, RowReport, parse_place};
use terms::{Explained, TermReport};

/// What was typed after `ubauc explain`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc explain model.json\n  \
    ubauc explain model.json --top 3 --json\n  \
    ubauc explain model.json --row new.csv:17\n\n\
    A score is the mean score of the training examples plus what each term adds: one term for each\n\
    column and for each pair of columns that has a table of its own. Terms are 0 on average, and what a\n\
    pair says of one of its columns alone is in that column's term. The importance of a term is its\n\
    standard deviation over the training examples; its interval says what other examples of the same\n\
    kind would change (learned again without each of ten parts of them), and that of a column of noise\n\
    reaches to about 0. A term is marked where it must rise or fall with a\n\
    column (--increasing and --decreasing of train). Bins of a number are joined to a dozen lines; --json\n\
    has them all. In --row lines are counted as records, the header of a CSV file being the first.")]
pub(crate) struct ExplainArgs {
    /// The model, from `ubauc train --model`
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Explain the score of one example, as a sum
    #[arg(long, value_name = "FILE:LINE", value_parser = parse_place)]
    row: Option<Place>,
    /// Draw the tables of the N most important terms
    #[arg(long, value_name = "N", default_value_t = 8)]
    top: usize,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &ExplainArgs, output: Output) -> Result<()> {
    let saved = SavedModel::load(&args.model)?;
    let in_model = || args.model.display().to_string();
    let explained = Explained::new(&saved).with_context(in_model)?;
    if !explained.has_moments() {
        output.note(format!(
            "note: {}: the file does not tell how features vary; weights are shown as they are",
            args.model.display()
        ));
    }
    if let Some(place) = &args.row {
        let report = RowReport::new(&saved.model, &explained, place, &args.format, output)?;
        return output.report(&report);
    }
    let model = saved.model;
    output.report(&Report {
        model: args.model.clone(),
        algorithm: saved.algorithm,
        classes: model.classes,
        threshold: model.threshold,
        intercept: explained.intercept,
        terms: explained.terms,
        top: args.top,
    })
}

#[derive(Serialize)]
struct Report {
    model: PathBuf,
    algorithm: String,
    classes: [String; 2],
    threshold: f64,
    /// The mean score of the training examples.
    intercept: f64,
    /// The most important one first.
    terms: Vec<TermReport>,
    #[serde(skip)]
    top: usize,
}

/// Importances shown to people; JSON has them all.
const SHOWN: usize = 40;

impl output::Report for Report {
    fn document(&self) -> Document {
        let mut facts = Facts::default();
        let pairs = self.terms.iter().filter(|t| t.columns.len() > 1).count();
        facts.add(
            "terms",
            format!(
                "{} of one column, {} of a pair",
                thousands((self.terms.len() - pairs) as u64),
                thousands(pairs as u64)
            ),
        );
        facts.add(
            "score",
            format!("{:.4} and what the terms add", self.intercept),
        );
        let [_, positive] = &self.classes;
        facts.add(
            "class",
            format!(
                "{positive} where the score is at least {:.4}",
                self.threshold
            ),
        );
        let mut document = Document::default().with(facts).with(self.importances());
        for term in self.terms.iter().take(self.top) {
            document = document.with(chart::table(term));
        }
        document
    }
}

impl Report {
    fn importances(&self) -> Table {
        let has_gains = self.terms.iter().any(|term| term.gain.is_some());
        let has_intervals = self.terms.iter().any(|term| term.interval.is_some());
        let mut head = vec!["term", "importance", ""];
        if has_intervals {
            head.push("95 % interval");
        }
        if has_gains {
            head.push("gain");
        }
        let mut table = Table::new(head).left(&[2]);
        let largest = self.terms.first().map_or(0.0, TermReport::rank);
        for term in self.terms.iter().take(SHOWN) {
            let mut cells = vec![
                term.marked_name(),
                format!("{:.4}", term.rank()),
                chart::length(term.rank(), largest),
            ];
            if has_intervals {
                cells.push(term.interval.map_or(String::new(), interval));
            }
            if has_gains {
                cells.push(term.gain.map_or(String::new(), |gain| format!("{gain:.2}")));
            }
            table.row(cells);
        }
        let more = self.terms.len().saturating_sub(SHOWN);
        table.foot = (more > 0).then(|| format!("… {more} more terms (all with --json)"));
        table
    }
}
