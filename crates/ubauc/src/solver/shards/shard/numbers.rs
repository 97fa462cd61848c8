//! Answers that need the solver's numbers and not the features.

use super::signed::{PIECE, Signed};
use super::{Shard, square_weight, zeros};
use crate::data::rows::{add_to, total};
use crate::objective::loss::{Loss, hinge_multiplier};

/// Rows at a time where several λ are asked for: their numbers stay in cache.
const BLOCK: usize = 2048;

impl Shard {
    pub(super) fn balance(&self, sigma: f64, slope: bool, lambdas: &[f64], out: &mut Vec<f64>) {
        let width = if slope { 4 } else { 3 };
        let answers = zeros(out, width * lambdas.len());
        let n = self.v.len();
        let block = if lambdas.len() > 1 { BLOCK } else { n.max(1) };
        for start in (0..n).step_by(block) {
            let end = n.min(start + block);
            let [v, dz] = [&self.v, &self.dz].map(|x| x.get(start..end).unwrap_or_default());
            let signed = (&self.signed, start);
            for (answer, &lambda) in answers.chunks_exact_mut(width).zip(lambdas) {
                let term = |v: f64, signed: f64| {
                    let e = sigma * (v - lambda);
                    let u = hinge_multiplier(e, signed);
                    (u, if u == e && u != 0.0 { 1.0 } else { 0.0 })
                };
                if slope {
                    let found = sums([v, dz], signed, |signed, v, dz| {
                        let (u, active) = term(v, signed);
                        [u.max(0.0), (-u).max(0.0), active, u * dz]
                    });
                    add_to(1.0, &found, answer);
                } else {
                    let found = sums([v, v], signed, |signed, v, _| {
                        let (u, active) = term(v, signed);
                        [u.max(0.0), (-u).max(0.0), active]
                    });
                    add_to(1.0, &found, answer);
                }
            }
        }
    }

    /// Σ (u⁺_i)²/V_i. u⁺ is below 0 for positive examples, above for negative ones.
    pub(super) fn candidate_squares(&self) -> f64 {
        let candidates = self.candidates.as_slice();
        let (numbers, signed) = ([candidates, candidates], (&self.signed, 0));
        let by_class = |u: f64, square: f64| {
            if u < 0.0 {
                [square, 0.0]
            } else {
                [0.0, square]
            }
        };
        let [pos, neg] = match self.unit {
            true => sums(numbers, signed, |_, u, _| by_class(u, u * u)),
            false => sums(numbers, signed, |signed, u, _| {
                by_class(u, u * u / signed.abs().max(f64::MIN_POSITIVE))
            }),
        };
        pos / self.factors[0] + neg / self.factors[1]
    }

    /// Σ V_i, Σ V_i a_i, Σ V_i a_i² for a(y_i, number_i).
    pub(super) fn squares(&self, numbers: &[f64], a: impl Fn(f64, f64) -> f64) -> [f64; 3] {
        let factors = self.factors;
        sums([numbers, numbers], (&self.signed, 0), |signed, x, _| {
            let weight = square_weight(factors, signed);
            let a = a(1f64.copysign(signed), x);
            [weight, weight * a, weight * (a * a)]
        })
    }

    pub(super) fn hinge_at(&self, lambda: f64) -> f64 {
        let hinge = |signed: f64, z: f64, _| [Loss::Hinge.value(signed * (lambda - z))];
        let [sum] = sums([&self.z, &self.z], (&self.signed, 0), hinge);
        sum
    }

    pub(super) fn near(&self, lambda: f64, margin: f64) -> f64 {
        let near = |(z, _): &(f64, f64)| (z - lambda).abs() <= margin;
        self.weighted_scores().filter(near).count() as f64
    }

    pub(super) fn above(&self, lambdas: &[f64], out: &mut Vec<f64>) {
        let sums = zeros(out, 2 * lambdas.len());
        let (weights, numbers) = sums.split_at_mut(lambdas.len());
        for (z, s) in self.weighted_scores() {
            // The last λ that z reaches; all before it are reached too.
            let reached = lambdas.partition_point(|lambda| *lambda <= z);
            if reached > 0 {
                weights[reached - 1] += s;
                numbers[reached - 1] += 1.0;
            }
        }
        for sums in [weights, numbers] {
            for k in (1..sums.len()).rev() {
                sums[k - 1] += sums[k];
            }
        }
    }

    pub(super) fn between(&self, low: f64, high: f64, out: &mut Vec<f64>) {
        let between = self.weighted_scores();
        let between = between.filter(|(z, _)| *z >= low && *z < high);
        let mut found: Vec<(f64, f64)> = between.collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        for equal in found.chunk_by(|a, b| a.0 == b.0) {
            out.extend([equal[0].0, equal.iter().map(|(_, s)| s).sum()]);
        }
    }

    pub(super) fn below(&self, lambda: f64) -> f64 {
        let below = self.weighted_scores().map(|(z, _)| z);
        below
            .filter(|z| *z < lambda)
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// N⁺, N⁻, rows of a weight above 0, and of weight 1.
    pub(super) fn weights_by_class(&self) -> [f64; 4] {
        sums([&self.z, &self.z], (&self.signed, 0), |s, _, _| {
            let weighted = if s == 0.0 { 0.0 } else { 1.0 };
            let one = if s.abs() == 1.0 { 1.0 } else { 0.0 };
            [s.max(0.0), (-s).max(0.0), weighted, one]
        })
    }
}

/// Sums of M terms a row, each of y_i s_i from a row on and of two numbers of that row, in lanes: vectors to the compiler.
#[inline]
pub(super) fn sums<const M: usize>(
    [a, b]: [&[f64]; 2],
    (signed, first): (&Signed, usize),
    term: impl Fn(f64, f64, f64) -> [f64; M],
) -> [f64; M] {
    const LANES: usize = 8;
    let n = a.len().min(b.len());
    let mut lanes = [[0.0; LANES]; M];
    let mut buffer = [0.0; PIECE];
    for start in (0..n).step_by(PIECE) {
        let end = n.min(start + PIECE);
        let signed = signed.piece(first + start..first + end, &mut buffer);
        let signed = signed.chunks_exact(LANES);
        let [a, b] = [a, b].map(|numbers| numbers[start..end].chunks_exact(LANES));
        for ((s, a), b) in signed.zip(a).zip(b) {
            for lane in 0..LANES {
                let terms = term(s[lane], a[lane], b[lane]);
                for (sum, x) in lanes.iter_mut().zip(terms) {
                    sum[lane] += x;
                }
            }
        }
    }
    let mut all = lanes.map(total);
    for k in n - n % LANES..n {
        for (sum, x) in all.iter_mut().zip(term(signed.at(first + k), a[k], b[k])) {
            *sum += x;
        }
    }
    all
}
