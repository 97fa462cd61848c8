//! Scores and labels in, AUC and its statistics out. Plain slices; no other module is needed.

mod auc;
mod exact;
mod order;
mod placement;
mod radix;
mod ranges;

pub use auc::{Auc, auc};
