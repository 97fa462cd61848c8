//! The rivals: parameters by the names of their papers, and from the problem to the library.

use std::sync::Mutex;

use anyhow::Result;
use serde_json::{Value, json};
use ubauc::data::dataset::Dataset;
use ubauc::objective::univariate::l_tilde_min;
use ubauc::solver::linear_svm::{self, SvmParams};
use ubauc::solver::oam::{Oam, OamParams, Update};
use ubauc::solver::ol_ubauc::passes as ol_passes;
use ubauc::solver::opauc::{Opauc, OpaucParams, default_tau};
use ubauc::solver::passes::{self, OnlineGiven, PassPoint, Run};
use ubauc::solver::solam::{Solam, SolamParams};
use ubauc::solver::svm_or::{self, RoundPoint, SvmOrGiven, SvmOrParams};

use super::{Algorithm, Problem, Trace, Trained};
use crate::output::Output;
use crate::progress::{PASSES, Progress, STEPS};

/// Parameters that only rivals have; what is not given is searched for or has a default.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Own {
    /// SOLAM: the step is ζ/√t.
    pub(crate) zeta: Option<f64>,
    /// OPAUC: the step.
    pub(crate) eta: Option<f64>,
    /// OPAUC: λ/2 ‖w‖².
    pub(crate) lambda: Option<f64>,
    /// OPAUC: the rank of the covariances; 0 is full.
    pub(crate) tau: Option<usize>,
    /// OAM, SVM-OR, SVM: the weight of the loss.
    pub(crate) c: Option<f64>,
    /// OAM: examples kept of each class.
    pub(crate) buffer: Option<usize>,
    /// OAM: the mean of the weights after each example.
    pub(crate) average: bool,
}

impl Own {
    /// Sets what the algorithm has under that name; false if it has none, or if the value is none of its kind.
    pub(super) fn set(
        &mut self,
        algorithm: Algorithm,
        name: &str,
        value: f64,
        count: Option<usize>,
    ) -> bool {
        use Algorithm::{OamGra, OamSeq, Opauc, Solam, Svm, SvmOr};
        match (algorithm, name) {
            (Solam, "zeta") => self.zeta = Some(value),
            (Opauc, "eta") => self.eta = Some(value),
            (Opauc, "lambda") => self.lambda = Some(value),
            (Opauc, "tau") if count.is_some() => self.tau = count,
            (OamSeq | OamGra | SvmOr | Svm, "C") => self.c = Some(value),
            (OamSeq | OamGra, "buffer") if count.is_some() => self.buffer = count,
            _ => return false,
        }
        true
    }
}

/// An online learner between its passes.
pub(crate) trait Passing {
    /// One step on every example.
    fn pass(&mut self) -> Result<()>;
    /// What it minimises, at the weights that would be saved now.
    fn objective(&self) -> Result<f64>;
}

impl<L: passes::Online> Passing for Run<'_, L> {
    fn pass(&mut self) -> Result<()> {
        Run::pass(self);
        Ok(())
    }

    fn objective(&self) -> Result<f64> {
        Ok(Run::objective(self)?)
    }
}

impl Passing for ol_passes::Run<'_> {
    fn pass(&mut self) -> Result<()> {
        Ok(ol_passes::Run::pass(self)?)
    }

    fn objective(&self) -> Result<f64> {
        Ok(ol_passes::Run::objective(self)?)
    }
}

impl Problem {
    pub(super) fn solam(&self) -> SolamParams {
        let default = SolamParams::default();
        SolamParams {
            zeta: self.own.zeta.unwrap_or(default.zeta),
            radius: self.online.steps.radius.unwrap_or(default.radius),
        }
    }

    /// For so many features.
    pub(super) fn opauc(&self, d: usize) -> OpaucParams {
        let default = OpaucParams::default();
        OpaucParams {
            eta: self.own.eta.unwrap_or(default.eta),
            lambda: self.own.lambda.unwrap_or(default.lambda),
            tau: match self.own.tau {
                Some(0) => None,
                Some(tau) => Some(tau),
                None => default_tau(d),
            },
            seed: self.online.seed,
        }
    }

    pub(super) fn oam(&self) -> OamParams {
        let default = OamParams::default();
        OamParams {
            c: self.own.c.unwrap_or(default.c),
            buffer: self.own.buffer.unwrap_or(default.buffer),
            update: match self.algorithm {
                Algorithm::OamGra => Update::Gradient,
                _ => Update::Sequential,
            },
            seed: self.online.seed,
            average: self.own.average,
        }
    }

    pub(super) fn svm_or(&self) -> SvmOrParams {
        let default = SvmOrParams::default();
        SvmOrParams {
            c: self.own.c.unwrap_or(default.c),
            tolerance: self.tolerance(),
            max_rounds: self.max_newton.unwrap_or(default.max_rounds),
        }
    }

    pub(super) fn svm(&self) -> SvmParams {
        let default = SvmParams::default();
        SvmParams {
            c: self.own.c.unwrap_or(default.c),
            tolerance: self.tolerance(),
            max_passes: self.online.passes.unwrap_or(default.max_passes),
            seed: self.online.seed,
        }
    }

    /// By the names of the options.
    pub(super) fn own_parameters(&self) -> Vec<(&'static str, Value)> {
        match self.algorithm {
            Algorithm::Solam => {
                let SolamParams { zeta, radius } = self.solam();
                vec![("zeta", json!(zeta)), ("radius", json!(radius))]
            }
            Algorithm::Opauc => {
                let own = self.opauc(0);
                let mut named = vec![("eta", json!(own.eta)), ("lambda", json!(own.lambda))];
                named.extend(self.own.tau.map(|tau| ("tau", json!(tau))));
                named
            }
            Algorithm::OamSeq | Algorithm::OamGra => {
                let own = self.oam();
                let mut named = vec![("C", json!(own.c)), ("buffer", json!(own.buffer))];
                named.extend(own.average.then(|| ("average", json!(true))));
                named
            }
            Algorithm::SvmOr => vec![("C", json!(self.svm_or().c))],
            Algorithm::Svm => vec![("C", json!(self.svm().c))],
            Algorithm::BaUbauc | Algorithm::OlUbauc | Algorithm::Logistic => Vec::new(),
        }
    }

    pub(super) fn solam_learner(&self, data: &Dataset, divisors: Option<&[f64]>) -> Result<Solam> {
        Ok(Solam::of_rows(data.rows(), divisors, &self.solam())?)
    }

    pub(super) fn opauc_learner(&self, data: &Dataset) -> Result<Opauc> {
        let d = data.rows().cols();
        Ok(Opauc::new(d, &self.opauc(d))?)
    }

    pub(super) fn oam_learner(&self, data: &Dataset) -> Result<Oam> {
        Ok(Oam::new(data.rows().cols(), &self.oam())?)
    }

    pub(super) fn passing_online<'a>(
        &self,
        data: &'a Dataset,
        divisors: Option<&[f64]>,
        learner: impl passes::Online + 'a,
    ) -> Result<Box<dyn Passing + 'a>> {
        let shuffle = self.passes().shuffle;
        Ok(Box::new(Run::new(data, divisors, learner, shuffle)?))
    }

    pub(super) fn fit_online(
        &self,
        data: &Dataset,
        divisors: Option<&[f64]>,
        learner: impl passes::Online,
        output: Output,
    ) -> Result<Trained> {
        let passes = self.passes();
        let progress = Mutex::new(Progress::new(output, Some(passes.passes as u64), PASSES));
        let tell = |point: &PassPoint| {
            if let Ok(mut progress) = progress.lock() {
                let message = || format!("objective {:.6}", point.objective);
                progress.say(point.pass as u64, message);
            }
        };
        let given = OnlineGiven {
            divisors,
            progress: Some(&tell),
        };
        let fit = passes::fit(data, &given, learner, &passes)?;
        Ok(Trained {
            lambda: Some(l_tilde_min(&fit.scores, data.positive())?.lambda),
            weights: fit.weights,
            intercept: 0.0,
            objective: fit.objective,
            dual: None,
            gap: None,
            tied: None,
            newton: None,
            rounds: None,
            passes: Some(fit.passes),
            eta0: None,
            stop: fit.stop.name(),
            trace: Some(Trace::Passes(fit.trace)),
        })
    }

    pub(super) fn fit_svm_or(
        &self,
        data: &Dataset,
        divisors: Option<&[f64]>,
        output: Output,
    ) -> Result<Trained> {
        let progress = Mutex::new(Progress::new(output, None, STEPS));
        let tell = |point: &RoundPoint| {
            if let Ok(mut progress) = progress.lock() {
                progress.say(point.round as u64, || {
                    format!("round {}, gap {:.1e}", point.round, point.gap)
                });
            }
        };
        let given = SvmOrGiven {
            divisors,
            progress: Some(&tell),
        };
        let fit = svm_or::fit(data, &given, &self.svm_or())?;
        Ok(Trained {
            lambda: Some(l_tilde_min(&fit.scores, data.positive())?.lambda),
            weights: fit.weights,
            intercept: 0.0,
            objective: fit.objective,
            dual: Some(fit.dual),
            gap: Some(fit.gap),
            tied: None,
            newton: None,
            rounds: Some(fit.rounds),
            passes: None,
            eta0: None,
            stop: fit.stop.name(),
            trace: Some(Trace::Bundle(fit.trace)),
        })
    }

    pub(super) fn fit_svm(&self, data: &Dataset, divisors: Option<&[f64]>) -> Result<Trained> {
        let fit = linear_svm::fit(data, divisors, &self.svm())?;
        Ok(Trained {
            weights: fit.weights,
            intercept: fit.intercept,
            lambda: None,
            objective: fit.objective,
            dual: Some(fit.dual),
            gap: Some(fit.gap),
            tied: None,
            newton: None,
            rounds: None,
            passes: Some(fit.passes),
            eta0: None,
            stop: if fit.converged {
                "converged"
            } else {
                "max_passes"
            },
            trace: Some(Trace::Svm(fit.trace)),
        })
    }
}
