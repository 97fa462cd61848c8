//! Half-lives. Random short streams with them are in `learner.rs`, against the same long way.

use proptest::prelude::*;
use ubauc::Error;
use ubauc::algorithm::{Algorithm, FitInputs, Spec, fit};
use ubauc::data::rows::Row;
use ubauc::objective::ubauc::ClassWeight;
use ubauc::solver::ol_ubauc::{Learner, OlUbaucParams, Rate, RunningScale, Step, eta0};

use super::learner::streams;
use super::naive::Naive;

/// One feature, no centre, no scale, no hinge at these scores: steps that can be made by hand.
fn by_hand(rate: Rate) -> OlUbaucParams {
    OlUbaucParams {
        beta: 1.0,
        gamma: 0.0,
        step: Step::Sgd,
        rate,
        eta0: 0.5,
        intercept: false,
        average: Some(0),
        half_life: Some(1.0),
        ..Default::default()
    }
}

#[test]
fn three_steps_by_hand() {
    // λ = −10: positives are far above it, so that only w ← w + η(1 − w) on x = 1 is left.
    // N = 1: n = 1, 1½, 1¾ and η = ½, ⅓, 2/7. w = ½, then ½ + ⅓·½ = ⅔, then ⅔ + (2/7)·⅓ = 16/21.
    let mut learner = Learner::of_centred(&by_hand(Rate::Inverse), RunningScale::None).unwrap();
    learner.start_from(&[0.0], 0.0, -10.0);
    // Saved is the average, of weights 1; ½, 1; ¼, ½, 1.
    let averages = [
        0.5,
        (0.5 * 0.5 + 2.0 / 3.0) / 1.5,
        (0.25 * 0.5 + 0.5 * (2.0 / 3.0) + 16.0 / 21.0) / 1.75,
    ];
    for expected in averages {
        learner.learn(Row::Dense(&[1.0]), true, 1.0).unwrap();
        let found = learner.weights()[0];
        assert!((found - expected).abs() < 1e-15, "{found} {expected}");
    }
    // 1/√n likewise.
    let params = OlUbaucParams {
        average: None,
        ..by_hand(Rate::InverseSqrt)
    };
    let mut learner = Learner::of_centred(&params, RunningScale::None).unwrap();
    learner.start_from(&[0.0], 0.0, -10.0);
    let mut expected = 0.0;
    for n in [1.0, 1.5, 1.75, 1.875_f64] {
        learner.learn(Row::Dense(&[1.0]), true, 1.0).unwrap();
        expected += 0.5 / n.sqrt() * (1.0 - expected);
        assert!((learner.weights()[0] - expected).abs() < 1e-15);
    }
}

#[test]
fn balanced_classes_by_hand() {
    // Two negatives at x = 0, which move nothing, and a positive: with N = 1 the negatives count ¼ + ½ and the positive 1, so
    // its weight is 1.75/2; without forgetting 3/2. η = 1/2 at n = 1¾ is 2/7, at t = 3 a sixth.
    for (half_life, step) in [
        (Some(1.0), 2.0 / 7.0 * 1.75 / 2.0),
        (None, 1.0 / 6.0 * 3.0 / 2.0),
    ] {
        let params = OlUbaucParams {
            class_weight: ClassWeight::Balanced,
            average: None,
            half_life,
            ..by_hand(Rate::Inverse)
        };
        let mut learner = Learner::of_centred(&params, RunningScale::None).unwrap();
        learner.start_from(&[0.0], 0.0, -10.0);
        for (x, positive) in [(0.0, false), (0.0, false), (1.0, true)] {
            learner.learn(Row::Dense(&[x]), positive, 1.0).unwrap();
        }
        let found = learner.weights()[0];
        assert!((found - step).abs() < 1e-15, "{found} {step}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_half_life_without_end_changes_no_bit(mut stream in streams(60)) {
        stream.params.half_life = None;
        let mut plain = stream.learner();
        stream.params.half_life = Some(1e300);
        let mut endless = stream.learner();
        for (x, positive, weight) in &stream.examples {
            let a = plain.learn(Row::Dense(x), *positive, *weight).unwrap();
            let b = endless.learn(Row::Dense(x), *positive, *weight).unwrap();
            prop_assert_eq!(a.to_bits(), b.to_bits());
        }
        let bits = |learner: &Learner| -> Vec<u64> {
            let more = [learner.intercept(), learner.lambda()];
            let all = learner.weights().into_iter().chain(more);
            all.map(f64::to_bits).collect()
        };
        prop_assert_eq!(bits(&plain), bits(&endless));
    }
}

/// Three features: one that is rare, one of which the mean and the size change, one that comes and goes.
fn example(i: u32) -> ([f64; 3], bool) {
    let noise = |k: u32| f64::from(i.wrapping_mul(k) % 1009) / 1009.0 - 0.5;
    let positive = noise(40_503) < -0.2;
    let shift = if i < 1500 { 5.0 } else { 0.5 };
    let rare = if i.is_multiple_of(701) { 3.0 } else { 0.0 };
    let absent = (900..2300).contains(&i) && !i.is_multiple_of(5);
    let third = if absent { 0.0 } else { 2.0 + noise(97) };
    let signal = if positive { 0.4 } else { 0.0 };
    (
        [rare, shift * (1.0 + noise(31) + signal), third + signal],
        positive,
    )
}

#[test]
fn many_blocks_equal_the_long_way() {
    for (half_life, scale, intercept) in [
        (700.0, RunningScale::MaxAbs, true),
        (700.0, RunningScale::MaxAbs, false),
        (12.0, RunningScale::MaxAbs, true),
        (12.0, RunningScale::None, true),
    ] {
        let params = OlUbaucParams {
            half_life: Some(half_life),
            intercept,
            class_weight: ClassWeight::Balanced,
            ..Default::default()
        };
        let mut learner = Learner::new(&params, scale).unwrap();
        let mut naive = Naive::new(&params, scale, 3);
        // The weights of the naive learner's past: 2,300 iterates and 12 half-lives, or 190 of them.
        for i in 0..3_100 {
            let (x, positive) = example(i);
            learner.learn(Row::Dense(&x), positive, 1.0).unwrap();
            naive.learn(&x, positive, 1.0);
            if i % 100 == 99 {
                let expected = naive.saved();
                let mut found = learner.weights();
                found.extend([learner.lambda(), learner.intercept()]);
                for (a, b) in found.iter().zip(&expected) {
                    assert!(
                        (a - b).abs() <= 1e-9 * b.abs().max(1.0),
                        "{half_life} {i}: {found:?}, expected {expected:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_changes_is_followed_and_where_nothing_does_little_is_lost() {
    // The first feature tells the classes apart, and after half of the stream its opposite does.
    let shown = |i: u32, drifts: bool| {
        let noise = |k: u32| f64::from(i.wrapping_mul(k) % 10_007) / 10_007.0 - 0.5;
        let positive = noise(40_503) < 0.0;
        let sign = if positive { 1.0 } else { -1.0 };
        let turned = if drifts && i >= 20_000 { -sign } else { sign };
        ([0.3 * turned + noise(31), noise(97)], positive)
    };
    let last = |half_life: Option<f64>, drifts: bool| {
        let params = OlUbaucParams {
            half_life,
            ..Default::default()
        };
        let mut learner = Learner::new(&params, RunningScale::MaxAbs).unwrap();
        let (mut scores, mut classes) = (Vec::new(), Vec::new());
        for i in 0..24_000 {
            let (x, positive) = shown(i, drifts);
            let score = learner.learn(Row::Dense(&x), positive, 1.0).unwrap();
            if i >= 22_000 {
                scores.push(score);
                classes.push(positive);
            }
        }
        ubauc::metrics::auc(&scores, &classes).unwrap().auc
    };
    assert!(last(None, true) < 0.2);
    assert!(last(Some(300.0), true) > 0.85);
    // Where nothing changes forgetting costs, the more the shorter: 433 examples count with N = 300, and 4,328 with 3,000.
    let [plain, long, short] = [None, Some(3_000.0), Some(300.0)].map(|n| last(n, false));
    assert!(plain > 0.9 && long > plain - 0.005, "{plain} {long}");
    assert!(short < long && short > plain - 0.03, "{plain} {short}");
}

#[test]
fn passes_refuse_a_half_life_and_streams_one_below_1() {
    let params = |half_life| OlUbaucParams {
        half_life: Some(half_life),
        ..Default::default()
    };
    let name = |error: Error| match error {
        Error::Parameter { name, .. } => name,
        other => panic!("{other}"),
    };
    for half_life in [0.0, 0.5, -1.0, f64::NAN, f64::INFINITY] {
        let refused = Learner::new(&params(half_life), RunningScale::None);
        assert_eq!(name(refused.unwrap_err()), "half_life");
    }
    let x = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
    let rows: Vec<(Row<'_>, bool)> = x.iter().map(|x| (Row::Dense(x), x[0] > x[1])).collect();
    assert!(eta0::choose_from(&rows, &params(10.0), RunningScale::None).is_ok());

    let shown = x.map(|x| (x.to_vec(), x[0] > x[1], 1.0));
    let data = super::passes::dataset(&shown).unwrap();
    let mut spec = Spec::new(Algorithm::OlUbauc);
    if let Spec::OlUbauc(spec) = &mut spec {
        spec.params.half_life = Some(10.0);
    }
    assert_eq!(
        name(fit(&data, &FitInputs::default(), &spec).unwrap_err()),
        "half_life"
    );
}
