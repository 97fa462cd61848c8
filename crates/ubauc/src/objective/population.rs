//! The population form, Eq. (11), corrected (E6), with an estimated constant.
//!
//! ```text
//! L_AUC ≤ α′/(p(1−p)) min_λ E[ y(λ − c) ]₊,   α′ ≥ max_c ρ(c)                    Eq. (11)
//! ```
//!
//! ρ is the density of the scores of both classes together, p the share of positives. The paper prints
//! y(c − λ): E6. With sample means for p and E the right side is
//!
//! ```text
//! α′ · N²/(N⁺N⁻) · (1/N) min_λ Σ_i [ y_i(λ − c_i) ]₊ = α′ N L̃,
//! ```
//!
//! that is, Theorem 1 with ᾱ, 1 / the smallest gap, replaced by N·max ρ, 1 / the typical gap where
//! scores are densest. It speaks of scores not yet seen.
//!
//! A positive and a negative with one score cost ½ pair in L_AUC and nothing in L̃: 1000 examples at one
//! score and one elsewhere have L̃ = 0 and a risk near ½. Scores that tie across the classes have no density,
//! α′ is infinite, and there is no estimate.
//!
//! **An estimate, not a bound**: ρ is unknown. α′ is the maximum of a Gaussian kernel density estimate with
//! Silverman's bandwidth h = 0.9 · min(σ, IQR/1.34) · N^(−1/5), on a grid of steps h/8 (its peak is off by
//! less than 0.2 %). Smoothing lowers sharp peaks, and scores with few distinct values have no density at all.

use serde::Serialize;

use super::sorted::Sorted;
use super::sum::sum;
use super::univariate::minimum;
use crate::Result;

/// Grid steps per bandwidth.
const STEPS_PER_BANDWIDTH: f64 = 8.0;
/// The kernel is cut at this many bandwidths: exp(−4.5²/2) < 5e-5 of its peak.
const REACH: f64 = 4.5;
/// The finest grid. Should h/8 be smaller still, more falls into one cell and α′ errs upwards.
const FINEST_STEP: f64 = 1.0 / 1_048_576.0;

/// Eq. (11) with α′ estimated from the same scores.
#[derive(Debug, Clone, Serialize)]
pub struct PopulationEstimate {
    /// α′: the estimated maximum of the density of all scores.
    pub density_max_estimate: f64,
    /// The bandwidth h of the density estimate, in units of the scores.
    pub bandwidth: f64,
    /// α′ N L̃: the estimated upper bound of L_AUC on new data; above 1 it says nothing.
    pub risk_upper_estimate: f64,
}

/// The estimate, or `None` when a positive and a negative tie (or scores are so close that a density
/// overflows).
pub fn population_estimate(
    scores: &[f64],
    positive: &[bool],
) -> Result<Option<PopulationEstimate>> {
    let sorted = Sorted::new(scores, positive)?;
    let l_tilde = minimum(&sorted).value;
    Ok(estimate(&sorted, l_tilde))
}

/// Works on z = (c − min)/(max − min) ∈ [0, 1], so that no scale of the scores over- or underflows.
pub(crate) fn estimate(sorted: &Sorted, l_tilde: f64) -> Option<PopulationEstimate> {
    let n = sorted.len() as f64;
    let lowest = sorted.pos.first()?.min(*sorted.neg.first()?);
    let span = sorted.pos.last()?.max(*sorted.neg.last()?) - lowest;
    if sorted.groups().any(|g| g.n_pos > 0 && g.n_neg > 0) {
        return None;
    }
    let z = || {
        sorted
            .pos
            .iter()
            .chain(&sorted.neg)
            .map(|c| (c - lowest) / span)
    };

    let mean = sum(z()) / n;
    let deviation = (sum(z().map(|z| (z - mean).powi(2))) / n).sqrt();
    let rank = |share: f64| (share * (n - 1.0)).round() as usize;
    let mut upper = sorted.merged().skip(rank(0.25));
    let quarter = upper.next()?;
    // For two or three examples both quartiles may be one.
    let three_quarters = upper
        .take(rank(0.75) - rank(0.25))
        .last()
        .unwrap_or(quarter);
    let iqr = (three_quarters - quarter) / span;
    let spread = if iqr > 0.0 {
        deviation.min(iqr / 1.34)
    } else {
        deviation
    };
    let h = 0.9 * spread * n.powf(-0.2);

    let peak = density_peak(z(), n, h);
    let answer = PopulationEstimate {
        density_max_estimate: peak / span,
        bandwidth: h * span,
        risk_upper_estimate: peak * n * (l_tilde / span),
    };
    let finite = answer.density_max_estimate.is_finite() && answer.risk_upper_estimate.is_finite();
    finite.then_some(answer)
}

/// max over the grid of 1/(nh) Σ_i φ((g − z_i)/h), φ the standard normal density, z_i ∈ [0, 1].
fn density_peak(z: impl Iterator<Item = f64>, n: f64, h: f64) -> f64 {
    let step = (h / STEPS_PER_BANDWIDTH).max(FINEST_STEP);
    let reach = (REACH * h / step).ceil() as usize;
    let cells = (1.0 / step).ceil() as usize + 1;
    let mut count = vec![0.0; cells + 2 * reach];
    for z in z {
        count[reach + (z / step).round() as usize] += 1.0;
    }
    let norm = n * h * std::f64::consts::TAU.sqrt();
    let offsets = (0..=2 * reach).map(|k| (k as f64 - reach as f64) * step / h);
    let kernel: Vec<f64> = offsets.map(|u| (-0.5 * u * u).exp() / norm).collect();
    count
        .windows(kernel.len())
        .map(|cells| cells.iter().zip(&kernel).map(|(c, k)| c * k).sum())
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The peak of the kernel estimate by its definition, at every point of a fine grid.
    fn naive_peak(c: &[f64], h: f64) -> f64 {
        let (lo, hi) = (c.iter().copied().fold(f64::MAX, f64::min), 4000);
        let span = c.iter().copied().fold(f64::MIN, f64::max) - lo;
        (0..=hi)
            .map(|g| {
                let at = lo + span * f64::from(g) / f64::from(hi);
                let near: f64 = c
                    .iter()
                    .map(|c| (-0.5 * ((at - c) / h).powi(2)).exp())
                    .sum();
                near / (c.len() as f64 * h * std::f64::consts::TAU.sqrt())
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn the_grid_agrees_with_the_definition() {
        let c: Vec<f64> = (0..400)
            .map(|i| (f64::from(i) * 0.37).sin().powi(3) * 50.0)
            .collect();
        let y: Vec<bool> = (0..400).map(|i| i % 3 == 0).collect();
        let e = population_estimate(&c, &y).unwrap().unwrap();
        let naive = naive_peak(&c, e.bandwidth);
        // Binning moves each point by at most h/16, the peak of the grid by as much.
        assert!(
            (e.density_max_estimate / naive - 1.0).abs() < 5e-3,
            "{e:?} {naive}"
        );
    }

    #[test]
    fn scaling_the_scores_scales_the_density_and_not_the_risk() {
        let c: Vec<f64> = (0..100).map(|i| (f64::from(i) * 0.7).sin()).collect();
        let y: Vec<bool> = (0..100).map(|i| i % 2 == 0).collect();
        let e = population_estimate(&c, &y).unwrap().unwrap();
        for scale in [2_f64.powi(-900), 2_f64.powi(900)] {
            let scaled: Vec<f64> = c.iter().map(|c| c * scale).collect();
            let s = population_estimate(&scaled, &y).unwrap().unwrap();
            assert_eq!(s.risk_upper_estimate, e.risk_upper_estimate);
            assert_eq!(s.density_max_estimate * scale, e.density_max_estimate);
        }
    }

    #[test]
    fn outliers_and_point_masses_stay_finite() {
        let y: Vec<bool> = (0..1000).map(|i| i % 2 == 0).collect();
        let mut c: Vec<f64> = y.iter().map(|&y| f64::from(u8::from(y))).collect();
        c[0] = 1e280;
        c[1] = 1e-300;
        assert!(population_estimate(&c, &y).unwrap().is_some());
        let mut c: Vec<f64> = (0..1000).map(|i| f64::from(i) * 1e-300).collect();
        c[999] = 1.0;
        let e = population_estimate(&c, &y).unwrap();
        assert!(e.is_none_or(|e| e.risk_upper_estimate.is_finite()));
    }

    #[test]
    fn ties_across_the_classes_have_no_density() {
        let y: Vec<bool> = (0..1001).map(|i| i % 2 == 0).collect();
        let mut c = vec![0.0; 1001];
        c[1000] = 1.0;
        assert!(crate::objective::auc_risk::auc_risk(&c, &y).unwrap() > 0.49);
        assert!(population_estimate(&c, &y).unwrap().is_none());
        assert!(population_estimate(&[1.0; 4], &y[..4]).unwrap().is_none());
        let one_tie = [0.0, -0.0, 1.0, 2.0];
        assert!(population_estimate(&one_tie, &y[..4]).unwrap().is_none());
        let within = population_estimate(&[1.0, 0.0, 1.0, 0.5], &y[..4]);
        assert!(within.unwrap().is_some());
    }
}
