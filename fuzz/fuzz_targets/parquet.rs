//! Parquet: an answer or an error, and every number finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ubauc::read::{Format, ReadOptions};
use ubauc_fuzz::{from_file, stored};

fuzz_target!(|bytes: &[u8]| {
    let options = ReadOptions {
        format: Some(Format::Parquet),
        label: "y".to_string(),
        ..Default::default()
    };
    let Ok(found) = from_file(bytes, &options) else {
        return;
    };
    assert_eq!(found.labels.codes().len(), found.rows.len());
    for i in 0..found.rows.len() {
        assert!(stored(&found, i).iter().all(|(_, value)| value.is_finite()));
    }
});
