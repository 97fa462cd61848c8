//! Parameters without a meaning are refused by name.

use ubauc::Error;
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, fit};

use super::{dense, noisy};

#[test]
fn by_name() {
    let (rows, positive) = noisy(20, 3, 1.0, 1);
    let data = dense(&rows, &positive);
    let soft = BaUbaucParams {
        softness: 0.5,
        ..BaUbaucParams::default()
    };
    let with = |change: &dyn Fn(&mut BaUbaucParams)| {
        let mut params = soft;
        change(&mut params);
        params
    };
    let mut cases = Vec::new();
    for bad in [-1.0, -1e-300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        cases.push(("softness", with(&|p| p.softness = bad)));
        cases.push(("beta", with(&|p| p.beta = bad)));
        cases.push(("gamma", with(&|p| p.gamma = bad)));
        cases.push(("tolerance", with(&|p| p.tolerance = bad)));
    }
    cases.push(("beta", with(&|p| (p.beta, p.softness) = (0.0, 0.0))));
    cases.push(("tolerance", with(&|p| p.tolerance = 0.0)));
    for (expected, params) in cases {
        let found = fit(&data, &BatchInputs::default(), &params);
        match found {
            Err(Error::Parameter { name, .. }) => assert_eq!(name, expected, "{params:?}"),
            other => panic!("{params:?}: {other:?}"),
        }
    }
    // What is allowed.
    for params in [with(&|p| p.beta = 0.0), with(&|p| p.gamma = 0.0)] {
        fit(&data, &BatchInputs::default(), &params).unwrap();
    }
}

#[test]
fn inputs_that_do_not_fit() {
    let (rows, positive) = noisy(20, 3, 1.0, 1);
    let data = dense(&rows, &positive);
    let params = BaUbaucParams {
        softness: 1.0,
        beta: 0.0,
        ..BaUbaucParams::default()
    };
    let none = BatchInputs::default();
    let one_class: Vec<f64> = positive
        .iter()
        .map(|p| if *p { 0.0 } else { 1.0 })
        .collect();
    let fitted = fit(
        &data,
        &BatchInputs {
            weights: Some(&one_class),
            ..none
        },
        &params,
    );
    assert!(matches!(fitted, Err(Error::OneClass { .. })), "{fitted:?}");
    for weights in [
        &[1.0][..],
        &[-1.0; 20],
        &[f64::NAN; 20],
        &[f64::INFINITY; 20],
    ] {
        let given = BatchInputs {
            weights: Some(weights),
            ..none
        };
        assert!(fit(&data, &given, &params).is_err(), "{weights:?}");
    }
    for divisors in [&[1.0][..], &[], &[1.0, 0.0, 1.0], &[1.0, f64::NAN, 1.0]] {
        let given = BatchInputs {
            divisors: Some(divisors),
            ..none
        };
        assert!(fit(&data, &given, &params).is_err(), "{divisors:?}");
    }
    for start in [&[0.0; 2][..], &[f64::NAN; 3], &[1e308; 3]] {
        let given = BatchInputs {
            start: Some(start),
            ..none
        };
        assert!(fit(&data, &given, &params).is_err(), "{start:?}");
    }
}
