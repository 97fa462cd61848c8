//! More than two classes: one scorer for each, trained for Hand and Till's M.
//!
//! With a scorer f_c for every class c of K, and A(c|d) the AUC of f_c on the examples of the classes c (positive) and d,
//!
//! ```text
//! M = 2/(K(K−1)) Σ_{c<d} ½ ( A(c|d) + A(d|c) ) = 1/K Σ_c M_c,   M_c = 1/(K−1) Σ_{d≠c} A(c|d),
//! ```
//!
//! since every ordered pair occurs once. M_c depends on f_c alone: **the criterion separates into K problems**. And AUC
//! is linear in the distribution of the negatives: against a mixture of classes with the shares π_d it is Σ_d π_d A(c|d). So
//! M_c is the AUC of c against the mixture in which every other class has the share 1/(K−1): one against the rest
//! with weights that make the other classes count alike. With sample weights s_i and W_d = Σ_{i∈d} s_i they are
//!
//! ```text
//! a_i = s_i                                   i of class c,
//! a_i = s_i · (Σ_{e≠c} W_e) / ((K−1) W_d)     i of class d ≠ c,
//! ```
//!
//! whose sum over the negatives is the same as that of s_i, so that W⁺ and W⁻ of the bound are those of the data; AUC does not
//! depend on W⁺/W⁻, the bound does, and `balanced` class weights halve it. Plain one against the rest, a_i = s_i, maximises
//! Σ_d W_d A(c|d) instead, in which large classes count most. For two classes all a_i are s_i, and f_1 is the scorer of
//! two classes.
//!
//! **Bound and certificate.** Each problem has the univariate bound of weighted examples, P_c(w_c, λ_c), convex, with a dual
//! value D_c ≤ min P_c. All scorers together minimise P = 1/K Σ_c P_c, which is convex as well, D = 1/K Σ_c D_c ≤ min P, and
//!
//! ```text
//! P − min P ≤ P − D = 1/K Σ_c (P_c − D_c),   gap = (P − D)/|P| ≤ max_c gap_c.
//! ```
//!
//! (Σ_c (P_c − D_c) ≤ max gap · Σ_c P_c, as no P_c is negative.) Theorem 1 is of examples that count alike: it holds for
//! 1 − M_c where all a_i are equal, as in classes of equal size, and not for others. Hand & Till, Machine Learning 45 (2001).

mod model;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::algorithm::{FitInputs, Outcome, Spec, Stop, fit};
use crate::data::dataset::Dataset;
use crate::data::labels::{Binary, Labels};
use crate::data::scale::check_weights;
use crate::data::table::Table;
use crate::features::columns::ColumnMap;
use crate::{Error, Result};
pub use model::{ClassModel, by_rows};

/// More classes are not trained: a target that is a number, most likely.
pub const MOST_CLASSES: usize = 1000;

/// How the other classes count for the scorer of one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MultiClass {
    /// Alike, whatever their sizes: trained is Hand and Till's M.
    #[default]
    HandTill,
    /// By their examples.
    OneAgainstRest,
}

/// Labels of many classes, each with some weight.
#[derive(Debug, Clone)]
pub struct Classes<'a> {
    labels: &'a Labels,
    weights: Option<&'a [f64]>,
    totals: Vec<f64>,
    multi_class: MultiClass,
}

/// The problem of one scorer.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassProblem {
    /// The class is positive.
    pub labels: Binary,
    /// a_i; all 1 if none.
    pub weights: Option<Vec<f64>>,
}

impl<'a> Classes<'a> {
    /// Refuses fewer than two classes, too many, and one without weight.
    pub fn new(
        labels: &'a Labels,
        weights: Option<&'a [f64]>,
        multi_class: MultiClass,
    ) -> Result<Classes<'a>> {
        let (n, classes) = (labels.codes().len(), labels.classes());
        match classes {
            [] => return Err(Error::Empty),
            [only] => {
                let class = only.to_string();
                return Err(Error::OneClass { class, n });
            }
            _ if classes.len() > MOST_CLASSES => {
                let what = format!(
                    "{} classes; a scorer for each is trained of at most {MOST_CLASSES}",
                    classes.len()
                );
                return Err(Error::Classes { what });
            }
            _ => {}
        }
        if let Some(weights) = weights {
            check_weights(weights, n)?;
        }
        let mut totals = vec![0.0; classes.len()];
        for (i, &code) in labels.codes().iter().enumerate() {
            totals[code as usize] += weights.map_or(1.0, |s| s[i]);
        }
        if let Some(class) = totals.iter().position(|total| *total == 0.0) {
            let what = format!("all examples of class {} have weight 0", classes[class]);
            return Err(Error::Classes { what });
        }
        Ok(Classes {
            labels,
            weights,
            totals,
            multi_class,
        })
    }

    /// K.
    pub fn count(&self) -> usize {
        self.totals.len()
    }

    /// What the data calls them.
    pub fn names(&self) -> Vec<String> {
        let classes = self.labels.classes().iter();
        classes.map(ToString::to_string).collect()
    }

    /// The labels.
    pub fn labels(&self) -> &'a Labels {
        self.labels
    }

    /// s_i.
    pub fn weights(&self) -> Option<&'a [f64]> {
        self.weights
    }

    /// The linear map of a table, one for the scorers of all classes: learned with s_i, not with the a_i of a class.
    pub fn linear_map(&self, table: &Table) -> Result<ColumnMap> {
        ColumnMap::learn(table, self.weights)
    }

    /// s_i where a_i > 0: what the map that all scorers share is learned with where a fold is left out.
    pub(crate) fn weights_where(&self, a: &[f64]) -> Vec<f64> {
        let own = |i: usize| self.weights.map_or(1.0, |s| s[i]);
        let kept = a.iter().enumerate();
        kept.map(|(i, &a)| if a > 0.0 { own(i) } else { 0.0 })
            .collect()
    }

    /// One class against the others.
    ///
    /// # Panics
    /// If there is no such class.
    pub fn problem(&self, class: usize) -> ClassProblem {
        let codes = self.labels.codes();
        let positive: Vec<bool> = codes.iter().map(|&code| code as usize == class).collect();
        let n_pos = self.labels.counts()[class];
        let name = |class: usize| self.labels.classes()[class].to_string();
        let rest = match self.count() {
            2 => name(1 - class),
            _ => "rest".to_string(),
        };
        ClassProblem {
            labels: Binary {
                n_pos,
                n_neg: positive.len() - n_pos,
                positive,
                names: [rest, name(class)],
            },
            weights: self.problem_weights(class),
        }
    }

    /// a_i.
    fn problem_weights(&self, class: usize) -> Option<Vec<f64>> {
        // With two classes the factor is 1.
        if self.multi_class == MultiClass::OneAgainstRest || self.count() == 2 {
            return self.weights.map(<[f64]>::to_vec);
        }
        let others = self.totals.iter().enumerate().filter(|(d, _)| *d != class);
        let share = others.map(|(_, total)| total).sum::<f64>() / (self.count() - 1) as f64;
        let factor = |(d, total): (usize, &f64)| if d == class { 1.0 } else { share / total };
        let factors: Vec<f64> = self.totals.iter().enumerate().map(factor).collect();
        let codes = self.labels.codes().iter().enumerate();
        let weight =
            |(i, code): (usize, &u32)| factors[*code as usize] * self.weights.map_or(1.0, |s| s[i]);
        Some(codes.map(weight).collect())
    }
}

/// How near the optimum all scorers together are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WholeCertificate {
    /// P, the mean of the classes' objectives.
    pub objective: Option<f64>,
    /// D, a lower bound of its minimum; none if that of a class is unknown.
    pub dual: Option<f64>,
    /// (P − D)/|P|.
    pub gap: Option<f64>,
    /// Why the solver stopped: of the first class where it did not end as near as was asked, if there is one.
    pub stop: Option<Stop>,
    /// Examples.
    pub n: u64,
}

impl WholeCertificate {
    /// Of the outcomes of all classes.
    pub fn of(outcomes: &[Outcome]) -> WholeCertificate {
        let k = outcomes.len() as f64;
        let mean = |of: fn(&Outcome) -> Option<f64>| {
            let values: Option<Vec<f64>> = outcomes.iter().map(of).collect();
            values.map(|values| values.iter().sum::<f64>() / k)
        };
        let (objective, dual) = (
            mean(|o| o.certificate.objective),
            mean(|o| o.certificate.dual),
        );
        let gap = objective.zip(dual).map(|(p, d)| {
            let gap = (p - d) / p.abs();
            if p == d { 0.0 } else { gap }
        });
        let is_near = |o: &&Outcome| matches!(o.stop, Stop::Converged | Stop::Still);
        let first = outcomes.iter().find(|o| !is_near(o)).or(outcomes.first());
        WholeCertificate {
            objective,
            dual,
            gap,
            stop: first.map(|o| o.stop),
            n: outcomes.first().map_or(0, |o| o.certificate.n),
        }
    }
}

/// What was learned of all classes.
#[derive(Debug, Clone)]
pub struct ClassOutcome {
    /// Of every class.
    pub outcomes: Vec<Outcome>,
    /// Of all together.
    pub certificate: WholeCertificate,
}

/// Learns a scorer for every class by an algorithm that takes sample weights. Of the data only the rows are read, which all
/// scorers share; weights are those of the classes. Classes are learned side by side, each with the same bits as alone.
pub fn fit_classes(
    data: &Dataset,
    classes: &Classes<'_>,
    inputs: &FitInputs<'_>,
    spec: &Spec,
) -> Result<ClassOutcome> {
    refuse_weightless(spec)?;
    let outcomes = (0..classes.count())
        .into_par_iter()
        .with_max_len(1)
        .map(|class| {
            let problem = classes.problem(class);
            let inputs = FitInputs {
                weights: problem.weights.as_deref(),
                ..*inputs
            };
            fit(&data.relabelled(problem.labels)?, &inputs, spec)
        })
        .collect::<Result<Vec<Outcome>>>()?;
    Ok(ClassOutcome {
        certificate: WholeCertificate::of(&outcomes),
        outcomes,
    })
}

/// Refuses an algorithm without sample weights.
pub fn refuse_weightless(spec: &Spec) -> Result<()> {
    let algorithm = spec.algorithm();
    if algorithm.is_rival() {
        return Err(Error::Parameter {
            name: "algorithm",
            value: algorithm.name().to_string(),
            must: "one that takes sample weights, by which classes count alike: ba-ubauc, ol-ubauc or logistic",
        });
    }
    Ok(())
}
