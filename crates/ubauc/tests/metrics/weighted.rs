use proptest::prelude::*;
use ubauc::Error;
use ubauc::metrics::{auc, weighted_auc};

use super::pairs::{examples, won};

/// The definition, pair by pair: A and its linearised variance.
fn direct(scores: &[f64], positive: &[bool], weights: &[f64]) -> (f64, f64) {
    let of = |class: bool| {
        let mut list = vec![];
        for ((&s, &p), &w) in scores.iter().zip(positive).zip(weights) {
            if p == class && w > 0.0 {
                list.push((s, w));
            }
        }
        list
    };
    let (pos, neg) = (of(true), of(false));
    let total = |list: &[(f64, f64)]| list.iter().map(|x| x.1).sum::<f64>();
    let share = |wins: f64, list: &[(f64, f64)]| wins / total(list);
    let v: Vec<f64> = pos
        .iter()
        .map(|c| share(neg.iter().map(|d| d.1 * won(c.0, d.0)).sum(), &neg))
        .collect();
    let u: Vec<f64> = neg
        .iter()
        .map(|d| share(pos.iter().map(|c| c.1 * won(c.0, d.0)).sum(), &pos))
        .collect();
    let a = share(pos.iter().zip(&v).map(|(c, v)| c.1 * v).sum(), &pos);
    let part = |list: &[(f64, f64)], placed: &[f64]| {
        let n = list.len() as f64;
        let squares: f64 = list
            .iter()
            .zip(placed)
            .map(|(x, v)| (x.1 * (v - a)).powi(2))
            .sum::<f64>();
        squares / total(list).powi(2) * n / (n - 1.0)
    };
    (a, part(&pos, &v) + part(&neg, &u))
}

proptest! {
    #[test]
    fn weight_one_is_unweighted((scores, positive) in examples(1, 150)) {
        let plain = auc(&scores, &positive).unwrap();
        let got = weighted_auc(&scores, &positive, &vec![1.0; scores.len()]).unwrap();
        // Sums of at most 150 numbers up to 1, compensated.
        prop_assert!((got.auc - plain.auc).abs() < 1e-15);
        prop_assert!((got.variance - plain.variance).abs() < 1e-15);
        prop_assert_eq!((got.n_pos, got.n_neg), (plain.n_pos, plain.n_neg));
    }

    #[test]
    fn integer_weights_repeat_examples(
        (scores, positive) in examples(1, 60),
        seed in prop::collection::vec(0_usize..4, 60),
    ) {
        let mut times = seed[..scores.len()].to_vec();
        times[0] = 1; // a positive
        *times.last_mut().unwrap() = 2; // a negative
        let repeat = |i: usize| std::iter::repeat_n(i, times[i]);
        let rows: Vec<usize> = (0..scores.len()).flat_map(repeat).collect();
        let repeated: Vec<f64> = rows.iter().map(|&i| scores[i]).collect();
        let labels: Vec<bool> = rows.iter().map(|&i| positive[i]).collect();
        let weights: Vec<f64> = times.iter().map(|&t| t as f64).collect();
        let got = weighted_auc(&scores, &positive, &weights).unwrap();
        let expected = auc(&repeated, &labels).unwrap();
        prop_assert!((got.auc - expected.auc).abs() < 1e-15);
        prop_assert_eq!(got.weight_pos, expected.n_pos as f64);
        prop_assert_eq!(got.weight_neg, expected.n_neg as f64);
    }

    #[test]
    fn weighted_auc_and_variance_are_their_definitions(
        (scores, positive) in examples(2, 80),
        weights in prop::collection::vec(0.01..10.0_f64, 80),
    ) {
        let weights = &weights[..scores.len()];
        let (a, variance) = direct(&scores, &positive, weights);
        let got = weighted_auc(&scores, &positive, weights).unwrap();
        // Plain sums of at most 80 terms in the direct computation.
        prop_assert!((got.auc - a).abs() < 1e-13);
        prop_assert!((got.variance - variance).abs() < 1e-13);
    }

    #[test]
    fn scaling_the_weights_of_a_class_by_a_power_of_two_changes_no_bit(
        (scores, positive) in examples(1, 60),
        weights in prop::collection::vec(0.5..1.0_f64, 60),
        power in -1021..1022_i32,
    ) {
        let weights = &weights[..scores.len()];
        let factor = 2.0_f64.powi(power);
        let scaled: Vec<f64> =
            weights.iter().zip(&positive).map(|(w, &p)| if p { w * factor } else { *w }).collect();
        let a = weighted_auc(&scores, &positive, weights).unwrap();
        let b = weighted_auc(&scores, &positive, &scaled).unwrap();
        prop_assert_eq!((a.auc, a.variance), (b.auc, b.variance));
    }
}

#[test]
fn weight_zero_does_not_count() {
    let positive = [true, true, true, false, false, false];
    let got = weighted_auc(
        &[2.0, 0.0, 4.0, 1.0, 9.0, 3.0],
        &positive,
        &[1.0, 0.0, 1.0, 1.0, 0.0, 1.0],
    )
    .unwrap();
    let kept = auc(&[2.0, 4.0, 1.0, 3.0], &[true, true, false, false]).unwrap();
    assert_eq!((got.auc, got.n_pos, got.n_neg), (kept.auc, 2, 2));
    assert!((got.variance - kept.variance).abs() < 1e-16);
}

#[test]
fn perfect_separation_and_all_tied_have_no_variance_whatever_the_weights() {
    let weights = [0.1, 0.7, 0.3, 1e-3, 5.0, 0.2];
    let positive = [true, true, true, false, false, false];
    let apart = weighted_auc(&[5.0, 6.0, 7.0, 1.0, 2.0, 3.0], &positive, &weights).unwrap();
    assert_eq!((apart.auc, apart.variance), (1.0, 0.0));
    let tied = weighted_auc(&[1.0; 6], &positive, &weights).unwrap();
    assert_eq!((tied.auc, tied.variance), (0.5, 0.0));
    assert!(apart.degenerate() && tied.degenerate());
}

#[test]
fn one_weighted_positive_gets_the_largest_variance() {
    let positive = [true, true, false, false];
    let got = weighted_auc(&[2.0, 9.0, 1.0, 3.0], &positive, &[2.0, 0.0, 3.0, 1.0]).unwrap();
    // A = ¾; negatives: U = 1, 0 of weights 3, 1: 2·(9·(¼)² + (¾)²)/16.
    let expected = 0.75 * 0.25 + 2.0 * (9.0 / 16.0 + 9.0 / 16.0) / 16.0;
    assert_eq!((got.auc, got.variance), (0.75, expected));
}

#[test]
fn the_largest_weights_do_not_overflow() {
    let positive = [true, true, false, false];
    let got = weighted_auc(&[2.0, 4.0, 1.0, 3.0], &positive, &[f64::MAX; 4]).unwrap();
    assert_eq!((got.auc, got.weight_pos), (0.75, f64::INFINITY));
    assert!(got.variance.is_finite());
}

#[test]
fn bad_weights_are_refused_with_their_row() {
    let (scores, positive) = ([1.0, 2.0, 3.0], [true, false, true]);
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let got = weighted_auc(&scores, &positive, &[1.0, bad, 1.0]);
        assert!(matches!(
            got,
            Err(Error::NotFinite {
                what: "weight",
                row: 1,
                ..
            })
        ));
    }
    let got = weighted_auc(&scores, &positive, &[1.0; 2]);
    assert!(matches!(
        got,
        Err(Error::Length {
            what: "weights",
            expected: 3,
            got: 2
        })
    ));
    let got = weighted_auc(&[1.0, f64::NAN, 2.0], &positive, &[1.0; 3]);
    assert!(matches!(
        got,
        Err(Error::NotFinite {
            what: "score",
            row: 1,
            ..
        })
    ));
}

#[test]
fn a_class_without_weight_is_named() {
    let message = |scores: &[f64], positive: &[bool], weights: &[f64]| {
        weighted_auc(scores, positive, weights)
            .unwrap_err()
            .to_string()
    };
    let expected = "no weight in class negative; AUC needs both classes";
    let found = message(&[1.0, 2.0, 3.0], &[true, false, true], &[1.0, 0.0, 1.0]);
    assert_eq!(found, expected);
    assert_eq!(message(&[1.0, 2.0], &[true, false], &[0.0; 2]), expected);
    let found = message(&[1.0, 2.0], &[true, false], &[0.0, 1.0]);
    assert!(found.starts_with("no weight in class positive"), "{found}");
    let one_class = weighted_auc(&[1.0, 2.0], &[true; 2], &[1.0; 2]);
    assert!(matches!(one_class, Err(Error::OneClass { n: 2, .. })));
}
