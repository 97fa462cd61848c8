use proptest::prelude::*;
use ubauc::Error;
use ubauc::metrics::{RecallAtFpr, clustered_recalls_at_fpr, recall_at_fpr, recalls_at_fpr};

use super::pairs::{by_class, examples};

proptest! {
    /// Every threshold is tried.
    #[test]
    fn recall_is_the_best_that_an_allowed_threshold_has(
        (scores, positive) in examples(1, 80),
        rate in 0.001..1.0_f64,
    ) {
        let (pos, neg) = by_class(&scores, &positive);
        let at = |t: f64, list: &[f64]| list.iter().filter(|&&s| s >= t).count();
        let mut best: Option<(usize, usize, f64)> = None;
        for &t in &scores {
            let (tp, fp) = (at(t, &pos), at(t, &neg));
            let allowed = fp as f64 <= rate * neg.len() as f64;
            if allowed && best.is_none_or(|b| t < b.2) {
                best = Some((tp, fp, t));
            }
        }
        let got = recall_at_fpr(&scores, &positive, rate).unwrap();
        let (tp, fp) = best.map_or((0, 0), |b| (b.0, b.1));
        prop_assert_eq!(got.recall, tp as f64 / pos.len() as f64);
        prop_assert_eq!(got.fpr, fp as f64 / neg.len() as f64);
        prop_assert_eq!(got.threshold, best.map(|b| b.2));
        prop_assert!(0.0 <= got.ci95[0] && got.ci95[0] <= got.recall);
        prop_assert!(got.recall <= got.ci95[1] && got.ci95[1] <= 1.0);
        prop_assert!(got.ci95[0] < got.ci95[1]); // never a point
    }

    #[test]
    fn more_false_alarms_find_no_fewer((scores, positive) in examples(1, 60)) {
        let rates = [0.01, 0.05, 0.1, 0.3, 0.7, 1.0];
        let found = recalls_at_fpr(&scores, &positive, &rates).unwrap();
        prop_assert!(found.is_sorted_by(|a, b| a.recall <= b.recall));
        prop_assert_eq!((found[5].recall, found[5].fpr), (1.0, 1.0));
        for (rate, found) in rates.iter().zip(&found) {
            prop_assert_eq!(*found, recall_at_fpr(&scores, &positive, *rate).unwrap());
        }
    }
}

#[test]
fn groups_of_one_are_examples_and_copies_say_nothing_new() {
    let scores: Vec<f64> = (0..200).map(|i| f64::from(i * 37 % 101 + i / 4)).collect();
    let positive: Vec<bool> = (0..200).map(|i| i % 3 == 0).collect();
    let rates = [0.05, 0.3];
    let plain = recalls_at_fpr(&scores, &positive, &rates).unwrap();
    let alone: Vec<u32> = (0..200).collect();
    let of_one = clustered_recalls_at_fpr(&scores, &positive, &alone, &rates).unwrap();
    assert_eq!(of_one, plain);
    // Every example four times, in a group of its own: as sure as each once.
    let four = |i: usize| i / 4;
    let (s, p): (Vec<f64>, Vec<bool>) = (0..800)
        .map(|i| (scores[four(i)], positive[four(i)]))
        .unzip();
    let groups: Vec<u32> = (0..800).map(|i| four(i) as u32).collect();
    let copies = clustered_recalls_at_fpr(&s, &p, &groups, &rates).unwrap();
    let naive = recalls_at_fpr(&s, &p, &rates).unwrap();
    for ((copies, plain), naive) in copies.iter().zip(&plain).zip(&naive) {
        let width = |of: &RecallAtFpr| of.ci95[1] - of.ci95[0];
        assert!((width(copies) - width(plain)).abs() < 0.1 * width(plain));
        assert!(width(copies) > 1.5 * width(naive));
    }
}

#[test]
fn a_rate_on_a_count_is_that_count() {
    // 0.07·100 is just above 7 in doubles, 0.29·100 just below 29.
    let scores: Vec<f64> = (0..200).map(f64::from).collect();
    let positive: Vec<bool> = (0..200).map(|i| i % 2 == 0).collect();
    for (rate, count) in [(0.07, 7.0), (0.29, 29.0), (0.57, 57.0), (0.58, 58.0)] {
        let got = recall_at_fpr(&scores, &positive, rate).unwrap();
        assert_eq!(got.fpr, count / 100.0);
    }
}

#[test]
fn a_rate_that_no_negative_can_show_bounds_nothing_from_below() {
    // Perfect, but of 20 negatives none says what one in 1,000 scores.
    let scores: Vec<f64> = (0..40).map(f64::from).collect();
    let positive: Vec<bool> = (0..40).map(|i| i >= 20).collect();
    let got = recall_at_fpr(&scores, &positive, 0.001).unwrap();
    assert_eq!((got.recall, got.ci95), (1.0, [0.0, 1.0]));
}

#[test]
fn rates_outside_their_range_are_refused() {
    for rate in [0.0, -0.1, 1.5, f64::NAN] {
        let got = recall_at_fpr(&[1.0, 2.0], &[true, false], rate);
        assert!(matches!(got, Err(Error::Parameter { .. })));
    }
    let one_class = recall_at_fpr(&[1.0, 2.0], &[true; 2], 0.1);
    assert!(matches!(one_class, Err(Error::OneClass { .. })));
}
