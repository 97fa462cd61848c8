//! The standard normal distribution, and Student's.
//!
//! With t = √ν·tan θ the density of Student's t is ∝ cos^{ν−1} θ, so that a share of ∫₀^θ cos^{ν−1} / ∫₀^{π/2} cos^{ν−1} lies
//! within ±t.

/// Φ(z), the share below z.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

/// Φ⁻¹, the point below which a share lies, by halving: slow and right to the last digits.
pub fn normal_quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if normal_cdf(middle) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// What 95 % of Student's distribution lie within, either side of 0, to five digits; `df` is at least 1.
pub(super) fn student_975(df: f64) -> f64 {
    const STEPS: u32 = 4000;
    if df > 1e6 {
        return normal_quantile(0.975);
    }
    // Beyond 30 standard deviations there is nothing, and long tails go to the end.
    let end = std::f64::consts::FRAC_PI_2.min(30.0 / df.sqrt());
    let step = end / f64::from(STEPS);
    let density = |k: u32| ((f64::from(k) + 0.5) * step).cos().powf(df - 1.0);
    let wanted = 0.95 * (0..STEPS).map(density).sum::<f64>();
    let (mut below, mut k) = (0.0, 0);
    while k < STEPS && below + density(k) < wanted {
        below += density(k);
        k += 1;
    }
    let within = f64::from(k) + (wanted - below) / density(k);
    df.sqrt() * (within * step).tan()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_those_of_tables() {
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
        for (df, point) in [
            (1.0, 12.706_205),
            (2.0, 4.302_653),
            (5.0, 2.570_582),
            (30.0, 2.042_272),
            (1000.0, 1.962_339),
            (1e6, 1.959_966),
        ] {
            assert!((student_975(df) / point - 1.0).abs() < 1e-5, "{df}");
        }
    }
}
