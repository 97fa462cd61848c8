use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Binary;
use ubauc::data::rows::Rows;
use ubauc::data::table::Table;
use ubauc::features::columns::NestedMap;
use ubauc::glass_box::{LearnedMap, MapKind, PairChoice, TrainingTable};
use ubauc::metrics::auc;
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, fit};
use ubauc::solver::nesting::{Group, Nesting};

use super::expanded::expanded;
use super::{example, labels, training};
use crate::columns::{number, table};

fn logistic() -> BaUbaucParams {
    BaUbaucParams {
        beta: 0.0,
        softness: 1.0,
        gamma: 1e-3,
        ..BaUbaucParams::default()
    }
}

/// The factor of each family.
fn factors(learned: &LearnedMap) -> Vec<f64> {
    let groups = learned.nesting.as_ref().unwrap().groups();
    let mut factors = Vec::new();
    for group in groups {
        if group.family as usize == factors.len() {
            factors.push(group.factor);
        }
        assert_eq!(factors[group.family as usize], group.factor);
    }
    factors
}

/// A wave, and columns of noise.
fn wave(seed: u64, n: usize) -> (Table, Binary) {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); 5];
    let mut positive = Vec::new();
    for _ in 0..n {
        columns
            .iter_mut()
            .for_each(|x| x.push(rng.random_range(-3.0..3.0)));
        let pull = (3.0 * columns[0][positive.len()]).sin() * 2.0;
        positive.push(pull + rng.random_range(-2.0..2.0) > 0.0);
    }
    let names = ["wave", "a", "b", "c", "d"];
    let columns = names.iter().zip(&columns).map(|(name, x)| number(name, x));
    (table(columns.collect()), labels(positive))
}

#[test]
fn columns_that_tell_nothing_are_shrunk_most() {
    let (table, labels) = wave(3, 3000);
    let learned = training(&table, &labels).learn(&MapKind::Additive).unwrap();
    let groups = learned.nesting.as_ref().unwrap().groups();
    let starts = learned.map.starts();
    let of_column = |column: usize| -> f64 {
        let effects = learned.map.effects.iter().zip(&starts);
        let bins = effects.filter(|(e, _)| e.columns() == [column] && !e.is_linear());
        let start = bins.map(|(_, start)| *start).next().unwrap();
        let own = groups.iter().filter(|g| {
            let first = g.features[0] as usize;
            starts.iter().filter(|s| **s <= first).max() == Some(&start)
        });
        own.map(|g| g.factor).fold(0.0, f64::max)
    };
    for noise in 1..5 {
        let [told, of_noise] = [of_column(0), of_column(noise)];
        assert!(told > 4.0 * of_noise, "{told} {of_noise}");
    }
}

/// Weights have no unit: only their ratios count.
#[test]
fn the_unit_of_the_weights_does_not_matter() {
    let (table, labels) = wave(4, 800);
    let of = |weight: f64| {
        let weights = vec![weight; 800];
        let training = TrainingTable {
            weights: Some(&weights),
            ..training(&table, &labels)
        };
        factors(&training.learn(&MapKind::Additive).unwrap())
    };
    let plain = factors(&training(&table, &labels).learn(&MapKind::Additive).unwrap());
    for weight in [1.0 / 800.0, 1.0, 1024.0] {
        assert_eq!(of(weight), plain, "{weight}");
    }
}

/// Better on rows that were not seen than with the factors that the map begins with, at the same γ.
#[test]
fn factors_learned_from_rows_are_better_than_fixed_ones() {
    let params = logistic();
    let (seen, of_seen) = wave(5, 1500);
    let (unseen, of_unseen) = wave(6, 3000);
    let fixed = LearnedMap::from(NestedMap::additive(&seen, None).unwrap());
    let learned = training(&seen, &of_seen).learn(&MapKind::Additive).unwrap();
    assert_eq!(fixed.map, learned.map);
    let judged = |map: &LearnedMap| {
        let data = Dataset::new(map.map.apply(&seen).unwrap(), of_seen.clone(), Vec::new());
        let inputs = BatchInputs {
            nesting: map.nesting.as_ref(),
            ..BatchInputs::default()
        };
        let fitted = fit(&data.unwrap(), &inputs, &params).unwrap();
        let rows = map.map.apply(&unseen).unwrap();
        let scores: Vec<f64> = (0..rows.len())
            .map(|i| rows.row(i).dot(&fitted.weights))
            .collect();
        auc(&scores, &of_unseen.positive).unwrap().auc
    };
    let (before, after) = (judged(&fixed), judged(&learned));
    assert!(after > before + 0.005, "{before} {after}");
}

/// Logistic regression on the expanded matrix XS, and Laplace's approximation of the logarithm of its evidence, threshold free:
/// −N·P − ½ ln det(I + SᵀXᵀHXS/ρ).
fn log_evidence(map: &LearnedMap, table: &Table, labels: &Binary) -> f64 {
    let params = BaUbaucParams {
        tolerance: 1e-9,
        ..logistic()
    };
    let groups = map.nesting.as_ref().unwrap().groups();
    let rows = Rows::Csr(expanded(&map.map.apply(table).unwrap(), groups));
    let data = Dataset::new(rows, labels.clone(), Vec::new()).unwrap();
    let fitted = fit(&data, &BatchInputs::default(), &params).unwrap();
    let (n, k) = (table.len(), groups.len());
    let ridge = params.gamma * n as f64;
    let (mut square, mut sums, mut total) = (vec![vec![0.0; k]; k], vec![0.0; k], 0.0);
    for i in 0..n {
        let p = 1.0 / (1.0 + (-fitted.scores[i] - fitted.intercept).exp());
        let h = p * (1.0 - p);
        let row: Vec<(usize, f64)> = data.rows().row(i).entries().collect();
        total += h;
        for &(a, x) in &row {
            sums[a] += h * x;
            row.iter().for_each(|&(b, y)| square[a][b] += h * x * y);
        }
    }
    for a in 0..k {
        for b in 0..k {
            square[a][b] = (square[a][b] - sums[a] * sums[b] / total) / ridge;
        }
        square[a][a] += 1.0;
    }
    // Gauss: the determinant is the product of the pivots.
    let mut log_determinant = 0.0;
    for a in 0..k {
        let row = square[a].clone();
        log_determinant += row[a].ln();
        for below in &mut square[a + 1..] {
            let share = below[a] / row[a];
            (a..k).for_each(|b| below[b] -= share * row[b]);
        }
    }
    -(n as f64) * fitted.objective - 0.5 * log_determinant
}

/// What empirical Bayes maximises.
#[test]
fn the_evidence_of_the_rows_rises() {
    let rng = &mut Pcg64::seed_from_u64(8);
    let n = 1500;
    let mut columns: Vec<Vec<f64>> = vec![vec![0.0; n]; 3];
    let mut positive = Vec::new();
    for i in 0..n {
        columns
            .iter_mut()
            .for_each(|x| x[i] = f64::from(rng.random_range(0..30)));
        let pull = (0.4 * columns[0][i]).sin() * 2.0 + 0.05 * columns[1][i];
        positive.push(pull + rng.random_range(-2.0..2.0) > 1.0);
    }
    let names = ["wave", "line", "noise"];
    let columns = names.iter().zip(&columns).map(|(name, x)| number(name, x));
    let (table, labels) = (table(columns.collect()), labels(positive));
    let fixed = LearnedMap::from(NestedMap::additive(&table, None).unwrap());
    let learned = training(&table, &labels).learn(&MapKind::Additive).unwrap();
    let evidence = |map: &LearnedMap| log_evidence(map, &table, &labels);
    let (before, after) = (evidence(&fixed), evidence(&learned));
    assert!(after > before + 10.0, "{before} {after}");
    // Any family alone four times as large or as small is no better, but for what other effects explain as well and for steps.
    let nesting = learned.nesting.as_ref().unwrap();
    for family in 0..factors(&learned).len() as u32 {
        for times in [0.25, 4.0] {
            let changed = nesting.groups().iter().map(|group| Group {
                factor: group.factor * if group.family == family { times } else { 1.0 },
                ..group.clone()
            });
            let changed = LearnedMap {
                nesting: Some(Nesting::new(nesting.cols(), changed.collect()).unwrap()),
                ..learned.clone()
            };
            let found = evidence(&changed);
            assert!(found < after + 1.5, "{family} {times}: {after} {found}");
        }
    }
}

#[test]
fn rows_without_a_weight_and_the_number_of_threads_change_nothing() {
    let (table, labels) = example(4, 1200);
    let kind = MapKind::Pairs(PairChoice::Best(3));
    let kept: Vec<f64> = (0..1200).map(|i| f64::from(u8::from(i % 3 != 0))).collect();
    let changed: Vec<bool> = (labels.positive.iter().zip(&kept))
        .map(|(p, s)| *p != (*s == 0.0))
        .collect();
    let other = super::labels(changed);
    let learn = |labels: &Binary, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let of = TrainingTable {
            weights: Some(&kept),
            ..training(&table, labels)
        };
        factors(&pool.unwrap().install(|| of.learn(&kind)).unwrap())
    };
    let found = learn(&labels, 1);
    assert_eq!(found, learn(&other, 3));
    assert!(found.iter().any(|f| *f != 0.5 && *f != 1.0));
    assert!(found.iter().all(|f| (0.007..=8.0).contains(f)));
}

#[test]
fn rows_of_one_class_keep_the_factors_of_the_map() {
    let (table, labels) = example(4, 300);
    let weights: Vec<f64> = labels
        .positive
        .iter()
        .map(|p| f64::from(u8::from(*p)))
        .collect();
    let of = TrainingTable {
        weights: Some(&weights),
        ..training(&table, &labels)
    };
    let learned = of.learn(&MapKind::Additive).unwrap();
    assert!(factors(&learned).iter().all(|f| *f == 0.5 || *f == 1.0));
}
