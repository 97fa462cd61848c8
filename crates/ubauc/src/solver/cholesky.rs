//! A = LLᵀ of a symmetric positive definite matrix, and the solutions that follow.
//!
//! ```text
//! L_ij = (A_ij − Σ_{k<j} L_ik L_jk) / L_jj,   L_ii = √(A_ii − Σ_{k<i} L_ik²)
//! ```
//!
//! d³/3 multiplications. Small matrices are factored row by row, so that every sum runs along two rows in memory; four rows at
//! a time share the loads of the fifth. Of large ones [`BLOCK`] columns are finished at a time, and their part of the sums is
//! taken off all that is below and to the right, four rows by four columns at a time and from a copy that stays in the
//! cache: at d = 2,000 the matrix is read 31 times, not 500. One thread: a search keeps the
//! others busy with fits, and the process that leads a cluster has none, so that it may fork.
//!
//! faer 0.24 uses the vectors and fused multiplications of the processor at hand, which make its bits depend on the processor;
//! a task of a worker that has died must give the same bits on another machine. So it is not used.

use std::ops::Range;

use crate::data::rows::{add_to, dot};

/// The factor L of a d × d matrix.
#[derive(Debug, Clone)]
pub(crate) struct Cholesky {
    /// Row-major; what stands above the diagonal is not looked at.
    l: Vec<f64>,
    d: usize,
}

/// Pivots below this share of their diagonal entry are rounding, not numbers.
const SINGULAR: f64 = 1e-13;

/// Columns that are finished at a time …
const BLOCK: usize = 64;
/// … of matrices of at least this many. Smaller ones stay in the cache anyhow.
const LARGE: usize = 256;

impl Cholesky {
    /// Factors the lower triangle of a row-major matrix; `None` if it is not positive definite to
    /// working precision.
    pub(crate) fn new(a: Vec<f64>, d: usize) -> Option<Cholesky> {
        debug_assert_eq!(a.len(), d * d);
        match d < LARGE {
            true => Cholesky::by_rows(a, d),
            false => Cholesky::by_blocks(a, d),
        }
    }

    fn by_blocks(mut a: Vec<f64>, d: usize) -> Option<Cholesky> {
        let diagonal: Vec<f64> = (0..d).map(|i| a[i * d + i]).collect();
        for first in (0..d).step_by(BLOCK) {
            let last = (first + BLOCK).min(d);
            let (done, below) = a.split_at_mut(last * d);
            let corner = &mut done[first * d..];
            for n in first..last {
                let (above, row) = corner.split_at_mut((n - first) * d);
                finish_row(row, above, d, first..n);
                let part = &row[first..n];
                let pivot = row[n] - dot(part, part);
                // Also refuses NaN.
                if !(pivot > SINGULAR * diagonal[n] && pivot.is_finite()) {
                    return None;
                }
                row[n] = pivot.sqrt();
            }
            for row in below.chunks_exact_mut(d) {
                finish_row(row, corner, d, first..last);
            }
            let panel = Panel::of(below, d, first..last);
            panel.take_off(below, d, last);
        }
        Some(Cholesky { l: a, d })
    }

    fn by_rows(mut a: Vec<f64>, d: usize) -> Option<Cholesky> {
        let mut first = 0;
        while first < d {
            let rows = (d - first).min(4);
            let (done, here) = a.split_at_mut(first * d);
            if rows == 4 {
                four_rows(done, here, d, first);
            } else {
                for row in here.chunks_exact_mut(d).take(rows) {
                    finish_row(row, done, d, 0..first);
                }
            }
            // The triangle on the diagonal.
            for i in 0..rows {
                let (above, row) = here.split_at_mut(i * d);
                for j in 0..i {
                    let n = first + j;
                    let other = &above[j * d..j * d + n + 1];
                    row[n] = (row[n] - dot(&row[..n], &other[..n])) / other[n];
                }
                let n = first + i;
                let pivot = row[n] - dot(&row[..n], &row[..n]);
                // Also refuses NaN.
                if !(pivot > SINGULAR * row[n] && pivot.is_finite()) {
                    return None;
                }
                row[n] = pivot.sqrt();
            }
            first += rows;
        }
        Some(Cholesky { l: a, d })
    }

    /// L_ii²: what is left of A_ii beside the features before it.
    pub(crate) fn pivots(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.d).map(|i| self.l[i * self.d + i].powi(2))
    }

    /// L_ij, j ≤ i.
    #[inline]
    pub(crate) fn entry(&self, i: usize, j: usize) -> f64 {
        self.l[i * self.d + j]
    }

    /// x ← Lx.
    pub(crate) fn times(&self, x: &mut [f64]) {
        let d = self.d;
        for i in (0..d).rev() {
            x[i] = dot(&self.l[i * d..i * d + i + 1], &x[..=i]);
        }
    }

    /// x ← Lᵀx.
    pub(crate) fn times_transposed(&self, x: &mut [f64]) {
        let d = self.d;
        for i in 0..d {
            let value = x[i];
            let row = &self.l[i * d..i * d + i + 1];
            x[i] = row[i] * value;
            add_to(value, &row[..i], &mut x[..i]);
        }
    }

    /// x ← A⁻¹x.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        self.forward(x);
        self.backward(x);
    }

    /// x ← L⁻¹x.
    pub(crate) fn forward(&self, x: &mut [f64]) {
        let d = self.d;
        for i in 0..d {
            let (done, rest) = x.split_at_mut(i);
            let row = &self.l[i * d..i * d + i + 1];
            rest[0] = (rest[0] - dot(done, &row[..i])) / row[i];
        }
    }

    /// x ← L⁻ᵀx.
    pub(crate) fn backward(&self, x: &mut [f64]) {
        let d = self.d;
        for i in (0..d).rev() {
            let row = &self.l[i * d..i * d + i + 1];
            let value = x[i] / row[i];
            x[i] = value;
            add_to(-value, &row[..i], &mut x[..i]);
        }
    }
}

/// Finishes these columns of a row, from whose entries the sums over the columns before them are taken off already. `corner`
/// has the rows of the same numbers, finished.
fn finish_row(row: &mut [f64], corner: &[f64], d: usize, columns: Range<usize>) {
    let first = columns.start;
    for (j, other) in columns.zip(corner.chunks_exact(d)) {
        row[j] = (row[j] - dot(&row[first..j], &other[first..j])) / other[j];
    }
}

/// A block of finished columns, copied four rows at a time: of each column its four numbers, one after the other.
struct Panel {
    values: Vec<f64>,
    width: usize,
}

/// Rows and columns of a tile.
const TILE: usize = 4;

impl Panel {
    fn of(below: &[f64], d: usize, columns: Range<usize>) -> Panel {
        let (rows, width) = (below.len() / d, columns.len());
        // Rows that fill the last four are 0.
        let mut values = vec![0.0; rows.div_ceil(TILE) * TILE * width];
        for (i, row) in below.chunks_exact(d).enumerate() {
            let start = i / TILE * TILE * width + i % TILE;
            let places = values[start..].iter_mut().step_by(TILE);
            places
                .zip(&row[columns.clone()])
                .for_each(|(to, from)| *to = *from);
        }
        Panel { values, width }
    }

    fn four(&self, k: usize) -> &[[f64; TILE]] {
        let size = TILE * self.width;
        self.values[k * size..(k + 1) * size].as_chunks().0
    }

    /// A_ij ← A_ij − Σ_k L_ik L_jk over the columns of the block, of all rows below and columns right of it. What is above
    /// the diagonal may change too.
    fn take_off(&self, below: &mut [f64], d: usize, right: usize) {
        for (i, rows) in below.chunks_mut(TILE * d).enumerate() {
            for j in 0..=i {
                let sums = tile(self.four(i), self.four(j));
                let from = right + TILE * j;
                for (row, sums) in rows.chunks_exact_mut(d).zip(&sums) {
                    let entries = row[from..].iter_mut().zip(sums);
                    entries.for_each(|(entry, sum)| *entry -= sum);
                }
            }
        }
    }
}

/// Four rows times four others.
#[inline]
fn tile(rows: &[[f64; TILE]], others: &[[f64; TILE]]) -> [[f64; TILE]; TILE] {
    let mut sums = [[0.0; TILE]; TILE];
    for (x, y) in rows.iter().zip(others) {
        // Written so that the compiler keeps all sums in vectors.
        let added = |i: usize| std::array::from_fn(|j| sums[i][j] + x[i] * y[j]);
        sums = [added(0), added(1), added(2), added(3)];
    }
    sums
}

/// Columns 0 to `first` of the four rows at the start of `here`; `done` holds the rows before them.
fn four_rows(done: &[f64], here: &mut [f64], d: usize, first: usize) {
    let (a, rest) = here.split_at_mut(d);
    let (b, rest) = rest.split_at_mut(d);
    let (c, e) = rest.split_at_mut(d);
    for j in 0..first {
        let other = &done[j * d..j * d + j + 1];
        let pivot = other[j];
        let [sa, sb, sc, se] = dot4([&a[..j], &b[..j], &c[..j], &e[..j]], &other[..j]);
        a[j] = (a[j] - sa) / pivot;
        b[j] = (b[j] - sb) / pivot;
        c[j] = (c[j] - sc) / pivot;
        e[j] = (e[j] - se) / pivot;
    }
}

/// Four rows times one.
#[inline]
fn dot4(rows: [&[f64]; 4], other: &[f64]) -> [f64; 4] {
    const LANES: usize = 4;
    let n = other.len();
    let body = n - n % LANES;
    let mut sums = [[0.0; LANES]; 4];
    let [a, b, c, e] = rows.map(|row| row[..body].chunks_exact(LANES));
    for ((((o, a), b), c), e) in other[..body]
        .chunks_exact(LANES)
        .zip(a)
        .zip(b)
        .zip(c)
        .zip(e)
    {
        for lane in 0..LANES {
            sums[0][lane] += a[lane] * o[lane];
            sums[1][lane] += b[lane] * o[lane];
            sums[2][lane] += c[lane] * o[lane];
            sums[3][lane] += e[lane] * o[lane];
        }
    }
    std::array::from_fn(|r| {
        let s = sums[r];
        let rest: f64 = rows[r][body..n]
            .iter()
            .zip(&other[body..])
            .map(|(a, b)| a * b)
            .sum();
        ((s[0] + s[1]) + (s[2] + s[3])) + rest
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A well-conditioned matrix and its product with a vector.
    fn example(d: usize) -> (Vec<f64>, Vec<f64>) {
        let b: Vec<f64> = (0..d * d)
            .map(|k| ((k * k + 7 * k) % 101) as f64 / 101.0 - 0.5)
            .collect();
        let row = |i: usize| &b[i * d..(i + 1) * d];
        let mut a: Vec<f64> = (0..d * d).map(|k| dot(row(k / d), row(k % d))).collect();
        (0..d).for_each(|i| a[i * d + i] += 1.0);
        let x = (0..d).map(|i| i as f64 - 2.5).collect();
        (a, x)
    }

    #[test]
    fn solutions_satisfy_the_equations() {
        for d in [1, 2, 3, 4, 5, 8, 11, 37, 64, 256, 257, 323, 390] {
            let (a, x) = example(d);
            let b: Vec<f64> = (0..d).map(|i| dot(&a[i * d..(i + 1) * d], &x)).collect();
            let mut got = b.clone();
            Cholesky::new(a, d).unwrap().solve(&mut got);
            let error = got
                .iter()
                .zip(&x)
                .map(|(g, x)| (g - x).abs())
                .fold(0.0, f64::max);
            assert!(error < 1e-9 * d as f64, "d = {d}: {error}");
        }
    }

    #[test]
    fn blocks_give_the_factor_of_rows() {
        for d in [1, 5, 63, 64, 65, 130, 195, 256, 301] {
            let (mut a, _) = example(d);
            // What stands above the diagonal is not looked at.
            for i in 0..d {
                a[i * d + i + 1..(i + 1) * d].fill(f64::NAN);
            }
            let rows = Cholesky::by_rows(a.clone(), d).unwrap();
            let blocks = Cholesky::by_blocks(a, d).unwrap();
            for i in 0..d {
                for j in 0..=i {
                    let (one, other) = (blocks.entry(i, j), rows.entry(i, j));
                    assert!(
                        (one - other).abs() < 1e-11,
                        "d = {d}, {i} {j}: {one} {other}"
                    );
                }
            }
        }
    }

    /// What is left of a square is judged by the square as it was, not by what earlier blocks left of it.
    #[test]
    fn pivots_are_a_share_of_the_diagonal() {
        let d = 150;
        let factor = |left: f64| {
            let mut a = vec![0.0; d * d];
            (0..d).for_each(|i| a[i * d + i] = 1.0);
            a[100 * d] = 1.0;
            a[100 * d + 100] = 1.0 + left;
            [Cholesky::by_rows(a.clone(), d), Cholesky::by_blocks(a, d)].map(|l| l.is_some())
        };
        assert_eq!(factor(2f64.powi(-45)), [false; 2]);
        assert_eq!(factor(2f64.powi(-40)), [true; 2]);
    }

    #[test]
    fn blocks_refuse_what_rows_refuse() {
        let d = 150;
        let (a, _) = example(d);
        for at in [0, 63, 64, 100, 149] {
            // Row `at` is a copy of another, but for rounding; then NaN, and a negative square.
            let mut copied = a.clone();
            let from = if at == 0 { 1 } else { at - 1 };
            for k in 0..d {
                copied[at * d + k] = copied[from * d + k];
                copied[k * d + at] = copied[k * d + from];
            }
            copied[at * d + at] = copied[from * d + from];
            let with = |x: f64| {
                let mut a = a.clone();
                a[at * d + at] = x;
                a
            };
            for wrong in [copied, with(f64::NAN), with(-1.0), with(f64::INFINITY)] {
                assert!(Cholesky::by_rows(wrong.clone(), d).is_none(), "{at}");
                assert!(Cholesky::by_blocks(wrong, d).is_none(), "{at}");
            }
        }
    }

    #[test]
    fn forward_and_backward_are_the_two_halves() {
        let (a, x) = example(9);
        let factor = Cholesky::new(a.clone(), 9).unwrap();
        let mut y = x.clone();
        factor.forward(&mut y);
        // xᵀA⁻¹x = ‖L⁻¹x‖².
        let mut z = x.clone();
        factor.solve(&mut z);
        assert!((dot(&y, &y) - dot(&x, &z)).abs() < 1e-9);
    }

    #[test]
    fn products_undo_the_solutions() {
        let (a, x) = example(7);
        let factor = Cholesky::new(a, 7).unwrap();
        let near = |y: &[f64]| assert!(y.iter().zip(&x).all(|(y, x)| (y - x).abs() < 1e-12));
        let mut y = x.clone();
        factor.times(&mut y);
        factor.forward(&mut y);
        near(&y);
        factor.times_transposed(&mut y);
        factor.backward(&mut y);
        near(&y);
        assert_eq!(factor.entry(3, 3).powi(2), factor.pivots().nth(3).unwrap());
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        assert!(Cholesky::new(vec![0.0], 1).is_none());
        assert!(Cholesky::new(vec![1.0, 0.0, 1.0, 1.0], 2).is_none());
        assert!(Cholesky::new(vec![f64::NAN], 1).is_none());
        assert!(Cholesky::new(vec![-1.0], 1).is_none());
        let singular: Vec<f64> = (0..36)
            .map(|k| ((k / 6 + 1) * (k % 6 + 1)) as f64)
            .collect();
        assert!(Cholesky::new(singular, 6).is_none());
        assert!(Cholesky::new(Vec::new(), 0).is_some());
    }
}
