//! How the objectives are minimised.

pub mod ba_ubauc;
mod centred;
mod cholesky;
mod given;
mod gram;
pub mod logistic;
pub mod ol_ubauc;
mod ordered;
pub mod passes;
mod shards;
pub mod svm_or;
mod threshold;
