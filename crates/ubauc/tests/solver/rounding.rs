//! Proofs that rounding would make false: they are not claimed.

use ubauc::data::dataset::Dataset;
use ubauc::data::rows::{Dense, Rows};
use ubauc::solver::ba_ubauc::{BaUbaucParams, Fit, Given, Stop, fit};

use super::binary;
use super::far::Noise;

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
        let least = fit(&dense, &Given::default(), &exact).unwrap();
        assert_eq!(least.stop, Stop::Converged);
        let found = fit(&sparse, &Given::default(), &params).unwrap();
        let what = format!("{n} × {d}, {offset:e}");
        assert_true(&found, least.objective, params.tolerance, &what);
    }
}

/// One feature far from 0, and all turned so that every feature is: w turns with them, and the minimum stays. Without an
/// intercept no mean is taken off.
#[test]
fn without_an_intercept() {
    for (n, d) in [(80, 3), (300, 6), (1000, 12), (200, 300)] {
        for offset in [1.0, 1e3, 1e5, 1e6, 1e7] {
            for (seed, gamma) in [(1, 1e-2), (2, 1e-4), (3, 1e-4), (4, 1e-7)] {
                let mut noise = Noise(seed);
                let mut plain: Vec<f64> = (0..n * d).map(|_| noise.next()).collect();
                plain.chunks_exact_mut(d).for_each(|row| row[0] += offset);
                let positive: Vec<bool> = plain
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
                let turned: Vec<f64> = plain.chunks_exact(d).flat_map(turn).collect();
                let params = BaUbaucParams {
                    gamma,
                    ..BaUbaucParams::default()
                };
                let exact = BaUbaucParams {
                    tolerance: 1e-8,
                    ..params
                };
                let [simple, _] = both_kinds(&plain, &positive);
                let least = fit(&simple, &Given::default(), &exact).unwrap();
                assert!(least.gap.unwrap() <= 2e-8);
                for data in both_kinds(&turned, &positive) {
                    let found = fit(&data, &Given::default(), &params).unwrap();
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
