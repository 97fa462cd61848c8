//! Which example is where: held out, or in a fold.

use super::folds::Source;
use super::{TuneInputs, TuneParams};
use crate::data::scale::check_weights;
use crate::data::split::{self, GroupedRows};
use crate::{Error, Result};

/// Where whole groups are, by their counts alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DealtGroups {
    /// Held out for the verdict.
    pub held_out: Vec<bool>,
    /// The fold of each group, each time they are dealt; of those held out it means nothing.
    pub deals: Vec<Vec<u32>>,
}

impl DealtGroups {
    /// Positives and negatives of each group, in the order in which groups first appear.
    pub fn new(counts: &[[usize; 2]], params: &TuneParams) -> Result<DealtGroups> {
        let held_out = match params.held_out > 0.0 {
            true => split::hold_out_groups(counts, params.held_out, params.seed)?,
            false => vec![false; counts.len()],
        };
        let groups = counts.iter().zip(&held_out);
        let kept: Vec<[usize; 2]> = groups.filter(|(_, out)| !**out).map(|(n, _)| *n).collect();
        let deal = |repeat| -> Result<Vec<u32>> {
            let folds = split::folds_of_groups(&kept, params.folds, params.deal(repeat))?;
            let mut folds = folds.into_iter();
            let mut fold = |out: &bool| if *out { None } else { folds.next() };
            Ok(held_out.iter().map(|out| fold(out).unwrap_or(0)).collect())
        };
        let repeats = params.repeats(kept.iter().flatten().sum());
        Ok(DealtGroups {
            deals: (0..repeats).map(deal).collect::<Result<_>>()?,
            held_out,
        })
    }
}

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
    /// Folds of all deals, one after the other, that are left out in turn.
    count: u32,
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
        enough(source, &some, params)?;
        let Some(groups) = inputs.groups else {
            let out = match params.held_out > 0.0 {
                true => split::hold_out(&classes(&some), params.held_out, params.seed)?,
                false => vec![false; some.len()],
            };
            let (held_out, kept) = apart(&some, &out);
            enough(source, &kept, params)?;
            let repeats = 0..params.repeats(kept.len());
            let deal = |repeat| split::folds(&classes(&kept), params.folds, params.deal(repeat));
            return Ok(Parts {
                deals: repeats.map(deal).collect::<Result<_>>()?,
                k: params.folds,
                count: {
                    let positive = classes(&kept);
                    let n_pos = positive.iter().filter(|p| **p).count();
                    params.judging_folds(n_pos, kept.len() - n_pos)
                },
                held_out,
                kept,
            });
        };
        let groups: Vec<u32> = some.iter().map(|&i| groups[i]).collect();
        let rows = GroupedRows::new(&classes(&some), &groups)?;
        let dealt = DealtGroups::new(&rows.counts, params)?;
        let out = rows.each(&dealt.held_out);
        let (held_out, kept) = apart(&some, &out);
        enough(source, &kept, params)?;
        let of_kept = |folds: &Vec<u32>| {
            let rows = rows.each(folds).into_iter().zip(&out);
            rows.filter(|(_, out)| !**out).map(|(f, _)| f).collect()
        };
        Ok(Parts {
            deals: dealt.deals.iter().map(of_kept).collect(),
            k: params.folds,
            count: params.all_folds(kept.len()),
            held_out,
            kept,
        })
    }

    /// Folds with a share of every class, none held out; codes are those of the classes.
    pub(super) fn of_classes(
        codes: &[u32],
        weights: Option<&[f64]>,
        params: &TuneParams,
    ) -> Result<Parts> {
        let is_some = |i: &usize| weights.is_none_or(|s| s[*i] > 0.0);
        let kept: Vec<usize> = (0..codes.len()).filter(is_some).collect();
        let of_kept: Vec<u32> = kept.iter().map(|&i| codes[i]).collect();
        let deal = |repeat| split::folds_of_classes(&of_kept, params.folds, params.deal(repeat));
        let repeats = params.repeats(kept.len());
        Ok(Parts {
            held_out: Vec::new(),
            deals: (0..repeats).map(deal).collect::<Result<_>>()?,
            k: params.folds,
            count: params.all_folds(kept.len()),
            kept,
        })
    }

    /// Folds that are left out in turn, those of the first deal first.
    pub(super) fn count(&self) -> u32 {
        self.count
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

/// Those that are held out, and the others.
fn apart(some: &[usize], out: &[bool]) -> (Vec<usize>, Vec<usize>) {
    let part = |held: bool| -> Vec<usize> {
        let pairs = some.iter().zip(out);
        pairs
            .filter(|(_, out)| **out == held)
            .map(|(i, _)| *i)
            .collect()
    };
    (part(true), part(false))
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
                    "class {name} has {n} example{}{held_out}, too few for {} folds; use fewer folds",
                    if n == 1 { "" } else { "s" },
                    params.folds
                ),
            });
        }
    }
    Ok(())
}
