//! Conjugate gradients for (H₀ + σX̃_AᵀX̃_A) x = right, where H₀ is not formed, and about the inverse of that matrix.
//!
//! Where features are many most rows share few of them, and what is left of H₀ beside its diagonal are the long rows: a row
//! with the weight βV_i puts an eigenvalue of about βV_i Σ_j x_ij²/D_j beside those of the diagonal D, which are 1. So rows in
//! which that is large, R, and the active ones are taken exactly, by Woodbury, and of the others the diagonal D′:
//!
//! ```text
//! M = D′ + UᵀWU,   U = (X_R, CX_A),   W = diag(βV_R, σ),   C = I − 11ᵀ/m
//! M⁻¹ = D′⁻¹ − D′⁻¹Uᵀ (W⁻¹ + U D′⁻¹ Uᵀ)⁻¹ U D′⁻¹
//! ```
//!
//! Too many active rows are left to the diagonal as well.

use std::borrow::Cow;

use super::BaUbaucParams;
use crate::Result;
use crate::data::rows::add_to;
use crate::solver::cholesky::Cholesky;
use crate::solver::conjugate_gradients::{Enough, MAX_ROUNDS, conjugate_gradients};
use crate::solver::shards::{Entries, Shards};

/// More rows than this are left to the diagonal: the square system over them would cost more than it saves.
const MAX_ROWS: usize = 1500;
/// Rows in R, at most; fewer where they are no more than may be moved.
const MAX_HEAVY: usize = 300;
/// Rows with an eigenvalue above this are in R.
const HEAVY: f64 = 2.0;
/// What D′ keeps of D at least.
const LEAST: f64 = 1e-6;
/// Numbers for each feature that may be moved from a remote shard for one Newton step; more stay where they are.
pub(super) const MOST_MOVED: f64 = 32.0;

/// v_i and the entries of the rows in R.
pub(super) type HeavyRows = Vec<(f64, Entries)>;

/// The rows in R of the matrix last prepared, taken from its diagonal D, which has a ridge in it and becomes D′. None of nested
/// features. The same rows wherever they are, so that a cluster takes the steps of one machine.
pub(super) fn take_heavy(
    shards: &mut Shards<'_>,
    diagonal: &mut [f64],
    ridge: f64,
) -> Result<HeavyRows> {
    if shards.nesting().is_some() {
        return Ok(Vec::new());
    }
    let most = MAX_HEAVY.min(most_moved(shards));
    let per: Vec<f64> = diagonal
        .iter()
        .map(|d| 1.0 / d.max(f64::MIN_POSITIVE))
        .collect();
    let heavy = shards.heavy_rows(&per, HEAVY, most)?;
    for (weight, row) in &heavy {
        for &(j, x) in row {
            diagonal[j as usize] -= weight * x * x;
        }
    }
    // What rounding has left is at least the ridge, or where there is none a small share.
    for (d, per) in diagonal.iter_mut().zip(per) {
        *d = d.max(ridge).max(LEAST / per);
    }
    Ok(heavy)
}

/// What is the same in all systems of a fit of the hinge.
pub(super) struct Rough {
    /// D′, means left on.
    diagonal: Vec<f64>,
    heavy: HeavyRows,
}

impl Rough {
    /// `diagonal` is that of H₀, with the ridge Nγ in it.
    pub(super) fn new(
        shards: &mut Shards<'_>,
        mut diagonal: Vec<f64>,
        (beta, ridge): (f64, f64),
    ) -> Result<Rough> {
        shards.prepare_squares(beta);
        let heavy = take_heavy(shards, &mut diagonal, ridge)?;
        Ok(Rough { diagonal, heavy })
    }

    /// Solves to the end that is asked for, in at most [`MAX_ROUNDS`]; σ = 0 is H₀ itself.
    pub(super) fn solve(
        &self,
        shards: &mut Shards<'_>,
        right: &[f64],
        sigma: f64,
        enough: Enough,
        params: &BaUbaucParams,
    ) -> Result<Vec<f64>> {
        let ridge = shards.total.sum() * params.gamma;
        let preconditioner = Preconditioner::of_rows(shards, self, sigma)?;
        let matrix = shards.newton_matrix(params.beta, sigma, params.intercept)?;
        let product = |p: &[f64]| {
            let mut product = shards.newton_product(&matrix, p)?;
            add_to(ridge, p, &mut product);
            Ok(product)
        };
        let precondition = |r: &[f64]| preconditioner.apply(r);
        let found = conjugate_gradients(right, enough, MAX_ROUNDS, precondition, product)?;
        Ok(found.x)
    }
}

/// See the head of the module.
pub(super) struct Preconditioner<'r> {
    /// 1/D′.
    inverse: Vec<f64>,
    /// Rows of X_R and X_A.
    heavy: Cow<'r, [(f64, Entries)]>,
    active: Vec<Entries>,
    /// Of W⁻¹ + U D′⁻¹ Uᵀ.
    factor: Option<Cholesky>,
}

impl<'r> Preconditioner<'r> {
    fn of_rows(
        shards: &mut Shards<'_>,
        rough: &'r Rough,
        sigma: f64,
    ) -> Result<Preconditioner<'r>> {
        let heavy = Cow::Borrowed(&rough.heavy[..]);
        let mut diagonal = rough.diagonal.clone();
        if sigma == 0.0 {
            return Ok(Preconditioner::new(diagonal, heavy, Vec::new(), sigma));
        }
        let active = match shards.active() + heavy.len() <= most_rows(shards) {
            true => shards.active_rows()?,
            false => {
                add_to(sigma, &shards.active_diagonal()?, &mut diagonal);
                Vec::new()
            }
        };
        Ok(Preconditioner::new(diagonal, heavy, active, sigma))
    }

    /// Of D′, R and A.
    pub(super) fn new(
        diagonal: Vec<f64>,
        heavy: Cow<'r, [(f64, Entries)]>,
        active: Vec<Entries>,
        sigma: f64,
    ) -> Preconditioner<'r> {
        let invert = |d: f64| 1.0 / d.max(f64::MIN_POSITIVE);
        let inverse: Vec<f64> = diagonal.into_iter().map(invert).collect();
        let rows: Vec<&Entries> = heavy.iter().map(|(_, row)| row).chain(&active).collect();
        let (r, m) = (heavy.len(), rows.len());
        let mut k = outer(&rows, &inverse);
        // C from both sides, of the active rows: the mean of each row of K over them, and the mean of those means.
        let mean_of = |row: &[f64]| row[r..].iter().sum::<f64>() / (m - r) as f64;
        let mean: Vec<f64> = k.chunks_exact(m.max(1)).map(mean_of).collect();
        let grand = mean[r..].iter().sum::<f64>() / (m - r) as f64;
        for i in r..m {
            for j in 0..=i {
                k[i * m + j] -= match j < r {
                    true => mean[j],
                    false => mean[i] + mean[j] - grand,
                };
            }
            k[i * m + i] += 1.0 / sigma;
        }
        for (i, (weight, _)) in heavy.iter().enumerate() {
            k[i * m + i] += 1.0 / weight;
        }
        Preconditioner {
            factor: Cholesky::new(k, m),
            inverse,
            heavy,
            active,
        }
    }

    pub(super) fn apply(&self, r: &[f64]) -> Vec<f64> {
        let mut s: Vec<f64> = r.iter().zip(&self.inverse).map(|(r, i)| r * i).collect();
        let rows = || self.heavy.iter().map(|(_, row)| row).chain(&self.active);
        let Some(factor) = self.factor.as_ref().filter(|_| rows().next().is_some()) else {
            return s;
        };
        let along = |row: &Entries| row.iter().map(|&(j, x)| x * s[j as usize]).sum();
        let mut a: Vec<f64> = rows().map(along).collect();
        centre(&mut a[self.heavy.len()..]);
        factor.solve(&mut a);
        centre(&mut a[self.heavy.len()..]);
        for (row, a) in rows().zip(a) {
            for &(j, x) in row {
                s[j as usize] -= a * x * self.inverse[j as usize];
            }
        }
        s
    }
}

/// The rows times D′⁻¹ times the rows, both triangles.
fn outer(rows: &[&Entries], inverse: &[f64]) -> Vec<f64> {
    let m = rows.len();
    let mut k = vec![0.0; m * m];
    let mut scattered = vec![0.0; inverse.len()];
    for (i, row) in rows.iter().enumerate() {
        row.iter()
            .for_each(|&(j, x)| scattered[j as usize] = x * inverse[j as usize]);
        for (j, other) in rows[..=i].iter().enumerate() {
            k[i * m + j] = other.iter().map(|&(j, x)| x * scattered[j as usize]).sum();
            k[j * m + i] = k[i * m + j];
        }
        row.iter().for_each(|&(j, _)| scattered[j as usize] = 0.0);
    }
    k
}

/// Rows that are worth a square system; of remote ones no more than may be moved.
fn most_rows(shards: &Shards<'_>) -> usize {
    match shards.is_remote() {
        true => MAX_ROWS.min(most_moved(shards)),
        false => MAX_ROWS,
    }
}

/// Rows of the usual length that are no more than [`MOST_MOVED`] numbers for each feature.
fn most_moved(shards: &Shards<'_>) -> usize {
    let of_row = shards.stored() as f64 / shards.rows.max(1) as f64;
    (MOST_MOVED * shards.cols() as f64 / of_row.max(1.0)) as usize
}

fn centre(a: &mut [f64]) {
    let mean = a.iter().sum::<f64>() / a.len() as f64;
    a.iter_mut().for_each(|a| *a -= mean);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_inverse_of_the_diagonal_with_both_kinds_of_rows() {
        let d = 7;
        let entry = |i: usize, j: usize| ((i * 31 + j * 17) % 11) as f64 / 3.0 - 1.5;
        let row = |i: usize| -> Entries {
            let some = (0..d).filter(|j| !(i + j).is_multiple_of(3));
            some.map(|j| (j as u32, entry(i, j))).collect()
        };
        let diagonal: Vec<f64> = (0..d).map(|j| 0.5 + j as f64).collect();
        let x: Vec<f64> = (0..d).map(|j| (j as f64).sin() + 0.3).collect();
        for (heavy, active) in [(3, 4), (0, 5), (4, 0), (0, 0), (2, 1)] {
            let heavy: HeavyRows = (0..heavy).map(|i| (0.5 + i as f64, row(i))).collect();
            let active: Vec<Entries> = (10..10 + active).map(row).collect();
            let sigma = 7.0;
            let dot = |row: &Entries| -> f64 { row.iter().map(|&(j, v)| v * x[j as usize]).sum() };
            let mut right: Vec<f64> = diagonal.iter().zip(&x).map(|(d, x)| d * x).collect();
            let mut add = |factor: f64, row: &Entries| {
                row.iter()
                    .for_each(|&(j, v)| right[j as usize] += factor * v);
            };
            heavy.iter().for_each(|(w, row)| add(w * dot(row), row));
            let mean = active.iter().map(dot).sum::<f64>() / active.len() as f64;
            active
                .iter()
                .for_each(|row| add(sigma * (dot(row) - mean), row));
            let of = Preconditioner::new(diagonal.clone(), Cow::Owned(heavy), active, sigma);
            let found = of.apply(&right);
            let error = found.iter().zip(&x).map(|(f, x)| (f - x).abs());
            assert!(error.fold(0.0, f64::max) < 1e-10);
        }
    }
}
