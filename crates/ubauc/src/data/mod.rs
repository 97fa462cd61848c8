//! What the mathematics may assume: rows of finite numbers and labels of two classes; and raw tables, from which a feature
//! map makes such rows.

pub mod calendar;
pub mod dataset;
pub mod exact_sum;
pub mod generate;
pub(crate) mod hash;
pub mod labels;
pub mod mixture;
pub(crate) mod reservoir;
pub mod rows;
pub mod scale;
pub mod split;
pub mod table;
