//! Points of the grid that may be chosen, and those whose ties must be looked at more closely first.
//!
//! A coarse solution has more examples near λ than are tied in the end. To solve every such point closely would cost more
//! than the rest of the grid, and most of them are bad anyway: only a point that would be chosen is worth it. It is
//! solved more and more closely, down to [`FINE`], until it has few ties; if it never has, it is collapsed and the
//! choice is made again. Points left open are worse than the choice, and are called collapsed as they stand.

use rayon::prelude::*;

use super::collapse::Ties;
use super::folds::{Judged, Search, Training, gave_up};
use super::{CrossValidated, FINE, Point, TuneParams, choose};
use crate::Result;
use crate::objective::ubauc::LeastSquares;
use crate::solver::ba_ubauc::BaUbaucParams;

/// A point, and whether its ties are in doubt.
pub(super) struct Candidate {
    pub(super) point: Point,
    pub(super) open: bool,
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
            open: worst == Ties::Many,
        }
    }
}

/// The points as they were found in the end, and the index of the choice.
pub(super) fn decide(
    search: &Search<'_>,
    candidates: Vec<Candidate>,
    params: &TuneParams,
) -> Result<(Vec<Point>, usize)> {
    let (mut points, mut open): (Vec<Point>, Vec<bool>) =
        candidates.into_iter().map(|c| (c.point, c.open)).unzip();
    let chosen = loop {
        let [best, chosen] = choose(&points, params)?;
        let Some(k) = [best, chosen].into_iter().find(|&k| open[k]) else {
            break chosen;
        };
        points[k] = search.closer(&points[k])?;
        open[k] = false;
    };
    for (point, open) in points.iter_mut().zip(open) {
        point.collapsed |= open;
    }
    Ok((points, chosen))
}

impl Search<'_> {
    /// A point solved so closely that its ties are certain.
    fn closer(&self, point: &Point) -> Result<Point> {
        let folds: Vec<Judged> = self
            .trainings()?
            .par_iter()
            .map(|training| self.closer_on(training, point))
            .collect::<Result<_>>()?;
        let at = (point.beta, point.gamma, point.least_squares);
        let Candidate { mut point, open } = Candidate::new(at, &folds);
        point.collapsed |= open;
        Ok(point)
    }

    fn closer_on(&self, training: &Training, point: &Point) -> Result<Judged> {
        let mut params = self
            .params
            .batch(point.beta, point.gamma, point.least_squares);
        let mut path = self.path(training, point.least_squares)?;
        let mut found = path.fit(&params)?;
        while Ties::of(found.tied, self.allowed(training)) == Ties::Many && params.tolerance > FINE
        {
            params = BaUbaucParams {
                tolerance: (0.1 * params.tolerance).max(FINE),
                ..params
            };
            let finer = path.fit(&params)?;
            if gave_up(&finer) {
                break;
            }
            found = finer;
        }
        self.judged(training, &found)
    }
}
