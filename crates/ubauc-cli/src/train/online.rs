//! The options of `ubauc train` for online learners.

use std::num::NonZeroU64;

use clap::Args;
use serde::Serialize;
use ubauc::algorithm::{OlUbauc, Spec};
use ubauc::solver::ol_ubauc::OlUbaucParams;

use crate::names::{ScheduleName, StepName, name_of};

/// How the online learner goes about it; the names are those of `ubauc learn`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of online learners")]
pub(super) struct OnlineArgs {
    /// ol-ubauc, solam, svm: at most this many passes over the examples [default: 50; svm: 1000]; opauc, oam-seq, oam-gra:
    /// this many, unless the objective stands still [default: 1, as in their papers]
    #[arg(long, value_name = "N")]
    pub(super) passes: Option<usize>,
    /// Examples in the order of the file, not in a new random order in each pass
    #[arg(long)]
    pub(super) no_shuffle: bool,
    /// ol-ubauc: implicit cannot diverge; sgd is the paper's step [default: implicit]
    #[arg(long, value_enum)]
    pub(super) step: Option<StepName>,
    /// ol-ubauc: how the step after t examples becomes smaller: eta0/sqrt(t), eta0/t, or not at all [default: sqrt]
    #[arg(long, value_enum)]
    pub(super) schedule: Option<ScheduleName>,
    /// ol-ubauc: first step [default: found by trial on at most 1,000 examples]
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(super) eta0: Option<f64>,
    /// ol-ubauc, solam: keep |w| within this radius, in scaled features [default: ol-ubauc: none; solam: searched for]
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    pub(super) radius: Option<f64>,
    /// ol-ubauc: average the weights from this pass on, the first being 1 [default: 2]
    #[arg(long, value_name = "PASS")]
    pub(super) average_from: Option<NonZeroU64>,
    /// ol-ubauc: no average, the last weights count
    #[arg(long, conflicts_with = "average_from")]
    pub(super) no_average: bool,
}

impl OnlineArgs {
    fn step(&self) -> StepName {
        self.step.unwrap_or(StepName::Implicit)
    }

    fn schedule(&self) -> ScheduleName {
        self.schedule.unwrap_or(ScheduleName::Sqrt)
    }

    /// The steps of ol-ubauc.
    pub(super) fn steps(&self) -> OlUbaucParams {
        let default = OlUbaucParams::default();
        // The library counts the passes before the first that is averaged.
        let average = match self.average_from {
            Some(pass) => Some(pass.get() - 1),
            None if self.no_average => None,
            None => default.average,
        };
        OlUbaucParams {
            step: self.step().into(),
            rate: self.schedule().into(),
            eta0: self.eta0.unwrap_or(default.eta0),
            radius: self.radius,
            average,
            ..default
        }
    }

    /// The same, if it was ol-ubauc.
    pub(super) fn report_of(&self, spec: &Spec, eta0: Option<f64>) -> Option<OnlineReport> {
        match (spec, eta0) {
            (Spec::OlUbauc(spec), Some(eta0)) => Some(self.report(spec, eta0)),
            _ => None,
        }
    }

    /// What was done, by the names of the options.
    fn report(&self, spec: &OlUbauc, eta0: f64) -> OnlineReport {
        OnlineReport {
            eta0,
            step: name_of(self.step()),
            schedule: name_of(self.schedule()),
            radius: spec.params.radius,
            average_from: spec.params.average.map(|passes| passes + 1),
            shuffle: spec.passes.shuffle,
            seed: spec.passes.seed,
        }
    }
}

#[derive(Serialize)]
pub(super) struct OnlineReport {
    eta0: f64,
    step: String,
    schedule: String,
    radius: Option<f64>,
    /// The first pass that counts in the average; none without an average.
    average_from: Option<u64>,
    shuffle: bool,
    seed: u64,
}

impl std::fmt::Display for OnlineReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let over = match self.schedule.as_str() {
            "sqrt" => "/sqrt(t)",
            "inverse" => "/t",
            _ => "",
        };
        write!(f, "{}, {}{over}", self.step, self.eta0)?;
        if let Some(radius) = self.radius {
            write!(f, ", within {radius}")?;
        }
        match self.average_from {
            Some(pass) => write!(f, ", averaged from pass {pass} on"),
            None => write!(f, ", not averaged"),
        }
    }
}
