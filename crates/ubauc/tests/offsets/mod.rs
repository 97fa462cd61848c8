//! Adding a constant to a feature must not change the ranking, whatever the solver, the scale and the storage.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::algorithm::{self, Algorithm, FitInputs, Spec, Stop};
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Binary;
use ubauc::data::rows::{Csr, Dense, Rows};
use ubauc::data::scale::{Origin, Scale};
use ubauc::metrics::auc;
use ubauc::model::Model;
use ubauc::objective::ubauc::LeastSquares;
use ubauc::solver::ba_ubauc::{self, BaUbaucParams};
use ubauc::solver::ol_ubauc::passes::{self, Passes, PassesInputs};
use ubauc::solver::ol_ubauc::{Learner, OlUbaucParams, RunningScale, eta0};
use ubauc::tune::{TuneInputs, TuneParams, tune};

const CONSTANTS: [f64; 3] = [1.0, 1e2, 1e6];

/// Rows of four features that differ in kind: normal, an age, a rare indicator, a count with many zeros.
struct Table {
    rows: Vec<[f64; 4]>,
    positive: Vec<bool>,
}

fn table(n: usize, seed: u64) -> Table {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut table = Table {
        rows: Vec::with_capacity(n),
        positive: Vec::with_capacity(n),
    };
    for _ in 0..n {
        let normal =
            |random: &mut Pcg64| (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let positive = random.random::<f64>() < 0.3;
        let shift = f64::from(u8::from(positive));
        let indicator = random.random::<f64>() < 0.1 + 0.2 * shift;
        let count = (random.random::<f64>() * (2.0 + shift)).floor();
        table.rows.push([
            normal(&mut random) + shift,
            45.0 + 12.0 * (normal(&mut random) + 0.8 * shift),
            f64::from(u8::from(indicator)),
            count,
        ]);
        table.positive.push(positive);
    }
    table
}

impl Table {
    fn shifted(&self, feature: usize, constant: f64) -> Table {
        let mut rows = self.rows.clone();
        rows.iter_mut().for_each(|row| row[feature] += constant);
        let positive = self.positive.clone();
        Table { rows, positive }
    }

    fn dataset(&self, sparse: bool) -> Dataset {
        let n = self.rows.len();
        let rows = match sparse {
            false => Rows::Dense(Dense::new(self.rows.concat(), n, 4).unwrap()),
            true => {
                let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
                for row in &self.rows {
                    for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                        indices.push(j as u32);
                        values.push(x);
                    }
                    indptr.push(indices.len());
                }
                Rows::Csr(Csr::new(indptr, indices, values, 4).unwrap())
            }
        };
        let n_pos = self.positive.iter().filter(|p| **p).count();
        let labels = Binary {
            positive: self.positive.clone(),
            n_pos,
            n_neg: n - n_pos,
            names: ["0".to_string(), "1".to_string()],
        };
        Dataset::new(rows, labels, Vec::new()).unwrap()
    }
}

/// AUC of w·x + b on the rows themselves.
fn auc_of(data: &Dataset, weights: &[f64], intercept: f64) -> f64 {
    let model = Model::linear(weights.to_vec(), intercept);
    let scores = model.scores(data.rows()).unwrap();
    auc(&scores, data.positive()).unwrap().auc
}

fn batch(data: &Dataset, least_squares: LeastSquares, scale: Scale) -> f64 {
    let params = BaUbaucParams {
        least_squares,
        ..BaUbaucParams::default()
    };
    let divisors = scale
        .optional_divisors(data.rows(), None, Origin::Mean)
        .unwrap();
    let given = ba_ubauc::BatchInputs {
        divisors: divisors.as_deref(),
        ..Default::default()
    };
    let fit = ba_ubauc::fit(data, &given, &params).unwrap();
    assert_eq!(fit.stop, ba_ubauc::Stop::Converged);
    auc_of(data, &fit.weights, fit.intercept)
}

fn in_passes(data: &Dataset) -> f64 {
    let params = OlUbaucParams::default();
    let divisors = Scale::MaxAbs
        .divisors(data.rows(), None, Origin::Mean)
        .unwrap();
    let given = PassesInputs {
        divisors: Some(&divisors),
        ..Default::default()
    };
    let eta0 = eta0::choose(data, &given, &params, 1).unwrap();
    let params = OlUbaucParams { eta0, ..params };
    let passes = Passes {
        shuffle: Some(1),
        ..Passes::default()
    };
    let fit = passes::fit(data, &given, &params, &passes).unwrap();
    auc_of(data, &fit.weights, fit.intercept)
}

fn streamed(data: &Dataset) -> f64 {
    let examples: Vec<_> = (0..data.rows().len())
        .map(|i| (data.rows().row(i), data.positive()[i]))
        .collect();
    let params = OlUbaucParams::default();
    let eta0 = eta0::choose_from(&examples, &params, RunningScale::MaxAbs).unwrap();
    let params = OlUbaucParams { eta0, ..params };
    let mut learner = Learner::new(&params, RunningScale::MaxAbs).unwrap();
    for (row, positive) in examples {
        learner.learn(row, positive, 1.0).unwrap();
    }
    auc_of(data, &learner.weights(), learner.intercept())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn batch_solutions_rank_alike(
        seed in any::<u64>(),
        feature in 0..4usize,
        sparse in any::<bool>(),
        balanced in any::<bool>(),
        scale in prop::sample::select(vec![Scale::None, Scale::MaxAbs, Scale::Standard]),
    ) {
        let least_squares = if balanced { LeastSquares::Balanced } else { LeastSquares::Plain };
        let table = table(400, seed);
        let before = batch(&table.dataset(sparse), least_squares, scale);
        for constant in CONSTANTS {
            let after = batch(&table.shifted(feature, constant).dataset(sparse), least_squares, scale);
            prop_assert!((after - before).abs() < 1e-6, "{constant}: {before} became {after}");
        }
    }

    #[test]
    fn logistic_regression_ranks_alike(seed in any::<u64>(), feature in 0..4usize, sparse in any::<bool>()) {
        let table = table(400, seed);
        let of = |data: &Dataset| {
            let spec = Spec::new(Algorithm::Logistic);
            let fit = algorithm::fit(data, &FitInputs::default(), &spec).unwrap();
            assert_eq!(fit.stop, Stop::Converged);
            auc_of(data, &fit.model.weights, fit.model.intercept)
        };
        let before = of(&table.dataset(sparse));
        for constant in CONSTANTS {
            let after = of(&table.shifted(feature, constant).dataset(sparse));
            prop_assert!((after - before).abs() < 1e-6, "{constant}: {before} became {after}");
        }
    }

    #[test]
    fn passes_rank_nearly_alike(seed in any::<u64>(), feature in 0..4usize, sparse in any::<bool>()) {
        let table = table(1000, seed);
        let before = in_passes(&table.dataset(sparse));
        for constant in CONSTANTS {
            let after = in_passes(&table.shifted(feature, constant).dataset(sparse));
            prop_assert!((after - before).abs() < 1e-2, "{constant}: {before} became {after}");
        }
    }

    #[test]
    fn streams_rank_nearly_alike(seed in any::<u64>(), feature in 0..4usize, sparse in any::<bool>()) {
        let table = table(4000, seed);
        let before = streamed(&table.dataset(sparse));
        for constant in CONSTANTS {
            let after = streamed(&table.shifted(feature, constant).dataset(sparse));
            prop_assert!((after - before).abs() < 1e-2, "{constant}: {before} became {after}");
        }
    }
}

#[test]
fn an_age_alone_ranks_as_it_should() {
    let mut table = table(3000, 7);
    table.rows.iter_mut().for_each(|row| {
        (row[0], row[2], row[3]) = (0.0, 0.0, 0.0);
    });
    let ages: Vec<f64> = table.rows.iter().map(|row| row[1]).collect();
    let best = auc(&ages, &table.positive).unwrap().auc;
    assert!(best > 0.65);
    for sparse in [false, true] {
        let data = table.dataset(sparse);
        for found in [
            batch(&data, LeastSquares::Plain, Scale::None),
            in_passes(&data),
            streamed(&data),
        ] {
            assert!((found - best).abs() < 1e-9, "{found}, right is {best}");
        }
    }
}

#[test]
fn without_an_intercept_an_age_alone_ranks_in_reverse() {
    let mut table = table(3000, 7);
    table.rows.iter_mut().for_each(|row| {
        (row[0], row[2], row[3]) = (0.0, 0.0, 0.0);
    });
    let data = table.dataset(false);
    let params = BaUbaucParams {
        intercept: false,
        ..BaUbaucParams::default()
    };
    let fit = ba_ubauc::fit(&data, &ba_ubauc::BatchInputs::default(), &params).unwrap();
    assert!(auc_of(&data, &fit.weights, 0.0) < 0.35);
}

#[test]
fn tuning_chooses_the_same_far_from_zero() {
    let table = table(600, 3);
    let params = TuneParams {
        scale: Scale::MaxAbs,
        ..TuneParams::default()
    };
    let of = |table: &Table| tune(&table.dataset(false), &TuneInputs::default(), &params).unwrap();
    let before = of(&table);
    for constant in CONSTANTS {
        let after = of(&table.shifted(1, constant));
        assert_eq!(after.chosen, before.chosen);
        let apart = after.best().judged.auc - before.best().judged.auc;
        assert!(apart.abs() < 1e-6, "{constant}: {apart}");
    }
}
