use proptest::prelude::*;
use ubauc::Error;
use ubauc::metrics::{RocCurve, RocPart, auc, partial_auc, roc_curve};

use super::pairs::examples;

/// ∫₀^f TPR dFPR by trapezoids of the rates.
fn integrate(fpr: &[f64], tpr: &[f64], f: f64) -> f64 {
    let mut area = 0.0;
    for (x, y) in fpr.windows(2).zip(tpr.windows(2)) {
        let end = x[1].min(f);
        if end > x[0] {
            let at_end = y[0] + (y[1] - y[0]) * (end - x[0]) / (x[1] - x[0]);
            area += (end - x[0]) * (y[0] + at_end) / 2.0;
        }
    }
    area
}

fn corners(curve: &RocCurve) -> Vec<(u64, u64)> {
    curve
        .fp
        .iter()
        .copied()
        .zip(curve.tp.iter().copied())
        .collect()
}

proptest! {
    #[test]
    fn every_point_counts_what_is_at_or_above_its_threshold(
        (scores, positive) in examples(1, 100)
    ) {
        let curve = roc_curve(&scores, &positive).unwrap();
        prop_assert_eq!(corners(&curve)[0], (0, 0));
        for k in 1..curve.thresholds.len() {
            let at_or_above = |class: bool| {
                let here = |(&s, &p): (&f64, &bool)| s >= curve.thresholds[k] && p == class;
                scores.iter().zip(&positive).filter(|&x| here(x)).count()
            };
            prop_assert_eq!(curve.fp[k], at_or_above(false) as u64);
            prop_assert_eq!(curve.tp[k], at_or_above(true) as u64);
            prop_assert!(k == 1 || curve.thresholds[k] < curve.thresholds[k - 1]);
        }
        prop_assert_eq!((*curve.fpr.last().unwrap(), *curve.tpr.last().unwrap()), (1.0, 1.0));
    }

    #[test]
    fn the_area_is_auc_with_or_without_collinear_points((scores, positive) in examples(1, 100)) {
        let exact = auc(&scores, &positive).unwrap().auc;
        let curve = roc_curve(&scores, &positive).unwrap();
        let thin = curve.without_collinear();
        for curve in [&curve, &thin] {
            // A sum of at most 100 rounded trapezoids.
            prop_assert!((integrate(&curve.fpr, &curve.tpr, 1.0) - exact).abs() < 1e-14);
            prop_assert_eq!(curve.partial_auc(RocPart::MaxFpr(1.0)).unwrap().raw, exact);
            prop_assert_eq!(curve.partial_auc(RocPart::MinTpr(0.0)).unwrap().raw, exact);
        }
        for w in corners(&thin).windows(3) {
            let cross = |a: (u64, u64), b: (u64, u64), c: (u64, u64)| {
                (b.0 - a.0) * (c.1 - b.1) != (c.0 - b.0) * (b.1 - a.1)
            };
            prop_assert!(cross(w[0], w[1], w[2]));
        }
    }

    #[test]
    fn partial_auc_is_the_integral((scores, positive) in examples(1, 100), f in 0.001..=1.0_f64) {
        let curve = roc_curve(&scores, &positive).unwrap();
        let got = partial_auc(&scores, &positive, RocPart::MaxFpr(f)).unwrap();
        let expected = integrate(&curve.fpr, &curve.tpr, f);
        // A sum of at most 100 rounded trapezoids; its standardisation divides by f(1 − f/2).
        prop_assert!((got.raw - expected).abs() < 1e-14);
        let (min, max) = (f * f / 2.0, f);
        let standardised = 0.5 * (1.0 + (expected - min) / (max - min));
        prop_assert!((got.standardised - standardised).abs() < 1e-14 / f);
    }

    #[test]
    fn the_tpr_part_is_the_fpr_part_of_negated_scores_and_swapped_classes(
        (scores, positive) in examples(1, 100),
        t in 0.0..0.999_f64,
    ) {
        let negated: Vec<f64> = scores.iter().map(|s| -s).collect();
        let swapped: Vec<bool> = positive.iter().map(|p| !p).collect();
        let got = partial_auc(&scores, &positive, RocPart::MinTpr(t)).unwrap();
        let mirror = partial_auc(&negated, &swapped, RocPart::MaxFpr(1.0 - t)).unwrap();
        prop_assert_eq!((got.raw, got.standardised), (mirror.raw, mirror.standardised));
    }
}

#[test]
fn the_curve_of_scikit_learns_example() {
    // sklearn.metrics.roc_curve([0,0,1,1], [.1,.4,.35,.8]): thresholds inf, .8, .4, .35, .1.
    let curve = roc_curve(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true]).unwrap();
    assert_eq!(curve.thresholds, [f64::INFINITY, 0.8, 0.4, 0.35, 0.1]);
    assert_eq!(curve.fpr, [0.0, 0.0, 0.5, 0.5, 1.0]);
    assert_eq!(curve.tpr, [0.0, 0.5, 0.5, 1.0, 1.0]);
    // The area up to ½ is ½·½: the chance line has 1/8, a perfect scorer ½.
    let part = curve.partial_auc(RocPart::MaxFpr(0.5)).unwrap();
    assert_eq!(
        (part.raw, part.standardised),
        (0.25, 0.5 * (1.0 + 0.125 / 0.375))
    );
}

#[test]
fn a_perfect_scorer_has_standardised_area_one_and_chance_one_half() {
    let positive = [false, false, true, true];
    for part in [
        RocPart::MaxFpr(0.3),
        RocPart::MaxFpr(1e-300),
        RocPart::MinTpr(0.8),
    ] {
        let perfect = partial_auc(&[1.0, 2.0, 3.0, 4.0], &positive, part).unwrap();
        assert!((perfect.standardised - 1.0).abs() < 1e-15, "{part:?}");
        let chance = partial_auc(&[1.0; 4], &positive, part).unwrap();
        assert!((chance.standardised - 0.5).abs() < 1e-15, "{part:?}");
    }
}

#[test]
fn rates_out_of_range_are_refused() {
    let positive = [false, true];
    for part in [
        RocPart::MaxFpr(0.0),
        RocPart::MaxFpr(1.1),
        RocPart::MaxFpr(f64::NAN),
        RocPart::MinTpr(1.0),
        RocPart::MinTpr(-0.1),
        RocPart::MinTpr(f64::NAN),
    ] {
        let got = partial_auc(&[1.0, 2.0], &positive, part);
        assert!(matches!(got, Err(Error::Parameter { .. })), "{part:?}");
    }
}
