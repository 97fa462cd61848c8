//! By hand, against plain vectors, and against the saddle point in closed form.

use super::*;
use crate::data::generate::Deviates;
use crate::data::rows::dot;

fn close(found: &[f64], expected: &[f64], tolerance: f64) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * (1.0 + b.abs());
    found.len() == expected.len() && found.iter().zip(expected).all(near)
}

#[test]
fn four_steps_by_hand() {
    let params = SolamParams {
        zeta: 1.0,
        radius: 100.0,
    };
    let mut learner = Solam::new(2, 10.0, &params).unwrap();
    // p = 1: nothing. p = 1/2, γ = 1/√2: w = −(0, 2)/√2. p = 2/3, γ = 1/√3, 2γ(1−p) = .3849, w·x = −√2:
    // a = −.3849 √2 = −α, w + .3849 (1 + √2) x. p = 1/2, γ = 1/2, w·x = 1.373480: b = half of it,
    // α + ½(1.373480 − ½α), w − ½(1.373480 + 1 + .544331) x.
    let steps = [
        ([1.0, 0.0], true, [0.0, 0.0], [0.0, 0.0, 0.0]),
        (
            [0.0, 2.0],
            false,
            [0.0, -std::f64::consts::SQRT_2],
            [0.0, 0.0, 0.0],
        ),
        (
            [1.0, 1.0],
            true,
            [0.929231233, -0.484982329],
            [-0.544331054, 0.0, 0.544331054],
        ),
        (
            [2.0, 1.0],
            false,
            [-1.988579958, -1.943887925],
            [-0.544331054, 0.686740069, 1.094988359],
        ),
    ];
    for (x, positive, w, scalars) in steps {
        learner.learn(Row::Dense(&x), positive);
        let now = [learner.weights.at(0), learner.weights.at(1)];
        assert!(close(&now, &w, 1e-9), "{now:?} {w:?}");
        let Scalars { a, b, alpha } = learner.now;
        assert!(close(&[a, b, alpha], &scalars, 1e-9), "{:?}", learner.now);
    }
    // (w_3/√3 + w_4/2) / (1 + 1/√2 + 1/√3 + 1/2), w_t being the iterate before step t.
    let mean = [0.166860400, -0.380321092];
    assert!(close(&Online::weights(&learner), &mean, 1e-9));
}

/// The same steps on plain vectors.
struct Naive {
    params: SolamParams,
    bound: f64,
    w: Vec<f64>,
    sum: Vec<f64>,
    scalars: [f64; 3],
    gammas: f64,
    t: f64,
    positives: f64,
}

impl Naive {
    fn learn(&mut self, x: &[f64], positive: bool) {
        self.t += 1.0;
        self.positives += f64::from(u8::from(positive));
        let (p, gamma) = (self.positives / self.t, self.params.zeta / self.t.sqrt());
        for (sum, w) in self.sum.iter_mut().zip(&self.w) {
            *sum += gamma * w;
        }
        self.gammas += gamma;
        let c = dot(&self.w, x);
        let [a, b, alpha] = self.scalars;
        // The gradient of F in w·x, a, b, and α.
        let (dc, da, db, dalpha) = if positive {
            let q = 1.0 - p;
            let dc = 2.0 * q * (c - a) - 2.0 * (1.0 + alpha) * q;
            (
                dc,
                -2.0 * q * (c - a),
                0.0,
                -2.0 * q * c - 2.0 * p * q * alpha,
            )
        } else {
            let dc = 2.0 * p * (c - b) + 2.0 * (1.0 + alpha) * p;
            let dalpha = 2.0 * p * c - 2.0 * p * (1.0 - p) * alpha;
            (dc, 0.0, -2.0 * p * (c - b), dalpha)
        };
        let project = |x: f64, most: f64| x.max(-most).min(most);
        self.scalars = [
            project(a - gamma * da, self.bound),
            project(b - gamma * db, self.bound),
            project(alpha + gamma * dalpha, 2.0 * self.bound),
        ];
        for (w, x) in self.w.iter_mut().zip(x) {
            *w -= gamma * dc * x;
        }
        let norm = dot(&self.w, &self.w).sqrt();
        if norm > self.params.radius {
            let shrink = self.params.radius / norm;
            self.w.iter_mut().for_each(|w| *w *= shrink);
        }
    }
}

/// Rows that are half zeros, and their labels.
fn examples(n: usize, d: usize) -> Vec<(Vec<f64>, bool)> {
    let mut random = Deviates::new(5);
    let example = |_| {
        let x: Vec<f64> = (0..d).map(|_| random.normal().max(0.0)).collect();
        let positive = x[0] - x[1] + 0.5 * random.normal() > 0.5;
        (x, positive)
    };
    (0..n).map(example).collect()
}

#[test]
fn dense_and_sparse_steps_are_those_on_plain_vectors() {
    let (d, examples) = (6, examples(400, 6));
    for (zeta, radius) in [(0.1, 100.0), (0.5, 0.3), (5.0, 2.0), (100.0, 1e-3)] {
        let params = SolamParams { zeta, radius };
        let kappa = 2.0;
        let mut dense = Solam::new(d, kappa, &params).unwrap();
        let mut sparse = dense.clone();
        let mut naive = Naive {
            params,
            bound: radius * kappa,
            w: vec![0.0; d],
            sum: vec![0.0; d],
            scalars: [0.0; 3],
            gammas: 0.0,
            t: 0.0,
            positives: 0.0,
        };
        for (x, positive) in examples.iter().cycle().take(2000) {
            naive.learn(x, *positive);
            dense.learn(Row::Dense(x), *positive);
            let stored = x.iter().enumerate().filter(|(_, x)| **x != 0.0);
            let (indices, values): (Vec<u32>, Vec<f64>) =
                stored.map(|(j, &x)| (j as u32, x)).unzip();
            sparse.learn(Row::Sparse(&indices, &values), *positive);
            let scaled = |w: &[f64]| w.iter().map(|w| w / radius).collect::<Vec<f64>>();
            for learner in [&dense, &sparse] {
                let w: Vec<f64> = (0..d).map(|j| learner.weights.at(j)).collect();
                assert!(close(&scaled(&w), &scaled(&naive.w), 1e-10));
                let Scalars { a, b, alpha } = learner.now;
                assert!(close(
                    &scaled(&[a, b, alpha]),
                    &scaled(&naive.scalars),
                    1e-10
                ));
                let mean: Vec<f64> = naive.sum.iter().map(|s| s / naive.gammas).collect();
                assert!(close(
                    &scaled(&Online::weights(learner)),
                    &scaled(&mean),
                    1e-10
                ));
            }
        }
    }
}

#[test]
fn the_average_goes_to_the_saddle_point() {
    let (d, examples) = (2, examples(40, 2));
    // (Γ⁺ + Γ⁻ + δδᵀ) w = δ, δ = c⁺ − c⁻.
    let class = |positive: bool| {
        let of: Vec<&Vec<f64>> = examples
            .iter()
            .filter(|e| e.1 == positive)
            .map(|e| &e.0)
            .collect();
        let n = of.len() as f64;
        let mean = [0, 1].map(|j| of.iter().map(|x| x[j]).sum::<f64>() / n);
        let covariance = |i: usize, j: usize| {
            let terms = of.iter().map(|x| (x[i] - mean[i]) * (x[j] - mean[j]));
            terms.sum::<f64>() / n
        };
        (mean, [covariance(0, 0), covariance(0, 1), covariance(1, 1)])
    };
    let ((up, s), (low, t)) = (class(true), class(false));
    let gap = [up[0] - low[0], up[1] - low[1]];
    let m = [
        s[0] + t[0] + gap[0] * gap[0],
        s[1] + t[1] + gap[0] * gap[1],
        s[2] + t[2] + gap[1] * gap[1],
    ];
    let det = m[0] * m[2] - m[1] * m[1];
    let best = [
        (m[2] * gap[0] - m[1] * gap[1]) / det,
        (m[0] * gap[1] - m[1] * gap[0]) / det,
    ];
    let positive: Vec<bool> = examples.iter().map(|e| e.1).collect();
    let loss = |w: &[f64]| {
        let scores: Vec<f64> = examples.iter().map(|e| dot(&e.0, w)).collect();
        pairwise::square(&scores, &positive).unwrap()
    };
    // At the minimum the loss is 1 − w·δ.
    assert!((loss(&best) - (1.0 - dot(&best, &gap))).abs() < 1e-12);

    let params = SolamParams {
        zeta: 0.5,
        radius: 5.0,
    };
    let mut learner = Solam::new(d, 5.0, &params).unwrap();
    for (x, positive) in examples.iter().cycle().take(40 * 20_000) {
        learner.learn(Row::Dense(x), *positive);
    }
    let above = loss(&Online::weights(&learner)) - loss(&best);
    let Scalars { a, b, alpha } = learner.sums;
    let scalars = [a, b, alpha].map(|sum| sum / learner.gammas);
    let (a, b) = (dot(&best, &up), dot(&best, &low));
    println!("{above:e} above; {scalars:?} for {:?}", [a, b, b - a]);
    assert!((0.0..1e-3).contains(&above), "{above:e}");
    assert!(close(&scalars, &[a, b, b - a], 1e-2), "{scalars:?}");
}

#[test]
fn a_stream_widens_its_bounds_and_never_narrows_them() {
    let params = SolamParams::default();
    let mut learner = Solam::new(1, 0.0, &params).unwrap();
    let mut known = Solam::new(1, 3.0, &params).unwrap();
    learner.widen(3.0).unwrap();
    learner.widen(2.0).unwrap();
    assert_eq!(learner.bound, known.bound);
    for (t, x) in [3.0, -1.0, 2.0, 0.5, -3.0].into_iter().enumerate() {
        for solam in [&mut learner, &mut known] {
            solam.learn(Row::Dense(&[x]), t % 2 == 0);
        }
    }
    assert_eq!(Online::weights(&learner), Online::weights(&known));
    for wrong in [f64::NAN, -1.0, f64::INFINITY] {
        assert!(learner.widen(wrong).is_err(), "{wrong}");
    }
}
