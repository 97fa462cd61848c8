//! A model explained: importance and table of every term as a document, and one score as a sum.
//!
//! ```text
//! score = mean score of the training rows + Σ (what each term adds)
//! ```
//!
//! | file | what |
//! |---|---|
//! | `terms.rs` | the terms of a model, of whatever features |
//! | `chart.rs` | a term as a table with bars |
//! | `row.rs` | one score as a sum |

mod chart;
mod row;
mod terms;

use serde::Serialize;

use crate::document::numbers::{interval, thousands};
use crate::document::{Document, Facts, Table};
use crate::model::Model;
use crate::{Error, Result};

use super::effects::{Effects, SavedEffects};
pub use row::{RowSum, RowTerm};
pub use terms::{Linear, Side, SideCell, SideKind, TermReport};

/// Said where an importance is not in its interval.
pub(crate) const CORRECTED: &str =
    "an interval leaves out what noise adds to an importance, and may lie below it";

/// Importances shown to people.
const SHOWN: usize = 40;

/// A model, ready to be explained.
#[derive(Debug, Clone, Serialize)]
pub struct Explained {
    /// The negative and the positive class.
    pub classes: [String; 2],
    /// Scores from here on are positive.
    pub threshold: f64,
    /// The score of a row whose terms are all 0: the mean score of the training rows, where that is known.
    pub intercept: f64,
    /// In the order of the model: columns, then pairs.
    pub terms: Vec<TermReport>,
    /// Whether importances are known.
    pub has_importances: bool,
    #[serde(skip)]
    source: Source,
}

/// What terms are evaluated by.
#[derive(Debug, Clone)]
enum Source {
    Columns(Effects),
    /// The mean of every feature, 0 if that is not known, and its weight.
    Numbers {
        means: Vec<f64>,
        weights: Vec<f64>,
    },
}

/// How much of it people are shown.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// This many of the most important terms have their tables drawn.
    pub top: usize,
    /// Where the rest can be found.
    pub all: &'a str,
}

impl Explained {
    /// Effects are what a file keeps of them; a model of columns cannot do without.
    pub fn new(model: &Model, effects: Option<&SavedEffects>) -> Result<Explained> {
        terms::explained(model, effects)
    }

    /// The most important term first.
    pub fn ranked(&self) -> Vec<&TermReport> {
        let mut terms: Vec<&TermReport> = self.terms.iter().collect();
        terms.sort_by(|a, b| b.rank().total_cmp(&a.rank()));
        terms
    }

    /// What drives the score, for people.
    pub fn document(&self, shown: Shown<'_>) -> Document {
        let terms = self.ranked();
        let pairs = terms.iter().filter(|t| t.columns.len() > 1).count();
        let mut facts = Facts::default();
        facts.add(
            "terms",
            format!(
                "{} of one column, {} of a pair",
                thousands((terms.len() - pairs) as u64),
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
        let document = Document::default().with(facts);
        let document = document.with(importances(&terms, shown.all));
        let drawn = terms.iter().take(shown.top);
        drawn.fold(document, |document, term| {
            document.with(chart::table(term, shown.all))
        })
    }
}

fn importances(terms: &[&TermReport], all: &str) -> Table {
    let has_gains = terms.iter().any(|term| term.gain.is_some());
    let has_intervals = terms.iter().any(|term| term.interval.is_some());
    let mut head = vec!["term", "importance", ""];
    if has_intervals {
        head.push("95 % interval");
    }
    if has_gains {
        head.push("gain");
    }
    let mut table = Table::new(head).left(&[2]);
    let largest = terms.first().map_or(0.0, |term| term.rank());
    for term in terms.iter().take(SHOWN) {
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
    let more = terms.len().saturating_sub(SHOWN);
    let more = (more > 0).then(|| format!("… {more} more terms (all {all})"));
    let corrected = terms
        .iter()
        .take(SHOWN)
        .any(|term| term.is_outside_interval());
    let corrected = corrected.then(|| CORRECTED.to_string());
    let foot: Vec<String> = more.into_iter().chain(corrected).collect();
    table.foot = (!foot.is_empty()).then(|| foot.join("; "));
    table
}

/// Rows of another kind than those that the model was learned from.
fn wrong_rows() -> Error {
    Error::NoEffects {
        what: "a model of columns explains tables, and a model of numbers rows of numbers",
    }
}
