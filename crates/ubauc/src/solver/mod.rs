//! How the objectives are minimised.

pub mod ba_ubauc;
