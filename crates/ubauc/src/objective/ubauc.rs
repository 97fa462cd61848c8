//! The learning objective, Eq. (6) and Eq. (8), in mean form.
//!
//! ```text
//! P(w, b, λ) = 1/N Σ_i s_i { φ( y_i(λ − c_i) ) + (β/2) v_i (1 − y_i(c_i + b))² } + (γ/2) ‖w‖²
//! ```
//!
//! φ is the hinge [t]₊ of the paper or its soft form ([`Loss`]); c_i = w·x_i; s_i sample weights (1 if none), N, N⁺, N⁻
//! sums of weights. [`ClassWeight`] multiplies every s_i by a number of its class, N/(2N_{y_i}) for `Balanced`, hinge and
//! squares alike, which leaves N as it is. v_i = 1 (`Plain`, the paper) or N/(2N_{y_i}) (`Balanced`: each class counts one half). The intercept b is not penalised and enters the
//! least squares only, since λ absorbs it in the hinge; the paper has none (b = 0).
//!
//! Subgradient, with a_i = φ'(y_i(λ − c_i)), for the hinge 1 if y_i(λ − c_i) > 0, else 0 (so 0 is chosen at the kink),
//! and (1 − y c)² = (y − c)²:
//!
//! ```text
//! ∂P/∂c_i = s_i/N { −y_i a_i + β v_i (c_i + b − y_i) },   ∇_w P = Xᵀ(∂P/∂c) + γw
//! ∂P/∂λ   = 1/N Σ_i s_i y_i a_i,   ∂P/∂b = 1/N Σ_i s_i β v_i (c_i + b − y_i)
//! ```
//!
//! Everything about the rows is a sum, taken chunk by chunk ([`Sums`]) and merged: the chunks may be threads,
//! files or machines. The squares are kept by class, so that a chunk need not know N⁺ and N⁻ of the whole.
//!
//! The paper's two scalings, both different from this one and from each other (E4, E5):
//!
//! ```text
//! Eq. (6): L̃ + (β₆/2) Σ_i (1 − y_i c_i)² + (γ₆/2)‖w‖²  = N/(N⁺N⁻) · P with β = N⁺N⁻β₆, γ = N⁺N⁻γ₆/N
//! Eq. (8): N · P with β = β₈, γ = γ₈/N; the online step Eq. (9) is a step on P itself, with γ and not γ₈
//! ```

use serde::{Deserialize, Serialize};

pub use super::class_weight::ClassWeight;
use super::loss::Loss;
use super::sum::Sum;
use crate::{Error, Result};

/// v_i of the least-squares term.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeastSquares {
    /// v_i = 1, the paper's.
    #[default]
    Plain,
    /// v_i = N/(2N_{y_i}).
    Balanced,
}

/// P of the head comment: its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// β ≥ 0, the weight of the least squares.
    pub beta: f64,
    /// γ ≥ 0, the weight of ½‖w‖².
    pub gamma: f64,
    /// v_i.
    pub least_squares: LeastSquares,
    /// κ ≥ 0 of φ; 0 is the hinge.
    pub softness: f64,
}

/// Some of the rows: their scores w·x_i, classes and sample weights (1 if none).
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    /// c_i.
    pub scores: &'a [f64],
    /// y_i = +1.
    pub positive: &'a [bool],
    /// s_i.
    pub weights: Option<&'a [f64]>,
}

/// Σ s_i over the negatives and over the positives: N⁻ and N⁺.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassWeights {
    /// N⁺.
    pub pos: f64,
    /// N⁻.
    pub neg: f64,
}

/// What P needs of a chunk. Add over chunks, in a fixed order, for the whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    /// Σ s_i φ(y_i(λ − c_i)).
    pub loss: f64,
    /// Σ_{i∈+} s_i (1 − (c_i + b))².
    pub square_pos: f64,
    /// Σ_{i∈−} s_i (1 + (c_i + b))².
    pub square_neg: f64,
    /// N⁺ and N⁻ of the chunk.
    pub total: ClassWeights,
}

/// The part of the subgradient that is not per row. Add over chunks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Slopes {
    /// ∂P/∂λ.
    pub lambda: f64,
    /// ∂P/∂b.
    pub intercept: f64,
}

impl Objective {
    /// Eq. (6) with its own β₆, γ₆, as P times N/(N⁺N⁻) (E4).
    pub fn from_eq6(beta: f64, gamma: f64, n_pos: usize, n_neg: usize) -> Self {
        let pairs = n_pos as f64 * n_neg as f64;
        let n = n_pos as f64 + n_neg as f64;
        let least_squares = LeastSquares::Plain;
        Self {
            beta: pairs * beta,
            gamma: pairs * gamma / n,
            least_squares,
            softness: 0.0,
        }
    }

    /// Eq. (8) with its own β₈, γ₈, as P times N (E5).
    pub fn from_eq8(beta: f64, gamma: f64, n: usize) -> Self {
        Self {
            beta,
            gamma: gamma / n as f64,
            least_squares: LeastSquares::Plain,
            softness: 0.0,
        }
    }

    /// The same, and β above 0 with the hinge, which has no margin: what a solver can minimise.
    pub(crate) fn check_for_solver(&self) -> Result<()> {
        self.check()?;
        if self.beta == 0.0 && self.loss() == Loss::Hinge {
            return Err(Error::Parameter {
                name: "beta",
                value: self.beta.to_string(),
                must: "above 0 where the softness is 0",
            });
        }
        Ok(())
    }

    /// φ.
    pub fn loss(&self) -> Loss {
        Loss::of_softness(self.softness)
    }

    /// β, γ and κ finite and not negative.
    pub fn check(&self) -> Result<()> {
        for (name, value) in [
            ("beta", self.beta),
            ("gamma", self.gamma),
            ("softness", self.softness),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                let must = "finite and not negative";
                return Err(Error::Parameter {
                    name,
                    value: value.to_string(),
                    must,
                });
            }
        }
        Ok(())
    }

    /// P, from the sums over all rows and ‖w‖².
    pub fn value(&self, sums: &Sums, norm_sq: f64) -> f64 {
        let [v_pos, v_neg] = self.class_factors(sums.total);
        let square = v_pos * sums.square_pos + v_neg * sums.square_neg;
        let parts = [sums.loss, square, norm_sq];
        mean_objective(parts, self.beta, self.gamma, sums.total.sum())
    }

    /// ∂P/∂c_i of a chunk's rows into `slope`; answers the chunk's share of the rest.
    ///
    /// `total` is of all rows, not of the chunk.
    pub fn subgradient(
        &self,
        chunk: Chunk<'_>,
        total: ClassWeights,
        lambda: f64,
        intercept: f64,
        slope: &mut [f64],
    ) -> Result<Slopes> {
        chunk.check()?;
        same_length("slopes", chunk.scores.len(), slope.len())?;
        let [v_pos, v_neg] = self.class_factors(total);
        let loss = self.loss();
        let (mut by_lambda, mut by_intercept) = (Sum::default(), Sum::default());
        for ((c, y, s), slope) in chunk.rows().zip(slope) {
            let share = s / total.sum();
            let hinge = share * y * loss.multiplier(y * (lambda - c));
            let v = if y > 0.0 { v_pos } else { v_neg };
            let square = share * self.beta * v * (c + intercept - y);
            *slope = square - hinge;
            by_lambda.add(hinge);
            by_intercept.add(square);
        }
        Ok(Slopes {
            lambda: by_lambda.total(),
            intercept: by_intercept.total(),
        })
    }

    /// v_i of a positive and of a negative example; `Balanced` needs both classes.
    pub fn class_factors(&self, total: ClassWeights) -> [f64; 2] {
        match self.least_squares {
            LeastSquares::Plain => [1.0, 1.0],
            LeastSquares::Balanced => [total.pos, total.neg].map(|n| total.sum() / (2.0 * n)),
        }
    }
}

/// P of Σ s φ, Σ s v (y − c − b)² and ‖w‖².
pub(crate) fn mean_objective([loss, square, norm]: [f64; 3], beta: f64, gamma: f64, n: f64) -> f64 {
    (loss + beta / 2.0 * square) / n + gamma / 2.0 * norm
}

impl ClassWeights {
    /// Σ s_i by class: positive or not, and s_i.
    pub fn of(examples: impl Iterator<Item = (bool, f64)>) -> ClassWeights {
        let mut totals = ClassWeights::default();
        for (positive, weight) in examples {
            let total = if positive {
                &mut totals.pos
            } else {
                &mut totals.neg
            };
            *total += weight;
        }
        totals
    }

    /// N = N⁺ + N⁻.
    pub fn sum(self) -> f64 {
        self.pos + self.neg
    }
}

impl Sums {
    /// The sums over one chunk. A NaN score shows as a NaN square.
    pub fn of(chunk: Chunk<'_>, loss: Loss, lambda: f64, intercept: f64) -> Result<Self> {
        chunk.check()?;
        let [
            mut of_loss,
            mut square_pos,
            mut square_neg,
            mut pos,
            mut neg,
        ] = [Sum::default(); 5];
        for (c, y, s) in chunk.rows() {
            of_loss.add(s * loss.value(y * (lambda - c)));
            let (square, weight) = if y > 0.0 {
                (&mut square_pos, &mut pos)
            } else {
                (&mut square_neg, &mut neg)
            };
            square.add(s * (y - (c + intercept)).powi(2));
            weight.add(s);
        }
        Ok(Self {
            loss: of_loss.total(),
            square_pos: square_pos.total(),
            square_neg: square_neg.total(),
            total: ClassWeights {
                pos: pos.total(),
                neg: neg.total(),
            },
        })
    }
}

impl std::ops::AddAssign for Sums {
    fn add_assign(&mut self, other: Self) {
        self.loss += other.loss;
        self.square_pos += other.square_pos;
        self.square_neg += other.square_neg;
        self.total.pos += other.total.pos;
        self.total.neg += other.total.neg;
    }
}

impl std::ops::AddAssign for Slopes {
    fn add_assign(&mut self, other: Self) {
        self.lambda += other.lambda;
        self.intercept += other.intercept;
    }
}

impl Chunk<'_> {
    fn check(&self) -> Result<()> {
        same_length("labels", self.scores.len(), self.positive.len())?;
        self.weights.map_or(Ok(()), |w| {
            same_length("weights", self.scores.len(), w.len())
        })
    }

    /// (c_i, y_i, s_i).
    fn rows(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        let weight = move |i: usize| self.weights.map_or(1.0, |w| w[i]);
        let rows = self.scores.iter().zip(self.positive).enumerate();
        rows.map(move |(i, (&c, &p))| (c, if p { 1.0 } else { -1.0 }, weight(i)))
    }
}

fn same_length(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got {
        Ok(())
    } else {
        Err(Error::Length {
            what,
            expected,
            got,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORES: [f64; 5] = [0.5, -1.0, 2.0, 0.25, -0.5];
    const POSITIVE: [bool; 5] = [true, false, false, true, false];
    const WEIGHTS: [f64; 5] = [1.0, 2.0, 0.5, 3.0, 0.0];

    fn all(weights: Option<&[f64]>) -> Chunk<'_> {
        Chunk {
            scores: &SCORES,
            positive: &POSITIVE,
            weights,
        }
    }

    #[test]
    fn by_hand() {
        let p = Objective {
            beta: 0.5,
            gamma: 0.1,
            least_squares: LeastSquares::Plain,
            softness: 0.0,
        };
        let sums = Sums::of(all(None), Loss::Hinge, 0.5, 0.0).unwrap();
        // hinge: 0, 0, 1.5, 0.25, 0; squares: 0.25, 0, 9, 0.5625, 0.25.
        let value = (1.75 + 0.25 * 10.0625) / 5.0 + 0.05 * 4.0;
        assert_eq!(p.value(&sums, 4.0), value);
        let balanced = Objective {
            least_squares: LeastSquares::Balanced,
            ..p
        };
        let square = 0.8125 * 5.0 / 4.0 + 9.25 * 5.0 / 6.0;
        let value = (1.75 + 0.25 * square) / 5.0 + 0.2;
        assert!((balanced.value(&sums, 4.0) - value).abs() < 1e-15);
    }

    #[test]
    fn chunks_add_up_and_weights_repeat_examples() {
        let whole = Sums::of(all(Some(&WEIGHTS)), Loss::Hinge, 0.4, -0.25).unwrap();
        let mut merged = Sums::default();
        for part in [0..2, 2..2, 2..5] {
            let chunk = Chunk {
                scores: &SCORES[part.clone()],
                positive: &POSITIVE[part.clone()],
                weights: Some(&WEIGHTS[part]),
            };
            merged += Sums::of(chunk, Loss::Hinge, 0.4, -0.25).unwrap();
        }
        assert!((merged.loss - whole.loss).abs() < 1e-15);
        assert_eq!(merged.total, ClassWeights { pos: 4.0, neg: 2.5 });
        // Twice the weights (4 for the fourth, none for the last …) as copies of the examples.
        let copies = [2, 4, 1, 6, 0];
        let repeat = |i: usize| std::iter::repeat_n(i, copies[i]);
        let rows: Vec<usize> = (0..5).flat_map(repeat).collect();
        let scores: Vec<f64> = rows.iter().map(|&i| SCORES[i]).collect();
        let positive: Vec<bool> = rows.iter().map(|&i| POSITIVE[i]).collect();
        let copied = Chunk {
            scores: &scores,
            positive: &positive,
            weights: None,
        };
        let copied = Sums::of(copied, Loss::Hinge, 0.4, -0.25).unwrap();
        for least_squares in [LeastSquares::Plain, LeastSquares::Balanced] {
            let p = Objective {
                beta: 0.3,
                gamma: 0.0,
                least_squares,
                softness: 0.0,
            };
            assert!((p.value(&copied, 0.0) - p.value(&whole, 0.0)).abs() < 1e-15);
        }
    }

    #[test]
    fn subgradient_is_the_derivative_away_from_the_kink() {
        let p = Objective {
            beta: 0.7,
            gamma: 0.0,
            least_squares: LeastSquares::Balanced,
            softness: 0.0,
        };
        let (lambda, b, h) = (0.4, -0.3, 1e-6);
        let value = |scores: &[f64], lambda, b| {
            let chunk = Chunk {
                scores,
                positive: &POSITIVE,
                weights: Some(&WEIGHTS),
            };
            p.value(&Sums::of(chunk, Loss::Hinge, lambda, b).unwrap(), 0.0)
        };
        let mut slope = [0.0; 5];
        let total = ClassWeights { pos: 4.0, neg: 2.5 };
        let rest = p
            .subgradient(all(Some(&WEIGHTS)), total, lambda, b, &mut slope)
            .unwrap();
        for i in 0..5 {
            let (mut up, mut down) = (SCORES, SCORES);
            up[i] += h;
            down[i] -= h;
            let difference = (value(&up, lambda, b) - value(&down, lambda, b)) / (2.0 * h);
            // Central differences of a piecewise quadratic: rounding only, about 1e-16/h.
            assert!((slope[i] - difference).abs() < 1e-9);
        }
        let by_lambda = value(&SCORES, lambda + h, b) - value(&SCORES, lambda - h, b);
        let by_b = value(&SCORES, lambda, b + h) - value(&SCORES, lambda, b - h);
        assert!((rest.lambda - by_lambda / (2.0 * h)).abs() < 1e-9);
        assert!((rest.intercept - by_b / (2.0 * h)).abs() < 1e-9);
    }

    #[test]
    fn bad_input_is_refused() {
        let short = Chunk {
            scores: &SCORES,
            positive: &POSITIVE[1..],
            weights: None,
        };
        assert!(matches!(
            Sums::of(short, Loss::Hinge, 0.0, 0.0),
            Err(Error::Length { .. })
        ));
        let short = all(Some(&WEIGHTS[1..]));
        assert!(matches!(
            Sums::of(short, Loss::Hinge, 0.0, 0.0),
            Err(Error::Length { .. })
        ));
        let p = Objective {
            beta: -1.0,
            gamma: 0.0,
            least_squares: LeastSquares::Plain,
            softness: 0.0,
        };
        assert!(matches!(
            p.check(),
            Err(Error::Parameter { name: "beta", .. })
        ));
        let p = Objective {
            beta: 1.0,
            gamma: f64::NAN,
            ..p
        };
        assert!(matches!(
            p.check(),
            Err(Error::Parameter { name: "gamma", .. })
        ));
    }
}
