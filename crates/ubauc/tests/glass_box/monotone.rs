use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::Error;
use ubauc::data::table::{Column, Table, Values};
use ubauc::features::FeatureMap;
use ubauc::features::columns::{Cells, Direction, Effect, Monotone};
use ubauc::glass_box::{GlassBox, MapKind, PairChoice, TrainingTable};
use ubauc::solver::ba_ubauc::BaUbaucParams;
use ubauc::tune::{Setting, TuneInputs, TuneParams, tune_maps};

use super::{example, training};
use crate::columns::{rows_of, table};

fn params() -> BaUbaucParams {
    BaUbaucParams {
        beta: 0.0,
        softness: 1.0,
        gamma: 1e-4,
        ..BaUbaucParams::default()
    }
}

fn monotone(increasing: &[&str], decreasing: &[&str]) -> Monotone {
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
    Monotone {
        increasing: names(increasing),
        decreasing: names(decreasing),
    }
}

fn kinds() -> [MapKind; 4] {
    let pair = |a: &str, b: &str| [a.to_string(), b.to_string()];
    [
        MapKind::Linear,
        MapKind::Additive,
        MapKind::Pairs(PairChoice::Best(5)),
        MapKind::Pairs(PairChoice::Named(vec![
            pair("x", "z"),
            pair("x", "city"),
            pair("x", "side"),
            pair("z", "side"),
            pair("at", "amount"),
        ])),
    ]
}

/// Rows of the table, each repeated with every value of a column in place of its own.
fn grid(of: &Table, column: &str, values: &[f64], rng: &mut Pcg64) -> Table {
    let rows: Vec<usize> = (0..8)
        .map(|_| rng.random_range(0..of.len()))
        .flat_map(|i| std::iter::repeat_n(i, values.len()))
        .collect();
    let repeated = rows_of(of, &rows);
    let columns = repeated.columns().iter().map(|c| match c.name == column {
        false => c.clone(),
        true => {
            let all: Vec<f64> = values.iter().copied().cycle().take(rows.len()).collect();
            Column {
                name: c.name.clone(),
                values: match c.values {
                    Values::Time(_) => Values::Time(all.into()),
                    _ => Values::Number(all.into()),
                },
            }
        }
    });
    table(columns.collect())
}

/// Values of a column and of everything between and beyond, cuts of the map and their neighbours included.
fn values_of(found: &GlassBox, column: &str, rng: &mut Pcg64) -> Vec<f64> {
    let map = &found.learned.map;
    let at = map.columns.iter().position(|c| c.name == column).unwrap();
    let numbers = map.columns[at].numbers.unwrap();
    let unit = if column == "at" { 86_400.0 } else { 1.0 };
    let mut values: Vec<f64> = (0..40)
        .map(|_| rng.random_range(numbers.min - 1.0..numbers.max + 1.0))
        .collect();
    for effect in &map.effects {
        let cells: Vec<&Cells> = match effect {
            Effect::Cells { column, cells } if *column == at => vec![cells],
            Effect::Pair { columns, cells, .. } => {
                let sides = columns.iter().zip(cells);
                sides
                    .filter(|(c, _)| **c == at)
                    .map(|(_, cells)| cells)
                    .collect()
            }
            _ => Vec::new(),
        };
        for cells in cells {
            if let Cells::Bins { cuts, .. } = cells {
                values.extend(
                    cuts.iter()
                        .flat_map(|cut| [cut.next_down(), *cut, cut.next_up()]),
                );
            }
        }
    }
    values.extend([-1e9, 1e9, -1e300, 1e300]);
    values.iter_mut().for_each(|x| *x *= unit);
    values.sort_by(f64::total_cmp);
    values
}

/// Whatever the other columns are, at every pair of values, and to the last bit.
#[test]
fn scores_rise_and_fall_everywhere_as_they_must() {
    for seed in 0..4 {
        let (table, labels) = example(seed, 300);
        // x is a wave, z turns its sign with side, and amount falls: all of them are bent.
        let asked = monotone(&["x", "at"], &["z", "amount"]);
        let of = TrainingTable {
            monotone: Some(&asked),
            ..training(&table, &labels)
        };
        let rng = &mut Pcg64::seed_from_u64(seed);
        for kind in kinds() {
            let found = of.fit(&kind, &params(), None).unwrap();
            assert!(found.outcome.certificate.gap.unwrap() <= 1e-6, "{kind}");
            let model = found.model();
            for (column, sign) in [("x", 1.0), ("at", 1.0), ("z", -1.0), ("amount", -1.0)] {
                let values = values_of(&found, column, rng);
                let grid = grid(&table, column, &values, rng);
                let scores = model.scores_table(&grid).unwrap();
                for (row, scores) in scores.chunks(values.len()).enumerate() {
                    for (k, pair) in scores.windows(2).enumerate() {
                        let rises = sign * pair[1] >= sign * pair[0];
                        assert!(
                            rises,
                            "{kind} {column} row {row}: {:?} {pair:?}",
                            &values[k..k + 2]
                        );
                    }
                }
            }
            // It is written down, and files have it.
            let FeatureMap::Columns(map) = &model.features else {
                panic!("a map")
            };
            let direction = |name: &str| {
                map.columns
                    .iter()
                    .find(|c| c.name == name)
                    .unwrap()
                    .direction
            };
            assert_eq!(direction("x"), Some(Direction::Increasing));
            assert_eq!(direction("z"), Some(Direction::Decreasing));
            assert_eq!(direction("side"), None);
            let text = serde_json::to_string(map).unwrap();
            assert_eq!(
                serde_json::from_str::<ubauc::features::ColumnMap>(&text).unwrap(),
                *map
            );
        }
    }
}

/// Without an order the same models are bent, so that the test above can fail.
#[test]
fn without_an_order_scores_are_bent() {
    let (table, labels) = example(0, 500);
    let found = training(&table, &labels)
        .fit(&MapKind::Additive, &params(), None)
        .unwrap();
    let rng = &mut Pcg64::seed_from_u64(0);
    let values = values_of(&found, "x", rng);
    let grid = grid(&table, "x", &values, rng);
    let scores = found.model().scores_table(&grid).unwrap();
    assert!(
        scores[..values.len()]
            .windows(2)
            .any(|pair| pair[1] < pair[0])
    );
}

#[test]
fn columns_that_have_no_order_are_refused() {
    let (table, labels) = example(2, 200);
    let fit = |asked: &Monotone, softness: f64| {
        let of = TrainingTable {
            monotone: Some(asked),
            ..training(&table, &labels)
        };
        let params = BaUbaucParams {
            beta: 0.5,
            softness,
            ..params()
        };
        of.fit(&MapKind::Additive, &params, None)
            .map(|_| ())
            .unwrap_err()
    };
    assert!(
        matches!(fit(&monotone(&["nobody"], &[]), 1.0), Error::Column { name } if name == "nobody")
    );
    let what = "increasing or decreasing column";
    assert!(
        matches!(fit(&monotone(&["city"], &[]), 1.0), Error::Parameter { name, .. } if name == what)
    );
    assert!(
        matches!(fit(&monotone(&["x"], &["x"]), 1.0), Error::Parameter { name, .. } if name == what)
    );
    assert!(matches!(
        fit(&monotone(&["x"], &[]), 0.0),
        Error::Parameter {
            name: "softness",
            ..
        }
    ));
}

#[test]
fn a_search_keeps_to_the_order() {
    let (table, labels) = example(8, 900);
    let asked = monotone(&["x"], &[]);
    let tune = |monotone| {
        let params = TuneParams {
            settings: vec![Setting::LOGISTIC],
            gammas: vec![1e-2, 1e-3],
            extend: false,
            folds: 3,
            repeats: Some(1),
            ..TuneParams::default()
        };
        let inputs = TuneInputs {
            monotone,
            ..TuneInputs::default()
        };
        let maps = [MapKind::Additive];
        tune_maps(&table, &labels, &inputs, &params, Some(&maps)).unwrap()
    };
    let (free, found) = (tune(None), tune(Some(&asked)));
    let auc = |tuned: &ubauc::tune::TunedMaps| tuned.trials[0].tuned.best().judged.auc;
    // The wave of x cannot be learned any more; amount still tells a little.
    assert!(
        auc(&found) < auc(&free) - 0.02,
        "{} {}",
        auc(&found),
        auc(&free)
    );
    assert!(auc(&found) > 0.52, "{}", auc(&found));
    let folds = &found.trials[0].tuned.best().judged.fold_aucs;
    assert_eq!(folds.len(), 3);
}
