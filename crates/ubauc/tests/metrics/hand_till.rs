use proptest::prelude::*;
use ubauc::Error;
use ubauc::metrics::{auc, hand_till, weighted_hand_till};

use super::pairs::{score, won};

/// A(i|j), pair by pair.
fn direct(scores: &[f64], c: usize, classes: &[usize], i: usize, j: usize) -> f64 {
    let of = |class: usize| {
        let rows = (0..classes.len()).filter(move |&r| classes[r] == class);
        rows.map(move |r| scores[r * c + i]).collect::<Vec<f64>>()
    };
    let (own, other) = (of(i), of(j));
    let wins: f64 = own
        .iter()
        .flat_map(|&a| other.iter().map(move |&b| won(a, b)))
        .sum();
    wins / (own.len() * other.len()) as f64
}

/// Number of classes, scores, class of each example; every class is there.
fn table() -> impl Strategy<Value = (usize, Vec<f64>, Vec<usize>)> {
    (2_usize..6, 0_usize..40).prop_flat_map(|(c, more)| {
        let n = c + more;
        let classes = prop::collection::vec(0..c, more).prop_map(move |mut classes| {
            classes.extend(0..c);
            classes
        });
        (Just(c), prop::collection::vec(score(), n * c), classes)
    })
}

proptest! {
    #[test]
    fn hand_till_is_the_mean_over_pairs_of_classes((c, scores, classes) in table()) {
        let got = hand_till(&scores, c, &classes).unwrap();
        let (mut sum, mut weighted, mut weights, mut pairs) = (0.0, 0.0, 0.0, 0);
        for i in 0..c {
            for j in i + 1..c {
                let (a_i, a_j) =
                    (direct(&scores, c, &classes, i, j), direct(&scores, c, &classes, j, i));
                prop_assert_eq!((got.pairs[pairs].i, got.pairs[pairs].j), (i, j));
                prop_assert!((got.pairs[pairs].auc_i - a_i).abs() < 1e-15);
                prop_assert!((got.pairs[pairs].auc_j - a_j).abs() < 1e-15);
                let size = classes.iter().filter(|&&k| k == i || k == j).count() as f64;
                sum += (a_i + a_j) / 2.0;
                weighted += size * (a_i + a_j) / 2.0;
                weights += size;
                pairs += 1;
            }
        }
        // Sums of at most ten numbers up to 1, or up to the number of examples.
        prop_assert!((got.m - sum / pairs as f64).abs() < 1e-14);
        prop_assert!((got.weighted - weighted / weights).abs() < 1e-14);
    }

    #[test]
    fn two_classes_with_complementary_scores_give_auc(
        p in prop::collection::vec(0..64_u32, 2..50)
    ) {
        // Sixty-fourths, so that 1 − p is exact and ties stay ties.
        let scores: Vec<f64> =
            p.iter().flat_map(|&p| [1.0 - f64::from(p) / 64.0, f64::from(p) / 64.0]).collect();
        let classes: Vec<usize> = (0..p.len()).map(|i| i % 2).collect();
        let positive: Vec<bool> = classes.iter().map(|&k| k == 1).collect();
        let p: Vec<f64> = p.iter().map(|&p| f64::from(p)).collect();
        let (got, expected) = (hand_till(&scores, 2, &classes), auc(&p, &positive));
        prop_assert_eq!(got.unwrap().m, expected.unwrap().auc);
    }
}

#[test]
fn a_class_without_examples_is_named() {
    let got = hand_till(&[0.0; 6], 3, &[0, 2]);
    match got {
        Err(Error::Classes { what }) => assert!(what.contains("class 1"), "{what}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn tables_that_do_not_fit_are_refused() {
    assert!(matches!(hand_till(&[], 2, &[]), Err(Error::Empty)));
    assert!(matches!(
        hand_till(&[0.0; 2], 1, &[0, 0]),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        hand_till(&[0.0; 2], usize::MAX, &[0, 1]),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        hand_till(&[0.0; 5], 3, &[0, 1]),
        Err(Error::Length { expected: 6, .. })
    ));
    assert!(matches!(
        hand_till(&[0.0; 4], 2, &[0, 2]),
        Err(Error::Parameter { .. })
    ));
    let nan = hand_till(&[0.0, 0.0, 0.0, f64::NAN], 2, &[0, 1]);
    assert!(matches!(nan, Err(Error::NotFinite { row: 1, .. })));
}

proptest! {
    /// An example of weight k is k examples.
    #[test]
    fn weights_count_as_repetitions((c, scores, classes) in table(), seed in 0_usize..100) {
        let times: Vec<usize> = (0..classes.len()).map(|r| (r * 7 + seed) % 4).collect();
        let all: Vec<usize> = (0..classes.len()).flat_map(|r| std::iter::repeat_n(r, times[r])).collect();
        prop_assume!((0..c).all(|class| all.iter().any(|r| classes[*r] == class)));
        let repeated: Vec<f64> = all.iter().flat_map(|r| scores[r * c..(r + 1) * c].to_vec()).collect();
        let of_repeated: Vec<usize> = all.iter().map(|r| classes[*r]).collect();
        let expected = hand_till(&repeated, c, &of_repeated).unwrap();
        let weights: Vec<f64> = times.iter().map(|k| *k as f64).collect();
        let got = weighted_hand_till(&scores, c, &classes, Some(&weights)).unwrap();
        prop_assert!((got.m - expected.m).abs() < 1e-12);
        prop_assert!((got.weighted - expected.weighted).abs() < 1e-12);
        for (a, b) in got.pairs.iter().zip(&expected.pairs) {
            prop_assert!((a.auc_i - b.auc_i).abs() < 1e-12 && (a.auc_j - b.auc_j).abs() < 1e-12);
        }
        let few = weighted_hand_till(&scores, c, &classes, Some(&weights[1..]));
        let refused = matches!(few, Err(Error::Length { .. }));
        prop_assert!(refused);
    }
}

#[test]
fn weights_that_mean_nothing_are_refused_by_their_row() {
    let scores = [0.8, 0.1, 0.1, 0.1, 0.7, 0.2, 0.1, 0.8, 0.1, 0.2, 0.3, 0.4];
    let classes = [0, 1, 2, 2];
    let of = |weights: [f64; 4]| weighted_hand_till(&scores, 3, &classes, Some(&weights));
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        let refused = of([1.0, 1.0, 1.0, wrong]).unwrap_err();
        assert!(
            matches!(refused, Error::NotFinite { row: 3, .. }),
            "{refused}"
        );
    }
    let refused = of([1.0, 0.0, 1.0, 1.0]).unwrap_err();
    assert_eq!(refused.to_string(), "class 1 has no sample weight");
    assert!(of([0.0; 4]).is_err());
    // One without weight does not count, and no unit of weight is too large.
    let small = of([1.0, 2.0, 1.0, 0.0]).unwrap();
    let large = of([4e307, 8e307, 4e307, 0.0]).unwrap();
    assert_eq!((small.m, small.weighted), (large.m, large.weighted));
}
