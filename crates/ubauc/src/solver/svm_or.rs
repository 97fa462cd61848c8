//! B-SVM-OR: the linear ranking SVM, with a certificate of how near the minimum is.
//!
//! ```text
//! min_w  P(w) = ½‖w‖² + C L(Xw),   L(c) = 1/(N⁺N⁻) Σ_{i∈+} Σ_{j∈−} [1 − (c_i − c_j)]₊
//! ```
//!
//! No intercept: it cancels in every pair. With divisors r_j the problem is that of the features x_j/r_j, and the
//! weights returned are those of x_j.
//!
//! Cutting planes: L(c) ≥ b_k + a_k·c for every plane found so far (`pairs.rs`), so the minimum of the model
//!
//! ```text
//! D = min_w ½‖w‖² + C max_k (b_k + a_k·Xw)
//! ```
//!
//! is at most min P (`bundle.rs`). A round minimises the model, searches the line from the best w to the model's
//! minimum for a better one (`line.rs`), and cuts at a point a little further on the way, as OCAS does: the model's
//! minimum itself jumps about, and plain cutting planes follow it. Stops when (P − D)/P is within the tolerance.
//!
//! Cost of a round: two products with the rows and about ten sorts; memory min(N, d) numbers a plane (`planes.rs`).
//! The same bits for any number of threads.
//!
//! Joachims, "A support vector method for multivariate performance measures", ICML 2005, and "Training linear SVMs in
//! linear time", KDD 2006; Franc & Sonnenburg, "Optimized cutting plane algorithm for SVMs", ICML 2008.

mod bundle;
mod line;
mod pairs;
mod planes;
mod products;

use serde::{Deserialize, Serialize};

use crate::data::dataset::Dataset;
use crate::data::rows::{add_to, dot};
use crate::solver::inputs::check_row_inputs;
use crate::{Error, Result};
use line::Line;
use pairs::Pairs;
use planes::Planes;
use products::Products;

/// The cut is made this far from the best w towards the model's minimum.
const CUT: f64 = 0.1;
/// The line search and the model may each be wrong by this share of P − D, …
const SHARE: f64 = 0.01;
/// … but need not be nearer than this share of P.
const ROUNDING: f64 = 1e-14;
/// Rounds in a row in which P − D does not shrink by more than rounding.
const MAX_IDLE: usize = 20;

/// What to fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SvmOrParams {
    /// C > 0.
    #[serde(rename = "C")]
    pub c: f64,
    /// Stop at this relative gap, (P − D)/P.
    pub tolerance: f64,
    /// Stop after this many rounds.
    pub max_rounds: usize,
}

impl Default for SvmOrParams {
    fn default() -> Self {
        SvmOrParams {
            c: 1.0,
            tolerance: 1e-4,
            max_rounds: 2000,
        }
    }
}

impl SvmOrParams {
    /// Refuses the first parameter outside its range.
    pub fn check(&self) -> Result<()> {
        let numbers = [("C", self.c), ("tolerance", self.tolerance)];
        for (name, value) in numbers {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::Parameter {
                    name,
                    value: value.to_string(),
                    must: "finite and above 0",
                });
            }
        }
        if self.max_rounds == 0 {
            return Err(Error::Parameter {
                name: "rounds",
                value: "0".to_string(),
                must: "at least 1",
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
    /// The rounds ran out.
    MaxRounds,
    /// Rounding stopped all progress before the tolerance was reached.
    Stalled,
}

impl From<Stop> for crate::algorithm::Stop {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Converged => Self::Converged,
            Stop::MaxRounds => Self::MaxRounds,
            Stop::Stalled => Self::Stalled,
        }
    }
}

/// One round, for a progress callback.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RoundPoint {
    /// From 1.
    pub round: usize,
    /// The least P so far, recomputed from w where it is within the tolerance.
    pub objective: f64,
    /// The largest D so far.
    pub dual: f64,
    /// (P − D)/P.
    pub gap: f64,
}

/// What is given besides the parameters.
#[derive(Default, Clone, Copy)]
pub struct SvmOrInputs<'a> {
    /// Divides feature j by this number before all else; the answer is for raw features again.
    pub divisors: Option<&'a [f64]>,
    /// Progress callback, called after every round.
    pub progress: Option<&'a (dyn Fn(&RoundPoint) + Sync)>,
}

/// The minimum, with its certificate.
#[derive(Debug, Clone, PartialEq)]
pub struct SvmOrFit {
    /// For the raw features.
    pub weights: Vec<f64>,
    /// P.
    pub objective: f64,
    /// D ≤ min P.
    pub dual: f64,
    /// (P − D)/P.
    pub gap: f64,
    /// Rounds taken.
    pub rounds: usize,
    /// Why it stopped.
    pub stop: Stop,
    /// Every round.
    pub trace: Vec<RoundPoint>,
    /// w·x of every example.
    pub scores: Vec<f64>,
}

/// Minimises P.
pub fn fit(data: &Dataset, given: &SvmOrInputs<'_>, params: &SvmOrParams) -> Result<SvmOrFit> {
    params.check()?;
    check_row_inputs(data, None, given.divisors)?;
    let (n, d) = (data.rows().len(), data.rows().cols());
    let products = Products::new(data.rows(), given.divisors);
    let mut pairs = Pairs::new(data)?;
    let mut planes = Planes::new(&products, n, d, params.c);
    let mut best = Iterate::zero(n, d, params.c);
    let (mut dual, mut idle) = (0.0_f64, 0);
    let mut trace: Vec<RoundPoint> = Vec::new();
    // The first cut is at w = 0.
    let mut cut = vec![0.0; n];
    let stop = loop {
        pairs.sort(cut.iter().copied())?;
        let mut a = vec![0.0; n];
        let b = pairs.plane(&mut a);
        planes.push(a, b)?;

        let enough = (SHARE * (best.objective - dual)).max(ROUNDING * best.objective);
        let model = planes.minimise(enough);
        dual = dual.max(model.dual);
        let ahead = products.scores(&model.w);
        best.approach(&model.w, &ahead, params.c, &mut pairs, enough)?;

        let mut gap = best.gap(dual);
        if gap <= params.tolerance {
            // What was added up step by step, recomputed.
            best.refresh(&products, params.c, &mut pairs)?;
            gap = best.gap(dual);
        }
        let round = trace.len() + 1;
        let (objective, last) = (best.objective, trace.last());
        let before = last.map_or(f64::INFINITY, |last| last.objective - last.dual);
        idle = if objective - dual < before - ROUNDING * objective {
            0
        } else {
            idle + 1
        };
        let point = RoundPoint {
            round,
            objective,
            dual,
            gap,
        };
        trace.push(point);
        if let Some(progress) = given.progress {
            progress(&point);
        }
        if gap <= params.tolerance {
            break Stop::Converged;
        }
        if idle >= MAX_IDLE {
            break Stop::Stalled;
        }
        if round >= params.max_rounds {
            break Stop::MaxRounds;
        }
        for ((cut, best), ahead) in cut.iter_mut().zip(&best.scores).zip(&ahead) {
            *cut = best + CUT * (ahead - best);
        }
    };
    best.refresh(&products, params.c, &mut pairs)?;
    Ok(SvmOrFit {
        weights: products.raw(&best.w),
        objective: best.objective,
        dual,
        gap: best.gap(dual),
        rounds: trace.len(),
        stop,
        trace,
        scores: best.scores,
    })
}

/// w, for the divided features, with its scores and P.
struct Iterate {
    w: Vec<f64>,
    scores: Vec<f64>,
    objective: f64,
}

impl Iterate {
    /// w = 0, where every pair costs 1.
    fn zero(n: usize, d: usize, c: f64) -> Iterate {
        Iterate {
            w: vec![0.0; d],
            scores: vec![0.0; n],
            objective: c,
        }
    }

    fn gap(&self, dual: f64) -> f64 {
        if self.objective > 0.0 {
            (self.objective - dual) / self.objective
        } else {
            0.0
        }
    }

    /// Goes to the best point of the line to w, if there is a better one.
    fn approach(
        &mut self,
        w: &[f64],
        scores: &[f64],
        c: f64,
        pairs: &mut Pairs<'_>,
        tolerance: f64,
    ) -> Result<()> {
        let step: Vec<f64> = w.iter().zip(&self.w).map(|(to, from)| to - from).collect();
        let along: Vec<f64> = scores
            .iter()
            .zip(&self.scores)
            .map(|(to, from)| to - from)
            .collect();
        let line = Line {
            square: [
                dot(&self.w, &self.w),
                dot(&self.w, &step),
                dot(&step, &step),
            ],
            c,
            scores: &self.scores,
            along: &along,
        };
        let look = line.search(pairs, tolerance)?;
        if look.value < self.objective {
            add_to(look.t, &step, &mut self.w);
            add_to(look.t, &along, &mut self.scores);
            self.objective = look.value;
        }
        Ok(())
    }

    /// Scores and P from w.
    fn refresh(&mut self, products: &Products<'_>, c: f64, pairs: &mut Pairs<'_>) -> Result<()> {
        self.scores = products.scores(&self.w);
        pairs.sort(self.scores.iter().copied())?;
        self.objective = 0.5 * dot(&self.w, &self.w) + c * pairs.loss();
        Ok(())
    }
}
