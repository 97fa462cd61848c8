//! The quadratic program over the planes of the bundle.
//!
//! ```text
//! min_w ½‖w‖² + C max_k (b_k + g_k·w)   =   max_α D(α) = q·α − ½ αᵀHα,   α ≥ 0, Σα = 1,
//! H_kl = C² g_k·g_l,   q_k = C b_k,   w = −C Σ_k α_k g_k.
//! ```
//!
//! D(α) is a lower bound of the minimum whatever α, so that an inexact answer costs a round and not the certificate.
//!
//! Active sets: with r = Hα − q the plane of the least r_k joins those of positive α; D is maximised over them, but for
//! the bounds, by Newton's step from α, and where the step leaves a bound behind, it ends there and that plane leaves.
//! αᵀr − min r is how far D is from its maximum. A step solves a system as large as the number of planes with α > 0,
//! less one: one of them, the heaviest, takes what the others leave. Planes that depend on each other make the system
//! singular; a multiple of its diagonal is then added, and the step goes along the dependence until a plane leaves.

use crate::data::rows::{add_to, dot};
use crate::solver::cholesky::Cholesky;

/// Steps for one answer; the answer is usable at any step.
const MAX_STEPS: usize = 500;
/// D is not higher if not by this share of it, …
const ROUNDING: f64 = 1e-15;
/// … and this many steps in a row without a higher D are the last.
const MAX_IDLE: usize = 3;
/// What is added to the diagonal if need be, in shares of it: first this …
const RIDGE: f64 = 1e-13;
/// … then this many times more.
const RIDGE_GROWTH: f64 = 100.0;
/// The size of a diagonal of zeros.
const NOTHING: f64 = 1e-150;

/// H, q and α.
#[derive(Default)]
pub(super) struct Bundle {
    /// Rows of H, both triangles.
    h: Vec<Vec<f64>>,
    q: Vec<f64>,
    alpha: Vec<f64>,
    /// Answers since a plane last had a part in one.
    idle: Vec<usize>,
}

impl Bundle {
    /// A new plane with α = 0, or 1 if it is the first; `h` is its row of H, itself last.
    pub(super) fn push(&mut self, h: Vec<f64>, q: f64) {
        for (row, &h) in self.h.iter_mut().zip(&h) {
            row.push(h);
        }
        self.h.push(h);
        self.q.push(q);
        self.alpha
            .push(if self.alpha.is_empty() { 1.0 } else { 0.0 });
        self.idle.push(0);
    }

    pub(super) fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// Forgets the planes, but the first, that have had no part for more than `patience` answers; tells which stay.
    pub(super) fn forget(&mut self, patience: usize) -> Vec<bool> {
        let stays = |(k, &idle): (usize, &usize)| k == 0 || idle <= patience;
        let stays: Vec<bool> = self.idle.iter().enumerate().map(stays).collect();
        if !stays.contains(&false) {
            return stays;
        }
        keep(&mut self.h, &stays);
        self.h.iter_mut().for_each(|row| keep(row, &stays));
        keep(&mut self.q, &stays);
        keep(&mut self.alpha, &stays);
        keep(&mut self.idle, &stays);
        stays
    }

    /// q·α = D(α) + ½‖w‖², and C Σ α_k‖g_k‖ ≥ ‖w‖.
    pub(super) fn linear(&self) -> (f64, f64) {
        let sizes = (0..self.h.len()).map(|k| self.alpha[k] * self.h[k][k].sqrt());
        (dot(&self.q, &self.alpha), sizes.sum())
    }

    /// Maximises D, to within `tolerance`.
    pub(super) fn solve(&mut self, tolerance: f64) {
        let mut active: Vec<usize> = (0..self.q.len()).filter(|&k| self.alpha[k] > 0.0).collect();
        let (mut highest, mut idle) = (f64::NEG_INFINITY, 0);
        for _ in 0..MAX_STEPS {
            let r = self.slopes();
            let least = (0..r.len()).fold(0, |k, l| if r[l] < r[k] { l } else { k });
            let gap = dot(&self.alpha, &r) - r[least];
            let dual = 0.5 * (dot(&self.q, &self.alpha) - dot(&self.alpha, &r));
            // Rounding: no higher, though the best plane has joined.
            let higher = dual > highest + ROUNDING * highest.abs();
            idle = if higher { 0 } else { idle + 1 };
            highest = dual.max(highest);
            if gap <= tolerance || idle > MAX_IDLE || !gap.is_finite() {
                break;
            }
            if !active.contains(&least) {
                active.push(least);
            }
            self.maximise(&mut active, r);
        }
        for (idle, alpha) in self.idle.iter_mut().zip(&self.alpha) {
            *idle = if *alpha > 0.0 { 0 } else { *idle + 1 };
        }
    }

    /// Maximises D over the active planes; those that reach 0 become inactive.
    fn maximise(&mut self, active: &mut Vec<usize>, mut r: Vec<f64>) {
        loop {
            let heaviest =
                active.iter().fold(
                    active[0],
                    |k, &l| if self.alpha[l] > self.alpha[k] { l } else { k },
                );
            let others: Vec<usize> = active.iter().copied().filter(|&k| k != heaviest).collect();
            let Some(step) = self.newton(&others, heaviest, &r) else {
                return;
            };
            let rest = -step.iter().sum::<f64>();
            // The first bound on the way.
            let steps = || others.iter().copied().zip(step.iter().copied());
            let length = steps()
                .chain([(heaviest, rest)])
                .filter(|(_, step)| *step < 0.0)
                .map(|(k, step)| self.alpha[k] / -step)
                .fold(1.0, f64::min);
            let reached =
                |alpha: f64, step: f64| length < 1.0 && step < 0.0 && alpha / -step <= length;
            let mut sum = 0.0;
            for (k, step) in steps() {
                let alpha = self.alpha[k];
                self.alpha[k] = if reached(alpha, step) {
                    0.0
                } else {
                    alpha + length * step
                };
                sum += self.alpha[k];
            }
            let left = if reached(self.alpha[heaviest], rest) {
                0.0
            } else {
                (1.0 - sum).max(0.0)
            };
            self.alpha[heaviest] = left;
            let before = active.len();
            active.retain(|&k| self.alpha[k] > 0.0);
            if active.len() == before || active.is_empty() {
                return;
            }
            r = self.slopes();
        }
    }

    /// Newton's step of the `others`, while the heaviest takes what they leave: M s = −(r_k − r_0),
    /// M_kl = H_kl − H_k0 − H_0l + H_00.
    fn newton(&self, others: &[usize], heaviest: usize, r: &[f64]) -> Option<Vec<f64>> {
        let m = others.len();
        let top = &self.h[heaviest];
        let mut matrix = vec![0.0; m * m];
        for (row, &k) in matrix.chunks_exact_mut(m.max(1)).zip(others) {
            for (out, &l) in row.iter_mut().zip(others) {
                *out = (self.h[k][l] - top[k]) - (top[l] - top[heaviest]);
            }
        }
        let largest = (0..m).map(|k| matrix[k * m + k]).fold(0.0, f64::max);
        let size = if largest > 0.0 { largest } else { NOTHING };
        let mut step: Vec<f64> = others.iter().map(|&k| r[heaviest] - r[k]).collect();
        let mut ridge = 0.0;
        while ridge <= 1.0 {
            let mut shifted = matrix.clone();
            (0..m).for_each(|k| shifted[k * m + k] += ridge * size);
            if let Some(factor) = Cholesky::new(shifted, m) {
                factor.solve(&mut step);
                return step.iter().all(|s| s.is_finite()).then_some(step);
            }
            ridge = (ridge * RIDGE_GROWTH).max(RIDGE);
        }
        None
    }

    /// r = Hα − q.
    fn slopes(&self) -> Vec<f64> {
        let mut r = self.times(&self.alpha);
        r.iter_mut().zip(&self.q).for_each(|(r, q)| *r -= q);
        r
    }

    fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; x.len()];
        for (row, &x) in self.h.iter().zip(x) {
            if x != 0.0 {
                add_to(x, row, &mut product);
            }
        }
        product
    }
}

/// Those that stay.
pub(super) fn keep<T>(all: &mut Vec<T>, stays: &[bool]) {
    let mut stays = stays.iter();
    all.retain(|_| stays.next().copied().unwrap_or(true));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Planes g with their b; C = 1.
    fn bundle(planes: &[(&[f64], f64)]) -> Bundle {
        let mut bundle = Bundle::default();
        for (k, (g, b)) in planes.iter().enumerate() {
            bundle.push(
                planes[..=k]
                    .iter()
                    .map(|(other, _)| dot(g, other))
                    .collect(),
                *b,
            );
        }
        bundle
    }

    fn dual(bundle: &Bundle) -> f64 {
        dot(&bundle.q, &bundle.alpha) - 0.5 * dot(&bundle.times(&bundle.alpha), &bundle.alpha)
    }

    #[test]
    fn by_hand() {
        // min ½w² + max(0, 1 − 2w): w = ½ is the kink, 2α = ½.
        let mut b = bundle(&[(&[0.0], 0.0), (&[-2.0], 1.0)]);
        b.solve(1e-15);
        assert!((b.alpha[1] - 0.25).abs() < 1e-15 && (b.alpha[0] - 0.75).abs() < 1e-15);
        assert!((dual(&b) - 0.125).abs() < 1e-15);
        // min ½w² + max(0, 1 − w/2): w = ½ before the kink at 2.
        let mut b = bundle(&[(&[0.0], 0.0), (&[-0.5], 1.0)]);
        b.solve(1e-15);
        assert_eq!(b.alpha, [0.0, 1.0]);
        assert_eq!(dual(&b), 0.875);
    }

    /// 3-dimensional planes, many and some twice: the answer satisfies the conditions of an optimum.
    #[test]
    fn planes_that_depend_on_each_other() {
        let value = |k: usize| ((k * 7919 + k * k * 31) % 1009) as f64 / 500.0 - 1.0;
        for count in [1, 2, 5, 20, 100] {
            let g: Vec<[f64; 3]> = (0..count)
                .map(|k| std::array::from_fn(|j| value(3 * (k / 2 * 2) + j)))
                .collect();
            let mut planes: Vec<(&[f64], f64)> = vec![(&[0.0; 3], 0.0)];
            planes.extend(
                g.iter()
                    .enumerate()
                    .map(|(k, g)| (&g[..], value(k / 2 + 5).abs())),
            );
            let mut b = Bundle::default();
            for k in 0..planes.len() {
                let row = planes[..=k]
                    .iter()
                    .map(|(other, _)| dot(planes[k].0, other));
                b.push(row.collect(), planes[k].1);
                b.solve(1e-14);
                assert!((b.alpha.iter().sum::<f64>() - 1.0).abs() < 1e-14);
                assert!(b.alpha.iter().all(|a| *a >= 0.0));
                let r = b.slopes();
                let least = r.iter().copied().fold(f64::INFINITY, f64::min);
                let gap = dot(&r, &b.alpha) - least;
                assert!(gap <= 1e-13, "{k} of {count}: {gap:e}");
            }
        }
    }

    #[test]
    fn what_has_no_part_is_forgotten() {
        // The last plane is above the others where it matters.
        let mut b = bundle(&[(&[0.0], 0.0), (&[-0.1], 0.1), (&[-0.5], 1.0)]);
        b.solve(1e-15);
        assert_eq!(b.forget(1), [true; 3]);
        b.solve(1e-15);
        assert_eq!(b.forget(1), [true, false, true]);
        assert_eq!(
            (b.alpha.len(), b.h.len(), b.h[1].len(), b.q.len()),
            (2, 2, 2, 2)
        );
        assert_eq!(dual(&b), 0.875);
    }
}
