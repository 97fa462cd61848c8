//! Intervals of grouped examples: how often they contain the truth.
//!
//! Scores are μ·y + b_g + e with b_g, e ~ N(0, 1): within a group they are correlated by ½. The AUC
//! of a positive and a negative of two groups is Φ(μ/2). A second scorer has b_g and e of its own, so
//! that the true difference is 0.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::metrics::{
    auc, average_precision_interval, clustered_auc, clustered_compare, compare, recall_at_fpr,
};

const ROUNDS: usize = 400;
const GROUPS: u32 = 100;
const SHIFT: f64 = 1.0;

struct Sample {
    a: Vec<f64>,
    b: Vec<f64>,
    positive: Vec<bool>,
    groups: Vec<u32>,
}

/// Normal, as a sum of twelve uniform numbers less 6: enough for intervals.
fn normal(random: &mut Pcg64) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

/// 1 to 9 examples in a group, all of one class or of both.
fn sample(mixed: bool, random: &mut Pcg64) -> Sample {
    let mut sample = Sample {
        a: vec![],
        b: vec![],
        positive: vec![],
        groups: vec![],
    };
    for group in 0..GROUPS {
        let (effect_a, effect_b, class) = (normal(random), normal(random), group % 2 == 0);
        for _ in 0..random.random_range(1..10) {
            let positive = if mixed {
                random.random::<bool>()
            } else {
                class
            };
            let mean = if positive { SHIFT } else { 0.0 };
            sample.a.push(mean + effect_a + normal(random));
            sample.b.push(mean + effect_b + normal(random));
            sample.positive.push(positive);
            sample.groups.push(group);
        }
    }
    sample
}

fn contains(interval: [f64; 2], truth: f64) -> usize {
    usize::from(interval[0] <= truth && truth <= interval[1])
}

/// Shares of the intervals that contain the truth: of AUC and of the difference, by groups and not.
fn coverage(mixed: bool) -> [f64; 4] {
    let truth = 0.5 * libm::erfc(-SHIFT / 2.0 / 2.0_f64.sqrt());
    let mut random = Pcg64::seed_from_u64(17);
    let mut hits = [0; 4];
    for _ in 0..ROUNDS {
        let Sample {
            a,
            b,
            positive,
            groups,
        } = sample(mixed, &mut random);
        let by_groups = clustered_auc(&a, &positive, &groups).unwrap();
        let test = clustered_compare(&a, &b, &positive, &groups).unwrap();
        hits[0] += contains(by_groups.ci95, truth);
        hits[1] += contains(auc(&a, &positive).unwrap().ci95, truth);
        hits[2] += contains(test.ci95, 0.0);
        hits[3] += contains(compare(&a, &b, &positive).unwrap().ci95, 0.0);
    }
    hits.map(|n| n as f64 / ROUNDS as f64)
}

/// Of 400 intervals of 95 % the share that contains the truth has a standard deviation of 1.1 %.
#[test]
fn intervals_by_groups_contain_the_truth_and_those_that_ignore_groups_too_seldom() {
    for mixed in [false, true] {
        let [auc, auc_ignoring, difference, difference_ignoring] = coverage(mixed);
        for share in [auc, difference] {
            assert!((0.91..=0.985).contains(&share), "{mixed}: {share}");
        }
        // With groups of one class the whole effect of a group is in the error of AUC; with both
        // classes in a group most of it cancels, and there is little to ignore.
        for share in [auc_ignoring, difference_ignoring] {
            assert!(mixed || share < 0.8, "{share}");
        }
    }
}

/// Exponential scores of scales 9 and 1: AUC 9/10, recall f^{1/9} at the rate f. The average precision for a share
/// of ⅕ positives is ∫ T/(T + 4·T⁹) dT. With fewer positives or a higher AUC the logit interval covers less.
#[test]
fn intervals_near_one_contain_the_truth_and_symmetric_ones_too_seldom() {
    let (n_pos, n_neg, scale, rate) = (100_usize, 400_usize, 9.0_f64, 0.1_f64);
    let precision = (0..10_000)
        .map(|i| (f64::from(i) + 0.5) / 10_000.0)
        .map(|t| 1.0 / (1.0 + 4.0 * t.powf(scale - 1.0)))
        .sum::<f64>()
        / 10_000.0;
    let positive: Vec<bool> = (0..n_pos + n_neg).map(|i| i < n_pos).collect();
    let mut random = Pcg64::seed_from_u64(23);
    let mut hits = [0; 4];
    for _ in 0..ROUNDS {
        let scores: Vec<f64> = (positive.iter())
            .map(|&p| -(1.0 - random.random::<f64>()).ln() * if p { scale } else { 1.0 })
            .collect();
        let found = auc(&scores, &positive).unwrap();
        hits[0] += contains(found.ci95, 0.9);
        hits[1] += contains(found.share().delong(), 0.9);
        let found = average_precision_interval(&scores, &positive).unwrap();
        hits[2] += contains(found.ci95, precision);
        let found = recall_at_fpr(&scores, &positive, rate).unwrap();
        hits[3] += contains(found.ci95, rate.powf(1.0 / scale));
    }
    let [logit, delong, precision, recall] = hits.map(|n| n as f64 / ROUNDS as f64);
    assert!((0.91..=0.985).contains(&logit), "{logit}");
    assert!(delong < logit, "{delong} {logit}");
    assert!((0.91..=0.985).contains(&precision), "{precision}");
    assert!(recall >= 0.92, "{recall}");
}
