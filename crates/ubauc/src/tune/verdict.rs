//! The choice against logistic regression, on examples that neither has seen.

use serde::Serialize;

use super::GridPoint;
use super::folds::LocalFolds;
use crate::Result;
use crate::metrics::{Auc, PairedTest, auc, clustered_auc, clustered_compare, compare};

/// A difference of this p-value is not put down to chance.
pub const SIGNIFICANT: f64 = 0.05;

/// AUC on the examples held out. Each example counts once, whatever its weight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The chosen point.
    pub ours: Auc,
    /// Logistic regression at its best γ.
    pub logistic: Auc,
    /// Ours less logistic.
    pub test: PairedTest,
    /// The chosen point *is* logistic regression: there is nothing to compare.
    pub is_logistic: bool,
    /// What it was judged by, where the rows are at hand.
    #[serde(skip)]
    pub held_out: Option<Box<HeldOut>>,
}

/// The examples held out, and what both models make of them.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOut {
    /// Their classes.
    pub positive: Vec<bool>,
    /// Their groups, where they come in some.
    pub groups: Option<Vec<u32>>,
    /// The chosen point.
    pub ours: Scored,
    /// Logistic regression at its best γ.
    pub logistic: Scored,
}

/// Examples that a model has not seen, scored by it.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// w·x of each.
    pub scores: Vec<f64>,
    /// b.
    pub intercept: f64,
    /// Where w·x + b becomes positive.
    pub threshold: f64,
}

impl Verdict {
    /// From the scores of both models on examples held out, in groups or not.
    pub fn of(
        [ours, logistic]: [&[f64]; 2],
        positive: &[bool],
        groups: Option<&[u32]>,
        is_logistic: bool,
    ) -> Result<Verdict> {
        Ok(match groups {
            None => Verdict {
                ours: auc(ours, positive)?,
                logistic: auc(logistic, positive)?,
                test: compare(ours, logistic, positive)?,
                is_logistic,
                held_out: None,
            },
            Some(groups) => Verdict {
                ours: clustered_auc(ours, positive, groups)?,
                logistic: clustered_auc(logistic, positive, groups)?,
                test: clustered_compare(ours, logistic, positive, groups)?,
                is_logistic,
                held_out: None,
            },
        })
    }

    /// Whether logistic regression is better, and not by chance.
    pub fn is_worse(&self) -> bool {
        self.test.difference < 0.0 && self.test.p.is_some_and(|p| p < SIGNIFICANT)
    }
}

/// Both fitted on all that is not held out.
pub(super) fn verdict(
    folds: &LocalFolds<'_>,
    chosen: &GridPoint,
    logistic: &GridPoint,
) -> Result<Verdict> {
    let is_logistic = chosen.setting.is_logistic();
    let training = folds.training(None)?;
    let ours = folds.scores(&training, chosen)?;
    let theirs = match is_logistic && chosen.gamma == logistic.gamma {
        true => ours.clone(),
        false => folds.scores(&training, logistic)?,
    };
    of_scores(folds, [ours, theirs], is_logistic)
}

/// Of the scores of the choice and of logistic regression.
pub(super) fn of_scores(
    folds: &LocalFolds<'_>,
    [ours, logistic]: [Scored; 2],
    is_logistic: bool,
) -> Result<Verdict> {
    let (positive, groups) = folds.held_out();
    let scores = [ours.scores.as_slice(), &logistic.scores];
    let verdict = Verdict::of(scores, &positive, groups.as_deref(), is_logistic)?;
    let held_out = HeldOut {
        positive,
        groups,
        ours,
        logistic,
    };
    Ok(Verdict {
        held_out: Some(Box::new(held_out)),
        ..verdict
    })
}
