//! Rows of a table: a few numbers and, for each effect of a column map, the one cell that the row is in.
//!
//! A cell is a feature that is 1 for the rows in it and 0 for all others, so that only its number is stored: 4 bytes
//! instead of the 12 of a sparse entry. With q numbers x and codes c,
//!
//!   x·w = Σ_{j<q} x_j w_j + Σ_c w_c.

use super::{Csr, Row, add_to, dot};
use crate::{Error, Result};

/// The code of a row that is in no cell of an effect.
pub const NO_CELL: u32 = u32::MAX;

/// Rows of `numbers` values (features 0 … q − 1) and `width` codes: the features from q on that are 1, or [`NO_CELL`].
/// Apart from the gaps the codes of a row increase.
#[derive(Debug, Clone, PartialEq)]
pub struct Coded {
    values: Vec<f64>,
    codes: Vec<u32>,
    numbers: usize,
    width: usize,
    rows: usize,
    cols: usize,
}

/// How many numbers and codes a row has, and how many features there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodedShape {
    /// Number of rows, N.
    pub rows: usize,
    /// Numbers a row, q: the features 0 … q − 1.
    pub numbers: usize,
    /// Codes a row, p.
    pub codes: usize,
    /// Number of features, d.
    pub cols: usize,
}

impl Coded {
    /// Row-major values and codes. Checks their number, that values are finite, and that the codes of a row increase from
    /// q on and stay below d.
    pub fn new(values: Vec<f64>, codes: Vec<u32>, shape: CodedShape) -> Result<Coded> {
        let coded = Coded::from_checked(values, codes, shape);
        coded.check()?;
        Ok(coded)
    }

    /// For a map, which makes no other codes.
    pub(crate) fn from_checked(values: Vec<f64>, codes: Vec<u32>, shape: CodedShape) -> Coded {
        Coded {
            values,
            codes,
            numbers: shape.numbers,
            width: shape.codes,
            rows: shape.rows,
            cols: shape.cols,
        }
    }

    fn check(&self) -> Result<()> {
        let lengths = [
            ("values of coded rows", self.numbers, self.values.len()),
            ("codes of coded rows", self.width, self.codes.len()),
        ];
        for (what, each, got) in lengths {
            let expected = self.rows.saturating_mul(each);
            if got != expected {
                return Err(Error::Length {
                    what,
                    expected,
                    got,
                });
            }
        }
        if let Some(at) = self.values.iter().position(|x| !x.is_finite()) {
            return Err(Error::NotFinite {
                what: "a feature",
                row: at / self.numbers,
                value: self.values[at],
                must: "finite",
            });
        }
        let malformed = |what: String| Error::Parameter {
            name: "coded rows",
            value: what,
            must: "codes that increase within a row, from the number of values on and below the dimension, itself below 2^32",
        };
        if self.numbers > self.cols || self.cols > NO_CELL as usize {
            let what = format!("{} values of {} features", self.numbers, self.cols);
            return Err(malformed(what));
        }
        for i in 0..self.rows {
            let mut least = self.numbers;
            for code in cells(self.codes(i)) {
                if code < least || code >= self.cols {
                    return Err(malformed(format!("code {code} of row {i}")));
                }
                least = code + 1;
            }
        }
        Ok(())
    }

    /// Number of rows, N.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// N, q, p and d.
    pub fn shape(&self) -> CodedShape {
        CodedShape {
            rows: self.rows,
            numbers: self.numbers,
            codes: self.width,
            cols: self.cols,
        }
    }

    /// All numbers, row by row.
    pub fn all_values(&self) -> &[f64] {
        &self.values
    }

    /// All codes, row by row.
    pub fn all_codes(&self) -> &[u32] {
        &self.codes
    }

    /// Bytes of the numbers and codes.
    pub fn bytes(&self) -> usize {
        8 * self.values.len() + 4 * self.codes.len()
    }

    /// Entries that are stored: all numbers, and the codes that are cells.
    pub fn stored(&self) -> usize {
        self.values.len() + cells(&self.codes).count()
    }

    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> Row<'_> {
        Row::Coded {
            values: &self.values[i * self.numbers..(i + 1) * self.numbers],
            codes: self.codes(i),
        }
    }

    #[inline(always)]
    fn codes(&self, i: usize) -> &[u32] {
        &self.codes[i * self.width..(i + 1) * self.width]
    }

    /// The same rows, every entry with its column and value.
    pub(super) fn to_csr(&self) -> Csr {
        let stored = self.stored();
        let mut indptr = Vec::with_capacity(self.rows + 1);
        let (mut indices, mut values) = (Vec::with_capacity(stored), Vec::with_capacity(stored));
        indptr.push(0);
        for i in 0..self.rows {
            self.row(i).for_each(|j, x| {
                indices.push(j as u32);
                values.push(x);
            });
            indptr.push(indices.len());
        }
        Csr::from_checked(indptr, indices, values, self.cols)
    }

    /// The rows at these places, in this order.
    pub(crate) fn at(&self, places: impl Iterator<Item = usize>) -> Coded {
        let (mut values, mut codes, mut rows) = (Vec::new(), Vec::new(), 0);
        for i in places {
            values.extend_from_slice(&self.values[i * self.numbers..(i + 1) * self.numbers]);
            codes.extend_from_slice(self.codes(i));
            rows += 1;
        }
        let shape = CodedShape {
            rows,
            ..self.shape()
        };
        Coded::from_checked(values, codes, shape)
    }
}

/// The codes that are cells, as columns.
#[inline]
pub(crate) fn cells(codes: &[u32]) -> impl Iterator<Item = usize> + '_ {
    let cells = codes.iter().filter(|code| **code != NO_CELL);
    cells.map(|&code| code as usize)
}

/// Σ w_c over the codes, four sums side by side. A gap is beyond the end of `w`.
#[inline]
fn codes_dot(codes: &[u32], w: &[f64]) -> f64 {
    let at = |code: u32| w.get(code as usize).copied().unwrap_or(0.0);
    let by_four = codes.chunks_exact(4);
    let rest: f64 = by_four.remainder().iter().map(|&code| at(code)).sum();
    let mut sums = [0.0; 4];
    for codes in by_four {
        for lane in 0..4 {
            sums[lane] += at(codes[lane]);
        }
    }
    rest + ((sums[0] + sums[1]) + (sums[2] + sums[3]))
}

/// x·w.
#[inline]
pub(super) fn coded_dot(values: &[f64], codes: &[u32], w: &[f64]) -> f64 {
    dot(values, w) + codes_dot(codes, w)
}

/// x·a and x·b, the codes read once.
#[inline]
pub(super) fn coded_dots(values: &[f64], codes: &[u32], a: &[f64], b: &[f64]) -> [f64; 2] {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut sums = [0.0; 2];
    for &code in codes {
        let code = code as usize;
        if code < n {
            sums[0] += a[code];
            sums[1] += b[code];
        }
    }
    [dot(values, a) + sums[0], dot(values, b) + sums[1]]
}

/// w ← w + a·x.
#[inline]
pub(super) fn coded_add_to(a: f64, values: &[f64], codes: &[u32], w: &mut [f64]) {
    add_to(a, values, w);
    for &code in codes {
        if let Some(w) = w.get_mut(code as usize) {
            *w += a;
        }
    }
}

/// A ← A + a·xxᵀ in the upper triangle of a matrix with rows of `m` numbers.
pub(super) fn coded_add_outer(
    a: f64,
    (values, codes): (&[f64], &[u32]),
    m: usize,
    matrix: &mut [f64],
) {
    for (j, &x) in values.iter().enumerate() {
        let row = &mut matrix[j * m..(j + 1) * m];
        add_to(a * x, &values[j..], &mut row[j..]);
        cells(codes).for_each(|c| row[c] += a * x);
    }
    for (at, j) in codes.iter().enumerate().filter(|(_, j)| **j != NO_CELL) {
        let row = &mut matrix[*j as usize * m..(*j as usize + 1) * m];
        cells(&codes[at..]).for_each(|c| row[c] += a);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::rows::Rows;

    /// n rows of q numbers and the cells of effects of these sizes.
    fn coded(q: usize, sizes: &[u32], rows: &[(Vec<f64>, Vec<u32>)]) -> Coded {
        let starts: Vec<u32> = (sizes.iter())
            .scan(q as u32, |at, size| {
                *at += size;
                Some(*at - size)
            })
            .collect();
        let (mut values, mut codes) = (Vec::new(), Vec::new());
        for (x, cells) in rows {
            values.extend_from_slice(&x[..q]);
            for (k, &start) in starts.iter().enumerate() {
                let gap = cells[k] % (sizes[k] + 1) == sizes[k];
                codes.push(if gap {
                    NO_CELL
                } else {
                    start + cells[k] % (sizes[k] + 1)
                });
            }
        }
        let shape = CodedShape {
            rows: rows.len(),
            numbers: q,
            codes: sizes.len(),
            cols: q + sizes.iter().sum::<u32>() as usize,
        };
        Coded::new(values, codes, shape).unwrap()
    }

    fn random_rows() -> impl Strategy<Value = Coded> {
        let row = (
            prop::collection::vec(-3.0..3.0, 5),
            prop::collection::vec(0u32..60, 7),
        );
        let rows = prop::collection::vec(row, 0..12);
        (0usize..=5, prop::collection::vec(1u32..9, 0..=7), rows)
            .prop_map(|(q, sizes, rows)| coded(q, &sizes, &rows))
    }

    proptest! {
        #[test]
        fn coded_rows_are_like_sparse_rows_of_the_same_entries(
            coded in random_rows(),
            w in prop::collection::vec(-2.0..2.0, 70),
            short in 0usize..70,
        ) {
            let sparse = Rows::Csr(coded.to_csr());
            let coded = Rows::Coded(coded);
            let (n, d) = (coded.len(), coded.cols());
            prop_assert_eq!((n, d, coded.stored()), (sparse.len(), sparse.cols(), sparse.stored()));
            let chosen: Vec<bool> = (0..n).map(|i| i % 3 != 1).collect();
            let same = |a: &Rows, b: &Rows| {
                let entries = |rows: &Rows, i| rows.row(i).entries().collect::<Vec<_>>();
                a.len() == b.len() && (0..a.len()).all(|i| entries(a, i) == entries(b, i))
            };
            prop_assert!(same(&coded, &sparse));
            prop_assert!(same(&coded.part(&chosen), &sparse.part(&chosen)));
            let columns: Vec<usize> = (0..d + 2).rev().step_by(2).collect();
            prop_assert!(same(&coded.select(&columns), &sparse.select(&columns)));
            for j in 0..d + 2 {
                prop_assert_eq!(coded.column(j), sparse.column(j));
            }
            for i in 0..n {
                let (a, b) = (coded.row(i), sparse.row(i));
                prop_assert_eq!(a.stored(), b.stored());
                for w in [&w[..], &w[..short]] {
                    prop_assert!((a.dot(w) - b.dot(w)).abs() < 1e-12);
                    let ([p, q], [r, s]) = (a.dots(w, &[1.0; 70]), b.dots(w, &[1.0; 70]));
                    prop_assert!((p - r).abs() < 1e-12 && (q - s).abs() < 1e-12);
                    let (mut u, mut v) = (w.to_vec(), w.to_vec());
                    a.add_to(0.3, &mut u);
                    b.add_to(0.3, &mut v);
                    prop_assert_eq!(u, v);
                }
                let (mut u, mut v) = (vec![0.0; d * d], vec![0.0; d * d]);
                a.add_outer(0.7, d, &mut u);
                b.add_outer(0.7, d, &mut v);
                prop_assert!(u.iter().zip(&v).all(|(u, v)| (u - v).abs() < 1e-12));
            }
        }
    }

    #[test]
    fn malformed_rows_are_refused() {
        let shape = CodedShape {
            rows: 1,
            numbers: 1,
            codes: 2,
            cols: 4,
        };
        let of = |values: &[f64], codes: &[u32]| Coded::new(values.to_vec(), codes.to_vec(), shape);
        assert!(of(&[0.5], &[1, 3]).is_ok());
        assert!(of(&[0.5], &[NO_CELL, 1]).is_ok());
        assert!(of(&[0.5], &[NO_CELL, NO_CELL]).is_ok());
        assert!(matches!(of(&[], &[1, 3]), Err(Error::Length { .. })));
        assert!(matches!(of(&[0.5], &[1]), Err(Error::Length { .. })));
        assert!(matches!(
            of(&[f64::NAN], &[1, 3]),
            Err(Error::NotFinite { .. })
        ));
        for codes in [[0, 1], [3, 1], [2, 2], [1, 4]] {
            assert!(matches!(of(&[0.5], &codes), Err(Error::Parameter { .. })));
        }
    }
}
