//! Where the folds are: rows of this process, or of other machines.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::equal_rows::EqualRows;
use super::parts::Parts;
use super::{GridPoint, Scored, TuneInputs, TuneParams};
use crate::Result;
use crate::data::dataset::Dataset;
use crate::data::labels::Binary;
use crate::data::rows::Rows;
use crate::data::scale::Origin;
use crate::data::table::Table;
use crate::glass_box::LearnedMap;
use crate::solver::ba_ubauc::path::Path;
use crate::solver::ba_ubauc::{BatchInputs, Fit};
use crate::solver::nesting::Nesting;
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
    /// Features, of the folds prepared so far; where a hinge is tried, of all.
    pub cols: usize,
    /// Examples that every model ties, for having the same features ([`EqualRows::unavoidable`]).
    pub unavoidable: usize,
}

/// Where a value of the criterion is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The positive class.
    pub class: usize,
    /// The fold.
    pub fold: u32,
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

    /// Whatever fits without these folds have in common: called from one thread, before any of their paths.
    fn prepare(&self, _folds: Range<u32>) -> Result<()> {
        Ok(())
    }

    /// Rows ready to be fitted, without those of a fold.
    fn path(&self, without: u32, weighting: Weighting) -> Result<Path<'_>>;

    /// Which class is positive, and which examples are left out: many classes share a search (`classes.rs`).
    fn place(&self, fold: u32) -> Place {
        Place { class: 0, fold }
    }

    /// How a model fitted without a fold does on it.
    fn judge(&self, fold: u32, fit: &Fit) -> Result<Unseen>;

    /// Weights found without the first fold as weights of the features without another; the same where all folds have the
    /// same features. None if they are no start for it.
    fn carry<'w>(&self, weights: &'w [f64], _to: u32) -> Option<Cow<'w, [f64]>> {
        Some(Cow::Borrowed(weights))
    }
}

/// What there is to learn from.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// The features, which are the same in all folds.
    Rows(&'a Dataset),
    /// A table, of which a map is learned without each fold.
    Table {
        table: &'a Table,
        labels: &'a Binary,
        learn: LearnPart<'a>,
    },
}

/// How a map is learned without a fold, or without what is held out, from the weights of the examples.
pub(super) type LearnPart<'a> = &'a (dyn Fn(Option<u32>, &[f64]) -> Result<LearnedMap> + Sync);

impl<'a> Source<'a> {
    /// `true` is +1.
    pub(super) fn positive(self) -> &'a [bool] {
        match self {
            Source::Rows(data) => data.positive(),
            Source::Table { labels, .. } => &labels.positive,
        }
    }

    /// What the data calls the classes.
    pub(super) fn class_names(self) -> &'a [String; 2] {
        match self {
            Source::Rows(data) => data.class_names(),
            Source::Table { labels, .. } => &labels.names,
        }
    }

    /// The features of all examples, by a map of those with a weight if there is one to learn.
    fn mapped(
        self,
        without: Option<u32>,
        weights: &[f64],
    ) -> Result<(Cow<'a, Dataset>, Option<LearnedMap>)> {
        match self {
            Source::Rows(data) => Ok((Cow::Borrowed(data), None)),
            Source::Table {
                table,
                labels,
                learn,
            } => {
                let learned = learn(without, weights)?;
                let rows = learned.map.apply(table)?;
                let data = Dataset::new(rows, labels.clone(), Vec::new())?;
                Ok((Cow::Owned(data), Some(learned)))
            }
        }
    }
}

/// Rows of this process. A fold is left out by weights of 0, made for each path and not kept: the search takes no more
/// numbers a row for more folds. Of a table the features of all examples are kept for every fold that was asked for, since
/// fits of several folds run side by side.
pub(super) struct LocalFolds<'a> {
    source: Source<'a>,
    inputs: TuneInputs<'a>,
    params: &'a TuneParams,
    parts: &'a Parts,
    /// Of each fold, once it is prepared.
    trainings: Vec<OnceLock<Training<'a>>>,
    unavoidable: usize,
}

/// One training part: the features of all examples, and the scale of those that are in it.
pub(super) struct Training<'a> {
    /// The fold that is not in it; none for all but what is held out.
    without: Option<u32>,
    data: Cow<'a, Dataset>,
    map: Option<LearnedMap>,
    divisors: Option<Vec<f64>>,
}

impl<'a> LocalFolds<'a> {
    pub(super) fn new(
        source: Source<'a>,
        inputs: &TuneInputs<'a>,
        params: &'a TuneParams,
        parts: &'a Parts,
    ) -> Result<LocalFolds<'a>> {
        let has_hinge = params.settings.iter().any(|s| !s.loss().is_smooth());
        let mut folds = LocalFolds::of_held_out(source, inputs, params, parts);
        folds
            .trainings
            .resize_with(parts.count() as usize, OnceLock::new);
        // How many examples of the hinge may be tied depends on the features of all folds.
        if has_hinge && parts.count() > 0 {
            folds.prepare(0..parts.count())?;
            let rows = folds.prepared(0)?.data.rows();
            folds.unavoidable = EqualRows::of(rows, &parts.kept).unavoidable(rows.cols());
        }
        Ok(folds)
    }

    /// Without any fold: only for what is held out.
    pub(super) fn of_held_out(
        source: Source<'a>,
        inputs: &TuneInputs<'a>,
        params: &'a TuneParams,
        parts: &'a Parts,
    ) -> LocalFolds<'a> {
        LocalFolds {
            source,
            inputs: *inputs,
            params,
            parts,
            trainings: Vec::new(),
            unavoidable: 0,
        }
    }

    /// The training part without a fold, made where it is not there yet. No thread ever waits for another: the one it
    /// waits for might have to end its work first.
    fn prepared(&self, fold: u32) -> Result<&Training<'a>> {
        let training = &self.trainings[fold as usize];
        match training.get() {
            Some(training) => Ok(training),
            None => {
                let made = self.training(Some(fold))?;
                Ok(training.get_or_init(|| made))
            }
        }
    }

    /// The training part without a fold, judged by it; or all but what is held out, judged by that.
    pub(super) fn training(&self, without: Option<u32>) -> Result<Training<'a>> {
        let weights = self.weights(without);
        let (data, map) = self.source.mapped(without, &weights)?;
        let origin = Origin::of_intercept(self.params.intercept);
        let scale = self.params.scale;
        Ok(Training {
            without,
            // A map has scaled its numbers where features share weights.
            divisors: match map.as_ref().is_some_and(|map| map.nesting.is_some()) {
                true => None,
                false => scale.optional_divisors(data.rows(), Some(&weights), origin)?,
            },
            data,
            map,
        })
    }

    /// Of all examples; 0 outside of the training part without a fold.
    fn weights(&self, without: Option<u32>) -> Vec<f64> {
        let n = self.source.positive().len();
        self.parts.weights(n, without, self.inputs.weights)
    }

    /// The examples that judge, scored by a point fitted to a training part.
    pub(super) fn scores(&self, training: &Training<'a>, point: &GridPoint) -> Result<Scored> {
        let params = self.params.closely(&point.setting, point.gamma);
        let fitted = self.path_of(training, params.weighting())?.fit(&params)?;
        let scores = |of: &[usize]| of.iter().map(|&i| fitted.scores[i]).collect();
        let [low, high] = fitted.lambda;
        Ok(Scored {
            scores: match training.without {
                Some(fold) => scores(&self.parts.in_fold(fold)),
                None => scores(&self.parts.held_out),
            },
            intercept: fitted.intercept,
            threshold: low + (high - low) / 2.0 + fitted.intercept,
        })
    }

    /// The classes and groups of the examples held out.
    pub(super) fn held_out(&self) -> (Vec<bool>, Option<Vec<u32>>) {
        let of = &self.parts.held_out;
        let positive = of.iter().map(|&i| self.source.positive()[i]).collect();
        let groups = self.inputs.groups;
        let groups = groups.map(|groups| of.iter().map(|&i| groups[i]).collect());
        (positive, groups)
    }

    pub(super) fn path_of<'t>(
        &'t self,
        training: &'t Training<'a>,
        weighting: Weighting,
    ) -> Result<Path<'t>> {
        let weights = self.weights(training.without);
        let given = BatchInputs {
            divisors: training.divisors.as_deref(),
            nesting: training.nesting(),
            order: training.map.as_ref().and_then(|map| map.order.as_ref()),
            ..BatchInputs::default()
        };
        Path::weighted(&training.data, Some(&weights), &given, weighting)
    }
}

impl Folds for LocalFolds<'_> {
    fn sizes(&self) -> Sizes {
        let kept = &self.parts.kept;
        let n_pos = kept.iter().filter(|&&i| self.source.positive()[i]).count();
        let prepared = self.trainings.iter().filter_map(OnceLock::get);
        let widths = prepared.map(|of| of.data.rows().cols());
        Sizes {
            folds: self.parts.count(),
            n_pos,
            n_neg: kept.len() - n_pos,
            cols: widths.max().unwrap_or(0),
            unavoidable: self.unavoidable,
        }
    }

    fn prepare(&self, folds: Range<u32>) -> Result<()> {
        (folds.into_par_iter()).try_for_each(|fold| self.prepared(fold).map(|_| ()))
    }

    fn path(&self, without: u32, weighting: Weighting) -> Result<Path<'_>> {
        self.path_of(self.prepared(without)?, weighting)
    }

    fn judge(&self, fold: u32, fit: &Fit) -> Result<Unseen> {
        let of = self.parts.in_fold(fold);
        let scores: Vec<f64> = of.iter().map(|&i| fit.scores[i]).collect();
        let positive: Vec<bool> = of.iter().map(|&i| self.source.positive()[i]).collect();
        let weights = self.inputs.weights;
        let weights: Option<Vec<f64>> = weights.map(|s| of.iter().map(|&i| s[i]).collect());
        let criterion = self.params.criterion;
        Ok(Unseen {
            value: criterion.of(&scores, &positive, weights.as_deref())?,
            constant: scores.iter().all(|score| *score == scores[0]),
        })
    }

    fn carry<'w>(&self, weights: &'w [f64], to: u32) -> Option<Cow<'w, [f64]>> {
        let map = |fold: usize| self.trainings[fold].get()?.map.as_ref();
        Some(match (map(0), map(to as usize)) {
            (Some(first), Some(other)) if to > 0 => {
                Cow::Owned(first.map.carry(weights, &other.map))
            }
            _ => Cow::Borrowed(weights),
        })
    }
}

impl Training<'_> {
    /// The features of all examples.
    pub(super) fn rows(&self) -> &Rows {
        self.data.rows()
    }

    fn nesting(&self) -> Option<&Nesting> {
        self.map
            .as_ref()
            .and_then(|learned| learned.nesting.as_ref())
    }
}
