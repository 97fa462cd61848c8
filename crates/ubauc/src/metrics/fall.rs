//! Has the AUC of a stream fallen? A sequential test with a stated rate of false alarms.
//!
//! The scored examples are cut into blocks, each ended by the first example at which it has 1,000 examples and 100 of each class.
//! Block i has the AUC A_i and DeLong's variance v_i. With every block that ends, all cuts of the blocks so far into an older and
//! a newer part are tested, one-sided, for a fall of the mean AUC from Ā to Ā' over m and m' blocks:
//!
//! ```text
//! D = Ā − Ā',   σ² = v (1/m + 1/m'),   v = max( mean of all v_i , s² ),   p = exp( − D² / (2(σ² + bD/3)) )
//! ```
//!
//! p is Bernstein's bound of the probability that independent terms of variance σ² in all, none of which can change D by more than
//! b, exceed their mean by D. The terms are the placements of single examples (the projection of AUC on them), so b is the larger
//! of 1/(m n) and 1/(m' n'), with n the size of the smaller class in the smallest block of the part. A normal tail in its place would be
//! wrong where it matters: near AUC 1 few positives are lost, nearly as a Poisson variable, and at rates of 1e-4 its tail is many times a
//! normal one (simulated with z = D/σ: 15 % of streams with AUC 0.999 raised a false alarm at a rate of 1 %).
//!
//! s² is the variance of the A_i about the mean of their part, with m + m' − 2 degrees of freedom: it is larger than v_i where
//! the examples within a block are not independent, or the AUC wanders. v is common to both parts: with variances of their own a
//! block that was lucky, and shows hardly any, would count as if it were sure.
//!
//! **Rate.** Look k (the k-th block after which there is a cut to test) may spend α_k = α/(k(k+1)), and each of its c cuts
//! α_k/c: there is an alarm if some p < α_k/c. Since Σ_k α_k = α, the probability that a stream, however long, ever raises a false
//! alarm is at most α, by the union of all tests, whatever the dependence between them. Assumed: the examples are independent, or
//! at least the blocks, whose AUCs have means that do not fall (a learner that still improves only makes alarms rarer) and variances alike. That
//! σ² is an estimate is paid for by what Bernstein's bound and the union throw away (`tests/metrics/fall.rs` simulates it).
//!
//! **Memory.** Blocks are merged as they grow old, in spans of 1, 2, 4, … blocks, at most [`SPANS`] of each length: O(log k), and a
//! cut is where two spans meet. (Exponential histograms: Bifet & Gavaldà, SDM 2007, whose ADWIN tests means of bounded numbers so.)
//! Of the current block at most 10,000 scores of each class are kept, the last ones.
//!
//! After an alarm the older part is dropped, so that a second fall is a second alarm; k goes on.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::auc::auc;
use super::order::nan_score;
use crate::{Error, Result};

/// A block has at least this many examples,
const BLOCK: u64 = 1_000;
/// and this many of each class;
const OF_CLASS: u64 = 100;
/// no more scores of a class are kept.
const KEPT: usize = 10_000;
/// Spans of one length.
const SPANS: usize = 4;

/// Watches the scores of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct FallAlarm {
    /// α.
    rate: f64,
    /// k.
    looks: u64,
    /// Oldest first; lengths fall.
    spans: Vec<Span>,
    /// Where the current block began, and what it has: examples of each class, negatives first, and the last scores of these.
    first: u64,
    counts: [u64; 2],
    scores: [VecDeque<f64>; 2],
}

/// Some blocks one after another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Span {
    /// Its first example.
    first: u64,
    /// m, a power of two.
    blocks: u64,
    /// n.
    least: u64,
    /// Mean of A_i, Σ (A_i − mean)², Σ v_i.
    mean: f64,
    square: f64,
    variance: f64,
}

/// The AUC has fallen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fall {
    /// The example at which it was found.
    pub example: u64,
    /// The first example of the newer part.
    pub since: u64,
    /// Mean AUC of the blocks before, and since.
    pub auc_before: f64,
    /// Mean AUC of the blocks since.
    pub auc_since: f64,
    /// The fall in standard deviations, D/σ.
    pub z: f64,
    /// Bernstein's bound of its one-sided p-value, below `level`.
    pub p: f64,
    /// α_k/c.
    pub level: f64,
}

impl FallAlarm {
    /// Nothing seen yet. `rate` is α in (0, 1): the probability of a false alarm over the whole stream.
    pub fn new(rate: f64) -> Result<FallAlarm> {
        match rate > 0.0 && rate < 1.0 {
            true => Ok(FallAlarm {
                rate,
                looks: 0,
                spans: Vec::new(),
                first: 0,
                counts: [0; 2],
                scores: Default::default(),
            }),
            false => Err(Error::Parameter {
                name: "alarm",
                value: rate.to_string(),
                must: "above 0 and below 1",
            }),
        }
    }

    /// Takes the score of the next example, which is called by its number in `fall.example` and `fall.since`.
    pub fn add(&mut self, score: f64, positive: bool, example: u64) -> Result<Option<Fall>> {
        if score.is_nan() {
            return Err(nan_score(example as usize));
        }
        let class = usize::from(positive);
        if self.counts == [0; 2] {
            self.first = example;
        }
        self.counts[class] = self.counts[class].saturating_add(1);
        if self.scores[class].len() == KEPT {
            self.scores[class].pop_front();
        }
        self.scores[class].push_back(score);
        let [neg, pos] = self.counts;
        if neg.min(pos) < OF_CLASS || neg.saturating_add(pos) < BLOCK {
            return Ok(None);
        }
        self.end_block()?;
        Ok(self.look(example))
    }

    /// Forgets all blocks, as after a change of the scorer. The rate is spent as it was.
    pub fn start_over(&mut self) {
        self.spans.clear();
        self.counts = [0; 2];
        self.scores = Default::default();
    }

    fn end_block(&mut self) -> Result<()> {
        let [neg, pos] = std::mem::take(&mut self.scores);
        let least = neg.len().min(pos.len()) as u64;
        let positive: Vec<bool> = std::iter::repeat_n(false, neg.len())
            .chain(std::iter::repeat_n(true, pos.len()))
            .collect();
        let scores: Vec<f64> = neg.into_iter().chain(pos).collect();
        let found = auc(&scores, &positive)?;
        self.counts = [0; 2];
        self.spans.push(Span {
            first: self.first,
            blocks: 1,
            least,
            mean: found.auc,
            square: 0.0,
            variance: found.variance,
        });
        let mut blocks = 1;
        while let Some(oldest) = self.crowded(blocks) {
            let newer = self.spans.remove(oldest + 1);
            self.spans[oldest] = self.spans[oldest].and(newer);
            blocks *= 2;
        }
        Ok(())
    }

    /// The oldest of the spans of this length, if there are too many.
    fn crowded(&self, blocks: u64) -> Option<usize> {
        let is = |span: &Span| span.blocks == blocks;
        let count = self.spans.iter().filter(|span| is(span)).count();
        (count > SPANS).then(|| self.spans.iter().position(is))?
    }

    /// Tests every cut, and drops the older part of the one that is sure of a fall.
    fn look(&mut self, example: u64) -> Option<Fall> {
        let cuts = self.spans.len().saturating_sub(1);
        if cuts == 0 {
            return None;
        }
        self.looks = self.looks.saturating_add(1);
        let k = self.looks as f64;
        let level = self.rate / (k * (k + 1.0)) / cuts as f64;
        let sum = |spans: &[Span]| spans.iter().copied().reduce(Span::and);
        let tests = (1..=cuts).filter_map(|cut| {
            let (older, newer) = (sum(&self.spans[..cut])?, sum(&self.spans[cut..])?);
            let (z, p) = older.fall_to(&newer)?;
            Some((cut, older, newer, z, p))
        });
        let (cut, older, newer, z, p) = tests.min_by(|a, b| a.4.total_cmp(&b.4))?;
        if p >= level {
            return None;
        }
        self.spans.drain(..cut);
        Some(Fall {
            example,
            since: newer.first,
            auc_before: older.mean,
            auc_since: newer.mean,
            z,
            p,
            level,
        })
    }
}

impl Span {
    /// Both as one: Chan's sums of squares.
    fn and(self, newer: Span) -> Span {
        let (m, n) = (self.blocks as f64, newer.blocks as f64);
        let step = newer.mean - self.mean;
        Span {
            first: self.first,
            blocks: self.blocks.saturating_add(newer.blocks),
            least: self.least.min(newer.least),
            mean: self.mean + step * (n / (m + n)),
            square: self.square + newer.square + step * step * (m * n / (m + n)),
            variance: self.variance + newer.variance,
        }
    }

    /// z and p of a fall; none where nothing falls or varies.
    fn fall_to(&self, newer: &Span) -> Option<(f64, f64)> {
        let (m, n) = (self.blocks as f64, newer.blocks as f64);
        let within = (self.variance + newer.variance) / (m + n);
        let between = (self.square + newer.square) / (m + n - 2.0).max(1.0);
        let variance = within.max(between) * (1.0 / m + 1.0 / n);
        let fall = self.mean - newer.mean;
        let largest = (1.0 / (m * self.least as f64)).max(1.0 / (n * newer.least as f64));
        let exponent = -0.5 * fall * fall / (variance + largest * fall / 3.0);
        (fall > 0.0 && variance > 0.0).then(|| (fall / variance.sqrt(), libm::exp(exponent)))
    }
}

/// The same as it was read, before it is checked.
#[derive(Deserialize)]
struct Saved {
    rate: f64,
    looks: u64,
    spans: Vec<Span>,
    first: u64,
    counts: [u64; 2],
    scores: [VecDeque<f64>; 2],
}

impl TryFrom<Saved> for FallAlarm {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<FallAlarm> {
        let mut alarm = FallAlarm::new(saved.rate)?;
        let is_variance = |x: f64| x >= 0.0 && x.is_finite();
        let of_span = |span: &Span| {
            span.blocks > 0
                && span.least > 0
                && (0.0..=1.0).contains(&span.mean)
                && is_variance(span.square)
                && is_variance(span.variance)
        };
        let counts = saved.counts.iter().zip(&saved.scores);
        let of_class = |(&n, scores): (&u64, &VecDeque<f64>)| {
            scores.len() as u64 == n.min(KEPT as u64) && scores.iter().all(|x| !x.is_nan())
        };
        if !(saved.spans.iter().all(of_span) && counts.into_iter().all(of_class)) {
            return Err(Error::Numerical {
                what: "no watch over an AUC can be in this state",
            });
        }
        alarm.looks = saved.looks;
        alarm.spans = saved.spans;
        alarm.first = saved.first;
        alarm.counts = saved.counts;
        alarm.scores = saved.scores;
        Ok(alarm)
    }
}
