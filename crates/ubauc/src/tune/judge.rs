//! The fits: settings along paths of γ, each on the training part of one fold.

use super::collapse::{self, Ties};
use super::race::Entry;
use super::{FINE, GridPoint, Search, Setting};
use crate::Result;
use crate::data::scale::Origin;
use crate::solver::ba_ubauc::path::Path;
use crate::solver::ba_ubauc::{BaUbaucParams, BatchInputs, Fit, Stop, fit};

/// A point on one fold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judged {
    /// The criterion on the fold left out.
    pub(super) value: f64,
    pub(super) tied_share: f64,
    pub(super) ties: Ties,
}

/// The examples of one training part: their weights, scale, and who judges.
pub(super) struct Training {
    weights: Vec<f64>,
    divisors: Option<Vec<f64>>,
    /// Examples trained on.
    n: usize,
    pub(super) judges: Vec<usize>,
}

/// Settings that share what is prepared of the rows, each with the γ to try, falling.
pub(super) type Lane = Vec<(usize, Vec<f64>)>;

/// A path of γ ends where the criterion has twice been this many margins below its best.
const HOPELESS: f64 = 4.0;

/// Neither the gap nor the number of tied examples means anything.
fn gave_up(fit: &Fit) -> bool {
    matches!(fit.stop, Stop::Stalled | Stop::MaxNewton)
}

impl Search<'_> {
    /// The training part without a fold, judged by it; or all but what is held out, judged by that.
    pub(super) fn training(&self, without: Option<u32>, serial: bool) -> Result<Training> {
        let rows = self.data.rows();
        let weights = self.parts.weights(rows.len(), without, self.inputs.weights);
        let origin = Origin::of_intercept(self.params.intercept);
        let scale = self.params.scale;
        let divisors = scale.optional_divisors(rows, Some(&weights), origin)?;
        let n = weights.iter().filter(|s| **s > 0.0).count();
        let _ = serial;
        Ok(Training {
            weights,
            divisors,
            n,
            judges: match without {
                Some(fold) => self.parts.in_fold(fold),
                None => self.parts.held_out.clone(),
            },
        })
    }

    /// Every point of a lane on one fold: setting, γ, and how it did. Fewer where time runs out or a path is hopeless.
    pub(super) fn walk(
        &self,
        training: &Training,
        lane: &Lane,
        margin: f64,
    ) -> Result<Vec<(usize, f64, Judged)>> {
        let mut found = Vec::new();
        let mut path: Option<Path<'_>> = None;
        for (turn, (setting, gammas)) in lane.iter().enumerate() {
            let of = self.settings[*setting];
            let hinge = of.softness == 0.0;
            // The multipliers of a neighbour are a good start for the hinge; another soft loss has another scale.
            if !hinge {
                path = None;
            }
            let turned = hinge && turn % 2 == 1;
            let order: Vec<f64> = match turned {
                true => gammas.iter().rev().copied().collect(),
                false => gammas.clone(),
            };
            let (mut best, mut behind) = (f64::NEG_INFINITY, 0);
            for (at, gamma) in order.iter().enumerate() {
                if self.is_over() && !(found.is_empty() && of.is_logistic()) {
                    self.plan(0, order.len() - at);
                    break;
                }
                let params = self.params.batch(&of, *gamma);
                let judged = self.judge(training, &mut path, &params)?;
                found.push((*setting, *gamma, judged));
                behind = match judged.value < best - HOPELESS * margin {
                    true => behind + 1,
                    false => 0,
                };
                best = best.max(judged.value);
                if behind == 2 && !hinge {
                    self.plan(0, order.len() - at - 1);
                    break;
                }
            }
        }
        Ok(found)
    }

    fn judge<'t>(
        &'t self,
        training: &'t Training,
        path: &mut Option<Path<'t>>,
        params: &BaUbaucParams,
    ) -> Result<Judged> {
        let new = || Path::new(self.data, &training.given(), params.weighting());
        let mut on = match path.take() {
            Some(path) => path,
            None => new()?,
        };
        let mut fitted = on.fit(params)?;
        if gave_up(&fitted) && params.softness == 0.0 {
            // The neighbour's multipliers can be a bad start; a fresh one has none.
            on = new()?;
            fitted = on.fit(params)?;
        }
        *path = Some(on);
        self.step();
        self.judged(training, &fitted, params.softness)
    }

    /// How a model does on the fold left out.
    fn judged(&self, training: &Training, fitted: &Fit, softness: f64) -> Result<Judged> {
        let scores = training.scores_of(fitted);
        let nothing = fitted.weights.iter().all(|w| *w == 0.0);
        let constant = scores.iter().all(|score| *score == scores[0]);
        let hinge = softness == 0.0;
        let allowed = collapse::allowed(training.n, self.data.rows().cols(), self.unavoidable);
        Ok(Judged {
            value: self.criterion(&scores, &training.judges)?,
            tied_share: match hinge {
                true => fitted.tied as f64 / training.n as f64,
                false => 0.0,
            },
            ties: match nothing || constant {
                true => Ties::Collapse,
                false if hinge => Ties::of(fitted.tied, allowed),
                false => Ties::Few,
            },
        })
    }

    fn criterion(&self, scores: &[f64], of: &[usize]) -> Result<f64> {
        let positive: Vec<bool> = of.iter().map(|&i| self.data.positive()[i]).collect();
        let weights: Option<Vec<f64>> = self
            .inputs
            .weights
            .map(|weights| of.iter().map(|&i| weights[i]).collect());
        self.params
            .criterion
            .of(scores, &positive, weights.as_deref())
    }

    /// A point of the hinge solved so closely that its ties are certain.
    pub(super) fn closely(&self, entry: &Entry) -> Result<Entry> {
        let of = self.settings[entry.setting];
        let mut folds = Vec::new();
        for fold in 0..self.params.folds {
            let training = self.training(Some(fold), false)?;
            let fitted = self.fit_closely(&training, &of, entry.gamma)?;
            let mut judged = self.judged(&training, &fitted, 0.0)?;
            if judged.ties == Ties::Many {
                judged.ties = Ties::Collapse;
            }
            folds.push(Some(judged));
        }
        Ok(Entry {
            folds,
            is_close: true,
            ..entry.clone()
        })
    }

    fn fit_closely(&self, training: &Training, of: &Setting, gamma: f64) -> Result<Fit> {
        let params = BaUbaucParams {
            tolerance: self.params.tolerance.min(FINE),
            ..self.params.batch(of, gamma)
        };
        fit(self.data, &training.given(), &params)
    }

    /// Scores of the examples held out, by a point fitted on all others.
    pub(super) fn held_out_scores(&self, point: &GridPoint) -> Result<Vec<f64>> {
        let training = self.training(None, false)?;
        let fitted = self.fit_closely(&training, &point.setting, point.gamma)?;
        self.step();
        Ok(training.scores_of(&fitted))
    }
}

impl Training {
    /// w·x of the examples that judge.
    fn scores_of(&self, fitted: &Fit) -> Vec<f64> {
        self.judges.iter().map(|&i| fitted.scores[i]).collect()
    }

    fn given(&self) -> BatchInputs<'_> {
        BatchInputs {
            weights: Some(&self.weights),
            divisors: self.divisors.as_deref(),
            ..BatchInputs::default()
        }
    }
}
