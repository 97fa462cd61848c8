use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::Error;
use ubauc::metrics::{Auc, auc, roc_curve};

use super::pairs::{components, covariance_of_means, examples, half_wins};

/// Seeded scores and labels, one in `rarity` positive.
fn random(seed: u64, n: usize, rarity: u32, score: impl Fn(f64) -> f64) -> (Vec<f64>, Vec<bool>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let scores = (0..n).map(|_| score(rng.random())).collect();
    let mut positive: Vec<bool> = (0..n).map(|_| rng.random_range(0..rarity) == 0).collect();
    positive[0] = true;
    positive[n - 1] = false;
    (scores, positive)
}

fn with_threads(threads: usize, scores: &[f64], positive: &[bool]) -> Auc {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(|| auc(scores, positive).unwrap())
}

proptest! {
    #[test]
    fn auc_counts_pairs_exactly((scores, positive) in examples(1, 200)) {
        let got = auc(&scores, &positive).unwrap();
        prop_assert_eq!((got.half_wins, got.ties), half_wins(&scores, &positive));
        let pairs = (got.n_pos * got.n_neg) as f64;
        prop_assert_eq!(got.auc, got.half_wins as f64 / 2.0 / pairs);
    }

    #[test]
    fn variance_is_delongs((scores, positive) in examples(2, 120)) {
        let (v, u) = components(&scores, &positive);
        let expected = covariance_of_means(&v, &v) + covariance_of_means(&u, &u);
        let got = auc(&scores, &positive).unwrap();
        // The double loop rounds every component: 1e-12 of a variance that is at most 1.
        prop_assert!((got.variance - expected).abs() <= 1e-12, "{} {expected}", got.variance);
    }

    #[test]
    fn strictly_increasing_maps_change_nothing((scores, positive) in examples(1, 100)) {
        // Exact in doubles on a grid, so it stays strict; infinities stay at the ends.
        let grid: Vec<f64> = scores.iter().map(|s| (s.clamp(-8.0, 8.0) * 8.0).round()).collect();
        let mapped: Vec<f64> = grid.iter().map(|g| (g / 16.0).exp() - 3.0).collect();
        prop_assert_eq!(auc(&grid, &positive).unwrap(), auc(&mapped, &positive).unwrap());
    }

    #[test]
    fn swapping_the_classes_mirrors_auc((scores, positive) in examples(1, 100)) {
        let swapped: Vec<bool> = positive.iter().map(|p| !p).collect();
        let (a, b) = (auc(&scores, &positive).unwrap(), auc(&scores, &swapped).unwrap());
        let half_pairs = 2 * (a.n_pos * a.n_neg) as u128;
        prop_assert_eq!(a.half_wins + b.half_wins, half_pairs);
        // Three roundings of numbers up to 1.
        prop_assert!((a.auc - (1.0 - b.auc)).abs() < 1e-15);
        prop_assert!((a.variance - b.variance).abs() <= 1e-15 * a.variance);
    }

    #[test]
    fn the_order_of_examples_does_not_matter((scores, positive) in examples(1, 100)) {
        let reversed: Vec<f64> = scores.iter().rev().copied().collect();
        let labels: Vec<bool> = positive.iter().rev().copied().collect();
        prop_assert_eq!(auc(&scores, &positive).unwrap(), auc(&reversed, &labels).unwrap());
    }
}

#[test]
fn many_examples_agree_with_the_roc_curve_bit_for_bit_on_any_number_of_threads() {
    let uniform: fn(f64) -> f64 = |u| u;
    let maps = [
        uniform,
        |u| (u - 0.5) * 1e3,                                 // both signs
        |u| (u * 50.0).floor(),                              // heavy ties
        |_| 7.0,                                             // all tied
        |u| if u < 0.001 { -1e300 } else { 1.0 + u * 1e-9 }, // one range holds nearly all
        |u| {
            if u < 0.3 {
                f64::NEG_INFINITY
            } else {
                1.0 / (u - 0.3)
            }
        },
        |u| f64::from(u as f32), // only leading bits
    ];
    for (seed, map) in maps.into_iter().enumerate() {
        for (n, rarity) in [
            (70_000, 2),
            (300_000, 2),
            (300_000, 1_000),
            (200_000, u32::MAX),
        ] {
            let (scores, positive) = random(seed as u64, n, rarity, map);
            // An independent count: the trapezoids of the curve, in half pairs.
            let curve = roc_curve(&scores, &positive).unwrap();
            let area: u128 = (curve.fp.windows(2).zip(curve.tp.windows(2)))
                .map(|(x, y)| u128::from(x[1] - x[0]) * u128::from(y[0] + y[1]))
                .sum();
            let one = with_threads(1, &scores, &positive);
            assert_eq!(one.half_wins, area, "seed {seed}, n {n}, rarity {rarity}");
            for threads in [2, 3, 8] {
                let many = with_threads(threads, &scores, &positive);
                assert_eq!(
                    many, one,
                    "{threads} threads, seed {seed}, n {n}, rarity {rarity}"
                );
                assert_eq!(many.variance.to_bits(), one.variance.to_bits());
            }
        }
    }
}

#[test]
fn one_positive_gets_the_largest_variance_its_auc_allows() {
    // The positive beats 3 of 4 negatives: A = ¾. U = 1, 1, 1, 0.
    let scores = [3.5, 1.0, 2.0, 3.0, 4.0];
    let got = auc(&scores, &[true, false, false, false, false]).unwrap();
    let u = [1.0, 1.0, 1.0, 0.0];
    assert_eq!(got.auc, 0.75);
    assert!((got.variance - (0.75 * 0.25 + covariance_of_means(&u, &u))).abs() < 1e-15);
    assert!(!got.degenerate());
}

#[test]
fn one_example_of_each_class_is_enough() {
    let got = auc(&[1.0, 1.0], &[true, false]).unwrap();
    assert_eq!((got.auc, got.variance), (0.5, 0.5));
    // ±1.96·√½/¼ on the logit scale: nothing is known.
    assert!(got.ci95[0] < 0.01 && got.ci95[1] > 0.99);
}

#[test]
fn all_tied_is_one_half_without_variance() {
    let got = auc(&[2.0; 7], &[true, false, true, false, true, true, false]).unwrap();
    assert_eq!((got.auc, got.variance, got.ties), (0.5, 0.0, 12));
    assert!(got.degenerate());
}

#[test]
fn perfect_separation_is_degenerate() {
    let got = auc(&[1.0, 2.0, 3.0, 4.0], &[false, false, true, true]).unwrap();
    assert_eq!((got.auc, got.variance), (1.0, 0.0));
    assert!(got.degenerate());
}

#[test]
fn infinities_are_scores_and_tie_with_their_like() {
    let (inf, low) = (f64::INFINITY, f64::NEG_INFINITY);
    let got = auc(&[inf, low, inf, f64::MAX], &[true, true, false, false]).unwrap();
    assert_eq!((got.half_wins, got.ties), (3, 1));
}

#[test]
fn what_cannot_be_scored_is_refused() {
    assert!(matches!(auc(&[], &[]), Err(Error::Empty)));
    assert!(matches!(
        auc(&[1.0], &[]),
        Err(Error::Length {
            expected: 1,
            got: 0,
            ..
        })
    ));
    let nan = auc(&[1.0, f64::NAN, f64::NAN], &[true, false, true]);
    assert!(matches!(nan, Err(Error::NotFinite { row: 1, .. })));
    for (label, name) in [(true, "positive"), (false, "negative")] {
        match auc(&[1.0, 2.0], &[label; 2]) {
            Err(Error::OneClass { class, n: 2 }) => assert_eq!(class, name),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_late_nan_among_many_is_named() {
    let (mut scores, positive) = random(5, 200_000, 2, |u| u);
    scores[199_998] = f64::NAN;
    let got = auc(&scores, &positive);
    assert!(matches!(got, Err(Error::NotFinite { row: 199_998, .. })));
}
