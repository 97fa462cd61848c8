//! ol-UBAUC: one example at a time on P, Eq. (8) in mean form.
//!
//! ```text
//! f(w, λ, b) = s { φ(y(λ − c)) + (β/2) v (y − c − b)² + (γ/2)‖w‖² },   c = w·x
//! ```
//!
//! is what one example (x, y) of weight s adds to P: P is Σf/Σs, whatever the size of the weights. φ is the hinge [t]₊, or the
//! soft loss κ ln(1 + e^{t/κ}), with which β may be 0: logistic regression. Balanced class weights multiply s by
//! n/(2n_y), n_y as for v below, which is then 1. b is in the least
//! squares only, and left out on request, which is the paper's Eq. (8). With b, dense features are taken less their mean, that of
//! all examples (`passes.rs`) or of those so far (`means.rs`), since a constant added to a feature must not matter. v = 1, or n/(2n_y) with the weights n_y of the classes: of all examples where they are
//! known (`passes.rs`), otherwise of those so far, this one included, and 1 while only one class was seen.
//!
//! A step at (w_t, λ_t, b_t) with η_t = η₀/√t, η₀/t or η₀ (`step.rs`):
//!
//! * [`Step::Implicit`]: the minimum of f + (1/2η)(‖w − w_t‖² + (λ − λ_t)² + (b − b_t)²), in closed form. It never
//!   goes beyond the minimum of f, so no η₀ makes it diverge.
//! * [`Step::Sgd`]: Eq. (9), w_t − η∇f. It diverges where η(βv‖x‖² + γ) is much above 2; that is an error.
//!
//! Then, on request, the projection on ‖w‖ ≤ R, and the average of the iterates (Polyak). Both cost O(nnz(x)) a step,
//! decay included (`weights.rs`), whatever the number of features.
//!
//! An example of either class may come at any time, features may appear, and nothing is kept but the state:
//! two numbers for each feature, one more for the running scale (`scale.rs`), three for the running mean.
//!
//! **Forgetting**, of a stream alone: with a half-life N an example counts half as much after N later ones, ρ = 2^{−1/N}, and P
//! becomes P_t = Σ_s ρ^{t−s} f_s / n_t, n_t = Σ_s ρ^{t−s}, which moves on with the stream. Everything follows (`forgetting.rs` of
//! the crate has the sums):
//!
//! * the steps: η₀/√n_t or η₀/n_t. A stream of t examples is as good as its n_t that still count, so n takes the place of t.
//!   It ends at N/ln 2, where a step is that of a stream of so many examples and no smaller: what changes is followed.
//! * the average of the iterates has the weights ρ^{t−k};
//! * the weights n_y of the classes, in v and in balanced classes, are those that still count;
//! * the running means, and which features are dense, decided after every N examples once there are as many;
//! * the running scale is the largest value of the last N to 2N examples (`scale.rs`).
//!
//! The paper prints xᵀx for xxᵀ (E3) and γ₈ for γ (E5); η ∼ 1/√t needs O(1/ε²) steps and not O(1/ε) (E10).
//! Lyu & Ying, UAI 2018, Sec. 5.2.2. Implicit steps: Kulis & Bartlett, ICML 2010.
//!
//! ```
//! use ubauc::data::rows::Row;
//! use ubauc::solver::ol_ubauc::{Learner, OlUbaucParams, RunningScale};
//!
//! let mut learner = Learner::new(&OlUbaucParams::default(), RunningScale::MaxAbs)?;
//! for i in 0..1000 {
//!     let positive = i % 10 == 0;
//!     let x = [f64::from(i % 7), if positive { 300.0 } else { 100.0 }];
//!     let before = learner.learn(Row::Dense(&x), positive, 1.0)?;
//!     assert!(before.is_finite());
//! }
//! let score = |x: [f64; 2]| learner.score(Row::Dense(&x));
//! assert!(score([3.0, 300.0]) > score([3.0, 100.0]));
//!
//! let same = Learner::from_bytes(&learner.to_bytes()?)?;
//! assert_eq!(same.weights(), learner.weights());
//! # Ok::<(), ubauc::Error>(())
//! ```

pub mod eta0;
mod iterate;
mod learner;
mod means;
mod multiplier;
pub mod passes;
mod prepared;
mod scale;
mod state;
mod step;

use serde::{Deserialize, Serialize};

use crate::objective::ubauc::{ClassWeight, LeastSquares, Objective};
use crate::{Error, Result, forgetting};

pub use learner::Learner;
pub use scale::RunningScale;

/// How one example moves the weights.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// To the minimum of its own term and a square that keeps it near; stable for every η₀.
    #[default]
    Implicit,
    /// Eq. (9), along the subgradient.
    Sgd,
}

/// η_t, with t counted from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rate {
    /// η₀/√t, the paper's.
    #[default]
    InverseSqrt,
    /// η₀/t.
    Inverse,
    /// η₀.
    Constant,
}

/// What to minimise, and by which steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OlUbaucParams {
    /// β ≥ 0, the weight of the least squares; above 0 where κ = 0.
    pub beta: f64,
    /// γ ≥ 0, the weight of ½‖w‖².
    pub gamma: f64,
    /// κ ≥ 0 of φ; 0 is the hinge.
    pub softness: f64,
    /// Of the examples, in the bound and in the least squares.
    pub class_weight: ClassWeight,
    /// v.
    pub least_squares: LeastSquares,
    /// An intercept in the least squares, not penalised; dense features are centred with it.
    pub intercept: bool,
    /// How an example moves the weights.
    pub step: Step,
    /// How steps become smaller.
    pub rate: Rate,
    /// η₀ > 0.
    pub eta0: f64,
    /// R > 0: ‖w‖ ≤ R, in the scaled features.
    pub radius: Option<f64>,
    /// Average the iterates after this many steps of a stream, or after this many passes over a data set; without, the
    /// last iterate counts.
    pub average: Option<u64>,
    /// N ≥ 1: an example of a stream counts half as much after N later ones; without, all count alike. Passes over a data
    /// set refuse it.
    pub half_life: Option<f64>,
}

impl Default for OlUbaucParams {
    fn default() -> Self {
        OlUbaucParams {
            beta: 0.5,
            gamma: 1e-4,
            softness: 0.0,
            class_weight: ClassWeight::None,
            least_squares: LeastSquares::Plain,
            intercept: true,
            step: Step::Implicit,
            rate: Rate::InverseSqrt,
            eta0: eta0::FALLBACK,
            radius: None,
            average: Some(1),
            half_life: None,
        }
    }
}

impl OlUbaucParams {
    /// P.
    fn objective(&self) -> Objective {
        Objective {
            beta: self.beta,
            gamma: self.gamma,
            least_squares: self.least_squares,
            softness: self.softness,
        }
    }

    /// Refuses what has no meaning, by name.
    pub fn check(&self) -> Result<()> {
        self.objective().check_for_solver()?;
        self.class_weight.check()?;
        let refuse = |name, value: f64, must| {
            Err(Error::Parameter {
                name,
                value: value.to_string(),
                must,
            })
        };
        if !(self.eta0 > 0.0 && self.eta0.is_finite()) {
            return refuse("eta0", self.eta0, "finite and above 0");
        }
        self.half_life.map_or(Ok(()), forgetting::check)?;
        match self.radius {
            Some(radius) if !(radius > 0.0 && radius.is_finite()) => {
                refuse("radius", radius, "finite and above 0")
            }
            _ => Ok(()),
        }
    }

    /// Refuses what only a stream has.
    fn check_for_passes(&self) -> Result<()> {
        self.check()?;
        match self.half_life {
            None => Ok(()),
            Some(half_life) => Err(Error::Parameter {
                name: "half_life",
                value: half_life.to_string(),
                must: "none for passes over a data set: it is for streams",
            }),
        }
    }
}
