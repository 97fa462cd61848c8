//! What each command does to the numbers of a shard.

use super::{Shard, made, square_weight};
use crate::data::rows::{Power, Rows, add_to};
use crate::objective::loss::{Loss, hinge_multiplier};
use crate::solver::centred::Centred;
use crate::solver::shards::message::Command;

impl Shard {
    pub(super) fn obey_one(&mut self, rows: &Rows, command: &Command) {
        use Command as C;
        match command {
            C::SetClassWeights(weights) => self.set_class_weights(*weights),
            C::SetClassFactors(factors) => self.factors = *factors,
            C::SetCentre(mean) => self.centre = Some(mean.clone()),
            C::SetWeights(w) => self.set_weights(rows, w),
            C::SetDirection(p) => self.set_direction(rows, p),
            C::Shift { t, sigma } => self.shift(*t, *sigma),
            C::Advance(t) => add_to(*t, &self.dz, &mut self.z),
            C::ResetMultipliers => {
                self.u.fill(0.0);
                self.candidates.fill(0.0);
                self.keeps_multipliers = true;
            }
            C::ResetCandidates => {
                self.candidates.fill(0.0);
                self.keeps_multipliers = true;
            }
            C::SetCandidates {
                lambda,
                sigma,
                keep,
            } => self.set_candidates(*lambda, *sigma, *keep),
            C::CommitCandidates => {
                let n = self.z.len();
                let candidates = made(&mut self.candidates, n);
                made(&mut self.u, n).copy_from_slice(candidates);
                self.keeps_multipliers = true;
            }
            C::PrepareProduct { beta, sigma } => self.prepare_product(*beta, *sigma),
            C::SetSoft { lambda, softness } => self.set_soft(*lambda, *softness),
            C::PrepareSoftProduct { beta } => self.prepare_soft_product(*beta),
        }
    }

    fn set_class_weights(&mut self, [positive, negative]: [f64; 2]) {
        self.signed.scale([positive, negative]);
        self.unit &= positive == 1.0 && negative == 1.0;
    }

    fn set_weights(&mut self, rows: &Rows, w: &[f64]) {
        if let Rows::Coded(coded) = rows {
            let [mut z, mut others] = [&mut self.z, &mut self.unweighted_z].map(std::mem::take);
            self.coded_dots(coded, w, Power::One, &mut z);
            self.coded_other_dots(coded, w, &mut others);
            [self.z, self.unweighted_z] = [z, others];
            return;
        }
        let rows = Centred {
            rows,
            shift: self.centre.as_deref(),
        };
        let Some(weighted) = &self.weighted else {
            for (z, i) in self.z.iter_mut().zip(self.span.clone()) {
                *z = rows.row(i).dot(w);
            }
            return;
        };
        let mut weighted = weighted.iter().peekable();
        let (mut own, mut others) = (self.z.iter_mut(), self.unweighted_z.iter_mut());
        for (k, i) in (0..).zip(self.span.clone()) {
            let z = match weighted.next_if_eq(&&k) {
                Some(_) => own.next(),
                None => others.next(),
            };
            if let Some(z) = z {
                *z = rows.row(i).dot(w);
            }
        }
    }

    fn set_direction(&mut self, rows: &Rows, p: &[f64]) {
        if let Rows::Coded(coded) = rows {
            let mut dz = self.direction();
            self.coded_dots(coded, p, Power::One, &mut dz);
            self.dz = dz;
            return;
        }
        self.dz = self.direction();
        let rows = Centred {
            rows,
            shift: self.centre.as_deref(),
        };
        for k in 0..self.dz.len() {
            self.dz[k] = rows.row(self.place(k)).dot(p);
        }
    }

    /// Room for dz, which is empty then.
    fn direction(&mut self) -> Vec<f64> {
        let mut dz = std::mem::take(&mut self.dz);
        if !self.keeps_multipliers && dz.is_empty() {
            dz = std::mem::take(&mut self.u);
        }
        made(&mut dz, self.z.len());
        dz
    }

    fn shift(&mut self, t: f64, sigma: f64) {
        self.keeps_multipliers = true;
        let per_sigma = 1.0 / sigma;
        let n = self.z.len();
        let Shard { z, dz, u, v, .. } = self;
        let [dz, u, v] = [dz, u, v].map(|numbers| made(numbers, n));
        for (((v, z), dz), u) in v.iter_mut().zip(z).zip(dz).zip(u) {
            *v = *z + t * *dz + *u * per_sigma;
        }
    }

    fn set_candidates(&mut self, lambda: f64, sigma: f64, [keep_up, keep_down]: [f64; 2]) {
        self.active.clear();
        self.keeps_multipliers = true;
        let n = self.z.len();
        made(&mut self.v, n);
        made(&mut self.candidates, n);
        let (mut hinges, mut slack) = (0.0, 0.0);
        for k in 0..self.v.len() {
            let (e, signed) = (sigma * (self.v[k] - lambda), self.signed.at(k));
            let u = hinge_multiplier(e, signed);
            if u == e && u != 0.0 {
                self.active.push(k as u32);
            }
            let u = u * if u > 0.0 { keep_up } else { keep_down };
            // y = sign of `signed`; s[y(λ − z)]₊ + u(λ − z) ≥ 0 since −yu ∈ [0, s].
            let below = lambda - self.z[k];
            let hinge = Loss::Hinge.value(signed * below);
            hinges += hinge;
            slack += hinge + u * below;
            let change = u - self.candidates[k];
            self.v[k] = change;
            if change != 0.0 {
                self.candidates[k] = u;
            }
        }
        (self.loss, self.slack) = (hinges, slack);
    }

    fn prepare_product(&mut self, beta: f64, sigma: f64) {
        let v = made(&mut self.v, self.z.len());
        for (v, signed) in v.iter_mut().zip(self.signed.iter()) {
            *v = beta * square_weight(self.factors, signed);
        }
        for &k in &self.active {
            self.v[k as usize] += sigma;
        }
        self.soft_beta = None;
    }
}
