//! SOLAM over data sets; its steps are tested beside them.

use ubauc::Error;
use ubauc::model::Model;
use ubauc::solver::passes::{OnlineInputs, Passes, fit};
use ubauc::solver::solam::{Solam, SolamParams, kappa};

use super::data::{ONCE, held_out_auc, small, square_by_pairs};

fn params(zeta: f64, radius: f64) -> SolamParams {
    SolamParams { zeta, radius }
}

#[test]
fn the_objective_is_the_square_loss_of_the_pairs_dense_and_sparse() {
    let weights = [false, true].map(|sparse| {
        let data = small(120, sparse);
        let divisors = [2.0, 1.0, 0.5, 4.0];
        let given = OnlineInputs {
            divisors: Some(&divisors),
            progress: None,
        };
        let kappa = kappa(data.rows(), Some(&divisors));
        let learner = Solam::new(4, kappa, &params(0.1, 10.0)).unwrap();
        let found = fit(&data, &given, learner, &ONCE).unwrap();
        let pairs = square_by_pairs(&found.scores, data.positive());
        assert!((found.objective - pairs).abs() < 1e-12 * pairs);
        assert!(found.objective < 1.0 && found.trace[0].auc > 0.8);
        // Scores are those of the raw features.
        let model = Model::linear(found.weights.clone(), 0.0);
        let again = model.scores(data.rows()).unwrap();
        assert!(
            again
                .iter()
                .zip(&found.scores)
                .all(|(a, b)| (a - b).abs() < 1e-12)
        );
        found.weights
    });
    for (dense, sparse) in weights[0].iter().zip(&weights[1]) {
        assert!((dense - sparse).abs() < 1e-12);
    }
}

#[test]
fn kappa_is_the_longest_row_of_the_divided_features() {
    for sparse in [false, true] {
        let data = small(50, sparse);
        for divisors in [None, Some(&[2.0, 1.0, 0.5, 4.0][..])] {
            let length = |i: usize| {
                let squares = (0..4).map(|j| {
                    let x = data.rows().row(i).get(j);
                    (x / divisors.map_or(1.0, |r| r[j])).powi(2)
                });
                squares.sum::<f64>().sqrt()
            };
            let longest = (0..50).map(length).fold(0.0, f64::max);
            assert!((kappa(data.rows(), divisors) - longest).abs() < 1e-12);
        }
    }
}

#[test]
fn weights_stay_in_the_ball() {
    let data = small(200, true);
    for radius in [1e-6, 0.1] {
        let learner = Solam::new(4, kappa(data.rows(), None), &params(1e3, radius)).unwrap();
        let found = fit(&data, &OnlineInputs::default(), learner, &Passes::default()).unwrap();
        let norm = found.weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        assert!(
            norm <= radius * (1.0 + 1e-12) && norm > 0.1 * radius,
            "{norm}"
        );
    }
}

#[test]
fn what_has_no_meaning_is_refused() {
    let name = |zeta, radius, kappa| match Solam::new(3, kappa, &params(zeta, radius)) {
        Err(Error::Parameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(name(bad, 1.0, 1.0), "zeta");
        assert_eq!(name(1.0, bad, 1.0), "radius");
    }
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(name(1.0, 1.0, bad), "kappa");
    }
    assert_eq!(name(1.0, 1e300, 1e10), "kappa");
    assert!(params(1.0, 1.0).check().is_ok() && SolamParams::default().check().is_ok());
}

#[test]
fn numbers_beyond_all_bounds_are_an_error() {
    let data = small(100, false);
    for (zeta, radius) in [(1e300, 1e300), (1e200, 1e-3), (1e300, 1e100)] {
        let learner = Solam::new(4, kappa(data.rows(), None), &params(zeta, radius)).unwrap();
        let found = fit(&data, &OnlineInputs::default(), learner, &ONCE);
        assert!(matches!(found, Err(Error::Numerical { .. })), "{found:?}");
    }
}

#[test]
fn real_data_are_learned() {
    let sets = [
        ("diabetes/all.svm.zst", 0.75),
        ("german/all.svm.zst", 0.70),
        ("a9a/train.svm.zst", 0.88),
    ];
    for (name, least) in sets {
        let found = held_out_auc("solam: real_data_are_learned", name, |data, given| {
            let kappa = kappa(data.rows(), given.divisors);
            let learner = Solam::new(data.rows().cols(), kappa, &<_>::default()).unwrap();
            let passes = Passes {
                passes: 5,
                ..Default::default()
            };
            fit(data, given, learner, &passes).unwrap()
        });
        let Some(auc) = found else { return };
        println!("{name}: {auc:.4}");
        assert!(auc > least, "{name}: {auc}");
    }
}
