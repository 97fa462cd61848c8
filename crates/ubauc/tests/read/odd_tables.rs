//! Odd and bad tables, each with its exact answer.

mod values;

use std::path::Path;

use ubauc::data::table::{MISSING, Values};
use ubauc::read::table::{
    ColumnChoice, DetectedKind, Encoding, TableExamples, TableOptions, read_table_from,
};

fn read(text: &[u8], options: &TableOptions<'_>) -> Result<TableExamples, String> {
    read_table_from(text, Path::new("t.csv"), options).map_err(|error| error.to_string())
}

/// `name kind: values`, column by column; times as seconds, `_` is missing.
fn shown(examples: &TableExamples) -> String {
    let columns = examples.table.columns().iter().zip(&examples.columns);
    let columns = columns.map(|(column, report)| {
        let number = |x: &f64| {
            if x.is_nan() {
                "_".into()
            } else {
                x.to_string()
            }
        };
        let values: Vec<String> = match &column.values {
            Values::Number(values) | Values::Time(values) => values.iter().map(number).collect(),
            Values::Category { codes, levels } => codes
                .iter()
                .map(|&code| match code {
                    MISSING => "_".to_string(),
                    code => format!("'{}'", levels[code as usize]),
                })
                .collect(),
        };
        let kind = match (&column.values, report.kind) {
            (Values::Number(_), DetectedKind::Number) => "number",
            (Values::Number(_), DetectedKind::Constant) => "constant number",
            (Values::Number(_), DetectedKind::Identifier) => "counting number",
            (Values::Category { .. }, DetectedKind::Category) => "category",
            (Values::Category { .. }, DetectedKind::Boolean) => "boolean",
            (Values::Category { .. }, DetectedKind::Constant) => "constant category",
            (Values::Category { .. }, DetectedKind::Identifier) => "identifier",
            (Values::Time(_), DetectedKind::Time) => "time",
            (Values::Time(_), DetectedKind::Constant) => "constant time",
            other => panic!("{other:?}"),
        };
        format!("{} {kind}: {}", column.name, values.join(" "))
    });
    columns.collect::<Vec<_>>().join(" | ")
}

/// Each table is read whole, and must say the same with CRLF line ends and with a byte order mark.
#[track_caller]
fn check(tables: &[(&str, &str)]) {
    check_with(&TableOptions::default(), tables);
}

#[track_caller]
fn check_with(options: &TableOptions<'_>, tables: &[(&str, &str)]) {
    for (text, expected) in tables {
        let answer = |text: &[u8]| match read(text, options) {
            Ok(examples) => shown(&examples),
            Err(error) => error,
        };
        assert_eq!(answer(text.as_bytes()), *expected, "\n{text}");
        let marked = format!("\u{feff}{text}");
        assert_eq!(answer(marked.as_bytes()), *expected, "with a mark\n{text}");
        // Line ends in quotes are part of the value.
        if !expected.contains('\n') {
            let crlf = text.replace('\n', "\r\n");
            assert_eq!(answer(crlf.as_bytes()), *expected, "with CRLF\n{text}");
        }
    }
}

#[test]
fn names_of_columns() {
    check(&[
        (
            ",b,\n1,2,3\n4,5,6\n",
            "column_1 number: 1 4 | b number: 2 5 | column_3 number: 3 6",
        ),
        (
            "a,a,a\n1,2,3\n4,5,6\n",
            "a number: 1 4 | a.2 number: 2 5 | a.3 number: 3 6",
        ),
        (
            "a,a.2,a\n1,2,3\n4,5,6\n",
            "a number: 1 4 | a.2 number: 2 5 | a.3 number: 3 6",
        ),
        (
            "\" a \",\"b\"\"c\"\n1,2\n3,4\n",
            "a number: 1 3 | b\"c number: 2 4",
        ),
        ("\"a\nb\",c\n1,2\n3,4\n", "a\nb number: 1 3 | c number: 2 4"),
    ]);
    let notices = read(b",a,a\n1,2,3\n", &TableOptions::default())
        .unwrap()
        .notices;
    assert_eq!(
        notices,
        [
            "column 1 has no name: called 'column_1'",
            "column 3 is called 'a' like one before it: called 'a.2'"
        ]
    );
    let no_header = TableOptions {
        no_header: true,
        label: Some("2".to_string()),
        ..Default::default()
    };
    check_with(&no_header, &[("1,x\n2,y\n", "1 number: 1 2")]);
}

#[test]
fn quotes() {
    check(&[
        (
            "a,b\n\"x,y\",1\n\"u \"\"v\"\"\",2\n",
            "a category: 'x,y' 'u \"v\"' | b number: 1 2",
        ),
        (
            "a,b\n \"x\" , \"1\" \n\"y\",\"2\"\n",
            "a category: 'x' 'y' | b number: 1 2",
        ),
        (
            "a,b\n\"x\ny\",1\nz,2\n",
            "a category: 'x\ny' 'z' | b number: 1 2",
        ),
        (
            "a,b\n5\" pipe,1\n6\" pipe,2\n",
            "a category: '5\" pipe' '6\" pipe' | b number: 1 2",
        ),
        ("a,b\n1,2\n\"x,3\n4,5\n", "t.csv:3:1: a quote is not closed"),
        ("\"a,b\n1,2\n", "t.csv:1:1: a quote is not closed"),
        (
            "a,b\n\"x\"y,1\n",
            "t.csv:2:1: text behind a closing quote; a quote inside quotes is written twice",
        ),
    ]);
}

#[test]
fn files_that_are_no_tables() {
    check(&[
        ("a,b\n", "t.csv: no rows after the header"),
        ("\n\n", "t.csv: no rows in the file"),
        ("a,b\n1,2\n3\n", "t.csv:3:2: 1 fields, the header has 2"),
        (
            "a,b\n1,2\n\n\"x\ny\",2\n3,4,5\n",
            "t.csv:6:3: 3 fields, the header has 2",
        ),
    ]);
    let default = TableOptions::default();
    assert_eq!(read(b"", &default).unwrap_err(), "t.csv: the file is empty");
    assert_eq!(
        read(b"a,b\n1,\0\n", &default).unwrap_err(),
        "t.csv: is not text; expected CSV, perhaps compressed, or text with --encoding utf-16"
    );
    let long = TableOptions {
        max_line: 10,
        ..Default::default()
    };
    assert_eq!(
        read(b"a,b\n1,2\n12345678,1234\n", &long).unwrap_err(),
        "t.csv:3:11: line is longer than 10 bytes (the limit is max-line)"
    );
    // The limit is that of the line without its end, however it ends.
    for (line, is_read) in [
        ("12345678,1\n", true),
        ("12345678,1\r\n", true),
        ("12345678,1", true),
        ("12345678,1\r", true),
        ("12345678,12\n", false),
        ("12345678,12\r\n", false),
        ("12345678,12", false),
    ] {
        let text = format!("a,b\n1,2\n{line}");
        assert_eq!(read(text.as_bytes(), &long).is_ok(), is_read, "{line:?}");
    }
}

#[test]
fn labels() {
    let with = |label: &str| TableOptions {
        label: Some(label.to_string()),
        ..Default::default()
    };
    let answer = |text: &str, label| match read(text.as_bytes(), &with(label)) {
        Err(error) => error,
        Ok(examples) => {
            let labels = examples.labels.clone().unwrap();
            let class = |&code: &u32| labels.classes()[code as usize].to_string();
            let classes: Vec<String> = labels.codes().iter().map(class).collect();
            format!("{} <- {}", classes.join(" "), shown(&examples))
        }
    };
    for (text, label, expected) in [
        ("x,y\n1,no\n2,yes\n", "y", "no yes <- x number: 1 2"),
        ("y,x\n1,5\n1.0,6\n0,7\n", "y", "1 1 0 <- x number: 5 6 7"),
        ("y,x\nTrue,5\nFalse,6\n", "y", "True False <- x number: 5 6"),
        (
            "y,x\n1,5\n,6\n",
            "y",
            "t.csv:3:1: the label in column 'y' is missing (''); every row needs one, or leave the \
             row out",
        ),
        (
            "y,x\n1,5\nNA,6\n",
            "y",
            "t.csv:3:1: the label in column 'y' is missing ('NA'); every row needs one, or leave \
             the row out",
        ),
        (
            "y,x\n1,5\n",
            "z",
            "t.csv: no label column 'z'; columns are 'y', 'x'; name the column of labels (--label)",
        ),
        (
            "x,Churn\n1,a\n",
            "chrun",
            "t.csv: no label column 'chrun' (is 'Churn' meant?); columns are 'x', 'Churn'; name the column of \
             labels (--label)",
        ),
        (
            "1,5\n2,6\n",
            "z",
            "t.csv: no label column 'z'; columns are '1', '5'; the first line looks like data: a \
             header is expected (or --no-header)",
        ),
        ("y\n1\n", "y", "t.csv: no columns besides the label"),
    ] {
        assert_eq!(answer(text, label), expected, "\n{text}");
    }
}

#[test]
fn what_the_user_says_goes_first() {
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|name| name.to_string())
            .collect::<Vec<_>>()
    };
    let categorical = TableOptions {
        categorical: ColumnChoice::Names(names(&["a"])),
        ..Default::default()
    };
    check_with(
        &categorical,
        &[
            ("a,b\n1,2\n3,4\n", "a category: '1' '3' | b number: 2 4"),
            (
                "a,b\n01/02/1970,2\nNA,4\n",
                "a category: '01/02/1970' _ | b number: 2 4",
            ),
            (
                "b\n1\n",
                "t.csv: no categorical column 'a'; columns are 'b'",
            ),
        ],
    );
    let all = TableOptions {
        categorical: ColumnChoice::All,
        numeric: names(&["b"]),
        ..Default::default()
    };
    check_with(
        &all,
        &[(
            "a,b,c\n1,02,5\n3,4,6\n",
            "a category: '1' '3' | b number: 2 4 | c category: '5' '6'",
        )],
    );
    let numeric = TableOptions {
        numeric: names(&["a"]),
        ..Default::default()
    };
    check_with(
        &numeric,
        &[
            ("a,b\n007,2\n3,4\n", "a number: 7 3 | b number: 2 4"),
            (
                "a,b\n1,2\nx,4\n",
                "t.csv:3:1: 'x' in column 'a' is not a number; name it with --missing if it stands \
                 for none, or --categorical 'a'",
            ),
            ("a,b\n,2\n,4\n", "a constant number: _ _ | b number: 2 4"),
        ],
    );
    let ignore = TableOptions {
        ignore: names(&["a"]),
        ..Default::default()
    };
    check_with(
        &ignore,
        &[
            ("a,b\nx,2\n3,4\n", "b number: 2 4"),
            ("a\n1\n", "t.csv: no columns besides the label"),
            ("b\n1\n", "t.csv: no ignored column 'a'; columns are 'b'"),
        ],
    );
    let both = TableOptions {
        numeric: names(&["a"]),
        categorical: ColumnChoice::Names(names(&["a"])),
        ..Default::default()
    };
    check_with(
        &both,
        &[(
            "a\n1\n",
            "t.csv: column 'a' is named as numeric and as categorical",
        )],
    );
}

#[test]
fn other_encodings() {
    let latin1 = b"n,x\ncaf\xe9,1\ncaf\xe8,2\n";
    let default = TableOptions::default();
    assert_eq!(
        read(latin1, &default).unwrap_err(),
        "t.csv:2:1: byte 0xe9 is not UTF-8 text; say how it is written: --encoding latin-1, \
         windows-1252 or utf-16"
    );
    for encoding in [Encoding::Latin1, Encoding::Windows1252] {
        let options = TableOptions {
            encoding: Some(encoding),
            ..Default::default()
        };
        let found = shown(&read(latin1, &options).unwrap());
        assert_eq!(found, "n category: 'café' 'cafè' | x number: 1 2");
    }
    for big in [false, true] {
        let units = "\u{feff}n;x\nÄ;1,5\n😀;2\n".encode_utf16();
        let bytes: Vec<u8> = units
            .flat_map(|unit| {
                if big {
                    unit.to_be_bytes()
                } else {
                    unit.to_le_bytes()
                }
            })
            .collect();
        let found = shown(&read(&bytes, &default).unwrap());
        assert_eq!(found, "n category: 'Ä' '😀' | x number: 1.5 2");
    }
    // A header that is not UTF-8.
    assert_eq!(
        read(b"a,\xe9\n1,2\n", &default).unwrap_err(),
        "t.csv:1:2: byte 0xe9 is not UTF-8 text; say how it is written: --encoding latin-1, \
         windows-1252 or utf-16"
    );
}

#[test]
fn notes_on_columns() {
    let mut text = "x;c\n".to_string();
    for i in 0..50 {
        text += &format!(
            "{};{}\n",
            if i == 20 {
                "12a".to_string()
            } else {
                i.to_string()
            },
            i % 2
        );
    }
    let notes = |text: &str| {
        let examples = read(text.as_bytes(), &TableOptions::default()).unwrap();
        examples.columns[0].notes.clone()
    };
    assert_eq!(
        notes(&text),
        [
            "every value is different; no level occurs again, so it tells nothing",
            "a category, for 1 value is no number, first '12a' in line 22; name it with --missing \
             if it stands for none"
        ]
    );
    assert_eq!(
        notes("x;c\n1.234;1\n5.678;2\n"),
        [
            "read with a decimal point, but a decimal comma would explain it as well; say \
             --decimal-comma yes or no"
        ]
    );
}
