//! The paper's block descent: always above the minimum, and short of it (E12).

use ubauc::Error;
use ubauc::data::generate::{GenerateParams, Generator};
use ubauc::solver::ba_ubauc::bcd::{BcdFit, BcdParams, BcdStop, fit};

use super::{dataset, least_squares};
use crate::oracle::{self, Problem, objective, random_problem, solve};

fn params(problem: &Problem) -> BcdParams {
    BcdParams {
        beta: problem.beta,
        gamma: problem.gamma,
        least_squares: least_squares(problem),
        intercept: problem.intercept,
        ..Default::default()
    }
}

fn descend(problem: &Problem) -> BcdFit {
    fit(
        &dataset(problem),
        problem.weights.as_deref(),
        &params(problem),
    )
    .unwrap()
}

/// Generated data of 800 examples and 20 features, a fifth of them positive.
fn instance(seed: u64) -> Problem {
    let params = GenerateParams {
        rows: 800,
        positive_share: 0.2,
        auc: 0.85,
        seed,
        ..Default::default()
    };
    let mut generator = Generator::new(&params).unwrap();
    let (mut rows, mut positive) = (Vec::new(), Vec::new());
    while let Some(row) = generator.next_row() {
        let mut x = vec![0.0; 20];
        row.entries
            .iter()
            .for_each(|&(j, value)| x[j as usize] = value);
        rows.push(x);
        positive.push(row.positive);
    }
    Problem {
        rows,
        positive,
        weights: None,
        beta: 0.5,
        gamma: 1e-4,
        least_squares: oracle::LeastSquares::Plain,
        intercept: false,
    }
}

#[test]
fn block_descent_stalls_above_the_minimum() {
    for seed in 1..=3 {
        let problem = instance(seed);
        let least = solve(&problem).unwrap().objective;
        let found = descend(&problem);
        let above = found.objective / least - 1.0;
        println!(
            "seed {seed}: {above:e} above the minimum after {} rounds, {:?}, gap {:e}",
            found.rounds, found.stop, found.gap
        );
        assert_eq!(found.stop, BcdStop::Stalled);
        assert!(above > 1e-6 && above < 1e-3);
        assert!(found.gap >= above * 0.99);
        assert!(found.dual <= least);
    }
}

#[test]
fn block_descent_on_random_problems() {
    let (mut reached, mut unsolved) = (0, 0);
    for seed in 0..150 {
        let problem = random_problem(seed);
        let found = descend(&problem);
        let least = solve(&problem).unwrap().objective;
        // What the oracle itself may be off.
        let slack = 1e-9 * (1.0 + problem.beta);
        assert!(
            found.objective > least - slack,
            "seed {seed}: below the minimum"
        );
        assert!(
            found.dual < least + slack,
            "seed {seed}: {} above {least}",
            found.dual
        );
        let again = objective(&problem, &found.weights, found.intercept, found.lambda[1]);
        assert!(
            (found.objective - again).abs() < slack,
            "seed {seed}: {} {again}",
            found.objective
        );
        let scores = problem.scores(&found.weights, found.intercept);
        let [low, high] = oracle::best_lambda(&problem, &scores);
        assert!(
            (found.lambda[0] - low).abs() + (found.lambda[1] - high).abs() < 1e-9,
            "seed {seed}"
        );
        for pair in found.trace.windows(2) {
            assert!(
                pair[1] < pair[0] + 1e-9 * (1.0 + problem.beta),
                "seed {seed}: {pair:?} rises"
            );
        }
        unsolved += usize::from(found.stop == BcdStop::Unsolved);
        reached += usize::from(found.objective < least + 1e-8 * (1.0 + problem.beta));
    }
    println!(
        "{reached} of 150 reach the minimum, {unsolved} have a step that Clarabel cannot solve"
    );
    assert!(reached < 150 && unsolved <= 3);
}

#[test]
fn bad_input_is_refused() {
    let problem = random_problem(1);
    let data = dataset(&problem);
    let n = problem.rows.len();
    let good = params(&problem);
    let refused =
        |weights: Option<&[f64]>, params: &BcdParams| fit(&data, weights, params).unwrap_err();
    for bad in [
        BcdParams {
            beta: 0.0,
            ..good.clone()
        },
        BcdParams {
            gamma: f64::NAN,
            ..good.clone()
        },
        BcdParams {
            tolerance: -1.0,
            ..good.clone()
        },
    ] {
        assert!(matches!(refused(None, &bad), Error::Parameter { .. }));
    }
    assert!(matches!(refused(Some(&[1.0]), &good), Error::Length { .. }));
    assert!(matches!(
        refused(Some(&vec![-1.0; n]), &good),
        Error::NotFinite { row: 0, .. }
    ));
    let negatives: Vec<f64> = problem
        .positive
        .iter()
        .map(|&p| f64::from(u8::from(!p)))
        .collect();
    let error = refused(Some(&negatives), &good);
    assert!(
        matches!(error, Error::OneClass { ref class, .. } if class == "-1"),
        "{error}"
    );

    let wide = Problem {
        rows: vec![vec![1.0; 60_000]; n],
        ..problem.clone()
    };
    let error = fit(&dataset(&wide), None, &good).unwrap_err();
    assert!(
        matches!(error, Error::Parameter { name: "solver", .. }),
        "{error}"
    );
    let opposite = |i: usize| vec![if i.is_multiple_of(2) { 1e308 } else { -1e308 }];
    let huge = Problem {
        rows: (0..n).map(opposite).collect(),
        ..problem
    };
    let error = fit(&dataset(&huge), None, &good).unwrap_err();
    assert!(matches!(error, Error::Parameter { .. }), "{error}");
}
