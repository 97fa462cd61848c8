//! A data set to learn from or to judge by: rows, and labels of two classes, both present.

use std::sync::Arc;

use crate::data::labels::{Binary, Choice, Labels};
use crate::data::rows::Rows;
use crate::{Error, Result};

/// Rows and labels as read: any number of classes.
#[derive(Debug, Clone)]
pub struct Examples {
    /// The features.
    pub rows: Rows,
    /// One label a row.
    pub labels: Labels,
    /// Names of the features, where the data has them; otherwise empty.
    pub names: Vec<String>,
    /// What a user should know about the file, though it is no error.
    pub notices: Vec<String>,
    /// What was left out.
    pub skipped: SkippedLines,
}

/// Lines of a file that were left out since they are wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkippedLines {
    /// How many.
    pub n: usize,
    /// The first few of them, in the order of the file.
    pub first: Vec<Skipped>,
}

/// A line that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// From 1.
    pub line: u64,
    /// The field, from 1.
    pub column: u64,
    /// What was expected and what came.
    pub what: String,
}

impl SkippedLines {
    /// As many are described; all are counted.
    pub const DESCRIBED: usize = 5;

    /// Counts more of them.
    pub fn add(&mut self, n: usize, first: impl IntoIterator<Item = Skipped>) {
        self.n += n;
        self.first.extend(first);
        self.first.sort_by_key(|skipped| skipped.line);
        self.first.truncate(Self::DESCRIBED);
    }
}

/// Rows and labels of two classes, both present by construction.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// Shared by data sets of the same rows with other labels.
    rows: Arc<Rows>,
    labels: Binary,
    names: Vec<String>,
}

impl Dataset {
    /// Refuses a label too few or too many, and data of one class only.
    pub fn new(rows: Rows, labels: Binary, names: Vec<String>) -> Result<Dataset> {
        Dataset::of(Arc::new(rows), labels, names)
    }

    /// The same rows, which are not copied, with other labels.
    pub fn relabelled(&self, labels: Binary) -> Result<Dataset> {
        Dataset::of(Arc::clone(&self.rows), labels, self.names.clone())
    }

    fn of(rows: Arc<Rows>, labels: Binary, names: Vec<String>) -> Result<Dataset> {
        if rows.len() != labels.positive.len() {
            let (expected, got) = (rows.len(), labels.positive.len());
            return Err(Error::Length {
                what: "labels",
                expected,
                got,
            });
        }
        let [negative, positive] = &labels.names;
        let only = match (labels.n_pos, labels.n_neg) {
            (0, 0) => return Err(Error::Empty),
            (0, _) => Some(negative),
            (_, 0) => Some(positive),
            _ => None,
        };
        match only {
            Some(class) => Err(Error::OneClass {
                class: class.clone(),
                n: rows.len(),
            }),
            None => Ok(Dataset {
                rows,
                labels,
                names,
            }),
        }
    }

    /// The examples that are chosen, in their order; refused if they are of one class.
    ///
    /// # Panics
    /// If `chosen` has another length than there are examples.
    pub fn part(&self, chosen: &[bool]) -> Result<Dataset> {
        let rows = self.rows.part(chosen);
        let of_chosen = self.labels.positive.iter().zip(chosen);
        let positive: Vec<bool> = of_chosen.filter(|(_, c)| **c).map(|(p, _)| *p).collect();
        let n_pos = positive.iter().filter(|p| **p).count();
        let labels = Binary {
            n_pos,
            n_neg: positive.len() - n_pos,
            positive,
            names: self.labels.names.clone(),
        };
        Dataset::new(rows, labels, self.names.clone())
    }

    /// The features.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// `true` is +1.
    pub fn positive(&self) -> &[bool] {
        &self.labels.positive
    }

    /// N⁺.
    pub fn n_pos(&self) -> usize {
        self.labels.n_pos
    }

    /// N⁻.
    pub fn n_neg(&self) -> usize {
        self.labels.n_neg
    }

    /// What the data calls the negative and the positive class.
    pub fn class_names(&self) -> &[String; 2] {
        &self.labels.names
    }

    /// Names of the features, or none.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

impl Examples {
    /// Two classes of what was read.
    pub fn binary(self, choice: &Choice) -> Result<Dataset> {
        let labels = self.labels.binary(choice)?;
        Dataset::new(self.rows, labels, self.names)
    }
}
