//! How far the importance of a term depends on the examples: a jackknife over parts of them.
//!
//! The examples are dealt into K parts, groups whole, and without each part in turn the weights are learned again, from where
//! they are, with the same map, loss and γ. With θ the square of an importance, of all examples, and θ_k that without part k,
//!
//! ```text
//! θ* = Kθ − (K − 1) mean(θ_k),   se² = (K − 1)/K Σ_k (θ_k − mean)²,   interval: √[θ* ± t·se]₊
//! ```
//!
//! t the 97.5 % point of Student's distribution with K − 1 degrees of freedom. θ is quadratic in the weights, so that it is too
//! large by their variance: noise varies too. θ* is not, to first order, and therefore the interval of a column of noise
//! reaches to 0 or near it, and may lie below the importance as it is.
//!
//! It says what other examples of the same kind would change; not what other pairs, bins or another γ would.

use super::LearnedMap;
use super::effects::{EffectSums, Effects};
use crate::algorithm::Spec;
use crate::data::dataset::Dataset;
use crate::data::split;
use crate::data::table::Table;
use crate::features::columns::ColumnMap;
use crate::solver::ba_ubauc::path::Path;
use crate::solver::ba_ubauc::{BaUbaucParams, BatchInputs};
use crate::{Error, Result};

/// K.
pub const PARTS: u32 = 10;
/// The 97.5 % point of Student's distribution with K − 1 degrees of freedom.
const STUDENT: f64 = 2.262_157_16;
const SEED: u64 = 1;
/// A Newton step that promises less than this share of the objective is the last.
const TOLERANCE: f64 = 1e-7;
/// Importances are compared on no more rows than about this.
const ROWS: usize = 20_000;

/// What the weights were learned from, to be learned again without some of it.
pub struct Refit<'a> {
    /// The features.
    pub data: &'a Dataset,
    /// How its features share weights and are in order; none where they are numbers.
    pub learned: Option<&'a LearnedMap>,
    /// Sample weights.
    pub weights: Option<&'a [f64]>,
    /// What every feature is divided by.
    pub divisors: Option<Vec<f64>>,
    /// The loss.
    pub params: BaUbaucParams,
    /// The group of every row.
    pub groups: Option<&'a [u32]>,
}

impl<'a> Refit<'a> {
    /// As these parameters have it; none of models that are no minima.
    pub fn new(
        spec: &Spec,
        data: &'a Dataset,
        learned: Option<&'a LearnedMap>,
        weights: Option<&'a [f64]>,
        groups: Option<&'a [u32]>,
    ) -> Result<Option<Refit<'a>>> {
        let Some(params) = spec.minimised() else {
            return Ok(None);
        };
        Ok(Some(Refit {
            divisors: spec.divisors(data, weights)?,
            data,
            learned,
            weights,
            params,
            groups,
        }))
    }

    /// Of the terms of a map of columns, in the order of [`Effects::terms`]. Importances are compared on some of the rows of
    /// the table.
    pub fn of_table(
        &self,
        map: &ColumnMap,
        table: &Table,
        weights: &[f64],
    ) -> Result<Option<Vec<[f64; 2]>>> {
        let some = some_rows(table, self.weights);
        let sums = EffectSums::of(map, table, Some(&some))?;
        self.intervals(weights, &|weights| {
            let effects = Effects::of_sums(map, weights, 0.0, &sums)?;
            Ok(effects.terms.iter().map(|term| term.importance).collect())
        })
    }

    /// Of features that are numbers with these standard deviations.
    pub fn of_numbers(&self, deviations: &[f64], weights: &[f64]) -> Result<Option<Vec<[f64; 2]>>> {
        self.intervals(weights, &|weights| {
            let importance = |(w, deviation): (&f64, &f64)| (w * deviation).abs();
            Ok(weights.iter().zip(deviations).map(importance).collect())
        })
    }

    /// 95 % intervals of the importances that a function makes of weights. None of the hinge, whose minimum is not smooth in
    /// the examples, and where a class has fewer examples than there are parts.
    pub fn intervals(
        &self,
        weights: &[f64],
        importances: &(dyn Fn(&[f64]) -> Result<Vec<f64>> + Sync),
    ) -> Result<Option<Vec<[f64; 2]>>> {
        if !self.params.loss().is_smooth() {
            return Ok(None);
        }
        let Some(parts) = self.parts()? else {
            return Ok(None);
        };
        let all = importances(weights)?;
        let params = BaUbaucParams {
            tolerance: TOLERANCE,
            ..self.params
        };
        let without = |part: u32| -> Result<Vec<f64>> {
            let weight = |(i, of): (usize, &Option<u32>)| match of {
                Some(of) if *of != part => self.weights.map_or(1.0, |s| s[i]),
                _ => 0.0,
            };
            let sample: Vec<f64> = parts.iter().enumerate().map(weight).collect();
            let inputs = BatchInputs {
                weights: Some(&sample),
                start: Some(weights),
                divisors: self.divisors.as_deref(),
                nesting: self.learned.and_then(|learned| learned.nesting.as_ref()),
                order: self.learned.and_then(|learned| learned.order.as_ref()),
                ..BatchInputs::default()
            };
            let path = Path::new(self.data, &inputs, params.weighting())?;
            let fitted = path.stop_by_estimate().fit(&params)?;
            importances(&fitted.weights)
        };
        let without: Result<Vec<Vec<f64>>> = (0..PARTS).map(without).collect();
        let without = without?;
        let of_term = |(k, all): (usize, &f64)| {
            let parts = without.iter().map(|of_part| of_part[k] * of_part[k]);
            interval(all * all, parts.collect())
        };
        Ok(Some(all.iter().enumerate().map(of_term).collect()))
    }

    /// The part of every row; none of rows without weight.
    fn parts(&self) -> Result<Option<Vec<Option<u32>>>> {
        let n = self.data.rows().len();
        let weight = |i: usize| self.weights.map_or(1.0, |s| s[i]);
        let of: Vec<usize> = (0..n).filter(|&i| weight(i) > 0.0).collect();
        let positive: Vec<bool> = of.iter().map(|&i| self.data.positive()[i]).collect();
        let dealt = match self.groups {
            None => split::folds(&positive, PARTS, SEED),
            Some(groups) => {
                let groups: Vec<u32> = of.iter().map(|&i| groups[i]).collect();
                split::group_folds(&positive, &groups, PARTS, SEED)
            }
        };
        let dealt = match dealt {
            Ok(dealt) => dealt,
            Err(Error::Classes { .. } | Error::OneClass { .. } | Error::Empty) => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut parts = vec![None; n];
        for (i, part) in of.into_iter().zip(dealt) {
            parts[i] = Some(part);
        }
        Ok(Some(parts))
    }
}

/// From squares to an interval of the root.
fn interval(all: f64, without: Vec<f64>) -> [f64; 2] {
    let k = without.len() as f64;
    let mean = without.iter().sum::<f64>() / k;
    let squares: f64 = without.iter().map(|x| (x - mean) * (x - mean)).sum();
    let middle = k * all - (k - 1.0) * mean;
    let reach = STUDENT * ((k - 1.0) / k * squares).sqrt();
    [middle - reach, middle + reach].map(|x| x.max(0.0).sqrt())
}

/// Weights of some of the rows of a table, every so many of them, for importances that are compared.
pub fn some_rows(table: &Table, weights: Option<&[f64]>) -> Vec<f64> {
    let stride = table.len().div_ceil(ROWS).max(1);
    let weight = |i: usize| match i % stride {
        0 => weights.map_or(1.0, |s| s[i]),
        _ => 0.0,
    };
    (0..table.len()).map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_jackknife_by_hand() {
        // A mean of ten numbers, of which θ is the square: θ_k that of the other nine.
        let x: [f64; 10] = [1.0, 2.0, 0.5, 3.0, 1.5, 2.5, 1.0, 0.0, 2.0, 1.5];
        let sum: f64 = x.iter().sum();
        let without = x.map(|x| ((sum - x) / 9.0).powi(2)).to_vec();
        let [low, high] = interval((sum / 10.0).powi(2), without);
        // The square of a mean of 1.5 is too large by its variance, s²/10.
        let variance = x.iter().map(|x| (x - 1.5).powi(2)).sum::<f64>() / 9.0;
        let middle = (low * low + high * high) / 2.0;
        assert!((middle - (2.25 - variance / 10.0)).abs() < 1e-9, "{middle}");
        // To first order it is 2 · 1.5 times that of the mean.
        let reach = (high * high - low * low) / 2.0;
        let expected = 2.262 * 3.0 * (variance / 10.0).sqrt();
        assert!((reach / expected - 1.0).abs() < 0.1, "{reach} {expected}");
        assert_eq!(interval(1.0, vec![1.0; 10]), [1.0, 1.0]);
        let noise = interval(0.01, (0..10).map(|k| 0.01 * f64::from(k % 3)).collect());
        assert_eq!(noise[0], 0.0);
    }
}
