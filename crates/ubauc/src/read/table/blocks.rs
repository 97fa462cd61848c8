//! A stream of CSV text cut into blocks of whole records.
//!
//! A quoted field may hold line ends, so that not every line end may be cut at. Whether a byte lies
//! within quotes depends on all text before it; but only quotes have to be looked at, and they are
//! found quickly. So the blocks are cut in sequence and parsed side by side.

use std::io::Read;

use super::super::blocks::{Block, Blocks, count};
use super::record::{closing_quote, is_blank};
use crate::Result;

/// Blocks of whole records. A record whose quote does not close is cut at its first line end, and
/// refused by the one who parses it.
pub(in super::super) struct RecordBlocks<R> {
    blocks: Blocks<R>,
    delimiter: u8,
    /// Text that is not handed out yet.
    rest: Vec<u8>,
    /// The line it begins with.
    line: u64,
    /// A block has at least as many bytes, unless it comes from a live stream.
    least: usize,
}

impl<R: Read> RecordBlocks<R> {
    pub(super) fn new(blocks: Blocks<R>, delimiter: u8) -> Self {
        RecordBlocks {
            blocks,
            delimiter,
            rest: Vec::new(),
            line: 1,
            least: 0,
        }
    }

    /// Every block costs something for every column: many columns want large blocks.
    pub(super) fn with_columns(&mut self, columns: usize) {
        self.least = columns.saturating_mul(1 << 11).min(1 << 26);
    }

    /// The next block; `None` at the end.
    pub(in super::super) fn next_block(&mut self) -> Result<Option<Block>> {
        loop {
            let Some(block) = self.blocks.next_block()? else {
                if self.rest.is_empty() {
                    return Ok(None);
                }
                let text = std::mem::take(&mut self.rest);
                let end = match records_end(&text, self.delimiter) {
                    0 => first_line(&text),
                    end => end,
                };
                return Ok(Some(self.hand_out(text, end)));
            };
            let text = if self.rest.is_empty() {
                self.line = block.first_line;
                block.text
            } else {
                let mut text = std::mem::take(&mut self.rest);
                text.extend_from_slice(&block.text);
                text
            };
            if text.len() < self.least {
                self.rest = text;
                continue;
            }
            match records_end(&text, self.delimiter) {
                0 if text.len() > self.blocks.max_line() => {
                    let end = first_line(&text);
                    return Ok(Some(self.hand_out(text, end)));
                }
                0 => self.rest = text,
                end => return Ok(Some(self.hand_out(text, end))),
            }
        }
    }

    fn hand_out(&mut self, mut text: Vec<u8>, end: usize) -> Block {
        self.rest = text.split_off(end);
        let first_line = self.line;
        if !self.rest.is_empty() {
            self.line += count(&text, b'\n') as u64;
        }
        Block { text, first_line }
    }

    /// In pieces of whole records, for a thread each, where the text came at once.
    pub(in super::super) fn divide(&self, block: Block) -> Vec<Block> {
        const PIECE: usize = 1 << 16;
        if memchr::memchr(b'"', &block.text).is_none() {
            return self.blocks.divide(block);
        }
        let Block { text, first_line } = block;
        let (mut pieces, mut rest, mut line) = (Vec::new(), text.as_slice(), first_line);
        let mut size = PIECE;
        while !rest.is_empty() {
            let lines = match rest.get(size..) {
                Some(after) => rest.len() - after.len() + self::first_line(after),
                None => rest.len(),
            };
            let end = records_end(&rest[..lines], self.delimiter);
            if end == 0 && lines < rest.len() {
                size *= 2;
                continue;
            }
            let (piece, after) = rest.split_at(if end == 0 { lines } else { end });
            pieces.push(Block {
                text: piece.to_vec(),
                first_line: line,
            });
            line += count(piece, b'\n') as u64;
            (rest, size) = (after, PIECE);
        }
        pieces
    }
}

fn first_line(text: &[u8]) -> usize {
    memchr::memchr(b'\n', text).map_or(text.len(), |at| at + 1)
}

/// Where the last whole record of a text ends; its own end is one, outside of quotes.
pub(in super::super) fn records_end(text: &[u8], delimiter: u8) -> usize {
    let (mut at, mut end) = (0, 0);
    while let Some(length) = memchr::memchr(b'"', &text[at..]) {
        let quote = at + length;
        if let Some(line) = memchr::memrchr(b'\n', &text[at..quote]) {
            end = at + line + 1;
        }
        at = if opens_field(text, quote, delimiter) {
            match closing_quote(text, quote + 1) {
                Some(close) => close + 1,
                None => return end,
            }
        } else {
            quote + 1
        };
    }
    text.len()
}

/// Is a quote the first of its field? One in the middle of a field is text.
fn opens_field(text: &[u8], quote: usize, delimiter: u8) -> bool {
    let before = text[..quote].iter().rev();
    let mut before = before.skip_while(|&&b| is_blank(b, delimiter));
    before.next().is_none_or(|&b| b == delimiter || b == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn cut(text: &[u8], max_line: usize) -> Vec<(u64, String)> {
        let blocks = Blocks::new(text, Path::new("t"), None, max_line).live();
        let mut blocks = RecordBlocks::new(blocks, b',');
        let mut all = Vec::new();
        while let Some(block) = blocks.next_block().unwrap() {
            all.push((block.first_line, String::from_utf8(block.text).unwrap()));
        }
        all
    }

    #[test]
    fn line_ends_in_quotes_are_not_cut_at() {
        for (text, end) in [
            ("a,b\n1,2\n", 8),
            ("a,b\n\"1\n2\",3\n", 12),
            ("a,b\n\"1\n2,3\n", 4),
            ("a,b\n \"1\n2,3\n", 4),
            ("a,b\n5\" pipe\n2,3\n", 16),
            ("a\n\"x\"\"\n\"\"y\"\nz", 13),
            ("\"a\n", 0),
            ("a,b", 3),
        ] {
            assert_eq!(records_end(text.as_bytes(), b','), end, "{text}");
        }
    }

    #[test]
    fn a_quote_that_does_not_close_takes_one_line_with_it() {
        let found = cut(b"a,b\n\"1,2\n3,4\n5,6\n", 100);
        let expected = [(1, "a,b\n"), (2, "\"1,2\n"), (3, "3,4\n5,6\n")];
        let expected: Vec<_> = expected.iter().map(|(l, t)| (*l, t.to_string())).collect();
        assert_eq!(found, expected);
        let found = cut(b"a,b\n\"1,2\n3,4\n5,6\n", 12);
        assert_eq!(found, expected);
    }
}
