//! Proofs that rounding would make false: they are not claimed.

use ubauc::data::dataset::Dataset;
use ubauc::data::rows::{Dense, Rows};
use ubauc::objective::ubauc::LeastSquares;
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, Fit, Stop, fit};

use super::binary;
use super::remote::Noise;

/// The same values as dense and as sparse rows.
fn both_kinds(values: &[f64], positive: &[bool]) -> [Dataset; 2] {
    let (n, d) = (positive.len(), values.len() / positive.len());
    let dense = Dense::new(values.to_vec(), n, d).unwrap();
    let sparse = dense.to_csr().unwrap();
    [Rows::Dense(dense), Rows::Csr(sparse)]
        .map(|rows| Dataset::new(rows, binary(positive), Vec::new()).unwrap())
}

/// `least` is the minimum, or a little above.
fn assert_true(found: &Fit, least: f64, tolerance: f64, what: &str) {
    let what = format!("{what}: {:?}, gap {:?}", found.stop, found.gap);
    if let Some(dual) = found.dual {
        assert!(dual <= least * (1.0 + 1e-7), "{what}: {dual} above {least}");
    }
    if found.stop == Stop::Converged {
        let most = least * (1.0 + 1.1 * tolerance + 1e-7);
        assert!(found.objective <= most, "{what}: {}", found.objective);
    }
}

/// Values of a million that vary by one: sparse rows cannot be read less their mean, and rounding may be more than the
/// tolerance. Dense rows are read less their mean and tell the truth.
#[test]
fn with_an_intercept_and_sparse_rows() {
    for (n, d, offset, gamma) in [
        (60, 5, 1e3, 1e-3),
        (60, 5, 1e6, 1e-3),
        (60, 5, 1e7, 1e-6),
        (40, 300, 1e6, 1e-2),
        (40, 5000, 1e6, 1e-1),
    ] {
        let mut noise = Noise(11);
        let values: Vec<f64> = (0..n * d).map(|_| offset + noise.next()).collect();
        let positive: Vec<bool> = (0..n)
            .map(|i| values[i * d] + values[i * d + 1] - 2.0 * offset + noise.next() > 0.3)
            .collect();
        let [dense, sparse] = both_kinds(&values, &positive);
        let params = BaUbaucParams {
            intercept: true,
            gamma,
            tolerance: 1e-3,
            ..BaUbaucParams::default()
        };
        let exact = BaUbaucParams {
            tolerance: 1e-8,
            ..params
        };
        let least = fit(&dense, &BatchInputs::default(), &exact).unwrap();
        assert_eq!(least.stop, Stop::Converged);
        let found = fit(&sparse, &BatchInputs::default(), &params).unwrap();
        let what = format!("{n} × {d}, {offset:e}");
        assert_true(&found, least.objective, params.tolerance, &what);
        if offset <= 1e3 {
            assert_eq!(found.stop, Stop::Converged, "{what}");
        }
    }
}

/// A feature far from 0 and others that are not, turned so that all are far: w turns with them, and the minimum stays.
fn turned(n: usize, d: usize, offset: f64, seed: u64) -> ([Vec<f64>; 2], Vec<bool>) {
    let mut noise = Noise(seed);
    let mut plain: Vec<f64> = (0..n * d).map(|_| noise.next()).collect();
    plain.chunks_exact_mut(d).for_each(|row| row[0] += offset);
    let positive = plain
        .chunks_exact(d)
        .map(|row| row[0] - offset + row[1] + row[2] + noise.next() > 0.3)
        .collect();
    // I − 2vvᵀ/v·v takes the first axis to (1, …, 1)/√d.
    let mut v = vec![-1.0 / (d as f64).sqrt(); d];
    v[0] += 1.0;
    let square: f64 = v.iter().map(|x| x * x).sum();
    let turn = |row: &[f64]| -> Vec<f64> {
        let along: f64 = row.iter().zip(&v).map(|(x, v)| x * v).sum();
        let back = row.iter().zip(&v);
        back.map(|(x, v)| x - 2.0 * along / square * v).collect()
    };
    let turned = plain.chunks_exact(d).flat_map(turn).collect();
    ([plain, turned], positive)
}

/// Without an intercept no mean is taken off.
#[test]
fn without_an_intercept() {
    for (n, d) in [(80, 3), (300, 6), (1000, 12), (200, 300)] {
        for offset in [1.0, 1e3, 1e5, 1e6, 1e7] {
            for (seed, gamma, least_squares) in [
                (1, 1e-2, LeastSquares::Plain),
                (2, 1e-4, LeastSquares::Balanced),
                (3, 1e-4, LeastSquares::Plain),
                (4, 1e-7, LeastSquares::Plain),
            ] {
                let ([plain, turned], positive) = turned(n, d, offset, seed);
                let params = BaUbaucParams {
                    gamma,
                    least_squares,
                    ..BaUbaucParams::default()
                };
                let exact = BaUbaucParams {
                    tolerance: 1e-8,
                    ..params
                };
                let [simple, _] = both_kinds(&plain, &positive);
                let least = fit(&simple, &BatchInputs::default(), &exact).unwrap();
                assert!(least.gap.unwrap() <= 2e-8);
                for data in both_kinds(&turned, &positive) {
                    let found = fit(&data, &BatchInputs::default(), &params).unwrap();
                    let what = format!("{n} × {d}, {offset:e}, γ = {gamma:e}");
                    assert_true(&found, least.objective, params.tolerance, &what);
                    // A proof is not given away either.
                    if offset <= 1e5 && d < n {
                        assert_eq!(found.stop, Stop::Converged, "{what}");
                    }
                }
            }
        }
    }
}

/// Weights that shrink to nothing on the way: what rounding did to the scores while they were large is still in them.
#[test]
fn where_all_collapses() {
    let (mut proved, mut tried) = (0, 0);
    for seed in 1..6 {
        for offset in [1.0, 1e4, 3e5] {
            for (beta, gamma) in [(1e-6, 1e-7), (1e-4, 1e-6), (1e-2, 1e-3), (1e-2, 1e-7)] {
                for least_squares in [LeastSquares::Plain, LeastSquares::Balanced] {
                    let mut noise = Noise(seed);
                    let values: Vec<f64> = (0..30 * 6).map(|_| offset + noise.next()).collect();
                    let rows = values.chunks_exact(6);
                    let positive: Vec<bool> = rows.map(|x| x[0] + noise.next() > offset).collect();
                    let weights: Vec<f64> = (0..30).map(|i| f64::from(1 + i % 3)).collect();
                    for tolerance in [1e-6, 1e-9] {
                        let params = BaUbaucParams {
                            beta,
                            gamma,
                            least_squares,
                            tolerance,
                            ..BaUbaucParams::default()
                        };
                        for weights in [None, Some(weights.as_slice())] {
                            let given = BatchInputs {
                                weights,
                                ..BatchInputs::default()
                            };
                            for data in both_kinds(&values, &positive) {
                                let found = fit(&data, &given, &params).unwrap();
                                // P(0): all scores are tied, and the residuals are ±1.
                                let zero = 0.5 * beta * (1.0 + 1e-12);
                                let what = format!("{offset:e}, β = {beta:e}, γ = {gamma:e}");
                                if let Some(dual) = found.dual {
                                    assert!(dual <= zero, "{what}: {found:?}");
                                }
                                if offset < 1e4 {
                                    assert_eq!(found.stop, Stop::Converged, "{what}");
                                }
                                tried += 1;
                                proved += usize::from(found.stop == Stop::Converged);
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(2 * proved > tried, "{proved} of {tried} proved");
}

/// k times all weights are k times N·P, and nothing else.
#[test]
fn weights_of_any_size() {
    let ([plain, _], positive) = turned(300, 6, 1.0, 7);
    let weights: Vec<f64> = (0..300).map(|i| f64::from(1 + i % 4)).collect();
    for data in both_kinds(&plain, &positive) {
        let fitted = |k: f64| {
            let weights: Vec<f64> = weights.iter().map(|s| k * s).collect();
            let given = BatchInputs {
                weights: Some(&weights),
                ..BatchInputs::default()
            };
            fit(&data, &given, &BaUbaucParams::default()).unwrap()
        };
        let once = fitted(1.0);
        assert_eq!(once.stop, Stop::Converged);
        // Powers of two change no digit.
        for k in [2f64.powi(-40), 2f64.powi(40)] {
            let found = fitted(k);
            assert_eq!(found.weights, once.weights, "{k:e}");
            assert_eq!(found.newton, once.newton, "{k:e}");
            assert_eq!(found.stop, once.stop, "{k:e}");
            let gaps = [&found, &once].map(|fit| fit.gap.unwrap());
            assert!((gaps[0] - gaps[1]).abs() <= 1e-12, "{k:e}: {gaps:?}");
        }
        for k in [1e-12, 1e10] {
            let found = fitted(k);
            assert_eq!(found.stop, Stop::Converged, "{k:e}");
            assert!((found.objective / once.objective - 1.0).abs() <= 1e-6);
        }
    }
}
