//! Class labels as the data writes them, and the choice that makes two classes of them.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use crate::{Error, Result};

/// More distinct labels than this are not classes (a regression target, say).
pub const MAX_CLASSES: usize = 65_536;

/// One class: a number where every label of the data is one, text otherwise.
#[derive(Debug, Clone, PartialEq)]
pub enum Class {
    /// `-1`, `+1`, `1.0`; equal numbers are one class however they are written.
    Number(f64),
    /// `benign`, `no`.
    Text(String),
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Number(x) => write!(f, "{x}"),
            Class::Text(t) => write!(f, "{t}"),
        }
    }
}

impl Class {
    /// For a message: printable and short.
    fn shown(&self) -> String {
        let text = self.to_string();
        let mut short: String = text.chars().take(24).flat_map(char::escape_debug).collect();
        if text.chars().nth(24).is_some() {
            short.push('…');
        }
        short
    }

    /// Numbers by value, text by its bytes; the two kinds never meet in one data set.
    fn order(&self, other: &Class) -> Ordering {
        match (self, other) {
            (Class::Number(a), Class::Number(b)) => a.total_cmp(b),
            (Class::Text(a), Class::Text(b)) => a.cmp(b),
            (Class::Number(_), Class::Text(_)) => Ordering::Less,
            (Class::Text(_), Class::Number(_)) => Ordering::Greater,
        }
    }
}

/// The label of every example, as a code into the ascending list of classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    codes: Vec<u32>,
    classes: Vec<Class>,
    counts: Vec<usize>,
}

/// Which class is +1.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Choice {
    /// The larger of two.
    #[default]
    Larger,
    /// This one, against all others.
    Positive(String),
    /// A random half of the classes, seeded; an odd number c is split into ⌊c/2⌋ positive and
    /// ⌈c/2⌉ negative classes (E13: `sector` has 105, so 52 and 53).
    Partition(u64),
}

/// Labels of two classes, both present.
#[derive(Debug, Clone, PartialEq)]
pub struct Binary {
    /// `true` is +1.
    pub positive: Vec<bool>,
    /// N⁺.
    pub n_pos: usize,
    /// N⁻.
    pub n_neg: usize,
    /// What the data calls the negative and the positive class.
    pub names: [String; 2],
}

impl Labels {
    /// Labels that are given as categories: for each example the position of its text, `None` where that is too many to be
    /// classes. Numbers are classes by value, whatever their text, if every text is one.
    pub fn of_categories(codes: &[u32], texts: &[String]) -> Option<Labels> {
        let mut dictionary = Dictionary::default();
        let mut of_text: Vec<Option<u32>> = vec![None; texts.len()];
        let mut in_order = Vec::with_capacity(codes.len());
        for &code in codes {
            let (known, text) = (of_text.get_mut(code as usize)?, texts.get(code as usize)?);
            let found = match *known {
                Some(found) => found,
                None => match dictionary.find(text.as_bytes()) {
                    Some(found) => found,
                    None => dictionary.insert(text.as_bytes())?,
                },
            };
            *known = Some(found);
            in_order.push(found);
        }
        let n = in_order.len();
        join(in_order, &[(dictionary, n)]).ok()
    }

    /// The code of every example, an index into [`Labels::classes`].
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The classes, ascending.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// How many examples each class has.
    pub fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// Two classes, by the given choice.
    pub fn binary(&self, choice: &Choice) -> Result<Binary> {
        if self.codes.is_empty() {
            return Err(Error::Empty);
        }
        let (is_positive, names) = match choice {
            Choice::Larger => self.larger()?,
            Choice::Positive(value) => self.one_against_rest(value)?,
            Choice::Partition(seed) => self.random_halves(*seed)?,
        };
        let positive: Vec<bool> = self
            .codes
            .iter()
            .map(|&c| is_positive[c as usize])
            .collect();
        let n_pos = positive.iter().filter(|&&p| p).count();
        Ok(Binary {
            n_pos,
            n_neg: positive.len() - n_pos,
            positive,
            names,
        })
    }

    fn larger(&self) -> Result<(Vec<bool>, [String; 2])> {
        self.refuse_one_class()?;
        if self.classes.len() > 2 {
            return Err(Error::Classes {
                what: format!(
                    "{} classes: {}; name the positive one (positive VALUE) or take random \
                     halves (partition SEED)",
                    self.classes.len(),
                    self.summary()
                ),
            });
        }
        Ok((
            vec![false, true],
            [self.classes[0].to_string(), self.classes[1].to_string()],
        ))
    }

    fn one_against_rest(&self, value: &str) -> Result<(Vec<bool>, [String; 2])> {
        self.refuse_one_class()?;
        let number = value.trim().parse::<f64>().ok();
        let wanted = |class: &Class| match class {
            Class::Number(x) => number == Some(*x),
            Class::Text(t) => t == value,
        };
        let is_positive: Vec<bool> = self.classes.iter().map(wanted).collect();
        if !is_positive.contains(&true) {
            return Err(Error::Classes {
                what: format!(
                    "no example is of class {value}; classes are {}",
                    self.summary()
                ),
            });
        }
        let rest = match (self.classes.len(), is_positive[0]) {
            (2, true) => self.classes[1].to_string(),
            (2, false) => self.classes[0].to_string(),
            _ => "rest".to_string(),
        };
        Ok((is_positive, [rest, value.to_string()]))
    }

    fn random_halves(&self, seed: u64) -> Result<(Vec<bool>, [String; 2])> {
        self.refuse_one_class()?;
        let mut order: Vec<usize> = (0..self.classes.len()).collect();
        order.shuffle(&mut Pcg64::seed_from_u64(seed));
        let mut is_positive = vec![false; order.len()];
        for &class in &order[..order.len() / 2] {
            is_positive[class] = true;
        }
        let group = |side: bool| {
            let of_side = is_positive.iter().filter(|&&p| p == side).count();
            let sign = if side { "positive" } else { "negative" };
            format!("{of_side} classes ({sign} half of partition {seed})")
        };
        let names = [group(false), group(true)];
        Ok((is_positive, names))
    }

    fn refuse_one_class(&self) -> Result<()> {
        match self.classes.as_slice() {
            [only] => Err(Error::OneClass {
                class: only.shown(),
                n: self.codes.len(),
            }),
            _ => Ok(()),
        }
    }

    /// `1 (50 examples), 2 (7), …`, at most eight of them.
    fn summary(&self) -> String {
        let mut parts: Vec<String> = self
            .classes
            .iter()
            .zip(&self.counts)
            .take(8)
            .map(|(class, count)| format!("{} ({count})", class.shown()))
            .collect();
        if self.classes.len() > parts.len() {
            parts.push("…".to_string());
        }
        parts.join(", ")
    }
}

/// Labels met so far, each text once, in the order of first appearance.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    texts: Vec<Box<[u8]>>,
    codes: HashMap<Box<[u8]>, u32>,
}

impl Dictionary {
    /// The code of a text known already.
    #[inline]
    pub(crate) fn find(&self, text: &[u8]) -> Option<u32> {
        // Few classes in nearly all data: looking at them beats hashing.
        let few = &self.texts[..self.texts.len().min(4)];
        match few.iter().position(|t| **t == *text) {
            Some(code) => Some(code as u32),
            None => self.codes.get(text).copied(),
        }
    }

    /// The texts, by their codes.
    pub(crate) fn texts(&self) -> &[Box<[u8]>] {
        &self.texts
    }

    /// A new code; `None` when there are too many to be classes.
    pub(crate) fn insert(&mut self, text: &[u8]) -> Option<u32> {
        if self.texts.len() >= MAX_CLASSES {
            return None;
        }
        let code = self.texts.len() as u32;
        self.texts.push(text.into());
        self.codes.insert(text.into(), code);
        Some(code)
    }
}

/// Joins blocks of codes, each with the dictionary it was coded by, into labels.
/// `codes` holds the blocks one after the other; `lengths` says how long each is.
pub(crate) fn join(
    mut codes: Vec<u32>,
    blocks: &[(Dictionary, usize)],
) -> std::result::Result<Labels, TooManyClasses> {
    let mut all = Dictionary::default();
    let mut merged: Vec<Vec<u32>> = Vec::with_capacity(blocks.len());
    for (dictionary, _) in blocks {
        let of_block: Option<Vec<u32>> = dictionary
            .texts
            .iter()
            .map(|text| match all.find(text) {
                Some(code) => Some(code),
                None => all.insert(text),
            })
            .collect();
        merged.push(of_block.ok_or(TooManyClasses)?);
    }
    let (classes, rank) = ascending(&all.texts);
    let mut counts = vec![0; classes.len()];
    let mut rest = codes.as_mut_slice();
    for ((_, length), of_block) in blocks.iter().zip(&merged) {
        let (block, after) = rest.split_at_mut(*length);
        for code in block {
            *code = rank[of_block[*code as usize] as usize];
            counts[*code as usize] += 1;
        }
        rest = after;
    }
    Ok(Labels {
        codes,
        classes,
        counts,
    })
}

/// More than [`MAX_CLASSES`].
#[derive(Debug)]
pub(crate) struct TooManyClasses;

/// The distinct classes in ascending order, and for each text the place of its class.
fn ascending(texts: &[Box<[u8]>]) -> (Vec<Class>, Vec<u32>) {
    let numbers: Option<Vec<f64>> = texts.iter().map(|t| number(t)).collect();
    let of_text: Vec<Class> = match numbers {
        // −0 + 0 = 0: one class, not two.
        Some(numbers) => numbers
            .into_iter()
            .map(|x| Class::Number(x + 0.0))
            .collect(),
        None => texts
            .iter()
            .map(|t| Class::Text(String::from_utf8_lossy(t).into_owned()))
            .collect(),
    };
    let mut classes = of_text.clone();
    classes.sort_by(Class::order);
    classes.dedup();
    let rank = of_text
        .iter()
        .map(|class| classes.partition_point(|c| c.order(class) == Ordering::Less) as u32)
        .collect();
    (classes, rank)
}

/// A finite number written in full by `text`.
pub(crate) fn number(text: &[u8]) -> Option<f64> {
    fast_float2::parse::<f64, _>(text)
        .ok()
        .filter(|x| x.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(texts: &[&str]) -> Labels {
        let mut dictionary = Dictionary::default();
        let codes = texts
            .iter()
            .map(|t| {
                let t = t.as_bytes();
                dictionary.find(t).or_else(|| dictionary.insert(t)).unwrap()
            })
            .collect();
        join(codes, &[(dictionary, texts.len())]).unwrap()
    }

    #[test]
    fn equal_numbers_are_one_class_however_written() {
        let l = labels(&["+1", "-1.0", "1", "-1", "1e0"]);
        assert_eq!(l.classes(), [Class::Number(-1.0), Class::Number(1.0)]);
        let b = l.binary(&Choice::Larger).unwrap();
        assert_eq!(b.positive, [true, false, true, false, true]);
        assert_eq!(b.names, ["-1", "1"]);
    }

    #[test]
    fn minus_zero_is_zero() {
        assert_eq!(labels(&["0", "-0", "1"]).classes().len(), 2);
    }

    #[test]
    fn numbers_are_ordered_by_value_and_text_by_bytes() {
        let b = labels(&["10", "9"]).binary(&Choice::Larger).unwrap();
        assert_eq!(b.names, ["9", "10"]);
        let b = labels(&["no", "yes", "10"])
            .binary(&Choice::Positive("yes".into()))
            .unwrap();
        assert_eq!(b.positive, [false, true, false]);
        assert_eq!(b.names, ["rest", "yes"]);
    }

    #[test]
    fn positive_value_is_compared_as_a_number() {
        let b = labels(&["1", "2", "3"])
            .binary(&Choice::Positive("2.0".into()))
            .unwrap();
        assert_eq!(b.positive, [false, true, false]);
    }

    #[test]
    fn choices_that_cannot_be_made_are_refused() {
        let one = labels(&["1", "1"]).binary(&Choice::Larger);
        assert!(matches!(one, Err(Error::OneClass { n: 2, .. })));
        assert!(matches!(
            labels(&[]).binary(&Choice::Larger),
            Err(Error::Empty)
        ));
        let three = labels(&["1", "2", "3"]);
        assert!(matches!(
            three.binary(&Choice::Larger),
            Err(Error::Classes { .. })
        ));
        let missing = three.binary(&Choice::Positive("4".into()));
        assert!(matches!(missing, Err(Error::Classes { .. })));
    }

    #[test]
    fn partition_halves_the_classes_and_depends_on_the_seed_alone() {
        let texts: Vec<String> = (1..=105).map(|c| c.to_string()).collect();
        let l = labels(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let b = l.binary(&Choice::Partition(7)).unwrap();
        assert_eq!((b.n_pos, b.n_neg), (52, 53));
        assert_eq!(b, l.binary(&Choice::Partition(7)).unwrap());
        assert_ne!(b, l.binary(&Choice::Partition(8)).unwrap());
        let even = labels(&["1", "2", "3", "4"]);
        let names = [
            "2 classes (negative half of partition 7)",
            "2 classes (positive half of partition 7)",
        ];
        assert_eq!(even.binary(&Choice::Partition(7)).unwrap().names, names);
    }

    #[test]
    fn blocks_with_their_own_dictionaries_join_into_one() {
        let mut a = Dictionary::default();
        let mut b = Dictionary::default();
        let codes = vec![
            a.insert(b"x").unwrap(),
            a.insert(b"y").unwrap(),
            b.insert(b"y").unwrap(),
            b.insert(b"x").unwrap(),
            b.find(b"y").unwrap(),
        ];
        let l = join(codes, &[(a, 2), (b, 3)]).unwrap();
        assert_eq!(l.codes(), [0, 1, 1, 0, 1]);
        assert_eq!(l.counts(), [2, 3]);
    }
}
