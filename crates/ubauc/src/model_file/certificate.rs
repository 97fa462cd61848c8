//! What is known of the training of a model.

use serde::{Deserialize, Serialize};

use crate::algorithm::Stop;

/// How near the optimum a model is, and on how many examples it was found. An algorithm leaves out what it does not know.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Certificate {
    /// What was minimised, at the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<f64>,
    /// A lower bound of its minimum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dual: Option<f64>,
    /// The most by which the objective can be above its minimum, as a share of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// Why the solver stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// The interval of thresholds λ that minimise the bound, in units of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda: Option<[f64; 2]>,
    /// Examples tied at the threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tied: Option<u64>,
    /// Steps of an online learner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// AUC of a stream whose examples were scored before they were learned …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progressive_auc: Option<f64>,
    /// … and how far it can be from the exact value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_bound: Option<f64>,
    /// Examples.
    pub n: u64,
    /// Those of the positive class.
    pub n_pos: u64,
    /// Those of the negative class.
    pub n_neg: u64,
}
