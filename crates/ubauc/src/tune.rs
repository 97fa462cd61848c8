//! β, γ and the kind of least squares by cross-validated AUC, beside logistic regression.
//!
//! A stratified share of the examples (one fifth) is held out first and seen by nothing below. On
//! the rest, every point of the grid is fitted on k − 1 of k stratified folds and judged by the AUC
//! of the fold left out, in turn. AUC is taken within a fold, since models of different folds score
//! on different scales, and
//!
//! ```text
//! auc = Σ_f A_f / k,   standard_error = √( Σ_f (A_f − auc)² / (k − 1) / k )
//! ```
//!
//! (folds share training examples: the error is that of a comparison of points, no more). A fold is
//! left out by sample weights of 0, so nothing is copied, and each fold has its Gram matrix once:
//! see [`Path`](crate::solver::ba_ubauc::path::Path). The grid is walked in a serpentine, γ up and
//! down by turns while β falls, so that every fit starts from a neighbour's.
//!
//! **Choice.** The point of the highest mean AUC; of equal ones that of the larger γ, then the
//! larger β. By the one-standard-error rule the most regularised point whose mean is at most one
//! standard error of the best below the best, which is the one of the largest γ, and of those the
//! one of the highest mean.
//!
//! **Collapse.** The hinge of P has no margin and likes ties: where β is too small the minimiser is
//! w = 0 or puts a mass of examples exactly on λ. A point is collapsed, and never chosen, if in any
//! fold w = 0, or all scores of the fold left out are equal, or more examples are tied at λ than
//!
//! ```text
//! max( n/100,  min(d + 10, n/4),  the largest number of examples with the same features;
//!      with at most 4(d + 10) kinds of examples the d + 1 largest such groups, if less than n/2 )
//! ```
//!
//! of n trained on: one in a hundred, except that d + 1 may meet there without any collapse, as d
//! weights and λ can be chosen to that end (a few more are near, as no solution is exact), and that
//! examples with the same features are always tied. A point is first solved to a coarse gap, which
//! tells little of its ties; one that would be chosen is solved to [`FINE`] and judged again before it is.
//!
//! **Verdict.** Both choices are fitted on all that was not held out, and DeLong's paired test
//! compares them on what was: neither model, nor the choice of its parameters, has seen it.

mod candidate;
mod collapse;
mod folds;

use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::data::scale::Scale;
use crate::metrics::{Auc, PairedTest, auc, compare};
use crate::objective::ubauc::LeastSquares;
use crate::solver::ba_ubauc::BaUbaucParams;
use crate::solver::logistic::LogisticParams;
use crate::{Error, Result};
pub use collapse::{has_collapsed, most_tied, most_tied_of};
use folds::{Parts, Search};

/// The gap at which chosen models, and points that look collapsed, are solved.
pub const FINE: f64 = 1e-6;
/// The largest entry of the gradient at which logistic regression stops.
const LOGISTIC_TOLERANCE: f64 = 1e-5;

/// What to try, and how to judge it.
#[derive(Debug, Clone, PartialEq)]
pub struct TuneParams {
    /// β to try. Small ones collapse (.05 on a9a), large ones (20) are plain ridge regression.
    pub betas: Vec<f64>,
    /// γ to try.
    pub gammas: Vec<f64>,
    /// Kinds of least squares to try; balanced ones pay where classes are imbalanced.
    pub least_squares: Vec<LeastSquares>,
    /// γ to try for logistic regression.
    pub logistic_gammas: Vec<f64>,
    /// k.
    pub folds: u32,
    /// The share held out for the verdict; 0 for no verdict.
    pub held_out: f64,
    /// Of the folds and of what is held out.
    pub seed: u64,
    /// An intercept in the least squares; without one it is the paper's Eq. (8). Logistic regression always has one.
    pub intercept: bool,
    /// Fitted on the training examples of each fold.
    pub scale: Scale,
    /// The relative gap at which points are compared.
    pub tolerance: f64,
    /// The most regularised point within one standard error of the best, in place of the best.
    pub one_standard_error: bool,
}

impl Default for TuneParams {
    /// 60 points and 5 of logistic regression, 5 folds.
    fn default() -> Self {
        TuneParams {
            betas: vec![0.1, 0.2, 0.5, 1.0, 2.0, 5.0],
            gammas: vec![1e-1, 1e-2, 1e-3, 1e-4, 1e-5],
            least_squares: vec![LeastSquares::Plain, LeastSquares::Balanced],
            logistic_gammas: vec![1e-2, 1e-3, 1e-4, 1e-5, 1e-6],
            folds: 5,
            held_out: 0.2,
            seed: 1,
            intercept: true,
            scale: Scale::None,
            tolerance: 1e-3,
            one_standard_error: false,
        }
    }
}

impl TuneParams {
    /// Refuses what has no meaning, by name.
    pub fn check(&self) -> Result<()> {
        let refuse = |name, value: String, must| Err(Error::Parameter { name, value, must });
        for (name, empty) in [
            ("betas", self.betas.is_empty()),
            ("gammas", self.gammas.is_empty()),
            ("least squares", self.least_squares.is_empty()),
            ("logistic gammas", self.logistic_gammas.is_empty()),
        ] {
            if empty {
                return refuse(name, "nothing".to_string(), "at least one value");
            }
        }
        if self.folds < 2 {
            return refuse("folds", self.folds.to_string(), "at least 2");
        }
        if !(0.0..1.0).contains(&self.held_out) {
            let must = "at least 0 and below 1";
            return refuse("share held out", self.held_out.to_string(), must);
        }
        for (&beta, &gamma) in pairs(&self.betas, &self.gammas) {
            self.batch(beta, gamma, LeastSquares::Plain).check()?;
        }
        for &gamma in &self.logistic_gammas {
            self.logistic(gamma).check()?;
        }
        Ok(())
    }

    /// What the batch solver is asked for at a point.
    fn batch(&self, beta: f64, gamma: f64, least_squares: LeastSquares) -> BaUbaucParams {
        BaUbaucParams {
            beta,
            gamma,
            least_squares,
            intercept: self.intercept,
            tolerance: self.tolerance,
            ..Default::default()
        }
    }

    fn logistic(&self, gamma: f64) -> LogisticParams {
        LogisticParams {
            gamma,
            intercept: true,
            tolerance: LOGISTIC_TOLERANCE,
            ..Default::default()
        }
    }
}

/// All pairs, the first slowest.
fn pairs<'a>(a: &'a [f64], b: &'a [f64]) -> impl Iterator<Item = (&'a f64, &'a f64)> {
    a.iter().flat_map(move |a| b.iter().map(move |b| (a, b)))
}

/// AUC of the folds left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrossValidated {
    /// Mean over the folds.
    pub auc: f64,
    /// Standard error of the mean, of the spread over the folds.
    pub standard_error: f64,
    /// Fold by fold.
    pub fold_aucs: Vec<f64>,
}

impl CrossValidated {
    /// Of the AUC of each fold.
    pub fn of(fold_aucs: Vec<f64>) -> CrossValidated {
        let k = fold_aucs.len() as f64;
        let auc = fold_aucs.iter().sum::<f64>() / k;
        let squares: f64 = fold_aucs.iter().map(|a| (a - auc) * (a - auc)).sum();
        CrossValidated {
            auc,
            standard_error: (squares / (k - 1.0) / k).sqrt(),
            fold_aucs,
        }
    }
}

/// One point of the grid.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GridPoint {
    /// β.
    pub beta: f64,
    /// γ.
    pub gamma: f64,
    /// v_i.
    pub least_squares: LeastSquares,
    /// How it did.
    #[serde(flatten)]
    pub judged: CrossValidated,
    /// The share of the training examples tied at λ, in the fold where it is largest.
    pub tied_share: f64,
    /// See the head of the module.
    pub collapsed: bool,
}

/// One γ of logistic regression.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogisticPoint {
    /// γ.
    pub gamma: f64,
    /// How it did.
    #[serde(flatten)]
    pub judged: CrossValidated,
}

/// Scores of examples by models that were not trained on them. Compare them within a fold only:
/// each fold has its own model, and its own scale.
#[derive(Debug, Clone, PartialEq)]
pub struct OutOfFold {
    /// The examples: all that were not held out and have a weight.
    pub rows: Vec<usize>,
    /// The fold of each.
    pub folds: Vec<u32>,
    /// w·x of the chosen point.
    pub ours: Vec<f64>,
    /// w·x + b of the chosen logistic regression.
    pub logistic: Vec<f64>,
}

/// Ours against logistic regression on the examples held out. Each example counts once, whatever its
/// weight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The chosen point.
    pub ours: Auc,
    /// The chosen logistic regression.
    pub logistic: Auc,
    /// Ours less logistic.
    pub test: PairedTest,
}

/// A difference of this p-value is not put down to chance.
pub const SIGNIFICANT: f64 = 0.05;

impl Verdict {
    /// Whether logistic regression is better, and not by chance.
    pub fn is_worse(&self) -> bool {
        self.test.difference < 0.0 && self.test.p.is_some_and(|p| p < SIGNIFICANT)
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// The whole grid: kinds slowest, then β falling, then γ falling.
    pub points: Vec<GridPoint>,
    /// Index of the choice.
    pub chosen: usize,
    /// Logistic regression, γ falling.
    pub logistic: Vec<LogisticPoint>,
    /// Index of its choice.
    pub logistic_chosen: usize,
    /// Scores of the examples left out by the two choices, solved to [`FINE`].
    pub out_of_fold: OutOfFold,
    /// `None` if nothing was held out.
    pub verdict: Option<Verdict>,
}

impl Tuned {
    /// The chosen point.
    pub fn best(&self) -> &GridPoint {
        &self.points[self.chosen]
    }

    /// The chosen γ of logistic regression.
    pub fn best_logistic(&self) -> &LogisticPoint {
        &self.logistic[self.logistic_chosen]
    }
}

/// Progress callback: fits done, and of how many; called from any thread, and not strictly in order.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Judges the grid and chooses. `weights` are s_i ≥ 0, 1 if none: they weigh the fits and the AUC of
/// a fold, and an example of weight 0 takes no part. The same bits for any number of threads.
///
/// If every point collapses that is an error, of the parameter `betas`.
pub fn tune(
    data: &Dataset,
    weights: Option<&[f64]>,
    params: &TuneParams,
    progress: Option<Progress<'_>>,
) -> Result<Tuned> {
    params.check()?;
    let parts = Parts::new(data, weights, params)?;
    let search = Search::new(data, weights, params, &parts, progress);
    let (candidates, logistic) = search.judge_all()?;
    let (points, chosen, ours) = candidate::decide(&search, candidates, params)?;
    let logistic_chosen = choose_logistic(&logistic, params.one_standard_error);
    let (point, logistic_point) = (&points[chosen], &logistic[logistic_chosen]);
    let out_of_fold = search.out_of_fold(&ours, logistic_point)?;
    let verdict = match parts.held_out.is_empty() {
        true => None,
        false => {
            let [ours, theirs] = search.held_out(point, logistic_point)?;
            let positive: Vec<bool> = parts.held_out.iter().map(|&i| data.positive()[i]).collect();
            Some(Verdict {
                ours: auc(&ours, &positive)?,
                logistic: auc(&theirs, &positive)?,
                test: compare(&ours, &theirs, &positive)?,
            })
        }
    };
    Ok(Tuned {
        points,
        chosen,
        logistic,
        logistic_chosen,
        out_of_fold,
        verdict,
    })
}

/// The best of points that were judged elsewhere; none if all have collapsed.
pub fn best_of(points: &[GridPoint]) -> Option<usize> {
    let choice = choose(points, &TuneParams::default());
    choice.ok().map(|[_, chosen]| chosen)
}

/// The best of those that have not collapsed, and the choice.
fn choose(points: &[GridPoint], params: &TuneParams) -> Result<[usize; 2]> {
    let alive = |&k: &usize| !points[k].collapsed;
    let key = |k: usize| {
        let p = &points[k];
        [p.judged.auc, p.gamma, p.beta]
    };
    let Some(best) = largest((0..points.len()).filter(alive), key) else {
        let betas: Vec<String> = params.betas.iter().map(f64::to_string).collect();
        return Err(Error::Parameter {
            name: "betas",
            value: betas.join(","),
            must: "larger: every model collapsed, with w = 0 or a mass of examples tied at the \
                   threshold; if no beta helps, the features do not tell the classes apart",
        });
    };
    if !params.one_standard_error {
        return Ok([best, best]);
    }
    let enough = points[best].judged.auc - points[best].judged.standard_error;
    let within = |k: &usize| alive(k) && points[*k].judged.auc >= enough;
    let key = |k: usize| {
        let p = &points[k];
        [p.gamma, p.judged.auc, p.beta]
    };
    let chosen = largest((0..points.len()).filter(within), key).unwrap_or(best);
    Ok([best, chosen])
}

fn choose_logistic(points: &[LogisticPoint], one_standard_error: bool) -> usize {
    let key = |k: usize| [points[k].judged.auc, points[k].gamma];
    let best = largest(0..points.len(), key).unwrap_or(0);
    if !one_standard_error {
        return best;
    }
    let enough = points[best].judged.auc - points[best].judged.standard_error;
    let within = (0..points.len()).filter(|&k| points[k].judged.auc >= enough);
    largest(within, |k| [points[k].gamma, points[k].judged.auc]).unwrap_or(best)
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
