//! Columns that are not there, or of another kind than the model's.

use ubauc::Error;
use ubauc::data::rows::{Dense, Row, Rows};
use ubauc::data::table::Table;
use ubauc::features::FeatureMap;
use ubauc::features::columns::ColumnMap;
use ubauc::model::Model;

use super::{category, number, table, time};

fn model(learned: &Table) -> Model {
    let map = ColumnMap::learn(learned, None).unwrap();
    Model {
        weights: (0..map.width()).map(|j| 1.0 + j as f64).collect(),
        features: FeatureMap::Columns(map),
        ..Model::default()
    }
}

fn learned() -> Table {
    table(vec![
        number("age", &[20.0, 30.0, f64::NAN, 40.0, 50.0, 60.0]),
        category("zip", &["7", "7", "7", "12", "12", "12"]),
        time("at", &[0.0, 86400.0, 172800.0, 1e6, 2e6, 3e6]),
        number("always", &[1.0; 6]),
    ])
}

fn refused(new: Table) -> Error {
    model(&learned()).scores_table(&new).unwrap_err()
}

#[test]
fn a_column_that_is_used_must_be_there() {
    let all = learned();
    let without = |name: &str| {
        let kept = all.columns().iter().filter(|c| c.name != name).cloned();
        Table::new(kept.collect(), 6).unwrap()
    };
    for name in ["age", "zip", "at"] {
        let error = refused(without(name));
        assert!(matches!(&error, Error::Column { name: found } if found == name));
    }
    // A constant is of no use.
    let scores = model(&all).scores_table(&all).unwrap();
    assert_eq!(
        model(&all).scores_table(&without("always")).unwrap(),
        scores
    );
}

#[test]
fn numbers_stand_for_their_texts_and_texts_for_their_numbers() {
    let scores = model(&learned()).scores_table(&learned()).unwrap();
    let turned = table(vec![
        category("age", &["20", " 30.0", "", "4e1", "50", "60"]),
        number("zip", &[7.0, 7.0, 7.0, 12.0, 12.0, 12.0]),
        learned().column("at").unwrap().clone(),
    ]);
    assert_eq!(model(&learned()).scores_table(&turned).unwrap(), scores);
}

#[test]
fn other_kinds_are_refused_by_name() {
    let of = |k: usize, other| {
        let mut columns = learned().columns().to_vec();
        columns[k] = other;
        Table::new(columns, 6).unwrap()
    };
    let words = ["20", "x", "30", "40", "", ""];
    let error = refused(of(0, category("age", &words)));
    assert_eq!(
        error.to_string(),
        "column 'age': expected a number, found the text 'x'"
    );
    let error = refused(of(2, number("at", &[1.0; 6])));
    assert_eq!(
        error.to_string(),
        "column 'at': expected a time, found a number"
    );
    let error = refused(of(1, time("zip", &[1.0; 6])));
    assert!(matches!(
        error,
        Error::ColumnKind {
            expected: "category",
            ..
        }
    ));
    let error = refused(of(0, time("age", &[1.0; 6])));
    assert!(matches!(
        error,
        Error::ColumnKind {
            expected: "number",
            ..
        }
    ));
    let error = refused(of(2, category("at", &words)));
    assert!(matches!(
        error,
        Error::ColumnKind {
            expected: "time",
            ..
        }
    ));
}

#[test]
fn a_column_without_values_is_of_every_kind() {
    let empty = [f64::NAN; 6];
    let columns = |age, zip, at| table(vec![age, zip, at]);
    let model = model(&learned());
    let right = columns(
        number("age", &empty),
        category("zip", &[""; 6]),
        time("at", &empty),
    );
    let expected = model.scores_table(&right).unwrap();
    let other = columns(
        category("age", &[""; 6]),
        time("zip", &empty),
        number("at", &empty),
    );
    assert_eq!(model.scores_table(&other).unwrap(), expected);
}

#[test]
fn rows_without_names_are_refused() {
    let model = model(&learned());
    let rows = Rows::Dense(Dense::new(vec![1.0; 8], 2, 4).unwrap());
    for error in [
        model.scores(&rows).unwrap_err(),
        model.score(Row::Dense(&[1.0])).unwrap_err(),
        model.scores_by_name(&rows, &[]).unwrap_err(),
        model.features.apply(&rows).unwrap_err(),
    ] {
        assert!(
            matches!(&error, Error::NoNames { first } if first == "age"),
            "{error}"
        );
    }
}

#[test]
fn a_model_of_numbers_scores_a_table_of_numbers() {
    let mut plain = Model::linear(vec![1.0, -1.0], 0.5);
    let new = table(vec![number("b", &[2.0, 3.0]), number("a", &[10.0, 20.0])]);
    assert_eq!(plain.scores_table(&new).unwrap(), [-7.5, -16.5]);
    plain.names = ["a", "b"].map(str::to_string).to_vec();
    assert_eq!(plain.scores_table(&new).unwrap(), [8.5, 17.5]);
    let gap = table(vec![number("b", &[f64::NAN]), number("a", &[1.0])]);
    let error = plain.scores_table(&gap).unwrap_err().to_string();
    assert_eq!(
        error,
        "column 'b': expected a number, found no value in row 1"
    );
}
