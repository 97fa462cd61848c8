//! `ubauc data list`: the catalogue, and what of it is in the data directory.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use ubauc::document::numbers::thousands;
use ubauc::document::{Block, Document, Table};

use super::catalogue::{DataSet, Part, SETS};
use super::{DirArg, present};
use crate::output::{Output, Report};

/// What was typed after `ubauc data list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    dir: DirArg,
}

/// Lists the sets.
pub(crate) fn run(args: &ListArgs, output: Output) -> Result<()> {
    let dir = args.dir.path();
    let sets = SETS.iter().map(|set| Line::new(set, &dir)).collect();
    output.report(&Listing { dir, sets })
}

#[derive(Serialize)]
struct Listing {
    dir: PathBuf,
    sets: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    name: &'static str,
    /// `null` where the page has one file without a split.
    train: Option<u64>,
    test: Option<u64>,
    rows: u64,
    dim: u32,
    classes: u32,
    paper: Option<PaperSizes>,
    present: Present,
    files: Vec<PathBuf>,
    #[serde(skip_serializing_if = "str::is_empty")]
    note: &'static str,
}

#[derive(Serialize)]
struct PaperSizes {
    train: u64,
    test: u64,
    dim: u64,
    /// Whether these are the sizes of the files.
    differ: bool,
}

#[derive(Serialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Present {
    Yes,
    TrainOnly,
    TestOnly,
    No,
}

impl Line {
    fn new(set: &DataSet, dir: &Path) -> Self {
        let mut files = Vec::new();
        let mut here = Vec::new();
        for source in set.sources {
            if let Some(file) = present(dir, set.name, source.part).into_iter().next() {
                files.push(file);
                here.push(source.part);
            }
        }
        let (train, test) = (set.rows(Part::Train), set.rows(Part::Test));
        let rows = set.sources.iter().map(|source| source.rows).sum();
        let paper = set.paper.map(|[paper_train, paper_test, dim]| {
            let same_rows = match (train, test) {
                (Some(train), Some(test)) => (train, test) == (paper_train, paper_test),
                _ => rows == paper_train + paper_test,
            };
            PaperSizes {
                train: paper_train,
                test: paper_test,
                dim,
                differ: !same_rows || dim != u64::from(set.dim),
            }
        });
        let present = match here.as_slice() {
            [] => Present::No,
            [Part::Train] => Present::TrainOnly,
            [Part::Test] => Present::TestOnly,
            _ => Present::Yes,
        };
        let (name, dim, classes, note) = (set.name, set.dim, set.classes, set.note);
        Self {
            name,
            train,
            test,
            rows,
            dim,
            classes,
            paper,
            present,
            files,
            note,
        }
    }
}

impl Report for Listing {
    fn document(&self) -> Document {
        let head = ["set", "train", "test", "dim", "classes", "present", "note"];
        let mut table = Table::new(head).left(&[5, 6]);
        for line in &self.sets {
            let present = match line.present {
                Present::Yes => "yes",
                Present::TrainOnly => "train only",
                Present::TestOnly => "test only",
                Present::No => "no",
            };
            table.row([
                line.name.to_string(),
                thousands(line.train.unwrap_or(line.rows)),
                line.test.map_or_else(|| "-".to_owned(), thousands),
                thousands(line.dim),
                line.classes.to_string(),
                present.to_string(),
                line.note.to_string(),
            ]);
        }
        let complete = |line: &&Line| matches!(line.present, Present::Yes);
        let here = self.sets.iter().filter(complete).count();
        let (all, dir) = (self.sets.len(), self.dir.display());
        let mut notes = vec![
            "A set without test rows is one file; the paper splits it into random halves."
                .to_string(),
            format!("{here} of {all} sets are in {dir}."),
        ];
        if here < all {
            let fetch =
                "`ubauc data fetch NAME` downloads one, `ubauc data fetch --all` the paper's.";
            notes.push(fetch.to_string());
        }
        Document::default().with(table).with(Block::Notes(notes))
    }
}
