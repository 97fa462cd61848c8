//! The fits: every point of the grid and of logistic regression, on every fold.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::candidate::Candidate;
use super::collapse::{self, Ties};
use super::{CrossValidated, FINE, GridPoint, LogisticPoint, OutOfFold, Progress, TuneParams};
use crate::data::dataset::Dataset;
use crate::data::scale::{Origin, check_weights};
use crate::data::split;
use crate::metrics::{auc, weighted_auc};
use crate::objective::ubauc::LeastSquares;
use crate::solver::ba_ubauc::path::Path;
use crate::solver::ba_ubauc::{BaUbaucParams, BatchInputs, Fit, Stop, fit};
use crate::solver::logistic;
use crate::{Error, Result};

/// Which example is where. Examples of weight 0 are nowhere.
pub(super) struct Parts {
    /// Held out for the verdict.
    pub(super) held_out: Vec<usize>,
    /// All others.
    kept: Vec<usize>,
    /// The fold of each of them.
    folds: Vec<u32>,
}

impl Parts {
    pub(super) fn new(
        data: &Dataset,
        weights: Option<&[f64]>,
        params: &TuneParams,
    ) -> Result<Parts> {
        let n = data.rows().len();
        if let Some(weights) = weights {
            check_weights(weights, n)?;
        }
        let some: Vec<usize> = (0..n)
            .filter(|&i| weights.is_none_or(|s| s[i] > 0.0))
            .collect();
        let classes =
            |of: &[usize]| -> Vec<bool> { of.iter().map(|&i| data.positive()[i]).collect() };
        enough(data, &some, params)?;
        let out = match params.held_out > 0.0 {
            true => split::hold_out(&classes(&some), params.held_out, params.seed)?,
            false => vec![false; some.len()],
        };
        let part = |held: bool| -> Vec<usize> {
            let pairs = some.iter().zip(&out);
            pairs
                .filter(|(_, out)| **out == held)
                .map(|(i, _)| *i)
                .collect()
        };
        let (held_out, kept) = (part(true), part(false));
        enough(data, &kept, params)?;
        let folds = split::folds(&classes(&kept), params.folds, params.seed)?;
        Ok(Parts {
            held_out,
            kept,
            folds,
        })
    }

    fn in_fold(&self, fold: u32) -> Vec<usize> {
        let pairs = self.kept.iter().zip(&self.folds);
        pairs
            .filter(|(_, f)| **f == fold)
            .map(|(i, _)| *i)
            .collect()
    }

    /// Sample weights without one fold, or with all of them; 0 for what is held out.
    fn weights(&self, n: usize, without: Option<u32>, weights: Option<&[f64]>) -> Vec<f64> {
        let mut of_part = vec![0.0; n];
        for (&i, &fold) in self.kept.iter().zip(&self.folds) {
            if without != Some(fold) {
                of_part[i] = weights.map_or(1.0, |s| s[i]);
            }
        }
        of_part
    }
}

/// Refuses fewer examples of a class than folds, by the name of the class.
fn enough(data: &Dataset, of: &[usize], params: &TuneParams) -> Result<()> {
    for (class, name) in [false, true].into_iter().zip(data.class_names()) {
        let n = of.iter().filter(|&&i| data.positive()[i] == class).count();
        if n < params.folds as usize {
            let held_out = match params.held_out > 0.0 {
                true => " beside those held out",
                false => "",
            };
            return Err(Error::Classes {
                what: format!(
                    "class {name} has {n} examples{held_out}, too few for {} folds; use fewer folds",
                    params.folds
                ),
            });
        }
    }
    Ok(())
}

/// Neither the gap nor the number of tied examples means anything.
fn gave_up(fit: &Fit) -> bool {
    matches!(fit.stop, Stop::Stalled | Stop::MaxNewton)
}

/// A point on one fold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged {
    pub(super) auc: f64,
    pub(super) tied_share: f64,
    pub(super) ties: Ties,
}

/// The examples of one training part: their weights, scale, and who judges.
pub(super) struct Training {
    weights: Vec<f64>,
    divisors: Option<Vec<f64>>,
    /// Examples trained on.
    n: usize,
    judges: Vec<usize>,
}

pub(super) struct Search<'a> {
    data: &'a Dataset,
    weights: Option<&'a [f64]>,
    pub(super) params: &'a TuneParams,
    parts: &'a Parts,
    kinds: Vec<LeastSquares>,
    /// Falling.
    betas: Vec<f64>,
    gammas: Vec<f64>,
    logistic_gammas: Vec<f64>,
    unavoidable: usize,
    done: AtomicUsize,
    progress: Option<Progress<'a>>,
}

/// What one task of the search brings: the points of one kind, or those of logistic regression.
enum Found {
    Kind(Vec<Judged>),
    Logistic(Vec<f64>),
}

impl<'a> Search<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        weights: Option<&'a [f64]>,
        params: &'a TuneParams,
        parts: &'a Parts,
        progress: Option<Progress<'a>>,
    ) -> Search<'a> {
        let mut kinds: Vec<LeastSquares> = Vec::new();
        for &kind in &params.least_squares {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        Search {
            data,
            weights,
            params,
            parts,
            kinds,
            betas: falling(&params.betas),
            gammas: falling(&params.gammas),
            logistic_gammas: falling(&params.logistic_gammas),
            unavoidable: collapse::unavoidable(data.rows(), &parts.kept),
            done: AtomicUsize::new(0),
            progress,
        }
    }

    /// Every point on every fold. A task is one kind, or logistic regression, on one fold.
    pub(super) fn judge_all(&self) -> Result<(Vec<Candidate>, Vec<LogisticPoint>)> {
        let trainings = self.trainings()?;
        let tasks_of_fold = self.kinds.len() + 1;
        let found: Vec<Found> = (0..trainings.len() * tasks_of_fold)
            .into_par_iter()
            .map(|task| {
                let training = &trainings[task / tasks_of_fold];
                match self.kinds.get(task % tasks_of_fold) {
                    Some(&kind) => self.judge_kind(training, kind).map(Found::Kind),
                    None => self.judge_logistic(training).map(Found::Logistic),
                }
            })
            .collect::<Result<_>>()?;
        let size = self.betas.len() * self.gammas.len();
        let grid: Vec<(f64, f64, LeastSquares)> = self
            .kinds
            .iter()
            .flat_map(|&kind| {
                super::pairs(&self.betas, &self.gammas).map(move |(&b, &g)| (b, g, kind))
            })
            .collect();
        let candidate = |(k, &at): (usize, &(f64, f64, LeastSquares))| {
            let of_kind = found.iter().skip(k / size).step_by(tasks_of_fold);
            let folds: Vec<Judged> = of_kind
                .filter_map(|found| match found {
                    Found::Kind(judged) => Some(judged[k % size]),
                    Found::Logistic(_) => None,
                })
                .collect();
            Candidate::new(at, &folds)
        };
        let points = grid.iter().enumerate().map(candidate).collect();
        let logistic = self.logistic_gammas.iter().enumerate().map(|(k, &gamma)| {
            let aucs = found.iter().filter_map(|found| match found {
                Found::Logistic(aucs) => Some(aucs[k]),
                Found::Kind(_) => None,
            });
            let judged = CrossValidated::of(aucs.collect());
            LogisticPoint { gamma, judged }
        });
        Ok((points, logistic.collect()))
    }

    pub(super) fn trainings(&self) -> Result<Vec<Training>> {
        let folds = (0..self.params.folds).into_par_iter();
        folds
            .map(|fold| self.training(Some(fold), self.parts.in_fold(fold)))
            .collect()
    }

    fn training(&self, without: Option<u32>, judges: Vec<usize>) -> Result<Training> {
        let rows = self.data.rows();
        let weights = self.parts.weights(rows.len(), without, self.weights);
        let origin = Origin::of_intercept(self.params.intercept);
        let scale = self.params.scale;
        let divisors = scale.optional_divisors(rows, Some(&weights), origin)?;
        let n = weights.iter().filter(|s| **s > 0.0).count();
        Ok(Training {
            weights,
            divisors,
            n,
            judges,
        })
    }

    /// β falling, γ falling and rising by turns; the answer has both falling.
    fn judge_kind(&self, training: &Training, kind: LeastSquares) -> Result<Vec<Judged>> {
        let mut path = self.path(training, kind)?;
        let mut judged = Vec::with_capacity(self.betas.len() * self.gammas.len());
        for (turn, &beta) in self.betas.iter().enumerate() {
            let start = judged.len();
            let gammas: Vec<f64> = match turn % 2 {
                0 => self.gammas.clone(),
                _ => self.gammas.iter().rev().copied().collect(),
            };
            for gamma in gammas {
                let params = self.params.batch(beta, gamma, kind);
                judged.push(self.judge(training, &mut path, &params)?);
            }
            if turn % 2 == 1 {
                judged[start..].reverse();
            }
        }
        Ok(judged)
    }

    fn judge<'t>(
        &'t self,
        training: &'t Training,
        path: &mut Path<'t>,
        params: &BaUbaucParams,
    ) -> Result<Judged> {
        let mut found = path.fit(params)?;
        if gave_up(&found) {
            // The neighbour's multipliers can be a bad start; a fresh one has none.
            *path = self.path(training, params.least_squares)?;
            found = path.fit(params)?;
        }
        self.step();
        self.judged(training, &found)
    }

    /// How a model does on the fold left out.
    pub(super) fn judged(&self, training: &Training, found: &Fit) -> Result<Judged> {
        let scores = training.scores_of(found);
        let nothing = found.weights.iter().all(|w| *w == 0.0);
        let constant = scores.iter().all(|score| *score == scores[0]);
        Ok(Judged {
            auc: self.auc(&scores, &training.judges)?,
            tied_share: found.tied as f64 / training.n as f64,
            ties: match nothing || constant {
                true => Ties::Collapse,
                false => Ties::of(found.tied, self.allowed(training)),
            },
        })
    }

    pub(super) fn allowed(&self, training: &Training) -> usize {
        collapse::allowed(training.n, self.data.rows().cols(), self.unavoidable)
    }

    pub(super) fn path<'t>(
        &'t self,
        training: &'t Training,
        kind: LeastSquares,
    ) -> Result<Path<'t>> {
        let weighting = self.params.batch(1.0, 0.0, kind).weighting();
        Path::new(self.data, &training.given(), weighting)
    }

    fn judge_logistic(&self, training: &Training) -> Result<Vec<f64>> {
        let mut start: Option<Vec<f64>> = None;
        let judge = |&gamma: &f64| {
            let found = self.fit_logistic(training, start.as_deref(), gamma)?;
            let auc = self.auc(&self.scores(&found, &training.judges), &training.judges);
            start = Some(found);
            self.step();
            auc
        };
        self.logistic_gammas.iter().map(judge).collect()
    }

    /// Weights and, behind them, the intercept.
    fn fit_logistic(
        &self,
        training: &Training,
        start: Option<&[f64]>,
        gamma: f64,
    ) -> Result<Vec<f64>> {
        let found = logistic::fit(
            self.data,
            Some(&training.weights),
            training.divisors.as_deref(),
            start,
            &self.params.logistic(gamma),
        )?;
        let mut weights = found.weights;
        weights.push(found.intercept);
        Ok(weights)
    }

    /// w·x + b, b last in `weights`.
    fn scores(&self, weights: &[f64], of: &[usize]) -> Vec<f64> {
        let (w, b) = weights.split_at(self.data.rows().cols());
        let score = |&i: &usize| self.data.rows().row(i).dot(w) + b[0];
        of.iter().map(score).collect()
    }

    fn auc(&self, scores: &[f64], of: &[usize]) -> Result<f64> {
        let positive: Vec<bool> = of.iter().map(|&i| self.data.positive()[i]).collect();
        match self.weights {
            None => Ok(auc(scores, &positive)?.auc),
            Some(weights) => {
                let weights: Vec<f64> = of.iter().map(|&i| weights[i]).collect();
                Ok(weighted_auc(scores, &positive, &weights)?.auc)
            }
        }
    }

    /// A point, solved to [`FINE`].
    pub(super) fn fit_closely(&self, training: &Training, point: &GridPoint) -> Result<Fit> {
        let params = BaUbaucParams {
            tolerance: self.params.tolerance.min(FINE),
            ..self
                .params
                .batch(point.beta, point.gamma, point.least_squares)
        };
        fit(self.data, &training.given(), &params)
    }

    /// The chosen logistic regression on the examples that judge a training part.
    fn logistic_scores(&self, training: &Training, logistic: &LogisticPoint) -> Result<Vec<f64>> {
        let weights = self.fit_logistic(training, None, logistic.gamma)?;
        self.step();
        Ok(self.scores(&weights, &training.judges))
    }

    /// Both choices on the examples that were left out; `ours` are ours, fold by fold.
    pub(super) fn out_of_fold(
        &self,
        ours: &[Vec<f64>],
        logistic: &LogisticPoint,
    ) -> Result<OutOfFold> {
        // Their fits are done, and only now known to be those of the choice.
        ours.iter().for_each(|_| self.step());
        let trainings = self.trainings()?;
        let theirs: Vec<Vec<f64>> = trainings
            .par_iter()
            .map(|training| self.logistic_scores(training, logistic))
            .collect::<Result<_>>()?;
        let rows = self.parts.kept.clone();
        let of_rows = |folds: &[Vec<f64>]| {
            let mut all = vec![0.0; self.data.rows().len()];
            for (training, scores) in trainings.iter().zip(folds) {
                for (&i, score) in training.judges.iter().zip(scores) {
                    all[i] = *score;
                }
            }
            rows.iter().map(|&i| all[i]).collect()
        };
        Ok(OutOfFold {
            ours: of_rows(ours),
            logistic: of_rows(&theirs),
            folds: self.parts.folds.clone(),
            rows,
        })
    }

    /// Scores of the examples held out, by the two choices fitted on all others.
    pub(super) fn held_out(
        &self,
        point: &GridPoint,
        logistic: &LogisticPoint,
    ) -> Result<[Vec<f64>; 2]> {
        let training = self.training(None, self.parts.held_out.clone())?;
        let ours = training.scores_of(&self.fit_closely(&training, point)?);
        self.step();
        Ok([ours, self.logistic_scores(&training, logistic)?])
    }

    fn step(&self) {
        let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
        if let Some(progress) = self.progress {
            let folds = self.params.folds as usize;
            let grid = self.kinds.len() * self.betas.len() * self.gammas.len();
            let last = 2 * (folds + usize::from(!self.parts.held_out.is_empty()));
            progress(done, folds * (grid + self.logistic_gammas.len()) + last);
        }
    }
}

impl Training {
    /// w·x of the examples that judge.
    pub(super) fn scores_of(&self, found: &Fit) -> Vec<f64> {
        self.judges.iter().map(|&i| found.scores[i]).collect()
    }

    fn given(&self) -> BatchInputs<'_> {
        BatchInputs {
            weights: Some(&self.weights),
            divisors: self.divisors.as_deref(),
            ..BatchInputs::default()
        }
    }
}

/// Falling, each once.
fn falling(of: &[f64]) -> Vec<f64> {
    let mut falling = of.to_vec();
    falling.sort_by(|a, b| b.total_cmp(a));
    falling.dedup();
    falling
}
