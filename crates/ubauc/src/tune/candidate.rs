//! Points of the grid that may be chosen.
//!
//! The ties of a coarse solution tell little: examples are pulled onto λ as the gap closes, so that most collapsed points
//! show themselves only then (and a few that seem so are not). To solve every point closely would cost more than the
//! rest of the grid. So the point that would be chosen is solved to [`FINE`] on every fold, and judged anew; if it has
//! collapsed the choice is made again. The other points keep what the coarse solution said.

use rayon::prelude::*;

use super::collapse::Ties;
use super::folds::{Judged, Search, Training};
use super::{CrossValidated, FINE, Point, TuneParams, choose};
use crate::Result;
use crate::objective::ubauc::LeastSquares;
use crate::solver::ba_ubauc::BaUbaucParams;

/// A point, and whether it has too many ties as it stands.
pub(super) struct Candidate {
    pub(super) point: Point,
    pub(super) many: bool,
}

impl Candidate {
    /// Means over the folds.
    pub(super) fn new(
        (beta, gamma, least_squares): (f64, f64, LeastSquares),
        folds: &[Judged],
    ) -> Candidate {
        let worst = folds.iter().map(|f| f.ties).max().unwrap_or(Ties::Few);
        Candidate {
            point: Point {
                beta,
                gamma,
                least_squares,
                tied_share: folds.iter().map(|f| f.tied_share).fold(0.0, f64::max),
                collapsed: worst == Ties::Collapse,
                judged: CrossValidated::of(folds.iter().map(|f| f.auc).collect()),
            },
            many: worst == Ties::Many,
        }
    }
}

/// The points as they were found in the end, and the index of the choice.
pub(super) fn decide(
    search: &Search<'_>,
    candidates: Vec<Candidate>,
    params: &TuneParams,
) -> Result<(Vec<Point>, usize)> {
    let (mut points, many): (Vec<Point>, Vec<bool>) =
        candidates.into_iter().map(|c| (c.point, c.many)).unzip();
    let mut certain = vec![false; points.len()];
    let chosen = loop {
        let [best, chosen] = choose(&points, params)?;
        let Some(k) = [best, chosen].into_iter().find(|&k| !certain[k]) else {
            break chosen;
        };
        points[k] = search.closely(&points[k])?;
        certain[k] = true;
    };
    for ((point, many), certain) in points.iter_mut().zip(many).zip(certain) {
        point.collapsed |= many && !certain;
    }
    Ok((points, chosen))
}

impl Search<'_> {
    /// A point solved so closely that its ties are certain.
    fn closely(&self, point: &Point) -> Result<Point> {
        let folds: Vec<Judged> = self
            .trainings()?
            .par_iter()
            .map(|training| self.closely_on(training, point))
            .collect::<Result<_>>()?;
        let at = (point.beta, point.gamma, point.least_squares);
        let Candidate { mut point, many } = Candidate::new(at, &folds);
        point.collapsed |= many;
        Ok(point)
    }

    fn closely_on(&self, training: &Training, point: &Point) -> Result<Judged> {
        let coarse = self
            .params
            .batch(point.beta, point.gamma, point.least_squares);
        let fine = BaUbaucParams {
            tolerance: coarse.tolerance.min(FINE),
            ..coarse
        };
        let found = self.path(training, point.least_squares)?.fit(&fine)?;
        self.judged(training, &found)
    }
}
