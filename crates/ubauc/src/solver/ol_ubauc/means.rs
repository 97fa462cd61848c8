//! Running means: learn in x_j − μ_j, so that the offset of a feature does not matter.
//!
//! A feature like `age` is mostly its mean. A step along it as it is would be one along the mean, which says nothing of the
//! class, and the intercept could not keep up. With an intercept in the problem, features that are dense are
//! therefore centred: those that were not 0 in at least half of the examples so far, however rows are stored. Of the
//! others a mean would make every row dense, and the intercept does the work.
//!
//! An example is scored and learned with the means of those before it, and then joins them; the first one, before which
//! there are none, joins at once. Which features are dense is decided after 1, 2, 4, 8, … examples: O(d) work, seldom.
//!
//! Whenever μ_j moves by δ, w·(x − μ) loses w_j δ, so λ ← λ − w_j δ and b ← b + w_j δ keep the scores and the hinge as they
//! were; the sums of the averages follow likewise. A feature that becomes dense moves from 0 to its mean, one that is no
//! longer dense back to 0. Its running scale m_j then becomes m_j + |δ|, which no value exceeds, and w̃_j = m_j w_j with it.
//!
//! Where examples are forgotten, sums and counts are in growing units, Σ g_s x_s (`forgetting.rs`), and the share of an example in
//! the mean is g_t/Σ g_s = 1/n_t. Which features are dense is then decided for ever, after every N examples or so.
//!
//! Every example of a weight above 0 counts once, whatever its weight: any centre near the middle will do.

use std::collections::TryReserveError;

use serde::{Deserialize, Serialize};

use super::iterate::Iterate;
use super::scale::Sizes;
use crate::data::rows::Row;
use crate::forgetting::Forgetting;
use crate::solver::ordered::for_each_with;
use crate::solver::weights::LARGEST;

/// What is known of every feature.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Means {
    /// Examples seen.
    pub(super) examples: u64,
    /// Σ g over them, which is their number where none is forgotten.
    pub(super) total: f64,
    /// μ_j of dense features, 0 of the others.
    pub(super) centre: Vec<f64>,
    /// Σ g x_j.
    pub(super) sum: Vec<f64>,
    /// Σ g of the examples in which x_j was not 0.
    pub(super) count: Vec<f64>,
    /// The dense features, ascending.
    pub(super) dense: Vec<usize>,
}

/// By how much the scores of the current weights, and the sum of those of the weights averaged, moved.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moved {
    now: f64,
    averaged: f64,
}

impl Moved {
    fn add(&mut self, [now, averaged]: [f64; 2], delta: f64) {
        self.now += now * delta;
        self.averaged += averaged * delta;
    }

    /// λ and b take it up.
    pub(super) fn apply(self, iterate: &mut Iterate) {
        // A mean of 1e300 may mean nothing as a score; b and λ then stay.
        if self.now.abs() <= LARGEST && self.averaged.abs() <= LARGEST {
            iterate.lambda -= self.now;
            iterate.lambda_sum -= self.averaged;
            iterate.intercept += self.now;
            iterate.intercept_sum += self.averaged;
        }
    }
}

impl Means {
    /// Whether it can be the state of a learner of d features.
    pub(super) fn fits(&self, d: usize) -> bool {
        let lengths = [self.centre.len(), self.sum.len(), self.count.len()];
        let is_dense = |j: &usize| self.dense.binary_search(j).is_ok();
        lengths == [d; 3]
            && self.dense.is_sorted_by(|a, b| a < b)
            && self.dense.iter().all(|&j| j < d)
            && (0..d).all(|j| self.centre[j] == 0.0 || is_dense(&j))
            && self.centre.iter().all(|x| x.is_finite())
            && self.count.iter().all(|n| (0.0..=self.total).contains(n))
    }

    pub(super) fn try_reserve(&mut self, more: usize) -> Result<(), TryReserveError> {
        self.centre.try_reserve(more)?;
        self.sum.try_reserve(more)?;
        self.count.try_reserve(more)
    }

    /// Room for d features.
    pub(super) fn resize(&mut self, d: usize) {
        self.centre.resize(d, 0.0);
        self.sum.resize(d, 0.0);
        self.count.resize(d, 0.0);
    }

    /// Counts an example in with the weight g; there is room for its features. `raw` are the current weight of a raw feature and
    /// the sum of those averaged.
    pub(super) fn add(
        &mut self,
        row: Row<'_>,
        gain: f64,
        raw: impl Fn(usize) -> [f64; 2],
    ) -> Moved {
        self.examples = self.examples.saturating_add(1);
        self.total += gain;
        for (j, x) in row.entries().filter(|entry| entry.1 != 0.0) {
            self.sum[j] += gain * x;
            self.count[j] += gain;
        }
        let mut moved = Moved::default();
        let share = gain / self.total;
        let mut dense = self.dense.iter().copied().peekable();
        for_each_with(row, &self.dense, |j, x| {
            if dense.next_if_eq(&j).is_some() {
                // Each term apart: their difference may be no number.
                let delta = x * share - self.centre[j] * share;
                self.centre[j] += delta;
                moved.add(raw(j), delta);
            }
        });
        moved
    }

    /// Whether it is time to decide which features are dense.
    pub(super) fn is_due(&self, forgetting: Option<&Forgetting>) -> bool {
        let again = forgetting.is_some_and(|forgetting| forgetting.is_due(self.examples));
        self.examples.is_power_of_two() || again
    }

    /// All sums times a power of two.
    #[cold]
    pub(super) fn rescale(&mut self, factor: f64) {
        self.total *= factor;
        for x in self.sum.iter_mut().chain(&mut self.count) {
            *x *= factor;
        }
    }

    /// Decides it.
    pub(super) fn select(
        &mut self,
        iterate: &mut Iterate,
        mut sizes: Option<&mut Sizes>,
        raw: impl Fn(&Iterate, Option<&Sizes>, usize) -> [f64; 2],
    ) {
        let mut moved = Moved::default();
        let mut was_dense = std::mem::take(&mut self.dense).into_iter().peekable();
        for j in 0..self.centre.len() {
            let was = was_dense.next_if_eq(&j).is_some();
            let mean = self.sum[j] / self.total;
            let often = 2.0 * self.count[j] >= self.total;
            let is = often && mean.is_finite();
            if is {
                self.dense.push(j);
            }
            if was == is {
                continue;
            }
            let delta = if is { mean } else { -self.centre[j] };
            self.centre[j] = if is { mean } else { 0.0 };
            moved.add(raw(iterate, sizes.as_deref(), j), delta);
            if let Some(sizes) = sizes.as_deref_mut() {
                sizes.widen(j, delta.abs(), &mut iterate.weights);
            }
        }
        moved.apply(iterate);
    }

    /// Every feature that the row has or that is dense, with its value less the mean; zeros are left out.
    #[inline]
    pub(super) fn for_each(&self, row: Row<'_>, mut entry: impl FnMut(usize, f64)) {
        for_each_with(row, &self.dense, |j, x| {
            let centre = self.centre.get(j).copied().unwrap_or(0.0);
            let centred = (x - centre).clamp(f64::MIN, f64::MAX);
            if centred != 0.0 {
                entry(j, centred);
            }
        });
    }

    /// Σ_j w_j μ_j over the dense features.
    pub(super) fn dot(&self, weight: impl Fn(usize) -> f64) -> f64 {
        self.dense.iter().map(|&j| weight(j) * self.centre[j]).sum()
    }
}
