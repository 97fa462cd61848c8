//! Levels of a category, or parts of a time: what each adds, and how many rows have it.

use crate::document::Axis;
use crate::document::numbers::thousands;
use crate::document::text::clip;
use crate::glass_box::effects::TermCell;
use crate::glass_box::explain::{Side, SideKind, TermReport};
use crate::report::chart::{Chart, END, Margins, Paint};
use crate::report::markup::{clipped, named_figure};

/// Levels that are drawn; of the rest there is a line with their number.
const MOST: usize = 16;
/// Parts of a time, which keep their order.
const PARTS: usize = 31;
const LINE: f64 = 17.0;

/// What a level is called; rare and missing ones stand out.
fn name_of(side: &Side, cell: &TermCell) -> (String, bool) {
    let known = cell
        .cell
        .first()
        .and_then(|at| side.cells.get(*at as usize));
    let Some(known) = known else {
        return (cell.names.join(", "), false);
    };
    match (known.is_missing, known.is_rare) {
        (true, _) => ("missing".to_string(), true),
        (_, true) => ("rare or new".to_string(), true),
        _ => (known.name.clone(), false),
    }
}

pub(super) fn figure_of(term: &TermReport, largest: f64) -> String {
    let Some(side) = term.sides.first() else {
        return String::new();
    };
    let mut cells: Vec<&TermCell> = term.cells.iter().filter(|cell| cell.rows > 0).collect();
    if cells.is_empty() {
        return String::new();
    }
    let in_order = side.kind == SideKind::Part && cells.len() <= PARTS;
    let n = cells.len();
    if !in_order {
        // The commonest, and those that are no levels; by what they add.
        cells.sort_by_key(|cell| (!name_of(side, cell).1, std::cmp::Reverse(cell.rows)));
        cells.truncate(MOST);
        cells.sort_by(|a, b| b.value.total_cmp(&a.value));
    }
    let ends = cells.iter().map(|cell| cell.value).chain([0.0]);
    let (low, high) = ends.fold((0.0_f64, 0.0_f64), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    let grow = ((0.25 * largest - (high - low)) / 2.0).max(0.0);
    let x = Axis::default().span([low - grow, high + grow].into_iter());
    let y = Axis::default().span([0.0, 1.0].into_iter());
    let margins = Margins {
        left: 118.0,
        right: 50.0,
        top: 16.0,
        bottom: 36.0,
    };
    let mut chart = Chart::new([360.0, 54.0 + LINE * cells.len() as f64], margins, x, y);
    chart.horizontal("adds to the score", true);
    chart.text([chart.width - 2.0, 11.0], END, Paint::Faint, "rows");
    lines(&mut chart, side, &cells);
    let title = format!(
        "What the levels of {} add to the score",
        clipped(&term.name)
    );
    let more = match n - cells.len() {
        0 => String::new(),
        more => {
            let drawn: u64 = cells.iter().map(|cell| cell.rows).sum();
            let all: u64 = term.cells.iter().map(|cell| cell.rows).sum();
            format!(
                " {} more levels with {} rows are not drawn.",
                thousands(more as u64),
                thousands(all - drawn)
            )
        }
    };
    let remark = format!("(importance {:.3}).{more}", term.rank());
    named_figure(&term.name, &chart.finish(&title), &remark)
}

/// A bar for each level.
fn lines(chart: &mut Chart, side: &Side, cells: &[&TermCell]) {
    let margins = chart.margins;
    let zero = chart.x(0.0);
    chart.segment(
        [zero, margins.top],
        [zero, chart.bottom()],
        Paint::Faint,
        1.0,
    );
    for (k, cell) in cells.iter().enumerate() {
        let top = margins.top + LINE * k as f64;
        let (name, is_special) = name_of(side, cell);
        let text = format!(
            "{}: {:+.4} ({} rows)",
            clipped(&name),
            cell.value,
            thousands(cell.rows)
        );
        chart.described(&text, |chart| {
            let end = chart.x(cell.value);
            let (left, right) = (zero.min(end), zero.max(end));
            let shown = clip(&name, 15);
            let shown = if is_special {
                format!("({shown})")
            } else {
                shown
            };
            chart.text(
                [margins.left - 6.0, top + 12.0],
                END,
                if is_special { Paint::Faint } else { Paint::Ink },
                &shown,
            );
            let series = usize::from(cell.value > 0.0);
            chart.rect(
                [left, top + 2.5, (right - left).max(0.8), LINE - 6.0],
                &Paint::Series(series).fill(),
            );
            chart.text(
                [chart.width - 2.0, top + 12.0],
                END,
                Paint::Faint,
                &thousands(cell.rows),
            );
        });
    }
}
