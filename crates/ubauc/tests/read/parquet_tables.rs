//! Parquet tables: every type that a data frame writes, with gaps, whole and by row groups.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use ubauc::data::table::{MISSING, Table, Values};
use ubauc::read::table::{
    ColumnChoice, DateOrder, DetectedKind, GivenColumn, GivenKind, OnError, TableBatches,
    TableOptions, read_table, table_batches,
};

const SCHEMA: &str = "message t {
    required binary y (UTF8);
    optional binary s (UTF8);
    optional boolean b;
    optional int32 d (DATE);
    optional int64 t (TIMESTAMP(MICROS,true));
    optional int96 old;
    optional int32 m (DECIMAL(5,2));
    optional fixed_len_byte_array(3) f (DECIMAL(6,3));
    optional int64 u (INTEGER(64,false));
    optional double x;
}";

/// Two row groups of three rows; the second row of each has nothing but its label.
fn write(path: &Path) {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    let levels = Some(&[1i16, 0, 1][..]);
    for group in 0..2i64 {
        let mut columns = writer.next_row_group().unwrap();
        macro_rules! put {
            ($kind:ty, $values:expr, $levels:expr) => {{
                let mut column = columns.next_column().unwrap().unwrap();
                let typed = column.typed::<$kind>();
                typed.write_batch(&$values, $levels, None).unwrap();
                column.close().unwrap();
            }};
        }
        let text = |text: &str| ByteArray::from(text);
        put!(ByteArrayType, [text("no"), text("yes"), text("no")], None);
        put!(
            ByteArrayType,
            [text("a"), text(["NA", "é"][group as usize])],
            levels
        );
        put!(BoolType, [true, false], levels);
        put!(Int32Type, [1 + group as i32, -1], levels);
        put!(Int64Type, [1_500_000 + group, -2_000_000], levels);
        let mut old = Int96::new();
        // One day and one second behind 1970-01-01, which is day 2,440,588.
        old.set_data(1_000_000_000, 0, 2_440_589);
        put!(Int96Type, [old, old], levels);
        put!(Int32Type, [12_345, -1], levels);
        let fixed = |bytes: [u8; 3]| FixedLenByteArray::from(bytes.to_vec());
        put!(
            FixedLenByteArrayType,
            [fixed([0, 4, 210]), fixed([255, 255, 255])],
            levels
        );
        put!(Int64Type, [-1, 7], levels);
        put!(DoubleType, [0.5, f64::NAN], levels);
        columns.close().unwrap();
    }
    writer.close().unwrap();
}

fn shown(table: &Table) -> String {
    let column = |values: &Values| -> Vec<String> {
        match values {
            Values::Number(v) | Values::Time(v) => v.iter().map(|x| x.to_string()).collect(),
            Values::Category { codes, levels } => codes
                .iter()
                .map(|&code| match code {
                    MISSING => "_".to_string(),
                    code => levels[code as usize].clone(),
                })
                .collect(),
        }
    };
    let columns = table.columns().iter();
    let lines = columns.map(|c| format!("{}: {}", c.name, column(&c.values).join(" ")));
    lines.collect::<Vec<_>>().join("\n")
}

fn options() -> TableOptions<'static> {
    TableOptions {
        label: Some("y".to_string()),
        ..Default::default()
    }
}

#[test]
fn every_type_has_its_values() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    write(&path);
    let read = read_table(&path, &options()).unwrap();
    assert_eq!(
        shown(&read.table),
        "s: a _ _ a _ é\n\
         b: true _ false true _ false\n\
         d: 86400 NaN -86400 172800 NaN -86400\n\
         t: 1.5 NaN -2 1.500001 NaN -2\n\
         old: 86401 NaN 86401 86401 NaN 86401\n\
         m: 123.45 NaN -0.01 123.45 NaN -0.01\n\
         f: 1.234 NaN -0.001 1.234 NaN -0.001\n\
         u: 18446744073709552000 NaN 7 18446744073709552000 NaN 7\n\
         x: 0.5 NaN NaN 0.5 NaN NaN"
    );
    let kinds: Vec<DetectedKind> = read.columns.iter().map(|column| column.kind).collect();
    use DetectedKind::{Boolean, Category, Number, Time};
    assert_eq!(
        kinds,
        [
            Category, Boolean, Time, Time, Time, Number, Number, Number, Number
        ]
    );
    let labels = read.labels.unwrap();
    assert_eq!(labels.counts(), [4, 2]);
}

#[test]
fn the_user_decides_and_types_that_differ_are_turned_into_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    write(&path);
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|name| name.to_string())
            .collect::<Vec<_>>()
    };
    let chosen = TableOptions {
        categorical: ColumnChoice::Names(names(&["u", "m"])),
        numeric: names(&["b"]),
        ignore: names(&["s", "d", "t", "old", "f", "x"]),
        ..options()
    };
    let read = read_table(&path, &chosen).unwrap();
    assert_eq!(
        shown(&read.table),
        "b: 1 NaN 0 1 NaN 0\n\
         m: 123.45 _ -0.01 123.45 _ -0.01\n\
         u: 18446744073709551615 _ 7 18446744073709551615 _ 7"
    );
    let refused = TableOptions {
        numeric: names(&["s"]),
        ..options()
    };
    let error = read_table(&path, &refused).unwrap_err().to_string();
    assert!(
        error.contains(":1:2: 'a' in column 's' is not a number"),
        "{error}"
    );
}

#[test]
fn batches_are_row_groups() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    write(&path);
    let column = |name: &str, kind| GivenColumn {
        name: name.to_string(),
        kind,
    };
    let order = DateOrder::DayFirst;
    let number = GivenKind::Number {
        decimal_comma: false,
    };
    let given = TableBatches {
        columns: vec![
            column("d", GivenKind::Time { order }),
            column("u", GivenKind::Category),
            column("s", number),
        ],
        read: options(),
        optional_label: false,
        classes: None,
        notice_others: false,
        on_error: OnError::Stop,
    };
    let mut batches = Vec::new();
    table_batches::<_, ubauc::Error>(
        &path,
        &given,
        |batch| batch,
        |batch| {
            batches.push(batch);
            Ok(())
        },
    )
    .unwrap();
    assert_eq!(batches.len(), 2);
    assert_eq!(
        shown(&batches[1].table),
        "d: 172800 NaN -86400\nu: 18446744073709551615 _ 7\ns: NaN NaN NaN"
    );
    assert_eq!(batches[1].unreadable, [0, 0, 2]);
    assert!(batches[1].labels.is_some());
}

#[test]
fn nested_columns_are_refused_unless_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    let schema = "message t { required group g { required int32 a; } required int32 x; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let file = File::create(&path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    let mut columns = writer.next_row_group().unwrap();
    while let Some(mut column) = columns.next_column().unwrap() {
        column
            .typed::<Int32Type>()
            .write_batch(&[1, 2], None, None)
            .unwrap();
        column.close().unwrap();
    }
    columns.close().unwrap();
    writer.close().unwrap();
    let error = read_table(&path, &TableOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("column 'g.a' is nested") && error.contains("--ignore"),
        "{error}"
    );
    let ignore = TableOptions {
        ignore: vec!["g.a".to_string()],
        ..Default::default()
    };
    assert_eq!(shown(&read_table(&path, &ignore).unwrap().table), "x: 1 2");
}
