use proptest::prelude::*;
use ubauc::Error;
use ubauc::metrics::{
    auc, clustered_auc, clustered_compare, clustered_compare_many, compare, compare_many,
};

use super::pairs::{components, examples, score};

/// P_g and Q_g, group by group: placements, pair by pair, less their mean.
fn by_group(scores: &[f64], positive: &[bool], groups: &[u32]) -> Vec<(f64, f64)> {
    let (v, u) = components(scores, positive);
    let (mut v, mut u) = (v.into_iter(), u.into_iter());
    let placements: Vec<f64> = (positive.iter())
        .map(|&p| if p { v.next() } else { u.next() }.unwrap())
        .collect();
    let a = auc(scores, positive).unwrap().auc;
    let mut names = groups.to_vec();
    names.sort();
    names.dedup();
    let sum = |name: u32, class: bool| -> f64 {
        (0..scores.len())
            .filter(|&i| groups[i] == name && positive[i] == class)
            .map(|i| placements[i] - a)
            .sum()
    };
    names
        .iter()
        .map(|&g| (sum(g, true), sum(g, false)))
        .collect()
}

/// S₁₀/N⁺ + S₀₁/N⁻ + (S₁₁ + S₁₁′)/(N⁺N⁻) of Obuchowski, as printed.
fn direct(a: &[f64], b: &[f64], positive: &[bool], groups: &[u32]) -> f64 {
    let (ga, gb) = (by_group(a, positive, groups), by_group(b, positive, groups));
    let with = |class: bool| {
        let rows = groups.iter().zip(positive).filter(|x| *x.1 == class);
        let mut names: Vec<u32> = rows.map(|x| *x.0).collect();
        let n = names.len() as f64;
        names.sort();
        names.dedup();
        (n, names.len() as f64)
    };
    let ((m, with_pos), (n, with_neg)) = (with(true), with(false));
    let all = ga.len() as f64;
    let pairs = || ga.iter().zip(&gb);
    let s10 = with_pos / ((with_pos - 1.0) * m) * pairs().map(|(a, b)| a.0 * b.0).sum::<f64>();
    let s01 = with_neg / ((with_neg - 1.0) * n) * pairs().map(|(a, b)| a.1 * b.1).sum::<f64>();
    let cross = pairs().map(|(a, b)| a.0 * b.1 + a.1 * b.0).sum::<f64>();
    s10 / m + s01 / n + all / (all - 1.0) * cross / (m * n)
}

type Grouped = (Vec<f64>, Vec<f64>, Vec<bool>, Vec<u32>);

/// Two scorers of the same examples in groups of any sizes, each class in two groups at least.
fn grouped(max: usize) -> impl Strategy<Value = Grouped> {
    examples(2, max).prop_flat_map(|(a, positive)| {
        let n = a.len();
        let other = prop::collection::vec(score(), n);
        let groups = prop::collection::vec(0..(n as u32 / 2).max(2), n).prop_map(move |mut g| {
            g[0] = u32::MAX; // names need not be near each other
            g[n - 1] = u32::MAX;
            (g[1], g[n - 2]) = (0, 0);
            g
        });
        (Just(a), other, Just(positive), groups)
    })
}

proptest! {
    #[test]
    fn variances_are_the_sums_over_groups((a, b, positive, groups) in grouped(60)) {
        let got = clustered_auc(&a, &positive, &groups).unwrap();
        let plain = auc(&a, &positive).unwrap();
        prop_assert_eq!((got.auc, got.ties, got.half_wins), (plain.auc, plain.ties, plain.half_wins));
        let var = |x: &[f64], y: &[f64]| direct(x, y, &positive, &groups);
        // The direct computation rounds every component.
        prop_assert!((got.variance - var(&a, &a)).abs() < 1e-12, "{} {}", got.variance, var(&a, &a));
        prop_assert!(got.variance >= 0.0);
        prop_assert_eq!(got.standard_error(), got.variance.sqrt());

        let test = clustered_compare(&a, &b, &positive, &groups).unwrap();
        let expected = var(&a, &a) + var(&b, &b) - 2.0 * var(&a, &b);
        prop_assert!((test.variance - expected).abs() < 1e-12, "{} {expected}", test.variance);
        prop_assert_eq!((test.auc_a, test.auc_b), {
            let ungrouped = compare(&a, &b, &positive).unwrap();
            (ungrouped.auc_a, ungrouped.auc_b)
        });
        if test.variance > 0.0 {
            prop_assert!((test.z * test.variance.sqrt() - test.difference).abs() < 1e-15);
        }
        let many = clustered_compare_many(&[&a, &b], &positive, &groups).unwrap();
        prop_assert_eq!(&many.aucs[0], &got);
        prop_assert_eq!(&many.pairs[0].test, &test);
    }

    /// With G⁺ = N⁺ groups of one positive and no product P_g·Q_g the formula is DeLong's.
    #[test]
    fn groups_of_one_example_give_delong((a, b, positive, _) in grouped(80), first in 0..1000_u32) {
        let groups: Vec<u32> = (0..a.len() as u32).rev().map(|i| first + 7 * i).collect();
        let (got, plain) = (clustered_auc(&a, &positive, &groups).unwrap(), auc(&a, &positive).unwrap());
        // Some 80 roundings of terms of one sign.
        prop_assert!((got.variance - plain.variance).abs() <= 1e-14 * plain.variance);
        prop_assert_eq!(got.degenerate(), plain.degenerate());
        let many = clustered_compare_many(&[&a, &b], &positive, &groups).unwrap();
        let plain = compare_many(&[&a, &b], &positive).unwrap();
        let (got, plain) = (&many.pairs[0].test, &plain.pairs[0].test);
        prop_assert!((got.variance - plain.variance).abs() <= 1e-14 * plain.variance);
        prop_assert_eq!(got.p.is_some(), plain.p.is_some());
    }

    /// Copies of an example in its own group are nothing new: every P_g, Q_g, N⁺ and N⁻ is k-fold.
    #[test]
    fn copies_within_a_group_add_no_information((a, _, positive, groups) in grouped(40), k in 2..4_usize) {
        let repeated = |k: usize| -> (Vec<f64>, Vec<bool>, Vec<u32>) {
            (a.repeat(k), positive.repeat(k), groups.repeat(k))
        };
        let (scores, labels, names) = repeated(k);
        let once = clustered_auc(&a, &positive, &groups).unwrap();
        let copied = clustered_auc(&scores, &labels, &names).unwrap();
        prop_assert_eq!(copied.auc, once.auc);
        prop_assert!((copied.variance - once.variance).abs() <= 1e-13 * once.variance);
    }
}

#[test]
fn by_hand() {
    // Groups: {+4, −1}, {+2, −3}. V = 1, ½; U = 1, ½; A = ¾. P = ¼, −¼ and Q = ¼, −¼, so that
    // P/N⁺ + Q/N⁻ = ¼, −¼ and var = 2·(1/16 + 1/16); without groups it is half of that.
    let (scores, positive) = ([4.0, 1.0, 2.0, 3.0], [true, false, true, false]);
    let got = clustered_auc(&scores, &positive, &[5, 5, 9, 9]).unwrap();
    assert_eq!((got.auc, got.variance), (0.75, 0.25));
    assert_eq!(auc(&scores, &positive).unwrap().variance, 0.125);
    // {+4, −3}, {+2, −1}: Q = −¼, ¼ takes back what P does. A variance of 0 is exactly 0.
    let got = clustered_auc(&scores, &positive, &[5, 9, 9, 5]).unwrap();
    assert_eq!((got.auc, got.variance), (0.75, 0.0));
}

#[test]
fn what_has_no_variance_between_groups_is_refused() {
    let (scores, positive) = ([4.0, 1.0, 2.0, 3.0], [true, false, true, false]);
    let message = |groups: &[u32]| {
        let refused = clustered_auc(&scores, &positive, groups).unwrap_err();
        let same = clustered_compare(&scores, &scores, &positive, groups).unwrap_err();
        assert_eq!(refused.to_string(), same.to_string());
        refused.to_string()
    };
    assert!(message(&[1, 1, 1, 2]).starts_with("fewer than two groups have positive examples"));
    assert!(message(&[1, 2, 3, 2]).starts_with("fewer than two groups have negative examples"));
    assert_eq!(message(&[1, 2, 3]), "groups: expected 4, got 3");
    let nan = clustered_auc(&[f64::NAN, 1.0], &[true, false], &[1, 2]);
    assert!(matches!(nan, Err(Error::NotFinite { row: 0, .. })));
    let one_class = clustered_auc(&[1.0, 2.0], &[true, true], &[1, 2]);
    assert!(matches!(one_class, Err(Error::OneClass { .. })));
    let none = clustered_compare_many(&[], &positive, &[1, 2, 3]);
    assert!(matches!(none, Err(Error::Length { what: "groups", .. })));
}
