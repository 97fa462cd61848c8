//! The five tables of real life, where they are at hand: what is made of every column.

use ubauc::read::table::{ColumnKind, TableExamples, TableOptions, read_table};

use super::real_data;

fn read(name: &str, label: &str) -> Option<TableExamples> {
    let path = real_data(name)?.join(format!("tables/{name}.csv.zst"));
    let options = TableOptions {
        label: Some(label.to_string()),
        ..Default::default()
    };
    Some(read_table(&path, &options).unwrap())
}

/// `name:kind` of every column, `!missing` behind it where any is.
fn kinds(table: &TableExamples) -> String {
    let kinds = table.columns.iter().map(|column| {
        let kind = match column.kind {
            ColumnKind::Number => "number".to_string(),
            ColumnKind::Category => format!("category({})", column.levels.unwrap()),
            ColumnKind::Boolean => "boolean".to_string(),
            ColumnKind::Time => "time".to_string(),
            ColumnKind::Identifier => "identifier".to_string(),
            ColumnKind::Constant => "constant".to_string(),
        };
        let gaps = match column.missing {
            0 => String::new(),
            n => format!("!{n}"),
        };
        format!("{}:{kind}{gaps}", column.name)
    });
    kinds.collect::<Vec<_>>().join(" ")
}

#[test]
fn adult() {
    let Some(table) = read("adult", "classification") else {
        return;
    };
    assert_eq!(kinds(&table), "");
}

#[test]
fn bank() {
    let Some(table) = read("bank_additional", "y") else {
        return;
    };
    assert_eq!(kinds(&table), "");
}

#[test]
fn taiwan() {
    let Some(table) = read("taiwan_default", "default.payment.next.month") else {
        return;
    };
    assert_eq!(kinds(&table), "");
}

#[test]
fn credit() {
    let Some(table) = read("give_me_some_credit", "SeriousDlqin2yrs") else {
        return;
    };
    assert_eq!(kinds(&table), "");
}

#[test]
fn amazon() {
    let Some(table) = read("amazon_employee_access", "ACTION") else {
        return;
    };
    assert_eq!(kinds(&table), "");
}
