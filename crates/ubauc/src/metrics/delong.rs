//! Do two scorers of the same examples differ in AUC? DeLong's paired test.
//!
//! Scorer r gives positive i the placement V_i^r and negative j the placement U_j^r (`auc.rs`). Over
//! the same examples the AUCs A_r and A_s have the covariance
//!
//!   cov(A_r, A_s) = Σ (V_i^r − A_r)(V_i^s − A_s) / (N⁺(N⁺−1)) + the same with U, N⁻
//!
//! The variance of D = A_r − A_s is not put together from three such numbers, which would cancel for
//! similar scorers, but is that of the differences of the placements, V_i^r − V_i^s: integers over
//! 2N⁻, centred as integers (`exact.rs`). Then z = D/√var(D) and p = erfc(|z|/√2), two-sided.
//!
//!   var(D) = 0:  D = 0 → z = 0, p = 1;   D ≠ 0 → z = ±∞, no p: the sample shows no variation to judge D by
//!
//! The interval is D ± z·√var(D), clipped to [−1, 1]. At var(D) = 0 it would be a point, though two
//! scorers that agree on seven examples may well differ on the next. As in `interval.rs`, a share of
//! at least q = 0.025^{1/n} of the pairs is like what was seen and the rest may be anything in
//! [−1, 1]: [ q·D − (1 − q) , q·D + (1 − q) ].
//!
//! A class with one example has no sample variance; its term is then the largest possible: for X, Y
//! in [0, 1] of means A, B, E(X−Y)² ≤ E|X−Y| ≤ min(A + B, 2 − A − B), so
//! var(X − Y) ≤ min(A + B, 2 − A − B) − (A − B)².

use serde::Serialize;

use super::auc::{Auc, class_variance};
use super::exact::centred_products;
use super::interval;
use super::order::{census, key};
use super::placement::{PlacementSums, half_pairs};
use super::radix;
use crate::{Error, Result};

/// Two AUCs on the same examples, and whether they differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairedTest {
    /// AUC of the first scorer.
    pub auc_a: f64,
    /// AUC of the second scorer.
    pub auc_b: f64,
    /// `auc_a` − `auc_b`.
    pub difference: f64,
    /// Estimated variance of `difference`: DeLong's, or Obuchowski's where examples come in groups.
    pub variance: f64,
    /// `difference` ± 1.96·√`variance`, clipped to [−1, 1]; at variance 0 what the number of examples allows.
    pub ci95: [f64; 2],
    /// `difference` in standard deviations; ±∞ if the variance is 0 and the difference is not.
    pub z: f64,
    /// Two-sided p-value of "no difference"; `None` if the variance is 0 and the difference is not.
    pub p: Option<f64>,
}

/// Several scorers on the same examples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// AUC of each scorer, in the order given.
    pub aucs: Vec<Auc>,
    /// All pairs a < b, in the order (0,1), (0,2), …, (1,2), ….
    pub pairs: Vec<ComparedPair>,
}

/// One pair of a [`Comparison`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedPair {
    /// Index of the first scorer.
    pub a: usize,
    /// Index of the second scorer.
    pub b: usize,
    /// The test of this pair alone.
    pub test: PairedTest,
    /// The p-value corrected by Holm's method for the number of pairs that have one.
    pub p_holm: Option<f64>,
}

/// Tests whether two scorers of the same examples have the same AUC.
pub fn compare(scores_a: &[f64], scores_b: &[f64], positive: &[bool]) -> Result<PairedTest> {
    let (a, b) = rayon::join(
        || Placements::of(scores_a, positive),
        || Placements::of(scores_b, positive),
    );
    let (a, b) = (a?, b?);
    Ok(PairedTest::of_examples(&a, &b))
}

/// AUC of every scorer and the test of every pair.
pub fn compare_many(scorers: &[&[f64]], positive: &[bool]) -> Result<Comparison> {
    let placements = all_placements(scorers, positive)?;
    Ok(Comparison {
        aucs: placements.iter().map(Placements::auc).collect(),
        pairs: compare_pairs(&placements, PairedTest::of_examples),
    })
}

/// All pairs, with Holm's correction.
pub(super) fn compare_pairs(
    placements: &[Placements],
    test: impl Fn(&Placements, &Placements) -> PairedTest,
) -> Vec<ComparedPair> {
    let mut pairs = Vec::new();
    for (a, of_a) in placements.iter().enumerate() {
        for (b, of_b) in placements.iter().enumerate().skip(a + 1) {
            let test = test(of_a, of_b);
            pairs.push(ComparedPair {
                a,
                b,
                p_holm: test.p,
                test,
            });
        }
    }
    correct_by_holm(&mut pairs);
    pairs
}

/// The k × k covariance matrix of the AUCs of k scorers, row after row.
///
/// Needs two examples of each class: one has no sample covariance.
pub fn covariance(scorers: &[&[f64]], positive: &[bool]) -> Result<Vec<f64>> {
    let placements = all_placements(scorers, positive)?;
    let k = placements.len();
    let mut matrix = vec![0.0; k * k];
    for r in 0..k {
        for s in 0..=r {
            let (x, y) = (&placements[r], &placements[s]);
            let value = covariance_of(x, y).ok_or_else(|| x.too_few())?;
            matrix[r * k + s] = value;
            matrix[s * k + r] = value;
        }
    }
    Ok(matrix)
}

pub(super) fn all_placements(scorers: &[&[f64]], positive: &[bool]) -> Result<Vec<Placements>> {
    scorers
        .iter()
        .map(|scores| Placements::of(scores, positive))
        .collect()
}

/// The placements of each class in half pairs, in the order of the examples (`placement.rs`).
pub(super) struct Placements {
    /// Of the positives.
    pub pos: Vec<i64>,
    /// Of the negatives.
    pub neg: Vec<i64>,
    ties: u128,
}

impl Placements {
    pub(super) fn of(scores: &[f64], positive: &[bool]) -> Result<Self> {
        let census = census(scores, positive)?;
        let mut items: Vec<(u64, usize)> = scores
            .iter()
            .enumerate()
            .map(|(i, &s)| (key(s), i))
            .collect();
        radix::sort_by_key(&mut items, &mut Vec::new(), |item| item.0);
        let mut placements = vec![0; scores.len()];
        let (mut below, mut above, mut ties) = (0, census.n_pos as i64, 0);
        for group in items.chunk_by(|a, b| a.0 == b.0) {
            let p = group.iter().filter(|item| positive[item.1]).count() as i64;
            let q = group.len() as i64 - p;
            above -= p;
            for &(_, i) in group {
                placements[i] = if positive[i] {
                    2 * below + q
                } else {
                    2 * above + p
                };
            }
            below += q;
            ties += p as u128 * q as u128;
        }
        let of_class = |class: bool| {
            (placements.iter().zip(positive))
                .filter(move |&(_, &p)| p == class)
                .map(|(&a, _)| a)
        };
        Ok(Self {
            pos: of_class(true).collect(),
            neg: of_class(false).collect(),
            ties,
        })
    }

    pub(super) fn auc(&self) -> Auc {
        let squares = |list: &[i64]| {
            list.iter()
                .map(|&a| (i128::from(a) * i128::from(a)) as u128)
                .sum()
        };
        let sums = PlacementSums {
            total: self.pos.iter().map(|&a| a as u128).sum(),
            pos_squares: squares(&self.pos),
            neg_squares: squares(&self.neg),
            ties: self.ties,
        };
        Auc::from_sums(&sums, self.pos.len(), self.neg.len())
    }

    /// Half pairs won, of how many.
    fn half_wins(&self) -> (i128, f64) {
        let won = self.pos.iter().map(|&a| i128::from(a)).sum();
        (
            won,
            half_pairs(self.pos.len() as u64, self.neg.len() as u64),
        )
    }

    /// Which class has only one example.
    fn too_few(&self) -> Error {
        let what = match self.pos.len() {
            1 => "positive examples for a covariance",
            _ => "negative examples for a covariance",
        };
        Error::Length {
            what,
            expected: 2,
            got: 1,
        }
    }
}

fn covariance_of(x: &Placements, y: &Placements) -> Option<f64> {
    let part = |x: &[i64], y: &[i64], n_other| {
        let centred = centred_products(x.iter().copied().zip(y.iter().copied()));
        class_variance(centred, x.len(), n_other)
    };
    Some(part(&x.pos, &y.pos, x.neg.len())? + part(&x.neg, &y.neg, x.pos.len())?)
}

/// DeLong's variance of the difference of two AUCs.
fn difference_variance(a: &Placements, b: &Placements) -> f64 {
    let largest = || {
        let ((won_a, all), (won_b, _)) = (a.half_wins(), b.half_wins());
        let (sum, difference) = ((won_a + won_b) as f64 / all, (won_a - won_b) as f64 / all);
        (sum.min(2.0 - sum) - difference * difference).max(0.0)
    };
    let part = |a: &[i64], b: &[i64], n_other| {
        let differences = a.iter().zip(b).map(|(a, b)| (a - b, a - b));
        class_variance(centred_products(differences), a.len(), n_other).unwrap_or_else(largest)
    };
    part(&a.pos, &b.pos, a.neg.len()) + part(&a.neg, &b.neg, a.pos.len())
}

impl PairedTest {
    /// The test of examples that are independent of each other.
    fn of_examples(a: &Placements, b: &Placements) -> Self {
        let separate_pairs = a.pos.len().min(a.neg.len());
        Self::new(a, b, difference_variance(a, b), separate_pairs)
    }

    /// The test by the variance of the difference.
    pub(super) fn new(
        a: &Placements,
        b: &Placements,
        variance: f64,
        separate_pairs: usize,
    ) -> Self {
        let ((won_a, all), (won_b, _)) = (a.half_wins(), b.half_wins());
        let difference = (won_a - won_b) as f64 / all;
        let z = if won_a == won_b {
            0.0
        } else {
            difference / variance.sqrt()
        };
        let p = z
            .is_finite()
            .then(|| libm::erfc(z.abs() / std::f64::consts::SQRT_2));
        Self {
            auc_a: won_a as f64 / all,
            auc_b: won_b as f64 / all,
            difference,
            variance,
            ci95: if variance == 0.0 {
                let q = interval::share_alike(separate_pairs as f64);
                [q * difference - (1.0 - q), q * difference + (1.0 - q)]
            } else {
                interval::normal(difference, variance, -1.0)
            },
            z,
            p,
        }
    }
}

/// Holm (1979): the i-th smallest of m p-values (i from 0) times m − i, at most 1, and not below the
/// one before it. Pairs without a p-value are not among the m.
fn correct_by_holm(pairs: &mut [ComparedPair]) {
    let mut order: Vec<(f64, usize)> = pairs
        .iter()
        .enumerate()
        .filter_map(|(i, pair)| Some((pair.test.p?, i)))
        .collect();
    let m = order.len();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut floor = 0.0_f64;
    for (i, (p, pair)) in order.into_iter().enumerate() {
        floor = floor.max((p * (m - i) as f64).min(1.0));
        pairs[pair].p_holm = Some(floor);
    }
}
