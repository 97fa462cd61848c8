//! By hand, against plain vectors, against the pairs, and against the minimum in closed form.
#![allow(clippy::unwrap_used)] // a test that cannot go on should stop

use super::*;

fn close(found: &[f64], expected: &[f64], tolerance: f64) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * (1.0 + b.abs());
    found.len() == expected.len() && found.iter().zip(expected).all(near)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Rows that are half zeros, a third of them positive.
fn half_empty(rows: u64, dim: u32) -> Dataset {
    let params = GenerateParams {
        rows,
        dim,
        density: 0.5,
        positive_share: 1.0 / 3.0,
        auc: 0.85,
        ..Default::default()
    };
    generated(0, &params).unwrap()
}

/// The rows written out, with their classes.
fn plain(data: &Dataset) -> Vec<(Vec<f64>, bool)> {
    let d = data.rows().cols();
    let row = |i: usize| (0..d).map(|j| data.rows().row(i).get(j)).collect();
    let classes = data.positive().iter().enumerate();
    classes.map(|(i, &positive)| (row(i), positive)).collect()
}

#[test]
fn three_steps_by_hand() {
    // p = 1/3, m⁺ = (2, 0), m⁻ = (0, 1) of (0, 2) and (0, 0).
    let rows = Csr::new(vec![0, 1, 2, 2], vec![0, 1], vec![2.0, 2.0], 2).unwrap();
    let labels = Binary {
        positive: vec![true, false, false],
        n_pos: 1,
        n_neg: 2,
        names: ["-1".to_string(), "1".to_string()],
    };
    let data = Dataset::new(Rows::Csr(rows), labels, Vec::new()).unwrap();
    let params = SpamParams {
        zeta: 0.5,
        lambda: 2.0,
    };
    let mut learner = Spam::new(&data, None, &params).unwrap();
    assert!(close(&learner.means[1], &[2.0, 0.0], 1e-15));
    assert!(close(&learner.means[0], &[0.0, 1.0], 1e-15));
    // η = 1/2, w = 0: g = −4/3 (2, 0), w = (4/3, 0)/2 = (2/3, 0).
    // η = 1/√8 = .353553, a = 4/3, b = 0, α = −4/3, w·x = 0: g = 2/3 (−1/3) (0, 2) = (0, −4/9),
    //   w = (.666667, .157135)/1.707107 = (.390524, .092047).
    // η = 1/√12 = .288675, a = .781049, b = .092047, α = −.689001, w·x = a: g = −4/3 (.310999) (2, 0) = (−.829330, 0),
    //   w = (.390524 + .239407, .092047)/1.577350 = (.399360, .058356).
    let steps = [
        ([2.0, 0.0], true, [0.666667, 0.0]),
        ([0.0, 2.0], false, [0.390524, 0.092047]),
        ([2.0, 0.0], true, [0.399360, 0.058356]),
    ];
    for (x, positive, w) in steps {
        learner.learn(Row::Dense(&x), positive);
        let now = learner.weights();
        assert!(close(&now, &w, 1e-6), "{now:?} {w:?}");
    }
}

/// The same steps on plain vectors, nothing carried along.
struct Naive {
    params: SpamParams,
    p: f64,
    means: [Vec<f64>; 2],
    w: Vec<f64>,
    t: f64,
}

impl Naive {
    fn learn(&mut self, x: &[f64], positive: bool) {
        self.t += 1.0;
        let eta = self.params.zeta / self.t.sqrt();
        let (a, b) = (dot(&self.w, &self.means[1]), dot(&self.w, &self.means[0]));
        let (c, alpha, p, q) = (dot(&self.w, x), b - a, self.p, 1.0 - self.p);
        // The gradient in w of SOLAM's F.
        let slope = if positive {
            2.0 * q * (c - a) - 2.0 * (1.0 + alpha) * q
        } else {
            2.0 * p * (c - b) + 2.0 * (1.0 + alpha) * p
        };
        for (w, x) in self.w.iter_mut().zip(x) {
            *w = (*w - eta * slope * x) / (1.0 + eta * self.params.lambda);
        }
    }
}

#[test]
fn dense_and_sparse_steps_are_those_on_plain_vectors() {
    let (d, data) = (7, half_empty(300, 7));
    let divisors: Vec<f64> = (0..d).map(|j| 0.5 + j as f64).collect();
    let mut examples = plain(&data);
    for (x, _) in &mut examples {
        x.iter_mut().zip(&divisors).for_each(|(x, r)| *x /= r);
    }
    let mean = |class: bool| {
        let of: Vec<&Vec<f64>> = examples
            .iter()
            .filter(|e| e.1 == class)
            .map(|e| &e.0)
            .collect();
        let sum = |j: usize| of.iter().map(|x| x[j]).sum::<f64>();
        (0..d).map(|j| sum(j) / of.len() as f64).collect()
    };
    // A λ of 1e3 makes s small within a few dozen steps, one of 1e200 in one.
    for (zeta, lambda) in [
        (0.1, 0.0),
        (0.1, 1e-4),
        (0.5, 0.1),
        (1.0, 1e3),
        (1.0, 1e200),
    ] {
        let params = SpamParams { zeta, lambda };
        let mut dense = Spam::new(&data, Some(&divisors), &params).unwrap();
        let mut sparse = dense.clone();
        let mut naive = Naive {
            params,
            p: data.n_pos() as f64 / 300.0,
            means: [mean(false), mean(true)],
            w: vec![0.0; d],
            t: 0.0,
        };
        for (x, positive) in examples.iter().cycle().take(2000) {
            naive.learn(x, *positive);
            dense.learn(Row::Dense(x), *positive);
            let stored = x.iter().enumerate().filter(|(_, x)| **x != 0.0);
            let (indices, values): (Vec<u32>, Vec<f64>) =
                stored.map(|(j, &x)| (j as u32, x)).unzip();
            sparse.learn(Row::Sparse(&indices, &values), *positive);
            for learner in [&dense, &sparse] {
                let w = learner.weights();
                let largest = |of: &mut dyn Iterator<Item = f64>| {
                    of.fold(0.0, |most: f64, x| most.max(x.abs()))
                };
                let size = largest(&mut naive.w.iter().copied());
                let apart = largest(&mut w.iter().zip(&naive.w).map(|(a, b)| a - b));
                // d additions between two renewals.
                assert!(
                    apart <= 1e-12 * size,
                    "{zeta} {lambda}: {apart:e} of {size:e}"
                );
            }
        }
    }
}

#[test]
fn the_mean_of_the_gradients_is_that_of_all_pairs() {
    let (d, data) = (3, half_empty(60, 3));
    let examples = plain(&data);
    let params = SpamParams {
        zeta: 1.0,
        lambda: 0.0,
    };
    let mut learner = Spam::new(&data, None, &params).unwrap();
    learner.v = vec![0.3, -0.7, 0.2];
    learner.renew();
    let w = learner.weights();
    // The first step has η = 1, and without a penalty it is the gradient.
    let mut mean = vec![0.0; d];
    for (x, positive) in &examples {
        let mut once = learner.clone();
        once.learn(Row::Dense(x), *positive);
        for ((mean, before), after) in mean.iter_mut().zip(&w).zip(once.weights()) {
            *mean += (before - after) / 60.0;
        }
    }
    let mut gradient = vec![0.0; d];
    for (up, _) in examples.iter().filter(|e| e.1) {
        for (low, _) in examples.iter().filter(|e| !e.1) {
            let apart: Vec<f64> = up.iter().zip(low).map(|(a, b)| a - b).collect();
            let slope = -2.0 * (1.0 - dot(&w, &apart));
            // p(1−p)/(N⁺N⁻) = 1/N².
            for (g, x) in gradient.iter_mut().zip(&apart) {
                *g += slope * x / 3600.0;
            }
        }
    }
    assert!(close(&mean, &gradient, 1e-13), "{mean:?} {gradient:?}");
}

#[test]
fn passes_lead_to_the_minimum() {
    let data = half_empty(40, 2);
    let examples = plain(&data);
    let params = SpamParams {
        zeta: 0.2,
        lambda: 0.05,
    };
    // ∇P = 2p(1−p)(Mw − δ) + λw = 0 with M = Σ (x_i − x_j)(x_i − x_j)ᵀ/(N⁺N⁻), δ = m⁺ − m⁻.
    let (mut m, mut gap) = ([0.0; 3], [0.0; 2]);
    let pairs = (data.n_pos() * data.n_neg()) as f64;
    for (up, _) in examples.iter().filter(|e| e.1) {
        for (low, _) in examples.iter().filter(|e| !e.1) {
            let x = [up[0] - low[0], up[1] - low[1]];
            for (m, product) in m.iter_mut().zip([x[0] * x[0], x[0] * x[1], x[1] * x[1]]) {
                *m += product / pairs;
            }
            gap[0] += x[0] / pairs;
            gap[1] += x[1] / pairs;
        }
    }
    let balance = pairs / 1600.0;
    let ridge = params.lambda / (2.0 * balance);
    let (m00, m11) = (m[0] + ridge, m[2] + ridge);
    let det = m00 * m11 - m[1] * m[1];
    let best = [
        (m11 * gap[0] - m[1] * gap[1]) / det,
        (m00 * gap[1] - m[1] * gap[0]) / det,
    ];
    // At the minimum L + ridge ‖w‖² is 1 − w·δ.
    let least = balance * (1.0 - dot(&best, &gap));

    let learner = Spam::new(&data, None, &params).unwrap();
    let passes = Passes {
        passes: 20_000,
        tolerance: 0.0,
        shuffle: Some(1),
    };
    let found = passes::fit(&data, &OnlineInputs::default(), learner, &passes).unwrap();
    let above = found.objective - least;
    println!("{above:e} above {least}; {:?} for {best:?}", found.weights);
    assert!((0.0..1e-6).contains(&above), "{above:e}");
    // The last η is ζ/√800,000 = 2e-4; one example moves w by a few times that.
    assert!(close(&found.weights, &best, 1e-3), "{:?}", found.weights);
}

#[test]
fn the_objective_is_that_of_the_pairs() {
    let data = half_empty(90, 5);
    let params = SpamParams {
        zeta: 0.1,
        lambda: 0.3,
    };
    let divisors = [2.0, 1.0, 0.5, 4.0, 1.0];
    let given = OnlineInputs {
        divisors: Some(&divisors),
        progress: None,
    };
    let once = Passes {
        passes: 1,
        ..Default::default()
    };
    let learner = Spam::new(&data, Some(&divisors), &params).unwrap();
    let found = passes::fit(&data, &given, learner, &once).unwrap();
    let mut sum = 0.0;
    for (c, _) in found.scores.iter().zip(data.positive()).filter(|c| *c.1) {
        for (e, _) in found.scores.iter().zip(data.positive()).filter(|e| !*e.1) {
            sum += (1.0 - (c - e)).powi(2);
        }
    }
    let norm_sq: f64 = (0..5)
        .map(|j| (found.weights[j] * divisors[j]).powi(2))
        .sum();
    let expected = sum / 8100.0 + 0.15 * norm_sq;
    assert!((found.objective - expected).abs() < 1e-12 * expected);
}

#[test]
fn what_has_no_meaning_is_refused_and_what_diverges_is_an_error() {
    let data = half_empty(50, 3);
    let name = |zeta, lambda| match Spam::new(&data, None, &SpamParams { zeta, lambda }) {
        Err(Error::Parameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(name(bad, 1.0), "zeta");
    }
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(name(1.0, bad), "lambda");
    }
    let params = SpamParams {
        zeta: 1e200,
        lambda: 0.0,
    };
    let learner = Spam::new(&data, None, &params).unwrap();
    let found = passes::fit(&data, &OnlineInputs::default(), learner, &Passes::default());
    assert!(matches!(found, Err(Error::Numerical { .. })), "{found:?}");
}

/// What stands below the command in the guide.
fn shown_below(command: &str) -> &'static str {
    let guide = include_str!("../../../../docs/add-an-algorithm.md");
    let (_, after) = guide.split_once(&format!("{command}\n")).unwrap();
    after.split("```").next().unwrap()
}

#[test]
fn the_guide_shows_what_is_printed() {
    let params = GenerateParams::default();
    let [train, test] = [0, 1].map(|sample| generated(sample, &params).unwrap());
    let shown = shown_below("$ cargo run --release -p ubauc --example spam");
    assert_eq!(compare(&train, &test).unwrap(), shown);
}

#[test]
fn the_guide_shows_what_is_printed_on_a9a() {
    let Some(dir) = std::env::var_os("UBAUC_DATA") else {
        // Past the test harness, which would swallow the output of a test that passes.
        let word =
            "SKIPPED: the guide's figures of a9a need real data; set UBAUC_DATA to their folder\n";
        let _ = std::io::Write::write_all(&mut std::io::stderr(), word.as_bytes());
        return;
    };
    let dir = Path::new(&dir).join("a9a");
    let files = [dir.join("train.svm.zst"), dir.join("test.svm.zst")];
    let [train, test] = from_files(&files[0], &files[1]).unwrap();
    let shown = shown_below("DATA/a9a/train.svm.zst DATA/a9a/test.svm.zst");
    assert_eq!(compare(&train, &test).unwrap(), shown);
}
