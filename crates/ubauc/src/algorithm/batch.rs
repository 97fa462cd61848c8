//! The batch algorithms: from a spec to the solver, and back.

use super::outcome::Solution;
use super::{
    BaUbauc, Effort, FitInputs, Logistic, Outcome, Progress, Solver, Stop, Svm, SvmOr, Trace,
    TrainingSet,
};
use crate::Result;
use crate::data::dataset::Dataset;
use crate::objective::univariate::l_tilde_min;
use crate::solver::ba_ubauc::{self, BaUbaucParams, BatchInputs, TracePoint};
use crate::solver::svm_or::{RoundPoint, SvmOrInputs};
use crate::solver::{linear_svm, svm_or as svm_or_solver};

pub(super) fn ba_ubauc(
    data: &Dataset,
    inputs: &FitInputs<'_>,
    divisors: Option<&[f64]>,
    spec: &BaUbauc,
) -> Result<Solution> {
    match spec.solver {
        Solver::Newton => {}
        #[cfg(feature = "bcd")]
        Solver::Bcd { max_rounds } => return bcd(data, inputs, divisors, spec, max_rounds),
    }
    newton(data, inputs, divisors, &spec.params)
}

pub(super) fn logistic(
    data: &Dataset,
    inputs: &FitInputs<'_>,
    divisors: Option<&[f64]>,
    spec: &Logistic,
) -> Result<Solution> {
    Ok(Solution {
        // Its intercept is −λ: even odds at 0.
        lambda: None,
        ..newton(data, inputs, divisors, &spec.params())?
    })
}

fn newton(
    data: &Dataset,
    inputs: &FitInputs<'_>,
    divisors: Option<&[f64]>,
    params: &BaUbaucParams,
) -> Result<Solution> {
    let progress = |point: &TracePoint| {
        if let Some(progress) = inputs.progress {
            progress(&Progress::Newton(*point));
        }
    };
    let given = BatchInputs {
        weights: inputs.weights,
        divisors,
        nesting: None,
        order: None,
        start: inputs.start.map(|start| start.weights),
        progress: Some(&progress),
    };
    Ok(Solution::of_newton(
        ba_ubauc::fit(data, &given, params)?,
        params,
    ))
}

impl Outcome {
    /// Of ba-UBAUC, wherever its rows are.
    pub fn of_newton(
        fit: ba_ubauc::Fit,
        params: &BaUbaucParams,
        examples: &TrainingSet<'_>,
    ) -> Outcome {
        Solution::of_newton(fit, params).outcome(examples)
    }
}

impl Solution {
    fn of_newton(fit: ba_ubauc::Fit, params: &BaUbaucParams) -> Solution {
        Solution {
            lambda: Some(fit.lambda.map(|l| l + fit.intercept)),
            weights: fit.weights,
            intercept: fit.intercept,
            objective: fit.objective,
            dual: fit.dual,
            gap: fit.gap,
            tied: (!params.loss().is_smooth()).then_some(fit.tied),
            effort: Effort {
                newton: Some(fit.newton),
                ..Effort::default()
            },
            stop: match fit.stop {
                ba_ubauc::Stop::Converged => Stop::Converged,
                ba_ubauc::Stop::Estimated => Stop::Estimated,
                ba_ubauc::Stop::Stalled => Stop::Stalled,
                ba_ubauc::Stop::MaxNewton => Stop::MaxNewton,
            },
            trace: Trace::Newton(fit.trace),
        }
    }
}

#[cfg(feature = "bcd")]
fn bcd(
    data: &Dataset,
    inputs: &FitInputs<'_>,
    divisors: Option<&[f64]>,
    spec: &BaUbauc,
    max_rounds: usize,
) -> Result<Solution> {
    use crate::solver::ba_ubauc::bcd::{self, BcdParams, BcdStop};
    let params = BcdParams {
        beta: spec.params.beta,
        gamma: spec.params.gamma,
        least_squares: spec.params.least_squares,
        intercept: spec.params.intercept,
        max_rounds,
        tolerance: spec.params.tolerance,
    };
    let mut fit = match divisors {
        None => bcd::fit(data, inputs.weights, &params)?,
        Some(divisors) => bcd::fit(&divided(data, divisors)?, inputs.weights, &params)?,
    };
    for (w, r) in fit.weights.iter_mut().zip(divisors.unwrap_or_default()) {
        *w /= r;
    }
    Ok(Solution {
        lambda: Some(fit.lambda.map(|l| l + fit.intercept)),
        weights: fit.weights,
        intercept: fit.intercept,
        objective: fit.objective,
        dual: Some(fit.dual),
        gap: Some(fit.gap),
        tied: None,
        effort: Effort {
            rounds: Some(fit.rounds),
            ..Effort::default()
        },
        stop: match fit.stop {
            BcdStop::Converged => Stop::Converged,
            BcdStop::MaxRounds => Stop::MaxRounds,
            BcdStop::Unsolved => Stop::Unsolved,
            BcdStop::Stalled => Stop::Stalled,
        },
        trace: Trace::Rounds(fit.trace),
    })
}

/// The data with every feature divided, for a solver that does not do it itself.
#[cfg(feature = "bcd")]
fn divided(data: &Dataset, divisors: &[f64]) -> Result<Dataset> {
    use crate::data::labels::Binary;
    use crate::data::rows::{Csr, Rows};
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
    Dataset::new(Rows::smaller(csr), labels, Vec::new())
}

pub(super) fn svm_or(
    data: &Dataset,
    inputs: &FitInputs<'_>,
    divisors: Option<&[f64]>,
    spec: &SvmOr,
) -> Result<Solution> {
    let progress = |point: &RoundPoint| {
        if let Some(progress) = inputs.progress {
            progress(&Progress::Round(*point));
        }
    };
    let given = SvmOrInputs {
        divisors,
        progress: Some(&progress),
    };
    let fit = svm_or_solver::fit(data, &given, &spec.params)?;
    Ok(Solution {
        lambda: Some(l_tilde_min(&fit.scores, data.positive())?.lambda),
        weights: fit.weights,
        intercept: 0.0,
        objective: fit.objective,
        dual: Some(fit.dual),
        gap: Some(fit.gap),
        tied: None,
        effort: Effort {
            rounds: Some(fit.rounds),
            ..Effort::default()
        },
        stop: fit.stop.into(),
        trace: Trace::Bundle(fit.trace),
    })
}

pub(super) fn svm(data: &Dataset, divisors: Option<&[f64]>, spec: &Svm) -> Result<Solution> {
    let fit = linear_svm::fit(data, divisors, &spec.params)?;
    Ok(Solution {
        weights: fit.weights,
        intercept: fit.intercept,
        lambda: None,
        objective: fit.objective,
        dual: Some(fit.dual),
        gap: Some(fit.gap),
        tied: None,
        effort: Effort {
            passes: Some(fit.passes),
            ..Effort::default()
        },
        stop: match fit.converged {
            true => Stop::Converged,
            false => Stop::MaxPasses,
        },
        trace: Trace::Svm(fit.trace),
    })
}
