//! Numbers of the soft loss: u_i = −s_i y_i φ'(t_i) and h_i = s_i φ''(t_i) at t_i = y_i(λ − z_i).

use super::blocks::write;
use super::numbers::sums;
use super::signed::PIECE;
use super::{Shard, at, made, square_weight, zeros};
use crate::data::rows::{Power, Row, Rows};
use crate::objective::loss::Loss;
use crate::solver::gram::Gram;
use crate::solver::shards::message::Block;

/// No column of the block.
const NOWHERE: u32 = u32::MAX;

/// The answer to [`Query::BlockGram`](super::Query::BlockGram), as it is summed.
pub(in crate::solver::shards) struct BlockSums {
    /// Σ V_i and Σ h_i.
    weights: [f64; 2],
    /// Σ V_i x_i.
    of_squares: Vec<f64>,
    /// Σ h_i x_i.
    of_curvature: Vec<f64>,
    /// Σ v_i x_i x_iᵀ.
    gram: Gram,
}

impl BlockSums {
    /// Of this many columns.
    pub(in crate::solver::shards) fn new(columns: usize) -> BlockSums {
        BlockSums {
            weights: [0.0; 2],
            of_squares: vec![0.0; columns],
            of_curvature: vec![0.0; columns],
            gram: Gram::new(columns),
        }
    }

    pub(in crate::solver::shards) fn write(self, out: &mut Vec<f64>) {
        out.extend(self.weights);
        out.extend(self.of_squares);
        out.extend(self.of_curvature);
        out.extend(self.gram.packed());
    }
}

impl Shard {
    /// Keeps u, h and Σ s_i φ at λ.
    pub(super) fn set_soft(&mut self, lambda: f64, softness: f64) {
        let loss = Loss::Soft { softness };
        self.keeps_multipliers = false;
        if self.u.is_empty() {
            self.u = std::mem::take(&mut self.dz);
        }
        let n = self.z.len();
        let Shard {
            z,
            u,
            candidates,
            signed,
            ..
        } = self;
        let [u, candidates] = [u, candidates].map(|numbers| made(numbers, n));
        let pieces = z.chunks(PIECE).zip(u.chunks_mut(PIECE));
        let pieces = pieces.zip(candidates.chunks_mut(PIECE)).enumerate();
        let (mut value, mut buffer) = (0.0, [0.0; PIECE]);
        for (piece, ((z, u), h)) in pieces {
            let first = piece * PIECE;
            let signed = signed.piece(first..first + z.len(), &mut buffer);
            for (((z, signed), u), h) in z.iter().zip(signed).zip(u).zip(h) {
                let at = loss.at(sign(*signed) * (lambda - *z));
                *u = -*signed * at.multiplier;
                *h = signed.abs() * at.curvature;
                value += signed.abs() * at.value;
            }
        }
        self.loss = value;
    }

    /// v = βV + h, from now on.
    pub(super) fn prepare_soft_product(&mut self, beta: f64) {
        made(&mut self.candidates, self.z.len());
        self.soft_beta = Some(beta);
    }

    /// Σ s_i φ, Σ s_i y_i φ', Σ s_i φ'' at z + t dz.
    pub(super) fn soft(&self, t: f64, lambda: f64, softness: f64) -> [f64; 3] {
        let loss = Loss::Soft { softness };
        let term = |signed: f64, z: f64, dz: f64| {
            let at = loss.at(sign(signed) * (lambda - (z + t * dz)));
            let s = signed.abs();
            [s * at.value, signed * at.multiplier, s * at.curvature]
        };
        let signed = (&self.signed, 0);
        match t == 0.0 || self.dz.is_empty() {
            // dz need not be known.
            true => sums([&self.z, &self.z], signed, |s, z, _| term(s, z, 0.0)),
            false => sums([&self.z, &self.dz], signed, term),
        }
    }

    /// The same without Σ s_i φ, which costs a logarithm a row.
    pub(super) fn soft_slope(&self, t: f64, lambda: f64, softness: f64) -> [f64; 3] {
        let loss = Loss::Soft { softness };
        let term = |signed: f64, z: f64, dz: f64| {
            let at = loss.at(sign(signed) * (lambda - (z + t * dz)));
            [signed * at.multiplier, signed.abs() * at.curvature]
        };
        let signed = (&self.signed, 0);
        let [slope, curvature] = match t == 0.0 || self.dz.is_empty() {
            true => sums([&self.z, &self.z], signed, |s, z, _| term(s, z, 0.0)),
            false => sums([&self.z, &self.dz], signed, term),
        };
        [0.0, slope, curvature]
    }

    /// Σ s_i φ, Σ h_i, Σ [u_i]₊, Σ [−u_i]₊, Σ u_i²/V_i.
    pub(super) fn soft_multipliers(&self) -> [f64; 5] {
        let factors = self.factors;
        let numbers = [&self.u, &self.candidates].map(Vec::as_slice);
        let [h, up, down, squares] = sums(numbers, (&self.signed, 0), |signed, u, h| {
            let weight = square_weight(factors, signed).max(f64::MIN_POSITIVE);
            [h, u.max(0.0), (-u).max(0.0), u * u / weight]
        });
        [self.loss, h, up, down, squares]
    }

    pub(super) fn soft_gradient(&self, rows: &Rows, beta: f64, b: f64, out: &mut Vec<f64>) {
        let (sum, curvature) = zeros(out, 2 * self.cols).split_at_mut(self.cols);
        let pull = |signed: f64, u: f64, z: f64| {
            let weight = beta * square_weight(self.factors, signed);
            u + weight * (z + b - sign(signed))
        };
        let is_known = !self.u.is_empty() && !self.candidates.is_empty();
        if let (Rows::Coded(coded), true) = (rows, is_known) {
            let mut signs = [0.0; PIECE];
            let sums = self.coded_sums(coded, Power::One, |block, [pulls, curvature]| {
                let signed = self.signed.piece(block.clone(), &mut signs);
                let numbers = self.u[block.clone()].iter().zip(&self.z[block.clone()]);
                for ((out, (u, z)), s) in pulls.iter_mut().zip(numbers).zip(signed) {
                    *out = pull(*s, *u, *z);
                }
                curvature.copy_from_slice(&self.candidates[block]);
            });
            write(&sums, 0, sum);
            write(&sums, 1, curvature);
            return;
        }
        let rows = self.centred(rows);
        for (k, i) in self.places().enumerate() {
            let row = rows.row(i);
            let pull = pull(self.signed.at(k), at(&self.u, k), self.z[k]);
            let h = at(&self.candidates, k);
            row.add_to_both([pull, h], [&mut *sum, &mut *curvature]);
        }
    }

    /// The rows of a block, to its sums.
    pub(in crate::solver::shards) fn add_block(
        &self,
        rows: &Rows,
        block: &Block,
        sums: &mut BlockSums,
    ) {
        let rows = self.centred(rows);
        // Where each column is in the block.
        let mut place = vec![NOWHERE; self.cols];
        for (at, &j) in block.columns.iter().enumerate() {
            place[j as usize] = at as u32;
        }
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        let mut since = 0.0;
        for (k, i) in self.places().enumerate() {
            let own = self.product_weight(k);
            since += own;
            if own == 0.0 || since < block.stride {
                continue;
            }
            since %= block.stride.max(f64::MIN_POSITIVE);
            let v = own.max(block.stride);
            let square = self.square(k) * (v / own);
            let h = at(&self.candidates, k) * (v / own);
            let row = rows.row(i);
            sums.weights[0] += square;
            sums.weights[1] += h;
            if block.columns.is_empty() {
                row.add_to(square, &mut sums.of_squares);
                row.add_to(h, &mut sums.of_curvature);
                sums.gram.add(v, row);
                continue;
            }
            indices.clear();
            values.clear();
            for (j, x) in row.entries() {
                if place[j] != NOWHERE {
                    indices.push(place[j]);
                    values.push(x);
                }
            }
            let part = Row::Sparse(&indices, &values);
            part.add_to(square, &mut sums.of_squares);
            part.add_to(h, &mut sums.of_curvature);
            match row.row {
                Row::Dense(_) => sums.gram.add_dense(v, values.iter().copied()),
                Row::Sparse(..) | Row::Coded { .. } => sums.gram.add_sparse(v, &indices, &values),
            }
        }
    }

    /// Σ V_i (z_i + b − y_i) dz_i.
    pub(super) fn soft_along(&self, b: f64) -> [f64; 1] {
        let factors = self.factors;
        sums([&self.z, &self.dz], (&self.signed, 0), |signed, z, dz| {
            [square_weight(factors, signed) * (z + b - sign(signed)) * dz]
        })
    }
}

/// y.
#[inline]
fn sign(signed: f64) -> f64 {
    1f64.copysign(signed)
}
