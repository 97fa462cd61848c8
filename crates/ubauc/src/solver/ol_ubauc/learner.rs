//! The learner of a stream: an example at a time, memory O(d), its state as bytes at any moment.

use serde::{Deserialize, Serialize};

use super::OlUbaucParams;
use super::iterate::Iterate;
use super::means::Means;
use super::scale::{RunningScale, Sizes};
use super::step::Example;
use crate::data::rows::Row;
use crate::forgetting::Forgetting;
use crate::objective::ubauc::{ClassWeight, ClassWeights};
use crate::solver::stream::raw_score;
use crate::solver::weights::Weights;
use crate::{Error, Result};

/// ol-UBAUC on a stream. The module's head tells what it minimises.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(remote = "Self")] // `state.rs` has the implementations, which check what they read
pub struct Learner {
    pub(super) params: OlUbaucParams,
    pub(super) iterate: Iterate,
    /// None where features are taken as they come.
    pub(super) sizes: Option<Sizes>,
    /// None without an intercept.
    pub(super) means: Option<Means>,
    /// Examples learned from, negatives first.
    pub(super) counts: [u64; 2],
    /// Their weights, those forgotten less.
    pub(super) totals: ClassWeights,
    /// None where all examples count alike.
    pub(super) forgetting: Option<Forgetting>,
    /// The current example, without zeros, scaled. Not part of the state.
    #[serde(skip)]
    pub(super) indices: Vec<u32>,
    #[serde(skip)]
    pub(super) values: Vec<f64>,
}

impl Learner {
    /// A learner that has seen nothing: all weights 0.
    pub fn new(params: &OlUbaucParams, scale: RunningScale) -> Result<Learner> {
        params.check()?;
        let forgetting = params.half_life.map(Forgetting::new).transpose()?;
        Ok(Learner {
            params: *params,
            iterate: Iterate::new(0),
            sizes: (scale == RunningScale::MaxAbs).then(|| Sizes::new(forgetting.is_some())),
            means: params.intercept.then(Means::default),
            counts: [0; 2],
            totals: ClassWeights::default(),
            forgetting,
            indices: Vec::new(),
            values: Vec::new(),
        })
    }

    /// The same for features that are centred already, or are to be taken as they are: there are no running means.
    pub fn of_centred(params: &OlUbaucParams, scale: RunningScale) -> Result<Learner> {
        let mut learner = Learner::new(params, scale)?;
        learner.means = None;
        Ok(learner)
    }

    /// Takes the means of features from elsewhere, before the first example: over `examples` examples, the sum of each
    /// feature and how often it was not 0. A learner of one part of the data is centred like those of the others with it.
    /// Ignored without an intercept; refused once there are means of its own.
    pub fn start_means(&mut self, examples: u64, sum: &[f64], count: &[u64]) -> Result<()> {
        if self.means.as_ref().is_some_and(|means| means.examples > 0) {
            return Err(Error::Numerical {
                what: "a learner that has seen examples has means of its own",
            });
        }
        let cols = sum.len().min(count.len());
        self.make_room(cols)?;
        if let Some(means) = &mut self.means {
            means.examples = examples;
            means.total = examples as f64;
            means.sum[..cols].copy_from_slice(&sum[..cols]);
            for (to, &n) in means.count.iter_mut().zip(&count[..cols]) {
                *to = n as f64;
            }
            means.select(&mut self.iterate, self.sizes.as_mut(), raw_weight);
        }
        Ok(())
    }

    /// Starts from a model: its weights for raw features, its intercept and its λ. Averages start over; the steps,
    /// the examples and the means so far stay counted. Without an intercept among the parameters `intercept` is left at
    /// its value.
    pub fn start_from(&mut self, weights: &[f64], intercept: f64, lambda: f64) {
        let steps = self.iterate.steps;
        let weight = |j: usize| weights.get(j).copied().unwrap_or(0.0);
        let offset = self.means.as_ref().map_or(0.0, |means| means.dot(weight));
        let known = self.means.as_ref().map_or(0, |means| means.centre.len());
        let cols = weights.len().max(known);
        self.iterate = Iterate {
            lambda: lambda - offset,
            intercept: intercept + offset,
            steps,
            ..Iterate::new(cols)
        };
        if let Some(means) = &mut self.means {
            means.resize(cols);
        }
        match &mut self.sizes {
            Some(sizes) => {
                *sizes = Sizes::new(self.forgetting.is_some());
                sizes.base = weights.to_vec();
                sizes.resize(cols);
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
    /// seen add 0. Where features are centred the sum is that of the raw ones, as the saved model makes it.
    pub fn score(&self, row: Row<'_>) -> f64 {
        if self.means.is_some() {
            return self.raw_score(row);
        }
        let mut sums = Products::default();
        let mut all_known = true;
        self.for_each_entry(row, |j, x| match self.scaled(j, x) {
            Some(x) => sums.add(x, self.iterate.weights.pairs[j]),
            None => all_known = false,
        });
        match all_known {
            true => self.score_by(&sums, row),
            false => self.raw_score(row),
        }
    }

    /// Every entry that counts, less its mean if it has one.
    #[inline]
    fn for_each_entry(&self, row: Row<'_>, mut entry: impl FnMut(usize, f64)) {
        match &self.means {
            Some(means) => means.for_each(row, entry),
            None => row
                .entries()
                .filter(|entry| entry.1 != 0.0)
                .for_each(|(j, x)| entry(j, x)),
        }
    }

    /// x_j/m_j of a feature that is no news: seen before, and not larger than then.
    #[inline]
    fn scaled(&self, j: usize, x: f64) -> Option<f64> {
        match &self.sizes {
            Some(sizes) => {
                let largest = *sizes.largest.get(j)?;
                (x.abs() <= largest).then(|| x / largest)
            }
            None => (j < self.cols() && x.is_finite()).then_some(x),
        }
    }

    /// The score, from the products with the scaled features.
    #[inline]
    fn score_by(&self, sums: &Products, row: Row<'_>) -> f64 {
        let Weights { scale, sum, .. } = self.iterate.weights;
        let last = scale * sums.u;
        let score = self.iterate.mean(sum * sums.u - sums.r, last) + self.iterate.mean_intercept();
        if score.is_finite() {
            score
        } else {
            self.raw_score(row)
        }
    }

    /// The same feature by feature, in raw units: for features that are new or larger than before, and for products
    /// that are no numbers, which are cut.
    #[cold]
    fn raw_score(&self, row: Row<'_>) -> f64 {
        raw_score(row, self.cols(), self.intercept(), |j| self.weight(j))
    }

    /// Learns from an example, and answers its score before that. New features join; an example of weight 0 is scored
    /// and otherwise ignored.
    ///
    /// Refuses features and weights that are not finite, and steps that would make the weights so, which only
    /// [`Step::Sgd`](super::Step::Sgd) can. The weights are as before the refusal, but for
    /// features that were larger than ever: the running scale has seen them.
    pub fn learn(&mut self, row: Row<'_>, positive: bool, weight: f64) -> Result<f64> {
        let raw_score = match self.means {
            Some(_) => {
                self.check(row, weight)?;
                Some(self.raw_score(row))
            }
            None => None,
        };
        let is_first = self.means.as_ref().is_some_and(|means| means.examples == 0);
        if is_first && weight != 0.0 {
            self.make_room_for(row)?;
            self.add_to_means(row);
        }
        let (score, sums) = match self.take_known(row) {
            Some(sums) => (raw_score.unwrap_or_else(|| self.score_by(&sums, row)), sums),
            None => {
                if raw_score.is_none() {
                    self.check(row, weight)?;
                }
                let score = raw_score.unwrap_or_else(|| self.score(row));
                if weight == 0.0 {
                    return Ok(score);
                }
                self.make_room_for(row)?;
                (score, self.take(row))
            }
        };
        if weight == 0.0 {
            return Ok(score);
        }
        self.check_weight(weight)?;
        let mut totals = self.totals;
        let mut t = self.iterate.steps.saturating_add(1) as f64;
        if let Some(forgetting) = &self.forgetting {
            t = forgetting.effective();
            totals.pos *= forgetting.keep();
            totals.neg *= forgetting.keep();
        }
        if positive {
            totals.pos += weight;
        } else {
            totals.neg += weight;
        }
        let (share, factor) = self.params.class_factors(totals, positive);
        let example = Example {
            y: if positive { 1.0 } else { -1.0 },
            weight: weight * share,
            factor,
            norm_sq: sums.norm_sq,
        };
        let plan = self.params.plan(&example, t);
        let after = self.params.average;
        let averaging = after.is_some_and(|after| self.iterate.steps >= after);
        let averaging = averaging.then_some(self.gain());
        let advance = self
            .iterate
            .advance(&self.params, &plan, sums.u, averaging)?;
        let x = Row::Sparse(&self.indices, &self.values);
        self.iterate.weights.add(advance.delta, x);
        if let Some(sizes) = &mut self.sizes {
            sizes.kept *= advance.kept;
            if let Some(gain) = averaging {
                sizes.kept_sum += gain * sizes.kept;
            }
        }
        self.note_sizes(row);
        if !is_first {
            self.add_to_means(row);
        }
        self.totals = totals;
        self.forget();
        let count = &mut self.counts[usize::from(positive)];
        *count = count.saturating_add(1);
        Ok(score)
    }

    /// g of the example at hand; 1 where all count alike.
    fn gain(&self) -> f64 {
        self.forgetting.as_ref().map_or(1.0, Forgetting::gain)
    }

    /// Remembers how large the values of this block are, where larger ones will be forgotten.
    fn note_sizes(&mut self, row: Row<'_>) {
        let recent = self.sizes.as_mut().and_then(|sizes| sizes.recent.take());
        let Some(mut recent) = recent else {
            return;
        };
        self.for_each_entry(row, |j, x| recent[j][1] = recent[j][1].max(x.abs()));
        if let Some(sizes) = &mut self.sizes {
            sizes.recent = Some(recent);
        }
    }

    /// An example is past: those before it count less.
    fn forget(&mut self) {
        let Some(forgetting) = &mut self.forgetting else {
            return;
        };
        let rescale = forgetting.advance();
        let end_of_block = forgetting.is_due(self.iterate.steps);
        if let Some(factor) = rescale {
            self.iterate.rescale(factor);
            if let Some(means) = &mut self.means {
                means.rescale(factor);
            }
        }
        if let Some(sizes) = &mut self.sizes {
            sizes.kept_sum *= rescale.unwrap_or(1.0);
            if end_of_block {
                sizes.end_block(&mut self.iterate.weights);
            }
        }
    }

    /// Counts the example into the running means.
    fn add_to_means(&mut self, row: Row<'_>) {
        let gain = self.gain();
        let Some(means) = &mut self.means else {
            return;
        };
        let (iterate, sizes) = (&mut self.iterate, &mut self.sizes);
        let moved = means.add(row, gain, |j| raw_weight(iterate, sizes.as_ref(), j));
        moved.apply(iterate);
        if means.is_due(self.forgetting.as_ref()) {
            means.select(iterate, sizes.as_mut(), raw_weight);
        }
    }

    /// Takes the row's entries that are not 0, scaled, and their products; none if one of them is news.
    #[inline]
    fn take_known(&mut self, row: Row<'_>) -> Option<Products> {
        let (mut indices, mut values) = self.emptied();
        let mut sums = Products::default();
        let mut all_known = true;
        self.for_each_entry(row, |j, x| match self.scaled(j, x) {
            Some(x) => {
                sums.add(x, self.iterate.weights.pairs[j]);
                indices.push(j as u32);
                values.push(x);
            }
            None => all_known = false,
        });
        (self.indices, self.values) = (indices, values);
        all_known.then_some(sums)
    }

    /// The memory of the example at hand.
    fn emptied(&mut self) -> (Vec<u32>, Vec<f64>) {
        self.indices.clear();
        self.values.clear();
        (
            std::mem::take(&mut self.indices),
            std::mem::take(&mut self.values),
        )
    }

    fn check(&self, row: Row<'_>, weight: f64) -> Result<()> {
        self.check_weight(weight)?;
        match row.entries().find(|(_, x)| !x.is_finite()) {
            Some((_, x)) => Err(self.refuse("a feature", x, "finite")),
            None => Ok(()),
        }
    }

    #[inline]
    fn check_weight(&self, weight: f64) -> Result<()> {
        if weight >= 0.0 && weight.is_finite() {
            return Ok(());
        }
        Err(self.refuse("weight", weight, "finite and not negative"))
    }

    fn refuse(&self, what: &'static str, value: f64, must: &'static str) -> Error {
        // Examples are counted as they come; messages count from 1.
        let row = self.counts[0].saturating_add(self.counts[1]) as usize;
        Error::NotFinite {
            what,
            row,
            value,
            must,
        }
    }

    /// The same, where there is room for all of them, with scales that grow as they must.
    fn take(&mut self, row: Row<'_>) -> Products {
        let (mut indices, mut values) = self.emptied();
        self.for_each_entry(row, |j, x| {
            indices.push(j as u32);
            values.push(x);
        });
        let mut sums = Products::default();
        for (&j, x) in indices.iter().zip(&mut values) {
            let j = j as usize;
            if let Some(sizes) = &mut self.sizes {
                *x = sizes.scaled(j, *x, &mut self.iterate.weights);
            }
            sums.add(*x, self.iterate.weights.pairs[j]);
        }
        (self.indices, self.values) = (indices, values);
        sums
    }

    fn make_room_for(&mut self, row: Row<'_>) -> Result<()> {
        let used = row.entries().filter(|entry| entry.1 != 0.0);
        used.last()
            .map_or(Ok(()), |(last, _)| self.make_room(last + 1))
    }

    fn make_room(&mut self, cols: usize) -> Result<()> {
        let pairs = &mut self.iterate.weights.pairs;
        if cols <= pairs.len() {
            return Ok(());
        }
        let what = "not enough memory for the weights of this many features";
        let no_room = |_| Error::Numerical { what };
        if u32::try_from(cols - 1).is_err() {
            return Err(Error::Numerical {
                what: "the index of a feature is above 2^32",
            });
        }
        // Room for all first: a refusal leaves them as long as each other.
        let more = cols - pairs.len();
        pairs.try_reserve(more).map_err(no_room)?;
        if let Some(means) = &mut self.means {
            means.try_reserve(more).map_err(no_room)?;
        }
        if let Some(sizes) = &mut self.sizes {
            sizes.largest.try_reserve(more).map_err(no_room)?;
            if let Some(recent) = &mut sizes.recent {
                recent.try_reserve(more).map_err(no_room)?;
            }
            sizes.resize(cols);
        }
        pairs.resize(cols, [0.0; 2]);
        if let Some(means) = &mut self.means {
            means.resize(cols);
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

    /// b, for raw features.
    pub fn intercept(&self) -> f64 {
        self.iterate.mean_intercept() - self.offset()
    }

    /// λ, in units of w·x of raw features.
    pub fn lambda(&self) -> f64 {
        self.iterate.mean_lambda() + self.offset()
    }

    /// w·μ.
    fn offset(&self) -> f64 {
        let means = self.means.as_ref();
        means.map_or(0.0, |means| means.dot(|j| self.weight(j)))
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

    /// As if this many examples were learned before: the next steps are that much smaller.
    pub fn set_steps(&mut self, steps: u64) {
        self.iterate.steps = steps;
        if let Some(forgetting) = &mut self.forgetting {
            forgetting.set_examples(steps);
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

/// The current weight of a raw feature, and the sum of those averaged.
fn raw_weight(iterate: &Iterate, sizes: Option<&Sizes>, j: usize) -> [f64; 2] {
    let (w, sum) = (iterate.weights.at(j), iterate.weights.sum_at(j));
    match sizes {
        None => [w, sum],
        Some(sizes) if sizes.largest[j] > 0.0 => [w / sizes.largest[j], sum / sizes.largest[j]],
        Some(sizes) => {
            let base = sizes.base_at(j);
            [base * sizes.kept, base * sizes.kept_sum]
        }
    }
}

/// Products of an example's scaled features, all in one go.
#[derive(Debug, Clone, Copy, Default)]
struct Products {
    /// u·x and r·x, see `weights.rs`.
    u: f64,
    r: f64,
    /// ‖x‖².
    norm_sq: f64,
}

impl Products {
    #[inline]
    fn add(&mut self, x: f64, [u, r]: [f64; 2]) {
        self.u += x * u;
        self.r += x * r;
        self.norm_sq += x * x;
    }
}

impl OlUbaucParams {
    /// What the weight of an example is multiplied by, and v, from the weights of both classes; 1 while there is only one.
    /// Balanced classes have the same weight, so that v is 1.
    pub(super) fn class_factors(&self, totals: ClassWeights, positive: bool) -> (f64, f64) {
        let shares = self.class_weight.factors(totals);
        let squares = match self.class_weight {
            ClassWeight::None => self.objective().class_factors(totals),
            ClassWeight::Balanced => [1.0, 1.0],
            ClassWeight::Ratio(_) => self.objective().class_factors(ClassWeights {
                pos: shares[0] * totals.pos,
                neg: shares[1] * totals.neg,
            }),
        };
        let both = totals.pos > 0.0 && totals.neg > 0.0;
        let of_class = |factors: [f64; 2]| match both && factors.iter().all(|x| x.is_finite()) {
            true => factors[usize::from(!positive)],
            false => 1.0,
        };
        (of_class(shares), of_class(squares))
    }
}
