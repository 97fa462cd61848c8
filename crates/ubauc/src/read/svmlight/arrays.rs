//! The arrays of labels and sparse rows while they are filled block by block.

use std::path::Path;

use super::super::{too_many_classes, whole};
use super::parse::{Filled, Slots};
use crate::Result;
use crate::data::dataset::{Examples, SkippedLines};
use crate::data::labels::{self, Dictionary};
use crate::data::rows::{Csr, Rows};

/// Upper bounds of what a block can hold.
#[derive(Clone, Copy)]
pub(super) struct Room {
    pub(super) rows: usize,
    pub(super) entries: usize,
}

impl Room {
    /// A row ends with a line end (or the text); an entry has a colon.
    pub(super) fn for_text(text: &[u8]) -> Room {
        let (lines, entries) = count_both(text);
        let open = usize::from(text.last().is_some_and(|&b| b != b'\n'));
        Room {
            rows: lines + open,
            entries,
        }
    }
}

/// Line ends and colons, in one pass; lanes of u8 sums, which the compiler makes vectors of.
fn count_both(text: &[u8]) -> (usize, usize) {
    let (mut lines, mut colons) = (0, 0);
    for chunk in text.chunks(192) {
        let (mut l, mut c) = (0u8, 0u8);
        for &b in chunk {
            l += u8::from(b == b'\n');
            c += u8::from(b == b':');
        }
        lines += l as usize;
        colons += c as usize;
    }
    (lines, colons)
}

/// The arrays of labels and sparse rows while they are filled block by block.
pub(super) struct Arrays {
    codes: Vec<u32>,
    /// A 0, then the end of each row, counted within its block until the end.
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Arrays {
    pub(super) fn new(rooms: impl Iterator<Item = Room>) -> Arrays {
        let (rows, entries) = rooms.fold((0, 0), |(rows, entries), r| {
            (rows + r.rows, entries + r.entries)
        });
        Arrays {
            codes: vec![0; rows],
            indptr: vec![0; rows + 1],
            indices: vec![0; entries],
            values: vec![0.0; entries],
        }
    }

    /// A place of its own for each block.
    pub(super) fn slots(&mut self, rooms: impl Iterator<Item = Room>) -> Vec<Slots<'_>> {
        let mut codes = self.codes.as_mut_slice();
        let mut ends = &mut self.indptr[1..];
        let mut indices = self.indices.as_mut_slice();
        let mut values = self.values.as_mut_slice();
        rooms
            .map(|room| {
                let slots;
                (slots, (codes, ends, indices, values)) = {
                    let (c, codes) = std::mem::take(&mut codes).split_at_mut(room.rows);
                    let (e, ends) = std::mem::take(&mut ends).split_at_mut(room.rows);
                    let (i, indices) = std::mem::take(&mut indices).split_at_mut(room.entries);
                    let (v, values) = std::mem::take(&mut values).split_at_mut(room.entries);
                    let slots = Slots {
                        codes: c,
                        ends: e,
                        indices: i,
                        values: v,
                    };
                    (slots, (codes, ends, indices, values))
                };
                slots
            })
            .collect()
    }

    pub(super) fn truncate(&mut self, filled: &Filled) {
        self.codes.truncate(filled.rows);
        self.indptr.truncate(filled.rows + 1);
        self.indices.truncate(filled.entries);
        self.values.truncate(filled.entries);
    }

    pub(super) fn reserve(&mut self, parts: &[(Arrays, Room, Filled)]) {
        let rows = parts.iter().map(|(_, room, _)| room.rows).sum();
        let entries = parts.iter().map(|(_, room, _)| room.entries).sum();
        self.codes.reserve_exact(rows);
        self.indptr.reserve_exact(rows);
        self.indices.reserve_exact(entries);
        self.values.reserve_exact(entries);
    }

    pub(super) fn append(&mut self, block: Arrays) {
        self.codes.extend_from_slice(&block.codes);
        self.indptr.extend_from_slice(&block.indptr[1..]);
        self.indices.extend_from_slice(&block.indices);
        self.values.extend_from_slice(&block.values);
    }

    /// The label codes and rows of one block that has no gaps.
    pub(super) fn into_one(self, cols: usize) -> (Vec<u32>, Csr) {
        let csr = Csr::from_checked(self.indptr, self.indices, self.values, cols);
        (self.codes, csr)
    }

    /// Closes the gaps of blocks that held less than their room (comments, empty lines), counts
    /// the row ends from the start of the file, and joins the labels.
    pub(super) fn finish(
        self,
        rooms: impl Iterator<Item = Room>,
        filled: Vec<Filled>,
        path: &Path,
    ) -> Result<Examples> {
        if filled.iter().all(|block| block.rows == 0) {
            return Err(whole(path, "no examples in the file"));
        }
        self.joined(rooms, filled, path)
    }

    /// The same, be there examples or not.
    pub(super) fn joined(
        mut self,
        rooms: impl Iterator<Item = Room>,
        filled: Vec<Filled>,
        path: &Path,
    ) -> Result<Examples> {
        let (mut rows, mut entries) = (0, 0);
        let (mut row_at, mut entry_at) = (0, 0);
        for (room, block) in rooms.zip(&filled) {
            if rows < row_at {
                self.codes.copy_within(row_at..row_at + block.rows, rows);
                self.indptr
                    .copy_within(row_at + 1..row_at + 1 + block.rows, rows + 1);
            }
            if entries < entry_at {
                self.indices
                    .copy_within(entry_at..entry_at + block.entries, entries);
                self.values
                    .copy_within(entry_at..entry_at + block.entries, entries);
            }
            for end in &mut self.indptr[rows + 1..rows + 1 + block.rows] {
                *end += entries;
            }
            rows += block.rows;
            entries += block.entries;
            row_at += room.rows;
            entry_at += room.entries;
        }
        self.codes.truncate(rows);
        self.indptr.truncate(rows + 1);
        self.indices.truncate(entries);
        self.values.truncate(entries);
        let cols = filled.iter().map(|block| block.cols).max().unwrap_or(0);
        let mut notices = Vec::new();
        if filled.iter().any(|block| block.qid) {
            notices.push(super::QID_NOTICE.into());
        }
        let dictionaries: Vec<(Dictionary, usize)> = filled
            .into_iter()
            .map(|block| (block.dictionary, block.rows))
            .collect();
        let labels =
            labels::join(self.codes, &dictionaries).map_err(|_| whole(path, too_many_classes()))?;
        let csr = Csr::from_checked(self.indptr, self.indices, self.values, cols);
        Ok(Examples {
            rows: Rows::smaller(csr),
            labels,
            names: Vec::new(),
            notices,
            skipped: SkippedLines::default(),
        })
    }
}
