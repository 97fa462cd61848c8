//! OAM: every step against its definition, every shortcut against the long way.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::Error;
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Binary;
use ubauc::data::rows::{Csr, Dense, Row, Rows};
use ubauc::data::scale::{Origin, Scale};
use ubauc::solver::oam::{Oam, OamParams, Update};
use ubauc::solver::passes::{Online, OnlineInputs, Passes, Scored, fit};

use super::svm::{held_out, logistic_auc, test_auc};

const UPDATES: [Update; 2] = [Update::Sequential, Update::Gradient];

fn params(c: f64, buffer: usize, update: Update) -> OamParams {
    OamParams {
        c,
        buffer,
        update,
        seed: 3,
        average: false,
    }
}

fn learnt(d: usize, params: &OamParams, examples: &[(Vec<f64>, bool)]) -> Vec<f64> {
    let mut oam = Oam::new(d, params).unwrap();
    for (x, positive) in examples {
        oam.learn(Row::Dense(x), *positive);
    }
    oam.weights()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The head comment of the solver, word by word: dense differences, no shortcut, the same choice of what is kept.
fn naive(d: usize, params: &OamParams, examples: &[(Vec<f64>, bool)]) -> Vec<f64> {
    let mut random = Pcg64::seed_from_u64(params.seed);
    let mut w = vec![0.0; d];
    let mut buffers: [Vec<Vec<f64>>; 2] = Default::default();
    let mut seen = [0_u64; 2];
    let mut sum = vec![0.0; d];
    for (x, positive) in examples {
        let (class, y) = if *positive { (1, 1.0) } else { (0, -1.0) };
        seen[class] += 1;
        if buffers[class].len() < params.buffer {
            buffers[class].push(x.clone());
        } else {
            let place = random.random_range(0..seen[class]) as usize;
            if place < params.buffer {
                buffers[class][place] = x.clone();
            }
        }
        let c_t = params.c * (seen[1 - class] as f64 / params.buffer as f64).max(1.0);
        let before = w.clone();
        for other in &buffers[1 - class] {
            let away: Vec<f64> = x.iter().zip(other).map(|(a, b)| y * (a - b)).collect();
            let step = match params.update {
                Update::Sequential => {
                    let loss = (1.0 - dot(&w, &away)).max(0.0);
                    let size = dot(&away, &away);
                    if size > 0.0 {
                        (c_t / 2.0).min(loss / size)
                    } else {
                        0.0
                    }
                }
                Update::Gradient if dot(&before, &away) < 1.0 => c_t / 2.0,
                Update::Gradient => 0.0,
            };
            w.iter_mut().zip(&away).for_each(|(w, a)| *w += step * a);
        }
        sum.iter_mut().zip(&w).for_each(|(sum, w)| *sum += w);
    }
    if params.average {
        sum.iter_mut().for_each(|sum| *sum /= examples.len() as f64);
        return sum;
    }
    w
}

#[test]
fn by_hand() {
    let examples = [
        (vec![1.0, 0.0], true),
        (vec![0.0, 2.0], false),
        (vec![0.0, 1.0], true),
    ];
    // The second against the first: y(x − x') = (1, −2), ℓ = 1, ‖·‖² = 5, so τ = min(C/2, 1/5).
    let w = learnt(2, &params(10.0, 100, Update::Sequential), &examples[..2]);
    assert!(
        (w[0] - 0.2).abs() < 1e-15 && (w[1] + 0.4).abs() < 1e-15,
        "{w:?}"
    );
    let w = learnt(2, &params(0.1, 100, Update::Sequential), &examples[..2]);
    assert_eq!(w, [0.05, -0.1]);
    let w = learnt(2, &params(0.1, 100, Update::Gradient), &examples[..2]);
    assert_eq!(w, [0.05, -0.1]);
    // The third against the second: x − x' = (0, −1), w·(x − x') = 0.1, so ℓ = 0.9: the bound C/2 holds.
    for update in UPDATES {
        let w = learnt(2, &params(0.1, 100, update), &examples);
        assert!(
            (w[0] - 0.05).abs() < 1e-16 && (w[1] + 0.15).abs() < 1e-16,
            "{w:?}"
        );
    }
    // Far enough already: no step.
    let far = [(vec![3.0], true), (vec![-3.0], false), (vec![4.0], true)];
    for update in UPDATES {
        let small = params(0.5, 100, update);
        assert_eq!(learnt(1, &small, &far), learnt(1, &small, &far[..2]));
    }
    // Three negatives, of which one is kept, stand against one positive: C_t = 3C.
    let rare = [
        (vec![0.0], false),
        (vec![0.0], false),
        (vec![0.0], false),
        (vec![1.0], true),
    ];
    for update in UPDATES {
        assert!((learnt(1, &params(0.1, 1, update), &rare)[0] - 0.15).abs() < 1e-16);
        // Two are kept, and stand for one and a half each.
        let two = learnt(1, &params(0.1, 2, update), &rare)[0];
        assert!((two - 0.15).abs() < 1e-16, "{two}");
    }
}

#[test]
fn the_average_by_hand() {
    let examples = [
        (vec![1.0, 0.0], true),
        (vec![0.0, 2.0], false),
        (vec![0.0, 1.0], true),
    ];
    // As above the weights are 0, then (0.05, −0.1), then (0.05, −0.15).
    for update in UPDATES {
        let average = OamParams {
            average: true,
            ..params(0.1, 100, update)
        };
        let w = learnt(2, &average, &examples);
        assert!((w[0] - 0.1 / 3.0).abs() < 1e-16, "{w:?}");
        assert!((w[1] + 0.25 / 3.0).abs() < 1e-16, "{w:?}");
        assert_eq!(Oam::new(2, &average).unwrap().weights(), [0.0; 2]);
    }
}

#[test]
fn a_sequential_step_is_the_minimum_that_it_claims_to_be() {
    let mut random = Pcg64::seed_from_u64(5);
    for _ in 0..300 {
        let d = random.random_range(1..5);
        let mut point = |size: f64| -> Vec<f64> {
            (0..d)
                .map(|_| size * random.random_range(-1.0..1.0))
                .collect()
        };
        // The first pair moves w away from 0.
        let examples = vec![(point(1.0), true), (point(1.0), false), (point(2.0), false)];
        let c = 10_f64.powf(point(3.0)[0]);
        let from = learnt(d, &params(c, 1000, Update::Sequential), &examples[..2]);
        let to = learnt(d, &params(c, 1000, Update::Sequential), &examples);
        let value = |w: &[f64]| {
            let moved: f64 = w.iter().zip(&from).map(|(a, b)| (a - b).powi(2)).sum();
            let margin = dot(w, &examples[0].0) - dot(w, &examples[2].0);
            moved / 2.0 + c / 2.0 * (1.0 - margin).max(0.0)
        };
        for _ in 0..100 {
            let size = 10_f64.powf(point(1.0)[0] * 4.0 - 2.0);
            let near: Vec<f64> = to.iter().zip(point(size)).map(|(a, b)| a + b).collect();
            assert!(
                value(&to) <= value(&near) * (1.0 + 1e-12),
                "{examples:?} C {c}"
            );
        }
    }
}

/// Rows with zeros, both classes in any order, some rows twice.
fn streams() -> impl Strategy<Value = Vec<(Vec<f64>, bool)>> {
    let value = prop_oneof![2 => Just(0.0), 1 => -2.0..2.0_f64, 1 => Just(1.0)];
    let example = (prop::collection::vec(value, 4), any::<bool>());
    prop::collection::vec(example, 1..60)
}

proptest! {
    #[test]
    fn the_long_way_leads_to_the_same_weights(
        examples in streams(),
        exponent in -3.0..1.0_f64,
        buffer in 1_usize..20,
        gradient in any::<bool>(),
        average in any::<bool>(),
    ) {
        let update = UPDATES[usize::from(gradient)];
        let params = OamParams { average, ..params(10_f64.powf(exponent), buffer, update) };
        let mut sparse = Oam::new(4, &params).unwrap();
        for (x, positive) in &examples {
            let indices: Vec<u32> = (0..4).filter(|&j| x[j as usize] != 0.0).collect();
            let values: Vec<f64> = indices.iter().map(|&j| x[j as usize]).collect();
            sparse.learn(Row::Sparse(&indices, &values), *positive);
        }
        let dense = learnt(4, &params, &examples);
        prop_assert_eq!(&dense, &learnt(4, &params, &examples));
        let long = naive(4, &params, &examples);
        // C is any real number: that y w·(x − x') is 1 to rounding, where OAMgra may decide either way, does not happen.
        let size = long.iter().fold(1.0_f64, |m, w| m.max(w.abs()));
        for (ours, theirs) in dense.iter().zip(&long).chain(sparse.weights().iter().zip(&long)) {
            prop_assert!((ours - theirs).abs() <= 1e-10 * size, "{dense:?} {long:?}");
        }
    }
}

fn dataset(examples: &[(Vec<f64>, bool)]) -> Dataset {
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
    Dataset::new(rows, labels, Vec::new()).unwrap()
}

#[test]
fn identical_examples_are_harmless() {
    let same: Vec<_> = (0..50).map(|i| (vec![0.3, -1.7], i % 2 == 0)).collect();
    for c in [1e-3, 1.0, 1e6] {
        let sequential = learnt(2, &params(c, 10, Update::Sequential), &same);
        assert_eq!(sequential, [0.0; 2]);
        // All is added and taken away again: what is left is rounding.
        let gradient = learnt(2, &params(c, 10, Update::Gradient), &same);
        assert!(gradient.iter().all(|w| w.abs() < 1e-11 * c), "{gradient:?}");
    }
}

#[test]
fn no_size_makes_it_panic() {
    let passes = Passes {
        passes: 3,
        tolerance: 0.0,
        shuffle: None,
    };
    for size in [1e-300, 1e-150, 1.0, 1e150, 1e300] {
        let examples: Vec<_> = (0..20)
            .map(|i| (vec![size * f64::from(i * i % 7), -size], i % 3 == 0))
            .collect();
        for c in [1e-300, 1.0, 1e300] {
            for update in UPDATES {
                let oam = Oam::new(2, &params(c, 3, update)).unwrap();
                match fit(&dataset(&examples), &OnlineInputs::default(), oam, &passes) {
                    Ok(found) => assert!(found.weights.iter().all(|w| w.is_finite())),
                    Err(Error::Numerical { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
    // A passive-aggressive step does not go beyond the margin, however large C is.
    let examples = [(vec![1.0], true), (vec![0.0], false)];
    assert_eq!(
        learnt(1, &params(1e300, 3, Update::Sequential), &examples),
        [1.0]
    );
}

#[test]
fn features_beyond_the_end_are_passed_over() {
    for update in UPDATES {
        let mut oam = Oam::new(1, &params(0.1, 2, update)).unwrap();
        oam.learn(Row::Sparse(&[0, 7], &[1.0, 5.0]), true);
        oam.learn(Row::Sparse(&[9], &[5.0]), false);
        assert_eq!(oam.weights(), [0.05]);
    }
}

#[test]
fn what_has_no_meaning_is_refused_by_name() {
    let refused = |params: OamParams| match Oam::new(1, &params) {
        Err(Error::Parameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(params(c, 1, Update::Gradient)), "C");
    }
    assert_eq!(refused(params(1.0, 0, Update::Gradient)), "buffer");
}

#[test]
fn watches_the_mean_hinge_of_pairs() {
    let oam = Oam::new(1, &OamParams::default()).unwrap();
    let at = |scores: &[f64]| {
        oam.objective(&Scored {
            scores,
            positive: &[true, false, false],
            norm_sq: 100.0,
        })
    };
    // Pairs 1 − 0.5 and 1 + 1.
    assert_eq!(at(&[1.0, 0.5, 2.0]), 1.25);
    assert!(at(&[f64::NAN, 0.0, 0.0]).is_nan());
}

#[test]
fn dense_and_sparse_data_are_learnt_alike() {
    let mut random = Pcg64::seed_from_u64(11);
    let examples: Vec<(Vec<f64>, bool)> = (0..300)
        .map(|_| {
            let positive = random.random_bool(0.2);
            let shift = if positive { 0.7 } else { 0.0 };
            let x = (0..6).map(|_| random.random_range(-1.0..1.0) + shift);
            (x.collect(), positive)
        })
        .collect();
    let dense = dataset(&examples);
    let values: Vec<f64> = examples.iter().flat_map(|e| e.0.clone()).collect();
    let indices = (0..300).flat_map(|_| 0..6).collect();
    let csr = Csr::new((0..=300).map(|i| 6 * i).collect(), indices, values, 6).unwrap();
    let labels = Binary {
        positive: dense.positive().to_vec(),
        n_pos: dense.n_pos(),
        n_neg: dense.n_neg(),
        names: dense.class_names().clone(),
    };
    let sparse = Dataset::new(Rows::Csr(csr), labels, Vec::new()).unwrap();
    let passes = Passes {
        passes: 3,
        ..Default::default()
    };
    let divisors = [1.0, 2.0, 4.0, 0.5, 3.0, 1.0];
    let given = OnlineInputs {
        divisors: Some(&divisors),
        progress: None,
    };
    for update in UPDATES {
        let run = |data: &Dataset| {
            let oam = Oam::new(6, &params(0.01, 20, update)).unwrap();
            fit(data, &given, oam, &passes).unwrap()
        };
        let (a, b) = (run(&dense), run(&sparse));
        for (a, b) in a.weights.iter().zip(&b.weights) {
            assert!((a - b).abs() < 1e-10, "{a} {b}");
        }
        assert!(a.trace[2].auc > 0.85, "{:?}", a.trace);
        assert_eq!(a.weights, run(&dense).weights);
    }
}

/// One pass, the paper's, with a C that suits the number of examples, against logistic regression.
#[test]
fn real_data_are_learnt() {
    let sets = [
        ("diabetes/all.svm.zst", 1e-3),
        ("german/all.svm.zst", 1e-4),
        ("a9a/train.svm.zst", 1e-6),
    ];
    for (name, c) in sets {
        let Some((train, test)) = held_out("rivals::oam::real_data_are_learnt", name) else {
            return;
        };
        let divisors = Scale::MaxAbs
            .divisors(train.rows(), None, Origin::Zero)
            .unwrap();
        let reference = logistic_auc(&train, &divisors, &test);
        let given = OnlineInputs {
            divisors: Some(&divisors),
            progress: None,
        };
        let passes = Passes {
            passes: 1,
            ..Default::default()
        };
        for update in UPDATES {
            let oam = Oam::new(train.rows().cols(), &params(c, 100, update)).unwrap();
            let found = fit(&train, &given, oam, &passes).unwrap();
            let auc = test_auc(&found.weights, &test);
            println!("{name} {update:?}: {auc:.4}, logistic {reference:.4}");
            assert!(
                auc > reference - 0.03,
                "{name} {update:?}: {auc} {reference}"
            );
        }
    }
}
