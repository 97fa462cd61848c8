use proptest::prelude::*;
use ubauc::Error;
use ubauc::metrics::{RocPart, partial_auc, weighted_auc, weighted_partial_auc};

use super::pairs::examples;

/// ∫₀^f TPR dFPR of the weighted curve, a trapezoid between any two thresholds.
fn direct(scores: &[f64], positive: &[bool], weights: &[f64], f: f64) -> f64 {
    let mut thresholds = scores.to_vec();
    thresholds.sort_by(|a, b| b.total_cmp(a));
    let share = |threshold: f64, class: bool| -> f64 {
        let rows = || (scores.iter().zip(positive).zip(weights)).filter(|x| *x.0.1 == class);
        let above: f64 = rows().filter(|x| *x.0.0 >= threshold).map(|x| x.1).sum();
        above / rows().map(|x| x.1).sum::<f64>()
    };
    let (mut area, mut x0, mut y0) = (0.0, 0.0, 0.0);
    for threshold in thresholds {
        let (x1, y1) = (share(threshold, false), share(threshold, true));
        let end = x1.min(f);
        if end > x0 {
            let at_end = y0 + (y1 - y0) * (end - x0) / (x1 - x0);
            area += (end - x0) * (y0 + at_end) / 2.0;
        }
        (x0, y0) = (x1, y1);
    }
    area
}

proptest! {
    #[test]
    fn it_is_the_integral(
        (scores, positive) in examples(1, 80),
        weights in prop::collection::vec(prop_oneof![3 => 0.01..10.0_f64, 1 => Just(0.0)], 80),
        f in 0.001..=1.0_f64,
    ) {
        let mut weights = weights[..scores.len()].to_vec();
        weights[0] = 0.7; // a positive
        *weights.last_mut().unwrap() = 0.3; // a negative
        let got = weighted_partial_auc(&scores, &positive, &weights, RocPart::MaxFpr(f)).unwrap();
        let expected = direct(&scores, &positive, &weights, f);
        // Plain sums of at most 80 terms in the direct computation.
        prop_assert!((got.raw - expected).abs() < 1e-13, "{} {expected}", got.raw);
        let (min, max) = (f * f / 2.0, f);
        let standardised = 0.5 * (1.0 + (expected - min) / (max - min));
        prop_assert!((got.standardised - standardised).abs() < 1e-13 / f);

        let whole = weighted_auc(&scores, &positive, &weights).unwrap().auc;
        for part in [RocPart::MaxFpr(1.0), RocPart::MinTpr(0.0)] {
            let got = weighted_partial_auc(&scores, &positive, &weights, part).unwrap();
            prop_assert!((got.raw - whole).abs() < 1e-14);
        }
    }

    #[test]
    fn weight_one_is_unweighted((scores, positive) in examples(1, 120), f in 0.001..=1.0_f64) {
        let ones = vec![1.0; scores.len()];
        for part in [RocPart::MaxFpr(f), RocPart::MinTpr(1.0 - f)] {
            let plain = partial_auc(&scores, &positive, part).unwrap();
            let got = weighted_partial_auc(&scores, &positive, &ones, part).unwrap();
            prop_assert_eq!(got.part, plain.part);
            // Compensated sums of exact integers, and the rounding of the cut.
            prop_assert!((got.raw - plain.raw).abs() < 1e-15);
            prop_assert!((got.standardised - plain.standardised).abs() < 1e-15 / f);
        }
    }

    #[test]
    fn the_tpr_part_is_the_fpr_part_of_negated_scores_and_swapped_classes(
        (scores, positive) in examples(1, 80),
        weights in prop::collection::vec(0.01..10.0_f64, 80),
        t in 0.0..0.999_f64,
    ) {
        let weights = &weights[..scores.len()];
        let negated: Vec<f64> = scores.iter().map(|s| -s).collect();
        let swapped: Vec<bool> = positive.iter().map(|p| !p).collect();
        let got = weighted_partial_auc(&scores, &positive, weights, RocPart::MinTpr(t)).unwrap();
        let part = RocPart::MaxFpr(1.0 - t);
        let mirror = weighted_partial_auc(&negated, &swapped, weights, part).unwrap();
        // Tied examples may be added in another order.
        prop_assert!((got.raw - mirror.raw).abs() < 1e-15);
    }
}

#[test]
fn the_cut_divides_a_trapezoid() {
    // Negatives of weight 1 and 3, the lighter one best; positives of weight 2 and 2 between them.
    let scores = [4.0, 3.0, 3.0, 1.0];
    let (positive, weights) = ([false, true, true, false], [1.0, 2.0, 2.0, 3.0]);
    let of = |part| weighted_partial_auc(&scores, &positive, &weights, part).unwrap();
    // FPR goes to ¼ at TPR 0, then from ¼ to 1 at TPR 1.
    assert_eq!(of(RocPart::MaxFpr(0.25)).raw, 0.0);
    assert_eq!(of(RocPart::MaxFpr(0.5)).raw, 0.25);
    // From the other end FPR is ¼ from TPR 0 on.
    assert_eq!(of(RocPart::MinTpr(0.5)).raw, 0.375);
    let perfect = weighted_partial_auc(
        &scores,
        &[true, true, true, false],
        &weights,
        RocPart::MaxFpr(0.1),
    );
    let perfect = perfect.unwrap();
    assert_eq!((perfect.raw, perfect.standardised), (0.1, 1.0));
}

#[test]
fn what_has_no_partial_auc_is_refused() {
    let of = |scores: &[f64], weights: &[f64], part| {
        weighted_partial_auc(scores, &[true, false], weights, part)
    };
    for part in [
        RocPart::MaxFpr(0.0),
        RocPart::MaxFpr(f64::NAN),
        RocPart::MinTpr(1.0),
    ] {
        let refused = of(&[1.0, 2.0], &[1.0; 2], part);
        assert!(matches!(refused, Err(Error::Parameter { .. })), "{part:?}");
    }
    let part = RocPart::MaxFpr(0.5);
    let weight = of(&[1.0, 2.0], &[1.0, f64::INFINITY], part);
    assert!(matches!(
        weight,
        Err(Error::NotFinite {
            what: "weight",
            row: 1,
            ..
        })
    ));
    let score = of(&[f64::NAN, 2.0], &[1.0; 2], part);
    assert!(matches!(
        score,
        Err(Error::NotFinite {
            what: "score",
            row: 0,
            ..
        })
    ));
    let empty = of(&[1.0, 2.0], &[1.0, 0.0], part);
    assert!(matches!(empty, Err(Error::Classes { .. })));
}
