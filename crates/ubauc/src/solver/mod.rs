//! How the objectives are minimised.

pub mod ba_ubauc;
pub mod boosting;
mod centred;
mod cholesky;
mod conjugate_gradients;
mod gram;
mod inputs;
pub mod linear_svm;
pub mod logits;
pub mod nesting;
pub mod oam;
pub mod ol_ubauc;
pub mod opauc;
pub mod order;
mod ordered;
pub mod passes;
pub mod shards;
pub mod solam;
pub(crate) mod stream;
pub mod svm_or;
mod threshold;
mod weights;
