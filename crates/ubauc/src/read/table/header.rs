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
    let (delimiter, _) = separator(head, options.delimiter);
    let mut records = RecordBlocks::new(blocks, delimiter);
    let Some(mut first) = records.next_block()? else {
        return Err(whole(path, "the file is empty"));
    };
    let Some(head) = head_of(&first, Some(delimiter), path)? else {
        return Err(whole(path, "no rows in the file"));
    };
    let names = head.take_off(&mut first, options.no_header);
    let (names, notices) = match options.no_header {
        true => (names, Vec::new()),
        false => distinct_names(names),
    };
    records.with_columns(names.len());
    let header = Header {
        delimiter,
        names,
        notices,
    };
    Ok((header, records, first))
}

/// The first record of a text, which names the columns.
pub(in super::super) struct Head {
    pub(in super::super) delimiter: u8,
    /// Its fields.
    names: Vec<String>,
    /// The bytes that it takes.
    start: usize,
    end: usize,
}

/// `None` if there is no record.
pub(in super::super) fn head_of(
    block: &Block,
    delimiter: Option<u8>,
    path: &Path,
) -> Result<Option<Head>> {
    let (delimiter, start) = separator(&block.text, delimiter);
    let found = first_record(block, start, delimiter).map_err(|wrong| wrong.at(path))?;
    Ok(found.map(|(names, end)| Head {
        delimiter,
        names,
        start,
        end,
    }))
}

impl Head {
    /// Where the rows begin. Without a header its record is the first of them.
    pub(in super::super) fn rows(&self, no_header: bool) -> usize {
        if no_header { self.start } else { self.end }
    }

    /// Leaves the rows, and answers the names of the columns: 1, 2, … without a header.
    pub(in super::super) fn take_off(self, block: &mut Block, no_header: bool) -> Vec<String> {
        let rows = self.rows(no_header);
        block.first_line += count(&block.text[..rows], b'\n') as u64;
        block.text.drain(..rows);
        match no_header {
            true => (1..=self.names.len()).map(|j| j.to_string()).collect(),
            false => self.names,
        }
    }
}

/// The byte between fields: as given, as the file declares, or as its first line looks; and where the line of the
/// declaration ends.
fn separator(head: &[u8], given: Option<u8>) -> (u8, usize) {
    let line = memchr::memchr(b'\n', head).map(|end| end + 1);
    let declared = line.and_then(|end| Some((declared_separator(&head[..end])?, end)));
    let (declared, end) = declared.map_or((None, 0), |(byte, end)| (Some(byte), end));
    let delimiter = given.or(declared);
    (delimiter.unwrap_or_else(|| guess_delimiter(head)), end)
}

/// `sep=;`, which a spreadsheet may write before the header.
pub(in super::super) fn declared_separator(line: &[u8]) -> Option<u8> {
    match line.trim_ascii_end() {
        [s, e, p, b'=', delimiter]
            if [s, e, p].map(u8::to_ascii_lowercase) == *b"sep" && delimiter.is_ascii() =>
        {
            Some(*delimiter)
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
        assert_eq!(separator(b"sep=;\r\na,b,c", None), (b';', 7));
        assert_eq!(separator(b"sep=;\r\na,b,c", Some(b',')), (b',', 7));
        assert_eq!(separator(b"sepal;x\n", None), (b';', 0));
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
