//! Names of options that more than one command takes.

use clap::ValueEnum;
use ubauc::data::scale::Scale;
use ubauc::objective::ubauc::LeastSquares;
use ubauc::solver::ol_ubauc::{Rate, Step};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LeastSquaresName {
    Plain,
    Balanced,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScaleName {
    None,
    Maxabs,
    Standard,
}

impl From<ScaleName> for Scale {
    fn from(name: ScaleName) -> Scale {
        match name {
            ScaleName::None => Scale::None,
            ScaleName::Maxabs => Scale::MaxAbs,
            ScaleName::Standard => Scale::Standard,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StepName {
    Implicit,
    Sgd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScheduleName {
    Sqrt,
    Inverse,
    Constant,
}

impl From<LeastSquaresName> for LeastSquares {
    fn from(name: LeastSquaresName) -> LeastSquares {
        match name {
            LeastSquaresName::Plain => LeastSquares::Plain,
            LeastSquaresName::Balanced => LeastSquares::Balanced,
        }
    }
}

impl From<StepName> for Step {
    fn from(name: StepName) -> Step {
        match name {
            StepName::Implicit => Step::Implicit,
            StepName::Sgd => Step::Sgd,
        }
    }
}

impl From<ScheduleName> for Rate {
    fn from(name: ScheduleName) -> Rate {
        match name {
            ScheduleName::Sqrt => Rate::InverseSqrt,
            ScheduleName::Inverse => Rate::Inverse,
            ScheduleName::Constant => Rate::Constant,
        }
    }
}

/// The name under which an option is typed.
pub(crate) fn name_of(value: impl ValueEnum) -> String {
    let known = value.to_possible_value();
    known.map_or_else(String::new, |v| v.get_name().to_string())
}
