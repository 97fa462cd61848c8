//! The feature rows, dense, sparse or coded: the only place that knows which.
//!
//! The numbers are owned, or lent for as long as the program runs: a `Vec` or a `&'static` slice.

mod coded;

use std::borrow::Cow;

pub(crate) use coded::{
    BLOCK, Code, CodeVec, FeatureSums, FeatureWeights, NumberColumn, Places, Power, Standard, cells,
};
pub use coded::{Coded, CodedShape, Codes, NO_CELL, Numbers};

use coded::{coded_add_outer, coded_add_to, coded_dot};

use crate::{Error, Result};

/// Sparse rows, compressed: row i owns `indices[indptr[i]..indptr[i + 1]]` and the values there.
#[derive(Debug, Clone, PartialEq)]
pub struct Csr {
    indptr: Vec<usize>,
    indices: Cow<'static, [u32]>,
    values: Cow<'static, [f64]>,
    cols: usize,
}

/// Dense rows, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    values: Cow<'static, [f64]>,
    rows: usize,
    cols: usize,
}

/// The feature rows of a data set. Every number is finite.
#[derive(Debug, Clone, PartialEq)]
pub enum Rows {
    /// All entries stored.
    Dense(Dense),
    /// Only the entries that the data names.
    Csr(Csr),
    /// A few numbers, and cells whose value is 1.
    Coded(Coded),
}

/// One row.
#[derive(Debug, Clone, Copy)]
pub enum Row<'a> {
    /// All entries.
    Dense(&'a [f64]),
    /// Column and value of the entries stored, columns increasing.
    Sparse(&'a [u32], &'a [f64]),
    /// The first features, and the later ones that are 1.
    Coded {
        /// Features 0 … q − 1.
        values: Numbers<'a>,
        /// Features that are 1, increasing, with gaps in between where an effect has no cell.
        codes: Codes<'a>,
    },
}

impl Csr {
    /// Checks the shape: `indptr` ascends from 0 to the number of entries, columns increase within
    /// a row and stay below `cols`, values are finite.
    pub fn new(
        indptr: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
        cols: usize,
    ) -> Result<Csr> {
        Csr::of(indptr, indices.into(), values.into(), cols)
    }

    /// The same of entries that belong to someone else.
    pub fn lent(
        indptr: Vec<usize>,
        indices: &'static [u32],
        values: &'static [f64],
        cols: usize,
    ) -> Result<Csr> {
        Csr::of(indptr, indices.into(), values.into(), cols)
    }

    fn of(
        indptr: Vec<usize>,
        indices: Cow<'static, [u32]>,
        values: Cow<'static, [f64]>,
        cols: usize,
    ) -> Result<Csr> {
        let malformed = |what: &str| Error::Parameter {
            name: "CSR rows",
            value: what.to_string(),
            must: "ascending row starts, increasing columns below the dimension, finite values",
        };
        if indices.len() != values.len() {
            let (expected, got) = (indices.len(), values.len());
            return Err(Error::Length {
                what: "values of CSR rows",
                expected,
                got,
            });
        }
        if indptr.first() != Some(&0) || indptr.last() != Some(&indices.len()) {
            return Err(malformed("row starts"));
        }
        for (row, span) in indptr.windows(2).enumerate() {
            // A start beyond the end of the entries shows here as well: the last one is their number.
            let columns = indices
                .get(span[0]..span[1])
                .ok_or_else(|| malformed("row starts"))?;
            if columns.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(malformed(&format!("columns of row {row}")));
            }
            if columns.last().is_some_and(|&last| last as usize >= cols) {
                return Err(malformed(&format!("a column of row {row}")));
            }
        }
        if let Some(at) = values.iter().position(|v| !v.is_finite()) {
            let row = indptr.partition_point(|&start| start <= at) - 1;
            let value = values[at];
            return Err(Error::NotFinite {
                what: "a feature",
                row,
                value,
                must: "finite",
            });
        }
        Ok(Csr {
            indptr,
            indices,
            values,
            cols,
        })
    }

    /// For readers, which have checked every entry as it came.
    pub(crate) fn from_checked(
        indptr: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
        cols: usize,
    ) -> Csr {
        debug_assert_eq!(indptr.last(), Some(&indices.len()));
        debug_assert_eq!(indices.len(), values.len());
        Csr {
            indptr,
            indices: indices.into(),
            values: values.into(),
            cols,
        }
    }

    /// Where each row starts, and the end of the last.
    pub fn indptr(&self) -> &[usize] {
        &self.indptr
    }

    /// Columns of the entries, from 0.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Values of the entries.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Row starts, columns and values, without a copy where they are owned.
    pub fn into_parts(self) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
        (
            self.indptr,
            self.indices.into_owned(),
            self.values.into_owned(),
        )
    }

    /// All entries written out. The caller has seen that they fit.
    fn to_dense(&self) -> Dense {
        let rows = self.indptr.len() - 1;
        let mut values = vec![0.0; rows * self.cols];
        for (row, span) in self.indptr.windows(2).enumerate() {
            let dense = &mut values[row * self.cols..(row + 1) * self.cols];
            let span = span[0]..span[1];
            for (&column, &value) in self.indices[span.clone()].iter().zip(&self.values[span]) {
                dense[column as usize] = value;
            }
        }
        Dense {
            values: values.into(),
            rows,
            cols: self.cols,
        }
    }
}

impl Dense {
    /// Row-major values; every value must be finite.
    pub fn new(values: Vec<f64>, rows: usize, cols: usize) -> Result<Dense> {
        Dense::of(values.into(), rows, cols)
    }

    /// The same of values that belong to someone else.
    pub fn lent(values: &'static [f64], rows: usize, cols: usize) -> Result<Dense> {
        Dense::of(values.into(), rows, cols)
    }

    fn of(values: Cow<'static, [f64]>, rows: usize, cols: usize) -> Result<Dense> {
        let expected = rows.saturating_mul(cols);
        if values.len() != expected {
            let got = values.len();
            return Err(Error::Length {
                what: "values of dense rows",
                expected,
                got,
            });
        }
        if let Some(at) = values.iter().position(|v| !v.is_finite()) {
            let value = values[at];
            return Err(Error::NotFinite {
                what: "a feature",
                row: at / cols,
                value,
                must: "finite",
            });
        }
        Ok(Dense { values, rows, cols })
    }

    /// The values, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The same rows without the zeros.
    pub fn to_csr(&self) -> Result<Csr> {
        if self.cols > u32::MAX as usize {
            let what = "more than 2^32 columns";
            return Err(Error::Numerical { what });
        }
        Ok(self.nonzero(self.values.iter().filter(|&&x| x != 0.0).count()))
    }

    /// The entries that are not 0, of which there are `count`. The caller has seen that columns fit.
    fn nonzero(&self, count: usize) -> Csr {
        let mut indptr = Vec::with_capacity(self.rows + 1);
        let mut indices = Vec::with_capacity(count);
        let mut values = Vec::with_capacity(count);
        indptr.push(0);
        for row in 0..self.rows {
            let row = &self.values[row * self.cols..(row + 1) * self.cols];
            for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                indices.push(j as u32);
                values.push(x);
            }
            indptr.push(indices.len());
        }
        Csr::from_checked(indptr, indices, values, self.cols)
    }
}

impl Rows {
    /// Whether sparse rows take less memory than all entries written out: 12 bytes for each entry stored and 8 for each
    /// row against 8 for each of rows × columns.
    pub fn are_sparse(rows: usize, cols: usize, stored: usize) -> bool {
        let sparse = stored
            .saturating_mul(12)
            .saturating_add(rows.saturating_mul(8));
        sparse < rows.saturating_mul(cols).saturating_mul(8)
    }

    /// Keeps sparse rows sparse if that takes less memory.
    pub fn smaller(csr: Csr) -> Rows {
        match Rows::are_sparse(csr.indptr.len() - 1, csr.cols, csr.indices.len()) {
            true => Rows::Csr(csr),
            false => Rows::Dense(csr.to_dense()),
        }
    }

    /// The same choice for values that came as dense rows.
    pub fn smaller_of_dense(dense: Dense) -> Rows {
        let nonzero = dense.values.iter().filter(|&&x| x != 0.0).count();
        let sparse = Rows::are_sparse(dense.rows, dense.cols, nonzero);
        if !sparse || dense.cols > u32::MAX as usize {
            return Rows::Dense(dense);
        }
        Rows::Csr(dense.nonzero(nonzero))
    }

    /// Number of rows, N.
    pub fn len(&self) -> usize {
        match self {
            Rows::Dense(dense) => dense.rows,
            Rows::Csr(csr) => csr.indptr.len() - 1,
            Rows::Coded(coded) => coded.len(),
        }
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of columns, d.
    pub fn cols(&self) -> usize {
        match self {
            Rows::Dense(dense) => dense.cols,
            Rows::Csr(csr) => csr.cols,
            Rows::Coded(coded) => coded.shape().cols,
        }
    }

    /// Entries stored.
    pub fn stored(&self) -> usize {
        match self {
            Rows::Dense(dense) => dense.values.len(),
            Rows::Csr(csr) => csr.indices.len(),
            Rows::Coded(coded) => coded.stored(),
        }
    }

    /// Row i.
    ///
    /// # Panics
    /// If `i` is not below [`Rows::len`].
    #[inline(always)] // a call would pass the row through memory, at several times its cost
    pub fn row(&self, i: usize) -> Row<'_> {
        match self {
            Rows::Dense(dense) => Row::Dense(&dense.values[i * dense.cols..(i + 1) * dense.cols]),
            Rows::Csr(csr) => {
                let span = csr.indptr[i]..csr.indptr[i + 1];
                Row::Sparse(&csr.indices[span.clone()], &csr.values[span])
            }
            Rows::Coded(coded) => coded.row(i),
        }
    }

    /// The same rows, as sparse ones.
    pub fn into_csr(self) -> Result<Csr> {
        match self {
            Rows::Csr(csr) => Ok(csr),
            Rows::Dense(dense) => dense.to_csr(),
            Rows::Coded(coded) => Ok(coded.to_csr()),
        }
    }

    /// The rows that are chosen, in their order; the columns stay as many.
    ///
    /// # Panics
    /// If `chosen` has another length than there are rows.
    pub fn part(&self, chosen: &[bool]) -> Rows {
        assert_eq!(chosen.len(), self.len(), "one answer for each row");
        let kept = || (0..self.len()).filter(|&i| chosen[i]);
        let mut values = Vec::new();
        match self {
            Rows::Dense(dense) => {
                let row = |i: usize| &dense.values[i * dense.cols..(i + 1) * dense.cols];
                kept().for_each(|i| values.extend_from_slice(row(i)));
                Rows::Dense(Dense {
                    values: values.into(),
                    rows: kept().count(),
                    cols: dense.cols,
                })
            }
            Rows::Csr(csr) => {
                let (mut indptr, mut indices) = (vec![0], Vec::new());
                for i in kept() {
                    let span = csr.indptr[i]..csr.indptr[i + 1];
                    indices.extend_from_slice(&csr.indices[span.clone()]);
                    values.extend_from_slice(&csr.values[span]);
                    indptr.push(indices.len());
                }
                Rows::Csr(Csr::from_checked(indptr, indices, values, csr.cols))
            }
            Rows::Coded(coded) => Rows::Coded(coded.at(kept())),
        }
    }

    /// Column j of every row.
    pub fn column(&self, j: usize) -> Vec<f64> {
        (0..self.len()).map(|i| self.row(i).get(j)).collect()
    }

    /// These columns, each once, in this order; one that is not there is zero.
    pub(crate) fn select(&self, columns: &[usize]) -> Rows {
        let cols = columns.len();
        match self {
            Rows::Dense(dense) => {
                let of_row = |i| columns.iter().map(move |&j| self.row(i).get(j));
                Rows::Dense(Dense {
                    values: (0..dense.rows).flat_map(of_row).collect(),
                    rows: dense.rows,
                    cols,
                })
            }
            Rows::Csr(_) | Rows::Coded(_) => {
                let mut to = vec![None; self.cols()];
                for (k, &j) in columns.iter().enumerate() {
                    if let Some(to) = to.get_mut(j) {
                        *to = Some(k as u32);
                    }
                }
                let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
                for i in 0..self.len() {
                    let entries = self.row(i).entries();
                    let mut row: Vec<(u32, f64)> =
                        entries.filter_map(|(j, x)| Some((to[j]?, x))).collect();
                    row.sort_unstable_by_key(|(k, _)| *k);
                    indices.extend(row.iter().map(|(k, _)| *k));
                    values.extend(row.iter().map(|(_, x)| *x));
                    indptr.push(indices.len());
                }
                Rows::Csr(Csr::from_checked(indptr, indices, values, cols))
            }
        }
    }
}

impl<'a> Row<'a> {
    /// x·w. Columns beyond the end of `w` count as absent.
    #[inline]
    pub fn dot(self, w: &[f64]) -> f64 {
        match self {
            Row::Dense(values) => dot(values, w),
            Row::Sparse(indices, values) => sparse_dot(indices, values, w),
            Row::Coded { values, codes } => coded_dot(values, codes, w),
        }
    }

    /// x·a and x·b, the entries read once. Columns beyond the end of either count as absent.
    #[inline]
    pub(crate) fn dots(self, a: &[f64], b: &[f64]) -> [f64; 2] {
        match self {
            Row::Dense(values) => [dot(values, a), dot(values, b)],
            Row::Sparse(indices, values) => sparse_dots(indices, values, a, b),
            Row::Coded { values, codes } => {
                let n = a.len().min(b.len());
                [&a[..n], &b[..n]].map(|w| coded_dot(values, codes, w))
            }
        }
    }

    /// w ← w + a·x. Columns beyond the end of `w` are passed over.
    #[inline]
    pub fn add_to(self, a: f64, w: &mut [f64]) {
        match self {
            Row::Dense(values) => add_to(a, values, w),
            Row::Sparse(indices, values) => {
                for (&j, x) in indices.iter().zip(values) {
                    if let Some(w) = w.get_mut(j as usize) {
                        *w += a * x;
                    }
                }
            }
            Row::Coded { values, codes } => coded_add_to(a, values, codes, w),
        }
    }

    /// v ← v + a·x and w ← w + b·x, the entries read once.
    #[inline]
    pub(crate) fn add_to_both(self, [a, b]: [f64; 2], [v, w]: [&mut [f64]; 2]) {
        match self {
            Row::Sparse(indices, values) => {
                let n = v.len().min(w.len());
                let (v, w) = (&mut v[..n], &mut w[..n]);
                for (&j, x) in indices.iter().zip(values) {
                    let j = j as usize;
                    if j < n {
                        v[j] += a * x;
                        w[j] += b * x;
                    }
                }
            }
            Row::Dense(_) | Row::Coded { .. } => {
                self.add_to(a, v);
                self.add_to(b, w);
            }
        }
    }

    /// x_j, 0 where nothing is stored.
    pub fn get(self, j: usize) -> f64 {
        match self {
            Row::Dense(values) => values.get(j).copied().unwrap_or(0.0),
            Row::Sparse(indices, values) => {
                let at = u32::try_from(j)
                    .ok()
                    .and_then(|j| indices.binary_search(&j).ok());
                at.map_or(0.0, |at| values[at])
            }
            Row::Coded { values, codes } => match values.get(j) {
                Some(x) => x,
                None => f64::from(u8::from(codes.cells().any(|code| code == j))),
            },
        }
    }

    /// Column and value of every entry stored, columns increasing.
    #[inline]
    pub(crate) fn for_each(self, mut f: impl FnMut(usize, f64)) {
        match self {
            Row::Dense(values) => values.iter().enumerate().for_each(|(j, &x)| f(j, x)),
            Row::Sparse(indices, values) => {
                for (&j, &x) in indices.iter().zip(values) {
                    f(j as usize, x);
                }
            }
            Row::Coded { values, codes } => {
                values.iter().enumerate().for_each(|(j, x)| f(j, x));
                codes.cells().for_each(|j| f(j, 1.0));
            }
        }
    }

    /// A ← A + a·xxᵀ in the upper triangle of a matrix with rows of `m` numbers, m ≥ d.
    #[inline]
    pub(crate) fn add_outer(self, a: f64, m: usize, matrix: &mut [f64]) {
        match self {
            Row::Dense(values) => {
                for (j, &x) in values.iter().enumerate() {
                    add_to(a * x, &values[j..], &mut matrix[j * m + j..(j + 1) * m]);
                }
            }
            Row::Sparse(indices, values) => {
                for (k, (&j, &x)) in indices.iter().zip(values).enumerate() {
                    let row = &mut matrix[j as usize * m..(j as usize + 1) * m];
                    let scaled = a * x;
                    for (&j, &x) in indices[k..].iter().zip(&values[k..]) {
                        row[j as usize] += scaled * x;
                    }
                }
            }
            Row::Coded { values, codes } => coded_add_outer(a, (values, codes), m, matrix),
        }
    }

    /// Entries stored.
    pub fn stored(self) -> usize {
        match self {
            Row::Dense(values) => values.len(),
            Row::Sparse(_, values) => values.len(),
            Row::Coded { values, codes } => values.len() + codes.cells().count(),
        }
    }

    /// The entries stored, as (column, value), columns increasing.
    pub fn entries(self) -> impl Iterator<Item = (usize, f64)> + 'a {
        let none = Numbers::NONE;
        let (indices, values, numbers, codes): (&[u32], &[f64], _, _) = match self {
            Row::Dense(values) => (&[], values, none, Codes::Short(&[])),
            Row::Sparse(indices, values) => (indices, values, none, Codes::Short(&[])),
            Row::Coded { values, codes } => (&[], &[], values, codes),
        };
        let column = move |at: usize| indices.get(at).map_or(at, |&j| j as usize);
        let stored = values
            .iter()
            .enumerate()
            .map(move |(at, &x)| (column(at), x));
        let coded = (numbers.iter().enumerate()).chain(codes.cells().map(|j| (j, 1.0)));
        stored.chain(coded)
    }
}

/// How many sums run side by side, so that an addition need not wait for the one before and the
/// compiler can use vectors. Part of the result's last bits, hence fixed.
const LANES: usize = 8;

/// Σ_i a_i b_i over the shorter of the two.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let (a_lanes, b_lanes) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a_lanes
        .remainder()
        .iter()
        .zip(b_lanes.remainder())
        .map(|(a, b)| a * b)
        .sum();
    let mut sums = [0.0; LANES];
    for (a, b) in a_lanes.zip(b_lanes) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    rest + total(sums)
}

/// w ← w + a·x over the shorter of the two.
#[inline]
pub(crate) fn add_to(a: f64, x: &[f64], w: &mut [f64]) {
    w.iter_mut().zip(x).for_each(|(w, x)| *w += a * x);
}

/// The lanes, added in pairs.
#[inline]
pub(crate) fn total(s: [f64; LANES]) -> f64 {
    ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}

/// Σ x_j w_j over the entries, four sums side by side.
#[inline]
fn sparse_dot(indices: &[u32], values: &[f64], w: &[f64]) -> f64 {
    let at = |j: u32| w.get(j as usize).copied().unwrap_or(0.0);
    let (i4, v4) = (indices.chunks_exact(4), values.chunks_exact(4));
    let rest: f64 = i4
        .remainder()
        .iter()
        .zip(v4.remainder())
        .map(|(&j, x)| x * at(j))
        .sum();
    let mut sums = [0.0; 4];
    for (i, v) in i4.zip(v4) {
        for lane in 0..4 {
            sums[lane] += v[lane] * at(i[lane]);
        }
    }
    rest + ((sums[0] + sums[1]) + (sums[2] + sums[3]))
}

/// Σ x_j a_j and Σ x_j b_j over the entries, two sums side by side for each.
#[inline]
fn sparse_dots(indices: &[u32], values: &[f64], a: &[f64], b: &[f64]) -> [f64; 2] {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut sums = [[0.0; 2]; 2];
    let mut add = |lane: usize, j: u32, x: f64| {
        let j = j as usize;
        if j < n {
            sums[lane][0] += x * a[j];
            sums[lane][1] += x * b[j];
        }
    };
    let (i2, v2) = (indices.chunks_exact(2), values.chunks_exact(2));
    let rest = (i2.remainder(), v2.remainder());
    for (i, v) in i2.zip(v2) {
        add(0, i[0], v[0]);
        add(1, i[1], v[1]);
    }
    for (&j, &x) in rest.0.iter().zip(rest.1) {
        add(0, j, x);
    }
    [sums[0][0] + sums[1][0], sums[0][1] + sums[1][1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sparse() -> Csr {
        Csr::new(vec![0, 2, 2, 3], vec![0, 3, 1], vec![1.0, 2.0, -3.0], 4).unwrap()
    }

    #[test]
    fn dense_and_sparse_rows_agree() {
        let (s, d) = (Rows::Csr(sparse()), Rows::Dense(sparse().to_dense()));
        let w = [0.5, 1.0, 7.0, -2.0];
        for i in 0..3 {
            assert_eq!(s.row(i).dot(&w), d.row(i).dot(&w));
            assert_eq!(s.row(i).dot(&w[..2]), d.row(i).dot(&w[..2]));
            let ones = [1.0; 4];
            let both = [d.row(i).dot(&w), d.row(i).dot(&ones)];
            assert_eq!(s.row(i).dots(&w, &ones), both);
            assert_eq!(d.row(i).dots(&w, &ones), both);
            let (mut a, mut b) = ([w, ones], [w, ones]);
            for (rows, [v, w]) in [(&s, &mut a), (&d, &mut b)] {
                rows.row(i).add_to_both([2.0, -0.5], [v, w]);
            }
            assert_eq!(a, b);
            let mut once = [w, ones];
            d.row(i).add_to(2.0, &mut once[0]);
            d.row(i).add_to(-0.5, &mut once[1]);
            assert_eq!(a, once);
            let (mut a, mut b) = (w, w);
            s.row(i).add_to(2.0, &mut a);
            d.row(i).add_to(2.0, &mut b);
            assert_eq!(a, b);
        }
        for j in 0..6 {
            assert_eq!(s.column(j), d.column(j));
        }
    }

    #[test]
    fn full_rows_become_dense_and_thin_ones_stay_sparse() {
        assert!(matches!(Rows::smaller(sparse()), Rows::Csr(_)));
        let full = Csr::new(vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0; 4], 2).unwrap();
        let full = Rows::smaller(full);
        assert!(matches!(full, Rows::Dense(_)));
        let Rows::Dense(dense) = full.clone() else {
            unreachable!()
        };
        assert_eq!(Rows::smaller_of_dense(dense), full);
        let thin = Csr::new(vec![0, 1, 1, 2], vec![9, 1], vec![1.0, -2.0], 10).unwrap();
        assert_eq!(thin.to_dense().to_csr().unwrap(), thin);
        assert_eq!(Rows::smaller_of_dense(thin.to_dense()), Rows::Csr(thin));
        let no_columns = Dense::new(vec![], 3, 0).unwrap().to_csr().unwrap();
        assert_eq!(no_columns.indptr(), [0; 4]);
    }

    #[test]
    fn a_part_has_the_chosen_rows() {
        let (s, d) = (Rows::Csr(sparse()), Rows::Dense(sparse().to_dense()));
        for rows in [s, d] {
            let part = rows.part(&[true, false, true]);
            assert_eq!((part.len(), part.cols()), (2, 4));
            for (k, i) in [0, 2].into_iter().enumerate() {
                let entries = |row: Row<'_>| row.entries().collect::<Vec<_>>();
                assert_eq!(entries(part.row(k)), entries(rows.row(i)));
            }
            assert!(rows.part(&[false; 3]).is_empty());
        }
    }

    #[test]
    fn lent_rows_are_like_owned_ones_and_as_much_checked() {
        let owned = sparse();
        let lent = Csr::lent(vec![0, 2, 2, 3], &[0, 3, 1], &[1.0, 2.0, -3.0], 4).unwrap();
        assert_eq!(lent, owned);
        assert_eq!(lent.to_dense(), owned.to_dense());
        let dense = Dense::lent(&[1.0, 2.0], 1, 2).unwrap();
        assert_eq!(dense, Dense::new(vec![1.0, 2.0], 1, 2).unwrap());
        assert!(Csr::lent(vec![0, 1], &[4], &[1.0], 4).is_err());
        assert!(Dense::lent(&[f64::NAN], 1, 1).is_err());
    }

    #[test]
    fn malformed_rows_are_refused() {
        let refused = |p: &[usize], j: &[u32], x: &[f64], d| {
            Csr::new(p.to_vec(), j.to_vec(), x.to_vec(), d).is_err()
        };
        assert!(refused(&[], &[], &[], 1));
        assert!(refused(&[0, 1], &[0], &[], 1));
        assert!(refused(&[0, 2], &[0], &[1.0], 1));
        assert!(refused(&[0, 5, 1], &[0], &[1.0], 1));
        assert!(refused(&[0, 2], &[1, 1], &[1.0, 1.0], 2));
        assert!(refused(&[0, 1], &[3], &[1.0], 3));
        let nan = Csr::new(vec![0, 0, 1], vec![0], vec![f64::NAN], 1);
        assert!(matches!(nan, Err(Error::NotFinite { row: 1, .. })));
        assert!(Dense::new(vec![1.0], 1, 2).is_err());
        assert!(Dense::new(vec![], usize::MAX, 2).is_err());
    }
}
