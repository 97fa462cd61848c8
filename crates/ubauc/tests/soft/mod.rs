//! The soft bound, κ > 0, and its corner β = 0, logistic regression.
//!
//! ```text
//! P(w, b, λ) = 1/N Σ_i a_i { φ(y_i(λ − c_i)) + (β/2) v_i (y_i − c_i)² } + (γ/2)‖w‖²,   c_i = w·x_i + b,
//! φ(t) = κ ln(1 + e^{t/κ}),   a_i = s_i or, balanced, s_i N/(2N_{y_i})
//! ```
//!
//! Two oracles, which share no code with the library or with each other: Newton's method on all of w, b and λ with matrices
//! written out (`naive.rs`), and Clarabel with exponential cones (`cones.rs`).

mod calibration; // the order of probabilities
mod certificate; // what is proved is true
mod cones; // Clarabel
mod gamma_zero; // what can be proved without a ridge
mod hinge_limit; // κ → 0
mod logistic; // β = 0, κ = 1
mod minimum; // against both oracles
mod monotone; // weights in order
mod naive; // Newton's method, written out
mod nested; // features that share weights
mod paths; // one fit after another
mod refused; // parameters without a meaning
mod remote; // rows in parts, as if they were elsewhere
mod shapes; // data that hurt

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Binary;
use ubauc::data::rows::{Csr, Dense, Rows};
use ubauc::objective::ubauc::{ClassWeight, LeastSquares};
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, Fit, fit};

use crate::oracle::{self, Problem, random_problem};

/// A problem with a softness.
#[derive(Debug, Clone)]
struct Soft {
    /// With the sample weights as they are given.
    problem: Problem,
    softness: f64,
    class_weight: ClassWeight,
}

impl Soft {
    /// The problem of a seed: β is 0 in a third of them, κ from 1e-3 to 10, γ from 1e-6 to 10.
    fn random(seed: u64) -> Soft {
        let rng = &mut Pcg64::seed_from_u64(seed ^ 0x50f7);
        let mut problem = random_problem(seed);
        if rng.random_bool(1.0 / 3.0) {
            problem.beta = 0.0;
        }
        problem.gamma = 10_f64.powf(rng.random_range(-6.0..1.0));
        Soft {
            problem,
            softness: 10_f64.powf(rng.random_range(-3.0..1.0)),
            class_weight: match rng.random_range(0..3) {
                0 => ClassWeight::None,
                1 => ClassWeight::Balanced,
                _ => ClassWeight::Ratio(10_f64.powf(rng.random_range(-2.0..2.0))),
            },
        }
    }

    /// The same with a_i for s_i.
    fn weighted(&self) -> Problem {
        let [neg, pos] = self.problem.class_weights();
        let of_class = |positive: bool| match self.class_weight {
            ClassWeight::None => 1.0,
            ClassWeight::Balanced => (neg + pos) / (2.0 * if positive { pos } else { neg }),
            ClassWeight::Ratio(r) if positive => (neg + pos) / ((1.0 + r) * pos),
            ClassWeight::Ratio(r) => (neg + pos) / ((1.0 + 1.0 / r) * neg),
        };
        let weight = |i: usize| self.problem.weight(i) * of_class(self.problem.positive[i]);
        Problem {
            weights: Some((0..self.problem.rows.len()).map(weight).collect()),
            ..self.problem.clone()
        }
    }

    /// Whether b is a variable.
    fn has_b(&self) -> bool {
        self.problem.intercept && self.problem.beta > 0.0
    }

    fn params(&self, tolerance: f64) -> BaUbaucParams {
        BaUbaucParams {
            beta: self.problem.beta,
            gamma: self.problem.gamma,
            softness: self.softness,
            class_weight: self.class_weight,
            least_squares: match self.problem.least_squares {
                oracle::LeastSquares::Plain => LeastSquares::Plain,
                oracle::LeastSquares::Balanced => LeastSquares::Balanced,
            },
            intercept: self.problem.intercept,
            tolerance,
            ..BaUbaucParams::default()
        }
    }

    fn given(&self) -> BatchInputs<'_> {
        BatchInputs {
            weights: self.problem.weights.as_deref(),
            ..BatchInputs::default()
        }
    }

    fn fit(&self, tolerance: f64) -> Fit {
        let data = dense(&self.problem.rows, &self.problem.positive);
        fit(&data, &self.given(), &self.params(tolerance)).unwrap()
    }

    /// P at what was found.
    fn objective_of(&self, fit: &Fit) -> f64 {
        // Of β = 0 b is the threshold turned round, not a part of the scores.
        let b = if self.has_b() { fit.intercept } else { 0.0 };
        self.objective(&fit.weights, b, fit.lambda[0] + b)
    }

    /// P by its definition; λ is a threshold of w·x + b.
    fn objective(&self, w: &[f64], b: f64, lambda: f64) -> f64 {
        let problem = self.weighted();
        let (scores, total) = (problem.scores(w, b), problem.total());
        let squares = problem.square_weights();
        let term = |i: usize| {
            let (c, y) = (scores[i], problem.sign(i));
            let square = problem.beta / 2.0 * squares[i] * (y - c).powi(2);
            problem.weight(i) / total * softplus(y * (lambda - c), self.softness) + square
        };
        let of_rows: f64 = (0..scores.len()).map(term).sum();
        of_rows + problem.gamma / 2.0 * w.iter().map(|w| w * w).sum::<f64>()
    }
}

/// κ ln(1 + e^{t/κ}).
fn softplus(t: f64, softness: f64) -> f64 {
    if t > 0.0 {
        t + softness * (-t / softness).exp().ln_1p()
    } else {
        softness * (t / softness).exp().ln_1p()
    }
}

fn dense(rows: &[Vec<f64>], positive: &[bool]) -> Dataset {
    let d = rows.first().map_or(0, Vec::len);
    let rows = Rows::Dense(Dense::new(rows.concat(), rows.len(), d).unwrap());
    Dataset::new(rows, binary(positive), Vec::new()).unwrap()
}

fn sparse(rows: &[Vec<f64>], positive: &[bool]) -> Dataset {
    Dataset::new(csr(rows), binary(positive), Vec::new()).unwrap()
}

fn csr(rows: &[Vec<f64>]) -> Rows {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            indices.push(j as u32);
            values.push(x);
        }
        indptr.push(indices.len());
    }
    let d = rows.first().map_or(0, Vec::len);
    Rows::Csr(Csr::new(indptr, indices, values, d).unwrap())
}

fn binary(positive: &[bool]) -> Binary {
    let n_pos = positive.iter().filter(|&&p| p).count();
    Binary {
        positive: positive.to_vec(),
        n_pos,
        n_neg: positive.len() - n_pos,
        names: ["no".into(), "yes".into()],
    }
}

/// n rows of d features from −1 to 1, a `share` of them not 0; the first few tell the classes apart, about.
fn noisy(n: usize, d: usize, share: f64, seed: u64) -> (Vec<Vec<f64>>, Vec<bool>) {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let entry = |rng: &mut Pcg64| match rng.random_bool(share) {
        true => rng.random_range(-1.0..1.0),
        false => 0.0,
    };
    let rows: Vec<Vec<f64>> = (0..n)
        .map(|_| (0..d).map(|_| entry(rng)).collect())
        .collect();
    let label = |row: &Vec<f64>| {
        let sum: f64 = row.iter().take(5).sum();
        sum + rng.random_range(-0.7..0.7) > 0.3
    };
    let mut positive: Vec<bool> = rows.iter().map(label).collect();
    positive[0] = true;
    positive[n - 1] = false;
    (rows, positive)
}

/// An easy problem, to be changed.
fn plain(rows: Vec<Vec<f64>>, positive: Vec<bool>) -> Soft {
    Soft {
        problem: Problem {
            rows,
            positive,
            weights: None,
            beta: 0.5,
            gamma: 1e-3,
            least_squares: oracle::LeastSquares::Plain,
            intercept: true,
        },
        softness: 0.1,
        class_weight: ClassWeight::None,
    }
}
