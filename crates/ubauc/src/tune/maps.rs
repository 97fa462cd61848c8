//! Which map of a table, which loss and which γ: cheap maps first.
//!
//! | map | losses tried |
//! |---|---|
//! | linear | all |
//! | additive | those that were best on the linear map |
//! | pairs, about one and about three for each column | the best one on the additive map |
//!
//! each along its path of γ, on the same folds; with the linear map logistic regression is always tried. In every fold a map, and the
//! ranking of pairs, is learned from the training examples alone. Maps that are no other than one before are not tried: the
//! additive one where no number has bins, three pairs for each column where there are not so many. No more
//! than a hundred pairs are tried: more would take minutes, and nobody would look at them. A map that is behind the best one
//! before it on the first folds is not tried on the others (`race.rs`).
//!
//! **Wide tables.** A fit with bins costs about as many operations a round as the table has values, and of a dense table
//! of hundreds of columns that is a hundred times a fit of the linear map, whose matrix of squares is small. So with more than
//! 64 columns, and half a million values or more, the additive map is tried with the best loss of the linear map alone,
//! along γ near that of the shrinkage, from where the search goes on if they are not enough; and maps with pairs are left out
//! where there are more columns than pairs would be tried. [`TunedMaps::left_out`] says so.
//!
//! **Choice.** The map whose best point has the highest mean, or the simplest one before it that is behind by no more than
//! one standard error of the difference, fold by fold: folds differ much more than maps do within a fold.
//!
//! ```text
//! D_f = A_f(best) − A_f(simpler),   mean(D) ≤ max( √( Σ_f (D_f − mean D)²/(k − 1)/k ), 0.16 SE )
//! ```
//!
//! A few differences may agree by chance: SE is the standard error of the best mean by the number of examples
//! ([`Tuned::standard_error`]; of another criterion as if that were an AUC), and no less than this share of it is believed.
//!
//! **Verdict.** The chosen map and point against logistic regression on the linear map, on examples that neither has seen.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::folds::{Folds, LearnPart, LocalFolds, Source};
use super::parts::Parts;
use super::{Baseline, search_over, verdict};
use super::{CrossValidated, GridPoint, Setting, TuneInputs, TuneParams, Tuned, Verdict};
use crate::data::labels::Binary;
use crate::data::table::Table;
use crate::features::columns::{ColumnMap, Monotone, NestedMap};
use crate::glass_box::shrinkage::GAMMA;
use crate::glass_box::{
    LearnedMap, MAX_COLUMNS, MapKind, PAIRS_PER_COLUMN, PairChoice, Ranking, TrainingTable,
};
use crate::{Error, Result};

/// Of the standard error of an AUC at least this share is left in the difference of two maps.
const LEAST_ERROR: f64 = 0.16;
/// Losses that go on from the linear map: a third one gained nothing on the tables of docs/benchmarks.md, and takes time.
const LOSSES: usize = 2;
/// Decades from the best γ of one map within which those of the next are tried first.
const NEAR: f64 = 1.05;
/// Pairs that are tried at most where nothing is said.
const MOST_PAIRS: usize = 100;
/// A table with more columns than this, and this many values or more, is wide.
const WIDE_COLUMNS: usize = 64;
const WIDE_VALUES: usize = 500_000;

/// The search with one map.
#[derive(Debug, Clone, PartialEq)]
pub struct MapTrial {
    /// The map.
    pub map: MapKind,
    /// What was tried with it.
    pub tuned: Tuned,
    /// Seconds that it took.
    pub seconds: f64,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedMaps {
    /// Simple maps first.
    pub trials: Vec<MapTrial>,
    /// Index of the choice.
    pub chosen: usize,
    /// Maps that were not tried, as the table is too wide for a search of them.
    pub left_out: Vec<MapKind>,
    /// `None` if nothing was held out.
    pub verdict: Option<Verdict>,
    /// Time ran out, or a stop was asked for, before all was tried.
    pub cut_short: bool,
}

impl TunedMaps {
    /// The map that was chosen, and its best point.
    pub fn best(&self) -> (&MapKind, &GridPoint) {
        let trial = &self.trials[self.chosen];
        (&trial.map, trial.tuned.best())
    }
}

/// Whether fits with bins cost much more than those of the linear map.
fn is_wide(rows: usize, columns: usize) -> bool {
    columns > WIDE_COLUMNS && rows.saturating_mul(columns) >= WIDE_VALUES
}

/// The maps that are tried where nothing is said, and those that would be if the table were not as wide.
fn default_maps(rows: usize, columns: usize) -> (Vec<MapKind>, Vec<MapKind>) {
    let pairs = |share: f64| match share * columns as f64 <= MOST_PAIRS as f64 {
        true => MapKind::Pairs(PairChoice::PerColumn(share)),
        false => MapKind::Pairs(PairChoice::Best(MOST_PAIRS)),
    };
    let mut maps = vec![MapKind::Linear];
    if columns <= MAX_COLUMNS {
        maps.push(MapKind::Additive);
    }
    if (2..=MAX_COLUMNS).contains(&columns) {
        maps.extend(PAIRS_PER_COLUMN.map(pairs));
    }
    maps.dedup();
    let leaves_out = is_wide(rows, columns) && columns > MOST_PAIRS;
    maps.into_iter()
        .partition(|map| !(leaves_out && matches!(map, MapKind::Pairs(_))))
}

/// A table in folds, here or on other machines.
pub trait TableFolds: Sync {
    /// Rows of the table that have a weight.
    fn rows(&self) -> usize;

    /// Columns of the table.
    fn columns(&self) -> usize;

    /// Whether any number has bins: otherwise the additive map is the linear one.
    fn has_bins(&self) -> Result<bool>;

    /// Learns a map without each fold, and searches.
    fn search(
        &self,
        map: &MapKind,
        params: &TuneParams,
        over: &dyn Fn(&dyn Folds) -> Result<Tuned>,
    ) -> Result<Tuned>;

    /// A map and point against another, logistic regression, if anything is held out for that.
    fn verdict(
        &self,
        ours: (&MapKind, &GridPoint),
        logistic: (&MapKind, &GridPoint),
        params: &TuneParams,
    ) -> Result<Option<Verdict>>;
}

/// Tries maps, losses and γ, and chooses. Without `maps` those that suit the table.
pub fn tune_maps(
    table: &Table,
    labels: &Binary,
    inputs: &TuneInputs<'_>,
    params: &TuneParams,
    maps: Option<&[MapKind]>,
) -> Result<TunedMaps> {
    params.check()?;
    let learner = Learner {
        table,
        labels,
        groups: inputs.groups,
        monotone: inputs.monotone,
        ranked: Mutex::default(),
    };
    let (expected, got) = (table.len(), labels.positive.len());
    if expected != got {
        return Err(Error::Length {
            what: "labels",
            expected,
            got,
        });
    }
    let none = |_: Option<u32>, _: &[f64]| Ok(ColumnMap::default().into());
    let parts = Parts::new(learner.source(&none), inputs, params)?;
    let local = LocalTable {
        learner,
        inputs,
        parts,
    };
    tune_maps_over(&local, inputs, params, maps)
}

/// The same of a table that is anywhere. Of the inputs only progress and stop are read.
pub fn tune_maps_over(
    source: &dyn TableFolds,
    inputs: &TuneInputs<'_>,
    params: &TuneParams,
    maps: Option<&[MapKind]>,
) -> Result<TunedMaps> {
    params.check()?;
    let (maps, left_out) = match maps {
        Some(maps) => (maps.to_vec(), Vec::new()),
        None => default_maps(source.rows(), source.columns()),
    };
    let mut search = MapSearch {
        source,
        inputs,
        params,
        started: Instant::now(),
        trials: Vec::new(),
        left_out,
        cut_short: false,
    };
    for map in maps {
        if search.is_over() && !search.trials.is_empty() {
            search.cut_short = true;
            break;
        }
        if search.is_new(&map)? {
            search.run(map)?;
        }
    }
    search.finish()
}

/// Additive map and ranking of the pairs of one training part.
type Ranked = Arc<(NestedMap, Ranking)>;

/// Maps of training parts.
struct Learner<'a> {
    table: &'a Table,
    labels: &'a Binary,
    groups: Option<&'a [u32]>,
    monotone: Option<&'a Monotone>,
    /// What maps with pairs have in common, by the fold that is left out.
    ranked: Mutex<HashMap<Option<u32>, Ranked>>,
}

impl<'a> Learner<'a> {
    fn source<'s>(&'s self, learn: LearnPart<'s>) -> Source<'s> {
        Source::Table {
            table: self.table,
            labels: self.labels,
            learn,
        }
    }

    fn learn(&self, kind: &MapKind, without: Option<u32>, weights: &[f64]) -> Result<LearnedMap> {
        let training = TrainingTable {
            table: self.table,
            labels: self.labels,
            weights: Some(weights),
            groups: self.groups,
            monotone: self.monotone,
        };
        let MapKind::Pairs(choice) = kind else {
            return training.learn(kind);
        };
        let known = match self.ranked.lock() {
            Ok(ranked) => ranked.get(&without).cloned(),
            Err(_) => None,
        };
        let ranked = match known {
            Some(ranked) => ranked,
            None => {
                let additive = training.additive()?;
                let ranking = Ranking::new(&training, &additive)?;
                let found = Arc::new((additive, ranking));
                if let Ok(mut ranked) = self.ranked.lock() {
                    ranked.insert(without, found.clone());
                }
                found
            }
        };
        let learned = ranked.1.with_pairs(&ranked.0, choice)?;
        training.shrunk(learned)?.in_order()
    }
}

/// A table in memory.
struct LocalTable<'a> {
    learner: Learner<'a>,
    inputs: &'a TuneInputs<'a>,
    parts: Parts,
}

impl TableFolds for LocalTable<'_> {
    fn rows(&self) -> usize {
        self.parts.kept.len() + self.parts.held_out.len()
    }

    fn columns(&self) -> usize {
        self.learner.table.columns().len()
    }

    fn has_bins(&self) -> Result<bool> {
        Ok(NestedMap::additive(self.learner.table, self.inputs.weights)?.has_bins())
    }

    fn search(
        &self,
        map: &MapKind,
        params: &TuneParams,
        over: &dyn Fn(&dyn Folds) -> Result<Tuned>,
    ) -> Result<Tuned> {
        let learner = &self.learner;
        let learn = |without: Option<u32>, weights: &[f64]| learner.learn(map, without, weights);
        let source = learner.source(&learn);
        over(&LocalFolds::new(source, self.inputs, params, &self.parts)?)
    }

    fn verdict(
        &self,
        ours: (&MapKind, &GridPoint),
        logistic: (&MapKind, &GridPoint),
        params: &TuneParams,
    ) -> Result<Option<Verdict>> {
        if self.parts.held_out.is_empty() {
            return Ok(None);
        }
        let learner = &self.learner;
        let scores = |(map, point): (&MapKind, &GridPoint)| {
            let learn =
                |without: Option<u32>, weights: &[f64]| learner.learn(map, without, weights);
            let source = learner.source(&learn);
            let folds = LocalFolds::of_held_out(source, self.inputs, params, &self.parts);
            folds.scores(&folds.training(None)?, point)
        };
        let is_logistic = ours.0 == logistic.0 && ours.1.setting.is_logistic();
        let by_ours = scores(ours)?;
        let by_logistic = match is_logistic && ours.1.gamma == logistic.1.gamma {
            true => by_ours.clone(),
            false => scores(logistic)?,
        };
        let none = |_: Option<u32>, _: &[f64]| Ok(ColumnMap::default().into());
        let source = learner.source(&none);
        let folds = LocalFolds::of_held_out(source, self.inputs, params, &self.parts);
        verdict::of_scores(&folds, [by_ours, by_logistic], is_logistic).map(Some)
    }
}

struct MapSearch<'a> {
    source: &'a dyn TableFolds,
    inputs: &'a TuneInputs<'a>,
    params: &'a TuneParams,
    started: Instant,
    trials: Vec<MapTrial>,
    left_out: Vec<MapKind>,
    cut_short: bool,
}

impl MapSearch<'_> {
    fn is_over(&self) -> bool {
        let limit = self.params.time_limit;
        let stop = self.inputs.stop;
        limit.is_some_and(|limit| self.started.elapsed() >= limit)
            || stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Whether a map is another than those before.
    fn is_new(&self, map: &MapKind) -> Result<bool> {
        let columns = self.source.columns();
        let most = columns * columns.saturating_sub(1) / 2;
        let pairs = |map: &MapKind| match map {
            MapKind::Pairs(PairChoice::Best(count)) => Some((*count).min(most)),
            MapKind::Pairs(PairChoice::PerColumn(share)) => {
                Some(((share * columns as f64).ceil() as usize).min(most))
            }
            MapKind::Linear | MapKind::Additive | MapKind::Pairs(PairChoice::Named(_)) => None,
        };
        let before = || self.trials.iter().map(|trial| &trial.map);
        Ok(match map {
            _ if self.trials.is_empty() => true,
            MapKind::Additive if before().any(|map| *map == MapKind::Linear) => {
                self.source.has_bins()?
            }
            map => pairs(map).is_none_or(|count| before().all(|other| pairs(other) != Some(count))),
        })
    }

    fn is_wide(&self) -> bool {
        is_wide(self.source.rows(), self.source.columns())
    }

    /// The losses to try with the next map.
    fn settings(&self) -> Vec<Setting> {
        let Some(last) = self.trials.last() else {
            return self.params.settings.clone();
        };
        let count = match self.trials.len() {
            1 if !self.is_wide() => LOSSES,
            _ => 1,
        };
        let mut best: Vec<&GridPoint> = vec![last.tuned.best()];
        let mut points: Vec<&GridPoint> = last.tuned.points.iter().collect();
        let key = |p: &GridPoint| [p.judged.fold_aucs.len() as f64, p.judged.auc];
        points.retain(|p| !p.collapsed && self.params.settings.contains(&p.setting));
        points.sort_by(|a, b| {
            let ([n, x], [m, y]) = (key(a), key(b));
            m.total_cmp(&n).then(y.total_cmp(&x))
        });
        for point in points {
            if best.len() < count && best.iter().all(|p| p.setting != point.setting) {
                best.push(point);
            }
        }
        best.into_iter().map(|point| point.setting).collect()
    }

    /// The γ to try with the next map: of maps with pairs about those of the best of the map before, and of the bins of a
    /// wide table about that of the shrinkage, from where the search goes on if they are not enough.
    fn gammas(&self, next: &MapKind) -> Vec<f64> {
        let all = &self.params.gammas;
        // Nothing is shrunk where columns are in order.
        let is_shrunk = *next == MapKind::Additive && self.inputs.monotone.is_none();
        let best = match self.trials.as_slice() {
            [_] if self.is_wide() && is_shrunk => GAMMA,
            [_, .., last] => last.tuned.best().gamma,
            [_] | [] => return all.clone(),
        };
        let is_near = |gamma: &f64| (gamma / best).log10().abs() <= NEAR;
        let near: Vec<f64> = all.iter().copied().filter(is_near).collect();
        match self.params.extend && near.len() > 1 {
            true => near,
            false => all.clone(),
        }
    }

    fn run(&mut self, map: MapKind) -> Result<()> {
        let started = Instant::now();
        let limit = self.params.time_limit;
        let params = TuneParams {
            settings: self.settings(),
            gammas: self.gammas(&map),
            time_limit: limit.map(|limit| limit.saturating_sub(self.started.elapsed())),
            ..self.params.clone()
        };
        let before = self
            .best()
            .map(|at| self.trials[at].tuned.best().judged.fold_aucs.clone());
        let baseline = match &before {
            None => Baseline::Logistic,
            Some(fold_aucs) => Baseline::Map(fold_aucs),
        };
        let over = |folds: &dyn Folds| search_over(folds, &params, baseline, self.inputs);
        let tuned = match self.source.search(&map, &params, &over) {
            // Every model of this map collapsed; those of others have not.
            Err(Error::Parameter { name: "betas", .. }) if !self.trials.is_empty() => return Ok(()),
            tuned => tuned?,
        };
        self.cut_short |= tuned.cut_short;
        self.trials.push(MapTrial {
            map,
            tuned,
            seconds: started.elapsed().as_secs_f64(),
        });
        Ok(())
    }

    fn judged(&self, at: usize) -> &CrossValidated {
        &self.trials[at].tuned.best().judged
    }

    /// The trials that were tried on the most folds.
    fn whole(&self) -> impl Iterator<Item = usize> {
        let folds = |at: usize| self.judged(at).fold_aucs.len();
        let most = (0..self.trials.len()).map(folds).max();
        (0..self.trials.len()).filter(move |at| Some(folds(*at)) == most)
    }

    /// The one with the highest mean; of equal ones the simplest.
    fn best(&self) -> Option<usize> {
        self.whole().reduce(
            |best, at| match self.judged(at).auc > self.judged(best).auc {
                true => at,
                false => best,
            },
        )
    }

    /// The simplest that is no worse than the best but for chance.
    fn choose(&self) -> usize {
        let Some(best) = self.best() else {
            return 0;
        };
        let least = LEAST_ERROR * self.trials[best].tuned.standard_error;
        let as_good = |at: &usize| {
            let (best, other) = (self.judged(best), self.judged(*at));
            let folds = best.fold_aucs.iter().zip(&other.fold_aucs);
            let difference = CrossValidated::of(folds.map(|(a, b)| a - b).collect());
            difference.auc <= difference.standard_error.max(least)
        };
        let simpler = self.whole().take_while(|at| *at < best);
        simpler.into_iter().find(as_good).unwrap_or(best)
    }

    fn finish(self) -> Result<TunedMaps> {
        let chosen = self.choose();
        let (ours, first) = (&self.trials[chosen], &self.trials[0]);
        let verdict = self.source.verdict(
            (&ours.map, ours.tuned.best()),
            (&first.map, first.tuned.best_logistic()),
            self.params,
        )?;
        Ok(TunedMaps {
            trials: self.trials,
            chosen,
            left_out: self.left_out,
            verdict,
            cut_short: self.cut_short,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_tables_are_not_searched_for_pairs() {
        let count = |rows, columns| {
            let (maps, left_out) = default_maps(rows, columns);
            (maps.len(), left_out)
        };
        let hundred = MapKind::Pairs(PairChoice::Best(MOST_PAIRS));
        assert_eq!(count(7_291, 256), (2, vec![hundred.clone()]));
        assert_eq!(count(5_000, 101), (2, vec![hundred]));
        // Few rows, few columns, or no more columns than pairs.
        assert_eq!(count(1_900, 256), (3, Vec::new()));
        assert_eq!(count(20_000, 100), (4, Vec::new()));
        assert_eq!(count(10_000_000, 30), (4, Vec::new()));
        assert_eq!(count(10_000_000, 1), (2, Vec::new()));
        assert_eq!(count(10, 2_001), (1, Vec::new()));
        assert!(is_wide(7_693, 65) && !is_wide(7_692, 65) && !is_wide(usize::MAX, 64));
        assert!(is_wide(usize::MAX, 65));
    }
}
