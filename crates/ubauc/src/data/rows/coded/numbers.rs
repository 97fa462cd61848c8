//! Columns of numbers that are standardised where they are read, so that a table's own columns serve as they are.
//!
//!   x̃ = (x/unit − mean)/deviation,    0 where x is missing (NaN).
//!
//! A column of which a value would leave the numbers that products are safe with is copied, standardised with care, so
//! that reading needs no check. Both ways give the same bits.

use std::sync::Arc;

use super::blocks::Places;

/// No standardised number is larger: a product with it stays a number.
const LARGEST: f64 = 1e100;

/// How numbers are standardised.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standard {
    unit: f64,
    mean: f64,
    deviation: f64,
}

impl Standard {
    /// (x/unit − mean)/deviation.
    pub(crate) fn new(unit: f64, mean: f64, deviation: f64) -> Standard {
        Standard {
            unit,
            mean,
            deviation,
        }
    }

    /// x̃ without a look at what becomes of it.
    #[inline(always)]
    fn quick(&self, x: f64) -> f64 {
        let x = if self.unit == 1.0 { x } else { x / self.unit };
        (x - self.mean) / self.deviation
    }

    /// x̃, within ±[`LARGEST`].
    #[inline]
    pub(crate) fn of(&self, x: f64) -> f64 {
        let z = self.quick(x);
        if z.abs() <= LARGEST {
            z
        } else {
            self.careful(x)
        }
    }

    #[inline(never)]
    fn careful(&self, x: f64) -> f64 {
        if x.is_nan() {
            return 0.0;
        }
        let Standard {
            unit,
            mean,
            deviation,
        } = *self;
        let x = x / unit;
        let from_mean = x - mean;
        let z = match from_mean.is_finite() {
            true => from_mean / deviation,
            false => x / deviation - mean / deviation,
        };
        z.clamp(-LARGEST, LARGEST)
    }

    /// Whether x̃ needs no care.
    #[inline]
    fn is_quick(&self, x: f64) -> bool {
        x.is_nan() || self.quick(x).abs() <= LARGEST
    }
}

/// One feature of every row.
#[derive(Debug, Clone)]
pub(crate) struct NumberColumn {
    values: Arc<Vec<f64>>,
    standard: Standard,
}

impl NumberColumn {
    /// Numbers as they are; finite.
    pub(crate) fn of(values: Vec<f64>) -> NumberColumn {
        NumberColumn {
            values: values.into(),
            standard: Standard::new(1.0, 0.0, 1.0),
        }
    }

    /// The values of a table, finite or NaN, which are copied only where they must be.
    pub(crate) fn standardised(values: &Arc<Vec<f64>>, standard: Standard) -> NumberColumn {
        match values.iter().all(|x| standard.is_quick(*x)) {
            true => NumberColumn {
                values: Arc::clone(values),
                standard,
            },
            false => NumberColumn::of(values.iter().map(|x| standard.of(*x)).collect()),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// x̃_i.
    #[inline(always)]
    pub(crate) fn at(&self, i: usize) -> f64 {
        present(self.standard.quick(self.values[i]))
    }

    /// The rows at these places, in this order.
    pub(super) fn gathered(&self, places: &[usize]) -> NumberColumn {
        let values: Vec<f64> = places.iter().map(|&i| self.values[i]).collect();
        NumberColumn {
            values: values.into(),
            standard: self.standard,
        }
    }

    /// x̃ of each row of a block, with a number that is kept for it.
    #[inline(always)]
    pub(super) fn each(
        &self,
        places: Places<'_>,
        kept: &mut [f64],
        mut with: impl FnMut(&mut f64, f64),
    ) {
        let Standard {
            unit,
            mean,
            deviation,
        } = self.standard;
        let standard = |x: f64| present((x - mean) / deviation);
        match places {
            Places::Span(start) => {
                let values = &self.values[start..start + kept.len()];
                let all = kept.iter_mut().zip(values);
                match unit == 1.0 {
                    true => all.for_each(|(kept, x)| with(kept, standard(*x))),
                    false => all.for_each(|(kept, x)| with(kept, standard(*x / unit))),
                }
            }
            Places::List { start, at } => {
                let values = &self.values[start..];
                for (kept, &i) in kept.iter_mut().zip(at) {
                    let x = values[i as usize];
                    let x = if unit == 1.0 { x } else { x / unit };
                    with(kept, standard(x));
                }
            }
        }
    }
}

/// 0 for NaN.
#[inline(always)]
fn present(z: f64) -> f64 {
    if z.is_nan() { 0.0 } else { z }
}

/// The numbers of one row.
#[derive(Debug, Clone, Copy)]
pub struct Numbers<'a> {
    pub(super) columns: &'a [NumberColumn],
    pub(super) row: usize,
}

impl<'a> Numbers<'a> {
    /// Of a row without any.
    pub(crate) const NONE: Numbers<'static> = Numbers {
        columns: &[],
        row: 0,
    };

    /// How many there are, q.
    pub fn len(self) -> usize {
        self.columns.len()
    }

    /// No numbers.
    pub fn is_empty(self) -> bool {
        self.columns.is_empty()
    }

    /// Feature j, if it is one of them.
    #[inline]
    pub fn get(self, j: usize) -> Option<f64> {
        self.columns.get(j).map(|column| column.at(self.row))
    }

    /// Features 0 … q − 1.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = f64> + Clone + 'a {
        let row = self.row;
        self.columns.iter().map(move |column| column.at(row))
    }
}
