//! The options of the rivals in `ubauc train`.

use clap::Args;

use crate::algorithm::Own;

/// Parameters by the names of their papers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of the other algorithms")]
pub(super) struct RivalArgs {
    /// solam: the step after t examples is Z/sqrt(t) [default: searched for]
    #[arg(long, value_name = "Z", allow_hyphen_values = true)]
    pub(super) zeta: Option<f64>,
    /// opauc: the step [default: searched for]
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(super) eta: Option<f64>,
    /// opauc: weight of |w|²/2 [default: searched for]
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    pub(super) lambda: Option<f64>,
    /// opauc: rank of the covariances, 0 for full ones [default: full up to 1,000 features, then 50]
    #[arg(long, value_name = "RANK")]
    pub(super) tau: Option<usize>,
    /// oam-seq, oam-gra: largest step; svm-or: weight of the mean loss of pairs; svm: weight of the sum of losses
    /// [default: searched for]
    #[arg(long = "C", alias = "c", value_name = "C", allow_hyphen_values = true)]
    pub(super) c: Option<f64>,
    /// oam-seq, oam-gra: examples kept of each class [default: 100]
    #[arg(long, value_name = "N")]
    pub(super) buffer: Option<usize>,
    /// oam-seq, oam-gra: the mean of the weights after each example, not the last weights as in the paper
    #[arg(long)]
    pub(super) average: bool,
}

impl RivalArgs {
    pub(super) fn own(&self) -> Own {
        Own {
            zeta: self.zeta,
            eta: self.eta,
            lambda: self.lambda,
            tau: self.tau,
            c: self.c,
            buffer: self.buffer,
            average: self.average,
        }
    }
}
