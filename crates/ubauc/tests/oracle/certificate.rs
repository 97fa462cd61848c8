//! How far a point is from satisfying the conditions of optimality.

use super::Problem;

/// Examples this close to λ, beside scores of size 1, count as tied with it.
const TIED: f64 = 1e-6;
/// Most sweeps over the free multipliers.
const SWEEPS: usize = 100_000;

/// The norm of the smallest subgradient of P / (1 + β) at (w, b, λ), features divided by their size.
///
/// ```text
/// ∂P/∂w = Xᵀg + γw,   ∂P/∂b = Σ g_i,   ∂P/∂λ = Σ_i y_i a_i / N
/// g_i = β (s_i v_i/N)(c_i − y_i) − y_i a_i / N,   a_i = s_i if y_i(λ − c_i) > 0, 0 if < 0, any of [0, s_i] at a tie
/// ```
///
/// The multipliers of tied examples are those that make the norm least: a least-squares problem in a box,
/// by exact minimisation over one of them after the other.
pub(crate) fn kkt_residual(problem: &Problem, w: &[f64], b: f64, lambda: f64) -> f64 {
    let scores = problem.scores(w, b);
    let largest = scores.iter().fold(1.0_f64, |a, c| a.max(c.abs()));
    let sizes = problem.feature_sizes();
    let squares = problem.square_weights();
    let total = problem.total();
    let scale = 1.0 / (1.0 + problem.beta);
    let d = sizes.len();

    // The gradient without the free multipliers, and what each of these adds per unit.
    let mut gradient = vec![0.0; d + 2];
    for j in 0..d {
        gradient[j] = problem.gamma * w[j] / sizes[j] * scale;
    }
    let mut free: Vec<(Vec<f64>, f64)> = Vec::new();
    for (i, c) in scores.iter().enumerate() {
        let y = problem.sign(i);
        let features = problem.rows[i].iter().zip(&sizes).map(|(x, size)| x / size);
        let mut direction: Vec<f64> = features.collect();
        direction.push(if problem.intercept { 1.0 } else { 0.0 });
        let square = problem.beta * squares[i] * (c - y) * scale;
        direction
            .iter()
            .zip(&mut gradient)
            .for_each(|(x, g)| *g += square * x);
        // λ moves against the scores.
        direction.push(-1.0);
        direction.iter_mut().for_each(|x| *x *= -y * scale);
        let share = problem.weight(i) / total;
        if (c - lambda).abs() <= TIED * largest {
            free.push((direction, share));
        } else if y * (lambda - c) > 0.0 {
            direction
                .iter()
                .zip(&mut gradient)
                .for_each(|(x, g)| *g += share * x);
        }
    }
    smallest_norm(gradient, &free)
}

/// min ‖g + Σ_k a_k d_k‖ over 0 ≤ a_k ≤ bound_k.
fn smallest_norm(mut g: Vec<f64>, free: &[(Vec<f64>, f64)]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut multipliers = vec![0.0; free.len()];
    for _ in 0..SWEEPS {
        let mut moved = 0.0_f64;
        for ((direction, bound), a) in free.iter().zip(&mut multipliers) {
            let length = dot(direction, direction);
            if length > 0.0 {
                let best = (*a - dot(&g, direction) / length).clamp(0.0, *bound);
                let step = best - *a;
                *a = best;
                g.iter_mut()
                    .zip(direction)
                    .for_each(|(g, x)| *g += step * x);
                moved = moved.max(step.abs() * length.sqrt());
            }
        }
        if moved <= 1e-15 {
            break;
        }
    }
    dot(&g, &g).sqrt()
}
