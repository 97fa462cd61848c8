//! What effects need of the rows: sums over the rows in each cell of each term, which can be merged.
//!
//! A term is a function of the cells of a row and, if it has a linear part, of a number z. With the sums of s, sz and sz²
//! over the rows of weight s in each cell, the mean and the deviation of any such function over all rows are known, and with the smallest
//! and the largest z its ends.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{CellNumbers, Readings, Term, terms_of};
use crate::data::scale::check_each_weight;
use crate::data::table::Table;
use crate::features::columns::ColumnMap;
use crate::{Error, Result};

/// Of the rows in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct CellSum {
    /// Rows.
    pub(super) rows: u64,
    /// Σ s, Σ s z and Σ s z².
    pub(super) weight: f64,
    pub(super) number: f64,
    pub(super) square: f64,
    /// The smallest and the largest z.
    min: f64,
    max: f64,
}

impl CellSum {
    /// Of a row of weight s.
    fn of_row(s: f64, z: f64) -> CellSum {
        CellSum {
            rows: 1,
            weight: s,
            number: s * z,
            square: s * z * z,
            min: z,
            max: z,
        }
    }

    fn add(&mut self, more: &CellSum) {
        self.rows += more.rows;
        self.weight += more.weight;
        self.number += more.number;
        self.square += more.square;
        self.min = self.min.min(more.min);
        self.max = self.max.max(more.max);
    }

    pub(super) fn numbers(&self) -> CellNumbers {
        let mean = self.number / self.weight;
        CellNumbers {
            // Rounding may leave it outside.
            mean: mean.max(self.min).min(self.max),
            min: self.min,
            max: self.max,
        }
    }
}

/// Of one term: the cells of its sides with their sums, ascending.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TermSums(BTreeMap<Vec<u32>, CellSum>);

impl TermSums {
    /// Row after row, so that the sums are the same for any number of threads.
    fn of(term: &Term, rows: &Readings, weights: Option<&[f64]>) -> TermSums {
        let sides = &term.table.sides;
        let mut sums: HashMap<[u32; 2], CellSum> = HashMap::new();
        for i in 0..rows.len() {
            let s = weights.map_or(1.0, |s| s[i]);
            if s > 0.0 {
                let z = term.table.linear.map_or(0.0, |k| rows.number(i, k));
                let cells = [0, 1].map(|side| sides.get(side).map_or(0, |&k| rows.cell(i, k)));
                let row = CellSum::of_row(s, z);
                let entry = sums.entry(cells);
                entry.and_modify(|sum| sum.add(&row)).or_insert(row);
            }
        }
        let named = sums
            .into_iter()
            .map(|(cells, sum)| (cells[..sides.len()].to_vec(), sum));
        TermSums(named.collect())
    }

    pub(super) fn cells(&self) -> impl Iterator<Item = (&[u32], &CellSum)> {
        self.0.iter().map(|(cells, sum)| (cells.as_slice(), sum))
    }

    fn add(&mut self, cells: Vec<u32>, more: &CellSum) {
        let entry = self.0.entry(cells);
        entry.and_modify(|sum| sum.add(more)).or_insert(*more);
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
        let of_term = |term: &Term| TermSums::of(term, &rows, weights);
        Ok(EffectSums {
            terms: terms.par_iter().map(of_term).collect(),
        })
    }

    /// With the rows of the next part.
    pub fn merge(&mut self, next: &EffectSums) -> Result<()> {
        self.of_terms(next.terms.len())?;
        for (mine, other) in self.terms.iter_mut().zip(&next.terms) {
            for (cells, more) in &other.0 {
                mine.add(cells.clone(), more);
            }
        }
        Ok(())
    }

    /// The sums, refused unless they are of as many terms as expected.
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
