//! The learning problem solved as one quadratic program: obvious, slow, for tests and comparisons only.
//!
//! ```text
//! P(w, b, λ) = 1/N Σ_i s_i { [y_i(λ − c_i)]₊ + (β/2) v_i (1 − y_i c_i)² } + (γ/2)‖w‖²,   c_i = w·x_i + b
//! ```
//!
//! It shares no code with the library: rows are plain vectors, λ is found by trying every score. λ here is
//! a threshold of c_i with the intercept in it.

mod certificate; // the smallest subgradient
mod problems; // random problems
pub(crate) mod quadratic; // the quadratic program, by Clarabel
#[cfg(test)]
mod trials; // tests of the oracle itself

pub(crate) use certificate::kkt_residual;
pub(crate) use problems::random_problem;
pub(crate) use quadratic::solve;

/// v_i of the least squares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeastSquares {
    /// 1.
    Plain,
    /// N/(2N_{y_i}).
    Balanced,
}

/// What to minimise.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) positive: Vec<bool>,
    /// s_i; all 1 if none. Both classes have some weight.
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) beta: f64,
    pub(crate) gamma: f64,
    pub(crate) least_squares: LeastSquares,
    pub(crate) intercept: bool,
}

/// A point and P there.
#[derive(Debug, Clone)]
pub(crate) struct Solution {
    pub(crate) objective: f64,
    pub(crate) w: Vec<f64>,
    pub(crate) b: f64,
    pub(crate) lambda: f64,
}

impl Problem {
    /// d.
    pub(crate) fn features(&self) -> usize {
        self.rows[0].len()
    }

    /// y_i.
    pub(crate) fn sign(&self, i: usize) -> f64 {
        if self.positive[i] { 1.0 } else { -1.0 }
    }

    /// s_i.
    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |s| s[i])
    }

    /// N⁻ and N⁺.
    pub(crate) fn class_weights(&self) -> [f64; 2] {
        let of = |class: bool| {
            let members = (0..self.rows.len()).filter(|&i| self.positive[i] == class);
            members.map(|i| self.weight(i)).sum::<f64>()
        };
        [of(false), of(true)]
    }

    /// N.
    pub(crate) fn total(&self) -> f64 {
        self.class_weights().iter().sum()
    }

    /// s_i v_i / N of every example.
    pub(crate) fn square_weights(&self) -> Vec<f64> {
        let [neg, pos] = self.class_weights();
        let share = |i: usize| match self.least_squares {
            LeastSquares::Plain => self.weight(i) / (neg + pos),
            LeastSquares::Balanced => {
                self.weight(i) / (2.0 * if self.positive[i] { pos } else { neg })
            }
        };
        (0..self.rows.len()).map(share).collect()
    }

    /// c_i.
    pub(crate) fn scores(&self, w: &[f64], b: f64) -> Vec<f64> {
        let score = |x: &Vec<f64>| x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() + b;
        self.rows.iter().map(score).collect()
    }

    /// The largest |x_ij| of each feature j, or 1 where there is none.
    pub(crate) fn feature_sizes(&self) -> Vec<f64> {
        let largest = |j: usize| {
            let column = self.rows.iter().map(|x| x[j].abs());
            column.fold(0.0, f64::max)
        };
        let size = |largest: f64| if largest > 0.0 { largest } else { 1.0 };
        (0..self.features()).map(|j| size(largest(j))).collect()
    }
}

/// P, term by term.
pub(crate) fn objective(problem: &Problem, w: &[f64], b: f64, lambda: f64) -> f64 {
    let scores = problem.scores(w, b);
    let total = problem.total();
    let squares = problem.square_weights();
    let term = |i: usize| {
        let (c, y) = (scores[i], problem.sign(i));
        let hinge = (y * (lambda - c)).max(0.0);
        problem.weight(i) / total * hinge + problem.beta / 2.0 * squares[i] * (y - c).powi(2)
    };
    let data: f64 = (0..scores.len()).map(term).sum();
    data + problem.gamma / 2.0 * w.iter().map(|w| w * w).sum::<f64>()
}

/// The closed interval of λ that minimise Σ_i s_i [y_i(λ − c_i)]₊ (E1, with weights), by trying every score.
///
/// Right of a score λ the slope is Σ_{i∈+, c_i ≤ λ} s_i − Σ_{i∈−, c_i > λ} s_i, left of it the same with < and ≥.
/// The sum is least where the slope changes its sign.
pub(crate) fn best_lambda(problem: &Problem, scores: &[f64]) -> [f64; 2] {
    // Slopes that ought to be 0 are so up to rounding.
    let zero = 1e-12 * problem.total();
    let slope = |counts: &dyn Fn(f64) -> bool| -> f64 {
        let part = |i: usize| match (problem.positive[i], counts(scores[i])) {
            (true, true) => problem.weight(i),
            (false, false) => -problem.weight(i),
            _ => 0.0,
        };
        (0..scores.len()).map(part).sum()
    };
    let least = |lambda: &f64| slope(&|c| c < *lambda) <= zero && slope(&|c| c <= *lambda) >= -zero;
    let weighted = (0..scores.len()).filter(|&i| problem.weight(i) > 0.0);
    let found: Vec<f64> = weighted.map(|i| scores[i]).filter(least).collect();
    let low = found.iter().copied().fold(f64::INFINITY, f64::min);
    let high = found.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    [low, high]
}
