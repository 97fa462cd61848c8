//! What may be sent to a shard: [`Command`]s change its state and have no answer; a [`Query`] is answered with numbers and
//! changes nothing. A [`Round`] is some of both, and crosses the wire in a container.
//!
//! To add one: a variant here and an arm in each `match` that the compiler then names (its length, its vectors, what a
//! shard does). Raise the format of [`Kind::Round`] only if versions of ubauc that differ should talk to each other,
//! which they do not today.

use serde::{Deserialize, Serialize};

use crate::container::{self, Kind};
use crate::data::scale::Pass;
use crate::{Error, Result};

/// Changes the state of a shard. The same commands in the same order give the same state, to the last bit: a shard that
/// was lost is made again by them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// The weights of positives and negatives, times these.
    SetClassWeights([f64; 2]),
    /// Factors of the least squares for positives and negatives.
    SetClassFactors([f64; 2]),
    /// Rows are read less this vector, which is 0 for a feature that a sparse row may lack.
    SetCentre(Vec<f64>),
    /// z = Xw.
    SetWeights(Vec<f64>),
    /// dz = Xp, except for rows of weight 0.
    SetDirection(Vec<f64>),
    /// v = z + t dz + u/σ.
    Shift {
        /// t.
        t: f64,
        /// σ.
        sigma: f64,
    },
    /// z ← z + t dz.
    Advance(f64),
    /// u = u⁺ = 0.
    ResetMultipliers,
    /// u⁺ = 0, and u stays.
    ResetCandidates,
    /// u⁺ at λ from v, each side times what is kept of it; the rows between their bounds become active.
    SetCandidates {
        /// λ.
        lambda: f64,
        /// σ.
        sigma: f64,
        /// Of positive and of negative u⁺.
        keep: [f64; 2],
    },
    /// u ← u⁺.
    CommitCandidates,
    /// v_i = βV_i + σ1_A(i), for [`Query::Product`].
    PrepareProduct {
        /// β.
        beta: f64,
        /// σ.
        sigma: f64,
    },
    /// The soft loss at λ: u_i = −s_i y_i φ' and h_i = s_i φ''.
    SetSoft {
        /// λ.
        lambda: f64,
        /// κ > 0.
        softness: f64,
    },
    /// v_i = βV_i + h_i, for [`Query::Product`].
    PrepareSoftProduct {
        /// β.
        beta: f64,
    },
}

/// Weights a_i of a sum over rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Over {
    /// V_i, those of the least squares.
    LeastSquares,
    /// 1 for the active rows.
    Active,
    /// h_i, the curvature of the soft loss.
    Curvature,
    /// v_i as prepared for a product.
    Product,
}

/// Some columns of some rows, for a preconditioner. Along Σ v_i, which grows row by row, the row at every multiple of
/// `stride` is taken and stands for a weight of `stride`, a heavier one for its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Ascending; all columns if empty.
    pub columns: Vec<u32>,
    /// 0 for all rows.
    pub stride: f64,
}

impl Block {
    /// How many columns it has, of d.
    pub(super) fn len(&self, d: usize) -> usize {
        match self.columns.is_empty() {
            true => d,
            false => self.columns.len(),
        }
    }
}

/// Asks a shard for numbers. Most answers are sums, to be added over the shards; those of [`Query::Ranges`],
/// [`Query::Between`], [`Query::Below`], [`Query::ActiveRows`], [`Query::HeavyRows`], [`Query::Scores`] and
/// [`Query::Weights`] are not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Query {
    /// N⁺, N⁻, rows, rows of a weight above 0, entries stored, rows that are not dense, rows of weight 1.
    Totals,
    /// The number of rows for each feature that all of them store, whatever their weight, and 0 for the others.
    Stored,
    /// Σ a_i x_i.
    Sum(Over),
    /// Σ a_i x_i x_iᵀ, lower triangle packed.
    Gram(Over),
    /// Σ a_i x_ij² for every j.
    Diagonal(Over),
    /// Σ V_i y_i x_i.
    Target,
    /// For each λ: Σ [u⁺]₊, Σ [−u⁺]₊, examples strictly between their bounds, and Σ u⁺_i dz_i if `slope`.
    Balance {
        /// σ.
        sigma: f64,
        /// Whether dz is asked for.
        slope: bool,
        /// Every λ.
        lambdas: Vec<f64>,
    },
    /// Right after [`Command::SetCandidates`] at λ: Σ s_i [y_i(λ − z_i)]₊, that less Σ u⁺_i (z_i − λ), active rows,
    /// Σ (u⁺_i)²/V_i, and Xᵀ(u⁺ − u⁺ before).
    Candidates,
    /// Σ V_i, Σ V_i a_i, Σ V_i a_i² for a = y − z − c.
    Residuals(f64),
    /// The same for a = z − c.
    Spread(f64),
    /// The same for a = dz − c.
    Along(f64),
    /// Σ V_i (z_i + b − y_i) x_i.
    Gradient(f64),
    /// Σ_A (x_i·p) x_i, Σ_A x_i·p.
    ActiveProduct(Vec<f64>),
    /// Σ v_i (x_i·p) x_i, Σ V_i x_i·p, and Σ_A x_i·p or, of the soft loss, Σ h_i x_i·p.
    Product(Vec<f64>),
    /// Of the soft loss at z + t dz and λ: Σ s_i φ (0 where `value` is not asked for), its slope in λ, Σ s_i y_i φ', and
    /// its curvature Σ s_i φ''.
    Soft {
        /// Whether Σ s_i φ is asked for.
        value: bool,
        /// t.
        t: f64,
        /// λ.
        lambda: f64,
        /// κ > 0.
        softness: f64,
    },
    /// After [`Command::SetSoft`]: Σ s_i φ, Σ h_i, Σ [u_i]₊, Σ [−u_i]₊, Σ u_i²/V_i.
    SoftMultipliers,
    /// After [`Command::PrepareSoftProduct`], over the rows of a block: Σ V_i, Σ h_i, Σ V_i x_i, Σ h_i x_i and
    /// Σ v_i x_i x_iᵀ, lower triangle packed, of its columns.
    BlockGram(Block),
    /// After [`Command::SetSoft`]: Σ (u_i + βV_i(z_i + b − y_i)) x_i, and Σ h_i x_i.
    SoftGradient {
        /// β.
        beta: f64,
        /// b.
        intercept: f64,
    },
    /// Along dz: Σ V_i (z_i + b − y_i) dz_i.
    SoftAlong(f64),
    /// Σ s_i [y_i(λ − z_i)]₊.
    Hinge(f64),
    /// Examples of a weight above 0 with |z_i − λ| within a margin.
    Near {
        /// λ.
        lambda: f64,
        /// The margin.
        margin: f64,
    },
    /// Σ s_i 1[z_i ≥ λ] for each of these λ, ascending; then the number of those rows that have a weight above 0.
    Above(Vec<f64>),
    /// The z_i ≥ low and < high of rows of a weight above 0, ascending and each once, with the sum of its s_i.
    Between {
        /// low.
        low: f64,
        /// high.
        high: f64,
    },
    /// The largest z_i below λ of a row of a weight above 0, −∞ if none.
    Below(f64),
    /// The active rows one after the other: −1 and all entries, or the number of entries, columns and values.
    ActiveRows,
    /// After [`Command::PrepareProduct`] or [`Command::PrepareSoftProduct`], the rows with the largest v_i Σ_j a_j x_ij²
    /// that are above a number: each with that, v_i, and its entries as those of [`Query::ActiveRows`].
    HeavyRows {
        /// a.
        per: Vec<f64>,
        /// What it must be above.
        above: f64,
        /// No more rows than this.
        most: usize,
    },
    /// All z_i.
    Scores,
    /// All s_i.
    Weights,
    /// For every feature the least and largest value stored, how many, and their weight.
    Ranges,
    /// A pass for the deviations of the features.
    Scale(Pass),
}

/// Commands, and then queries about the state that they leave.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// In their order.
    pub commands: Vec<Command>,
    /// Answered one after the other.
    pub queries: Vec<Query>,
}

impl Command {
    /// Whether its vectors have d numbers.
    fn fits(&self, d: usize) -> bool {
        use Command as C;
        match self {
            C::SetCentre(x) | C::SetWeights(x) | C::SetDirection(x) => x.len() == d,
            C::SetClassFactors(_)
            | C::Shift { .. }
            | C::Advance(_)
            | C::ResetMultipliers
            | C::ResetCandidates
            | C::SetCandidates { .. }
            | C::CommitCandidates
            | C::PrepareProduct { .. }
            | C::SetClassWeights(_)
            | C::SetSoft { .. }
            | C::PrepareSoftProduct { .. } => true,
        }
    }
}

impl Query {
    /// How many numbers the answer of a shard with d columns has; `None` where that depends on its rows.
    pub fn answer_len(&self, d: usize) -> Option<usize> {
        use Query as Q;
        Some(match self {
            Q::Totals => 7,
            Q::Stored | Q::Sum(_) | Q::Diagonal(_) | Q::Target | Q::Gradient(_) => d,
            Q::SoftGradient { .. } => 2 * d,
            Q::BlockGram(block) => {
                let b = block.len(d);
                2 + 2 * b + b * (b + 1) / 2
            }
            Q::Gram(_) => d * (d + 1) / 2,
            Q::Balance { slope, lambdas, .. } => lambdas.len() * if *slope { 4 } else { 3 },
            Q::Candidates => 4 + d,
            Q::Residuals(_) | Q::Spread(_) | Q::Along(_) | Q::Soft { .. } => 3,
            Q::SoftMultipliers => 5,
            Q::ActiveProduct(_) => d + 1,
            Q::Product(_) => d + 2,
            Q::Hinge(_) | Q::Near { .. } | Q::Below(_) | Q::SoftAlong(_) => 1,
            Q::Above(lambdas) => 2 * lambdas.len(),
            Q::Ranges => 4 * d,
            Q::Scale(pass) => pass.width() * d,
            Q::Between { .. } | Q::ActiveRows | Q::HeavyRows { .. } | Q::Scores | Q::Weights => {
                return None;
            }
        })
    }

    /// Whether its vectors have d numbers.
    fn fits(&self, d: usize) -> bool {
        use Query as Q;
        match self {
            Q::ActiveProduct(p) | Q::Product(p) | Q::HeavyRows { per: p, .. } => p.len() == d,
            Q::BlockGram(Block { columns, stride }) => {
                *stride >= 0.0
                    && columns.is_sorted_by(|a, b| a < b)
                    && columns.last().is_none_or(|j| (*j as usize) < d)
            }
            Q::Scale(Pass::Means { weights, units }) => {
                [weights, units].iter().all(|x| x.len() == d)
            }
            Q::Scale(Pass::Squares {
                weights,
                units,
                means,
            }) => [weights, units, means].iter().all(|x| x.len() == d),
            Q::Totals
            | Q::Stored
            | Q::Sum(_)
            | Q::Gram(_)
            | Q::Diagonal(_)
            | Q::Target
            | Q::Balance { .. }
            | Q::Candidates
            | Q::Residuals(_)
            | Q::Spread(_)
            | Q::Along(_)
            | Q::Gradient(_)
            | Q::Hinge(_)
            | Q::Near { .. }
            | Q::Above(_)
            | Q::Between { .. }
            | Q::Below(_)
            | Q::ActiveRows
            | Q::Scores
            | Q::Weights
            | Q::Soft { .. }
            | Q::SoftMultipliers
            | Q::SoftGradient { .. }
            | Q::SoftAlong(_)
            | Q::Ranges => true,
        }
    }
}

impl Round {
    /// As it crosses the wire.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        container::write(Kind::Round, self)
    }

    /// A round from [`Round::to_bytes`], of this version of ubauc.
    pub fn from_bytes(bytes: &[u8]) -> Result<Round> {
        container::read(Kind::Round, bytes)
    }

    /// Refuses vectors that are not of d numbers.
    pub(super) fn check(&self, d: usize) -> Result<()> {
        let fits = self.commands.iter().all(|command| command.fits(d))
            && self.queries.iter().all(|query| query.fits(d));
        match fits {
            true => Ok(()),
            false => Err(Error::Numerical {
                what: "a round for rows of another number of columns",
            }),
        }
    }

    /// Whether a matrix is among the answers.
    pub fn asks_for_matrix(&self) -> bool {
        self.queries
            .iter()
            .any(|query| matches!(query, Query::Gram(_) | Query::BlockGram(_)))
    }
}

/// Answers of a shard as they cross the wire.
pub fn answers_to_bytes(answers: &[f64]) -> Result<Vec<u8>> {
    container::write(Kind::Answers, &answers)
}

/// Answers from [`answers_to_bytes`], of this version of ubauc.
pub fn answers_from_bytes(bytes: &[u8]) -> Result<Vec<f64>> {
    container::read(Kind::Answers, bytes)
}
