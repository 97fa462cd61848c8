//! Parameters by the names of the options: for grids, model files and reports.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Oam, Spec};

impl Spec {
    /// Its parameters by name; what the data decide is not among them.
    pub fn parameters(&self) -> BTreeMap<&'static str, Value> {
        let mut named = BTreeMap::new();
        match self {
            Spec::BaUbauc(spec) => {
                named.insert("beta", json!(spec.params.beta));
                named.insert("gamma", json!(spec.params.gamma));
                named.insert("softness", json!(spec.params.softness));
                named.insert("class_weight", json!(spec.params.class_weight));
            }
            Spec::OlUbauc(spec) => {
                named.insert("beta", json!(spec.params.beta));
                named.insert("gamma", json!(spec.params.gamma));
                named.insert("softness", json!(spec.params.softness));
                named.insert("class_weight", json!(spec.params.class_weight));
                if !spec.finds_eta0 {
                    named.insert("eta0", json!(spec.params.eta0));
                }
            }
            Spec::Logistic(spec) => {
                named.insert("gamma", json!(spec.gamma));
                named.insert("class_weight", json!(spec.class_weight));
            }
            Spec::Solam(spec) => {
                named.insert("zeta", json!(spec.params.zeta));
                named.insert("radius", json!(spec.params.radius));
            }
            Spec::Opauc(spec) => {
                named.insert("eta", json!(spec.eta));
                named.insert("lambda", json!(spec.lambda));
                if let Some(tau) = spec.tau {
                    named.insert("tau", json!(tau));
                }
            }
            Spec::OamSeq(Oam {
                c, buffer, average, ..
            })
            | Spec::OamGra(Oam {
                c, buffer, average, ..
            }) => {
                named.insert("C", json!(c));
                named.insert("buffer", json!(buffer));
                if *average {
                    named.insert("average", json!(true));
                }
            }
            Spec::SvmOr(spec) => {
                named.insert("C", json!(spec.params.c));
            }
            Spec::Svm(spec) => {
                named.insert("C", json!(spec.params.c));
            }
        }
        named
    }

    /// Sets a parameter by name. False if the algorithm has none of that name, or if the value is none of its kind.
    pub fn set(&mut self, name: &str, value: f64) -> bool {
        let count = (value >= 0.0 && value.fract() == 0.0).then_some(value as usize);
        match (name, count) {
            ("tolerance", _) => return self.set_tolerance(value),
            ("passes", Some(passes)) => return self.set_passes(passes),
            _ => {}
        }
        match (self, name, count) {
            (Spec::BaUbauc(spec), "beta", _) => spec.params.beta = value,
            (Spec::BaUbauc(spec), "gamma", _) => spec.params.gamma = value,
            (Spec::BaUbauc(spec), "softness", _) => spec.params.softness = value,
            (Spec::OlUbauc(spec), "beta", _) => spec.params.beta = value,
            (Spec::OlUbauc(spec), "gamma", _) => spec.params.gamma = value,
            (Spec::OlUbauc(spec), "softness", _) => spec.params.softness = value,
            (Spec::OlUbauc(spec), "eta0", _) => {
                spec.params.eta0 = value;
                spec.finds_eta0 = false;
            }
            (Spec::OlUbauc(spec), "radius", _) => spec.params.radius = Some(value),
            (Spec::Logistic(spec), "gamma", _) => spec.gamma = value,
            (Spec::Solam(spec), "zeta", _) => spec.params.zeta = value,
            (Spec::Solam(spec), "radius", _) => spec.params.radius = value,
            (Spec::Opauc(spec), "eta", _) => spec.eta = value,
            (Spec::Opauc(spec), "lambda", _) => spec.lambda = value,
            (Spec::Opauc(spec), "tau", Some(tau)) => spec.tau = Some(tau),
            (Spec::OamSeq(spec) | Spec::OamGra(spec), "C", _) => spec.c = value,
            (Spec::OamSeq(spec) | Spec::OamGra(spec), "buffer", Some(buffer)) => {
                spec.buffer = buffer;
            }
            (Spec::SvmOr(spec), "C", _) => spec.params.c = value,
            (Spec::Svm(spec), "C", _) => spec.params.c = value,
            _ => return false,
        }
        true
    }

    fn set_tolerance(&mut self, value: f64) -> bool {
        match self {
            Spec::BaUbauc(spec) => spec.params.tolerance = value,
            Spec::SvmOr(spec) => spec.params.tolerance = value,
            Spec::Svm(spec) => spec.params.tolerance = value,
            Spec::Logistic(spec) => spec.tolerance = value,
            Spec::OlUbauc(_)
            | Spec::Solam(_)
            | Spec::Opauc(_)
            | Spec::OamSeq(_)
            | Spec::OamGra(_) => {
                if let Some(passes) = self.passes_mut() {
                    passes.tolerance = value;
                }
            }
        }
        true
    }

    /// At most this many passes; false if the algorithm makes none.
    pub fn set_passes(&mut self, passes: usize) -> bool {
        if let Spec::Svm(spec) = self {
            spec.params.max_passes = passes;
            return true;
        }
        match self.passes_mut() {
            Some(spec) => {
                spec.max_passes = passes;
                true
            }
            None => false,
        }
    }

    /// Parameters that are searched for where they are not given, with the values to try, the more cautious first.
    pub fn searched(&self) -> Vec<(&'static str, Vec<f64>)> {
        match self {
            Spec::Solam(_) => vec![
                ("zeta", vec![0.1, 1.0, 10.0]),
                ("radius", vec![1.0, 3.0, 10.0]),
            ],
            Spec::Opauc(_) => vec![
                ("eta", vec![1e-3, 4e-3, 1.6e-2, 6.4e-2]),
                ("lambda", vec![1e-4, 1e-2]),
            ],
            Spec::OamSeq(_) | Spec::OamGra(_) => {
                vec![("C", vec![1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2])]
            }
            Spec::SvmOr(_) => vec![("C", vec![1.0, 10.0, 100.0, 1000.0])],
            Spec::Svm(_) => vec![("C", vec![1e-3, 1e-2, 1e-1, 1.0])],
            Spec::BaUbauc(_) | Spec::OlUbauc(_) | Spec::Logistic(_) => Vec::new(),
        }
    }
}
