//! One step: by hand on two features, and by dense algebra on random ones.

use proptest::prelude::*;
use ubauc::data::rows::Row;
use ubauc::objective::ubauc::{ClassWeight, LeastSquares};
use ubauc::solver::ol_ubauc::{Learner, OlUbaucParams, Rate, RunningScale, Step};

use super::naive::Subproblem;

fn params(step: Step) -> OlUbaucParams {
    OlUbaucParams {
        beta: 0.5,
        gamma: 0.1,
        step,
        rate: Rate::Constant,
        eta0: 0.2,
        average: None,
        intercept: false,
        ..Default::default()
    }
}

/// w, λ, b after one step from w = (1, −1), λ, b = 0 on x = (2, 1).
fn step_from(params: &OlUbaucParams, lambda: f64, positive: bool) -> Vec<f64> {
    let mut learner = Learner::of_centred(params, RunningScale::None).unwrap();
    learner.start_from(&[1.0, -1.0], 0.0, lambda);
    let before = learner.learn(Row::Dense(&[2.0, 1.0]), positive, 1.0);
    assert_eq!(before.unwrap(), 1.0);
    let mut found = learner.weights();
    found.extend([learner.lambda(), learner.intercept()]);
    found
}

fn near(found: &[f64], expected: &[f64]) {
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-14, "{found:?}, expected {expected:?}");
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn eq09_one_step_by_hand() {
    let sgd = params(Step::Sgd);
    // c = 1. Negative, y(λ − c) = 1 − λ: active below λ = 1.
    // β x(x·w) = .5·(2, 1); (β + a)y x = −1.5·(2, 1); γw = (.1, −.1): slope (4.1, 1.9).
    near(&step_from(&sgd, 0.5, false), &[0.18, -1.38, 0.7, 0.0]);
    // At the kink, a = 0: slope (.1, −.1) + (.5 + .5)(2, 1) = (2.1, .9).
    near(&step_from(&sgd, 1.0, false), &[0.58, -1.18, 1.0, 0.0]);
    // Positive below λ: (.1, −.1) + (.5 − 1.5)(2, 1) = (−1.9, −1.1); λ falls.
    near(&step_from(&sgd, 3.0, true), &[1.38, -0.78, 2.8, 0.0]);
    // With b the residual is 0 here: nothing for b.
    let with_b = OlUbaucParams {
        intercept: true,
        ..sgd
    };
    near(&step_from(&with_b, 3.0, true), &[1.38, -0.78, 2.8, 0.0]);
    near(&step_from(&with_b, 1.0, false), &[0.58, -1.18, 1.0, -0.2]);
}

#[test]
fn soft_eq09_one_step_by_hand() {
    let soft = OlUbaucParams {
        softness: 0.5,
        ..params(Step::Sgd)
    };
    // Negative, c = 1, λ = 0.5: t = 0.5, a = 1/(1 + e^-1). Slope γw + (β(c + 1) + a)(2, 1); λ rises by ηa.
    let a = 1.0 / (1.0 + (-1.0f64).exp());
    let (first, second) = (0.1 + 2.0 * (1.0 + a), -0.1 + 1.0 + a);
    near(
        &step_from(&soft, 0.5, false),
        &[1.0 - 0.2 * first, -1.0 - 0.2 * second, 0.5 + 0.2 * a, 0.0],
    );
    // Without least squares, at t = 0: a = ½.
    let logistic = OlUbaucParams { beta: 0.0, ..soft };
    near(
        &step_from(&logistic, 1.0, true),
        &[0.98 + 0.2, -0.98 + 0.1, 0.9, 0.0],
    );
}

/// Both classes have the weight n/2 so far: a positive of weight 1 after a negative of weight 3 has the weight 2.
#[test]
fn balanced_weights_are_those_of_the_examples_so_far() {
    for (softness, least_squares) in [
        (0.0, LeastSquares::Plain),
        (0.7, LeastSquares::Plain),
        (0.7, LeastSquares::Balanced),
    ] {
        let learn = |class_weight, least_squares, weights: [f64; 2]| {
            let params = OlUbaucParams {
                softness,
                class_weight,
                least_squares,
                ..params(Step::Implicit)
            };
            let mut learner = Learner::of_centred(&params, RunningScale::None).unwrap();
            for (positive, weight) in [false, true].into_iter().zip(weights) {
                let x = if positive { [2.0, 1.0] } else { [1.0, -0.5] };
                learner.learn(Row::Dense(&x), positive, weight).unwrap();
            }
            let mut found = learner.weights();
            found.extend([learner.lambda()]);
            found
        };
        let balanced = learn(ClassWeight::Balanced, least_squares, [3.0, 1.0]);
        let expected = learn(ClassWeight::None, LeastSquares::Plain, [3.0, 2.0]);
        assert_eq!(balanced, expected);
        // Negatives with 4 times the weight of positives: N/((1 + R)N⁺) = 4/5 of a positive.
        let plain = LeastSquares::Plain;
        let ratio = learn(ClassWeight::Ratio(4.0), plain, [3.0, 1.0]);
        assert_eq!(ratio, learn(ClassWeight::None, plain, [3.0, 0.8]));
    }
}

#[test]
fn implicit_step_by_hand() {
    // γ = 0, η = 1, β = 1: g = 1, q = 5, K = 6.
    let implicit = OlUbaucParams {
        beta: 1.0,
        gamma: 0.0,
        eta0: 1.0,
        ..params(Step::Implicit)
    };
    // Negative, λ = −9: active, a = 1. Kρ = −2 + 5 = 3, ρ = .5: k = −1 + .5 = −.5, and c = 1 − 2.5 = −1.5.
    near(&step_from(&implicit, -9.0, false), &[0.0, -1.5, -8.0, 0.0]);
    // λ = 9: inactive. ρ = −1/3 = k, c = 1 − 5/3 = −2/3.
    let third = 1.0 / 3.0;
    near(
        &step_from(&implicit, 9.0, false),
        &[third, -1.0 - third, 9.0, 0.0],
    );
    // λ = −1: on the kink. h₀ = −(λ − 1) + (5/6)(−2) = 1/3, m = 1 + 5/6, a = 2/11.
    // λ = −1 + 2/11 = −9/11 = c, ρ = (−2 + 10/11)/6 = −2/11, k = −2/11 − 2/11.
    let k = -4.0 / 11.0;
    near(
        &step_from(&implicit, -1.0, false),
        &[1.0 + 2.0 * k, -1.0 + k, -9.0 / 11.0, 0.0],
    );
}

/// A step on some example, as the learner takes it and as the linear system has it.
#[derive(Debug, Clone)]
struct Case {
    params: OlUbaucParams,
    x: Vec<f64>,
    from: Vec<f64>,
    positive: bool,
    weight: f64,
    /// The class of an example of weight 3 that came before, for `Balanced`.
    earlier: Option<bool>,
}

fn cases() -> impl Strategy<Value = Case> {
    let number = || prop_oneof![Just(0.0), -2.0..2.0f64];
    let vectors = (1..6usize).prop_flat_map(move |d| {
        let vector = |n| prop::collection::vec(number(), n);
        (vector(d), vector(d + 2))
    });
    let log = |low: f64, high: f64| (low.ln()..high.ln()).prop_map(f64::exp);
    let numbers = (
        log(0.01, 100.0),
        prop_oneof![Just(0.0), log(1e-4, 10.0)],
        log(1e-3, 1e3),
        prop_oneof![Just(0.0), log(1e-6, 100.0)],
    );
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let rest = (prop_oneof![Just(1.0), 0.1..5.0f64], any::<Option<bool>>());
    (vectors, numbers, flags, rest).prop_map(|(vectors, numbers, flags, (weight, earlier))| {
        let ((x, from), (beta, gamma, eta0, softness)) = (vectors, numbers);
        let (intercept, balanced, positive) = flags;
        let params = OlUbaucParams {
            beta,
            gamma,
            softness,
            intercept,
            least_squares: if balanced {
                LeastSquares::Balanced
            } else {
                LeastSquares::Plain
            },
            eta0,
            ..params(Step::Implicit)
        };
        Case {
            params,
            x,
            from,
            positive,
            weight,
            earlier,
        }
    })
}

/// The learner's point after the step, and the subproblem that it should solve.
fn step_of(case: &Case) -> (Vec<f64>, f64) {
    let d = case.x.len();
    let mut learner = Learner::of_centred(&case.params, RunningScale::None).unwrap();
    if let Some(class) = case.earlier {
        let _ = learner.learn(Row::Dense(&[]), class, 3.0).unwrap();
    }
    learner.start_from(&case.from[..d], case.from[d + 1], case.from[d]);
    learner
        .learn(Row::Dense(&case.x), case.positive, case.weight)
        .unwrap();
    let mut at = learner.weights();
    at.resize(d, 0.0);
    at.extend([learner.lambda(), learner.intercept()]);
    let v = match (case.params.least_squares, case.earlier) {
        (LeastSquares::Balanced, Some(class)) if class != case.positive => {
            (case.weight + 3.0) / (2.0 * case.weight)
        }
        _ => 1.0,
    };
    (at, v)
}

fn subproblem(case: &Case, v: f64) -> Subproblem<'_> {
    Subproblem {
        params: &case.params,
        x: &case.x,
        y: if case.positive { 1.0 } else { -1.0 },
        s: case.weight,
        v,
        eta: case.params.eta0,
        from: &case.from,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn implicit_step_solves_its_subproblem(mut case in cases()) {
        // A balanced learner keeps what it counted when it starts over.
        if case.params.least_squares == LeastSquares::Balanced && case.earlier == Some(case.positive) {
            case.earlier = None;
        }
        let (at, v) = step_of(&case);
        let problem = subproblem(&case, v);
        let (best, kind) = problem.minimum();
        let size = best.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        for (a, b) in at.iter().zip(&best) {
            prop_assert!((a - b).abs() <= 1e-10 * size, "{kind}: {at:?}, expected {best:?}");
        }
        // And nobody near is better.
        let least = problem.value(&at);
        for j in 0..at.len() - usize::from(!case.params.intercept) {
            for step in [1e-3, -1e-3] {
                let mut other = at.clone();
                other[j] += step;
                prop_assert!(problem.value(&other) >= least - 1e-12 * least.abs().max(1.0));
            }
        }
    }
}

proptest! {
    /// The step of the hinge is where those of softer and softer losses lead.
    #[test]
    fn a_small_softness_makes_the_step_of_the_hinge(case in cases()) {
        let step = |softness: f64| {
            let params = OlUbaucParams { softness, ..case.params };
            step_of(&Case { params, ..case.clone() }).0
        };
        let (hinge, soft) = (step(0.0), step(1e-9));
        let size = hinge.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        for (a, b) in soft.iter().zip(&hinge) {
            prop_assert!((a - b).abs() <= 1e-6 * size, "{soft:?} {hinge:?}");
        }
    }
}

#[test]
fn all_kinds_of_minima_occur() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let strategy = cases();
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..1000 {
        let case = strategy.new_tree(&mut runner).unwrap().current();
        *seen.entry(subproblem(&case, 1.0).minimum().1).or_insert(0) += 1;
    }
    assert!(
        seen.len() == 4 && seen.values().all(|&n| n > 25),
        "{seen:?}"
    );
}
