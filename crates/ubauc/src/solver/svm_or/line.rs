//! The minimum of P along a line, w + tΔ with t ≥ 0, from the scores alone.
//!
//! ```text
//! φ(t) = ½‖w‖² + t w·Δ + ½t²‖Δ‖² + C L(c + tδ),   δ = XΔ
//! ```
//!
//! An evaluation at a t costs one sort, O(N log N), and gives L and its slope there. Between a t that descends and one that
//! ascends, the two tangents of L and the square, which is known, make a lower bound of φ, whose minimum is the next t.
//! The search ends when the bound is near the best φ.

use super::pairs::Pairs;
use crate::Result;

/// Looks in one search.
const MAX_LOOKS: usize = 20;
/// No t nearer to an end than this share of the interval.
const MARGIN: f64 = 1e-3;

/// P along the line.
pub(super) struct Line<'a> {
    /// ‖w‖², w·Δ, ‖Δ‖².
    pub(super) square: [f64; 3],
    pub(super) c: f64,
    pub(super) scores: &'a [f64],
    pub(super) along: &'a [f64],
}

/// An evaluation at a t.
#[derive(Clone, Copy)]
pub(super) struct Evaluation {
    pub(super) t: f64,
    /// φ(t).
    pub(super) value: f64,
    /// C L, and its slope.
    loss: f64,
    loss_slope: f64,
    /// φ'(t).
    slope: f64,
}

impl Line<'_> {
    /// The best t seen; φ there is at most `tolerance` above the minimum, unless the evaluations run out.
    pub(super) fn search(&self, pairs: &mut Pairs<'_>, tolerance: f64) -> Result<Evaluation> {
        let mut left = self.evaluate(pairs, 0.0)?;
        if left.slope >= 0.0 {
            return Ok(left);
        }
        let mut right = self.evaluate(pairs, 1.0)?;
        let mut evaluations = 2;
        while right.slope < 0.0 && evaluations < MAX_LOOKS {
            left = right;
            right = self.evaluate(pairs, 2.0 * left.t)?;
            evaluations += 1;
        }
        while evaluations < MAX_LOOKS {
            let (t, bound) = self.bound(left, right);
            let best = left.value.min(right.value);
            if best - bound <= tolerance || !(left.t < t && t < right.t) {
                break;
            }
            let margin = MARGIN * (right.t - left.t);
            let evaluation = self.evaluate(pairs, t.clamp(left.t + margin, right.t - margin))?;
            if evaluation.slope < 0.0 {
                left = evaluation;
            } else {
                right = evaluation;
            }
            evaluations += 1;
        }
        Ok(if left.value <= right.value {
            left
        } else {
            right
        })
    }

    fn evaluate(&self, pairs: &mut Pairs<'_>, t: f64) -> Result<Evaluation> {
        pairs.sort(self.scores.iter().zip(self.along).map(|(c, d)| c + t * d))?;
        let (loss, loss_slope) = pairs.loss_and_slope(self.along);
        let (loss, loss_slope) = (self.c * loss, self.c * loss_slope);
        Ok(Evaluation {
            t,
            value: self.half_square(t) + loss,
            loss,
            loss_slope,
            slope: self.square_slope(t) + loss_slope,
        })
    }

    fn half_square(&self, t: f64) -> f64 {
        0.5 * self.square[0] + t * (self.square[1] + 0.5 * t * self.square[2])
    }

    fn square_slope(&self, t: f64) -> f64 {
        self.square[1] + t * self.square[2]
    }

    /// The minimum of the square and the larger of the two tangents: where, and what.
    fn bound(&self, left: Evaluation, right: Evaluation) -> (f64, f64) {
        // Where the square's slope meets that of a tangent, kept to the tangent's side of where they cross.
        let meet =
            |evaluation: Evaluation| -(self.square[1] + evaluation.loss_slope) / self.square[2];
        let at_zero =
            |evaluation: Evaluation| evaluation.loss - evaluation.t * evaluation.loss_slope;
        let cross = (at_zero(left) - at_zero(right)) / (right.loss_slope - left.loss_slope);
        let cross = if cross.is_finite() {
            cross.clamp(left.t, right.t)
        } else {
            right.t
        };
        let t = if meet(left) <= cross {
            meet(left)
        } else {
            meet(right).max(cross)
        };
        let tangent =
            |evaluation: Evaluation| evaluation.loss + (t - evaluation.t) * evaluation.loss_slope;
        (t, self.half_square(t) + tangent(left).max(tangent(right)))
    }
}
