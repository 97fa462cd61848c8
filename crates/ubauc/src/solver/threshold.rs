//! λ at which the hinge is least (E1, with weights), and what counts as tied to it.

/// Scores this near to λ count as tied to it; labels, which they are fitted to, are 2 apart.
pub(super) const TIED: f64 = 1e-4;
/// Sums of weights that differ by less than this part are equal: they are sums of floating point numbers.
pub(super) const EQUAL: f64 = 1e-12;

/// The closed interval of λ that minimise Σ s_i [y_i(λ − z_i)]₊, E1 with weights:
/// Σ s_i 1[z_i > λ] ≤ N⁺ ≤ Σ s_i 1[z_i ≥ λ], whatever the classes.
pub(super) fn threshold(z: &[f64], weights: &[f64], n_pos: f64) -> [f64; 2] {
    if weights.iter().all(|&s| s == 1.0 || s == 0.0) {
        let used = z.iter().zip(weights).filter(|(_, s)| **s > 0.0);
        return unit_threshold(used.map(|(z, _)| *z).collect(), n_pos);
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

    #[test]
    fn threshold_is_between_the_order_statistics() {
        let z = [3.0, 1.0, 2.0, 5.0, 4.0];
        assert_eq!(threshold(&z, &[1.0; 5], 2.0), [3.0, 4.0]);
        assert_eq!(threshold(&z, &[1.0; 5], 1.0), [4.0, 5.0]);
        assert_eq!(threshold(&[2.0, 2.0, 1.0], &[1.0; 3], 1.0), [2.0, 2.0]);
        assert_eq!(threshold(&z, &[1.0, 1.0, 1.0, 0.5, 1.0], 1.0), [4.0, 4.0]);
        assert_eq!(threshold(&z, &[1.0, 1.0, 1.0, 0.0, 1.0], 1.0), [3.0, 4.0]);
    }
}
