//! Which algorithm has which option.

use anyhow::Result;

use super::TrainArgs;
use ubauc::algorithm::Algorithm;

use super::SolverName;
use crate::algorithm::refuse_foreign;
use crate::args::WrongUsage;

use Algorithm::{BaUbauc, Logistic, OamGra, OamSeq, OlUbauc, Opauc, Solam, Svm, SvmOr};

impl TrainArgs {
    /// Refuses options that the algorithm does not have, by name.
    pub(super) fn refuse_options_of_others(&self) -> Result<()> {
        let ours: &[Algorithm] = &[BaUbauc, OlUbauc];
        let by_examples: &[Algorithm] = &[OlUbauc, Solam, Opauc, OamSeq, OamGra];
        let not_rivals: &[Algorithm] = &[BaUbauc, OlUbauc, Logistic];
        let (online, own) = (&self.online, &self.rivals);
        let options: &[(&str, bool, &[Algorithm])] = &[
            ("--solver", self.solver != SolverName::Newton, &[BaUbauc]),
            ("--beta", self.beta.is_some(), ours),
            ("--gamma", self.gamma.is_some(), not_rivals),
            ("--softness", self.softness.is_some(), ours),
            ("--class-weight", self.class_weight.is_some(), not_rivals),
            ("--group", self.training.group.is_some(), not_rivals),
            ("--least-squares", self.least_squares.is_some(), ours),
            ("--no-intercept", self.intercept.no_intercept, ours),
            (
                "--max-newton",
                self.max_newton.is_some(),
                &[BaUbauc, SvmOr, Logistic],
            ),
            ("--initial-model", self.initial_model.is_some(), not_rivals),
            ("--weight", self.training.weight.is_some(), not_rivals),
            (
                "--trace",
                self.trace,
                &[
                    BaUbauc, OlUbauc, Solam, Opauc, OamSeq, OamGra, SvmOr, Svm, Logistic,
                ],
            ),
            (
                "--passes",
                online.passes.is_some(),
                &[OlUbauc, Solam, Opauc, OamSeq, OamGra, Svm],
            ),
            ("--no-shuffle", online.no_shuffle, by_examples),
            ("--step", online.step.is_some(), &[OlUbauc]),
            ("--schedule", online.schedule.is_some(), &[OlUbauc]),
            ("--eta0", online.eta0.is_some(), &[OlUbauc]),
            ("--radius", online.radius.is_some(), &[OlUbauc, Solam]),
            ("--average-from", online.average_from.is_some(), &[OlUbauc]),
            ("--no-average", online.no_average, &[OlUbauc]),
            ("--zeta", own.zeta.is_some(), &[Solam]),
            ("--eta", own.eta.is_some(), &[Opauc]),
            ("--lambda", own.lambda.is_some(), &[Opauc]),
            ("--tau", own.tau.is_some(), &[Opauc]),
            ("--C", own.c.is_some(), &[OamSeq, OamGra, SvmOr, Svm]),
            ("--buffer", own.buffer.is_some(), &[OamSeq, OamGra]),
            ("--average", own.average, &[OamSeq, OamGra]),
        ];
        refuse_foreign(self.algorithm, options)?;
        if self.solver != SolverName::Newton && self.initial_model.is_some() {
            return Err(WrongUsage("--initial-model is for --solver newton".to_string()).into());
        }
        Ok(())
    }
}
