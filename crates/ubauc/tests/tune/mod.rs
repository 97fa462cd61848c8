//! Tuning: the choice is the best that has not collapsed, and the folds are honest.

use std::sync::Mutex;

use ubauc::data::dataset::Dataset;
use ubauc::data::generate::{GenerateParams, Generator};
use ubauc::data::labels::{Binary, Choice};
use ubauc::data::rows::{Csr, Dense, Rows};
use ubauc::data::scale::{Origin, Scale};
use ubauc::data::split;
use ubauc::metrics::auc;
use ubauc::objective::ubauc::LeastSquares;
use ubauc::read::{ReadOptions, read};
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, fit};
use ubauc::solver::logistic::{self, LogisticParams};
use ubauc::tune::{GridPoint, TuneParams, Tuned, tune};
use ubauc::{Error, Result};

use crate::read::real_data;

fn labelled(rows: Rows, positive: Vec<bool>) -> Dataset {
    let n_pos = positive.iter().filter(|p| **p).count();
    let labels = Binary {
        n_neg: positive.len() - n_pos,
        n_pos,
        positive,
        names: ["ham".into(), "spam".into()],
    };
    Dataset::new(rows, labels, Vec::new()).unwrap()
}

fn generated(rows: u64, dim: u32, auc: f64) -> Dataset {
    let params = GenerateParams {
        rows,
        dim,
        density: 0.5,
        positive_share: 0.2,
        auc,
        seed: 3,
        sample: 0,
    };
    let mut generator = Generator::new(&params).unwrap();
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut positive = Vec::new();
    while let Some(row) = generator.next_row() {
        positive.push(row.positive);
        indices.extend(row.entries.iter().map(|e| e.0));
        values.extend(row.entries.iter().map(|e| e.1));
        indptr.push(indices.len());
    }
    let csr = Csr::new(indptr, indices, values, dim as usize).unwrap();
    labelled(Rows::Csr(csr), positive)
}

/// Some of the rows, copied.
fn copied(data: &Dataset, of: &[usize]) -> Dataset {
    let d = data.rows().cols();
    let row = |&i: &usize| (0..d).map(move |j| data.rows().row(i).get(j));
    let values: Vec<f64> = of.iter().flat_map(row).collect();
    let positive = of.iter().map(|&i| data.positive()[i]).collect();
    labelled(
        Rows::Dense(Dense::new(values, of.len(), d).unwrap()),
        positive,
    )
}

fn small() -> TuneParams {
    TuneParams {
        betas: vec![0.3, 1.0, 3.0],
        gammas: vec![1e-1, 1e-3],
        logistic_gammas: vec![1e-1, 1e-3],
        folds: 3,
        ..Default::default()
    }
}

fn best_alive(tuned: &Tuned) -> f64 {
    let alive = tuned.points.iter().filter(|p| !p.collapsed);
    alive.map(|p| p.judged.auc).fold(0.0, f64::max)
}

#[test]
fn the_choice_has_the_highest_mean_auc_and_the_table_is_whole() {
    let data = generated(2000, 12, 0.85);
    let seen = Mutex::new(Vec::new());
    let progress = |done, total| seen.lock().unwrap().push((done, total));
    let tuned = tune(&data, None, &small(), Some(&progress)).unwrap();
    assert_eq!(tuned.points.len(), 12);
    assert!(!tuned.best().collapsed);
    assert_eq!(tuned.best().judged.auc, best_alive(&tuned));
    let of_logistic = tuned.logistic.iter().map(|p| p.judged.auc);
    assert_eq!(
        tuned.best_logistic().judged.auc,
        of_logistic.fold(0.0, f64::max)
    );
    let mut seen = seen.into_inner().unwrap();
    seen.sort_unstable();
    let total = 3 * (12 + 2) + 2 * (3 + 1);
    let all: Vec<(usize, usize)> = (1..=total).map(|done| (done, total)).collect();
    assert_eq!(seen, all);
    let verdict = tuned.verdict.unwrap();
    assert_eq!(verdict.ours.n_pos + verdict.ours.n_neg, 400);
    assert_eq!(verdict.test.auc_a, verdict.ours.auc);
    // The generator's AUC, and the error of 80 positives among 400.
    assert!(verdict.ours.auc > 0.75, "{verdict:?}");
    assert_eq!(tuned.out_of_fold.rows.len(), 1600);
}

#[test]
fn the_spread_over_the_folds_is_the_standard_error() {
    let tuned = tune(&generated(600, 5, 0.8), None, &small(), None).unwrap();
    for GridPoint { judged, .. } in &tuned.points {
        let a = &judged.fold_aucs;
        assert_eq!(a.len(), 3);
        let mean = (a[0] + a[1] + a[2]) / 3.0;
        let variance = a.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 2.0;
        assert!((judged.auc - mean).abs() < 1e-15);
        assert!((judged.standard_error - (variance / 3.0).sqrt()).abs() < 1e-15);
    }
}

#[test]
fn one_standard_error_takes_the_largest_gamma_that_is_good_enough() {
    let data = generated(800, 8, 0.8);
    let params = TuneParams {
        one_standard_error: true,
        ..small()
    };
    let best = tune(&data, None, &small(), None).unwrap();
    let simple = tune(&data, None, &params, None).unwrap();
    assert_eq!(best.points, simple.points);
    let enough = best.best().judged.auc - best.best().judged.standard_error;
    let within = |p: &&GridPoint| !p.collapsed && p.judged.auc >= enough;
    let gammas = best.points.iter().filter(within).map(|p| p.gamma);
    assert_eq!(simple.best().gamma, gammas.fold(0.0, f64::max));
    assert!(simple.best().judged.auc >= enough);
}

/// The optimum of a tiny β is w = 0 or nearly all examples on λ.
#[test]
fn a_collapsed_model_is_flagged_and_never_chosen() {
    let data = generated(2000, 6, 0.7);
    let params = TuneParams {
        betas: vec![1e-4, 1e-3, 2.0],
        ..small()
    };
    let tuned = tune(&data, None, &params, None).unwrap();
    for point in &tuned.points {
        assert_eq!(point.collapsed, point.beta < 1.0, "{point:?}");
    }
    assert_eq!(tuned.best().beta, 2.0);
    let only = TuneParams {
        betas: vec![1e-4, 1e-3],
        ..small()
    };
    match tune(&data, None, &only, None) {
        Err(Error::Parameter { name, value, .. }) => {
            assert_eq!((name, value.as_str()), ("betas", "0.0001,0.001"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn few_distinct_rows_are_no_collapse() {
    // Three binary features: eight kinds of rows, so many ties that no model can avoid.
    let n = 800;
    let bit = |i: usize, j: usize| f64::from(u8::from((i * 7 + i / 8) >> j & 1 == 1));
    let values = (0..n)
        .flat_map(|i| (0..3).map(move |j| bit(i, j)))
        .collect();
    let noisy = |i: usize| bit(i, 0) + bit(i, 1) + ((i * 31) % 17) as f64 / 8.0 > 2.6;
    let data = labelled(
        Rows::Dense(Dense::new(values, n, 3).unwrap()),
        (0..n).map(noisy).collect(),
    );
    let tuned = tune(&data, None, &TuneParams::default(), None).unwrap();
    assert!(tuned.best().judged.auc > 0.6, "{:?}", tuned.best());
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let data = generated(20_000, 10, 0.8);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap()
            .install(|| tune(&data, None, &small(), None).unwrap())
    };
    let one = with(1);
    for threads in [2, 8] {
        assert_eq!(one, with(threads), "{threads} threads");
    }
}

/// Fits each fold by itself on copies of its rows.
fn naive(data: &Dataset, params: &TuneParams) -> Result<Vec<Vec<f64>>> {
    let out = split::hold_out(data.positive(), params.held_out, params.seed)?;
    let kept: Vec<usize> = (0..out.len()).filter(|&i| !out[i]).collect();
    let positive: Vec<bool> = kept.iter().map(|&i| data.positive()[i]).collect();
    let folds = split::folds(&positive, params.folds, params.seed)?;
    let of = |wanted: &dyn Fn(u32) -> bool| -> Vec<usize> {
        let pairs = kept.iter().zip(&folds);
        pairs
            .filter(|(_, f)| wanted(**f))
            .map(|(i, _)| *i)
            .collect()
    };
    let mut found = Vec::new();
    for fold in 0..params.folds {
        let train = copied(data, &of(&|f| f != fold));
        let judge = copied(data, &of(&|f| f == fold));
        let origin = Origin::of_intercept(params.intercept);
        let divisors = params.scale.divisors(train.rows(), None, origin)?;
        let judged = |w: &[f64]| {
            let scores: Vec<f64> = (0..judge.rows().len())
                .map(|i| judge.rows().row(i).dot(w))
                .collect();
            auc(&scores, judge.positive()).map(|a| a.auc)
        };
        let mut aucs = Vec::new();
        for &least_squares in &params.least_squares {
            for &beta in params.betas.iter().rev() {
                for &gamma in &params.gammas {
                    let given = BatchInputs {
                        divisors: Some(&divisors),
                        ..Default::default()
                    };
                    let params = BaUbaucParams {
                        beta,
                        gamma,
                        least_squares,
                        intercept: params.intercept,
                        tolerance: 1e-10,
                        ..Default::default()
                    };
                    aucs.push(judged(&fit(&train, &given, &params)?.weights)?);
                }
            }
        }
        for &gamma in &params.logistic_gammas {
            let params = LogisticParams {
                gamma,
                ..Default::default()
            };
            let fit = logistic::fit(&train, None, Some(&divisors), None, &params)?;
            aucs.push(judged(&fit.weights)?);
        }
        found.push(aucs);
    }
    Ok(found)
}

#[test]
fn folds_by_weights_are_folds_by_copies() {
    let data = generated(900, 7, 0.8);
    for (scale, intercept) in [(Scale::None, false), (Scale::Standard, true)] {
        let params = TuneParams {
            scale,
            intercept,
            tolerance: 1e-10,
            ..small()
        };
        let tuned = tune(&data, None, &params, None).unwrap();
        let expected = naive(&data, &params).unwrap();
        let ours = tuned.points.iter().map(|p| &p.judged.fold_aucs);
        let logistic = tuned.logistic.iter().map(|p| &p.judged.fold_aucs);
        for (k, fold_aucs) in ours.chain(logistic).enumerate() {
            for (fold, &found) in fold_aucs.iter().enumerate() {
                // A fold has 48 × 192 pairs; a few may be closer than the solutions are.
                let allowed = 4.0 / (48.0 * 192.0);
                let expected = expected[fold][k];
                assert!(
                    (found - expected).abs() <= allowed,
                    "{k} {fold}: {found} {expected}"
                );
            }
        }
        // What is called out of fold is out of fold: the same AUCs once more.
        let scores = &tuned.out_of_fold;
        for fold in 0..params.folds {
            let of: Vec<usize> = (0..scores.rows.len())
                .filter(|&k| scores.folds[k] == fold)
                .collect();
            let positive: Vec<bool> = of
                .iter()
                .map(|&k| data.positive()[scores.rows[k]])
                .collect();
            let ours: Vec<f64> = of.iter().map(|&k| scores.ours[k]).collect();
            let found = auc(&ours, &positive).unwrap().auc;
            let expected = tuned.best().judged.fold_aucs[fold as usize];
            assert!((found - expected).abs() <= 4.0 / (48.0 * 192.0));
        }
    }
}

#[test]
fn examples_of_weight_zero_take_no_part() {
    let data = generated(1200, 5, 0.8);
    let weights: Vec<f64> = (0..1200).map(|i| f64::from(u8::from(i < 900))).collect();
    let first: Vec<usize> = (0..900).collect();
    let params = TuneParams {
        tolerance: 1e-9,
        ..small()
    };
    let weighted = tune(&data, Some(&weights), &params, None).unwrap();
    let alone = tune(&copied(&data, &first), None, &params, None).unwrap();
    assert_eq!(weighted.out_of_fold.rows, alone.out_of_fold.rows);
    assert_eq!(weighted.out_of_fold.folds, alone.out_of_fold.folds);
    for (a, b) in weighted.points.iter().zip(&alone.points) {
        assert!((a.judged.auc - b.judged.auc).abs() < 1e-3, "{a:?} {b:?}");
    }
}

/// The AUC of a fold counts its examples by weight.
#[test]
fn folds_are_judged_by_weighted_auc() {
    let data = generated(900, 5, 0.8);
    let weights: Vec<f64> = (0..900).map(|i| f64::from((i * 7 % 11) as u8)).collect();
    let params = TuneParams {
        betas: vec![1.0],
        gammas: vec![1e-3],
        least_squares: vec![LeastSquares::Plain],
        tolerance: 1e-9,
        ..small()
    };
    let tuned = tune(&data, Some(&weights), &params, None).unwrap();
    let scores = &tuned.out_of_fold;
    assert!(scores.rows.iter().all(|&i| weights[i] > 0.0));
    for fold in 0..params.folds {
        let of: Vec<usize> = (0..scores.rows.len())
            .filter(|&k| scores.folds[k] == fold)
            .collect();
        // By all pairs, for both learners.
        let by_pairs = |of_scorer: &[f64]| {
            let (mut won, mut all) = (0.0, 0.0);
            for &p in of.iter().filter(|&&k| data.positive()[scores.rows[k]]) {
                for &q in of.iter().filter(|&&k| !data.positive()[scores.rows[k]]) {
                    let pair = weights[scores.rows[p]] * weights[scores.rows[q]];
                    all += pair;
                    won += pair * f64::from(u8::from(of_scorer[p] > of_scorer[q]));
                }
            }
            won / all
        };
        let found = [
            (by_pairs(&scores.ours), &tuned.best().judged),
            (by_pairs(&scores.logistic), &tuned.best_logistic().judged),
        ];
        for (expected, judged) in found {
            let found = judged.fold_aucs[fold as usize];
            // Some 45 × 175 pairs, weights up to 10 against a mean of 5; a few pairs may be closer than the solutions.
            assert!((found - expected).abs() < 2e-3, "{found} {expected}");
        }
    }
}

#[test]
fn what_cannot_be_tuned_is_refused_by_name() {
    let data = generated(200, 3, 0.8);
    let few = copied(
        &data,
        &(0..200)
            .filter(|&i| !data.positive()[i])
            .chain((0..200).filter(|&i| data.positive()[i]).take(4))
            .collect::<Vec<_>>(),
    );
    let error = tune(&few, None, &TuneParams::default(), None).unwrap_err();
    assert!(matches!(error, Error::Classes { .. }));
    let text = error.to_string();
    assert!(
        text.contains("spam") && text.contains("fewer folds"),
        "{text}"
    );
    let refused = |change: &dyn Fn(&mut TuneParams)| {
        let mut params = TuneParams::default();
        change(&mut params);
        match tune(&data, None, &params, None) {
            Err(Error::Parameter { name, .. }) => name,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(&|p| p.betas.clear()), "betas");
    assert_eq!(refused(&|p| p.betas[0] = 0.0), "beta");
    assert_eq!(refused(&|p| p.gammas[0] = f64::NAN), "gamma");
    assert_eq!(refused(&|p| p.logistic_gammas[0] = -1.0), "gamma");
    assert_eq!(refused(&|p| p.least_squares.clear()), "least squares");
    assert_eq!(refused(&|p| p.folds = 1), "folds");
    assert_eq!(refused(&|p| p.held_out = 1.0), "share held out");
    assert_eq!(refused(&|p| p.tolerance = 0.0), "tolerance");
}

#[test]
fn without_a_part_held_out_there_is_no_verdict() {
    let params = TuneParams {
        held_out: 0.0,
        least_squares: vec![LeastSquares::Balanced],
        ..small()
    };
    let tuned = tune(&generated(300, 3, 0.8), None, &params, None).unwrap();
    assert!(tuned.verdict.is_none());
    assert_eq!(tuned.out_of_fold.rows.len(), 300);
}

#[test]
fn on_a9a_the_choice_is_good_on_the_test_part() {
    let Some(dir) = real_data("on_a9a_the_choice_is_good_on_the_test_part") else {
        return;
    };
    let load = |name: &str| {
        let examples = read(&dir.join(name), &ReadOptions::default()).unwrap();
        examples.binary(&Choice::Larger).unwrap()
    };
    let (train, test) = (load("a9a/train.svm.zst"), load("a9a/test.svm.zst"));
    let tuned = tune(&train, None, &TuneParams::default(), None).unwrap();
    let &GridPoint {
        beta,
        gamma,
        least_squares,
        ..
    } = tuned.best();
    let params = BaUbaucParams {
        beta,
        gamma,
        least_squares,
        ..Default::default()
    };
    let found = fit(&train, &BatchInputs::default(), &params).unwrap();
    let scores: Vec<f64> = (0..test.rows().len())
        .map(|i| test.rows().row(i).dot(&found.weights))
        .collect();
    let on_test = auc(&scores, test.positive()).unwrap().auc;
    assert!(on_test >= 0.899, "{on_test} {:?}", tuned.best());
}

/// At the coarse gap of the grid this model has few ties; solved closely, all examples are tied.
#[test]
fn a_model_that_collapses_only_at_the_end_is_not_chosen() {
    let Some(dir) = real_data("a_model_that_collapses_only_at_the_end_is_not_chosen") else {
        return;
    };
    let examples = read(&dir.join("ijcnn1/train.svm.zst"), &ReadOptions::default()).unwrap();
    let train = examples.binary(&Choice::Larger).unwrap();
    let params = TuneParams {
        betas: vec![0.1],
        gammas: vec![1e-4],
        least_squares: vec![LeastSquares::Plain],
        ..TuneParams::default()
    };
    let refused = tune(&train, None, &params, None);
    assert!(
        matches!(refused, Err(Error::Parameter { name: "betas", .. })),
        "{refused:?}"
    );
}
