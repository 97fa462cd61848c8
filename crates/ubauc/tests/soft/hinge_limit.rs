//! 0 ≤ P_κ − P ≤ κ ln 2: for every w, hence for the minima.

use ubauc::solver::ba_ubauc::Stop;

use super::Soft;

#[test]
fn the_minimum_comes_down_to_that_of_the_hinge() {
    for seed in 700..760 {
        let mut soft = Soft::random(seed);
        soft.problem.beta = soft.problem.beta.max(1e-3);
        soft.softness = 0.0;
        let hinge = soft.fit(1e-10);
        assert_eq!(hinge.stop, Stop::Converged, "seed {seed}");
        let mut before = f64::INFINITY;
        for softness in [10.0, 1.0, 0.1, 1e-2, 1e-3, 1e-4] {
            soft.softness = softness;
            let found = soft.fit(1e-10);
            let rounding = 2e-10 * found.objective;
            let above = found.objective - hinge.objective;
            let most = softness * std::f64::consts::LN_2;
            let what = format!(
                "seed {seed}, κ {softness}: {above:e}, {:?} {:?}",
                found.stop, found.gap
            );
            // Some minima are next to nothing beside the least squares, and so is what is not proved.
            let uncertified = found.gap.unwrap() * found.objective;
            assert!(
                found.stop == Stop::Converged || uncertified <= 1e-14,
                "{what}"
            );
            assert!(above >= -rounding, "{what}");
            assert!(above <= most + rounding, "{what}");
            assert!(found.objective <= before + rounding, "{what}");
            before = found.objective;
            // At the weights of either problem too.
            let (b, weights) = (found.intercept, &found.weights);
            let b = if soft.has_b() { b } else { 0.0 };
            let lambda = found.lambda[0] + b;
            let at_soft = soft.objective(weights, b, lambda);
            let at_hinge = crate::oracle::objective(&soft.weighted(), weights, b, lambda);
            assert!(
                (-1e-13..=most + 1e-13).contains(&(at_soft - at_hinge)),
                "{what}"
            );
        }
    }
}
