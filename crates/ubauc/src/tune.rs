//! Which loss and which γ: by cross-validated AUC, beside logistic regression.
//!
//! A stratified share of the examples (one fifth) is held out first and seen by nothing below. On the rest, settings of
//! the loss (β, κ, class weights) are fitted along a path of γ on k − 1 of k stratified folds, and judged on the fold left
//! out, in turn, by AUC or another [`Criterion`]. That is taken within a fold, since models of different folds score on
//! different scales, and
//!
//! ```text
//! auc = Σ_f A_f / k,   standard_error = √( Σ_f (A_f − auc)² / (k − 1) / k )
//! ```
//!
//! (folds share training examples: the error is that of a comparison of points, no more). Examples of one group stay in
//! one fold. Where examples are many only some of the folds are left out in turn, k of them in the formulas: enough to judge
//! 2,000 examples of each class ([`TuneParams::judging_folds`]). A fold is left out by sample weights of 0, so nothing is copied. The map of a table is learned from the
//! training examples of each fold ([`tune_table`]).
//!
//! **Race** (`race.rs`, `extend.rs`). All settings run on the first fold; those that are clearly behind there, and values of γ that
//! are, are not tried on the others. A choice at the end of its path of γ, or of the β tried with its softness, makes that
//! longer, and where a parabola promises more, γ half way to a neighbour is tried. Decisions are taken between
//! rounds of fits, never in the order in which they end: the same bits for any number of threads, unless time runs out.
//!
//! **Choice.** The point of the highest mean; of equal ones that of the larger γ, then the larger β. By the
//! one-standard-error rule the most regularised point whose mean is at most one standard error of the best below the
//! best, which is the one of the largest γ, and of those the one of the highest mean. Logistic regression, the setting
//! β = 0 without class weights, always runs on all folds: as a corner of the family it may be the choice, and is what the
//! choice is compared with.
//!
//! **Collapse.** The hinge (κ = 0) has no margin and likes ties: where β is too small the minimiser is w = 0 or puts a
//! mass of examples exactly on λ. Such a point is collapsed, and never chosen, if in any fold w = 0, or all scores of the
//! fold left out are equal, or more examples are tied at λ than
//!
//! ```text
//! max( n/100,  min(d + 10, n/4),  the largest number of examples with the same features;
//!      with at most 4(d + 10) kinds of examples the d + 1 largest such groups, if less than n/2 )
//! ```
//!
//! of n trained on: one in a hundred, except that d + 1 may meet there without any collapse, as d
//! weights and λ can be chosen to that end (a few more are near, as no solution is exact), and that
//! examples with the same features are always tied. A point is first solved to a coarse gap, which
//! tells little of its ties; one that would be chosen is solved to [`FINE`] and judged again before it is. The soft loss
//! (κ > 0) pulls nothing onto λ: only w = 0 and equal scores count.
//!
//! **Maps** (`maps.rs`). Of a table the map to features is chosen in the same way, the cheap ones first.
//!
//! **Many classes** (`classes.rs`). One search for the scorers of all classes.
//!
//! **Verdict.** The choice and logistic regression at its best γ are fitted on all that was not held out, and DeLong's
//! paired test, or Obuchowski's where there are groups, compares them on what was: neither model, nor the choice of its
//! parameters, has seen it.

mod classes;
mod collapse;
mod equal_rows;
mod extend;
mod folds;
mod hanley_mcneil;
mod judge;
mod loss_grid;
mod maps;
mod params;
mod parts;
mod race;
mod verdict;

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::data::labels::Binary;
use crate::data::table::Table;
use crate::features::columns::{Learn, Monotone};
use crate::glass_box::LearnedMap;
use crate::{Error, Result};
pub use classes::{ClassRows, tune_classes};
pub use collapse::{has_collapsed, most_tied, most_tied_of};
pub use equal_rows::EqualRows;
pub use folds::{Folds, Place, Sizes, Unseen};
use folds::{LocalFolds, Source};
use judge::Judged;
pub use loss_grid::LossGrid;
pub use maps::{MapTrial, TableFolds, TunedMaps, tune_maps, tune_maps_over};
pub use params::{Setting, TuneParams};
pub use parts::DealtGroups;
use parts::Parts;
use race::Entry;
pub use verdict::{HeldOut, SIGNIFICANT, Scored, Verdict};

/// The gap at which chosen models of the hinge, and points that look collapsed, are solved.
pub const FINE: f64 = 1e-6;

/// How a point did on the folds left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrossValidated {
    /// Mean of the criterion over the folds, AUC unless another was asked for.
    pub auc: f64,
    /// Standard error of the mean, of the spread over the folds of each class; NaN if one is of one fold.
    pub standard_error: f64,
    /// Fold by fold; fewer than there are folds where the point was not tried on all. Of many classes, of each entry of
    /// the search: a class and a fold.
    pub fold_aucs: Vec<f64>,
    /// Folds that it was tried on.
    #[serde(skip)]
    pub folds: usize,
}

impl CrossValidated {
    /// Of the value of each fold.
    pub fn of(fold_aucs: Vec<f64>) -> CrossValidated {
        let (auc, variance) = mean(&fold_aucs);
        CrossValidated {
            auc,
            standard_error: variance.sqrt(),
            folds: fold_aucs.len(),
            fold_aucs,
        }
    }

    /// Of values of several classes.
    fn of_places(mut values: Vec<(Place, f64)>) -> CrossValidated {
        let all = CrossValidated::of(values.iter().map(|value| value.1).collect());
        values.sort_by_key(|value| value.0);
        let classes = values.chunk_by(|a, b| a.0.class == b.0.class);
        let of_class = |class: &[(Place, f64)]| {
            let values: Vec<f64> = class.iter().map(|value| value.1).collect();
            mean(&values).1
        };
        let variances: Vec<f64> = classes.map(of_class).collect();
        let folds: BTreeSet<u32> = values.iter().map(|value| value.0.fold).collect();
        CrossValidated {
            standard_error: variances.iter().sum::<f64>().sqrt() / variances.len() as f64,
            folds: folds.len(),
            ..all
        }
    }
}

/// The mean, and its variance: NaN of one value.
fn mean(values: &[f64]) -> (f64, f64) {
    let k = values.len() as f64;
    let mean = values.iter().sum::<f64>() / k;
    let squares: f64 = values.iter().map(|a| (a - mean) * (a - mean)).sum();
    (mean, squares / (k - 1.0) / k)
}

/// One setting of the loss at one γ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GridPoint {
    /// The loss.
    #[serde(flatten)]
    pub setting: Setting,
    /// γ.
    pub gamma: f64,
    /// How it did.
    #[serde(flatten)]
    pub judged: CrossValidated,
    /// The share of the training examples tied at λ, in the fold where it is largest.
    pub tied_share: f64,
    /// See the head of the module.
    pub collapsed: bool,
    /// Not tried on all folds: it, or the whole map, is behind on the first ones, or time ran out.
    pub stopped: bool,
}

/// Called with the fits done, and of about how many.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// What is given besides the parameters.
#[derive(Default, Clone, Copy)]
pub struct TuneInputs<'a> {
    /// s_i ≥ 0, 1 if none: they weigh the fits and the AUC of a fold, and an example of weight 0 takes no part.
    pub weights: Option<&'a [f64]>,
    /// The group of every example: those of one group stay in one fold.
    pub groups: Option<&'a [u32]>,
    /// Columns with which the score must rise or fall; of the search over maps of a table.
    pub monotone: Option<&'a Monotone>,
    /// Progress callback: fits done, and of about how many; called from any thread, and not strictly in order.
    pub progress: Option<Progress<'a>>,
    /// When this becomes true the search ends with the best so far.
    pub stop: Option<&'a AtomicBool>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// Everything that was tried: settings in their order, then γ falling.
    pub points: Vec<GridPoint>,
    /// Index of the choice.
    pub chosen: usize,
    /// Index of logistic regression at its best γ.
    pub logistic: usize,
    /// That of the mean AUC of the choice over k folds by its size and the number of examples, whatever the folds show
    /// (`hanley_mcneil.rs`).
    pub standard_error: f64,
    /// `None` if nothing was held out.
    pub verdict: Option<Verdict>,
    /// Time ran out, or a stop was asked for, before all was tried.
    pub cut_short: bool,
}

impl Tuned {
    /// The chosen point.
    pub fn best(&self) -> &GridPoint {
        &self.points[self.chosen]
    }

    /// Logistic regression at its best γ.
    pub fn best_logistic(&self) -> &GridPoint {
        &self.points[self.logistic]
    }
}

/// Tries the settings and chooses.
///
/// If every point collapses that is an error, of the parameter `betas`.
pub fn tune(data: &Dataset, inputs: &TuneInputs<'_>, params: &TuneParams) -> Result<Tuned> {
    tune_source(Source::Rows(data), inputs, params)
}

/// The same of a table. For every fold, and for the verdict, a map is learned from the training examples alone; the
/// others' values are unseen as a new table's.
pub fn tune_table(
    table: &Table,
    labels: &Binary,
    inputs: &TuneInputs<'_>,
    params: &TuneParams,
    learn: Learn<'_>,
) -> Result<Tuned> {
    let (expected, got) = (table.len(), labels.positive.len());
    if expected != got {
        return Err(Error::Length {
            what: "labels",
            expected,
            got,
        });
    }
    let learn = |_, weights: &[f64]| learn(table, Some(weights)).map(LearnedMap::from);
    let source = Source::Table {
        table,
        labels,
        learn: &learn,
    };
    tune_source(source, inputs, params)
}

fn tune_source(source: Source<'_>, inputs: &TuneInputs<'_>, params: &TuneParams) -> Result<Tuned> {
    params.check()?;
    let parts = Parts::new(source, inputs, params)?;
    let folds = LocalFolds::new(source, inputs, params, &parts)?;
    let mut tuned = tune_over(&folds, params, inputs.progress, inputs.stop)?;
    if !parts.held_out.is_empty() {
        tuned.verdict = Some(verdict::verdict(
            &folds,
            tuned.best(),
            tuned.best_logistic(),
        )?);
    }
    Ok(tuned)
}

/// The same over folds that are anywhere; without a verdict.
pub fn tune_over(
    folds: &dyn Folds,
    params: &TuneParams,
    progress: Option<Progress<'_>>,
    stop: Option<&AtomicBool>,
) -> Result<Tuned> {
    let inputs = TuneInputs {
        progress,
        stop,
        ..TuneInputs::default()
    };
    search_over(folds, params, Baseline::Logistic, &inputs)
}

/// What the settings of the parameters are compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Baseline<'a> {
    /// Logistic regression, on all folds.
    Logistic,
    /// A simpler map, which did so on the folds: where all points are behind it on the first ones the search ends.
    Map(&'a [f64]),
}

/// Of the inputs only progress and stop are read.
fn search_over(
    folds: &dyn Folds,
    params: &TuneParams,
    baseline: Baseline<'_>,
    inputs: &TuneInputs<'_>,
) -> Result<Tuned> {
    params.check()?;
    let mut search = Search::new(folds, params, baseline, inputs);
    let mut entries = search.race()?;
    let chosen = search.decide(&mut entries)?;
    let points: Vec<GridPoint> = entries.iter().map(|entry| search.point(entry)).collect();
    let logistic = (0..points.len())
        .filter(|&k| points[k].setting.is_logistic() && points[k].judged.auc.is_finite())
        .reduce(|best, k| better(&points, best, k))
        .unwrap_or(chosen);
    // Folds of another deal judge the same examples again.
    let judged = search.sizes.folds.min(params.folds) as usize;
    Ok(Tuned {
        standard_error: search.standard_error(points[chosen].judged.auc, judged),
        points,
        chosen,
        logistic,
        verdict: None,
        cut_short: search.is_over(),
    })
}

/// The better of two points: one that ran on all folds before one that did not.
fn better(points: &[GridPoint], a: usize, b: usize) -> usize {
    let key = |k: usize| {
        let p = &points[k];
        [p.judged.fold_aucs.len() as f64, p.judged.auc, p.gamma]
    };
    if key(b) > key(a) { b } else { a }
}

struct Search<'a> {
    folds: &'a dyn Folds,
    sizes: Sizes,
    params: &'a TuneParams,
    /// Those of the parameters, logistic regression if it is not among them, and β beyond them.
    settings: Vec<Setting>,
    /// Logistic regression, where it was not asked for and so cannot be chosen.
    baseline: Option<usize>,
    /// How a simpler map did on each fold.
    simpler: Option<&'a [f64]>,
    progress: Option<Progress<'a>>,
    stop: Option<&'a AtomicBool>,
    started: Instant,
    done: AtomicUsize,
    planned: AtomicUsize,
    /// Weights of raw features found on the first fold, by setting and the bits of γ.
    starts: Mutex<HashMap<(usize, u64), Vec<f64>>>,
    /// The round under way is about other folds.
    first_fold_done: AtomicBool,
}

impl<'a> Search<'a> {
    fn new(
        folds: &'a dyn Folds,
        params: &'a TuneParams,
        baseline: Baseline<'a>,
        inputs: &TuneInputs<'a>,
    ) -> Search<'a> {
        let mut settings: Vec<Setting> = Vec::new();
        let (logistic, simpler) = match baseline {
            Baseline::Logistic => (Some(&Setting::LOGISTIC), None),
            Baseline::Map(fold_aucs) => (None, Some(fold_aucs)),
        };
        for &setting in params.settings.iter().chain(logistic) {
            let known = |s: &Setting| *s == setting || (s.is_logistic() && setting.is_logistic());
            if !settings.iter().any(known) {
                settings.push(setting);
            }
        }
        let is_asked_for = |s: &Setting| params.settings.contains(s);
        Search {
            folds,
            sizes: folds.sizes(),
            params,
            baseline: settings.iter().position(|s| !is_asked_for(s)),
            settings,
            simpler,
            progress: inputs.progress,
            stop: inputs.stop,
            started: Instant::now(),
            done: AtomicUsize::new(0),
            planned: AtomicUsize::new(0),
            starts: Mutex::new(HashMap::new()),
            first_fold_done: AtomicBool::new(false),
        }
    }

    /// Whether no more fits are to be begun.
    fn is_over(&self) -> bool {
        let limit = self.params.time_limit;
        limit.is_some_and(|limit| self.started.elapsed() >= limit)
            || self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// A fit is done.
    fn step(&self) {
        let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
        if let Some(progress) = self.progress {
            progress(done, done.max(self.planned.load(Ordering::Relaxed)));
        }
    }

    /// Fits that are to be made, less those that are not.
    fn plan(&self, more: usize, less: usize) {
        self.planned.fetch_add(more, Ordering::Relaxed);
        self.planned.fetch_sub(less, Ordering::Relaxed);
    }

    fn point(&self, entry: &Entry) -> GridPoint {
        let folds: Vec<&Judged> = entry.folds.iter().flatten().collect();
        let all = (0..).zip(&entry.folds);
        let values = all.filter_map(|(k, f)| Some((self.folds.place(k), f.as_ref()?.value)));
        GridPoint {
            setting: self.settings[entry.setting],
            gamma: entry.gamma,
            judged: CrossValidated::of_places(values.collect()),
            tied_share: folds.iter().map(|f| f.tied_share).fold(0.0, f64::max),
            collapsed: entry.collapsed(),
            stopped: folds.len() < entry.folds.len(),
        }
    }

    /// The index of the choice; points of the hinge that would be chosen are solved closely first.
    fn decide(&self, entries: &mut [Entry]) -> Result<usize> {
        loop {
            let chosen = self.choose(entries)?;
            let entry = &entries[chosen];
            if self.settings[entry.setting].loss().is_smooth() || entry.is_close {
                return Ok(chosen);
            }
            entries[chosen] = self.closely(&entries[chosen])?;
        }
    }

    /// The best of those that may be chosen.
    fn choose(&self, entries: &[Entry]) -> Result<usize> {
        let points: Vec<GridPoint> = entries.iter().map(|entry| self.point(entry)).collect();
        let is_sound = |entry: &&Entry| Some(entry.setting) != self.baseline && !entry.collapsed();
        let sound = entries.iter().filter(is_sound);
        let most = sound.map(Entry::judged).max().unwrap_or(0);
        let may_be = |k: &usize| {
            let entry = &entries[*k];
            is_sound(&entry) && entry.judged() == most && most > 0
        };
        let key = |k: usize| {
            [
                points[k].judged.auc,
                points[k].gamma,
                points[k].setting.beta,
            ]
        };
        let Some(best) = largest((0..points.len()).filter(may_be), key) else {
            return Err(self.all_collapsed());
        };
        if !self.params.one_standard_error {
            return Ok(best);
        }
        let enough = points[best].judged.auc - points[best].judged.standard_error;
        let within = |k: &usize| may_be(k) && points[*k].judged.auc >= enough;
        let key = |k: usize| {
            [
                points[k].gamma,
                points[k].judged.auc,
                points[k].setting.beta,
            ]
        };
        Ok(largest((0..points.len()).filter(within), key).unwrap_or(best))
    }

    fn all_collapsed(&self) -> Error {
        let mut betas: Vec<f64> = self.params.settings.iter().map(|s| s.beta).collect();
        betas.sort_by(f64::total_cmp);
        betas.dedup();
        let betas: Vec<String> = betas.iter().map(f64::to_string).collect();
        Error::Parameter {
            name: "betas",
            value: betas.join(","),
            must: "larger: every model collapsed, with w = 0 or a mass of examples tied at the \
                   threshold; if no beta helps, the features do not tell the classes apart",
        }
    }
}

/// The first index with the largest key, entry by entry.
fn largest<const N: usize>(
    of: impl Iterator<Item = usize>,
    key: impl Fn(usize) -> [f64; N],
) -> Option<usize> {
    of.reduce(|best, k| {
        let differs = key(k).into_iter().zip(key(best)).find(|(a, b)| a != b);
        match differs {
            Some((a, b)) if a > b => k,
            _ => best,
        }
    })
}
