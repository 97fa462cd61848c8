//! The additive map: beside the linear term of a number, its bins of several widths.
//!
//! ```text
//! score = Σ_numbers ( linear weight · x + table[cell of x] ) + Σ_categories table[level]
//! ```
//!
//! The cells of a number are the bins of its finest width; those of the coarser widths are groups of cells
//! ([`Nesting`]), each with the factor [`FACTOR`] at first (`glass_box/shrinkage.rs` finds better ones). A ridge over the weights of all widths is a prior that is smooth where
//! rows are few and sharp where they are many. Missing is a cell of its own, with the weight of as many widths. Numbers
//! that have two values need no bins, and categories are as in the linear map.
//!
//! Of many numbers each has fewer bins, since the cost of a fit grows with all cells together and the rows that a cell can
//! be learned from do not: the finest widths are left out such that there are about [`MAX_CELLS`] at most, down to 16, 8 and
//! 4 bins.

use super::bins::{Bins, ValueCounts};
use super::{Cells, ColumnInfo, ColumnMap, Effect};
use crate::data::calendar::DAY;
use crate::data::table::{Column, Table, Values};
use crate::solver::nesting::{Group, Nesting};
use crate::{Error, Result};

/// About so many bins, finest first.
pub const WIDTHS: [usize; 6] = [128, 64, 32, 16, 8, 4];
/// As many of the coarsest are always there.
pub(crate) const COARSE: usize = 3;
/// Cells of all numbers together, about, above which the finest widths are left out.
pub const MAX_CELLS: usize = 8192;
/// The weight of a bin of one width is penalised as if its feature were this large, before it is learned how large it
/// should be.
pub const FACTOR: f64 = 0.5;
/// Numbers with fewer values, a missing one counted, need no bins.
const LEAST_VALUES: usize = 3;

/// A map, and how its features share weights.
#[derive(Debug, Clone)]
pub struct NestedMap {
    /// From raw values to features.
    pub map: ColumnMap,
    /// Of these features.
    pub nesting: Nesting,
    /// The bins of every column that is a number, also of those that need none: the sides of pairs are made of them.
    pub(crate) bins: Vec<Option<NumberBins>>,
}

/// The bins of a number.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberBins {
    pub(crate) bins: Bins,
    /// Values that differ.
    pub(crate) distinct: usize,
}

/// The bins of each number, of times by days with their fractions; none for a category. Rows of weight 0 do not count.
/// Values of no more columns are in memory at a time than there are threads.
fn number_bins(
    table: &Table,
    columns: &[ColumnInfo],
    weights: Option<&[f64]>,
) -> Vec<Option<NumberBins>> {
    use rayon::prelude::*;
    let distinct = table.columns().iter().map(|column| {
        let values = column_values(column, weights)?;
        Some(some_distinct(values))
    });
    let widths = widths(columns, distinct);
    let columns = table.columns().par_iter().with_max_len(1);
    let bins = |column| {
        let counts = ValueCounts::of(column_values(column, weights)?);
        Some(NumberBins::new(&counts, widths))
    };
    columns.map(bins).collect()
}

/// How many values differ, counted as far as bins may need.
fn some_distinct(values: impl Iterator<Item = f64>) -> usize {
    let mut found: Vec<f64> = Vec::with_capacity(LEAST_VALUES);
    for x in values.filter(|x| !x.is_nan()) {
        if !found.contains(&x) {
            found.push(x);
            if found.len() == LEAST_VALUES {
                break;
            }
        }
    }
    found.len()
}

impl NumberBins {
    fn new(counts: &ValueCounts, widths: &[usize]) -> NumberBins {
        NumberBins {
            bins: Bins::new(counts, widths),
            distinct: counts.distinct(),
        }
    }

    /// The same of columns whose values were counted elsewhere.
    pub fn of_counts(
        columns: &[ColumnInfo],
        counts: &[Option<ValueCounts>],
    ) -> Vec<Option<NumberBins>> {
        let distinct = counts.iter().map(|c| c.as_ref().map(ValueCounts::distinct));
        let widths = widths(columns, distinct);
        let bins = |counts: &ValueCounts| NumberBins::new(counts, widths);
        counts.iter().map(|c| c.as_ref().map(bins)).collect()
    }
}

/// The values that are counted of a column; none of a category.
pub fn column_values<'a>(
    column: &'a Column,
    weights: Option<&'a [f64]>,
) -> Option<impl Iterator<Item = f64> + 'a> {
    let (values, unit) = match &column.values {
        Values::Number(values) => (values, 1.0),
        Values::Time(seconds) => (seconds, DAY),
        Values::Category { .. } => return None,
    };
    let rows = values.iter().enumerate();
    let rows = rows.filter(move |(i, _)| weights.is_none_or(|s| s[*i] > 0.0));
    Some(rows.map(move |(_, x)| x / unit))
}

impl NestedMap {
    /// The additive map of the rows with a weight above 0, of all rows if there are no weights.
    pub fn additive(table: &Table, weights: Option<&[f64]>) -> Result<NestedMap> {
        NestedMap::of_table(ColumnMap::learn(table, weights)?, table, weights)
    }

    /// The same where the linear map is known.
    pub(crate) fn of_table(
        linear: ColumnMap,
        table: &Table,
        weights: Option<&[f64]>,
    ) -> Result<NestedMap> {
        let bins = number_bins(table, &linear.columns, weights);
        NestedMap::of_bins(linear, bins)
    }

    /// The same from the linear map and the bins of its columns.
    pub fn of_bins(linear: ColumnMap, bins: Vec<Option<NumberBins>>) -> Result<NestedMap> {
        let (expected, got) = (linear.columns.len(), bins.len());
        if expected != got {
            return Err(Error::Length {
                what: "columns with bins",
                expected,
                got,
            });
        }
        let mut effects = Vec::new();
        let (linear_effects, others): (Vec<Effect>, Vec<Effect>) =
            linear.effects.into_iter().partition(Effect::is_linear);
        for effect in linear_effects {
            effects.push((effect, vec![vec![alone(0)]]));
        }
        for (column, of_number) in bins.iter().enumerate() {
            let missing = linear.columns[column].missing > 0;
            let telling = of_number
                .as_ref()
                .filter(|b| tells_more(b.distinct, missing));
            let bins = telling.map(|of_number| nested(&of_number.bins, missing));
            let has_bins = bins.is_some();
            if let Some((cells, of_bins)) = bins {
                effects.push((Effect::Cells { column, cells }, of_bins));
            }
            for effect in others.iter().filter(|e| e.columns() == [column]) {
                if let Effect::Cells { cells, .. } = effect
                    && !(has_bins && *cells == Cells::Missing)
                {
                    let levels = (0..cells.len() as u32).map(alone).collect();
                    effects.push((effect.clone(), vec![levels]));
                }
            }
        }
        let empty = NestedMap {
            map: ColumnMap {
                effects: Vec::new(),
                ..linear
            },
            nesting: Nesting::new(0, Vec::new())?,
            bins,
        };
        empty.with_effects(effects)
    }

    /// The same with more effects behind, each with the groups of every width, whose features are counted from the effect's
    /// first.
    pub fn with_effects(&self, more: Vec<(Effect, Vec<Vec<Group>>)>) -> Result<NestedMap> {
        let mut map = self.map.clone();
        let mut groups = self.nesting.groups().to_vec();
        let mut family = groups.last().map_or(0, |last| last.family + 1);
        let mut start = map.width() as u32;
        for (effect, of_effect) in more {
            for of_width in of_effect.into_iter().filter(|groups| !groups.is_empty()) {
                groups.extend(of_width.into_iter().map(|group| Group {
                    features: group.features.iter().map(|j| j + start).collect(),
                    family,
                    ..group
                }));
                family += 1;
            }
            start += effect.width() as u32;
            map.effects.push(effect);
        }
        map.check()?;
        Ok(NestedMap {
            nesting: Nesting::new(map.width(), groups)?,
            map,
            bins: self.bins.clone(),
        })
    }

    /// Whether any number has bins: otherwise it is the linear map.
    pub fn has_bins(&self) -> bool {
        let bins = |effect: &Effect| {
            matches!(
                effect,
                Effect::Cells {
                    cells: Cells::Bins { .. },
                    ..
                }
            )
        };
        self.map.effects.iter().any(bins)
    }
}

/// Whether the bins of a number tell more than the number does.
fn tells_more(distinct: usize, missing: bool) -> bool {
    distinct + usize::from(missing) >= LEAST_VALUES
}

/// The widths of the bins of every number, by how many values each has.
fn widths(
    columns: &[ColumnInfo],
    distinct: impl Iterator<Item = Option<usize>>,
) -> &'static [usize] {
    let numbers = columns.iter().zip(distinct).filter(|(info, distinct)| {
        distinct.is_some_and(|distinct| tells_more(distinct, info.missing > 0))
    });
    let numbers = numbers.count();
    let few = |width: &usize| numbers * width <= MAX_CELLS;
    let last = WIDTHS.len() - COARSE;
    &WIDTHS[WIDTHS.iter().position(few).unwrap_or(last).min(last)..]
}

fn alone(feature: u32) -> Group {
    Group {
        factor: 1.0,
        family: 0,
        features: vec![feature],
    }
}

/// Cells, and the groups of bins of every width; those of missing values are the last.
fn nested(bins: &Bins, missing: bool) -> (Cells, Vec<Vec<Group>>) {
    let cell_of_missing = missing.then_some(bins.cells() as u32);
    let mut groups = Vec::new();
    for width in &bins.widths {
        let cells: Vec<u32> = (0..bins.cells() as u32).collect();
        let together = cells.chunk_by(|a, b| width[*a as usize] == width[*b as usize]);
        let features = together
            .map(<[u32]>::to_vec)
            .chain(cell_of_missing.map(|c| vec![c]));
        let of_width = features.map(|features| Group {
            factor: FACTOR,
            family: 0,
            features,
        });
        groups.push(of_width.collect());
    }
    let cells = Cells::Bins {
        cuts: bins.cuts.clone(),
        missing: cell_of_missing,
    };
    (cells, groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers with as many values as rows, and as many columns of 0 and 1.
    fn table(numbers: usize, rows: usize) -> Table {
        let number = |j: usize| (0..rows).map(move |i| ((i * (2 * j + 1)) % rows) as f64);
        let columns = (0..numbers).flat_map(|j| {
            let flags = number(j).map(|x| f64::from(x > 7.0));
            [("x", number(j).collect()), ("flag", flags.collect())].map(
                |(name, values): (&str, Vec<f64>)| Column {
                    name: format!("{name}{j}"),
                    values: Values::Number(values.into()),
                },
            )
        });
        Table::new(columns.collect(), rows).unwrap()
    }

    #[test]
    fn many_numbers_have_fewer_bins_each() {
        let rows = 512;
        for (numbers, finest) in [
            (1, 128),
            (64, 128),
            (65, 64),
            (128, 64),
            (256, 32),
            (257, 16),
            (600, 16),
        ] {
            let map = NestedMap::additive(&table(numbers, rows), None).unwrap();
            let bins: Vec<usize> = (map.map.effects.iter())
                .filter_map(|effect| match effect {
                    Effect::Cells {
                        cells: Cells::Bins { cuts, .. },
                        ..
                    } => Some(cuts.len() + 1),
                    _ => None,
                })
                .collect();
            // Columns of two values have none, and do not count.
            assert_eq!(bins, vec![finest; numbers]);
            let families = map.nesting.groups().last().unwrap().family + 1;
            let widths = WIDTHS.iter().filter(|width| **width <= finest).count();
            assert_eq!(families as usize, numbers * (2 + widths));
            assert!(numbers * finest <= MAX_CELLS || finest == 16);
        }
    }
}
