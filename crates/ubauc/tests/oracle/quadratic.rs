//! The joint problem as one quadratic program in (w, b, λ, c, t), by the interior-point solver Clarabel.
//!
//! ```text
//! min  Σ_i { (s_i/N) t_i + (β/2)(s_i v_i/N)(c_i² − 2 y_i c_i) } + (γ/2)‖w‖²
//! s.t. x_i·w + b − c_i = 0,   t_i ≥ y_i(λ − c_i) (E2),   t_i ≥ 0
//! ```
//!
//! With the scores c as variables the quadratic form is diagonal. Features are divided by their size. Examples of
//! weight 0 are left out.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT,
};

use super::{Problem, Solution, best_lambda, objective};

/// The first tolerance that Clarabel can reach is used. They are absolute for values below 1: P is within about
/// 1e-11 (1 + β) of its minimum, within 1e-9 (1 + β) in the few problems where 1e-12 cannot be reached.
const TOLERANCES: [f64; 4] = [1e-12, 1e-11, 1e-10, 1e-9];

/// The minimum of P, or `None` where Clarabel does not call its answer solved.
///
/// `objective` is P at the point returned, with λ the best for its w and b: an upper bound of the minimum whatever
/// Clarabel did.
pub(crate) fn solve(problem: &Problem) -> Option<Solution> {
    let mut tolerances = TOLERANCES.iter();
    let (w, b) = tolerances.find_map(|&tolerance| minimise(problem, tolerance))?;
    let [low, high] = best_lambda(problem, &problem.scores(&w, b));
    let lambda = low + (high - low) / 2.0;
    Some(Solution {
        objective: objective(problem, &w, b, lambda),
        w,
        b,
        lambda,
    })
}

/// w and b by Clarabel with one tolerance for gap and feasibility, or `None` where it fails to reach that.
pub(crate) fn minimise(problem: &Problem, tolerance: f64) -> Option<(Vec<f64>, f64)> {
    let sizes = problem.feature_sizes();
    let d = sizes.len();
    let program = Program::new(problem, &sizes);
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(tolerance)
        .tol_gap_rel(tolerance)
        .tol_feas(tolerance)
        .build()
        .unwrap();
    let mut solver = DefaultSolver::new(
        &program.quadratic,
        &program.linear,
        &program.constraints,
        &program.right,
        &program.cones,
        settings,
    )
    .unwrap();
    solver.solve();
    if solver.solution.status != SolverStatus::Solved {
        return None;
    }
    let x = &solver.solution.x;
    let w: Vec<f64> = x[..d]
        .iter()
        .zip(&sizes)
        .map(|(x, size)| x / size)
        .collect();
    let b = if problem.intercept { x[d] } else { 0.0 };
    Some((w, b))
}

/// min ½ x·Qx + q·x subject to Ax + s = r, s in the cones.
struct Program {
    quadratic: CscMatrix<f64>,
    linear: Vec<f64>,
    constraints: CscMatrix<f64>,
    right: Vec<f64>,
    cones: [SupportedConeT<f64>; 2],
}

/// (row, column, value) of a sparse matrix.
#[derive(Default)]
struct Triplets(Vec<usize>, Vec<usize>, Vec<f64>);

impl Triplets {
    fn push(&mut self, row: usize, column: usize, value: f64) {
        if value != 0.0 {
            self.0.push(row);
            self.1.push(column);
            self.2.push(value);
        }
    }

    fn matrix(self, rows: usize, columns: usize) -> CscMatrix<f64> {
        CscMatrix::new_from_triplets(rows, columns, self.0, self.1, self.2)
    }
}

impl Program {
    fn new(problem: &Problem, sizes: &[f64]) -> Self {
        let kept: Vec<usize> = (0..problem.rows.len())
            .filter(|&i| problem.weight(i) > 0.0)
            .collect();
        let (n, d) = (kept.len(), sizes.len());
        // Variables in this order: w, b, λ, c, t.
        let (b, lambda, c, t) = (d, d + 1, d + 2, d + 2 + n);
        let columns = t + n;
        let total = problem.total();
        let squares = problem.square_weights();
        let (mut quadratic, mut constraints) = (Triplets::default(), Triplets::default());
        let mut linear = vec![0.0; columns];
        for (j, size) in sizes.iter().enumerate() {
            quadratic.push(j, j, problem.gamma / (size * size));
        }
        for (k, &i) in kept.iter().enumerate() {
            let y = problem.sign(i);
            quadratic.push(c + k, c + k, problem.beta * squares[i]);
            linear[c + k] = -problem.beta * squares[i] * y;
            linear[t + k] = problem.weight(i) / total;
            for (j, (x, size)) in problem.rows[i].iter().zip(sizes).enumerate() {
                constraints.push(k, j, x / size);
            }
            if problem.intercept {
                constraints.push(k, b, 1.0);
            }
            constraints.push(k, c + k, -1.0);
            // y(λ − c) − t ≤ 0
            constraints.push(n + k, lambda, y);
            constraints.push(n + k, c + k, -y);
            constraints.push(n + k, t + k, -1.0);
            // −t ≤ 0
            constraints.push(2 * n + k, t + k, -1.0);
        }
        if !problem.intercept {
            // A variable in no constraint and no term: hold it at 0.
            quadratic.push(b, b, 1.0);
        }
        Self {
            quadratic: quadratic.matrix(columns, columns),
            linear,
            constraints: constraints.matrix(3 * n, columns),
            right: vec![0.0; 3 * n],
            cones: [
                SupportedConeT::ZeroConeT(n),
                SupportedConeT::NonnegativeConeT(2 * n),
            ],
        }
    }
}
