//! What the solver asks of the rows: scores, and sums over rows. Here, and only here, are the
//! divisors, the intercept, and the means that are taken off the features where there is one (`centred.rs`).

use rayon::prelude::*;

use super::{Iterate, LogisticParams};
use crate::data::dataset::Dataset;
use crate::data::rows::Rows;
use crate::solver::centred::{Centred, CentredRow, Columns, means};

/// Rows of one task that computes something for each row.
const CHUNK: usize = 4096;
/// A sum over rows is made in at most this many parts, …
const MAX_PARTS: usize = 32;
/// … which hold this many numbers together, if they are more than one.
const MAX_NUMBERS: usize = 1 << 25;

pub(super) struct Logistic<'a> {
    rows: &'a Rows,
    /// The means that are taken off.
    pub(super) shift: Option<Vec<f64>>,
    positive: &'a [bool],
    /// s_i / N.
    share: Vec<f64>,
    /// r_j, and 1 for the intercept if there is one.
    pub(super) scale: Vec<f64>,
    gamma: f64,
}

impl<'a> Logistic<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        weights: Option<&[f64]>,
        divisors: Option<&[f64]>,
        params: &LogisticParams,
    ) -> Logistic<'a> {
        let n = data.rows().len();
        let share = match weights {
            None => vec![1.0 / n as f64; n],
            Some(weights) => {
                let total: f64 = weights.iter().sum();
                weights.iter().map(|s| s / total).collect()
            }
        };
        let mut scale = match divisors {
            None => vec![1.0; data.rows().cols()],
            Some(divisors) => divisors.to_vec(),
        };
        if params.intercept {
            scale.push(1.0);
        }
        Logistic {
            rows: data.rows(),
            shift: match params.intercept {
                true => means(data.rows(), weights, Columns::Full),
                false => None,
            },
            positive: data.positive(),
            share,
            scale,
            gamma: params.gamma,
        }
    }

    fn row(&self, i: usize) -> CentredRow<'_> {
        let (rows, shift) = (self.rows, self.shift.as_deref());
        Centred { rows, shift }.row(i)
    }

    /// z_i of every row that is not held out.
    pub(super) fn scores(&self, w: &[f64]) -> Vec<f64> {
        let v: Vec<f64> = w.iter().zip(&self.scale).map(|(w, r)| w / r).collect();
        let (v, b) = v.split_at(self.rows.cols());
        let b = b.first().copied().unwrap_or(0.0);
        let score = |i: usize| {
            if self.share[i] > 0.0 {
                self.row(i).dot(v) + b
            } else {
                0.0
            }
        };
        let rows = (0..self.rows.len()).into_par_iter();
        rows.with_min_len(CHUNK).map(score).collect()
    }

    pub(super) fn at(&self, w: Vec<f64>) -> Iterate {
        let scores = self.scores(&w);
        self.at_scores(w, scores)
    }

    /// With m = y z and e = exp(−|m|): log(1 + exp(−m)) = [−m]₊ + log(1 + e), and the slope in z is
    /// −y/(1 + exp(m)). Nothing overflows and one exponential does.
    pub(super) fn at_scores(&self, w: Vec<f64>, scores: Vec<f64>) -> Iterate {
        let n = scores.len();
        let (mut slopes, mut curvatures) = (vec![0.0; n], vec![0.0; n]);
        let losses: Vec<f64> = slopes
            .par_chunks_mut(CHUNK)
            .zip(curvatures.par_chunks_mut(CHUNK))
            .enumerate()
            .map(|(chunk, (slopes, curvatures))| {
                let mut loss = 0.0;
                for (k, (slope, curvature)) in slopes.iter_mut().zip(curvatures).enumerate() {
                    let i = chunk * CHUNK + k;
                    let s = self.share[i];
                    if s > 0.0 {
                        let y = if self.positive[i] { 1.0 } else { -1.0 };
                        let margin = y * scores[i];
                        let e = (-margin.abs()).exp();
                        let p = if margin >= 0.0 { e } else { 1.0 } / (1.0 + e);
                        loss += s * ((-margin).max(0.0) + e.ln_1p());
                        *slope = -s * y * p;
                        *curvature = s * e / ((1.0 + e) * (1.0 + e));
                    }
                }
                loss
            })
            .collect();
        let (penalised, _) = w.split_at(self.rows.cols());
        let penalty = 0.5 * self.gamma * super::dot(penalised, penalised);
        Iterate {
            value: losses.iter().sum::<f64>() + penalty,
            w,
            scores,
            slopes,
            curvatures,
        }
    }

    pub(super) fn gradient(&self, point: &Iterate) -> Vec<f64> {
        let mut gradient = self.transposed_times(&point.slopes);
        self.penalise(&point.w, &mut gradient);
        gradient
    }

    /// H v.
    pub(super) fn hessian_times(&self, curvatures: &[f64], v: &[f64]) -> Vec<f64> {
        let mut scores = self.scores(v);
        for (score, curvature) in scores.iter_mut().zip(curvatures) {
            *score *= curvature;
        }
        let mut product = self.transposed_times(&scores);
        self.penalise(v, &mut product);
        product
    }

    /// H, both triangles.
    pub(super) fn hessian(&self, curvatures: &[f64]) -> Vec<f64> {
        let (d, m) = (self.rows.cols(), self.scale.len());
        let work = self.rows.stored() / self.rows.len().max(1) * self.rows.stored() / 2;
        let mut hessian = self.sum(m * m, work, |i, h| {
            let row = self.row(i);
            row.with_values(|row| row.add_outer(curvatures[i], m, h));
            if m > d {
                row.entries()
                    .for_each(|(j, x)| h[j * m + d] += curvatures[i] * x);
                h[d * m + d] += curvatures[i];
            }
        });
        for i in 0..m {
            for j in i..m {
                let scaled = hessian[i * m + j] / self.scale[i] / self.scale[j];
                hessian[i * m + j] = scaled;
                hessian[j * m + i] = scaled;
            }
        }
        for j in 0..d {
            hessian[j * m + j] += self.gamma;
        }
        hessian
    }

    /// The diagonal of H.
    pub(super) fn diagonal(&self, curvatures: &[f64]) -> Vec<f64> {
        let (d, m) = (self.rows.cols(), self.scale.len());
        let mut diagonal = self.sum(m, self.rows.stored(), |i, sum| {
            self.row(i).entries().for_each(|(j, x)| {
                let scaled = x / self.scale[j];
                sum[j] += curvatures[i] * scaled * scaled;
            });
            if m > d {
                sum[d] += curvatures[i];
            }
        });
        diagonal[..d].iter_mut().for_each(|h| *h += self.gamma);
        diagonal
    }

    /// Σ_i a_i x_i, of scaled features.
    fn transposed_times(&self, a: &[f64]) -> Vec<f64> {
        let (d, m) = (self.rows.cols(), self.scale.len());
        let mut product = self.sum(m, self.rows.stored(), |i, sum| {
            self.row(i).add_to(a[i], &mut sum[..d]);
            if m > d {
                sum[d] += a[i];
            }
        });
        for (x, r) in product.iter_mut().zip(&self.scale) {
            *x /= r;
        }
        product
    }

    fn penalise(&self, w: &[f64], sum: &mut [f64]) {
        let d = self.rows.cols();
        super::add(self.gamma, &w[..d], &mut sum[..d]);
    }

    /// A sum of `len` numbers over the rows that are not held out. It is made in parts that are
    /// added in order; a part must be worth its `len` numbers, by the `work` of all rows together.
    fn sum(&self, len: usize, work: usize, add: impl Fn(usize, &mut [f64]) + Sync) -> Vec<f64> {
        let n = self.rows.len();
        let parts = (work / len.saturating_mul(4).max(1))
            .min(MAX_NUMBERS / len.max(1))
            .clamp(1, MAX_PARTS);
        let size = n.div_ceil(parts).max(1);
        let sums: Vec<Vec<f64>> = (0..n.div_ceil(size))
            .into_par_iter()
            .map(|part| {
                let mut sum = vec![0.0; len];
                for i in part * size..n.min((part + 1) * size) {
                    if self.share[i] > 0.0 {
                        add(i, &mut sum);
                    }
                }
                sum
            })
            .collect();
        let mut sums = sums.into_iter();
        let mut total = sums.next().unwrap_or_else(|| vec![0.0; len]);
        for sum in sums {
            super::add(1.0, &sum, &mut total);
        }
        total
    }
}
