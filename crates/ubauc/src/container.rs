//! The container of everything binary that leaves the process: messages between a driver and its workers, states of
//! learners, checkpoints.
//!
//! ```text
//! magic        6 bytes, "ubauc" and 1, the layout of what follows
//! header       kind, version of that kind's payload, version of ubauc that wrote it, length of the payload
//! payload      the value
//! checksum     XXH3 of all before, 8 bytes, little-endian
//! ```
//!
//! Header and payload are as serde and postcard write them: integers of as many bytes as they need, f64 bit for bit. All
//! but the payload are 25 bytes or so, little enough for messages of a few numbers.
//!
//! A payload is whatever the value's `derive(Serialize, Deserialize)` says, in the order of its fields, without their
//! names. So a field that is added, dropped or moved makes a new format: raise [`Kind::format`]. Attributes that need a
//! self-describing format (`flatten`, `untagged`, `skip_serializing_if`, `serde_json::Value`) cannot be read back.
//!
//! Reading never panics and never allocates more than a small multiple of the bytes that are there.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::checksum::xxh3;
use crate::{Error, Result};

const MAGIC: &[u8; 6] = b"ubauc\x01";
/// The version that is written, and that messages must have.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a container holds. The numbers are part of the format and never change their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// [`Round`](crate::solver::shards::Round): commands and queries for shards of rows.
    Round = 1,
    /// The answers of a shard to a round.
    Answers = 2,
    /// [`ol_ubauc::Learner`](crate::solver::ol_ubauc::Learner).
    OnlineLearner = 3,
    /// [`RivalLearner`](crate::algorithm::RivalLearner).
    RivalLearner = 4,
    /// A run of `ubauc learn`.
    Checkpoint = 5,
    /// What is counted or summed over the rows of a part of a table.
    Tally = 6,
}

impl Kind {
    const ALL: [Kind; 6] = [
        Kind::Round,
        Kind::Answers,
        Kind::OnlineLearner,
        Kind::RivalLearner,
        Kind::Checkpoint,
        Kind::Tally,
    ];

    /// The version of its payload that is written, and the only one that is read.
    pub fn format(self) -> u16 {
        match self {
            Kind::Round | Kind::Answers | Kind::Tally => 1,
            Kind::RivalLearner => 2,
            Kind::OnlineLearner => 3,
            Kind::Checkpoint => 4,
        }
    }

    /// Whether writer and reader must be the same version of ubauc: the two ends of a fit must compute the same bits.
    /// What is stored is read by every version that knows its format.
    fn is_message(self) -> bool {
        match self {
            Kind::Round | Kind::Answers | Kind::Tally => true,
            Kind::OnlineLearner | Kind::RivalLearner | Kind::Checkpoint => false,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Round => "a round of commands and queries",
            Kind::Answers => "the answers of a shard",
            Kind::OnlineLearner => "the state of an online learner",
            Kind::RivalLearner => "the state of a streaming learner",
            Kind::Checkpoint => "a checkpoint",
            Kind::Tally => "counts of a part of a table",
        })
    }
}

/// Why bytes were refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// They do not begin as a container does.
    #[error("is not in the binary format of ubauc, or in a newer layout of it")]
    Foreign,
    /// Fewer or more bytes than stated.
    #[error("is cut short, or longer than it states")]
    Length,
    /// Some bit has changed.
    #[error("is damaged: its checksum is {found:016x}, and it states {stated:016x}")]
    Checksum {
        /// Of the bytes that are there.
        found: u64,
        /// As they have it.
        stated: u64,
    },
    /// Something else.
    #[error("is expected, but this is {}", found.map_or("of an unknown kind".to_string(), |kind| kind.to_string()))]
    Kind {
        /// What it is, if this version knows.
        found: Option<Kind>,
    },
    /// Another version of the payload.
    #[error(
        "has format {found}, written by ubauc {written_by}; ubauc {VERSION} reads format {known}"
    )]
    Format {
        /// The version there is.
        found: u16,
        /// The one that this version reads.
        known: u16,
        /// Who wrote it.
        written_by: String,
    },
    /// A message of another version of ubauc.
    #[error("was written by ubauc {written_by}, but this is ubauc {VERSION}")]
    Version {
        /// Who wrote it.
        written_by: String,
    },
    /// The checksum is right and the content is not.
    #[error("holds impossible content ({0})")]
    Content(String),
}

/// What precedes a payload.
#[derive(Serialize, Deserialize)]
struct Header<'a> {
    kind: u8,
    format: u16,
    written_by: &'a str,
    length: u64,
}

/// The value in a container.
pub fn write<T: Serialize>(kind: Kind, value: &T) -> Result<Vec<u8>> {
    let content = |error: postcard::Error| refused(kind, Fault::Content(error.to_string()));
    let mut out = postcard::to_stdvec(value).map_err(content)?;
    let header = Header {
        kind: kind as u8,
        format: kind.format(),
        written_by: VERSION,
        length: out.len() as u64,
    };
    let header = postcard::to_stdvec(&header).map_err(content)?;
    out.reserve(MAGIC.len() + header.len() + 8);
    out.splice(0..0, MAGIC.iter().copied().chain(header));
    let sum = xxh3(&out);
    out.extend(sum.to_le_bytes());
    Ok(out)
}

/// The value in a container of this kind; see [`Fault`] for what is refused.
pub fn read<T: DeserializeOwned>(kind: Kind, bytes: &[u8]) -> Result<T> {
    content(kind, bytes).map_err(|fault| refused(kind, fault))
}

fn refused(kind: Kind, fault: Fault) -> Error {
    Error::Container { kind, fault }
}

fn content<T: DeserializeOwned>(kind: Kind, bytes: &[u8]) -> std::result::Result<T, Fault> {
    let (header, payload) = undamaged(bytes)?;
    if header.kind != kind as u8 {
        let found = Kind::ALL.into_iter().find(|k| *k as u8 == header.kind);
        return Err(Fault::Kind { found });
    }
    let written_by = header.written_by.to_string();
    if kind.is_message() && written_by != VERSION {
        return Err(Fault::Version { written_by });
    }
    if header.format != kind.format() {
        return Err(Fault::Format {
            found: header.format,
            known: kind.format(),
            written_by,
        });
    }
    match postcard::take_from_bytes(payload) {
        Ok((value, [])) => Ok(value),
        Ok((_, _)) => Err(Fault::Content("bytes are left over".to_string())),
        Err(error) => Err(Fault::Content(error.to_string())),
    }
}

/// Header and payload, if length and checksum are right.
fn undamaged(bytes: &[u8]) -> std::result::Result<(Header<'_>, &[u8]), Fault> {
    // A beginning of the magic bytes is a container that was cut.
    let rest = match bytes.strip_prefix(MAGIC) {
        Some(rest) => rest,
        None if !bytes.is_empty() && MAGIC.starts_with(bytes) => return Err(Fault::Length),
        None => return Err(Fault::Foreign),
    };
    let (header, rest): (Header<'_>, &[u8]) =
        postcard::take_from_bytes(rest).map_err(|_| Fault::Length)?;
    let (payload, stated) = rest.split_last_chunk().ok_or(Fault::Length)?;
    if payload.len() as u64 != header.length {
        return Err(Fault::Length);
    }
    let (found, stated) = (xxh3(&bytes[..bytes.len() - 8]), u64::from_le_bytes(*stated));
    match found == stated {
        true => Ok((header, payload)),
        false => Err(Fault::Checksum { found, stated }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Value = (Vec<f64>, Option<u64>, String);

    fn fault<T: DeserializeOwned>(kind: Kind, bytes: &[u8]) -> Fault {
        match read::<T>(kind, bytes) {
            Err(Error::Container { fault, .. }) => fault,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("was read"),
        }
    }

    /// The same container with other bytes in its header or payload, and a checksum that is right.
    fn with(bytes: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut changed = bytes[..bytes.len() - 8].to_vec();
        change(&mut changed);
        let sum = xxh3(&changed);
        changed.extend(sum.to_le_bytes());
        changed
    }

    /// Another version of ubauc.
    fn by(bytes: &[u8], version: &str) -> Vec<u8> {
        with(bytes, |b| {
            b[8] = version.len() as u8;
            b.splice(9..9 + VERSION.len(), version.bytes());
        })
    }

    #[test]
    fn another_kind_is_refused_by_its_name() {
        let bytes = write(Kind::OnlineLearner, &1.0).unwrap();
        let found = Some(Kind::OnlineLearner);
        assert_eq!(
            fault::<f64>(Kind::Checkpoint, &bytes),
            Fault::Kind { found }
        );
        let error = read::<f64>(Kind::Checkpoint, &bytes).unwrap_err();
        let message = "a checkpoint is expected, but this is the state of an online learner";
        assert_eq!(error.to_string(), message);
        let unknown = with(&bytes, |b| b[6] = 200);
        let found = None;
        assert_eq!(
            fault::<f64>(Kind::Checkpoint, &unknown),
            Fault::Kind { found }
        );
        for kind in Kind::ALL {
            let bytes = write(kind, &1.5).unwrap();
            assert_eq!(read::<f64>(kind, &bytes).unwrap(), 1.5);
        }
    }

    #[test]
    fn a_newer_format_names_who_wrote_it() {
        let bytes = write(Kind::Checkpoint, &1.0).unwrap();
        let newer = with(&by(&bytes, "7.2.0"), |b| b[7] = 9);
        let (found, known, written_by) = (9, 4, "7.2.0".to_string());
        let expected = Fault::Format {
            found,
            known,
            written_by,
        };
        assert_eq!(fault::<f64>(Kind::Checkpoint, &newer), expected);
    }

    #[test]
    fn messages_need_one_version_of_ubauc_and_states_do_not() {
        let state = by(&write(Kind::OnlineLearner, &1.0).unwrap(), "99.0.0-rc.1");
        assert_eq!(read::<f64>(Kind::OnlineLearner, &state).unwrap(), 1.0);
        for kind in [Kind::Round, Kind::Answers] {
            let message = by(&write(kind, &1.0).unwrap(), "99.0.0-rc.1");
            let written_by = "99.0.0-rc.1".to_string();
            assert_eq!(fault::<f64>(kind, &message), Fault::Version { written_by });
        }
    }

    #[test]
    fn content_that_does_not_fit_is_refused() {
        let bytes = write(Kind::Answers, &vec![1.0, 2.0]).unwrap();
        let is_content = |fault: Fault| matches!(fault, Fault::Content(_));
        // Too few and too many bytes for the type, and a vector that claims 2^60 numbers.
        assert!(is_content(fault::<[f64; 9]>(Kind::Answers, &bytes)));
        assert!(is_content(fault::<f64>(Kind::Answers, &bytes)));
        let giant = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f];
        let giant = write(Kind::Answers, &giant).unwrap();
        assert!(is_content(fault::<Vec<f64>>(Kind::Answers, &giant)));
        assert_eq!(fault::<f64>(Kind::Answers, b""), Fault::Foreign);
        assert_eq!(
            fault::<f64>(Kind::Answers, b"ubauc\x02....."),
            Fault::Foreign
        );
    }

    fn bits(x: &[f64]) -> Vec<u64> {
        x.iter().map(|x| x.to_bits()).collect()
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            numbers in prop::collection::vec(any::<u64>(), 0..50),
            count: Option<u64>,
            text: String,
        ) {
            // Every bit pattern, those of NaN among them.
            let numbers = numbers.into_iter().map(f64::from_bits).collect();
            let value: Value = (numbers, count, text);
            let bytes = write(Kind::Answers, &value).unwrap();
            let again: Value = read(Kind::Answers, &bytes).unwrap();
            prop_assert_eq!(bits(&again.0), bits(&value.0));
            prop_assert_eq!((again.1, again.2), (value.1, value.2));
        }

        #[test]
        fn damage_is_refused(
            numbers in prop::collection::vec(any::<f64>(), 0..50),
            at: prop::sample::Index,
            bit in 0..8u32,
            more in prop::collection::vec(any::<u8>(), 1..20),
        ) {
            let bytes = write(Kind::Answers, &numbers).unwrap();
            let at = at.index(bytes.len());
            prop_assert!(read::<Vec<f64>>(Kind::Answers, &bytes[..at]).is_err());
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            prop_assert!(read::<Vec<f64>>(Kind::Answers, &changed).is_err());
            let longer = [bytes, more].concat();
            prop_assert_eq!(fault::<Vec<f64>>(Kind::Answers, &longer), Fault::Length);
        }

        /// As a fuzzer would: any bytes, and any payload under a right checksum.
        #[test]
        fn nothing_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), cut: bool) {
            let _ = read::<Value>(Kind::Answers, &bytes);
            let headed = [MAGIC.as_slice(), &bytes].concat();
            let _ = read::<Value>(Kind::Answers, &headed);
            let good = write(Kind::Answers, &()).unwrap();
            let sealed = with(&good, |b| {
                // The length, which was 0, is the last byte of the header.
                b.pop();
                let length = bytes.len() as u64 - u64::from(cut && !bytes.is_empty());
                b.extend(postcard::to_stdvec(&length).unwrap());
                b.extend(&bytes);
            });
            let _ = read::<Value>(Kind::Answers, &sealed);
        }
    }
}
