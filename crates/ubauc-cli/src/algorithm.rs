//! The algorithms by name: one place that knows them all.

use std::sync::Mutex;

use anyhow::Result;
use clap::ValueEnum;
use serde::Serialize;
use ubauc::data::dataset::Dataset;
use ubauc::data::scale::Scale;
use ubauc::objective::ubauc::LeastSquares;
use ubauc::solver::ba_ubauc::{self, BaUbaucParams, Given, Stop, TracePoint};
use ubauc::solver::logistic::{self, LogisticParams};
use ubauc::solver::ol_ubauc::passes::{self, PassPoint, Passes, PassesGiven, Start};
use ubauc::solver::ol_ubauc::{OlUbaucParams, eta0};

use crate::output::Output;
use crate::progress::{PASSES, Progress, STEPS};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Algorithm {
    /// The univariate bound of AUC, minimised with a proof
    BaUbauc,
    /// The same bound, by passes of the online learner: fast, without a proof
    OlUbauc,
    /// Logistic regression, the baseline; always with an intercept
    Logistic,
}

impl Algorithm {
    /// Whether it minimises P of beta, gamma and the least squares.
    pub(crate) fn is_ubauc(self) -> bool {
        self != Algorithm::Logistic
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
    pub(crate) max_newton: Option<usize>,
    pub(crate) online: Online,
}

/// How ol-ubauc goes about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Online {
    /// Its steps; beta, gamma and the least squares are the problem's.
    pub(crate) steps: OlUbaucParams,
    /// η₀ is found by trial.
    pub(crate) finds_eta0: bool,
    /// At most so many.
    pub(crate) passes: usize,
    /// Rows in a new random order in each pass.
    pub(crate) shuffles: bool,
    /// Of the order, and of the examples that η₀ is tried on.
    pub(crate) seed: u64,
}

impl Default for Online {
    fn default() -> Self {
        Online {
            steps: OlUbaucParams::default(),
            finds_eta0: true,
            passes: Passes::default().passes,
            shuffles: true,
            seed: 0,
        }
    }
}

/// What came of it, in units of the data and in mean form.
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
    /// Rounds of block descent.
    pub(crate) rounds: Option<usize>,
    /// Passes of the online learner.
    pub(crate) passes: Option<usize>,
    /// Its η₀.
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
}

impl Problem {
    /// Refuses parameters by name, before anything is read.
    pub(crate) fn check(&self) -> Result<()> {
        match self.algorithm {
            Algorithm::BaUbauc => self.ba_ubauc().check()?,
            Algorithm::OlUbauc => {
                self.ol_ubauc().check()?;
                self.passes().check()?;
            }
            Algorithm::Logistic => self.logistic().check()?,
        }
        Ok(())
    }

    pub(crate) fn tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(match self.algorithm {
            Algorithm::BaUbauc => BaUbaucParams::default().tolerance,
            Algorithm::OlUbauc => Passes::default().tolerance,
            Algorithm::Logistic => LogisticParams::default().tolerance,
        })
    }

    fn ba_ubauc(&self) -> BaUbaucParams {
        let standard = BaUbaucParams::default();
        BaUbaucParams {
            beta: self.beta,
            gamma: self.gamma,
            least_squares: self.least_squares,
            intercept: self.intercept,
            tolerance: self.tolerance(),
            max_newton: self.max_newton.unwrap_or(standard.max_newton),
        }
    }

    fn ol_ubauc(&self) -> OlUbaucParams {
        OlUbaucParams {
            beta: self.beta,
            gamma: self.gamma,
            least_squares: self.least_squares,
            intercept: self.intercept,
            ..self.online.steps
        }
    }

    fn passes(&self) -> Passes {
        Passes {
            passes: self.online.passes,
            tolerance: self.tolerance(),
            shuffle: self.online.shuffles.then_some(self.online.seed),
        }
    }

    fn logistic(&self) -> LogisticParams {
        let standard = LogisticParams::default();
        LogisticParams {
            gamma: self.gamma,
            intercept: true,
            tolerance: self.tolerance(),
            max_newton: self.max_newton.unwrap_or(standard.max_newton),
        }
    }

    /// Fits the model, with a word now and then if that takes long. Block descent has a start of its own.
    pub(crate) fn fit(
        &self,
        data: &Dataset,
        weights: Option<&[f64]>,
        start: Option<Start<'_>>,
        output: Output,
    ) -> Result<Trained> {
        let divisors = match self.scale {
            Scale::None => None,
            scale => Some(scale.divisors(data.rows(), weights)?),
        };
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
            (Algorithm::Logistic, _) => {
                let start = start.map(|s| [s.weights, &[s.intercept]].concat());
                self.fit_logistic(data, weights, divisors, start.as_deref())
            }
        }
    }

    fn fit_ba_ubauc(&self, data: &Dataset, given: Given<'_>, output: Output) -> Result<Trained> {
        let progress = Mutex::new(Progress::new(output, None, STEPS));
        let tell = |point: &TracePoint| {
            if let Ok(mut progress) = progress.lock() {
                progress.say(point.newton as u64, || {
                    let gap = point
                        .gap
                        .map_or("unknown".to_string(), |g| format!("{g:.1e}"));
                    format!("step {}, gap {gap}", point.newton)
                });
            }
        };
        let given = Given {
            progress: Some(&tell),
            ..given
        };
        let fit = ba_ubauc::fit(data, &given, &self.ba_ubauc())?;
        Ok(Trained {
            lambda: Some(fit.lambda.map(|l| l + fit.intercept)),
            weights: fit.weights,
            intercept: fit.intercept,
            objective: fit.objective,
            dual: fit.dual,
            gap: fit.gap,
            tied: Some(fit.tied),
            newton: Some(fit.newton),
            rounds: None,
            passes: None,
            eta0: None,
            stop: match fit.stop {
                Stop::Converged => "converged",
                Stop::Unproved => "unproved",
                Stop::Stalled => "stalled",
                Stop::MaxNewton => "max_newton",
            },
            trace: Some(Trace::Newton(fit.trace)),
        })
    }

    fn fit_ol_ubauc(
        &self,
        data: &Dataset,
        given: PassesGiven<'_>,
        output: Output,
    ) -> Result<Trained> {
        let (mut params, passes) = (self.ol_ubauc(), self.passes());
        if self.online.finds_eta0 {
            params.eta0 = eta0::choose(data, &given, &params, self.online.seed)?;
        }
        let progress = Progress::new(output, Some(passes.passes as u64), PASSES);
        let progress = Mutex::new(progress);
        let tell = |point: &PassPoint| {
            if let Ok(mut progress) = progress.lock() {
                let message = || format!("objective {:.6}", point.objective);
                progress.say(point.pass as u64, message);
            }
        };
        let given = PassesGiven {
            progress: Some(&tell),
            ..given
        };
        let fit = passes::fit(data, &given, &params, &passes)?;
        Ok(Trained {
            lambda: Some(fit.lambda.map(|l| l + fit.intercept)),
            weights: fit.weights,
            intercept: fit.intercept,
            objective: fit.objective,
            dual: None,
            gap: None,
            tied: Some(fit.tied),
            newton: None,
            rounds: None,
            passes: Some(fit.passes),
            eta0: Some(params.eta0),
            stop: match fit.stop {
                passes::Stop::Still => "still",
                passes::Stop::MaxPasses => "max_passes",
            },
            trace: Some(Trace::Passes(fit.trace)),
        })
    }

    fn fit_logistic(
        &self,
        data: &Dataset,
        weights: Option<&[f64]>,
        divisors: Option<&[f64]>,
        start: Option<&[f64]>,
    ) -> Result<Trained> {
        let params = self.logistic();
        let fit = logistic::fit(data, weights, divisors, start, &params)?;
        Ok(Trained {
            weights: fit.weights,
            intercept: fit.intercept,
            lambda: None,
            objective: fit.objective,
            dual: None,
            gap: None,
            tied: None,
            newton: Some(fit.newton),
            rounds: None,
            passes: None,
            eta0: None,
            trace: None,
            stop: match (fit.converged, fit.newton >= params.max_newton) {
                (true, _) => "converged",
                (false, true) => "max_newton",
                (false, false) => "stalled",
            },
        })
    }

    #[cfg(feature = "bcd")]
    fn fit_bcd(
        &self,
        data: &Dataset,
        weights: Option<&[f64]>,
        divisors: Option<&[f64]>,
    ) -> Result<Trained> {
        use ubauc::solver::ba_ubauc::bcd::{self, BcdParams, BcdStop};
        let standard = BcdParams::default();
        let params = BcdParams {
            beta: self.beta,
            gamma: self.gamma,
            least_squares: self.least_squares,
            intercept: self.intercept,
            max_rounds: self.max_newton.unwrap_or(standard.max_rounds),
            tolerance: self.tolerance(),
        };
        let mut fit = match divisors {
            None => bcd::fit(data, weights, &params)?,
            Some(divisors) => bcd::fit(&divided(data, divisors)?, weights, &params)?,
        };
        for (w, r) in fit.weights.iter_mut().zip(divisors.unwrap_or_default()) {
            *w /= r;
        }
        Ok(Trained {
            lambda: Some(fit.lambda.map(|l| l + fit.intercept)),
            weights: fit.weights,
            intercept: fit.intercept,
            objective: fit.objective,
            dual: Some(fit.dual),
            gap: Some(fit.gap),
            tied: None,
            newton: None,
            rounds: Some(fit.rounds),
            passes: None,
            eta0: None,
            trace: Some(Trace::Rounds(fit.trace)),
            stop: match fit.stop {
                BcdStop::Converged => "converged",
                BcdStop::MaxRounds => "max_rounds",
                BcdStop::Unsolved => "unsolved",
                _ => "stalled",
            },
        })
    }
}

/// The data with every feature divided, for a solver that does not do it itself.
#[cfg(feature = "bcd")]
fn divided(data: &Dataset, divisors: &[f64]) -> Result<Dataset> {
    use ubauc::data::labels::Binary;
    use ubauc::data::rows::{Csr, Rows};
    let rows = data.rows();
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..rows.len() {
        for (j, x) in rows.row(i).entries().filter(|(_, x)| *x != 0.0) {
            indices.push(j as u32);
            values.push(x / divisors[j]);
        }
        starts.push(indices.len());
    }
    let csr = Csr::new(starts, indices, values, rows.cols())?;
    let labels = Binary {
        positive: data.positive().to_vec(),
        n_pos: data.n_pos(),
        n_neg: data.n_neg(),
        names: data.class_names().clone(),
    };
    Ok(Dataset::new(Rows::smaller(csr), labels, Vec::new())?)
}
