//! `docs/model-file.md` names every field, and its example is a file.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use ubauc::calibrate::Calibration;
use ubauc::features::FeatureMap;
use ubauc::model::{Model, Partition};
use ubauc::model_file::{Certificate, FORMAT, Parameters, SavedModel, VERSION};

const PAGE: &str = include_str!("../../../../docs/model-file.md");

/// A file with every field there is.
fn full(features: FeatureMap, weights: Vec<f64>) -> Value {
    let some = Some(0.5);
    let model = Model {
        features,
        weights,
        calibration: Some(Calibration::new(1.0, 0.0, vec![0.0], vec![0.5]).unwrap()),
        partition: Some(Partition {
            negative: vec!["a".to_string()],
            positive: vec!["b".to_string()],
        }),
        names: vec!["x".to_string(); 8],
        ..Model::default()
    };
    let certificate = Certificate {
        objective: some,
        dual: some,
        gap: some,
        stop: Some("converged".to_string()),
        lambda: Some([0.0, 1.0]),
        tied: Some(0),
        steps: Some(1),
        progressive_auc: some,
        error_bound: some,
        n: 2,
        n_pos: 1,
        n_neg: 1,
    };
    let mut parameters = Parameters::new();
    parameters.insert("beta".to_string(), json!(0.5));
    let saved = SavedModel::new(model, "ba-ubauc", parameters, certificate).unwrap();
    serde_json::from_str(&saved.to_json().unwrap()).unwrap()
}

/// The names of all fields, those of an object behind its own and a point. Parameters are the algorithm's.
fn names_of(file: &Value, names: &mut BTreeSet<String>) {
    for (name, value) in file.as_object().unwrap() {
        names.insert(name.clone());
        if let (Some(inner), false) = (value.as_object(), name == "parameters") {
            names.extend(inner.keys().map(|key| format!("{name}.{key}")));
        }
    }
}

#[test]
fn the_tables_name_the_fields_that_there_are() {
    let mut expected = BTreeSet::new();
    names_of(&full(FeatureMap::Identity, vec![1.0; 8]), &mut expected);
    names_of(&full(FeatureMap::Hash { bits: 3 }, vec![]), &mut expected);
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `"));
    let found: BTreeSet<String> = rows
        .filter_map(|row| Some(row.split_once('`')?.0.to_string()))
        .collect();
    assert_eq!(found, expected);
    assert!(PAGE.contains(FORMAT) && PAGE.contains(&format!("`{VERSION}`")));
}

#[test]
fn the_example_is_a_file() {
    let (_, rest) = PAGE.split_once("```json\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let saved = SavedModel::from_json(example).unwrap();
    assert_eq!(saved.to_json().unwrap(), example);
}
