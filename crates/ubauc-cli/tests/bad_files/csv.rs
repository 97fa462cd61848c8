use super::{check, evaluate, show};

#[test]
fn headers_must_name_the_columns_asked_for() {
    let wide = format!("{},x\n1,2\n", "n".repeat(100_000));
    check(&[
        evaluate("a.csv", "\n\r\n\n", "", "no examples in the file"),
        evaluate("a.csv", "label,score", "", "no examples after the header"),
        evaluate("a", "label,score\n\n", "", "no examples after the header"),
        evaluate(
            "a",
            "y,score\n1,2\n",
            "",
            "no label column 'label'; columns are 'y', 'score'",
        ),
        evaluate(
            "a",
            "label,x\n1,2\n",
            "",
            "no feature column 'score'; columns are 'label', 'x'",
        ),
        evaluate("a", "label,score\n1,2\n", "", "no feature column 'w'").and(&["--weight", "w"]),
        evaluate("a", "1,0.5\n0,0.25\n", "", "the first line looks like data"),
        evaluate(
            "a",
            "label,score,score\n1,2,3\n",
            "",
            "two columns are called 'score'",
        ),
        evaluate(
            "a",
            "label,label,score\n1,2,3\n",
            "",
            "two columns are called 'label'",
        ),
        evaluate(
            "a",
            wide,
            "",
            "columns are 'nnnnnnnnnnnnnnnnnnnnnnnn…', 'x'",
        ),
        evaluate("a", "\x1b[2J,x\n1,2\n", "", r"columns are '\x1b[2J', 'x'"),
        evaluate("a", "\"label,score\n1,2\n", ":1:1", "a quote is not closed"),
        show("a", "label\n1\n0\n", "", "no columns besides the label").and(&["--label", "label"]),
        show("a", "label,x\n1,2\n", "", "no ignored column 'id'").and(&["--ignore", "id"]),
    ]);
}

#[test]
fn rows_must_be_as_long_as_the_header() {
    check(&[
        evaluate(
            "a",
            "label,score,x\n1,2,3\n0,1\n",
            ":3:3",
            "2 fields, the header has 3",
        ),
        evaluate(
            "a",
            "label,score\n1,2,3\n",
            ":2:3",
            "3 fields, the header has 2",
        ),
        evaluate(
            "a",
            "label,score\n1,2,\n",
            ":2:3",
            "3 fields, the header has 2",
        ),
        evaluate(
            "a",
            "label;score\n1,5;2,5\n0;1,5\n",
            ":2:2",
            "'2,5' in column 'score'",
        ),
        evaluate(
            "a",
            "label,score\n1 2\n",
            ":2:2",
            "1 fields, the header has 2",
        ),
    ]);
}

#[test]
fn numbers_must_be_there_and_finite() {
    check(&[
        evaluate(
            "a",
            "label,score\n1,\n",
            ":2:2",
            "the value of column 'score' is missing ('')",
        ),
        evaluate("a", "label,score\n1,NA\n", ":2:2", "is missing ('NA')"),
        evaluate("a", "label,score\n1,NaN\n", ":2:2", "is missing ('NaN')"),
        evaluate("a", "label,score\n1,null\n", ":2:2", "is missing ('null')"),
        evaluate(
            "a",
            "label,score\n1,inf\n",
            ":2:2",
            "'inf' in column 'score' is not finite",
        ),
        evaluate(
            "a",
            "label,score\n1,-inf\n",
            ":2:2",
            "'-inf' in column 'score' is not finite",
        ),
        evaluate(
            "a",
            "label,score\n1,1e400\n",
            ":2:2",
            "'1e400' in column 'score' is not finite",
        ),
        evaluate(
            "a",
            "label,score\n1,high\n",
            ":2:2",
            "'high' in column 'score' is not a number",
        ),
        evaluate(
            "a",
            "label,score\n1,0x10\n",
            ":2:2",
            "'0x10' in column 'score' is not a number",
        ),
        evaluate("a", b"label,score\n1,\x001\n", "", "is not text"),
        evaluate(
            "a",
            "score,label\n1,nan\n",
            ":2:2",
            "the label is missing ('nan')",
        ),
        evaluate(
            "a",
            "score,label\n1,\n",
            ":2:2",
            "the label is missing ('')",
        ),
        evaluate(
            "a",
            "score,label\n1,inf\n",
            ":2:2",
            "label 'inf' is not finite",
        ),
        evaluate(
            "a",
            "score,label\n1,1e400\n",
            ":2:2",
            "label '1e400' is not finite",
        ),
        show(
            "a",
            "label,x\n1,2\n0,\u{1f980}\n",
            ":3:2",
            "'\u{1f980}' in column 'x' is not a",
        )
        .and(&["--numeric", "x"]),
    ]);
}

/// Blank lines, CRLF and line ends within quotes count as lines.
#[test]
fn lines_are_counted_as_an_editor_counts_them() {
    let what = "'x' in column 'score' is not a number";
    check(&[
        evaluate("a", "label,score\r\n1,2\r\n0,x\r\n", ":3:2", what),
        evaluate("a", "label,score\r\n\r\n1,2\r\n\r\n0,x", ":5:2", what),
        evaluate("a", "\n\nlabel,score\n\n\n0,x\n", ":6:2", what),
        evaluate(
            "a",
            "label,score\r\n\r\n\"1\",2\r\n\r\n0,x\r\n",
            ":5:2",
            what,
        ),
        evaluate(
            "a",
            "id,label,score\n\"a\nb\",1,2\n\"c\nd\",0,x",
            ":4:3",
            what,
        ),
        evaluate(
            "a",
            "id,label,score\r\n\"a\r\nb\",1,2\r\nc,0,x\r\n",
            ":4:3",
            what,
        ),
        evaluate(
            "a",
            "\"label\",\"sc\nore\"\n1,x\n",
            ":3:2",
            r"in column 'sc\nore'",
        )
        .and(&["--score", "sc\nore"]),
    ]);
}

#[test]
fn quotes_must_close() {
    let rest = "0,1,x\n".repeat(2000);
    check(&[
        evaluate(
            "a",
            "label,score\n1,2\n0,\"3\n1,4\n1,5\n",
            ":3:2",
            "a quote is not closed",
        ),
        evaluate(
            "a",
            "label,score\n1,2\n0,\"3",
            ":3:2",
            "a quote is not closed",
        ),
        evaluate(
            "a",
            "label,score\n1,2\n0,\"3\"\"",
            ":3:2",
            "a quote is not closed",
        ),
        evaluate(
            "a",
            "label,score,text\n1,2,\"a\n0,3,b\n",
            ":2:3",
            "a quote is not closed",
        ),
        evaluate(
            "a",
            format!("label,score,text\n0,1,\"\n{rest}"),
            ":2:3",
            "a quote is not closed",
        ),
        evaluate(
            "a",
            format!("label,score,text\n0,1,\"\n{rest}"),
            ":2:3",
            "longer than 4000 bytes",
        )
        .and(&["--max-line", "4000"]),
    ]);
}

#[test]
fn labels_must_be_classes() {
    let classes: String = (0..70_000).map(|i| format!("c{i},1\n")).collect();
    let long = format!("label,score\n{},1\n", "é".repeat(600));
    check(&[
        evaluate(
            "a",
            "label,score\n1,2\n1,3\n",
            "",
            "all 2 examples are of one class, 1",
        ),
        evaluate(
            "a",
            "label,score\n1,2\n1.0,3\n",
            "",
            "all 2 examples are of one class, 1",
        ),
        evaluate(
            "a",
            "label,score\n\"a\n\x1b[2J\",2\n",
            "",
            r"one class, a\n\u{1b}[2J;",
        ),
        evaluate(
            "a",
            "label,score\n1,2\n2,3\n3,4\n",
            "",
            "3 classes: 1 (1), 2 (1), 3 (1); name",
        ),
        evaluate(
            "a",
            "label,score\n1,2\n0,3\n",
            "",
            "no example is of class 7; classes are 0 (1)",
        )
        .and(&["--positive", "7"]),
        evaluate(
            "a",
            "label,score\n1,2\n0,3\n",
            "",
            "no example is of class nan",
        )
        .and(&["--positive", "nan"]),
        evaluate(
            "a",
            long,
            ":2:1",
            "'éééééééééééé…' is 1200 bytes long; at most 1000",
        ),
        evaluate(
            "a",
            format!("label,score\n{classes}"),
            "",
            "more than 65536 different labels",
        ),
    ]);
}

#[test]
fn files_to_compare_must_hold_the_same_examples() {
    let together = ["compare", "good.csv", "a"];
    check(&[
        show(
            "a",
            "label,score\n0,1\n1,2\n",
            "",
            "2 examples, good.csv has 3",
        )
        .typed(&together),
        show(
            "a",
            "label,score\n0,1\n0,2\n1,3\n",
            "",
            "the label of example 2 differs",
        )
        .typed(&together),
        show("a", "label,score\n0,1\n1,x\n0,3\n", ":3:2", "'x' in column").typed(&together),
        show("a", "label,score\n0,1\n1,x\n0,3\n", ":3:2", "'x' in column").typed(&["bound", "a"]),
        show("a", "label,score\n1,2\n1,3\n", "", "one class").typed(&["bound", "a"]),
    ]);
}
