//! Rows in parts, reached as if they were elsewhere, against rows in this process.

use ubauc::data::rows::Rows;
use ubauc::data::scale::{Origin, Scale};
use ubauc::objective::ubauc::{ClassWeight, LeastSquares};
use ubauc::solver::ba_ubauc::path::Path;
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, Fit, Stop, fit};

use super::{csr, dense, noisy};
use crate::solver::remote::{Part, Parts};

/// Rows, classes and weights, cut into parts that are dense and sparse in turn.
struct Whole {
    rows: Vec<Vec<f64>>,
    positive: Vec<bool>,
    weights: Vec<f64>,
}

impl Whole {
    fn new(n: usize, d: usize, share: f64) -> Whole {
        let (rows, positive) = noisy(n, d, share, 41);
        let weights = (0..n).map(|i| [1.0, 0.0, 2.0, 0.5][i % 4]).collect();
        Whole {
            rows,
            positive,
            weights,
        }
    }

    fn part(&self, k: usize, from: usize, to: usize) -> Part {
        let rows = &self.rows[from..to];
        let rows: Rows = match k.is_multiple_of(2) || rows.is_empty() {
            true => dense(rows, &self.positive[from..to]).rows().clone(),
            false => csr(rows),
        };
        (
            rows,
            self.positive[from..to].to_vec(),
            self.weights[from..to].to_vec(),
        )
    }

    /// Parts of about n/5 rows, the second of one row.
    fn parts(&self, forgetful: bool) -> Parts {
        let n = self.rows.len();
        let cuts = [0, n / 5, n / 5 + 1, n / 2, 3 * n / 4, n];
        let parts = cuts.windows(2).enumerate();
        Parts::of(
            parts.map(|(k, cut)| self.part(k, cut[0], cut[1])).collect(),
            forgetful,
        )
    }

    fn far(&self, scale: Scale, params: &BaUbaucParams, forgetful: bool) -> Fit {
        let source = Box::new(self.parts(forgetful));
        let names = ["no".to_string(), "yes".to_string()];
        let cols = self.rows[0].len();
        let mut path = Path::of_source(source, cols, &names, scale, params.weighting()).unwrap();
        path.fit(params).unwrap()
    }

    fn near(&self, scale: Scale, params: &BaUbaucParams) -> Fit {
        let data = dense(&self.rows, &self.positive);
        let origin = Origin::of_intercept(params.weighting().intercept);
        let divisors = scale
            .divisors(data.rows(), Some(&self.weights), origin)
            .unwrap();
        let given = BatchInputs {
            weights: Some(&self.weights),
            divisors: Some(&divisors),
            ..BatchInputs::default()
        };
        fit(&data, &given, params).unwrap()
    }
}

fn losses() -> impl Iterator<Item = BaUbaucParams> {
    let settings = [
        (0.0, 1.0, ClassWeight::None, LeastSquares::Plain),
        (0.0, 1.0, ClassWeight::Balanced, LeastSquares::Plain),
        (0.5, 0.05, ClassWeight::Balanced, LeastSquares::Plain),
        (0.5, 0.3, ClassWeight::None, LeastSquares::Balanced),
        (0.5, 0.3, ClassWeight::Balanced, LeastSquares::Balanced),
    ];
    let both = [true, false].into_iter();
    both.flat_map(move |intercept| {
        settings.map(
            |(beta, softness, class_weight, least_squares)| BaUbaucParams {
                beta,
                gamma: 1e-2,
                softness,
                class_weight,
                least_squares,
                intercept,
                tolerance: 1e-10,
                ..BaUbaucParams::default()
            },
        )
    })
}

/// With a block of all columns, one of some and none.
#[test]
fn parts_give_the_minimum_of_the_whole() {
    for (n, d, share) in [(900, 12, 0.8), (700, 40, 0.2), (300, 450, 0.05)] {
        let whole = Whole::new(n, d, share);
        for params in losses() {
            for scale in [Scale::None, Scale::Standard, Scale::MaxAbs] {
                let (near, far) = (whole.near(scale, &params), whole.far(scale, &params, false));
                let what = format!("{n} × {d} {scale:?} {params:?}");
                assert_eq!(
                    (near.stop, far.stop),
                    (Stop::Converged, Stop::Converged),
                    "{what}"
                );
                let apart = (near.objective - far.objective).abs();
                assert!(apart <= 1e-9 * near.objective, "{what}: {apart:e}");
                assert!(
                    far.dual.unwrap() <= near.objective * (1.0 + 1e-13),
                    "{what}"
                );
                assert!(far.scores.is_empty(), "nothing of size N is sent");
            }
        }
    }
}

/// The mean of a full column is found over all parts, dense or not.
#[test]
fn a_full_column_far_from_zero() {
    let mut whole = Whole::new(400, 6, 0.5);
    for params in losses().filter(|params| params.intercept) {
        let before = whole.near(Scale::None, &params);
        whole.rows.iter_mut().for_each(|x| x[2] += 1e6);
        let far = whole.far(Scale::None, &params, false);
        let near = whole.near(Scale::None, &params);
        whole.rows.iter_mut().for_each(|x| x[2] -= 1e6);
        for moved in [near, far] {
            assert_eq!(moved.stop, Stop::Converged, "{params:?}");
            let apart = (moved.objective - before.objective).abs();
            // 1e6 takes ten digits of the feature itself.
            assert!(apart <= 1e-9 * before.objective, "{params:?}: {apart:e}");
        }
    }
}

#[test]
fn parts_that_are_lost_and_replayed_give_the_same_bits() {
    for (n, d, share) in [(300, 8, 0.9), (100, 420, 0.1)] {
        let whole = Whole::new(n, d, share);
        for params in losses() {
            let kept = whole.far(Scale::MaxAbs, &params, false);
            let lost = whole.far(Scale::MaxAbs, &params, true);
            assert_eq!(kept.weights, lost.weights);
            assert_eq!(kept.lambda, lost.lambda);
            assert_eq!(kept.objective.to_bits(), lost.objective.to_bits());
            assert_eq!(kept.dual, lost.dual);
        }
    }
}
