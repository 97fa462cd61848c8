//! The online algorithms on a stream: an example at a time, each scored before it is learned.

use serde::{Deserialize, Serialize};

use super::{Algorithm, RivalLearner, Spec};
use crate::data::rows::Row;
use crate::data::scale::Scale;
use crate::solver::ol_ubauc::{self, RunningScale, eta0};
use crate::{Error, Result};

/// An online algorithm, and what it has learned so far. Written and read bit for bit, it goes on as if nothing had been;
/// a state that no learner can be in is refused.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Learner {
    /// ol-UBAUC.
    OlUbauc(Box<ol_ubauc::Learner>),
    /// SOLAM, OPAUC, OAMseq or OAMgra.
    Rival(Box<RivalLearner>),
}

impl Learner {
    /// A learner that has seen nothing. It has room for features 1 … `cols`, and makes more as they come. Passes of the spec
    /// mean nothing in a stream; of its scales there are none and the largest values so far.
    pub fn new(spec: &Spec, cols: usize) -> Result<Learner> {
        match spec {
            Spec::OlUbauc(spec) => {
                let scale = match is_scaled(spec.scale)? {
                    true => RunningScale::MaxAbs,
                    false => RunningScale::None,
                };
                let learner = ol_ubauc::Learner::new(&spec.params, scale)?;
                Ok(Learner::OlUbauc(Box::new(learner)))
            }
            _ => Ok(Learner::Rival(Box::new(RivalLearner::new(spec, cols)?))),
        }
    }

    /// Its name.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Learner::OlUbauc(_) => Algorithm::OlUbauc,
            Learner::Rival(learner) => learner.algorithm(),
        }
    }

    /// The score of a raw row by the weights that would be saved now.
    pub fn score(&self, row: Row<'_>) -> f64 {
        match self {
            Learner::OlUbauc(learner) => learner.score(row),
            Learner::Rival(learner) => learner.score(row),
        }
    }

    /// Learns from an example, and answers its score before that. Rivals refuse any weight but 1.
    pub fn learn(&mut self, row: Row<'_>, positive: bool, weight: f64) -> Result<f64> {
        match self {
            Learner::OlUbauc(learner) => learner.learn(row, positive, weight),
            Learner::Rival(_) if weight != 1.0 => Err(Error::Parameter {
                name: "weight",
                value: weight.to_string(),
                must: "1: the algorithm has no sample weights",
            }),
            Learner::Rival(learner) => learner.score_and_learn(row, positive),
        }
    }

    /// η₀ of ol-UBAUC by trial on the first examples of the stream; the others have no such step.
    pub fn find_eta0(&mut self, examples: &[(Row<'_>, bool)]) -> Result<()> {
        if let Learner::OlUbauc(learner) = self {
            let eta0 = eta0::choose_from(examples, learner.params(), learner.scale())?;
            learner.set_eta0(eta0);
        }
        Ok(())
    }

    /// η₀ of ol-UBAUC.
    pub fn eta0(&self) -> Option<f64> {
        match self {
            Learner::OlUbauc(learner) => Some(learner.params().eta0),
            Learner::Rival(_) => None,
        }
    }

    /// The weights for raw features, one for each of [`Learner::cols`]. Refuses weights that have left the numbers.
    pub fn weights(&self) -> Result<Vec<f64>> {
        match self {
            Learner::OlUbauc(learner) => Ok(learner.weights()),
            Learner::Rival(learner) => learner.weights(),
        }
    }

    /// b; 0 of the rivals, which have none.
    pub fn intercept(&self) -> f64 {
        match self {
            Learner::OlUbauc(learner) => learner.intercept(),
            Learner::Rival(_) => 0.0,
        }
    }

    /// The threshold in units of the score: λ + b of ol-UBAUC, halfway between the mean scores of the classes of the others.
    pub fn threshold(&self) -> f64 {
        match self {
            Learner::OlUbauc(learner) => learner.lambda() + learner.intercept(),
            Learner::Rival(learner) => learner.threshold(),
        }
    }

    /// Steps taken: examples of a weight above 0.
    pub fn steps(&self) -> u64 {
        match self {
            Learner::OlUbauc(learner) => learner.steps(),
            Learner::Rival(learner) => learner.steps(),
        }
    }

    /// Features so far.
    pub fn cols(&self) -> usize {
        match self {
            Learner::OlUbauc(learner) => learner.cols(),
            Learner::Rival(learner) => learner.cols(),
        }
    }
}

/// Whether a stream is scaled; a scale that needs the whole data is refused.
pub(super) fn is_scaled(scale: Scale) -> Result<bool> {
    match scale {
        Scale::None => Ok(false),
        Scale::MaxAbs => Ok(true),
        Scale::Standard => Err(Error::Parameter {
            name: "scale",
            value: "standard".to_string(),
            must: "none or maxabs in a stream",
        }),
    }
}
