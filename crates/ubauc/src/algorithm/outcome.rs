//! What a fit leaves behind: a model that scores raw rows, and how near the optimum it is.

use serde::{Deserialize, Serialize};

use crate::data::dataset::Dataset;
use crate::model::Model;
use crate::model_file::Certificate;
use crate::solver::ba_ubauc::TracePoint;
use crate::solver::linear_svm::SvmPoint;
use crate::solver::passes::PassPoint;
use crate::solver::svm_or::RoundPoint;

/// Why it stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// As near to the minimum as was asked for: certified.
    Converged,
    /// The same by an estimate of the gap.
    Estimated,
    /// Rounding, or block descent (E12), stopped all progress before.
    Stalled,
    /// The Newton steps ran out.
    MaxNewton,
    /// The rounds ran out.
    MaxRounds,
    /// A subproblem could not be solved.
    Unsolved,
    /// The objective no longer changes from pass to pass.
    Still,
    /// The passes ran out.
    MaxPasses,
    /// A callback of the caller ended the fit.
    Callback,
}

impl Stop {
    /// As files and reports have it.
    pub fn name(self) -> &'static str {
        match self {
            Stop::Converged => "converged",
            Stop::Estimated => "estimated",
            Stop::Stalled => "stalled",
            Stop::MaxNewton => "max_newton",
            Stop::MaxRounds => "max_rounds",
            Stop::Unsolved => "unsolved",
            Stop::Still => "still",
            Stop::MaxPasses => "max_passes",
            Stop::Callback => "callback",
        }
    }
}

/// One step, round or pass, for a progress callback.
#[derive(Debug, Clone, Copy)]
pub enum Progress {
    /// A Newton step.
    Newton(TracePoint),
    /// A round of the bundle method.
    Round(RoundPoint),
    /// A pass over the examples.
    Pass(PassPoint),
}

/// Every step, round or pass.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Trace {
    /// Newton steps of ba-UBAUC.
    Newton(Vec<TracePoint>),
    /// The objective of block descent at the start and after each round.
    Rounds(Vec<f64>),
    /// Passes of an online learner.
    Passes(Vec<PassPoint>),
    /// Rounds of the bundle method.
    Bundle(Vec<RoundPoint>),
    /// Evaluations of the support vector machine.
    Svm(Vec<SvmPoint>),
    /// Nothing is kept.
    None,
}

/// What was learned; the objective of ba-ubauc, ol-ubauc and logistic in mean form.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Scores raw rows and decides; not calibrated.
    pub model: Model,
    /// How near the optimum it is.
    pub certificate: Certificate,
    /// What it took.
    pub effort: Effort,
    /// Why it stopped.
    pub stop: Stop,
    /// Every step, round or pass.
    pub trace: Trace,
}

/// The work of a fit, as far as its algorithm counts it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Effort {
    /// Newton steps.
    pub newton: Option<usize>,
    /// Rounds of block descent or of the bundle method.
    pub rounds: Option<usize>,
    /// Passes over the examples.
    pub passes: Option<usize>,
    /// η₀ of ol-ubauc, given or found.
    pub eta0: Option<f64>,
}

/// What a model keeps of the examples that it was learned from.
#[derive(Debug, Clone, Copy)]
pub struct TrainingSet<'a> {
    /// What the data calls the negative and the positive class.
    pub classes: &'a [String; 2],
    /// Names of the columns, or none.
    pub names: &'a [String],
    /// Positive examples.
    pub n_pos: usize,
    /// Negative examples.
    pub n_neg: usize,
}

impl<'a> From<&'a Dataset> for TrainingSet<'a> {
    fn from(data: &'a Dataset) -> TrainingSet<'a> {
        TrainingSet {
            classes: data.class_names(),
            names: data.names(),
            n_pos: data.n_pos(),
            n_neg: data.n_neg(),
        }
    }
}

/// The weights and numbers of a solver, in units of the data.
pub(super) struct Solution {
    /// For the raw features.
    pub(super) weights: Vec<f64>,
    /// b, 0 without.
    pub(super) intercept: f64,
    /// The interval of best thresholds, in units of the score w·x + b; none where a score of 0 is the threshold.
    pub(super) lambda: Option<[f64; 2]>,
    pub(super) objective: f64,
    /// A lower bound of the minimum of the objective.
    pub(super) dual: Option<f64>,
    /// Their relative distance.
    pub(super) gap: Option<f64>,
    /// Examples tied at the threshold.
    pub(super) tied: Option<usize>,
    pub(super) effort: Effort,
    pub(super) stop: Stop,
    pub(super) trace: Trace,
}

impl Solution {
    /// The model of these examples, whose threshold is the middle of the best ones.
    pub(super) fn outcome(self, examples: &TrainingSet<'_>) -> Outcome {
        let TrainingSet {
            classes,
            names,
            n_pos,
            n_neg,
        } = *examples;
        Outcome {
            model: Model {
                weights: self.weights,
                intercept: self.intercept,
                // Without overflow.
                threshold: self
                    .lambda
                    .map_or(0.0, |[low, high]| low + (high - low) / 2.0),
                classes: classes.clone(),
                names: names.to_vec(),
                ..Model::default()
            },
            certificate: Certificate {
                objective: Some(self.objective),
                dual: self.dual,
                gap: self.gap,
                stop: Some(self.stop),
                lambda: self.lambda,
                tied: self.tied.map(|n| n as u64),
                n: (n_pos + n_neg) as u64,
                n_pos: n_pos as u64,
                n_neg: n_neg as u64,
                ..Certificate::default()
            },
            effort: self.effort,
            stop: self.stop,
            trace: self.trace,
        }
    }
}
