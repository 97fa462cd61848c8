//! A = LLᵀ, row by row.

/// The factor L of a symmetric positive definite matrix.
pub(super) struct Cholesky {
    lower: Vec<f64>,
    d: usize,
}

/// Pivots below this share of their diagonal entry are rounding.
const SINGULAR: f64 = 1e-13;

impl Cholesky {
    /// Factors a d×d matrix in place; `None` if it is not positive definite to working precision.
    pub(super) fn new(mut matrix: Vec<f64>, d: usize) -> Option<Cholesky> {
        for i in 0..d {
            let (above, row) = matrix.split_at_mut(i * d);
            let row = &mut row[..d];
            for j in 0..i {
                let other = &above[j * d..j * d + d];
                row[j] = (row[j] - super::dot(&row[..j], &other[..j])) / other[j];
            }
            let pivot = row[i] - super::dot(&row[..i], &row[..i]);
            if pivot.is_nan() || pivot <= SINGULAR * row[i] {
                return None;
            }
            row[i] = pivot.sqrt();
        }
        Some(Cholesky { lower: matrix, d })
    }

    /// x ← A⁻¹x.
    pub(super) fn solve(&self, x: &mut [f64]) {
        let d = self.d;
        for i in 0..d {
            let row = &self.lower[i * d..i * d + d];
            x[i] = (x[i] - super::dot(&row[..i], &x[..i])) / row[i];
        }
        for i in (0..d).rev() {
            let row = &self.lower[i * d..i * d + d];
            x[i] /= row[i];
            let solved = x[i];
            super::add(-solved, &row[..i], &mut x[..i]);
        }
    }
}
