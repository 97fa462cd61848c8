//! The Newton system (H₀ + σX̃_AᵀX̃_A) p = −∇φ, by a factor or without.
//!
//! With m = |A| rows and C = I − 11ᵀ/m, X̃_A = C X_A. Three ways, by cost:
//!
//! - m = 0: p = −H₀⁻¹∇φ, which the certificate has computed already;
//! - *direct*: form the d×d matrix and factor it, d³/3 + the entries of A squared;
//! - *Woodbury*, when m is well below d: with Y = L⁻¹X_Aᵀ (H₀ = LLᵀ) and K = YᵀY,
//!   `p = −L⁻ᵀ( r − Y C (I/σ + CKC)⁻¹ C Yᵀ r )`, r = L⁻¹∇φ; m d² + m² d + m³/3;
//!
//! and for large d, where H₀ is not formed at all, conjugate gradients: a product with X and one with Xᵀ a round
//! (`preconditioner.rs`). Where rows are remote and the matrix of the active ones is too much to move, conjugate
//! gradients with H₀ as preconditioner: d numbers a round.

use super::BaUbaucParams;
use super::exact::Status;
use super::preconditioner::{MOST_MOVED, Rough};
use super::rounding::Rounding;
use crate::data::rows::{add_to, dot};
use crate::solver::cholesky::Cholesky;
use crate::solver::conjugate_gradients::{Enough, MAX_ROUNDS, conjugate_gradients};
use crate::solver::shards::{Evaluation, Moments, Shards};
use crate::{Error, Result};

/// Conjugate gradients for a Newton step stop at this part of [`Enough::Gain`].
const FORCING: f64 = 0.05;
/// With more features no matrix of them is brought here from remote shards.
const MAX_REMOTE_FACTOR: f64 = 3000.0;

/// Form and factor H₀, or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    Factor,
    ConjugateGradients,
}

impl Route {
    /// Estimated multiplications of each: the Gram matrix and some factorisations, or some hundred
    /// products with X and Xᵀ.
    pub(super) fn cheapest(shards: &Shards<'_>) -> Route {
        let d = shards.cols() as f64;
        let n = shards.rows as f64;
        let stored = shards.stored() as f64;
        let factor = stored * stored / n / 2.0 + d * d * d;
        let products = 1000.0 * 2.0 * stored;
        let most = if shards.is_remote() {
            MAX_REMOTE_FACTOR
        } else {
            4096.0
        };
        if d <= 256.0 || (factor < products && d <= most) {
            Route::Factor
        } else {
            Route::ConjugateGradients
        }
    }
}

/// What is known of q.
pub(super) enum System {
    Factor(Box<Factored>),
    ConjugateGradients(Matrixless),
}

pub(super) struct Matrixless {
    rough: Rough,
    rounding: Rounding,
}

pub(super) struct Factored {
    /// H₀, both triangles.
    h0: Vec<f64>,
    factor: Cholesky,
    c: Vec<f64>,
    /// A ridge had to be added for H₀ to have a factor, or rounding is as large as a pivot: nothing can be certified.
    shaken: bool,
    rounding: Rounding,
}

impl System {
    /// With moments, H₀ is formed and factored.
    pub(super) fn new(
        shards: &mut Shards<'_>,
        params: &BaUbaucParams,
        moments: Option<&Moments>,
    ) -> Result<System> {
        let ridge = shards.total.sum() * params.gamma;
        match moments {
            Some(moments) => Ok(System::Factor(Box::new(Factored::new(
                moments,
                params.beta,
                ridge,
                shards.rows,
            )?))),
            None => {
                let mut diagonal = shards.square_diagonal(params.beta)?;
                let rounding = Rounding::new(diagonal.iter().copied(), shards.rows).of_ridge(ridge);
                diagonal.iter_mut().for_each(|x| *x += ridge);
                let rough = Rough::new(shards, diagonal, (params.beta, ridge))?;
                Ok(System::ConjugateGradients(Matrixless { rough, rounding }))
            }
        }
    }

    /// Is [`System::distance`] a bound, and not an estimate?
    pub(super) fn certifies(&self, params: &BaUbaucParams) -> bool {
        match self {
            System::Factor(f) => !f.shaken,
            System::ConjugateGradients(_) => params.gamma > 0.0,
        }
    }

    pub(super) fn rounding(&self) -> &Rounding {
        match self {
            System::Factor(f) => &f.rounding,
            System::ConjugateGradients(m) => &m.rounding,
        }
    }

    /// The minimiser of q, to start from; 0 where that is not to be had cheaply.
    pub(super) fn ridge(
        &self,
        shards: &mut Shards<'_>,
        params: &BaUbaucParams,
    ) -> Result<Vec<f64>> {
        match self {
            System::Factor(f) => {
                let mut w = f.c.clone();
                f.factor.solve(&mut w);
                Ok(w)
            }
            System::ConjugateGradients(Matrixless { rough, .. }) => {
                let mut c = shards.target(params.intercept)?;
                c.iter_mut().for_each(|x| *x *= params.beta);
                rough.solve(shards, &c, 0.0, Enough::Gain(FORCING), params)
            }
        }
    }

    /// Whether the gradient of the least squares is to be summed over the rows.
    pub(super) fn sums_gradient(&self) -> bool {
        matches!(self, System::ConjugateGradients(_))
    }

    /// ∇q(w) and q(w), from what was seen of the rows at w: q is a sum of squares over them, nothing cancels.
    pub(super) fn quadratic(
        &self,
        found: &Evaluation,
        w: &[f64],
        n: f64,
        params: &BaUbaucParams,
    ) -> (Vec<f64>, f64) {
        let ridge = n * params.gamma;
        let value = 0.5 * (params.beta * found.squares + ridge * dot(w, w));
        let gradient = match (self, &found.gradient) {
            (System::Factor(f), _) => {
                let mut gradient = f.times(w);
                add_to(-1.0, &f.c, &mut gradient);
                gradient
            }
            (_, gradient) => {
                let mut sum: Vec<f64> = w.iter().map(|w| ridge * w).collect();
                add_to(
                    params.beta,
                    gradient.as_deref().unwrap_or_default(),
                    &mut sum,
                );
                sum
            }
        };
        (gradient, value)
    }

    /// H₀⁻¹∇φ if there is a factor, and ½ ∇φᵀH₀⁻¹∇φ or a bound of it.
    pub(super) fn distance(&self, gradient: &[f64], ridge: f64) -> (Option<Vec<f64>>, f64) {
        match self {
            System::Factor(f) => {
                let mut x = gradient.to_vec();
                f.factor.solve(&mut x);
                let inner = 0.5 * dot(gradient, &x);
                (Some(x), inner.max(0.0))
            }
            System::ConjugateGradients(_) => (None, dot(gradient, gradient) / (2.0 * ridge)),
        }
    }

    /// A bound of ½ ∇φᵀH₀⁻¹∇φ that is at most `allowed` above it: for e with H₀e = ∇φ − r,
    ///
    /// ```text
    /// ½ ∇φᵀH₀⁻¹∇φ = ½ e·(∇φ + r) + ½ rᵀH₀⁻¹r ≤ ½ e·(∇φ + r) + ‖r‖²/(2Nγ)
    /// ```
    pub(super) fn closer(
        &self,
        shards: &mut Shards<'_>,
        gradient: &[f64],
        allowed: f64,
        params: &BaUbaucParams,
    ) -> Result<f64> {
        let System::ConjugateGradients(Matrixless { rough, rounding }) = self else {
            return Ok(f64::INFINITY);
        };
        let ridge = shards.total.sum() * params.gamma;
        let enough = Enough::Residual(2.0 * ridge * allowed);
        let x = rough.solve(shards, gradient, 0.0, enough, params)?;
        // The residual, recomputed: the one kept up round by round has drifted.
        let matrix = shards.newton_matrix(params.beta, 0.0, params.intercept)?;
        let mut residual = shards.newton_product(&matrix, &x)?;
        add_to(ridge, &x, &mut residual);
        residual
            .iter_mut()
            .zip(gradient)
            .for_each(|(r, g)| *r = g - *r);
        let left = dot(&residual, &residual) / (2.0 * ridge);
        let inner = 0.5 * (dot(&x, gradient) + dot(&x, &residual));
        Ok(rounding.of_products(&x, inner, left))
    }

    /// pᵀH₀p, dz being along p.
    pub(super) fn curvature(
        &self,
        shards: &mut Shards<'_>,
        p: &[f64],
        n: f64,
        params: &BaUbaucParams,
    ) -> Result<f64> {
        Ok(match self {
            System::Factor(f) => dot(p, &f.times(p)),
            System::ConjugateGradients(_) => {
                n * params.gamma * dot(p, p) + params.beta * shards.curvature(params.intercept)?
            }
        })
    }

    /// The Newton direction.
    pub(super) fn direction(
        &self,
        shards: &mut Shards<'_>,
        point: &Status,
        sigma: f64,
        params: &BaUbaucParams,
    ) -> Result<Vec<f64>> {
        match self {
            System::Factor(f) => {
                let to_dual = point.to_dual.as_deref().unwrap_or(&point.gradient);
                let (m, d) = (shards.active() as f64, f.c.len() as f64);
                let direct = d * d * d / 3.0 + m * d * d / 8.0;
                let woodbury = m * d * d + m * m * d + m * m * m / 3.0;
                let moved = if woodbury < direct {
                    m * d
                } else {
                    d * d / 2.0
                };
                if m == 0.0 {
                    Ok(to_dual.iter().map(|x| -x).collect())
                } else if shards.is_remote() && moved > MOST_MOVED * d {
                    f.by_products(shards, &point.gradient, sigma)
                } else if woodbury < direct {
                    f.woodbury(shards, &point.gradient, sigma)
                } else {
                    f.direct(shards, &point.gradient, to_dual, sigma)
                }
            }
            System::ConjugateGradients(Matrixless { rough, .. }) => {
                let right: Vec<f64> = point.gradient.iter().map(|g| -g).collect();
                let enough = Enough::Gain(FORCING);
                rough.solve(shards, &right, sigma, enough, params)
            }
        }
    }
}

impl Factored {
    fn new(moments: &Moments, beta: f64, ridge: f64, rows: usize) -> Result<Factored> {
        let d = moments.target.len();
        let mut h0: Vec<f64> = moments.gram.iter().map(|g| beta * g).collect();
        for i in 0..d {
            for j in 0..i {
                h0[j * d + i] = h0[i * d + j];
            }
            h0[i * d + i] += ridge;
        }
        let c = moments.target.iter().map(|t| beta * t).collect();
        let largest = (0..d).map(|i| h0[i * d + i]).fold(0.0, f64::max);
        let gram = |i: usize| moments.gram[i * d + i];
        let before = |i: usize| moments.before.get(i).map_or(gram(i), |b| b.max(gram(i)));
        let rounding = Rounding::new((0..d).map(|i| beta * before(i)), rows);
        // Features that depend on each other, and no γ to tell them apart: any small ridge makes a
        // direction, none makes a certificate.
        let ridges = std::iter::once(0.0).chain((-13..=0).map(|k| largest * 10f64.powi(k)));
        for more in ridges {
            let mut a = h0.clone();
            (0..d).for_each(|i| a[i * d + i] += more);
            if let Some(factor) = Cholesky::new(a, d) {
                let lost = rounding.hides_a_pivot(&factor);
                let rounding = rounding.of_factor(&factor);
                return Ok(Factored {
                    h0,
                    factor,
                    c,
                    shaken: more > 0.0 || lost,
                    rounding,
                });
            }
        }
        // Squares of the features overflow, or every feature is empty and γ = 0.
        let what = "the least squares have no minimum in floating point; scale the features or raise gamma";
        Err(Error::Numerical { what })
    }

    fn times(&self, x: &[f64]) -> Vec<f64> {
        self.h0
            .chunks_exact(x.len().max(1))
            .map(|row| dot(row, x))
            .collect()
    }

    fn direct(
        &self,
        shards: &mut Shards<'_>,
        gradient: &[f64],
        to_dual: &[f64],
        sigma: f64,
    ) -> Result<Vec<f64>> {
        let mut a = self.h0.clone();
        shards.add_active_gram(sigma, &mut a)?;
        let mut p: Vec<f64> = gradient.iter().map(|g| -g).collect();
        match Cholesky::new(a, p.len()) {
            Some(factor) => factor.solve(&mut p),
            // σ so large that rounding wins: the direction of q alone still descends.
            None => p = to_dual.iter().map(|x| -x).collect(),
        }
        Ok(p)
    }

    /// By conjugate gradients: the active rows stay where they are. Where they are like the others, X̃_AᵀX̃_A is like H₀.
    fn by_products(
        &self,
        shards: &mut Shards<'_>,
        gradient: &[f64],
        sigma: f64,
    ) -> Result<Vec<f64>> {
        let mean = shards.active_mean()?;
        let right: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let precondition = |r: &[f64]| {
            let mut s = r.to_vec();
            self.factor.solve(&mut s);
            s
        };
        let product = |p: &[f64]| {
            let mut product = shards.active_product(sigma, &mean, p)?;
            add_to(1.0, &self.times(p), &mut product);
            Ok(product)
        };
        let enough = Enough::Gain(FORCING);
        Ok(conjugate_gradients(&right, enough, MAX_ROUNDS, precondition, product)?.x)
    }

    fn woodbury(&self, shards: &mut Shards<'_>, gradient: &[f64], sigma: f64) -> Result<Vec<f64>> {
        let d = gradient.len();
        let m = shards.active();
        // Rows of Yᵀ.
        let mut y = vec![0.0; m * d];
        for (row, entries) in y.chunks_exact_mut(d).zip(shards.active_rows()?) {
            entries.iter().for_each(|&(j, x)| row[j as usize] = x);
            self.factor.forward(row);
        }
        // C from the left and the right is the same as centring Y's columns once.
        let mut mean = vec![0.0; d];
        y.chunks_exact(d)
            .for_each(|row| add_to(1.0 / m as f64, row, &mut mean));
        y.chunks_exact_mut(d)
            .for_each(|row| add_to(-1.0, &mean, row));
        let mut k = vec![0.0; m * m];
        for i in 0..m {
            for j in 0..=i {
                k[i * m + j] = dot(&y[i * d..(i + 1) * d], &y[j * d..(j + 1) * d]);
            }
            k[i * m + i] += 1.0 / sigma;
        }
        let mut r = gradient.to_vec();
        self.factor.forward(&mut r);
        if let Some(factor) = Cholesky::new(k, m) {
            let mut a: Vec<f64> = y.chunks_exact(d).map(|row| dot(row, &r)).collect();
            factor.solve(&mut a);
            y.chunks_exact(d)
                .zip(a)
                .for_each(|(row, a)| add_to(-a, row, &mut r));
        }
        self.factor.backward(&mut r);
        Ok(r.iter().map(|x| -x).collect())
    }
}
