use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::metrics::{
    Auc, Cut, PlacementSums, auc, count_cells, keys_by_class, range_sums, scatter,
};
use ubauc::{Error, Result};

use super::pairs::examples;

type Part = [Vec<u64>; 2];

fn lists(keys: &Part) -> [&[u64]; 2] {
    [&keys[0], &keys[1]]
}

/// What a run over parts came to.
struct Run {
    auc: Auc,
    rounds: usize,
    /// Keys of each range.
    moved: Vec<usize>,
}

fn cut(parts: &[Part], share: u64) -> Result<Cut> {
    let count = |class: usize| parts.iter().map(|part| part[class].len() as u64).sum();
    Cut::new(share, count(0), count(1))
}

fn run(parts: &[Part], share: u64) -> Result<Run> {
    let mut cut = cut(parts, share)?;
    let mut rounds = 0;
    loop {
        let open = cut.open();
        if open.is_empty() {
            break;
        }
        let counted: Vec<_> = parts.iter().map(|p| count_cells(lists(p), &open)).collect();
        cut.refine(&counted)?;
        rounds += 1;
    }
    let ranges = cut.ranges();
    let pieces: Vec<_> = parts.iter().map(|p| scatter(lists(p), &ranges)).collect();
    let keys_of = |r: usize| pieces.iter().map(|p| lists(&p[r])).collect::<Vec<_>>();
    let moved = (0..ranges.len())
        .map(|r| keys_of(r).concat().iter().map(|keys| keys.len()).sum())
        .collect();
    let sums: Vec<PlacementSums> = (ranges.iter().enumerate())
        .map(|(r, range)| range_sums(range, &keys_of(r)))
        .collect::<Result<_>>()?;
    let auc = cut.auc(&sums)?;
    Ok(Run { auc, rounds, moved })
}

/// The rows dealt out to parts by `seed`; with few rows some parts are empty or of one class.
fn dealt(scores: &[f64], positive: &[bool], parts: usize, seed: u64) -> Vec<Part> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut rows = vec![(Vec::new(), Vec::new()); parts];
    for (&s, &p) in scores.iter().zip(positive) {
        let part = &mut rows[rng.random_range(0..parts)];
        part.0.push(s);
        part.1.push(p);
    }
    rows.iter()
        .map(|(scores, positive)| keys_by_class(scores, positive).unwrap())
        .collect()
}

fn same_bits(got: &Auc, expected: &Auc) -> bool {
    let bits = |a: &Auc| [a.auc, a.variance, a.ci95[0], a.ci95[1]].map(f64::to_bits);
    got == expected && bits(got) == bits(expected)
}

proptest! {
    // Every part clears the cells of every round.
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn parts_give_the_bits_of_the_whole(
        (scores, positive) in examples(1, 200),
        parts in 1_usize..12,
        share in prop_oneof![1_u64..20, 20_u64..300],
        seed: u64,
    ) {
        let expected = auc(&scores, &positive).unwrap();
        let got = run(&dealt(&scores, &positive, parts, seed), share).unwrap();
        prop_assert!(same_bits(&got.auc, &expected), "{:?} {expected:?}", got.auc);
        prop_assert!(got.moved.iter().all(|&keys| keys as u64 <= share));
    }

    #[test]
    fn a_share_of_one_key_needs_no_moving((scores, positive) in examples(1, 60)) {
        let got = run(&dealt(&scores, &positive, 3, 1), 1).unwrap();
        prop_assert_eq!(got.moved, Vec::<usize>::new());
        prop_assert!(same_bits(&got.auc, &auc(&scores, &positive).unwrap()));
    }
}

#[test]
fn whatever_the_scores_the_ranges_keep_to_their_share() {
    let n = 200_000;
    let smooth: fn(f64) -> f64 = |u| u;
    let cases = [
        (smooth, 1),
        (|u| (u - 0.5) * 1e3, 1),
        (|u| if u < 0.001 { -1e300 } else { 1.0 + u * 1e-9 }, 2), // far outliers
        (|u| f64::from_bits(1.0_f64.to_bits() + (u * 64.0) as u64), 2), // the last bits differ
        (|u| 1.0 / (u - 0.3), 1),
        (|u| if u < 0.5 { 0.0 } else { u }, 1), // half of all are tied
    ];
    for (case, (score, rounds)) in cases.into_iter().enumerate() {
        let mut rng = Pcg64::seed_from_u64(case as u64);
        let scores: Vec<f64> = (0..n).map(|_| score(rng.random())).collect();
        let positive: Vec<bool> = (0..n).map(|_| rng.random_range(0..5) == 0).collect();
        let expected = auc(&scores, &positive).unwrap();
        let share = n / 8;
        let got = run(&dealt(&scores, &positive, 8, 3), share as u64).unwrap();
        assert!(same_bits(&got.auc, &expected), "case {case}");
        assert_eq!(got.rounds, rounds, "case {case}");
        assert!(got.moved.iter().all(|&keys| keys <= share), "case {case}");
    }
}

#[test]
fn ties_and_single_classes_are_not_moved() {
    let n = 10_000;
    let positive: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
    let equal = vec![7.0; n];
    let few: Vec<f64> = (0..n).map(|i| (i % 7) as f64).collect();
    let apart: Vec<f64> = (0..n)
        .map(|i| i as f64 + if positive[i] { 2e4 } else { 0.0 })
        .collect();
    for scores in [equal, few, apart] {
        let got = run(&dealt(&scores, &positive, 5, 2), 2_000).unwrap();
        assert_eq!(got.moved, Vec::<usize>::new());
        assert!(same_bits(&got.auc, &auc(&scores, &positive).unwrap()));
    }
}

#[test]
fn what_auc_refuses_is_refused() {
    match keys_by_class(&[1.0, f64::NAN], &[true, false]) {
        Err(Error::NotFinite { row: 1, .. }) => {}
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        keys_by_class(&[1.0], &[]),
        Err(Error::Length { .. })
    ));
    assert!(matches!(Cut::new(9, 0, 0), Err(Error::Empty)));
    match Cut::new(9, 4, 0) {
        Err(Error::OneClass { class, n: 4 }) => assert_eq!(class, "negative"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        Cut::new(9, 1 << 40, 1),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        Cut::new(9, u64::MAX, 1),
        Err(Error::Parameter { .. })
    ));
}

#[test]
fn scores_that_change_between_rounds_are_noticed() {
    let positive: Vec<bool> = (0..300).map(|i| i % 2 == 0).collect();
    let scores: Vec<f64> = (0..300).map(|i| f64::from(i * 37 % 300)).collect();
    let mut parts = dealt(&scores, &positive, 3, 4);
    let mut cut = cut(&parts, 100).unwrap();
    let count = |parts: &[Part], open: &[[u64; 2]]| -> Vec<_> {
        parts.iter().map(|p| count_cells(lists(p), open)).collect()
    };
    let lost = parts[1][0].pop().unwrap();
    let short = count(&parts, &cut.open());
    assert!(matches!(cut.refine(&short), Err(Error::Length { .. })));
    parts[1][0].push(lost);
    while !cut.open().is_empty() {
        let counted = count(&parts, &cut.open());
        cut.refine(&counted).unwrap();
    }
    let ranges = cut.ranges();
    parts[2][1][0] = parts[2][0][0]; // another score
    let sums: Result<Vec<_>> = (ranges.iter().enumerate())
        .map(|(r, range)| {
            let pieces: Vec<_> = parts.iter().map(|p| scatter(lists(p), &ranges)).collect();
            let keys: Vec<_> = pieces.iter().map(|p| lists(&p[r])).collect();
            range_sums(range, &keys)
        })
        .collect();
    assert!(matches!(sums, Err(Error::Length { .. })));
}

#[test]
fn sums_that_cannot_be_are_refused() {
    let cut = Cut::new(100, 3, 3).unwrap();
    assert!(matches!(cut.auc(&[]), Err(Error::Length { .. })));
    let sums = |total: u128, pos: u128, neg: u128, ties: u128| {
        let text =
            format!(r#"{{"total":{total},"pos_squares":{pos},"neg_squares":{neg},"ties":{ties}}}"#);
        [serde_json::from_str::<PlacementSums>(&text).unwrap()]
    };
    // Positives 1, 2, 2; negatives 0, 2, 3. a = 2, 3, 3; b = 6, 2, 0.
    assert_eq!(cut.auc(&sums(8, 22, 40, 2)).unwrap().auc, 8.0 / 18.0);
    let most = u128::MAX;
    for wrong in [
        sums(19, 200, 200, 0),
        sums(8, most, 40, 2),
        sums(8, 22, most, 2),
        sums(8, 22, 40, 10),
        sums(8, 21, 40, 2),
        sums(most, most, most, most),
    ] {
        assert!(matches!(cut.auc(&wrong), Err(Error::Numerical { .. })));
    }
}
