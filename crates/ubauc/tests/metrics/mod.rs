//! Metrics against the obvious way to compute them: pair by pair.

#![allow(clippy::unwrap_used)] // a test may panic, and so may what it calls

mod auc;
mod bucket;
mod delong;
mod hand_till;
mod pairs;
mod parts;
mod roc;
mod weighted;
