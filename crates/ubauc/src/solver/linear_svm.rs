//! The linear support vector machine, a baseline, by dual coordinate descent.
//!
//! ```text
//! min_{w,b}  P = ½(‖w‖² + b²) + C Σ_i [1 − y_i(w·x_i + b)]₊
//! max_α      D = Σ_i α_i − ½(‖w‖² + b²),   0 ≤ α_i ≤ C,   w = Σ_i α_i y_i x_i,   b = Σ_i α_i y_i
//! ```
//!
//! b is the weight of one more feature that is 1 everywhere, and is penalised: LIBLINEAR's -s 3 -B 1, and
//! scikit-learn's LinearSVC with the hinge loss. The sum is over examples, not their mean. With divisors r_j
//! the problem is that of the features x_j/r_j, and the weights returned are those of x_j.
//!
//! One coordinate, with G = y_i(w·x_i + b) − 1 the slope of −D and Q = ‖x_i‖² + 1 its curvature, goes to its maximum:
//!
//! ```text
//! α_i ← cut(α_i − G/Q, 0, C),   w, b follow
//! ```
//!
//! A pass takes the examples in a new random order. Those at a bound whose slope points outwards by more than
//! any violation of the pass before are left out (shrinking) until an evaluation takes all of them back.
//! An evaluation recomputes w and b from α, so that rounding does not add up, then P and D over all examples: D ≤ P whatever has been
//! left out. D only rises; of P the lowest counts. Looks come when what is left in stands still, and else after
//! a share of the visits so far. Stops when P − D ≤ tolerance · P.
//!
//! Cost O(nnz) a pass, one thread. A step moves α_i by about 1/Q at most, so examples on the wrong side need CQ passes to come to
//! α_i = C: large C with large features takes long.
//!
//! [Hsieh08], Algorithms 1 and 3.

use std::borrow::Cow;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::inputs::check_row_inputs;
use super::ordered::{Affine, copied};
use crate::data::dataset::Dataset;
use crate::data::rows::{Rows, dot};
use crate::{Error, Result};

/// An evaluation after this share of the visits so far, at the latest.
const LOOK_SHARE: f64 = 0.25;
/// The spread of slopes that counts as standing still starts here, and falls by `STRICTER` each time it is reached.
const FIRST_STILL: f64 = 1.0;
const STRICTER: f64 = 0.3;

/// What to fit, and how well.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SvmParams {
    /// C > 0, the weight of one example.
    #[serde(rename = "C")]
    pub c: f64,
    /// On P − D, as a share of P.
    pub tolerance: f64,
    /// At most this many passes, one being N visits.
    pub max_passes: usize,
    /// Of the order of the examples.
    pub seed: u64,
}

impl Default for SvmParams {
    fn default() -> Self {
        SvmParams {
            c: 1.0,
            tolerance: 1e-4,
            max_passes: 1000,
            seed: 0,
        }
    }
}

impl SvmParams {
    /// Refuses what has no meaning, by name.
    pub fn check(&self) -> Result<()> {
        let refuse = |name, value: String, must| Err(Error::Parameter { name, value, must });
        if !(self.c > 0.0 && self.c.is_finite()) {
            return refuse("C", self.c.to_string(), "finite and above 0");
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return refuse(
                "tolerance",
                self.tolerance.to_string(),
                "above 0 and below 1",
            );
        }
        if self.max_passes == 0 {
            return refuse("passes", "0".to_string(), "at least 1");
        }
        Ok(())
    }
}

/// What an evaluation finds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SvmPoint {
    /// Passes before it.
    pub pass: usize,
    /// The lowest P so far.
    pub objective: f64,
    /// D.
    pub dual: f64,
}

/// The optimum, or how far it came.
#[derive(Debug, Clone, PartialEq)]
pub struct SvmFit {
    /// w, of the features as they are in the data.
    pub weights: Vec<f64>,
    /// b.
    pub intercept: f64,
    /// P, of the divided features.
    pub objective: f64,
    /// D.
    pub dual: f64,
    /// (P − D)/P.
    pub gap: f64,
    /// Passes made: visits of an example, over N.
    pub passes: usize,
    /// Whether the gap is as small as was asked for.
    pub converged: bool,
    /// Every evaluation.
    pub trace: Vec<SvmPoint>,
}

/// Fits w and b.
pub fn fit(data: &Dataset, divisors: Option<&[f64]>, params: &SvmParams) -> Result<SvmFit> {
    params.check()?;
    check_row_inputs(data, None, divisors)?;
    let mut descent = Descent::new(data, divisors, params)?;
    let mut best = descent.evaluate()?;
    let mut trace = Vec::new();
    loop {
        descent.passes(params.max_passes);
        let passes = (descent.visits / data.rows().len() as u64) as usize;
        let now = descent.evaluate()?;
        let dual = now.dual.max(best.dual);
        if now.objective < best.objective {
            best = now;
        }
        best.dual = dual;
        trace.push(SvmPoint {
            pass: passes,
            objective: best.objective,
            dual,
        });
        let gap = ((best.objective - dual) / best.objective).max(0.0);
        let converged = gap <= params.tolerance;
        if converged || passes >= params.max_passes {
            let mut weights = best.w;
            for (j, w) in weights.iter_mut().enumerate() {
                *w /= divisors.map_or(1.0, |divisors| divisors[j]);
            }
            return Ok(SvmFit {
                weights,
                intercept: best.b,
                objective: best.objective,
                dual,
                gap,
                passes,
                converged,
                trace,
            });
        }
    }
}

/// w, b and both sides of the duality there.
struct Evaluation {
    w: Vec<f64>,
    b: f64,
    objective: f64,
    dual: f64,
}

struct Descent<'a> {
    rows: Cow<'a, Rows>,
    y: Vec<f64>,
    c: f64,
    /// Q_i.
    curvature: Vec<f64>,
    alpha: Vec<f64>,
    w: Vec<f64>,
    b: f64,
    /// The examples left in come first.
    order: Vec<u32>,
    random: Pcg64,
    visits: u64,
    /// The spread of slopes that counts as standing still.
    still: f64,
}

/// The largest and the smallest slope of −D that a coordinate could follow.
#[derive(Clone, Copy)]
struct Slopes {
    max: f64,
    min: f64,
}

impl<'a> Descent<'a> {
    fn new(data: &'a Dataset, divisors: Option<&[f64]>, params: &SvmParams) -> Result<Descent<'a>> {
        let transform = Affine {
            divisors,
            ..Affine::default()
        };
        let rows = copied(data.rows(), transform, None)?;
        let n = rows.len();
        let Ok(count) = u32::try_from(n) else {
            let what = "more than 2^32 examples";
            return Err(Error::Numerical { what });
        };
        let square = |i| 1.0 + rows.row(i).entries().map(|(_, x)| x * x).sum::<f64>();
        let curvature: Vec<f64> = (0..n).map(square).collect();
        if !curvature.iter().all(|q| q.is_finite()) {
            let what = "squares of the features are too large for a number; scale the features";
            return Err(Error::Numerical { what });
        }
        let sign = |&positive: &bool| if positive { 1.0 } else { -1.0 };
        Ok(Descent {
            y: data.positive().iter().map(sign).collect(),
            c: params.c,
            curvature,
            alpha: vec![0.0; n],
            w: vec![0.0; rows.cols()],
            b: 0.0,
            order: (0..count).collect(),
            random: Pcg64::seed_from_u64(params.seed),
            visits: 0,
            still: FIRST_STILL,
            rows,
        })
    }

    /// Passes until the slopes of the examples left in are within `still` of each other, as many visits are made as may
    /// come between evaluations, or as `max_passes` allow. The first is over all.
    fn passes(&mut self, max_passes: usize) {
        let n = self.order.len() as u64;
        let share = (LOOK_SHARE * self.visits as f64) as u64;
        let enough = (self.visits + share.max(n)).min(n.saturating_mul(max_passes as u64));
        let mut left_in = self.order.len();
        let mut before = Slopes {
            max: f64::INFINITY,
            min: f64::NEG_INFINITY,
        };
        loop {
            let slopes = self.pass(&mut left_in, before);
            if left_in == 0 || slopes.max - slopes.min <= self.still {
                self.still *= STRICTER;
                return;
            }
            if self.visits >= enough {
                return;
            }
            // With no violation on one side nothing is known of how far is safe.
            before = Slopes {
                max: if slopes.max > 0.0 {
                    slopes.max
                } else {
                    f64::INFINITY
                },
                min: if slopes.min < 0.0 {
                    slopes.min
                } else {
                    f64::NEG_INFINITY
                },
            };
        }
    }

    /// One visit of every example left in.
    fn pass(&mut self, left_in: &mut usize, before: Slopes) -> Slopes {
        self.order[..*left_in].shuffle(&mut self.random);
        let mut slopes = Slopes {
            max: f64::NEG_INFINITY,
            min: f64::INFINITY,
        };
        let mut at = 0;
        while at < *left_in {
            self.visits += 1;
            let i = self.order[at] as usize;
            let row = self.rows.row(i);
            let (y, alpha) = (self.y[i], self.alpha[i]);
            let slope = y * (row.dot(&self.w) + self.b) - 1.0;
            let outwards =
                (alpha == 0.0 && slope > before.max) || (alpha == self.c && slope < before.min);
            if outwards {
                *left_in -= 1;
                self.order.swap(at, *left_in);
                continue;
            }
            at += 1;
            let held = (alpha == 0.0 && slope > 0.0) || (alpha == self.c && slope < 0.0);
            let follow = if held { 0.0 } else { slope };
            slopes.max = slopes.max.max(follow);
            slopes.min = slopes.min.min(follow);
            if follow != 0.0 {
                let next = (alpha - slope / self.curvature[i]).clamp(0.0, self.c);
                let step = (next - alpha) * y;
                self.alpha[i] = next;
                row.add_to(step, &mut self.w);
                self.b += step;
            }
        }
        slopes
    }

    /// w and b recomputed, P and D.
    fn evaluate(&mut self) -> Result<Evaluation> {
        self.w.fill(0.0);
        self.b = 0.0;
        for (i, (alpha, y)) in self.alpha.iter().zip(&self.y).enumerate() {
            if *alpha > 0.0 {
                self.rows.row(i).add_to(alpha * y, &mut self.w);
                self.b += alpha * y;
            }
        }
        let half_square = 0.5 * (dot(&self.w, &self.w) + self.b * self.b);
        let hinge = |(i, y): (usize, &f64)| {
            let loss = 1.0 - y * (self.rows.row(i).dot(&self.w) + self.b);
            // `max` would turn NaN into 0.
            if loss < 0.0 { 0.0 } else { loss }
        };
        let losses: f64 = self.y.iter().enumerate().map(hinge).sum();
        let objective = half_square + self.c * losses;
        let dual = self.alpha.iter().sum::<f64>() - half_square;
        if !(objective.is_finite() && dual.is_finite()) {
            let what =
                "the objective is too large for a number; take a smaller C, or scale the features";
            return Err(Error::Numerical { what });
        }
        Ok(Evaluation {
            w: self.w.clone(),
            b: self.b,
            objective,
            dual,
        })
    }
}
