//! The online algorithms in passes over a data set: from a spec to the learner, and back.

use super::outcome::Solution;
use super::{Effort, FitInputs, Oam, OlUbauc, Opauc, PassSpec, Progress, Solam, Spec, Stop, Trace};
use crate::Result;
use crate::data::dataset::Dataset;
use crate::data::rows::Row;
use crate::objective::univariate::l_tilde_min;
use crate::solver::oam::{self, Update};
use crate::solver::ol_ubauc::passes::{self as ol_passes, PassesInputs};
use crate::solver::ol_ubauc::{OlUbaucParams, eta0};
use crate::solver::passes::{self, Online, OnlineInputs, PassPoint, Passing, Run, Scored};
use crate::solver::{opauc, solam};

/// A spec of a learner that the common pass loop drives.
pub(super) trait Learns {
    type Learner: Online;

    /// A learner that has seen nothing.
    fn learner(&self, data: &Dataset, divisors: Option<&[f64]>) -> Result<Self::Learner>;
    fn passes(&self) -> &PassSpec;
}

impl Learns for Solam {
    type Learner = solam::Solam;

    fn learner(&self, data: &Dataset, divisors: Option<&[f64]>) -> Result<solam::Solam> {
        solam::Solam::of_rows(data.rows(), divisors, &self.params)
    }

    fn passes(&self) -> &PassSpec {
        &self.passes
    }
}

impl Learns for Opauc {
    type Learner = opauc::Opauc;

    fn learner(&self, data: &Dataset, _: Option<&[f64]>) -> Result<opauc::Opauc> {
        let d = data.rows().cols();
        opauc::Opauc::new(d, &self.params(d))
    }

    fn passes(&self) -> &PassSpec {
        &self.passes
    }
}

/// OAM by one of its two updates.
pub(super) struct OamBy<'a>(pub(super) &'a Oam, pub(super) Update);

impl Learns for OamBy<'_> {
    type Learner = oam::Oam;

    fn learner(&self, data: &Dataset, _: Option<&[f64]>) -> Result<oam::Oam> {
        oam::Oam::new(data.rows().cols(), &self.0.params(self.1))
    }

    fn passes(&self) -> &PassSpec {
        &self.0.passes
    }
}

impl From<passes::Stop> for Stop {
    fn from(stop: passes::Stop) -> Stop {
        match stop {
            passes::Stop::Still => Stop::Still,
            passes::Stop::MaxPasses => Stop::MaxPasses,
        }
    }
}

pub(super) fn passes(
    data: &Dataset,
    inputs: &FitInputs<'_>,
    divisors: Option<&[f64]>,
    spec: &impl Learns,
) -> Result<Solution> {
    let progress = pass_progress(inputs);
    let given = OnlineInputs {
        divisors,
        progress: Some(&progress),
    };
    let learner = Watched {
        learner: spec.learner(data, divisors)?,
        before_example: inputs.before_example,
    };
    let fit = passes::fit(data, &given, learner, &spec.passes().passes())?;
    Ok(Solution {
        lambda: Some(l_tilde_min(&fit.scores, data.positive())?.lambda),
        weights: fit.weights,
        intercept: 0.0,
        objective: fit.objective,
        dual: None,
        gap: None,
        tied: None,
        effort: Effort {
            passes: Some(fit.passes),
            ..Effort::default()
        },
        stop: fit.stop.into(),
        trace: Trace::Passes(fit.trace),
    })
}

/// A learner that calls somebody before every example.
struct Watched<'a, L> {
    learner: L,
    before_example: Option<&'a (dyn Fn() + Sync)>,
}

impl<L: Online> Online for Watched<'_, L> {
    #[inline]
    fn learn(&mut self, x: Row<'_>, positive: bool) {
        if let Some(before_example) = self.before_example {
            before_example();
        }
        self.learner.learn(x, positive);
    }

    fn weights(&self) -> Vec<f64> {
        self.learner.weights()
    }

    fn objective(&self, at: &Scored<'_>) -> f64 {
        self.learner.objective(at)
    }
}

fn pass_progress<'a>(inputs: &'a FitInputs<'_>) -> impl Fn(&PassPoint) + Sync + 'a {
    |point| {
        if let Some(progress) = inputs.progress {
            progress(&Progress::Pass(*point));
        }
    }
}

pub(super) fn ol_ubauc(
    data: &Dataset,
    inputs: &FitInputs<'_>,
    divisors: Option<&[f64]>,
    spec: &OlUbauc,
) -> Result<Solution> {
    let progress = pass_progress(inputs);
    let given = PassesInputs {
        weights: inputs.weights,
        divisors,
        start: inputs.start,
        progress: Some(&progress),
    };
    let params = with_eta0(data, &given, spec)?;
    let fit = ol_passes::fit(data, &given, &params, &spec.passes.passes())?;
    Ok(Solution {
        lambda: Some(fit.lambda.map(|l| l + fit.intercept)),
        weights: fit.weights,
        intercept: fit.intercept,
        objective: fit.objective,
        dual: None,
        gap: None,
        tied: Some(fit.tied),
        effort: Effort {
            passes: Some(fit.passes),
            eta0: Some(params.eta0),
            ..Effort::default()
        },
        stop: fit.stop.into(),
        trace: Trace::Passes(fit.trace),
    })
}

fn with_eta0(data: &Dataset, given: &PassesInputs<'_>, spec: &OlUbauc) -> Result<OlUbaucParams> {
    let eta0 = match spec.finds_eta0 {
        true => eta0::choose(data, given, &spec.params, spec.passes.seed)?,
        false => spec.params.eta0,
    };
    Ok(OlUbaucParams {
        eta0,
        ..spec.params
    })
}

impl Spec {
    /// An online learner, ready for its passes; none if the algorithm makes none.
    pub fn passing<'a>(
        &self,
        data: &'a Dataset,
        divisors: Option<&'a [f64]>,
    ) -> Result<Option<Box<dyn Passing + 'a>>> {
        fn run<'a, S: Learns>(
            spec: &S,
            data: &'a Dataset,
            divisors: Option<&'a [f64]>,
        ) -> Result<Option<Box<dyn Passing + 'a>>>
        where
            S::Learner: 'a,
        {
            let (learner, shuffle) = (
                spec.learner(data, divisors)?,
                spec.passes().passes().shuffle,
            );
            Ok(Some(Box::new(Run::new(data, divisors, learner, shuffle)?)))
        }
        match self {
            Spec::OlUbauc(spec) => {
                let given = PassesInputs {
                    divisors,
                    ..PassesInputs::default()
                };
                let params = with_eta0(data, &given, spec)?;
                let shuffle = spec.passes.passes().shuffle;
                let run = ol_passes::Run::new(data, &given, &params, shuffle)?;
                Ok(Some(Box::new(run)))
            }
            Spec::Solam(spec) => run(spec, data, divisors),
            Spec::Opauc(spec) => run(spec, data, divisors),
            Spec::OamSeq(spec) => run(&OamBy(spec, Update::Sequential), data, divisors),
            Spec::OamGra(spec) => run(&OamBy(spec, Update::Gradient), data, divisors),
            Spec::BaUbauc(_) | Spec::SvmOr(_) | Spec::Svm(_) | Spec::Logistic(_) => Ok(None),
        }
    }
}
