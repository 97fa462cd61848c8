//! AUC and its DeLong variance, in exact integers, O(N) time.
//!
//!   AUC = 1/(N⁺N⁻) Σ_{i∈+} Σ_{j∈−} ( 1[c_i > c_j] + ½·1[c_i = c_j] )
//!
//! With V_i = a_i/(2N⁻) the share of negatives that positive i beats and U_j = b_j/(2N⁺) the share
//! of positives that beat negative j (`placement.rs`), both of mean A = AUC, the variance is
//!
//!   var(A) = S⁺/N⁺ + S⁻/N⁻ ,   S⁺ = Σ (V_i − A)²/(N⁺ − 1) ,   S⁻ = Σ (U_j − A)²/(N⁻ − 1)
//!
//! The sums of a, a², b² are integers and are centred as integers (`exact.rs`): the variance is
//! right to a few units in the last place even when it is far smaller than A², and exactly 0 when
//! it is 0.
//!
//! A class with one example has no sample variance. S is then the largest that a variable in [0, 1]
//! of mean A can have, A(1 − A): conservative, the interval is wider rather than narrower. The
//! interval at var(A) = 0, as at A = 0 or 1, is one of its own (`interval.rs`).
//!
//! DeLong, DeLong & Clarke-Pearson, Biometrics 44 (1988); the use of ranks is Sun & Xu's, IEEE
//! Signal Processing Letters 21 (2014).

use serde::Serialize;

use super::exact::centred_squares;
use super::interval::Share;
use super::order::census;
use super::placement::{PlacementSums, half_pairs};
use super::ranges::placement_sums;
use crate::Result;

/// AUC with what is needed to judge it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Auc {
    /// Probability that a positive scores above a negative, a tie counted one half.
    pub auc: f64,
    /// Estimated variance of `auc`: DeLong's, or Obuchowski's where examples come in groups.
    pub variance: f64,
    /// The 95 % interval on the logit scale, [`Share::logit`].
    pub ci95: [f64; 2],
    /// Number of positive examples.
    pub n_pos: usize,
    /// Number of negative examples.
    pub n_neg: usize,
    /// Pairs of a positive and a negative with equal scores.
    pub ties: u128,
    /// 2·(pairs won) + (pairs tied), exactly; `auc` is this over 2·`n_pos`·`n_neg`.
    pub half_wins: u128,
    /// Pairs of a positive and a negative of which no two have an example or a group in common: what
    /// an interval rests on where the sample shows no variation.
    #[serde(skip)]
    pub separate_pairs: usize,
}

impl Auc {
    /// The standard error of `auc`.
    pub fn standard_error(&self) -> f64 {
        self.variance.sqrt()
    }

    /// What its intervals are made of.
    pub fn share(&self) -> Share {
        Share {
            value: self.auc,
            variance: self.variance,
            outcomes: self.separate_pairs as f64,
        }
    }

    /// Whether the estimated variance is 0. This is so when all scores are tied or the classes are
    /// perfectly separated. It says that the sample shows no variation, not that `auc` is known without
    /// error: the interval is then the exact one of `separate_pairs` outcomes.
    pub fn degenerate(&self) -> bool {
        self.variance == 0.0
    }

    /// The formula of the module, from the sums of the placements.
    pub(super) fn from_sums(sums: &PlacementSums, n_pos: usize, n_neg: usize) -> Self {
        let auc = sums.total as f64 / half_pairs(n_pos as u64, n_neg as u64);
        let part = |squares, n: usize, n_other: usize| {
            class_variance(centred_squares(sums.total, squares, n), n, n_other)
                .unwrap_or(auc * (1.0 - auc))
        };
        let variance = part(sums.pos_squares, n_pos, n_neg) + part(sums.neg_squares, n_neg, n_pos);
        let found = Self {
            auc,
            variance,
            ci95: [0.0, 1.0],
            n_pos,
            n_neg,
            ties: sums.ties,
            half_wins: sums.total,
            separate_pairs: n_pos.min(n_neg),
        };
        found.with_logit_interval()
    }

    pub(super) fn with_logit_interval(self) -> Self {
        let ci95 = self.share().logit();
        Self { ci95, ..self }
    }
}

/// S/n of one class: centred placements in half pairs, Σ (a − ā)(a′ − ā′), to a (co)variance of the
/// mean of V = a/(2·`n_other`). None for one example.
pub(super) fn class_variance(centred: f64, n: usize, n_other: usize) -> Option<f64> {
    let (n, scale) = (n as f64, 2.0 * n_other as f64);
    (n > 1.0).then(|| centred / (scale * scale) / (n - 1.0) / n)
}

/// AUC of `scores`, higher meaning more likely positive, with DeLong's variance.
///
/// Scores may be infinite; NaN is refused with its row, and so is data of one class. The result has
/// the same bits whatever the number of threads.
///
/// ```
/// let auc = ubauc::metrics::auc(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true])?;
/// assert_eq!(auc.auc, 0.75);
/// # Ok::<(), ubauc::Error>(())
/// ```
pub fn auc(scores: &[f64], positive: &[bool]) -> Result<Auc> {
    let census = census(scores, positive)?;
    let sums = placement_sums(scores, positive, &census);
    Ok(Auc::from_sums(&sums, census.n_pos, census.n_neg))
}
