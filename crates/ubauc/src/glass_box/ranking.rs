//! All pairs of columns by what a table of them would gain.
//!
//! Residuals are those of logistic regression on the additive map, at scores of a model that has not seen the row: of
//! three folds, each in turn is left out. γ is fixed and rather large: with a model fitted as closely as suits its own AUC
//! (1e-5) the residuals of the three tables on which it was tried were noisier, and the pairs ranked first were worse.
//! Numbers are ranked in the bins of the coarsest width. Both were chosen by the test AUC of five tables.
//!
//! Rows are needed for four things, each a sum over parts of the table: how often values occur ([`NestedMap::of_bins`]), what a
//! column adds to the score ([`MainSums`]), residuals in the cells of pairs ([`Sides::sums`]), and rows in the cells of the
//! chosen ones ([`Sides::counts`]). [`Ranking`] has one part, the table; a cluster adds up many.

mod sides;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{LearnedMap, PairChoice, TrainingTable};
use crate::data::dataset::Dataset;
use crate::data::rows::Rows;
use crate::data::split;
use crate::features::columns::pairs::rank::{RankedPair, Residuals, rank};
use crate::features::columns::pairs::{PairCounts, learn};
use crate::features::columns::{ColumnKind, ColumnMap, Effect, NestedMap};
use crate::objective::ubauc::ClassWeight;
use crate::solver::ba_ubauc::path::Path;
use crate::solver::ba_ubauc::{BaUbaucParams, BatchInputs};
use crate::solver::nesting::Group;
use crate::{Error, Result};
use sides::SideCodes;
pub use sides::Sides;

/// Folds of the out-of-fold residuals.
pub const FOLDS: u32 = 3;
/// Of the model that leaves them.
const GAMMA: f64 = 3e-3;
const TOLERANCE: f64 = 1e-3;
/// Of these folds.
pub const SEED: u64 = 1;
/// Stands for the fold of a row of weight 0.
const NO_FOLD: u8 = u8::MAX;

/// A pair with its gain.
#[derive(Debug, Clone, PartialEq)]
pub struct PairGain {
    /// Names of the columns.
    pub names: [String; 2],
    /// In units of the summed loss, and its deviation where there is no interaction.
    pub gain: f64,
    /// See above.
    pub deviation: f64,
    /// Whether it is more than chance.
    pub is_significant: bool,
}

/// All pairs, the largest gain first.
#[derive(Debug, Clone)]
pub struct PairRanking {
    sides: Sides,
    ranked: Vec<RankedPair>,
    names: Vec<String>,
}

impl PairRanking {
    /// Of the pairs of sides that were ranked.
    pub fn new(additive: &NestedMap, sides: Sides, mut ranked: Vec<RankedPair>) -> PairRanking {
        let columns = &additive.map.columns;
        // Two sides of one column are one table of it already, but for parts of a time.
        ranked.retain(|pair| {
            let [a, b] = pair.columns.map(|side| sides.sides[side].column);
            a != b || columns[a].kind == ColumnKind::Time
        });
        PairRanking {
            sides,
            ranked,
            names: columns.iter().map(|c| c.name.clone()).collect(),
        }
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.ranked.len()
    }

    /// No pairs.
    pub fn is_empty(&self) -> bool {
        self.ranked.is_empty()
    }

    /// The largest gain first.
    pub fn pairs(&self) -> Vec<PairGain> {
        self.ranked.iter().map(|pair| self.gain(pair)).collect()
    }

    fn gain(&self, pair: &RankedPair) -> PairGain {
        PairGain {
            names: pair
                .columns
                .map(|side| self.names[self.sides.sides[side].column].clone()),
            gain: pair.gain,
            deviation: pair.deviation,
            is_significant: pair.is_significant,
        }
    }

    /// Those chosen.
    pub fn choose(&self, choice: &PairChoice) -> Result<Vec<RankedPair>> {
        let best = |count: usize| self.ranked.iter().take(count).copied().collect();
        Ok(match choice {
            PairChoice::Best(count) => best(*count),
            PairChoice::PerColumn(share) => {
                if !(*share >= 0.0 && share.is_finite()) {
                    return Err(Error::Parameter {
                        name: "pairs per column",
                        value: share.to_string(),
                        must: "finite and at least 0",
                    });
                }
                best((share * self.names.len() as f64).ceil() as usize)
            }
            PairChoice::Named(pairs) => self.named(pairs)?,
        })
    }

    /// The additive map with tables of the chosen pairs, by the rows that are in their cells.
    pub fn with_counts(
        &self,
        additive: &NestedMap,
        chosen: &[RankedPair],
        counts: &[PairCounts],
    ) -> Result<LearnedMap> {
        let (expected, got) = (chosen.len(), counts.len());
        if expected != got {
            return Err(Error::Length {
                what: "pairs with rows counted",
                expected,
                got,
            });
        }
        let pairs = chosen.iter().zip(counts);
        let effects = pairs
            .map(|(pair, counts)| self.effect(pair, counts))
            .collect();
        Ok(LearnedMap {
            pairs: chosen.iter().map(|pair| self.gain(pair)).collect(),
            ..additive.with_effects(effects)?.into()
        })
    }

    /// Pairs by the names of their columns, in either order; of times all parts.
    fn named(&self, pairs: &[[String; 2]]) -> Result<Vec<RankedPair>> {
        let mut by_name: HashMap<[&str; 2], Vec<RankedPair>> = HashMap::new();
        for pair in &self.ranked {
            let [a, b] = pair
                .columns
                .map(|side| self.names[self.sides.sides[side].column].as_str());
            by_name.entry([a.min(b), a.max(b)]).or_default().push(*pair);
        }
        let mut found: Vec<RankedPair> = Vec::new();
        for [a, b] in pairs {
            if let Some(name) = [a, b].into_iter().find(|name| !self.names.contains(name)) {
                return Err(Error::Column { name: name.clone() });
            }
            let key = [a.min(b).as_str(), a.max(b).as_str()];
            // Columns that carry nothing have no pair.
            let of_names = by_name.get(&key).into_iter().flatten();
            let new = |pair: &&RankedPair| !found.iter().any(|f| f.columns == pair.columns);
            let of_names: Vec<RankedPair> = of_names.filter(new).copied().collect();
            found.extend(of_names);
        }
        Ok(found)
    }

    fn effect(&self, pair: &RankedPair, counts: &PairCounts) -> (Effect, Vec<Vec<Group>>) {
        let [a, b] = pair.columns.map(|side| &self.sides.sides[side]);
        let (pairs, groups) = learn([&a.side, &b.side], counts);
        let effect = Effect::Pair {
            columns: [a.column, b.column],
            cells: [a.cells.clone(), b.cells.clone()],
            pairs,
        };
        (effect, groups)
    }
}

/// All pairs of the columns of a table in memory.
pub struct Ranking {
    pairs: PairRanking,
    codes: SideCodes,
    /// Rows that the cells of a pair are learned from.
    taken: Vec<bool>,
}

impl Ranking {
    /// Ranks the pairs by the rows with a weight above 0.
    pub fn new(training: &TrainingTable<'_>, additive: &NestedMap) -> Result<Ranking> {
        training.check()?;
        let (residuals, deviations) = left_to_explain(training, additive)?;
        let sides = Sides::new(additive, &deviations);
        let codes = sides.codes(training.table)?;
        let ranked = rank(&sides.coarsest(&codes), &residuals)?;
        let taken = |i: usize| training.weights.is_none_or(|s| s[i] > 0.0);
        Ok(Ranking {
            pairs: PairRanking::new(additive, sides, ranked),
            codes,
            taken: (0..training.table.len()).map(taken).collect(),
        })
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// No pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The largest gain first.
    pub fn pairs(&self) -> Vec<PairGain> {
        self.pairs.pairs()
    }

    /// The additive map with tables of the chosen pairs.
    pub fn with_pairs(&self, additive: &NestedMap, choice: &PairChoice) -> Result<LearnedMap> {
        let chosen = self.pairs.choose(choice)?;
        let count = |pair: &RankedPair| self.codes.counts(pair.columns, &self.taken);
        let counts: Vec<PairCounts> = chosen.iter().map(count).collect();
        self.pairs.with_counts(additive, &chosen, &counts)
    }
}

/// The model that leaves residuals.
pub fn residual_params() -> BaUbaucParams {
    BaUbaucParams {
        beta: 0.0,
        softness: 1.0,
        gamma: GAMMA,
        class_weight: ClassWeight::None,
        tolerance: TOLERANCE,
        ..BaUbaucParams::default()
    }
}

/// The log-odds where columns tell nothing: for too few examples to leave any out.
pub fn prior_log_odds(n_pos: usize, n_neg: usize) -> f64 {
    ((n_pos as f64 + 0.5) / (n_neg as f64 + 0.5)).ln()
}

/// Residuals at the log-odds of the additive map, and how much each column adds to these.
fn left_to_explain(
    training: &TrainingTable<'_>,
    additive: &NestedMap,
) -> Result<(Residuals, Vec<f64>)> {
    let rows = additive.map.apply(training.table)?;
    let data = Dataset::new(rows, training.labels.clone(), Vec::new())?;
    let (log_odds, weights) = out_of_fold(training, &data, additive)?;
    let deviations = MainSums::of(data.rows(), &weights, &additive.map).deviations();
    drop(data);
    let positive = &training.labels.positive;
    let residuals = Residuals::logistic(&log_odds, positive, training.weights);
    Ok((residuals, deviations))
}

/// The log-odds of every row by a model that has not seen it, and the weights of one of these models.
fn out_of_fold(
    training: &TrainingTable<'_>,
    data: &Dataset,
    additive: &NestedMap,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let n = data.rows().len();
    let weight = |i: usize| training.weights.map_or(1.0, |s| s[i]);
    let Some(folds) = folds_of_rows(training, data)? else {
        let taken = (0..n).filter(|&i| weight(i) > 0.0);
        let n_pos = taken.clone().filter(|&i| data.positive()[i]).count();
        let log_odds = vec![prior_log_odds(n_pos, taken.count() - n_pos); n];
        return Ok((log_odds, vec![0.0; data.rows().cols()]));
    };
    let params = residual_params();
    let mut log_odds = vec![0.0; n];
    let mut start: Option<Vec<f64>> = None;
    for fold in 0..FOLDS as u8 {
        let inputs = BatchInputs {
            nesting: Some(&additive.nesting),
            start: start.as_deref(),
            ..BatchInputs::default()
        };
        let mut path = {
            let learned = |(i, f): (usize, &u8)| match *f == fold || *f == NO_FOLD {
                true => 0.0,
                false => weight(i),
            };
            let weights: Vec<f64> = folds.iter().enumerate().map(learned).collect();
            Path::weighted(data, Some(&weights), &inputs, params.weighting())?
        };
        let fitted = path.fit(&params)?;
        drop(path);
        let rows = log_odds.iter_mut().zip(&fitted.scores).zip(&folds);
        for ((log_odds, score), _) in rows.filter(|(_, f)| **f == fold) {
            *log_odds = score + fitted.intercept;
        }
        start = Some(fitted.weights);
    }
    Ok((log_odds, start.unwrap_or_default()))
}

/// The fold of every row, [`NO_FOLD`] where its weight is 0; none where there are too few examples or groups for folds.
fn folds_of_rows(training: &TrainingTable<'_>, data: &Dataset) -> Result<Option<Vec<u8>>> {
    let n = data.rows().len();
    let is_taken = |i: usize| training.weights.is_none_or(|s| s[i] > 0.0);
    let positive = (0..n).filter(|&i| is_taken(i)).map(|i| data.positive()[i]);
    let folds = match training.groups {
        None => {
            let n_pos = positive.clone().filter(|p| *p).count();
            let n_neg = positive.clone().count() - n_pos;
            if n_pos.min(n_neg) < FOLDS as usize {
                return Ok(None);
            }
            split::folds_in_turn(positive, [0; 2], FOLDS, SEED)
        }
        Some(groups) => {
            let positive: Vec<bool> = positive.collect();
            let groups: Vec<u32> = (0..n).filter(|&i| is_taken(i)).map(|i| groups[i]).collect();
            match split::group_folds(&positive, &groups, FOLDS, SEED) {
                Ok(folds) => folds,
                Err(Error::Classes { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    };
    let mut folds = folds.into_iter();
    let fold = |i: usize| match is_taken(i) {
        true => folds.next().map_or(NO_FOLD, |fold| fold as u8),
        false => NO_FOLD,
    };
    Ok(Some((0..n).map(fold).collect()))
}

/// What each column adds to the score of a row: Σ and Σ of squares over the rows of a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MainSums {
    sums: Vec<[f64; 2]>,
    rows: u64,
}

impl MainSums {
    /// By these weights of the features of a map.
    pub fn of(rows: &Rows, weights: &[f64], map: &ColumnMap) -> MainSums {
        let mut sums = vec![[0.0; 2]; map.columns.len()];
        let Rows::Coded(coded) = rows else {
            return MainSums { sums, rows: 0 };
        };
        let shape = coded.shape();
        let weight = |j: usize| weights.get(j).copied().unwrap_or(0.0);
        let mut of_row = vec![0.0; map.columns.len()];
        for i in 0..shape.rows {
            of_row.fill(0.0);
            for (k, effect) in map.effects.iter().enumerate() {
                let value = match coded.numbers(i).get(k) {
                    Some(x) => x * weight(k),
                    None => {
                        let code = coded.all_codes().at(i * shape.codes + k - shape.numbers);
                        weight(code as usize)
                    }
                };
                of_row[effect.columns()[0]] += value;
            }
            for (sum, x) in sums.iter_mut().zip(&of_row) {
                sum[0] += x;
                sum[1] += x * x;
            }
        }
        MainSums {
            sums,
            rows: shape.rows as u64,
        }
    }

    /// With the rows of the next part.
    pub fn merge(&mut self, next: &MainSums) {
        self.rows += next.rows;
        for (sum, more) in self.sums.iter_mut().zip(&next.sums) {
            *sum = [sum[0] + more[0], sum[1] + more[1]];
        }
    }

    /// The deviation over the rows, column by column.
    pub fn deviations(&self) -> Vec<f64> {
        let n = self.rows.max(1) as f64;
        let deviation =
            |[sum, squares]: &[f64; 2]| (squares / n - (sum / n).powi(2)).max(0.0).sqrt();
        self.sums.iter().map(deviation).collect()
    }
}
