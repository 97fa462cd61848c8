//! The linear SVM: against an interior-point solver, by hand, and what its certificate says.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::Error;
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Binary;
use ubauc::data::rows::{Csr, Dense, Rows};
use ubauc::data::scale::{Origin, Scale};
use ubauc::solver::ba_ubauc::{self, BatchInputs};
use ubauc::solver::linear_svm::{SvmFit, SvmParams, fit};

use crate::read::real_data;

fn dataset(rows: Rows, positive: Vec<bool>) -> Dataset {
    let n_pos = positive.iter().filter(|p| **p).count();
    let labels = Binary {
        n_neg: positive.len() - n_pos,
        n_pos,
        positive,
        names: ["-1".into(), "1".into()],
    };
    Dataset::new(rows, labels, Vec::new()).unwrap()
}

fn dense(rows: &[Vec<f64>], positive: &[bool]) -> Dataset {
    let values = Dense::new(rows.concat(), rows.len(), rows[0].len()).unwrap();
    dataset(Rows::Dense(values), positive.to_vec())
}

fn sign(positive: bool) -> f64 {
    if positive { 1.0 } else { -1.0 }
}

/// P by its definition.
fn objective(rows: &[Vec<f64>], positive: &[bool], c: f64, w: &[f64], b: f64) -> f64 {
    let square = w.iter().map(|w| w * w).sum::<f64>() + b * b;
    let loss = |(x, &p): (&Vec<f64>, &bool)| {
        let score: f64 = x.iter().zip(w).map(|(x, w)| x * w).sum();
        (1.0 - sign(p) * (score + b)).max(0.0)
    };
    square / 2.0 + c * rows.iter().zip(positive).map(loss).sum::<f64>()
}

/// w, b of the quadratic program in (w, b, t): ½(‖w‖² + b²) + CΣt_i, t_i ≥ 1 − y_i(w·x_i + b), t_i ≥ 0.
fn by_clarabel(rows: &[Vec<f64>], positive: &[bool], c: f64) -> (Vec<f64>, f64) {
    let (n, d) = (rows.len(), rows[0].len());
    let (mut at, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut put = |row, column, value| {
        at.push(row);
        columns.push(column);
        values.push(value);
    };
    let mut right = vec![0.0; 2 * n];
    for (i, (x, &p)) in rows.iter().zip(positive).enumerate() {
        for (j, x) in x.iter().enumerate() {
            put(i, j, -sign(p) * x);
        }
        put(i, d, -sign(p));
        put(i, d + 1 + i, -1.0);
        put(n + i, d + 1 + i, -1.0);
        right[i] = -1.0;
    }
    let m = d + 1 + n;
    let diagonal: Vec<usize> = (0..=d).collect();
    let quadratic =
        CscMatrix::new_from_triplets(m, m, diagonal.clone(), diagonal, vec![1.0; d + 1]);
    let constraints = CscMatrix::new_from_triplets(2 * n, m, at, columns, values);
    let mut linear = vec![0.0; m];
    linear[d + 1..].fill(c);
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-10)
        .tol_gap_rel(1e-10)
        .tol_feas(1e-10)
        .build()
        .unwrap();
    let cones = [SupportedConeT::NonnegativeConeT(2 * n)];
    let mut solver =
        DefaultSolver::new(&quadratic, &linear, &constraints, &right, &cones, settings).unwrap();
    solver.solve();
    assert_eq!(solver.solution.status, SolverStatus::Solved);
    let x = &solver.solution.x;
    (x[..d].to_vec(), x[d])
}

/// Rows with zeros and copies, some of them of the other class.
fn random_problem(random: &mut Pcg64) -> (Vec<Vec<f64>>, Vec<bool>) {
    let (n, d) = (random.random_range(2..50), random.random_range(1..6));
    let shift = random.random_range(0.0..2.0);
    let mut positive: Vec<bool> = (0..n).map(|_| random.random_bool(0.4)).collect();
    (positive[0], positive[1]) = (true, false);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for &p in &positive {
        let kind = random.random_range(0..10);
        rows.push(match rows.last() {
            Some(last) if kind == 0 => last.clone(),
            _ if kind == 1 => vec![0.0; d],
            _ => (0..d)
                .map(|_| random.random_range(-1.0..1.0) + shift * sign(p))
                .collect(),
        });
    }
    (rows, positive)
}

fn exactly(c: f64) -> SvmParams {
    SvmParams {
        c,
        tolerance: 1e-8,
        max_passes: 1_000_000,
        ..Default::default()
    }
}

fn check_certificate(found: &SvmFit) {
    for point in &found.trace {
        let rounding = 1e-12 * point.objective;
        assert!(point.dual <= point.objective + rounding, "{point:?}");
    }
    for pair in found.trace.windows(2) {
        assert!(pair[0].objective >= pair[1].objective && pair[0].dual <= pair[1].dual);
        assert!(pair[0].pass < pair[1].pass);
    }
    let last = found.trace.last().unwrap();
    assert_eq!((last.objective, last.dual), (found.objective, found.dual));
    assert_eq!(last.pass, found.passes);
    let gap = (found.objective - found.dual) / found.objective;
    assert_eq!(found.gap, gap.max(0.0)); // rounding may cross the two
}

#[test]
fn agrees_with_an_interior_point_solver() {
    for seed in 0..150 {
        let mut random = Pcg64::seed_from_u64(seed);
        let (rows, positive) = random_problem(&mut random);
        let c = 10_f64.powf(random.random_range(-3.0..2.0));
        let found = fit(&dense(&rows, &positive), None, &exactly(c)).unwrap();
        assert!(found.converged, "seed {seed}: {}", found.gap);
        check_certificate(&found);
        let at = |w: &[f64], b| objective(&rows, &positive, c, w, b);
        let ours = at(&found.weights, found.intercept);
        assert!((ours / found.objective - 1.0).abs() < 1e-12, "seed {seed}");
        let (w, b) = by_clarabel(&rows, &positive, c);
        assert!((ours / at(&w, b) - 1.0).abs() < 1e-6, "seed {seed}: {ours}");
        // P is strongly convex with constant 1: ½‖w − w'‖² ≤ P(w) − min P, for both.
        let apart: f64 = found
            .weights
            .iter()
            .zip(&w)
            .map(|(a, b)| (a - b).powi(2))
            .sum();
        let apart = (apart + (found.intercept - b).powi(2)).sqrt();
        assert!(apart < 2e-3 * ours.sqrt(), "seed {seed}: {apart}");
    }
}

#[test]
fn two_points_by_hand() {
    let data = dense(&[vec![1.0], vec![-1.0]], &[true, false]);
    // By symmetry b = 0, and w minimises ½w² + 2C[1 − w]₊: w = min(1, 2C).
    for (c, w) in [(0.1, 0.2), (0.25, 0.5), (0.5, 1.0), (7.0, 1.0)] {
        let found = fit(&data, None, &exactly(c)).unwrap();
        let objective = 0.5 * w * w + 2.0 * c * (1.0 - w);
        assert!(
            (found.objective - objective).abs() < 1e-7 * objective,
            "{c}: {found:?}"
        );
        assert!(
            (found.weights[0] - w).abs() < 1e-3 && found.intercept.abs() < 1e-3,
            "{found:?}"
        );
        check_certificate(&found);
    }
    // Features divided by 2 are those of points at ±½: the weight of ½ is returned over 2.
    let half = dense(&[vec![0.5], vec![-0.5]], &[true, false]);
    let divided = fit(&data, Some(&[2.0]), &exactly(1.0)).unwrap();
    let half = fit(&half, None, &exactly(1.0)).unwrap();
    assert_eq!(divided.objective, half.objective);
    assert_eq!(divided.weights[0] * 2.0, half.weights[0]);
}

#[test]
fn rows_of_zeros_move_the_intercept_only() {
    // ½b² + C(2[1 − b]₊ + [1 + b]₊), least at b = min(1, C): the slope is b − C below 1.
    let data = dense(&[vec![0.0], vec![0.0], vec![0.0]], &[true, true, false]);
    for (c, b) in [(0.25, 0.25), (1.0, 1.0), (5.0, 1.0)] {
        let found = fit(&data, None, &exactly(c)).unwrap();
        assert!(found.converged);
        let least = 0.5 * b * b + c * (2.0 * (1.0 - b) + 1.0 + b);
        assert!(
            (found.objective - least).abs() < 1e-7 * least,
            "{c}: {found:?}"
        );
        assert_eq!(found.weights, [0.0]);
    }
}

#[test]
fn sparse_rows_are_fitted_alike_and_again_the_same() {
    let mut random = Pcg64::seed_from_u64(77);
    let (rows, positive) = random_problem(&mut random);
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for x in &rows {
        for (j, &x) in x.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            indices.push(j as u32);
            values.push(x);
        }
        indptr.push(indices.len());
    }
    let csr = Csr::new(indptr, indices, values, rows[0].len()).unwrap();
    let sparse = dataset(Rows::Csr(csr), positive.clone());
    let a = fit(&dense(&rows, &positive), None, &exactly(1.0)).unwrap();
    let b = fit(&sparse, None, &exactly(1.0)).unwrap();
    assert!((a.objective / b.objective - 1.0).abs() < 1e-7);
    assert_eq!(fit(&sparse, None, &exactly(1.0)).unwrap(), b);
}

#[test]
fn a_few_passes_are_no_error_and_no_size_is_a_panic() {
    let mut random = Pcg64::seed_from_u64(2);
    let (rows, positive) = random_problem(&mut random);
    let params = SvmParams {
        c: 1e4,
        tolerance: 1e-12,
        max_passes: 3,
        seed: 1,
    };
    let found = fit(&dense(&rows, &positive), None, &params).unwrap();
    assert_eq!((found.passes, found.converged), (3, false));
    check_certificate(&found);
    for size in [1e-300, 1e-160, 1e100, 1e150, 1e200, 1e300] {
        let sized: Vec<Vec<f64>> = rows
            .iter()
            .map(|x| x.iter().map(|x| size * x).collect())
            .collect();
        for c in [1e-300, 1.0, 1e200, 1e300] {
            let params = SvmParams { c, ..params };
            match fit(&dense(&sized, &positive), None, &params) {
                Ok(found) => check_certificate(&found),
                Err(Error::Numerical { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn what_has_no_meaning_is_refused_by_name() {
    let data = dense(&[vec![1.0], vec![-1.0]], &[true, false]);
    let refused = |params: SvmParams| match fit(&data, None, &params) {
        Err(Error::Parameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let good = SvmParams::default();
    for x in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(SvmParams { c: x, ..good }), "C");
        assert_eq!(
            refused(SvmParams {
                tolerance: x,
                ..good
            }),
            "tolerance"
        );
    }
    assert_eq!(
        refused(SvmParams {
            max_passes: 0,
            ..good
        }),
        "passes"
    );
    assert!(matches!(
        fit(&data, Some(&[1.0, 1.0]), &good),
        Err(Error::Length { .. })
    ));
}

/// Two thirds of a real set to learn from, one third to be judged by.
pub(super) fn held_out(test: &str, name: &str) -> Option<(Dataset, Dataset)> {
    let path = real_data(test)?.join(name);
    let examples = ubauc::read::read(&path, &<_>::default()).unwrap();
    let data = examples.binary(&<_>::default()).unwrap();
    let train: Vec<bool> = (0..data.rows().len()).map(|i| i % 3 != 1).collect();
    let rest: Vec<bool> = train.iter().map(|chosen| !chosen).collect();
    Some((data.part(&train).unwrap(), data.part(&rest).unwrap()))
}

pub(super) fn test_auc(w: &[f64], test: &Dataset) -> f64 {
    let rows = test.rows();
    let scores: Vec<f64> = (0..rows.len()).map(|i| rows.row(i).dot(w)).collect();
    ubauc::metrics::auc(&scores, test.positive()).unwrap().auc
}

pub(super) fn logistic_auc(train: &Dataset, divisors: &[f64], test: &Dataset) -> f64 {
    let given = BatchInputs {
        divisors: Some(divisors),
        ..Default::default()
    };
    let params = ubauc::algorithm::Logistic::default().params();
    let found = ba_ubauc::fit(train, &given, &params).unwrap();
    test_auc(&found.weights, test)
}

#[test]
fn real_data_are_learnt() {
    for name in [
        "diabetes/all.svm.zst",
        "german/all.svm.zst",
        "a9a/train.svm.zst",
    ] {
        let Some((train, test)) = held_out("rivals::svm::real_data_are_learnt", name) else {
            return;
        };
        let divisors = Scale::MaxAbs
            .divisors(train.rows(), None, Origin::Zero)
            .unwrap();
        let params = SvmParams {
            c: 0.1,
            tolerance: 1e-5,
            ..Default::default()
        };
        let found = fit(&train, Some(&divisors), &params).unwrap();
        assert!(found.converged, "{name}: {}", found.gap);
        check_certificate(&found);
        let auc = test_auc(&found.weights, &test);
        let reference = logistic_auc(&train, &divisors, &test);
        println!(
            "{name}: {auc:.4}, logistic {reference:.4}, {} passes",
            found.passes
        );
        assert!(auc > reference - 0.02, "{name}: {auc} {reference}");
    }
}
