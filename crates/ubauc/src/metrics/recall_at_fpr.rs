//! Recall at a false-alarm rate: the share of positives that is found when at most a share f of the negatives may be
//! called positive.
//!
//! With the negatives' scores descending, d_1 ≥ d_2 ≥ …, at most k = ⌊f·N⁻⌋ may be called positive, so the threshold is
//! anything above d_{k+1}, and
//!
//!   R = r(d_{k+1}) ,   r(d) = #{positives with score > d}/N⁺        (all of them if k = N⁻)
//!
//! A point of the curve, never between two: what one threshold does on these examples.
//!
//! The interval has two sources of error. The positives are a sample: Wilson's interval [l, u] of R. And the threshold is
//! one: the score t that a share f of *all* negatives exceeds is known up to order statistics. With B ~ Binomial(N⁻, f)
//! negatives above it,
//!
//!   P(d_i < t) = P(B < i) ≤ 2½ %   for the strict rank i, the largest such (i = 0: no threshold is strict enough)
//!   P(d_j ≥ t) = P(B ≥ j) ≤ 2½ %   for the loose rank j, the smallest such (j > N⁻: none is loose enough)
//!
//! so that recalls at d_i and at d_j, s ≤ R ≤ g, enclose that at t, whatever the distribution: no density is estimated. The
//! two errors are independent and are put together by squares, each end for itself (Zou & Donner's MOVER, Statistics in
//! Medicine 27, 2008; Donner & Zou, Statistical Methods in Medical Research 21, 2012):
//!
//!   [ R − √((R − l)² + (R − s)²) ,  R + √((u − R)² + (g − R)²) ] ,  clipped to [0, 1]
//!
//! Groups: N⁺ and N⁻ in both are the effective numbers of `band.rs`, and ranks among that number of negatives are scaled to all of them.
//!
//! A rate below about 3.7/N⁻ has no strict rank: the lower end then is what a recall of 0 allows. That is honest: no
//! negative of these was seen that rarely.

use serde::Serialize;

use super::band::wilson;
use super::bootstrap::{Bootstrap, Sample, Statistic};
use super::interval::Resampling;
use super::order::{census, score};
use super::ranges::sorted_by_class;
use crate::{Error, Result};

/// Recall where false alarms are limited.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RecallAtFpr {
    /// The false-alarm rate that is allowed.
    pub max_fpr: f64,
    /// The share of positives found.
    pub recall: f64,
    /// The 95 % interval of `recall`.
    pub ci95: [f64; 2],
    /// The false-alarm rate that is used; no higher threshold has the same recall, no lower one is allowed.
    pub fpr: f64,
    /// Call positive what scores at least this: the lowest score that is allowed. None if no example may be.
    pub threshold: Option<f64>,
}

impl RecallAtFpr {
    /// The interval of a bootstrap; that of the module where no draw differs.
    pub fn bootstrap(
        &self,
        sample: &Sample<'_>,
        resampling: Resampling,
        done: &(dyn Fn(usize) + Sync),
    ) -> Result<[f64; 2]> {
        let statistic = Statistic::RecallAtFpr(self.max_fpr);
        let drawn = Bootstrap::new(sample)?.interval(self.recall, statistic, resampling, done)?;
        Ok(drawn.unwrap_or(self.ci95))
    }
}

/// Recall of `scores` at a false-alarm rate of at most `max_fpr`, which is above 0 and at most 1.
///
/// ```
/// let positive = [false, false, false, false, true, true, true];
/// let scores = [0.1, 0.2, 0.3, 0.6, 0.5, 0.7, 0.9];
/// let found = ubauc::metrics::recall_at_fpr(&scores, &positive, 0.1)?;
/// assert_eq!((found.recall, found.fpr, found.threshold), (2.0 / 3.0, 0.0, Some(0.7)));
/// # Ok::<(), ubauc::Error>(())
/// ```
pub fn recall_at_fpr(scores: &[f64], positive: &[bool], max_fpr: f64) -> Result<RecallAtFpr> {
    Ok(recalls_at_fpr(scores, positive, &[max_fpr])?.remove(0))
}

/// The same at several rates, the scores sorted once.
pub fn recalls_at_fpr(
    scores: &[f64],
    positive: &[bool],
    max_fprs: &[f64],
) -> Result<Vec<RecallAtFpr>> {
    of_rates(scores, positive, None, max_fprs)
}

/// The same where examples come in groups: those of one value in `groups`.
pub fn clustered_recalls_at_fpr(
    scores: &[f64],
    positive: &[bool],
    groups: &[u32],
    max_fprs: &[f64],
) -> Result<Vec<RecallAtFpr>> {
    if groups.len() != scores.len() {
        return Err(Error::Length {
            what: "groups",
            expected: scores.len(),
            got: groups.len(),
        });
    }
    of_rates(scores, positive, Some(groups), max_fprs)
}

fn of_rates(
    scores: &[f64],
    positive: &[bool],
    groups: Option<&[u32]>,
    max_fprs: &[f64],
) -> Result<Vec<RecallAtFpr>> {
    for &rate in max_fprs {
        if !(rate > 0.0 && rate <= 1.0) {
            return Err(Error::Parameter {
                name: "max_fpr",
                value: rate.to_string(),
                must: "above 0 and at most 1",
            });
        }
    }
    let census = census(scores, positive)?;
    let [neg, pos] = sorted_by_class(scores, positive, &census);
    let sample = Sample {
        groups,
        ..Sample::new(scores, positive)
    };
    let keys = Keys {
        neg: &neg,
        pos: &pos,
        effective: match groups {
            None => [neg.len() as f64, pos.len() as f64],
            Some(_) => sample.effective_sizes(),
        },
    };
    Ok(max_fprs.iter().map(|&rate| keys.recall(rate)).collect())
}

/// How many of `n` a share allows; a product that rounding left just below an integer is that integer.
pub(super) fn allowed(share: f64, n: f64) -> f64 {
    (share * n * (1.0 + 4.0 * f64::EPSILON)).floor().min(n)
}

/// Keys of both classes, ascending.
struct Keys<'k> {
    neg: &'k [u64],
    pos: &'k [u64],
    /// As how many independent ones they count: negatives, positives.
    effective: [f64; 2],
}

impl Keys<'_> {
    fn recall(&self, max_fpr: f64) -> RecallAtFpr {
        let n_neg = self.neg.len();
        let k = allowed(max_fpr, n_neg as f64) as usize;
        let recall = self.above(k + 1);
        let [m_neg, m_pos] = self.effective;
        let (strict, loose) = ranks_of_groups(n_neg, m_neg, max_fpr);
        let at_strict = if strict == 0 { 0.0 } else { self.above(strict) };
        let at_loose = self.at_or_above(loose);
        let [low, high] = wilson(recall, m_pos);
        let apart =
            |of_positives: f64, of_threshold: f64| of_positives.hypot(of_threshold.max(0.0));
        let ci95 = [
            (recall - apart(recall - low, recall - at_strict)).max(0.0),
            (recall + apart(high - recall, at_loose - recall)).min(1.0),
        ];
        let limit = self.descending(k + 1);
        let fp = n_neg - limit.map_or(0, |d| self.neg.partition_point(|&key| key <= d));
        let first = |keys: &[u64]| {
            let place = limit.map_or(0, |d| keys.partition_point(|&key| key <= d));
            keys.get(place).copied()
        };
        let lowest = first(self.neg).into_iter().chain(first(self.pos)).min();
        RecallAtFpr {
            max_fpr,
            recall,
            ci95,
            fpr: fp as f64 / n_neg as f64,
            threshold: lowest.map(score),
        }
    }

    /// d_i, i from 1 on; none behind the last.
    fn descending(&self, i: usize) -> Option<u64> {
        let place = self.neg.len().checked_sub(i)?;
        self.neg.get(place).copied()
    }

    /// r(d_i); all positives behind the last.
    fn above(&self, i: usize) -> f64 {
        self.share_from(i, |key, d| key <= d)
    }

    /// The same with those that are equal.
    fn at_or_above(&self, i: usize) -> f64 {
        self.share_from(i, |key, d| key < d)
    }

    fn share_from(&self, i: usize, below: impl Fn(u64, u64) -> bool) -> f64 {
        let left = self
            .descending(i)
            .map_or(0, |d| self.pos.partition_point(|&key| below(key, d)));
        (self.pos.len() - left) as f64 / self.pos.len() as f64
    }
}

/// The ranks of `m` independent negatives as ranks of all `n`, rounded outwards.
fn ranks_of_groups(n: usize, m: f64, rate: f64) -> (usize, usize) {
    let whole = (m.floor().max(1.0) as usize).min(n);
    let (strict, loose) = ranks(whole, rate);
    if whole == n {
        return (strict, loose);
    }
    let scaled = |rank: usize| rank as f64 * n as f64 / whole as f64;
    let loose = scaled(loose).ceil() as usize;
    (scaled(strict).floor() as usize, loose.min(n + 1))
}

/// The strict and the loose rank of the module, for `n` negatives and a rate.
fn ranks(n: usize, rate: f64) -> (usize, usize) {
    if rate >= 1.0 {
        return (n, n + 1);
    }
    // log P(B = i), without overflow.
    let size = n as f64;
    let log = |i: f64| {
        let choose =
            libm::lgamma(size + 1.0) - libm::lgamma(i + 1.0) - libm::lgamma(size - i + 1.0);
        choose + i * rate.ln() + (size - i) * (-rate).ln_1p()
    };
    let outside = 0.025;
    // Farther than this from the mean there is less than 1e-20.
    let far = 12.0 * (size * rate * (1.0 - rate)).sqrt() + 60.0;
    let (mut strict, mut below) = ((size * rate - far).max(0.0) as usize, 0.0);
    while strict < n {
        below += log(strict as f64).exp(); // P(B ≤ strict)
        if below > outside {
            break;
        }
        strict += 1;
    }
    let (mut loose, mut above) = ((size * rate + far).min(size) as usize + 1, 0.0);
    while loose > 1 {
        above += log((loose - 1) as f64).exp(); // P(B ≥ loose − 1)
        if above > outside {
            break;
        }
        loose -= 1;
    }
    (strict, loose)
}

#[cfg(test)]
mod tests {
    use super::super::interval::Z_975;
    use super::*;

    /// P(B = i) by the product, one factor after the other.
    fn probability(n: usize, rate: f64, i: usize) -> f64 {
        let mut p = 1.0;
        for k in 0..n {
            p *= if k < i {
                rate * (n - k) as f64 / (i - k) as f64
            } else {
                1.0 - rate
            };
        }
        p
    }

    #[test]
    fn ranks_have_the_tails_of_the_binomial_distribution() {
        for n in [1, 2, 7, 40, 150] {
            for rate in [0.001, 0.01, 0.1, 0.25, 0.5, 0.9, 0.999] {
                let up_to = |i: usize| (0..i).map(|k| probability(n, rate, k)).sum::<f64>();
                let from = |j: usize| (j..=n).map(|k| probability(n, rate, k)).sum::<f64>();
                let (strict, loose) = ranks(n, rate);
                assert!(
                    up_to(strict) <= 0.025 && up_to(strict + 1) > 0.025,
                    "{n} {rate}"
                );
                assert!(from(loose) <= 0.025 || loose == 1, "{n} {rate}");
                assert!(loose == 1 || from(loose - 1) > 0.025, "{n} {rate}");
            }
        }
    }

    #[test]
    fn ranks_of_many_negatives_are_near_the_normal_ones() {
        let (strict, loose) = ranks(10_000_000, 0.01);
        let half = Z_975 * (1e7_f64 * 0.01 * 0.99).sqrt();
        assert!((strict as f64 - (1e5 - half)).abs() < 5.0);
        assert!((loose as f64 - (1e5 + half)).abs() < 5.0);
    }
}
