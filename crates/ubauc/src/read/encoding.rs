//! Text that is not UTF-8, turned into it as it is read.
//!
//! Nothing is guessed from bytes alone: every sequence of bytes is valid Latin-1, and a wrong guess
//! changes names without a word. Only a byte order mark tells UTF-16.

use std::io::{self, Read};

use serde::{Deserialize, Serialize};

/// How text is written in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// The usual one.
    Utf8,
    /// ISO 8859-1: every byte is the character of its number.
    Latin1,
    /// As Latin-1, with printable characters from 0x80 to 0x9F.
    #[serde(rename = "windows-1252")]
    Windows1252,
    /// Two or four bytes a character; little-endian unless a byte order mark says otherwise.
    Utf16,
}

impl Encoding {
    /// The encoding of that name, in any case.
    pub fn named(name: &str) -> Option<Encoding> {
        match name.to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" => Some(Encoding::Utf8),
            "latin1" | "latin-1" | "iso-8859-1" => Some(Encoding::Latin1),
            "windows-1252" | "cp1252" => Some(Encoding::Windows1252),
            "utf-16" | "utf16" => Some(Encoding::Utf16),
            _ => None,
        }
    }
}

/// Does a text begin with the byte order mark of UTF-16?
pub(super) fn is_utf16(head: &[u8]) -> bool {
    head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff")
}

/// Is nothing to be done about a text that begins like that?
pub(super) fn is_utf8(head: &[u8], given: Option<Encoding>) -> bool {
    given.map_or(!is_utf16(head), |encoding| encoding == Encoding::Utf8)
}

/// The same text as UTF-8. Waits for its first two bytes where no encoding is given.
pub(super) fn as_utf8<'a>(
    mut text: Box<dyn Read + Send + 'a>,
    given: Option<Encoding>,
) -> Box<dyn Read + Send + 'a> {
    match given {
        Some(Encoding::Utf8) => text,
        Some(encoding) => Box::new(Transcoded::new(text, encoding)),
        None => {
            let mut head = Vec::new();
            // An error is met again by whoever reads on.
            let read = text.by_ref().take(2).read_to_end(&mut head);
            let is_utf16 = is_utf16(&head);
            let failed = FailFirst(read.err());
            let whole = io::Cursor::new(head).chain(failed).chain(text);
            if is_utf16 {
                Box::new(Transcoded::new(whole, Encoding::Utf16))
            } else {
                Box::new(whole)
            }
        }
    }
}

/// An error that was met too early to be reported, then nothing.
struct FailFirst(Option<io::Error>);

impl Read for FailFirst {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Characters of Windows-1252 from 0x80 to 0x9F. Five bytes have none, and stand for the control
/// characters of Latin-1.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Reads text of another encoding as UTF-8.
pub(super) struct Transcoded<R> {
    reader: R,
    encoding: Encoding,
    /// UTF-16: the high byte comes first; `None` before the first two bytes.
    big_endian: Option<bool>,
    /// Bytes that are not characters yet.
    raw: Vec<u8>,
    ready: Vec<u8>,
    taken: usize,
    at_end: bool,
}

impl<R: Read> Transcoded<R> {
    pub(super) fn new(reader: R, encoding: Encoding) -> Self {
        Transcoded {
            reader,
            encoding,
            big_endian: None,
            raw: Vec::new(),
            ready: Vec::new(),
            taken: 0,
            at_end: false,
        }
    }

    fn refill(&mut self) -> io::Result<()> {
        let old = self.raw.len();
        self.raw.resize(old + (1 << 16), 0);
        let read = loop {
            match self.reader.read(&mut self.raw[old..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.raw.truncate(old + *read.as_ref().unwrap_or(&0));
        self.at_end = read? == 0;
        self.ready.clear();
        self.taken = 0;
        match self.encoding {
            Encoding::Utf8 => self.ready.append(&mut self.raw),
            Encoding::Latin1 => put(&mut self.ready, self.raw.drain(..).map(char::from)),
            Encoding::Windows1252 => {
                let character = |b: u8| match b {
                    0x80..=0x9f => WINDOWS_1252[usize::from(b - 0x80)],
                    _ => char::from(b),
                };
                put(&mut self.ready, self.raw.drain(..).map(character));
            }
            Encoding::Utf16 => self.utf16()?,
        }
        Ok(())
    }

    fn utf16(&mut self) -> io::Result<()> {
        if self.big_endian.is_none() && self.raw.len() >= 2 {
            self.big_endian = Some(self.raw.starts_with(b"\xfe\xff"));
            if is_utf16(&self.raw) {
                self.raw.drain(..2);
            }
        }
        let big = self.big_endian == Some(true);
        let unit = |pair: &[u8]| {
            let pair = [pair[0], pair[1]];
            if big {
                u16::from_be_bytes(pair)
            } else {
                u16::from_le_bytes(pair)
            }
        };
        let mut units: Vec<u16> = self.raw.chunks_exact(2).map(unit).collect();
        // The second half of a pair may come with the next bytes.
        if !self.at_end && units.last().is_some_and(|u| (0xd800..0xdc00).contains(u)) {
            units.pop();
        }
        self.raw.drain(..2 * units.len());
        if self.at_end && !self.raw.is_empty() {
            return Err(invalid("UTF-16 text ends within a character"));
        }
        for character in char::decode_utf16(units) {
            let character = character.map_err(|_| invalid("is not UTF-16 text"))?;
            put(&mut self.ready, std::iter::once(character));
        }
        Ok(())
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn put(text: &mut Vec<u8>, characters: impl Iterator<Item = char>) {
    for character in characters {
        let mut buffer = [0; 4];
        text.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
    }
}

impl<R: Read> Read for Transcoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.ready.len() && !self.at_end {
            self.refill()?;
        }
        let n = buffer.len().min(self.ready.len() - self.taken);
        buffer[..n].copy_from_slice(&self.ready[self.taken..self.taken + n]);
        self.taken += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As it comes, and a byte at a time.
    fn read(bytes: &[u8], encoding: Encoding) -> io::Result<String> {
        struct Trickle<'a>(&'a [u8]);
        impl Read for Trickle<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let n = buffer.len().min(1);
                self.0.read(&mut buffer[..n])
            }
        }
        let mut text = String::new();
        Transcoded::new(bytes, encoding).read_to_string(&mut text)?;
        let mut slowly = String::new();
        Transcoded::new(Trickle(bytes), encoding).read_to_string(&mut slowly)?;
        assert_eq!(text, slowly);
        Ok(text)
    }

    #[test]
    fn bytes_become_the_characters_of_their_encoding() {
        assert_eq!(read(b"caf\xe9", Encoding::Latin1).unwrap(), "café");
        assert_eq!(
            read(b"\x80 \x9f \xe8", Encoding::Windows1252).unwrap(),
            "€ Ÿ è"
        );
        assert_eq!(read("é€".as_bytes(), Encoding::Utf8).unwrap(), "é€");
        for big in [false, true] {
            for mark in ["", "\u{feff}"] {
                if big && mark.is_empty() {
                    continue;
                }
                let units = mark.encode_utf16().chain("a,é,😀\n".encode_utf16());
                let bytes: Vec<u8> = units
                    .flat_map(|u| {
                        if big {
                            u.to_be_bytes()
                        } else {
                            u.to_le_bytes()
                        }
                    })
                    .collect();
                assert_eq!(read(&bytes, Encoding::Utf16).unwrap(), "a,é,😀\n");
            }
        }
    }

    #[test]
    fn half_characters_are_refused() {
        assert!(read(b"a\0b", Encoding::Utf16).is_err());
        assert!(read(b"\x00\xd8a\0", Encoding::Utf16).is_err());
        assert!(read(b"\x00\xd8", Encoding::Utf16).is_err());
    }

    #[test]
    fn names_are_those_that_people_use() {
        for (name, encoding) in [
            ("UTF-8", Some(Encoding::Utf8)),
            ("latin1", Some(Encoding::Latin1)),
            ("windows-1252", Some(Encoding::Windows1252)),
            ("utf-16", Some(Encoding::Utf16)),
            ("ebcdic", None),
        ] {
            assert_eq!(Encoding::named(name), encoding);
        }
    }
}
