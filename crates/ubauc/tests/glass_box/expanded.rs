//! Fits and look-ups against the matrix X S written out and learned from as any other.

use ubauc::data::dataset::Dataset;
use ubauc::data::labels::Binary;
use ubauc::data::rows::{Csr, Rows};
use ubauc::data::table::{Table, Values};
use ubauc::glass_box::{GlassBox, MapKind, PairChoice, TrainingTable};
use ubauc::model::Model;
use ubauc::model_file::{Parameters, SavedModel};
use ubauc::objective::ubauc::{ClassWeight, LeastSquares};
use ubauc::solver::ba_ubauc::{BaUbaucParams, BatchInputs, Fit, fit};
use ubauc::solver::nesting::{Group, Nesting};

use super::{example, labels, training};
use crate::columns::{category, number, table, time};

/// X S; without groups every feature is one.
pub(super) fn expanded(rows: &Rows, groups: &[Group]) -> Csr {
    let mut of_feature: Vec<Vec<(u32, f64)>> = vec![Vec::new(); rows.cols()];
    for (g, group) in groups.iter().enumerate() {
        let members = group.features.iter();
        members.for_each(|&j| of_feature[j as usize].push((g as u32, group.factor)));
    }
    let (mut indptr, mut indices, mut values) = (vec![0], vec![], vec![]);
    for i in 0..rows.len() {
        let mut row: Vec<(u32, f64)> = Vec::new();
        for (j, x) in rows.row(i).entries() {
            row.extend(of_feature[j].iter().map(|(g, factor)| (*g, factor * x)));
        }
        row.sort_by_key(|entry| entry.0);
        indices.extend(row.iter().map(|entry| entry.0));
        values.extend(row.iter().map(|entry| entry.1));
        indptr.push(indices.len());
    }
    Csr::new(indptr, indices, values, groups.len()).unwrap()
}

/// The groups of a map, one for each feature where there is no nesting.
fn groups(found: &GlassBox) -> Vec<Group> {
    let alone = |j: u32| Group {
        factor: 1.0,
        family: 0,
        features: vec![j],
    };
    match &found.learned.nesting {
        Some(nesting) => nesting.groups().to_vec(),
        None => (0..found.learned.map.width() as u32).map(alone).collect(),
    }
}

fn fit_expanded(
    found: &GlassBox,
    of: &TrainingTable<'_>,
    params: &BaUbaucParams,
) -> (Vec<Group>, Fit) {
    let groups = groups(found);
    let rows = Rows::Csr(expanded(found.data.rows(), &groups));
    let data = Dataset::new(rows, of.labels.clone(), Vec::new()).unwrap();
    let inputs = BatchInputs {
        weights: of.weights,
        ..BatchInputs::default()
    };
    (groups, fit(&data, &inputs, params).unwrap())
}

fn kinds() -> [MapKind; 3] {
    [
        MapKind::Linear,
        MapKind::Additive,
        MapKind::Pairs(PairChoice::Best(4)),
    ]
}

/// Every loss, with the distance of its weights that the end of its solver leaves: ‖w − w*‖ ≤ ‖∇P‖/γ of the soft losses,
/// whose gradient ends at rounding; for the hinge, ‖w − w*‖² ≤ 2(P − D)/γ of both fits.
fn losses() -> Vec<(BaUbaucParams, f64)> {
    let mut all = Vec::new();
    for (beta, softness) in [(0.0, 1.0), (0.0, 0.1), (0.5, 0.05), (0.1, 1.0), (0.5, 0.0)] {
        for class_weight in [ClassWeight::None, ClassWeight::Balanced] {
            for least_squares in [LeastSquares::Plain, LeastSquares::Balanced] {
                if beta == 0.0 && least_squares == LeastSquares::Balanced {
                    continue;
                }
                let gamma = 1e-3;
                let params = BaUbaucParams {
                    beta,
                    gamma,
                    softness,
                    class_weight,
                    least_squares,
                    tolerance: if softness > 0.0 { 1e-20 } else { 1e-11 },
                    ..BaUbaucParams::default()
                };
                let near = match softness > 0.0 {
                    true => 1e-9,
                    false => 2.0 * (2.0 * 1e-11 / gamma).sqrt(),
                };
                all.push((params, near));
            }
        }
    }
    all
}

/// The same columns with levels and times that the training table lacks, and gaps everywhere.
fn other_rows(of: &Table) -> Table {
    let n = 60;
    let gap = |i: usize, at: usize| i % 5 == at;
    let columns = of.columns().iter().enumerate().map(|(k, column)| {
        let name = &column.name;
        match &column.values {
            Values::Number(_) => {
                let x = |i: usize| match gap(i, k % 5) {
                    true => f64::NAN,
                    false => (i as f64 - 30.0) * 10f64.powi(i as i32 % 7 - 3),
                };
                number(name, &(0..n).map(x).collect::<Vec<_>>())
            }
            Values::Time(_) => time(name, &(0..n).map(|i| i as f64 * 9e6).collect::<Vec<_>>()),
            Values::Category { levels, .. } => {
                let text = |i: usize| match (gap(i, k % 5), i % 3) {
                    (true, _) => "",
                    (_, 0) => "never seen",
                    _ => levels[i % levels.len()].as_str(),
                };
                category(name, &(0..n).map(text).collect::<Vec<_>>())
            }
        }
    });
    table(columns.collect())
}

#[test]
fn fits_are_those_of_the_expanded_matrix_whatever_the_loss_and_the_map() {
    let (table, labels) = example(3, 500);
    let weights: Vec<f64> = (0..500).map(|i| f64::from(i % 4) * 0.7).collect();
    let other = other_rows(&table);
    for kind in kinds() {
        for (at, (params, near)) in losses().into_iter().enumerate() {
            let of = TrainingTable {
                weights: (at % 2 == 1).then_some(&weights),
                ..training(&table, &labels)
            };
            let what = format!("{kind} {params:?}");
            let found = of.fit(&kind, &params, None).unwrap();
            let (groups, expected) = fit_expanded(&found, &of, &params);
            let objective = found.outcome.certificate.objective.unwrap();
            let off = (objective - expected.objective).abs() / expected.objective;
            assert!(off < 1e-9, "{what}: {off}");
            let own = Nesting::new(found.learned.map.width(), groups.clone()).unwrap();
            let weights = own.expand(&expected.weights);
            for (a, b) in found.outcome.model.weights.iter().zip(&weights) {
                assert!((a - b).abs() < near, "{what}: {a} {b}");
            }
            // Look-ups in the tables of the expanded weights score as the expanded matrix does, also rows with gaps and
            // levels that were never seen.
            let model = Model {
                weights,
                intercept: expected.intercept,
                ..found.model()
            };
            for rows in [&table, &other] {
                let scores = model.scores_table(rows).unwrap();
                let matrix = Rows::Csr(expanded(&found.learned.map.apply(rows).unwrap(), &groups));
                for (i, score) in scores.iter().enumerate() {
                    let terms = || {
                        matrix
                            .row(i)
                            .entries()
                            .map(|(j, x)| x * expected.weights[j])
                    };
                    let by_row = terms().sum::<f64>() + expected.intercept;
                    let size = terms().map(f64::abs).sum::<f64>().max(1.0);
                    let off = (score - by_row).abs();
                    assert!(off <= 1e-12 * size, "{what}: {score} {by_row}");
                }
            }
        }
    }
}

/// One column, one level, one positive, no value at all.
fn small_tables() -> Vec<(Table, Binary)> {
    let n = 12;
    let x: Vec<f64> = (0..n).map(f64::from).collect();
    let one_level = vec!["a"; n as usize];
    let gaps: Vec<f64> = (0..n)
        .map(|i| if i % 3 == 0 { f64::NAN } else { 2.0 })
        .collect();
    let few: Vec<&str> = (0..n)
        .map(|i| ["a", "b", "", "a"][i as usize % 4])
        .collect();
    let one_positive = labels((0..n).map(|i| i == 3).collect());
    let half = labels((0..n).map(|i| i % 2 == 0).collect());
    [
        vec![number("x", &x)],
        vec![number("x", &gaps)],
        vec![category("c", &one_level)],
        vec![category("c", &few)],
        vec![category("c", &one_level), number("x", &x)],
        vec![category("c", &few), number("x", &x), time("t", &x)],
        vec![number("x", &vec![f64::NAN; n as usize])],
    ]
    .into_iter()
    .flat_map(|columns| {
        [
            (table(columns.clone()), one_positive.clone()),
            (table(columns), half.clone()),
        ]
    })
    .collect()
}

#[test]
fn small_tables_are_learned_saved_and_explained() {
    use ubauc::glass_box::effects::Effects;
    for (table, labels) in small_tables() {
        for kind in kinds() {
            let params = BaUbaucParams {
                softness: 1.0,
                ..BaUbaucParams::default()
            };
            let found = training(&table, &labels).fit(&kind, &params, None).unwrap();
            let model = found.model();
            let map = &found.learned.map;
            let effects = Effects::new(map, &model.weights, model.intercept, &table, None).unwrap();
            let scores = model.scores_table(&table).unwrap();
            for (score, terms) in scores.iter().zip(effects.eval(&table).unwrap()) {
                let sum = effects.intercept + terms.iter().sum::<f64>();
                assert!((sum - score).abs() < 1e-12, "{kind}");
            }
            let saved = saved(&found, &table);
            let read = SavedModel::from_json(&saved.to_json().unwrap()).unwrap();
            assert_eq!(read, saved);
            assert_eq!(read.model.scores_table(&table).unwrap(), scores);
        }
    }
}

fn saved(found: &GlassBox, table: &Table) -> SavedModel {
    use ubauc::glass_box::effects::Effects;
    let model = found.model();
    let map = &found.learned.map;
    let effects = Effects::new(map, &model.weights, model.intercept, table, None).unwrap();
    let certificate = found.outcome.certificate.clone();
    let saved = SavedModel::new(model, "ba-ubauc", Parameters::new(), certificate).unwrap();
    saved.with_effects(Some(effects.saved()))
}

/// A byte of the effects that is changed is found, or says the same.
#[test]
fn damage_to_the_effects_of_a_file_is_found() {
    let (table, labels) = example(5, 300);
    let kind = MapKind::Pairs(PairChoice::Best(2));
    let found = training(&table, &labels)
        .fit(&kind, &BaUbaucParams::default(), None)
        .unwrap();
    let saved = saved(&found, &table);
    let text = saved.to_json().unwrap();
    let start = text.find("\"effects\"").unwrap();
    assert!(text.len() - start > 1000);
    let mut refused = 0;
    for at in (start..text.len()).step_by(97) {
        let mut bytes = text.clone().into_bytes();
        bytes[at] = if bytes[at] == b'7' { b'3' } else { b'7' };
        let Ok(changed) = String::from_utf8(bytes) else {
            continue;
        };
        match SavedModel::from_json(&changed) {
            Err(_) => refused += 1,
            Ok(read) => assert_eq!(read, saved, "byte {at}"),
        }
    }
    assert!(refused > 100, "{refused}");
    // A file that was cut and sewn together is no file either.
    let cut = format!("{}{}", &text[..start + 500], &text[start + 600..]);
    assert!(SavedModel::from_json(&cut).is_err());
}
