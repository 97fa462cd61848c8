//! λ at which the loss is least (of the hinge E1, with weights), and what counts as tied to it.

use rayon::prelude::*;

use super::shards::SoftPoint;
use crate::Result;
use crate::objective::loss::Loss;
use crate::objective::sum::Sum;
use crate::objective::ubauc::Chunk;

/// Scores this near to λ count as tied to it; labels, which they are fitted to, are 2 apart.
pub(super) const TIED: f64 = 1e-4;
/// Sums of weights that differ by less than this part are equal: they are sums of floating point numbers.
pub(super) const EQUAL: f64 = 1e-12;
/// λ of the soft loss is exact when a Newton step in it is below this share of κ.
const EXACT: f64 = 1e-14;
const MAX_STEPS: usize = 200;
/// The first stride in λ, times κ.
const STRIDE: f64 = 16.0;
/// Rows that are summed in one go, in whichever thread.
const ROWS: usize = 1 << 13;

/// The closed interval of λ that minimise Σ s_i φ(y_i(λ − z_i)); of the soft loss it is one point.
pub(super) fn best_lambda(chunk: Chunk<'_>, loss: Loss) -> Result<[f64; 2]> {
    let ones;
    let weights = match chunk.weights {
        Some(weights) => weights,
        None => {
            ones = vec![1.0; chunk.scores.len()];
            &ones
        }
    };
    let of_positives = weights.iter().zip(chunk.positive).filter(|(_, y)| **y);
    let n_pos = of_positives.map(|(s, _)| s).sum();
    let [low, high] = threshold(chunk.scores, weights, n_pos);
    let softness = match loss {
        Loss::Hinge => return Ok([low, high]),
        Loss::Soft { softness } => softness,
    };
    let chunk = Chunk {
        weights: Some(weights),
        ..chunk
    };
    let at = |lambda: f64| Ok(soft_slope(chunk, loss, lambda));
    let start = at(0.5 * (low + high))?;
    let lambda = balanced(start, softness, 0.0, at)?;
    Ok([lambda, lambda])
}

/// Slope and curvature in λ of Σ s_i φ(y_i(λ − z_i)), the same bits for any number of threads; no value.
fn soft_slope(chunk: Chunk<'_>, loss: Loss, lambda: f64) -> SoftPoint {
    let some = |start: usize| {
        let (mut slope, mut curvature) = (Sum::default(), Sum::default());
        let end = chunk.scores.len().min(start + ROWS);
        for i in start..end {
            let y = if chunk.positive[i] { 1.0 } else { -1.0 };
            let s = chunk.weights.map_or(1.0, |weights| weights[i]);
            let at = loss.at(y * (lambda - chunk.scores[i]));
            slope.add(s * y * at.multiplier);
            curvature.add(s * at.curvature);
        }
        [slope.total(), curvature.total()]
    };
    let starts = (0..chunk.scores.len()).into_par_iter().step_by(ROWS);
    let parts: Vec<[f64; 2]> = starts.map(some).collect();
    let (mut slope, mut curvature) = (Sum::default(), Sum::default());
    for part in parts {
        slope.add(part[0]);
        curvature.add(part[1]);
    }
    SoftPoint {
        lambda,
        value: 0.0,
        slope: slope.total(),
        curvature: curvature.total(),
    }
}

/// λ at which the slope vanishes, which rises with λ, by Newton's method within what is known to hold it; `near` is a step that
/// is the last one. Where it is not yet enclosed, a step is no longer than a stride that grows: far from the rows the
/// curvature is next to nothing, and 1 over it no step to take.
pub(super) fn balanced(
    mut at: SoftPoint,
    softness: f64,
    near: f64,
    mut slope: impl FnMut(f64) -> Result<SoftPoint>,
) -> Result<f64> {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut stride = STRIDE * softness.max(f64::MIN_POSITIVE);
    for _ in 0..MAX_STEPS {
        match at.slope > 0.0 {
            true => high = at.lambda,
            false => low = at.lambda,
        }
        let step = -at.slope / at.curvature;
        let is_enclosed = low.is_finite() && high.is_finite();
        let mut next = at.lambda + step;
        let is_inside = next > low && next < high;
        if at.slope == 0.0 || next == at.lambda {
            next = at.lambda;
        } else if is_enclosed && !is_inside {
            next = 0.5 * (low + high);
        } else if !is_enclosed && (step.is_nan() || step.abs() > stride) {
            next = at.lambda - stride.copysign(at.slope);
            stride *= 4.0;
        } else if step.abs() <= near {
            return Ok(next);
        }
        if next == at.lambda || step.abs() <= EXACT * softness {
            break;
        }
        at = slope(next)?;
    }
    Ok(at.lambda)
}

/// The closed interval of λ that minimise Σ s_i [y_i(λ − z_i)]₊, E1 with weights:
/// Σ s_i 1[z_i > λ] ≤ N⁺ ≤ Σ s_i 1[z_i ≥ λ], whatever the classes.
pub(super) fn threshold(z: &[f64], weights: &[f64], n_pos: f64) -> [f64; 2] {
    // A row may be part of each class, so that N⁺ need not be whole, nor, by rounding, below the number of rows.
    if n_pos.fract() == 0.0 && weights.iter().all(|&s| s == 1.0 || s == 0.0) {
        let used = z.iter().zip(weights).filter(|(_, s)| **s > 0.0);
        let used: Vec<f64> = used.map(|(z, _)| *z).collect();
        if n_pos < used.len() as f64 {
            return unit_threshold(used, n_pos);
        }
    }
    let mut order: Vec<u32> = (0..z.len() as u32)
        .filter(|&i| weights[i as usize] > 0.0)
        .collect();
    order.sort_unstable_by(|&a, &b| z[b as usize].total_cmp(&z[a as usize]));
    // From the top down: `above` is the weight of everything strictly above the group.
    let mut above = 0.0;
    let mut at = 0;
    while at < order.len() {
        let value = z[order[at] as usize];
        let mut here = 0.0;
        while at < order.len() && z[order[at] as usize] == value {
            here += weights[order[at] as usize];
            at += 1;
        }
        let below = order.get(at).map(|&i| z[i as usize]);
        let reached = above + here;
        if (reached - n_pos).abs() <= EQUAL * n_pos {
            return [below.unwrap_or(value), value];
        }
        if reached > n_pos {
            return [value, value];
        }
        above = reached;
    }
    let lowest = order.last().map_or(0.0, |&i| z[i as usize]);
    [lowest, lowest]
}

/// The same where every weight is 1: order statistics N⁻ and N⁻ + 1, by selection.
pub(super) fn unit_threshold(mut z: Vec<f64>, n_pos: f64) -> [f64; 2] {
    let at = z.len() - n_pos as usize;
    let (below, &mut high, _) = z.select_nth_unstable_by(at, f64::total_cmp);
    let low = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    [low, high]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slope, summed plainly, vanishes; and a small softness leads to the interval of the hinge.
    #[test]
    fn soft_lambda_balances_both_sides() {
        let z: Vec<f64> = (0..20_000)
            .map(|i| f64::from(i * 7919 % 20_011) / 1e3)
            .collect();
        let positive: Vec<bool> = z
            .iter()
            .map(|z| ((z * 1e3) as u32).is_multiple_of(3))
            .collect();
        let weights: Vec<f64> = (0..20_000).map(|i| f64::from(i % 4)).collect();
        for weights in [None, Some(&weights[..])] {
            let chunk = Chunk {
                scores: &z,
                positive: &positive,
                weights,
            };
            for softness in [1e-3, 0.1, 1.0, 100.0] {
                let loss = Loss::Soft { softness };
                let [lambda, same] = best_lambda(chunk, loss).unwrap();
                assert_eq!(lambda, same);
                let mut slope = 0.0;
                for i in 0..z.len() {
                    let y = if positive[i] { 1.0 } else { -1.0 };
                    let s = weights.map_or(1.0, |weights| weights[i]);
                    slope += s * y / (1.0 + (-y * (lambda - z[i]) / softness).exp());
                }
                assert!(slope.abs() < 1e-8, "{softness}: {slope:e}");
            }
            let [low, high] = best_lambda(chunk, Loss::Hinge).unwrap();
            let [lambda, _] = best_lambda(chunk, Loss::Soft { softness: 1e-6 }).unwrap();
            assert!(low - 1e-4 <= lambda && lambda <= high + 1e-4);
        }
    }

    #[test]
    fn threshold_is_between_the_order_statistics() {
        let z = [3.0, 1.0, 2.0, 5.0, 4.0];
        assert_eq!(threshold(&z, &[1.0; 5], 2.0), [3.0, 4.0]);
        assert_eq!(threshold(&z, &[1.0; 5], 1.0), [4.0, 5.0]);
        assert_eq!(threshold(&z, &[1.0; 5], 1.5), [4.0, 4.0]);
        assert_eq!(threshold(&z, &[1.0; 5], 0.5), [5.0, 5.0]);
        assert_eq!(threshold(&[2.0, 2.0, 1.0], &[1.0; 3], 1.0), [2.0, 2.0]);
        assert_eq!(threshold(&z, &[1.0, 1.0, 1.0, 0.5, 1.0], 1.0), [4.0, 4.0]);
        assert_eq!(threshold(&z, &[1.0, 1.0, 1.0, 0.0, 1.0], 1.0), [3.0, 4.0]);
        // Parts of rows that rounding makes whole: all of them positive, but for less than an ulp.
        assert_eq!(threshold(&z, &[1.0; 5], 5.0), [1.0, 1.0]);
    }
}
