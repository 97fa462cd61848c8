//! A uniform sample of a stream of rows, of fixed size, in one pass.
//!
//! The n-th row takes a free place; where there is none, it takes place r if r, drawn from 0 … n − 1, is below the size B:
//! with probability B/n, and each place alike. Then every row so far is in the sample with probability B/n.
//! Vitter, ACM TOMS 1985, Algorithm R.
//!
//! The rows are copies, for a stream does not come back; a row that leaves gives its memory to the one that comes.

use rand::RngExt;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::rows::Row;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Reservoir {
    size: usize,
    kept: Vec<Kept>,
    seen: u64,
}

/// A copy of a row.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Kept {
    sparse: bool,
    indices: Vec<u32>,
    values: Vec<f64>,
    /// ‖x‖².
    pub(crate) norm_sq: f64,
}

impl Kept {
    #[inline]
    pub(crate) fn row(&self) -> Row<'_> {
        if self.sparse {
            Row::Sparse(&self.indices, &self.values)
        } else {
            Row::Dense(&self.values)
        }
    }

    /// Whether it is a row of this many columns.
    fn is_sound(&self, cols: usize) -> bool {
        let ascending = self.indices.is_sorted_by(|a, b| a < b);
        let within = (self.indices.last()).is_none_or(|&last| (last as usize) < cols);
        match self.sparse {
            true => self.indices.len() == self.values.len() && ascending && within,
            false => self.indices.is_empty() && self.values.len() <= cols,
        }
    }

    fn set(&mut self, x: Row<'_>, norm_sq: f64) {
        self.sparse = !matches!(x, Row::Dense(_));
        self.indices.clear();
        self.values.clear();
        match x {
            Row::Dense(values) => self.values.extend_from_slice(values),
            Row::Sparse(indices, values) => {
                self.indices.extend_from_slice(indices);
                self.values.extend_from_slice(values);
            }
            Row::Coded { .. } => x.for_each(|j, x| {
                self.indices.push(j as u32);
                self.values.push(x);
            }),
        }
        self.norm_sq = norm_sq;
    }
}

impl Reservoir {
    /// Keeps at most `size` rows; memory is taken as they come.
    pub(crate) fn new(size: usize) -> Reservoir {
        Reservoir {
            size,
            kept: Vec::new(),
            seen: 0,
        }
    }

    /// The next row of the stream. `random` is asked only when all places are taken.
    pub(crate) fn offer(&mut self, x: Row<'_>, norm_sq: f64, random: &mut Pcg64) {
        self.seen = self.seen.saturating_add(1);
        if self.kept.len() < self.size {
            let mut kept = Kept::default();
            kept.set(x, norm_sq);
            self.kept.push(kept);
            return;
        }
        let place = random.random_range(0..self.seen);
        if let Some(kept) = usize::try_from(place)
            .ok()
            .and_then(|place| self.kept.get_mut(place))
        {
            kept.set(x, norm_sq);
        }
    }

    /// Whether it can be a sample of this size, of rows of this many columns.
    pub(crate) fn is_sound(&self, size: usize, cols: usize) -> bool {
        let all_places = size as u64;
        self.size == size
            && self.kept.len() as u64 == self.seen.min(all_places)
            && self.kept.iter().all(|kept| kept.is_sound(cols))
    }

    /// The sample.
    #[inline]
    pub(crate) fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// Rows offered so far.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// B = 5 of 40, 20,000 seeds. Each row is kept B/n of the times; the counts of a seed add up to B, so
    /// χ² = (n − 1)/n · Σ (count − E)²/(E(1 − B/n)) has n − 1 = 39 degrees of freedom, and is above 96.1 with
    /// probability 1e-6. Order within the sample does not matter, but every place must be reached: the same of places.
    #[test]
    fn every_row_is_kept_as_often_as_another() {
        let (size, n, seeds) = (5, 40, 20_000);
        let mut counts = [0_u32; 40];
        let mut first_place = [0_u32; 40];
        for seed in 0..seeds {
            let mut random = Pcg64::seed_from_u64(seed);
            let mut reservoir = Reservoir::new(size);
            for i in 0..n {
                let x = [f64::from(i)];
                // Dense and sparse rows take each other's place.
                let row = if i % 2 == 0 {
                    Row::Dense(&x)
                } else {
                    Row::Sparse(&[0], &x)
                };
                reservoir.offer(row, x[0] * x[0], &mut random);
            }
            assert_eq!(reservoir.seen(), 40);
            assert_eq!(reservoir.kept().len(), size);
            for (place, kept) in reservoir.kept().iter().enumerate() {
                let x = kept.row().get(0);
                assert_eq!(kept.norm_sq, x * x);
                counts[x as usize] += 1;
                if place == 0 {
                    first_place[x as usize] += 1;
                }
            }
        }
        let share = size as f64 / f64::from(n);
        let expected = seeds as f64 * share;
        let squares: f64 = counts
            .iter()
            .map(|&k| (f64::from(k) - expected).powi(2))
            .sum();
        let chi_squared =
            (f64::from(n) - 1.0) / f64::from(n) * squares / (expected * (1.0 - share));
        assert!(chi_squared < 96.1, "{chi_squared}: {counts:?}");
        // Of the first B rows, only the first starts in place 0; any later one may come to it, all alike: B/n · 1/B.
        let late = seeds as f64 / f64::from(n);
        let squares: f64 = first_place[size..]
            .iter()
            .map(|&k| (f64::from(k) - late).powi(2))
            .sum();
        // 35 counts of a multinomial with one more cell: 35 degrees of freedom, above 89.9 with probability 1e-6,
        // the last cell left out, which can only lower it.
        assert!(squares / late < 89.9, "{first_place:?}");
        assert_eq!(first_place[1..size], [0; 4]);
    }
}
