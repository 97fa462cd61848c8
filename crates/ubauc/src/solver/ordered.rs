//! The rows of a data set, in the order of the next pass.
//!
//! Features are centred and divided. Rows that are to come in random order are copied in a random order, and a pass takes blocks of
//! neighbours in a new order: random to the learner, and nearly in sequence to the memory, where single rows at random
//! cost more than a step.

use std::borrow::Cow;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use rayon::prelude::*;

use crate::data::rows::{Csr, Dense, Row, Rows};
use crate::{Error, Result};

/// Rows that stay neighbours.
const BLOCK: usize = 32;

pub(super) struct Ordered<'a> {
    rows: Cow<'a, Rows>,
    /// Where row k stands in the data; in its own place if there is no random order.
    place: Option<Vec<u32>>,
    random: Option<Pcg64>,
    /// The rows that count, as the next pass takes them.
    order: Vec<u32>,
}

impl<'a> Ordered<'a> {
    /// `counts` tells whether example i of the data is to come at all.
    pub(super) fn new(
        rows: &'a Rows,
        transform: Affine<'_>,
        shuffle: Option<u64>,
        counts: impl Fn(usize) -> bool,
    ) -> Result<Ordered<'a>> {
        let Ok(count) = u32::try_from(rows.len()) else {
            let what = "more than 2^32 examples";
            return Err(Error::Numerical { what });
        };
        let mut random = shuffle.map(Pcg64::seed_from_u64);
        let place = random.as_mut().map(|random| {
            let mut place: Vec<u32> = (0..count).collect();
            place.shuffle(random);
            place
        });
        let rows = copied(rows, transform, place.as_deref())?;
        let mut ordered = Ordered {
            rows,
            place,
            random,
            order: Vec::new(),
        };
        ordered.order = (0..count).filter(|&k| counts(ordered.place(k))).collect();
        Ok(ordered)
    }

    pub(super) fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Where row k stands in the data.
    #[inline]
    pub(super) fn place(&self, k: u32) -> usize {
        let place = self.place.as_ref();
        place.map_or(k, |place| place[k as usize]) as usize
    }

    /// Makes the order of the next pass.
    pub(super) fn shuffle(&mut self) {
        if let Some(random) = &mut self.random {
            let mut blocks: Vec<&[u32]> = self.order.chunks(BLOCK).collect();
            blocks.shuffle(random);
            self.order = blocks.concat();
        }
    }

    /// The rows that count, in the order of this pass.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    #[inline(always)]
    pub(super) fn row(&self, k: u32) -> Row<'_> {
        self.rows.row(k as usize)
    }

    /// x·w of all rows, in the order of the data.
    pub(super) fn scores(&self, w: &[f64]) -> Vec<f64> {
        let n = self.rows.len();
        let score = |k: usize| self.rows.row(k).dot(w);
        let scores: Vec<f64> = (0..n).into_par_iter().map(score).collect();
        let Some(place) = &self.place else {
            return scores;
        };
        let mut placed = vec![0.0; n];
        for (&i, score) in place.iter().zip(scores) {
            placed[i as usize] = score;
        }
        placed
    }
}

/// What becomes of every feature: (x_j − m_j)/r_j.
#[derive(Clone, Copy, Default)]
pub(super) struct Affine<'a> {
    /// m_j; 0 if none.
    pub(super) shift: Option<&'a [f64]>,
    /// r_j; 1 if none.
    pub(super) divisors: Option<&'a [f64]>,
}

impl Affine<'_> {
    #[inline]
    fn apply(&self, j: usize, x: f64) -> f64 {
        let x = self.shift.map_or(x, |shift| x - shift[j]);
        self.divisors.map_or(x, |divisors| x / divisors[j])
    }
}

/// The transformed rows, row k being row place_k, all of them if there are no places; a copy only where something changes. Features of sparse rows with a
/// shift are written out where they are not stored.
pub(super) fn copied<'a>(
    rows: &'a Rows,
    transform: Affine<'_>,
    place: Option<&[u32]>,
) -> Result<Cow<'a, Rows>> {
    if transform.divisors.is_none() && transform.shift.is_none() && place.is_none() {
        return Ok(Cow::Borrowed(rows));
    }
    let (n, d) = (place.map_or(rows.len(), <[u32]>::len), rows.cols());
    let row = |k: usize| rows.row(place.map_or(k, |place| place[k] as usize));
    let stored = (0..n).map(|k| row(k).stored()).sum();
    let mut values = Vec::with_capacity(stored);
    Ok(Cow::Owned(match rows {
        Rows::Dense(_) => {
            let one = |(j, x): (usize, f64)| transform.apply(j, x);
            (0..n).for_each(|k| values.extend(row(k).entries().map(one)));
            Rows::Dense(Dense::new(values, n, d)?)
        }
        Rows::Coded(coded) if transform.divisors.is_none() && transform.shift.is_none() => {
            let places = (0..n).map(|k| place.map_or(k, |place| place[k] as usize));
            Rows::Coded(coded.at(places))
        }
        Rows::Csr(_) | Rows::Coded(_) => {
            let shifted: Vec<usize> = match transform.shift {
                Some(shift) => (0..d).filter(|&j| shift[j] != 0.0).collect(),
                None => Vec::new(),
            };
            let mut indices = Vec::with_capacity(stored);
            let mut indptr = Vec::with_capacity(n + 1);
            indptr.push(0);
            for k in 0..n {
                for_each_with(row(k), &shifted, |j, x| {
                    indices.push(j as u32);
                    values.push(transform.apply(j, x));
                });
                indptr.push(indices.len());
            }
            Rows::Csr(Csr::new(indptr, indices, values, d)?)
        }
    }))
}

/// Every entry that the row stores, and 0 for each of `columns`, ascending, that it lacks; in the order of the columns.
#[inline]
pub(super) fn for_each_with(row: Row<'_>, columns: &[usize], mut entry: impl FnMut(usize, f64)) {
    let mut columns = columns.iter().copied().peekable();
    for (j, x) in row.entries() {
        while let Some(missing) = columns.next_if(|&column| column < j) {
            entry(missing, 0.0);
        }
        columns.next_if_eq(&j);
        entry(j, x);
    }
    columns.for_each(|missing| entry(missing, 0.0));
}
