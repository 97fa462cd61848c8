//! Which example is where: held out, or in a fold.

use super::folds::Source;
use super::{TuneInputs, TuneParams};
use crate::data::scale::check_weights;
use crate::data::split;
use crate::{Error, Result};

/// Examples of weight 0 are nowhere.
pub(super) struct Parts {
    /// Held out for the verdict.
    pub(super) held_out: Vec<usize>,
    /// All others.
    pub(super) kept: Vec<usize>,
    /// The fold of each of them, each time they are dealt.
    deals: Vec<Vec<u32>>,
    /// Folds of one deal.
    k: u32,
}

impl Parts {
    pub(super) fn new(
        source: Source<'_>,
        inputs: &TuneInputs<'_>,
        params: &TuneParams,
    ) -> Result<Parts> {
        let (n, weights) = (source.positive().len(), inputs.weights);
        if let Some(weights) = weights {
            check_weights(weights, n)?;
        }
        if let Some(groups) = inputs.groups.filter(|groups| groups.len() != n) {
            return Err(Error::Length {
                what: "groups",
                expected: n,
                got: groups.len(),
            });
        }
        let some: Vec<usize> = (0..n)
            .filter(|&i| weights.is_none_or(|s| s[i] > 0.0))
            .collect();
        let classes =
            |of: &[usize]| -> Vec<bool> { of.iter().map(|&i| source.positive()[i]).collect() };
        let groups = |of: &[usize]| -> Option<Vec<u32>> {
            let groups = inputs.groups?;
            Some(of.iter().map(|&i| groups[i]).collect())
        };
        enough(source, &some, params)?;
        let out = match (params.held_out > 0.0, groups(&some)) {
            (false, _) => vec![false; some.len()],
            (true, None) => split::hold_out(&classes(&some), params.held_out, params.seed)?,
            (true, Some(groups)) => {
                split::group_hold_out(&classes(&some), &groups, params.held_out, params.seed)?
            }
        };
        let part = |held: bool| -> Vec<usize> {
            let pairs = some.iter().zip(&out);
            pairs
                .filter(|(_, out)| **out == held)
                .map(|(i, _)| *i)
                .collect()
        };
        let (held_out, kept) = (part(true), part(false));
        enough(source, &kept, params)?;
        let deal = |repeat: u32| {
            let seed = params.seed.wrapping_add(u64::from(repeat) << 32);
            match groups(&kept) {
                None => split::folds(&classes(&kept), params.folds, seed),
                Some(groups) => split::group_folds(&classes(&kept), &groups, params.folds, seed),
            }
        };
        let repeats = params.repeats(kept.len());
        Ok(Parts {
            deals: (0..repeats).map(deal).collect::<Result<_>>()?,
            k: params.folds,
            held_out,
            kept,
        })
    }

    /// Folds of all deals, one after the other.
    pub(super) fn count(&self) -> u32 {
        self.k * self.deals.len() as u32
    }

    /// The fold of each example that is kept, in the deal of a fold.
    fn dealt(&self, fold: u32) -> impl Iterator<Item = (usize, bool)> + '_ {
        let deal = &self.deals[(fold / self.k) as usize];
        let k = self.k;
        let pairs = self.kept.iter().zip(deal);
        pairs.map(move |(&i, &f)| (i, f == fold % k))
    }

    pub(super) fn in_fold(&self, fold: u32) -> Vec<usize> {
        self.dealt(fold)
            .filter(|(_, is_in)| *is_in)
            .map(|(i, _)| i)
            .collect()
    }

    /// Sample weights without one fold, or with all of them; 0 for what is held out.
    pub(super) fn weights(
        &self,
        n: usize,
        without: Option<u32>,
        weights: Option<&[f64]>,
    ) -> Vec<f64> {
        let mut of_part = vec![0.0; n];
        let mut keep = |i: usize| of_part[i] = weights.map_or(1.0, |s| s[i]);
        match without {
            None => self.kept.iter().for_each(|&i| keep(i)),
            Some(fold) => self
                .dealt(fold)
                .filter(|(_, is_in)| !is_in)
                .for_each(|(i, _)| keep(i)),
        }
        of_part
    }
}

/// Refuses fewer examples of a class than folds, by the name of the class.
fn enough(source: Source<'_>, of: &[usize], params: &TuneParams) -> Result<()> {
    for (class, name) in [false, true].into_iter().zip(source.class_names()) {
        let n = of
            .iter()
            .filter(|&&i| source.positive()[i] == class)
            .count();
        if n < params.folds as usize {
            let held_out = match params.held_out > 0.0 {
                true => " beside those held out",
                false => "",
            };
            return Err(Error::Classes {
                what: format!(
                    "class {name} has {n} examples{held_out}, too few for {} folds; use fewer folds",
                    params.folds
                ),
            });
        }
    }
    Ok(())
}
