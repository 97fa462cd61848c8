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

use rayon::prelude::*;

use crate::data::hash::mix;
use crate::data::rows::NO_CELL;
use crate::{Error, Result};

/// Rows without a residual that are added to every cell.
const PRIOR_ROWS: f64 = 20.0;
/// α.
const FALSE_ALARMS: f64 = 0.05;
/// Tables of at most so many cells for each row are summed as a whole, larger ones by sorting.
const DENSE: usize = 2;

/// A column in cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellColumn {
    /// The cell of every row, [`NO_CELL`] for none.
    pub codes: Vec<u32>,
    /// Number of cells.
    pub cells: u32,
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
        let lengths = columns.iter().map(|c| c.codes.len());
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

/// All pairs, the largest gain first. Cost O(N) for each pair.
pub fn rank(columns: &[CellColumn], residuals: &Residuals) -> Result<Vec<RankedPair>> {
    residuals.check(columns)?;
    let rows = Rows::new(residuals);
    let p = columns.len();
    let pairs: Vec<[usize; 2]> = (0..p)
        .flat_map(|a| (a + 1..p).map(move |b| [a, b]))
        .collect();
    let least = (2.0 * (pairs.len() as f64 / (2.0 * FALSE_ALARMS)).ln()).sqrt();
    let ranked = |of: &[usize; 2]| {
        let (gain, deviation) = rows.gain(of.map(|c| &columns[c]));
        RankedPair {
            columns: *of,
            gain,
            deviation,
            is_significant: gain > least * deviation,
        }
    };
    let mut ranked: Vec<RankedPair> = pairs.par_iter().map(ranked).collect();
    ranked.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.columns.cmp(&b.columns)));
    Ok(ranked)
}

/// The rows that take part.
struct Rows {
    rows: Vec<RowPart>,
    prior: f64,
}

struct RowPart {
    row: u32,
    half: u32,
    residual: f64,
    curvature: f64,
}

impl Rows {
    fn new(residuals: &Residuals) -> Rows {
        let all = residuals.residual.iter().zip(&residuals.curvature);
        let part = |(i, (r, h)): (usize, (&f64, &f64))| RowPart {
            row: i as u32,
            half: (mix(i as u64) & 1) as u32,
            residual: *r,
            curvature: *h,
        };
        let rows: Vec<RowPart> = all
            .enumerate()
            .filter(|(_, (_, h))| **h > 0.0)
            .map(part)
            .collect();
        let sum: f64 = rows.iter().map(|row| row.curvature).sum();
        Rows {
            prior: PRIOR_ROWS * sum / rows.len().max(1) as f64,
            rows,
        }
    }

    /// The gain of a pair, and its deviation.
    fn gain(&self, [a, b]: [&CellColumn; 2]) -> (f64, f64) {
        let whole = a.cells as usize * b.cells as usize;
        match whole <= DENSE * self.rows.len() {
            true => self.gain_of(self.table([a, b]).into_iter()),
            false => self.gain_of(self.sorted([a, b]).into_iter()),
        }
    }

    fn table(&self, [a, b]: [&CellColumn; 2]) -> Vec<Sums> {
        let mut sums = vec![[0.0; 4]; a.cells as usize * b.cells as usize];
        for row in &self.rows {
            let (x, y) = (a.codes[row.row as usize], b.codes[row.row as usize]);
            if x == NO_CELL || y == NO_CELL {
                continue;
            }
            let of_cell = &mut sums[x as usize * b.cells as usize + y as usize];
            let half = row.half as usize;
            of_cell[half] += row.residual;
            of_cell[2 + half] += row.curvature;
        }
        sums
    }

    /// The sums of the cells that have rows.
    fn sorted(&self, [a, b]: [&CellColumn; 2]) -> Vec<Sums> {
        let mut keys: Vec<(u64, u32)> = Vec::with_capacity(self.rows.len());
        for (at, row) in self.rows.iter().enumerate() {
            let (x, y) = (a.codes[row.row as usize], b.codes[row.row as usize]);
            if x != NO_CELL && y != NO_CELL {
                keys.push((u64::from(x) << 32 | u64::from(y), at as u32));
            }
        }
        keys.sort_unstable();
        let runs = keys.chunk_by(|a, b| a.0 == b.0);
        let sum = |run: &[(u64, u32)]| {
            let mut sums = [0.0; 4];
            for (_, at) in run {
                let row = &self.rows[*at as usize];
                sums[row.half as usize] += row.residual;
                sums[2 + row.half as usize] += row.curvature;
            }
            sums
        };
        runs.map(sum).collect()
    }

    fn gain_of(&self, cells: impl Iterator<Item = Sums>) -> (f64, f64) {
        let (mut gain, mut variance) = (0.0, 0.0);
        for [ra, rb, ha, hb] in cells {
            let (fa, fb) = (ra / (ha + self.prior), rb / (hb + self.prior));
            gain += rb * fa - 0.5 * hb * fa * fa + (ra * fb - 0.5 * ha * fb * fb);
            variance += hb * fa * fa + ha * fb * fb;
        }
        match variance > 0.0 {
            true => (gain, (2.0 * variance).sqrt()),
            false => (0.0, 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    fn random_columns(rng: &mut Pcg64, p: usize, n: usize, cells: u32) -> Vec<CellColumn> {
        let column = |_| CellColumn {
            codes: (0..n).map(|_| rng.random_range(0..cells)).collect(),
            cells,
        };
        (0..p).map(column).collect()
    }

    /// By the formula, rows again for each cell.
    fn brute_force([a, b]: [&CellColumn; 2], residuals: &Residuals) -> f64 {
        let n = residuals.residual.len();
        let taken: Vec<usize> = (0..n).filter(|&i| residuals.curvature[i] > 0.0).collect();
        let h: f64 = taken.iter().map(|&i| residuals.curvature[i]).sum();
        let prior = 20.0 * h / taken.len() as f64;
        let mut gain = 0.0;
        for x in 0..a.cells {
            for y in 0..b.cells {
                let sum = |of: &[f64], half: u64| -> f64 {
                    let is_in = |i: &&usize| {
                        a.codes[**i] == x && b.codes[**i] == y && mix(**i as u64) & 1 == half
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
        columns[0].codes[7] = NO_CELL;
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

    #[test]
    fn xor_of_two_among_fifty_columns_is_found() {
        for seed in 0..10 {
            let rng = &mut Pcg64::seed_from_u64(seed);
            let n = 1500;
            let columns = random_columns(rng, 50, n, 2);
            let [a, b] = [7, 31];
            let positive: Vec<bool> = (0..n)
                .map(|i| {
                    let xor = columns[a].codes[i] != columns[b].codes[i];
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
        let columns = vec![
            CellColumn {
                codes: vec![0, 1, 0],
                cells: 2
            };
            2
        ];
        let weights = [0.0, 0.0, 0.0];
        let none = Residuals::logistic(&[0.0; 3], &[true, false, true], Some(&weights));
        let ranked = rank(&columns, &none).unwrap();
        assert_eq!((ranked[0].gain, ranked[0].is_significant), (0.0, false));
        let two = Residuals::logistic(&[0.0; 2], &[true, false], None);
        assert!(matches!(rank(&columns, &two), Err(Error::Length { .. })));
        assert!(rank(&[], &none).unwrap().is_empty());
    }
}
