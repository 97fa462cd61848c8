//! What becomes of each column.

use std::sync::Arc;

use ubauc::Error;
use ubauc::data::table::{Column, Table, Values};
use ubauc::features::columns::{Cells, ColumnMap, Effect, Level, Note, PairCells, Rare, Unseen};

use super::{category, number, table, time};

fn learn(columns: Vec<Column>) -> ColumnMap {
    ColumnMap::learn(&table(columns), None).unwrap()
}

#[test]
fn numbers_are_standardised_and_gaps_have_a_cell() {
    let map = learn(vec![number("x", &[1.0, 3.0, f64::NAN, 5.0])]);
    let Effect::Linear {
        mean, deviation, ..
    } = map.effects[0]
    else {
        panic!("{map:?}")
    };
    assert_eq!(mean, 3.0);
    // √((4 + 0 + 4)/3)
    assert!((deviation - (8f64 / 3.0).sqrt()).abs() < 1e-15);
    assert_eq!(map.feature_names(), ["x", "x is missing"]);
    assert_eq!((map.rows, map.columns[0].missing), (4, 1));
    let numbers = map.columns[0].numbers.unwrap();
    assert_eq!((numbers.min, numbers.max), (1.0, 5.0));
}

#[test]
fn weights_weigh_means_and_rows_of_weight_zero_are_not_seen() {
    let columns = vec![
        number("x", &[1.0, 3.0, 100.0]),
        category("c", &["a", "a", "b"]),
    ];
    let map = ColumnMap::learn(&table(columns), Some(&[1.0, 3.0, 0.0])).unwrap();
    let numbers = map.columns[0].numbers.unwrap();
    assert_eq!((numbers.mean, numbers.max), (2.5, 3.0));
    // (1·1.5² + 3·0.5²)/4 = 0.75
    assert!((numbers.deviation - 0.75f64.sqrt()).abs() < 1e-15);
    assert_eq!(map.columns[1].rare, Some(Rare { levels: 1, rows: 2 }));
    assert_eq!(map.rows, 2);
}

#[test]
fn levels_have_cells_and_rare_ones_share_one() {
    let texts = ["b", "a", "b", "a", "b", "a", "c", "", "d", "d"];
    let map = learn(vec![category("w", &texts)]);
    let names = ["w=a", "w=b", "w=(rare)", "w=(missing)"];
    assert_eq!(map.feature_names(), names);
    let level = |name: &str| Level {
        name: name.to_string(),
        rows: 3,
    };
    assert_eq!(map.columns[0].levels, [level("a"), level("b")]);
    assert_eq!(map.columns[0].rare, Some(Rare { levels: 2, rows: 3 }));
    let new = table(vec![category("w", &["new", "", "a", "c"])]);
    let rows = map.apply(&new).unwrap();
    let cells: Vec<usize> = (0..4)
        .map(|i| rows.row(i).entries().next().unwrap().0)
        .collect();
    assert_eq!(cells, [2, 3, 0, 2]);
    // Without rare levels and gaps, unseen levels and gaps are nothing.
    let map = learn(vec![category("w", &["b", "a", "b", "a", "b", "a"])]);
    assert_eq!(map.feature_names(), ["w=a", "w=b"]);
    let rows = map.apply(&new).unwrap();
    let stored: Vec<usize> = (0..4).map(|i| rows.row(i).stored()).collect();
    assert_eq!(stored, [0, 0, 1, 0]);
}

#[test]
fn times_are_days_and_the_parts_that_vary() {
    // 1970-01-01 is a Thursday: the same weekday and month, other hours.
    let map = learn(vec![time("at", &[0.0, 3600.0, 7200.0, f64::NAN])]);
    let names = map.feature_names();
    assert_eq!(names.len(), 1 + 1 + 24);
    assert_eq!(
        [&names[0], &names[1], &names[7]],
        ["at", "at is missing", "at hour=5"]
    );
    let Effect::Linear { mean, .. } = map.effects[0] else {
        panic!()
    };
    assert!((mean - 1.0 / 24.0).abs() < 1e-16);
    let days = [0.0, 86400.0, 40.0 * 86400.0];
    let names = learn(vec![time("at", &days)]).feature_names();
    assert_eq!(names.len(), 1 + 7 + 12);
    assert_eq!(
        [&names[1], &names[8]],
        ["at weekday=Monday", "at month=January"]
    );
}

#[test]
fn what_tells_nothing_is_left_out_with_a_note() {
    let ids: Vec<String> = (0..5).map(|i| format!("id{i}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let map = learn(vec![
        number("empty", &[f64::NAN; 5]),
        number("constant", &[7.0; 5]),
        category("one", &["a"; 5]),
        category("none", &[""; 5]),
        category("id", &ids),
        number("row", &[3.0, 2.0, 1.0, 5.0, 4.0]),
        time("then", &[5.0; 5]),
        number("gap", &[1.0, 1.0, f64::NAN, 1.0, 1.0]),
        number("twice", &[1.0, 2.0, 2.0, 4.0, 5.0]),
    ]);
    let notes: Vec<Option<Note>> = map.columns.iter().map(|column| column.note).collect();
    let expected = [
        Some(Note::Empty),
        Some(Note::Constant),
        Some(Note::Constant),
        Some(Note::Empty),
        Some(Note::AllRare),
        Some(Note::CountsRows),
        Some(Note::Constant),
        None,
        None,
    ];
    assert_eq!(notes, expected);
    assert_eq!(map.feature_names(), ["row", "twice", "gap is missing"]);
    assert_eq!(map.notes().len(), 7);
    assert!(map.is_used(5) && !map.is_used(1));
}

#[test]
fn small_tables_have_maps() {
    let one = learn(vec![number("x", &[1.0]), category("c", &["a"])]);
    assert_eq!((one.width(), one.rows), (0, 1));
    let none = ColumnMap::learn(&Table::new(vec![], 3).unwrap(), None).unwrap();
    assert_eq!(
        none.apply(&Table::new(vec![], 3).unwrap()).unwrap().len(),
        3
    );
    let empty = learn(vec![number("x", &[])]);
    assert_eq!((empty.width(), empty.rows), (0, 0));
    let wrong = ColumnMap::learn(&table(vec![number("x", &[1.0])]), Some(&[1.0, 2.0]));
    assert!(matches!(wrong, Err(Error::Length { .. })));
}

#[test]
fn extreme_numbers_are_mapped_to_finite_ones() {
    for x in [
        [1e308, -1e308, 1e308],
        [0.0, 5e-324, 0.0],
        [f64::MAX, -f64::MAX, 0.0],
    ] {
        let map = learn(vec![number("x", &x)]);
        let rows = map.apply(&table(vec![number("x", &[f64::MAX, -f64::MAX, 1.0])]));
        let rows = rows.unwrap();
        for i in 0..3 {
            assert!(rows.row(i).get(0).is_finite());
        }
    }
}

#[test]
fn a_million_levels_are_pooled() {
    let n = 1_000_000;
    let levels: Arc<[String]> = (0..n).map(|i| format!("user {i}")).collect();
    let codes: Vec<u32> = (0..n as u32).map(|i| if i < 10 { 0 } else { i }).collect();
    let values = Values::Category { codes, levels };
    let name = "user".to_string();
    let table = Table::new(vec![Column { name, values }], n).unwrap();
    let map = ColumnMap::learn(&table, None).unwrap();
    assert_eq!(map.feature_names(), ["user=user 0", "user=(rare)"]);
    let rare = map.columns[0].rare.unwrap();
    assert_eq!((rare.levels, rare.rows), (999_990, 999_990));
    let rows = map.apply(&table).unwrap();
    assert_eq!((rows.row(3).get(0), rows.row(n - 1).get(1)), (1.0, 1.0));
}

#[test]
fn a_level_that_was_never_seen_is_told_from_a_rare_one() {
    let map = learn(vec![
        category("w", &["a", "a", "a", "b", "b", "b", "c", ""]),
        category("v", &["p", "p", "p", "q", "q", "q", "q", "p"]),
        number("x", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
    ]);
    let rows = table(vec![
        category("w", &["a", "c", "new", "", "newer"]),
        category("v", &["p", "q", "", "p", "r"]),
        number("x", &[1.0; 5]),
    ]);
    let found = |map: &ColumnMap, rows: &Table| -> Vec<(String, Unseen, Vec<usize>)> {
        let all = map.unseen_levels(rows).into_iter();
        all.map(|u| (u.column, u.what, u.rows)).collect()
    };
    let expected = [
        ("w".to_string(), Unseen::Never, vec![2, 4]),
        ("v".to_string(), Unseen::Never, vec![4]),
    ];
    assert_eq!(found(&map, &rows), expected);
    // A file of an earlier build does not say which levels were rare.
    let mut old = map.clone();
    old.columns[0].rare_hashes.clear();
    let of_old = found(&old, &rows);
    assert_eq!(
        of_old[0],
        ("w".to_string(), Unseen::RareOrNever, vec![1, 2, 4])
    );
    assert_eq!(of_old[1], expected[1]);
    // Hashed levels have a cell for every text.
    assert!(found(&map.hashed(10).unwrap(), &rows).is_empty());
}

/// A number with a gap and a category of one level.
fn good() -> ColumnMap {
    let map = learn(vec![
        number("x", &[1.0, 3.0, f64::NAN]),
        category("c", &["a", "a", "a"]),
    ]);
    map.check().unwrap();
    map
}

fn is_refused(change: impl Fn(&mut ColumnMap)) {
    let mut map = good();
    change(&mut map);
    let found = map.check();
    assert!(matches!(found, Err(Error::Parameter { .. })), "{map:?}");
}

#[test]
fn maps_that_no_table_can_be_read_by_are_refused() {
    is_refused(|map| map.columns[1].name = "x".to_string());
    is_refused(|map| map.effects.swap(0, 1));
    is_refused(|map| map.effects.push(map.effects[0].clone()));
    is_refused(|map| {
        let cells = Cells::Missing;
        map.effects.push(Effect::Cells { column: 2, cells });
    });
    for deviation in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        is_refused(|map| {
            map.effects[0] = Effect::Linear {
                column: 0,
                mean: 0.0,
                deviation,
            };
        });
    }
    for kept in [vec![[0, 1]], vec![[1, 0]], vec![[0, 0], [0, 0]]] {
        is_refused(|map| {
            map.effects.push(Effect::Pair {
                columns: [0, 1],
                cells: [Cells::Missing, Cells::Missing],
                pairs: PairCells::of_pairs(&kept),
            });
        });
    }
}

#[test]
fn cells_that_a_column_cannot_have_are_refused() {
    let levels = |cell_of_level: &[u32]| Cells::Levels {
        cell_of_level: cell_of_level.to_vec(),
        rare: None,
        missing: None,
    };
    let bins = |cuts: &[f64], missing| Cells::Bins {
        cuts: cuts.to_vec(),
        missing,
    };
    let cells = [
        (0, levels(&[])),
        (1, levels(&[])),
        (1, levels(&[u32::MAX])),
        (1, bins(&[], None)),
        (0, bins(&[1.0, 1.0], None)),
        (0, bins(&[f64::NAN], None)),
        (0, bins(&[1.0], Some(9))),
    ];
    for (column, cells) in cells {
        is_refused(|map| {
            let cells = cells.clone();
            map.effects.push(Effect::Cells { column, cells });
        });
        is_refused(|map| {
            map.effects.push(Effect::Pair {
                columns: [0, column],
                cells: [Cells::Missing, cells.clone()],
                pairs: PairCells::of_pairs(&[]),
            });
        });
    }
}
