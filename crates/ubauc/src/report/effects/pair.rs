//! A pair of columns as a heat map. Many cells are joined to a dozen rows and columns, each with the mean of its training rows.

use std::collections::HashMap;

use crate::document::numbers::thousands;
use crate::glass_box::explain::{Side, SideKind, TermReport};
use crate::report::heat_map::{HeatCell, heat_map};
use crate::report::markup::{clipped, named_figure, short};

/// Rows and columns of the picture at most.
const MOST: usize = 12;
/// From this share of the strongest on a cell has its sign.
const SIGNED: f64 = 0.35;

/// Rows and the sum of their values, by places.
type Grid = HashMap<(usize, usize), (u64, f64)>;

fn mean((rows, sum): (u64, f64)) -> f64 {
    if rows > 0 { sum / rows as f64 } else { 0.0 }
}

/// Which cells of a side are joined.
struct Joined {
    /// Of every cell of the side.
    place: Vec<usize>,
    names: Vec<String>,
}

pub(super) fn figure_of(term: &TermReport) -> String {
    let [down, across] = term.sides.as_slice() else {
        return String::new();
    };
    let rows_of = |side: usize| {
        let mut rows: HashMap<u32, u64> = HashMap::new();
        for cell in &term.cells {
            if let Some(at) = cell.cell.get(side) {
                *rows.entry(*at).or_default() += cell.rows;
            }
        }
        rows
    };
    let (down, across) = (join(down, &rows_of(0)), join(across, &rows_of(1)));
    let mut grid = Grid::new();
    for cell in &term.cells {
        let places = cell.cell.first().zip(cell.cell.get(1));
        let places = places.and_then(|(a, b)| {
            down.place
                .get(*a as usize)
                .zip(across.place.get(*b as usize))
        });
        if let Some((&a, &b)) = places {
            let (rows, sum) = grid.entry((a, b)).or_default();
            *rows += cell.rows;
            *sum += cell.value * cell.rows as f64;
        }
    }
    let most = grid
        .values()
        .fold(0.0_f64, |most, cell| most.max(mean(*cell).abs()));
    let chart = heat_map(&down.names, &across.names, |a, b| {
        let &cell = grid.get(&(a, b))?;
        Some(drawn(cell, [&down.names[a], &across.names[b]], most))
    });
    let title = format!("Heat map of what {} adds to the score", clipped(&term.name));
    let names = [0, 1].map(|k| short(term.columns.get(k).map_or("", String::as_str)));
    let caption = format!(
        "(importance {:.3}): {} down, {} across. Orange and + raise the score, blue and − lower it, by up to {most:.3}; where there is no colour it adds nothing, or no \
         row was there.",
        term.rank(),
        names[0],
        names[1]
    );
    named_figure(&term.name, &chart.finish(&title), &caption)
}

fn drawn(cell: (u64, f64), [row, column]: [&str; 2], most: f64) -> HeatCell {
    let value = mean(cell);
    let strength = if most > 0.0 { value.abs() / most } else { 0.0 };
    let sign = if value > 0.0 { "+" } else { "−" };
    HeatCell {
        text: format!(
            "{} and {}: {value:+.4} ({} rows)",
            short(row),
            short(column),
            thousands(cell.0)
        ),
        strength,
        series: usize::from(value > 0.0),
        mark: if strength >= SIGNED { sign } else { "" }.to_string(),
    }
}

/// The levels of most rows, the others together; or bins, neighbours together, of about as many rows each.
fn join(side: &Side, rows: &HashMap<u32, u64>) -> Joined {
    let n = side.cells.len();
    let count = |cell: usize| rows.get(&(cell as u32)).copied().unwrap_or(0);
    let name = |cell: usize| match &side.cells[cell] {
        cell if cell.is_missing => "(missing)".to_string(),
        cell if cell.is_rare => "(rare)".to_string(),
        cell if side.cuts.is_empty() => cell.name.clone(),
        cell => between(&cell.name, &cell.name),
    };
    if n <= MOST {
        return Joined {
            place: (0..n).collect(),
            names: (0..n).map(name).collect(),
        };
    }
    if side.kind == SideKind::Category {
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&cell| std::cmp::Reverse(count(cell)));
        let mut place = vec![MOST - 1; n];
        for (k, &cell) in order.iter().take(MOST - 1).enumerate() {
            place[cell] = k;
        }
        let mut names: Vec<String> = order
            .iter()
            .take(MOST - 1)
            .map(|&cell| name(cell))
            .collect();
        names.push(format!("{} others", n - names.len()));
        return Joined { place, names };
    }
    let raw = |cell: usize| match side.cells[cell].is_missing {
        true => name(cell),
        false => side.cells[cell].name.clone(),
    };
    let is_value = |cell: &usize| !side.cells[*cell].is_missing;
    let total: u64 = (0..n).filter(is_value).map(count).sum();
    let (mut place, mut names, mut seen) =
        (Vec::with_capacity(n), Vec::<(String, String)>::new(), 0);
    let mut group = None;
    for cell in 0..n {
        let of = match is_value(&cell) {
            true => (seen * (MOST as u64 - 1) / total.max(1)).min(MOST as u64 - 2) as usize,
            false => usize::MAX,
        };
        if group != Some(of) {
            names.push((raw(cell), raw(cell)));
            group = Some(of);
        }
        if let Some(last) = names.last_mut() {
            last.1 = raw(cell);
        }
        place.push(names.len() - 1);
        seen += if is_value(&cell) { count(cell) } else { 0 };
    }
    let is_binned = !side.cuts.is_empty();
    let both = |(first, last): (String, String)| match first == last
        && (!is_binned || first.starts_with('('))
    {
        true => first,
        false => between(&first, &last),
    };
    Joined {
        place,
        names: names.into_iter().map(both).collect(),
    }
}

/// `25 <= age < 30` and `35 <= age < 40` are `25 to 40`.
fn between(first: &str, last: &str) -> String {
    let low = first
        .split(" <= ")
        .next()
        .filter(|_| first.contains(" <= "));
    let high = last.rsplit(" < ").next().filter(|_| last.contains(" < "));
    match (low, high) {
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (None, Some(high)) => format!("below {high}"),
        (Some(low), None) => format!("from {low}"),
        (None, None) => format!("{first} … {last}"),
    }
}
