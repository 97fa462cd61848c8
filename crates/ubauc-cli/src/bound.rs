//! `ubauc bound`: the univariate bound of AUC risk, and what it says of the scores.

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use ubauc::document::numbers::{interval, number, thousands};
use ubauc::document::{Document, Facts};
use ubauc::objective::univariate::{self, Bound};

use crate::input::{FileArg, ScoreArgs, Scores};
use crate::output::{self, Output};

/// What was typed after `ubauc bound`.
#[derive(Debug, Args)]
#[command(
    after_help = "AUC risk is 1 − AUC. Theorem 1: alpha_lower · L-tilde ≤ risk ≤ alpha_upper · L-tilde, \
    with 1/alpha the largest and smallest gap between neighbouring scores. Tied scores leave no \
    upper bound."
)]
pub(crate) struct BoundArgs {
    #[command(flatten)]
    input: FileArg,
    #[command(flatten)]
    scores: ScoreArgs,
}

pub(crate) fn run(args: &BoundArgs, output: Output) -> Result<()> {
    let path = &args.input.file;
    let Scores {
        columns, labels, ..
    } = args.scores.load_one(path, &[], output)?;
    let bound = univariate::bound(&columns[0], &labels.positive)
        .with_context(|| path.display().to_string())?;
    output.report(&Report { bound })
}

#[derive(Serialize)]
pub(crate) struct Report {
    #[serde(flatten)]
    pub(crate) bound: Bound,
}

impl output::Report for Report {
    fn document(&self) -> Document {
        let b = &self.bound;
        let mut facts = Facts::default();
        facts.add("AUC risk", number(b.auc_risk));
        facts.add("L-tilde", number(b.l_tilde));
        facts.add("lambda", interval(b.lambda));
        facts.add(
            "lower bound",
            match b.alpha_lower {
                Some(alpha) => format!("{} (alpha {})", number(b.risk_lower), number(alpha)),
                None => "none: all scores are equal".to_string(),
            },
        );
        facts.add(
            "upper bound",
            match (b.alpha_upper, b.tied_pairs) {
                (Some(alpha), _) if b.risk_upper >= 1.0 => {
                    format!("1, which says nothing (alpha {})", number(alpha))
                }
                (Some(alpha), _) => format!("{} (alpha {})", number(b.risk_upper), number(alpha)),
                (None, 0) => "none: two scores are too close".to_string(),
                (None, 1) => "no upper bound: 1 tied pair".to_string(),
                (None, n) => format!("no upper bound: {} tied pairs", thousands(n)),
            },
        );
        facts.add("SVM objective", number(b.svm_objective));
        facts.add(
            "population",
            match (&b.population, b.tied_opposite_pairs) {
                (Some(population), _) => {
                    let risk = number(population.risk_upper_estimate);
                    let density = number(population.density_max_estimate);
                    format!("{risk}, an estimate (largest density {density})")
                }
                (None, 0) => "none: two scores are too close".to_string(),
                (None, 1) => "none: 1 tied pair of opposite classes has no density".to_string(),
                (None, n) => {
                    let n = thousands(n);
                    format!("none: {n} tied pairs of opposite classes have no density")
                }
            },
        );
        facts.add("positive", thousands(b.n_pos as u64));
        facts.add("negative", thousands(b.n_neg as u64));
        facts.into()
    }
}
