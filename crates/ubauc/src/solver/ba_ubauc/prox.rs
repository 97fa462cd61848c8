//! λ, by which the multipliers balance.
//!
//! R(λ) = Σ_i clip(σ(v_i − λ), lo_i, hi_i) falls from N⁻ to −N⁺, continuous and piecewise linear with slope
//! −σ·|A(λ)|. Newton's method on it ends on the right piece after few steps; where it is flat or Newton leaves the
//! bracket, the secant of the bracket's ends and its middle take turns, which cannot fail.
//!
//! Where rows are remote, each round asks for R at a fan of λ: the best guess, and points on both sides of it that come
//! nearer by a factor. The ends of the bracket they leave have values and slopes, and the next guess is the root of the
//! cubic through both, whose error is of fourth order in the width: three rounds or so.

use crate::Result;
use crate::solver::shards::{Balance, Shards};

/// Points on each side of a fan, and how much nearer each is than the one before.
const FAN: i32 = 3;
const NEARER: f64 = 1.0 / 64.0;
/// |R|/N at which a search of remote rows ends.
const REMOTE_ENOUGH: f64 = 1e-12;

/// R(λ) = 0, to rounding, and what was found there, Σ u⁺dz with it if `slope`. `start` is where to look first.
pub(super) fn balance(
    shards: &mut Shards<'_>,
    start: f64,
    sigma: f64,
    slope: bool,
) -> Result<(f64, Balance)> {
    let search = Search {
        low: (f64::NEG_INFINITY, None),
        high: (f64::INFINITY, None),
        sigma,
    };
    match shards.is_remote() {
        true => search.by_fans(shards, start, slope),
        false => search.by_points(shards, start, slope),
    }
}

/// The bracket: R > 0 at `low`, R < 0 at `high`, as found there.
struct Search {
    low: (f64, Option<Balance>),
    high: (f64, Option<Balance>),
    sigma: f64,
}

impl Search {
    fn within(&self, lambda: f64) -> bool {
        lambda > self.low.0 && lambda < self.high.0
    }

    fn narrow(&mut self, lambda: f64, found: Balance) {
        if found.sum() > 0.0 && lambda > self.low.0 {
            self.low = (lambda, Some(found));
        } else if found.sum() < 0.0 && lambda < self.high.0 {
            self.high = (lambda, Some(found));
        }
    }

    fn by_points(
        mut self,
        shards: &mut Shards<'_>,
        start: f64,
        slope: bool,
    ) -> Result<(f64, Balance)> {
        let total = shards.total;
        let enough = 1e-15 * total.sum();
        let mut lambda = start;
        let sigma = self.sigma;
        let mut reach = shards.mean_weight() / sigma;
        let mut at = |lambda: f64, slope: bool| -> Result<Balance> {
            let found = shards.balance(&[lambda], sigma, slope)?;
            Ok(found.into_iter().next().unwrap_or_default())
        };
        let mut found = at(lambda, false)?;
        for round in 0..300 {
            if found.sum().abs() <= enough {
                break;
            }
            self.narrow(lambda, found);
            let newton = lambda + found.sum() / (sigma * found.active);
            let next = if let ((low, Some(at_low)), (high, Some(at_high))) = (self.low, self.high) {
                let (at_low, at_high) = (at_low.sum(), at_high.sum());
                let secant = low + (high - low) * at_low / (at_low - at_high);
                if round < 50 && self.within(newton) {
                    newton
                } else if round % 2 == 0 && self.within(secant) {
                    secant
                } else {
                    0.5 * (low + high)
                }
            } else {
                // No bracket yet: as far as Newton says, and further every time.
                reach *= 4.0;
                let step = (newton - lambda).abs().clamp(0.0, reach);
                lambda + if step > 0.0 { step } else { reach }.copysign(found.sum())
            };
            if !self.within(next) || next == lambda {
                break;
            }
            lambda = next;
            found = at(lambda, false)?;
        }
        if slope {
            found = at(lambda, true)?;
        }
        Ok((lambda, found))
    }

    fn by_fans(
        mut self,
        shards: &mut Shards<'_>,
        start: f64,
        slope: bool,
    ) -> Result<(f64, Balance)> {
        // A few thousand roundings: another round would cost more than it gains.
        let enough = REMOTE_ENOUGH * shards.total.sum();
        let (mut guess, mut reach) = (start, shards.mean_weight() / self.sigma);
        let mut best = (start, None::<Balance>);
        for round in 0..100 {
            let mut lambdas: Vec<f64> = (0..FAN)
                .flat_map(|k| {
                    let step = reach * NEARER.powi(k);
                    [guess - step, guess + step]
                })
                .chain([guess])
                .collect();
            lambdas.retain(|&lambda| round == 0 || self.within(lambda));
            lambdas.sort_unstable_by(f64::total_cmp);
            lambdas.dedup();
            if lambdas.is_empty() {
                break;
            }
            let before = (self.low.0, self.high.0);
            for (lambda, found) in lambdas
                .iter()
                .zip(shards.balance(&lambdas, self.sigma, slope)?)
            {
                if best
                    .1
                    .is_none_or(|best| found.sum().abs() < best.sum().abs())
                {
                    best = (*lambda, Some(found));
                }
                self.narrow(*lambda, found);
            }
            if best.1.is_some_and(|best| best.sum().abs() <= enough) {
                break;
            }
            (guess, reach) = match (self.low, self.high) {
                ((low, Some(at_low)), (high, Some(at_high))) => {
                    let width = high - low;
                    let root = low + width * self.cubic_root(width, &at_low, &at_high);
                    // A guess that has narrowed nothing gives way to the middle.
                    let stuck = before == (low, high);
                    let root = if stuck || !self.within(root) {
                        0.5 * (low + high)
                    } else {
                        root
                    };
                    (root, 0.25 * width)
                }
                // No bracket yet: further every time.
                ((low, Some(_)), _) => (low + 16.0 * reach, 16.0 * reach),
                (_, (high, _)) => (high - 16.0 * reach, 16.0 * reach),
            };
        }
        Ok((best.0, best.1.unwrap_or_default()))
    }

    /// The root in [0, 1] of the cubic with these values and slopes at its ends.
    fn cubic_root(&self, width: f64, low: &Balance, high: &Balance) -> f64 {
        let slope = |at: &Balance| -self.sigma * at.active * width;
        let (a, b, da, db) = (low.sum(), high.sum(), slope(low), slope(high));
        let cubic = |x: f64| {
            let y = 1.0 - x;
            a * y * y * (1.0 + 2.0 * x) + b * x * x * (1.0 + 2.0 * y) + x * y * (da * y - db * x)
        };
        let (mut from, mut to) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (from + to);
            if cubic(middle) > 0.0 {
                from = middle;
            } else {
                to = middle;
            }
        }
        0.5 * (from + to)
    }
}
