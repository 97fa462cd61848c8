//! What a search maximises, by one name: `auc`, `partial-auc:F` or `average-precision`.
//!
//! The name is the text on the command line and in JSON alike.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{
    RocPart, auc, average_precision, partial_auc, weighted_auc, weighted_average_precision,
    weighted_partial_auc,
};
use crate::{Error, Result};

/// A number between 0 and 1 that says how good scores are; 1 is perfect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Criterion {
    /// AUC.
    #[default]
    Auc,
    /// McClish's standardised area up to a false positive rate.
    PartialAuc {
        /// The largest false positive rate that counts, in (0, 1].
        max_fpr: f64,
    },
    /// Average precision.
    AveragePrecision,
}

impl Criterion {
    /// Its value for `scores`, with a weight for each example if there are any.
    pub fn of(&self, scores: &[f64], positive: &[bool], weights: Option<&[f64]>) -> Result<f64> {
        match (*self, weights) {
            (Self::Auc, None) => Ok(auc(scores, positive)?.auc),
            (Self::Auc, Some(weights)) => Ok(weighted_auc(scores, positive, weights)?.auc),
            (Self::PartialAuc { max_fpr }, weights) => {
                let part = RocPart::MaxFpr(max_fpr);
                let found = match weights {
                    None => partial_auc(scores, positive, part),
                    Some(weights) => weighted_partial_auc(scores, positive, weights, part),
                };
                Ok(found?.standardised)
            }
            (Self::AveragePrecision, None) => average_precision(scores, positive),
            (Self::AveragePrecision, Some(weights)) => {
                weighted_average_precision(scores, positive, weights)
            }
        }
    }
}

impl FromStr for Criterion {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let partial = |rate: &str| {
            let max_fpr = rate.parse::<f64>().ok()?;
            (max_fpr > 0.0 && max_fpr <= 1.0).then_some(Self::PartialAuc { max_fpr })
        };
        let found = match text {
            "auc" => Some(Self::Auc),
            "average-precision" => Some(Self::AveragePrecision),
            _ => text.strip_prefix("partial-auc:").and_then(partial),
        };
        found.ok_or_else(|| Error::Parameter {
            name: "criterion",
            value: text.to_owned(),
            must: "auc, partial-auc:F with F above 0 and at most 1 (partial-auc:0.05), or \
                   average-precision",
        })
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auc => f.pad("auc"),
            Self::PartialAuc { max_fpr } => f.pad(&format!("partial-auc:{max_fpr}")),
            Self::AveragePrecision => f.pad("average-precision"),
        }
    }
}

impl TryFrom<String> for Criterion {
    type Error = Error;
    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Criterion> for String {
    fn from(criterion: Criterion) -> Self {
        criterion.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_the_same_on_the_command_line_and_in_json() {
        let criteria = [
            (Criterion::Auc, "auc"),
            (Criterion::PartialAuc { max_fpr: 0.05 }, "partial-auc:0.05"),
            (Criterion::PartialAuc { max_fpr: 1.0 }, "partial-auc:1"),
            (Criterion::AveragePrecision, "average-precision"),
        ];
        for (criterion, name) in criteria {
            assert_eq!(criterion.to_string(), name);
            assert_eq!(name.parse::<Criterion>().unwrap(), criterion);
            let json = serde_json::to_string(&criterion).unwrap();
            assert_eq!(json, format!("\"{name}\""));
            assert_eq!(serde_json::from_str::<Criterion>(&json).unwrap(), criterion);
        }
        assert_eq!(format!("[{:>5}]", Criterion::Auc), "[  auc]");
    }

    #[test]
    fn other_names_are_refused_with_those_that_there_are() {
        for wrong in [
            "",
            "AUC",
            "auc ",
            "partial-auc",
            "partial-auc:",
            "partial-auc:0",
            "partial-auc:-0.1",
            "partial-auc:1.01",
            "partial-auc:NaN",
            "partial-auc:inf",
            "partial-auc:5%",
            "average-precision:0.5",
        ] {
            let error = wrong.parse::<Criterion>().unwrap_err();
            assert!(matches!(error, Error::Parameter { .. }), "{wrong}");
            let expected =
                format!("criterion = {wrong}: must be auc, partial-auc:F with F above 0");
            assert!(error.to_string().starts_with(&expected), "{error}");
            let json = serde_json::to_string(wrong).unwrap();
            let refused = serde_json::from_str::<Criterion>(&json).unwrap_err();
            assert!(
                refused.to_string().contains("average-precision"),
                "{refused}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_rate_is_read_as_it_was_written(max_fpr in 0.0..=1.0_f64) {
            prop_assume!(max_fpr > 0.0);
            let criterion = Criterion::PartialAuc { max_fpr };
            prop_assert_eq!(criterion.to_string().parse::<Criterion>().unwrap(), criterion);
        }
    }
}
