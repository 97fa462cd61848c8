//! Metrics against the obvious way to compute them: pair by pair.

#![allow(clippy::unwrap_used)] // a test may panic, and so may what it calls

mod auc;
mod average_precision;
mod bucket;
mod clustered;
mod coverage;
mod criterion;
mod delong;
mod fading;
mod fall;
mod hand_till;
mod interval;
mod pairs;
mod parts;
mod recall_at_fpr;
mod roc;
mod weighted;
mod weighted_partial;
mod window;
