//! The algorithms by name: one place that knows them all.

use std::sync::Mutex;

use anyhow::Result;
use clap::ValueEnum;
use ubauc::data::dataset::Dataset;
use ubauc::data::scale::Scale;
use ubauc::objective::ubauc::LeastSquares;
use ubauc::solver::ba_ubauc::{self, BaUbaucParams, Given, Stop, TracePoint};
use ubauc::solver::logistic::{self, LogisticParams};

use crate::output::Output;
use crate::progress::{Progress, STEPS};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Algorithm {
    /// The univariate bound of AUC, minimised with a proof
    BaUbauc,
    /// Logistic regression, the baseline; always with an intercept
    Logistic,
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
    pub(crate) stop: &'static str,
}

impl Problem {
    /// Refuses parameters by name, before anything is read.
    pub(crate) fn check(&self) -> Result<()> {
        match self.algorithm {
            Algorithm::BaUbauc => self.ba_ubauc().check()?,
            Algorithm::Logistic => self.logistic().check()?,
        }
        Ok(())
    }

    pub(crate) fn tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(match self.algorithm {
            Algorithm::BaUbauc => BaUbaucParams::default().tolerance,
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

    fn logistic(&self) -> LogisticParams {
        let standard = LogisticParams::default();
        LogisticParams {
            gamma: self.gamma,
            intercept: true,
            tolerance: self.tolerance(),
            max_newton: self.max_newton.unwrap_or(standard.max_newton),
        }
    }

    /// Fits the model, with a word now and then if that takes long.
    pub(crate) fn fit(
        &self,
        data: &Dataset,
        weights: Option<&[f64]>,
        output: Output,
    ) -> Result<Trained> {
        let divisors = match self.scale {
            Scale::None => None,
            scale => Some(scale.divisors(data.rows(), weights)?),
        };
        let divisors = divisors.as_deref();
        match (self.algorithm, self.solver) {
            (Algorithm::BaUbauc, Solver::Newton) => {
                self.fit_ba_ubauc(data, weights, divisors, output)
            }
            #[cfg(feature = "bcd")]
            (Algorithm::BaUbauc, Solver::Bcd) => self.fit_bcd(data, weights, divisors),
            (Algorithm::Logistic, _) => self.fit_logistic(data, weights, divisors),
        }
    }

    fn fit_ba_ubauc(
        &self,
        data: &Dataset,
        weights: Option<&[f64]>,
        divisors: Option<&[f64]>,
        output: Output,
    ) -> Result<Trained> {
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
            weights,
            divisors,
            progress: Some(&tell),
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
            stop: match fit.stop {
                Stop::Converged => "converged",
                Stop::Unproved => "unproved",
                Stop::Stalled => "stalled",
                Stop::MaxNewton => "max_newton",
            },
        })
    }

    fn fit_logistic(
        &self,
        data: &Dataset,
        weights: Option<&[f64]>,
        divisors: Option<&[f64]>,
    ) -> Result<Trained> {
        let params = self.logistic();
        let fit = logistic::fit(data, weights, divisors, None, &params)?;
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
