//! Random cases, and the obvious, slow ways to the same numbers.

use proptest::collection::vec;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

pub(crate) type Case = (Vec<f64>, Vec<bool>);

/// 2 to 40 examples, both classes, scores on a coarse grid: ties of every kind.
pub(crate) fn with_ties() -> impl Strategy<Value = Case> {
    labelled((-8..=8_i32).prop_map(|k| f64::from(k) / 4.0))
}

/// 2 to 40 examples, both classes, all scores distinct.
pub(crate) fn without_ties() -> impl Strategy<Value = Case> {
    labelled(-3.0..3.0).prop_filter("distinct scores", |(scores, _)| {
        let mut sorted = scores.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.windows(2).all(|pair| pair[0] < pair[1])
    })
}

fn labelled(score: impl Strategy<Value = f64>) -> impl Strategy<Value = Case> {
    vec((score, any::<bool>()), 2..40).prop_map(|rows| {
        let (scores, mut positive): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        (positive[0], positive[1]) = (true, false);
        (scores, positive)
    })
}

/// Eq. (1), pair by pair, in half pairs.
pub(crate) fn half_pairs_by_pairs(scores: &[f64], positive: &[bool]) -> u128 {
    let mut half_pairs = 0;
    for (c_i, _) in scores.iter().zip(positive).filter(|&(_, &p)| p) {
        for (c_j, _) in scores.iter().zip(positive).filter(|&(_, &p)| !p) {
            half_pairs += 2 * u128::from(c_i < c_j) + u128::from(c_i == c_j);
        }
    }
    half_pairs
}

/// (N⁺, N⁻).
pub(crate) fn counts(positive: &[bool]) -> (usize, usize) {
    let n_pos = positive.iter().filter(|&&p| p).count();
    (n_pos, positive.len() - n_pos)
}

pub(crate) fn sign(positive: bool) -> f64 {
    if positive { 1.0 } else { -1.0 }
}

/// Σ_i [y_i(λ − c_i)]₊.
pub(crate) fn hinge_sum(scores: &[f64], positive: &[bool], lambda: f64) -> f64 {
    scores
        .iter()
        .zip(positive)
        .map(|(c, &p)| (sign(p) * (lambda - c)).max(0.0))
        .sum()
}

/// min_λ of the above: a convex, piecewise linear function has a minimiser among its kinks.
pub(crate) fn hinge_min(scores: &[f64], positive: &[bool]) -> f64 {
    scores
        .iter()
        .map(|&c| hinge_sum(scores, positive, c))
        .fold(f64::INFINITY, f64::min)
}

pub(crate) fn sorted(scores: &[f64]) -> Vec<f64> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// A seeded generator; the seed is printed, and shown if the test fails.
pub(crate) fn generator(seed: u64) -> Pcg64 {
    println!("seed {seed}");
    Pcg64::seed_from_u64(seed)
}

/// Standard normal (Box–Muller).
pub(crate) fn normal(random: &mut Pcg64) -> f64 {
    let (u, v): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

pub(crate) fn close(a: f64, b: f64, relative: f64) -> bool {
    (a - b).abs() <= relative * a.abs().max(b.abs())
}
