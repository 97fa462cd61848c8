//! Average precision: the mean precision over the positives, each at its own score.
//!
//! With the distinct scores as thresholds θ_1 > θ_2 > …, tp_k and fp_k the positives and negatives at
//! or above θ_k, precision P_k = tp_k/(tp_k + fp_k) and recall R_k = tp_k/N⁺, R_0 = 0:
//!
//!   AP = Σ_k (R_k − R_{k−1}) P_k
//!
//! Ties are one threshold: every positive among them gets the precision of all. This is scikit-learn's
//! `average_precision_score`, a step function of the recall; nothing is interpolated. A scorer of no
//! use has about N⁺/N, so AP, unlike AUC, depends on the share of positives.
//!
//! Its variance is linearised, for fixed numbers of both classes, as in `auc.rs`. With T = tp/N⁺ and F = fp/N⁻ the precision at
//! the score of positive k is g = N⁺T/(N⁺T + N⁻F), and AP is its mean over the positives. An example moves AP through its
//! own precision and through T or F at every positive k that it is at or above:
//!
//!   V_i = P_i + Σ_{k: c_k ≤ c_i} fp_k/(tp_k + fp_k)² ,    U_j = −(N⁻/N⁺) Σ_{k: c_k ≤ c_j} tp_k/(tp_k + fp_k)²
//!   var(AP) = Σ (V_i − V̄)²/(N⁺(N⁺−1)) + Σ (U_j − Ū)²/(N⁻(N⁻−1))
//!
//! all sums in one pass over the sorted scores. A class of one example has AP(1 − AP), the largest there is. The interval is
//! the logit one (`interval.rs`). Groups: as in `clustered.rs`, with P_g = Σ_{i∈g} (V_i − V̄) and Q_g = Σ_{j∈g} (U_j − Ū).
//!
//! Where the classes are separated, the truth may still be bad where nothing was drawn: with a share ε of the negatives above
//! all positives, and a share 1 − s of the positives below all negatives, n⁺ and n⁻ independent examples are separated with
//! the probability sⁿ⁺(1 − ε)ⁿ⁻, and with r = N⁻/N⁺
//!
//!   AP(s, ε) = ∫₀ˢ T/(T + rε) dT + ∫ₛ¹ T/(T + r) dT ,    ∫ T/(T + c) dT = T − c·ln(T + c)
//!
//! The lower end is the least of these that separate samples with a probability of 2½ %, by s from 0.025^{1/n⁺} to 1. (Of all
//! curves F(T), the share of negatives above a share T of the positives, those of one step up to 1 are the worst: a test
//! looks for worse ones. Lagrange's condition wants F to fall with T where it is below 1, and it cannot.)
//!
//! With weights, tp, fp and N⁺ are sums of weights. One factor for all weights changes nothing;
//! a factor for one class does, as more negatives do.

use serde::Serialize;

use super::clustered::Groups;
use super::interval::Share;
use super::order::{census, key};
use super::ranges::sorted_by_class;
use super::roc::drop_last;
use super::weighted_order::{Sum, WeightedOrder};
use crate::Result;

/// Average precision of `scores`, higher meaning more likely positive.
///
/// Scores may be infinite; NaN is refused with its row, and so is data of one class.
///
/// ```
/// let found = ubauc::metrics::average_precision(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true])?;
/// assert_eq!(found, (1.0 + 2.0 / 3.0) / 2.0);
/// # Ok::<(), ubauc::Error>(())
/// ```
pub fn average_precision(scores: &[f64], positive: &[bool]) -> Result<f64> {
    let census = census(scores, positive)?;
    let [neg, pos] = sorted_by_class(scores, positive, &census);
    let (mut neg, mut pos) = (neg.as_slice(), pos.as_slice());
    let mut sum = Sum::default();
    while let Some(&key) = pos.last() {
        // Negatives between two positives change no recall.
        let kept = neg.partition_point(|&k| k < key);
        neg = &neg[..kept];
        let before = pos.len();
        pos = drop_last(pos, key);
        let (tp, fp) = (census.n_pos - pos.len(), census.n_neg - neg.len());
        sum.add((before - pos.len()) as f64 * (tp as f64 / (tp + fp) as f64));
    }
    Ok((sum.value() / census.n_pos as f64).clamp(0.0, 1.0))
}

/// Average precision of `scores` where example i counts `weights[i]` times.
///
/// Weights must be finite and not negative; a class must have some weight.
pub fn weighted_average_precision(
    scores: &[f64],
    positive: &[bool],
    weights: &[f64],
) -> Result<f64> {
    let order = WeightedOrder::new(scores, positive, weights)?;
    let w_pos = Sum::of(order.groups().rev().map(|g| g.pos));
    let (mut tp, mut fp, mut sum) = (Sum::default(), Sum::default(), Sum::default());
    for group in order.groups().rev() {
        tp.add(group.pos);
        fp.add(group.neg);
        if group.pos > 0.0 {
            // Both classes in the scale of the positives: too much is infinite, the precision then 0.
            let fp = libm::scalbn(fp.value(), order.negative_exponent());
            sum.add(group.pos * (tp.value() / (tp.value() + fp)));
        }
    }
    Ok((sum.value() / w_pos).clamp(0.0, 1.0))
}

/// Average precision with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AveragePrecision {
    /// The average precision.
    pub value: f64,
    /// Its linearised variance.
    pub variance: f64,
    /// The 95 % interval on the logit scale, [`Share::logit`].
    pub ci95: [f64; 2],
    /// Number of positive examples.
    #[serde(skip)]
    pub n_pos: usize,
    /// Number of negative examples.
    #[serde(skip)]
    pub n_neg: usize,
    /// Independent positives and negatives, n⁺ and n⁻ of the module: fewer where examples come in groups.
    #[serde(skip)]
    pub independent: [usize; 2],
}

impl AveragePrecision {
    /// What its intervals are made of.
    pub fn share(&self) -> Share {
        let ratio = self.n_neg as f64 / self.n_pos as f64;
        let least = least_when_separated(self.independent, ratio);
        Share {
            value: self.value,
            variance: self.variance,
            // As many as make q of `interval.rs` the least.
            outcomes: 0.025_f64.ln() / least.ln(),
        }
    }
}

/// The least AP(s, ε) of the module.
fn least_when_separated([n_pos, n_neg]: [usize; 2], ratio: f64) -> f64 {
    const STEPS: u32 = 400;
    let (n_pos, n_neg) = (n_pos.max(1) as f64, n_neg.max(1) as f64);
    let area = |to: f64, c: f64| {
        if c > 0.0 {
            to - c * (to / c).ln_1p()
        } else {
            to
        }
    };
    let of = |step: u32| {
        // By the share of the 2½ % that the positives take.
        let log = 0.025_f64.ln() * f64::from(step) / f64::from(STEPS);
        let s = (log / n_pos).exp();
        let epsilon = -((0.025_f64.ln() - log) / n_neg).exp_m1();
        area(s, ratio * epsilon) + area(1.0, ratio) - area(s, ratio)
    };
    (0..=STEPS).map(of).fold(1.0, f64::min)
}

/// Average precision of `scores` with its variance and 95 % interval.
pub fn average_precision_interval(scores: &[f64], positive: &[bool]) -> Result<AveragePrecision> {
    let census = census(scores, positive)?;
    let [neg, pos] = sorted_by_class(scores, positive, &census);
    let found = Influences::of(&pos, &neg);
    let [of_neg, of_pos] = found.variances();
    Ok(found.interval(of_pos + of_neg, [census.n_pos, census.n_neg]))
}

/// The same where examples come in groups: those of one value in `groups`. Each class must be in two.
pub fn clustered_average_precision(
    scores: &[f64],
    positive: &[bool],
    groups: &[u32],
) -> Result<AveragePrecision> {
    let census = census(scores, positive)?;
    let groups = Groups::new(positive, groups)?;
    let [neg, pos] = sorted_by_class(scores, positive, &census);
    let found = Influences::of(&pos, &neg);
    let variance = if found.variances() == [0.0; 2] {
        0.0
    } else {
        let of_example = scores.iter().zip(positive);
        groups.variance_of(of_example.map(|(&score, &p)| found.of_example(key(score), p)))
    };
    let pairs = groups.separate_pairs();
    Ok(found.interval(variance, [pairs, pairs]))
}

/// V and U of the module, which are those of the next positive score below.
struct Influences {
    /// The distinct scores of positives, ascending.
    keys: Vec<u64>,
    /// Of each of them: how many positives, and V.
    pos: Vec<(f64, f64)>,
    /// Below the first, and from each of them on: how many negatives, and U.
    neg: Vec<(f64, f64)>,
    /// Negatives, positives: their means and numbers.
    means: [f64; 2],
    n: [usize; 2],
    value: f64,
}

impl Influences {
    /// From ascending keys.
    fn of(pos: &[u64], neg: &[u64]) -> Self {
        let (n_pos, n_neg) = (pos.len() as f64, neg.len() as f64);
        // Ascending, a step for each distinct score of positives: what it adds for examples at or above it.
        let (mut i, mut j) = (0, 0);
        let [
            mut of_pos,
            mut of_neg,
            mut pos_means,
            mut neg_means,
            mut total,
        ] = [Sum::default(); 5];
        let (mut keys, mut pos_terms, mut neg_terms) = (Vec::new(), Vec::new(), Vec::new());
        while i < pos.len() {
            let key = pos[i];
            let p = pos[i..].partition_point(|&k| k == key);
            let q = neg[j..].partition_point(|&k| k < key);
            neg_terms.push((q as f64, of_neg.value()));
            j += q;
            let (tp, fp) = ((pos.len() - i) as f64, (neg.len() - j) as f64);
            let all = (tp + fp) * (tp + fp);
            let (gain, loss) = (p as f64 * fp / all, p as f64 * (n_neg / n_pos) * tp / all);
            of_pos.add(gain);
            of_neg.add(-loss);
            pos_means.add(gain * tp / n_pos);
            neg_means.add(-loss * fp / n_neg);
            total.add(p as f64 * (tp / (tp + fp)));
            pos_terms.push((p as f64, tp / (tp + fp) + of_pos.value()));
            keys.push(key);
            i += p;
        }
        neg_terms.push(((neg.len() - j) as f64, of_neg.value()));
        let value = (total.value() / n_pos).clamp(0.0, 1.0);
        Self {
            keys,
            pos: pos_terms,
            neg: neg_terms,
            means: [neg_means.value(), value + pos_means.value()],
            n: [neg.len(), pos.len()],
            value,
        }
    }

    /// The share of the negatives, and of the positives, in the variance.
    fn variances(&self) -> [f64; 2] {
        let part = |terms: &[(f64, f64)], class: usize| {
            let (n, mean) = (self.n[class] as f64, self.means[class]);
            let mut there = terms.iter().filter(|term| term.0 > 0.0).map(|term| term.1);
            let first = there.next();
            if n <= 1.0 {
                return self.value * (1.0 - self.value);
            }
            if there.all(|x| Some(x) == first) {
                return 0.0; // not what rounding leaves
            }
            let squares = terms
                .iter()
                .map(|(times, x)| times * (x - mean) * (x - mean));
            Sum::of(squares) / (n * (n - 1.0))
        };
        [part(&self.neg, 0), part(&self.pos, 1)]
    }

    /// (V − V̄)/N⁺ of a positive, (U − Ū)/N⁻ of a negative.
    fn of_example(&self, key: u64, positive: bool) -> f64 {
        let at = self.keys.partition_point(|&k| k <= key);
        let (terms, at) = match positive {
            // One of the keys is its own.
            true => (&self.pos, at - 1),
            false => (&self.neg, at),
        };
        let class = usize::from(positive);
        (terms[at].1 - self.means[class]) / self.n[class] as f64
    }

    fn interval(&self, variance: f64, independent: [usize; 2]) -> AveragePrecision {
        let mut found = AveragePrecision {
            value: self.value,
            variance,
            ci95: [0.0, 1.0],
            n_pos: self.n[1],
            n_neg: self.n[0],
            independent,
        };
        found.ci95 = found.share().logit();
        found
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    #[test]
    fn no_rising_curve_that_may_look_separated_has_a_smaller_average_precision() {
        // F of three steps at random places and heights, as high as 2½ % allow, by sums over a fine grid.
        let mut random = Pcg64::seed_from_u64(5);
        for (n_pos, n_neg) in [
            (1, 4),
            (2, 2),
            (3, 30),
            (5, 25),
            (15, 15),
            (40, 20),
            (100, 500),
        ] {
            let ratio = f64::from(n_neg) / f64::from(n_pos);
            let least = least_when_separated([n_pos as usize, n_neg as usize], ratio);
            let grid = 2000;
            for _ in 0..300 {
                let mut places: [f64; 3] = std::array::from_fn(|_| random.random());
                // Most of the weight of Tⁿ is near 1.
                places = places.map(|x| x.powf(1.0 / f64::from(n_pos)));
                places.sort_by(f64::total_cmp);
                let mut heights: [f64; 3] = std::array::from_fn(|_| random.random());
                heights = heights.map(|x| x.powf(f64::from(random.random_range(1..6))));
                heights.sort_by(f64::total_cmp);
                let curve = |t: f64, factor: f64| {
                    let passed = places.partition_point(|place| *place <= t);
                    if passed == 3 {
                        1.0
                    } else {
                        (factor * heights[passed]).min(1.0)
                    }
                };
                let at = |i: i32| (f64::from(i) + 0.5) / f64::from(grid);
                let separated = |factor: f64| {
                    let of = |i: i32| {
                        let t = at(i);
                        let missed = (1.0 - curve(t, factor)).powi(n_neg);
                        f64::from(n_pos) * t.powi(n_pos - 1) * missed / f64::from(grid)
                    };
                    (0..grid).map(of).sum::<f64>()
                };
                if separated(0.0) < 0.025 {
                    continue;
                }
                let (mut low, mut high) = (0.0, 1e6);
                for _ in 0..60 {
                    let middle: f64 = 0.5 * (low + high);
                    if separated(middle) >= 0.025 {
                        low = middle
                    } else {
                        high = middle
                    }
                }
                let precision = |i: i32| {
                    let t = at(i);
                    t / (t + ratio * curve(t, low)) / f64::from(grid)
                };
                let found: f64 = (0..grid).map(precision).sum();
                // The grid is coarse.
                assert!(
                    found >= least - 2e-3,
                    "{n_pos} {n_neg}: {found} {least} {places:?} {heights:?}"
                );
            }
        }
    }
}
