//! `docs/model-file.md` names every field, and its example is a file.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use ubauc::algorithm::Stop;
use ubauc::calibrate::Calibration;
use ubauc::data::table::{Column, MISSING, Table, Values};
use ubauc::features::FeatureMap;
use ubauc::features::columns::{Cells, ColumnMap, Direction, Effect, PairCells};
use ubauc::glass_box::effects::{SavedEffects, SavedTerm};
use ubauc::many_classes::{ClassModel, WholeCertificate};
use ubauc::model::{Model, Notation, Partition, Reading};
use ubauc::model_file::{
    Certificate, FORMAT, MANY_VERSION, Parameters, SavedClassModel, SavedModel, VERSION,
};
use ubauc::read::table::DateOrder;

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
        reading: Reading {
            label: Some("y".to_string()),
            missing: Some(vec!["?".to_string()]),
            columns: vec![Notation {
                name: "x".to_string(),
                decimal_comma: true,
                date_order: Some(DateOrder::DayFirst),
            }],
        },
        ..Model::default()
    };
    let certificate = Certificate {
        objective: some,
        dual: some,
        gap: some,
        stop: Some(Stop::Converged),
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
    let saved = saved.with_effects(Some(SavedEffects {
        intercept: 0.5,
        terms: vec![SavedTerm {
            importance: 0.5,
            gain: some,
            interval: Some([0.1, 0.4]),
            constant: 0.5,
            values: vec![0.5],
            shifts: Some([vec![0.5], vec![0.5]]),
            rows: vec![vec![0, 2]],
            numbers: vec![[0.5, -0.5, 1.5].into()],
        }],
        means: vec![0.5],
        deviations: vec![0.5],
        intervals: vec![[0.0, 0.5]],
    }));
    serde_json::from_str(&saved.to_json().unwrap()).unwrap()
}

/// A file of many classes.
fn many() -> Value {
    let certificate = WholeCertificate {
        objective: Some(0.5),
        dual: Some(0.5),
        gap: Some(0.0),
        stop: Some(Stop::Converged),
        n: 3,
    };
    let saved = SavedClassModel {
        model: ClassModel {
            classes: ["a", "b", "c"].map(str::to_string).to_vec(),
            scorers: vec![Model::linear(vec![1.0], 0.0); 3],
        },
        algorithm: "ba-ubauc".to_string(),
        parameters: Parameters::new(),
        certificate,
        certificates: vec![Certificate::default(); 3],
    };
    serde_json::from_str(&saved.to_json().unwrap()).unwrap()
}

/// The names of all fields, those of an object behind its own and a point, those of the objects of a list behind `[]`.
/// Parameters are the algorithm's.
fn names_of(file: &Value, names: &mut BTreeSet<String>) {
    add_names("", file, names);
}

fn add_names(place: &str, value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = match place {
                    "" => name.clone(),
                    place => format!("{place}.{name}"),
                };
                if name != "parameters" {
                    add_names(&name, value, names);
                }
                names.insert(name);
            }
        }
        Value::Array(values) => {
            let place = format!("{place}[]");
            values
                .iter()
                .for_each(|value| add_names(&place, value, names));
        }
        _ => {}
    }
}

/// A map with every field.
fn columns() -> ColumnMap {
    let texts: Vec<String> = "a,a,a,b".split(',').map(str::to_string).collect();
    let codes = vec![0, 0, 0, 1, MISSING, 0];
    let levels = vec![texts[0].clone(), texts[3].clone()].into();
    let numbers = vec![1.0, 2.0, 3.0, 4.0, f64::NAN, 6.0];
    let column = |name: &str, values| Column {
        name: name.to_string(),
        values,
    };
    let columns = vec![
        column("age", Values::Number(numbers.clone().into())),
        column("work", Values::Category { codes, levels }),
        column(
            "at",
            Values::Time(
                numbers
                    .iter()
                    .map(|x| x * 9000.0)
                    .collect::<Vec<f64>>()
                    .into(),
            ),
        ),
        column("same", Values::Number(vec![1.0; 6].into())),
    ];
    let table = Table::new(columns, 6).unwrap();
    let mut map = ColumnMap::learn(&table, None).unwrap();
    map.columns[0].direction = Some(Direction::Increasing);
    let bins = Cells::Bins {
        cuts: vec![2.5],
        missing: Some(2),
    };
    let table = PairCells::Table {
        columns: 1,
        cells: vec![0, 1, 0],
    };
    for pairs in [table, PairCells::of_pairs(&[[0, 0]])] {
        map.effects.push(Effect::Pair {
            columns: [0, 3],
            cells: [bins.clone(), Cells::Missing],
            pairs,
        });
    }
    map
}

#[test]
fn the_tables_name_the_fields_that_there_are() {
    let mut expected = BTreeSet::new();
    names_of(&full(FeatureMap::Identity, vec![1.0; 8]), &mut expected);
    names_of(&full(FeatureMap::Hash { bits: 3 }, vec![]), &mut expected);
    names_of(&full(FeatureMap::Columns(columns()), vec![]), &mut expected);
    let hashed = FeatureMap::Columns(columns().hashed(3).unwrap());
    names_of(&full(hashed, vec![]), &mut expected);
    let mut of_many = BTreeSet::new();
    names_of(&many(), &mut of_many);
    // What a scorer has inside is described with two classes.
    let is_inner = |name: &&String| {
        let inner = name.strip_prefix("scorers[].");
        inner.is_some_and(|inner| inner.contains('.'))
    };
    expected.extend(of_many.iter().filter(|name| !is_inner(name)).cloned());
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `"));
    let found: BTreeSet<String> = rows
        .filter_map(|row| Some(row.split_once('`')?.0.to_string()))
        .collect();
    assert_eq!(found, expected);
    assert!(PAGE.contains(FORMAT) && PAGE.contains(&format!("`{VERSION}`")));
    assert!(PAGE.contains(&format!("`{MANY_VERSION}`")));
}

#[test]
fn a_map_of_columns_is_read_back_and_damage_is_found() {
    let features = FeatureMap::Columns(columns());
    let width = columns().width();
    let model = Model {
        features,
        weights: (0..width).map(|j| (j as f64).sin()).collect(),
        ..Model::default()
    };
    let saved = SavedModel::new(model, "ba-ubauc", Parameters::new(), Certificate::default());
    let saved = saved.unwrap();
    let text = saved.to_json().unwrap();
    assert_eq!(SavedModel::from_json(&text).unwrap(), saved);
    for (from, to) in [
        ("\"age\"", "\"aged\""),
        ("2.5", "2.25"),
        ("[0,1,0]", "[0,1,1]"),
    ] {
        assert!(text.contains(from), "{from}: {text}");
        assert!(SavedModel::from_json(&text.replace(from, to)).is_err());
    }
    // A map that is none is refused though the checksum be right.
    for k in 0..2 {
        let mut broken = saved.clone();
        let FeatureMap::Columns(map) = &mut broken.model.features else {
            panic!("columns")
        };
        match k {
            0 => map.effects.rotate_left(1),
            _ => map.columns.truncate(2),
        }
        assert!(broken.to_json().is_err());
    }
}

#[test]
fn the_example_is_a_file() {
    let (_, rest) = PAGE.split_once("```json\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let saved = SavedModel::from_json(example).unwrap();
    assert_eq!(saved.to_json().unwrap(), example);
}
