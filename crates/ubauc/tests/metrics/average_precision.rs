use proptest::prelude::*;
use ubauc::Error;
use ubauc::metrics::{average_precision, weighted_average_precision};

use super::pairs::examples;

/// Σ (R_k − R_{k−1}) P_k, counting anew at every threshold.
fn direct(scores: &[f64], positive: &[bool], weights: &[f64]) -> f64 {
    let mut thresholds = scores.to_vec();
    thresholds.sort_by(|a, b| b.total_cmp(a));
    thresholds.dedup_by(|a, b| a == b); // −0.0 and 0.0 are one
    let above = |threshold: f64, class: bool| -> f64 {
        (scores.iter().zip(positive).zip(weights))
            .filter(|&((&s, &p), _)| s >= threshold && p == class)
            .map(|(_, &w)| w)
            .sum()
    };
    let all = above(f64::NEG_INFINITY, true);
    let (mut area, mut before) = (0.0, 0.0);
    for threshold in thresholds {
        let (tp, fp) = (above(threshold, true), above(threshold, false));
        if tp > 0.0 {
            area += (tp - before) / all * (tp / (tp + fp));
        }
        before = tp;
    }
    area
}

proptest! {
    #[test]
    fn it_is_its_definition((scores, positive) in examples(1, 120)) {
        let ones = vec![1.0; scores.len()];
        let expected = direct(&scores, &positive, &ones);
        let got = average_precision(&scores, &positive).unwrap();
        // The direct sum has at most 120 rounded terms below 1.
        prop_assert!((got - expected).abs() < 1e-14, "{got} {expected}");
        let weighted = weighted_average_precision(&scores, &positive, &ones).unwrap();
        prop_assert!((weighted - got).abs() < 1e-15, "{weighted} {got}");
    }

    #[test]
    fn with_weights_it_is_its_definition(
        (scores, positive) in examples(1, 80),
        weights in prop::collection::vec(prop_oneof![3 => 0.01..10.0_f64, 1 => Just(0.0)], 80),
    ) {
        let mut weights = weights[..scores.len()].to_vec();
        weights[0] = 0.7; // a positive
        *weights.last_mut().unwrap() = 0.3; // a negative
        let got = weighted_average_precision(&scores, &positive, &weights).unwrap();
        let expected = direct(&scores, &positive, &weights);
        // Sums of at most 80 weights, subtracted from each other: no more than 80·10/0.7 ulps.
        prop_assert!((got - expected).abs() < 1e-12, "{got} {expected}");
    }

    #[test]
    fn one_factor_for_all_weights_changes_no_bit(
        (scores, positive) in examples(1, 60),
        weights in prop::collection::vec(0.5..1.0_f64, 60),
        power in -1021..1022_i32,
    ) {
        let weights = &weights[..scores.len()];
        let scaled: Vec<f64> = weights.iter().map(|w| w * 2.0_f64.powi(power)).collect();
        let a = weighted_average_precision(&scores, &positive, weights).unwrap();
        let b = weighted_average_precision(&scores, &positive, &scaled).unwrap();
        prop_assert_eq!(a.to_bits(), b.to_bits());
    }
}

#[test]
fn ties_are_one_threshold() {
    // Best first: +, then a tie of + and two −, then −: ½·1 + ½·2/4.
    let scores = [3.0, 2.0, 2.0, 2.0, 1.0];
    let positive = [true, false, true, false, false];
    assert_eq!(average_precision(&scores, &positive).unwrap(), 0.75);
    // All tied is the share of the positives.
    assert_eq!(average_precision(&[0.0; 5], &positive).unwrap(), 0.4);
    let perfect = average_precision(&[5.0, 1.0, 4.0, 2.0, 3.0], &positive).unwrap();
    assert_eq!(perfect, 1.0);
}

#[test]
fn classes_of_any_two_scales_have_a_precision() {
    let (scores, positive) = ([4.0, 3.0, 2.0, 1.0], [true, false, true, false]);
    let of = |pos: f64, neg: f64| {
        let weights = [pos, neg, pos, neg];
        weighted_average_precision(&scores, &positive, &weights).unwrap()
    };
    // The first positive has no negative above it, the second all of them.
    assert_eq!(of(1e-300, 1e300), 0.5);
    assert_eq!(of(1e300, 1e-300), 1.0);
    // The largest weight has all bits set, and 3 times it is rounded.
    let largest = of(f64::MAX, f64::MAX);
    assert!(
        (largest - (1.0 + 2.0 / 3.0) / 2.0).abs() < 1e-15,
        "{largest}"
    );
    assert_eq!(of(1.0, 2.0), 0.75);
}

#[test]
fn what_has_no_average_precision_is_refused() {
    let weighted = |s: &[f64], p: &[bool]| weighted_average_precision(s, p, &vec![1.0; s.len()]);
    for of in [average_precision, weighted] {
        let one_class = of(&[1.0, 2.0], &[true, true]);
        assert!(matches!(one_class, Err(Error::OneClass { n: 2, .. })));
        let nan = of(&[1.0, f64::NAN], &[true, false]);
        assert!(matches!(nan, Err(Error::NotFinite { row: 1, .. })));
        assert!(matches!(of(&[], &[]), Err(Error::Empty)));
        let short = of(&[1.0, 2.0], &[true]);
        assert!(matches!(short, Err(Error::Length { .. })));
    }
    let (scores, positive) = ([1.0, 2.0], [true, false]);
    let negative = weighted_average_precision(&scores, &positive, &[1.0, -1.0]);
    assert!(matches!(negative, Err(Error::NotFinite { row: 1, .. })));
    let empty = weighted_average_precision(&scores, &positive, &[0.0, 1.0]);
    assert!(matches!(empty, Err(Error::Classes { .. })));
}
