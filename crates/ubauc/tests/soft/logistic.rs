//! β = 0, κ = 1: logistic regression, its intercept −λ.

use ubauc::Error;
use ubauc::algorithm::{self, Algorithm, FitInputs, Logistic, Spec, Stop};
use ubauc::data::dataset::Dataset;
use ubauc::data::scale::Scale;
use ubauc::objective::ubauc::ClassWeight;
use ubauc::solver::ba_ubauc::{BatchInputs, fit};

use super::{Soft, dense, naive, noisy, plain, sparse};

/// Of rows, with sample weights or not.
fn logistic(rows: Vec<Vec<f64>>, positive: Vec<bool>, gamma: f64) -> Soft {
    let mut soft = plain(rows, positive);
    soft.problem.beta = 0.0;
    soft.problem.gamma = gamma;
    soft.softness = 1.0;
    soft
}

/// 20 rows of 3 features that anyone can make again.
fn twenty() -> (Vec<Vec<f64>>, Vec<bool>) {
    let feature =
        |i: usize, j: usize| (((i * 7 + j * 13 + i * i * (j + 1)) % 11) as f64 - 5.0) / 2.0;
    let row = |i: usize| (0..3).map(|j| feature(i, j)).collect();
    let label = |i: usize| ((i * i + 3 * i) % 7 < 3) != (i % 9 == 4);
    ((0..20).map(row).collect(), (0..20).map(label).collect())
}

/// γ, sample weights, divisors; w, b and P.
type Case<'a> = (f64, Option<&'a [f64]>, Option<&'a [f64]>, [f64; 5]);

/// scikit-learn 1.9.1 on the data of `twenty`: LogisticRegression(C=1/(N·γ), tol=1e-14, solver="newton-cholesky"), N = 20
/// or the sum of the sample weights i mod 4; with the divisors r fitted to X/r, coefficients over r.
#[test]
fn agrees_with_scikit_learn() {
    let (rows, positive) = twenty();
    let data = dense(&rows, &positive);
    let sample: Vec<f64> = (0..20).map(|i| f64::from(i % 4)).collect();
    let r = [2.0, 0.5, 3.0];
    let cases: [Case<'_>; 3] = [
        (
            0.05,
            None,
            None,
            [
                0.11597481797061943,
                -0.3921631578907167,
                0.0982567774848658,
                -0.7378804671630222,
                0.5585899146503409,
            ],
        ),
        (
            0.01,
            Some(&sample),
            None,
            [
                0.4407406603040671,
                -0.682095312291623,
                -0.23193631712892568,
                -0.45289900467503164,
                0.5412189508227373,
            ],
        ),
        (
            0.05,
            None,
            Some(&r),
            [
                0.10927165082827404,
                -0.41298868177738035,
                0.05827182314415214,
                -0.744779991070859,
                0.5576532931573901,
            ],
        ),
    ];
    for (gamma, weights, divisors, expected) in cases {
        let params = logistic(rows.clone(), positive.clone(), gamma).params(1e-15);
        let given = BatchInputs {
            weights,
            divisors,
            ..BatchInputs::default()
        };
        let found = fit(&data, &given, &params).unwrap();
        assert!(found.gap.unwrap() < 1e-14 && found.newton < 12, "{found:?}");
        let [w0, w1, w2, b, objective] = expected;
        for (found, expected) in found.weights.iter().zip([w0, w1, w2]) {
            assert!((found - expected).abs() < 1e-8, "{found} {expected}");
        }
        assert!((found.intercept - b).abs() < 1e-8);
        assert!((found.objective - objective).abs() < 1e-12);
        // A score of 0 is on the threshold.
        assert_eq!(found.lambda, [-found.intercept; 2]);
    }
}

/// The algorithm of that name is the corner, with every option.
#[test]
fn the_algorithm_is_the_corner() {
    let (rows, positive) = noisy(300, 6, 0.7, 11);
    let sample: Vec<f64> = (0..300).map(|i| [1.0, 0.0, 2.5, 0.3][i % 4]).collect();
    for class_weight in [ClassWeight::None, ClassWeight::Balanced] {
        for weights in [None, Some(sample.clone())] {
            let mut soft = logistic(rows.clone(), positive.clone(), 1e-2);
            soft.class_weight = class_weight;
            soft.problem.weights = weights;
            let least = naive::minimise(&soft);
            let spec = Spec::Logistic(Logistic {
                gamma: 1e-2,
                class_weight,
                tolerance: 1e-14,
                scale: Scale::None,
                ..Logistic::default()
            });
            assert_eq!(spec.algorithm(), Algorithm::Logistic);
            let inputs = FitInputs {
                weights: soft.problem.weights.as_deref(),
                ..FitInputs::default()
            };
            let found = algorithm::fit(&dense(&rows, &positive), &inputs, &spec).unwrap();
            assert_eq!(found.stop, Stop::Converged);
            for (a, b) in found.model.weights.iter().zip(&least.w) {
                assert!((a - b).abs() < 1e-6, "{a} {b}");
            }
            assert!((found.model.intercept + least.lambda).abs() < 1e-6);
            let objective = found.certificate.objective.unwrap();
            assert!((objective - least.objective).abs() < 1e-12);
            // Its threshold is 0, a probability of one half, and no interval is reported.
            assert_eq!(found.certificate.lambda, None);
            assert_eq!(found.model.threshold, 0.0);
        }
    }
}

/// P of any κ with β = 0 is logistic regression of w/κ with a ridge of γκ, times κ.
#[test]
fn any_softness_is_the_corner_of_other_units() {
    let (rows, positive) = noisy(120, 4, 1.0, 12);
    for kappa in [1e-2, 0.3, 20.0] {
        let mut soft = logistic(rows.clone(), positive.clone(), 1e-2 / kappa);
        soft.softness = kappa;
        let one = logistic(rows.clone(), positive.clone(), 1e-2).fit(1e-13);
        let other = soft.fit(1e-13);
        assert!((other.objective / kappa - one.objective).abs() < 1e-12);
        for (a, b) in other.weights.iter().zip(&one.weights) {
            assert!((a / kappa - b).abs() < 1e-6);
        }
        assert!((other.intercept / kappa - one.intercept).abs() < 1e-6);
    }
}

#[test]
fn weight_zero_is_held_out_and_a_start_is_short() {
    let (rows, positive) = noisy(300, 4, 0.8, 13);
    let data = dense(&rows, &positive);
    let mut all = logistic(rows.clone(), positive.clone(), 1e-2);
    let mut sample = vec![0.0; 300];
    sample[..200].fill(0.7);
    all.problem.weights = Some(sample);
    let alone = logistic(rows[..200].to_vec(), positive[..200].to_vec(), 1e-2).fit(1e-13);
    let held_out = all.fit(1e-13);
    for (a, b) in held_out.weights.iter().zip(&alone.weights) {
        assert!((a - b).abs() < 1e-7);
    }
    // Rows that are held out are scored.
    assert_eq!(held_out.scores.len(), 300);
    for (i, score) in held_out.scores.iter().enumerate() {
        let by_hand: f64 = rows[i]
            .iter()
            .zip(&held_out.weights)
            .map(|(x, w)| x * w)
            .sum();
        assert!((score - by_hand).abs() < 1e-12);
    }
    let given = BatchInputs {
        start: Some(&held_out.weights),
        ..all.given()
    };
    let again = fit(&data, &given, &all.params(1e-9)).unwrap();
    assert_eq!(again.newton, 0, "{:?}", again.trace);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for (n, d, share) in [(20_000, 10, 0.6), (300, 700, 0.1), (18_000, 300, 0.02)] {
        let (rows, positive) = noisy(n, d, share, 14);
        let data = sparse(&rows, &positive);
        for soft in [
            logistic(rows.clone(), positive.clone(), 1e-3),
            plain(rows, positive),
        ] {
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                let fit = || fit(&data, &BatchInputs::default(), &soft.params(1e-8)).unwrap();
                let found = pool.unwrap().install(fit);
                let numbers = found
                    .weights
                    .iter()
                    .chain(&found.lambda)
                    .chain(&found.scores);
                let mut bits: Vec<u64> = numbers.map(|x| x.to_bits()).collect();
                bits.push(found.objective.to_bits());
                bits.push(found.dual.unwrap().to_bits());
                bits
            };
            let one = run(1);
            assert_eq!(run(2), one);
            assert_eq!(run(5), one);
        }
    }
}

#[test]
fn dense_and_sparse_rows_of_many_blocks_agree() {
    for (n, d) in [(9_000, 12), (60, 600), (700, 300)] {
        let (rows, positive) = noisy(n, d, 0.3, 15);
        let soft = logistic(rows.clone(), positive.clone(), 1e-2);
        let by = |data: &Dataset| fit(data, &soft.given(), &soft.params(1e-12)).unwrap();
        let (a, b) = (by(&dense(&rows, &positive)), by(&sparse(&rows, &positive)));
        assert!(a.gap.unwrap() <= 1e-12 && b.gap.unwrap() <= 1e-12);
        assert!((a.objective - b.objective).abs() <= 1e-12 * a.objective);
        for (a, b) in a.weights.iter().zip(&b.weights) {
            assert!((a - b).abs() < 1e-5, "{a} {b}");
        }
    }
}

#[test]
fn singular_and_extreme_rows_end_well() {
    // Two equal columns, which sum with a third to the intercept, and no penalty.
    let row = |i: usize| {
        [1.0, 1.0, 0.0]
            .map(|x| if i.is_multiple_of(2) { x } else { 1.0 - x })
            .to_vec()
    };
    let positive: Vec<bool> = (0..60).map(|i| i % 5 < 2).collect();
    let found = logistic((0..60).map(row).collect(), positive, 0.0).fit(1e-9);
    // The label does not depend on the columns: ln 2 of two fifths.
    let share: f64 = 0.4;
    let entropy = -share * share.ln() - (1.0 - share) * (1.0 - share).ln();
    assert!((found.objective - entropy).abs() < 1e-9, "{found:?}");
    assert_eq!(found.stop, ubauc::solver::ba_ubauc::Stop::Estimated);

    let of = |x: f64| logistic(vec![vec![x], vec![-x]], vec![true, false], 1e-4);
    let one = of(1.0).fit(1e-6);
    let by = |x: f64, divisors: Option<&[f64]>| {
        let data = dense(&[vec![x], vec![-x]], &[true, false]);
        let given = BatchInputs {
            divisors,
            ..BatchInputs::default()
        };
        fit(&data, &given, &of(x).params(1e-6))
    };
    let scaled = by(1e150, Some(&[1e150])).unwrap();
    assert!((scaled.objective - one.objective).abs() < 1e-12);
    // Squares that are no numbers.
    for found in [by(1e300, None), by(1e300, Some(&[1e300]))] {
        assert!(matches!(found, Err(Error::Numerical { .. })), "{found:?}");
    }
}
