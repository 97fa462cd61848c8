//! Radix sort on the bits that decide.
//!
//! n keys that vary from bit h downwards differ, nearly all of them, by the 22 bits from h
//! down (33 when n is large). So:
//!
//!   1. find h: one pass that collects the bits in which not all keys agree;
//!   2. sort by those 22 or 33 bits, least significant digit first, 11 bits a digit. All
//!      histograms come from one pass, and a digit that is the same in every key is skipped;
//!   3. what still agrees in all those bits lies in runs, mostly of one or two keys. Sort each run:
//!      a long one by this same function, on the bits below.
//!
//! Equal keys cost no more than a look: their run varies in no bit. A long run varies in fewer bits
//! than its parent by at least 22, so the depth is at most 3, and time is O(n) for any input.

const DIGIT_BITS: u32 = 11;
const BINS: usize = 1 << DIGIT_BITS;
const MAX_DIGITS: usize = 3;
/// Up to here the comparison sort is faster than clearing histograms.
const SMALL: usize = 384;
/// Up to here two digits leave hardly any runs.
const TWO_DIGITS: usize = 1 << 17;

/// Sorts by `key`; `scratch` grows to the length of `items`. Not stable.
pub(crate) fn sort_by_key<T, K>(items: &mut [T], scratch: &mut Vec<T>, key: K)
where
    T: Copy,
    K: Fn(&T) -> u64 + Copy,
{
    if items.len() <= SMALL {
        items.sort_unstable_by_key(key);
        return;
    }
    let first = key(&items[0]);
    let varying = items
        .iter()
        .fold(0, |bits, item| bits | (key(item) ^ first));
    let height = u64::BITS - varying.leading_zeros();
    let most = if items.len() <= TWO_DIGITS {
        2
    } else {
        MAX_DIGITS
    };
    let digits = most.min(height.div_ceil(DIGIT_BITS) as usize);
    let low = height.saturating_sub(digits as u32 * DIGIT_BITS);
    if digits == 0 {
        return;
    }
    if scratch.len() < items.len() {
        scratch.resize(items.len(), items[0]);
    }
    sort_digits(items, &mut scratch[..], digits, low, key);
    if low > 0 {
        for run in items.chunk_by_mut(|a, b| key(a) >> low == key(b) >> low) {
            if run.len() > 1 {
                sort_by_key(run, scratch, key);
            }
        }
    }
}

/// Sorts by the `digits` digits from bit `low` upwards, stably.
fn sort_digits<T, K>(items: &mut [T], scratch: &mut [T], digits: usize, low: u32, key: K)
where
    T: Copy,
    K: Fn(&T) -> u64,
{
    let n = items.len();
    let digit = |item: &T, d: usize| (key(item) >> (low + d as u32 * DIGIT_BITS)) as usize % BINS;
    let mut counts = [[0_usize; BINS]; MAX_DIGITS];
    for item in items.iter() {
        for (d, count) in counts.iter_mut().enumerate().take(digits) {
            count[digit(item, d)] += 1;
        }
    }
    let (mut from, mut to) = (&mut items[..], &mut scratch[..n]);
    let mut swapped = false;
    for (d, count) in counts.iter_mut().enumerate().take(digits) {
        if count[digit(&from[0], d)] == n {
            continue;
        }
        let mut start = 0;
        for bin in count.iter_mut() {
            start += std::mem::replace(bin, start);
        }
        for item in from.iter() {
            let bin = &mut count[digit(item, d)];
            to[*bin] = *item;
            *bin += 1;
        }
        std::mem::swap(&mut from, &mut to);
        swapped = !swapped;
    }
    if swapped {
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    fn check(mut keys: Vec<u64>) {
        let mut expected = keys.clone();
        expected.sort_unstable();
        sort_by_key(&mut keys, &mut Vec::new(), |&k| k);
        assert!(keys == expected);
    }

    #[test]
    fn sorts_as_std_does_whatever_bits_vary() {
        let mut rng = Pcg64::seed_from_u64(1);
        for n in [0, 1, 2, SMALL, SMALL + 1, 5_000, TWO_DIGITS + 1] {
            // One outlier in the top bit hides all other variation from the first digits.
            for mask in [
                0,
                1,
                0xff,
                0x7ff << 20,
                0xffff_ffff,
                0xfff0_0000_0000_0fff,
                u64::MAX,
            ] {
                let mut keys: Vec<u64> = (0..n).map(|_| rng.random::<u64>() & mask).collect();
                check(keys.clone());
                keys.push(1 << 63);
                check(keys);
            }
        }
    }

    proptest! {
        #[test]
        fn sorts_pairs_by_their_key(keys in prop::collection::vec(0_u64..2_000, 0..3_000)) {
            let mut pairs: Vec<(u64, usize)> =
                keys.iter().enumerate().map(|(i, &k)| (k << 40, i)).collect();
            sort_by_key(&mut pairs, &mut Vec::new(), |p| p.0);
            prop_assert!(pairs.is_sorted_by_key(|p| p.0));
            pairs.sort_unstable_by_key(|p| p.1);
            prop_assert!(pairs.iter().zip(&keys).all(|(p, &k)| p.0 == k << 40));
        }
    }
}
