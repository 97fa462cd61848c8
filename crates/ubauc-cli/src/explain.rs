//! `ubauc explain`: what a model has learned of every column and pair, and one score as a sum.

mod row;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use ubauc::document::Document;
use ubauc::glass_box::explain::{Explained, Shown, TermReport};
use ubauc::model_file::SavedModel;

use crate::input::FormatArgs;
use crate::output::{self, Output};
use row::{Place, RowReport, parse_place};

/// What was typed after `ubauc explain`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc explain model.json\n  \
    ubauc explain model.json --top 3 --json\n  \
    ubauc explain model.json --row new.csv:17\n\n\
    A score is the mean score of the training examples plus what each term adds: one term for each\n\
    column and for each pair of columns that has a table of its own. Terms are 0 on average, and what a\n\
    pair says of one of its columns alone is in that column's term. The importance of a term is its\n\
    standard deviation over the training examples. Bins of a number are joined to a dozen lines; --json\n\
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
    let explained = Explained::new(&saved.model, saved.effects.as_ref()).with_context(in_model)?;
    if !explained.has_importances {
        output.note(format!(
            "note: {}: the file does not tell how features vary; weights are shown as they are",
            args.model.display()
        ));
    }
    if let Some(place) = &args.row {
        let report = RowReport::new(&saved.model, &explained, place, &args.format, output)?;
        return output.report(&report);
    }
    output.report(&Report {
        model: &args.model,
        algorithm: &saved.algorithm,
        classes: &explained.classes,
        threshold: explained.threshold,
        intercept: explained.intercept,
        terms: explained.ranked(),
        document: explained.document(Shown {
            top: args.top,
            all: "with --json",
        }),
    })
}

#[derive(Serialize)]
struct Report<'a> {
    model: &'a Path,
    algorithm: &'a str,
    classes: &'a [String; 2],
    threshold: f64,
    /// The mean score of the training examples.
    intercept: f64,
    /// The most important one first.
    terms: Vec<&'a TermReport>,
    #[serde(skip)]
    document: Document,
}

impl output::Report for Report<'_> {
    fn document(&self) -> Document {
        self.document.clone()
    }
}
