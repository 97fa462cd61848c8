//! The long way: dense vectors, all iterates added up one by one, an implicit step by Gaussian elimination.
#![allow(clippy::needless_range_loop)] // indices as in the formulas

use ubauc::objective::ubauc::{ClassWeight, LeastSquares};
use ubauc::solver::ol_ubauc::{OlUbaucParams, Rate, RunningScale, Step};

/// f + (1/2η)‖· − ·_t‖² of one example, at η; `s` its weight, `v` of the least squares.
pub(super) struct Subproblem<'a> {
    pub(super) params: &'a OlUbaucParams,
    pub(super) x: &'a [f64],
    pub(super) y: f64,
    pub(super) s: f64,
    pub(super) v: f64,
    pub(super) eta: f64,
    /// w_t, then λ_t, then b_t.
    pub(super) from: &'a [f64],
}

impl Subproblem<'_> {
    pub(super) fn value(&self, at: &[f64]) -> f64 {
        let d = self.x.len();
        let c: f64 = self.x.iter().zip(at).map(|(x, w)| x * w).sum();
        let (lambda, b) = (at[d], at[d + 1]);
        let t = self.y * (lambda - c);
        let hinge = match self.params.softness {
            0.0 => t.max(0.0),
            softness => t.max(0.0) + softness * (-(t / softness).abs()).exp().ln_1p(),
        };
        let square = self.params.beta / 2.0 * self.v * (self.y - c - b).powi(2);
        let norm: f64 = at[..d].iter().map(|w| w * w).sum();
        let far: f64 = at.iter().zip(self.from).map(|(a, b)| (a - b).powi(2)).sum();
        self.s * (hinge + square + self.params.gamma / 2.0 * norm) + far / (2.0 * self.eta)
    }

    /// The minimum for the soft loss: the multiplier is halved into [0, 1] until it is the slope of the loss at the margin of
    /// the linear system that it makes. The margin is linear in it.
    fn soft_minimum(&self, h: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let ends = [0.0, 1.0].map(|a| h(&self.quadratic(a, false)));
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..200 {
            let a = 0.5 * (low + high);
            let margin = ends[0] + a * (ends[1] - ends[0]);
            match slope(margin, self.params.softness) > a {
                true => low = a,
                false => high = a,
            }
        }
        self.quadratic(0.5 * (low + high), false)
    }

    /// The least of the three cases that are consistent: without the hinge, with it, on its kink. Each is a linear
    /// system. Answers the point and which case it was.
    pub(super) fn minimum(&self) -> (Vec<f64>, &'static str) {
        let h = |at: &[f64]| {
            let c: f64 = self.x.iter().zip(at).map(|(x, w)| x * w).sum();
            self.y * (at[self.x.len()] - c)
        };
        if self.params.softness > 0.0 {
            return (self.soft_minimum(h), "soft");
        }
        let inactive = self.quadratic(0.0, false);
        if h(&inactive) <= 0.0 {
            return (inactive, "inactive");
        }
        let active = self.quadratic(1.0, false);
        if h(&active) >= 0.0 {
            return (active, "active");
        }
        (self.quadratic(0.0, true), "kink")
    }

    /// The minimum with a·s·h in place of the hinge, or on h = 0.
    fn quadratic(&self, a: f64, on_kink: bool) -> Vec<f64> {
        let d = self.x.len();
        // Unknown: w, λ, b, and the multiplier of h = 0.
        let n = d + 3;
        let mut matrix = vec![vec![0.0; n + 1]; n];
        let g = self.s * self.params.beta * self.v;
        let y = self.y;
        for j in 0..d {
            for k in 0..d {
                matrix[j][k] += g * self.x[j] * self.x[k];
            }
            matrix[j][j] += self.s * self.params.gamma + 1.0 / self.eta;
            matrix[j][d + 1] = g * self.x[j];
            matrix[d + 1][j] = g * self.x[j];
            matrix[j][n] = self.from[j] / self.eta + (g + a * self.s) * y * self.x[j];
        }
        matrix[d][d] = 1.0 / self.eta;
        matrix[d][n] = self.from[d] / self.eta - a * self.s * y;
        matrix[d + 1][d + 1] = g + 1.0 / self.eta;
        matrix[d + 1][n] = self.from[d + 1] / self.eta + g * y;
        if !self.params.intercept {
            // b stays.
            for (k, entry) in matrix[d + 1].iter_mut().enumerate() {
                *entry = if k == d + 1 { 1.0 } else { 0.0 };
            }
            matrix[d + 1][n] = self.from[d + 1];
        }
        if on_kink {
            for j in 0..d {
                matrix[j][d + 2] = -y * self.x[j];
                matrix[d + 2][j] = -self.x[j];
            }
            matrix[d][d + 2] = y;
            matrix[d + 2][d] = 1.0;
        } else {
            matrix[d + 2][d + 2] = 1.0;
        }
        let mut at = eliminate(matrix);
        at.pop();
        at
    }
}

/// φ' of the soft loss.
fn slope(t: f64, softness: f64) -> f64 {
    1.0 / (1.0 + (-t / softness).exp())
}

/// Gauss with pivots; the right side is the last column.
fn eliminate(mut m: Vec<Vec<f64>>) -> Vec<f64> {
    let n = m.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| m[a][k].abs().total_cmp(&m[b][k].abs()));
        m.swap(k, pivot.unwrap());
        for i in k + 1..n {
            let by = m[i][k] / m[k][k];
            for j in k..=n {
                let above = m[k][j];
                m[i][j] -= by * above;
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| m[k][j] * x[j]).sum();
        x[k] = (m[k][n] - known) / m[k][k];
    }
    x
}

/// An iterate, and the base in it.
type Past = (Vec<f64>, Vec<f64>);

/// The learner, dense: `at` holds w of the scaled features, λ and b.
pub(super) struct Naive {
    params: OlUbaucParams,
    scale: RunningScale,
    pub(super) at: Vec<f64>,
    /// Of raw features, from a model; decays with the rest.
    base: Vec<f64>,
    largest: Vec<f64>,
    /// Every iterate averaged, and the base it holds.
    past: Vec<Past>,
    steps: u64,
    /// Class and weight of every example.
    history: Vec<(bool, f64)>,
    /// The sizes of every example's features, as they were learned.
    sizes: Vec<Vec<f64>>,
    /// With an intercept: every example so far, and which features are centred at which mean.
    seen: Vec<Vec<f64>>,
    centre: Vec<Option<f64>>,
}

impl Naive {
    pub(super) fn new(params: &OlUbaucParams, scale: RunningScale, d: usize) -> Naive {
        Naive {
            params: *params,
            scale,
            at: vec![0.0; d + 2],
            base: vec![0.0; d],
            largest: vec![
                if scale == RunningScale::None {
                    1.0
                } else {
                    0.0
                };
                d
            ],
            past: Vec::new(),
            steps: 0,
            history: Vec::new(),
            sizes: Vec::new(),
            seen: Vec::new(),
            centre: vec![None; d],
        }
    }

    /// What the last but `age` still counts.
    fn remembered(&self, age: usize) -> f64 {
        match self.params.half_life {
            Some(half_life) => 0.5f64.powf(age as f64 / half_life),
            None => 1.0,
        }
    }

    /// The weighted sum over a past, oldest first.
    fn sum<T>(&self, past: &[T], of: impl Fn(&T) -> f64) -> f64 {
        let ages = (0..past.len()).rev();
        past.iter()
            .zip(ages)
            .map(|(x, age)| self.remembered(age) * of(x))
            .sum()
    }

    /// Whether a block of examples ends here.
    fn ends_block(&self, examples: usize) -> Option<usize> {
        let block = (self.params.half_life?.min(1e9).ceil() as usize)
            .next_power_of_two()
            .max(1024);
        examples.is_multiple_of(block).then_some(block)
    }

    /// The largest values of the last two blocks are the scale; raw weights stay.
    fn forget_sizes(&mut self) {
        let Some(block) = self.ends_block(self.sizes.len()) else {
            return;
        };
        for j in 0..self.base.len() {
            let last = self.sizes.iter().rev().take(2 * block);
            let to = last.map(|sizes| sizes[j]).fold(0.0, f64::max);
            let m = self.largest[j];
            if self.scale == RunningScale::None || to == 0.0 || to >= m {
                continue;
            }
            self.at[j] *= to / m;
            for (at, _) in &mut self.past {
                at[j] *= to / m;
            }
            self.largest[j] = to;
        }
    }

    /// Puts an example to those seen, decides after 1, 2, 4, … of them which features are centred, and keeps the scores of
    /// all iterates as they were.
    fn see(&mut self, x: &[f64]) {
        self.seen.push(x.to_vec());
        let (n, d) = (self.seen.len(), x.len());
        for j in 0..d {
            let present = self.sum(&self.seen, |x| f64::from(u8::from(x[j] != 0.0)));
            let total = self.sum(&self.seen, |_| 1.0);
            let mean = self.sum(&self.seen, |x| x[j]) / total;
            let before = self.centre[j];
            let dense = match n.is_power_of_two() || self.ends_block(n).is_some() {
                true => 2.0 * present >= total,
                false => before.is_some(),
            };
            let after = dense.then_some(mean);
            let delta = after.unwrap_or(0.0) - before.unwrap_or(0.0);
            let m = self.largest[j];
            let widened = before.is_some() != after.is_some()
                && self.scale == RunningScale::MaxAbs
                && m > 0.0;
            let to = if widened { m + mean.abs() } else { m };
            let follow = |at: &mut [f64], base: &[f64]| {
                let raw = if m > 0.0 { at[j] / m } else { base[j] };
                at[d] -= raw * delta;
                at[d + 1] += raw * delta;
                if widened {
                    at[j] *= to / m;
                }
            };
            follow(&mut self.at, &self.base);
            for (at, base) in &mut self.past {
                follow(at, base);
            }
            for sizes in self.sizes.iter_mut().filter(|s| widened && s[j] > 0.0) {
                sizes[j] += mean.abs();
            }
            self.largest[j] = to;
            self.centre[j] = after;
        }
    }

    pub(super) fn start_from(&mut self, weights: &[f64], b: f64, lambda: f64) {
        let d = self.base.len();
        self.base = weights.to_vec();
        if self.scale == RunningScale::None {
            self.at[..d].copy_from_slice(weights);
        }
        self.at[d] = lambda;
        self.at[d + 1] = b;
    }

    fn grow(&mut self, x: &[f64]) {
        for (j, x) in x.iter().enumerate() {
            let (m, to) = (self.largest[j], x.abs());
            if self.scale == RunningScale::None || to <= m {
                continue;
            }
            // Raw: what was learned is multiplied by (m/m')², the base stays.
            let regrow = |w: &mut f64, base: f64| {
                let learned = if m > 0.0 { *w / m - base } else { 0.0 };
                *w = to * (base + learned * (m / to).powi(2));
            };
            regrow(&mut self.at[j], self.base[j]);
            for (w, base) in &mut self.past {
                regrow(&mut w[j], base[j]);
            }
            self.largest[j] = to;
        }
    }

    /// The weights of the negatives and of the positives so far.
    fn totals(&self) -> [f64; 2] {
        [false, true].map(|class| {
            self.sum(
                &self.history,
                |&(positive, s)| {
                    if positive == class { s } else { 0.0 }
                },
            )
        })
    }

    /// What balances the classes so far.
    fn balance(&self, positive: bool) -> f64 {
        let [neg, pos] = self.totals();
        match neg > 0.0 && pos > 0.0 {
            true => (neg + pos) / (2.0 * if positive { pos } else { neg }),
            false => 1.0,
        }
    }

    /// The factor of the weight, and v, of which one alone can balance.
    fn factors(&self, positive: bool) -> (f64, f64) {
        match (self.params.class_weight, self.params.least_squares) {
            (ClassWeight::Balanced, _) => (self.balance(positive), 1.0),
            (ClassWeight::None, LeastSquares::Balanced) => (1.0, self.balance(positive)),
            (ClassWeight::None, LeastSquares::Plain) => (1.0, 1.0),
            // The classes weigh N/(1 + R) and RN/(1 + R) in sum.
            (ClassWeight::Ratio(r), kind) => {
                let share = if positive { 1.0 } else { r } / (1.0 + r);
                let v = match kind {
                    LeastSquares::Plain => 1.0,
                    LeastSquares::Balanced => 0.5 / share,
                };
                match self.totals().iter().all(|n| *n > 0.0) {
                    true => (2.0 * share * self.balance(positive), v),
                    false => (1.0, 1.0),
                }
            }
        }
    }

    /// η_t.
    fn eta(&self) -> f64 {
        let t = self.sum(&self.history, |_| 1.0);
        match self.params.rate {
            Rate::InverseSqrt => self.params.eta0 / t.sqrt(),
            Rate::Inverse => self.params.eta0 / t,
            Rate::Constant => self.params.eta0,
        }
    }

    pub(super) fn learn(&mut self, x: &[f64], positive: bool, s: f64) {
        if s == 0.0 {
            return;
        }
        let example = x;
        let is_first = self.seen.is_empty();
        if self.params.intercept && is_first {
            self.see(example);
        }
        let centred: Vec<f64> = (x.iter().zip(&self.centre))
            .map(|(x, centre)| x - centre.unwrap_or(0.0))
            .collect();
        let x = &centred[..];
        self.grow(x);
        let d = x.len();
        let size = |j: usize| {
            if self.largest[j] > 0.0 {
                self.largest[j]
            } else {
                1.0
            }
        };
        let x: Vec<f64> = (0..d).map(|j| x[j] / size(j)).collect();
        let y = if positive { 1.0 } else { -1.0 };
        self.history.push((positive, s));
        self.sizes.push(centred.iter().map(|x| x.abs()).collect());
        self.steps += 1;
        let ((share, v), eta) = (self.factors(positive), self.eta());
        let s = s * share;
        let mut kept;
        match self.params.step {
            Step::Implicit => {
                let problem = Subproblem {
                    params: &self.params,
                    x: &x,
                    y,
                    s,
                    v,
                    eta,
                    from: &self.at,
                };
                let (at, _) = problem.minimum();
                self.at = at;
                kept = 1.0 / (1.0 + eta * s * self.params.gamma);
            }
            Step::Sgd => {
                // Eq. (9) with x xᵀ written out (E3).
                let w = self.at[..d].to_vec();
                let (lambda, b) = (self.at[d], self.at[d + 1]);
                let c: f64 = x.iter().zip(&w).map(|(x, w)| x * w).sum();
                let active = match self.params.softness {
                    0.0 => f64::from(u8::from(y * (lambda - c) > 0.0)),
                    softness => slope(y * (lambda - c), softness),
                };
                let beta = s * self.params.beta * v;
                for j in 0..d {
                    let outer: f64 = (0..d).map(|k| x[j] * x[k] * w[k]).sum();
                    let slope = s * self.params.gamma * w[j] + beta * outer
                        - (beta + s * active) * y * x[j]
                        + beta * b * x[j];
                    self.at[j] -= eta * slope;
                }
                self.at[d] -= eta * s * active * y;
                if self.params.intercept {
                    self.at[d + 1] += eta * beta * (y - c - b);
                }
                kept = 1.0 - eta * s * self.params.gamma;
            }
        }
        let norm = self.at[..d].iter().map(|w| w * w).sum::<f64>().sqrt();
        if let Some(radius) = self.params.radius.filter(|r| norm > *r) {
            self.at[..d].iter_mut().for_each(|w| *w *= radius / norm);
            kept *= radius / norm;
        }
        self.base.iter_mut().for_each(|w| *w *= kept);
        if self.params.average.is_some_and(|after| self.steps > after) {
            self.past.push((self.at.clone(), self.base.clone()));
        }
        if self.params.intercept && !is_first {
            self.see(example);
        }
        self.forget_sizes();
    }

    /// Raw weights, then λ and b, as they would be saved.
    pub(super) fn saved(&self) -> Vec<f64> {
        let d = self.base.len();
        let one = (self.at.clone(), self.base.clone());
        let all = if self.past.is_empty() {
            std::slice::from_ref(&one)
        } else {
            &self.past
        };
        let mean = |f: &dyn Fn(&Past) -> f64| self.sum(all, f) / self.sum(all, |_| 1.0);
        let mut saved: Vec<f64> = (0..d + 2)
            .map(|j| match self.largest.get(j) {
                None => mean(&|p| p.0[j]),
                Some(&m) if m > 0.0 => mean(&|p| p.0[j]) / m,
                Some(_) => mean(&|p| p.1[j]),
            })
            .collect();
        // For raw features.
        for j in 0..d {
            let offset = saved[j] * self.centre[j].unwrap_or(0.0);
            saved[d] += offset;
            saved[d + 1] -= offset;
        }
        saved
    }
}
