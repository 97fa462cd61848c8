//! The surrogate losses of pairs the paper compares with, without visiting the pairs.
//!
//! ```text
//! L = 1/(N⁺N⁻) Σ_{i∈+} Σ_{j∈−} ℓ(c_i − c_j),   ℓ(d) ≥ 1[d < 0], ℓ(0) = 1
//!
//! hinge        ℓ(d) = [1 − d]₊     O(N log N)   OAM [Zhao11], [Joachims05]
//! square       ℓ(d) = (1 − d)²     O(N)         OPAUC [Gao13], SOLAM [Ying16]
//! exponential  ℓ(d) = e^(−d)       O(N)         RankBoost [Freund03]
//! ```
//!
//! The paper prints e^(c_i − c_j), which grows as the ranking improves (E7), and gives SOLAM and OPAUC
//! the squared hinge [1 − d]₊² where both use the square (E9), with the citations of OPAUC and OAM
//! swapped (E8).
//!
//! Each is at least L_AUC. A value too large for an f64 comes back as +∞, never as NaN.

use super::sorted::{self, Sorted};
use super::sum::{Sum, sum};
use crate::Result;

/// Mean over pairs of [1 − (c_i − c_j)]₊.
///
/// Positives in descending order, H = Σ_j [1 + c_j − c_i]₊ carried from one to the next: going down by δ
/// adds δ for each of the m negatives already counted, and negatives above c_i − 1 join. Only additions
/// of terms ≥ 0: nothing cancels.
pub fn hinge(scores: &[f64], positive: &[bool]) -> Result<f64> {
    let Sorted { pos, neg } = Sorted::new(scores, positive)?;
    let mut negatives = neg.iter().rev().map(|c| 1.0 + c).peekable();
    let (mut h, mut m, mut previous) = (Sum::default(), 0.0, 0.0);
    let mut total = Sum::default();
    for &c in pos.iter().rev() {
        if m > 0.0 {
            h.add(m * (previous - c));
        }
        while let Some(join) = negatives.next_if(|&up| up > c) {
            h.add(join - c);
            m += 1.0;
        }
        previous = c;
        total.add(h.total() / neg.len() as f64);
    }
    Ok(total.total() / pos.len() as f64)
}

/// Mean over pairs of (1 − (c_i − c_j))².
///
/// With class means m and variances s² (divided by N⁺, N⁻):  (1 − (m⁺ − m⁻))² + s⁺² + s⁻².
/// Class means and (co)variances are all it needs: this is what lets OPAUC keep only those (E8).
pub fn square(scores: &[f64], positive: &[bool]) -> Result<f64> {
    let (n_pos, n_neg) = sorted::check(scores, positive)?;
    let moments = |class: bool, n: usize| {
        let c = || {
            scores
                .iter()
                .zip(positive)
                .filter(move |&(_, &p)| p == class)
                .map(|(&c, _)| c)
        };
        let mean = sum(c()) / n as f64;
        (mean, sum(c().map(|c| (c - mean).powi(2))) / n as f64)
    };
    let (mean_pos, var_pos) = moments(true, n_pos);
    let (mean_neg, var_neg) = moments(false, n_neg);
    Ok((1.0 - (mean_pos - mean_neg)).powi(2) + var_pos + var_neg)
}

/// Mean over pairs of e^(−(c_i − c_j)) (E7): the product of the means of e^(−c_i) and of e^(c_j).
pub fn exponential(scores: &[f64], positive: &[bool]) -> Result<f64> {
    let (n_pos, n_neg) = sorted::check(scores, positive)?;
    // mean e^x = e^M · mean e^(x − M) with M the largest x: the second factor lies in [1/n, 1].
    let shifted_mean = |class: bool, n: usize| {
        let x = || {
            let of_class = scores
                .iter()
                .zip(positive)
                .filter(move |&(_, &p)| p == class);
            of_class.map(move |(&c, _)| if class { -c } else { c })
        };
        let largest = x().fold(f64::NEG_INFINITY, f64::max);
        (largest, sum(x().map(|x| (x - largest).exp())) / n as f64)
    };
    let (max_pos, mean_pos) = shifted_mean(true, n_pos);
    let (max_neg, mean_neg) = shifted_mean(false, n_neg);
    let tail = mean_pos * mean_neg;
    // Twice half the exponent: e^709.9 overflows although e^709.9 · tail may not.
    let half = (0.5 * (max_pos + max_neg)).exp();
    Ok(half * tail * half)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The function under test, and ℓ.
    type Loss = (fn(&[f64], &[bool]) -> Result<f64>, fn(f64) -> f64);

    const LOSSES: [Loss; 3] = [
        (hinge, |d| (1.0 - d).max(0.0)),
        (square, |d| (1.0 - d).powi(2)),
        (exponential, |d| (-d).exp()),
    ];

    /// By the definition.
    fn by_pairs(scores: &[f64], positive: &[bool], loss: fn(f64) -> f64) -> f64 {
        let class = |p| {
            scores
                .iter()
                .zip(positive)
                .filter(move |&(_, &q)| p == q)
                .map(|(&c, _)| c)
        };
        let losses = class(true).flat_map(|a| class(false).map(move |b| loss(a - b)));
        let losses: Vec<f64> = losses.collect();
        losses.iter().sum::<f64>() / losses.len() as f64
    }

    #[test]
    fn equal_to_the_sum_over_pairs() {
        for n in [2_u32, 3, 10, 101] {
            // Halves make ties between and inside the classes, and gaps of exactly 1.
            let c: Vec<f64> = (0..n)
                .map(|i| f64::from(i * i * 7 % 13) / 2.0 - 3.0)
                .collect();
            let y: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
            for (fast, loss) in LOSSES {
                let (fast, slow) = (fast(&c, &y).unwrap(), by_pairs(&c, &y, loss));
                assert!(
                    (fast - slow).abs() <= 1e-13 * slow,
                    "n = {n}: {fast} {slow}"
                );
            }
        }
    }

    #[test]
    fn no_nan_at_any_size() {
        let y = [true, false, true, false];
        for c in [
            [1e280, -1e280, 0.0, 1.0],
            [-1e280, 1e280, 1e280, -1e280],
            [0.0; 4],
        ] {
            for (fast, _) in LOSSES {
                assert!(fast(&c, &y).unwrap() >= 0.0);
            }
        }
        // e^710 is out of range, a quarter of it is not.
        let c = [-355.0, 355.0, 1e6, -1e6];
        let quarter = exponential(&c, &y).unwrap();
        assert!((quarter.ln() - (710.0 - 4.0_f64.ln())).abs() < 1e-12);
    }
}
