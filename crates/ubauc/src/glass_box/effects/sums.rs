//! What effects need of the rows: sums over the rows in each cell of each term, which can be merged.
//!
//! A term is a function of the cells of a row and, if it has a linear part, of a number z. With the sums of s, sz and sz²
//! over the rows of weight s in each cell, the mean and the deviation of any such function over all rows are known.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Readings, terms_of};
use crate::data::scale::check_each_weight;
use crate::data::table::Table;
use crate::features::columns::ColumnMap;
use crate::{Error, Result};

/// Of the rows in one cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct CellSum {
    /// Rows.
    pub(super) rows: u64,
    /// Σ s, Σ s z and Σ s z².
    pub(super) weight: f64,
    pub(super) number: f64,
    pub(super) square: f64,
}

/// Of one term: the cells of its sides with their sums, ascending.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TermSums(BTreeMap<Vec<u32>, CellSum>);

impl TermSums {
    pub(super) fn cells(&self) -> impl Iterator<Item = (&[u32], &CellSum)> {
        self.0.iter().map(|(cells, sum)| (cells.as_slice(), sum))
    }
}

/// Of all terms of a map, over the rows of a part of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EffectSums {
    terms: Vec<TermSums>,
}

impl EffectSums {
    /// Of the rows with a weight above 0, of all if there are no weights.
    pub fn of(map: &ColumnMap, table: &Table, weights: Option<&[f64]>) -> Result<EffectSums> {
        if let Some(weights) = weights {
            check_each_weight(weights, table.len())?;
        }
        map.check()?;
        let (readers, terms) = terms_of(map, &vec![0.0; map.width()]);
        let rows = Readings::new(&readers, table)?;
        let weight = |i: usize| weights.map_or(1.0, |s| s[i]);
        let mut sums = vec![TermSums::default(); terms.len()];
        for i in (0..rows.len()).filter(|&i| weight(i) > 0.0) {
            let s = weight(i);
            for (term, sums) in terms.iter().zip(&mut sums) {
                let z = term.table.linear.map_or(0.0, |k| rows.number(i, k));
                let sum = sums.0.entry(rows.cells(i, &term.table.sides)).or_default();
                sum.rows += 1;
                sum.weight += s;
                sum.number += s * z;
                sum.square += s * z * z;
            }
        }
        Ok(EffectSums { terms: sums })
    }

    /// With the rows of the next part.
    pub fn merge(&mut self, next: &EffectSums) -> Result<()> {
        self.of_terms(next.terms.len())?;
        for (mine, other) in self.terms.iter_mut().zip(&next.terms) {
            for (cells, more) in &other.0 {
                let sum = mine.0.entry(cells.clone()).or_default();
                sum.rows += more.rows;
                sum.weight += more.weight;
                sum.number += more.number;
                sum.square += more.square;
            }
        }
        Ok(())
    }

    /// Those of so many terms.
    pub(super) fn of_terms(&self, expected: usize) -> Result<&[TermSums]> {
        match self.terms.len() {
            got if got == expected => Ok(&self.terms),
            got => Err(Error::Length {
                what: "terms with rows counted",
                expected,
                got,
            }),
        }
    }
}
