//! Weights to start from: the same minimum, sooner if they are near it.

use ubauc::Error;
use ubauc::data::dataset::Dataset;
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, Stop, fit};

use super::ba_ubauc::{given, large, params};
use super::{dataset, sparse_dataset};
use crate::oracle::{Problem, random_problem};

/// Dense rows for every other problem.
fn rows(seed: u64, problem: &Problem) -> Dataset {
    if seed.is_multiple_of(2) {
        dataset(problem)
    } else {
        sparse_dataset(problem)
    }
}

#[test]
fn the_minimum_does_not_depend_on_the_start() {
    let (mut cold, mut warm, mut compared) = (0, 0, 0);
    for seed in 0..200 {
        let problem = random_problem(seed);
        let d = problem.features();
        let divisors: Vec<f64> = (0..d).map(|j| [1.0, 0.5, 3.0][j % 3]).collect();
        let params = params(&problem, 1e-8);
        let data = rows(seed, &problem);
        let scaled = BatchInputs {
            divisors: Some(&divisors),
            ..given(&problem)
        };
        let plain = fit(&data, &scaled, &params).unwrap();
        if plain.stop != Stop::Converged {
            continue;
        }
        compared += 1;
        let far: Vec<f64> = (0..d).map(|j| [3.0, -2.0, 0.0][j % 3]).collect();
        let from = |start: &[f64]| {
            let given = BatchInputs {
                start: Some(start),
                ..scaled
            };
            fit(&data, &given, &params).unwrap()
        };
        for start in [&plain.weights, &far, &vec![0.0; d]] {
            let found = from(start);
            assert_eq!(found.stop, Stop::Converged, "seed {seed}: {:?}", found.gap);
            // Both are within 1e-8 of the minimum, from above.
            let difference = (found.objective - plain.objective).abs();
            assert!(difference <= 1.1e-8 * plain.objective, "seed {seed}");
        }
        cold += plain.newton;
        warm += from(&plain.weights).newton;
    }
    assert!(compared >= 150, "{compared}");
    assert!(
        2 * warm < cold,
        "{warm} steps from the minimum, {cold} from the least squares"
    );
}

#[test]
fn from_the_minimum_it_takes_fewer_steps() {
    let data = large();
    for (beta, gamma) in [(0.05, 1e-4), (0.5, 1e-4), (2.0, 1e-2)] {
        let params = BaUbaucParams {
            beta,
            gamma,
            ..Default::default()
        };
        let cold = fit(&data, &BatchInputs::default(), &params).unwrap();
        let start = BatchInputs {
            start: Some(&cold.weights),
            ..Default::default()
        };
        let warm = fit(&data, &start, &params).unwrap();
        assert_eq!(warm.stop, Stop::Converged);
        assert!(warm.newton < cold.newton, "{} {}", warm.newton, cold.newton);
    }
}

#[test]
fn weights_that_are_no_start_are_refused() {
    let problem = random_problem(1);
    let data = dataset(&problem);
    let d = problem.features();
    let answer = |start: &[f64]| {
        let given = BatchInputs {
            start: Some(start),
            ..given(&problem)
        };
        fit(&data, &given, &params(&problem, 1e-6))
    };
    let long = answer(&vec![0.0; d + 1]);
    assert!(
        matches!(long, Err(Error::Length { expected, got, .. }) if (expected, got) == (d, d + 1))
    );
    for bad in [f64::NAN, f64::INFINITY, f64::MAX] {
        let answer = answer(&vec![bad; d]);
        assert!(matches!(answer, Err(Error::Numerical { .. })), "{answer:?}");
    }
}
