//! ba-UBAUC: the batch learner.

#[cfg(feature = "bcd")]
pub mod bcd;
