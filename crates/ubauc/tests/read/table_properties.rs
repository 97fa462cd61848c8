//! Any table that can be written is read back.

use std::path::Path;

use proptest::prelude::*;
use ubauc::data::table::{MISSING, Table, Values};
use ubauc::read::table::{
    ColumnChoice, GivenColumn, GivenKind, OnError, TableBatches, TableOptions, read_table_from,
    table_batches_from,
};

/// A column to be written.
#[derive(Debug, Clone)]
enum Written {
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
    /// Seconds.
    Times(Vec<Option<u32>>),
}

fn column(rows: usize) -> impl Strategy<Value = Written> {
    let number = prop_oneof![
        any::<i32>().prop_map(f64::from),
        (-1e6..1e6f64),
        proptest::num::f64::NORMAL
    ];
    // Blanks around a value are not kept, and some texts stand for nothing.
    let text = "[a-zA-Z0-9 ,;\"'\né€\\|\t.-]{1,12}".prop_filter("a value", |text| {
        let token = text.to_ascii_lowercase();
        let missing = ["na", "n/a", "nan", "null", "none", "?"];
        text.trim_ascii() == text && !text.is_empty() && !missing.contains(&token.as_str())
    });
    let gaps = prop_oneof![Just(0.01), Just(0.3)];
    gaps.prop_flat_map(move |gaps| {
        let there = 1.0 - gaps;
        prop_oneof![
            prop::collection::vec(prop::option::weighted(there, number.clone()), rows)
                .prop_map(Written::Numbers),
            prop::collection::vec(prop::option::weighted(there, text.clone()), rows)
                .prop_map(Written::Texts),
            prop::collection::vec(prop::option::weighted(there, any::<u32>()), rows)
                .prop_map(Written::Times),
        ]
    })
}

fn table() -> impl Strategy<Value = (usize, Vec<Written>)> {
    (1usize..40).prop_flat_map(|rows| {
        prop::collection::vec(column(rows), 1..6).prop_map(move |columns| (rows, columns))
    })
}

/// A day and its seconds, by counting years and months one by one.
fn iso(seconds: u32) -> String {
    let (mut days, of_day) = (seconds / 86_400, seconds % 86_400);
    let divides = |by: u32, year: u32| year.is_multiple_of(by);
    let leap = |year| divides(4, year) && (!divides(100, year) || divides(400, year));
    let mut year = 1970;
    while days >= 365 + u32::from(leap(year)) {
        days -= 365 + u32::from(leap(year));
        year += 1;
    }
    let february = 28 + u32::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!(
        "{year}-{month:02}-{:02} {hour:02}:{minute:02}:{second:02}",
        days + 1
    )
}

/// How a file is written.
#[derive(Debug, Clone, Copy)]
struct Style {
    delimiter: char,
    quote_all: bool,
    crlf: bool,
    comma: bool,
}

fn style() -> impl Strategy<Value = Style> {
    let delimiter = prop_oneof![Just(','), Just(';'), Just('\t'), Just('|')];
    (delimiter, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(delimiter, quote_all, crlf, comma)| Style {
            delimiter,
            quote_all,
            crlf,
            comma: comma && delimiter != ',',
        },
    )
}

fn write(rows: usize, columns: &[Written], style: Style) -> String {
    let field = |text: String| {
        let special = ['"', '\n', style.delimiter];
        if style.quote_all || text.is_empty() || text.contains(special) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text
        }
    };
    let value = |column: &Written, i: usize| match column {
        Written::Numbers(values) => values[i].map_or(String::new(), |x| {
            let text = x.to_string();
            if style.comma {
                text.replace('.', ",")
            } else {
                text
            }
        }),
        Written::Texts(values) => values[i].clone().unwrap_or_default(),
        Written::Times(values) => values[i].map_or(String::new(), iso),
    };
    let end = if style.crlf { "\r\n" } else { "\n" };
    let delimiter = style.delimiter.to_string();
    let names: Vec<String> = (0..columns.len()).map(|j| field(format!("c{j}"))).collect();
    // A table of one column needs another for its separator to be seen.
    let mut text = names.join(&delimiter) + &delimiter + "last" + end;
    for i in 0..rows {
        let fields: Vec<String> = columns
            .iter()
            .map(|column| field(value(column, i)))
            .collect();
        text += &(fields.join(&delimiter) + &delimiter + "1" + end);
    }
    text
}

fn options(columns: &[Written], style: Style) -> TableOptions<'static> {
    let of = |wanted: fn(&Written) -> bool| {
        let names = (0..columns.len()).filter(|&j| wanted(&columns[j]));
        names.map(|j| format!("c{j}")).collect::<Vec<_>>()
    };
    TableOptions {
        // Texts that all look like something else are the user's to name.
        categorical: ColumnChoice::Names(of(|column| matches!(column, Written::Texts(_)))),
        decimal_comma: Some(style.comma),
        ..Default::default()
    }
}

/// The table is that which was written, from a row on.
fn assert_same(table: &Table, columns: &[Written], from: usize) -> Result<(), TestCaseError> {
    for (written, found) in columns.iter().zip(table.columns()) {
        match (written, &found.values) {
            (Written::Numbers(written), Values::Number(found)) => {
                for (w, f) in written[from..].iter().zip(found.iter()) {
                    let bits = |x: f64| x.to_bits();
                    prop_assert_eq!(w.map(bits), (!f.is_nan()).then_some(bits(*f)));
                }
            }
            (Written::Texts(written), Values::Category { codes, levels }) => {
                for (w, &code) in written[from..].iter().zip(codes) {
                    let found = (code != MISSING).then(|| levels[code as usize].clone());
                    prop_assert_eq!(w.clone(), found);
                }
            }
            (Written::Times(written), Values::Time(found)) => {
                for (w, f) in written[from..].iter().zip(found.iter()) {
                    prop_assert_eq!(w.map(f64::from), (!f.is_nan()).then_some(*f));
                }
            }
            // Nothing but gaps is of any kind.
            (Written::Times(written), Values::Number(found)) => {
                prop_assert!(written.iter().all(Option::is_none));
                prop_assert!(found.iter().all(|x| x.is_nan()));
            }
            (written, found) => prop_assert!(false, "{:?} became {:?}", written, found),
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_table_that_is_written_is_read_back((rows, columns) in table(), style in style()) {
        let text = write(rows, &columns, style);
        let options = options(&columns, style);
        let read = read_table_from(text.as_bytes(), Path::new("t.csv"), &options);
        let read = read.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(read.table.len(), rows);
        assert_same(&read.table, &columns, 0)?;
    }

    #[test]
    fn batches_are_the_table((rows, columns) in table(), style in style()) {
        let text = write(rows, &columns, style);
        let kind = |column: &Written| match column {
            Written::Numbers(_) => GivenKind::Number { decimal_comma: style.comma },
            Written::Texts(_) => GivenKind::Category,
            Written::Times(_) => GivenKind::Time { order: ubauc::read::table::DateOrder::YearFirst },
        };
        let given = columns.iter().enumerate().map(|(j, column)| GivenColumn {
            name: format!("c{j}"),
            kind: kind(column),
        });
        let options = TableBatches {
            columns: given.collect(),
            read: options(&columns, style),
            optional_label: false,
            classes: None,
            notice_others: false,
            on_error: OnError::Stop,
        };
        let mut tables = Vec::new();
        let name = Path::new("t.csv");
        table_batches_from::<_, ubauc::Error>(
            text.as_bytes(),
            name,
            &options,
            |batch| batch.table,
            |table| {
                tables.push(table);
                Ok(())
            },
        )
        .map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        let mut from = 0;
        for table in &tables {
            assert_same(table, &columns, from)?;
            from += table.len();
        }
        prop_assert_eq!(from, rows);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[a-c0-9,;\"\n. /:-]{0,200}") {
        for input in [bytes.as_slice(), text.as_bytes()] {
            let _ = read_table_from(input, Path::new("t.csv"), &TableOptions::default());
        }
    }
}

#[test]
fn a_column_that_changes_its_kind_late_is_what_all_rows_say() {
    // Some megabytes, so that there are many blocks.
    let mut text = "n,late,time,code,comma\n".replace(',', ";");
    for i in 0..300_000 {
        let late = if i == 299_999 {
            "x".to_string()
        } else {
            (i % 10).to_string()
        };
        let time = if i < 250_000 { "" } else { "1970-01-02" };
        let code = if i == 150_000 { "07" } else { "7" };
        let comma = if i == 299_998 { "0,5" } else { "1.234" };
        text += &format!("{i};{late};{time};{code};{comma}\n");
    }
    let read = read_table_from(
        text.as_bytes(),
        Path::new("t.csv"),
        &TableOptions::default(),
    );
    let read = read.unwrap();
    let column = |name: &str| &read.table.column(name).unwrap().values;
    assert!(matches!(column("n"), Values::Number(values) if values[299_999] == 299_999.0));
    let Values::Category { codes, levels } = column("late") else {
        panic!("a category");
    };
    assert_eq!((levels.len(), codes[299_999]), (11, 10));
    assert!((0..299_999).all(|i| levels[codes[i] as usize] == (i % 10).to_string()));
    let Values::Time(values) = column("time") else {
        panic!("a time");
    };
    assert_eq!(values.iter().filter(|t| t.is_nan()).count(), 250_000);
    assert!(matches!(column("code"), Values::Category { levels, .. } if levels.len() == 2));
    let Values::Number(values) = column("comma") else {
        panic!("a number");
    };
    assert_eq!(
        (values[0], values[299_998], values[299_999]),
        (1234.0, 0.5, 1234.0)
    );
}

#[test]
fn a_million_levels_and_ten_thousand_columns() {
    let mut text = "a,b\n".to_string();
    for i in 0..1_000_000 {
        text += &format!("u{},{}\n", i * 7 % 1_000_000, i % 2);
    }
    let options = TableOptions::default();
    let read = read_table_from(text.as_bytes(), Path::new("t.csv"), &options).unwrap();
    assert_eq!(read.columns[0].levels, Some(1_000_000));
    let names: Vec<String> = (0..10_000).map(|j| format!("c{j}")).collect();
    let mut text = names.join(",") + "\n";
    for i in 0..100 {
        let row: Vec<String> = (0..10_000).map(|j| ((i * j) % 97).to_string()).collect();
        text += &(row.join(",") + "\n");
    }
    let read = read_table_from(text.as_bytes(), Path::new("t.csv"), &options).unwrap();
    assert_eq!(
        (read.table.len(), read.table.columns().len()),
        (100, 10_000)
    );
    let Values::Number(values) = &read.table.columns()[9_999].values else {
        panic!("numbers");
    };
    assert_eq!(values[99], f64::from(99 * 9_999 % 97));
}
