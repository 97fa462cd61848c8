//! The rows of a data set, made ready for passes: what a step must know of an example is computed once.

use rayon::prelude::*;

use super::OlUbaucParams;
use super::step::Example;
use crate::Result;
use crate::data::dataset::Dataset;
use crate::data::rows::Row;
use crate::objective::ubauc::ClassWeights;
use crate::solver::ordered::{Affine, Ordered};

pub(super) struct Prepared<'a> {
    ordered: Ordered<'a>,
    examples: Vec<Example>,
}

impl<'a> Prepared<'a> {
    /// The weights are those of the classes too; the totals are without.
    pub(super) fn new(
        data: &'a Dataset,
        (weights, transform): (Option<&[f64]>, Affine<'_>),
        totals: ClassWeights,
        params: &OlUbaucParams,
        shuffle: Option<u64>,
    ) -> Result<Prepared<'a>> {
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let ordered = Ordered::new(data.rows(), transform, shuffle, |i| weight(i) > 0.0)?;
        let factors = [false, true].map(|positive| params.class_factors(totals, positive).1);
        let example = |k: u32| {
            let i = ordered.place(k);
            let positive = data.positive()[i];
            Example {
                y: if positive { 1.0 } else { -1.0 },
                weight: weight(i),
                factor: factors[usize::from(positive)],
                norm_sq: ordered.row(k).entries().map(|(_, x)| x * x).sum(),
            }
        };
        let count = data.rows().len() as u32; // no more, or there were no order
        let examples = (0..count).into_par_iter().map(example).collect();
        Ok(Prepared { ordered, examples })
    }

    pub(super) fn cols(&self) -> usize {
        self.ordered.rows().cols()
    }

    /// Makes the order of the next pass.
    pub(super) fn shuffle(&mut self) {
        self.ordered.shuffle();
    }

    /// The rows of a weight above 0, in the order of this pass.
    pub(super) fn order(&self) -> &[u32] {
        self.ordered.order()
    }

    #[inline(always)]
    pub(super) fn row(&self, k: u32) -> Row<'_> {
        self.ordered.row(k)
    }

    #[inline]
    pub(super) fn example(&self, k: u32) -> &Example {
        &self.examples[k as usize]
    }

    /// x·w of all rows, in the order of the data.
    pub(super) fn scores(&self, w: &[f64]) -> Vec<f64> {
        self.ordered.scores(w)
    }
}
