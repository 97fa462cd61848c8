//! How much the parts of a map are shrunk: as much as suits the rows, by empirical Bayes.
//!
//! One γ for all weights shrinks a column that tells much as one that tells nothing, and pairs as columns. The groups of one
//! effect and one width are a family k with the factor f_k. To logistic regression the ridge is a prior,
//! v_g ~ N(0, 1/ρ), ρ = Nγ, so that what a group adds to a score, f_k v_g, has the variance f_k²/ρ before any row is seen.
//! After, with the variance s_g of v_g about its estimate, of all groups of the family
//!
//! ```text
//! d_k = Σ_g (1 − ρ s_g)                     weights that the rows determine
//! f_k² ← f_k² (1 + ρ Σ_g v_g²)/(1 + d_k)    MacKay (1992), as if one weight more were as large as expected
//! ```
//!
//! Weights of examples may have any unit: for this they are taken to have the mean 1, N the number of examples with one.
//!
//! A few rounds of this, each with a fit from where the last one ended. s_g takes the other effects as known
//! ([`Nesting::determined`]); within an effect it is exact but for the threshold, since a row is in one cell of it. γ is
//! chosen afterwards as ever, and the problem that is solved and certified then has the factors found here. The order of the
//! weights, where there is one, is left to that problem.
//!
//! Rows are asked through a [`Source`] alone, so that a cluster finds the factors of one machine: factors are
//! rounded to quarter powers of two, which sums in another order do not change.

use std::cell::OnceCell;

use super::{LearnedMap, TrainingTable};
use crate::data::dataset::Dataset;
use crate::objective::ubauc::ClassWeight;
use crate::solver::ba_ubauc::BaUbaucParams;
use crate::solver::ba_ubauc::path::{Path, SourceTransform};
use crate::solver::nesting::Nesting;
use crate::solver::shards::{Local, Source};
use crate::{Error, Result};

/// γ of these fits. With factors that suit the rows it is about the best γ, too.
pub(crate) const GAMMA: f64 = 1e-3;
const TOLERANCE: f64 = 1e-3;
const ROUNDS: usize = 3;
/// Factors are powers of two with this many steps from one to the next.
const STEPS: f64 = 4.0;
/// A factor changes by no more than two of these powers in one round …
const MOST_CHANGE: f64 = 2.0;
/// … and stays between them.
const RANGE: [f64; 2] = [-7.0, 3.0];

/// The map with factors that suit rows of two classes, which are anywhere.
pub fn shrunk(
    learned: LearnedMap,
    source: Box<dyn Source + '_>,
    classes: &[String; 2],
) -> Result<LearnedMap> {
    let Some(nesting) = learned.nesting.clone().filter(|n| n.cols() > 0) else {
        return Ok(learned);
    };
    let params = BaUbaucParams {
        beta: 0.0,
        softness: 1.0,
        gamma: GAMMA,
        class_weight: ClassWeight::None,
        tolerance: TOLERANCE,
        ..BaUbaucParams::default()
    };
    let stages: [OnceCell<Nesting>; ROUNDS] = Default::default();
    let mut last = &nesting;
    let transform = SourceTransform::Nesting(last);
    let path = Path::of_source(
        source,
        nesting.cols(),
        classes,
        transform,
        params.weighting(),
    );
    let mut path = match path {
        Ok(path) => path.stop_by_estimate().without_scores(),
        // Of one class nothing can be learned, here or later.
        Err(Error::OneClass { .. }) => return Ok(learned),
        Err(error) => return Err(error),
    };
    let examples = path.examples() as f64;
    let unit = examples / path.weight();
    let ridge = GAMMA * examples;
    for stage in &stages {
        let fitted = path.fit(&params)?;
        let Some(mut spread) = path.spread()? else {
            break;
        };
        spread.iter_mut().for_each(|h| *h *= unit);
        let factors = factors(last, &fitted.weights, &spread, ridge);
        let changed = last.with_factors(&factors)?;
        let settled =
            (changed.groups().iter().zip(last.groups())).all(|(a, b)| a.factor == b.factor);
        last = stage.get_or_init(|| changed);
        if settled {
            break;
        }
        path.nest(last, &fitted.weights);
    }
    Ok(LearnedMap {
        nesting: Some(last.clone()),
        ..learned
    })
}

/// The factor of every family after one round.
fn factors(nesting: &Nesting, weights: &[f64], spread: &[f64], ridge: f64) -> Vec<f64> {
    let families = nesting.groups().last().map_or(0, |last| last.family + 1);
    // The factor, 1 + ρ Σ v², and 1 + d.
    let mut sums = vec![[1.0; 3]; families as usize];
    let determined = nesting.determined(weights, spread, ridge);
    for (group, [v, share]) in nesting.groups().iter().zip(determined) {
        let sum = &mut sums[group.family as usize];
        sum[0] = group.factor;
        sum[1] += ridge * v * v;
        sum[2] += share;
    }
    let [least, most] = RANGE;
    let changed = |[factor, large, determined]: &[f64; 3]| {
        let change = (0.5 * (large / determined).log2()).clamp(-MOST_CHANGE, MOST_CHANGE);
        let power = (STEPS * (factor.log2() + change)).round() / STEPS;
        power.clamp(least, most).exp2()
    };
    sums.iter().map(changed).collect()
}

impl TrainingTable<'_> {
    /// The map with factors that suit the rows with a weight above 0; as it is where columns are in order, since these fits
    /// know no order and much shrunk columns make those that do slow.
    pub(crate) fn shrunk(&self, learned: LearnedMap) -> Result<LearnedMap> {
        if self.monotone.is_some() {
            return Ok(learned);
        }
        let rows = learned.map.apply(self.table)?;
        let data = Dataset::new(rows, self.labels.clone(), Vec::new())?;
        let source = Box::new(Local::new(&data, self.weights));
        shrunk(learned, source, &self.labels.names)
    }
}
