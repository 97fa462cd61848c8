//! Values: numbers, gaps, words and dates in all the ways people write them.

use ubauc::read::table::{DetectedKind, TableOptions};

use super::{check, check_with, read};

#[test]
fn numbers_and_what_looks_like_them() {
    check(&[
        ("a,b\n1,2\n3,4\n", "a number: 1 3 | b number: 2 4"),
        ("a,b\n1,2\n3,4", "a number: 1 3 | b number: 2 4"),
        ("a,b\n 1 ,\t2\n3 , 4 \n", "a number: 1 3 | b number: 2 4"),
        ("a,b\n\n1,2\n\n3,4\n\n", "a number: 1 3 | b number: 2 4"),
        ("\n\na\n1\n2\n", "a number: 1 2"),
        ("a\n1.5\n-2e3\n+.5\n", "a number: 1.5 -2000 0.5"),
        ("a\n007\n12\n", "a category: '007' '12'"),
        ("a\n0\n0.5\n-0\n", "a number: 0 0.5 -0"),
        ("a\n1\nx\n2\n", "a category: '1' 'x' '2'"),
        ("a\n\"1,234.5\"\n\"12\"\n", "a number: 1234.5 12"),
        ("a\n\"1,234\"\n12\n", "a number: 1234 12"),
        ("a\n\"1,23\"\n12\n", "a category: '1,23' '12'"),
        ("a\n5%\n10%\n", "a category: '5%' '10%'"),
        (
            "a\n1\n2\ninf\n",
            "t.csv:4:1: 'inf' in column 'a' is not finite; name it with --missing if it stands for \
             none, or --categorical 'a'",
        ),
        ("a\ninf\nx\n", "a category: 'inf' 'x'"),
    ]);
}

#[test]
fn separators_and_decimal_commas() {
    check(&[
        ("a;b\n1,5;x\n2;y\n", "a number: 1.5 2 | b category: 'x' 'y'"),
        (
            "a;b\n1.234,5;1\n7;2\n",
            "a number: 1234.5 7 | b number: 1 2",
        ),
        (
            "a;b\n1.5;1,5\n2.5;2,5\n",
            "a number: 1.5 2.5 | b number: 1.5 2.5",
        ),
        // One column settles what another leaves open.
        (
            "a;b\n1.234;1,5\n5.678;2\n",
            "a number: 1234 5678 | b number: 1.5 2",
        ),
        (
            "a;b\n1.234;1.5\n5.678;2\n",
            "a number: 1.234 5.678 | b number: 1.5 2",
        ),
        (
            "a;b\n1,234;1.5\n5,678;2\n",
            "a number: 1234 5678 | b number: 1.5 2",
        ),
        (
            "a;b\n1,234;x\n5,678;y\n",
            "a number: 1.234 5.678 | b category: 'x' 'y'",
        ),
        (
            "a;b\n1.234;x\n5.678;y\n",
            "a number: 1.234 5.678 | b category: 'x' 'y'",
        ),
        // A later row settles an earlier one.
        (
            "a;b\n1.234;x\n0,5;y\n",
            "a number: 1234 0.5 | b category: 'x' 'y'",
        ),
        (
            "a;b\n1.5;x\n0,5;y\n",
            "a category: '1.5' '0,5' | b category: 'x' 'y'",
        ),
        ("a\tb\n1\t2,5\n3\t4\n", "a number: 1 3 | b number: 2.5 4"),
        ("a|b\n1|x\n3|y\n", "a number: 1 3 | b category: 'x' 'y'"),
        (
            "\"a\";\"b,c\"\n\"1\";\"x\"\n\"2\";\"y\"\n",
            "a number: 1 2 | b,c category: 'x' 'y'",
        ),
        ("sep=|\na|b\n1|2\n3|4\n", "a number: 1 3 | b number: 2 4"),
    ]);
    let comma = TableOptions {
        decimal_comma: Some(true),
        ..Default::default()
    };
    check_with(&comma, &[("a\n\"1,5\"\n\"1.234\"\n", "a number: 1.5 1234")]);
    let point = TableOptions {
        decimal_comma: Some(false),
        ..Default::default()
    };
    check_with(
        &point,
        &[("a;b\n1,5;1\n2;2\n", "a category: '1,5' '2' | b number: 1 2")],
    );
}

#[test]
fn gaps() {
    check(&[
        (
            "a,b\n1,\n,x\n3,y\n",
            "a number: 1 _ 3 | b category: _ 'x' 'y'",
        ),
        (
            "a\nNA\nn/a\n1\nnull\nNone\n?\nNaN\n2\n\"\"\n<NA>\n\" \"\n",
            "a number: _ _ 1 _ _ _ _ 2 _ _ _",
        ),
        ("a,b\n,1\n,2\n", "a constant number: _ _ | b number: 1 2"),
        (
            "a,b\nNA,x\n,y\n",
            "a constant number: _ _ | b category: 'x' 'y'",
        ),
        (
            "a,b\nx,1\n?,2\nx,3\n",
            "a category: 'x' _ 'x' | b number: 1 2 3",
        ),
        ("a,b\n5,1\n5,2\n", "a constant number: 5 5 | b number: 1 2"),
        (
            "a,b\nx,1\nx,2\n",
            "a constant category: 'x' 'x' | b number: 1 2",
        ),
    ]);
    let own = TableOptions {
        missing: Some(vec!["-999".to_string(), "unknown".to_string()]),
        ..Default::default()
    };
    check_with(
        &own,
        &[
            (
                "a,b\n-999,x\n2,unknown\n3,NA\n,y\n",
                "a number: _ 2 3 _ | b category: 'x' _ 'NA' 'y'",
            ),
            ("a\n-999.0\n1\n", "a number: -999 1"),
        ],
    );
}

#[test]
fn booleans_and_identifiers() {
    check(&[
        ("a\nyes\nno\n\n", "a boolean: 'yes' 'no'"),
        (
            "a,b\nTrue,1\nFalse,0\n,1\n",
            "a boolean: 'True' 'False' _ | b number: 1 0 1",
        ),
        ("a\nT\nf\n", "a boolean: 'T' 'f'"),
        ("a\nyes\nfalse\n", "a category: 'yes' 'false'"),
        ("a\nyes\nYES\n", "a category: 'yes' 'YES'"),
    ]);
    let mut text = "id,name,x\n".to_string();
    for i in 0..30 {
        text += &format!("{},name{i},{}\n", i + 7, i % 3);
    }
    let examples = read(text.as_bytes(), &TableOptions::default()).unwrap();
    let kinds: Vec<DetectedKind> = examples.columns.iter().map(|column| column.kind).collect();
    use DetectedKind::{Identifier, Number};
    assert_eq!(kinds, [Identifier, Identifier, Number]);
    assert_eq!(
        examples.columns[0].notes,
        ["counts the rows; leave it out if it is only a row number (--ignore)"]
    );
    assert_eq!(
        examples.columns[1].notes,
        ["every value is different; no level occurs again, so it tells nothing"]
    );
}

#[test]
fn dates_and_times() {
    let unsettled = "t.csv:2:1: the dates of column 'd' can be read with the day or the month first, \
        and no row settles it; write them as 2013-02-01, or say --categorical d or --ignore d";
    check(&[
        ("d\n1970-01-02\n1970-01-01 00:00:05\n", "d time: 86400 5"),
        (
            "d\n1970-01-01T01:00:00Z\n\n1970-01-01T01:00:00+01:00\n",
            "d time: 3600 0",
        ),
        ("d\n02/01/1970\n13/01/1970\n", "d time: 86400 1036800"),
        ("d\n01/02/1970\n01/13/1970\n", "d time: 86400 1036800"),
        ("d\n02.01.1970\n03.01.1970\n", "d time: 86400 172800"),
        ("d\n02/01/1970\n\n03/04/1970\n", unsettled),
        (
            "d,x\n13/01/1970,1\n01/13/1970,2\n",
            "d category: '13/01/1970' '01/13/1970' | x number: 1 2",
        ),
        (
            "d\n1970-01-02\n02/13/1970\n",
            "d category: '1970-01-02' '02/13/1970'",
        ),
        ("d\n1970-01-02\n5\n", "d category: '1970-01-02' '5'"),
        ("d\n5\n1970-01-02\n", "d category: '5' '1970-01-02'"),
        ("d\n,\n", "t.csv:2:2: 2 fields, the header has 1"),
        ("d,x\n,1\n1970-01-02,2\n", "d time: _ 86400 | x number: 1 2"),
        ("d\n20130101\n20130102\n", "d number: 20130101 20130102"),
    ]);
}
