//! Passes over a data set in memory, the rows in a new random order each time (`ordered.rs`): the loop of every online
//! learner, and those learners that need no more than [`Online`]. ol-UBAUC prepares its steps (`ol_ubauc/passes.rs`).
//!
//! After each pass the learner's objective and AUC of the weights that would be saved are looked at; the passes end when
//! the objective has changed by less than the tolerance, relatively. That is the stop rule of the paper's Table 3 (1e-7).
//!
//! Cost: the learner's N steps a pass, one thread; of an evaluation O(nnz + N log N), all threads, and the same bits for any
//! number of them.

use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::data::rows::{Row, dot};
use crate::metrics::auc;
use crate::solver::inputs::check_row_inputs;
use crate::solver::ordered::{Affine, Ordered};
use crate::{Error, Result};

/// A linear scorer that learns from one example at a time.
pub trait Online {
    /// One step. Features are finite; weights that leave the numbers are found after the pass.
    fn learn(&mut self, x: Row<'_>, positive: bool);

    /// The weights that would be saved now.
    fn weights(&self) -> Vec<f64>;

    /// What it minimises, at these weights.
    fn objective(&self, at: &Scored<'_>) -> f64;
}

/// Weights, and what they make of the examples.
#[derive(Debug, Clone, Copy)]
pub struct Scored<'a> {
    /// w·x of every example.
    pub scores: &'a [f64],
    /// `true` is +1; both classes are there.
    pub positive: &'a [bool],
    /// ‖w‖².
    pub norm_sq: f64,
}

/// How often, and in which order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passes {
    /// The maximum.
    pub passes: usize,
    /// Stop when P changes by less than this share of itself from one pass to the next; 0 for never.
    pub tolerance: f64,
    /// The seed of a new order in each pass; without, the rows come in their own order.
    pub shuffle: Option<u64>,
}

impl Default for Passes {
    fn default() -> Self {
        Passes {
            passes: 50,
            tolerance: 1e-7,
            shuffle: Some(0),
        }
    }
}

impl Passes {
    /// Refuses what has no meaning, by name.
    pub fn check(&self) -> Result<()> {
        let refuse = |name, value: String, must| Err(Error::Parameter { name, value, must });
        if self.passes == 0 {
            return refuse("passes", "0".to_string(), "at least 1");
        }
        if !(self.tolerance >= 0.0 && self.tolerance < 1.0) {
            let must = "not negative and below 1";
            return refuse("tolerance", self.tolerance.to_string(), must);
        }
        Ok(())
    }
}

/// One pass, for a progress callback.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PassPoint {
    /// From 1.
    pub pass: usize,
    /// What is minimised, after it, at the weights that would be saved; P of ol-UBAUC with the best λ.
    pub objective: f64,
    /// Their AUC on the training data, by sample weights where the learner knows them.
    pub auc: f64,
}

/// Why the passes ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// P changed by less than the tolerance: near a minimum, or the steps are too small to move.
    Still,
    /// The passes ran out.
    MaxPasses,
}

impl Stop {
    /// As files and reports have it.
    pub fn name(self) -> &'static str {
        match self {
            Stop::Still => "still",
            Stop::MaxPasses => "max_passes",
        }
    }
}

/// What is given besides the learner.
#[derive(Default, Clone, Copy)]
pub struct OnlineInputs<'a> {
    /// Divides feature j by this number before all else; the answer is for raw features again.
    pub divisors: Option<&'a [f64]>,
    /// Progress callback, called after every pass.
    pub progress: Option<&'a (dyn Fn(&PassPoint) + Sync)>,
}

/// Where the passes led.
#[derive(Debug, Clone)]
pub struct Fit {
    /// For the raw features.
    pub weights: Vec<f64>,
    /// What the learner minimises, of the divided features.
    pub objective: f64,
    /// Passes made.
    pub passes: usize,
    /// Why they ended.
    pub stop: Stop,
    /// Every pass.
    pub trace: Vec<PassPoint>,
    /// w·x of every example.
    pub scores: Vec<f64>,
}

/// Passes until the objective stands still or `passes` are made.
pub fn fit(
    data: &Dataset,
    given: &OnlineInputs<'_>,
    learner: impl Online,
    passes: &Passes,
) -> Result<Fit> {
    passes.check()?;
    let mut run = Run::new(data, given.divisors, learner, passes.shuffle)?;
    let Ended { at, stop, trace } = make_passes(&mut run, passes, given.progress)?;
    let weights = at.raw_weights(given.divisors);
    if weights.iter().any(|w| !w.is_finite()) {
        let what = "weights of features this small are not finite; scale the features";
        return Err(Error::Numerical { what });
    }
    Ok(Fit {
        weights,
        objective: at.objective,
        passes: trace.len(),
        stop,
        trace,
        scores: at.scores,
    })
}

/// A learner between its passes.
pub trait Passing {
    /// One step on every example.
    fn pass(&mut self) -> Result<()>;

    /// What is found at the weights that would be saved now.
    fn evaluate(&self) -> Result<Evaluation>;

    /// What is minimised, at these weights.
    fn objective(&self) -> Result<f64> {
        self.evaluate().map(|at| at.objective)
    }

    /// AUC of scores of the examples.
    fn auc(&self, scores: &[f64]) -> Result<f64>;
}

/// What is found at some weights.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// Of the divided features.
    pub weights: Vec<f64>,
    /// w·x of every example.
    pub scores: Vec<f64>,
    /// What is minimised.
    pub objective: f64,
}

impl Evaluation {
    /// The weights for raw features.
    pub(super) fn raw_weights(&self, divisors: Option<&[f64]>) -> Vec<f64> {
        let divisor = |j: usize| divisors.map_or(1.0, |divisors| divisors[j]);
        let weights = self.weights.iter().enumerate();
        weights.map(|(j, w)| w / divisor(j)).collect()
    }
}

/// Where and why passes ended.
pub(super) struct Ended {
    pub(super) at: Evaluation,
    pub(super) stop: Stop,
    /// Every pass.
    pub(super) trace: Vec<PassPoint>,
}

/// The loop.
pub(super) fn make_passes(
    run: &mut impl Passing,
    passes: &Passes,
    progress: Option<&(dyn Fn(&PassPoint) + Sync)>,
) -> Result<Ended> {
    let mut trace: Vec<PassPoint> = Vec::new();
    loop {
        run.pass()?;
        let at = run.evaluate()?;
        let point = PassPoint {
            pass: trace.len() + 1,
            objective: at.objective,
            auc: run.auc(&at.scores)?,
        };
        let before = trace.last().map(|last| last.objective);
        let change = before.map(|before| (before - point.objective).abs());
        let is_still = change.is_some_and(|c| c < passes.tolerance * point.objective.abs());
        trace.push(point);
        if let Some(progress) = progress {
            progress(&point);
        }
        if is_still || trace.len() == passes.passes {
            let stop = match is_still {
                true => Stop::Still,
                false => Stop::MaxPasses,
            };
            return Ok(Ended { at, stop, trace });
        }
    }
}

/// The rows, made ready, and the learner.
pub struct Run<'a, L> {
    data: &'a Dataset,
    rows: Ordered<'a>,
    learner: L,
}

impl<'a, L: Online> Run<'a, L> {
    /// Makes the rows ready.
    pub fn new(
        data: &'a Dataset,
        divisors: Option<&[f64]>,
        learner: L,
        shuffle: Option<u64>,
    ) -> Result<Run<'a, L>> {
        check_row_inputs(data, None, divisors)?;
        let transform = Affine {
            divisors,
            ..Affine::default()
        };
        Ok(Run {
            data,
            rows: Ordered::new(data.rows(), transform, shuffle, |_| true)?,
            learner,
        })
    }
}

impl<L: Online> Passing for Run<'_, L> {
    fn pass(&mut self) -> Result<()> {
        self.rows.shuffle();
        let positive = self.data.positive();
        for &k in self.rows.order() {
            let row = self.rows.row(k);
            self.learner.learn(row, positive[self.rows.place(k)]);
        }
        Ok(())
    }

    fn evaluate(&self) -> Result<Evaluation> {
        let weights = self.learner.weights();
        let scores = self.rows.scores(&weights);
        let objective = self.learner.objective(&Scored {
            scores: &scores,
            positive: self.data.positive(),
            norm_sq: dot(&weights, &weights),
        });
        if !(objective.is_finite() && scores.iter().all(|score| score.is_finite())) {
            let what = "the steps diverge; take smaller ones, or scale the features";
            return Err(Error::Numerical { what });
        }
        Ok(Evaluation {
            weights,
            scores,
            objective,
        })
    }

    fn auc(&self, scores: &[f64]) -> Result<f64> {
        auc(scores, self.data.positive()).map(|found| found.auc)
    }
}
