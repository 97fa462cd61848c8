use std::path::Path;

use proptest::prelude::*;
use ubauc::Error;
use ubauc::read::ReadOptions;
use ubauc::read::table::{TableOptions, read_table_from};

use super::{entries, from_bytes, labels, place};

fn options() -> ReadOptions<'static> {
    ReadOptions {
        label: "y".to_string(),
        ..Default::default()
    }
}

proptest! {
    #[test]
    fn numbers_come_back_to_the_last_bit(
        rows in proptest::collection::vec((any::<bool>(), -1e300..1e300f64, any::<f64>()), 1..50),
        quoted in any::<bool>(),
        crlf in any::<bool>(),
        delimiter in proptest::sample::select(vec![',', ';', '\t', '|']),
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let q = if quoted { "\"" } else { "" };
        let mut text = format!("a{delimiter}y{delimiter}b{end}");
        for (label, a, b) in &rows {
            let b = if b.is_finite() { *b } else { 1.0 };
            text += &format!("{q}{a}{q}{delimiter}{q}{label}{q}{delimiter} {b:e} {end}");
        }
        let examples = from_bytes(text.as_bytes(), &options()).unwrap();
        prop_assert_eq!(&examples.names, &["a", "b"]);
        for (i, (label, a, b)) in rows.iter().enumerate() {
            let b = if b.is_finite() { *b } else { 1.0 };
            let row = examples.rows.row(i);
            prop_assert_eq!((row.get(0), row.get(1)), (*a, b));
            prop_assert_eq!(&labels(&examples)[i], &label.to_string());
        }
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(
        prop_oneof![4 => proptest::sample::select(b"012.-e,;\"\n\r\ty ".to_vec()),
                    1 => any::<u8>()], 0..200)) {
        let text = [b"y,x\n".as_slice(), &bytes].concat();
        let _ = from_bytes(&text, &options());
        let _ = from_bytes(&bytes, &ReadOptions { no_header: true, label: "1".into(), ..options() });
    }
}

#[test]
fn many_blocks_with_quotes_late_or_never_agree() {
    let mut text = String::from("y,x\n");
    for i in 0..300_000 {
        text += &format!("{},{}\n", i % 2, i);
    }
    let plain = from_bytes(text.as_bytes(), &options()).unwrap();
    let quoted = from_bytes((text.clone() + "\"1\",\"5\"\n0,7\n").as_bytes(), &options()).unwrap();
    assert_eq!(plain.rows.len(), 300_000);
    assert_eq!(quoted.rows.len(), 300_002);
    assert!((0..300_000).all(|i| plain.rows.row(i).get(0) == i as f64));
    assert!((0..300_000).all(|i| quoted.rows.row(i).get(0) == i as f64));
    assert_eq!(quoted.rows.row(300_001).get(0), 7.0);
    // The place of an error behind the quotes, and before them.
    let late = text.clone() + "\"1\",\"5\"\n0,\n";
    assert_eq!(place(from_bytes(late.as_bytes(), &options())), (300_003, 2));
    let early = text.replacen("0,200000\n", "0,x\n", 1) + "\"1\",\"5\"\n";
    assert_eq!(
        place(from_bytes(early.as_bytes(), &options())),
        (200_002, 2)
    );
}

#[test]
fn quoted_line_ends_stay_within_their_field() {
    let text = b"id,y,x\n\"a\nb\",1,2\n\"c\",0,3\n";
    let options = ReadOptions {
        ignore: vec!["id".into()],
        ..options()
    };
    let examples = from_bytes(text, &options).unwrap();
    assert_eq!(entries(&examples), [vec![(0, 2.0)], vec![(0, 3.0)]]);
}

#[test]
fn a_quote_that_never_closes_does_not_eat_memory() {
    let mut text = b"y,x\n1,\"2\n".to_vec();
    text.extend(b"0,1\n".repeat(500_000));
    let options = ReadOptions {
        max_line: 100_000,
        ..options()
    };
    assert!(matches!(
        from_bytes(&text, &options),
        Err(Error::Parse { .. })
    ));
}

#[test]
fn columns_are_chosen_by_name_in_the_order_asked_for() {
    let text = b"y,a,b,c\nno,1,2,3\nyes,4,5,6\n";
    let columns = Some(vec!["c".to_string(), "a".to_string()]);
    let examples = from_bytes(
        text,
        &ReadOptions {
            columns,
            ..options()
        },
    )
    .unwrap();
    assert_eq!(examples.names, ["c", "a"]);
    assert_eq!(entries(&examples)[0], [(0, 3.0), (1, 1.0)]);
    assert_eq!(labels(&examples), ["no", "yes"]);
    let without_header = ReadOptions {
        no_header: true,
        label: "1".into(),
        ..ReadOptions::default()
    };
    let examples = from_bytes(b"0,7\n1,8\n", &without_header).unwrap();
    assert_eq!(examples.names, ["2"]);
    assert_eq!(examples.rows.len(), 2);
}

#[test]
fn columns_that_are_not_there_or_twice_are_refused() {
    for text in ["a,b\n1,2\n", "y,y\n1,2\n", "1,2\n1,2\n", "y\n1\n"] {
        let refused = from_bytes(text.as_bytes(), &options());
        let is_refused = matches!(refused, Err(Error::File { .. } | Error::NoColumn { .. }));
        assert!(is_refused, "{text:?}");
    }
}

#[test]
fn wide_tables_of_zeros_become_sparse() {
    let header: Vec<String> = (0..100).map(|j| format!("x{j}")).collect();
    let zeros = ["0"; 99].join(",");
    let text = format!("y,{}\n1,5,{zeros}\n0,0,{zeros}\n", header.join(","));
    let examples = from_bytes(text.as_bytes(), &options()).unwrap();
    assert_eq!(examples.rows.stored(), 1);
    assert_eq!(examples.rows.cols(), 100);
}

/// Both readers find the same header: behind blank lines, and behind the separator that a spreadsheet declares.
#[test]
fn a_declared_separator_and_blank_lines_before_the_header() {
    for text in [
        "sep=;\r\nx,1;y\r\n5;0\r\n6;1\r\n",
        "SEP=;\n\n\nx,1;y\n5;0\n6;1\n",
        "\n\r\n\n\"x,1\"|y\n5|0\n6|1\n",
        "sep=|\n\"x,1\"|\"y\"\n5|0\n6|1",
    ] {
        let numbers = from_bytes(text.as_bytes(), &options()).unwrap();
        assert_eq!(numbers.names, ["x,1"], "{text}");
        assert_eq!(entries(&numbers)[1], [(0, 6.0)], "{text}");
        let of_table = TableOptions {
            label: Some("y".to_string()),
            ..TableOptions::default()
        };
        let path = Path::new("t.csv");
        let table = read_table_from(text.as_bytes(), path, &of_table).unwrap();
        assert_eq!(table.table.columns()[0].name, "x,1", "{text}");
        assert_eq!(labels(&numbers), ["0", "1"]);
        // Places count the lines of the file.
        let last = 1 + text.trim_end().matches('\n').count() as u64;
        let wrong = text.replace("6;1", "x;1").replace("6|1", "x|1");
        let refused = from_bytes(wrong.as_bytes(), &options());
        assert_eq!(place(refused).0, last, "{text}");
    }
}
