use super::{check, evaluate, show};

#[test]
fn files_without_examples_are_refused() {
    check(&[
        show("empty", "", "", "the file is empty"),
        show("empty.svm", "", "", "the file is empty"),
        show("blank", " \n\n \t \r\n", "", "no examples in the file"),
        show("blank.svm", "\n \n", "", "no examples in the file"),
        show("comments", "# one\n  # two", "", "no examples in the file"),
        show("bom.svm", b"\xef\xbb\xbf", "", "no examples in the file"),
    ]);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let junk: Vec<u8> = (0..5000u32)
        .map(|i| (i.wrapping_mul(2_654_435_769) >> 24) as u8)
        .collect();
    check(&[
        show("junk", &junk, "", "is not text"),
        show("junk.svm", &junk, ":1:1", "is not a finite number"),
        show("zeros", [0; 100], "", "is not text"),
        show("zeros.svm", [0; 100], ":1:1", r"'\x00\x00\x00"),
        show("zero.svm", b"1 1:2\n-1 1:2\x003\n", ":2:6", r"'2\x003'"),
        show("utf16", b"\xff\xfe1\0 \x001\0:\x00x\0\n\0", ":1:5", "'x'"),
        show(
            "utf16.svm",
            b"\xfe\xff\x001\0",
            "",
            "UTF-16 text ends within",
        ),
        show("escape.svm", b"\x1b[2J 1:2\n", ":1:1", r"'\x1b[2J'"),
        show("latin1.svm", b"1 1:\xb5\n", ":1:5", r"'\xb5'"),
    ]);
}

#[test]
fn values_that_are_no_finite_numbers_are_refused() {
    check(&[
        show("a", "1 1:1\n-1 3:nan\n", ":2:6", "'nan' is not a finite"),
        show(
            "a",
            "1 1:inf\n",
            ":1:5",
            "value 'inf' is not a finite number",
        ),
        show("a", "1 1:-inf\n", ":1:5", "value '-inf' is not a finite"),
        show(
            "a",
            "1 1:2 2:1e400\n",
            ":1:9",
            "value '1e400' is not a finite",
        ),
        show("a", "1 1:2 2:-1e400\n", ":1:9", "'-1e400' is not a finite"),
        show("a", "1 3:\n", ":1:5", "the value is missing after ':'"),
        show("a", "1 3: 4:1\n", ":1:5", "the value is missing after ':'"),
        show("a", "1 3:# c\n", ":1:5", "the value is missing after ':'"),
        show(
            "a",
            "1 1:2:3\n",
            ":1:5",
            "value '2:3' is not a finite number",
        ),
        show("a", "1 1::3\n", ":1:5", "value ':3' is not a finite number"),
        show("a", "1 1:0x10\n", ":1:5", "value '0x10' is not a finite"),
        show(
            "a",
            "1 1:1,5\n",
            ":1:5",
            "value '1,5' is not a finite number",
        ),
        show("a", "1 1:1_000\n", ":1:5", "value '1_000' is not a finite"),
        show("a", "1 1:-\n", ":1:5", "value '-' is not a finite number"),
        show("a", "1 1:.\n", ":1:5", "value '.' is not a finite number"),
        show("a", "1 1:1e\n", ":1:5", "value '1e' is not a finite number"),
        show("a", "1 1:½\n", ":1:5", "value '½' is not a finite number"),
    ]);
}

#[test]
fn indices_must_be_whole_positive_and_increasing() {
    check(&[
        show("a", "1 0:1\n", ":1:3", "index 0; indices start at 1"),
        show("a", "1 -3:1\n", ":1:3", "index '-3' is negative"),
        show("a", "1 100000001:1\n", ":1:3", "is above 100000000"),
        show(
            "a",
            "1 12345678901234567890:1\n",
            ":1:3",
            "is above 100000000, the most that is allowed (max-features)",
        ),
        show("a", "1 99999999999999999999999:1\n", ":1:3", "is above"),
        show("a", "1 9:1 5:1\n", ":1:7", "index 5 after 9; indices must"),
        show("a", "1 1:1\r\n1 3:1 3:2\r\n", ":2:7", "index 3 is repeated"),
        show("a", "1 :4\n", ":1:3", "index '' is not a whole number"),
        show(
            "a",
            "1 1.5:4\n",
            ":1:3",
            "index '1.5' is not a whole number",
        ),
        show("a", "1 +1:4\n", ":1:3", "index '+1' is not a whole number"),
        show(
            "a",
            "1 0x1:4\n",
            ":1:3",
            "index '0x1' is not a whole number",
        ),
        show("a", "1 1:1 7\n", ":1:7", "expected index:value, got '7'"),
        show("a.svm", "1 7\n", ":1:3", "expected index:value, got '7'"),
        show("a", "1 1 :4\n-1\n", "", "no label column").and(&["--label", "y"]),
        show("a", "1 qid:x 1:1\n", ":1:3", "'qid' is not a whole number"),
    ]);
}

#[test]
fn labels_must_be_one_finite_number_each() {
    let long = format!("1 1:1\n{}1 1:1\n", "0".repeat(2000));
    check(&[
        show(
            "a",
            "nan 1:1\n",
            ":1:1",
            "label 'nan' is not a finite number",
        ),
        show(
            "a",
            "1 1:1\ninf 1:1\n",
            ":2:1",
            "label 'inf' is not a finite",
        ),
        show("a", "-inf 1:1\n", ":1:1", "label '-inf' is not a finite"),
        show("a", "1e400 1:1\n", ":1:1", "label '1e400' is not a finite"),
        show(
            "a",
            "yes 1:1\n",
            ":1:1",
            "label 'yes' is not a finite number",
        ),
        show("a", "1,2 1:1\n", ":1:1", "label '1,2' is a list"),
        show(
            "a",
            "3:1 4:1\n",
            ":1:1",
            "begins with '3:1'; expected a label",
        ),
        show("a", "1 1:1\n  3:1\n", ":2:3", "begins with '3:1'"),
        show(
            "a",
            "0x1 1:1\n",
            ":1:1",
            "label '0x1' is not a finite number",
        ),
        show("a", long, ":2:1", "is 2001 bytes long; at most 1000"),
    ]);
}

#[test]
fn lines_and_classes_beyond_their_limits_are_refused() {
    let classes: String = (0..70_000).map(|i| format!("{i} 1:1\n")).collect();
    let short: String = (0..66_000).map(|i| format!("{i}\n")).collect();
    check(&[
        show("a", "1 1:1\n-1 1:1 2:1\n", ":2:7", "longer than 6 bytes").and(&["--max-line", "6"]),
        show("a", classes, "", "more than 65536 different labels"),
        show("a", short, ":65537:1", "more than 65536 different labels"),
    ]);
}

#[test]
fn examples_are_no_scores() {
    let few = "1 1:1 2:3\n-1 1:2\n";
    check(&[
        evaluate("a", few, "", "choose one feature as the score"),
        evaluate("a", few, "", "--feature 3: the file has features 1 to 2")
            .and(&["--feature", "3"]),
        evaluate("a", few, "", "--feature 0: the file has features 1 to 2")
            .and(&["--feature", "0"]),
        evaluate("a", "1\n-1\n", "", "the file has labels only").and(&["--feature", "1"]),
        evaluate("a", "1\n-1\n", "", "the file has labels only").and(&[
            "--feature",
            "0",
            "--zero-based",
        ]),
        evaluate("a", "1 1:2\n1 1:3\n", "", "one class, 1").and(&["--feature", "1"]),
        evaluate("a", few, "", "choose one feature").typed(&["bound", "a"]),
        evaluate("a", few, "", "choose one feature").typed(&["compare", "good.csv", "a"]),
    ]);
}
