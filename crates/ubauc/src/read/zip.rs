//! A zip archive with one file in it, read as a stream from its first byte to its last.
//!
//! Each member has a header with its name, its compression and, unless it was written as a stream,
//! its length; behind its data the next member follows, or the directory. Folders and what macOS
//! adds (`__MACOSX/…`) are passed over. A second file is refused by name when it is met: nobody
//! has said which of the two is meant.

use std::io::{self, BufRead, Read};

use flate2::bufread::DeflateDecoder;

/// The one file of an archive.
pub(super) struct Zip<R: BufRead> {
    state: State<R>,
    /// The file that has been read.
    found: Option<String>,
}

enum State<R: BufRead> {
    /// Before a header, or the directory.
    Between(R),
    Stored(Stored<R>),
    Deflated(Member, DeflateDecoder<R>),
    Done,
}

/// Bytes that are there as they are.
struct Stored<R> {
    member: Member,
    reader: R,
    left: u64,
}

/// What the header of a member says, and what has been read of it.
struct Member {
    name: String,
    /// Behind the data, not in the header, stand checksum and length.
    described_later: bool,
    /// Lengths of eight bytes.
    is_long: bool,
    checksum: u32,
    found: flate2::Crc,
    /// Is it the file that is wanted?
    is_wanted: bool,
}

impl<R: BufRead> Zip<R> {
    pub(super) fn new(reader: R) -> Self {
        Zip {
            state: State::Between(reader),
            found: None,
        }
    }

    /// Goes on to the next member, or to the end.
    fn open(&mut self, mut reader: R) -> io::Result<State<R>> {
        let mut signature = [0; 4];
        reader.read_exact(&mut signature)?;
        if signature != *b"PK\x03\x04" {
            if self.found.is_none() {
                return Err(wrong("there is no file in the archive"));
            }
            // The directory says nothing new.
            return Ok(State::Done);
        }
        let header = Header::read(&mut reader)?;
        let is_wanted = !header.name.ends_with('/') && !header.name.starts_with("__MACOSX/");
        if is_wanted {
            if let Some(first) = &self.found {
                let second = &header.name;
                return Err(wrong(&format!(
                    "more than one file in the archive, '{first}' and '{second}'; unpack it and \
                     name one"
                )));
            }
            self.found = Some(header.name.clone());
        }
        header.member(reader, is_wanted)
    }
}

/// The fixed part of a header, as far as it matters.
struct Header {
    name: String,
    flags: u16,
    method: u16,
    checksum: u32,
    packed: u64,
    is_long: bool,
}

impl Header {
    fn read(reader: &mut impl Read) -> io::Result<Header> {
        let mut fixed = [0; 26];
        reader.read_exact(&mut fixed)?;
        let short = |at: usize| u16::from_le_bytes([fixed[at], fixed[at + 1]]);
        let long = |at: usize| u32::from(short(at)) | u32::from(short(at + 2)) << 16;
        let mut name = vec![0; usize::from(short(22))];
        reader.read_exact(&mut name)?;
        let mut extra = vec![0; usize::from(short(24))];
        reader.read_exact(&mut extra)?;
        let (packed, unpacked) = (long(14), long(18));
        let is_long = packed == u32::MAX || unpacked == u32::MAX;
        let packed = match long_length(&extra) {
            Some(length) if is_long => length,
            _ => u64::from(packed),
        };
        Ok(Header {
            name: String::from_utf8_lossy(&name).escape_debug().to_string(),
            flags: short(2),
            method: short(4),
            checksum: long(10),
            packed,
            is_long,
        })
    }

    fn member<R: BufRead>(self, reader: R, is_wanted: bool) -> io::Result<State<R>> {
        let member = Member {
            described_later: self.flags & 8 != 0,
            is_long: self.is_long,
            checksum: self.checksum,
            found: flate2::Crc::new(),
            is_wanted,
            name: self.name,
        };
        if self.flags & 1 != 0 {
            return Err(wrong(&format!("'{}' is encrypted", member.name)));
        }
        match self.method {
            0 if member.described_later && self.packed == 0 && is_wanted => Err(wrong(&format!(
                "'{}' is stored without its length; unpack the archive",
                member.name
            ))),
            0 => Ok(State::Stored(Stored {
                member,
                reader,
                left: self.packed,
            })),
            8 => Ok(State::Deflated(member, DeflateDecoder::new(reader))),
            method => Err(wrong(&format!(
                "'{}' is packed by method {method}; deflate is expected",
                member.name
            ))),
        }
    }
}

/// The packed length where it needs eight bytes: field 1 of the extra ones, its second number.
fn long_length(mut extra: &[u8]) -> Option<u64> {
    while let [a, b, c, d, rest @ ..] = extra {
        let (id, size) = (u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d]));
        let field = rest.get(..usize::from(size))?;
        if id == 1 {
            let number = field.get(8..16)?.first_chunk::<8>()?;
            return Some(u64::from_le_bytes(*number));
        }
        extra = &rest[usize::from(size)..];
    }
    None
}

impl Member {
    /// Checks what has been read, and passes over what stands behind the data.
    fn close(mut self, reader: &mut impl BufRead) -> io::Result<()> {
        if self.described_later {
            let mut word = [0; 4];
            reader.read_exact(&mut word)?;
            if word == *b"PK\x07\x08" {
                reader.read_exact(&mut word)?;
            }
            self.checksum = u32::from_le_bytes(word);
            let mut lengths = [0; 16];
            let size = if self.is_long { 16 } else { 8 };
            reader.read_exact(&mut lengths[..size])?;
        }
        if self.checksum != self.found.sum() {
            return Err(wrong(&format!("the checksum of '{}' is wrong", self.name)));
        }
        Ok(())
    }
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl<R: BufRead> Read for Zip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let (n, is_wanted) = match &mut self.state {
                State::Between(_) | State::Done => (0, false),
                State::Stored(stored) => {
                    let most = stored.left.min(buffer.len() as u64) as usize;
                    let n = stored.reader.read(&mut buffer[..most])?;
                    if n == 0 && most > 0 {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    stored.left -= n as u64;
                    stored.member.found.update(&buffer[..n]);
                    (n, stored.member.is_wanted)
                }
                State::Deflated(member, decoder) => {
                    let n = decoder.read(buffer)?;
                    member.found.update(&buffer[..n]);
                    (n, member.is_wanted)
                }
            };
            if n > 0 && is_wanted {
                return Ok(n);
            }
            if n > 0 {
                continue;
            }
            let reader = match std::mem::replace(&mut self.state, State::Done) {
                State::Done => return Ok(0),
                State::Between(reader) => reader,
                State::Stored(mut stored) => {
                    stored.member.close(&mut stored.reader)?;
                    stored.reader
                }
                State::Deflated(member, decoder) => {
                    let mut reader = decoder.into_inner();
                    member.close(&mut reader)?;
                    reader
                }
            };
            self.state = self.open(reader)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A member as archivers write it: with its lengths in front, or behind if it is a stream.
    fn member(name: &str, text: &[u8], deflate: bool, stream: bool) -> Vec<u8> {
        let mut packed = text.to_vec();
        if deflate {
            let level = flate2::Compression::default();
            let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), level);
            encoder.write_all(text).unwrap();
            packed = encoder.finish().unwrap();
        }
        let mut crc = flate2::Crc::new();
        crc.update(text);
        let mut described = crc.sum().to_le_bytes().to_vec();
        described.extend((packed.len() as u32).to_le_bytes());
        described.extend((text.len() as u32).to_le_bytes());
        let mut bytes = b"PK\x03\x04\x14\0".to_vec();
        bytes.extend(if stream { [8, 0] } else { [0, 0] });
        bytes.extend(if deflate { [8, 0] } else { [0, 0] });
        bytes.extend([0; 4]);
        bytes.extend(if stream {
            vec![0; 12]
        } else {
            described.clone()
        });
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(name.as_bytes());
        bytes.extend(packed);
        if stream {
            bytes.extend(b"PK\x07\x08");
            bytes.extend(described);
        }
        bytes
    }

    fn read(members: &[Vec<u8>]) -> io::Result<String> {
        let mut bytes = members.concat();
        bytes.extend(b"PK\x01\x02 and so on");
        let mut text = String::new();
        Zip::new(bytes.as_slice()).read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn one_file_is_read_however_it_is_packed() {
        let text = "a,b\n1,2\n".repeat(10_000);
        for (deflate, stream) in [(true, false), (true, true), (false, false)] {
            let file = member("t.csv", text.as_bytes(), deflate, stream);
            let folder = member("folder/", b"", false, false);
            let extra = member("__MACOSX/._t.csv", b"\0\x05", true, true);
            assert_eq!(read(&[folder, file, extra]).unwrap(), text);
        }
    }

    #[test]
    fn other_archives_are_refused_in_words() {
        let file = |name| member(name, b"a,b\n", true, false);
        let what = |members: &[Vec<u8>]| read(members).unwrap_err().to_string();
        assert!(what(&[file("one.csv"), file("two.csv")]).contains("'one.csv' and 'two.csv'"));
        assert!(what(&[]).contains("no file"));
        let mut damaged = file("t.csv");
        damaged[14] ^= 1;
        assert!(what(&[damaged]).contains("checksum"));
        let mut encrypted = file("t.csv");
        encrypted[6] |= 1;
        assert!(what(&[encrypted]).contains("encrypted"));
        let mut other = file("t.csv");
        other[8] = 12;
        assert!(what(&[other]).contains("method 12"));
        let whole = file("t.csv");
        for end in 0..whole.len() {
            assert!(
                Zip::new(&whole[..end])
                    .read_to_end(&mut Vec::new())
                    .is_err()
            );
        }
    }
}
