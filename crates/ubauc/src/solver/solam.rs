//! SOLAM: the pairwise square loss as a saddle point, by stochastic descent and ascent [Ying, Wen and Lyu 2016].
//!
//! With p the share of positives, the mean over pairs of (1 − w·(x⁺ − x⁻))² is 1 + 1/(p(1−p)) times
//!
//! ```text
//! min_{w,a,b} max_α E F,   F = (1−p)(w·x − a)² 1[y=+1] + p(w·x − b)² 1[y=−1]
//!                             + 2(1+α)(p w·x 1[y=−1] − (1−p) w·x 1[y=+1]) − p(1−p)α²
//! ```
//!
//! where a and b become the class means of the scores and α = b − a. One example at a time suffices for an unbiased
//! gradient. Step t, with γ_t = ζ/√t and p the share of positives among the examples 1…t, is
//!
//! ```text
//! y=+1:  w ← w − 2γ(1−p)(w·x − a − 1 − α) x,   a ← a + 2γ(1−p)(w·x − a),   α ← α − 2γ(1−p)(w·x + pα)
//! y=−1:  w ← w − 2γp(w·x − b + 1 + α) x,       b ← b + 2γp(w·x − b),       α ← α + 2γp(w·x − (1−p)α)
//! ```
//!
//! all from the old values, then w onto the ball of radius R, a and b into [−Rκ, Rκ] and α into [−2Rκ, 2Rκ], with κ the
//! largest ‖x‖. The answer is Σ γ_t w_t / Σ γ_t over the iterates *before* their steps; all start at 0, t goes on over
//! passes.
//!
//! Cost: O(nnz(x)) a step, sparse rows stay sparse: the projection is a change of scale, and the weighted sum is kept as
//! `weights.rs` says.

use rayon::prelude::*;

use crate::data::rows::{Row, Rows};
use crate::objective::pairwise;
use crate::solver::passes::{Online, Scored};
use crate::solver::weights::Weights;
use crate::{Error, Result};

/// How far a step goes, and how far all steps may lead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolamParams {
    /// ζ > 0 of the step ζ/√t.
    pub zeta: f64,
    /// R > 0, the largest ‖w‖.
    pub radius: f64,
}

impl Default for SolamParams {
    fn default() -> Self {
        SolamParams {
            zeta: 1.0,
            radius: 1.0,
        }
    }
}

impl SolamParams {
    /// Refuses the first parameter outside its range.
    pub fn check(&self) -> Result<()> {
        for (name, value) in [("zeta", self.zeta), ("radius", self.radius)] {
            if !(value > 0.0 && value.is_finite()) {
                let (value, must) = (value.to_string(), "finite and above 0");
                return Err(Error::Parameter { name, value, must });
            }
        }
        Ok(())
    }
}

/// κ, the largest ‖x_i‖ of the rows, feature j divided by its divisor.
pub fn kappa(rows: &Rows, divisors: Option<&[f64]>) -> f64 {
    let divisor = |j: usize| divisors.and_then(|r| r.get(j)).map_or(1.0, |r| *r);
    let norm_sq = |i: usize| {
        let squares = rows.row(i).entries().map(|(j, x)| (x / divisor(j)).powi(2));
        squares.sum::<f64>()
    };
    let largest = (0..rows.len()).into_par_iter().map(norm_sq);
    largest.reduce(|| 0.0, f64::max).sqrt()
}

/// a, b and α.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Scalars {
    a: f64,
    b: f64,
    alpha: f64,
}

/// The learner.
#[derive(Debug, Clone)]
pub struct Solam {
    zeta: f64,
    radius: f64,
    /// Rκ.
    bound: f64,
    weights: Weights,
    now: Scalars,
    /// Σ γ_t (a, b, α)_t.
    sums: Scalars,
    /// Σ γ_t.
    gammas: f64,
    /// t, and how many of them were positive.
    steps: u64,
    positives: u64,
}

impl Solam {
    /// For rows of d columns, none longer than κ.
    pub fn new(d: usize, kappa: f64, params: &SolamParams) -> Result<Solam> {
        params.check()?;
        let bound = params.radius * kappa;
        if !(kappa >= 0.0 && bound.is_finite()) {
            return Err(Error::Parameter {
                name: "kappa",
                value: format!("{kappa:e}"),
                must: "the length of the longest row, a number also when multiplied by the radius; scale the features",
            });
        }
        Ok(Solam {
            zeta: params.zeta,
            radius: params.radius,
            bound,
            weights: Weights::new(d),
            now: Scalars::default(),
            sums: Scalars::default(),
            gammas: 0.0,
            steps: 0,
            positives: 0,
        })
    }

    /// w ← w + kx, onto the ball; `score` is w·x.
    #[inline]
    fn step(&mut self, k: f64, score: f64, x: Row<'_>) {
        let norm_sq: f64 = match x {
            Row::Dense(values) | Row::Sparse(_, values) => values.iter().map(|x| x * x).sum(),
        };
        let weights = &mut self.weights;
        let delta = weights.delta(k);
        weights.add(delta, x);
        let after = weights.norm_sq + 2.0 * k * score + k * k * norm_sq;
        weights.norm_sq = after.max(0.0);
        weights.refresh_norm();
        let limit = self.radius * self.radius;
        if weights.norm_sq > limit {
            let shrink = self.radius / weights.norm_sq.sqrt();
            weights.norm_sq = limit;
            // A w that has left the numbers is marked, for whoever looks at it after the pass.
            if !weights.decay(shrink) {
                weights.scale = f64::NAN;
            }
        }
    }
}

impl Online for Solam {
    fn learn(&mut self, x: Row<'_>, positive: bool) {
        self.steps += 1;
        self.positives += u64::from(positive);
        let p = self.positives as f64 / self.steps as f64;
        let gamma = self.zeta / (self.steps as f64).sqrt();
        let Scalars { a, b, alpha } = self.now;
        self.gammas += gamma;
        self.sums.a += gamma * a;
        self.sums.b += gamma * b;
        self.sums.alpha += gamma * alpha;
        self.weights.sum += gamma * self.weights.scale;

        let score = self.weights.scale * self.weights.product(x);
        let k = if positive {
            let g = 2.0 * gamma * (1.0 - p);
            self.now.a = (a + g * (score - a)).clamp(-self.bound, self.bound);
            self.now.alpha = alpha - g * (score + p * alpha);
            -g * (score - a - 1.0 - alpha)
        } else {
            let g = 2.0 * gamma * p;
            self.now.b = (b + g * (score - b)).clamp(-self.bound, self.bound);
            self.now.alpha = alpha + g * (score - (1.0 - p) * alpha);
            -g * (score - b + 1.0 + alpha)
        };
        let most = 2.0 * self.bound;
        self.now.alpha = self.now.alpha.clamp(-most, most);
        self.step(k, score, x);
    }

    fn weights(&self) -> Vec<f64> {
        let count = self.weights.pairs.len();
        let mean = |j| self.weights.sum_at(j) / self.gammas;
        if self.steps == 0 {
            return vec![0.0; count];
        }
        (0..count).map(mean).collect()
    }

    fn objective(&self, at: &Scored<'_>) -> f64 {
        pairwise::square(at.scores, at.positive).unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
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
            ([0.0, 2.0], false, [0.0, -1.414213562], [0.0, 0.0, 0.0]),
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
}
