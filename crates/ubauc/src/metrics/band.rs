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

use super::interval::Z_975 as Z;

/// Wilson's 95 % interval of a share of `k` in `n`; [0, 1] of none.
pub fn wilson(k: u64, n: u64) -> [f64; 2] {
    if n == 0 {
        return [0.0, 1.0];
    }
    let (k, n) = (k.min(n) as f64, n as f64);
    let middle = k + Z * Z / 2.0;
    let half = Z * (k * (n - k) / n + Z * Z / 4.0).sqrt();
    [middle - half, middle + half].map(|end| (end / (n + Z * Z)).clamp(0.0, 1.0))
}

/// How far FPR and TPR can be from their true values at any threshold, for all at once, with a confidence of 95 %.
pub fn roc_band(n_pos: usize, n_neg: usize) -> [f64; 2] {
    let alpha = 1.0 - 0.95_f64.sqrt();
    [n_neg, n_pos].map(|m| match m {
        0 => 1.0,
        m => ((2.0 / alpha).ln() / (2.0 * m as f64)).sqrt().min(1.0),
    })
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    #[test]
    fn wilson_by_hand_and_at_the_ends() {
        // 81 of 263, the example of Newcombe (1998): .2553 to .3662.
        let [low, high] = wilson(81, 263);
        assert!((low - 0.2553).abs() < 5e-5 && (high - 0.3662).abs() < 5e-5);
        assert_eq!(wilson(0, 0), [0.0, 1.0]);
        assert_eq!(wilson(0, 20)[0], 0.0);
        assert!((wilson(0, 20)[1] - 0.1611).abs() < 5e-5);
        assert!((wilson(20, 20)[1] - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_share_is_no_further_than_z_of_its_own_errors() {
        for (k, n) in [(1_u64, 7_u64), (3, 9), (50, 1000), (999, 1000)] {
            for p in wilson(k, n) {
                let (share, n) = (k as f64 / n as f64, n as f64);
                let errors = (share - p).abs() / (p * (1.0 - p) / n).sqrt();
                assert!((errors - Z).abs() < 1e-9, "{k} of {n}");
            }
        }
    }

    #[test]
    fn the_band_holds_the_whole_curve_of_normal_scores_19_times_in_20() {
        // Positives are uniform to a power: true TPR at θ is 1 − θ³, true FPR is 1 − θ.
        let mut rng = Pcg64::seed_from_u64(7);
        let (n_pos, n_neg, trials) = (40, 90, 2000);
        let [of_fpr, of_tpr] = roc_band(n_pos, n_neg);
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
