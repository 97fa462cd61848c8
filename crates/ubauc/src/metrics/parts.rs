//! Exact AUC of scores that lie in parts, each on its own machine, by radix refinement of counts.
//!
//! As in `ranges.rs`, two examples of different cells of the key line are compared by their cells alone. So the driver
//! needs counts, and only what shares a cell must meet in one place:
//!
//!   1. [`keys_by_class`]: every part turns its scores into keys, the negatives' and the positives';
//!   2. [`count_cells`]: every part counts both classes in the cells of the spans that are still open, and notes the
//!      least and the greatest key of each cell. The first span is the whole line;
//!   3. [`Cut::refine`]: the driver adds the counts. A cell is *settled* when it has one class, or one key: then its
//!      counts say all. A cell that is not, and larger than half a share, is open: step 2 again, for these alone;
//!   4. [`Cut::ranges`]: neighbouring cells are joined into ranges of at most a share, with the negatives below and
//!      the positives above each piece. Large settled cells are left out: their keys are not moved;
//!   5. [`scatter`]: every part sends each key once, to the task of its range;
//!   6. [`range_sums`]: the integer sums of one range; [`Cut::auc`] adds those of all, and of the settled cells.
//!
//! The sums are integers, so the result has the bits of [`auc`](super::auc()) of all parts together, wherever they are
//! cut and in whatever order they come.
//!
//! Cost, for N scores, R = N/share ranges and P parts: O(N/P) time and 8·N/P bytes a part in each step; each round of 2
//! sends at most 2¹⁶ cells of 32 bytes a part, those in use (16 a span when there are more than 2¹² open); 5 sends at
//! most 8·N bytes in all. An open cell is cut from its least to its greatest key, so both ends come apart and the number
//! of rounds is bounded whatever the scores: mostly one, two if far outliers hide the rest.

use super::auc::Auc;
use super::order::{both_classes, key, refuse_nan};
use super::placement::PlacementSums;
use super::radix;
use crate::{Error, Result};

/// Cells of all open spans together: 2¹⁶, but at least 2⁴ each.
const CELL_BITS: u32 = 16;
const FEWEST_BITS: u32 = 4;
/// What the widths of `placement.rs` allow.
const MAX_EXAMPLES: u64 = 1 << 40;
/// A settled cell of less than a share over this is moved with its neighbours, so that pieces are few.
const SETTLED_SHARE: u64 = 64;
const CHANGED: &str = "scores counted in a range (they must not change between rounds)";

/// The examples of one stretch of keys: the least and the greatest key there is, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The least key.
    pub low: u64,
    /// The greatest key.
    pub high: u64,
    /// Negatives and positives.
    pub counts: [u64; 2],
}

impl Cell {
    fn total(&self) -> u64 {
        self.counts[0].saturating_add(self.counts[1])
    }

    /// Whether the counts alone say how its pairs compare.
    fn settled(&self) -> bool {
        self.low == self.high || self.counts.contains(&0)
    }

    fn join(&mut self, other: &Self) {
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine = mine.saturating_add(theirs);
        }
    }
}

/// A stretch of keys that one task compares, and what lies outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The keys.
    pub cell: Cell,
    /// Negatives of lesser key.
    pub below: u64,
    /// Positives of greater key.
    pub above: u64,
}

/// The keys of the negatives and of the positives of one part, as they come. NaN is refused with its row.
pub fn keys_by_class(scores: &[f64], positive: &[bool]) -> Result<[Vec<u64>; 2]> {
    if positive.len() != scores.len() {
        return Err(Error::Length {
            what: "labels",
            expected: scores.len(),
            got: positive.len(),
        });
    }
    refuse_nan(scores)?;
    let n_pos = positive.iter().filter(|&&p| p).count();
    let mut keys = [scores.len() - n_pos, n_pos].map(Vec::with_capacity);
    for (&s, &p) in scores.iter().zip(positive) {
        keys[usize::from(p)].push(key(s));
    }
    Ok(keys)
}

/// Counts of the keys that lie in `spans`, from and to, ascending and apart: the cells in use, ascending.
pub fn count_cells(keys: [&[u64]; 2], spans: &[[u64; 2]]) -> Vec<Cell> {
    let grid = Grid::new(spans);
    let mut cells = grid.cells();
    for (class, keys) in keys.into_iter().enumerate() {
        for &key in keys {
            if let Some(place) = grid.place(key) {
                let cell = &mut cells[place];
                cell.low = cell.low.min(key);
                cell.high = cell.high.max(key);
                cell.counts[class] += 1;
            }
        }
    }
    cells.retain(|cell| cell.total() > 0);
    cells
}

/// Spans cut into cells of one width each, a power of two.
struct Grid<'s> {
    spans: &'s [[u64; 2]],
    /// From a key above the span's low end to its cell.
    shifts: Vec<u32>,
    bits: u32,
}

impl<'s> Grid<'s> {
    fn new(spans: &'s [[u64; 2]]) -> Self {
        let bits = CELL_BITS.saturating_sub(spans.len().next_power_of_two().ilog2());
        let bits = bits.max(FEWEST_BITS);
        let shift = |&[low, high]: &[u64; 2]| {
            let height = u64::BITS - high.saturating_sub(low).leading_zeros();
            height.saturating_sub(bits)
        };
        let shifts = spans.iter().map(shift).collect();
        Self {
            spans,
            shifts,
            bits,
        }
    }

    /// No keys yet.
    fn cells(&self) -> Vec<Cell> {
        let none = Cell {
            low: u64::MAX,
            high: 0,
            counts: [0; 2],
        };
        vec![none; self.spans.len() << self.bits]
    }

    fn place(&self, key: u64) -> Option<usize> {
        let span = self.spans.partition_point(|&[_, high]| high < key);
        let &[low, high] = self.spans.get(span)?;
        let inside = low <= key && key <= high;
        inside.then(|| (span << self.bits) + ((key - low) >> self.shifts[span]) as usize)
    }
}

/// Where the driver stands: the key line in cells, refined until all that is large is settled.
#[derive(Clone, Debug)]
pub struct Cut {
    /// Ascending and apart.
    cells: Vec<Cell>,
    share: u64,
    totals: [u64; 2],
}

impl Cut {
    /// All examples in one cell; ranges are to have at most `share` keys. One class alone is refused, and more than 2⁴⁰
    /// examples.
    pub fn new(share: u64, n_neg: u64, n_pos: u64) -> Result<Self> {
        let n = n_neg.saturating_add(n_pos);
        if n > MAX_EXAMPLES {
            return Err(Error::Parameter {
                name: "number of examples",
                value: n.to_string(),
                must: "at most 2^40",
            });
        }
        both_classes(n_pos as usize, n_neg as usize)?;
        let totals = [n_neg, n_pos];
        let (low, high) = (0, u64::MAX);
        let cells = vec![Cell {
            low,
            high,
            counts: totals,
        }];
        let share = share.max(1);
        Ok(Self {
            cells,
            share,
            totals,
        })
    }

    fn is_open(&self, cell: &Cell) -> bool {
        !cell.settled() && cell.total() > self.share / 2
    }

    /// The spans to be counted in cells next, from and to. None: the cut is fine enough.
    pub fn open(&self) -> Vec<[u64; 2]> {
        let open = self.cells.iter().filter(|cell| self.is_open(cell));
        open.map(|cell| [cell.low, cell.high]).collect()
    }

    /// Takes the counts of all parts in the open spans. Refused if they are not the examples counted before.
    pub fn refine(&mut self, parts: &[Vec<Cell>]) -> Result<()> {
        let open = self.open();
        let grid = Grid::new(&open);
        let mut counted = grid.cells();
        for cell in parts.iter().flatten() {
            let place = grid.place(cell.low);
            match place {
                Some(at) if place == grid.place(cell.high) && cell.total() <= MAX_EXAMPLES => {
                    counted[at].join(cell);
                }
                _ => return Err(changed(0, cell.total())),
            }
        }
        let mut finer = Vec::with_capacity(self.cells.len());
        let mut spans = counted.chunks(1 << grid.bits);
        for cell in &self.cells {
            if !self.is_open(cell) {
                finer.push(*cell);
                continue;
            }
            let cells = spans.next().unwrap_or_default();
            for (class, &before) in cell.counts.iter().enumerate() {
                let counts = cells.iter().map(|cell| cell.counts[class]);
                let now = counts.fold(0, u64::saturating_add);
                if now != before {
                    return Err(changed(before, now));
                }
            }
            finer.extend(cells.iter().filter(|cell| cell.total() > 0));
        }
        self.cells = finer;
        Ok(())
    }

    /// The pieces of each range whose keys must meet, ascending.
    pub fn ranges(&self) -> Vec<Vec<Piece>> {
        self.plan().1
    }

    /// The sums of what is settled, and the ranges of what is not.
    fn plan(&self) -> (PlacementSums, Vec<Vec<Piece>>) {
        let mut settled = PlacementSums::default();
        let mut ranges: Vec<Vec<Piece>> = Vec::new();
        let (mut below, mut above) = (0, self.totals[1]);
        let (mut filled, mut beside) = (0, false);
        for cell in self.runs() {
            above -= cell.counts[1];
            if cell.settled() && cell.total() >= self.share / SETTLED_SHARE {
                settled.add_group(cell.counts[1], cell.counts[0], below, above);
                beside = false;
            } else {
                if ranges.is_empty() || filled + cell.total() > self.share {
                    ranges.push(Vec::new());
                    (filled, beside) = (0, false);
                }
                filled += cell.total();
                let range = ranges.last_mut().expect("one was pushed");
                match range.last_mut() {
                    Some(piece) if beside => {
                        piece.cell.join(&cell);
                        piece.above = above;
                    }
                    _ => range.push(Piece { cell, below, above }),
                }
                beside = true;
            }
            below += cell.counts[0];
        }
        (settled, ranges)
    }

    /// The cells, neighbours of one and the same class joined.
    fn runs(&self) -> Vec<Cell> {
        let mut runs: Vec<Cell> = Vec::new();
        for cell in &self.cells {
            match runs.last_mut() {
                Some(run) if (0..2).any(|c| run.counts[c] == 0 && cell.counts[c] == 0) => {
                    run.join(cell);
                }
                _ => runs.push(*cell),
            }
        }
        runs
    }

    /// AUC of all parts, from the sums of [`Cut::ranges`] in any order.
    pub fn auc(&self, ranges: &[PlacementSums]) -> Result<Auc> {
        let (settled, expected) = self.plan();
        if ranges.len() != expected.len() {
            return Err(Error::Length {
                what: "sums of ranges",
                expected: expected.len(),
                got: ranges.len(),
            });
        }
        let [n_neg, n_pos] = self.totals;
        let sums = (ranges.iter().copied()).try_fold(settled, |sum, range| {
            let sum = range.fits(n_pos, n_neg).then(|| sum + range);
            sum.filter(|sum| sum.fits(n_pos, n_neg))
        });
        match sums {
            Some(sums) if sums.can_be_centred(n_pos, n_neg) => {
                Ok(Auc::from_sums(&sums, n_pos as usize, n_neg as usize))
            }
            _ => Err(Error::Numerical {
                what: "the sums of the ranges are not those of these examples",
            }),
        }
    }
}

/// The keys of one part for each range, negatives and positives.
pub fn scatter(keys: [&[u64]; 2], ranges: &[Vec<Piece>]) -> Vec<[Vec<u64>; 2]> {
    let pieces = ranges.iter().enumerate();
    let pieces = pieces.flat_map(|(r, pieces)| pieces.iter().map(move |p| (p.cell, r)));
    let pieces: Vec<(Cell, usize)> = pieces.collect();
    let mut scattered = vec![[Vec::new(), Vec::new()]; ranges.len()];
    for (class, keys) in keys.into_iter().enumerate() {
        for &key in keys {
            let place = pieces.partition_point(|(cell, _)| cell.high < key);
            if let Some(&(cell, range)) = pieces.get(place)
                && cell.low <= key
            {
                scattered[range][class].push(key);
            }
        }
    }
    scattered
}

/// The sums of one range from the keys of all parts. Refused if they are not the keys that were counted.
pub fn range_sums(range: &[Piece], parts: &[[&[u64]; 2]]) -> Result<PlacementSums> {
    let mut scratch = Vec::new();
    let [neg, pos] = [0, 1].map(|class| {
        let mut keys = parts
            .iter()
            .map(|part| part[class])
            .collect::<Vec<_>>()
            .concat();
        radix::sort_by_key(&mut keys, &mut scratch, |&k| k);
        keys
    });
    let (mut neg, mut pos) = (neg.as_slice(), pos.as_slice());
    let mut sums = PlacementSums::default();
    for piece in range {
        let counts = piece.cell.counts;
        let neg = take(&mut neg, &piece.cell, counts[0])?;
        let pos = take(&mut pos, &piece.cell, counts[1])?;
        if piece.below.max(piece.above) > MAX_EXAMPLES {
            return Err(changed(MAX_EXAMPLES, piece.below.max(piece.above)));
        }
        let (below, above) = (piece.below as usize, piece.above as usize);
        sums = sums + PlacementSums::of_range(pos, neg, below, above);
    }
    if !neg.is_empty() || !pos.is_empty() {
        return Err(changed(0, (neg.len() + pos.len()) as u64));
    }
    Ok(sums)
}

/// The keys up to the end of a cell, off the front of ascending keys.
fn take<'k>(keys: &mut &'k [u64], cell: &Cell, expected: u64) -> Result<&'k [u64]> {
    let (mine, rest) = keys.split_at(keys.partition_point(|&k| k <= cell.high));
    *keys = rest;
    let got = mine.len() as u64;
    if got != expected || mine.first().is_some_and(|&k| k < cell.low) {
        return Err(changed(expected, got));
    }
    Ok(mine)
}

fn changed(expected: u64, got: u64) -> Error {
    let [expected, got] = [expected, got].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    Error::Length {
        what: CHANGED,
        expected,
        got,
    }
}
