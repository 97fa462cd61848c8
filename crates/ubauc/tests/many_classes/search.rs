//! The search over classes and folds.

use ubauc::algorithm::{BaUbauc, FitInputs, Spec, fit};
use ubauc::data::scale::Scale;
use ubauc::data::split::folds_of_classes;
use ubauc::many_classes::{Classes, MultiClass};
use ubauc::metrics::weighted_auc;
use ubauc::objective::ubauc::{ClassWeight, LeastSquares};
use ubauc::solver::ba_ubauc::BaUbaucParams;
use ubauc::tune::{ClassRows, Setting, TuneInputs, TuneParams, tune_classes};

use super::{dataset, examples, labels};

fn params(folds: u32) -> TuneParams {
    TuneParams {
        settings: vec![Setting {
            beta: 0.5,
            softness: 0.1,
            class_weight: ClassWeight::None,
            least_squares: LeastSquares::Plain,
        }],
        gammas: vec![1e-2, 1e-3],
        extend: false,
        extend_betas: false,
        race: false,
        folds,
        repeats: Some(1),
        seed: 7,
        // As close as the fits below.
        tolerance: 1e-9,
        scale: Scale::None,
        ..TuneParams::default()
    }
}

/// Each entry by a fit to the examples outside of its fold, judged by those in it.
#[test]
fn every_entry_is_a_class_judged_on_a_fold_that_it_has_not_seen() {
    let (rows, codes) = examples();
    let labels = labels(&codes);
    let classes = Classes::new(&labels, None, MultiClass::HandTill).unwrap();
    let data = dataset(&rows, &labels);
    let params = params(3);
    let inputs = TuneInputs::default();
    let found = tune_classes(ClassRows::Rows(&data), &classes, &inputs, &params).unwrap();
    let folds = folds_of_classes(&codes, 3, 7).unwrap();
    // The class of middle size first.
    let entries = [(1, 0), (2, 1), (0, 2)];
    let points = found.points.iter().filter(|p| !p.setting.is_logistic());
    for point in points {
        let spec = Spec::BaUbauc(BaUbauc {
            params: BaUbaucParams {
                beta: 0.5,
                softness: 0.1,
                gamma: point.gamma,
                tolerance: 1e-9,
                ..BaUbaucParams::default()
            },
            ..BaUbauc::default()
        });
        let judged = |(class, fold): (usize, u32)| {
            let problem = classes.problem(class);
            let a = problem.weights.unwrap();
            let mut outside = a.clone();
            for (weight, of) in outside.iter_mut().zip(&folds) {
                *weight *= f64::from(u8::from(*of != fold));
            }
            let data = data.relabelled(problem.labels.clone()).unwrap();
            let inputs = FitInputs {
                weights: Some(&outside),
                ..FitInputs::default()
            };
            let model = fit(&data, &inputs, &spec).unwrap().model;
            let scores = model.scores(data.rows()).unwrap();
            let inside: Vec<usize> = (0..codes.len()).filter(|&i| folds[i] == fold).collect();
            let scores: Vec<f64> = inside.iter().map(|&i| scores[i]).collect();
            let positive: Vec<bool> = inside.iter().map(|&i| problem.labels.positive[i]).collect();
            let a: Vec<f64> = inside.iter().map(|&i| a[i]).collect();
            weighted_auc(&scores, &positive, &a).unwrap().auc
        };
        let expected: Vec<f64> = entries.into_iter().map(judged).collect();
        // AUCs of a few dozen pairs: another order of any two would be felt.
        for (found, expected) in point.judged.fold_aucs.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
    assert!(found.verdict.is_none());
}

#[test]
fn classes_with_few_examples_take_no_part_and_none_is_refused() {
    let (rows, codes) = examples();
    let labels = labels(&codes);
    let classes = Classes::new(&labels, None, MultiClass::HandTill).unwrap();
    let data = dataset(&rows, &labels);
    let tune = |folds| {
        let inputs = TuneInputs::default();
        tune_classes(ClassRows::Rows(&data), &classes, &inputs, &params(folds))
    };
    // The class of 4 examples is too small for 5 folds: two classes, three entries each.
    let found = tune(5).unwrap();
    let judged = &found.best().judged;
    assert_eq!((judged.fold_aucs.len(), judged.folds), (6, 5));
    // Entries of one class, in turn; the variance of a mean of three.
    let variance = |class: usize| {
        let own: Vec<f64> = judged
            .fold_aucs
            .iter()
            .skip(class)
            .step_by(2)
            .copied()
            .collect();
        let mean = own.iter().sum::<f64>() / 3.0;
        own.iter().map(|a| (a - mean).powi(2)).sum::<f64>() / 2.0 / 3.0
    };
    let expected = (variance(0) + variance(1)).sqrt() / 2.0;
    assert!((judged.standard_error - expected).abs() < 1e-15);
    // Each class once: nothing is known of the spread within a class.
    let once = tune(3).unwrap();
    assert!(once.best().judged.standard_error.is_nan());
    assert_eq!(once.best().judged.folds, 3);
    assert_eq!(tune(4).unwrap().best().judged.fold_aucs.len(), 6);
    assert_eq!(tune(3).unwrap().best().judged.fold_aucs.len(), 3);
    let refused = tune(26).unwrap_err().to_string();
    assert!(refused.contains("26 examples"), "{refused}");
}
