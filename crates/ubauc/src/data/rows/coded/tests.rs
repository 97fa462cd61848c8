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
        let long = Coded::new(short.all_values(), short.all_codes().to_vec(), shape);
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

/// Blocks of a table's own columns: with gaps, missing values, times and values that need care, whole or some of the rows.
mod blocks {
    use std::sync::Arc;

    use super::*;

    /// As many rows as numbers of `random`, made of these.
    fn rows(random: &[u64], q: usize, width: usize, cols: usize) -> Coded {
        let digit = |i: usize, k: usize| random[i] >> (7 * k % 50) & 127;
        let n = random.len();
        let number = |i: usize, k: usize| match digit(i, k) {
            0..10 => f64::NAN,
            10 if k == 0 => 1e300,
            x => x as f64 - 50.5,
        };
        let standards = [
            Standard::new(1.0, 3.0, 7.0),
            Standard::new(86_400.0, 1e-3, 0.1),
            Standard::new(1.0, -1e9, 1e-250),
        ];
        let numbers = (0..q).map(|k| {
            let values: Vec<f64> = (0..n).map(|i| number(i, k)).collect();
            NumberColumn::standardised(&Arc::new(values), standards[k % 3])
        });
        let cells = (cols - q) / width.max(1);
        let code = |i: usize, k: usize| match digit(i, k + 1) as usize % (cells + 1) {
            0 => NO_CELL,
            cell => (q + k * cells + cell - 1) as u32,
        };
        let codes = (0..n).flat_map(|i| (0..width).map(move |k| code(i, k)));
        let shape = CodedShape {
            rows: n,
            numbers: q,
            codes: width,
            cols,
        };
        Coded::from_checked(numbers.collect(), CodeVec::of(codes, cols), shape)
    }

    proptest! {
        #[test]
        fn of_blocks_and_row_by_row(
            random in prop::collection::vec(0u64.., 0..2 * BLOCK + 9),
            q in 0usize..5,
            width in 0usize..8,
            long: bool,
            taken in 1usize..4,
            power_two: bool,
            short_of in 0usize..90,
        ) {
            let cols = if long { 70_000 } else { q + 9 * width };
            let coded = rows(&random, q, width, cols);
            prop_assert_eq!(matches!(coded.all_codes(), Codes::Long(_)), long);
            let power = if power_two { Power::Two } else { Power::One };
            let squared = |x: f64| if power_two { x * x } else { x };
            let w: Vec<f64> = (0..short_of).map(|j| (j as f64 + 0.5).sin()).collect();
            let weights = FeatureWeights::new(&coded, &w, power);
            let start = random.len() / 3;
            let some: Vec<u32> =
                (0..(random.len() - start) as u32).filter(|i| i % 3 < taken as u32).collect();
            let mut found = FeatureSums::<2>::new(&coded, power);
            let mut expected = vec![[0.0; 2]; cols];
            let blocks = some.chunks(BLOCK).map(|at| match taken {
                3 => (Places::Span(start + at[0] as usize), at),
                _ => (Places::List { start, at }, at),
            });
            for (places, at) in blocks {
                let mut z = vec![f64::NAN; at.len()];
                coded.block_dots(places, &weights, &mut z);
                let a: [Vec<f64>; 2] = [1.3, 0.7].map(|f| at.iter().map(|i| (f * f64::from(*i)).cos()).collect());
                coded.block_add(places, [&a[0], &a[1]], &mut found);
                for (k, &i) in at.iter().enumerate() {
                    let row = coded.row(start + i as usize);
                    if !power_two {
                        // To the last bit.
                        prop_assert_eq!(z[k], row.dot(&w));
                    }
                    let terms = row.entries().filter(|(j, _)| *j < w.len());
                    prop_assert_eq!(z[k], terms.fold(0.0, |z, (j, x)| z + w[j] * squared(x)));
                    row.for_each(|j, x| {
                        expected[j][0] += a[0][k] * squared(x);
                        expected[j][1] += a[1][k] * squared(x);
                    });
                }
            }
            for k in 0..2 {
                for (found, expected) in found.sum(k).zip(&expected) {
                    // Numbers are at most 1e100 large.
                    let scale = (expected[k].abs() + 1e2).max(if q > 2 { 1e200 } else { 0.0 });
                    prop_assert!((found - expected[k]).abs() <= 1e-12 * scale);
                }
            }
        }
    }

    /// A column that is read in place has the bits of one that is copied, and care keeps numbers in bounds.
    #[test]
    fn numbers_are_standardised_where_they_are_read() {
        let values = Arc::new(vec![2.0, f64::NAN, -1.5, 3.25]);
        let standard = Standard::new(1.0, 0.7, 1.3);
        let shared = NumberColumn::standardised(&values, standard);
        assert_eq!(Arc::strong_count(&values), 2);
        let copied = NumberColumn::of(values.iter().map(|x| standard.of(*x)).collect());
        for (i, x) in values.iter().enumerate() {
            assert_eq!(shared.at(i).to_bits(), copied.at(i).to_bits());
            let by_hand = if x.is_nan() { 0.0 } else { (x - 0.7) / 1.3 };
            assert_eq!(shared.at(i), by_hand);
        }
        let large = Arc::new(vec![f64::MAX, f64::MIN, 0.0, f64::NAN]);
        for (standard, holders) in [
            (Standard::new(1.0, f64::MIN, 1e-300), 1),
            (Standard::new(1.0, 1.0, f64::MIN_POSITIVE / 4.0), 1),
            // Needs no care.
            (Standard::new(1.0, 1.0, f64::MAX), 2),
        ] {
            let column = NumberColumn::standardised(&large, standard);
            assert_eq!(Arc::strong_count(&large), holders);
            assert!((0..4).all(|i| column.at(i).abs() <= 1e100));
            assert_eq!(column.at(3), 0.0);
        }
    }
}
