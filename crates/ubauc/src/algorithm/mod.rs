//! The algorithms: one name, one [`Spec`] of parameters and one [`fit`] for all of them.
//!
//! A [`Spec`] is a tagged enum: what is written as `{"algorithm": "ba-ubauc", "beta": 0.5, …}` is all that is needed
//! to learn again. Defaults are those of the parameter structs in [`solver`](crate::solver) and stand nowhere
//! else. To add an algorithm: its file in `solver/`, a variant of [`Algorithm`] and of [`Spec`], and an arm in each `match` that
//! the compiler then names; `docs/add-an-algorithm.md` has an example.

mod batch;
mod learner;
mod named;
mod online;
mod outcome;
mod rival_learner;
mod spec;
mod table;

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::data::dataset::Dataset;
use crate::solver::oam::Update;
use online::OamBy;

pub use crate::solver::ol_ubauc::passes::Start;
pub use crate::solver::passes::Passing;
pub use learner::Learner;
pub use outcome::{Effort, Outcome, Progress, Stop, Trace, TrainingSet};
pub use rival_learner::RivalLearner;
pub use spec::{BaUbauc, Logistic, Oam, OlUbauc, Opauc, PassSpec, Solam, Solver, Spec, Svm, SvmOr};
pub use table::{fit_mapped, fit_table};

/// An algorithm by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// The univariate bound of AUC, certified.
    BaUbauc,
    /// The same bound by passes of the online learner.
    OlUbauc,
    /// Ying, Wen & Lyu 2016.
    Solam,
    /// Gao et al. 2013.
    Opauc,
    /// Zhao et al. 2011, passive-aggressive steps.
    OamSeq,
    /// Zhao et al. 2011, gradient steps.
    OamGra,
    /// Joachims 2005.
    SvmOr,
    /// The linear support vector machine.
    Svm,
    /// Logistic regression.
    Logistic,
}

impl Algorithm {
    /// All of them, in the order of the help.
    pub fn all() -> impl Iterator<Item = Algorithm> {
        // A chain: the compiler asks for the next of a new one, and a test counts them.
        use Algorithm as A;
        std::iter::successors(Some(A::BaUbauc), |algorithm| match algorithm {
            A::BaUbauc => Some(A::OlUbauc),
            A::OlUbauc => Some(A::Solam),
            A::Solam => Some(A::Opauc),
            A::Opauc => Some(A::OamSeq),
            A::OamSeq => Some(A::OamGra),
            A::OamGra => Some(A::SvmOr),
            A::SvmOr => Some(A::Svm),
            A::Svm => Some(A::Logistic),
            A::Logistic => None,
        })
    }

    /// As it is typed and written to files.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::BaUbauc => "ba-ubauc",
            Algorithm::OlUbauc => "ol-ubauc",
            Algorithm::Solam => "solam",
            Algorithm::Opauc => "opauc",
            Algorithm::OamSeq => "oam-seq",
            Algorithm::OamGra => "oam-gra",
            Algorithm::SvmOr => "svm-or",
            Algorithm::Svm => "svm",
            Algorithm::Logistic => "logistic",
        }
    }

    /// The algorithm of that name.
    pub fn named(name: &str) -> Option<Algorithm> {
        Algorithm::all().find(|a| a.name() == name)
    }

    /// In a line.
    pub fn summary(self) -> &'static str {
        match self {
            Algorithm::BaUbauc => "The univariate bound of AUC, minimised with a certificate",
            Algorithm::OlUbauc => {
                "The same bound, by passes of the online learner: fast, without a certificate"
            }
            Algorithm::Solam => {
                "Pairwise square loss as a saddle point, online [Ying, Wen, Lyu 2016]"
            }
            Algorithm::Opauc => {
                "Pairwise square loss by means and covariances, one pass [Gao et al. 2013]"
            }
            Algorithm::OamSeq => {
                "Pairwise hinge against a buffer, passive-aggressive steps [Zhao et al. 2011]"
            }
            Algorithm::OamGra => {
                "Pairwise hinge against a buffer, gradient steps [Zhao et al. 2011]"
            }
            Algorithm::SvmOr => {
                "Pairwise hinge over all pairs, minimised with a certificate [Joachims 2005]"
            }
            Algorithm::Svm => {
                "Linear support vector machine, minimised with a certificate; always with an intercept"
            }
            Algorithm::Logistic => "Logistic regression, the baseline; always with an intercept",
        }
    }

    /// Whether it minimises P of β, γ and the least squares.
    pub fn is_ubauc(self) -> bool {
        use Algorithm::{BaUbauc, Logistic, OamGra, OamSeq, OlUbauc, Opauc, Solam, Svm, SvmOr};
        match self {
            BaUbauc | OlUbauc => true,
            Solam | Opauc | OamSeq | OamGra | SvmOr | Svm | Logistic => false,
        }
    }

    /// Whether it is defined by a paper other than ours: parameters of its own, no sample weights, no start.
    pub fn is_rival(self) -> bool {
        !self.is_ubauc() && self != Algorithm::Logistic
    }

    /// Whether it learns from one example at a time.
    pub fn is_online(self) -> bool {
        use Algorithm::{BaUbauc, Logistic, OamGra, OamSeq, OlUbauc, Opauc, Solam, Svm, SvmOr};
        match self {
            OlUbauc | Solam | Opauc | OamSeq | OamGra => true,
            BaUbauc | SvmOr | Svm | Logistic => false,
        }
    }
}

/// What is given besides the parameters.
#[derive(Default, Clone, Copy)]
pub struct FitInputs<'a> {
    /// Sample weights s_i ≥ 0; 1 if none. The rivals refuse them.
    pub weights: Option<&'a [f64]>,
    /// Where to start; the rivals and block descent have a start of their own.
    pub start: Option<Start<'a>>,
    /// Called after every step, round or pass.
    pub progress: Option<&'a (dyn Fn(&Progress) + Sync)>,
    /// Called before every example of the rivals that learn online, whose passes may be long.
    pub before_example: Option<&'a (dyn Fn() + Sync)>,
}

/// Learns by any algorithm.
pub fn fit(data: &Dataset, inputs: &FitInputs<'_>, spec: &Spec) -> Result<Outcome> {
    spec.check()?;
    let divisors = spec.divisors(data, inputs.weights)?;
    let divisors = divisors.as_deref();
    let solution = match spec {
        Spec::BaUbauc(spec) => batch::ba_ubauc(data, inputs, divisors, spec),
        Spec::OlUbauc(spec) => online::ol_ubauc(data, inputs, divisors, spec),
        Spec::Solam(spec) => online::passes(data, inputs, divisors, spec),
        Spec::Opauc(spec) => online::passes(data, inputs, divisors, spec),
        Spec::OamSeq(spec) => {
            online::passes(data, inputs, divisors, &OamBy(spec, Update::Sequential))
        }
        Spec::OamGra(spec) => {
            online::passes(data, inputs, divisors, &OamBy(spec, Update::Gradient))
        }
        Spec::SvmOr(spec) => batch::svm_or(data, inputs, divisors, spec),
        Spec::Svm(spec) => batch::svm(data, divisors, spec),
        Spec::Logistic(spec) => batch::logistic(data, inputs, divisors, spec),
    };
    Ok(solution?.outcome(&TrainingSet::from(data)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every algorithm leaves a model of its data that a file can hold, and a certificate.
    #[test]
    fn an_outcome_is_a_model_with_its_certificate() {
        use crate::data::labels::Binary;
        use crate::data::rows::{Dense, Rows};
        use crate::model_file::SavedModel;
        let n = 40_usize;
        let value = |at: usize| ((at * 7919) % 101) as f64 / 50.0 - 1.0;
        let values: Vec<f64> = (0..2 * n).map(value).collect();
        let positive: Vec<bool> = (0..n)
            .map(|i| value(2 * i) + 0.3 * value(i) > 0.2)
            .collect();
        let n_pos = positive.iter().filter(|p| **p).count();
        let labels = Binary {
            n_pos,
            n_neg: n - n_pos,
            positive,
            names: ["no".to_string(), "yes".to_string()],
        };
        let names = vec!["age".to_string(), "height".to_string()];
        let rows = Rows::Dense(Dense::new(values, n, 2).unwrap());
        let data = Dataset::new(rows, labels, names.clone()).unwrap();
        for algorithm in Algorithm::all() {
            let found = fit(&data, &FitInputs::default(), &Spec::new(algorithm)).unwrap();
            let Outcome {
                model, certificate, ..
            } = &found;
            assert_eq!(
                (&model.names, &model.classes[1]),
                (&names, &"yes".to_string())
            );
            assert_eq!(certificate.stop, Some(found.stop));
            assert_eq!(certificate.n, n as u64);
            assert_eq!(certificate.n_pos, n_pos as u64);
            if let Some([low, high]) = certificate.lambda {
                assert!((low..=high).contains(&model.threshold));
            }
            let (model, certificate) = (model.clone(), certificate.clone());
            let saved = SavedModel::new(model, algorithm.name(), <_>::default(), certificate);
            let saved = saved.unwrap();
            let read = SavedModel::from_json(&saved.to_json().unwrap()).unwrap();
            assert_eq!(read, saved);
        }
    }

    #[test]
    fn a_spec_is_written_and_read_with_its_name() {
        assert_eq!(Algorithm::all().count(), 9);
        for algorithm in Algorithm::all() {
            assert_eq!(Algorithm::named(algorithm.name()), Some(algorithm));
            let mut spec = Spec::new(algorithm);
            assert_eq!(spec.algorithm(), algorithm);
            spec.check().unwrap();
            spec.set_seed(7);
            assert!(spec.set("tolerance", 1e-3));
            assert!(!spec.set("no such parameter", 1.0));
            assert_eq!(
                spec.set_passes(3),
                algorithm.is_online() || algorithm == Algorithm::Svm
            );
            let text = serde_json::to_string(&spec).unwrap();
            assert!(
                text.starts_with(&format!("{{\"algorithm\":\"{}\"", algorithm.name())),
                "{text}"
            );
            assert_eq!(serde_json::from_str::<Spec>(&text).unwrap(), spec);
            // What is left out has its default.
            let short = format!("{{\"algorithm\":\"{}\"}}", algorithm.name());
            assert_eq!(
                serde_json::from_str::<Spec>(&short).unwrap(),
                Spec::new(algorithm)
            );
            // Every number that is searched for can be set, and is then among the parameters.
            for (name, values) in spec.searched() {
                assert!(spec.set(name, values[0]));
                assert_eq!(spec.parameters()[name], serde_json::json!(values[0]));
            }
        }
        assert_eq!(Algorithm::named("perceptron"), None);
    }
}
