//! The standard error of an AUC by its size and the number of examples (Hanley & McNeil, Radiology 143, 1982).
//!
//! Of an AUC A over m positives and n negatives, with Q₁ the probability that two positives outscore one negative and Q₂
//! that one positive outscores two negatives, here those of scores with exponential distributions,
//!
//! ```text
//! var = (A(1 − A) + (m − 1)(Q₁ − A²) + (n − 1)(Q₂ − A²)) / (mn),   Q₁ = A/(2 − A),   Q₂ = 2A²/(1 + A).
//! ```

/// √var; an AUC below ½ counts as ½.
pub(super) fn standard_error(auc: f64, [m, n]: [f64; 2]) -> f64 {
    let a = auc.clamp(0.5, 1.0);
    let (q1, q2) = (a / (2.0 - a), 2.0 * a * a / (1.0 + a));
    let variance = (a * (1.0 - a) + (m - 1.0) * (q1 - a * a) + (n - 1.0) * (q2 - a * a)) / (m * n);
    variance.max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    /// Exponential scores, the positives with the mean θ and the negatives with the mean 1: A = θ/(1 + θ).
    #[test]
    fn is_the_deviation_of_the_auc_of_exponential_scores() {
        let mut rng = Pcg64::seed_from_u64(1);
        let mut exponential = |mean: f64| -mean * (1.0 - rng.random::<f64>()).ln();
        for (theta, m, n) in [(1.0, 8, 8), (4.0, 5, 30), (9.0, 20, 6)] {
            let aucs: Vec<f64> = (0..4000)
                .map(|_| {
                    let pos: Vec<f64> = (0..m).map(|_| exponential(theta)).collect();
                    let neg: Vec<f64> = (0..n).map(|_| exponential(1.0)).collect();
                    let won = |x: &f64| neg.iter().filter(|y| x > y).count();
                    pos.iter().map(won).sum::<usize>() as f64 / f64::from(m * n)
                })
                .collect();
            let mean = aucs.iter().sum::<f64>() / aucs.len() as f64;
            let square = |auc: &f64| (auc - mean) * (auc - mean);
            let deviation = (aucs.iter().map(square).sum::<f64>() / aucs.len() as f64).sqrt();
            let auc = theta / (1.0 + theta);
            let ours = standard_error(auc, [f64::from(m), f64::from(n)]);
            assert!((ours / deviation - 1.0).abs() < 0.05, "{ours} {deviation}");
        }
    }

    #[test]
    fn without_error_there_is_none() {
        assert_eq!(standard_error(1.0, [3.0, 5.0]), 0.0);
        assert_eq!(
            standard_error(0.2, [3.0, 5.0]),
            standard_error(0.5, [3.0, 5.0])
        );
    }
}
