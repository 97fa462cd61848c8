//! w = a·u, decayed in O(1), with the sum of all its past values at hand.
//!
//! A step w ← D·w + k·x is a ← D·a, u ← u + δx with δ = k/a. With A = Σ a_k over the iterates averaged so far,
//! or Σ γ_k a_k if they are weighted,
//!
//! ```text
//! Σ_k w_k = A u − r,   r ← r + Aδx at every step, A as it was before,
//! ```
//!
//! since (A + a)u' − r' = (A u − r) + a u' = Σ_k w_k + w'. So the average, too, costs O(nnz(x)). u_j and r_j lie side
//! by side, in one line of the cache.
//!
//! Where |a| leaves [2⁻¹⁰, 2¹⁰] all is folded: r ← r − A u, A ← 0, u ← a u, a ← 1, which changes neither w nor the sum and
//! costs O(d). A u is therefore never more than 2¹⁰ times its difference from r, or three digits lost of the sixteen.
//!
//! For the projection ‖w‖² is kept up to date, ‖Dw + kx‖² = D²‖w‖² + 2Dk w·x + k²‖x‖², and recomputed after every
//! max(d, 1024) steps, before rounding can tell.

use serde::{Deserialize, Serialize};

use crate::data::rows::Row;

/// a stays within 1/FOLD and FOLD.
const FOLD: f64 = 1024.0;
/// ‖w‖² is recomputed after at least this many steps.
const RECOMPUTE_EVERY: u64 = 1024;
/// No u beyond this; sums of products of two such numbers and a score are still numbers.
pub(super) const LARGEST: f64 = 1e140;

/// w, and the sum of its past values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Weights {
    /// (u_j, r_j).
    pub(super) pairs: Vec<[f64; 2]>,
    /// a.
    pub(super) scale: f64,
    /// A.
    pub(super) sum: f64,
    /// ‖w‖², if it is kept.
    pub(super) norm_sq: f64,
    /// Steps since it was made.
    pub(super) age: u64,
}

impl Weights {
    pub(super) fn new(d: usize) -> Weights {
        Weights {
            pairs: vec![[0.0; 2]; d],
            scale: 1.0,
            sum: 0.0,
            norm_sq: 0.0,
            age: 0,
        }
    }

    /// w_j.
    pub(super) fn at(&self, j: usize) -> f64 {
        self.pairs.get(j).map_or(0.0, |pair| self.scale * pair[0])
    }

    /// Σ_k w_kj.
    pub(super) fn sum_at(&self, j: usize) -> f64 {
        let sum = |pair: &[f64; 2]| self.sum * pair[0] - pair[1];
        self.pairs.get(j).map_or(0.0, sum)
    }

    /// Σ_k w_k times a number.
    pub(super) fn rescale_sums(&mut self, factor: f64) {
        self.sum *= factor;
        for pair in &mut self.pairs {
            pair[1] *= factor;
        }
    }

    /// Replaces w_j and Σ_k w_kj.
    pub(super) fn set(&mut self, j: usize, w: f64, sum: f64) {
        let old = self.at(j);
        let u = w / self.scale;
        self.pairs[j] = [u, self.sum * u - sum];
        self.norm_sq = (self.norm_sq + (w * w - old * old)).max(0.0);
    }

    /// u·x. Every column of x has its weight.
    #[inline(always)]
    pub(super) fn product(&self, x: Row<'_>) -> f64 {
        match x {
            Row::Dense(values) => dense_dot(values, &self.pairs),
            Row::Sparse(indices, values) => sparse_dot(indices, values, &self.pairs),
            Row::Coded { values, codes } => {
                let numbers = values.iter().zip(&self.pairs);
                let of_numbers: f64 = numbers.map(|(x, pair)| x * pair[0]).sum();
                of_numbers + codes.cells().map(|j| self.pairs[j][0]).sum::<f64>()
            }
        }
    }

    /// w ← D·w. False, with nothing changed, where w would leave the numbers.
    #[inline]
    pub(super) fn decay(&mut self, d: f64) -> bool {
        let scale = self.scale * d;
        if (1.0 / FOLD..=FOLD).contains(&scale.abs()) {
            self.scale = scale;
            return true;
        }
        self.fold(scale)
    }

    /// w ← scale·u, with a = 1.
    #[cold]
    fn fold(&mut self, scale: f64) -> bool {
        let fits = |pair: &[f64; 2]| (scale * pair[0]).abs() <= LARGEST;
        if !self.pairs.iter().all(fits) {
            return false;
        }
        for [u, r] in &mut self.pairs {
            *r -= self.sum * *u;
            *u *= scale;
        }
        self.scale = 1.0;
        self.sum = 0.0;
        true
    }

    /// δ and Aδ of a move by k along some x; [`Weights::add`] makes it.
    #[inline]
    pub(super) fn delta(&self, k: f64) -> [f64; 2] {
        // The quotient does not wait for k.
        let delta = k * (1.0 / self.scale);
        [delta, self.sum * delta]
    }

    /// u ← u + δx, r ← r + Aδx. Every column of x has its weight.
    #[inline(always)]
    pub(super) fn add(&mut self, [delta, carried]: [f64; 2], x: Row<'_>) {
        let pairs = self.pairs.as_mut_slice();
        match x {
            Row::Dense(values) => {
                for (pair, &x) in pairs.iter_mut().zip(values) {
                    pair[0] += delta * x;
                    pair[1] += carried * x;
                }
            }
            Row::Coded { .. } => x.for_each(|j, x| {
                pairs[j][0] += delta * x;
                pairs[j][1] += carried * x;
            }),
            Row::Sparse(indices, values) if carried == 0.0 => {
                for (&j, &x) in indices.iter().zip(values) {
                    pairs[j as usize][0] += delta * x;
                }
            }
            Row::Sparse(indices, values) => {
                for (&j, &x) in indices.iter().zip(values) {
                    let pair = &mut pairs[j as usize];
                    pair[0] += delta * x;
                    pair[1] += carried * x;
                }
            }
        }
    }

    /// Recomputes ‖w‖² if it is due.
    #[inline]
    pub(super) fn refresh_norm(&mut self) {
        self.age = self.age.saturating_add(1);
        if self.age >= RECOMPUTE_EVERY.max(self.pairs.len() as u64) {
            self.make_norm();
        }
    }

    pub(super) fn make_norm(&mut self) {
        let square: f64 = self.pairs.iter().map(|pair| pair[0] * pair[0]).sum();
        self.norm_sq = self.scale * self.scale * square;
        self.age = 0;
    }
}

/// Σ x_j u_j, four sums side by side.
#[inline]
fn sparse_dot(indices: &[u32], values: &[f64], pairs: &[[f64; 2]]) -> f64 {
    let at = |j: u32| pairs[j as usize][0];
    let (i4, v4) = (indices.chunks_exact(4), values.chunks_exact(4));
    let rest = i4.remainder().iter().zip(v4.remainder());
    let rest: f64 = rest.map(|(&j, x)| x * at(j)).sum();
    let mut sums = [0.0; 4];
    for (i, v) in i4.zip(v4) {
        for lane in 0..4 {
            sums[lane] += v[lane] * at(i[lane]);
        }
    }
    rest + ((sums[0] + sums[1]) + (sums[2] + sums[3]))
}

/// The same over all columns.
#[inline]
fn dense_dot(values: &[f64], pairs: &[[f64; 2]]) -> f64 {
    let n = values.len().min(pairs.len());
    let (v4, p4) = (values[..n].chunks_exact(4), pairs[..n].chunks_exact(4));
    let rest = v4.remainder().iter().zip(p4.remainder());
    let rest: f64 = rest.map(|(x, pair)| x * pair[0]).sum();
    let mut sums = [0.0; 4];
    for (v, p) in v4.zip(p4) {
        for lane in 0..4 {
            sums[lane] += v[lane] * p[lane][0];
        }
    }
    rest + ((sums[0] + sums[1]) + (sums[2] + sums[3]))
}
