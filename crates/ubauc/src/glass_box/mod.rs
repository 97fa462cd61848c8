//! The glass box: a sum of tables of one and of two columns, each of which can be drawn.
//!
//! ```text
//! score = Σ_j ( linear_j x_j + table_j[x_j] ) + Σ_{chosen pairs} table_{jk}[x_j, x_k]
//! ```
//!
//! It is linear in its weights, so that the solver and its certificate are those of the linear model; what is different is
//! the map from a table to features, and how these share weights.
//!
//! | file | what |
//! |---|---|
//! | `ranking.rs` | which pairs are worth a table, by out-of-fold residuals of the additive model |
//! | `shrinkage.rs` | how much each column, width and pair is shrunk, by empirical Bayes |
//! | `intervals.rs` | how far importances depend on the examples |
//! | `effects.rs` | what a model says of each column and pair: centred tables, pairs without their main effects |
//! | `explain/` | the effects of any model as a document, and one score as a sum |
//!
//! [`tune::tune_maps`](crate::tune::tune_maps) chooses between the maps.

pub mod effects;
pub mod explain;
pub mod intervals;
pub mod ranking;
pub mod shrinkage;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use ranking::{PairGain, PairRanking, Ranking, Sides};

use crate::algorithm::{Outcome, TrainingSet};
use crate::data::dataset::Dataset;
use crate::data::labels::Binary;
use crate::data::table::Table;
use crate::features::FeatureMap;
use crate::features::columns::{ColumnMap, Monotone, NestedMap};
use crate::model::Model;
use crate::solver::ba_ubauc::{self, BaUbaucParams, BatchInputs, Progress};
use crate::solver::nesting::Nesting;
use crate::solver::order::Order;
use crate::{Error, Result};

/// What the features of a table are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MapKind {
    /// Numbers as they are, a weight for each level of a category.
    Linear,
    /// Bins of numbers besides.
    Additive,
    /// Tables of pairs of columns besides.
    Pairs(PairChoice),
}

/// Tables of more columns are left to the linear map, unless another is asked for: their bins would be more features than a search has
/// time for, and their effects more than can be looked at.
pub const MAX_COLUMNS: usize = 2000;

/// Pairs for each column that are tried where nothing is said; the first alone where there is no search.
pub const PAIRS_PER_COLUMN: [f64; 2] = [1.0, 3.0];

/// Which pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairChoice {
    /// This many, those with the largest gain.
    Best(usize),
    /// This many for each column of the table, rounded up.
    PerColumn(f64),
    /// These, by the names of their columns.
    Named(Vec<[String; 2]>),
}

impl fmt::Display for MapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapKind::Linear => f.write_str("linear"),
            MapKind::Additive => f.write_str("additive"),
            MapKind::Pairs(PairChoice::Best(count)) => write!(f, "{count} pairs"),
            MapKind::Pairs(PairChoice::PerColumn(share)) => write!(f, "pairs, {share} per column"),
            MapKind::Pairs(PairChoice::Named(pairs)) => write!(f, "{} named pairs", pairs.len()),
        }
    }
}

/// The rows to learn from.
#[derive(Clone, Copy)]
pub struct TrainingTable<'a> {
    /// All rows.
    pub table: &'a Table,
    /// Their classes.
    pub labels: &'a Binary,
    /// s_i ≥ 0, 1 if none: a row of weight 0 takes no part.
    pub weights: Option<&'a [f64]>,
    /// The group of every row: those of one group stay together where pairs are ranked.
    pub groups: Option<&'a [u32]>,
    /// Columns with which the score must rise or fall.
    pub monotone: Option<&'a Monotone>,
}

/// A map that was learned, and how its features share weights.
#[derive(Debug, Clone)]
pub struct LearnedMap {
    /// From raw values to features.
    pub map: ColumnMap,
    /// None if every feature has a weight of its own.
    pub nesting: Option<Nesting>,
    /// Weights that must not exceed others, where columns are increasing or decreasing.
    pub order: Option<Order>,
    /// The pairs among the effects, in their order, with what chose them.
    pub pairs: Vec<PairGain>,
}

impl From<ColumnMap> for LearnedMap {
    fn from(map: ColumnMap) -> LearnedMap {
        LearnedMap {
            map,
            nesting: None,
            order: None,
            pairs: Vec::new(),
        }
    }
}

impl From<NestedMap> for LearnedMap {
    fn from(nested: NestedMap) -> LearnedMap {
        LearnedMap {
            map: nested.map,
            nesting: Some(nested.nesting),
            order: None,
            pairs: Vec::new(),
        }
    }
}

impl LearnedMap {
    /// With the order of the weights that the directions of its columns ask for.
    pub(crate) fn in_order(mut self) -> Result<LearnedMap> {
        self.order = self.map.order()?;
        Ok(self)
    }
}

impl<'a> TrainingTable<'a> {
    fn check(&self) -> Result<()> {
        let n = self.table.len();
        let lengths = [
            ("labels", Some(self.labels.positive.len())),
            ("sample weights", self.weights.map(<[f64]>::len)),
            ("groups", self.groups.map(<[u32]>::len)),
        ];
        for (what, len) in lengths {
            if let Some(got) = len.filter(|got| *got != n) {
                return Err(Error::Length {
                    what,
                    expected: n,
                    got,
                });
            }
        }
        Ok(())
    }

    /// Learns a map from the rows with a weight above 0.
    pub fn learn(&self, kind: &MapKind) -> Result<LearnedMap> {
        self.check()?;
        let learned: LearnedMap = match kind {
            MapKind::Linear => self.linear()?.into(),
            MapKind::Additive => self.shrunk(self.additive()?.into())?,
            MapKind::Pairs(choice) => {
                let additive = self.additive()?;
                let ranking = Ranking::new(self, &additive)?;
                let learned = ranking.with_pairs(&additive, choice)?;
                // The cells of all rows are not needed any more.
                drop(ranking);
                self.shrunk(learned)?
            }
        };
        learned.in_order()
    }

    /// The linear map.
    fn linear(&self) -> Result<ColumnMap> {
        let map = ColumnMap::learn(self.table, self.weights)?;
        match self.monotone {
            Some(monotone) => map.constrained(monotone),
            None => Ok(map),
        }
    }

    /// The additive map.
    pub(crate) fn additive(&self) -> Result<NestedMap> {
        NestedMap::of_table(self.linear()?, self.table, self.weights)
    }

    /// Learns a map and fits the weights of its features.
    pub fn fit(
        &self,
        kind: &MapKind,
        params: &BaUbaucParams,
        progress: Option<Progress<'_>>,
    ) -> Result<GlassBox> {
        let learned = self.learn(kind)?;
        GlassBox::new(learned, self.table, self.labels, |data, learned| {
            let inputs = BatchInputs {
                weights: self.weights,
                nesting: learned.nesting.as_ref(),
                order: learned.order.as_ref(),
                progress,
                ..BatchInputs::default()
            };
            let fit = ba_ubauc::fit(data, &inputs, params)?;
            Ok(Outcome::of_newton(fit, params, &TrainingSet::from(data)))
        })
    }
}

/// What was learned of a table.
#[derive(Debug, Clone)]
pub struct GlassBox {
    /// The map.
    pub learned: LearnedMap,
    /// The features of all rows.
    pub data: Dataset,
    /// The weights of the features, with their certificate.
    pub outcome: Outcome,
}

impl GlassBox {
    /// By any way to fit the features that a map makes.
    pub(crate) fn new(
        learned: LearnedMap,
        table: &Table,
        labels: &Binary,
        fit: impl FnOnce(&Dataset, &LearnedMap) -> Result<Outcome>,
    ) -> Result<GlassBox> {
        let rows = learned.map.apply(table)?;
        let data = Dataset::new(rows, labels.clone(), Vec::new())?;
        let outcome = fit(&data, &learned)?;
        Ok(GlassBox {
            learned,
            data,
            outcome,
        })
    }

    /// The model, which scores raw tables; not calibrated.
    pub fn model(&self) -> Model {
        Model {
            features: FeatureMap::Columns(self.learned.map.clone()),
            ..self.outcome.model.clone()
        }
    }
}
