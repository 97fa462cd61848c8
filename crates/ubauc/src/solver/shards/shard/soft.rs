//! Numbers of the soft loss: u_i = −s_i y_i φ'(t_i) and h_i = s_i φ''(t_i) at t_i = y_i(λ − z_i).

use super::numbers::sums;
use super::{Shard, square_weight, zeros};
use crate::data::rows::Rows;
use crate::objective::loss::Loss;

impl Shard {
    /// Keeps u, h and Σ s_i φ at λ.
    pub(super) fn set_soft(&mut self, lambda: f64, softness: f64) {
        let loss = Loss::Soft { softness };
        let Shard {
            z,
            u,
            candidates,
            signed,
            ..
        } = self;
        let numbers = z.iter().zip(signed).zip(u).zip(candidates);
        let mut value = 0.0;
        for (((z, signed), u), h) in numbers {
            let at = loss.at(sign(*signed) * (lambda - *z));
            *u = -*signed * at.multiplier;
            *h = signed.abs() * at.curvature;
            value += signed.abs() * at.value;
        }
        self.hinge = value;
    }

    /// v = βV + h.
    pub(super) fn prepare_soft_product(&mut self, beta: f64) {
        for ((v, h), signed) in self.v.iter_mut().zip(&self.candidates).zip(&self.signed) {
            *v = beta * square_weight(self.factors, *signed) + h;
        }
        self.is_soft = true;
    }

    /// Σ s_i φ, Σ s_i y_i φ', Σ s_i φ'' at z + t dz.
    pub(super) fn soft(&self, t: f64, lambda: f64, softness: f64) -> [f64; 3] {
        let loss = Loss::Soft { softness };
        let term = |z: f64, dz: f64, signed: f64| {
            let at = loss.at(sign(signed) * (lambda - (z + t * dz)));
            let s = signed.abs();
            [s * at.value, signed * at.multiplier, s * at.curvature]
        };
        match t == 0.0 {
            // dz need not be known.
            true => sums([&self.z, &self.z, &self.signed], |z, _, s| term(z, 0.0, s)),
            false => sums([&self.z, &self.dz, &self.signed], term),
        }
    }

    /// Σ s_i φ, Σ [u_i]₊, Σ [−u_i]₊, Σ u_i²/V_i.
    pub(super) fn soft_multipliers(&self) -> [f64; 4] {
        let factors = self.factors;
        let [up, down, squares] = sums([&self.u, &self.signed, &self.signed], |u, signed, _| {
            let weight = square_weight(factors, signed).max(f64::MIN_POSITIVE);
            [u.max(0.0), (-u).max(0.0), u * u / weight]
        });
        [self.hinge, up, down, squares]
    }

    pub(super) fn soft_gradient(&self, rows: &Rows, beta: f64, b: f64, out: &mut Vec<f64>) {
        let sum = zeros(out, self.cols);
        let rows = self.centred(rows);
        for (k, i) in self.span.clone().enumerate() {
            let signed = self.signed[k];
            let weight = beta * square_weight(self.factors, signed);
            let pull = self.u[k] + weight * (self.z[k] + b - sign(signed));
            if signed != 0.0 && pull != 0.0 {
                rows.row(i).add_to(pull, sum);
            }
        }
    }

    /// Σ h_i dz_i, Σ V_i (z_i + b − y_i) dz_i, Σ u_i dz_i.
    pub(super) fn soft_along(&self, b: f64) -> [f64; 3] {
        let factors = self.factors;
        let [square] = sums([&self.z, &self.dz, &self.signed], |z, dz, signed| {
            [square_weight(factors, signed) * (z + b - sign(signed)) * dz]
        });
        let [curvature, multiplier] = sums([&self.candidates, &self.u, &self.dz], |h, u, dz| {
            [h * dz, u * dz]
        });
        [curvature, square, multiplier]
    }
}

/// y.
#[inline]
fn sign(signed: f64) -> f64 {
    1f64.copysign(signed)
}
