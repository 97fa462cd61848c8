//! Rows of a table: a few numbers and, for each effect of a column map, the one cell that the row is in.
//!
//! A cell is a feature that is 1 for the rows in it and 0 for all others, so that only its number is stored: 2 bytes, or 4
//! with more than 65,535 features, instead of the 12 of a sparse entry. With q numbers x and codes c,
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
    codes: CodeVec,
    numbers: usize,
    width: usize,
    rows: usize,
    cols: usize,
}

/// A code as it is stored: a feature, or [`Code::NONE`] where an effect has no cell.
pub(crate) trait Code: Copy + PartialEq + Send + Sync {
    /// Stands for [`NO_CELL`], and is above all features that can be stored.
    const NONE: Self;
    fn of(code: u32) -> Self;
    fn index(self) -> usize;
}

impl Code for u16 {
    const NONE: u16 = u16::MAX;

    #[inline(always)]
    fn of(code: u32) -> u16 {
        u16::try_from(code).unwrap_or(u16::MAX)
    }

    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self)
    }
}

impl Code for u32 {
    const NONE: u32 = NO_CELL;

    #[inline(always)]
    fn of(code: u32) -> u32 {
        code
    }

    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }
}

/// The codes of all rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CodeVec {
    /// Of at most 65,535 features.
    Short(Vec<u16>),
    Long(Vec<u32>),
}

impl CodeVec {
    /// As many gaps, wide enough for `cols` features.
    pub(crate) fn gaps(count: usize, cols: usize) -> CodeVec {
        match cols <= u16::NONE.index() {
            true => CodeVec::Short(vec![u16::NONE; count]),
            false => CodeVec::Long(vec![u32::NONE; count]),
        }
    }

    /// These, wide enough for `cols` features.
    pub(crate) fn of(codes: impl Iterator<Item = u32>, cols: usize) -> CodeVec {
        match cols <= u16::NONE.index() {
            true => CodeVec::Short(codes.map(u16::of).collect()),
            false => CodeVec::Long(codes.collect()),
        }
    }

    /// As wide as `cols` features need.
    fn fitted(self, cols: usize) -> CodeVec {
        match self {
            CodeVec::Long(codes) if cols <= u16::NONE.index() => {
                CodeVec::Short(codes.into_iter().map(u16::of).collect())
            }
            fitting @ (CodeVec::Short(_) | CodeVec::Long(_)) => fitting,
        }
    }

    pub(crate) fn all(&self) -> Codes<'_> {
        match self {
            CodeVec::Short(codes) => Codes::Short(codes),
            CodeVec::Long(codes) => Codes::Long(codes),
        }
    }
}

/// Some codes.
#[derive(Debug, Clone, Copy)]
pub enum Codes<'a> {
    /// Of two bytes each; 65,535 stands for [`NO_CELL`].
    Short(&'a [u16]),
    /// Of four bytes each.
    Long(&'a [u32]),
}

impl<'a> Codes<'a> {
    /// How many there are.
    pub fn len(self) -> usize {
        match self {
            Codes::Short(codes) => codes.len(),
            Codes::Long(codes) => codes.len(),
        }
    }

    /// No codes.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Code k: a feature, or [`NO_CELL`].
    #[inline]
    pub fn at(self, k: usize) -> u32 {
        match self {
            Codes::Short(codes) if codes[k] == u16::NONE => NO_CELL,
            Codes::Short(codes) => u32::from(codes[k]),
            Codes::Long(codes) => codes[k],
        }
    }

    /// All of them.
    pub fn to_vec(self) -> Vec<u32> {
        (0..self.len()).map(|k| self.at(k)).collect()
    }

    /// Those that are cells, as columns.
    #[inline]
    pub(crate) fn cells(self) -> impl Iterator<Item = usize> + 'a {
        let (short, long): (&[u16], &[u32]) = match self {
            Codes::Short(codes) => (codes, &[]),
            Codes::Long(codes) => (&[], codes),
        };
        cells(short).chain(cells(long))
    }
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
        let coded = Coded::from_checked(values, CodeVec::Long(codes), shape);
        coded.check()?;
        let codes = coded.codes.fitted(shape.cols);
        Ok(Coded { codes, ..coded })
    }

    /// For a map, which makes no other codes.
    pub(crate) fn from_checked(values: Vec<f64>, codes: CodeVec, shape: CodedShape) -> Coded {
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
            ("codes of coded rows", self.width, self.all_codes().len()),
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
            for code in self.codes(i).cells() {
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
    pub fn all_codes(&self) -> Codes<'_> {
        self.codes.all()
    }

    /// Bytes of the numbers and codes.
    pub fn bytes(&self) -> usize {
        let of_codes = match &self.codes {
            CodeVec::Short(codes) => 2 * codes.len(),
            CodeVec::Long(codes) => 4 * codes.len(),
        };
        8 * self.values.len() + of_codes
    }

    /// Entries that are stored: all numbers, and the codes that are cells.
    pub fn stored(&self) -> usize {
        self.values.len() + self.all_codes().cells().count()
    }

    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> Row<'_> {
        Row::Coded {
            values: &self.values[i * self.numbers..(i + 1) * self.numbers],
            codes: self.codes(i),
        }
    }

    #[inline(always)]
    fn codes(&self, i: usize) -> Codes<'_> {
        let of_row = i * self.width..(i + 1) * self.width;
        match &self.codes {
            CodeVec::Short(codes) => Codes::Short(&codes[of_row]),
            CodeVec::Long(codes) => Codes::Long(&codes[of_row]),
        }
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
        let places: Vec<usize> = places.collect();
        let values = gather(&self.values, self.numbers, &places);
        let codes = match &self.codes {
            CodeVec::Short(codes) => CodeVec::Short(gather(codes, self.width, &places)),
            CodeVec::Long(codes) => CodeVec::Long(gather(codes, self.width, &places)),
        };
        let shape = CodedShape {
            rows: places.len(),
            ..self.shape()
        };
        Coded::from_checked(values, codes, shape)
    }
}

/// The rows at these places, each of `width` entries.
fn gather<T: Copy>(all: &[T], width: usize, places: &[usize]) -> Vec<T> {
    let mut gathered = Vec::with_capacity(width * places.len());
    for i in places {
        gathered.extend_from_slice(&all[i * width..(i + 1) * width]);
    }
    gathered
}

/// The codes that are cells, as columns.
#[inline]
pub(crate) fn cells<C: Code>(codes: &[C]) -> impl Iterator<Item = usize> + '_ {
    let cells = codes.iter().filter(|code| **code != C::NONE);
    cells.map(|code| code.index())
}

/// Σ w_c over the codes, four sums side by side. A gap is beyond the end of what codes can reach, here and below.
#[inline]
fn codes_dot<C: Code>(codes: &[C], w: &[f64]) -> f64 {
    let w = &w[..w.len().min(C::NONE.index())];
    let at = |code: C| w.get(code.index()).copied().unwrap_or(0.0);
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
pub(super) fn coded_dot(values: &[f64], codes: Codes<'_>, w: &[f64]) -> f64 {
    let of_codes = match codes {
        Codes::Short(codes) => codes_dot(codes, w),
        Codes::Long(codes) => codes_dot(codes, w),
    };
    dot(values, w) + of_codes
}

#[inline]
fn codes_dots<C: Code>(codes: &[C], a: &[f64], b: &[f64]) -> [f64; 2] {
    let n = a.len().min(b.len()).min(C::NONE.index());
    let (a, b) = (&a[..n], &b[..n]);
    let mut sums = [0.0; 2];
    for code in codes {
        let code = code.index();
        if code < n {
            sums[0] += a[code];
            sums[1] += b[code];
        }
    }
    sums
}

/// x·a and x·b, the codes read once.
#[inline]
pub(super) fn coded_dots(values: &[f64], codes: Codes<'_>, a: &[f64], b: &[f64]) -> [f64; 2] {
    let sums = match codes {
        Codes::Short(codes) => codes_dots(codes, a, b),
        Codes::Long(codes) => codes_dots(codes, a, b),
    };
    let n = a.len().min(b.len());
    [
        dot(values, &a[..n]) + sums[0],
        dot(values, &b[..n]) + sums[1],
    ]
}

#[inline]
fn add_to_codes<C: Code>(a: f64, codes: &[C], w: &mut [f64]) {
    let n = w.len().min(C::NONE.index());
    let w = &mut w[..n];
    for code in codes {
        if let Some(w) = w.get_mut(code.index()) {
            *w += a;
        }
    }
}

/// w ← w + a·x.
#[inline]
pub(super) fn coded_add_to(a: f64, values: &[f64], codes: Codes<'_>, w: &mut [f64]) {
    add_to(a, values, w);
    match codes {
        Codes::Short(codes) => add_to_codes(a, codes, w),
        Codes::Long(codes) => add_to_codes(a, codes, w),
    }
}

/// A ← A + a·xxᵀ in the upper triangle of a matrix with rows of `m` numbers.
pub(super) fn coded_add_outer(
    a: f64,
    (values, codes): (&[f64], Codes<'_>),
    m: usize,
    matrix: &mut [f64],
) {
    match codes {
        Codes::Short(codes) => add_outer(a, (values, codes), m, matrix),
        Codes::Long(codes) => add_outer(a, (values, codes), m, matrix),
    }
}

fn add_outer<C: Code>(a: f64, (values, codes): (&[f64], &[C]), m: usize, matrix: &mut [f64]) {
    for (j, &x) in values.iter().enumerate() {
        let row = &mut matrix[j * m..(j + 1) * m];
        add_to(a * x, &values[j..], &mut row[j..]);
        cells(codes).for_each(|c| row[c] += a * x);
    }
    for (at, j) in codes.iter().enumerate().filter(|(_, j)| **j != C::NONE) {
        let row = &mut matrix[j.index() * m..(j.index() + 1) * m];
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
            short_of in 0usize..70,
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
            // Codes of four bytes, as many features need them.
            let Rows::Coded(short) = &coded else {
                return Err(TestCaseError::fail("not coded"));
            };
            let shape = CodedShape { cols: 70_000, ..short.shape() };
            let long = Coded::new(short.all_values().to_vec(), short.all_codes().to_vec(), shape);
            let long = long.unwrap();
            prop_assert!(matches!(short.all_codes(), Codes::Short(_)));
            prop_assert!(matches!(long.all_codes(), Codes::Long(_)));
            prop_assert_eq!(long.all_codes().to_vec(), short.all_codes().to_vec());
            let many: Vec<f64> = (0..70_000).map(|j| 1.0 + f64::from(j)).collect();
            for i in 0..n.min(3) {
                let (a, b) = (short.row(i), long.row(i));
                for w in [&many[..], &w[..short_of]] {
                    prop_assert_eq!(a.dot(w), b.dot(w));
                    prop_assert_eq!(a.dots(w, &many), b.dots(w, &many));
                    let (mut u, mut v) = (w.to_vec(), w.to_vec());
                    a.add_to(0.3, &mut u);
                    b.add_to(0.3, &mut v);
                    prop_assert_eq!(u, v);
                }
            }
            let long = Rows::Coded(long);
            prop_assert!(same(&long, &sparse));
            prop_assert!(same(&long.part(&chosen), &sparse.part(&chosen)));
            prop_assert!(same(&coded.part(&chosen), &sparse.part(&chosen)));
            let columns: Vec<usize> = (0..d + 2).rev().step_by(2).collect();
            prop_assert!(same(&coded.select(&columns), &sparse.select(&columns)));
            for j in 0..d + 2 {
                prop_assert_eq!(coded.column(j), sparse.column(j));
            }
            for i in 0..n {
                let (a, b) = (coded.row(i), sparse.row(i));
                prop_assert_eq!(a.stored(), b.stored());
                for w in [&w[..], &w[..short_of]] {
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

    /// 65,535 is a gap in two bytes, and a cell in four.
    #[test]
    fn the_last_feature_of_two_bytes_is_a_cell() {
        let of = |cols: usize, codes: &[u32]| {
            let shape = CodedShape {
                rows: 1,
                numbers: 0,
                codes: codes.len(),
                cols,
            };
            Coded::new(Vec::new(), codes.to_vec(), shape)
        };
        let w: Vec<f64> = (0..65_540).map(f64::from).collect();
        for (cols, last) in [(65_535, 65_534), (65_536, 65_535)] {
            let coded = of(cols, &[7, NO_CELL, last]).unwrap();
            let is_short = matches!(coded.all_codes(), Codes::Short(_));
            assert_eq!(is_short, cols == 65_535);
            assert_eq!(coded.all_codes().to_vec(), [7, NO_CELL, last]);
            let row = coded.row(0);
            let entries: Vec<_> = row.entries().collect();
            assert_eq!(entries, [(7, 1.0), (last as usize, 1.0)]);
            assert_eq!(row.dot(&w), 7.0 + f64::from(last));
            let mut sum = vec![0.0; w.len()];
            row.add_to(1.0, &mut sum);
            assert_eq!(sum.iter().sum::<f64>(), 2.0);
            assert_eq!(sum[last as usize], 1.0);
            assert!(of(cols, &[7, NO_CELL, last + 1]).is_err());
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
