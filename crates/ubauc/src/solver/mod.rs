//! How the objectives are minimised.

pub mod ba_ubauc;
mod cholesky;
pub mod logistic;
mod shards;
