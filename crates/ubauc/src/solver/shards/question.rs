//! What may be asked of a shard, and how a round of questions travels: as plain numbers.

use std::sync::Arc;

use crate::data::scale::Pass;
use crate::{Error, Result};

/// One question. What is *told* changes a shard and has an answer of no numbers; the answers to most others are sums, to
/// be added over the shards; those of [`Question::Ranges`], [`Question::Between`], [`Question::Below`], [`Question::ActiveRows`],
/// [`Question::Scores`] and [`Question::Weights`] are not.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// Told: factors of the least squares for positives and negatives.
    Weigh([f64; 2]),
    /// Told: rows are read less this vector, which is 0 for a feature that a sparse row may lack.
    Centre(Arc<[f64]>),
    /// Told: z = Xw.
    Place(Vec<f64>),
    /// Told: dz = Xp, but for rows without a say.
    Aim(Vec<f64>),
    /// Told: v = z + t dz + u/σ.
    Shift {
        /// t.
        t: f64,
        /// σ.
        sigma: f64,
    },
    /// Told: z ← z + t dz.
    Advance(f64),
    /// Told: u = u⁺ = 0.
    Reset,
    /// u⁺ = 0, and u as it is.
    Renew,
    /// Told: u ← u⁺.
    Commit,
    /// Told: v_i = βV_i + σ1_A(i), for [`Question::Product`].
    Prepare {
        /// β.
        beta: f64,
        /// σ.
        sigma: f64,
    },
    /// N⁺, N⁻, rows, rows with a say, entries stored, rows that are not dense, rows of weight 1.
    Totals,
    /// How many rows store each feature, whatever their weight.
    Stored,
    /// Σ V_i x_i.
    SquareSum,
    /// Σ V_i y_i x_i.
    Target,
    /// Σ V_i x_i x_iᵀ, lower triangle packed.
    Gram,
    /// For each λ: Σ [u⁺]₊, Σ [−u⁺]₊, examples strictly between their bounds, and Σ u⁺_i dz_i where asked for.
    Balance {
        /// σ.
        sigma: f64,
        /// Whether dz is asked for.
        slope: bool,
        /// Every λ.
        lambdas: Vec<f64>,
    },
    /// Takes u⁺ at λ, each side times what is kept of it: Σ s_i [y_i(λ − z_i)]₊, that less Σ u⁺_i (z_i − λ), examples
    /// between their bounds, Σ (u⁺_i)²/V_i, Xᵀ(u⁺ − last u⁺).
    Multipliers {
        /// λ.
        lambda: f64,
        /// σ.
        sigma: f64,
        /// Of positive and of negative u⁺.
        keep: [f64; 2],
    },
    /// Σ V_i, Σ V_i a_i, Σ V_i a_i² for a = y − z − c.
    Residuals(f64),
    /// The same for a = z − c.
    Spread(f64),
    /// The same for a = dz − c.
    Along(f64),
    /// Σ V_i (z_i + b − y_i) x_i.
    Gradient(f64),
    /// Σ_A x_i.
    ActiveSum,
    /// Σ_A x_i x_iᵀ, lower triangle packed.
    ActiveGram,
    /// Σ_A (x_i·p) x_i, Σ_A x_i·p.
    ActiveProduct(Vec<f64>),
    /// Σ v_i (x_i·p) x_i, Σ V_i x_i·p, Σ_A x_i·p.
    Product(Vec<f64>),
    /// Σ V_i x_ij² for every j.
    SquareDiagonal,
    /// Σ_A x_ij² for every j.
    ActiveDiagonal,
    /// Σ s_i [y_i(λ − z_i)]₊.
    Hinge(f64),
    /// Examples with a say and |z_i − λ| within a margin.
    Near {
        /// λ.
        lambda: f64,
        /// The margin.
        margin: f64,
    },
    /// Σ s_i 1[z_i ≥ λ] for each of these λ, ascending; then how many with a say these are.
    Above(Vec<f64>),
    /// The z_i ≥ low and < high that have a say, ascending and each once, with the sum of its s_i.
    Between {
        /// low.
        low: f64,
        /// high.
        high: f64,
    },
    /// The largest z_i below λ that has a say, −∞ if none.
    Below(f64),
    /// The active rows one after the other: −1 and all entries, or the number of entries, columns and values.
    ActiveRows,
    /// All z_i.
    Scores,
    /// All s_i.
    Weights,
    /// For every feature the least and largest value stored, how many, and their weight.
    Ranges,
    /// A pass for the deviations of the features.
    Scale(Pass),
}

/// Questions that are put together, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Round(pub Vec<Question>);

impl Question {
    /// Whether it changes a shard: what a shard that was lost must be told again.
    pub fn changes(&self) -> bool {
        use Question as Q;
        matches!(
            self,
            Q::Weigh(_)
                | Q::Centre(_)
                | Q::Place(_)
                | Q::Aim(_)
                | Q::Shift { .. }
                | Q::Advance(_)
                | Q::Reset
                | Q::Renew
                | Q::Commit
                | Q::Prepare { .. }
                | Q::Multipliers { .. }
        )
    }

    /// How many numbers the answer of a shard with d columns has; none if that depends on the rows.
    pub fn answer_len(&self, d: usize) -> Option<usize> {
        use Question as Q;
        Some(match self {
            Q::Multipliers { .. } => 4 + d,
            told if told.changes() => 0,
            Q::Totals => 7,
            Q::Stored | Q::SquareSum | Q::Target | Q::Gradient(_) | Q::ActiveSum => d,
            Q::SquareDiagonal | Q::ActiveDiagonal => d,
            Q::Gram | Q::ActiveGram => d * (d + 1) / 2,
            Q::Balance { slope, lambdas, .. } => lambdas.len() * if *slope { 4 } else { 3 },
            Q::Residuals(_) | Q::Spread(_) | Q::Along(_) => 3,
            Q::ActiveProduct(_) => d + 1,
            Q::Product(_) => d + 2,
            Q::Hinge(_) | Q::Near { .. } | Q::Below(_) => 1,
            Q::Above(lambdas) => 2 * lambdas.len(),
            Q::Ranges => 4 * d,
            Q::Scale(pass) => pass.width() * d,
            _ => return None,
        })
    }

    fn code(&self) -> (u8, Vec<f64>) {
        use Question as Q;
        match self {
            Q::Weigh(factors) => (0, factors.to_vec()),
            Q::Centre(mean) => (1, mean.to_vec()),
            Q::Place(w) => (2, w.clone()),
            Q::Aim(p) => (3, p.clone()),
            Q::Shift { t, sigma } => (4, vec![*t, *sigma]),
            Q::Advance(t) => (5, vec![*t]),
            Q::Reset => (6, vec![]),
            Q::Commit => (7, vec![]),
            Q::Prepare { beta, sigma } => (8, vec![*beta, *sigma]),
            Q::Totals => (9, vec![]),
            Q::SquareSum => (10, vec![]),
            Q::Target => (11, vec![]),
            Q::Gram => (12, vec![]),
            Q::Balance {
                sigma,
                slope,
                lambdas,
            } => {
                let head = [*sigma, f64::from(u8::from(*slope))];
                (13, head.iter().chain(lambdas).copied().collect())
            }
            Q::Multipliers {
                lambda,
                sigma,
                keep: [up, down],
            } => (14, vec![*lambda, *sigma, *up, *down]),
            Q::Residuals(c) => (15, vec![*c]),
            Q::Spread(c) => (16, vec![*c]),
            Q::Along(c) => (17, vec![*c]),
            Q::Gradient(b) => (18, vec![*b]),
            Q::ActiveSum => (19, vec![]),
            Q::ActiveGram => (20, vec![]),
            Q::ActiveProduct(p) => (21, p.clone()),
            Q::Product(p) => (22, p.clone()),
            Q::SquareDiagonal => (23, vec![]),
            Q::ActiveDiagonal => (24, vec![]),
            Q::Hinge(lambda) => (25, vec![*lambda]),
            Q::Near { lambda, margin } => (26, vec![*lambda, *margin]),
            Q::Above(lambdas) => (27, lambdas.clone()),
            Q::Between { low, high } => (28, vec![*low, *high]),
            Q::Below(lambda) => (35, vec![*lambda]),
            Q::Renew => (36, vec![]),
            Q::Stored => (37, vec![]),
            Q::ActiveRows => (29, vec![]),
            Q::Scores => (30, vec![]),
            Q::Weights => (31, vec![]),
            Q::Ranges => (32, vec![]),
            Q::Scale(Pass::Means { weights, units }) => (33, [weights.as_slice(), units].concat()),
            Q::Scale(Pass::Squares {
                weights,
                units,
                means,
            }) => (34, [weights.as_slice(), units, means].concat()),
        }
    }

    fn of_code(code: f64, numbers: &[f64]) -> Option<Question> {
        use Question as Q;
        let part = |k: usize, of: usize| {
            let d = numbers.len() / of;
            numbers[k * d..(k + 1) * d].to_vec()
        };
        Some(match (code as u8, numbers) {
            (0, &[pos, neg]) => Q::Weigh([pos, neg]),
            (1, mean) => Q::Centre(mean.into()),
            (2, w) => Q::Place(w.to_vec()),
            (3, p) => Q::Aim(p.to_vec()),
            (4, &[t, sigma]) => Q::Shift { t, sigma },
            (5, &[t]) => Q::Advance(t),
            (6, []) => Q::Reset,
            (36, []) => Q::Renew,
            (7, []) => Q::Commit,
            (8, &[beta, sigma]) => Q::Prepare { beta, sigma },
            (9, []) => Q::Totals,
            (37, []) => Q::Stored,
            (10, []) => Q::SquareSum,
            (11, []) => Q::Target,
            (12, []) => Q::Gram,
            (13, &[sigma, slope, ref lambdas @ ..]) => Q::Balance {
                sigma,
                slope: slope != 0.0,
                lambdas: lambdas.to_vec(),
            },
            (14, &[lambda, sigma, up, down]) => Q::Multipliers {
                lambda,
                sigma,
                keep: [up, down],
            },
            (15, &[c]) => Q::Residuals(c),
            (16, &[c]) => Q::Spread(c),
            (17, &[c]) => Q::Along(c),
            (18, &[b]) => Q::Gradient(b),
            (19, []) => Q::ActiveSum,
            (20, []) => Q::ActiveGram,
            (21, p) => Q::ActiveProduct(p.to_vec()),
            (22, p) => Q::Product(p.to_vec()),
            (23, []) => Q::SquareDiagonal,
            (24, []) => Q::ActiveDiagonal,
            (25, &[lambda]) => Q::Hinge(lambda),
            (26, &[lambda, margin]) => Q::Near { lambda, margin },
            (27, lambdas) => Q::Above(lambdas.to_vec()),
            (28, &[low, high]) => Q::Between { low, high },
            (35, &[lambda]) => Q::Below(lambda),
            (29, []) => Q::ActiveRows,
            (30, []) => Q::Scores,
            (31, []) => Q::Weights,
            (32, []) => Q::Ranges,
            (33, _) => Q::Scale(Pass::Means {
                weights: part(0, 2),
                units: part(1, 2),
            }),
            (34, _) => Q::Scale(Pass::Squares {
                weights: part(0, 3),
                units: part(1, 3),
                means: part(2, 3),
            }),
            _ => return None,
        })
    }
}

impl Round {
    /// For each question its code, how many numbers follow, and these.
    pub fn to_numbers(&self) -> Vec<f64> {
        let mut all = Vec::new();
        for question in &self.0 {
            let (code, numbers) = question.code();
            all.extend([f64::from(code), numbers.len() as f64]);
            all.extend(numbers);
        }
        all
    }

    /// The round that was written so.
    pub fn from_numbers(mut numbers: &[f64]) -> Result<Round> {
        let wrong = || Error::Numerical {
            what: "a round of questions that this version does not understand",
        };
        let mut round = Vec::new();
        while let [code, len, rest @ ..] = numbers {
            let (own, rest) = rest.split_at_checked(*len as usize).ok_or_else(wrong)?;
            round.push(Question::of_code(*code, own).ok_or_else(wrong)?);
            numbers = rest;
        }
        if numbers.is_empty() {
            Ok(Round(round))
        } else {
            Err(wrong())
        }
    }

    /// Whether a matrix is among the answers.
    pub fn asks_for_matrix(&self) -> bool {
        let matrix = |q: &Question| matches!(q, Question::Gram | Question::ActiveGram);
        self.0.iter().any(matrix)
    }

    /// What of it a shard that was lost must be told again.
    pub fn changes(&self) -> Round {
        Round(self.0.iter().filter(|q| q.changes()).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_comes_back_as_it_was() {
        let mut codes = Vec::new();
        for code in 0..=u8::MAX {
            let lengths = 0..=6;
            let found = lengths.filter_map(|n| {
                let numbers: Vec<f64> = (0..n).map(|k| f64::from(k) + 0.5).collect();
                Question::of_code(f64::from(code), &numbers)
            });
            for question in found {
                let round = Round(vec![question.clone(), Question::Totals]);
                let again = Round::from_numbers(&round.to_numbers()).unwrap();
                assert_eq!(again.0[0].code().0, code);
                // A length that is no multiple is cut, once.
                assert_eq!(Round::from_numbers(&again.to_numbers()).unwrap(), again);
                codes.push(code);
            }
        }
        codes.dedup();
        assert_eq!(codes, (0..38).collect::<Vec<u8>>());
    }

    #[test]
    fn what_is_no_round_is_refused() {
        for numbers in [&[1.0][..], &[99.0, 0.0], &[5.0, 3.0, 1.0], &[5.0, 0.0]] {
            assert!(Round::from_numbers(numbers).is_err());
        }
    }
}
