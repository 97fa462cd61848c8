//! E7, E8, E9: the losses of pairs and who uses them. Each test fails if the printed version is right.

use ubauc::objective::auc_risk::auc_risk;
use ubauc::objective::pairwise::{exponential, hinge, square};

use super::cases::{close, generator, normal, sign};

const PAPER: &str = include_str!("../../../../docs/paper.md");

/// e^(c_i − c_j) rewards wrong pairs; e^(−(c_i − c_j)) is the loss.
#[test]
fn e07_exponential_loss_needs_the_minus() {
    let positive = [true, true, false, false];
    let (good, bad) = ([3.0, 2.0, 1.0, 0.0], [0.0, 1.0, 2.0, 3.0]);
    let printed = |c: &[f64; 4]| {
        let pairs = [(0, 2), (0, 3), (1, 2), (1, 3)];
        pairs.iter().map(|&(i, j)| (c[i] - c[j]).exp()).sum::<f64>() / 4.0
    };
    let ours = |c: &[f64; 4]| exponential(c, &positive).unwrap();
    let risk = |c: &[f64; 4]| auc_risk(c, &positive).unwrap();
    assert_eq!((risk(&good), risk(&bad)), (0.0, 1.0));
    assert!(ours(&good) < ours(&bad) && ours(&bad) >= risk(&bad));
    assert!(printed(&good) > printed(&bad) && printed(&bad) < risk(&bad));
}

/// The square loss sees only class means and variances, so running moments suffice: OPAUC, one pass, [Gao13].
/// The hinge tells apart classes with equal moments, so examples must be kept: OAM and its buffers, [Zhao11].
#[test]
fn e08_square_needs_moments_hinge_needs_examples() {
    // Mean 0 and variance 1, twice, in two shapes.
    let root = 2.0_f64.sqrt();
    let (two_points, three_points) = ([-1.0, 1.0, -1.0, 1.0], [-root, 0.0, 0.0, root]);
    let positive = [true, true, true, true, false, false];
    let mut hinge_differs = 0;
    for k in 1..=20 {
        let w = 0.1 * f64::from(k);
        let loss = |shape: [f64; 4], loss: fn(&[f64], &[bool]) -> ubauc::Result<f64>| {
            let x = [shape[0], shape[1], shape[2], shape[3], -0.5, -1.5];
            loss(&x.map(|x| w * x), &positive).unwrap()
        };
        assert!(close(
            loss(two_points, square),
            loss(three_points, square),
            1e-14
        ));
        hinge_differs += usize::from(!close(
            loss(two_points, hinge),
            loss(three_points, hinge),
            1e-3,
        ));
    }
    assert!(hinge_differs >= 15, "{hinge_differs} of 20");

    let entry = |key: &str| {
        let start = format!("- [{key}]");
        PAPER
            .lines()
            .find(|line| line.starts_with(&start))
            .unwrap_or_default()
    };
    assert!(entry("Gao13").contains("Gao") && entry("Gao13").contains("OPAUC"));
    assert!(entry("Zhao11").contains("Zhao") && entry("Zhao11").contains("OAM"));
    assert!(!entry("Gao13").contains("OAM") && !entry("Zhao11").contains("OPAUC"));
}

/// SOLAM's saddle point [Ying16], Theorem 1, with p the share of positives:
///
///   1 + 1/(p(1−p)) min_{a,b} max_α E{ (1−p)(c − a)² 1[y=1] + p(c − b)² 1[y=−1]
///                                   + 2(1+α)c (p 1[y=−1] − (1−p) 1[y=1]) − p(1−p)α² }
///
/// equals the mean over pairs of (1 − (c_i − c_j))², not of its hinge [·]₊².
#[test]
fn e09_solam_is_the_square_and_not_the_squared_hinge() {
    let mut random = generator(9);
    let positive: Vec<bool> = (0..60).map(|i| i % 3 == 0).collect();
    let scores: Vec<f64> = positive
        .iter()
        .map(|&p| normal(&mut random) + sign(p))
        .collect();
    let (n, p) = (60.0, 20.0 / 60.0);
    let saddle = |a: f64, b: f64, alpha: f64| {
        let terms = scores.iter().zip(&positive).map(|(c, &positive)| {
            if positive {
                (1.0 - p) * (c - a).powi(2) - 2.0 * (1.0 + alpha) * (1.0 - p) * c
            } else {
                p * (c - b).powi(2) + 2.0 * (1.0 + alpha) * p * c
            }
        });
        1.0 + (terms.sum::<f64>() / n - p * (1.0 - p) * alpha * alpha) / (p * (1.0 - p))
    };
    let class = |p: bool| {
        scores
            .iter()
            .zip(&positive)
            .filter(move |&(_, &q)| p == q)
            .map(|(c, _)| c)
    };
    let a = class(true).sum::<f64>() / 20.0;
    let b = class(false).sum::<f64>() / 40.0;
    let alpha = b - a;
    let at_saddle = saddle(a, b, alpha);
    for step in [-0.1, 0.1] {
        assert!(saddle(a + step, b, alpha) > at_saddle && saddle(a, b + step, alpha) > at_saddle);
        assert!(saddle(a, b, alpha + step) < at_saddle);
    }
    let by_pairs = |loss: fn(f64) -> f64| {
        let pairs = class(true).flat_map(|i| class(false).map(move |j| loss(i - j)));
        pairs.sum::<f64>() / 800.0
    };
    assert!(close(at_saddle, by_pairs(|d| (1.0 - d).powi(2)), 1e-13));
    assert!(close(at_saddle, square(&scores, &positive).unwrap(), 1e-13));
    assert!(!close(
        at_saddle,
        by_pairs(|d| (1.0 - d).max(0.0).powi(2)),
        0.1
    ));
}
