//! The rivals: SOLAM, OPAUC, OAM and the ranking SVM, all by one function.

use numpy::{PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ubauc::algorithm::{Algorithm, PassSpec, Spec};
use ubauc::data::dataset::Dataset;
use ubauc::data::rows::Row;
use ubauc::objective::univariate::l_tilde_min;
use ubauc::solver::oam::{Oam, Update};
use ubauc::solver::opauc::Opauc;
use ubauc::solver::passes::{self, Online, OnlineInputs, PassPoint, Passes, Scored};
use ubauc::solver::solam::Solam;
use ubauc::solver::svm_or::{self, RoundPoint, SvmOrInputs, SvmOrParams};

use crate::caller::{report_progress, stop_if_asked};
use crate::error::{Refused, unknown};
use crate::input::{Matrix, detached};
use crate::spec::{Context, of_json};

/// What came of it.
struct Found {
    weights: Vec<f64>,
    lambda: [f64; 2],
    objective: f64,
    proof: Option<[f64; 2]>,
    n_iter: usize,
    stop: &'static str,
    /// Columns by name, beside the number of the step.
    trace: Vec<(&'static str, Vec<f64>)>,
}

/// Fits one of them; they take no sample weights.
#[pyfunction]
pub(crate) fn fit_rival<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    positive: PyReadonlyArray1<'py, bool>,
    spec: &str,
    context: Context,
) -> PyResult<Bound<'py, PyDict>> {
    let spec = rival(spec)?;
    let (x, positive) = (x.slices()?, positive.as_slice()?);
    let found = detached(py, context.n_jobs, || {
        let data = x.dataset(positive, context.classes)?;
        spec.check()?;
        let divisors = spec.divisors(&data, None)?;
        let progress = context.progress.as_ref();
        fit(&spec, &data, divisors.as_deref(), progress)
    })?;
    let answer = PyDict::new(py);
    answer.set_item("weights", found.weights.to_pyarray(py))?;
    answer.set_item("lambda", found.lambda)?;
    answer.set_item("objective", found.objective)?;
    answer.set_item("dual", found.proof.map(|[dual, _]| dual))?;
    answer.set_item("gap", found.proof.map(|[_, gap]| gap))?;
    answer.set_item("n_iter", found.n_iter)?;
    answer.set_item("stop", found.stop)?;
    let trace = PyDict::new(py);
    for (name, column) in found.trace {
        trace.set_item(name, column.to_pyarray(py))?;
    }
    answer.set_item("trace", trace)?;
    Ok(answer)
}

/// The parameters of one of them.
pub(crate) fn rival(json: &str) -> PyResult<Spec> {
    let spec: Spec = of_json(json)?;
    let algorithm = spec.algorithm();
    match algorithm.is_rival() && algorithm != Algorithm::Svm {
        true => Ok(spec),
        false => {
            let must = "solam, opauc, oam-seq, oam-gra or svm-or";
            Err(unknown("algorithm", algorithm.name(), must))
        }
    }
}

fn fit(
    spec: &Spec,
    data: &Dataset,
    divisors: Option<&[f64]>,
    progress: Option<&Py<PyAny>>,
) -> Result<Found, Refused> {
    let d = data.rows().cols();
    let online = |passes: &PassSpec| Stream {
        data,
        divisors,
        passes: Passes {
            passes: passes.max_passes,
            tolerance: passes.tolerance,
            shuffle: passes.shuffle.then_some(passes.seed),
        },
        progress,
    };
    let oam = |update, oam: &ubauc::algorithm::Oam| Oam::new(d, &oam.params(update));
    match spec {
        Spec::Solam(spec) => {
            online(&spec.passes).fit(Solam::of_rows(data.rows(), divisors, &spec.params)?)
        }
        Spec::Opauc(spec) => online(&spec.passes).fit(Opauc::new(d, &spec.params(d))?),
        Spec::OamSeq(spec) => online(&spec.passes).fit(oam(Update::Sequential, spec)?),
        Spec::OamGra(spec) => online(&spec.passes).fit(oam(Update::Gradient, spec)?),
        Spec::SvmOr(spec) => fit_svm_or(data, divisors, &spec.params, progress),
        Spec::BaUbauc(_) | Spec::OlUbauc(_) | Spec::Svm(_) | Spec::Logistic(_) => {
            // `rival` makes none of these.
            Err(ubauc::Error::Numerical {
                what: "not a rival",
            }
            .into())
        }
    }
}

/// A learner that stops between two examples if asked to.
struct Interruptible<L>(L);

impl<L: Online> Online for Interruptible<L> {
    #[inline]
    fn learn(&mut self, x: Row<'_>, positive: bool) {
        stop_if_asked();
        self.0.learn(x, positive);
    }

    fn weights(&self) -> Vec<f64> {
        self.0.weights()
    }

    fn objective(&self, at: &Scored<'_>) -> f64 {
        self.0.objective(at)
    }
}

/// What an online learner is led over.
struct Stream<'a> {
    data: &'a Dataset,
    divisors: Option<&'a [f64]>,
    passes: Passes,
    progress: Option<&'a Py<PyAny>>,
}

impl Stream<'_> {
    fn fit(&self, learner: impl Online) -> Result<Found, Refused> {
        let say = |p: &PassPoint| report_progress(self.progress, p.pass, p.objective, Some(p.auc));
        let given = OnlineInputs {
            divisors: self.divisors,
            progress: Some(&say),
        };
        let fit = passes::fit(self.data, &given, Interruptible(learner), &self.passes)?;
        let column =
            |of: &dyn Fn(&PassPoint) -> f64| -> Vec<f64> { fit.trace.iter().map(of).collect() };
        let trace = vec![
            ("step", column(&|p| p.pass as f64)),
            ("objective", column(&|p| p.objective)),
            ("auc", column(&|p| p.auc)),
        ];
        Ok(Found {
            lambda: l_tilde_min(&fit.scores, self.data.positive())?.lambda,
            weights: fit.weights,
            objective: fit.objective,
            proof: None,
            n_iter: fit.passes,
            stop: ubauc::algorithm::Stop::from(fit.stop).name(),
            trace,
        })
    }
}

fn fit_svm_or(
    data: &Dataset,
    divisors: Option<&[f64]>,
    params: &SvmOrParams,
    progress: Option<&Py<PyAny>>,
) -> Result<Found, Refused> {
    let say = |p: &RoundPoint| report_progress(progress, p.round, p.objective, Some(p.gap));
    let given = SvmOrInputs {
        divisors,
        progress: Some(&say),
    };
    let fit = svm_or::fit(data, &given, params)?;
    let column =
        |of: &dyn Fn(&RoundPoint) -> f64| -> Vec<f64> { fit.trace.iter().map(of).collect() };
    let trace = vec![
        ("step", column(&|p| p.round as f64)),
        ("objective", column(&|p| p.objective)),
        ("dual", column(&|p| p.dual)),
        ("gap", column(&|p| p.gap)),
    ];
    Ok(Found {
        lambda: l_tilde_min(&fit.scores, data.positive())?.lambda,
        weights: fit.weights,
        objective: fit.objective,
        proof: Some([fit.dual, fit.gap]),
        n_iter: fit.rounds,
        stop: ubauc::algorithm::Stop::from(fit.stop).name(),
        trace,
    })
}
