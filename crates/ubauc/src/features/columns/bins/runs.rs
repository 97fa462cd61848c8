//! The values of a column that lie in several parts of a table, counted as far as bins depend on them.
//!
//! Known are runs of neighbouring values: the first, the last, and the rows of all. At first that is one run, the range of
//! the column. Parts divide runs, at keys that all of them agree on, until it no longer matters how the rows of a run are
//! spread over its values: for every width of k bins
//!
//! - no value of it can have n/k rows, and
//! - with c rows before a run of m, every value of it goes to the same bin, whose number is that of any point between c
//!   and c + m: ⌊(2c + 1) k′/2n′⌋ = ⌊(2c + 2m − 1) k′/2n′⌋.
//!
//! Such a run may be told as two values, its first with m − 1 rows and its last with one: the bins of these counts are
//! those of all values, to the last bit. What parts answer has a size that depends on the bins and hardly on the rows.

use serde::{Deserialize, Serialize};

use super::{ValueCounts, Width};
use crate::{Error, Result};

/// Cells of all runs of a column that are divided at once, about, and of each at least.
const CELLS: usize = 16_384;
const LEAST_CELLS: usize = 16;

/// Neighbouring values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The smallest value.
    pub first: f64,
    /// The largest.
    pub last: f64,
    /// Rows of all.
    pub rows: u64,
}

impl Run {
    fn is_one_value(&self) -> bool {
        self.first == self.last
    }

    fn merge(&mut self, other: &Run) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.rows += other.rows;
    }
}

/// What the parts of a table are asked about one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Division {
    /// Runs to be divided, ascending.
    runs: Vec<[f64; 2]>,
    /// Into so many cells each.
    cells: u32,
}

/// What a part has in one cell of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Divided {
    /// The number of the cell, those of all runs counted on.
    cell: u32,
    run: Run,
}

/// Numbers in the order of the values.
fn key(x: f64) -> u64 {
    let bits = x.to_bits();
    match bits >> 63 {
        0 => bits | 1 << 63,
        _ => !bits,
    }
}

impl Division {
    /// Of the values of one part; NaN is missing.
    pub fn of(&self, values: impl Iterator<Item = f64>) -> Vec<Divided> {
        let mut found: Vec<Option<Run>> = vec![None; self.runs.len() * self.cells as usize];
        // −0 and 0 are one value.
        for x in values.filter(|x| !x.is_nan()).map(|x| x + 0.0) {
            let at = self.runs.partition_point(|run| run[1] < x);
            let Some(run) = self.runs.get(at).filter(|run| run[0] <= x) else {
                continue;
            };
            let [low, high] = run.map(key);
            let place = u128::from(key(x) - low) * u128::from(self.cells);
            let cell = place / (u128::from(high - low) + 1);
            let value = Run {
                first: x,
                last: x,
                rows: 1,
            };
            match &mut found[at * self.cells as usize + cell as usize] {
                Some(run) => run.merge(&value),
                none => *none = Some(value),
            }
        }
        let cells = (0..).zip(found);
        cells
            .filter_map(|(cell, run)| Some(Divided { cell, run: run? }))
            .collect()
    }
}

/// All that is known of a column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Runs {
    runs: Vec<Run>,
}

impl Runs {
    /// A column of so many rows with a value, of which these are the smallest and the largest.
    pub fn new([first, last]: [f64; 2], rows: u64) -> Runs {
        let run = Run {
            first: first + 0.0,
            last: last + 0.0,
            rows,
        };
        Runs {
            runs: if rows > 0 { vec![run] } else { Vec::new() },
        }
    }

    /// What must be known before the bins of these widths are; `None` if they are.
    pub fn division(&self, widths: &[usize]) -> Option<Division> {
        let open = self.open(widths);
        let count = open.iter().filter(|open| **open).count();
        let runs = self.runs.iter().zip(open).filter(|(_, open)| *open);
        (count > 0).then(|| Division {
            runs: runs.map(|(run, _)| [run.first, run.last]).collect(),
            cells: (CELLS / count).max(LEAST_CELLS) as u32,
        })
    }

    /// Which runs are not settled.
    fn open(&self, widths: &[usize]) -> Vec<bool> {
        let n: u64 = self.runs.iter().map(|run| run.rows).sum();
        let most = widths.iter().max().copied().unwrap_or(1);
        let may_hide = |run: &Run| !run.is_one_value() && Width::is_heavy_of(run.rows, n, most);
        let mut open: Vec<bool> = self.runs.iter().map(may_hide).collect();
        if open.contains(&true) {
            return open;
        }
        for &k in widths {
            let width = Width::new(self.runs.iter().map(|run| run.rows), k);
            let mut before = 0_u128;
            for (run, open) in self.runs.iter().zip(&mut open) {
                if width.is_heavy(run.rows) {
                    continue;
                }
                let (from, to) = (2 * before + 1, 2 * (before + u128::from(run.rows)) - 1);
                *open |= !run.is_one_value() && width.bin(from) != width.bin(to);
                before += u128::from(run.rows);
            }
        }
        open
    }

    /// The same after the answers of all parts.
    pub fn divide(&mut self, division: &Division, parts: &[Vec<Divided>]) -> Result<()> {
        let mut cells: Vec<Option<Run>> = vec![None; division.runs.len() * division.cells as usize];
        for part in parts.iter().flatten() {
            match cells.get_mut(part.cell as usize) {
                Some(Some(run)) => run.merge(&part.run),
                Some(none) => *none = Some(part.run),
                None => return Err(another_division()),
            }
        }
        let mut divided = division.runs.iter();
        let mut of_runs = cells.chunks(division.cells as usize);
        let mut next = divided.next().zip(of_runs.next());
        let mut found = Vec::with_capacity(self.runs.len());
        for run in &self.runs {
            match next {
                Some((of, cells)) if *of == [run.first, run.last] => {
                    let cells = cells.iter().flatten();
                    if cells.clone().map(|cell| cell.rows).sum::<u64>() != run.rows {
                        return Err(another_division());
                    }
                    found.extend(cells);
                    next = divided.next().zip(of_runs.next());
                }
                _ => found.push(*run),
            }
        }
        self.runs = found;
        Ok(())
    }

    /// Counts whose bins are those of all values.
    pub fn counts(&self) -> ValueCounts {
        let mut counts = Vec::with_capacity(self.runs.len());
        for run in &self.runs {
            if run.is_one_value() {
                counts.push((run.first, run.rows));
            } else {
                counts.extend([(run.first, run.rows - 1), (run.last, 1)]);
            }
        }
        ValueCounts { counts }
    }
}

fn another_division() -> Error {
    Error::Numerical {
        what: "counts of values that are not those asked for",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Bins;
    use super::*;

    const WIDTHS: [usize; 5] = [64, 32, 16, 8, 4];

    /// As a cluster does it, with the largest number of cells that a part was asked for and answered.
    fn of_parts(parts: &[&[f64]], widths: &[usize]) -> (Runs, usize, usize) {
        let all = || parts.iter().flat_map(|part| part.iter()).copied();
        let present = all().filter(|x| !x.is_nan());
        let range = present
            .clone()
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| {
                [a.min(x), b.max(x)]
            });
        let mut runs = Runs::new(range, present.count() as u64);
        let (mut rounds, mut most) = (0, 0);
        while let Some(division) = runs.division(widths) {
            let answers: Vec<_> = parts
                .iter()
                .map(|p| division.of(p.iter().copied()))
                .collect();
            most = most.max(answers.iter().map(Vec::len).max().unwrap_or(0));
            runs.divide(&division, &answers).unwrap();
            rounds += 1;
            assert!(rounds < 20);
        }
        (runs, rounds, most)
    }

    fn assert_bins(values: &[f64], cuts: &[usize], widths: &[usize]) {
        let mut parts = Vec::new();
        let mut rest = values;
        for &cut in cuts {
            let (part, more) = rest.split_at(cut.min(rest.len()));
            parts.push(part);
            rest = more;
        }
        parts.push(rest);
        let (runs, _, _) = of_parts(&parts, widths);
        let all = ValueCounts::of(values.iter().copied());
        let found = runs.counts();
        assert_eq!(Bins::new(&found, widths), Bins::new(&all, widths));
        assert_eq!(found.total(), all.total());
        // As far as anyone asks.
        assert_eq!(found.distinct().min(3), all.distinct().min(3));
    }

    #[test]
    fn odd_columns_have_the_same_bins() {
        let huge = [
            f64::MAX,
            -f64::MAX,
            0.0,
            -0.0,
            5e-324,
            f64::MIN_POSITIVE,
            1.0,
            -1.0,
        ];
        let heavy: Vec<f64> = (0..3000)
            .map(|i| if i % 3 == 0 { 0.0 } else { f64::from(i).sin() })
            .collect();
        let near: Vec<f64> = (0..500)
            .map(|i| f64::from_bits(1_f64.to_bits() + i))
            .collect();
        for values in [
            &[][..],
            &[f64::NAN],
            &[2.5],
            &[1.0, 2.0],
            &[1.0, 2.0, 3.0],
            &huge,
            &heavy,
            &near,
        ] {
            assert_bins(values, &[3, 100, 0, 700], &WIDTHS);
        }
    }

    #[test]
    fn answers_do_not_grow_with_the_rows() {
        let values =
            |n: u32| -> Vec<f64> { (0..n).map(|i| (f64::from(i) * 0.7).sin() * 1e3).collect() };
        let largest = [20_000, 200_000].map(|n| {
            let values = values(n);
            let (_, rounds, most) = of_parts(&[&values], &WIDTHS);
            assert!(rounds <= 8, "{rounds}");
            most
        });
        assert!(
            largest[1] <= CELLS && largest[1] < 2 * largest[0] + 1000,
            "{largest:?}"
        );
    }

    #[test]
    fn what_was_not_asked_for_is_refused() {
        let mut runs = Runs::new([0.0, 9.0], 10);
        let division = runs.division(&WIDTHS).unwrap();
        let some = division.of([0.0, 9.0].into_iter());
        assert!(runs.divide(&division, &[some]).is_err());
        let far = Divided {
            cell: u32::MAX,
            run: Run {
                first: 0.0,
                last: 9.0,
                rows: 10,
            },
        };
        assert!(runs.divide(&division, &[vec![far]]).is_err());
    }

    proptest! {
        #[test]
        fn bins_of_parts_are_those_of_all_values(
            values in prop::collection::vec(
                prop_oneof![Just(0.0), Just(7.0), Just(f64::NAN), -1e3..1e3, -1e-3..1e-3, (0..9).prop_map(f64::from)], 0..900),
            cuts in prop::collection::vec(0..400_usize, 0..4),
            widths in prop_oneof![Just(vec![64, 32, 16, 8, 4]), Just(vec![3]), Just(vec![128, 5])],
        ) {
            assert_bins(&values, &cuts, &widths);
        }
    }
}
