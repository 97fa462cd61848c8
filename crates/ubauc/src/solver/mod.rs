//! How the objectives are minimised.

pub mod ba_ubauc;
mod centred;
mod cholesky;
pub mod logistic;
pub mod ol_ubauc;
mod shards;
