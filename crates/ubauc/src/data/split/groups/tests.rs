use proptest::prelude::*;

use super::*;

type Rows = (Vec<bool>, Vec<u32>);

/// Any rows in any groups.
fn any_rows() -> impl Strategy<Value = Rows> {
    (0..150_usize, 1..60_u32).prop_flat_map(|(n, groups)| {
        let groups = prop::collection::vec(0..groups, n);
        (prop::collection::vec(any::<bool>(), n), groups)
    })
}

/// Positives and negatives of each part.
fn sizes(positive: &[bool], part: &[u32], k: usize) -> Vec<[usize; 2]> {
    let mut sizes = vec![[0; 2]; k];
    for (&p, &f) in positive.iter().zip(part) {
        sizes[f as usize][usize::from(!p)] += 1;
    }
    sizes
}

fn groups_with(positive: &[bool], groups: &[u32], class: bool) -> usize {
    let rows = groups.iter().zip(positive).filter(|x| *x.1 == class);
    let mut names: Vec<u32> = rows.map(|x| *x.0).collect();
    names.sort();
    names.dedup();
    names.len()
}

/// Every row has its part, and no group is in two.
fn together(groups: &[u32], part: &[u32]) -> bool {
    let rows = || groups.iter().zip(part);
    groups.len() == part.len() && rows().all(|a| rows().all(|b| a.0 != b.0 || a.1 == b.1))
}

proptest! {
    #[test]
    fn groups_stay_together_and_every_fold_has_both_classes(
        (positive, groups) in any_rows(), k in 2..8_u32, seed: u64,
    ) {
        let fewest = [true, false].map(|class| groups_with(&positive, &groups, class));
        let possible = fewest.iter().all(|&n| n >= k as usize);
        let folds = match group_folds(&positive, &groups, k, seed) {
            Ok(folds) => folds,
            Err(Error::Classes { .. }) => {
                prop_assert!(!possible);
                return Ok(());
            }
            Err(other) => panic!("{other}"),
        };
        prop_assert!(possible);
        prop_assert!(together(&groups, &folds));
        let sizes = sizes(&positive, &folds, k as usize);
        prop_assert!(sizes.iter().all(|n| n[0] > 0 && n[1] > 0), "{sizes:?}");
        prop_assert_eq!(sizes.iter().flatten().sum::<usize>(), positive.len());
        // Other numbers for the same groups change nothing.
        let renamed: Vec<u32> = groups.iter().map(|g| u32::MAX - 77 * g).collect();
        prop_assert_eq!(folds, group_folds(&positive, &renamed, k, seed).unwrap());
    }

    #[test]
    fn groups_stay_together_and_both_parts_have_both_classes(
        (positive, groups) in any_rows(), share in 0.001..0.999_f64, seed: u64,
    ) {
        let fewest = [true, false].map(|class| groups_with(&positive, &groups, class));
        let Ok(out) = group_hold_out(&positive, &groups, share, seed) else {
            prop_assert!(fewest.iter().any(|&n| n < 2));
            return Ok(());
        };
        let part: Vec<u32> = out.iter().map(|&out| u32::from(out)).collect();
        prop_assert!(together(&groups, &part));
        let sizes = sizes(&positive, &part, 2);
        prop_assert!(sizes.iter().all(|n| n[0] > 0 && n[1] > 0), "{sizes:?}");
    }

    /// The inequality of the module, for groups of 1 to 4 rows, more than 20 to a fold.
    #[test]
    fn shares_are_near_their_targets_where_groups_are_many_and_small(
        small in prop::collection::vec(prop::collection::vec(prop::bool::weighted(0.3), 1..5), 160..300),
        k in 2..6_u32, share in 0.1..0.9_f64, seed: u64,
    ) {
        let positive: Vec<bool> = small.concat();
        let groups: Vec<u32> = (small.iter().zip(0..))
            .flat_map(|(rows, g)| std::iter::repeat_n(g, rows.len()))
            .collect();
        let all = sizes(&positive, &vec![0; positive.len()], 1)[0].map(|n| n as f64);
        let squares: f64 = (small.iter())
            .map(|rows| {
                let pos = rows.iter().filter(|&&p| p).count();
                (pos as f64 / all[0]).powi(2) + ((rows.len() - pos) as f64 / all[1]).powi(2)
            })
            .sum();
        let distance = |part: &[u32], targets: &[f64]| -> f64 {
            (sizes(&positive, part, targets.len()).iter().zip(targets))
                .flat_map(|(n, t)| [0, 1].map(|c| (n[c] as f64 / all[c] - t).powi(2) / t))
                .sum()
        };
        let folds = group_folds(&positive, &groups, k, seed).unwrap();
        let found = distance(&folds, &vec![1.0 / f64::from(k); k as usize]);
        let bound = f64::from(k - 1) * squares;
        prop_assert!(found <= bound, "{found} {bound}");
        // The inequality is for the worst case. Here a fold has its share up to two groups or so.
        for n in sizes(&positive, &folds, k as usize) {
            for c in [0, 1] {
                let even = all[c] / f64::from(k);
                prop_assert!((n[c] as f64 - even).abs() <= 6.0, "{n:?} of {all:?}");
            }
        }

        let out = group_hold_out(&positive, &groups, share, seed).unwrap();
        let part: Vec<u32> = out.iter().map(|&out| u32::from(out)).collect();
        let found = distance(&part, &[1.0 - share, share]);
        prop_assert!(found <= squares, "{found} {squares}");
    }

    /// Against all ways of giving each of at most 6 groups to one of at most 3 parts.
    #[test]
    fn what_can_be_met_is_what_some_assignment_meets(
        parts in prop::collection::vec(any::<[bool; 2]>(), 1..4),
        groups in prop::collection::vec(any::<[bool; 2]>(), 0..6),
    ) {
        let count = |list: &[[bool; 2]]| {
            let mut counts = [0; 3];
            list.iter().filter_map(|&x| place(x)).for_each(|at| counts[at] += 1);
            counts
        };
        let lacking = Lacking { parts: count(&parts), groups: count(&groups) };
        let ways = parts.len().pow(groups.len() as u32);
        let meets = |way: usize| {
            let mut lacks = parts.clone();
            let mut way = way;
            for has in &groups {
                let part = &mut lacks[way % parts.len()];
                *part = [part[0] && !has[0], part[1] && !has[1]];
                way /= parts.len();
            }
            lacks.iter().all(|lacks| !lacks[0] && !lacks[1])
        };
        prop_assert_eq!(lacking.can_be_met(), (0..ways).any(meets));
    }
}

#[test]
fn large_groups_come_first_and_small_ones_even_out() {
    // One group of 40 + 40, then 60 + 60 rows of their own: 50 + 50 in each fold.
    let positive: Vec<bool> = (0..200).map(|i| i % 2 == 0).collect();
    let groups: Vec<u32> = (0..200).map(|i| if i < 80 { 0 } else { i }).collect();
    for seed in 0..20 {
        let folds = group_folds(&positive, &groups, 2, seed).unwrap();
        assert_eq!(sizes(&positive, &folds, 2), [[50, 50], [50, 50]]);
    }
}

#[test]
fn groups_of_one_row_are_split_as_rows_are() {
    let positive: Vec<bool> = (0..103).map(|i| i % 4 == 0).collect();
    let groups: Vec<u32> = (0..103).collect();
    let folds = group_folds(&positive, &groups, 5, 3).unwrap();
    for class in [0, 1] {
        let n = sizes(&positive, &folds, 5)
            .iter()
            .map(|n| n[class])
            .collect::<Vec<_>>();
        assert!(
            n.iter().max().unwrap() - n.iter().min().unwrap() <= 1,
            "{n:?}"
        );
    }
    let out = group_hold_out(&positive, &groups, 0.25, 3).unwrap();
    let out: Vec<u32> = out.iter().map(|&out| u32::from(out)).collect();
    let [held_pos, held_neg] = sizes(&positive, &out, 2)[1];
    // A quarter of 26 and of 77.
    assert!((6..=7).contains(&held_pos) && (19..=20).contains(&held_neg));
}

#[test]
fn every_group_is_held_out_equally_often_and_another_seed_is_another_split() {
    let positive: Vec<bool> = (0..60).map(|i| i % 3 == 0).collect();
    let groups: Vec<u32> = (0..60).map(|i| i / 3).collect(); // 20 groups alike
    let mut times = [0_u32; 20];
    for seed in 0..2000 {
        let out = group_hold_out(&positive, &groups, 0.25, seed).unwrap();
        for (times, out) in times.iter_mut().zip(out.chunks(3)) {
            *times += u32::from(out[0]);
        }
    }
    // 500 expected, standard deviation √(2000 · 0.25 · 0.75) ≈ 19.
    assert!(times.iter().all(|t| t.abs_diff(500) < 100), "{times:?}");
    let folds = |seed| group_folds(&positive, &groups, 4, seed).unwrap();
    assert_ne!(folds(1), folds(2));
    // Groups of different sizes, too, are not always in the same company.
    let sizes: Vec<u32> = (0..20).flat_map(|g| vec![g; 3 + g as usize]).collect();
    let positive: Vec<bool> = (0..sizes.len()).map(|i| i % 3 == 0).collect();
    let folds = |seed| group_folds(&positive, &sizes, 4, seed).unwrap();
    assert!((2..10).any(|seed| folds(1) != folds(seed)));
}

#[test]
fn a_split_is_the_same_everywhere() {
    let positive: Vec<bool> = (0..12).map(|i| i % 3 == 0).collect();
    let groups = [7, 7, 7, 7, 2, 2, 2, 2, 2, 4, 9, 9];
    // Two positives and four negatives in each.
    let expected = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0];
    assert_eq!(group_folds(&positive, &groups, 2, 5).unwrap(), expected);
}

#[test]
fn what_cannot_be_split_is_refused() {
    let positive = [true, true, true, false, false, false];
    let message = |groups: &[u32], k| {
        group_folds(&positive, groups, k, 1)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message(&[1, 1, 2, 2, 3, 4], 3),
        "2 groups have positive examples: too few for 3 folds with both classes"
    );
    assert_eq!(
        message(&[1, 2, 3, 4, 4, 4], 2),
        "1 group has negative examples: too few for 2 folds with both classes"
    );
    assert_eq!(message(&[1, 2], 2), "groups: expected 6, got 2");
    for k in [0, 1] {
        let refused = group_folds(&positive, &[1, 2, 3, 4, 5, 6], k, 1);
        assert!(matches!(refused, Err(Error::Parameter { .. })));
    }
    let hold_out = |groups: &[u32], share| group_hold_out(&positive, groups, share, 1);
    for share in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            hold_out(&[1, 2, 3, 4, 5, 6], share),
            Err(Error::Parameter { .. })
        ));
    }
    let refused = hold_out(&[1; 6], 0.5).unwrap_err().to_string();
    assert!(refused.contains("too few for 2 parts"), "{refused}");
    assert!(group_folds(&[], &[], 2, 1).is_err());
    assert!(group_folds(&[true; 4], &[1, 2, 3, 4], 2, 1).is_err());
}
