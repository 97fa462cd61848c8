//! The algorithms by name: one place that knows them all.

mod rivals;
mod search;
mod ubauc;

use std::collections::BTreeMap;

use ::ubauc::data::dataset::Dataset;
use ::ubauc::data::scale::{Origin, Scale};
use ::ubauc::objective::ubauc::LeastSquares;
use ::ubauc::solver::ba_ubauc::{BaUbaucParams, Given, TracePoint};
use ::ubauc::solver::linear_svm::{SvmParams, SvmPoint};
use ::ubauc::solver::logistic::LogisticParams;
use ::ubauc::solver::ol_ubauc::OlUbaucParams;
use ::ubauc::solver::ol_ubauc::passes::{PassesGiven, Start};
use ::ubauc::solver::passes::{PassPoint, Passes};
use ::ubauc::solver::svm_or::{RoundPoint, SvmOrParams};
use anyhow::Result;
use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};

use crate::output::Output;

pub(crate) use rivals::{Own, Passing};
pub(crate) use search::{Best, Judged, best_of, complete, judged, product};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Algorithm {
    /// The univariate bound of AUC, minimised with a proof
    BaUbauc,
    /// The same bound, by passes of the online learner: fast, without a proof
    OlUbauc,
    /// Pairwise square loss as a saddle point, online [Ying, Wen, Lyu 2016]
    Solam,
    /// Pairwise square loss by means and covariances, one pass [Gao et al. 2013]
    Opauc,
    /// Pairwise hinge against a buffer, passive-aggressive steps [Zhao et al. 2011]
    OamSeq,
    /// Pairwise hinge against a buffer, gradient steps [Zhao et al. 2011]
    OamGra,
    /// Pairwise hinge over all pairs, minimised with a proof [Joachims 2005]
    SvmOr,
    /// Linear support vector machine, minimised with a proof; always with an intercept
    Svm,
    /// Logistic regression, the baseline; always with an intercept
    Logistic,
}

impl Algorithm {
    /// Whether it minimises P of beta, gamma and the least squares.
    pub(crate) fn is_ubauc(self) -> bool {
        matches!(self, Algorithm::BaUbauc | Algorithm::OlUbauc)
    }

    /// Whether it is defined by a paper other than ours: parameters of its own, no sample weights, no start.
    pub(crate) fn is_rival(self) -> bool {
        !self.is_ubauc() && self != Algorithm::Logistic
    }

    /// Whether it learns from one example at a time.
    pub(crate) fn is_online(self) -> bool {
        use Algorithm::{OamGra, OamSeq, OlUbauc, Opauc, Solam};
        matches!(self, OlUbauc | Solam | Opauc | OamSeq | OamGra)
    }

    /// Passes over the examples where nothing else is said: one where its paper makes one.
    pub(crate) fn passes(self) -> usize {
        match self {
            Algorithm::Opauc | Algorithm::OamSeq | Algorithm::OamGra => 1,
            Algorithm::Svm => SvmParams::default().max_passes,
            _ => Passes::default().passes,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Solver {
    /// Augmented Lagrangian and semismooth Newton steps
    Newton,
    /// The paper's block descent, for small data; it may stop short of the optimum
    #[cfg(feature = "bcd")]
    Bcd,
}

/// What to fit, every number known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Problem {
    pub(crate) algorithm: Algorithm,
    pub(crate) solver: Solver,
    pub(crate) beta: f64,
    pub(crate) gamma: f64,
    pub(crate) least_squares: LeastSquares,
    pub(crate) intercept: bool,
    pub(crate) scale: Scale,
    pub(crate) tolerance: Option<f64>,
    /// Newton steps or rounds.
    pub(crate) max_newton: Option<usize>,
    pub(crate) online: Online,
    /// Parameters of the rivals.
    pub(crate) own: Own,
}

/// How online learners go about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Online {
    /// The steps of ol-ubauc; beta, gamma and the least squares are the problem's. The radius is SOLAM's too.
    pub(crate) steps: OlUbaucParams,
    /// η₀ is found by trial.
    pub(crate) finds_eta0: bool,
    /// At most so many.
    pub(crate) passes: Option<usize>,
    /// Rows in a new random order in each pass.
    pub(crate) shuffles: bool,
    /// Of the order, of the examples that η₀ is tried on, of buffers and sketches.
    pub(crate) seed: u64,
}

impl Problem {
    /// With the values that stand in the help.
    pub(crate) fn new(algorithm: Algorithm) -> Problem {
        Problem {
            algorithm,
            solver: Solver::Newton,
            beta: 0.5,
            gamma: 1e-4,
            least_squares: LeastSquares::Plain,
            intercept: true,
            scale: Scale::None,
            tolerance: None,
            max_newton: None,
            online: Online {
                steps: OlUbaucParams::default(),
                finds_eta0: true,
                passes: None,
                shuffles: true,
                seed: 0,
            },
            own: Own::default(),
        }
    }
}

/// What came of it, in units of the data; P of ba-ubauc, ol-ubauc and logistic in mean form.
pub(crate) struct Trained {
    pub(crate) weights: Vec<f64>,
    pub(crate) intercept: f64,
    /// The interval of best thresholds, in units of the score.
    pub(crate) lambda: Option<[f64; 2]>,
    pub(crate) objective: f64,
    pub(crate) dual: Option<f64>,
    pub(crate) gap: Option<f64>,
    pub(crate) tied: Option<usize>,
    pub(crate) newton: Option<usize>,
    /// Rounds of block descent or of the bundle method.
    pub(crate) rounds: Option<usize>,
    /// Passes over the examples.
    pub(crate) passes: Option<usize>,
    /// η₀ of ol-ubauc.
    pub(crate) eta0: Option<f64>,
    pub(crate) stop: &'static str,
    pub(crate) trace: Option<Trace>,
}

/// What the solver went through.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Trace {
    Newton(Vec<TracePoint>),
    /// The objective at the start and after each round.
    #[cfg(feature = "bcd")]
    Rounds(Vec<f64>),
    Passes(Vec<PassPoint>),
    Bundle(Vec<RoundPoint>),
    Svm(Vec<SvmPoint>),
}

impl Problem {
    /// Refuses parameters by name, before anything is read.
    pub(crate) fn check(&self) -> Result<()> {
        match self.algorithm {
            Algorithm::BaUbauc => self.ba_ubauc().check()?,
            Algorithm::OlUbauc => self.ol_ubauc().check()?,
            Algorithm::Solam => self.solam().check()?,
            Algorithm::Opauc => self.opauc(0).check()?,
            Algorithm::OamSeq | Algorithm::OamGra => self.oam().check()?,
            Algorithm::SvmOr => self.svm_or().check()?,
            Algorithm::Svm => self.svm().check()?,
            Algorithm::Logistic => self.logistic().check()?,
        }
        if self.algorithm.is_online() {
            self.passes().check()?;
        }
        Ok(())
    }

    pub(crate) fn tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(match self.algorithm {
            Algorithm::BaUbauc => BaUbaucParams::default().tolerance,
            Algorithm::Logistic => LogisticParams::default().tolerance,
            Algorithm::SvmOr => SvmOrParams::default().tolerance,
            Algorithm::Svm => SvmParams::default().tolerance,
            _ => Passes::default().tolerance,
        })
    }

    fn passes(&self) -> Passes {
        Passes {
            passes: self.online.passes.unwrap_or(self.algorithm.passes()),
            tolerance: self.tolerance(),
            shuffle: self.online.shuffles.then_some(self.online.seed),
        }
    }

    pub(crate) fn divisors(
        &self,
        data: &Dataset,
        weights: Option<&[f64]>,
    ) -> Result<Option<Vec<f64>>> {
        let intercept = match self.algorithm {
            Algorithm::BaUbauc | Algorithm::OlUbauc => self.intercept,
            Algorithm::Logistic => true,
            _ => false,
        };
        let origin = Origin::of_intercept(intercept);
        Ok(self.scale.optional_divisors(data.rows(), weights, origin)?)
    }

    /// Fits the model, with a word now and then if that takes long. Block descent and the rivals have a start of their
    /// own; the rivals know no weights.
    pub(crate) fn fit(
        &self,
        data: &Dataset,
        weights: Option<&[f64]>,
        start: Option<Start<'_>>,
        output: Output,
    ) -> Result<Trained> {
        let divisors = self.divisors(data, weights)?;
        let divisors = divisors.as_deref();
        match (self.algorithm, self.solver) {
            (Algorithm::BaUbauc, Solver::Newton) => {
                let given = Given {
                    weights,
                    divisors,
                    start: start.map(|start| start.weights),
                    progress: None,
                };
                self.fit_ba_ubauc(data, given, output)
            }
            #[cfg(feature = "bcd")]
            (Algorithm::BaUbauc, Solver::Bcd) => self.fit_bcd(data, weights, divisors),
            (Algorithm::OlUbauc, _) => {
                let given = PassesGiven {
                    weights,
                    divisors,
                    start,
                    progress: None,
                };
                self.fit_ol_ubauc(data, given, output)
            }
            (Algorithm::Solam, _) => {
                let learner = self.solam_learner(data, divisors)?;
                self.fit_online(data, divisors, learner, output)
            }
            (Algorithm::Opauc, _) => {
                let learner = self.opauc_learner(data)?;
                self.fit_online(data, divisors, learner, output)
            }
            (Algorithm::OamSeq | Algorithm::OamGra, _) => {
                let learner = self.oam_learner(data)?;
                self.fit_online(data, divisors, learner, output)
            }
            (Algorithm::SvmOr, _) => self.fit_svm_or(data, divisors, output),
            (Algorithm::Svm, _) => self.fit_svm(data, divisors),
            (Algorithm::Logistic, _) => {
                let start = start.map(|s| [s.weights, &[s.intercept]].concat());
                self.fit_logistic(data, weights, divisors, start.as_deref())
            }
        }
    }

    /// An online learner, ready for its passes.
    pub(crate) fn passing<'a>(
        &self,
        data: &'a Dataset,
        divisors: Option<&'a [f64]>,
    ) -> Result<Option<Box<dyn Passing + 'a>>> {
        Ok(Some(match self.algorithm {
            Algorithm::OlUbauc => self.passing_ol_ubauc(data, divisors)?,
            Algorithm::Solam => {
                let learner = self.solam_learner(data, divisors)?;
                self.passing_online(data, divisors, learner)?
            }
            Algorithm::Opauc => {
                let learner = self.opauc_learner(data)?;
                self.passing_online(data, divisors, learner)?
            }
            Algorithm::OamSeq | Algorithm::OamGra => {
                let learner = self.oam_learner(data)?;
                self.passing_online(data, divisors, learner)?
            }
            _ => return Ok(None),
        }))
    }

    /// Its parameters by the names of the options, for files and reports; what the data decide is not among them.
    pub(crate) fn parameters(&self) -> BTreeMap<&'static str, Value> {
        let mut named: BTreeMap<&'static str, Value> = BTreeMap::new();
        if !self.algorithm.is_rival() {
            named.insert("gamma", json!(self.gamma));
        }
        if self.algorithm.is_ubauc() {
            named.insert("beta", json!(self.beta));
        }
        if self.algorithm == Algorithm::OlUbauc && !self.online.finds_eta0 {
            named.insert("eta0", json!(self.online.steps.eta0));
        }
        named.extend(self.own_parameters());
        named
    }

    /// Sets a parameter by the name of its option. False if the algorithm has no such number.
    pub(crate) fn set(&mut self, name: &str, value: f64) -> bool {
        let count = (value >= 0.0 && value.fract() == 0.0).then_some(value as usize);
        match (name, count) {
            ("beta", _) if self.algorithm.is_ubauc() => self.beta = value,
            ("gamma", _) if !self.algorithm.is_rival() => self.gamma = value,
            ("eta0", _) if self.algorithm == Algorithm::OlUbauc => {
                self.online.steps.eta0 = value;
                self.online.finds_eta0 = false;
            }
            ("radius", _) if matches!(self.algorithm, Algorithm::OlUbauc | Algorithm::Solam) => {
                self.online.steps.radius = Some(value);
            }
            ("passes", Some(passes))
                if self.algorithm.is_online() || self.algorithm == Algorithm::Svm =>
            {
                self.online.passes = Some(passes);
            }
            ("tolerance", _) => self.tolerance = Some(value),
            _ => return self.own.set(self.algorithm, name, value, count),
        }
        true
    }
}
