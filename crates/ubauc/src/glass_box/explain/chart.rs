//! A term as a table with bars.

use super::{Side, SideKind, TermReport};
use crate::data::calendar::{DAY, date};
use crate::document::Table;
use crate::document::numbers::thousands;
use crate::glass_box::effects::TermCell;

/// A numeric column is drawn in about this many lines: neighbouring bins are joined.
const BINS: usize = 12;
/// Levels of a category, and cells of a pair, that are shown.
const SHOWN: usize = 15;
/// Widths of bars.
const LENGTH: f64 = 24.0;
const HALF: f64 = 12.0;

/// One line of a table.
struct Line {
    name: String,
    rows: Option<u64>,
    value: f64,
}

/// A bar of a number that is at least 0.
pub(super) fn length(value: f64, largest: f64) -> String {
    "█".repeat(cells(value, largest, LENGTH))
}

/// A bar to the left of a middle line or to the right of it.
fn signed(value: f64, largest: f64) -> String {
    let n = cells(value.abs(), largest, HALF);
    let half = HALF as usize;
    match value < 0.0 {
        true => format!("{}{}│", " ".repeat(half - n), "█".repeat(n)),
        false => format!("{}│{}", " ".repeat(half), "█".repeat(n)),
    }
}

fn cells(value: f64, largest: f64, most: f64) -> usize {
    let share = if largest > 0.0 { value / largest } else { 0.0 };
    (share.clamp(0.0, 1.0) * most).round() as usize
}

/// What a term adds, where.
pub(super) fn table(term: &TermReport, all: &str) -> Table {
    let (lines, more) = lines(term);
    let largest = lines
        .iter()
        .fold(0.0_f64, |most, line| most.max(line.value.abs()));
    let mut table = Table::new([term.name.as_str(), "examples", "adds", ""]).left(&[3]);
    for Line { name, rows, value } in lines {
        table.row([
            name,
            rows.map_or(String::new(), thousands),
            format!("{value:+.4}"),
            signed(value, largest),
        ]);
    }
    let is_binned = term.sides.len() == 1 && term.sides.iter().any(|side| !side.cuts.is_empty());
    table.foot = match term.ends.filter(|_| is_binned) {
        Some([least, most]) => Some(format!(
            "each line is the mean over its examples; single examples get from {least:+.4} to {most:+.4}"
        )),
        None => (more > 0).then(|| format!("… {more} more (all {all})")),
    };
    table
}

/// The lines, and how many are left out.
fn lines(term: &TermReport) -> (Vec<Line>, usize) {
    match term.sides.as_slice() {
        [side] if !side.cuts.is_empty() => (joined_bins(term, side), 0),
        [side] if term.linear.is_some() => (straight(term, side), 0),
        _ => largest_cells(term),
    }
}

/// The cells that add or take most, those without examples left out; in the order of the term where all are shown.
fn largest_cells(term: &TermReport) -> (Vec<Line>, usize) {
    let mut cells: Vec<&TermCell> = term.cells.iter().filter(|cell| cell.rows > 0).collect();
    let more = cells.len().saturating_sub(SHOWN);
    if more > 0 || term.columns.len() > 1 {
        cells.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
        cells.truncate(SHOWN);
    }
    let line = |cell: &TermCell| Line {
        name: cell.names.join(", "),
        rows: Some(cell.rows),
        value: cell.value,
    };
    (cells.into_iter().map(line).collect(), more)
}

/// A straight line at a few places, and missing values.
fn straight(term: &TermReport, side: &Side) -> Vec<Line> {
    let Some(linear) = term.linear else {
        return Vec::new();
    };
    let places = match side.range {
        Some([min, max]) => vec![min, linear.mean, max],
        None => vec![linear.mean, linear.mean + linear.deviation],
    };
    let is_time = side.kind == SideKind::Time;
    let place = |x: f64| Line {
        name: format!("{} = {}", term.name, shown(x, is_time)),
        rows: None,
        value: linear.at(x) + term.constant,
    };
    let mut lines: Vec<Line> = places.into_iter().map(place).collect();
    lines.extend(term.cells.iter().map(|cell| Line {
        name: cell.names.join(", "),
        rows: Some(cell.rows),
        value: cell.value,
    }));
    lines
}

/// Neighbouring bins with about the same number of examples in each line, and the mean of what the term adds to these.
fn joined_bins(term: &TermReport, side: &Side) -> Vec<Line> {
    let cuts = &side.cuts;
    let bins = cuts.len() + 1;
    let (of_bins, others) = term.cells.split_at(bins.min(term.cells.len()));
    let mut left: u64 = of_bins.iter().map(|cell| cell.rows).sum();
    let low = |bin: usize| bin.checked_sub(1).map(|at| cuts[at]);
    let high = |bin: usize| cuts.get(bin).copied();
    let mut lines = Vec::new();
    let (mut first, mut rows, mut sum) = (0, 0, 0.0);
    for (bin, cell) in of_bins.iter().enumerate() {
        rows += cell.rows;
        sum += cell.rows as f64 * cell.mean();
        let is_last = bin + 1 == of_bins.len();
        // Of what is left, so that a heavy value does not take the lines of the others.
        let to_come = BINS.saturating_sub(lines.len()).max(1);
        let enough = left.div_ceil(to_come as u64).max(1);
        if rows >= enough || (is_last && rows > 0) {
            let ends = [low(first), high(bin)];
            lines.push(Line {
                name: between(&term.name, ends, side.kind == SideKind::Time),
                rows: Some(rows),
                value: sum / rows as f64,
            });
            left -= rows;
            (first, rows, sum) = (bin + 1, 0, 0.0);
        }
    }
    // A missing number counts as its mean in the straight part.
    lines.extend(others.iter().map(|cell| Line {
        name: cell.names.join(", "),
        rows: Some(cell.rows),
        value: cell.value,
    }));
    lines
}

fn between(name: &str, ends: [Option<f64>; 2], is_time: bool) -> String {
    match ends.map(|end| end.map(|x| shown(x, is_time))) {
        [None, None] => name.to_string(),
        [None, Some(high)] => format!("{name} < {high}"),
        [Some(low), None] => format!("{low} <= {name}"),
        [Some(low), Some(high)] => format!("{low} <= {name} < {high}"),
    }
}

/// Six digits; a time as its day.
pub(super) fn shown(x: f64, is_time: bool) -> String {
    if is_time {
        return date(x * DAY);
    }
    match format!("{x:.5e}").parse::<f64>() {
        Ok(rounded) => rounded.to_string(),
        Err(_) => x.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glass_box::effects::WithLinear;
    use crate::glass_box::explain::Linear;

    fn numbers(cuts: Vec<f64>, max: f64) -> Side {
        Side {
            kind: SideKind::Number,
            cuts,
            range: Some([0.0, max]),
            cells: Vec::new(),
            is_skewed: false,
        }
    }

    #[test]
    fn bars_are_as_long_as_they_should_be() {
        assert_eq!(length(1.0, 2.0).chars().count(), 12);
        assert_eq!(length(0.0, 0.0), "");
        assert_eq!(signed(-1.0, 1.0), format!("{}│", "█".repeat(12)));
        assert_eq!(signed(0.5, 1.0), format!("{}│██████", " ".repeat(12)));
    }

    #[test]
    fn a_heavy_value_does_not_take_the_lines_of_the_others() {
        let cell = |at: u32, rows: u64, value: f64, mean: f64| TermCell {
            with_linear: Some(WithLinear {
                mean,
                least: mean - 1.0,
                most: mean + 1.0,
            }),
            ..TermCell::new(vec![at], vec![String::new()], rows, value)
        };
        let term = TermReport {
            name: "x".to_string(),
            columns: vec!["x".to_string()],
            importance: Some(1.0),
            gain: None,
            interval: None,
            directions: Default::default(),
            linear: Some(Linear {
                slope: 2.0,
                mean: 1.0,
                deviation: 2.0,
            }),
            cells: vec![
                cell(0, 20, 1.0, 0.5),
                cell(1, 1, 0.0, 1.5),
                cell(2, 1, 4.0, 6.5),
                cell(3, 5, -2.0, 2.0),
                cell(4, 7, 9.0, 9.0),
            ],
            ends: Some([-0.5, 10.0]),
            constant: 0.0,
            sides: vec![numbers(vec![2.0, 3.0, 4.0], 8.0)],
        };
        let lines = super::lines(&term).0;
        let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["x < 2", "2 <= x < 3", "3 <= x < 4", "4 <= x", ""]);
        // The mean of the examples, wherever the middle of a bin is.
        let values: Vec<f64> = lines.iter().map(|line| line.value).collect();
        assert_eq!(values, [0.5, 1.5, 6.5, 2.0, 9.0]);
        let foot = table(&term, "").foot.unwrap();
        assert!(foot.ends_with("from -0.5000 to +10.0000"), "{foot}");
        assert_eq!(shown(0.1 + 0.2, false), "0.3");
    }

    #[test]
    fn joined_bins_have_the_mean_of_their_examples() {
        let cell = |at: u32| TermCell::new(vec![at], vec![String::new()], 1, f64::from(at));
        let term = TermReport {
            name: "x".to_string(),
            columns: vec!["x".to_string()],
            importance: Some(1.0),
            gain: None,
            interval: None,
            directions: Default::default(),
            linear: None,
            cells: (0..24).map(cell).collect(),
            ends: None,
            constant: 0.0,
            sides: vec![numbers((1..24).map(f64::from).collect(), 24.0)],
        };
        let lines = lines(&term).0;
        assert_eq!((lines.len(), lines[1].name.as_str()), (12, "2 <= x < 4"));
        assert!(
            lines
                .iter()
                .enumerate()
                .all(|(k, line)| line.value == 2.0 * k as f64 + 0.5)
        );
    }
}
