//! One divisor for each feature, so that features of different units meet one regulariser.
//!
//!   MaxAbs     r_j = max_i |x_ij − c_j|
//!   Standard   r_j = √( Σ_i s_i (x_ij − m_j)² / S ),   m_j = Σ_i s_i x_ij / S,   S = Σ_i s_i
//!
//! over the examples with a weight s_i above 0; without weights s_i = 1. c_j is 0, or m_j for a model
//! with an intercept ([`Origin`]): then a constant added to a feature does not change its divisor. A feature of
//! zeros has r_j = 1, and a constant one, which has no deviation, its max |x|.
//!
//! Only the divisors are made here; nothing is centred. A shift of a feature only moves the intercept, and
//! neither AUC nor the hinge with its λ notice it, while centred sparse rows would be dense.
//!
//! Absent entries are zeros and take part: with n_j stored of n examples, the stored ones of
//! weight S_j, mean a and sum of squares M about it,
//!
//!   S r_j² = M + a² S_j (S − S_j) / S,   S = S_j exactly where n_j = n.
//!
//! Values are taken in units of a power of two near max |x|, which is exact and lets no square
//! overflow, and M in a second pass.
//! Cost O(nnz) time in order of the rows, O(d) memory.

use serde::{Deserialize, Serialize};

use crate::data::rows::{Row, Rows};
use crate::{Error, Result};

/// How features are scaled before training; fitted on the training rows only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// As they are.
    #[default]
    None,
    /// To at most 1 in absolute value, about the [`Origin`].
    MaxAbs,
    /// To a standard deviation of 1, without centring.
    Standard,
}

/// The point that [`Scale::MaxAbs`] measures from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// 0: for a model without an intercept, to which the offset of a feature matters.
    Zero,
    /// The mean of the feature: for a model with an intercept, to which it does not.
    Mean,
}

impl Origin {
    /// For a model with or without an intercept.
    pub fn of_intercept(intercept: bool) -> Origin {
        if intercept {
            Origin::Mean
        } else {
            Origin::Zero
        }
    }
}

/// What one feature's stored values are like, of examples with a weight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) stored: usize,
    pub(crate) weight: f64,
}

impl Range {
    /// Of no values.
    pub(crate) fn none() -> Range {
        Range {
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            stored: 0,
            weight: 0.0,
        }
    }

    /// Of the values of both.
    pub(crate) fn merge(&mut self, other: &Range) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.stored += other.stored;
        self.weight += other.weight;
    }
}

/// Rows may differ by this share of their length, and count as of one length.
const SAME_LENGTH: f64 = 1e-3;

/// Whether the Euclidean length of all rows that are not empty is the same.
fn of_one_length(rows: &Rows) -> bool {
    let lengths = (0..rows.len()).map(|i| {
        let squares = rows.row(i).entries().map(|(_, x)| x * x);
        squares.sum::<f64>().sqrt()
    });
    let mut lengths = lengths.filter(|length| *length > 0.0);
    let Some(first) = lengths.next() else {
        return false;
    };
    lengths.all(|length| (length - first).abs() <= SAME_LENGTH * first)
}

impl Scale {
    /// What suits rows of which nothing else is known: standard deviations of dense ones; sparse ones, whose rare features
    /// have small deviations and would be blown up, by their largest values, unless someone has made all rows of one length
    /// already. Rows of a table are as their map has made them.
    pub fn suited(rows: &Rows) -> Scale {
        match rows {
            Rows::Coded(_) => Scale::None,
            Rows::Csr(_) if of_one_length(rows) => Scale::None,
            rows => Scale::suited_if_sparse(matches!(rows, Rows::Csr(_))),
        }
    }

    /// The same of rows that are elsewhere, whose lengths are not compared.
    pub fn suited_if_sparse(sparse: bool) -> Scale {
        match sparse {
            true => Scale::MaxAbs,
            false => Scale::Standard,
        }
    }

    /// As it is typed and written to files.
    pub fn name(self) -> &'static str {
        match self {
            Scale::None => "none",
            Scale::MaxAbs => "maxabs",
            Scale::Standard => "standard",
        }
    }

    /// The divisors of [`Scale::divisors`]; none where nothing is divided.
    pub fn optional_divisors(
        self,
        rows: &Rows,
        weights: Option<&[f64]>,
        origin: Origin,
    ) -> Result<Option<Vec<f64>>> {
        match self {
            Scale::None => Ok(None),
            scale => scale.divisors(rows, weights, origin).map(Some),
        }
    }

    /// The divisor r_j of every feature; x_j / r_j is the scaled feature. All are positive and
    /// finite.
    pub fn divisors(
        self,
        rows: &Rows,
        weights: Option<&[f64]>,
        origin: Origin,
    ) -> Result<Vec<f64>> {
        if let Some(weights) = weights {
            check_weights(weights, rows.len())?;
        }
        if self == Scale::None {
            return Ok(vec![1.0; rows.cols()]);
        }
        let weighted = weighted(rows, weights);
        let (mut n, mut total) = (0, 0.0);
        for (_, s) in weighted.clone() {
            n += 1;
            total += s;
        }
        let ranges = ranges(weighted.clone(), rows.cols());
        divisors_of((self, origin), ranges, n, total, |pass| {
            let mut sums = vec![0.0; pass.width() * rows.cols()];
            pass.add(weighted.clone(), &mut sums);
            Ok(sums)
        })
    }
}

/// A pass over the rows for the deviations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Pass {
    /// Σ s_i/S_j · x_ij/unit_j for every j.
    Means {
        /// S_j.
        weights: Vec<f64>,
        /// unit_j.
        units: Vec<f64>,
    },
    /// Σ s_i/S_j · (x_ij/unit_j − mean_j) for every j, then the same of the squares.
    Squares {
        /// S_j.
        weights: Vec<f64>,
        /// unit_j.
        units: Vec<f64>,
        /// mean_j.
        means: Vec<f64>,
    },
}

impl Pass {
    /// Sums for each feature.
    pub(crate) fn width(&self) -> usize {
        match self {
            Pass::Means { .. } => 1,
            Pass::Squares { .. } => 2,
        }
    }

    /// Adds the rows' part to the sums.
    pub(crate) fn add<'a>(&self, rows: impl Iterator<Item = (Row<'a>, f64)>, sums: &mut [f64]) {
        match self {
            Pass::Means { weights, units } => {
                for (row, s) in rows {
                    row.for_each(|j, x| sums[j] += s / weights[j] * (x / units[j]));
                }
            }
            Pass::Squares {
                weights,
                units,
                means,
            } => {
                let (left_over, squares) = sums.split_at_mut(means.len());
                for (row, s) in rows {
                    row.for_each(|j, x| {
                        let from_mean = x / units[j] - means[j];
                        let share = s / weights[j];
                        left_over[j] += share * from_mean;
                        squares[j] += share * from_mean * from_mean;
                    });
                }
            }
        }
    }
}

/// The divisors, from what is known of every feature's values, n examples of total weight S, and sums over the rows.
pub(crate) fn divisors_of(
    (scale, origin): (Scale, Origin),
    mut ranges: Vec<Range>,
    n: usize,
    total: f64,
    sums: impl FnMut(Pass) -> Result<Vec<f64>>,
) -> Result<Vec<f64>> {
    for range in ranges.iter_mut().filter(|range| range.stored < n) {
        range.min = range.min.min(0.0);
        range.max = range.max.max(0.0);
    }
    for range in ranges.iter_mut().filter(|range| range.min > range.max) {
        (range.min, range.max) = (0.0, 0.0);
    }
    let largest: Vec<f64> = ranges.iter().map(|r| r.max.max(-r.min)).collect();
    let mut divisors = match (scale, origin) {
        (Scale::None, _) | (Scale::MaxAbs, Origin::Zero) => largest.clone(),
        (Scale::MaxAbs, Origin::Mean) => {
            let spread = |(range, column): (&Range, Column)| match range.min == range.max {
                true => 0.0,
                false => (range.max - column.mean).max(column.mean - range.min),
            };
            let columns = columns(&ranges, &largest, n, total, sums)?;
            ranges.iter().zip(columns).map(spread).collect()
        }
        (Scale::Standard, _) => {
            let columns = columns(&ranges, &largest, n, total, sums)?;
            columns.into_iter().map(|column| column.deviation).collect()
        }
    };
    for (divisor, &largest) in divisors.iter_mut().zip(&largest) {
        // A deviation may be lost to underflow beside a weight that dwarfs the others.
        if !(*divisor > 0.0 && divisor.is_finite()) {
            *divisor = largest;
        }
        if *divisor <= 0.0 {
            *divisor = 1.0;
        }
    }
    Ok(divisors)
}

/// Refuses weights that are too few or many, negative or not finite, or nothing together.
pub(crate) fn check_weights(weights: &[f64], n: usize) -> Result<()> {
    check_each_weight(weights, n)?;
    let total: f64 = weights.iter().sum();
    if n > 0 && !(total > 0.0 && total.is_finite()) {
        return Err(Error::Parameter {
            name: "the sum of the sample weights",
            value: total.to_string(),
            must: "positive and finite",
        });
    }
    Ok(())
}

/// As many as rows, each finite and not negative.
pub(crate) fn check_each_weight(weights: &[f64], n: usize) -> Result<()> {
    if weights.len() != n {
        let got = weights.len();
        return Err(Error::Length {
            what: "sample weights",
            expected: n,
            got,
        });
    }
    if let Some(row) = weights.iter().position(|s| !(s.is_finite() && *s >= 0.0)) {
        let value = weights[row];
        return Err(Error::NotFinite {
            what: "weight",
            row,
            value,
            must: "finite and not negative",
        });
    }
    Ok(())
}

/// Rows with a weight above 0, and that weight.
fn weighted<'a>(
    rows: &'a Rows,
    weights: Option<&'a [f64]>,
) -> impl Iterator<Item = (Row<'a>, f64)> + Clone {
    let weight = move |i: usize| weights.map_or(1.0, |weights| weights[i]);
    (0..rows.len())
        .map(move |i| (rows.row(i), weight(i)))
        .filter(|&(_, s)| s > 0.0)
}

/// Of every feature, what is stored.
pub(crate) fn ranges<'a>(rows: impl Iterator<Item = (Row<'a>, f64)>, cols: usize) -> Vec<Range> {
    let mut ranges = vec![Range::none(); cols];
    for (row, s) in rows {
        row.for_each(|j, x| {
            let range = &mut ranges[j];
            range.min = range.min.min(x);
            range.max = range.max.max(x);
            range.stored += 1;
            range.weight += s;
        });
    }
    ranges
}

/// A feature over all examples, absent entries as zeros.
struct Column {
    mean: f64,
    /// 0 for what is constant.
    deviation: f64,
}

fn columns(
    ranges: &[Range],
    largest: &[f64],
    n: usize,
    total: f64,
    mut sums: impl FnMut(Pass) -> Result<Vec<f64>>,
) -> Result<Vec<Column>> {
    let units: Vec<f64> = largest.iter().map(|&x| power_of_two(x)).collect();
    let weights: Vec<f64> = ranges.iter().map(|range| range.weight).collect();
    // Of the stored values, in units of their size: a = Σ s x / S_j.
    let means = sums(Pass::Means {
        weights: weights.clone(),
        units: units.clone(),
    })?;
    // Σ s (x − a) / S_j, which is what the rounding of the mean left over, and M / S_j.
    let both = sums(Pass::Squares {
        weights,
        units: units.clone(),
        means: means.clone(),
    })?;
    let (left_over, squares) = both.split_at(ranges.len());
    let column = |j: usize| {
        let range = &ranges[j];
        let stored = if range.stored == n {
            1.0
        } else {
            (range.weight / total).min(1.0)
        };
        let within = (squares[j] - left_over[j] * left_over[j]).max(0.0);
        let mean = means[j] + left_over[j];
        let square = stored * (within + mean * mean * (1.0 - stored));
        Column {
            mean: units[j] * (stored * mean),
            deviation: match range.min == range.max {
                true => 0.0,
                false => units[j] * square.sqrt(),
            },
        }
    };
    Ok((0..ranges.len()).map(column).collect())
}

/// The power of two that x has the size of, normal even where x is not: dividing by it is exact.
fn power_of_two(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & f64::INFINITY.to_bits()).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::rows::{Csr, Dense};

    fn dense(values: &[f64], cols: usize) -> Rows {
        Rows::Dense(Dense::new(values.to_vec(), values.len() / cols, cols).unwrap())
    }

    /// The same numbers, without the zeros.
    fn sparse(values: &[f64], cols: usize) -> Rows {
        let (mut indptr, mut indices, mut kept) = (vec![0], vec![], vec![]);
        for row in values.chunks(cols) {
            for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                indices.push(j as u32);
                kept.push(x);
            }
            indptr.push(indices.len());
        }
        Rows::Csr(Csr::new(indptr, indices, kept, cols).unwrap())
    }

    fn column(values: &[f64], scale: Scale) -> f64 {
        scale
            .divisors(&sparse(values, 1), None, Origin::Zero)
            .unwrap()[0]
    }

    #[test]
    fn by_hand() {
        let values = [1.0, 0.0, -4.0, 3.0, 0.0, 4.0];
        let rows = dense(&values, 3);
        let of = |scale: Scale| scale.divisors(&rows, None, Origin::Zero).unwrap();
        assert_eq!(of(Scale::None), [1.0, 1.0, 1.0]);
        assert_eq!(of(Scale::MaxAbs), [3.0, 1.0, 4.0]);
        assert_eq!(of(Scale::Standard), [1.0, 1.0, 4.0]);
        let held_out = Scale::MaxAbs.divisors(&rows, Some(&[2.0, 0.0]), Origin::Zero);
        assert_eq!(held_out.unwrap(), [1.0, 1.0, 4.0]);
    }

    #[test]
    fn a_constant_feature_has_its_size() {
        for x in [0.1, -7.3, 1e300, 5e-324] {
            assert_eq!(column(&[x; 1000], Scale::Standard), x.abs());
        }
        assert_eq!(column(&[0.0; 9], Scale::Standard), 1.0);
        let empty = Rows::Csr(Csr::new(vec![0], vec![], vec![], 2).unwrap());
        assert_eq!(
            Scale::Standard
                .divisors(&empty, None, Origin::Zero)
                .unwrap(),
            [1.0, 1.0]
        );
    }

    #[test]
    fn a_large_mean_and_extreme_sizes_cost_no_digits() {
        // ±1 about 10⁸; the squares of the values have no room for it.
        let shifted: Vec<f64> = (0..1000).map(|i| 1e8 + f64::from(i % 2 * 2 - 1)).collect();
        assert!((column(&shifted, Scale::Standard) - 1.0).abs() < 1e-12);
        for unit in [f64::MAX, 1e300, 1e-300] {
            let found = column(&[unit, 0.0, -unit, 0.0], Scale::Standard);
            assert!((found / unit - 0.5f64.sqrt()).abs() < 1e-15, "{found}");
        }
    }

    #[test]
    fn a_constant_added_to_a_feature_changes_no_divisor_about_the_mean() {
        let values = [3.0, 0.0, -1.0, 0.0, 0.25, 0.0];
        for scale in [Scale::MaxAbs, Scale::Standard] {
            let of = |rows: Rows| scale.divisors(&rows, None, Origin::Mean).unwrap()[0];
            let before = of(sparse(&values, 1));
            for constant in [1.0, 1e2, 1e6] {
                let moved: Vec<f64> = values.iter().map(|x| x + constant).collect();
                for rows in [dense(&moved, 1), sparse(&moved, 1)] {
                    // What is left of x after its offset has taken its digits.
                    assert!((of(rows) - before).abs() <= 4.0 * f64::EPSILON * constant);
                }
            }
        }
    }

    #[test]
    fn wrong_weights_are_refused() {
        let rows = dense(&[1.0, 2.0], 1);
        for weights in [
            &[1.0][..],
            &[1.0, -1.0],
            &[1.0, f64::NAN],
            &[0.0, 0.0],
            &[f64::MAX; 2],
        ] {
            assert!(
                Scale::Standard
                    .divisors(&rows, Some(weights), Origin::Zero)
                    .is_err()
            );
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition_dense_and_sparse(
            values in prop::collection::vec(prop_oneof![Just(0.0), -9.0..9.0f64], 12..60),
            weights in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.1..3.0f64], 20),
        ) {
            let (cols, n) = (3, values.len() / 3);
            let values = &values[..n * cols];
            let mut weights = weights[..n.min(20)].to_vec();
            weights.resize(n, 1.0);
            weights[0] = 1.0;
            let total: f64 = weights.iter().sum();
            for (scale, origin) in [
                (Scale::MaxAbs, Origin::Zero),
                (Scale::MaxAbs, Origin::Mean),
                (Scale::Standard, Origin::Mean),
            ] {
                let of = |rows: &Rows| scale.divisors(rows, Some(&weights), origin).unwrap();
                let (found, thin) = (of(&dense(values, cols)), of(&sparse(values, cols)));
                for j in 0..cols {
                    let x: Vec<f64> = (0..n).map(|i| values[i * cols + j]).collect();
                    let used = || x.iter().zip(&weights).filter(|(_, s)| **s > 0.0);
                    let largest = used().fold(0.0f64, |m, (x, _)| m.max(x.abs()));
                    let mean = used().map(|(x, s)| s * x).sum::<f64>() / total;
                    let squares = used().map(|(x, s)| s * (x - mean).powi(2)).sum::<f64>();
                    let constant = used().all(|(a, _)| *a == x[0]);
                    let expected = match scale {
                        _ if largest == 0.0 => 1.0,
                        Scale::Standard if !constant => (squares / total).sqrt(),
                        Scale::MaxAbs if !constant && origin == Origin::Mean => {
                            used().fold(0.0f64, |m, (x, _)| m.max((x - mean).abs()))
                        }
                        _ => largest,
                    };
                    // Twenty terms, each rounded a few times.
                    prop_assert!((found[j] - expected).abs() <= 1e-13 * largest.max(1.0));
                    prop_assert!((thin[j] - expected).abs() <= 1e-13 * largest.max(1.0));
                }
            }
        }
    }
}
