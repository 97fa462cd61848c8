//! Class weights that are tried for the left end of the ROC curve.

use ubauc::metrics::Criterion;
use ubauc::objective::ubauc::ClassWeight;
use ubauc::tune::{LossGrid, Setting, TuneInputs, TuneParams, tune};

use super::generated;

fn ratios(params: &TuneParams) -> Vec<f64> {
    let of = |s: &Setting| match s.class_weight {
        ClassWeight::Ratio(r) => Some(r),
        ClassWeight::None | ClassWeight::Balanced => None,
    };
    params.settings.iter().filter_map(of).collect()
}

#[test]
fn only_a_partial_auc_tries_them_and_only_where_weights_are_free() {
    let partial = Criterion::PartialAuc { max_fpr: 0.05 };
    let free = LossGrid::default();
    let found = free.params_for(partial);
    assert_eq!(ratios(&found), [5.0, 5.0, 5.0, 20.0, 20.0, 20.0]);
    assert!(found.extend_ratios && found.criterion == partial);
    assert_eq!(found.settings[..6], Setting::defaults());
    // Whole AUC and average precision: nothing but the criterion differs from before.
    for criterion in [
        Criterion::Auc,
        Criterion::AveragePrecision,
        Criterion::PartialAuc { max_fpr: 1.0 },
    ] {
        let expected = TuneParams {
            criterion,
            ..TuneParams::default()
        };
        assert_eq!(free.params_for(criterion), expected);
    }
    let given = LossGrid {
        class_weights: vec![ClassWeight::Balanced, ClassWeight::Ratio(3.0)],
        ..LossGrid::default()
    };
    assert!(!given.params_for(partial).extend_ratios);
    let hinge = LossGrid {
        softness: vec![0.0],
        ..LossGrid::default()
    };
    assert!(ratios(&hinge.params_for(partial)).is_empty());
}

#[test]
fn a_given_ratio_is_tried_with_the_losses_of_balanced_classes() {
    let of = |class_weights: &[ClassWeight]| {
        let grid = LossGrid {
            class_weights: class_weights.to_vec(),
            ..LossGrid::default()
        };
        grid.params().settings
    };
    let four = ClassWeight::Ratio(4.0);
    let balanced = of(&[ClassWeight::Balanced]);
    assert_eq!(balanced.len(), 3);
    let weighted: Vec<Setting> = (balanced.iter())
        .map(|&loss| Setting {
            class_weight: four,
            ..loss
        })
        .collect();
    assert_eq!(of(&[four]), weighted);
    let none = of(&[ClassWeight::None]);
    assert_eq!(of(&[ClassWeight::None, four]), [none, weighted].concat());
    assert_eq!(of(&[]), Setting::defaults());
}

#[test]
fn a_ratio_of_one_is_not_tried_beside_balanced_classes() {
    let quarter = Criterion::PartialAuc { max_fpr: 0.25 };
    let found = LossGrid::default().params_for(quarter);
    assert_eq!(ratios(&found), [4.0; 3]);
    let one = Criterion::PartialAuc { max_fpr: 0.999 };
    let found = LossGrid::default().params_for(one);
    assert_eq!(ratios(&found), [0.25; 3]);
}

#[test]
fn a_choice_at_the_end_makes_the_list_of_ratios_longer() {
    let data = generated(1500, 6, 0.85);
    let setting = |ratio| Setting {
        class_weight: ClassWeight::Ratio(ratio),
        ..Setting::LOGISTIC
    };
    let params = TuneParams {
        settings: vec![setting(0.02), setting(0.04)],
        gammas: vec![1e-2, 1e-3],
        criterion: Criterion::PartialAuc { max_fpr: 0.1 },
        extend: false,
        extend_betas: false,
        extend_ratios: true,
        held_out: 0.0,
        repeats: Some(1),
        ..TuneParams::default()
    };
    let found = tune(&data, &TuneInputs::default(), &params).unwrap();
    let tried = |ratio| found.points.iter().any(|p| p.setting == setting(ratio));
    // Whichever of the two was better, it was at an end.
    assert!(tried(0.16) || tried(0.005), "{:?}", found.best());
    let as_before = TuneParams {
        extend_ratios: false,
        ..params
    };
    let before = tune(&data, &TuneInputs::default(), &as_before).unwrap();
    assert_eq!(before.points.len(), 2 * 2 + 2);
    assert!(found.best().judged.auc >= before.best().judged.auc);
}
