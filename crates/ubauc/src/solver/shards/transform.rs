//! From raw features to those of the solver, x ↦ Lᵀx, and from the solver's weights to those of raw features, t ↦ Lt:
//! L is diagonal, 1 over the divisors, or the root of a [`Nesting`].

use std::borrow::Cow;

use crate::solver::nesting::Nesting;

/// L.
pub(super) enum Transform<'a> {
    /// I.
    None,
    /// Every feature is divided by a number.
    Divisors(Cow<'a, [f64]>),
    Nesting(&'a Nesting),
}

/// L of some features.
pub(super) enum Part {
    None,
    Divisors(Vec<f64>),
    Nesting(Nesting),
}

impl Part {
    /// As [`Transform::to_square`].
    pub(super) fn to_square(&self, a: &mut [f64], d: usize) {
        match self {
            Part::None => {}
            Part::Divisors(divisors) => divide_square(divisors, a, d),
            Part::Nesting(nesting) => nesting.to_square(a),
        }
    }
}

impl Transform<'_> {
    /// g ← Lᵀg.
    pub(super) fn to_gradient(&self, g: &mut [f64]) {
        match self {
            Transform::None => {}
            Transform::Divisors(divisors) => divide(divisors, g),
            Transform::Nesting(nesting) => nesting.to_gradient(g),
        }
    }

    /// t ← Lt.
    pub(super) fn to_weights(&self, t: &mut [f64]) {
        match self {
            Transform::None => {}
            Transform::Divisors(divisors) => divide(divisors, t),
            Transform::Nesting(nesting) => nesting.to_weights(t),
        }
    }

    /// w ← L⁻¹w.
    pub(super) fn undo_weights(&self, w: &mut [f64]) {
        match self {
            Transform::None => {}
            Transform::Divisors(divisors) => {
                w.iter_mut()
                    .zip(divisors.iter())
                    .for_each(|(w, by)| *w *= by);
            }
            Transform::Nesting(nesting) => nesting.undo_weights(w),
        }
    }

    /// A ← LᵀAL of a d × d matrix, lower triangle.
    pub(super) fn to_square(&self, a: &mut [f64], d: usize) {
        match self {
            Transform::None => {}
            Transform::Divisors(divisors) => divide_square(divisors, a, d),
            Transform::Nesting(nesting) => nesting.to_square(a),
        }
    }

    /// x ← the diagonal of Lᵀdiag(x)L.
    pub(super) fn to_diagonal(&self, x: &mut [f64]) {
        match self {
            Transform::None => {}
            Transform::Divisors(divisors) => {
                divide(divisors, x);
                divide(divisors, x);
            }
            Transform::Nesting(nesting) => nesting.to_diagonal(x),
        }
    }

    /// The entries of Lᵀx of one row.
    pub(super) fn to_entries(&self, mut row: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
        match self {
            Transform::None => row,
            Transform::Divisors(divisors) => {
                row.iter_mut()
                    .for_each(|(j, x)| *x /= divisors[*j as usize]);
                row
            }
            Transform::Nesting(nesting) => nesting.to_entries(row),
        }
    }

    /// L of some features, ascending; of a nesting whole components.
    pub(super) fn part(&self, of: &[u32]) -> Part {
        match self {
            Transform::None => Part::None,
            Transform::Divisors(divisors) => {
                Part::Divisors(of.iter().map(|&j| divisors[j as usize]).collect())
            }
            Transform::Nesting(nesting) => Part::Nesting(nesting.part(of)),
        }
    }
}

fn divide(divisors: &[f64], x: &mut [f64]) {
    x.iter_mut().zip(divisors).for_each(|(x, by)| *x /= by);
}

fn divide_square(divisors: &[f64], a: &mut [f64], d: usize) {
    for ((j, row), by) in a.chunks_exact_mut(d.max(1)).enumerate().zip(divisors) {
        row[..=j]
            .iter_mut()
            .zip(divisors)
            .for_each(|(a, divisor)| *a /= divisor * by);
    }
}
