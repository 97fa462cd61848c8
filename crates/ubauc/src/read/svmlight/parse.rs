//! One block of svmlight text into its place in the arrays.

use super::super::blocks::too_long;
use super::super::{ReadOptions, Wrong, insert_label, shown};
use crate::data::labels::{self, Dictionary};

/// More came than was counted: somebody writes to the file.
const CHANGED: &str = "the file changed while it was read";

/// The indices that a file may use.
#[derive(Clone, Copy)]
struct Indices {
    /// 1, or 0 where a program counts from there.
    first: u64,
    last: u64,
}

impl Indices {
    fn of(options: &ReadOptions<'_>) -> Indices {
        let first = u64::from(!options.zero_based);
        // Columns are stored in 32 bits.
        let most = options.max_features.clamp(1, 1 << 31) as u64;
        let last = most - 1 + first;
        Indices { first, last }
    }
}

/// Where the rows of one block go. Room for at least as many as the block holds.
pub(super) struct Slots<'a> {
    pub(super) codes: &'a mut [u32],
    /// Entries of the block up to the end of each row.
    pub(super) ends: &'a mut [usize],
    pub(super) indices: &'a mut [u32],
    pub(super) values: &'a mut [f64],
}

/// What a block held.
#[derive(Default)]
pub(super) struct Filled {
    pub(super) rows: usize,
    pub(super) entries: usize,
    /// One more than the largest column.
    pub(super) cols: usize,
    pub(super) dictionary: Dictionary,
    /// A `qid:` was met.
    pub(super) qid: bool,
}

/// Says what is wrong with a label; asked once for every label that a block has.
pub(super) type Judge<'a> = &'a dyn Fn(&[u8]) -> Result<(), String>;

/// What is wrong, and the byte of the block it begins at.
type Fault = (usize, String);

/// Parses a block of whole lines; the last byte of `text` must be a line end.
pub(super) fn parse(
    text: &[u8],
    first_line: u64,
    options: &ReadOptions<'_>,
    judge: Judge<'_>,
    mut slots: Slots<'_>,
) -> Result<Filled, Wrong> {
    debug_assert!(text.is_empty() || text.ends_with(b"\n"));
    let indices = Indices::of(options);
    let mut filled = Filled::default();
    let (mut at, mut line) = (0, first_line);
    while at < text.len() {
        let line_start = at;
        while is_blank(text[at]) {
            at += 1;
        }
        if !ends_row(text[at]) {
            at = row(text, at, indices, judge, &mut slots, &mut filled).map_err(|(at, what)| {
                let column = (at - line_start + 1) as u64;
                Wrong { line, column, what }
            })?;
        }
        // A comment may follow.
        at += memchr::memchr(b'\n', &text[at..]).map_or(text.len() - at, |end| end + 1);
        if at - line_start > options.max_line.saturating_add(1) {
            return Err(too_long(line, options.max_line));
        }
        line += 1;
    }
    Ok(filled)
}

/// Parses the row whose label begins at `at`, and says where it ends: at a line end or a comment.
#[inline]
fn row(
    text: &[u8],
    mut at: usize,
    indices: Indices,
    judge: Judge<'_>,
    slots: &mut Slots<'_>,
    filled: &mut Filled,
) -> Result<usize, Fault> {
    let label = token(text, at);
    let code = match filled.dictionary.find(label) {
        Some(code) => code,
        None => judge(label)
            .and_then(|()| insert_label(&mut filled.dictionary, label))
            .map_err(|what| (at, what))?,
    };
    at += label.len();
    let mut entries = filled.entries;
    let mut next_index = indices.first;
    loop {
        // Nearly all entries begin with a few digits and a colon; the rest is looked at slowly.
        let (index, colon) = match short_index(text, at) {
            Some(found) if found.0 >= next_index && found.0 <= indices.last => found,
            _ => {
                while is_blank(text[at]) {
                    at += 1;
                }
                if ends_row(text[at]) {
                    break;
                }
                let token = token(text, at);
                if is_qid(token) {
                    filled.qid = true;
                    at += token.len();
                    continue;
                }
                let (index, digits) =
                    index_of(token, next_index, indices).map_err(|what| (at, what))?;
                (index, at + digits)
            }
        };
        let (value, end) = value_at(text, colon + 1).map_err(|what| (colon + 1, what))?;
        at = end + usize::from(text[end] == b' ');
        let place = slots
            .indices
            .get_mut(entries)
            .zip(slots.values.get_mut(entries));
        let (i, v) = place.ok_or_else(|| (at, CHANGED.to_string()))?;
        *i = (index - indices.first) as u32;
        *v = value;
        entries += 1;
        next_index = index + 1;
    }
    let place = slots
        .codes
        .get_mut(filled.rows)
        .zip(slots.ends.get_mut(filled.rows));
    let (c, e) = place.ok_or_else(|| (at, CHANGED.to_string()))?;
    (*c, *e) = (code, entries);
    filled.rows += 1;
    filled.entries = entries;
    filled.cols = filled.cols.max((next_index - indices.first) as usize);
    Ok(at)
}

/// Bytes between tokens.
#[inline]
fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r')
}

/// Bytes that end a row: the line end, or the comment before it.
#[inline]
fn ends_row(b: u8) -> bool {
    matches!(b, b'\n' | b'#')
}

/// The rest of a token from `at`.
fn token(text: &[u8], at: usize) -> &[u8] {
    let rest = &text[at..];
    let end = rest
        .iter()
        .position(|&b| is_blank(b) || ends_row(b))
        .unwrap_or(rest.len());
    &rest[..end]
}

/// svmlight's labels are numbers.
pub(super) fn must_be_number(label: &[u8]) -> Result<(), String> {
    if labels::number(label).is_some() {
        return Ok(());
    }
    Err(if label.contains(&b',') {
        format!(
            "label {} is a list; one label a line is expected",
            shown(label)
        )
    } else if label.contains(&b':') {
        format!("line begins with {}; expected a label first", shown(label))
    } else {
        format!("label {} is not a finite number", shown(label))
    })
}

/// The number that begins at `at`, and where it ends.
///
/// Up to 15 digits make an integer that a f64 holds exactly, and so does 10^k for k ≤ 22: their
/// quotient is the correctly rounded value, the same as a full parser's. The rest goes to one.
#[inline]
fn value_at(text: &[u8], start: usize) -> Result<(f64, usize), String> {
    const POWERS: [f64; 16] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ];
    // One digit, the commonest value there is.
    let digit = text[start].wrapping_sub(b'0');
    if digit <= 9 && (is_blank(text[start + 1]) || text[start + 1] == b'\n') {
        return Ok((f64::from(digit), start + 1));
    }
    let mut at = start;
    let negative = text[at] == b'-';
    at += usize::from(negative);
    let (mut mantissa, mut digits, mut fraction) = (0u64, 0, 0);
    while text[at].wrapping_sub(b'0') <= 9 {
        mantissa = mantissa
            .wrapping_mul(10)
            .wrapping_add(u64::from(text[at] - b'0'));
        digits += 1;
        at += 1;
    }
    if text[at] == b'.' {
        at += 1;
        while text[at].wrapping_sub(b'0') <= 9 {
            mantissa = mantissa
                .wrapping_mul(10)
                .wrapping_add(u64::from(text[at] - b'0'));
            fraction += 1;
            at += 1;
        }
        digits += fraction;
    }
    if (is_blank(text[at]) || ends_row(text[at])) && (1..=15).contains(&digits) {
        let value = mantissa as f64 / POWERS[fraction];
        return Ok((if negative { -value } else { value }, at));
    }
    let token = token(text, start);
    match fast_float2::parse::<f64, _>(token) {
        Ok(value) if value.is_finite() => Ok((value, start + token.len())),
        _ if token.is_empty() => Err("the value is missing after ':'".to_string()),
        _ => Err(format!("value {} is not a finite number", shown(token))),
    }
}

/// An index of one to seven digits and the place of its colon, without a branch on their number;
/// `None` if that is not what stands here.
///
/// Eight bytes are taken as one word, first byte lowest. XOR with `:` makes the colon a zero byte,
/// and the lowest bit of `(v − 0x01…) & !v & 0x80…` marks the first such byte. Shifting the k
/// bytes before it to the top makes them the last k of eight digits, whose value three
/// multiplications add up in pairs of 1, 2 and 4 digits.
#[inline]
fn short_index(text: &[u8], at: usize) -> Option<(u64, usize)> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let word = text.get(at..at + 8)?.first_chunk::<8>()?;
    let word = u64::from_le_bytes(*word);
    let colons = word ^ (LOW * b':' as u64);
    let marks = colons.wrapping_sub(LOW) & !colons & (LOW << 7);
    let k = marks.trailing_zeros() / 8;
    if !(1..=7).contains(&k) {
        return None;
    }
    let mut v = (word ^ (LOW * b'0' as u64)) << (64 - 8 * k);
    // A byte is a digit if it is below 10: adding 118 leaves its top bit clear.
    if (v | v.wrapping_add(LOW * 118)) & (LOW << 7) != 0 {
        return None;
    }
    v = v.wrapping_mul(10).wrapping_add(v >> 8) & 0x00ff_00ff_00ff_00ff;
    v = v.wrapping_mul(100).wrapping_add(v >> 16) & 0x0000_ffff_0000_ffff;
    v = v.wrapping_mul(10_000).wrapping_add(v >> 32) & 0xffff_ffff;
    Some((v, at + k as usize))
}

/// `qid:7` groups examples into queries, which AUC over all pairs has no use for.
fn is_qid(token: &[u8]) -> bool {
    token
        .strip_prefix(b"qid:")
        .is_some_and(|id| labels::number(id).is_some())
}

/// The index that a token `index:value` begins with and its number of digits, or what is wrong.
fn index_of(token: &[u8], next_index: u64, indices: Indices) -> Result<(u64, usize), String> {
    let Indices { first, last } = indices;
    let Some(colon) = memchr::memchr(b':', token) else {
        return Err(format!("expected index:value, got {}", shown(token)));
    };
    let text = &token[..colon];
    let all_digits = |t: &[u8]| !t.is_empty() && t.iter().all(u8::is_ascii_digit);
    if text.strip_prefix(b"-").is_some_and(all_digits) {
        return Err(format!(
            "index {} is negative; indices start at {first}",
            shown(text)
        ));
    }
    if !all_digits(text) {
        return Err(format!("index {} is not a whole number", shown(text)));
    }
    let index = std::str::from_utf8(text)
        .ok()
        .and_then(|t| t.parse::<u64>().ok());
    match index {
        Some(index) if index <= last => {
            if index < first {
                Err("index 0; indices start at 1 (option zero-based if they start at 0)".into())
            } else if index >= next_index {
                Ok((index, colon))
            } else if index + 1 == next_index {
                Err(format!("index {index} is repeated; indices must increase"))
            } else {
                let last = next_index - 1;
                Err(format!("index {index} after {last}; indices must increase"))
            }
        }
        _ => Err(format!(
            "index {} is above {last}, the most that is allowed (max-features)",
            shown(text)
        )),
    }
}
