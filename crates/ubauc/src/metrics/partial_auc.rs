//! Partial AUC: the area of that part of the ROC curve in which a scorer will be used.
//!
//!   up to a false positive rate f:    A_f = ∫₀^f TPR dFPR
//!   from a true positive rate t on:   A_t = ∫_t^1 (1 − FPR) dTPR
//!
//! The second is the first for the curve turned by 180°, whose points are (1 − TPR, 1 − FPR), that
//! is, for negated scores and swapped classes, with f = 1 − t.
//!
//! The trapezoids left of the cut are added up as integers, so that f = 1 gives AUC to the last bit;
//! the one that the cut divides is interpolated on its straight line.
//!
//! McClish (1989) maps the area of the chance line to ½ and the largest area to 1:
//!
//!   ½ ( 1 + (A_f − f²/2) / (f − f²/2) )
//!
//! scikit-learn's `roc_auc_score(max_fpr=f)` is this standardised A_f.
//!
//! With weights the rates are shares of the weight of each class; the trapezoids are then added up in
//! compensated sums, each class in its own scale (`weighted_order.rs`).

use serde::Serialize;

use super::placement::half_pairs;
use super::roc::{RocCurve, roc_curve};
use super::weighted_order::{Sum, WeightedOrder};
use crate::{Error, Result};

/// Which part of the curve counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RocPart {
    /// False positive rates from 0 to this one, in (0, 1].
    MaxFpr(f64),
    /// True positive rates from this one, in [0, 1), to 1.
    MinTpr(f64),
}

impl RocPart {
    /// The length of the interval of rates.
    fn width(self) -> Result<f64> {
        let refuse = |name, value: f64, must| {
            Err(Error::Parameter {
                name,
                value: value.to_string(),
                must,
            })
        };
        match self {
            Self::MaxFpr(f) if f > 0.0 && f <= 1.0 => Ok(f),
            Self::MaxFpr(f) => refuse("max_fpr", f, "above 0 and at most 1"),
            Self::MinTpr(t) if (0.0..1.0).contains(&t) => Ok(1.0 - t),
            Self::MinTpr(t) => refuse("min_tpr", t, "at least 0 and below 1"),
        }
    }
}

/// Area of a part of the ROC curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartialAuc {
    /// Which part.
    pub part: RocPart,
    /// The area itself, at most f or 1 − t.
    pub raw: f64,
    /// McClish's standardised area: ½ for chance, 1 for a perfect scorer.
    pub standardised: f64,
}

/// Partial AUC of `scores`.
pub fn partial_auc(scores: &[f64], positive: &[bool], part: RocPart) -> Result<PartialAuc> {
    part.width()?; // a wrong parameter is cheaper to find than a curve
    roc_curve(scores, positive)?.partial_auc(part)
}

/// Partial AUC of `scores` where example i counts `weights[i]` times.
///
/// Weights must be finite and not negative; a class must have some weight.
pub fn weighted_partial_auc(
    scores: &[f64],
    positive: &[bool],
    weights: &[f64],
    part: RocPart,
) -> Result<PartialAuc> {
    let width = part.width()?;
    let order = WeightedOrder::new(scores, positive, weights)?;
    let raw = match part {
        RocPart::MaxFpr(_) => weighted_area(order.groups().rev().map(|g| (g.neg, g.pos)), width),
        RocPart::MinTpr(_) => weighted_area(order.groups().map(|g| (g.pos, g.neg)), width),
    };
    Ok(PartialAuc::standardised(part, raw, width))
}

impl PartialAuc {
    fn standardised(part: RocPart, raw: f64, width: f64) -> Self {
        let chance = width * width / 2.0;
        Self {
            part,
            raw,
            standardised: 0.5 * (1.0 + (raw - chance) / (width - chance)),
        }
    }
}

impl RocCurve {
    /// Area of a part of this curve.
    pub fn partial_auc(&self, part: RocPart) -> Result<PartialAuc> {
        let width = part.width()?;
        let (n_pos, n_neg) = (self.n_pos as u64, self.n_neg as u64);
        let points = self.fp.iter().zip(&self.tp);
        let raw = match part {
            RocPart::MaxFpr(_) => area(points.map(|(&fp, &tp)| (fp, tp)), n_neg, n_pos, width),
            RocPart::MinTpr(_) => {
                let turned = points.rev().map(|(&fp, &tp)| (n_pos - tp, n_neg - fp));
                area(turned, n_pos, n_neg, width)
            }
        };
        Ok(PartialAuc::standardised(part, raw, width))
    }
}

/// Area under the points (x, y) from 0 to `width`·`n_x`, in units of the `n_x` × `n_y` square.
fn area(points: impl Iterator<Item = (u64, u64)>, n_x: u64, n_y: u64, width: f64) -> f64 {
    let cut = width * n_x as f64;
    let mut twice_whole = 0_u128;
    let mut twice_divided = 0.0;
    let (mut x0, mut y0) = (0, 0);
    for (x1, y1) in points {
        if x1 as f64 > cut {
            let dx = cut - x0 as f64;
            let y = y0 as f64 + (y1 - y0) as f64 * (dx / (x1 - x0) as f64);
            twice_divided = dx * (y0 as f64 + y);
            break;
        }
        twice_whole += u128::from(x1 - x0) * u128::from(y0 + y1);
        (x0, y0) = (x1, y1);
    }
    (twice_whole as f64 + twice_divided) / half_pairs(n_x, n_y)
}

/// The same for a curve of `steps` (dx, dy) from (0, 0), in units of the rectangle that they span.
fn weighted_area(steps: impl Iterator<Item = (f64, f64)> + Clone, width: f64) -> f64 {
    // In the order of the walk below, which so ends exactly at the corner.
    let (w_x, w_y) = Sum::of_pairs(steps.clone());
    let cut = width * w_x;
    let (mut x, mut y, mut twice) = (Sum::default(), Sum::default(), Sum::default());
    for (dx, dy) in steps {
        let (x0, y0) = (x.value(), y.value());
        x.add(dx);
        y.add(dy);
        if x.value() > cut && dx > 0.0 {
            let inside = ((cut - x0) / dx).clamp(0.0, 1.0);
            twice.add(inside * dx * (2.0 * y0 + inside * dy));
            break;
        }
        twice.add(dx * (2.0 * y0 + dy));
    }
    (twice.value() / (2.0 * w_x * w_y)).clamp(0.0, width)
}
