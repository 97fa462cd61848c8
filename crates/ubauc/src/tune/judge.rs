//! The fits: settings along paths of γ, each on the training part of one fold.

use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::Search;
use super::collapse::{Ties, most_tied_of};
use super::race::Entry;
use crate::Result;
use crate::objective::loss::Loss;
use crate::solver::ba_ubauc::path::Path;
use crate::solver::ba_ubauc::{BaUbaucParams, Fit, Stop};

/// A point on one fold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judged {
    /// The criterion on the fold left out.
    pub(super) value: f64,
    pub(super) tied_share: f64,
    pub(super) ties: Ties,
}

/// Settings that share what is prepared of the rows, each with the γ to try, falling.
pub(super) type Lane = Vec<(usize, Vec<f64>)>;

/// With more features than this the weights of the first fold are not kept for the others.
const MAX_KEPT: usize = 1_000_000;

/// Neither the gap nor the number of tied examples means anything.
fn gave_up(fit: &Fit) -> bool {
    matches!(fit.stop, Stop::Stalled | Stop::MaxNewton)
}

impl Search<'_> {
    /// Every point of a lane on one fold: setting, γ, and how it did. Fewer where time runs out or a path is hopeless.
    pub(super) fn walk(&self, fold: u32, lane: &Lane) -> Result<Vec<(usize, f64, Judged)>> {
        let mut found = Vec::new();
        let mut path: Option<Path<'_>> = None;
        for (turn, (setting, gammas)) in lane.iter().enumerate() {
            let of = self.settings[*setting];
            let hinge = !of.loss().is_smooth();
            // The multipliers of a neighbour are a good start for the hinge; another soft loss has another scale.
            if !hinge {
                path = None;
            }
            let turned = hinge && turn % 2 == 1;
            let order: Vec<f64> = match turned {
                true => gammas.iter().rev().copied().collect(),
                false => gammas.clone(),
            };
            let mut best = f64::NEG_INFINITY;
            let leads = self.leaders().contains(setting);
            for (at, gamma) in order.iter().enumerate() {
                // Where time is short, one point of each leader is what there is.
                let is_first = found.is_empty() && (of.is_logistic() || leads && fold == 0);
                if self.is_over() && !is_first {
                    self.plan(0, order.len() - at);
                    break;
                }
                let params = self.params.batch(&of, *gamma);
                let judged = self.fit((fold, *setting), &mut path, &params)?;
                found.push((*setting, *gamma, judged));
                best = best.max(judged.value);
                let is_hopeless = judged.value < best - self.margin_between_gammas(best, 1);
                if is_hopeless && fold == 0 && !hinge && self.params.race {
                    self.plan(0, order.len() - at - 1);
                    break;
                }
            }
        }
        Ok(found)
    }

    fn fit<'t>(
        &'t self,
        (fold, setting): (u32, usize),
        path: &mut Option<Path<'t>>,
        params: &BaUbaucParams,
    ) -> Result<Judged> {
        let new = || {
            let path = self.folds.path(fold, params.weighting());
            path.map(Path::only_compare)
        };
        let mut on = match path.take() {
            Some(path) => path,
            None => new()?,
        };
        let is_smooth = params.loss().is_smooth();
        let key = (setting, params.gamma.to_bits());
        // The first fold shares most of its examples with the others. Only once it is done, or who comes first would matter.
        let is_known = self.first_fold_done.load(Ordering::Relaxed);
        let near = match self.starts.lock() {
            Ok(starts) if is_smooth && is_known => starts.get(&key).cloned(),
            _ => None,
        };
        if let Some(near) = near.as_deref().and_then(|w| self.folds.carry(w, fold)) {
            on.restart(&near)?;
        }
        let mut fitted = on.fit(params)?;
        let is_kept = is_smooth && fold == 0 && fitted.weights.len() <= MAX_KEPT;
        if is_kept && let Ok(mut starts) = self.starts.lock() {
            starts.insert(key, fitted.weights.clone());
        }
        if gave_up(&fitted) && !is_smooth {
            // The neighbour's multipliers can be a bad start; a fresh one has none.
            on = new()?;
            fitted = on.fit(params)?;
        }
        let n = on.examples();
        *path = Some(on);
        self.step();
        self.judged(fold, &fitted, n, params.loss())
    }

    /// How a model of n examples does on the fold left out.
    fn judged(&self, fold: u32, fitted: &Fit, n: usize, loss: Loss) -> Result<Judged> {
        let unseen = self.folds.judge(fold, fitted)?;
        let nothing = fitted.weights.iter().all(|w| *w == 0.0);
        let hinge = !loss.is_smooth();
        let allowed = most_tied_of(n, self.sizes.cols, self.sizes.unavoidable);
        Ok(Judged {
            value: unseen.value,
            tied_share: match hinge {
                true => fitted.tied as f64 / n as f64,
                false => 0.0,
            },
            ties: match nothing || unseen.constant {
                true => Ties::Collapse,
                false if hinge => Ties::of(fitted.tied, allowed),
                false => Ties::Few,
            },
        })
    }

    /// A point of the hinge solved so closely that its ties are certain.
    pub(super) fn closely(&self, entry: &Entry) -> Result<Entry> {
        let of = self.settings[entry.setting];
        let params = self.params.closely(&of, entry.gamma);
        let judge = |fold: u32| {
            // As far as it was tried.
            if entry.folds[fold as usize].is_none() {
                return Ok(None);
            }
            let mut path = self.folds.path(fold, params.weighting())?;
            let fitted = path.fit(&params)?;
            let mut judged = self.judged(fold, &fitted, path.examples(), Loss::Hinge)?;
            if judged.ties == Ties::Many {
                judged.ties = Ties::Collapse;
            }
            Ok(Some(judged))
        };
        let folds = (0..self.sizes.folds).into_par_iter();
        Ok(Entry {
            folds: folds.map(judge).collect::<Result<_>>()?,
            is_close: true,
            ..entry.clone()
        })
    }
}
