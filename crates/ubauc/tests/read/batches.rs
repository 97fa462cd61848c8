//! Tables batch by batch: what is given, whatever the order in the file; wrong lines left out.

use std::io::Read;
use std::path::Path;

use ubauc::Error;
use ubauc::data::table::{MISSING, Values};
use ubauc::read::table::{
    DateOrder, GivenColumn, GivenKind, OnError, TableBatch, TableBatches, TableOptions,
    table_batches_from,
};

fn given() -> TableBatches<'static> {
    let column = |name: &str, kind| GivenColumn {
        name: name.to_string(),
        kind,
    };
    let order = DateOrder::DayFirst;
    TableBatches {
        columns: vec![
            column(
                "x",
                GivenKind::Number {
                    decimal_comma: false,
                },
            ),
            column("c", GivenKind::Category),
            column("d", GivenKind::Time { order }),
        ],
        read: TableOptions::default(),
        optional_label: false,
        classes: None,
        notice_others: true,
        on_error: OnError::Stop,
    }
}

/// The batches, and the error behind them.
fn read(reader: impl Read + Send, options: &TableBatches<'_>) -> (Vec<TableBatch>, Option<String>) {
    let mut all = Vec::new();
    let result = table_batches_from::<_, Error>(
        reader,
        Path::new("t.csv"),
        options,
        |batch| batch,
        |batch| {
            all.push(batch);
            Ok(())
        },
    );
    (all, result.err().map(|error| error.to_string()))
}

/// Every row as text.
fn rows(batches: &[TableBatch]) -> Vec<String> {
    let value = |values: &Values, i: usize| match values {
        Values::Number(v) | Values::Time(v) if v[i].is_nan() => "_".to_string(),
        Values::Number(v) | Values::Time(v) => v[i].to_string(),
        Values::Category { codes, .. } if codes[i] == MISSING => "_".to_string(),
        Values::Category { codes, levels } => levels[codes[i] as usize].clone(),
    };
    let of = |batch: &TableBatch| {
        let columns = batch.table.columns();
        let labels = batch.labels.clone();
        let row = |i: usize| {
            let columns = columns.iter().map(|column| &column.values);
            let all: Vec<String> = columns.chain(&labels).map(|v| value(v, i)).collect();
            all.join(" ")
        };
        (0..batch.table.len()).map(row).collect::<Vec<_>>()
    };
    batches.iter().flat_map(of).collect()
}

/// Gives a byte at a time.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = buffer.len().min(1);
        self.0.read(&mut buffer[..n])
    }
}

#[test]
fn columns_are_found_by_name_and_texts_among_numbers_are_counted() {
    let text = b"d,other,c,x\n02/01/1970,9,a,1\n1970-01-01,9,,abc\nsoon,9,b,\n,9,a,2.5\n";
    for trickle in [false, true] {
        let (batches, error) = if trickle {
            read(Trickle(text), &given())
        } else {
            read(&text[..], &given())
        };
        assert_eq!(error, None);
        assert_eq!(rows(&batches), ["1 a 86400", "_ _ 0", "_ b _", "2.5 a _"]);
        let unreadable = |j: usize| batches.iter().map(|b| b.unreadable[j]).sum::<usize>();
        assert_eq!([unreadable(0), unreadable(1), unreadable(2)], [1, 0, 1]);
        assert_eq!(
            batches[0].notices[..],
            ["columns not used: 'other'".to_string()]
        );
    }
}

#[test]
fn a_column_that_is_not_there_is_an_error() {
    let (batches, error) = read(&b"x,c\n1,2\n"[..], &given());
    assert!(batches.is_empty());
    assert_eq!(
        error.unwrap(),
        "t.csv: no feature column 'd'; columns are 'x', 'c'"
    );
}

#[test]
fn rows_before_a_wrong_line_are_not_lost() {
    let text = b"x,c,d\n1,a,\n2,b,\n3,c\n4,d,\n";
    let (batches, error) = read(&text[..], &given());
    assert_eq!(rows(&batches), ["1 a _", "2 b _"]);
    assert_eq!(error.unwrap(), "t.csv:4:3: 2 fields, the header has 3");
}

#[test]
fn wrong_lines_are_left_out_and_counted() {
    let options = TableBatches {
        on_error: OnError::Skip,
        ..given()
    };
    let text =
        b"x,c,d\n1,a,\n3,c\n2,\xe9,\n4,\"d\",\n5,\"e\"f,\n6,\"two\nlines\",,\n7,g,\n\"8,h,\n9,i,\n";
    for trickle in [false, true] {
        let (batches, error) = if trickle {
            read(Trickle(text), &options)
        } else {
            read(&text[..], &options)
        };
        assert_eq!(error, None);
        assert_eq!(rows(&batches), ["1 a _", "4 d _", "7 g _", "9 i _"]);
        assert_eq!(batches.iter().map(|b| b.n_skipped).sum::<usize>(), 5);
        let skipped = batches.iter().flat_map(|b| b.skipped.clone());
        let places: Vec<(u64, u64)> = skipped.map(|s| (s.line, s.column)).collect();
        assert_eq!(places, [(3, 3), (4, 2), (6, 2), (7, 4), (10, 1)]);
    }
}

#[test]
fn labels_are_texts_and_may_be_optional() {
    let label = |optional| TableBatches {
        read: TableOptions {
            label: Some("y".to_string()),
            ..Default::default()
        },
        optional_label: optional,
        classes: None,
        ..given()
    };
    let text = b"y,x,c,d\nno,1,a,\n,2,b,\nyes,3,c,\n";
    let (batches, error) = read(&text[..], &label(true));
    assert_eq!(error, None);
    assert_eq!(rows(&batches), ["1 a _ no", "2 b _ _", "3 c _ yes"]);
    let (batches, error) = read(&text[..], &label(false));
    assert_eq!(rows(&batches), ["1 a _ no"]);
    assert!(
        error
            .unwrap()
            .starts_with("t.csv:3:1: the label in column 'y' is missing")
    );
    let text = b"x,c,d\n1,a,\n";
    let (batches, error) = read(&text[..], &label(true));
    assert_eq!((error, rows(&batches)), (None, vec!["1 a _".to_string()]));
    let (_, error) = read(&text[..], &label(false));
    assert_eq!(
        error.unwrap(),
        "t.csv: no label column 'y'; columns are 'x', 'c', 'd'; name the column of labels (--label)"
    );
}

#[test]
fn many_rows_come_in_their_order() {
    let mut text = "c,x,d\n".to_string();
    for i in 0..200_000 {
        text += &match i % 1000 {
            0 => format!("\"two\nlines\",{i},\n"),
            _ => format!("\"c{}\",{i},1970-01-02\n", i % 7),
        };
    }
    let (batches, error) = read(text.as_bytes(), &given());
    assert_eq!(error, None);
    assert!(batches.len() > 10);
    let mut expected = 0.0;
    for batch in &batches {
        let Values::Number(x) = &batch.table.columns()[0].values else {
            panic!("numbers");
        };
        for x in x.iter() {
            assert_eq!(*x, expected);
            expected += 1.0;
        }
    }
    assert_eq!(expected, 200_000.0);
}
