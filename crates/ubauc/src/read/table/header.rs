//! The first line of a CSV file: the separator, and a name for every column.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::Path;

use super::super::blocks::{Block, Blocks, count};
use super::super::{shown, whole};
use super::TableOptions;
use super::blocks::RecordBlocks;
use super::record::first_record;
use crate::Result;

/// What the head of a file says.
pub(in super::super) struct Header {
    pub(in super::super) delimiter: u8,
    /// Distinct, and none is empty.
    pub(in super::super) names: Vec<String>,
    pub(super) notices: Vec<String>,
}

/// Reads the header; the first block is what follows it.
pub(in super::super) fn open<R: Read>(
    mut blocks: Blocks<R>,
    path: &Path,
    options: &TableOptions<'_>,
) -> Result<(Header, RecordBlocks<R>, Block)> {
    let head = blocks.checked_head()?;
    if head.contains(&0) {
        let what = "is not text; expected CSV, perhaps compressed, or text with --encoding utf-16";
        return Err(whole(path, what));
    }
    let declared = declared_delimiter(head);
    let delimiter = options
        .delimiter
        .or(declared.map(|(delimiter, _)| delimiter))
        .unwrap_or_else(|| guess_delimiter(head));
    let mut records = RecordBlocks::new(blocks, delimiter);
    let Some(mut first) = records.next_block()? else {
        return Err(whole(path, "the file is empty"));
    };
    if let Some((_, end)) = declared {
        cut(&mut first, end);
    }
    let found = first_record(&first, delimiter).map_err(|wrong| wrong.at(path))?;
    let Some((names, end, _)) = found else {
        return Err(whole(path, "no rows in the file"));
    };
    let (names, notices) = if options.no_header {
        (
            (1..=names.len()).map(|j| j.to_string()).collect(),
            Vec::new(),
        )
    } else {
        cut(&mut first, end);
        distinct_names(names)
    };
    records.with_columns(names.len());
    let header = Header {
        delimiter,
        names,
        notices,
    };
    Ok((header, records, first))
}

/// The separator, and where the first record behind the header begins.
pub(in super::super) fn head_of(
    block: &Block,
    path: &Path,
    options: &TableOptions<'_>,
) -> Result<(u8, usize)> {
    let declared = declared_delimiter(&block.text);
    let start = declared.map_or(0, |(_, end)| end);
    let delimiter = options
        .delimiter
        .or(declared.map(|(delimiter, _)| delimiter))
        .unwrap_or_else(|| guess_delimiter(&block.text));
    if options.no_header {
        return Ok((delimiter, start));
    }
    let behind = Block {
        text: block.text[start..].to_vec(),
        first_line: block.first_line,
    };
    let found = first_record(&behind, delimiter).map_err(|wrong| wrong.at(path))?;
    match found {
        Some((_, end, _)) => Ok((delimiter, start + end)),
        None => Err(whole(path, "no rows in the file")),
    }
}

fn cut(block: &mut Block, end: usize) {
    block.first_line += count(&block.text[..end], b'\n') as u64;
    block.text.drain(..end);
}

/// `sep=;`, which a spreadsheet may write before the header; where that line ends.
fn declared_delimiter(head: &[u8]) -> Option<(u8, usize)> {
    let end = memchr::memchr(b'\n', head)?;
    match head[..end].trim_ascii_end() {
        [s, e, p, b'=', delimiter]
            if [s, e, p].map(u8::to_ascii_lowercase) == *b"sep" && delimiter.is_ascii() =>
        {
            Some((*delimiter, end + 1))
        }
        _ => None,
    }
}

/// The separator that occurs most often in the first line with anything in it, quoted text aside.
fn guess_delimiter(head: &[u8]) -> u8 {
    let mut quoted = false;
    let line: Vec<u8> = head
        .trim_ascii_start()
        .iter()
        .map(|&b| {
            quoted ^= b == b'"';
            if quoted { b'"' } else { b }
        })
        .take_while(|&b| b != b'\n')
        .collect();
    let candidates = [b',', b';', b'\t', b'|'];
    // The first of the commonest: max_by_key takes the last.
    candidates
        .into_iter()
        .rev()
        .max_by_key(|&c| count(&line, c))
        .unwrap_or(b',')
}

/// Gives a name to columns without one, and different names to those that share one.
pub(super) fn distinct_names(given: Vec<String>) -> (Vec<String>, Vec<String>) {
    let (mut names, mut notices) = (Vec::with_capacity(given.len()), Vec::new());
    let mut taken: HashSet<String> = HashSet::with_capacity(given.len());
    // A name that is made up is nobody's in the file.
    let all: HashSet<String> = given.iter().cloned().collect();
    let mut next: HashMap<String, usize> = HashMap::new();
    for (j, name) in given.into_iter().enumerate() {
        let wanted = if name.is_empty() {
            format!("column_{}", j + 1)
        } else {
            name.clone()
        };
        let mut chosen = wanted.clone();
        while taken.contains(&chosen) || chosen != name && all.contains(&chosen) {
            let k = next.entry(wanted.clone()).or_insert(2);
            chosen = format!("{wanted}.{k}");
            *k += 1;
        }
        if name.is_empty() {
            notices.push(format!("column {} has no name: called '{chosen}'", j + 1));
        } else if chosen != name {
            let name = shown(name.as_bytes());
            notices.push(format!(
                "column {} is called {name} like one before it: called '{chosen}'",
                j + 1
            ));
        }
        taken.insert(chosen.clone());
        names.push(chosen);
    }
    (names, shortened(notices))
}

/// At most a dozen notices of one sort.
fn shortened(mut notices: Vec<String>) -> Vec<String> {
    let more = notices.len().saturating_sub(12);
    if more > 0 {
        notices.truncate(12);
        notices.push(format!("{more} more columns were given names"));
    }
    notices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_distinct() {
        for (given, expected) in [
            ("a,b", "a,b"),
            (",a,", "column_1,a,column_3"),
            ("a,a,a", "a,a.2,a.3"),
            ("a,a,a.2", "a,a.3,a.2"),
            (",column_1", "column_1.2,column_1"),
            ("a.2,a,a", "a.2,a,a.3"),
        ] {
            let given = given.split(',').map(str::to_string).collect();
            let (names, _) = distinct_names(given);
            assert_eq!(names.join(","), expected);
        }
    }

    #[test]
    fn a_separator_is_declared_or_the_commonest_of_the_header() {
        assert_eq!(declared_delimiter(b"sep=;\r\na"), Some((b';', 7)));
        assert_eq!(declared_delimiter(b"sepal;x\n"), None);
        for (head, delimiter) in [
            ("a,b", b','),
            ("a;b,c;d", b';'),
            ("\n\na\tb\n1,2,3", b'\t'),
            ("\"a,b,c\"|d", b'|'),
            ("alone", b','),
        ] {
            assert_eq!(guess_delimiter(head.as_bytes()), delimiter, "{head}");
        }
    }
}
