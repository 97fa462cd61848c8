//! ba-UBAUC, ol-UBAUC and logistic regression: from the problem to the library, and back.

use std::sync::Mutex;

use anyhow::Result;
use ubauc::data::dataset::Dataset;
use ubauc::solver::ba_ubauc::{self, BaUbaucParams, Given, TracePoint};
use ubauc::solver::logistic::{self, LogisticParams};
use ubauc::solver::ol_ubauc::passes::{self, PassPoint, PassesGiven};
use ubauc::solver::ol_ubauc::{OlUbaucParams, eta0};

use super::{Passing, Problem, Trace, Trained};
use crate::output::Output;
use crate::progress::{PASSES, Progress, STEPS};

impl Problem {
    pub(super) fn ba_ubauc(&self) -> BaUbaucParams {
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

    pub(super) fn ol_ubauc(&self) -> OlUbaucParams {
        OlUbaucParams {
            beta: self.beta,
            gamma: self.gamma,
            least_squares: self.least_squares,
            intercept: self.intercept,
            ..self.online.steps
        }
    }

    pub(super) fn logistic(&self) -> LogisticParams {
        let standard = LogisticParams::default();
        LogisticParams {
            gamma: self.gamma,
            intercept: true,
            tolerance: self.tolerance(),
            max_newton: self.max_newton.unwrap_or(standard.max_newton),
        }
    }

    pub(super) fn fit_ba_ubauc(
        &self,
        data: &Dataset,
        given: Given<'_>,
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
            stop: fit.stop.name(),
            trace: Some(Trace::Newton(fit.trace)),
        })
    }

    pub(super) fn fit_ol_ubauc(
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
            stop: fit.stop.name(),
            trace: Some(Trace::Passes(fit.trace)),
        })
    }

    pub(super) fn passing_ol_ubauc<'a>(
        &self,
        data: &'a Dataset,
        divisors: Option<&'a [f64]>,
    ) -> Result<Box<dyn Passing + 'a>> {
        let given = PassesGiven {
            divisors,
            ..PassesGiven::default()
        };
        let mut params = self.ol_ubauc();
        if self.online.finds_eta0 {
            params.eta0 = eta0::choose(data, &given, &params, self.online.seed)?;
        }
        let shuffle = self.passes().shuffle;
        Ok(Box::new(passes::Run::new(data, &given, &params, shuffle)?))
    }

    pub(super) fn fit_logistic(
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
    pub(super) fn fit_bcd(
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
