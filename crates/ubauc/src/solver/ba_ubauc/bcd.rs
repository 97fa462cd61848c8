//! The paper's batch method, block descent on Eq. (8): for small problems, and for comparison.
//!
//! ```text
//! P(w, b, λ) = 1/N Σ_i s_i { [y_i(λ − c_i)]₊ + (β/2) v_i (1 − y_i c_i)² } + (γ/2)‖w‖²,   c_i = w·x_i + b
//! ```
//!
//! in mean form ([`crate::objective::ubauc`]), with λ a threshold of the scores c_i with b in them. One round:
//!
//! ```text
//! w-step  min over (w, b, t) of Σ s_i { t_i + (β/2) v_i (y_i − c_i)² } + (Nγ/2)‖w‖²
//!         subject to t_i ≥ y_i(λ − c_i), t_i ≥ 0         (the paper prints ≤: E2), by Clarabel
//! λ-step  λ ← the middle of [c↑_{N⁻}, c↑_{N⁻+1}]          (the paper prints N⁺: E1), with sample weights
//! ```
//!
//! The start is the least-squares solution. **It need not reach the minimum** (E12): it stops where w and λ would
//! have to move together.
//!
//! How far above the minimum it may be is bounded by the dual problem. For every u with −y_i u_i ∈ [0, s_i] and
//! Σ u_i = 0, min_λ Σ s_i[y_i(λ − c_i)]₊ ≥ u·c, hence
//!
//! ```text
//! N·P ≥ N·D(u) = min over (w, b) of (β/2) Σ s_i v_i (y_i − c_i)² + (Nγ/2)‖w‖² + u·Xw
//! ```
//!
//! u comes from the multipliers of the w-step, which satisfy all but Σ u_i = 0; the class with more is scaled down.
//! Where γ = 0 and the features do not determine w, there is only P ≥ 0.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT,
};

use crate::data::dataset::Dataset;
use crate::data::rows::Row;
use crate::data::scale::check_each_weight;
use crate::objective::loss::Loss;
use crate::objective::ubauc::{Chunk, ClassWeights, LeastSquares, Objective, Sums};
use crate::solver::threshold::threshold;
use crate::{Error, Result};

/// The largest (rows + features) × features.
const LARGEST: usize = 200_000;
/// Tolerances of the quadratic program; the first that can be reached is used.
const TOLERANCES: [f64; 3] = [1e-11, 1e-10, 1e-8];

/// What to minimise, and when to stop.
#[derive(Debug, Clone, PartialEq)]
pub struct BcdParams {
    /// β > 0, the weight of the least squares.
    pub beta: f64,
    /// γ ≥ 0, the weight of ½‖w‖².
    pub gamma: f64,
    /// v_i.
    pub least_squares: LeastSquares,
    /// Whether there is a b; it is not penalised.
    pub intercept: bool,
    /// The most rounds.
    pub max_rounds: usize,
    /// Stops at this relative gap, or when a round lowers P by no more than this part of it.
    pub tolerance: f64,
}

impl Default for BcdParams {
    fn default() -> Self {
        Self {
            beta: 0.5,
            gamma: 1e-4,
            least_squares: LeastSquares::Plain,
            intercept: true,
            max_rounds: 100,
            tolerance: 1e-8,
        }
    }
}

/// Why it stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BcdStop {
    /// The gap is within the tolerance.
    Converged,
    /// Rounds no longer lower P, though the gap is open: E12.
    Stalled,
    /// All rounds are used up.
    MaxRounds,
    /// Clarabel could not solve a w-step; the answer is that of the round before.
    Unsolved,
}

/// The best point found.
#[derive(Debug, Clone, PartialEq)]
pub struct BcdFit {
    /// w.
    pub weights: Vec<f64>,
    /// b, 0 without an intercept.
    pub intercept: f64,
    /// The interval of best λ for this w and b; scores are w·x + b.
    pub lambda: [f64; 2],
    /// P.
    pub objective: f64,
    /// The best lower bound of min P.
    pub dual: f64,
    /// (P − D)/P.
    pub gap: f64,
    /// Rounds done.
    pub rounds: usize,
    /// P at the start and after each round.
    pub trace: Vec<f64>,
    /// Why it stopped.
    pub stop: BcdStop,
}

/// Minimises P by block descent.
///
/// Refuses a problem that is not small, weights that are negative or not finite, and a class without weight.
pub fn fit(data: &Dataset, weights: Option<&[f64]>, params: &BcdParams) -> Result<BcdFit> {
    params.check()?;
    let problem = Problem::new(data, weights, params)?;
    let bound = LowerBound::new(&problem);
    let zero = vec![0.0; problem.y.len()];
    let (mut dual, start) = bound
        .as_ref()
        .and_then(|bound| bound.at(&problem, &zero))
        .unwrap_or_else(|| (0.0, vec![0.0; problem.d]));
    let mut best = problem.point(&start, problem.y_mean)?;
    let mut trace = vec![best.objective];
    let mut stop = BcdStop::MaxRounds;
    for _ in 0..params.max_rounds {
        let [low, high] = best.lambda;
        let Some(step) = problem.w_step(low + (high - low) / 2.0) else {
            stop = BcdStop::Unsolved;
            break;
        };
        let u = problem.feasible(step.multipliers);
        let below = bound.as_ref().and_then(|bound| bound.at(&problem, &u));
        dual = below.map_or(dual, |(value, _)| value.max(dual));
        let next = problem.point(&step.w, step.b)?;
        trace.push(next.objective);
        let lowered = best.objective - next.objective;
        if lowered > 0.0 {
            best = next;
        }
        if best.objective - dual <= params.tolerance * best.objective {
            stop = BcdStop::Converged;
            break;
        }
        if lowered <= params.tolerance * best.objective {
            stop = BcdStop::Stalled;
            break;
        }
    }
    let open = (best.objective - dual).max(0.0);
    Ok(BcdFit {
        weights: best.w,
        intercept: best.b,
        lambda: best.lambda,
        objective: best.objective,
        dual,
        gap: if open > 0.0 {
            open / best.objective
        } else {
            0.0
        },
        rounds: trace.len() - 1,
        trace,
        stop,
    })
}

impl BcdParams {
    /// Refuses the first parameter outside its range.
    pub fn check(&self) -> Result<()> {
        self.objective().check()?;
        let refuse = |name, value: f64, must| {
            let value = value.to_string();
            Err(Error::Parameter { name, value, must })
        };
        if self.beta == 0.0 {
            return refuse(
                "beta",
                self.beta,
                "above 0: without least squares w = 0 is best",
            );
        }
        if !(self.tolerance >= 0.0 && self.tolerance < 1.0) {
            return refuse("tolerance", self.tolerance, "at least 0 and below 1");
        }
        Ok(())
    }

    fn objective(&self) -> Objective {
        Objective {
            beta: self.beta,
            gamma: self.gamma,
            least_squares: self.least_squares,
            softness: 0.0,
        }
    }
}

/// The examples of weight above 0 written out, features less their means (weighted by s_i v_i) if there is an intercept.
struct Problem<'a> {
    rows: Vec<Row<'a>>,
    params: &'a BcdParams,
    /// n × d.
    x: Vec<f64>,
    d: usize,
    x_mean: Vec<f64>,
    /// y_i = ±1.
    y: Vec<f64>,
    y_mean: f64,
    /// s_i.
    s: Vec<f64>,
    /// s_i v_i.
    v: Vec<f64>,
    /// N.
    total: f64,
}

/// (w, b), the best λ there, and P.
struct Iterate {
    w: Vec<f64>,
    b: f64,
    lambda: [f64; 2],
    objective: f64,
}

/// Answer of a w-step: w, b of the centred features, and a multiplier for each t_i ≥ y_i(λ − c_i).
struct Step {
    w: Vec<f64>,
    b: f64,
    multipliers: Vec<f64>,
}

impl<'a> Problem<'a> {
    fn new(data: &'a Dataset, weights: Option<&[f64]>, params: &'a BcdParams) -> Result<Self> {
        let (n, d) = (data.rows().len(), data.rows().cols());
        if n.saturating_add(d).saturating_mul(d) > LARGEST {
            return Err(Error::Parameter {
                name: "solver",
                value: format!("bcd with {n} rows of {d} features"),
                must: "ba-ubauc, the default, where (rows + features) x features is above 200000",
            });
        }
        let kept = weighted_examples(data, weights)?;
        let y: Vec<f64> = kept
            .iter()
            .map(|&(i, _)| if data.positive()[i] { 1.0 } else { -1.0 })
            .collect();
        let s: Vec<f64> = kept.iter().map(|&(_, s)| s).collect();
        let total = ClassWeights::of(s.iter().zip(&y).map(|(&s, &y)| (y > 0.0, s)));
        let [v_pos, v_neg] = params.objective().class_factors(total);
        let v = s
            .iter()
            .zip(&y)
            .map(|(s, &y)| s * if y > 0.0 { v_pos } else { v_neg });
        let mut problem = Self {
            rows: kept.iter().map(|&(i, _)| data.rows().row(i)).collect(),
            params,
            x: Vec::new(),
            d,
            x_mean: vec![0.0; d],
            v: v.collect(),
            y,
            y_mean: 0.0,
            total: total.sum(),
            s,
        };
        problem.write_out();
        let largest = problem
            .x
            .iter()
            .fold(0.0_f64, |a, x| if x.is_nan() { *x } else { a.max(x.abs()) });
        if largest > 1e100 || largest.is_nan() {
            return Err(Error::Parameter {
                name: "the largest feature",
                value: largest.to_string(),
                must: "at most 1e100",
            });
        }
        Ok(problem)
    }

    fn write_out(&mut self) {
        if self.params.intercept {
            let total: f64 = self.v.iter().sum();
            for (i, v) in self.v.iter().enumerate() {
                self.rows[i].add_to(v / total, &mut self.x_mean);
                self.y_mean += v / total * self.y[i];
            }
        }
        for row in &self.rows {
            let mut centred: Vec<f64> = self.x_mean.iter().map(|mean| -mean).collect();
            row.add_to(1.0, &mut centred);
            self.x.extend(centred);
        }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.x[i * self.d..(i + 1) * self.d]
    }

    /// (w, b) of the centred features as a point of the data as it came.
    fn point(&self, w: &[f64], b: f64) -> Result<Iterate> {
        let b = if self.params.intercept {
            b - dot(w, &self.x_mean)
        } else {
            0.0
        };
        let scores: Vec<f64> = self.rows.iter().map(|row| row.dot(w) + b).collect();
        let positive: Vec<bool> = self.y.iter().map(|&y| y > 0.0).collect();
        let of_positives = self.s.iter().zip(&positive).filter(|(_, p)| **p);
        let n_pos: f64 = of_positives.map(|(s, _)| s).sum();
        let lambda = threshold(&scores, &self.s, n_pos);
        let chunk = Chunk {
            scores: &scores,
            positive: &positive,
            weights: Some(&self.s),
        };
        let sums = Sums::of(chunk, Loss::Hinge, lambda[0], 0.0)?;
        let objective = self.params.objective().value(&sums, dot(w, w));
        Ok(Iterate {
            w: w.to_vec(),
            b,
            lambda,
            objective,
        })
    }

    /// The w-step, or `None` where Clarabel finds no solution.
    fn w_step(&self, lambda: f64) -> Option<Step> {
        TOLERANCES
            .iter()
            .find_map(|&tolerance| self.w_step_to(lambda, tolerance))
    }

    fn w_step_to(&self, lambda: f64, tolerance: f64) -> Option<Step> {
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .tol_gap_abs(tolerance)
            .tol_gap_rel(tolerance)
            .tol_feas(tolerance)
            .build()
            .ok()?;
        let (n, d) = (self.y.len(), self.d);
        let sizes = self.feature_sizes();
        let (quadratic, linear) = self.quadratic(&sizes);
        let constraints = self.constraints(&sizes);
        // x·w + b − c = 0;  −y c − t ≤ −yλ;  −t ≤ 0
        let mut right = vec![0.0; 3 * n];
        right[n..]
            .iter_mut()
            .zip(&self.y)
            .for_each(|(r, y)| *r = -y * lambda);
        let cones = [
            SupportedConeT::ZeroConeT(n),
            SupportedConeT::NonnegativeConeT(2 * n),
        ];
        let mut solver =
            DefaultSolver::new(&quadratic, &linear, &constraints, &right, &cones, settings).ok()?;
        solver.solve();
        let solution = &solver.solution;
        (solution.status == SolverStatus::Solved).then(|| Step {
            w: solution.x[..d]
                .iter()
                .zip(&sizes)
                .map(|(x, size)| x / size)
                .collect(),
            b: solution.x[d],
            // The program is of the mean form.
            multipliers: solution.z[n..2 * n]
                .iter()
                .map(|z| z * self.total)
                .collect(),
        })
    }

    /// The objective of the w-step over N in the variables w, b, c, t; features divided by their size.
    fn quadratic(&self, sizes: &[f64]) -> (CscMatrix<f64>, Vec<f64>) {
        let (n, d) = (self.y.len(), self.d);
        let square = |i: usize| self.params.beta * self.v[i] / self.total;
        let mut diagonal: Vec<f64> = sizes
            .iter()
            .map(|size| self.params.gamma / (size * size))
            .collect();
        // Without an intercept b is in no constraint: its own square holds it at 0.
        diagonal.push(if self.params.intercept { 0.0 } else { 1.0 });
        diagonal.extend((0..n).map(square));
        let mut linear = vec![0.0; d + 1];
        linear.extend((0..n).map(|i| -square(i) * self.y[i]));
        linear.extend(self.s.iter().map(|s| s / self.total));
        let columns = linear.len();
        diagonal.resize(columns, 0.0);
        let all: Vec<usize> = (0..columns).collect();
        (
            CscMatrix::new_from_triplets(columns, columns, all.clone(), all, diagonal),
            linear,
        )
    }

    fn constraints(&self, sizes: &[f64]) -> CscMatrix<f64> {
        let (n, d) = (self.y.len(), self.d);
        let (c, t) = (d + 1, d + 1 + n);
        let mut entries: Vec<(usize, usize, f64)> = Vec::new();
        for (i, &y) in self.y.iter().enumerate() {
            let scaled = self.row(i).iter().zip(sizes).enumerate();
            entries.extend(scaled.map(|(j, (x, size))| (i, j, x / size)));
            entries.push((i, d, if self.params.intercept { 1.0 } else { 0.0 }));
            entries.push((i, c + i, -1.0));
            entries.push((n + i, c + i, -y));
            entries.push((n + i, t + i, -1.0));
            entries.push((2 * n + i, t + i, -1.0));
        }
        entries.retain(|&(_, _, value)| value != 0.0);
        let rows = entries.iter().map(|e| e.0).collect();
        let columns = entries.iter().map(|e| e.1).collect();
        let values = entries.iter().map(|e| e.2).collect();
        CscMatrix::new_from_triplets(3 * n, t + n, rows, columns, values)
    }

    /// The largest |x_ij| of each feature, or 1.
    fn feature_sizes(&self) -> Vec<f64> {
        let mut sizes = vec![0.0_f64; self.d];
        for i in 0..self.y.len() {
            sizes
                .iter_mut()
                .zip(self.row(i))
                .for_each(|(size, x)| *size = size.max(x.abs()));
        }
        sizes
            .into_iter()
            .map(|size| if size > 0.0 { size } else { 1.0 })
            .collect()
    }

    /// u from multipliers: clipped into [0, s_i], the heavier class scaled down, so that Σ u_i = 0.
    fn feasible(&self, mut multipliers: Vec<f64>) -> Vec<f64> {
        multipliers
            .iter_mut()
            .zip(&self.s)
            .for_each(|(a, s)| *a = a.clamp(0.0, *s));
        let of_class = |class: f64| {
            let members = multipliers
                .iter()
                .zip(&self.y)
                .filter(|&(_, &y)| y == class);
            members.map(|(a, _)| a).sum::<f64>()
        };
        let (pos, neg) = (of_class(1.0), of_class(-1.0));
        let scale = |own: f64, other: f64| if own > other { other / own } else { 1.0 };
        let (pos, neg) = (scale(pos, neg), scale(neg, pos));
        let u = |(a, y): (&f64, &f64)| -y * a * if *y > 0.0 { pos } else { neg };
        multipliers.iter().zip(&self.y).map(u).collect()
    }
}

/// D(u), by a Cholesky factor of H₀ = NγI + βXᵀVX.
struct LowerBound {
    /// Rows of L, H₀ = LLᵀ.
    factor: Vec<Vec<f64>>,
}

impl LowerBound {
    /// `None` where H₀ is not safely positive definite.
    fn new(problem: &Problem<'_>) -> Option<Self> {
        let d = problem.d;
        let mut h = vec![vec![0.0; d]; d];
        for (i, v) in problem.v.iter().enumerate() {
            let x = problem.row(i);
            for (j, row) in h.iter_mut().enumerate() {
                let scaled = problem.params.beta * v * x[j];
                row[..=j]
                    .iter_mut()
                    .zip(x)
                    .for_each(|(h, x)| *h += scaled * x);
            }
        }
        for (j, row) in h.iter_mut().enumerate() {
            row[j] += problem.total * problem.params.gamma;
        }
        for j in 0..d {
            let (done, rest) = h.split_at_mut(j);
            let row = &mut rest[0];
            for (k, above) in done.iter().enumerate() {
                row[k] = (row[k] - dot(&row[..k], &above[..k])) / above[k];
            }
            let pivot = row[j] - dot(&row[..j], &row[..j]);
            // Smaller pivots are rounding errors of the entry they are left of.
            if pivot.is_nan() || pivot <= 1e-13 * row[j] {
                return None;
            }
            row[j] = pivot.sqrt();
        }
        Some(Self { factor: h })
    }

    /// H₀⁻¹g.
    fn solve(&self, g: &[f64]) -> Vec<f64> {
        let mut x = g.to_vec();
        for (j, row) in self.factor.iter().enumerate() {
            x[j] = (x[j] - dot(&row[..j], &x[..j])) / row[j];
        }
        for (j, row) in self.factor.iter().enumerate().rev() {
            x[j] /= row[j];
            let xj = x[j];
            x[..j].iter_mut().zip(row).for_each(|(x, l)| *x -= l * xj);
        }
        x
    }

    /// D(u) and the w that attains it.
    ///
    /// With f the function under the minimum, H₀ its second derivative, and w close to the minimiser,
    /// D = f(w) − ½ f′(w)·H₀⁻¹f′(w): the rounding errors of w do not count.
    fn at(&self, problem: &Problem<'_>, u: &[f64]) -> Option<(f64, Vec<f64>)> {
        let mut w = vec![0.0; problem.d];
        let (_, slope) = value_and_slope(problem, u, &w);
        self.solve(&slope)
            .iter()
            .zip(&mut w)
            .for_each(|(step, w)| *w -= step);
        let (value, slope) = value_and_slope(problem, u, &w);
        let least = value - 0.5 * dot(&slope, &self.solve(&slope));
        least.is_finite().then(|| (least / problem.total, w))
    }
}

/// f(w) = (β/2) Σ s_i v_i (y_i − ȳ − z_i)² + (Nγ/2)‖w‖² + u·z, z = Xw, and f′(w).
fn value_and_slope(problem: &Problem<'_>, u: &[f64], w: &[f64]) -> (f64, Vec<f64>) {
    let ridge = problem.total * problem.params.gamma;
    let beta = problem.params.beta;
    let mut value = ridge / 2.0 * dot(w, w);
    let mut slope: Vec<f64> = w.iter().map(|w| ridge * w).collect();
    for (i, u) in u.iter().enumerate() {
        let x = problem.row(i);
        let z = dot(x, w);
        let residual = z - (problem.y[i] - problem.y_mean);
        value += beta / 2.0 * problem.v[i] * residual * residual + u * z;
        let by_z = beta * problem.v[i] * residual + u;
        slope
            .iter_mut()
            .zip(x)
            .for_each(|(slope, x)| *slope += by_z * x);
    }
    (value, slope)
}

/// The examples of weight above 0 and their weights; both classes are among them.
fn weighted_examples(data: &Dataset, weights: Option<&[f64]>) -> Result<Vec<(usize, f64)>> {
    let n = data.rows().len();
    let Some(weights) = weights else {
        return Ok((0..n).map(|i| (i, 1.0)).collect());
    };
    check_each_weight(weights, n)?;
    let weighted = weights.iter().copied().enumerate();
    let kept: Vec<(usize, f64)> = weighted.filter(|&(_, s)| s > 0.0).collect();
    for class in [false, true] {
        if !kept.iter().any(|&(i, _)| data.positive()[i] == class) {
            return Err(Error::OneClass {
                class: data.class_names()[usize::from(!class)].clone(),
                n: kept.len(),
            });
        }
    }
    Ok(kept)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
