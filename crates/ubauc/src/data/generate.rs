//! Made-up imbalanced data whose best possible AUC is known.
//!
//! A feature is present with probability p (`density`), independently of everything else; a
//! present value of an example of class y = ±1 is
//!
//!   x_j = y δ/2 u_j + z_j,   z_j ~ N(0, 1),   u_j = ±1/√d with random signs, so ‖u‖ = 1,
//!
//! and an absent one is 0.
//!
//! The best scorer. An absent feature says nothing about y, a present one adds
//! ln N(x_j; δu_j/2, 1) − ln N(x_j; −δu_j/2, 1) = δ u_j x_j to the log-likelihood ratio. So the
//! ratio is δ u·x, linear in x, and by Neyman and Pearson no scorer has a larger AUC than u·x.
//!
//! Its AUC. With K present features, u·x given K is N(y δK/(2d), K/d). For a positive example with
//! K and a negative one with K′, u·x⁺ − u·x⁻ is N(δT/(2d), T/d) with T = K + K′, hence
//!
//!   AUC(δ) = E Φ( δ/2 √(T/d) ),   T ~ Binomial(2d, p),
//!
//! where T = 0, two empty rows, gives Φ(0) = 1/2: a tie counts half. For p = 1, T = 2d and
//! AUC = Φ(δ/√2). The equal |u_j| are what makes T one binomial variable and the formula exact.
//! As δ → ∞ the AUC rises to 1 − (1 − p)^{2d} / 2 and not further.
//!
//! Solving AUC(δ) = `auc`. 1 − AUC is decreasing and convex in δ ≥ 0, so Newton's method started
//! left of the root climbs to it without overshooting. By Jensen (E T = 2pd, Φ(c√T) concave in T)
//! δ₀ = √(2/p) Φ⁻¹(auc) is such a start, and the root itself when p = 1.
//!
//! The number of positives is exact: row i is positive with probability (positives left) / (rows
//! left). Absent features are skipped in geometric jumps. Cost O(nnz) time; O(d/64) words for the
//! signs and one row of memory, whatever the number of rows.
//!
//! A seed gives the same numbers on every platform: PCG64, the functions of the `libm` crate,
//! and otherwise only operations that IEEE 754 defines to the last bit.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The largest dimension: svmlight indices end there.
const MAX_DIM: u32 = 1 << 31;
/// The most entries a row may hold on average: as svmlight text it then stays below the longest
/// line that is read back, [`crate::read::MAX_LINE`].
const MAX_ROW_ENTRIES: f64 = 3e5;

/// What to generate.
#[derive(Debug, Clone, PartialEq)]
pub struct GenerateParams {
    /// Number of examples, at least 2.
    pub rows: u64,
    /// Number of features d, from 1 to 2³¹.
    pub dim: u32,
    /// Probability p that a feature is present, in (0, 1].
    pub density: f64,
    /// Share of positive examples, in (0, 1): round(share · rows) of them, at least one of each
    /// class.
    pub positive_share: f64,
    /// AUC of the best scorer in the population, in [0.5, 1) and below 1 − (1 − p)^{2d} / 2.
    pub auc: f64,
    /// Fixes the population (the signs of u) and, with `sample`, the rows.
    pub seed: u64,
    /// Which independent sample of that population: 0 for training, 1 for testing, say.
    pub sample: u64,
}

impl Default for GenerateParams {
    /// 10,000 dense rows of 20 features, a tenth of them positive, best AUC 0.9.
    fn default() -> Self {
        Self {
            rows: 10_000,
            dim: 20,
            density: 1.0,
            positive_share: 0.1,
            auc: 0.9,
            seed: 1,
            sample: 0,
        }
    }
}

impl GenerateParams {
    /// Refuses the first parameter outside its range.
    pub fn check(&self) -> Result<()> {
        let dim = f64::from(self.dim);
        require(
            self.rows >= 2,
            "rows",
            self.rows,
            "at least 2, one of each class",
        )?;
        require(
            (1..=MAX_DIM).contains(&self.dim),
            "dim",
            self.dim,
            "from 1 to 2147483648",
        )?;
        let density = self.density;
        require(
            density > 0.0 && density <= 1.0,
            "density",
            density,
            "above 0 and at most 1",
        )?;
        let must = "at most 300000 / dim: a row of density x dim entries must fit into a line";
        require(density * dim <= MAX_ROW_ENTRIES, "density", density, must)?;
        let share = self.positive_share;
        require(
            share > 0.0 && share < 1.0,
            "positive_share",
            share,
            "between 0 and 1",
        )?;
        require(
            self.auc >= 0.5 && self.auc < 1.0,
            "auc",
            self.auc,
            "at least 0.5 and below 1",
        )?;
        // Half the probability that two rows are empty, which nothing can tell apart.
        let unavoidable = 0.5 * libm::exp(2.0 * dim * libm::log1p(-density));
        let must =
            "below 1 - (1 - density)^(2 dim) / 2, as empty rows of both classes look the same";
        require(1.0 - self.auc > unavoidable, "auc", self.auc, must)
    }

    /// The number of positive examples.
    fn positives(&self) -> u64 {
        let nearest = libm::round(self.positive_share * self.rows as f64) as u64;
        nearest.clamp(1, self.rows - 1)
    }
}

fn require(
    holds: bool,
    name: &'static str,
    value: impl ToString,
    must: &'static str,
) -> Result<()> {
    if holds {
        Ok(())
    } else {
        Err(Error::Parameter {
            name,
            value: value.to_string(),
            must,
        })
    }
}

/// One generated example.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneratedRow<'a> {
    /// Whether it is of the positive class.
    pub positive: bool,
    /// Present features as (index from 0, value), indices increasing.
    pub entries: &'a [(u32, f64)],
}

/// Makes the rows one after another.
///
/// ```
/// use ubauc::data::generate::{GenerateParams, Generator};
///
/// let params = GenerateParams { rows: 1000, positive_share: 0.05, ..Default::default() };
/// let mut generator = Generator::new(&params)?;
/// let mut positives = 0;
/// while let Some(row) = generator.next_row() {
///     positives += u64::from(row.positive);
/// }
/// assert_eq!(positives, 50);
/// # Ok::<(), ubauc::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Generator {
    deviates: Deviates,
    /// One bit per feature: whether u_j > 0.
    signs: Vec<u64>,
    dim: u32,
    /// ln(1 − p), or −∞ for dense rows.
    ln_absent: f64,
    separation: f64,
    positives: u64,
    rows_left: u64,
    positives_left: u64,
    entries: Vec<(u32, f64)>,
}

impl Generator {
    /// Checks the parameters and draws the population.
    pub fn new(params: &GenerateParams) -> Result<Self> {
        params.check()?;
        let mut population = Pcg64::seed_from_u64(mix(params.seed, 0));
        let words = params.dim.div_ceil(u64::BITS);
        let positives = params.positives();
        Ok(Self {
            deviates: Deviates::new(mix(params.seed, params.sample.wrapping_add(1))),
            signs: (0..words).map(|_| population.next_u64()).collect(),
            dim: params.dim,
            ln_absent: libm::log1p(-params.density),
            separation: separation(params.dim, params.density, params.auc),
            positives,
            rows_left: params.rows,
            positives_left: positives,
            entries: Vec::new(),
        })
    }

    /// How many of all rows are positive.
    pub fn positives(&self) -> u64 {
        self.positives
    }

    /// δ, the distance between the means of the two classes when every feature is present.
    pub fn separation(&self) -> f64 {
        self.separation
    }

    /// u_j = ±1/√d for a feature, counted from 0: the weights of the best scorer u·x. Past the last
    /// feature, 0.
    pub fn direction(&self, feature: u32) -> f64 {
        let size = 1.0 / f64::from(self.dim).sqrt();
        if feature >= self.dim {
            0.0
        } else if self.leans_positive(feature) {
            size
        } else {
            -size
        }
    }

    fn leans_positive(&self, feature: u32) -> bool {
        let word = self.signs.get((feature / u64::BITS) as usize);
        word.is_some_and(|word| word >> (feature % u64::BITS) & 1 == 1)
    }

    /// The next row, or `None` after the last one.
    pub fn next_row(&mut self) -> Option<GeneratedRow<'_>> {
        if self.rows_left == 0 {
            return None;
        }
        let positive = self.deviates.below(self.rows_left) < self.positives_left;
        self.rows_left -= 1;
        self.positives_left -= u64::from(positive);

        let shift = 0.5 * self.separation / f64::from(self.dim).sqrt();
        self.entries.clear();
        let mut index = self.deviates.failures(self.ln_absent);
        while index < u64::from(self.dim) {
            let feature = index as u32;
            let mean = if self.leans_positive(feature) == positive {
                shift
            } else {
                -shift
            };
            self.entries.push((feature, mean + self.deviates.normal()));
            index = (index + 1).saturating_add(self.deviates.failures(self.ln_absent));
        }
        Some(GeneratedRow {
            positive,
            entries: &self.entries,
        })
    }
}

/// Whether these random numbers repeat themselves only after all 2¹²⁸ states: the increment is odd, as every seed makes it.
/// Of others, which only a forged state has, a deviate might never come.
pub(crate) fn has_full_period(random: &Pcg64) -> bool {
    let state_and_increment: Option<(u128, u128)> = postcard::to_stdvec(random)
        .ok()
        .and_then(|bytes| postcard::from_bytes(&bytes).ok());
    state_and_increment.is_some_and(|(_, increment)| increment % 2 == 1)
}

/// Random numbers, the same on every machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Deviates {
    rng: Pcg64,
    /// The polar method makes two deviates at a time; this is the second.
    spare: Option<f64>,
}

impl Deviates {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            rng: Pcg64::seed_from_u64(seed),
            spare: None,
        }
    }

    /// Whether a seed can have led to it.
    pub(crate) fn is_sound(&self) -> bool {
        has_full_period(&self.rng) && self.spare.is_none_or(f64::is_finite)
    }

    /// Uniform on the multiples of 2⁻⁵³ in [0, 1).
    pub(super) fn uniform(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// An integer uniform in 0..n, with a bias below n · 2⁻⁶⁴.
    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.rng.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// How many absent features come before the next present one: geometric, ⌊ln U / ln(1 − p)⌋.
    fn failures(&mut self, ln_absent: f64) -> u64 {
        if ln_absent == f64::NEG_INFINITY {
            return 0;
        }
        // `as` takes an overlong jump to u64::MAX, which ends the row.
        (libm::log(1.0 - self.uniform()) / ln_absent) as u64
    }

    /// Standard normal, by Marsaglia's polar method.
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let a = 2.0 * self.uniform() - 1.0;
            let b = 2.0 * self.uniform() - 1.0;
            let r2 = a * a + b * b;
            if r2 > 0.0 && r2 < 1.0 {
                let scale = (-2.0 * libm::log(r2) / r2).sqrt();
                self.spare = Some(b * scale);
                return a * scale;
            }
        }
    }
}

/// An independent seed for each purpose `k` of one seed (two rounds of SplitMix64).
pub(super) fn mix(seed: u64, k: u64) -> u64 {
    fn round(x: u64) -> u64 {
        let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
    round(round(seed).wrapping_add(k))
}

/// δ with AUC(δ) = `auc`: the module's head says why this converges.
fn separation(dim: u32, density: f64, auc: f64) -> f64 {
    let wrong = 1.0 - auc;
    let start = SQRT_2 / density.sqrt() * upper_quantile(wrong);
    if density == 1.0 {
        return start;
    }
    let terms = present_in_a_pair(dim, density);
    let mut delta = start;
    // From the start to the root are a few steps; the bound is for the last bits going round.
    for _ in 0..200 {
        // 1 − AUC(δ) and its slope, with c = √(T/d) / 2:  E Φ(−δc),  E c φ(δc).
        let (mut value, mut slope) = (0.0, 0.0);
        for &(c, weight) in &terms {
            value += weight * upper_tail(delta * c);
            slope += weight * c * normal_density(delta * c);
        }
        let step = (value - wrong) / slope;
        if !step.is_finite() || step <= 1e-15 * delta {
            break;
        }
        delta += step;
    }
    delta
}

/// T ~ Binomial(2d, p) as pairs (√(T/d) / 2, probability), without the values that are less likely
/// than the mode by a factor of 10²⁰.
fn present_in_a_pair(dim: u32, density: f64) -> Vec<(f64, f64)> {
    const NEGLIGIBLE: f64 = 1e-20;
    let n = 2 * u64::from(dim);
    let odds = density / (1.0 - density);
    let mode = (((n + 1) as f64 * density) as u64).min(n);
    // Outwards from the mode by  P(t + 1) / P(t) = (n − t) / (t + 1) · p / (1 − p).
    let mut likely = vec![(mode, 1.0)];
    let (mut t, mut p) = (mode, 1.0);
    while t < n && p > NEGLIGIBLE {
        p *= (n - t) as f64 / (t + 1) as f64 * odds;
        t += 1;
        likely.push((t, p));
    }
    (t, p) = (mode, 1.0);
    while t > 0 && p > NEGLIGIBLE {
        p *= t as f64 / ((n - t + 1) as f64 * odds);
        t -= 1;
        likely.push((t, p));
    }
    let total: f64 = likely.iter().map(|&(_, p)| p).sum();
    let coefficient = |t: u64| 0.5 * (t as f64 / f64::from(dim)).sqrt();
    likely
        .into_iter()
        .map(|(t, p)| (coefficient(t), p / total))
        .collect()
}

/// φ(x)
pub(super) fn normal_density(x: f64) -> f64 {
    const INV_SQRT_2PI: f64 = 0.398_942_280_401_432_7;
    INV_SQRT_2PI * libm::exp(-0.5 * x * x)
}

/// 1 − Φ(x), accurate far into the tail.
pub(super) fn upper_tail(x: f64) -> f64 {
    0.5 * libm::erfc(x * FRAC_1_SQRT_2)
}

/// The x with 1 − Φ(x) = q, for 0 < q ≤ 1/2, to full accuracy: Abramowitz & Stegun 26.2.23
/// (error below 4.5e-4), then Halley's method, whose error after a step is about the third power
/// of the one before.
fn upper_quantile(q: f64) -> f64 {
    if q == 0.5 {
        return 0.0;
    }
    let t = (-2.0 * libm::log(q)).sqrt();
    let mut x = t
        - (2.515517 + t * (0.802853 + t * 0.010328))
            / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for _ in 0..3 {
        let newton = (upper_tail(x) - q) / normal_density(x);
        x += newton / (1.0 - 0.5 * x * newton);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With an increment of 0 the state 0 stays what it is, and the polar method would look for a deviate without end.
    #[test]
    fn random_numbers_that_repeat_themselves_are_no_state() {
        let forged = |state: u128, increment: u128| -> Pcg64 {
            let bytes = postcard::to_stdvec(&(state, increment)).unwrap();
            postcard::from_bytes(&bytes).unwrap()
        };
        let mut stuck = forged(0, 0);
        assert_eq!([stuck.next_u64(), stuck.next_u64()], [0, 0]);
        for (state, increment) in [(0, 0), (1, 2), (u128::MAX, u128::MAX - 1)] {
            assert!(!has_full_period(&forged(state, increment)));
        }
        assert!(has_full_period(&forged(0, 1)));
        for seed in 0..100 {
            let mut deviates = Deviates::new(seed);
            deviates.normal();
            assert!(deviates.is_sound());
            deviates.spare = Some(f64::NAN);
            assert!(!deviates.is_sound());
        }
    }

    fn params(density: f64, dim: u32, auc: f64) -> GenerateParams {
        GenerateParams {
            rows: 20_000,
            dim,
            density,
            auc,
            ..Default::default()
        }
    }

    fn rows(params: &GenerateParams) -> Vec<(bool, Vec<(u32, f64)>)> {
        let mut generator = Generator::new(params).unwrap();
        let mut rows = Vec::new();
        while let Some(row) = generator.next_row() {
            rows.push((row.positive, row.entries.to_vec()));
        }
        rows
    }

    /// AUC of u·x on a sample and its standard error after DeLong, by pairs of sorted scores.
    fn sample_auc(params: &GenerateParams) -> (f64, f64) {
        let mut generator = Generator::new(params).unwrap();
        let weights: Vec<f64> = (0..params.dim).map(|j| generator.direction(j)).collect();
        let (mut pos, mut neg) = (Vec::new(), Vec::new());
        while let Some(row) = generator.next_row() {
            let score: f64 = row
                .entries
                .iter()
                .map(|&(j, x)| weights[j as usize] * x)
                .sum();
            if row.positive {
                pos.push(score)
            } else {
                neg.push(score)
            }
        }
        pos.sort_by(f64::total_cmp);
        neg.sort_by(f64::total_cmp);
        // The share of `others` below a score, ties half.
        let placed = |scores: &[f64], others: &[f64]| -> Vec<f64> {
            let below = |s: f64| others.partition_point(|&o| o < s) as f64;
            let up_to = |s: f64| others.partition_point(|&o| o <= s) as f64;
            scores
                .iter()
                .map(|&s| (below(s) + up_to(s)) / 2.0 / others.len() as f64)
                .collect()
        };
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let error2 = |v: &[f64]| {
            let m = mean(v);
            v.iter().map(|x| (x - m).powi(2)).sum::<f64>() / (v.len() - 1) as f64 / v.len() as f64
        };
        let (a, b) = (placed(&pos, &neg), placed(&neg, &pos));
        (mean(&a), (error2(&a) + error2(&b)).sqrt())
    }

    fn refused(params: GenerateParams) -> &'static str {
        match Generator::new(&params) {
            Err(Error::Parameter { name, .. }) => name,
            other => panic!("{params:?} gave {other:?}"),
        }
    }

    #[test]
    fn number_of_positives_is_exact() {
        for (rows, share, expected) in [
            (1000, 0.05, 50),
            (7, 0.5, 4),
            (100, 1e-9, 1),
            (100, 1.0 - 1e-9, 99),
            (2, 0.9, 1),
        ] {
            for seed in 0..20 {
                let params = GenerateParams {
                    rows,
                    positive_share: share,
                    seed,
                    dim: 1,
                    ..Default::default()
                };
                let mut generator = Generator::new(&params).unwrap();
                assert_eq!(generator.positives(), expected);
                let (mut n, mut positives) = (0, 0);
                while let Some(row) = generator.next_row() {
                    n += 1;
                    positives += u64::from(row.positive);
                }
                assert_eq!((n, positives), (rows, expected), "seed {seed}");
                assert!(generator.next_row().is_none());
            }
        }
    }

    #[test]
    fn positives_are_spread_over_the_rows() {
        // Of 2000 positives the first half holds 1000 ± 4 · √(2000/4 · 0.9) = ± 85.
        let rows = rows(&params(1.0, 1, 0.9));
        let first_half = rows[..10_000]
            .iter()
            .filter(|(positive, _)| *positive)
            .count();
        assert!((915..=1085).contains(&first_half), "{first_half}");
    }

    #[test]
    fn seed_decides_everything_and_sample_only_the_rows() {
        let one = GenerateParams {
            rows: 50,
            dim: 100,
            density: 0.3,
            ..Default::default()
        };
        assert_eq!(rows(&one), rows(&one));
        let other_seed = GenerateParams {
            seed: 2,
            ..one.clone()
        };
        assert_ne!(rows(&one), rows(&other_seed));
        let other_sample = GenerateParams {
            sample: 1,
            ..one.clone()
        };
        assert_ne!(rows(&one), rows(&other_sample));
        let direction = |p: &GenerateParams| {
            let generator = Generator::new(p).unwrap();
            (0..100).map(|j| generator.direction(j)).collect::<Vec<_>>()
        };
        assert_eq!(direction(&one), direction(&other_sample));
        assert_ne!(direction(&one), direction(&other_seed));
    }

    #[test]
    fn best_scorer_has_the_asked_auc() {
        for (density, dim, auc) in [
            (1.0, 20, 0.9),
            (1.0, 1, 0.6),
            (1.0, 5, 0.999),
            (0.1, 1000, 0.8),
            (0.02, 500, 0.95),
            (0.05, 20, 0.7), // a third of the rows is empty
            (0.5, 3, 0.5),
        ] {
            let (got, error) = sample_auc(&params(density, dim, auc));
            assert!(
                (got - auc).abs() < 4.0 * error,
                "{density} {dim}: {got} ± {error}, not {auc}"
            );
        }
    }

    #[test]
    fn sparse_separation_agrees_with_the_sum_over_all_pairs_of_counts() {
        // d = 2: K and K′ are 0, 1 or 2, and T = K + K′; written out without the binomial of T.
        let (p, auc): (f64, f64) = (0.4, 0.7);
        let delta = separation(2, p, auc);
        let count = [(1.0 - p).powi(2), 2.0 * p * (1.0 - p), p * p];
        let mut sum = 0.0;
        for (k, pk) in count.iter().enumerate() {
            for (l, pl) in count.iter().enumerate() {
                sum += pk * pl * (1.0 - upper_tail(0.5 * delta * ((k + l) as f64 / 2.0).sqrt()));
            }
        }
        assert!((sum - auc).abs() < 1e-14, "{sum}");
    }

    #[test]
    fn density_is_the_share_of_present_features() {
        // 2·10⁶ trials of 0.02: 40,000 ± 4 · 198.
        let params = GenerateParams {
            rows: 2000,
            dim: 1000,
            density: 0.02,
            ..Default::default()
        };
        let rows = rows(&params);
        let stored: usize = rows.iter().map(|(_, entries)| entries.len()).sum();
        assert!((39_208..=40_792).contains(&stored), "{stored}");
        for (_, entries) in &rows {
            assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert!(entries.iter().all(|&(j, x)| j < 1000 && x.is_finite()));
        }
    }

    #[test]
    fn million_features_cost_only_what_is_present() {
        let params = GenerateParams {
            rows: 20_000,
            dim: 1_000_000,
            density: 2e-5,
            ..Default::default()
        };
        let mut generator = Generator::new(&params).unwrap();
        let mut last = 0;
        while let Some(row) = generator.next_row() {
            last = last.max(row.entries.last().map_or(0, |&(j, _)| j));
        }
        assert!((900_000..1_000_000).contains(&last), "{last}");
    }

    #[test]
    fn normal_deviates_have_the_right_moments() {
        let mut deviates = Deviates::new(3);
        let n = 200_000;
        let draws: Vec<f64> = (0..n).map(|_| deviates.normal()).collect();
        let moment = |k| draws.iter().map(|x| x.powi(k)).sum::<f64>() / f64::from(n);
        // Standard errors √(1/n), √(2/n), √(96/n); four of each.
        assert!(moment(1).abs() < 0.009, "{}", moment(1));
        assert!((moment(2) - 1.0).abs() < 0.0127, "{}", moment(2));
        assert!((moment(4) - 3.0).abs() < 0.088, "{}", moment(4));
    }

    #[test]
    fn quantile_is_accurate() {
        for (q, x) in [
            (0.5, 0.0),
            (0.25, 0.674_489_750_196_081_7),
            (0.1, 1.281_551_565_544_600_4),
            (0.025, 1.959_963_984_540_054),
            (0.001, 3.090_232_306_167_813_5),
            (1e-10, 6.361_340_902_404_056),
        ] {
            let got = upper_quantile(q);
            assert!((got - x).abs() <= 4e-15 * (1.0 + x), "{q}: {got} {x}");
        }
        for q in [0.499_999, 0.4, 1e-5, 1.2e-16] {
            let back = upper_tail(upper_quantile(q));
            assert!((back / q - 1.0).abs() < 1e-13, "{q}: {back}");
        }
    }

    #[test]
    fn first_numbers_of_a_seed_never_change() {
        let params = GenerateParams {
            rows: 2,
            dim: 4,
            density: 0.6,
            ..Default::default()
        };
        let rows = rows(&params);
        let frozen = vec![
            (
                false,
                vec![
                    (0, -1.9177858955073508),
                    (1, -1.6094022636779997),
                    (2, -0.12491107244386623),
                    (3, -0.2952106800485424),
                ],
            ),
            (
                true,
                vec![(1, 0.9564612894867174), (3, -0.30291883789164586)],
            ),
        ];
        assert_eq!(rows, frozen);
    }

    #[test]
    fn bad_parameters_are_refused_by_name() {
        let good = GenerateParams::default;
        assert_eq!(refused(GenerateParams { rows: 1, ..good() }), "rows");
        assert_eq!(refused(GenerateParams { dim: 0, ..good() }), "dim");
        assert_eq!(
            refused(GenerateParams {
                dim: u32::MAX,
                density: 1e-9,
                ..good()
            }),
            "dim"
        );
        for density in [0.0, -0.1, 1.1, f64::NAN] {
            assert_eq!(refused(GenerateParams { density, ..good() }), "density");
        }
        assert_eq!(
            refused(GenerateParams {
                dim: 1 << 31,
                ..good()
            }),
            "density"
        );
        for positive_share in [0.0, 1.0, -1.0, f64::NAN] {
            assert_eq!(
                refused(GenerateParams {
                    positive_share,
                    ..good()
                }),
                "positive_share"
            );
        }
        for auc in [0.49, 1.0, 2.0, f64::NAN] {
            assert_eq!(refused(GenerateParams { auc, ..good() }), "auc");
        }
        // Two empty rows have probability 0.9⁴ = 0.6561; half of that cannot be won.
        let empty = GenerateParams {
            dim: 2,
            density: 0.1,
            ..good()
        };
        assert_eq!(
            refused(GenerateParams {
                auc: 0.672,
                ..empty.clone()
            }),
            "auc"
        );
        assert!(
            GenerateParams {
                auc: 0.671,
                ..empty
            }
            .check()
            .is_ok()
        );
    }
}
