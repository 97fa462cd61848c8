//! The soft bound as a conic program in (w, b, λ, c, τ, e, f), by the interior-point solver Clarabel.
//!
//! ```text
//! min  Σ_i { (a_i/N) κτ_i + (β/2)(a_i v_i/N)(c_i² − 2 y_i c_i) } + (γ/2)‖w‖²
//! s.t. x_i·w + b − c_i = 0,   e_i + f_i ≤ 1,   e_i ≥ e^{y_i(λ − c_i)/κ − τ_i},   f_i ≥ e^{−τ_i}
//! ```
//!
//! κτ is then at least κ ln(1 + e^{t/κ}). Features are divided by their size, examples of weight 0 left out.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT,
};

use super::Soft;

/// The first that Clarabel reaches is used.
const TOLERANCES: [f64; 3] = [1e-11, 1e-10, 1e-9];

/// P at the best point that Clarabel finds, an upper bound of the minimum whatever it did; none where it does not call its
/// answer solved.
pub(super) fn solve(soft: &Soft) -> Option<f64> {
    let mut tolerances = TOLERANCES.iter();
    let (w, b, lambda) = tolerances.find_map(|&tolerance| minimise(soft, &[], tolerance))?;
    Some(best_lambda(soft, &w, b, lambda))
}

/// Entries of a row a of constraints a·w ≥ 0.
pub(super) type Row = Vec<(usize, f64)>;

/// w, b and λ with a·w ≥ 0 for all rows a, so far as Clarabel keeps to it.
pub(super) fn solve_in_order(soft: &Soft, rows: &[Row]) -> Option<(Vec<f64>, f64, f64)> {
    let mut tolerances = TOLERANCES.iter();
    tolerances.find_map(|&tolerance| minimise(soft, rows, tolerance))
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

#[allow(clippy::too_many_lines)] // one problem, block after block
fn minimise(soft: &Soft, rows: &[Row], tolerance: f64) -> Option<(Vec<f64>, f64, f64)> {
    let problem = soft.weighted();
    let kept: Vec<usize> = (0..problem.rows.len())
        .filter(|&i| problem.weight(i) > 0.0)
        .collect();
    let (sizes, kappa) = (problem.feature_sizes(), soft.softness);
    let (n, d) = (kept.len(), sizes.len());
    let (b, lambda, c, tau, e, f) = (d, d + 1, d + 2, d + 2 + n, d + 2 + 2 * n, d + 2 + 3 * n);
    let columns = f + n;
    let (total, squares) = (problem.total(), problem.square_weights());
    let (mut quadratic, mut constraints) = (Triplets::default(), Triplets::default());
    let mut linear = vec![0.0; columns];
    let mut right = vec![0.0; 8 * n + rows.len()];
    for (k, row) in rows.iter().enumerate() {
        for &(j, a) in row {
            constraints.push(8 * n + k, j, -a / sizes[j]);
        }
    }
    for (j, size) in sizes.iter().enumerate() {
        quadratic.push(j, j, problem.gamma / (size * size));
    }
    for (k, &i) in kept.iter().enumerate() {
        let y = problem.sign(i);
        quadratic.push(c + k, c + k, problem.beta * squares[i]);
        linear[c + k] = -problem.beta * squares[i] * y;
        linear[tau + k] = kappa * problem.weight(i) / total;
        // Rows: n equations, n inequalities, 2n cones of three.
        for (j, (x, size)) in problem.rows[i].iter().zip(&sizes).enumerate() {
            constraints.push(k, j, x / size);
        }
        if soft.has_b() {
            constraints.push(k, b, 1.0);
        }
        constraints.push(k, c + k, -1.0);
        constraints.push(n + k, e + k, 1.0);
        constraints.push(n + k, f + k, 1.0);
        right[n + k] = 1.0;
        // (p, q, r) with q e^{p/q} ≤ r is right − (row times the variables).
        let first = 2 * n + 6 * k;
        constraints.push(first, lambda, -y / kappa);
        constraints.push(first, c + k, y / kappa);
        constraints.push(first, tau + k, 1.0);
        right[first + 1] = 1.0;
        constraints.push(first + 2, e + k, -1.0);
        constraints.push(first + 3, tau + k, 1.0);
        right[first + 4] = 1.0;
        constraints.push(first + 5, f + k, -1.0);
    }
    if !soft.has_b() {
        quadratic.push(b, b, 1.0);
    }
    let mut cones = vec![
        SupportedConeT::ZeroConeT(n),
        SupportedConeT::NonnegativeConeT(n),
    ];
    cones.extend((0..2 * n).map(|_| SupportedConeT::ExponentialConeT()));
    if !rows.is_empty() {
        cones.push(SupportedConeT::NonnegativeConeT(rows.len()));
    }
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .max_iter(500)
        .tol_gap_abs(tolerance)
        .tol_gap_rel(tolerance)
        .tol_feas(tolerance)
        .build()
        .unwrap();
    let mut solver = DefaultSolver::new(
        &quadratic.matrix(columns, columns),
        &linear,
        &constraints.matrix(8 * n + rows.len(), columns),
        &right,
        &cones,
        settings,
    )
    .unwrap();
    solver.solve();
    if solver.solution.status != SolverStatus::Solved {
        return None;
    }
    let x = &solver.solution.x;
    let w: Vec<f64> = x.iter().zip(&sizes).map(|(x, size)| x / size).collect();
    let b = if soft.has_b() { x[d] } else { 0.0 };
    Some((w, b, x[lambda]))
}

/// P with the best λ near this one, by thirds: it is convex in λ.
pub(super) fn best_lambda(soft: &Soft, w: &[f64], b: f64, near: f64) -> f64 {
    let at = |lambda: f64| soft.objective(w, b, lambda);
    let reach = 1.0 + near.abs();
    let (mut low, mut high) = (near - reach, near + reach);
    for _ in 0..200 {
        let third = (high - low) / 3.0;
        match at(low + third) < at(high - third) {
            true => high -= third,
            false => low += third,
        }
    }
    at(low + (high - low) / 2.0)
}
