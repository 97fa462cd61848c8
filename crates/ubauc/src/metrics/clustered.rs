//! AUC of examples that come in groups: visits of a patient, clicks of a user.
//!
//! DeLong's variance counts every example as independent. Examples of one group are not, and the
//! interval is then too narrow. Here only groups are independent of each other.
//!
//! Group g has m_g positives and n_g negatives, Σ m_g = N⁺, Σ n_g = N⁻. The placements V of its
//! positives and U of its negatives (`placement.rs`), each of mean A = AUC over all groups, add up to
//!
//!   P_g = Σ_{i∈g,+} V_i − m_g A ,    Q_g = Σ_{j∈g,−} U_j − n_g A ,    Σ_g P_g = Σ_g Q_g = 0
//!
//! To first order the error of A is Σ_g (P_g/N⁺ + Q_g/N⁻), a sum over independent groups: as an
//! estimate that averages over pairs of a positive and a negative, A changes with the positives as
//! the mean of V does and with the negatives as the mean of U does. Hence, with G groups, of which
//! G⁺ have positives and G⁻ negatives, and c(k) = k/(k − 1) for the mean that the sample has lost,
//!
//!   var(A) = c(G⁺) Σ P_g²/N⁺²  +  c(G⁻) Σ Q_g²/N⁻²  +  2 c(G) Σ P_g Q_g/(N⁺N⁻)
//!
//! which is S₁₀/N⁺ + S₀₁/N⁻ + 2 S₁₁/(N⁺N⁻) of Obuchowski (1997). It is never negative: c falls and
//! G⁺, G⁻ ≤ G, so that it is a sum of three terms that are not,
//!
//!   var(A) = c(G) Σ (P_g/N⁺ + Q_g/N⁻)²  +  (c(G⁺) − c(G)) Σ P_g²/N⁺²  +  (c(G⁻) − c(G)) Σ Q_g²/N⁻²
//!
//! and so it is computed.
//!
//! If every group is one example, it is DeLong's variance, not only nearly: then G⁺ = N⁺, every
//! P_g Q_g = 0, and c(N⁺) Σ (V_i − A)²/N⁺² = S⁺/N⁺, likewise for the negatives. What differs is
//! rounding.
//!
//! Two scorers: the covariance of A_r and A_s is the same form in (P^r, Q^r) and (P^s, Q^s). It is
//! bilinear, so the variance of A_r − A_s is var() of P^r − P^s and Q^r − Q^s, without cancellation
//! between three large numbers.
//!
//! In half pairs everything up to the sums of a group is an integer: with a_g = 2N⁻ Σ V_i,
//! b_g = 2N⁺ Σ U_j and T = Σ a_g = Σ b_g,
//!
//!   P_g/N⁺ = x_g/(2N⁺²N⁻) ,  x_g = N⁺a_g − m_g T ;    Q_g/N⁻ = y_g/(2N⁺N⁻²) ,  y_g = N⁻b_g − n_g T
//!   P_g/N⁺ + Q_g/N⁻ = (N⁻x_g + N⁺y_g)/(2N⁺²N⁻²)
//!
//! |x_g|, |y_g| < 2¹²⁰ for N ≤ 2⁴⁰ examples. So a variance of 0 is exactly 0.
//!
//! A variance between groups needs two: one group with positives, or with negatives, is refused.
//!
//! Obuchowski, Nonparametric analysis of clustered ROC curve data, Biometrics 53 (1997). Cost
//! O(kN + N log N) for k scorers, and O(k²N) for their pairs.

use super::auc::Auc;
use super::delong::{Comparison, PairedTest, Placements, all_placements, compare_pairs};
use super::weighted_order::Sum;
use crate::{Error, Result};

/// AUC of `scores` with Obuchowski's variance between groups: examples of one value in `groups`
/// are of one group.
///
/// The AUC is that of [`auc()`](super::auc()), which groups do not change. Each class must be in two groups.
///
/// ```
/// let positive = [true, true, false, true, false, false, true, false];
/// let scores = [0.9, 0.8, 0.7, 0.4, 0.3, 0.2, 0.6, 0.5];
/// let found = ubauc::metrics::clustered_auc(&scores, &positive, &[1, 1, 1, 2, 2, 3, 4, 4])?;
/// assert_eq!(found.auc, ubauc::metrics::auc(&scores, &positive)?.auc);
/// assert!(found.ci95[0] < found.auc && found.auc < found.ci95[1]);
/// # Ok::<(), ubauc::Error>(())
/// ```
pub fn clustered_auc(scores: &[f64], positive: &[bool], groups: &[u32]) -> Result<Auc> {
    let placements = Placements::of(scores, positive)?;
    let groups = Groups::new(positive, groups)?;
    Ok(groups.auc(&placements))
}

/// Tests whether two scorers of the same examples have the same AUC, where examples come in groups.
pub fn clustered_compare(
    scores_a: &[f64],
    scores_b: &[f64],
    positive: &[bool],
    groups: &[u32],
) -> Result<PairedTest> {
    let (a, b) = rayon::join(
        || Placements::of(scores_a, positive),
        || Placements::of(scores_b, positive),
    );
    let (a, b) = (a?, b?);
    Ok(Groups::new(positive, groups)?.paired_test(&a, &b))
}

/// AUC of every scorer and the test of every pair, where examples come in groups.
pub fn clustered_compare_many(
    scorers: &[&[f64]],
    positive: &[bool],
    groups: &[u32],
) -> Result<Comparison> {
    let placements = all_placements(scorers, positive)?;
    let groups = Groups::new(positive, groups)?;
    Ok(Comparison {
        aucs: placements.iter().map(|p| groups.auc(p)).collect(),
        pairs: compare_pairs(&placements, |a, b| groups.paired_test(a, b)),
    })
}

/// Which examples are of one group. Examples are numbered within their class, as in [`Placements`].
pub(super) struct Groups {
    /// The number, from 0 up, of the group of each positive and of each negative.
    pos: Vec<u32>,
    neg: Vec<u32>,
    /// The group of each example, and whether it is positive.
    examples: Vec<(u32, bool)>,
    /// Positives and negatives of each group.
    sizes: Vec<[u64; 2]>,
}

impl Groups {
    /// `positive` has both classes.
    pub(super) fn new(positive: &[bool], groups: &[u32]) -> Result<Self> {
        if groups.len() != positive.len() {
            return Err(Error::Length {
                what: "groups",
                expected: positive.len(),
                got: groups.len(),
            });
        }
        let mut names = groups.to_vec();
        names.sort_unstable();
        names.dedup();
        let mut found = Self {
            pos: vec![],
            neg: vec![],
            examples: vec![],
            sizes: vec![[0; 2]; names.len()],
        };
        for (name, &p) in groups.iter().zip(positive) {
            let number = names.partition_point(|n| n < name);
            found.sizes[number][usize::from(!p)] += 1;
            let of_class = if p { &mut found.pos } else { &mut found.neg };
            of_class.push(number as u32);
            found.examples.push((number as u32, p));
        }
        for (class, name) in ["positive", "negative"].into_iter().enumerate() {
            if found.n_with(class) < 2 {
                let what = format!(
                    "fewer than two groups have {name} examples: no variance between groups"
                );
                return Err(Error::Classes { what });
            }
        }
        Ok(found)
    }

    /// How many groups have examples of a class: 0 the positives, 1 the negatives.
    fn n_with(&self, class: usize) -> usize {
        self.sizes.iter().filter(|size| size[class] > 0).count()
    }

    fn auc(&self, placements: &Placements) -> Auc {
        let plain = placements.auc();
        let variance = self.variance(&placements.pos, &placements.neg);
        Auc {
            variance,
            separate_pairs: self.separate_pairs(),
            ..plain
        }
        .with_logit_interval()
    }

    fn paired_test(&self, a: &Placements, b: &Placements) -> PairedTest {
        let differences =
            |a: &[i64], b: &[i64]| -> Vec<i64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
        let variance = self.variance(&differences(&a.pos, &b.pos), &differences(&a.neg, &b.neg));
        PairedTest::new(a, b, variance, self.separate_pairs())
    }

    /// Pairs of two groups, none of them twice (`interval.rs`).
    pub(super) fn separate_pairs(&self) -> usize {
        let with_class = self.n_with(0).min(self.n_with(1));
        with_class.min(self.sizes.len() / 2)
    }

    /// The formula of the module, from placements in half pairs or from differences of such.
    fn variance(&self, pos: &[i64], neg: &[i64]) -> f64 {
        let (n_pos, n_neg) = (pos.len() as i128, neg.len() as i128);
        let total: i128 = pos.iter().map(|&a| i128::from(a)).sum();
        let (a, b) = (self.sums(&self.pos, pos), self.sums(&self.neg, neg));
        let [mut both, mut of_pos, mut of_neg] = [Sum::default(); 3];
        for (size, (a, b)) in self.sizes.iter().zip(a.into_iter().zip(b)) {
            let x = n_pos * a - i128::from(size[0]) * total;
            let y = n_neg * b - i128::from(size[1]) * total;
            // Exact where it fits: above 2³¹ examples of each class it may not.
            let exact = (n_neg.checked_mul(x).zip(n_pos.checked_mul(y)))
                .and_then(|(x, y)| x.checked_add(y));
            let sum = exact.map_or_else(
                || n_neg as f64 * x as f64 + n_pos as f64 * y as f64,
                |sum| sum as f64,
            );
            both.add(square(sum));
            of_pos.add(square(x as f64));
            of_neg.add(square(y as f64));
        }
        let lost = |k: usize| k as f64 / (k as f64 - 1.0);
        let [all, with_pos, with_neg] =
            [self.sizes.len(), self.n_with(0), self.n_with(1)].map(lost);
        let (p, q) = (n_pos as f64, n_neg as f64);
        all * both.value() / square(2.0 * p * p * q * q)
            + (with_pos - all) * of_pos.value() / square(2.0 * p * p * q)
            + (with_neg - all) * of_neg.value() / square(2.0 * p * q * q)
    }

    /// The same from what each example moves an estimate by, P or Q over its number: rounded, not exact.
    pub(super) fn variance_of(&self, moves: impl Iterator<Item = f64>) -> f64 {
        let mut of_groups = vec![[0.0; 2]; self.sizes.len()];
        for (&(group, class), by) in self.examples.iter().zip(moves) {
            of_groups[group as usize][usize::from(class)] += by;
        }
        let lost = |k: usize| k as f64 / (k as f64 - 1.0);
        let [all, with_pos, with_neg] =
            [self.sizes.len(), self.n_with(0), self.n_with(1)].map(lost);
        let sum = |of: fn(&[f64; 2]) -> f64| Sum::of(of_groups.iter().map(|g| square(of(g))));
        all * sum(|[q, p]| p + q)
            + (with_pos - all) * sum(|[_, p]| *p)
            + (with_neg - all) * sum(|[q, _]| *q)
    }

    /// The sum of the placements of one class in each group.
    fn sums(&self, groups: &[u32], placements: &[i64]) -> Vec<i128> {
        let mut sums = vec![0; self.sizes.len()];
        for (&group, &a) in groups.iter().zip(placements) {
            sums[group as usize] += i128::from(a);
        }
        sums
    }
}

fn square(x: f64) -> f64 {
    x * x
}
