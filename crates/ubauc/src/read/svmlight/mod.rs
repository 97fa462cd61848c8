//! svmlight (LIBSVM) text: `label index:value index:value … # comment`, a line an example.
//!
//! Read in two passes over blocks of whole lines: count the rows and entries of every block, so
//! that the arrays are allocated once at their size, then parse every block straight into its
//! place. A plain file is read twice from the page cache, by all threads; a stream is parsed block
//! by block as it comes, and the blocks are joined at the end.
//!
//! Accepted: blanks and tabs anywhere between tokens, CRLF, `+1` and `-1.0`, a label alone,
//! empty lines, comments, `qid:` (ignored, with a notice). Refused with line and column: what is
//! not a number, is not finite, has no index or an index that does not increase.

mod arrays;
mod parse;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use rayon::prelude::*;

use super::blocks::{BLOCK, BOM, Block, Blocks, count, too_long};
use super::classes::StreamClasses;
use super::table::OnError;
use super::{ReadOptions, Wrong};
use crate::data::dataset::{Examples, SkippedLines};
use crate::data::labels::{self, Dictionary};
use crate::data::rows::Csr;
use crate::{Error, Result};
use arrays::{Arrays, Room};
use parse::{Filled, Judge, Slots, must_be_number, parse};

/// Said of a file that has them.
pub(super) const QID_NOTICE: &str =
    "qid: is ignored; AUC here is over all pairs, not within queries";

/// Does a text begin like svmlight? Judged by its first line that is not empty or a comment; a
/// text without one is taken for svmlight without examples.
pub(super) fn looks_like(head: &[u8]) -> bool {
    let line = head
        .split(|&b| b == b'\n')
        .map(|line| {
            line.split(|&b| b == b'#')
                .next()
                .unwrap_or(line)
                .trim_ascii()
        })
        .find(|line| !line.is_empty());
    let Some(line) = line else {
        return true;
    };
    let mut tokens = line
        .split(|b| b.is_ascii_whitespace())
        .filter(|token| !token.is_empty());
    let label = tokens
        .next()
        .is_some_and(|label| label == b"?" || fast_float2::parse::<f64, _>(label).is_ok());
    // A cut head may end within a token, so the first one after the label must do.
    match tokens.next() {
        None => label,
        Some(token) => is_entry(token) || label && token.contains(&b':'),
    }
}

/// `index:value`, which is svmlight whatever the label before it looks like.
fn is_entry(token: &[u8]) -> bool {
    memchr::memchr(b':', token).is_some_and(|colon| {
        let (index, value) = (&token[..colon], &token[colon + 1..]);
        colon > 0 && index.iter().all(u8::is_ascii_digit) && labels::number(value).is_some()
    })
}

// ---- a plain file, in place ------------------------------------------------------------------

/// A block of a plain file: the lines that start in it.
struct Span {
    start: u64,
    len: usize,
    room: Room,
}

/// Reads a plain file with all threads.
pub(super) fn read_file(
    file: &File,
    len: u64,
    path: &Path,
    options: &ReadOptions<'_>,
) -> Result<Examples> {
    let io_error = |source| Error::Io {
        path: path.to_path_buf(),
        source,
    };
    let n_blocks = len.div_ceil(BLOCK as u64);
    let spans: Vec<Span> = (0..n_blocks)
        .into_par_iter()
        .map_init(Vec::new, |buffer, block| {
            measure(file, len, block, options.max_line, buffer).map_err(|e| match e {
                SpanError::Io(source) => io_error(source),
                SpanError::TooLong { start } => {
                    let line = 1 + lines_before(file, start).unwrap_or(0);
                    too_long(line, options.max_line).at(path)
                }
            })
        })
        .collect::<Result<_>>()?;

    let mut arrays = Arrays::new(spans.iter().map(|span| span.room));
    let rooms = spans.iter().map(|span| span.room);
    let mut first_line = 1;
    let work: Vec<(&Span, u64, Slots<'_>)> = spans
        .iter()
        .zip(arrays.slots(rooms))
        .map(|(span, slots)| {
            let line = first_line;
            first_line += span.room.rows as u64;
            (span, line, slots)
        })
        .collect();
    let filled: Vec<Result<Filled>> = work
        .into_par_iter()
        .map_init(Vec::new, |buffer, (span, line, slots)| {
            buffer.resize(span.len, 0);
            read_exact_at(file, buffer, span.start).map_err(io_error)?;
            if buffer.last().is_some_and(|&b| b != b'\n') {
                buffer.push(b'\n');
            }
            options.advance(span.len as u64);
            parse(buffer, line, options, &must_be_number, slots).map_err(|wrong| wrong.at(path))
        })
        .collect();
    // The first error in the file, whichever thread met one first.
    let filled = filled.into_iter().collect::<Result<Vec<_>>>()?;
    arrays.finish(spans.iter().map(|span| span.room), filled, path)
}

enum SpanError {
    Io(io::Error),
    TooLong { start: u64 },
}

impl From<io::Error> for SpanError {
    fn from(source: io::Error) -> Self {
        SpanError::Io(source)
    }
}

/// Finds the lines that start within block number `block` and counts what they can hold.
fn measure(
    file: &File,
    len: u64,
    block: u64,
    max_line: usize,
    buffer: &mut Vec<u8>,
) -> std::result::Result<Span, SpanError> {
    // A line starts in this block if the byte before it, a line end, is in [begin − 1, end − 1).
    let begin = block * BLOCK as u64;
    let end = len.min(begin + BLOCK as u64);
    let from = begin.saturating_sub(1);
    buffer.resize((end - from) as usize, 0);
    read_exact_at(file, buffer, from)?;
    let skip = if block == 0 {
        if buffer.starts_with(BOM) {
            BOM.len()
        } else {
            0
        }
    } else {
        match memchr::memchr(b'\n', buffer) {
            Some(at) if at + 1 < buffer.len() => at + 1,
            // No line starts here.
            _ => {
                let room = Room {
                    rows: 0,
                    entries: 0,
                };
                return Ok(Span {
                    start: end,
                    len: 0,
                    room,
                });
            }
        }
    };
    // The last line may run on beyond the block.
    let mut at = end;
    while at < len && buffer.last() != Some(&b'\n') {
        if buffer.len() - skip > max_line + BLOCK {
            let last = memchr::memrchr(b'\n', buffer).map_or(skip, |at| at + 1);
            return Err(SpanError::TooLong {
                start: from + last as u64,
            });
        }
        let more = (len - at).min(1 << 16) as usize;
        let old = buffer.len();
        buffer.resize(old + more, 0);
        read_exact_at(file, &mut buffer[old..], at)?;
        at += more as u64;
        if let Some(end) = memchr::memchr(b'\n', &buffer[old..]) {
            buffer.truncate(old + end + 1);
        }
    }
    let text = &buffer[skip..];
    let room = Room::for_text(text);
    Ok(Span {
        start: from + skip as u64,
        len: text.len(),
        room,
    })
}

/// Line ends before a place in the file, for an error message.
fn lines_before(file: &File, end: u64) -> io::Result<u64> {
    let mut buffer = vec![0; BLOCK];
    let (mut at, mut lines) = (0, 0);
    while at < end {
        let n = (end - at).min(BLOCK as u64) as usize;
        read_exact_at(file, &mut buffer[..n], at)?;
        lines += count(&buffer[..n], b'\n') as u64;
        at += n as u64;
    }
    Ok(lines)
}

/// Reads at a place without moving the file's own, so that threads can share it.
#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, at)
}

/// Windows moves the file's own place too, which nothing here relies on.
#[cfg(windows)]
fn read_exact_at(file: &File, mut buffer: &mut [u8], mut at: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let n = std::os::windows::fs::FileExt::seek_read(file, buffer, at)?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer = &mut buffer[n..];
        at += n as u64;
    }
    Ok(())
}

// ---- a stream, block by block ----------------------------------------------------------------

/// Reads a stream: one thread makes the blocks (and decompresses), the others parse them.
pub(super) fn read_blocks(
    mut blocks: Blocks<impl Read + Send>,
    path: &Path,
    options: &ReadOptions<'_>,
) -> Result<Examples> {
    // Enough blocks under way to keep every thread busy, and no more, so that memory stays bounded.
    let (send, receive) = mpsc::sync_channel(2 * rayon::current_num_threads());
    let failed = AtomicBool::new(false);
    let mut parsed: Vec<(usize, Result<(Part, SkippedLines)>)> = std::thread::scope(|scope| {
        scope.spawn(|| {
            let send = send;
            while let Some(block) = blocks.next_block().transpose() {
                if send.send(block).is_err() || failed.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let one = |(number, block): (usize, Result<Block>)| {
            let part = block.and_then(|mut block| {
                let parsed = parse_or_skip(&mut block, options);
                parsed.map_err(|wrong| wrong.at(path))
            });
            failed.fetch_or(part.is_err(), Ordering::Relaxed);
            (number, part)
        };
        receive
            .into_iter()
            .enumerate()
            .par_bridge()
            .map(one)
            .collect()
    });
    // Blocks are handed out in order, so the first error of the file is among those parsed.
    parsed.sort_unstable_by_key(|(number, _)| *number);
    let mut joined = Arrays::new(std::iter::empty());
    let (mut rooms, mut filled) = (Vec::new(), Vec::new());
    let parts = parsed
        .into_iter()
        .map(|(_, part)| part)
        .collect::<Result<Vec<_>>>()?;
    let (parts, left_out): (Vec<Part>, Vec<SkippedLines>) = parts.into_iter().unzip();
    let mut skipped = SkippedLines::default();
    for lines in left_out {
        skipped.add(lines.n, lines.first);
    }
    joined.reserve(&parts);
    for (arrays, room, of_block) in parts {
        joined.append(arrays);
        rooms.push(room);
        filled.push(of_block);
    }
    let examples = joined.finish(rooms.into_iter(), filled, path)?;
    Ok(Examples {
        skipped,
        ..examples
    })
}

/// Parses a block, perhaps without the lines that are wrong.
fn parse_or_skip(
    block: &mut Block,
    options: &ReadOptions<'_>,
) -> std::result::Result<(Part, SkippedLines), Wrong> {
    let mut skipped = SkippedLines::default();
    let parsed = parse_block(block, options, &must_be_number);
    match (parsed, options.on_error) {
        (Ok(part), _) => return Ok((part, skipped)),
        (Err(wrong), OnError::Stop) => return Err(wrong),
        (Err(_), OnError::Skip) => {}
    }
    let mut described = Vec::new();
    let n = blank_wrong_lines(block, &mut described, |line| {
        parse_block(line, options, &must_be_number).err()
    });
    skipped.add(n, described.into_iter().map(Into::into));
    Ok((parse_block(block, options, &must_be_number)?, skipped))
}

/// Reads a stream block by block: `convert` runs on all threads, `take` in order.
pub(super) fn each_block<T: Send, E: From<Error>>(
    mut blocks: Blocks<impl Read>,
    options: &ReadOptions<'_>,
    convert: impl Fn(Examples) -> Result<T> + Sync,
    mut take: impl FnMut(T) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let path = blocks.path().to_path_buf();
    let options = &unlimited(options);
    loop {
        let batch = blocks.next_blocks(2 * rayon::current_num_threads(), |_| false)?;
        if batch.is_empty() {
            return Ok(());
        }
        let parsed: Vec<Result<Option<T>>> = batch
            .into_par_iter()
            .map(|mut block| {
                let parsed = parse_or_skip(&mut block, options);
                let ((arrays, room, filled), skipped) = parsed.map_err(|wrong| wrong.at(&path))?;
                if filled.rows == 0 && skipped.n == 0 {
                    return Ok(None);
                }
                let examples = arrays.joined(std::iter::once(room), vec![filled], &path)?;
                convert(Examples {
                    skipped,
                    ..examples
                })
                .map(Some)
            })
            .collect();
        for part in parsed {
            part?.map_or(Ok(()), &mut take)?;
        }
    }
}

/// A block, parsed.
type Part = (Arrays, Room, Filled);

/// One block of a stream by itself: its rows, the code of each label, and the labels' texts.
pub(super) struct OneBlock {
    pub(super) rows: Csr,
    pub(super) codes: Vec<u32>,
    pub(super) dictionary: Dictionary,
    /// A `qid:` was met.
    pub(super) qid: bool,
}

/// A block alone takes no memory by its largest index.
fn unlimited<'a>(options: &ReadOptions<'a>) -> ReadOptions<'a> {
    ReadOptions {
        max_features: usize::MAX,
        ..options.clone()
    }
}

/// The rows of a block of a stream, and the lines that are no rows.
pub(super) struct Lines {
    pub(super) rows: OneBlock,
    /// Lines that were left out: how many, and the first of them.
    pub(super) n_skipped: usize,
    pub(super) skipped: Vec<Wrong>,
    /// Where reading ended before the end of the block.
    pub(super) stopped: Option<Wrong>,
}

/// Parses a block whose labels are as a stream has them: of known classes, or `?`.
pub(super) fn labelled_block(
    mut block: Block,
    options: &ReadOptions<'_>,
    classes: &StreamClasses,
    on_error: OnError,
) -> Lines {
    let judge = |label: &[u8]| match classes.side(label) {
        Ok(None) => Ok(()),
        Ok(Some(_)) => must_be_number(label),
        Err(what) => must_be_number(label).and(Err(what)),
    };
    let options = &unlimited(options);
    let (mut n_skipped, mut skipped, mut stopped) = (0, Vec::new(), None);
    loop {
        let wrong = match parse_block(&mut block, options, &judge) {
            Ok((arrays, _, filled)) => {
                let (codes, rows) = arrays.into_one(filled.cols);
                return Lines {
                    rows: OneBlock {
                        rows,
                        codes,
                        dictionary: filled.dictionary,
                        qid: filled.qid,
                    },
                    n_skipped,
                    skipped,
                    stopped,
                };
            }
            Err(wrong) => wrong,
        };
        if on_error == OnError::Skip && n_skipped == 0 {
            // Blank lines are no rows, and those behind them keep their numbers.
            n_skipped = blank_wrong_lines(&mut block, &mut skipped, |line| {
                parse_block(line, options, &judge).err()
            });
            if n_skipped > 0 {
                continue;
            }
        }
        let lines = (wrong.line - block.first_line) as usize;
        let before = block.text.split_inclusive(|&b| b == b'\n').take(lines);
        let end = before.map(<[u8]>::len).sum();
        block.text.truncate(end);
        stopped = Some(wrong);
    }
}

/// Blanks the lines that are wrong by themselves; how many there are, and the first of them.
fn blank_wrong_lines(
    block: &mut Block,
    described: &mut Vec<Wrong>,
    wrong: impl Fn(&mut Block) -> Option<Wrong>,
) -> usize {
    let mut n = 0;
    let lines = block.text.split_inclusive_mut(|&b| b == b'\n');
    for (text, first_line) in lines.zip(block.first_line..) {
        let mut line = Block {
            text: text.to_vec(),
            first_line,
        };
        let Some(wrong) = wrong(&mut line) else {
            continue;
        };
        n += 1;
        if described.len() < SkippedLines::DESCRIBED {
            described.push(wrong);
        }
        let end = text.len() - usize::from(text.ends_with(b"\n"));
        text[..end].fill(b' ');
    }
    n
}

fn parse_block(
    block: &mut Block,
    options: &ReadOptions<'_>,
    judge: Judge<'_>,
) -> std::result::Result<Part, Wrong> {
    let room = Room::for_text(&block.text);
    if !block.text.ends_with(b"\n") {
        block.text.push(b'\n');
    }
    let mut arrays = Arrays::new(std::iter::once(room));
    let slots = arrays.slots(std::iter::once(room)).swap_remove(0);
    let filled = parse(&block.text, block.first_line, options, judge, slots)?;
    arrays.truncate(&filled);
    let room = Room {
        rows: filled.rows,
        entries: filled.entries,
    };
    Ok((arrays, room, filled))
}
