//! What the mathematics may assume: rows of finite numbers and labels of two classes.

pub mod dataset;
pub mod generate;
pub(crate) mod hash;
pub mod labels;
pub(crate) mod reservoir;
pub mod rows;
pub mod scale;
pub mod split;
