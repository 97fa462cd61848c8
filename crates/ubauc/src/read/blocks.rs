//! A stream cut into blocks of whole lines, so that blocks can be parsed apart from each other.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::decompress::Compression;
use super::table::header::declared_separator;
use super::{Wrong, refuse_no_text, whole};
use crate::{Error, Result};

/// Text per block: large enough to be worth handing to a thread, small enough for its cache.
pub(super) const BLOCK: usize = 1 << 19;
/// Text per piece of a live block.
const PIECE: usize = 1 << 16;

/// Whole lines of a file.
pub(super) struct Block {
    /// Ends with a line end, the last block of a file perhaps without.
    pub(super) text: Vec<u8>,
    /// The number of its first line, from 1.
    pub(super) first_line: u64,
}

/// The blocks of a stream, in order.
pub(super) struct Blocks<R> {
    reader: R,
    path: PathBuf,
    compression: Option<Compression>,
    max_line: usize,
    /// Bytes read and not handed out.
    pending: Vec<u8>,
    next_line: u64,
    at_start: bool,
    at_end: bool,
    /// Hand out whole lines as soon as they come, not when a block is full.
    live: bool,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(
        reader: R,
        path: &Path,
        compression: Option<Compression>,
        max_line: usize,
    ) -> Self {
        Blocks {
            reader,
            path: path.to_path_buf(),
            compression,
            max_line,
            pending: Vec::new(),
            next_line: 1,
            at_start: true,
            at_end: false,
            live: false,
        }
    }

    /// The same, but nothing waits for a full block: a block is the lines that have come.
    pub(super) fn live(self) -> Self {
        Blocks { live: true, ..self }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn max_line(&self) -> usize {
        self.max_line
    }

    /// The first bytes, which stay where they are. A byte order mark is taken off.
    pub(super) fn peek(&mut self) -> Result<&[u8]> {
        self.fill(BLOCK)?;
        if self.at_start {
            // A format is recognised by its first line of data.
            while self.live && !self.at_end && !has_data_line(&self.pending) {
                if self.pending.len() >= BLOCK {
                    break;
                }
                self.read_some(BLOCK)?;
            }
            self.at_start = false;
            if self.pending.starts_with(BOM) {
                self.pending.drain(..BOM.len());
            }
        }
        Ok(&self.pending)
    }

    /// Reads on until there is enough text, or all; what is read stays where it is. `enough` is also told whether that is
    /// all.
    pub(super) fn ahead(&mut self, mut enough: impl FnMut(&[u8], bool) -> bool) -> Result<&[u8]> {
        self.peek()?;
        while !enough(&self.pending, self.at_end) && !self.at_end {
            self.read_some(self.pending.len() + BLOCK)?;
        }
        Ok(&self.pending)
    }

    /// The same, refused where it is no text at all.
    pub(super) fn checked_head(&mut self) -> Result<&[u8]> {
        let (compression, path) = (self.compression, self.path.clone());
        let head = self.peek()?;
        refuse_no_text(head, compression, &path)?;
        Ok(head)
    }

    /// The next block; `None` at the end.
    pub(super) fn next_block(&mut self) -> Result<Option<Block>> {
        self.peek()?;
        let mut searched = 0;
        loop {
            let new = &self.pending[searched..];
            if let Some(at) = memchr::memrchr(b'\n', new) {
                let rest = self.pending.split_off(searched + at + 1);
                return self.hand_out(rest);
            }
            if self.at_end {
                if self.is_too_long() {
                    return Err(too_long(self.next_line, self.max_line).at(&self.path));
                }
                return if self.pending.is_empty() {
                    Ok(None)
                } else {
                    self.hand_out(Vec::new())
                };
            }
            searched = self.pending.len();
            if self.is_too_long() {
                return Err(too_long(self.next_line, self.max_line).at(&self.path));
            }
            self.fill(searched + BLOCK)?;
        }
    }

    /// Up to `most` blocks to be parsed side by side, none after one that `is_last`; none at the
    /// end.
    pub(super) fn next_blocks(
        &mut self,
        most: usize,
        is_last: impl Fn(&Block) -> bool,
    ) -> Result<Vec<Block>> {
        if self.live {
            let block = self.next_block()?;
            return Ok(block.map_or(Vec::new(), |block| self.divide(block)));
        }
        let mut batch = Vec::new();
        while batch.len() < most && !batch.last().is_some_and(&is_last) {
            match self.next_block()? {
                Some(block) => batch.push(block),
                None => break,
            }
        }
        Ok(batch)
    }

    /// A live block in pieces, for it is the only one there is; any other as it is.
    pub(super) fn divide(&self, block: Block) -> Vec<Block> {
        if !self.live {
            return vec![block];
        }
        let Block { text, first_line } = block;
        let (mut pieces, mut rest, mut line) = (Vec::new(), text.as_slice(), first_line);
        while !rest.is_empty() {
            let end = match rest.get(PIECE..) {
                Some(after) => memchr::memchr(b'\n', after).map_or(rest.len(), |at| PIECE + at + 1),
                None => rest.len(),
            };
            let (piece, after) = rest.split_at(end);
            pieces.push(Block {
                text: piece.to_vec(),
                first_line: line,
            });
            line += count(piece, b'\n') as u64;
            rest = after;
        }
        pieces
    }

    /// Is the line that is pending too long, its end aside?
    fn is_too_long(&self) -> bool {
        let line = &self.pending;
        line.strip_suffix(b"\r").unwrap_or(line).len() > self.max_line
    }

    fn hand_out(&mut self, rest: Vec<u8>) -> Result<Option<Block>> {
        let text = std::mem::replace(&mut self.pending, rest);
        let first_line = self.next_line;
        self.next_line += count(&text, b'\n') as u64;
        Ok(Some(Block { text, first_line }))
    }

    /// Reads until `size` bytes are pending, or to the end.
    fn fill(&mut self, size: usize) -> Result<()> {
        let missing = size.saturating_sub(self.pending.len());
        if missing == 0 || self.at_end {
            return Ok(());
        }
        if self.live {
            let waits = memchr::memchr(b'\n', &self.pending).is_none();
            return if waits { self.read_some(size) } else { Ok(()) };
        }
        self.pending.reserve(missing);
        let read = self
            .reader
            .by_ref()
            .take(missing as u64)
            .read_to_end(&mut self.pending);
        self.at_end = read.map_err(|source| self.broken(source))? < missing;
        Ok(())
    }

    /// Reads once, up to `size` bytes pending.
    fn read_some(&mut self, size: usize) -> Result<()> {
        let old = self.pending.len();
        self.pending.resize(size.max(old), 0);
        let read = loop {
            match self.reader.read(&mut self.pending[old..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        let n = *read.as_ref().unwrap_or(&0);
        self.pending.truncate(old + n);
        self.at_end = read.map_err(|source| self.broken(source))? == 0;
        Ok(())
    }

    /// A read error, in words a person with a broken download understands.
    fn broken(&self, source: io::Error) -> Error {
        let Some(compression) = self.compression else {
            return Error::Io {
                path: self.path.clone(),
                source,
            };
        };
        let lines = self.next_line - 1 + count(&self.pending, b'\n') as u64;
        let name = compression.name();
        // The zstd library says "incomplete frame" with the kind UnexpectedEof, as do the others.
        let what = match source.kind() {
            io::ErrorKind::UnexpectedEof => {
                format!("{name} data is cut short after {lines} whole lines")
            }
            _ if compression == Compression::Zip => format!("zip archive is refused: {source}"),
            io::ErrorKind::OutOfMemory => format!("{name} data asks for too much memory"),
            _ => format!("{name} data is damaged after {lines} whole lines: {source}"),
        };
        whole(&self.path, what)
    }
}

/// Is there a whole line that is neither empty nor a comment nor `sep=;`, with those that its quotes take in?
fn has_data_line(text: &[u8]) -> bool {
    let whole = memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
    let text = text[..whole].strip_prefix(BOM).unwrap_or(&text[..whole]);
    let mut is_open = false;
    text.split(|&b| b == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty() && !line.starts_with(b"#"))
        .filter(|line| declared_separator(line).is_none())
        .any(|line| {
            is_open ^= count(line, b'"') % 2 == 1;
            !is_open
        })
}

/// What some editors put before the first character of a file.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

pub(super) fn too_long(line: u64, max_line: usize) -> Wrong {
    let what = format!("line is longer than {max_line} bytes (the limit is max-line)");
    Wrong {
        line,
        column: max_line as u64 + 1,
        what,
    }
}

/// How often `byte` stands in `text`. Lanes of u8 sums, which the compiler makes vectors of.
pub(super) fn count(text: &[u8], byte: u8) -> usize {
    text.chunks(192)
        .map(|chunk| chunk.iter().map(|&b| u8::from(b == byte)).sum::<u8>() as usize)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(text: &[u8], max_line: usize) -> Blocks<&[u8]> {
        Blocks::new(text, Path::new("t"), None, max_line)
    }

    #[test]
    fn blocks_are_whole_lines_and_together_the_whole_text() {
        let text: Vec<u8> = (0..200_000u32)
            .flat_map(|i| format!("{}\n", i % 977).into_bytes())
            .collect();
        let mut blocks = blocks(&text, 100);
        let (mut all, mut line) = (Vec::new(), 1);
        while let Some(block) = blocks.next_block().unwrap() {
            assert_eq!(block.first_line, line);
            assert_eq!(block.text.last(), Some(&b'\n'));
            line += block.text.iter().filter(|&&b| b == b'\n').count() as u64;
            all.extend(block.text);
        }
        assert_eq!(all, text);
    }

    #[test]
    fn a_line_longer_than_a_block_is_kept_whole_up_to_the_limit() {
        let mut text = vec![b'x'; 3 * BLOCK];
        text.push(b'\n');
        let block = blocks(&text, 4 * BLOCK).next_block().unwrap().unwrap();
        assert_eq!(block.text, text);
        let refused = blocks(&text, 2 * BLOCK).next_block();
        assert!(matches!(refused, Err(Error::Parse { line: 1, .. })));
    }

    #[test]
    fn a_live_stream_waits_for_its_first_line_and_the_quotes_in_it() {
        let is_whole = |text: &str| has_data_line(text.as_bytes());
        assert!(is_whole("a,b\n1"));
        assert!(is_whole("\n# \"\n\"a\nb\",c\n"));
        assert!(!is_whole("a,b"));
        assert!(!is_whole("# a\n\n"));
        assert!(!is_whole("sep=;\r\n"));
        assert!(is_whole("sep=;\r\na;b\n"));
        assert!(!is_whole("\"a\nb"));
    }

    #[test]
    fn counting_agrees_with_the_obvious_way() {
        for n in [0, 1, 191, 192, 193, 5000] {
            let text: Vec<u8> = (0..n).map(|i| (i * i % 7) as u8).collect();
            assert_eq!(count(&text, 2), text.iter().filter(|&&b| b == 2).count());
        }
        assert_eq!(count(&[b'\n'; 1000], b'\n'), 1000);
    }
}
