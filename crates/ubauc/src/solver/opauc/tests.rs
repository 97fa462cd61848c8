//! The long way: all past examples are kept, and every step looks at each of them.

use super::*;
use crate::data::generate::Deviates;
use crate::data::rows::dot;

/// An example with its draw r.
struct Past {
    x: Vec<f64>,
    r: Vec<f64>,
    positive: bool,
}

/// ∇L_t by pairs.
fn by_pairs(past: &[Past], w: &[f64], x: &[f64], y: f64, lambda: f64) -> Vec<f64> {
    let mut gradient: Vec<f64> = w.iter().map(|w| lambda * w).collect();
    let others: Vec<&Past> = past.iter().filter(|p| sign(p.positive) != y).collect();
    for other in &others {
        let difference: Vec<f64> = x.iter().zip(&other.x).map(|(x, o)| x - o).collect();
        // The derivative of ½(1 − y w·δ)².
        let slope = -y * (1.0 - y * dot(w, &difference)) / others.len() as f64;
        let add = |(g, d): (&mut f64, &f64)| *g += slope * d;
        gradient.iter_mut().zip(&difference).for_each(add);
    }
    gradient
}

/// The same with the sketch of Γ, by its definition.
fn by_sketch(past: &[Past], w: &[f64], x: &[f64], y: f64, lambda: f64) -> Vec<f64> {
    let others: Vec<&Past> = past.iter().filter(|p| sign(p.positive) != y).collect();
    let mut gradient: Vec<f64> = w.iter().map(|w| lambda * w).collect();
    if others.is_empty() {
        return gradient;
    }
    let (d, n, tau) = (w.len(), others.len() as f64, others[0].r.len());
    let mean: Vec<f64> = (0..d)
        .map(|j| others.iter().map(|o| o.x[j]).sum::<f64>() / n)
        .collect();
    let sketch = |j: usize, s: usize| {
        let terms = others.iter().map(|o| (o.x[j] - mean[j]) * o.r[s]);
        terms.sum::<f64>()
    };
    let sketch: Vec<Vec<f64>> = (0..d)
        .map(|j| (0..tau).map(|s| sketch(j, s)).collect())
        .collect();
    let across: Vec<f64> = (0..tau)
        .map(|s| (0..d).map(|j| sketch[j][s] * w[j]).sum())
        .collect();
    let difference: Vec<f64> = x.iter().zip(&mean).map(|(x, c)| x - c).collect();
    let e = dot(&difference, w) - y;
    for j in 0..d {
        gradient[j] += e * difference[j] + dot(&sketch[j], &across) / n;
    }
    gradient
}

/// Rows that are mostly 0 but for one feature, and labels that they tell something about.
fn examples(n: usize, d: usize, seed: u64) -> Vec<(Vec<f64>, bool)> {
    let mut random = Deviates::new(seed);
    let example = |_| {
        let mut x: Vec<f64> = (0..d)
            .map(|_| (random.normal() - 0.5).max(0.0) + 0.0)
            .collect();
        x[0] = random.normal() + 2.0;
        let positive = x[0] - x[1] + random.normal() > 2.5;
        (x, positive)
    };
    (0..n).map(example).collect()
}

fn sparse(x: &[f64]) -> (Vec<u32>, Vec<f64>) {
    let stored = x.iter().enumerate().filter(|(_, x)| **x != 0.0);
    stored.map(|(j, &x)| (j as u32, x)).unzip()
}

/// The largest difference, as a share of the largest weight.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let largest = |x: &mut dyn Iterator<Item = f64>| x.fold(0.0, f64::max);
    let difference = largest(&mut a.iter().zip(b).map(|(a, b)| (a - b).abs()));
    difference / largest(&mut b.iter().map(|b| b.abs())).max(1e-300)
}

type Gradient = fn(&[Past], &[f64], &[f64], f64, f64) -> Vec<f64>;

/// Steps of the learner, dense and sparse, against those of the long way; answers how far they part.
fn follow(
    params: &OpaucParams,
    examples: &[(Vec<f64>, bool)],
    passes: usize,
    gradient: Gradient,
) -> f64 {
    let d = examples[0].0.len();
    let mut dense = Opauc::new(d, params).unwrap();
    let mut thin = Opauc::new(d, params).unwrap();
    let mut random = Deviates::new(params.seed);
    let tau = params.tau.unwrap_or(0);
    let (mut w, mut past, mut worst) = (vec![0.0; d], Vec::new(), 0.0_f64);
    for (x, positive) in examples.iter().cycle().take(passes * examples.len()) {
        let g = gradient(&past, &w, x, sign(*positive), params.lambda);
        w.iter_mut().zip(g).for_each(|(w, g)| *w -= params.eta * g);
        let r = (0..tau).map(|_| random.normal() / (tau as f64).sqrt());
        past.push(Past {
            x: x.clone(),
            r: r.collect(),
            positive: *positive,
        });
        dense.learn(Row::Dense(x), *positive);
        let (indices, values) = sparse(x);
        thin.learn(Row::Sparse(&indices, &values), *positive);
        for found in [dense.weights(), thin.weights()] {
            assert!(found.iter().all(|w| w.is_finite()));
            worst = worst.max(apart(&found, &w));
        }
    }
    assert!(w.iter().any(|w| *w != 0.0));
    worst
}

fn params(eta: f64, lambda: f64, tau: Option<usize>) -> OpaucParams {
    OpaucParams {
        eta,
        lambda,
        tau,
        seed: 7,
    }
}

#[test]
fn four_steps_by_hand() {
    let mut learner = Opauc::new(2, &params(0.5, 0.1, None)).unwrap();
    let steps = [
        ([1.0, 0.0], true, [0.0, 0.0]),
        // c = (1, 0), e = 0 + 1, ∇ = (−1, 1)
        ([0.0, 1.0], false, [0.5, -0.5]),
        // c = (0, 1), e = ½ − 1, ∇ = (.05 − .5, −.05)
        ([1.0, 1.0], true, [0.725, -0.475]),
        // c = (1, ½), Γ = diag(0, ¼), e = .9625 + 1, ∇ = (.0725 + 1.9625, −.0475 − .98125 − .11875)
        ([2.0, 0.0], false, [-0.2925, 0.09875]),
    ];
    for (x, positive, w) in steps {
        learner.learn(Row::Dense(&x), positive);
        assert!(apart(&learner.weights(), &w) < 1e-15 || w == [0.0; 2]);
    }
}

#[test]
fn the_full_form_follows_the_gradient_by_pairs() {
    for d in [2, 3, 4, 7, 13] {
        for (eta, lambda) in [(0.02, 1e-3), (0.05, 0.0), (0.01, 1.0)] {
            let examples = examples(150, d, d as u64);
            let worst = follow(&params(eta, lambda, None), &examples, 2, by_pairs);
            assert!(worst < 1e-10, "d = {d}, eta = {eta}: {worst:e}");
        }
    }
}

#[test]
fn features_far_from_zero_cost_no_digits() {
    let mut examples = examples(150, 6, 3);
    for (x, _) in &mut examples {
        // Multiples of 2⁻²⁰, which the shift keeps as they are.
        x.iter_mut()
            .for_each(|x| *x = (*x * f64::exp2(20.0)).round() * f64::exp2(-20.0));
    }
    let learn = |shift: f64| {
        let mut learner = Opauc::new(6, &params(0.02, 1e-3, None)).unwrap();
        for (x, positive) in &examples {
            let x: Vec<f64> = x.iter().map(|x| x + shift).collect();
            learner.learn(Row::Dense(&x), *positive);
        }
        learner.weights()
    };
    let worst = apart(&learn(f64::exp2(30.0)), &learn(0.0));
    assert!(worst < 1e-10, "{worst:e}");
}

#[test]
fn the_low_rank_form_follows_the_sketch() {
    for (d, tau) in [(2, 1), (5, 3), (9, 12)] {
        // Also where all of w goes at each step, where little is left of it, and where it changes its sign.
        for (eta, lambda) in [
            (0.02, 1e-3),
            (0.02, 0.0),
            (0.05, 20.0),
            (0.05, 15.0),
            (0.05, 22.0),
        ] {
            let examples = examples(300, d, d as u64);
            let worst = follow(&params(eta, lambda, Some(tau)), &examples, 4, by_sketch);
            assert!(
                worst < 1e-8,
                "d = {d}, tau = {tau}, {eta} {lambda}: {worst:e}"
            );
        }
    }
}

#[test]
fn a_sketch_of_high_rank_is_near_the_covariance() {
    let examples = examples(80, 4, 1);
    let learn = |tau, seed| {
        let params = OpaucParams {
            seed,
            ..params(0.05, 1e-3, tau)
        };
        let mut learner = Opauc::new(4, &params).unwrap();
        for (x, positive) in &examples {
            learner.learn(Row::Dense(x), *positive);
        }
        learner.weights()
    };
    let full = learn(None, 0);
    let off = |tau| {
        let seeds = 0..6;
        seeds
            .map(|seed| apart(&learn(Some(tau), seed), &full))
            .sum::<f64>()
            / 6.0
    };
    // An entry of the sketch is off by its size times √(1/τ) or √(2/τ): so is w, or less.
    let (coarse, fine) = (off(4), off(400));
    println!("rank 4: {coarse:.4}, rank 400: {fine:.4}");
    assert!(coarse < 0.5 && fine < 0.05, "{coarse} {fine}");
    assert!(fine < 0.2 * coarse, "{coarse} {fine}");
}

#[test]
fn the_sketch_does_not_see_where_zero_is() {
    let examples = examples(200, 5, 4);
    let learn = |shift: f64| {
        let mut learner = Opauc::new(5, &params(0.02, 1e-3, Some(3))).unwrap();
        for (x, positive) in &examples {
            let x: Vec<f64> = x.iter().map(|x| x + shift).collect();
            learner.learn(Row::Dense(&x), *positive);
        }
        learner.weights()
    };
    let worst = apart(&learn(10.0), &learn(0.0));
    assert!(worst < 1e-10, "{worst:e}");
}
