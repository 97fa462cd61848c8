//! η₀ by trial: one pass over few examples for each of 4⁻⁷ … 4⁵, then for half and twice the best of them.
//!
//! For passes over a data set, which are to minimise P, the trial with the least P of these examples after one pass wins,
//! the second half of its iterates averaged if the passes average at all.
//!
//! In a stream each example is judged before it is learned, by the weights that would be saved then. Of the trials whose
//! scores have the highest AUC, or one as good, that with the least P wins. (P alone is least without any learning where
//! one class is rare; AUC alone does not know how large the scores are.)
//!
//! Trials that diverge, which only Eq. (9) can, are out; where twice the winner diverges too, the winner is halved.
//! Without both classes among the examples there is nothing to judge by, and η₀ is [`FALLBACK`].
//!
//! Cost: 16 passes over at most [`SAMPLE`] examples.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::passes::{PassesInputs, balanced, shift};
use super::{Learner, OlUbaucParams, RunningScale, Step};
use crate::data::dataset::Dataset;
use crate::data::rows::Row;
use crate::metrics::weighted_auc;
use crate::objective::ubauc::{Chunk, ClassWeight, ClassWeights, Sums};
use crate::solver::ordered::{Affine, copied};
use crate::solver::threshold::best_lambda;
use crate::{Error, Result};

/// η₀ where there is nothing to try it on: right for features of a size up to 1.
pub const FALLBACK: f64 = 0.5;
/// AUCs of trials that differ by less are as good as each other.
const AS_GOOD: f64 = 1e-3;
/// At most this many examples are tried.
pub const SAMPLE: usize = 1000;

/// η₀ for passes over a data set, from a random sample of it.
pub fn choose(
    data: &Dataset,
    given: &PassesInputs<'_>,
    params: &OlUbaucParams,
    seed: u64,
) -> Result<f64> {
    params.check_for_passes()?;
    let shift = shift(data.rows(), given.weights, params);
    let transform = Affine {
        shift: shift.as_deref(),
        divisors: given.divisors,
    };
    let balanced = balanced(data, given.weights, params);
    let weights = balanced.as_deref().or(given.weights);
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let mut used: Vec<usize> = (0..data.rows().len())
        .filter(|&i| weight(i) > 0.0)
        .collect();
    // The first of a random order, which is then the order of the trial.
    let mut random = Pcg64::seed_from_u64(seed);
    let taken = SAMPLE.min(used.len());
    for k in 0..taken {
        let other = random.random_range(k..used.len());
        used.swap(k, other);
    }
    used.truncate(taken);
    // Only these rows are copied.
    let what = "more than 2^32 examples";
    let sample: Vec<u32> = (used.iter().map(|&i| u32::try_from(i)))
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| Error::Numerical { what })?;
    let rows = copied(data.rows(), transform, Some(&sample))?;
    let example = |(k, &i): (usize, &usize)| (rows.row(k), data.positive()[i], weight(i));
    let examples: Vec<_> = used.iter().enumerate().map(example).collect();
    // The average is counted in passes, and the trial is but one. The weights have those of the classes.
    let params = OlUbaucParams {
        class_weight: ClassWeight::None,
        average: params.average.map(|_| taken as u64 / 2),
        ..*params
    };
    // Centred and scaled already.
    let learner = |params: &OlUbaucParams| Learner::of_centred(params, RunningScale::None);
    Ok(best(&examples, &params, learner, |tried| {
        let after = |trial: &&Trial| trial.after;
        tried
            .iter()
            .min_by(|a, b| after(a).total_cmp(&after(b)))
            .copied()
    }))
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
    let learner = |params: &OlUbaucParams| Learner::new(params, scale);
    Ok(best(&examples, params, learner, best_of_stream))
}

type Weighted<'a> = (Row<'a>, bool, f64);

/// The highest AUC, or one as good with the least P.
fn best_of_stream(tried: &[Trial]) -> Option<Trial> {
    let highest = tried.iter().map(|trial| trial.auc).fold(0.0, f64::max);
    let as_good = tried.iter().filter(|trial| trial.auc >= highest - AS_GOOD);
    as_good
        .min_by(|a, b| a.before.total_cmp(&b.before))
        .copied()
}

fn best(
    examples: &[Weighted<'_>],
    params: &OlUbaucParams,
    learner: impl Fn(&OlUbaucParams) -> Result<Learner>,
    winner: impl Fn(&[Trial]) -> Option<Trial>,
) -> f64 {
    let of_class = |class: bool| examples.iter().any(|example| example.1 == class);
    if !(of_class(true) && of_class(false)) {
        return FALLBACK;
    }
    let try_out = |eta0: f64| {
        let params = OlUbaucParams { eta0, ..*params };
        trial(examples, learner(&params).ok()?)
    };
    let mut tried: Vec<Trial> = (-7..=5).filter_map(|k| try_out(4f64.powi(k))).collect();
    let Some(coarse) = winner(&tried) else {
        return FALLBACK;
    };
    tried.extend(try_out(0.5 * coarse.eta0));
    tried.extend(try_out(2.0 * coarse.eta0));
    let eta0 = winner(&tried).map_or(FALLBACK, |trial| trial.eta0);
    if params.step == Step::Sgd && try_out(2.0 * eta0).is_none() {
        return 0.5 * eta0;
    }
    eta0
}

/// How one η₀ did.
#[derive(Clone, Copy)]
struct Trial {
    eta0: f64,
    /// Of the scores before an example was learned.
    auc: f64,
    /// What the examples add to P on average, likewise, but for the regulariser.
    before: f64,
    /// P after all of them were learned, with the best λ.
    after: f64,
}

/// None if it diverges.
fn trial(examples: &[Weighted<'_>], mut learner: Learner) -> Option<Trial> {
    let params = *learner.params();
    let (objective, loss) = (params.objective(), params.objective().loss());
    // P has the weights of the classes among all of these; the learner has them among those so far.
    let totals = totals(examples);
    let share = |positive: bool| params.class_factors(totals, positive).0;
    let mut scores = Vec::with_capacity(examples.len());
    let mut sums = Sums::default();
    for &(row, positive, weight) in examples {
        let (b, lambda) = (learner.intercept(), learner.lambda());
        let score = learner.learn(row, positive, weight).ok()?;
        scores.push(score);
        let chunk = Chunk {
            scores: &[score - b],
            positive: &[positive],
            weights: Some(&[weight * share(positive)]),
        };
        sums += Sums::of(chunk, loss, lambda, b).ok()?;
    }
    let positive: Vec<bool> = examples.iter().map(|x| x.1).collect();
    let weights: Vec<f64> = examples.iter().map(|x| x.2 * share(x.1)).collect();
    let auc = weighted_auc(&scores, &positive, &weights).ok()?.auc;
    let before = objective.value(&sums, 0.0);

    let b = learner.intercept();
    let scores: Vec<f64> = examples.iter().map(|x| learner.score(x.0) - b).collect();
    let chunk = Chunk {
        scores: &scores,
        positive: &positive,
        weights: Some(&weights),
    };
    let [low, high] = best_lambda(chunk, loss).ok()?;
    let sums = Sums::of(chunk, loss, 0.5 * (low + high), b).ok()?;
    let norm_sq = (0..learner.cols())
        .map(|j| learner.iterate.weight(j).powi(2))
        .sum();
    let after = objective.value(&sums, norm_sq);
    (before.is_finite() && after.is_finite()).then_some(Trial {
        eta0: params.eta0,
        auc,
        before,
        after,
    })
}

/// Σ s_i by class.
fn totals(examples: &[Weighted<'_>]) -> ClassWeights {
    let weights = examples
        .iter()
        .map(|&(_, positive, weight)| (positive, weight));
    ClassWeights::of(weights)
}
