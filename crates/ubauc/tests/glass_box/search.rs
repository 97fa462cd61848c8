use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::Result;
use ubauc::data::labels::Binary;
use ubauc::data::table::Table;
use ubauc::glass_box::{MapKind, PairChoice};
use ubauc::tune::{Setting, TuneInputs, TuneParams, TunedMaps, tune_maps};

use super::{example, labels};
use crate::columns::{category, number, table};

fn search(table: &Table, labels: &Binary) -> Result<TunedMaps> {
    let params = TuneParams {
        settings: vec![Setting::LOGISTIC],
        folds: 3,
        repeats: Some(1),
        ..TuneParams::default()
    };
    tune_maps(table, labels, &TuneInputs::default(), &params, None)
}

fn auc(found: &TunedMaps, at: usize) -> f64 {
    found.trials[at].tuned.best().judged.auc
}

#[test]
fn the_map_that_the_table_needs_is_chosen() {
    let (table, labels) = example(8, 3000);
    let found = search(&table, &labels).unwrap();
    assert_eq!(found.trials.len(), 4);
    assert!(auc(&found, 1) > auc(&found, 0) + 0.05);
    assert!(auc(&found, 2) > auc(&found, 1) + 0.01);
    assert!(matches!(found.best().0, MapKind::Pairs(_)), "{found:?}");
    let verdict = found.verdict.unwrap();
    assert!(verdict.ours.auc > verdict.logistic.auc + 0.1);
    assert!(!verdict.is_logistic && !verdict.is_worse());
}

/// Four numbers whose sum decides, with noise.
fn linear_table(seed: u64, n: usize) -> (Table, Binary) {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let x: Vec<Vec<f64>> = (0..4)
        .map(|_| (0..n).map(|_| rng.random_range(-1.0..1.0)).collect())
        .collect();
    let positive = (0..n).map(|i| {
        let pull: f64 = x.iter().map(|x| x[i]).sum();
        pull + rng.random_range(-2.0..2.0) > 0.0
    });
    let labels = labels(positive.collect());
    let names = ["a", "b", "c", "d"];
    let columns = names.iter().zip(&x).map(|(name, x)| number(name, x));
    (table(columns.collect()), labels)
}

#[test]
fn a_linear_table_stays_linear() {
    let (table, labels) = linear_table(4, 2000);
    let found = search(&table, &labels).unwrap();
    assert_eq!(found.best().0, &MapKind::Linear);
}

/// A map is tried on all folds exactly if it is not behind the best one before it on the first two, or clearly on the first.
#[test]
fn a_map_that_is_behind_is_not_tried_on_all_folds() {
    let mean = |aucs: &[f64]| aucs.iter().sum::<f64>() / aucs.len() as f64;
    let mut stopped = 0;
    for seed in 0..4 {
        let (table, labels) = linear_table(seed, 800);
        let found = search(&table, &labels).unwrap();
        let mut before = found.trials[0].tuned.best().judged.clone();
        for trial in &found.trials[1..] {
            let best = trial.tuned.best();
            let tried = best.judged.fold_aucs.len();
            let points = trial
                .tuned
                .points
                .iter()
                .map(|point| &point.judged.fold_aucs);
            let means = points.filter(|aucs| aucs.len() >= tried.min(2));
            let on_first = means
                .map(|aucs| mean(&aucs[..tried.min(2)]))
                .fold(0.0, f64::max);
            let is_behind = on_first < mean(&before.fold_aucs[..tried.min(2)]);
            assert_eq!(best.stopped, tried < 3);
            assert_eq!(best.stopped, is_behind, "seed {seed}: {}", trial.map);
            stopped += usize::from(best.stopped);
            if !best.stopped && best.judged.auc > before.auc {
                before = best.judged.clone();
            }
        }
        // Only what was tried on all folds is chosen.
        assert!(!found.best().1.stopped);
    }
    assert!(stopped > 0);
}

/// Random labels: whatever a map has seen of a fold would show.
#[test]
fn nothing_of_a_fold_is_known_to_its_maps() {
    let rng = &mut Pcg64::seed_from_u64(11);
    let n = 2400;
    let ids: Vec<String> = (0..n)
        .map(|_| format!("id {}", rng.random_range(0..400)))
        .collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let other: Vec<String> = (0..n)
        .map(|_| format!("{}", rng.random_range(0..30)))
        .collect();
    let other: Vec<&str> = other.iter().map(String::as_str).collect();
    let x: Vec<f64> = (0..n).map(|_| rng.random_range(0.0..1.0)).collect();
    let table = table(vec![
        category("id", &ids),
        category("other", &other),
        number("x", &x),
    ]);
    let labels = labels((0..n).map(|_| rng.random_bool(0.5)).collect());
    let found = search(&table, &labels).unwrap();
    for trial in &found.trials {
        for point in &trial.tuned.points {
            assert!(
                (point.judged.auc - 0.5).abs() < 0.05,
                "{} {point:?}",
                trial.map
            );
        }
    }
}

/// Whenever time runs out, also while a map is learned: what was found so far is the answer.
#[test]
fn time_that_runs_out_is_no_error() {
    let (table, labels) = example(3, 500);
    let run = |time_limit: Option<Duration>| {
        let params = TuneParams {
            settings: vec![Setting {
                beta: 0.5,
                softness: 0.05,
                ..Setting::LOGISTIC
            }],
            folds: 3,
            repeats: Some(1),
            time_limit,
            ..TuneParams::default()
        };
        tune_maps(&table, &labels, &TuneInputs::default(), &params, None)
    };
    let started = Instant::now();
    assert!(!run(None).unwrap().cut_short);
    let whole = started.elapsed();
    for k in 0..24 {
        let found = run(Some(whole * k / 24)).unwrap();
        assert!(found.best().1.judged.auc.is_finite());
    }
}

#[test]
fn maps_that_are_no_other_are_not_tried() {
    let texts: Vec<&str> = (0..300).map(|i| ["a", "b", "c"][i * 7 % 3]).collect();
    let others: Vec<&str> = (0..300).map(|i| ["d", "e"][i * 5 % 2]).collect();
    let table = table(vec![category("c", &texts), category("d", &others)]);
    let labels = labels((0..300).map(|i| i % 4 == 0).collect());
    let found = search(&table, &labels).unwrap();
    let maps: Vec<&MapKind> = found.trials.iter().map(|trial| &trial.map).collect();
    assert_eq!(
        maps,
        [
            &MapKind::Linear,
            &MapKind::Pairs(PairChoice::PerColumn(1.0))
        ]
    );
}

#[test]
fn the_number_of_threads_does_not_change_the_search() {
    let (table, labels) = example(5, 600);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let found = pool.unwrap().install(|| search(&table, &labels).unwrap());
        let trials = found.trials.into_iter();
        let tried: Vec<_> = trials.map(|trial| (trial.map, trial.tuned)).collect();
        // As text, in which an unknown standard error equals another.
        format!("{:?}", (tried, found.chosen, found.verdict))
    };
    assert_eq!(run(1), run(3));
}
