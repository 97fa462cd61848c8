//! Rows of a table: a few numbers and, for each effect of a column map, the one cell that the row is in.
//!
//! A cell is a feature that is 1 for the rows in it and 0 for all others, so that only its number is stored: 2 bytes, or 4
//! with more than 65,535 features, instead of the 12 of a sparse entry. With q numbers x and codes c,
//!
//!   x·w = Σ_{j<q} x_j w_j + Σ_c w_c,
//!
//! summed in this order wherever it is computed. Numbers are columns, those of the table itself where they can be
//! (`numbers.rs`); loops over many rows take them in blocks (`blocks.rs`).

mod blocks;
mod codes;
mod numbers;
#[cfg(test)]
mod tests;

pub(crate) use blocks::{BLOCK, FeatureSums, FeatureWeights, Places, Power};
pub use codes::Codes;
pub(crate) use codes::{Code, CodeVec, cells};
pub use numbers::Numbers;
pub(crate) use numbers::{NumberColumn, Standard};

use std::sync::OnceLock;

use super::{Csr, Row};
use crate::{Error, Result};

/// The code of a row that is in no cell of an effect.
pub const NO_CELL: u32 = u32::MAX;

/// Rows of `numbers` values (features 0 … q − 1) and `width` codes: the features from q on that are 1, or [`NO_CELL`].
/// Apart from the gaps the codes of a row increase.
#[derive(Debug, Clone)]
pub struct Coded {
    numbers: Vec<NumberColumn>,
    codes: CodeVec,
    width: usize,
    rows: usize,
    cols: usize,
    /// Entries that are stored, once they were counted.
    stored: OnceLock<usize>,
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
        let lengths = [
            ("values of coded rows", shape.numbers, values.len()),
            ("codes of coded rows", shape.codes, codes.len()),
        ];
        for (what, each, got) in lengths {
            let expected = shape.rows.saturating_mul(each);
            if got != expected {
                return Err(Error::Length {
                    what,
                    expected,
                    got,
                });
            }
        }
        if let Some(at) = values.iter().position(|x| !x.is_finite()) {
            return Err(Error::NotFinite {
                what: "a feature",
                row: at / shape.numbers,
                value: values[at],
                must: "finite",
            });
        }
        let column = |j: usize| values.iter().skip(j).step_by(shape.numbers).copied();
        let columns = (0..shape.numbers).map(|j| NumberColumn::of(column(j).collect()));
        let coded = Coded::from_checked(columns.collect(), CodeVec::Long(codes), shape);
        coded.check()?;
        let codes = coded.codes.fitted(shape.cols);
        Ok(Coded { codes, ..coded })
    }

    /// For a map, which makes no other codes.
    pub(crate) fn from_checked(
        numbers: Vec<NumberColumn>,
        codes: CodeVec,
        shape: CodedShape,
    ) -> Coded {
        debug_assert!(numbers.iter().all(|column| column.len() == shape.rows));
        debug_assert_eq!(numbers.len(), shape.numbers);
        Coded {
            numbers,
            codes,
            width: shape.codes,
            rows: shape.rows,
            cols: shape.cols,
            stored: OnceLock::new(),
        }
    }

    fn check(&self) -> Result<()> {
        let malformed = |what: String| Error::Parameter {
            name: "coded rows",
            value: what,
            must: "codes that increase within a row, from the number of values on and below the dimension, itself below 2^32",
        };
        let numbers = self.numbers.len();
        if numbers > self.cols || self.cols > NO_CELL as usize {
            let what = format!("{numbers} values of {} features", self.cols);
            return Err(malformed(what));
        }
        for i in 0..self.rows {
            let mut least = numbers;
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
            numbers: self.numbers.len(),
            codes: self.width,
            cols: self.cols,
        }
    }

    /// All numbers, row by row.
    pub fn all_values(&self) -> Vec<f64> {
        (0..self.rows)
            .flat_map(|i| self.numbers(i).iter())
            .collect()
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
        8 * self.numbers.len() * self.rows + of_codes
    }

    /// Entries that are stored: all numbers, and the codes that are cells.
    pub fn stored(&self) -> usize {
        let count = || self.numbers.len() * self.rows + self.all_codes().cells().count();
        *self.stored.get_or_init(count)
    }

    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> Row<'_> {
        Row::Coded {
            values: self.numbers(i),
            codes: self.codes(i),
        }
    }

    /// The numbers of row i.
    #[inline(always)]
    pub(crate) fn numbers(&self, i: usize) -> Numbers<'_> {
        Numbers {
            columns: &self.numbers,
            row: i,
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
        let numbers = self.numbers.iter();
        let numbers = numbers.map(|column| column.gathered(&places)).collect();
        let codes = match &self.codes {
            CodeVec::Short(codes) => CodeVec::Short(gather(codes, self.width, &places)),
            CodeVec::Long(codes) => CodeVec::Long(gather(codes, self.width, &places)),
        };
        let shape = CodedShape {
            rows: places.len(),
            ..self.shape()
        };
        Coded::from_checked(numbers, codes, shape)
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

/// By what they hold, wherever it is kept.
impl PartialEq for Coded {
    fn eq(&self, other: &Coded) -> bool {
        let same_numbers =
            || (0..self.rows).all(|i| self.numbers(i).iter().eq(other.numbers(i).iter()));
        self.shape() == other.shape() && self.codes == other.codes && same_numbers()
    }
}

/// Σ w_c over the codes, added to a sum. A gap is beyond the end of what codes can reach, here and below.
#[inline]
fn codes_dot<C: Code>(sum: f64, codes: &[C], w: &[f64]) -> f64 {
    let w = &w[..w.len().min(C::NONE.index())];
    let at = |code: &C| w.get(code.index()).copied().unwrap_or(0.0);
    codes.iter().map(at).fold(sum, |sum, w| sum + w)
}

/// x·w.
#[inline]
pub(super) fn coded_dot(values: Numbers<'_>, codes: Codes<'_>, w: &[f64]) -> f64 {
    let terms = values.iter().zip(w).map(|(x, w)| w * x);
    let sum = terms.fold(0.0, |sum, term| sum + term);
    match codes {
        Codes::Short(codes) => codes_dot(sum, codes, w),
        Codes::Long(codes) => codes_dot(sum, codes, w),
    }
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
pub(super) fn coded_add_to(a: f64, values: Numbers<'_>, codes: Codes<'_>, w: &mut [f64]) {
    for (w, x) in w.iter_mut().zip(values.iter()) {
        *w += a * x;
    }
    match codes {
        Codes::Short(codes) => add_to_codes(a, codes, w),
        Codes::Long(codes) => add_to_codes(a, codes, w),
    }
}

/// A ← A + a·xxᵀ in the upper triangle of a matrix with rows of `m` numbers.
pub(super) fn coded_add_outer(
    a: f64,
    (values, codes): (Numbers<'_>, Codes<'_>),
    m: usize,
    matrix: &mut [f64],
) {
    match codes {
        Codes::Short(codes) => add_outer(a, (values, codes), m, matrix),
        Codes::Long(codes) => add_outer(a, (values, codes), m, matrix),
    }
}

fn add_outer<C: Code>(a: f64, (values, codes): (Numbers<'_>, &[C]), m: usize, matrix: &mut [f64]) {
    for (j, x) in values.iter().enumerate() {
        let row = &mut matrix[j * m..(j + 1) * m];
        for (out, y) in row.iter_mut().zip(values.iter()).skip(j) {
            *out += a * x * y;
        }
        cells(codes).for_each(|c| row[c] += a * x);
    }
    for (at, j) in codes.iter().enumerate().filter(|(_, j)| **j != C::NONE) {
        let row = &mut matrix[j.index() * m..(j.index() + 1) * m];
        cells(&codes[at..]).for_each(|c| row[c] += a);
    }
}
