//! Rows less a fixed vector.
//!
//! With an intercept the objective does not change when a constant is taken from a feature: b and λ take it
//! up. Features are therefore read less their mean, so that one like a year, an age or a time stamp does not
//! drown its own variation in rounding: all features of dense rows, and of sparse rows those that every row stores.
//! The others stay as they are: less a mean they would not be sparse. Coded rows are never centred: their map has done it.

use crate::data::rows::{Row, Rows, dot};

/// The weighted mean of every feature that is centred where rows are copied, and 0 for the others: all of dense rows, of
/// sparse rows those that at least half of the rows store, so that at most twice as many entries are stored. None where
/// nothing is centred.
pub(super) fn means(rows: &Rows, weights: Option<&[f64]>) -> Option<Vec<f64>> {
    if matches!(rows, Rows::Coded(_)) {
        return None; // the map has centred the numbers, and cells are sparse
    }
    let (n, d) = (rows.len(), rows.cols());
    let (mut sums, mut stored, mut total) = (vec![0.0; d], vec![0_usize; d], 0.0);
    for i in 0..n {
        let s = weights.map_or(1.0, |weights| weights[i]);
        total += s;
        rows.row(i).for_each(|j, x| {
            sums[j] += s * x;
            stored[j] += 1;
        });
    }
    let least = n.div_ceil(2);
    // A sum that is no number has no mean to take off.
    let mean = |(sum, stored): (f64, usize)| {
        let mean = sum / total;
        if stored >= least && mean.is_finite() {
            mean
        } else {
            0.0
        }
    };
    let means: Vec<f64> = sums.into_iter().zip(stored).map(mean).collect();
    means.iter().any(|m| *m != 0.0).then_some(means)
}

/// m·w: what the scores of centred rows lack.
pub(super) fn offset(shift: Option<&[f64]>, raw: &[f64]) -> f64 {
    shift.map_or(0.0, |shift| dot(shift, raw))
}

/// All rows, less `shift` if there is one. It is 0 for a feature that a sparse row may lack.
#[derive(Clone, Copy)]
pub(super) struct Centred<'a> {
    pub(super) rows: &'a Rows,
    pub(super) shift: Option<&'a [f64]>,
}

/// One of them.
#[derive(Clone, Copy)]
pub(super) struct CentredRow<'a> {
    pub(super) row: Row<'a>,
    shift: Option<&'a [f64]>,
}

impl<'a> Centred<'a> {
    #[inline]
    pub(super) fn row(self, i: usize) -> CentredRow<'a> {
        CentredRow {
            row: self.rows.row(i),
            shift: self.shift,
        }
    }
}

impl<'a> CentredRow<'a> {
    /// Whether the entries differ from those stored.
    #[inline]
    pub(super) fn is_shifted(self) -> bool {
        self.shift.is_some()
    }

    /// (x − m)·w, each difference before its product.
    #[inline(always)]
    pub(super) fn dot(self, w: &[f64]) -> f64 {
        match self.shift {
            None => self.row.dot(w),
            Some(m) => dot_shifted(self.row, m, w),
        }
    }

    /// w ← w + a(x − m).
    #[inline(always)]
    pub(super) fn add_to(self, a: f64, w: &mut [f64]) {
        match self.shift {
            None => self.row.add_to(a, w),
            Some(m) => add_shifted(self.row, m, a, w),
        }
    }

    /// v ← v + a(x − m) and w ← w + b(x − m).
    #[inline(always)]
    pub(super) fn add_to_both(self, [a, b]: [f64; 2], [v, w]: [&mut [f64]; 2]) {
        match self.shift {
            None => self.row.add_to_both([a, b], [v, w]),
            Some(m) => add_both_shifted(self.row, m, [a, b], [v, w]),
        }
    }

    /// Calls `with` on x − m written out.
    pub(super) fn with_values<T>(self, with: impl FnOnce(Row<'_>) -> T) -> T {
        if !self.is_shifted() {
            return with(self.row);
        }
        let values: Vec<f64> = self.entries().map(|(_, x)| x).collect();
        match self.row {
            Row::Dense(_) => with(Row::Dense(&values)),
            Row::Sparse(columns, _) => with(Row::Sparse(columns, &values)),
            Row::Coded { .. } => with(self.row), // never shifted
        }
    }

    /// x − m of the values of a dense row.
    pub(super) fn centre(self, values: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let shift = self.shift.unwrap_or_default();
        let less = move |(j, x): (usize, &f64)| x - shift.get(j).copied().unwrap_or(0.0);
        values.iter().enumerate().map(less)
    }

    /// The entries of x − m.
    pub(super) fn entries(self) -> impl Iterator<Item = (usize, f64)> + 'a {
        let shift = self.shift.unwrap_or_default();
        // The shift is 0 for every feature of coded rows.
        let less = move |(j, x): (usize, f64)| (j, x - shift.get(j).copied().unwrap_or(0.0));
        self.row.entries().map(less)
    }
}

/// Out of line, so that rows that are not shifted, short ones above all, are read in place.
#[inline(never)]
fn dot_shifted(row: Row<'_>, m: &[f64], w: &[f64]) -> f64 {
    match row {
        Row::Dense(x) => dot_less(x, m, w),
        Row::Sparse(columns, values) => {
            let entries = columns.iter().zip(values);
            let term = |(&j, x): (&u32, &f64)| (x - m[j as usize]) * w[j as usize];
            entries.map(term).sum()
        }
        Row::Coded { .. } => row.dot(w), // never shifted
    }
}

#[inline(never)]
fn add_shifted(row: Row<'_>, m: &[f64], a: f64, w: &mut [f64]) {
    match row {
        Row::Dense(x) => {
            for ((w, x), m) in w.iter_mut().zip(x).zip(m) {
                *w += a * (x - m);
            }
        }
        Row::Sparse(columns, values) => {
            for (&j, x) in columns.iter().zip(values) {
                w[j as usize] += a * (x - m[j as usize]);
            }
        }
        Row::Coded { .. } => row.add_to(a, w), // never shifted
    }
}

#[inline(never)]
fn add_both_shifted(row: Row<'_>, m: &[f64], [a, b]: [f64; 2], [v, w]: [&mut [f64]; 2]) {
    match row {
        Row::Sparse(columns, values) => {
            for (&j, x) in columns.iter().zip(values) {
                let j = j as usize;
                let x = x - m[j];
                v[j] += a * x;
                w[j] += b * x;
            }
        }
        Row::Dense(_) | Row::Coded { .. } => {
            add_shifted(row, m, a, v);
            add_shifted(row, m, b, w);
        }
    }
}

/// (x − m)·w, in pieces on the stack, so that the one fast sum serves here too.
fn dot_less(x: &[f64], m: &[f64], w: &[f64]) -> f64 {
    let mut buffer = [0.0; 64];
    let pieces = x.chunks(64).zip(m.chunks(64)).zip(w.chunks(64));
    pieces
        .map(|((x, m), w)| {
            let piece = &mut buffer[..x.len()];
            for ((out, x), m) in piece.iter_mut().zip(x).zip(m) {
                *out = x - m;
            }
            dot(piece, w)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::rows::{Csr, Dense};

    /// Dense or sparse, shifted or not: one reading of a row is two, to the last bit.
    #[test]
    fn two_sums_at_once_are_those_one_after_the_other() {
        let sparse = Csr::new(
            vec![0, 2, 4],
            vec![0, 2, 0, 1],
            vec![0.3, -2.0, 7.1, 0.9],
            3,
        );
        let dense = Dense::new(vec![0.3, 0.0, -2.0, 7.1, 0.9, 0.0], 2, 3);
        let shift = [3.7, 0.0, 0.0];
        for rows in [Rows::Csr(sparse.unwrap()), Rows::Dense(dense.unwrap())] {
            for shift in [None, Some(&shift[..])] {
                let rows = Centred { rows: &rows, shift };
                let (mut both, mut each) = ([[0.1, 0.2, 0.3]; 2], [[0.1, 0.2, 0.3]; 2]);
                for i in 0..2 {
                    let [v, w] = &mut both;
                    rows.row(i).add_to_both([1.7, -0.3], [v, w]);
                    rows.row(i).add_to(1.7, &mut each[0]);
                    rows.row(i).add_to(-0.3, &mut each[1]);
                }
                assert_eq!(both, each);
            }
        }
    }
}
