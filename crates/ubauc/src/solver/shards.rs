//! What a batch solver may ask of the rows: sums over them, and maps that keep a number a row.
//!
//! Rows are held in shards. Every question is answered shard by shard and the answers are added in
//! the order of the shards, so that a result depends on the number of shards, which follows from
//! the number of rows, and never on that of threads. Nothing of size N leaves a shard.
//!
//! Per row i: z_i = x_i·w, its change dz_i = x_i·p along a direction p, the multiplier u_i, and
//!
//! ```text
//! v_i = z_i + t dz_i + u_i/σ,    u⁺_i(λ) = clip( σ(v_i − λ), lo_i, hi_i ),
//! [lo_i, hi_i] = [−s_i, 0] for a positive, [0, s_i] for a negative example of weight s_i.
//! ```
//!
//! Features are divided by per-feature divisors on the way, so that neither the rows nor the solver
//! need a scaled copy.

use std::ops::Range;

use rayon::prelude::*;

use super::centred::{Centred, CentredRow};
use super::gram::{Gram, rank_one};
use crate::data::dataset::Dataset;
use crate::data::rows::{Rows, add_to, dot, total};
use crate::objective::ubauc::{ClassWeights, LeastSquares};

/// Rows of a shard: enough work for a thread, and few enough for their numbers to stay in cache.
const SHARD_ROWS: usize = 8192;
/// No more shards than this, since each may answer with a vector of d numbers.
const MAX_SHARDS: usize = 64;
/// Matrices of d² numbers that may be summed side by side.
const MAX_GRAMS: usize = 8;

/// All rows, with the solver's numbers for each.
pub(crate) struct Shards<'a> {
    rows: &'a Rows,
    /// The mean of dense rows, if there is an intercept; see `centred.rs`.
    shift: Option<Vec<f64>>,
    shards: Vec<Shard>,
    divisors: Option<&'a [f64]>,
    /// N⁺ and N⁻, sums of weights.
    pub(crate) total: ClassWeights,
    /// v_i of positives and negatives in the least squares.
    factors: [f64; 2],
}

struct Shard {
    span: Range<usize>,
    /// s_i for a positive example, −s_i for a negative one.
    signed: Vec<f64>,
    z: Vec<f64>,
    dz: Vec<f64>,
    u: Vec<f64>,
    v: Vec<f64>,
    /// u⁺ as last summed.
    fresh: Vec<f64>,
    active: Vec<u32>,
}

/// The least-squares term as a quadratic of w: Σ s_i v_i (y_i − b − x_i·w)², b eliminated or 0.
#[derive(Debug, Clone)]
pub(crate) struct Moments {
    /// Xᵀ S V X, lower triangle, less the part of the mean if there is an intercept.
    pub(crate) gram: Vec<f64>,
    /// Xᵀ S V y, likewise.
    pub(crate) target: Vec<f64>,
    /// The diagonal of the matrix before the part of the mean was taken off.
    pub(crate) before: Vec<f64>,
}

/// Answer to [`Shards::balance`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Balance {
    /// Σ u⁺_i.
    pub(crate) sum: f64,
    /// How many u⁺_i are strictly between their bounds.
    pub(crate) active: f64,
}

/// Answer to [`Shards::multipliers`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Complementarity {
    /// Σ s_i [y_i(λ − z_i)]₊.
    pub(crate) hinge: f64,
    /// hinge − Σ u⁺_i (z_i − λ): how far u⁺ is from a subgradient of the hinge at z, ≥ 0.
    pub(crate) slack: f64,
}

/// See [`Shards::newton_matrix`].
pub(crate) struct NewtonMatrix {
    beta: f64,
    sigma: f64,
    /// Σ V_i.
    weight: f64,
    /// XᵀV1, with an intercept.
    centre: Option<Vec<f64>>,
    /// |A| and Σ_A x_i.
    active: f64,
    active_sum: Vec<f64>,
}

/// Sums that centre the least squares: Σ s v and Σ s v a over the rows.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    weight: f64,
    sum: f64,
}

impl Mean {
    fn value(self) -> f64 {
        self.sum / self.weight
    }
}

/// e within [−s, 0] or [0, s].
#[inline]
fn clip(e: f64, signed: f64) -> f64 {
    e.min((-signed).max(0.0)).max((-signed).min(0.0))
}

/// Sums of two terms a row, each of three numbers of that row, in lanes: vectors to the compiler.
#[inline]
fn sum2(rows: [&[f64]; 3], term: impl Fn(f64, f64, f64) -> (f64, f64)) -> (f64, f64) {
    const LANES: usize = 8;
    let (mut first, mut second) = ([0.0; LANES], [0.0; LANES]);
    let [a, b, c] = rows.map(|row| row.chunks_exact(LANES));
    let rest = [&a, &b, &c].map(|chunks| chunks.remainder());
    for ((a, b), c) in a.zip(b).zip(c) {
        for lane in 0..LANES {
            let (x, y) = term(a[lane], b[lane], c[lane]);
            first[lane] += x;
            second[lane] += y;
        }
    }
    let (mut x, mut y) = (total(first), total(second));
    for ((&a, &b), &c) in rest[0].iter().zip(rest[1]).zip(rest[2]) {
        let (s, t) = term(a, b, c);
        x += s;
        y += t;
    }
    (x, y)
}

impl<'a> Shards<'a> {
    /// `weights` s_i ≥ 0, 1 if none; rows of weight 0 have scores but no say.
    pub(crate) fn new(
        data: &'a Dataset,
        weights: Option<&[f64]>,
        divisors: Option<&'a [f64]>,
        least_squares: LeastSquares,
    ) -> Shards<'a> {
        let rows = data.rows();
        let n = rows.len();
        let count = n.div_ceil(SHARD_ROWS).clamp(1, MAX_SHARDS);
        let shards: Vec<Shard> = (0..count)
            .into_par_iter()
            .map(|shard| {
                let span = shard * n / count..(shard + 1) * n / count;
                let sign = |i: usize| if data.positive()[i] { 1.0 } else { -1.0 };
                let signed: Vec<f64> = span
                    .clone()
                    .map(|i| sign(i) * weights.map_or(1.0, |s| s[i]))
                    .collect();
                let zeros = vec![0.0; signed.len()];
                let [z, dz, u, v, fresh] = std::array::from_fn(|_| zeros.clone());
                Shard {
                    span,
                    signed,
                    z,
                    dz,
                    u,
                    v,
                    fresh,
                    active: Vec::new(),
                }
            })
            .collect();
        let mut total = ClassWeights::default();
        for shard in &shards {
            let s = shard.signed.as_slice();
            let (pos, neg) = sum2([s, s, s], |s, _, _| (s.max(0.0), (-s).max(0.0)));
            total.pos += pos;
            total.neg += neg;
        }
        let factors = match least_squares {
            LeastSquares::Plain => [1.0, 1.0],
            LeastSquares::Balanced => [total.pos, total.neg].map(|n| total.sum() / (2.0 * n)),
        };
        Shards {
            rows,
            shift: None,
            shards,
            divisors,
            total,
            factors,
        }
    }

    pub(crate) fn cols(&self) -> usize {
        self.rows.cols()
    }

    pub(crate) fn stored(&self) -> usize {
        self.rows.stored()
    }

    /// Takes the weighted mean off dense rows from here on: for a problem with an intercept, which takes it up.
    pub(crate) fn centre(&mut self) {
        if !matches!(self.rows, Rows::Dense(_)) {
            return;
        }
        let (factors, divisors) = (self.factors, self.divisors.take());
        let n = factors[0] * self.total.pos + factors[1] * self.total.neg;
        // In raw units, hence without the divisors.
        let sum = self.vector(|rows, shard, sum| {
            for (k, i) in shard.span.clone().enumerate() {
                let weight = Self::square_weight(factors, shard.signed[k]);
                rows.row(i).add_to(weight, sum);
            }
        });
        self.divisors = divisors;
        self.shift = Some(sum.into_iter().map(|sum| sum / n).collect());
    }

    /// m·w for raw weights w: what centred scores lack.
    pub(crate) fn offset(&self, raw: &[f64]) -> f64 {
        self.shift.as_deref().map_or(0.0, |m| dot(m, raw))
    }

    /// s_i v_i of the least squares.
    #[inline]
    fn square_weight(factors: [f64; 2], signed: f64) -> f64 {
        if signed > 0.0 {
            factors[0] * signed
        } else {
            -factors[1] * signed
        }
    }

    fn centred(&self) -> Centred<'_> {
        Centred {
            rows: self.rows,
            shift: self.shift.as_deref(),
        }
    }

    /// Asks every shard.
    fn each<T: Send>(&mut self, ask: impl Fn(Centred<'_>, &mut Shard) -> T + Sync) -> Vec<T> {
        let rows = Centred {
            rows: self.rows,
            shift: self.shift.as_deref(),
        };
        if let [shard] = self.shards.as_mut_slice() {
            return vec![ask(rows, shard)];
        }
        self.shards
            .par_iter_mut()
            .map(|shard| ask(rows, shard))
            .collect()
    }

    /// A sum of vectors of length d over the shards.
    fn vector(&mut self, ask: impl Fn(Centred<'_>, &mut Shard, &mut [f64]) + Sync) -> Vec<f64> {
        let d = self.cols();
        let parts = self.each(|rows, shard| {
            let mut sum = vec![0.0; d];
            ask(rows, shard, &mut sum);
            sum
        });
        let mut sum = parts.into_iter().reduce(|mut a, b| {
            add_to(1.0, &b, &mut a);
            a
        });
        self.divide(sum.get_or_insert_default());
        sum.unwrap_or_default()
    }

    fn divide(&self, x: &mut [f64]) {
        if let Some(divisors) = self.divisors {
            x.iter_mut()
                .zip(divisors)
                .for_each(|(x, divisor)| *x /= divisor);
        }
    }

    /// Weights for the raw features.
    pub(crate) fn raw(&self, w: &[f64]) -> Vec<f64> {
        let mut w = w.to_vec();
        self.divide(&mut w);
        w
    }

    /// Weights for the divided features.
    pub(crate) fn scaled(&self, raw: &[f64]) -> Vec<f64> {
        let divisor = |j: usize| self.divisors.map_or(1.0, |divisors| divisors[j]);
        raw.iter()
            .enumerate()
            .map(|(j, w)| w * divisor(j))
            .collect()
    }

    /// z = Xw.
    pub(crate) fn place(&mut self, w: &[f64]) {
        let w = self.raw(w);
        self.each(|rows, shard| {
            for (z, i) in shard.z.iter_mut().zip(shard.span.clone()) {
                *z = rows.row(i).dot(&w);
            }
        });
    }

    /// dz = Xp, but for rows without a say.
    pub(crate) fn aim(&mut self, p: &[f64]) {
        let p = self.raw(p);
        self.each(|rows, shard| {
            let Shard {
                span, dz, signed, ..
            } = shard;
            for ((dz, i), signed) in dz.iter_mut().zip(span.clone()).zip(signed) {
                if *signed != 0.0 {
                    *dz = rows.row(i).dot(&p);
                }
            }
        });
    }

    /// v = z + t dz + u/σ.
    pub(crate) fn shift(&mut self, t: f64, sigma: f64) {
        let per_sigma = 1.0 / sigma;
        self.each(|_, shard| {
            let Shard { z, dz, u, v, .. } = shard;
            for (((v, z), dz), u) in v.iter_mut().zip(z).zip(dz).zip(u) {
                *v = *z + t * *dz + *u * per_sigma;
            }
        });
    }

    /// Σ u⁺ and its slope at a λ.
    pub(crate) fn balance(&mut self, lambda: f64, sigma: f64) -> Balance {
        let parts = self.each(|_, shard| {
            sum2([&shard.v, &shard.signed, &shard.signed], |v, signed, _| {
                let e = sigma * (v - lambda);
                let u = clip(e, signed);
                (u, if u == e && u != 0.0 { 1.0 } else { 0.0 })
            })
        });
        parts
            .into_iter()
            .fold(Balance::default(), |all, (sum, active)| Balance {
                sum: all.sum + sum,
                active: all.active + active,
            })
    }

    /// Σ u⁺_i dz_i at a λ: the slope of the envelope along the direction.
    pub(crate) fn slope(&mut self, lambda: f64, sigma: f64) -> f64 {
        let parts = self.each(|_, shard| {
            sum2([&shard.v, &shard.signed, &shard.dz], |v, signed, dz| {
                (clip(sigma * (v - lambda), signed) * dz, 0.0)
            })
            .0
        });
        parts.into_iter().sum()
    }

    /// z ← z + t dz.
    pub(crate) fn advance(&mut self, t: f64) {
        self.each(|_, shard| add_to(t, &shard.dz, &mut shard.z));
    }

    /// Takes u⁺ at λ: the rows between their bounds become active; answers how far it is from a
    /// subgradient at z, and adds Xᵀ(u⁺ − last u⁺) to `sum`, at the cost of the rows that changed.
    pub(crate) fn multipliers(
        &mut self,
        lambda: f64,
        sigma: f64,
        sum: &mut [f64],
    ) -> Complementarity {
        // What rounding or an early end of the search has left of Σu⁺ is taken from the heavier side, so that u⁺ is
        // feasible and the bound a bound.
        let sides = self.each(|_, shard| {
            sum2([&shard.v, &shard.signed, &shard.signed], |v, signed, _| {
                let u = clip(sigma * (v - lambda), signed);
                (u.max(0.0), (-u).max(0.0))
            })
        });
        let (up, down) = sides
            .iter()
            .fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
        let share = |mine: f64, other: f64| if mine > other { other / mine } else { 1.0 };
        let (keep_up, keep_down) = (share(up, down), share(down, up));
        let parts = self.each(|_, shard| {
            shard.active.clear();
            let mut found = Complementarity::default();
            for k in 0..shard.v.len() {
                let (e, signed) = (sigma * (shard.v[k] - lambda), shard.signed[k]);
                let u = clip(e, signed);
                if u == e && u != 0.0 {
                    shard.active.push(k as u32);
                }
                let u = u * if u > 0.0 { keep_up } else { keep_down };
                // y = sign of `signed`; s[y(λ − z)]₊ + u(λ − z) ≥ 0 since −yu ∈ [0, s].
                let below = lambda - shard.z[k];
                let hinge = (signed * below).max(0.0);
                found.hinge += hinge;
                found.slack += hinge + u * below;
                shard.v[k] = u;
            }
            found
        });
        // v holds u⁺ now; the difference goes to the sum and u⁺ takes its place.
        let change = self.vector(|rows, shard, sum| {
            for k in 0..shard.v.len() {
                let change = shard.v[k] - shard.fresh[k];
                if change != 0.0 {
                    rows.row(shard.span.start + k).add_to(change, sum);
                    shard.fresh[k] = shard.v[k];
                }
            }
        });
        add_to(1.0, &change, sum);
        parts
            .into_iter()
            .fold(Complementarity::default(), |all, part| Complementarity {
                hinge: all.hinge + part.hinge,
                slack: all.slack + part.slack,
            })
    }

    /// u = u⁺ = 0.
    pub(crate) fn reset(&mut self) {
        self.each(|_, shard| {
            shard.u.fill(0.0);
            shard.fresh.fill(0.0);
        });
    }

    /// u ← u⁺.
    pub(crate) fn commit(&mut self) {
        self.each(|_, shard| shard.u.copy_from_slice(&shard.fresh));
    }

    /// How many rows are active.
    pub(crate) fn active(&self) -> usize {
        self.shards.iter().map(|shard| shard.active.len()).sum()
    }

    /// The active rows, one after the other, all entries written out.
    pub(crate) fn active_rows(&self) -> Vec<f64> {
        let d = self.cols();
        let mut dense = vec![0.0; self.active() * d];
        for (row, out) in self.active_iter().zip(dense.chunks_exact_mut(d.max(1))) {
            row.add_to(1.0, out);
            self.divide(out);
        }
        dense
    }

    /// The entries of the active rows.
    pub(crate) fn active_entries(&self) -> Vec<Vec<(u32, f64)>> {
        let divisor = |j: usize| self.divisors.map_or(1.0, |d| d[j]);
        let entries = |row: CentredRow<'_>| {
            row.entries()
                .map(|(j, x)| (j as u32, x / divisor(j)))
                .collect()
        };
        self.active_iter().map(entries).collect()
    }

    fn active_iter(&self) -> impl Iterator<Item = CentredRow<'_>> {
        let rows = self.centred();
        let of_shard = |shard: &'_ Shard| {
            let start = shard.span.start;
            let active = shard.active.clone();
            active.into_iter().map(move |k| start + k as usize)
        };
        self.shards
            .iter()
            .flat_map(of_shard)
            .map(move |i| rows.row(i))
    }

    /// a ← a + σ(Σ_A x xᵀ − m x̄ x̄ᵀ), lower triangle; m active rows with mean x̄.
    pub(crate) fn add_active_gram(&self, sigma: f64, a: &mut [f64]) {
        let d = self.cols();
        let mut gram = Gram::new(d);
        let mut mean = vec![0.0; d];
        let m = self.active() as f64;
        for row in self.active_iter() {
            gram.add(sigma, row);
            row.add_to(1.0 / m, &mut mean);
        }
        let mut gram = gram.finish();
        if m > 0.0 {
            rank_one(-sigma * m, &mean, &mut gram);
        }
        self.divide_matrix(&mut gram);
        add_to(1.0, &gram, a);
    }

    fn divide_matrix(&self, a: &mut [f64]) {
        let d = self.cols();
        if let Some(divisors) = self.divisors {
            for (row, by) in a.chunks_exact_mut(d.max(1)).zip(divisors) {
                row.iter_mut()
                    .zip(divisors)
                    .for_each(|(a, divisor)| *a /= divisor * by);
            }
        }
    }

    /// The least squares as a quadratic of w, with the intercept eliminated if there is one.
    pub(crate) fn moments(&mut self, intercept: bool) -> Moments {
        let d = self.cols();
        let factors = self.factors;
        let target = self.vector(|rows, shard, sum| {
            for (k, i) in shard.span.clone().enumerate() {
                let signed = shard.signed[k];
                let weight = Self::square_weight(factors, signed);
                rows.row(i).add_to(weight.copysign(signed), sum);
            }
        });
        let gram = self.gram();
        let n = factors[0] * self.total.pos + factors[1] * self.total.neg;
        let mut moments = Moments {
            gram,
            target,
            before: Vec::new(),
        };
        if intercept {
            let mean = self.vector(|rows, shard, sum| {
                for (k, i) in shard.span.clone().enumerate() {
                    let weight = Self::square_weight(factors, shard.signed[k]);
                    rows.row(i).add_to(weight, sum);
                }
            });
            let mean: Vec<f64> = mean.into_iter().map(|sum| sum / n).collect();
            let y = (factors[0] * self.total.pos - factors[1] * self.total.neg) / n;
            moments.before = (0..d).map(|j| moments.gram[j * d + j]).collect();
            rank_one(-n, &mean, &mut moments.gram);
            add_to(-n * y, &mean, &mut moments.target);
        }
        debug_assert_eq!(moments.gram.len(), d * d);
        moments
    }

    /// Xᵀ S V X, lower triangle. Groups of shards have a matrix each, as many as the data are worth.
    fn gram(&self) -> Vec<f64> {
        let (d, rows) = (self.cols(), self.centred());
        let worth = (self.stored() * 3 / 2).checked_div(d * d).unwrap_or(0);
        let groups = worth.clamp(1, MAX_GRAMS).min(self.shards.len());
        let size = self.shards.len().div_ceil(groups);
        let parts: Vec<Vec<f64>> = self
            .shards
            .par_chunks(size)
            .map(|shards| {
                let mut gram = Gram::new(d);
                for shard in shards {
                    for (k, i) in shard.span.clone().enumerate() {
                        let weight = Self::square_weight(self.factors, shard.signed[k]);
                        gram.add(weight, rows.row(i));
                    }
                }
                gram.finish()
            })
            .collect();
        let mut gram = parts.into_iter().reduce(|mut a, b| {
            add_to(1.0, &b, &mut a);
            a
        });
        self.divide_matrix(gram.get_or_insert_default());
        gram.unwrap_or_default()
    }

    /// Σ s v (a centred if there is an intercept), for a = y − z: the mean residual is b itself.
    fn mean(&mut self, of: impl Fn(f64, f64, f64) -> f64 + Sync) -> Mean {
        let factors = self.factors;
        let parts = self.each(|_, shard| {
            sum2([&shard.z, &shard.signed, &shard.dz], |z, signed, dz| {
                let weight = Self::square_weight(factors, signed);
                (weight, weight * of(1f64.copysign(signed), z, dz))
            })
        });
        parts
            .into_iter()
            .fold(Mean::default(), |all, (weight, sum)| Mean {
                weight: all.weight + weight,
                sum: all.sum + sum,
            })
    }

    /// b that is best for the current z: the weighted mean of y − z.
    pub(crate) fn intercept(&mut self) -> f64 {
        self.mean(|y, z, _| y - z).value()
    }

    /// Σ s v (y − z − b)².
    pub(crate) fn squares(&mut self, b: f64) -> f64 {
        self.mean(|y, z, _| (y - z - b).powi(2)).sum
    }

    /// Σ s v (dz − mean)², the mean being 0 without an intercept.
    pub(crate) fn curvature(&mut self, intercept: bool) -> f64 {
        let mean = if intercept {
            self.mean(|_, _, dz| dz).value()
        } else {
            0.0
        };
        self.mean(|_, _, dz| (dz - mean).powi(2)).sum
    }

    /// β Xᵀ S V (z + b − y): the gradient of the least squares.
    pub(crate) fn gradient(&mut self, beta: f64, b: f64) -> Vec<f64> {
        let factors = self.factors;
        self.vector(|rows, shard, sum| {
            for (k, i) in shard.span.clone().enumerate() {
                let signed = shard.signed[k];
                let weight = Self::square_weight(factors, signed);
                if weight == 0.0 {
                    continue;
                }
                let residual = shard.z[k] + b - 1f64.copysign(signed);
                rows.row(i).add_to(beta * weight * residual, sum);
            }
        })
    }

    /// Prepares products with βXᵀVX + σX̃_AᵀX̃_A (V-centred with an intercept). With r_i = βV_i + σ1_A(i)
    ///
    /// ```text
    /// M p = Σ_i r_i (x_i·p) x_i − β mean_V(Xp) XᵀV1 − σ mean_A(Xp) Σ_A x_i,
    /// ```
    ///
    /// so that a row is read once for both of its products.
    pub(crate) fn newton_matrix(&mut self, beta: f64, sigma: f64, intercept: bool) -> NewtonMatrix {
        let factors = self.factors;
        let weight = factors[0] * self.total.pos + factors[1] * self.total.neg;
        let centre = intercept.then(|| {
            self.vector(|rows, shard, sum| {
                for (k, i) in shard.span.clone().enumerate() {
                    let weight = Self::square_weight(factors, shard.signed[k]);
                    rows.row(i).add_to(weight, sum);
                }
            })
        });
        let active_sum = self.vector(|rows, shard, sum| {
            for &k in &shard.active {
                rows.row(shard.span.start + k as usize).add_to(1.0, sum);
            }
        });
        self.each(|_, shard| {
            for (v, signed) in shard.v.iter_mut().zip(&shard.signed) {
                *v = beta * Self::square_weight(factors, *signed);
            }
            for &k in &shard.active {
                shard.v[k as usize] += sigma;
            }
        });
        let active = self.active() as f64;
        NewtonMatrix {
            beta,
            sigma,
            weight,
            centre,
            active,
            active_sum,
        }
    }

    /// The matrix last prepared, times p.
    pub(crate) fn newton_product(&mut self, matrix: &NewtonMatrix, p: &[f64]) -> Vec<f64> {
        let p = self.raw(p);
        let (d, factors, centred) = (p.len(), self.factors, matrix.centre.is_some());
        let parts = self.each(|rows, shard| {
            let mut sum = vec![0.0; d];
            let mut square = 0.0;
            for (k, i) in shard.span.clone().enumerate() {
                if shard.v[k] == 0.0 {
                    continue; // a row without a say
                }
                let row = rows.row(i);
                let dz = row.dot(&p);
                row.add_to(shard.v[k] * dz, &mut sum);
                if centred {
                    square += Self::square_weight(factors, shard.signed[k]) * dz;
                }
                shard.dz[k] = dz;
            }
            let active: f64 = shard.active.iter().map(|&k| shard.dz[k as usize]).sum();
            (sum, square, active)
        });
        let all = parts.into_iter().reduce(|(mut sum, square, active), part| {
            add_to(1.0, &part.0, &mut sum);
            (sum, square + part.1, active + part.2)
        });
        let (mut product, square, active) = all.unwrap_or_default();
        self.divide(&mut product);
        if let Some(centre) = &matrix.centre {
            add_to(-matrix.beta * square / matrix.weight, centre, &mut product);
        }
        if matrix.active > 0.0 {
            let mean = active / matrix.active;
            add_to(-matrix.sigma * mean, &matrix.active_sum, &mut product);
        }
        product
    }

    /// The diagonal of βXᵀVX, means left on.
    pub(crate) fn square_diagonal(&mut self, beta: f64) -> Vec<f64> {
        let factors = self.factors;
        self.diagonal(|shard, k| beta * Self::square_weight(factors, shard.signed[k]))
    }

    /// The diagonal of X_AᵀX_A.
    pub(crate) fn active_diagonal(&mut self) -> Vec<f64> {
        self.each(|_, shard| {
            shard.v.fill(0.0);
            for &k in &shard.active {
                shard.v[k as usize] = 1.0;
            }
        });
        self.diagonal(|shard, k| shard.v[k])
    }

    /// Σ_i a_i x_ij² for every j.
    fn diagonal(&mut self, a: impl Fn(&Shard, usize) -> f64 + Sync) -> Vec<f64> {
        let mut diagonal = self.vector(|rows, shard, sum| {
            for (k, i) in shard.span.clone().enumerate() {
                let a = a(shard, k);
                if a != 0.0 {
                    rows.row(i).entries().for_each(|(j, x)| sum[j] += a * x * x);
                }
            }
        });
        self.divide(&mut diagonal);
        diagonal
    }

    /// Σ s_i [y_i(λ − z_i)]₊.
    pub(crate) fn hinge(&mut self, lambda: f64) -> f64 {
        let parts = self.each(|_, shard| {
            sum2([&shard.z, &shard.signed, &shard.signed], |z, signed, _| {
                ((signed * (lambda - z)).max(0.0), 0.0)
            })
            .0
        });
        parts.into_iter().sum()
    }

    /// How many examples that count are within `margin` of λ.
    pub(crate) fn near(&mut self, lambda: f64, margin: f64) -> usize {
        let parts = self.each(|_, shard| {
            let rows = shard.z.iter().zip(&shard.signed);
            rows.filter(|(z, s)| (*z - lambda).abs() <= margin && **s != 0.0)
                .count()
        });
        parts.into_iter().sum()
    }

    /// All z, in the order of the rows.
    pub(crate) fn scores(&self) -> Vec<f64> {
        self.shards
            .iter()
            .flat_map(|shard| shard.z.iter().copied())
            .collect()
    }

    /// All weights s_i, in the order of the rows.
    pub(crate) fn weights(&self) -> Vec<f64> {
        self.shards
            .iter()
            .flat_map(|shard| shard.signed.iter().map(|s| s.abs()))
            .collect()
    }

    /// The weighted standard deviation of z, and a λ that balances the classes roughly: its mean.
    pub(crate) fn spread(&mut self) -> (f64, f64) {
        let mean = self.mean(|_, z, _| z).value();
        let square = self.mean(|_, z, _| (z - mean).powi(2));
        (square.value().sqrt(), mean)
    }
}
