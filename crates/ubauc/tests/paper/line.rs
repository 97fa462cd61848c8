//! Problems with one feature, x ∈ ℝ, scores c_i = w x_i: everything can be solved exactly.
//!
//! In this file the objective is written with free factors, so that each of the paper's scalings is itself:
//!
//!   F(w, λ) = h Σ_i [y_i(λ − w x_i)]₊ + (b/2) Σ_i (y_i − w x_i)² + (g/2) w²
//!
//! Eq. (6): h = 1/(N⁺N⁻). Eq. (8): h = 1. P: h = 1/N, b = β/N.

use super::cases::{counts, hinge_sum, sign};

pub(crate) struct Line {
    pub(crate) x: Vec<f64>,
    pub(crate) positive: Vec<bool>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Factors {
    pub(crate) hinge: f64,
    pub(crate) square: f64,
    pub(crate) ridge: f64,
}

impl Line {
    pub(crate) fn n(&self) -> f64 {
        self.x.len() as f64
    }

    pub(crate) fn scores(&self, w: f64) -> Vec<f64> {
        self.x.iter().map(|x| w * x).collect()
    }

    pub(crate) fn value(&self, f: Factors, w: f64, lambda: f64) -> f64 {
        let squares: f64 = self
            .x
            .iter()
            .zip(&self.positive)
            .map(|(x, &p)| (sign(p) - w * x).powi(2))
            .sum();
        f.hinge * hinge_sum(&self.scores(w), &self.positive, lambda)
            + f.square / 2.0 * squares
            + f.ridge / 2.0 * w * w
    }

    /// Σ y x and Σ x².
    fn moments(&self) -> (f64, f64) {
        let yx = self
            .x
            .iter()
            .zip(&self.positive)
            .map(|(x, &p)| sign(p) * x)
            .sum();
        (yx, self.x.iter().map(|x| x * x).sum())
    }

    /// min over (w, λ) of F, by enumeration. For a given w some minimising λ is a score, λ = w x_k;
    /// on that ray, for w = ±t with t ≥ 0, the hinge is t·Σ[±y_i(x_k − x_i)]₊ and F a parabola in t.
    pub(crate) fn joint_minimum(&self, f: Factors) -> (f64, f64) {
        let (yx, xx) = self.moments();
        let mut best = (0.0, 0.0);
        for side in [1.0, -1.0] {
            let x = self.scores(side);
            for &at in &x {
                let slope = f.hinge * hinge_sum(&x, &self.positive, at);
                let t = ((f.square * side * yx - slope) / (f.square * xx + f.ridge)).max(0.0);
                let candidate = (side * t, t * at);
                if self.value(f, candidate.0, candidate.1) < self.value(f, best.0, best.1) {
                    best = candidate;
                }
            }
        }
        best
    }

    /// argmin_w F(w, λ) at a given λ, exactly: F is a parabola between neighbouring breakpoints λ/x_i.
    pub(crate) fn best_w(&self, f: Factors, lambda: f64) -> f64 {
        let (yx, xx) = self.moments();
        let breaks = self.x.iter().filter(|&&x| x != 0.0).map(|x| lambda / x);
        let mut breaks: Vec<f64> = breaks.collect();
        breaks.sort_by(f64::total_cmp);
        let mut candidates = breaks.clone();
        let ends = [f64::NEG_INFINITY, f64::INFINITY];
        let edges: Vec<f64> = [&ends[..1], &breaks, &ends[1..]].concat();
        for piece in edges.windows(2) {
            let inside = match (piece[0].is_finite(), piece[1].is_finite()) {
                (true, true) => 0.5 * (piece[0] + piece[1]),
                (true, false) => piece[0] + 1.0,
                (false, _) => piece[1] - 1.0,
            };
            let rows = self.x.iter().zip(&self.positive);
            let active = rows.filter(|&(x, &p)| sign(p) * (lambda - inside * x) > 0.0);
            let hinge: f64 = active.map(|(x, &p)| sign(p) * x).sum();
            let stationary = (f.square * yx + f.hinge * hinge) / (f.square * xx + f.ridge);
            candidates.push(stationary.clamp(piece[0], piece[1]));
        }
        let value = |w: f64| self.value(f, w, lambda);
        let better = |a: f64, b: f64| if value(b) < value(a) { b } else { a };
        candidates
            .into_iter()
            .reduce(better)
            .expect("there is at least one piece")
    }

    pub(crate) fn eq6(&self, beta: f64, gamma: f64) -> Factors {
        let (n_pos, n_neg) = counts(&self.positive);
        Factors {
            hinge: 1.0 / (n_pos * n_neg) as f64,
            square: beta,
            ridge: gamma,
        }
    }

    pub(crate) fn eq8(&self, beta: f64, gamma: f64) -> Factors {
        Factors {
            hinge: 1.0,
            square: beta,
            ridge: gamma,
        }
    }

    /// P of the library.
    pub(crate) fn mean_form(&self, beta: f64, gamma: f64) -> Factors {
        Factors {
            hinge: 1.0 / self.n(),
            square: beta / self.n(),
            ridge: gamma,
        }
    }
}

/// Six examples, not separable, N⁺ ≠ N⁻, no two alike.
pub(crate) fn six() -> Line {
    Line {
        x: vec![2.0, 2.5, 3.0, -1.0, 1.0, -0.5],
        positive: vec![true, true, false, false, false, false],
    }
}
