//! 95 % intervals of AUC, and of every other share of the metrics.
//!
//! The usual interval, A ± z·√var(A), has the wrong shape near 0 and 1: it is symmetric where the estimate is skewed,
//! it must be clipped, and it covers too seldom. On the logit scale, logit(A) = ln(A/(1 − A)) with the standard error
//! √var(A)/(A(1 − A)) by the delta method, it is
//!
//!   logit(A) ± z·√var(A)/(A(1 − A)) ,   back by 1/(1 + e⁻ˣ)
//!
//! which never leaves [0, 1] and covers what it should unless both the classes are few and A is near 1
//! (`ubauc reproduce coverage`, docs/statistics.md). The variance is whatever belongs to the data: DeLong's, that
//! between groups, the linearised one of weights.
//!
//! Few examples that decide. The variance is itself an estimate, v̂ = Σ I² over the influences I of the examples
//! (`bootstrap.rs`), and near 1 a handful of misplaced ones makes most of it. By the variance of v̂ it is as good as that of
//! ν + 1 normal numbers, and 1.96 becomes the point of Student's distribution (as Satterthwaite has it):
//!
//!   ν = 2v̂²/var(v̂) ,   var(v̂) = Σ_classes { Σ I⁴ − (Σ I²)²/N± } ,   at least 1
//!
//! `student`: hardly wider where all is well, and nearer to 95 % where it is not (docs/statistics.md). Such sums are not known of AUC in
//! parts on many machines, so that it is not the default.
//!
//! No variation. Where the sample shows none, var(A) = 0, both would be a point: [1, 1] for classes that are separated
//! without error, were they seven examples. But take n pairs of a positive and a negative that share no example:
//! their outcomes are independent, each is a win with probability A, and separation means that all n are won. So
//!
//!   P(separated) ≤ Aⁿ ,   at most 2½ % unless A ≥ q = 0.025^{1/n} ,   n = min(N⁺, N⁻)
//!
//! for every distribution of the scores: [q, 1] is Clopper and Pearson's interval of n wins of n. Likewise, where all
//! scores are tied, a pair is tied with probability at least q, and a share 1 − q of the pairs may be anything. In one
//! formula, for 0, ½, 1 and what groups make of them:
//!
//!   [ q·A , 1 − q·(1 − A) ]
//!
//! Groups: the two examples of a pair must be of different groups, and no group is in two pairs, so that
//! n = min(G⁺, G⁻, ⌊G/2⌋). Weights: examples of weights s are as good as (Σs)²/Σs² of equal ones (Kish).
//!
//! Qin & Hotilovac, Statistical Methods in Medical Research 17 (2008), and Pohar Perme & Manevski, ibid. 28 (2019),
//! compare intervals of AUC and find the logit scale best; the bound by pairs without a common example is in the spirit of
//! Birnbaum & McCarty, Annals of Mathematical Statistics 29 (1958).

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::bootstrap::{Bootstrap, Sample, Statistic};
use super::normal::student_975;
use crate::Result;

/// The 97.5 % point of the standard normal distribution.
pub(super) const Z_975: f64 = 1.959_963_984_540_054;

/// How a 95 % interval is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Interval {
    /// By the variance, on the logit scale.
    #[default]
    Logit,
    /// The same with the points of Student's distribution for a variance that few examples decide; of AUC.
    Student,
    /// Estimate ± 1.96 standard errors, clipped to [0, 1].
    Delong,
    /// Between points of the estimates from examples drawn again, corrected for bias and skewness (`bootstrap.rs`).
    Bootstrap,
}

impl Interval {
    /// All of them, the default first.
    pub const ALL: [Self; 4] = [Self::Logit, Self::Student, Self::Delong, Self::Bootstrap];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logit => "logit",
            Self::Student => "student",
            Self::Delong => "delong",
            Self::Bootstrap => "bootstrap",
        }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Interval {
    type Err = &'static str;
    fn from_str(text: &str) -> std::result::Result<Self, &'static str> {
        let found = Self::ALL.into_iter().find(|method| method.name() == text);
        found.ok_or("logit, student, delong or bootstrap")
    }
}

/// How a bootstrap draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resampling {
    /// How often, at least 100 times.
    pub resamples: usize,
    /// The seed: one seed, one interval, whatever the number of threads.
    pub seed: u64,
}

impl Default for Resampling {
    fn default() -> Self {
        Self {
            resamples: 2000,
            seed: 1,
        }
    }
}

/// An estimated share in [0, 1] and what its interval rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The estimate.
    pub value: f64,
    /// Its estimated variance.
    pub variance: f64,
    /// Independent outcomes behind it, n of the module: for AUC, pairs without an example or a group in common. Below 1 where
    /// less is known than by one outcome.
    pub outcomes: f64,
}

impl Share {
    /// The interval on the logit scale.
    pub fn logit(&self) -> [f64; 2] {
        self.logit_at(Z_975)
    }

    /// The same that many standard errors wide.
    fn logit_at(&self, z: f64) -> [f64; 2] {
        let Self {
            value, variance, ..
        } = *self;
        if self.unvaried() || value <= 0.0 || value >= 1.0 {
            return self.without_variation();
        }
        let (odds, half) = (
            value / (1.0 - value),
            z * variance.sqrt() / (value * (1.0 - value)),
        );
        // 1/(1 + e⁻ˣ) at x = ln(odds) ± half. Rounding must not push the estimate out.
        let back = |factor: f64| 1.0 / (1.0 + factor / odds);
        [back(half.exp()).min(value), back((-half).exp()).max(value)]
    }

    /// The symmetric interval, clipped.
    pub fn delong(&self) -> [f64; 2] {
        if self.unvaried() {
            return self.without_variation();
        }
        normal(self.value, self.variance, 0.0)
    }

    /// The interval by a method; Student's and a bootstrap look at the sample.
    pub fn interval(
        &self,
        method: Interval,
        statistic: Statistic,
        sample: &Sample<'_>,
        resampling: Resampling,
        done: &(dyn Fn(usize) + Sync),
    ) -> Result<[f64; 2]> {
        Ok(match method {
            Interval::Logit => self.logit(),
            Interval::Student if statistic == Statistic::Auc => {
                let df = Bootstrap::new(sample)?.degrees_of_freedom(self.variance);
                self.logit_at(student_975(df))
            }
            Interval::Student => self.logit(),
            Interval::Delong => self.delong(),
            Interval::Bootstrap => {
                let drawn = Bootstrap::new(sample)?;
                let found = drawn.interval(self.value, statistic, resampling, done)?;
                found.unwrap_or_else(|| self.without_variation())
            }
        })
    }

    fn unvaried(&self) -> bool {
        self.variance <= 0.0
    }

    fn without_variation(&self) -> [f64; 2] {
        let q = share_alike(self.outcomes);
        [q * self.value, 1.0 - q * (1.0 - self.value)]
    }
}

/// q: at least this share is like `outcomes` that were all alike, but for 2½ % of samples.
pub(super) fn share_alike(outcomes: f64) -> f64 {
    0.025_f64.powf(1.0 / outcomes.max(0.0))
}

/// The symmetric interval, clipped to [`lowest`, 1].
pub(super) fn normal(mean: f64, variance: f64, lowest: f64) -> [f64; 2] {
    let half = Z_975 * variance.sqrt();
    [(mean - half).max(lowest), (mean + half).min(1.0)]
}
