//! ba-UBAUC: the certified minimum of P, in mean form, and of its soft relatives.
//!
//! ```text
//! P(w) = 1/N min_λ Σ a_i φ_κ(y_i(λ − z_i)) + (β/2N) Σ a_i v_i (y_i − z_i − b)² + (γ/2)‖w‖²,   z = Xw
//! ```
//!
//! a_i is the sample weight times the class weight. Softness κ = 0 is the paper's Eq. (8) ([`exact`]); κ > 0 is smooth
//! ([`soft`]), and with β = 0 it is logistic regression.
//!
//! | file | what |
//! |---|---|
//! | `path.rs` | many parameters on the same rows, each fit from the one before |
//! | `exact.rs` | κ = 0: augmented Lagrangian, semismooth Newton steps (`newton.rs`, `preconditioner.rs`, `prox.rs`) |
//! | `soft.rs` | κ > 0: Newton steps, λ eliminated; `soft/monotone.rs` with weights in order |
//! | `rounding.rs` | what rounding may hide of a gap |
//! | `bcd.rs` | the paper's block descent |

#[cfg(feature = "bcd")]
pub mod bcd;
mod exact;
mod newton;
pub mod path;
mod preconditioner;
mod prox;
mod rounding;
mod soft;

use serde::{Deserialize, Serialize};

use crate::data::dataset::Dataset;
use crate::objective::loss::Loss;
use crate::objective::ubauc::{ClassWeight, LeastSquares, Objective};
use crate::solver::inputs::check_row_inputs;
use crate::solver::nesting::Nesting;
use crate::solver::order::Order;
use crate::solver::shards::Weighting;
use crate::{Error, Result};

/// What to minimise, and how well.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BaUbaucParams {
    /// β, the weight of the least squares; above 0, or 0 where the softness is above 0.
    pub beta: f64,
    /// γ ≥ 0, the weight of ½‖w‖².
    pub gamma: f64,
    /// κ ≥ 0; 0 is the paper's hinge.
    pub softness: f64,
    /// Of both classes, in the bound and in the least squares.
    pub class_weight: ClassWeight,
    /// v_i.
    pub least_squares: LeastSquares,
    /// An intercept in the least squares, not penalised: adding a constant to a feature then changes nothing. Without one
    /// it is the paper's Eq. (8). Where β = 0 it is −λ, so that a score of 0 is on the threshold.
    pub intercept: bool,
    /// Stop at this relative gap, (P − D)/|P|.
    pub tolerance: f64,
    /// Stop after this many Newton steps.
    pub max_newton: usize,
}

impl Default for BaUbaucParams {
    fn default() -> Self {
        BaUbaucParams {
            beta: 0.5,
            gamma: 1e-4,
            softness: 0.0,
            class_weight: ClassWeight::None,
            least_squares: LeastSquares::Plain,
            intercept: true,
            tolerance: 1e-6,
            max_newton: 1000,
        }
    }
}

impl BaUbaucParams {
    /// P.
    fn objective(&self) -> Objective {
        Objective {
            beta: self.beta,
            gamma: self.gamma,
            least_squares: self.least_squares,
            softness: self.softness,
        }
    }

    /// φ.
    pub fn loss(&self) -> Loss {
        self.objective().loss()
    }

    /// How the rows are weighted and whether they are centred: the same for a whole [`path`].
    pub fn weighting(&self) -> Weighting {
        Weighting {
            class_weight: self.class_weight,
            least_squares: self.least_squares,
            // Without least squares λ takes up every offset.
            intercept: self.intercept || self.beta == 0.0,
        }
    }

    /// Refuses what has no meaning, by name.
    pub fn check(&self) -> Result<()> {
        self.objective().check_for_solver()?;
        self.class_weight.check()?;
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Err(Error::Parameter {
                name: "tolerance",
                value: self.tolerance.to_string(),
                must: "above 0 and below 1",
            });
        }
        Ok(())
    }
}

/// Why the solver stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The relative gap is within the tolerance: certified.
    Converged,
    /// The same by an estimate of the gap: no certificate, since γ = 0 and features depend on each other, or since rounding is
    /// as large as what distinguishes features.
    Estimated,
    /// Rounding stopped all progress before the tolerance was reached.
    Stalled,
    /// The Newton steps ran out.
    MaxNewton,
}

impl Stop {
    /// As files and reports have it.
    pub fn name(self) -> &'static str {
        match self {
            Stop::Converged => "converged",
            Stop::Estimated => "estimated",
            Stop::Stalled => "stalled",
            Stop::MaxNewton => "max_newton",
        }
    }
}

/// One step, for a progress callback.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct TracePoint {
    /// Newton steps so far.
    pub newton: usize,
    /// P here.
    pub objective: f64,
    /// (P − D)/|P| here, if there is a bound.
    pub gap: Option<f64>,
    /// Examples on λ; 0 where the softness is above 0.
    pub active: usize,
}

/// The minimum, with its certificate. Everything in mean form.
#[derive(Debug, Clone)]
pub struct Fit {
    /// For the raw features.
    pub weights: Vec<f64>,
    /// b, 0 without; −λ where β = 0.
    pub intercept: f64,
    /// The interval of λ that minimise P at these weights (E1), in units of w·x.
    pub lambda: [f64; 2],
    /// P.
    pub objective: f64,
    /// D ≤ min P; `None` when nothing can be certified ([`Stop::Estimated`]).
    pub dual: Option<f64>,
    /// (P − D)/|P|.
    pub gap: Option<f64>,
    /// Examples tied at λ: within 1e-4 of the middle of its interval.
    pub tied: usize,
    /// Newton steps taken.
    pub newton: usize,
    /// Why it stopped.
    pub stop: Stop,
    /// w·x of every example; none where the rows are elsewhere.
    pub scores: Vec<f64>,
    /// Every Newton step.
    pub trace: Vec<TracePoint>,
}

/// What is certified of P by a bound, and why the solver stopped then. The two are one number when nothing is left between
/// them but rounding; a bound that is above P by more than was asked for is none.
fn certified(
    objective: f64,
    bound: f64,
    tolerance: f64,
    stop: Stop,
) -> (Option<f64>, Option<f64>, Stop) {
    let false_bound = bound > objective + tolerance * objective.abs();
    let dual = (bound.is_finite() && !false_bound).then(|| bound.min(objective));
    let gap = dual.map(|dual| relative(objective - dual, objective));
    let stop = match stop {
        Stop::Converged if dual.is_none() => Stop::Estimated,
        stop => stop,
    };
    (dual, gap, stop)
}

/// N·P − D as a share of N·P.
fn relative(distance: f64, objective: f64) -> f64 {
    match distance {
        0.0 => 0.0,
        distance => distance / objective.abs(),
    }
}

/// Progress callback, called after every step.
pub type Progress<'a> = &'a (dyn Fn(&TracePoint) + Sync);

/// What is given besides the parameters.
#[derive(Default, Clone, Copy)]
pub struct BatchInputs<'a> {
    /// s_i ≥ 0; 1 if none. An example of weight 0 is scored and otherwise ignored.
    pub weights: Option<&'a [f64]>,
    /// Divides feature j by this number before all else; the answer is for raw features again.
    pub divisors: Option<&'a [f64]>,
    /// Features share weights, and the penalty is of those; instead of divisors. A row has at most one of the features that
    /// share weights.
    pub nesting: Option<&'a Nesting>,
    /// Weights that must not exceed others; for a softness above 0.
    pub order: Option<&'a Order>,
    /// Where to start, for the raw features; the least squares alone if none. The minimum does not depend on it.
    pub start: Option<&'a [f64]>,
    /// Progress callback, called after every step.
    pub progress: Option<Progress<'a>>,
}

/// Minimises P over all w (and b) and λ.
pub fn fit(data: &Dataset, given: &BatchInputs<'_>, params: &BaUbaucParams) -> Result<Fit> {
    path::Path::new(data, given, params.weighting())?.fit(params)
}

fn check_inputs(data: &Dataset, given: &BatchInputs<'_>) -> Result<()> {
    check_row_inputs(data, given.weights, given.divisors)?;
    if let Some(nesting) = given.nesting {
        check_nesting(nesting, given.divisors, data.rows().cols())?;
    }
    if let Some(order) = given.order {
        let (expected, got) = (data.rows().cols(), order.cols());
        if got != expected {
            return Err(Error::Length {
                what: "weights in order",
                expected,
                got,
            });
        }
    }
    check_start(given.start, data.rows().cols())
}

fn check_nesting(nesting: &Nesting, divisors: Option<&[f64]>, expected: usize) -> Result<()> {
    if divisors.is_some() {
        return Err(Error::Parameter {
            name: "divisors",
            value: "given with nested features".to_string(),
            must: "absent; scale the features before they are nested",
        });
    }
    match nesting.cols() {
        got if got == expected => Ok(()),
        got => Err(Error::Length {
            what: "nested features",
            expected,
            got,
        }),
    }
}

fn check_start(start: Option<&[f64]>, cols: usize) -> Result<()> {
    if let Some(start) = start {
        let (expected, got) = (cols, start.len());
        if got != expected {
            return Err(Error::Length {
                what: "weights to start from",
                expected,
                got,
            });
        }
        if !start.iter().all(|w| w.is_finite()) {
            let what = "the weights to start from are not finite";
            return Err(Error::Numerical { what });
        }
    }
    Ok(())
}
