//! The bootstrap: what a metric would be, were other examples drawn.
//!
//! Examples are drawn again with replacement, as many of each class as there are, or whole groups where examples come
//! in groups: as many groups with positives alone, with negatives alone and with both as there are. The metric of each
//! draw, sorted, is the distribution that an interval is read from.
//!
//! Read at 2½ % and 97½ % it covers too seldom where AUC is high: its draws are biased and skewed as the estimate is,
//! towards the other side. Efron's correction (BCa) reads it at
//!
//!   Φ( z₀ + (z₀ + z)/(1 − a(z₀ + z)) ) ,   z = ±1.96 ,   Φ(z₀) = share of draws below the estimate, ties counted half
//!
//! with the acceleration a = skewness/6, of the influences of the examples or, which is the same to first order and
//! needs nothing but the draws, of the draws. Efron, Journal of the American Statistical Association 82 (1987).
//!
//! A draw needs no sort: scores keep their order, and only how often each is there changes. So the scores are ordered
//! once into blocks, each one distinct score of which some example is positive, or all negatives between two such; a
//! draw counts (or weighs) both classes in every block, and the metric is read off the blocks from one end to the
//! other. O(N) time a draw, 4 bytes an example (12 with weights), and for each thread 16 bytes a block.
//!
//! Each draw has random numbers of its own, seeded by its number: the same bits for any number of threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;

use super::interval::Resampling;
use super::order::{census, key};
use super::radix;
use super::recall_at_fpr::allowed;
use super::weighted_order::check;
use crate::{Error, Result};

/// A block and a class must fit 32 bits.
const MOST: usize = 1 << 31;

/// Labelled scores, perhaps with weights, perhaps in groups.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Higher meaning more likely positive; not NaN.
    pub scores: &'a [f64],
    /// Whether each example is positive; there must be both.
    pub positive: &'a [bool],
    /// Finite, not negative.
    pub weights: Option<&'a [f64]>,
    /// Examples of one value are of one group.
    pub groups: Option<&'a [u32]>,
}

impl<'a> Sample<'a> {
    /// Without weights and groups.
    pub fn new(scores: &'a [f64], positive: &'a [bool]) -> Self {
        Self {
            scores,
            positive,
            weights: None,
            groups: None,
        }
    }
}

/// What is computed of each draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// [`auc()`](super::auc()).
    Auc,
    /// [`average_precision`](super::average_precision()); weights are refused.
    AveragePrecision,
    /// [`recall_at_fpr`](super::recall_at_fpr()) at this rate; weights are refused.
    RecallAtFpr(f64),
}

/// A sample, ready to be drawn from.
pub(super) struct Bootstrap {
    /// 2·block + 1 for a positive, 2·block for a negative; examples in the order of `units`.
    slots: Vec<u32>,
    /// Of each of them; none if all are 1.
    weights: Option<Vec<f64>>,
    /// Where the examples of each unit begin, and the end; none if each example is one.
    units: Option<Vec<usize>>,
    /// Units among which as many are drawn as there are.
    strata: Vec<Range<usize>>,
    n_blocks: usize,
}

impl Bootstrap {
    pub(super) fn new(sample: &Sample<'_>) -> Result<Self> {
        let Sample {
            scores,
            positive,
            weights,
            groups,
        } = *sample;
        census(scores, positive)?;
        if scores.len() > MOST {
            let what = "a bootstrap of more than 2^31 examples";
            return Err(Error::Numerical { what });
        }
        let classes = match weights {
            None => None,
            Some(weights) => Some((weights, check(scores, positive, weights)?)),
        };
        if let Some(groups) = groups
            && groups.len() != scores.len()
        {
            return Err(Error::Length {
                what: "groups",
                expected: scores.len(),
                got: groups.len(),
            });
        }
        let (blocks, n_blocks) = blocks(scores, positive);
        let counts = |i: &usize| weights.is_none_or(|w| w[*i] > 0.0);
        let mut order: Vec<usize> = (0..scores.len()).filter(counts).collect();
        let (units, strata) = match groups {
            None => {
                order.sort_by_key(|&i| positive[i]);
                let n_neg = order.partition_point(|&i| !positive[i]);
                (None, vec![0..n_neg, n_neg..order.len()])
            }
            Some(groups) => {
                let (units, strata) = by_group(&mut order, positive, groups);
                (Some(units), strata)
            }
        };
        // No sum overflows when each class is in its own scale, which AUC does not feel.
        let weights = classes.map(|(weights, classes)| {
            let scaled = |&i: &usize| classes[usize::from(positive[i])].scale(weights[i]);
            order.iter().map(scaled).collect()
        });
        let slot = |&i: &usize| 2 * blocks[i] + u32::from(positive[i]);
        Ok(Self {
            slots: order.iter().map(slot).collect(),
            weights,
            units,
            strata,
            n_blocks,
        })
    }

    /// The statistic of every draw, ascending. `done` hears how many there are so far, from any thread.
    pub(super) fn run(
        &self,
        statistic: Statistic,
        resampling: Resampling,
        done: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<f64>> {
        let Resampling { resamples, seed } = resampling;
        if resamples == 0 {
            return Err(Error::Parameter {
                name: "resamples",
                value: "0".to_string(),
                must: "at least 1",
            });
        }
        if statistic != Statistic::Auc && self.weights.is_some() {
            let what = "a bootstrap of weighted examples is for AUC".to_string();
            return Err(Error::Classes { what });
        }
        let finished = AtomicUsize::new(0);
        let mut found: Vec<f64> = (0..resamples as u64)
            .into_par_iter()
            .map_init(Vec::new, |counts, number| {
                // Odd multiples of the golden ratio: far apart, and different for every draw of a seed.
                let own = seed.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                self.draw(&mut Pcg64::seed_from_u64(own), counts);
                let value = match statistic {
                    Statistic::Auc => auc_of(counts),
                    Statistic::AveragePrecision => precision_of(counts),
                    Statistic::RecallAtFpr(rate) => recall_of(counts, rate),
                };
                done(finished.fetch_add(1, Ordering::Relaxed) + 1);
                value
            })
            .collect();
        found.sort_unstable_by(f64::total_cmp);
        Ok(found)
    }

    /// Weights of both classes in each block: negatives, positives.
    fn draw(&self, random: &mut Pcg64, counts: &mut Vec<[f64; 2]>) {
        counts.clear();
        counts.resize(self.n_blocks, [0.0; 2]);
        let mut add = |example: usize| {
            let slot = self.slots[example];
            let weight = self.weights.as_ref().map_or(1.0, |w| w[example]);
            counts[(slot >> 1) as usize][(slot & 1) as usize] += weight;
        };
        for stratum in &self.strata {
            for _ in stratum.clone() {
                let unit = random.random_range(stratum.clone());
                match &self.units {
                    None => add(unit),
                    Some(starts) => (starts[unit]..starts[unit + 1]).for_each(&mut add),
                }
            }
        }
    }
}

/// The block of each example, ascending with the score, and how many there are.
fn blocks(scores: &[f64], positive: &[bool]) -> (Vec<u32>, usize) {
    let mut items: Vec<(u64, usize)> = (scores.iter().enumerate())
        .map(|(i, &s)| (key(s), i))
        .collect();
    radix::sort_by_key(&mut items, &mut Vec::new(), |item| item.0);
    let mut blocks = vec![0; scores.len()];
    let (mut n_blocks, mut open) = (0_u32, false);
    for tied in items.chunk_by(|a, b| a.0 == b.0) {
        let negatives = tied.iter().all(|item| !positive[item.1]);
        if !(negatives && open) {
            n_blocks += 1;
        }
        open = negatives;
        for item in tied {
            blocks[item.1] = n_blocks - 1;
        }
    }
    (blocks, n_blocks as usize)
}

/// Brings the examples of each group together, groups of one kind beside each other; where groups begin, and kinds.
fn by_group(
    order: &mut [usize],
    positive: &[bool],
    groups: &[u32],
) -> (Vec<usize>, Vec<Range<usize>>) {
    order.sort_by_key(|&i| groups[i]);
    let kind = |group: &[usize]| {
        let has = |class: bool| group.iter().any(|&i| positive[i] == class);
        (has(true), has(false))
    };
    let mut found: Vec<Vec<usize>> = (order.chunk_by(|&a, &b| groups[a] == groups[b]))
        .map(<[usize]>::to_vec)
        .collect();
    found.sort_by_key(|group| kind(group));
    let mut starts = vec![0];
    let mut strata = Vec::new();
    for alike in found.chunk_by(|a, b| kind(a) == kind(b)) {
        let first = starts.len() - 1;
        for group in alike {
            starts.push(starts[starts.len() - 1] + group.len());
        }
        strata.push(first..starts.len() - 1);
    }
    for (place, i) in order.iter_mut().zip(found.into_iter().flatten()) {
        *place = i;
    }
    (starts, strata)
}

fn auc_of(counts: &[[f64; 2]]) -> f64 {
    let (mut below, mut w_pos, mut wins) = (0.0, 0.0, 0.0);
    for &[neg, pos] in counts {
        wins += pos * (below + 0.5 * neg);
        below += neg;
        w_pos += pos;
    }
    (wins / w_pos / below).clamp(0.0, 1.0)
}

fn precision_of(counts: &[[f64; 2]]) -> f64 {
    let (mut tp, mut fp, mut sum) = (0.0, 0.0, 0.0);
    for &[neg, pos] in counts.iter().rev() {
        tp += pos;
        fp += neg;
        if pos > 0.0 {
            sum += pos * (tp / (tp + fp));
        }
    }
    (sum / tp).clamp(0.0, 1.0)
}

fn recall_of(counts: &[[f64; 2]], max_fpr: f64) -> f64 {
    let n_neg: f64 = counts.iter().map(|block| block[0]).sum();
    let n_pos: f64 = counts.iter().map(|block| block[1]).sum();
    let allowed = allowed(max_fpr, n_neg);
    let (mut tp, mut fp) = (0.0, 0.0);
    for &[neg, pos] in counts.iter().rev() {
        fp += neg;
        if fp > allowed {
            break;
        }
        tp += pos;
    }
    tp / n_pos
}
