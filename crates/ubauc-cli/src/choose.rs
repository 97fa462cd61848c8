//! β, γ and the kind of least squares where the user gives none: by cross-validated AUC.

use anyhow::Result;
use ubauc::data::dataset::Dataset;
use ubauc::data::scale::Scale;
use ubauc::objective::ubauc::LeastSquares;
use ubauc::tune::{TuneParams, Verdict};

use crate::output::Output;
use crate::tune::{comparison, kind, search};

/// What was typed of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Typed {
    pub(crate) beta: Option<f64>,
    pub(crate) gamma: Option<f64>,
    pub(crate) least_squares: Option<LeastSquares>,
}

impl Typed {
    /// Plain values where nothing was typed and nothing is tuned.
    pub(crate) fn or_default(self) -> Chosen {
        Chosen {
            beta: self.beta.unwrap_or(0.5),
            gamma: self.gamma.unwrap_or(1e-4),
            least_squares: self.least_squares.unwrap_or_default(),
        }
    }
}

/// What is used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Chosen {
    pub(crate) beta: f64,
    pub(crate) gamma: f64,
    pub(crate) least_squares: LeastSquares,
}

/// Takes what was typed; what was not is chosen by AUC on held-out folds, and a sentence on standard error says how
/// the choice fares beside logistic regression on examples that neither has seen.
pub(crate) fn choose_parameters(
    typed: Typed,
    data: &Dataset,
    weights: Option<&[f64]>,
    (intercept, scale, seed): (bool, Scale, u64),
    output: Output,
) -> Result<(Chosen, Option<Verdict>)> {
    if typed.beta.is_some() && typed.gamma.is_some() {
        return Ok((typed.or_default(), None));
    }
    let default = TuneParams::default();
    let params = TuneParams {
        betas: typed.beta.map_or(default.betas, |beta| vec![beta]),
        gammas: typed.gamma.map_or(default.gammas, |gamma| vec![gamma]),
        least_squares: typed
            .least_squares
            .map_or(default.least_squares, |kind| vec![kind]),
        intercept,
        scale,
        seed,
        ..TuneParams::default()
    };
    let tuned = search(data, weights, &params, output)?;
    let best = tuned.best();
    let chosen = Chosen {
        beta: best.beta,
        gamma: best.gamma,
        least_squares: best.least_squares,
    };
    let scale_name = match scale {
        Scale::None => "none",
        Scale::MaxAbs => "maxabs",
        Scale::Standard => "standard",
    };
    let beside = tuned
        .verdict
        .as_ref()
        .map_or(String::new(), |v| format!("; {}", comparison(v)));
    output.note(format!(
        "note: beta = {}, gamma = {:e}, {} least squares chosen by cross-validated AUC ({:.4}){beside}",
        chosen.beta,
        chosen.gamma,
        kind(chosen.least_squares),
        best.judged.auc,
    ));
    if tuned.verdict.as_ref().is_some_and(Verdict::is_worse) {
        output.note(format!(
            "warning: logistic regression is significantly better on examples that neither model has \
             seen; use --algorithm logistic --gamma {:e} --scale {scale_name}",
            tuned.best_logistic().gamma
        ));
    }
    Ok((chosen, tuned.verdict))
}
