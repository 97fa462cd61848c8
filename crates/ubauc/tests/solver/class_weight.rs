//! Class weights: λ is where the shares of missed positives and false alarms have their ratio.

use ubauc::data::dataset::Dataset;
use ubauc::data::mixture::{Component, Population};
use ubauc::objective::ubauc::{ClassWeight, ClassWeights, LeastSquares};
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, Fit, fit};

fn sample(seed: u64) -> Dataset {
    let component = |mean: f64, variance: f64| {
        vec![Component {
            share: 1.0,
            mean: vec![mean, 0.5 * mean, 0.0],
            variance: vec![1.0, variance, 2.0],
        }]
    };
    let population = Population::new(component(1.0, 2.0), component(0.0, 1.0)).unwrap();
    population.sample(80, 400, seed).unwrap()
}

fn params(class_weight: ClassWeight, softness: f64, least_squares: LeastSquares) -> BaUbaucParams {
    BaUbaucParams {
        gamma: 1e-3,
        softness,
        class_weight,
        least_squares,
        tolerance: 1e-9,
        ..BaUbaucParams::default()
    }
}

fn minimise(data: &Dataset, weights: Option<&[f64]>, params: &BaUbaucParams) -> Fit {
    let inputs = BatchInputs {
        weights,
        ..Default::default()
    };
    fit(data, &inputs, params).unwrap()
}

#[test]
fn a_ratio_is_the_same_as_its_sample_weights() {
    for seed in 0..4 {
        let data = sample(seed);
        for ratio in [0.2, 1.0, 7.0, 30.0] {
            // 480 examples: N/((1 + R)N⁺) and RN/((1 + R)N⁻).
            let of = |&positive: &bool| match positive {
                true => 480.0 / ((1.0 + ratio) * 80.0),
                false => ratio * 480.0 / ((1.0 + ratio) * 400.0),
            };
            let weights: Vec<f64> = data.positive().iter().map(of).collect();
            for softness in [0.0, 0.3] {
                for kind in [LeastSquares::Plain, LeastSquares::Balanced] {
                    let by_ratio = params(ClassWeight::Ratio(ratio), softness, kind);
                    let by_ratio = minimise(&data, None, &by_ratio);
                    let by_rows = params(ClassWeight::None, softness, kind);
                    let by_rows = minimise(&data, Some(&weights), &by_rows);
                    // Both are certified to 1e-9 of the minimum.
                    let difference = by_ratio.objective / by_rows.objective - 1.0;
                    assert!(difference.abs() < 2e-9, "{seed} {ratio}: {difference:e}");
                }
            }
        }
    }
}

#[test]
fn a_larger_ratio_moves_the_threshold_to_fewer_false_alarms() {
    for seed in 0..4 {
        let data = sample(seed);
        let mut before = 1.0;
        for ratio in [0.2, 1.0, 5.0, 20.0] {
            let weight = ClassWeight::Ratio(ratio);
            // With a small β all examples would be tied.
            let params = BaUbaucParams {
                beta: 5.0,
                ..params(weight, 0.0, LeastSquares::Plain)
            };
            let found = minimise(&data, None, &params);
            let lambda = 0.5 * (found.lambda[0] + found.lambda[1]);
            let [mut missed, mut alarms, mut tied] = [0.0_f64; 3];
            for (score, &positive) in found.scores.iter().zip(data.positive()) {
                let share = if positive { 1.0 / 80.0 } else { ratio / 400.0 };
                if (score - lambda).abs() < 1e-4 {
                    tied += share;
                } else if positive && *score < lambda {
                    missed += share;
                } else if !positive && *score > lambda {
                    alarms += share;
                }
            }
            // 0 is a subgradient in λ: what is tied there may be shared out in any way.
            assert!(
                (missed - alarms).abs() <= tied + 1e-9,
                "{missed} {alarms} {tied}"
            );
            let rate = alarms / ratio;
            assert!(rate < before, "{seed}: {rate} after {before}");
            before = rate;
        }
        assert!(before <= 1.0 / 20.0);
    }
}

#[test]
fn one_is_balanced_and_what_is_no_ratio_is_refused() {
    let data = sample(1);
    let of = |weight| minimise(&data, None, &params(weight, 0.1, LeastSquares::Plain)).objective;
    let (one, balanced) = (of(ClassWeight::Ratio(1.0)), of(ClassWeight::Balanced));
    assert!((one / balanced - 1.0).abs() < 2e-9);
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let params = params(ClassWeight::Ratio(wrong), 0.1, LeastSquares::Plain);
        assert!(fit(&data, &BatchInputs::default(), &params).is_err());
    }
    let three_to_one = ClassWeights { pos: 3.0, neg: 1.0 };
    assert_eq!(ClassWeight::None.ratio(three_to_one), 1.0 / 3.0);
}
