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
            },
            Some(groups) => Verdict {
                ours: clustered_auc(ours, positive, groups)?,
                logistic: clustered_auc(logistic, positive, groups)?,
                test: clustered_compare(ours, logistic, positive, groups)?,
                is_logistic,
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
    of_scores(folds, [&ours, &theirs], is_logistic)
}

/// Of the scores of the choice and of logistic regression.
pub(super) fn of_scores(
    folds: &LocalFolds<'_>,
    [ours, theirs]: [&[f64]; 2],
    is_logistic: bool,
) -> Result<Verdict> {
    let (positive, groups) = folds.held_out();
    Verdict::of([ours, theirs], &positive, groups.as_deref(), is_logistic)
}
