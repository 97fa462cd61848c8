use proptest::prelude::*;
use ubauc::Error;
use ubauc::metrics::{auc, compare, compare_many, covariance};

use super::pairs::{components, covariance_of_means, examples, score};

type Scorers = (Vec<f64>, Vec<f64>, Vec<f64>, Vec<bool>);

/// Three scorers of the same examples.
fn scorers(min: usize, max: usize) -> impl Strategy<Value = Scorers> {
    examples(min, max).prop_flat_map(|(a, positive)| {
        let more = || prop::collection::vec(score(), a.len());
        (Just(a.clone()), more(), more(), Just(positive))
    })
}

fn direct_covariance(a: &[f64], b: &[f64], positive: &[bool]) -> f64 {
    let ((va, ua), (vb, ub)) = (components(a, positive), components(b, positive));
    covariance_of_means(&va, &vb) + covariance_of_means(&ua, &ub)
}

proptest! {
    #[test]
    fn covariance_is_that_of_the_structural_components((a, b, c, positive) in scorers(2, 80)) {
        let lists = [&a[..], &b, &c];
        let got = covariance(&lists, &positive).unwrap();
        for r in 0..3 {
            for s in 0..3 {
                let expected = direct_covariance(lists[r], lists[s], &positive);
                // The direct computation rounds every component.
                prop_assert!((got[3 * r + s] - expected).abs() <= 1e-12);
            }
            prop_assert_eq!(got[3 * r + r], auc(lists[r], &positive).unwrap().variance);
        }
    }

    #[test]
    fn paired_test_is_the_direct_one((a, b, _, positive) in scorers(2, 80)) {
        let got = compare(&a, &b, &positive).unwrap();
        let var = |x: &[f64], y: &[f64]| direct_covariance(x, y, &positive);
        let expected = var(&a, &a) + var(&b, &b) - 2.0 * var(&a, &b);
        prop_assert!((got.variance - expected).abs() <= 1e-12);
        prop_assert_eq!(got.auc_a, auc(&a, &positive).unwrap().auc);
        prop_assert_eq!(got.auc_b, auc(&b, &positive).unwrap().auc);
        prop_assert!((got.difference - (got.auc_a - got.auc_b)).abs() < 1e-15);
        if got.variance > 0.0 {
            prop_assert!((got.z * got.variance.sqrt() - got.difference).abs() < 1e-15);
        }
    }

    #[test]
    fn swapping_the_scorers_turns_the_sign((a, b, _, positive) in scorers(1, 60)) {
        let (ab, ba) = (compare(&a, &b, &positive).unwrap(), compare(&b, &a, &positive).unwrap());
        prop_assert_eq!(ab.difference, -ba.difference);
        prop_assert_eq!(ab.z, -ba.z);
        prop_assert_eq!(ab.p, ba.p);
        prop_assert_eq!(ab.ci95, [-ba.ci95[1], -ba.ci95[0]]);
    }

    #[test]
    fn many_is_every_pair((a, b, c, positive) in scorers(1, 60)) {
        let lists = [&a[..], &b, &c];
        let got = compare_many(&lists, &positive).unwrap();
        for (scores, got) in lists.iter().zip(&got.aucs) {
            prop_assert_eq!(got, &auc(scores, &positive).unwrap());
        }
        let order: Vec<(usize, usize)> = got.pairs.iter().map(|p| (p.a, p.b)).collect();
        prop_assert_eq!(order, vec![(0, 1), (0, 2), (1, 2)]);
        let mut ps = vec![];
        for pair in &got.pairs {
            let alone = compare(lists[pair.a], lists[pair.b], &positive).unwrap();
            prop_assert_eq!(&pair.test, &alone);
            prop_assert_eq!(pair.test.p.is_some(), pair.p_holm.is_some());
            ps.extend(pair.test.p.zip(pair.p_holm));
        }
        ps.sort_by(|x, y| x.0.total_cmp(&y.0));
        let mut floor = 0.0_f64;
        for (i, (p, p_holm)) in ps.iter().enumerate() {
            floor = floor.max((p * (ps.len() - i) as f64).min(1.0));
            prop_assert_eq!(*p_holm, floor);
        }
    }
}

#[test]
fn a_known_z_has_its_known_p() {
    // Without ties between scorers' placements the direct formula gives z; its p is erfc(|z|/√2).
    let positive = [true, true, true, true, false, false, false, false];
    let a = [4.0, 3.0, 2.5, 0.5, 1.0, 2.0, 0.0, -1.0];
    let b = [4.0, 0.3, 2.5, 0.5, 1.0, 2.0, 3.0, -1.0];
    let got = compare(&a, &b, &positive).unwrap();
    let p = got.p.unwrap();
    assert!((p - libm::erfc(got.z.abs() / 2.0_f64.sqrt())).abs() < 1e-15);
    assert!(got.z > 0.0 && p > 0.0 && p < 1.0);
    assert!((libm::erfc(1.959_963_984_540_054 / 2.0_f64.sqrt()) - 0.05).abs() < 1e-15);
}

#[test]
fn a_scorer_does_not_differ_from_itself() {
    let (scores, positive) = ([1.0, 2.0, 3.0, 4.0], [false, true, false, true]);
    let stretched = scores.map(|s| 10.0 * s);
    let got = compare(&scores, &stretched, &positive).unwrap();
    assert_eq!(
        (got.difference, got.variance, got.z, got.p),
        (0.0, 0.0, 0.0, Some(1.0))
    );
    let q = 0.025_f64.sqrt();
    assert_eq!(got.ci95, [q - 1.0, 1.0 - q]);
}

#[test]
fn a_difference_without_variance_has_no_p() {
    let (scores, positive) = ([1.0, 2.0, 3.0, 4.0], [false, false, true, true]);
    let reversed = scores.map(|s| -s);
    let got = compare(&scores, &reversed, &positive).unwrap();
    assert_eq!((got.difference, got.variance), (1.0, 0.0));
    assert_eq!((got.z, got.p), (f64::INFINITY, None));
    // Two pairs without a common example: of all pairs at least √0.025 are like them.
    let q = 0.025_f64.sqrt();
    assert_eq!(got.ci95, [q - (1.0 - q), 1.0]);
    assert_eq!(
        compare(&reversed, &scores, &positive).unwrap().z,
        f64::NEG_INFINITY
    );
}

#[test]
fn one_positive_gives_the_largest_variance_of_a_difference_and_no_covariance() {
    let positive = [true, false, false];
    let (a, b) = ([2.0, 1.0, 3.0], [9.0, 1.0, 3.0]); // A = ½ and 1
    let got = compare(&a, &b, &positive).unwrap();
    // min(3/2, 1/2) − ¼, and the negatives' differences 0, −1: ½/2.
    assert_eq!(got.variance, 0.25 + 0.25);
    let refused = covariance(&[&a, &b], &positive);
    assert!(matches!(
        refused,
        Err(Error::Length {
            expected: 2,
            got: 1,
            ..
        })
    ));
}

#[test]
fn scorers_of_different_lengths_are_refused() {
    let got = compare(&[1.0, 2.0], &[1.0, 2.0, 3.0], &[true, false]);
    assert!(matches!(got, Err(Error::Length { .. })));
}
