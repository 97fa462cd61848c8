//! Which pairs of columns are worth a table: by what a table of out-of-fold residuals gains on rows that it has not seen.
//!
//! For an additive model, r_i is the negative slope of the loss of row i in its score and h_i the curvature, both at scores
//! of a model that has not seen the row. Rows are in half A or B. With sums R and H of r and h over the rows of a cell, a
//! table fitted to one half and its gain on the other are
//!
//! ```text
//! f_A = R_A/(H_A + 20 h̄),    gain = Σ_cells R_B f_A − ½ H_B f_A²   and the same with A and B exchanged
//! ```
//!
//! h̄ the mean of h: as if a cell had 20 more rows without a residual. Where there is no interaction R_A and R_B have mean 0
//! and variances of about H_A and H_B, so that the gain is below 0 in the mean; both of its products are about R_A R_B/H,
//! so that its deviation is about
//!
//! ```text
//! s = √( 2 Σ H_B f_A² + H_A f_B² ).
//! ```
//!
//! A pair is *significant* if its gain is more than √(2 ln(m/2α)) s for m pairs and α = .05: of m pairs without an
//! interaction one seems to have one with probability of at most about α.

use std::cmp::Ordering;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::hash::mix;
use crate::data::rows::{CodeVec, NO_CELL};
use crate::{Error, Result};

/// Rows without a residual that are added to every cell.
const PRIOR_ROWS: f64 = 20.0;
/// α.
const FALSE_ALARMS: f64 = 0.05;
/// Tables of at most so many cells for each row are summed as a whole, larger ones by sorting.
const DENSE: usize = 2;

/// A column in cells.
#[derive(Debug, Clone, PartialEq)]
pub struct CellColumn {
    codes: CodeVec,
    cells: u32,
}

impl CellColumn {
    /// Of the cell of every row, [`NO_CELL`] where it has none, and the number of cells that there are.
    pub fn new(codes: impl Iterator<Item = u32>, cells: u32) -> CellColumn {
        CellColumn {
            codes: CodeVec::of(codes, cells as usize),
            cells,
        }
    }
}

/// What is left to explain of every row.
#[derive(Debug, Clone, PartialEq)]
pub struct Residuals {
    /// r_i.
    pub residual: Vec<f64>,
    /// h_i ≥ 0; 0 for rows that take no part.
    pub curvature: Vec<f64>,
}

/// A pair and its gain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedPair {
    /// Positions of the columns, ascending.
    pub columns: [usize; 2],
    /// In units of the summed loss.
    pub gain: f64,
    /// Its deviation where there is no interaction.
    pub deviation: f64,
    /// Whether it is more than chance.
    pub is_significant: bool,
}

/// R and H of both halves.
type Sums = [f64; 4];
/// The cells of one pair that have rows, ascending.
type CellSums = Vec<(u64, Sums)>;

/// What some rows add up to in the cells of some pairs. Parts are added in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairSums {
    cells: Vec<CellSums>,
    /// Rows that take part, and Σ h of them.
    rows: u64,
    curvature: f64,
}

impl Residuals {
    /// Of logistic regression with these log-odds: r = y − p and h = p(1 − p), times the sample weights. Rows of weight 0
    /// take no part.
    pub fn logistic(log_odds: &[f64], positive: &[bool], weights: Option<&[f64]>) -> Residuals {
        let rows = log_odds.iter().zip(positive).enumerate();
        let (residual, curvature) = rows
            .map(|(i, (z, positive))| {
                let p = 1.0 / (1.0 + (-z).exp());
                match weights.map_or(1.0, |s| s[i]) {
                    0.0 => (0.0, 0.0),
                    s => (s * (f64::from(u8::from(*positive)) - p), s * p * (1.0 - p)),
                }
            })
            .unzip();
        Residuals {
            residual,
            curvature,
        }
    }

    fn check(&self, columns: &[CellColumn]) -> Result<()> {
        let n = self.residual.len();
        let lengths = columns.iter().map(|c| c.codes.all().len());
        match lengths.chain([self.curvature.len()]).find(|len| *len != n) {
            None => Ok(()),
            Some(got) => Err(Error::Length {
                what: "rows of residuals and columns",
                expected: n,
                got,
            }),
        }
    }
}

/// All pairs of so many columns.
pub fn all_pairs(columns: usize) -> Vec<[usize; 2]> {
    (0..columns)
        .flat_map(|a| (a + 1..columns).map(move |b| [a, b]))
        .collect()
}

/// All pairs, the largest gain first. Cost O(N) for each pair.
pub fn rank(columns: &[CellColumn], residuals: &Residuals) -> Result<Vec<RankedPair>> {
    residuals.check(columns)?;
    let rows = Rows::new(residuals, 0);
    let prior = prior(rows.count, rows.curvature());
    let pairs = all_pairs(columns.len());
    let gain = |of: &[usize; 2]| gain_of(&rows.sums(of.map(|c| &columns[c])), prior);
    let gains = pairs.par_iter().map(gain).collect();
    Ok(in_order(pairs, gains))
}

/// The same from the gains of [`PairSums::gains`].
pub fn in_order(pairs: Vec<[usize; 2]>, gains: Vec<[f64; 2]>) -> Vec<RankedPair> {
    let least = (2.0 * (pairs.len() as f64 / (2.0 * FALSE_ALARMS)).ln()).sqrt();
    let ranked = |(columns, [gain, deviation]): ([usize; 2], [f64; 2])| RankedPair {
        columns,
        gain,
        deviation,
        is_significant: gain > least * deviation,
    };
    let mut ranked: Vec<RankedPair> = pairs.into_iter().zip(gains).map(ranked).collect();
    ranked.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.columns.cmp(&b.columns)));
    ranked
}

/// What is added to H of every half of a cell.
fn prior(rows: u64, curvature: f64) -> f64 {
    PRIOR_ROWS * curvature / rows.max(1) as f64
}

/// The gain of a pair, and its deviation.
fn gain_of(cells: &CellSums, prior: f64) -> [f64; 2] {
    let (mut gain, mut variance) = (0.0, 0.0);
    for (_, [ra, rb, ha, hb]) in cells {
        let (fa, fb) = (ra / (ha + prior), rb / (hb + prior));
        gain += rb * fa - 0.5 * hb * fa * fa + (ra * fb - 0.5 * ha * fb * fb);
        variance += hb * fa * fa + ha * fb * fb;
    }
    match variance > 0.0 {
        true => [gain, (2.0 * variance).sqrt()],
        false => [0.0, 0.0],
    }
}

impl PairSums {
    /// Of the rows of a part of a table, the first of which is row `first` of the whole.
    pub fn of(
        columns: &[CellColumn],
        residuals: &Residuals,
        first: u64,
        pairs: &[[usize; 2]],
    ) -> Result<PairSums> {
        residuals.check(columns)?;
        if let Some(&got) = pairs.iter().flatten().find(|side| **side >= columns.len()) {
            return Err(Error::Length {
                what: "columns of a pair",
                expected: columns.len(),
                got,
            });
        }
        let rows = Rows::new(residuals, first);
        let sums = |of: &[usize; 2]| rows.sums(of.map(|c| &columns[c]));
        Ok(PairSums {
            cells: pairs.par_iter().map(sums).collect(),
            rows: rows.count,
            curvature: rows.curvature(),
        })
    }

    /// With the rows of the next part.
    pub fn merge(&mut self, next: &PairSums) -> Result<()> {
        if self.cells.len() != next.cells.len() {
            return Err(Error::Length {
                what: "pairs of a part of the table",
                expected: self.cells.len(),
                got: next.cells.len(),
            });
        }
        self.rows += next.rows;
        self.curvature += next.curvature;
        for (mine, other) in self.cells.iter_mut().zip(&next.cells) {
            *mine = merged(mine, other);
        }
        Ok(())
    }

    /// Gain and deviation of each of the pairs.
    pub fn gains(&self) -> Vec<[f64; 2]> {
        let prior = prior(self.rows, self.curvature);
        let gains = self.cells.par_iter();
        gains.map(|cells| gain_of(cells, prior)).collect()
    }
}

fn merged(a: &CellSums, b: &CellSums) -> CellSums {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut found = Vec::with_capacity(a.len().max(b.len()));
    loop {
        let order = match (a.peek(), b.peek()) {
            (None, None) => return found,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((x, _)), Some((y, _))) => x.cmp(y),
        };
        let of_a = if order.is_le() { a.next() } else { None };
        let of_b = if order.is_ge() { b.next() } else { None };
        match (of_a, of_b) {
            (Some((cell, x)), Some((_, y))) => {
                found.push((*cell, [0, 1, 2, 3].map(|k| x[k] + y[k])));
            }
            (one, other) => found.extend(one.or(other)),
        }
    }
}

/// The rows that take part.
struct Rows<'a> {
    residuals: &'a Residuals,
    /// The half of every row, or [`OUT`].
    halves: Vec<u8>,
    /// How many take part.
    count: u64,
}

/// Stands for the half of a row that takes no part.
const OUT: u8 = 2;

impl Rows<'_> {
    fn new(residuals: &Residuals, first: u64) -> Rows<'_> {
        let half = |(i, h): (usize, &f64)| match *h > 0.0 {
            true => (mix(first + i as u64) & 1) as u8,
            false => OUT,
        };
        let halves: Vec<u8> = residuals.curvature.iter().enumerate().map(half).collect();
        Rows {
            residuals,
            count: halves.iter().filter(|half| **half != OUT).count() as u64,
            halves,
        }
    }

    fn curvature(&self) -> f64 {
        self.residuals.curvature.iter().filter(|h| **h > 0.0).sum()
    }

    fn sums(&self, [a, b]: [&CellColumn; 2]) -> CellSums {
        let whole = a.cells as usize * b.cells as usize;
        match whole <= DENSE * self.count as usize {
            true => self.table([a, b]),
            false => self.sorted([a, b]),
        }
    }

    /// Every row that takes part and has both cells: where it is, and these.
    fn cells<'c>(
        &'c self,
        [a, b]: [&'c CellColumn; 2],
    ) -> impl Iterator<Item = (usize, u32, u32)> + 'c {
        let (a, b) = (a.codes.all(), b.codes.all());
        let taken = self
            .halves
            .iter()
            .enumerate()
            .filter(|(_, half)| **half != OUT);
        let cells = taken.map(move |(i, _)| (i, a.at(i), b.at(i)));
        cells.filter(|(_, x, y)| *x != NO_CELL && *y != NO_CELL)
    }

    #[inline(always)]
    fn add(&self, i: usize, sums: &mut Sums) {
        let half = usize::from(self.halves[i]);
        sums[half] += self.residuals.residual[i];
        sums[2 + half] += self.residuals.curvature[i];
    }

    fn table(&self, [a, b]: [&CellColumn; 2]) -> CellSums {
        let mut sums = vec![[0.0; 4]; a.cells as usize * b.cells as usize];
        for (i, x, y) in self.cells([a, b]) {
            self.add(i, &mut sums[x as usize * b.cells as usize + y as usize]);
        }
        let cells = (0..a.cells).flat_map(|x| (0..b.cells).map(move |y| key(x, y)));
        let with_rows = |(_, sums): &(u64, Sums)| sums[2] + sums[3] > 0.0;
        cells.zip(sums).filter(with_rows).collect()
    }

    fn sorted(&self, [a, b]: [&CellColumn; 2]) -> CellSums {
        let keys = self.cells([a, b]).map(|(i, x, y)| (key(x, y), i as u32));
        let mut keys: Vec<(u64, u32)> = keys.collect();
        keys.sort_unstable();
        let runs = keys.chunk_by(|a, b| a.0 == b.0);
        let sum = |run: &[(u64, u32)]| {
            let mut sums = [0.0; 4];
            run.iter()
                .for_each(|(_, i)| self.add(*i as usize, &mut sums));
            (run[0].0, sums)
        };
        runs.map(sum).collect()
    }
}

fn key(x: u32, y: u32) -> u64 {
    u64::from(x) << 32 | u64::from(y)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    fn random_columns(rng: &mut Pcg64, p: usize, n: usize, cells: u32) -> Vec<CellColumn> {
        let column = |_| CellColumn::new((0..n).map(|_| rng.random_range(0..cells)), cells);
        (0..p).map(column).collect()
    }

    fn codes(column: &CellColumn) -> Vec<u32> {
        column.codes.all().to_vec()
    }

    /// With one row without a cell.
    fn with_gap(column: &CellColumn, at: usize) -> CellColumn {
        let mut codes = codes(column);
        codes[at] = NO_CELL;
        CellColumn::new(codes.into_iter(), column.cells)
    }

    /// By the formula, rows again for each cell.
    fn brute_force([a, b]: [&CellColumn; 2], residuals: &Residuals) -> f64 {
        let n = residuals.residual.len();
        let (of_a, of_b) = (codes(a), codes(b));
        let taken: Vec<usize> = (0..n).filter(|&i| residuals.curvature[i] > 0.0).collect();
        let h: f64 = taken.iter().map(|&i| residuals.curvature[i]).sum();
        let prior = 20.0 * h / taken.len() as f64;
        let mut gain = 0.0;
        for x in 0..a.cells {
            for y in 0..b.cells {
                let sum = |of: &[f64], half: u64| -> f64 {
                    let is_in = |i: &&usize| {
                        of_a[**i] == x && of_b[**i] == y && mix(**i as u64) & 1 == half
                    };
                    taken.iter().filter(is_in).map(|&i| of[i]).sum()
                };
                for (mine, other) in [(0, 1), (1, 0)] {
                    let r = sum(&residuals.residual, mine);
                    let f = r / (sum(&residuals.curvature, mine) + prior);
                    gain += sum(&residuals.residual, other) * f
                        - 0.5 * sum(&residuals.curvature, other) * f * f;
                }
            }
        }
        gain
    }

    #[test]
    fn gains_are_those_of_the_formula() {
        let rng = &mut Pcg64::seed_from_u64(5);
        let n = 200;
        let mut columns = random_columns(rng, 3, n, 4);
        columns.extend(random_columns(rng, 1, n, 300));
        columns[0] = with_gap(&columns[0], 7);
        let residuals = Residuals {
            residual: (0..n).map(|_| rng.random_range(-1.0..1.0)).collect(),
            curvature: (0..n).map(|i| if i % 5 == 0 { 0.0 } else { 0.2 }).collect(),
        };
        for found in rank(&columns, &residuals).unwrap() {
            let expected = brute_force(found.columns.map(|c| &columns[c]), &residuals);
            assert!(
                (found.gain - expected).abs() < 1e-12,
                "{found:?} {expected}"
            );
        }
    }

    /// Sums of parts, in their order: of one part to the bit, of many to rounding.
    #[test]
    fn gains_of_parts_are_those_of_all_rows() {
        let rng = &mut Pcg64::seed_from_u64(6);
        let n = 500;
        let mut columns = random_columns(rng, 3, n, 4);
        columns.extend(random_columns(rng, 1, n, 900));
        columns[1] = with_gap(&columns[1], 8);
        let residuals = Residuals {
            residual: (0..n).map(|_| rng.random_range(-1.0..1.0)).collect(),
            curvature: (0..n).map(|i| if i % 7 == 0 { 0.0 } else { 0.2 }).collect(),
        };
        let pairs = all_pairs(4);
        let of = |rows: std::ops::Range<usize>| {
            let column =
                |c: &CellColumn| CellColumn::new(codes(c)[rows.clone()].iter().copied(), c.cells);
            let columns: Vec<CellColumn> = columns.iter().map(column).collect();
            let part = Residuals {
                residual: residuals.residual[rows.clone()].to_vec(),
                curvature: residuals.curvature[rows.clone()].to_vec(),
            };
            PairSums::of(&columns, &part, rows.start as u64, &pairs).unwrap()
        };
        let expected = rank(&columns, &residuals).unwrap();
        let whole = of(0..n);
        assert_eq!(in_order(pairs.clone(), whole.gains()), expected);
        for cuts in [[0, 200], [3, 499], [500, 500]] {
            let mut sums = of(0..cuts[0]);
            sums.merge(&of(cuts[0]..cuts[1])).unwrap();
            sums.merge(&of(cuts[1]..n)).unwrap();
            assert_eq!(sums.rows, whole.rows);
            for (a, b) in sums
                .gains()
                .into_iter()
                .flatten()
                .zip(whole.gains().into_iter().flatten())
            {
                assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} {b}");
            }
        }
        let few = PairSums::of(&columns, &residuals, 0, &pairs[..2]).unwrap();
        assert!(of(0..n).merge(&few).is_err());
        assert!(PairSums::of(&columns, &residuals, 0, &[[0, 4]]).is_err());
    }

    #[test]
    fn xor_of_two_among_fifty_columns_is_found() {
        for seed in 0..10 {
            let rng = &mut Pcg64::seed_from_u64(seed);
            let n = 1500;
            let columns = random_columns(rng, 50, n, 2);
            let [a, b] = [7, 31];
            let of = [a, b].map(|side| codes(&columns[side]));
            let positive: Vec<bool> = (0..n)
                .map(|i| {
                    let xor = of[0][i] != of[1][i];
                    xor == rng.random_bool(0.7)
                })
                .collect();
            let residuals = Residuals::logistic(&vec![0.0; n], &positive, None);
            let ranked = rank(&columns, &residuals).unwrap();
            assert_eq!(ranked[0].columns, [a, b], "seed {seed}");
            assert!(ranked[0].is_significant);
            let others = ranked[1..]
                .iter()
                .filter(|pair| pair.is_significant)
                .count();
            assert_eq!(others, 0, "seed {seed}");
        }
    }

    #[test]
    fn nothing_is_found_in_noise() {
        let mut found = 0;
        for seed in 0..20 {
            let rng = &mut Pcg64::seed_from_u64(seed);
            let n = 1000;
            let columns = random_columns(rng, 20, n, 8);
            let positive: Vec<bool> = (0..n).map(|_| rng.random_bool(0.3)).collect();
            let log_odds = (0.3_f64 / 0.7).ln();
            let residuals = Residuals::logistic(&vec![log_odds; n], &positive, None);
            let ranked = rank(&columns, &residuals).unwrap();
            found += ranked.iter().filter(|pair| pair.is_significant).count();
        }
        // One of twenty, at α = .05.
        assert!(found <= 1, "{found}");
    }

    #[test]
    fn rows_of_weight_0_and_unequal_lengths() {
        let columns = vec![CellColumn::new([0, 1, 0].into_iter(), 2); 2];
        let weights = [0.0, 0.0, 0.0];
        let none = Residuals::logistic(&[0.0; 3], &[true, false, true], Some(&weights));
        let ranked = rank(&columns, &none).unwrap();
        assert_eq!((ranked[0].gain, ranked[0].is_significant), (0.0, false));
        let two = Residuals::logistic(&[0.0; 2], &[true, false], None);
        assert!(matches!(rank(&columns, &two), Err(Error::Length { .. })));
        assert!(rank(&[], &none).unwrap().is_empty());
    }
}
