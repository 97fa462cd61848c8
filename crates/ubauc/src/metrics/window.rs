//! AUC of the last W examples of a stream, exactly: their scores are kept. Memory 16·W bytes.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::auc::{Auc, auc};
use super::order::nan_score;
use crate::{Error, Result};

/// The longest window: what is kept is saved with every checkpoint.
const LONGEST: usize = 10_000_000;

/// The last W scores and their classes.
///
/// ```
/// let mut window = ubauc::metrics::WindowAuc::new(3)?;
/// for (score, positive) in [(0.1, true), (0.8, false), (0.2, false), (0.5, true)] {
///     window.add(score, positive)?;
/// }
/// assert_eq!(window.auc()?.auc, 0.5); // the first is out of it
/// # Ok::<(), ubauc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct WindowAuc {
    size: usize,
    /// Oldest first.
    last: VecDeque<(f64, bool)>,
}

impl WindowAuc {
    /// No examples yet; W from 1 to 10,000,000.
    pub fn new(size: usize) -> Result<WindowAuc> {
        match (1..=LONGEST).contains(&size) {
            true => Ok(WindowAuc {
                size,
                last: VecDeque::new(),
            }),
            false => Err(Error::Parameter {
                name: "window",
                value: size.to_string(),
                must: "from 1 to 10000000",
            }),
        }
    }

    /// Takes an example, and drops the one W before it. NaN is refused.
    pub fn add(&mut self, score: f64, positive: bool) -> Result<()> {
        if score.is_nan() {
            return Err(nan_score(self.last.len()));
        }
        if self.last.len() == self.size {
            self.last.pop_front();
        }
        self.last.push_back((score, positive));
        Ok(())
    }

    /// How many there are, W at the most.
    pub fn len(&self) -> usize {
        self.last.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// W.
    pub fn size(&self) -> usize {
        self.size
    }

    /// AUC of these; refused while there is only one class. O(W).
    pub fn auc(&self) -> Result<Auc> {
        let (scores, positive): (Vec<f64>, Vec<bool>) = self.last.iter().copied().unzip();
        auc(&scores, &positive)
    }
}

/// The same as it was read, before it is checked.
#[derive(Deserialize)]
struct Saved {
    size: usize,
    last: VecDeque<(f64, bool)>,
}

impl TryFrom<Saved> for WindowAuc {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<WindowAuc> {
        let mut window = WindowAuc::new(saved.size)?;
        if saved.last.len() > saved.size || saved.last.iter().any(|x| x.0.is_nan()) {
            return Err(Error::Numerical {
                what: "no window of scores can be in this state",
            });
        }
        window.last = saved.last;
        Ok(window)
    }
}
