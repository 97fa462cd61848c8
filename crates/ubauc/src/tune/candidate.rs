//! Points of the grid that may be chosen.
//!
//! The ties of a coarse solution tell little: examples are pulled onto λ as the gap closes, so that most collapsed points
//! show themselves only then (and a few that seem so are not). To solve every point closely would cost more than the
//! rest of the grid. So the point that would be chosen is solved to [`FINE`](super::FINE) on every fold, and judged again; if it has
//! collapsed the choice is made again. The other points keep what the coarse solution said.

use rayon::prelude::*;

use super::collapse::Ties;
use super::folds::{Judged, Search};
use super::{CrossValidated, GridPoint, TuneParams, choose};
use crate::Result;
use crate::objective::ubauc::LeastSquares;

/// A point, and whether it has too many ties as it stands.
pub(super) struct Candidate {
    pub(super) point: GridPoint,
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
            point: GridPoint {
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

/// The points as they were found in the end, the index of the choice, and its scores of the examples that judge each
/// fold.
pub(super) fn decide(
    search: &Search<'_>,
    candidates: Vec<Candidate>,
    params: &TuneParams,
) -> Result<(Vec<GridPoint>, usize, Vec<Vec<f64>>)> {
    let (mut points, many): (Vec<GridPoint>, Vec<bool>) =
        candidates.into_iter().map(|c| (c.point, c.many)).unzip();
    let mut close: Vec<Option<Vec<Vec<f64>>>> = vec![None; points.len()];
    let chosen = loop {
        let [best, chosen] = choose(&points, params)?;
        let Some(k) = [best, chosen].into_iter().find(|&k| close[k].is_none()) else {
            break chosen;
        };
        let (point, scores) = search.closely(&points[k])?;
        points[k] = point;
        close[k] = Some(scores);
    };
    for ((point, many), close) in points.iter_mut().zip(many).zip(&close) {
        point.collapsed |= many && close.is_none();
    }
    let scores = close.swap_remove(chosen).unwrap_or_default();
    Ok((points, chosen, scores))
}

impl Search<'_> {
    /// A point solved so closely that its ties are certain, with its scores.
    fn closely(&self, point: &GridPoint) -> Result<(GridPoint, Vec<Vec<f64>>)> {
        let folds: Vec<(Judged, Vec<f64>)> = self
            .trainings()?
            .par_iter()
            .map(|training| {
                let found = self.fit_closely(training, point)?;
                let scores = training.scores_of(&found);
                Ok((self.judged(training, &found)?, scores))
            })
            .collect::<Result<_>>()?;
        let (folds, scores): (Vec<Judged>, Vec<Vec<f64>>) = folds.into_iter().unzip();
        let at = (point.beta, point.gamma, point.least_squares);
        let Candidate { mut point, many } = Candidate::new(at, &folds);
        point.collapsed |= many;
        Ok((point, scores))
    }
}
