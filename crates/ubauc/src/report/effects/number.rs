//! A number: what it adds along its range, with the rows beneath, and missing values beside.

use crate::data::calendar::{DAY, date};
use crate::document::numbers::{thousands, three_digits};
use crate::document::{Axis, Span};
use crate::glass_box::effects::TermCell;
use crate::glass_box::explain::{Side, SideKind, TermReport};
use crate::report::chart::{Chart, MIDDLE, Margins, Paint};
use crate::report::markup::{clipped, named_figure};

/// The strip of counts below the curve.
const STRIP: f64 = 34.0;
/// Where a tenth of the range and less has nine tenths of the rows, bins are drawn with equal widths.
const SKEWED: f64 = 0.1;
/// Bins that are drawn; more are thinned.
const MOST: usize = 64;

/// A piece of the curve.
struct Piece {
    /// In units of the column.
    ends: [f64; 2],
    values: [f64; 2],
    rows: Option<u64>,
}

pub(super) fn figure_of(term: &TermReport, largest: f64) -> String {
    let Some(side) = term.sides.first() else {
        return String::new();
    };
    let pieces = pieces(term, side);
    if pieces.is_empty() {
        return String::new();
    }
    let missing = missing(term, side);
    let is_skewed = is_skewed(&pieces);
    let span = values_span(&pieces, missing, largest);
    let places: Vec<f64> = match is_skewed {
        true => (0..=pieces.len()).map(|k| k as f64).collect(),
        false => pieces
            .iter()
            .map(|p| p.ends[0])
            .chain(pieces.last().map(|p| p.ends[1]))
            .collect(),
    };
    let x = Axis::default().span([places[0], places[places.len() - 1]].into_iter());
    let right = if missing.is_some() { 52.0 } else { 12.0 };
    let margins = Margins {
        right,
        bottom: 40.0 + STRIP,
        ..Margins::default()
    };
    let mut chart = Chart::new([360.0, 250.0], margins, x, span);
    chart.vertical("adds to the score");
    let zero = chart.y(0.0);
    chart.segment(
        [chart.margins.left, zero],
        [chart.width - 12.0, zero],
        Paint::Faint,
        1.0,
    );
    draw_pieces(&mut chart, &pieces, &places, side.kind);
    if let Some(cell) = missing {
        draw_missing(&mut chart, cell, &pieces);
    }
    labels(&mut chart, &pieces, &places, is_skewed, side.kind);
    let title = format!(
        "What {} adds to the score along its range",
        clipped(&term.name)
    );
    let how = match (is_skewed, pieces.iter().any(|p| p.rows.is_some())) {
        (true, _) => " Bins are drawn equally wide. Grey: rows.",
        (false, true) => " Grey: rows.",
        (false, false) => "",
    };
    let remark = format!("(importance {:.3}).{how}", term.rank());
    named_figure(&term.name, &chart.finish(&title), &remark)
}

fn pieces(term: &TermReport, side: &Side) -> Vec<Piece> {
    let linear = |x: f64| {
        term.linear.map_or(0.0, |linear| {
            linear.slope * (x - linear.mean) / linear.deviation
        })
    };
    let spread = |k: f64| term.linear.map(|linear| linear.mean + k * linear.deviation);
    let range = side.range.or_else(|| Some([spread(-2.0)?, spread(2.0)?]));
    let Some([min, max]) = range.filter(|[min, max]| max > min) else {
        return Vec::new();
    };
    let bins = side.cuts.len() + 1;
    if side.cuts.is_empty() || term.cells.len() < bins {
        let values = [min, max].map(|x| linear(x) + term.constant);
        return vec![Piece {
            ends: [min, max],
            values,
            rows: None,
        }];
    }
    let low = |k: usize| {
        k.checked_sub(1)
            .map_or(min, |k| side.cuts[k])
            .clamp(min, max)
    };
    let piece = |k: usize, cell: &TermCell| {
        let ends = [low(k), if k + 1 < bins { low(k + 1) } else { max }];
        Piece {
            values: ends.map(|x| linear(x) + cell.value),
            ends,
            rows: Some(cell.rows),
        }
    };
    let all = term
        .cells
        .iter()
        .take(bins)
        .enumerate()
        .map(|(k, cell)| piece(k, cell));
    joined(all.collect())
}

/// Neighbours by twos until they are not too many; values are those of the one with more rows.
fn joined(mut pieces: Vec<Piece>) -> Vec<Piece> {
    while pieces.len() > MOST {
        let mut halved: Vec<Piece> = Vec::with_capacity(pieces.len() / 2 + 1);
        for pair in pieces.chunks(2) {
            let first = &pair[0];
            let last = &pair[pair.len() - 1];
            let main = if last.rows > first.rows { last } else { first };
            halved.push(Piece {
                ends: [first.ends[0], last.ends[1]],
                values: main.values,
                rows: Some(pair.iter().filter_map(|p| p.rows).sum()),
            });
        }
        pieces = halved;
    }
    pieces
}

fn missing<'a>(term: &'a TermReport, side: &Side) -> Option<&'a TermCell> {
    let is_missing = |cell: &&TermCell| {
        let at = cell
            .cell
            .first()
            .and_then(|at| side.cells.get(*at as usize));
        at.is_some_and(|cell| cell.is_missing)
    };
    term.cells
        .iter()
        .find(is_missing)
        .filter(|cell| cell.rows > 0)
}

fn is_skewed(pieces: &[Piece]) -> bool {
    let total: u64 = pieces.iter().filter_map(|p| p.rows).sum();
    if pieces.len() < 3 || total == 0 {
        return false;
    }
    let range = pieces[pieces.len() - 1].ends[1] - pieces[0].ends[0];
    let mut dense: Vec<(f64, u64)> = pieces
        .iter()
        .map(|p| (p.ends[1] - p.ends[0], p.rows.unwrap_or(0)))
        .collect();
    // The bins of the most rows for their width.
    dense.sort_by(|a, b| (b.1 as f64 * a.0).total_cmp(&(a.1 as f64 * b.0)));
    let (mut width, mut rows) = (0.0, 0);
    for (of_bin, of_rows) in dense {
        if rows * 10 >= total * 9 {
            break;
        }
        width += of_bin;
        rows += of_rows;
    }
    width < SKEWED * range
}

/// At least a quarter of what the most important terms span, so that what hardly matters looks so.
fn values_span(pieces: &[Piece], missing: Option<&TermCell>, largest: f64) -> Span {
    let of_pieces = pieces.iter().flat_map(|p| p.values);
    let values: Vec<f64> = of_pieces
        .chain(missing.map(|cell| cell.value))
        .chain([0.0])
        .collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = 0.25 * largest;
    let grow = ((least - (high - low)) / 2.0).max(0.0);
    Axis::default().span([low - grow, high + grow].into_iter())
}

fn draw_pieces(chart: &mut Chart, pieces: &[Piece], places: &[f64], kind: SideKind) {
    let most = pieces
        .iter()
        .filter_map(|p| p.rows)
        .max()
        .unwrap_or(0)
        .max(1) as f64;
    let floor = chart.bottom() + STRIP;
    let mut line = Vec::new();
    for (k, piece) in pieces.iter().enumerate() {
        line.extend([
            [places[k], piece.values[0]],
            [places[k + 1], piece.values[1]],
        ]);
        let (left, right) = (chart.x(places[k]), chart.x(places[k + 1]));
        let rows = piece
            .rows
            .map_or(String::new(), |rows| format!(" ({} rows)", thousands(rows)));
        let middle = (piece.values[0] + piece.values[1]) / 2.0;
        let text = format!(
            "{} to {}: {middle:+.4}{rows}",
            shown(piece.ends[0], kind),
            shown(piece.ends[1], kind)
        );
        chart.described(&text, |chart| {
            if let Some(rows) = piece.rows {
                let height = (STRIP - 6.0) * rows as f64 / most;
                chart.rect(
                    [left, floor - height, (right - left - 0.5).max(0.4), height],
                    &Paint::Grid.fill(),
                );
            }
            let top = chart.margins.top;
            chart.rect([left, top, right - left, floor - top], "fill-opacity=\"0\"");
        });
    }
    chart.line(line, 0);
}

fn draw_missing(chart: &mut Chart, cell: &TermCell, pieces: &[Piece]) {
    let at = chart.width - 28.0;
    let most = pieces
        .iter()
        .filter_map(|p| p.rows)
        .max()
        .unwrap_or(0)
        .max(cell.rows)
        .max(1) as f64;
    let floor = chart.bottom() + STRIP;
    let text = format!(
        "missing: {:+.4} ({} rows)",
        cell.value,
        thousands(cell.rows)
    );
    chart.described(&text, |chart| {
        chart.dot([at, chart.y(cell.value)], 1);
        let height = (STRIP - 6.0) * cell.rows as f64 / most;
        chart.rect(
            [at - 6.0, floor - height, 12.0, height],
            &Paint::Grid.fill(),
        );
        chart.text([at, floor + 14.0], MIDDLE, Paint::Faint, "missing");
    });
}

fn labels(chart: &mut Chart, pieces: &[Piece], places: &[f64], is_skewed: bool, kind: SideKind) {
    let floor = chart.bottom() + STRIP;
    let (left, right) = (chart.margins.left, chart.width - chart.margins.right);
    chart.segment([left, floor], [right, floor], Paint::Faint, 1.0);
    let ends: Vec<f64> = pieces
        .iter()
        .map(|p| p.ends[0])
        .chain(pieces.last().map(|p| p.ends[1]))
        .collect();
    if is_skewed {
        let every = (places.len() - 1).div_ceil(5).max(1);
        for k in (0..places.len()).step_by(every) {
            let at = chart.x(places[k]);
            chart.text(
                [at, floor + 14.0],
                MIDDLE,
                Paint::Faint,
                &shown(ends[k], kind),
            );
        }
        return;
    }
    let axis = Axis::default().span([places[0], places[places.len() - 1]].into_iter());
    for (value, label) in axis.ticks() {
        let label = if kind == SideKind::Time {
            date(DAY * value)
        } else {
            label
        };
        chart.text([chart.x(value), floor + 14.0], MIDDLE, Paint::Faint, &label);
    }
}

fn shown(x: f64, kind: SideKind) -> String {
    match kind {
        SideKind::Time => date(DAY * x),
        _ if x.fract() == 0.0 && x.abs() < 1e9 => format!("{x}"),
        _ => three_digits(x),
    }
}
