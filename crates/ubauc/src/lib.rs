//! Learn and judge scoring functions by AUC, without comparing pairs of examples.
//!
//! AUC counts how often a positive example outscores a negative one. Modules in the order of the
//! data flow:
//!
//! | module | what |
//! |---|---|
//! | [`read`] | bytes → examples: svmlight, CSV, Parquet; plain or compressed |
//! | [`data`] | what the mathematics may assume: finite rows, labels of two classes |
//! | [`features`] | raw rows → the features that weights belong to; part of a model |
//! | [`objective`] | what is bounded and minimised: AUC risk, the univariate bound, Eq. (8) |
//! | [`solver`] | how it is minimised |
//! | [`algorithm`] | every algorithm by name, its parameters, and one function that fits any of them |
//! | [`many_classes`] | more than two classes: one scorer for each, trained for Hand and Till's mean of AUCs |
//! | [`glass_box`] | tables of bins and pairs, and what a model says of each |
//! | [`tune`] | the loss, γ and the map of a table by cross-validated AUC |
//! | [`model`], [`model_file`] | what results: a scorer of raw rows; and its file |
//! | [`container`] | the binary format of messages, states and checkpoints |
//! | [`calibrate`] | scores → probabilities of the same order |
//! | [`metrics`] | scores and labels in, AUC with its statistics out; stands alone |
//! | [`report`] | one HTML page: how good a scorer is, what it looks at, where to cut |
//! | [`export`] | a model as Python, SQL, ONNX or a file of LIBLINEAR |
//! | [`document`] | reports of facts, tables and figures → text, Markdown, HTML; stands alone |
//!
//! `docs/paper.md` maps the equations of the paper to these files, and lists its errata.

pub mod algorithm;
pub mod atomic;
pub mod calibrate;
pub mod checksum;
pub mod container;
pub mod data;
pub mod document;
mod error;
pub mod export;
pub mod features;
mod forgetting;
pub mod glass_box;
pub mod many_classes;
pub mod metrics;
pub mod model;
pub mod model_file;
pub mod objective;
pub mod read;
pub mod report;
pub mod solver;
pub mod tune;

pub use error::{Error, Result};
