//! Seeded splits of the examples: folds, a part held out, a random share.
//!
//! Folds and held-out parts are stratified: every part has its share of each class, up to one
//! example, or as nearly as groups allow that must not be divided (`split/groups.rs`). A seed gives
//! the same split on every platform and for any number of threads. Cost O(N), with G groups O(N + G log G).

mod groups;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

pub use groups::{GroupedRows, folds_of_groups, group_folds, group_hold_out, hold_out_groups};

use crate::data::hash::mix;
use crate::{Error, Result};

/// The fold of every example, from 0 to k − 1. In any two folds the number of positives, the
/// number of negatives and the number of examples each differ by at most one.
pub fn folds(positive: &[bool], k: u32, seed: u64) -> Result<Vec<u32>> {
    at_least_two(k)?;
    let classes = shuffled_classes(positive, seed);
    enough(&classes, k as usize, &format!("{k} folds"))?;
    let mut folds = vec![0; positive.len()];
    // The negatives go on in the fold where the positives ended.
    for (&i, fold) in classes.iter().flatten().zip((0..k).cycle()) {
        folds[i] = fold;
    }
    Ok(folds)
}

/// The same of many classes, given as codes: in any two folds the numbers of examples of each class differ by at most one,
/// and so do those of all examples. A class may have fewer examples than there are folds.
pub fn folds_of_classes(codes: &[u32], k: u32, seed: u64) -> Result<Vec<u32>> {
    at_least_two(k)?;
    let mut order: Vec<usize> = (0..codes.len()).collect();
    order.shuffle(&mut Pcg64::seed_from_u64(seed));
    order.sort_by_key(|&i| codes[i]);
    let mut folds = vec![0; codes.len()];
    for (i, fold) in order.into_iter().zip((0..k).cycle()) {
        folds[i] = fold;
    }
    Ok(folds)
}

/// The fold of every example of a part of the data, from 0 to k − 1, where so many positives and negatives are in the
/// parts before: of every k examples of a class in a row one goes to each fold, in an order drawn each time. Folds are
/// stratified as those of [`folds`] are, but parts need to know no more of each other than these counts.
pub fn folds_in_turn(
    positive: impl Iterator<Item = bool>,
    before: [u64; 2],
    k: u32,
    seed: u64,
) -> Vec<u32> {
    let size = u64::from(k.max(1));
    let mut numbers = before;
    // Of each class, the block that the order belongs to, and the order.
    let mut orders = [0, 1].map(|_| (u64::MAX, Vec::new()));
    let fold = |positive: bool| {
        let class = usize::from(!positive);
        let (block, place) = (numbers[class] / size, numbers[class] % size);
        numbers[class] += 1;
        let (of_block, order) = &mut orders[class];
        if *of_block != block {
            *of_block = block;
            let draw = mix(seed ^ mix(2 * block + class as u64));
            *order = (0..size as u32).collect();
            order.shuffle(&mut Pcg64::seed_from_u64(draw));
        }
        order[place as usize]
    };
    positive.map(fold).collect()
}

/// Which examples are held out: of each class the given share, rounded, but at least one, and one
/// stays.
pub fn hold_out(positive: &[bool], share: f64, seed: u64) -> Result<Vec<bool>> {
    share_between(share)?;
    let classes = shuffled_classes(positive, seed);
    enough(&classes, 2, "2 parts")?;
    let mut held_out = vec![false; positive.len()];
    for class in &classes {
        let take = (share * class.len() as f64).round() as usize;
        for &i in &class[..take.clamp(1, class.len() - 1)] {
            held_out[i] = true;
        }
    }
    Ok(held_out)
}

/// Which of n examples are in a random subset of round(share · n), at least one. Every subset of
/// that size is equally likely; classes are not looked at.
pub fn subset(n: usize, share: f64, seed: u64) -> Result<Vec<bool>> {
    if !(share > 0.0 && share <= 1.0) {
        return Err(Error::Parameter {
            name: "share of the examples",
            value: share.to_string(),
            must: "above 0 and at most 1",
        });
    }
    let mut random = Pcg64::seed_from_u64(seed);
    let mut take = ((share * n as f64).round() as usize).clamp(1.min(n), n) as u64;
    // Selection sampling: an example comes with probability (still to take) / (still to see).
    let chosen = (1..=n as u64).rev().map(|left| {
        let chosen = random.random_range(0..left) < take;
        take -= u64::from(chosen);
        chosen
    });
    Ok(chosen.collect())
}

fn at_least_two(folds: u32) -> Result<()> {
    if folds < 2 {
        return Err(Error::Parameter {
            name: "folds",
            value: folds.to_string(),
            must: "at least 2",
        });
    }
    Ok(())
}

fn share_between(share: f64) -> Result<()> {
    if !(share > 0.0 && share < 1.0) {
        return Err(Error::Parameter {
            name: "share held out",
            value: share.to_string(),
            must: "between 0 and 1",
        });
    }
    Ok(())
}

/// The positive and the negative examples, each in random order.
fn shuffled_classes(positive: &[bool], seed: u64) -> [Vec<usize>; 2] {
    let mut random = Pcg64::seed_from_u64(seed);
    [true, false].map(|class| {
        let mut members: Vec<usize> = (0..positive.len())
            .filter(|&i| positive[i] == class)
            .collect();
        members.shuffle(&mut random);
        members
    })
}

fn enough(classes: &[Vec<usize>; 2], parts: usize, what: &str) -> Result<()> {
    for (class, name) in classes.iter().zip(["positive", "negative"]) {
        if class.len() < parts {
            let n = class.len();
            return Err(Error::Classes {
                what: format!("{n} {name} examples are too few for {what} with both classes"),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn count<T: PartialEq>(of: &[T], value: &T) -> usize {
        of.iter().filter(|x| *x == value).count()
    }

    proptest! {
        #[test]
        fn folds_in_turn_are_stratified_and_those_of_parts(
            positive in prop::collection::vec(any::<bool>(), 0..200), k in 1u32..6, seed: u64, cut in 0usize..200,
        ) {
            let folds = folds_in_turn(positive.iter().copied(), [0; 2], k, seed);
            for class in [true, false] {
                let of_class: Vec<u32> =
                    positive.iter().zip(&folds).filter(|(p, _)| **p == class).map(|(_, f)| *f).collect();
                let sizes: Vec<usize> = (0..k).map(|fold| count(&of_class, &fold)).collect();
                prop_assert_eq!(sizes.iter().sum::<usize>(), of_class.len());
                let most = sizes.iter().max().unwrap();
                prop_assert!(sizes.iter().all(|n| n + 1 >= *most), "{:?}", sizes);
            }
            let (first, second) = positive.split_at(cut.min(positive.len()));
            let n = count(first, &true);
            let before = [n as u64, (first.len() - n) as u64];
            let mut parts = folds_in_turn(first.iter().copied(), [0; 2], k, seed);
            parts.extend(folds_in_turn(second.iter().copied(), before, k, seed));
            prop_assert_eq!(folds, parts);
        }

        #[test]
        fn folds_have_equal_parts_of_each_class(
            positive in prop::collection::vec(any::<bool>(), 0..200), k in 2u32..12, seed: u64,
        ) {
            let n_pos = count(&positive, &true);
            let fewest = n_pos.min(positive.len() - n_pos);
            let folds = match folds(&positive, k, seed) {
                Ok(folds) => folds,
                Err(Error::Classes { .. }) => {
                    prop_assert!(fewest < k as usize);
                    return Ok(());
                }
                Err(other) => panic!("{other}"),
            };
            prop_assert!(fewest >= k as usize);
            let of_class = |class: bool| -> Vec<u32> {
                let pairs = folds.iter().zip(&positive);
                pairs.filter(|(_, p)| **p == class).map(|(f, _)| *f).collect()
            };
            for group in [folds.clone(), of_class(true), of_class(false)] {
                let sizes: Vec<usize> = (0..k).map(|fold| count(&group, &fold)).collect();
                prop_assert_eq!(sizes.iter().sum::<usize>(), group.len());
                prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            }
            prop_assert_eq!(&folds, &super::folds(&positive, k, seed).unwrap());
        }

        #[test]
        fn folds_have_equal_parts_of_many_classes(
            codes in prop::collection::vec(0u32..6, 0..200), k in 2u32..12, seed: u64,
        ) {
            let folds = folds_of_classes(&codes, k, seed).unwrap();
            let of_class = |class: u32| -> Vec<u32> {
                let pairs = folds.iter().zip(&codes);
                pairs.filter(|(_, c)| **c == class).map(|(f, _)| *f).collect()
            };
            for group in (0..6).map(of_class).chain([folds.clone()]) {
                let sizes: Vec<usize> = (0..k).map(|fold| count(&group, &fold)).collect();
                prop_assert_eq!(sizes.iter().sum::<usize>(), group.len());
                prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            }
        }

        #[test]
        fn both_parts_have_both_classes(
            positive in prop::collection::vec(any::<bool>(), 0..200), share in 0.001..0.999f64, seed: u64,
        ) {
            let n_pos = count(&positive, &true);
            let sizes = [n_pos, positive.len() - n_pos];
            let Ok(out) = hold_out(&positive, share, seed) else {
                prop_assert!(sizes.iter().any(|&size| size < 2));
                return Ok(());
            };
            for (class, size) in [true, false].into_iter().zip(sizes) {
                let pairs = || positive.iter().zip(&out);
                let held = pairs().filter(|(p, out)| **p == class && **out).count();
                prop_assert!(held >= 1 && held < size);
                prop_assert!((held as f64 - share * size as f64).abs() <= 1.0);
            }
        }

        #[test]
        fn a_subset_has_its_size(n in 0usize..300, share in 0.001..=1.0f64, seed: u64) {
            let chosen = subset(n, share, seed).unwrap();
            prop_assert_eq!(chosen.len(), n);
            let expected = ((share * n as f64).round() as usize).clamp(1.min(n), n);
            prop_assert_eq!(count(&chosen, &true), expected);
        }
    }

    #[test]
    fn every_example_is_chosen_equally_often() {
        let mut times = [0u32; 10];
        for seed in 0..4000 {
            for (times, chosen) in times.iter_mut().zip(subset(10, 0.8, seed).unwrap()) {
                *times += u32::from(chosen);
            }
        }
        // 3200 expected, standard deviation √(4000 · 0.8 · 0.2) ≈ 25.
        assert!(times.iter().all(|t| t.abs_diff(3200) < 130), "{times:?}");
    }

    #[test]
    fn another_seed_is_another_split() {
        let positive: Vec<bool> = (0..100).map(|i| i % 3 == 0).collect();
        assert_ne!(
            folds(&positive, 5, 1).unwrap(),
            folds(&positive, 5, 2).unwrap()
        );
        assert_ne!(subset(100, 0.8, 1).unwrap(), subset(100, 0.8, 2).unwrap());
        let held_out = |seed| hold_out(&positive, 0.3, seed).unwrap();
        assert_ne!(held_out(1), held_out(2));
    }

    #[test]
    fn what_cannot_be_split_is_refused() {
        let positive = [true, false, false, false, true];
        let error = folds(&positive, 3, 1).unwrap_err();
        assert!(error.to_string().contains("2 positive"), "{error}");
        for k in [0, 1] {
            assert!(matches!(
                folds(&positive, k, 1),
                Err(Error::Parameter { .. })
            ));
            assert!(folds_of_classes(&[0, 1, 2], k, 1).is_err());
        }
        for share in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(hold_out(&positive, share, 1).is_err());
            assert!(share == 1.0 || subset(9, share, 1).is_err());
        }
        assert!(hold_out(&[true, false, false], 0.5, 1).is_err());
    }
}
