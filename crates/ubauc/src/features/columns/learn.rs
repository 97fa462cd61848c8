//! From what is counted of the columns to a linear map.
//!
//! - a number: (x − mean)/deviation, and a cell for missing values if there are any;
//! - a category: a cell for each level in at least [`LEAST_ROWS`] rows, one for all rarer levels together, if there are
//!   such, and one for missing values, if there are such. A level that is not among them counts as rare, or is in no cell
//!   if no level was rare;
//! - a time: the same as a number, of days; and cells for the hours, weekdays and months, each if it varies;
//! - what has one value only, or none, is left out.

use super::summary::{ColumnSummary, NumberSummary, TableSummary};
use super::time::TimePart;
use super::{Cells, ColumnInfo, ColumnMap, Effect, Level, Note, Rare};
use crate::Result;
use crate::data::table::Table;
use crate::features::hash;

/// A level in fewer rows than this is pooled with the other rare ones.
pub const LEAST_ROWS: u64 = 3;

/// How a map is learned from the rows of a table with a weight above 0, of all if there are no weights:
/// [`ColumnMap::learn`], or another.
pub type Learn<'a> = &'a (dyn Fn(&Table, Option<&[f64]>) -> Result<ColumnMap> + Sync);

impl ColumnMap {
    /// The linear map of the rows with a weight above 0, of all rows if there are no weights.
    pub fn learn(table: &Table, weights: Option<&[f64]>) -> Result<ColumnMap> {
        ColumnMap::of_summary(&TableSummary::of(table, weights)?)
    }

    /// The same of what was counted, here or elsewhere.
    pub fn of_summary(summary: &TableSummary<'_>) -> Result<ColumnMap> {
        summary.check()?;
        let mut map = ColumnMap {
            rows: summary.rows,
            ..ColumnMap::default()
        };
        let mut cells = Vec::new();
        for (column, (name, summary)) in summary.columns.iter().enumerate() {
            let (info, effects) = learned(name, column, summary);
            map.columns.push(info);
            let (linear, others): (Vec<Effect>, Vec<Effect>) =
                effects.into_iter().partition(Effect::is_linear);
            map.effects.extend(linear);
            cells.extend(others);
        }
        map.effects.extend(cells);
        map.check()?;
        Ok(map)
    }
}

impl ColumnMap {
    /// The same with the levels of every category hashed into 2^bits cells, so that levels that nobody has seen yet can
    /// be learned: of `column=level` the leading bits of XXH3. Which levels there were is forgotten.
    pub fn hashed(mut self, bits: u32) -> Result<ColumnMap> {
        hash::check(bits)?;
        for effect in &mut self.effects {
            if let Effect::Cells { column, cells } = effect
                && matches!(cells, Cells::Levels { .. })
            {
                *cells = Cells::Hashed { bits };
                let info = &mut self.columns[*column];
                info.hash_bits = Some(bits);
                info.levels.clear();
                info.rare = None;
                info.rare_hashes.clear();
            }
        }
        self.check()?;
        Ok(self)
    }
}

fn learned(name: &str, column: usize, summary: &ColumnSummary<'_>) -> (ColumnInfo, Vec<Effect>) {
    let mut info = ColumnInfo {
        name: name.to_string(),
        kind: summary.kind(),
        missing: 0,
        numbers: None,
        levels: Vec::new(),
        hash_bits: None,
        rare: None,
        rare_hashes: Vec::new(),
        direction: None,
        note: None,
    };
    let mut effects = Vec::new();
    match summary {
        ColumnSummary::Number(numbers) => number(&mut info, column, numbers, &mut effects),
        ColumnSummary::Time { days, parts } => {
            number(&mut info, column, days, &mut effects);
            for (seen, part) in parts.iter().zip(TimePart::ALL) {
                if seen.count_ones() > 1 {
                    let cells = Cells::Part { part };
                    effects.push(Effect::Cells { column, cells });
                }
            }
        }
        ColumnSummary::Category { missing, levels } => {
            info.missing = *missing;
            let levels = levels.iter().map(|(name, rows)| (&**name, *rows));
            let cells = category(&mut info, levels);
            if cells.is_none() {
                // No effect reads it.
                info.rare_hashes.clear();
            }
            effects.extend(cells.map(|cells| Effect::Cells { column, cells }));
        }
    }
    (info, effects)
}

fn number(
    info: &mut ColumnInfo,
    column: usize,
    summary: &NumberSummary,
    effects: &mut Vec<Effect>,
) {
    info.missing = summary.missing;
    info.numbers = summary.numbers();
    let Some(numbers) = info.numbers else {
        info.note = Some(Note::Empty);
        return;
    };
    if numbers.min < numbers.max {
        effects.push(Effect::Linear {
            column,
            mean: numbers.mean,
            deviation: numbers.deviation,
        });
        info.note = summary.counts_rows().then_some(Note::CountsRows);
    }
    if summary.missing > 0 {
        let cells = Cells::Missing;
        effects.push(Effect::Cells { column, cells });
    }
    if effects.is_empty() {
        info.note = Some(Note::Constant);
    }
}

/// Rare levels of a column whose hashes are kept; of more, none is.
const MOST_RARE: usize = 4096;

/// The cells of a category, or none where all rows would be in the same.
fn category<'a>(
    info: &mut ColumnInfo,
    levels: impl Iterator<Item = (&'a str, u64)>,
) -> Option<Cells> {
    let mut rare = Rare { levels: 0, rows: 0 };
    for (name, rows) in levels {
        if rows < LEAST_ROWS {
            rare.levels += 1;
            rare.rows += rows;
            if info.rare_hashes.len() <= MOST_RARE {
                info.rare_hashes
                    .push(hash::level(&info.name, name, u32::BITS));
            }
        } else {
            let name = name.to_string();
            info.levels.push(Level { name, rows });
        }
    }
    if info.rare_hashes.len() > MOST_RARE {
        info.rare_hashes.clear();
    }
    info.rare_hashes.sort_unstable();
    info.levels.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    info.rare = (rare.levels > 0).then_some(rare);
    let kept = info.levels.len() as u32;
    let rare = info.rare.map(|_| kept);
    let missing = (info.missing > 0).then_some(kept + u32::from(rare.is_some()));
    let cells = Cells::Levels {
        cell_of_level: (0..kept).collect(),
        rare,
        missing,
    };
    info.note = match (kept, info.rare) {
        (0, None) => Some(Note::Empty),
        (0, Some(rare)) if rare.levels > 1 && missing.is_none() => Some(Note::AllRare),
        _ if cells.len() < 2 => Some(Note::Constant),
        _ => None,
    };
    (cells.len() > 1).then_some(cells)
}
