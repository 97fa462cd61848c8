//! The learner of a stream: an example at a time, memory O(d), its state as bytes at any moment.

use super::OlUbaucParams;
use super::iterate::Iterate;
use super::scale::{RunningScale, Sizes};
use super::step::Example;
use crate::data::rows::Row;
use crate::objective::ubauc::{ClassWeights, LeastSquares, Objective};
use crate::{Error, Result};

/// A product is cut at this size, so that a sum of them is a number.
const LARGEST_TERM: f64 = 1e290;

/// ol-UBAUC on a stream. The module's head tells what it minimises.
#[derive(Debug, Clone)]
pub struct Learner {
    pub(super) params: OlUbaucParams,
    pub(super) iterate: Iterate,
    /// None where features are taken as they come.
    pub(super) sizes: Option<Sizes>,
    /// Examples learned from, negatives first.
    pub(super) counts: [u64; 2],
    /// Their weights.
    pub(super) totals: ClassWeights,
    /// The example at hand, without zeros, scaled. Not part of the state.
    pub(super) indices: Vec<u32>,
    pub(super) values: Vec<f64>,
}

impl Learner {
    /// A learner that has seen nothing: all weights 0.
    pub fn new(params: &OlUbaucParams, scale: RunningScale) -> Result<Learner> {
        params.check()?;
        Ok(Learner {
            params: *params,
            iterate: Iterate::new(0),
            sizes: (scale == RunningScale::MaxAbs).then(Sizes::new),
            counts: [0; 2],
            totals: ClassWeights::default(),
            indices: Vec::new(),
            values: Vec::new(),
        })
    }

    /// Starts from a model: its weights for raw features, its intercept and its λ. Averages begin anew; the steps and
    /// examples so far stay counted. Without an intercept among the parameters `intercept` is left at its value.
    pub fn start_from(&mut self, weights: &[f64], intercept: f64, lambda: f64) {
        let steps = self.iterate.steps;
        self.iterate = Iterate {
            lambda,
            intercept,
            steps,
            ..Iterate::new(weights.len())
        };
        match &mut self.sizes {
            Some(sizes) => {
                *sizes = Sizes::new();
                sizes.base = weights.to_vec();
                sizes.largest = vec![0.0; weights.len()];
            }
            None => {
                for (pair, &w) in self.iterate.weights.pairs.iter_mut().zip(weights) {
                    pair[0] = w;
                }
                self.iterate.weights.make_norm();
            }
        }
    }

    /// w·x + b with the weights that would be saved: the average once there is one, otherwise the last. Features never
    /// seen add 0.
    pub fn score(&self, row: Row<'_>) -> f64 {
        let b = self.intercept();
        let terms = || {
            let entries = row.entries().filter(|&(j, x)| x != 0.0 && j < self.cols());
            entries.map(|(j, x)| self.weight(j) * x)
        };
        let score = terms().sum::<f64>() + b;
        if score.is_finite() {
            return score;
        }
        let cut = |term: f64| term.clamp(-LARGEST_TERM, LARGEST_TERM);
        terms().map(cut).sum::<f64>() + b
    }

    /// Learns from an example, and answers its score before that. New features join; an example of weight 0 is scored
    /// and otherwise ignored.
    ///
    /// Refuses features and weights that are not finite, and steps that would make the weights so, which only
    /// [`Step::Sgd`](super::Step::Sgd) can. The weights are as before the refusal.
    pub fn learn(&mut self, row: Row<'_>, positive: bool, weight: f64) -> Result<f64> {
        self.check(row, weight)?;
        let score = self.score(row);
        if weight == 0.0 {
            return Ok(score);
        }
        self.take(row)?;
        let x = Row::Sparse(&self.indices, &self.values);
        let mut totals = self.totals;
        if positive {
            totals.pos += weight;
        } else {
            totals.neg += weight;
        }
        let example = Example {
            y: if positive { 1.0 } else { -1.0 },
            weight,
            factor: class_factor(self.params.least_squares, totals, positive),
            score: self.iterate.weights.dot(x),
            norm_sq: self.values.iter().map(|x| x * x).sum(),
        };
        let after = self.params.average;
        let averaging = after.is_some_and(|after| self.iterate.steps >= after);
        let advance = self.iterate.advance(&self.params, example, averaging)?;
        self.iterate.weights.add(advance.delta, x);
        if let Some(sizes) = &mut self.sizes {
            sizes.kept *= advance.kept;
            if averaging {
                sizes.kept_sum += sizes.kept;
            }
        }
        self.totals = totals;
        let count = &mut self.counts[usize::from(positive)];
        *count = count.saturating_add(1);
        Ok(score)
    }

    fn check(&self, row: Row<'_>, weight: f64) -> Result<()> {
        // Examples are counted as they come; messages count from 1.
        let at = self.counts[0].saturating_add(self.counts[1]);
        let refuse = |what, value, must| {
            Err(Error::NotFinite {
                what,
                row: at as usize,
                value,
                must,
            })
        };
        if !(weight >= 0.0 && weight.is_finite()) {
            return refuse("weight", weight, "finite and not negative");
        }
        match row.entries().find(|(_, x)| !x.is_finite()) {
            Some((_, x)) => refuse("a feature", x, "finite"),
            None => Ok(()),
        }
    }

    /// The row's entries that are not 0, scaled, with room for all of them.
    fn take(&mut self, row: Row<'_>) -> Result<()> {
        self.indices.clear();
        self.values.clear();
        let used = || row.entries().filter(|entry| entry.1 != 0.0);
        if let Some((last, _)) = used().last() {
            self.make_room(last + 1)?;
        }
        for (j, x) in used() {
            let x = match &mut self.sizes {
                Some(sizes) => sizes.scaled(j, x, &mut self.iterate.weights),
                None => x,
            };
            self.indices.push(j as u32);
            self.values.push(x);
        }
        Ok(())
    }

    fn make_room(&mut self, cols: usize) -> Result<()> {
        let pairs = &mut self.iterate.weights.pairs;
        if cols <= pairs.len() {
            return Ok(());
        }
        let what = "no memory for the weights of so many features";
        let no_room = |_| Error::Numerical { what };
        if u32::try_from(cols - 1).is_err() {
            return Err(Error::Numerical {
                what: "the index of a feature is above 2^32",
            });
        }
        let more = cols - pairs.len();
        pairs.try_reserve(more).map_err(no_room)?;
        pairs.resize(cols, [0.0; 2]);
        if let Some(sizes) = &mut self.sizes {
            sizes.largest.try_reserve(more).map_err(no_room)?;
            sizes.largest.resize(cols, 0.0);
        }
        Ok(())
    }

    /// w_j of the raw feature.
    fn weight(&self, j: usize) -> f64 {
        let w = self.iterate.weight(j);
        let Some(sizes) = &self.sizes else {
            return w;
        };
        if sizes.largest[j] > 0.0 {
            (w / sizes.largest[j]).clamp(f64::MIN, f64::MAX)
        } else {
            sizes.base_at(j) * self.iterate.mean(sizes.kept_sum, sizes.kept)
        }
    }

    /// The weights for raw features, one for each of [`Learner::cols`]: the average once there is one.
    pub fn weights(&self) -> Vec<f64> {
        (0..self.cols()).map(|j| self.weight(j)).collect()
    }

    /// b.
    pub fn intercept(&self) -> f64 {
        self.iterate.mean_intercept()
    }

    /// λ, in units of w·x.
    pub fn lambda(&self) -> f64 {
        self.iterate.mean_lambda()
    }

    /// Steps taken: examples of a weight above 0.
    pub fn steps(&self) -> u64 {
        self.iterate.steps
    }

    /// Negatives and positives among them.
    pub fn counts(&self) -> [u64; 2] {
        self.counts
    }

    /// Features so far: the last one that was not 0, counted from 1.
    pub fn cols(&self) -> usize {
        self.iterate.weights.pairs.len()
    }

    /// What it minimises, and how.
    pub fn params(&self) -> &OlUbaucParams {
        &self.params
    }

    /// Whether features are scaled.
    pub fn scale(&self) -> RunningScale {
        match self.sizes {
            Some(_) => RunningScale::MaxAbs,
            None => RunningScale::None,
        }
    }

    /// Another η₀ for the steps to come. One that [`OlUbaucParams::check`] would refuse is not taken.
    pub fn set_eta0(&mut self, eta0: f64) {
        let params = OlUbaucParams {
            eta0,
            ..self.params
        };
        if params.check().is_ok() {
            self.params = params;
        }
    }
}

/// v, from the weights of both classes; 1 while there is only one.
pub(super) fn class_factor(
    least_squares: LeastSquares,
    totals: ClassWeights,
    positive: bool,
) -> f64 {
    let objective = Objective {
        beta: 1.0,
        gamma: 0.0,
        least_squares,
    };
    let [pos, neg] = objective.class_factors(totals);
    let both = totals.pos > 0.0 && totals.neg > 0.0 && pos.is_finite() && neg.is_finite();
    match (both, positive) {
        (false, _) => 1.0,
        (true, true) => pos,
        (true, false) => neg,
    }
}
