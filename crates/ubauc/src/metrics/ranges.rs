//! Placement sums of many examples: cut the scores into ranges, and do each range in cache.
//!
//! Two examples of different ranges are compared by their ranges alone, so once it is known how
//! many of each class lie in every range, the ranges are independent:
//!
//!   1. count both classes in 2¹⁴ cells of the leading bits of the keys in which keys differ;
//!   2. join neighbouring cells into ranges of about the size of a cache;
//!   3. copy every key to the place of its range and class in one array of N keys;
//!   4. sort the two classes of each range, merge, and add up.
//!
//! Threads share the examples in 1 and 3 and the ranges in 4. The sums are integers, so the result
//! does not depend on how many threads there are. Memory: 8 bytes for each example, and for each
//! thread a scratch of the largest class of a range and the cells. Only if nearly all scores share
//! their leading bits, far from the few others, is one range as large as the data: 16 bytes for
//! each example then, and one thread at work in step 4.

use std::slice::IterMut;

use rayon::prelude::*;

use super::order::{Census, chunk_len, key};
use super::placement::PlacementSums;
use super::radix;

const CELL_BITS: u32 = 14;
const CELLS: usize = 1 << CELL_BITS;
/// Keys of both classes in a range: with the scratch of one class, about half a megabyte.
const RANGE_KEYS: usize = 1 << 15;
/// More ranges than this are more places to write to than the processor can address at a time.
const MAX_RANGES: usize = 256;

/// Numbers of negatives and of positives: `[count[false], count[true]]`.
type Counts = [usize; 2];

/// Sums over all examples, whatever their number.
pub(super) fn placement_sums(scores: &[f64], positive: &[bool], census: &Census) -> PlacementSums {
    if chunk_len(scores.len()) == scores.len() && scores.len() <= 2 * RANGE_KEYS {
        let [neg, pos] = sorted_by_class(scores, positive, census);
        return PlacementSums::of_range(&pos, &neg, 0, 0);
    }
    let (mut keys, ranges) = scatter(scores, positive, census);
    let mut rest = keys.as_mut_slice();
    let (mut below, mut above) = (0, census.n_pos);
    let mut tasks = Vec::with_capacity(ranges.len());
    for [n_neg, n_pos] in ranges {
        let (neg, tail) = rest.split_at_mut(n_neg);
        let (pos, tail) = tail.split_at_mut(n_pos);
        rest = tail;
        above -= n_pos;
        tasks.push((pos, neg, below, above));
        below += n_neg;
    }
    tasks
        .into_par_iter()
        .map_init(Vec::new, |scratch, (pos, neg, below, above)| {
            // One class alone needs no order.
            if !pos.is_empty() && !neg.is_empty() {
                radix::sort_by_key(pos, scratch, |&k| k);
                radix::sort_by_key(neg, scratch, |&k| k);
            }
            PlacementSums::of_range(pos, neg, below, above)
        })
        .sum()
}

/// The keys of the negatives and of the positives, each ascending.
pub(super) fn sorted_by_class(scores: &[f64], positive: &[bool], census: &Census) -> [Vec<u64>; 2] {
    let mut classes = [
        Vec::with_capacity(census.n_neg),
        Vec::with_capacity(census.n_pos),
    ];
    for (&s, &p) in scores.iter().zip(positive) {
        classes[usize::from(p)].push(key(s));
    }
    let mut scratch = Vec::new();
    for keys in &mut classes {
        radix::sort_by_key(keys, &mut scratch, |&k| k);
    }
    classes
}

/// All keys, range after range, the negatives of a range before its positives; and how many of each.
fn scatter(scores: &[f64], positive: &[bool], census: &Census) -> (Vec<u64>, Vec<Counts>) {
    let n = scores.len();
    let height = u64::BITS - census.varying.leading_zeros();
    let shift = height.saturating_sub(CELL_BITS);
    let cell = |s: f64| (key(s) >> shift) as usize % CELLS;
    let chunks = || {
        let len = chunk_len(n);
        (scores.par_chunks(len), positive.par_chunks(len)).into_par_iter()
    };

    let cells: Vec<Vec<Counts>> = chunks()
        .map(|(scores, positive)| {
            let mut counts = vec![[0; 2]; CELLS];
            for (&s, &p) in scores.iter().zip(positive) {
                counts[cell(s)][usize::from(p)] += 1;
            }
            counts
        })
        .collect();
    let range_of = join_cells(&cells, n);
    let n_ranges = usize::from(range_of[CELLS - 1]) + 1;
    let by_chunk: Vec<Vec<Counts>> = cells
        .iter()
        .map(|cells| {
            let mut counts = vec![[0; 2]; n_ranges];
            for (&range, cell) in range_of.iter().zip(cells) {
                counts[usize::from(range)][0] += cell[0];
                counts[usize::from(range)][1] += cell[1];
            }
            counts
        })
        .collect();
    drop(cells);

    let mut keys = vec![0; n];
    let cursors = cursors(&mut keys, &by_chunk, n_ranges);
    chunks()
        .zip(cursors)
        .for_each(|((scores, positive), mut cursors)| {
            for (&s, &p) in scores.iter().zip(positive) {
                let cursor = &mut cursors[2 * usize::from(range_of[cell(s)]) + usize::from(p)];
                *cursor.next().expect("the same keys were counted") = key(s);
            }
        });
    let total = |r: usize, class: usize| by_chunk.iter().map(|counts| counts[r][class]).sum();
    let ranges = (0..n_ranges).map(|r| [total(r, 0), total(r, 1)]).collect();
    (keys, ranges)
}

/// Where each chunk writes: its own piece of the place of every (range, class), the class varying
/// fastest. An iterator is a cursor that cannot leave its piece.
fn cursors<'k>(
    mut keys: &'k mut [u64],
    by_chunk: &[Vec<Counts>],
    n_ranges: usize,
) -> Vec<Vec<IterMut<'k, u64>>> {
    let mut cursors: Vec<Vec<_>> = by_chunk.iter().map(|_| Vec::new()).collect();
    for r in 0..n_ranges {
        for class in [0, 1] {
            for (counts, cursors) in by_chunk.iter().zip(&mut cursors) {
                let (piece, rest) = keys.split_at_mut(counts[r][class]);
                cursors.push(piece.iter_mut());
                keys = rest;
            }
        }
    }
    cursors
}

/// The range of each cell. A range is closed before it grows past its share, unless by one cell.
fn join_cells(chunks: &[Vec<Counts>], n: usize) -> Vec<u16> {
    // Two neighbouring ranges hold more than a share, so there are at most 2·(n / share) + 1.
    let share = RANGE_KEYS.max(2 * n / MAX_RANGES);
    let (mut range, mut filled) = (0, 0);
    (0..CELLS)
        .map(|cell| {
            let count = chunks
                .iter()
                .map(|c| c[cell][0] + c[cell][1])
                .sum::<usize>();
            if filled > 0 && filled + count > share {
                range += 1;
                filled = 0;
            }
            filled += count;
            range
        })
        .collect()
}
