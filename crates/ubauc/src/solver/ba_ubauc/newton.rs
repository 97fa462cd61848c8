//! The Newton system (H₀ + σX̃_AᵀX̃_A) p = −∇φ, by a factor or without.
//!
//! With m = |A| rows and C = I − 11ᵀ/m, X̃_A = C X_A. Three ways, by cost:
//!
//! - m = 0: p = −H₀⁻¹∇φ, which the certificate has computed already;
//! - *direct*: form the d×d matrix and factor it, d³/3 + the entries of A squared;
//! - *Woodbury*, when m is well below d: with Y = L⁻¹X_Aᵀ (H₀ = LLᵀ) and K = YᵀY,
//!   `p = −L⁻ᵀ( r − Y C (I/σ + CKC)⁻¹ C Yᵀ r )`, r = L⁻¹∇φ; m d² + m² d + m³/3;
//!
//! and for large d, where H₀ is not formed at all, conjugate gradients with the diagonal as preconditioner: a product with
//! X and one with Xᵀ a round.

use super::{BaUbaucParams, Point};
use crate::data::dataset::Dataset;
use crate::data::rows::{add_to, dot};
use crate::solver::cholesky::Cholesky;
use crate::solver::shards::Shards;

/// Form and factor H₀, or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    Factor,
    ConjugateGradients,
}

impl Route {
    /// Estimated multiplications of each: the Gram matrix and some factorisations, or some hundred
    /// products with X and Xᵀ.
    pub(super) fn cheapest(data: &Dataset, _: &BaUbaucParams) -> Route {
        let d = data.rows().cols() as f64;
        let n = data.rows().len() as f64;
        let stored = data.rows().stored() as f64;
        let factor = stored * stored / n / 2.0 + d * d * d;
        let products = 1000.0 * 2.0 * stored;
        if d <= 256.0 || (factor < products && d <= 4096.0) {
            Route::Factor
        } else {
            Route::ConjugateGradients
        }
    }
}

/// What is known of q.
pub(super) enum System {
    Factor(Box<Factored>),
    ConjugateGradients,
}

pub(super) struct Factored {
    /// H₀, both triangles.
    h0: Vec<f64>,
    factor: Cholesky,
    c: Vec<f64>,
    /// (β/2) yᵀVy.
    constant: f64,
    /// A ridge had to be added for H₀ to have a factor: nothing can be proved.
    shaken: bool,
}

impl System {
    pub(super) fn new(shards: &mut Shards<'_>, params: &BaUbaucParams, route: Route) -> System {
        match route {
            Route::Factor => System::Factor(Box::new(Factored::new(shards, params))),
            Route::ConjugateGradients => System::ConjugateGradients,
        }
    }

    /// The minimiser of q, to start from; 0 where that is not to be had cheaply.
    pub(super) fn ridge(&self, shards: &mut Shards<'_>, _: &BaUbaucParams) -> Vec<f64> {
        match self {
            System::Factor(f) => {
                let mut w = f.c.clone();
                f.factor.solve(&mut w);
                w
            }
            System::ConjugateGradients => vec![0.0; shards.cols()],
        }
    }

    /// ∇q(w) and q(w), z being at w.
    pub(super) fn quadratic(
        &self,
        shards: &mut Shards<'_>,
        w: &[f64],
        params: &BaUbaucParams,
    ) -> (Vec<f64>, f64) {
        match self {
            System::Factor(f) => {
                let mut gradient = f.times(w);
                let half = 0.5 * dot(w, &gradient);
                add_to(-1.0, &f.c, &mut gradient);
                (gradient, half - dot(w, &f.c) + f.constant)
            }
            System::ConjugateGradients => {
                let ridge = shards.total.sum() * params.gamma;
                let b = if params.intercept { shards.intercept() } else { 0.0 };
                let mut gradient = shards.gradient(params.beta, b);
                add_to(ridge, w, &mut gradient);
                let square = shards.squares(b);
                (gradient, 0.5 * (params.beta * square + ridge * dot(w, w)))
            }
        }
    }

    /// H₀⁻¹∇φ if there is a factor, and ½ ∇φᵀH₀⁻¹∇φ or a bound of it.
    pub(super) fn distance(&self, gradient: &[f64], ridge: f64) -> (Option<Vec<f64>>, f64) {
        match self {
            System::Factor(f) => {
                let mut x = gradient.to_vec();
                f.factor.solve(&mut x);
                let inner = if f.shaken { f64::INFINITY } else { 0.5 * dot(gradient, &x) };
                (Some(x), inner.max(0.0))
            }
            System::ConjugateGradients => (None, dot(gradient, gradient) / (2.0 * ridge)),
        }
    }

    /// pᵀH₀p, dz being along p.
    pub(super) fn curvature(
        &self,
        shards: &mut Shards<'_>,
        p: &[f64],
        n: f64,
        params: &BaUbaucParams,
    ) -> f64 {
        match self {
            System::Factor(f) => dot(p, &f.times(p)),
            System::ConjugateGradients => {
                n * params.gamma * dot(p, p) + params.beta * shards.curvature(params.intercept)
            }
        }
    }

    /// The Newton direction.
    pub(super) fn direction(
        &self,
        shards: &mut Shards<'_>,
        point: &Point,
        sigma: f64,
        n: f64,
        params: &BaUbaucParams,
    ) -> Vec<f64> {
        match (self, &point.to_dual) {
            (System::Factor(f), Some(to_dual)) => {
                let (m, d) = (shards.active() as f64, f.c.len() as f64);
                let direct = d * d * d / 3.0 + m * d * d / 8.0;
                let woodbury = m * d * d + m * m * d + m * m * m / 3.0;
                if m == 0.0 {
                    to_dual.iter().map(|x| -x).collect()
                } else if woodbury < direct {
                    f.woodbury(shards, &point.gradient, sigma)
                } else {
                    f.direct(shards, &point.gradient, to_dual, sigma)
                }
            }
            _ => conjugate_gradients(shards, &point.gradient, sigma, n, params),
        }
    }
}

impl Factored {
    fn new(shards: &mut Shards<'_>, params: &BaUbaucParams) -> Factored {
        let d = shards.cols();
        let ridge = shards.total.sum() * params.gamma;
        let moments = shards.moments(params.intercept);
        let mut h0: Vec<f64> = moments.gram.iter().map(|g| params.beta * g).collect();
        for i in 0..d {
            for j in 0..i {
                h0[j * d + i] = h0[i * d + j];
            }
            h0[i * d + i] += ridge;
        }
        let c = moments.target.iter().map(|t| params.beta * t).collect();
        let constant = 0.5 * params.beta * moments.constant;
        let mut shaken = false;
        let mut more = 0.0;
        let factor = loop {
            let mut a = h0.clone();
            (0..d).for_each(|i| a[i * d + i] += more);
            if let Some(factor) = Cholesky::new(a, d) {
                break factor;
            }
            // Features that depend on each other, and no γ to tell them apart: any small ridge
            // makes a direction, none makes a proof.
            shaken = true;
            let largest = (0..d).map(|i| h0[i * d + i]).fold(0.0, f64::max);
            more = if more == 0.0 { 1e-12 * largest.max(f64::MIN_POSITIVE) } else { 10.0 * more };
        };
        Factored { h0, factor, c, constant, shaken }
    }

    fn times(&self, x: &[f64]) -> Vec<f64> {
        self.h0.chunks_exact(x.len().max(1)).map(|row| dot(row, x)).collect()
    }

    fn direct(
        &self,
        shards: &Shards<'_>,
        gradient: &[f64],
        to_dual: &[f64],
        sigma: f64,
    ) -> Vec<f64> {
        let mut a = self.h0.clone();
        shards.add_active_gram(sigma, &mut a);
        let mut p: Vec<f64> = gradient.iter().map(|g| -g).collect();
        match Cholesky::new(a, p.len()) {
            Some(factor) => factor.solve(&mut p),
            // σ so large that rounding wins: the direction of q alone still descends.
            None => p = to_dual.iter().map(|x| -x).collect(),
        }
        p
    }

    fn woodbury(&self, shards: &Shards<'_>, gradient: &[f64], sigma: f64) -> Vec<f64> {
        let d = gradient.len();
        let m = shards.active();
        // Rows of Yᵀ.
        let mut y = shards.active_rows();
        y.chunks_exact_mut(d).for_each(|row| self.factor.forward(row));
        // C from the left and the right is the same as centring Y's columns once.
        let mut mean = vec![0.0; d];
        y.chunks_exact(d).for_each(|row| add_to(1.0 / m as f64, row, &mut mean));
        y.chunks_exact_mut(d).for_each(|row| add_to(-1.0, &mean, row));
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
            y.chunks_exact(d).zip(a).for_each(|(row, a)| add_to(-a, row, &mut r));
        }
        self.factor.backward(&mut r);
        r.iter().map(|x| -x).collect()
    }
}

/// Solves to a residual that is small beside the gradient, no better than the step deserves.
fn conjugate_gradients(
    shards: &mut Shards<'_>,
    gradient: &[f64],
    sigma: f64,
    n: f64,
    params: &BaUbaucParams,
) -> Vec<f64> {
    let ridge = n * params.gamma;
    let mut inverse = shards.newton_diagonal(params.beta, sigma);
    inverse.iter_mut().for_each(|x| *x = 1.0 / (*x + ridge).max(f64::MIN_POSITIVE));
    let precondition =
        |r: &[f64]| -> Vec<f64> { r.iter().zip(&inverse).map(|(r, i)| r * i).collect() };
    let mut p = vec![0.0; gradient.len()];
    let mut r: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut s = precondition(&r);
    let mut direction = s.clone();
    let mut rs = dot(&r, &s);
    let enough = 0.01 * dot(&r, &r);
    for _ in 0..500 {
        shards.aim(&direction);
        let mut product = shards.newton_product(params.beta, sigma, params.intercept);
        add_to(ridge, &direction, &mut product);
        let curvature = dot(&direction, &product);
        if !(curvature > 0.0) {
            break;
        }
        let step = rs / curvature;
        add_to(step, &direction, &mut p);
        add_to(-step, &product, &mut r);
        if dot(&r, &r) <= enough {
            break;
        }
        s = precondition(&r);
        let next = dot(&r, &s);
        let keep = next / rs;
        rs = next;
        direction.iter_mut().zip(&s).for_each(|(d, s)| *d = s + keep * *d);
    }
    p
}
