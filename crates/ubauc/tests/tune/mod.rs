//! Tuning: the choice is the best that has not collapsed, and the folds are honest.

mod ratios; // class weights for a partial AUC
mod table; // maps learned without each fold

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ubauc::data::dataset::Dataset;
use ubauc::data::generate::{GenerateParams, Generator};
use ubauc::data::labels::{Binary, Choice};
use ubauc::data::rows::{Csr, Dense, Rows};
use ubauc::data::scale::{Origin, Scale};
use ubauc::data::split;
use ubauc::metrics::auc;
use ubauc::metrics::{Criterion, average_precision};
use ubauc::objective::ubauc::{ClassWeight, LeastSquares};
use ubauc::read::{ReadOptions, read};
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, fit};
use ubauc::tune::{GridPoint, Setting, TuneInputs, TuneParams, Tuned, tune};
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

const KINDS: [LeastSquares; 2] = [LeastSquares::Plain, LeastSquares::Balanced];

/// The hinge with these β, plain and balanced.
fn hinges(betas: &[f64]) -> Vec<Setting> {
    Setting::hinges(betas, &KINDS, ClassWeight::None)
}

/// A grid of the hinge.
fn small() -> TuneParams {
    TuneParams {
        settings: hinges(&[3.0, 1.0, 0.3]),
        gammas: vec![1e-1, 1e-3],
        folds: 3,
        ..TuneParams::of_hinge()
    }
}

/// The settings that are tried by themselves, every one on every fold.
fn soft() -> TuneParams {
    TuneParams {
        gammas: vec![1e-1, 1e-3],
        folds: 3,
        race: false,
        extend: false,
        extend_betas: false,
        repeats: Some(1),
        ..TuneParams::default()
    }
}

fn tuned(data: &Dataset, params: &TuneParams) -> Tuned {
    tune(data, &TuneInputs::default(), params).unwrap()
}

#[test]
fn the_choice_has_the_highest_mean_auc_and_the_table_is_whole() {
    let data = generated(2000, 12, 0.85);
    let seen = Mutex::new(Vec::new());
    let progress = |done, total| seen.lock().unwrap().push((done, total));
    let inputs = TuneInputs {
        progress: Some(&progress),
        ..Default::default()
    };
    let tuned = tune(&data, &inputs, &small()).unwrap();
    // Logistic regression is always tried, and chosen only if it is asked for.
    assert_eq!(tuned.points.len(), 12 + 2);
    assert!(!tuned.best().collapsed && !tuned.best().setting.is_logistic());
    let ours = tuned.points.iter().filter(|p| !p.setting.is_logistic());
    let alive = ours.filter(|p| !p.collapsed).map(|p| p.judged.auc);
    assert_eq!(tuned.best().judged.auc, alive.fold(0.0, f64::max));
    let of_logistic = tuned.points.iter().filter(|p| p.setting.is_logistic());
    assert_eq!(
        tuned.best_logistic().judged.auc,
        of_logistic.map(|p| p.judged.auc).fold(0.0, f64::max)
    );
    let mut seen = seen.into_inner().unwrap();
    seen.sort_unstable();
    let total = 3 * (12 + 2);
    let all: Vec<(usize, usize)> = (1..=total).map(|done| (done, total)).collect();
    assert_eq!(seen, all);
    assert!(!tuned.cut_short);
    let verdict = tuned.verdict.unwrap();
    assert_eq!(verdict.ours.n_pos + verdict.ours.n_neg, 400);
    assert_eq!(verdict.test.auc_a, verdict.ours.auc);
    // The generator's AUC, and the error of 80 positives among 400.
    assert!(verdict.ours.auc > 0.75, "{verdict:?}");
}

#[test]
fn the_spread_over_the_folds_is_the_standard_error() {
    let tuned = tuned(&generated(600, 5, 0.8), &small());
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
    let best = tuned(&data, &small());
    let simple = tuned(&data, &params);
    assert_eq!(best.points, simple.points);
    let enough = best.best().judged.auc - best.best().judged.standard_error;
    let ours = |p: &&GridPoint| !p.collapsed && !p.setting.is_logistic();
    let within = |p: &&GridPoint| ours(p) && p.judged.auc >= enough;
    let gammas = best.points.iter().filter(within).map(|p| p.gamma);
    assert_eq!(simple.best().gamma, gammas.fold(0.0, f64::max));
    assert!(simple.best().judged.auc >= enough);
}

/// The optimum of a tiny β is w = 0 or nearly all examples on λ.
#[test]
fn a_collapsed_model_is_flagged_and_never_chosen() {
    let data = generated(2000, 6, 0.7);
    let params = TuneParams {
        settings: hinges(&[1e-4, 1e-3, 2.0]),
        ..small()
    };
    let found = tuned(&data, &params);
    for point in found.points.iter().filter(|p| !p.setting.is_logistic()) {
        assert_eq!(point.collapsed, point.setting.beta < 1.0, "{point:?}");
    }
    assert_eq!(found.best().setting.beta, 2.0);
    let only = TuneParams {
        settings: hinges(&[1e-4, 1e-3]),
        ..small()
    };
    match tune(&data, &TuneInputs::default(), &only) {
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
    for params in [TuneParams::of_hinge(), TuneParams::default()] {
        let tuned = tuned(&data, &params);
        assert!(tuned.best().judged.auc > 0.6, "{:?}", tuned.best());
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let data = generated(20_000, 10, 0.8);
    for params in [small(), TuneParams::default()] {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let tuned = pool.unwrap().install(|| tuned(&data, &params));
            // As text, every digit of which counts: the error of a single fold is NaN, which equals nothing.
            format!("{tuned:?}")
        };
        let one = with(1);
        for threads in [2, 8] {
            assert_eq!(one, with(threads), "{threads} threads");
        }
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
        for setting in params.settings.iter().chain([&Setting::LOGISTIC]) {
            for &gamma in &params.gammas {
                let given = BatchInputs {
                    divisors: Some(&divisors),
                    ..Default::default()
                };
                let params = BaUbaucParams {
                    beta: setting.beta,
                    gamma,
                    softness: setting.softness,
                    class_weight: setting.class_weight,
                    least_squares: setting.least_squares,
                    intercept: params.intercept || setting.beta == 0.0,
                    tolerance: 1e-10,
                    ..Default::default()
                };
                aucs.push(judged(&fit(&train, &given, &params)?.weights)?);
            }
        }
        found.push(aucs);
    }
    Ok(found)
}

#[test]
fn folds_by_weights_are_folds_by_copies() {
    let data = generated(900, 7, 0.8);
    for (scale, intercept, grid) in [
        (Scale::None, false, small()),
        (Scale::Standard, true, small()),
        (Scale::Standard, true, soft()),
    ] {
        let mut settings = grid.settings.clone();
        settings.retain(|s| !s.is_logistic());
        let params = TuneParams {
            settings,
            scale,
            intercept,
            tolerance: 1e-10,
            ..grid
        };
        let tuned = tuned(&data, &params);
        let expected = naive(&data, &params).unwrap();
        for (k, point) in tuned.points.iter().enumerate() {
            for (fold, &found) in point.judged.fold_aucs.iter().enumerate() {
                // A fold has 48 × 192 pairs; a few may be closer than the solutions are.
                let allowed = 4.0 / (48.0 * 192.0);
                let expected = expected[fold][k];
                assert!(
                    (found - expected).abs() <= allowed,
                    "{k} {fold}: {found} {expected}"
                );
            }
        }
    }
}

#[test]
fn examples_of_weight_zero_take_no_part() {
    let data = generated(1200, 5, 0.8);
    let weights: Vec<f64> = (0..1200).map(|i| f64::from(u8::from(i < 900))).collect();
    let first: Vec<usize> = (0..900).collect();
    for grid in [small(), soft()] {
        let params = TuneParams {
            tolerance: 1e-9,
            ..grid
        };
        let inputs = TuneInputs {
            weights: Some(&weights),
            ..Default::default()
        };
        let weighted = tune(&data, &inputs, &params).unwrap();
        let alone = tuned(&copied(&data, &first), &params);
        assert_eq!(weighted.points.len(), alone.points.len());
        for (a, b) in weighted.points.iter().zip(&alone.points) {
            assert!((a.judged.auc - b.judged.auc).abs() < 1e-3, "{a:?} {b:?}");
        }
    }
}

/// What judges a fold: each example by its weight, and by the criterion that was asked for.
#[test]
fn folds_are_judged_by_weights_and_by_the_criterion() {
    let data = generated(900, 5, 0.8);
    let weights: Vec<f64> = (0..900).map(|i| f64::from((i * 7 % 11) as u8)).collect();
    let unit = vec![1.0; 900];
    let cases = [
        (Criterion::Auc, &weights),
        (Criterion::AveragePrecision, &unit),
        (Criterion::AveragePrecision, &weights),
        (Criterion::PartialAuc { max_fpr: 0.2 }, &unit),
    ];
    for (criterion, weights) in cases {
        let params = TuneParams {
            settings: vec![Setting::LOGISTIC],
            gammas: vec![1e-3],
            tolerance: 1e-9,
            held_out: 0.0,
            criterion,
            ..soft()
        };
        let inputs = TuneInputs {
            weights: Some(weights),
            ..Default::default()
        };
        let found = tune(&data, &inputs, &params).unwrap();
        let some: Vec<usize> = (0..900).filter(|&i| weights[i] > 0.0).collect();
        let positive: Vec<bool> = some.iter().map(|&i| data.positive()[i]).collect();
        let folds = split::folds(&positive, params.folds, params.seed).unwrap();
        for fold in 0..params.folds {
            let of: Vec<usize> = (0..some.len()).filter(|&k| folds[k] == fold).collect();
            let mut kept = weights.clone();
            of.iter().for_each(|&k| kept[some[k]] = 0.0);
            let given = BatchInputs {
                weights: Some(&kept),
                ..Default::default()
            };
            let params = BaUbaucParams {
                beta: 0.0,
                softness: 1.0,
                gamma: 1e-3,
                tolerance: 1e-9,
                ..Default::default()
            };
            let scores = fit(&data, &given, &params).unwrap().scores;
            let scores: Vec<f64> = of.iter().map(|&k| scores[some[k]]).collect();
            let positive: Vec<bool> = of.iter().map(|&k| positive[k]).collect();
            let weights: Vec<f64> = of.iter().map(|&k| weights[some[k]]).collect();
            let expected = criterion.of(&scores, &positive, Some(&weights)).unwrap();
            let judged = found.best().judged.fold_aucs[fold as usize];
            // Some 45 × 175 pairs; a few may be closer than the solutions.
            assert!(
                (judged - expected).abs() < 2e-3,
                "{criterion}: {judged} {expected}"
            );
            if criterion == Criterion::AveragePrecision && *weights == vec![1.0; weights.len()] {
                let plain = average_precision(&scores, &positive).unwrap();
                assert!((plain - expected).abs() < 1e-12);
            }
        }
    }
}

/// The race leaves out what is behind, and what is left was tried on all folds.
#[test]
fn what_is_behind_is_not_tried_on_all_folds() {
    let data = generated(20_000, 40, 0.75);
    // γ = 100 makes of the scores a difference of class means: clearly worse.
    let params = TuneParams {
        gammas: vec![1e2, 1e-2, 1e-4],
        extend: false,
        extend_betas: false,
        ..TuneParams::default()
    };
    let raced = tuned(&data, &params);
    let all = tuned(
        &data,
        &TuneParams {
            race: false,
            ..params
        },
    );
    assert!(raced.points.iter().any(|p| p.stopped));
    assert!(all.points.iter().all(|p| !p.stopped));
    assert!(!raced.best().stopped && !raced.best_logistic().stopped);
    // The same fits where both made them, from other starts.
    for point in raced.points.iter().filter(|p| !p.stopped) {
        let same = |p: &&GridPoint| p.setting == point.setting && p.gamma == point.gamma;
        let other = all.points.iter().find(same).unwrap();
        assert!((point.judged.auc - other.judged.auc).abs() < 2e-3);
    }
    assert!(raced.best().judged.auc > all.best().judged.auc - 2e-3);
}

#[test]
fn a_path_is_made_longer_where_the_best_is_at_its_end() {
    // Few examples of many features: more of a penalty is better.
    let data = generated(300, 60, 0.7);
    let params = TuneParams {
        settings: vec![Setting::LOGISTIC],
        gammas: vec![1e-2, 1e-3],
        ..TuneParams::default()
    };
    let found = tuned(&data, &params);
    assert!(found.best().gamma > 3e-2, "{:?}", found.best());
    let fixed = tuned(
        &data,
        &TuneParams {
            extend: false,
            extend_betas: false,
            ..params
        },
    );
    assert!(fixed.points.iter().all(|p| p.gamma <= 1e-2));
    assert!(found.best().judged.auc >= fixed.best().judged.auc);
}

#[test]
fn more_betas_are_tried_where_the_best_is_at_an_end() {
    let data = generated(1500, 30, 0.75);
    for betas in [[0.5, 0.2], [20.0, 4.0]] {
        for race in [false, true] {
            let fixed = TuneParams {
                settings: Setting::hinges(&betas, &KINDS[..1], ClassWeight::None),
                gammas: vec![1e-2, 1e-3, 1e-4],
                race,
                ..TuneParams::of_hinge()
            };
            let extended = TuneParams {
                extend_betas: true,
                ..fixed.clone()
            };
            let (fixed, found) = (tuned(&data, &fixed), tuned(&data, &extended));
            let ends = |tuned: &Tuned| {
                let hinge = tuned.points.iter().filter(|p| p.setting.softness == 0.0);
                let betas: Vec<f64> = hinge.map(|p| p.setting.beta).collect();
                [f64::min, f64::max].map(|end| betas.iter().copied().reduce(end).unwrap())
            };
            assert_eq!(ends(&fixed), [betas[1], betas[0]]);
            let chosen = fixed.best().setting.beta;
            let ([least, _], [_, most]) = (ends(&found), ends(&found));
            match chosen == betas[0] {
                true => assert!(most > betas[0], "{betas:?}: {most}"),
                false => assert!(least < betas[1], "{betas:?}: {least}"),
            }
            // Points are compared at a gap of 1e-3, and only the choice is then solved closely.
            assert!(found.best().judged.auc >= fixed.best().judged.auc - 1e-3);
            assert!(!found.best().stopped && !found.best().collapsed);
        }
    }
}

#[test]
fn time_that_is_up_leaves_the_best_so_far() {
    let data = generated(3000, 10, 0.8);
    let none = TuneParams {
        time_limit: Some(Duration::ZERO),
        ..TuneParams::default()
    };
    let found = tuned(&data, &none);
    assert!(found.cut_short && found.best().setting.is_logistic());
    let stop = AtomicBool::new(true);
    let inputs = TuneInputs {
        stop: Some(&stop),
        ..Default::default()
    };
    let found = tune(&data, &inputs, &TuneParams::default()).unwrap();
    assert!(found.cut_short && found.verdict.is_some_and(|v| v.is_logistic));
}

/// Rows of one patient are copies of each other: folds that part them judge by rows that were learned.
#[test]
fn groups_stay_together() {
    let one = generated(300, 60, 0.6);
    let rows: Vec<usize> = (0..900).map(|i| i / 3).collect();
    let data = copied(&one, &rows);
    let groups: Vec<u32> = (0..900).map(|i| i / 3).collect();
    let params = TuneParams {
        settings: vec![Setting::LOGISTIC],
        gammas: vec![1e-6],
        ..soft()
    };
    let inputs = TuneInputs {
        groups: Some(&groups),
        ..Default::default()
    };
    let parted = tuned(&data, &params);
    let together = tune(&data, &inputs, &params).unwrap();
    let (parted_auc, auc) = (parted.best().judged.auc, together.best().judged.auc);
    assert!(parted_auc > auc + 0.1, "{parted_auc} {auc}");
    // The interval is that of groups: wider than if each of three copies were news.
    let width = |t: &Tuned| {
        let v = t.verdict.as_ref().unwrap();
        v.ours.ci95[1] - v.ours.ci95[0]
    };
    assert!(width(&together) > 1.2 * width(&parted));
    let short = TuneInputs {
        groups: Some(&groups[1..]),
        ..Default::default()
    };
    assert!(matches!(
        tune(&data, &short, &params),
        Err(Error::Length { .. })
    ));
}

/// Folds of groups differ, and the first ones have the largest: all of them are judged.
#[test]
fn of_many_examples_some_folds_are_enough_unless_they_are_in_groups() {
    let data = generated(4000, 3, 0.8);
    let params = TuneParams {
        enough_per_class: Some(10),
        folds: 5,
        ..soft()
    };
    let folds = |groups: Option<&[u32]>, params: &TuneParams| {
        let inputs = TuneInputs {
            groups,
            ..TuneInputs::default()
        };
        let found = tune(&data, &inputs, params).unwrap();
        let tried = found.best().judged.fold_aucs.len();
        let other = found.best_logistic().judged.fold_aucs.len();
        assert_eq!(tried, other);
        tried as u32
    };
    let groups: Vec<u32> = (0..4000)
        .map(|i| if i < 2500 { i / 500 } else { i })
        .collect();
    assert_eq!(folds(None, &params), 3);
    assert_eq!(folds(Some(&groups), &params), params.folds);
    let all = TuneParams {
        enough_per_class: None,
        ..params.clone()
    };
    assert_eq!(folds(None, &all), params.folds);
}

#[test]
fn few_examples_are_dealt_several_times() {
    let found = tuned(&generated(500, 4, 0.8), &TuneParams::default());
    assert_eq!(found.best().judged.fold_aucs.len(), 25);
    let found = tuned(&generated(5000, 4, 0.8), &TuneParams::default());
    assert_eq!(found.best().judged.fold_aucs.len(), 5);
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
    let error = tune(&few, &TuneInputs::default(), &TuneParams::default()).unwrap_err();
    assert!(matches!(error, Error::Classes { .. }));
    let text = error.to_string();
    assert!(
        text.contains("spam") && text.contains("fewer folds"),
        "{text}"
    );
    let refused = |change: &dyn Fn(&mut TuneParams)| {
        let mut params = TuneParams::default();
        change(&mut params);
        match tune(&data, &TuneInputs::default(), &params) {
            Err(Error::Parameter { name, .. }) => name,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(&|p| p.settings.clear()), "settings");
    assert_eq!(refused(&|p| p.settings[0].softness = 0.0), "beta");
    assert_eq!(refused(&|p| p.settings[0].softness = -1.0), "softness");
    assert_eq!(refused(&|p| p.settings[1].beta = f64::NAN), "beta");
    assert_eq!(refused(&|p| p.gammas.clear()), "gammas");
    assert_eq!(refused(&|p| p.gammas[0] = f64::NAN), "gamma");
    assert_eq!(refused(&|p| p.repeats = Some(0)), "repeats");
    assert_eq!(refused(&|p| p.folds = 1), "folds");
    assert_eq!(refused(&|p| p.held_out = 1.0), "share held out");
    assert_eq!(refused(&|p| p.tolerance = 0.0), "tolerance");
}

#[test]
fn without_a_part_held_out_there_is_no_verdict() {
    let params = TuneParams {
        held_out: 0.0,
        ..small()
    };
    assert!(tuned(&generated(300, 3, 0.8), &params).verdict.is_none());
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
    let tuned = tuned(&train, &TuneParams::default());
    let &GridPoint { setting, gamma, .. } = tuned.best();
    let params = BaUbaucParams {
        beta: setting.beta,
        gamma,
        softness: setting.softness,
        class_weight: setting.class_weight,
        ..Default::default()
    };
    let found = fit(&train, &BatchInputs::default(), &params).unwrap();
    let scores: Vec<f64> = (0..test.rows().len())
        .map(|i| test.rows().row(i).dot(&found.weights))
        .collect();
    let on_test = auc(&scores, test.positive()).unwrap().auc;
    assert!(on_test >= 0.902, "{on_test} {:?}", tuned.best());
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
        settings: Setting::hinges(&[0.1], &KINDS[..1], ClassWeight::None),
        gammas: vec![1e-4],
        ..TuneParams::of_hinge()
    };
    let refused = tune(&train, &TuneInputs::default(), &params);
    assert!(
        matches!(refused, Err(Error::Parameter { name: "betas", .. })),
        "{refused:?}"
    );
}
