//! The way out: a model as a program for another place.
//!
//! A [`Program`] is a model taken apart: the columns that its score reads and the terms that add up to it. Each target writes it in its own
//! language.
//!
//! | file | what |
//! |---|---|
//! | `program.rs` | from a model to columns and terms |
//! | `self_test.rs` | rows that try every term (missing, unseen, on a cut), with their scores |
//! | `python.rs`, `scorer.py` | one file for Python's standard library |
//! | `sql.rs` | one expression that SQLite, DuckDB and PostgreSQL understand |
//! | `onnx.rs`, `protobuf.rs` | a graph of standard operators |
//! | `liblinear.rs` | a model file of LIBLINEAR, of a linear model of numbers |
//! | `scorecard.rs` | points instead of scores |
//!
//! Numbers are written so that they are read back to the last bit, and a value is compared with a cut as the model does: a
//! value on a cut is in the cell above it.

mod liblinear;
mod onnx;
mod program;
mod protobuf;
mod python;
pub mod scorecard;
mod self_test;
mod sql;

use serde::Serialize;

pub use program::{Input, Program, Term};
pub use self_test::{SelfTest, Value};

use crate::model::Model;
use crate::{Error, Result};

/// Where a model can go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A file for Python's standard library.
    Python,
    /// An expression.
    Sql,
    /// A graph of standard operators.
    Onnx,
    /// A model file of LIBLINEAR.
    Liblinear,
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 4] = [Target::Python, Target::Sql, Target::Onnx, Target::Liblinear];

    /// As options have it.
    pub fn name(self) -> &'static str {
        match self {
            Target::Python => "python",
            Target::Sql => "sql",
            Target::Onnx => "onnx",
            Target::Liblinear => "liblinear",
        }
    }

    /// The target of that name.
    pub fn of_name(name: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|target| target.name() == name)
    }

    fn refuse<T>(self, why: impl Into<String>) -> Result<T> {
        Err(Error::Export {
            target: self.name(),
            why: why.into(),
        })
    }
}

/// What is exported besides the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportOptions {
    /// SQL: the table that the query reads.
    pub table: String,
}

impl Default for ExportOptions {
    fn default() -> ExportOptions {
        ExportOptions {
            table: "rows".to_string(),
        }
    }
}

/// A model in another form.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    /// The file.
    pub bytes: Vec<u8>,
    /// Rows of the self-test that it carries.
    pub self_test_rows: usize,
    /// What the target leaves out of the model.
    pub notes: Vec<String>,
}

/// Writes a model for a target; what cannot be written is refused with the reason.
pub fn export(model: &Model, target: Target, options: &ExportOptions) -> Result<Exported> {
    let program = Program::of(model, target)?;
    let test = SelfTest::of(model, &program)?;
    let (bytes, notes) = match target {
        Target::Python => (python::write(&program, &test)?, Vec::new()),
        Target::Sql => sql::write(&program, &test, options)?,
        Target::Onnx => onnx::write(&program, &test)?,
        Target::Liblinear => (liblinear::write(&program, &test)?, Vec::new()),
    };
    Ok(Exported {
        bytes,
        self_test_rows: test.rows.len(),
        notes,
    })
}
