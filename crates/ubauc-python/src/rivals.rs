//! The rivals: SOLAM, OPAUC, OAM and the ranking SVM, all by one function.

use numpy::{PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ubauc::algorithm::{Algorithm, Spec};
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
use crate::fit::scale_of;
use crate::input::{Matrix, detached};

/// Options of every one of them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RivalOptions<'py> {
    /// By the command line's name.
    algorithm: String,
    /// Its parameters, by the names of the command line; what is not there is the library's default.
    own: Bound<'py, PyDict>,
    scale: String,
    tolerance: f64,
    /// Passes or rounds.
    max_iter: usize,
    shuffle: bool,
    seed: u64,
    classes: [String; 2],
    n_jobs: usize,
    progress: Option<Py<PyAny>>,
}

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
    params: RivalOptions<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let spec = params.spec()?;
    let (x, positive) = (x.slices()?, positive.as_slice()?);
    let RivalOptions {
        classes,
        n_jobs,
        progress,
        ..
    } = params;
    let passes = Passes {
        passes: params.max_iter,
        tolerance: params.tolerance,
        shuffle: params.shuffle.then_some(params.seed),
    };
    let found = detached(py, n_jobs, || {
        let data = x.dataset(positive, classes)?;
        spec.check().map_err(Refused::from)?;
        let divisors = spec.divisors(&data, None)?;
        fit(
            &spec,
            &data,
            divisors.as_deref(),
            &passes,
            progress.as_ref(),
        )
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

impl RivalOptions<'_> {
    pub(crate) fn spec(&self) -> PyResult<Spec> {
        let must = "solam, opauc, oam-seq, oam-gra or svm-or";
        let algorithm = Algorithm::named(&self.algorithm);
        let known = algorithm.filter(|a| a.is_rival() && *a != Algorithm::Svm);
        let algorithm = known.ok_or_else(|| unknown("algorithm", &self.algorithm, must))?;
        let mut spec = Spec::new(algorithm);
        spec.set_scale(scale_of(&self.scale)?);
        spec.set_seed(self.seed);
        spec.set("tolerance", self.tolerance);
        match &mut spec {
            Spec::SvmOr(spec) => spec.params.max_rounds = self.max_iter,
            spec => {
                spec.set_passes(self.max_iter);
            }
        }
        for (name, value) in self.own.iter() {
            let name: String = name.extract()?;
            match (&mut spec, name.as_str()) {
                (Spec::OamSeq(oam) | Spec::OamGra(oam), "average") => {
                    oam.average = value.extract()?;
                }
                (spec, name) => {
                    if !spec.set(name, value.extract()?) {
                        let shown = value.to_string();
                        return Err(unknown(name, &shown, "a parameter of this algorithm"));
                    }
                }
            }
        }
        Ok(spec)
    }
}

fn fit(
    spec: &Spec,
    data: &Dataset,
    divisors: Option<&[f64]>,
    passes: &Passes,
    progress: Option<&Py<PyAny>>,
) -> Result<Found, Refused> {
    let d = data.rows().cols();
    let online = Stream {
        data,
        divisors,
        passes,
        progress,
    };
    let oam = |update, oam: &ubauc::algorithm::Oam| Oam::new(d, &oam.params(update));
    match spec {
        Spec::Solam(spec) => online.fit(Solam::of_rows(data.rows(), divisors, &spec.params)?),
        Spec::Opauc(spec) => online.fit(Opauc::new(d, &spec.params(d))?),
        Spec::OamSeq(spec) => online.fit(oam(Update::Sequential, spec)?),
        Spec::OamGra(spec) => online.fit(oam(Update::Gradient, spec)?),
        Spec::SvmOr(spec) => fit_svm_or(data, divisors, &spec.params, progress),
        Spec::BaUbauc(_) | Spec::OlUbauc(_) | Spec::Svm(_) | Spec::Logistic(_) => {
            // `RivalOptions::spec` makes none of these.
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
    passes: &'a Passes,
    progress: Option<&'a Py<PyAny>>,
}

impl Stream<'_> {
    fn fit(&self, learner: impl Online) -> Result<Found, Refused> {
        let say = |p: &PassPoint| report_progress(self.progress, p.pass, p.objective, Some(p.auc));
        let given = OnlineInputs {
            divisors: self.divisors,
            progress: Some(&say),
        };
        let fit = passes::fit(self.data, &given, Interruptible(learner), self.passes)?;
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
