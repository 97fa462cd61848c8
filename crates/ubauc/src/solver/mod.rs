//! How an objective is minimised.

pub mod logistic;
