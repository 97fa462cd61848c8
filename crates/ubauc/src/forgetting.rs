//! Exponential forgetting: an example counts half as much after N later ones.
//!
//! With ρ = 2^{−1/N}, example s has the weight ρ^{t−s} when t have come. Whatever was a sum over all examples becomes
//!
//! ```text
//! S_t = Σ_s ρ^{t−s} x_s = ρ S_{t−1} + x_t,      n_t = Σ_s ρ^{t−s} = ρ n_{t−1} + 1
//! ```
//!
//! n_t, the effective number of examples, takes the place of t: it is t at first and ends at 1/(1 − ρ), about N/ln 2 = 1.44N.
//!
//! To multiply thousands of sums by ρ at every example would cost O(d). So sums are kept in growing units, as g_t S_t with
//! g_t = ρ^{−t}: an example adds g_t x_t to those it touches, and quotients of two sums do not know of g. Before g is too large
//! for numbers all sums are divided by 2^128, which changes no digit of them, and g with them: O(d) once in 128 N examples.
//!
//! An N so large that 2^{1/N} is 1 in doubles forgets nothing, to the last bit.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Sums are divided by this before g exceeds it: 2^128.
const LARGEST_GAIN: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;
/// What takes O(d) is not done more often than this.
const SHORTEST_PERIOD: u64 = 1 << 10;

/// ρ, and where the stream stands.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub(crate) struct Forgetting {
    /// N.
    half_life: f64,
    /// ρ and 1/ρ: as made when the stream began, so that it goes on with the same bits anywhere.
    keep: f64,
    growth: f64,
    /// g of the next example.
    gain: f64,
    /// n of those so far.
    effective: f64,
}

impl Forgetting {
    /// Nothing seen yet.
    pub(crate) fn new(half_life: f64) -> Result<Forgetting> {
        check(half_life)?;
        Ok(Forgetting {
            half_life,
            keep: libm::exp2(-1.0 / half_life),
            growth: libm::exp2(1.0 / half_life),
            gain: 1.0,
            effective: 0.0,
        })
    }

    /// N.
    pub(crate) fn half_life(&self) -> f64 {
        self.half_life
    }

    /// ρ.
    pub(crate) fn keep(&self) -> f64 {
        self.keep
    }

    /// g_t of the example at hand.
    pub(crate) fn gain(&self) -> f64 {
        self.gain
    }

    /// n_t with the example at hand.
    pub(crate) fn effective(&self) -> f64 {
        self.keep * self.effective + 1.0
    }

    /// Goes on to the next example. Where there is a number all sums in growing units must be multiplied by it now.
    #[must_use]
    pub(crate) fn advance(&mut self) -> Option<f64> {
        self.effective = self.effective();
        self.gain *= self.growth;
        if self.gain < LARGEST_GAIN {
            return None;
        }
        self.gain /= LARGEST_GAIN;
        Some(1.0 / LARGEST_GAIN)
    }

    /// As if this many examples had come: n = (1 − ρ^t)/(1 − ρ).
    pub(crate) fn set_examples(&mut self, examples: u64) {
        let t = examples as f64;
        self.effective = match self.keep < 1.0 {
            true => {
                -libm::expm1(-std::f64::consts::LN_2 * (t / self.half_life)) / (1.0 - self.keep)
            }
            false => t,
        };
    }

    /// Whether it is time for what costs O(d), after this many examples: N rounded up to a power of two have come since
    /// the last time, and no fewer than 1,024.
    pub(crate) fn is_due(&self, examples: u64) -> bool {
        let period = match self.half_life < (1_u64 << 62) as f64 {
            true => (self.half_life.ceil() as u64).next_power_of_two(),
            false => 1 << 63,
        };
        examples.is_multiple_of(period.max(SHORTEST_PERIOD))
    }
}

/// Refuses half-lives that have no meaning.
pub(crate) fn check(half_life: f64) -> Result<()> {
    match half_life >= 1.0 && half_life.is_finite() {
        true => Ok(()),
        false => Err(Error::Parameter {
            name: "half_life",
            value: half_life.to_string(),
            must: "finite and at least 1",
        }),
    }
}

/// The same as it was read, before it is checked.
#[derive(Deserialize)]
struct Saved {
    half_life: f64,
    keep: f64,
    growth: f64,
    gain: f64,
    effective: f64,
}

impl TryFrom<Saved> for Forgetting {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Forgetting> {
        check(saved.half_life)?;
        let is_sound = (0.5..=1.0).contains(&saved.keep)
            && (1.0..=2.0).contains(&saved.growth)
            && (1.0..LARGEST_GAIN).contains(&saved.gain)
            && saved.effective >= 0.0
            && saved.effective.is_finite();
        if !is_sound {
            return Err(Error::Numerical {
                what: "no stream that forgets can be in this state",
            });
        }
        Ok(Forgetting {
            half_life: saved.half_life,
            keep: saved.keep,
            growth: saved.growth,
            gain: saved.gain,
            effective: saved.effective,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_in_growing_units_are_those_of_the_definition() {
        for half_life in [1.0, 1.5, 10.0, 777.0] {
            let mut forgetting = Forgetting::new(half_life).unwrap();
            let (mut sum, mut rescaled) = (0.0, 0);
            let x = |s: u32| f64::from(s * 37 % 101) - 20.0;
            for t in 0..2_000_u32 {
                sum += forgetting.gain() * x(t);
                let weight = |s: u32| 0.5_f64.powf(f64::from(t - s) / half_life);
                if t % 97 == 0 {
                    let expected: f64 = (0..=t).map(|s| weight(s) * x(s)).sum();
                    let n: f64 = (0..=t).map(weight).sum();
                    let found = sum / forgetting.gain();
                    assert!((found - expected).abs() < 1e-10 * n, "{found} {expected}");
                    assert!((forgetting.effective() - n).abs() < 1e-12 * n);
                    let mut set = Forgetting::new(half_life).unwrap();
                    set.set_examples(u64::from(t));
                    assert!((set.effective() - n).abs() < 1e-12 * n);
                }
                if let Some(factor) = forgetting.advance() {
                    sum *= factor;
                    rescaled += 1;
                }
            }
            // 2,000/128N times.
            assert_eq!(rescaled, (2_000.0 / (128.0 * half_life)) as i32);
        }
    }

    #[test]
    fn by_hand() {
        // N = 1: weights 1, ½, ¼; n = 1, 1½, 1¾.
        let mut forgetting = Forgetting::new(1.0).unwrap();
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.push((forgetting.gain(), forgetting.effective()));
            assert!(forgetting.advance().is_none());
        }
        assert_eq!(seen, [(1.0, 1.0), (2.0, 1.5), (4.0, 1.75)]);
    }

    #[test]
    fn a_giant_half_life_forgets_nothing() {
        let mut forgetting = Forgetting::new(1e300).unwrap();
        for t in 1..5_000 {
            assert_eq!((forgetting.gain(), forgetting.effective()), (1.0, t as f64));
            assert!(forgetting.advance().is_none() && !forgetting.is_due(t));
        }
        let due: Vec<u64> = (1..5_000)
            .filter(|&t| Forgetting::new(1_500.0).unwrap().is_due(t))
            .collect();
        assert_eq!(due, [2_048, 4_096]);
        assert!(Forgetting::new(3.0).unwrap().is_due(1_024));
    }

    #[test]
    fn what_is_no_half_life_is_refused() {
        for half_life in [0.0, 0.99, -5.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                Forgetting::new(half_life),
                Err(Error::Parameter {
                    name: "half_life",
                    ..
                })
            ));
        }
    }
}
