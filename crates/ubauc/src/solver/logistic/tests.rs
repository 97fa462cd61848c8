use proptest::prelude::*;

use super::*;
use crate::data::labels::Binary;
use crate::data::rows::{Csr, Dense, Rows};

fn dataset(rows: Rows, positive: Vec<bool>) -> Dataset {
    let n_pos = positive.iter().filter(|&&p| p).count();
    let labels = Binary {
        n_neg: positive.len() - n_pos,
        n_pos,
        positive,
        names: ["no".to_string(), "yes".to_string()],
    };
    Dataset::new(rows, labels, Vec::new()).unwrap()
}

fn dense(values: Vec<f64>, cols: usize) -> Rows {
    Rows::Dense(Dense::new(values.clone(), values.len() / cols, cols).unwrap())
}

fn sparse(values: &[f64], cols: usize) -> Rows {
    let (mut indptr, mut indices, mut kept) = (vec![0], vec![], vec![]);
    for row in values.chunks(cols) {
        for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            indices.push(j as u32);
            kept.push(x);
        }
        indptr.push(indices.len());
    }
    Rows::Csr(Csr::new(indptr, indices, kept, cols).unwrap())
}

/// 20 rows of 3 features that anyone can make again.
fn twenty() -> (Vec<f64>, Vec<bool>) {
    let feature =
        |i: usize, j: usize| (((i * 7 + j * 13 + i * i * (j + 1)) % 11) as f64 - 5.0) / 2.0;
    let values = (0..60).map(|k| feature(k / 3, k % 3)).collect();
    let label = |i: usize| ((i * i + 3 * i) % 7 < 3) != (i % 9 == 4);
    (values, (0..20).map(label).collect())
}

/// Large enough for several blocks; about a third of the entries are zero.
fn many(n: usize, d: usize) -> (Vec<f64>, Vec<bool>) {
    let value = |k: usize| match (k * 7919 + k / 13 * 31) % 1009 {
        low if low < 336 => 0.0,
        high => high as f64 / 500.0 - 1.3,
    };
    let values: Vec<f64> = (0..n * d).map(value).collect();
    let label = |i: usize| values[i * d] - 0.5 * values[i * d + 1] + value(i + 17) > 0.2;
    let positive = (0..n).map(label).collect();
    (values, positive)
}

fn params(gamma: f64) -> LogisticParams {
    LogisticParams {
        gamma,
        tolerance: 1e-12,
        ..LogisticParams::default()
    }
}

/// P by the book.
fn objective(
    data: &Dataset,
    weights: Option<&[f64]>,
    divisors: Option<&[f64]>,
    gamma: f64,
    (w, b): (&[f64], f64),
) -> f64 {
    let n = data.rows().len();
    let (mut loss, mut total) = (0.0, 0.0);
    for i in 0..n {
        let s = weights.map_or(1.0, |weights| weights[i]);
        let y = if data.positive()[i] { 1.0 } else { -1.0 };
        loss += s * (-y * (data.rows().row(i).dot(w) + b)).exp().ln_1p();
        total += s;
    }
    let scaled = |j: usize| w[j] * divisors.map_or(1.0, |r| r[j]);
    let squares: f64 = (0..w.len()).map(|j| scaled(j) * scaled(j)).sum();
    loss / total + gamma / 2.0 * squares
}

/// γ, whether with b, sample weights, divisors; w, b and P.
type Case<'a> = (f64, bool, Option<&'a [f64]>, Option<&'a [f64]>, [f64; 5]);

/// scikit-learn 1.9.1 on the data of `twenty`:
/// LogisticRegression(C=1/(N·γ), tol=1e-14, solver="newton-cholesky", fit_intercept=…), N = 20 or
/// the sum of the sample weights i mod 4; with the divisors r fitted to X/r, coefficients over r.
#[test]
fn agrees_with_scikit_learn() {
    let (values, positive) = twenty();
    let data = dataset(dense(values, 3), positive);
    let sample: Vec<f64> = (0..20).map(|i| f64::from(i % 4)).collect();
    let r = [2.0, 0.5, 3.0];
    let (all, plain) = (None, None);
    let cases: [Case<'_>; 4] = [
        (
            0.05,
            true,
            all,
            plain,
            [
                0.11597481797061943,
                -0.3921631578907167,
                0.0982567774848658,
                -0.7378804671630222,
                0.5585899146503409,
            ],
        ),
        (
            0.05,
            false,
            all,
            plain,
            [
                0.05098774970485463,
                -0.46305592188550826,
                0.21158199245325696,
                0.0,
                0.6089841163232408,
            ],
        ),
        (
            0.01,
            true,
            Some(&sample),
            plain,
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
            true,
            all,
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
    for (gamma, intercept, weights, divisors, expected) in cases {
        let params = LogisticParams {
            intercept,
            ..params(gamma)
        };
        let found = fit(&data, weights, divisors, None, &params).unwrap();
        assert!(found.converged && found.newton < 10, "{found:?}");
        let [w0, w1, w2, b, objective] = expected;
        for (found, expected) in found.weights.iter().zip([w0, w1, w2]) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        assert!((found.intercept - b).abs() < 1e-9);
        assert!((found.objective - objective).abs() < 1e-12);
    }
}

#[test]
fn gradient_and_hessian_are_the_differences() {
    let (values, positive) = twenty();
    let data = dataset(sparse(&values, 3), positive);
    let sample: Vec<f64> = (0..20).map(|i| f64::from(i % 4)).collect();
    let r = [2.0, 0.5, 3.0];
    let params = params(0.3);
    let problem = Logistic::new(&data, Some(&sample), Some(&r), &params);
    let w = vec![0.3, -0.2, 0.7, 0.1];
    let point = problem.at(w.clone());
    let gradient = problem.gradient(&point);
    let hessian = problem.hessian(&point.curvatures);
    let diagonal = problem.diagonal(&point.curvatures);
    let h = 1e-5;
    for j in 0..4 {
        let moved = |by: f64| {
            let mut w = w.clone();
            w[j] += by;
            problem.at(w)
        };
        let (ahead, behind) = (moved(h), moved(-h));
        // The truncation is h²/6 of a third derivative of size 1, the rounding 1e-16/h.
        let slope = (ahead.value - behind.value) / (2.0 * h);
        assert!((gradient[j] - slope).abs() < 1e-9);
        let mut unit = vec![0.0; 4];
        unit[j] = 1.0;
        let column = problem.hessian_times(&point.curvatures, &unit);
        let (ahead, behind) = (problem.gradient(&ahead), problem.gradient(&behind));
        for i in 0..4 {
            let slope = (ahead[i] - behind[i]) / (2.0 * h);
            assert!((hessian[i * 4 + j] - slope).abs() < 1e-9);
            assert!((hessian[i * 4 + j] - column[i]).abs() < 1e-14);
            assert_eq!(hessian[i * 4 + j], hessian[j * 4 + i]);
        }
        assert!((hessian[j * 4 + j] - diagonal[j]).abs() < 1e-14);
    }
}

#[test]
fn both_routes_reach_one_optimum() {
    let (values, positive) = many(3000, 12);
    let data = dataset(sparse(&values, 12), positive);
    let exact = fit(&data, None, None, None, &params(1e-3)).unwrap();
    let problem = Logistic::new(&data, None, None, &params(1e-3));
    let mut point = problem.at(vec![0.0; 13]);
    let first = norm(&problem.gradient(&point));
    for _ in 0..30 {
        let gradient = problem.gradient(&point);
        let direction = conjugate_gradients(&problem, &point, &gradient, first);
        point = descend(&problem, &point, &gradient, &direction).unwrap();
        if max_abs(&gradient) < 1e-12 {
            break;
        }
    }
    assert!(max_abs(&problem.gradient(&point)) < 1e-12);
    for (a, b) in exact.weights.iter().zip(&point.w) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn many_features_take_conjugate_gradients() {
    let (values, positive) = many(40, 600);
    let data = dataset(sparse(&values, 600), positive);
    assert!(!factoring_is_cheaper(&data, 601));
    let found = fit(&data, None, None, None, &params(0.01)).unwrap();
    assert!(found.converged, "{found:?}");
    let at = objective(&data, None, None, 0.01, (&found.weights, found.intercept));
    assert!((at - found.objective).abs() < 1e-13);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for (n, d) in [(20_000, 10), (300, 700)] {
        let (values, positive) = many(n, d);
        let data = dataset(sparse(&values, d), positive);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap()
                .install(|| fit(&data, None, None, None, &params(1e-3)).unwrap())
        };
        let one = run(1);
        assert!(one.converged);
        assert_eq!(run(2), one);
        assert_eq!(run(5), one);
    }
}

#[test]
fn weight_zero_is_held_out_and_a_warm_start_is_short() {
    let (values, positive) = many(300, 4);
    let data = dataset(dense(values.clone(), 4), positive.clone());
    let part = dataset(dense(values[..800].to_vec(), 4), positive[..200].to_vec());
    let mut sample = vec![0.0; 300];
    sample[..200].fill(0.7);
    let r = [0.5, 3.0, 1.0, 1.0];
    let held_out = fit(&data, Some(&sample), Some(&r), None, &params(0.01)).unwrap();
    let alone = fit(&part, None, Some(&r), None, &params(0.01)).unwrap();
    for (a, b) in held_out.weights.iter().zip(&alone.weights) {
        assert!((a - b).abs() < 1e-10);
    }
    let mut start = alone.weights.clone();
    start.push(alone.intercept);
    let again = fit(&part, None, Some(&r), Some(&start), &params(0.01)).unwrap();
    assert!(again.newton <= 1, "{again:?}");
}

#[test]
fn singular_and_separable_data_end_well() {
    // Two equal columns, which sum with a third to the intercept, and no penalty.
    let values: Vec<f64> = (0..60)
        .flat_map(|i| [1.0, 1.0, 0.0].map(|x| if i % 2 == 0 { x } else { 1.0 - x }))
        .collect();
    let positive = (0..60).map(|i| i % 5 < 2).collect();
    let data = dataset(dense(values, 3), positive);
    let found = fit(&data, None, None, None, &params(0.0)).unwrap();
    assert!(found.gradient_norm < 1e-10, "{found:?}");

    let separable = dataset(dense(vec![-1.0, 1.0], 1), vec![false, true]);
    let found = fit(&separable, None, None, None, &params(0.0)).unwrap();
    assert!(
        found.objective < 1e-10 && found.weights[0].is_finite(),
        "{found:?}"
    );
}

#[test]
fn wrong_input_is_refused() {
    let (values, positive) = twenty();
    let data = dataset(dense(values, 3), positive.clone());
    let p = LogisticParams::default();
    let only_negative: Vec<f64> = positive.iter().map(|&p| f64::from(u8::from(!p))).collect();
    let one_class = fit(&data, Some(&only_negative), None, None, &p);
    assert!(matches!(one_class, Err(Error::OneClass { class, n: 14 }) if class == "no"));
    assert!(fit(&data, Some(&[1.0]), None, None, &p).is_err());
    for r in [&[1.0][..], &[], &[1.0, 0.0, 1.0], &[1.0, f64::NAN, 1.0]] {
        assert!(fit(&data, None, Some(r), None, &p).is_err());
    }
    for start in [&[0.0; 3][..], &[f64::NAN; 4], &[1e308; 4]] {
        assert!(fit(&data, None, None, Some(start), &p).is_err());
    }
    for gamma in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(fit(&data, None, None, None, &params(gamma)).is_err());
    }
    let huge = dataset(dense(vec![1e300, -1e300], 1), vec![true, false]);
    let found = fit(&huge, None, None, None, &p);
    assert!(matches!(found, Err(Error::Parameter { .. })), "{found:?}");
    let scaled = fit(&huge, None, Some(&[1e300]), None, &p).unwrap();
    assert!(scaled.converged, "{scaled:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn no_lower_than_long_gradient_descent(
        values in prop::collection::vec(-2.0..2.0f64, 24),
        sample in prop::collection::vec(0.1..2.0f64, 12),
        gamma in 0.02..1.0f64,
    ) {
        let positive: Vec<bool> = (0..12).map(|i| i % 3 == 0).collect();
        let data = dataset(dense(values, 2), positive);
        let r = [0.5, 2.0];
        let found = fit(&data, Some(&sample), Some(&r), None, &params(gamma)).unwrap();
        prop_assert!(found.converged);
        let value = |w: &[f64; 3]| objective(&data, Some(&sample), Some(&r), gamma, (&w[..2], w[2]));
        prop_assert!((value(&[found.weights[0], found.weights[1], found.intercept]) - found.objective).abs() < 1e-13);
        // Central differences and a step below 2/L: the features are below 2, γr² below 4.
        let mut w = [0.0; 3];
        for _ in 0..20_000 {
            let slope = |j: usize| {
                let (mut ahead, mut behind) = (w, w);
                ahead[j] += 1e-5;
                behind[j] -= 1e-5;
                (value(&ahead) - value(&behind)) / 2e-5
            };
            let slopes = [slope(0), slope(1), slope(2)];
            for (w, slope) in w.iter_mut().zip(slopes) {
                *w -= 0.2 * slope;
            }
        }
        prop_assert!(found.objective <= value(&w) + 1e-14);
        for (a, b) in found.weights.iter().chain([&found.intercept]).zip(w) {
            prop_assert!((a - b).abs() < 1e-6, "{} {}", a, b);
        }
    }
}
