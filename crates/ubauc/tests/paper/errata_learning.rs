//! E3, E4, E5, E10, E12: learning. Each test fails if the printed version is right.

use rand::RngExt;
use ubauc::objective::ubauc::Objective;
use ubauc::objective::univariate::l_tilde_min;

use super::cases::{close, generator, normal, sign};
use super::line::{Line, six};

/// (βxᵀx) w is a number times w; the derivative of (β/2)(y − x·w)² is β x xᵀ w − β y x.
#[test]
fn e03_outer_product_makes_eq09_a_subgradient() {
    let mut random = generator(3);
    let (beta, gamma) = (0.5, 0.1);
    let dot = |a: &[f64; 3], b: &[f64; 3]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let mut printed_fails = 0;
    for _ in 0..1000 {
        let [x, w, step]: [[f64; 3]; 3] =
            std::array::from_fn(|_| [(); 3].map(|()| normal(&mut random)));
        // Near by, where a wrong slope is not hidden by the curvature.
        let v: [f64; 3] = std::array::from_fn(|k| w[k] + 0.1 * step[k]);
        let lambda = normal(&mut random);
        let mu = lambda + 0.1 * normal(&mut random);
        let y = sign(random.random());
        let value = |w: &[f64; 3], lambda: f64| {
            let c = dot(w, &x);
            let hinge = (y * (lambda - c)).max(0.0);
            hinge + beta / 2.0 * (1.0 - y * c).powi(2) + gamma / 2.0 * dot(w, w)
        };
        let a = f64::from(y * (lambda - dot(&w, &x)) > 0.0);
        // What Eq. (9) subtracts, with the given β-term; then f(v, μ) ≥ f(w, λ) + g·(v − w) + g_λ(μ − λ)?
        let is_subgradient = |least_squares: [f64; 3]| {
            let g: [f64; 3] =
                std::array::from_fn(|k| gamma * w[k] + least_squares[k] - (beta + a) * y * x[k]);
            let step: [f64; 3] = std::array::from_fn(|k| v[k] - w[k]);
            let linear = value(&w, lambda) + dot(&g, &step) + a * y * (mu - lambda);
            value(&v, mu) >= linear - 1e-12
        };
        assert!(is_subgradient(x.map(|x_k| beta * dot(&x, &w) * x_k)));
        printed_fails += usize::from(!is_subgradient(w.map(|w_k| beta * dot(&x, &x) * w_k)));
    }
    println!("the printed direction fails in {printed_fails} of 1000 cases");
    assert!(printed_fails > 300);
}

/// Eq. (8) drops 1/(N⁺N⁻) of Eq. (6): the same β and γ mean different problems.
#[test]
fn e04_eq06_and_eq08_scale_differently() {
    let line = six();
    let (beta, gamma) = (0.2, 0.3);
    let (n_pos, n_neg) = (2, 4);
    let eq6 = line.joint_minimum(line.eq6(beta, gamma)).0;
    let pairs = f64::from(n_pos * n_neg);
    let eq8 = |beta, gamma| line.joint_minimum(line.eq8(beta, gamma)).0;
    assert!(close(eq6, eq8(pairs * beta, pairs * gamma), 1e-14) && eq6 > 0.0);
    assert!(
        !close(eq6, eq8(beta, gamma), 0.1),
        "{eq6} {}",
        eq8(beta, gamma)
    );

    let p = Objective::from_eq6(beta, gamma, 2, 4);
    let ours = line.joint_minimum(line.mean_form(p.beta, p.gamma)).0;
    assert!(close(ours, eq6, 1e-14));
}

/// Eq. (9) steps along a subgradient of P, so its γ is γ₈/N; with γ₈ it settles elsewhere.
#[test]
fn e05_eq09_needs_gamma_over_n() {
    let line = six();
    let (beta, gamma8) = (2.0, 3.0);
    let p = Objective::from_eq8(beta, gamma8, line.x.len());
    assert_eq!(p.gamma, gamma8 / 6.0);
    let (w, _) = line.joint_minimum(line.eq8(beta, gamma8));
    let mean_form = |gamma| line.joint_minimum(line.mean_form(beta, gamma)).0;
    assert!(close(w, mean_form(p.gamma), 1e-14));
    assert!(!close(w, mean_form(gamma8), 0.1));

    // The mean of Eq. (9)'s direction over the examples, at the minimum of Eq. (8) and λ inside its interval.
    let [low, high] = l_tilde_min(&line.scores(w), &line.positive).unwrap().lambda;
    let lambda = 0.5 * (low + high);
    let mean_step = |gamma: f64| {
        let rows = line.x.iter().zip(&line.positive);
        let steps = rows.map(|(x, &positive)| {
            let y = sign(positive);
            let a = f64::from(y * (lambda - w * x) > 0.0);
            gamma * w + beta * x * x * w - (beta + a) * y * x
        });
        steps.sum::<f64>() / line.n()
    };
    assert!(mean_step(p.gamma).abs() < 1e-14);
    assert!(mean_step(gamma8).abs() > 0.1);
}

/// SGD on ½x² with noise of variance σ²: E x² follows v ← (1 − η)² v + η² σ² exactly. The error v/2 falls
/// as 1/√t for η = 1/√t, so ε takes O(1/ε²) steps; as 1/t, O(1/ε) steps, only for η = 1/t.
#[test]
fn e10_inverse_root_steps_take_one_over_epsilon_squared() {
    let slope = |eta: fn(f64) -> f64| {
        let (mut v, mut early) = (1.0_f64, 0.0);
        let (t0, t1) = (10_000, 1_000_000);
        for t in 1..=t1 {
            let eta = eta(f64::from(t));
            v = (1.0 - eta).powi(2) * v + eta * eta;
            if t == t0 {
                early = v;
            }
        }
        (v / early).ln() / (f64::from(t1) / f64::from(t0)).ln()
    };
    assert!((slope(|t| 1.0 / t.sqrt()) + 0.5).abs() < 0.01);
    assert!((slope(|t| 1.0 / t) + 1.0).abs() < 0.01);
}

/// Exact minimisation over w, then over λ, and so on, stops above the joint minimum. A positive and a negative
/// tied at λ hold w: moving w alone puts one of them on the wrong side; only w and λ together can move.
#[test]
fn e12_block_descent_stops_short() {
    let line = Line {
        x: vec![2.0, 3.0, 1.0, 2.0],
        positive: vec![true, true, false, false],
    };
    let p = line.mean_form(0.5, 0.01);
    let (w_best, lambda_best) = line.joint_minimum(p);
    let least = line.value(p, w_best, lambda_best);
    for start in [0.4, 0.5, 0.6] {
        let mut lambda = start;
        let mut path = Vec::new();
        for _ in 0..50 {
            let w = line.best_w(p, lambda);
            let [low, high] = l_tilde_min(&line.scores(w), &line.positive).unwrap().lambda;
            assert_eq!(
                low, high,
                "λ has no choice: N⁺ or N⁻, midpoint or end, all are one"
            );
            lambda = high;
            path.push((w, lambda));
        }
        let (w, lambda) = path[49];
        assert_eq!((w, lambda), path[1], "it has stopped");
        let reached = line.value(p, w, lambda);
        println!(
            "from λ = {start}: w = {w}, value {reached}; joint minimum {least} at w = {w_best}"
        );
        assert!(reached > 1.01 * least);
        // A minimum over each block it is.
        for step in [-1e-3, 1e-3] {
            assert!(line.value(p, w + step, lambda) > reached);
            assert!(line.value(p, w, lambda + step) > reached);
        }
    }
}

/// From w = 0, λ = 0 it need not even start, on data that one threshold separates.
#[test]
fn e12_block_descent_can_stay_at_zero() {
    let line = Line {
        x: vec![3.0, 4.0, 1.0, 2.0],
        positive: vec![true, true, false, false],
    };
    let p = line.mean_form(0.5, 0.01);
    assert_eq!(line.best_w(p, 0.0), 0.0);
    let (w, lambda) = line.joint_minimum(p);
    assert!(w > 0.1 && line.value(p, w, lambda) < 0.9 * line.value(p, 0.0, 0.0));
}
