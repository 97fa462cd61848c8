//! The choice against logistic regression, on examples that neither has seen.

use serde::Serialize;

use super::{GridPoint, Search};
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
    /// Whether logistic regression is better, and not by chance.
    pub fn is_worse(&self) -> bool {
        self.test.difference < 0.0 && self.test.p.is_some_and(|p| p < SIGNIFICANT)
    }
}

impl Search<'_> {
    pub(super) fn verdict(&self, chosen: &GridPoint, logistic: &GridPoint) -> Result<Verdict> {
        let is_logistic = chosen.setting.is_logistic();
        let same = is_logistic && chosen.gamma == logistic.gamma;
        self.plan(if same { 1 } else { 2 }, 0);
        let ours = self.held_out_scores(chosen)?;
        let theirs = match same {
            true => ours.clone(),
            false => self.held_out_scores(logistic)?,
        };
        let of = &self.parts.held_out;
        let positive: Vec<bool> = of.iter().map(|&i| self.data.positive()[i]).collect();
        let groups: Option<Vec<u32>> = self
            .inputs
            .groups
            .map(|groups| of.iter().map(|&i| groups[i]).collect());
        Ok(match groups {
            None => Verdict {
                ours: auc(&ours, &positive)?,
                logistic: auc(&theirs, &positive)?,
                test: compare(&ours, &theirs, &positive)?,
                is_logistic,
            },
            Some(groups) => Verdict {
                ours: clustered_auc(&ours, &positive, &groups)?,
                logistic: clustered_auc(&theirs, &positive, &groups)?,
                test: clustered_compare(&ours, &theirs, &positive, &groups)?,
                is_logistic,
            },
        })
    }
}
