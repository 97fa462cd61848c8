//! One error type for the library: facts, not sentences.
//!
//! Messages are lower case, without a full stop, with the place first:
//! `train.svm:17:42: index 5 after 9; indices must increase`.

use std::path::PathBuf;

use crate::container::{Fault, Kind};

/// The library's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can be wrong with what came in from outside.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file, or `<stdin>`.
        path: PathBuf,
        /// What the operating system or the decompressor said.
        source: std::io::Error,
    },

    /// Text that does not follow its format.
    #[error("{}:{line}:{column}: {what}", path.display())]
    Parse {
        /// The file, or `<stdin>`.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
        /// From 1: the byte within the line (svmlight), or the field within the record (CSV).
        column: u64,
        /// What was expected and what came.
        what: String,
    },

    /// A file that is wrong as a whole: empty, cut short, no such column.
    #[error("{}: {what}", path.display())]
    File {
        /// The file, or `<stdin>`.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },

    /// A table without a column that is asked for.
    #[error("{}: no {role} column{what}", path.display())]
    NoColumn {
        /// The file, or `<stdin>`.
        path: PathBuf,
        /// What the column is for: "label", "feature", "ignored", "id".
        role: &'static str,
        /// Its name, or several, and the columns that there are.
        what: String,
    },

    /// A model file that is damaged, too new, or no model at all; or a model that no file can hold.
    #[error("{}: {what}", path.display())]
    ModelFile {
        /// The file, or `<memory>`.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },

    /// Binary data that is damaged, of another version or something else.
    #[error("{kind} {fault}")]
    Container {
        /// What it should be.
        kind: Kind,
        /// Why it is refused.
        fault: Fault,
    },

    /// AUC compares two classes, and only one is there.
    #[error("all {n} examples are of one class, {class}; AUC needs both classes")]
    OneClass {
        /// The class that is there, as the data names it.
        class: String,
        /// How many examples.
        n: usize,
    },

    /// No examples at all.
    #[error("no examples")]
    Empty,

    /// Two things that must have one length do not.
    #[error("{what}: expected {expected}, got {got}")]
    Length {
        /// What was counted.
        what: &'static str,
        /// The length it should have.
        expected: usize,
        /// The length it has.
        got: usize,
    },

    /// A number that is NaN, or infinite where only finite numbers make sense.
    #[error("{what} of example {} is {}; it must be {must}", row + 1, shown(*value))]
    NotFinite {
        /// What the number is: "score", "weight".
        what: &'static str,
        /// The example, from 0; messages count from 1.
        row: usize,
        /// The number.
        value: f64,
        /// What it must be.
        must: &'static str,
    },

    /// Floating point cannot do what was asked.
    #[error("{what}")]
    Numerical {
        /// What went wrong and what to change.
        what: &'static str,
    },

    /// A column that a model needs is not there.
    #[error("no feature column '{name}'")]
    Column {
        /// The name of the column.
        name: String,
    },

    /// A column whose values are of another kind than the model's.
    #[error("column '{name}': expected a {expected}, found {found}")]
    ColumnKind {
        /// The name of the column.
        name: String,
        /// The kind that the model has learned.
        expected: &'static str,
        /// What there is.
        found: String,
    },

    /// A model of named columns, and rows without names.
    #[error(
        "the model has named columns, '{first}' first, and the rows have none; give it a table with a header"
    )]
    NoNames {
        /// The first column of the model.
        first: String,
    },

    /// A model that cannot be written in another form.
    #[error("this model cannot be exported to {target}: {why}")]
    Export {
        /// The form.
        target: &'static str,
        /// What it lacks, and what to do.
        why: String,
    },

    /// The labels do not say which class is which.
    #[error("{what}")]
    Classes {
        /// What was found and what to choose.
        what: String,
    },

    /// A model that cannot be taken apart into effects.
    #[error("{what}")]
    NoEffects {
        /// Why, and what to do.
        what: &'static str,
    },

    /// Remote rows could not be reached.
    #[error("{0}")]
    Rows(Box<dyn std::error::Error + Send + Sync>),

    /// A parameter outside its range.
    #[error("{name} = {value}: must be {must}")]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// What was given.
        value: String,
        /// What it must be.
        must: &'static str,
    },
}

/// A number for a message: 1e300 rather than a 1 with 300 zeros.
fn shown(x: f64) -> String {
    if x == 0.0 || !x.is_finite() || (1e-5..1e16).contains(&x.abs()) {
        x.to_string()
    } else {
        format!("{x:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_count_from_one_and_keep_large_numbers_short() {
        let message = |row, value| {
            let (what, must) = ("score", "finite");
            let error = Error::NotFinite {
                what,
                row,
                value,
                must,
            };
            error.to_string()
        };
        assert_eq!(
            message(0, 1e300),
            "score of example 1 is 1e300; it must be finite"
        );
        assert_eq!(
            message(4, f64::NAN),
            "score of example 5 is NaN; it must be finite"
        );
        assert_eq!(
            message(1, -0.5),
            "score of example 2 is -0.5; it must be finite"
        );
    }
}
