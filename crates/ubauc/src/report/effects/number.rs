//! A number: what it adds along its range, with the rows beneath, and missing values beside.

use crate::data::calendar::{DAY, date};
use crate::document::numbers::{thousands, three_digits};
use crate::document::{Axis, Span};
use crate::glass_box::effects::TermCell;
use crate::glass_box::explain::{Side, SideKind, TermReport};
use crate::report::chart::{Chart, END, MIDDLE, Margins, Paint};
use crate::report::markup::{clipped, named_figure};

/// The strip of counts below the curve.
const STRIP: f64 = 34.0;
/// Pieces that are described; more are joined.
const MOST: usize = 64;

/// A piece of the curve, with a text and the rows beneath: a bin, or neighbouring ones.
struct Piece {
    /// In units of the column.
    ends: [f64; 2],
    /// What is added to its rows on average.
    mean: f64,
    rows: Option<u64>,
    bins: Vec<Line>,
}

/// The straight line of a bin.
#[derive(Clone, Copy)]
struct Line {
    ends: [f64; 2],
    values: [f64; 2],
}

impl Piece {
    fn of_bin(line: Line, mean: f64, rows: Option<u64>) -> Piece {
        Piece {
            ends: line.ends,
            mean,
            rows,
            bins: vec![line],
        }
    }

    /// Neighbours together.
    fn of_neighbours(pieces: &[Piece]) -> Piece {
        let rows: u64 = pieces.iter().filter_map(|p| p.rows).sum();
        let weight = |p: &Piece| match rows {
            0 => 1.0 / pieces.len() as f64,
            rows => p.rows.unwrap_or(0) as f64 / rows as f64,
        };
        Piece {
            ends: [pieces[0].ends[0], pieces[pieces.len() - 1].ends[1]],
            mean: pieces.iter().map(|p| weight(p) * p.mean).sum(),
            rows: Some(rows),
            bins: pieces.iter().flat_map(|p| p.bins.clone()).collect(),
        }
    }
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
    let is_skewed = side.is_skewed;
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
    draw_pieces(&mut chart, &pieces, &places, side);
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

/// From the smallest to the largest number of the training rows.
fn pieces(term: &TermReport, side: &Side) -> Vec<Piece> {
    let linear = |x: f64| term.linear.map_or(0.0, |linear| linear.at(x));
    let spread = |k: f64| term.linear.map(|linear| linear.mean + k * linear.deviation);
    let range = side.range.or_else(|| Some([spread(-2.0)?, spread(2.0)?]));
    let Some([min, max]) = range.filter(|[min, max]| max > min) else {
        return Vec::new();
    };
    let bins = side.cuts.len() + 1;
    if side.cuts.is_empty() || term.cells.len() < bins {
        let ends = [min, max];
        let values = ends.map(|x| linear(x) + term.constant);
        let mean = (values[0] + values[1]) / 2.0;
        return vec![Piece::of_bin(Line { ends, values }, mean, None)];
    }
    let low = |k: usize| {
        k.checked_sub(1)
            .map_or(min, |k| side.cuts[k])
            .clamp(min, max)
    };
    let piece = |(k, cell): (usize, &TermCell)| {
        let ends = [low(k), if k + 1 < bins { low(k + 1) } else { max }];
        let values = ends.map(|x| linear(x) + cell.value);
        Piece::of_bin(Line { ends, values }, cell.mean(), Some(cell.rows))
    };
    joined(
        term.cells
            .iter()
            .take(bins)
            .enumerate()
            .map(piece)
            .collect(),
    )
}

/// Neighbours by twos until they are not too many.
fn joined(mut pieces: Vec<Piece>) -> Vec<Piece> {
    while pieces.len() > MOST {
        pieces = pieces.chunks(2).map(Piece::of_neighbours).collect();
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

/// At least a quarter of what the most important terms span, so that what hardly matters looks so.
fn values_span(pieces: &[Piece], missing: Option<&TermCell>, largest: f64) -> Span {
    let of_pieces = pieces
        .iter()
        .flat_map(|p| &p.bins)
        .flat_map(|bin| bin.values);
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

fn draw_pieces(chart: &mut Chart, pieces: &[Piece], places: &[f64], side: &Side) {
    let most = pieces
        .iter()
        .filter_map(|p| p.rows)
        .max()
        .unwrap_or(0)
        .max(1) as f64;
    let floor = chart.bottom() + STRIP;
    let mut line = Vec::new();
    for (k, piece) in pieces.iter().enumerate() {
        let share = 1.0 / piece.bins.len() as f64;
        for (j, bin) in piece.bins.iter().enumerate() {
            let equal = [j, j + 1].map(|j| places[k] + share * j as f64);
            let ends = if side.is_skewed { equal } else { bin.ends };
            line.extend([[ends[0], bin.values[0]], [ends[1], bin.values[1]]]);
        }
        let (left, right) = (chart.x(places[k]), chart.x(places[k + 1]));
        let rows = piece
            .rows
            .map_or(String::new(), |rows| format!(" ({} rows)", thousands(rows)));
        let text = format!(
            "{} to {}: {:+.4}{rows}",
            shown(piece.ends[0], side.kind),
            shown(piece.ends[1], side.kind),
            piece.mean
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
        // Both ends, and a few between them.
        let last = places.len() - 1;
        let n = last.clamp(1, 5);
        for k in (0..=n).map(|i| (i * last + n / 2) / n) {
            let at = chart.x(places[k]);
            // The last one may be wide, and has no room at its right.
            let anchor = if k == last { END } else { MIDDLE };
            chart.text(
                [at, floor + 14.0],
                anchor,
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
