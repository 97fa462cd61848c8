//! Tests of the library from outside, one binary.
#![allow(clippy::unwrap_used)] // a test that cannot go on should stop

mod guide;
mod metrics;
mod offsets; // a constant added to a feature must not matter
mod online;
mod oracle;
mod paper;
mod read;
mod rivals;
mod solver;
mod tune;
