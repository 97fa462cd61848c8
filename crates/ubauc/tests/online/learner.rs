//! Streams: the learner against the long way.

use proptest::prelude::*;
use ubauc::Error;
use ubauc::data::rows::Row;
use ubauc::objective::ubauc::{ClassWeight, LeastSquares};
use ubauc::solver::ol_ubauc::{Learner, OlUbaucParams, Rate, RunningScale, Step};

use super::naive::Naive;

/// An example: its features, of which many are 0, its class and its weight.
pub(super) type Shown = (Vec<f64>, bool, f64);

#[derive(Debug, Clone)]
pub(super) struct Stream {
    pub(super) params: OlUbaucParams,
    pub(super) scale: RunningScale,
    pub(super) start: Option<Vec<f64>>,
    pub(super) examples: Vec<Shown>,
}

const D: usize = 5;

pub(super) fn streams(longest: usize) -> impl Strategy<Value = Stream> {
    let feature = prop_oneof![3 => Just(0.0), 1 => Just(1.0), 3 => -3.0..3.0f64];
    let weight = prop_oneof![1 => Just(0.0), 6 => Just(1.0), 2 => 0.1..3.0f64];
    let example = (prop::collection::vec(feature, D), any::<bool>(), weight);
    let examples = prop::collection::vec(example, 1..longest);
    let flags = prop::array::uniform4(any::<bool>());
    let numbers = (
        0.05..3.0f64,
        prop_oneof![Just(0.0), 1e-4..0.5f64],
        0.005..0.2f64,
    );
    let rate = prop_oneof![
        Just(Rate::InverseSqrt),
        Just(Rate::Inverse),
        Just(Rate::Constant)
    ];
    let radius = prop::option::of(0.05..1.0f64);
    let average = prop::option::of(0..20u64);
    let start = prop::option::of(prop::collection::vec(-1.0..1.0f64, D + 2));
    let softness = prop_oneof![Just(0.0), 0.01..3.0f64];
    let soft = (softness, any::<bool>(), any::<bool>());
    let half_life = prop::option::of(prop_oneof![Just(1.0), 1.0..5.0f64, 1.0..100.0f64]);
    let all = (
        examples,
        flags,
        numbers,
        (rate, radius, average, half_life),
        start,
        soft,
    );
    all.prop_map(|(examples, flags, numbers, options, start, soft)| {
        let ([balanced, intercept, sgd, scaled], (beta, gamma, eta0)) = (flags, numbers);
        let (rate, radius, average, half_life) = options;
        let (softness, is_logistic, balances) = soft;
        let params = OlUbaucParams {
            beta: match softness > 0.0 && is_logistic {
                true => 0.0,
                false => beta,
            },
            gamma,
            softness,
            // A rare class makes steps so long that Eq. (9) diverges.
            class_weight: match balances && !sgd {
                true if eta0 < 0.1 => ClassWeight::Ratio(20.0 * eta0),
                true => ClassWeight::Balanced,
                false => ClassWeight::None,
            },
            least_squares: if balanced {
                LeastSquares::Balanced
            } else {
                LeastSquares::Plain
            },
            intercept,
            step: if sgd { Step::Sgd } else { Step::Implicit },
            rate,
            eta0,
            radius,
            average,
            half_life,
        };
        let scale = if scaled {
            RunningScale::MaxAbs
        } else {
            RunningScale::None
        };
        Stream {
            params,
            scale,
            start,
            examples,
        }
    })
}

impl Stream {
    pub(super) fn learner(&self) -> Learner {
        let mut learner = Learner::new(&self.params, self.scale).unwrap();
        if let Some(start) = &self.start {
            learner.start_from(&start[..D], start[D], start[D + 1]);
        }
        learner
    }
}

/// The same without its zeros.
fn sparse(x: &[f64]) -> (Vec<u32>, Vec<f64>) {
    let kept = x.iter().enumerate().filter(|(_, x)| **x != 0.0);
    kept.map(|(j, &x)| (j as u32, x)).unzip()
}

/// Weights of all D features, λ and b.
fn saved(learner: &Learner) -> Vec<f64> {
    let mut found = learner.weights();
    found.resize(D, 0.0);
    found.extend([learner.lambda(), learner.intercept()]);
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn equals_the_long_way(stream in streams(60)) {
        let mut learner = stream.learner();
        let mut naive = Naive::new(&stream.params, stream.scale, D);
        if let Some(start) = &stream.start {
            naive.start_from(&start[..D], start[D], start[D + 1]);
        }
        for (x, positive, weight) in &stream.examples {
            let expected = naive.saved();
            let score = x.iter().zip(&expected).map(|(x, w)| x * w).sum::<f64>() + expected[D + 1];
            let found = learner.learn(Row::Dense(x), *positive, *weight).unwrap();
            let size = expected.iter().fold(1.0f64, |m, w| m.max(w.abs()));
            prop_assert!((found - score).abs() <= 1e-9 * size, "score {found}, expected {score}");
            let margin = expected[D] - (score - expected[D + 1]);
            let at_kink = stream.params.softness == 0.0 && margin.abs() <= 1e-9 * size;
            naive.learn(x, *positive, *weight);
            let (found, expected) = (saved(&learner), naive.saved());
            let size = expected.iter().fold(1.0f64, |m, w| m.max(w.abs()));
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * size;
            if at_kink && !found.iter().zip(&expected).all(near) {
                // Rounding decides which subgradient is taken there, and both are right.
                return Ok(());
            }
            for (a, b) in found.iter().zip(&expected) {
                // Six digits are the most that folding may lose, and a few steps in double precision.
                prop_assert!((a - b).abs() <= 1e-9 * size, "{found:?}, expected {expected:?}");
            }
        }
        let learned = stream.examples.iter().filter(|e| e.2 > 0.0);
        prop_assert_eq!(learner.steps(), learned.clone().count() as u64);
        prop_assert_eq!(learner.counts()[1], learned.filter(|e| e.1).count() as u64);
    }

    #[test]
    fn dense_equals_sparse_and_explicit_zeros_do_not_matter(stream in streams(40)) {
        let (mut dense, mut thin) = (stream.learner(), stream.learner());
        for (x, positive, weight) in &stream.examples {
            let (indices, values) = sparse(x);
            let mut padded = x.clone();
            padded.push(0.0);
            let a = dense.learn(Row::Dense(&padded), *positive, *weight).unwrap();
            let b = thin.learn(Row::Sparse(&indices, &values), *positive, *weight).unwrap();
            prop_assert_eq!(a.to_bits(), b.to_bits());
        }
        prop_assert_eq!(dense.to_bytes().unwrap(), thin.to_bytes().unwrap());
    }

    #[test]
    fn scores_are_those_of_the_weights(stream in streams(40)) {
        let mut learner = stream.learner();
        for (x, positive, weight) in &stream.examples {
            let before = learner.score(Row::Dense(x));
            let returned = learner.learn(Row::Dense(x), *positive, *weight).unwrap();
            prop_assert_eq!(before.to_bits(), returned.to_bits());
        }
        let (weights, b) = (learner.weights(), learner.intercept());
        for (x, ..) in &stream.examples {
            let expected = Row::Dense(x).dot(&weights) + b;
            // Eq. (9) near divergence has terms of any size, which may cancel.
            let size: f64 = x.iter().zip(&weights).map(|(x, w)| (x * w).abs()).sum();
            let apart = (learner.score(Row::Dense(x)) - expected).abs();
            prop_assert!(apart < 1e-12 * (1.0 + size), "{apart} of {size}");
        }
        let unseen = Row::Sparse(&[1_000_000], &[5.0]);
        prop_assert_eq!(learner.score(unseen), b);
    }
}

/// A stream of two features that tells the classes apart by the first.
fn simple(i: u64) -> ([f64; 2], bool) {
    let positive = i.wrapping_mul(2_654_435_761) % 7 < 2;
    let noise = (i.wrapping_mul(40_503) % 1000) as f64 / 1000.0 - 0.5;
    ([if positive { 1.0 } else { -0.5 } + noise, noise], positive)
}

#[test]
fn a_long_stream_keeps_its_digits() {
    // Decay by e^-100 in all: many folds, and an average over all of them.
    let params = OlUbaucParams {
        gamma: 0.05,
        rate: Rate::Constant,
        eta0: 0.1,
        average: Some(10_000),
        radius: Some(0.4),
        ..Default::default()
    };
    let mut learner = Learner::new(&params, RunningScale::None).unwrap();
    let mut naive = Naive::new(&params, RunningScale::None, 2);
    for i in 0..20_000 {
        let (x, positive) = simple(i);
        learner.learn(Row::Dense(&x), positive, 1.0).unwrap();
        naive.learn(&x, positive, 1.0);
    }
    let expected = naive.saved();
    for (a, b) in learner.weights().iter().zip(&expected) {
        assert!((a - b).abs() < 1e-10 * b.abs(), "{a} {b}");
    }
}

#[test]
fn projection_holds() {
    for step in [Step::Implicit, Step::Sgd] {
        let params = OlUbaucParams {
            step,
            eta0: 0.3,
            rate: Rate::Constant,
            radius: Some(0.25),
            average: None,
            ..Default::default()
        };
        let mut learner = Learner::new(&params, RunningScale::None).unwrap();
        let mut reached = 0.0f64;
        for i in 0..20_000 {
            let (x, positive) = simple(i);
            learner.learn(Row::Dense(&x), positive, 1.0).unwrap();
            let norm = learner.weights().iter().map(|w| w * w).sum::<f64>().sqrt();
            assert!(norm <= 0.25 * (1.0 + 1e-12), "step {i}: {norm}");
            reached = reached.max(norm);
        }
        assert!(reached > 0.2499);
    }
}

#[test]
fn the_first_thousand_may_all_be_of_one_class() {
    for least_squares in [LeastSquares::Plain, LeastSquares::Balanced] {
        for first in [false, true] {
            let params = OlUbaucParams {
                least_squares,
                intercept: true,
                ..Default::default()
            };
            let mut learner = Learner::new(&params, RunningScale::MaxAbs).unwrap();
            let of_class = (0..10_000).map(simple).filter(|e| e.1 == first);
            for (x, positive) in of_class.take(1000) {
                learner.learn(Row::Dense(&x), positive, 1.0).unwrap();
            }
            for i in 20_000..23_000 {
                let (x, positive) = simple(i);
                learner.learn(Row::Dense(&x), positive, 1.0).unwrap();
            }
            let later: Vec<_> = (50_000..52_000).map(simple).collect();
            let scores: Vec<f64> = later
                .iter()
                .map(|e| learner.score(Row::Dense(&e.0)))
                .collect();
            let labels: Vec<bool> = later.iter().map(|e| e.1).collect();
            let auc = ubauc::metrics::auc(&scores, &labels).unwrap().auc;
            assert!(auc > 0.95, "{least_squares:?} {first}: {auc}");
        }
    }
}

#[test]
fn sizes_from_1e_300_to_1e300_give_numbers() {
    for scale in [RunningScale::None, RunningScale::MaxAbs] {
        for eta0 in [1e-6, 1.0, 1e6] {
            for order in [1, -1] {
                let params = OlUbaucParams {
                    eta0,
                    intercept: true,
                    ..Default::default()
                };
                let mut learner = Learner::new(&params, scale).unwrap();
                for i in 0..601 {
                    let x = 10f64.powi(order * (i - 300));
                    let score = learner.learn(Row::Dense(&[x, -x, 1.0]), i % 3 == 0, 1.0);
                    assert!(score.unwrap().is_finite());
                }
                assert!(learner.weights().iter().all(|w| w.is_finite()));
                assert!(learner.lambda().is_finite() && learner.intercept().is_finite());
                let huge = learner.score(Row::Dense(&[1e300, 1e300, -1e300]));
                assert!(huge.is_finite());
                let tiny = learner.score(Row::Dense(&[5e-324, 1.0, 0.0]));
                assert!(tiny.is_finite());
            }
        }
    }
}

#[test]
fn the_running_scale_makes_units_irrelevant() {
    let mut same = [1.0, 1e200, 1e-200].map(|unit| {
        let mut learner = Learner::new(&Default::default(), RunningScale::MaxAbs).unwrap();
        for i in 0..500 {
            let ([a, b], positive) = simple(i);
            learner
                .learn(Row::Dense(&[a * unit, b]), positive, 1.0)
                .unwrap();
        }
        let ([a, b], _) = simple(777);
        learner.score(Row::Dense(&[a * unit, b]))
    });
    same.sort_by(f64::total_cmp);
    assert!(
        (same[2] - same[0]).abs() < 1e-9 && same[0] != 0.0,
        "{same:?}"
    );
}

#[test]
fn a_warm_start_survives_growing_features() {
    let params = OlUbaucParams {
        eta0: 1e-9,
        ..Default::default()
    };
    let mut learner = Learner::new(&params, RunningScale::MaxAbs).unwrap();
    learner.start_from(&[2.0, -3.0, 4.0], 0.0, 0.5);
    for x in [1e-3, 1.0, 1e3] {
        learner.learn(Row::Dense(&[x, x, 0.0]), true, 1.0).unwrap();
    }
    for (w, expected) in learner.weights().iter().zip([2.0, -3.0, 4.0]) {
        assert!((w - expected).abs() < 1e-5, "{w}");
    }
    assert_eq!(learner.cols(), 3);
}

#[test]
fn what_cannot_be_learned_is_refused_by_name() {
    let mut learner = Learner::new(&Default::default(), RunningScale::MaxAbs).unwrap();
    for bad in [f64::NAN, f64::INFINITY] {
        let answer = learner.learn(Row::Dense(&[bad]), true, 1.0);
        assert!(matches!(
            answer,
            Err(Error::NotFinite {
                what: "a feature",
                ..
            })
        ));
    }
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        let answer = learner.learn(Row::Dense(&[1.0]), true, bad);
        assert!(matches!(
            answer,
            Err(Error::NotFinite { what: "weight", .. })
        ));
    }
    assert_eq!(learner.steps(), 0);
    let bad = |params: OlUbaucParams| match Learner::new(&params, RunningScale::None) {
        Err(Error::Parameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let good = OlUbaucParams::default();
    assert_eq!(bad(OlUbaucParams { beta: 0.0, ..good }), "beta");
    for softness in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(bad(OlUbaucParams { softness, ..good }), "softness");
    }
    let logistic = OlUbaucParams {
        beta: 0.0,
        softness: 1.0,
        ..good
    };
    assert!(logistic.check().is_ok());
    assert_eq!(
        bad(OlUbaucParams {
            gamma: -1.0,
            ..good
        }),
        "gamma"
    );
    assert_eq!(
        bad(OlUbaucParams {
            eta0: f64::NAN,
            ..good
        }),
        "eta0"
    );
    assert_eq!(
        bad(OlUbaucParams {
            radius: Some(0.0),
            ..good
        }),
        "radius"
    );
}

#[test]
fn sgd_that_diverges_is_an_error_and_the_weights_stay_finite() {
    for (eta0, gamma) in [(1e3, 1e-4), (1e-3, 1e5), (1e300, 0.0)] {
        let params = OlUbaucParams {
            step: Step::Sgd,
            rate: Rate::Constant,
            eta0,
            gamma,
            ..Default::default()
        };
        let mut learner = Learner::new(&params, RunningScale::None).unwrap();
        let mut returned = None;
        for i in 0..100_000 {
            let (x, positive) = simple(i);
            match learner.learn(Row::Dense(&x), positive, 1.0) {
                Ok(score) => assert!(score.is_finite()),
                Err(error) => {
                    returned = Some(error);
                    break;
                }
            }
        }
        assert!(matches!(returned, Some(Error::Numerical { .. })));
        assert!(learner.weights().iter().all(|w| w.is_finite()));
    }
}

#[test]
fn means_from_elsewhere_keep_the_model_that_is_started_from() {
    for scale in [RunningScale::None, RunningScale::MaxAbs] {
        let mut learner = Learner::new(&Default::default(), scale).unwrap();
        learner.start_means(10, &[450.0, 3.0], &[10, 2]).unwrap();
        learner.start_from(&[0.5, -2.0], 0.25, 22.0);
        assert_eq!(learner.weights(), [0.5, -2.0]);
        assert!((learner.intercept() - 0.25).abs() < 1e-14);
        assert!((learner.lambda() - 22.0).abs() < 1e-14);
        let score = learner.score(Row::Dense(&[40.0, 1.0]));
        assert!((score - 18.25).abs() < 1e-13, "{score}");
        learner.learn(Row::Dense(&[40.0, 1.0]), true, 1.0).unwrap();
        assert!(learner.start_means(1, &[1.0], &[1]).is_err());
    }
}
