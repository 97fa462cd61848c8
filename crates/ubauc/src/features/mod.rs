//! What a model makes of a raw row before it is weighed.
//!
//! A raw row is what a reader or a caller has: numbers by column, or the values of named columns of a table. A
//! [`FeatureMap`] turns it into the features that the weights belong to. It is part of the model, so that a model alone
//! scores raw rows; no caller applies a map by hand. A new map is a variant here, with a file of its own.

pub mod codes;
pub mod columns;
pub mod hash;

use std::borrow::Cow;

pub use columns::ColumnMap;

use serde::{Deserialize, Serialize};

use crate::data::rows::{Csr, Row, Rows};
use crate::{Error, Result};

/// From raw rows to features.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FeatureMap {
    /// The columns as they are.
    #[default]
    Identity,
    /// Columns hashed into 2^bits, as [`hash`] describes.
    Hash {
        /// From 1 to [`hash::MAX_BITS`].
        bits: u32,
    },
    /// The columns of a table by name, as [`columns`] describes.
    Columns(ColumnMap),
}

/// Memory for the features of one row, used again for the next.
#[derive(Debug, Default)]
pub struct Buffer {
    entries: Vec<(u32, f64)>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl FeatureMap {
    /// Hashed into 2^bits, or as they are.
    pub fn hashed(bits: Option<u32>) -> FeatureMap {
        bits.map_or(FeatureMap::Identity, |bits| FeatureMap::Hash { bits })
    }

    /// Refuses parameters that cannot be used.
    pub fn check(&self) -> Result<()> {
        match self {
            FeatureMap::Identity => Ok(()),
            FeatureMap::Hash { bits } => hash::check(*bits),
            FeatureMap::Columns(map) => map.check(),
        }
    }

    /// How many features there are; `None`: as many as columns.
    pub fn width(&self) -> Option<usize> {
        match self {
            FeatureMap::Identity => None,
            FeatureMap::Hash { bits } => 1_usize.checked_shl(*bits),
            FeatureMap::Columns(map) => Some(map.width()),
        }
    }

    /// The features of one row; `number` is that of the row, for an error. The map must have been checked.
    #[inline]
    pub(crate) fn row<'a>(
        &self,
        row: Row<'a>,
        number: usize,
        buffer: &'a mut Buffer,
    ) -> Result<Row<'a>> {
        match self {
            FeatureMap::Identity => Ok(row),
            FeatureMap::Hash { bits } => hash::row(row, *bits, number, buffer),
            FeatureMap::Columns(map) => Err(needs_names(map)),
        }
    }

    /// The features of all rows, to learn from them. A map of named columns takes a table instead:
    /// [`ColumnMap::apply`].
    pub fn apply<'a>(&self, rows: &'a Rows) -> Result<Cow<'a, Rows>> {
        self.check()?;
        if let FeatureMap::Columns(map) = self {
            return Err(needs_names(map));
        }
        let Some(width) = self.width() else {
            return Ok(Cow::Borrowed(rows));
        };
        let mut indptr = Vec::with_capacity(rows.len() + 1);
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        let mut buffer = Buffer::default();
        indptr.push(0);
        for i in 0..rows.len() {
            for (column, x) in self.row(rows.row(i), i, &mut buffer)?.entries() {
                indices.push(column as u32);
                values.push(x);
            }
            indptr.push(indices.len());
        }
        let csr = Csr::from_checked(indptr, indices, values, width);
        Ok(Cow::Owned(Rows::Csr(csr)))
    }
}

/// Rows without names cannot be read by a map of named columns.
fn needs_names(map: &ColumnMap) -> Error {
    let first = map.columns.first().map(|column| column.name.clone());
    Error::NoNames {
        first: first.unwrap_or_default(),
    }
}
