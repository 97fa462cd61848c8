//! What the features are called.

use super::{Cells, ColumnInfo, ColumnMap, Effect, PairCells};

impl ColumnMap {
    /// A name for every feature: `age`, `age is missing`, `workclass=Private`, `workclass=(rare)`,
    /// `workclass=(missing)`, `pickup hour=5`, `25 <= age < 30`, and of pairs two of these with ` & ` between.
    pub fn feature_names(&self) -> Vec<String> {
        let of_column = |column: usize, cells: &Cells| match self.columns.get(column) {
            Some(info) => cell_names(info, cells),
            None => Vec::new(),
        };
        let mut names = Vec::with_capacity(self.width());
        for effect in &self.effects {
            match effect {
                Effect::Linear { column, .. } => {
                    names.extend(self.columns.get(*column).map(|info| info.name.clone()));
                }
                Effect::Cells { column, cells } => names.extend(of_column(*column, cells)),
                Effect::Pair {
                    columns,
                    cells,
                    pairs,
                } => {
                    let sides = [0, 1].map(|side| of_column(columns[side], &cells[side]));
                    names.extend(pair_names(&sides, pairs));
                }
            }
        }
        names
    }
}

impl ColumnMap {
    /// A name for every cell of an effect of one column.
    pub(crate) fn cell_names(&self, effect: usize) -> Vec<String> {
        match self.effects.get(effect) {
            Some(Effect::Cells { column, cells }) => match self.columns.get(*column) {
                Some(info) => cell_names(info, cells),
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }
}

/// A name for every cell of a pair: that of its first pair of cells, and how many more there are.
fn pair_names([a, b]: &[Vec<String>; 2], pairs: &PairCells) -> Vec<String> {
    let mut firsts: Vec<Option<(u32, u32)>> = vec![None; pairs.count()];
    let mut counts = vec![0; firsts.len()];
    for (i, j, cell) in pairs.pairs() {
        firsts[cell as usize].get_or_insert((i, j));
        counts[cell as usize] += 1;
    }
    let name = |(first, count): (Option<(u32, u32)>, i32)| {
        let (i, j) = first.unwrap_or_default();
        let of = |names: &[String], at: u32| names.get(at as usize).cloned().unwrap_or_default();
        let name = format!("{} & {}", of(a, i), of(b, j));
        match count > 1 {
            true => format!("{name} (and {} more)", count - 1),
            false => name,
        }
    };
    firsts.into_iter().zip(counts).map(name).collect()
}

/// A name for every cell of a column.
fn cell_names(info: &ColumnInfo, cells: &Cells) -> Vec<String> {
    let name = &info.name;
    match cells {
        Cells::Missing => vec![format!("{name} is missing")],
        Cells::Levels {
            cell_of_level,
            rare,
            missing,
        } => {
            let mut members: Vec<Vec<&str>> = vec![Vec::new(); cells.len()];
            for (level, &cell) in info.levels.iter().zip(cell_of_level) {
                members[cell as usize].push(&level.name);
            }
            for (cell, text) in [(rare, "(rare)"), (missing, "(missing)")] {
                if let Some(cell) = cell {
                    members[*cell as usize].push(text);
                }
            }
            let named = members.iter().map(|members| members.join("|"));
            named.map(|members| format!("{name}={members}")).collect()
        }
        Cells::Hashed { bits } => {
            let hashed = (0..1_u32 << bits).map(|cell| format!("{name}=(hash {cell})"));
            hashed.chain([format!("{name}=(missing)")]).collect()
        }
        Cells::Bins { cuts, missing } => {
            let mut names: Vec<String> = (0..=cuts.len())
                .map(|bin| bin_name(name, cuts, bin))
                .collect();
            names.resize(cells.len(), String::new());
            if let Some(missing) = missing {
                names[*missing as usize] = format!("{name} is missing");
            }
            names
        }
        Cells::Part { part } => {
            let named = (0..part.count()).map(|value| part.value_name(value));
            named
                .map(|value| format!("{name} {}={value}", part.name()))
                .collect()
        }
    }
}

fn bin_name(name: &str, cuts: &[f64], bin: usize) -> String {
    let low = bin.checked_sub(1).map(|at| cuts[at]);
    match (low, cuts.get(bin)) {
        (None, None) => name.to_string(),
        (None, Some(high)) => format!("{name} < {high}"),
        (Some(low), None) => format!("{low} <= {name}"),
        (Some(low), Some(high)) => format!("{low} <= {name} < {high}"),
    }
}
