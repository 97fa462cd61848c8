//! CSV: what is read, written out and read again is the same; quotes, which are read in another
//! way than text without them, change nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ubauc::data::dataset::Examples;
use ubauc::read::{Format, ReadOptions};
use ubauc_fuzz::{assert_agree, assert_same, from_stream, from_trickle, label, stored};

fuzz_target!(|bytes: &[u8]| {
    // The first byte chooses the options.
    let Some((&choice, text)) = bytes.split_first() else {
        return;
    };
    let no_header = choice & 1 == 1;
    let options = ReadOptions {
        format: Some(Format::Csv),
        label: if no_header { "1" } else { "y" }.to_string(),
        no_header,
        delimiter: (choice & 2 == 2).then_some(b','),
        max_line: if choice & 4 == 4 { 40 } else { 1 << 20 },
        ..Default::default()
    };
    let found = from_stream(text, &options);
    assert_agree(&found, &from_trickle(text, &options));
    let Ok(found) = found else { return };

    let plain = ReadOptions {
        format: Some(Format::Csv),
        label: options.label.clone(),
        ..Default::default()
    };
    let written = write(&found, &plain.label);
    let again = from_stream(written.as_bytes(), &plain).expect("own text is read back");
    assert_same(&found, &again);

    // One more row, quoted, behind text without a quote.
    if !text.contains(&b'"') && options.delimiter.is_some() && options.max_line > 40 {
        let names = 1 + found.names.len();
        let row = vec!["\"1\""; names].join(",");
        let longer = [text, b"\n", row.as_bytes()].concat();
        let longer = from_stream(&longer, &options).expect("a quoted row may follow");
        assert_eq!(longer.rows.len(), found.rows.len() + 1);
        for i in 0..found.rows.len() {
            let nonzero = |examples: &Examples| {
                let mut row = stored(examples, i);
                row.retain(|(_, value)| *value != 0.0);
                row
            };
            assert_eq!(nonzero(&longer), nonzero(&found));
        }
    }
});

/// All fields quoted, the label first.
fn write(examples: &Examples, label_name: &str) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut text = quoted(label_name);
    for name in &examples.names {
        text.push(',');
        text.push_str(&quoted(name));
    }
    text.push('\n');
    for i in 0..examples.rows.len() {
        let mut row = vec![0.0; examples.names.len()];
        for (column, value) in stored(examples, i) {
            row[column] = value;
        }
        text.push_str(&quoted(&label(examples, i)));
        for value in row {
            text.push_str(&format!(",{value}"));
        }
        text.push('\n');
    }
    text
}
