//! Rows less a fixed vector.
//!
//! With an intercept the objective does not change when a constant is taken from a feature: b and λ take it
//! up. Dense rows are therefore read less their mean, so that a feature like a year or a time stamp does not
//! drown its own variation in rounding. Sparse rows stay as they are: less a mean they would not be sparse.

use crate::data::rows::{Row, Rows, dot};

/// All rows, less `shift` if they are dense and there is one.
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
    /// (x − m)·w, each difference before its product.
    #[inline]
    pub(super) fn dot(self, w: &[f64]) -> f64 {
        match (self.row, self.shift) {
            (Row::Dense(x), Some(m)) => dot_less(x, m, w),
            (row, _) => row.dot(w),
        }
    }

    /// w ← w + a(x − m).
    #[inline]
    pub(super) fn add_to(self, a: f64, w: &mut [f64]) {
        match (self.row, self.shift) {
            (Row::Dense(x), Some(m)) => {
                for ((w, x), m) in w.iter_mut().zip(x).zip(m) {
                    *w += a * (x - m);
                }
            }
            (row, _) => row.add_to(a, w),
        }
    }

    /// The entries of x − m.
    pub(super) fn entries(self) -> impl Iterator<Item = (usize, f64)> + 'a {
        let dense = matches!(self.row, Row::Dense(_));
        let shift = self.shift.filter(|_| dense).unwrap_or_default();
        let less = move |(j, x): (usize, f64)| (j, x - shift.get(j).copied().unwrap_or(0.0));
        self.row.entries().map(less)
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
