//! η₀ by trial: one pass over few examples for each of 4⁻⁷ … 4⁵, then for half and twice the best of them.
//!
//! The trial with the least P of those examples wins, P with the best λ. A trial averages as the stream will, from the
//! middle of the pass at the latest, and from there for passes over a data set. Trials that diverge, which only Eq. (9) can, are out; where twice the winner diverges too, the winner is
//! halved. Without both classes among the examples there is nothing to judge by, and η₀ is [`FALLBACK`].
//!
//! Cost: 16 passes over at most [`SAMPLE`] examples.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::passes::{PassesGiven, divided};
use super::{Learner, OlUbaucParams, RunningScale, Step};
use crate::Result;
use crate::data::dataset::Dataset;
use crate::data::rows::Row;
use crate::objective::ubauc::{Chunk, Objective, Sums};
use crate::solver::ba_ubauc::prox::threshold;

/// η₀ where there is nothing to try it on: right for features of a size up to 1.
pub const FALLBACK: f64 = 0.5;
/// At most so many examples are tried.
pub const SAMPLE: usize = 1000;

/// η₀ for passes over a data set, from a random sample of it.
pub fn choose(
    data: &Dataset,
    given: &PassesGiven<'_>,
    params: &OlUbaucParams,
    seed: u64,
) -> Result<f64> {
    params.check()?;
    let rows = divided(data.rows(), given.divisors)?;
    let weight = |i: usize| given.weights.map_or(1.0, |weights| weights[i]);
    let mut used: Vec<usize> = (0..rows.len()).filter(|&i| weight(i) > 0.0).collect();
    // The first of a random order, which is then the order of the trial.
    let mut random = Pcg64::seed_from_u64(seed);
    let taken = SAMPLE.min(used.len());
    for k in 0..taken {
        let other = random.random_range(k..used.len());
        used.swap(k, other);
    }
    let example = |&i: &usize| (rows.row(i), data.positive()[i], weight(i));
    let examples: Vec<_> = used[..taken].iter().map(example).collect();
    // The average is counted in passes, and the trial is but one.
    let average = params.average.map(|_| u64::MAX);
    let params = OlUbaucParams { average, ..*params };
    Ok(best(&examples, &params, RunningScale::None))
}

/// η₀ for a stream, from its first examples; more than [`SAMPLE`] are not looked at.
pub fn choose_from(
    examples: &[(Row<'_>, bool)],
    params: &OlUbaucParams,
    scale: RunningScale,
) -> Result<f64> {
    params.check()?;
    let first = examples.iter().take(SAMPLE);
    let examples: Vec<_> = first.map(|&(row, positive)| (row, positive, 1.0)).collect();
    Ok(best(&examples, params, scale))
}

type Weighted<'a> = (Row<'a>, bool, f64);

fn best(examples: &[Weighted<'_>], params: &OlUbaucParams, scale: RunningScale) -> f64 {
    let of_class = |class: bool| examples.iter().any(|example| example.1 == class);
    if !(of_class(true) && of_class(false)) {
        return FALLBACK;
    }
    let try_out = |eta0: f64| trial(examples, params, scale, eta0);
    let mut least = (f64::INFINITY, FALLBACK);
    let consider = |least: &mut (f64, f64), eta0: f64| {
        if let Some(objective) = try_out(eta0)
            && objective < least.0
        {
            *least = (objective, eta0);
        }
    };
    for k in -7..=5 {
        consider(&mut least, 4f64.powi(k));
    }
    let coarse = least.1;
    consider(&mut least, 0.5 * coarse);
    consider(&mut least, 2.0 * coarse);
    let eta0 = least.1;
    if params.step == Step::Sgd && try_out(2.0 * eta0).is_none() {
        return 0.5 * eta0;
    }
    eta0
}

/// P of the examples after one pass over them; none if it diverges.
fn trial(
    examples: &[Weighted<'_>],
    params: &OlUbaucParams,
    scale: RunningScale,
    eta0: f64,
) -> Option<f64> {
    let half = examples.len() as u64 / 2;
    let params = OlUbaucParams {
        eta0,
        average: params.average.map(|after| after.min(half)),
        ..*params
    };
    let mut learner = Learner::new(&params, scale).ok()?;
    for &(row, positive, weight) in examples {
        learner.learn(row, positive, weight).ok()?;
    }
    let b = learner.intercept();
    let scores: Vec<f64> = examples.iter().map(|x| learner.score(x.0) - b).collect();
    let positive: Vec<bool> = examples.iter().map(|x| x.1).collect();
    let weights: Vec<f64> = examples.iter().map(|x| x.2).collect();
    let chunk = Chunk {
        scores: &scores,
        positive: &positive,
        weights: Some(&weights),
    };
    let n_pos = Sums::of(chunk, 0.0, b).ok()?.total.pos;
    let [low, high] = threshold(&scores, &weights, n_pos);
    let sums = Sums::of(chunk, 0.5 * (low + high), b).ok()?;
    let norm_sq = (0..learner.cols())
        .map(|j| learner.iterate.weight(j).powi(2))
        .sum();
    let objective = Objective {
        beta: params.beta,
        gamma: params.gamma,
        least_squares: params.least_squares,
    };
    Some(objective.value(&sums, norm_sq)).filter(|value| value.is_finite())
}
