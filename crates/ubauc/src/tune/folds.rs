//! Where the folds are: rows of this process, or of other machines.

use super::kinds::Kinds;
use super::parts::Parts;
use super::{TuneInputs, TuneParams};
use crate::Result;
use crate::data::dataset::Dataset;
use crate::data::scale::Origin;
use crate::solver::ba_ubauc::path::Path;
use crate::solver::ba_ubauc::{BatchInputs, Fit};
use crate::solver::shards::Weighting;

/// What the search must know of all examples that are not held out.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Folds, those of all repeats.
    pub folds: u32,
    /// Positive examples.
    pub n_pos: usize,
    /// Negative examples.
    pub n_neg: usize,
    /// Features.
    pub cols: usize,
    /// Examples that every model ties, for having the same features ([`Kinds::unavoidable`]).
    pub unavoidable: usize,
}

/// A model on examples that it has not seen.
#[derive(Debug, Clone, Copy)]
pub struct Unseen {
    /// The criterion.
    pub value: f64,
    /// All scores are equal.
    pub constant: bool,
}

/// The rows, fold by fold. The search decides, this does the work.
pub trait Folds: Sync {
    /// What there is.
    fn sizes(&self) -> Sizes;

    /// Rows ready to be fitted, without those of a fold.
    fn path(&self, without: u32, weighting: Weighting) -> Result<Path<'_>>;

    /// How a model fitted without a fold does on it.
    fn judge(&self, fold: u32, fit: &Fit) -> Result<Unseen>;
}

/// Rows of this process. A fold is left out by weights of 0.
pub(super) struct LocalFolds<'a> {
    data: &'a Dataset,
    inputs: TuneInputs<'a>,
    params: &'a TuneParams,
    parts: &'a Parts,
    trainings: Vec<Training>,
    unavoidable: usize,
}

/// The examples of one training part: their weights, scale, and who judges.
pub(super) struct Training {
    weights: Vec<f64>,
    divisors: Option<Vec<f64>>,
    judges: Vec<usize>,
}

impl<'a> LocalFolds<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        inputs: &TuneInputs<'a>,
        params: &'a TuneParams,
        parts: &'a Parts,
    ) -> Result<LocalFolds<'a>> {
        let has_hinge = params.settings.iter().any(|s| s.softness == 0.0);
        let mut folds = LocalFolds {
            data,
            inputs: *inputs,
            params,
            parts,
            trainings: Vec::new(),
            unavoidable: match has_hinge {
                true => Kinds::of(data.rows(), &parts.kept).unavoidable(data.rows().cols()),
                false => 0,
            },
        };
        folds.trainings = (0..parts.count())
            .map(|fold| folds.training(Some(fold)))
            .collect::<Result<_>>()?;
        Ok(folds)
    }

    /// The training part without a fold, judged by it; or all but what is held out, judged by that.
    pub(super) fn training(&self, without: Option<u32>) -> Result<Training> {
        let rows = self.data.rows();
        let weights = self.parts.weights(rows.len(), without, self.inputs.weights);
        let origin = Origin::of_intercept(self.params.intercept);
        let scale = self.params.scale;
        Ok(Training {
            divisors: scale.optional_divisors(rows, Some(&weights), origin)?,
            weights,
            judges: match without {
                Some(fold) => self.parts.in_fold(fold),
                None => self.parts.held_out.clone(),
            },
        })
    }

    pub(super) fn params(&self) -> &TuneParams {
        self.params
    }

    /// The classes and groups of the examples held out.
    pub(super) fn held_out(&self) -> (Vec<bool>, Option<Vec<u32>>) {
        let of = &self.parts.held_out;
        let positive = of.iter().map(|&i| self.data.positive()[i]).collect();
        let groups = self.inputs.groups;
        let groups = groups.map(|groups| of.iter().map(|&i| groups[i]).collect());
        (positive, groups)
    }

    pub(super) fn path_of<'t>(
        &'t self,
        training: &'t Training,
        weighting: Weighting,
    ) -> Result<Path<'t>> {
        let given = BatchInputs {
            weights: Some(&training.weights),
            divisors: training.divisors.as_deref(),
            ..BatchInputs::default()
        };
        Path::new(self.data, &given, weighting)
    }
}

impl Folds for LocalFolds<'_> {
    fn sizes(&self) -> Sizes {
        let kept = &self.parts.kept;
        let n_pos = kept.iter().filter(|&&i| self.data.positive()[i]).count();
        Sizes {
            folds: self.parts.count(),
            n_pos,
            n_neg: kept.len() - n_pos,
            cols: self.data.rows().cols(),
            unavoidable: self.unavoidable,
        }
    }

    fn path(&self, without: u32, weighting: Weighting) -> Result<Path<'_>> {
        self.path_of(&self.trainings[without as usize], weighting)
    }

    fn judge(&self, fold: u32, fit: &Fit) -> Result<Unseen> {
        let of = &self.trainings[fold as usize].judges;
        let scores: Vec<f64> = of.iter().map(|&i| fit.scores[i]).collect();
        let positive: Vec<bool> = of.iter().map(|&i| self.data.positive()[i]).collect();
        let weights = self.inputs.weights;
        let weights: Option<Vec<f64>> = weights.map(|s| of.iter().map(|&i| s[i]).collect());
        let criterion = self.params.criterion;
        Ok(Unseen {
            value: criterion.of(&scores, &positive, weights.as_deref())?,
            constant: scores.iter().all(|score| *score == scores[0]),
        })
    }
}

impl Training {
    /// w·x of the examples that judge.
    pub(super) fn scores_of(&self, fit: &Fit) -> Vec<f64> {
        self.judges.iter().map(|&i| fit.scores[i]).collect()
    }
}
