//! Intervals of AUC against their definitions: the logit scale, the exact bound, draws made one by one.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::Error;
use ubauc::metrics::{
    Interval, Resampling, Sample, Share, Statistic, auc, clustered_auc, recall_at_fpr, weighted_auc,
};

use super::pairs::{examples, won};

const Z: f64 = 1.959_963_984_540_054;

fn bootstrap(share: Share, sample: &Sample<'_>, resamples: usize, seed: u64) -> [f64; 2] {
    let resampling = Resampling { resamples, seed };
    share
        .interval(
            Interval::Bootstrap,
            Statistic::Auc,
            sample,
            resampling,
            &|_| {},
        )
        .unwrap()
}

proptest! {
    #[test]
    fn the_interval_is_normal_on_the_logit_scale((scores, positive) in examples(1, 100)) {
        let got = auc(&scores, &positive).unwrap();
        prop_assert!(0.0 <= got.ci95[0] && got.ci95[0] <= got.auc);
        prop_assert!(got.auc <= got.ci95[1] && got.ci95[1] <= 1.0);
        prop_assert!(got.ci95[0] < got.ci95[1]); // never a point
        prop_assume!(!got.degenerate());
        let logit = |p: f64| p.ln() - (1.0 - p).ln();
        let half = Z * got.variance.sqrt() / (got.auc * (1.0 - got.auc));
        for (end, sign) in got.ci95.into_iter().zip([-1.0, 1.0]) {
            let expected = logit(got.auc) + sign * half;
            // Beyond ±30 what is left of an end is lost in 1 − p.
            prop_assume!(expected.abs() < 30.0);
            prop_assert!((1.0 / (1.0 + (-expected).exp()) - end).abs() < 1e-12);
        }
    }

    #[test]
    fn swapping_the_classes_mirrors_every_interval((scores, positive) in examples(1, 60)) {
        let swapped: Vec<bool> = positive.iter().map(|p| !p).collect();
        let (a, b) = (auc(&scores, &positive).unwrap(), auc(&scores, &swapped).unwrap());
        for (a, b) in [(a.share().logit(), b.share().logit()), (a.share().delong(), b.share().delong())] {
            // 1 − A is rounded before the logit: where A is within 1/N² of an end, that is 1e-12 of it.
            prop_assert!((a[0] - (1.0 - b[1])).abs() < 1e-11, "{a:?} {b:?}");
            prop_assert!((a[1] - (1.0 - b[0])).abs() < 1e-11, "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_bootstrap_of_groups_of_one_is_that_of_examples((scores, positive) in examples(2, 40)) {
        let plain = Sample::new(&scores, &positive);
        // Numbered so that groups come in the order in which examples of one class come.
        let alone: Vec<u32> = (0..scores.len() as u32).collect();
        let grouped = Sample { groups: Some(&alone), ..plain };
        let share = auc(&scores, &positive).unwrap().share();
        let (a, b) = (bootstrap(share, &plain, 100, 3), bootstrap(share, &grouped, 100, 3));
        // Groups of positives come after groups of negatives, as examples do: the same draws.
        prop_assert_eq!(a, b);
    }

    #[test]
    fn equal_weights_change_no_draw((scores, positive) in examples(1, 40)) {
        let plain = Sample::new(&scores, &positive);
        let weights = vec![3.0; scores.len()];
        let weighted = Sample { weights: Some(&weights), ..plain };
        let share = auc(&scores, &positive).unwrap().share();
        let (a, b) = (bootstrap(share, &plain, 100, 3), bootstrap(share, &weighted, 100, 3));
        for (a, b) in a.into_iter().zip(b) {
            prop_assert!((a - b).abs() < 1e-14);
        }
    }
}

#[test]
fn separation_is_what_as_many_won_pairs_allow() {
    // Clopper and Pearson's lower end for n wins of n is the p of pⁿ = 0.025.
    for (n_pos, n_neg, n) in [(3, 4, 3), (1, 900, 1), (40, 5, 5), (500, 500, 500)] {
        let scores: Vec<f64> = (0..n_pos + n_neg).map(f64::from).collect();
        let positive: Vec<bool> = (0..n_pos + n_neg).map(|i| i >= n_neg).collect();
        let got = auc(&scores, &positive).unwrap();
        assert_eq!((got.auc, got.ci95[1], got.separate_pairs), (1.0, 1.0, n));
        assert!((got.ci95[0].powi(n as i32) - 0.025).abs() < 1e-12);
        let reversed: Vec<f64> = scores.iter().map(|s| -s).collect();
        let mirrored = auc(&reversed, &positive).unwrap();
        assert_eq!(mirrored.ci95, [0.0, 1.0 - got.ci95[0]]);
        // No method has a point for it.
        assert_eq!(got.share().delong(), got.ci95);
        let drawn = bootstrap(got.share(), &Sample::new(&scores, &positive), 100, 1);
        assert_eq!(drawn, got.ci95);
    }
}

#[test]
fn all_tied_may_be_anything_in_the_share_that_was_not_seen() {
    let got = auc(&[7.0; 5], &[true, false, true, false, false]).unwrap();
    let q = 0.025_f64.sqrt(); // two pairs
    assert_eq!(got.ci95, [0.5 * q, 1.0 - 0.5 * q]);
}

#[test]
fn groups_and_weights_leave_fewer_pairs() {
    // Six examples of each class, in three groups of positives and one group more.
    let scores: Vec<f64> = (0..12).map(f64::from).collect();
    let positive: Vec<bool> = (0..12).map(|i| i >= 6).collect();
    let groups = [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4];
    let got = clustered_auc(&scores, &positive, &groups).unwrap();
    assert_eq!((got.variance, got.separate_pairs), (0.0, 2));
    assert_eq!(got.ci95, [0.025_f64.sqrt(), 1.0]);
    // Both classes in every group: a pair needs two of the three.
    let both: Vec<u32> = (0..12).map(|i| i % 3).collect();
    let got = clustered_auc(&scores, &positive, &both).unwrap();
    assert_eq!((got.variance, got.separate_pairs), (0.0, 1));
    // One positive outweighs the others: (5 + 5)²/(25 + 5) = 10/3 of six.
    let weights: Vec<f64> = (0..12).map(|i| if i == 6 { 5.0 } else { 1.0 }).collect();
    let got = weighted_auc(&scores, &positive, &weights).unwrap();
    assert!((got.effective_pairs - 10.0 / 3.0).abs() < 1e-12);
    assert!((got.ci95[0] - 0.025_f64.powf(0.3)).abs() < 1e-12);
}

/// Draws whole units, class by class, and counts pairs: nothing in common with blocks.
fn direct(units: &[Vec<(f64, bool, f64)>], resamples: usize) -> Vec<f64> {
    let mut random = Pcg64::seed_from_u64(99);
    let kind = |unit: &[(f64, bool, f64)]| {
        let has = |class| unit.iter().any(|e| e.1 == class);
        (has(false), has(true))
    };
    let mut found: Vec<f64> = (0..resamples)
        .map(|_| {
            let mut drawn = vec![];
            for unit in units {
                let alike: Vec<_> = units.iter().filter(|u| kind(u) == kind(unit)).collect();
                drawn.extend(alike[random.random_range(0..alike.len())].iter().copied());
            }
            pair_by_pair(&drawn)
        })
        .collect();
    found.sort_by(f64::total_cmp);
    found
}

/// BCa as Efron & Tibshirani print it, with the acceleration of a jackknife over units.
fn bca(units: &[Vec<(f64, bool, f64)>], draws: &[f64], estimate: f64) -> [f64; 2] {
    let without: Vec<f64> = (0..units.len())
        .map(|k| {
            let rest = units.iter().enumerate().filter(|x| x.0 != k);
            pair_by_pair(&rest.flat_map(|x| x.1.clone()).collect::<Vec<_>>())
        })
        .collect();
    let mean = without.iter().sum::<f64>() / without.len() as f64;
    let power = |k| without.iter().map(|x| (mean - x).powi(k)).sum::<f64>();
    let acceleration = power(3) / (6.0 * power(2).powf(1.5));
    let share = |z: f64| 0.5 * libm::erfc(-z / 2.0_f64.sqrt());
    let count = |f: &dyn Fn(f64) -> bool| draws.iter().filter(|&&x| f(x)).count() as f64;
    let (less, equal) = (
        count(&|x| x < estimate - 1e-12),
        count(&|x| (x - estimate).abs() <= 1e-12),
    );
    let wanted = (less + equal / 2.0) / draws.len() as f64;
    let z0 = (-4000..4000)
        .map(|i| f64::from(i) / 1000.0)
        .find(|&z| share(z) >= wanted)
        .unwrap();
    [-Z, Z].map(|z| {
        let at = share(z0 + (z0 + z) / (1.0 - acceleration * (z0 + z)));
        draws[(at * (draws.len() - 1) as f64).round() as usize]
    })
}

fn pair_by_pair(examples: &[(f64, bool, f64)]) -> f64 {
    let of = |class: bool| examples.iter().filter(move |e| e.1 == class);
    let (mut wins, mut all) = (0.0, 0.0);
    for p in of(true) {
        for n in of(false) {
            wins += p.2 * n.2 * won(p.0, n.0);
            all += p.2 * n.2;
        }
    }
    wins / all
}

/// The ends are order statistics: of 4,000 draws, one end has a standard error of about 1/20 of the width.
#[test]
fn a_bootstrap_has_the_points_of_draws_made_one_by_one() {
    let mut random = Pcg64::seed_from_u64(4);
    let n = 60;
    let positive: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
    let scores: Vec<f64> = (positive.iter())
        .map(|&p| (random.random::<f64>() * 8.0 + if p { 2.5 } else { 0.0 }).round())
        .collect();
    let weights: Vec<f64> = (0..n).map(|_| random.random_range(0.2..3.0)).collect();
    let groups: Vec<u32> = (0..n).map(|_| random.random_range(0..14)).collect();
    for (weights, groups) in [
        (None, None),
        (Some(&weights), None),
        (None, Some(&groups)),
        (Some(&weights), Some(&groups)),
    ] {
        let mut units: Vec<Vec<(f64, bool, f64)>> = vec![vec![]; n];
        for i in 0..n {
            let unit = groups.map_or(i, |g: &Vec<u32>| g[i] as usize);
            units[unit].push((
                scores[i],
                positive[i],
                weights.map_or(1.0, |w: &Vec<f64>| w[i]),
            ));
        }
        units.retain(|unit| !unit.is_empty());
        let estimate = pair_by_pair(&units.concat());
        let expected = bca(&units, &direct(&units, 4000), estimate);
        let given = Sample {
            weights: weights.map(Vec::as_slice),
            groups: groups.map(Vec::as_slice),
            ..Sample::new(&scores, &positive)
        };
        let share = Share {
            value: estimate,
            variance: 1.0,
            outcomes: 1.0,
        };
        let got = bootstrap(share, &given, 4000, 1);
        let width = expected[1] - expected[0];
        for (got, expected) in got.into_iter().zip(expected) {
            assert!(
                (got - expected).abs() < 0.1 * width,
                "{got} {expected} {width}"
            );
        }
    }
}

#[test]
fn a_bootstrap_has_the_same_bits_for_any_number_of_threads_and_others_for_another_seed() {
    let positive: Vec<bool> = (0..500).map(|i| i % 7 == 0).collect();
    let scores: Vec<f64> = (0..500).map(|i| f64::from(i * 37 % 101)).collect();
    let share = auc(&scores, &positive).unwrap().share();
    let with = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let given = Sample::new(&scores, &positive);
        pool.unwrap()
            .install(|| bootstrap(share, &given, 300, seed))
    };
    let one = with(1, 1);
    assert_eq!(one, with(2, 1));
    assert_eq!(one, with(5, 1));
    assert_ne!(one, with(1, 2));
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let (scores, positive) = ([1.0, 2.0, 3.0], [true, false, true]);
    let share = auc(&scores, &positive).unwrap().share();
    let refused = |sample: &Sample<'_>, resamples| {
        let resampling = Resampling { resamples, seed: 1 };
        let done = |_| {};
        share
            .interval(
                Interval::Bootstrap,
                Statistic::Auc,
                sample,
                resampling,
                &done,
            )
            .unwrap_err()
    };
    let good = Sample::new(&scores, &positive);
    assert!(matches!(refused(&good, 99), Error::Parameter { .. }));
    let short = Sample {
        groups: Some(&[1, 2]),
        ..good
    };
    assert!(matches!(refused(&short, 100), Error::Length { .. }));
    let one_class = Sample::new(&scores, &[true; 3]);
    assert!(matches!(refused(&one_class, 100), Error::OneClass { .. }));
    let nan = [1.0, f64::NAN, 2.0];
    let nan = Sample::new(&nan, &positive);
    assert!(matches!(
        refused(&nan, 100),
        Error::NotFinite { row: 1, .. }
    ));
    let weights = [1.0, -1.0, 2.0];
    let negative = Sample {
        weights: Some(&weights),
        ..good
    };
    assert!(matches!(
        refused(&negative, 100),
        Error::NotFinite { row: 1, .. }
    ));
}

#[test]
fn the_largest_weights_can_be_drawn() {
    let (scores, positive) = ([1.0, 2.0, 3.0, 4.0], [true, false, true, false]);
    let weights = [f64::MAX, f64::MAX, f64::MAX, 1.0];
    let given = Sample {
        weights: Some(&weights),
        ..Sample::new(&scores, &positive)
    };
    let found = weighted_auc(&scores, &positive, &weights).unwrap();
    let [low, high] = bootstrap(found.share(), &given, 100, 1);
    assert!(0.0 <= low && low < high && high <= 1.0);
}

/// Sums of uneven weights leave something behind the last digit, which is no variation.
#[test]
fn draws_that_differ_by_rounding_do_not_vary() {
    let scores: Vec<f64> = (0..40).map(f64::from).collect();
    let positive: Vec<bool> = (0..40).map(|i| i >= 25).collect();
    let weights: Vec<f64> = (0..40).map(|i| 0.1 + f64::from(i * 7 % 13) / 3.0).collect();
    let found = weighted_auc(&scores, &positive, &weights).unwrap();
    let given = Sample {
        weights: Some(&weights),
        ..Sample::new(&scores, &positive)
    };
    assert!(found.ci95[1] == 1.0 && found.ci95[0] < 0.9);
    let share = Share {
        variance: 0.0,
        ..found.share()
    };
    assert_eq!(bootstrap(share, &given, 500, 1), share.logit());
}

#[test]
fn a_recall_that_no_draw_changes_has_its_own_interval() {
    let scores: Vec<f64> = (0..30).map(f64::from).collect();
    let positive: Vec<bool> = (0..30).map(|i| i >= 20).collect();
    let found = recall_at_fpr(&scores, &positive, 0.1).unwrap();
    let sample = Sample::new(&scores, &positive);
    let drawn = found
        .bootstrap(&sample, Resampling::default(), &|_| {})
        .unwrap();
    assert_eq!((found.recall, drawn), (1.0, found.ci95));
}

#[test]
fn students_interval_has_the_degrees_of_freedom_of_the_variance() {
    // Ties, few positives, one far below: by the placements one by one, and the point of a table.
    let mut random = Pcg64::seed_from_u64(8);
    let positive: Vec<bool> = (0..60).map(|i| i % 4 == 0).collect();
    let scores: Vec<f64> = (positive.iter())
        .map(|&p| (random.random::<f64>() * 9.0 + if p { 7.0 } else { 0.0 }).round())
        .collect();
    let found = auc(&scores, &positive).unwrap();
    let of = |class: bool| {
        let own = |i: &usize| positive[*i] == class;
        let (mine, others): (Vec<usize>, Vec<usize>) = (0..60).partition(own);
        let sign = if class { 1.0 } else { -1.0 };
        let mean = |&i: &usize| {
            let wins = others
                .iter()
                .map(|&j| won(sign * scores[i], sign * scores[j]));
            wins.sum::<f64>() / others.len() as f64 - found.auc
        };
        let moves: Vec<f64> = mine.iter().map(|i| mean(i) / mine.len() as f64).collect();
        let power = |k| moves.iter().map(|x: &f64| x.powi(k)).sum::<f64>();
        power(4) - power(2) * power(2) / mine.len() as f64
    };
    let df = 2.0 * found.variance * found.variance / (of(true) + of(false));
    let sample = Sample::new(&scores, &positive);
    let resampling = Resampling::default();
    let got = found.share().interval(
        Interval::Student,
        Statistic::Auc,
        &sample,
        resampling,
        &|_| {},
    );
    let logit = |p: f64| (p / (1.0 - p)).ln();
    let [low, high] = got.unwrap().map(logit);
    let point = (high - low) / 2.0 * found.auc * (1.0 - found.auc) / found.variance.sqrt();
    // Cornish and Fisher's expansion of Student's point.
    let expected = Z
        + (Z.powi(3) + Z) / (4.0 * df)
        + (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / (96.0 * df * df);
    assert!(df > 5.0 && df < 200.0, "{df}");
    assert!(
        (point - expected).abs() < 0.02 / df,
        "{point} {expected} {df}"
    );
}

#[test]
fn methods_are_known_by_name() {
    for method in Interval::ALL {
        assert_eq!(method.to_string().parse(), Ok(method));
    }
    assert!("wald".parse::<Interval>().is_err());
}
