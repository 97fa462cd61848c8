//! Features that share weights: the same minimum as with the expanded matrix X S written out.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::data::dataset::Dataset;
use ubauc::data::rows::{Csr, Rows};
use ubauc::objective::ubauc::{ClassWeight, LeastSquares};
use ubauc::solver::ba_ubauc::path::Path;
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, Fit, Stop, fit};
use ubauc::solver::nesting::{Group, Nesting};

/// Rows of numbers and cells, and how the cells are nested.
pub(super) struct Example {
    rows: Vec<Vec<(u32, f64)>>,
    pub(super) positive: Vec<bool>,
    pub(super) weights: Vec<f64>,
    pub(super) nesting: Nesting,
}

/// Cells of 12 in widths 12, 6 and 3 for every column but the last, whose widths are no multiples of each other.
fn groups_of(first: u32, ragged: bool) -> Vec<Group> {
    let starts: [&[u32]; 3] = match ragged {
        false => [
            &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
            &[0, 2, 4, 6, 8, 10],
            &[0, 4, 8],
        ],
        true => [&[0, 3, 4, 5, 9, 11], &[0, 1, 2, 7, 8], &[0, 6, 10]],
    };
    let mut groups = Vec::new();
    for starts in starts {
        let ends = starts.iter().skip(1).copied().chain([12]);
        for (start, end) in starts.iter().zip(ends) {
            groups.push(Group {
                factor: 0.5,
                family: 0,
                features: (first + start..first + end).collect(),
            });
        }
    }
    groups
}

pub(super) fn example(seed: u64, n: usize, columns: u32) -> Example {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let cols = 2 + 12 * columns as usize;
    let number = |j: u32| Group {
        factor: 1.0,
        family: 0,
        features: vec![j],
    };
    let mut groups = vec![number(0), number(1)];
    (0..columns).for_each(|c| groups.extend(groups_of(2 + 12 * c, c + 1 == columns)));
    let (mut rows, mut positive, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..n {
        let mut row = vec![(0, rng.random_range(-1.0..1.0))];
        if rng.random_bool(0.5) {
            row.push((1, rng.random_range(-1.0..1.0)));
        }
        let mut pull: f64 = row.iter().map(|(_, x)| x).sum();
        for c in 0..columns {
            let cell = rng.random_range(0..12);
            pull += (f64::from(cell * (c + 1)) * 0.9).sin();
            // A tenth of the cells is missing.
            if rng.random_bool(0.9) {
                row.push((2 + 12 * c + cell, 1.0));
            }
        }
        rows.push(row);
        positive.push(pull + rng.random_range(-1.0..1.0) > 0.5);
        weights.push(if i % 7 == 0 {
            0.0
        } else {
            rng.random_range(0.5..2.0)
        });
    }
    Example {
        rows,
        positive,
        weights,
        nesting: Nesting::new(cols, groups).unwrap(),
    }
}

impl Example {
    pub(super) fn data(&self) -> Dataset {
        self.dataset(&self.rows, self.nesting.cols())
    }

    fn dataset(&self, rows: &[Vec<(u32, f64)>], cols: usize) -> Dataset {
        let mut indptr = vec![0];
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for row in rows {
            indices.extend(row.iter().map(|e| e.0));
            values.extend(row.iter().map(|e| e.1));
            indptr.push(indices.len());
        }
        let csr = Csr::new(indptr, indices, values, cols).unwrap();
        Dataset::new(Rows::Csr(csr), super::binary(&self.positive), Vec::new()).unwrap()
    }

    /// X S.
    pub(super) fn expanded(&self) -> Dataset {
        let groups = self.nesting.groups();
        let row = |row: &Vec<(u32, f64)>| -> Vec<(u32, f64)> {
            let entry = |(g, group): (usize, &Group)| {
                let of_group = row.iter().filter(|(j, _)| group.features.contains(j));
                let sum: f64 = of_group.map(|(_, x)| group.factor * x).sum();
                (sum != 0.0).then_some((g as u32, sum))
            };
            groups.iter().enumerate().filter_map(entry).collect()
        };
        let rows: Vec<_> = self.rows.iter().map(row).collect();
        self.dataset(&rows, groups.len())
    }

    pub(super) fn nested(&self) -> BatchInputs<'_> {
        BatchInputs {
            weights: Some(&self.weights),
            nesting: Some(&self.nesting),
            ..BatchInputs::default()
        }
    }

    fn plain(&self) -> BatchInputs<'_> {
        BatchInputs {
            nesting: None,
            ..self.nested()
        }
    }
}

fn far(a: &[f64], b: &[f64]) -> f64 {
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

/// P is strongly convex, so that ‖w − w*‖ ≤ ‖∇P‖/γ: to 1e-9 where the gradient ends at rounding. The hinge has no such end,
/// and there gaps of 1e-11 leave their root.
fn check_same(example: &Example, nested: &Fit, expanded: &Fit, near: f64, what: &str) {
    let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * b.abs(), "{what}: {a} {b}");
    close(nested.objective, expanded.objective);
    let w = example.nesting.expand(&expanded.weights);
    let off = far(&nested.weights, &w);
    assert!(off <= near, "{what}: weights differ by {off}");
    let off = far(&nested.scores, &expanded.scores);
    assert!(off <= near, "{what}: scores differ by {off}");
    // Both bounds are of the same problem: each is below the other's value.
    let (a, b) = (nested.dual.unwrap(), expanded.dual.unwrap());
    assert!(a <= expanded.objective && b <= nested.objective, "{what}");
    let stops = [Stop::Converged, Stop::Stalled];
    assert!(stops.contains(&nested.stop), "{what}: {:?}", nested.stop);
    assert!(nested.gap.unwrap() < 1e-10, "{what}: {:?}", nested.gap);
}

fn losses() -> Vec<BaUbaucParams> {
    let mut all = Vec::new();
    for (beta, softness) in [(0.0, 1.0), (0.5, 0.05), (0.1, 1.0), (0.5, 0.0)] {
        for class_weight in [ClassWeight::None, ClassWeight::Balanced] {
            for gamma in [1e-2, 1e-4] {
                all.push(BaUbaucParams {
                    beta,
                    gamma,
                    softness,
                    class_weight,
                    least_squares: LeastSquares::Plain,
                    tolerance: if softness > 0.0 { 1e-20 } else { 1e-11 },
                    ..BaUbaucParams::default()
                });
            }
        }
    }
    all
}

#[test]
fn nested_features_have_the_minimum_of_the_expanded_matrix() {
    for seed in 0..3 {
        let example = example(seed, 400, 4);
        let (data, expanded) = (example.data(), example.expanded());
        for params in losses() {
            let what = format!("seed {seed} {params:?}");
            let nested = fit(&data, &example.nested(), &params).unwrap();
            let other = fit(&expanded, &example.plain(), &params).unwrap();
            let near = if params.softness > 0.0 { 1e-9 } else { 1e-6 };
            check_same(&example, &nested, &other, near, &what);
        }
    }
}

/// More features than a block takes: conjugate gradients with blocks of components.
#[test]
fn many_nested_features_have_the_same_minimum() {
    let example = example(9, 3000, 150);
    let (data, expanded) = (example.data(), example.expanded());
    for softness in [1.0, 0.05] {
        let params = BaUbaucParams {
            beta: 0.2,
            gamma: 1e-3,
            softness,
            tolerance: 1e-20,
            ..BaUbaucParams::default()
        };
        let nested = fit(&data, &example.nested(), &params).unwrap();
        let other = fit(&expanded, &example.plain(), &params).unwrap();
        let what = format!("softness {softness}");
        check_same(&example, &nested, &other, 1e-9, &what);
    }
}

#[test]
fn a_path_goes_on_from_weights_of_the_features() {
    let example = example(4, 500, 3);
    let data = example.data();
    let params = |gamma: f64| BaUbaucParams {
        gamma,
        beta: 0.0,
        softness: 1.0,
        tolerance: 1e-10,
        ..BaUbaucParams::default()
    };
    let inputs = example.nested();
    let mut path = Path::new(&data, &inputs, params(1.0).weighting()).unwrap();
    let first = path.fit(&params(1e-3)).unwrap();
    path.fit(&params(1e-2)).unwrap();
    path.restart(&first.weights).unwrap();
    let again = path.fit(&params(1e-3)).unwrap();
    assert!(again.newton <= 1, "{}", again.newton);
    assert!(far(&first.weights, &again.weights) < 1e-6);
}

#[test]
fn nested_features_of_another_number_and_divisors_are_refused() {
    let (one, other) = (example(1, 50, 2), example(1, 50, 3));
    let data = one.data();
    let params = BaUbaucParams::default();
    assert!(fit(&data, &other.nested(), &params).is_err());
    let divisors = vec![1.0; data.rows().cols()];
    let both = BatchInputs {
        divisors: Some(&divisors),
        ..one.nested()
    };
    assert!(fit(&data, &both, &params).is_err());
}
