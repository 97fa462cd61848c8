//! Loops over coded rows, which are taken in blocks: the same sums as row by row, but for rounding.

use std::ops::Range;

use super::signed::PIECE;
use super::{Shard, square_weight};
use crate::data::rows::{BLOCK, Coded, FeatureSums, FeatureWeights, Places, Power, dot};

impl Shard {
    /// The rows of a weight above 0: where their numbers are, and the rows.
    fn blocks(&self) -> impl Iterator<Item = (Range<usize>, Places<'_>)> {
        let n = self.signed.len();
        (0..n).step_by(BLOCK).map(move |first| {
            let block = first..n.min(first + BLOCK);
            let places = match &self.weighted {
                None => Places::Span(self.span.start + first),
                Some(weighted) => Places::List {
                    start: self.span.start,
                    at: &weighted[block.clone()],
                },
            };
            (block, places)
        })
    }

    /// x·w of the rows of a weight above 0.
    pub(super) fn coded_dots(&self, coded: &Coded, w: &[f64], power: Power, out: &mut [f64]) {
        let w = FeatureWeights::new(coded, w, power);
        for (block, places) in self.blocks() {
            coded.block_dots(places, &w, &mut out[block]);
        }
    }

    /// x·w of the other rows.
    pub(super) fn coded_other_dots(&self, coded: &Coded, w: &[f64], out: &mut [f64]) {
        let Some(weighted) = &self.weighted else {
            return;
        };
        let w = FeatureWeights::new(coded, w, Power::One);
        let mut weighted = weighted.iter().peekable();
        let mut others = (0..self.span.len() as u32).filter(|k| weighted.next_if_eq(&k).is_none());
        let mut at = [0; BLOCK];
        for out in out.chunks_mut(BLOCK) {
            let at = &mut at[..out.len()];
            at.iter_mut().zip(&mut others).for_each(|(at, k)| *at = k);
            let start = self.span.start;
            coded.block_dots(Places::List { start, at }, &w, out);
        }
    }

    /// Σ_k a_k x_k over the rows of a weight above 0.
    pub(super) fn coded_sum(
        &self,
        coded: &Coded,
        power: Power,
        a: impl Fn(usize) -> f64,
    ) -> FeatureSums<1> {
        self.coded_sums(coded, power, |block, [out]| {
            out.iter_mut().zip(block).for_each(|(out, k)| *out = a(k));
        })
    }

    /// The same for each of M factors of a row, which are made for the rows of a block.
    pub(super) fn coded_sums<const M: usize>(
        &self,
        coded: &Coded,
        power: Power,
        mut make: impl FnMut(Range<usize>, [&mut [f64]; M]),
    ) -> FeatureSums<M> {
        let mut sums = FeatureSums::new(coded, power);
        let mut factors = [[0.0; BLOCK]; M];
        for (block, places) in self.blocks() {
            let n = block.len();
            make(block, factors.each_mut().map(|a| &mut a[..n]));
            coded.block_add(places, factors.each_ref().map(|a| &a[..n]), &mut sums);
        }
        sums
    }

    /// Σ v_k (x_k·p) x_k, Σ V_k x_k·p and, of the shares of the rows, Σ share_k x_k·p.
    pub(super) fn coded_product(&self, coded: &Coded, p: &[f64], out: &mut [f64]) -> [f64; 2] {
        let p = FeatureWeights::new(coded, p, Power::One);
        let mut sums = FeatureSums::new(coded, Power::One);
        let [mut dz, mut weights, mut squares, mut shares] = [[0.0; BLOCK]; 4];
        let [mut square, mut other] = [0.0; 2];
        let mut share = self.shares();
        let mut signs = [0.0; PIECE];
        for (block, places) in self.blocks() {
            let n = block.len();
            let signed = self.signed.piece(block.clone(), &mut signs);
            for (square, signed) in squares.iter_mut().zip(signed) {
                *square = square_weight(self.factors, *signed);
            }
            match self.soft_beta {
                Some(beta) => {
                    let h = &self.candidates[block];
                    shares[..n].copy_from_slice(h);
                    for ((weight, square), h) in weights.iter_mut().zip(&squares).zip(h) {
                        *weight = beta * square + h;
                    }
                }
                None => {
                    for (at, k) in block.enumerate() {
                        (weights[at], shares[at]) = (self.product_weight(k), share(k));
                    }
                }
            }
            // A row of weight 0 has none of either.
            for (square, weight) in squares.iter_mut().zip(&weights) {
                *square = if *weight == 0.0 { 0.0 } else { *square };
            }
            let dz = &mut dz[..n];
            coded.block_dots(places, &p, dz);
            square += dot(&squares[..n], dz);
            other += dot(&shares[..n], dz);
            dz.iter_mut().zip(&weights).for_each(|(dz, v)| *dz *= v);
            coded.block_add(places, [dz], &mut sums);
        }
        write(&sums, 0, out);
        [square, other]
    }
}

/// Sum k of every feature, to the front of `out`.
pub(super) fn write<const M: usize>(sums: &FeatureSums<M>, k: usize, out: &mut [f64]) {
    out.iter_mut()
        .zip(sums.sum(k))
        .for_each(|(out, sum)| *out = sum);
}
