//! The container of everything binary that leaves the process: messages between a driver and its workers, states of
//! learners, checkpoints.
//!
//! ```text
//! magic        6 bytes, "ubauc" and 1, the layout of what follows
//! kind         u8, see [`Kind`]
//! format       u16, the version of that kind's payload; all numbers are little-endian
//! written by   u8, a length, and the version of ubauc in UTF-8
//! length       u64, of the payload
//! payload      the value as serde and postcard write it, f64 bit for bit
//! checksum     u64, XXH3 of all before
//! ```
//!
//! A payload is whatever the value's `derive(Serialize, Deserialize)` says, in the order of its fields, without their
//! names. So a field that is added, dropped or moved makes a new format: raise [`Kind::format`]. Attributes that need a
//! self-describing format (`flatten`, `untagged`, `skip_serializing_if`, `serde_json::Value`) cannot be read back.
//!
//! Reading never panics and never allocates more than a small multiple of the bytes that are there.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

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
    /// Another learner of a stream.
    RivalLearner = 4,
    /// A run of `ubauc learn`.
    Checkpoint = 5,
}

impl Kind {
    const ALL: [Kind; 5] = [
        Kind::Round,
        Kind::Answers,
        Kind::OnlineLearner,
        Kind::RivalLearner,
        Kind::Checkpoint,
    ];

    /// The version of its payload that is written, and the only one that is read.
    pub fn format(self) -> u16 {
        match self {
            Kind::Round
            | Kind::Answers
            | Kind::OnlineLearner
            | Kind::RivalLearner
            | Kind::Checkpoint => 1,
        }
    }

    /// Whether writer and reader must be the same version of ubauc: the two ends of a fit must compute the same bits.
    /// What is stored is read by every version that knows its format.
    fn is_message(self) -> bool {
        match self {
            Kind::Round | Kind::Answers => true,
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

/// The value in a container.
pub fn write<T: Serialize>(kind: Kind, value: &T) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    out.extend(MAGIC);
    out.push(kind as u8);
    out.extend(kind.format().to_le_bytes());
    out.push(VERSION.len() as u8);
    out.extend(VERSION.as_bytes());
    let start = out.len() + 8;
    out.extend([0; 8]);
    let content = |error: postcard::Error| refused(kind, Fault::Content(error.to_string()));
    let mut out = postcard::to_io(value, out).map_err(content)?;
    let length = (out.len() - start) as u64;
    out[start - 8..start].copy_from_slice(&length.to_le_bytes());
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
    let parts = Parts::split(bytes)?;
    if parts.kind != kind as u8 {
        let found = Kind::ALL.into_iter().find(|k| *k as u8 == parts.kind);
        return Err(Fault::Kind { found });
    }
    let written_by = parts.written_by;
    if kind.is_message() && written_by != VERSION {
        let written_by = written_by.to_string();
        return Err(Fault::Version { written_by });
    }
    if parts.format != kind.format() {
        return Err(Fault::Format {
            found: parts.format,
            known: kind.format(),
            written_by: written_by.to_string(),
        });
    }
    match postcard::take_from_bytes(parts.payload) {
        Ok((value, [])) => Ok(value),
        Ok((_, _)) => Err(Fault::Content("bytes are left over".to_string())),
        Err(error) => Err(Fault::Content(error.to_string())),
    }
}

/// An undamaged container.
struct Parts<'a> {
    kind: u8,
    format: u16,
    written_by: &'a str,
    payload: &'a [u8],
}

impl Parts<'_> {
    fn split(bytes: &[u8]) -> std::result::Result<Parts<'_>, Fault> {
        // A beginning of the magic bytes is a container that was cut.
        let rest = match bytes.strip_prefix(MAGIC) {
            Some(rest) => rest,
            None if !bytes.is_empty() && MAGIC.starts_with(bytes) => return Err(Fault::Length),
            None => return Err(Fault::Foreign),
        };
        let (parts, stated) = Parts::fields(rest).ok_or(Fault::Length)?;
        let found = xxh3(&bytes[..bytes.len() - 8]);
        match found == stated {
            true => Ok(parts),
            false => Err(Fault::Checksum { found, stated }),
        }
    }

    /// The fields and the checksum as stated; `None` where the lengths do not fit the bytes.
    fn fields(rest: &[u8]) -> Option<(Parts<'_>, u64)> {
        let (&[kind, low, high, len], rest) = rest.split_first_chunk()?;
        let (written_by, rest) = rest.split_at_checked(usize::from(len))?;
        let (length, rest) = rest.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (payload, sum) = rest.split_at_checked(length)?;
        let parts = Parts {
            kind,
            format: u16::from_le_bytes([low, high]),
            written_by: std::str::from_utf8(written_by).unwrap_or("?"),
            payload,
        };
        Some((parts, u64::from_le_bytes(sum.try_into().ok()?)))
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
            b[9] = version.len() as u8;
            b.splice(10..10 + VERSION.len(), version.bytes());
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
        let newer = with(&by(&bytes, "7.2.0"), |b| b[7..9].copy_from_slice(&[3, 0]));
        let (found, known, written_by) = (3, 1, "7.2.0".to_string());
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
                b.extend(&bytes);
                let length = bytes.len() as u64 - u64::from(cut && !bytes.is_empty());
                let at = b.len() - bytes.len() - 8;
                b[at..at + 8].copy_from_slice(&length.to_le_bytes());
            });
            let _ = read::<Value>(Kind::Answers, &sealed);
        }
    }
}
