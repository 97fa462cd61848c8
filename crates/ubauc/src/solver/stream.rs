//! What a learner needs beyond [`Online`] to follow a stream: room for features that appear later, single weights,
//! and a check of a state that came from outside.

use super::passes::Online;
use crate::data::rows::Row;
use crate::{Error, Result};

/// A product is cut at this size, so that a sum of them is a number.
const LARGEST_TERM: f64 = 1e290;

/// An [`Online`] learner whose number of features may grow.
pub(crate) trait Streaming: Online {
    /// Room for this many features, no fewer than there are; what was learned stays. Scratch space, which is no part of a
    /// stored state, is made as well. Nothing has changed after an error.
    fn grow(&mut self, cols: usize) -> Result<()>;

    /// The weight of feature j that would be saved now.
    fn weight(&self, j: usize) -> f64;

    /// No row so far was longer than this.
    fn widen(&mut self, _norm: f64) -> Result<()> {
        Ok(())
    }

    /// Whether a learner of this many features can be in this state: its lengths, bounds and random numbers. Weights may
    /// have left the numbers, which is found where they are used.
    fn is_sound(&self, cols: usize) -> bool;
}

/// Makes room; a refusal changes nothing.
pub(crate) fn reserve<T>(numbers: &mut Vec<T>, len: usize) -> Result<()> {
    let more = len.saturating_sub(numbers.len());
    numbers.try_reserve(more).map_err(|_| Error::Numerical {
        what: "not enough memory for the weights of this many features",
    })
}

/// w·x + b feature by feature, in raw units. Features beyond the weights add 0, and products of numbers that are none are
/// cut; not a number where a weight is none.
pub(crate) fn raw_score(
    row: Row<'_>,
    cols: usize,
    b: f64,
    weight: impl Fn(usize) -> f64 + Copy,
) -> f64 {
    let terms = || {
        let entries = row.entries().filter(|&(j, x)| x != 0.0 && j < cols);
        entries.map(move |(j, x)| (weight(j), x))
    };
    let score = terms().fold(0.0, |sum, (w, x)| sum + w * x) + b;
    if score.is_finite() {
        return score;
    }
    if terms().any(|(w, _)| !w.is_finite()) {
        return f64::NAN;
    }
    let cut = |(w, x): (f64, f64)| (w * x).clamp(-LARGEST_TERM, LARGEST_TERM);
    terms().map(cut).sum::<f64>() + b
}
