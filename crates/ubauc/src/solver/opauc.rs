//! OPAUC: the pairwise square loss by gradient steps, from class means and covariances [Gao, Jin, Zhu and Zhou 2013].
//!
//! Example t is compared with all examples of the other class that came before it, n in number:
//!
//! ```text
//! L_t(w) = λ/2 ‖w‖² + 1/(2n) Σ_{i<t, y_i ≠ y_t} (1 − y_t w·(x_t − x_i))²
//! ∇L_t   = λw + ((x_t − c)·w − y_t)(x_t − c) + Γw
//! ```
//!
//! with the mean c and the covariance Γ of those n, which are all that is kept of them. w ← w − η∇L_t, from w = 0, with η
//! constant. Nothing happens before both classes have come, since w is 0 until then. The paper makes one pass; in later
//! passes the examples count again, so that c and Γ stay what they are for the whole data.
//!
//! | file | Γ | memory | cost of a step |
//! |---|---|---|---|
//! | `full.rs` | as it is | O(d²) | O(d²) |
//! | `low_rank.rs` | a random sketch of rank τ | O(dτ) | O(τ nnz(x) + τ²) |
//!
//! What is minimised is half the mean square loss over pairs, and the penalty: ½ L_square + λ/2 ‖w‖².

mod full;
mod low_rank;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::data::rows::Row;
use crate::objective::pairwise;
use crate::solver::passes::{Online, Scored};
use crate::solver::stream::Streaming;
use crate::{Error, Result};
use full::Full;
use low_rank::LowRank;

/// The largest d for which the full covariances are a good default: 16 MB, and a step below a millisecond.
pub const FULL_UP_TO: usize = 1_000;

/// The rank of the sketches above it, as in the paper.
const TAU: usize = 50;

/// The rank that suits d features where none is asked for; none for full covariances.
pub fn default_tau(d: usize) -> Option<usize> {
    (d > FULL_UP_TO).then_some(TAU)
}

/// No more numbers than this in memory: 2 GiB.
const MOST: usize = 1 << 28;

/// What to learn with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpaucParams {
    /// η > 0, the step.
    pub eta: f64,
    /// λ ≥ 0 of the penalty λ/2 ‖w‖².
    pub lambda: f64,
    /// τ, the rank of the sketch of each covariance; without, they are kept in full.
    pub tau: Option<usize>,
    /// Of the sketch's random numbers.
    pub seed: u64,
}

impl Default for OpaucParams {
    fn default() -> Self {
        OpaucParams {
            eta: 1.0 / 256.0,
            lambda: 1e-4,
            tau: None,
            seed: 0,
        }
    }
}

impl OpaucParams {
    /// Refuses the first parameter outside its range.
    pub fn check(&self) -> Result<()> {
        let refuse = |name, value: String, must| Err(Error::Parameter { name, value, must });
        if !(self.eta > 0.0 && self.eta.is_finite()) {
            return refuse("eta", self.eta.to_string(), "finite and above 0");
        }
        if !(self.lambda >= 0.0 && self.lambda.is_finite()) {
            return refuse("lambda", self.lambda.to_string(), "finite and not negative");
        }
        if self.tau == Some(0) {
            return refuse("tau", "0".to_string(), "at least 1");
        }
        Ok(())
    }
}

/// The learner.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Opauc {
    lambda: f64,
    form: Form,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Form {
    Full(Full),
    LowRank(LowRank),
}

impl Opauc {
    /// For rows of d columns. Refuses what would need more than 2 GiB.
    pub fn new(d: usize, params: &OpaucParams) -> Result<Opauc> {
        params.check()?;
        let (eta, lambda) = (params.eta, params.lambda);
        check_size(d, params.tau)?;
        let form = match params.tau {
            None => Form::Full(Full::new(d, eta, lambda)),
            Some(tau) => Form::LowRank(LowRank::new(d, tau, eta, lambda, params.seed)),
        };
        Ok(Opauc { lambda, form })
    }

    /// τ; none of full covariances.
    pub(crate) fn tau(&self) -> Option<usize> {
        match &self.form {
            Form::Full(_) => None,
            Form::LowRank(low_rank) => Some(low_rank.tau()),
        }
    }
}

/// Refuses what would need more than 2 GiB.
fn check_size(d: usize, tau: Option<usize>) -> Result<()> {
    let refuse = |tau: &str, must| {
        Err(Error::Parameter {
            name: "tau",
            value: format!("{tau} with {d} features"),
            must,
        })
    };
    match tau {
        None if d.saturating_mul(d) > MOST / 2 => refuse(
            "none",
            "given: two full covariances would need more than 2 GiB",
        ),
        None => Ok(()),
        Some(tau) => {
            let m = low_rank::columns(tau);
            match d.saturating_add(m).saturating_mul(m) > MOST {
                true => refuse(
                    &tau.to_string(),
                    "smaller: the sketches would need more than 2 GiB",
                ),
                false => Ok(()),
            }
        }
    }
}

impl Online for Opauc {
    fn learn(&mut self, x: Row<'_>, positive: bool) {
        match &mut self.form {
            Form::Full(full) => full.learn(x, positive),
            Form::LowRank(low_rank) => low_rank.learn(x, positive),
        }
    }

    fn weights(&self) -> Vec<f64> {
        match &self.form {
            Form::Full(full) => full.weights().to_vec(),
            Form::LowRank(low_rank) => low_rank.weights(),
        }
    }

    fn objective(&self, at: &Scored<'_>) -> f64 {
        let square = pairwise::square(at.scores, at.positive).unwrap_or(f64::NAN);
        0.5 * (square + self.lambda * at.norm_sq)
    }
}

impl Streaming for Opauc {
    fn grow(&mut self, cols: usize) -> Result<()> {
        check_size(cols, self.tau())?;
        match &mut self.form {
            Form::Full(full) => full.grow(cols),
            Form::LowRank(low_rank) => low_rank.grow(cols),
        }
    }

    fn weight(&self, j: usize) -> f64 {
        match &self.form {
            Form::Full(full) => full.weights()[j],
            Form::LowRank(low_rank) => low_rank.weight(j),
        }
    }

    fn is_sound(&self, cols: usize) -> bool {
        let [eta, lambda] = match &self.form {
            Form::Full(full) => full.steps(),
            Form::LowRank(low_rank) => low_rank.steps(),
        };
        let params = OpaucParams {
            eta,
            lambda,
            ..OpaucParams::default()
        };
        params.check().is_ok()
            && lambda == self.lambda
            && match &self.form {
                Form::Full(full) => full.is_sound(cols),
                Form::LowRank(low_rank) => low_rank.is_sound(cols),
            }
    }
}

/// −1 or +1.
fn sign(positive: bool) -> f64 {
    if positive { 1.0 } else { -1.0 }
}
