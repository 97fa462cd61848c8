//! svmlight: a file and a stream agree, and what is read, written out and read again is the same.
#![no_main]

use std::fmt::Write;

use libfuzzer_sys::fuzz_target;
use ubauc::read::{Format, ReadOptions};
use ubauc_fuzz::{assert_agree, assert_same, from_file, from_stream, label, stored};

fuzz_target!(|bytes: &[u8]| {
    // The first byte chooses the options.
    let Some((&choice, text)) = bytes.split_first() else {
        return;
    };
    let zero_based = choice & 1 == 1;
    let options = ReadOptions {
        format: Some(Format::Svmlight),
        zero_based,
        max_line: if choice & 2 == 2 { 40 } else { 1 << 20 },
        ..Default::default()
    };
    let found = from_stream(text, &options);
    assert_agree(&found, &from_file(text, &options));
    let Ok(found) = found else { return };

    let mut written = String::new();
    for i in 0..found.rows.len() {
        written.push_str(&label(&found, i));
        for (column, value) in stored(&found, i) {
            let index = column + usize::from(!zero_based);
            write!(written, " {index}:{value}").expect("a string grows");
        }
        written.push('\n');
    }
    let options = ReadOptions {
        max_line: 1 << 20,
        ..options
    };
    let again = from_stream(written.as_bytes(), &options).expect("own text is read back");
    assert_same(&found, &again);
});
