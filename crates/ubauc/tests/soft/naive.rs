//! Newton's method on w, λ and b at once, matrices written out: obvious, slow, for tests only.
//!
//! ```text
//! ∂P/∂w = Σ g_i x_i + γw,   ∂P/∂b = Σ g_i,   ∂P/∂λ = Σ (a_i/N) y_i p_i,
//! g_i = −(a_i/N) y_i p_i + β(a_i v_i/N)(c_i − y_i),   p_i = 1/(1 + e^{−y_i(λ − c_i)/κ})
//! ```
//!
//! and (a_i/N) p_i(1 − p_i)/κ in the second derivatives. It begins with a large κ and comes down to the one asked for.

use super::Soft;

/// From one κ to the next.
const SOFTER: f64 = 3.0;
const STEPS: usize = 300;

/// The minimum: P, w and λ, a threshold of w·x + b.
#[derive(Debug, Clone)]
pub(super) struct Minimum {
    pub(super) objective: f64,
    pub(super) w: Vec<f64>,
    pub(super) lambda: f64,
    /// The descent that one more step promises.
    pub(super) left: f64,
}

pub(super) fn minimise(soft: &Soft) -> Minimum {
    let d = soft.problem.features();
    let mut x = vec![0.0; d + 2];
    let mut kappas = vec![soft.softness];
    while kappas.last().is_some_and(|k| *k < 1.0) {
        kappas.push(SOFTER * kappas[kappas.len() - 1]);
    }
    let mut left = f64::INFINITY;
    for softness in kappas.into_iter().rev() {
        let at = Soft {
            softness,
            ..soft.clone()
        };
        left = descend(&at, &mut x);
    }
    let sizes = soft.problem.feature_sizes();
    let w: Vec<f64> = x.iter().zip(&sizes).map(|(x, size)| x / size).collect();
    let (lambda, b) = (x[d], x[d + 1]);
    Minimum {
        objective: soft.objective(&w, b, lambda),
        w,
        lambda,
        left,
    }
}

/// From x = (w times the sizes of the features, λ, b).
fn descend(soft: &Soft, x: &mut Vec<f64>) -> f64 {
    let sizes = soft.problem.feature_sizes();
    let d = sizes.len();
    let value = |x: &[f64]| {
        let w: Vec<f64> = x.iter().zip(&sizes).map(|(x, size)| x / size).collect();
        soft.objective(&w, x[d + 1], x[d])
    };
    let mut left = f64::INFINITY;
    for _ in 0..STEPS {
        let (gradient, hessian) = derivatives(soft, &sizes, x);
        let step = solve(hessian, gradient.iter().map(|g| -g).collect());
        let slope: f64 = gradient.iter().zip(&step).map(|(g, s)| g * s).sum();
        let before = value(x);
        left = -0.5 * slope;
        let mut t = 1.0;
        let accepted = loop {
            let next: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x + t * s).collect();
            if value(&next) <= before + 1e-4 * t * slope {
                break Some(next);
            }
            t *= 0.5;
            if t < 1e-12 {
                break None;
            }
        };
        let Some(next) = accepted else { break };
        *x = next;
        if left <= 1e-18 * (1.0 + before) {
            break;
        }
    }
    left
}

/// The gradient and the Hessian of P, in features divided by their sizes.
fn derivatives(soft: &Soft, sizes: &[f64], x: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let problem = soft.weighted();
    let (d, total, squares) = (sizes.len(), problem.total(), problem.square_weights());
    let (lambda, b) = (x[d], x[d + 1]);
    let mut gradient = vec![0.0; d + 2];
    let mut hessian = vec![vec![0.0; d + 2]; d + 2];
    for (i, row) in problem.rows.iter().enumerate() {
        let mut of_c: Vec<f64> = row.iter().zip(sizes).map(|(x, size)| x / size).collect();
        let c: f64 = of_c.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() + b;
        let has_b = if soft.has_b() { 1.0 } else { 0.0 };
        let y = problem.sign(i);
        // c and λ − c as linear functions of (w, λ, b).
        of_c.extend([0.0, has_b]);
        let mut of_distance: Vec<f64> = of_c.iter().map(|x| -x).collect();
        of_distance[d] = 1.0;
        let a = problem.weight(i) / total;
        let t = y * (lambda - c) / soft.softness;
        let p = 1.0 / (1.0 + (-t).exp());
        let curvature = a * p / (1.0 + t.exp()) / soft.softness;
        let square = problem.beta * squares[i];
        for j in 0..d + 2 {
            gradient[j] += a * y * p * of_distance[j] + square * (c - y) * of_c[j];
            for k in 0..d + 2 {
                hessian[j][k] +=
                    curvature * of_distance[j] * of_distance[k] + square * of_c[j] * of_c[k];
            }
        }
    }
    for j in 0..d {
        let ridge = problem.gamma / (sizes[j] * sizes[j]);
        gradient[j] += ridge * x[j];
        hessian[j][j] += ridge;
    }
    // Whatever the problem does not depend on stays where it is.
    for (j, row) in hessian.iter_mut().enumerate() {
        row[j] += if row[j] == 0.0 { 1.0 } else { 1e-15 * row[j] };
    }
    (gradient, hessian)
}

/// Gauß, with the largest pivot of a column.
fn solve(mut a: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for k in 0..n {
        let largest = |&i: &usize, &j: &usize| a[i][k].abs().total_cmp(&a[j][k].abs());
        let pivot = (k..n).max_by(largest).unwrap();
        a.swap(k, pivot);
        right.swap(k, pivot);
        let (above, below) = a.split_at_mut(k + 1);
        for (i, row) in below.iter_mut().enumerate() {
            let factor = row[k] / above[k][k];
            row.iter_mut()
                .zip(&above[k])
                .for_each(|(x, y)| *x -= factor * y);
            right[k + 1 + i] -= factor * right[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * right[j]).sum();
        right[k] = (right[k] - known) / a[k][k];
    }
    right
}

/// The derivatives are differences of P.
#[test]
fn derivatives_are_differences() {
    for seed in 0..20 {
        let soft = Soft {
            softness: 0.7,
            ..Soft::random(seed)
        };
        let sizes = soft.problem.feature_sizes();
        let d = sizes.len();
        let x: Vec<f64> = (0..d + 2).map(|j| 0.3 - 0.2 * j as f64).collect();
        let value = |x: &[f64]| {
            let w: Vec<f64> = x.iter().zip(&sizes).map(|(x, size)| x / size).collect();
            let b = if soft.has_b() { x[d + 1] } else { 0.0 };
            soft.objective(&w, b, x[d])
        };
        let at = |j: usize, by: f64| {
            let mut x = x.clone();
            x[j] += by;
            x
        };
        let mut here = x.clone();
        if !soft.has_b() {
            here[d + 1] = 0.0;
        }
        let (gradient, hessian) = derivatives(&soft, &sizes, &here);
        let (h, size) = (1e-5, 1.0 + soft.problem.beta);
        for j in 0..d + 1 {
            let slope = (value(&at(j, h)) - value(&at(j, -h))) / (2.0 * h);
            assert!((gradient[j] - slope).abs() < 1e-7 * size, "seed {seed}");
            let mut ahead = here.clone();
            ahead[j] += h;
            let mut behind = here.clone();
            behind[j] -= h;
            let ahead = derivatives(&soft, &sizes, &ahead).0;
            let behind = derivatives(&soft, &sizes, &behind).0;
            for k in 0..d + 1 {
                let slope = (ahead[k] - behind[k]) / (2.0 * h);
                assert!((hessian[k][j] - slope).abs() < 1e-6 * size, "seed {seed}");
            }
        }
    }
}
