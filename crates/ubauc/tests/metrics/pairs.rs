//! The definitions, O(N⁺N⁻), and data to try them on.

use proptest::prelude::*;

/// Scores and labels with both classes present.
pub(super) type Examples = (Vec<f64>, Vec<bool>);

/// Splits scores by class: positives, negatives.
pub(super) fn by_class(scores: &[f64], positive: &[bool]) -> (Vec<f64>, Vec<f64>) {
    let of = |class| {
        (scores.iter().zip(positive))
            .filter(move |&(_, &p)| p == class)
            .map(|(&s, _)| s)
            .collect()
    };
    (of(true), of(false))
}

/// 1[c > d] + ½·1[c = d].
pub(super) fn won(c: f64, d: f64) -> f64 {
    if c > d {
        1.0
    } else if c == d {
        0.5
    } else {
        0.0
    }
}

/// Pairs in half pairs: 2 a win, 1 a tie; and the number of ties.
pub(super) fn half_wins(scores: &[f64], positive: &[bool]) -> (u128, u128) {
    let (pos, neg) = by_class(scores, positive);
    let pairs = || {
        pos.iter()
            .flat_map(|&c| neg.iter().map(move |&d| won(c, d)))
    };
    let twice = pairs().map(|w| (2.0 * w) as u128).sum();
    (twice, pairs().filter(|&w| w == 0.5).count() as u128)
}

/// The structural components of DeLong: V of the positives, U of the negatives.
pub(super) fn components(scores: &[f64], positive: &[bool]) -> (Vec<f64>, Vec<f64>) {
    let (pos, neg) = by_class(scores, positive);
    let mean = |wins: f64, n: usize| wins / n as f64;
    let v = pos
        .iter()
        .map(|&c| mean(neg.iter().map(|&d| won(c, d)).sum(), neg.len()))
        .collect();
    let u = neg
        .iter()
        .map(|&d| mean(pos.iter().map(|&c| won(c, d)).sum(), pos.len()))
        .collect();
    (v, u)
}

/// Sample covariance of two lists over n, Σ (x − x̄)(y − ȳ) / (n(n − 1)).
pub(super) fn covariance_of_means(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    x.iter()
        .zip(y)
        .map(|(x, y)| (x - mx) * (y - my))
        .sum::<f64>()
        / (n * (n - 1.0))
}

/// Any numbers but NaN, with infinities and both zeros; or few values, so that most are tied.
pub(super) fn score() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1.0..1.0_f64,
        2 => (-3..4_i32).prop_map(f64::from),
        1 => any::<f64>().prop_filter("not NaN", |s| !s.is_nan()),
        1 => prop::sample::select(vec![f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0]),
    ]
}

/// Up to `max` examples, at least `min` in each class; in half the cases with few distinct scores.
pub(super) fn examples(min: usize, max: usize) -> impl Strategy<Value = Examples> {
    let scores = prop_oneof![
        prop::collection::vec(score(), 2 * min..max),
        prop::collection::vec((0..4_i32).prop_map(f64::from), 2 * min..max),
    ];
    scores.prop_flat_map(move |scores| {
        let n = scores.len();
        (Just(scores), prop::collection::vec(any::<bool>(), n)).prop_map(move |(scores, mut p)| {
            p[..min].fill(true);
            p[n - min..].fill(false);
            (scores, p)
        })
    })
}
