//! All pairs of columns by what a table of them would gain.
//!
//! Residuals are those of logistic regression on the additive map, at scores of a model that has not seen the row: of
//! three folds, each in turn is left out. γ is fixed and rather large: with a model fitted as closely as suits its own AUC
//! (1e-5) the residuals of the three tables on which it was tried were noisier, and the pairs ranked first were worse.
//! Numbers are ranked in the bins of the coarsest width. Both were chosen by the test AUC of five tables.

use std::collections::HashMap;

use super::{LearnedMap, PairChoice, TrainingTable};
use crate::data::dataset::Dataset;
use crate::data::rows::{NO_CELL, Rows};
use crate::data::split;
use crate::features::columns::bins::{Bins, ValueCounts};
use crate::features::columns::pairs::rank::{CellColumn, RankedPair, Residuals, rank};
use crate::features::columns::pairs::{PairCounts, Side, learn};
use crate::features::columns::{
    Cells, ColumnKind, ColumnMap, Effect, NestedMap, WIDTHS, value_counts,
};
use crate::objective::ubauc::ClassWeight;
use crate::solver::ba_ubauc::{BaUbaucParams, BatchInputs, fit};
use crate::solver::nesting::Group;
use crate::{Error, Result};

/// Numbers have the bins of the additive map, from this width on: about 16, 8 and 4 a side.
const FIRST_WIDTH: usize = WIDTHS.len() - 3;
/// Folds of the out-of-fold residuals.
const FOLDS: u32 = 3;
/// Of the model that leaves them.
const GAMMA: f64 = 3e-3;
const TOLERANCE: f64 = 1e-3;
const SEED: u64 = 1;
/// With more sides than this the pairs of those with the largest main effects are ranked.
const MAX_SIDES: usize = 200;

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

/// One column in cells.
struct PairSide {
    column: usize,
    cells: Cells,
    side: Side,
    /// The cell of every row.
    codes: Vec<u32>,
}

/// All pairs, the largest gain first.
pub struct Ranking {
    sides: Vec<PairSide>,
    ranked: Vec<RankedPair>,
    names: Vec<String>,
    /// Rows that the cells of a pair are learned from.
    taken: Vec<bool>,
    columns: usize,
}

impl Ranking {
    /// Ranks the pairs by the rows with a weight above 0.
    pub fn new(training: &TrainingTable<'_>, additive: &NestedMap) -> Result<Ranking> {
        training.check()?;
        let rows = additive.map.apply(training.table)?;
        let data = Dataset::new(rows, training.labels.clone(), Vec::new())?;
        let (log_odds, weights) = out_of_fold(training, &data, additive)?;
        let positive = &training.labels.positive;
        let residuals = Residuals::logistic(&log_odds, positive, training.weights);
        let deviations = main_deviations(&data, &weights, &additive.map);
        let sides = sides(training, additive, &deviations)?;
        let columns: Vec<CellColumn> = sides.iter().map(PairSide::coarsest).collect();
        let mut ranked = rank(&columns, &residuals)?;
        // Two sides of one column are one table of it already, but for parts of a time.
        ranked.retain(|pair| {
            let [a, b] = pair.columns.map(|side| &sides[side]);
            a.column != b.column || additive.map.columns[a.column].kind == ColumnKind::Time
        });
        let taken = |i: usize| training.weights.is_none_or(|s| s[i] > 0.0);
        Ok(Ranking {
            sides,
            ranked,
            names: additive
                .map
                .columns
                .iter()
                .map(|c| c.name.clone())
                .collect(),
            taken: (0..data.rows().len()).map(taken).collect(),
            columns: training.table.columns().len(),
        })
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
                .map(|side| self.names[self.sides[side].column].clone()),
            gain: pair.gain,
            deviation: pair.deviation,
            is_significant: pair.is_significant,
        }
    }

    /// The additive map with tables of the chosen pairs.
    pub fn with_pairs(&self, additive: &NestedMap, choice: &PairChoice) -> Result<LearnedMap> {
        let best = |count: usize| self.ranked.iter().take(count).copied().collect();
        let chosen: Vec<RankedPair> = match choice {
            PairChoice::Best(count) => best(*count),
            PairChoice::PerColumn(share) => {
                if !(*share >= 0.0 && share.is_finite()) {
                    return Err(Error::Parameter {
                        name: "pairs per column",
                        value: share.to_string(),
                        must: "finite and at least 0",
                    });
                }
                best((share * self.columns as f64).ceil() as usize)
            }
            PairChoice::Named(pairs) => self.named(pairs)?,
        };
        let effects = chosen.iter().map(|pair| self.effect(pair)).collect();
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
                .map(|side| self.names[self.sides[side].column].as_str());
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

    fn effect(&self, pair: &RankedPair) -> (Effect, Vec<Group>) {
        let [a, b] = pair.columns.map(|side| &self.sides[side]);
        let rows = a.codes.iter().zip(&b.codes).zip(&self.taken);
        let taken = rows
            .filter(|(_, taken)| **taken)
            .map(|((a, b), _)| (*a, *b));
        let (pairs, groups) = learn([&a.side, &b.side], &PairCounts::of(taken));
        let effect = Effect::Pair {
            columns: [a.column, b.column],
            cells: [a.cells.clone(), b.cells.clone()],
            pairs,
        };
        (effect, groups)
    }
}

impl PairSide {
    /// Every row in the bins of the coarsest width.
    fn coarsest(&self) -> CellColumn {
        let Some(bins) = self.side.widths.last() else {
            return CellColumn {
                codes: self.codes.clone(),
                cells: 0,
            };
        };
        let bin = |&code: &u32| match code {
            NO_CELL => NO_CELL,
            code => bins[code as usize],
        };
        CellColumn {
            codes: self.codes.iter().map(bin).collect(),
            cells: bins.iter().max().map_or(0, |last| last + 1),
        }
    }
}

/// The log-odds of every row by a model that has not seen it, and the weights of one of these models.
fn out_of_fold(
    training: &TrainingTable<'_>,
    data: &Dataset,
    additive: &NestedMap,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let n = data.rows().len();
    let weight = |i: usize| training.weights.map_or(1.0, |s| s[i]);
    let of: Vec<usize> = (0..n).filter(|&i| weight(i) > 0.0).collect();
    let positive: Vec<bool> = of.iter().map(|&i| data.positive()[i]).collect();
    let groups: Option<Vec<u32>> = training.groups.map(|g| of.iter().map(|&i| g[i]).collect());
    let folds = match &groups {
        None => split::folds(&positive, FOLDS, SEED),
        Some(groups) => split::group_folds(&positive, groups, FOLDS, SEED),
    };
    let folds = match folds {
        Ok(folds) => folds,
        // Too few examples of a class: as if the columns told nothing.
        Err(Error::Classes { .. } | Error::OneClass { .. } | Error::Empty) => {
            let n_pos = positive.iter().filter(|p| **p).count() as f64;
            let odds = (n_pos + 0.5) / (of.len() as f64 - n_pos + 0.5);
            return Ok((vec![odds.ln(); n], vec![0.0; data.rows().cols()]));
        }
        Err(error) => return Err(error),
    };
    let params = BaUbaucParams {
        beta: 0.0,
        softness: 1.0,
        gamma: GAMMA,
        class_weight: ClassWeight::None,
        tolerance: TOLERANCE,
        ..BaUbaucParams::default()
    };
    let mut log_odds = vec![0.0; n];
    let mut start: Option<Vec<f64>> = None;
    for fold in 0..FOLDS {
        let mut weights = vec![0.0; n];
        let learned = of.iter().zip(&folds).filter(|(_, f)| **f != fold);
        learned.for_each(|(&i, _)| weights[i] = weight(i));
        let inputs = BatchInputs {
            weights: Some(&weights),
            nesting: Some(&additive.nesting),
            start: start.as_deref(),
            ..BatchInputs::default()
        };
        let fitted = fit(data, &inputs, &params)?;
        for (&i, _) in of.iter().zip(&folds).filter(|(_, f)| **f == fold) {
            log_odds[i] = fitted.scores[i] + fitted.intercept;
        }
        start = Some(fitted.weights);
    }
    Ok((log_odds, start.unwrap_or_default()))
}

/// The deviation over the rows of what each column adds to the score.
fn main_deviations(data: &Dataset, weights: &[f64], map: &ColumnMap) -> Vec<f64> {
    let Rows::Coded(coded) = data.rows() else {
        return vec![0.0; map.columns.len()];
    };
    let shape = coded.shape();
    let mut sums = vec![[0.0; 2]; map.columns.len()];
    let mut of_row = vec![0.0; map.columns.len()];
    for i in 0..shape.rows {
        of_row.fill(0.0);
        for (k, effect) in map.effects.iter().enumerate() {
            let value = match k < shape.numbers {
                true => coded.all_values()[i * shape.numbers + k] * weights[k],
                false => {
                    let code = coded.all_codes()[i * shape.codes + k - shape.numbers];
                    weights.get(code as usize).copied().unwrap_or(0.0)
                }
            };
            of_row[effect.columns()[0]] += value;
        }
        for (sum, x) in sums.iter_mut().zip(&of_row) {
            sum[0] += x;
            sum[1] += x * x;
        }
    }
    let n = shape.rows.max(1) as f64;
    let deviation = |[sum, squares]: [f64; 2]| (squares / n - (sum / n).powi(2)).max(0.0).sqrt();
    sums.into_iter().map(deviation).collect()
}

/// Every column as a side of pairs; of too many those with the largest main effects.
fn sides(
    training: &TrainingTable<'_>,
    additive: &NestedMap,
    deviations: &[f64],
) -> Result<Vec<PairSide>> {
    let counts = value_counts(training.table, training.weights);
    let mut found: Vec<(usize, Cells, Side)> = Vec::new();
    for (column, info) in additive.map.columns.iter().enumerate() {
        if let Some(counts) = counts.get(column).and_then(Option::as_ref)
            && counts.distinct() + usize::from(info.missing > 0) > 1
        {
            let (cells, side) = number_side(counts, info.missing > 0);
            found.push((column, cells, side));
        }
        for effect in &additive.map.effects {
            if let Effect::Cells { column: of, cells } = effect
                && *of == column
                && matches!(cells, Cells::Levels { .. } | Cells::Part { .. })
            {
                found.push((column, cells.clone(), Side::of_cells(cells.len() as u32)));
            }
        }
    }
    if found.len() > MAX_SIDES {
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by(|a, b| deviations[found[*b].0].total_cmp(&deviations[found[*a].0]));
        order.truncate(MAX_SIDES);
        order.sort_unstable();
        found = order.into_iter().map(|at| found[at].clone()).collect();
    }
    coded_sides(training, &additive.map, found)
}

/// Bins of a number, missing values in a cell of their own.
fn number_side(counts: &ValueCounts, missing: bool) -> (Cells, Side) {
    let bins = Bins::new(counts, &WIDTHS).coarser(FIRST_WIDTH);
    let cells = bins.cells() as u32;
    let mut widths = bins.widths;
    if missing {
        for width in &mut widths {
            let next = width.iter().max().map_or(0, |last| last + 1);
            width.push(next);
        }
    }
    let side = Side {
        cells: cells + u32::from(missing),
        widths,
    };
    let cells = Cells::Bins {
        cuts: bins.cuts,
        missing: missing.then_some(cells),
    };
    (cells, side)
}

/// The cell of every row on every side.
fn coded_sides(
    training: &TrainingTable<'_>,
    map: &ColumnMap,
    found: Vec<(usize, Cells, Side)>,
) -> Result<Vec<PairSide>> {
    let effects = found.iter().map(|(column, cells, _)| Effect::Cells {
        column: *column,
        cells: cells.clone(),
    });
    let of_sides = ColumnMap {
        effects: effects.collect(),
        ..map.clone()
    };
    let starts = of_sides.starts();
    let rows = of_sides.apply(training.table)?;
    let Rows::Coded(coded) = rows else {
        return Ok(Vec::new());
    };
    let p = found.len();
    let codes = |k: usize| -> Vec<u32> {
        let column = coded.all_codes().iter().skip(k).step_by(p.max(1));
        let cell = |&code: &u32| match code {
            NO_CELL => NO_CELL,
            code => code - starts[k] as u32,
        };
        column.map(cell).collect()
    };
    let side = |(k, (column, cells, side))| PairSide {
        column,
        cells,
        side,
        codes: codes(k),
    };
    Ok(found.into_iter().enumerate().map(side).collect())
}
