//! Rows and scores of a map are those that its definition gives, value by value.

use proptest::prelude::*;
use ubauc::checksum::xxh3;
use ubauc::data::rows::Rows;
use ubauc::data::table::{Table, Values};
use ubauc::features::FeatureMap;
use ubauc::features::columns::{Cells, ColumnKind, ColumnMap, Effect, PairCells};
use ubauc::model::Model;

use super::{category, number, random_table, rows_of, table};

/// The text of a category, or none.
fn text(table: &Table, column: &str, i: usize) -> Option<String> {
    match &table.column(column).unwrap().values {
        Values::Category { codes, levels } => levels.get(codes[i] as usize).cloned(),
        _ => None,
    }
}

/// The number of a row; of times in seconds.
fn value(table: &Table, column: &str, i: usize) -> f64 {
    match &table.column(column).unwrap().values {
        Values::Number(values) | Values::Time(values) => values[i],
        Values::Category { .. } => f64::NAN,
    }
}

/// The cell of a row, by going through all possibilities.
fn cell(map: &ColumnMap, column: usize, cells: &Cells, table: &Table, i: usize) -> Option<u32> {
    let info = &map.columns[column];
    let is_missing = table.column(&info.name).unwrap().values.is_missing(i);
    let x = value(table, &info.name, i);
    match cells {
        Cells::Missing => is_missing.then_some(0),
        Cells::Levels { missing, .. } if is_missing => *missing,
        Cells::Levels {
            cell_of_level,
            rare,
            ..
        } => {
            let text = text(table, &info.name, i).unwrap();
            let known = info.levels.iter().position(|level| level.name == text);
            known.map(|level| cell_of_level[level]).or(*rare)
        }
        Cells::Hashed { bits } if is_missing => Some(1 << bits),
        Cells::Hashed { bits } => {
            let text = text(table, &info.name, i).unwrap();
            let hash = xxh3(format!("{}={text}", info.name).as_bytes());
            Some((hash >> (64 - bits)) as u32)
        }
        Cells::Bins { missing, .. } if is_missing => *missing,
        Cells::Bins { cuts, .. } => {
            let x = if info.kind == ColumnKind::Time {
                x / 86400.0
            } else {
                x
            };
            Some(cuts.iter().filter(|cut| **cut <= x).count() as u32)
        }
        Cells::Part { .. } if is_missing => None,
        Cells::Part { part } => Some(part.of(x)),
    }
}

/// All features of a row, written out.
fn features(map: &ColumnMap, table: &Table, i: usize) -> Vec<f64> {
    let mut features = Vec::new();
    for effect in &map.effects {
        let start = features.len();
        features.resize(start + effect.width(), 0.0);
        match effect {
            Effect::Linear {
                column,
                mean,
                deviation,
            } => {
                let info = &map.columns[*column];
                let mut x = value(table, &info.name, i);
                if info.kind == ColumnKind::Time {
                    x /= 86400.0;
                }
                if !x.is_nan() {
                    features[start] = ((x - mean) / deviation).clamp(-1e100, 1e100);
                }
            }
            Effect::Cells { column, cells } => {
                if let Some(cell) = cell(map, *column, cells, table, i) {
                    features[start + cell as usize] = 1.0;
                }
            }
            Effect::Pair {
                columns,
                cells,
                pairs,
            } => {
                let [a, b] = [0, 1].map(|side| cell(map, columns[side], &cells[side], table, i));
                for (i, j, k) in pairs.pairs() {
                    if (a, b) == (Some(i), Some(j)) {
                        features[start + k as usize] = 1.0;
                    }
                }
            }
        }
    }
    features
}

/// Bins of a first column of numbers or times and pairs of its bins with the levels of a first category, if there are any.
fn with_bins_and_pairs(mut map: ColumnMap) -> ColumnMap {
    let of = |kind: fn(ColumnKind) -> bool| map.columns.iter().position(|c| kind(c.kind));
    let number = of(|kind| kind != ColumnKind::Category);
    let levels = map.effects.iter().find_map(|effect| match effect {
        Effect::Cells {
            column,
            cells: cells @ Cells::Levels { .. },
        } => Some((*column, cells.clone())),
        _ => None,
    });
    let bins = Cells::Bins {
        cuts: vec![-2.0, 0.0, 1.5, 1e4],
        missing: Some(5),
    };
    if let Some(column) = number {
        let cells = bins.clone();
        map.effects.push(Effect::Cells { column, cells });
    }
    if let (Some(number), Some((category, levels))) = (number, levels) {
        let kept: Vec<[u32; 2]> = (0..6)
            .step_by(2)
            .flat_map(|i| (0..levels.len() as u32).map(move |j| [i, j]))
            .collect();
        map.effects.push(Effect::Pair {
            columns: [number, category],
            pairs: PairCells::of_pairs(&kept),
            cells: [bins, levels],
        });
    }
    map
}

proptest! {
    #[test]
    fn rows_and_scores_are_those_of_the_features_written_out(
        (learned, new) in (random_table(), any::<u64>()).prop_map(|(table, seed)| {
            // Other rows of the same columns, some levels of which may be unseen.
            let n = table.len();
            let rows: Vec<usize> = (0..n).map(|i| (i as u64 * 7 + seed % 97) as usize % n).collect();
            let first: Vec<usize> = (0..n.div_ceil(2)).collect();
            (rows_of(&table, &first), rows_of(&table, &rows))
        }),
        hash_bits in proptest::option::of(1_u32..6),
    ) {
        let map = ColumnMap::learn(&learned, None).unwrap();
        let map = match hash_bits {
            Some(bits) => map.hashed(bits).unwrap(),
            None => with_bins_and_pairs(map),
        };
        map.check().unwrap();
        prop_assert_eq!(map.feature_names().len(), map.width());
        let rows = map.apply(&new).unwrap();
        let Rows::Coded(coded) = rows.clone() else { panic!("coded") };
        ubauc::data::rows::Coded::new(
            coded.all_values(), coded.all_codes().to_vec(), coded.shape(),
        ).unwrap();
        let weights: Vec<f64> = (0..map.width()).map(|j| (j as f64 + 0.5).sin()).collect();
        let model = Model {
            features: FeatureMap::Columns(map.clone()),
            weights: weights.clone(),
            intercept: 0.25,
            ..Model::default()
        };
        let scores = model.scores_table(&new).unwrap();
        let of_rows = Model::linear(weights.clone(), 0.25).scores(&rows).unwrap();
        // To the last bit; −0 is 0.
        prop_assert_eq!(&scores, &of_rows);
        for (i, score) in scores.iter().enumerate() {
            let expected = features(&map, &new, i);
            let found: Vec<f64> = (0..map.width()).map(|j| rows.row(i).get(j)).collect();
            let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs();
            prop_assert!(found.iter().zip(&expected).all(is_near), "{:?} {:?}", found, expected);
            let by_hand: f64 = expected.iter().zip(&weights).map(|(x, w)| x * w).sum();
            let size: f64 = expected.iter().map(|x| x.abs()).sum::<f64>() + 1.0;
            prop_assert!((score - 0.25 - by_hand).abs() <= 1e-12 * size);
            let alone = model.scores_table(&rows_of(&new, &[i])).unwrap();
            prop_assert_eq!(alone[0], *score);
        }
    }
}

#[test]
fn neither_order_nor_other_columns_nor_threads_change_a_bit() {
    let n = 10_000;
    let x: Vec<f64> = (0..n).map(|i| f64::from(i).sin() / 3.0).collect();
    let texts = ["a", "b", "", "c"];
    let c: Vec<&str> = (0..n as usize).map(|i| texts[i * i % 4]).collect();
    let whole = table(vec![number("x", &x), category("c", &c)]);
    let map = ColumnMap::learn(&whole, None).unwrap();
    let model = Model {
        weights: (0..map.width()).map(|j| 0.1 + j as f64).collect(),
        features: FeatureMap::Columns(map),
        ..Model::default()
    };
    let scores = model.scores_table(&whole).unwrap();
    let more = table(vec![category("c", &c), category("id", &c), number("x", &x)]);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let found = pool.build().unwrap().install(|| model.scores_table(&more));
        assert_eq!(found.unwrap(), scores);
    }
    let half: Vec<usize> = (5000..n as usize).collect();
    assert_eq!(
        model.scores_table(&rows_of(&whole, &half)).unwrap(),
        scores[5000..]
    );
}

#[test]
fn ten_thousand_columns_are_mapped() {
    let columns = (0..10_000).map(|k| {
        let name = format!("x{k}");
        match k % 3 {
            0 => number(&name, &[1.0, f64::from(k), f64::NAN, 2.0, 0.0, 1.0]),
            1 => category(&name, &["a", "b", "a", "b", "a", "b"]),
            _ => number(&name, &[3.0; 6]),
        }
    });
    let table = table(columns.collect());
    let map = ColumnMap::learn(&table, None).unwrap();
    assert_eq!(map.columns.len(), 10_000);
    assert_eq!(map.notes().len(), 3333);
    let rows = map.apply(&table).unwrap();
    assert_eq!((rows.len(), rows.cols()), (6, map.width()));
    let model = Model {
        weights: vec![1.0; map.width()],
        features: FeatureMap::Columns(map),
        ..Model::default()
    };
    assert_eq!(model.scores_table(&table).unwrap().len(), 6);
}
