//! Tables: a map is learned without each fold, and nothing of the fold is known to it.

use std::sync::Mutex;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::algorithm::{Algorithm, FitInputs, Spec, fit, fit_table};
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::{Binary, Choice};
use ubauc::data::table::{Column, Table};
use ubauc::features::columns::ColumnMap;
use ubauc::metrics::auc;
use ubauc::read::table::{TableOptions, read_table};
use ubauc::tune::{Setting, TuneInputs, TuneParams, tune, tune_table};
use ubauc::{Error, Result};

use super::soft;
use crate::columns::{category, number, table};
use crate::read::real_data;

fn labels(positive: Vec<bool>) -> Binary {
    let n_pos = positive.iter().filter(|p| **p).count();
    Binary {
        n_neg: positive.len() - n_pos,
        n_pos,
        positive,
        names: ["no".into(), "yes".into()],
    }
}

/// A number with gaps, a category that tells, one with many levels that does not.
fn example(n: usize) -> (Table, Binary) {
    let mut random = Pcg64::seed_from_u64(5);
    let (mut x, mut c, mut noise, mut positive) = (vec![], vec![], vec![], vec![]);
    for _ in 0..n {
        let number: f64 = random.random_range(-2.0..2.0);
        let level = random.random_range(0..4);
        x.push(if random.random_bool(0.2) {
            f64::NAN
        } else {
            number
        });
        c.push(["a", "b", "c", ""][level]);
        noise.push(format!("n{}", random.random_range(0..n / 4)));
        positive.push(number + [0.0, 1.0, -1.0, 0.5][level] + random.random_range(-2.0..2.0) > 1.0);
    }
    let noise: Vec<&str> = noise.iter().map(String::as_str).collect();
    let columns = vec![
        number("x", &x),
        category("c", &c),
        category("noise", &noise),
    ];
    (table(columns), labels(positive))
}

#[test]
fn every_map_is_learned_from_the_training_examples_alone() {
    let (table, labels) = example(500);
    let seen = Mutex::new(Vec::new());
    let learn = |table: &Table, weights: Option<&[f64]>| -> Result<ColumnMap> {
        seen.lock().unwrap().push(weights.unwrap().to_vec());
        ColumnMap::learn(table, weights)
    };
    let tuned = tune_table(&table, &labels, &TuneInputs::default(), &soft(), &learn).unwrap();
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.len(), 4, "three folds and the verdict");
    let left_out = |fold: usize, i: usize| seen[fold][i] == 0.0;
    for i in 0..500 {
        let folds = (0..3).filter(|&fold| left_out(fold, i)).count();
        assert_eq!(folds, if left_out(3, i) { 3 } else { 1 });
    }
    assert!(tuned.best().judged.auc > 0.7, "{:?}", tuned.best());
    let verdict = tuned.verdict.unwrap();
    assert!(verdict.ours.auc > 0.7);
}

#[test]
fn levels_that_mean_nothing_are_worth_nothing() {
    let n = 3000;
    let mut random = Pcg64::seed_from_u64(8);
    let ids: Vec<String> = (0..n)
        .map(|_| format!("id {}", random.random_range(0..300)))
        .collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let table = table(vec![category("id", &ids)]);
    let labels = labels((0..n).map(|_| random.random_bool(0.5)).collect());
    let tuned = tune_table(
        &table,
        &labels,
        &TuneInputs::default(),
        &soft(),
        &ColumnMap::learn,
    );
    for point in tuned.unwrap().points {
        assert!((point.judged.auc - 0.5).abs() < 0.04, "{point:?}");
    }
}

#[test]
fn with_one_map_for_all_folds_it_is_the_tuning_of_its_rows() {
    let (table, labels) = example(400);
    let map = ColumnMap::learn(&table, None).unwrap();
    let data = Dataset::new(map.apply(&table).unwrap(), labels.clone(), Vec::new()).unwrap();
    let params = TuneParams {
        settings: Setting::defaults(),
        ..soft()
    };
    let inputs = TuneInputs::default();
    let by_rows = tune(&data, &inputs, &params).unwrap();
    let same = |_: &Table, _: Option<&[f64]>| Ok(map.clone());
    assert_eq!(
        tune_table(&table, &labels, &inputs, &params, &same).unwrap(),
        by_rows
    );
}

#[test]
fn the_number_of_threads_does_not_change_the_search() {
    let (table, labels) = example(600);
    let params = TuneParams {
        folds: 3,
        repeats: Some(1),
        ..TuneParams::default()
    };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| {
            let inputs = TuneInputs::default();
            tune_table(&table, &labels, &inputs, &params, &ColumnMap::learn).unwrap()
        })
    };
    // As text, in which an unknown standard error equals another.
    assert_eq!(format!("{:?}", with(1)), format!("{:?}", with(3)));
}

#[test]
fn a_model_of_a_table_scores_it_as_its_rows_were_scored() {
    let (table, labels) = example(300);
    for algorithm in Algorithm::all() {
        let spec = Spec::new(algorithm);
        let inputs = FitInputs::default();
        let found = fit_table(&table, &labels, &inputs, &spec).unwrap();
        assert_eq!(
            found.outcome.model.weights,
            fit(&found.data, &inputs, &spec).unwrap().model.weights
        );
        let model = found.model();
        assert_eq!(model.classes, labels.names);
        let scores = model.scores_table(&table).unwrap();
        let rows = found.data.rows();
        for (i, score) in scores.iter().enumerate() {
            let expected = rows.row(i).dot(&model.weights) + model.intercept;
            assert!((score - expected).abs() < 1e-9 * (1.0 + expected.abs()));
        }
        let ours = auc(&scores, &labels.positive).unwrap();
        assert!(ours.auc > 0.7, "{}: {}", algorithm.name(), ours.auc);
    }
}

#[test]
fn the_map_carries_weights_by_name() {
    let levels = |texts: &[&str]| -> Vec<Column> {
        let x: Vec<f64> = (0..texts.len()).map(|i| (i * i) as f64).collect();
        vec![number("x", &x), category("c", texts)]
    };
    let first = levels(&["a", "a", "a", "b", "b", "b", "d"]);
    let other = levels(&["b", "b", "b", "c", "c", "c", ""]);
    let [first, other] =
        [first, other].map(|columns| ColumnMap::learn(&table(columns), None).unwrap());
    assert_eq!(first.feature_names(), ["x", "c=a", "c=b", "c=(rare)"]);
    assert_eq!(other.feature_names(), ["x", "c=b", "c=c", "c=(missing)"]);
    assert_eq!(
        first.carry(&[1.0, 2.0, 3.0, 4.0], &other),
        [1.0, 3.0, 0.0, 0.0]
    );
}

#[test]
fn labels_must_be_as_many_as_rows() {
    let (table, _) = example(40);
    let few = labels(vec![true, false]);
    let inputs = TuneInputs::default();
    let tuned = tune_table(&table, &few, &inputs, &soft(), &ColumnMap::learn);
    assert!(matches!(tuned, Err(Error::Length { .. })));
    let spec = Spec::new(Algorithm::Logistic);
    let fitted = fit_table(&table, &few, &FitInputs::default(), &spec);
    assert!(matches!(fitted, Err(Error::Length { .. })));
}

/// The linear map of adult has a test AUC of about .907.
#[test]
fn adult_is_learned_from_its_raw_columns() {
    let Some(path) = real_data("adult") else {
        return;
    };
    let options = TableOptions {
        label: Some("classification".to_string()),
        ..TableOptions::default()
    };
    let examples = read_table(&path.join("tables/adult.csv.zst"), &options).unwrap();
    let labels = examples.labels.unwrap().binary(&Choice::default()).unwrap();
    let params = TuneParams {
        settings: vec![Setting::LOGISTIC],
        gammas: vec![1e-2, 1e-3, 1e-4],
        extend: false,
        extend_betas: false,
        folds: 3,
        ..TuneParams::default()
    };
    let inputs = TuneInputs::default();
    let tuned = tune_table(
        &examples.table,
        &labels,
        &inputs,
        &params,
        &ColumnMap::learn,
    );
    let found = tuned.unwrap().verdict.unwrap().ours.auc;
    assert!((0.900..0.915).contains(&found), "{found}");
}
