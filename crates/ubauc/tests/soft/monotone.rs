//! Weights in order: the minimum against Clarabel with the same constraints, and what is certified of it.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::Error;
use ubauc::solver::ba_ubauc::path::Path;
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, Fit, Stop, fit};
use ubauc::solver::order::{Order, ZERO};

use super::cones::{self, Row};
use super::nested::example;
use super::{Soft, dense, noisy, plain};
use crate::oracle::Problem;

/// A few pairs of d weights, 0 among them; some are bound to be equal.
fn random_order(seed: u64, d: usize) -> Order {
    let rng = &mut Pcg64::seed_from_u64(seed ^ 0x0a5e);
    let mut pairs: Vec<[u32; 2]> = (1..d as u32)
        .filter(|_| rng.random_bool(0.6))
        .map(|j| [j - 1, j])
        .collect();
    for _ in 0..rng.random_range(0..3) {
        let mut end = || match rng.random_range(0..=d as u32) {
            j if j == d as u32 => ZERO,
            j => j,
        };
        pairs.push([end(), end()]);
    }
    if rng.random_bool(0.5) {
        pairs.push([ZERO, 0]);
    }
    Order::new(d, pairs).unwrap()
}

/// A, one row for each pair.
fn rows_of(order: &Order) -> Vec<Row> {
    let row = |[lower, upper]: &[u32; 2]| {
        let ends = [(*upper, 1.0), (*lower, -1.0)].into_iter();
        ends.filter(|(j, _)| *j != ZERO)
            .map(|(j, a)| (j as usize, a))
            .collect()
    };
    order.pairs().iter().map(row).collect()
}

fn is_in_order(order: &Order, w: &[f64]) -> bool {
    order.differences(w).iter().all(|d| *d >= 0.0)
}

#[test]
fn the_minimum_in_order_is_that_of_clarabel() {
    let (mut compared, mut bound) = (0, 0);
    let mut uncertified = Vec::new();
    for seed in 0..120 {
        let soft = Soft::random(seed);
        let d = soft.problem.rows[0].len();
        let order = random_order(seed, d);
        let data = dense(&soft.problem.rows, &soft.problem.positive);
        let inputs = BatchInputs {
            order: Some(&order),
            ..soft.given()
        };
        let found = fit(&data, &inputs, &soft.params(1e-9)).unwrap();
        let what = || {
            let (beta, gamma) = (soft.problem.beta, soft.problem.gamma);
            let stop = (found.stop, found.gap, found.newton);
            format!(
                "seed {seed}: β {beta} γ {gamma} κ {} {stop:?} {order:?}",
                soft.softness
            )
        };
        assert!(is_in_order(&order, &found.weights), "{}", what());
        let off = (found.objective - soft.objective_of(&found)).abs();
        assert!(
            off <= 1e-11 * (1.0 + soft.problem.beta),
            "{}: {off:e}",
            what()
        );
        let free = soft.fit(1e-9);
        assert!(found.objective >= free.dual.unwrap_or(0.0), "{}", what());
        bound += usize::from(found.objective > free.objective * (1.0 + 1e-6));
        if found.stop != Stop::Converged && found.gap.unwrap() * found.objective > 1e-14 {
            uncertified.push(what());
        }
        if let Some((w, b, lambda)) = cones::solve_in_order(&soft, &rows_of(&order)) {
            compared += 1;
            // In order to the last bit, so that it is no less than the minimum.
            let theirs = cones::best_lambda(&soft, &order.project(&w), b, lambda);
            let above = found.objective - theirs;
            let allowed = 1e-8 * theirs + 1e-12;
            assert!(
                above <= allowed,
                "{}: {above:e} above Clarabel's {theirs}",
                what()
            );
            assert!(-above <= 1e-6 * (1.0 + theirs), "{}: {above:e}", what());
            let dual = found.dual.unwrap_or(0.0);
            assert!(
                dual <= theirs * (1.0 + 1e-9) + 1e-13,
                "{}: {dual} {theirs}",
                what()
            );
        }
    }
    assert!(compared >= 100, "{compared} compared");
    assert!(bound >= 40, "{bound} were changed by the order");
    assert!(uncertified.is_empty(), "{uncertified:#?}");
}

fn nested_params(gamma: f64, softness: f64, tolerance: f64) -> BaUbaucParams {
    BaUbaucParams {
        beta: if softness < 1.0 { 0.5 } else { 0.0 },
        gamma,
        softness,
        tolerance,
        ..BaUbaucParams::default()
    }
}

/// The first number and the cells of every other column increase.
fn increasing(columns: u32, cols: usize) -> Order {
    let chain = |c: u32| (0..11).map(move |k| [2 + 12 * c + k, 3 + 12 * c + k]);
    let cells = (0..columns).step_by(2).flat_map(chain);
    Order::new(cols, cells.chain([[ZERO, 0]]).collect()).unwrap()
}

#[test]
fn nested_features_in_order_have_the_minimum_of_the_expanded_matrix() {
    for (seed, softness) in [(0, 1.0), (1, 0.1), (2, 1.0)] {
        let example = example(seed, 150, 3);
        let (data, expanded) = (example.data(), example.expanded());
        let order = increasing(3, data.rows().cols());
        let inputs = BatchInputs {
            order: Some(&order),
            ..example.nested()
        };
        let params = nested_params(1e-3, softness, 1e-9);
        let found = fit(&data, &inputs, &params).unwrap();
        assert!(is_in_order(&order, &found.weights));
        assert_eq!(found.stop, Stop::Converged);
        // The same in weights of groups, A S v ≥ 0.
        let groups = example.nesting.groups();
        let of_groups = |row: &Row| -> Row {
            let entry = |(g, group): (usize, &ubauc::solver::nesting::Group)| {
                let within = row
                    .iter()
                    .filter(|(j, _)| group.features.contains(&(*j as u32)));
                let sum: f64 = within.map(|(_, a)| a * group.factor).sum();
                (sum != 0.0).then_some((g, sum))
            };
            groups.iter().enumerate().filter_map(entry).collect()
        };
        let rows: Vec<Row> = rows_of(&order).iter().map(of_groups).collect();
        let dense_row = |i: usize| {
            let mut row = vec![0.0; groups.len()];
            for (j, x) in expanded.rows().row(i).entries() {
                row[j] = x;
            }
            row
        };
        let soft = Soft {
            problem: Problem {
                rows: (0..data.rows().len()).map(dense_row).collect(),
                positive: example.positive.clone(),
                weights: Some(example.weights.clone()),
                beta: params.beta,
                gamma: params.gamma,
                least_squares: crate::oracle::LeastSquares::Plain,
                intercept: true,
            },
            softness,
            class_weight: params.class_weight,
        };
        let (v, b, lambda) = cones::solve_in_order(&soft, &rows).unwrap();
        let theirs = cones::best_lambda(&soft, &v, b, lambda);
        let off = (found.objective - theirs).abs() / theirs;
        assert!(off < 1e-7, "seed {seed}: {} {theirs}", found.objective);
        for (a, b) in found.weights.iter().zip(example.nesting.expand(&v)) {
            assert!((a - b).abs() < 1e-3, "seed {seed}: {a} {b}");
        }
        assert!(found.dual.unwrap() <= theirs * (1.0 + 1e-8));
    }
}

/// More features than a block takes besides those in order.
#[test]
fn many_features_in_order_are_certified() {
    let example = example(9, 3000, 60);
    let data = example.data();
    let order = increasing(60, data.rows().cols());
    let inputs = BatchInputs {
        order: Some(&order),
        ..example.nested()
    };
    for softness in [1.0, 0.05] {
        let found = fit(&data, &inputs, &nested_params(1e-4, softness, 1e-6)).unwrap();
        assert_eq!(
            found.stop,
            Stop::Converged,
            "{:?} {}",
            found.gap,
            found.newton
        );
        assert!(is_in_order(&order, &found.weights));
        assert!(found.newton < 40, "{}", found.newton);
    }
}

#[test]
fn an_order_that_holds_anyhow_changes_nothing() {
    let (rows, positive) = noisy(300, 4, 1.0, 3);
    let soft = plain(rows, positive);
    let free = soft.fit(1e-12);
    assert!(free.weights.iter().all(|w| *w > 0.0));
    let order = Order::new(4, (0..4).map(|j| [ZERO, j]).collect()).unwrap();
    let found = in_order(&soft, &order, 1e-12);
    for (a, b) in found.weights.iter().zip(&free.weights) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
    // Against the data everything is flat.
    let order = Order::new(4, (0..4).map(|j| [j, ZERO]).collect()).unwrap();
    let found = in_order(&soft, &order, 1e-9);
    assert_eq!(found.weights, [0.0; 4]);
    assert_eq!(found.stop, Stop::Converged);
}

/// Of a column of zeros nothing but the order says anything: it stays at 0, or as near as its neighbours let it.
#[test]
fn weights_that_no_row_holds_are_small() {
    let (mut rows, positive) = noisy(300, 3, 1.0, 3);
    rows.iter_mut().for_each(|row| row.extend([0.0, 0.0]));
    for (gamma, beta) in [(0.0, 0.0), (0.0, 0.5), (1e-3, 0.0)] {
        let mut soft = plain(rows.clone(), positive.clone());
        (soft.problem.gamma, soft.problem.beta) = (gamma, beta);
        // 0 ≤ w₃, and w₀ ≤ w₄ for a w₀ above 0.
        let order = Order::new(5, vec![[ZERO, 3], [0, 4]]).unwrap();
        let found = in_order(&soft, &order, 1e-9);
        assert!(is_in_order(&order, &found.weights));
        assert!(found.weights[0] > 0.1, "{:?}", found.weights);
        assert_eq!(
            found.weights[3], 0.0,
            "γ {gamma} β {beta}: {:?}",
            found.weights
        );
        if gamma == 0.0 {
            let off = found.weights[4] - found.weights[0];
            assert_eq!(off, 0.0, "β {beta}: {:?}", found.weights);
        }
        let free = soft.fit(1e-9);
        let off = found.objective - free.objective;
        assert!(gamma > 0.0 || off.abs() < 1e-7 * free.objective, "{off:e}");
        // Nothing but such columns.
        let empty = plain(vec![vec![0.0]; 20], positive[..20].to_vec());
        let order = Order::new(1, vec![[ZERO, 0]]).unwrap();
        let found = in_order(&empty, &order, 1e-6);
        assert!(found.weights[0].abs() < 1e-3, "{:?}", found.weights);
    }
}

fn in_order(soft: &Soft, order: &Order, tolerance: f64) -> Fit {
    let data = dense(&soft.problem.rows, &soft.problem.positive);
    let inputs = BatchInputs {
        order: Some(order),
        ..soft.given()
    };
    fit(&data, &inputs, &soft.params(tolerance)).unwrap()
}

#[test]
fn a_path_in_order_has_the_minima_of_single_fits() {
    let example = example(4, 400, 3);
    let data = example.data();
    let order = increasing(3, data.rows().cols());
    let inputs = BatchInputs {
        order: Some(&order),
        ..example.nested()
    };
    let params = |gamma: f64| nested_params(gamma, 1.0, 1e-8);
    let mut path = Path::new(&data, &inputs, params(1.0).weighting()).unwrap();
    for gamma in [1e-1, 1e-2, 1e-3, 1e-4] {
        let found = path.fit(&params(gamma)).unwrap();
        let alone = fit(&data, &inputs, &params(gamma)).unwrap();
        assert!((found.objective - alone.objective).abs() <= 2e-8 * alone.objective);
        assert_eq!(found.stop, Stop::Converged);
        assert!(is_in_order(&order, &found.weights));
    }
    // Compared by estimates, as in a search.
    let mut path = Path::new(&data, &inputs, params(1.0).weighting())
        .unwrap()
        .stop_by_estimate();
    for gamma in [1e-2, 1e-4] {
        let loose = BaUbaucParams {
            tolerance: 1e-3,
            ..params(gamma)
        };
        let found = path.fit(&loose).unwrap();
        let alone = fit(&data, &inputs, &params(gamma)).unwrap();
        assert_eq!(found.stop, Stop::Estimated);
        assert!(found.objective <= alone.objective * (1.0 + 5e-3));
        assert!(is_in_order(&order, &found.weights));
    }
}

#[test]
fn the_hinge_in_order_and_an_order_of_other_weights_are_refused() {
    let (rows, positive) = noisy(60, 3, 1.0, 1);
    let data = dense(&rows, &positive);
    let refused = |cols: usize, softness: f64| {
        let order = Order::new(cols, vec![[0, 1]]).unwrap();
        let inputs = BatchInputs {
            order: Some(&order),
            ..BatchInputs::default()
        };
        fit(&data, &inputs, &nested_params(1e-3, softness, 1e-6)).unwrap_err()
    };
    assert!(matches!(
        refused(3, 0.0),
        Error::Parameter {
            name: "softness",
            ..
        }
    ));
    assert!(matches!(refused(4, 1.0), Error::Length { .. }));
}

/// The same bits whatever the number of threads.
#[test]
fn threads_do_not_change_a_fit_in_order() {
    let example = example(7, 800, 4);
    let data = example.data();
    let order = increasing(4, data.rows().cols());
    let inputs = BatchInputs {
        order: Some(&order),
        ..example.nested()
    };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let fitted = pool
            .unwrap()
            .install(|| fit(&data, &inputs, &nested_params(1e-3, 1.0, 1e-7)));
        fitted.unwrap().weights
    };
    assert_eq!(run(1), run(3));
}
