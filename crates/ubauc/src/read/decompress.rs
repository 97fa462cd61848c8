//! Compression, recognised by the first bytes and never by the name of the file.

use std::io::{self, BufRead, BufReader, Read};

use super::zip::Zip;

/// Memory an archive may ask for, in KiB: `xz -9` needs 65 MiB, `zstd --long=27` 128 MiB.
const MEMORY_LIMIT_KIB: u32 = 256 << 10;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    Zip,
}

impl Compression {
    /// `None` is plain.
    pub(crate) fn of(head: &[u8]) -> Option<Compression> {
        match head {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            // A skippable frame may come before the first frame of data.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Compression::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            // The header of a member, or of an archive without any.
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Compression::Zip),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
            Compression::Zip => "zip",
        }
    }
}

/// The plain bytes. Archives put one after the other are read as one, as their own tools do.
pub(crate) fn decompress<'a>(
    reader: impl Read + Send + 'a,
    compression: Option<Compression>,
) -> io::Result<Box<dyn Read + Send + 'a>> {
    let reader = BufReader::with_capacity(1 << 17, reader);
    Ok(match compression {
        None => Box::new(reader),
        Some(Compression::Gzip) => Box::new(flate2::bufread::MultiGzDecoder::new(reader)),
        Some(Compression::Zstd) => Box::new(zstd::Decoder::with_buffer(reader)?),
        Some(Compression::Bzip2) => Box::new(Bzip2::new(reader)),
        Some(Compression::Xz) => Box::new(lzma_rust2::XzReader::new_mem_limit(
            reader,
            true,
            MEMORY_LIMIT_KIB,
        )),
        Some(Compression::Zip) => Box::new(Zip::new(reader)),
    })
}

/// bzip2 that knows a cut from an end. The decoder underneath takes a file that stops within its
/// first bytes for the end of the data; a whole stream never decompresses from fewer than 14.
struct Bzip2<R: BufRead> {
    decoder: bzip2::bufread::MultiBzDecoder<Started<R>>,
}

/// Counts what has been consumed.
struct Started<R> {
    reader: R,
    consumed: usize,
}

impl<R: BufRead> Bzip2<R> {
    fn new(reader: R) -> Self {
        Bzip2 {
            decoder: bzip2::bufread::MultiBzDecoder::new(Started {
                reader,
                consumed: 0,
            }),
        }
    }
}

impl<R: BufRead> Read for Bzip2<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.decoder.read(buffer)?;
        if n == 0 && !buffer.is_empty() && self.decoder.get_ref().consumed < 14 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(n)
    }
}

impl<R: BufRead> Read for Started<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.consumed = self.consumed.saturating_add(n);
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Started<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        self.consumed = self.consumed.saturating_add(n);
        self.reader.consume(n);
    }
}
