//! Distinct texts, each kept once and known by its number.

use std::sync::Arc;

use twox_hash::XxHash3_64;

/// Texts in the order in which they were met, in one piece of memory, found by an open hash table.
#[derive(Debug, Default)]
pub(super) struct Levels {
    bytes: Vec<u8>,
    /// Where each text ends in `bytes`.
    ends: Vec<usize>,
    /// Of each text.
    hashes: Vec<u32>,
    /// One more than the number of a text, 0 where there is none. The length is a power of two, at
    /// least twice the number of texts.
    slots: Vec<u32>,
}

impl Levels {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn text(&self, level: usize) -> &[u8] {
        let start = level.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[level]]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|level| self.text(level))
    }

    /// The number of a text, a new one if it has none.
    #[inline]
    pub(super) fn insert(&mut self, text: &[u8]) -> u32 {
        // A few texts are found sooner by looking at them.
        if self.len() <= 4
            && let Some(level) = self.iter().position(|t| t == text)
        {
            return level as u32;
        }
        let hash = hash(text);
        if 2 * (self.len() + 1) > self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(level) = (self.slots[at] as usize).checked_sub(1) {
            if self.hashes[level] == hash && self.text(level) == text {
                return level as u32;
            }
            at = (at + 1) & mask;
        }
        let level = self.len() as u32;
        self.slots[at] = level + 1;
        self.hashes.push(hash);
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        level
    }

    fn grow(&mut self) {
        let size = (4 * (self.len() + 1)).next_power_of_two().max(16);
        self.slots.clear();
        self.slots.resize(size, 0);
        for (level, &hash) in self.hashes.iter().enumerate() {
            let mut at = hash as usize & (size - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = level as u32 + 1;
        }
    }

    /// As the codes of a table want them. The texts come from blocks that were checked.
    pub(super) fn strings(&self) -> Arc<[String]> {
        self.iter()
            .map(|text| String::from_utf8_lossy(text).into_owned())
            .collect()
    }
}

#[inline]
fn hash(text: &[u8]) -> u32 {
    let hash = XxHash3_64::oneshot(text);
    (hash ^ hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn levels_are_numbered_in_the_order_of_their_first_appearance() {
        let mut levels = Levels::default();
        let mut expected: HashMap<String, u32> = HashMap::new();
        for i in 0u64..100_000 {
            let text = (i * i % 7919).to_string();
            let next = expected.len() as u32;
            let code = *expected.entry(text.clone()).or_insert(next);
            assert_eq!(levels.insert(text.as_bytes()), code);
            assert_eq!(levels.text(code as usize), text.as_bytes());
        }
        assert_eq!(levels.len(), expected.len());
        assert_eq!(levels.strings()[0], "0");
        assert_eq!(levels.insert(b""), expected.len() as u32);
    }
}
