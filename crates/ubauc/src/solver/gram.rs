//! Σ a·xxᵀ over rows, the lower triangle.
//!
//! faer 0.24 in one thread is 6, 4 and 8 times as fast for dense rows at d = 300, 1,000 and 2,000. It stays for the reason that
//! `cholesky.rs` gives, and since most rows here are sparse or coded.

use super::centred::CentredRow;
use crate::data::rows::{Code, Codes, Numbers, Row, add_to, cells};

/// A ← A + a·xxᵀ, lower triangle, row-major.
pub(super) fn rank_one(a: f64, x: &[f64], matrix: &mut [f64]) {
    let d = x.len();
    for (j, row) in matrix.chunks_exact_mut(d.max(1)).enumerate() {
        add_to(a * x[j], &x[..=j], &mut row[..=j]);
    }
}

/// A sum of a·xxᵀ over rows x, lower triangle. Dense rows are taken four at a time, so that the matrix
/// passes through the processor once for four of them.
pub(super) struct Gram {
    d: usize,
    matrix: Vec<f64>,
    pending: Vec<f64>,
    factors: Vec<f64>,
    /// Those of one row.
    numbers: Vec<f64>,
}

impl Gram {
    const TOGETHER: usize = 4;

    pub(super) fn new(d: usize) -> Gram {
        Gram {
            d,
            matrix: vec![0.0; d * d],
            pending: Vec::new(),
            factors: Vec::new(),
            numbers: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, a: f64, row: CentredRow<'_>) {
        if a == 0.0 {
            return;
        }
        match row.row {
            Row::Dense(values) => self.add_dense(a, row.centre(values)),
            // Numbers alone are taken four rows at a time.
            Row::Coded { values, codes } if codes.is_empty() => self.add_dense(a, values.iter()),
            Row::Coded { values, codes } => match codes {
                Codes::Short(codes) => self.add_coded(a, values, codes),
                Codes::Long(codes) => self.add_coded(a, values, codes),
            },
            Row::Sparse(..) => row.with_values(|row| {
                if let Row::Sparse(indices, values) = row {
                    self.add_sparse(a, indices, values);
                }
            }),
        }
    }

    /// A row of d numbers.
    pub(super) fn add_dense(&mut self, a: f64, values: impl Iterator<Item = f64>) {
        self.pending.extend(values);
        self.factors.push(a);
        if self.factors.len() == Self::TOGETHER {
            self.flush();
        }
    }

    /// A row of few numbers, by ascending index.
    pub(super) fn add_sparse(&mut self, a: f64, indices: &[u32], values: &[f64]) {
        for (at, (&j, &x)) in indices.iter().zip(values).enumerate() {
            let start = j as usize * self.d;
            let row = &mut self.matrix[start..=start + j as usize];
            let ax = a * x;
            for (&k, &y) in indices[..=at].iter().zip(&values[..=at]) {
                row[k as usize] += ax * y;
            }
        }
    }

    /// A row of a table, which is never centred.
    fn add_coded<C: Code>(&mut self, a: f64, values: Numbers<'_>, codes: &[C]) {
        let (d, q) = (self.d, values.len());
        self.numbers.clear();
        self.numbers.extend(values.iter());
        let values = self.numbers.as_slice();
        for (j, &x) in values.iter().enumerate() {
            add_to(a * x, &values[..=j], &mut self.matrix[j * d..=j * d + j]);
        }
        for (at, j) in cells(codes).enumerate() {
            let row = &mut self.matrix[j * d..=j * d + j];
            add_to(a, values, &mut row[..q]);
            cells(codes).take(at + 1).for_each(|k| row[k] += a);
        }
    }

    fn flush(&mut self) {
        let d = self.d;
        if let [a, b, c, e] = self.factors[..] {
            let (x0, rest) = self.pending.split_at(d);
            let (x1, rest) = rest.split_at(d);
            let (x2, x3) = rest.split_at(d);
            for (j, row) in self.matrix.chunks_exact_mut(d.max(1)).enumerate() {
                let f = [a * x0[j], b * x1[j], c * x2[j], e * x3[j]];
                let others = x0[..=j].iter().zip(&x1[..=j]).zip(&x2[..=j]).zip(&x3[..=j]);
                for (out, (((p, q), r), s)) in row[..=j].iter_mut().zip(others) {
                    *out += (f[0] * p + f[1] * q) + (f[2] * r + f[3] * s);
                }
            }
        } else {
            for (x, &a) in self.pending.chunks_exact(d.max(1)).zip(&self.factors) {
                rank_one(a, x, &mut self.matrix);
            }
        }
        self.pending.clear();
        self.factors.clear();
    }

    /// The lower triangle, row after row.
    pub(super) fn packed(mut self) -> Vec<f64> {
        self.flush();
        // In place: row j moves down to j(j + 1)/2.
        let (d, mut matrix) = (self.d, self.matrix);
        for j in 1..d {
            matrix.copy_within(j * d..=j * d + j, j * (j + 1) / 2);
        }
        matrix.truncate(d * (d + 1) / 2);
        matrix.shrink_to_fit();
        matrix
    }
}

/// A d×d matrix with this lower triangle, zeros above.
pub(super) fn unpacked(packed: &[f64], d: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; d * d];
    for (j, row) in matrix.chunks_exact_mut(d.max(1)).enumerate() {
        let start = j * (j + 1) / 2;
        row[..=j].copy_from_slice(&packed[start..=start + j]);
    }
    matrix
}
