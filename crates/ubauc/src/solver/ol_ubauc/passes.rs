//! Passes over a data set in memory: the same steps, the rows in a new random order each time (`prepared.rs`).
//!
//! v and balanced class weights come of the classes of all examples. With an intercept features are taken less their mean: all of dense rows, of
//! sparse rows those that at least half of the rows store (`centred.rs`), for a step along a feature like `age` would
//! otherwise be one along its mean. Features may be divided by given numbers; the answer is for raw features again. After each pass P and AUC of the weights that would be saved are looked at, P with the λ that is best for
//! them (E1, or where the slope of the soft loss vanishes), as `ba_ubauc` does; the passes end when P has changed by less than the tolerance, relatively.
//!
//! Cost of a pass: O(nnz), one thread; of an evaluation: O(nnz + N), all threads, and the same bits for any number of them.

use super::OlUbaucParams;
use super::iterate::Iterate;
use super::prepared::Prepared;
use crate::data::dataset::Dataset;
use crate::data::rows::{Rows, dot};
use crate::metrics::{auc, weighted_auc};
use crate::objective::ubauc::{Chunk, ClassWeight, ClassWeights, Sums};
use crate::solver::centred::{means, offset};
use crate::solver::inputs::{check_row_inputs, refuse_one_class};
use crate::solver::ordered::Affine;
use crate::solver::passes::{Ended, Evaluation, Passing, make_passes};
use crate::solver::threshold::{TIED, best_lambda};
use crate::{Error, Result};

pub use crate::solver::passes::{PassPoint, Passes, Stop};

/// Steps are planned for this many examples at a time: their quotients need not wait for the steps before.
const AHEAD: usize = 32;

/// Where to start.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// For the raw features.
    pub weights: &'a [f64],
    /// b.
    pub intercept: f64,
    /// λ, in units of w·x.
    pub lambda: f64,
}

/// What is given besides the parameters.
#[derive(Default, Clone, Copy)]
pub struct PassesInputs<'a> {
    /// s_i ≥ 0; 1 if none. An example of weight 0 is scored and otherwise ignored.
    pub weights: Option<&'a [f64]>,
    /// Divides feature j by this number before all else; the answer is for raw features again.
    pub divisors: Option<&'a [f64]>,
    /// Where to start; 0 if none.
    pub start: Option<Start<'a>>,
    /// Progress callback, called after every pass.
    pub progress: Option<&'a (dyn Fn(&PassPoint) + Sync)>,
}

/// Where the passes led. P in mean form.
#[derive(Debug, Clone)]
pub struct Fit {
    /// For the raw features.
    pub weights: Vec<f64>,
    /// b, 0 without; −λ where β is 0, as in [`ba_ubauc::Fit`](crate::solver::ba_ubauc::Fit).
    pub intercept: f64,
    /// The interval of λ that minimise P at these weights (E1; a point where φ is soft), in units of w·x.
    pub lambda: [f64; 2],
    /// P there.
    pub objective: f64,
    /// Examples tied at λ, as in [`ba_ubauc::Fit`](crate::solver::ba_ubauc::Fit).
    pub tied: usize,
    /// Passes made.
    pub passes: usize,
    /// Why they ended.
    pub stop: Stop,
    /// Every pass.
    pub trace: Vec<PassPoint>,
    /// w·x of every example.
    pub scores: Vec<f64>,
}

/// Passes until P stands still or `passes` are made.
pub fn fit(
    data: &Dataset,
    given: &PassesInputs<'_>,
    params: &OlUbaucParams,
    passes: &Passes,
) -> Result<Fit> {
    passes.check()?;
    let mut run = Run::new(data, given, params, passes.shuffle)?;
    let ended = make_passes(&mut run, passes, given.progress)?;
    run.finish(ended)
}

/// The rows, made ready, and where the learner stands.
pub struct Run<'a> {
    data: &'a Dataset,
    given: PassesInputs<'a>,
    params: OlUbaucParams,
    rows: Prepared<'a>,
    /// The means that are taken off.
    shift: Option<Vec<f64>>,
    /// The weights with those of the classes, if there are any of those.
    balanced: Option<Vec<f64>>,
    iterate: Iterate,
    passes: usize,
}

impl<'a> Run<'a> {
    /// Makes the rows ready.
    pub fn new(
        data: &'a Dataset,
        given: &PassesInputs<'a>,
        params: &OlUbaucParams,
        shuffle: Option<u64>,
    ) -> Result<Run<'a>> {
        params.check_for_passes()?;
        let (weights, divisors) = (given.weights, given.divisors);
        check_row_inputs(data, weights, divisors)?;
        let totals = totals(data, weights);
        refuse_one_class(totals, data.class_names(), data.rows().len())?;
        let shift = shift(data.rows(), weights, params);
        let transform = Affine {
            shift: shift.as_deref(),
            divisors,
        };
        let balanced = balanced(data, weights, params);
        let weights = balanced.as_deref().or(weights);
        Ok(Run {
            data,
            given: *given,
            params: *params,
            rows: Prepared::new(data, (weights, transform), totals, params, shuffle)?,
            iterate: first(data.rows().cols(), given, shift.as_deref())?,
            shift,
            balanced,
            passes: 0,
        })
    }

    /// The examples as P has them: s_i with the weights of the classes, scores of rows less their mean.
    fn chunk<'s>(&'s self, scores: &'s [f64]) -> Chunk<'s> {
        Chunk {
            scores,
            positive: self.data.positive(),
            weights: self.balanced.as_deref().or(self.given.weights),
        }
    }

    /// P with the best λ.
    fn objective_at(&self, weights: &[f64], scores: &[f64]) -> Result<f64> {
        let objective = self.params.objective();
        let chunk = self.chunk(scores);
        let lambda = best_lambda(chunk, objective.loss())?;
        let middle = 0.5 * (lambda[0] + lambda[1]);
        let b = self.iterate.mean_intercept();
        let sums = Sums::of(chunk, objective.loss(), middle, b)?;
        Ok(objective.value(&sums, dot(weights, weights)))
    }

    fn finish(self, Ended { at, stop, trace }: Ended) -> Result<Fit> {
        let weights = at.raw_weights(self.given.divisors);
        let lambda = best_lambda(self.chunk(&at.scores), self.params.objective().loss())?;
        // Back from the rows less their mean.
        let offset = offset(self.shift.as_deref(), &weights);
        let middle = 0.5 * (lambda[0] + lambda[1]);
        let counts = |i: usize| self.given.weights.is_none_or(|weights| weights[i] > 0.0);
        let scores = at.scores.iter().enumerate();
        let tied = scores
            .filter(|&(i, z)| (z - middle).abs() <= TIED && counts(i))
            .count();
        let intercept = match self.params.beta > 0.0 {
            true => self.iterate.mean_intercept(),
            false => -middle,
        };
        Ok(Fit {
            weights,
            intercept: intercept - offset,
            lambda: lambda.map(|lambda| lambda + offset),
            objective: at.objective,
            tied,
            passes: trace.len(),
            stop,
            trace,
            scores: at.scores.into_iter().map(|z| z + offset).collect(),
        })
    }
}

impl Passing for Run<'_> {
    /// Examples of weight 0 are left out.
    fn pass(&mut self) -> Result<()> {
        self.rows.shuffle();
        let after = self.params.average;
        let averaging = after.and_then(|after| (self.passes as u64 >= after).then_some(1.0));
        let (params, rows, iterate) = (&self.params, &self.rows, &mut self.iterate);
        let mut plans = Vec::with_capacity(AHEAD);
        for some in rows.order().chunks(AHEAD) {
            let plan = |(t, &k): (u64, &u32)| params.plan(rows.example(k), t as f64);
            plans.clear();
            plans.extend((iterate.steps + 1..).zip(some).map(plan));
            for (&k, plan) in some.iter().zip(&plans) {
                let row = rows.row(k);
                let product = iterate.weights.product(row);
                let advance = iterate.advance(params, plan, product, averaging)?;
                iterate.weights.add(advance.delta, row);
            }
        }
        self.passes += 1;
        Ok(())
    }

    /// P with the best λ.
    fn evaluate(&self) -> Result<Evaluation> {
        let weights: Vec<f64> = (0..self.rows.cols())
            .map(|j| self.iterate.weight(j))
            .collect();
        let scores = self.rows.scores(&weights);
        let objective = self.objective_at(&weights, &scores)?;
        if !objective.is_finite() {
            let what = "the objective is not finite; scale the features";
            return Err(Error::Numerical { what });
        }
        Ok(Evaluation {
            weights,
            scores,
            objective,
        })
    }

    fn auc(&self, scores: &[f64]) -> Result<f64> {
        let positive = self.data.positive();
        match self.given.weights {
            Some(weights) => weighted_auc(scores, positive, weights).map(|found| found.auc),
            None => auc(scores, positive).map(|found| found.auc),
        }
    }
}

/// The means that are taken off the features, where there is an intercept to take them up.
pub(super) fn shift(
    rows: &Rows,
    weights: Option<&[f64]>,
    params: &OlUbaucParams,
) -> Option<Vec<f64>> {
    params.intercept.then(|| means(rows, weights))?
}

/// The weights times those of the classes; none where these are none.
pub(super) fn balanced(
    data: &Dataset,
    weights: Option<&[f64]>,
    params: &OlUbaucParams,
) -> Option<Vec<f64>> {
    if params.class_weight == ClassWeight::None {
        return None;
    }
    let totals = totals(data, weights);
    let factors = [false, true].map(|positive| params.class_factors(totals, positive).0);
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let classes = data.positive().iter().enumerate();
    let product = |(i, &positive): (usize, &bool)| weight(i) * factors[usize::from(positive)];
    Some(classes.map(product).collect())
}

/// Σ s_i by class.
fn totals(data: &Dataset, weights: Option<&[f64]>) -> ClassWeights {
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let classes = data.positive().iter().enumerate();
    ClassWeights::of(classes.map(|(i, &positive)| (positive, weight(i))))
}

fn first(cols: usize, given: &PassesInputs<'_>, shift: Option<&[f64]>) -> Result<Iterate> {
    let mut iterate = Iterate::new(cols);
    let Some(start) = given.start else {
        return Ok(iterate);
    };
    let (expected, got) = (cols, start.weights.len());
    if expected != got {
        let what = "weights to start from";
        return Err(Error::Length {
            what,
            expected,
            got,
        });
    }
    for (j, (pair, w)) in iterate
        .weights
        .pairs
        .iter_mut()
        .zip(start.weights)
        .enumerate()
    {
        pair[0] = w * given.divisors.map_or(1.0, |divisors| divisors[j]);
    }
    iterate.weights.make_norm();
    let offset = offset(shift, start.weights);
    iterate.lambda = start.lambda - offset;
    iterate.intercept = start.intercept + offset;
    let numbers = [iterate.weights.norm_sq, iterate.lambda, iterate.intercept];
    if numbers.iter().any(|x| !x.is_finite()) {
        let what = "the weights to start from are not finite, or too large";
        return Err(Error::Numerical { what });
    }
    Ok(iterate)
}
