//! The solvers and the scores.

use numpy::{PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ubauc::data::dataset::Dataset;
use ubauc::data::scale::{Origin, Scale};
use ubauc::objective::ubauc::LeastSquares;
use ubauc::solver::ba_ubauc::{self, BaUbaucParams, BatchInputs, Fit, TracePoint};
use ubauc::solver::ol_ubauc::passes::{self, PassPoint, Passes, PassesInputs};
use ubauc::solver::ol_ubauc::{OlUbaucParams, Rate, Step, eta0};
use ubauc::tune::{TuneParams, Tuned, Verdict, has_collapsed, tune};

use crate::caller::{report_progress, stop_if_asked};
use crate::error::{Refused, unknown};
use crate::input::{Matrix, detached};

/// Options of every solver.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Common {
    /// Without β or γ both are chosen by cross-validated AUC (batch only).
    beta: Option<f64>,
    gamma: Option<f64>,
    least_squares: Option<String>,
    pub(crate) intercept: bool,
    scale: String,
    tolerance: f64,
    pub(crate) max_iter: usize,
    seed: u64,
    /// What the data calls the negative and the positive class.
    pub(crate) classes: [String; 2],
    n_jobs: usize,
    /// Called with step, objective, and gap or AUC.
    progress: Option<Py<PyAny>>,
}

/// How the online learner goes about it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Steps {
    step: String,
    schedule: String,
    eta0: Option<f64>,
    radius: Option<f64>,
    average: Option<u64>,
}

/// What became of β and γ that were to be chosen.
enum Tuning {
    /// Both were given.
    None,
    Done(Box<Tuned>),
    /// Every model that was tried has collapsed.
    Collapsed,
}

type Labels<'py> = PyReadonlyArray1<'py, bool>;
type Weights<'py> = Option<PyReadonlyArray1<'py, f64>>;

/// ba-UBAUC: the certified minimum.
#[pyfunction]
pub(crate) fn fit_batch<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    positive: Labels<'py>,
    weights: Weights<'py>,
    params: Common,
) -> PyResult<Bound<'py, PyDict>> {
    let (x, positive) = (x.slices()?, positive.as_slice()?);
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let (kind, scale) = (params.least_squares()?, params.scale()?);
    let (fit, used, tuned, collapsed) = detached(py, params.n_jobs, || {
        let data = x.dataset(positive, params.classes.clone())?;
        let (used, tuned) = params.choose(&data, weights, kind, scale)?;
        let report_progress = |p: &TracePoint| params.report_progress(p.newton, p.objective, p.gap);
        let divisors = scale.optional_divisors(data.rows(), weights, params.origin())?;
        let given = BatchInputs {
            weights,
            divisors: divisors.as_deref(),
            start: None,
            progress: Some(&report_progress),
        };
        let fit = ba_ubauc::fit(&data, &given, &used)?;
        let collapsed = has_collapsed(&data, weights, fit.tied);
        Ok((fit, used, tuned, collapsed))
    })?;
    let answer = batch_answer(py, &fit, &used, collapsed)?;
    answer.set_item(
        "tuned",
        match &tuned {
            Tuning::Done(tuned) => Some(tuning_json(tuned)?),
            _ => None,
        },
    )?;
    let every = matches!(tuned, Tuning::Collapsed);
    answer.set_item("every_beta_collapsed", every)?;
    Ok(answer)
}

/// The minimum and its proof, as Python has them.
pub(crate) fn batch_answer<'py>(
    py: Python<'py>,
    fit: &Fit,
    used: &BaUbaucParams,
    collapsed: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let answer = PyDict::new(py);
    answer.set_item("weights", fit.weights.to_pyarray(py))?;
    answer.set_item("intercept", fit.intercept)?;
    answer.set_item("lambda", fit.lambda.map(|l| l + fit.intercept))?;
    answer.set_item("objective", fit.objective)?;
    answer.set_item("dual", fit.dual)?;
    answer.set_item("gap", fit.gap)?;
    answer.set_item("tied", fit.tied)?;
    answer.set_item("collapsed", collapsed)?;
    answer.set_item("n_iter", fit.newton)?;
    answer.set_item("stop", fit.stop.name())?;
    let column =
        |of: &dyn Fn(&TracePoint) -> f64| -> Vec<f64> { fit.trace.iter().map(of).collect() };
    let trace = PyDict::new(py);
    trace.set_item("step", column(&|p| p.newton as f64).to_pyarray(py))?;
    trace.set_item("objective", column(&|p| p.objective).to_pyarray(py))?;
    let gaps = column(&|p| p.gap.unwrap_or(f64::NAN));
    trace.set_item("gap", gaps.to_pyarray(py))?;
    trace.set_item("active", column(&|p| p.active as f64).to_pyarray(py))?;
    answer.set_item("trace", trace)?;
    answer.set_item("beta", used.beta)?;
    answer.set_item("gamma", used.gamma)?;
    answer.set_item("least_squares", name(used.least_squares))?;
    Ok(answer)
}

/// ol-UBAUC in passes over the rows.
#[pyfunction]
pub(crate) fn fit_online<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    positive: Labels<'py>,
    weights: Weights<'py>,
    params: Common,
    steps: Steps,
) -> PyResult<Bound<'py, PyDict>> {
    let (x, positive) = (x.slices()?, positive.as_slice()?);
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let mut used = params.online(&steps)?;
    let scale = params.scale()?;
    let passes = Passes {
        passes: params.max_iter,
        tolerance: params.tolerance,
        shuffle: Some(params.seed),
    };
    let (fit, used, collapsed) = detached(py, params.n_jobs, || {
        let data = x.dataset(positive, params.classes.clone())?;
        let report_progress =
            |p: &PassPoint| params.report_progress(p.pass, p.objective, Some(p.auc));
        let divisors = scale.optional_divisors(data.rows(), weights, params.origin())?;
        let given = PassesInputs {
            weights,
            divisors: divisors.as_deref(),
            start: None,
            progress: Some(&report_progress),
        };
        if steps.eta0.is_none() {
            used.eta0 = eta0::choose(&data, &given, &used, params.seed)?;
        }
        let fit = passes::fit(&data, &given, &used, &passes)?;
        let collapsed = has_collapsed(&data, weights, fit.tied);
        Ok((fit, used, collapsed))
    })?;
    let answer = PyDict::new(py);
    answer.set_item("weights", fit.weights.to_pyarray(py))?;
    answer.set_item("intercept", fit.intercept)?;
    answer.set_item("lambda", fit.lambda.map(|l| l + fit.intercept))?;
    answer.set_item("objective", fit.objective)?;
    answer.set_item("tied", fit.tied)?;
    answer.set_item("collapsed", collapsed)?;
    answer.set_item("n_iter", fit.passes)?;
    answer.set_item("stop", fit.stop.name())?;
    let column =
        |of: &dyn Fn(&PassPoint) -> f64| -> Vec<f64> { fit.trace.iter().map(of).collect() };
    let trace = PyDict::new(py);
    trace.set_item("step", column(&|p| p.pass as f64).to_pyarray(py))?;
    trace.set_item("objective", column(&|p| p.objective).to_pyarray(py))?;
    trace.set_item("auc", column(&|p| p.auc).to_pyarray(py))?;
    answer.set_item("trace", trace)?;
    answer.set_item("beta", used.beta)?;
    answer.set_item("gamma", used.gamma)?;
    answer.set_item("least_squares", name(used.least_squares))?;
    answer.set_item("eta0", used.eta0)?;
    Ok(answer)
}

impl Common {
    pub(crate) fn least_squares(&self) -> PyResult<Option<LeastSquares>> {
        self.least_squares
            .as_deref()
            .map(least_squares_of)
            .transpose()
    }

    fn origin(&self) -> Origin {
        Origin::of_intercept(self.intercept)
    }

    pub(crate) fn scale(&self) -> PyResult<Scale> {
        scale_of(&self.scale)
    }

    pub(crate) fn report_progress(&self, step: usize, objective: f64, measure: Option<f64>) {
        report_progress(self.progress.as_ref(), step, objective, measure);
    }

    /// Calls whoever watches from this thread, which is the one that called.
    pub(crate) fn report_here(&self, values: (usize, f64, Option<f64>)) -> PyResult<()> {
        let call = |progress: &Py<PyAny>| Python::attach(|py| progress.call1(py, values).map(drop));
        self.progress.as_ref().map_or(Ok(()), call)
    }

    /// Takes β and γ if both are given, else tunes what is not, as the command line does.
    fn choose(
        &self,
        data: &Dataset,
        weights: Option<&[f64]>,
        kind: Option<LeastSquares>,
        scale: Scale,
    ) -> Result<(BaUbaucParams, Tuning), Refused> {
        let params = |beta, gamma, least_squares| BaUbaucParams {
            beta,
            gamma,
            least_squares,
            intercept: self.intercept,
            tolerance: self.tolerance,
            max_newton: self.max_iter,
        };
        if let (Some(beta), Some(gamma)) = (self.beta, self.gamma) {
            let params = params(beta, gamma, kind.unwrap_or_default());
            return Ok((params, Tuning::None));
        }
        let grid = TuneParams::default();
        let grid = TuneParams {
            betas: self.beta.map_or(grid.betas, |beta| vec![beta]),
            gammas: self.gamma.map_or(grid.gammas, |gamma| vec![gamma]),
            least_squares: kind.map_or(grid.least_squares, |kind| vec![kind]),
            intercept: self.intercept,
            scale,
            seed: self.seed,
            ..TuneParams::default()
        };
        let watch = |_, _| stop_if_asked();
        let tuned = match tune(data, weights, &grid, Some(&watch)) {
            // Every model of the grid collapsed: the largest β comes nearest to none.
            Err(ubauc::Error::Parameter { name: "betas", .. }) => {
                let beta = grid.betas.iter().copied().fold(0.0, f64::max);
                let gamma = self.gamma.unwrap_or(BaUbaucParams::default().gamma);
                let params = params(beta, gamma, kind.unwrap_or_default());
                return Ok((params, Tuning::Collapsed));
            }
            tuned => tuned?,
        };
        let best = tuned.best();
        let chosen = params(best.beta, best.gamma, best.least_squares);
        Ok((chosen, Tuning::Done(Box::new(tuned))))
    }

    pub(crate) fn online(&self, steps: &Steps) -> PyResult<OlUbaucParams> {
        let standard = OlUbaucParams::default();
        Ok(OlUbaucParams {
            beta: self.beta.unwrap_or(standard.beta),
            gamma: self.gamma.unwrap_or(standard.gamma),
            least_squares: self.least_squares()?.unwrap_or_default(),
            intercept: self.intercept,
            step: match steps.step.as_str() {
                "implicit" => Step::Implicit,
                "sgd" => Step::Sgd,
                other => return Err(unknown("step", other, "implicit or sgd")),
            },
            rate: match steps.schedule.as_str() {
                "sqrt" => Rate::InverseSqrt,
                "inverse" => Rate::Inverse,
                "constant" => Rate::Constant,
                other => return Err(unknown("schedule", other, "sqrt, inverse or constant")),
            },
            eta0: steps.eta0.unwrap_or(standard.eta0),
            radius: steps.radius,
            average: steps.average,
            ..standard
        })
    }

    /// The running scale of a stream.
    pub(crate) fn running_scale(&self) -> PyResult<ubauc::solver::ol_ubauc::RunningScale> {
        use ubauc::solver::ol_ubauc::RunningScale;
        match self.scale()? {
            Scale::None => Ok(RunningScale::None),
            Scale::MaxAbs => Ok(RunningScale::MaxAbs),
            Scale::Standard => Err(unknown("scale", "standard", "none or maxabs in a stream")),
        }
    }
}

pub(crate) fn least_squares_of(name: &str) -> PyResult<LeastSquares> {
    match name {
        "plain" => Ok(LeastSquares::Plain),
        "balanced" => Ok(LeastSquares::Balanced),
        other => Err(unknown("least_squares", other, "plain or balanced")),
    }
}

pub(crate) fn scale_of(name: &str) -> PyResult<Scale> {
    match name {
        "none" => Ok(Scale::None),
        "maxabs" => Ok(Scale::MaxAbs),
        "standard" => Ok(Scale::Standard),
        other => Err(unknown("scale", other, "none, maxabs or standard")),
    }
}

pub(crate) fn name(kind: LeastSquares) -> &'static str {
    match kind {
        LeastSquares::Plain => "plain",
        LeastSquares::Balanced => "balanced",
    }
}

/// The grid and the verdict, as JSON.
fn tuning_json(tuned: &Tuned) -> PyResult<String> {
    let all = serde_json::json!({
        "points": tuned.points,
        "chosen": tuned.chosen,
        "logistic": tuned.logistic,
        "verdict": tuned.verdict,
        "is_worse_than_logistic": tuned.verdict.as_ref().is_some_and(Verdict::is_worse),
    });
    serde_json::to_string(&all).map_err(|error| PyValueError::new_err(error.to_string()))
}
