//! Passes over data sets.

use proptest::prelude::*;
use ubauc::Error;
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Binary;
use ubauc::data::rows::{Dense, Row, Rows};
use ubauc::objective::ubauc::ClassWeight;
use ubauc::solver::ba_ubauc;
use ubauc::solver::ol_ubauc::passes::{Passes, PassesInputs, Start, Stop, fit};
use ubauc::solver::ol_ubauc::{Learner, OlUbaucParams, Rate, RunningScale, Step, eta0};

use super::learner::{Shown, streams};

pub(super) fn dataset(examples: &[Shown]) -> Option<Dataset> {
    let d = examples[0].0.len();
    let values: Vec<f64> = examples.iter().flat_map(|e| e.0.clone()).collect();
    let positive: Vec<bool> = examples.iter().map(|e| e.1).collect();
    let n_pos = positive.iter().filter(|p| **p).count();
    let labels = Binary {
        n_neg: positive.len() - n_pos,
        n_pos,
        positive,
        names: ["-1".into(), "1".into()],
    };
    let rows = Rows::Dense(Dense::new(values, examples.len(), d).unwrap());
    Dataset::new(rows, labels, Vec::new()).ok()
}

const ONCE: Passes = Passes {
    passes: 1,
    tolerance: 0.0,
    shuffle: None,
};

proptest! {
    /// One pass in order is a stream of centred rows, where v does not need the classes of all.
    #[test]
    fn a_pass_equals_a_stream(stream in streams(40)) {
        let params = OlUbaucParams {
            least_squares: Default::default(),
            class_weight: Default::default(),
            average: stream.params.average.map(|_| 0),
            half_life: None,
            ..stream.params
        };
        let Some(data) = dataset(&stream.examples) else { return Ok(()) };
        let weights: Vec<f64> = stream.examples.iter().map(|e| e.2).collect();
        let divisors = [1.0, 2.0, 0.5, 4.0, 8.0];
        let start = stream.start.as_ref().map(|s| Start {
            weights: &s[..5],
            intercept: s[5],
            lambda: s[6],
        });
        let given = PassesInputs {
            weights: Some(&weights),
            divisors: Some(&divisors),
            start,
            progress: None,
        };
        let total: f64 = weights.iter().sum();
        let mean = |j: usize| match params.intercept && total > 0.0 {
            true => stream.examples.iter().map(|e| e.2 * e.0[j]).sum::<f64>() / total,
            false => 0.0,
        };
        let means: Vec<f64> = (0..5).map(mean).collect();
        let offset = |w: &[f64]| w.iter().zip(&means).map(|(w, m)| w * m).sum::<f64>();
        let mut learner = Learner::of_centred(&params, RunningScale::None).unwrap();
        if let Some(start) = start {
            let scaled: Vec<f64> = start.weights.iter().zip(divisors).map(|(w, r)| w * r).collect();
            let offset = offset(start.weights);
            learner.start_from(&scaled, start.intercept + offset, start.lambda - offset);
        }
        for (x, positive, weight) in &stream.examples {
            let centred = x.iter().zip(&means).map(|(x, m)| x - m);
            let x: Vec<f64> = centred.zip(divisors).map(|(x, r)| x / r).collect();
            learner.learn(Row::Dense(&x), *positive, *weight).unwrap();
        }
        match fit(&data, &given, &params, &ONCE) {
            // A class of weight 0 only.
            Err(Error::OneClass { .. }) => {}
            Err(error) => panic!("{error}"),
            Ok(found) => {
                let mut expected = learner.weights();
                expected.resize(5, 0.0);
                // Sums in another order, and Eq. (9) may multiply what that costs.
                let size = expected.iter().fold(1.0f64, |m, w| m.max(w.abs()));
                for ((a, b), r) in found.weights.iter().zip(&expected).zip(divisors) {
                    prop_assert!((a * r - b).abs() < 1e-10 * size, "{:?} {expected:?}", found.weights);
                }
                // Without least squares b is −λ, the best for these weights.
                let intercept = match params.beta > 0.0 {
                    true => learner.intercept() - offset(&found.weights),
                    false => -found.lambda[0],
                };
                prop_assert!((found.intercept - intercept).abs() < 1e-10 * size);
                prop_assert_eq!(found.trace.len(), 1);
                prop_assert_eq!(found.stop, Stop::MaxPasses);
            }
        }
    }
}

#[test]
fn wrong_passes_and_starts_are_refused_by_name() {
    let examples = [(vec![1.0, 2.0], true, 1.0), (vec![2.0, 1.0], false, 1.0)];
    let data = dataset(&examples).unwrap();
    let refused = |given: &PassesInputs<'_>, passes: &Passes| {
        fit(&data, given, &Default::default(), passes).unwrap_err()
    };
    let given = PassesInputs::default();
    for (passes, expected) in [
        (Passes { passes: 0, ..ONCE }, "passes"),
        (
            Passes {
                tolerance: -1.0,
                ..ONCE
            },
            "tolerance",
        ),
    ] {
        let error = refused(&given, &passes);
        assert!(matches!(error, Error::Parameter { name, .. } if name == expected));
    }
    let start = |weights| PassesInputs {
        start: Some(Start {
            weights,
            intercept: 0.0,
            lambda: 0.0,
        }),
        ..given
    };
    assert!(matches!(
        refused(&start(&[1.0]), &ONCE),
        Error::Length { .. }
    ));
    let error = refused(&start(&[1.0, f64::NAN]), &ONCE);
    assert!(matches!(error, Error::Numerical { .. }));
    let one_class = PassesInputs {
        weights: Some(&[1.0, 0.0]),
        ..given
    };
    assert!(matches!(refused(&one_class, &ONCE), Error::OneClass { .. }));
}

#[test]
fn without_both_classes_eta0_is_the_constant() {
    let x = [1.0, 2.0];
    let one = [(Row::Dense(&x), false); 50];
    let params = OlUbaucParams::default();
    let found = eta0::choose_from(&one, &params, RunningScale::MaxAbs).unwrap();
    assert_eq!(found, eta0::FALLBACK);
    assert_eq!(
        eta0::choose_from(&[], &params, RunningScale::None).unwrap(),
        eta0::FALLBACK
    );
}

#[test]
fn eta0_follows_the_size_of_the_features_and_never_diverges() {
    for step in [Step::Implicit, Step::Sgd] {
        let params = OlUbaucParams {
            step,
            gamma: 0.0,
            ..Default::default()
        };
        let mut found = Vec::new();
        for size in [0.1, 1.0, 10.0] {
            let rows: Vec<[f64; 2]> = (0..400)
                .map(|i| {
                    [
                        size * if i % 4 == 0 { 1.0 } else { -1.0 },
                        size * f64::from(i % 5) / 5.0,
                    ]
                })
                .collect();
            let examples: Vec<_> = rows
                .iter()
                .enumerate()
                .map(|(i, x)| (Row::Dense(x), i % 4 == 0))
                .collect();
            let eta0 = eta0::choose_from(&examples, &params, RunningScale::None).unwrap();
            let params = OlUbaucParams { eta0, ..params };
            let mut learner = Learner::new(&params, RunningScale::None).unwrap();
            for &(row, positive) in &examples {
                learner.learn(row, positive, 1.0).unwrap();
            }
            let scores: Vec<f64> = examples.iter().map(|e| learner.score(e.0)).collect();
            let labels: Vec<bool> = examples.iter().map(|e| e.1).collect();
            assert_eq!(ubauc::metrics::auc(&scores, &labels).unwrap().auc, 1.0);
            found.push(eta0);
        }
        // No noise, so the implicit step cannot be too long; Eq. (9) can.
        let follows = step == Step::Implicit || found[0] > found[2];
        assert!(follows, "{step:?}: {found:?}");
    }
}

/// Two classes that overlap, one in five positive.
fn overlapping() -> Vec<Shown> {
    (0..400u32)
        .map(|i| {
            let noise = |k: u32| f64::from((i * 37 + k * 101) % 113) / 113.0 - 0.5;
            let positive = i % 5 == 0;
            let mean = if positive { 0.6 } else { -0.2 };
            (vec![mean + noise(1), noise(2) - mean], positive, 1.0)
        })
        .collect()
}

/// Without least squares that of logistic regression among them.
#[test]
fn soft_passes_approach_the_minimum_of_the_batch_solver() {
    let data = dataset(&overlapping()).unwrap();
    let weights: Vec<f64> = (0..400u32).map(|i| f64::from(i % 3)).collect();
    for (softness, beta) in [(1.0, 0.0), (0.1, 0.0), (0.05, 0.5)] {
        for class_weight in [
            ClassWeight::None,
            ClassWeight::Balanced,
            ClassWeight::Ratio(3.0),
        ] {
            for weights in [None, Some(&weights[..])] {
                let batch = ba_ubauc::BaUbaucParams {
                    beta,
                    gamma: 1e-2,
                    softness,
                    class_weight,
                    ..Default::default()
                };
                let given = ba_ubauc::BatchInputs {
                    weights,
                    ..Default::default()
                };
                let best = ba_ubauc::fit(&data, &given, &batch).unwrap();
                let given = PassesInputs {
                    weights,
                    ..Default::default()
                };
                let params = OlUbaucParams {
                    beta,
                    gamma: 1e-2,
                    softness,
                    class_weight,
                    average: Some(20),
                    ..Default::default()
                };
                let eta0 = eta0::choose(&data, &given, &params, 0).unwrap();
                let params = OlUbaucParams { eta0, ..params };
                let passes = Passes {
                    passes: 40,
                    tolerance: 0.0,
                    shuffle: Some(0),
                };
                let found = fit(&data, &given, &params, &passes).unwrap();
                let above = found.objective / best.objective - 1.0;
                let what = (softness, beta, class_weight, weights.is_some());
                println!("{what:?}: {above:e}");
                assert!((-1e-6..1e-2).contains(&above), "{what:?}: {above:e}");
                assert_eq!(found.lambda[0], found.lambda[1]);
                let apart = found.lambda[0] + found.intercept - best.lambda[0] - best.intercept;
                assert!(apart.abs() < 0.1, "{what:?}: {apart:e}");
            }
        }
    }
}

/// P does not know the unit of the weights, and neither may its minimum.
#[test]
fn weights_of_any_size_lead_to_the_same_minimum() {
    let examples = overlapping();
    let data = dataset(&examples).unwrap();
    let (beta, gamma) = (2.0, 0.1);
    let batch = ba_ubauc::BaUbaucParams {
        beta,
        gamma,
        ..Default::default()
    };
    let best = ba_ubauc::fit(&data, &Default::default(), &batch).unwrap();
    for size in [0.1, 1.0, 10.0] {
        let weights = vec![size; examples.len()];
        let given = PassesInputs {
            weights: Some(&weights),
            ..Default::default()
        };
        let params = OlUbaucParams {
            beta,
            gamma,
            rate: Rate::Inverse,
            eta0: 5.0 / size,
            average: Some(100),
            ..Default::default()
        };
        let passes = Passes {
            passes: 200,
            tolerance: 0.0,
            shuffle: Some(0),
        };
        let found = fit(&data, &given, &params, &passes).unwrap();
        let above = found.objective / best.objective - 1.0;
        assert!((-1e-6..1e-4).contains(&above), "{size}: {above:e}");
    }
}
