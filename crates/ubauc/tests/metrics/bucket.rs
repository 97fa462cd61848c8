use proptest::prelude::*;
use ubauc::Error;
use ubauc::metrics::{BucketAuc, auc};

use super::pairs::examples;

fn counted(bits: u32, scores: &[f64], positive: &[bool]) -> BucketAuc {
    let mut bucket = BucketAuc::new(bits).unwrap();
    for (&s, &p) in scores.iter().zip(positive) {
        bucket.add(s, p).unwrap();
    }
    bucket
}

proptest! {
    #[test]
    fn the_bound_contains_the_exact_auc((scores, positive) in examples(1, 150), bits in 1_u32..21) {
        let exact = auc(&scores, &positive).unwrap();
        let got = counted(bits, &scores, &positive).estimate().unwrap();
        prop_assert!(got.lower <= exact.auc && exact.auc <= got.upper);
        // Three roundings of numbers up to 1.
        prop_assert!((exact.auc - got.auc).abs() <= got.error_bound + 1e-15);
        prop_assert!((got.upper - got.lower - 2.0 * got.error_bound).abs() < 1e-15);
        prop_assert_eq!((got.n_pos, got.n_neg), (exact.n_pos as u64, exact.n_neg as u64));
    }

    #[test]
    fn merging_in_any_order_is_counting_together(
        (scores, positive) in examples(1, 90),
        bits in 1_u32..15,
        cuts in (0_usize..90, 0_usize..90),
    ) {
        let n = scores.len();
        let (low, high) = (cuts.0.min(cuts.1).min(n), cuts.0.max(cuts.1).min(n));
        let parts = [(0, low), (low, high), (high, n)]
            .map(|(from, to)| counted(bits, &scores[from..to], &positive[from..to]));
        let together = counted(bits, &scores, &positive);
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]] {
            let mut merged = BucketAuc::new(bits).unwrap();
            for part in order {
                merged.merge(&parts[part]).unwrap();
            }
            prop_assert_eq!(&merged, &together);
        }
    }

    #[test]
    fn saved_counts_are_the_loaded_ones((scores, positive) in examples(1, 60), bits in 1_u32..13) {
        let bucket = counted(bits, &scores, &positive);
        let text = serde_json::to_string(&bucket).unwrap();
        prop_assert_eq!(serde_json::from_str::<BucketAuc>(&text).unwrap(), bucket);
    }
}

#[test]
fn scores_of_one_sign_and_power_of_two_share_a_bucket_of_twelve_bits() {
    let bucket = counted(12, &[1.0, 1.9, 1.5, -3.0], &[true, false, true, false]);
    let got = bucket.estimate().unwrap();
    assert_eq!(
        (got.lower, got.auc, got.upper, got.error_bound),
        (0.5, 0.75, 1.0, 0.25)
    );
}

#[test]
fn different_numbers_of_buckets_are_not_merged() {
    let mut a = BucketAuc::new(10).unwrap();
    assert!(matches!(
        a.merge(&BucketAuc::new(11).unwrap()),
        Err(Error::Parameter { .. })
    ));
}

#[test]
fn what_cannot_be_counted_is_refused() {
    assert!(matches!(BucketAuc::new(0), Err(Error::Parameter { .. })));
    assert!(matches!(BucketAuc::new(25), Err(Error::Parameter { .. })));
    let mut bucket = BucketAuc::new(8).unwrap();
    assert!(matches!(bucket.estimate(), Err(Error::Empty)));
    bucket.add(f64::INFINITY, true).unwrap();
    assert!(matches!(
        bucket.add(f64::NAN, true),
        Err(Error::NotFinite { row: 1, .. })
    ));
    match bucket.estimate() {
        Err(Error::OneClass { class, n: 1 }) => assert_eq!(class, "positive"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn damaged_checkpoints_are_refused() {
    for text in [
        r#"{"bits":99,"buckets":[]}"#,
        r#"{"bits":2,"buckets":[[4,1,1]]}"#,
        r#"{"bits":2,"buckets":[[0,18446744073709551615,1]]}"#,
        r#"{"bits":2,"buckets":[[0,1,-1]]}"#,
        r#"{"bits":2}"#,
    ] {
        assert!(serde_json::from_str::<BucketAuc>(text).is_err(), "{text}");
    }
}
