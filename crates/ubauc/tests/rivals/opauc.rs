//! OPAUC over data sets; its steps are tested beside them.

use ubauc::Error;
use ubauc::model::Model;
use ubauc::solver::opauc::{FULL_UP_TO, Opauc, OpaucParams};
use ubauc::solver::passes::{OnlineInputs, Passes, fit};

use super::data::{ONCE, held_out_auc, small, square_by_pairs};

fn params(eta: f64, lambda: f64, tau: Option<usize>) -> OpaucParams {
    OpaucParams {
        eta,
        lambda,
        tau,
        seed: 1,
    }
}

#[test]
fn the_objective_is_half_the_square_loss_of_the_pairs_and_the_penalty() {
    for tau in [None, Some(3)] {
        let weights = [false, true].map(|sparse| {
            let data = small(120, sparse);
            let learner = Opauc::new(4, &params(0.02, 0.3, tau)).unwrap();
            let found = fit(&data, &OnlineInputs::default(), learner, &ONCE).unwrap();
            let norm_sq = found.weights.iter().map(|w| w * w).sum::<f64>();
            let pairs = square_by_pairs(&found.scores, data.positive());
            let expected = 0.5 * pairs + 0.15 * norm_sq;
            assert!((found.objective - expected).abs() < 1e-12 * expected);
            assert!(found.trace[0].auc > 0.8);
            found.weights
        });
        for (dense, sparse) in weights[0].iter().zip(&weights[1]) {
            assert!((dense - sparse).abs() < 1e-12);
        }
    }
}

#[test]
fn many_small_steps_reach_the_minimum() {
    let data = small(200, true);
    let lambda = 0.1;
    let learner = Opauc::new(4, &params(1e-4, lambda, None)).unwrap();
    let passes = Passes {
        passes: 2000,
        tolerance: 0.0,
        shuffle: Some(3),
    };
    let found = fit(&data, &OnlineInputs::default(), learner, &passes).unwrap();
    // The slope of ½ L_square + λ/2 ‖w‖² along every feature, by differences.
    let value = |w: &[f64]| {
        let scores = Model::linear(w.to_vec(), 0.0).scores(data.rows()).unwrap();
        let norm_sq = w.iter().map(|w| w * w).sum::<f64>();
        0.5 * (square_by_pairs(&scores, data.positive()) + lambda * norm_sq)
    };
    let start = value(&[0.0; 4]);
    for j in 0..4 {
        let at = |step: f64| {
            let mut w = found.weights.clone();
            w[j] += step;
            value(&w)
        };
        let slope = (at(1e-4) - at(-1e-4)) / 2e-4;
        assert!(slope.abs() < 2e-3 * start, "{j}: {slope}");
    }
}

#[test]
fn the_seed_decides_the_sketch() {
    let data = small(150, true);
    let learn = |seed| {
        let params = OpaucParams {
            seed,
            ..params(0.02, 1e-3, Some(2))
        };
        let learner = Opauc::new(4, &params).unwrap();
        let found = fit(&data, &OnlineInputs::default(), learner, &ONCE).unwrap();
        found.weights
    };
    assert_eq!(learn(1), learn(1));
    assert_ne!(learn(1), learn(2));
}

#[test]
fn what_has_no_meaning_or_no_room_is_refused() {
    let refused = |d, params: OpaucParams| match Opauc::new(d, &params) {
        Err(error @ Error::Parameter { name, .. }) => (name, error.to_string()),
        other => panic!("{:?}", other.map(|_| ())),
    };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(3, params(bad, 0.1, None)).0, "eta");
    }
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(3, params(0.1, bad, None)).0, "lambda");
    }
    assert_eq!(refused(3, params(0.1, 0.1, Some(0))).0, "tau");
    let (name, message) = refused(55_197, params(0.1, 0.1, None));
    assert_eq!(name, "tau");
    assert!(
        message.contains("55197 features") && message.contains("2 GiB"),
        "{message}"
    );
    for (d, tau) in [
        (55_197, 5_000),
        (3, 1 << 20),
        (usize::MAX, 1),
        (1, usize::MAX),
    ] {
        assert_eq!(refused(d, params(0.1, 0.1, Some(tau))).0, "tau");
    }
    for tau in [None, Some(50)] {
        assert!(Opauc::new(FULL_UP_TO, &params(0.1, 0.0, tau)).is_ok());
    }
    assert!(Opauc::new(0, &OpaucParams::default()).is_ok());
}

#[test]
fn steps_that_diverge_are_an_error() {
    for sparse in [false, true] {
        let data = small(400, sparse);
        for tau in [None, Some(3)] {
            for (eta, lambda) in [(1e6, 0.0), (10.0, 1e-4), (1e6, 1e6), (1e300, 1e300)] {
                let learner = Opauc::new(4, &params(eta, lambda, tau)).unwrap();
                let found = fit(&data, &OnlineInputs::default(), learner, &ONCE);
                assert!(
                    matches!(found, Err(Error::Numerical { .. })),
                    "{eta} {lambda} {tau:?}: {:?}",
                    found.map(|found| found.objective)
                );
            }
        }
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
        for tau in [None, Some(20)] {
            let found = held_out_auc("opauc: real_data_are_learned", name, |data, given| {
                let params = OpaucParams {
                    tau,
                    ..Default::default()
                };
                let learner = Opauc::new(data.rows().cols(), &params).unwrap();
                let passes = Passes {
                    passes: 2,
                    ..Default::default()
                };
                fit(data, given, learner, &passes).unwrap()
            });
            let Some(auc) = found else { return };
            println!("{name} {tau:?}: {auc:.4}");
            assert!(auc > least, "{name} {tau:?}: {auc}");
        }
    }
}
