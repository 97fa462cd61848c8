//! OAM, online AUC maximisation: each example against a sample of the other class.
//!
//! ```text
//! ℓ(w; x, x') = [1 − y w·(x − x')]₊,   (x, y) the example at hand, x' of the other class
//! ```
//!
//! A buffer holds a uniform sample of at most B examples of each class (`data/reservoir.rs`). Example (x_t, y_t) goes into
//! the buffer of its class, then is compared with the buffer of the other; neither sees the other, so the order is free.
//! The m examples there stand for the n of that class that came so far:
//!
//! ```text
//! C_t = C max(1, n/B)
//! ```
//!
//! * [`Update::Sequential`], OAMseq: for each x' of the buffer in turn, the passive-aggressive step: the minimum of
//!   ½‖w − w_now‖² + (C_t/2) ℓ(w; x_t, x'), which is
//!
//!   ```text
//!   w ← w + τ y_t (x_t − x'),   τ = min(C_t/2, ℓ/‖x_t − x'‖²)
//!   ```
//!
//! * [`Update::Gradient`], OAMgra: all compared at w_t, then one step along the subgradient,
//!
//!   ```text
//!   w ← w + (C_t/2) y_t Σ_{x' : ℓ > 0} (x_t − x')
//!   ```
//!
//! Identical examples, ‖x_t − x'‖ = 0, make no step. C_t, the halves and the order (buffer, then step) are taken from a public
//! re-implementation, not from the paper's own text; without the halves read 2C for C. At the kink ℓ = 0 it steps
//! in OAMgra, and here nothing does. The paper makes one pass. That n goes on counting in the next is ours:
//! C_t grows with the passes, so that more of them want a smaller C, and the last weights of many passes can be worse
//! than those of one.
//!
//! Nothing keeps w small: what is watched is the mean of ℓ over all pairs, at the weights that would be saved, without a
//! regulariser. These are the last iterate, as in the paper, or with [`OamParams::average`] the mean (w_1 + … + w_T)/T over
//! all T examples, which is what some re-implementations report. The sum is never written out: a change w ← w + δx while
//! example t is learned adds (t − 1)δx to a vector r, and then
//!
//! ```text
//! w_1 + … + w_T = T w_T − r
//! ```
//!
//! Cost of a step: m sparse dot products. OAMseq keeps w as v + a x_t: v·x' and x_t·x' come of one look at x', which also
//! gives ‖x_t − x'‖² = ‖x_t‖² + ‖x'‖² − 2 x_t·x', and only x' has to be added to v. Memory O(d) and 2B rows.
//!
//! [Zhao11]; passive-aggressive steps: Crammer et al., JMLR 2006.

use rand::SeedableRng;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::passes::{Online, Scored};
use super::stream::{Streaming, reserve};
use crate::data::generate::has_full_period;
use crate::data::reservoir::Reservoir;
use crate::data::rows::Row;
use crate::objective::pairwise;
use crate::{Error, Result};

/// How an example moves the weights.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Update {
    /// OAMseq: a step for each of the other class, one after the other.
    #[default]
    Sequential,
    /// OAMgra: one step for all of them.
    Gradient,
}

/// How to learn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OamParams {
    /// C > 0, the weight of the pairs: bounds the steps.
    pub c: f64,
    /// B ≥ 1, examples kept of each class.
    pub buffer: usize,
    /// How an example moves the weights.
    pub update: Update,
    /// Of the choice which examples are kept.
    pub seed: u64,
    /// The mean of the weights after each example, not the last ones.
    pub average: bool,
}

impl Default for OamParams {
    fn default() -> Self {
        OamParams {
            c: 1e-4,
            buffer: 100,
            update: Update::Sequential,
            seed: 0,
            average: false,
        }
    }
}

impl OamParams {
    /// Refuses what has no meaning, by name.
    pub fn check(&self) -> Result<()> {
        let refuse = |name, value: String, must| Err(Error::Parameter { name, value, must });
        if !(self.c > 0.0 && self.c.is_finite()) {
            return refuse("C", self.c.to_string(), "finite and above 0");
        }
        if self.buffer == 0 {
            return refuse("buffer", "0".to_string(), "at least 1");
        }
        Ok(())
    }
}

/// Weights, and a sample of each class.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Oam {
    params: OamParams,
    iterate: Iterate,
    /// Of the negatives and the positives.
    buffers: [Reservoir; 2],
    random: Pcg64,
    /// x_t written out; 0 between steps.
    #[serde(skip)]
    x: Vec<f64>,
    /// Places of the x' with ℓ > 0.
    #[serde(skip)]
    active: Vec<usize>,
}

/// w, and what its mean over the examples needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Iterate {
    w: Vec<f64>,
    /// r of the head comment; none without an average.
    late: Option<Vec<f64>>,
    /// Examples learned before the one at hand.
    before: u64,
}

impl Iterate {
    /// w ← w + step·x.
    fn add(&mut self, step: f64, x: Row<'_>) {
        x.add_to(step, &mut self.w);
        if let Some(late) = &mut self.late {
            x.add_to(self.before as f64 * step, late);
        }
    }

    fn weight(&self, j: usize) -> f64 {
        match &self.late {
            Some(late) if self.before > 0 => {
                let share = 1.0 / self.before as f64;
                self.w[j] - share * late[j]
            }
            _ => self.w[j],
        }
    }
}

/// The example at hand.
#[derive(Clone, Copy)]
struct Example<'a> {
    row: Row<'a>,
    y: f64,
    /// w·x.
    score: f64,
    norm_sq: f64,
    /// C_t/2.
    half_c: f64,
}

impl Oam {
    /// w = 0 of d features, and no example seen. Features beyond d are passed over.
    pub fn new(d: usize, params: &OamParams) -> Result<Oam> {
        params.check()?;
        Ok(Oam {
            params: *params,
            iterate: Iterate {
                w: vec![0.0; d],
                late: params.average.then(|| vec![0.0; d]),
                before: 0,
            },
            buffers: [(); 2].map(|()| Reservoir::new(params.buffer)),
            random: Pcg64::seed_from_u64(params.seed),
            x: vec![0.0; d],
            active: Vec::new(),
        })
    }

    pub(crate) fn update(&self) -> Update {
        self.params.update
    }

    fn write_out(&mut self, row: Row<'_>, keep: f64) {
        row.for_each(|j, x| {
            if let Some(place) = self.x.get_mut(j) {
                *place = keep * x;
            }
        });
    }

    fn sequential(&mut self, at: Example<'_>) {
        let other = &self.buffers[usize::from(at.y < 0.0)];
        // w = v + a x_t, with v where w was; `score` is w·x_t.
        let (mut a, mut score) = (0.0, at.score);
        for kept in other.kept() {
            let [of_v, cross] = kept.row().dots(&self.iterate.w, &self.x);
            let loss = 1.0 - at.y * (score - (of_v + a * cross));
            // Below 0 by rounding, or infinite: no step.
            let distance_sq = at.norm_sq + kept.norm_sq - 2.0 * cross;
            if loss > 0.0 && distance_sq > 0.0 {
                let step = at.y * at.half_c.min(loss / distance_sq);
                a += step;
                score += step * (at.norm_sq - cross);
                self.iterate.add(-step, kept.row());
            }
        }
        self.iterate.add(a, at.row);
    }

    fn gradient(&mut self, at: Example<'_>) {
        let other = &self.buffers[usize::from(at.y < 0.0)];
        self.active.clear();
        for (place, kept) in other.kept().iter().enumerate() {
            if 1.0 - at.y * (at.score - kept.row().dot(&self.iterate.w)) > 0.0 {
                self.active.push(place);
            }
        }
        let step = at.half_c * at.y;
        for &place in &self.active {
            self.iterate.add(-step, other.kept()[place].row());
        }
        let all = step * self.active.len() as f64;
        self.iterate.add(all, at.row);
    }
}

impl Online for Oam {
    fn learn(&mut self, x: Row<'_>, positive: bool) {
        self.write_out(x, 1.0);
        let [score, norm_sq] = x.dots(&self.iterate.w, &self.x);
        let class = usize::from(positive);
        self.buffers[class].offer(x, norm_sq, &mut self.random);
        let others = self.buffers[1 - class].seen() as f64;
        let c_t = self.params.c * (others / self.params.buffer as f64).max(1.0);
        let at = Example {
            row: x,
            y: if positive { 1.0 } else { -1.0 },
            score,
            norm_sq,
            half_c: c_t / 2.0,
        };
        match self.params.update {
            Update::Sequential => self.sequential(at),
            Update::Gradient => self.gradient(at),
        }
        self.write_out(x, 0.0);
        self.iterate.before = self.iterate.before.saturating_add(1);
    }

    fn weights(&self) -> Vec<f64> {
        (0..self.iterate.w.len()).map(|j| self.weight(j)).collect()
    }

    /// The mean of ℓ over all pairs; not a number where the scores are none.
    fn objective(&self, at: &Scored<'_>) -> f64 {
        pairwise::hinge(at.scores, at.positive).unwrap_or(f64::NAN)
    }
}

impl Streaming for Oam {
    fn grow(&mut self, cols: usize) -> Result<()> {
        let Iterate { w, late, .. } = &mut self.iterate;
        let vectors = [Some(w), late.as_mut(), Some(&mut self.x)];
        let mut vectors: Vec<_> = vectors.into_iter().flatten().collect();
        for vector in &mut vectors {
            reserve(vector, cols)?;
        }
        vectors.into_iter().for_each(|v| v.resize(cols, 0.0));
        Ok(())
    }

    fn weight(&self, j: usize) -> f64 {
        self.iterate.weight(j)
    }

    fn is_sound(&self, cols: usize) -> bool {
        let Iterate { w, late, .. } = &self.iterate;
        self.params.check().is_ok()
            && w.len() == cols
            && late.is_some() == self.params.average
            && late.as_ref().is_none_or(|late| late.len() == cols)
            && (self.buffers.iter()).all(|buffer| buffer.is_sound(self.params.buffer, cols))
            && has_full_period(&self.random)
    }
}
