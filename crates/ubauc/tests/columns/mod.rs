//! Maps of tables: against features made by hand, row by row.

mod by_hand; // the same features, obviously
mod codes; // numbers whose order tells nothing
mod kinds; // columns of another kind, or none
mod learned; // what becomes of each column
mod merged; // maps of parts

use std::sync::Arc;

use proptest::prelude::*;
use ubauc::data::table::{Column, MISSING, Table, Values};

pub(crate) fn number(name: &str, values: &[f64]) -> Column {
    Column {
        name: name.to_string(),
        values: Values::Number(values.to_vec().into()),
    }
}

pub(crate) fn time(name: &str, seconds: &[f64]) -> Column {
    Column {
        name: name.to_string(),
        values: Values::Time(seconds.to_vec().into()),
    }
}

/// Texts, "" where missing.
pub(crate) fn category(name: &str, texts: &[&str]) -> Column {
    let mut levels: Vec<String> = Vec::new();
    let codes = texts.iter().map(|&text| {
        if text.is_empty() {
            return MISSING;
        }
        let known = levels.iter().position(|level| level == text);
        known.unwrap_or_else(|| {
            levels.push(text.to_string());
            levels.len() - 1
        }) as u32
    });
    let codes = codes.collect();
    Column {
        name: name.to_string(),
        values: Values::Category {
            codes,
            levels: Arc::from(levels),
        },
    }
}

pub(crate) fn table(columns: Vec<Column>) -> Table {
    let rows = columns.first().map_or(0, |column| column.values.len());
    Table::new(columns, rows).unwrap()
}

/// These rows, in this order.
pub(crate) fn rows_of(table: &Table, rows: &[usize]) -> Table {
    let pick = |values: &[f64]| -> Vec<f64> { rows.iter().map(|&i| values[i]).collect() };
    let column = |column: &Column| Column {
        name: column.name.clone(),
        values: match &column.values {
            Values::Number(values) => Values::Number(pick(values).into()),
            Values::Time(values) => Values::Time(pick(values).into()),
            Values::Category { codes, levels } => Values::Category {
                codes: rows.iter().map(|&i| codes[i]).collect(),
                levels: levels.clone(),
            },
        },
    };
    let columns = table.columns().iter().map(column).collect();
    Table::new(columns, rows.len()).unwrap()
}

/// A column of n rows of any kind, with gaps.
fn random_values(n: usize) -> impl Strategy<Value = Values> {
    let gaps = || prop_oneof![3 => Just(false), 1 => Just(true)];
    let number = prop_oneof![
        4 => (-5i32..5).prop_map(f64::from),
        2 => -1e3..1e3f64,
        1 => prop_oneof![Just(1e300), Just(-1e300), Just(5e-324)],
    ];
    let numbers = prop::collection::vec((number, gaps()), n).prop_map(|v| {
        v.into_iter()
            .map(|(x, gap)| if gap { f64::NAN } else { x })
            .collect()
    });
    let times = prop::collection::vec((0.0..3e9f64, gaps()), n).prop_map(|v| {
        v.into_iter()
            .map(|(x, gap)| if gap { f64::NAN } else { x })
            .collect()
    });
    let codes = prop::collection::vec((0u32..6, gaps()), n).prop_map(|v| {
        v.into_iter()
            .map(|(x, gap)| if gap { MISSING } else { x })
            .collect()
    });
    let levels: Arc<[String]> = (0..6).map(|k| format!("level {}", (k * 5) % 7)).collect();
    prop_oneof![
        numbers.prop_map(|x: Vec<f64>| Values::Number(x.into())),
        times.prop_map(|x: Vec<f64>| Values::Time(x.into())),
        codes.prop_map(move |codes| Values::Category {
            codes,
            levels: levels.clone(),
        }),
        Just(Values::Number(vec![f64::NAN; n].into())),
        Just(Values::Category {
            codes: vec![MISSING; n],
            levels: Arc::from([]),
        }),
    ]
}

/// Up to five columns of any kind.
fn random_table() -> impl Strategy<Value = Table> {
    (1usize..40).prop_flat_map(|n| {
        prop::collection::vec(random_values(n), 0..6).prop_map(move |values| {
            let named = values.into_iter().enumerate().map(|(k, values)| Column {
                name: format!("column {k}"),
                values,
            });
            Table::new(named.collect(), n).unwrap()
        })
    })
}
