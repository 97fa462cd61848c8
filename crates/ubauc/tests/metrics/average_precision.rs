use proptest::prelude::*;
use ubauc::Error;
use ubauc::metrics::{
    average_precision, average_precision_interval, clustered_average_precision,
    weighted_average_precision,
};

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

/// The influence of each example by a difference quotient of the weighted average precision, the total weight of each
/// class held: an implementation of its own.
fn variance_by_differences(scores: &[f64], positive: &[bool]) -> f64 {
    let n_of = |class: bool| positive.iter().filter(|&&p| p == class).count() as f64;
    let influences = influences(scores, positive).into_iter().zip(positive);
    influences
        .map(|(influence, &p)| influence * influence * n_of(p) / (n_of(p) - 1.0))
        .sum()
}

fn influences(scores: &[f64], positive: &[bool]) -> Vec<f64> {
    let step = 1e-5;
    let n_of = |class: bool| positive.iter().filter(|&&p| p == class).count() as f64;
    let at = |i: usize, more: f64| {
        let n = n_of(positive[i]);
        let weights: Vec<f64> = (0..scores.len())
            .map(|k| {
                let own = if k == i { 1.0 + more } else { 1.0 };
                if positive[k] == positive[i] {
                    own * n / (n + more)
                } else {
                    own
                }
            })
            .collect();
        weighted_average_precision(scores, positive, &weights).unwrap()
    };
    (0..scores.len())
        .map(|i| (at(i, step) - at(i, -step)) / (2.0 * step))
        .collect()
}

proptest! {
    #[test]
    fn the_variance_is_that_of_the_influences((scores, positive) in examples(2, 60)) {
        let got = average_precision_interval(&scores, &positive).unwrap();
        let value = average_precision(&scores, &positive).unwrap();
        prop_assert!((got.value - value).abs() < 1e-14);
        // The quotient is right to step² and 1e-16/step.
        let expected = variance_by_differences(&scores, &positive);
        prop_assert!((got.variance - expected).abs() < 1e-8, "{} {expected}", got.variance);
        prop_assert!(got.ci95[0] <= got.value && got.value <= got.ci95[1]);
        prop_assert!(got.ci95[0] < got.ci95[1]);
    }

    #[test]
    fn only_groups_are_independent((scores, positive) in examples(2, 40), n_groups in 3_u32..9) {
        let groups: Vec<u32> = (0..scores.len() as u32).map(|i| i * i % 101 % n_groups).collect();
        let Ok(got) = clustered_average_precision(&scores, &positive, &groups) else {
            return Ok(()); // one group of a class
        };
        // Obuchowski's form with S₁₀, S₀₁ and S₁₁ as printed, from influences of its own.
        let influences = influences(&scores, &positive);
        let (mut p, mut q) = (vec![0.0; n_groups as usize], vec![0.0; n_groups as usize]);
        for (i, group) in groups.iter().enumerate() {
            *(if positive[i] { &mut p } else { &mut q }).get_mut(*group as usize).unwrap() += influences[i];
        }
        let with = |class: bool| {
            let has = |g: &u32| (0..groups.len()).any(|i| groups[i] == *g && positive[i] == class);
            (0..n_groups).filter(has).count() as f64
        };
        let all = (0..n_groups).filter(|g| groups.contains(g)).count() as f64;
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let lost = |k: f64| k / (k - 1.0);
        let expected = lost(with(true)) * product(&p, &p) + lost(with(false)) * product(&q, &q)
            + 2.0 * lost(all) * product(&p, &q);
        prop_assert!((got.variance - expected).abs() < 1e-8, "{} {expected}", got.variance);
        let alone: Vec<u32> = (0..scores.len() as u32).collect();
        let alone = clustered_average_precision(&scores, &positive, &alone).unwrap();
        let plain = average_precision_interval(&scores, &positive).unwrap();
        prop_assert!((alone.variance - plain.variance).abs() < 1e-14);
        prop_assert_eq!(alone.value, plain.value);
    }
}

#[test]
fn no_variation_is_exactly_none_and_no_certainty() {
    let positive = [true, true, true, false, false, false, false];
    let apart =
        average_precision_interval(&[7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0], &positive).unwrap();
    assert_eq!(
        (apart.value, apart.variance, apart.ci95[1]),
        (1.0, 0.0, 1.0)
    );
    // The least area under precision of a share s of positives with ε of the negatives above them, the rest below all
    // negatives, of all that separate 3 and 4 examples once in 40 times.
    let area = |s: f64| {
        let epsilon = 1.0 - (0.025 / s.powi(3)).powf(0.25);
        let precision = |i: u32| {
            let t = (f64::from(i) + 0.5) / 20_000.0;
            let false_alarms = if t < s { epsilon } else { 1.0 };
            t / (t + 4.0 / 3.0 * false_alarms) / 20_000.0
        };
        (0..20_000).map(precision).sum::<f64>()
    };
    let first = 0.025_f64.cbrt();
    let least = (0..=200).map(|i| area(first + (1.0 - first) * f64::from(i) / 200.0));
    let least = least.fold(1.0, f64::min);
    assert!(
        (apart.ci95[0] - least).abs() < 1e-4,
        "{} {least}",
        apart.ci95[0]
    );
    let tied = average_precision_interval(&[1.0; 7], &positive).unwrap();
    assert_eq!((tied.value, tied.variance), (3.0 / 7.0, 0.0));
    assert!(tied.ci95[0] < 0.2 && tied.ci95[1] > 0.7);
    // One positive on top of n negatives: its true place is among the best 97½ % of them once in 40 times, and there the
    // area under precision, by sums, is that of s = 0.025 and ε = 0 or of s = 1 and all of the 2½ % in ε.
    let n = 10_000;
    let scores: Vec<f64> = (0..=n).map(f64::from).collect();
    let positive: Vec<bool> = (0..=n).map(|i| i == n).collect();
    let found = average_precision_interval(&scores, &positive).unwrap();
    let area = |s: f64| {
        let ratio = f64::from(n);
        let epsilon = 1.0 - (0.025 / s).powf(1.0 / ratio);
        let precision = |i: u32| {
            let t = (f64::from(i) + 0.5) / 20_000.0;
            let false_alarms = if t < s { epsilon } else { 1.0 };
            t / (t + ratio * false_alarms) / 20_000.0
        };
        (0..20_000).map(precision).sum::<f64>()
    };
    let least = (0..=400).map(|i| area(0.025_f64.powf(f64::from(i) / 400.0)));
    let least = least.fold(1.0, f64::min);
    assert!(least < 0.1, "{least}");
    assert!(
        (found.ci95[0] - least).abs() < 1e-4,
        "{} {least}",
        found.ci95[0]
    );
    // One positive: the largest variance there is, and no less for the negatives.
    let one = average_precision_interval(&[2.0, 3.0, 1.0], &[true, false, false]).unwrap();
    assert_eq!(one.value, 0.5);
    assert!(one.variance >= 0.25);
}
