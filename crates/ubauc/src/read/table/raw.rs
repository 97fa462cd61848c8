//! A file of text record by record, as it is written: to be divided, not understood.

use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::super::blocks::Block;
use super::super::{Format, Input, encoding::Encoding, format_of, read_head, text_blocks, whole};
use super::header::head_of;
use super::read_data_from;
use super::record::record_ends;
use super::{Data, TableOptions};
use crate::{Error, Result};

/// The lines of a CSV or svmlight file, records with line ends in quotes in one piece. Compressed text is kept as it was
/// before, and text of another encoding as UTF-8.
pub struct RawRecords {
    path: PathBuf,
    text: Vec<u8>,
    /// Bytes before the first record.
    head: usize,
    records: Vec<Range<usize>>,
}

impl RawRecords {
    /// Reads a file; `-` is standard input. Parquet has no records of text.
    pub fn read(path: &Path, options: &TableOptions<'_>) -> Result<RawRecords> {
        let (input, name) = Input::open(path)?;
        RawRecords::read_from(input.reader(), &name, options)
    }

    /// The same from whatever bytes come; `name` stands in errors where a file name would.
    pub fn read_from(
        mut reader: impl Read + Send,
        name: &Path,
        options: &TableOptions<'_>,
    ) -> Result<RawRecords> {
        let head = read_head(&mut reader).map_err(|source| Error::Io {
            path: name.to_path_buf(),
            source,
        })?;
        let read = options.read_options();
        if format_of(name, &head, &read) == Format::Parquet {
            return Err(whole(
                name,
                "is a Parquet file; only files of text can be divided",
            ));
        }
        let mut blocks = text_blocks(head, reader, name, &read)?;
        let format = format_of(name, blocks.checked_head()?, &read);
        let mut text = Vec::new();
        while let Some(block) = blocks.next_block()? {
            text.extend_from_slice(&block.text);
        }
        let block = Block {
            text,
            first_line: 1,
        };
        let (head, ends) = match format {
            Format::Csv => {
                let Some(head) = head_of(&block, options.delimiter, name)? else {
                    return Err(whole(name, "no rows in the file"));
                };
                let rows = head.rows(options.no_header);
                (rows, record_ends(&block, rows, head.delimiter))
            }
            Format::Svmlight => (0, lines(&block.text)),
            Format::Parquet => return Err(whole(name, "is a Parquet file")),
        };
        Ok(RawRecords {
            path: name.to_path_buf(),
            text: block.text,
            head,
            records: ends,
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// None.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// What is before the first record: the header of a CSV file.
    pub fn head(&self) -> &[u8] {
        &self.text[..self.head]
    }

    /// Record i with its line end, which the last one may lack.
    pub fn record(&self, i: usize) -> &[u8] {
        &self.text[self.records[i].clone()]
    }

    /// What the records say.
    pub fn data(&self, options: &TableOptions<'_>) -> Result<Data> {
        let options = TableOptions {
            encoding: Some(Encoding::Utf8),
            progress: None,
            ..options.clone()
        };
        read_data_from(self.text.as_slice(), &self.path, &options)
    }
}

/// Lines of svmlight with an example.
fn lines(text: &[u8]) -> Vec<Range<usize>> {
    let mut at = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive(|&b| b == b'\n') {
        let range = at..at + line.len();
        at = range.end;
        let first = line.iter().find(|b| !b.is_ascii_whitespace());
        if first.is_some_and(|&b| b != b'#') {
            lines.push(range);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> (String, Vec<String>) {
        let read = RawRecords::read_from(text.as_bytes(), Path::new("t"), &TableOptions::default());
        let read = read.unwrap();
        let string = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let all = (0..read.len()).map(|i| string(read.record(i))).collect();
        (string(read.head()), all)
    }

    #[test]
    fn records_are_kept_as_they_are_written() {
        let (head, all) = records("a;b\r\n1; \"x\ny\" \r\n\n2;z");
        assert_eq!(head, "a;b\r\n");
        assert_eq!(all, ["1; \"x\ny\" \r\n", "2;z"]);
        let (head, all) = records("sep=;\na;b\n1;2\n");
        assert_eq!(
            (head.as_str(), all),
            ("sep=;\na;b\n", vec!["1;2\n".to_string()])
        );
        let (head, all) = records("# made\n1 1:2\n\n-1 2:3 # x\n");
        assert_eq!((head.as_str(), all.len()), ("", 2));
        assert_eq!(all[1], "-1 2:3 # x\n");
    }
}
