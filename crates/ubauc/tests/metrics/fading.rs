use proptest::prelude::*;
use ubauc::Error;
use ubauc::metrics::{BucketAuc, FadingAuc, weighted_auc};

use super::pairs::{examples, won};

fn counted(bits: u32, half_life: f64, scores: &[f64], positive: &[bool]) -> FadingAuc {
    let mut fading = FadingAuc::new(bits, half_life).unwrap();
    for (&s, &p) in scores.iter().zip(positive) {
        fading.add(s, p).unwrap();
    }
    fading
}

/// Pair by pair, with the weights of the definition: AUC, P and Q.
fn naive(half_life: f64, scores: &[f64], positive: &[bool]) -> [f64; 3] {
    let n = scores.len();
    let weight = |s: usize| 0.5_f64.powf((n - 1 - s) as f64 / half_life);
    let of = |class: bool| (0..n).filter(move |&s| positive[s] == class);
    let (mut wins, mut pairs) = (0.0, 0.0);
    for i in of(true) {
        for j in of(false) {
            wins += weight(i) * weight(j) * won(scores[i], scores[j]);
            pairs += weight(i) * weight(j);
        }
    }
    [
        wins / pairs,
        of(true).map(weight).sum(),
        of(false).map(weight).sum(),
    ]
}

proptest! {
    #[test]
    fn the_bound_contains_the_auc_of_the_definition(
        (scores, positive) in examples(1, 150),
        bits in 1_u32..21,
        half_life in prop_oneof![Just(1.0), 1.0..10.0f64, 1.0..1000.0f64],
    ) {
        let [auc, n_pos, n_neg] = naive(half_life, &scores, &positive);
        let got = counted(bits, half_life, &scores, &positive).estimate().unwrap();
        prop_assert!(got.lower <= auc + 1e-12 && auc <= got.upper + 1e-12, "{got:?} {auc}");
        prop_assert!((auc - got.auc).abs() <= got.error_bound + 1e-12);
        prop_assert!((got.upper - got.lower - 2.0 * got.error_bound).abs() < 1e-12);
        prop_assert!((got.n_pos - n_pos).abs() <= 1e-12 * n_pos);
        prop_assert!((got.n_neg - n_neg).abs() <= 1e-12 * n_neg);
        // Another way to it, and as exact as the buckets allow.
        let n = scores.len();
        let weights: Vec<f64> = (0..n)
            .map(|s| 0.5_f64.powf((n - 1 - s) as f64 / half_life))
            .collect();
        let other = weighted_auc(&scores, &positive, &weights).unwrap().auc;
        prop_assert!((other - auc).abs() < 1e-12);
    }

    #[test]
    fn a_half_life_without_end_counts_all_alike((scores, positive) in examples(1, 150), bits in 1_u32..21) {
        let got = counted(bits, 1e300, &scores, &positive).estimate().unwrap();
        let mut plain = BucketAuc::new(bits).unwrap();
        for (&s, &p) in scores.iter().zip(&positive) {
            plain.add(s, p).unwrap();
        }
        let plain = plain.estimate().unwrap();
        prop_assert_eq!([got.auc, got.error_bound, got.lower], [plain.auc, plain.error_bound, plain.lower]);
    }

    #[test]
    fn what_is_saved_goes_on_with_the_same_bits(
        (scores, positive) in examples(1, 90),
        half_life in 1.0..50.0f64,
    ) {
        let mut one = FadingAuc::new(14, half_life).unwrap();
        let mut other = one.clone();
        for (&s, &p) in scores.iter().zip(&positive) {
            let text = serde_json::to_string(&other).unwrap();
            other = serde_json::from_str(&text).unwrap();
            one.add(s, p).unwrap();
            other.add(s, p).unwrap();
        }
        prop_assert_eq!(one, other);
    }
}

#[test]
fn long_streams_are_rescaled_and_old_examples_vanish() {
    let scores: Vec<f64> = (0..3_000_u32).map(|i| f64::from(i * 37 % 101)).collect();
    let positive: Vec<bool> = (0..3_000).map(|i| i % 3 == 0).collect();
    let fading = counted(20, 2.0, &scores, &positive);
    let [auc, ..] = naive(2.0, &scores[2_800..], &positive[2_800..]);
    let got = fading.estimate().unwrap();
    assert!((got.auc - auc).abs() <= got.error_bound + 1e-12);
    assert!((got.n_pos + got.n_neg - 1.0 / (1.0 - 0.5_f64.sqrt())).abs() < 1e-12);
}

#[test]
fn what_cannot_be_is_refused() {
    assert!(FadingAuc::new(0, 5.0).is_err() && FadingAuc::new(25, 5.0).is_err());
    assert!(FadingAuc::new(12, 0.0).is_err());
    let mut fading = FadingAuc::new(12, 5.0).unwrap();
    assert!(matches!(
        fading.add(f64::NAN, true),
        Err(Error::NotFinite { row: 0, .. })
    ));
    fading.add(1.0, true).unwrap();
    assert!(matches!(fading.estimate(), Err(Error::OneClass { .. })));
    let text = serde_json::to_string(&fading).unwrap();
    for (from, to) in [("\"bits\":12", "\"bits\":2"), ("1.0]]", "-1.0]]")] {
        let forged = text.replace(from, to);
        assert_ne!(forged, text);
        assert!(
            serde_json::from_str::<FadingAuc>(&forged).is_err(),
            "{forged}"
        );
    }
}
