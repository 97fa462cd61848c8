//! One shard: rows, the solver's numbers for each, and the answers to every question.
//!
//! Per row i: z_i = x_i·w, its change dz_i = x_i·p along a direction p, the multiplier u_i, and
//!
//! ```text
//! v_i = z_i + t dz_i + u_i/σ,    u⁺_i(λ) = clip( σ(v_i − λ), lo_i, hi_i ),
//! [lo_i, hi_i] = [−s_i, 0] for a positive, [0, s_i] for a negative example of weight s_i.
//! ```
//!
//! V_i = s_i v_i is its weight in the least squares, and A are the rows whose u⁺ is strictly between its bounds. All of
//! it follows from what the shard was told so far: told the same again, another copy answers the same, to the last bit.

use std::ops::Range;
use std::sync::Arc;

use super::question::Question;
use crate::data::rows::{Rows, add_to, total};
use crate::data::scale;
use crate::solver::centred::{Centred, CentredRow};
use crate::solver::gram::Gram;

/// Rows at a time where several λ are asked for: their numbers stay in cache.
const BLOCK: usize = 2048;

/// Some of the rows, with the solver's numbers for each.
#[derive(Debug, Clone)]
pub struct Shard {
    span: Range<usize>,
    /// d: at least the columns of the rows.
    cols: usize,
    /// The mean of the features that are centred, if there is an intercept; see `centred.rs`.
    centre: Option<Arc<[f64]>>,
    /// v_i of positives and negatives in the least squares.
    factors: [f64; 2],
    /// s_i for a positive example, −s_i for a negative one.
    signed: Vec<f64>,
    /// Every s_i is 1.
    unit: bool,
    z: Vec<f64>,
    dz: Vec<f64>,
    u: Vec<f64>,
    v: Vec<f64>,
    /// u⁺ as last taken.
    fresh: Vec<f64>,
    active: Vec<u32>,
}

/// e within [−s, 0] or [0, s].
#[inline]
fn clip(e: f64, signed: f64) -> f64 {
    e.min((-signed).max(0.0)).max((-signed).min(0.0))
}

/// Sums of M terms a row, each of three numbers of that row, in lanes: vectors to the compiler.
#[inline]
fn sums<const M: usize>(rows: [&[f64]; 3], term: impl Fn(f64, f64, f64) -> [f64; M]) -> [f64; M] {
    const LANES: usize = 8;
    let mut lanes = [[0.0; LANES]; M];
    let [a, b, c] = rows.map(|row| row.chunks_exact(LANES));
    let rest = [&a, &b, &c].map(|chunks| chunks.remainder());
    for ((a, b), c) in a.zip(b).zip(c) {
        for lane in 0..LANES {
            let terms = term(a[lane], b[lane], c[lane]);
            for (sum, x) in lanes.iter_mut().zip(terms) {
                sum[lane] += x;
            }
        }
    }
    let mut all = lanes.map(total);
    for ((&a, &b), &c) in rest[0].iter().zip(rest[1]).zip(rest[2]) {
        for (sum, x) in all.iter_mut().zip(term(a, b, c)) {
            *sum += x;
        }
    }
    all
}

/// V_i.
#[inline]
fn square_weight(factors: [f64; 2], signed: f64) -> f64 {
    if signed > 0.0 {
        factors[0] * signed
    } else {
        -factors[1] * signed
    }
}

impl Shard {
    /// Of the rows in `span`; `weights` s_i ≥ 0 of all rows, 1 if none. Rows of weight 0 have scores but no say.
    ///
    /// # Panics
    /// If `positive` or `weights` do not reach the end of `span`.
    pub fn new(
        span: Range<usize>,
        cols: usize,
        positive: &[bool],
        weights: Option<&[f64]>,
    ) -> Shard {
        let sign = |i: usize| if positive[i] { 1.0 } else { -1.0 };
        let signed: Vec<f64> = span
            .clone()
            .map(|i| sign(i) * weights.map_or(1.0, |s| s[i]))
            .collect();
        let zeros = vec![0.0; signed.len()];
        let [z, dz, u, v, fresh] = std::array::from_fn(|_| zeros.clone());
        Shard {
            span,
            cols,
            centre: None,
            factors: [1.0; 2],
            signed,
            unit: weights.is_none(),
            z,
            dz,
            u,
            v,
            fresh,
            active: Vec::new(),
        }
    }

    /// The answers to a round, one after the other.
    pub fn answer(&mut self, rows: &Rows, round: &[Question]) -> Vec<f64> {
        let mut answers = Vec::new();
        for question in round {
            self.answer_one(rows, question, &mut answers);
        }
        answers
    }

    fn answer_one(&mut self, rows: &Rows, question: &Question, out: &mut Vec<f64>) {
        use Question as Q;
        match question {
            Q::Weigh(factors) => self.factors = *factors,
            Q::Centre(mean) => self.centre = Some(Arc::clone(mean)),
            Q::Place(w) => self.place(rows, w),
            Q::Aim(p) => self.aim(rows, p),
            Q::Shift { t, sigma } => self.shift(*t, *sigma),
            Q::Advance(t) => add_to(*t, &self.dz, &mut self.z),
            Q::Reset => {
                self.u.fill(0.0);
                self.fresh.fill(0.0);
            }
            Q::Renew => self.fresh.fill(0.0),
            Q::Commit => self.u.copy_from_slice(&self.fresh),
            Q::Prepare { beta, sigma } => self.prepare(*beta, *sigma),
            Q::Multipliers {
                lambda,
                sigma,
                keep,
            } => self.multipliers(rows, *lambda, *sigma, *keep, out),
            Q::Product(p) => self.product(rows, p, out),
            Q::Gram | Q::ActiveGram => {
                let mut gram = Gram::new(self.cols);
                match question {
                    Q::Gram => self.add_gram(rows, &mut gram),
                    _ => self.add_active_gram(rows, &mut gram),
                }
                out.extend(gram.packed());
            }
            Q::SquareSum => self.weighted_sum(rows, |weight, _| weight, out),
            Q::Target => self.weighted_sum(rows, f64::copysign, out),
            Q::Gradient(b) => self.gradient(rows, *b, out),
            Q::ActiveSum => self.active_sum(rows, out),
            Q::ActiveProduct(p) => self.active_product(rows, p, out),
            Q::SquareDiagonal => self.square_diagonal(rows, out),
            Q::ActiveDiagonal => self.active_diagonal(rows, out),
            Q::ActiveRows => self.active_rows(rows).for_each(|row| write_row(row, out)),
            Q::Totals | Q::Stored | Q::Ranges | Q::Scale(_) => self.about_rows(rows, question, out),
            _ => self.about_numbers(question, out),
        }
    }

    /// What does not need the solver's numbers.
    fn about_rows(&self, rows: &Rows, question: &Question, out: &mut Vec<f64>) {
        match question {
            Question::Ranges => {
                for range in scale::ranges(self.weighted(rows), self.cols) {
                    out.extend([range.min, range.max, range.stored as f64, range.weight]);
                }
            }
            Question::Stored => {
                let counts = zeros(out, self.cols);
                for i in self.span.clone() {
                    rows.row(i).for_each(|j, _| counts[j] += 1.0);
                }
            }
            Question::Scale(pass) => {
                let sums = zeros(out, pass.width() * self.cols);
                pass.add(self.weighted(rows), sums);
            }
            _ => out.extend(self.totals(rows)),
        }
    }

    /// What does not need the features.
    fn about_numbers(&self, question: &Question, out: &mut Vec<f64>) {
        use Question as Q;
        match question {
            Q::Balance {
                sigma,
                slope,
                lambdas,
            } => self.balance(*sigma, *slope, lambdas, out),
            Q::Residuals(c) => out.extend(self.squares(&self.z, |y, z| y - z - c)),
            Q::Spread(c) => out.extend(self.squares(&self.z, |_, z| z - c)),
            Q::Along(c) => out.extend(self.squares(&self.dz, |_, dz| dz - c)),
            Q::Hinge(lambda) => {
                let hinge = |z: f64, signed: f64, _| [(signed * (lambda - z)).max(0.0)];
                out.extend(sums([&self.z, &self.signed, &self.signed], hinge));
            }
            Q::Near { lambda, margin } => {
                let near = |(z, _): &(f64, f64)| (z - lambda).abs() <= *margin;
                out.push(self.with_say().filter(near).count() as f64);
            }
            Q::Above(lambdas) => self.above(lambdas, out),
            Q::Between { low, high } => {
                let between = self.with_say().filter(|(z, _)| z >= low && z < high);
                let mut found: Vec<(f64, f64)> = between.collect();
                found.sort_by(|a, b| a.0.total_cmp(&b.0));
                for equal in found.chunk_by(|a, b| a.0 == b.0) {
                    out.extend([equal[0].0, equal.iter().map(|(_, s)| s).sum()]);
                }
            }
            Q::Below(lambda) => {
                let below = self.with_say().map(|(z, _)| z).filter(|z| z < lambda);
                out.push(below.fold(f64::NEG_INFINITY, f64::max));
            }
            Q::Weights => out.extend(self.signed.iter().map(|s| s.abs())),
            _ => out.extend_from_slice(&self.z),
        }
    }

    /// z_i and s_i of the rows with a say.
    fn with_say(&self) -> impl Iterator<Item = (f64, f64)> {
        let rows = self.z.iter().zip(&self.signed);
        rows.filter(|(_, s)| **s != 0.0).map(|(z, s)| (*z, s.abs()))
    }

    fn active_sum(&self, rows: &Rows, out: &mut Vec<f64>) {
        let sum = zeros(out, self.cols);
        self.active_rows(rows).for_each(|row| row.add_to(1.0, sum));
    }

    fn square_diagonal(&self, rows: &Rows, out: &mut Vec<f64>) {
        let diagonal = zeros(out, self.cols);
        for (i, &signed) in self.span.clone().zip(&self.signed) {
            let weight = square_weight(self.factors, signed);
            if weight != 0.0 {
                add_squares(weight, self.row(rows, i), diagonal);
            }
        }
    }

    fn active_diagonal(&self, rows: &Rows, out: &mut Vec<f64>) {
        let diagonal = zeros(out, self.cols);
        self.active_rows(rows)
            .for_each(|row| add_squares(1.0, row, diagonal));
    }

    #[inline]
    fn row<'r>(&'r self, rows: &'r Rows, i: usize) -> CentredRow<'r> {
        self.centred(rows).row(i)
    }

    fn centred<'r>(&'r self, rows: &'r Rows) -> Centred<'r> {
        Centred {
            rows,
            shift: self.centre.as_deref(),
        }
    }

    /// Rows with a say, and their weights, as they are.
    fn weighted<'r>(
        &'r self,
        rows: &'r Rows,
    ) -> impl Iterator<Item = (crate::data::rows::Row<'r>, f64)> + Clone {
        let all = self.span.clone().zip(&self.signed);
        all.map(|(i, s)| (rows.row(i), s.abs()))
            .filter(|(_, s)| *s > 0.0)
    }

    fn active_rows<'r>(&'r self, rows: &'r Rows) -> impl Iterator<Item = CentredRow<'r>> {
        let rows = self.centred(rows);
        let start = self.span.start;
        self.active
            .iter()
            .map(move |&k| rows.row(start + k as usize))
    }

    fn totals(&self, rows: &Rows) -> [f64; 7] {
        let s = self.signed.as_slice();
        let [pos, neg, say, one] = sums([s, s, s], |s, _, _| {
            let say = if s == 0.0 { 0.0 } else { 1.0 };
            let one = if s.abs() == 1.0 { 1.0 } else { 0.0 };
            [s.max(0.0), (-s).max(0.0), say, one]
        });
        let stored: usize = match rows {
            Rows::Dense(_) => self.span.len() * rows.cols(),
            Rows::Csr(_) => self.span.clone().map(|i| rows.row(i).stored()).sum(),
        };
        let sparse = match rows {
            Rows::Dense(_) => 0,
            Rows::Csr(_) => self.span.len(),
        };
        let len = self.span.len();
        [pos, neg, len as f64, say, stored as f64, sparse as f64, one]
    }

    fn place(&mut self, rows: &Rows, w: &[f64]) {
        let rows = Centred {
            rows,
            shift: self.centre.as_deref(),
        };
        for (z, i) in self.z.iter_mut().zip(self.span.clone()) {
            *z = rows.row(i).dot(w);
        }
    }

    fn aim(&mut self, rows: &Rows, p: &[f64]) {
        let rows = Centred {
            rows,
            shift: self.centre.as_deref(),
        };
        let numbers = self.dz.iter_mut().zip(self.span.clone());
        for ((dz, i), signed) in numbers.zip(&self.signed) {
            if *signed != 0.0 {
                *dz = rows.row(i).dot(p);
            }
        }
    }

    fn shift(&mut self, t: f64, sigma: f64) {
        let per_sigma = 1.0 / sigma;
        let Shard { z, dz, u, v, .. } = self;
        for (((v, z), dz), u) in v.iter_mut().zip(z).zip(dz).zip(u) {
            *v = *z + t * *dz + *u * per_sigma;
        }
    }

    fn prepare(&mut self, beta: f64, sigma: f64) {
        for (v, signed) in self.v.iter_mut().zip(&self.signed) {
            *v = beta * square_weight(self.factors, *signed);
        }
        for &k in &self.active {
            self.v[k as usize] += sigma;
        }
    }

    /// Σ a(V_i, y_i) x_i.
    fn weighted_sum(&self, rows: &Rows, a: impl Fn(f64, f64) -> f64, out: &mut Vec<f64>) {
        let sum = zeros(out, self.cols);
        for (i, &signed) in self.span.clone().zip(&self.signed) {
            let weight = square_weight(self.factors, signed);
            self.row(rows, i).add_to(a(weight, signed), sum);
        }
    }

    pub(super) fn active(&self) -> usize {
        self.active.len()
    }

    pub(super) fn add_gram(&self, rows: &Rows, gram: &mut Gram) {
        for (i, &signed) in self.span.clone().zip(&self.signed) {
            gram.add(square_weight(self.factors, signed), self.row(rows, i));
        }
    }

    pub(super) fn add_active_gram(&self, rows: &Rows, gram: &mut Gram) {
        for row in self.active_rows(rows) {
            gram.add(1.0, row);
        }
    }

    fn balance(&self, sigma: f64, slope: bool, lambdas: &[f64], out: &mut Vec<f64>) {
        let width = if slope { 4 } else { 3 };
        let answers = zeros(out, width * lambdas.len());
        let n = self.v.len();
        for start in (0..n).step_by(if lambdas.len() > 1 { BLOCK } else { n.max(1) }) {
            let end = if lambdas.len() > 1 {
                n.min(start + BLOCK)
            } else {
                n
            };
            let [v, signed, dz] = [&self.v, &self.signed, &self.dz].map(|x| &x[start..end]);
            for (answer, &lambda) in answers.chunks_exact_mut(width).zip(lambdas) {
                let term = |v: f64, signed: f64| {
                    let e = sigma * (v - lambda);
                    let u = clip(e, signed);
                    (u, if u == e && u != 0.0 { 1.0 } else { 0.0 })
                };
                if slope {
                    let found = sums([v, signed, dz], |v, signed, dz| {
                        let (u, active) = term(v, signed);
                        [u.max(0.0), (-u).max(0.0), active, u * dz]
                    });
                    add_to(1.0, &found, answer);
                } else {
                    let found = sums([v, signed, signed], |v, signed, _| {
                        let (u, active) = term(v, signed);
                        [u.max(0.0), (-u).max(0.0), active]
                    });
                    add_to(1.0, &found, answer);
                }
            }
        }
    }

    fn multipliers(
        &mut self,
        rows: &Rows,
        lambda: f64,
        sigma: f64,
        [keep_up, keep_down]: [f64; 2],
        out: &mut Vec<f64>,
    ) {
        self.active.clear();
        let (mut hinges, mut slack) = (0.0, 0.0);
        for k in 0..self.v.len() {
            let (e, signed) = (sigma * (self.v[k] - lambda), self.signed[k]);
            let u = clip(e, signed);
            if u == e && u != 0.0 {
                self.active.push(k as u32);
            }
            let u = u * if u > 0.0 { keep_up } else { keep_down };
            // y = sign of `signed`; s[y(λ − z)]₊ + u(λ − z) ≥ 0 since −yu ∈ [0, s].
            let below = lambda - self.z[k];
            let hinge = (signed * below).max(0.0);
            hinges += hinge;
            slack += hinge + u * below;
            self.v[k] = u;
        }
        // v holds u⁺ now, which is below 0 for positive examples. Σ (u⁺)²/V by class.
        let numbers = [&self.v, &self.signed, &self.signed].map(Vec::as_slice);
        let by_class = |u: f64, square: f64| {
            if u < 0.0 {
                [square, 0.0]
            } else {
                [0.0, square]
            }
        };
        let [pos, neg] = match self.unit {
            true => sums(numbers, |u, _, _| by_class(u, u * u)),
            false => sums(numbers, |u, signed, _| {
                by_class(u, u * u / signed.abs().max(f64::MIN_POSITIVE))
            }),
        };
        let squares = pos / self.factors[0] + neg / self.factors[1];
        out.extend([hinges, slack, self.active.len() as f64, squares]);
        // The difference goes to the sum and u⁺ takes its place.
        let sum = zeros(out, self.cols);
        let rows = Centred {
            rows,
            shift: self.centre.as_deref(),
        };
        for k in 0..self.v.len() {
            let change = self.v[k] - self.fresh[k];
            if change != 0.0 {
                rows.row(self.span.start + k).add_to(change, sum);
                self.fresh[k] = self.v[k];
            }
        }
    }

    /// Σ V_i, Σ V_i a_i, Σ V_i a_i² for a(y_i, number_i).
    fn squares(&self, numbers: &[f64], a: impl Fn(f64, f64) -> f64) -> [f64; 3] {
        let factors = self.factors;
        sums([numbers, &self.signed, &self.signed], |x, signed, _| {
            let weight = square_weight(factors, signed);
            let a = a(1f64.copysign(signed), x);
            [weight, weight * a, weight * (a * a)]
        })
    }

    fn gradient(&self, rows: &Rows, b: f64, out: &mut Vec<f64>) {
        let sum = zeros(out, self.cols);
        for (k, i) in self.span.clone().enumerate() {
            let signed = self.signed[k];
            let weight = square_weight(self.factors, signed);
            if weight != 0.0 {
                let residual = self.z[k] + b - 1f64.copysign(signed);
                self.row(rows, i).add_to(weight * residual, sum);
            }
        }
    }

    fn active_product(&self, rows: &Rows, p: &[f64], out: &mut Vec<f64>) {
        let (sum, mut along) = (zeros(out, self.cols), 0.0);
        for row in self.active_rows(rows) {
            let dz = row.dot(p);
            row.add_to(dz, sum);
            along += dz;
        }
        out.push(along);
    }

    fn product(&mut self, rows: &Rows, p: &[f64], out: &mut Vec<f64>) {
        let sum = zeros(out, self.cols);
        let mut square = 0.0;
        let rows = Centred {
            rows,
            shift: self.centre.as_deref(),
        };
        for (k, i) in self.span.clone().enumerate() {
            if self.v[k] == 0.0 {
                continue; // a row without a say
            }
            let row = rows.row(i);
            let dz = row.dot(p);
            row.add_to(self.v[k] * dz, sum);
            square += square_weight(self.factors, self.signed[k]) * dz;
            self.dz[k] = dz;
        }
        let active: f64 = self.active.iter().map(|&k| self.dz[k as usize]).sum();
        out.extend([square, active]);
    }

    fn above(&self, lambdas: &[f64], out: &mut Vec<f64>) {
        let sums = zeros(out, 2 * lambdas.len());
        let (weights, numbers) = sums.split_at_mut(lambdas.len());
        for (z, s) in self.with_say() {
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
}

/// So many zeros at the end.
fn zeros(out: &mut Vec<f64>, n: usize) -> &mut [f64] {
    let start = out.len();
    out.resize(start + n, 0.0);
    &mut out[start..]
}

fn add_squares(a: f64, row: CentredRow<'_>, diagonal: &mut [f64]) {
    row.entries().for_each(|(j, x)| diagonal[j] += a * x * x);
}

/// −1 and all entries, or the number of entries, columns and values.
fn write_row(row: CentredRow<'_>, out: &mut Vec<f64>) {
    match row.row {
        crate::data::rows::Row::Dense(_) => {
            out.push(-1.0);
            out.extend(row.entries().map(|(_, x)| x));
        }
        crate::data::rows::Row::Sparse(columns, values) => {
            out.push(values.len() as f64);
            out.extend(columns.iter().map(|&j| f64::from(j)));
            out.extend(row.entries().map(|(_, x)| x));
        }
    }
}
