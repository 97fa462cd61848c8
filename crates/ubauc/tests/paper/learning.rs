//! Eq. (6), Eq. (7), Eq. (8): the learning objective.

use proptest::collection::vec;
use proptest::prelude::*;
use ubauc::objective::loss::Loss;
use ubauc::objective::ubauc::{Chunk, LeastSquares, Objective, Sums};
use ubauc::objective::univariate::l_tilde;

use super::cases::{close, sign};
use super::line::six;

const D: usize = 3;

/// Up to 12 examples with D features, on a grid: scores often meet λ exactly, at the kink.
#[derive(Debug, Clone)]
struct Rows {
    x: Vec<Vec<f64>>,
    positive: Vec<bool>,
}

/// (w, λ).
type Point = (Vec<f64>, f64);

fn grid() -> impl Strategy<Value = f64> {
    (-6..=6_i32).prop_map(|k| f64::from(k) / 2.0)
}

fn rows() -> impl Strategy<Value = Rows> {
    vec((vec(grid(), D), any::<bool>()), 2..12).prop_map(|rows| {
        let (x, mut positive): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        (positive[0], positive[1]) = (true, false);
        Rows { x, positive }
    })
}

fn point() -> impl Strategy<Value = Point> {
    (vec(grid(), D), grid())
}

fn objective() -> impl Strategy<Value = Objective> {
    (0.0..2.0, 0.0..2.0, any::<bool>()).prop_map(|(beta, gamma, balanced)| {
        let least_squares = if balanced {
            LeastSquares::Balanced
        } else {
            LeastSquares::Plain
        };
        Objective {
            beta,
            gamma,
            least_squares,
            softness: 0.0,
        }
    })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Rows {
    fn scores(&self, w: &[f64]) -> Vec<f64> {
        self.x.iter().map(|x| dot(x, w)).collect()
    }

    fn sums(&self, (w, lambda): &Point) -> Sums {
        let scores = self.scores(w);
        let chunk = Chunk {
            scores: &scores,
            positive: &self.positive,
            weights: None,
        };
        Sums::of(chunk, Loss::Hinge, *lambda, 0.0).expect("lengths agree")
    }

    fn value(&self, p: &Objective, at: &Point) -> f64 {
        p.value(&self.sums(at), dot(&at.0, &at.0))
    }
}

proptest! {
    #[test]
    fn eq07_joint_convexity(
        rows in rows(), p in objective(), a in point(), b in point(), t in 0.0..=1.0_f64,
    ) {
        let mix = |a: f64, b: f64| t * a + (1.0 - t) * b;
        let w = a.0.iter().zip(&b.0).map(|(&a, &b)| mix(a, b)).collect();
        let between = rows.value(&p, &(w, mix(a.1, b.1)));
        let chord = mix(rows.value(&p, &a), rows.value(&p, &b));
        prop_assert!(between <= chord * (1.0 + 1e-13));
    }

    /// Eq. (8) is N·P: its formula, written out.
    #[test]
    fn eq08_is_n_times_p(rows in rows(), at in point(), beta in 0.0..2.0, gamma in 0.0..2.0) {
        let (w, lambda) = &at;
        let mut eq8 = gamma / 2.0 * dot(w, w);
        for (c, &p) in rows.scores(w).iter().zip(&rows.positive) {
            let y = sign(p);
            eq8 += (y * (lambda - c)).max(0.0) + beta / 2.0 * (1.0 - y * c).powi(2);
        }
        let n = rows.x.len();
        let p = Objective::from_eq8(beta, gamma, n);
        prop_assert!(close(eq8, n as f64 * rows.value(&p, &at), 1e-13));
    }

    /// P(v) ≥ P(w) + g·(v − w) for any two points, kinks included.
    #[test]
    fn eq08_subgradient_inequality(
        rows in rows(), p in objective(), at in point(), to in point(),
    ) {
        let scores = rows.scores(&at.0);
        let chunk = Chunk { scores: &scores, positive: &rows.positive, weights: None };
        let total = rows.sums(&at).total;
        let mut slope = vec![0.0; scores.len()];
        let rest = p.subgradient(chunk, total, at.1, 0.0, &mut slope).unwrap();
        // ∇_w = Xᵀ(∂P/∂c) + γw
        let mut linear = rows.value(&p, &at) + rest.lambda * (to.1 - at.1);
        for k in 0..D {
            let column: f64 = rows.x.iter().zip(&slope).map(|(x, s)| x[k] * s).sum();
            linear += (column + p.gamma * at.0[k]) * (to.0[k] - at.0[k]);
        }
        let value = rows.value(&p, &to);
        prop_assert!(value >= linear - 1e-12 * (1.0 + linear.abs()), "{} {}", value, linear);
    }
}

/// For small β the minimiser of Eq. (6) is w = 0, whatever the data. g(w) = N⁺N⁻ L̃(w·x) grows in
/// proportion to w, the squares fall at the rate β Σ y x: w leaves 0 when β₆ Σ y x > L̃(x).
#[test]
fn eq06_leaves_zero_above_critical_beta() {
    let line = six();
    let reach: f64 = line
        .x
        .iter()
        .zip(&line.positive)
        .map(|(x, &p)| sign(p) * x)
        .sum();
    let critical = l_tilde(&line.x, &line.positive).unwrap() / reach;
    let minimiser = |beta| line.joint_minimum(line.eq6(beta, 0.01)).0;
    assert!(critical > 0.0);
    assert_eq!(minimiser(0.99 * critical), 0.0);
    assert!(minimiser(1.01 * critical) > 0.0);
}
