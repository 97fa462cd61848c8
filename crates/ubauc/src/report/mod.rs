//! The report: one HTML page that says how good a scorer is, what it looks at and where to cut.
//!
//! [`Report`] is plain data, which front ends fill and print as JSON; every number on the page is one of it. The page needs no
//! other file, no network and no script, opens from disk and prints. A script, where one may run, adds values under the pointer, a
//! slider for the cut and tables that can be sorted; a content security policy names the style and the script by their
//! SHA-256 sums and forbids all else. The same data make the same bytes.
//!
//! | file | section |
//! |---|---|
//! | `judged.rs`, `auc_part.rs`, `score_groups.rs` | what is known of one scorer, from its scores |
//! | `verdict.rs` | the answer first, in plain words |
//! | `comparison.rs` | scorers side by side, tested in pairs |
//! | `roc.rs`, `precision_recall.rs`, `histogram.rs` | curves and scores |
//! | `thresholds.rs` | what every cut does |
//! | `calibration.rs` | what a score means |
//! | `effects.rs`, `points.rs` | what the model looks at |
//! | `classes.rs` | the page of many classes, by the parts of the other |
//! | `search.rs`, `certificate.rs`, `columns.rs`, `reproduction.rs` | how it was made |
//! | `chart.rs`, `heat_map.rs`, `markup.rs`, `page.rs` | how all this is written |

mod auc_part;
mod calibration;
mod certificate;
mod chart;
mod classes;
mod columns;
mod comparison;
mod effects;
mod heat_map;
mod histogram;
mod judged;
mod markup;
mod page;
mod points;
mod precision_recall;
mod reproduction;
mod roc;
mod score_groups;
mod search;
#[cfg(test)]
mod tests;
mod thresholds;
mod verdict;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::atomic::AtomicFile;
use crate::export::scorecard::Scorecard;
use crate::glass_box::effects::SavedEffects;
use crate::glass_box::explain::{Explained, TermReport};
use crate::metrics::PairedTest;
use crate::model::Model;
use crate::model_file::Certificate;

pub use auc_part::AucPart;
pub use classes::{ClassPart, ClassesReport, MOST_DRAWN};
pub use judged::{Costs, Cut, Group, Histogram, Judged, NamedCut, Scored, Why};

/// All that a page says.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Heading.
    pub title: String,
    /// Negative and positive, as the data names them.
    pub classes: [String; 2],
    /// Which examples the scorers were judged on.
    pub judged_on: JudgedOn,
    /// What mistakes cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<Costs>,
    /// The first one is what the page is about; others are its rivals.
    pub scorers: Vec<Judged>,
    /// Pairs of scorers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Compared>,
    /// What the model looks at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effects: Option<EffectsPart>,
    /// Points instead of scores, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Scorecard>,
    /// What the search tried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub search: Vec<Candidate>,
    /// How near the optimum the model is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
    /// How it came there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// What was done to each column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<ColumnPart>,
    /// How to make it again.
    pub reproduction: Reproduction,
    /// What a reader should know besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What the columns and pairs of a model add to its scores.
#[derive(Debug, Clone, Serialize)]
pub struct EffectsPart {
    /// The mean score of the rows that were learned from.
    pub intercept: f64,
    /// The most important first.
    pub terms: Vec<TermReport>,
}

impl EffectsPart {
    /// Of a model and what its file keeps of its training rows; none where that is not known, or where features are hashed.
    pub fn of_model(model: &Model, saved: Option<&SavedEffects>) -> Option<EffectsPart> {
        let explained = Explained::new(model, saved).ok()?;
        Some(EffectsPart {
            intercept: explained.intercept,
            terms: explained.ranked().into_iter().cloned().collect(),
        })
    }
}

/// Which examples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum JudgedOn {
    /// Those of a file or array that was given for this.
    Given,
    /// Those that a search held out; the models were learned from the others, with the parameters that were chosen.
    HeldOut,
    /// Those that the model was learned from: it looks better than it is.
    Training,
}

/// Two scorers on the same examples.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    /// Position of the first.
    pub a: usize,
    /// Position of the second.
    pub b: usize,
    /// Whether they differ.
    #[serde(flatten)]
    pub test: PairedTest,
    /// p by Holm's correction for many tests.
    pub p_holm: Option<f64>,
}

/// One point of the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Linear, additive, pairs.
    pub features: String,
    /// The loss and its parameters.
    pub parameters: String,
    /// Mean over the folds of the criterion that was maximised.
    pub auc: f64,
    /// Standard error of that.
    pub se: f64,
    /// Folds that it was tried on.
    pub folds: usize,
    /// It was taken.
    pub chosen: bool,
}

/// One step, round or pass of a solver.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Counted from the beginning.
    pub step: usize,
    /// What is minimised.
    pub objective: f64,
    /// The most by which that can be above the minimum, as a share of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
}

/// What was done to a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnPart {
    /// As the header has it.
    pub name: String,
    /// Number, category, time, …
    pub kind: String,
    /// Share of rows without a value.
    pub missing: f64,
    /// Features made of it.
    pub features: usize,
    /// What the values are like.
    pub values: String,
    /// What a user should know of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How to make a page, and the model on it, again.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Reproduction {
    /// What was typed; more than one line may be needed.
    pub commands: Vec<String>,
    /// Of this program.
    pub version: String,
    /// Of everything random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The algorithm and its parameters, in their order.
    pub parameters: Vec<(String, String)>,
    /// Files that were read.
    pub files: Vec<FilePart>,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FilePart {
    /// What it was for.
    pub role: String,
    /// As it was typed.
    pub path: String,
    /// XXH3 of 64 bits of its bytes, in hexadecimal; none of standard input.
    pub xxh3: Option<String>,
}

impl Report {
    /// The page.
    pub fn to_html(&self) -> String {
        page::render(self)
    }

    /// The verdict alone, as a piece of HTML for a page that is already there: a notebook.
    pub fn summary(&self) -> String {
        verdict::summary(self)
    }

    /// Writes the page: whole, or the old one stays. `-` is standard output.
    pub fn write(&self, path: &Path) -> Result<()> {
        write_page(&self.to_html(), path)
    }

    fn main(&self) -> Option<&Judged> {
        self.scorers.first()
    }

    fn names(&self) -> Vec<String> {
        self.scorers
            .iter()
            .map(|scorer| scorer.name.clone())
            .collect()
    }
}

fn write_page(html: &str, path: &Path) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.put(html.as_bytes())?;
    file.commit()
}
