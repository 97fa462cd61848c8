use proptest::prelude::*;
use ubauc::Error;
use ubauc::metrics::{
    Criterion, RocPart, auc, average_precision, partial_auc, weighted_auc,
    weighted_average_precision, weighted_partial_auc,
};

use super::pairs::examples;

proptest! {
    #[test]
    fn each_is_the_function_of_its_name(
        (scores, positive) in examples(1, 60),
        weights in prop::collection::vec(0.1..2.0_f64, 60),
        max_fpr in 0.01..=1.0_f64,
    ) {
        let (s, p, w) = (&scores[..], &positive[..], &weights[..scores.len()]);
        let part = RocPart::MaxFpr(max_fpr);
        let partial = Criterion::PartialAuc { max_fpr };
        let plain = |criterion: Criterion| criterion.of(s, p, None).unwrap();
        prop_assert_eq!(plain(Criterion::Auc), auc(s, p).unwrap().auc);
        prop_assert_eq!(plain(partial), partial_auc(s, p, part).unwrap().standardised);
        prop_assert_eq!(plain(Criterion::AveragePrecision), average_precision(s, p).unwrap());
        let weighted = |criterion: Criterion| criterion.of(s, p, Some(w)).unwrap();
        prop_assert_eq!(weighted(Criterion::Auc), weighted_auc(s, p, w).unwrap().auc);
        prop_assert_eq!(
            weighted(partial), weighted_partial_auc(s, p, w, part).unwrap().standardised
        );
        prop_assert_eq!(
            weighted(Criterion::AveragePrecision), weighted_average_precision(s, p, w).unwrap()
        );
    }
}

#[test]
fn a_rate_out_of_range_is_refused_however_it_was_made() {
    let criterion = Criterion::PartialAuc { max_fpr: 2.0 };
    for weights in [None, Some(&[1.0; 2][..])] {
        let refused = criterion.of(&[1.0, 2.0], &[false, true], weights);
        assert!(matches!(
            refused,
            Err(Error::Parameter {
                name: "max_fpr",
                ..
            })
        ));
    }
}
