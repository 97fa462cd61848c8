//! Learn and judge scoring functions by AUC, without comparing pairs of examples.
//!
//! Modules in the order of the data flow:
//!
//! | module | what |
//! |---|---|
//! | [`metrics`] | scores and labels in, AUC with its statistics out; stands alone |

mod error;
pub mod metrics;
pub mod objective;

pub use error::{Error, Result};
