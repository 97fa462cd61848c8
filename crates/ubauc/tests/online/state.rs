//! The learner's bytes: taken at any moment, nothing is lost; damaged, they are refused.

use proptest::prelude::*;
use ubauc::Error;
use ubauc::checksum::xxh3;
use ubauc::data::rows::Row;
use ubauc::solver::ol_ubauc::Learner;

use super::learner::streams;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn restored_at_every_point_it_goes_on_with_the_same_bits(stream in streams(25)) {
        let mut learner = stream.learner();
        let mut restored = stream.learner();
        for (x, positive, weight) in &stream.examples {
            let bytes = restored.to_bytes().unwrap();
            restored = Learner::from_bytes(&bytes).unwrap();
            prop_assert_eq!(restored.to_bytes().unwrap(), bytes);
            let a = learner.learn(Row::Dense(x), *positive, *weight).unwrap();
            let b = restored.learn(Row::Dense(x), *positive, *weight).unwrap();
            prop_assert_eq!(a.to_bits(), b.to_bits());
        }
        prop_assert_eq!(learner.to_bytes().unwrap(), restored.to_bytes().unwrap());
        prop_assert_eq!(learner.params(), restored.params());
        prop_assert_eq!(learner.scale(), restored.scale());
    }

    #[test]
    fn damaged_bytes_are_refused(stream in streams(10), at in 0.0..1.0f64, bit in 0..8u32) {
        let mut learner = stream.learner();
        for (x, positive, weight) in &stream.examples {
            learner.learn(Row::Dense(x), *positive, *weight).unwrap();
        }
        let bytes = learner.to_bytes().unwrap();
        let at = (at * bytes.len() as f64) as usize;
        let mut changed = bytes.clone();
        changed[at] ^= 1 << bit;
        prop_assert!(refused(&changed));
        prop_assert!(refused(&bytes[..at]));
        let mut longer = bytes;
        longer.extend([0; 8]);
        prop_assert!(refused(&longer));
    }
}

fn refused(bytes: &[u8]) -> bool {
    matches!(Learner::from_bytes(bytes), Err(Error::Container { .. }))
}

#[test]
fn no_number_in_the_bytes_makes_a_giant_or_a_panic() {
    let mut learner = Learner::new(&Default::default(), Default::default()).unwrap();
    learner.learn(Row::Dense(&[1.0, 2.0]), true, 1.0).unwrap();
    let bytes = learner.to_bytes().unwrap();
    let body = bytes.len() - 8;
    // Every eight bytes replaced by the extremes, with a checksum that is right.
    for at in 8..body - 8 {
        for word in [
            u64::MAX,
            0,
            1 << 61,
            f64::NAN.to_bits(),
            f64::INFINITY.to_bits(),
        ] {
            let mut changed = bytes[..body].to_vec();
            changed[at..at + 8].copy_from_slice(&word.to_le_bytes());
            let sum = xxh3(&changed);
            changed.extend(sum.to_le_bytes());
            if let Ok(mut learner) = Learner::from_bytes(&changed) {
                let _ = learner.score(Row::Dense(&[1.0, 1.0]));
                let _ = learner.learn(Row::Dense(&[1.0, 1.0, 1.0]), false, 1.0);
            }
        }
    }
    assert!(refused(&[]) && refused(b"ubauc\x01") && refused(b"ubauc\x02........"));
}
