//! OPAUC with covariances of rank τ, sketched.
//!
//! Every example x_i of a class draws r_i ∼ N(0, I/τ). With the sums n, m = Σ x_i, ρ = Σ r_i and Z = Σ x_i r_iᵀ (d × τ) of
//! that class and its mean c = m/n, the centred examples have the sketch Z − cρᵀ = Σ (x_i − c) r_iᵀ, and
//!
//! ```text
//! Γ ≈ 1/n (Z − cρᵀ)(Z − cρᵀ)ᵀ,   the expectation of which is Γ, since E r_i r_jᵀ has the trace 1[i = j].
//! ```
//!
//! Public programs of it subtract ‖ρ/n‖² ccᵀ from ZZᵀ/n instead. ‖ρ/n‖² is 1/n in expectation, so that the mean would stay in
//! the covariance, and the loss would no more depend on differences of examples alone; we centre.
//!
//! No step costs O(dτ). w = Bk, where B (d × (2τ + 3)) has the columns Z⁺, m⁺, v, m⁻, Z⁻, and G = BᵀB is kept. With
//! p = Bᵀx, and g = Gk = Bᵀw, a step knows w·x = p·k, c·w = g_m/n and (Z − cρᵀ)ᵀw = g_Z − ρ c·w = q, all of the other
//! class, and e = (x − c)·w − y as ever:
//!
//! ```text
//! k ← (1 − ηλ)k,   k_Z ← k_Z − ηq/n,   k_m ← k_m + η(e + ρ·q/n)/n            leaves −ηe x,
//! B ← B + xuᵀ,     u_Z = r, u_m = 1 (own class), u_v = −(ηe + u_Z·k_Z + u_m k_m)/k_v
//! G ← G + huᵀ + uhᵀ,   h = p + ½‖x‖² u
//! ```
//!
//! v takes up −ηe x, and what the new columns would do to w. After every max(d, 1024) steps, and when |k_v| leaves
//! [2⁻¹⁰, 2¹⁰], all of w goes into v: v ← Bk, k ← e_v, and v's row of G is recomputed. Otherwise the parts of w would outgrow
//! w, which is their difference. The other rows of G are sums in which nothing cancels: their rounding stays at that of adding up
//! (measured: |ΔG_ij| < 1e-13 √(G_ii G_jj) after 30,000 steps).
//!
//! Cost: O(τ nnz(x) + τ²) a step, sparse rows stay sparse; folding adds O(τ). Memory 8(2τ + 3)(d + 2τ + 3) bytes.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::sign;
use crate::Result;
use crate::data::generate::Deviates;
use crate::data::rows::{Row, add_to, dot};
use crate::solver::stream::reserve;

/// |k_v| stays within 1/FOLD and FOLD.
const FOLD: f64 = 1024.0;
/// w is folded into v after at least this many steps.
const RECOMPUTE_EVERY: usize = 1024;

/// How many columns B has.
pub(super) fn columns(tau: usize) -> usize {
    tau.saturating_mul(2).saturating_add(3)
}

/// B's columns of Z and that of m, of the negatives and of the positives.
fn places(tau: usize) -> [(Range<usize>, usize); 2] {
    let last = columns(tau);
    [
        (tau.saturating_add(3)..last, tau.saturating_add(2)),
        (0..tau, tau),
    ]
}

/// What is kept of a class besides B's columns.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Class {
    n: f64,
    /// Σ r.
    rho: Vec<f64>,
    /// B's columns of Z, and that of m.
    z: Range<usize>,
    m: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LowRank {
    eta: f64,
    lambda: f64,
    tau: usize,
    /// B, row by row.
    basis: Vec<f64>,
    /// k.
    k: Vec<f64>,
    /// G, row by row.
    gram: Vec<f64>,
    /// Of the negatives and of the positives.
    classes: [Class; 2],
    random: Deviates,
    /// Steps since w was folded into v.
    age: usize,
    /// Room for p and later h, for u, and for q.
    #[serde(skip)]
    p: Vec<f64>,
    #[serde(skip)]
    u: Vec<f64>,
    #[serde(skip)]
    q: Vec<f64>,
}

impl LowRank {
    /// The caller has seen that d(2τ + 3) numbers are not too many.
    pub(super) fn new(d: usize, tau: usize, eta: f64, lambda: f64, seed: u64) -> LowRank {
        let columns = columns(tau);
        let class = |(z, m)| Class {
            n: 0.0,
            rho: vec![0.0; tau],
            z,
            m,
        };
        let mut k = vec![0.0; columns];
        k[tau + 1] = 1.0;
        LowRank {
            eta,
            lambda,
            tau,
            basis: vec![0.0; d * columns],
            k,
            gram: vec![0.0; columns * columns],
            classes: places(tau).map(class),
            random: Deviates::new(seed),
            age: 0,
            p: vec![0.0; columns],
            u: vec![0.0; columns],
            q: vec![0.0; tau],
        }
    }

    /// Bk.
    pub(super) fn weights(&self) -> Vec<f64> {
        let rows = self.basis.chunks_exact(self.k.len());
        rows.map(|row| dot(row, &self.k)).collect()
    }

    /// (Bk)_j.
    pub(super) fn weight(&self, j: usize) -> f64 {
        let columns = self.k.len();
        dot(&self.basis[j * columns..(j + 1) * columns], &self.k)
    }

    pub(super) fn tau(&self) -> usize {
        self.tau
    }

    /// η and λ.
    pub(super) fn steps(&self) -> [f64; 2] {
        [self.eta, self.lambda]
    }

    /// Room for d features, of which d(2τ + 3) numbers are not too many.
    pub(super) fn grow(&mut self, d: usize) -> Result<()> {
        let columns = self.k.len();
        reserve(&mut self.basis, d * columns)?;
        self.basis.resize(d * columns, 0.0);
        self.p.resize(columns, 0.0);
        self.u.resize(columns, 0.0);
        self.q.resize(self.tau, 0.0);
        Ok(())
    }

    pub(super) fn is_sound(&self, d: usize) -> bool {
        let columns = columns(self.tau);
        let fits = |(class, (z, m)): (&Class, (Range<usize>, usize))| {
            class.rho.len() == self.tau && class.z == z && class.m == m
        };
        self.tau > 0
            && self.k.len() == columns
            && Some(self.gram.len()) == columns.checked_mul(columns)
            && Some(self.basis.len()) == d.checked_mul(columns)
            && self.classes.iter().zip(places(self.tau)).all(fits)
            && self.random.is_sound()
    }

    pub(super) fn learn(&mut self, x: Row<'_>, positive: bool) {
        let v = self.tau + 1;
        if self.k[v].is_nan() {
            return; // w has left the numbers
        }
        let norm_sq = self.project(x);
        let along = self.gradient(positive);
        let d = self.basis.len() / self.k.len();
        if self.age >= RECOMPUTE_EVERY.max(d) || !(1.0 / FOLD..=FOLD).contains(&self.k[v].abs()) {
            self.fold();
        }
        self.age = self.age.saturating_add(1);
        let touched = self.joining(positive, along);
        self.join(x, norm_sq, touched, positive);
    }

    /// p ← Bᵀx. Answers ‖x‖².
    fn project(&mut self, x: Row<'_>) -> f64 {
        let columns = self.k.len();
        let (p, basis) = (&mut self.p, &self.basis);
        p.fill(0.0);
        let mut norm_sq = 0.0;
        x.for_each(|j, x| {
            add_to(x, &basis[j * columns..(j + 1) * columns], p);
            norm_sq += x * x;
        });
        norm_sq
    }

    /// The step along all columns but x itself. Answers what is left, the multiple of x to be added to w.
    fn gradient(&mut self, positive: bool) -> f64 {
        let columns = self.k.len();
        let Class { n, rho, z, m } = &self.classes[usize::from(!positive)];
        if *n == 0.0 {
            return 0.0;
        }
        let (k, gram, eta) = (&mut self.k, &self.gram, self.eta);
        let along = |i: usize| dot(&gram[i * columns..(i + 1) * columns], k);
        let centre = along(*m) / n;
        for ((q, i), rho) in self.q.iter_mut().zip(z.clone()).zip(rho) {
            *q = along(i) - rho * centre;
        }
        let e = dot(&self.p, k) - centre - sign(positive);
        let keep = 1.0 - eta * self.lambda;
        k.iter_mut().for_each(|k| *k *= keep);
        add_to(-eta / n, &self.q, &mut k[z.clone()]);
        k[*m] += eta * (e + dot(rho, &self.q) / n) / n;
        -eta * e
    }

    /// Draws r and makes u, so that w moves by `along`·x. Answers the columns where u is not 0.
    fn joining(&mut self, positive: bool, along: f64) -> Range<usize> {
        let v = self.tau + 1;
        let class = &self.classes[usize::from(positive)];
        let scale = (1.0 / self.tau as f64).sqrt();
        for i in class.z.clone() {
            self.u[i] = scale * self.random.normal();
        }
        self.u[class.m] = 1.0;
        let z = class.z.clone();
        let moved = dot(&self.u[z.clone()], &self.k[z.clone()]) + self.k[class.m];
        self.u[v] = (along - moved) / self.k[v];
        if positive { z.start..v + 1 } else { v..z.end }
    }

    /// B ← B + xuᵀ and what follows; `touched` are the columns where u is not 0.
    fn join(&mut self, x: Row<'_>, norm_sq: f64, touched: Range<usize>, positive: bool) {
        let columns = self.k.len();
        let u = &self.u[touched.clone()];
        let basis = &mut self.basis;
        x.for_each(|j, x| {
            let row = &mut basis[j * columns..(j + 1) * columns];
            add_to(x, u, &mut row[touched.clone()]);
        });
        let h = &mut self.p;
        add_to(0.5 * norm_sq, u, &mut h[touched.clone()]);
        for (row, h) in self.gram.chunks_exact_mut(columns).zip(h.iter()) {
            add_to(*h, u, &mut row[touched.clone()]);
        }
        let rows = &mut self.gram[touched.start * columns..touched.end * columns];
        for (row, u) in rows.chunks_exact_mut(columns).zip(u) {
            add_to(*u, h, row);
        }
        let class = &mut self.classes[usize::from(positive)];
        class.n += 1.0;
        add_to(1.0, &self.u[class.z.clone()], &mut class.rho);
    }

    /// v ← w, k ← e_v, and p's and G's products with v, recomputed.
    #[cold]
    fn fold(&mut self) {
        let (columns, v) = (self.k.len(), self.tau + 1);
        let mut products = vec![0.0; columns];
        for row in self.basis.chunks_exact_mut(columns) {
            row[v] = dot(row, &self.k);
            add_to(row[v], row, &mut products);
        }
        self.p[v] = dot(&self.p, &self.k);
        self.k.fill(0.0);
        self.k[v] = if products[v].is_finite() {
            1.0
        } else {
            f64::NAN
        };
        for (i, product) in products.into_iter().enumerate() {
            self.gram[v * columns + i] = product;
            self.gram[i * columns + v] = product;
        }
        self.age = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gram_matrix_stays_that_of_the_basis() {
        let (d, tau) = (40, 8);
        let mut learner = LowRank::new(d, tau, 0.01, 1e-3, 3);
        let mut random = Deviates::new(9);
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for _ in 0..30_000 {
            indices.clear();
            values.clear();
            for j in 0..d as u32 {
                let x = random.normal();
                if x > 1.0 {
                    indices.push(j);
                    values.push(x);
                }
            }
            let positive = values.first().is_some_and(|x| *x > 1.5);
            learner.learn(Row::Sparse(&indices, &values), positive);
        }
        assert!(learner.weights().iter().any(|w| w.abs() > 1e-3));
        let columns = columns(tau);
        let column = |i: usize| -> Vec<f64> {
            let rows = learner.basis.chunks_exact(columns);
            rows.map(|row| row[i]).collect()
        };
        let mut worst = 0.0_f64;
        for i in 0..columns {
            for j in 0..columns {
                let (a, b) = (column(i), column(j));
                let off = (learner.gram[i * columns + j] - dot(&a, &b)).abs();
                worst = worst.max(off / (dot(&a, &a) * dot(&b, &b)).sqrt());
            }
        }
        println!("{worst:e}");
        assert!(worst < 1e-13, "{worst:e}");
    }
}
