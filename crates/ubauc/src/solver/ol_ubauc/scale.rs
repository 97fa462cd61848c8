//! A running scale: learn in x_j/m_j, m_j = max |x_j| so far.
//!
//! Weights of x_j/m_j are w̃_j = m_j w_j. A step on x_j/m_j moves the raw w_j by k x_j/m_j². When m grows to m', what was
//! learned so far counts as if it had been learned with m': w_j ← w_j (m/m')², or w̃_j ← w̃_j m/m'. The average is made
//! of past weights and follows.
//!
//! Weights of a model to start from were learned elsewhere and stay as they are, but for decay: base_j are they, ζ what
//! decay left of them, and only w̃_j − ζ m_j base_j shrinks. A feature not seen yet (m_j = 0) has the weight ζ base_j.
//!
//! Where examples are forgotten m_j may fall. The largest values of a block of N examples (rounded up to a power of two, 1,024 or
//! more: O(d) once in N) and of the block before are kept; when a block ends, m_j becomes the larger of the two, the raw weight as
//! it is: w̃_j ← w̃_j m'/m. So m_j is the largest value of the last N to 2N examples. A feature that neither block has seen keeps
//! its m_j. (m_j ← max(ρ m_j, |x_j|) would grow and fall all the time, and every growth shrinks what was learned.)
//!
//! Normalised updates: Ross, Mineiro & Langford, UAI 2013, Sec. 3; their vw does so. m_j is at least 1e-300, so that
//! w̃_j/m_j is a number.

use serde::{Deserialize, Serialize};

use crate::solver::weights::{LARGEST, Weights};

/// Whether features of a stream are scaled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunningScale {
    /// As they come.
    None,
    /// By the largest |x_j| so far.
    #[default]
    MaxAbs,
}

/// Features smaller than this count as of this size.
const SMALLEST: f64 = 1e-300;

/// m_j, and the weights that a model brought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Sizes {
    /// m_j; 0 before a feature was seen.
    pub(super) largest: Vec<f64>,
    /// Shorter where no model brought any.
    pub(super) base: Vec<f64>,
    /// ζ.
    pub(super) kept: f64,
    /// Σ g ζ over the iterates averaged.
    pub(super) kept_sum: f64,
    /// The largest |x_j| of the last block and of this one; none where nothing is forgotten.
    pub(super) recent: Option<Vec<[f64; 2]>>,
}

impl Sizes {
    pub(super) fn new(forgets: bool) -> Sizes {
        Sizes {
            recent: forgets.then(Vec::new),
            largest: Vec::new(),
            base: Vec::new(),
            kept: 1.0,
            kept_sum: 0.0,
        }
    }

    /// Room for d features.
    pub(super) fn resize(&mut self, d: usize) {
        self.largest.resize(d, 0.0);
        if let Some(recent) = &mut self.recent {
            recent.resize(d, [0.0; 2]);
        }
    }

    /// Whether it can be the state of a learner of d features.
    pub(super) fn fits(&self, d: usize, forgets: bool) -> bool {
        let recent = self.recent.as_ref();
        self.largest.len() == d
            && self.base.len() <= d
            && recent.is_some() == forgets
            && recent.is_none_or(|recent| recent.len() == d)
    }

    /// The end of a block: values of the one before the last are forgotten.
    #[cold]
    pub(super) fn end_block(&mut self, weights: &mut Weights) {
        let Some(recent) = &mut self.recent else {
            return;
        };
        for (j, [before, now]) in recent.iter_mut().enumerate() {
            let (from, to) = (self.largest[j], before.max(*now));
            (*before, *now) = (*now, 0.0);
            if to > 0.0 && to < from {
                let factor = to / from;
                weights.set(j, weights.at(j) * factor, weights.sum_at(j) * factor);
                self.largest[j] = to;
            }
        }
    }

    pub(super) fn base_at(&self, j: usize) -> f64 {
        self.base.get(j).copied().unwrap_or(0.0)
    }

    /// x_j/m_j, m_j made large enough before.
    #[inline]
    pub(super) fn scaled(&mut self, j: usize, x: f64, weights: &mut Weights) -> f64 {
        if x.abs() > self.largest[j] {
            self.grow(j, x.abs().max(SMALLEST), weights);
        }
        x / self.largest[j]
    }

    /// m_j ← m_j + `by`, the raw weight as it is.
    #[cold]
    pub(super) fn widen(&mut self, j: usize, by: f64, weights: &mut Weights) {
        let from = self.largest[j];
        let to = (from + by).min(f64::MAX);
        if from > 0.0 && to > from {
            let factor = to / from;
            let scaled = |w: f64| (w * factor).clamp(-LARGEST, LARGEST);
            weights.set(j, scaled(weights.at(j)), scaled(weights.sum_at(j)));
            self.largest[j] = to;
        }
        if let Some(recent) = &mut self.recent {
            // Values so far are now larger by no more than that.
            let wider = recent[j].map(|m| if m > 0.0 { (m + by).min(f64::MAX) } else { m });
            recent[j] = wider;
        }
    }

    #[cold]
    fn grow(&mut self, j: usize, to: f64, weights: &mut Weights) {
        let from = self.largest[j];
        if from >= to {
            return;
        }
        let base = self.base_at(j);
        let moved = |learned_and_base: f64, kept: f64| {
            // A model's weight of 1e200 for a feature of 1e200 is cut rather than infinite.
            let base = (base * kept).clamp(-LARGEST / to, LARGEST / to);
            (learned_and_base - base * from) * (from / to) + base * to
        };
        let w = moved(weights.at(j), self.kept);
        let sum = moved(weights.sum_at(j), self.kept_sum);
        weights.set(j, w, sum);
        self.largest[j] = to;
    }
}
