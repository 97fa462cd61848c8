//! More than two classes: the criterion against pairs, the minimum against an interior-point solver, the search against
//! its own fits made one by one.

mod search;

use proptest::prelude::*;
use ubauc::Error;
use ubauc::algorithm::{Algorithm, BaUbauc, FitInputs, Spec, fit};
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::{Choice, Labels};
use ubauc::data::rows::{Dense, Rows};
use ubauc::many_classes::{ClassOutcome, Classes, MOST_CLASSES, MultiClass, by_rows, fit_classes};
use ubauc::metrics::{hand_till, weighted_auc};
use ubauc::solver::ba_ubauc::BaUbaucParams;

use crate::oracle::{self, Problem};

/// Labels of these codes, whose classes are numbers.
fn labels(codes: &[u32]) -> Labels {
    let most = codes.iter().max().map_or(0, |most| most + 1);
    let texts: Vec<String> = (0..most).map(|c| c.to_string()).collect();
    Labels::of_categories(codes, &texts).unwrap()
}

/// A(c|d) with weights, pair by pair.
fn pairwise(scores: &[f64], codes: &[u32], weights: &[f64], [c, d]: [u32; 2]) -> f64 {
    let (mut won, mut all) = (0.0, 0.0);
    for i in (0..codes.len()).filter(|&i| codes[i] == c) {
        for j in (0..codes.len()).filter(|&j| codes[j] == d) {
            let pair = weights[i] * weights[j];
            all += pair;
            won += match scores[i].total_cmp(&scores[j]) {
                std::cmp::Ordering::Greater => pair,
                std::cmp::Ordering::Equal => 0.5 * pair,
                std::cmp::Ordering::Less => 0.0,
            };
        }
    }
    won / all
}

/// Codes with every class of K, and scores with ties.
fn scored() -> impl Strategy<Value = (Vec<u32>, Vec<Vec<f64>>, Vec<f64>)> {
    (2u32..5).prop_flat_map(|k| {
        let more = prop::collection::vec(0..k, 0..20);
        more.prop_flat_map(move |more| {
            let codes: Vec<u32> = (0..k).chain(more).collect();
            let n = codes.len();
            let column = prop::collection::vec((0i32..8).prop_map(f64::from), n);
            let weights = prop::collection::vec(0.1f64..3.0, n);
            (
                Just(codes),
                prop::collection::vec(column, k as usize),
                weights,
            )
        })
    })
}

proptest! {
    /// The derivation at the head of the module, by brute force.
    #[test]
    fn the_weighted_aucs_of_one_against_the_rest_are_hand_and_tills_mean(
        (codes, columns, weights) in scored(), is_weighted: bool,
    ) {
        let labels = labels(&codes);
        let k = columns.len();
        let given = is_weighted.then_some(weights.as_slice());
        let ones = vec![1.0; codes.len()];
        let sample = given.unwrap_or(&ones);
        let classes = Classes::new(&labels, given, MultiClass::HandTill).unwrap();
        let mut m = 0.0;
        for (c, scores) in columns.iter().enumerate() {
            let problem = classes.problem(c);
            let a = problem.weights.unwrap_or_else(|| ones.clone());
            let found = weighted_auc(scores, &problem.labels.positive, &a).unwrap().auc;
            let others = (0..k as u32).filter(|&d| d != c as u32);
            let expected: f64 = others
                .map(|d| pairwise(scores, &codes, sample, [c as u32, d]))
                .sum::<f64>() / (k - 1) as f64;
            // Sums of at most a hundred products in another order.
            prop_assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            m += found / k as f64;
            // The weight of the negatives is what it was.
            let total = |weights: &[f64]| -> f64 {
                let rest = weights.iter().zip(&problem.labels.positive);
                rest.filter(|(_, p)| !**p).map(|(s, _)| s).sum()
            };
            prop_assert!((total(&a) / total(sample) - 1.0).abs() < 1e-12);
        }
        if !is_weighted {
            let codes: Vec<usize> = codes.iter().map(|&c| c as usize).collect();
            let found = hand_till(&by_rows(&columns), k, &codes).unwrap().m;
            prop_assert!((found - m).abs() < 1e-12, "{found} {m}");
        }
    }
}

/// Three classes of 25, 10 and 4 examples that overlap.
fn examples() -> (Vec<Vec<f64>>, Vec<u32>) {
    let codes: Vec<u32> = (0..39)
        .map(|i| match i {
            0..25 => 0,
            25..35 => 1,
            _ => 2,
        })
        .collect();
    let noise = |at: usize| ((at * 7919 + 13) % 1009) as f64 / 504.5 - 1.0;
    let row = |(i, &code): (usize, &u32)| {
        let centre = [[0.0, 0.0], [0.9, 0.2], [0.1, 1.1]][code as usize];
        vec![
            centre[0] + noise(3 * i),
            centre[1] + noise(3 * i + 1),
            noise(3 * i + 2),
        ]
    };
    let rows = codes.iter().enumerate().map(row).collect();
    (rows, codes)
}

/// Rows to be learned from, with the labels of their first class.
fn dataset(rows: &[Vec<f64>], labels: &Labels) -> Dataset {
    let dense = Dense::new(rows.concat(), rows.len(), rows[0].len()).unwrap();
    let first = labels.classes()[0].to_string();
    let binary = labels.binary(&Choice::Positive(first)).unwrap();
    Dataset::new(Rows::Dense(dense), binary, Vec::new()).unwrap()
}

fn spec(beta: f64, gamma: f64, softness: f64) -> Spec {
    Spec::BaUbauc(BaUbauc {
        params: BaUbaucParams {
            beta,
            gamma,
            softness,
            intercept: false,
            tolerance: 1e-9,
            ..BaUbaucParams::default()
        },
        ..BaUbauc::default()
    })
}

fn learned(rows: &[Vec<f64>], codes: &[u32], multi_class: MultiClass, spec: &Spec) -> ClassOutcome {
    let labels = labels(codes);
    let classes = Classes::new(&labels, None, multi_class).unwrap();
    let data = dataset(rows, &labels);
    fit_classes(&data, &classes, &FitInputs::default(), spec).unwrap()
}

/// The sum of the minima of K quadratic programs, with weights 1/N_d by hand, lies between both sides of the certificate.
#[test]
fn the_certificate_of_the_whole_holds_the_minimum_of_an_interior_point_solver() {
    let (rows, codes) = examples();
    let counts = [25.0, 10.0, 4.0];
    for (beta, gamma) in [(0.5, 1e-3), (2.0, 1e-2)] {
        let found = learned(&rows, &codes, MultiClass::HandTill, &spec(beta, gamma, 0.0));
        let mut minimum = 0.0;
        for c in 0..3_usize {
            let weight = |&d: &u32| match d as usize {
                d if d == c => 1.0,
                // The rest, N − N_c, divided equally among the other two classes.
                d => (39.0 - counts[c]) / 2.0 / counts[d],
            };
            let problem = Problem {
                rows: rows.clone(),
                positive: codes.iter().map(|&d| d as usize == c).collect(),
                weights: Some(codes.iter().map(weight).collect()),
                beta,
                gamma,
                least_squares: oracle::LeastSquares::Plain,
                intercept: false,
            };
            let best = oracle::solve(&problem).unwrap();
            minimum += best.objective / 3.0;
            for (w, expected) in found.outcomes[c].model.weights.iter().zip(&best.w) {
                assert!((w - expected).abs() < 1e-3, "{w} {expected}");
            }
        }
        let whole = &found.certificate;
        let (p, d) = (whole.objective.unwrap(), whole.dual.unwrap());
        assert!(whole.gap.unwrap() <= 1e-9);
        // Clarabel's own objective is within 1e-10 of the minimum.
        assert!(
            d <= minimum + 1e-9 && minimum <= p + 1e-9,
            "{d} {minimum} {p}"
        );
        assert!(p - d <= 2e-9, "{p} {d}");
        assert_eq!(whole.n, 39);
    }
}

#[test]
fn the_gap_of_the_whole_is_that_of_the_sums_and_at_most_the_largest() {
    let (rows, codes) = examples();
    let mut coarse = spec(0.5, 1e-3, 0.05);
    coarse.set("tolerance", 1e-2);
    let found = learned(&rows, &codes, MultiClass::HandTill, &coarse);
    let certificates = || found.outcomes.iter().map(|o| &o.certificate);
    let p: f64 = certificates().map(|c| c.objective.unwrap()).sum();
    let d: f64 = certificates().map(|c| c.dual.unwrap()).sum();
    let gap = found.certificate.gap.unwrap();
    assert!(gap > 0.0 && (gap - (p - d) / p).abs() < 1e-12);
    let largest = certificates().map(|c| c.gap.unwrap()).fold(0.0, f64::max);
    assert!(gap <= largest + 1e-15, "{gap} {largest}");
}

#[test]
fn two_classes_have_the_scorer_of_two_classes_to_the_last_bit() {
    let (rows, codes) = examples();
    let two: Vec<usize> = (0..codes.len()).filter(|&i| codes[i] < 2).collect();
    let rows: Vec<Vec<f64>> = two.iter().map(|&i| rows[i].clone()).collect();
    let codes: Vec<u32> = two.iter().map(|&i| codes[i]).collect();
    let labels = labels(&codes);
    for softness in [0.0, 0.5] {
        let spec = spec(0.5, 1e-3, softness);
        let dense = Dense::new(rows.concat(), rows.len(), 3).unwrap();
        let binary = labels.binary(&Choice::Larger).unwrap();
        let data = Dataset::new(Rows::Dense(dense), binary, Vec::new()).unwrap();
        let alone = fit(&data, &FitInputs::default(), &spec).unwrap();
        let found = learned(&rows, &codes, MultiClass::HandTill, &spec);
        assert_eq!(found.outcomes[1].model, alone.model);
        assert_eq!(found.outcomes[1].certificate, alone.certificate);
        assert_eq!(found.outcomes[0].model.classes, ["1", "0"]);
    }
}

#[test]
fn classes_side_by_side_have_the_bits_of_one_thread_and_of_a_weighted_fit() {
    let (rows, codes) = examples();
    let spec = spec(0.5, 1e-3, 0.1);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let run = || learned(&rows, &codes, MultiClass::HandTill, &spec);
        pool.unwrap().install(run)
    };
    let one = on(1);
    let labels = labels(&codes);
    let classes = Classes::new(&labels, None, MultiClass::HandTill).unwrap();
    for (c, (one, three)) in one.outcomes.iter().zip(on(3).outcomes).enumerate() {
        assert_eq!(one.model, three.model);
        let problem = classes.problem(c);
        let data = dataset(&rows, &labels).relabelled(problem.labels).unwrap();
        let inputs = FitInputs {
            weights: problem.weights.as_deref(),
            ..FitInputs::default()
        };
        assert_eq!(one.model, fit(&data, &inputs, &spec).unwrap().model);
    }
}

/// What Hand and Till's M asks for is another minimum than that of one against the rest, and a better M of the training
/// examples where classes differ in size.
#[test]
fn one_against_the_rest_is_another_problem() {
    let (rows, codes) = examples();
    let spec = spec(0.5, 1e-3, 0.1);
    let by = |multi_class| learned(&rows, &codes, multi_class, &spec);
    let (ours, rest) = (by(MultiClass::HandTill), by(MultiClass::OneAgainstRest));
    assert_ne!(
        ours.outcomes[0].model.weights,
        rest.outcomes[0].model.weights
    );
    let labels = labels(&codes);
    let classes = Classes::new(&labels, None, MultiClass::OneAgainstRest).unwrap();
    assert_eq!(classes.problem(1).weights, None);
}

#[test]
fn what_cannot_be_learned_is_refused() {
    let (rows, codes) = examples();
    let of = labels(&codes);
    let data = dataset(&rows, &of);
    let classes = Classes::new(&of, None, MultiClass::HandTill).unwrap();
    for algorithm in Algorithm::all().filter(|a| a.is_rival()) {
        let refused = fit_classes(
            &data,
            &classes,
            &FitInputs::default(),
            &Spec::new(algorithm),
        );
        assert!(matches!(
            refused,
            Err(Error::Parameter {
                name: "algorithm",
                ..
            })
        ));
    }
    let one = labels(&[0, 0]);
    let refused = Classes::new(&one, None, MultiClass::HandTill);
    assert!(matches!(refused, Err(Error::OneClass { n: 2, .. })));
    let many: Vec<u32> = (0..=MOST_CLASSES as u32).collect();
    let many = labels(&many);
    let refused = Classes::new(&many, None, MultiClass::HandTill);
    assert!(matches!(refused, Err(Error::Classes { .. })));
    let without: Vec<f64> = codes.iter().map(|&c| f64::from(u8::from(c != 2))).collect();
    let refused = Classes::new(&of, Some(&without), MultiClass::HandTill).unwrap_err();
    assert!(refused.to_string().contains("class 2"), "{refused}");
    assert!(Classes::new(&of, Some(&[1.0]), MultiClass::HandTill).is_err());
    assert!(Classes::new(&of, Some(&[-1.0; 39]), MultiClass::HandTill).is_err());
}
