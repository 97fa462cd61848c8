//! Columns of a table to features.

pub mod bins;
pub mod pairs;
