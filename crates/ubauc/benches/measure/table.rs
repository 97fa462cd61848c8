//! Generated tables: six numbers and four categories, of which three and two matter, one pair of them together.

use ubauc::data::labels::Binary;
use ubauc::data::table::{Column, Table, Values};

/// Every row from its number alone (SplitMix64).
fn random(i: u64, k: u64) -> u64 {
    let mut x = (i << 8 | k).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}

fn uniform(i: u64, k: u64) -> f64 {
    (random(i, k) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A table of n rows, and its classes.
pub(crate) fn generated(n: u64) -> (Table, Binary) {
    const LEVELS: [u64; 4] = [3, 12, 50, 400];
    let level = |i: u64, k: usize| (uniform(i, 10 + k as u64).powi(2) * LEVELS[k] as f64) as u32;
    let numbers = (0..6).map(|k| Column {
        name: format!("x{k}"),
        values: Values::Number((0..n).map(|i| uniform(i, k)).collect::<Vec<f64>>().into()),
    });
    let categories = (0..4).map(|k| Column {
        name: format!("c{k}"),
        values: Values::Category {
            codes: (0..n).map(|i| level(i, k)).collect(),
            levels: (0..LEVELS[k])
                .map(|l| format!("l{l}"))
                .collect::<Vec<_>>()
                .into(),
        },
    });
    let columns = numbers.chain(categories).collect();
    let positive: Vec<bool> = (0..n)
        .map(|i| {
            let x = [0, 1, 2].map(|k| uniform(i, k));
            let of_level = f64::from(level(i, 1) % 3) - 1.0;
            let score =
                (6.0 * x[0]).sin() + 2.0 * (x[1] - 0.5) * of_level + (x[2] - 0.5).abs() - 1.5;
            uniform(i, 20) < 1.0 / (1.0 + (-2.0 * score).exp())
        })
        .collect();
    let n_pos = positive.iter().filter(|p| **p).count();
    let labels = Binary {
        n_neg: positive.len() - n_pos,
        positive,
        n_pos,
        names: ["0".into(), "1".into()],
    };
    (Table::new(columns, n as usize).unwrap(), labels)
}

/// What its values take.
pub(crate) fn bytes(table: &Table) -> usize {
    let of_column = |column: &Column| match &column.values {
        Values::Number(values) | Values::Time(values) => 8 * values.len(),
        Values::Category { codes, .. } => 4 * codes.len(),
    };
    table.columns().iter().map(of_column).sum()
}
