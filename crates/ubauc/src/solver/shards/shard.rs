//! One shard: some of the rows, and the solver's numbers for each.
//!
//! Per row i: z_i = x_i·w, its change dz_i = x_i·p along a direction p, the multiplier u_i, and
//!
//! ```text
//! v_i = z_i + t dz_i + u_i/σ,    u⁺_i(λ) = clip( σ(v_i − λ), lo_i, hi_i ),
//! [lo_i, hi_i] = [−s_i, 0] for a positive, [0, s_i] for a negative example of weight s_i.
//! ```
//!
//! V_i = s_i v_i is its weight in the least squares, and A are the active rows, whose u⁺ is strictly between its bounds.
//! `commands.rs` changes these numbers, `numbers.rs` and `features.rs` answer queries about them and about the rows;
//! `soft.rs` has what the soft loss needs, for which u_i = −s_i y_i φ' and h_i = s_i φ''.

mod blocks;
mod commands;
mod features;
mod numbers;
mod signed;
mod soft;

use std::ops::Range;

use super::message::{Query, Round};
use crate::Result;
use crate::data::rows::{Row, Rows};
use crate::solver::centred::{Centred, CentredRow};
use signed::Signed;
pub(super) use soft::BlockSums;

/// Some of the rows, with the solver's numbers for each.
#[derive(Debug, Clone)]
pub struct Shard {
    span: Range<usize>,
    /// Those with a weight above 0, counted from the start of the span, where not all have one: the numbers below are of
    /// these alone.
    weighted: Option<Vec<u32>>,
    /// z of the others, where weights were last set.
    unweighted_z: Vec<f64>,
    /// d: at least the columns of the rows.
    cols: usize,
    /// The mean of the features that are centred, if there is an intercept; see `centred.rs`.
    centre: Option<Vec<f64>>,
    /// v_i of positives and negatives in the least squares.
    factors: [f64; 2],
    /// s_i for a positive example, −s_i for a negative one.
    signed: Signed,
    /// Every s_i is 1.
    unit: bool,
    z: Vec<f64>,
    // Those below are empty where all of them are 0 or none is needed.
    dz: Vec<f64>,
    u: Vec<f64>,
    /// Whether u outlives the next direction. The soft loss asks for it right after it was set, and only then: dz takes its
    /// place in memory.
    keeps_multipliers: bool,
    /// v of the hinge; after `SetCandidates` what it changed u⁺ by; after `PrepareProduct` the weights of the product.
    v: Vec<f64>,
    /// u⁺, or h of the soft loss.
    candidates: Vec<f64>,
    /// β where it is h, and the last product was prepared for the soft loss: its weights are βV + h.
    soft_beta: Option<f64>,
    /// A, ascending: places among the numbers.
    active: Vec<u32>,
    /// At the λ of u⁺: Σ s_i φ(y_i(λ − z_i)), and for the hinge that less Σ u⁺_i (z_i − λ).
    loss: f64,
    slack: f64,
}

impl Shard {
    /// Of the rows in `span`; `weights` s_i ≥ 0 of all rows, 1 if none. Rows of weight 0 are scored and take no part in
    /// any sum.
    ///
    /// # Panics
    /// If `positive` or `weights` do not reach the end of `span`.
    pub fn new(
        span: Range<usize>,
        cols: usize,
        positive: &[bool],
        weights: Option<&[f64]>,
    ) -> Shard {
        let sign = |i: usize| if positive[i] { 1.0 } else { -1.0 };
        let signed = |i: usize| sign(i) * weights.map_or(1.0, |s| s[i]);
        let has_weight = |i: &usize| signed(*i) != 0.0;
        let weighted = match span.clone().all(|i| has_weight(&i)) {
            true => None,
            false => {
                let rows = span.clone().filter(has_weight);
                let mut rows: Vec<u32> = rows.map(|i| (i - span.start) as u32).collect();
                rows.shrink_to_fit();
                Some(rows)
            }
        };
        let signed = Signed::new(span.clone().filter(has_weight).map(signed));
        let z = vec![0.0; signed.len()];
        let [dz, u, v, candidates] = [const { Vec::new() }; 4];
        Shard {
            unweighted_z: vec![0.0; span.len() - signed.len()],
            span,
            weighted,
            cols,
            centre: None,
            factors: [1.0; 2],
            signed,
            unit: weights.is_none(),
            z,
            dz,
            u,
            keeps_multipliers: false,
            v,
            candidates,
            soft_beta: None,
            active: Vec::new(),
            loss: 0.0,
            slack: 0.0,
        }
    }

    /// Obeys the commands of a round and answers its queries, one after the other.
    ///
    /// `rows` are always the same. A round with vectors of another length than the columns is refused, and has changed
    /// nothing.
    pub fn run(&mut self, rows: &Rows, round: &Round) -> Result<Vec<f64>> {
        self.obey(rows, round)?;
        Ok(self.answer(rows, &round.queries))
    }

    /// The commands alone, of a round that is checked as a whole.
    pub(super) fn obey(&mut self, rows: &Rows, round: &Round) -> Result<()> {
        round.check(self.cols)?;
        for command in &round.commands {
            self.obey_one(rows, command);
        }
        Ok(())
    }

    /// The answers to queries of a round that was checked, one after the other.
    pub(super) fn answer(&self, rows: &Rows, queries: &[Query]) -> Vec<f64> {
        let mut answers = Vec::new();
        for query in queries {
            let start = answers.len();
            self.answer_one(rows, query, &mut answers);
            let length = query.answer_len(self.cols);
            debug_assert!(length.is_none_or(|length| answers.len() - start == length));
        }
        answers
    }

    fn answer_one(&self, rows: &Rows, query: &Query, out: &mut Vec<f64>) {
        use Query as Q;
        match query {
            Q::Totals => out.extend(self.totals(rows)),
            Q::Stored => self.stored(rows, out),
            Q::Sum(over) => self.sum(rows, *over, out),
            Q::Gram(over) => self.gram(rows, *over, out),
            Q::Diagonal(over) => self.diagonal(rows, *over, out),
            Q::Target => self.target(rows, out),
            Q::Balance {
                sigma,
                slope,
                lambdas,
            } => self.balance(*sigma, *slope, lambdas, out),
            Q::Candidates => self.candidate_sums(rows, out),
            Q::Residuals(c) => out.extend(self.squares(&self.z, |y, z| y - z - c)),
            Q::Spread(c) => out.extend(self.squares(&self.z, |_, z| z - c)),
            Q::Along(c) => out.extend(self.squares(&self.dz, |_, dz| dz - c)),
            Q::Gradient(b) => self.gradient(rows, *b, out),
            Q::ActiveProduct(p) => self.active_product(rows, p, out),
            Q::Product(p) => self.product(rows, p, out),
            Q::Soft {
                value,
                t,
                lambda,
                softness,
            } => out.extend(match value {
                true => self.soft(*t, *lambda, *softness),
                false => self.soft_slope(*t, *lambda, *softness),
            }),
            Q::SoftMultipliers => out.extend(self.soft_multipliers()),
            Q::SoftGradient { beta, intercept } => {
                self.soft_gradient(rows, *beta, *intercept, out);
            }
            Q::BlockGram(block) => {
                let mut sums = BlockSums::new(block.len(self.cols));
                self.add_block(rows, block, &mut sums);
                sums.write(out);
            }
            Q::SoftAlong(b) => out.extend(self.soft_along(*b)),
            Q::Hinge(lambda) => out.push(self.hinge_at(*lambda)),
            Q::Near { lambda, margin } => out.push(self.near(*lambda, *margin)),
            Q::Above(lambdas) => self.above(lambdas, out),
            Q::Between { low, high } => self.between(*low, *high, out),
            Q::Below(lambda) => out.push(self.below(*lambda)),
            Q::ActiveRows => self.write_active_rows(rows, out),
            Q::HeavyRows { per, above, most } => {
                self.write_heavy_rows(rows, per, (*above, *most), out);
            }
            Q::Scores => self.write_scores(out),
            Q::Weights => {
                let weights: Vec<f64> = self.signed.iter().map(f64::abs).collect();
                self.all(&weights, &vec![0.0; self.unweighted_z.len()], out);
            }
            Q::Ranges => self.ranges(rows, out),
            Q::Scale(pass) => {
                let sums = zeros(out, pass.width() * self.cols);
                pass.add(self.weighted(rows), sums);
            }
        }
    }

    /// z of all rows.
    pub(super) fn write_scores(&self, out: &mut Vec<f64>) {
        self.all(&self.z, &self.unweighted_z, out);
    }

    /// Frees what the soft loss computes again before it needs it.
    pub(super) fn forget(&mut self) {
        if !self.keeps_multipliers {
            [self.dz, self.u, self.candidates] = [const { Vec::new() }; 3];
            self.soft_beta = None;
        }
    }

    /// How many rows are active.
    pub(super) fn n_active(&self) -> usize {
        self.active.len()
    }

    fn centred<'r>(&'r self, rows: &'r Rows) -> Centred<'r> {
        Centred {
            rows,
            shift: self.centre.as_deref(),
        }
    }

    /// The row that the k-th numbers are of.
    #[inline(always)]
    fn place(&self, k: usize) -> usize {
        self.span.start
            + match &self.weighted {
                None => k,
                Some(weighted) => weighted[k] as usize,
            }
    }

    /// The rows of a weight above 0, ascending.
    fn places(&self) -> impl Iterator<Item = usize> + Clone {
        (0..self.signed.len()).map(|k| self.place(k))
    }

    /// A number for every row of the span: those of a weight above 0, and the others.
    fn all(&self, weighted: &[f64], others: &[f64], out: &mut Vec<f64>) {
        let Some(places) = &self.weighted else {
            out.extend_from_slice(weighted);
            return;
        };
        let mut others = others.iter();
        let mut weighted = places.iter().zip(weighted).peekable();
        out.extend((0..self.span.len() as u32).map_while(|k| {
            let own = weighted.next_if(|(place, _)| **place == k);
            own.map(|(_, x)| x).or_else(|| others.next()).copied()
        }));
    }

    /// Rows of a weight above 0, and their weights, as they are.
    fn weighted<'r>(&'r self, rows: &'r Rows) -> impl Iterator<Item = (Row<'r>, f64)> + Clone {
        let all = self.places().zip(self.signed.iter());
        all.map(|(i, s)| (rows.row(i), s.abs()))
    }

    fn active_rows<'r>(&'r self, rows: &'r Rows) -> impl Iterator<Item = CentredRow<'r>> {
        let rows = self.centred(rows);
        let active = self.active.iter();
        active.map(move |&k| rows.row(self.place(k as usize)))
    }

    /// z_i and s_i.
    fn weighted_scores(&self) -> impl Iterator<Item = (f64, f64)> {
        let rows = self.z.iter().zip(self.signed.iter());
        rows.map(|(z, s)| (*z, s.abs()))
    }

    /// V of the k-th row.
    #[inline(always)]
    fn square(&self, k: usize) -> f64 {
        square_weight(self.factors, self.signed.at(k))
    }

    /// What the k-th row weighs in a product, as it was prepared.
    #[inline(always)]
    fn product_weight(&self, k: usize) -> f64 {
        match self.soft_beta {
            Some(beta) => beta * self.square(k) + at(&self.candidates, k),
            None => at(&self.v, k),
        }
    }
}

/// Number k; 0 where none are kept.
#[inline(always)]
fn at(numbers: &[f64], k: usize) -> f64 {
    numbers.get(k).copied().unwrap_or(0.0)
}

/// As many numbers, 0 where there were none.
fn made(numbers: &mut Vec<f64>, n: usize) -> &mut [f64] {
    numbers.resize(n, 0.0);
    numbers
}

/// V_i.
#[inline]
fn square_weight(factors: [f64; 2], signed: f64) -> f64 {
    if signed > 0.0 {
        factors[0] * signed
    } else {
        -factors[1] * signed
    }
}

/// n zeros at the end.
fn zeros(out: &mut Vec<f64>, n: usize) -> &mut [f64] {
    let start = out.len();
    out.resize(start + n, 0.0);
    &mut out[start..]
}
