//! How sure a share is, and how sure a whole ROC curve.
//!
//! **One share** k/n [Wilson 1927]: all p that are no further than z standard errors *of p* from k/n,
//!
//! ```text
//! ( k + z²/2 ± z √( k(n − k)/n + z²/4 ) ) / (n + z²),   z = 1.96
//! ```
//!
//! which stays inside [0, 1] and has a width for k = 0 and k = n.
//!
//! **A whole curve** [Campbell 1994]: the distance of an empirical distribution function of m examples from the true one is
//! nowhere above ε with probability at least 1 − 2e^{−2mε²} [Dvoretzky, Kiefer & Wolfowitz 1956; Massart 1990], ties or not. TPR and FPR
//! are such functions of the threshold, of independent examples, so that with 1 − α = √.95 for each
//!
//! ```text
//! ε(m) = √( ln(2/α) / 2m ),   |TPR − true TPR| ≤ ε(N⁺) and |FPR − true FPR| ≤ ε(N⁻) at all thresholds at once
//! ```
//!
//! with probability at least .95: the true curve lies between the empirical one moved up and left, and down and right.
//!
//! **Weights and groups.** Both formulas ask how many independent examples there are. Examples of weights s say as much as
//! (Σs)²/Σs² of equal ones [Kish 1965], and a group of examples as much as one example at least, so with s_u the weight of a
//! class in the group (or example) u
//!
//! ```text
//! m = (Σ_u s_u)² / Σ_u s_u²
//! ```
//!
//! which is the number of examples if all count once, and of groups if they are of one size. That is exact for groups whose
//! examples are all alike, and too careful for others, as long as the size of a group has nothing to do with the outcome. Where
//! large groups have other rates than small ones, the share of all examples is a ratio of sums that vary together, and a band
//! or interval may be too narrow.

use super::bootstrap::Sample;
use super::interval::Z_975 as Z;

/// Wilson's 95 % interval of a share of `n`, which need not be whole; [0, 1] of none.
pub fn wilson(share: f64, n: f64) -> [f64; 2] {
    if n <= 0.0 {
        return [0.0, 1.0];
    }
    let z2 = Z * Z;
    let middle = share + z2 / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z2 / n;
    // Rounding must not push the share out.
    let low = ((middle - half) / scale).min(share);
    let high = ((middle + half) / scale).max(share);
    [low, high].map(|end| end.clamp(0.0, 1.0))
}

/// How far FPR and TPR can be from their true values at any threshold, for all at once, with a confidence of 95 %, for as
/// many independent positives and negatives.
pub fn roc_band(n_pos: f64, n_neg: f64) -> [f64; 2] {
    let alpha = 1.0 - 0.95_f64.sqrt();
    [n_neg, n_pos].map(|m| {
        ((2.0 / alpha).ln() / (2.0 * m.max(f64::MIN_POSITIVE)))
            .sqrt()
            .min(1.0)
    })
}

/// m of the module, of the weights of independent units; 0 of none.
pub fn effective_size(weights: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = weights.clone().fold(0.0, f64::max);
    if largest <= 0.0 {
        return 0.0;
    }
    // In their own scale, so that nothing overflows.
    let (mut sum, mut squares) = (0.0, 0.0);
    for weight in weights {
        let share = weight / largest;
        sum += share;
        squares += share * share;
    }
    sum * sum / squares
}

impl Sample<'_> {
    /// As how many independent examples of equal weight the negatives count, and the positives.
    pub fn effective_sizes(&self) -> [f64; 2] {
        [false, true].map(|class| {
            let of_class = (0..self.positive.len()).filter(|&i| self.positive[i] == class);
            self.effective_size_of(of_class)
        })
    }

    /// The same of some of its examples.
    pub fn effective_size_of(&self, examples: impl Iterator<Item = usize> + Clone) -> f64 {
        let weight = |i: usize| self.weights.map_or(1.0, |weights| weights[i]);
        let Some(groups) = self.groups else {
            return effective_size(examples.map(weight));
        };
        let mut of_groups: Vec<(u32, f64)> = examples.map(|i| (groups[i], weight(i))).collect();
        of_groups.sort_by_key(|item| item.0);
        let sums = of_groups
            .chunk_by(|a, b| a.0 == b.0)
            .map(|group| group.iter().map(|item| item.1).sum());
        effective_size(sums)
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    #[test]
    fn wilson_by_hand_and_at_the_ends() {
        // 81 of 263, the example of Newcombe (1998): .2553 to .3662.
        let of = |k: f64, n: f64| wilson(k / n, n);
        let [low, high] = of(81.0, 263.0);
        assert!((low - 0.2553).abs() < 5e-5 && (high - 0.3662).abs() < 5e-5);
        assert_eq!(wilson(0.0, 0.0), [0.0, 1.0]);
        assert_eq!(of(0.0, 20.0)[0], 0.0);
        assert!((of(0.0, 20.0)[1] - 0.1611).abs() < 5e-5);
        assert!((of(20.0, 20.0)[1] - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_share_is_no_further_than_z_of_its_own_errors() {
        for (k, n) in [(1.0, 7.0), (3.0, 9.0), (50.0, 1000.0), (999.0, 1000.0)] {
            let share: f64 = k / n;
            for p in wilson(share, n) {
                let errors = (share - p).abs() / (p * (1.0 - p) / n).sqrt();
                assert!((errors - Z).abs() < 1e-9, "{k} of {n}");
            }
        }
    }

    #[test]
    fn effective_sizes_by_hand() {
        let (scores, positive) = ([0.0; 6], [true, true, true, false, false, false]);
        let plain = Sample::new(&scores, &positive);
        assert_eq!(plain.effective_sizes(), [3.0, 3.0]);
        // Groups of 2 and 1 positives, of 1, 1 and 1 negatives: (2 + 1)²/(4 + 1).
        let groups = Sample {
            groups: Some(&[4, 4, 9, 9, 1, 4]),
            ..plain
        };
        assert_eq!(groups.effective_sizes(), [3.0, 9.0 / 5.0]);
        // Weights of 1, 1, 0 count as two; those beyond a double's squares do no harm.
        let weights = Sample {
            weights: Some(&[1.0, 1.0, 0.0, 1e300, 1e300, 2e300]),
            ..plain
        };
        let [neg, pos] = weights.effective_sizes();
        assert!((neg - 16.0 / 6.0).abs() < 1e-14 && pos == 2.0);
        assert_eq!(effective_size([].into_iter()), 0.0);
    }

    #[test]
    fn the_band_holds_the_whole_curve_of_normal_scores_19_times_in_20() {
        // Positives are uniform to a power: true TPR at θ is 1 − θ³, true FPR is 1 − θ.
        let mut rng = Pcg64::seed_from_u64(7);
        let (n_pos, n_neg, trials) = (40, 90, 2000);
        let [of_fpr, of_tpr] = roc_band(n_pos as f64, n_neg as f64);
        let mut held = 0;
        for _ in 0..trials {
            let mut draw = |n: usize, power: f64| {
                let mut all: Vec<f64> = (0..n)
                    .map(|_| rng.random::<f64>().powf(1.0 / power))
                    .collect();
                all.sort_by(f64::total_cmp);
                // The largest distance is just at a score or just before it.
                let distance = |(i, x): (usize, &f64)| {
                    let truth = x.powf(power);
                    let steps = [i, i + 1].map(|k| (k as f64 / n as f64 - truth).abs());
                    steps[0].max(steps[1])
                };
                all.iter().enumerate().map(distance).fold(0.0, f64::max)
            };
            let (pos, neg) = (draw(n_pos, 3.0), draw(n_neg, 1.0));
            held += usize::from(pos <= of_tpr && neg <= of_fpr);
        }
        let share = held as f64 / trials as f64;
        // Three standard errors of 2,000 trials below .95; the inequality is a little conservative.
        assert!((0.935..0.985).contains(&share), "{share}");
    }
}
