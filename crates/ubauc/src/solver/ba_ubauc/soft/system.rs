//! The Newton system M p = −∇ of the soft bound, by conjugate gradients.
//!
//! The preconditioner is the diagonal of M or, where that is not good enough, the diagonal with a block in it: the columns
//! with the largest entries, all of them where they are not too many, factored by Cholesky. The block is summed over a
//! sample of the rows, which is near enough, and kept from step to step. It costs as much as some products with M: it is
//! made, or made again, when conjugate gradients have spent as much without an end, so that all in all no more than
//! twice the cheaper way is spent. With all columns and all rows it is M itself, and one round solves the system; with less
//! it gains less, and twice as much is spent before it is made ([`PATIENCE`]). Where it
//! cannot have all columns, and some rows are so long that they count by themselves, those take its place
//! (`preconditioner.rs`).
//! Where weights are in order the block has their features, and is made in every step: which pairs are at their bound changes.

use std::borrow::Cow;

use super::super::preconditioner::{self, take_heavy};
use crate::data::rows::{add_to, dot};
use crate::solver::cholesky::Cholesky;
use crate::solver::conjugate_gradients::{Enough, MAX_ROUNDS, conjugate_gradients};
use crate::solver::shards::{Block, Shards, SoftDiagonal, SoftMatrix};
use crate::{Error, Result};

/// Products that factoring the block may cost where it cannot have all columns.
const WORTH: f64 = 20.0;
/// All columns are taken up to this number, whatever they cost; of remote rows this many at most.
const MIN_BLOCK: usize = 256;
const MAX_BLOCK: usize = 1500;
const MAX_REMOTE_BLOCK: usize = 400;
/// Rows of the sample for each column of the block.
const SAMPLE: usize = 5;
/// Fewer long rows than this are left to conjugate gradients, which need about a round for each.
const LONG_ROWS: usize = 20;
/// With a block that costs no more products than this it is made before anything is tried.
const CHEAP: f64 = 12.0;
/// How many times the cost of a block that is not all of M is spent before it is made. Most fits need few steps, and end before it
/// would have paid: with 2 in place of 1 searches of three tables took a tenth less time, with 4 no less than with 2.
const PATIENCE: f64 = 2.0;

/// How M p = −∇ is solved, kept from step to step.
pub(super) struct Newton {
    /// Columns of the block.
    size: usize,
    /// Rows of the sample that the block is summed over; none for all of them.
    sample: Option<usize>,
    /// What the block costs, in products with M.
    cost: f64,
    preconditioner: Option<Preconditioner>,
    /// Rounds made with this block.
    spent: usize,
    /// Features that the block must have, ascending.
    bound: Vec<u32>,
}

struct Preconditioner {
    /// 1 over the diagonal of M, for columns outside of the blocks.
    inverse: Vec<f64>,
    /// Columns, all of them if empty, and a factor of their part of M.
    blocks: Vec<(Vec<u32>, Cholesky)>,
    /// Instead of both.
    rows: Option<preconditioner::Preconditioner<'static>>,
}

/// One system.
pub(super) struct Problem<'p> {
    pub(super) matrix: &'p SoftMatrix,
    pub(super) gradient: &'p [f64],
    /// Nγ.
    pub(super) ridge: f64,
    /// N·P − D that ends the search.
    pub(super) enough: f64,
    /// Of ∇ᵀP∇, P the preconditioner, that may be left after the step.
    pub(super) share: f64,
}

impl Newton {
    /// `ordered` are the features whose weights are in order.
    pub(super) fn new(shards: &Shards<'_>, ordered: &[u32]) -> Newton {
        let (d, rows) = (shards.cols(), shards.rows.max(1));
        let product = 2.0 * shards.stored().max(1) as f64;
        let affordable = (3.0 * WORTH * product).cbrt() as usize;
        let most = match shards.is_remote() {
            true => MAX_REMOTE_BLOCK,
            false => MAX_BLOCK,
        };
        let bound = with_nested(shards, ordered);
        let size = d.min(affordable.max(MIN_BLOCK).max(bound.len())).min(most);
        // Of a row the entries in the block, at most.
        let of_row = (shards.stored() as f64 / rows as f64).min(size as f64);
        let gram = |rows: usize| rows as f64 * of_row * of_row / 2.0;
        let few = (SAMPLE * size).min(rows);
        // Columns of many are heavy in few rows: a sample would miss those.
        let all = size < d || gram(rows) <= 4.0 * product || 2 * few > rows;
        let sample = if all { None } else { Some(few) };
        let factor = (size as f64).powi(3) / 3.0;
        Newton {
            size,
            sample,
            cost: (gram(sample.unwrap_or(rows)) + factor) / product + 1.0,
            preconditioner: None,
            spent: 0,
            bound,
        }
    }

    /// p, so well that no more than the share asked for is left of the gradient, or no more than matters beside `enough`; and
    /// the share that is left, 0 where it does not matter.
    pub(super) fn direction(
        &mut self,
        shards: &mut Shards<'_>,
        problem: &Problem<'_>,
    ) -> Result<(Vec<f64>, f64)> {
        let &Problem {
            matrix,
            gradient,
            ridge,
            enough,
            share,
        } = problem;
        // ½ rᵀ(M + NγI)⁻¹r ≤ ‖r‖²/(2Nγ): a residual r this small is worth a tenth of `enough` at most.
        let residual = 0.1 * 2.0 * ridge * enough;
        let enough = Enough::Step { residual, share };
        let mut right: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut p = vec![0.0; right.len()];
        let mut is_new = false;
        let is_stiff = matrix.stiffness.is_some();
        if self.preconditioner.is_none() || is_stiff {
            is_new = self.cost <= CHEAP || is_stiff;
            self.prepare(shards, matrix, ridge, is_new)?;
        }
        loop {
            let Some(preconditioner) = &self.preconditioner else {
                return Ok((p, 1.0));
            };
            // Nothing better than a block of this very matrix can be had.
            let most = match is_new {
                true => MAX_ROUNDS,
                false => ((self.patience(right.len()) * self.cost).ceil() as usize)
                    .saturating_sub(self.spent)
                    .max(2),
            };
            let product = |p: &[f64]| {
                let mut product = shards.soft_product(matrix, p)?;
                add_to(ridge, p, &mut product);
                Ok(product)
            };
            let found =
                conjugate_gradients(&right, enough, most, |r| preconditioner.apply(r), product)?;
            add_to(1.0, &found.x, &mut p);
            right = found.residual;
            self.spent += found.rounds;
            if found.is_enough || found.rounds < most || is_new {
                let is_small = dot(&right, &right) <= residual;
                return Ok((p, if is_small { 0.0 } else { found.share }));
            }
            self.prepare(shards, matrix, ridge, true)?;
            is_new = true;
        }
    }

    /// How many times the cost of the block is spent before it is made, of d columns.
    fn patience(&self, d: usize) -> f64 {
        match self.size == d && self.sample.is_none() {
            true => 1.0,
            false => PATIENCE,
        }
    }

    fn prepare(
        &mut self,
        shards: &mut Shards<'_>,
        matrix: &SoftMatrix,
        ridge: f64,
        with_block: bool,
    ) -> Result<()> {
        let d = shards.cols();
        let all = self.size == d;
        let exact = with_block && all && self.sample.is_none();
        let mut diagonal = match exact {
            true => SoftDiagonal::default(),
            false => shards.soft_diagonal(matrix)?,
        };
        refuse_overflow(&diagonal.entries)?;
        self.spent = 0;
        if with_block
            && !all
            && self.bound.is_empty()
            && let Some(rows) = of_rows(shards, &diagonal.entries, ridge)?
        {
            self.preconditioner = Some(Preconditioner {
                inverse: Vec::new(),
                blocks: Vec::new(),
                rows: Some(rows),
            });
            return Ok(());
        }
        let mut blocks = Vec::new();
        if with_block && self.size > 0 {
            let columns = match all {
                true => Vec::new(),
                false => self.columns(shards, &diagonal.entries),
            };
            let whole = if all { &diagonal.entries[..] } else { &[] };
            let block = self.block(shards, matrix, columns, (whole, ridge))?;
            blocks.extend(block);
        }
        if exact && blocks.is_empty() {
            diagonal = shards.soft_diagonal(matrix)?;
        }
        let invert = |x: &f64| 1.0 / (x.max(0.0) + ridge).max(f64::MIN_POSITIVE);
        let inverse: Vec<f64> = diagonal.entries.iter().map(invert).collect();
        let is_free = |features: &[u32]| {
            let taken = |(columns, _): &(Vec<u32>, Cholesky)| {
                columns.is_empty() || columns.binary_search(&features[0]).is_ok()
            };
            !blocks.iter().any(taken)
        };
        let rest = diagonal.blocks.into_iter().filter(|(of, _)| is_free(of));
        let rest: Vec<(Vec<u32>, Cholesky)> = rest
            .filter_map(|(features, mut a)| {
                let k = features.len();
                (0..k).for_each(|j| a[j * k + j] += ridge);
                Cholesky::new(a, k).map(|factor| (features, factor))
            })
            .collect();
        blocks.extend(rest);
        self.preconditioner = Some(Preconditioner {
            inverse,
            blocks,
            rows: None,
        });
        Ok(())
    }

    /// A factor of the block of these columns, all of them if empty; `whole` is their diagonal over all rows, if known.
    fn block(
        &self,
        shards: &mut Shards<'_>,
        matrix: &SoftMatrix,
        columns: Vec<u32>,
        (whole, ridge): (&[f64], f64),
    ) -> Result<Option<(Vec<u32>, Cholesky)>> {
        let d = match columns.len() {
            0 => self.size,
            count => count,
        };
        let sample = self.sample.map(|rows| matrix.weight() / rows as f64);
        let block = Block {
            columns,
            stride: sample.unwrap_or(0.0),
        };
        let mut a = shards.soft_block(matrix, &block)?;
        refuse_overflow(&a)?;
        // A sample may miss most of a column, never more than that.
        for (j, whole) in whole.iter().enumerate() {
            let entry = &mut a[j * d + j];
            *entry = entry.max(*whole);
        }
        (0..d).for_each(|j| a[j * d + j] += ridge);
        Ok(factor(a, d).map(|factor| (block.columns, factor)))
    }

    /// The columns with the largest entries, ascending: nested features together.
    fn columns(&self, shards: &Shards<'_>, diagonal: &[f64]) -> Vec<u32> {
        let mut members = match shards.nesting() {
            Some(nesting) => nesting.members(),
            None if self.bound.is_empty() => return largest(diagonal, self.size),
            None => (0..diagonal.len() as u32).map(|j| vec![j]).collect(),
        };
        let weight = |features: &[u32]| {
            if self.bound.binary_search(&features[0]).is_ok() {
                return f64::INFINITY;
            }
            let entries = features.iter().map(|&j| diagonal[j as usize]);
            entries.fold(0.0, f64::max)
        };
        members.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        let mut columns = Vec::new();
        for features in members {
            if columns.len() + features.len() <= self.size {
                columns.extend(features);
            }
        }
        columns.sort_unstable();
        columns
    }
}

/// With all features that are nested with them, ascending.
fn with_nested(shards: &Shards<'_>, features: &[u32]) -> Vec<u32> {
    let Some(nesting) = shards.nesting().filter(|_| !features.is_empty()) else {
        return features.to_vec();
    };
    let is_bound = |members: &Vec<u32>| members.iter().any(|j| features.binary_search(j).is_ok());
    let mut bound: Vec<u32> = (nesting.members().into_iter())
        .filter(is_bound)
        .flatten()
        .collect();
    bound.sort_unstable();
    bound
}

/// The long rows exactly and the diagonal of the rest, if there are enough of them.
fn of_rows(
    shards: &mut Shards<'_>,
    diagonal: &[f64],
    ridge: f64,
) -> Result<Option<preconditioner::Preconditioner<'static>>> {
    let mut diagonal: Vec<f64> = diagonal.iter().map(|d| d.max(0.0) + ridge).collect();
    let heavy = take_heavy(shards, &mut diagonal, ridge)?;
    Ok((heavy.len() >= LONG_ROWS)
        .then(|| preconditioner::Preconditioner::new(diagonal, Cow::Owned(heavy), Vec::new(), 0.0)))
}

fn refuse_overflow(squares: &[f64]) -> Result<()> {
    match squares.iter().all(|x| x.is_finite()) {
        true => Ok(()),
        false => Err(Error::Numerical {
            what: "squares of the features are not finite; scale the features",
        }),
    }
}

/// The columns with the largest entries, ascending.
fn largest(diagonal: &[f64], count: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..diagonal.len() as u32).collect();
    order.sort_by(|&a, &b| diagonal[b as usize].total_cmp(&diagonal[a as usize]));
    order.truncate(count);
    order.sort_unstable();
    order
}

/// With a ridge as small as it may be where features depend on each other, and no γ tells them apart.
fn factor(a: Vec<f64>, d: usize) -> Option<Cholesky> {
    let largest = (0..d).map(|j| a[j * d + j]).fold(0.0, f64::max);
    let ridges = std::iter::once(0.0).chain((-13..=-4).map(|k| largest * 10f64.powi(k)));
    ridges.into_iter().find_map(|more| {
        let mut a = a.clone();
        (0..d).for_each(|j| a[j * d + j] += more);
        Cholesky::new(a, d)
    })
}

impl Preconditioner {
    fn apply(&self, r: &[f64]) -> Vec<f64> {
        if let Some(rows) = &self.rows {
            return rows.apply(r);
        }
        if let [(columns, factor)] = self.blocks.as_slice()
            && columns.is_empty()
        {
            let mut s = r.to_vec();
            factor.solve(&mut s);
            return s;
        }
        let mut s: Vec<f64> = r.iter().zip(&self.inverse).map(|(r, i)| r * i).collect();
        let mut part = Vec::new();
        for (columns, factor) in &self.blocks {
            part.clear();
            part.extend(columns.iter().map(|&j| r[j as usize]));
            factor.solve(&mut part);
            for (&j, x) in columns.iter().zip(&part) {
                s[j as usize] = *x;
            }
        }
        s
    }
}
