//! s_i of positives and −s_i of negatives: a byte a row where the weights of a class are one number.

use std::ops::Range;

/// Rows of a piece: a multiple of the lanes of a sum.
pub(super) const PIECE: usize = 512;

/// The weight of every row of a shard, with the sign of its class.
#[derive(Debug, Clone)]
pub(super) enum Signed {
    /// Of each row.
    Each(Vec<f64>),
    /// Of positives and of negatives.
    Classes {
        positive: Vec<bool>,
        weights: [f64; 2],
    },
}

impl Signed {
    /// Of these rows. None of them is 0.
    pub(super) fn new(rows: impl Iterator<Item = f64> + Clone) -> Signed {
        let mut weights = [None; 2];
        let is_of_class = |s: f64| {
            let of_class: &mut Option<f64> = &mut weights[usize::from(s < 0.0)];
            *of_class.get_or_insert(s.abs()) == s.abs()
        };
        match rows.clone().all(is_of_class) {
            true => {
                let mut positive: Vec<bool> = rows.map(|s| s > 0.0).collect();
                positive.shrink_to_fit();
                Signed::Classes {
                    positive,
                    weights: weights.map(|weight| weight.unwrap_or(1.0)),
                }
            }
            false => Signed::Each(rows.collect()),
        }
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Signed::Each(each) => each.len(),
            Signed::Classes { positive, .. } => positive.len(),
        }
    }

    #[inline(always)]
    pub(super) fn at(&self, k: usize) -> f64 {
        match self {
            Signed::Each(each) => each[k],
            Signed::Classes { positive, weights } => of_class(positive[k], *weights),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = f64> + Clone + '_ {
        (0..self.len()).map(|k| self.at(k))
    }

    /// Those of at most [`PIECE`] rows, in the buffer where they must be made.
    #[inline]
    pub(super) fn piece<'p>(
        &'p self,
        rows: Range<usize>,
        buffer: &'p mut [f64; PIECE],
    ) -> &'p [f64] {
        match self {
            Signed::Each(each) => &each[rows],
            Signed::Classes { positive, weights } => {
                let out = &mut buffer[..rows.len()];
                for (out, positive) in out.iter_mut().zip(&positive[rows]) {
                    *out = of_class(*positive, *weights);
                }
                out
            }
        }
    }

    /// Those of positives and of negatives times these.
    pub(super) fn scale(&mut self, [of_positives, of_negatives]: [f64; 2]) {
        match self {
            Signed::Each(each) => {
                for s in each {
                    *s *= if *s > 0.0 { of_positives } else { of_negatives };
                }
            }
            Signed::Classes { weights, .. } => {
                weights[0] *= of_positives;
                weights[1] *= of_negatives;
            }
        }
    }
}

#[inline(always)]
fn of_class(positive: bool, [of_positives, of_negatives]: [f64; 2]) -> f64 {
    if positive {
        of_positives
    } else {
        -of_negatives
    }
}
