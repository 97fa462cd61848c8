//! What a model says of each column and pair, ready to be drawn.
//!
//! The score is a sum of terms: one for each column (the linear part and the table of its cells together; of a time also
//! one for each of its parts), and one for each pair. As they are fitted, terms overlap: a table of a pair can hold a part
//! of the main effects of its columns, and every table a constant. They are taken apart by the rows of the training table:
//!
//! ```text
//! pair:  f(a, b) ← f(a, b) − r_a − c_b,  with r, c such that Σ_b n_ab f(a, b) = 0 for every a, Σ_a n_ab f(a, b) = 0 for every b
//! main:  f(a) ← f(a) + Σ_pairs r_a,      less its mean over the rows, which goes to the intercept
//! ```
//!
//! n_ab the weight of the rows in both cells. r and c are found by sweeping rows and columns in turn; where the table falls
//! into parts, one constant for each of them is free and whatever the sweeps leave. The sum of all terms and the intercept
//! is the score, whatever the row.
//!
//! The importance of a term is its standard deviation over the rows.

mod numbers;
mod saved;
mod sums;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::data::rows::{NO_CELL, Rows};
use crate::data::table::Table;
use crate::features::columns::{Cells, ColumnInfo, ColumnMap, Effect, PairCells};
use crate::{Error, Result};

pub use numbers::{CellNumbers, WithLinear};
pub use saved::{SavedEffects, SavedTerm};
pub use sums::EffectSums;
use sums::TermSums;

/// Sweeps end when they change nothing by more than this share of the largest weight, or after this many.
const ENOUGH: f64 = 1e-13;
const MAX_SWEEPS: usize = 500;

/// All terms of a model.
#[derive(Debug, Clone, Serialize)]
pub struct Effects {
    /// Columns in their order, then pairs.
    pub terms: Vec<Term>,
    /// The score of a row of which every term is 0: the mean score of the training rows.
    pub intercept: f64,
    #[serde(skip)]
    readers: ColumnMap,
}

/// What a column or a pair adds to the score.
#[derive(Debug, Clone, Serialize)]
pub struct Term {
    /// `age`, `pickup hour`, `age & hours`.
    pub name: String,
    /// Positions of its columns in the map.
    pub columns: Vec<usize>,
    /// Standard deviation over the training rows.
    pub importance: f64,
    /// The linear part: this times (x − mean)/deviation.
    pub slope: Option<f64>,
    /// Of a column the cells in their order, of a pair those that training rows are in.
    pub cells: Vec<TermCell>,
    #[serde(skip)]
    table: TermTable,
    /// Of a pair: the positions of the terms of its columns.
    #[serde(skip)]
    mains: Vec<usize>,
}

/// One cell of a term.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermCell {
    /// Of the column, or of both of a pair.
    pub cell: Vec<u32>,
    /// `25 <= age < 30`, `workclass=Private`; of a pair two of these.
    pub names: Vec<String>,
    /// Training rows in it.
    pub rows: u64,
    /// What it adds, without the linear part.
    pub value: f64,
    /// Of a term with a linear part: what its training rows are given, all in all.
    #[serde(flatten)]
    pub with_linear: Option<WithLinear>,
    /// Of a term with a linear part: the numbers of its training rows.
    #[serde(skip)]
    pub(super) numbers: Option<CellNumbers>,
}

impl TermCell {
    /// Of a term without a linear part.
    pub fn new(cell: Vec<u32>, names: Vec<String>, rows: u64, value: f64) -> TermCell {
        TermCell {
            cell,
            names,
            rows,
            value,
            with_linear: None,
            numbers: None,
        }
    }

    /// What it adds to its training rows on average, with the linear part.
    pub fn mean(&self) -> f64 {
        self.with_linear.map_or(self.value, |with| with.mean)
    }

    /// The least and the most that it adds to a training row, with the linear part.
    pub fn ends(&self) -> [f64; 2] {
        let ends = |with: WithLinear| [with.least, with.most];
        self.with_linear.map_or([self.value; 2], ends)
    }
}

/// From readers to values.
#[derive(Debug, Clone, Default)]
struct TermTable {
    /// Position of the linear reader.
    linear: Option<usize>,
    /// Positions of the readers of cells: one for a column, two for a pair, none for a number without cells.
    sides: Vec<usize>,
    /// Of a column: the value of every cell.
    values: Vec<f64>,
    /// Of a pair: its cells, their values, and r and c.
    pair: Option<(PairCells, Vec<f64>, [Vec<f64>; 2])>,
    /// The value of a row in no cell.
    constant: f64,
}

impl Term {
    /// What it adds to a row in none of its cells, without the linear part.
    pub fn outside(&self) -> f64 {
        self.table.constant
    }
}

impl TermTable {
    /// What is added by the cells of a row.
    fn value(&self, cells: &[u32]) -> f64 {
        let at = |values: &[f64], cell: u32| values.get(cell as usize).copied().unwrap_or(0.0);
        match (&self.pair, cells) {
            (Some((pairs, values, [r, c])), &[a, b]) => {
                at(values, pairs.cell(a, b)) - at(r, a) - at(c, b)
            }
            (None, &[cell]) => at(&self.values, cell) + self.constant,
            _ => self.constant,
        }
    }
}

impl Effects {
    /// The terms of these weights, taken apart by the rows with a weight above 0.
    pub fn new(
        map: &ColumnMap,
        weights: &[f64],
        intercept: f64,
        table: &Table,
        sample_weights: Option<&[f64]>,
    ) -> Result<Effects> {
        Effects::of_sums(
            map,
            weights,
            intercept,
            &EffectSums::of(map, table, sample_weights)?,
        )
    }

    /// The same from what was summed over the rows, here or elsewhere.
    pub fn of_sums(
        map: &ColumnMap,
        weights: &[f64],
        intercept: f64,
        sums: &EffectSums,
    ) -> Result<Effects> {
        map.check()?;
        let (expected, got) = (map.width(), weights.len());
        if expected != got {
            return Err(Error::Length {
                what: "weights of the map",
                expected,
                got,
            });
        }
        let (readers, mut terms) = terms_of(map, weights);
        let sums = sums.of_terms(terms.len())?;
        for at in 0..terms.len() {
            if terms[at].table.pair.is_some() {
                purify(&mut terms, at, &sums[at], &readers);
            }
        }
        let centred = terms.iter_mut().zip(sums);
        let means = centred.map(|(term, sums)| centre(term, sums, &readers));
        let intercept = intercept + means.sum::<f64>();
        Ok(Effects {
            terms,
            intercept,
            readers,
        })
    }

    /// From values to the cells of a term: one for a column, two for a pair, none for a number without cells.
    pub(super) fn cells_of(&self, term: &Term) -> Vec<&Cells> {
        let cells = |&reader: &usize| match self.readers.effects.get(reader) {
            Some(Effect::Cells { cells, .. }) => Some(cells),
            Some(Effect::Linear { .. } | Effect::Pair { .. }) | None => None,
        };
        term.table.sides.iter().filter_map(cells).collect()
    }

    /// What is known of the columns.
    pub(super) fn columns(&self) -> &[ColumnInfo] {
        &self.readers.columns
    }

    /// The names of the cells that [`Effects::cells_of`] has.
    pub(super) fn cell_names_of(&self, term: &Term) -> Vec<Vec<String>> {
        let sides = term.table.sides.iter();
        sides.map(|&side| self.readers.cell_names(side)).collect()
    }

    /// What each term adds to the score of each row of a table: terms in their order for each row. With the intercept they
    /// add up to the scores.
    pub fn eval(&self, table: &Table) -> Result<Vec<Vec<f64>>> {
        let rows = Readings::new(&self.readers, table)?;
        let of_row = |i: usize| {
            let value = |term: &Term| {
                let slope = term.slope.unwrap_or(0.0);
                let linear = term.table.linear.map_or(0.0, |k| slope * rows.number(i, k));
                linear + term.table.value(&rows.cells(i, &term.table.sides))
            };
            self.terms.iter().map(value).collect()
        };
        Ok((0..rows.len()).map(of_row).collect())
    }
}

/// Takes the mean over the rows from a main term, which is the answer; and notes the rows of every cell.
fn centre(term: &mut Term, sums: &TermSums, readers: &ColumnMap) -> f64 {
    let slope = term.slope.unwrap_or(0.0);
    let (mut of_all, mut counts) = ([0.0; 3], BTreeMap::new());
    for (cells, sum) in sums.cells() {
        let value = term.table.value(cells);
        // Σ s f and Σ s f² of f = value + slope · z.
        let first = sum.weight * value + slope * sum.number;
        let second = sum.weight * value * value
            + 2.0 * value * slope * sum.number
            + slope * slope * sum.square;
        of_all = [
            of_all[0] + sum.weight,
            of_all[1] + first,
            of_all[2] + second,
        ];
        let numbers = term.slope.map(|_| sum.numbers());
        counts.insert(cells.to_vec(), (sum.rows, numbers));
    }
    let total = of_all[0].max(f64::MIN_POSITIVE);
    let mean = of_all[1] / total;
    term.importance = (of_all[2] / total - mean * mean).max(0.0).sqrt();
    let moved = match term.table.pair {
        Some(_) => 0.0,
        None => mean,
    };
    term.table.constant -= moved;
    describe(term, readers, &counts);
    moved
}

/// Numbers and cells of every row, by the effects of a map.
struct Readings {
    rows: Rows,
    starts: Vec<usize>,
    numbers: usize,
}

impl Readings {
    fn new(readers: &ColumnMap, table: &Table) -> Result<Readings> {
        Ok(Readings {
            rows: readers.apply(table)?,
            starts: readers.starts(),
            numbers: readers.effects.iter().filter(|e| e.is_linear()).count(),
        })
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn number(&self, i: usize, effect: usize) -> f64 {
        match &self.rows {
            Rows::Coded(coded) => coded.numbers(i).get(effect).unwrap_or(0.0),
            Rows::Dense(_) | Rows::Csr(_) => 0.0,
        }
    }

    /// The cell of an effect.
    fn cell(&self, i: usize, effect: usize) -> u32 {
        let Rows::Coded(coded) = &self.rows else {
            return NO_CELL;
        };
        let width = coded.shape().codes;
        match coded.all_codes().at(i * width + effect - self.numbers) {
            NO_CELL => NO_CELL,
            code => code - self.starts[effect] as u32,
        }
    }

    /// The cells of some effects.
    fn cells(&self, i: usize, effects: &[usize]) -> Vec<u32> {
        effects.iter().map(|&effect| self.cell(i, effect)).collect()
    }
}

/// A map of the cells that terms read, and the terms with their weights as they were fitted.
fn terms_of(map: &ColumnMap, weights: &[f64]) -> (ColumnMap, Vec<Term>) {
    let mut readers: Vec<Effect> = Vec::new();
    let linear = map.effects.iter().filter(|effect| effect.is_linear());
    readers.extend(linear.cloned());
    let mut terms: Vec<Term> = Vec::new();
    for (k, effect) in readers.iter().enumerate() {
        let mut term = term_of(map, effect.columns(), None);
        term.slope = Some(weights[k]);
        term.table.linear = Some(k);
        terms.push(term);
    }
    let mut pairs = Vec::new();
    for (effect, start) in map.effects.iter().zip(map.starts()) {
        let values = weights[start..start + effect.width()].to_vec();
        match effect {
            Effect::Linear { .. } => {}
            Effect::Cells { cells, .. } => {
                let at = main_of(map, &mut terms, effect.columns()[0], cells);
                let reader = readers.len();
                readers.push(effect.clone());
                terms[at].table.sides = vec![reader];
                terms[at].table.values = values;
            }
            Effect::Pair { .. } => pairs.push((effect, values)),
        }
    }
    terms.sort_by_key(|term| term.columns[0]);
    for (effect, values) in pairs {
        add_pair(map, effect, values, &mut readers, &mut terms);
    }
    let readers = ColumnMap {
        effects: readers,
        ..map.clone()
    };
    (readers, terms)
}

fn add_pair(
    map: &ColumnMap,
    effect: &Effect,
    values: Vec<f64>,
    readers: &mut Vec<Effect>,
    terms: &mut Vec<Term>,
) {
    let Effect::Pair {
        columns,
        cells,
        pairs,
    } = effect
    else {
        return;
    };
    let [a, b] = [0, 1].map(|side| part_name(map, columns[side], &cells[side]));
    let mut term = term_of(map, columns, Some(format!("{a} & {b}")));
    for (&column, cells) in columns.iter().zip(cells) {
        let reader = readers.len();
        term.table.sides.push(reader);
        let cells = cells.clone();
        // A number without cells of its own takes those of the pair.
        let main = main_of(map, terms, column, &cells);
        term.mains.push(main);
        if terms[main].table.sides.is_empty() {
            terms[main].table.sides = vec![reader];
            terms[main].table.values = vec![0.0; cells.len()];
        }
        readers.push(Effect::Cells { column, cells });
    }
    let shifts = cells.each_ref().map(|cells| vec![0.0; cells.len()]);
    term.table.pair = Some((pairs.clone(), values, shifts));
    terms.push(term);
}

fn term_of(map: &ColumnMap, columns: &[usize], name: Option<String>) -> Term {
    let first = || map.columns[columns[0]].name.clone();
    Term {
        name: name.unwrap_or_else(first),
        columns: columns.to_vec(),
        importance: 0.0,
        slope: None,
        cells: Vec::new(),
        table: TermTable::default(),
        mains: Vec::new(),
    }
}

/// A column, or a part of a time.
fn part_name(map: &ColumnMap, column: usize, cells: &Cells) -> String {
    let name = &map.columns[column].name;
    match cells {
        Cells::Part { part } => format!("{name} {}", part.name()),
        Cells::Missing | Cells::Levels { .. } | Cells::Hashed { .. } | Cells::Bins { .. } => {
            name.clone()
        }
    }
}

/// The position of the main term of a column, or of a part of a time; a new one if there is none.
fn main_of(map: &ColumnMap, terms: &mut Vec<Term>, column: usize, cells: &Cells) -> usize {
    let name = part_name(map, column, cells);
    let known = |term: &Term| term.columns == [column] && term.name == name;
    terms.iter().position(known).unwrap_or_else(|| {
        terms.push(term_of(map, &[column], Some(name)));
        terms.len() - 1
    })
}

/// Takes the main effects out of a pair and gives them to the terms of its columns.
fn purify(terms: &mut [Term], at: usize, sums: &TermSums, readers: &ColumnMap) {
    let sides = terms[at].table.sides.clone();
    let Ok(mains) = <[usize; 2]>::try_from(terms[at].mains.clone()) else {
        return;
    };
    let mut grid: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for (cells, sum) in sums.cells() {
        if let &[a, b] = cells {
            grid.insert((a, b), sum.weight);
        }
    }
    let of_main = |side: usize| {
        let main = *terms[mains[side]].table.sides.first()?;
        coarser(&readers.effects[main], &readers.effects[sides[side]])
    };
    let coarse = [of_main(0), of_main(1)];
    let Some((pairs, values, shifts)) = &mut terms[at].table.pair else {
        return;
    };
    let movable = coarse.each_ref().map(Option::is_some);
    sweep(&grid, (pairs, values), shifts, movable);
    let shifts = shifts.clone();
    for ((main, coarse), shifts) in mains.into_iter().zip(coarse).zip(shifts) {
        let values = terms[main].table.values.iter_mut();
        for (value, of_pair) in values.zip(coarse.unwrap_or_default()) {
            *value += shifts.get(of_pair as usize).copied().unwrap_or(0.0);
        }
    }
}

/// For each cell of a column the cell of a pair's side that it is in; none where the column cannot tell.
fn coarser(main: &Effect, side: &Effect) -> Option<Vec<u32>> {
    let (Effect::Cells { cells: main, .. }, Effect::Cells { cells: side, .. }) = (main, side)
    else {
        return None;
    };
    if main == side {
        return Some((0..main.len() as u32).collect());
    }
    let (
        Cells::Bins { cuts, missing },
        Cells::Bins {
            cuts: coarse,
            missing: gap,
        },
    ) = (main, side)
    else {
        return None;
    };
    let nested = coarse.iter().all(|cut| cuts.contains(cut)) && missing.is_some() == gap.is_some();
    let first = std::iter::once(f64::NEG_INFINITY).chain(cuts.iter().copied());
    let bins = first.map(|low| side.of_number(low));
    nested.then(|| bins.chain(missing.map(|_| side.of_missing())).collect())
}

/// r and c of one pair.
fn sweep(
    grid: &BTreeMap<(u32, u32), f64>,
    (pairs, values): (&PairCells, &[f64]),
    shifts: &mut [Vec<f64>; 2],
    movable: [bool; 2],
) {
    let largest = values.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    let value = |a: u32, b: u32| {
        values
            .get(pairs.cell(a, b) as usize)
            .copied()
            .unwrap_or(0.0)
    };
    for _ in 0..MAX_SWEEPS {
        let mut most = 0.0_f64;
        for side in (0..2).filter(|&side| movable[side]) {
            let mut sums = vec![[0.0; 2]; shifts[side].len()];
            for (&(a, b), &n) in grid {
                let own = if side == 0 { a } else { b };
                let at = |s: usize, cell: u32| shifts[s].get(cell as usize).copied().unwrap_or(0.0);
                if let Some(sum) = sums.get_mut(own as usize) {
                    sum[0] += n;
                    sum[1] += n * (value(a, b) - at(0, a) - at(1, b));
                }
            }
            for (shift, [n, sum]) in shifts[side].iter_mut().zip(sums) {
                if n > 0.0 {
                    *shift += sum / n;
                    most = most.max((sum / n).abs());
                }
            }
        }
        if most <= ENOUGH * largest {
            return;
        }
    }
}

/// Training rows in cells, and the numbers of a linear part where they are known.
type Counts = BTreeMap<Vec<u32>, (u64, Option<CellNumbers>)>;

/// Writes the cells of a term.
fn describe(term: &mut Term, readers: &ColumnMap, counts: &Counts) {
    let names: Vec<Vec<String>> = (term.table.sides.iter())
        .map(|&reader| readers.cell_names(reader))
        .collect();
    let cell = |cell: Vec<u32>, (rows, known): (u64, Option<CellNumbers>)| {
        let names = (cell.iter().zip(&names))
            .map(|(cell, names)| names.get(*cell as usize).cloned().unwrap_or_default())
            .collect();
        let value = term.table.value(&cell);
        let assumed = || numbers::assumed(term, readers, cell.first().copied().unwrap_or(0));
        let with_linear = term
            .slope
            .map(|slope| WithLinear::new(value, slope, known.unwrap_or_else(assumed)));
        TermCell {
            with_linear,
            numbers: known.filter(|_| with_linear.is_some()),
            ..TermCell::new(cell, names, rows, value)
        }
    };
    let cells: Vec<TermCell> = match term.table.pair {
        Some(_) => {
            let known = counts.iter().filter(|(cells, _)| !cells.contains(&NO_CELL));
            known
                .map(|(cells, rows)| cell(cells.clone(), *rows))
                .collect()
        }
        None => (0..term.table.values.len() as u32)
            .map(|at| {
                cell(
                    vec![at],
                    counts.get(&vec![at]).copied().unwrap_or((0, None)),
                )
            })
            .collect(),
    };
    term.cells = cells;
}
