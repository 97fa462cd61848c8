//! The certified minimum: equal to the oracle's, proved, and the same however it is computed.

use ubauc::Error;
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Choice;
use ubauc::objective::ubauc::{ClassWeight, LeastSquares};
use ubauc::read::{ReadOptions, read};
use ubauc::solver::ba_ubauc::path::Path;
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, Fit, Stop, fit};
use ubauc::solver::shards::Weighting;

use super::{binary, dataset, least_squares, sparse_dataset};
use crate::oracle::{self, Problem, kkt_residual, objective, random_problem, solve};
use crate::read::real_data;

pub(super) fn params(problem: &Problem, tolerance: f64) -> BaUbaucParams {
    BaUbaucParams {
        beta: problem.beta,
        gamma: problem.gamma,
        least_squares: least_squares(problem),
        intercept: problem.intercept,
        tolerance,
        ..Default::default()
    }
}

pub(super) fn given(problem: &Problem) -> BatchInputs<'_> {
    BatchInputs {
        weights: problem.weights.as_deref(),
        ..Default::default()
    }
}

fn weighting(least_squares: LeastSquares, intercept: bool) -> Weighting {
    Weighting {
        class_weight: ClassWeight::None,
        least_squares,
        intercept,
    }
}

fn minimise(problem: &Problem, tolerance: f64) -> Fit {
    let data = dataset(problem);
    fit(&data, &given(problem), &params(problem, tolerance)).unwrap()
}

/// λ of the oracle is a threshold of w·x + b, ours of w·x.
fn threshold(fit: &Fit) -> f64 {
    0.5 * (fit.lambda[0] + fit.lambda[1]) + fit.intercept
}

#[test]
fn the_objective_is_the_oracles_and_the_dual_is_below_it() {
    let mut compared = 0;
    for seed in 0..300 {
        let problem = random_problem(seed);
        let found = minimise(&problem, 1e-9);
        let value = objective(&problem, &found.weights, found.intercept, threshold(&found));
        // What is reported is the objective by its definition.
        let slack = 1e-9 * (1.0 + problem.beta);
        assert!(
            (found.objective - value).abs() <= 1e-9 * value + 1e-12,
            "seed {seed}: {found:?}"
        );
        if let Some(dual) = found.dual {
            assert!(dual <= found.objective, "seed {seed}");
            assert!(found.gap.unwrap() >= 0.0);
        }
        let Some(reference) = solve(&problem) else {
            assert_eq!(found.stop, Stop::Converged, "seed {seed}");
            continue;
        };
        compared += 1;
        let difference = (found.objective - reference.objective).abs();
        let allowed = 1e-7 * reference.objective + slack;
        assert!(
            difference <= allowed,
            "seed {seed}: {} {:?}",
            found.objective,
            reference
        );
        if let Some(dual) = found.dual {
            assert!(
                dual <= reference.objective + slack,
                "seed {seed}: {dual} {reference:?}"
            );
        }
    }
    assert!(compared >= 200, "{compared} compared");
}

#[test]
fn a_subgradient_vanishes_at_the_minimum() {
    for seed in 300..400 {
        let problem = random_problem(seed);
        let found = minimise(&problem, 1e-12);
        let residual = kkt_residual(&problem, &found.weights, found.intercept, threshold(&found));
        // A gap of ε leaves a subgradient of about √ε.
        let allowed = 1e-4;
        assert!(
            residual <= allowed,
            "seed {seed}: {residual} {:?} {:?}",
            found.stop,
            found.gap
        );
    }
}

#[test]
fn nearly_every_random_problem_is_proved_to_nine_digits() {
    let mut uncertified = Vec::new();
    for seed in 0..300 {
        let problem = random_problem(seed);
        if problem.gamma > 0.0 && minimise(&problem, 1e-9).stop != Stop::Converged {
            uncertified.push(seed);
        }
    }
    assert!(uncertified.len() <= 3, "{uncertified:?}");
}

#[test]
fn sparse_rows_and_another_order_change_nothing_that_counts() {
    for seed in 400..440 {
        let problem = random_problem(seed);
        let dense = minimise(&problem, 1e-10);
        let data = sparse_dataset(&problem);
        let sparse = fit(&data, &given(&problem), &params(&problem, 1e-10)).unwrap();
        let mut turned = problem.clone();
        turned.rows.reverse();
        turned.positive.reverse();
        turned.weights.iter_mut().for_each(|s| s.reverse());
        let turned = minimise(&turned, 1e-10);
        for other in [&sparse, &turned] {
            let allowed = 1e-9 * dense.objective + 1e-12;
            assert!(
                (dense.objective - other.objective).abs() <= allowed,
                "seed {seed}"
            );
        }
    }
}

#[test]
fn divisors_only_change_the_regulariser() {
    // γ = 0 and full rank: scaling a feature must not change the optimum at all.
    let problem = Problem {
        gamma: 0.0,
        ..random_problem(7)
    };
    let problem = Problem {
        weights: None,
        ..problem
    };
    let (n, d) = (40, 3);
    let entry = |i: usize, j: usize| ((i * i * (j + 3) + 7 * i * j) % 23) as f64 - 11.0;
    let rows = (0..n)
        .map(|i| (0..d).map(|j| entry(i, j)).collect())
        .collect();
    let positive = (0..n).map(|i| i % 3 == 0).collect();
    let problem = Problem {
        rows,
        positive,
        beta: 0.7,
        ..problem
    };
    let data = dataset(&problem);
    let plain = fit(&data, &given(&problem), &params(&problem, 1e-10)).unwrap();
    let divisors = [10.0, 0.1, 3.0];
    let scaled = BatchInputs {
        divisors: Some(&divisors),
        ..given(&problem)
    };
    let scaled = fit(&data, &scaled, &params(&problem, 1e-10)).unwrap();
    assert_eq!(plain.stop, Stop::Converged);
    assert!((plain.objective - scaled.objective).abs() <= 1e-9 * plain.objective);
    for (a, b) in plain.weights.iter().zip(&scaled.weights) {
        assert!((a - b).abs() <= 1e-5 * (1.0 + a.abs()), "{a} {b}");
    }
}

#[test]
fn without_gamma_and_rank_there_is_a_minimum_but_no_proof() {
    // Two equal features and an empty one.
    let x = |i: usize| ((i * 37) % 11) as f64 - 5.0;
    let rows = (0..30).map(|i| vec![x(i), x(i), 0.0]).collect();
    let positive = (0..30).map(|i| i % 4 == 0 || x(i) > 3.0).collect();
    let problem = Problem {
        rows,
        positive,
        weights: None,
        beta: 0.5,
        gamma: 0.0,
        least_squares: oracle::LeastSquares::Plain,
        intercept: false,
    };
    let found = minimise(&problem, 1e-9);
    assert!(found.dual.is_none() && found.gap.is_none());
    assert_ne!(found.stop, Stop::Converged);
    let one = Problem {
        rows: problem.rows.iter().map(|row| vec![row[0]]).collect(),
        ..problem.clone()
    };
    let one = minimise(&one, 1e-9);
    assert_eq!(one.stop, Stop::Converged);
    assert!((found.objective - one.objective).abs() <= 1e-6 * one.objective);
}

#[test]
fn bad_parameters_are_refused_by_name() {
    let data = dataset(&random_problem(1));
    let refused = |change: &dyn Fn(&mut BaUbaucParams)| {
        let mut params = BaUbaucParams::default();
        change(&mut params);
        match fit(&data, &BatchInputs::default(), &params) {
            Err(Error::Parameter { name, .. }) => name,
            other => panic!("{other:?}"),
        }
    };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(&|p| p.beta = bad), "beta");
    }
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(&|p| p.gamma = bad), "gamma");
    }
    for bad in [0.0, -1.0, 1.0, f64::NAN] {
        assert_eq!(refused(&|p| p.tolerance = bad), "tolerance");
    }
    let weights = vec![-1.0; data.rows().len()];
    let given = BatchInputs {
        weights: Some(&weights),
        ..Default::default()
    };
    let answer = fit(&data, &given, &BaUbaucParams::default());
    assert!(matches!(answer, Err(Error::NotFinite { row: 0, .. })));
    let only: Vec<f64> = data
        .positive()
        .iter()
        .map(|&p| f64::from(u8::from(p)))
        .collect();
    let given = BatchInputs {
        weights: Some(&only),
        ..Default::default()
    };
    let answer = fit(&data, &given, &BaUbaucParams::default());
    assert!(matches!(answer, Err(Error::OneClass { .. })));
}

/// A data set large enough for several shards.
pub(super) fn large() -> Dataset {
    use ubauc::data::generate::{GenerateParams, Generator};
    use ubauc::data::rows::{Csr, Rows};
    let params = GenerateParams {
        rows: 30_000,
        dim: 40,
        density: 0.2,
        ..Default::default()
    };
    let mut generator = Generator::new(&params).unwrap();
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut positive = Vec::new();
    while let Some(row) = generator.next_row() {
        positive.push(row.positive);
        indices.extend(row.entries.iter().map(|e| e.0));
        values.extend(row.entries.iter().map(|e| e.1));
        indptr.push(indices.len());
    }
    let rows = Rows::Csr(Csr::new(indptr, indices, values, 40).unwrap());
    Dataset::new(rows, binary(&positive), Vec::new()).unwrap()
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let data = large();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| fit(&data, &BatchInputs::default(), &BaUbaucParams::default()).unwrap())
    };
    let one = with(1);
    assert_eq!(one.stop, Stop::Converged);
    for threads in [2, 3, 8] {
        let other = with(threads);
        assert_eq!(one.weights, other.weights);
        assert_eq!(
            (one.objective, one.dual, one.lambda),
            (other.objective, other.dual, other.lambda)
        );
    }
}

#[test]
fn every_step_has_a_valid_bound() {
    let data = large();
    let found = fit(
        &data,
        &BatchInputs::default(),
        &BaUbaucParams {
            tolerance: 1e-11,
            ..Default::default()
        },
    )
    .unwrap();
    for point in &found.trace {
        let dual = point.objective * (1.0 - point.gap.unwrap());
        assert!(dual <= found.objective * (1.0 + 1e-12), "{point:?}");
        assert!(
            point.objective >= found.objective * (1.0 - 1e-12),
            "{point:?}"
        );
    }
}

/// Set, objective, λ, ‖w‖ at β = .5, γ = 1e-4, each certified to 1e-10 by another program.
const OPTIMA: [(&str, f64, f64, f64); 6] = [
    ("a9a/train", 0.14246555201, -0.218200, 1.076837),
    ("w7a/train", 0.09268416853, 0.015880, 3.890989),
    ("splice/train", 0.16545273338, -0.071313, 0.450640),
    ("diabetes/all", 0.20772560688, 0.179341, 0.920242),
    ("german/all_raw", 0.19957991781, -0.297689, 0.350471),
    ("ijcnn1/train", 0.07639888045, -0.558618, 2.773137),
];

#[test]
fn real_data_have_the_optima_that_are_known() {
    let Some(dir) = real_data("real_data_have_the_optima_that_are_known") else {
        return;
    };
    for (set, optimum, lambda, norm) in OPTIMA {
        let path = dir.join(format!("{set}.svm.zst"));
        let data = read(&path, &ReadOptions::default())
            .unwrap()
            .binary(&Choice::Larger)
            .unwrap();
        let params = BaUbaucParams {
            tolerance: 1e-10,
            intercept: false,
            ..Default::default()
        };
        let found = fit(&data, &BatchInputs::default(), &params).unwrap();
        assert_eq!(found.stop, Stop::Converged, "{set}");
        assert!(
            (found.objective - optimum).abs() <= 1e-10,
            "{set}: {}",
            found.objective
        );
        let middle = 0.5 * (found.lambda[0] + found.lambda[1]);
        assert!((middle - lambda).abs() <= 2e-6, "{set}: {middle}");
        let got = found.weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        assert!((got - norm).abs() <= 2e-6, "{set}: {got}");
    }
}

#[test]
fn a_path_gives_the_minima_of_single_fits_in_fewer_steps() {
    let data = large();
    let mut path = Path::new(
        &data,
        &BatchInputs::default(),
        weighting(LeastSquares::Balanced, true),
    )
    .unwrap();
    let (mut warm, mut cold) = (0, 0);
    for beta in [0.1, 0.3, 1.0, 3.0] {
        for gamma in [1e-2, 1e-3, 1e-4] {
            let params = BaUbaucParams {
                beta,
                gamma,
                least_squares: LeastSquares::Balanced,
                intercept: true,
                tolerance: 1e-8,
                ..Default::default()
            };
            let one = path.fit(&params).unwrap();
            let alone = fit(&data, &BatchInputs::default(), &params).unwrap();
            assert_eq!(one.stop, Stop::Converged);
            assert!((one.objective - alone.objective).abs() <= 1e-8 * alone.objective);
            warm += one.newton;
            cold += alone.newton;
        }
    }
    assert!(warm < cold, "{warm} {cold}");
}

#[test]
fn examples_without_features_are_all_tied() {
    let problem = Problem {
        rows: vec![vec![0.0]; 9],
        ..random_problem(3)
    };
    let positive = (0..9).map(|i| i < 2).collect();
    let problem = Problem {
        positive,
        weights: None,
        gamma: 1e-3,
        ..problem
    };
    let found = minimise(&problem, 1e-9);
    assert_eq!(
        (found.stop, found.weights.as_slice()),
        (Stop::Converged, [0.0].as_slice())
    );
    assert_eq!(found.lambda, [0.0, 0.0]);
}

#[test]
fn a_coarse_fit_can_always_be_made_finer() {
    let data = large();
    let weights: Vec<f64> = (0..data.rows().len())
        .map(|i| f64::from(u8::from(i % 5 < 3)))
        .collect();
    let given = BatchInputs {
        weights: Some(&weights),
        ..Default::default()
    };
    let mut path = Path::new(&data, &given, weighting(LeastSquares::Plain, false)).unwrap();
    for beta in [0.02, 0.1, 0.5, 0.05, 2.0] {
        for gamma in [1e-1, 1e-5, 1e-3] {
            for tolerance in [1e-2, 1e-3, 1e-6, 1e-9] {
                let params = BaUbaucParams {
                    beta,
                    gamma,
                    tolerance,
                    ..Default::default()
                };
                let found = path.fit(&params).unwrap();
                assert_eq!(found.stop, Stop::Converged, "{params:?}: {:?}", found.gap);
            }
        }
    }
}

/// Two features, one of them shifted far away; labels follow a line with noise.
fn shifted(offset: f64) -> Problem {
    let noise = |i: usize, k: usize| ((i * (7919 + 104_729 * k)) % 1009) as f64 / 504.5 - 1.0;
    let rows: Vec<Vec<f64>> = (0..1000)
        .map(|i| vec![noise(i, 0), noise(i, 1) + offset])
        .collect();
    let line = |i: usize| noise(i, 0) - noise(i, 1) + 0.7 * noise(i, 2) > 0.8;
    Problem {
        positive: (0..1000).map(line).collect(),
        rows,
        weights: None,
        beta: 0.5,
        gamma: 1e-4,
        least_squares: oracle::LeastSquares::Plain,
        intercept: true,
    }
}

#[test]
fn an_intercept_takes_up_any_offset_of_a_feature() {
    let plain = minimise(&shifted(0.0), 1e-9);
    assert_eq!(plain.stop, Stop::Converged);
    for offset in [1e3, 1e5, 1e7, 1e9] {
        let problem = shifted(offset);
        let found = minimise(&problem, 1e-7);
        assert_eq!(found.stop, Stop::Converged, "{offset}: {:?}", found.gap);
        // A shift by 10^k leaves 16 − k digits of the feature itself.
        let allowed = 1e-7 + 1e-15 * offset;
        let difference = (found.objective - plain.objective).abs();
        assert!(
            difference <= allowed * plain.objective,
            "{offset}: {difference}"
        );
        assert!(
            found.dual.unwrap() <= plain.objective * (1.0 + allowed),
            "{offset}"
        );
        // Sparse rows keep their mean; then nothing false may be proved.
        let data = sparse_dataset(&problem);
        let sparse = fit(&data, &given(&problem), &params(&problem, 1e-7));
        assert!(offset > 1e8 || sparse.is_ok());
        if let Some(dual) = sparse.ok().and_then(|sparse| sparse.dual) {
            assert!(
                dual <= plain.objective * (1.0 + allowed),
                "{offset}: {dual}"
            );
        }
    }
}

/// The same problem with so many empty features that no matrix is formed.
fn wide(problem: &Problem) -> Dataset {
    let rows = problem.rows.iter().map(|row| {
        let mut wide = row.clone();
        wide.resize(5000, 0.0);
        wide
    });
    sparse_dataset(&Problem {
        rows: rows.collect(),
        ..problem.clone()
    })
}

#[test]
fn without_a_matrix_the_minimum_is_the_same() {
    let mut uncertified = Vec::new();
    for seed in 500..620 {
        let problem = random_problem(seed);
        // Conjugate gradients on features of all scales are a matter of patience, not of this test.
        let largest = problem.feature_sizes().iter().copied().fold(0.0, f64::max);
        if problem.gamma < 1e-6 || largest > 1e3 {
            continue;
        }
        let params = params(&problem, 1e-8);
        let factored = minimise(&problem, 1e-8);
        let free = fit(&wide(&problem), &given(&problem), &params).unwrap();
        if free.stop != Stop::Converged {
            uncertified.push((seed, free.stop, free.gap));
        }
        let allowed = 1e-6 * factored.objective + 1e-9 * (1.0 + problem.beta);
        let difference = (free.objective - factored.objective).abs();
        assert!(
            difference <= allowed,
            "seed {seed}: {} {}",
            free.objective,
            factored.objective
        );
        if let (Some(dual), Some(other)) = (free.dual, factored.dual) {
            assert!(
                dual <= factored.objective * (1.0 + 1e-9) + 1e-12,
                "seed {seed}"
            );
            assert!(
                other <= free.objective * (1.0 + 1e-9) + 1e-12,
                "seed {seed}"
            );
        }
    }
    assert!(uncertified.len() <= 4, "{uncertified:?}");
}

#[test]
fn without_a_matrix_and_gamma_nothing_is_claimed() {
    let problem = Problem {
        gamma: 0.0,
        ..shifted(0.0)
    };
    let found = fit(&wide(&problem), &given(&problem), &params(&problem, 1e-6)).unwrap();
    assert!(found.dual.is_none() && found.gap.is_none());
    assert_ne!(found.stop, Stop::Converged);
    let factored = minimise(&problem, 1e-8);
    assert!((found.objective - factored.objective).abs() <= 1e-4 * factored.objective);
}

#[test]
fn data_without_any_feature_are_no_trouble() {
    use ubauc::data::rows::{Csr, Dense, Rows};
    let positive: Vec<bool> = (0..6).map(|i| i == 0).collect();
    let dense = Rows::Dense(Dense::new(Vec::new(), 6, 0).unwrap());
    let sparse = Rows::Csr(Csr::new(vec![0; 7], Vec::new(), Vec::new(), 0).unwrap());
    for rows in [dense, sparse] {
        let data = Dataset::new(rows, binary(&positive), Vec::new()).unwrap();
        for divisors in [None, Some([].as_slice())] {
            for intercept in [false, true] {
                let given = BatchInputs {
                    divisors,
                    ..Default::default()
                };
                let params = BaUbaucParams {
                    intercept,
                    ..Default::default()
                };
                let found = fit(&data, &given, &params).unwrap();
                assert!(found.weights.is_empty());
                assert_eq!(found.tied, 6);
            }
        }
    }
}

#[test]
fn a_path_of_the_same_point_keeps_its_footing() {
    let data = large();
    let mut path = Path::new(
        &data,
        &BatchInputs::default(),
        weighting(LeastSquares::Plain, false),
    )
    .unwrap();
    for _ in 0..100 {
        path.fit(&BaUbaucParams::default()).unwrap();
    }
    let params = BaUbaucParams {
        beta: 0.6,
        ..Default::default()
    };
    assert_eq!(path.fit(&params).unwrap().stop, Stop::Converged);
}
