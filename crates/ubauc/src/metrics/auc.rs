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
//! of mean A can have, A(1 − A): conservative, the interval is wider rather than narrower. Not so at
//! A = 0 or 1, where A(1 − A) = 0 and one example says nothing of the spread; [`Auc::degenerate`] tells.
//!
//! DeLong, DeLong & Clarke-Pearson, Biometrics 44 (1988); the use of ranks is Sun & Xu's, IEEE
//! Signal Processing Letters 21 (2014).

use serde::Serialize;

use super::exact::centred_squares;
use super::order::census;
use super::placement::{PlacementSums, half_pairs};
use super::ranges::placement_sums;
use crate::Result;

/// The 97.5 % point of the standard normal distribution.
pub(super) const Z_975: f64 = 1.959_963_984_540_054;

/// AUC with what is needed to judge it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Auc {
    /// Probability that a positive scores above a negative, a tie counted one half.
    pub auc: f64,
    /// Estimated variance of `auc`: DeLong's, or Obuchowski's where examples come in groups.
    pub variance: f64,
    /// `auc` ± 1.96·√`variance`, clipped to [0, 1].
    pub ci95: [f64; 2],
    /// Number of positive examples.
    pub n_pos: usize,
    /// Number of negative examples.
    pub n_neg: usize,
    /// Pairs of a positive and a negative with equal scores.
    pub ties: u128,
    /// 2·(pairs won) + (pairs tied), exactly; `auc` is this over 2·`n_pos`·`n_neg`.
    pub half_wins: u128,
}

impl Auc {
    /// The standard error of `auc`.
    pub fn standard_error(&self) -> f64 {
        self.variance.sqrt()
    }

    /// Whether the estimated variance is 0, so that the interval is a point. This is so when all
    /// scores are tied or the classes are perfectly separated. It says that the sample shows no
    /// variation, not that `auc` is known without error: callers should warn.
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
        let ci95 = interval(auc, variance, 0.0);
        Self {
            auc,
            variance,
            ci95,
            n_pos,
            n_neg,
            ties: sums.ties,
            half_wins: sums.total,
        }
    }
}

/// S/n of one class: centred placements in half pairs, Σ (a − ā)(a′ − ā′), to a (co)variance of the
/// mean of V = a/(2·`n_other`). None for one example.
pub(super) fn class_variance(centred: f64, n: usize, n_other: usize) -> Option<f64> {
    let (n, scale) = (n as f64, 2.0 * n_other as f64);
    (n > 1.0).then(|| centred / (scale * scale) / (n - 1.0) / n)
}

/// The 95 % normal interval, clipped to [`lowest`, 1].
pub(super) fn interval(mean: f64, variance: f64, lowest: f64) -> [f64; 2] {
    let half = Z_975 * variance.sqrt();
    [(mean - half).max(lowest), (mean + half).min(1.0)]
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
