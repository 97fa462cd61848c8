//! Hand & Till's M: AUC for c classes.
//!
//! Example r has one score s_r(k) for each class k. A(i|j) is the AUC of the scores for class i in
//! telling the examples of class i (positive) from those of class j (negative). It need not equal
//! A(j|i), which uses the scores for class j, so a pair has the mean of both:
//!
//!   M = 2/(c(c−1)) Σ_{i<j} ½ ( A(i|j) + A(j|i) )
//!
//! The weighted mean counts each pair by its share of the examples, (n_i + n_j)/N. In scikit-learn
//! these are `roc_auc_score(multi_class="ovo")` with `average="macro"` and `average="weighted"`.
//!
//! Hand & Till, Machine Learning 45 (2001).

use rayon::prelude::*;
use serde::Serialize;

use super::auc::auc;
use super::order::nan_score;
use super::weighted::weighted_auc;
use super::weighted_order::check_weight;
use crate::{Error, Result};

/// AUC for many classes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HandTill {
    /// Mean over the pairs of classes, each counted once.
    pub m: f64,
    /// Mean over the pairs of classes, each counted by the number of its examples, or by their weight.
    pub weighted: f64,
    /// Examples of each class.
    pub class_counts: Vec<usize>,
    /// All pairs i < j, in the order (0,1), (0,2), …, (1,2), ….
    pub pairs: Vec<ClassPair>,
}

/// Two of the classes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassPair {
    /// The first class.
    pub i: usize,
    /// The second class.
    pub j: usize,
    /// A(i|j): by the scores for class i.
    pub auc_i: f64,
    /// A(j|i): by the scores for class j.
    pub auc_j: f64,
    /// ½(A(i|j) + A(j|i)).
    pub auc: f64,
}

impl HandTill {
    /// Of each class k, by the scores for it: the mean over the others of A(k|j). Their mean is M.
    pub fn class_aucs(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.class_counts.len()];
        for pair in &self.pairs {
            sums[pair.i] += pair.auc_i;
            sums[pair.j] += pair.auc_j;
        }
        let others = sums.len() as f64 - 1.0;
        sums.into_iter().map(|sum| sum / others).collect()
    }
}

/// Hand & Till's M of `n` × `n_classes` scores, row after row, for examples of the given `classes`.
///
/// Every class 0…`n_classes`−1 must have an example.
///
/// ```
/// // Three examples, three classes; the third example is taken for class 1.
/// let scores = [0.8, 0.1, 0.1, 0.1, 0.7, 0.2, 0.1, 0.8, 0.1];
/// let m = ubauc::metrics::hand_till(&scores, 3, &[0, 1, 2])?;
/// assert_eq!(m.pairs[2].auc, 0.0);
/// # Ok::<(), ubauc::Error>(())
/// ```
pub fn hand_till(scores: &[f64], n_classes: usize, classes: &[usize]) -> Result<HandTill> {
    weighted_hand_till(scores, n_classes, classes, None)
}

/// The same of examples with weights, of which every class has some: A(i|j) is the weighted AUC, and the weighted mean
/// counts each pair by its share of the weight.
pub fn weighted_hand_till(
    scores: &[f64],
    n_classes: usize,
    classes: &[usize],
    weights: Option<&[f64]>,
) -> Result<HandTill> {
    let rows = rows_by_class(scores, n_classes, classes)?;
    if let Some(weights) = weights {
        check_weights(weights, &rows, classes.len())?;
    }
    let pairs: Vec<(usize, usize)> = (0..n_classes)
        .flat_map(|i| (i + 1..n_classes).map(move |j| (i, j)))
        .collect();
    let pairs = pairs
        .into_par_iter()
        .map(|(i, j)| {
            let one = |column: usize, positive: &[usize], negative: &[usize]| {
                let both = || positive.iter().chain(negative);
                let scores: Vec<f64> = both().map(|r| scores[r * n_classes + column]).collect();
                let labels: Vec<bool> = (0..scores.len()).map(|r| r < positive.len()).collect();
                let Some(weights) = weights else {
                    return auc(&scores, &labels).map(|a| a.auc);
                };
                let weights: Vec<f64> = both().map(|&r| weights[r]).collect();
                weighted_auc(&scores, &labels, &weights).map(|a| a.auc)
            };
            let auc_i = one(i, &rows[i], &rows[j])?;
            let auc_j = one(j, &rows[j], &rows[i])?;
            Ok(ClassPair {
                i,
                j,
                auc_i,
                auc_j,
                auc: 0.5 * (auc_i + auc_j),
            })
        })
        .collect::<Result<Vec<_>>>()?;

    let m = pairs.iter().map(|p| p.auc).sum::<f64>() / pairs.len() as f64;
    let largest = weights.map(|weights| weights.iter().copied().fold(0.0, f64::max));
    let total = |rows: &Vec<usize>| match weights.zip(largest) {
        // As shares of the largest, whose sum is never too large.
        Some((weights, largest)) => rows.iter().map(|&r| weights[r] / largest).sum(),
        None => rows.len() as f64,
    };
    let totals: Vec<f64> = rows.iter().map(total).collect();
    let size = |p: &ClassPair| totals[p.i] + totals[p.j];
    let weighted =
        pairs.iter().map(|p| size(p) * p.auc).sum::<f64>() / pairs.iter().map(size).sum::<f64>();
    Ok(HandTill {
        m,
        weighted,
        class_counts: rows.iter().map(Vec::len).collect(),
        pairs,
    })
}

/// Checks everything; the rows of each class.
/// Refuses weights by the row, and a class that has none.
fn check_weights(weights: &[f64], rows: &[Vec<usize>], n: usize) -> Result<()> {
    if weights.len() != n {
        return Err(Error::Length {
            what: "sample weights",
            expected: n,
            got: weights.len(),
        });
    }
    let mut each = weights.iter().enumerate();
    each.try_for_each(|(row, &weight)| check_weight(row, weight))?;
    let has_none = |rows: &Vec<usize>| rows.iter().all(|&r| weights[r] == 0.0);
    match rows.iter().position(has_none) {
        Some(class) => {
            let what = format!("class {class} has no sample weight");
            Err(Error::Classes { what })
        }
        None => Ok(()),
    }
}

fn rows_by_class(scores: &[f64], n_classes: usize, classes: &[usize]) -> Result<Vec<Vec<usize>>> {
    let parameter = |name, value, must| Err(Error::Parameter { name, value, must });
    if n_classes < 2 {
        return parameter("n_classes", n_classes.to_string(), "at least 2");
    }
    if classes.is_empty() {
        return Err(Error::Empty);
    }
    let Some(expected) = classes.len().checked_mul(n_classes) else {
        return parameter(
            "n_classes",
            n_classes.to_string(),
            "the number of columns of the scores",
        );
    };
    if scores.len() != expected {
        return Err(Error::Length {
            what: "scores",
            expected,
            got: scores.len(),
        });
    }
    if let Some(at) = scores.iter().position(|s| s.is_nan()) {
        return Err(nan_score(at / n_classes));
    }
    let mut rows = vec![Vec::new(); n_classes];
    for (row, &class) in classes.iter().enumerate() {
        match rows.get_mut(class) {
            Some(rows) => rows.push(row),
            None => {
                let value = format!("{class} (example {row})");
                return parameter("class", value, "below the number of classes");
            }
        }
    }
    match rows.iter().position(Vec::is_empty) {
        Some(class) => {
            let what = format!("class {class} of {n_classes} has no examples");
            Err(Error::Classes { what })
        }
        None => Ok(rows),
    }
}
