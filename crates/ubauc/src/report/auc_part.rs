//! AUC of a scorer with its interval, and numbers that are counts or weights.

use serde::{Serialize, Serializer};

use crate::metrics::{self, Auc, Sample, WeightedAuc};
use crate::{Error, Result};

/// AUC with its interval, of examples that count once or have weights.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AucPart {
    /// The AUC.
    pub auc: f64,
    /// Its estimated variance.
    pub variance: f64,
    /// Its 95 % interval.
    pub ci95: [f64; 2],
    /// Positive examples.
    pub n_pos: usize,
    /// Negative examples.
    pub n_neg: usize,
    /// Tied pairs; not of weighted examples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ties: Option<u128>,
    /// Half pairs won; not of weighted examples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_wins: Option<u128>,
    /// Weights of all negatives and all positives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<[f64; 2]>,
    /// Groups that the examples come in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_groups: Option<usize>,
}

impl From<Auc> for AucPart {
    fn from(found: Auc) -> AucPart {
        AucPart {
            auc: found.auc,
            variance: found.variance,
            ci95: found.ci95,
            n_pos: found.n_pos,
            n_neg: found.n_neg,
            ties: Some(found.ties),
            half_wins: Some(found.half_wins),
            weights: None,
            n_groups: None,
        }
    }
}

impl From<WeightedAuc> for AucPart {
    fn from(found: WeightedAuc) -> AucPart {
        AucPart {
            auc: found.auc,
            variance: found.variance,
            ci95: found.ci95,
            n_pos: found.n_pos,
            n_neg: found.n_neg,
            ties: None,
            half_wins: None,
            weights: Some([found.weight_neg, found.weight_pos]),
            n_groups: None,
        }
    }
}

impl AucPart {
    /// The usual one of a sample; of weights and groups together there is none.
    pub(super) fn of(sample: &Sample<'_>) -> Result<AucPart> {
        let Sample {
            scores, positive, ..
        } = *sample;
        Ok(match (sample.weights, sample.groups) {
            (Some(_), Some(_)) => {
                let what = "weights and groups: there is no interval of AUC for both".to_string();
                return Err(Error::Classes { what });
            }
            (Some(weights), None) => metrics::weighted_auc(scores, positive, weights)?.into(),
            (None, Some(groups)) => metrics::clustered_auc(scores, positive, groups)?.into(),
            (None, None) => metrics::auc(scores, positive)?.into(),
        })
    }

    /// Negatives and positives, as they count.
    pub fn totals(&self) -> [f64; 2] {
        self.weights
            .unwrap_or([self.n_neg as f64, self.n_pos as f64])
    }
}

/// A count is written as an integer, a weight with its digits.
pub(super) fn count<S: Serializer>(value: &f64, to: S) -> std::result::Result<S::Ok, S::Error> {
    match as_count(*value) {
        Some(n) => to.serialize_u64(n),
        None => to.serialize_f64(*value),
    }
}

/// The same of many.
pub(super) fn counts<S: Serializer>(values: &[f64], to: S) -> std::result::Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct One(#[serde(serialize_with = "count")] f64);
    to.collect_seq(values.iter().map(|value| One(*value)))
}

/// A number that a double holds exactly, if it is whole.
pub(super) fn as_count(value: f64) -> Option<u64> {
    let is_whole = value.fract() == 0.0 && (0.0..9e15).contains(&value);
    is_whole.then_some(value as u64)
}

/// How many different ones there are.
pub(super) fn number_of(groups: &[u32]) -> usize {
    let mut names = groups.to_vec();
    names.sort_unstable();
    names.dedup();
    names.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_and_groups_together_are_refused() {
        let sample = Sample {
            weights: Some(&[1.0, 2.0, 1.0, 1.0]),
            ..Sample::new(&[1.0, 2.0, 3.0, 4.0], &[false, true, false, true])
        };
        assert!(AucPart::of(&sample).is_ok());
        let both = Sample {
            groups: Some(&[0, 0, 1, 1]),
            ..sample
        };
        assert!(matches!(AucPart::of(&both), Err(Error::Classes { .. })));
    }
}
