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
//! with the acceleration
//!
//!   a = Σ I_u³ / 6(Σ I_u²)^{3/2} ,   I_u the sum over the examples of a unit of s_i(V_i − A)/W⁺ and s_j(U_j − A)/W⁻
//!
//! of the influences of AUC (`weighted.rs`), a unit being what is drawn: an example or a group. Other metrics take a sixth of the
//! skewness of the draws, which is the same to first order. Efron, Journal of the American Statistical Association 82 (1987).
//!
//! A draw needs no sort: scores keep their order, and only how often each is there changes. So the scores are ordered
//! once into blocks, each one distinct score of which some example is positive, or all negatives between two such; a
//! draw counts (or weighs) both classes in every block, and the metric is read off the blocks from one end to the
//! other. O(N) time a draw, 4 bytes an example (12 with weights), and for each thread 16 bytes a block.
//!
//! Many units. Of n draws with replacement from n units each is there about Poisson(1) times, all but independently. From
//! [`MANY`] on each unit is counted by such a number of its own, four of them from 64 random bits by a table, in the order of
//! the scores: no place is drawn, no memory jumped through. The sum of the counts is not n but n ± √n; metrics divide by what
//! was drawn, which takes this out (Hanley & MacGibbon, Computer Methods and Programs in Biomedicine 83, 2006), and where
//! the shares of the classes matter they are put back; of groups every count is multiplied by n over their sum. Few units, where the sum would matter, are drawn one by one.
//!
//! Each draw has random numbers of its own, seeded by its number: the same bits for any number of threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;

use super::interval::{Resampling, Z_975};
use super::normal::{normal_cdf, normal_quantile};
use super::order::{census, key};
use super::radix;
use super::recall_at_fpr::allowed;
use super::weighted_order::{Sum, check};
use crate::{Error, Result};

/// A block and a class must fit 32 bits.
const MOST: usize = 1 << 31;
/// As many units are counted rather than drawn.
const MANY: usize = 4096;
/// Fewer draws have no 2½ % point.
const FEWEST: usize = 100;
/// What counts as no variation: draws differ by rounding.
const ROUNDING: f64 = 1e-12;

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

    /// [`auc()`](super::auc()), or [`clustered_auc`](super::clustered_auc) where there are groups; weights are not looked at.
    pub fn auc(&self) -> Result<super::Auc> {
        match self.groups {
            None => super::auc(self.scores, self.positive),
            Some(groups) => super::clustered_auc(self.scores, self.positive, groups),
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
                let strata = vec![0..n_neg, n_neg..order.len()];
                for stratum in strata.iter().filter(|stratum| stratum.len() >= MANY) {
                    order[stratum.clone()].sort_by_key(|&i| blocks[i]);
                }
                (None, strata)
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

    /// The interval about an estimate; none where no draw differs from another by more than rounding.
    pub(super) fn interval(
        &self,
        estimate: f64,
        statistic: Statistic,
        resampling: Resampling,
        done: &(dyn Fn(usize) + Sync),
    ) -> Result<Option<[f64; 2]>> {
        let drawn = self.run(statistic, resampling, done)?;
        let varies = match drawn.as_slice() {
            [first, .., last] => last - first > ROUNDING,
            _ => false,
        };
        let acceleration = || match statistic {
            Statistic::Auc => self.acceleration(),
            Statistic::AveragePrecision | Statistic::RecallAtFpr(_) => skewness(&drawn) / 6.0,
        };
        Ok(varies.then(|| corrected(&drawn, estimate, acceleration())))
    }

    /// The statistic of every draw, ascending. `done` hears how many there are so far, from any thread.
    fn run(
        &self,
        statistic: Statistic,
        resampling: Resampling,
        done: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<f64>> {
        let Resampling { resamples, seed } = resampling;
        if resamples < FEWEST {
            return Err(Error::Parameter {
                name: "resamples",
                value: resamples.to_string(),
                must: "at least 100",
            });
        }
        if statistic != Statistic::Auc && self.weights.is_some() {
            let what = "a bootstrap of weighted examples is for AUC".to_string();
            return Err(Error::Classes { what });
        }
        let is_large = |stratum: &Range<usize>| stratum.len() >= MANY;
        let times = self.strata.iter().any(is_large).then(Times::new);
        let finished = AtomicUsize::new(0);
        let mut found: Vec<f64> = (0..resamples as u64)
            .into_par_iter()
            .map_init(Vec::new, |counts, number| {
                // Odd multiples of the golden ratio: far apart, and different for every draw of a seed.
                let own = seed.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                self.draw(&mut Pcg64::seed_from_u64(own), times.as_ref(), counts);
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
    fn draw(&self, random: &mut Pcg64, times: Option<&Times>, counts: &mut Vec<[f64; 2]>) {
        counts.clear();
        counts.resize(self.n_blocks, [0.0; 2]);
        for stratum in &self.strata {
            match times.filter(|_| stratum.len() >= MANY) {
                Some(times) => {
                    let factor = match &self.units {
                        Some(_) => stratum.len() as f64 / times.sum(random.clone(), stratum),
                        None => 1.0,
                    };
                    let add = |unit, n| self.add(unit, factor * n, counts);
                    times.draw(random, stratum, add);
                }
                None => {
                    for _ in stratum.clone() {
                        self.add(random.random_range(stratum.clone()), 1.0, counts);
                    }
                }
            }
        }
        if times.is_some() && self.units.is_none() && self.weights.is_none() {
            self.restore(counts);
        }
    }

    /// Adds a unit as often as it is there.
    fn add(&self, unit: usize, times: f64, counts: &mut [[f64; 2]]) {
        let mut add = |example: usize| {
            let slot = self.slots[example];
            let weight = self.weights.as_ref().map_or(1.0, |w| w[example]);
            counts[(slot >> 1) as usize][(slot & 1) as usize] += times * weight;
        };
        match &self.units {
            None => add(unit),
            Some(starts) => (starts[unit]..starts[unit + 1]).for_each(add),
        }
    }

    /// As much of each class as there is in the sample.
    fn restore(&self, counts: &mut [[f64; 2]]) {
        // Negatives first, as in `new`.
        let factor = [0, 1].map(|class: usize| {
            let drawn: f64 = counts.iter().map(|block| block[class]).sum();
            self.strata[class].len() as f64 / drawn
        });
        for block in counts {
            *block = [block[0] * factor[0], block[1] * factor[1]];
        }
    }

    /// Σ I³ / 6(Σ I²)^{3/2} of the module, for AUC.
    fn acceleration(&self) -> f64 {
        let influences = self.influences();
        let power = |k: i32| Sum::of(influences.iter().map(|x| x.powi(k)));
        power(3) / (6.0 * power(2).powf(1.5))
    }

    /// ν of `interval.rs`, for AUC and its variance.
    pub(super) fn degrees_of_freedom(&self, variance: f64) -> f64 {
        let influences = self.influences();
        let mut of_variance = Sum::default();
        for stratum in &self.strata {
            let own = &influences[stratum.clone()];
            let power = |k: i32| Sum::of(own.iter().map(|x| x.powi(k)));
            let squares = power(2);
            of_variance.add(power(4) - squares * squares / own.len() as f64);
        }
        let ratio = 2.0 * variance * variance / of_variance.value();
        // No spread at all: as good as known.
        if of_variance.value() > 0.0 {
            ratio.max(1.0)
        } else {
            f64::INFINITY
        }
    }

    /// I of every unit.
    fn influences(&self) -> Vec<f64> {
        let mut counts = vec![[0.0; 2]; self.n_blocks];
        let units = || self.strata.iter().flat_map(Clone::clone);
        units().for_each(|unit| self.add(unit, 1.0, &mut counts));
        let total = |class: usize| Sum::of(counts.iter().map(|block| block[class]));
        let (w_neg, w_pos) = (total(0), total(1));
        let auc = auc_of(&counts);
        let (mut below, mut passed) = (0.0, 0.0);
        let of_blocks: Vec<[f64; 2]> = (counts.iter())
            .map(|[neg, pos]| {
                passed += pos;
                let (u, v) = (
                    (w_pos - passed + 0.5 * pos) / w_pos,
                    (below + 0.5 * neg) / w_neg,
                );
                below += neg;
                [(u - auc) / w_neg, (v - auc) / w_pos]
            })
            .collect();
        let influence = |example: usize| {
            let slot = self.slots[example];
            let weight = self.weights.as_ref().map_or(1.0, |w| w[example]);
            weight * of_blocks[(slot >> 1) as usize][(slot & 1) as usize]
        };
        let of_unit = |unit: usize| match &self.units {
            None => influence(unit),
            Some(starts) => (starts[unit]..starts[unit + 1]).map(influence).sum(),
        };
        units().map(of_unit).collect()
    }
}

/// Random numbers from Poisson(1), a table of 2¹⁶ of them: each is there as often as is likely, rounded.
struct Times(Vec<u8>);

impl Times {
    fn new() -> Self {
        let most = 1_usize << 16;
        let (mut table, mut below, mut share) = (Vec::with_capacity(most), 0.0, (-1.0_f64).exp());
        for k in 0_u8..12 {
            below += share;
            table.resize((below * most as f64).round() as usize, k);
            share /= f64::from(k + 1);
        }
        Self(table)
    }

    /// How many units `draw` will hand over with this random source.
    fn sum(&self, mut random: Pcg64, units: &Range<usize>) -> f64 {
        let mut sum = 0.0;
        self.draw(&mut random, units, |_, times| sum += times);
        sum
    }

    /// Hands over each unit that is there, and how often.
    fn draw(&self, random: &mut Pcg64, units: &Range<usize>, mut there: impl FnMut(usize, f64)) {
        let mut unit = units.start;
        while unit < units.end {
            let mut bits: u64 = random.random();
            for unit in unit..units.end.min(unit + 4) {
                let times = self.0[(bits & 0xffff) as usize];
                if times > 0 {
                    there(unit, f64::from(times));
                }
                bits >>= 16;
            }
            unit += 4;
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

/// Efron's BCa interval from ascending draws that are not all equal of the module.
fn corrected(ascending: &[f64], estimate: f64, acceleration: f64) -> [f64; 2] {
    // A draw that repeats the sample is equal up to rounding.
    let same = ROUNDING;
    let below = ascending.partition_point(|&x| x < estimate - same);
    let up_to = ascending.partition_point(|&x| x <= estimate + same);
    let n = ascending.len() as f64;
    let z0 = normal_quantile((0.5 * (below + up_to) as f64 / n).clamp(0.5 / n, 1.0 - 0.5 / n));
    [-Z_975, Z_975].map(|z| {
        let slowed = (1.0 - acceleration * (z0 + z)).max(f64::MIN_POSITIVE);
        percentile(ascending, normal_cdf(z0 + (z0 + z) / slowed))
    })
}

/// Third central moment over the standard deviation cubed, of values that are not all equal.
fn skewness(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = Sum::of(values.iter().copied()) / n;
    let moment = |k: i32| Sum::of(values.iter().map(|x| (x - mean).powi(k))) / n;
    moment(3) / moment(2).powf(1.5)
}

/// The point below which a share of the ascending values lies, between two of them on a straight line.
fn percentile(ascending: &[f64], share: f64) -> f64 {
    let place = share * (ascending.len() - 1) as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    ascending[low] + (place - place.floor()) * (ascending[high] - ascending[low])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_the_moments_of_poisson() {
        let table = Times::new().0;
        assert_eq!(table.len(), 1 << 16);
        let moment = |k: i32| table.iter().map(|&x| f64::from(x).powi(k)).sum::<f64>() / 65536.0;
        // Each of 12 shares is rounded to 2⁻¹⁶ and what is above 11 is left out.
        assert!((moment(1) - 1.0).abs() < 1e-4 && (moment(2) - 2.0).abs() < 1e-3);
    }

    #[test]
    fn counting_many_is_drawing_them() {
        // One sample on both sides of the limit: the same scores twice, and the spread must be √2 smaller, and normal.
        let n = MANY;
        let positive: Vec<bool> = (0..2 * n).map(|i| i % 2 == 0).collect();
        let scores: Vec<f64> = (0..2 * n)
            .map(|i| ((i * 7919) % (2 * n)) as f64 + if i % 2 == 0 { 0.4 * n as f64 } else { 0.0 })
            .collect();
        for statistic in [
            Statistic::Auc,
            Statistic::AveragePrecision,
            Statistic::RecallAtFpr(0.1),
        ] {
            let spread = |keep: usize| {
                let sample = Sample::new(&scores[..keep], &positive[..keep]);
                let resampling = Resampling {
                    resamples: 1500,
                    seed: 3,
                };
                let drawn = Bootstrap::new(&sample).unwrap();
                let drawn = drawn.run(statistic, resampling, &|_| {}).unwrap();
                let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
                let squares: f64 = drawn.iter().map(|x| (x - mean) * (x - mean)).sum();
                (squares / drawn.len() as f64).sqrt()
            };
            // Counted, and all but two drawn one by one. The error of each spread is 2 %.
            let ratio = spread(2 * n) / spread(2 * n - 2);
            assert!((0.92..1.09).contains(&ratio), "{statistic:?} {ratio}");
        }
    }

    #[test]
    fn groups_of_one_are_as_sure_as_examples() {
        // Scores of little use: the share of positives is most of average precision.
        let n = 2 * MANY;
        let positive: Vec<bool> = (0..n).map(|i| i % 2 == 0).collect();
        let scores: Vec<f64> = (0..n).map(|i| ((i * 7919) % n) as f64).collect();
        let plain = Sample::new(&scores, &positive);
        let alone: Vec<u32> = (0..n as u32).collect();
        let grouped = Sample {
            groups: Some(&alone),
            ..plain
        };
        for statistic in [Statistic::AveragePrecision, Statistic::RecallAtFpr(0.1)] {
            let width = |sample: &Sample<'_>| {
                let resampling = Resampling {
                    resamples: 8000,
                    seed: 3,
                };
                let drawn = Bootstrap::new(sample).unwrap();
                let drawn = drawn.run(statistic, resampling, &|_| {}).unwrap();
                percentile(&drawn, 0.975) - percentile(&drawn, 0.025)
            };
            // The error of a width of 8,000 draws is 1 %.
            let ratio = width(&grouped) / width(&plain);
            assert!((0.95..1.05).contains(&ratio), "{statistic:?} {ratio}");
        }
    }
}
