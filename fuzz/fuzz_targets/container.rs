//! Containers: whatever bytes come, and whatever payload under a checksum that is right, nothing panics: neither the
//! reader nor the shard or learner that it makes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ubauc::checksum::xxh3;
use ubauc::data::rows::{Csr, Row, Rows};
use ubauc::solver::ol_ubauc::Learner;
use ubauc::solver::shards::{Round, Shard, answers_from_bytes};

fuzz_target!(|bytes: &[u8]| {
    let _ = Round::from_bytes(bytes);
    let _ = answers_from_bytes(bytes);
    let _ = Learner::from_bytes(bytes);
    let round = Round::default().to_bytes().expect("an empty round is written");
    // Two vectors of no elements: a payload of 2 bytes, whose length takes one.
    let header = round.len() - 2 - 1 - 8;
    if let Ok(round) = Round::from_bytes(&with_payload(&round[..header], bytes)) {
        let csr = Csr::new(vec![0, 2, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, -3.0], 3);
        let rows = Rows::Csr(csr.expect("good rows"));
        let mut shard = Shard::new(0..3, 3, &[true, false, true], Some(&[1.0, 0.5, 0.0]));
        let _ = shard.run(&rows, &round);
    }
    let learner = Learner::new(&Default::default(), Default::default()).expect("defaults are good");
    let state = learner.to_bytes().expect("a new learner is written");
    if let Ok(mut learner) = Learner::from_bytes(&with_payload(&state[..header], bytes)) {
        let _ = learner.score(Row::Dense(&[1.0, 1.0]));
        let _ = learner.learn(Row::Dense(&[1.0, 1.0, 1.0]), false, 1.0);
    }
});

/// A container of what precedes the length, and this payload.
fn with_payload(header: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut bytes = header.to_vec();
    let mut length = payload.len();
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend(payload);
    let sum = xxh3(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}
