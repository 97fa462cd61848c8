//! Any bytes, compression and format by content: a file, a stream and a stream that trickles agree.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ubauc::read::ReadOptions;
use ubauc_fuzz::{assert_agree, from_file, from_stream, from_trickle};

fuzz_target!(|bytes: &[u8]| {
    if bytes.starts_with(b"PAR1") {
        return; // read from a file only
    }
    let options = ReadOptions {
        max_line: 1 << 16,
        ..Default::default()
    };
    let found = from_stream(bytes, &options);
    assert_agree(&found, &from_trickle(bytes, &options));
    assert_agree(&found, &from_file(bytes, &options));
});
