//! Products with some hundred coded rows at a time.
//!
//! Numbers are read down their columns, codes row by row, some rows side by side. Weights and sums have a power of two of
//! places, more than there are features: cut to as many bits a code stays what it is, and a gap, all of whose bits are set,
//! leads to the last place. That costs neither a branch nor a call for a row. x·w is summed in the order of the features, so that it has the bits of
//! [`Row::dot`](crate::data::rows::Row::dot); a sum over rows takes numbers in blocks, so that its last bits depend on
//! where these begin.

use super::{Code, Coded, Codes};
use crate::data::rows::dot;

/// Rows of a block.
pub(crate) const BLOCK: usize = 256;

/// Which rows a block has: as many as there are numbers for them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Places<'a> {
    /// From this row on.
    Span(usize),
    /// Those at these distances from a row.
    List {
        /// The row.
        start: usize,
        /// The distances.
        at: &'a [u32],
    },
}

/// What is multiplied with the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Power {
    /// x_ij.
    One,
    /// x_ij².
    Two,
}

/// Places for d features and, behind them, the gaps: at least one.
fn places_for(d: usize) -> usize {
    (d + 1).next_power_of_two()
}

/// M sums for each feature.
pub(crate) struct FeatureSums<const M: usize> {
    sums: Vec<[f64; M]>,
    cols: usize,
    power: Power,
}

impl<const M: usize> FeatureSums<M> {
    /// Zeros, for the features of these rows.
    pub(crate) fn new(rows: &Coded, power: Power) -> FeatureSums<M> {
        FeatureSums {
            sums: vec![[0.0; M]; places_for(rows.cols)],
            cols: rows.cols,
            power,
        }
    }

    /// Sum k of every feature.
    pub(crate) fn sum(&self, k: usize) -> impl Iterator<Item = f64> + '_ {
        self.sums[..self.cols].iter().map(move |sums| sums[k])
    }
}

/// Weights of features, and 0 for the gaps.
pub(crate) struct FeatureWeights {
    weights: Vec<f64>,
    power: Power,
}

impl FeatureWeights {
    /// Of the features of these rows; those beyond the end of `w` are 0.
    pub(crate) fn new(rows: &Coded, w: &[f64], power: Power) -> FeatureWeights {
        let mut weights = vec![0.0; places_for(rows.cols)];
        let n = w.len().min(rows.cols);
        weights[..n].copy_from_slice(&w[..n]);
        FeatureWeights { weights, power }
    }
}

impl Coded {
    /// z_k = x_k·w for the rows of a block, of at most [`BLOCK`] rows.
    pub(crate) fn block_dots(&self, places: Places<'_>, w: &FeatureWeights, z: &mut [f64]) {
        z.fill(0.0);
        for (column, &w_j) in self.numbers.iter().zip(&w.weights) {
            match w.power {
                Power::One => column.each(places, z, |z, x| *z += w_j * x),
                Power::Two => column.each(places, z, |z, x| *z += w_j * (x * x)),
            }
        }
        match self.all_codes() {
            Codes::Short(codes) => dots(codes, self.width, places, &w.weights, z),
            Codes::Long(codes) => dots(codes, self.width, places, &w.weights, z),
        }
    }

    /// sum_j ← sum_j + Σ_k a_k x_kj over the rows of a block, for each of the M factors a.
    pub(crate) fn block_add<const M: usize>(
        &self,
        places: Places<'_>,
        a: [&[f64]; M],
        sums: &mut FeatureSums<M>,
    ) {
        let rows = a.first().map_or(0, |a| a.len());
        let mut buffer = [0.0; BLOCK];
        let of_column = &mut buffer[..rows];
        for (column, sum) in self.numbers.iter().zip(&mut sums.sums) {
            match sums.power {
                Power::One => column.each(places, of_column, |out, x| *out = x),
                Power::Two => column.each(places, of_column, |out, x| *out = x * x),
            }
            for (sum, a) in sum.iter_mut().zip(a) {
                *sum += dot(a, of_column);
            }
        }
        match self.all_codes() {
            Codes::Short(codes) => scatter(codes, self.width, places, a, &mut sums.sums),
            Codes::Long(codes) => scatter(codes, self.width, places, a, &mut sums.sums),
        }
    }
}

/// z_k ← z_k + Σ w_c over the codes of row k.
#[inline]
fn dots<C: Code>(codes: &[C], width: usize, places: Places<'_>, w: &[f64], z: &mut [f64]) {
    if width == 0 || w.is_empty() {
        return;
    }
    let at = |code: C| w[code.index() & (w.len() - 1)];
    let row = places.rows(codes, width);
    let mut by_four = z.chunks_exact_mut(4);
    let mut k = 0;
    for z in &mut by_four {
        let [mut z0, mut z1, mut z2, mut z3] = [z[0], z[1], z[2], z[3]];
        let rows = (row(k).iter().zip(row(k + 1))).zip(row(k + 2).iter().zip(row(k + 3)));
        for ((a, b), (c, d)) in rows {
            z0 += at(*a);
            z1 += at(*b);
            z2 += at(*c);
            z3 += at(*d);
        }
        z.copy_from_slice(&[z0, z1, z2, z3]);
        k += 4;
    }
    for (k, z) in (k..).zip(by_four.into_remainder()) {
        row(k).iter().for_each(|code| *z += at(*code));
    }
}

/// w_c ← w_c + a_k for the codes c of row k.
#[inline]
fn scatter<C: Code, const M: usize>(
    codes: &[C],
    width: usize,
    places: Places<'_>,
    a: [&[f64]; M],
    sums: &mut [[f64; M]],
) {
    if width == 0 || sums.is_empty() {
        return;
    }
    let rows = a.first().map_or(0, |a| a.len());
    let a = a.map(|a| &a[..rows]);
    let last = sums.len() - 1;
    let row = places.rows(codes, width);
    for k in 0..rows {
        let a: [f64; M] = std::array::from_fn(|m| a[m][k]);
        for code in row(k) {
            let sum = &mut sums[code.index() & last];
            for m in 0..M {
                sum[m] += a[m];
            }
        }
    }
}

impl<'a> Places<'a> {
    /// The codes of row k of the block.
    #[inline(always)]
    fn rows<C>(self, codes: &'a [C], width: usize) -> impl Fn(usize) -> &'a [C] {
        let (start, at) = match self {
            Places::Span(start) => (start, None),
            Places::List { start, at } => (start, Some(at)),
        };
        let codes = &codes[start * width..];
        move |k| {
            let i = at.map_or(k, |at| at[k] as usize);
            &codes[i * width..][..width]
        }
    }
}
