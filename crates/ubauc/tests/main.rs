//! Tests of the library from outside, one binary.
#![allow(clippy::unwrap_used)] // a test that cannot go on should stop

mod bits; // the numbers are those they were
mod columns; // maps of tables
mod glass_box; // additive maps, pairs, and what they say
mod guide;
mod many_classes; // a scorer for each
mod metrics;
mod model_file;
mod offsets; // a constant added to a feature must not matter
mod online;
mod oracle;
mod paper;
mod read;
mod rivals;
mod soft; // κ > 0, and logistic regression
mod solver;
mod tune;
