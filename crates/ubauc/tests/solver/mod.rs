//! The solvers against the oracle.

#[cfg(feature = "bcd")]
mod bcd; // the paper's block descent
