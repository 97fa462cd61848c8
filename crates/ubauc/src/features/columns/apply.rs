//! From a table to coded rows, or straight to scores.
//!
//! Effect after effect is read down its columns, in pieces of rows; a score is summed in the order of the features, so
//! that it has the bits of the coded row's, whole or in parts, for any number of threads and any order of the columns.

use std::sync::Arc;

use rayon::prelude::*;

use super::bind::Bound;
use super::{Cells, ColumnKind, ColumnMap, Effect, PairCells};
use crate::Result;
use crate::data::calendar::DAY;
use crate::data::rows::{Code, CodeVec, Coded, CodedShape, NO_CELL, NumberColumn, Rows, Standard};
use crate::data::table::{MISSING, Table};

/// Rows of one task.
const TASK_ROWS: usize = 4096;

/// From a row to its cell of one column.
enum Reader<'a> {
    Numbers {
        values: &'a [f64],
        cells: &'a Cells,
        /// Of a time whose bins are of days.
        unit: f64,
    },
    Codes {
        codes: &'a [u32],
        cell_of_code: Vec<u32>,
        missing: u32,
    },
}

impl<'a> Reader<'a> {
    fn new(bound: &'a Bound<'_>, kind: ColumnKind, cells: &'a Cells) -> Reader<'a> {
        match bound {
            Bound::Numbers(values) => Reader::Numbers {
                values,
                cells,
                unit: match (kind, cells) {
                    (ColumnKind::Time, Cells::Bins { .. }) => DAY,
                    _ => 1.0,
                },
            },
            Bound::Levels {
                codes,
                level_of_code,
            } => Reader::Codes {
                codes,
                cell_of_code: level_of_code.iter().map(|l| cells.of_level(*l)).collect(),
                missing: cells.of_missing(),
            },
        }
    }

    #[inline]
    fn cell(&self, i: usize) -> u32 {
        match self {
            Reader::Numbers {
                values,
                cells,
                unit,
            } => cells.of_number(values[i] / unit),
            Reader::Codes {
                codes,
                cell_of_code,
                missing,
            } => match codes[i] {
                MISSING => *missing,
                code => cell_of_code[code as usize],
            },
        }
    }
}

/// An effect with the columns of a table.
enum Term<'a> {
    Linear {
        /// None of a column that `check` refuses.
        values: Option<&'a Arc<Vec<f64>>>,
        standard: Standard,
    },
    Cells(Reader<'a>),
    Pair([Reader<'a>; 2], &'a PairCells),
}

impl Term<'_> {
    /// The features of a row that are cells start at `start`: the one that is 1, or [`NO_CELL`].
    #[inline]
    fn code(&self, i: usize, start: u32) -> u32 {
        let cell = match self {
            Term::Linear { .. } => NO_CELL,
            Term::Cells(reader) => reader.cell(i),
            Term::Pair([a, b], pairs) => pairs.cell(a.cell(i), b.cell(i)),
        };
        if cell == NO_CELL {
            NO_CELL
        } else {
            start + cell
        }
    }
}

/// The effects of a map with the columns of a table.
struct Terms<'a> {
    /// Each with the number of its first feature.
    terms: Vec<(Term<'a>, usize)>,
}

impl ColumnMap {
    fn terms<'a>(&'a self, bound: &'a [Option<Bound<'a>>]) -> Terms<'a> {
        let of = |column: usize| {
            let bound = bound[column].as_ref();
            bound.expect("every column of an effect is bound")
        };
        let reader = |column: usize, cells: &'a Cells| {
            Reader::new(of(column), self.columns[column].kind, cells)
        };
        let term = |effect: &'a Effect| match effect {
            Effect::Linear {
                column,
                mean,
                deviation,
            } => Term::Linear {
                values: match of(*column) {
                    Bound::Numbers(values) => Some(values),
                    Bound::Levels { .. } => None,
                },
                standard: {
                    let is_time = self.columns[*column].kind == ColumnKind::Time;
                    Standard::new(if is_time { DAY } else { 1.0 }, *mean, *deviation)
                },
            },
            Effect::Cells { column, cells } => Term::Cells(reader(*column, cells)),
            Effect::Pair {
                columns,
                cells,
                pairs,
            } => {
                let sides = [0, 1].map(|side| reader(columns[side], &cells[side]));
                Term::Pair(sides, pairs)
            }
        };
        Terms {
            terms: self.effects.iter().map(term).zip(self.starts()).collect(),
        }
    }

    /// The features of every row, to learn from them. Columns are found by name; those that no effect reads may be absent.
    pub fn apply(&self, table: &Table) -> Result<Rows> {
        self.check()?;
        let bound = self.bind(table)?;
        let terms = self.terms(&bound);
        let numbers = self
            .effects
            .iter()
            .filter(|effect| effect.is_linear())
            .count();
        let shape = CodedShape {
            rows: table.len(),
            numbers,
            codes: self.effects.len() - numbers,
            cols: self.width(),
        };
        let mut codes = CodeVec::gaps(shape.rows * shape.codes, shape.cols);
        // A chunk of no rows would have no length.
        let of_task = |each: usize| (TASK_ROWS * each).max(1);
        let (linear, cells) = terms.terms.split_at(numbers);
        let numbers = linear
            .par_iter()
            .map(|(term, _)| number_column(term, shape.rows));
        let numbers: Vec<NumberColumn> = numbers.collect();
        let size = of_task(shape.codes);
        match &mut codes {
            CodeVec::Short(codes) => fill_all(cells, codes, size),
            CodeVec::Long(codes) => fill_all(cells, codes, size),
        }
        Ok(Rows::Coded(Coded::from_checked(numbers, codes, shape)))
    }

    /// w·φ(x) + b of every row of a table. The map must have been checked.
    pub(crate) fn scores(&self, table: &Table, weights: &[f64], b: f64) -> Result<Vec<f64>> {
        let bound = self.bind(table)?;
        let terms = self.terms(&bound);
        let mut scores = vec![0.0; table.len()];
        let tasks = scores.par_chunks_mut(TASK_ROWS).enumerate();
        tasks.for_each(|(task, out)| {
            for (term, start) in &terms.terms {
                add_scores(
                    term,
                    &weights[(*start).min(weights.len())..],
                    task * TASK_ROWS,
                    out,
                );
            }
            out.iter_mut().for_each(|score| *score += b);
        });
        Ok(scores)
    }
}

/// The numbers of all rows.
fn number_column(term: &Term<'_>, rows: usize) -> NumberColumn {
    match term {
        Term::Linear {
            values: Some(values),
            standard,
        } => NumberColumn::standardised(values, *standard),
        Term::Linear { .. } | Term::Cells(_) | Term::Pair(..) => NumberColumn::of(vec![0.0; rows]),
    }
}

/// The codes of all rows, in tasks of `size` codes.
fn fill_all<C: Code>(terms: &[(Term<'_>, usize)], codes: &mut [C], size: usize) {
    let tasks = codes.par_chunks_mut(size).enumerate();
    tasks.for_each(|(task, out)| fill_codes(terms, task * TASK_ROWS, out));
}

fn fill_codes<C: Code>(terms: &[(Term<'_>, usize)], first: usize, out: &mut [C]) {
    for (k, (term, start)) in terms.iter().enumerate() {
        let rows = out.chunks_exact_mut(terms.len());
        for (i, row) in (first..).zip(rows) {
            row[k] = C::of(term.code(i, *start as u32));
        }
    }
}

/// What a term adds to the scores of the rows from `first` on; the weights begin with the term's.
fn add_scores(term: &Term<'_>, weights: &[f64], first: usize, out: &mut [f64]) {
    match term {
        Term::Linear { values, standard } => {
            let w = weights.first().copied().unwrap_or(0.0);
            let values = values.map_or(&[][..], |values| &values[first..]);
            for (score, x) in out.iter_mut().zip(values) {
                *score += w * standard.of(*x);
            }
        }
        Term::Cells(_) | Term::Pair(..) => {
            for (i, score) in (first..).zip(out) {
                let code = term.code(i, 0) as usize;
                *score += weights.get(code).copied().unwrap_or(0.0);
            }
        }
    }
}
