//! Tables: what is read does not depend on how the bytes come, batches are the table, and what is
//! written out is read back.
#![no_main]

use std::io::Read;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use ubauc::data::table::{MISSING, Table, Values};
use ubauc::read::Format;
use ubauc::read::table::{
    ColumnChoice, DateOrder, Encoding, GivenColumn, GivenKind, OnError, TableBatches,
    TableExamples, TableOptions, read_table_from, table_batches_from,
};
use ubauc_fuzz::{Trickle, one_thread};

fuzz_target!(|bytes: &[u8]| {
    one_thread();
    // The first byte chooses the options.
    let Some((&choice, text)) = bytes.split_first() else {
        return;
    };
    let options = TableOptions {
        format: Some(Format::Csv),
        label: (choice & 1 == 1).then(|| "y".to_string()),
        delimiter: (choice & 2 == 2).then_some(b';'),
        categorical: if choice & 4 == 4 {
            ColumnChoice::All
        } else {
            ColumnChoice::default()
        },
        encoding: match choice >> 3 & 3 {
            0 => None,
            1 => Some(Encoding::Latin1),
            2 => Some(Encoding::Windows1252),
            _ => Some(Encoding::Utf16),
        },
        no_header: choice & 32 == 32,
        max_line: if choice & 64 == 64 { 40 } else { 1 << 20 },
        ..Default::default()
    };
    let found = read(text, &options);
    match (&found, &read(Trickle(text), &options)) {
        (Ok(a), Ok(b)) => {
            assert_eq!(rows(&a.table), rows(&b.table));
            assert_eq!(a.labels, b.labels);
        }
        (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string()),
        (Ok(_), Err(e)) | (Err(e), Ok(_)) => panic!("only one of two readings failed: {e}"),
    }
    let skip = TableBatches {
        columns: Vec::new(),
        read: options.clone(),
        optional_label: true,
        classes: None,
        notice_others: true,
        on_error: OnError::Skip,
    };
    let _ = batches(text, &skip);
    let Ok(found) = found else { return };

    let given = TableBatches {
        columns: given(&found),
        read: options.clone(),
        on_error: OnError::Stop,
        ..skip
    };
    let again = batches(Trickle(text), &given).expect("what was read is read again");
    assert_eq!(rows(&found.table), again);

    let names: Vec<String> = found.columns.iter().map(|column| column.name.clone()).collect();
    let categories = TableOptions {
        format: Some(Format::Csv),
        categorical: ColumnChoice::All,
        delimiter: Some(b','),
        missing: Some(Vec::new()),
        ..Default::default()
    };
    let written = write(&names, &rows(&found.table));
    let again = read(written.as_bytes(), &categories).expect("own text is read back");
    assert_eq!(rows(&found.table), rows(&again.table));
});

fn read(text: impl Read + Send, options: &TableOptions<'_>) -> ubauc::Result<TableExamples> {
    read_table_from(text, Path::new("stream"), options)
}

fn batches(
    text: impl Read + Send,
    options: &TableBatches<'_>,
) -> ubauc::Result<Vec<Vec<Option<String>>>> {
    let mut all = Vec::new();
    table_batches_from::<_, ubauc::Error>(
        text,
        Path::new("stream"),
        options,
        |batch| rows(&batch.table),
        |rows| {
            all.extend(rows);
            Ok(())
        },
    )?;
    Ok(all)
}

/// As a model would know the columns.
fn given(found: &TableExamples) -> Vec<GivenColumn> {
    let columns = found.table.columns().iter().zip(&found.columns);
    let kind = |values: &Values, comma: bool, order: Option<DateOrder>| match values {
        Values::Number(_) => GivenKind::Number {
            decimal_comma: comma,
        },
        Values::Category { .. } => GivenKind::Category,
        Values::Time(_) => GivenKind::Time {
            order: order.expect("of a time"),
        },
    };
    columns
        .map(|(column, report)| GivenColumn {
            name: column.name.clone(),
            kind: kind(&column.values, report.decimal_comma, report.date_order),
        })
        .collect()
}

/// Every row as texts that keep every bit; `None` is missing.
fn rows(table: &Table) -> Vec<Vec<Option<String>>> {
    let value = |values: &Values, i: usize| match values {
        Values::Number(x) | Values::Time(x) => (!x[i].is_nan()).then(|| format!("{:?}", x[i])),
        Values::Category { codes, levels } => {
            (codes[i] != MISSING).then(|| levels[codes[i] as usize].clone())
        }
    };
    let row = |i| {
        let columns = table.columns().iter();
        columns.map(|column| value(&column.values, i)).collect()
    };
    (0..table.len()).map(row).collect()
}

/// All fields quoted, so that no row is an empty line.
fn write(names: &[String], rows: &[Vec<Option<String>>]) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut text = String::new();
    let mut line = |fields: Vec<String>| {
        text.push_str(&fields.join(","));
        text.push('\n');
    };
    line(names.iter().map(|name| quoted(name)).collect());
    for row in rows {
        let fields = row.iter().map(|value| quoted(value.as_deref().unwrap_or("")));
        line(fields.collect());
    }
    text
}
